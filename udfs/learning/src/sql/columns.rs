//! Labels and features of a graph's tables as classes and matrices.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Int64Type, Schema};
use bonnet_sql::{KeyColumn, KeyIndex, sql_type};

use crate::data::features::{no_features, stand_ins};
use crate::{FeatureSource, Featureless, Features, SparseRows};

/// Columns of sparse features: a layer has a row of parameters for each, whether they occur or not.
const MOST_COLUMNS: usize = 100_000_000;

/// Dense rows with a smaller share of non-zero entries than this are trained on as sparse ones: bags of words that were
/// published as dense arrays.
const SPARSE: f64 = 0.25;

/// The column of the labels of a job that names none.
pub(super) const LABEL: &str = "label";

/// What a job says whose column of labels is not there; `whose` says what has the columns that there are.
pub(super) fn no_labels(whose: &str, label: &str, there: &Schema) -> String {
    let names: Vec<&str> = there.fields().iter().map(|field| field.name().as_str()).collect();
    format!("{whose} no column {label}: name one with label => '...'; there are: {}", names.join(", "))
}

/// The features that a graph has.
#[derive(Debug)]
pub(super) enum OwnFeatures {
    /// A row a node.
    Rows(Arc<Features>),
    /// A row a node, in columns of its type.
    Typed {
        /// With a column for each node of a type without features.
        embedded: Arc<Features>,
        /// With the means of neighbours in their place; the reason where they are not to be had.
        means: std::result::Result<Arc<Features>, String>,
    },
    /// None at all; what a job says that asks for them.
    Absent(String),
    /// Some that cannot be read, and why.
    Malformed(String),
}

impl OwnFeatures {
    /// Those of a graph without a column for them.
    pub fn absent() -> Self {
        Self::Absent(no_features().to_string())
    }

    /// Those of a graph whose column holds nothing but NULL for `n` nodes; a file that is missing is no such.
    pub fn all_null(column: &ArrayRef, n: usize, missing: Option<&str>) -> bool {
        n > 0 && missing.is_none() && column.logical_null_count() == column.len()
    }

    /// Features in any of the forms of a graph's table; `name` gives the key of a node's number.
    pub fn read(
        column: &ArrayRef,
        field: &Field,
        row_of: &[u32],
        missing: Option<&str>,
        name: &dyn Fn(u32) -> String,
    ) -> Self {
        match read_features(column, field, row_of, missing, name) {
            Ok(features) => Self::Rows(Arc::new(features)),
            Err(why) if Self::all_null(column, row_of.len(), missing) => Self::Absent(why),
            Err(why) => Self::Malformed(why),
        }
    }

    /// The features of a run; an error where it reads those that are given and there are none that can be read.
    pub fn of(&self, source: FeatureSource, featureless: Featureless) -> std::result::Result<Arc<Features>, String> {
        match self {
            _ if !source.reads_given() => Ok(Arc::new(Features::None)),
            Self::Rows(features) => Ok(Arc::clone(features)),
            Self::Typed { embedded, means } => match featureless {
                Featureless::Embedding => Ok(Arc::clone(embedded)),
                Featureless::NeighborMean => means.clone(),
            },
            Self::Absent(_) if source == FeatureSource::Auto => Ok(Arc::new(Features::None)),
            Self::Absent(why) | Self::Malformed(why) => Err(why.clone()),
        }
    }

    /// Whether there is nothing to read.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent(_))
    }

    /// The bytes that they hold.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Rows(features) => features.bytes(),
            Self::Typed { embedded, means } => {
                let other = means.as_ref().ok().filter(|means| !Arc::ptr_eq(means, embedded));
                embedded.bytes() + other.map_or(0, |means| means.bytes())
            }
            Self::Absent(_) | Self::Malformed(_) => 0,
        }
    }
}

/// The keys of items and the labels of classes, by their numbers.
#[derive(Debug, Clone)]
pub(super) struct Names {
    /// The keys of the nodes or graphs.
    pub items: Arc<KeyIndex>,
    /// The labels of the classes.
    pub classes: Arc<Vec<String>>,
    /// The number of each item's key, where items are not numbered as their keys.
    key_of: Option<Arc<[u32]>>,
    /// The time of each item, where items have some.
    pub times: Option<ArrayRef>,
}

impl Names {
    /// Those of items that are numbered as their keys.
    pub fn new(items: Arc<KeyIndex>, classes: Arc<Vec<String>>) -> Self {
        Self { items, classes, key_of: None, times: None }
    }

    /// The same keys and labels for items of these keys and times.
    pub fn of_items(self, key_of: Arc<[u32]>, times: Option<ArrayRef>) -> Self {
        Self { key_of: Some(key_of), times, ..self }
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.key_of.as_ref().map_or(self.items.len(), |key_of| key_of.len())
    }

    /// The key of an item as text.
    pub fn key(&self, item: u32) -> String {
        let number = self.key_of.as_ref().map_or(item, |key_of| key_of[item as usize]);
        match &*self.items {
            KeyIndex::Integer { keys, .. } => keys[number as usize].to_string(),
            KeyIndex::Text { keys, .. } => keys[number as usize].to_string(),
        }
    }
}

/// The class of each item, and what the classes are called.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    pub of: Vec<Option<u32>>,
    pub names: Arc<Vec<String>>,
}

impl Classes {
    /// The bytes that it holds.
    pub fn bytes(&self) -> usize {
        let names: usize = self.names.iter().map(|name| size_of::<String>() + name.len()).sum();
        names + size_of_val(self.of.as_slice())
    }
}

/// The class of each item: labels in ascending order are classes 0, 1, ...
pub(super) fn classes(
    label: &ArrayRef,
    what: &str,
    task: &str,
    row_of: &[u32],
) -> std::result::Result<Classes, String> {
    let label = match label.data_type() {
        DataType::Boolean => cast(label, &DataType::Utf8).map_err(|error| error.to_string())?,
        data_type if KeyColumn::normal_type(data_type).is_none() => {
            let found = sql_type(data_type);
            return Err(format!("labels are {found}, but {task} needs classes: integers, text or booleans"));
        }
        _ => Arc::clone(label),
    };
    let keys = KeyColumn::new(&label, what).map_err(|error| error.to_string())?;
    let index = KeyIndex::new(&[(what, &keys)]).map_err(|error| error.to_string())?;
    if index.is_empty() {
        return Err("all labels are NULL: there is nothing to learn".to_owned());
    }
    let numbers = index.numbers(&keys);
    let names = cast(&index.array(), &DataType::Utf8).map_err(|error| error.to_string())?;
    let names = names.as_string::<i32>().iter().map(|name| name.unwrap_or_default().to_owned()).collect();
    Ok(Classes { of: row_of.iter().map(|&row| numbers[row as usize]).collect(), names: Arc::new(names) })
}

/// The number of each item.
pub(super) fn values(label: &ArrayRef, task: &str, row_of: &[u32]) -> std::result::Result<Vec<Option<f64>>, String> {
    if !label.data_type().is_numeric() {
        let hint = if label.data_type().is_nested() { ": choose one of them in a view" } else { "" };
        let found = sql_type(label.data_type());
        return Err(format!("labels are {found}, but {task} needs one number each{hint}"));
    }
    let numbers = cast(label, &DataType::Float64).map_err(|error| error.to_string())?;
    let numbers = numbers.as_primitive::<Float64Type>();
    let at = |&row: &u32| numbers.is_valid(row as usize).then(|| numbers.value(row as usize));
    let values: Vec<Option<f64>> = row_of.iter().map(at).collect();
    match values.iter().all(Option::is_none) {
        true => Err("all labels are NULL: there is nothing to learn".to_owned()),
        false => Ok(values),
    }
}

/// The features of the nodes whose rows are `row_of`, all of one width; `name` gives the key of a node's number.
///
/// # Errors
/// If there are none, or they are malformed; says where.
pub(super) fn read_features(
    column: &ArrayRef,
    field: &Field,
    row_of: &[u32],
    missing: Option<&str>,
    name: &dyn Fn(u32) -> String,
) -> std::result::Result<Features, String> {
    let n = row_of.len();
    let absent = column.logical_nulls().map_or(0, |nulls| nulls.null_count());
    if absent > 0 {
        let why = missing.map_or_else(|| "their features are NULL".to_owned(), |file| format!("missing file: {file}"));
        return Err(format!("{absent} of {n} nodes have no features ({why}); {}", stand_ins()));
    }
    let width = field.metadata().get("bonnet.width").and_then(|width| width.parse::<usize>().ok());
    let arrow = |error: arrow::error::ArrowError| error.to_string();
    let entries = match column.data_type() {
        DataType::Map(_, _) => {
            let map = column.as_map();
            Some((map.value_offsets().to_vec(), Arc::clone(map.keys()), Arc::clone(map.values())))
        }
        DataType::List(item) | DataType::LargeList(item) if matches!(item.data_type(), DataType::Struct(_)) => {
            let list = cast(column, &DataType::List(Arc::clone(item))).map_err(arrow)?;
            let list = list.as_list::<i32>();
            let structs = list.values().as_struct();
            let (Some(index), Some(value)) = (structs.column_by_name("index"), structs.column_by_name("value")) else {
                return Err(format!("features are {}: sparse entries are {{index, value}}", column.data_type()));
            };
            Some((list.value_offsets().to_vec(), Arc::clone(index), Arc::clone(value)))
        }
        _ => None,
    };
    let wrong = |error: crate::DataError| error.to_string();
    if let Some((starts, index, value)) = entries {
        let (index, value) =
            (cast(&index, &DataType::Int64).map_err(arrow)?, cast(&value, &DataType::Float32).map_err(arrow)?);
        let (index, value) = (index.as_primitive::<Int64Type>(), value.as_primitive::<Float32Type>());
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (node, &row) in row_of.iter().enumerate() {
            for entry in starts[row as usize] as usize..starts[row as usize + 1] as usize {
                let position = match u32::try_from(index.value(entry)) {
                    Ok(position) if index.is_valid(entry) && value.is_valid(entry) => position,
                    _ => {
                        return Err(format!(
                            "the features of node {} hold a negative or NULL index, or a NULL value",
                            name(node as u32)
                        ));
                    }
                };
                finite(value.value(entry), position as usize, node, name)?;
                columns.push(position);
                values.push(value.value(entry));
            }
            offsets.push(columns.len());
        }
        let seen = columns.iter().max().map_or(0, |&index| index as usize + 1);
        if seen > MOST_COLUMNS {
            return Err(format!(
                "the features have an index of {}, and {MOST_COLUMNS} columns at most are read: number them from 0 on, without \
                 gaps, such as dense_rank() OVER (ORDER BY column) - 1",
                seen - 1
            ));
        }
        return SparseRows::new(width.unwrap_or(seen).max(seen), offsets, columns, values)
            .map(Features::Sparse)
            .map_err(wrong);
    }
    match column.data_type() {
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _) => {}
        other => return Err(format!("features are {other}: expected FLOAT[] or MAP(INT, FLOAT)")),
    }
    let list = DataType::List(Arc::new(Field::new("item", DataType::Float32, true)));
    let list = cast(column, &list).map_err(arrow)?;
    let list = list.as_list::<i32>();
    let width = list.value_length(0).max(0) as usize;
    let numbers = list.values().as_primitive::<Float32Type>();
    let mut values = Vec::with_capacity(n * width);
    for (node, &row) in row_of.iter().enumerate() {
        let (start, length) = (list.value_offsets()[row as usize] as usize, list.value_length(row as usize) as usize);
        if length != width {
            let node = name(node as u32);
            return Err(format!(
                "node {node} has {length} features, where the first row has {width}: all need as many"
            ));
        }
        if numbers.slice(start, length).null_count() > 0 {
            return Err(format!("a feature of node {} is NULL", name(node as u32)));
        }
        let row = &numbers.values()[start..start + length];
        row.iter().enumerate().try_for_each(|(column, value)| finite(*value, column, node, name))?;
        values.extend_from_slice(row);
    }
    let entries = values.iter().filter(|value| **value != 0.0).count();
    if (entries as f64) < SPARSE * values.len() as f64 {
        return sparse(width, &values).map(Features::Sparse).map_err(wrong);
    }
    Features::dense(width, values).map_err(wrong)
}

/// Fails for a feature that is no number, and names the node.
fn finite(value: f32, column: usize, node: usize, name: &dyn Fn(u32) -> String) -> std::result::Result<(), String> {
    match value.is_finite() {
        true => Ok(()),
        false => {
            let node = name(node as u32);
            Err(format!("feature {column} of node {node} is {value}; features must be finite"))
        }
    }
}

/// The non-zero entries of dense rows.
fn sparse(width: usize, values: &[f32]) -> std::result::Result<SparseRows, crate::DataError> {
    let (mut offsets, mut columns, mut entries) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks_exact(width) {
        for (column, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            columns.push(column as u32);
            entries.push(*value);
        }
        offsets.push(columns.len());
    }
    SparseRows::new(width, offsets, columns, entries)
}
