//! The depth of a statement's tree, by its tokens.
//!
//! Upstream: none known
//! Shows: no statement: a crash, no answer: the parser and the planner overflow the stack by an expression of some thousand operators.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::syntax::statements::dialect::FEW;
use crate::{Error, Result};

/// The deepest tree that is parsed. The parser counts parentheses, but a chain `a + a + ...` makes a level of each
/// operator, and a tree that deep overflows the stack when it is dropped, which ends the process.
const MOST: usize = 500;

/// The most terms that AND and OR chain: a tree of them is shallow, but DataFusion makes other trees of it.
const TERMS: usize = 2_000;

/// The most levels of parentheses, CASE and NOT. The parser gives up a little beyond, in places without saying so.
pub(crate) const NESTED: usize = 46;

/// The most subqueries within subqueries of expressions, and CASE within parentheses of CASE: DataFusion looks at each twice, and
/// so at the innermost as often as two to their number.
const TWICE: usize = 12;

/// Refuses what would be too deep, before a tree is made.
pub(crate) fn check(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut levels = vec![Level::default()];
    // The number of consecutive NOTs, and of those before the parentheses around.
    let (mut nots, mut negations) = (0, 0);
    // The keyword of the last word, where nothing but spaces stands behind it.
    let mut before = Keyword::NoKeyword;
    // Subqueries and CASEs around, of those that count twice.
    let (mut queries, mut cases) = (0, 0);
    for TokenWithSpan { token, span } in tokens {
        let Some(level) = levels.last_mut() else { break };
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                let (in_case, in_from) = (level.is_case, level.in_from);
                let is_value = !in_from && !matches!(before, Keyword::AS | Keyword::MATERIALIZED);
                levels.push(Level { nots, in_case, is_value, in_from, is_first: true, ..Level::default() });
                negations += nots;
                cases += usize::from(in_case);
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                negations -= level.nots;
                cases -= usize::from(level.in_case);
                queries -= usize::from(level.is_query);
                pop(&mut levels);
            }
            Token::Word(word) if word.keyword == Keyword::CASE && word.quote_style.is_none() => {
                levels.push(Level { is_case: true, ..Level::default() });
            }
            Token::Word(word)
                if level.is_first && level.is_value && matches!(word.keyword, Keyword::SELECT | Keyword::WITH) =>
            {
                (level.is_first, level.is_query) = (false, true);
                queries += 1;
            }
            Token::Word(word) if word.keyword == Keyword::END && level.is_case => pop(&mut levels),
            Token::Comma | Token::SemiColon => level.end_expression(),
            Token::Word(word) => match word.keyword {
                Keyword::AND => level.end_term(true),
                Keyword::OR => level.end_term(false),
                Keyword::XOR | Keyword::IS | Keyword::IN | Keyword::BETWEEN => level.operators += 1,
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
                    level.in_from = word.keyword == Keyword::FROM;
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
        if let (Token::Word(word), Some(level)) = (token, levels.last_mut()) {
            level.in_from = level.in_from && !matches!(word.keyword, Keyword::ON | Keyword::ORDER | Keyword::LIMIT);
            level.in_from = level.in_from || word.keyword == Keyword::JOIN;
        }
        if !matches!(token, Token::Whitespace(_)) {
            before = if let Token::Word(word) = token { word.keyword } else { Keyword::NoKeyword };
            if let Some(level) = levels.last_mut() {
                level.is_first = level.is_first && before == Keyword::NoKeyword && is_opening(token);
            }
        }
        nots = match token {
            Token::Word(word) if word.keyword == Keyword::NOT => nots + 1,
            Token::Whitespace(_) => nots,
            _ => 0,
        };
        if levels.len() + negations + nots > NESTED + 1 {
            return Err(Error::statement(format!(
                "the statement is nested too deeply{}: at most {NESTED} levels of parentheses, CASE, NOT and subqueries",
                span.start
            )));
        }
        if queries > TWICE || cases > TWICE {
            let what = if queries > TWICE { "subqueries as values" } else { "CASE in parentheses within CASE" };
            return Err(Error::statement(format!(
                "the statement nests more than {TWICE} levels of {what}{}: compute the inner ones first, CREATE TABLE ... AS \
                 SELECT ...",
                span.start
            )));
        }
        if levels.last().is_some_and(|level| level.ands + level.ors > TERMS) {
            return Err(Error::statement(format!(
                "the statement chains more than {TERMS} terms by AND and OR{}: put the values into a list, x IN (...), or \
                 join with rows, VALUES (...), (...)",
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

/// Whether a token opens parentheses.
fn is_opening(token: &Token) -> bool {
    matches!(token, Token::LParen | Token::LBracket | Token::LBrace)
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
    /// The NOTs before it.
    nots: usize,
    /// Whether it stands in a CASE.
    in_case: bool,
    /// Whether it stands where a value is meant, and whether nothing stands in it so far.
    is_value: bool,
    is_first: bool,
    /// Whether it is a subquery that is meant as a value.
    is_query: bool,
    /// Whether what follows are relations.
    in_from: bool,
    /// Operators of the term that is being read.
    operators: usize,
    /// The deepest parentheses in it.
    nested: usize,
    /// The deepest term before it that AND and OR chain.
    terms: usize,
    ands: usize,
    ors: usize,
    /// The deepest expression before it.
    deepest: usize,
    /// UNION and JOIN, which chain queries and tables.
    relations: usize,
}

impl Level {
    /// Ends a term of a chain: of these the parser makes a tree that is as shallow as can be.
    fn end_term(&mut self, and: bool) {
        self.terms = self.terms.max(self.operators + self.nested);
        (self.operators, self.nested) = (0, 0);
        match and {
            true => self.ands += 1,
            false => self.ors += 1,
        }
    }

    fn end_expression(&mut self) {
        self.deepest = self.deepest.max(self.expression());
        (self.operators, self.nested, self.terms, self.ands, self.ors) = (0, 0, 0, 0, 0);
    }

    /// The depth of the expression that is being read.
    fn expression(&self) -> usize {
        self.terms.max(self.operators + self.nested) + chain_depth(self.ands) + chain_depth(self.ors)
    }

    fn depth(&self) -> usize {
        self.relations + self.deepest.max(self.expression())
    }
}

/// The depth of the tree of a chain of so many AND, or OR.
fn chain_depth(operators: usize) -> usize {
    let halvings = ((operators + 1).div_ceil(FEW)).next_power_of_two().trailing_zeros() as usize;
    operators.min(FEW) + halvings
}

#[cfg(test)]
mod tests {
    use super::{NESTED, TERMS, TWICE};
    use crate::syntax::statements::parse::parse;
    use crate::testing::{error, rows, session};

    #[tokio::test]
    async fn chains_up_to_the_limit_run_and_longer_ones_are_refused() {
        let context = session().await;
        for (text, link) in [
            ("SELECT @year FROM sales", "year + "),
            ("@SELECT 1", "SELECT 1 UNION ALL "),
            ("SELECT (@kind) FROM sales", "city || "),
        ] {
            rows(&context, &text.replace('@', &link.repeat(480))).await.unwrap();
            for links in [600, 200_000] {
                let found = error(parse(&text.replace('@', &link.repeat(links))));
                assert!(found.starts_with("the statement chains more than 500 operators at Line: 1"), "{found}");
            }
        }
    }

    #[test]
    fn terms_of_and_and_or_are_no_levels() {
        let run = || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let context = session().await;
                for link in ["year = 3 OR ", "year > 3 AND ", "year = 3 AND kind = 'a' OR ", "year BETWEEN 1 AND 2 OR "]
                {
                    let each = link.split_whitespace().filter(|word| matches!(*word, "AND" | "OR")).count();
                    let text = format!("SELECT count(*) FROM sales WHERE {}year = 3", link.repeat(TERMS / each));
                    rows(&context, &text).await.unwrap();
                    for terms in [TERMS + 1, 200_000] {
                        let found = error(parse(&format!("SELECT {}true", link.repeat(terms))));
                        let expected = "the statement chains more than 2000 terms by AND and OR at Line: 1";
                        assert!(found.starts_with(expected), "{found}");
                    }
                }
            });
        };
        // The stack of a thread of the engine.
        std::thread::Builder::new().stack_size(8 << 20).spawn(run).unwrap().join().unwrap();
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
    fn what_is_looked_at_twice_is_nested_a_few_times() {
        let nested = |open: &str, levels: usize, close: &str| {
            format!("SELECT {}1{} AS y FROM t", open.repeat(levels), close.repeat(levels))
        };
        for (open, close, what) in [
            ("(SELECT ", ")", "subqueries as values"),
            ("x IN (SELECT 1 FROM t WHERE ", ")", "subqueries as values"),
            ("EXISTS (SELECT 1 FROM t JOIN u ON ", ")", "subqueries as values"),
            ("CASE WHEN x > 1 THEN abs(", ") END", "CASE in parentheses within CASE"),
            ("NOT (", ")", "levels of parentheses, CASE, NOT and subqueries"),
        ] {
            assert!(parse(&nested(open, TWICE, close)).is_ok(), "{open}");
            let found = error(parse(&nested(open, 30, close)));
            assert!(found.contains(what), "{open}: {found}");
        }
        for text in [
            format!("SELECT x FROM {}(SELECT 1 AS x){}", "(SELECT x FROM ".repeat(20), ")".repeat(20)),
            format!("SELECT x FROM {}(SELECT 1 AS x) AS t{}", "((SELECT x FROM ".repeat(10), "))".repeat(10)),
            format!("SELECT {}1 FROM t", "(SELECT 1), ".repeat(100)),
            format!("WITH {}e AS (SELECT 1) SELECT 1", "c AS (SELECT 1), ".repeat(100)),
        ] {
            assert!(parse(&text).is_ok(), "{text}");
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
