//! `FROM t WHERE ...` without SELECT, as DuckDB reads it: `SELECT * FROM t WHERE ...`.
//!
//! Upstream: <https://github.com/apache/datafusion/pull/17295>
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(a)`
//! Shows: `FROM t WHERE a > 1` gives `2`
//! Shows: `FROM t` gives `1 / 2`

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// Puts `SELECT *` before every FROM that begins a query without SELECT. DataFusion would read such a query as one
/// without columns, and sqlparser reads nothing behind its FROM clause.
pub(crate) fn rewrite(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    for start in query_starts(&tokens, Keyword::FROM).into_iter().rev() {
        if !selects_later(&tokens[start..]) {
            let span = tokens[start].span;
            let words = [Token::make_keyword("SELECT"), Token::Mul].map(|token| TokenWithSpan::new(token, span));
            tokens.splice(start..start, words);
        }
    }
    tokens
}

/// Whether a SELECT follows in the query that begins with these tokens, outside its parentheses.
fn selects_later(tokens: &[TokenWithSpan]) -> bool {
    let mut depth = 0usize;
    for token in tokens {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return false,
            Token::RParen => depth -= 1,
            Token::SemiColon => return false,
            Token::Word(word) if depth == 0 => match word.keyword {
                Keyword::SELECT => return true,
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => return false,
                _ => {}
            },
            _ => {}
        }
    }
    false
}

/// The places where a query's body begins with this keyword.
pub(crate) fn query_starts(tokens: &[TokenWithSpan], keyword: Keyword) -> Vec<usize> {
    let mut starts = Vec::new();
    let (mut level, mut around) = (Level::default(), Vec::new());
    let mut before = &Token::EOF;
    for (i, TokenWithSpan { token, .. }) in tokens.iter().enumerate() {
        if matches!(token, Token::Whitespace(_)) {
            continue;
        }
        match token {
            Token::LParen => {
                level.first = false;
                // `trim(FROM x)` is no query.
                let open = matches!(before, Token::Word(word) if word.keyword == Keyword::TRIM);
                around.push(std::mem::replace(&mut level, Level { open, ..Level::default() }));
            }
            Token::RParen => {
                level.first = false;
                if let Some(outer) = around.pop() {
                    level = outer;
                }
            }
            Token::SemiColon => level = Level::default(),
            Token::Word(word) => {
                if around.is_empty() && level.first {
                    level.verb = word.keyword;
                    level.describes = ["SUMMARIZE", "DESCRIBE", "DESC", "EXPLAIN"]
                        .iter()
                        .any(|verb| word.quote_style.is_none() && word.value.eq_ignore_ascii_case(verb));
                }
                if word.keyword == keyword && level.begins_query(before) {
                    starts.push(i);
                }
                level.read(word.keyword);
            }
            _ => level.first = false,
        }
        before = token;
    }
    starts
}

/// The state of a level of parentheses while its tokens go by.
struct Level {
    first: bool,
    /// A query's body has begun.
    open: bool,
    with: bool,
    set_operation: bool,
    verb: Keyword,
    describes: bool,
}

impl Default for Level {
    fn default() -> Self {
        Self { first: true, open: false, with: false, set_operation: false, verb: Keyword::NoKeyword, describes: false }
    }
}

impl Level {
    /// Whether a query's body may begin here, after this token.
    fn begins_query(&self, before: &Token) -> bool {
        let keyword = match before {
            Token::Word(word) => word.keyword,
            _ => Keyword::NoKeyword,
        };
        let after_set_operation = || {
            let operation = [Keyword::UNION, Keyword::EXCEPT, Keyword::INTERSECT, Keyword::ALL, Keyword::DISTINCT];
            operation.contains(&keyword) || keyword == Keyword::NAME
        };
        let after_verb = || match self.verb {
            Keyword::CREATE | Keyword::PREPARE => keyword == Keyword::AS,
            Keyword::INSERT => true,
            // The FROM of `EXPLAIN DELETE FROM t` begins no query.
            _ => self.describes && keyword != Keyword::DELETE,
        };
        !self.open
            && (self.first
                || (self.set_operation && after_set_operation())
                || (self.with && *before == Token::RParen)
                || after_verb())
    }

    fn read(&mut self, keyword: Keyword) {
        match keyword {
            Keyword::SELECT | Keyword::VALUES | Keyword::FROM => {
                self.open = true;
                self.with = false;
            }
            Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => {
                self.open = false;
                self.set_operation = true;
            }
            Keyword::WITH if !self.open => self.with = true,
            _ => {}
        }
        self.first = false;
    }
}
