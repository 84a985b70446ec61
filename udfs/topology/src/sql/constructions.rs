//! Complexes from complexes, and their types: `canonical_form`, `bistellar_walk`, `connected_sum`, `homeomorphism_type`.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, OptionValue, Parameter, stopped};
use datafusion::common::Result;

use super::column::{FacetsColumn, facets_array, facets_function, facets_parameter, facets_type};
use super::dimensions::{value_parameter, whole_number};
use crate::{DEFAULT_MOVES, Facets, MoveError};

/// The registration of `canonical_form`.
pub fn canonical_form() -> Function {
    facets_function("canonical_form", facets_type(), canonical_forms).heavy()
        .parameters([facets_parameter()])
        .returns("INT[][]")
        .description(
            "The facets of an isomorphic complex on the vertices 1, ..., n, the same list exactly for isomorphic complexes: \
             duplicates are a GROUP BY. Any complex; microseconds for surfaces and 3-manifolds, more where there is much \
             symmetry, exponential at worst for other complexes made to be hard. NULL for NULL.",
        )
        .example("SELECT canonical_form([[10,30],[30,20]]) = canonical_form([[5,6],[7,6]]) AS isomorphic")
        .source("McKay, Practical graph isomorphism (1981); a flag of a manifold determines its numbering")
}

/// The registration of `bistellar_walk`.
pub fn bistellar_walk() -> Function {
    facets_function("bistellar_walk", facets_type(), bistellar_walks).heavy()
        .parameters([
            facets_parameter(),
            value_parameter("steps", DataType::Int64, "The number of moves, from 0 on."),
            value_parameter("seed", DataType::Int64, Parameter::seed().description).or(OptionValue::Integer(0)),
        ])
        .returns("INT[][]")
        .description(
            "The complex after a random walk of bistellar moves (Pachner moves), which keep its space: each step draws a type \
             of move uniformly from those possible, then a move of it. For complexes whose facets have one dimension, \
             from 1 to 7. A new vertex takes the label of one that has gone, else one more than the largest. NULL for NULL.",
        )
        .example(
            "SELECT betti_numbers(bistellar_walk(facets, 100, seed => 1)) AS betti FROM classic_triangulations() \
             WHERE id = 'torus_7'",
        )
        .source(
            "Pachner, P.L. homeomorphic manifolds are equivalent by elementary shellings (1991); Bjoerner and Lutz, \
             Simplicial manifolds, bistellar flips and a 16-vertex triangulation of the Poincare homology 3-sphere (2000)",
        )
}

/// The registration of `connected_sum`.
pub fn connected_sum() -> Function {
    let complex = |name| Parameter::column(name, "A complex whose facets have one dimension: a list of its facets.");
    facets_function("connected_sum", facets_type(), connected_sums).heavy()
        .parameters([complex("a"), complex("b")])
        .returns("INT[][]")
        .description(
            "The connected sum of two complexes of one dimension: the first facet of each, lexicographically, is taken out, \
             and their vertices are identified in ascending order. Vertices are 1, ..., n, those of a first. Where both are \
             orientable and neither can be turned, the order of the vertices decides which of the two sums it is. NULL for \
             NULL.",
        )
        .example(
            "SELECT homeomorphism_type(connected_sum(facets, facets)) AS sum FROM classic_triangulations() \
             WHERE id = 'torus_7'",
        )
        .source("Lutz, Triangulated manifolds with few vertices: combinatorial manifolds (arXiv math/0506372), Sec. 4")
}

/// The registration of `homeomorphism_type`.
pub fn homeomorphism_type() -> Function {
    facets_function("homeomorphism_type", DataType::Utf8, homeomorphism_types).heavy()
        .parameters([
            facets_parameter(),
            value_parameter(
                "moves",
                DataType::Int64,
                "After how many bistellar moves the search for a known triangulation ends.",
            )
            .or(OptionValue::Integer(DEFAULT_MOVES as i64)),
        ])
        .returns("TEXT")
        .description(
            "What closed connected manifold of dimension 1 to 3 the complex triangulates. Surfaces by classification: S^2, \
             T^2, RP^2, Klein bottle, #^g T^2, #^g RP^2. 3-manifolds only where it is proven: with at most 10 vertices all \
             triangulations are known, and homology tells the three types apart (S^3, S^2 x S^1, S^2 twist S^1); with more, \
             bistellar moves must lead to at most 10 vertices, or to a triangulation of classic_triangulations (RP^3, \
             Poincare sphere). NULL where nothing is proven, for other complexes and for NULL.",
        )
        .example("SELECT id, homeomorphism_type(facets) AS type FROM classic_triangulations() ORDER BY id")
        .source(
            "Lutz, Triangulated manifolds with few vertices: combinatorial 3-manifolds (arXiv math/0506372); Bjoerner and \
             Lutz (2000), Sec. 2; names: Ballester et al., MANTRA (ICLR 2025), App. B.1",
        )
}

/// A row's count; `None` for NULL.
fn count(facets: &FacetsColumn, name: &str, column: &ArrayRef, row: usize) -> Result<Option<u64>> {
    let count = |number: i64| {
        u64::try_from(number).map_err(|_| facets.fault(row, format!("{name} is {number}, expected 0 or more")))
    };
    whole_number(column, row).map(count).transpose()
}

fn canonical_forms(facets: &FacetsColumn, _: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let rows =
        facets.map(monitor, |complex, _, _| crate::canonical_form(complex, monitor).map(Some).map_err(stopped))?;
    facets_array(&rows, facets.name, monitor)
}

fn bistellar_walks(facets: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let rows = facets.map(monitor, |complex, _, row| {
        let Some(steps) = count(facets, "steps", &columns[1], row)? else { return Ok(None) };
        let Some(seed) = whole_number(&columns[2], row) else { return Ok(None) };
        let walked = crate::bistellar_walk(complex, steps, seed as u64, monitor);
        walked.map(Some).map_err(|error| match error {
            MoveError::Stopped(reason) => stopped(reason),
            error => facets.fault(row, error),
        })
    })?;
    facets_array(&rows, facets.name, monitor)
}

fn connected_sums(first: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let second = FacetsColumn::new(first.name, &columns[1])?;
    let rows = first.map(monitor, |a, _, row| {
        let mut b = Facets::default();
        if !second.read(row, &mut b)? {
            return Ok(None);
        }
        crate::connected_sum(a, &b).map(Some).map_err(|error| first.fault(row, error))
    })?;
    facets_array(&rows, first.name, monitor)
}

fn homeomorphism_types(facets: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let rows = facets.map(monitor, |complex, workspace, row| {
        let Some(moves) = count(facets, "moves", &columns[1], row)? else { return Ok(None) };
        crate::homeomorphism_type(complex, moves, workspace, monitor).map_err(|error| facets.kernel_fault(row, error))
    })?;
    Ok(Arc::new(StringArray::from(rows)))
}
