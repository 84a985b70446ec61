//! The tables of `information_schema` as PostgreSQL has them: types by its names, and those of the current database alone.

use std::collections::HashMap;

use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::ObjectName;

use super::cells::Kind::{Int4, Text};
use super::cells::{Column, Row, Table, text};
use super::objects::{Objects, PG_CATALOG, Relation};
use crate::types;
use crate::values::modifier;

/// The schema of these tables.
pub(super) const INFORMATION_SCHEMA: &str = "information_schema";

/// The columns that say whose constraint it is.
macro_rules! constraint {
    ($($more:ident $kind:ident),*) => {
        &[
            ("constraint_catalog", Text), ("constraint_schema", Text), ("constraint_name", Text),
            $((stringify!($more), $kind)),*
        ]
    };
}

const COLUMNS: &[Column] = &[
    ("table_catalog", Text),
    ("table_schema", Text),
    ("table_name", Text),
    ("column_name", Text),
    ("ordinal_position", Int4),
    ("column_default", Text),
    ("is_nullable", Text),
    ("data_type", Text),
    ("character_maximum_length", Int4),
    ("character_octet_length", Int4),
    ("numeric_precision", Int4),
    ("numeric_precision_radix", Int4),
    ("numeric_scale", Int4),
    ("datetime_precision", Int4),
    ("interval_type", Text),
    ("collation_name", Text),
    ("domain_name", Text),
    ("udt_catalog", Text),
    ("udt_schema", Text),
    ("udt_name", Text),
    ("is_self_referencing", Text),
    ("is_identity", Text),
    ("identity_generation", Text),
    ("is_generated", Text),
    ("generation_expression", Text),
    ("is_updatable", Text),
];

/// Tables that have rows, by the names that stand for them in rewritten queries.
pub(super) const FILLED: &[Table] = &[
    (
        "information_schema.character_sets",
        &[
            ("character_set_catalog", Text),
            ("character_set_schema", Text),
            ("character_set_name", Text),
            ("character_repertoire", Text),
            ("form_of_use", Text),
            ("default_collate_name", Text),
        ],
    ),
    ("information_schema.columns", COLUMNS),
    (
        "information_schema.schemata",
        &[
            ("catalog_name", Text),
            ("schema_name", Text),
            ("schema_owner", Text),
            ("default_character_set_name", Text),
            ("sql_path", Text),
        ],
    ),
    (
        "information_schema.tables",
        &[
            ("table_catalog", Text),
            ("table_schema", Text),
            ("table_name", Text),
            ("table_type", Text),
            ("is_insertable_into", Text),
            ("is_typed", Text),
        ],
    ),
    (
        "information_schema.views",
        &[
            ("table_catalog", Text),
            ("table_schema", Text),
            ("table_name", Text),
            ("view_definition", Text),
            ("check_option", Text),
            ("is_updatable", Text),
        ],
    ),
];

/// Tables of what BonnetDB lacks: they are always empty.
pub(super) const EMPTY: &[Table] = &[
    ("information_schema.check_constraints", constraint![check_clause Text]),
    ("information_schema.constraint_column_usage", constraint![table_schema Text, table_name Text, column_name Text]),
    (
        "information_schema.key_column_usage",
        constraint![
            table_catalog Text, table_schema Text, table_name Text, column_name Text, ordinal_position Int4,
            position_in_unique_constraint Int4
        ],
    ),
    (
        "information_schema.referential_constraints",
        constraint![
            unique_constraint_catalog Text, unique_constraint_schema Text, unique_constraint_name Text, match_option Text,
            update_rule Text, delete_rule Text
        ],
    ),
    (
        "information_schema.table_constraints",
        constraint![
            table_catalog Text, table_schema Text, table_name Text, constraint_type Text, is_deferrable Text,
            initially_deferred Text
        ],
    ),
    (
        "information_schema.triggers",
        &[
            ("trigger_schema", Text),
            ("trigger_name", Text),
            ("event_object_schema", Text),
            ("event_object_table", Text),
        ],
    ),
];

/// The name that stands for a table in rewritten queries: that of `pg_catalog` alone, others with their schema.
pub(super) fn key(name: &ObjectName) -> Option<String> {
    let parts = bonnet_dialect::syntax::tree::ast::name_parts(name)?;
    match parts.as_slice() {
        [.., schema, table] if schema == INFORMATION_SCHEMA => Some(format!("{INFORMATION_SCHEMA}.{table}")),
        parts => parts.last().cloned(),
    }
}

/// The rows of a table of these.
pub(super) fn rows(name: &str, objects: &Objects) -> Vec<Row> {
    let database = || text(&objects.database);
    let user = || text(&objects.user);
    match name {
        "information_schema.character_sets" => vec![HashMap::from([
            ("character_set_name", text("UTF8")),
            ("character_repertoire", text("UCS")),
            ("form_of_use", text("UTF8")),
        ])],
        "information_schema.columns" => {
            objects.relations.iter().flat_map(|relation| columns(relation, &objects.database)).collect()
        }
        "information_schema.schemata" => objects
            .schemas
            .iter()
            .map(|(_, name)| {
                HashMap::from([("catalog_name", database()), ("schema_name", text(name)), ("schema_owner", user())])
            })
            .collect(),
        "information_schema.tables" => objects
            .relations
            .iter()
            .map(|relation| {
                HashMap::from([
                    ("table_catalog", database()),
                    ("table_schema", text(&relation.schema)),
                    ("table_name", text(&relation.name)),
                    ("table_type", text(if relation.is_view { "VIEW" } else { "BASE TABLE" })),
                    ("is_insertable_into", yes(!relation.is_view)),
                    ("is_typed", yes(false)),
                ])
            })
            .collect(),
        "information_schema.views" => objects
            .relations
            .iter()
            .filter(|relation| relation.is_view)
            .map(|view| {
                HashMap::from([
                    ("table_catalog", database()),
                    ("table_schema", text(&view.schema)),
                    ("table_name", text(&view.name)),
                    ("view_definition", ScalarValue::Utf8(view.definition.clone())),
                    ("check_option", text("NONE")),
                    ("is_updatable", yes(false)),
                ])
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn yes(value: bool) -> ScalarValue {
    text(if value { "YES" } else { "NO" })
}

fn columns(relation: &Relation, database: &str) -> Vec<Row> {
    let number = ScalarValue::Int32;
    relation
        .columns
        .fields()
        .iter()
        .zip(1..)
        .map(|(field, position)| {
            let oid = types::of_column(field.data_type());
            let known = types::of_oid(oid);
            let element = types::element(oid);
            let udt = known.map(|known| known.name.to_owned());
            let udt = udt.or_else(|| element.map(|element| format!("_{}", element.name))).unwrap_or_default();
            // Precision and scale of DECIMAL, bits of other numbers.
            let (precision, radix, scale) = match (oid, modifier(field.data_type())) {
                (types::INT2, _) => (Some(16), Some(2), Some(0)),
                (types::INT4, _) => (Some(32), Some(2), Some(0)),
                (types::INT8, _) => (Some(64), Some(2), Some(0)),
                (types::FLOAT4, _) => (Some(24), Some(2), None),
                (types::FLOAT8, _) => (Some(53), Some(2), None),
                (types::NUMERIC, packed) if packed >= 0 => {
                    (Some((packed - 4) >> 16), Some(10), Some((packed - 4) & 0xffff))
                }
                _ => (None, None, None),
            };
            let times = [types::TIME, types::TIMESTAMP, types::TIMESTAMPTZ, types::INTERVAL];
            HashMap::from([
                ("table_catalog", text(database)),
                ("table_schema", text(&relation.schema)),
                ("table_name", text(&relation.name)),
                ("column_name", text(field.name())),
                ("ordinal_position", number(Some(position))),
                ("is_nullable", yes(field.is_nullable())),
                ("data_type", text(known.map_or("ARRAY", |known| known.sql))),
                ("character_maximum_length", number(None)),
                ("character_octet_length", number((oid == types::TEXT).then_some(1 << 30))),
                ("numeric_precision", number(precision)),
                ("numeric_precision_radix", number(radix)),
                ("numeric_scale", number(scale)),
                (
                    "datetime_precision",
                    number(match oid {
                        types::DATE => Some(0),
                        oid if times.contains(&oid) => Some(6),
                        _ => None,
                    }),
                ),
                ("udt_catalog", text(database)),
                ("udt_schema", text(PG_CATALOG)),
                ("udt_name", text(udt)),
                ("is_self_referencing", yes(false)),
                ("is_identity", yes(false)),
                ("is_generated", text("NEVER")),
                ("is_updatable", yes(!relation.is_view)),
            ])
        })
        .collect()
}
