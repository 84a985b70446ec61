//! Properties of a complex: `is_closed_manifold`, `manifold_check`, `is_orientable`, `genus`.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, StringArray};
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, stopped};
use datafusion::common::Result;

use super::column::{FacetsColumn, facets_function, facets_parameter};

const MANIFOLDS: &str = "Rourke and Sanderson, Introduction to Piecewise-Linear Topology (1972), Ch. 2; Ballester et al., \
                         MANTRA: The Manifold Triangulations Assemblage (ICLR 2025), App. A.3";

/// The registration of `is_closed_manifold`.
pub fn is_closed_manifold() -> Function {
    facets_function("is_closed_manifold", DataType::Boolean, closed_manifolds)
        .parameters([facets_parameter()])
        .returns("BOOLEAN")
        .description(
            "Whether the complex is a closed manifold, connected or not. Dimension 0 to 3: decided, all links are spheres. \
             Dimension 4 and above, where recognising spheres is hard: false is proven; true says that it is a closed \
             pseudomanifold (two facets at each ridge, components strongly connected) whose links of dimension 1 and 2 \
             are spheres. manifold_check(facets) says which, and where a complex fails. NULL for NULL.",
        )
        .example("SELECT is_closed_manifold([[1,2,3],[1,2,4],[1,3,4],[2,3,4]]) AS sphere")
        .source(MANIFOLDS)
}

/// The registration of `manifold_check`.
pub fn manifold_check() -> Function {
    facets_function("manifold_check", DataType::Utf8, manifold_checks)
        .parameters([facets_parameter()])
        .returns("TEXT")
        .description(
            "What is_closed_manifold has checked and found, in words: 'closed 3-manifold: ...' or, from dimension 4 on, \
             'closed 4-pseudomanifold: ...'; else the first failure and the face where it is: 'not pure', 'boundary', \
             'branching', 'singular'. NULL for NULL.",
        )
        .example("SELECT manifold_check([[1,2,3],[2,3,4]])")
        .source(MANIFOLDS)
}

/// The registration of `is_orientable`.
pub fn is_orientable() -> Function {
    facets_function("is_orientable", DataType::Boolean, orientable)
        .parameters([facets_parameter()])
        .returns("BOOLEAN")
        .description(
            "Whether the facets can be oriented so that neighbours agree; with or without a boundary. NULL where that has \
             no meaning: facets of different dimensions, or three at one ridge. NULL for NULL.",
        )
        .example("SELECT is_orientable([[0,1,2],[1,2,3],[2,3,4],[3,4,0],[4,0,1]]) AS moebius_strip")
        .source("Munkres, Elements of Algebraic Topology (1984), Sec. 6")
}

/// The registration of `genus`.
pub fn genus() -> Function {
    facets_function("genus", DataType::Int64, genera)
        .parameters([facets_parameter()])
        .returns("BIGINT")
        .description(
            "The genus of a connected closed surface: of how many tori or, where it is not orientable, projective planes \
             it is the sum. NULL for every other complex.",
        )
        .example("SELECT genus([[1,2,3],[1,2,4],[1,3,4],[2,3,4]]) AS sphere")
        .source("Ballester et al., MANTRA: The Manifold Triangulations Assemblage (ICLR 2025), App. A.3")
}

fn checks<T: Send>(
    facets: &FacetsColumn,
    monitor: &dyn Monitor,
    answer: impl Fn(crate::ManifoldCheck) -> T + Sync,
) -> Result<Vec<Option<T>>> {
    facets.map(monitor, |complex, _, _| Ok(Some(answer(crate::manifold_check(complex, monitor).map_err(stopped)?))))
}

fn closed_manifolds(facets: &FacetsColumn, _: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    Ok(Arc::new(BooleanArray::from(checks(facets, monitor, |check| check.is_closed())?)))
}

fn manifold_checks(facets: &FacetsColumn, _: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    Ok(Arc::new(StringArray::from(checks(facets, monitor, |check| check.to_string())?)))
}

fn orientable(facets: &FacetsColumn, _: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let values = facets.map(monitor, |complex, _, _| crate::is_orientable(complex, monitor).map_err(stopped))?;
    Ok(Arc::new(BooleanArray::from(values)))
}

fn genera(facets: &FacetsColumn, _: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let values = facets
        .map(monitor, |complex, _, _| Ok(crate::genus(complex, monitor).map_err(stopped)?.map(|genus| genus as i64)))?;
    Ok(Arc::new(Int64Array::from(values)))
}
