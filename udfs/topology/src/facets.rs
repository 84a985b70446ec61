//! A simplicial complex as it is given: a list of simplices that generate it.

use std::fmt;

/// A simplicial complex: all faces of a list of simplices, usually its facets (maximal faces).
///
/// Vertices are dense, `0..n_vertices()`, in the order of the labels that the caller gave them; each simplex is
/// ascending. The simplices keep their order, and may repeat or contain one another: the complex is the same.
/// Storage is flat: 4 bytes a vertex of a simplex, 8 a simplex, 8 a label.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facets {
    labels: Vec<i64>,
    vertices: Vec<u32>,
    ends: Vec<usize>,
    /// The fewest and the most vertices of a simplex.
    widths: (usize, usize),
}

/// Why a list of simplices is no simplicial complex. Positions count from 1, as lists in SQL do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FacetsError {
    /// There is no simplex.
    #[error("the list of facets is empty; a complex has at least one facet")]
    Empty,
    /// A simplex has no vertex.
    #[error("facet {facet} is empty; a facet has at least one vertex")]
    EmptyFacet {
        /// The position of the simplex.
        facet: usize,
    },
    /// A simplex names a vertex twice.
    #[error("facet {facet} has the vertex {vertex} twice")]
    RepeatedVertex {
        /// The position of the simplex.
        facet: usize,
        /// The label of the vertex.
        vertex: i64,
    },
    /// A vertex is a negative number.
    #[error("facet {facet} has the vertex {vertex}; vertices are numbered from 0 or 1 upwards")]
    NegativeVertex {
        /// The position of the simplex.
        facet: usize,
        /// The label of the vertex.
        vertex: i64,
    },
    /// There are more vertices than a `u32` counts.
    #[error("there are {0} vertices; at most {max} are supported", max = u32::MAX)]
    TooManyVertices(usize),
}

impl Facets {
    /// The complex of these simplices over any non-negative labels.
    ///
    /// # Errors
    /// If there is no simplex, or one is empty, repeats a vertex or has a negative one.
    pub fn new<F: AsRef<[i64]>>(simplices: &[F]) -> Result<Self, FacetsError> {
        let mut offsets = vec![0];
        let mut entries = Vec::new();
        for simplex in simplices {
            entries.extend_from_slice(simplex.as_ref());
            offsets.push(entries.len());
        }
        let mut facets = Self::default();
        facets.read(&offsets, &entries)?;
        Ok(facets)
    }

    /// Replaces the complex, keeping the memory: simplex `i` is `entries[offsets[i]..offsets[i + 1]]`. Work O(entries)
    /// where labels are below 64, else O(entries log vertices). After an error the complex is empty.
    ///
    /// # Errors
    /// Those of [`Facets::new`].
    pub fn read<O: Offset, T: Copy + Into<i64>>(&mut self, offsets: &[O], entries: &[T]) -> Result<(), FacetsError> {
        let answer = self.read_simplices(offsets, entries);
        if answer.is_err() {
            self.labels.clear();
            self.vertices.clear();
            self.ends.clear();
            self.widths = (0, 0);
        }
        answer
    }

    fn read_simplices<O: Offset, T: Copy + Into<i64>>(
        &mut self,
        offsets: &[O],
        entries: &[T],
    ) -> Result<(), FacetsError> {
        self.labels.clear();
        self.vertices.clear();
        self.ends.clear();
        if offsets.len() < 2 {
            return Err(FacetsError::Empty);
        }
        let (first, last) = (offsets[0].index(), offsets[offsets.len() - 1].index());
        let entries = &entries[first..last];
        let facet_of = |entry: usize| offsets.partition_point(|offset| offset.index() - first <= entry);
        let (mut low, mut high, mut seen) = (i64::MAX, i64::MIN, 0u64);
        for &entry in entries {
            let label: i64 = entry.into();
            low = low.min(label);
            high = high.max(label);
            seen |= 1 << (label & 63);
        }
        if low < 0 {
            let entry = entries.iter().position(|&entry| entry.into() < 0).unwrap_or(0);
            return Err(FacetsError::NegativeVertex { facet: facet_of(entry), vertex: entries[entry].into() });
        }
        if high < 64 {
            let mut rest = seen;
            while rest != 0 {
                self.labels.push(i64::from(rest.trailing_zeros()));
                rest &= rest - 1;
            }
            if (seen >> low).trailing_ones() == seen.count_ones() {
                // No label is left out: the usual case.
                self.vertices.extend(entries.iter().map(|&entry| (entry.into() - low) as u32));
            } else {
                self.vertices.extend(entries.iter().map(|&entry| (seen & ((1 << entry.into()) - 1)).count_ones()));
            }
        } else {
            self.labels.extend(entries.iter().map(|&entry| entry.into()));
            self.labels.sort_unstable();
            self.labels.dedup();
            if u32::try_from(self.labels.len()).is_err() {
                return Err(FacetsError::TooManyVertices(self.labels.len()));
            }
            let labels = &self.labels;
            let dense = |&entry: &T| labels.partition_point(|&label| label < entry.into()) as u32;
            self.vertices.extend(entries.iter().map(dense));
        }
        let mut start = 0;
        self.widths = (usize::MAX, 0);
        for (i, offset) in offsets[1..].iter().enumerate() {
            let end = offset.index() - first;
            let simplex = &mut self.vertices[start..end];
            if simplex.is_empty() {
                return Err(FacetsError::EmptyFacet { facet: i + 1 });
            }
            if !simplex.windows(2).all(|pair| pair[0] < pair[1]) {
                simplex.sort_unstable();
                if let Some(pair) = simplex.windows(2).find(|pair| pair[0] == pair[1]) {
                    let vertex = self.labels[pair[0] as usize];
                    return Err(FacetsError::RepeatedVertex { facet: i + 1, vertex });
                }
            }
            self.widths = (self.widths.0.min(simplex.len()), self.widths.1.max(simplex.len()));
            self.ends.push(end);
            start = end;
        }
        Ok(())
    }

    /// The number of simplices in the list.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the complex has no simplex: only [`Facets::default`] has none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Simplex `i` of the list: its vertices, ascending.
    pub fn get(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.vertices[start..self.ends[i]]
    }

    /// The simplices of the list.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.labels.len()
    }

    /// The labels that the caller gave the vertices, ascending: vertex v has `labels()[v]`.
    pub fn labels(&self) -> &[i64] {
        &self.labels
    }

    /// The largest dimension of a simplex: its number of vertices less one.
    pub fn dimension(&self) -> usize {
        self.widths.1.saturating_sub(1)
    }

    /// Whether all simplices of the list have the same dimension.
    pub fn same_dimension(&self) -> bool {
        self.widths.0 == self.widths.1
    }

    /// The same complex by its facets alone, each once, in lexicographic order. Work O(k log k) for k simplices of one
    /// dimension; where dimensions differ, each smaller one is compared with those that share its rarest vertex.
    pub fn maximal(&self) -> Self {
        let mut simplices: Vec<&[u32]> = self.iter().collect();
        simplices.sort_unstable();
        simplices.dedup();
        if !self.same_dimension() {
            let mut containing = vec![Vec::new(); self.n_vertices()];
            for (i, simplex) in simplices.iter().enumerate() {
                simplex.iter().for_each(|&v| containing[v as usize].push(i));
            }
            let all = simplices.clone();
            simplices.retain(|simplex| {
                let rarest = simplex.iter().min_by_key(|&&v| containing[v as usize].len());
                let mut others = rarest.map(|&v| &containing[v as usize]).into_iter().flatten();
                !others.any(|&other| all[other].len() > simplex.len() && contains(all[other], simplex))
            });
        }
        let mut maximal = Self { labels: self.labels.clone(), widths: self.widths, ..Self::default() };
        maximal.widths.0 = usize::MAX;
        for simplex in simplices {
            maximal.vertices.extend_from_slice(simplex);
            maximal.ends.push(maximal.vertices.len());
            maximal.widths = (maximal.widths.0.min(simplex.len()), self.widths.1);
        }
        maximal
    }

    /// The bytes held.
    pub fn bytes(&self) -> usize {
        8 * self.labels.capacity() + 4 * self.vertices.capacity() + 8 * self.ends.capacity()
    }
}

/// Whether one ascending list holds all of another.
fn contains(large: &[u32], small: &[u32]) -> bool {
    let mut large = large.iter();
    small.iter().all(|v| large.by_ref().find(|&w| w >= v) == Some(v))
}

/// The simplices by their labels: `[[1,2,3],[1,2,4]]`.
impl fmt::Display for Facets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, simplex) in self.iter().enumerate() {
            f.write_str(if i == 0 { "[" } else { ",[" })?;
            for (j, &v) in simplex.iter().enumerate() {
                write!(f, "{}{}", if j == 0 { "" } else { "," }, self.labels[v as usize])?;
            }
            f.write_str("]")?;
        }
        f.write_str("]")
    }
}

/// A position in a list, as the list's owner counts it.
pub trait Offset: Copy {
    /// The position.
    fn index(self) -> usize;
}

impl Offset for usize {
    fn index(self) -> usize {
        self
    }
}

impl Offset for i32 {
    fn index(self) -> usize {
        self as usize
    }
}

impl Offset for i64 {
    fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_become_dense_and_simplices_ascending() {
        for shift in [0, 60, 1 << 40] {
            let facets = Facets::new(&[[7 + shift, 2 + shift, 4 + shift], [2 + shift, 4 + shift, 9 + shift]]).unwrap();
            assert_eq!(facets.labels(), [2, 4, 7, 9].map(|label| label + shift));
            assert_eq!(facets.iter().collect::<Vec<_>>(), [[0, 1, 2], [0, 1, 3]]);
            assert_eq!((facets.n_vertices(), facets.len(), facets.dimension()), (4, 2, 2));
        }
    }

    #[test]
    fn what_is_no_complex_is_refused_by_position() {
        let none: [[i64; 1]; 0] = [];
        assert_eq!(Facets::new(&none), Err(FacetsError::Empty));
        assert_eq!(Facets::new(&[vec![1, 2], vec![]]), Err(FacetsError::EmptyFacet { facet: 2 }));
        let empty: [Vec<i64>; 1] = [vec![]];
        assert_eq!(Facets::new(&empty), Err(FacetsError::EmptyFacet { facet: 1 }));
        assert_eq!(Facets::new(&[[1, 2, 3], [4, 1, 4]]), Err(FacetsError::RepeatedVertex { facet: 2, vertex: 4 }));
        assert_eq!(Facets::new(&[[1, 200], [200, 200]]), Err(FacetsError::RepeatedVertex { facet: 2, vertex: 200 }));
        assert_eq!(Facets::new(&[[1, 2], [0, -3]]), Err(FacetsError::NegativeVertex { facet: 2, vertex: -3 }));
        assert_eq!(Facets::new(&[[-1, 2], [0, 3]]), Err(FacetsError::NegativeVertex { facet: 1, vertex: -1 }));
    }

    #[test]
    fn facets_are_the_simplices_that_no_other_contains() {
        let simplices = [vec![3, 1], vec![0, 1, 2], vec![2, 0], vec![2, 1, 0], vec![5], vec![3, 1], vec![3]];
        let maximal = Facets::new(&simplices).unwrap().maximal();
        assert_eq!(maximal.to_string(), "[[0,1,2],[1,3],[5]]");
        assert!(!maximal.same_dimension());
    }

    #[test]
    fn a_view_into_a_longer_list_is_read_from_its_own_start() {
        let mut facets = Facets::default();
        facets.read(&[3i32, 5, 7], &[9i32, 9, 9, 1, 2, 2, 3, 9]).unwrap();
        assert_eq!(facets.to_string(), "[[1,2],[2,3]]");
        let error = facets.read(&[3i32, 5, 7], &[9i32, 9, 9, 1, 2, 2, -3, 9]).unwrap_err();
        assert_eq!(error, FacetsError::NegativeVertex { facet: 2, vertex: -3 });
        assert!(facets.is_empty());
    }

    proptest! {
        #[test]
        fn maximal_agrees_with_comparing_all_pairs(
            simplices in proptest::collection::vec(proptest::collection::btree_set(0i64..8, 1..5), 1..12),
        ) {
            let lists: Vec<Vec<i64>> = simplices.iter().map(|simplex| simplex.iter().copied().collect()).collect();
            let mut expected: Vec<&Vec<i64>> = lists
                .iter()
                .zip(&simplices)
                .filter(|(_, simplex)| !simplices.iter().any(|other| *simplex != other && simplex.is_subset(other)))
                .map(|(list, _)| list)
                .collect();
            expected.sort();
            expected.dedup();
            let maximal = Facets::new(&lists).unwrap().maximal();
            let labels = maximal.labels();
            let found: Vec<Vec<i64>> =
                maximal.iter().map(|simplex| simplex.iter().map(|&v| labels[v as usize]).collect()).collect();
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), expected);
        }
    }
}
