//! Eigenvalues and eigenvectors of Hodge Laplacians: `hodge_laplacian_spectrum`, `hodge_eigenvectors`.

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, execution_error};
use datafusion::common::{DataFusionError, Result};

use super::column::{FacetsColumn, facets_function, facets_parameter, list_of, nested_lists, number_lists};
use super::dimensions::{dimension, dimension_parameter, value_parameter, whole_number};
use crate::{ChainComplex, SpectrumError};

/// The registration of `hodge_laplacian_spectrum`.
pub fn hodge_laplacian_spectrum() -> Function {
    facets_function("hodge_laplacian_spectrum", list_of(DataType::Float64), spectra).heavy()
        .parameters([facets_parameter(), dimension_parameter()])
        .returns("DOUBLE[]")
        .description(
            "The eigenvalues, ascending, of the Hodge Laplacian on the faces of a dimension: for vertices that of the \
             graph, D - A. As many are 0, up to rounding, as the Betti number. Dense: memory grows with the square, time \
             with the cube of the number of faces. Empty above the complex's dimension. NULL for NULL.",
        )
        .example("SELECT hodge_laplacian_spectrum([[1,2,3],[3,4]], 1)")
        .source("Eckmann, Harmonische Funktionen und Randwertaufgaben in einem Komplex (1945); Lim, Hodge Laplacians on \
                 Graphs (SIAM Review 2020), Sec. 4")
}

/// The registration of `hodge_eigenvectors`.
pub fn hodge_eigenvectors() -> Function {
    facets_function("hodge_eigenvectors", list_of(list_of(DataType::Float64)), eigenvectors).heavy()
        .parameters([
            facets_parameter(),
            dimension_parameter(),
            value_parameter("count", DataType::Int64, "How many, from the smallest eigenvalue on: at least 1."),
        ])
        .returns("DOUBLE[][]")
        .description(
            "The eigenvectors of the Hodge Laplacian on the faces of a dimension, one list each, in the order of \
             hodge_laplacian_spectrum: entry i belongs to faces(facets, dim)[i]. Orthonormal, and determined by the \
             complex and its labels: the first entry of each that is not 0 is positive, and vectors of one eigenvalue are \
             the projections of the faces on its space in their order, made orthonormal. The first ones, of the \
             eigenvalue 0, are harmonic. Fewer where there are fewer faces. Dense: memory grows with the square, time \
             with the cube of the number of faces. NULL for NULL.",
        )
        .example("SELECT hodge_eigenvectors([[1,2],[2,3],[3,4],[1,4]], 1, 1) AS round_the_cycle")
        .source("Lim, Hodge Laplacians on Graphs (SIAM Review 2020), Sec. 4; Ballester et al., Attending to Topological \
                 Spaces: The Cellular Transformer (2024)")
}

fn fault(facets: &FacetsColumn, row: usize, error: SpectrumError) -> DataFusionError {
    match error {
        SpectrumError::Faces(error) => facets.kernel_fault(row, error),
        error => facets.fault(row, error),
    }
}

fn spectra(facets: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let blocks = facets.lists(monitor, |spectra: &mut Vec<f64>, complex, _, row| {
        let dimension = dimension(facets.name, &columns[1], row)?;
        let (Some(complex), Some(dimension)) = (complex, dimension) else { return Ok(false) };
        let spectrum = crate::hodge_laplacian_spectrum(complex, dimension, monitor);
        spectra.extend(spectrum.map_err(|error| fault(facets, row, error))?);
        Ok(true)
    })?;
    number_lists::<Float64Type>(&blocks, facets.name)
}

fn eigenvectors(facets: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let blocks = facets.lists(monitor, |vectors: &mut Vec<Vec<f64>>, complex, _, row| {
        let dimension = dimension(facets.name, &columns[1], row)?;
        let count = whole_number(&columns[2], row);
        if let Some(count) = count.filter(|count| *count < 1) {
            return Err(execution_error(format!("{}: count is {count}, expected at least 1", facets.name)));
        }
        let (Some(complex), Some(dimension), Some(count)) = (complex, dimension, count) else { return Ok(false) };
        let complex = ChainComplex::new(complex, monitor).map_err(|error| facets.kernel_fault(row, error))?;
        let count = complex.n_faces(dimension).min(count as usize);
        let found = crate::hodge_eigenvectors(&complex, dimension, count, monitor)
            .map_err(|error| fault(facets, row, error))?;
        let vector = |i: usize| found.vectors.iter().skip(i).step_by(count).copied().collect();
        vectors.extend((0..count).map(vector));
        Ok(true)
    })?;
    nested_lists::<Float64Type>(&blocks, facets.name)
}
