//! The lines at the end of a repair's page, which say when it may go.
//!
//! ```text
//! Upstream: <https://github.com/apache/datafusion/issues/5492>      one or several threads, or: none known
//! Given: `CREATE TABLE t AS SELECT 1 AS a`                          a statement before; several lines, in their order
//! Shows: `SELECT a FROM t` gives `1`                                the right answer, which plain DataFusion does not give
//! Shows: `SELECT b FROM t` is refused                               what the repair refuses, and DataFusion does not
//! Shows: no statement: a hang, which ...                            why no answer shows it
//! Shows: see `mod.rs`                                               the file, in the same folder, that this one serves
//! ```
//!
//! An answer has ` | ` between the values of a row and ` / ` between rows; nothing stands for no rows. In a statement `{dir}` is an empty folder.

/// What a page says of a repair.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    /// The threads upstream; none where none is known.
    pub(super) upstream: Option<Vec<String>>,
    /// The statements before.
    pub(super) given: Vec<String>,
    /// What shows that the repair is needed.
    pub(super) shows: Vec<Shows>,
}

/// What shows that a repair is needed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// A statement and its right answer.
    Gives(String, String),
    /// A statement that is refused.
    Refused(String),
    /// No statement, and the reason.
    Nothing(String),
    /// The file that says it.
    See(String),
}

/// The lines of a file's page; `None` if it has none.
///
/// # Errors
/// The line that is none of these, or that one is missing.
pub(super) fn lines(source: &str) -> Result<Option<Lines>, String> {
    let mut lines = Lines::default();
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.trim();
        if let Some(threads) = line.strip_prefix("Upstream:") {
            lines.upstream = Some(upstream(threads.trim()).ok_or_else(|| line.to_owned())?);
        } else if let Some(statement) = line.strip_prefix("Given:") {
            lines.given.push(code(statement.trim()).ok_or_else(|| line.to_owned())?);
        } else if let Some(shown) = line.strip_prefix("Shows:") {
            lines.shows.push(shows(shown.trim()).ok_or_else(|| line.to_owned())?);
        }
    }
    if lines == Lines::default() {
        return Ok(None);
    }
    let sees = matches!(lines.shows[..], [Shows::See(_)]);
    match (lines.shows.is_empty(), lines.upstream.is_some()) {
        (true, _) => Err("a line `Shows:` is missing".to_owned()),
        (false, false) if !sees => Err("a line `Upstream:` is missing".to_owned()),
        _ => Ok(Some(lines)),
    }
}

fn upstream(threads: &str) -> Option<Vec<String>> {
    if threads == "none known" {
        return Some(Vec::new());
    }
    let threads = threads.split_whitespace().map(|thread| thread.trim_matches(['<', '>']).to_owned());
    let threads: Vec<String> = threads.collect();
    let known = !threads.is_empty() && threads.iter().all(|thread| thread.starts_with("https://github.com/"));
    known.then_some(threads)
}

fn shows(shown: &str) -> Option<Shows> {
    if let Some(reason) = shown.strip_prefix("no statement:") {
        return Some(Shows::Nothing(reason.trim().to_owned()));
    }
    if let Some(file) = shown.strip_prefix("see ") {
        return code(file).map(Shows::See);
    }
    if let Some(statement) = shown.strip_suffix(" is refused") {
        return code(statement).map(Shows::Refused);
    }
    let (statement, answer) = shown.split_once("` gives `")?;
    Some(Shows::Gives(statement.strip_prefix('`')?.to_owned(), answer.strip_suffix('`')?.to_owned()))
}

/// What stands between backticks.
fn code(text: &str) -> Option<String> {
    Some(text.strip_prefix('`')?.strip_suffix('`')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(page: &[&str]) -> Result<Option<Lines>, String> {
        let page: Vec<String> = page.iter().map(|line| format!("//! {line}\n")).collect();
        lines(&format!("//! A rule.\n//!\n{}\nuse x;\n//! Shows: nonsense\n", page.concat()))
    }

    #[test]
    fn a_page_has_threads_statements_and_answers() {
        let page = of(&[
            "Upstream: https://github.com/apache/datafusion/issues/1 <https://github.com/apache/datafusion/pull/2>",
            "Given: `CREATE TABLE t AS SELECT 1 AS a`",
            "Shows: `SELECT a, 'x' FROM t` gives `1 | x / 2 | NULL`",
            "Shows: `SELECT 1 WHERE false` gives ``",
            "Shows: `SELECT 2` is refused",
        ]);
        let threads = ["issues/1", "pull/2"].map(|at| format!("https://github.com/apache/datafusion/{at}"));
        let expected = Lines {
            upstream: Some(threads.to_vec()),
            given: vec!["CREATE TABLE t AS SELECT 1 AS a".to_owned()],
            shows: vec![
                Shows::Gives("SELECT a, 'x' FROM t".to_owned(), "1 | x / 2 | NULL".to_owned()),
                Shows::Gives("SELECT 1 WHERE false".to_owned(), String::new()),
                Shows::Refused("SELECT 2".to_owned()),
            ],
        };
        assert_eq!(page, Ok(Some(expected)));
    }

    #[test]
    fn a_page_may_have_no_thread_and_no_statement() {
        let page = of(&["Upstream: none known", "Shows: no statement: a hang."]).unwrap().unwrap();
        assert_eq!(page.upstream, Some(Vec::new()));
        assert_eq!(page.shows, [Shows::Nothing("a hang.".to_owned())]);
        let served = of(&["Shows: see `mod.rs`"]).unwrap().unwrap();
        assert_eq!(served.shows, [Shows::See("mod.rs".to_owned())]);
        assert_eq!(of(&["It says nothing."]), Ok(None));
    }

    #[test]
    fn a_page_that_says_half_is_an_error() {
        for page in [
            &["Upstream: none known"][..],
            &["Given: `SELECT 1`"],
            &["Shows: `SELECT 1` gives `1`"],
            &["Upstream: #5492", "Shows: `SELECT 1` gives `1`"],
            &["Upstream: none known", "Shows: SELECT 1 gives 1"],
            &["Upstream: none known", "Shows: `SELECT 1`"],
            &["Upstream: none known", "Given: SELECT 1", "Shows: `SELECT 1` gives `1`"],
        ] {
            assert!(of(page).is_err(), "{page:?}");
        }
    }
}
