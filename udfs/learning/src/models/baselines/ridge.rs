//! Ridge regression (Hoerl and Kennard 1970), of classes one against the rest: solved for, not trained in steps.

use bonnet_graph::{Monitor, Reservation};
use rayon::prelude::*;

use crate::data::Features;
use crate::ground::{BuildError, OptionError};
use crate::models::spec::{FEATURES_ALONE, SOLVED, reach};
use crate::models::{ModelSpec, Problem};
use crate::options::{COMMON, Defaults, OptionSpec};
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: SOLVED,
    family: FEATURES_ALONE,
    geometry: "euclidean",
    tasks: &["node_classification", "node_regression"],
    source: "Hoerl and Kennard 1970, Ridge regression: biased estimation for nonorthogonal problems",
    // There are no steps: the parameters are solved for before the figures are computed.
    defaults: Defaults { epochs: 1, layers: 1, dropout: 0.0, weight_decay: 0.0, ..COMMON },
    own: &[OptionSpec::real(
        "alpha",
        1.0,
        [0.0, f64::INFINITY],
        "the penalty: times the squared weights, beside the squared errors summed over the training items. The bias has none",
    )],
    reach: reach::LOCAL,
    build,
};

/// `Z = X W + b`, whose parameters [`solve`] gives.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    problem.expect_layers(1)?;
    let options = problem.options;
    let unread = |option, value: &dyn std::fmt::Display, valid: &str| {
        let valid = format!("{valid}: ridge is solved for, all training items count alike, and no step drops anything");
        OptionError::invalid(option, value, &valid)
    };
    if options.dropout > 0.0 {
        return Err(unread("dropout", &options.dropout, "0").into());
    }
    if options.label_rate > 0.0 {
        return Err(unread("label_rate", &options.label_rate, "0").into());
    }
    let mut b = Builder::new(problem, reservation);
    let x = b.input(0.0);
    let z = b.affine(x, "0", problem.n_outputs);
    Ok(b.finish(z)?)
}

/// The parameters of a ridge regression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Solution {
    /// Columns of the features x outputs, row by row.
    pub weights: Vec<f32>,
    /// One an output.
    pub bias: Vec<f32>,
}

/// The relative size of the gradient at which a solution has settled: below what single precision can tell.
const SETTLED: f64 = 1e-11;

/// The weights and biases that minimise, for each output by itself, `sum (x w + b - y)^2 + alpha |w|^2` over some rows: a row of
/// `targets` (rows x `outputs`) each. Conjugate gradients on the least squares (Hestenes and Stiefel 1952, Sec. 10) over the
/// centred columns, in `f64`; with `alpha` 0 the solution of least norm. O(entries of the rows) a round and output; the rounds are at most
/// the rank but for rounding, few where `alpha` is large. Reserves 8 bytes a row and 40 a column for each output.
///
/// # Errors
/// If an output does not settle within ten times as many rounds as it has unknowns (a larger `alpha` helps), the monitor stops it, or
/// the memory is refused.
pub(crate) fn solve(
    features: &Features,
    rows: &[u32],
    targets: &[f64],
    outputs: usize,
    alpha: f64,
    reservation: &mut Reservation<'_>,
) -> Result<Solution, BuildError> {
    let d = features.n_columns();
    reservation.grow(8 * outputs * (rows.len() + 5 * d) + 8 * d)?;
    let monitor = reservation.monitor();
    let n = rows.len().max(1) as f64;
    let mut mean = vec![0.0; d];
    for &row in rows {
        features.for_each_entry(row as usize, |column, x| mean[column] += x / n);
    }
    let solved = (0..outputs)
        .into_par_iter()
        .map(|output| {
            let y: Vec<f64> = targets.iter().skip(output).step_by(outputs).copied().collect();
            let centre = y.iter().sum::<f64>() / n;
            let residual = y.iter().map(|y| y - centre).collect();
            let weights = Centred { features, rows, mean: &mean }.solve(residual, alpha, monitor)?;
            let shift: f64 = weights.iter().zip(&mean).map(|(w, x)| w * x).sum();
            Ok((weights, centre - shift))
        })
        .collect::<Result<Vec<_>, BuildError>>()?;
    let weights = (0..d).flat_map(|column| solved.iter().map(move |(weights, _)| weights[column] as f32)).collect();
    Ok(Solution { weights, bias: solved.iter().map(|(_, bias)| *bias as f32).collect() })
}

/// Rows of the features less the means of their columns.
struct Centred<'a> {
    features: &'a Features,
    rows: &'a [u32],
    mean: &'a [f64],
}

impl Centred<'_> {
    /// The weights for targets, which begin as the residual.
    fn solve(&self, mut residual: Vec<f64>, alpha: f64, monitor: &dyn Monitor) -> Result<Vec<f64>, BuildError> {
        let d = self.mean.len();
        let mut weights = vec![0.0; d];
        let mut gradient = self.transposed(&residual);
        let mut direction = gradient.clone();
        let mut size = dot(&gradient, &gradient);
        let least = size * SETTLED * SETTLED;
        let rounds = 10 * d.min(self.rows.len()) + 100;
        for _ in 0..rounds {
            if size <= least {
                return Ok(weights);
            }
            monitor.check()?;
            let moved = self.times(&direction);
            let step = size / (dot(&moved, &moved) + alpha * dot(&direction, &direction));
            add(&mut weights, step, &direction);
            add(&mut residual, -step, &moved);
            gradient = self.transposed(&residual);
            add(&mut gradient, -alpha, &weights);
            let next = dot(&gradient, &gradient);
            let share = next / size;
            direction.iter_mut().zip(&gradient).for_each(|(p, g)| *p = g + share * *p);
            size = next;
        }
        let valid = format!(
            "a larger number, or features of like size (normalize => 'standard'): the weights had not settled after {rounds} rounds"
        );
        Err(OptionError::invalid("alpha", alpha, &valid).into())
    }

    /// The product with a vector of columns.
    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let shift = dot(self.mean, vector);
        let product = |&row: &u32| {
            let mut sum = -shift;
            self.features.for_each_entry(row as usize, |column, x| sum += x * vector[column]);
            sum
        };
        self.rows.iter().map(product).collect()
    }

    /// The product of the transposed matrix with a vector of rows.
    fn transposed(&self, vector: &[f64]) -> Vec<f64> {
        let total: f64 = vector.iter().sum();
        let mut sums: Vec<f64> = self.mean.iter().map(|mean| -mean * total).collect();
        for (&row, &value) in self.rows.iter().zip(vector) {
            self.features.for_each_entry(row as usize, |column, x| sums[column] += x * value);
        }
        sums
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `a += factor b`
fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;
    use crate::data::SparseRows;
    use crate::ground::random::{Stream, key};

    fn solved(features: &Features, rows: &[u32], targets: &[f64], outputs: usize, alpha: f64) -> Solution {
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        solve(features, rows, targets, outputs, alpha, &mut reservation).unwrap()
    }

    fn close(found: &[f32], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found} {expected}");
        }
    }

    /// The normal equations over the columns and a constant one, which has no penalty, by Gauss and Jordan.
    fn literal(x: &[Vec<f64>], y: &[f64], alpha: f64) -> Vec<f64> {
        let d = x[0].len() + 1;
        let with_one = |row: &Vec<f64>| row.iter().copied().chain([1.0]).collect::<Vec<_>>();
        let mut system = vec![vec![0.0; d + 1]; d];
        for (row, y) in x.iter().map(with_one).zip(y) {
            for i in 0..d {
                (0..d).for_each(|j| system[i][j] += row[i] * row[j]);
                system[i][d] += row[i] * y;
            }
        }
        (0..d - 1).for_each(|i| system[i][i] += alpha);
        for i in 0..d {
            let pivot = (i..d).max_by(|&a, &b| system[a][i].abs().total_cmp(&system[b][i].abs())).unwrap();
            system.swap(i, pivot);
            let row: Vec<f64> = system[i].iter().map(|value| value / system[i][i]).collect();
            for (j, other) in system.iter_mut().enumerate() {
                let factor = if j == i { 0.0 } else { other[i] };
                other.iter_mut().zip(&row).for_each(|(value, of_row)| *value -= factor * of_row);
            }
            system[i] = row;
        }
        system.iter().map(|row| row[d]).collect()
    }

    #[test]
    fn the_solution_is_that_of_the_normal_equations() {
        let mut stream = Stream::new(key(&[11]));
        let (n, d) = (40, 7);
        let mut draw = || stream.below(17) as f64 / 4.0 - 2.0;
        let x: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| draw()).collect()).collect();
        let targets: Vec<f64> = (0..2 * n).map(|_| draw()).collect();
        let dense = Features::dense(d, x.iter().flatten().map(|&x| x as f32).collect()).unwrap();
        let stored: Vec<(usize, u32, f32)> = (0..n)
            .flat_map(|row| (0..d).map(move |column| (row, column)))
            .filter(|&(row, column)| x[row][column] != 0.0)
            .map(|(row, column)| (row, column as u32, x[row][column] as f32))
            .collect();
        let offsets = (0..=n).map(|row| stored.iter().filter(|entry| entry.0 < row).count()).collect();
        let columns = stored.iter().map(|entry| entry.1).collect();
        let values = stored.iter().map(|entry| entry.2).collect();
        let sparse = Features::Sparse(SparseRows::new(d, offsets, columns, values).unwrap());
        let rows: Vec<u32> = (0..n as u32).collect();
        for alpha in [1e-3, 1.0, 50.0] {
            for features in [&dense, &sparse] {
                let found = solved(features, &rows, &targets, 2, alpha);
                for output in 0..2 {
                    let y: Vec<f64> = targets.iter().skip(output).step_by(2).copied().collect();
                    let expected = literal(&x, &y, alpha);
                    let weights: Vec<f32> = found.weights.iter().skip(output).step_by(2).copied().collect();
                    close(&weights, &expected[..d]);
                    close(&found.bias[output..=output], &expected[d..]);
                }
            }
        }
    }

    /// Values of scikit-learn 1.9.1 (`Ridge(alpha=0.5, solver="cholesky")`), and one solution by hand: of least norm.
    #[test]
    fn published_values_and_the_least_norm() {
        let x = Features::dense(2, vec![0.0, 1.0, 1.0, 3.0, 2.0, 2.0, 4.0, 0.0]).unwrap();
        let found = solved(&x, &[0, 1, 2, 3], &[1.0, 2.0, 2.5, 6.0], 1, 0.5);
        close(&found.weights, &[1.07281553, -0.27184466]);
        close(&found.bias, &[1.4053398058252429]);
        // Two columns that are the same: the weight is shared. y = 3 x + 1.
        let twins = Features::dense(2, vec![1.0, 1.0, 2.0, 2.0, 3.0, 3.0]).unwrap();
        let found = solved(&twins, &[0, 1, 2], &[4.0, 7.0, 10.0], 1, 0.0);
        close(&found.weights, &[1.5, 1.5]);
        close(&found.bias, &[1.0]);
        // One value everywhere: nothing to explain.
        assert_eq!(solved(&x, &[0, 3], &[2.0, 2.0], 1, 1.0), Solution { weights: vec![0.0; 2], bias: vec![2.0] });
    }
}
