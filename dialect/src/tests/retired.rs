//! Each repair has an end: what its page shows is run on a plain session of DataFusion, and on one with all repairs.
//!
//! When plain DataFusion answers rightly, the repair, or the line, goes: see `docs/upstream.md`.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use bonnet_sql::Registry;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::FutureExt;

use super::lines::{Lines, Shows, lines};
use crate::syntax::statements::parse::parse;
use crate::syntax::statements::statement::Statement;
use crate::{Result, configure, install, plan_prepared, prepare, testing};

/// Folders in which each file is a repair, or is named below.
const FOLDERS: [&str; 5] = ["src/forms", "src/names", "src/plans", "src/syntax/tokens", "values/src"];

/// Files that repair nothing themselves: lists of modules and of rules, what several repairs share, and forms of our own.
const TOOLS: [&str; 43] = [
    "src/forms/calls.rs",
    "src/forms/changes/mod.rs",
    "src/forms/mod.rs",
    "src/forms/rewrite.rs",
    "src/forms/versions.rs",
    "src/names/mod.rs",
    "src/plans/analysis/analyzer.rs",
    "src/plans/analysis/mod.rs",
    "src/plans/analysis/simplification/mod.rs",
    "src/plans/expressions.rs",
    "src/plans/logical/mod.rs",
    "src/plans/logical/optimizer.rs",
    "src/plans/mod.rs",
    "src/plans/node_rules.rs",
    "src/plans/physical/adapter.rs",
    "src/plans/physical/mod.rs",
    "src/plans/physical/physical_optimizer.rs",
    "src/plans/physical/wrapped_expression.rs",
    "src/plans/stoppable.rs",
    "src/syntax/tokens/mod.rs",
    "src/syntax/tokens/split.rs",
    "src/syntax/tokens/token.rs",
    "values/src/aggregates/inner_aggregate.rs",
    "values/src/aggregates/mod.rs",
    "values/src/aggregates/state_nulls.rs",
    "values/src/aggregates/total.rs",
    "values/src/arithmetic/mod.rs",
    "values/src/casts/float_range.rs",
    "values/src/casts/mod.rs",
    "values/src/casts/nested_types.rs",
    "values/src/guards/mark_assertion.rs",
    "values/src/guards/mod.rs",
    "values/src/guards/optimization_barrier.rs",
    "values/src/lib.rs",
    "values/src/lists/mod.rs",
    "values/src/names/mod.rs",
    "values/src/names/type_names.rs",
    "values/src/same_type_function.rs",
    "values/src/strings/bounded_functions/tests.rs",
    "values/src/strings/mod.rs",
    "values/src/times/mod.rs",
    "values/src/times/moments.rs",
    "values/src/whole_numbers.rs",
];

/// Repairs whose statements become names of files, which only the engine's catalogs read.
const OF_THE_ENGINE: [&str; 2] = ["src/forms/files.rs", "src/syntax/tokens/copy_from.rs"];

/// So long may a repair's statements take together: some hang without it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What an answer begins with that is a panic.
const PANIC: &str = "a panic: ";

/// What an answer begins with that did not come.
const HANG: &str = "no answer within ";

/// The answer of a statement as a page writes it, or why there is none.
type Answer = std::result::Result<String, String>;

/// What the page of a file says, or the line that says it wrongly.
type Page = std::result::Result<Option<Lines>, String>;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The sources below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The files of all repairs, by their names below the crate, with what their pages say.
fn pages() -> BTreeMap<String, Page> {
    let mut found = Vec::new();
    FOLDERS.iter().for_each(|folder| sources(&root().join(folder), &mut found));
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
    found.iter().map(|path| (name(path), lines(&fs::read_to_string(path).unwrap()))).collect()
}

/// The repairs that an answer shows.
fn shown() -> Vec<(String, Lines)> {
    pages().into_iter().filter_map(|(file, page)| Some((file, page.ok()??))).collect()
}

/// The statements of a repair with the place of `{dir}`, which is made.
fn placed(statement: &str, folder: &Path) -> String {
    statement.replace("{dir}", &folder.to_string_lossy())
}

/// The rows of batches as a page writes them.
fn rows(batches: &[RecordBatch]) -> Answer {
    let options = FormatOptions::default().with_null("NULL");
    let mut rows = Vec::new();
    for batch in batches {
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
        let columns: Vec<_> = columns.collect::<std::result::Result<_, _>>().map_err(|error| error.to_string())?;
        rows.extend((0..batch.num_rows()).map(|row| {
            let values: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
            values.join(" | ")
        }));
    }
    Ok(rows.join(" / "))
}

/// A plain session of DataFusion.
fn plain() -> SessionContext {
    SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2))
}

async fn plain_answer(context: &SessionContext, statement: &str) -> Answer {
    let batches = async { context.sql(statement).await?.collect().await }.await;
    rows(&batches.map_err(|error| error.to_string())?)
}

/// A session with all repairs.
fn repaired(registry: &Arc<Registry>) -> SessionContext {
    let mut config = SessionConfig::new().with_target_partitions(2).with_information_schema(true);
    configure(&mut config);
    let builder = SessionStateBuilder::new().with_config(config).with_default_features();
    SessionContext::new_with_state(install(builder, registry).build())
}

fn registry() -> Result<Registry> {
    let mut registry = testing::registry()?;
    registry.register(bonnet_values::functions())?;
    Ok(registry)
}

async fn repaired_batches(context: &SessionContext, registry: &Registry, text: &str) -> Result<Vec<RecordBatch>> {
    let Statement::Sql(statement) = parse(text)? else {
        // COPY and its like, which the engine runs itself.
        return Ok(context.sql(text).await?.collect().await?);
    };
    let state = context.state();
    let prepared = prepare(&state, registry, *statement).await?;
    let plan = plan_prepared(&state, registry, prepared)?;
    Ok(context.execute_logical_plan(plan).await?.collect().await?)
}

async fn repaired_answer(context: &SessionContext, registry: &Registry, statement: &str) -> Answer {
    let batches = repaired_batches(context, registry, statement).await;
    rows(&batches.map_err(|error| error.to_string())?)
}

fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("{PANIC}{}", text.unwrap_or("without words"))
}

/// The answers to the statements of a repair; each is an error where one before it hangs or panics.
async fn patiently(count: usize, answers: impl Future<Output = Vec<Answer>>) -> Vec<Answer> {
    let caught = AssertUnwindSafe(answers).catch_unwind();
    let all = |why: String| vec![Err(why); count];
    match tokio::time::timeout(PATIENCE, caught).await {
        Ok(Ok(answers)) => answers,
        Ok(Err(panic)) => all(panicked(panic.as_ref())),
        Err(_) => all(format!("{HANG}{PATIENCE:?}")),
    }
}

/// The statements of a repair that is shown by some.
fn statements(page: &Lines) -> Vec<&str> {
    let statements = page.shows.iter().filter_map(|shows| match shows {
        Shows::Gives(statement, _) | Shows::Refused(statement) => Some(statement.as_str()),
        Shows::Nothing(_) | Shows::See(_) => None,
    });
    statements.collect()
}

/// Whether an answer is the one that the page states.
fn is_right(shows: &Shows, answer: &Answer) -> bool {
    match shows {
        Shows::Gives(_, right) => answer.as_ref() == Ok(right),
        // Neither a panic nor a hang is a refusal.
        Shows::Refused(_) => answer.as_ref().is_err_and(|why| !why.starts_with(PANIC) && !why.starts_with(HANG)),
        Shows::Nothing(_) | Shows::See(_) => false,
    }
}

/// What a page shows with the answers to it, in a folder of its own that is empty before and gone after.
async fn answered<'a, F>(
    of: &str,
    page: &'a Lines,
    answers: impl FnOnce(Vec<String>, Vec<String>) -> F,
) -> Vec<(&'a Shows, Answer)>
where
    F: Future<Output = Vec<Answer>>,
{
    let name = format!("bonnet-{of}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).unwrap();
    let statements = statements(page);
    let asked: Vec<String> = statements.iter().map(|statement| placed(statement, &folder)).collect();
    let given: Vec<String> = page.given.iter().map(|statement| placed(statement, &folder)).collect();
    let answers = patiently(asked.len(), answers(given, asked)).await;
    fs::remove_dir_all(&folder).unwrap();
    let shows = page.shows.iter().filter(|shows| matches!(shows, Shows::Gives(..) | Shows::Refused(_)));
    shows.zip(answers).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_datafusion_errs_where_a_repair_is() {
    let mut retired = Vec::new();
    for (file, page) in shown() {
        let answers = answered("plain", &page, |given, asked| async move {
            let context = plain();
            for statement in &given {
                // A table that cannot be made is no refusal of the statement that reads it.
                if let Err(error) = plain_answer(&context, statement).await {
                    return vec![Ok(error); asked.len()];
                }
            }
            let mut answers = Vec::new();
            for statement in &asked {
                answers.push(plain_answer(&context, statement).await);
            }
            answers
        });
        for (shows, answer) in answers.await {
            if is_right(shows, &answer) {
                retired.push(format!("DataFusion answers {shows:?} rightly now: delete {file}, see docs/upstream.md"));
            }
        }
    }
    assert!(retired.is_empty(), "{}", retired.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_all_repairs_answers_what_their_pages_say() {
    let registry = Arc::new(registry().unwrap());
    let mut wrong = Vec::new();
    for (file, page) in shown().into_iter().filter(|(file, _)| !OF_THE_ENGINE.contains(&file.as_str())) {
        let registry = Arc::clone(&registry);
        let answers = answered("repaired", &page, |given, asked| async move {
            let context = repaired(&registry);
            for statement in &given {
                if let Err(error) = repaired_answer(&context, &registry, statement).await {
                    return vec![Err(format!("{statement}: {error}")); asked.len()];
                }
            }
            let mut answers = Vec::new();
            for statement in &asked {
                answers.push(repaired_answer(&context, &registry, statement).await);
            }
            answers
        });
        let answers = answers.await;
        let errs = |(shows, answer): &(&Shows, Answer)| !is_right(shows, answer);
        wrong.extend(answers.into_iter().filter(errs).map(|(shows, answer)| format!("{file}: {shows:?}: {answer:?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_repair_says_when_it_may_go() {
    let pages = pages();
    let mut missing = Vec::new();
    for (file, page) in &pages {
        let tool = TOOLS.contains(&file.as_str());
        match page {
            Err(line) => missing.push(format!("{file}: {line}")),
            Ok(None) if !tool => missing.push(format!("{file}: no lines `Upstream:` and `Shows:`")),
            Ok(Some(_)) if tool => missing.push(format!("{file} is a tool, and has lines of a repair")),
            Ok(Some(page)) => missing.extend(unseen(file, page, &pages)),
            Ok(None) => {}
        }
    }
    missing.extend(TOOLS.iter().filter(|tool| !pages.contains_key(**tool)).map(|tool| format!("{tool} is gone")));
    assert!(missing.is_empty(), "see dialect/README.md:\n{}", missing.join("\n"));
}

/// The files that a page names and that say nothing.
fn unseen(file: &str, page: &Lines, pages: &BTreeMap<String, Page>) -> Vec<String> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let says = |seen: &str| {
        let page = pages.get(&format!("{folder}/{seen}"));
        matches!(page, Some(Ok(Some(page))) if !page.shows.iter().any(|shows| matches!(shows, Shows::See(_))))
    };
    let unseen = page.shows.iter().filter_map(|shows| match shows {
        Shows::See(seen) if !says(seen) => Some(format!("{file}: {seen} says nothing")),
        _ => None,
    });
    unseen.collect()
}
