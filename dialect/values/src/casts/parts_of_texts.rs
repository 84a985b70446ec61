//! Casts of texts to lists, structs and maps: `'[1, 2]'::int[]`, `'{a: 1}'::struct(a int)`, as in DuckDB. DataFusion 55 takes the
//! whole text as the item of a list.
//!
//! Upstream: none known
//! Shows: `SELECT CAST('[1, 2]' AS INT[])[2]` gives `2`

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, LargeStringArray, LargeStringBuilder, ListArray, MapArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::casts::nested_syntax::{entries, items, plain};
use crate::casts::nested_types::is_nested;
use crate::casts::text_casts::TextForm;
use crate::names::type_names::sql_name;
use crate::same_type_function::by_column;
use crate::strings::concatenation::is_text;

/// A text on its way to a nested type, as a value of that type with texts inside, which DataFusion casts; `None` for other
/// casts. A text that is no such value is an error, or NULL in TRY_CAST.
pub(crate) fn parts(text: &Expr, from: &DataType, to: &DataType, is_tried: bool) -> Option<Expr> {
    if !is_text(from) || !is_nested(to) {
        return None;
    }
    let target = Expr::Literal(ScalarValue::try_new_null(to).ok()?, None);
    Some(functions()[usize::from(is_tried)].call(vec![text.clone(), target]))
}

/// The functions of a text and a NULL of the type: one that fails, and one that answers NULL.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 2] {
    let signature = || Signature::any(2, Volatility::Immutable);
    [false, true].map(|is_tried| Arc::new(ScalarUDF::new_from_impl(PartsOfTexts { is_tried, signature: signature() })))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PartsOfTexts {
    is_tried: bool,
    signature: Signature,
}

impl PartsOfTexts {
    fn read(&self, texts: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
        let texts = cast(texts, &DataType::LargeUtf8)?;
        let mut parts = Parts::of(to);
        for text in texts.as_string::<i64>() {
            if !parts.push(text)? && !self.is_tried {
                return exec_err!(
                    "cannot read '{}' as {}: expected {}; TRY_CAST gives NULL",
                    shortened(text.unwrap_or_default()),
                    sql_name(to),
                    example(to)
                );
            }
        }
        parts.finish(to)
    }
}

impl ScalarUDFImpl for PartsOfTexts {
    fn name(&self) -> &str {
        if self.is_tried { "parts_of_text_or_null" } else { "parts_of_text" }
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.iter().take(1).map(|arg| arg.schema_name().to_string()).collect())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(of_texts(&given[1]))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let nullable = self.is_tried || args.arg_fields[0].is_nullable();
        Ok(Arc::new(Field::new(self.name(), of_texts(args.arg_fields[1].data_type()), nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let to = args.arg_fields[1].data_type();
        by_column(&args.args[0], |texts| self.read(texts, to))
    }
}

/// The type with texts in the place of what is not nested.
fn of_texts(to: &DataType) -> DataType {
    let inside = |field: &FieldRef| Arc::new(field.as_ref().clone().with_data_type(of_texts(field.data_type())));
    match to {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            DataType::List(Arc::new(inside(item).as_ref().clone().with_nullable(true)))
        }
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(|field| inside(field).as_ref().clone().with_nullable(true)).collect())
        }
        DataType::Map(entries, sorted) => match entries.data_type() {
            DataType::Struct(fields) => {
                let fields = fields.iter().map(inside).collect();
                let entries = entries.as_ref().clone().with_data_type(DataType::Struct(fields));
                DataType::Map(Arc::new(entries), *sorted)
            }
            _ => to.clone(),
        },
        _ => DataType::LargeUtf8,
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

fn example(to: &DataType) -> &'static str {
    match to {
        DataType::Struct(_) => "{field: value, ...} with the fields of the type",
        DataType::Map(..) => "{key=value, ...} with keys of its type, none twice",
        _ => "[item, item, ...]",
    }
}

/// A column that is built, with texts in the place of what is not nested.
enum Parts {
    Plain { form: Option<TextForm>, texts: LargeStringBuilder },
    List { ends: Vec<i32>, valid: Vec<bool>, items: Box<Parts> },
    Struct { valid: Vec<bool>, fields: Vec<(String, Parts)> },
    Map { ends: Vec<i32>, valid: Vec<bool>, entries: Box<[Parts; 2]>, key: DataType },
}

impl Parts {
    fn of(to: &DataType) -> Self {
        let (ends, valid) = (vec![0], Vec::new());
        match to {
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                Self::List { ends, valid, items: Box::new(Self::of(item.data_type())) }
            }
            DataType::Struct(fields) => {
                let fields = fields.iter().map(|field| (field.name().clone(), Self::of(field.data_type())));
                Self::Struct { valid, fields: fields.collect() }
            }
            DataType::Map(pairs, _) => match pairs.data_type() {
                DataType::Struct(fields) if fields.len() == 2 => {
                    let entries = Box::new([0, 1].map(|at| Self::of(fields[at].data_type())));
                    Self::Map { ends, valid, entries, key: fields[0].data_type().clone() }
                }
                _ => Self::of(&DataType::Utf8),
            },
            other => Self::Plain { form: TextForm::of(other), texts: LargeStringBuilder::new() },
        }
    }

    /// Adds a value, NULL for a text that is none of this type; whether it was one, with all of its parts.
    fn push(&mut self, text: Option<&str>) -> Result<bool> {
        let given = text.filter(|text| !text.trim().eq_ignore_ascii_case("null"));
        match self {
            Self::Plain { form, texts } => {
                let plain = text.and_then(plain);
                let formed = plain.as_deref().and_then(|text| form.as_ref()?.apply(text));
                texts.append_option(formed.as_deref().or(plain.as_deref()));
                Ok(true)
            }
            Self::List { ends, valid, items: parts } => {
                let found = given.map(items);
                let mut all = !matches!(found, Some(None));
                let found = found.flatten();
                valid.push(found.is_some());
                for item in found.iter().flatten() {
                    all &= parts.push(Some(item))?;
                }
                ends.push(end(ends, found.map_or(0, |items| items.len()))?);
                Ok(all)
            }
            Self::Struct { valid, fields } => {
                let found = given.map(|text| of_fields(text, fields));
                let mut all = !matches!(found, Some(None));
                let found = found.flatten();
                valid.push(found.is_some());
                for (at, (_, parts)) in fields.iter_mut().enumerate() {
                    all &= parts.push(found.as_ref().and_then(|values| values[at]))?;
                }
                Ok(all)
            }
            Self::Map { ends, valid, entries, key } => {
                let found = given.map(|text| of_keys(text, key));
                let mut all = !matches!(found, Some(None));
                let found = found.flatten();
                valid.push(found.is_some());
                let [keys, values] = entries.as_mut();
                for (key, value) in found.iter().flatten() {
                    all &= keys.push(Some(key))? & values.push(Some(value))?;
                }
                ends.push(end(ends, found.map_or(0, |entries| entries.len()))?);
                Ok(all)
            }
        }
    }

    fn finish(self, to: &DataType) -> Result<ArrayRef> {
        let nulls = |valid: Vec<bool>| Some(NullBuffer::from(valid)).filter(|nulls| nulls.null_count() > 0);
        let offsets = |ends: Vec<i32>| OffsetBuffer::new(ends.into());
        Ok(match (self, to, of_texts(to)) {
            (
                Self::List { ends, valid, items },
                DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _),
                DataType::List(field),
            ) => {
                let items = items.finish(item.data_type())?;
                Arc::new(ListArray::try_new(field, offsets(ends), items, nulls(valid))?)
            }
            (Self::Struct { valid, fields: parts }, DataType::Struct(targets), DataType::Struct(fields)) => {
                let columns = parts.into_iter().zip(targets).map(|((_, parts), to)| parts.finish(to.data_type()));
                let (columns, rows) = (columns.collect::<Result<Vec<_>>>()?, valid.len());
                Arc::new(StructArray::try_new_with_length(fields, columns, nulls(valid), rows)?)
            }
            (Self::Map { ends, valid, entries, .. }, DataType::Map(target, _), DataType::Map(pairs, sorted)) => {
                let (DataType::Struct(targets), DataType::Struct(fields)) = (target.data_type(), pairs.data_type())
                else {
                    return exec_err!("a map without keys and values");
                };
                let [keys, values] = *entries;
                let columns = vec![keys.finish(targets[0].data_type())?, values.finish(targets[1].data_type())?];
                let both = StructArray::try_new(fields.clone(), columns, None)?;
                Arc::new(MapArray::try_new(Arc::clone(&pairs), offsets(ends), both, nulls(valid), sorted)?)
            }
            (Self::Plain { mut texts, .. }, ..) => Arc::new(texts.finish()) as Arc<LargeStringArray>,
            _ => return exec_err!("a text is not cast to this type"),
        })
    }
}

/// Where the items of a row end.
fn end(ends: &[i32], more: usize) -> Result<i32> {
    let end = i32::try_from(more).ok().and_then(|more| ends.last()?.checked_add(more));
    end.ok_or_else(|| exec_datafusion_err!("the lists of these texts have more than 2,147,483,647 items together"))
}

/// The values of the fields, none for what is not named; `None` for what is no struct, or has other fields.
fn of_fields<'a>(text: &'a str, fields: &[(String, Parts)]) -> Option<Vec<Option<&'a str>>> {
    let mut values = vec![None; fields.len()];
    for (key, value) in entries(text, ':')? {
        let key = plain(key)?;
        let at = fields.iter().position(|(name, _)| *name == key)?;
        values[at] = Some(value);
    }
    Some(values)
}

/// The keys and values of a map; `None` for what is no map, and where a key is NULL, there twice or none of its type.
fn of_keys<'a>(text: &'a str, data_type: &DataType) -> Option<Vec<(&'a str, &'a str)>> {
    let found = entries(text, '=')?;
    let mut keys = HashSet::new();
    let fits = |key: &str| match TextForm::of(data_type).and_then(|form| form.apply(key)) {
        Some(formed) => ScalarValue::from(formed.as_ref()).cast_to(data_type).is_ok(),
        None => is_nested(data_type) || ScalarValue::from(key).cast_to(data_type).is_ok(),
    };
    found.iter().all(|(key, _)| plain(key).is_some_and(|key| fits(&key) && keys.insert(key))).then_some(found)
}
