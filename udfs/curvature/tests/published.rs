//! Figures that were published, from the publishers' files.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

use std::path::PathBuf;

use bonnet_curvature::{
    EdgeIds, MidpointCurvature, MidpointOptions, Moments, OllivierOptions, effective_resistance, midpoint_curvature,
    ollivier_ricci,
};
use bonnet_graph::{Graph, Unmonitored};

/// The pairs of a text file of `u v` lines, from line `skip` on; `None` where the data are absent.
fn arcs(path: &str, skip: usize) -> Option<(usize, Vec<(u32, u32)>)> {
    let default = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = std::env::var_os("BONNET_DATA").map_or(default, PathBuf::from).join(path);
    let Ok(text) = std::fs::read_to_string(&path) else {
        assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "{} is absent", path.display());
        println!("skipped: {} is absent", path.display());
        return None;
    };
    let arcs: Vec<(u32, u32)> = text
        .lines()
        .skip(skip)
        .map(|line| {
            let mut ends = line.split_whitespace().map(|end| end.parse().unwrap());
            (ends.next().unwrap(), ends.next().unwrap())
        })
        .collect();
    let n = arcs.iter().map(|&(u, v)| u.max(v) as usize + 1).max().unwrap();
    Some((n, arcs))
}

fn curvature(n: usize, arcs: &[(u32, u32)], options: &MidpointOptions) -> (MidpointCurvature, Moments) {
    let found = midpoint_curvature(n, arcs, options, &Unmonitored).unwrap();
    let values: Vec<f64> = found.curvature.iter().map(|x| x.unwrap()).collect();
    (found, Moments::of(&values))
}

/// Mean and skewness to as many digits as were printed.
fn assert_printed(moments: &Moments, mean: &str, skewness: &str) {
    let digits = |text: &str| text.split('.').nth(1).map_or(0, str::len);
    assert_eq!(format!("{:.*}", digits(mean), moments.mean().unwrap()), mean);
    assert_eq!(format!("{:.*}", digits(skewness), moments.skewness_sample().unwrap()), skewness);
}

#[test]
fn the_phd_graph_has_the_printed_curvature() {
    // CurvBench, Table 1: CS_Phds -0.00301 and -1.53958.
    let Some((n, arcs)) = arcs("hyperbolics/real/ca-CSphd.edges", 0) else { return };
    let (found, moments) = curvature(n, &arcs, &MidpointOptions::default());
    assert_eq!((n, found.diameter), (1025, 28));
    assert_printed(&moments, "-0.0030062", "-1.539577");
}

#[test]
fn cornell_has_the_printed_curvature_once_loops_count() {
    // CurvBench, Table 1: Cornell 0.01050 and 0.81561, 183 nodes and 298 rows.
    let Some((n, arcs)) = arcs("geom-gcn/cornell/out1_graph_edges.txt", 1) else { return };
    assert_eq!((n, arcs.len()), (183, 298));
    let (found, moments) = curvature(n, &arcs, &MidpointOptions { self_loops: true, ..Default::default() });
    assert_eq!(found.diameter, 8);
    assert_printed(&moments, "0.01050", "0.81561");
}

#[test]
fn actor_has_the_printed_curvature_along_arcs_with_loops_and_the_unreachable_two_diameters_away() {
    // CurvBench, Table 1: Actor 0.12039 and 1.30001, 7600 nodes and 30019 distinct rows.
    let Some((n, arcs)) = arcs("geom-gcn/film/out1_graph_edges.txt", 1) else { return };
    let options = MidpointOptions { directed: true, self_loops: true, unreachable: Some(2.0), ..Default::default() };
    let (found, moments) = curvature(n, &arcs, &options);
    assert_eq!((n, found.diameter), (7600, 20));
    assert_printed(&moments, "0.12039", "1.30001");
}

#[test]
fn a_sample_of_anchors_finds_the_mean_of_wordnet() {
    let Some((n, arcs)) = arcs("hyperbolics/real/wordnet.edges", 0) else { return };
    let (found, exact) = curvature(n, &arcs, &MidpointOptions { relative: false, ..Default::default() });
    assert_eq!(n, 74_374);
    let options = MidpointOptions { relative: false, anchors: Some(1024), seed: 1, ..Default::default() };
    let (sampled, estimate) = curvature(n, &arcs, &options);
    assert!(sampled.diameter <= found.diameter);
    // Root mean square errors measured over draws of this size: 5e-6 of the mean, .001 of the skewness.
    assert!((exact.mean().unwrap() - estimate.mean().unwrap()).abs() < 3e-5);
    assert!((exact.skewness_population().unwrap() - estimate.skewness_population().unwrap()).abs() < 0.01);
}

/// Compares the sum over every `step`-th edge and three edges of the largest hub.
fn assert_sums(path: &str, step: usize, hub: [(u32, u32); 3], sums: [(f64, f64); 2]) {
    let Some((n, arcs)) = arcs(path, 0) else { return };
    let graph = Graph::from_edges(n, &arcs);
    let ids = EdgeIds::new(&graph);
    for (alpha, expected) in sums {
        let options = OllivierOptions { alpha, ..OllivierOptions::default() };
        let values = ollivier_ricci(&graph, &options, &Unmonitored).unwrap();
        let hub = hub.iter().map(|&(u, v)| ids.of(u, v).unwrap());
        let sum: f64 = (0..graph.n_edges()).step_by(step).chain(hub).map(|id| values[id]).sum();
        assert!((sum - expected).abs() < 1e-10, "{path}: {sum} {expected}");
    }
}

#[test]
fn edges_of_graphs_with_hubs_have_the_curvatures_of_an_exact_transport_solver() {
    // POT 0.9.7, ot.emd2; hubs of degree 1045 and 1621.
    let facebook = [(0.0, 9.81200050402933), (0.5, 5.483225722365983)];
    assert_sums("hyperbolics/real/facebook_combined.edges", 2205, [(6, 897), (0, 6), (6, 297)], facebook);
    let wikilinks = [(0.0, -5.461748670380941), (0.5, -2.5203608146981145)];
    assert_sums("hyperbolics/real/wikilinks.edges", 2663, [(40, 78), (78, 278), (20, 78)], wikilinks);
}

#[test]
fn resistances_of_large_graphs_sum_to_the_rank_of_their_laplacians() {
    for (path, n, edges, components) in [("wikilinks", 4589, 106_534, 1), ("wordnet", 74_374, 75_834, 1)] {
        let Some((found, arcs)) = arcs(&format!("hyperbolics/real/{path}.edges"), 0) else { return };
        let graph = Graph::from_edges(found, &arcs);
        assert_eq!((found, graph.n_edges()), (n, edges));
        let values = effective_resistance(&graph, None, &Unmonitored).unwrap();
        let sum: f64 = values.iter().sum();
        assert!((sum - (n - components) as f64).abs() < 1e-8, "{path}: {sum}");
        assert!(values.iter().all(|value| *value > 0.0 && *value <= 1.0 + 1e-12));
    }
}
