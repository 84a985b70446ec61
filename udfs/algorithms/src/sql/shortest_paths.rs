//! `shortest_paths(edges, sources [, nodes => relation] ...)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray, RecordBatch, UInt32Array, new_null_array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::take;
use arrow::datatypes::{DataType, Field};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, InputGraph, KeyColumn, OptionValue, Options, Parameter, Run,
    execution_error, named_error, require_columns, usage_error, whole_column,
};
use datafusion::common::Result;

use super::network::{Failure, GraphCall, Reading, Reads, check, counts, doubles};
use super::node_relation::{WEIGHT, rows_of_graphs};
use super::relation::{count, number};
use crate::{Ends, PathAlgorithm, PathOptions, ShortestPath};

const NAME: &str = "shortest_paths";
const SOURCES: &str = "sources";
const READS: Reads =
    Reads::DIRECTED.weights("Whether the column weight holds the lengths of edges; 1 for all without it. A sum of weights beyond a DOUBLE is an error.").signed();
/// Ends whose paths are emitted together.
const TOGETHER: usize = 256;

/// The registration.
pub fn shortest_paths() -> Function {
    let relations = [
        GraphInput::edges(),
        Parameter::relation(
            SOURCES,
            "Where paths begin: node; with a column target, where they end, else at every node; with graph_id where \
             edges have it.",
        ),
        Parameter::relation("nodes", "The nodes: node; adds the isolated ones.").optional(),
    ];
    let options = [
        Parameter::integer(
            "k",
            "How many paths between a source and its target, the shortest first, none with a node twice; above 1 with \
             a column rank.",
        )
        .or(OptionValue::Integer(1)),
        Parameter::text(
            "algorithm",
            "'dijkstra', for weights of at least 0 (breadth-first search without weights); 'bellman_ford', for \
             negative ones.",
        )
        .or(OptionValue::Text("dijkstra".to_owned())),
    ];
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters(relations.into_iter().chain(READS.parameters(options)))
        .returns("source, target, [rank,] distance, path; graph_id in front where edges have it")
        .description(
            "The shortest paths from each source, to its target or to every node that paths lead to, itself among \
             them: the sum of the weights, or the number of edges, and the nodes of a path; no row where no path \
             leads. Of several shortest paths one, the same each time. Loops and repeats do not count. O((n + m) log \
             n) a source, O(n m) with bellman_ford; O(k n) searches for k paths.",
        )
        .example("SELECT * FROM shortest_paths(karate.edges, (SELECT 16 AS node, 26 AS target))")
        .source("Dijkstra (1959); Bellman (1958) and Ford (1956); Yen, Finding the k shortest loopless paths (1971)")
}

fn options(options: &Options) -> Result<PathOptions> {
    let algorithm = match options.text("algorithm")? {
        None | Some("dijkstra") => PathAlgorithm::Dijkstra,
        Some("bellman_ford") => PathAlgorithm::BellmanFord,
        Some(other) => return usage_error(format!("algorithm => '{other}': expected 'dijkstra' or 'bellman_ford'")),
    };
    let k = options.integer_from("k", 1)?.unwrap_or(1) as usize;
    Ok(PathOptions { algorithm, k, nodes: true })
}

fn bind(call: &Call) -> Result<Binding> {
    let reading = Reading::new(READS, &call.options)?;
    let options = options(&call.options).map_err(|error| named_error(NAME, error))?;
    let weighted = Call { options: reading.weight_option(&call.options), inputs: call.inputs.clone() };
    let input = GraphInput::bind_weighted(NAME, &weighted, WEIGHT)?;
    let Some(sources) = call.input(SOURCES) else { return usage_error(format!("{NAME}: give {SOURCES}")) };
    let relation = &call.inputs[sources];
    require_columns(NAME, relation, &["node"])?;
    let has = |name: &str| relation.schema.field_with_name(name).is_ok();
    let edges_have_id = call.inputs[0].schema.field_with_name("graph_id").is_ok();
    if edges_have_id != has("graph_id") {
        let (with, without) = if edges_have_id { ("edges", SOURCES) } else { (SOURCES, "edges") };
        return usage_error(format!("{NAME}: {with} has a column graph_id and {without} has none: add it"));
    }
    if options.k > 1 && !has("target") {
        return usage_error(format!("{NAME}: k above 1 is for pairs: give {SOURCES} a column target"));
    }
    let key = |name| Field::new(name, input.key.clone(), true);
    let path = Field::new("path", DataType::List(Arc::new(path_item(&input.key))), true);
    let fields = [key("source"), key("target")].into_iter().chain((options.k > 1).then(|| count("rank")));
    let schema = input.schema(fields.chain([number("distance"), path]));
    let columns = ["node", "target", "graph_id"].into_iter().filter(|name| has(name)).map(str::to_owned);
    let mut reads = input.reads.clone();
    reads.insert(sources, columns.collect());
    Ok(Binding::new(schema, reads, move |run| {
        let graphs = input.collect(run)?;
        let ends = collect_ends(run, sources, &graphs)?;
        let options = PathOptions { nodes: options.k > 1 || run.wants("path"), ..options };
        for (graph, ends) in graphs.into_iter().zip(ends) {
            check(run.host())?;
            emit(run, &graph, &ends, reading, options).map_err(|failure| failure.error(NAME, &graph))?;
        }
        Ok(())
    })
    .by_graph())
}

fn path_item(key: &DataType) -> Field {
    Field::new("item", key.clone(), true)
}

fn emit(run: &Run, graph: &InputGraph, ends: &[Ends], reading: Reading, options: PathOptions) -> Result<(), Failure> {
    let host = run.host();
    GraphCall::new(graph, reading, host).with_network(|network| {
        for ends in ends.chunks(TOGETHER) {
            let found = run.install(|| crate::shortest_paths(network, ends, options, host))?;
            let columns = columns(graph, &found, options)?;
            graph.emit(run, columns).map_err(Failure::Engine)?;
        }
        Ok::<_, Failure>(())
    })
}

fn columns(graph: &InputGraph, found: &[ShortestPath], options: PathOptions) -> Result<Vec<ArrayRef>, Failure> {
    let keys = graph.keys.array();
    let of_nodes = |numbers: UInt32Array| take(&keys, &numbers, None).map_err(|error| Failure::Engine(error.into()));
    let mut columns = vec![
        of_nodes(found.iter().map(|path| path.source).collect::<Vec<u32>>().into())?,
        of_nodes(found.iter().map(|path| path.target).collect::<Vec<u32>>().into())?,
    ];
    if options.k > 1 {
        columns.push(counts(&found.iter().map(|path| path.rank).collect::<Vec<usize>>())?);
    }
    columns.push(doubles(found.iter().map(|path| path.distance).collect()));
    let offsets = OffsetBuffer::from_lengths(found.iter().map(|path| path.nodes.len()));
    let nodes = of_nodes(found.iter().flat_map(|path| path.nodes.iter().copied()).collect::<Vec<u32>>().into())?;
    columns.push(Arc::new(ListArray::new(Arc::new(path_item(keys.data_type())), offsets, nodes, None)));
    Ok(columns)
}

/// The sources and targets of each graph by their numbers, in the order of the rows.
fn collect_ends(run: &mut Run, input: usize, graphs: &[InputGraph]) -> Result<Vec<Vec<Ends>>> {
    let batches = run.collect(input)?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let keys = |name: &str| -> Result<Option<(ArrayRef, KeyColumn)>> {
        let Some(column) = whole_column(&batches, name)? else { return Ok(None) };
        let keys = KeyColumn::new(&column, &format!("{NAME}: {SOURCES}.{name}"))?;
        Ok(Some((column, keys)))
    };
    let sources = match keys("node")? {
        Some(sources) => sources,
        None => {
            let none = new_null_array(&DataType::Int64, 0);
            let keys = KeyColumn::new(&none, SOURCES)?;
            (none, keys)
        }
    };
    let targets = keys("target")?;
    let ids = whole_column(&batches, "graph_id")?;
    let rows_of = rows_of_graphs(&format!("{NAME}: {SOURCES}"), graphs, ids.as_ref(), rows)?;
    let of_graph = |(graph, rows): (&InputGraph, Vec<u32>)| -> Result<Vec<Ends>> {
        let number = |column: &(ArrayRef, KeyColumn), name: &str| -> Result<Vec<u32>> {
            let found = graph.keys.numbers(&column.1.rows(&rows)?);
            let known = |(number, &row): (Option<u32>, &u32)| match number {
                Some(number) => Ok(number),
                None if column.0.is_null(row as usize) => {
                    Err(execution_error(format!("{NAME}: {SOURCES} has a row without a {name}")))
                }
                None => Err(graph.context(execution_error(format!(
                    "{NAME}: {SOURCES} has the {name} {}, which is on no edge: take it out, or give nodes => with it",
                    column.1.describe(row as usize)
                )))),
            };
            found.into_iter().zip(&rows).map(known).collect()
        };
        let from = number(&sources, "node")?;
        Ok(match &targets {
            None => from.into_iter().map(Ends::From).collect(),
            Some(targets) => {
                let to = number(targets, "target")?;
                from.into_iter().zip(to).map(|(source, target)| Ends::Pair(source, target)).collect()
            }
        })
    };
    graphs.iter().zip(rows_of).map(of_graph).collect()
}
