//! Times the curvatures of edges on an edge list or on a generated graph.
//!
//! ```text
//! cargo run -p bonnet-curvature --no-default-features --example time_edges -- \
//!     FUNCTION GRAPH [threads=T] [repeats=R] [alpha=A] [measure=NAME] [steps=S]
//! ```
//!
//! FUNCTION is `ollivier` or `resistance`. GRAPH is the path of a text file of `u v` lines (node numbers from 0; blanks,
//! tabs or commas between them; a first line without numbers is skipped), or `er:N:PERCENT` for a random graph,
//! `grid:W:H` for a grid with one diagonal in each cell, or `ladder:RUNGS`.

use std::time::Instant;

use bonnet_curvature::{Measure, OllivierOptions, effective_resistance, ollivier_ricci};
use bonnet_graph::{Graph, Unmonitored};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = OllivierOptions::default();
    let (mut threads, mut repeats) = (0, 5);
    let mut words = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("threads", value)) => threads = value.parse()?,
            Some(("repeats", value)) => repeats = value.parse()?,
            Some(("alpha", value)) => options.alpha = value.parse()?,
            Some(("steps", value)) => options.steps = value.parse()?,
            Some(("measure", value)) => options.measure = Measure::of_name(value).ok_or("there is no such measure")?,
            Some((name, _)) => return Err(format!("there is no option {name}").into()),
            None => words.push(argument),
        }
    }
    let [function, graph] = words.as_slice() else {
        return Err("name a function and a graph".into());
    };
    let edges = read(graph)?;
    let n = edges.iter().map(|&(u, v)| u.max(v) as usize + 1).max().unwrap_or(0);
    let graph = Graph::from_edges(n, &edges);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    println!("{n} nodes, {} edges, {} threads", graph.n_edges(), pool.current_num_threads());
    let mut least = f64::INFINITY;
    for _ in 0..repeats {
        let start = Instant::now();
        let values = pool.install(|| match function.as_str() {
            "ollivier" => Ok(ollivier_ricci(&graph, &options, &Unmonitored)?),
            "resistance" => Ok(effective_resistance(&graph, None, &Unmonitored)?),
            other => Err::<Vec<f64>, Box<dyn std::error::Error + Send + Sync>>(format!("no function {other}").into()),
        });
        let values = values.map_err(|error| error.to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        least = least.min(seconds);
        println!("{seconds:.4} s, sum {:.12}", values.iter().sum::<f64>());
    }
    println!("least {least:.4} s");
    Ok(())
}

fn read(graph: &str) -> Result<Vec<(u32, u32)>, Box<dyn std::error::Error>> {
    match *graph.split(':').collect::<Vec<_>>().as_slice() {
        ["er", n, percent] => return Ok(random(n.parse()?, percent.parse()?)),
        ["grid", width, height] => return Ok(grid(width.parse()?, height.parse()?)),
        ["ladder", rungs] => return Ok(ladder(rungs.parse()?)),
        _ => {}
    }
    let mut edges = Vec::new();
    let text = std::fs::read_to_string(graph)?;
    let header = text.lines().next().is_some_and(|line| !line.starts_with(|c: char| c.is_ascii_digit()));
    for line in text.lines().skip(usize::from(header)) {
        let mut ends = line.split([' ', '\t', ',']).filter(|end| !end.is_empty());
        if let (Some(u), Some(v)) = (ends.next(), ends.next()) {
            edges.push((u.parse()?, v.parse()?));
        }
    }
    Ok(edges)
}

/// Every pair with the given chance, drawn by a linear congruential generator.
fn random(n: u32, percent: u64) -> Vec<(u32, u32)> {
    let mut state = 1u64;
    let mut chance = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 100 < percent
    };
    (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).filter(|_| chance()).collect()
}

fn grid(width: u32, height: u32) -> Vec<(u32, u32)> {
    let at = |x, y| y * width + x;
    let across = (0..height).flat_map(|y| (1..width).map(move |x| (at(x - 1, y), at(x, y))));
    let down = (1..height).flat_map(|y| (0..width).map(move |x| (at(x, y - 1), at(x, y))));
    let diagonal = (1..height).flat_map(|y| (1..width).map(move |x| (at(x - 1, y - 1), at(x, y))));
    across.chain(down).chain(diagonal).collect()
}

fn ladder(rungs: u32) -> Vec<(u32, u32)> {
    let rung = (0..rungs).map(|i| (2 * i, 2 * i + 1));
    let rails = (1..rungs).flat_map(|i| [(2 * i - 2, 2 * i), (2 * i - 1, 2 * i + 1)]);
    rung.chain(rails).collect()
}
