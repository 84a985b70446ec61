//! Names without quotes of columns whose names have capitals: `SELECT source FROM t` of a column `Source`.
//!
//! DataFusion puts a name without quotes in lower case and takes a column of exactly that name. Here one takes the column that it
//! differs from in the case of letters alone, if there is one such name and no exact one.
//!
//! Upstream: <https://github.com/apache/datafusion-python/issues/399>
//! Given: `CREATE TABLE e AS SELECT 1 AS "Source", 2 AS dst`
//! Shows: `SELECT Source, e.SOURCE, DST FROM e WHERE source = 1 ORDER BY source` gives `1 | 1 | 2`

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::DFSchema;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, JoinConstraint, JoinOperator, TableFactor, TableWithJoins, VisitorMut,
};

use crate::names::tables::Tables;
use crate::syntax::tree::ast;
use crate::syntax::tree::walk::walk_outside_subqueries;

/// The names of a statement's columns that have capitals, in lower case: all others are found as they are.
#[derive(Debug, Default)]
pub(crate) struct Capitals(HashSet<String>);

impl Capitals {
    /// Those of tables.
    pub(crate) fn of(tables: &Tables) -> Self {
        Self::of_schemas(tables.schemas())
    }

    /// Those of tables of these columns.
    pub(crate) fn of_schemas(schemas: impl Iterator<Item = SchemaRef>) -> Self {
        let mut capitals = HashSet::new();
        for schema in schemas {
            let names = schema.fields().iter().map(|field| field.name());
            capitals.extend(names.filter(|name| name.contains(char::is_uppercase)).map(|name| name.to_lowercase()));
        }
        Self(capitals)
    }

    /// Whether no column has any.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a name may be one of a column with capitals.
    pub(crate) fn may_be(&self, name: &Ident) -> bool {
        name.quote_style.is_none() && self.0.contains(&name.value.to_lowercase())
    }
}

/// What columns say of a name.
pub(crate) enum Found {
    /// A column has it, or several have it but for the case of letters: it stays.
    Known,
    /// It is the name of this column.
    Column(Ident),
    /// None of them has it.
    Nothing,
}

/// The column that the last of these names means, behind the name of its table.
pub(crate) fn find(names: &[Ident], columns: &DFSchema) -> Found {
    let Some((name, before)) = names.split_last() else { return Found::Known };
    let (exact, lower) = (ast::normalized(name), name.value.to_lowercase());
    let table = before.last().map(ast::normalized);
    let of_table = columns.iter().filter(|(of, _)| {
        let Some(table) = &table else { return true };
        of.is_some_and(|of| of.table() == table)
    });
    let mut alike: Option<&str> = None;
    for (_, field) in of_table.filter(|(_, field)| field.name().to_lowercase() == lower) {
        if *field.name() == exact || alike.is_some_and(|alike| alike != field.name()) {
            return Found::Known;
        }
        alike = Some(field.name());
    }
    alike.map_or(Found::Nothing, |name| Found::Column(ast::quoted(name.to_owned())))
}

/// FROM without the conditions of its joins.
pub(crate) fn without_conditions(from: &[TableWithJoins]) -> Vec<TableWithJoins> {
    let mut from = from.to_vec();
    from.iter_mut().for_each(drop_conditions);
    from
}

fn drop_conditions(table: &mut TableWithJoins) {
    let joined = table.joins.iter_mut().map(|join| {
        join.join_operator = JoinOperator::CrossJoin(JoinConstraint::None);
        &mut join.relation
    });
    for factor in std::iter::once(&mut table.relation).chain(joined) {
        if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
            drop_conditions(table_with_joins);
        }
    }
}

/// Gives the names in conditions of joins the case of their columns, but for those in subqueries.
pub(crate) fn in_conditions(from: &mut [TableWithJoins], capitals: &Capitals, columns: &DFSchema) {
    for table in from {
        let _ = walk_outside_subqueries(table, &mut Names(capitals, columns));
    }
}

/// Gives the names in an expression the case of their columns, but for those in subqueries.
pub(crate) fn in_expr(expr: &mut Expr, capitals: &Capitals, columns: &DFSchema) {
    let _ = walk_outside_subqueries(expr, &mut Names(capitals, columns));
}

struct Names<'a>(&'a Capitals, &'a DFSchema);

impl VisitorMut for Names<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let names = match expr {
            Expr::Identifier(name) => std::slice::from_mut(name),
            Expr::CompoundIdentifier(names) => names.as_mut_slice(),
            _ => return ControlFlow::Continue(()),
        };
        if names.last().is_some_and(|name| self.0.may_be(name))
            && let Found::Column(column) = find(names, self.1)
            && let Some(last) = names.last_mut()
        {
            *last = column;
        }
        ControlFlow::Continue(())
    }
}
