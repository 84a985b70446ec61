//! `graph_profile(graph, ...)`: one row a graph, with what its strata are made of.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow::compute::{cast, max};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use bonnet_curvature::{MEAN_TOLERANCE, MidpointError, MidpointOptions, Moments, SKEWNESS_TOLERANCE, regime};
use bonnet_graph::{Graph, Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphTables, KeyColumn, KeyIndex, Parameter, Run, execution_error, stopped,
    usage_error,
};
use datafusion::common::{DataFusionError, Result};

const NAME: &str = "graph_profile";

/// The registration.
pub fn graph_profile() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([Parameter::graphs("graph", "The names of graphs; '*' for all there are, 'c.*' for those of the catalog c.")])
        .returns(
            "graph, nodes, edges, components, diameter, avg_degree, features, classes, edge_homophily, mean_curvature, \
             skewness, skewness_sample, regime",
        )
        .description(
            "One row a graph, read as an undirected simple graph: its size, the largest finite distance, 2m/n, the width \
             of its features, its classes, the share of edges between equal labels, the mean and the skewness of its \
             midpoint curvature, and the regime they put it in. Only the columns that the query reads are computed.",
        )
        .example("SELECT graph, nodes, edges, regime FROM graph_profile(karate)")
        .source("CurvBench (arXiv 2606.06397), Sec. 3 and Table 1")
}

fn schema() -> SchemaRef {
    let field = |name, data_type| Field::new(name, data_type, true);
    Arc::new(Schema::new(vec![
        field("graph", DataType::Utf8),
        field("nodes", DataType::Int64),
        field("edges", DataType::Int64),
        field("components", DataType::Int64),
        field("diameter", DataType::Int64),
        field("avg_degree", DataType::Float64),
        field("features", DataType::Int64),
        field("classes", DataType::Int64),
        field("edge_homophily", DataType::Float64),
        field("mean_curvature", DataType::Float64),
        field("skewness", DataType::Float64),
        field("skewness_sample", DataType::Float64),
        field("regime", DataType::Utf8),
    ]))
}

/// What a row holds; `None` where it is not wanted, or the graph has no such thing.
#[derive(Debug, Default)]
struct Row {
    nodes: Option<i64>,
    edges: Option<i64>,
    components: Option<i64>,
    diameter: Option<i64>,
    avg_degree: Option<f64>,
    features: Option<i64>,
    classes: Option<i64>,
    edge_homophily: Option<f64>,
    mean_curvature: Option<f64>,
    skewness: Option<f64>,
    skewness_sample: Option<f64>,
    regime: Option<&'static str>,
}

fn bind(call: &Call) -> Result<Binding> {
    let names = call.options.texts("graph")?;
    Ok(Binding::new(schema(), Vec::new(), move |run| profiles(&names, run)))
}

/// Emits a row for each of the graphs that are named.
fn profiles(given: &[String], run: &mut Run) -> Result<()> {
    let mut names = Vec::new();
    for name in given.iter().cloned() {
        match name.as_str() {
            "*" => names.extend(run.graphs().names()),
            pattern if pattern.ends_with(".*") => {
                let start = &pattern[..pattern.len() - 1];
                let found: Vec<_> = run.graphs().names().into_iter().filter(|name| name.starts_with(start)).collect();
                if found.is_empty() {
                    return usage_error(format!(
                        "{NAME}: there is no graph {pattern}; SELECT graph FROM bonnet.graphs lists all"
                    ));
                }
                names.extend(found);
            }
            _ => names.push(name),
        }
    }
    for name in names {
        run.host().check().map_err(stopped)?;
        let tables = run.wait(run.graphs().tables(&name))?;
        let row = profile(run, &tables).map_err(|error| match error {
            // What went wrong is said; which of several graphs it was, too.
            DataFusionError::Execution(text) => execution_error(format!("{NAME}: graph {name}: {text}")),
            error => error,
        })?;
        run.emit(batch(&name, &row)?)?;
    }
    Ok(())
}

fn batch(name: &str, row: &Row) -> Result<RecordBatch> {
    let integer = |value: Option<i64>| -> ArrayRef { Arc::new(Int64Array::from(vec![value])) };
    let number = |value: Option<f64>| -> ArrayRef { Arc::new(Float64Array::from(vec![value])) };
    let text = |value: Option<&str>| -> ArrayRef { Arc::new(StringArray::from(vec![value])) };
    let columns = vec![
        text(Some(name)),
        integer(row.nodes),
        integer(row.edges),
        integer(row.components),
        integer(row.diameter),
        number(row.avg_degree),
        integer(row.features),
        integer(row.classes),
        number(row.edge_homophily),
        number(row.mean_curvature),
        number(row.skewness),
        number(row.skewness_sample),
        text(row.regime),
    ];
    Ok(RecordBatch::try_new(schema(), columns)?)
}

fn profile(run: &Run, tables: &GraphTables) -> Result<Row> {
    let wants = |columns: &[&str]| columns.iter().any(|column| run.wants(column));
    let curved = wants(&["diameter", "mean_curvature", "skewness", "skewness_sample", "regime"]);
    let labelled = wants(&["classes", "edge_homophily"]) && has_label(tables);
    let structural = curved || labelled || wants(&["nodes", "edges", "components", "avg_degree"]);

    let mut row = Row::default();
    if run.wants("features") {
        row.features = feature_width(run, tables)?;
    }
    if !structural {
        return Ok(row);
    }
    let (keys, arcs, labels) = read(run, tables, labelled)?;
    let (host, n) = (run.host(), keys.len());
    let _room = Reservation::new(host, Graph::bytes(n, arcs.len()) + 8 * arcs.len()).map_err(stopped)?;
    let graph = run.install(|| Graph::from_edges(n, &arcs));
    row.nodes = Some(n as i64);
    row.edges = Some(graph.n_edges() as i64);
    row.avg_degree = (n > 0).then(|| 2.0 * graph.n_edges() as f64 / n as f64);
    if run.wants("components") {
        row.components = Some(run.install(|| bonnet_graph::connected_components(&graph)).sizes.len() as i64);
    }
    if let Some(labels) = labels {
        row.classes = labels.iter().flatten().max().map(|&class| i64::from(class) + 1);
        let homophily = run.install(|| bonnet_homophily::edge_homophily_of_graph(&graph, &labels, host));
        row.edge_homophily = homophily.map_err(stopped)?;
    }
    if curved {
        let midpoint = run
            .install(|| bonnet_curvature::midpoint_curvature(n, &arcs, &MidpointOptions::default(), host))
            .map_err(|error| match error {
                MidpointError::Stopped(reason) => stopped(reason),
                error => execution_error(error.to_string()),
            })?;
        let moments = Moments::of(&midpoint.curvature.into_iter().flatten().collect::<Vec<_>>());
        row.diameter = Some(i64::from(midpoint.diameter));
        row.mean_curvature = moments.mean();
        row.skewness = moments.skewness_population();
        row.skewness_sample = moments.skewness_sample();
        if let (Some(mean), Some(skewness)) = (row.mean_curvature, row.skewness) {
            let regime = regime(mean, skewness, MEAN_TOLERANCE, SKEWNESS_TOLERANCE);
            row.regime = regime.map_err(|error| execution_error(error.to_string()))?.map(|regime| regime.name());
        }
    }
    Ok(row)
}

/// Whether nodes have labels that are classes: not several targets, not none.
fn has_label(tables: &GraphTables) -> bool {
    tables.nodes.schema().field_with_name("label").is_ok_and(|field| !field.data_type().is_nested())
}

type Numbered = (KeyIndex, Vec<(u32, u32)>, Option<Vec<Option<u32>>>);

/// The graph's nodes, its rows as numbers, and its classes as numbers.
fn read(run: &Run, tables: &GraphTables, labelled: bool) -> Result<Numbered> {
    let edges = run.read_table(&tables.edges, "edges", &["src", "dst"])?;
    let nodes = run.read_table(&tables.nodes, "nodes", if labelled { &["node", "label"] } else { &["node"] })?;
    let (src, dst) = (KeyColumn::new(&edges[0], "edges.src")?, KeyColumn::new(&edges[1], "edges.dst")?);
    let node = KeyColumn::new(&nodes[0], "nodes.node")?;
    run.host().reserve(24 * (src.len() + node.len())).map_err(stopped)?;
    let keys = KeyIndex::new(&[("nodes.node", &node)])?;
    let all = KeyIndex::new(&[("nodes.node", &node), ("edges.src", &src), ("edges.dst", &dst)])?;
    if all.len() != keys.len() {
        return Err(execution_error(format!(
            "an edge ends at a node that nodes lacks ({} such keys): add the nodes, or leave such edges out",
            all.len() - keys.len()
        )));
    }
    let arcs = keys.arcs(&src, &dst).0;
    let labels = match nodes.get(1) {
        None => None,
        Some(label) => {
            let label = match label.data_type().is_floating() {
                true => cast(label, &DataType::Utf8)?,
                false => Arc::clone(label),
            };
            let label = KeyColumn::new(&label, "nodes.label")?;
            let classes = KeyIndex::new(&[("nodes.label", &label)])?.numbers(&label);
            let mut labels = vec![None; keys.len()];
            for (node, class) in keys.numbers(&node).into_iter().zip(classes) {
                if let Some(node) = node {
                    labels[node as usize] = class;
                }
            }
            Some(labels)
        }
    };
    Ok((keys, arcs, labels))
}

/// The width of the features: as the reader states it, else as the rows show it. NULL without features.
fn feature_width(run: &Run, tables: &GraphTables) -> Result<Option<i64>> {
    let schema = tables.nodes.schema();
    let Ok(field) = schema.field_with_name("features") else { return Ok(None) };
    if let Some(width) = field.metadata().get("bonnet.width").and_then(|width| width.parse().ok()) {
        return Ok(Some(width));
    }
    if let DataType::FixedSizeList(_, width) = field.data_type() {
        return Ok(Some(i64::from(*width)));
    }
    let features = run.read_table(&tables.nodes, "nodes", &["features"])?.swap_remove(0);
    Ok(match features.data_type() {
        DataType::Map(_, _) => {
            let indices = cast(features.as_map().keys(), &DataType::Int64)?;
            max(indices.as_primitive::<Int64Type>()).map(|index| index + 1)
        }
        DataType::List(item) if matches!(item.data_type(), DataType::Struct(_)) => {
            let entries = features.as_list::<i32>().values().as_struct();
            let none = new_null_array(&DataType::Int64, 0);
            let indices = cast(entries.column_by_name("index").unwrap_or(&none), &DataType::Int64)?;
            max(indices.as_primitive::<Int64Type>()).map(|index| index + 1)
        }
        DataType::List(_) => {
            let lists = features.as_list::<i32>();
            (0..lists.len()).filter(|&row| lists.is_valid(row)).map(|row| i64::from(lists.value_length(row))).max()
        }
        _ => None,
    })
}
