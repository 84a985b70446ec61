//! What differs from DuckDB and stays so, each with its reason. Short on purpose.

use super::rows::{Row, rounded, same};

/// A part of the query, a part of the difference, and why it is accepted. An empty part fits everything.
const ACCEPTED: [(&str, &str, &str); 0] = [];

/// Whether the rows of a query that asks for different rows are the same but for some that differ by rounding alone: sums
/// of floats in another order are then two rows in one engine and one in the other.
pub(super) fn differ_by_rounding(sql: &str, ours: &[Row], theirs: &[Row]) -> bool {
    let asks = ["DISTINCT", "UNION (", "INTERSECT", "EXCEPT"].iter().any(|word| sql.contains(word));
    asks && same(&rounded(ours), &rounded(theirs))
}

/// Whether a difference stands in the list.
pub(super) fn accepted(sql: &str, difference: &str) -> bool {
    ACCEPTED.iter().any(|(query, what, _)| sql.contains(query) && difference.contains(what))
}
