//! Integer homology: Betti numbers and torsion, exact.
//!
//! Boundary matrices are reduced by pivots of +1 and -1, which leave nearly nothing; what is left goes through its Smith
//! normal form. Up to 64 vertices and 128 faces a dimension, a column is a pair of 128-bit masks ([`small`]); above,
//! it is a sparse list ([`sparse`]). Both work from the top dimension down and drop the columns that the dimension above
//! has made redundant.

mod coefficients;
pub(crate) mod small;
mod smith;
mod sparse;

use bonnet_graph::{Monitor, Stopped};
use num_bigint::BigUint;

use crate::{FacesError, Facets};

pub use coefficients::{Coefficients, CoefficientsError, Group};

/// The homology groups of a complex with integer coefficients, by dimension: `Z^betti + Z_t1 + Z_t2 + ...`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Homology {
    betti: Vec<u64>,
    torsion: Vec<Vec<BigUint>>,
}

impl Homology {
    /// The Betti numbers: the ranks of the groups, from dimension 0 to the complex's own.
    pub fn betti_numbers(&self) -> &[u64] {
        &self.betti
    }

    /// The torsion coefficients of each dimension: the invariant factors above 1, each a divisor of the next.
    pub fn torsion_coefficients(&self) -> &[Vec<BigUint>] {
        &self.torsion
    }

    /// Appends the torsion of a dimension as text: `Z_2 + Z_4`; nothing where there is none.
    pub fn write_torsion(&self, dimension: usize, text: &mut String) {
        use std::fmt::Write;
        for (i, factor) in self.torsion[dimension].iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}Z_{factor}", if i == 0 { "" } else { " + " });
        }
    }

    fn clear(&mut self, dimension: usize) {
        self.betti.clear();
        self.betti.resize(dimension + 1, 0);
        self.torsion.truncate(dimension + 1);
        self.torsion.iter_mut().for_each(Vec::clear);
        self.torsion.resize_with(dimension + 1, Vec::new);
    }
}

/// Memory for complex after complex: some 80 KiB for those of at most 64 vertices and 128 faces a dimension, which then
/// allocate nothing.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(crate) small: small::Small,
    answer: Homology,
}

impl Workspace {
    /// The integer homology of a complex of any dimension, pure or not.
    ///
    /// About a microsecond for a manifold of ten vertices. Above the small size, the time is that of eliminating sparse
    /// columns, near linear in the number of faces for most complexes and cubic at worst, and the memory 16 bytes a face
    /// and vertex of it, and 12 bytes an entry of a reduced column. Numbers that outgrow a machine word are big integers:
    /// the answer is exact.
    ///
    /// # Errors
    /// [`FacesError::TooMany`] where the faces cannot be listed; [`FacesError::Stopped`] when the host wants no answer
    /// or grants no memory for it.
    ///
    /// # Source
    /// Munkres, Elements of Algebraic Topology (1984), Sec. 11; clearing: Chen and Kerber, Persistent homology
    /// computation with a twist (EuroCG 2011).
    pub fn homology(&mut self, facets: &Facets, monitor: &dyn Monitor) -> Result<&Homology, FacesError> {
        if !self.small.homology(facets, &mut self.answer) {
            sparse::homology(facets, &mut self.answer, monitor)?;
        }
        Ok(&self.answer)
    }
}

/// The integer homology of one complex; see [`Workspace::homology`].
///
/// # Errors
/// Those of [`Workspace::homology`].
pub fn homology(facets: &Facets, monitor: &dyn Monitor) -> Result<Homology, FacesError> {
    let mut workspace = Workspace::default();
    workspace.homology(facets, monitor)?;
    Ok(workspace.answer)
}

impl From<Stopped> for SmithError {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

/// Why a remainder has no answer yet.
#[derive(Debug)]
enum SmithError {
    Stopped(Stopped),
    /// The integers were too narrow.
    Overflow,
}

#[cfg(test)]
mod tests;
