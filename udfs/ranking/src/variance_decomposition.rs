//! The share of the variance of scores that two factors explain, each alone, together, and with their interaction.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::ranks::{average_ranks, compare};

/// Pivots below this share of the largest are of a direction that the other effects span already.
const RANK_TOLERANCE: f64 = 1e-10;

/// A score, the levels of its two factors, and the block that it is normalised in, each numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// The score.
    pub value: f64,
    /// The level of the first factor.
    pub first: u32,
    /// The level of the second factor.
    pub second: u32,
    /// The block, such as the data set.
    pub block: u32,
}

/// The scaling of the scores of a block before they are compared with those of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalization {
    /// Minus the mean, over the population deviation; a block without deviation is 0.
    ZScore,
    /// From 0 for the smallest to 1 for the largest; a block without range is 0.
    MinMax,
    /// Ascending ranks, ties averaged.
    Rank,
    /// Minus the mean.
    Center,
}

impl Normalization {
    /// All normalizations, with their names.
    pub const ALL: [(&'static str, Self); 4] =
        [("zscore", Self::ZScore), ("min_max", Self::MinMax), ("rank", Self::Rank), ("center", Self::Center)];
}

/// Shares of the sum of squares about the mean, in [0, 1]; `None` where all scores are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decomposition {
    /// The number of scores.
    pub observations: usize,
    /// The share of the first factor alone.
    pub first: Option<f64>,
    /// The share of the second factor alone.
    pub second: Option<f64>,
    /// The share of both effects, added.
    pub additive: Option<f64>,
    /// The share of a mean of its own for each combination of levels.
    pub interaction: Option<f64>,
}

impl Decomposition {
    /// The share of the explained variance that only the interaction explains; `None` where nothing is explained.
    pub fn interaction_share(&self) -> Option<f64> {
        let (additive, interaction) = (self.additive?, self.interaction?);
        (interaction > 0.0).then(|| (interaction - additive) / interaction)
    }
}

/// Normalises the scores of each block in place. O(n log n).
pub fn normalize(observations: &mut [Observation], how: Normalization) {
    sort(observations);
    for block in observations.chunk_by_mut(|a, b| a.block == b.block) {
        let values: Vec<f64> = block.iter().map(|observation| observation.value).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let (least, greatest) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, g), &v| (v.min(l), v.max(g)));
        let constant = least == greatest;
        let normal: Vec<f64> = match how {
            Normalization::Rank => average_ranks(&values),
            _ if constant => vec![0.0; values.len()],
            Normalization::Center => values.iter().map(|value| value - mean).collect(),
            Normalization::MinMax => values.iter().map(|value| (value - least) / (greatest - least)).collect(),
            Normalization::ZScore => {
                let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
                values.iter().map(|value| (value - mean) / deviation).collect()
            }
        };
        block.iter_mut().zip(normal).for_each(|(observation, value)| observation.value = value);
    }
}

/// [`normalize`], where a normalisation is wanted, then [`decompose`].
pub fn variance_decomposition(
    mut observations: Vec<Observation>,
    how: Option<Normalization>,
    monitor: &dyn Monitor,
) -> Result<Decomposition, Stopped> {
    if let Some(how) = how {
        normalize(&mut observations, how);
    }
    decompose(&observations, monitor)
}

/// The explained variance (R^2) of least-squares models of the scores: an effect of each factor alone, the sum of both
/// effects, and an effect of each combination. Levels may be combined unevenly, and not all combinations need occur.
/// (Two-way analysis of variance for unbalanced data; CurvBench, Sec. 5.1, Observation 2.)
///
/// The scores are summed in an order of their own: the order of the rows changes no digit. With a and b levels, of which
/// b is the smaller number, O(n log n + a b^2 + b^3) time and O(n + a b + b^2) memory.
pub fn decompose(observations: &[Observation], monitor: &dyn Monitor) -> Result<Decomposition, Stopped> {
    let levels = |of: fn(&Observation) -> u32| observations.iter().map(of).max().map_or(0, |last| last as usize + 1);
    let (a, b) = (levels(|o| o.first), levels(|o| o.second));
    // The smaller factor is the one to be solved for.
    let swapped = b > a;
    let (rows, columns) = if swapped { (b, a) } else { (a, b) };
    let bytes = size_of_val(observations) + 16 * (rows * columns + columns * columns + rows + columns);
    let _reservation = Reservation::new(monitor, bytes)?;
    let mut sorted: Vec<Observation> = observations.to_vec();
    sort(&mut sorted);
    let n = sorted.len();
    let none = Decomposition { observations: n, first: None, second: None, additive: None, interaction: None };
    if sorted.windows(2).all(|pair| pair[0].value == pair[1].value) {
        return Ok(none);
    }
    let mean = sorted.iter().map(|o| o.value).sum::<f64>() / n as f64;
    let total: f64 = sorted.iter().map(|o| (o.value - mean).powi(2)).sum();
    let mut cells = Cells::new(rows, columns);
    for o in &sorted {
        let (row, column) = if swapped { (o.second, o.first) } else { (o.first, o.second) };
        cells.add(row as usize, column as usize, o.value - mean);
    }
    let (by_row, by_column) = (cells.by_row(), cells.by_column());
    let share = |squares: f64| Some((squares / total).clamp(0.0, 1.0));
    let additive = by_row + cells.columns_after_rows(monitor)?;
    let (first, second) = if swapped { (by_column, by_row) } else { (by_row, by_column) };
    Ok(Decomposition {
        observations: n,
        first: share(first),
        second: share(second),
        additive: share(additive),
        interaction: share(cells.by_cell()),
    })
}

fn sort(observations: &mut [Observation]) {
    let key = |o: &Observation| (o.block, o.first, o.second);
    observations.sort_unstable_by(|a, b| key(a).cmp(&key(b)).then(compare(a.value, b.value)));
}

/// Counts and sums of centred scores by the levels of both factors.
struct Cells {
    columns: usize,
    counts: Vec<f64>,
    sums: Vec<f64>,
    row_counts: Vec<f64>,
    row_sums: Vec<f64>,
    column_counts: Vec<f64>,
    column_sums: Vec<f64>,
}

impl Cells {
    fn new(rows: usize, columns: usize) -> Self {
        Self {
            columns,
            counts: vec![0.0; rows * columns],
            sums: vec![0.0; rows * columns],
            row_counts: vec![0.0; rows],
            row_sums: vec![0.0; rows],
            column_counts: vec![0.0; columns],
            column_sums: vec![0.0; columns],
        }
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        let cell = row * self.columns + column;
        self.counts[cell] += 1.0;
        self.sums[cell] += value;
        self.row_counts[row] += 1.0;
        self.row_sums[row] += value;
        self.column_counts[column] += 1.0;
        self.column_sums[column] += value;
    }

    fn by_row(&self) -> f64 {
        between(&self.row_counts, &self.row_sums)
    }

    fn by_column(&self) -> f64 {
        between(&self.column_counts, &self.column_sums)
    }

    fn by_cell(&self) -> f64 {
        between(&self.counts, &self.sums)
    }

    /// The sum of squares that the columns explain of what the rows leave: t' S^+ t, where S is the Laplacian of the
    /// columns joined through rows (the reduced normal equations) and t their sums without the rows' means.
    fn columns_after_rows(&self, monitor: &dyn Monitor) -> Result<f64, Stopped> {
        let b = self.columns;
        let mut system = vec![0.0; b * b];
        let mut target = self.column_sums.clone();
        for (j, &count) in self.column_counts.iter().enumerate() {
            system[j * b + j] = count;
        }
        let rows = self.counts.chunks_exact(b).zip(self.row_counts.iter().zip(&self.row_sums));
        for (cells, (&count, &sum)) in rows.filter(|(_, (count, _))| **count > 0.0) {
            monitor.check()?;
            let used: Vec<(usize, f64)> = cells.iter().copied().enumerate().filter(|(_, cell)| *cell > 0.0).collect();
            for &(j, in_j) in &used {
                target[j] -= in_j * sum / count;
                for &(k, in_k) in &used {
                    system[j * b + k] -= in_j * in_k / count;
                }
            }
        }
        explained(&mut system, &mut target, monitor)
    }
}

fn between(counts: &[f64], sums: &[f64]) -> f64 {
    counts.iter().zip(sums).filter(|(count, _)| **count > 0.0).map(|(count, sum)| sum * sum / count).sum()
}

/// t' S^+ t of a positive semidefinite S with t in its range: elimination with the largest pivot of the diagonal. Each
/// pivot p with the remaining target t contributes t^2 / p.
fn explained(system: &mut [f64], target: &mut [f64], monitor: &dyn Monitor) -> Result<f64, Stopped> {
    let b = target.len();
    let mut left: Vec<usize> = (0..b).collect();
    let largest = (0..b).map(|j| system[j * b + j]).fold(0.0, f64::max);
    let mut squares = 0.0;
    while let Some(at) = (0..left.len()).max_by(|&i, &j| {
        let diagonal = |i: usize| system[left[i] * b + left[i]];
        diagonal(i).total_cmp(&diagonal(j)).then(j.cmp(&i))
    }) {
        monitor.check()?;
        let p = left.swap_remove(at);
        let pivot = system[p * b + p];
        if pivot <= RANK_TOLERANCE * largest {
            break;
        }
        squares += target[p] * target[p] / pivot;
        for &j in &left {
            let factor = system[j * b + p] / pivot;
            if factor != 0.0 {
                target[j] -= factor * target[p];
                for &k in &left {
                    system[j * b + k] -= factor * system[p * b + k];
                }
            }
        }
    }
    Ok(squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn observations(rows: &[(u32, u32, f64)]) -> Vec<Observation> {
        rows.iter().map(|&(first, second, value)| Observation { value, first, second, block: 0 }).collect()
    }

    fn of(rows: &[(u32, u32, f64)]) -> Decomposition {
        decompose(&observations(rows), &Unmonitored).unwrap()
    }

    fn close(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-12, "{found:?} {expected}");
    }

    #[test]
    fn a_pure_interaction_is_explained_by_nothing_else() {
        let found = of(&[(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)]);
        close(found.first, 0.0);
        close(found.additive, 0.0);
        close(found.interaction, 1.0);
        close(found.interaction_share(), 1.0);
    }

    #[test]
    fn added_effects_need_no_interaction() {
        let rows: Vec<_> =
            (0..3).flat_map(|a| (0..4).map(move |b| (a, b, f64::from(a) * 2.0 + f64::from(b * b)))).collect();
        let found = of(&rows);
        close(found.additive, 1.0);
        close(found.interaction_share(), 0.0);
        close(found.first, 12.0 * (2.0 * 4.0 / 3.0) / (12.0 * (2.0 * 4.0 / 3.0 + 12.25)));
    }

    #[test]
    fn levels_that_never_meet_leave_no_second_effect() {
        // Two parts that share no level: the additive model is as rich as the interaction.
        let found = of(&[(0, 0, 1.0), (0, 0, 2.0), (1, 1, 5.0), (1, 1, 9.0)]);
        assert_eq!(found.additive, found.interaction);
        assert_eq!(found.additive, found.first);
    }

    #[test]
    fn equal_scores_have_nothing_to_explain() {
        for rows in [&[][..], &[(0, 0, 0.1)], &[(0, 0, 0.1), (1, 0, 0.1), (1, 1, 0.1)]] {
            let found = of(rows);
            assert_eq!((found.additive, found.interaction_share(), found.observations), (None, None, rows.len()));
        }
    }

    #[test]
    fn blocks_are_normalised_apart() {
        let make = || -> Vec<Observation> {
            [(3.0, 0), (1.0, 0), (2.0, 0), (70.0, 1), (70.0, 1)]
                .map(|(value, block)| Observation { value, first: 0, second: 0, block })
                .to_vec()
        };
        let values = |how| {
            let mut observations = make();
            normalize(&mut observations, how);
            observations.iter().map(|o| o.value).collect::<Vec<_>>()
        };
        let z = 1.0 / (2.0_f64 / 3.0).sqrt();
        assert_eq!(values(Normalization::ZScore), [-z, 0.0, z, 0.0, 0.0]);
        assert_eq!(values(Normalization::MinMax), [0.0, 0.5, 1.0, 0.0, 0.0]);
        assert_eq!(values(Normalization::Rank), [1.0, 2.0, 3.0, 1.5, 1.5]);
        assert_eq!(values(Normalization::Center), [-1.0, 0.0, 1.0, 0.0, 0.0]);
    }

    /// R^2 by projecting on the columns of the model one after the other (Gram and Schmidt, twice).
    fn literal(y: &[f64], columns: &[Vec<f64>]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for column in std::iter::once(&vec![1.0; y.len()]).chain(columns) {
            let mut rest = column.clone();
            for _ in 0..2 {
                for e in &basis {
                    let along = dot(&rest, e);
                    rest.iter_mut().zip(e).for_each(|(r, e)| *r -= along * e);
                }
            }
            let length = dot(&rest, &rest).sqrt();
            if length > 1e-9 {
                basis.push(rest.iter().map(|r| r / length).collect());
            }
        }
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let explained: f64 = basis[1..].iter().map(|e| dot(y, e).powi(2)).sum();
        explained / y.iter().map(|y| (y - mean).powi(2)).sum::<f64>()
    }

    proptest! {
        #[test]
        fn it_is_least_squares_on_indicators(
            rows in prop::collection::vec((0..4u32, 0..3u32, -9..10i32), 2..25),
            turned in any::<bool>(),
        ) {
            let rows: Vec<(u32, u32, f64)> = rows
                .iter()
                .map(|&(a, b, v)| if turned { (b, a, f64::from(v)) } else { (a, b, f64::from(v)) })
                .collect();
            let y: Vec<f64> = rows.iter().map(|row| row.2).collect();
            prop_assume!(y.iter().any(|v| *v != y[0]));
            let indicators = |of: &dyn Fn(&(u32, u32, f64)) -> u32| -> Vec<Vec<f64>> {
                (0..16).map(|level| rows.iter().map(|row| f64::from(u8::from(of(row) == level))).collect()).collect()
            };
            let (a, b, ab) = (indicators(&|r| r.0), indicators(&|r| r.1), indicators(&|r| 4 * r.0 + r.1));
            let found = of(&rows);
            let both: Vec<Vec<f64>> = a.iter().chain(&b).cloned().collect();
            for (found, columns) in
                [(found.first, &a), (found.second, &b), (found.additive, &both), (found.interaction, &ab)]
            {
                let expected = literal(&y, columns);
                prop_assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?} {expected}");
            }
            // Any order of rows gives the same digits.
            let reversed: Vec<_> = rows.iter().rev().copied().collect();
            prop_assert_eq!(of(&reversed), found);
        }
    }
}
