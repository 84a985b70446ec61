//! `temporal_neighbors(graph, items => relation [, fanout => '10,10'] [, fanout_order => 'uniform'] [, seed => 0])`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow::compute::{cast, concat_batches, take};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::{Digraph, Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphTables, KeyColumn, KeyIndex, OptionValue, Parameter, Run, TableColumns,
    execution_error, sql_type, stopped, usage_error,
};
use datafusion::catalog::TableProvider;
use datafusion::common::Result;

use super::graph::TIME;
use super::item_table::ITEMS;
use super::timed::rows::{is_time, whole_times};
use crate::GraphTypes;
use crate::data::{ALWAYS, TimedItem};
use crate::network::TemporalSampler;
use crate::options::FanoutOrder;
use crate::random::key;

const NAME: &str = "temporal_neighbors";

/// The column of types, and the type of nodes and edges whose table has none.
const TYPE: &str = "type";
const ONE_TYPE: [&str; 2] = ["node", "edge"];

/// Separates the draws of this function from other uses of the seed.
const DRAWS: u64 = 17;

/// The registration.
pub fn temporal_neighbors() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::graph(
                "graph",
                "The name of a graph. Where its nodes have a column time (a date, a timestamp or a whole number), a node with a \
                 NULL time was always there; its nodes and edges may have a column type.",
            ),
            Parameter::relation(ITEMS, "node, a key of the graph's nodes, and time, of the type of the nodes' time."),
            Parameter::text(
                "fanout",
                "The most neighbours of a node along each relation, a number for each hop from the item's node.",
            )
            .or(OptionValue::Text("10,10".to_owned())),
            Parameter::text(
                "fanout_order",
                "Which neighbours where there are more: 'uniform', drawn without replacement, or 'latest'.",
            )
            .or(OptionValue::Text("uniform".to_owned())),
            Parameter::seed(),
        ])
        .returns("node, time, hop, relation, inverse, target, source")
        .description(
            "The neighbourhood of each item as it was at its time: a row for each arc that was drawn, from source to target, of \
             a relation (a type of edges) or its inverse; hop is the distance of the source. No node is in it whose time is \
             later than the item's, and nothing of it hangs on such nodes: adding, changing or deleting them gives the same \
             rows. A node is followed once in a neighbourhood, and the neighbourhoods of two items do not share draws. Without \
             direction an edge between nodes of one type has no inverse. For columns of items by a query: join the sources \
             with their rows, and group by node and time.",
        )
        .example(
            "SELECT count(*) AS arcs FROM temporal_neighbors(karate, items => (SELECT 0 AS node, 0 AS time), fanout => '3,2')",
        )
        .source("Fey et al. 2024, Relational deep learning (ICML), Sec. 3.2; Hamilton, Ying and Leskovec 2017, Algorithm 2")
}

fn bind(call: &Call) -> Result<Binding> {
    let graph = call.options.texts("graph")?.swap_remove(0);
    let fanout = fanout(call.options.text("fanout")?.unwrap_or_default())?;
    let order = match call.options.text("fanout_order")?.unwrap_or_default() {
        "uniform" => FanoutOrder::Uniform,
        "latest" => FanoutOrder::Latest,
        other => return usage_error(format!("{NAME}: fanout_order is '{other}'; valid: uniform, latest")),
    };
    let seed = call.options.integer("seed")?.unwrap_or(0) as u64;
    let Some(input) = call.input(ITEMS) else {
        return usage_error(format!("{NAME}: items is missing: name a relation with node and time"));
    };
    let schema = &call.inputs[input].schema;
    let field = |name: &str| match schema.field_with_name(name) {
        Ok(field) => Ok(field.data_type().clone()),
        Err(_) => usage_error(format!("{NAME}: items has no column {name}; it needs node and time")),
    };
    let (node, time) = (field("node")?, field(TIME)?);
    let Some(of_keys) = KeyColumn::normal_type(&node) else {
        return usage_error(format!("{NAME}: items.node is {}: node keys are integers or text", sql_type(&node)));
    };
    if !is_time(&time) {
        return usage_error(format!(
            "{NAME}: items.time is {}, expected a date, a timestamp or a whole number: CAST it",
            sql_type(&time)
        ));
    }
    let fields = [
        ("node", of_keys.clone()),
        (TIME, time),
        ("hop", DataType::Int64),
        ("relation", DataType::Utf8),
        ("inverse", DataType::Boolean),
        ("target", of_keys.clone()),
        ("source", of_keys),
    ];
    let fields: Vec<Field> = fields.into_iter().map(|(name, data_type)| Field::new(name, data_type, true)).collect();
    let reads = vec![vec!["node".to_owned(), TIME.to_owned()]];
    Ok(Binding::new(Arc::new(Schema::new(fields)), reads, move |run| {
        let batches = run.collect(input)?;
        let Some(first) = batches.first() else { return Ok(()) };
        let items = concat_batches(&first.schema(), &batches)?;
        let tables = run.wait(run.graphs().tables(&graph))?;
        let graph = TimedGraph::read(run, &tables)?;
        emit(run, &graph, &items, (&fanout, order, seed))
    }))
}

/// The numbers of an option such as `10,5`.
fn fanout(text: &str) -> Result<Vec<u32>> {
    let numbers: Option<Vec<u32>> =
        text.split(',').map(|number| number.trim().parse().ok().filter(|&number| number > 0)).collect();
    match numbers {
        Some(numbers) => Ok(numbers),
        None => usage_error(format!(
            "{NAME}: fanout is '{text}'; valid: whole numbers from 1 on, one a hop, such as '10,5'"
        )),
    }
}

/// A graph with types, and the times of its nodes.
struct TimedGraph {
    keys: KeyIndex,
    types: Arc<GraphTypes>,
    times: Vec<i64>,
    /// The type of the column of times, where there is one.
    time_type: Option<DataType>,
}

impl TimedGraph {
    fn read(run: &Run, tables: &GraphTables) -> Result<Self> {
        let has = |table: &Arc<dyn TableProvider>, name: &str| table.schema().field_with_name(name).is_ok();
        let mut columns = vec!["node"];
        columns.extend([TIME, TYPE].into_iter().filter(|name| has(&tables.nodes, name)));
        let nodes = TableColumns { table: &tables.nodes, name: "nodes", columns };
        let mut columns = vec!["src", "dst"];
        columns.extend([TYPE].into_iter().filter(|name| has(&tables.edges, name)));
        let edges = TableColumns { table: &tables.edges, name: "edges", columns };
        let (of_nodes, of_edges) = (run.read_columns(&nodes)?, run.read_columns(&edges)?);
        let column = |name: &str| nodes.columns.iter().position(|other| *other == name).map(|at| &of_nodes[at]);

        let node = KeyColumn::new(&of_nodes[0], "nodes.node")?;
        let (src, dst) = (KeyColumn::new(&of_edges[0], "edges.src")?, KeyColumn::new(&of_edges[1], "edges.dst")?);
        let keys = KeyIndex::new(&[("nodes.node", &node)])?;
        let numbers = keys.numbers(&node);
        if numbers.iter().flatten().count() != keys.len() {
            let twice = keys.repeated(&numbers).unwrap_or_default();
            return Err(execution_error(format!("nodes holds a key twice: node must be unique, and {twice} is not")));
        }
        let n = keys.len();
        run.host().reserve(32 * n + 2 * Digraph::bytes(n, src.len()) + 16 * src.len()).map_err(stopped)?;
        let mut row_of = vec![0u32; n];
        for (row, number) in numbers.iter().enumerate().filter_map(|(row, number)| Some((row, (*number)?))) {
            row_of[number as usize] = row as u32;
        }
        let (names, of_row) = named_types(column(TYPE), node.len(), "nodes.type", ONE_TYPE[0])?;
        let (edge_names, edge_types) = named_types(of_edges.get(2), src.len(), "edges.type", ONE_TYPE[1])?;
        if let Some(row) = keys.first_unknown(&src) {
            return Err(execution_error(format!("an edge ends at {}, which nodes lacks", src.describe(row))));
        }
        if let Some(row) = keys.first_unknown(&dst) {
            return Err(execution_error(format!("an edge ends at {}, which nodes lacks", dst.describe(row))));
        }
        let ends = keys.numbers(&src).into_iter().zip(keys.numbers(&dst)).zip(edge_types);
        let edges = ends.filter_map(|((src, dst), name)| Some((src?, dst?, name)));
        let of = row_of.iter().map(|&row| of_row[row as usize]).collect();
        let types = GraphTypes::new(names, of, &edge_names, edges, tables.directed == Some(true));
        let types = Arc::new(types.map_err(|error| execution_error(error.to_string()))?);
        let times = match column(TIME) {
            None => vec![ALWAYS; n],
            Some(time) if !is_time(time.data_type()) => {
                let found = sql_type(time.data_type());
                return Err(execution_error(format!(
                    "nodes.time is {found}, expected a date, a timestamp or a whole number: CAST it"
                )));
            }
            Some(time) => {
                let times = whole_times(time)?;
                let at = |&row: &u32| if times.is_null(row as usize) { ALWAYS } else { times.value(row as usize) };
                row_of.iter().map(at).collect()
            }
        };
        Ok(Self { keys, types, times, time_type: column(TIME).map(|time| time.data_type().clone()) })
    }
}

/// The names of types in ascending order, and the type of each row.
fn named_types(column: Option<&ArrayRef>, rows: usize, what: &str, one: &str) -> Result<(Vec<String>, Vec<u32>)> {
    let Some(column) = column else { return Ok((vec![one.to_owned()], vec![0; rows])) };
    let texts = KeyColumn::new(&cast(column, &DataType::Utf8)?, what)?;
    let index = KeyIndex::new(&[(what, &texts)])?;
    let numbers: Option<Vec<u32>> = index.numbers(&texts).into_iter().collect();
    let Some(numbers) = numbers else {
        return Err(execution_error(format!(
            "{what} is NULL in a row: every row needs a type, or leave the column out"
        )));
    };
    let names = cast(&index.array(), &DataType::Utf8)?;
    Ok((names.as_string::<i32>().iter().map(|name| name.unwrap_or_default().to_owned()).collect(), numbers))
}

/// The items in the order of the relation.
fn timed_items(graph: &TimedGraph, items: &RecordBatch) -> Result<Vec<TimedItem>> {
    let (Some(node), Some(time)) = (items.column_by_name("node"), items.column_by_name(TIME)) else {
        return Err(execution_error("items lacks node or time"));
    };
    if let Some(of_nodes) = graph.time_type.as_ref().filter(|of_nodes| *of_nodes != time.data_type()) {
        return Err(execution_error(format!(
            "items.time is {}, where nodes.time is {}: CAST one of them",
            sql_type(time.data_type()),
            sql_type(of_nodes)
        )));
    }
    let node = KeyColumn::new(node, "items.node")?;
    let nulls = (0..node.len()).filter(|&row| !node.is_valid(row)).count();
    if nulls > 0 {
        return Err(execution_error(format!("items.node is NULL in {nulls} of {} rows", node.len())));
    }
    let numbers = graph.keys.numbers(&node);
    let mut lacking = (0..node.len()).filter(|&row| numbers[row].is_none()).peekable();
    if let Some(first) = lacking.peek().map(|&row| node.describe(row)) {
        return Err(execution_error(format!(
            "{} of {} items are no nodes of the graph, the first is {first}",
            lacking.count(),
            node.len()
        )));
    }
    let times = whole_times(time)?;
    if let Some(first) = (0..node.len()).find(|&row| times.is_null(row)) {
        return Err(execution_error(format!(
            "the time of {} of {} items is NULL, the first is node {}",
            times.null_count(),
            node.len(),
            node.describe(first)
        )));
    }
    // A draw hangs on what the item is called, not on the rows of the relation.
    let name = |row: usize| node.describe(row).bytes().fold(0, |hash, byte| key(&[hash, u64::from(byte)]));
    let item = |(row, node): (usize, &Option<u32>)| {
        let time = times.value(row);
        Some(TimedItem { number: key(&[name(row), time as u64]), node: (*node)?, time })
    };
    Ok(numbers.iter().enumerate().filter_map(item).collect())
}

/// Emits the arcs of the neighbourhoods, some items after the other.
fn emit(run: &Run, graph: &TimedGraph, items: &RecordBatch, how: (&[u32], FanoutOrder, u64)) -> Result<()> {
    let (fanout, order, seed) = how;
    let sampler = TemporalSampler::new(Arc::clone(&graph.types), &graph.times, &[], order);
    let timed = timed_items(graph, items)?;
    let keys = graph.keys.array();
    let Some(times) = items.column_by_name(TIME) else { return Ok(()) };
    const ITEMS_AT_ONCE: usize = 1024;
    for (part, chunk) in timed.chunks(ITEMS_AT_ONCE).enumerate() {
        let mut reservation = Reservation::new(run.host(), 0).map_err(stopped)?;
        let draw = key(&[seed, DRAWS]);
        let sample = run.install(|| sampler.sample(chunk, fanout, draw, &mut reservation)).map_err(stopped)?;
        let arcs = sample.arcs.iter().enumerate();
        let mut rows: Vec<(u32, usize, u32)> = arcs
            .flat_map(|(relation, arcs)| arcs.iter().map(move |&(target, source)| (target, relation, source)))
            .collect();
        reservation.grow(80 * rows.len() + 8 * sample.nodes.len()).map_err(stopped)?;
        rows.sort_unstable();
        let mut item_of = Vec::with_capacity(sample.nodes.len());
        let mut hop = vec![u32::MAX; sample.nodes.len()];
        for (item, rows) in (0u32..).zip(sample.starts.windows(2)) {
            item_of.extend(std::iter::repeat_n((part * ITEMS_AT_ONCE) as u32 + item, (rows[1] - rows[0]) as usize));
            hop[rows[0] as usize] = 0;
        }
        // Rows ascend in the order in which they were reached, so that a target's distance is known before it is read.
        for &(target, _, source) in &rows {
            hop[source as usize] = hop[source as usize].min(hop[target as usize].saturating_add(1));
        }
        let relation = |row: &(u32, usize, u32)| &graph.types.relations()[row.1];
        let item = UInt32Array::from_iter_values(rows.iter().map(|row| item_of[row.0 as usize]));
        let at = |row: u32| sample.nodes[row as usize];
        let target = UInt32Array::from_iter_values(rows.iter().map(|row| at(row.0)));
        let source = UInt32Array::from_iter_values(rows.iter().map(|row| at(row.2)));
        let of_items = UInt32Array::from_iter_values(item.values().iter().map(|&item| timed[item as usize].node));
        run.emit_all(vec![
            take(&keys, &of_items, None)?,
            take(times, &item, None)?,
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| i64::from(hop[row.2 as usize])))),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &relation(row).name))),
            Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(relation(row).inverse)))),
            take(&keys, &target, None)?,
            take(&keys, &source, None)?,
        ])?;
    }
    Ok(())
}
