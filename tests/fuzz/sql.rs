//! Statements: those of the scripts and of the documentation with tokens deleted, swapped and replaced, and calls of every
//! function with arguments of any type.

use bonnet_sql::{Function, Kind, ParameterKind};
use bonnetdb::{Answer, EngineOptions};
use futures::StreamExt;
use sqllogictest::{Record, parse_file};

use crate::cells::Letter;

use super::{Cases, Random, Step, wanted};
use crate::{Db, slt};

/// What the engine of a case may hold, in bytes.
const MEMORY: usize = 256 << 20;

/// Statements of one case.
const MOST: usize = 40;

/// What stands in the place of another token.
const ODD: [&str; 46] = [
    "NULL",
    "''",
    "'x'",
    "'NaN'",
    "'inf'",
    "'ü'",
    "-1",
    "0",
    "1",
    "2",
    "1.5",
    "-0.0",
    "1e308",
    "-1e308",
    "1e-320",
    "255",
    "2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "true",
    "false",
    "[]",
    "[NULL]",
    "[[0, 1, 2], [0, 1, 3]]",
    "[[]]",
    "[1, NULL, 2]",
    "{'a': 1}",
    "MAP {1: 0.5}",
    "'NaN'::DOUBLE",
    "'inf'::DOUBLE",
    "NULL::BIGINT",
    "NULL::TEXT",
    "(SELECT 1 WHERE false)",
    "(SELECT NULL)",
    "DATE '2026-01-31'",
    "INTERVAL '1 day'",
    "X'00ff'",
    "*",
    "(",
    ")",
    ",",
    "=>",
    "::",
    "$1",
    "\"\"",
];

/// Relations that hold little, nothing, or the wrong thing.
const RELATIONS: [&str; 22] = [
    "karate.edges",
    "karate.nodes",
    "karate",
    "empty",
    "nulls",
    "odd",
    "loops",
    "texts",
    "lists",
    "nothing_of_this_name",
    "(SELECT 1 AS src, 2 AS dst WHERE false)",
    "(SELECT NULL AS src, NULL AS dst)",
    "(SELECT 1 AS src, 'a' AS dst)",
    "(SELECT value AS src, value + 1 AS dst, -1.0 AS weight FROM generate_series(1, 9))",
    "(SELECT value AS src, value * value % 31 AS dst, value % 3 AS graph_id FROM generate_series(0, 60))",
    "(SELECT 9223372036854775807 AS src, -9223372036854775808 AS dst)",
    "(SELECT 0.5 AS src, 'NaN'::DOUBLE AS dst, 'inf'::DOUBLE AS weight)",
    "(SELECT 'karate' AS graph, 'gcn' AS model, 3 AS epochs)",
    "(SELECT NULL AS graph, NULL AS model)",
    "(SELECT 1)",
    "(VALUES (1, 2), (2, 3), (3, 1))",
    "'nothing.csv'",
];

/// The tables that cases read.
const TABLES: [&str; 7] = [
    "ATTACH 'builtin:karate' AS karate",
    "CREATE TABLE empty (src BIGINT, dst BIGINT, label TEXT, value DOUBLE)",
    "CREATE TABLE nulls AS SELECT NULL::BIGINT AS src, NULL::BIGINT AS dst, NULL::TEXT AS label, NULL::DOUBLE AS value",
    "CREATE TABLE odd AS SELECT * FROM (VALUES (1, 2, 'a', 'NaN'::DOUBLE), (2, 1, '', 'inf'::DOUBLE),
         (NULL, 3, NULL, -1e308), (9223372036854775807, -9223372036854775808, 'ü', 1e-320), (1, 1, 'a', NULL))
         AS t(src, dst, label, value)",
    "CREATE TABLE loops AS SELECT value AS src, value AS dst, value % 2 AS label, 1.0 AS value FROM generate_series(0, 5)",
    "CREATE TABLE texts AS SELECT 'n' || src AS src, 'n' || dst AS dst, 'a' AS label, 0.5 AS value FROM karate.edges",
    "CREATE TABLE lists AS SELECT [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]] AS facets, [0.5, NULL] AS src, {'x': 1} AS dst,
         [[]] AS label, MAP {1: 0.5} AS value",
];

const COLUMNS: [&str; 8] = ["src", "dst", "label", "value", "facets", "node", "graph_id", "features"];

/// Statements that a case may not run: they change files, or what a case is limited by.
fn allowed(statement: &str) -> bool {
    let lower = statement.to_lowercase();
    !["copy", "timeout", "to '", "datafusion.", "reset", "threads", "install"].iter().any(|word| lower.contains(word))
}

/// The statements of each script, and those of the documentation as one script.
fn scripts(db: &Db) -> Vec<(String, Vec<String>)> {
    let mut scripts = Vec::new();
    for path in slt::scripts() {
        let records = parse_file::<Letter>(&path).unwrap_or_else(|error| panic!("{error}"));
        let statements = records.into_iter().filter_map(|record| match record {
            Record::Statement { sql, .. } | Record::Query { sql, .. } => Some(sql),
            _ => None,
        });
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        scripts.push((name, statements.filter(|statement| allowed(statement)).collect::<Vec<_>>()));
    }
    let examples = db.engine.registry().iter().map(|function| function.example.to_owned());
    scripts.push(("examples".to_owned(), examples.collect()));
    scripts.retain(|(name, statements)| wanted(name) && !statements.is_empty());
    assert!(!scripts.is_empty(), "no script is wanted");
    scripts
}

pub(super) fn cases() -> Cases {
    let functions: Vec<Function> = Db::new().engine.registry().iter().map(|function| (**function).clone()).collect();
    let scripts = scripts(&Db::new());
    Box::new(move |random, step| {
        let options = EngineOptions { threads: Some(2), memory_limit: Some(MEMORY), ..EngineOptions::default() };
        let db = step.run("the engine is opened", 64 << 20, || Db::with(options)).unwrap();
        for table in TABLES {
            db.run(table);
        }
        db.run("SET bonnet.statement_timeout = '1s'");
        let (_, script) = &scripts[random.below(scripts.len())];
        let mut run = 0;
        for statement in script {
            let makes = ["CREATE", "ATTACH", "INSERT", "USE", "PREPARE"]
                .iter()
                .any(|verb| statement.trim_start().starts_with(verb));
            if makes && !random.one_in(8) {
                execute(step, &db, statement);
            } else if random.one_in(script.len() / MOST + 2) {
                let mut tokens = tokens(statement);
                let other = &scripts[random.below(scripts.len())].1;
                let other = &other[random.below(other.len())];
                damage(&mut tokens, random, other);
                execute(step, &db, &tokens.concat());
            }
            if random.one_in(3) {
                let call = call(&functions[random.below(functions.len())], random, &functions, 2);
                execute(step, &db, &call);
            }
            run += 1;
            if run == 2 * MOST {
                break;
            }
        }
    })
}

/// Runs a statement and throws its rows away.
fn execute(step: &Step, db: &Db, statement: &str) {
    if !allowed(statement) {
        return;
    }
    let limit = MEMORY as u64 * 5 / 4 + (32 << 20);
    let done = step.run(statement, limit, || {
        db.engine.block_on(async {
            match db.session.execute(statement).await? {
                Answer::Done(_) => Ok(()),
                Answer::Rows(mut rows) => {
                    while let Some(batch) = rows.next().await {
                        batch?;
                    }
                    Ok::<_, bonnetdb::Error>(())
                }
            }
        })
    });
    step.count(matches!(done, Some(Ok(()))));
    if let Some(Err(error)) = done {
        let error = error.to_string();
        if error.contains("panicked") || error.contains("by a defect") || error.trim().is_empty() {
            step.found(&format!("says: {error}"));
        }
    }
}

/// Words, numbers, quoted text, blanks and signs: together the statement again.
fn tokens(statement: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = statement;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let end = match first {
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            c if c.is_whitespace() => rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        tokens.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    tokens
}

/// Damages a statement once to three times; `other` lends tokens.
fn damage(statement: &mut Vec<String>, random: &mut Random, other: &str) {
    let other = tokens(other);
    for _ in 0..1 + random.below(3) {
        let seen = |token: &&String| !token.trim().is_empty();
        let places: Vec<usize> = (0..statement.len()).filter(|at| seen(&&statement[*at])).collect();
        let Some(&at) = places.get(random.below(places.len())) else { return };
        let second = places[random.below(places.len())];
        match random.below(12) {
            0 => drop(statement.remove(at)),
            1 => statement.swap(at, second),
            2 => {
                let again = statement[at].clone();
                statement.insert(second, format!(" {again} "));
            }
            3..=6 => statement[at] = format!(" {} ", ODD[random.below(ODD.len())]),
            7 => {
                let found: Vec<&String> = other.iter().filter(seen).collect();
                statement[at] = format!(" {} ", random.pick(&found));
            }
            8 => {
                // A part of the other.
                let part = other[random.range(other.len())].concat();
                statement.insert(at, format!(" {part} "));
            }
            9 => statement.truncate(at),
            10 => statement[at] = format!(" {} ", RELATIONS[random.below(RELATIONS.len())]),
            _ => {
                // As deep as a stack.
                let (open, close) =
                    *random.pick(&[&("(", ")"), &("[", "]"), &("NOT ", ""), &("-", ""), &("CASE WHEN ", "")]);
                let depth = if random.one_in(3) { 3000 } else { 12 };
                let token = &statement[at];
                statement[at] = format!(" {}{token}{} ", open.repeat(depth), close.repeat(depth));
            }
        }
    }
}

/// A value of any type: mostly a literal, else a column or a call.
fn value(random: &mut Random, functions: &[Function], depth: usize) -> String {
    match random.below(8) {
        0..=3 => COLUMNS[random.below(COLUMNS.len())].to_owned(),
        4 if depth > 0 => {
            let scalars: Vec<&Function> =
                functions.iter().filter(|it| matches!(it.kind(), Kind::Scalar | Kind::Aggregate)).collect();
            expression(random.pick(&scalars), random, functions, depth - 1)
        }
        _ => ODD[random.below(ODD.len() - 8)].to_owned(),
    }
}

/// A call with arguments that may fit.
fn expression(function: &Function, random: &mut Random, functions: &[Function], depth: usize) -> String {
    let mut arguments = Vec::new();
    for parameter in &function.parameters {
        if parameter.optional && random.one_in(2) || random.one_in(20) {
            continue;
        }
        let given = match &parameter.kind {
            _ if random.one_in(12) => value(random, functions, depth),
            ParameterKind::Relation => RELATIONS[random.below(RELATIONS.len())].to_owned(),
            ParameterKind::Graph => random.pick(&["karate", "'*'", "empty", "NULL", "'karate'", "nothing"]).to_owned(),
            ParameterKind::Name | ParameterKind::Column(_) => value(random, functions, depth),
            ParameterKind::Option(_) => ODD[random.below(ODD.len() - 8)].to_owned(),
        };
        arguments.push(if parameter.optional { format!("{} => {given}", parameter.name) } else { given });
    }
    if random.one_in(20) {
        arguments.push(value(random, functions, depth));
    }
    format!("{}({})", function.name, arguments.join(", "))
}

/// A statement that calls a function.
fn call(function: &Function, random: &mut Random, functions: &[Function], depth: usize) -> String {
    let expression = expression(function, random, functions, depth);
    let relation = RELATIONS[random.below(RELATIONS.len())];
    let kind = match random.one_in(20) {
        true => [Kind::Scalar, Kind::Aggregate, Kind::Window, Kind::Relation][random.below(4)],
        false => function.kind(),
    };
    match kind {
        Kind::Scalar => format!("SELECT {expression} FROM {relation}"),
        Kind::Aggregate if random.one_in(2) => format!("SELECT label, {expression} FROM {relation} GROUP BY label"),
        Kind::Aggregate => format!("SELECT {expression} FROM {relation}"),
        Kind::Window | Kind::Edge if random.one_in(2) => {
            format!("SELECT {expression} OVER (PARTITION BY label ORDER BY src) FROM {relation}")
        }
        Kind::Window | Kind::Edge => format!("SELECT {expression} OVER () FROM {relation}"),
        Kind::Relation | Kind::Run | Kind::Generator => format!("SELECT * FROM {expression}"),
    }
}
