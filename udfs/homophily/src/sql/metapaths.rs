//! The functions of metapaths: `metapath_heterophily`, `h2_index`, `metapath_label_heterophily`, `metapath_edges`,
//! `graph_schema`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bonnet_sql::{
    Binding, Body, Call, Function, OptionValue, Options, Parameter, Run, execution_error, stopped, usage_error,
};
use datafusion::common::{DataFusionError, Result};

use super::graph::at_graph;
use super::hetero::Hetero;
use crate::{Aggregate, MetapathValue, aggregate, metapath_edges, metapath_heterophily};

const SOURCE: &str =
    "Lin et al., When Heterophily Meets Heterogeneity: New Graph Benchmarks and Effective Methods (H2GB), Sec. 3.3";

/// The parameters that all summaries of metapaths share.
fn parameters() -> Vec<Parameter> {
    vec![
        Parameter::graph("graph", "The name of a graph whose nodes and edges have a column type."),
        Parameter::integer("length", "The number of steps of a metapath, at least 1.").or(OptionValue::Integer(2)),
        Parameter::text("target", "The type of nodes at both endpoints; by default the one that has labels.")
            .optional(),
        Parameter::boolean(
            "closed_walks",
            false,
            "Whether a node that reaches itself is an edge, as in a product of matrices.",
        ),
        Parameter::boolean("inverse", true, "Whether relations are also walked from their targets to their sources."),
    ]
}

fn aggregated(name: &'static str, value: Pick) -> Function {
    let parameters = parameters().into_iter().chain([Parameter::text(
        "aggregate",
        "What the values of the metapaths become: 'mean' or 'max'.",
    )
    .or(OptionValue::Text("mean".to_owned()))]);
    Function::new(name, Body::Relation(Arc::new(move |call: &Call| bind_index(name, value, call))))
        .parameters(parameters.collect::<Vec<_>>())
}

/// The registrations.
pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::new("metapath_heterophily", Body::Relation(Arc::new(bind_heterophily)))
            .parameters(parameters())
            .returns("metapath, edges, edge_heterophily, adjusted_heterophily")
            .description(
                "One row a metapath from the target type back to it, over all sequences of relations and their inverses: \
                 the edges of the simple undirected graph that it induces on the target nodes with a label, the share of \
                 them between different classes, and 1 - adjusted homophily. NULL without edges, or, adjusted, if all endpoints \
                 are in one class. Within a type, the relation of a graph without direction is its own inverse. No induced \
                 graph is ever stored.",
            )
            .example("SELECT metapath, edges, adjusted_heterophily FROM metapath_heterophily(karate)")
            .source(SOURCE),
        aggregated("h2_index", |value| value.adjusted_heterophily)
            .returns("h2_index, metapaths, left_out")
            .description(
                "The H2 index: the mean or maximum over metapaths of their adjusted heterophily, near 0 where they stay \
                 within classes, near 1 and above where they do not. metapaths counts all, left_out those without edges or \
                 with all endpoints in one class, which have no value. closed_walks => true, inverse => false is the setting of \
                 the published script.",
            )
            .example("SELECT h2_index FROM h2_index(karate)")
            .source(SOURCE),
        aggregated("metapath_label_heterophily", |value| value.edge_heterophily)
            .returns("metapath_label_heterophily, metapaths, left_out")
            .description(
                "MLH: the mean or maximum over metapaths of the share of edges between different classes. metapaths counts \
                 all, left_out those without edges.",
            )
            .example("SELECT metapath_label_heterophily FROM metapath_label_heterophily(karate)")
            .source(SOURCE),
        Function::new("metapath_edges", Body::Relation(Arc::new(bind_edges)))
            .parameters([
                Parameter::graph("graph", "The name of a graph whose nodes and edges have a column type."),
                Parameter::text(
                    "metapath",
                    "Types between >, as in 'paper>author>paper'; a step may name its relation, ^ for its inverse: \
                     'paper>cites>paper>^cites>paper'.",
                ),
                Parameter::boolean("closed_walks", false, "Whether a node that reaches itself is an edge."),
            ])
            .returns("src, dst")
            .description(
                "The pairs of nodes that a metapath joins, keys as TEXT. From a type back to itself these are the edges of \
                 a simple undirected graph, each once; between different types all pairs from start to end. A step that \
                 names no relation takes all between its types.",
            )
            .example("SELECT count(*) AS edges FROM metapath_edges(karate, 'node>node>node')")
            .source("Sun et al., PathSim: Meta Path-Based Top-K Similarity Search (VLDB 2011)"),
        Function::new("graph_schema", Body::Relation(Arc::new(bind_types)))
            .parameters([Parameter::graph("graph", "The name of a graph.")])
            .returns("kind, type, src_type, dst_type, count")
            .description(
                "The types of a graph: kind 'node' with the number of nodes, kind 'edge' with the types of its endpoints and \
                 the number of its rows. Without a column type, nodes are of type 'node' and edges of type 'edge'.",
            )
            .example("SELECT kind, type, count FROM graph_schema(karate)")
            .source("definition"),
    ]
}

/// The most steps of a metapath: beyond it there is nothing to learn, and each takes memory before the first is counted.
const LONGEST: i64 = 1000;

/// The number of steps, at least one.
fn length(options: &Options) -> Result<usize> {
    let length = options.integer_from("length", 1)?.unwrap_or(2);
    if length > LONGEST {
        return Err(execution_error(format!("length is {length}; metapaths of 1 to {LONGEST} steps are followed")));
    }
    Ok(length as usize)
}

/// The metapaths that a call asks for.
#[derive(Debug, Clone)]
struct Search {
    function: &'static str,
    graph: String,
    target: Option<String>,
    length: usize,
    inverse: bool,
    closed_walks: bool,
}

impl Search {
    fn bind(function: &'static str, options: &Options) -> Result<Self> {
        Ok(Self {
            function,
            graph: graph_name(options)?,
            target: options.text("target")?.map(str::to_owned),
            length: length(options)?,
            inverse: options.boolean("inverse")?.unwrap_or(true),
            closed_walks: options.boolean("closed_walks")?.unwrap_or(false),
        })
    }

    /// Every metapath, by name, with its value.
    fn values(&self, run: &Run) -> Result<Vec<(String, MetapathValue)>> {
        let found = || {
            let tables = run.wait(run.graphs().tables(&self.graph))?;
            let hetero = Hetero::read(run, &tables)?;
            let (target, labels) = hetero.target(self.target.as_deref())?;
            let paths = hetero.graph.metapaths(target, self.length, self.inverse);
            let paths = paths.map_err(|error| execution_error(error.to_string()))?;
            let host = run.host();
            let values = run.install(|| metapath_heterophily(&hetero.graph, &paths, &labels, self.closed_walks, host));
            let names = paths.iter().map(|path| hetero.graph.name(path));
            Ok(names.zip(values.map_err(stopped)?).collect())
        };
        found().map_err(|error| at_graph(error, self.function, &self.graph))
    }
}

fn graph_name(options: &Options) -> Result<String> {
    Ok(options.texts("graph")?.swap_remove(0))
}

fn schema(fields: &[(&str, DataType)]) -> SchemaRef {
    Arc::new(Schema::new(
        fields.iter().map(|(name, data_type)| Field::new(*name, data_type.clone(), true)).collect::<Vec<_>>(),
    ))
}

fn bind_heterophily(call: &Call) -> Result<Binding> {
    let search = Search::bind("metapath_heterophily", &call.options)?;
    let schema = schema(&[
        ("metapath", DataType::Utf8),
        ("edges", DataType::Int64),
        ("edge_heterophily", DataType::Float64),
        ("adjusted_heterophily", DataType::Float64),
    ]);
    Ok(Binding::new(schema, Vec::new(), move |run| {
        let values = search.values(run)?;
        let number = |pick: Pick| -> ArrayRef {
            Arc::new(values.iter().map(|(_, value)| pick(value)).collect::<Float64Array>())
        };
        run.emit_all(vec![
            Arc::new(StringArray::from_iter_values(values.iter().map(|(name, _)| name))),
            Arc::new(Int64Array::from_iter_values(values.iter().map(|(_, value)| value.edges as i64))),
            number(|value| value.edge_heterophily),
            number(|value| value.adjusted_heterophily),
        ])
    }))
}

/// Which figure of a metapath is meant.
type Pick = fn(&MetapathValue) -> Option<f64>;

fn how(options: &Options) -> Result<Aggregate> {
    match options.text("aggregate")?.unwrap_or("mean") {
        "mean" => Ok(Aggregate::Mean),
        "max" => Ok(Aggregate::Max),
        other => usage_error(format!("aggregate => '{other}': expected 'mean' or 'max'")),
    }
}

/// Binds a function that answers one figure of all metapaths, in the column of its name.
fn bind_index(name: &'static str, value: Pick, call: &Call) -> Result<Binding> {
    let (search, how) = (Search::bind(name, &call.options)?, how(&call.options)?);
    let schema = schema(&[(name, DataType::Float64), ("metapaths", DataType::Int64), ("left_out", DataType::Int64)]);
    Ok(Binding::new(schema, Vec::new(), move |run| {
        let values = search.values(run)?;
        let all = || values.iter().map(|(_, metapath)| value(metapath));
        let left_out = all().filter(Option::is_none).count();
        run.emit_all(vec![
            Arc::new(Float64Array::from(vec![aggregate(all(), how)])),
            Arc::new(Int64Array::from(vec![values.len() as i64])),
            Arc::new(Int64Array::from(vec![left_out as i64])),
        ])
    }))
}

fn bind_edges(call: &Call) -> Result<Binding> {
    let name = graph_name(&call.options)?;
    let text = call.options.text("metapath")?.unwrap_or_default().to_owned();
    let closed_walks = call.options.boolean("closed_walks")?.unwrap_or(false);
    let schema = schema(&[("src", DataType::Utf8), ("dst", DataType::Utf8)]);
    Ok(Binding::new(schema, Vec::new(), move |run| {
        edges(&name, &text, closed_walks, run).map_err(|error| at_graph(error, "metapath_edges", &name))
    }))
}

/// Emits the pairs of nodes that a metapath joins.
fn edges(name: &str, metapath: &str, closed_walks: bool, run: &Run) -> Result<()> {
    let tables = run.wait(run.graphs().tables(name))?;
    let hetero = Hetero::read(run, &tables)?;
    let path = hetero.graph.parse_metapath(metapath).map_err(|error| execution_error(error.to_string()))?;
    let (start, end) = (&hetero.members[path.start], &hetero.members[path.end(&hetero.graph)]);
    let keys = hetero.key_texts()?;
    metapath_edges(&hetero.graph, &path, closed_walks, run.host(), |pairs| {
        let column = |numbers: Vec<u32>| take(&keys, &UInt32Array::from(numbers), None);
        let src = column(pairs.iter().map(|pair| start[pair.0 as usize]).collect())?;
        let dst = column(pairs.iter().map(|pair| end[pair.1 as usize]).collect())?;
        run.emit_all(vec![src, dst]).map_err(Interrupted::Other)
    })
    .map_err(|error| match error {
        Interrupted::Stopped(reason) => stopped(reason),
        Interrupted::Other(error) => error,
    })
}

/// Why the edges of a metapath ended early.
enum Interrupted {
    Stopped(bonnet_graph::Stopped),
    Other(DataFusionError),
}

impl From<bonnet_graph::Stopped> for Interrupted {
    fn from(reason: bonnet_graph::Stopped) -> Self {
        Self::Stopped(reason)
    }
}

impl From<arrow::error::ArrowError> for Interrupted {
    fn from(error: arrow::error::ArrowError) -> Self {
        Self::Other(error.into())
    }
}

/// A type: its kind and name, the types of its endpoints, its rows.
type TypeRow<'a> = (&'static str, &'a str, Option<&'a str>, Option<&'a str>, i64);

fn bind_types(call: &Call) -> Result<Binding> {
    let name = graph_name(&call.options)?;
    let text = DataType::Utf8;
    let schema = schema(&[
        ("kind", text.clone()),
        ("type", text.clone()),
        ("src_type", text.clone()),
        ("dst_type", text),
        ("count", DataType::Int64),
    ]);
    Ok(Binding::new(schema, Vec::new(), move |run| types(&name, run)))
}

/// Emits the types of a graph.
fn types(name: &str, run: &Run) -> Result<()> {
    let hetero = || Hetero::read(run, &run.wait(run.graphs().tables(name))?);
    let graph = hetero().map_err(|error| at_graph(error, "graph_schema", name))?.graph;
    let type_name = |kind: usize| Some(graph.node_types[kind].0.as_str());
    let nodes = (0..graph.node_types.len())
        .map(|kind| ("node", graph.node_types[kind].0.as_str(), None, None, graph.node_types[kind].1 as i64));
    let edges = graph.relations.iter().map(|relation| {
        ("edge", relation.name.as_str(), type_name(relation.from), type_name(relation.to), relation.rows as i64)
    });
    let rows: Vec<TypeRow<'_>> = nodes.chain(edges).collect();
    run.emit_all(vec![
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.1))),
        Arc::new(StringArray::from_iter(rows.iter().map(|row| row.2))),
        Arc::new(StringArray::from_iter(rows.iter().map(|row| row.3))),
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.4))),
    ])
}
