//! Differences of pairs, and what tests say of them.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::merge::sort;

/// What a test of paired values found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedTest {
    /// The test's statistic; `None` where the pairs do not determine one.
    pub statistic: Option<f64>,
    /// The two-sided p-value, in [0, 1].
    pub p_value: Option<f64>,
    /// The pairs that count.
    pub n: usize,
    /// The least p-value that any values of so many pairs can have.
    pub least_p: Option<f64>,
}

/// Why a test of paired values has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PairedError {
    /// A value that no difference can be made of.
    #[error("a value is {0}: values are finite, or NULL where there is none")]
    NotFinite(f64),
    /// Two values that are too far apart.
    #[error("a difference of two values is {0}: divide both columns by a constant")]
    Overflow(f64),
    /// The computation was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

/// The differences a - b in ascending order, so that what is summed over them does not depend on the order of the rows.
/// O(n log n) time, O(n) memory.
pub(crate) fn differences(a: &[f64], b: &[f64], monitor: &dyn Monitor) -> Result<Vec<f64>, PairedError> {
    assert_eq!(a.len(), b.len(), "a value of each column a row");
    let least = |value: Option<f64>, error: fn(f64) -> PairedError| value.map_or(Ok(()), |value| Err(error(value)));
    let infinite = a.iter().chain(b).copied().filter(|value| !value.is_finite()).min_by(f64::total_cmp);
    least(infinite, PairedError::NotFinite)?;
    let mut differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    least(differences.iter().copied().filter(|d| !d.is_finite()).min_by(f64::total_cmp), PairedError::Overflow)?;
    sort(&mut differences, |a, b| a < b, monitor)?;
    Ok(differences)
}

/// The memory for [`differences`] of so many pairs, and for sorting them.
pub(crate) fn reserve(pairs: usize, monitor: &dyn Monitor) -> Result<Reservation<'_>, Stopped> {
    Reservation::new(monitor, 3 * size_of::<f64>() * pairs)
}
