//! The graph of a complex.

use bonnet_graph::{Monitor, Stopped};

use crate::Facets;

/// The edges of a complex, each once, `(u, v)` with u < v, in lexicographic order. Isolated vertices have none. O(w k)
/// time and memory for k simplices of w vertices each, times w log for sorting.
///
/// # Errors
/// When the host wants no answer or grants no memory for it.
pub fn one_skeleton(facets: &Facets, monitor: &dyn Monitor) -> Result<Vec<(u32, u32)>, Stopped> {
    let pairs = facets.iter().map(|simplex| simplex.len() * (simplex.len() - 1) / 2).sum::<usize>();
    let _reservation = bonnet_graph::Reservation::new(monitor, 8 * pairs)?;
    let mut edges = Vec::with_capacity(pairs);
    for (i, simplex) in facets.iter().enumerate() {
        if i % 4096 == 0 {
            monitor.check()?;
        }
        for (j, &u) in simplex.iter().enumerate() {
            edges.extend(simplex[j + 1..].iter().map(|&v| (u, v)));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn edges_come_once_and_in_order() {
        let facets = Facets::new(&[vec![3, 1, 2], vec![2, 3, 4], vec![9], vec![1, 4]]).unwrap();
        assert_eq!(one_skeleton(&facets, &Unmonitored).unwrap(), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(one_skeleton(&Facets::new(&[[5]]).unwrap(), &Unmonitored).unwrap(), []);
    }
}
