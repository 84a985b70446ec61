//! What is made of a complex: `barycentric_subdivision`, `one_skeleton`, `faces`, `boundary_matrix`,
//! `hodge_laplacian_spectrum`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, StructArray};
use arrow::datatypes::{DataType, Field, Fields, Int64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Body, Column, Function, Parameter, ParameterKind, ScalarFunction, execution_error, stopped};
use datafusion::common::Result;

use super::column::{FacetsColumn, Lists, facets_array, facets_parameter, facets_type, labelled, list_of};
use crate::{SpectrumError, faces_from};

/// The registration of `barycentric_subdivision`.
pub fn barycentric_subdivision() -> Function {
    Function::new("barycentric_subdivision", Body::Scalar(Arc::new(BarycentricSubdivision))).heavy()
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
    Function::new("one_skeleton", Body::Scalar(Arc::new(OneSkeleton)))
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
    Function::new("faces", Body::Scalar(Arc::new(FacesOf)))
        .parameters([facets_parameter(), dimension_parameter()])
        .returns("INT[][]")
        .description(
            "The faces of a dimension, each once, in lexicographic order; an empty list above the complex's dimension. \
             NULL for NULL.",
        )
        .example("SELECT faces([[1,2,3],[3,4]], 1) AS edges")
        .source("Munkres, Elements of Algebraic Topology (1984), Sec. 2")
}

/// The registration of `boundary_matrix`.
pub fn boundary_matrix() -> Function {
    Function::new("boundary_matrix", Body::Scalar(Arc::new(BoundaryMatrix)))
        .parameters([facets_parameter(), dimension_parameter()])
        .returns("STRUCT(row_index BIGINT, column_index BIGINT, value BIGINT)[]")
        .description(
            "The boundary map from dimension dim to dim - 1 as a sparse matrix: the entries other than 0, each 1 or -1. \
             Column j is the boundary of faces(facets, dim)[j], row i belongs to faces(facets, dim - 1)[i]. Empty for \
             dimension 0 and above the complex's own. NULL for NULL.",
        )
        .example(
            "SELECT row_index, column_index, value FROM flatten((SELECT boundary_matrix([[1,2,3]], 2) AS entries), entries)",
        )
        .source("Munkres, Elements of Algebraic Topology (1984), Sec. 5 and 11")
}

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

fn dimension_parameter() -> Parameter {
    Parameter {
        kind: ParameterKind::Column(Column::Of(DataType::Int64)),
        ..Parameter::column("dim", "The dimension, from 0 on: 0 for vertices, 1 for edges.")
    }
}

/// The dimension that a row asks for; `None` for NULL.
fn dimension(name: &str, column: &ArrayRef, row: usize) -> Result<Option<usize>> {
    let column = column.as_primitive::<Int64Type>();
    if column.is_null(row) {
        return Ok(None);
    }
    usize::try_from(column.value(row))
        .map(Some)
        .map_err(|_| execution_error(format!("{name}: dim is {}; dimensions count from 0", column.value(row))))
}

#[derive(Debug)]
struct BarycentricSubdivision;

impl ScalarFunction for BarycentricSubdivision {
    fn data_type(&self) -> DataType {
        facets_type()
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        let name = "barycentric_subdivision";
        let facets = FacetsColumn::new(name, &columns[0])?;
        let rows = facets.map(monitor, |complex, _, row| {
            let finer = crate::barycentric_subdivision(complex, monitor);
            finer.map(Some).map_err(|error| facets.kernel_fault(row, error))
        })?;
        facets_array(&rows, name, monitor)
    }
}

#[derive(Debug)]
struct FacesOf;

impl ScalarFunction for FacesOf {
    fn data_type(&self) -> DataType {
        facets_type()
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        let name = "faces";
        let facets = FacetsColumn::new(name, &columns[0])?;
        let rows = facets.map(monitor, |complex, _, row| {
            let Some(dimension) = dimension(name, &columns[1], row)? else { return Ok(None) };
            if dimension > complex.dimension() {
                return Ok(Some(Default::default()));
            }
            let levels = faces_from(complex, dimension, monitor).map_err(|error| facets.kernel_fault(row, error))?;
            Ok(Some(labelled(complex, levels[0].iter())))
        })?;
        facets_array(&rows, name, monitor)
    }
}

/// A column of lists of structs of whole numbers.
fn structs<const N: usize>(blocks: &[Lists<[i64; N]>], name: &str) -> Result<ArrayRef> {
    let DataType::List(item) = struct_type(field_names(name)) else { unreachable!("a list") };
    let DataType::Struct(fields) = item.data_type().clone() else { unreachable!("a list of structs") };
    let field = |i: usize| blocks.iter().flat_map(move |rows| rows.values.iter().map(move |row| row[i]));
    let columns = (0..N).map(|i| Arc::new(Int64Array::from_iter_values(field(i))) as ArrayRef).collect();
    let items = StructArray::try_new(fields, columns, None)?;
    Lists::array(blocks.iter(), name, || Arc::new(items))
}

fn field_names(name: &str) -> &'static [&'static str] {
    match name {
        "one_skeleton" => &["src", "dst"],
        _ => &["row_index", "column_index", "value"],
    }
}

fn struct_type(names: &[&str]) -> DataType {
    let fields: Fields = names.iter().map(|name| Field::new(*name, DataType::Int64, true)).collect();
    list_of(DataType::Struct(fields))
}

#[derive(Debug)]
struct OneSkeleton;

impl ScalarFunction for OneSkeleton {
    fn data_type(&self) -> DataType {
        struct_type(field_names("one_skeleton"))
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        let name = "one_skeleton";
        let facets = FacetsColumn::new(name, &columns[0])?;
        let blocks = facets.for_each(monitor, |edges: &mut Lists<[i64; 2]>, complex, _, _| {
            if let Some(complex) = complex {
                let labels = complex.labels();
                let pairs = crate::one_skeleton(complex, monitor).map_err(stopped)?;
                edges.values.extend(pairs.into_iter().map(|(u, v)| [labels[u as usize], labels[v as usize]]));
            }
            edges.end_row(complex.is_some());
            Ok(())
        })?;
        structs(&blocks, name)
    }
}

#[derive(Debug)]
struct BoundaryMatrix;

impl ScalarFunction for BoundaryMatrix {
    fn data_type(&self) -> DataType {
        struct_type(field_names("boundary_matrix"))
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        let name = "boundary_matrix";
        let facets = FacetsColumn::new(name, &columns[0])?;
        let blocks = facets.for_each(monitor, |entries: &mut Lists<[i64; 3]>, complex, _, row| {
            let dimension = dimension(name, &columns[1], row)?;
            let matrix = match (complex, dimension) {
                (Some(complex), Some(dimension)) => Some(
                    crate::boundary_matrix(complex, dimension, monitor)
                        .map_err(|error| facets.kernel_fault(row, error))?,
                ),
                _ => None,
            };
            let valid = matrix.is_some();
            let matrix = matrix.into_iter().flatten();
            entries.values.extend(matrix.map(|entry| [entry.row as i64 + 1, entry.column as i64 + 1, entry.value]));
            entries.end_row(valid);
            Ok(())
        })?;
        structs(&blocks, name)
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
                (Some(complex), Some(dimension)) => {
                    let spectrum = crate::hodge_laplacian_spectrum(complex, dimension, monitor);
                    Some(spectrum.map_err(|error| match error {
                        SpectrumError::Faces(error) => facets.kernel_fault(row, error),
                        error => facets.fault(row, error),
                    })?)
                }
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
