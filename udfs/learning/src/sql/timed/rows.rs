//! The rows of a graph's nodes as items see them: features by type, and the times at which nodes and edges came.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{DataType, Field, Int64Type, TimeUnit};
use bonnet_graph::Graph;
use bonnet_sql::sql_type;
use datafusion::common::Result;

use super::super::columns::OwnFeatures;
use super::super::types::{Kinds, TypedColumn};
use crate::{ALWAYS, Features, GraphTypes, TimedGraph};

/// What times count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sql) enum Clock {
    /// Microseconds: of dates and timestamps.
    Microseconds,
    /// Whole numbers of anything.
    Whole,
}

impl Clock {
    /// The units of time in a day; a whole number is one.
    fn day(self) -> f64 {
        match self {
            Self::Microseconds => 86_400e6,
            Self::Whole => 1.0,
        }
    }

    /// Its word in errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "a date or a timestamp",
            Self::Whole => "a whole number",
        }
    }
}

/// Times on their clock, so that dates and timestamps of any precision compare; `what` names the column.
///
/// # Errors
/// If the column holds no times, or one that microseconds do not reach.
pub(in crate::sql) fn clock_times(column: &ArrayRef, what: &str) -> std::result::Result<(Int64Array, Clock), String> {
    let data_type = column.data_type();
    if !is_time(data_type) {
        let found = sql_type(data_type);
        return Err(format!("{what} is {found}, expected a date, a timestamp or a whole number: CAST it"));
    }
    let zone = match data_type {
        DataType::Timestamp(_, zone) => zone.clone(),
        DataType::Date32 | DataType::Date64 => None,
        _ => return Ok((whole_times(column).map_err(|error| error.to_string())?, Clock::Whole)),
    };
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let times = cast_with_options(column, &DataType::Timestamp(TimeUnit::Microsecond, zone), &strict);
    let times = times.and_then(|times| cast_with_options(&times, &DataType::Int64, &strict));
    let times = times.map_err(|error| format!("{what}: {error}"))?;
    Ok((times.as_primitive::<Int64Type>().clone(), Clock::Microseconds))
}

/// Whether a column holds times.
pub(in crate::sql) fn is_time(data_type: &DataType) -> bool {
    let of_days = matches!(data_type, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Null);
    of_days || data_type.is_integer()
}

/// Times as whole numbers: days, or the parts of a second that the type counts.
pub(in crate::sql) fn whole_times(column: &ArrayRef) -> Result<Int64Array> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    // Days have no cast of their own to whole numbers of 64 bits.
    let column = match column.data_type() {
        DataType::Date32 => cast(column, &DataType::Int32)?,
        _ => Arc::clone(column),
    };
    Ok(cast_with_options(&column, &DataType::Int64, &strict)?.as_primitive::<Int64Type>().clone())
}

/// A graph as items see it.
#[derive(Debug)]
pub(in crate::sql) struct TimedRows {
    pub graph: Arc<TimedGraph>,
    /// Of the times; none where nothing has one.
    pub clock: Option<Clock>,
}

/// The columns that rows are read from.
pub(in crate::sql) struct Columns<'a> {
    pub features: Option<(&'a ArrayRef, &'a Field)>,
    /// Of nodes and of edges.
    pub times: [Option<&'a ArrayRef>; 2],
    /// The row of each node.
    pub row_of: &'a [u32],
}

/// The edges beside their types.
pub(in crate::sql) struct Edges<'a> {
    pub names: &'a Kinds,
    pub arcs: &'a [(u32, u32)],
    /// The row of each arc.
    pub rows: &'a [u32],
}

/// Features by type and times, before the edges are known by type.
pub(in crate::sql) struct Parts {
    blocks: Vec<Features>,
    zeros: bool,
    times: Option<Vec<i64>>,
    edge_times: Option<Int64Array>,
    clock: Option<Clock>,
}

impl Columns<'_> {
    /// Reads them; `name` gives the key of a node.
    pub fn read(&self, kinds: &Kinds, name: &dyn Fn(u32) -> String) -> std::result::Result<Parts, String> {
        let is_empty = |features: &ArrayRef| OwnFeatures::all_null(features, self.row_of.len(), None);
        let (blocks, zeros) = match self.features.filter(|(features, _)| !is_empty(features)) {
            None => (vec![Features::None; kinds.names.len()], true),
            Some((column, field)) => {
                let blocks = TypedColumn { column, field, row_of: self.row_of, kinds, name }.blocks()?;
                let sparse = match column.data_type() {
                    DataType::Map(..) => true,
                    DataType::List(item) | DataType::LargeList(item) => matches!(item.data_type(), DataType::Struct(_)),
                    _ => false,
                };
                (blocks, !sparse)
            }
        };
        let of_nodes = self.times[0].map(|time| clock_times(time, "nodes.time")).transpose()?;
        let of_edges = self.times[1].map(|time| clock_times(time, "edges.time")).transpose()?;
        if let (Some((_, nodes)), Some((_, edges))) = (&of_nodes, &of_edges)
            && nodes != edges
        {
            let (nodes, edges) = (nodes.name(), edges.name());
            return Err(format!("nodes.time is {nodes}, and edges.time is {edges}: CAST one of them"));
        }
        let clock = of_nodes.as_ref().or(of_edges.as_ref()).map(|(_, clock)| *clock);
        let at = |times: &Int64Array, row: u32| match times.is_valid(row as usize) {
            true => times.value(row as usize),
            false => ALWAYS,
        };
        let times = of_nodes.map(|(times, _)| self.row_of.iter().map(|&row| at(&times, row)).collect());
        Ok(Parts { blocks, zeros, times, edge_times: of_edges.map(|(times, _)| times), clock })
    }
}

impl Parts {
    /// The graph as items see it. An edge with a NULL time is there as long as its ends.
    pub fn joined(
        self,
        graph: &Arc<Graph>,
        types: &Arc<GraphTypes>,
        edges: Edges<'_>,
    ) -> std::result::Result<TimedRows, String> {
        let wrong = |error: crate::DataError| error.to_string();
        let mut timed =
            TimedGraph::new(Arc::clone(graph), Arc::clone(types), self.blocks, self.zeros).map_err(wrong)?;
        let day = self.clock.map_or(1.0, Clock::day);
        let times = self.times.unwrap_or_else(|| vec![ALWAYS; graph.n_nodes()]);
        timed = timed.with_times(times, day).map_err(wrong)?;
        if let Some(times) = self.edge_times {
            let time = |&row: &u32| if times.is_valid(row as usize) { times.value(row as usize) } else { ALWAYS };
            let rows = edges.arcs.iter().zip(&edges.names.of).zip(edges.rows);
            let rows = rows.map(|((&(from, to), &name), row)| (from, to, name, time(row)));
            timed = timed.with_edge_times(&edges.names.names, rows);
        }
        let clock = self.clock.filter(|_| timed.has_times());
        Ok(TimedRows { graph: Arc::new(timed), clock })
    }
}
