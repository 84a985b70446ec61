//! The histogram of the eigenvalues of the normalised Laplacian.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped, connected_components};

use super::shares;
use super::tridiagonal::Tridiagonal;

/// The number of bins of [`laplacian_spectrum`].
pub const SPECTRUM_BINS: usize = 200;

/// An eigenvalue this close below a border counts in the bin above it: eigenvalues such as 1 and 3/2 lie on borders, and
/// rounding must not decide about them.
const TOLERANCE: f64 = 1e-9;

/// The share of eigenvalues of the normalised Laplacian I - D^(-1/2) A D^(-1/2) in each of 200 equal bins of [0, 2], the
/// last one closed; they add up to 1 (Liao et al., Efficient Graph Generation with Graph Recurrent Attention Networks,
/// NeurIPS 2019, Sec. 4). Isolated nodes have the eigenvalue 0.
///
/// Works on one component at a time: 2 k^3 operations and 8 k^2 bytes for a component of k nodes.
///
/// # Errors
/// The monitor stopped the work.
pub fn laplacian_spectrum(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<f64>, Stopped> {
    let n = graph.n_nodes();
    let _held = Reservation::new(monitor, 16 * n)?;
    let components = connected_components(graph);
    let mut members: Vec<u32> = (0..n as u32).collect();
    members.sort_by_key(|&v| (components.of_node[v as usize], v));
    let mut place = vec![0u32; n];
    let mut counts = vec![0u64; SPECTRUM_BINS];
    let mut start = 0;
    for &size in &components.sizes {
        let component = &members[start..start + size];
        start += size;
        if size == 1 {
            counts[0] += 1;
            continue;
        }
        let _matrix = Reservation::new(monitor, 8usize.saturating_mul(size).saturating_mul(size))?;
        component.iter().zip(0..).for_each(|(&v, position)| place[v as usize] = position);
        let mut matrix = vec![0.0; size * size];
        for (i, &v) in component.iter().enumerate() {
            matrix[i * size + i] = 1.0;
            for &u in graph.neighbors(v) {
                let degrees = graph.degree(u) as f64 * graph.degree(v) as f64;
                matrix[i * size + place[u as usize] as usize] = -1.0 / degrees.sqrt();
            }
        }
        let reduced = Tridiagonal::reduce(&mut matrix, size, monitor)?;
        let mut below = 0;
        for (bin, count) in counts.iter_mut().enumerate() {
            let border = (bin + 1) as f64 * 2.0 / SPECTRUM_BINS as f64;
            let upto = if bin + 1 == SPECTRUM_BINS { size as u64 } else { reduced.below(border - TOLERANCE) };
            *count += upto - below;
            below = upto;
        }
    }
    Ok(shares(&counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn bins(n: usize, edges: &[(u32, u32)]) -> Vec<(usize, u64)> {
        let histogram = laplacian_spectrum(&Graph::from_edges(n, edges), &Unmonitored).unwrap();
        assert_eq!(histogram.len(), SPECTRUM_BINS);
        let counts = histogram.iter().map(|share| (share * n as f64).round() as u64).enumerate();
        counts.filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn closed_forms() {
        // K_n: 0 once, n / (n - 1) else. K_{2,3}: 0, 2, and 1 three times. The path of 3: 0, 1, 2.
        let complete: Vec<(u32, u32)> = (0..6).flat_map(|u| (u + 1..6).map(move |v| (u, v))).collect();
        assert_eq!(bins(6, &complete), [(0, 1), (120, 5)]);
        assert_eq!(bins(5, &[(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)]), [(0, 1), (100, 3), (199, 1)]);
        assert_eq!(bins(3, &[(0, 1), (1, 2)]), [(0, 1), (100, 1), (199, 1)]);
        // Cycle of 6: 1 - cos(2 pi k / 6) = 0, 1/2 twice, 3/2 twice, 2: all on borders.
        let cycle: Vec<(u32, u32)> = (0..6).map(|v| (v, (v + 1) % 6)).collect();
        assert_eq!(bins(6, &cycle), [(0, 1), (50, 2), (150, 2), (199, 1)]);
    }

    #[test]
    fn components_and_isolated_nodes_add_up() {
        assert_eq!(bins(6, &[(0, 1), (2, 3), (3, 4)]), [(0, 3), (100, 1), (199, 2)]);
        assert_eq!(bins(0, &[]), []);
    }

    #[test]
    fn the_karate_club_is_as_numpy_says() {
        // numpy.histogram(networkx.normalized_laplacian_spectrum(karate), bins=200, range=(0, 2)); two eigenvalues of
        // about 1 - 1e-15 moved across the border.
        assert_eq!(bins(34, crate::descriptors::testing::KARATE), KARATE);
    }

    const KARATE: &[(usize, u64)] = &[
        (0, 1),
        (13, 1),
        (28, 1),
        (38, 1),
        (61, 1),
        (64, 1),
        (70, 1),
        (73, 1),
        (77, 1),
        (82, 1),
        (86, 1),
        (90, 1),
        (100, 10),
        (110, 1),
        (115, 1),
        (126, 1),
        (135, 1),
        (139, 1),
        (141, 1),
        (144, 1),
        (149, 1),
        (156, 1),
        (158, 1),
        (161, 1),
        (171, 1),
    ];
}
