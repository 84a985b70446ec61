//! Scores of items that are positive or negative: how many of each kind have each score.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::order_codes::OrderCodes;

/// The positives and negatives at each distinct score, from the smallest on.
pub(crate) struct BinaryRanking {
    /// (positives, negatives); nothing at codes between scores.
    pub at_score: Vec<(u64, u64)>,
    pub positives: u64,
    pub negatives: u64,
}

impl BinaryRanking {
    /// Scores are not NaN. O(n) time for whole numbers in a range not much wider than n, else O(n log n); O(n) memory.
    pub fn new(scores: &[f64], positive: &[bool], monitor: &dyn Monitor) -> Result<Self, Stopped> {
        assert_eq!(scores.len(), positive.len());
        let _reservation = Reservation::new(monitor, OrderCodes::bytes(scores.len()))?;
        let codes = OrderCodes::new(scores, monitor)?;
        let mut at_score = vec![(0, 0); codes.counts.len()];
        for (&code, &positive) in codes.of_row.iter().zip(positive) {
            let (positives, negatives): &mut (u64, u64) = &mut at_score[code as usize];
            *(if positive { positives } else { negatives }) += 1;
        }
        let positives = positive.iter().filter(|&&positive| positive).count() as u64;
        Ok(Self { at_score, positives, negatives: positive.len() as u64 - positives })
    }
}
