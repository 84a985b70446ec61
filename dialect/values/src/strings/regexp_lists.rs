//! `regexp_extract_all`, `regexp_split_to_array` and `regexp_full_match`: all matches of a regular expression, what is
//! between them, and whether the whole text is one.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/13050>
//! Shows: `SELECT regexp_full_match('abc', 'a.')` gives `false`
//! Shows: `SELECT regexp_extract_all('a1b22', '[0-9]+')[2]` gives `22`
//! Shows: `SELECT regexp_split_to_array('a1b22c', '[0-9]+')[3]` gives `c`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanBuilder, Int64Array, ListBuilder, StringArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, scalar_function};
use datafusion::common::Result;
use regex::Regex;

use crate::strings::regexp_extract::compile;
use crate::whole_numbers::whole_numbers;

/// The registrations.
pub(crate) fn functions() -> [Function; 3] {
    let text = || Parameter::column("text", "The text that is searched.");
    let pattern = || Parameter::column("pattern", "The regular expression, as regexp_like takes it.");
    let options = || {
        Parameter::column("options", "i: letters of either case match; s: a dot matches the end of a line.").optional()
    };
    let group = Parameter::column(
        "group",
        "The group in parentheses to answer, from 1; 0, as if left out, for the whole match.",
    );
    let texts = || DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
    [
        scalar_function("regexp_extract_all", texts(), extract_all)
            .parameters([text(), pattern(), group.optional(), options()])
            .returns("TEXT[]")
            .description(
                "All matches of a regular expression in a text, from left to right and without overlap, or of one of its \
                 groups: NULL where a match leaves the group out. Empty if nothing matches. NULL for NULL.",
            )
            .example("SELECT regexp_extract_all('a1b22', '[0-9]+')")
            .source("DuckDB, regular expressions"),
        scalar_function("regexp_split_to_array", texts(), split)
            .parameters([text(), pattern(), options()])
            .returns("TEXT[]")
            .description(
                "The texts between the matches of a regular expression. A match of nothing splits between characters. NULL \
                 for NULL; of a NULL pattern the text alone. Also string_split_regex.",
            )
            .example("SELECT regexp_split_to_array('a1b22c', '[0-9]+')")
            .source("DuckDB, regular expressions; PostgreSQL 17, Table 9.10"),
        scalar_function("regexp_full_match", DataType::Boolean, full_match)
            .parameters([text(), pattern(), options()])
            .returns("BOOLEAN")
            .description("Whether a regular expression matches a text as a whole. NULL for NULL.")
            .example("SELECT regexp_full_match('a1', '[a-z][0-9]')")
            .source("DuckDB, regular expressions"),
    ]
}

/// The arguments of rows, and the regular expression of the last one.
struct Rows {
    function: &'static str,
    texts: StringArray,
    patterns: StringArray,
    options: StringArray,
    /// The pattern is nearly always a constant, and compiled once.
    known: Option<(String, String, Regex)>,
}

impl Rows {
    fn new(function: &'static str, columns: &[ArrayRef], options: usize) -> Result<Self> {
        let text = |at: usize| {
            Ok::<_, datafusion::common::DataFusionError>(
                cast(&columns[at], &DataType::Utf8)?.as_string::<i32>().clone(),
            )
        };
        Ok(Self { function, texts: text(0)?, patterns: text(1)?, options: text(options)?, known: None })
    }

    fn text(&self, row: usize) -> Option<&str> {
        self.texts.is_valid(row).then(|| self.texts.value(row))
    }

    /// The text and the regular expression of a row, made of the pattern by `make`; `None` where one is NULL.
    fn get(&mut self, row: usize, make: impl Fn(&str) -> String) -> Result<Option<(&str, &Regex)>> {
        if self.texts.is_null(row) || self.patterns.is_null(row) {
            return Ok(None);
        }
        let pattern = self.patterns.value(row);
        let options = if self.options.is_null(row) { "" } else { self.options.value(row) };
        if !self.known.as_ref().is_some_and(|(same, by, _)| same == pattern && by == options) {
            // What is wrong with a pattern is said of the pattern as it was given.
            let given = compile(self.function, pattern, options)?;
            let made = make(pattern);
            let regex = if made == pattern { given } else { compile(self.function, &made, options)? };
            self.known = Some((pattern.to_owned(), options.to_owned(), regex));
        }
        Ok(self.known.as_ref().map(|(_, _, regex)| (self.texts.value(row), regex)))
    }
}

fn extract_all(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let mut rows = Rows::new("regexp_extract_all", columns, 3)?;
    let groups: Int64Array = whole_numbers("regexp_extract_all", "group", &columns[2])?;
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in 0..groups.len() {
        let group = if groups.is_null(row) { 0 } else { groups.value(row) };
        let Some((text, regex)) = rows.get(row, str::to_owned)? else {
            lists.append_null();
            continue;
        };
        let known = regex.captures_len() - 1;
        let Some(group) = usize::try_from(group).ok().filter(|group| *group <= known) else {
            return Err(execution_error(format!(
                "regexp_extract_all: group is {group}; the pattern has {known} of them"
            )));
        };
        match group {
            0 => regex.find_iter(text).for_each(|matched| lists.values().append_value(matched.as_str())),
            _ => regex.captures_iter(text).for_each(|groups| {
                lists.values().append_option(groups.get(group).map(|matched| matched.as_str()));
            }),
        }
        lists.append(true);
    }
    Ok(Arc::new(lists.finish()))
}

fn split(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let mut rows = Rows::new("regexp_split_to_array", columns, 2)?;
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in 0..columns[0].len() {
        match rows.get(row, str::to_owned)? {
            Some((text, regex)) => {
                let mut start = 0;
                // Nothing at either end of the text, or behind a match, is no border.
                for matched in regex.find_iter(text) {
                    if matched.is_empty() && (matched.start() == start || matched.end() == text.len()) {
                        continue;
                    }
                    lists.values().append_value(&text[start..matched.start()]);
                    start = matched.end();
                }
                lists.values().append_value(&text[start..]);
                lists.append(true);
            }
            None => match rows.text(row) {
                Some(text) => {
                    lists.values().append_value(text);
                    lists.append(true);
                }
                None => lists.append_null(),
            },
        }
    }
    Ok(Arc::new(lists.finish()))
}

fn full_match(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let mut rows = Rows::new("regexp_full_match", columns, 2)?;
    let mut matches = BooleanBuilder::with_capacity(columns[0].len());
    for row in 0..columns[0].len() {
        let whole = rows.get(row, |pattern| format!("\\A(?:{pattern})\\z"))?;
        matches.append_option(whole.map(|(text, regex)| regex.is_match(text)));
    }
    Ok(Arc::new(matches.finish()))
}
