//! Random queries here and in DuckDB: the rows are the same.
//!
//! A query is a number: the same number and seed are the same tables and the same query, and a query whose rows differ is
//! made as small as it can be and still differ. `BONNET_DIFFERENTIAL` is how many queries are run (default 400),
//! `BONNET_DIFFERENTIAL_SEED` gives others (default 0), and `BONNET_DIFFERENTIAL_CASE` runs one alone.
//!
//! For hours: `BONNET_DIFFERENTIAL_FOLDER` is a folder into which every difference is written as a file of its own; the run
//! goes on after it, and prints from time to time how far it is.
#![cfg(target_os = "linux")]

mod accepted;
mod claims;
mod duckdb;
mod functions;
mod generate;
mod rows;
mod tpc;
mod tree;

use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use self::accepted::{accepted, differ_by_rounding};
use self::duckdb::{Answer, DuckDb};
use self::generate::{Generator, TABLES, tables};
use self::rows::{Row, of_batches, same};
use self::tree::Node;
use super::Db;
use super::fuzz::random::Random;

/// Queries over the same tables.
const SHARING: u64 = 50;

/// Differences after which a run stops that writes them into no folder, and after which none is made smaller.
const MOST: usize = 20;
const MOST_SHRUNK: usize = 200;

/// Smaller queries that are tried for each difference.
const TRIALS: usize = 300;

/// Tables between two lines about how far a run is.
const PROGRESS: u64 = 20;

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

/// What a query is to our answer and to DuckDB's.
fn outcome(db: &Db, sql: &str, theirs: &Answer) -> Outcome {
    let Ok(theirs) = theirs else { return Outcome::Refused };
    let difference = match db.try_run(sql).map(|batches| of_batches(&batches)) {
        Ok(ours) if same(&ours, theirs) => return Outcome::Same,
        Ok(ours) if differ_by_rounding(sql, &ours, theirs) => return Outcome::Accepted,
        Ok(ours) => format!("rows here:\n{}rows in DuckDB:\n{}", listed(&ours), listed(theirs)),
        Err(error) => format!("refused here: {error}"),
    };
    if accepted(sql, &difference) { Outcome::Accepted } else { Outcome::Different(difference) }
}

/// Queries over the same tables.
struct Group {
    number: u64,
    /// What makes the tables.
    statements: Vec<String>,
    queries: Vec<(u64, Node)>,
}

impl Group {
    fn new(seed: u64, number: u64, cases: &Range<u64>) -> Self {
        let statements = tables(&mut Random::new(seed, u64::MAX - number));
        let own = (number * SHARING).max(cases.start)..((number + 1) * SHARING).min(cases.end);
        let queries = own.map(|case| (case, Generator::new(&mut Random::new(seed, case)).query())).collect();
        Self { number, statements, queries }
    }

    /// Most plans have one partition, which is quicker, and some have several.
    fn make_tables(&self, db: &Db) {
        let partitions = if self.number.is_multiple_of(4) { 2 } else { 1 };
        db.run(&format!("SET datafusion.execution.target_partitions = {partitions}"));
        for statement in &self.statements {
            db.run(statement);
        }
    }

    fn ask(&self, theirs: &mut DuckDb) {
        let queries = self.queries.iter().map(|(_, query)| query.to_string());
        theirs.ask(&self.statements.iter().cloned().chain(queries).collect::<Vec<_>>());
    }

    /// DuckDB's answers to the queries.
    fn answers(&self, theirs: &mut DuckDb) -> Vec<Answer> {
        let mut answers = theirs.answers();
        let queries = answers.split_off(self.statements.len());
        for (statement, answer) in self.statements.iter().zip(answers) {
            answer.unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        queries
    }
}

/// A database whose plans are held to what they claim of their rows.
fn checked() -> Db {
    let db = Db::new();
    claims::check(&db.session);
    db
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
    let Some(mut theirs) = DuckDb::start() else { return };
    let db = checked();
    let seed = number("BONNET_DIFFERENTIAL_SEED", 0);
    let folder = std::env::var_os("BONNET_DIFFERENTIAL_FOLDER").map(PathBuf::from);
    folder.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    let cases = match number("BONNET_DIFFERENTIAL_CASE", u64::MAX) {
        u64::MAX => 0..number("BONNET_DIFFERENTIAL", 400),
        case => case..case + 1,
    };
    let (mut same, mut refused, mut listed) = (0, 0, 0);
    let mut findings = Vec::new();
    let start = Instant::now();
    let mut groups = (cases.start / SHARING..cases.end.div_ceil(SHARING)).map(|it| Group::new(seed, it, &cases));
    let mut next = groups.next();
    next.iter().for_each(|group| group.ask(&mut theirs));
    while let Some(group) = next {
        // DuckDB goes on while we answer.
        next = groups.next();
        next.iter().for_each(|group| group.ask(&mut theirs));
        group.make_tables(&db);
        let answers = group.answers(&mut theirs);
        for ((case, query), answer) in group.queries.iter().zip(&answers) {
            match outcome(&db, &query.to_string(), answer) {
                Outcome::Same => same += 1,
                Outcome::Refused => refused += 1,
                Outcome::Accepted => listed += 1,
                Outcome::Different(difference) => {
                    let small = if findings.len() < MOST_SHRUNK { finding(&group, query) } else { None };
                    let text = small.unwrap_or_else(|| format!("{query};\n{difference}"));
                    let text = format!("BONNET_DIFFERENTIAL_SEED={seed} BONNET_DIFFERENTIAL_CASE={case}\n{text}");
                    if let Some(folder) = &folder {
                        std::fs::write(folder.join(format!("{seed}-{case}")), &text).unwrap();
                    }
                    findings.push(text);
                }
            }
        }
        if folder.is_some() && group.number % PROGRESS == PROGRESS - 1 {
            let (seconds, found) = (start.elapsed().as_secs(), findings.len());
            println!("seed {seed}: {same} the same, {refused} refused, {listed} listed, {found} differ, {seconds} s");
        }
        if folder.is_none() && findings.len() >= MOST {
            break;
        }
    }
    println!("{same} queries answer the same, {listed} differ as listed, {refused} are refused by DuckDB");
    assert!(findings.is_empty(), "{} differences\n\n{}", findings.len(), findings.join("\n\n"));
    assert!(refused <= same, "the generator makes few queries that DuckDB answers");
}

/// A query that differs, as small as it can be, with its tables and the difference; `None` if the answers change from run
/// to run.
fn finding(group: &Group, query: &Node) -> Option<String> {
    let (db, mut theirs) = (checked(), DuckDb::start()?);
    group.make_tables(&db);
    for statement in &group.statements {
        theirs.run(statement).unwrap();
    }
    let mut compare = |tree: &Node| {
        let sql = tree.to_string();
        let answer = theirs.run(&sql);
        outcome(&db, &sql, &answer)
    };
    let small = query.shrink(TRIALS, &mut |tree| matches!(compare(tree), Outcome::Different(_)));
    let Outcome::Different(difference) = compare(&small) else { return None };
    let small = small.to_string();
    let is_used = |statement: &&String| {
        (0..TABLES).any(|table| {
            let name = format!("t{table} ");
            let makes = ["TABLE", "INTO"].map(|word| statement.contains(&format!("{word} {name}")));
            small.contains(&name) && makes.contains(&true)
        })
    };
    let used: String = group.statements.iter().filter(is_used).map(|statement| format!("{statement};\n")).collect();
    Some(format!("{used}{small};\n{difference}"))
}
