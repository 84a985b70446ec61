//! Nodes of degree 1 and 2: pendant edges, and two edges in series beside what joins their far ends.

use std::collections::{HashMap, VecDeque};

use bonnet_graph::{Graph, Monitor, Reservation};

use super::ResistanceError;
use super::fronts;
use crate::EdgeIds;

const NONE: u32 = u32::MAX;

/// A network that loses nodes. Edges keep their numbers; an edge that joins the ends of a series gets the next one.
struct Network<'a> {
    graph: &'a Graph,
    ids: EdgeIds<'a>,
    /// The number of each edge in the adjacency lists.
    edge_of: Vec<u32>,
    ends: Vec<(u32, u32)>,
    conductances: Vec<f64>,
    /// The new edges: by their endpoints, and those of each node as a list threaded through `next`.
    joined: HashMap<(u32, u32), u32>,
    first: Vec<u32>,
    next: Vec<[u32; 2]>,
    gone: Vec<bool>,
    degrees: Vec<u32>,
}

/// A node that went: its one or two edges, and the edge between the far ends of two.
struct Step {
    first: u32,
    second: u32,
    across: u32,
}

/// The effective resistance between the endpoints of every edge of `graph`.
pub(super) fn resistances(
    graph: &Graph,
    conductances: Vec<f64>,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, ResistanceError> {
    // Per node: flags, degree, lists, steps and new edges; per edge: numbers, ends, conductance and value.
    let _reservation = Reservation::new(monitor, 96 * graph.n_nodes() + 32 * graph.n_edges())?;
    let mut network = Network::new(graph, conductances);
    let mut steps: Vec<Step> = Vec::new();
    let mut queue: VecDeque<u32> = (0..graph.n_nodes() as u32).filter(|&v| graph.degree(v) <= 2).collect();
    let mut taken = 0;
    while let Some(v) = queue.pop_front() {
        taken += 1;
        if taken % 4096 == 0 {
            monitor.check()?;
        }
        if !network.gone[v as usize] {
            steps.extend(network.eliminate(v, &mut queue));
        }
    }

    // What is left has three edges or more at every node.
    let mut values = vec![0.0; network.ends.len()];
    let mut number = vec![NONE; graph.n_nodes()];
    let mut nodes = 0;
    for (number, _) in number.iter_mut().zip(&network.gone).filter(|(_, gone)| !**gone) {
        *number = nodes;
        nodes += 1;
    }
    let left = |id: &usize| {
        let (u, v) = network.ends[*id];
        !network.gone[u as usize] && !network.gone[v as usize]
    };
    let kept: Vec<usize> = (0..network.ends.len()).filter(left).collect();
    let edges: Vec<(u32, u32, f64)> = kept
        .iter()
        .map(|&id| {
            let (u, v) = network.ends[id];
            (number[u as usize], number[v as usize], network.conductances[id])
        })
        .collect();
    for (&id, value) in kept.iter().zip(fronts::resistances(nodes as usize, &edges, monitor)?) {
        values[id] = value;
    }

    for step in steps.iter().rev() {
        let first = network.conductances[step.first as usize];
        if step.second == NONE {
            values[step.first as usize] = 1.0 / first;
            continue;
        }
        // R_ja = 1/d + P_b^2 R_ab with d = w_a + w_b and P_b = w_b / d.
        let second = network.conductances[step.second as usize];
        let (sum, across) = (first + second, values[step.across as usize]);
        let (p_first, p_second) = (first / sum, second / sum);
        values[step.first as usize] = 1.0 / sum + p_second * p_second * across;
        values[step.second as usize] = 1.0 / sum + p_first * p_first * across;
    }
    values.truncate(graph.n_edges());
    Ok(values)
}

impl<'a> Network<'a> {
    fn new(graph: &'a Graph, conductances: Vec<f64>) -> Self {
        let n = graph.n_nodes();
        let ends: Vec<(u32, u32)> = graph.edges().collect();
        let mut next: Vec<usize> = graph.offsets()[..n].to_vec();
        let mut edge_of = vec![0; graph.targets().len()];
        // In this order of edges every list is met from its front: first the smaller neighbours, then the larger.
        for (id, &(u, v)) in ends.iter().enumerate() {
            for end in [u, v] {
                edge_of[next[end as usize]] = id as u32;
                next[end as usize] += 1;
            }
        }
        Self {
            graph,
            ids: EdgeIds::new(graph),
            edge_of,
            ends,
            conductances,
            joined: HashMap::new(),
            first: vec![NONE; n],
            next: Vec::new(),
            gone: vec![false; n],
            degrees: (0..n as u32).map(|v| graph.degree(v) as u32).collect(),
        }
    }

    /// Takes out a node of degree at most 2; its neighbours that come down to that join the queue.
    fn eliminate(&mut self, v: u32, queue: &mut VecDeque<u32>) -> Option<Step> {
        self.gone[v as usize] = true;
        let mut edges = [(NONE, NONE); 2];
        let mut found = 0;
        let start = self.graph.offsets()[v as usize];
        for (i, &u) in self.graph.neighbors(v).iter().enumerate() {
            if !self.gone[u as usize] && found < 2 {
                edges[found] = (u, self.edge_of[start + i]);
                found += 1;
            }
        }
        let mut link = self.first[v as usize];
        while link != NONE {
            let (edge, side) = (link / 2, link % 2);
            let id = self.graph.n_edges() as u32 + edge;
            let (a, b) = self.ends[id as usize];
            let u = if side == 0 { b } else { a };
            if !self.gone[u as usize] && found < 2 {
                edges[found] = (u, id);
                found += 1;
            }
            link = self.next[edge as usize][side as usize];
        }
        let [(a, first), (b, second)] = edges;
        if found == 0 {
            return None;
        }
        if found == 1 {
            self.lower(a, queue);
            return Some(Step { first, second: NONE, across: NONE });
        }
        let (w_a, w_b) = (self.conductances[first as usize], self.conductances[second as usize]);
        let joined = w_a * (w_b / (w_a + w_b));
        let across = match self.between(a, b) {
            Some(id) => {
                self.conductances[id as usize] += joined;
                self.lower(a, queue);
                self.lower(b, queue);
                id
            }
            None => self.join(a, b, joined),
        };
        Some(Step { first, second, across })
    }

    fn lower(&mut self, v: u32, queue: &mut VecDeque<u32>) {
        self.degrees[v as usize] -= 1;
        if self.degrees[v as usize] <= 2 {
            queue.push_back(v);
        }
    }

    fn between(&self, a: u32, b: u32) -> Option<u32> {
        match self.ids.of(a, b) {
            Some(id) => Some(id as u32),
            None => self.joined.get(&(a.min(b), a.max(b))).copied(),
        }
    }

    fn join(&mut self, a: u32, b: u32, conductance: f64) -> u32 {
        let (a, b) = (a.min(b), a.max(b));
        let (id, edge) = (self.ends.len() as u32, self.next.len() as u32);
        self.ends.push((a, b));
        self.conductances.push(conductance);
        self.joined.insert((a, b), id);
        self.next.push([self.first[a as usize], self.first[b as usize]]);
        self.first[a as usize] = 2 * edge;
        self.first[b as usize] = 2 * edge + 1;
        id
    }
}
