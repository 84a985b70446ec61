//! The columns of a graph's tables, and how plain values become record batches.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float64Array, Int64Array, Int64Builder, RecordBatch, RecordBatchOptions, StringArray, new_null_array,
};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use crate::matrix::{Matrix, Row};
use crate::{Error, Result};

/// The metadata of a field `features` that holds the number of features, also where they are sparse.
pub const WIDTH_KEY: &str = "bonnet.width";

/// The most rows of a batch.
pub(crate) const BATCH_ROWS: usize = 8192;

/// The most feature values of a batch (16 MiB).
const BATCH_VALUES: usize = 4 << 20;

pub(crate) fn list_item() -> FieldRef {
    Arc::new(Field::new("item", DataType::Float32, true))
}

pub(crate) fn map_fields() -> Fields {
    // The names that DataFusion's own maps have.
    vec![Field::new("key", DataType::Int32, false), Field::new("value", DataType::Float32, true)].into()
}

pub(crate) fn map_entries() -> FieldRef {
    Arc::new(Field::new("entries", DataType::Struct(map_fields()), false))
}

/// `FLOAT[]`: dense features.
pub fn dense_features_type() -> DataType {
    DataType::List(list_item())
}

/// `MAP(INT, FLOAT)` with keys in ascending order: sparse features, feature number -> value.
pub fn sparse_features_type() -> DataType {
    DataType::Map(map_entries(), true)
}

/// The number of features that a field declares, if it does.
pub fn features_width(field: &Field) -> Option<usize> {
    field.metadata().get(WIDTH_KEY)?.parse().ok()
}

/// How a data set's features are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Features {
    pub(crate) sparse: bool,
    pub(crate) width: Option<usize>,
}

impl Features {
    pub(crate) fn sparse(width: usize) -> Self {
        Self { sparse: true, width: Some(width) }
    }

    pub(crate) fn dense(width: usize) -> Self {
        Self { sparse: false, width: Some(width) }
    }

    /// No file has features: a column of NULLs.
    pub(crate) fn none() -> Self {
        Self { sparse: false, width: None }
    }

    pub(crate) fn field(self) -> Field {
        let data_type = if self.sparse { sparse_features_type() } else { dense_features_type() };
        let field = Field::new("features", data_type, true);
        match self.width {
            Some(width) => field.with_metadata(HashMap::from([(WIDTH_KEY.to_owned(), width.to_string())])),
            None => field,
        }
    }
}

/// `nodes(node, label, features)`.
pub(crate) fn nodes_schema(node: DataType, label: DataType, features: Features) -> SchemaRef {
    nodes_schema_with(node, label, features, &[])
}

/// `nodes(node, label, features, ...)` with other columns of TEXT.
pub(crate) fn nodes_schema_with(node: DataType, label: DataType, features: Features, others: &[&str]) -> SchemaRef {
    let mut fields = vec![Field::new("node", node, false), Field::new("label", label, true), features.field()];
    fields.extend(others.iter().map(|name| Field::new(*name, DataType::Utf8, true)));
    Arc::new(Schema::new(fields))
}

/// `edges(src, dst)`.
pub(crate) fn edges_schema(node: DataType) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("src", node.clone(), false), Field::new("dst", node, false)]))
}

/// `splits(split, node, part)`.
pub(crate) fn splits_schema(node: DataType) -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("split", DataType::Int64, false),
        Field::new("node", node, false),
        Field::new("part", DataType::Utf8, false),
    ]))
}

/// The values of one column, cut into batches later so that only the batch's own copy is made.
pub(crate) enum Values {
    /// The integers from 0 on.
    Numbers,
    Integers(Vec<i64>),
    /// A label: `None` is NULL.
    Labels(Vec<Option<i64>>),
    Reals(Vec<f64>),
    OptionalReals(Vec<Option<f64>>),
    Texts(Vec<String>),
    OptionalTexts(Vec<Option<String>>),
    Words(Vec<&'static str>),
    /// Feature vectors, and where each node's is.
    Features(Matrix, Box<dyn Fn(usize) -> Row>),
    /// NULL in every row.
    Nulls,
}

impl Values {
    fn cut(&self, rows: Range<usize>, data_type: &DataType) -> ArrayRef {
        match self {
            Self::Numbers => Arc::new(Int64Array::from_iter_values(rows.map(|i| i as i64))),
            Self::Integers(values) => Arc::new(Int64Array::from_iter_values(values[rows].iter().copied())),
            Self::Labels(values) => {
                let mut builder = Int64Builder::with_capacity(rows.len());
                values[rows].iter().for_each(|label| builder.append_option(*label));
                Arc::new(builder.finish())
            }
            Self::Reals(values) => Arc::new(Float64Array::from_iter_values(values[rows].iter().copied())),
            Self::OptionalReals(values) => Arc::new(Float64Array::from_iter(values[rows].iter().copied())),
            Self::Texts(values) => Arc::new(StringArray::from_iter_values(&values[rows])),
            Self::OptionalTexts(values) => Arc::new(StringArray::from_iter(&values[rows])),
            Self::Words(values) => Arc::new(StringArray::from_iter_values(&values[rows])),
            Self::Features(matrix, row_of) => matrix.column(rows, row_of),
            Self::Nulls => new_null_array(data_type, rows.len()),
        }
    }
}

/// Cuts columns of `rows` values into batches.
pub(crate) fn batches(
    schema: &Schema,
    projection: &[usize],
    rows: usize,
    mut values: impl FnMut(&str) -> Result<Values>,
    keep_going: &dyn Fn() -> bool,
) -> Result<Vec<RecordBatch>> {
    let schema = project(schema, projection);
    // A column that is asked for twice is read once.
    let mut columns = Vec::with_capacity(projection.len());
    let mut column_of: Vec<usize> = Vec::with_capacity(projection.len());
    for (position, field) in schema.fields().iter().enumerate() {
        if !keep_going() {
            return Err(Error::Cancelled);
        }
        match projection[..position].iter().position(|earlier| *earlier == projection[position]) {
            Some(earlier) => column_of.push(column_of[earlier]),
            None => {
                columns.push(values(field.name())?);
                column_of.push(columns.len() - 1);
            }
        }
    }
    let widest = columns.iter().map(|column| match column {
        Values::Features(Matrix::Dense { width, .. }, _) => *width,
        Values::Features(matrix @ Matrix::Sparse { entries, .. }, _) => entries.len() / matrix.rows().max(1),
        _ => 1,
    });
    let step = (BATCH_VALUES / widest.max().unwrap_or(1).max(1)).clamp(64, BATCH_ROWS);
    let mut batches = Vec::with_capacity(rows.div_ceil(step));
    for start in (0..rows).step_by(step) {
        if !keep_going() {
            return Err(Error::Cancelled);
        }
        let range = start..rows.min(start + step);
        let length = range.len();
        let arrays = column_of
            .iter()
            .zip(schema.fields())
            .map(|(&column, field)| columns[column].cut(range.clone(), field.data_type()))
            .collect();
        batches.push(batch(&schema, arrays, length));
    }
    Ok(batches)
}

/// The schema of a projection.
pub(crate) fn project(schema: &Schema, projection: &[usize]) -> SchemaRef {
    let fields: Vec<FieldRef> = projection.iter().map(|&i| Arc::clone(&schema.fields()[i])).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// A batch that knows its number of rows even without columns.
pub(crate) fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> RecordBatch {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).expect("columns are made for the schema")
}

/// `splits` rows in the making.
#[derive(Default)]
pub(crate) struct Splits {
    split: Vec<i64>,
    node: Vec<i64>,
    part: Vec<&'static str>,
}

impl Splits {
    pub(crate) fn push(&mut self, split: i64, node: i64, part: &'static str) {
        self.split.push(split);
        self.node.push(node);
        self.part.push(part);
    }

    /// The nodes that a mask marks.
    pub(crate) fn push_mask(&mut self, split: i64, mask: &[bool], part: &'static str) {
        mask.iter()
            .enumerate()
            .filter(|(_, marked)| **marked)
            .for_each(|(node, _)| self.push(split, node as i64, part));
    }

    pub(crate) fn batches(
        mut self,
        schema: &Schema,
        projection: &[usize],
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<RecordBatch>> {
        let rows = self.node.len();
        let column = |name: &str| {
            Ok(match name {
                "split" => Values::Integers(self.split.clone()),
                "node" => Values::Integers(self.node.clone()),
                _ => Values::Words(std::mem::take(&mut self.part)),
            })
        };
        batches(schema, projection, rows, column, keep_going)
    }
}

/// `edges` from endpoints.
pub(crate) fn edge_batches(
    schema: &Schema,
    projection: &[usize],
    (mut src, mut dst): (Vec<i64>, Vec<i64>),
    keep_going: &dyn Fn() -> bool,
) -> Result<Vec<RecordBatch>> {
    let rows = src.len();
    let column = |name: &str| {
        Ok(Values::Integers(match name {
            "src" => std::mem::take(&mut src),
            _ => std::mem::take(&mut dst),
        }))
    };
    batches(schema, projection, rows, column, keep_going)
}
