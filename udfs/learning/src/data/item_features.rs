//! The input of a model around items: of each row its features, in columns of its type; how long before the item it came, as a
//! sinusoidal code; and in the item's own row what the item brings.

use std::sync::Arc;

use super::item_rows::{ALWAYS, NEVER};
use super::{Features, ItemRows, SparseRows, Standardization, TimedItem};
use crate::ground::DataError;

/// The input of a model, row by row. Columns: those of each type of nodes (one that holds 1 for a type without features), then
/// of each type a sine and a cosine for each wavelength, then those of the items.
#[derive(Debug)]
pub(crate) struct ItemInput {
    rows: Arc<ItemRows>,
    /// The columns of the nodes' features.
    base: SparseRows,
    /// The features of the items; [`Features::None`] for none.
    own: Arc<Features>,
    /// The frequencies of the code, in radians a day; none where items or nodes have no time.
    frequencies: Vec<f64>,
}

/// The codes of some times before an item.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    /// Ascending; [`ALWAYS`], which has no code, is none of them.
    times: Vec<i64>,
    /// A sine and a cosine for each wavelength, time by time.
    values: Vec<f32>,
}

/// The width of the features of a type.
fn width(block: &Features) -> usize {
    block.n_columns().max(1)
}

/// The entries of a row of a block, by ascending column.
fn entries(block: &Features, row: usize, mut entry: impl FnMut(usize, f32)) {
    match block {
        Features::Sparse(rows) => {
            let (columns, values) = rows.row(row);
            columns.iter().zip(values).for_each(|(&column, &value)| entry(column as usize, value));
        }
        Features::Dense { columns, values } => {
            values[row * columns..][..*columns].iter().enumerate().for_each(|(column, &value)| entry(column, value));
        }
        Features::None => entry(0, 1.0),
    }
}

impl ItemInput {
    /// The input of items with their features, on a scale if there is one, and with so many wavelengths. O(n entries).
    ///
    /// # Errors
    /// If the scale is one of other columns, or there are too many of them.
    pub fn new(
        rows: &Arc<ItemRows>,
        own: &Arc<Features>,
        waves: usize,
        scale: Option<&Standardization>,
    ) -> Result<Self, DataError> {
        let graph = &rows.graph;
        let of_rows: usize = graph.blocks.iter().map(width).sum();
        let (columns, own_columns) = (of_rows + own.n_columns(), own.n_columns());
        if let Some(scale) = scale {
            scale.expect_columns(columns)?;
        }
        let own = match scale {
            Some(scale) if own_columns > 0 => Arc::new(scale.part(of_rows..columns).apply(own)?),
            _ => Arc::clone(own),
        };
        let mut starts = Vec::with_capacity(graph.blocks.len());
        let mut next = 0;
        for block in &*graph.blocks {
            starts.push(next);
            next += width(block);
        }
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (node, &kind) in graph.types.of().iter().enumerate() {
            let (block, first) = (&graph.blocks[kind as usize], starts[kind as usize]);
            let row = graph.place[node] as usize;
            let mut push = |column: usize, value: f32| {
                if value != 0.0 {
                    columns.push((first + column) as u32);
                    values.push(value);
                }
            };
            match scale {
                None => entries(block, row, push),
                // A column that the row leaves out is 0 in lists, and missing in maps: there it has no entry.
                Some(scale) if graph.zeros => {
                    let mut at = 0;
                    let mut fill = |until: usize, push: &mut dyn FnMut(usize, f32)| {
                        (at..until).for_each(|column| push(column, scale.value(first + column, 0.0)));
                        at = until + 1;
                    };
                    entries(block, row, |column, value| {
                        fill(column, &mut push);
                        push(column, scale.value(first + column, f64::from(value)));
                    });
                    fill(width(block), &mut push);
                }
                Some(scale) => {
                    entries(block, row, |column, value| push(column, scale.value(first + column, f64::from(value))));
                }
            }
            offsets.push(columns.len());
        }
        let timed = waves > 0 && graph.has_times() && rows.items.iter().any(|item| item.time != NEVER);
        let frequency = |wave: usize| 10_000f64.powf(-(wave as f64) / waves as f64);
        let frequencies: Vec<f64> = if timed { (0..waves).map(frequency).collect() } else { Vec::new() };
        let all = of_rows + 2 * frequencies.len() * graph.blocks.len() + own_columns;
        if u32::try_from(all).is_err() {
            return Err(DataError::Features(format!("the types have {all} features together")));
        }
        let base = SparseRows::from_sorted(of_rows, offsets, columns, values);
        Ok(Self { rows: Arc::clone(rows), base, own, frequencies })
    }

    /// The bytes that [`ItemInput::new`] allocates, at most.
    pub fn bytes(rows: &ItemRows, own: &Features, scaled: bool) -> usize {
        let graph = &rows.graph;
        let dense = scaled && graph.zeros;
        let of_block = |block: &Features| match block {
            Features::Sparse(rows) if !dense => rows.n_entries(),
            block => block.n_rows().unwrap_or(0) * width(block),
        };
        let entries: usize = graph.blocks.iter().map(of_block).sum::<usize>() + graph.n_nodes();
        // Lists that grow hold twice as much for a while.
        16 * entries + 8 * (graph.n_nodes() + 1) + 4 * own.n_columns() * rows.len()
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.start_of_own() + self.own.n_columns()
    }

    fn start_of_own(&self) -> usize {
        self.start_of_code(self.rows.graph.blocks.len())
    }

    fn start_of_code(&self, kind: usize) -> usize {
        self.base.n_columns() + 2 * self.frequencies.len() * kind
    }

    /// The columns in which rows of each type have entries: its features, where an item is of the type what items bring, and last,
    /// where any row of it has a time, the code; and how many that may be by the columns of the tables alone. O(nodes + items).
    pub fn columns_of_kinds(&self) -> (Vec<Vec<u32>>, usize) {
        let graph = &self.rows.graph;
        let (kinds, n) = (graph.types.of(), graph.blocks.len());
        let (mut timed, mut is_item) = (vec![false; n], vec![false; n]);
        kinds.iter().zip(&*graph.times).for_each(|(&kind, &time)| timed[kind as usize] |= time != ALWAYS);
        self.rows.items.iter().for_each(|item| is_item[kinds[item.node as usize] as usize] = true);
        let (mut columns, mut next, mut most) = (Vec::with_capacity(n), 0, 0);
        for (kind, block) in graph.blocks.iter().enumerate() {
            let (width, code) = (width(block), 2 * self.frequencies.len());
            let mut of_kind: Vec<u32> = (next as u32..(next + width) as u32).collect();
            let mut append = |from: usize, count: usize| of_kind.extend(from as u32..(from + count) as u32);
            append(self.start_of_own(), if is_item[kind] { self.own.n_columns() } else { 0 });
            append(self.start_of_code(kind), if timed[kind] { code } else { 0 });
            most = most.max(width + code + self.own.n_columns());
            next += width;
            columns.push(of_kind);
        }
        (columns, most)
    }

    /// The codes of the times of some nodes before an item: rows that came together have one. O(nodes log nodes).
    pub fn codes(&self, item: &TimedItem, nodes: &[u32]) -> Codes {
        if item.time == NEVER || self.frequencies.is_empty() {
            return Codes::default();
        }
        let graph = &self.rows.graph;
        let mut times: Vec<i64> = nodes.iter().map(|&node| graph.times[node as usize]).collect();
        times.sort_unstable();
        times.dedup();
        // It is the smallest.
        if times.first() == Some(&ALWAYS) {
            times.remove(0);
        }
        let mut values = Vec::with_capacity(2 * self.frequencies.len() * times.len());
        for &time in &times {
            let days = (item.time as f64 - time as f64) / graph.day;
            for frequency in &self.frequencies {
                let (sine, cosine) = (days * frequency).sin_cos();
                values.extend([sine as f32, cosine as f32]);
            }
        }
        Codes { times, values }
    }

    /// Appends the entries of a row: of a node in the neighbourhood of an item, with the code of its time among `codes`, whose
    /// own row is that of the item `own`.
    pub fn row(&self, codes: &Codes, node: u32, own: Option<u32>, columns: &mut Vec<u32>, values: &mut Vec<f32>) {
        let (of_row, entries) = self.base.row(node as usize);
        columns.extend_from_slice(of_row);
        values.extend_from_slice(entries);
        if let Ok(at) = codes.times.binary_search(&self.rows.graph.times[node as usize]) {
            let kind = self.rows.graph.types.of()[node as usize] as usize;
            let (first, width) = (self.start_of_code(kind) as u32, 2 * self.frequencies.len());
            columns.extend(first..first + width as u32);
            values.extend_from_slice(&codes.values[at * width..][..width]);
        }
        if let Some(own) = own.filter(|_| self.own.n_columns() > 0) {
            let first = self.start_of_own();
            entries_of(&self.own, own as usize, first as u32, columns, values);
        }
    }

    /// Mean and deviation of each column of the nodes' features over the nodes that are there at the latest time of the items
    /// `train`, and of each column of the items' over these items. A feature that is missing in a row of a map counts nothing, and
    /// one that has one value alone stays as it is; of lists it becomes 0. O(n entries).
    pub fn fit(rows: &ItemRows, own: &Features, train: &[u32]) -> Standardization {
        let graph = &rows.graph;
        let latest = train.iter().map(|&item| rows.items[item as usize].time).max().unwrap_or(ALWAYS);
        let mut scale = Standardization::default();
        for (kind, block) in (0u32..).zip(&*graph.blocks) {
            if block.n_rows().is_none() {
                scale.push(0.0, 1.0);
                continue;
            }
            let members = graph.types.members(kind);
            let seen: Vec<u32> = (0u32..)
                .zip(&members)
                .filter_map(|(row, &node)| (graph.times[node as usize] <= latest).then_some(row))
                .collect();
            scale.append(match graph.zeros {
                true => Standardization::fit(block, &seen),
                false => Standardization::fit_present(block, &seen),
            });
        }
        if own.n_columns() > 0 {
            scale.append(Standardization::fit(own, train));
        }
        scale
    }
}

/// Appends the entries of a row, whose columns start at `first`.
fn entries_of(features: &Features, row: usize, first: u32, columns: &mut Vec<u32>, values: &mut Vec<f32>) {
    entries(features, row, |column, value| {
        if value != 0.0 {
            columns.push(first + column as u32);
            values.push(value);
        }
    });
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Graph;

    use super::*;
    use crate::data::{GraphTypes, TimedGraph};

    /// Nodes 0 and 2 of a type with two features, 1 and 3 of one without; node 2 comes at time 4.
    fn rows(zeros: bool) -> Arc<ItemRows> {
        let types = GraphTypes::new(vec!["a".to_owned(), "b".to_owned()], vec![0, 1, 0, 1], &[], [], true).unwrap();
        let block = match zeros {
            true => Features::dense(2, vec![1.0, 0.0, 3.0, 8.0]).unwrap(),
            false => Features::Sparse(SparseRows::new(2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0, 3.0, 8.0]).unwrap()),
        };
        let graph = TimedGraph::new(Graph::from_edges(4, &[]), types, vec![block, Features::None], zeros).unwrap();
        let graph = graph.with_times(vec![ALWAYS, ALWAYS, 4, ALWAYS], 2.0).unwrap();
        let item = |node, time| TimedItem { number: 0, node, time };
        Arc::new(ItemRows::new(graph, vec![item(0, 10), item(2, 3)]).unwrap())
    }

    fn row(input: &ItemInput, item: usize, node: u32, own: Option<u32>) -> Vec<(u32, f32)> {
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let codes = input.codes(&input.rows.items[item], &[0, node, 2, node]);
        input.row(&codes, node, own, &mut columns, &mut values);
        columns.into_iter().zip(values).collect()
    }

    #[test]
    fn a_row_has_its_features_the_days_before_the_item_and_what_the_item_brings() {
        let own = Arc::new(Features::dense(1, vec![7.0, 9.0]).unwrap());
        let input = ItemInput::new(&rows(true), &own, 2, None).unwrap();
        // Two features, a one, and two wavelengths for either type; then the item's.
        assert_eq!(input.n_columns(), 2 + 1 + 2 * 4 + 1);
        assert_eq!(row(&input, 0, 0, Some(0)), [(0, 1.0), (11, 7.0)]);
        assert_eq!(row(&input, 0, 1, None), [(2, 1.0)]);
        // Six units are three days; the second wavelength is a hundred times the first.
        let (sine, cosine) = (3f64.sin() as f32, 3f64.cos() as f32);
        let (slow_sine, slow_cosine) = (0.03f64.sin() as f32, 0.03f64.cos() as f32);
        let code = [(3, sine), (4, cosine), (5, slow_sine), (6, slow_cosine)];
        assert_eq!(row(&input, 0, 2, None), [&[(0, 3.0), (1, 8.0)], &code[..]].concat());
        // Items are of the first type, and the second has no time: the most counts what it could have.
        assert_eq!(input.columns_of_kinds(), (vec![vec![0, 1, 11, 3, 4, 5, 6], vec![2]], 2 + 4 + 1));
        let without = ItemInput::new(&rows(true), &Arc::new(Features::None), 0, None).unwrap();
        assert_eq!((without.n_columns(), row(&without, 0, 2, None)), (3, vec![(0, 3.0), (1, 8.0)]));
    }

    #[test]
    fn statistics_know_what_training_items_may_see_and_nothing_else() {
        let own = Features::dense(1, vec![7.0, 9.0]).unwrap();
        // The second item is at time 3, before node 2: one row alone has no spread.
        let scale = ItemInput::fit(&rows(true), &own, &[1]);
        let input = ItemInput::new(&rows(true), &Arc::new(own.clone()), 0, Some(&scale)).unwrap();
        assert_eq!((row(&input, 0, 0, Some(0)), row(&input, 0, 1, None)), (vec![], vec![(2, 1.0)]));
        // Of both, 1 and 3 have mean 2 and deviation 1, 0 and 8 mean 4 and deviation 4, 7 and 9 mean 8 and deviation 1.
        let scale = ItemInput::fit(&rows(true), &own, &[0, 1]);
        let input = ItemInput::new(&rows(true), &Arc::new(own), 0, Some(&scale)).unwrap();
        assert_eq!(row(&input, 0, 0, Some(1)), [(0, -1.0), (1, -1.0), (3, 1.0)]);
        assert_eq!(row(&input, 0, 2, None), [(0, 1.0), (1, 1.0)]);
        // In a map what is left out is missing, and a column with one value stays as it is.
        let none = Arc::new(Features::None);
        let scale = ItemInput::fit(&rows(false), &none, &[0]);
        let input = ItemInput::new(&rows(false), &none, 0, Some(&scale)).unwrap();
        assert_eq!(row(&input, 0, 0, None), [(0, -1.0)]);
        assert_eq!(row(&input, 0, 2, None), [(0, 1.0), (1, 8.0)]);
        let other = Standardization::default();
        assert!(ItemInput::new(&rows(false), &none, 0, Some(&other)).is_err());
    }
}
