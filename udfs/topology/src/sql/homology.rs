//! Numbers of a complex: `betti_numbers`, `homology_groups`, `torsion_coefficients`, `euler_characteristic`, `f_vector`, `dimension`.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Int64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, execution_error};
use datafusion::common::{DataFusionError, Result};

use super::column::{FacetsColumn, Lists, facets_function, facets_parameter, list_of, number_lists, text_lists};
use super::dimensions::word_parameter;
use crate::{Coefficients, CoefficientsError, Group};

const HOMOLOGY: &str = "Munkres, Elements of Algebraic Topology (1984), Sec. 11; Ballester et al., MANTRA: The Manifold \
                        Triangulations Assemblage (ICLR 2025), App. A.2";

/// The registration of `betti_numbers`.
pub fn betti_numbers() -> Function {
    facets_function("betti_numbers", list_of(DataType::Int64), betti_lists).heavy()
        .parameters([
            facets_parameter(),
            word_parameter("field", "Z", "'Z' for the integers, 'Q' for the rationals, 'Z/p' for those modulo a prime p below 2^32."),
        ])
        .returns("BIGINT[]")
        .description(
            "The Betti numbers of a simplicial complex, from dimension 0 to its own: the ranks of homology with integer \
             coefficients, which are those over Q, or the dimensions over another field. Lists count from 1, so beta_k is \
             betti_numbers(facets)[k + 1]. Any dimension, pure or not; exact. NULL for NULL.",
        )
        .example("SELECT betti_numbers([[1,2],[2,3],[1,3],[4,5]]) AS two_components_and_a_cycle")
        .source(HOMOLOGY)
}

/// The registration of `homology_groups`.
pub fn homology_groups() -> Function {
    facets_function("homology_groups", list_of(DataType::Utf8), group_lists)
        .heavy()
        .parameters([
            facets_parameter(),
            word_parameter(
                "ring",
                "Z",
                "'Z' for the integers, 'Q' for the rationals, 'Z/n' for those modulo n, from 2 to 2^32 - 1.",
            ),
        ])
        .returns("TEXT[]")
        .description(
            "The homology groups of a simplicial complex with coefficients in a ring, from dimension 0 to its own, as \
             'Z^2 + Z_2' or, over Z/4, 'Z_2 + Z_4^3'; '0' where there is nothing. Orders of summands divide the next. \
             Exact. NULL for NULL.",
        )
        .example(
            "SELECT homology_groups(facets) AS integers, homology_groups(facets, ring => 'Z/2') AS modulo_2 \
             FROM classic_triangulations() WHERE name = 'RP^2'",
        )
        .source("Hatcher, Algebraic Topology (2002), Sec. 3.A: universal coefficients")
}

/// The registration of `torsion_coefficients`.
pub fn torsion_coefficients() -> Function {
    facets_function("torsion_coefficients", list_of(DataType::Utf8), torsion_lists)
        .heavy()
        .parameters([facets_parameter()])
        .returns("TEXT[]")
        .description(
            "The torsion of integer homology, from dimension 0 to the complex's own: '' where there is none, else the \
             invariant factors, as in 'Z_2 + Z_4'. Exact, numbers of any size. With betti_numbers of the same column, \
             homology is computed once. NULL for NULL.",
        )
        .example(
            "SELECT torsion_coefficients(\
             [[1,2,3],[1,3,4],[1,4,5],[1,5,6],[1,2,6],[2,3,5],[3,4,6],[2,4,5],[3,5,6],[2,4,6]]) AS projective_plane",
        )
        .source(HOMOLOGY)
}

/// The registration of `euler_characteristic`.
pub fn euler_characteristic() -> Function {
    facets_function("euler_characteristic", DataType::Int64, euler_characteristics)
        .parameters([facets_parameter()])
        .returns("BIGINT")
        .description("The Euler characteristic: the alternating sum of the f-vector. NULL for NULL.")
        .example("SELECT euler_characteristic([[1,2,3],[1,2,4],[1,3,4],[2,3,4]]) AS sphere")
        .source(HOMOLOGY)
}

/// The registration of `f_vector`.
pub fn f_vector() -> Function {
    facets_function("f_vector", list_of(DataType::Int64), f_vectors)
        .parameters([facets_parameter()])
        .returns("BIGINT[]")
        .description("How many faces the complex has of each dimension, from vertices to its own. NULL for NULL.")
        .example("SELECT f_vector([[1,2,3],[1,2,4],[1,3,4],[2,3,4]]) AS sphere")
        .source("Ziegler, Lectures on Polytopes (1995), Sec. 8.3")
}

/// The registration of `dimension`.
pub fn dimension() -> Function {
    facets_function("dimension", DataType::Int64, dimensions)
        .parameters([facets_parameter()])
        .returns("BIGINT")
        .description("The dimension of the complex: the most vertices of a facet, less one. NULL for NULL.")
        .example("SELECT dimension([[1,2,3],[3,4]])")
        .source(HOMOLOGY)
}

/// The homology of a column's rows, in blocks: Betti numbers, and torsion.
type Blocks = (Vec<Lists<i64>>, Vec<Lists<String>>);

/// Columns and their homology, the oldest first.
type Recent = Vec<(Weak<dyn Array>, Arc<Blocks>)>;

/// The number of columns whose homology is cached.
const KEPT: usize = 8;

/// A query that asks for Betti numbers and for torsion asks one after the other, of the very same array. The last few
/// answers are kept, each for as long as its array lives: the array's address cannot be another's while a weak pointer
/// to it exists.
static RECENT: Mutex<Recent> = Mutex::new(Vec::new());

fn homology(facets: &FacetsColumn, column: &ArrayRef, monitor: &dyn Monitor) -> Result<Arc<Blocks>> {
    let known = |recent: &mut Recent| {
        recent.retain(|(array, _)| array.strong_count() > 0);
        recent.iter().position(|(array, _)| std::ptr::addr_eq(array.as_ptr(), Arc::as_ptr(column)))
    };
    {
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = known(&mut recent) {
            // Asked for a second time: hardly ever for a third.
            return Ok(recent.remove(at).1);
        }
    }
    let blocks =
        facets.for_each(monitor, |(betti, torsion): &mut (Lists<i64>, Lists<String>), complex, work, row| {
            if let Some(complex) = complex {
                let homology = work.homology(complex, monitor).map_err(|error| facets.kernel_fault(row, error))?;
                betti.values.extend(homology.betti_numbers().iter().map(|&rank| rank as i64));
                for dimension in 0..homology.betti_numbers().len() {
                    let mut text = String::new();
                    homology.write_torsion(dimension, &mut text);
                    torsion.values.push(text);
                }
            }
            betti.end_row(complex.is_some());
            torsion.end_row(complex.is_some());
            Ok(())
        })?;
    let blocks: Arc<Blocks> = Arc::new(blocks.into_iter().unzip());
    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    known(&mut recent);
    if recent.len() == KEPT {
        recent.remove(0);
    }
    recent.push((Arc::downgrade(column), Arc::clone(&blocks)));
    Ok(blocks)
}

/// A list a row, of values of the homology groups; NULL for rows whose facets or coefficients are NULL.
fn with_coefficients<T: Send>(
    facets: &FacetsColumn,
    parameter: &str,
    columns: &[ArrayRef],
    monitor: &dyn Monitor,
    check: impl Fn(Coefficients) -> std::result::Result<Coefficients, CoefficientsError> + Sync,
    value: impl Fn(&Group) -> T + Sync,
) -> Result<Vec<Lists<T>>> {
    let texts = columns[1].as_string::<i32>();
    // Most often all rows have the same.
    let read = |text: &str| {
        let coefficients = text.parse().and_then(&check);
        coefficients.map_err(|error| execution_error(format!("{}: {parameter} => {error}", facets.name)))
    };
    let first = texts.iter().flatten().next().map(|text| Ok::<_, DataFusionError>((text, read(text)?))).transpose()?;
    facets.lists(monitor, |groups: &mut Vec<T>, complex, work, row| {
        let text = texts.is_valid(row).then(|| texts.value(row));
        let coefficients = match (text, first) {
            (Some(text), Some((known, coefficients))) if text == known => Some(coefficients),
            (text, _) => text.map(read).transpose()?,
        };
        let both = complex.zip(coefficients);
        if let Some((complex, coefficients)) = both {
            let homology = work.homology(complex, monitor).map_err(|error| facets.kernel_fault(row, error))?;
            groups.extend(homology.groups(coefficients).iter().map(&value));
        }
        Ok(both.is_some())
    })
}

fn group_lists(facets: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let groups = with_coefficients(facets, "ring", columns, monitor, Ok, ToString::to_string)?;
    text_lists(&groups, facets.name)
}

fn betti_lists(facets: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    if columns[1].as_string::<i32>().iter().any(|field| field != Some("Z")) {
        let rank = |group: &Group| group.rank as i64;
        let ranks = with_coefficients(facets, "field", columns, monitor, Coefficients::with_ranks, rank)?;
        return number_lists::<Int64Type>(&ranks, facets.name);
    }
    let homology = homology(facets, &columns[0], monitor)?;
    number_lists::<Int64Type>(&homology.0, facets.name)
}

fn torsion_lists(facets: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let homology = homology(facets, &columns[0], monitor)?;
    text_lists(&homology.1, facets.name)
}

fn f_vectors(facets: &FacetsColumn, _: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let counts = facets.lists(monitor, |counts: &mut Vec<i64>, complex, workspace, row| {
        if let Some(complex) = complex {
            let mut f_vector = Vec::new();
            workspace.f_vector(complex, &mut f_vector, monitor).map_err(|error| facets.kernel_fault(row, error))?;
            counts.extend(f_vector.into_iter().map(|faces| faces as i64));
        }
        Ok(complex.is_some())
    })?;
    number_lists::<Int64Type>(&counts, facets.name)
}

fn euler_characteristics(facets: &FacetsColumn, _: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let values = facets.map(monitor, |complex, workspace, row| {
        let mut f_vector = Vec::new();
        workspace.f_vector(complex, &mut f_vector, monitor).map_err(|error| facets.kernel_fault(row, error))?;
        Ok(Some(crate::euler_characteristic(&f_vector)))
    })?;
    Ok(Arc::new(Int64Array::from(values)))
}

fn dimensions(facets: &FacetsColumn, _: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let values = facets.map(monitor, |complex, _, _| Ok(Some(complex.dimension() as i64)))?;
    Ok(Arc::new(Int64Array::from(values)))
}
