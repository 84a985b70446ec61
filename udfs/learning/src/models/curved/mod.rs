//! What models of curved spaces share: their options, and how they end.

pub mod cusp;
pub mod graphmore;
pub mod hat;
pub mod hgcn;
pub mod hgnn;
pub mod hybonet;
pub mod qgcn;

use crate::ground::{BuildError, OptionError};
use crate::options::{ModelOptions, Task};
use crate::program::layers::curved::{Layered, TangentVectors};
use crate::program::{Builder, Program, Slot};
use crate::spaces::{Manifold, Space};

/// The coordinates of hyperbolic space: the value of the option `manifold`.
pub(crate) fn manifold(options: &ModelOptions<'_>) -> Result<Manifold, OptionError> {
    Ok(if options.text("manifold")? == "poincare" { Manifold::Ball } else { Manifold::Hyperboloid })
}

/// The width of the last layer: that of a node's output where the task reads points or pools them.
pub(crate) fn last_width(options: &ModelOptions<'_>) -> usize {
    if options.task.is_of_nodes() { options.hidden } else { options.embedding }
}

/// The end of a model whose last layer gives tangent vectors at the origin of a space, all of whose factors have the last
/// curvature: classes or numbers by `decode`, points for pairs, the vectors themselves for graphs.
pub(crate) fn finish(
    mut b: Builder<'_, '_>,
    options: &ModelOptions<'_>,
    h: Slot,
    space: Space,
    curvature: &Layered,
    decode: impl FnOnce(&mut Builder<'_, '_>, Slot) -> Result<Slot, BuildError>,
) -> Result<Program, BuildError> {
    let points = |b: &mut Builder<'_, '_>| {
        let layer = TangentVectors { factors: space.factors.len(), curvature: curvature.after(0) };
        let points = b.rows(layer, &[h], &curvature.with(&[]), space.columns());
        b.points(points, space);
        points
    };
    let output = match options.task {
        Task::NodeClassification | Task::NodeRegression => {
            if options.keep_embeddings {
                points(&mut b);
            }
            decode(&mut b, h)?
        }
        Task::LinkPrediction => points(&mut b),
        _ => h,
    };
    Ok(b.finish(output)?)
}
