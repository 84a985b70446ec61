//! Lengths of edges along adjacency lists, and distances over them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bonnet_graph::{Graph, Monitor, Stopped};

/// Values of edges, in the order of [`Graph::edges`], in that of [`Graph::targets`]: 8 bytes an arc and a node.
pub(crate) fn of_arcs(graph: &Graph, values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut next: Vec<usize> = graph.offsets()[..graph.n_nodes()].to_vec();
    let mut found = vec![0.0; graph.targets().len()];
    // In this order of edges every list is met from its front: first the smaller neighbours, then the larger.
    for ((u, v), value) in graph.edges().zip(values) {
        for end in [u, v] {
            found[next[end as usize]] = value;
            next[end as usize] += 1;
        }
    }
    found
}

/// Dijkstra: the distances from a node into `row`, infinite where no path leads, over arcs of these lengths, none of them negative; answers
/// the largest finite one. O(m log n).
pub(crate) fn distances(
    graph: &Graph,
    lengths: &[f64],
    source: u32,
    row: &mut [f64],
    monitor: &dyn Monitor,
) -> Result<f64, Stopped> {
    row.fill(f64::INFINITY);
    row[source as usize] = 0.0;
    // Bits of numbers that are not negative order as the numbers do.
    let mut queue = BinaryHeap::from([Reverse((0u64, source))]);
    let (mut last, mut taken) = (0.0, 0);
    while let Some(Reverse((bits, v))) = queue.pop() {
        let distance = f64::from_bits(bits);
        if distance > row[v as usize] {
            continue;
        }
        taken += 1;
        if taken % 4096 == 0 {
            monitor.check()?;
        }
        last = distance;
        let range = graph.offsets()[v as usize]..graph.offsets()[v as usize + 1];
        for (&u, length) in graph.targets()[range.clone()].iter().zip(&lengths[range]) {
            let through = distance + length;
            if through < row[u as usize] {
                row[u as usize] = through;
                queue.push(Reverse((through.to_bits(), u)));
            }
        }
    }
    Ok(last)
}
