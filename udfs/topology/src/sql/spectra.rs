//! Eigenvalues and eigenvectors of Hodge Laplacians: `hodge_laplacian_spectrum`, `hodge_eigenvectors`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, ListArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Body, Function, ScalarFunction, execution_error};
use datafusion::common::{DataFusionError, Result};

use super::column::{FacetsColumn, Lists, facets_parameter, list_of};
use super::dimensions::{dimension, dimension_parameter, value_parameter};
use crate::{ChainComplex, SpectrumError};

/// The registration of `hodge_laplacian_spectrum`.
pub fn hodge_laplacian_spectrum() -> Function {
    Function::new("hodge_laplacian_spectrum", Body::Scalar(Arc::new(HodgeLaplacianSpectrum))).heavy()
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
    Function::new("hodge_eigenvectors", Body::Scalar(Arc::new(HodgeEigenvectors))).heavy()
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

#[derive(Debug)]
struct HodgeLaplacianSpectrum;

impl ScalarFunction for HodgeLaplacianSpectrum {
    fn data_type(&self) -> DataType {
        list_of(DataType::Float64)
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        let name = "hodge_laplacian_spectrum";
        let facets = FacetsColumn::new(name, &columns[0])?;
        let blocks = facets.for_each(monitor, |spectra: &mut Lists<f64>, complex, _, row| {
            let dimension = dimension(name, &columns[1], row)?;
            let spectrum = match (complex, dimension) {
                (Some(complex), Some(dimension)) => Some(
                    crate::hodge_laplacian_spectrum(complex, dimension, monitor)
                        .map_err(|error| fault(&facets, row, error))?,
                ),
                _ => None,
            };
            let valid = spectrum.is_some();
            spectra.values.extend(spectrum.into_iter().flatten());
            spectra.end_row(valid);
            Ok(())
        })?;
        let values = || blocks.iter().flat_map(|spectra| spectra.values.iter().copied());
        Lists::array(blocks.iter(), name, || Arc::new(Float64Array::from_iter_values(values())))
    }
}

#[derive(Debug)]
struct HodgeEigenvectors;

impl ScalarFunction for HodgeEigenvectors {
    fn data_type(&self) -> DataType {
        list_of(list_of(DataType::Float64))
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        let name = "hodge_eigenvectors";
        let facets = FacetsColumn::new(name, &columns[0])?;
        let counts = columns[2].as_primitive::<Int64Type>();
        let blocks = facets.for_each(monitor, |vectors: &mut Lists<Vec<f64>>, complex, _, row| {
            let dimension = dimension(name, &columns[1], row)?;
            let count = counts.is_valid(row).then(|| counts.value(row));
            if let Some(count) = count.filter(|count| *count < 1) {
                return Err(execution_error(format!("{name}: count is {count}, expected at least 1")));
            }
            let (Some(complex), Some(dimension), Some(count)) = (complex, dimension, count) else {
                vectors.end_row(false);
                return Ok(());
            };
            let complex = ChainComplex::new(complex, monitor).map_err(|error| facets.kernel_fault(row, error))?;
            let count = complex.n_faces(dimension).min(count as usize);
            let found = crate::hodge_eigenvectors(&complex, dimension, count, monitor)
                .map_err(|error| fault(&facets, row, error))?;
            let vector = |i: usize| found.vectors.iter().skip(i).step_by(count).copied().collect();
            vectors.values.extend((0..count).map(vector));
            vectors.end_row(true);
            Ok(())
        })?;
        let values = || blocks.iter().flat_map(|vectors| &vectors.values);
        Lists::array(blocks.iter(), name, || {
            let vectors = values().map(|vector| Some(vector.iter().copied().map(Some)));
            Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(vectors))
        })
    }
}
