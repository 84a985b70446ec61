//! How long counting the pairs of a metapath takes, on a million papers:
//! `cargo run --release -p bonnet-homophily --no-default-features --example time_metapaths`.

use std::time::Instant;

use bonnet_graph::Unmonitored;
use bonnet_homophily::{HeteroGraph, TypedRelation, metapath_pairs};

fn main() {
    let (papers, rows) = (1_000_000usize, 3_000_000usize);
    let mut state = 1u64;
    let mut unit = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let labels: Vec<Option<u32>> = (0..papers).map(|_| Some((unit() * 5.0) as u32)).collect();
    // Authors are drawn with a density that falls as a power: the larger, the more the first ones write.
    for (authors, power) in [(80_000usize, 1.0), (1_000_000, 1.7), (1_000_000, 2.6), (1_000_000, 4.0)] {
        let by: Vec<(u32, u32)> = (0..rows)
            .map(|_| ((unit() * papers as f64) as u32, (unit().powf(power) * authors as f64) as u32))
            .collect();
        let start = Instant::now();
        let relation = TypedRelation::new("by".to_owned(), (1, 0), (papers, authors), &by, true, &Unmonitored)
            .expect("no monitor");
        let inverse = relation.inverse.as_ref().expect("directed");
        let most = (0..authors as u32).map(|author| inverse.row(author).len()).max().unwrap_or(0);
        let node_types = vec![("author".to_owned(), authors), ("paper".to_owned(), papers)];
        let graph = HeteroGraph { node_types, relations: vec![relation] };
        let path = graph.parse_metapath("paper>author>paper").expect("a path");
        let building = start.elapsed().as_secs_f64();
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let start = Instant::now();
            let counts =
                pool.install(|| metapath_pairs(&graph, &path, &labels, false, &Unmonitored)).expect("no monitor");
            println!(
                "most papers of an author {most}: built in {building:.2} s, {threads} threads: {} pairs in {:.2} s",
                counts.edges,
                start.elapsed().as_secs_f64()
            );
        }
    }
}
