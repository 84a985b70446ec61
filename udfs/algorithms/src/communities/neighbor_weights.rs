//! Sums of weights by community: a small table that is emptied after each node.

/// Up to so many communities have a position each: the table stays in a core's own cache.
const PLACES: usize = 1 << 15;

const NONE: u32 = u32::MAX;

/// A gain that is less than this share of a node's strength is a rounding error of these sums.
pub(super) const NEGLIGIBLE: f64 = 1e-11;

/// The weights between a node and the communities of its neighbours.
#[derive(Default)]
pub(super) struct NeighborWeights {
    /// The community at each position, [`NONE`] at most of them.
    keys: Vec<u32>,
    weights: Vec<f64>,
    /// The positions that are taken, in the order of being taken.
    taken: Vec<u32>,
    /// Of 32 bits of a hash, how many are dropped; none where each community has its own position.
    shift: Option<u32>,
}

impl NeighborWeights {
    /// Allocates for a node with `degree` neighbours, in a graph of communities below `communities`.
    pub(super) fn begin(&mut self, communities: usize, degree: usize) {
        let places = if communities <= PLACES {
            self.shift = None;
            communities
        } else {
            let places = (2 * degree.min(communities)).next_power_of_two().max(16);
            self.shift = Some(32 - places.trailing_zeros().min(32));
            places
        };
        if self.keys.len() < places {
            self.keys.resize(places, NONE);
            self.weights.resize(places, 0.0);
        }
    }

    /// Adds a weight to that of a community.
    #[inline(always)]
    pub(super) fn add(&mut self, community: u32, weight: f64) {
        let mut place = match self.shift {
            None => community as usize,
            // Knuth's multiplicative hashing.
            Some(shift) => (community.wrapping_mul(0x9E37_79B1) >> shift) as usize,
        };
        loop {
            let key = &mut self.keys[place];
            if *key == community {
                self.weights[place] += weight;
                return;
            }
            if *key == NONE {
                *key = community;
                self.weights[place] = weight;
                self.taken.push(place as u32);
                return;
            }
            place += 1;
            if self.shift.is_some_and(|shift| place >> (32 - shift) != 0) {
                place = 0;
            }
        }
    }

    /// Visits each community that has a weight, and empties the table.
    #[inline(always)]
    pub(super) fn drain(&mut self, mut visit: impl FnMut(u32, f64)) {
        for place in self.taken.drain(..) {
            let key = &mut self.keys[place as usize];
            visit(*key, self.weights[place as usize]);
            *key = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn weights_add_up_by_community() {
        let mut table = NeighborWeights::default();
        for (communities, degree) in [(50usize, 200usize), (1 << 20, 200), (1 << 20, 3), (40_000, 100_000), (9, 9)] {
            let rows: Vec<(u32, f64)> = (0..degree as u64)
                .map(|i| ((i * i * 7919 + 13 * i) as usize % communities, 1.0 + i as f64))
                .map(|(c, w)| (c as u32, w))
                .collect();
            let mut expected = BTreeMap::new();
            rows.iter().for_each(|&(c, weight)| *expected.entry(c).or_insert(0.0) += weight);
            table.begin(communities, degree);
            rows.iter().for_each(|&(c, weight)| table.add(c, weight));
            let mut found = BTreeMap::new();
            table.drain(|c, weight| assert!(found.insert(c, weight).is_none()));
            assert_eq!(found, expected, "{communities} communities, {degree} neighbours");
        }
    }
}
