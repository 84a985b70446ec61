//! Neighbour sampling in a typed graph whose nodes have times: of each item the neighbourhood that was there at its time (Fey et
//! al. 2024, Relational deep learning, Sec. 3.2, time-consistent computation graphs).

use std::sync::{Arc, Mutex, PoisonError};

use bonnet_graph::{Digraph, Reservation, Stopped};
use rayon::prelude::*;

use crate::data::{ALWAYS, GraphRelation, GraphTypes, TimedItem};
use crate::ground::random::{Stream, key};
use crate::options::FanoutOrder;

/// Items whose neighbourhoods a task draws one after the other.
const BLOCK: usize = 16;

/// Marks a node that a neighbourhood has not reached.
const UNSEEN: u32 = u32::MAX;

/// The neighbourhoods of some items, apart from one another: a node has a row in each that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporalSample {
    /// The node of each row. The rows of an item follow one another, in the order in which they were reached: its own node first.
    pub nodes: Vec<u32>,
    /// Where the rows of each item start, and one more.
    pub starts: Vec<u32>,
    /// Of each relation the rows of targets and sources, ascending by target.
    pub arcs: Vec<Vec<(u32, u32)>>,
}

/// The neighbours along a relation, of each node ascending by the time of the arc, then by number.
#[derive(Debug)]
struct List {
    incoming: Arc<Digraph>,
    /// Sources and times of the arcs in that order; none where all were always there, and `incoming` has them.
    timed: Option<(Vec<u32>, Vec<i64>)>,
}

impl List {
    /// An arc is there as long as its source, and itself where it has a time of its own. O(m log m).
    fn new(incoming: &Arc<Digraph>, times: &[i64], arc_times: Option<&[i64]>) -> Self {
        let time_of = |arc: usize, source: u32| {
            let own = arc_times.map_or(ALWAYS, |times| times[arc]);
            own.max(times[source as usize])
        };
        let sources = incoming.targets();
        if (0..sources.len()).all(|arc| time_of(arc, sources[arc]) == ALWAYS) {
            return Self { incoming: Arc::clone(incoming), timed: None };
        }
        let mut sorted: Vec<(i64, u32)> =
            sources.iter().enumerate().map(|(arc, &source)| (time_of(arc, source), source)).collect();
        incoming.offsets().windows(2).for_each(|row| sorted[row[0]..row[1]].sort_unstable());
        let (times, sources) = sorted.into_iter().unzip();
        Self { incoming: Arc::clone(incoming), timed: Some((sources, times)) }
    }

    /// The sources of a node that are there at a time.
    fn there(&self, node: u32, time: i64) -> &[u32] {
        let Some((sources, times)) = &self.timed else { return self.incoming.successors(node) };
        let (start, end) = (self.incoming.offsets()[node as usize], self.incoming.offsets()[node as usize + 1]);
        let seen = times[start..end].partition_point(|&other| other <= time);
        &sources[start..start + seen]
    }
}

/// Draws neighbourhoods in a graph.
#[derive(Debug)]
pub struct TemporalSampler {
    types: Arc<GraphTypes>,
    /// Of each type of nodes the relations that lead to it, each with a number that hangs on its name alone.
    into: Vec<Vec<(u32, u64)>>,
    lists: Vec<List>,
    order: FanoutOrder,
    /// Room of tasks that have ended, for those that come.
    room: Mutex<Vec<Room>>,
}

/// What a task needs: the row of each node that its neighbourhood has reached, and the places of a draw that are taken.
#[derive(Debug)]
struct Room {
    row_of: Vec<u32>,
    taken: Vec<bool>,
    picked: Vec<u32>,
}

/// The neighbourhood of one item, its rows numbered from 0 in the order in which they were reached.
pub(crate) struct Neighborhood {
    /// The node of each row: first that of the item.
    pub nodes: Vec<u32>,
    /// Relation, target and source.
    pub arcs: Vec<(u32, u32, u32)>,
    /// Relation, target and the number of neighbours that are there, of targets of which some were drawn.
    pub drawn: Vec<(u32, u32, u32)>,
    /// The first row whose neighbours nobody asked for.
    pub rim: usize,
}

impl TemporalSampler {
    /// A sampler of a graph whose nodes have these times, [`ALWAYS`] for one without, and whose arcs have times of their own:
    /// those of each relation, as [`GraphRelation::incoming`] lists them; none where they have not. O(m log m).
    ///
    /// # Panics
    /// If there is not one time a node.
    pub fn new(types: impl Into<Arc<GraphTypes>>, times: &[i64], arc_times: &[Vec<i64>], order: FanoutOrder) -> Self {
        let types = types.into();
        assert_eq!(types.of().len(), times.len(), "a time a node");
        let mut into = vec![Vec::new(); types.names().len()];
        for (at, relation) in (0u32..).zip(types.relations()) {
            into[relation.target as usize].push((at, name_key(&types, relation)));
        }
        let list = |(at, relation): (usize, &GraphRelation)| {
            List::new(&relation.incoming, times, arc_times.get(at).map(Vec::as_slice))
        };
        let lists = types.relations().par_iter().enumerate().map(list).collect();
        Self { types, into, lists, order, room: Mutex::default() }
    }

    /// The bytes that a sampler of so many threads holds, at most.
    pub fn bytes(types: &GraphTypes) -> usize {
        let arcs: usize = types.relations().iter().map(|relation| relation.incoming.n_arcs()).sum();
        // While a relation is sorted, its arcs are there twice.
        28 * arcs + 4 * types.of().len() * rayon::current_num_threads()
    }

    /// The neighbourhoods of some items: hop by hop from an item's node, of each node that the hop before reached first, along
    /// each relation into its type, at most `fanout` neighbours that are there at the item's time. Nothing in an item's
    /// neighbourhood hangs on a later node, or on an edge of one; numbers of nodes matter by their order alone.
    ///
    /// The same arguments give the same sample, whatever the number of threads. O(edges that are drawn, and log(edges) for each
    /// node that is reached and relation); 4 bytes a row and 8 an arc are reserved.
    ///
    /// # Errors
    /// If the host refuses the memory, or wants no answer any more.
    pub fn sample(
        &self,
        items: &[TimedItem],
        fanout: &[u32],
        sample_key: u64,
        reservation: &mut Reservation<'_>,
    ) -> Result<TemporalSample, Stopped> {
        let found = self.each(items, fanout, sample_key, reservation, |_, neighborhood| neighborhood)?;
        let count = |of: &dyn Fn(&Neighborhood) -> usize| found.iter().map(of).sum::<usize>();
        let (rows, arcs) = (count(&|found| found.nodes.len()), count(&|found| found.arcs.len()));
        expect_rows(rows)?;
        reservation.grow(4 * (rows + items.len() + 1) + 8 * arcs)?;
        let mut sample = TemporalSample {
            nodes: Vec::with_capacity(rows),
            starts: vec![0],
            arcs: vec![Vec::new(); self.types.relations().len()],
        };
        for Neighborhood { nodes, arcs, .. } in found {
            let first = sample.nodes.len() as u32;
            sample.nodes.extend(nodes);
            sample.starts.push(sample.nodes.len() as u32);
            for (relation, target, source) in arcs {
                sample.arcs[relation as usize].push((first + target, first + source));
            }
        }
        // A relation's arcs stand in the order in which their targets were reached, which is that of the rows.
        Ok(sample)
    }

    /// What `make` gives for the neighbourhood of each item, whose position among the items it gets.
    pub(crate) fn each<T: Send>(
        &self,
        items: &[TimedItem],
        fanout: &[u32],
        sample_key: u64,
        reservation: &Reservation<'_>,
        make: impl Fn(usize, Neighborhood) -> T + Sync,
    ) -> Result<Vec<T>, Stopped> {
        let monitor = reservation.monitor();
        let block = |(block, items): (usize, &[TimedItem])| -> Result<Vec<T>, Stopped> {
            monitor.check()?;
            let fresh = || Room { row_of: vec![UNSEEN; self.types.of().len()], taken: Vec::new(), picked: Vec::new() };
            let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_else(fresh);
            let made = items
                .iter()
                .enumerate()
                .map(|(at, item)| make(block * BLOCK + at, self.around(item, fanout, sample_key, &mut room)));
            let made = made.collect();
            self.room.lock().unwrap_or_else(PoisonError::into_inner).push(room);
            Ok(made)
        };
        let made: Vec<Vec<T>> = items.par_chunks(BLOCK).enumerate().map(block).collect::<Result<_, Stopped>>()?;
        Ok(made.into_iter().flatten().collect())
    }

    /// The number of neighbours of a node that are there at a time, over all relations.
    pub(crate) fn degree(&self, node: u32, time: i64) -> u32 {
        let relations = &self.into[self.types.of()[node as usize] as usize];
        relations.iter().map(|&(relation, _)| self.lists[relation as usize].there(node, time).len() as u32).sum()
    }

    fn around(&self, item: &TimedItem, fanout: &[u32], sample_key: u64, room: &mut Room) -> Neighborhood {
        let Room { row_of, taken, picked } = room;
        let (mut nodes, mut arcs, mut drawn) = (vec![item.node], Vec::new(), Vec::new());
        row_of[item.node as usize] = 0;
        let mut rim = 0;
        for &fanout in fanout {
            let ring = rim..nodes.len();
            rim = ring.end;
            for target in ring {
                let node = nodes[target];
                for &(relation, name) in &self.into[self.types.of()[node as usize] as usize] {
                    let there = self.lists[relation as usize].there(node, item.time);
                    let mut reach = |source: u32| {
                        let row = &mut row_of[source as usize];
                        if *row == UNSEEN {
                            *row = nodes.len() as u32;
                            nodes.push(source);
                        }
                        arcs.push((relation, target as u32, *row));
                    };
                    let count = fanout as usize;
                    if there.len() <= count {
                        there.iter().for_each(|&source| reach(source));
                        continue;
                    }
                    drawn.push((relation, target as u32, there.len() as u32));
                    match self.order {
                        FanoutOrder::Latest => there[there.len() - count..].iter().for_each(|&source| reach(source)),
                        // Floyd's algorithm: Bentley and Floyd 1987.
                        FanoutOrder::Uniform => {
                            let draw = key(&[sample_key, item.number, target as u64, name]);
                            let mut stream = Stream::new(draw);
                            if taken.len() < there.len() {
                                taken.resize(there.len(), false);
                            }
                            for last in there.len() - count..there.len() {
                                let at = stream.below(last + 1);
                                let at = if taken[at] { last } else { at };
                                taken[at] = true;
                                picked.push(at as u32);
                            }
                            picked.sort_unstable();
                            for at in picked.drain(..) {
                                taken[at as usize] = false;
                                reach(there[at as usize]);
                            }
                        }
                    }
                }
            }
        }
        nodes.iter().for_each(|&node| row_of[node as usize] = UNSEEN);
        Neighborhood { nodes, arcs, drawn, rim }
    }
}

/// Refuses more rows than can be numbered.
pub(crate) fn expect_rows(rows: usize) -> Result<(), Stopped> {
    match u32::try_from(rows) {
        Ok(_) => Ok(()),
        Err(_) => {
            Err(Stopped::OutOfMemory(format!("a step of {rows} rows: choose a smaller batch, or a smaller fanout")))
        }
    }
}

/// A number of a relation that does not change where a graph gains or loses others.
fn name_key(types: &GraphTypes, relation: &GraphRelation) -> u64 {
    let (source, target) = (&types.names()[relation.source as usize], &types.names()[relation.target as usize]);
    let text = |text: &String| text.bytes().fold(text.len() as u64, |hash, byte| key(&[hash, u64::from(byte)]));
    key(&[text(source), text(&relation.name), text(target), u64::from(relation.inverse)])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bonnet_graph::Unmonitored;

    use super::*;

    /// A row of a database: its type, its key, its time, and the rows that it refers to by relation.
    #[derive(Debug, Clone)]
    struct Row {
        kind: &'static str,
        id: u32,
        time: i64,
        refers: Vec<(&'static str, &'static str, u32)>,
    }

    const KINDS: [&str; 3] = ["customer", "order", "product"];

    /// A database as a graph: rows are numbered by type and key, as CREATE GRAPH FROM SCHEMA does; dangling keys are no edges.
    struct Database {
        types: GraphTypes,
        times: Vec<i64>,
        names: Vec<(&'static str, u32)>,
    }

    impl Database {
        fn new(rows: &[Row]) -> Self {
            let mut rows = rows.to_vec();
            rows.sort_by_key(|row| (row.kind, row.id));
            let names: Vec<(&str, u32)> = rows.iter().map(|row| (row.kind, row.id)).collect();
            // A type without rows is none.
            let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| rows.iter().any(|row| row.kind == *kind)).collect();
            let relations: Vec<String> = ["bought_by", "first", "of"].map(str::to_owned).to_vec();
            let mut edges = Vec::new();
            for (at, row) in rows.iter().enumerate() {
                for &(relation, kind, id) in &row.refers {
                    let name = relations.iter().position(|other| other == relation).unwrap() as u32;
                    edges.extend(names.binary_search(&(kind, id)).ok().map(|to| (at as u32, to as u32, name)));
                }
            }
            let of = rows.iter().map(|row| kinds.iter().position(|kind| *kind == row.kind).unwrap() as u32).collect();
            let kinds = kinds.into_iter().map(str::to_owned).collect();
            let types = GraphTypes::new(kinds, of, &relations, edges, true).unwrap();
            Self { types, times: rows.iter().map(|row| row.time).collect(), names }
        }

        /// The neighbourhood of each item in names that do not hang on numbers.
        fn sample(&self, items: &[(u32, i64)], fanout: &[u32], order: FanoutOrder) -> Vec<String> {
            let node = |id: u32| self.names.binary_search(&("customer", id)).unwrap() as u32;
            let items: Vec<TimedItem> =
                (0u64..).zip(items).map(|(number, &(id, time))| TimedItem { number, node: node(id), time }).collect();
            let sampler = TemporalSampler::new(self.types.clone(), &self.times, &[], order);
            let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
            let sample = sampler.sample(&items, fanout, 11, &mut reservation).unwrap();
            let mut found = Vec::new();
            for (item, rows) in sample.starts.windows(2).enumerate() {
                let rows = rows[0]..rows[1];
                let name = |row: u32| self.names[sample.nodes[row as usize] as usize];
                for row in rows.clone() {
                    let time = self.times[sample.nodes[row as usize] as usize];
                    assert!(
                        time <= items[item].time,
                        "a row of time {time} is in the neighbourhood of {:?}",
                        items[item]
                    );
                }
                let mut text = format!("{:?}", rows.clone().map(name).collect::<Vec<_>>());
                let mut arcs = Vec::new();
                for (relation, all) in self.types.relations().iter().zip(&sample.arcs) {
                    assert!(all.is_sorted_by_key(|arc| arc.0));
                    let own = all.iter().filter(|(target, _)| rows.contains(target));
                    arcs.extend(own.map(|&(target, source)| {
                        assert!(rows.contains(&source), "an arc between the neighbourhoods of two items");
                        (relation.name.clone(), relation.inverse, name(target), name(source))
                    }));
                }
                arcs.sort();
                text.push_str(&format!(" {arcs:?}"));
                found.push(text);
            }
            found
        }
    }

    /// Customers and products without a time, or with one; orders with one.
    fn rows(stream: &mut Stream, count: usize) -> Vec<Row> {
        let time = |stream: &mut Stream| if stream.uniform() < 0.3 { ALWAYS } else { stream.below(10) as i64 };
        let mut rows = Vec::new();
        for id in 0..4 {
            rows.push(Row { kind: "customer", id: 10 * id, time: ALWAYS, refers: Vec::new() });
            rows.push(Row { kind: "product", id: 10 * id, time: time(stream), refers: Vec::new() });
        }
        for id in 0..count as u32 {
            rows.push(order(stream, 10 * id, 0));
        }
        rows
    }

    fn order(stream: &mut Stream, id: u32, from: i64) -> Row {
        let customer = |stream: &mut Stream| 10 * stream.below(4) as u32;
        let refers = vec![
            ("bought_by", "customer", customer(stream)),
            ("of", "product", customer(stream)),
            ("first", "order", 10 * stream.below(6) as u32),
        ];
        Row { kind: "order", id, time: from + stream.below(10) as i64, refers }
    }

    #[test]
    fn nothing_of_an_item_hangs_on_rows_that_are_later_than_it() {
        for seed in 0..60 {
            let mut stream = Stream::new(seed);
            let count = 6 + stream.below(25);
            let rows = rows(&mut stream, count);
            let time = stream.below(10) as i64;
            let items: Vec<(u32, i64)> = (0..4).flat_map(|id| [(10 * id, time), (10 * id, time.min(3))]).collect();
            // Later rows are dropped, changed or added, between the others in the order of the keys; a product or an order.
            let mut others: Vec<Row> = Vec::new();
            for row in &rows {
                match row.time > time {
                    true if stream.uniform() < 0.4 => {}
                    true => {
                        let id = row.id + stream.below(2) as u32;
                        others.push(Row {
                            id,
                            ..if row.kind == "order" { order(&mut stream, 0, time + 1) } else { row.clone() }
                        });
                    }
                    false => others.push(row.clone()),
                }
            }
            for id in 0..stream.below(12) as u32 {
                others.push(order(&mut stream, 10 * id + 5, time + 1));
                others.push(Row { kind: "product", id: 10 * id + 5, time: time + 1, refers: Vec::new() });
            }
            let (before, after) = (Database::new(&rows), Database::new(&others));
            for order in [FanoutOrder::Uniform, FanoutOrder::Latest] {
                for fanout in [&[2, 2, 1][..], &[1, 3], &[u32::MAX, u32::MAX]] {
                    let found = after.sample(&items, fanout, order);
                    assert_eq!(found, before.sample(&items, fanout, order), "seed {seed}, {order:?}, {fanout:?}");
                }
            }
        }
    }

    #[test]
    fn without_a_limit_a_neighbourhood_is_all_that_was_there_within_its_hops() {
        for seed in 0..20 {
            let mut stream = Stream::new(100 + seed);
            let rows = rows(&mut stream, 15);
            let database = Database::new(&rows);
            let time = 5;
            // Literally: rows that are there, joined where one refers to the other.
            let there: Vec<&Row> = rows.iter().filter(|row| row.time <= time).collect();
            let joined = |a: &Row, b: &Row| {
                let refers = |a: &Row, b: &Row| a.refers.iter().any(|&(_, kind, id)| (kind, id) == (b.kind, b.id));
                refers(a, b) || refers(b, a)
            };
            let mut reached = BTreeSet::from([("customer", 20)]);
            for _ in 0..2 {
                let next: Vec<(&str, u32)> = there
                    .iter()
                    .filter(|a| there.iter().any(|b| reached.contains(&(b.kind, b.id)) && joined(a, b)))
                    .map(|row| (row.kind, row.id))
                    .collect();
                reached.extend(next);
            }
            let sampler = TemporalSampler::new(database.types.clone(), &database.times, &[], FanoutOrder::Uniform);
            let node = database.names.binary_search(&("customer", 20)).unwrap() as u32;
            let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
            let item = TimedItem { number: 0, node, time };
            let sample = sampler.sample(&[item], &[u32::MAX; 2], 0, &mut reservation).unwrap();
            let found: BTreeSet<(&str, u32)> = sample.nodes.iter().map(|&node| database.names[node as usize]).collect();
            assert_eq!((found.len(), &found), (sample.nodes.len(), &reached));
        }
    }

    #[test]
    fn draws_are_the_same_beside_other_items_and_at_any_number_of_threads() {
        let mut stream = Stream::new(5);
        let rows = rows(&mut stream, 200);
        let database = Database::new(&rows);
        let sampler = TemporalSampler::new(database.types.clone(), &database.times, &[], FanoutOrder::Uniform);
        let items: Vec<TimedItem> = (0..400).map(|at| TimedItem { number: at, node: at as u32 % 4, time: 9 }).collect();
        let sample = |threads: usize, items: &[TimedItem]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
            pool.install(|| sampler.sample(items, &[5, 3], 7, &mut reservation)).unwrap()
        };
        let all = sample(1, &items);
        assert_eq!(all, sample(8, &items));
        let alone = sample(1, &items[37..38]);
        assert_eq!(alone.nodes[..], all.nodes[all.starts[37] as usize..all.starts[38] as usize]);
        // Items of one node draw each for itself.
        assert!((4..400).step_by(4).any(|at| {
            let at = at as usize;
            all.nodes[all.starts[at] as usize..all.starts[at + 1] as usize] != all.nodes[..all.starts[1] as usize]
        }));
    }

    #[test]
    fn draws_are_uniform_and_the_latest_are_those_with_the_latest_times() {
        // A customer with 20 orders of times 0 to 19, the last four of which are not there at time 15.
        let mut rows = vec![Row { kind: "customer", id: 0, time: ALWAYS, refers: Vec::new() }];
        rows.extend((0..20).map(|id| {
            let refers = vec![("bought_by", "customer", 0)];
            Row { kind: "order", id, time: i64::from(id), refers }
        }));
        let database = Database::new(&rows);
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let latest = TemporalSampler::new(database.types.clone(), &database.times, &[], FanoutOrder::Latest);
        let item = TimedItem { number: 0, node: 0, time: 15 };
        assert_eq!(latest.sample(&[item], &[3], 0, &mut reservation).unwrap().nodes, [0, 14, 15, 16]);
        let uniform = TemporalSampler::new(database.types.clone(), &database.times, &[], FanoutOrder::Uniform);
        const DRAWS: u64 = 4000;
        let items: Vec<TimedItem> = (0..DRAWS).map(|number| TimedItem { number, ..item }).collect();
        let sample = uniform.sample(&items, &[3], 0, &mut reservation).unwrap();
        let mut counts = [0f64; 16];
        for rows in sample.starts.windows(2) {
            let rows = &sample.nodes[rows[0] as usize..rows[1] as usize];
            assert_eq!(rows.len(), 4, "three distinct orders");
            rows[1..].iter().for_each(|&order| counts[order as usize - 1] += 1.0);
        }
        // Chi-square of 3 of 16 without replacement is (15/13) of its multinomial value; 37.7 is the 99.9 % point at 15.
        let expected = DRAWS as f64 * 3.0 / 16.0;
        let chi: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
        assert!(chi * 15.0 / 13.0 < 37.7, "chi-square {chi}");
    }
}
