//! Rows (block, treatment, value) as a table of whole blocks.

use std::ops::Range;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{KeyColumn, KeyIndex, Parameter, execution_error, stopped};
use datafusion::common::Result;

/// The parameters of a test of treatments over blocks.
pub fn block_parameters() -> [Parameter; 3] {
    [
        Parameter::column("block", "The block, such as the data set: integers or text."),
        Parameter::column("treatment", "The treatment, such as the model: integers or text."),
        Parameter::number_column(
            "value",
            "The value of the treatment in the block, such as the score: larger is better.",
        ),
    ]
}

/// The columns of a call.
pub struct Rows {
    name: &'static str,
    blocks: KeyColumn,
    treatments: KeyColumn,
    values: ArrayRef,
}

/// The blocks of a group that have a value for each of its treatments.
pub struct Blocks {
    /// The treatments in ascending order.
    pub treatments: KeyIndex,
    /// Their values, block after block.
    pub table: Vec<f64>,
}

impl Rows {
    /// The columns `block`, `treatment`, `value`.
    ///
    /// # Errors
    /// If a key is neither an integer nor text.
    pub fn new(name: &'static str, columns: &[ArrayRef]) -> Result<Self> {
        Ok(Self {
            name,
            blocks: KeyColumn::new(&columns[0], "block")?,
            treatments: KeyColumn::new(&columns[1], "treatment")?,
            values: cast(&columns[2], &DataType::Float64)?,
        })
    }

    /// The whole blocks of a group of rows; a NaN is no value. O(rows log rows + blocks x treatments).
    ///
    /// # Errors
    /// If a block has two values for a treatment.
    pub fn blocks(&self, rows: Range<usize>, monitor: &dyn Monitor) -> Result<Blocks> {
        let _keys = Reservation::new(monitor, 64 * rows.len()).map_err(stopped)?;
        let (blocks, treatments) = (self.blocks.slice(rows.clone()), self.treatments.slice(rows.clone()));
        let values = &self.values.as_primitive::<Float64Type>().values()[rows];
        let of_blocks = KeyIndex::new(&[("block", &blocks)])?;
        let of_treatments = KeyIndex::new(&[("treatment", &treatments)])?;
        let k = of_treatments.len();
        let cells = of_blocks.len().saturating_mul(k);
        let _table = Reservation::new(monitor, cells.saturating_mul(2 * size_of::<f64>())).map_err(stopped)?;
        let mut table = vec![f64::NAN; cells];
        let numbers = of_blocks.numbers(&blocks).into_iter().zip(of_treatments.numbers(&treatments));
        for ((block, treatment), &value) in numbers.zip(values) {
            let (Some(block), Some(treatment)) = (block, treatment) else { continue };
            let cell = &mut table[block as usize * k + treatment as usize];
            if !cell.is_nan() && !value.is_nan() {
                return Err(execution_error(format!(
                    "{}: the block {} has two values for the treatment {}: give one, for instance by avg",
                    self.name,
                    of_blocks.describe(block),
                    of_treatments.describe(treatment)
                )));
            }
            if !value.is_nan() {
                *cell = value;
            }
        }
        let whole = table.chunks(k.max(1)).filter(|block| !block.iter().any(|value| value.is_nan()));
        let table = whole.flatten().copied().collect();
        Ok(Blocks { treatments: of_treatments, table })
    }
}
