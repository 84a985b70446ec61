//! The neighbourhoods of the items of a step, as a model reads them.

use bonnet_graph::{Reservation, Stopped};
use rayon::prelude::*;

use crate::data::{ItemInput, SparseRows, TimedItem};
use crate::network::sampling::Sample;
use crate::network::{ListedEdges, Neighborhood, TemporalSampler, expect_rows};

/// The rows around some items, apart from one another: those of an item follow one another by the number of their node, so that
/// sums run in the order in which they run on the whole graph.
pub(super) struct ItemSample {
    /// The node of each row.
    pub nodes: Vec<u32>,
    /// The row of each item.
    pub roots: Vec<u32>,
    /// The neighbours in each relation.
    pub samples: Vec<ListedEdges>,
    /// Those in any of them, without loops; its degrees are its own.
    pub union: Sample,
    /// The input of each row.
    pub features: SparseRows,
}

/// What is drawn.
#[derive(Clone, Copy)]
pub(super) struct Draw<'a> {
    pub sampler: &'a TemporalSampler,
    pub input: &'a ItemInput,
    pub fanout: &'a [u32],
    pub key: u64,
    /// Whether the degrees of the outermost rows are read, too.
    pub all_degrees: bool,
}

/// The rows around one item.
struct Piece {
    nodes: Vec<u32>,
    root: u32,
    /// Relation, target and source, ascending.
    arcs: Vec<(u32, u32, u32)>,
    /// Where those of each relation start, and one more.
    starts: Vec<u32>,
    /// Relation, target and degree, where it is more than the number of arcs.
    degrees: Vec<(u32, u32, u32)>,
    /// Target and source of the arcs of all relations, each once.
    union: Vec<(u32, u32)>,
    /// The length of each row's features, and these.
    lengths: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Piece {
    fn new(draw: Draw<'_>, relations: usize, (number, item): (u32, &TimedItem), found: Neighborhood) -> Self {
        let Neighborhood { nodes, arcs, drawn, rim } = found;
        let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
        order.sort_unstable_by_key(|&row| nodes[row as usize]);
        let mut rank = vec![0u32; nodes.len()];
        (0u32..).zip(&order).for_each(|(at, &row)| rank[row as usize] = at);
        let turned = |(relation, target, other)| (relation, rank[target as usize], other);
        let mut degrees: Vec<(u32, u32, u32)> = drawn.into_iter().map(turned).collect();
        if draw.all_degrees {
            let outer = (rim..nodes.len()).map(|row| (0, row as u32, draw.sampler.degree(nodes[row], item.time)));
            degrees.extend(outer.map(turned));
        }
        degrees.sort_unstable();
        let mut arcs: Vec<(u32, u32, u32)> =
            arcs.into_iter().map(|(relation, to, from)| (relation, rank[to as usize], rank[from as usize])).collect();
        // One number is compared faster than three.
        arcs.sort_unstable_by_key(|&(relation, to, from)| {
            u128::from(relation) << 64 | u128::from(to) << 32 | u128::from(from)
        });
        let mut union: Vec<(u32, u32)> =
            arcs.iter().filter(|arc| arc.1 != arc.2).map(|&(_, target, source)| (target, source)).collect();
        if relations > 1 {
            // The arcs of each relation are sorted: a stable sort joins them.
            union.sort();
            union.dedup();
        }
        let starts = (0..=relations as u32).map(|relation| arcs.partition_point(|arc| arc.0 < relation) as u32);
        let (mut lengths, mut columns, mut values) = (Vec::with_capacity(nodes.len()), Vec::new(), Vec::new());
        let codes = draw.input.codes(item, &nodes);
        for &row in &order {
            let before = columns.len();
            let own = (row == 0).then_some(number);
            draw.input.row(&codes, nodes[row as usize], own, &mut columns, &mut values);
            lengths.push((columns.len() - before) as u32);
        }
        let starts = starts.collect();
        let sorted = order.iter().map(|&row| nodes[row as usize]).collect();
        Self { nodes: sorted, root: rank[0], arcs, starts, degrees, union, lengths, columns, values }
    }
}

impl ItemSample {
    /// Draws the neighbourhoods of some items; `numbers` are their positions among all. The reservation grows by what the sample
    /// holds. O(rows log rows + arcs log arcs).
    ///
    /// # Errors
    /// If the host refuses the memory, or wants no answer any more.
    pub fn draw(
        draw: Draw<'_>,
        items: &[TimedItem],
        numbers: &[u32],
        relations: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let Draw { sampler, fanout, key, .. } = draw;
        let pieces = sampler.each(items, fanout, key, reservation, |at, found| {
            Piece::new(draw, relations, (numbers[at], &items[at]), found)
        })?;
        let mut firsts = Vec::with_capacity(pieces.len() + 1);
        let (mut rows, mut arcs, mut entries, mut joined) = (0usize, 0, 0, 0);
        for piece in &pieces {
            firsts.push(rows as u32);
            rows += piece.nodes.len();
            (arcs, entries, joined) =
                (arcs + piece.arcs.len(), entries + piece.columns.len(), joined + piece.union.len());
        }
        expect_rows(rows)?;
        // The pieces, and the sample beside them; 8 bytes a row and relation for models that ask for the offsets of all rows.
        let of_relations = relations * (8 * rows + 8) + 32 * arcs + 12 * joined;
        reservation.grow(of_relations + 16 * entries + 40 * rows)?;
        reservation.check()?;
        let relation = |relation: u32| {
            let range = |piece: &Piece| {
                let [start, end] = [relation as usize, relation as usize + 1].map(|at| piece.starts[at] as usize);
                start..end
            };
            let count = pieces.iter().map(|piece| range(piece).len()).sum();
            let (mut listed, mut offsets, mut degrees) = (Vec::new(), vec![0], Vec::new());
            let mut targets = Vec::with_capacity(count);
            for (piece, &first) in pieces.iter().zip(&firsts) {
                let from = piece.degrees.partition_point(|degree| degree.0 < relation);
                let known = piece.degrees[from..].iter().take_while(|degree| degree.0 == relation);
                let mut known = known.peekable();
                for arcs in piece.arcs[range(piece)].chunk_by(|a, b| a.1 == b.1) {
                    let target = arcs[0].1;
                    targets.extend(arcs.iter().map(|&(_, _, source)| first + source));
                    listed.push(first + target);
                    offsets.push(targets.len());
                    while known.next_if(|degree| degree.1 < target).is_some() {}
                    let degree = known.next_if(|degree| degree.1 == target).map(|degree| degree.2);
                    degrees.push(degree.unwrap_or(arcs.len() as u32));
                }
            }
            ListedEdges::new(rows, listed, offsets, targets, degrees)
        };
        let of_relations = || (0..relations as u32).into_par_iter().map(relation).collect::<Vec<ListedEdges>>();
        let of_all = || {
            let mut union = Rows::new(rows, joined);
            for (piece, &first) in pieces.iter().zip(&firsts) {
                union.append(piece.nodes.len(), first, piece.union.iter().copied());
            }
            union.sample()
        };
        let of_features = || {
            let mut offsets = Vec::with_capacity(rows + 1);
            let mut end = 0;
            offsets.push(0);
            for &length in pieces.iter().flat_map(|piece| &piece.lengths) {
                end += length as usize;
                offsets.push(end);
            }
            let columns = side_by_side(&pieces, |piece| &piece.columns);
            let values = side_by_side(&pieces, |piece| &piece.values);
            SparseRows::from_sorted(draw.input.n_columns(), offsets, columns, values)
        };
        let (samples, (mut union, features)) = rayon::join(of_relations, || rayon::join(of_all, of_features));
        // All edges as one relation are the union, and known with their degrees, rows without edges among them.
        if let ([only], true) = (&samples[..], draw.all_degrees) {
            only.rows.iter().zip(&only.degrees).for_each(|(&row, &degree)| union.degrees[row as usize] = degree);
            for (piece, &first) in pieces.iter().zip(&firsts) {
                for &(_, target, degree) in &piece.degrees {
                    union.degrees[(first + target) as usize] = degree;
                }
            }
        }
        let nodes = side_by_side(&pieces, |piece| &piece.nodes);
        let roots = pieces.iter().zip(&firsts).map(|(piece, first)| first + piece.root).collect();
        Ok(Self { nodes, roots, samples, union, features })
    }
}

/// The lists of all pieces, one after the other.
fn side_by_side<T: Copy + Default + Send + Sync>(pieces: &[Piece], of: impl Fn(&Piece) -> &Vec<T> + Sync) -> Vec<T> {
    let mut all = vec![T::default(); pieces.iter().map(|piece| of(piece).len()).sum()];
    let (mut rest, mut parts) = (&mut all[..], Vec::with_capacity(pieces.len()));
    for piece in pieces {
        let (part, others) = std::mem::take(&mut rest).split_at_mut(of(piece).len());
        parts.push((piece, part));
        rest = others;
    }
    parts.into_par_iter().for_each(|(piece, part)| part.copy_from_slice(of(piece)));
    all
}

/// The rows of a sample that grows by those of one item after the other.
struct Rows {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    degrees: Vec<u32>,
}

impl Rows {
    fn new(rows: usize, arcs: usize) -> Self {
        let (mut offsets, targets) = (Vec::with_capacity(rows + 1), Vec::with_capacity(arcs));
        offsets.push(0);
        Self { offsets, targets, degrees: Vec::with_capacity(rows) }
    }

    /// Appends so many rows, from the row `first` on, with arcs that ascend by target and source.
    fn append(&mut self, rows: usize, first: u32, arcs: impl Iterator<Item = (u32, u32)>) {
        let mut arcs = arcs.peekable();
        for row in 0..rows as u32 {
            let start = self.targets.len();
            while let Some((_, source)) = arcs.next_if(|&(target, _)| target == row) {
                self.targets.push(first + source);
            }
            self.offsets.push(self.targets.len());
            self.degrees.push((self.targets.len() - start) as u32);
        }
    }

    fn sample(self) -> Sample {
        // Nodes have rows of their own in each neighbourhood: nobody looks them up in a relation.
        Sample { nodes: Vec::new(), offsets: self.offsets, targets: self.targets, degrees: self.degrees }
    }
}
