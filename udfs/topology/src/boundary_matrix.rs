//! Boundary matrices.

use bonnet_graph::{Monitor, Reservation};

use crate::Facets;
use crate::faces::{Faces, FacesError, faces_from};

/// An entry of a boundary matrix that is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundaryEntry {
    /// The position of the face among those of one dimension less, from 0.
    pub row: usize,
    /// The position of the simplex whose boundary the column is, from 0.
    pub column: usize,
    /// 1 or -1: the sign of leaving out the vertex at an even or odd position.
    pub value: i64,
}

/// The matrix of the boundary map from dimension `dimension` to the one below, by its entries other than 0, column by
/// column and from the first vertex left out to the last. Rows and columns are the faces in lexicographic order. Empty
/// for dimension 0 and above the complex's own. Work as [`faces_from`], and O(w log f) an entry; 24 bytes an entry.
///
/// # Errors
/// Those of [`faces_from`].
///
/// # Source
/// Munkres, Elements of Algebraic Topology (1984), Sec. 5 and 11.
pub fn boundary_matrix(
    facets: &Facets,
    dimension: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<BoundaryEntry>, FacesError> {
    if dimension == 0 || dimension > facets.dimension() {
        return Ok(Vec::new());
    }
    let levels = faces_from(facets, dimension - 1, monitor)?;
    let _reservation = Reservation::new(monitor, levels[1].len() * (dimension + 1) * size_of::<BoundaryEntry>())?;
    entries(&levels[1], &levels[0], monitor)
}

/// The entries of the boundary map between two neighbouring dimensions.
pub(crate) fn entries(faces: &Faces, below: &Faces, monitor: &dyn Monitor) -> Result<Vec<BoundaryEntry>, FacesError> {
    let mut entries = Vec::with_capacity(faces.len() * (faces.dimension() + 1));
    for column in 0..faces.len() {
        if column % 4096 == 0 {
            monitor.check()?;
        }
        entries.extend(faces.boundary(below, column).map(|(row, value)| BoundaryEntry { row, column, value }));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn a_triangle_and_its_edges() {
        let facets = Facets::new(&[[1, 2, 3]]).unwrap();
        let of = |dimension| {
            let entries = boundary_matrix(&facets, dimension, &Unmonitored).unwrap();
            entries.iter().map(|entry| (entry.row, entry.column, entry.value)).collect::<Vec<_>>()
        };
        // Edges 12, 13, 23: the boundary is 23 - 13 + 12.
        assert_eq!(of(2), [(2, 0, 1), (1, 0, -1), (0, 0, 1)]);
        assert_eq!(of(1), [(1, 0, 1), (0, 0, -1), (2, 1, 1), (0, 1, -1), (2, 2, 1), (1, 2, -1)]);
        assert_eq!((of(0), of(3)), (vec![], vec![]));
    }
}
