//! Edges with the uniform measure: mass on neighbours alone, so every cost is 1, 2 or 3 and two flows decide.
//!
//! All edges of one owner, their end of higher degree, are done together: its neighbours are the columns, numbered once, and
//! a node's row has the bits of the columns next to it. Rows of cost 1 come from the owner's neighbours' neighbours; a row
//! of cost at most 2 is the union of those of a node's neighbours, made only for nodes that the first flow leaves short.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped, compiled_for_each_isa};

use super::masses::{Fraction, LARGEST, gcd};
use super::schedule::{Job, TaskSize, by_owner};
use super::short::{Set, Short};
use super::transport::Flow;
use super::{bits, curvature};
use bonnet_graph::isa::Isa;

const NONE: u32 = u32::MAX;
/// The cost of a task, in words of rows: a fraction of a millisecond.
const TASK: TaskSize = TaskSize { usual: 1 << 17, largest: 1 << 21 };
/// Rows of so many words are made without counting first.
const SHORT: usize = 16;
/// Rows of cost 2 are kept for the other edges of their owner up to this many words.
const KEPT_WORDS: usize = 1 << 23;

/// Whether all masses of this graph are whole numbers of 64 bits.
pub(super) fn fits(graph: &Graph, alpha: Fraction) -> bool {
    let largest = (0..graph.n_nodes() as u32).map(|v| graph.degree(v)).max().unwrap_or(0) as i128;
    largest * largest * i128::from(alpha.denominator) <= i128::from(LARGEST)
}

/// The curvatures of `edges`, all of them edges of `graph`.
pub(super) fn curvatures(
    graph: &Graph,
    edges: &[(u32, u32)],
    alpha: Fraction,
    isa: Isa,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, Stopped> {
    let degree = |v| graph.degree(v) as u64;
    by_owner(
        edges,
        |u, v| if degree(u) < degree(v) { (v, u) } else { (u, v) },
        |owner| u64::MAX - degree(owner),
        |owner, partner| 16 + degree(owner) + degree(partner) * (1 + degree(owner) / 64),
        TASK,
        monitor,
        || Owner::new(graph, alpha, isa, monitor),
        |owner, job| owner.compute(job),
    )
}

/// The edge between an owner i and j, of degrees p >= q. Masses are counted in parts of which each neighbour of i has `a` and
/// each of j has `b`, and `stays` remain at i and at j.
struct Edge {
    i: u32,
    j: u32,
    p: i64,
    q: i64,
    a: i64,
    b: i64,
    stays: i64,
}

/// Solvers for rows of up to 8 words, made when first needed.
#[derive(Default)]
struct Shorts {
    of_1: Option<Box<Short<1>>>,
    of_2: Option<Box<Short<2>>>,
    of_3: Option<Box<Short<3>>>,
    of_4: Option<Box<Short<4>>>,
    of_6: Option<Box<Short<6>>>,
    of_8: Option<Box<Short<8>>>,
}

/// The rows of one owner, and a thread's working memory.
struct Owner<'a> {
    graph: &'a Graph,
    alpha: Fraction,
    monitor: &'a dyn Monitor,
    reservation: Reservation<'a>,
    /// The column of a neighbour of the owner, and the position of a node in `ball`.
    column_of: Vec<u32>,
    place_of: Vec<u32>,
    /// The neighbours' neighbours. Each has a row: columns in `lists` from its start on, and bits in `rows` where these
    /// are shorter.
    ball: Vec<u32>,
    starts: Vec<u32>,
    lists: Vec<u32>,
    row_of: Vec<u32>,
    rows: Vec<u64>,
    /// Rows of cost at most 2, where they have been made.
    wide_of: Vec<u32>,
    wide: Vec<u64>,
    words: usize,
    shorts: Shorts,
    short_room: Reservation<'a>,
    isa: Isa,
    flow: Flow,
    left: Vec<u32>,
    demand: Vec<i64>,
    /// The columns of all neighbours of the owner, and every bit.
    all: Vec<u64>,
    everything: Vec<u64>,
    one: Vec<u64>,
}

impl<'a> Owner<'a> {
    fn new(graph: &'a Graph, alpha: Fraction, isa: Isa, monitor: &'a dyn Monitor) -> Result<Self, Stopped> {
        let n = graph.n_nodes();
        Ok(Self {
            graph,
            alpha,
            monitor,
            reservation: Reservation::new(monitor, 8 * n)?,
            column_of: vec![NONE; n],
            place_of: vec![NONE; n],
            ball: Vec::new(),
            starts: Vec::new(),
            lists: Vec::new(),
            row_of: Vec::new(),
            rows: Vec::new(),
            wide_of: Vec::new(),
            wide: Vec::new(),
            words: 0,
            shorts: Shorts::default(),
            short_room: Reservation::new(monitor, 0)?,
            isa,
            flow: Flow::default(),
            left: Vec::new(),
            demand: Vec::new(),
            all: Vec::new(),
            everything: Vec::new(),
            one: Vec::new(),
        })
    }

    fn compute(&mut self, job: Job<'_>) -> Result<(), Stopped> {
        let mut ready = false;
        for (&partner, value) in job.partners.iter().zip(job.values) {
            let degrees = (self.graph.degree(job.owner) as i64, self.graph.degree(partner) as i64);
            *value = if degrees.1 == 1 {
                pendant(degrees.0, self.alpha)
            } else {
                if !std::mem::replace(&mut ready, true) {
                    self.number(job.owner)?;
                }
                self.edge(job.owner, partner)?
            };
        }
        if ready {
            self.forget(job.owner);
        }
        Ok(())
    }

    /// Numbers the neighbours of `i` and makes the rows of cost 1.
    fn number(&mut self, i: u32) -> Result<(), Stopped> {
        let degree = self.graph.degree(i);
        self.words = match bits::words(degree + 1) {
            5 => 6,
            7 => 8,
            words => words,
        };
        self.all.clear();
        self.all.resize(self.words, 0);
        bits::fill(&mut self.all, degree);
        self.everything.resize(self.words, u64::MAX);
        self.ball.clear();
        self.rows.clear();
        self.row_of.clear();
        match self.words <= SHORT {
            true => self.make_short_rows(i),
            false => self.make_rows(i)?,
        }
        self.wide.clear();
        self.wide_of.clear();
        self.wide_of.resize(self.ball.len(), NONE);
        self.reserve(8 * self.rows.len() + 4 * self.lists.len())
    }

    /// Rows of a few words: bits for all.
    fn make_short_rows(&mut self, i: u32) {
        for (column, &c) in self.graph.neighbors(i).iter().enumerate() {
            self.column_of[c as usize] = column as u32;
            for &v in self.graph.neighbors(c) {
                let place = &mut self.place_of[v as usize];
                if *place == NONE {
                    *place = self.ball.len() as u32;
                    self.ball.push(v);
                    self.rows.resize(self.rows.len() + self.words, 0);
                }
                let start = *place as usize * self.words;
                bits::insert(&mut self.rows[start..start + self.words], column);
            }
        }
        self.row_of.extend(0..self.ball.len() as u32);
    }

    /// Rows of many words: bits only where the list of a row's columns is about as long, so that all take O(m) memory.
    fn make_rows(&mut self, i: u32) -> Result<(), Stopped> {
        let neighbors = self.graph.neighbors(i);
        self.starts.clear();
        for (column, &c) in neighbors.iter().enumerate() {
            self.column_of[c as usize] = column as u32;
            for &v in self.graph.neighbors(c) {
                let place = &mut self.place_of[v as usize];
                if *place == NONE {
                    *place = self.ball.len() as u32;
                    self.ball.push(v);
                    self.starts.push(0);
                }
                self.starts[*place as usize] += 1;
            }
        }
        // Counts become starts.
        let mut total = 0;
        for start in &mut self.starts {
            total += std::mem::replace(start, total);
        }
        self.starts.push(total);
        let words = self.words;
        let dense = |row: &[u32]| (row[1] - row[0]) as usize * 2 >= words;
        let rows = self.starts.windows(2).filter(|row| dense(row)).count();
        self.reserve(4 * total as usize + 8 * rows * words)?;
        self.lists.clear();
        self.lists.resize(total as usize, 0);
        let mut next = self.starts.clone();
        for (column, &c) in neighbors.iter().enumerate() {
            for &v in self.graph.neighbors(c) {
                let next = &mut next[self.place_of[v as usize] as usize];
                self.lists[*next as usize] = column as u32;
                *next += 1;
            }
        }
        for row in self.starts.windows(2) {
            if !dense(row) {
                self.row_of.push(NONE);
                continue;
            }
            self.row_of.push((self.rows.len() / words) as u32);
            let start = self.rows.len();
            self.rows.resize(start + words, 0);
            for &column in &self.lists[row[0] as usize..row[1] as usize] {
                bits::insert(&mut self.rows[start..], column as usize);
            }
        }
        Ok(())
    }

    /// Reserves memory for the rows, for `more` bytes, and for all that is held anyway.
    fn reserve(&mut self, more: usize) -> Result<(), Stopped> {
        let bytes = 8 * self.graph.n_nodes() + 20 * self.ball.len() + 8 * self.wide.capacity() + more;
        match bytes.checked_sub(self.reservation.bytes()) {
            Some(missing) => self.reservation.grow(missing),
            None => Ok(()),
        }
    }

    fn forget(&mut self, i: u32) {
        self.graph.neighbors(i).iter().for_each(|&c| self.column_of[c as usize] = NONE);
        self.ball.iter().for_each(|&v| self.place_of[v as usize] = NONE);
    }

    /// Adds the columns next to the node at `place`, the owner's own column apart.
    fn add_row(&self, place: usize, into: &mut [u64]) {
        match self.row_of[place] {
            NONE => self.list(place).iter().for_each(|&column| bits::insert(into, column as usize)),
            row => bits::union(into, &self.rows[row as usize * self.words..][..self.words]),
        }
    }

    /// The curvature of the edge between the owner and one of its neighbours.
    fn edge(&mut self, i: u32, j: u32) -> Result<f64, Stopped> {
        let (p, q) = (self.graph.degree(i) as i64, self.graph.degree(j) as i64);
        let common = gcd(p, q);
        let moves = self.alpha.denominator - self.alpha.numerator;
        let (a, b) = (q / common * moves, p / common * moves);
        let parts = p / common * q;
        let (total, stays) = (parts * self.alpha.denominator, parts * self.alpha.numerator);
        let edge = Edge { i, j, p, q, a, b, stays };
        let cost = match self.words {
            _ if total > i64::from(i32::MAX) => self.cost(&edge)?,
            1 => self.short_cost(&edge, |shorts| &mut shorts.of_1)?,
            2 => self.short_cost(&edge, |shorts| &mut shorts.of_2)?,
            3 => self.short_cost(&edge, |shorts| &mut shorts.of_3)?,
            4 => self.short_cost(&edge, |shorts| &mut shorts.of_4)?,
            6 => self.short_cost(&edge, |shorts| &mut shorts.of_6)?,
            8 => self.short_cost(&edge, |shorts| &mut shorts.of_8)?,
            _ => self.cost(&edge)?,
        };
        Ok(curvature(cost, 1, total))
    }

    /// The cost of the transport over rows of `W` words.
    fn short_cost<const W: usize>(
        &mut self,
        edge: &Edge,
        slot: impl Fn(&mut Shorts) -> &mut Option<Box<Short<W>>>,
    ) -> Result<i128, Stopped> {
        let mut flow = match slot(&mut self.shorts).take() {
            Some(flow) => flow,
            None => {
                self.short_room.grow(Short::<W>::bytes())?;
                Box::new(Short::new())
            }
        };
        let mut cost = 0;
        solve_short(self.isa, self, &mut flow, edge, &mut cost);
        *slot(&mut self.shorts) = Some(flow);
        Ok(i128::from(cost))
    }

    /// The cost of the transport over rows of any length.
    fn cost(&mut self, edge: &Edge) -> Result<i128, Stopped> {
        let &Edge { i, j, p, q, a, b, stays } = edge;
        // What both measures have stays where it is: W is a metric. The rest is supply of j's side or demand of i's; a
        // common neighbour supplies, since b >= a.
        let j_column = self.column_of[j as usize] as usize;
        let mut demand = std::mem::take(&mut self.demand);
        demand.clear();
        demand.resize(p as usize, a);
        demand.push((stays - b).max(0));
        demand[j_column] = (a - stays).max(0);
        for &v in self.graph.neighbors(j) {
            if let Some(column) = some(self.column_of[v as usize]) {
                demand[column] = 0;
            }
        }
        // A set of columns a row, for each row, and what a column and a row have to hold besides.
        self.reserve(8 * (self.rows.len() + q as usize * self.words) + 4 * self.lists.len() + 80 * (p + q) as usize)?;
        let mut flow = std::mem::take(&mut self.flow);
        flow.start(&demand);
        self.left.clear();
        for &v in self.graph.neighbors(j) {
            let supply = match self.column_of[v as usize] {
                _ if v == i => b - stays,
                NONE => b,
                _ => b - a,
            };
            if supply > 0 {
                self.send_near(&mut flow, i, v, supply);
                self.left.push(v);
            }
        }
        if stays > a {
            self.send_near(&mut flow, i, j, stays - a);
            self.left.push(j);
        }

        // Cost 1 first. What that leaves unsent may cost 2 where neither side is covered already.
        flow.send_greedily(Some(j_column));
        flow.maximize(self.monitor)?;
        let first = flow.sent();
        let mut second = first;
        if first < flow.total() {
            let mut wide = std::mem::take(&mut self.one);
            for row in 0..flow.rows() {
                wide.clear();
                if flow.reached_row(row) {
                    wide.extend_from_slice(self.within_two(i, j, self.left[row]));
                }
                flow.admit_uncovered(row, &wide);
            }
            self.one = wide;
            flow.maximize(self.monitor)?;
            second = flow.sent();
        }
        let cost = 3 * i128::from(flow.total()) - i128::from(first) - i128::from(second);
        self.flow = flow;
        self.demand = demand;
        Ok(cost)
    }

    /// Adds the row of `v` that admits the columns next to it. `v` is the owner `i`, a neighbour of it, or of such a one.
    fn send_near(&self, flow: &mut Flow, i: u32, v: u32, supply: i64) {
        if v == i {
            flow.add_row(supply, &self.all);
            return;
        }
        match some(self.place_of[v as usize]).map(|place| (place, self.row_of[place])) {
            None => flow.add_empty_row(supply),
            Some((place, NONE)) => {
                flow.add_empty_row(supply);
                self.list(place).iter().for_each(|&column| flow.admit(column as usize));
            }
            Some((_, row)) => flow.add_row(supply, &self.rows[row as usize * self.words..][..self.words]),
        }
        if self.column_of[v as usize] != NONE {
            flow.admit(self.graph.degree(i));
        }
    }

    /// The columns next to the node at `place`, where its row has no bits.
    fn list(&self, place: usize) -> &[u32] {
        &self.lists[self.starts[place] as usize..self.starts[place + 1] as usize]
    }

    /// The columns at most two hops from `v`, a neighbour of `j`, or `j`; with more beyond the last column.
    fn within_two(&mut self, i: u32, j: u32, v: u32) -> &[u64] {
        if v == i || v == j || self.column_of[v as usize] != NONE {
            // Over the owner, or next to it.
            return &self.everything;
        }
        let place = self.place_of[v as usize] as usize;
        if self.wide_of[place] == NONE {
            if self.wide.len() + self.words > KEPT_WORDS {
                self.wide.clear();
                self.wide_of.fill(NONE);
            }
            let start = self.wide.len();
            let mut row = std::mem::take(&mut self.wide);
            row.resize(start + self.words, 0);
            for &t in self.graph.neighbors(v) {
                if let Some(place) = some(self.place_of[t as usize]) {
                    self.add_row(place, &mut row[start..]);
                }
            }
            // The owner's own column: a neighbour of j is two hops from i.
            bits::insert(&mut row[start..], self.graph.degree(i));
            self.wide = row;
            self.wide_of[place] = (start / self.words) as u32;
        }
        &self.wide[self.wide_of[place] as usize * self.words..][..self.words]
    }
}

compiled_for_each_isa! {
    /// The cost of the transport along an edge, over rows of `W` words.
    fn solve_short[const W: usize](owner: &mut Owner<'_>, flow: &mut Short<W>, edge: &Edge, cost: &mut i64) = solve
}

#[inline(always)]
fn solve<const W: usize>(owner: &mut Owner<'_>, flow: &mut Short<W>, edge: &Edge, cost: &mut i64) {
    // `a`, `b` and `stays` are at most the total, which fits.
    let [a, b, stays] = [edge.a, edge.b, edge.stays].map(|mass| mass as i32);
    let (i, j, own) = (edge.i, edge.j, edge.p as usize);
    let j_column = owner.column_of[j as usize] as usize;
    let rows = owner.rows.as_chunks::<W>().0;
    let all: &Set<W> = &owner.all.as_chunks().0[0];
    // Every neighbour of j is near the owner; j itself only where they share one.
    let row_of = |v: u32| rows[owner.place_of[v as usize] as usize];
    let row_of_j = some(owner.place_of[j as usize]).map_or([0; W], |place| rows[place]);

    // What both measures have stays where it is, as in `Owner::cost`.
    flow.start(all, &row_of_j, a);
    flow.demand(j_column, (a - stays).max(0));
    flow.demand(own, (stays - b).max(0));
    owner.left.clear();
    let neighbors = owner.graph.neighbors(j);
    for &v in neighbors {
        if v == i {
            continue;
        }
        let mut row = row_of(v);
        let mut supply = b;
        if owner.column_of[v as usize] != NONE {
            row[own / 64] |= 1 << (own % 64);
            supply -= a;
        }
        if supply > 0 {
            flow.add_row(supply, &row);
            owner.left.push(v);
        }
    }
    for (v, supply) in [(i, b - stays), (j, stays - a)] {
        if supply > 0 {
            let mut row = if v == i { *all } else { row_of_j };
            if v == j {
                row[own / 64] |= 1 << (own % 64);
            }
            flow.add_row(supply, &row);
            owner.left.push(v);
        }
    }

    // Cost 1 first. What that leaves unsent may cost 2 where neither side is covered already.
    flow.send_greedily(j_column);
    flow.maximize();
    let first = flow.sent();
    if first < flow.total() {
        for row in 0..flow.rows() {
            let wide = match flow.reached_row(row) {
                true => owner.within_two(i, j, owner.left[row]).first_chunk(),
                false => None,
            };
            flow.admit_uncovered(row, wide);
        }
        flow.maximize();
    }
    *cost = 3 * i64::from(flow.total()) - i64::from(first) - i64::from(flow.sent());
}

/// A number, unless it is `NONE`.
fn some(number: u32) -> Option<usize> {
    (number != NONE).then_some(number as usize)
}

/// The curvature of the edge to a node of degree 1. All other mass passes the end of degree p, one hop each; the edge itself
/// carries the difference between what the pendant node has and what it gets.
fn pendant(p: i64, alpha: Fraction) -> f64 {
    let (stays, moves) = (alpha.numerator, alpha.denominator - alpha.numerator);
    let cost = (stays * p - moves).abs() + moves * (p - 1);
    curvature(i128::from(cost), 1, alpha.denominator * p)
}
