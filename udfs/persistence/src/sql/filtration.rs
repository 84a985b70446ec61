//! `persistence_diagram(src, dst, value)` and `vertex_persistence_diagram(src, dst, src_value, dst_value)`.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Float64Type;
use bonnet_graph::{Graph, Monitor, Reservation};
use bonnet_sql::{
    EdgeEnds, Function, GroupedRows, KeyIndex, OptionValue, Options, Parameter, execution_error, rows_function,
    stopped, usage_error,
};
use datafusion::common::{DataFusionError, Result};

use super::columns::{diagram_array, diagram_type};
use crate::{Complex, Direction, Essential, FiltrationError, FiltrationOptions, Point, Vertices};

const EDGES: &str = "persistence_diagram";
const VERTICES: &str = "vertex_persistence_diagram";

fn expand() -> Parameter {
    Parameter::integer(
        "expand",
        "1: the graph alone. 2: with every triangle, from its last edge on (the clique complex up to dimension 2).",
    )
    .or(OptionValue::Integer(1))
}

fn essential_and_direction() -> [Parameter; 2] {
    [
        Parameter::text(
            "essential",
            "What becomes of classes that never die: 'infinite', their death is infinite; 'max', they die at the last value \
             of the filtration; 'drop', they are left out.",
        )
        .or(OptionValue::Text("infinite".to_owned())),
        Parameter::text("direction", "'sublevel': small values first; 'superlevel': large values first.")
            .or(OptionValue::Text("sublevel".to_owned())),
    ]
}

/// The registration.
pub(super) fn persistence_diagram() -> Function {
    diagram_function(EDGES, by_edges)
        .parameters(
            Parameter::ends()
                .into_iter()
                .chain([
                    Parameter::number_column("value", "The value of the edge: finite, and one for each edge."),
                    expand(),
                    Parameter::number_or_text(
                        "vertices",
                        "When a vertex enters: 'first_edge', with its first edge; 'lowest', with the first edge of the \
                         graph; or a number, at that value. A vertex never enters after its edges.",
                    )
                    .or(OptionValue::Text("first_edge".to_owned())),
                ])
                .chain(essential_and_direction()),
        )
        .returns("LIST of {dim, birth, death}")
        .description(
            "The persistence diagram of a graph filtered by the values of its edges, in dimension 0 (components) and 1 \
             (cycles), over the field of two elements, ordered by dim, birth, death; classes of length zero are left out. \
             Direction and repeats of an edge are ignored, but an edge with two values is an error; a loop's row only says \
             that its node is there, which with vertices => 'first_edge' never enters unless an edge reaches it. Rows with a NULL do not count; no rows give NULL. Along a superlevel filtration deaths \
             lie below births.",
        )
        .example("SELECT persistence_diagram(src, dst, abs(src - dst), expand => 2) AS diagram FROM karate.edges")
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 2.2")
}

/// The registration.
pub(super) fn vertex_persistence_diagram() -> Function {
    diagram_function(VERTICES, by_vertices)
        .parameters(
            Parameter::ends()
                .into_iter()
                .chain([
                    Parameter::number_column("src_value", "The value of the node at src: finite, one for each node."),
                    Parameter::number_column("dst_value", "The value of the node at dst."),
                    expand(),
                ])
                .chain(essential_and_direction()),
        )
        .returns("LIST of {dim, birth, death}")
        .description(
            "The persistence diagram of a graph filtered by the values of its nodes: an edge or a triangle enters with the \
             last of its nodes. Otherwise as persistence_diagram; a row with src = dst puts in a node without edges. A node \
             with two values is an error.",
        )
        .example("SELECT vertex_persistence_diagram(src, dst, src, dst) AS diagram FROM karate.edges")
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), App. B.1")
}

fn options(function: &str, options: &Options) -> Result<FiltrationOptions> {
    let one_of = |name: &str, words: &[&str]| {
        let given = options.text(name)?.unwrap_or(words[0]);
        match words.iter().position(|word| word.eq_ignore_ascii_case(given)) {
            Some(position) => Ok(position),
            None => usage_error(format!("{function}: {name} => '{given}': expected one of '{}'", words.join("', '"))),
        }
    };
    let complex = match options.integer("expand")? {
        None | Some(1) => Complex::Graph,
        Some(2) => Complex::Triangles,
        Some(other) => {
            return usage_error(format!("{function}: expand => {other}: expected 1 (the graph) or 2 (with triangles)"));
        }
    };
    let vertices = match options.get("vertices") {
        Some(OptionValue::Number(value)) if value.is_finite() => Vertices::At(*value),
        Some(OptionValue::Number(value)) => {
            return usage_error(format!("{function}: vertices => {value}: expected a finite number"));
        }
        _ => [Vertices::FirstEdge, Vertices::Lowest][one_of("vertices", &["first_edge", "lowest"])?],
    };
    Ok(FiltrationOptions {
        complex,
        vertices,
        essential: [Essential::Infinite, Essential::Max, Essential::Drop]
            [one_of("essential", &["infinite", "max", "drop"])?],
        direction: [Direction::Sublevel, Direction::Superlevel][one_of("direction", &["sublevel", "superlevel"])?],
    })
}

/// A kernel: the number of nodes, the edges, the values of the rows column by column.
type Diagram = fn(usize, &[(u32, u32)], &[&[f64]], &FiltrationOptions, &dyn Monitor) -> Result<Vec<Point>, RowsError>;

/// Why the rows have no diagram: by the numbers of nodes.
pub(super) enum RowsError {
    Filtration(FiltrationError),
    /// A node has two values.
    TwoValues(u32, f64, f64),
}

impl From<FiltrationError> for RowsError {
    fn from(error: FiltrationError) -> Self {
        Self::Filtration(error)
    }
}

/// Diagrams of the graphs that the rows of the groups are.
fn diagram_function(name: &'static str, diagram: Diagram) -> Function {
    rows_function(name, diagram_type(), move |given| {
        let options = options(name, given)?;
        Ok(Box::new(move |rows, monitor| diagrams(name, diagram, rows, &options, monitor)))
    })
}

/// A diagram a group; NULL without rows.
fn diagrams(
    function: &str,
    diagram: Diagram,
    rows: &GroupedRows,
    options: &FiltrationOptions,
    monitor: &dyn Monitor,
) -> Result<ArrayRef> {
    let columns = rows.columns();
    let ends = EdgeEnds::new(function, &columns[0], &columns[1])?;
    let values: Vec<&[f64]> =
        columns[2..].iter().map(|column| column.as_primitive::<Float64Type>().values().as_ref()).collect();
    let found = rows.map(|group: Range<usize>| {
        if group.is_empty() {
            return Ok(None);
        }
        // Columns, keys and pairs of numbers.
        let _reservation = Reservation::new(monitor, 48 * group.len()).map_err(stopped)?;
        let (keys, edges) = ends.graph(function, group.clone())?;
        let values: Vec<&[f64]> = values.iter().map(|values| &values[group.clone()]).collect();
        let points = diagram(keys.len(), &edges, &values, options, monitor);
        points.map(Some).map_err(|error| described(function, error, &keys))
    })?;
    Ok(Arc::new(diagram_array(&found)?))
}

fn by_edges(
    n: usize,
    edges: &[(u32, u32)],
    values: &[&[f64]],
    options: &FiltrationOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<Point>, RowsError> {
    Ok(crate::persistence_diagram(n, edges, values[0], options, monitor)?)
}

fn by_vertices(
    n: usize,
    edges: &[(u32, u32)],
    values: &[&[f64]],
    options: &FiltrationOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<Point>, RowsError> {
    // NaN for a node without a value so far; every node has one in the end.
    let mut of_node = vec![f64::NAN; n];
    for (row, &(src, dst)) in edges.iter().enumerate() {
        for (node, value) in [(src, values[0][row]), (dst, values[1][row])] {
            let held = &mut of_node[node as usize];
            if !value.is_finite() {
                return Err(FiltrationError::NodeNotFinite { node, value }.into());
            }
            if *held != value && !held.is_nan() {
                return Err(RowsError::TwoValues(node, held.min(value), held.max(value)));
            }
            *held = value;
        }
    }
    let _reservation = Reservation::new(monitor, Graph::bytes(n, edges.len())).map_err(FiltrationError::from)?;
    let graph = Graph::from_edges(n, edges);
    Ok(crate::vertex_persistence_diagram(&graph, &of_node, options, monitor)?)
}

/// An error in the words of the rows.
pub(super) fn described(function: &str, error: RowsError, keys: &KeyIndex) -> DataFusionError {
    let edge = |src, dst| format!("{function}: edge ({}, {})", keys.describe(src), keys.describe(dst));
    let node = |node| format!("{function}: node {}", keys.describe(node));
    execution_error(match error {
        RowsError::Filtration(FiltrationError::Stopped(reason)) => return stopped(reason),
        RowsError::Filtration(FiltrationError::TwoValues { src, dst, first, second }) => format!(
            "{} is there with two values, {first} and {second}: give each edge one, as with GROUP BY src, dst",
            edge(src, dst)
        ),
        RowsError::Filtration(FiltrationError::EdgeNotFinite { src, dst, value }) => {
            format!("{} has the value {value}: a filtration needs finite values", edge(src, dst))
        }
        RowsError::Filtration(FiltrationError::NodeNotFinite { node: v, value }) => {
            format!("{} has the value {value}: a filtration needs finite values", node(v))
        }
        RowsError::TwoValues(v, first, second) => {
            format!("{} is there with two values, {first} and {second}: give each node one", node(v))
        }
    })
}
