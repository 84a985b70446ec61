//! The scripts of `tests/slt`, each in an engine of its own.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bonnetdb::{Answer, Engine, EngineOptions, Error, Session};
use futures::TryStreamExt;
use sqllogictest::{AsyncDB, DBOutput, Record, Runner, parse_file, strict_column_validator};

use crate::cells::{self, Letter};

struct Database {
    session: Session,
}

#[async_trait]
impl AsyncDB for Database {
    type Error = Error;
    type ColumnType = Letter;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<Letter>, Error> {
        let rows = match self.session.execute(sql).await? {
            Answer::Done(_) => return Ok(DBOutput::StatementComplete(0)),
            Answer::Rows(rows) => rows,
        };
        let schema = rows.schema();
        let batches: Vec<_> = rows.try_collect().await?;
        Ok(DBOutput::Rows { types: cells::letters(&schema), rows: batches.iter().flat_map(cells::rows).collect() })
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "BonnetDB"
    }

    async fn sleep(duration: std::time::Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// All scripts in order of their paths.
pub(crate) fn scripts() -> Vec<PathBuf> {
    let mut waiting = vec![crate::repository().join("tests/slt")];
    let mut scripts = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => waiting.push(path),
                Some(extension) if extension == "slt" => scripts.push(path),
                _ => {}
            }
        }
    }
    scripts.sort();
    scripts
}

/// Every mistake of a script, not only the first.
async fn mistakes(script: &Path, engine: &Engine) -> Vec<String> {
    let mut runner = Runner::new(|| async { Ok(Database { session: engine.session() }) });
    runner.with_normalizer(|line| line.trim_end().to_owned());
    runner.with_column_validator(strict_column_validator);
    let mut mistakes = Vec::new();
    for record in parse_file::<Letter>(script).unwrap_or_else(|error| panic!("{error}")) {
        if let Record::Halt { .. } = record {
            break;
        }
        if let Err(error) = runner.run_async(record).await {
            mistakes.push(error.display(false).to_string());
        }
    }
    runner.shutdown_async().await;
    mistakes
}

/// The scripts whose paths below `tests/slt` hold a word; all where it is empty.
///
/// # Panics
/// Where no path holds it: a run without a script would be taken for one that is right.
fn chosen(word: &str) -> Vec<PathBuf> {
    let folder = crate::repository().join("tests/slt");
    let below = |path: &Path| path.strip_prefix(&folder).unwrap_or(path).to_string_lossy().into_owned();
    let all = scripts();
    let chosen: Vec<PathBuf> = all.iter().filter(|path| below(path).contains(word)).cloned().collect();
    let names: Vec<String> = all.iter().map(|path| below(path)).collect();
    assert!(!chosen.is_empty(), "BONNET_SLT={word} is in the path of no script; there are:\n{}", names.join("\n"));
    chosen
}

#[test]
fn every_script_gives_what_it_says() {
    // Those of some paths while at work on them: BONNET_SLT=train cargo test --test main slt
    // Scripts name files of the repository by their paths from its root.
    std::env::set_current_dir(crate::repository()).unwrap();
    let mut all = Vec::new();
    for script in chosen(&std::env::var("BONNET_SLT").unwrap_or_default()) {
        let engine =
            Engine::open(EngineOptions { threads: Some(2), memory_limit: None, ..EngineOptions::default() }).unwrap();
        all.extend(engine.block_on(mistakes(&script, &engine)));
    }
    assert!(all.is_empty(), "{} mistakes\n\n{}", all.len(), all.join("\n\n"));
}

#[test]
fn scripts_are_chosen_by_words_of_their_paths_and_no_script_is_a_mistake() {
    assert!(chosen("ranking").iter().all(|path| path.ends_with("ranking.slt")));
    let message = std::panic::catch_unwind(|| chosen("no_such_script")).unwrap_err();
    let message = message.downcast_ref::<String>().unwrap();
    assert!(message.contains("no_such_script") && message.contains("ranking.slt"), "{message}");
}
