//! In what order nodes are eliminated, and which of them together.

use faer::Side;
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholeskyRaw, SymmetricOrdering, factorize_symbolic_cholesky,
};

use super::ResistanceError;
use bonnet_graph::Stopped;

/// Up to this size, a network is one front: an ordering would cost more than it saves.
const ONE_FRONT: usize = 40;

/// Groups of nodes that are eliminated together, children before parents.
#[derive(Debug)]
pub(super) struct Order {
    /// The position of each node in the order of elimination.
    pub(super) place_of: Vec<u32>,
    /// Where the positions of each group start; one more than there are groups.
    pub(super) starts: Vec<u32>,
    /// The positions, beyond its own, that a group is joined to when it is eliminated: `borders[border_starts[g]..]`, ascending.
    border_starts: Vec<usize>,
    borders: Vec<u32>,
    /// The group that holds the first position of a group's border.
    pub(super) parents: Vec<Option<u32>>,
}

impl Order {
    /// Orders the nodes `0..n` under these edges by approximate minimum degree (Amestoy, Davis and Duff 1996).
    pub(super) fn new(n: usize, edges: &[(u32, u32, f64)]) -> Result<Self, ResistanceError> {
        if n <= ONE_FRONT {
            let place_of = (0..n as u32).collect();
            let starts = if n == 0 { vec![0] } else { vec![0, n as u32] };
            return Ok(Self::with_parents(place_of, starts, vec![0; 2], Vec::new()));
        }
        // The lower triangle with its diagonal, column by column.
        let mut columns = vec![0usize; n + 1];
        for &(u, v, _) in edges {
            columns[u.min(v) as usize + 1] += 1;
        }
        for v in 0..n {
            columns[v + 1] += columns[v] + 1;
        }
        let mut next = columns[..n].to_vec();
        let mut rows = vec![0usize; columns[n]];
        let diagonal = (0..n as u32).map(|v| (v, v));
        for (u, v) in diagonal.chain(edges.iter().map(|&(u, v, _)| (u.min(v), u.max(v)))) {
            rows[next[u as usize]] = v as usize;
            next[u as usize] += 1;
        }
        for v in 0..n {
            rows[columns[v]..columns[v + 1]].sort_unstable();
        }
        let matrix = SymbolicSparseColMatRef::new_checked(n, n, &columns, None, &rows);
        let parameters = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..CholeskySymbolicParams::default()
        };
        let symbolic = factorize_symbolic_cholesky(matrix, Side::Lower, SymmetricOrdering::Amd, parameters)
            .map_err(|error| Stopped::OutOfMemory(format!("no elimination order for {n} nodes: {error:?}")))?;
        let place_of = match symbolic.perm() {
            Some(order) => order.arrays().1.iter().map(|&place| place as u32).collect(),
            None => (0..n as u32).collect(),
        };
        let (mut starts, mut border_starts, mut borders) = (vec![0], vec![0], Vec::new());
        let mut group = |end: usize, border: &mut dyn Iterator<Item = usize>| {
            starts.push(end as u32);
            let start = borders.len();
            borders.extend(border.map(|place| place as u32));
            borders[start..].sort_unstable();
            border_starts.push(borders.len());
        };
        match symbolic.raw() {
            SymbolicCholeskyRaw::Supernodal(groups) => {
                for (g, &end) in groups.supernode_end().iter().enumerate() {
                    group(end, &mut groups.supernode(g).pattern().iter().copied());
                }
            }
            SymbolicCholeskyRaw::Simplicial(columns) => {
                for v in 0..n {
                    let rows = &columns.row_idx()[columns.col_ptr()[v]..columns.col_ptr()[v + 1]];
                    group(v + 1, &mut rows.iter().copied().filter(|&row| row > v));
                }
            }
        }
        Ok(Self::with_parents(place_of, starts, border_starts, borders))
    }

    fn with_parents(place_of: Vec<u32>, starts: Vec<u32>, border_starts: Vec<usize>, borders: Vec<u32>) -> Self {
        let mut order = Self { place_of, starts, border_starts, borders, parents: Vec::new() };
        let holder = |place: u32| order.starts.partition_point(|&start| start <= place) as u32 - 1;
        order.parents = (0..order.len()).map(|group| order.border(group).first().map(|&place| holder(place))).collect();
        order
    }

    /// The number of groups.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The positions of a group.
    pub(super) fn own(&self, group: usize) -> std::ops::Range<u32> {
        self.starts[group]..self.starts[group + 1]
    }

    /// The positions beyond its own that a group is joined to.
    pub(super) fn border(&self, group: usize) -> &[u32] {
        &self.borders[self.border_starts[group]..self.border_starts[group + 1]]
    }

    /// The sides of a group's front: its own positions, and all.
    pub(super) fn sides(&self, group: usize) -> (usize, usize) {
        let own = self.own(group).len();
        (own, own + self.border(group).len())
    }
}
