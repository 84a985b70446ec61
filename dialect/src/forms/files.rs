//! `read_csv('f', delim = ';')` and its like: files in FROM, with their format and options.
//!
//! Upstream: none known
//! Given: `COPY (SELECT 1 AS a, 2 AS b) TO '{dir}/rows.csv' STORED AS CSV OPTIONS ('format.delimiter' ';')`
//! Shows: `SELECT * FROM read_csv('{dir}/rows.csv', delim = ';')` gives `1 | 2`

use std::sync::Arc;

use bonnet_common::{FILE_OPTIONS, FileCall};
use bonnet_sql::{Binding, Body, Call, Function, Parameter, Place, arguments, usage_error};
use datafusion::sql::sqlparser::ast::{
    Array, BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArgOperator, Ident, ObjectName, Spanned,
    TableFactor, TableFunctionArgs, UnaryOperator, Value, ValueWithSpan,
};
use datafusion::sql::sqlparser::tokenizer::Span;

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

/// Writes such a call in one way, so that it is read the same once more: its file or files, and its options as strings. One
/// file without options is a table of its name.
///
/// # Errors
/// If the arguments do not fit the function, or one is not written out.
pub(crate) fn read(factor: &mut TableFactor) -> Result<()> {
    let Some(call) = call(factor)? else { return Ok(()) };
    let TableFactor::Table { name, args, alias, .. } = factor else { return Ok(()) };
    if let [file] = call.paths.as_slice()
        && call.options.is_empty()
        && has_extension_of(file, call.format)
    {
        if let Some(function) = ast::function_name(name) {
            alias.get_or_insert_with(|| ast::alias(function));
        }
        *name = ObjectName::from(vec![Ident::with_quote('\'', file)]);
        *args = None;
        return Ok(());
    }
    let files = match call.paths.as_slice() {
        [file] => ast::text(file),
        files => Expr::Array(Array { elem: files.iter().map(ast::text).collect(), named: false }),
    };
    let options = call.options.iter().map(|(name, value)| FunctionArg::Named {
        name: Ident::new(name),
        arg: FunctionArgExpr::Expr(ast::text(value)),
        operator: FunctionArgOperator::RightArrow,
    });
    let files = FunctionArg::Unnamed(FunctionArgExpr::Expr(files));
    *args = Some(TableFunctionArgs { args: std::iter::once(files).chain(options).collect(), settings: None });
    Ok(())
}

/// The files that such a call reads; `None` for anything else.
///
/// # Errors
/// As [`read`].
pub(crate) fn call(factor: &TableFactor) -> Result<Option<FileCall>> {
    let TableFactor::Table { name, args: Some(given), .. } = factor else { return Ok(None) };
    let called = ast::function_name(name);
    let Some((function, format)) = READERS.into_iter().find(|(reader, _)| called.as_deref() == Some(*reader)) else {
        return Ok(None);
    };
    let given: Vec<FunctionArg> = given.args.iter().cloned().map(by_parameter).collect();
    Ok(Some(bound(&reader(function, format), format, name.span(), &given)?))
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
fn has_extension_of(file: &str, format: &str) -> bool {
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

/// What a call of a function of this format reads.
fn bound(function: &Function, format: &'static str, call: Span, given: &[FunctionArg]) -> Result<FileCall> {
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
            value => match literal(value) {
                Some(text) => options.push((parameter.name.to_owned(), text)),
                None => arguments::not_constant(function, parameter.name, value)?,
            },
        }
    }
    Ok(FileCall { paths: files, format, options })
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
