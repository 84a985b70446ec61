//! Versions of tables: `t VERSION AS OF 3`, `t TIMESTAMP AS OF '...'` and `bonnet.history(t)`.

use bonnet_common::{SYSTEM_SCHEMA, TimeTravel, Version};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, ObjectName, Spanned, TableFactor, TableVersion, Value,
};
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::syntax::statements::dialect::BonnetDialect;
use crate::syntax::tree::ast;
use crate::{Error, Result};

/// What is asked of a table beside its current rows: the table's name, and its place. `None` for any other.
///
/// # Errors
/// If the version is no constant, or what stands there has none.
pub(crate) fn asked(factor: &TableFactor) -> Result<Option<(ObjectName, TimeTravel, Span)>> {
    match factor {
        TableFactor::Table { name, args, version: Some(given), .. } => {
            let version = version(name, args.is_some(), given)?;
            Ok(Some((name.clone(), TimeTravel::Version(version), name.span())))
        }
        TableFactor::Table { name, args: Some(args), .. } if is_history(name) => {
            Ok(Some((table_of(name, &args.args)?, TimeTravel::History, name.span())))
        }
        _ => Ok(None),
    }
}

fn version(name: &ObjectName, is_call: bool, given: &TableVersion) -> Result<Version> {
    let refuse = |text: String| Err(Error::statement_at(name.span(), format!("{name} {given}: {text}")));
    if is_call {
        return refuse("a function has no versions; ask for those of the tables that it reads".to_owned());
    }
    let asked = match given {
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
        Some(asked) => Ok(asked),
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

/// Whether it is `bonnet.history`.
fn is_history(name: &ObjectName) -> bool {
    ast::name_parts(name).is_some_and(
        |parts| matches!(parts.as_slice(), [schema, table] if schema == SYSTEM_SCHEMA && table == "history"),
    )
}

/// The table of `bonnet.history(table)`.
fn table_of(name: &ObjectName, args: &[FunctionArg]) -> Result<ObjectName> {
    let table = match args {
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
    table.ok_or_else(|| {
        Error::statement_at(name.span(), "bonnet.history takes the name of a table, bonnet.history('results')")
    })
}
