//! How long the generators take: `cargo run --release -p bonnet-generators --no-default-features --example time_generators`.

use std::time::Instant;

use bonnet_generators::{
    DiseaseTree, Error, Generated, StochasticBlockModel, barabasi_albert, disease_tree, erdos_renyi, grid_2d,
    random_tree, stochastic_block_model,
};
use bonnet_graph::Unmonitored;

fn time(what: &str, generate: impl FnOnce() -> Result<Generated, Error>) -> Result<(), Error> {
    let start = Instant::now();
    let generated = generate()?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{what:<40} {:>10} nodes {:>10} edges {seconds:>8.3} s", generated.n_nodes, generated.edges.len());
    Ok(())
}

fn main() -> Result<(), Error> {
    let n = 1_000_000;
    time("erdos_renyi, mean degree 20", || erdos_renyi(n, 2e-5, 0, &Unmonitored))?;
    time("barabasi_albert, m = 10", || barabasi_albert(n, 10, 0, &Unmonitored))?;
    time("random_tree", || random_tree(n, 0, &Unmonitored))?;
    time("grid_2d with diagonals", || grid_2d(1000, 1000, true, false, &Unmonitored))?;
    let model = StochasticBlockModel { sizes: vec![n / 10; 10], p_within: 1e-4, p_between: 1e-5, ..Default::default() };
    time("stochastic_block_model, 10 blocks", || stochastic_block_model(&model, 0, &Unmonitored))?;
    time("disease_tree", || disease_tree(&DiseaseTree { n, ..Default::default() }, 0, &Unmonitored))
}
