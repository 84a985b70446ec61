//! A relation of values of all pairs of items as a matrix.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    InputSchema, KeyColumn, KeyIndex, Run, execution_error, require_columns, stopped, usage_error, whole_column,
};
use datafusion::common::Result;

/// What the values of pairs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairKind {
    /// Distances: at least 0; of an item from itself 0, given or not.
    Distance,
    /// Similarities: of an item with itself too, if `diagonal` asks for it.
    Kernel {
        /// Whether values below 0 are refused.
        positive: bool,
        /// Whether the similarity of each item with itself has to be there.
        diagonal: bool,
    },
}

impl PairKind {
    /// The column of the values.
    pub(super) fn column(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Kernel { .. } => "kernel",
        }
    }

    fn fits(self, value: f64) -> bool {
        value.is_finite() && (value >= 0.0 || matches!(self, Self::Kernel { positive: false, .. }))
    }

    fn range(self) -> &'static str {
        match self {
            Self::Kernel { positive: false, .. } => "it must be finite",
            _ => "it must be finite and at least 0",
        }
    }
}

/// Checks that a relation has the columns of pairs, and gives the type of the items.
///
/// # Errors
/// If a column is missing or of another type.
pub(super) fn pair_schema(function: &str, input: &InputSchema, kind: PairKind) -> Result<DataType> {
    let column = kind.column();
    require_columns(function, input, &["a", "b", column])?;
    let key = |name: &str| -> Result<DataType> {
        let given = input.schema.field_with_name(name)?.data_type();
        match KeyColumn::normal_type(given) {
            Some(normal) => Ok(normal),
            None => usage_error(format!("{function}: {name} is {given}: items are integers or text")),
        }
    };
    let (a, b) = (key("a")?, key("b")?);
    if a != b {
        return usage_error(format!("{function}: a is {a} and b is {b}: cast one of them"));
    }
    let value = input.schema.field_with_name(column)?.data_type();
    if !value.is_numeric() && *value != DataType::Null {
        return usage_error(format!("{function}: {column} is {value}: expected numbers"));
    }
    Ok(a)
}

/// The items of a relation of pairs, and their values.
pub(super) struct PairMatrix {
    /// The items in their order.
    pub(super) items: KeyIndex,
    /// The value of items i and j at i n + j.
    pub(super) values: Vec<f64>,
}

impl PairMatrix {
    /// Reads the first relation of a run, each pair once or both ways; `None` without rows. The memory of the matrix is reserved until
    /// the run ends.
    ///
    /// # Errors
    /// If a pair is missing, has two values, or one that does not fit.
    pub(super) fn collect(function: &str, kind: PairKind, run: &mut Run) -> Result<Option<Self>> {
        let batches = run.collect(0)?;
        let host = run.host();
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let _rows = Reservation::new(host, 32 * rows).map_err(stopped)?;
        if rows == 0 {
            return Ok(None);
        }
        let column = |name: &str| -> Result<ArrayRef> {
            Ok(whole_column(&batches, name)?.unwrap_or_else(|| new_null_array(&DataType::Null, 0)))
        };
        let (a, b) = (KeyColumn::new(&column("a")?, "a")?, KeyColumn::new(&column("b")?, "b")?);
        let items = KeyIndex::new(&[("a", &a), ("b", &b)])?;
        let values = cast(&column(kind.column())?, &DataType::Float64)?;
        let values = values.as_primitive::<Float64Type>();
        let values = matrix(function, kind, &items, [&items.numbers(&a), &items.numbers(&b)], values, host)?;
        Ok(Some(Self { items, values }))
    }
}

/// The values of all pairs, row by row.
fn matrix(
    function: &str,
    kind: PairKind,
    items: &KeyIndex,
    ends: [&[Option<u32>]; 2],
    values: &Float64Array,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>> {
    let n = items.len();
    // Given back when the run ends.
    monitor.reserve(n.saturating_mul(n).saturating_mul(size_of::<f64>())).map_err(stopped)?;
    let column = kind.column();
    let mut matrix = vec![f64::NAN; n * n];
    if kind == PairKind::Distance {
        (0..n).for_each(|i| matrix[i * n + i] = 0.0);
    }
    for (row, (a, b)) in ends[0].iter().zip(ends[1]).enumerate() {
        if row % (1 << 16) == 0 {
            monitor.check().map_err(stopped)?;
        }
        let (&Some(a), &Some(b)) = (a, b) else {
            return Err(execution_error(format!("{function}: a or b is NULL in a row of {column}s")));
        };
        // In the items' order, so that the text does not depend on that of the rows.
        let pair =
            || format!("{function}: the {column} of {} and {}", items.describe(a.min(b)), items.describe(a.max(b)));
        let value = match values.is_valid(row).then(|| values.value(row)) {
            Some(value) if kind.fits(value) => value,
            Some(value) => return Err(execution_error(format!("{} is {value}; {}", pair(), kind.range()))),
            None => return Err(execution_error(format!("{} is NULL", pair()))),
        };
        let known = matrix[a as usize * n + b as usize];
        // NaN stands for a pair that has not come yet.
        if !known.is_nan() && known != value {
            let (least, most) = (known.min(value), known.max(value));
            return Err(execution_error(format!("{} is given as {least} and as {most}", pair())));
        }
        matrix[a as usize * n + b as usize] = value;
        matrix[b as usize * n + a as usize] = value;
    }
    if let PairKind::Kernel { diagonal: false, .. } = kind {
        for i in 0..n {
            let own = &mut matrix[i * n + i];
            *own = if own.is_nan() { 0.0 } else { *own };
        }
    }
    let pairs = (0..n).flat_map(|i| (i..n).map(move |j| (i, j)));
    let mut missing = pairs.filter(|(i, j)| matrix[i * n + j].is_nan());
    if let Some((a, b)) = missing.next() {
        let count = 1 + missing.count();
        let own = if matches!(kind, PairKind::Kernel { diagonal: true, .. }) { n } else { 0 };
        let (a, b) = (items.describe(a as u32), items.describe(b as u32));
        return Err(execution_error(format!(
            "{function}: {count} of the {} pairs of items have no {column}, e.g. {a} and {b}; give each pair once",
            n * (n - 1) / 2 + own
        )));
    }
    Ok(matrix)
}
