//! The least sum of a matching.

/// Room for matchings, one after the other.
#[derive(Debug, Default)]
pub(super) struct Assignment {
    row_prices: Vec<f64>,
    column_prices: Vec<f64>,
    /// The row of each column, from 1; 0 for none.
    row_of: Vec<usize>,
    before: Vec<usize>,
    slack: Vec<f64>,
    done: Vec<bool>,
}

impl Assignment {
    /// The least sum of `cost` over the matchings of `n` rows with `n` columns, by shortest augmenting paths (Jonker and Volgenant,
    /// 1987). O(n^3).
    pub(super) fn least(&mut self, n: usize, cost: impl Fn(usize, usize) -> f64) -> f64 {
        match n {
            0 => return 0.0,
            1 => return cost(0, 0),
            2 => return (cost(0, 0) + cost(1, 1)).min(cost(0, 1) + cost(1, 0)),
            _ => {}
        }
        let reset = |values: &mut Vec<f64>| {
            values.clear();
            values.resize(n + 1, 0.0);
        };
        reset(&mut self.row_prices);
        reset(&mut self.column_prices);
        self.row_of.clear();
        self.row_of.resize(n + 1, 0);
        self.before.clear();
        self.before.resize(n + 1, 0);
        // Column 0 stands for the row that looks for a column.
        for row in 1..=n {
            self.row_of[0] = row;
            self.slack.clear();
            self.slack.resize(n + 1, f64::INFINITY);
            self.done.clear();
            self.done.resize(n + 1, false);
            let mut column = 0;
            while self.row_of[column] != 0 {
                self.done[column] = true;
                let row = self.row_of[column];
                let (mut least, mut next) = (f64::INFINITY, 0);
                for other in 1..=n {
                    if self.done[other] {
                        continue;
                    }
                    let reduced = cost(row - 1, other - 1) - self.row_prices[row] - self.column_prices[other];
                    if reduced < self.slack[other] {
                        self.slack[other] = reduced;
                        self.before[other] = column;
                    }
                    if self.slack[other] < least {
                        least = self.slack[other];
                        next = other;
                    }
                }
                for other in 0..=n {
                    if self.done[other] {
                        self.row_prices[self.row_of[other]] += least;
                        self.column_prices[other] -= least;
                    } else {
                        self.slack[other] -= least;
                    }
                }
                column = next;
            }
            while column != 0 {
                let before = self.before[column];
                self.row_of[column] = self.row_of[before];
                column = before;
            }
        }
        (1..=n).map(|column| cost(self.row_of[column] - 1, column - 1)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::least_matching;
    use super::*;

    #[test]
    fn the_sum_is_the_least_of_all_matchings() {
        let mut assignment = Assignment::default();
        for seed in 0..300usize {
            let n = seed % 9;
            let cost = |i: usize, j: usize| ((i * 37 + j * 91 + seed * 53) * (i + 3) * (j + 5) % 23) as f64;
            let costs: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| cost(i, j)).collect()).collect();
            assert_eq!(assignment.least(n, cost), least_matching(&costs), "{costs:?}");
        }
    }
}
