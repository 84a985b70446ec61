//! Preferential attachment with homophily.

use bonnet_graph::{Monitor, Reservation};

use crate::edge_list::{EdgeList, zeros};
use crate::error::{require, require_nodes, require_probability};
use crate::random::{Random, Stream};
use crate::{Error, Generated};

const NAME: &str = "preferential_attachment";

/// The parameters of [`preferential_attachment`].
#[derive(Debug, Clone, PartialEq)]
pub struct PreferentialAttachment {
    /// The number of nodes, at least m.
    pub n: usize,
    /// The number of classes, from 1 to n.
    pub classes: usize,
    /// The homophily coefficient, in [0, 1].
    pub mu: f64,
    /// The links of a new node, at least 2; the start is a clique of m.
    pub m: usize,
    /// The distance of the classes' means from the origin, in deviations of a feature.
    pub separation: f64,
}

/// Preferential attachment where a new node i links an existing node j with a chance in proportion to d_j mu in its own
/// class and d_j (1 - mu) w in another, w = e^-d for the distance d of the two classes on a circle, scaled so that the
/// weights of all distances sum to 1. (Eq. 6 of Luan et al., Are heterophilic GNNs and homophily metrics really
/// effective?; Karimi et al., Homophily influences ranking of minorities in social networks, 2018; Abu-El-Haija et al.,
/// MixHop, ICML 2019.)
///
/// Classes are of equal size, but for the remainder, in random order. The start is a clique of the first m nodes; each
/// further node links m distinct ones, or all that have a chance where those are fewer. The features are two: normal
/// deviates about the class's mean, which lies on a circle in the order of the classes.
///
/// O(n (m + classes)) expected time, 16 bytes an edge while it works.
///
/// # Errors
/// An argument outside of its range, or the monitor stopped the work.
pub fn preferential_attachment(
    model: &PreferentialAttachment,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Generated, Error> {
    let &PreferentialAttachment { n, classes, mu, m, separation } = model;
    require_nodes(NAME, "n", n, 2)?;
    require((1..=n).contains(&classes), NAME, "classes", classes, format_args!("from 1 to n = {n}"))?;
    require_probability(NAME, "mu", mu)?;
    require((2..=n).contains(&m), NAME, "m", m, format_args!("from 2 to n = {n}"))?;
    require((0.0..=1e30).contains(&separation), NAME, "separation", separation, "from 0 to 1e30")?;

    let mut edges = EdgeList::with_room_for(m as u128 * n as u128, monitor)?;
    let mut reservation = Reservation::new(monitor, 0)?;
    reservation.grow(m.saturating_mul(n).saturating_mul(8))?;
    let mut labels: Vec<i64> = zeros(n, &mut reservation)?;
    labels.iter_mut().enumerate().for_each(|(node, label)| *label = (node % classes) as i64);
    let mut random = Random::new(seed, Stream::AttachmentClasses);
    for i in (1..n).rev() {
        labels.swap(i, random.below(i as u64 + 1) as usize);
    }

    let weights = weights(classes);
    // The endpoints of edges in each class: drawing one draws a node of the class by its degree.
    let mut ends: Vec<Vec<u32>> = vec![Vec::new(); classes];
    // The nodes of each class that have a link.
    let mut linked = vec![0usize; classes];
    let mut has_link: Vec<bool> = zeros(n, &mut reservation)?;
    let mut drawn_by: Vec<u32> = zeros(n, &mut reservation)?;
    let mut random = Random::new(seed, Stream::AttachmentLinks);
    let mut factors = vec![0.0; classes];
    monitor.expect(n as u64);
    for new in 0..n as u32 {
        let class = labels[new as usize] as usize;
        let mut targets: Vec<u32> = Vec::with_capacity(m);
        if (new as usize) < m {
            targets.extend(0..new);
        } else {
            let mut reachable = 0;
            for (other, factor) in factors.iter_mut().enumerate() {
                let distance = class.abs_diff(other).min(classes - class.abs_diff(other));
                let preference = if distance == 0 { mu } else { (1.0 - mu) * weights[distance] };
                *factor = preference * ends[other].len() as f64;
                reachable += if preference > 0.0 { linked[other] } else { 0 };
            }
            let total: f64 = factors.iter().sum();
            let missing = m.min(reachable);
            let mut draws = 0u64;
            while targets.len() < missing {
                let mut point = random.unit() * total;
                let last = factors.iter().rposition(|factor| *factor > 0.0).unwrap_or(0);
                let chosen = factors[..last].iter().position(|factor| {
                    point -= factor;
                    point <= 0.0 && *factor > 0.0
                });
                let ends = &ends[chosen.unwrap_or(last)];
                let target = ends[random.below(ends.len() as u64) as usize];
                if drawn_by[target as usize] != new {
                    drawn_by[target as usize] = new;
                    targets.push(target);
                }
                draws += 1;
                if draws.is_multiple_of(1 << 14) {
                    monitor.check()?;
                }
            }
        }
        for target in targets {
            edges.push(target, new)?;
            for node in [target, new] {
                let class = labels[node as usize] as usize;
                linked[class] += usize::from(!has_link[node as usize]);
                has_link[node as usize] = true;
                ends[class].push(node);
            }
        }
        monitor.advance(1);
    }

    let mut features: Vec<f32> = zeros(2 * n, &mut reservation)?;
    let mut random = Random::new(seed, Stream::AttachmentFeatures);
    for (row, &label) in features.as_chunks_mut::<2>().0.iter_mut().zip(&labels) {
        let (x, y) = on_circle(label as usize, classes);
        *row = [(separation * x + random.normal()) as f32, (separation * y + random.normal()) as f32];
    }
    Ok(Generated { n_nodes: n, edges: edges.into_sorted(n)?, labels: Some(labels), features: Some((2, features)) })
}

/// e^-d for the distances d = 1, 2, ... on a circle of classes, scaled to sum 1; the entry of distance 0 is not used.
fn weights(classes: usize) -> Vec<f64> {
    let mut weights = vec![0.0];
    let mut power = 1.0;
    for _ in 1..=classes / 2 {
        power /= std::f64::consts::E;
        weights.push(power);
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| if total > 0.0 { weight / total } else { 0.0 }).collect()
}

/// The point of a class among `classes` on the unit circle. Power series, as the platform's sine may differ in the last
/// bit.
fn on_circle(class: usize, classes: usize) -> (f64, f64) {
    let turn = class as f64 / classes as f64;
    // Within half a turn of 0, where 20 terms give all digits that a float keeps.
    let angle = 2.0 * std::f64::consts::PI * if turn > 0.5 { turn - 1.0 } else { turn };
    let (mut cosine, mut sine, mut term) = (0.0, 0.0, 1.0);
    for k in 0..40 {
        match k % 4 {
            0 => cosine += term,
            1 => sine += term,
            2 => cosine -= term,
            _ => sine -= term,
        }
        term *= angle / f64::from(k + 1);
    }
    (cosine, sine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{assert_simple, fingerprint};
    use bonnet_graph::Unmonitored;

    fn made(n: usize, classes: usize, mu: f64, m: usize, seed: u64) -> Generated {
        let model = PreferentialAttachment { n, classes, mu, m, separation: 2.0 };
        preferential_attachment(&model, seed, &Unmonitored).unwrap()
    }

    fn homophily(generated: &Generated) -> f64 {
        let labels = generated.labels.as_ref().unwrap();
        let within = generated.edges.iter().filter(|(u, v)| labels[*u as usize] == labels[*v as usize]).count();
        within as f64 / generated.edges.len() as f64
    }

    #[test]
    fn classes_are_equal_and_every_new_node_brings_m_links() {
        let generated = made(1003, 10, 0.5, 6, 1);
        assert_simple(&generated);
        assert_eq!(generated.edges.len(), 15 + (1003 - 6) * 6);
        let mut sizes = [0; 10];
        generated.labels.unwrap().iter().for_each(|&label| sizes[label as usize] += 1);
        assert_eq!(sizes, [101, 101, 101, 100, 100, 100, 100, 100, 100, 100]);
        assert_eq!(generated.features.unwrap().1.len(), 2006);
    }

    #[test]
    fn homophily_grows_with_mu() {
        let found: Vec<f64> = [0.0, 0.2, 0.5, 0.8, 1.0].map(|mu| homophily(&made(3000, 5, mu, 5, 2))).to_vec();
        assert!(found.is_sorted() && found[0] < 0.01 && found[4] > 0.95, "{found:?}");
    }

    #[test]
    fn links_are_drawn_by_eq_6() {
        // Nodes 0 and 1 are linked; node 2 links both whatever their classes, so degrees are 2, 2, 2 when node 3 comes
        // and, with 2 links of 3, leaves one out. Its first draw has the chances mu of its own class and (1 - mu) of the
        // other (two classes: w_1 = 1), each times degree.
        let mu = 0.8;
        let (mut cases, mut left_out) = (0.0, 0.0);
        for seed in 0..30_000 {
            let generated = made(4, 2, mu, 2, seed);
            let labels = generated.labels.clone().unwrap();
            // Of the three earlier nodes one is of the class of node 3.
            let own: Vec<u32> = (0..3).filter(|&v| labels[v as usize] == labels[3]).collect();
            assert_eq!(own.len(), 1);
            cases += 1.0;
            left_out += f64::from(u8::from(!generated.edges.contains(&(own[0], 3))));
        }
        // Left out: first another (0.4 / 1.2), then the other one (0.2 / 1.0).
        let expected: f64 = 0.4 / 1.2 * (0.2 / 1.0);
        let deviation = (expected * (1.0 - expected) / cases).sqrt();
        assert!((left_out / cases - expected).abs() < 4.5 * deviation, "{}", left_out / cases);
    }

    #[test]
    fn distances_weigh_as_powers_of_e() {
        let weights = weights(5);
        assert!((weights[1] + weights[2] - 1.0).abs() < 1e-15);
        assert!((weights[1] / weights[2] - std::f64::consts::E).abs() < 1e-14);
        assert_eq!(super::weights(1), [0.0]);
    }

    #[test]
    fn the_circle_is_that_of_sine_and_cosine() {
        for classes in [1, 2, 3, 7, 10] {
            for class in 0..classes {
                let angle = 2.0 * std::f64::consts::PI * class as f64 / classes as f64;
                let (x, y) = on_circle(class, classes);
                assert!((x - angle.cos()).abs() < 1e-13 && (y - angle.sin()).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn a_class_alone_links_what_there_is() {
        // With mu = 1 and as many classes as nodes nobody has anybody: only the clique remains.
        let generated = made(10, 10, 1.0, 3, 0);
        assert_eq!(generated.edges, [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(made(2, 1, 0.5, 2, 0).edges, [(0, 1)]);
    }

    #[test]
    fn a_seed_pins_the_graph_and_arguments_are_checked() {
        assert_eq!(fingerprint(&made(200, 3, 0.4, 4, 7)), fingerprint(&made(200, 3, 0.4, 4, 7)));
        assert_ne!(fingerprint(&made(200, 3, 0.4, 4, 7)), fingerprint(&made(200, 3, 0.4, 4, 8)));
        let error = |n, classes, mu, m| {
            let model = PreferentialAttachment { n, classes, mu, m, separation: 1.0 };
            preferential_attachment(&model, 0, &Unmonitored).unwrap_err().to_string()
        };
        assert!(error(5, 2, 0.5, 1).contains("m is 1, but must be from 2 to n = 5"));
        assert!(error(5, 6, 0.5, 2).contains("classes is 6, but must be from 1 to n = 5"));
        assert!(error(5, 2, 1.5, 2).contains("mu is 1.5, but must be a probability"));
    }
}
