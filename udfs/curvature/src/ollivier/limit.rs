//! The limit of idleness.

use bonnet_graph::Monitor;

use super::{MeasuredGraph, OllivierError, OllivierOptions, ollivier_ricci, ollivier_ricci_pairs};

/// The share at which the limit is reached already.
const HALF: f64 = 0.5;

/// The Lin-Lu-Yau curvature of every edge, in the order of [`bonnet_graph::Graph::edges`]: the limit of kappa(alpha) / (1 - alpha) for
/// alpha to 1, where kappa(alpha) is the Ollivier-Ricci curvature with the share alpha staying (Lin, Lu and Yau, Ricci curvature of
/// graphs, 2011).
///
/// Exact: from alpha = 1/2 on, more stays at i than all places but j take, so some mass goes from i to j; a dual solution then
/// drops by d(i, j) from i to j, and W is linear in alpha (Bourne et al., Ollivier-Ricci idleness functions of graphs, 2018, for
/// hops and neighbours). So the limit is 2 kappa(1/2), for any measures and lengths. `options.alpha` does not count. Cost and errors as
/// [`ollivier_ricci`].
///
/// # Errors
/// [`OllivierError`].
pub fn lin_lu_yau<'a>(
    space: impl Into<MeasuredGraph<'a>>,
    options: &OllivierOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, OllivierError> {
    let half = OllivierOptions { alpha: HALF, ..options.clone() };
    let mut values = ollivier_ricci(space, &half, monitor)?;
    values.iter_mut().for_each(|value| *value /= 1.0 - HALF);
    Ok(values)
}

/// The same of pairs, as [`ollivier_ricci_pairs`].
///
/// # Errors
/// [`OllivierError`].
pub fn lin_lu_yau_pairs<'a>(
    space: impl Into<MeasuredGraph<'a>>,
    pairs: &[(u32, u32)],
    options: &OllivierOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, OllivierError> {
    let half = OllivierOptions { alpha: HALF, ..options.clone() };
    let mut values = ollivier_ricci_pairs(space, pairs, &half, monitor)?;
    values.iter_mut().for_each(|value| *value /= 1.0 - HALF);
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measure;
    use bonnet_graph::{Graph, Unmonitored};
    use proptest::prelude::*;

    fn of(n: usize, edges: &[(u32, u32)]) -> Vec<f64> {
        lin_lu_yau(&Graph::from_edges(n, edges), &OllivierOptions::default(), &Unmonitored).unwrap()
    }

    fn all(values: &[f64], expected: f64) {
        values.iter().for_each(|value| assert!((value - expected).abs() < 1e-14, "{value} {expected}"));
    }

    #[test]
    fn cycles_complete_graphs_cubes_and_trees_have_their_closed_forms() {
        // Lin, Lu and Yau 2011: K_n n / (n - 1), C_3 3/2, C_4 1, C_5 1/2, C_n 0, the cube 2 / d; trees 2/p + 2/q - 2.
        for (n, expected) in [(3, 1.5), (4, 1.0), (5, 0.5), (6, 0.0), (9, 0.0)] {
            all(&of(n as usize, &(0..n).map(|v| (v, (v + 1) % n)).collect::<Vec<_>>()), expected);
        }
        for n in 2..9u32 {
            let edges: Vec<_> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
            all(&of(n as usize, &edges), f64::from(n) / f64::from(n - 1));
        }
        for d in 1..6u32 {
            let edges: Vec<_> = (0..1u32 << d).flat_map(|v| (0..d).map(move |bit| (v, v ^ 1 << bit))).collect();
            all(&of(1 << d, &edges), 2.0 / f64::from(d));
        }
        let tree = [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (6, 7)];
        let graph = Graph::from_edges(8, &tree);
        for ((u, v), value) in graph.edges().zip(of(8, &tree)) {
            all(&[value], 2.0 / graph.degree(u) as f64 + 2.0 / graph.degree(v) as f64 - 2.0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn the_quotient_is_the_limit_from_one_half_on_and_no_more_before(
            edges in proptest::collection::vec((0u32..9, 0u32..9), 1..30), measure in 0..4usize, seed in 0u32..99,
        ) {
            let graph = Graph::from_edges(9, &edges);
            let lengths: Vec<f64> = graph.edges().map(|(u, v)| f64::from((u * 7 + v * 3 + seed) % 5 + 1)).collect();
            let pairs: Vec<_> = (0..9).flat_map(|u| (u + 1..9).map(move |v| (u, v))).collect();
            for lengths in [None, Some(lengths.as_slice())] {
                let space = MeasuredGraph { graph: &graph, lengths, measures: None };
                let options = OllivierOptions { measure: Measure::ALL[measure], ..OllivierOptions::default() };
                let limit = lin_lu_yau_pairs(space, &pairs, &options, &Unmonitored).unwrap();
                for alpha in [0.0, 0.25, 0.6, 0.9, 0.99] {
                    let options = OllivierOptions { alpha, ..options.clone() };
                    let values = ollivier_ricci_pairs(space, &pairs, &options, &Unmonitored).unwrap();
                    for (value, limit) in values.iter().zip(&limit).filter(|(value, _)| !value.is_nan()) {
                        let quotient = value / (1.0 - alpha);
                        prop_assert!(quotient <= limit + 1e-11);
                        prop_assert!(alpha < 0.5 || (quotient - limit).abs() < 1e-11, "{alpha}: {quotient} {limit}");
                    }
                }
            }
        }
    }
}
