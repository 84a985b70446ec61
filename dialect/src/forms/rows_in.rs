//! `(a, b) IN (SELECT ...)`: DataFusion compares one column alone.
//!
//! As a condition it is a semi join, and NOT IN an anti join with every row that may be equal. As a value it tells three
//! cases apart: a row is equal, a row may be equal (of equal columns and NULLs), no row is.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1, 2), (2, 3)) AS v(a, b)`
//! Shows: `SELECT a FROM t WHERE (a, b) IN (SELECT 1, 2)` gives `1`

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, Query, SelectItem, SetExpr, TableAliasColumnDef, Value,
};

use crate::syntax::tree::ast;

/// Rewrites the conditions of a WHERE, which keeps the rows for which all of them are true.
pub(crate) fn in_condition(condition: &mut Expr) {
    match condition {
        Expr::Nested(inner) => in_condition(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            in_condition(left);
            in_condition(right);
        }
        Expr::InSubquery { expr, subquery, negated } => {
            let Some(values) = row(expr) else { return };
            let matching = exists(values, subquery, if *negated { Match::Possible } else { Match::Certain });
            *condition = match (*negated, matching) {
                (true, Expr::Exists { subquery, .. }) => Expr::Exists { subquery, negated: true },
                (_, matching) => matching,
            };
        }
        _ => {}
    }
}

/// Rewrites an IN of which the value counts.
pub(crate) fn as_value(expr: &mut Expr) {
    let Expr::InSubquery { expr: row_expr, subquery, negated } = expr else { return };
    let Some(values) = row(row_expr) else { return };
    let boolean = |value| Expr::Value(Value::Boolean(value).into());
    let case = |condition, result| CaseWhen { condition, result };
    let conditions = vec![
        case(exists(values, subquery, Match::Certain), boolean(!*negated)),
        case(exists(values, subquery, Match::Possible), Expr::Value(Value::Null.into())),
    ];
    *expr = Expr::Case {
        case_token: ast::no_token(),
        end_token: ast::no_token(),
        operand: None,
        conditions,
        else_result: Some(Box::new(boolean(*negated))),
    };
}

/// The values of a row in parentheses.
fn row(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::Tuple(values) => Some(values),
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Match {
    /// All columns are equal.
    Certain,
    /// No column differs, but one may be NULL.
    Possible,
}

/// Whether a row of the query matches these values.
fn exists(values: &[Expr], query: &Query, kind: Match) -> Expr {
    // Names that no column around has by accident.
    let names: Vec<String> = (1..=values.len()).map(|at| format!("column {at} of IN")).collect();
    let equal = values.iter().zip(&names).map(|(value, name)| {
        let equal = Expr::BinaryOp {
            left: Box::new(Expr::Nested(Box::new(value.clone()))),
            op: BinaryOperator::Eq,
            right: Box::new(Expr::Identifier(ast::quoted(name))),
        };
        match kind {
            Match::Certain => equal,
            Match::Possible => Expr::IsNotFalse(Box::new(Expr::Nested(Box::new(equal)))),
        }
    });
    let condition = equal.reduce(|left, right| Expr::BinaryOp {
        left: Box::new(left),
        op: BinaryOperator::And,
        right: Box::new(right),
    });
    let mut alias = ast::alias("rows of IN");
    alias.columns = names.iter().map(|name| TableAliasColumnDef { name: ast::quoted(name), data_type: None }).collect();
    let one = SelectItem::UnnamedExpr(Expr::Value(Value::Number("1".to_owned(), false).into()));
    let mut matching = ast::select(vec![one], ast::derived(query.clone(), Some(alias)), vec![]);
    if let SetExpr::Select(select) = matching.body.as_mut() {
        select.selection = condition;
    }
    Expr::Exists { subquery: Box::new(matching), negated: false }
}
