//! Samples of anchors.

use super::*;

/// The sample that a seed gives: in each component with more nodes, of `count` of them; elsewhere all.
fn sample_of_components(n: usize, arcs: &[(u32, u32)], count: usize, seed: u64) -> Vec<Vec<u32>> {
    let components = connected_components(&Graph::from_edges(n, arcs));
    let mut random = SplitMix64::new(seed);
    (0..components.sizes.len())
        .map(|c| {
            let members: Vec<u32> = (0..n as u32).filter(|&v| components.of_node[v as usize] as usize == c).collect();
            if members.len() > count { random.sample(members, count) } else { members }
        })
        .collect()
}

/// Mean and standard error over the anchors of a sample by groups of 16, as the formula says.
fn grouped(residuals: &[(u32, f64)], sample: &[u32], population: usize) -> (f64, Option<f64>) {
    let residual = |a: u32| residuals.iter().find(|r| r.0 == a).map(|r| r.1);
    let groups: Vec<(f64, f64)> = sample
        .chunks(GROUP)
        .map(|group| {
            let found: Vec<f64> = group.iter().filter_map(|&a| residual(a)).collect();
            (found.iter().sum(), found.len() as f64)
        })
        .collect();
    let (num, den) = groups.iter().fold((0.0, 0.0), |(n, d), g| (n + g.0, d + g.1));
    let squares: f64 = groups.iter().map(|g| (g.0 - num / den * g.1).powi(2)).sum();
    let count = groups.len() as f64;
    let rest = 1.0 - sample.len() as f64 / population as f64;
    let error = (count / (count - 1.0) * squares * rest).sqrt() / den;
    (num / den, (groups.len() >= 2).then_some(error))
}

#[test]
fn a_sample_of_anchors_gives_the_definition_over_that_sample() {
    let mut random = Lcg(8);
    for (round, count) in [(0, 3), (1, 16), (2, 20), (3, 50), (4, 100), (5, 600)] {
        let n = if count == 600 { 700 } else { 150 };
        let mut arcs = random.arcs(n, 2 * n);
        let n = random.hang_trees(&mut arcs, n, 40) as usize;
        let components = connected_components(&Graph::from_edges(n, &arcs));
        let samples = sample_of_components(n, &arcs, count, round);
        let sample = |m: u32| &samples[components.of_node[m as usize] as usize];
        for self_loops in [false, true] {
            let options = MidpointOptions { anchors: Some(count), seed: round, self_loops, ..Default::default() };
            let found = midpoint_curvature(n, &arcs, &options, &Unmonitored).unwrap();
            let distances = distances(n, &arcs, false);
            let met = samples.iter().flatten().flat_map(|&a| distances[a as usize].iter().flatten());
            assert_eq!(found.diameter, *met.max().unwrap());
            let literal = literal(n, &arcs, &options, found.diameter, |m| sample(m).clone());
            for (m, found_error) in found.standard_error.unwrap().into_iter().enumerate() {
                let sample = sample(m as u32);
                if !literal.has_pairs[m] {
                    assert_eq!((found.curvature[m], found_error), (Some(0.0), Some(0.0)));
                    continue;
                }
                let population = components.sizes[components.of_node[m] as usize];
                let (mean, error) = grouped(&literal.residuals[m], sample, population);
                let scale = literal.largest;
                assert!((found.curvature[m].unwrap() - mean / scale).abs() < 1e-12);
                if population <= count {
                    assert_eq!(found_error, Some(0.0));
                } else {
                    assert_eq!(found_error.is_some(), error.is_some());
                    let difference = found_error.unwrap_or(0.0) - error.unwrap_or(0.0) / scale;
                    assert!(difference.abs() < 1e-9, "{:?} {error:?}", found_error);
                }
            }
        }
    }
}

#[test]
fn a_sample_reads_arcs_and_fills_in_the_unreachable_likewise() {
    let mut random = Lcg(9);
    for round in 0..30 {
        let n = 30 + random.below(30);
        let arcs = random.arcs(n, 2 * n);
        let n = n as usize;
        for unreachable in [None, Some(2.0)] {
            for self_loops in [false, true] {
                let options = MidpointOptions {
                    directed: true,
                    anchors: Some(20),
                    seed: round,
                    unreachable,
                    self_loops,
                    ..Default::default()
                };
                let found = midpoint_curvature(n, &arcs, &options, &Unmonitored).unwrap();
                let sample = SplitMix64::new(round).sample((0..n as u32).collect(), 20);
                let literal = literal(n, &arcs, &options, found.diameter, |_| sample.clone());
                for (m, found_error) in found.standard_error.unwrap().into_iter().enumerate() {
                    if !literal.has_pairs[m] {
                        assert_eq!(found.curvature[m], Some(0.0));
                    } else if literal.residuals[m].is_empty() {
                        assert_eq!((found.curvature[m], found_error), (None, None));
                    } else {
                        let (mean, error) = grouped(&literal.residuals[m], &sample, n);
                        assert!((found.curvature[m].unwrap() - mean / literal.largest).abs() < 1e-12);
                        assert!((found_error.unwrap() - error.unwrap() / literal.largest).abs() < 1e-9);
                    }
                }
            }
        }
        // Undirected: what another component adds is known without sampling.
        let options = MidpointOptions { anchors: Some(8), seed: round, relative: false, ..Default::default() };
        let within = midpoint_curvature(n, &arcs, &options, &Unmonitored).unwrap();
        let options = MidpointOptions { unreachable: Some(1.5), ..options };
        let found = midpoint_curvature(n, &arcs, &options, &Unmonitored).unwrap();
        let components = connected_components(&Graph::from_edges(n, &arcs));
        let literal = literal(n, &arcs, &options, found.diameter, |_| (0..n as u32).collect());
        for m in (0..n).filter(|&m| literal.has_pairs[m]) {
            let elsewhere = |a: &u32| components.of_node[*a as usize] != components.of_node[m];
            let away: f64 = literal.residuals[m].iter().filter(|r| elsewhere(&r.0)).map(|r| r.1).sum();
            let near = (components.sizes[components.of_node[m] as usize] - 1) as f64;
            let expected = within.curvature[m].map(|x| (x * near + away) / (n - 1) as f64);
            assert_eq!(found.curvature[m].is_some(), expected.is_some());
            assert!((found.curvature[m].unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12);
        }
    }
}

#[test]
fn a_sample_of_at_least_all_nodes_is_exact() {
    let mut random = Lcg(10);
    let arcs = random.arcs(60, 100);
    for options in every_option() {
        let whole = midpoint_curvature(60, &arcs, &options, &Unmonitored).unwrap();
        let options = MidpointOptions { anchors: Some(60), ..options };
        let sampled = midpoint_curvature(60, &arcs, &options, &Unmonitored).unwrap();
        assert_eq!(sampled.curvature, whole.curvature);
        assert_eq!(sampled.standard_error, Some(vec![Some(0.0); 60]));
    }
}

#[test]
fn standard_errors_are_as_large_as_the_errors() {
    let mut random = Lcg(11);
    let arcs = preferential(600, 3, &mut random);
    let truth = exact(600, &arcs);
    let (mut squares, mut count, mut covered) = (0.0, 0.0, 0.0);
    for seed in 0..40 {
        let options = MidpointOptions { anchors: Some(160), seed, relative: false, ..Default::default() };
        let found = midpoint_curvature(600, &arcs, &options, &Unmonitored).unwrap();
        for (m, error) in found.standard_error.unwrap().into_iter().enumerate() {
            let z = (found.curvature[m].unwrap() - truth[m]) / error.unwrap();
            squares += z * z;
            count += 1.0;
            // Student's t of 9 degrees of freedom, 95 %.
            covered += f64::from(z.abs() <= 2.262);
        }
    }
    let rms = f64::sqrt(squares / count);
    // Of Student's t with 9 degrees of freedom the root mean square is 1.13.
    assert!((0.9..1.3).contains(&rms), "rms of z is {rms}");
    assert!((0.92..0.98).contains(&(covered / count)), "coverage is {}", covered / count);
}
