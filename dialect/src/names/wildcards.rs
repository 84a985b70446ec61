//! `t.*` by the last part of a table's name, and stars that repeat columns: `SELECT *, *`.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT 1 AS a`
//! Shows: `SELECT *, * FROM t` gives `1 | 1`

use std::collections::HashSet;

use datafusion::common::{DFSchema, TableReference};
use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableFactor, TableWithJoins,
};

use crate::syntax::tree::ast;

/// Gives `edges.*` the name under which DataFusion knows the table of FROM: `karate.edges.*`.
pub(crate) fn qualify(projection: &mut [SelectItem], from: &[TableWithJoins]) {
    for item in projection {
        let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(qualifier), _) = item else {
            continue;
        };
        let Some(given) = ast::name_parts(qualifier) else { continue };
        let named = |factor: &TableFactor| match factor {
            TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
                given == [ast::normalized(&alias.name)]
            }
            _ => false,
        };
        if ast::factors(from).any(named) {
            continue;
        }
        let mut tables = ast::factors(from).filter_map(|factor| match factor {
            TableFactor::Table { name, alias: None, args: None, version: None, .. } => {
                ast::name_parts(name).is_some_and(|parts| parts.ends_with(&given)).then_some(name)
            }
            _ => None,
        });
        // Of two tables that fit, either may be meant.
        let only: Option<&ObjectName> = tables.next().filter(|_| tables.next().is_none());
        if let Some(table) = only {
            *qualifier = table.clone();
        }
    }
}

/// The query whose columns are those of a star.
pub(crate) fn query(star: &SelectItem, from: &[TableWithJoins]) -> Query {
    let mut query = ast::select_all_from(from.to_vec());
    if let SetExpr::Select(alone) = query.body.as_mut() {
        alone.projection = vec![star.clone()];
    }
    query
}

/// Puts columns in the place of the star at this position, as `a_1`, `b_1`.
pub(crate) fn spell_out(select: &mut Select, at: usize, columns: &DFSchema) {
    let mut taken: HashSet<String> = columns.fields().iter().map(|field| field.name().clone()).collect();
    taken.extend(select.projection.iter().filter_map(|item| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(ast::normalized(alias)),
        _ => None,
    }));
    let spelled = columns.iter().map(|(table, field)| {
        let name = field.name();
        let mut path = table.map(TableReference::to_vec).unwrap_or_default();
        path.push(name.clone());
        SelectItem::ExprWithAlias {
            expr: Expr::CompoundIdentifier(path.into_iter().map(ast::quoted).collect()),
            alias: ast::quoted(ast::numbered(name, &mut taken)),
        }
    });
    let spelled: Vec<SelectItem> = spelled.collect();
    select.projection.splice(at..=at, spelled);
}

/// The position of the first star that repeats columns of one before it.
pub(crate) fn repeated(select: &Select) -> Option<usize> {
    // `*` itself has no table, and the columns of all.
    let mut before: Vec<Vec<String>> = Vec::new();
    select.projection.iter().position(|item| {
        let table = match item {
            SelectItem::Wildcard(_) => Some(vec![]),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(table), _) => {
                ast::name_parts(table)
            }
            _ => None,
        };
        let Some(table) = table else { return false };
        let repeats = before.iter().any(|other| other.is_empty() || table.is_empty() || *other == table);
        before.push(table);
        repeats
    })
}
