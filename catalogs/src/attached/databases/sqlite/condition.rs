//! The part of a condition that SQLite answers as we do, so that it reads fewer rows. The engine filters what it gets again.

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};
use rusqlite::types::Value;

use super::columns::Column;
use super::quoted;

/// A condition of SQLite, with the values of its parameters: it holds for each row for which another one does.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Condition {
    pub sql: String,
    pub values: Vec<Value>,
}

/// What SQLite knows of its own columns.
pub(super) struct Columns<'a> {
    pub columns: &'a [Column],
    /// Whether the order of strings is ours.
    pub utf8: bool,
}

impl Condition {
    /// Both conditions, where there are two.
    pub(super) fn and(self, other: Self) -> Self {
        self.joined("AND", other)
    }

    fn joined(mut self, word: &str, other: Self) -> Self {
        self.sql = format!("({} {word} {})", self.sql, other.sql);
        self.values.extend(other.values);
        self
    }
}

impl Columns<'_> {
    /// The condition of a filter; none where SQLite might leave out a row for which it holds.
    pub(super) fn condition(&self, filter: &Expr) -> Option<Condition> {
        match filter {
            Expr::BinaryExpr(both) if both.op == Operator::And => {
                match (self.condition(&both.left), self.condition(&both.right)) {
                    (Some(left), Some(right)) => Some(left.and(right)),
                    (left, right) => left.or(right),
                }
            }
            Expr::BinaryExpr(either) if either.op == Operator::Or => {
                Some(self.condition(&either.left)?.joined("OR", self.condition(&either.right)?))
            }
            Expr::BinaryExpr(comparison) => {
                let op = comparison.op;
                match (&*comparison.left, &*comparison.right) {
                    (Expr::Column(column), Expr::Literal(value, _)) => self.comparison(&column.name, op, value),
                    (Expr::Literal(value, _), Expr::Column(column)) => self.comparison(&column.name, op.swap()?, value),
                    _ => None,
                }
            }
            Expr::Between(between) if !between.negated => match (&*between.expr, &*between.low, &*between.high) {
                (Expr::Column(column), Expr::Literal(low, _), Expr::Literal(high, _)) => {
                    let low = self.comparison(&column.name, Operator::GtEq, low)?;
                    Some(low.and(self.comparison(&column.name, Operator::LtEq, high)?))
                }
                _ => None,
            },
            Expr::InList(list) if !list.negated => {
                let Expr::Column(column) = &*list.expr else { return None };
                let equals = list.list.iter().map(|value| match value {
                    Expr::Literal(value, _) => self.comparison(&column.name, Operator::Eq, value),
                    _ => None,
                });
                let equals = equals.collect::<Option<Vec<_>>>()?;
                equals.into_iter().reduce(|some, one| some.joined("OR", one))
            }
            Expr::IsNull(column) => self.null_test(column, "IS NULL"),
            Expr::IsNotNull(column) => self.null_test(column, "IS NOT NULL"),
            _ => None,
        }
    }

    fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    fn null_test(&self, column: &Expr, test: &str) -> Option<Condition> {
        let Expr::Column(column) = column else { return None };
        self.column(&column.name)?;
        Some(Condition { sql: format!("{} {test}", quoted(&column.name)), values: Vec::new() })
    }

    /// A column beside a value of its own type: of strings in the order of their bytes, whatever the column's collation.
    fn comparison(&self, name: &str, op: Operator, value: &ScalarValue) -> Option<Condition> {
        let column = self.column(name)?;
        let value = match (column.data_type(), value) {
            (DataType::Int64, ScalarValue::Int64(Some(value))) => Value::Integer(*value),
            (DataType::Float64, ScalarValue::Float64(Some(value))) if value.is_finite() => Value::Real(*value),
            (DataType::Utf8, value) => Value::Text(value.try_as_str()??.to_owned()),
            _ => return None,
        };
        let by_order = matches!(op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq);
        let is_string = matches!(value, Value::Text(_));
        if !(by_order && (self.utf8 || !is_string) || matches!(op, Operator::Eq | Operator::NotEq)) {
            return None;
        }
        let collation = if is_string { " COLLATE BINARY" } else { "" };
        Some(Condition { sql: format!("{}{collation} {op} ?", column.expression()), values: vec![value] })
    }
}

#[cfg(test)]
mod tests {
    use datafusion::logical_expr::{col, lit};

    use super::*;

    fn columns() -> Vec<Column> {
        [("n", "INTEGER"), ("x", "REAL"), ("s", "TEXT"), ("d", "DATE"), ("b", "BOOLEAN")]
            .map(|(name, declared)| Column::declared(name.to_owned(), declared.to_owned()))
            .to_vec()
    }

    fn sql(filter: &Expr, utf8: bool) -> Option<String> {
        Columns { columns: &columns(), utf8 }.condition(filter).map(|condition| condition.sql)
    }

    #[test]
    fn comparisons_of_a_column_with_a_value_of_its_type_are_answered_there() {
        let said = |filter: Expr| sql(&filter, true).unwrap_or_default();
        assert_eq!(said(col("n").lt(lit(3i64))), "\"n\" < ?");
        assert_eq!(said(lit(3i64).lt(col("n"))), "\"n\" > ?");
        assert_eq!(said(col("s").eq(lit("a"))), "\"s\" COLLATE BINARY = ?");
        assert_eq!(said(col("d").gt_eq(lit("2020"))), "CAST(\"d\" AS TEXT) COLLATE BINARY >= ?");
        assert_eq!(said(col("x").between(lit(0.5), lit(1.0))), "(\"x\" >= ? AND \"x\" <= ?)");
        assert_eq!(said(col("n").in_list(vec![lit(1i64), lit(2i64)], false)), "(\"n\" = ? OR \"n\" = ?)");
        assert_eq!(said(col("s").is_null().or(col("n").is_not_null())), "(\"s\" IS NULL OR \"n\" IS NOT NULL)");
        // What is not known to be the same is left to us; of two conditions one is enough.
        assert_eq!(said(col("n").eq(lit(1i64)).and(col("s").like(lit("A%")))), "\"n\" = ?");
        for ours in [
            col("s").like(lit("A%")),
            col("n").eq(lit(1i64)).or(col("s").like(lit("A%"))),
            col("b").eq(lit(true)),
            col("x").gt(lit(f64::INFINITY)),
            col("n").eq(lit(ScalarValue::Int64(None))),
            col("n").in_list(vec![lit(1i64)], true),
            col("n").eq(col("n")),
            (col("n") + lit(1i64)).eq(lit(2i64)),
            col("rowid").eq(lit(1i64)),
        ] {
            assert_eq!(sql(&ours, true), None, "{ours}");
        }
    }

    #[test]
    fn the_order_of_strings_is_ours_where_they_are_in_utf_8() {
        assert_eq!(sql(&col("s").lt(lit("b")), false), None);
        assert!(sql(&col("s").not_eq(lit("b")), false).is_some());
        assert!(sql(&col("n").lt(lit(1i64)), false).is_some());
    }
}
