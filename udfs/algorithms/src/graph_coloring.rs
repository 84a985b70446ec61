//! Colourings of nodes.

use bonnet_graph::petgraph::algo::dsatur_coloring;
use bonnet_graph::{Graph, Monitor, Reservation, Stopped, watched};

/// A colour for each node, from 0, no edge between two of one colour: few colours, not always the fewest. By petgraph's
/// `dsatur_coloring`: the node whose neighbours have the most colours takes the first that none of them has. O((n + m)
/// log n). Two colours where they do, as in trees.
///
/// # Errors
/// If the monitor stops it.
pub fn graph_coloring(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 120 * n + 64 * graph.n_edges())?;
    let (found, _) = watched(graph.view(), monitor, |view| dsatur_coloring(view))?;
    let mut colors = vec![0; n];
    found.into_iter().for_each(|(v, color)| colors[v.index()] = color as u32);
    Ok(colors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{is_bipartite, testing};
    use bonnet_graph::Unmonitored;

    #[test]
    fn edges_join_different_colours_and_there_are_few() {
        let mut best = 0;
        for seed in 0..300 {
            let (n, mut rows) = testing::rows(seed);
            let n = n.min(8);
            rows.retain(|&(u, v)| (u as usize) < n && (v as usize) < n);
            let graph = Graph::from_edges(n, &rows);
            let colors = graph_coloring(&graph, &Unmonitored).unwrap();
            assert!(graph.edges().all(|(u, v)| colors[u as usize] != colors[v as usize]), "graph {seed}");
            let used = colors.iter().max().map_or(0, |&color| color as usize + 1);
            let fits = |count: usize| {
                (0..count.pow(n as u32)).any(|code| {
                    let color = |v: u32| code / count.pow(v) % count;
                    graph.edges().all(|(u, v)| color(u) != color(v))
                })
            };
            let fewest = (1..=n).find(|&count| count >= used || fits(count)).unwrap();
            assert!(used <= fewest + 1, "graph {seed}: {used} colours where {fewest} do");
            assert!(used <= 2 || !is_bipartite(&graph, &Unmonitored).unwrap(), "graph {seed}");
            best += usize::from(used == fewest);
        }
        assert!(best > 290, "{best}");
    }
}
