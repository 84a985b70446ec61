//! What statements without rows did, in a line.

/// The statements that are named; the rest are counted.
const NAMED: usize = 3;

/// The first words of the statements, up to the name of what each makes.
pub(super) fn of(statements: &[String]) -> String {
    let mut texts: Vec<String> = statements.iter().take(NAMED).map(|statement| name(statement)).collect();
    if statements.len() > NAMED {
        texts.push(format!("{} more", statements.len() - NAMED));
    }
    texts.join(", ")
}

/// `CREATE TABLE runs`, `ATTACH karate`: no text between quotes, since a path says where this machine has its files.
fn name(statement: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in statement.split_whitespace() {
        let name = word.split('(').next().unwrap_or_default();
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if words.len() == WORDS || is("=") || words.len() > 1 && is("as") {
            break;
        }
        if !name.is_empty() && !name.starts_with('\'') && !LEFT_OUT.iter().any(|word| is(word)) {
            words.push(name);
        }
        if name.len() < word.len() {
            break;
        }
    }
    words.join(" ")
}

/// What is done, to what kind of thing, of which name.
const WORDS: usize = 3;

/// Words that say how.
const LEFT_OUT: [&str; 8] = ["or", "replace", "if", "not", "exists", "temp", "temporary", "as"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_named_by_what_they_make() {
        let named = |statement: &str| of(&[statement.to_owned()]);
        assert_eq!(named("CREATE TABLE runs AS\nSELECT 1"), "CREATE TABLE runs");
        assert_eq!(named("CREATE OR REPLACE TABLE verdicts(a TEXT, b INT)"), "CREATE TABLE verdicts");
        assert_eq!(named("ATTACH IF NOT EXISTS '/data/brec/raw' AS brec (TYPE brec)"), "ATTACH brec");
        assert_eq!(named("CREATE GRAPH disease AS disease_tree(seed => 1)"), "CREATE GRAPH disease");
        assert_eq!(named("INSERT INTO runs SELECT * FROM found"), "INSERT INTO runs");
        let many: Vec<String> = (0..5).map(|i| format!("CREATE SCHEMA s{i}")).collect();
        assert_eq!(of(&many), "CREATE SCHEMA s0, CREATE SCHEMA s1, CREATE SCHEMA s2, 2 more");
    }
}
