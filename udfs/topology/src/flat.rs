//! Facets as answers: labels in flat storage.

/// Simplices over the caller's labels, one after another: what the functions that make complexes answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlatFacets {
    entries: Vec<i64>,
    ends: Vec<usize>,
}

impl FlatFacets {
    /// Adds a simplex.
    pub fn push(&mut self, simplex: impl IntoIterator<Item = i64>) {
        self.entries.extend(simplex);
        self.ends.push(self.entries.len());
    }

    /// The number of simplices.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The simplices in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[i64]> + Clone {
        (0..self.len()).map(|i| &self.entries[if i == 0 { 0 } else { self.ends[i - 1] }..self.ends[i]])
    }
}
