//! Diagrams and landscapes as values of SQL: lists of structs.
//!
//! A diagram is a list of `{dim, birth, death}`; a landscape a list of its corners `{dim, k, x, y}`, by k and x.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int32Array, ListArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, Fields, Float64Type, Int32Type};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{execution_error, stopped, usage_error};
use datafusion::common::{DataFusionError, Result};
use rayon::prelude::*;

use crate::{Exponent, Landscape, Point, check_diagram};

fn fields(integers: &[&str], numbers: &[&str]) -> Fields {
    let integers = integers.iter().map(|name| Field::new(*name, DataType::Int32, true));
    let numbers = numbers.iter().map(|name| Field::new(*name, DataType::Float64, true));
    integers.chain(numbers).collect()
}

fn diagram_fields() -> Fields {
    fields(&["dim"], &["birth", "death"])
}

fn landscape_fields() -> Fields {
    fields(&["dim", "k"], &["x", "y"])
}

fn list_of(fields: Fields) -> DataType {
    DataType::List(Arc::new(Field::new("item", DataType::Struct(fields), true)))
}

/// The type of a diagram.
pub(super) fn diagram_type() -> DataType {
    list_of(diagram_fields())
}

/// The type of a landscape.
pub(super) fn landscape_type() -> DataType {
    list_of(landscape_fields())
}

/// A list column with a row for each item of `lengths`, NULL where there is none.
fn lists(fields: Fields, columns: Vec<ArrayRef>, lengths: &[Option<usize>]) -> Result<ListArray> {
    let elements: usize = lengths.iter().flatten().sum();
    if i32::try_from(elements).is_err() {
        return Err(execution_error(format!(
            "{elements} elements in the lists of {} rows: a block of rows holds at most {}; compute on fewer rows, or ask \
             for fewer functions of a landscape",
            lengths.len(),
            i32::MAX
        )));
    }
    let offsets = OffsetBuffer::from_lengths(lengths.iter().map(|length| length.unwrap_or(0)));
    let nulls = NullBuffer::from_iter(lengths.iter().map(Option::is_some));
    let structs = StructArray::try_new(fields.clone(), columns, None)?;
    let item = Arc::new(Field::new("item", DataType::Struct(fields), true));
    Ok(ListArray::try_new(item, offsets, Arc::new(structs), Some(nulls))?)
}

/// A row a diagram.
pub(super) fn diagram_array(diagrams: &[Option<Vec<Point>>]) -> Result<ListArray> {
    let lengths: Vec<_> = diagrams.iter().map(|diagram| diagram.as_ref().map(Vec::len)).collect();
    let points = lengths.iter().flatten().sum();
    let (mut dims, mut births) = (Vec::with_capacity(points), Vec::with_capacity(points));
    let mut deaths = Vec::with_capacity(points);
    for diagram in diagrams.iter().flatten() {
        dims.extend(diagram.iter().map(|point| point.dim as i32));
        births.extend(diagram.iter().map(|point| point.birth));
        deaths.extend(diagram.iter().map(|point| point.death));
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(dims)),
        Arc::new(Float64Array::from(births)),
        Arc::new(Float64Array::from(deaths)),
    ];
    lists(diagram_fields(), columns, &lengths)
}

/// A landscape with the dimension of its classes: none if it is 0 everywhere.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DimLandscape {
    pub dim: Option<u32>,
    pub landscape: Landscape,
}

/// A row a landscape.
pub(super) fn landscape_array(landscapes: &[Option<DimLandscape>], monitor: &dyn Monitor) -> Result<ListArray> {
    let count = |it: &DimLandscape| it.landscape.corners().len();
    let lengths: Vec<_> = landscapes.iter().map(|it| it.as_ref().map(count)).collect();
    let elements: usize = lengths.iter().flatten().sum();
    let _reservation = Reservation::new(monitor, 24 * elements).map_err(stopped)?;
    let (mut dims, mut ks) = (Vec::with_capacity(elements), Vec::with_capacity(elements));
    let (mut xs, mut ys) = (Vec::with_capacity(elements), Vec::with_capacity(elements));
    for it in landscapes.iter().flatten() {
        dims.resize(dims.len() + count(it), it.dim.unwrap_or(0) as i32);
        for (corners, k) in it.landscape.functions().zip(1i32..) {
            ks.resize(ks.len() + corners.len(), k);
        }
        xs.extend(it.landscape.corners().iter().map(|corner| corner.0));
        ys.extend(it.landscape.corners().iter().map(|corner| corner.1));
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(dims)),
        Arc::new(Int32Array::from(ks)),
        Arc::new(Float64Array::from(xs)),
        Arc::new(Float64Array::from(ys)),
    ];
    lists(landscape_fields(), columns, &lengths)
}

/// A column of lists of structs with named number fields.
struct StructLists {
    lists: ListArray,
    integers: Vec<Int32Array>,
    numbers: Vec<Float64Array>,
    structs: Option<NullBuffer>,
    /// Whether anything within the lists is NULL.
    nulls: bool,
}

impl StructLists {
    /// Reads the named fields, in any order and of any number type. `what` is the argument in errors.
    fn new(column: &ArrayRef, what: &str, integers: &[&str], numbers: &[&str]) -> Result<Self> {
        let wrong = || {
            let fields = [integers, numbers].concat().join(", ");
            DataFusionError::Plan(format!("{what} is {}, expected a list of {{{fields}}}", column.data_type()))
        };
        let lists = match column.data_type() {
            DataType::Null => ListArray::new_null(Arc::new(Field::new("item", DataType::Null, true)), column.len()),
            DataType::List(_) => column.as_list::<i32>().clone(),
            DataType::LargeList(item) | DataType::FixedSizeList(item, _) | DataType::ListView(item) => {
                let cast = arrow::compute::cast(column, &DataType::List(Arc::clone(item)))?;
                cast.as_list::<i32>().clone()
            }
            _ => return Err(wrong()),
        };
        let Some(structs) = lists.values().as_struct_opt() else {
            // A list without elements has no type of them.
            if !lists.values().is_empty() && !matches!(lists.value_type(), DataType::Null) {
                return Err(wrong());
            }
            let none = |_: &&str| Int32Array::new_null(lists.values().len());
            return Ok(Self {
                integers: integers.iter().map(none).collect(),
                numbers: numbers.iter().map(|_| Float64Array::new_null(lists.values().len())).collect(),
                structs: None,
                nulls: !lists.values().is_empty(),
                lists,
            });
        };
        let strict = CastOptions { safe: false, ..Default::default() };
        let field = |name: &str, data_type: &DataType| -> Result<ArrayRef> {
            match structs.column_by_name(name) {
                Some(field) if field.data_type().is_numeric() || *field.data_type() == DataType::Null => {
                    Ok(cast_with_options(field, data_type, &strict)?)
                }
                _ => Err(wrong()),
            }
        };
        let integers: Vec<Int32Array> = integers
            .iter()
            .map(|name| Ok(field(name, &DataType::Int32)?.as_primitive::<Int32Type>().clone()))
            .collect::<Result<_>>()?;
        let numbers: Vec<Float64Array> = numbers
            .iter()
            .map(|name| Ok(field(name, &DataType::Float64)?.as_primitive::<Float64Type>().clone()))
            .collect::<Result<_>>()?;
        let nulls = structs.null_count() > 0
            || integers.iter().any(|field| field.null_count() > 0)
            || numbers.iter().any(|field| field.null_count() > 0);
        Ok(Self { integers, numbers, structs: structs.nulls().cloned(), nulls, lists })
    }

    /// The elements of a row; `None` if it is NULL.
    fn row(&self, row: usize) -> Option<Range<usize>> {
        if self.lists.is_null(row) {
            return None;
        }
        let offsets = self.lists.value_offsets();
        Some(offsets[row] as usize..offsets[row + 1] as usize)
    }

    /// The number of elements of some rows.
    fn elements(&self, rows: &Range<usize>) -> usize {
        let offsets = self.lists.value_offsets();
        (offsets[rows.end] - offsets[rows.start]) as usize
    }

    /// Whether an element or a field of it is NULL.
    fn has_null(&self, element: usize) -> bool {
        self.nulls && self.null_in(element)
    }

    fn null_in(&self, element: usize) -> bool {
        self.structs.as_ref().is_some_and(|nulls| nulls.is_null(element))
            || self.integers.iter().any(|field| field.is_null(element))
            || self.numbers.iter().any(|field| field.is_null(element))
    }
}

/// A column of diagrams.
pub(super) struct Diagrams {
    rows: StructLists,
    function: &'static str,
}

impl Diagrams {
    pub fn new(column: &ArrayRef, function: &'static str, argument: &str) -> Result<Self> {
        let what = format!("{function}: {argument}");
        Ok(Self { rows: StructLists::new(column, &what, &["dim"], &["birth", "death"])?, function })
    }

    /// The bytes of the diagrams of some rows, once they are read.
    pub fn bytes(&self, rows: Range<usize>) -> usize {
        self.rows.elements(&rows) * size_of::<Point>() + rows.len() * size_of::<Vec<Point>>()
    }

    /// The diagram of a row; `None` for NULL.
    pub fn row(&self, row: usize) -> Result<Option<Vec<Point>>> {
        let Some(elements) = self.rows.row(row) else { return Ok(None) };
        let start = elements.start;
        let (dims, births, deaths) = (&self.rows.integers[0], &self.rows.numbers[0], &self.rows.numbers[1]);
        let point = |i: usize| {
            let fail = |why: String| Err(execution_error(format!("{}: {why}", self.function)));
            if self.rows.has_null(i) {
                return fail(format!("point {} of the diagram has a NULL", i - start + 1));
            }
            match u32::try_from(dims.value(i)) {
                Ok(dim) => Ok(Point { dim, birth: births.value(i), death: deaths.value(i) }),
                Err(_) => fail(format!("point {} of the diagram has the dimension {}", i - start + 1, dims.value(i))),
            }
        };
        let points = elements.map(point).collect::<Result<Vec<_>>>()?;
        check_diagram(&points).map_err(|error| execution_error(format!("{}: {error}", self.function)))?;
        Ok(Some(points))
    }
}

/// A column of landscapes.
pub(super) struct Landscapes {
    rows: StructLists,
    function: &'static str,
}

impl Landscapes {
    pub fn new(column: &ArrayRef, function: &'static str, argument: &str) -> Result<Self> {
        let what = format!("{function}: {argument}");
        Ok(Self { rows: StructLists::new(column, &what, &["dim", "k"], &["x", "y"])?, function })
    }

    /// The bytes of the landscapes of some rows, once they are read.
    pub fn bytes(&self, rows: Range<usize>) -> usize {
        self.rows.elements(&rows) * size_of::<(f64, f64)>() + rows.len() * size_of::<DimLandscape>()
    }

    /// The landscape of a row; `None` for NULL.
    pub fn row(&self, row: usize) -> Result<Option<DimLandscape>> {
        let Some(elements) = self.rows.row(row) else { return Ok(None) };
        let start = elements.start;
        let (dims, ks) = (&self.rows.integers[0], &self.rows.integers[1]);
        let (xs, ys) = (&self.rows.numbers[0], &self.rows.numbers[1]);
        let mut it = DimLandscape { dim: None, landscape: Landscape::with_capacity(elements.len()) };
        let (mut functions, mut before) = (0, f64::NEG_INFINITY);
        for i in elements.clone() {
            let fail = |why: &str| {
                let row = i - start + 1;
                Err(execution_error(format!(
                    "{}: corner {row} of the landscape {why}; a landscape lists the corners of lambda_1 from left to \
                     right, then those of lambda_2, and so on, each function from 0 to 0",
                    self.function
                )))
            };
            if self.rows.has_null(i) {
                return fail("has a NULL");
            }
            let (Ok(dim), Ok(k)) = (u32::try_from(dims.value(i)), usize::try_from(ks.value(i))) else {
                return fail("has a negative dim or k");
            };
            let (x, y) = (xs.value(i), ys.value(i));
            if !x.is_finite() || !y.is_finite() {
                return fail("is not finite");
            }
            if *it.dim.get_or_insert(dim) != dim {
                return fail("has another dim than the first");
            }
            if k == functions + 1 {
                it.landscape.begin();
                (functions, before) = (k, f64::NEG_INFINITY);
                if y != 0.0 {
                    return fail("begins a function and is not at 0");
                }
            }
            let last = i + 1 == elements.end || ks.value(i + 1) != ks.value(i);
            if last && y != 0.0 {
                return fail("ends a function and is not at 0");
            }
            if k == 0 || k != functions || x < before {
                return fail("stands out of order");
            }
            before = x;
            it.landscape.push((x, y));
        }
        Ok(Some(it))
    }
}

/// The common dimension of two landscapes.
pub(super) fn common_dim(function: &str, a: Option<u32>, b: Option<u32>) -> Result<Option<u32>> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Err(execution_error(format!(
            "{function}: landscapes of dimension {a} and {b}: compare like with like, dimension by dimension"
        ))),
        (a, b) => Ok(a.or(b)),
    }
}

/// A dimension given as a number.
pub(super) fn dimension(function: &str, value: f64) -> Result<u32> {
    match value.fract() == 0.0 && (0.0..=f64::from(i32::MAX)).contains(&value) {
        true => Ok(value as u32),
        false => Err(execution_error(format!("{function}: dim is {value}, expected 0, 1, ..."))),
    }
}

/// The exponent of a norm in a column of numbers or strings; `None` for NULL.
pub(super) fn exponent(function: &str, column: &ArrayRef, row: usize) -> Result<Option<Exponent>> {
    if column.is_null(row) {
        return Ok(None);
    }
    let text = match column.data_type() {
        DataType::Null => return Ok(None),
        DataType::Float64 => {
            let value = column.as_primitive::<Float64Type>().value(row);
            match Exponent::new(value) {
                Some(exponent) => return Ok(Some(exponent)),
                None => value.to_string(),
            }
        }
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        other => return usage_error(format!("{function}: p is {other}, expected a number or 'inf'")),
    };
    named_exponent(function, &text).map(Some)
}

/// The exponent of a norm that is written as a word.
pub(super) fn named_exponent(function: &str, text: &str) -> Result<Exponent> {
    match text.eq_ignore_ascii_case("inf") {
        true => Ok(Exponent::INFINITE),
        false => usage_error(format!("{function}: p => {text}: expected a number of at least 1, or 'inf'")),
    }
}

/// A column of numbers; one that is left out is all NULL and has no type.
pub(super) fn numbers(column: &ArrayRef) -> Result<Float64Array> {
    Ok(arrow::compute::cast(column, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
}

/// One value per row: side by side in the kernel threads, one after the other for a caller that is none of them.
pub(super) fn rows<T: Send>(n: usize, value: impl Fn(usize) -> Result<T> + Send + Sync) -> Result<Vec<T>> {
    match rayon::current_thread_index() {
        Some(_) => (0..n).into_par_iter().map(value).collect(),
        None => (0..n).map(value).collect(),
    }
}
