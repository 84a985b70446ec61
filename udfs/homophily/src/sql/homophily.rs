//! `homophily(graph, ...)`: one row a graph with all metrics; `classifier_accuracies(graph)`: what three of them are made of.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bonnet_graph::{Digraph, Monitor, Stopped};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphTables, OptionValue, Options, Parameter, Run, execution_error, stopped,
    usage_error,
};
use datafusion::common::Result;

use super::SOURCE;
use super::graph::{LabelledGraph, at_graph, kernel};
use crate::{
    Accuracies, Classifier, ClassifierError, ClassifierOptions, LabelPairs, Normalization, adjusted_homophily,
    aggregation_homophily, class_homophily, classifier_p_value, edge_homophily, generalized_edge_homophily,
    label_informativeness, neighborhood_identifiability, node_homophily_of_arcs,
};

const NAME: &str = "homophily";
const ACCURACIES: &str = "classifier_accuracies";

const METRICS: [&str; 11] = [
    "edge",
    "node",
    "class",
    "adjusted",
    "generalized_edge",
    "aggregation",
    "label_informativeness",
    "neighborhood_identifiability",
    "gnb",
    "kr_linear",
    "kr_nonlinear",
];

/// The parameters that both functions share.
fn parameters(graph: Parameter) -> Vec<Parameter> {
    vec![
        graph,
        Parameter::boolean(
            "directed",
            false,
            "Whether the arcs of a directed graph are read as stored; else both arcs of every edge count.",
        ),
        Parameter::seed(),
        Parameter::integer(
            "samples",
            "The labelled nodes that a classifier sees, about the same number of each class.",
        )
        .or(OptionValue::Integer(500)),
        Parameter::integer("repeats", "The repetitions that a classifier is tested in, at least 2.")
            .or(OptionValue::Integer(100)),
        Parameter::text("normalization", "How A + I is scaled before aggregation: 'sym' or 'rw' (the mean).")
            .or(OptionValue::Text("sym".to_owned())),
    ]
}

/// The registrations.
pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::new(NAME, Body::Relation(Arc::new(bind)))
            .parameters(parameters(Parameter::graphs("graph", "The names of graphs; '*' for all there are.")))
            .returns(
                "graph, edge, node, class, adjusted, generalized_edge, aggregation, label_informativeness, \
                 neighborhood_identifiability, gnb, kr_linear, kr_nonlinear",
            )
            .description(
                "One row a graph: how labels and features sit on its edges. Distinct edges without loops; nodes without a \
                 label take no part in what labels decide, and node averages over all labelled nodes, those without \
                 neighbours counting 0. directed => true with the arcs as published gives the figures of the paper's \
                 Table 2. neighborhood_identifiability is small where neighbourhoods are identifiable. gnb, kr_linear and \
                 kr_nonlinear are p-values near 1 where aggregating features helps a Gaussian naive Bayes classifier or \
                 kernel regression (linear, NNGP). Only the columns that the query reads are computed. NULL: one class \
                 only, no edge between labelled nodes, or, for what needs features, a node that lacks them.",
            )
            .example("SELECT graph, edge, class, aggregation FROM homophily(karate)")
            .source(SOURCE),
        Function::new(ACCURACIES, Body::Relation(Arc::new(bind_accuracies)))
            .parameters(parameters(Parameter::graph("graph", "The name of a graph.")))
            .returns("classifier, repeat, accuracy, aggregated_accuracy")
            .description(
                "The samples behind gnb, kr_linear and kr_nonlinear of homophily: for each classifier and repetition the \
                 share of test nodes whose class it predicts, from the features as they are and from the aggregated ones. \
                 A repetition draws round(samples / classes) labelled nodes of each class, 60 % of them for training. No rows \
                 where a node lacks features, or with one class only.",
            )
            .example("SELECT count(*) AS samples FROM classifier_accuracies(karate, repeats => 10)")
            .source("Luan et al., When Do Graph Neural Networks Help with Node Classification? (NeurIPS 2023)"),
    ]
}

fn classifier_options(options: &Options) -> Result<ClassifierOptions> {
    let defaults = ClassifierOptions::default();
    Ok(ClassifierOptions {
        samples: options.integer_from("samples", 1)?.map_or(defaults.samples, |samples| samples as usize),
        repeats: options.integer_from("repeats", 2)?.map_or(defaults.repeats, |repeats| repeats as usize),
        seed: options.integer("seed")?.unwrap_or(0) as u64,
        normalization: match options.text("normalization")?.unwrap_or("sym") {
            "sym" => Normalization::Symmetric,
            "rw" => Normalization::RandomWalk,
            other => return usage_error(format!("normalization => '{other}': expected 'sym' or 'rw'")),
        },
    })
}

/// The accuracies of some classifiers; `None` where the graph has no features for all nodes, or too few classes.
fn accuracies(
    run: &Run,
    graph: &LabelledGraph,
    arcs: &Digraph,
    labels: &[Option<u32>],
    features: Option<&ArrayRef>,
    classifiers: &[Classifier],
    options: &ClassifierOptions,
) -> Result<Option<Vec<Vec<Accuracies>>>> {
    let Some(features) = features else { return Ok(None) };
    run.host().reserve(2 * features.get_array_memory_size()).map_err(stopped)?;
    let (features, present) = graph.features(features)?;
    if present.contains(&false) {
        return Ok(None);
    }
    let host = run.host();
    let found = run.install(|| crate::classifier_accuracies(arcs, &features, labels, classifiers, options, host));
    found.map_err(|error| match error {
        ClassifierError::Stopped(reason) => stopped(reason),
        error => execution_error(error.to_string()),
    })
}

fn schema() -> SchemaRef {
    let metrics = METRICS.iter().map(|name| Field::new(*name, DataType::Float64, true));
    Arc::new(Schema::new([Field::new("graph", DataType::Utf8, true)].into_iter().chain(metrics).collect::<Vec<_>>()))
}

fn bind(call: &Call) -> Result<Binding> {
    let options = classifier_options(&call.options)?;
    let directed = call.options.boolean("directed")?.unwrap_or(false);
    let names = call.options.texts("graph")?;
    Ok(Binding::new(schema(), Vec::new(), move |run| all_metrics(&names, directed, &options, run)))
}

fn all_metrics(given: &[String], directed: bool, options: &ClassifierOptions, run: &mut Run) -> Result<()> {
    let mut names = Vec::new();
    for name in given.iter().cloned() {
        match name.as_str() {
            "*" => names.extend(run.graphs().names()),
            _ => names.push(name),
        }
    }
    for name in names {
        run.host().check().map_err(stopped)?;
        let tables = run.wait(run.graphs().tables(&name))?;
        let values = metrics(run, &tables, directed, options).map_err(|error| at_graph(error, NAME, &name))?;
        let graph: ArrayRef = Arc::new(StringArray::from(vec![name]));
        let number = |value: Option<f64>| -> ArrayRef { Arc::new(Float64Array::from(vec![value])) };
        let columns = std::iter::once(graph).chain(values.into_iter().map(number)).collect();
        run.emit(RecordBatch::try_new(schema(), columns)?)?;
    }
    Ok(())
}

/// The metrics that the query reads, in the order of [`METRICS`].
fn metrics(run: &Run, tables: &GraphTables, directed: bool, options: &ClassifierOptions) -> Result<Vec<Option<f64>>> {
    let wants = |columns: &[&str]| columns.iter().any(|column| run.wants(column));
    let mut values = vec![None; METRICS.len()];
    if !wants(&METRICS) {
        return Ok(values);
    }
    let classified: Vec<Classifier> =
        Classifier::ALL.into_iter().filter(|classifier| run.wants(classifier.name())).collect();
    let featured = wants(&["generalized_edge"]) || !classified.is_empty();
    let columns: &[&str] = if featured { &["label", "features"] } else { &["label"] };
    let graph = LabelledGraph::read(run, NAME, tables, columns)?;
    let host = run.host();
    let arcs = run.install(|| graph.arcs(tables, directed, host))?;
    let mut set = |name: &str, value: Option<f64>| {
        if let Some(position) = METRICS.iter().position(|metric| *metric == name) {
            values[position] = value;
        }
    };

    let features = graph.columns.get(1).cloned().flatten();
    if run.wants("generalized_edge")
        && let Some(features) = &features
    {
        host.reserve(2 * features.get_array_memory_size()).map_err(stopped)?;
        let (features, present) = graph.features(features)?;
        set("generalized_edge", kernel(run.install(|| generalized_edge_homophily(&arcs, &features, &present, host)))?);
    }
    let Some(label) = &graph.columns[0] else { return Ok(values) };
    if label.data_type().is_nested() {
        // Several targets are no classes.
        return Ok(values);
    }
    let labels = graph.labels(label)?;
    if wants(&["edge", "adjusted", "label_informativeness"]) {
        let pairs = run.install(|| LabelPairs::of_arcs(&arcs, &labels, host)).map_err(stopped)?;
        set("edge", edge_homophily(&pairs));
        set("adjusted", adjusted_homophily(&pairs));
        set("label_informativeness", label_informativeness(&pairs));
    }
    type Metric = fn(&Digraph, &[Option<u32>], &dyn Monitor) -> std::result::Result<Option<f64>, Stopped>;
    let plain: [(&str, Metric); 3] = [
        ("node", node_homophily_of_arcs),
        ("class", class_homophily),
        ("neighborhood_identifiability", neighborhood_identifiability),
    ];
    for (name, metric) in plain {
        if run.wants(name) {
            set(name, kernel(run.install(|| metric(&arcs, &labels, host)))?);
        }
    }
    if run.wants("aggregation") {
        set("aggregation", kernel(run.install(|| aggregation_homophily(&arcs, &labels, options.normalization, host)))?);
    }
    if !classified.is_empty()
        && let Some(found) = accuracies(run, &graph, &arcs, &labels, features.as_ref(), &classified, options)?
    {
        for (classifier, accuracies) in classified.iter().zip(&found) {
            set(classifier.name(), Some(classifier_p_value(accuracies)));
        }
    }
    Ok(values)
}

fn bind_accuracies(call: &Call) -> Result<Binding> {
    let options = classifier_options(&call.options)?;
    let directed = call.options.boolean("directed")?.unwrap_or(false);
    let name = call.options.texts("graph")?.swap_remove(0);
    let schema = Schema::new(vec![
        Field::new("classifier", DataType::Utf8, true),
        Field::new("repeat", DataType::Int64, true),
        Field::new("accuracy", DataType::Float64, true),
        Field::new("aggregated_accuracy", DataType::Float64, true),
    ]);
    Ok(Binding::new(Arc::new(schema), Vec::new(), move |run| accuracies_of(&name, directed, &options, run)))
}

fn accuracies_of(name: &str, directed: bool, options: &ClassifierOptions, run: &mut Run) -> Result<()> {
    let tables = run.wait(run.graphs().tables(name))?;
    let found = || {
        let graph = LabelledGraph::read(run, ACCURACIES, &tables, &["label", "features"])?;
        let (label, features) = (&graph.columns[0], &graph.columns[1]);
        let Some(label) = label else { return Err(execution_error("its table nodes has no column label")) };
        let host = run.host();
        let arcs = run.install(|| graph.arcs(&tables, directed, host))?;
        let labels = graph.labels(label)?;
        accuracies(run, &graph, &arcs, &labels, features.as_ref(), &Classifier::ALL, options)
    };
    let Some(found) = found().map_err(|error| at_graph(error, ACCURACIES, name))? else { return Ok(()) };
    let rows: Vec<(&str, i64, Accuracies)> = Classifier::ALL
        .iter()
        .zip(&found)
        .flat_map(|(classifier, accuracies)| (0..).zip(accuracies).map(|(i, it)| (classifier.name(), i, *it)))
        .collect();
    run.emit_all(vec![
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0))),
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1))),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.2.given))),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.2.aggregated))),
    ])
}
