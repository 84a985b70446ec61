//! PRIMARY KEY and UNIQUE of a table in memory: rows that repeat a key are refused.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Schema};
use arrow::row::{RowConverter, SortField};
use bonnet_common::raise;
use datafusion::common::{Constraint, Constraints, Result, ScalarValue, exec_err};
use datafusion::execution::memory_pool::MemoryReservation;

/// The keys of a table.
#[derive(Debug)]
pub(crate) struct UniqueKeys {
    table: String,
    keys: Vec<Key>,
    /// Held from the check of a statement's rows until they are in the table.
    pub writing: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Key {
    primary: bool,
    columns: Vec<usize>,
    /// The columns as an error names them: `PRIMARY KEY (a, b)`.
    text: String,
    fields: Vec<SortField>,
}

impl UniqueKeys {
    /// The keys that constraints declare.
    ///
    /// # Errors
    /// If the values of a column cannot be compared.
    pub fn new(table: &str, constraints: &Constraints, schema: &Schema) -> Result<Self> {
        let mut keys = Vec::new();
        for constraint in constraints.iter() {
            let (primary, columns) = match constraint {
                Constraint::PrimaryKey(columns) => (true, columns.clone()),
                Constraint::Unique(columns) => (false, columns.clone()),
            };
            let of = |column: &usize| schema.field(*column);
            let names: Vec<&str> = columns.iter().map(|column| of(column).name().as_str()).collect();
            let text = format!("{} ({})", if primary { "PRIMARY KEY" } else { "UNIQUE" }, names.join(", "));
            let fields: Vec<_> = columns.iter().map(|column| SortField::new(of(column).data_type().clone())).collect();
            if !RowConverter::supports_fields(&fields) {
                return exec_err!("{table}: {text} has a column whose values cannot be compared");
            }
            keys.push(Key { primary, columns, text, fields });
        }
        Ok(Self { table: table.to_owned(), keys, writing: tokio::sync::Mutex::default() })
    }

    /// The keys, of columns that have come to other positions.
    ///
    /// # Errors
    /// If a column of a key is gone.
    pub fn moved(&self, places: &[Option<usize>]) -> Result<Constraints> {
        let mut moved = Vec::new();
        for key in &self.keys {
            let new = |column: &usize| places.iter().position(|place| *place == Some(*column));
            let Some(columns) = key.columns.iter().map(new).collect::<Option<Vec<_>>>() else {
                return exec_err!(
                    "{}: the column is part of {}: CREATE TABLE ... AS SELECT makes a table without it",
                    self.table,
                    key.text
                );
            };
            moved.push(if key.primary { Constraint::PrimaryKey(columns) } else { Constraint::Unique(columns) });
        }
        Ok(Constraints::new_unverified(moved))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Checks all rows of a table: linear in their number, with a copy of the keys' columns in memory meanwhile, which
    /// `memory` reserves. A key with a NULL equals no other; in a PRIMARY KEY there is none.
    ///
    /// # Errors
    /// If a key is repeated, or the pool has no memory for the check.
    pub fn check<'a>(
        &self,
        batches: impl IntoIterator<Item = &'a RecordBatch> + Clone,
        memory: &MemoryReservation,
    ) -> Result<()> {
        for key in &self.keys {
            key.check(&self.table, batches.clone(), &memory.new_empty())?;
        }
        Ok(())
    }
}

/// Floats with one zero and one NaN: rows of keys are compared by their bits.
fn comparable(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => Arc::new(
            column
                .as_primitive::<Float32Type>()
                .unary::<_, Float32Type>(|x| if x.is_nan() { f32::NAN } else { x + 0.0 }),
        ),
        DataType::Float64 => Arc::new(
            column
                .as_primitive::<Float64Type>()
                .unary::<_, Float64Type>(|x| if x.is_nan() { f64::NAN } else { x + 0.0 }),
        ),
        _ => Arc::clone(column),
    }
}

impl Key {
    fn check<'a>(
        &self,
        table: &str,
        batches: impl IntoIterator<Item = &'a RecordBatch>,
        memory: &MemoryReservation,
    ) -> Result<()> {
        let converter = RowConverter::new(self.fields.clone())?;
        let mut converted = Vec::new();
        for batch in batches {
            let columns: Vec<_> = self.columns.iter().map(|column| batch.column(*column).clone()).collect();
            let rows = converter.convert_columns(&columns.iter().map(comparable).collect::<Vec<_>>())?;
            // The rows, and an entry of the set for each.
            memory.try_grow(rows.size() + rows.num_rows() * size_of::<(&[u8], u64)>())?;
            converted.push((columns, rows));
        }
        let mut seen = HashSet::new();
        for (columns, rows) in &converted {
            for row in 0..rows.num_rows() {
                if columns.iter().any(|column| column.is_null(row)) {
                    if self.primary {
                        return raise!(MissingValue, "{table}: {} takes no NULL; nothing was changed", self.text);
                    }
                    continue;
                }
                if !seen.insert(rows.row(row)) {
                    let values = columns.iter().map(|column| Ok(ScalarValue::try_from_array(column, row)?.to_string()));
                    let values = values.collect::<Result<Vec<_>>>()?.join(", ");
                    return raise!(
                        RepeatedKey,
                        "{table}: {} would hold ({values}) twice; nothing was changed",
                        self.text
                    );
                }
            }
        }
        Ok(())
    }
}
