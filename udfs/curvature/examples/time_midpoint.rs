//! Times midpoint curvature on an edge list or on a generated graph.
//!
//! ```text
//! cargo run --release -p bonnet-curvature --no-default-features --example time_midpoint -- \
//!     GRAPH [threads=T] [anchors=K] [unreachable=FACTOR] [directed=true] [self_loops=true]
//! ```
//!
//! GRAPH is the path of a text file of `u v` lines (node numbers from 0; blanks, tabs or commas between them; a
//! first line without numbers is skipped), or
//! `ba:N:M` for preferential attachment with N nodes of M links, or `grid:W:H`.

use std::time::Instant;

use bonnet_curvature::{MidpointOptions, Moments, midpoint_curvature};
use bonnet_graph::{Graph, Unmonitored};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = MidpointOptions::default();
    let mut threads = 0;
    let mut graph = None;
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("anchors", value)) => options.anchors = Some(value.parse()?),
            Some(("threads", value)) => threads = value.parse()?,
            Some(("unreachable", value)) => options.unreachable = Some(value.parse()?),
            Some(("directed", value)) => options.directed = value.parse()?,
            Some(("self_loops", value)) => options.self_loops = value.parse()?,
            Some((name, _)) => return Err(format!("there is no option {name}").into()),
            None => graph = Some(argument),
        }
    }
    let arcs = read(&graph.ok_or("name a file of edges, or ba:N:M, or grid:W:H")?)?;
    let n = arcs.iter().map(|&(u, v)| u.max(v) as usize + 1).max().unwrap_or(0);

    let start = Instant::now();
    let edges = Graph::from_edges(n, &arcs).n_edges();
    let building = start.elapsed();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let start = Instant::now();
    let found = pool.install(|| midpoint_curvature(n, &arcs, &options, &Unmonitored))?;
    let seconds = start.elapsed().as_secs_f64();

    let values: Vec<f64> = found.curvature.iter().flatten().copied().collect();
    let moments = Moments::of(&values);
    println!("{n} nodes, {edges} edges; the graph alone is built in {:.3} s", building.as_secs_f64());
    println!("{seconds:.3} s on {} threads, diameter {}", pool.current_num_threads(), found.diameter);
    println!("mean {:?}, skewness (sample) {:?}", moments.mean(), moments.skewness_sample());
    Ok(())
}

fn read(graph: &str) -> Result<Vec<(u32, u32)>, Box<dyn std::error::Error>> {
    let numbers = |text: &str| -> Result<(u32, u32), Box<dyn std::error::Error>> {
        let (a, b) = text.split_once(':').ok_or("two numbers are needed, as in ba:1000:5")?;
        Ok((a.parse()?, b.parse()?))
    };
    if let Some(text) = graph.strip_prefix("ba:") {
        let (n, m) = numbers(text)?;
        return Ok(preferential_attachment(n, m));
    }
    if let Some(text) = graph.strip_prefix("grid:") {
        let (width, height) = numbers(text)?;
        return Ok(grid(width, height));
    }
    let mut arcs = Vec::new();
    let text = std::fs::read_to_string(graph)?;
    let header = text.lines().next().is_some_and(|line| !line.starts_with(|c: char| c.is_ascii_digit()));
    for line in text.lines().skip(usize::from(header)) {
        let mut ends = line.split([' ', '\t', ',']).filter(|end| !end.is_empty());
        if let (Some(u), Some(v)) = (ends.next(), ends.next()) {
            arcs.push((u.parse()?, v.parse()?));
        }
    }
    Ok(arcs)
}

/// Every new node links to `m` ends of earlier edges, drawn by a linear congruential generator.
fn preferential_attachment(n: u32, m: u32) -> Vec<(u32, u32)> {
    let mut state = 1u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % bound
    };
    let mut arcs: Vec<(u32, u32)> = (1..=m).map(|v| (0, v)).collect();
    for v in m + 1..n {
        let earlier = arcs.len();
        for _ in 0..m {
            let end = below(2 * earlier);
            let (a, b) = arcs[end / 2];
            arcs.push((v, if end % 2 == 0 { a } else { b }));
        }
    }
    arcs
}

fn grid(width: u32, height: u32) -> Vec<(u32, u32)> {
    let at = |x, y| y * width + x;
    let across = (0..height).flat_map(|y| (1..width).map(move |x| (at(x - 1, y), at(x, y))));
    let down = (1..height).flat_map(|y| (0..width).map(move |x| (at(x, y - 1), at(x, y))));
    across.chain(down).collect()
}
