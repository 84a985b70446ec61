//! Complexes from complexes, and their types: `canonical_form`, `bistellar_walk`, `connected_sum`, `homeomorphism_type`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::{DataType, Int64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Body, Column, Function, OptionValue, Parameter, ParameterKind, ScalarFunction, stopped};
use datafusion::common::Result;

use super::column::{FacetsColumn, facets_array, facets_parameter, facets_type};
use crate::{DEFAULT_MOVES, Facets, MoveError};

/// The registration of `canonical_form`.
pub fn canonical_form() -> Function {
    Function::new("canonical_form", Body::Scalar(Arc::new(CanonicalForm))).heavy()
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
    Function::new("bistellar_walk", Body::Scalar(Arc::new(BistellarWalk))).heavy()
        .parameters([
            facets_parameter(),
            whole_number("steps", "The number of moves, from 0 on."),
            whole_number("seed", "Seed of the pseudo-random numbers; the same seed gives the same answer.")
                .or(OptionValue::Integer(0)),
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
    Function::new("connected_sum", Body::Scalar(Arc::new(ConnectedSum))).heavy()
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
    Function::new("homeomorphism_type", Body::Scalar(Arc::new(HomeomorphismType))).heavy()
        .parameters([
            facets_parameter(),
            whole_number("moves", "After how many bistellar moves the search for a known triangulation ends.")
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

fn whole_number(name: &'static str, description: &'static str) -> Parameter {
    Parameter { kind: ParameterKind::Column(Column::Of(DataType::Int64)), ..Parameter::column(name, description) }
}

/// A row's whole number; `None` for NULL.
fn value(column: &ArrayRef, row: usize) -> Option<i64> {
    let column = column.as_primitive::<Int64Type>();
    column.is_valid(row).then(|| column.value(row))
}

/// A row's count; `None` for NULL.
fn count(facets: &FacetsColumn, name: &str, column: &ArrayRef, row: usize) -> Result<Option<u64>> {
    let count = |number: i64| {
        u64::try_from(number).map_err(|_| facets.fault(row, format!("{name} is {number}, expected 0 or more")))
    };
    value(column, row).map(count).transpose()
}

#[derive(Debug)]
struct CanonicalForm;

impl ScalarFunction for CanonicalForm {
    fn data_type(&self) -> DataType {
        facets_type()
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        let name = "canonical_form";
        let facets = FacetsColumn::new(name, &columns[0])?;
        let rows =
            facets.map(monitor, |complex, _, _| crate::canonical_form(complex, monitor).map(Some).map_err(stopped))?;
        facets_array(&rows, name, monitor)
    }
}

#[derive(Debug)]
struct BistellarWalk;

impl ScalarFunction for BistellarWalk {
    fn data_type(&self) -> DataType {
        facets_type()
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        let name = "bistellar_walk";
        let facets = FacetsColumn::new(name, &columns[0])?;
        let rows = facets.map(monitor, |complex, _, row| {
            let Some(steps) = count(&facets, "steps", &columns[1], row)? else { return Ok(None) };
            let Some(seed) = value(&columns[2], row) else { return Ok(None) };
            let walked = crate::bistellar_walk(complex, steps, seed as u64, monitor);
            walked.map(Some).map_err(|error| match error {
                MoveError::Stopped(reason) => stopped(reason),
                error => facets.fault(row, error),
            })
        })?;
        facets_array(&rows, name, monitor)
    }
}

#[derive(Debug)]
struct ConnectedSum;

impl ScalarFunction for ConnectedSum {
    fn data_type(&self) -> DataType {
        facets_type()
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        let name = "connected_sum";
        let (first, second) = (FacetsColumn::new(name, &columns[0])?, FacetsColumn::new(name, &columns[1])?);
        let rows = first.map(monitor, |a, _, row| {
            let mut b = Facets::default();
            if !second.read(row, &mut b)? {
                return Ok(None);
            }
            crate::connected_sum(a, &b).map(Some).map_err(|error| first.fault(row, error))
        })?;
        facets_array(&rows, name, monitor)
    }
}

#[derive(Debug)]
struct HomeomorphismType;

impl ScalarFunction for HomeomorphismType {
    fn data_type(&self) -> DataType {
        DataType::Utf8
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        let facets = FacetsColumn::new("homeomorphism_type", &columns[0])?;
        let rows = facets.map(monitor, |complex, workspace, row| {
            let Some(moves) = count(&facets, "moves", &columns[1], row)? else { return Ok(None) };
            crate::homeomorphism_type(complex, moves, workspace, monitor)
                .map_err(|error| facets.kernel_fault(row, error))
        })?;
        Ok(Arc::new(StringArray::from(rows)))
    }
}
