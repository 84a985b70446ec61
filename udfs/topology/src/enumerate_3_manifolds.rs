//! All triangulated 3-manifolds with few vertices, each once up to isomorphism.

use bonnet_graph::{Monitor, Stopped};

use crate::enumeration::{Complexes, Node, Search, bits};

/// The largest number of vertices that [`ThreeManifoldEnumeration`] takes.
pub const MAX_3_MANIFOLD_VERTICES: usize = 11;
/// The numbers of triangulated 3-manifolds, by the number of vertices (Sulanke and Lutz 2009).
pub const N_3_MANIFOLDS: [u64; MAX_3_MANIFOLD_VERTICES + 1] = [0, 0, 0, 0, 0, 1, 2, 5, 39, 1_297, 249_015, 166_564_303];

/// The triangulations of closed connected 3-manifolds with at most `max_vertices` vertices, each once up to isomorphism.
///
/// Orderly generation, as for surfaces: a manifold is grown from the star of the edge 01, where vertex 0 has the largest
/// degree and, among those, the largest histogram of edge degrees, and edge 01 the smallest degree at vertex 0; always at
/// the lowest open edge of the lowest open vertex. A partial manifold is given up as soon as a vertex link cannot be a
/// part of a sphere, or another flag (vertex, edge, triangle, side) has a better key or would have grown it by a smaller
/// sequence of apexes. No list of the manifolds found is kept; they come in a fixed order, which for each number of
/// vertices does not depend on `max_vertices`. Memory about 50 MB.
///
/// Every link is checked to be connected, closed and of Euler characteristic 2, so a sphere: two closed surfaces whose
/// characteristics add up to 2 (a sphere and a torus) have at least 11 vertices together, one more than a link has here.
///
/// Cost: about 20 s on one core for the 250,359 manifolds with at most 10 vertices, and some hours for the 166,564,303
/// with 11 (Sulanke and Lutz, Isomorphism-free lexicographic enumeration of triangulated surfaces and 3-manifolds,
/// European Journal of Combinatorics 30, 2009).
#[derive(Debug, Clone)]
pub struct ThreeManifoldEnumeration(Search<Manifold>);

impl ThreeManifoldEnumeration {
    /// Begins the enumeration; `max_vertices` is at most [`MAX_3_MANIFOLD_VERTICES`].
    pub fn new(max_vertices: usize) -> Self {
        let n = max_vertices.min(MAX_3_MANIFOLD_VERTICES);
        // A triangulated 2-sphere, such as the link of vertex 0, has a vertex of degree 3, 4 or 5.
        let stars = (4..n).flat_map(|degree| (3..=5.min(degree - 1)).map(move |edge| Manifold::star(degree, edge)));
        Self(Search::new(n, 4, stars.collect()))
    }

    /// The manifolds that the next piece of work finds, perhaps none, in parallel in the caller's pool; `None` at the end.
    ///
    /// # Errors
    /// When the host wants no answer or grants no memory.
    pub fn step(&mut self, monitor: &dyn Monitor) -> Result<Option<Complexes>, Stopped> {
        self.0.step(monitor)
    }
}

const N: usize = MAX_3_MANIFOLD_VERTICES;
const EDGES: usize = N * (N - 1) / 2;
const TRIANGLES: usize = N * (N - 1) * (N - 2) / 6;
/// A closed 3-manifold has as many tetrahedra as edges less vertices.
const MAX_TETRAHEDRA: usize = EDGES - N;

/// The number of each edge.
static EDGE: [[u8; 16]; N] = {
    let mut table = [[0; 16]; N];
    let (mut next, mut b) = (0, 0);
    while b < N {
        let mut a = 0;
        while a < b {
            table[a][b] = next;
            table[b][a] = next;
            next += 1;
            a += 1;
        }
        b += 1;
    }
    table
};

/// The number of each triangle.
static TRIANGLE: [[[u8; 16]; N]; N] = {
    let mut table = [[[0; 16]; N]; N];
    let (mut next, mut c) = (0, 0);
    while c < N {
        let mut b = 0;
        while b < c {
            let mut a = 0;
            while a < b {
                table[a][b][c] = next;
                table[a][c][b] = next;
                table[b][a][c] = next;
                table[b][c][a] = next;
                table[c][a][b] = next;
                table[c][b][a] = next;
                next += 1;
                a += 1;
            }
            b += 1;
        }
        c += 1;
    }
    table
};

fn edge(a: usize, b: usize) -> usize {
    usize::from(EDGE[a][b])
}

fn triangle(a: usize, b: usize, c: usize) -> usize {
    usize::from(TRIANGLE[a][b][c])
}

/// A partial 3-manifold. Masks are over vertices.
#[derive(Debug, Clone, Copy)]
struct Manifold {
    /// The apexes of the tetrahedra on each triangle, at most two.
    apex: [u16; TRIANGLES],
    /// In the link of each edge, the vertices with one neighbour: the endpoints of the paths that make up the link.
    one: [u16; EDGES],
    /// In the link of each edge, the vertices with two neighbours.
    two: [u16; EDGES],
    /// In the link of each edge, the other endpoint of the path that ends in a vertex.
    end: [[u8; N]; EDGES],
    /// The vertices with a common edge.
    neighbors: [u16; N],
    /// The neighbours whose edge has a cycle for a link.
    closed_edges: [u16; N],
    n_tetrahedra: [u8; N],
    /// The vertices all of whose edges are closed.
    closed: u16,
    n_vertices: u8,
    /// The degree of vertex 0, which is the largest.
    degree: u8,
    /// The degree of the edge 01, which is the smallest at vertex 0.
    edge_degree: u8,
    n_added: u8,
    /// The tetrahedra beyond the star of the edge 01: the triangle, the apex on its other side, the new apex.
    added: [[u8; 5]; MAX_TETRAHEDRA],
    /// The histogram of edge degrees at vertex 0, once it is closed.
    histogram: u32,
    /// At each closed vertex with the key of vertex 0, the flags whose sequence is not yet known to be larger.
    undecided: [u128; N],
}

enum Comparison {
    Smaller,
    Larger,
    Open,
}

impl Manifold {
    /// The star of the edge 01 with the link 2, 3, ..., edge_degree + 1.
    fn star(degree: usize, edge_degree: usize) -> Self {
        let mut star = Self {
            apex: [0; TRIANGLES],
            one: [0; EDGES],
            two: [0; EDGES],
            end: [[0; N]; EDGES],
            neighbors: [0; N],
            closed_edges: [0; N],
            n_tetrahedra: [0; N],
            closed: 0,
            n_vertices: edge_degree as u8 + 2,
            degree: degree as u8,
            edge_degree: edge_degree as u8,
            n_added: 0,
            added: [[0; 5]; MAX_TETRAHEDRA],
            histogram: 0,
            undecided: [0; N],
        };
        for i in 0..edge_degree {
            star.add([0, 1, 2 + i, 2 + (i + 1) % edge_degree]);
        }
        star.closed_edges[0] = 1 << 1;
        star.closed_edges[1] = 1;
        star
    }

    fn add(&mut self, [i, j, v, w]: [usize; 4]) {
        for (a, b, c, d) in [(i, j, v, w), (i, j, w, v), (i, v, w, j), (j, v, w, i)] {
            self.apex[triangle(a, b, c)] |= 1 << d;
        }
        for (a, b, c, d) in [(i, j, v, w), (i, v, j, w), (i, w, j, v), (j, v, i, w), (j, w, i, v), (v, w, i, j)] {
            self.add_to_link(edge(a, b), c, d);
        }
        let all = 1 << i | 1 << j | 1 << v | 1 << w;
        for vertex in [i, j, v, w] {
            self.neighbors[vertex] |= all & !(1 << vertex);
            self.n_tetrahedra[vertex] += 1;
        }
    }

    /// Joins two vertices in the link of an edge.
    fn add_to_link(&mut self, e: usize, a: usize, b: usize) {
        let other = |x: usize| if self.one[e] >> x & 1 == 1 { usize::from(self.end[e][x]) } else { x };
        let (first, last) = (other(a), other(b));
        self.end[e][first] = last as u8;
        self.end[e][last] = first as u8;
        let both = 1 << a | 1 << b;
        self.two[e] |= self.one[e] & both;
        self.one[e] ^= both;
    }

    /// Whether joining c and d in the link of the edge ab closes a cycle: `None` if that is not the whole link, or too
    /// short for an edge at vertex 0.
    fn closes(&self, a: usize, b: usize, c: usize, d: usize) -> Option<bool> {
        let e = edge(a, b);
        let both = 1 << c | 1 << d;
        if self.one[e] & both != both || usize::from(self.end[e][c]) != d {
            return Some(false);
        }
        if self.one[e] != both {
            return None;
        }
        let degree = (self.one[e] | self.two[e]).count_ones();
        (a.min(b) != 0 || degree >= u32::from(self.edge_degree)).then_some(true)
    }

    /// The child with the tetrahedron i, j, v, w, unless it is no partial manifold or another flag comes first.
    fn child(&self, [i, j, v, x, w]: [usize; 5]) -> Option<Self> {
        let edges = [(i, j, v, w), (i, v, j, w), (i, w, j, v), (j, v, i, w), (j, w, i, v), (v, w, i, j)];
        let mut closes = [false; 6];
        for (closes, (a, b, c, d)) in closes.iter_mut().zip(edges) {
            *closes = self.closes(a, b, c, d)?;
        }
        let mut child = *self;
        child.add([i, j, v, w]);
        child.n_vertices = child.n_vertices.max(w as u8 + 1);
        child.added[usize::from(child.n_added)] = [i, j, v, x, w].map(|vertex| vertex as u8);
        child.n_added += 1;
        for ((a, b, ..), closes) in edges.into_iter().zip(closes) {
            if closes {
                child.closed_edges[a] |= 1 << b;
                child.closed_edges[b] |= 1 << a;
            }
        }
        let mut newly_closed = 0u16;
        for vertex in [i, j, v, w] {
            let degree = child.neighbors[vertex].count_ones();
            let tetrahedra = u32::from(child.n_tetrahedra[vertex]);
            if degree > u32::from(child.degree) {
                return None;
            }
            if child.neighbors[vertex] == child.closed_edges[vertex] {
                // A closed surface: a sphere if its Euler characteristic is 2.
                if tetrahedra != 2 * (degree - 2) || (vertex == 0 && degree != u32::from(child.degree)) {
                    return None;
                }
                newly_closed |= 1 << vertex;
            } else if tetrahedra >= 2 * (u32::from(child.degree) - 2)
                || (w < usize::from(self.n_vertices) && !child.planar_link(vertex))
            {
                return None;
            }
        }
        child.closed |= newly_closed;
        (newly_closed == 0 || child.decide_flags(newly_closed)).then_some(child)
    }

    /// Whether the link of an open vertex, a surface with boundary, may be part of a sphere. Capping its boundary cycles
    /// must give characteristic 2 at least: it has as many vertices on its boundary as edges there, if a vertex counts
    /// once for each path in the link of its edge.
    fn planar_link(&self, p: usize) -> bool {
        let closed = self.closed_edges[p].count_ones() as i32;
        let mut boundary = 0;
        let mut cycles = 0;
        let mut visited = [0u16; N];
        for start in bits(self.neighbors[p] & !self.closed_edges[p]) {
            let ends = self.one[edge(p, start)];
            boundary += ends.count_ones() as i32;
            let mut rest = ends & !visited[start];
            while rest != 0 {
                cycles += 1;
                let first = rest.trailing_zeros() as usize;
                let (mut from, mut at) = (start, first);
                loop {
                    visited[from] |= 1 << at;
                    visited[at] |= 1 << from;
                    let next = usize::from(self.end[edge(p, at)][from]);
                    from = at;
                    at = next;
                    if (from, at) == (start, first) {
                        break;
                    }
                }
                rest = ends & !visited[start];
            }
        }
        // Each boundary edge was counted from both endpoints.
        let faces = i32::from(self.n_tetrahedra[p]);
        2 * closed + boundary / 2 - faces + 2 * cycles >= 4
    }

    /// The numbers of edges of degree 3, 4, ... at a closed vertex, four bits each.
    fn edge_histogram(&self, v: usize) -> u32 {
        bits(self.neighbors[v]).map(|w| 1 << (4 * (self.two[edge(v, w)].count_ones() - 3))).sum()
    }

    /// The edges of smallest degree at a closed vertex with the key of vertex 0.
    fn shortest_edges(&self, v: usize) -> impl Iterator<Item = usize> {
        bits(self.neighbors[v]).filter(move |&w| self.two[edge(v, w)].count_ones() == u32::from(self.edge_degree))
    }

    /// Compares keys and the undecided flags; false if one comes before the first flag.
    fn decide_flags(&mut self, mut newly_closed: u16) -> bool {
        if self.closed & 1 == 0 {
            return true;
        }
        if newly_closed & 1 == 1 {
            self.histogram = self.edge_histogram(0);
            newly_closed = self.closed;
        }
        for vertex in bits(newly_closed) {
            if self.neighbors[vertex].count_ones() != u32::from(self.degree) {
                continue;
            }
            let histogram = self.edge_histogram(vertex);
            if histogram > self.histogram {
                return false;
            }
            if histogram == self.histogram {
                let flags = self.shortest_edges(vertex).count() * usize::from(self.edge_degree) * 2;
                self.undecided[vertex] = (1 << flags) - 1;
                if vertex == 0 {
                    // Flag 0 at vertex 0 is the first flag itself.
                    self.undecided[0] &= !1;
                }
            }
        }
        for vertex in bits(self.closed) {
            if self.undecided[vertex] == 0 {
                continue;
            }
            let mut left = self.undecided[vertex];
            let mut flag = 0;
            for w in bits(self.neighbors[vertex]) {
                if self.two[edge(vertex, w)].count_ones() != u32::from(self.edge_degree) {
                    continue;
                }
                for x in bits(self.two[edge(vertex, w)]) {
                    for y in bits(self.apex[triangle(vertex, w, x)]) {
                        if left >> flag & 1 == 1 {
                            match self.compare([vertex, w, x, y]) {
                                Comparison::Smaller => return false,
                                Comparison::Larger => left &= !(1 << flag),
                                Comparison::Open => {}
                            }
                        }
                        flag += 1;
                    }
                }
            }
            self.undecided[vertex] = left;
        }
        true
    }

    /// Growing the manifold from a flag labels its vertices in the order of their appearance; the labels of the apexes
    /// are compared with vertex numbers, which are the labels from the first flag.
    fn compare(&self, [v, w, x, y]: [usize; 4]) -> Comparison {
        const NONE: u8 = u8::MAX;
        let mut label = [NONE; 16];
        let mut vertex_of = [0u8; 16];
        let mut n_labels = 0u8;
        let mut name = |vertex: usize, vertex_of: &mut [u8; 16], label: &mut [u8; 16]| {
            label[vertex] = n_labels;
            vertex_of[usize::from(n_labels)] = vertex as u8;
            n_labels += 1;
        };
        name(v, &mut vertex_of, &mut label);
        name(w, &mut vertex_of, &mut label);
        let (mut previous, mut at) = (x, y);
        name(x, &mut vertex_of, &mut label);
        while at != x {
            name(at, &mut vertex_of, &mut label);
            let next = (self.apex[triangle(v, w, at)] & !(1 << previous)).trailing_zeros() as usize;
            previous = at;
            at = next;
        }
        for &[i, j, v, x, w] in &self.added[..usize::from(self.n_added)] {
            let [i, j, v, x] = [i, j, v, x].map(|label| usize::from(vertex_of[usize::from(label & 15)]));
            let apex = self.apex[triangle(i, j, v)] & !(1 << x);
            if apex == 0 {
                return Comparison::Open;
            }
            let apex = apex.trailing_zeros() as usize;
            if label[apex] == NONE {
                name(apex, &mut vertex_of, &mut label);
            }
            if label[apex] != w {
                return if label[apex] < w { Comparison::Smaller } else { Comparison::Larger };
            }
        }
        Comparison::Open
    }
}

impl Node for Manifold {
    fn complete(&self) -> bool {
        self.closed == (1 << self.n_vertices) - 1
    }

    fn expand(&self, max_vertices: usize, stack: &mut Vec<Self>) {
        let i = (!self.closed).trailing_zeros() as usize;
        let j = (self.neighbors[i] & !self.closed_edges[i]).trailing_zeros() as usize;
        let ij = edge(i, j);
        let v = self.one[ij].trailing_zeros() as usize;
        let x = self.apex[triangle(i, j, v)].trailing_zeros() as usize;
        let used = usize::from(self.n_vertices);
        let labels = (1 << (used + 1).min(max_vertices)) - 1;
        let closed = self.closed | self.closed_edges[i] | self.closed_edges[j] | self.closed_edges[v];
        let full = self.two[ij] | self.two[edge(i, v)] | self.two[edge(j, v)];
        let taken = closed | full | 1 << i | 1 << j | 1 << v | 1 << x;
        let first = stack.len();
        stack.extend(bits(labels & !taken).filter_map(|w| self.child([i, j, v, x, w])));
        stack[first..].reverse();
    }

    fn write(&self, found: &mut Complexes) {
        let n = usize::from(self.n_vertices);
        let above = |v: usize| !1u16 << v;
        let edges = (0..n).flat_map(|a| bits(self.neighbors[a] & above(a)).map(move |b| (a, b)));
        let triangles = edges.flat_map(|(a, b)| bits(self.two[edge(a, b)] & above(b)).map(move |c| (a, b, c)));
        let tetrahedra = triangles.flat_map(|(a, b, c)| {
            bits(self.apex[triangle(a, b, c)] & above(c)).map(move |d| [a as u8, b as u8, c as u8, d as u8])
        });
        found.push(n, tetrahedra.flatten());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    use crate::{Facets, Workspace, canonical_form, census_3_manifold, manifold_check};
    use rayon::prelude::*;
    use std::collections::{BTreeMap, HashSet};

    fn all(max_vertices: usize) -> Complexes {
        let mut search = ThreeManifoldEnumeration::new(max_vertices);
        let mut all = Complexes::new(4);
        while let Some(found) = search.step(&Unmonitored).unwrap() {
            all.append(&found);
        }
        all
    }

    fn facets(all: &Complexes, i: usize) -> Facets {
        let rows: Vec<[i64; 4]> = all.facets(i).as_chunks::<4>().0.iter().map(|f| f.map(i64::from)).collect();
        Facets::new(&rows).unwrap()
    }

    /// The number of complexes by vertices, and by type; each is checked to be a manifold.
    fn counts(all: &Complexes) -> (Vec<u64>, BTreeMap<&'static str, usize>) {
        let mut counts = vec![0; 12];
        let mut types = BTreeMap::new();
        let mut workspace = Workspace::default();
        for i in 0..all.len() {
            let facets = facets(all, i);
            assert!(manifold_check(&facets, &Unmonitored).unwrap().is_closed());
            counts[facets.n_vertices()] += 1;
            let name = census_3_manifold(workspace.homology(&facets, &Unmonitored).unwrap()).unwrap();
            *types.entry(name).or_default() += 1;
        }
        (counts, types)
    }

    #[test]
    fn the_published_numbers_of_3_manifolds_by_vertices() {
        let (counts, types) = counts(&all(9));
        assert_eq!(counts[..=9], N_3_MANIFOLDS[..=9]);
        // Altshuler and Steinberg: 1,296 spheres with 9 vertices and one sphere bundle.
        assert_eq!(types, BTreeMap::from([("S^3", 1 + 2 + 5 + 39 + 1_296), ("S^2 twist S^1", 1)]));
    }

    #[test]
    #[ignore = "half a minute on two idle cores"]
    fn the_published_numbers_of_3_manifolds_with_ten_vertices_by_type() {
        let all = all(10);
        let (counts, types) = counts(&all);
        assert_eq!(counts[..=10], N_3_MANIFOLDS[..=10]);
        assert_eq!(types, BTreeMap::from([("S^3", 249_225), ("S^2 twist S^1", 616), ("S^2 x S^1", 518)]));
        let form = |i: usize| -> Vec<u8> {
            let form = canonical_form(&facets(&all, i), &Unmonitored).unwrap();
            form.iter().flatten().map(|&v| v as u8).collect()
        };
        let forms: HashSet<Vec<u8>> = (0..all.len()).into_par_iter().map(form).collect();
        assert_eq!(forms.len(), 250_359);
    }
}
