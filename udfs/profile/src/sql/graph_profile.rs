//! `graph_profile(graph, ...)`: one row a graph, with what its strata are made of.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow::compute::{cast, max};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use bonnet_algorithms::Network;
use bonnet_curvature::{
    HyperbolicityOptions, MEAN_TOLERANCE, MidpointError, MidpointOptions, Moments, SKEWNESS_TOLERANCE, regime,
};
use bonnet_graph::{Graph, Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphTables, InputGraph, KeyColumn, KeyIndex, OptionValue, Parameter, Run,
    execution_error, stopped, usage_error,
};
use datafusion::common::{DataFusionError, Result};

const NAME: &str = "graph_profile";
/// The share of the connected pairs of nodes that lie within the effective diameter.
const QUANTILE: f64 = 0.9;
/// The most nodes from which the effective diameter searches.
const SAMPLED_NODES: usize = 1000;

/// The registration.
pub fn graph_profile() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::graphs("graph", "The names of graphs; '*' for all there are, 'c.*' for those of the catalog c."),
            Parameter::text(
                "columns",
                "basic, or all: with what describes the structure further, behind the others; the hyperbolicity and the \
                 effective diameter compare nodes pair by pair.",
            )
            .or(OptionValue::Text("basic".to_owned())),
        ])
        .returns(
            "graph, nodes, edges, components, diameter, avg_degree, features, classes, edge_homophily, mean_curvature, \
             skewness, skewness_sample, regime; with columns => 'all' also density, transitivity, degree_assortativity, \
             core_number, effective_diameter, hyperbolicity, hyperbolicity_bound",
        )
        .description(
            "One row a graph, read as an undirected simple graph: its size, the largest finite distance, 2m/n, the width \
             of its features, its classes, the share of edges between equal labels, the mean and the skewness of its \
             midpoint curvature, and the regime they put it in. With columns => 'all' also the share of pairs of nodes \
             that are joined, the share of closed paths of length two, the correlation of the degrees of neighbours, the \
             largest core number, the distance within which nine tenths of the connected pairs lie (of 1000 sampled nodes \
             where there are more), and Gromov's four-point hyperbolicity: the largest that was found and what none \
             exceeds, equal where it is exact (see the source: components of up to 2000 nodes). Only the columns that the \
             query reads are computed.",
        )
        .example("SELECT graph, nodes, edges, regime FROM graph_profile(karate)")
        .source(
            "CurvBench (arXiv 2606.06397), Sec. 3 and Table 1; Newman, Mixing patterns in networks (2003); Leskovec, \
             Kleinberg and Faloutsos, Graphs over time (2005); Cohen, Coudert and Lancin, On computing the Gromov \
             hyperbolicity (2015)",
        )
}

/// The columns of `columns => 'all'` behind the basic ones.
const FURTHER: [(&str, DataType); 7] = [
    ("density", DataType::Float64),
    ("transitivity", DataType::Float64),
    ("degree_assortativity", DataType::Float64),
    ("core_number", DataType::Int64),
    ("effective_diameter", DataType::Float64),
    ("hyperbolicity", DataType::Float64),
    ("hyperbolicity_bound", DataType::Float64),
];

fn schema(further: bool) -> SchemaRef {
    let basic = [
        ("graph", DataType::Utf8),
        ("nodes", DataType::Int64),
        ("edges", DataType::Int64),
        ("components", DataType::Int64),
        ("diameter", DataType::Int64),
        ("avg_degree", DataType::Float64),
        ("features", DataType::Int64),
        ("classes", DataType::Int64),
        ("edge_homophily", DataType::Float64),
        ("mean_curvature", DataType::Float64),
        ("skewness", DataType::Float64),
        ("skewness_sample", DataType::Float64),
        ("regime", DataType::Utf8),
    ];
    let further = FURTHER.into_iter().filter(|_| further);
    let field = |(name, data_type)| Field::new(name, data_type, true);
    Arc::new(Schema::new(basic.into_iter().chain(further).map(field).collect::<Vec<_>>()))
}

/// The columns of a row; `None` where one is not asked for, or not defined for the graph.
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
    density: Option<f64>,
    transitivity: Option<f64>,
    degree_assortativity: Option<f64>,
    core_number: Option<i64>,
    effective_diameter: Option<f64>,
    hyperbolicity: Option<f64>,
    hyperbolicity_bound: Option<f64>,
}

fn bind(call: &Call) -> Result<Binding> {
    let names = call.options.texts("graph")?;
    let further = match call.options.text("columns")? {
        None | Some("basic") => false,
        Some("all") => true,
        Some(other) => return usage_error(format!("{NAME}: columns => '{other}': expected 'basic' or 'all'")),
    };
    Ok(Binding::new(schema(further), Vec::new(), move |run| profiles(&names, run)))
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
            DataFusionError::Execution(text) => {
                let text = text.strip_prefix(&format!("{NAME}: ")).unwrap_or(&text);
                execution_error(format!("{NAME}: graph {name}: {text}"))
            }
            error => error,
        })?;
        run.emit(batch(&name, &row, run.schema())?)?;
    }
    Ok(())
}

fn batch(name: &str, row: &Row, schema: &SchemaRef) -> Result<RecordBatch> {
    let integer = |value: Option<i64>| -> ArrayRef { Arc::new(Int64Array::from(vec![value])) };
    let number = |value: Option<f64>| -> ArrayRef { Arc::new(Float64Array::from(vec![value])) };
    let text = |value: Option<&str>| -> ArrayRef { Arc::new(StringArray::from(vec![value])) };
    let mut columns = vec![
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
        number(row.density),
        number(row.transitivity),
        number(row.degree_assortativity),
        integer(row.core_number),
        number(row.effective_diameter),
        number(row.hyperbolicity),
        number(row.hyperbolicity_bound),
    ];
    columns.truncate(schema.fields().len());
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}

fn profile(run: &mut Run, tables: &GraphTables) -> Result<Row> {
    let wants = |run: &Run, columns: &[&str]| columns.iter().any(|column| run.wants(column));
    let curved = wants(run, &["diameter", "mean_curvature", "skewness", "skewness_sample", "regime"]);
    let labelled = wants(run, &["classes", "edge_homophily"]) && has_label(tables);
    let structural = curved
        || labelled
        || wants(run, &["nodes", "edges", "components", "avg_degree"])
        || FURTHER.iter().any(|(column, _)| run.wants(column));

    let mut row = Row::default();
    if run.wants("features") {
        row.features = feature_width(run, tables)?;
    }
    if !structural {
        return Ok(row);
    }
    let input = run.read_graph(NAME, tables)?;
    let labels = if labelled { Some(labels(run, tables, &input.keys)?) } else { None };
    let graph = run.install(|| input.graph())?;
    let (n, m) = (graph.n_nodes() as f64, graph.n_edges() as f64);
    row.nodes = Some(graph.n_nodes() as i64);
    row.edges = Some(graph.n_edges() as i64);
    row.avg_degree = (n > 0.0).then(|| 2.0 * m / n);
    row.density = (n > 1.0).then(|| 2.0 * m / (n * (n - 1.0)));
    if run.wants("components") {
        let host = run.host();
        let components = run.install(|| bonnet_graph::watched_components(graph, host));
        row.components = Some(components.map_err(stopped)?.sizes.len() as i64);
    }
    if let Some(labels) = labels {
        row.classes = labels.iter().flatten().max().map(|&class| i64::from(class) + 1);
        let host = run.host();
        let homophily = run.install(|| bonnet_homophily::edge_homophily_of_graph(graph, &labels, host));
        row.edge_homophily = homophily.map_err(stopped)?;
    }
    if curved {
        curvature(run, &input, &mut row)?;
    }
    structure(run, graph, &mut row)?;
    Ok(row)
}

/// The midpoint curvature, and what is said of it.
fn curvature(run: &Run, input: &InputGraph, row: &mut Row) -> Result<()> {
    let host = run.host();
    let _reservation = Reservation::new(host, 8 * input.n_nodes()).map_err(stopped)?;
    let midpoint = run
        .install(|| {
            bonnet_curvature::midpoint_curvature(input.n_nodes(), input.arcs(), &MidpointOptions::default(), host)
        })
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
    Ok(())
}

/// Further figures of the structure, as far as they are asked for.
fn structure(run: &Run, graph: &Graph, row: &mut Row) -> Result<()> {
    let host = run.host();
    if run.wants("transitivity") {
        row.transitivity = Some(run.install(|| bonnet_algorithms::transitivity(graph, host)).map_err(stopped)?);
    }
    if run.wants("degree_assortativity") {
        row.degree_assortativity = run.install(|| bonnet_algorithms::degree_assortativity(graph));
    }
    if run.wants("core_number") {
        let cores = run.install(|| bonnet_algorithms::core_number(graph, host)).map_err(stopped)?;
        row.core_number = cores.into_iter().max().map(i64::from);
    }
    if run.wants("effective_diameter") {
        let samples = (graph.n_nodes() > SAMPLED_NODES).then_some(SAMPLED_NODES);
        let network = Network::undirected(graph);
        let found = run.install(|| bonnet_algorithms::effective_diameter(network, QUANTILE, samples, 0, host));
        row.effective_diameter = found.map_err(stopped)?;
    }
    if run.wants("hyperbolicity") || run.wants("hyperbolicity_bound") {
        let options = HyperbolicityOptions::default();
        let found = run.install(|| bonnet_curvature::hyperbolicity(graph, &options, host)).map_err(stopped)?;
        row.hyperbolicity = found.map(|found| found.lower);
        row.hyperbolicity_bound = found.map(|found| found.upper);
    }
    Ok(())
}

/// Whether nodes have labels that are classes: not several targets, not none.
fn has_label(tables: &GraphTables) -> bool {
    tables.nodes.schema().field_with_name("label").is_ok_and(|field| !field.data_type().is_nested())
}

/// The class of each node as a number, where it has one.
fn labels(run: &Run, tables: &GraphTables, keys: &KeyIndex) -> Result<Vec<Option<u32>>> {
    let nodes = run.read_table(&tables.nodes, "nodes", &["node", "label"])?;
    run.host().reserve(16 * nodes[0].len()).map_err(stopped)?;
    let node = KeyColumn::new(&nodes[0], "nodes.node")?;
    let label = match nodes[1].data_type().is_floating() {
        true => cast(&nodes[1], &DataType::Utf8)?,
        false => Arc::clone(&nodes[1]),
    };
    let label = KeyColumn::new(&label, "nodes.label")?;
    let classes = KeyIndex::new(&[("nodes.label", &label)])?.numbers(&label);
    let mut labels = vec![None; keys.len()];
    for (node, class) in keys.numbers(&node).into_iter().zip(classes) {
        if let Some(node) = node {
            labels[node as usize] = class;
        }
    }
    Ok(labels)
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
