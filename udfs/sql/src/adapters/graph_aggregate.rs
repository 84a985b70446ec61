//! Aggregates over edges: a value for the graph that the rows of a group are the edges of.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, ListArray};
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type};
use bonnet_columns::{GroupedRows, KeyColumn, KeyIndex};
use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use datafusion::common::Result;

use crate::adapters::rows_function::rows_function;
use crate::error::{named_error, stopped};
use crate::registry::{Function, Parameter};

/// The answer of a function of a graph, as a column with NULL for a group without rows.
pub trait GraphValue: Send + Sized {
    /// The type of the column.
    fn data_type() -> DataType;

    /// The column.
    fn column(values: Vec<Option<Self>>) -> ArrayRef;
}

/// A DOUBLE; `None` and a group without rows are NULL.
impl GraphValue for Option<f64> {
    fn data_type() -> DataType {
        DataType::Float64
    }

    fn column(values: Vec<Option<Self>>) -> ArrayRef {
        Arc::new(values.into_iter().map(Option::flatten).collect::<Float64Array>())
    }
}

/// A BOOLEAN; `None` and a group without rows are NULL.
impl GraphValue for Option<bool> {
    fn data_type() -> DataType {
        DataType::Boolean
    }

    fn column(values: Vec<Option<Self>>) -> ArrayRef {
        Arc::new(values.into_iter().map(Option::flatten).collect::<BooleanArray>())
    }
}

impl GraphValue for Vec<f64> {
    fn data_type() -> DataType {
        list(DataType::Float64)
    }

    fn column(values: Vec<Option<Self>>) -> ArrayRef {
        let values = values.into_iter().map(|list| list.map(|list| list.into_iter().map(Some)));
        Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(values))
    }
}

impl GraphValue for Vec<i64> {
    fn data_type() -> DataType {
        list(DataType::Int64)
    }

    fn column(values: Vec<Option<Self>>) -> ArrayRef {
        let values = values.into_iter().map(|list| list.map(|list| list.into_iter().map(Some)));
        Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(values))
    }
}

fn list(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, true)))
}

/// The aggregate `name(src, dst)`: a value for the undirected simple graph of the rows of each group. A row with a NULL
/// end does not count, a row `src = dst` adds its node, and no rows give NULL.
pub fn graph_aggregate<T: GraphValue + 'static>(
    name: &'static str,
    kernel: fn(&Graph, &dyn Monitor) -> Result<T, Stopped>,
) -> Function {
    let returns = match T::data_type() {
        DataType::Float64 => "DOUBLE",
        DataType::Boolean => "BOOLEAN",
        list if list == Vec::<i64>::data_type() => "BIGINT[]",
        _ => "DOUBLE[]",
    };
    rows_function(name, T::data_type(), move |_| {
        Ok(Box::new(move |groups, monitor| {
            let values = of_graphs(name, groups, monitor, |_, graph| kernel(graph, monitor).map_err(stopped))?;
            Ok(T::column(values))
        }))
    })
    .parameters(Parameter::ends())
    .returns(returns)
}

/// The columns `src` and `dst` of edges, without NULLs: of one graph, or of graphs that lie one after the other.
#[derive(Debug)]
pub struct EdgeEnds {
    src: KeyColumn,
    dst: KeyColumn,
}

impl EdgeEnds {
    /// Brings the columns to their normal form. `function` is named in errors.
    ///
    /// # Errors
    /// For a type that is no key.
    pub fn new(function: &str, src: &ArrayRef, dst: &ArrayRef) -> Result<Self> {
        let keys = |column: &ArrayRef, end: &str| KeyColumn::new(column, &format!("{function}: {end}"));
        Ok(Self { src: keys(src, "src")?, dst: keys(dst, "dst")? })
    }

    /// The nodes of the graph of some rows, and each row by their numbers.
    ///
    /// # Errors
    /// If integers meet text.
    pub fn graph(&self, function: &str, rows: Range<usize>) -> Result<(KeyIndex, Vec<(u32, u32)>)> {
        let (src, dst) = (self.src.slice(rows.clone()), self.dst.slice(rows));
        let keys = KeyIndex::new(&[("src", &src), ("dst", &dst)]).map_err(|error| named_error(function, error))?;
        let edges = keys.arcs(&src, &dst).0;
        Ok((keys, edges))
    }
}

/// A value of the graph of each group, and of its nodes' keys; `None` for a group without rows. The first two columns
/// of the groups are the ends of edges.
///
/// # Errors
/// For keys that do not agree, if memory runs out, and what `value` refuses.
pub fn of_graphs<T: Send>(
    function: &str,
    groups: &GroupedRows,
    monitor: &dyn Monitor,
    value: impl Fn(&KeyIndex, &Graph) -> Result<T> + Send + Sync,
) -> Result<Vec<Option<T>>> {
    let columns = groups.columns();
    let ends = EdgeEnds::new(function, &columns[0], &columns[1])?;
    groups.map(|group| {
        if group.is_empty() {
            return Ok(None);
        }
        let rows = group.len();
        // Columns, keys and pairs of numbers; then the graph.
        let _room = Reservation::new(monitor, 64 * rows + Graph::bytes(2 * rows, rows)).map_err(stopped)?;
        let (keys, edges) = ends.graph(function, group)?;
        let graph = Graph::from_edges(keys.len(), &edges);
        drop(edges);
        value(&keys, &graph).map(Some)
    })
}
