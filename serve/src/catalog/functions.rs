//! Functions of PostgreSQL's that look something up in the catalog by its number.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, StringArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::prelude::SessionContext;

use super::objects::Objects;
use crate::types;

/// The names under which [`super::rewrite`] calls them, each with a BIGINT.
pub(super) const FORMAT_TYPE: &str = "format_type";
pub(super) const IS_VISIBLE: &str = "pg_table_is_visible";
pub(super) const RELATION_NAME: &str = "regclass";
pub(super) const VIEW_DEFINITION: &str = "pg_get_viewdef";

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
