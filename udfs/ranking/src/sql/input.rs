//! Columns of the relations that ranking functions take.

use arrow::array::{ArrayRef, AsArray, RecordBatch, new_empty_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_sql::{InputSchema, KeyColumn, KeyIndex, execution_error, usage_error, whole_column};
use datafusion::common::Result;

/// The rows of one relation of a call.
pub struct Table<'a> {
    pub input: &'a InputSchema,
    pub batches: Vec<RecordBatch>,
}

impl Table<'_> {
    /// A column in one piece.
    pub fn column(&self, name: &str) -> Result<ArrayRef> {
        match whole_column(&self.batches, name)? {
            Some(column) => Ok(column),
            None => Ok(new_empty_array(self.input.schema.field_with_name(name)?.data_type())),
        }
    }

    /// A column of names: integers or text; what else tells values apart is taken as text.
    pub fn keys(&self, name: &str) -> Result<KeyColumn> {
        let column = self.column(name)?;
        let column = match KeyColumn::normal_type(column.data_type()) {
            Some(_) => column,
            None => cast(&column, &DataType::Utf8)?,
        };
        KeyColumn::new(&column, &format!("{}.{name}", self.input.name))
    }

    /// A column of numbers; NaN is no number.
    pub fn numbers(&self, name: &str) -> Result<Vec<Option<f64>>> {
        let column = cast(&self.column(name)?, &DataType::Float64)?;
        Ok(column.as_primitive::<Float64Type>().iter().map(|value| value.filter(|value| !value.is_nan())).collect())
    }
}

/// Fails unless a column, which is there, holds numbers.
pub fn require_number(function: &str, input: &InputSchema, column: &str) -> Result<()> {
    let data_type = input.schema.field_with_name(column)?.data_type();
    match data_type.is_numeric() || *data_type == DataType::Null {
        true => Ok(()),
        false => usage_error(format!("{function}: {}.{column} is {data_type}, expected a number", input.name)),
    }
}

/// Fails unless a column, which is there, can name things.
pub fn require_names(function: &str, input: &InputSchema, column: &str) -> Result<()> {
    let data_type = input.schema.field_with_name(column)?.data_type();
    match data_type.is_nested() {
        false => Ok(()),
        true => usage_error(format!("{function}: {}.{column} is {data_type}, expected integers or text", input.name)),
    }
}

/// The relation `groups` of `item, regime`: the regime of each item of an index that it names, from 0.
pub struct Regimes {
    /// Whether the item is listed, and its regime, if it has one.
    pub of_item: Vec<Option<Option<u32>>>,
}

impl Regimes {
    /// # Errors
    /// If an item is listed with two regimes.
    pub fn new(function: &str, groups: &Table<'_>, items: &KeyIndex) -> Result<Self> {
        let names = groups.keys("regime")?;
        let regimes = KeyIndex::new(&[("groups.regime", &names)])?;
        let mut of_item: Vec<Option<Option<u32>>> = vec![None; items.len()];
        for (item, regime) in items.numbers(&groups.keys("item")?).into_iter().zip(regimes.numbers(&names)) {
            let Some(item) = item else { continue };
            match &mut of_item[item as usize] {
                place @ None => *place = Some(regime),
                Some(other) if *other != regime => {
                    let name =
                        |regime: Option<u32>| regime.map_or("NULL".to_owned(), |regime| regimes.describe(regime));
                    return Err(execution_error(format!(
                        "{function}: groups gives the item {} two regimes, {} and {}",
                        items.describe(item),
                        name(*other),
                        name(regime)
                    )));
                }
                Some(_) => {}
            }
        }
        Ok(Self { of_item })
    }

    /// The regime of an item; `None` for one whose regime is NULL.
    ///
    /// # Errors
    /// If `groups` does not list it.
    pub fn of(&self, function: &str, items: &KeyIndex, item: u32) -> Result<Option<u32>> {
        self.of_item[item as usize].ok_or_else(|| {
            execution_error(format!(
                "{function}: the item {} is not in groups: add it, with the regime NULL to leave it out",
                items.describe(item)
            ))
        })
    }
}

/// The columns as rows of numbers, NULL as NaN.
pub fn number_rows<const N: usize>(columns: &[ArrayRef]) -> Result<Vec<[f64; N]>> {
    let mut rows = vec![[f64::NAN; N]; columns[0].len()];
    for (i, column) in columns.iter().take(N).enumerate() {
        let column = cast(column, &DataType::Float64)?;
        for (row, value) in rows.iter_mut().zip(column.as_primitive::<Float64Type>()) {
            row[i] = value.unwrap_or(f64::NAN);
        }
    }
    Ok(rows)
}
