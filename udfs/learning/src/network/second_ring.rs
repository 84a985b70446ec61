//! The ring of distance 2 around each node.

use bonnet_graph::{Graph, Reservation, Stopped};

use super::operator::Operator;

/// The normalised adjacency of the graph in which two nodes are neighbours where their distance is exactly 2:
/// `D2^-1/2 A2 D2^-1/2` (Zhu et al. 2020, Eq. 5); 0 for a node without any. O(sum over the edges of the degrees) time.
pub fn second_ring(graph: &Graph, reservation: &mut Reservation<'_>) -> Result<Operator, Stopped> {
    let n = graph.n_nodes();
    reservation.grow(n * (size_of::<u32>() + size_of::<usize>()))?;
    // `seen[u]` is the last node around which u was met.
    let mut seen = vec![u32::MAX; n];
    let mut offsets = vec![0];
    for v in 0..n as u32 {
        let mut degree = 0;
        ring(graph, v, &mut seen, |_| degree += 1);
        offsets.push(offsets[v as usize] + degree);
        if v % 1024 == 0 {
            reservation.check()?;
        }
    }
    let entries = offsets[n];
    reservation.grow(Operator::matrix_bytes(n, entries))?;
    seen.fill(u32::MAX);
    let mut columns = Vec::with_capacity(entries);
    for v in 0..n as u32 {
        ring(graph, v, &mut seen, |u| columns.push(u));
        columns[offsets[v as usize]..].sort_unstable();
        if v % 1024 == 0 {
            reservation.check()?;
        }
    }
    let root = |v: u32| 1.0 / ((offsets[v as usize + 1] - offsets[v as usize]) as f64).sqrt();
    let mut values = Vec::with_capacity(entries);
    for v in 0..n as u32 {
        values
            .extend(columns[offsets[v as usize]..offsets[v as usize + 1]].iter().map(|&u| (root(v) * root(u)) as f32));
    }
    Ok(Operator::from_rows(offsets, columns, values, true))
}

/// Calls `found` for every node at distance 2 from `v`, in any order, and marks what it meets with `v`.
fn ring(graph: &Graph, v: u32, seen: &mut [u32], mut found: impl FnMut(u32)) {
    seen[v as usize] = v;
    graph.neighbors(v).iter().for_each(|&u| seen[u as usize] = v);
    for &u in graph.neighbors(v) {
        for &w in graph.neighbors(u) {
            if std::mem::replace(&mut seen[w as usize], v) != v {
                found(w);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;
    use crate::ground::random::{Stream, key};

    #[test]
    fn the_ring_holds_the_nodes_at_distance_two_and_no_others() {
        let n = 60;
        let mut stream = Stream::new(key(&[31]));
        let edges: Vec<(u32, u32)> = (0..90).map(|_| (stream.below(n) as u32, stream.below(n) as u32)).collect();
        let graph = Graph::from_edges(n, &edges);
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let ring = second_ring(&graph, &mut reservation).unwrap();
        let adjacent = |a: u32, b: u32| graph.has_edge(a, b);
        for v in 0..n as u32 {
            let expected: Vec<u32> = (0..n as u32)
                .filter(|&u| u != v && !adjacent(u, v) && (0..n as u32).any(|w| adjacent(u, w) && adjacent(w, v)))
                .collect();
            assert_eq!(ring.row(v), expected, "node {v}");
            for (&u, value) in ring.row(v).iter().zip(&ring.csr().values[ring.offsets()[v as usize]..]) {
                let expected = 1.0 / ((ring.row(v).len() * ring.row(u).len()) as f64).sqrt();
                assert!((f64::from(*value) - expected).abs() < 1e-7);
            }
        }
    }
}
