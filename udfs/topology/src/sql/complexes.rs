//! Complexes from complexes: `barycentric_subdivision`, `one_skeleton`, `faces`.

use arrow::array::ArrayRef;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, stopped};
use datafusion::common::Result;

use super::column::{FacetsColumn, facets_array, facets_function, facets_parameter, facets_type, labelled};
use super::dimensions::{dimension, dimension_parameter};
use super::structs::{struct_type, structs};
use crate::faces_at;

/// The fields of an edge.
const EDGE: [&str; 2] = ["src", "dst"];

/// The registration of `barycentric_subdivision`.
pub fn barycentric_subdivision() -> Function {
    facets_function("barycentric_subdivision", facets_type(), subdivisions).heavy()
        .parameters([facets_parameter()])
        .returns("INT[][]")
        .description(
            "The barycentric subdivision: a vertex for each face, numbered from 1 by dimension, then lexicographically, and \
             a facet for each chain of faces up to a facet. A facet with w vertices gives w! of them. NULL for NULL.",
        )
        .example("SELECT barycentric_subdivision([[1,2,3]])")
        .source("Munkres, Elements of Algebraic Topology (1984), Sec. 15")
}

/// The registration of `one_skeleton`.
pub fn one_skeleton() -> Function {
    facets_function("one_skeleton", struct_type(EDGE), skeletons)
        .parameters([facets_parameter()])
        .returns("STRUCT(src BIGINT, dst BIGINT)[]")
        .description(
            "The edges of the complex, each once with src < dst, in order; flatten makes rows of them, and so a graph. \
             NULL for NULL.",
        )
        .example("SELECT src, dst FROM flatten((SELECT one_skeleton([[1,2,3],[3,4]]) AS edges), edges)")
        .source("Munkres, Elements of Algebraic Topology (1984), Sec. 2")
}

/// The registration of `faces`.
pub fn faces() -> Function {
    facets_function("faces", facets_type(), faces_of_dimension)
        .parameters([facets_parameter(), dimension_parameter()])
        .returns("INT[][]")
        .description(
            "The faces of a dimension, each once, in lexicographic order; an empty list above the complex's dimension. \
             NULL for NULL.",
        )
        .example("SELECT faces([[1,2,3],[3,4]], 1) AS edges")
        .source("Munkres, Elements of Algebraic Topology (1984), Sec. 2")
}

fn subdivisions(facets: &FacetsColumn, _: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let rows = facets.map(monitor, |complex, _, row| {
        let finer = crate::barycentric_subdivision(complex, monitor);
        finer.map(Some).map_err(|error| facets.kernel_fault(row, error))
    })?;
    facets_array(&rows, facets.name, monitor)
}

fn faces_of_dimension(facets: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let rows = facets.map(monitor, |complex, _, row| {
        let Some(dimension) = dimension(facets.name, &columns[1], row)? else { return Ok(None) };
        if dimension > complex.dimension() {
            return Ok(Some(Default::default()));
        }
        let faces = faces_at(complex, dimension, monitor).map_err(|error| facets.kernel_fault(row, error))?;
        Ok(Some(labelled(complex, faces.iter())))
    })?;
    facets_array(&rows, facets.name, monitor)
}

fn skeletons(facets: &FacetsColumn, _: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let blocks = facets.lists(monitor, |edges: &mut Vec<[i64; 2]>, complex, _, _| {
        if let Some(complex) = complex {
            let labels = complex.labels();
            let pairs = crate::one_skeleton(complex, monitor).map_err(stopped)?;
            edges.extend(pairs.into_iter().map(|(u, v)| [labels[u as usize], labels[v as usize]]));
        }
        Ok(complex.is_some())
    })?;
    structs(&blocks, EDGE, facets.name)
}
