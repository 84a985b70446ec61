//! Random queries here and in DuckDB: the rows are the same.
//!
//! A query is a number: the same number and seed are the same tables and the same query, and a query whose rows differ is
//! made as small as it can be and still differ. `BONNET_DIFFERENTIAL` is how many queries are run (default 400),
//! `BONNET_DIFFERENTIAL_SEED` gives others (default 0), and `BONNET_DIFFERENTIAL_CASE` runs one alone.
#![cfg(target_os = "linux")]

mod accepted;
mod duckdb;
mod functions;
mod generate;
mod rows;
mod tpc;
mod tree;

use std::fmt::Write as _;

use self::accepted::accepted;
use self::duckdb::DuckDb;
use self::generate::{Generator, tables};
use self::rows::{Row, of_batches, same};
use self::tree::Node;
use super::Db;
use super::fuzz::random::Random;

/// Queries over the same tables.
const SHARING: u64 = 20;

/// Differences after which a run stops.
const MOST: usize = 20;

/// Smaller queries that are tried for each difference.
const TRIALS: usize = 300;

fn number(variable: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(variable) else { return default };
    text.parse().unwrap_or_else(|_| panic!("{variable} is '{text}'; a whole number is expected"))
}

/// What the two engines make of a query.
enum Outcome {
    Same,
    /// DuckDB refuses it.
    Refused,
    /// Both answer, or only DuckDB does, and the difference stands in the list.
    Accepted,
    Different(String),
}

struct Pair {
    ours: Db,
    theirs: DuckDb,
}

impl Pair {
    fn tables(&mut self, statements: &[String]) {
        self.ours = Db::new();
        self.theirs.reset();
        for statement in statements {
            self.ours.run(statement);
            self.theirs.run(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
    }

    fn compare(&mut self, sql: &str) -> Outcome {
        let Ok(theirs) = self.theirs.run(sql) else { return Outcome::Refused };
        let difference = match self.ours.try_run(sql).map(|batches| of_batches(&batches)) {
            Ok(ours) if same(&ours, &theirs) => return Outcome::Same,
            Ok(ours) => format!("rows here:\n{}rows in DuckDB:\n{}", listed(&ours), listed(&theirs)),
            Err(error) => format!("refused here: {error}"),
        };
        if accepted(sql, &difference) { Outcome::Accepted } else { Outcome::Different(difference) }
    }
}

fn listed(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows.iter().take(12) {
        let _ = writeln!(text, "  {row:?}");
    }
    if rows.len() > 12 {
        let _ = writeln!(text, "  ... {} rows", rows.len());
    }
    text
}

#[test]
fn queries_answer_as_in_duckdb() {
    let Some(theirs) = DuckDb::start() else { return };
    let mut pair = Pair { ours: Db::new(), theirs };
    let seed = number("BONNET_DIFFERENTIAL_SEED", 0);
    let cases = match number("BONNET_DIFFERENTIAL_CASE", u64::MAX) {
        u64::MAX => 0..number("BONNET_DIFFERENTIAL", 400),
        case => case..case + 1,
    };
    let (mut same, mut refused, mut listed) = (0, 0, 0);
    let mut findings = Vec::new();
    let mut made = u64::MAX;
    for case in cases {
        let group = case / SHARING;
        let statements = tables(&mut Random::new(seed, u64::MAX - group));
        if made != group {
            pair.tables(&statements);
            made = group;
        }
        let query = Generator::new(&mut Random::new(seed, case)).query();
        match pair.compare(&query.to_string()) {
            Outcome::Same => same += 1,
            Outcome::Refused => refused += 1,
            Outcome::Accepted => listed += 1,
            Outcome::Different(_) => findings.push(finding(&mut pair, seed, case, &query, &statements)),
        }
        if findings.len() >= MOST {
            break;
        }
    }
    println!("{same} queries answer the same, {listed} differ as listed, {refused} are refused by DuckDB");
    assert!(findings.is_empty(), "{}", findings.join("\n\n"));
    assert!(refused <= same, "the generator makes few queries that DuckDB answers");
}

fn finding(pair: &mut Pair, seed: u64, case: u64, query: &Node, statements: &[String]) -> String {
    let small = query.shrink(TRIALS, &mut |tree| matches!(pair.compare(&tree.to_string()), Outcome::Different(_)));
    let Outcome::Different(difference) = pair.compare(&small.to_string()) else {
        return format!("seed {seed}, case {case}: answers that change from run to run\n{query}");
    };
    let used = statements.iter().filter(|statement| {
        let table = statement.split(' ').nth(2).unwrap_or_default();
        small.to_string().contains(&format!("{table} "))
    });
    let used: String = used.map(|statement| format!("{statement};\n")).collect();
    format!("BONNET_DIFFERENTIAL_SEED={seed} BONNET_DIFFERENTIAL_CASE={case}\n{used}{small};\n{difference}")
}
