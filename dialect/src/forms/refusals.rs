//! Refusals of clauses that DataFusion would silently ignore, or plan but not run.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT 1 AS a`
//! Shows: `SELECT * FROM t TABLESAMPLE BERNOULLI (50)` is refused

use bonnet_sql::Registry;
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, GroupByExpr, Ident, ObjectName, Select, SelectItem, Spanned, TableFactor,
};

use crate::names::ordinals::ordinal;
use crate::syntax::tree::ast;
use crate::{Error, ErrorKind, Raised, Result};

/// Refuses samples, hints and ordinals of tables, and functions that would have to be called once per row.
pub(crate) fn check(factor: &TableFactor, registry: &Registry) -> Result<()> {
    let text = match factor {
        TableFactor::Table { name, sample: Some(_), .. } => format!(
            "TABLESAMPLE of {name} is not supported: SELECT * FROM {name} ORDER BY random() LIMIT n takes n rows at random"
        ),
        TableFactor::Derived { sample: Some(_), .. } => {
            "TABLESAMPLE is not supported: ORDER BY random() LIMIT n takes n rows at random".to_owned()
        }
        TableFactor::Table { name, args: None, with_ordinality: true, .. } => {
            format!("{name} WITH ORDINALITY is not supported: row_number() OVER () numbers rows")
        }
        TableFactor::Table { name, with_hints, index_hints, .. }
            if !with_hints.is_empty() || !index_hints.is_empty() =>
        {
            format!("the hints after {name} are not supported: leave them out")
        }
        TableFactor::Function { lateral, name, .. } => match ast::function_name(name) {
            Some(function) if registry.get(&function).is_some() => format!(
                "{}{function}: the function reads whole relations and cannot be called once per row of another table; \
                 call it FROM {function}(...) and join the answer",
                if *lateral { "LATERAL " } else { "" }
            ),
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    Err(Raised::new(ErrorKind::NotSupported, text).at(factor.span()).into())
}

/// Refuses `FROM t, unnest(t.column)`, which is planned but cannot be executed, and the same in a subquery.
pub(crate) fn check_unnest(select: &Select) -> Result<()> {
    for table in &select.from {
        for factor in table.joins.iter().map(|join| &join.relation).chain([&table.relation]) {
            let columns = match factor {
                TableFactor::Table { name, args: Some(args), .. } if is_unnest(name) => ast::columns(&args.args),
                TableFactor::UNNEST { array_exprs, .. } => ast::columns(array_exprs),
                TableFactor::Function { name, args, .. } if is_unnest(name) => ast::columns(args),
                _ => Vec::new(),
            };
            if let Some(column) = columns.into_iter().next() {
                let column = ObjectName::from(column);
                return Err(Error::statement_at(
                    column.span(),
                    format!(
                        "FROM unnest({column}) cannot read the columns of another table; unnest in a select list, \
                         FROM (SELECT *, unnest({column}) AS element FROM ...)"
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn is_unnest(name: &ObjectName) -> bool {
    ast::function_name(name).as_deref() == Some("unnest")
}

/// Refuses a window function where rows are not there yet: in WHERE, GROUP BY, by its place or name too, and HAVING.
pub(crate) fn check_windows(select: &Select) -> Result<()> {
    let meant = |group: &Expr| -> Option<&Expr> {
        let at = ordinal(group);
        let named = |name: &Ident| match group {
            Expr::Identifier(group) => ast::normalized(group) == ast::normalized(name),
            _ => false,
        };
        select.projection.iter().enumerate().find_map(|(i, item)| match item {
            SelectItem::UnnamedExpr(expr) if at == Some(i) => Some(expr),
            SelectItem::ExprWithAlias { expr, alias } if at == Some(i) || named(alias) => Some(expr),
            _ => None,
        })
    };
    let groups = match &select.group_by {
        GroupByExpr::Expressions(groups, _) => groups.as_slice(),
        GroupByExpr::All(_) => &[],
    };
    let clauses = (select.selection.iter().map(|expr| ("WHERE", expr)))
        .chain(groups.iter().map(|group| ("GROUP BY", meant(group).unwrap_or(group))))
        .chain(select.having.iter().map(|expr| ("HAVING", expr)));
    for (clause, expr) in clauses {
        if let Some(call) = ast::find(expr, |expr| matches!(expr, Expr::Function(call) if call.over.is_some())) {
            return Err(Error::statement_at(
                call.span(),
                format!(
                    "{clause} takes no window function such as {call}: compute it in a subquery, \
                     FROM (SELECT *, {call} AS value FROM ...), and read its column"
                ),
            ));
        }
    }
    Ok(())
}

/// `FROM unnest(...)`, which DataFusion knows by a factor of its own.
pub(crate) fn into_unnest(factor: &mut TableFactor) -> Result<()> {
    let TableFactor::Table { name, args: Some(args), alias, with_ordinality, .. } = factor else { return Ok(()) };
    if !is_unnest(name) {
        return Ok(());
    }
    let lists = args.args.iter().map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Ok(expr.clone()),
        other => Err(Error::statement_at(other.span(), format!("unnest takes lists, not {other}"))),
    });
    *factor = TableFactor::UNNEST {
        array_exprs: lists.collect::<Result<_>>()?,
        alias: alias.take(),
        with_offset: false,
        with_offset_alias: None,
        with_ordinality: *with_ordinality,
    };
    Ok(())
}
