//! Functions of PostgreSQL's that look something up in the catalog by its number.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, ListBuilder, StringArray, StringBuilder};
use arrow::datatypes::{DataType, Field, Int64Type};
use bonnet_dialect::syntax::tree::ast::identifier;
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::prelude::SessionContext;

use super::objects::{Function, Objects};
use crate::types;

/// The names under which [`super::rewrite`] calls them, each with a BIGINT.
pub(super) const FORMAT_TYPE: &str = "format_type";
pub(super) const IS_VISIBLE: &str = "pg_table_is_visible";
pub(super) const RELATION_NAME: &str = "regclass";
pub(super) const VIEW_DEFINITION: &str = "pg_get_viewdef";
pub(super) const ARGUMENTS: &str = "pg_get_function_arguments";
pub(super) const RESULT: &str = "pg_get_function_result";
pub(super) const DEFINITION: &str = "pg_get_functiondef";

/// Those of a text.
pub(super) const QUOTED: &str = "quote_ident";
pub(super) const PARTS: &str = "parse_ident";
pub(super) const LITERAL: &str = "quote_literal";
pub(super) const NULLABLE: &str = "quote_nullable";

/// Makes the functions known to the context.
pub(super) fn register(context: &SessionContext, objects: Objects) {
    let formats = types::TYPES.iter().flat_map(|known| {
        [(i64::from(known.oid), known.sql.to_owned()), (i64::from(known.array), format!("{}[]", known.sql))]
    });
    text(context, FORMAT_TYPE, formats.collect());
    let relations = objects.relations.iter();
    text(context, RELATION_NAME, relations.map(|relation| (relation.oid, objects.name_of(relation))).collect());
    let definitions = objects.relations.iter().filter_map(|view| Some((view.oid, view.definition.clone()?)));
    text(context, VIEW_DEFINITION, definitions.collect());
    let functions = || objects.functions.iter();
    text(context, ARGUMENTS, functions().map(|function| (function.oid, function.arguments.clone())).collect());
    text(context, RESULT, functions().map(|function| (function.oid, function.result.clone())).collect());
    text(context, DEFINITION, functions().map(|function| (function.oid, definition(function))).collect());
    let quoted = |name: &str| Some(identifier(name));
    of_text(context, QUOTED, DataType::Utf8, move |texts| {
        Arc::new(texts.iter().map(|name| name.and_then(quoted)).collect::<StringArray>())
    });
    let literal = |value: &str| format!("'{}'", value.replace('\'', "''"));
    of_text(context, LITERAL, DataType::Utf8, move |texts| {
        Arc::new(texts.iter().map(|value| value.map(literal)).collect::<StringArray>())
    });
    of_text(context, NULLABLE, DataType::Utf8, move |texts| {
        Arc::new(
            texts.iter().map(|value| Some(value.map_or_else(|| "NULL".to_owned(), literal))).collect::<StringArray>(),
        )
    });
    let item = Arc::new(Field::new_list_field(DataType::Utf8, true));
    of_text(context, PARTS, DataType::List(item), |texts| {
        let mut parts = ListBuilder::new(StringBuilder::new());
        for name in texts {
            parts.append_option(name.map(|name| parts_of(name).into_iter().map(Some)));
        }
        Arc::new(parts.finish())
    });
    let visible: Vec<i64> = objects
        .relations
        .iter()
        .filter(|relation| relation.schema == objects.schema)
        .map(|relation| relation.oid)
        .collect();
    let is_visible = move |arguments: &[ColumnarValue]| {
        let numbers = ColumnarValue::values_to_arrays(arguments)?;
        let numbers = numbers[0].as_primitive::<Int64Type>();
        let visible: BooleanArray =
            numbers.iter().map(|number| number.map(|number| visible.contains(&number))).collect();
        Ok(ColumnarValue::Array(Arc::new(visible) as ArrayRef))
    };
    context.register_udf(create_udf(
        IS_VISIBLE,
        vec![DataType::Int64],
        DataType::Boolean,
        Volatility::Stable,
        Arc::new(is_visible),
    ));
}

/// A function of the engine as a text that can be read: it has none in SQL.
fn definition(function: &Function) -> String {
    let (name, arguments, result) = (&function.name, &function.arguments, &function.result);
    format!(
        "-- A function of the engine, not of SQL.\n-- {name}({arguments}) RETURNS {result}\n-- {}",
        function.description
    )
}

/// The names that a text such as `main."My Table"` has.
fn parts_of(name: &str) -> Vec<String> {
    let (mut parts, mut part, mut in_quotes, mut was_quoted) = (Vec::new(), String::new(), false, false);
    let mut chars = name.trim().chars().peekable();
    while let Some(next) = chars.next() {
        match next {
            '"' if in_quotes && chars.next_if_eq(&'"').is_some() => part.push('"'),
            '"' => (in_quotes, was_quoted) = (!in_quotes, true),
            '.' if !in_quotes => {
                parts.push(std::mem::take(&mut part));
                was_quoted = false;
            }
            next if in_quotes || was_quoted => part.push(next),
            next => part.extend(next.to_lowercase()),
        }
    }
    parts.push(part);
    parts
}

/// A function of a text.
fn of_text(
    context: &SessionContext,
    name: &str,
    result: DataType,
    of: impl Fn(&StringArray) -> ArrayRef + Send + Sync + 'static,
) {
    let called = move |arguments: &[ColumnarValue]| {
        let texts = ColumnarValue::values_to_arrays(arguments)?;
        Ok(ColumnarValue::Array(of(texts[0].as_string::<i32>())))
    };
    context.register_udf(create_udf(name, vec![DataType::Utf8], result, Volatility::Stable, Arc::new(called)));
}

/// A function from numbers to texts; NULL for numbers that it does not know.
fn text(context: &SessionContext, name: &str, texts: HashMap<i64, String>) {
    let of = move |arguments: &[ColumnarValue]| {
        let numbers = ColumnarValue::values_to_arrays(arguments)?;
        let numbers = numbers[0].as_primitive::<Int64Type>();
        let found: StringArray =
            numbers.iter().map(|number| number.and_then(|number| texts.get(&number).map(String::as_str))).collect();
        Ok(ColumnarValue::Array(Arc::new(found) as ArrayRef))
    };
    context.register_udf(create_udf(name, vec![DataType::Int64], DataType::Utf8, Volatility::Stable, Arc::new(of)));
}
