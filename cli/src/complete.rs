//! Completion at the prompt: keywords, names of the catalog, functions with their options, models, files and backslash commands.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR, Path};

use bonnet_dialect::syntax::tokens::split::{LexemeKind, Lexer, is_word};
use rustyline::completion::{Completer, Pair};
use rustyline::hint::{Hint, Hinter};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};

use super::calls::OpenCalls;
use super::meta::COMMANDS;
use super::script;

/// Words of the dialect that are worth completing, in order.
pub(super) const KEYWORDS: &[&str] = &[
    "ALL",
    "ALTER",
    "ANALYZE",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "ATTACH",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COPY",
    "CREATE",
    "CROSS",
    "CURRENT",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DETACH",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "EXPLAIN",
    "EXTERNAL",
    "FALSE",
    "FILTER",
    "FOLLOWING",
    "FORMAT",
    "FROM",
    "FULL",
    "GRAPH",
    "GROUP",
    "HAVING",
    "IF",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCATION",
    "MATERIALIZED",
    "NATURAL",
    "NOT",
    "NULL",
    "NULLS",
    "OFFSET",
    "ON",
    "OPTIMIZE",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "PIVOT",
    "PRECEDING",
    "QUALIFY",
    "RANGE",
    "RECURSIVE",
    "REPLACE",
    "RESET",
    "RIGHT",
    "ROWS",
    "SCHEMA",
    "SELECT",
    "SET",
    "SHOW",
    "STORED",
    "SUMMARIZE",
    "TABLE",
    "TABLES",
    "THEN",
    "TO",
    "TRUE",
    "TYPE",
    "UNBOUNDED",
    "UNION",
    "UNNEST",
    "UNPIVOT",
    "UPDATE",
    "USE",
    "USING",
    "VACUUM",
    "VALUES",
    "VERSION",
    "VIEW",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
    "WITHIN",
];

/// The names of the catalog that completion offers.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Catalog, schema, table and column of every column.
    pub(super) columns: Vec<[String; 4]>,
    /// Names of functions.
    pub(super) functions: Vec<String>,
    /// The options of functions that have some.
    pub(super) options: BTreeMap<String, Vec<String>>,
    /// Names of models.
    pub(super) models: Vec<String>,
}

/// The functions that train models.
pub(super) const TRAINING: [&str; 3] = ["train", "pretrain", "training_curve"];

/// The helper of the prompt's editor: completes words and says whether an input is whole.
#[derive(Helper, Default)]
pub(super) struct Assistance {
    pub(super) names: Candidates,
    /// Whether what is typed is coloured.
    pub(super) colour: bool,
}

impl Validator for Assistance {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let input = context.input();
        let whole = script::is_whole(input) || script::command_within(input).is_some();
        Ok(if whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

/// Stands where the next line of a statement begins, until something is typed there.
pub(super) struct Continuation;

impl Hint for Continuation {
    fn display(&self) -> &str {
        "... a semicolon ends the statement"
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for Assistance {
    type Hint = Continuation;

    fn hint(&self, line: &str, at: usize, _: &Context<'_>) -> Option<Continuation> {
        (at == line.len() && line.ends_with('\n') && !script::is_whole(line)).then_some(Continuation)
    }
}

impl Completer for Assistance {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, words) = complete(&self.names, &line[..at]);
        Ok((start, words.into_iter().map(|word| Pair { display: word.clone(), replacement: word }).collect()))
    }
}

/// The byte from which the end of `text` is replaced, and the words that could stand there.
fn complete(names: &Candidates, text: &str) -> (usize, Vec<String>) {
    if text.trim_start().starts_with('\\') {
        return complete_command(names, text);
    }
    match Lexer::new(text).last() {
        Some(last) if !last.closed && last.kind == LexemeKind::Text && last.text.starts_with('\'') => {
            let start = last.start + 1;
            (start, texts(names, &text[..last.start], &text[start..]))
        }
        Some(last) if !last.closed && last.kind != LexemeKind::QuotedIdentifier => (text.len(), Vec::new()),
        _ => complete_word(names, text),
    }
}

fn complete_command(names: &Candidates, text: &str) -> (usize, Vec<String>) {
    let start =
        text.rfind(char::is_whitespace).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let word = &text[start..];
    if word.starts_with('\\') {
        let commands = COMMANDS.iter().map(|(name, ..)| (*name).to_owned());
        return (start, commands.filter(|name| name.starts_with(word)).collect());
    }
    let words = match text.split_whitespace().next() {
        Some("\\i" | "\\ir" | "\\o") => return (start, files(word)),
        Some("\\format") => ["table", "csv", "json", "ndjson", "markdown"].map(str::to_owned).to_vec(),
        Some("\\timing") => ["on", "off"].map(str::to_owned).to_vec(),
        Some("\\df") => names.functions.clone(),
        Some("\\d") => return complete_word(names, text),
        _ => Vec::new(),
    };
    (start, words.into_iter().filter(|candidate| candidate.starts_with(word)).collect())
}

fn complete_word(names: &Candidates, text: &str) -> (usize, Vec<String>) {
    let start =
        text.rfind(|c: char| !is_word(c)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let prefix = &text[start..];
    let mut words: Vec<String> = match qualifier(&text[..start]) {
        Some(qualifier) => {
            let below = names.columns.iter().flat_map(|[catalog, schema, table, column]| {
                let pairs = [(catalog, schema), (schema, table), (table, column)];
                pairs.into_iter().filter(|(above, _)| above.eq_ignore_ascii_case(&qualifier)).map(|(_, name)| name)
            });
            below.filter(|name| starts_with(name, prefix)).map(|name| quoted(name)).collect()
        }
        // Everything would match: that helps nobody, but where an option may stand.
        None if prefix.is_empty() => options(names, &text[..start], prefix),
        None => {
            let all = names.columns.iter().flat_map(|path| &path[1..]).filter(|name| starts_with(name, prefix));
            let lower = prefix.contains(char::is_lowercase);
            let keywords = KEYWORDS.iter().filter(|keyword| starts_with(keyword, prefix));
            let functions = names.functions.iter().filter(|name| starts_with(name, prefix));
            all.map(|name| quoted(name))
                .chain(keywords.map(|word| if lower { word.to_lowercase() } else { (*word).to_owned() }))
                .chain(functions.map(|name| format!("{name}(")))
                .chain(options(names, &text[..start], prefix))
                .collect()
        }
    };
    words.sort();
    words.dedup();
    (start, words)
}

/// The options of the call whose argument begins behind `before`.
fn options(names: &Candidates, before: &str, prefix: &str) -> Vec<String> {
    let call = OpenCalls::at_end(before).of_argument().map(str::to_lowercase);
    let options = call.and_then(|call| names.options.get(&call)).into_iter().flatten();
    options.filter(|name| starts_with(name, prefix)).map(|name| format!("{name} => ")).collect()
}

/// What a string may go on with: models where one is named, beside files within a call that trains some, else files.
fn texts(names: &Candidates, before: &str, prefix: &str) -> Vec<String> {
    let calls = OpenCalls::at_end(before);
    let trains = TRAINING.iter().any(|function| calls.within(function));
    let models = names.models.iter().filter(|name| name.starts_with(prefix)).cloned();
    match (trains, calls.gives("model"), prefix.is_empty()) {
        (true, true, _) => models.collect(),
        (true, false, false) => models.chain(files(prefix)).collect(),
        _ => files(prefix),
    }
}

/// The name before the dot with which a text ends.
fn qualifier(text: &str) -> Option<Cow<'_, str>> {
    let text = text.strip_suffix('.')?;
    let last = Lexer::new(text).last()?;
    match last.kind {
        LexemeKind::Word => Some(Cow::Borrowed(last.text)),
        LexemeKind::QuotedIdentifier if last.closed => {
            Some(Cow::Owned(last.text[1..last.text.len() - 1].replace("\"\"", "\"")))
        }
        _ => None,
    }
}

fn starts_with(name: &str, prefix: &str) -> bool {
    name.to_lowercase().starts_with(&prefix.to_lowercase())
}

/// The name as it must stand in SQL.
fn quoted(name: &str) -> String {
    let plain = name.chars().all(|c| is_word(c) && !c.is_uppercase()) && !name.starts_with(char::is_numeric);
    if plain && !name.is_empty() { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The paths that start with this one; folders end with a separator.
fn files(path: &str) -> Vec<String> {
    let (folder, prefix) = path.rfind(MAIN_SEPARATOR).map_or(("", path), |at| path.split_at(at + 1));
    let Ok(entries) = Path::new(if folder.is_empty() { "." } else { folder }).read_dir() else { return Vec::new() };
    let mut paths: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let hidden = name.starts_with('.') && !prefix.starts_with('.');
            let separator = if entry.path().is_dir() { std::path::MAIN_SEPARATOR_STR } else { "" };
            (name.starts_with(prefix) && !hidden).then(|| format!("{folder}{name}{separator}"))
        })
        .collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Candidates {
        let columns = [
            ["bonnet", "cora", "edges", "src"],
            ["bonnet", "cora", "edges", "dst"],
            ["bonnet", "cora", "nodes", "node"],
            ["bonnet", "public", "Mixed Case", "n"],
        ];
        Candidates {
            columns: columns.map(|path| path.map(str::to_owned)).to_vec(),
            functions: vec!["forman_ricci".into(), "midpoint_curvature".into()],
            options: BTreeMap::from([("train".into(), vec!["epochs".into(), "edge_dropout".into(), "model".into()])]),
            models: vec!["gat".into(), "gcn".into()],
        }
    }

    fn completed(text: &str) -> Vec<String> {
        let (start, words) = complete(&names(), text);
        words.into_iter().map(|word| format!("{}{word}", &text[..start])).collect()
    }

    #[test]
    fn keywords_keep_the_case_in_which_they_are_typed() {
        assert_eq!(completed("SEL"), ["SELECT"]);
        assert_eq!(completed("select 1 whe"), ["select 1 when", "select 1 where"]);
    }

    #[test]
    fn names_of_the_catalog_and_functions_are_completed() {
        assert_eq!(completed("FROM cor"), ["FROM cora"]);
        assert_eq!(completed("SELECT form"), ["SELECT forman_ricci(", "SELECT format"]);
        assert_eq!(completed("SELECT sr"), ["SELECT src"]);
        assert_eq!(completed("FROM mix"), ["FROM \"Mixed Case\""]);
    }

    #[test]
    fn after_a_dot_stands_what_the_name_before_it_holds() {
        assert_eq!(completed("FROM cora."), ["FROM cora.edges", "FROM cora.nodes"]);
        assert_eq!(completed("SELECT edges.d"), ["SELECT edges.dst"]);
        assert_eq!(completed("FROM bonnet.c"), ["FROM bonnet.cora"]);
        assert_eq!(completed("SELECT \"Mixed Case\"."), ["SELECT \"Mixed Case\".n"]);
        assert_eq!(completed("SELECT 1."), [""; 0]);
    }

    #[test]
    fn options_stand_where_an_argument_begins_and_models_in_their_strings() {
        let of_train = ["edge_dropout", "epochs", "model"].map(|option| format!("FROM train(g, {option} => "));
        assert_eq!(completed("FROM train(g, "), of_train);
        assert_eq!(completed("FROM train(g, ep"), ["FROM train(g, epochs => "]);
        assert_eq!(completed("FROM train(g, epochs => "), [""; 0]);
        assert_eq!(completed("SELECT forman_ricci("), [""; 0]);
        let models = ["gat", "gcn"].map(|model| format!("FROM train(g, model => '{model}"));
        assert_eq!(completed("FROM train(g, model => '"), models);
        assert_eq!(completed("FROM train((SELECT 'k' AS graph, 'gc"), ["FROM train((SELECT 'k' AS graph, 'gcn"]);
        assert_eq!(completed("SELECT 'gc"), [""; 0]);
    }

    #[test]
    fn an_empty_word_and_a_comment_are_left_alone() {
        assert_eq!(completed("SELECT "), [""; 0]);
        assert_eq!(completed("SELECT /* fro"), [""; 0]);
    }

    #[test]
    fn a_string_is_completed_as_a_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("edges.csv"), "").unwrap();
        std::fs::write(folder.path().join(".hidden"), "").unwrap();
        std::fs::create_dir(folder.path().join("extra")).unwrap();
        let folder = folder.path().display();
        let expected = [format!("FROM '{folder}/edges.csv"), format!("FROM '{folder}/extra/")];
        assert_eq!(completed(&format!("FROM '{folder}/e")), expected);
        assert_eq!(completed(&format!("FROM '{folder}/")), expected);
        assert_eq!(completed(&format!("\\i {folder}/ed")), [format!("\\i {folder}/edges.csv")]);
    }

    #[test]
    fn commands_and_their_arguments_are_completed() {
        assert_eq!(completed("\\ti"), ["\\timing"]);
        assert_eq!(completed("\\timing o"), ["\\timing on", "\\timing off"]);
        assert_eq!(completed("\\format n"), ["\\format ndjson"]);
        assert_eq!(completed("\\d cora.e"), ["\\d cora.edges"]);
        assert_eq!(completed("\\df mid"), ["\\df midpoint_curvature"]);
    }
}
