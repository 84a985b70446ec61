//! Paths, and the options of a search for them.

/// The algorithm of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PathAlgorithm {
    /// Breadth-first search where all weights are 1, else Dijkstra's: O((n + m) log n) a source; no negative weights.
    #[default]
    Dijkstra,
    /// Bellman and Ford's: O(n m) a source at worst; negative weights, but no cycle of negative length.
    BellmanFord,
}

/// Where paths lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// From a node to every node that paths lead to, itself among them.
    From(u32),
    /// From a node to another.
    Pair(u32, u32),
}

/// Options of [`shortest_paths`](crate::shortest_paths()).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathOptions {
    /// The algorithm of a search.
    pub algorithm: PathAlgorithm,
    /// The number of paths between the ends: the shortest, the next without a node twice, and so on; at least 1.
    pub k: usize,
    /// Whether the paths' nodes are wanted.
    pub nodes: bool,
}

impl Default for PathOptions {
    fn default() -> Self {
        Self { algorithm: PathAlgorithm::Dijkstra, k: 1, nodes: true }
    }
}

/// A path.
#[derive(Debug, Clone, PartialEq)]
pub struct ShortestPath {
    /// Where it begins.
    pub source: u32,
    /// Where it ends.
    pub target: u32,
    /// 1 for a shortest path between its endpoints, 2 for the next, and so on.
    pub rank: usize,
    /// The sum of the weights of its arcs: their number where there are no weights.
    pub distance: f64,
    /// The nodes of the path, both endpoints among them; empty where they were not asked for.
    pub nodes: Vec<u32>,
}
