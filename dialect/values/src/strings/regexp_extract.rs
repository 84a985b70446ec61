//! `regexp_extract(text, pattern [, group [, options]])`: the first match of a regular expression.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/14280>
//! Shows: `SELECT regexp_extract('a1b22', '[0-9]+')` gives `1`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, scalar_function};
use datafusion::common::Result;
use regex::{Regex, RegexBuilder};

/// The registration of `regexp_extract`.
pub(crate) fn regexp_extract() -> Function {
    scalar_function("regexp_extract", DataType::Utf8, extract)
        .parameters([
            Parameter::column("text", "The text that is searched."),
            Parameter::column("pattern", "The regular expression, as regexp_like takes it."),
            Parameter::column(
                "group",
                "The group in parentheses to answer, from 1; 0, as if left out, for the whole match.",
            )
            .optional(),
            Parameter::column("options", "i: letters of either case match; s: a dot matches the end of a line.")
                .optional(),
        ])
        .returns("TEXT")
        .description(
            "The first match of a regular expression in a text, or one of its groups. Empty if nothing matches, or the \
             pattern has no such group. NULL for NULL.",
        )
        .example("SELECT regexp_extract('abc123', '([a-z]+)([0-9]+)', 2)")
        .source("DuckDB, regular expressions")
}

/// The matches of rows.
fn extract(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let text = |at: usize| cast(&columns[at], &DataType::Utf8);
    let (texts, patterns, options) = (text(0)?, text(1)?, text(3)?);
    let (texts, patterns, options) =
        (texts.as_string::<i32>(), patterns.as_string::<i32>(), options.as_string::<i32>());
    let groups = cast(&columns[2], &DataType::Int64)?;
    let groups = groups.as_primitive::<Int64Type>();
    // The pattern is nearly always a constant, and compiled once.
    let mut known: Option<(&str, &str, Regex)> = None;
    let mut found = StringBuilder::new();
    for row in 0..texts.len() {
        if texts.is_null(row) || patterns.is_null(row) {
            found.append_null();
            continue;
        }
        let (pattern, flags) = (patterns.value(row), if options.is_null(row) { "" } else { options.value(row) });
        let regex = match known.take() {
            Some((same, by, regex)) if same == pattern && by == flags => regex,
            _ => compile("regexp_extract", pattern, flags)?,
        };
        let group = if groups.is_null(row) { 0 } else { groups.value(row) };
        let Ok(group) = usize::try_from(group) else {
            return Err(execution_error(format!(
                "regexp_extract: group is {group}; 0 is the whole match, 1 the first group"
            )));
        };
        let matched = match group {
            0 => regex.find(texts.value(row)),
            group => regex.captures(texts.value(row)).and_then(|groups| groups.get(group)),
        };
        found.append_value(matched.map_or("", |matched| matched.as_str()));
        known = Some((pattern, flags, regex));
    }
    Ok(Arc::new(found.finish()))
}

/// The regular expression of a pattern, for a function of this name.
pub(crate) fn compile(function: &str, pattern: &str, options: &str) -> Result<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    for option in options.chars() {
        match option {
            'i' => builder.case_insensitive(true),
            's' => builder.dot_matches_new_line(true),
            'c' => builder.case_insensitive(false),
            other => {
                return Err(execution_error(format!("{function}: there is no option '{other}': i, c or s")));
            }
        };
    }
    builder.build().map_err(|error| {
        // The error's last line says what is wrong; those before draw where.
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        execution_error(format!("{function}: '{pattern}' is no regular expression: {reason}"))
    })
}
