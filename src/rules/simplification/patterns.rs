//! Backslashes in patterns. DataFusion makes LIKE of simple regular expressions, and takes a backslash that they look for as
//! an escape; and a LIKE without ESCAPE has no escape, whether its pattern is a constant or not.

use arrow::datatypes::DataType;
use bonnet_sql::InputColumns;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::functions::string::replace as replace_texts;
use datafusion::logical_expr::expr::{Like, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, cast, lit};

use super::casts::varies;
use super::replace;

/// What a regular expression that looks for a backslash has in it: the character escaped, or its number.
const BACKSLASHES: [&str; 4] = ["\\\\", "\\x", "\\u", "\\U"];

/// An empty group, which matches anywhere, and which LIKE does not know.
const EMPTY_GROUP: &str = "()";

pub(super) fn of_backslashes(mut expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    use Operator::{RegexIMatch, RegexMatch, RegexNotIMatch, RegexNotMatch};
    let changed = match &mut expr {
        Expr::BinaryExpr(BinaryExpr {
            op: RegexMatch | RegexIMatch | RegexNotMatch | RegexNotIMatch, right, ..
        }) => group(right),
        Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == "regexp_like" => {
            args.get_mut(1).is_some_and(group)
        }
        Expr::Like(like) if like.escape_char.is_none() && varies(&like.pattern) => double(like, columns)?,
        Expr::Like(like) => escape(like),
        _ => false,
    };
    Ok(Transformed::new_transformed(expr, changed))
}

/// Puts an empty group in front of a regular expression that looks for a backslash.
fn group(pattern: &mut Expr) -> bool {
    let Some(pattern) = text(pattern) else { return false };
    let concerned = !pattern.starts_with(EMPTY_GROUP) && BACKSLASHES.iter().any(|it| pattern.contains(it));
    if concerned {
        pattern.insert_str(0, EMPTY_GROUP);
    }
    concerned
}

/// Makes a backslash the escape of a pattern of LIKE, which is the one that DataFusion knows.
fn escape(like: &mut Like) -> bool {
    let escape = like.escape_char;
    let Some(pattern) = text(&mut like.pattern) else { return false };
    let concerned = match escape {
        Some('\\') => false,
        Some(_) => true,
        None => pattern.contains('\\'),
    };
    if concerned {
        *pattern = with_backslashes(pattern, escape);
        like.escape_char = Some('\\');
    }
    concerned
}

/// Doubles the backslashes of a pattern that is no constant.
fn double(like: &mut Like, columns: &InputColumns) -> Result<bool> {
    let of = like.pattern.get_type(columns)?;
    let doubled = |pattern| replace_texts().call(vec![cast(pattern, DataType::Utf8), lit("\\"), lit("\\\\")]);
    replace(&mut like.pattern, |pattern| cast(doubled(pattern), of));
    like.escape_char = Some('\\');
    Ok(true)
}

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

/// The text of a constant, in whatever type.
fn text(expr: &mut Expr) -> Option<&mut String> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(value) | ScalarValue::Utf8View(value) | ScalarValue::LargeUtf8(value), _) => {
            value.as_mut()
        }
        Expr::Cast(cast) => text(&mut cast.expr),
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
