//! `read_csv('f', delim = ';')` and its like: a file in FROM, whose table's name carries the format and the options.

use std::fmt::Display;

use bonnet_catalogs::{FILE_OPTION, FILE_OPTIONS};
use bonnet_sql::arguments::position;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArgOperator, Ident, ObjectName, Spanned, TableFactor,
    TableFunctionArgs, Value, ValueWithSpan,
};
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::Span;

use super::ast;
use super::dialect::BonnetDialect;

/// Options that DuckDB knows by several names.
const OTHER_NAMES: [(&str, &str); 2] = [("sep", "delim"), ("delimiter", "delim")];

/// Reads such a call as the file, or as the files one after another.
///
/// # Errors
/// The text of a refusal: an option that there is not, or a value that is no constant.
pub(super) fn read(factor: &mut TableFactor) -> Result<(), String> {
    let TableFactor::Table { name, args, alias, .. } = factor else { return Ok(()) };
    let function = ast::function_name(name);
    let format = match function.as_deref() {
        Some("read_csv" | "read_csv_auto") => "csv",
        Some("read_parquet" | "parquet_scan") => "parquet",
        Some("read_json" | "read_json_auto" | "read_ndjson") => "json",
        _ => return Ok(()),
    };
    let (Some(function), Some(given)) = (function, args.take()) else { return Ok(()) };
    let (files, options) = arguments(&function, name.span(), format, &given)?;
    let named = |file: &str| match options.is_empty() && ends_so(file, format) {
        true => file.to_owned(),
        false => options
            .iter()
            .fold(format!("{file}{FILE_OPTION}{format}"), |name, option| format!("{name}{FILE_OPTION}{option}")),
    };
    if let [file] = files.as_slice() {
        *name = ObjectName::from(vec![Ident::with_quote('\'', named(file))]);
        if alias.is_none() {
            *alias = Some(ast::alias(&function));
        }
        return Ok(());
    }
    let queries: Vec<String> = files.iter().map(|file| format!("SELECT * FROM {}", ast::text(named(file)))).collect();
    let query = Parser::new(&BonnetDialect).try_with_sql(&queries.join(" UNION ALL "));
    let query = query.and_then(|mut parser| parser.parse_query()).map_err(|error| format!("{function}: {error}"))?;
    let alias = alias.take().unwrap_or_else(|| ast::alias(&function));
    *factor = ast::derived(*query, Some(alias));
    Ok(())
}

/// Whether the file is of this format by its name.
fn ends_so(file: &str, format: &str) -> bool {
    let plain = ["gz", "bz2", "xz", "zst"].iter().find_map(|end| file.strip_suffix(&format!(".{end}"))).unwrap_or(file);
    let last = plain.rsplit_once('.').map(|(_, last)| last.to_lowercase()).unwrap_or_default();
    match format {
        "csv" => ["csv", "tsv"].contains(&last.as_str()),
        "json" => ["json", "ndjson", "jsonl"].contains(&last.as_str()),
        format => last == format,
    }
}

/// The files of a call, and its options as `name=value`. Errors are worded as those of functions' arguments.
fn arguments(
    function: &str,
    call: Span,
    format: &str,
    given: &TableFunctionArgs,
) -> Result<(Vec<String>, Vec<String>), String> {
    let known = FILE_OPTIONS.iter().find(|(name, _)| *name == format).map_or(&[][..], |(_, options)| *options);
    let refuse = |at: Span, text: String| Err(format!("{function}: {text}{}", position(at)));
    let unknown = |at: Span, name: &dyn Display| {
        refuse(at, format!("there is no argument {name}; it takes: {}", known.join(", ")))
    };
    let (mut files, mut options) = (Vec::new(), Vec::new());
    for (i, arg) in given.args.iter().enumerate() {
        let (name, value) = match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(file)) if i == 0 => {
                files = match paths(file) {
                    Some(files) => files,
                    None => {
                        let text = "takes the name of a file in single quotes, or a list of such names";
                        return Err(format!("{function} {text}, not {file}{}", position(file.span())));
                    }
                };
                continue;
            }
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), operator }
                if *operator != FunctionArgOperator::Colon =>
            {
                (name, value)
            }
            FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::BinaryOp { left, op: BinaryOperator::Eq, right })) => {
                match left.as_ref() {
                    Expr::Identifier(name) => (name, right.as_ref()),
                    other => return unknown(other.span(), other),
                }
            }
            other => return unknown(other.span(), other),
        };
        let at = name.span;
        let name = ast::normalized(name);
        let name = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, name)| (*name).to_owned());
        if !known.contains(&name.as_str()) {
            return unknown(at, &name);
        }
        if options.iter().any(|option: &String| option.starts_with(&format!("{name}="))) {
            return refuse(at, format!("{name} is given twice"));
        }
        match constant(value).filter(|value| !value.contains(FILE_OPTION)) {
            Some(value) => options.push(format!("{name}={value}")),
            None => return refuse(value.span(), format!("{name} must be a constant, not {value}")),
        }
    }
    match files.is_empty() {
        true => Err(format!("{function} takes the name of a file in single quotes{}", position(call))),
        false => Ok((files, options)),
    }
}

fn paths(expr: &Expr) -> Option<Vec<String>> {
    match expr {
        Expr::Array(list) => list.elem.iter().map(path).collect(),
        expr => path(expr).map(|path| vec![path]),
    }
}

fn path(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(path), .. }) => Some(path.clone()),
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(ValueWithSpan { value, .. }) => match value {
            Value::SingleQuotedString(text) | Value::Number(text, _) => Some(text.clone()),
            Value::Boolean(value) => Some(value.to_string()),
            _ => None,
        },
        Expr::UnaryOp { op: datafusion::sql::sqlparser::ast::UnaryOperator::Minus, expr } => {
            constant(expr).map(|value| format!("-{value}"))
        }
        _ => None,
    }
}
