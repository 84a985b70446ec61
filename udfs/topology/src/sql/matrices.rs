//! Sparse matrices on the faces of a dimension: `boundary_matrix`, `coboundary_matrix`, `hodge_laplacian`,
//! `adjacency_of_simplices`, `incident_simplices`.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use bonnet_graph::{Monitor, Stopped};
use bonnet_sql::{Function, OptionValue, Parameter, stopped};
use datafusion::common::Result;

use super::column::{FacetsColumn, facets_function, facets_parameter, list_of, nested_lists};
use super::dimensions::{dimension, dimension_parameter, value_parameter, word, word_parameter};
use super::structs::{struct_type, structs};
use crate::{BoundaryEntry, ChainComplex, Signs, SparseMatrix};

const MATRIX: [&str; 3] = ["row_index", "column_index", "value"];
const ADJACENCY: [&str; 3] = ["row_index", "column_index", "shared"];
const VIA: [&str; 2] = ["upper", "lower"];
const PARTS: [&str; 3] = ["both", "down", "up"];

/// The registration of `boundary_matrix`.
pub fn boundary_matrix() -> Function {
    facets_function("boundary_matrix", struct_type(MATRIX), boundary_matrices)
        .parameters([facets_parameter(), dimension_parameter(), signed_parameter()])
        .returns("STRUCT(row_index BIGINT, column_index BIGINT, value BIGINT)[]")
        .description(
            "The boundary map from dimension dim to dim - 1 as a sparse matrix: the entries other than 0, each 1 or -1. \
             Column j is the boundary of faces(facets, dim)[j], row i belongs to faces(facets, dim - 1)[i]. Without signs \
             each is 1, and says which face belongs to which. Empty for dimension 0 and above the complex's own. NULL for \
             NULL.",
        )
        .example(
            "SELECT row_index, column_index, value FROM flatten((SELECT boundary_matrix([[1,2,3]], 2) AS entries), entries)",
        )
        .source("Munkres, Elements of Algebraic Topology (1984), Sec. 5 and 11")
}

/// The registration of `coboundary_matrix`.
pub fn coboundary_matrix() -> Function {
    of_complex(Matrix::Coboundary)
        .parameters([facets_parameter(), dimension_parameter(), signed_parameter()])
        .returns("STRUCT(row_index BIGINT, column_index BIGINT, value BIGINT)[]")
        .description(
            "The coboundary map from dimension dim to dim + 1 as a sparse matrix: the transpose of boundary_matrix of \
             dim + 1, row by row. Column j belongs to faces(facets, dim)[j], row i to faces(facets, dim + 1)[i]. Empty \
             from the complex's dimension on. NULL for NULL.",
        )
        .example(
            "SELECT row_index, column_index, value \
             FROM flatten((SELECT coboundary_matrix([[1,2,3]], 1) AS entries), entries)",
        )
        .source("Munkres, Elements of Algebraic Topology (1984), Sec. 42")
}

/// The registration of `hodge_laplacian`.
pub fn hodge_laplacian() -> Function {
    of_complex(Matrix::HodgeLaplacian)
        .parameters([
            facets_parameter(),
            dimension_parameter(),
            word_parameter("part", "both", "'down' for B_k^T B_k, 'up' for B_k+1 B_k+1^T, 'both' for their sum."),
            signed_parameter(),
        ])
        .returns("STRUCT(row_index BIGINT, column_index BIGINT, value BIGINT)[]")
        .description(
            "The Hodge Laplacian on the faces of a dimension, or one of its two parts, as a sparse matrix: the entries \
             other than 0, row by row. Row and column i belong to faces(facets, dim)[i]. For vertices it is that of the \
             graph, D - A. Without signs it does not depend on the order of the vertices. Empty above the complex's \
             dimension. NULL for NULL.",
        )
        .example(
            "SELECT row_index, column_index, value FROM flatten((SELECT hodge_laplacian([[1,2,3],[3,4]], 1) AS entries), \
             entries)",
        )
        .source("Lim, Hodge Laplacians on Graphs (SIAM Review 2020), Sec. 4")
}

/// The registration of `adjacency_of_simplices`.
pub fn adjacency_of_simplices() -> Function {
    of_complex(Matrix::Adjacency)
        .parameters([facets_parameter(), dimension_parameter(), via_parameter()])
        .returns("STRUCT(row_index BIGINT, column_index BIGINT, shared BIGINT)[]")
        .description(
            "Which faces of a dimension are neighbours, row by row and both ways: 'upper' for two faces of one face \
             faces(facets, dim + 1)[shared], 'lower' for two that share the face faces(facets, dim - 1)[shared]. Row and \
             column i belong to faces(facets, dim)[i]. For vertices 'upper' is the graph, and 'lower' is empty. Empty \
             above the complex's dimension. NULL for NULL.",
        )
        .example(
            "SELECT row_index, column_index, shared \
             FROM flatten((SELECT adjacency_of_simplices([[1,2,3],[2,3,4]], 2, via => 'lower') AS pairs), pairs)",
        )
        .source("Ballester et al., MANTRA: The Manifold Triangulations Assemblage (ICLR 2025), App. A.4; Papillon et al., \
                 Architectures of Topological Deep Learning (2023), Sec. 2")
}

/// The registration of `incident_simplices`.
pub fn incident_simplices() -> Function {
    facets_function("incident_simplices", list_of(list_of(DataType::Int64)), incidences)
        .parameters([facets_parameter(), dimension_parameter(), via_parameter()])
        .returns("BIGINT[][]")
        .description(
            "For each face of a dimension, in the order of faces(facets, dim), which faces of one dimension more it is a \
             face of ('upper'), or which are its own faces of one dimension less ('lower'): their positions, ascending, in \
             faces(facets, dim + 1) or faces(facets, dim - 1). Empty above the complex's dimension. NULL for NULL.",
        )
        .example("SELECT incident_simplices([[1,2,3],[3,4]], 0) AS edges_of_vertices")
        .source("Papillon et al., Architectures of Topological Deep Learning (2023), Sec. 2")
}

fn via_parameter() -> Parameter {
    word_parameter("via", "upper", "'upper' for what is one dimension above, 'lower' for what is one below.")
}

fn signed_parameter() -> Parameter {
    value_parameter("signed", DataType::Boolean, "Whether boundaries have signs; false takes absolute values.")
        .or(OptionValue::Boolean(true))
}

/// What a row says of signs; `None` for NULL.
fn signs(column: &ArrayRef, row: usize) -> Option<Signs> {
    let signed = column.as_boolean();
    let signs = if signed.value(row) { Signs::Signed } else { Signs::Unsigned };
    signed.is_valid(row).then_some(signs)
}

/// An entry of a boundary matrix, or its absolute value.
fn of_signs(value: i64, signs: Signs) -> i64 {
    if signs == Signs::Signed { value } else { value.abs() }
}

fn boundary_matrices(facets: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let blocks = facets.lists(monitor, |entries: &mut Vec<[i64; 3]>, complex, _, row| {
        let dimension = dimension(facets.name, &columns[1], row)?;
        let (Some(complex), Some(dimension), Some(signs)) = (complex, dimension, signs(&columns[2], row)) else {
            return Ok(false);
        };
        let matrix = crate::boundary_matrix(complex, dimension, monitor);
        let matrix = matrix.map_err(|error| facets.kernel_fault(row, error))?;
        let entry =
            |entry: &BoundaryEntry| [entry.row as i64 + 1, entry.column as i64 + 1, of_signs(entry.value, signs)];
        entries.extend(matrix.iter().map(entry));
        Ok(true)
    })?;
    structs(&blocks, MATRIX, facets.name)
}

/// A matrix of a complex and a dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Matrix {
    Coboundary,
    HodgeLaplacian,
    Adjacency,
}

impl Matrix {
    fn name(self) -> &'static str {
        match self {
            Self::Coboundary => "coboundary_matrix",
            Self::HodgeLaplacian => "hodge_laplacian",
            Self::Adjacency => "adjacency_of_simplices",
        }
    }

    fn fields(self) -> [&'static str; 3] {
        if self == Self::Adjacency { ADJACENCY } else { MATRIX }
    }

    /// The operator that a row's options choose; `None` where one is NULL.
    fn choice(self, columns: &[ArrayRef], row: usize) -> Result<Option<(usize, Signs)>> {
        Ok(match self {
            Self::Coboundary => signs(&columns[2], row).map(|signs| (0, signs)),
            Self::Adjacency => word(self.name(), "via", &VIA, &columns[2], row)?.map(|via| (via, Signs::Signed)),
            Self::HodgeLaplacian => {
                let part = word(self.name(), "part", &PARTS, &columns[2], row)?;
                part.zip(signs(&columns[3], row))
            }
        })
    }

    /// Adds the entries, counted from 1.
    fn write(
        self,
        complex: &ChainComplex,
        dimension: usize,
        (choice, signs): (usize, Signs),
        monitor: &dyn Monitor,
        into: &mut Vec<[i64; 3]>,
    ) -> std::result::Result<(), Stopped> {
        match (self, choice) {
            (Self::Coboundary, _) => {
                add(&complex.coboundary(dimension), |value| of_signs(value.into(), signs), into);
            }
            (Self::Adjacency, 0) => add(&complex.upper_adjacency(dimension, monitor)?, shared, into),
            (Self::Adjacency, _) => add(&complex.lower_adjacency(dimension, monitor)?, shared, into),
            (Self::HodgeLaplacian, 0) => add(&complex.hodge_laplacian(dimension, signs, monitor)?, whole, into),
            (Self::HodgeLaplacian, 1) => add(&complex.laplacian_down(dimension, signs, monitor)?, whole, into),
            (Self::HodgeLaplacian, _) => add(&complex.laplacian_up(dimension, signs, monitor)?, whole, into),
        }
        Ok(())
    }
}

/// The number of a face, from 1.
fn shared(face: u32) -> i64 {
    i64::from(face) + 1
}

/// The entries of Laplacians are whole numbers.
fn whole(value: f32) -> i64 {
    value as i64
}

fn add<T: Copy>(matrix: &SparseMatrix<T>, value: impl Fn(T) -> i64, into: &mut Vec<[i64; 3]>) {
    into.extend(matrix.entries().map(|(row, column, entry)| [row as i64 + 1, i64::from(column) + 1, value(entry)]));
}

/// The function of a matrix; its other methods follow.
fn of_complex(matrix: Matrix) -> Function {
    let fields = matrix.fields();
    facets_function(matrix.name(), struct_type(fields), move |facets, columns, monitor| {
        let blocks = facets.lists(monitor, |entries: &mut Vec<[i64; 3]>, complex, _, row| {
            let dimension = dimension(facets.name, &columns[1], row)?;
            let choice = matrix.choice(columns, row)?;
            let (Some(complex), Some(dimension), Some(choice)) = (complex, dimension, choice) else {
                return Ok(false);
            };
            let complex = ChainComplex::new(complex, monitor).map_err(|error| facets.kernel_fault(row, error))?;
            matrix.write(&complex, dimension, choice, monitor, entries).map_err(stopped)?;
            Ok(true)
        })?;
        structs(&blocks, fields, facets.name)
    })
}

fn incidences(facets: &FacetsColumn, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let blocks = facets.lists(monitor, |lists: &mut Vec<Vec<i64>>, complex, _, row| {
        let dimension = dimension(facets.name, &columns[1], row)?;
        let via = word(facets.name, "via", &VIA, &columns[2], row)?;
        let (Some(complex), Some(dimension), Some(via)) = (complex, dimension, via) else { return Ok(false) };
        let complex = ChainComplex::new(complex, monitor).map_err(|error| facets.kernel_fault(row, error))?;
        let incidences = match (via, dimension) {
            (0, _) => complex.boundary(dimension + 1),
            (_, 0) => complex.boundary(0).transpose(),
            (_, _) => complex.coboundary(dimension - 1),
        };
        // Above the complex's dimension there is no row, whatever stands below.
        let faces = 0..complex.n_faces(dimension);
        lists.extend(faces.map(|face| incidences.row(face).map(|(other, _)| shared(other)).collect()));
        Ok(true)
    })?;
    nested_lists::<Int64Type>(&blocks, facets.name)
}
