//! Whether a complex is a closed manifold.

use std::fmt;

use bonnet_graph::{Monitor, Stopped};

use crate::Facets;
use crate::ridges::{ParitySets, Stars};

/// The result of a check of a complex's links. Faces are given by their labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManifoldCheck {
    /// Dimension 0 to 3: every link is a sphere, so that the complex is a closed combinatorial manifold.
    ClosedManifold {
        /// The complex's dimension.
        dimension: usize,
    },
    /// Dimension 4 and above: two facets meet at each ridge, every link of dimension 1 and 2 is a sphere, and each
    /// component is strongly connected. Links of dimension 3 and above are not decided.
    ClosedPseudomanifold {
        /// The complex's dimension.
        dimension: usize,
    },
    /// Facets have different dimensions.
    NotPure {
        /// A facet of less than the complex's dimension.
        facet: Vec<i64>,
    },
    /// A ridge is in one facet (the complex has a boundary) or in three and more.
    Ridge {
        /// The ridge.
        face: Vec<i64>,
        /// The number of facets that hold it.
        facets: usize,
    },
    /// The link of a face is no sphere.
    Link {
        /// The face.
        face: Vec<i64>,
        /// The dimension of its link.
        dimension: usize,
        /// The number of components of the link.
        components: usize,
        /// The Euler characteristic of the link.
        euler_characteristic: i64,
    },
    /// A component falls apart where the faces of codimension 2 are taken away.
    NotStronglyConnected,
}

impl ManifoldCheck {
    /// Whether the complex passed.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::ClosedManifold { .. } | Self::ClosedPseudomanifold { .. })
    }
}

/// The check, and the faces where a complex fails it.
impl fmt::Display for ManifoldCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClosedManifold { dimension: 0 } => f.write_str("closed 0-manifold: points"),
            Self::ClosedManifold { dimension } => {
                write!(f, "closed {dimension}-manifold: all vertex links are {}-spheres", dimension - 1)
            }
            Self::ClosedPseudomanifold { dimension } => write!(
                f,
                "closed {dimension}-pseudomanifold: two facets at each ridge, links of dimension 1 and 2 are spheres, \
                 components strongly connected; links of dimension 3 and above not decided"
            ),
            Self::NotPure { facet } => write!(f, "not pure: the facet {facet:?} has less than the complex's dimension"),
            Self::Ridge { face, facets: 1 } => write!(f, "boundary: the face {face:?} is in one facet"),
            Self::Ridge { face, facets } => write!(f, "branching: the face {face:?} is in {facets} facets"),
            Self::Link { face, dimension, components: 1, euler_characteristic } => write!(
                f,
                "singular: the link of {face:?} has Euler characteristic {euler_characteristic}, no {dimension}-sphere"
            ),
            Self::Link { face, dimension, components, .. } => {
                write!(f, "singular: the link of {face:?} has {components} components, no {dimension}-sphere")
            }
            Self::NotStronglyConnected => {
                f.write_str("singular: components are held together by faces of codimension 2 or more")
            }
        }
    }
}

/// Looks whether a complex is a closed manifold, connected or not.
///
/// In dimension 1 to 3 that is decided: links of vertices must be spheres, that is two points, a cycle, or a connected
/// closed surface of Euler characteristic 2. Above, recognising spheres is hard (undecidable from dimension 5 on), and
/// the complex passes as a closed pseudomanifold whose links of dimension 1 and 2 are spheres; the answer says which.
/// The first failure in the order of dimension, then of faces, is reported. O(d^3 k log k) time and O(d^4 k) memory for
/// k facets of dimension d.
///
/// # Errors
/// When the host wants no answer or grants no memory for it.
///
/// # Source
/// Rourke and Sanderson, Introduction to Piecewise-Linear Topology (1972), Ch. 2.
pub fn manifold_check(facets: &Facets, monitor: &dyn Monitor) -> Result<ManifoldCheck, Stopped> {
    let facets = &facets.maximal();
    let dimension = facets.dimension();
    let labels = |face: &[u32]| face.iter().map(|&v| facets.labels()[v as usize]).collect::<Vec<_>>();
    if let Some(facet) = facets.iter().find(|facet| facet.len() <= dimension) {
        return Ok(ManifoldCheck::NotPure { facet: labels(facet) });
    }
    if dimension == 0 {
        return Ok(ManifoldCheck::ClosedManifold { dimension });
    }
    let ridges = Stars::of(facets, 1, monitor)?;
    let mut strong = ParitySets::new(facets.len());
    for (ridge, records) in ridges.iter() {
        let [a, b] = records else {
            return Ok(ManifoldCheck::Ridge { face: labels(ridge), facets: records.len() });
        };
        strong.join(ridges.facet(*a).0 as u32, ridges.facet(*b).0 as u32, false);
    }
    // In the link of a face of codimension 2 every vertex has two neighbours: cycles, of which there must be one. With
    // that, links of codimension 3 are closed surfaces.
    let mut link = Link::new(facets.n_vertices());
    for codimension in 2..=dimension.min(3) {
        let stars = Stars::of(facets, codimension, monitor)?;
        for (face, records) in stars.iter() {
            let simplices = records.iter().map(|&record| {
                let (facet, omitted) = stars.facet(record);
                omitted.iter().map(move |&i| facets.get(facet)[usize::from(i)])
            });
            let (components, vertices) = link.measure(simplices);
            // Each vertex of a cycle has an edge, each edge of a closed surface is half of two triangles' three.
            let euler_characteristic = match codimension {
                2 => 0,
                _ => vertices as i64 - records.len() as i64 / 2,
            };
            if components != 1 || (codimension == 3 && euler_characteristic != 2) {
                let dimension = codimension - 1;
                return Ok(ManifoldCheck::Link { face: labels(face), dimension, components, euler_characteristic });
            }
        }
    }
    if dimension <= 3 {
        return Ok(ManifoldCheck::ClosedManifold { dimension });
    }
    let (components, _) = link.measure(facets.iter().map(|facet| facet.iter().copied()));
    match strong.len() == components {
        true => Ok(ManifoldCheck::ClosedPseudomanifold { dimension }),
        false => Ok(ManifoldCheck::NotStronglyConnected),
    }
}

/// Counts components of small complexes over the vertices of a large one.
pub(crate) struct Link {
    parents: Vec<u32>,
    met: Vec<u32>,
}

impl Link {
    pub(crate) fn new(n_vertices: usize) -> Self {
        Self { parents: vec![u32::MAX; n_vertices], met: Vec::new() }
    }

    /// The numbers of components and of vertices of a complex.
    pub(crate) fn measure<S: Iterator<Item = u32>>(&mut self, simplices: impl Iterator<Item = S>) -> (usize, usize) {
        let mut components = 0;
        for mut simplex in simplices {
            let Some(first) = simplex.next() else { continue };
            components += usize::from(self.meet(first));
            for v in simplex {
                components += usize::from(self.meet(v));
                let (a, b) = (self.root(first), self.root(v));
                if a != b {
                    self.parents[a as usize] = b;
                    components -= 1;
                }
            }
        }
        let vertices = self.met.len();
        self.met.drain(..).for_each(|v| self.parents[v as usize] = u32::MAX);
        (components, vertices)
    }

    fn meet(&mut self, v: u32) -> bool {
        let new = self.parents[v as usize] == u32::MAX;
        if new {
            self.parents[v as usize] = v;
            self.met.push(v);
        }
        new
    }

    fn root(&mut self, mut v: u32) -> u32 {
        while self.parents[v as usize] != v {
            let above = self.parents[self.parents[v as usize] as usize];
            self.parents[v as usize] = above;
            v = above;
        }
        v
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn of(simplices: &[Vec<i64>]) -> ManifoldCheck {
        manifold_check(&Facets::new(simplices).unwrap(), &Unmonitored).unwrap()
    }

    fn sphere(dimension: usize) -> Vec<Vec<i64>> {
        let n = dimension as i64 + 2;
        (0..n).map(|omitted| (0..n).filter(|&v| v != omitted).collect()).collect()
    }

    /// Both cones over a complex.
    fn suspension(base: &[Vec<i64>], apex: i64) -> Vec<Vec<i64>> {
        let cone = |apex: i64| base.iter().map(move |facet| [facet.as_slice(), &[apex]].concat());
        cone(apex).chain(cone(apex + 1)).collect()
    }

    fn torus() -> Vec<Vec<i64>> {
        (0..7).flat_map(|i| [vec![i, (i + 1) % 7, (i + 3) % 7], vec![i, (i + 2) % 7, (i + 3) % 7]]).collect()
    }

    #[test]
    fn spheres_pass_and_balls_have_a_boundary() {
        for dimension in 0..7 {
            let check = of(&sphere(dimension));
            assert!(check.is_closed(), "{check}");
            assert_eq!(check.to_string().contains("not decided"), dimension > 3);
            if dimension > 0 {
                assert!(matches!(of(&sphere(dimension)[1..]), ManifoldCheck::Ridge { facets: 1, .. }));
            }
        }
        assert!(of(&[vec![3], vec![5]]).is_closed());
        assert!(
            of(&[sphere(2), vec![vec![9, 10, 11], vec![9, 10, 12], vec![9, 11, 12], vec![10, 11, 12]]].concat())
                .is_closed()
        );
    }

    #[test]
    fn failures_say_where() {
        assert_eq!(of(&[vec![1, 2, 3], vec![3, 4]]), ManifoldCheck::NotPure { facet: vec![3, 4] });
        assert_eq!(of(&[vec![1, 2], vec![1, 3], vec![1, 4]]), ManifoldCheck::Ridge { face: vec![1], facets: 3 });
        // Two tetrahedra's boundaries that share the vertex 1: its link is two triangles.
        let wedge = |vertices: [i64; 4]| (0..4).map(move |i| (0..4).filter(|j| *j != i).map(|j| vertices[j]).collect());
        let pinched: Vec<Vec<i64>> = wedge([1, 2, 3, 4]).chain(wedge([1, 5, 6, 7])).collect();
        assert_eq!(of(&pinched).to_string(), "singular: the link of [1] has 2 components, no 1-sphere");
        // The suspension of a torus is no manifold at its two ends.
        let found = of(&suspension(&torus(), 1000)).to_string();
        assert_eq!(found, "singular: the link of [1000] has Euler characteristic 0, no 2-sphere");
        assert!(matches!(of(&suspension(&suspension(&torus(), 1000), 2000)), ManifoldCheck::Link { dimension: 2, .. }));
        // What faces contain is no facet.
        assert!(of(&[torus(), vec![vec![0, 1], vec![5]]].concat()).is_closed());
    }
}
