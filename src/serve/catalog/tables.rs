//! The tables of `pg_catalog`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::datasource::MemTable;

use super::objects::{CATALOG_SCHEMA, HEAP, OWNER, Objects};
use crate::Result;
use crate::serve::types;
use crate::serve::values::modifier;

/// The columns of a table, each with its type: `n` numbers of eight bytes, as object identifiers, `i` of four, `s` of two,
/// `f` floats, `b` truth values, `t` texts, `l` lists of texts, `m` lists of numbers.
type Columns = &'static str;

/// Tables that have rows.
const FILLED: &[(&str, Columns)] = &[
    ("pg_am", "oid n, amname t, amhandler t, amtype t"),
    (
        "pg_attribute",
        "attrelid n, attname t, atttypid n, attstattarget i, attlen s, attnum s, attndims i, attcacheoff i, atttypmod i, \
         attbyval b, attalign t, attstorage t, attcompression t, attnotnull b, atthasdef b, atthasmissing b, attidentity t, \
         attgenerated t, attisdropped b, attislocal b, attinhcount i, attcollation n, attacl l, attoptions l, attfdwoptions l",
    ),
    (
        "pg_authid",
        "oid n, rolname t, rolsuper b, rolinherit b, rolcreaterole b, rolcreatedb b, rolcanlogin b, rolreplication b",
    ),
    (
        "pg_class",
        "oid n, relname t, relnamespace n, reltype n, reloftype n, relowner n, relam n, relfilenode n, reltablespace n, \
         relpages i, reltuples f, relallvisible i, reltoastrelid n, relhasindex b, relisshared b, relpersistence t, relkind t, \
         relnatts s, relchecks s, relhasrules b, relhastriggers b, relhassubclass b, relrowsecurity b, relforcerowsecurity b, \
         relispopulated b, relreplident t, relispartition b, relrewrite n, relfrozenxid n, relminmxid n, relacl l, reloptions l, \
         relpartbound t",
    ),
    (
        "pg_database",
        "oid n, datname t, datdba n, encoding i, datcollate t, datctype t, datistemplate b, datallowconn b, datconnlimit i, daticulocale t, \
         datlocprovider t, \
         datlastsysoid n, datfrozenxid n, datminmxid n, dattablespace n, datacl l",
    ),
    ("pg_namespace", "oid n, nspname t, nspowner n, nspacl l"),
    (
        "pg_roles",
        "oid n, rolname t, rolsuper b, rolinherit b, rolcreaterole b, rolcreatedb b, rolcanlogin b, rolreplication b, \
         rolconnlimit i, rolpassword t, rolvaliduntil t, rolbypassrls b, rolconfig l",
    ),
    (
        "pg_settings",
        "name t, setting t, unit t, category t, short_desc t, extra_desc t, context t, vartype t, source t, min_val t, \
         max_val t, enumvals l, boot_val t, reset_val t, sourcefile t, sourceline i, pending_restart b",
    ),
    (
        "pg_tables",
        "schemaname t, tablename t, tableowner t, tablespace t, hasindexes b, hasrules b, hastriggers b, rowsecurity b",
    ),
    ("pg_tablespace", "oid n, spcname t, spcowner n, spcacl l, spcoptions l"),
    (
        "pg_type",
        "oid n, typname t, typnamespace n, typowner n, typlen s, typbyval b, typtype t, typcategory t, typispreferred b, \
         typisdefined b, typdelim t, typrelid n, typelem n, typarray n, typinput t, typoutput t, typreceive t, typsend t, \
         typmodin t, typmodout t, typanalyze t, typalign t, typstorage t, typnotnull b, typbasetype n, typtypmod i, typndims i, \
         typcollation n, typdefaultbin t, typdefault t, typacl l",
    ),
    (
        "pg_user",
        "usename t, usesysid n, usecreatedb b, usesuper b, userepl b, usebypassrls b, passwd t, valuntil t, useconfig l",
    ),
    ("pg_views", "schemaname t, viewname t, viewowner t, definition t"),
];

/// Tables of what BonnetDB lacks: they are always empty.
const EMPTY: &[(&str, Columns)] = &[
    ("pg_aggregate", "aggfnoid n"),
    ("pg_attrdef", "oid n, adrelid n, adnum s, adbin t"),
    ("pg_auth_members", "roleid n, member n, grantor n, admin_option b"),
    ("pg_cast", "oid n, castsource n, casttarget n"),
    ("pg_collation", "oid n, collname t, collnamespace n, collprovider t, collcollate t, collctype t"),
    (
        "pg_constraint",
        "oid n, conname t, connamespace n, contype t, conrelid n, contypid n, conindid n, conparentid n, confrelid n, \
      conkey m, confkey m, confupdtype t, confdeltype t, confmatchtype t, condeferrable b, condeferred b, convalidated b, conbin t",
    ),
    ("pg_conversion", "oid n, conname t"),
    ("pg_default_acl", "oid n, defaclrole n, defaclnamespace n, defaclobjtype t, defaclacl l"),
    ("pg_depend", "classid n, objid n, objsubid i, refclassid n, refobjid n, refobjsubid i, deptype t"),
    ("pg_description", "objoid n, classoid n, objsubid i, description t"),
    ("pg_enum", "oid n, enumtypid n, enumsortorder f, enumlabel t"),
    ("pg_event_trigger", "oid n, evtname t"),
    ("pg_extension", "oid n, extname t, extowner n, extnamespace n, extversion t"),
    ("pg_foreign_data_wrapper", "oid n, fdwname t"),
    ("pg_foreign_server", "oid n, srvname t, srvfdw n"),
    ("pg_foreign_table", "ftrelid n, ftserver n, ftoptions l"),
    (
        "pg_index",
        "indexrelid n, indrelid n, indnatts s, indnkeyatts s, indisunique b, indisprimary b, indisexclusion b, \
      indimmediate b, indisclustered b, indisvalid b, indcheckxmin b, indisready b, indislive b, indisreplident b, indkey m, \
      indcollation m, indclass m, indoption m, indexprs t, indpred t",
    ),
    ("pg_indexes", "schemaname t, tablename t, indexname t, tablespace t, indexdef t"),
    ("pg_inherits", "inhrelid n, inhparent n, inhseqno i, inhdetachpending b"),
    ("pg_language", "oid n, lanname t"),
    ("pg_locks", "locktype t, database n, relation n, pid i, mode t, granted b"),
    ("pg_matviews", "schemaname t, matviewname t, matviewowner t, definition t"),
    ("pg_opclass", "oid n, opcname t, opcmethod n, opcdefault b, opcintype n"),
    ("pg_operator", "oid n, oprname t"),
    ("pg_partitioned_table", "partrelid n, partstrat t"),
    ("pg_policy", "oid n, polname t, polrelid n, polcmd t, polpermissive b, polroles m"),
    (
        "pg_proc",
        "oid n, proname t, pronamespace n, proowner n, prolang n, prokind t, prorettype n, proargtypes m, provolatile t",
    ),
    ("pg_publication", "oid n, pubname t, puballtables b"),
    ("pg_publication_namespace", "oid n, pnpubid n, pnnspid n"),
    ("pg_publication_rel", "oid n, prpubid n, prrelid n"),
    ("pg_range", "rngtypid n, rngsubtype n, rngmultitypid n, rngcollation n"),
    ("pg_rewrite", "oid n, rulename t, ev_class n, ev_type t, ev_enabled t"),
    ("pg_seclabel", "objoid n, classoid n, label t"),
    ("pg_sequence", "seqrelid n, seqtypid n, seqstart n, seqincrement n, seqmax n, seqmin n, seqcache n, seqcycle b"),
    ("pg_sequences", "schemaname t, sequencename t"),
    ("pg_shdescription", "objoid n, classoid n, description t"),
    ("pg_stat_activity", "datid n, datname t, pid i, usesysid n, usename t, application_name t, state t, query t"),
    ("pg_stat_user_tables", "relid n, schemaname t, relname t, n_live_tup n"),
    ("pg_statistic_ext", "oid n, stxrelid n, stxname t, stxnamespace n, stxkind l, stxstattarget i"),
    ("pg_subscription", "oid n, subname t"),
    (
        "pg_trigger",
        "oid n, tgrelid n, tgname t, tgfoid n, tgtype s, tgenabled t, tgisinternal b, tgconstraint n, tgparentid n",
    ),
    ("pg_user_mapping", "oid n, umuser n, umserver n"),
];

/// Whether there is a table of this name.
pub(super) fn is_known(name: &str) -> bool {
    is_always_empty(name) || FILLED.iter().any(|(known, _)| *known == name)
}

/// Whether a table of this name has no rows.
pub(super) fn is_always_empty(name: &str) -> bool {
    EMPTY.iter().any(|(known, _)| *known == name)
}

/// The values of a row by their columns; those that it lacks are NULL, zero or false.
type Row = HashMap<&'static str, ScalarValue>;

/// The table of this name with its rows.
///
/// # Errors
/// If a row does not fit its table, which is a defect.
pub(super) fn table(name: &str, objects: &Objects, settings: &[(String, String)]) -> Result<Option<MemTable>> {
    let Some((_, columns)) = FILLED.iter().chain(EMPTY).find(|(known, _)| *known == name) else { return Ok(None) };
    let rows = rows(name, objects, settings);
    let columns = columns.split(',').filter_map(|column| column.trim().split_once(' '));
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (column, letter) in columns {
        let default = default(letter);
        fields.push(Field::new(column, default.data_type(), true));
        arrays.push(match rows.is_empty() {
            true => arrow::array::new_empty_array(&default.data_type()),
            false => ScalarValue::iter_to_array(
                rows.iter().map(|row| row.get(column).cloned().unwrap_or_else(|| default.clone())),
            )?,
        });
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(DataFusionError::from)?;
    Ok(Some(MemTable::try_new(schema, vec![vec![batch]])?))
}

fn default(letter: &str) -> ScalarValue {
    match letter {
        "n" => ScalarValue::Int64(Some(0)),
        "i" => ScalarValue::Int32(Some(0)),
        "s" => ScalarValue::Int16(Some(0)),
        "f" => ScalarValue::Float32(Some(-1.0)),
        "b" => ScalarValue::Boolean(Some(false)),
        "l" => ScalarValue::new_null_list(DataType::Utf8, true, 1),
        "m" => ScalarValue::new_null_list(DataType::Int64, true, 1),
        _ => ScalarValue::Utf8(None),
    }
}

fn text(value: impl Into<String>) -> ScalarValue {
    ScalarValue::Utf8(Some(value.into()))
}

fn number(value: i64) -> ScalarValue {
    ScalarValue::Int64(Some(value))
}

fn truth(value: bool) -> ScalarValue {
    ScalarValue::Boolean(Some(value))
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
        _ => Vec::new(),
    }
}

fn attributes(relation: &super::objects::Relation) -> Vec<Row> {
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

fn class(relation: &super::objects::Relation) -> Row {
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
            ("typtypmod", ScalarValue::Int32(Some(-1))),
        ])
    };
    let mut rows = vec![row(known.oid, known.name.to_owned(), known.size, known.category, 0, known.array)];
    if known.array != 0 {
        rows.push(row(known.array, format!("_{}", known.name), -1, "A", known.oid, 0));
    }
    rows
}
