//! Items that are nodes of a graph at a time.

use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use bonnet_sql::{KeyColumn, SharedStructure, execution_error, sql_type};
use datafusion::common::Result;

use super::super::graph::{LoadedGraph, TIME};
use super::super::item_table::{LoadedItems, NODE};
use super::super::items::{Data, OwnedItems};
use super::super::provenance::ContentHash;
use super::super::splits::SplitChoice;
use super::super::types::TYPE;
use super::rows::clock_times;
use crate::random::key;
use crate::{ItemRows, NEVER, TimedItem, TrainOptions};

/// Items of a graph, ready for runs.
#[derive(Debug)]
pub(in crate::sql) struct GraphItems {
    graph: Arc<SharedStructure<LoadedGraph>>,
    items: LoadedItems,
    rows: Arc<ItemRows>,
}

impl GraphItems {
    /// Finds the items among the nodes of a graph.
    ///
    /// # Errors
    /// If an item is no node, or one of another type than it says; or its time is none that the graph's compare with.
    pub fn new(graph: Arc<SharedStructure<LoadedGraph>>, items: LoadedItems) -> Result<Self> {
        let rows = items.rows();
        let Some(node) = rows.column_by_name(NODE) else { return Err(execution_error("items lacks node")) };
        let node = KeyColumn::new(node, "items.node")?;
        let (n, numbers) = (node.len(), graph.numbers(&node));
        let mut lacking = (0..n).filter(|&row| numbers[row].is_none()).peekable();
        if let Some(first) = lacking.peek().map(|&row| node.describe(row)) {
            return Err(execution_error(format!(
                "{} of {n} items are no nodes of the graph, the first is {first}",
                lacking.count()
            )));
        }
        let nodes: Vec<u32> = numbers.into_iter().flatten().collect();
        let timed = graph.timed().map_err(execution_error)?;
        if let Some(kinds) = rows.column_by_name(TYPE) {
            let kinds = cast(kinds, &DataType::Utf8)?;
            let kinds = kinds.as_string::<i32>();
            let types = timed.graph.types();
            let of = |row: usize| types.names()[types.of()[nodes[row] as usize] as usize].as_str();
            let is_other = |row: &usize| kinds.is_null(*row) || kinds.value(*row) != of(*row);
            let mut others = (0..n).filter(is_other).peekable();
            if let Some(&first) = others.peek() {
                let found = if kinds.is_null(first) { "NULL" } else { kinds.value(first) };
                return Err(execution_error(format!(
                    "{} of {n} items are nodes of another type than they say, the first is {}: its type is {}, and items.type is \
                     {found}; types are {}",
                    others.count(),
                    node.describe(first),
                    of(first),
                    types.names().join(", ")
                )));
            }
        }
        let times = match (rows.column_by_name(TIME), timed.clock) {
            (None, Some(_)) => {
                return Err(execution_error(
                    "items has no time, and the graph's rows have: an item sees no row that is later than it. Give items a \
                     column time, or leave time out of the graph's tables nodes and edges",
                ));
            }
            (None, None) => vec![NEVER; n],
            (Some(time), clock) => {
                let (times, own) = clock_times(time, "items.time").map_err(execution_error)?;
                if let Some(clock) = clock.filter(|clock| *clock != own) {
                    return Err(execution_error(format!(
                        "items.time is {}, where the graph's time is {}: CAST one of them",
                        sql_type(time.data_type()),
                        clock.name()
                    )));
                }
                times.values().to_vec()
            }
        };
        let is_early = |row: &usize| timed.graph.time(nodes[*row]) > times[*row];
        let mut early = (0..n).filter(is_early).peekable();
        if let Some(first) = early.peek().map(|&row| node.describe(row)) {
            return Err(execution_error(format!(
                "{} of {n} items are earlier than their node, which is not there at their time, the first is {first}: leave them out",
                early.count()
            )));
        }
        // A draw hangs on what the item is called, not on the rows of the relation.
        let name = |row: usize| node.describe(row).bytes().fold(0, |hash, byte| key(&[hash, u64::from(byte)]));
        let item = |(row, (&node, time)): (usize, (&u32, i64))| TimedItem {
            number: key(&[name(row), time as u64]),
            node,
            time,
        };
        let found = nodes.iter().zip(times).enumerate().map(item).collect();
        let rows =
            ItemRows::new(Arc::clone(&timed.graph), found).map_err(|error| execution_error(error.to_string()))?;
        Ok(Self { rows: Arc::new(rows), graph, items })
    }

    /// The items of a run; see [`LoadedItems::items`].
    pub fn items(
        &self,
        options: &TrainOptions,
        label: &str,
        choice: &SplitChoice,
        known: Option<&[String]>,
    ) -> std::result::Result<OwnedItems, String> {
        let OwnedItems { names, data } = self.items.of_graph(options, label, choice, known)?;
        let rows = Arc::clone(&self.rows);
        let data = match data {
            Data::Nodes(data, split) => Data::Nodes(data.with_rows(rows).map_err(|error| error.to_string())?, split),
            Data::NodeValues(data, targets, split) => {
                Data::NodeValues(data.with_rows(rows).map_err(|error| error.to_string())?, targets, split)
            }
            other => other,
        };
        Ok(OwnedItems { names, data })
    }

    /// The hash of what a run reads.
    pub fn content(&self, options: &TrainOptions, label: &str) -> ContentHash {
        self.graph.content().of(options, label).and(self.items.content().of(options, label))
    }

    /// The bytes of a run's own copy of the targets.
    pub fn bytes(&self) -> usize {
        self.items.bytes()
    }
}
