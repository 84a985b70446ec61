//! Equal classes with a chosen edge homophily.

use std::collections::HashSet;

use bonnet_graph::{Monitor, Reservation};

use crate::edge_list::{EdgeList, zeros};
use crate::error::{require, require_nodes};
use crate::random::{Random, Stream};
use crate::{Error, Generated};

const NAME: &str = "regular_homophily";

/// The parameters of [`regular_homophily`].
#[derive(Debug, Clone, PartialEq)]
pub struct RegularHomophily {
    /// The edge homophily, in (0, 1].
    pub h: f64,
    /// The number of classes, at least 1.
    pub classes: usize,
    /// The nodes of each class, at least 1. Class 0 holds the first nodes, class 1 the next, and so on.
    pub nodes_per_class: usize,
    /// The edges within each class.
    pub intra_edges: usize,
}

impl RegularHomophily {
    /// The edges to other classes that each class draws.
    fn inter_edges(&self) -> f64 {
        (self.intra_edges as f64 / self.h).round() - self.intra_edges as f64
    }
}

/// The regular graphs of Luan et al. (Revisiting heterophily for graph neural networks, NeurIPS 2022; Are heterophilic
/// GNNs and homophily metrics really effective?, Sec. 4.1): each class has `intra_edges` edges between its own nodes and
/// draws round(intra_edges / h) - intra_edges edges to nodes of other classes, all distinct and uniform. So the edge
/// homophily is h but for the rounding. The label of a node is its class.
///
/// The edges within classes do not depend on h. O(n + m) expected time, about 40 bytes an edge while it works.
///
/// # Errors
/// h outside of (0, 1]; no class or no node; more edges than there are pairs of nodes; or the monitor stopped the work.
pub fn regular_homophily(model: &RegularHomophily, seed: u64, monitor: &dyn Monitor) -> Result<Generated, Error> {
    let (classes, size) = (model.classes, model.nodes_per_class);
    require(model.h > 0.0 && model.h <= 1.0, NAME, "h", model.h, "above 0 and at most 1")?;
    require(classes >= 1, NAME, "classes", classes, "at least 1")?;
    require_nodes(NAME, "nodes_per_class", size, 1)?;
    let n = classes.saturating_mul(size);
    require_nodes(NAME, "classes times nodes_per_class", n, 1)?;
    let within = size as u128 * (size as u128 - 1) / 2;
    let intra = model.intra_edges;
    require(
        intra as u128 <= within,
        NAME,
        "intra_edges",
        intra,
        format_args!("at most the {within} pairs within a class"),
    )?;
    let (inter, between) = (model.inter_edges(), size as f64 * (n - size) as f64);
    require(
        inter <= between,
        NAME,
        "h",
        model.h,
        format_args!("large enough for {between} pairs of a class with others; it asks for {inter}"),
    )?;
    let inter = inter as u64;

    let expected = classes as u128 * (intra as u128 + u128::from(inter));
    let mut edges = EdgeList::with_room_for(expected, monitor)?;
    let mut reservation = Reservation::new(monitor, 0)?;
    reservation.grow(usize::try_from(expected.saturating_mul(32)).unwrap_or(usize::MAX))?;
    let mut labels: Vec<i64> = zeros(n, &mut reservation)?;
    let mut known: HashSet<(u32, u32)> = HashSet::new();
    monitor.expect(classes as u64);

    let mut random = Random::new(seed, Stream::RegularWithin);
    for class in 0..classes {
        let start = class * size;
        labels[start..start + size].fill(class as i64);
        for _ in 0..intra {
            loop {
                let mut node = || (start as u64 + random.below(size as u64)) as u32;
                let (u, v) = (node(), node());
                if u != v && known.insert((u.min(v), u.max(v))) {
                    edges.push(u, v)?;
                    break;
                }
            }
        }
    }
    // The pairs that each class still has with others.
    let mut left = vec![size as u64 * (n - size) as u64; classes];
    let mut random = Random::new(seed, Stream::RegularBetween);
    for class in 0..classes {
        monitor.check()?;
        let enough = left[class] >= inter;
        let of = left[class];
        require(
            enough,
            NAME,
            "h",
            model.h,
            format_args!("larger: class {class} has {of} pairs left for {inter} edges"),
        )?;
        for _ in 0..inter {
            loop {
                let u = class as u64 * size as u64 + random.below(size as u64);
                // A node of another class: those behind the own one are shifted by its size.
                let other = random.below((n - size) as u64);
                let v = if other >= class as u64 * size as u64 { other + size as u64 } else { other };
                let (u, v) = (u as u32, v as u32);
                if known.insert((u.min(v), u.max(v))) {
                    edges.push(u, v)?;
                    left[class] -= 1;
                    left[v as usize / size] -= 1;
                    break;
                }
            }
        }
        monitor.advance(1);
    }
    Ok(Generated { n_nodes: n, edges: edges.into_sorted(n)?, labels: Some(labels), features: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{assert_simple, fingerprint};
    use bonnet_graph::Unmonitored;

    /// The paper's sizes.
    fn published(h: f64) -> RegularHomophily {
        RegularHomophily { h, classes: 5, nodes_per_class: 400, intra_edges: 800 }
    }

    fn made(model: &RegularHomophily, seed: u64) -> Generated {
        regular_homophily(model, seed, &Unmonitored).unwrap()
    }

    /// Edges within classes, and all.
    fn counts(generated: &Generated) -> (usize, usize) {
        let labels = generated.labels.as_ref().unwrap();
        let within = generated.edges.iter().filter(|(u, v)| labels[*u as usize] == labels[*v as usize]);
        (within.count(), generated.edges.len())
    }

    #[test]
    fn the_homophily_is_the_one_asked_for() {
        // The 28 levels of the paper reach from 0.005 to 0.95.
        for h in [0.005, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0] {
            let generated = made(&published(h), 3);
            assert_simple(&generated);
            let inter = (800.0 / h).round() as usize - 800;
            assert_eq!(counts(&generated), (4000, 5 * (800 + inter)), "{h}");
            assert_eq!(generated.n_nodes, 2000);
        }
    }

    #[test]
    fn the_pairs_between_two_classes_are_drawn_alike() {
        // 3 classes of 2: each draws 2 of its 8 pairs with others. Class 0 draws 1 pair with class 1 in the mean, class 1
        // then 2 of 7 of those left: 1 + 2 (3 / 7) of the 4 pairs.
        let model = RegularHomophily { h: 1.0 / 3.0, classes: 3, nodes_per_class: 2, intra_edges: 1 };
        let mut hits = std::collections::BTreeMap::new();
        let seeds = 6000;
        for seed in 0..seeds {
            let generated = made(&model, seed);
            assert_eq!(counts(&generated), (3, 9));
            generated.edges.iter().for_each(|edge| *hits.entry(*edge).or_insert(0u64) += 1);
        }
        let share = (1.0 + 6.0 / 7.0) / 4.0;
        let deviation = (share * (1.0 - share) * seeds as f64).sqrt();
        for pair in [(0, 2), (0, 3), (1, 2), (1, 3)] {
            assert!((hits[&pair] as f64 - share * seeds as f64).abs() < 4.5 * deviation, "{pair:?}: {}", hits[&pair]);
        }
    }

    #[test]
    fn the_edges_within_do_not_depend_on_h() {
        let within = |h| {
            let generated = made(&published(h), 9);
            let edges = generated.edges.iter().filter(|(u, v)| u / 400 == v / 400).copied();
            edges.collect::<Vec<_>>()
        };
        assert_eq!(within(0.2), within(0.7));
        let model = published(0.5);
        assert_eq!(fingerprint(&made(&model, 1)), fingerprint(&made(&model, 1)));
        assert_ne!(fingerprint(&made(&model, 1)), fingerprint(&made(&model, 2)));
    }

    #[test]
    fn all_pairs_can_be_asked_for_and_no_more() {
        // One edge within, two classes of two nodes: four pairs between them, two for each class.
        let full = RegularHomophily { h: 1.0 / 3.0, classes: 2, nodes_per_class: 2, intra_edges: 1 };
        assert_eq!(made(&full, 0).edges.len(), 6);
        let error = |model: RegularHomophily| regular_homophily(&model, 0, &Unmonitored).unwrap_err().to_string();
        assert!(
            error(RegularHomophily { h: 0.25, ..full.clone() }).contains("h is 0.25, but must be larger: class 1 has")
        );
        assert!(error(RegularHomophily { h: 0.1, ..full.clone() }).contains("it asks for 9"));
        assert!(error(RegularHomophily { h: 0.0, ..full.clone() }).contains("above 0 and at most 1"));
        assert!(error(RegularHomophily { h: f64::NAN, ..full.clone() }).contains("above 0 and at most 1"));
        assert!(
            error(RegularHomophily { intra_edges: 2, ..full.clone() }).contains("at most the 1 pairs within a class")
        );
        assert!(error(RegularHomophily { classes: 0, ..full }).contains("classes is 0"));
    }
}
