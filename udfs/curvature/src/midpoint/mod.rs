//! Midpoint curvature of nodes (CurvBench, Eq. 1-3), exact over all anchors or estimated from sampled ones.
//!
//! A centre m of degree k >= 2, an anchor a at distance D from it and a pair {b, c} of its neighbours have the residual
//!
//! ```text
//! xi(a, b, c; m) = (d(a,m)^2 + d(b,c)^2 / 4 - (d(a,b)^2 + d(a,c)^2) / 2) / (2 d(a,m))
//! ```
//!
//! and the curvature of m is its mean over pairs and anchors. No pair is ever enumerated against an anchor. In an
//! undirected graph d(a,b) is D - 1, D or D + 1; if l, s and u of the neighbours are that far from a, and L of the
//! P = k (k-1)/2 pairs are adjacent, the mean over pairs is
//!
//! ```text
//! (l - u) / k  +  s / (2 k D)  -  3 L / (8 P D)
//! ```
//!
//! so one breadth-first search an anchor gives all there is to know. With F(x) the sum of distances from all anchors,
//! H(x) that of their inverses, and E(m) the sum of 1/D over anchors and neighbours at the same distance D,
//!
//! ```text
//! sum over anchors = (k F(m) - sum of F(y) over neighbours y + k) / k  +  E(m) / (2 k)  -  3 L H(m) / (8 P)
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `undirected` | the sum above for every node of an undirected graph |
//! | `plan` | what is known of it before the first search, which calls on one graph share |
//! | `pendant` | trees hanging off the rest, stripped exactly |
//! | `core` | F, H and E of what remains: small parts by plain search, large ones by 512 searches at once |
//! | `order` | the order of nodes and anchors that keeps such a batch together |
//! | `batch`, `lanes` | the sweep over 512 searches at once |
//! | `tally` | what a sweep counts |
//! | `sampled`, `sampling`, `spread` | estimates from a sample of anchors, with standard errors |
//! | `directed` | distances along arcs |
//! | `lengths` | distances where edges have lengths |
//! | `adjacency`, `members`, `centre`, `fixed` | the graph of a search, the nodes of components, the numbers of one centre, inverse distances as integers |

mod adjacency;
mod batch;
mod centre;
mod core;
mod directed;
mod fixed;
mod lanes;
mod lengths;
mod members;
mod order;
mod pendant;
mod plan;
mod sampled;
mod sampling;
mod spread;
mod tally;
#[cfg(test)]
mod tests;
mod undirected;

use bonnet_graph::{Graph, Monitor, Stopped};

use bonnet_graph::isa::Isa;
pub use lengths::weighted_midpoint_curvature;
pub use plan::MidpointPlan;
pub(crate) use sampling::SplitMix64;

/// Options of [`midpoint_curvature`]. The default is the definition of the paper.
#[derive(Debug, Clone, PartialEq)]
pub struct MidpointOptions {
    /// Divide by the largest finite distance (Eq. 3). With `unreachable`, by the largest distance after unreachable
    /// pairs were given theirs.
    pub relative: bool,
    /// Sample this many anchors, uniformly and without replacement: in each connected component of an undirected
    /// graph (all, of a component with no more nodes), or among all nodes of a directed one. `None`: all anchors.
    pub anchors: Option<usize>,
    /// Of the sample.
    pub seed: u64,
    /// Read arcs as arcs: N(m) are the out-neighbours of m, d(a, x) runs from the anchor along arcs, d(b, c) along
    /// arcs from b to c where b comes before c in the order of node numbers.
    pub directed: bool,
    /// A loop at m puts m among its own neighbours. Distances do not change.
    pub self_loops: bool,
    /// Unreachable pairs have this many times the largest finite distance, and every anchor counts. `None`: anchors
    /// that do not reach m, and pairs of neighbours without a finite distance, are left out.
    pub unreachable: Option<f64>,
}

impl Default for MidpointOptions {
    fn default() -> Self {
        Self { relative: true, anchors: None, seed: 0, directed: false, self_loops: false, unreachable: None }
    }
}

/// The midpoint curvature of every node.
#[derive(Debug, Clone, PartialEq)]
pub struct MidpointCurvature {
    /// By node: 0 for a node without two neighbours, or without a valid pair or anchor; `None` where the sample holds
    /// no anchor that reaches the node.
    pub curvature: Vec<Option<f64>>,
    /// Of a sample only: by node, 0 where the value is exact, `None` where there is no value, or too few anchors
    /// (fewer than two groups of 16) to say.
    pub standard_error: Option<Vec<Option<f64>>>,
    /// The largest finite distance met: the diameter, or a lower bound of it where anchors were sampled.
    pub diameter: u32,
}

/// Why there is no midpoint curvature.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MidpointError {
    /// The host ended the computation.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// A sample of no anchors.
    #[error("anchors is 0; sample at least one anchor, or leave the option out for all of them")]
    NoAnchors,
    /// A factor for unreachable pairs that gives no distance.
    #[error("unreachable is {0}; give a positive number: unreachable pairs are that many largest distances apart")]
    Unreachable(f64),
    /// There is not one length for each edge: how many edges and how many values there are.
    #[error("{0} edges and {1} lengths: one is needed for each edge")]
    Lengths(usize, usize),
    /// The length of an edge is not a positive finite number: its endpoints and the value.
    #[error("the edge ({src}, {dst}) has the length {length}: expected a positive finite number")]
    Length {
        /// The smaller endpoint.
        src: u32,
        /// The larger endpoint.
        dst: u32,
        /// The value.
        length: f64,
    },
    /// An arc that leads out of the graph.
    #[error("arc {arc} joins nodes {from} and {to}, but there are only {nodes} nodes")]
    NodeOutOfRange {
        /// The arc's position in the list, from 0.
        arc: usize,
        /// Where it starts.
        from: u32,
        /// Where it ends.
        to: u32,
        /// The number of nodes.
        nodes: usize,
    },
    /// Node numbers have 32 bits.
    #[error("{0} nodes are more than the 4294967295 that node numbers can tell apart")]
    TooManyNodes(usize),
}

/// The midpoint curvature of the graph with nodes `0..n` under a list of arcs, which may hold loops and repeats. Node
/// numbers are in key order (it matters with `directed` alone).
///
/// Cost, for n nodes and m edges: undirected O(n (n + m) L / 512) word operations of 512 bits for searches of L levels
/// (fewer where they run through few nodes at a time), and the same with n replaced by the number of sampled anchors;
/// triangles O(m^1.5). Memory O(n + m), and about 250 bytes a node for each thread. Directed: O(n (n + m)) plus
/// the sum of squared out-degrees, sampled or not (distances between neighbours need a search from every node).
///
/// The answer is the same to the last bit for every number of threads and every processor.
///
/// # Errors
/// See [`MidpointError`].
pub fn midpoint_curvature(
    n: usize,
    arcs: &[(u32, u32)],
    options: &MidpointOptions,
    monitor: &dyn Monitor,
) -> Result<MidpointCurvature, MidpointError> {
    midpoint_curvature_on(n, arcs, options, &Host { monitor, isa: Isa::detect() })
}

/// The same of the undirected graph of the arcs, which is there already. `directed` does not count.
///
/// # Errors
/// See [`MidpointError`].
pub fn midpoint_curvature_of_graph(
    graph: &Graph,
    arcs: &[(u32, u32)],
    options: &MidpointOptions,
    monitor: &dyn Monitor,
) -> Result<MidpointCurvature, MidpointError> {
    check(graph.n_nodes(), arcs, options)?;
    let raw = undirected::of_graph(graph, arcs, options, &Host { monitor, isa: Isa::detect() })?;
    Ok(raw.finish(options))
}

/// The monitor and the instruction set of a kernel.
#[derive(Clone, Copy)]
struct Host<'a> {
    monitor: &'a dyn Monitor,
    isa: Isa,
}

/// A curvature before Eq. 3, and what is to be known of it.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    value: Option<f64>,
    standard_error: Option<f64>,
}

impl Estimate {
    /// A value without error.
    fn exact(value: f64) -> Self {
        Self { value: Some(value), standard_error: Some(0.0) }
    }
}

/// The result of the undirected and the directed kernel.
struct Raw {
    nodes: Vec<Estimate>,
    diameter: u32,
    /// Whether some distance was unreachable.
    unreached: bool,
}

impl Raw {
    /// Divides by the largest distance (Eq. 3), where the options say so.
    fn finish(self, options: &MidpointOptions) -> MidpointCurvature {
        let Self { nodes, diameter, unreached } = self;
        let mut scale = 1.0;
        if options.relative {
            let mut largest = f64::from(diameter);
            if let (Some(factor), true) = (options.unreachable, unreached) {
                largest = largest.max(factor * largest);
            }
            // Without a distance there is no pair of neighbours, and every curvature is 0.
            if largest > 0.0 {
                scale = largest;
            }
        }
        let errors = || nodes.iter().map(|node| Some(node.standard_error? / scale)).collect();
        MidpointCurvature {
            curvature: nodes.iter().map(|node| Some(node.value? / scale)).collect(),
            standard_error: options.anchors.is_some().then(errors),
            diameter,
        }
    }
}

fn midpoint_curvature_on(
    n: usize,
    arcs: &[(u32, u32)],
    options: &MidpointOptions,
    host: &Host,
) -> Result<MidpointCurvature, MidpointError> {
    check(n, arcs, options)?;
    let raw = if options.directed {
        directed::curvature(n, arcs, options, host)?
    } else {
        undirected::curvature(n, arcs, options, host)?
    };
    Ok(raw.finish(options))
}

fn check(n: usize, arcs: &[(u32, u32)], options: &MidpointOptions) -> Result<(), MidpointError> {
    if n > u32::MAX as usize {
        return Err(MidpointError::TooManyNodes(n));
    }
    if options.anchors == Some(0) {
        return Err(MidpointError::NoAnchors);
    }
    if let Some(factor) = options.unreachable
        && !(factor.is_finite() && factor > 0.0)
    {
        return Err(MidpointError::Unreachable(factor));
    }
    match arcs.iter().position(|&(from, to)| from as usize >= n || to as usize >= n) {
        None => Ok(()),
        Some(arc) => Err(MidpointError::NodeOutOfRange { arc, from: arcs[arc].0, to: arcs[arc].1, nodes: n }),
    }
}
