//! Faces of small codimension and the facets around them.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::Facets;

/// The faces of one codimension, each with the facets that hold it: records sorted by face.
pub(crate) struct Stars {
    faces: Vec<u32>,
    width: usize,
    order: Vec<u32>,
    /// Which sets of positions are left out of a facet, `codimension` apiece.
    omitted: Vec<u8>,
    codimension: usize,
}

impl Stars {
    /// Of the faces that lack `codimension` vertices (1 to 3) of a facet; the facets are maximal and of one dimension,
    /// at least `codimension`. O(k log k) for k = facets x binomial(vertices of a facet, codimension) records.
    pub(crate) fn of(facets: &Facets, codimension: usize, monitor: &dyn Monitor) -> Result<Self, Stopped> {
        let n = facets.dimension() + 1;
        let width = n - codimension;
        let omitted = combinations(n as u8, codimension);
        let records = facets.len() * omitted.len() / codimension;
        // Rows, order, and sorting's own keys.
        let _reservation = Reservation::new(monitor, records * (4 * width + 4 + 24))?;
        monitor.check()?;
        let mut faces = Vec::with_capacity(records * width);
        for facet in facets.iter() {
            for omitted in omitted.chunks_exact(codimension) {
                faces.extend((0..n).filter(|&i| !omitted.contains(&(i as u8))).map(|i| facet[i]));
            }
        }
        let row = |i: u32| &faces[i as usize * width..(i as usize + 1) * width];
        let bits = (usize::BITS - facets.n_vertices().leading_zeros()) as usize;
        let order = if bits * width <= 96 {
            let key = |i: u32| row(i).iter().fold(0u128, |key, &v| key << bits | u128::from(v)) << 32 | u128::from(i);
            let mut keys: Vec<u128> = (0..records as u32).map(key).collect();
            keys.sort_unstable();
            keys.into_iter().map(|key| key as u32).collect()
        } else {
            let mut order: Vec<u32> = (0..records as u32).collect();
            order.sort_unstable_by(|&a, &b| row(a).cmp(row(b)).then(a.cmp(&b)));
            order
        };
        Ok(Self { faces, width, order, omitted, codimension })
    }

    /// Each face with its records.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u32], &[u32])> {
        self.order.chunk_by(|&a, &b| self.face(a) == self.face(b)).map(|records| (self.face(records[0]), records))
    }

    fn face(&self, record: u32) -> &[u32] {
        &self.faces[record as usize * self.width..(record as usize + 1) * self.width]
    }

    /// The facet of a record, and the positions of its vertices that the face lacks, ascending.
    pub(crate) fn facet(&self, record: u32) -> (usize, &[u8]) {
        let sets = self.omitted.len() / self.codimension;
        let (facet, set) = (record as usize / sets, record as usize % sets);
        (facet, &self.omitted[set * self.codimension..(set + 1) * self.codimension])
    }
}

/// All ascending choices of `k` numbers below `n`, one after another.
fn combinations(n: u8, k: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let mut choice: Vec<u8> = (0..k as u8).collect();
    loop {
        all.extend_from_slice(&choice);
        let Some(i) = (0..k).rev().find(|&i| choice[i] < n - (k - i) as u8) else { return all };
        choice[i] += 1;
        for j in i + 1..k {
            choice[j] = choice[j - 1] + 1;
        }
    }
}

/// Sets of numbers that are joined one by one, each with a parity relative to its set's root.
pub(crate) struct ParitySets {
    parents: Vec<u32>,
    odd: Vec<bool>,
    sets: usize,
}

impl ParitySets {
    pub(crate) fn new(n: usize) -> Self {
        Self { parents: (0..n as u32).collect(), odd: vec![false; n], sets: n }
    }

    fn find(&mut self, v: u32) -> (u32, bool) {
        let (mut root, mut odd) = (v, false);
        while self.parents[root as usize] != root {
            odd ^= self.odd[root as usize];
            root = self.parents[root as usize];
        }
        // Everything on the way hangs from the root afterwards.
        let (mut at, mut left) = (v, odd);
        while self.parents[at as usize] != at {
            let (next, step) = (self.parents[at as usize], self.odd[at as usize]);
            self.parents[at as usize] = root;
            self.odd[at as usize] = left;
            left ^= step;
            at = next;
        }
        (root, odd)
    }

    /// Says that `a` and `b` differ by `odd`; `false` if that contradicts what was said before.
    pub(crate) fn join(&mut self, a: u32, b: u32, odd: bool) -> bool {
        let ((a, odd_a), (b, odd_b)) = (self.find(a), self.find(b));
        if a == b {
            return odd_a ^ odd_b == odd;
        }
        self.parents[a as usize] = b;
        self.odd[a as usize] = odd_a ^ odd_b ^ odd;
        self.sets -= 1;
        true
    }

    /// The number of sets.
    pub(crate) fn len(&self) -> usize {
        self.sets
    }
}
