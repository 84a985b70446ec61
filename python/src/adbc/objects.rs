//! Catalogs, schemas, tables and columns as ADBC nests them.

use std::collections::HashMap;
use std::sync::Arc;

use adbc_core::error::{Error, Result, Status};
use adbc_core::options::ObjectDepth;
use adbc_core::schemas::{
    COLUMN_SCHEMA, CONSTRAINT_SCHEMA, GET_OBJECTS_SCHEMA, OBJECTS_DB_SCHEMA_SCHEMA, TABLE_SCHEMA,
};
use arrow::array::{
    ArrayRef, AsArray, Int16Array, Int32Array, ListArray, RecordBatch, StringArray, StructArray, UInt64Array,
    new_empty_array, new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field, Int32Type};
use bonnetdb::Session;

use super::failed;
use super::reader::{BatchReader, Cancel, one_batch};

/// The objects that are wanted: patterns of LIKE, and types of tables. `None` is all.
pub(super) struct Pattern<'a> {
    pub(super) catalog: Option<&'a str>,
    pub(super) schema: Option<&'a str>,
    pub(super) table: Option<&'a str>,
    pub(super) types: Option<Vec<&'a str>>,
    pub(super) column: Option<&'a str>,
}

/// The objects of these names, to this depth.
pub(super) fn objects(
    session: &Session,
    cancel: &Cancel,
    depth: ObjectDepth,
    pattern: &Pattern<'_>,
) -> Result<BatchReader> {
    let reader = Objects { session, cancel };
    let catalogs = reader.rows(&format!(
        "SELECT DISTINCT catalog_name FROM information_schema.schemata WHERE {} ORDER BY 1",
        like("catalog_name", pattern.catalog)
    ))?;
    let names = texts(&catalogs, 0)?;
    let schemas = match depth {
        ObjectDepth::Catalogs => None,
        _ => Some(reader.schemas(depth, pattern)?),
    };
    let lists = nested(&names, schemas, &OBJECTS_DB_SCHEMA_SCHEMA)?;
    one_batch(&GET_OBJECTS_SCHEMA, vec![Arc::new(StringArray::from(names)), lists])
}

/// Rows of one level, and the name of the parent of each.
struct Level {
    parents: Vec<String>,
    rows: StructArray,
}

struct Objects<'a> {
    session: &'a Session,
    cancel: &'a Cancel,
}

impl Objects<'_> {
    /// The rows of a query as one batch.
    fn rows(&self, query: &str) -> Result<RecordBatch> {
        let batches = self.cancel.wait(self.session.sql(query))?.map_err(failed)?;
        match batches.first() {
            Some(first) => arrow::compute::concat_batches(&first.schema(), &batches).map_err(internal),
            None => {
                let schema = self.cancel.wait(self.session.describe(query))?.map_err(failed)?;
                Ok(RecordBatch::new_empty(schema.ok_or_else(|| internal("no columns"))?))
            }
        }
    }

    fn schemas(&self, depth: ObjectDepth, pattern: &Pattern<'_>) -> Result<Level> {
        let rows = self.rows(&format!(
            "SELECT catalog_name, schema_name FROM information_schema.schemata WHERE {} AND {} ORDER BY 1, 2",
            like("catalog_name", pattern.catalog),
            like("schema_name", pattern.schema)
        ))?;
        let (catalogs, names) = (texts(&rows, 0)?, texts(&rows, 1)?);
        let tables = match depth {
            ObjectDepth::Schemas => None,
            _ => Some(self.tables(depth, pattern)?),
        };
        let keys: Vec<String> = catalogs.iter().zip(&names).map(|(catalog, name)| key(&[catalog, name])).collect();
        let lists = nested(&keys, tables, &TABLE_SCHEMA)?;
        let rows = structs(&OBJECTS_DB_SCHEMA_SCHEMA, vec![Arc::new(StringArray::from(names)), lists])?;
        Ok(Level { parents: catalogs, rows })
    }

    fn tables(&self, depth: ObjectDepth, pattern: &Pattern<'_>) -> Result<Level> {
        let kinds = match &pattern.types {
            Some(types) if types.is_empty() => "FALSE".to_owned(),
            Some(types) => {
                let types: Vec<String> = types.iter().map(|kind| text(kind)).collect();
                format!("table_type IN ({})", types.join(", "))
            }
            None => "TRUE".to_owned(),
        };
        let rows = self.rows(&format!(
            "SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables \
             WHERE {} AND {} AND {} AND {kinds} ORDER BY 1, 2, 3",
            like("table_catalog", pattern.catalog),
            like("table_schema", pattern.schema),
            like("table_name", pattern.table)
        ))?;
        let (catalogs, schemas) = (texts(&rows, 0)?, texts(&rows, 1)?);
        let (names, kinds) = (texts(&rows, 2)?, texts(&rows, 3)?);
        let columns = match depth {
            ObjectDepth::Tables => None,
            _ => Some(self.columns(pattern)?),
        };
        let parents: Vec<String> =
            catalogs.iter().zip(&schemas).map(|(catalog, schema)| key(&[catalog, schema])).collect();
        let keys: Vec<String> = parents.iter().zip(&names).map(|(parent, name)| key(&[parent, name])).collect();
        let lists = nested(&keys, columns, &COLUMN_SCHEMA)?;
        // There are no constraints to list.
        let none = Level { parents: Vec::new(), rows: new_empty_array(&CONSTRAINT_SCHEMA).as_struct().clone() };
        let constraints = match depth {
            ObjectDepth::Tables => nested(&keys, None, &CONSTRAINT_SCHEMA)?,
            _ => nested(&keys, Some(none), &CONSTRAINT_SCHEMA)?,
        };
        let columns: Vec<ArrayRef> =
            vec![Arc::new(StringArray::from(names)), Arc::new(StringArray::from(kinds)), lists, constraints];
        Ok(Level { parents, rows: structs(&TABLE_SCHEMA, columns)? })
    }

    fn columns(&self, pattern: &Pattern<'_>) -> Result<Level> {
        let rows = self.rows(&format!(
            "SELECT table_catalog, table_schema, table_name, column_name, is_nullable, data_type, \
             CAST(row_number() OVER (PARTITION BY table_catalog, table_schema, table_name ORDER BY ordinal_position) AS INT) \
             AS position FROM information_schema.columns WHERE {} AND {} AND {} ORDER BY 1, 2, 3, 7",
            like("table_catalog", pattern.catalog),
            like("table_schema", pattern.schema),
            like("table_name", pattern.table)
        ))?;
        // The positions count all columns of a table, those that are not asked for as well.
        let wanted = like("column_name", pattern.column);
        let rows = match pattern.column {
            None => rows,
            Some(_) => self.matching(&rows, &wanted)?,
        };
        let table: Vec<Vec<String>> = (0..3).map(|at| texts(&rows, at)).collect::<Result<_>>()?;
        let parents =
            (0..rows.num_rows()).map(|row| key(&[&key(&[&table[0][row], &table[1][row]]), &table[2][row]])).collect();
        let nullable: Vec<String> = texts(&rows, 4)?;
        let flags = Int16Array::from_iter_values(nullable.iter().map(|nullable| i16::from(nullable == "YES")));
        let positions: Int32Array = rows.column(6).as_primitive::<Int32Type>().clone();
        let DataType::Struct(fields) = &*COLUMN_SCHEMA else { return Err(internal("columns are no struct")) };
        let columns = fields.iter().map(|field| -> Result<ArrayRef> {
            Ok(match field.name().as_str() {
                "column_name" => Arc::new(StringArray::from(texts(&rows, 3)?)),
                "ordinal_position" => Arc::new(positions.clone()),
                "xdbc_type_name" => Arc::new(StringArray::from(texts(&rows, 5)?)),
                "xdbc_nullable" => Arc::new(flags.clone()),
                "xdbc_is_nullable" => Arc::new(StringArray::from(nullable.clone())),
                _ => new_null_array(field.data_type(), rows.num_rows()),
            })
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(Level { parents, rows: structs(&COLUMN_SCHEMA, columns)? })
    }

    /// The rows whose column name a pattern matches.
    fn matching(&self, rows: &RecordBatch, wanted: &str) -> Result<RecordBatch> {
        let names =
            self.rows(&format!("SELECT DISTINCT column_name FROM information_schema.columns WHERE {wanted}"))?;
        let names = texts(&names, 0)?;
        let keep: arrow::array::BooleanArray = texts(rows, 3)?.iter().map(|name| Some(names.contains(name))).collect();
        arrow::compute::filter_record_batch(rows, &keep).map_err(internal)
    }
}

/// The rows of a level as a list for each parent, NULL where the level is not asked for. Rows without a parent, as those of
/// `information_schema`, are left out.
fn nested(parents: &[String], level: Option<Level>, kind: &DataType) -> Result<ArrayRef> {
    let field = Arc::new(Field::new_list_field(kind.clone(), true));
    let Some(level) = level else { return Ok(new_null_array(&DataType::List(field), parents.len())) };
    let mut rows: HashMap<&str, Vec<u64>> = HashMap::new();
    for (row, parent) in (0..).zip(&level.parents) {
        rows.entry(parent).or_default().push(row);
    }
    let of = |parent: &String| rows.get(parent.as_str()).map_or(&[][..], Vec::as_slice);
    let offsets = OffsetBuffer::from_lengths(parents.iter().map(|parent| of(parent).len()));
    let order: UInt64Array = parents.iter().flat_map(of).copied().collect::<Vec<_>>().into();
    let items = take(&level.rows, &order, None).map_err(internal)?;
    Ok(Arc::new(ListArray::try_new(field, offsets, items, None).map_err(internal)?))
}

fn structs(kind: &DataType, columns: Vec<ArrayRef>) -> Result<StructArray> {
    let DataType::Struct(fields) = kind else { return Err(internal("a level is no struct")) };
    StructArray::try_new(fields.clone(), columns, None).map_err(internal)
}

/// Names as one, which no other names give.
fn key(parts: &[&str]) -> String {
    parts.iter().map(|part| part.replace('\\', "\\\\").replace('.', "\\.")).collect::<Vec<_>>().join(".")
}

fn like(column: &str, pattern: Option<&str>) -> String {
    pattern.map_or_else(|| "TRUE".to_owned(), |pattern| format!("{column} LIKE {}", text(pattern)))
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

fn texts(rows: &RecordBatch, column: usize) -> Result<Vec<String>> {
    let column = cast(rows.column(column), &DataType::Utf8).map_err(internal)?;
    Ok(column.as_string::<i32>().iter().map(|value| value.unwrap_or_default().to_owned()).collect())
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::with_message_and_status(error.to_string(), Status::Internal)
}
