//! Communities of a flow: what holds together once long edges are cut.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

/// The parts of a graph without its long edges.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowCommunities {
    /// The community of each node, numbered in the order of their first nodes.
    pub of_node: Vec<u32>,
    /// Edges longer than this are cut.
    pub cutoff: f64,
    /// The modularity of the communities in the whole graph, whose edges count alike; NaN without an edge.
    pub modularity: f64,
}

/// The connected components of what is left of `graph` when the edges longer than `cutoff` go; without a cutoff, that length of an edge
/// after which modularity is largest, the smallest of several, or 0 where cutting all is best. Lengths are in the order of [`Graph::edges`];
/// an edge that is gone already has an infinite one.
///
/// O(m log n): edges come in the order of their lengths, and the smaller of two parts is renamed.
///
/// # Errors
/// [`Stopped`].
pub fn flow_communities(
    graph: &Graph,
    lengths: &[f64],
    cutoff: Option<f64>,
    monitor: &dyn Monitor,
) -> Result<FlowCommunities, Stopped> {
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 64 * n + 24 * graph.n_edges())?;
    let mut order: Vec<(f64, (u32, u32))> = lengths.iter().copied().zip(graph.edges()).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.retain(|(length, _)| length.is_finite());
    let last = match cutoff {
        Some(cutoff) => cutoff,
        None => {
            let mut parts = Parts::new(graph);
            // Below all lengths: every edge is cut.
            let (mut best, mut at) = (parts.modularity(), f64::NEG_INFINITY);
            for (i, &(length, (u, v))) in order.iter().enumerate() {
                if i % 4096 == 0 {
                    monitor.check()?;
                }
                parts.join(graph, u, v);
                let goes_on = order.get(i + 1).is_some_and(|next| next.0 == length);
                // Less than rounding is no more.
                if !goes_on && parts.modularity() > best + 1e-12 {
                    (best, at) = (parts.modularity(), length);
                }
            }
            at
        }
    };
    let mut parts = Parts::new(graph);
    for &(_, (u, v)) in order.iter().filter(|(length, _)| *length <= last) {
        parts.join(graph, u, v);
    }
    let mut number = vec![u32::MAX; n];
    let mut next = 0;
    let of_node = (0..n)
        .map(|v| {
            let number = &mut number[parts.part_of[v] as usize];
            if *number == u32::MAX {
                *number = next;
                next += 1;
            }
            *number
        })
        .collect();
    Ok(FlowCommunities { of_node, cutoff: last.max(0.0), modularity: parts.modularity() })
}

/// Parts that grow together, with what modularity needs of them.
struct Parts {
    edges: f64,
    part_of: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// The degrees of each part's nodes.
    degrees: Vec<f64>,
    /// Edges within parts, and the sum of the squares of `degrees`.
    within: f64,
    squares: f64,
}

impl Parts {
    fn new(graph: &Graph) -> Self {
        let n = graph.n_nodes() as u32;
        let degrees: Vec<f64> = (0..n).map(|v| graph.degree(v) as f64).collect();
        Self {
            edges: graph.n_edges() as f64,
            part_of: (0..n).collect(),
            members: (0..n).map(|v| vec![v]).collect(),
            within: 0.0,
            squares: degrees.iter().map(|degree| degree * degree).sum(),
            degrees,
        }
    }

    fn join(&mut self, graph: &Graph, u: u32, v: u32) {
        let (mut small, mut large) = (self.part_of[u as usize], self.part_of[v as usize]);
        if small == large {
            return;
        }
        if self.members[small as usize].len() > self.members[large as usize].len() {
            std::mem::swap(&mut small, &mut large);
        }
        let moved = std::mem::take(&mut self.members[small as usize]);
        let between =
            moved.iter().flat_map(|&v| graph.neighbors(v)).filter(|&&v| self.part_of[v as usize] == large).count();
        self.within += between as f64;
        moved.iter().for_each(|&v| self.part_of[v as usize] = large);
        self.members[large as usize].extend(moved);
        let (a, b) = (self.degrees[small as usize], self.degrees[large as usize]);
        self.squares += 2.0 * a * b;
        self.degrees[large as usize] = a + b;
    }

    fn modularity(&self) -> f64 {
        self.within / self.edges - self.squares / (4.0 * self.edges * self.edges)
    }
}
