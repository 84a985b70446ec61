//! Columns of complexes, read where they lie, and columns of lists in the making.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, Int32Array, Int64Array, ListArray, PrimitiveArray, StringArray,
    new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{Function, Parameter, execution_error, scalar_function, stopped};
use datafusion::common::{DataFusionError, Result};
use rayon::prelude::*;

use crate::{FacesError, Facets, FlatFacets, Workspace};

/// Rows that one task reads.
const BLOCK: usize = 512;
/// Rows between two looks at the monitor.
const PATIENCE: usize = 64;

/// The parameter that every function of a complex has.
pub(crate) fn facets_parameter() -> Parameter {
    Parameter::column("facets", "The complex: a list of its facets, each a list of vertices (integers from 0 on).")
}

/// The function `name(facets, ...)`, with values of this type: `kernel` computes them from the complexes, which are its
/// first argument, and from all its arguments.
pub(crate) fn facets_function(
    name: &'static str,
    data_type: DataType,
    kernel: impl Fn(&FacetsColumn, &[ArrayRef], &dyn Monitor) -> Result<ArrayRef> + Send + Sync + 'static,
) -> Function {
    scalar_function(name, data_type, move |columns, monitor| {
        kernel(&FacetsColumn::new(name, &columns[0])?, columns, monitor)
    })
}

/// `T[]`, as every list column of the engine.
pub(crate) fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

/// `INT[][]`: facets.
pub(crate) fn facets_type() -> DataType {
    list_of(list_of(DataType::Int32))
}

/// The entries of facets, in the two widths that are read as they lie.
enum Entries {
    Narrow(Int32Array),
    Wide(Int64Array),
}

/// A column of complexes.
pub(crate) struct FacetsColumn {
    /// The function that reads it.
    pub(crate) name: &'static str,
    complexes: ListArray,
    facets: ListArray,
    entries: Entries,
}

impl FacetsColumn {
    /// The column as the function `name` reads it: lists of lists of integers of any kind.
    pub(crate) fn new(name: &'static str, column: &ArrayRef) -> Result<Self> {
        let found = column.data_type();
        let narrow = facets_type();
        let wide = list_of(list_of(DataType::Int64));
        let column = match found {
            _ if is_lists_of(found, &DataType::Int32) || is_lists_of(found, &DataType::Int64) => Arc::clone(column),
            DataType::Null => new_null_array(&narrow, column.len()),
            _ if holds_integers(found, 2) => cast(column, &wide)?,
            _ => {
                return Err(DataFusionError::Plan(format!(
                    "{name}: facets is {found}, expected INT[][]: a list of facets, each a list of vertices"
                )));
            }
        };
        let complexes = column.as_list::<i32>().clone();
        let facets = complexes.values().as_list::<i32>().clone();
        let entries = match facets.values().data_type() {
            DataType::Int32 => Entries::Narrow(facets.values().as_primitive::<Int32Type>().clone()),
            _ => Entries::Wide(facets.values().as_primitive::<Int64Type>().clone()),
        };
        Ok(Self { name, complexes, facets, entries })
    }

    pub(crate) fn len(&self) -> usize {
        self.complexes.len()
    }

    /// Reads a row; `false` for NULL.
    pub(crate) fn read(&self, row: usize, into: &mut Facets) -> Result<bool> {
        if self.complexes.is_null(row) {
            return Ok(false);
        }
        let bounds = self.complexes.value_offsets();
        let (first, last) = (bounds[row] as usize, bounds[row + 1] as usize);
        if self.facets.null_count() > 0
            && let Some(null) = (first..last).find(|&facet| self.facets.is_null(facet))
        {
            return Err(self.fault(row, format!("facet {} is NULL", null - first + 1)));
        }
        let offsets = &self.facets.value_offsets()[first..=last];
        let read = match &self.entries {
            Entries::Narrow(entries) => self.entries(row, offsets, entries, into),
            Entries::Wide(entries) => self.entries(row, offsets, entries, into),
        };
        read.map(|()| true)
    }

    fn entries<T: ArrowPrimitiveType<Native: Into<i64>>>(
        &self,
        row: usize,
        offsets: &[i32],
        entries: &PrimitiveArray<T>,
        into: &mut Facets,
    ) -> Result<()> {
        if entries.null_count() > 0
            && let Some(null) = (offsets[0]..offsets[offsets.len() - 1]).find(|&entry| entries.is_null(entry as usize))
        {
            let facet = offsets.partition_point(|&offset| offset <= null);
            return Err(self.fault(row, format!("facet {facet} has a NULL vertex")));
        }
        into.read(offsets, entries.values()).map_err(|error| self.fault(row, error))
    }

    /// An error of one row: what is wrong, and in which complex.
    pub(crate) fn fault(&self, row: usize, what: impl std::fmt::Display) -> DataFusionError {
        const SHOWN: usize = 100;
        let options = arrow::util::display::FormatOptions::default().with_null("NULL");
        let shown = arrow::util::display::ArrayFormatter::try_new(&self.complexes, &options);
        let mut shown = shown.map(|rows| rows.value(row).to_string()).unwrap_or_default();
        if shown.len() > SHOWN {
            shown.truncate(SHOWN);
            shown += "...";
        }
        execution_error(format!("{}: {what}, in {shown}", self.name))
    }

    /// An error of a kernel in one row.
    pub(crate) fn kernel_fault(&self, row: usize, error: FacesError) -> DataFusionError {
        match error {
            FacesError::Stopped(reason) => stopped(reason),
            error => self.fault(row, error),
        }
    }

    /// Goes through all rows: `each` adds a row's answer (`None` stands for a NULL) to its block's. The blocks' answers
    /// come in order. Blocks run in parallel inside the engine's pool, one after another outside.
    pub(crate) fn for_each<B: Default + Send>(
        &self,
        monitor: &dyn Monitor,
        each: impl Fn(&mut B, Option<&Facets>, &mut Workspace, usize) -> Result<()> + Sync,
    ) -> Result<Vec<B>> {
        let block = |start: usize| {
            let mut answers = B::default();
            let (mut facets, mut workspace) = (Facets::default(), Workspace::default());
            for row in start..self.len().min(start + BLOCK) {
                if row % PATIENCE == 0 {
                    monitor.check().map_err(stopped)?;
                }
                let read = self.read(row, &mut facets)?;
                each(&mut answers, read.then_some(&facets), &mut workspace, row)?;
            }
            Ok(answers)
        };
        let blocks = self.len().div_ceil(BLOCK);
        match blocks > 1 && rayon::current_thread_index().is_some() {
            true => (0..blocks).into_par_iter().map(|i| block(i * BLOCK)).collect(),
            false => (0..blocks).map(|i| block(i * BLOCK)).collect(),
        }
    }

    /// One value a row.
    pub(crate) fn map<T: Send>(
        &self,
        monitor: &dyn Monitor,
        each: impl Fn(&Facets, &mut Workspace, usize) -> Result<Option<T>> + Sync,
    ) -> Result<Vec<Option<T>>> {
        let blocks = self.for_each(monitor, |values: &mut Vec<Option<T>>, facets, workspace, row| {
            values.push(match facets {
                Some(facets) => each(facets, workspace, row)?,
                None => None,
            });
            Ok(())
        })?;
        Ok(blocks.into_iter().flatten().collect())
    }

    /// One list a row: `each` adds its values, and answers whether it is not NULL.
    pub(crate) fn lists<T: Send>(
        &self,
        monitor: &dyn Monitor,
        each: impl Fn(&mut Vec<T>, Option<&Facets>, &mut Workspace, usize) -> Result<bool> + Sync,
    ) -> Result<Vec<Lists<T>>> {
        self.for_each(monitor, |lists: &mut Lists<T>, facets, workspace, row| {
            let valid = each(&mut lists.values, facets, workspace, row)?;
            lists.end_row(valid);
            Ok(())
        })
    }
}

/// Whether a type is a list of lists of exactly this.
fn is_lists_of(data_type: &DataType, item: &DataType) -> bool {
    matches!(data_type, DataType::List(facets)
        if matches!(facets.data_type(), DataType::List(entries) if entries.data_type() == item))
}

/// Whether a type is lists, this deep, of integers. A list of nothing is one of NULLs.
fn holds_integers(data_type: &DataType, depth: usize) -> bool {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) if depth > 0 => {
            holds_integers(item.data_type(), depth - 1)
        }
        DataType::Null => true,
        other => depth == 0 && other.is_integer(),
    }
}

/// A column of lists in the making: values one after another, where each row ends, and which rows are NULL.
pub(crate) struct Lists<T> {
    pub(crate) values: Vec<T>,
    ends: Vec<usize>,
    valid: Vec<bool>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { values: Vec::new(), ends: Vec::new(), valid: Vec::new() }
    }
}

impl<T> Lists<T> {
    /// Ends a row: the values since the last end are its list, or it is NULL.
    pub(crate) fn end_row(&mut self, valid: bool) {
        self.ends.push(self.values.len());
        self.valid.push(valid);
    }

    /// One column of all blocks' rows; `items` makes an array of the values.
    pub(crate) fn array(blocks: &[Self], name: &str, items: impl FnOnce() -> ArrayRef) -> Result<ArrayRef> {
        let mut offsets = vec![0i32];
        let mut start = 0;
        for block in blocks {
            for end in &block.ends {
                offsets.push(offset(start + end, name)?);
            }
            start += block.values.len();
        }
        let valid: NullBuffer = blocks.iter().flat_map(|block| block.valid.iter().copied()).collect();
        let items = items();
        let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::new(offsets.into()), items, Some(valid))?))
    }
}

/// The column of lists of numbers of all blocks' rows.
pub(crate) fn number_lists<P: ArrowPrimitiveType>(blocks: &[Lists<P::Native>], name: &str) -> Result<ArrayRef> {
    let values = blocks.iter().flat_map(|lists| lists.values.iter().copied());
    Lists::array(blocks, name, || Arc::new(PrimitiveArray::<P>::from_iter_values(values)))
}

/// The column of lists of lists of numbers of all blocks' rows.
pub(crate) fn nested_lists<P: ArrowPrimitiveType>(blocks: &[Lists<Vec<P::Native>>], name: &str) -> Result<ArrayRef> {
    let values = blocks.iter().flat_map(|lists| &lists.values);
    let values = values.map(|numbers| Some(numbers.iter().copied().map(Some)));
    Lists::array(blocks, name, || Arc::new(ListArray::from_iter_primitive::<P, _, _>(values)))
}

/// The column of lists of strings of all blocks' rows.
pub(crate) fn text_lists(blocks: &[Lists<String>], name: &str) -> Result<ArrayRef> {
    // Arrow's strings ask an iterator for its length.
    let values: Vec<&String> = blocks.iter().flat_map(|lists| &lists.values).collect();
    Lists::array(blocks, name, || Arc::new(StringArray::from_iter_values(values)))
}

/// A position in a list column, which has 32 bits.
fn offset(position: usize, name: &str) -> Result<i32> {
    i32::try_from(position).map_err(|_| {
        execution_error(format!("{name}: the answers for one batch of rows have {position} entries; that is too many"))
    })
}

/// The facets that a function answers, a row each, as `INT[][]`.
pub(crate) fn facets_array(rows: &[Option<FlatFacets>], name: &str, monitor: &dyn Monitor) -> Result<ArrayRef> {
    let entries = rows.iter().flatten().flat_map(FlatFacets::iter).map(<[i64]>::len).sum::<usize>();
    let _reservation = Reservation::new(monitor, 4 * entries).map_err(stopped)?;
    let (mut row_ends, mut facet_ends) = (vec![0i32], vec![0i32]);
    let mut values = Vec::with_capacity(entries);
    for facets in rows {
        for facet in facets.iter().flat_map(FlatFacets::iter) {
            for &vertex in facet {
                let vertex = i32::try_from(vertex).map_err(|_| {
                    execution_error(format!("{name}: the vertex {vertex} does not fit INT; number the vertices anew"))
                })?;
                values.push(vertex);
            }
            facet_ends.push(offset(values.len(), name)?);
        }
        row_ends.push(offset(facet_ends.len() - 1, name)?);
    }
    let valid: NullBuffer = rows.iter().map(Option::is_some).collect();
    let DataType::List(facet_field) = facets_type() else { unreachable!("facets are lists") };
    let DataType::List(vertex_field) = facet_field.data_type().clone() else { unreachable!("a facet is a list") };
    let values = Arc::new(Int32Array::from(values));
    let facets = ListArray::try_new(vertex_field, OffsetBuffer::new(facet_ends.into()), values, None)?;
    let rows = ListArray::try_new(facet_field, OffsetBuffer::new(row_ends.into()), Arc::new(facets), Some(valid))?;
    Ok(Arc::new(rows))
}

/// A complex by its labels.
pub(crate) fn labelled<'a>(facets: &Facets, simplices: impl Iterator<Item = &'a [u32]>) -> FlatFacets {
    let labels = facets.labels();
    let mut flat = FlatFacets::default();
    simplices.for_each(|simplex| flat.push(simplex.iter().map(|&v| labels[v as usize])));
    flat
}
