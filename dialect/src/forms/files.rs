//! `read_csv('f', delim = ';')` and its like: a file in FROM, whose table's name carries the format and the options.
//!
//! Upstream: none known
//! Given: `COPY (SELECT 1 AS a, 2 AS b) TO '{dir}/rows.csv' STORED AS CSV OPTIONS ('format.delimiter' ';')`
//! Shows: `SELECT * FROM read_csv('{dir}/rows.csv', delim = ';')` gives `1 | 2`

use std::sync::Arc;

use bonnet_common::{FILE_OPTION, FILE_OPTIONS};
use bonnet_sql::{Binding, Body, Call, Function, Parameter, Place, arguments, usage_error};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArgOperator, Ident, ObjectName, Spanned, TableFactor,
    UnaryOperator, Value, ValueWithSpan,
};
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::syntax::statements::dialect::BonnetDialect;
use crate::syntax::tree::ast;
use crate::{Error, Result};

/// The functions that read files, each with its format.
const READERS: [(&str, &str); 7] = [
    ("read_csv", "csv"),
    ("read_csv_auto", "csv"),
    ("read_parquet", "parquet"),
    ("parquet_scan", "parquet"),
    ("read_json", "json"),
    ("read_json_auto", "json"),
    ("read_ndjson", "json"),
];

/// The parameter that takes the files.
const FILE: &str = "file";

/// Options that DuckDB knows by several names.
const OTHER_NAMES: [(&str, &str); 2] = [("sep", "delim"), ("delimiter", "delim")];

/// Reads such a call as the file, or as the files one after another.
///
/// # Errors
/// If the arguments do not fit the function, or one is not written out.
pub(crate) fn read(factor: &mut TableFactor) -> Result<()> {
    let TableFactor::Table { name, args, alias, .. } = factor else { return Ok(()) };
    let called = ast::function_name(name);
    let Some((function, format)) = READERS.into_iter().find(|(reader, _)| called.as_deref() == Some(*reader)) else {
        return Ok(());
    };
    let Some(given) = args.take() else { return Ok(()) };
    let given: Vec<FunctionArg> = given.args.into_iter().map(by_parameter).collect();
    let call = name.span();
    let (files, options) = files_and_options(&reader(function, format), call, &given)?;
    let table = |file: &str| match options.is_empty() && has_ending_of(file, format) {
        true => file.to_owned(),
        false => options
            .iter()
            .fold(format!("{file}{FILE_OPTION}{format}"), |name, option| format!("{name}{FILE_OPTION}{option}")),
    };
    if let [file] = files.as_slice() {
        *name = ObjectName::from(vec![Ident::with_quote('\'', table(file))]);
        if alias.is_none() {
            *alias = Some(ast::alias(function));
        }
        return Ok(());
    }
    let queries: Vec<String> = files.iter().map(|file| format!("SELECT * FROM {}", ast::text(table(file)))).collect();
    let query = Parser::new(&BonnetDialect).try_with_sql(&queries.join(" UNION ALL "));
    let query = query.and_then(|mut parser| parser.parse_query());
    let query = query.map_err(|error| Error::statement_at(call, format!("{function}: {error}")))?;
    let alias = alias.take().unwrap_or_else(|| ast::alias(function));
    *factor = ast::derived(*query, Some(alias));
    Ok(())
}

/// The description of a function that reads files, by which its arguments are bound. The files take the place of the
/// call, so its body is never run. The values of options are checked where the files are opened.
fn reader(name: &'static str, format: &str) -> Function {
    let options = FILE_OPTIONS.iter().find(|(known, _)| *known == format).map_or(&[][..], |(_, options)| *options);
    let options = options.iter().map(|option| Parameter::text(option, "").optional());
    let body = |_: &Call| -> datafusion::common::Result<Binding> { usage_error("a file stands in FROM") };
    Function::new(name, Body::Relation(Arc::new(body)))
        .parameters(std::iter::once(Parameter::text(FILE, "")).chain(options))
}

/// Whether the file is of this format by its name.
fn has_ending_of(file: &str, format: &str) -> bool {
    let plain = ["gz", "bz2", "xz", "zst"].iter().find_map(|end| file.strip_suffix(&format!(".{end}"))).unwrap_or(file);
    let last = plain.rsplit_once('.').map(|(_, last)| last.to_lowercase()).unwrap_or_default();
    match format {
        "csv" => ["csv", "tsv"].contains(&last.as_str()),
        "json" => ["json", "ndjson", "jsonl"].contains(&last.as_str()),
        format => last == format,
    }
}

/// An argument as our functions take it: `name = value`, as DuckDB writes it, is `name => value`, and an option has one
/// name.
fn by_parameter(arg: FunctionArg) -> FunctionArg {
    let mut arg = match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::BinaryOp { left, op: BinaryOperator::Eq, right }))
            if matches!(*left, Expr::Identifier(_)) =>
        {
            let (name, arg) = (*left, FunctionArgExpr::Expr(*right));
            FunctionArg::ExprNamed { name, arg, operator: FunctionArgOperator::RightArrow }
        }
        other => other,
    };
    if let FunctionArg::Named { name, .. } | FunctionArg::ExprNamed { name: Expr::Identifier(name), .. } = &mut arg
        && let Some((_, known)) = OTHER_NAMES.iter().find(|(other, _)| name.value.eq_ignore_ascii_case(other))
    {
        name.value = (*known).to_owned();
    }
    arg
}

/// The files of a call, and its options as `name=value`.
fn files_and_options(function: &Function, call: Span, given: &[FunctionArg]) -> Result<(Vec<String>, Vec<String>)> {
    let bound = arguments::bind(function, Place::From, call, given)?;
    let (mut files, mut options) = (Vec::new(), Vec::new());
    for (parameter, places) in bound.iter() {
        let Some(value) = places.first().map(|&at| arguments::value(&given[at])) else { continue };
        if parameter.name == FILE {
            files = paths(value).filter(|files| !files.is_empty()).ok_or_else(|| {
                let text = "takes the name of a file in single quotes, or a list of such names";
                Error::statement_at(value.span(), format!("{}: {FILE} {text}, not {value}", function.name))
            })?;
            continue;
        }
        match value {
            // As good as left out.
            FunctionArgExpr::Expr(Expr::Value(ValueWithSpan { value: Value::Null, .. })) => {}
            value => match literal(value).filter(|text| !text.contains(FILE_OPTION)) {
                Some(text) => options.push(format!("{}={text}", parameter.name)),
                None => arguments::not_constant(function, parameter.name, value)?,
            },
        }
    }
    Ok((files, options))
}

fn paths(value: &FunctionArgExpr) -> Option<Vec<String>> {
    match value {
        FunctionArgExpr::Expr(Expr::Array(list)) => list.elem.iter().map(path).collect(),
        FunctionArgExpr::Expr(expr) => path(expr).map(|path| vec![path]),
        _ => None,
    }
}

fn path(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(path), .. }) => Some(path.clone()),
        _ => None,
    }
}

/// The text of a literal.
fn literal(value: &FunctionArgExpr) -> Option<String> {
    match value {
        FunctionArgExpr::Expr(expr) => text_of(expr),
        _ => None,
    }
}

fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(ValueWithSpan { value, .. }) => match value {
            Value::SingleQuotedString(text) | Value::Number(text, _) => Some(text.clone()),
            Value::Boolean(value) => Some(value.to_string()),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => text_of(expr).map(|value| format!("-{value}")),
        _ => None,
    }
}
