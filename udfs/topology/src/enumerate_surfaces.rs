//! All triangulated surfaces with few vertices, each once up to isomorphism.

use bonnet_graph::{Monitor, Stopped};

use crate::enumeration::{Complexes, Node, Search, bits};

/// The largest number of vertices that [`SurfaceEnumeration`] takes.
pub const MAX_SURFACE_VERTICES: usize = 12;
/// The numbers of triangulated surfaces, by the number of vertices (Sulanke and Lutz 2009).
pub const N_SURFACES: [u64; MAX_SURFACE_VERTICES + 1] =
    [0, 0, 0, 0, 1, 1, 3, 9, 43, 655, 42_426, 11_590_894, 12_561_206_794];

/// The triangulations of closed connected surfaces with at most `max_vertices` vertices, each once up to isomorphism.
///
/// Orderly generation: a surface is grown from the star of vertex 0, always at the lowest open edge of the lowest open
/// vertex, and a partial surface is given up as soon as another flag (vertex, edge, side) would have grown it by a
/// smaller sequence of apexes. So no list of the surfaces found is kept: memory is O(1), about 10 MB, and the surfaces
/// come in a fixed order, which for each number of vertices does not depend on `max_vertices`.
///
/// Cost: about 0.2 s on one core for the 43,138 surfaces with at most 10 vertices, 300 times that for the 11,590,894
/// with 11 and about a day for the 12,561,206,794 with 12 (Sulanke and Lutz, Isomorphism-free lexicographic enumeration of
/// triangulated surfaces and 3-manifolds, European Journal of Combinatorics 30, 2009).
#[derive(Debug, Clone)]
pub struct SurfaceEnumeration(Search<Surface>);

impl SurfaceEnumeration {
    /// Begins the enumeration; `max_vertices` is at most [`MAX_SURFACE_VERTICES`].
    pub fn new(max_vertices: usize) -> Self {
        let n = max_vertices.min(MAX_SURFACE_VERTICES);
        Self(Search::new(n, 3, (3..n).map(Surface::star).collect()))
    }

    /// The surfaces that the next piece of work finds, perhaps none, in parallel in the caller's pool; `None` at the end.
    ///
    /// # Errors
    /// When the host wants no answer or grants no memory.
    pub fn step(&mut self, monitor: &dyn Monitor) -> Result<Option<Complexes>, Stopped> {
        self.0.step(monitor)
    }
}

const N: usize = MAX_SURFACE_VERTICES;
/// A surface with 12 vertices has at most 66 edges, so 44 triangles.
const MAX_TRIANGLES: usize = 44;

/// A partial surface. Masks are over vertices.
#[derive(Debug, Clone, Copy)]
struct Surface {
    /// The third vertices of the triangles on each edge, at most two.
    third: [[u16; N]; N],
    /// At each vertex, the neighbours whose edge has one triangle: the endpoints of the paths that make up its link.
    one: [u16; N],
    /// At each vertex, the neighbours whose edge has two triangles.
    two: [u16; N],
    /// At each vertex, the other endpoint of the path that ends in a neighbour.
    end: [[u8; N]; N],
    /// The vertices whose link is a cycle.
    closed: u16,
    n_vertices: u8,
    /// The degree of vertex 0, which is the smallest.
    degree: u8,
    n_added: u8,
    /// The triangles beyond the star of vertex 0: the edge, the third vertex on its other side, the new third vertex.
    added: [[u8; 4]; MAX_TRIANGLES],
    /// At each closed vertex of that degree, the flags whose sequence is not yet known to be larger.
    undecided: [u32; N],
}

/// The comparison of a flag's sequence of apexes with that of the first flag.
enum Comparison {
    Smaller,
    Larger,
    Open,
}

impl Surface {
    /// The star of vertex 0 with the link 1, 2, ..., degree.
    fn star(degree: usize) -> Self {
        let mut star = Self {
            third: [[0; N]; N],
            one: [0; N],
            two: [0; N],
            end: [[0; N]; N],
            closed: 0,
            n_vertices: degree as u8 + 1,
            degree: degree as u8,
            n_added: 0,
            added: [[0; 4]; MAX_TRIANGLES],
            undecided: [0; N],
        };
        for v in 1..=degree {
            star.add(0, v, v % degree + 1);
        }
        star.closed = 1;
        // Flag 0 at vertex 0 is the first flag itself.
        star.undecided[0] = all_flags(degree) & !1;
        star
    }

    fn add(&mut self, u: usize, v: usize, w: usize) {
        self.add_to_link(u, v, w);
        self.add_to_link(v, u, w);
        self.add_to_link(w, u, v);
        for (a, b, c) in [(u, v, w), (v, w, u), (w, u, v)] {
            self.third[a][b] |= 1 << c;
            self.third[b][a] |= 1 << c;
        }
    }

    /// Joins two vertices in the link of u.
    fn add_to_link(&mut self, u: usize, a: usize, b: usize) {
        let other = |x: usize| if self.one[u] >> x & 1 == 1 { usize::from(self.end[u][x]) } else { x };
        let (first, last) = (other(a), other(b));
        self.end[u][first] = last as u8;
        self.end[u][last] = first as u8;
        let both = 1 << a | 1 << b;
        self.two[u] |= self.one[u] & both;
        self.one[u] ^= both;
    }

    /// Whether joining a and b in the link of u closes a cycle: `None` if that is not the whole link or too short.
    fn closes(&self, u: usize, a: usize, b: usize) -> Option<bool> {
        let both = 1 << a | 1 << b;
        if self.one[u] & both != both || usize::from(self.end[u][a]) != b {
            return Some(false);
        }
        let degree = (self.one[u] | self.two[u]).count_ones();
        (self.one[u] == both && degree >= u32::from(self.degree)).then_some(true)
    }

    /// The child with the triangle u, v, w, unless it is no partial surface or another flag gives a smaller sequence.
    fn child(&self, [u, v, x, w]: [usize; 4]) -> Option<Self> {
        let closes = [self.closes(u, v, w)?, self.closes(v, u, w)?, self.closes(w, u, v)?];
        let mut child = *self;
        child.add(u, v, w);
        child.n_vertices = child.n_vertices.max(w as u8 + 1);
        child.added[usize::from(child.n_added)] = [u as u8, v as u8, x as u8, w as u8];
        child.n_added += 1;
        for (vertex, closes) in [u, v, w].into_iter().zip(closes) {
            if closes {
                child.closed |= 1 << vertex;
                if child.two[vertex].count_ones() == u32::from(child.degree) {
                    child.undecided[vertex] = all_flags(usize::from(child.degree));
                }
            }
        }
        (!closes.contains(&true) || child.decide_flags()).then_some(child)
    }

    /// Compares the undecided flags; false if one has a smaller sequence.
    fn decide_flags(&mut self) -> bool {
        for vertex in bits(self.closed) {
            if self.undecided[vertex] == 0 {
                continue;
            }
            let cycle = self.link_cycle(vertex);
            let mut flags = self.undecided[vertex];
            while flags != 0 {
                let flag = flags.trailing_zeros() as usize;
                flags &= flags - 1;
                match self.compare(vertex, &cycle, flag) {
                    Comparison::Smaller => return false,
                    Comparison::Larger => self.undecided[vertex] &= !(1 << flag),
                    Comparison::Open => {}
                }
            }
        }
        true
    }

    /// The link of a closed vertex of smallest degree.
    fn link_cycle(&self, v: usize) -> [u8; N] {
        let mut cycle = [0; N];
        let mut previous = self.two[v].trailing_zeros() as usize;
        let mut at = self.third[v][previous].trailing_zeros() as usize;
        cycle[0] = previous as u8;
        for place in &mut cycle[1..usize::from(self.degree)] {
            *place = at as u8;
            let next = (self.third[v][at] & !(1 << previous)).trailing_zeros() as usize;
            previous = at;
            at = next;
        }
        cycle
    }

    /// Flag 2 i starts at position i of the link and goes forward, flag 2 i + 1 backward. Growing the surface from a flag
    /// labels its vertices in the order of their appearance; the labels of the apexes are compared with vertex numbers,
    /// which are the labels from the first flag.
    fn compare(&self, vertex: usize, cycle: &[u8; N], flag: usize) -> Comparison {
        const NONE: u8 = u8::MAX;
        let degree = usize::from(self.degree);
        let mut label = [NONE; 16];
        let mut vertex_of = [0u8; 16];
        label[vertex] = 0;
        vertex_of[0] = vertex as u8;
        let (mut place, step) = (flag / 2, [1, degree - 1][flag % 2]);
        for (i, vertex) in vertex_of.iter_mut().enumerate().skip(1).take(degree) {
            *vertex = cycle[place];
            label[usize::from(cycle[place])] = i as u8;
            place += step;
            if place >= degree {
                place -= degree;
            }
        }
        let mut n_labels = degree as u8 + 1;
        for &[u, v, x, w] in &self.added[..usize::from(self.n_added)] {
            let [u, v, x] = [u, v, x].map(|label| usize::from(vertex_of[usize::from(label & 15)]));
            let apex = self.third[u][v] & !(1 << x);
            if apex == 0 {
                return Comparison::Open;
            }
            let apex = apex.trailing_zeros() as usize;
            if label[apex] == NONE {
                label[apex] = n_labels;
                vertex_of[usize::from(n_labels)] = apex as u8;
                n_labels += 1;
            }
            if label[apex] != w {
                return if label[apex] < w { Comparison::Smaller } else { Comparison::Larger };
            }
        }
        Comparison::Open
    }
}

fn all_flags(degree: usize) -> u32 {
    (1 << (2 * degree)) - 1
}

impl Node for Surface {
    fn complete(&self) -> bool {
        self.closed == (1 << self.n_vertices) - 1
    }

    fn expand(&self, max_vertices: usize, stack: &mut Vec<Self>) {
        let u = (!self.closed).trailing_zeros() as usize;
        let v = self.one[u].trailing_zeros() as usize;
        let x = self.third[u][v].trailing_zeros() as usize;
        let used = usize::from(self.n_vertices);
        let labels = (1 << (used + 1).min(max_vertices)) - 1;
        let taken = self.closed | self.two[u] | self.two[v] | 1 << u | 1 << v | 1 << x;
        let first = stack.len();
        stack.extend(bits(labels & !taken).filter_map(|w| self.child([u, v, x, w])));
        stack[first..].reverse();
    }

    fn write(&self, found: &mut Complexes) {
        let n = usize::from(self.n_vertices);
        let triangles = (0..n).flat_map(|a| {
            let above = |v: usize| !1u16 << v;
            bits(self.two[a] & above(a))
                .flat_map(move |b| bits(self.third[a][b] & above(b)).map(move |c| [a as u8, b as u8, c as u8]))
        });
        found.push(n, triangles.flatten());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    use crate::{Facets, is_orientable};
    use std::collections::BTreeMap;

    fn all(max_vertices: usize) -> Complexes {
        let mut search = SurfaceEnumeration::new(max_vertices);
        let mut all = Complexes::new(3);
        while let Some(found) = search.step(&Unmonitored).unwrap() {
            all.append(&found);
        }
        all
    }

    #[test]
    fn the_published_numbers_of_surfaces_by_vertices_and_type() {
        let all = all(10);
        let mut counts = vec![0; 11];
        let mut types: BTreeMap<(bool, usize), usize> = BTreeMap::new();
        for i in 0..all.len() {
            let n = all.n_vertices(i);
            counts[n] += 1;
            let rows: Vec<[i64; 3]> = all.facets(i).as_chunks::<3>().0.iter().map(|f| f.map(i64::from)).collect();
            let orientable = is_orientable(&Facets::new(&rows).unwrap(), &Unmonitored).unwrap().unwrap();
            // A surface has 3 edges to 2 triangles: the characteristic is n - t / 2, and 2 less the genus gives it.
            let deficit = 2 + rows.len() / 2 - n;
            *types.entry((orientable, if orientable { deficit / 2 } else { deficit })).or_default() += 1;
        }
        assert_eq!(counts, N_SURFACES[..=10]);
        // MANTRA, Tables 5 and 6.
        let named = [((true, 0), 306), ((false, 1), 1_364), ((true, 1), 2_229), ((false, 2), 4_655)];
        named.iter().for_each(|(kind, count)| assert_eq!(types[kind], *count));
        let mut by_genus = [0; 8];
        types.iter().for_each(|(&(_, genus), count)| by_genus[genus] += count);
        assert_eq!(by_genus, [306, 3_593, 5_520, 11_937, 13_694, 7_052, 1_022, 14]);
        let orientable: usize = types.iter().filter(|((orientable, _), _)| *orientable).map(|(_, count)| count).sum();
        assert_eq!(orientable, 3_420);
    }

    #[test]
    fn each_complex_is_a_closed_surface_on_all_its_vertices() {
        let all = all(8);
        for i in 0..all.len() {
            let rows: Vec<[i64; 3]> = all.facets(i).as_chunks::<3>().0.iter().map(|f| f.map(i64::from)).collect();
            assert!(rows.is_sorted() && rows.iter().all(|row| row.is_sorted()));
            let facets = Facets::new(&rows).unwrap();
            assert_eq!(facets.n_vertices(), all.n_vertices(i));
            assert!(crate::manifold_check(&facets, &Unmonitored).unwrap().is_closed());
        }
    }

    #[test]
    #[ignore = "half a minute on two idle cores"]
    fn the_published_number_of_surfaces_with_eleven_vertices() {
        let mut search = SurfaceEnumeration::new(11);
        let mut total = 0;
        while let Some(found) = search.step(&Unmonitored).unwrap() {
            total += found.len() as u64;
        }
        assert_eq!(total, N_SURFACES[..=11].iter().sum::<u64>());
    }
}
