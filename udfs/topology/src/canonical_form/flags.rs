//! Numberings that grow from a flag: for complexes where a path through ridges joins any two facets.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::mix;
use crate::Facets;

const NONE: u32 = u32::MAX;
/// Vertices take 10 bits of a ridge's key.
const MAX_VERTICES: usize = 1 << 10;

/// An ordered facet: the facet's number and its vertices' positions, the first `dimension + 1` of them.
#[derive(Clone, Copy)]
struct Flag {
    facet: u32,
    places: [u8; 4],
}

/// The label of each vertex; `None` unless the complex has dimension 2 or 3, at most 1,024 vertices, at most two facets
/// at each ridge, and a path of adjacent facets between any two. All of that is the same for isomorphic complexes.
pub(super) fn labels(facets: &Facets, monitor: &dyn Monitor) -> Result<Option<Vec<u32>>, Stopped> {
    let (n, width) = (facets.n_vertices(), facets.dimension() + 1);
    if !(3..=4).contains(&width) || n > MAX_VERTICES || !facets.same_dimension() {
        return Ok(None);
    }
    let _reservation = Reservation::new(monitor, facets.len() * width * 64 + n * 64)?;
    let Some(across) = across_ridges(facets, width) else { return Ok(None) };
    let edges = EdgeDegrees::of(facets, n);
    let keys = edges.vertex_keys(n);
    let flags = rare_flags(facets, &edges, &keys);
    let mut growth = Growth::new(facets, width, across);
    let mut best: Option<(Vec<u32>, Vec<u32>)> = None;
    for (i, &flag) in flags.iter().enumerate() {
        if i % 64 == 0 {
            monitor.check()?;
        }
        if growth.grow(flag, best.as_ref().map(|(code, _)| code.as_slice())) {
            if growth.queue.len() < facets.len() {
                return Ok(None);
            }
            best = Some((growth.code.clone(), growth.label.clone()));
        }
    }
    Ok(best.map(|(_, labels)| labels))
}

/// For each facet and each position of a vertex in it, the facet beyond the opposite ridge and the position of its opposite
/// vertex, as `facet * width + place`; `NONE` where there is no facet. No answer if three facets meet at a ridge.
fn across_ridges(facets: &Facets, width: usize) -> Option<Vec<u32>> {
    let mut ridges: Vec<u64> = Vec::with_capacity(facets.len() * width);
    for (i, facet) in facets.iter().enumerate() {
        for omitted in 0..width {
            let vertices = facet.iter().enumerate().filter(|&(place, _)| place != omitted);
            let ridge = vertices.fold(0, |key, (_, &v)| key << 10 | u64::from(v));
            ridges.push(ridge << 34 | (i * width + omitted) as u64);
        }
    }
    ridges.sort_unstable();
    let mut across = vec![NONE; ridges.len()];
    for group in ridges.chunk_by(|a, b| a >> 34 == b >> 34) {
        let record = |i: usize| (group[i] & ((1 << 34) - 1)) as usize;
        match group.len() {
            1 => {}
            2 => {
                across[record(0)] = record(1) as u32;
                across[record(1)] = record(0) as u32;
            }
            _ => return None,
        }
    }
    Some(across)
}

/// The number of facets at each edge.
enum EdgeDegrees {
    /// By `u * n + v`.
    Table(usize, Vec<u16>),
    /// Ascending `(u << 10 | v, degree)`, both ways.
    List(Vec<(u32, u16)>),
}

impl EdgeDegrees {
    fn of(facets: &Facets, n: usize) -> Self {
        let pairs = facets.iter().flat_map(|facet| {
            facet.iter().flat_map(move |&u| facet.iter().filter(move |&&v| u != v).map(move |&v| (u, v)))
        });
        if n <= 128 {
            let mut table = vec![0; n * n];
            pairs.for_each(|(u, v)| table[u as usize * n + v as usize] += 1);
            return Self::Table(n, table);
        }
        let mut pairs: Vec<u32> = pairs.map(|(u, v)| u << 10 | v).collect();
        pairs.sort_unstable();
        Self::List(pairs.chunk_by(|a, b| a == b).map(|group| (group[0], group.len() as u16)).collect())
    }

    fn get(&self, u: u32, v: u32) -> u16 {
        match self {
            Self::Table(n, table) => table[u as usize * n + v as usize],
            Self::List(list) => list.binary_search_by_key(&(u << 10 | v), |entry| entry.0).map_or(0, |i| list[i].1),
        }
    }

    fn for_each(&self, mut visit: impl FnMut(usize, usize, u16)) {
        match self {
            Self::Table(n, table) => {
                for (u, row) in table.chunks(*n).enumerate() {
                    row.iter().enumerate().filter(|(_, degree)| **degree > 0).for_each(|(v, &d)| visit(u, v, d));
                }
            }
            Self::List(list) => {
                list.iter().for_each(|&(pair, degree)| visit((pair >> 10) as usize, (pair & 1023) as usize, degree));
            }
        }
    }

    /// A number for each vertex made of the degrees of its edges, and once more of its neighbours' numbers.
    fn vertex_keys(&self, n: usize) -> Vec<u64> {
        let mut keys = vec![0u64; n];
        self.for_each(|u, _, degree| keys[u] = keys[u].wrapping_add(mix(u64::from(degree))));
        let mut refined: Vec<u64> = keys.iter().map(|&key| mix(key)).collect();
        self.for_each(|u, v, degree| refined[u] = refined[u].wrapping_add(mix(keys[v] ^ u64::from(degree) << 56)));
        refined
    }
}

/// The flags whose first vertex is in the class of vertices with the fewest facets, and that have the smallest keys from
/// there on.
fn rare_flags(facets: &Facets, edges: &EdgeDegrees, keys: &[u64]) -> Vec<Flag> {
    let width = facets.dimension() + 1;
    let mut n_facets = vec![0u32; keys.len()];
    facets.iter().flatten().for_each(|&v| n_facets[v as usize] += 1);
    let mut classes: Vec<(u64, u32)> = keys.iter().copied().zip(n_facets).collect();
    classes.sort_unstable();
    let rarest = classes
        .chunk_by(|a, b| a.0 == b.0)
        .map(|class| (class.iter().map(|&(_, facets)| u64::from(facets)).sum::<u64>(), class[0].0))
        .min()
        .map(|(_, key)| key);
    let mut flags: Vec<Flag> = Vec::new();
    for (i, facet) in facets.iter().enumerate() {
        for (place, &v) in facet.iter().enumerate() {
            if Some(keys[v as usize]) == rarest {
                flags.push(Flag { facet: i as u32, places: [place as u8, 0, 0, 0] });
            }
        }
    }
    for length in 1..width {
        let mut least = u64::MAX;
        let mut longer = Vec::with_capacity(flags.len());
        for flag in &flags {
            let facet = facets.get(flag.facet as usize);
            for place in 0..width as u8 {
                let before = &flag.places[..length];
                if before.contains(&place) {
                    continue;
                }
                let v = facet[usize::from(place)];
                let degrees =
                    before.iter().fold(0, |degrees, &u| degrees << 16 | u64::from(edges.get(facet[usize::from(u)], v)));
                let key = mix(keys[v as usize] ^ mix(degrees));
                if key < least {
                    least = key;
                    longer.clear();
                }
                if key == least {
                    let mut flag = *flag;
                    flag.places[length] = place;
                    longer.push(flag);
                }
            }
        }
        flags = longer;
    }
    flags
}

/// The growth of a numbering from a flag, and its code: for each facet in the order of discovery and each ridge of it in
/// the order of the opposite vertex's label, unless the facet beyond is known, the label of that facet's new vertex, or
/// `NONE` on the boundary. The code determines the complex.
struct Growth<'a> {
    facets: &'a Facets,
    width: usize,
    across: Vec<u32>,
    label: Vec<u32>,
    visited: Vec<bool>,
    queue: Vec<u32>,
    code: Vec<u32>,
}

impl<'a> Growth<'a> {
    fn new(facets: &'a Facets, width: usize, across: Vec<u32>) -> Self {
        let label = vec![NONE; facets.n_vertices()];
        let visited = vec![false; facets.len()];
        Self { facets, width, across, label, visited, queue: Vec::new(), code: Vec::new() }
    }

    /// Whether the flag's code is smaller than the best; the labels and the code are whole only then.
    fn grow(&mut self, flag: Flag, best: Option<&[u32]>) -> bool {
        let width = self.width;
        self.label.fill(NONE);
        self.visited.fill(false);
        self.queue.clear();
        self.code.clear();
        let facet = self.facets.get(flag.facet as usize);
        flag.places[..width]
            .iter()
            .enumerate()
            .for_each(|(i, &place)| self.label[facet[usize::from(place)] as usize] = i as u32);
        let mut n_labels = width as u32;
        self.visited[flag.facet as usize] = true;
        self.queue.push(flag.facet);
        let mut smaller = best.is_none();
        let mut next = 0;
        while let Some(&at) = self.queue.get(next) {
            next += 1;
            let facet = self.facets.get(at as usize);
            let mut places = [0, 1, 2, 3];
            places[..width].sort_unstable_by_key(|&place| self.label[facet[place] as usize]);
            for &place in &places[..width] {
                let beyond = self.across[at as usize * width + place];
                let value = if beyond == NONE {
                    NONE
                } else {
                    let neighbor = beyond as usize / width;
                    if self.visited[neighbor] {
                        continue;
                    }
                    self.visited[neighbor] = true;
                    self.queue.push(neighbor as u32);
                    let apex = self.facets.get(neighbor)[beyond as usize % width] as usize;
                    if self.label[apex] == NONE {
                        self.label[apex] = n_labels;
                        n_labels += 1;
                    }
                    self.label[apex]
                };
                if !smaller {
                    // Equal so far, so that the best is as long at least.
                    let known = best.and_then(|best| best.get(self.code.len())).copied().unwrap_or(0);
                    if value > known {
                        return false;
                    }
                    smaller = value < known;
                }
                self.code.push(value);
            }
        }
        smaller
    }
}
