//! Numberings by colour refinement and a search tree: for any complex.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::{mix, relabelled};
use crate::Facets;

/// The label of each vertex. A node of the search tree is a sequence of vertices that were told apart by hand, and the
/// equitable colouring that follows from it. A leaf has a colour for each vertex: its labels. The canonical leaf has the
/// smallest sequence of colourings, then the smallest list of facets.
pub(super) fn labels(facets: &Facets, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
    let n = facets.n_vertices();
    let entries: usize = facets.iter().map(<[u32]>::len).sum();
    let _reservation = Reservation::new(monitor, 40 * n + 16 * entries + 8 * facets.len())?;
    let mut tree = Tree { colouring: Colouring::new(facets), facets, best: None, automorphisms: Vec::new() };
    let mut colours = vec![0; n];
    let trace = tree.colouring.refine(&mut colours);
    let mut path = vec![tree.node(colours, trace)];
    let mut depth_room = Vec::new();
    while let Some(level) = path.len().checked_sub(1) {
        monitor.check()?;
        if path[level].cell.is_empty() {
            let up = tree.leaf(&path);
            path.truncate(up);
            depth_room.truncate(up);
            continue;
        }
        let Some(vertex) = tree.next_child(&mut path) else {
            path.pop();
            depth_room.truncate(path.len());
            continue;
        };
        let mut colours = path[level].colours.clone();
        let trace = tree.colouring.individualise(&mut colours, vertex);
        let child = tree.node(colours, trace);
        if tree.worth(&path, trace) {
            depth_room.push(Reservation::new(monitor, 8 * n)?);
            path.push(child);
        }
    }
    match tree.best {
        Some(best) => Ok(best.labels),
        // A tree without leaves has no vertices either.
        None => Ok(Vec::new()),
    }
}

struct Node {
    colours: Vec<u32>,
    trace: u64,
    /// The vertices of the smallest colour class of two or more that will be told apart; none at a leaf.
    cell: Vec<u32>,
    /// The number of those that have been tried or skipped; the last one tried is the path's.
    tried: usize,
    /// Whether all vertices of the class are in the same facets, so that one stands for all.
    twins: bool,
}

impl Node {
    fn vertex(&self) -> u32 {
        self.cell[self.tried - 1]
    }
}

struct Leaf {
    traces: Vec<u64>,
    /// The vertices told apart by hand.
    vertices: Vec<u32>,
    labels: Vec<u32>,
    form: Vec<Vec<u32>>,
}

struct Tree<'a> {
    facets: &'a Facets,
    colouring: Colouring<'a>,
    best: Option<Leaf>,
    /// Permutations of the vertices.
    automorphisms: Vec<Vec<u32>>,
}

impl Tree<'_> {
    fn node(&self, colours: Vec<u32>, trace: u64) -> Node {
        let mut sizes = vec![0u32; colours.len()];
        colours.iter().for_each(|&colour| sizes[colour as usize] += 1);
        let smallest = (0..sizes.len()).filter(|&colour| sizes[colour] > 1).min_by_key(|&colour| sizes[colour]);
        let cell: Vec<u32> = match smallest {
            Some(smallest) => (0..colours.len() as u32).filter(|&v| colours[v as usize] as usize == smallest).collect(),
            None => Vec::new(),
        };
        let facets_of = |v: u32| &self.colouring.facets_of[v as usize];
        let twins = cell.windows(2).all(|pair| facets_of(pair[0]) == facets_of(pair[1]));
        Node { colours, trace, cell, tried: 0, twins }
    }

    /// The next vertex to tell apart at the end of the path: not one that a known automorphism maps to an earlier one.
    fn next_child(&self, path: &mut [Node]) -> Option<u32> {
        let level = path.len() - 1;
        let fixed: Vec<u32> = path[..level].iter().map(Node::vertex).collect();
        let node = &mut path[level];
        let candidates = if node.twins { 1 } else { node.cell.len() };
        while node.tried < candidates {
            let vertex = node.cell[node.tried];
            node.tried += 1;
            if node.tried == 1 || !self.in_orbit_of(vertex, &node.cell[..node.tried - 1], &fixed) {
                return Some(vertex);
            }
        }
        None
    }

    /// Whether the known automorphisms that fix some vertices map one of `earlier` to `vertex`.
    fn in_orbit_of(&self, vertex: u32, earlier: &[u32], fixed: &[u32]) -> bool {
        let stabiliser: Vec<&Vec<u32>> = self
            .automorphisms
            .iter()
            .filter(|permutation| fixed.iter().all(|&v| permutation[v as usize] == v))
            .collect();
        let mut reached = vec![false; self.facets.n_vertices()];
        let mut stack = vec![vertex];
        reached[vertex as usize] = true;
        while let Some(v) = stack.pop() {
            if earlier.contains(&v) {
                return true;
            }
            for permutation in &stabiliser {
                let image = permutation[v as usize];
                if !std::mem::replace(&mut reached[image as usize], true) {
                    stack.push(image);
                }
            }
        }
        false
    }

    /// Whether a child of this trace may lead to the canonical leaf.
    fn worth(&mut self, path: &[Node], trace: u64) -> bool {
        let Some(best) = &self.best else { return true };
        let traces = path.iter().map(|node| node.trace).chain([trace]);
        // A shorter best path that agrees so far ends in a leaf where this one goes on: traces tell the two apart.
        traces.cmp(best.traces.iter().copied().take(path.len() + 1)).is_le()
    }

    /// Looks at the leaf at the end of the path, and says how long a path to keep.
    fn leaf(&mut self, path: &[Node]) -> usize {
        let level = path.len() - 1;
        let traces: Vec<u64> = path.iter().map(|node| node.trace).collect();
        let vertices: Vec<u32> = path[..level].iter().map(Node::vertex).collect();
        let labels = path[level].colours.clone();
        let form = relabelled(self.facets, &labels);
        if let Some(best) = &self.best {
            let order = traces.cmp(&best.traces).then_with(|| form.cmp(&best.form));
            if order.is_gt() {
                return level;
            }
            if order.is_eq() {
                let mut vertex_of = vec![0; labels.len()];
                labels.iter().enumerate().for_each(|(v, &label)| vertex_of[label as usize] = v as u32);
                self.automorphisms.push(best.labels.iter().map(|&label| vertex_of[label as usize]).collect());
                // The automorphism maps the best leaf's subtree, where the two paths part, onto this one's.
                return vertices.iter().zip(&best.vertices).take_while(|(a, b)| a == b).count() + 1;
            }
        }
        self.best = Some(Leaf { traces, vertices, labels, form });
        level
    }
}

/// Colours of vertices, refined until vertices of a colour see the same colours.
struct Colouring<'a> {
    facets: &'a Facets,
    facets_of: Vec<Vec<u32>>,
    facet_keys: Vec<u64>,
    keys: Vec<(u32, u64, u32)>,
}

impl<'a> Colouring<'a> {
    fn new(facets: &'a Facets) -> Self {
        let mut facets_of = vec![Vec::new(); facets.n_vertices()];
        for (i, facet) in facets.iter().enumerate() {
            facet.iter().for_each(|&v| facets_of[v as usize].push(i as u32));
        }
        Self { facets, facets_of, facet_keys: vec![0; facets.len()], keys: Vec::new() }
    }

    /// Refines the colours, numbered without gaps from 0, by the multisets of colours in the facets of each vertex.
    /// Answers a number made of the colourings on the way, the same for isomorphic ones.
    fn refine(&mut self, colours: &mut [u32]) -> u64 {
        let mut n_colours = 0;
        let mut trace = 0;
        loop {
            for (key, facet) in self.facet_keys.iter_mut().zip(self.facets.iter()) {
                let sum = facet.iter().fold(0u64, |sum, &v| sum.wrapping_add(mix(u64::from(colours[v as usize]))));
                *key = mix(sum ^ (facet.len() as u64) << 48);
            }
            self.keys.clear();
            for (v, facets) in self.facets_of.iter().enumerate() {
                let sum = facets.iter().fold(0u64, |sum, &f| sum.wrapping_add(mix(self.facet_keys[f as usize])));
                self.keys.push((colours[v], sum, v as u32));
            }
            self.keys.sort_unstable();
            let mut colour = 0;
            for i in 0..self.keys.len() {
                let (old, key, v) = self.keys[i];
                if i > 0 && (old, key) != (self.keys[i - 1].0, self.keys[i - 1].1) {
                    colour += 1;
                }
                trace = mix(trace ^ mix(key ^ u64::from(colour)));
                colours[v as usize] = colour;
            }
            if colour + 1 == n_colours {
                return trace;
            }
            n_colours = colour + 1;
        }
    }

    /// Gives a vertex a colour before the others of its class, and refines.
    fn individualise(&mut self, colours: &mut [u32], vertex: u32) -> u64 {
        let colour = colours[vertex as usize];
        for (v, other) in colours.iter_mut().enumerate() {
            if *other > colour || (*other == colour && v as u32 != vertex) {
                *other += 1;
            }
        }
        self.refine(colours)
    }
}
