//! The names of a query's columns: the text of the expression, where the query gives no name.
//!
//! DataFusion would name `1` `Int64(1)`, and takes no two columns of one name. Only what the statement answers is named
//! here; within it nothing changes.

use std::collections::HashSet;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Query, Select, SelectItem, SetExpr, Statement};

use super::ast;

/// The names of the columns of an answer, as far as the text says them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnNames {
    /// Of the first columns; `None` for a column that has its name already.
    first: Vec<Option<String>>,
    /// Of the last columns, behind a `*`; `None` where there is no `*`.
    last: Option<Vec<Option<String>>>,
}

/// The names of the columns that a query answers; `None` for another statement. Columns with the name of an earlier one
/// get another name within the query, and their own in the answer.
pub fn column_names(statement: &mut SqlStatement) -> Option<ColumnNames> {
    let SqlStatement::Statement(statement) = statement else { return None };
    let Statement::Query(query) = statement.as_mut() else { return None };
    let select = first_select(query)?;
    let mut taken = HashSet::new();
    let (mut first, mut last) = (Vec::new(), None);
    for item in &mut select.projection {
        let name = match item {
            SelectItem::UnnamedExpr(expr) => name_of(expr),
            SelectItem::ExprWithAlias { alias, .. } => Some(ast::normalized(alias)),
            SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => {
                // With two stars nobody knows how many columns lie before the second.
                if last.is_some() {
                    return None;
                }
                last = Some(Vec::new());
                continue;
            }
            SelectItem::ExprWithAliases { .. } => return None,
        };
        let repeated = name.as_ref().is_some_and(|name| !taken.insert(name.clone()));
        let names = last.as_mut().unwrap_or(&mut first);
        match item {
            SelectItem::ExprWithAlias { .. } if !repeated => names.push(None),
            SelectItem::UnnamedExpr(Expr::Identifier(_)) if !repeated => names.push(None),
            _ => names.push(name),
        }
        if repeated {
            rename(item, taken.len());
            taken.insert(format!("{}:", taken.len()));
        }
    }
    Some(ColumnNames { first, last })
}

/// The SELECT that names the columns: the first one of a set operation.
fn first_select(query: &mut Query) -> Option<&mut Select> {
    let mut body = query.body.as_mut();
    loop {
        body = match body {
            SetExpr::Select(select) => return Some(select),
            SetExpr::Query(query) => query.body.as_mut(),
            SetExpr::SetOperation { left, .. } => left.as_mut(),
            _ => return None,
        };
    }
}

/// `None` for a column of a table, which has a name: two of them may share it.
fn name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(ast::normalized(name)),
        Expr::CompoundIdentifier(_) => None,
        expr => Some(expr.to_string()),
    }
}

/// Gives a repeated column a name that no text can have.
fn rename(item: &mut SelectItem, number: usize) {
    let unique = Ident::with_quote('"', format!("{item}:{number}"));
    match item {
        SelectItem::ExprWithAlias { alias, .. } => *alias = unique,
        SelectItem::UnnamedExpr(expr) => *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: unique },
        _ => {}
    }
}

impl ColumnNames {
    /// The schema with these names; `None` where it stays as it is.
    pub fn schema(&self, schema: &Schema) -> Option<SchemaRef> {
        let count = schema.fields().len();
        let named = self.first.len() + self.last.as_ref().map_or(0, Vec::len);
        // `unnest` of a struct makes several columns of one item.
        if named > count || (self.last.is_none() && named != count) {
            return None;
        }
        let last = self.last.iter().flatten();
        let unnamed: Option<String> = None;
        let rest = std::iter::repeat_n(&unnamed, count - named);
        let names = self.first.iter().chain(rest).chain(last);
        let fields: Vec<_> = schema
            .fields()
            .iter()
            .zip(names)
            .map(|(field, name)| match name {
                Some(name) => field.as_ref().clone().with_name(name),
                None => field.as_ref().clone(),
            })
            .collect();
        let renamed = Schema::new_with_metadata(fields, schema.metadata().clone());
        (renamed != *schema).then(|| renamed.into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::super::statement::Statement;
    use super::*;
    use datafusion::arrow::datatypes::{DataType, Field};

    /// The names that a query with these columns answers, and what it became.
    fn named(text: &str, columns: &[&str]) -> (Vec<String>, String) {
        let Statement::Sql(mut statement) = parse(text).unwrap() else { panic!("{text}") };
        let names = column_names(&mut statement);
        let fields: Vec<_> = columns.iter().map(|name| Field::new(*name, DataType::Int64, true)).collect();
        let schema: SchemaRef = Schema::new(fields).into();
        let renamed = names.and_then(|names| names.schema(&schema)).unwrap_or(schema);
        (renamed.fields().iter().map(|field| field.name().clone()).collect(), statement.to_string())
    }

    #[test]
    fn a_column_without_a_name_has_its_text_for_one() {
        let columns =
            named("SELECT 1, x, sum(y) OVER (ORDER BY x), y + 1 AS z FROM t", &["Int64(1)", "x", "long", "z"]);
        assert_eq!(columns.0, ["1", "x", "sum(y) OVER (ORDER BY x)", "z"]);
        assert_eq!(named("SELECT 1 UNION ALL SELECT 2", &["Int64(1)"]).0, ["1"]);
        assert_eq!(named("SELECT count(*), *, -x FROM t", &["c", "a", "b", "m"]).0, ["count(*)", "a", "b", "-x"]);
        // Of what the text does not tell the number, the names stay.
        assert_eq!(named("SELECT unnest(s) FROM t", &["s.a", "s.b"]).0, ["s.a", "s.b"]);
        assert_eq!(named("SELECT *, 1, * FROM t", &["a", "one", "b"]).0, ["a", "one", "b"]);
        assert_eq!(named("CREATE TABLE t AS SELECT 1", &["count"]).0, ["count"]);
    }

    #[test]
    fn two_columns_may_have_one_name() {
        let (names, text) = named("SELECT 1 a, 2 a, x, x FROM t ORDER BY a", &["a", "?", "x", "?"]);
        assert_eq!(names, ["a", "a", "x", "x"]);
        assert!(text.starts_with("SELECT 1 AS a, 2 AS \"2 AS a:1\", x, x AS \"x:"), "{text}");
        assert_eq!(named("SELECT t.x, u.x FROM t, u", &["x", "x"]).0, ["x", "x"]);
    }
}
