//! The rows of the tables of `pg_catalog`.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use bonnetdb::Result;
use datafusion::common::ScalarValue;
use datafusion::datasource::MemTable;

use super::cells::{Kind, Row, number, text, truth};
use super::columns;
use super::information;
use super::objects::{CATALOG_SCHEMA, Function, HEAP, OWNER, Objects, Relation};
use crate::types;
use crate::values::modifier;

/// The table of this name with its rows.
///
/// # Errors
/// If a row does not fit its table, which is a defect.
pub(super) fn table(name: &str, objects: &Objects, settings: &[(String, String)]) -> Result<Option<MemTable>> {
    let Some(columns) = columns::of(name) else { return Ok(None) };
    let rows = rows(name, objects, settings);
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for &(column, kind) in columns {
        let default = default(kind);
        fields.push(Field::new(column, default.data_type(), true));
        arrays.push(match rows.is_empty() {
            true => arrow::array::new_empty_array(&default.data_type()),
            false => ScalarValue::iter_to_array(
                rows.iter().map(|row| row.get(column).cloned().unwrap_or_else(|| default.clone())),
            )?,
        });
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)?;
    Ok(Some(MemTable::try_new(schema, vec![vec![batch]])?))
}

fn default(kind: Kind) -> ScalarValue {
    match kind {
        Kind::Int8 => ScalarValue::Int64(Some(0)),
        Kind::Int4 => ScalarValue::Int32(Some(0)),
        Kind::Int2 => ScalarValue::Int16(Some(0)),
        Kind::Float4 => ScalarValue::Float32(Some(-1.0)),
        Kind::Bool => ScalarValue::Boolean(Some(false)),
        Kind::Text => ScalarValue::Utf8(None),
        Kind::Texts => ScalarValue::new_null_list(DataType::Utf8, true, 1),
        Kind::Int8s => ScalarValue::new_null_list(DataType::Int64, true, 1),
    }
}

fn rows(name: &str, objects: &Objects, settings: &[(String, String)]) -> Vec<Row> {
    let user = || text(&objects.user);
    match name {
        "pg_am" => vec![Row::from([("oid", number(HEAP)), ("amname", text("heap")), ("amtype", text("t"))])],
        "pg_attribute" => objects.relations.iter().flat_map(attributes).collect(),
        "pg_authid" | "pg_roles" => vec![Row::from([
            ("oid", number(OWNER)),
            ("rolname", user()),
            ("rolinherit", truth(true)),
            ("rolcanlogin", truth(true)),
            ("rolconnlimit", ScalarValue::Int32(Some(-1))),
        ])],
        "pg_class" => objects.relations.iter().map(class).collect(),
        "pg_database" => objects.databases.iter().map(|(oid, name)| database(*oid, name)).collect(),
        "pg_language" => {
            vec![Row::from([("oid", number(INTERNAL)), ("lanname", text("internal")), ("lanowner", number(OWNER))])]
        }
        "pg_proc" => objects.functions.iter().map(function).chain([array_recv()]).collect(),
        "pg_namespace" => objects
            .schemas
            .iter()
            .map(|(oid, name)| Row::from([("oid", number(*oid)), ("nspname", text(name)), ("nspowner", number(OWNER))]))
            .collect(),
        "pg_settings" => settings
            .iter()
            .map(|(name, value)| {
                let setting = [("name", name), ("setting", value), ("boot_val", value), ("reset_val", value)];
                let mut row: Row = setting.into_iter().map(|(column, value)| (column, text(value))).collect();
                row.extend([("context", text("user")), ("vartype", text("string")), ("source", text("default"))]);
                row
            })
            .collect(),
        "pg_tables" => objects
            .relations
            .iter()
            .filter(|relation| !relation.is_view)
            .map(|table| {
                Row::from([
                    ("schemaname", text(&table.schema)),
                    ("tablename", text(&table.name)),
                    ("tableowner", user()),
                ])
            })
            .collect(),
        "pg_tablespace" => {
            vec![Row::from([("oid", number(1663)), ("spcname", text("pg_default")), ("spcowner", number(OWNER))])]
        }
        "pg_type" => types::TYPES.iter().flat_map(data_type).collect(),
        "pg_user" => vec![Row::from([("usename", user()), ("usesysid", number(OWNER))])],
        "pg_views" => objects
            .relations
            .iter()
            .filter(|relation| relation.is_view)
            .map(|view| {
                Row::from([
                    ("schemaname", text(&view.schema)),
                    ("viewname", text(&view.name)),
                    ("viewowner", user()),
                    ("definition", ScalarValue::Utf8(view.definition.clone())),
                ])
            })
            .collect(),
        name => information::rows(name, objects),
    }
}

/// The number of the language of functions that a server brings with it.
const INTERNAL: i64 = 12;

/// The number of the function that reads arrays, by which clients tell them from other types.
const ARRAY_RECV: i64 = 2400;

fn array_recv() -> Row {
    Row::from([
        ("oid", number(ARRAY_RECV)),
        ("proname", text("array_recv")),
        ("pronamespace", number(CATALOG_SCHEMA)),
        ("prolang", number(INTERNAL)),
        ("prokind", text("f")),
        ("provolatile", text("s")),
        ("prorettype", number(2277)),
    ])
}

fn function(function: &Function) -> Row {
    Row::from([
        ("oid", number(function.oid)),
        ("proname", text(&function.name)),
        ("pronamespace", number(function.schema_oid)),
        ("proowner", number(OWNER)),
        ("prolang", number(INTERNAL)),
        ("prokind", text(function.kind)),
        ("proretset", truth(function.is_relation)),
        // Those of generators and models depend on their seed alone.
        ("provolatile", text("i")),
        ("proparallel", text("s")),
        ("prorettype", number(if function.is_relation { 2249 } else { 2283 })),
        ("prosrc", text(&function.name)),
    ])
}

fn attributes(relation: &Relation) -> Vec<Row> {
    let column = |(i, field): (usize, &Arc<Field>)| {
        let oid = types::of_column(field.data_type());
        let size = types::of_oid(oid).map_or(-1, |known| known.size);
        Row::from([
            ("attrelid", number(relation.oid)),
            ("attname", text(field.name())),
            ("atttypid", number(oid.into())),
            ("attstattarget", ScalarValue::Int32(Some(-1))),
            ("attlen", ScalarValue::Int16(Some(size))),
            ("attnum", ScalarValue::Int16(i16::try_from(i + 1).ok())),
            ("attndims", ScalarValue::Int32(Some(i32::from(types::element(oid).is_some())))),
            ("atttypmod", ScalarValue::Int32(Some(modifier(field.data_type())))),
            ("attnotnull", truth(!field.is_nullable())),
            ("attidentity", text("")),
            ("attgenerated", text("")),
            ("attislocal", truth(true)),
            ("attalign", text("d")),
            ("attstorage", text("p")),
        ])
    };
    relation.columns.fields().iter().enumerate().map(column).collect()
}

fn class(relation: &Relation) -> Row {
    Row::from([
        ("oid", number(relation.oid)),
        ("relname", text(&relation.name)),
        ("relnamespace", number(relation.schema_oid)),
        ("relowner", number(OWNER)),
        ("relam", number(if relation.is_view { 0 } else { HEAP })),
        ("relpersistence", text("p")),
        ("relkind", text(if relation.is_view { "v" } else { "r" })),
        ("relnatts", ScalarValue::Int16(i16::try_from(relation.columns.fields().len()).ok())),
        ("relispopulated", truth(true)),
        ("relreplident", text("d")),
    ])
}

fn database(oid: i64, name: &str) -> Row {
    Row::from([
        ("oid", number(oid)),
        ("datname", text(name)),
        ("datdba", number(OWNER)),
        ("encoding", ScalarValue::Int32(Some(6))),
        ("datcollate", text("C")),
        ("datctype", text("C")),
        ("datallowconn", truth(true)),
        ("datconnlimit", ScalarValue::Int32(Some(-1))),
        ("dattablespace", number(1663)),
    ])
}

/// A type, and the type of arrays of it.
fn data_type(known: &types::PgType) -> Vec<Row> {
    let row = |oid: u32, name: String, size: i16, category: &str, element: u32, array: u32| {
        Row::from([
            ("oid", number(oid.into())),
            ("typname", text(name.clone())),
            ("typnamespace", number(CATALOG_SCHEMA)),
            ("typowner", number(OWNER)),
            ("typlen", ScalarValue::Int16(Some(size))),
            ("typbyval", truth((1..=8).contains(&size))),
            ("typtype", text(if category == "X" { "p" } else { "b" })),
            ("typcategory", text(category)),
            ("typisdefined", truth(true)),
            ("typdelim", text(",")),
            ("typelem", number(element.into())),
            ("typarray", number(array.into())),
            ("typinput", text(if element == 0 { format!("{name}in") } else { "array_in".to_owned() })),
            ("typreceive", number(if element == 0 { 0 } else { ARRAY_RECV })),
            ("typtypmod", ScalarValue::Int32(Some(-1))),
        ])
    };
    let mut rows = vec![row(known.oid, known.name.to_owned(), known.size, known.category, 0, known.array)];
    if known.array != 0 {
        rows.push(row(known.array, format!("_{}", known.name), -1, "A", known.oid, 0));
    }
    rows
}
