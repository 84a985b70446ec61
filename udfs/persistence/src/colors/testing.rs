//! Pairs of graphs that the tests of Weisfeiler and Leman are known by.

/// Nodes, and edges.
pub(crate) type Edges = (usize, Vec<(u32, u32)>);

/// A cycle of 6 nodes, and two triangles: regular of degree 2, alike for 1-WL.
pub(crate) fn hexagon_and_triangles() -> [Edges; 2] {
    [
        (6, vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]),
        (6, vec![(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]),
    ]
}

/// The rook's graph of 4 by 4 fields and the Shrikhande graph: strongly regular of the same parameters, alike for 3-WL (folklore
/// 2-WL).
pub(crate) fn rook_and_shrikhande() -> [Edges; 2] {
    let pairs = || (0..16u32).flat_map(|u| (u + 1..16).map(move |v| (u, v)));
    let rook = pairs().filter(|(u, v)| u / 4 == v / 4 || u % 4 == v % 4).collect();
    let step = |u: u32, v: u32| ((v / 4 + 4 - u / 4) % 4, (v % 4 + 4 - u % 4) % 4);
    let steps = [(1, 0), (3, 0), (0, 1), (0, 3), (1, 1), (3, 3)];
    [(16, rook), (16, pairs().filter(|&(u, v)| steps.contains(&step(u, v))).collect())]
}

/// Pair 243 of BREC (Wang and Zhang, ICML 2024), two extension graphs: 3-WL tells them apart, though in each by itself no colour splits
/// any more when it does.
pub(crate) fn extension_pair() -> [Edges; 2] {
    [
        (
            10,
            vec![
                (0, 4),
                (0, 5),
                (0, 7),
                (0, 8),
                (0, 9),
                (1, 5),
                (1, 6),
                (1, 8),
                (2, 6),
                (2, 7),
                (2, 8),
                (2, 9),
                (3, 7),
                (3, 9),
                (4, 8),
                (5, 8),
                (5, 9),
                (6, 9),
                (7, 8),
                (7, 9),
                (8, 9),
            ],
        ),
        (
            10,
            vec![
                (0, 4),
                (0, 5),
                (0, 7),
                (0, 8),
                (0, 9),
                (1, 5),
                (1, 6),
                (1, 8),
                (2, 6),
                (2, 7),
                (2, 8),
                (2, 9),
                (3, 7),
                (3, 8),
                (4, 9),
                (5, 8),
                (5, 9),
                (6, 9),
                (7, 8),
                (7, 9),
                (8, 9),
            ],
        ),
    ]
}

/// Some graphs, one after the other, with a label for each node.
pub(crate) fn set(graphs: &[Edges], labels: Option<Vec<u32>>) -> super::GraphSet {
    let sizes: Vec<usize> = graphs.iter().map(|(n, _)| *n).collect();
    let mut start = 0;
    let mut edges = Vec::new();
    for (n, own) in graphs {
        edges.extend(own.iter().map(|&(u, v)| (u + start, v + start)));
        start += *n as u32;
    }
    super::GraphSet::new(&sizes, &edges, labels)
}
