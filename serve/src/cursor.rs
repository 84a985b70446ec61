//! The statements of cursors: DECLARE, FETCH, MOVE and CLOSE. A cursor is a portal by the name that a statement gives it.

use bonnet_dialect::syntax::tokens::split::{Lexeme, LexemeKind, Lexer};

use super::failure::Failure;

/// A statement of a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CursorStatement {
    /// `DECLARE name CURSOR FOR query`
    Declare {
        name: String,
        query: String,
        /// Where the query begins, in characters of the statement.
        before: usize,
        /// Whether its values are in binary, whatever the client asks for.
        binary: bool,
        /// Whether it outlives its transaction.
        hold: bool,
    },
    /// `FETCH count FROM name`, or `MOVE`, which answers no rows; `None` for all.
    Fetch { name: String, count: Option<usize>, moves: bool },
    /// `CLOSE name`; `None` for all.
    Close(Option<String>),
}

/// The statement of a cursor that a statement is; `None` for any other.
pub(super) fn parse(statement: &str) -> Option<Result<CursorStatement, Failure>> {
    let mut lexemes = Lexer::new(statement).filter(|lexeme| lexeme.is_significant() && !lexeme.is_semicolon());
    let verb = lexemes.next().filter(|first| first.kind == LexemeKind::Word)?.text.to_ascii_uppercase();
    let rest: Vec<Lexeme<'_>> = lexemes.collect();
    match verb.as_str() {
        "DECLARE" => Some(declare(statement, &rest)),
        "FETCH" | "MOVE" => Some(fetch(&rest, verb == "MOVE")),
        "CLOSE" => Some(match rest.as_slice() {
            [all] if is(all, "ALL") => Ok(CursorStatement::Close(None)),
            [name] => Ok(CursorStatement::Close(Some(name_of(name)))),
            _ => Err(Failure::new("42601", "CLOSE: expected the name of a cursor, or ALL")),
        }),
        _ => None,
    }
}

fn is(lexeme: &Lexeme<'_>, word: &str) -> bool {
    lexeme.kind == LexemeKind::Word && lexeme.text.eq_ignore_ascii_case(word)
}

fn name_of(lexeme: &Lexeme<'_>) -> String {
    match lexeme.text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => lexeme.text.to_lowercase(),
    }
}

fn declare(statement: &str, rest: &[Lexeme<'_>]) -> Result<CursorStatement, Failure> {
    let wrong = || Failure::new("42601", "expected DECLARE name CURSOR [WITH HOLD] FOR query");
    let cursor = rest.iter().position(|word| is(word, "CURSOR")).filter(|at| *at > 0).ok_or_else(wrong)?;
    let (name, options) = rest[..cursor].split_first().ok_or_else(wrong)?;
    let mut binary = false;
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match word.text.to_ascii_uppercase().as_str() {
            "BINARY" => binary = true,
            "INSENSITIVE" | "ASENSITIVE" => {}
            "NO" if words.next().is_some_and(|next| is(next, "SCROLL")) => {}
            "SCROLL" => return Err(forward_only()),
            _ => return Err(wrong()),
        }
    }
    let (hold, after) = match rest[cursor + 1..] {
        [ref with, ref hold, ref after @ ..] if is(hold, "HOLD") && is(with, "WITH") => (true, after),
        [ref without, ref hold, ref after @ ..] if is(hold, "HOLD") && is(without, "WITHOUT") => (false, after),
        ref after => (false, after),
    };
    let [word, first, ..] = after else { return Err(wrong()) };
    if !is(word, "FOR") {
        return Err(wrong());
    }
    let before = statement[..first.start].chars().count();
    let query = statement[first.start..].to_owned();
    Ok(CursorStatement::Declare { name: name_of(name), query, before, binary, hold })
}

fn forward_only() -> Failure {
    Failure::new("0A000", "a cursor goes forward only; leave SCROLL out, and fetch NEXT, a number or ALL")
}

fn fetch(rest: &[Lexeme<'_>], moves: bool) -> Result<CursorStatement, Failure> {
    let Some((name, before)) = rest.split_last() else {
        return Err(Failure::new("42601", "FETCH: expected the name of a cursor"));
    };
    let before = match before.split_last() {
        Some((word, before)) if is(word, "FROM") || is(word, "IN") => before,
        _ => before,
    };
    let forward = before.first().is_some_and(|word| is(word, "FORWARD"));
    let count = match &before[usize::from(forward)..] {
        [] => Some(1),
        [word] if is(word, "NEXT") && !forward => Some(1),
        [word] if is(word, "ALL") => None,
        [word] => Some(word.text.parse().map_err(|_| forward_only())?),
        _ => return Err(forward_only()),
    };
    Ok(CursorStatement::Fetch { name: name_of(name), count, moves })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_cursors_are_told_from_others() {
        let of = |text: &str| parse(text).unwrap().unwrap();
        let declared = |text: &str| match of(text) {
            CursorStatement::Declare { name, query, before, binary, hold } => (name, query, before, binary, hold),
            other => panic!("{other:?}"),
        };
        let plain = declared("DECLARE c CURSOR FOR SELECT 1");
        assert_eq!(plain, ("c".to_owned(), "SELECT 1".to_owned(), 21, false, false));
        let held = declared("declare \"My\"\"C\" binary no scroll cursor with hold for /* all */ FROM t");
        assert_eq!(held, ("My\"C".to_owned(), "FROM t".to_owned(), 64, true, true));
        assert!(!declared("DECLARE c INSENSITIVE CURSOR WITHOUT HOLD FOR SELECT 1").4);
        let fetched = |name: &str, count, moves| CursorStatement::Fetch { name: name.to_owned(), count, moves };
        assert_eq!(of("FETCH FORWARD 10 FROM \"C\""), fetched("C", Some(10), false));
        assert_eq!(of("FETCH C"), fetched("c", Some(1), false));
        assert_eq!(of("FETCH NEXT IN c"), fetched("c", Some(1), false));
        assert_eq!(of("FETCH ALL c"), fetched("c", None, false));
        assert_eq!(of("MOVE FORWARD ALL FROM c"), fetched("c", None, true));
        assert_eq!(of("CLOSE \"C\";"), CursorStatement::Close(Some("C".to_owned())));
        assert_eq!(of("CLOSE ALL"), CursorStatement::Close(None));
        for wrong in ["DECLARE c FOR SELECT 1", "DECLARE CURSOR FOR SELECT 1", "DECLARE c CURSOR FOR", "FETCH", "CLOSE"]
        {
            assert_eq!(parse(wrong).unwrap().unwrap_err().code, "42601", "{wrong}");
        }
        for backward in
            ["DECLARE c SCROLL CURSOR FOR SELECT 1", "FETCH PRIOR FROM c", "FETCH -1 FROM c", "FETCH ABSOLUTE 3 c"]
        {
            assert_eq!(parse(backward).unwrap().unwrap_err().code, "0A000", "{backward}");
        }
        assert!(parse("SELECT 1").is_none() && parse("").is_none() && parse("(SELECT 1)").is_none());
    }
}
