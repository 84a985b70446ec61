//! Names of columns: those of the answer, and those within a statement, of which no two may be the same.
//!
//! DataFusion would name `1` `Int64(1)`, and takes no two columns of one name, be it one that it gives itself: a cast
//! takes no part in it, so `a` and `a::text` are the same. What the statement answers has the text of an expression
//! without a name for one; what is selected again becomes `a_1`, `a_2`.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/4478> <https://github.com/apache/datafusion/issues/6543> <https://github.com/apache/datafusion/pull/21126>
//! Given: `CREATE TABLE t AS SELECT 1 AS a`
//! Shows: `SELECT a, a::text FROM t` gives `1 | 1`
//! Shows: `SELECT (INTERVAL '7' DAY)::text, (INTERVAL '7 day')::text` gives `7 days | 7 days`
//! Shows: `SELECT count(*) FROM (SELECT 1 AS a, 2 AS a)` gives `1`

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Ident, Query, Select, SelectItem, SetExpr, Statement, Value, VisitorMut,
    WildcardAdditionalOptions,
};

use crate::syntax::tree::ast;
use crate::syntax::tree::walk::walk;

/// The names of the columns of an answer, as far as the text says them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnNames {
    /// Of the first columns; `None` for a column that has its name already.
    first: Vec<Option<String>>,
    /// Of the last columns, behind a `*`; `None` where there is no `*`.
    last: Option<Vec<Option<String>>>,
}

impl ColumnNames {
    /// The names of the columns that a query answers; `None` for another statement, and where the text does not say.
    pub fn of(statement: &SqlStatement) -> Option<Self> {
        let SqlStatement::Statement(statement) = statement else { return None };
        let Statement::Query(query) = statement.as_ref() else { return None };
        let mut taken = HashSet::new();
        let (mut first, mut last) = (Vec::new(), None);
        for item in &first_select(query)?.projection {
            let (name, own) = match item {
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(_)) => (None, true),
                SelectItem::UnnamedExpr(Expr::Identifier(name)) => (Some(ast::normalized(name)), true),
                SelectItem::UnnamedExpr(expr) => (Some(expr.to_string()), false),
                SelectItem::ExprWithAlias { alias, .. } => (Some(ast::normalized(alias)), true),
                // With two stars nobody knows how many columns lie before the second.
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) if last.is_some() => return None,
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => {
                    last = Some(Vec::new());
                    continue;
                }
                SelectItem::ExprWithAliases { .. } => return None,
            };
            let repeated = name.as_ref().is_some_and(|name| !taken.insert(name.clone()));
            last.as_mut().unwrap_or(&mut first).push(name.filter(|_| repeated || !own));
        }
        Some(Self { first, last })
    }

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

/// The SELECT that names the columns: the first one of a set operation.
fn first_select(query: &Query) -> Option<&Select> {
    let mut body = query.body.as_ref();
    loop {
        body = match body {
            SetExpr::Select(select) => return Some(select),
            SetExpr::Query(query) => query.body.as_ref(),
            SetExpr::SetOperation { left, .. } => left.as_ref(),
            _ => return None,
        };
    }
}

/// Gives names to the columns of a SELECT that DataFusion would give the same name.
///
/// A column that is selected again becomes `a_1`, or has its text for a name where that differs. A cast of a column has the
/// column's name, but its text where another clause may mean the column by it (`ordered`: the query's ORDER BY).
pub fn tell_apart(select: &mut Select, ordered: bool) {
    let groups = !matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
    let clauses = ordered || groups || select.qualify.is_some() || matches!(select.distinct, Some(Distinct::On(_)));
    let items = &mut select.projection;
    let mut taken: HashSet<String> = items.iter().filter_map(output_name).collect();
    let mut texts = HashSet::new();
    let mut keys = HashSet::new();
    // The columns among them by their last names, those with a table's name apart.
    let mut columns = [HashSet::new(), HashSet::new()];
    let all = WildcardAdditionalOptions::default();
    let one = items.len() == 1;
    let star = items.iter().any(|item| matches!(item, SelectItem::Wildcard(options) if *options == all));
    for item in items {
        let (expr, path, unnamed) = match &*item {
            SelectItem::UnnamedExpr(expr) => (expr, column(expr), true),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(std::slice::from_ref(alias)), false),
            _ => continue,
        };
        // The name to have if it is free, and the one to number.
        let (wanted, name) = if let Some(path) = path {
            let names: Vec<String> = path.iter().map(ast::normalized).collect();
            let name = names.last().cloned().unwrap_or_default();
            // `a` beside `t.a` is likely the same; `t.a` beside `u.a` is not.
            let qualified = usize::from(names.len() > 1);
            columns[qualified].insert(name.clone());
            let again = !keys.insert(names.join(".")) || columns[1 - qualified].contains(&name);
            if !(again || star && unnamed) {
                continue;
            }
            (None, name)
        } else if let Some(path) = cast_column(expr) {
            let name = path.last().map(ast::normalized).unwrap_or_default();
            let wanted = if clauses { expr.to_string() } else { name.clone() };
            (Some(wanted).filter(|_| clauses || !star), name)
        } else if one {
            continue;
        } else if subquery_column(expr).is_some_and(|name| taken.contains(&name)) {
            let text = expr.to_string();
            (texts.insert(text.clone()).then(|| text.clone()), text)
        } else {
            let text = expr.to_string();
            let new = texts.insert(text.clone());
            if keys.insert(key(expr)) {
                continue;
            }
            (new.then(|| text.clone()), text)
        };
        let free = wanted.filter(|wanted| taken.insert(wanted.clone()));
        let alias = ast::quoted(free.unwrap_or_else(|| ast::numbered(&name, &mut taken)));
        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
    }
}

/// The name that an item is given, or has as a column.
fn output_name(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::UnnamedExpr(expr) => column(expr).and_then(<[Ident]>::last).map(ast::normalized),
        SelectItem::ExprWithAlias { alias, .. } => Some(ast::normalized(alias)),
        _ => None,
    }
}

/// The path of a column, where an expression is nothing else.
fn column(expr: &Expr) -> Option<&[Ident]> {
    match expr {
        Expr::Identifier(name) => Some(std::slice::from_ref(name)),
        Expr::CompoundIdentifier(names) => Some(names),
        Expr::Nested(expr) => column(expr),
        _ => None,
    }
}

/// The name of the column of a subquery, as far as it is written.
fn subquery_column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(expr) => subquery_column(expr),
        Expr::Subquery(query) => output_name(first_select(query)?.projection.first()?),
        _ => None,
    }
}

/// The path of a column that is cast.
fn cast_column(expr: &Expr) -> Option<&[Ident]> {
    match expr {
        Expr::Cast { expr, .. } | Expr::Nested(expr) | Expr::AtTimeZone { timestamp: expr, .. } => {
            column(expr).or_else(|| cast_column(expr))
        }
        _ => None,
    }
}

/// A text that is the same where DataFusion may give the same name: without casts, parentheses, the names of tables, and
/// what is compared in a subquery.
pub fn key(expr: &Expr) -> String {
    struct Bare;
    impl VisitorMut for Bare {
        type Break = ();

        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            let word = |word: &str| Expr::Identifier(Ident::new(word));
            let bare = match expr {
                Expr::Cast { expr, .. } | Expr::Nested(expr) | Expr::AtTimeZone { timestamp: expr, .. } => {
                    std::mem::replace(expr.as_mut(), word(""))
                }
                Expr::TypedString(text) => Expr::Value(text.value.clone()),
                // One interval has many texts.
                Expr::Interval(_) => word("INTERVAL"),
                Expr::CompoundIdentifier(names) => Expr::Identifier(names.pop().unwrap_or_else(|| Ident::new(""))),
                Expr::InSubquery { negated, .. } => word(if *negated { "NOT IN" } else { "IN" }),
                Expr::Exists { negated, .. } => word(if *negated { "NOT EXISTS" } else { "EXISTS" }),
                Expr::Subquery(query) => match first_select(query).and_then(|select| select.projection.first()) {
                    Some(SelectItem::UnnamedExpr(expr)) => expr.clone(),
                    Some(SelectItem::ExprWithAlias { alias, .. }) => Expr::Identifier(alias.clone()),
                    _ => return ControlFlow::Continue(()),
                },
                Expr::Value(value) => match &value.value {
                    Value::Number(number, _) => match number.parse::<f64>() {
                        Ok(number) => word(&number.to_string()),
                        Err(_) => return ControlFlow::Continue(()),
                    },
                    _ => return ControlFlow::Continue(()),
                },
                _ => return ControlFlow::Continue(()),
            };
            *expr = bare;
            ControlFlow::Continue(())
        }
    }
    let mut bare = expr.clone();
    let _ = walk(&mut bare, &mut Bare);
    bare.to_string().to_lowercase()
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::{DataType, Field};

    use super::*;
    use crate::syntax::statements::parse::parse;
    use crate::syntax::statements::statement::Statement;
    use crate::testing::{resolve, rows, session};

    /// The names that a query with these columns answers, and what it became.
    fn named(text: &str, columns: &[&str]) -> (Vec<String>, String) {
        let Statement::Sql(mut statement) = parse(text).unwrap() else { panic!("{text}") };
        let names = ColumnNames::of(&statement);
        resolve(&mut statement);
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
        assert_eq!(text, "SELECT 1 AS a, 2 AS \"a_1\", x, x AS \"x_1\" FROM t ORDER BY a");
        assert_eq!(named("SELECT t.x, u.x FROM t, u", &["x", "x"]).0, ["x", "x"]);
    }

    #[tokio::test]
    async fn what_is_selected_again_gets_a_name() {
        let context = session().await;
        for (text, expected) in [
            ("SELECT id, ID, nested.id FROM nested WHERE id = 1", "id,id_1,id_2"),
            ("SELECT *, id FROM nested WHERE id = 1", "id,xs,id_1"),
            ("SELECT id, id AS id_1, id FROM nested WHERE id = 1", "id,id_1,id_2"),
            ("SELECT id + 1, id + 1 FROM nested WHERE id = 1", "nested.id + Int64(1),id + 1_1"),
            ("SELECT count(*), sum(id), count(*) FROM nested", "count(*),sum(nested.id),count(*)_1"),
            ("SELECT id, * FROM nested WHERE id = 1", "id_1,id,xs"),
            ("SELECT *, * FROM nested WHERE id = 1", "id,xs,id_1,xs_1"),
            ("SELECT n.*, 5 AS id_1, n.*, * FROM nested n WHERE id = 1", "id,xs,id_1,id_2,xs_1,id_3,xs_2"),
            ("WITH n AS (SELECT 7 AS x) SELECT * FROM (SELECT *, * FROM n)", "x,x_1"),
            ("SELECT id, id::text FROM nested WHERE id = 1", "id,id_1"),
            ("SELECT id::text, id FROM nested WHERE id = 1", "id_1,id"),
            ("SELECT id::text FROM nested WHERE id = 1", "id"),
            ("SELECT id::text FROM nested ORDER BY id", "id::TEXT"),
            ("SELECT *, try_cast(id AS int) FROM nested WHERE id = 1", "id,xs,id_1"),
            (
                "SELECT sum(id), SUM(id), sum(cast(id AS double)) FROM nested",
                "sum(nested.id),SUM(id),sum(CAST(id AS DOUBLE))",
            ),
            ("SELECT 1, 1::bigint, 1.0, 1.00", "Int64(1),1::BIGINT,1.0,1.00"),
            ("SELECT 1 a, 2 a, (SELECT 3) a", "a,a_1,a_2"),
            ("SELECT 1 IN (SELECT 1), NULL IN (SELECT 1)", "IN,NULL IN (SELECT 1)"),
            ("SELECT id FROM nested WHERE id = 1 UNION SELECT id, id FROM nested", ""),
        ] {
            match rows(&context, text).await {
                Ok(rows) => assert_eq!(rows[0].replace(" | ", ","), expected, "{text}"),
                Err(error) => assert!(expected.is_empty(), "{text}: {error}"),
            }
        }
        let rows =
            rows(&context, "SELECT id, id + 0 FROM nested UNION SELECT id, id FROM nested ORDER BY 1").await.unwrap();
        assert_eq!(rows.len(), 3, "{rows:?}");
    }
}
