//! Compressed sparse rows behind petgraph's traits: what its algorithms ask of a graph, answered from our lists.

use std::marker::PhantomData;
use std::ops::Range;

use fixedbitset::FixedBitSet;
use petgraph::data::DataMap;
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::{
    Data, EdgeCount, EdgeIndexable, EdgeRef, GetAdjacencyMatrix, GraphBase, GraphProp, GraphRef, IntoEdgeReferences,
    IntoEdges, IntoEdgesDirected, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, IntoNodeReferences,
    NodeCompactIndexable, NodeCount, NodeIndexable, Visitable,
};
use petgraph::{Directed, Direction, EdgeType, Undirected};

use crate::petgraph_watch::Watch;

/// The number of an arc: its position among all lists of successors. An edge of an undirected graph has the number of its arc
/// from the smaller endpoint, whichever endpoint it is met from.
pub type ArcId = EdgeIndex<usize>;

/// The lists of one side of a graph: where each node's list starts, `n + 1` entries, and all lists one after the other.
pub type Lists<'a> = (&'a [usize], &'a [u32]);

/// A weight for every arc of a graph without weights.
const NO_WEIGHTS: &[()] = &[(); usize::MAX];

/// A graph in compressed sparse rows as petgraph's algorithms read it, without a copy; `Ty` says whether it is directed, `W`
/// is the type of its weights. It is a few references, passed by value.
///
/// An arc met at its head has no number until one is asked for: `id` and `weight` then search, O(log degree).
pub struct View<'a, Ty, W = ()> {
    out: Lists<'a>,
    into: Lists<'a>,
    weights: &'a [W],
    watch: Option<&'a Watch<'a>>,
    kind: PhantomData<Ty>,
}

impl<Ty, W> Clone for View<'_, Ty, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Ty, W> Copy for View<'_, Ty, W> {}

impl<'a> View<'a, Undirected> {
    /// An undirected graph: each edge stands in the lists of both its endpoints. Each list is sorted, without repeats.
    pub fn undirected(neighbors: Lists<'a>) -> Self {
        Self { out: neighbors, into: neighbors, weights: NO_WEIGHTS, watch: None, kind: PhantomData }
    }
}

impl<'a> View<'a, Directed> {
    /// A directed graph: the successors of each node, and its predecessors. Each list is sorted, without repeats.
    pub fn directed(successors: Lists<'a>, predecessors: Lists<'a>) -> Self {
        Self { out: successors, into: predecessors, weights: NO_WEIGHTS, watch: None, kind: PhantomData }
    }
}

impl<'a, Ty: EdgeType, W> View<'a, Ty, W> {
    /// The same graph with a weight for every arc, in the order of the lists of successors; both arcs of an edge of an
    /// undirected graph have the same.
    ///
    /// # Panics
    /// If there are not as many weights as arcs.
    pub fn weighted<V>(self, weights: &'a [V]) -> View<'a, Ty, V> {
        assert_eq!(weights.len(), self.out.1.len(), "one weight for each arc");
        View { out: self.out, into: self.into, weights, watch: self.watch, kind: PhantomData }
    }

    /// The same graph under a watch: algorithms that read it stop when the monitor says so.
    pub(crate) fn under(self, watch: &'a Watch<'a>) -> Self {
        Self { watch: Some(watch), ..self }
    }

    fn tick(self) {
        if let Some(watch) = self.watch {
            watch.tick();
        }
    }

    fn side(self, direction: Direction) -> Lists<'a> {
        match direction {
            Direction::Outgoing => self.out,
            Direction::Incoming => self.into,
        }
    }

    /// The positions of the list of `v` on a side.
    fn range(side: Lists<'a>, v: NodeIndex) -> Range<usize> {
        side.0[v.index()]..side.0[v.index() + 1]
    }

    fn list(self, direction: Direction, v: NodeIndex) -> Neighbors<'a> {
        self.tick();
        let side = self.side(direction);
        Neighbors { nodes: side.1[Self::range(side, v)].iter() }
    }

    fn arcs(self, direction: Direction, v: NodeIndex) -> Edges<'a, Ty, W> {
        self.tick();
        Edges { view: self, direction, node: v, at: Self::range(self.side(direction), v) }
    }

    /// The position of the arc from `u` to `v`; as an error, where it would be.
    fn position(self, u: NodeIndex, v: NodeIndex) -> Result<usize, usize> {
        let range = Self::range(self.out, u);
        let start = range.start;
        let found = self.out.1[range].binary_search(&(v.index() as u32));
        found.map(|at| start + at).map_err(|at| start + at)
    }
}

/// The neighbours of a node, in ascending order.
#[derive(Debug, Clone)]
pub struct Neighbors<'a> {
    nodes: std::slice::Iter<'a, u32>,
}

impl Iterator for Neighbors<'_> {
    type Item = NodeIndex;

    fn next(&mut self) -> Option<NodeIndex> {
        self.nodes.next().map(|&v| NodeIndex::new(v as usize))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.nodes.size_hint()
    }
}

/// All nodes.
pub type Nodes = std::iter::Map<Range<usize>, fn(usize) -> NodeIndex>;

/// All nodes with their weights, which are none.
pub type NodeReferences = std::iter::Map<Range<usize>, fn(usize) -> (NodeIndex, &'static ())>;

/// An arc, or an edge of an undirected graph met from `source`.
pub struct Edge<'a, Ty, W> {
    view: View<'a, Ty, W>,
    source: NodeIndex,
    target: NodeIndex,
    /// The position among the lists of successors, where it is known.
    at: Option<usize>,
}

impl<Ty, W> Clone for Edge<'_, Ty, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Ty, W> Copy for Edge<'_, Ty, W> {}

impl<Ty: EdgeType, W> Edge<'_, Ty, W> {
    fn position(&self) -> usize {
        // An edge stands in the list of its source.
        self.at.unwrap_or_else(|| self.view.position(self.source, self.target).unwrap_or_else(|at| at))
    }
}

impl<'a, Ty: EdgeType, W> EdgeRef for Edge<'a, Ty, W> {
    type NodeId = NodeIndex;
    type EdgeId = ArcId;
    type Weight = W;

    fn source(&self) -> NodeIndex {
        self.source
    }

    fn target(&self) -> NodeIndex {
        self.target
    }

    fn weight(&self) -> &W {
        &self.view.weights[self.position()]
    }

    fn id(&self) -> ArcId {
        let turned = !Ty::is_directed() && self.source > self.target;
        let at = if turned { self.view.position(self.target, self.source).ok() } else { None };
        EdgeIndex::new(at.unwrap_or_else(|| self.position()))
    }
}

/// The arcs of a node.
pub struct Edges<'a, Ty, W> {
    view: View<'a, Ty, W>,
    direction: Direction,
    node: NodeIndex,
    at: Range<usize>,
}

impl<'a, Ty: EdgeType, W> Iterator for Edges<'a, Ty, W> {
    type Item = Edge<'a, Ty, W>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at.next()?;
        let other = NodeIndex::new(self.view.side(self.direction).1[at] as usize);
        Some(match self.direction {
            Direction::Outgoing => Edge { view: self.view, source: self.node, target: other, at: Some(at) },
            Direction::Incoming => Edge { view: self.view, source: other, target: self.node, at: None },
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.at.size_hint()
    }
}

/// All arcs in ascending order; each edge of an undirected graph once, from its smaller endpoint.
pub struct EdgeReferences<'a, Ty, W> {
    view: View<'a, Ty, W>,
    source: usize,
    at: usize,
}

impl<'a, Ty: EdgeType, W> Iterator for EdgeReferences<'a, Ty, W> {
    type Item = Edge<'a, Ty, W>;

    fn next(&mut self) -> Option<Self::Item> {
        let (offsets, targets) = self.view.out;
        while let Some(&target) = targets.get(self.at) {
            let at = self.at;
            self.at += 1;
            while offsets[self.source + 1] <= at {
                self.source += 1;
            }
            if Ty::is_directed() || self.source <= target as usize {
                self.view.tick();
                let (source, target) = (NodeIndex::new(self.source), NodeIndex::new(target as usize));
                return Some(Edge { view: self.view, source, target, at: Some(at) });
            }
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.view.out.1.len() - self.at;
        (if Ty::is_directed() { left } else { 0 }, Some(left))
    }
}

impl<Ty: EdgeType, W> GraphBase for View<'_, Ty, W> {
    type EdgeId = ArcId;
    type NodeId = NodeIndex;
}

impl<Ty: EdgeType, W> GraphRef for View<'_, Ty, W> {}

impl<Ty: EdgeType, W> Data for View<'_, Ty, W> {
    type NodeWeight = ();
    type EdgeWeight = W;
}

impl<Ty: EdgeType, W> DataMap for View<'_, Ty, W> {
    fn node_weight(&self, id: NodeIndex) -> Option<&()> {
        (id.index() < self.node_bound()).then_some(&())
    }

    fn edge_weight(&self, id: ArcId) -> Option<&W> {
        self.weights.get(id.index())
    }
}

impl<Ty: EdgeType, W> GraphProp for View<'_, Ty, W> {
    type EdgeType = Ty;
}

impl<Ty: EdgeType, W> NodeCount for View<'_, Ty, W> {
    fn node_count(&self) -> usize {
        self.out.0.len() - 1
    }
}

impl<Ty: EdgeType, W> NodeIndexable for View<'_, Ty, W> {
    fn node_bound(&self) -> usize {
        self.node_count()
    }

    fn to_index(&self, v: NodeIndex) -> usize {
        v.index()
    }

    fn from_index(&self, i: usize) -> NodeIndex {
        NodeIndex::new(i)
    }
}

impl<Ty: EdgeType, W> NodeCompactIndexable for View<'_, Ty, W> {}

impl<Ty: EdgeType, W> EdgeCount for View<'_, Ty, W> {
    fn edge_count(&self) -> usize {
        let arcs = self.out.1.len();
        if Ty::is_directed() { arcs } else { arcs / 2 }
    }
}

// Not for undirected graphs: algorithms of flows expect the numbers of edges to be below their count, and there every edge
// has two positions.
impl<W> EdgeIndexable for View<'_, Directed, W> {
    fn edge_bound(&self) -> usize {
        self.out.1.len()
    }

    fn to_index(&self, arc: ArcId) -> usize {
        arc.index()
    }

    fn from_index(&self, i: usize) -> ArcId {
        EdgeIndex::new(i)
    }
}

impl<Ty: EdgeType, W> IntoNodeIdentifiers for View<'_, Ty, W> {
    type NodeIdentifiers = Nodes;

    fn node_identifiers(self) -> Nodes {
        (0..self.node_count()).map(NodeIndex::new)
    }
}

impl<Ty: EdgeType, W> IntoNodeReferences for View<'_, Ty, W> {
    type NodeRef = (NodeIndex, &'static ());
    type NodeReferences = NodeReferences;

    fn node_references(self) -> NodeReferences {
        (0..self.node_count()).map(|v| (NodeIndex::new(v), &()))
    }
}

impl<'a, Ty: EdgeType, W> IntoNeighbors for View<'a, Ty, W> {
    type Neighbors = Neighbors<'a>;

    fn neighbors(self, v: NodeIndex) -> Neighbors<'a> {
        self.list(Direction::Outgoing, v)
    }
}

impl<'a, Ty: EdgeType, W> IntoNeighborsDirected for View<'a, Ty, W> {
    type NeighborsDirected = Neighbors<'a>;

    fn neighbors_directed(self, v: NodeIndex, direction: Direction) -> Neighbors<'a> {
        self.list(direction, v)
    }
}

impl<'a, Ty: EdgeType, W> IntoEdgeReferences for View<'a, Ty, W> {
    type EdgeRef = Edge<'a, Ty, W>;
    type EdgeReferences = EdgeReferences<'a, Ty, W>;

    fn edge_references(self) -> EdgeReferences<'a, Ty, W> {
        EdgeReferences { view: self, source: 0, at: 0 }
    }
}

impl<'a, Ty: EdgeType, W> IntoEdges for View<'a, Ty, W> {
    type Edges = Edges<'a, Ty, W>;

    fn edges(self, v: NodeIndex) -> Edges<'a, Ty, W> {
        self.arcs(Direction::Outgoing, v)
    }
}

impl<'a, Ty: EdgeType, W> IntoEdgesDirected for View<'a, Ty, W> {
    type EdgesDirected = Edges<'a, Ty, W>;

    fn edges_directed(self, v: NodeIndex, direction: Direction) -> Edges<'a, Ty, W> {
        self.arcs(direction, v)
    }
}

impl<Ty: EdgeType, W> Visitable for View<'_, Ty, W> {
    type Map = FixedBitSet;

    fn visit_map(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(self.node_count())
    }

    fn reset_map(&self, map: &mut FixedBitSet) {
        self.tick();
        map.clear();
        map.grow(self.node_count());
    }
}

impl<Ty: EdgeType, W> GetAdjacencyMatrix for View<'_, Ty, W> {
    /// Adjacency is looked up in the sorted lists.
    type AdjMatrix = ();

    fn adjacency_matrix(&self) {}

    fn is_adjacent(&self, (): &(), u: NodeIndex, v: NodeIndex) -> bool {
        self.tick();
        self.position(u, v).is_ok()
    }
}
