//! Persistence of a graph filtered by the values of its vertices.

use bonnet_graph::{Graph, Monitor, Reservation};

use crate::diagram::Point;
use crate::filtration::{FilteredEdge, FiltrationError, FiltrationOptions, finish};
use crate::flag::flag_persistence;

/// The persistence diagram of a graph under the filtration by the value of its vertices, one for each: an edge or a triangle
/// enters with the last of its vertices. Otherwise as [`persistence_diagram`](crate::persistence_diagram);
/// `options.vertices` means nothing here.
///
/// # Errors
/// For a value that is not finite; if the host stops or grants no memory.
///
/// # Panics
/// If `values` has not one entry a node.
pub fn vertex_persistence_diagram(
    graph: &Graph,
    values: &[f64],
    options: &FiltrationOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<Point>, FiltrationError> {
    assert_eq!(graph.n_nodes(), values.len(), "a value a node");
    if let Some(node) = values.iter().position(|value| !value.is_finite()) {
        return Err(FiltrationError::NodeNotFinite { node: node as u32, value: values[node] });
    }
    let _reservation = Reservation::new(monitor, 8 * values.len() + graph.n_edges() * size_of::<FilteredEdge>())?;
    let births: Vec<f64> = values.iter().map(|&value| options.direction.along(value)).collect();
    let edges = graph
        .edges()
        .map(|(u, v)| FilteredEdge { ends: (u, v), value: births[u as usize].max(births[v as usize]) })
        .collect();
    let last = births.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let points = flag_persistence(&births, edges, options.complex, monitor)?;
    Ok(finish(points, last, options))
}
