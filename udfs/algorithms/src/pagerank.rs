//! PageRank.

use bonnet_graph::{Monitor, Reservation, Steps};
use rayon::prelude::*;

use crate::{AlgorithmError, Network};

/// Nodes that a thread takes at a time, and whose changes are summed together.
const BLOCK: usize = 1 << 10;

/// Options of [`pagerank`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageRankOptions<'a> {
    /// The chance of following an arc, in `[0, 1)`; else the walk jumps.
    pub damping: f64,
    /// Iteration ends when the ranks change by no more than this in sum; positive.
    pub tolerance: f64,
    /// Exactly so many steps from equal ranks instead.
    pub iterations: Option<usize>,
    /// Where jumps end: nodes with weights of at least 0, one of them positive; `None` for all nodes alike.
    pub personalisation: Option<&'a [(u32, f64)]>,
}

impl Default for PageRankOptions<'_> {
    fn default() -> Self {
        Self { damping: 0.85, tolerance: 1e-10, iterations: None, personalisation: None }
    }
}

impl PageRankOptions<'_> {
    /// Fails where an option is out of its range.
    ///
    /// # Errors
    /// Says which.
    pub fn validate(&self) -> Result<(), AlgorithmError> {
        let Self { damping, tolerance, .. } = self;
        if !(0.0..1.0).contains(damping) {
            return AlgorithmError::input(format!("damping => {damping:?}: expected a number in [0, 1)"));
        }
        if !(*tolerance > 0.0 && tolerance.is_finite()) {
            return AlgorithmError::input(format!("tolerance => {tolerance:?}: expected a positive number"));
        }
        Ok(())
    }
}

/// The share of its time that an endless walk spends at each node: with chance `damping` it follows an arc, by the arcs'
/// weights, else it jumps; from a node without arcs it always jumps. The ranks add up to 1.
///
/// Page, Brin, Motwani and Winograd (1999), by power iteration: each node pulls from where arcs come from. O(n + m) time an
/// iteration, at most `log(tolerance / 2) / log(damping)` of them; `32 n` bytes. Not petgraph's `page_rank`: an iteration of
/// it takes O(n^2 m) time, and its ranks are wrong (its issues 960 and 961).
///
/// # Errors
/// For an option out of its range, and if the monitor stops it.
pub fn pagerank(
    network: Network<'_>,
    options: &PageRankOptions<'_>,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, AlgorithmError> {
    options.validate()?;
    let PageRankOptions { damping, tolerance, iterations, personalisation } = *options;
    let n = network.n_nodes();
    if n == 0 {
        return Ok(Vec::new());
    }
    let _reservation = Reservation::new(monitor, 40 * n)?;
    let jump = personalisation.map(|weights| jumps(n, weights)).transpose()?;
    let jump = |v: usize| jump.as_ref().map_or(1.0 / n as f64, |jump| jump[v]);
    let inverse = |v: u32| match network.out.strength(v) {
        0.0 => 0.0,
        strength => strength.recip(),
    };
    let inverse: Vec<f64> = (0..n as u32).into_par_iter().with_min_len(BLOCK).map(inverse).collect();
    let mut rank = vec![1.0 / n as f64; n];
    let mut share: Vec<f64> = inverse.iter().map(|inverse| inverse / n as f64).collect();
    let mut next = vec![0.0; n];
    let mut resting = inverse.iter().filter(|&&inverse| inverse == 0.0).count() as f64 / n as f64;
    // The map contracts the sum of changes, at most 2, by `damping`: more steps would only follow rounding errors.
    let steps = ((tolerance / 2.0).ln() / damping.max(f64::MIN_POSITIVE).ln()).ceil().max(1.0) as usize + 1;
    let rounds = iterations.unwrap_or(steps);
    let mut progress = Steps::new(monitor, rounds);
    for _ in 0..rounds {
        monitor.check()?;
        let base = damping * resting + (1.0 - damping);
        let block = |(block, (rank, next)): (usize, (&mut [f64], &mut [f64]))| {
            let (mut change, mut resting) = (0.0, 0.0);
            for (i, (rank, next)) in rank.iter_mut().zip(next).enumerate() {
                let v = block * BLOCK + i;
                let pulled: f64 = match network.into.weights() {
                    None => network.into.of(v as u32).iter().map(|&u| share[u as usize]).sum(),
                    Some(_) => network.into.weighted(v as u32).map(|(u, weight)| weight * share[u as usize]).sum(),
                };
                let value = damping * pulled + base * jump(v);
                change += (value - *rank).abs();
                *rank = value;
                *next = value * inverse[v];
                if inverse[v] == 0.0 {
                    resting += value;
                }
            }
            (change, resting)
        };
        let blocks = rank.par_chunks_mut(BLOCK).zip(next.par_chunks_mut(BLOCK)).enumerate();
        let sums: Vec<(f64, f64)> = blocks.map(block).collect();
        let change: f64 = sums.iter().map(|sums| sums.0).sum();
        resting = sums.iter().map(|sums| sums.1).sum();
        std::mem::swap(&mut share, &mut next);
        if iterations.is_none() && change <= tolerance {
            break;
        }
        progress.advance(1);
    }
    Ok(rank)
}

/// The share of jumps that end at each node.
fn jumps(n: usize, weights: &[(u32, f64)]) -> Result<Vec<f64>, AlgorithmError> {
    let mut jump = vec![0.0; n];
    for &(v, weight) in weights {
        if !(weight >= 0.0 && weight.is_finite()) {
            return AlgorithmError::input(format!(
                "personalisation has the weight {weight}: expected finite numbers of at least 0"
            ));
        }
        jump[v as usize] += weight;
    }
    let sum: f64 = jump.iter().sum();
    if sum == 0.0 {
        return AlgorithmError::input("personalisation names no node with a positive weight");
    }
    jump.iter_mut().for_each(|weight| *weight /= sum);
    Ok(jump)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WeightedArcs;
    use crate::testing::{self, assert_close};
    use bonnet_graph::{Digraph, Graph, Unmonitored};

    /// Dense Gaussian elimination of x = damping (P' x + resting) + (1 - damping) jump.
    fn by_definition(network: Network<'_>, damping: f64, jump: &[f64]) -> Vec<f64> {
        let n = network.n_nodes();
        let mut rows = vec![vec![0.0; n + 1]; n];
        for v in 0..n {
            rows[v][v] += 1.0;
            rows[v][n] = (1.0 - damping) * jump[v];
        }
        for u in 0..n {
            let strength = network.out.strength(u as u32);
            for (v, row) in rows.iter_mut().enumerate() {
                let weight = network.out.weighted(u as u32).find(|arc| arc.0 == v as u32).map_or(0.0, |arc| arc.1);
                row[u] -= damping * if strength > 0.0 { weight / strength } else { jump[v] };
            }
        }
        for i in 0..n {
            let pivot = (i..n).max_by(|&a, &b| rows[a][i].abs().total_cmp(&rows[b][i].abs())).unwrap();
            rows.swap(i, pivot);
            for j in 0..n {
                if j != i {
                    let factor = rows[j][i] / rows[i][i];
                    (i..=n).for_each(|k| rows[j][k] -= factor * rows[i][k]);
                }
            }
        }
        (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
    }

    #[test]
    fn ranks_solve_the_linear_system() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let weights = [(0, 2.0), (n as u32 - 1, 1.0), (0, 0.5)];
            let options = PageRankOptions { tolerance: 1e-14, ..PageRankOptions::default() };
            let chosen = PageRankOptions { personalisation: Some(&weights), damping: 0.6, ..options };
            let uniform = vec![1.0 / n as f64; n];
            let jump = jumps(n, &weights).unwrap();
            let graph = Graph::from_edges(n, &rows);
            let out = Digraph::from_arcs(n, &rows);
            let into = out.reversed();
            let weighted = out.arcs().map(|(u, v)| (u, v, f64::from((u * 7 + v) % 4)));
            let weighted = WeightedArcs::new(n, weighted.collect::<Vec<_>>().into_iter()).unwrap();
            let turned = weighted.reversed();
            let networks = [
                Network::undirected(&graph),
                Network::directed(&out, &into),
                Network::weighted(&weighted, Some(&turned)),
            ];
            for network in networks {
                let found = pagerank(network, &options, &Unmonitored).unwrap();
                assert_close(&found, &by_definition(network, 0.85, &uniform), &format!("graph {seed}"));
                let found = pagerank(network, &chosen, &Unmonitored).unwrap();
                assert_close(&found, &by_definition(network, 0.6, &jump), &format!("graph {seed}, personalised"));
            }
        }
    }

    #[test]
    fn options_out_of_range_say_so() {
        let graph = Graph::from_edges(2, &[(0, 1)]);
        let error = |options: PageRankOptions<'_>| {
            pagerank(Network::undirected(&graph), &options, &Unmonitored).unwrap_err().to_string()
        };
        let default = PageRankOptions::default();
        assert!(error(PageRankOptions { damping: 1.0, ..default }).contains("[0, 1)"));
        assert!(error(PageRankOptions { tolerance: 0.0, ..default }).contains("positive"));
        assert!(error(PageRankOptions { personalisation: Some(&[(0, 0.0)]), ..default }).contains("no node"));
        assert!(error(PageRankOptions { personalisation: Some(&[(0, -1.0)]), ..default }).contains("weight -1"));
    }

    #[test]
    fn without_damping_the_walk_only_jumps() {
        let graph = Graph::from_edges(4, &[(0, 1)]);
        let options = PageRankOptions { damping: 0.0, ..PageRankOptions::default() };
        assert_eq!(pagerank(Network::undirected(&graph), &options, &Unmonitored).unwrap(), [0.25; 4]);
    }
}
