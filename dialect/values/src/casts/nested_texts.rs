//! Casts of lists, structs and maps to text, as DuckDB writes them: `{'a': 1, 'b': [x, NULL]}`, `{k=v}`. DataFusion 55 casts lists
//! alone, and their NULLs and empty texts to nothing.
//!
//! Upstream: none known
//! Shows: `SELECT CAST(['a', NULL] AS VARCHAR)` gives `[a, NULL]`
//! Shows: `SELECT CAST(named_struct('a', 1, 'b', 'x') AS VARCHAR)` gives `{'a': 1, 'b': x}`

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, LargeStringArray, StringViewBuilder};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarUDF};

use crate::casts::nested_types::is_nested;
use crate::casts::times_as_texts;
use crate::same_type_function::{Kernel, by_column};
use crate::strings::concatenation::is_text;

/// The signs of the syntax, which a text is quoted for.
const SIGNS: &[char] = &['"', '\'', '(', ')', ',', ':', '=', '[', '\\', ']', '{', '}'];

/// The function, which plans refer to by name.
pub(crate) fn function() -> ScalarUDF {
    NestedText.function()
}

/// The text of a nested value that is cast to this type; `None` for other values and types.
pub(crate) fn text(value: &Expr, from: &DataType, to: &DataType) -> Option<Expr> {
    (is_nested(from) && is_text(to)).then(|| function().call(vec![value.clone()]))
}

/// The text of a list, struct or map.
#[derive(Debug, PartialEq, Eq, Hash)]
struct NestedText;

impl Kernel for NestedText {
    fn name(&self) -> &str {
        "text_of_nested"
    }

    fn column_name(arg: &Expr) -> String {
        arg.schema_name().to_string()
    }

    fn field(&self, arg: &FieldRef) -> FieldRef {
        Arc::new(Field::new(self.name(), DataType::Utf8View, arg.is_nullable()))
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn evaluate(&self, arg: &ColumnarValue, _: usize) -> Result<ColumnarValue> {
        by_column(arg, texts)
    }
}

fn texts(values: &ArrayRef) -> Result<ArrayRef> {
    let parts = Parts::of(values)?;
    let mut texts = StringViewBuilder::with_capacity(values.len());
    let mut text = String::new();
    for row in 0..values.len() {
        text.clear();
        match values.is_valid(row) {
            true => {
                let written = parts.write(row, &mut text);
                written.map_err(|_| exec_datafusion_err!("a nested value cannot be written as a text"))?;
                texts.append_value(&text);
            }
            false => texts.append_null(),
        }
    }
    Ok(Arc::new(texts.finish()))
}

/// A column of values with the texts of what is inside.
enum Parts {
    Plain(LargeStringArray),
    List { nulls: Option<NullBuffer>, items: Box<Parts>, places: Vec<Range<usize>> },
    Struct { nulls: Option<NullBuffer>, fields: Vec<(String, Parts)> },
    Map { nulls: Option<NullBuffer>, entries: Box<[Parts; 2]>, places: Vec<Range<usize>> },
}

impl Parts {
    fn of(values: &ArrayRef) -> Result<Self> {
        let nulls = values.nulls().cloned();
        Ok(match values.data_type() {
            DataType::List(_) => {
                let lists = values.as_list::<i32>();
                let places = places(lists.value_offsets().iter().map(|offset| *offset as usize));
                Self::List { nulls, items: Box::new(Self::of(lists.values())?), places }
            }
            DataType::LargeList(_) => {
                let lists = values.as_list::<i64>();
                let places = places(lists.value_offsets().iter().map(|offset| *offset as usize));
                Self::List { nulls, items: Box::new(Self::of(lists.values())?), places }
            }
            DataType::FixedSizeList(_, size) => {
                let lists = values.as_fixed_size_list();
                let places = places((0..=values.len()).map(|row| row * *size as usize));
                Self::List { nulls, items: Box::new(Self::of(lists.values())?), places }
            }
            DataType::Struct(fields) => {
                let columns = fields.iter().zip(values.as_struct().columns());
                let fields = columns.map(|(field, column)| Ok((quoted(field.name()), Self::of(column)?)));
                Self::Struct { nulls, fields: fields.collect::<Result<_>>()? }
            }
            DataType::Map(..) => {
                let maps = values.as_map();
                let places = places(maps.value_offsets().iter().map(|offset| *offset as usize));
                Self::Map { nulls, entries: Box::new([Self::of(maps.keys())?, Self::of(maps.values())?]), places }
            }
            _ => Self::Plain(times_as_texts::texts(values)?),
        })
    }

    fn write(&self, row: usize, out: &mut String) -> std::fmt::Result {
        let nulls = match self {
            Self::Plain(texts) => texts.nulls(),
            Self::List { nulls, .. } | Self::Struct { nulls, .. } | Self::Map { nulls, .. } => nulls.as_ref(),
        };
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return out.write_str("NULL");
        }
        match self {
            Self::Plain(texts) if needs_quotes(texts.value(row)) => write!(out, "{}", quoted(texts.value(row))),
            Self::Plain(texts) => out.write_str(texts.value(row)),
            Self::List { items, places, .. } => {
                out.push('[');
                for (at, item) in places[row].clone().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    items.write(item, out)?;
                }
                out.write_char(']')
            }
            Self::Struct { fields, .. } => {
                out.push('{');
                for (at, (name, values)) in fields.iter().enumerate() {
                    write!(out, "{}{name}: ", if at > 0 { ", " } else { "" })?;
                    values.write(row, out)?;
                }
                out.write_char('}')
            }
            Self::Map { entries, places, .. } => {
                let [keys, values] = entries.as_ref();
                out.push('{');
                for (at, entry) in places[row].clone().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    keys.write(entry, out)?;
                    out.push('=');
                    values.write(entry, out)?;
                }
                out.write_char('}')
            }
        }
    }
}

fn places(offsets: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let offsets: Vec<usize> = offsets.collect();
    offsets.windows(2).map(|ends| ends[0]..ends[1]).collect()
}

/// Whether a text would be read as something else.
fn needs_quotes(text: &str) -> bool {
    text.is_empty()
        || text.starts_with(' ')
        || text.ends_with(' ')
        || text.eq_ignore_ascii_case("null")
        || text.contains(SIGNS)
}

fn quoted(text: &str) -> String {
    let mut quoted = "'".to_owned();
    for sign in text.chars() {
        if matches!(sign, '\'' | '\\') {
            quoted.push('\\');
        }
        quoted.push(sign);
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    // As DuckDB 2.0 answers.
    #[test]
    fn texts_are_quoted_where_they_would_be_read_otherwise() {
        for text in ["a", "b c", "1", "true", "ünï", "a;b", "a\nb", "x.y"] {
            assert!(!needs_quotes(text), "{text}");
        }
        for (text, expected) in
            [("", "''"), (" x", "' x'"), ("NULL", "'NULL'"), ("it's", r"'it\'s'"), (r"a\", r"'a\\'"), ("\"", "'\"'")]
        {
            assert!(needs_quotes(text) && quoted(text) == expected, "{text}: {}", quoted(text));
        }
    }
}
