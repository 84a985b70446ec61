//! `embedding_distortion(edges, embedding [, metric] [, curvature] [, scale])`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, UInt32Array};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType, Field, Float64Type};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, InputGraph, InputSchema, KeyColumn, KeyIndex, OptionValue, Options,
    Parameter, Run, execution_error, kernel_error, require_columns, stopped, usage_error,
};
use datafusion::common::Result;

use super::input::Table;
use crate::{Distortion, Factor, Metric, Points, Scale, factors};

const NAME: &str = "embedding_distortion";

/// The registration.
pub fn embedding_distortion() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            GraphInput::edges(),
            Parameter::relation(
                "embedding",
                "The position of each node: node, embedding (a list of numbers), graph_id where edges have it.",
            ),
            Parameter::text(
                "metric",
                "The space: 'euclidean', 'poincare' (ball), 'lorentz' (hyperboloid, time first), 'spherical'; or a product \
                 with coordinates and curvatures, as embed gives it in geometry: 'lorentz(9, -0.5) x euclidean(4) x \
                 spherical(3, 1) x poincare(2, -1) x pseudo_hyperboloid(2, 3, -1)', the last with 2 coordinates of time and 3 \
                 of space.",
            )
                .or(OptionValue::Text("euclidean".to_owned())),
            Parameter::number(
                "curvature",
                "The size of the space's curvature, above 0: the ball and the sphere have the radius 1 / sqrt(curvature). Not \
                 for a metric that has its own.",
            )
            .or(OptionValue::Number(1.0)),
            Parameter::number("scale", "The factor of graph distances, above 0; NULL for the one with the least distortion.")
                .optional(),
        ])
        .returns(
            "scale, distortion, diameter, pairs, mismatch, largest_mismatch, constant, lower_bound, quadruples; graph_id in \
             front where edges have it; one row a graph",
        )
        .description(
            "How far an embedding distorts the distances of a graph: the largest |d_M - scale d_G| over pairs of nodes at a \
             finite distance. mismatch is the mean over valid quadruples of |xi_M - scale xi_G|, the difference of the midpoint \
             curvature residuals, weighted as in the curvature of nodes (centres alike, then pairs of neighbours, then \
             anchors); constant is C_D, and lower_bound = mismatch / constant holds, and is given, where distortion < scale / 2. \
             mismatch is NULL without quadruples and where an anchor falls on a centre; a graph without edges has NULLs. \
             Nodes of the embedding that no edge has take no part. Exact: O(n (n + m)) time and more for hubs.",
        )
        .example(
            "SELECT scale, distortion, mismatch, lower_bound FROM embedding_distortion(
    (SELECT value AS src, (value + 1) % 8 AS dst FROM generate_series(0, 7)),
    (SELECT value AS node, [cos(value * pi() / 4), sin(value * pi() / 4)] AS embedding FROM generate_series(0, 7)),
    metric => 'spherical')",
        )
        .source("CurvBench (arXiv 2606.06397), Theorem 4.1, Eq. 6-9")
}

/// The space that the options name.
#[derive(Debug, Clone)]
enum Place {
    /// With the coordinates that the points have.
    Single(Metric, f64),
    /// With coordinates of its own.
    Product(Vec<Factor>),
}

fn options(options: &Options) -> Result<(Place, Scale)> {
    let name = options.text("metric")?.unwrap_or("euclidean");
    let positive = |name: &str| match options.number(name)? {
        Some(value) if !(value.is_finite() && value > 0.0) => {
            usage_error(format!("{NAME}: {name} => {value}: expected a number above 0"))
        }
        value => Ok(value),
    };
    let curvature = positive("curvature")?.unwrap_or(1.0);
    let place = match Metric::ALL.into_iter().find(|(known, _)| *known == name) {
        Some((_, metric)) => Place::Single(metric, curvature),
        None if name.contains('(') => match factors(name) {
            Ok(_) if curvature != 1.0 => {
                return usage_error(format!("{NAME}: curvature => {curvature}: the metric has its own curvatures"));
            }
            Ok(factors) => Place::Product(factors),
            Err(error) => return usage_error(format!("{NAME}: {error}")),
        },
        None => {
            let known = Metric::ALL.map(|(name, _)| format!("'{name}'")).join(", ");
            return usage_error(format!(
                "{NAME}: metric => '{name}': expected one of {known}, or a product such as 'lorentz(9, -0.5) x euclidean(4)'"
            ));
        }
    };
    Ok((place, positive("scale")?.map_or(Scale::Best, Scale::Given)))
}

fn bind(call: &Call) -> Result<Binding> {
    let options = options(&call.options)?;
    let [edges, embedding] = [&call.inputs[0], &call.inputs[1]];
    let input = GraphInput::bind(NAME, call)?;
    require_columns(NAME, embedding, &["node", "embedding"])?;
    let node = embedding.schema.field_with_name("node")?.data_type();
    if KeyColumn::normal_type(node).is_none() {
        return usage_error(format!("{NAME}: embedding.node is {node}: node keys are integers or text"));
    }
    let places = embedding.schema.field_with_name("embedding")?.data_type();
    let element = match places {
        DataType::List(element) | DataType::LargeList(element) | DataType::FixedSizeList(element, _) => {
            Some(element.data_type())
        }
        _ => None,
    };
    if !element.is_some_and(|element| element.is_numeric() || *element == DataType::Null) {
        return usage_error(format!("{NAME}: embedding.embedding is {places}, expected a list of numbers"));
    }
    let has_id = |input: &InputSchema| input.schema.field_with_name("graph_id").is_ok();
    match (has_id(edges), has_id(embedding)) {
        (true, false) => {
            return usage_error(format!("{NAME}: edges has a column graph_id and embedding has none: add it"));
        }
        (false, true) => {
            return usage_error(format!("{NAME}: embedding has a column graph_id and edges has none: add it to edges"));
        }
        _ => {}
    }
    let number = |name| Field::new(name, DataType::Float64, true);
    let count = |name| Field::new(name, DataType::Int64, true);
    let fields = vec![
        number("scale"),
        number("distortion"),
        count("diameter"),
        count("pairs"),
        number("mismatch"),
        number("largest_mismatch"),
        number("constant"),
        number("lower_bound"),
        count("quadruples"),
    ];
    let mut of_embedding = vec!["node".to_owned(), "embedding".to_owned()];
    of_embedding.extend(has_id(edges).then(|| "graph_id".to_owned()));
    let reads = vec![input.reads[0].clone(), of_embedding];
    let embedding = embedding.clone();
    Ok(Binding::new(input.schema(fields), reads, move |run| distortions(&input, &embedding, &options, run)).by_graph())
}

fn distortions(
    input: &GraphInput,
    embedding: &InputSchema,
    (place, scale): &(Place, Scale),
    run: &mut Run,
) -> Result<()> {
    let graphs = input.collect(run)?;
    let table = Table { input: embedding, batches: run.collect(1)? };
    let nodes = KeyColumn::new(&table.column("node")?, "embedding.node")?;
    let places = table.column("embedding")?;
    let _doubles = Reservation::new(run.host(), 2 * places.get_array_memory_size()).map_err(stopped)?;
    let places = cast(&places, &DataType::List(Arc::new(Field::new_list_field(DataType::Float64, true))))?;
    let rows = rows_of_graphs(&graphs, &table)?;
    for (graph, rows) in graphs.iter().zip(rows) {
        let host = run.host();
        host.check().map_err(stopped)?;
        let points = points(graph, &nodes, &places, rows, place, run).map_err(|error| graph.context(error))?;
        let simple = graph.graph()?;
        let found = run
            .install(|| crate::embedding_distortion(simple, &points, *scale, host))
            .map_err(|error| kernel_error(NAME, error))?;
        emit(run, graph, &found)?;
    }
    Ok(())
}

/// The rows of the embedding that belong to each graph: all of them where there is one graph without an id.
fn rows_of_graphs(graphs: &[InputGraph], table: &Table<'_>) -> Result<Vec<Option<Vec<u32>>>> {
    let ids: Vec<&dyn Array> = graphs.iter().filter_map(|graph| graph.id.as_deref()).collect();
    if ids.is_empty() {
        return Ok(graphs.iter().map(|_| None).collect());
    }
    let ids = KeyColumn::new(&concat(&ids)?, "edges.graph_id")?;
    let of_rows = KeyColumn::new(&table.column("graph_id")?, "embedding.graph_id")?;
    // Only to see that both have one form.
    KeyIndex::new(&[("edges.graph_id", &ids), ("embedding.graph_id", &of_rows)])?;
    let index = KeyIndex::new(&[("edges.graph_id", &ids)])?;
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); index.len()];
    for (row, id) in index.numbers(&of_rows).into_iter().enumerate() {
        if let Some(id) = id {
            rows[id as usize].push(row as u32);
        }
    }
    // An id that is NULL belongs to no graph, and has no rows.
    let rows = index.numbers(&ids).into_iter().map(|id| id.map(|id| std::mem::take(&mut rows[id as usize])));
    Ok(rows.map(|rows| Some(rows.unwrap_or_default())).collect())
}

/// The positions of a graph's nodes.
fn points(
    graph: &InputGraph,
    nodes: &KeyColumn,
    places: &ArrayRef,
    rows: Option<Vec<u32>>,
    place: &Place,
    run: &Run,
) -> Result<Points> {
    let refuse = |text: String| Err(execution_error(format!("{NAME}: {text}")));
    let (nodes, places) = match &rows {
        None => (nodes.clone(), Arc::clone(places)),
        Some(rows) => (nodes.rows(rows)?, take(places, &UInt32Array::from(rows.clone()), None)?),
    };
    if !graph.keys.is_empty() {
        // Only to see that the keys of both have one form.
        let keys = KeyColumn::new(&graph.keys.array(), "edges.src")?;
        KeyIndex::new(&[("edges.src", &keys), ("embedding.node", &nodes)])?;
    }
    let n = graph.n_nodes();
    let lists = places.as_list::<i32>();
    let mut row_of: Vec<Option<usize>> = vec![None; n];
    for (row, node) in graph.keys.numbers(&nodes).into_iter().enumerate() {
        let Some(node) = node else { continue };
        if row_of[node as usize].replace(row).is_some() {
            return refuse(format!("the node {} is embedded twice", graph.keys.describe(node)));
        }
    }
    let mut dimension = None;
    let mut coordinates = Vec::new();
    let mut _reservation = None;
    for (node, row) in row_of.into_iter().enumerate() {
        let name = graph.keys.describe(node as u32);
        let Some(row) = row.filter(|&row| lists.is_valid(row)) else {
            return refuse(format!("the node {name} of edges has no embedding"));
        };
        let list = lists.value(row);
        let list = list.as_primitive::<Float64Type>();
        if list.null_count() > 0 || list.is_empty() {
            return refuse(format!("the embedding of the node {name} is empty or holds a NULL"));
        }
        match dimension {
            None => {
                dimension = Some(list.len());
                let bytes = 8 * (n * (list.len() + 1));
                _reservation = Some(Reservation::new(run.host(), bytes).map_err(stopped)?);
                coordinates.reserve_exact(n * list.len());
            }
            Some(other) if other != list.len() => {
                return refuse(format!("the node {name} has {} coordinates, others {other}", list.len()));
            }
            Some(_) => {}
        }
        coordinates.extend_from_slice(list.values());
    }
    let factors = match place {
        Place::Single(metric, c) => vec![Factor { metric: *metric, c: *c, dimension: dimension.unwrap_or(1) }],
        Place::Product(factors) => {
            let expected: usize = factors.iter().map(|factor| factor.dimension).sum();
            if let Some(found) = dimension.filter(|found| *found != expected) {
                return refuse(format!("the metric has {expected} coordinates, the embedding has {found}"));
            }
            factors.clone()
        }
    };
    Points::product(factors, coordinates).map_err(|error| {
        let name = graph.keys.describe(error.point as u32);
        execution_error(format!("{NAME}: the node {name} is in no such space: {error}"))
    })
}

fn emit(run: &Run, graph: &InputGraph, found: &Distortion) -> Result<()> {
    let number = |value: Option<f64>| -> ArrayRef { Arc::new(Float64Array::from(vec![value])) };
    let count = |value: Option<i64>| -> ArrayRef { Arc::new(Int64Array::from(vec![value])) };
    let columns = vec![
        number(found.scale),
        number(found.distortion),
        count(Some(i64::from(found.diameter))),
        count(i64::try_from(found.pairs).ok()),
        number(found.mismatch),
        number(found.largest_mismatch),
        number(Some(found.constant)),
        number(found.lower_bound),
        count(i64::try_from(found.quadruples).ok()),
    ];
    graph.emit(run, columns)
}
