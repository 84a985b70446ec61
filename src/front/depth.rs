//! The depth of a statement's tree, by its tokens.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::{Error, Result};

/// The deepest tree that is parsed. The parser counts parentheses, but a chain `a + a + ...` makes a level of each
/// operator, and a tree that deep overflows the stack when it is dropped, which ends the process.
const MOST: usize = 500;

/// The most levels of parentheses, CASE and NOT. The parser gives up a little beyond, in places without saying so.
pub(super) const NESTED: usize = 46;

/// Refuses what would be too deep, before a tree is made.
pub(super) fn check(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut levels = vec![Level::default()];
    // The number of consecutive NOTs.
    let mut nots = 0;
    for TokenWithSpan { token, span } in tokens {
        let Some(level) = levels.last_mut() else { break };
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => levels.push(Level::default()),
            Token::RParen | Token::RBracket | Token::RBrace => pop(&mut levels),
            Token::Word(word) if word.keyword == Keyword::CASE && word.quote_style.is_none() => {
                levels.push(Level { is_case: true, ..Level::default() });
            }
            Token::Word(word) if word.keyword == Keyword::END && level.is_case => pop(&mut levels),
            Token::Comma | Token::SemiColon => level.end_expression(),
            Token::Word(word) => match word.keyword {
                Keyword::AND | Keyword::OR | Keyword::XOR | Keyword::IS | Keyword::IN | Keyword::BETWEEN => {
                    level.operators += 1;
                }
                Keyword::LIKE | Keyword::ILIKE | Keyword::SIMILAR | Keyword::REGEXP | Keyword::RLIKE => {
                    level.operators += 1;
                }
                Keyword::NOTNULL | Keyword::AT | Keyword::COLLATE | Keyword::DIV => {
                    level.operators += 1;
                }
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::JOIN => {
                    level.end_expression();
                    level.relations += 1;
                }
                Keyword::SELECT | Keyword::FROM | Keyword::WHERE | Keyword::GROUP | Keyword::HAVING => {
                    level.end_expression();
                }
                Keyword::ORDER | Keyword::LIMIT | Keyword::ON | Keyword::WHEN | Keyword::THEN | Keyword::ELSE => {
                    level.end_expression();
                }
                _ => {}
            },
            Token::Whitespace(_)
            | Token::EOF
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::Period
            | Token::Colon
            | Token::RArrow
            | Token::Assignment
            | Token::Placeholder(_) => {}
            _ => level.operators += 1,
        }
        nots = match token {
            Token::Word(word) if word.keyword == Keyword::NOT => nots + 1,
            Token::Whitespace(_) => nots,
            _ => 0,
        };
        if levels.len() + nots > NESTED + 1 {
            return Err(Error::statement(format!(
                "the statement is nested too deeply{}: at most {NESTED} levels of parentheses, CASE, NOT and subqueries",
                span.start
            )));
        }
        if levels.last().is_some_and(|level| level.depth() > MOST) {
            return Err(Error::statement(format!(
                "the statement chains more than {MOST} operators{}: put the values into a list, x IN (...), or into \
                 rows, VALUES (...), (...)",
                span.start
            )));
        }
    }
    Ok(())
}

/// Leaves a level of parentheses.
fn pop(levels: &mut Vec<Level>) {
    if levels.len() > 1
        && let Some(left) = levels.pop()
        && let Some(around) = levels.last_mut()
    {
        around.nested = around.nested.max(left.depth() + 1);
    }
}

/// A level of parentheses, or of CASE ... END.
#[derive(Default)]
struct Level {
    is_case: bool,
    /// Operators of the expression that is being read.
    operators: usize,
    /// The deepest parentheses in it.
    nested: usize,
    /// The deepest expression before it.
    deepest: usize,
    /// UNION and JOIN, which chain queries and tables.
    relations: usize,
}

impl Level {
    fn end_expression(&mut self) {
        self.deepest = self.deepest.max(self.operators + self.nested);
        (self.operators, self.nested) = (0, 0);
    }

    fn depth(&self) -> usize {
        self.relations + self.deepest.max(self.operators + self.nested)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::super::testing::{error, rows, session};
    use super::NESTED;

    #[tokio::test]
    async fn chains_up_to_the_limit_run_and_longer_ones_are_refused() {
        let context = session().await;
        for (text, link) in [
            ("SELECT @year FROM sales", "year + "),
            ("SELECT * FROM sales WHERE @year = 3", "year < 3 OR "),
            ("@SELECT 1", "SELECT 1 UNION ALL "),
            ("SELECT (@kind) FROM sales", "city || "),
        ] {
            let links = if link.contains('<') { 240 } else { 480 };
            rows(&context, &text.replace('@', &link.repeat(links))).await.unwrap();
            for links in [600, 200_000] {
                let found = error(parse(&text.replace('@', &link.repeat(links))));
                assert!(found.starts_with("the statement chains more than 500 operators at Line: 1"), "{found}");
            }
        }
    }

    #[test]
    fn lists_and_many_expressions_are_no_chains() {
        for text in [
            format!("SELECT * FROM t WHERE x IN ({}0)", "-1, ".repeat(50_000)),
            format!("VALUES {}(0 + 1)", "(1 + 2), ".repeat(50_000)),
            format!("SELECT {}1", "a + b * c AS x, ".repeat(5_000)),
            format!("SELECT CASE {} END", "WHEN a = 1 AND b = 2 THEN 1 + 1 ".repeat(1_000)),
            "SELECT 1 + 1;".to_owned(),
        ] {
            assert!(parse(&text).is_ok(), "{}", &text[..60]);
        }
    }

    #[test]
    fn levels_up_to_the_limit_parse_and_deeper_ones_are_refused() {
        for (open, close) in [("(", ")"), ("abs(", ")"), ("NOT ", ""), ("CASE WHEN true THEN ", " END"), ("[", "]")] {
            let nested = |levels: usize| format!("SELECT {}x{} AS y", open.repeat(levels), close.repeat(levels));
            assert!(parse(&nested(NESTED)).is_ok(), "{open}");
            for levels in [NESTED + 1, 1_000, 20_000] {
                let found = error(parse(&nested(levels)));
                assert!(
                    found.starts_with("the statement is nested too deeply at Line: 1, Column: "),
                    "{open}: {found}"
                );
            }
        }
    }

    #[test]
    fn depths_in_parentheses_add_up() {
        let chain = "1 + ".repeat(300);
        assert!(parse(&format!("SELECT {chain}1, {chain}1")).is_ok());
        assert!(error(parse(&format!("SELECT {chain}({chain}1)"))).contains("more than 500"));
        assert!(error(parse(&format!("SELECT ({chain}1) + {chain}1"))).contains("more than 500"));
    }
}
