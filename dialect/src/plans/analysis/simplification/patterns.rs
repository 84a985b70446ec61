//! Backslashes in the patterns of LIKE and of regular expressions.
//!
//! DataFusion 55 rewrites a simple regular expression to LIKE, where a backslash that it searched for becomes an escape
//! character. And it takes a backslash for one in a LIKE without ESCAPE, which has none in this dialect.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/13291>
//! Given: `CREATE TABLE t AS SELECT 'a\b' AS s`
//! Shows: `SELECT s ~ 'a\\b', s LIKE 'a\b' FROM t` gives `true | true`

use arrow::datatypes::DataType;
use bonnet_sql::InputColumns;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::functions::string::replace as replace_texts;
use datafusion::logical_expr::expr::{Like, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, cast, lit};

use super::casts::is_row_dependent;
use crate::plans::expressions::replace;

/// The substrings of a regular expression that may search for a backslash: the character escaped, or its code.
const BACKSLASHES: [&str; 4] = ["\\\\", "\\x", "\\u", "\\U"];

/// An empty group, which matches anywhere, and keeps a regular expression from becoming a LIKE.
const EMPTY_GROUP: &str = "()";

/// Makes backslashes in patterns stand for themselves.
pub(super) fn escape_backslashes(mut expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    use Operator::{RegexIMatch, RegexMatch, RegexNotIMatch, RegexNotMatch};
    let changed = match &mut expr {
        Expr::BinaryExpr(BinaryExpr {
            op: RegexMatch | RegexIMatch | RegexNotMatch | RegexNotIMatch, right, ..
        }) => prepend_group(right),
        Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == "regexp_like" => {
            args.get_mut(1).is_some_and(prepend_group)
        }
        Expr::Like(like) if like.escape_char.is_none() && is_row_dependent(&like.pattern) => {
            double_backslashes(like, columns)?
        }
        Expr::Like(like) => normalize_escape(like),
        _ => false,
    };
    Ok(Transformed::new_transformed(expr, changed))
}

/// Puts an empty group in front of a regular expression that may search for a backslash.
fn prepend_group(pattern: &mut Expr) -> bool {
    let Some(pattern) = constant_text(pattern) else { return false };
    let needs_group = !pattern.starts_with(EMPTY_GROUP) && BACKSLASHES.iter().any(|it| pattern.contains(it));
    if needs_group {
        pattern.insert_str(0, EMPTY_GROUP);
    }
    needs_group
}

/// Makes the backslash the escape character of a LIKE with a constant pattern: DataFusion knows no other.
fn normalize_escape(like: &mut Like) -> bool {
    let escape = like.escape_char;
    let Some(pattern) = constant_text(&mut like.pattern) else { return false };
    let needs_backslash = match escape {
        Some('\\') => false,
        Some(_) => true,
        None => pattern.contains('\\'),
    };
    if needs_backslash {
        *pattern = with_backslashes(pattern, escape);
        like.escape_char = Some('\\');
    }
    needs_backslash
}

/// Doubles the backslashes of a pattern that is computed for each row.
fn double_backslashes(like: &mut Like, columns: &InputColumns) -> Result<bool> {
    let of = like.pattern.get_type(columns)?;
    let doubled = |pattern| replace_texts().call(vec![cast(pattern, DataType::Utf8), lit("\\"), lit("\\\\")]);
    replace(&mut like.pattern, |pattern| cast(doubled(pattern), of));
    like.escape_char = Some('\\');
    Ok(true)
}

/// The pattern with the backslash in place of another escape character, and its own backslashes escaped.
fn with_backslashes(pattern: &str, escape: Option<char>) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if Some(character) == escape {
            text.push('\\');
            text.extend(characters.next());
        } else if character == '\\' {
            text.push_str("\\\\");
        } else {
            text.push(character);
        }
    }
    text
}

/// The text of a literal of any string type, or of a cast of one.
fn constant_text(expr: &mut Expr) -> Option<&mut String> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(value) | ScalarValue::Utf8View(value) | ScalarValue::LargeUtf8(value), _) => {
            value.as_mut()
        }
        Expr::Cast(cast) => constant_text(&mut cast.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_backslashes() {
        assert_eq!(with_backslashes(r"a\b", None), r"a\\b");
        assert_eq!(with_backslashes(r"a#_\##", Some('#')), r"a\_\\\#");
    }
}
