//! The nodes and edges of a database.

use bonnet_graph::{Monitor, Reservation};
use rayon::prelude::*;

use crate::{Database, Error, ForeignKey, Links, PrimaryKey, Values};

/// The rows of a database as nodes `0..n`, its foreign keys as edges.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SchemaGraph {
    /// For each table, its rows that are nodes in the order of their numbers, and the number of the first of them.
    pub rows: Vec<(usize, Vec<u32>)>,
    /// The edges from the referring row to the row it names: ends, and the position of the foreign key.
    pub edges: Vec<(u32, u32, u32)>,
    /// The rows that no foreign key joins to another, and that were left out for it.
    pub left_out: u64,
}

impl SchemaGraph {
    /// Numbers the rows, table by table, those of a table by its primary key, else as they stand. With `isolated` every row
    /// is a node, without it only those with an edge.
    ///
    /// O(n log n + m) time, 16 bytes a row and 12 an edge.
    ///
    /// # Errors
    /// If there are more rows than 32 bits can number, or the monitor stopped the work.
    pub fn new(
        database: &Database,
        keys: &[PrimaryKey],
        links: &[(ForeignKey, Links)],
        isolated: bool,
        monitor: &dyn Monitor,
    ) -> Result<Self, Error> {
        let n_rows: usize = database.tables.iter().map(|table| table.n_rows).sum();
        if n_rows >= u32::MAX as usize {
            return Err(Error::Key(format!("{n_rows} rows: a graph has at most {} nodes", u32::MAX - 1)));
        }
        let _reservation = Reservation::new(monitor, 5 * n_rows)?;
        let mut joined: Vec<Vec<bool>> = database.tables.iter().map(|table| vec![isolated; table.n_rows]).collect();
        for (key, links) in links.iter().filter(|_| !isolated) {
            monitor.check()?;
            for &(from, to) in &links.pairs {
                joined[key.from][from as usize] = true;
                joined[key.to][to as usize] = true;
            }
        }
        let mut graph = Self::default();
        let mut first = 0usize;
        let mut numbers: Vec<Vec<u32>> = Vec::with_capacity(database.tables.len());
        for (table, joined) in joined.iter().enumerate() {
            monitor.check()?;
            let mut rows: Vec<u32> = (0..joined.len() as u32).filter(|&row| joined[row as usize]).collect();
            sort_by_key(database, table, &keys[table].columns, &mut rows);
            let mut number_of = vec![0u32; joined.len()];
            (first as u32..).zip(&rows).for_each(|(number, &row)| number_of[row as usize] = number);
            graph.left_out += (joined.len() - rows.len()) as u64;
            let next = first + rows.len();
            graph.rows.push((first, rows));
            numbers.push(number_of);
            first = next;
        }
        for (position, (key, links)) in (0u32..).zip(links) {
            monitor.check()?;
            let (from, to) = (&numbers[key.from], &numbers[key.to]);
            let mut edges: Vec<(u32, u32, u32)> =
                links.pairs.iter().map(|&(u, v)| (from[u as usize], to[v as usize], position)).collect();
            edges.par_sort_unstable();
            graph.edges.extend(edges);
        }
        Ok(graph)
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.rows.iter().map(|(_, rows)| rows.len()).sum()
    }
}

/// Sorts rows by the values of some columns, NULLs first; rows without a key keep their order.
fn sort_by_key(database: &Database, table: usize, columns: &[usize], rows: &mut [u32]) {
    let columns: Vec<&Values> = columns.iter().map(|&column| &database.tables[table].columns[column].values).collect();
    let part = |values: &Values, row: u32| match values {
        Values::Integers(values) => values[row as usize],
        Values::Texts(texts) => texts.codes[row as usize].map(i64::from),
        Values::Numbers(_) => None,
    };
    rows.par_sort_by(|&a, &b| {
        let differ = columns.iter().map(|values| part(values, a).cmp(&part(values, b))).find(|order| order.is_ne());
        differ.unwrap_or(std::cmp::Ordering::Equal)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{integers, table, texts};
    use crate::{foreign_keys, primary_keys};
    use bonnet_graph::{Graph, Unmonitored, connected_components};

    /// Three customers, of whom one bought nothing; four orders, one of nobody known.
    fn database() -> Database {
        let customers = table("customers", vec![("id", integers(&[30, 10, 20])), ("name", texts(&["c", "a", "b"]))]);
        let orders = table(
            "orders",
            vec![
                ("item", texts(&["x", "x", "y", "z"])),
                ("customer_id", Values::Integers(vec![Some(30), Some(10), Some(99), Some(30)])),
            ],
        );
        Database { tables: vec![customers, orders] }
    }

    fn graph(isolated: bool) -> SchemaGraph {
        let database = database();
        let keys = primary_keys(&database, &[], &Unmonitored).unwrap();
        let links = foreign_keys(&database, &keys, &[], 0.5, &Unmonitored).unwrap().keys;
        SchemaGraph::new(&database, &keys, &links, isolated, &Unmonitored).unwrap()
    }

    #[test]
    fn rows_are_numbered_by_their_keys() {
        let graph = graph(true);
        assert_eq!(graph.rows, [(0, vec![1, 2, 0]), (3, vec![0, 1, 2, 3])]);
        assert_eq!(graph.edges, [(3, 2, 0), (4, 0, 0), (6, 2, 0)]);
        assert_eq!((graph.n_nodes(), graph.left_out), (7, 0));
        let arcs: Vec<(u32, u32)> = graph.edges.iter().map(|edge| (edge.0, edge.1)).collect();
        let mut sizes = connected_components(&Graph::from_edges(7, &arcs)).sizes;
        sizes.sort_unstable();
        assert_eq!(sizes, [1, 1, 2, 3]);
    }

    #[test]
    fn rows_without_an_edge_may_be_left_out() {
        let graph = graph(false);
        assert_eq!(graph.rows, [(0, vec![1, 0]), (2, vec![0, 1, 3])]);
        assert_eq!(graph.edges, [(2, 1, 0), (3, 0, 0), (4, 1, 0)]);
        assert_eq!((graph.n_nodes(), graph.left_out), (5, 2));
    }
}
