//! Spectral clustering of items of which the distances are known.

use bonnet_graph::{Monitor, Reservation, Stopped};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par, Spec};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The number of starts of k-means, of which the best counts.
const STARTS: usize = 10;

/// The most rounds of k-means from one start.
const ROUNDS: usize = 300;

/// Why items have no clusters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClusteringError {
    /// There cannot be so many clusters.
    #[error("clusters is {clusters}, but must be from 1 to the number of items, {items}")]
    Clusters {
        /// The number of clusters of the call.
        clusters: usize,
        /// The items.
        items: usize,
    },
    /// The width is no positive number.
    #[error("sigma is {0}, but must be a finite number above 0")]
    Sigma(f64),
    /// The eigenvalues did not converge.
    #[error("the eigenvectors of the {0} items' affinities were not found")]
    NoConvergence(usize),
    /// The host stopped the work.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

/// How near items are to each other: the value of items i and j at i n + j. Symmetric, finite, at least 0.
#[derive(Debug, Clone, Copy)]
pub enum Affinities<'a> {
    /// The affinity of two items is exp(-d^2 / (2 sigma^2)).
    Distances {
        /// The distances d.
        distances: &'a [f64],
        /// The width; by default the median distance of two items (where that is 0, the mean).
        sigma: Option<f64>,
    },
    /// The affinities themselves, such as a kernel of graphs.
    Kernel(&'a [f64]),
}

/// The cluster of each of `n` items by their affinities; that of an item with itself counts as 0.
///
/// The rows of the k first eigenvectors of the affinities divided by the
/// square roots of their sums, scaled to length 1, are clustered by k-means (Ng, Jordan and Weiss, On Spectral Clustering,
/// NIPS 2001), the best of 10 starts by k-means++ (Arthur and Vassilvitskii 2007). Clusters are numbered from 0 by falling
/// size; among equal sizes, by their first item.
///
/// One thread, so that the answer does not depend on their number. O(n^3) time, 40 n^2 bytes.
///
/// # Errors
/// `clusters` not from 1 to `n`, `sigma` not positive, or the monitor stopped the work.
pub fn spectral_clustering(
    affinities: Affinities<'_>,
    n: usize,
    clusters: usize,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Vec<u32>, ClusteringError> {
    if !(1..=n).contains(&clusters) {
        return Err(ClusteringError::Clusters { clusters, items: n });
    }
    if let Affinities::Distances { sigma: Some(sigma), .. } = affinities
        && !(sigma > 0.0 && sigma.is_finite())
    {
        return Err(ClusteringError::Sigma(sigma));
    }
    let _held = Reservation::new(monitor, n.saturating_mul(n).saturating_mul(40))?;
    monitor.check()?;
    let points = match affinities {
        Affinities::Distances { distances, sigma } => {
            let sigma = sigma.unwrap_or_else(|| typical(distances, n));
            let affinity = |i: usize, j: usize| {
                let relative = distances[i * n + j] / sigma;
                (-0.5 * relative * relative).exp()
            };
            embedding(affinity, n, clusters)?
        }
        Affinities::Kernel(values) => embedding(|i, j| values[i * n + j], n, clusters)?,
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut best: Option<(f64, Vec<u32>)> = None;
    for _ in 0..STARTS {
        let (inertia, found) = k_means(&points, clusters, &mut random, monitor)?;
        if best.as_ref().is_none_or(|(least, _)| inertia < *least) {
            best = Some((inertia, found));
        }
    }
    Ok(by_size(best.map_or_else(Vec::new, |(_, found)| found), clusters))
}

/// The median distance of two items; the mean where that is 0, and 1 where all are.
fn typical(distances: &[f64], n: usize) -> f64 {
    let mut all: Vec<f64> = (0..n).flat_map(|i| distances[i * n..i * n + i].iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let Some(last) = all.len().checked_sub(1) else { return 1.0 };
    let median = 0.5 * (all[last / 2] + all[all.len() / 2]);
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    [median, mean, 1.0].into_iter().find(|width| *width > 0.0).unwrap_or(1.0)
}

/// The items as points on a sphere.
fn embedding(affinity: impl Fn(usize, usize) -> f64, n: usize, k: usize) -> Result<Vec<Vec<f64>>, ClusteringError> {
    let affinity = |i: usize, j: usize| if i == j { 0.0 } else { affinity(i, j) };
    // An item far from all others has no affinity to speak of: it stays where it is.
    let scale: Vec<f64> = (0..n)
        .map(|i| (0..n).map(|j| affinity(i, j)).sum::<f64>())
        .map(|sum| if sum > 0.0 { 1.0 / sum.sqrt() } else { 0.0 })
        .collect();
    let matrix = Mat::from_fn(n, n, |i, j| scale[i] * affinity(i, j) * scale[j]);
    let (mut values, mut vectors) = (Diag::<f64>::zeros(n), Mat::<f64>::zeros(n, n));
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    self_adjoint_evd(matrix.as_ref(), values.as_mut(), Some(vectors.as_mut()), Par::Seq, stack, Spec::default())
        .map_err(|_| ClusteringError::NoConvergence(n))?;
    // Eigenvalues ascend: the last vectors count.
    let point = |i: usize| {
        let point: Vec<f64> = (n - k..n).map(|j| vectors[(i, j)]).collect();
        let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
        point.into_iter().map(|x| if length > 0.0 { x / length } else { 0.0 }).collect()
    };
    Ok((0..n).map(point).collect())
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The sum of squared distances to the centres, and the cluster of each point.
fn k_means(
    points: &[Vec<f64>],
    k: usize,
    random: &mut ChaCha8Rng,
    monitor: &dyn Monitor,
) -> Result<(f64, Vec<u32>), Stopped> {
    let mut centres = first_centres(points, k, random);
    let mut found = vec![u32::MAX; points.len()];
    let mut inertia = f64::INFINITY;
    for _ in 0..ROUNDS {
        monitor.check()?;
        let nearest = |point: &Vec<f64>| {
            let ranked = centres.iter().map(|centre| distance(point, centre)).zip(0u32..);
            ranked.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0))
        };
        let assigned: Vec<(f64, u32)> = points.iter().map(nearest).collect();
        inertia = assigned.iter().map(|(distance, _)| distance).sum();
        let next: Vec<u32> = assigned.into_iter().map(|(_, cluster)| cluster).collect();
        if next == found {
            break;
        }
        found = next;
        for (cluster, centre) in centres.iter_mut().enumerate() {
            let mut count = 0.0;
            let mut sum = vec![0.0; centre.len()];
            for (point, _) in points.iter().zip(&found).filter(|(_, of)| **of == cluster as u32) {
                count += 1.0;
                sum.iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
            }
            // A centre that nothing is near to stays.
            if count > 0.0 {
                *centre = sum.into_iter().map(|sum| sum / count).collect();
            }
        }
    }
    Ok((inertia, found))
}

/// k-means++: each next centre is a point drawn with the square of its distance from the centres so far.
fn first_centres(points: &[Vec<f64>], k: usize, random: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    // Uniform on [0, 1) in steps of 2^-53.
    let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let first = (unit() * points.len() as f64) as usize;
    let mut centres = vec![points[first.min(points.len() - 1)].clone()];
    let mut nearest: Vec<f64> = points.iter().map(|point| distance(point, &centres[0])).collect();
    while centres.len() < k {
        let mut left = unit() * nearest.iter().sum::<f64>();
        let drawn = nearest.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        let centre = points[drawn.unwrap_or(points.len() - 1)].clone();
        nearest.iter_mut().zip(points).for_each(|(least, point)| *least = least.min(distance(point, &centre)));
        centres.push(centre);
    }
    centres
}

/// Clusters numbered by falling size; among equal sizes, by their first item.
fn by_size(found: Vec<u32>, k: usize) -> Vec<u32> {
    let mut clusters: Vec<(usize, usize, usize)> = (0..k).map(|cluster| (0, found.len(), cluster)).collect();
    for (item, &cluster) in found.iter().enumerate() {
        let entry = &mut clusters[cluster as usize];
        entry.0 += 1;
        entry.1 = entry.1.min(item);
    }
    clusters.sort_by_key(|&(size, first, _)| (std::cmp::Reverse(size), first));
    let mut number = vec![0; k];
    clusters.iter().zip(0..).for_each(|(&(.., cluster), position)| number[cluster] = position);
    found.into_iter().map(|cluster| number[cluster as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn plane(points: &[(f64, f64)]) -> Vec<f64> {
        points.iter().flat_map(|a| points.iter().map(|b| (a.0 - b.0).hypot(a.1 - b.1))).collect()
    }

    fn clusters(points: &[(f64, f64)], k: usize, sigma: Option<f64>, seed: u64) -> Vec<u32> {
        let distances = plane(points);
        let affinities = Affinities::Distances { distances: &distances, sigma };
        spectral_clustering(affinities, points.len(), k, seed, &Unmonitored).unwrap()
    }

    #[test]
    fn two_circles_are_told_apart_where_means_cannot() {
        // The example of Ng, Jordan and Weiss: no straight line divides a circle from the one around it.
        let circle = |count: usize, radius: f64| {
            (0..count).map(move |i| {
                let angle = std::f64::consts::TAU * i as f64 / count as f64;
                (radius * angle.cos(), radius * angle.sin())
            })
        };
        let points: Vec<(f64, f64)> = circle(40, 3.0).chain(circle(20, 1.0)).collect();
        let expected: Vec<u32> = (0..60).map(|i| u32::from(i >= 40)).collect();
        for seed in 0..5 {
            assert_eq!(clusters(&points, 2, Some(0.4), seed), expected);
        }
    }

    #[test]
    fn clusters_are_those_of_scikit_learn() {
        // sklearn.datasets.make_blobs(36, centers=4, cluster_std=1.2, random_state=3) and, on exp(-d^2 / (2 1.5^2)),
        // sklearn.cluster.SpectralClustering(4, affinity='precomputed', random_state=0), numbered by size and first item.
        let found = clusters(BLOBS, 4, Some(1.5), 0);
        assert_eq!(found, SKLEARN);
    }

    #[test]
    fn affinities_may_be_given_and_their_scale_does_not_matter() {
        let affinity = |distance: f64| 7.0 * (-distance * distance / (2.0 * 1.5 * 1.5)).exp();
        let kernel: Vec<f64> = plane(BLOBS).into_iter().map(affinity).collect();
        let found = spectral_clustering(Affinities::Kernel(&kernel), BLOBS.len(), 4, 0, &Unmonitored).unwrap();
        assert_eq!(found, SKLEARN);
    }

    const BLOBS: &[(f64, f64)] = &[
        (-5.146, -2.686),
        (-0.561, 5.225),
        (9.075, 8.949),
        (-5.29, -1.012),
        (-7.725, -3.726),
        (-6.716, -5.556),
        (9.189, 9.269),
        (-5.105, -0.059),
        (2.195, 2.842),
        (2.074, 6.214),
        (-6.908, -5.044),
        (0.963, 3.59),
        (5.161, 7.605),
        (-2.833, 0.058),
        (7.431, 5.834),
        (7.143, 7.22),
        (9.644, 6.584),
        (-6.231, -4.255),
        (-8.298, -5.674),
        (8.874, 5.693),
        (-7.674, -3.732),
        (2.799, 4.447),
        (-7.305, -7.132),
        (1.076, 3.677),
        (-0.406, 3.916),
        (-3.288, 2.588),
        (-5.675, -0.535),
        (0.917, 3.411),
        (-8.718, -4.776),
        (-6.13, 0.993),
        (-3.432, 0.024),
        (-5.41, -0.639),
        (-6.963, -3.528),
        (6.81, 7.962),
        (0.362, 2.307),
        (7.135, 5.628),
    ];
    const SKLEARN: &[u32] =
        &[0, 1, 2, 0, 3, 3, 2, 0, 1, 1, 3, 1, 2, 0, 2, 2, 2, 3, 3, 2, 3, 1, 3, 1, 1, 0, 0, 1, 3, 0, 0, 0, 3, 2, 1, 2];

    #[test]
    fn one_cluster_and_as_many_as_items_are_possible() {
        let points = [(0.0, 0.0), (1.0, 0.0), (5.0, 5.0)];
        assert_eq!(clusters(&points, 1, None, 0), [0, 0, 0]);
        assert_eq!(clusters(&points, 3, None, 0), [0, 1, 2]);
        assert_eq!(clusters(&points, 2, None, 0), [0, 0, 1]);
        assert_eq!(clusters(&points[..1], 1, None, 0), [0]);
    }

    #[test]
    fn items_at_one_place_need_no_width() {
        assert_eq!(clusters(&[(1.0, 1.0); 4], 1, None, 0), [0; 4]);
        let mut points = vec![(0.0, 0.0); 6];
        points.extend([(1.0, 0.0); 2]);
        assert_eq!(clusters(&points, 2, None, 0), [0, 0, 0, 0, 0, 0, 1, 1]);
    }

    #[test]
    fn wrong_arguments_are_refused() {
        let error = |k, sigma| {
            let points = plane(&[(0.0, 0.0), (1.0, 0.0)]);
            let affinities = Affinities::Distances { distances: &points, sigma };
            spectral_clustering(affinities, 2, k, 0, &Unmonitored).unwrap_err().to_string()
        };
        assert_eq!(error(0, None), "clusters is 0, but must be from 1 to the number of items, 2");
        assert_eq!(error(3, None), "clusters is 3, but must be from 1 to the number of items, 2");
        assert_eq!(error(1, Some(-1.0)), "sigma is -1, but must be a finite number above 0");
    }
}
