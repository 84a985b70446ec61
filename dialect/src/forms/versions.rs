//! Versions of tables: `t VERSION AS OF 3`, `t TIMESTAMP AS OF '...'` and `bonnet.history(t)` become names, which the
//! catalog reads.

use bonnet_common::{SYSTEM_SCHEMA, TimeTravel, Version, time_travel_name};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, ObjectName, ObjectNamePart, Spanned, TableAlias, TableFactor, TableVersion,
    Value,
};
use datafusion::sql::sqlparser::parser::Parser;

use crate::syntax::statements::dialect::BonnetDialect;
use crate::syntax::tree::ast;
use crate::{Error, Result};

/// Puts the version that is asked of a table into its name.
pub(crate) fn name_version(factor: &mut TableFactor) -> Result<()> {
    let TableFactor::Table { name, alias, args, version, .. } = factor else { return Ok(()) };
    let Some(given) = version.take() else { return Ok(()) };
    let refuse = |text: String| Err(Error::statement_at(name.span(), format!("{name} {given}: {text}")));
    if args.is_some() {
        return refuse("a function has no versions; ask for those of the tables that it reads".to_owned());
    }
    let asked = match &given {
        TableVersion::VersionAsOf(Expr::Value(value)) => match &value.value {
            Value::Number(number, _) => number.parse().ok().map(Version::Number),
            _ => None,
        },
        TableVersion::TimestampAsOf(at) | TableVersion::ForSystemTimeAsOf(at) => match text_of(at) {
            Some(text) => match Version::parse_time(text) {
                Ok(version) => Some(version),
                Err(error) => return Err(Error::statement_at(at.span(), error.strip_backtrace())),
            },
            None => None,
        },
        _ => None,
    };
    match asked {
        Some(asked) => put(name, alias, TimeTravel::Version(asked)),
        None => refuse(format!(
            "write {name} VERSION AS OF 3, or {name} TIMESTAMP AS OF '2026-01-31 12:00:00'; a version is a constant"
        )),
    }
}

/// The text of a constant: `'...'` or `TIMESTAMP '...'`.
fn text_of(expr: &Expr) -> Option<&str> {
    let value = match expr {
        Expr::Value(value) => &value.value,
        Expr::TypedString(typed) => &typed.value.value,
        _ => return None,
    };
    match value {
        Value::SingleQuotedString(text) => Some(text),
        _ => None,
    }
}

/// `bonnet.history(table)` is a table too.
pub(crate) fn name_history(factor: &mut TableFactor) -> Result<()> {
    let TableFactor::Table { name, alias, args, .. } = factor else { return Ok(()) };
    let is_history = ast::name_parts(name).is_some_and(
        |parts| matches!(parts.as_slice(), [schema, table] if schema == SYSTEM_SCHEMA && table == "history"),
    );
    if !is_history {
        return Ok(());
    }
    let Some(given) = args.take() else { return Ok(()) };
    let table = match given.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] => match expr {
            Expr::Identifier(table) => Some(ObjectName::from(vec![table.clone()])),
            Expr::CompoundIdentifier(parts) => Some(ObjectName::from(parts.clone())),
            Expr::Value(_) => text_of(expr).and_then(|text| {
                let parser = Parser::new(&BonnetDialect).try_with_sql(text).ok();
                parser.and_then(|mut parser| parser.parse_object_name(false).ok())
            }),
            _ => None,
        },
        _ => None,
    };
    let Some(table) = table else {
        return Err(Error::statement_at(
            name.span(),
            "bonnet.history takes the name of a table, bonnet.history('results')",
        ));
    };
    *name = table;
    alias.get_or_insert_with(|| ast::alias("history"));
    put(name, alias, TimeTravel::History)
}

/// Gives a table the name that carries what is asked of it; it is known by its own name, or its alias.
fn put(name: &mut ObjectName, alias: &mut Option<TableAlias>, asked: TimeTravel) -> Result<()> {
    let Some(ObjectNamePart::Identifier(last)) = name.0.last_mut() else {
        return Err(Error::statement_at(name.span(), format!("{name}: the name of a table is expected")));
    };
    let table = ast::normalized(last);
    alias.get_or_insert_with(|| ast::alias(table.clone()));
    *last = ast::quoted(time_travel_name(&table, asked));
    Ok(())
}
