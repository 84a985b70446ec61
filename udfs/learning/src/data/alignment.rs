//! Features of graphs of any width brought to one width.

use bonnet_encodings::columns::{BLOCK, orthonormalise, products, symmetric, turn};
use bonnet_graph::{AlgorithmError, Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::features::{selected, selected_bytes};
use super::{Features, SparseRows};
use crate::ground::Matrix;
use crate::ground::random::{Stream, key};
use crate::kernels::RowSet;

/// Matrices with no more rows or columns are solved exactly.
const EXACT: usize = 512;

/// A singular value that is smaller than this share of the largest counts as 0: features are `f32`.
const NO_RANK: f64 = 1e-6;

/// The share of the squares of all entries that rounding may leave of those of a centred matrix.
const CENTRED: f64 = 1e-14;

/// The largest residual of a squared singular value, over the largest one.
const TOLERANCE: f64 = 1e-10;

/// Rounds of the iteration without which it fails.
const ROUNDS: usize = 300;

/// How much more than the last direction of the block a filter may magnify the first, so that the others stay apart from it.
const MAGNIFICATION: f64 = 1e8;

/// The highest degree of a filter.
const DEGREE: usize = 24;

/// Separates the draws of the first block from other uses of random numbers.
const FIRST_BLOCK: u64 = 23;

/// How columns are reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// The truncated singular value decomposition.
    Svd,
    /// The same of the columns less their means: principal components.
    Pca,
}

impl Reduction {
    /// All, as their names are listed.
    pub const ALL: [Self; 2] = [Self::Svd, Self::Pca];

    /// `svd` or `pca`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Svd => "svd",
            Self::Pca => "pca",
        }
    }

    /// The reduction of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// What features are brought to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment<'a> {
    /// The width.
    pub dim: usize,
    /// How columns are reduced.
    pub method: Reduction,
    /// The rows from which directions and means come, ascending; all where none are given.
    pub fitted_on: Option<&'a [u32]>,
}

impl Alignment<'_> {
    /// To a width, by the directions of all rows.
    pub fn of_all(dim: usize, method: Reduction) -> Self {
        Self { dim, method, fitted_on: None }
    }
}

/// Why features are not aligned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AlignmentError {
    /// A width of 0.
    #[error("dim is 0: the lowest is 1")]
    NoDimension,
    /// There are enough columns, but they span too little.
    #[error(
        "dim is {dim}, but the features ({rows} nodes, {columns} columns{}) have rank {rank}: lower dim to {}",
        if *centred { ", less their means" } else { "" },
        rank.max(&1)
    )]
    Rank {
        /// The width asked for.
        dim: usize,
        /// The nodes.
        rows: usize,
        /// The columns.
        columns: usize,
        /// The number of singular values that are not 0.
        rank: usize,
        /// Whether the means of the columns were taken off.
        centred: bool,
    },
    /// There is nothing to align.
    #[error("there are no features: take those of structural_features")]
    NoFeatures,
    /// The iteration did not come to an end.
    #[error("{0}")]
    Unsettled(String),
    /// The host stopped it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<AlgorithmError> for AlignmentError {
    fn from(error: AlgorithmError) -> Self {
        match error {
            AlgorithmError::Stopped(stopped) => Self::Stopped(stopped),
            error => Self::Unsettled(error.to_string()),
        }
    }
}

/// The stand-in for the features of a graph that has none, from which [`align`] makes some: the identity, carried along the edges
/// once, `D^-1/2 (A + I) D^-1/2` with D the degrees of `A + I`.
///
/// The identity itself has no leading directions (all its singular values are 1), so that a reduction of it would keep some nodes
/// and forget the others; its image under one step of propagation (Kipf and Welling 2017) has. O(m).
pub fn structural_features(graph: &Graph) -> Features {
    let n = graph.n_nodes();
    let root = |v: u32| ((graph.degree(v) + 1) as f64).sqrt().recip();
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for v in 0..n as u32 {
        let neighbors = graph.neighbors(v);
        let before = neighbors.partition_point(|&u| u < v);
        let row = neighbors[..before].iter().chain([&v]).chain(&neighbors[before..]);
        for &u in row {
            columns.push(u);
            values.push((root(u) * root(v)) as f32);
        }
        offsets.push(columns.len());
    }
    Features::Sparse(SparseRows::from_sorted(n, offsets, columns, values))
}

/// The bytes of [`structural_features`].
pub fn structural_features_bytes(graph: &Graph) -> usize {
    16 * (graph.n_nodes() + graph.n_edges()) + 8 * graph.n_nodes()
}

/// Features in `dim` columns: `X V`, where the columns of `V` are the right singular vectors of `X` (of `X` less the means of its
/// columns, for [`Reduction::Pca`], of which `X V` is taken, too) of the largest singular values, descending. Of each vector the
/// largest entry by magnitude is positive (the first of those that differ from it by less than 1e-6 of it). With
/// [`Alignment::fitted_on`] vectors and means are those of its rows, and all rows are carried into them.
///
/// A matrix of fewer columns than `dim` is rotated so, and zeros follow. Equal singular values share a space whose vectors the data
/// do not determine: some of it are given, the same in every run.
///
/// Up to 512 rows or columns from the eigenvectors of their products, exact. Beyond by randomised subspace iteration (Halko,
/// Martinsson and Tropp, Finding structure with randomness, 2011, Algorithm 4.4) on a block of `2 dim + 10` random directions, with
/// Chebyshev polynomials for powers (Zhou, Saad, Tiago and Chelikowsky 2006), until the residuals of the squared singular values
/// are below 1e-10 of the largest: no approximation remains that `f32` would show, where those values differ by more. O(entries dim
/// + columns dim^2) a step, `8 columns (6 dim + 30) + 8 rows (2 dim + 10)` bytes.
///
/// # Errors
/// For `dim` above the rank of a matrix that has as many columns; if the iteration does not settle, or the monitor stops it.
pub fn align(
    features: &Features,
    Alignment { dim, method, fitted_on }: Alignment<'_>,
    monitor: &dyn Monitor,
) -> Result<Matrix, AlignmentError> {
    if dim == 0 {
        return Err(AlignmentError::NoDimension);
    }
    let Some(n) = features.n_rows() else { return Err(AlignmentError::NoFeatures) };
    let columns = features.n_columns();
    let wanted = dim.min(columns);
    let _out = Reservation::new(monitor, 4 * n * dim + 8 * columns * wanted)?;
    let _fitted = Reservation::new(monitor, fitted_on.map_or(0, |rows| selected_bytes(features, rows)))?;
    let fitted = fitted_on.map(|rows| selected(features, rows));
    let rows = fitted_on.map_or(n, <[u32]>::len);
    let mut data = Data::new(fitted.as_ref().unwrap_or(features), rows, columns, method, monitor)?;
    let (squares, mut vectors) = match () {
        () if rows == 0 || columns == 0 => (vec![0.0; wanted], vec![0.0; columns * wanted]),
        () if columns <= EXACT => data.by_columns(wanted)?,
        () if rows <= EXACT => data.by_rows(wanted)?,
        () => data.iterated(wanted)?,
    };
    let none = (squares.first().copied().unwrap_or(0.0) * NO_RANK * NO_RANK).max(data.rounding());
    let rank = squares.iter().take_while(|&&square| square > none).count();
    if rank < dim && dim <= columns {
        return Err(AlignmentError::Rank { dim, rows, columns, rank, centred: method == Reduction::Pca });
    }
    for component in 0..wanted {
        let sign = if component < rank { sign(vectors.iter().skip(component).step_by(wanted)) } else { 0.0 };
        vectors.iter_mut().skip(component).step_by(wanted).for_each(|entry| *entry *= sign);
    }
    data.features = features;
    let mut values = vec![0.0; n * dim];
    if wanted > 0 {
        let at_once = BLOCK;
        values.par_chunks_mut(at_once * dim).enumerate().try_for_each(|(block, out)| {
            monitor.check()?;
            let mut row = vec![0.0; wanted];
            for (at, out) in out.chunks_exact_mut(dim).enumerate() {
                data.row_times(block * at_once + at, &vectors, wanted, &mut row);
                out.iter_mut().zip(&row).for_each(|(out, &x)| *out = x as f32);
            }
            Ok::<_, Stopped>(())
        })?;
    }
    Ok(Matrix { columns: dim, values })
}

/// 1 or -1, by which the largest entry by magnitude becomes positive.
fn sign<'a>(entries: impl Iterator<Item = &'a f64> + Clone) -> f64 {
    let most = entries.clone().fold(0.0, |most: f64, x| most.max(x.abs()));
    entries.into_iter().find(|x| x.abs() >= most * (1.0 - 1e-6)).map_or(1.0, |x| x.signum())
}

/// A matrix, by rows and by columns, and the means that are taken off its columns.
struct Data<'a> {
    features: &'a Features,
    transposed: Option<SparseRows>,
    /// Empty where nothing is taken off.
    mean: Vec<f64>,
    rows: usize,
    columns: usize,
    monitor: &'a dyn Monitor,
    _memory: Reservation<'a>,
}

impl<'a> Data<'a> {
    fn new(
        features: &'a Features,
        rows: usize,
        columns: usize,
        method: Reduction,
        monitor: &'a dyn Monitor,
    ) -> Result<Self, Stopped> {
        let iterates = rows > EXACT && columns > EXACT;
        let sparse = match features {
            Features::Sparse(sparse) if iterates => Some(sparse),
            _ => None,
        };
        let bytes = sparse.map_or(0, |sparse| 8 * sparse.n_entries() + 16 * columns);
        let memory = Reservation::new(monitor, bytes + 8 * columns)?;
        let transposed = sparse.map(|sparse| sparse.transposed(&RowSet::all(rows)));
        let mut mean = Vec::new();
        if method == Reduction::Pca {
            mean = vec![0.0; columns];
            for row in 0..rows {
                features.for_each_entry(row, |column, x| mean[column] += x);
            }
            mean.iter_mut().for_each(|sum| *sum /= rows.max(1) as f64);
        }
        Ok(Self { features, transposed, mean, rows, columns, monitor, _memory: memory })
    }

    /// What rounding leaves of a squared singular value that is 0.
    fn rounding(&self) -> f64 {
        match self.mean.is_empty() {
            true => 0.0,
            false => CENTRED * self.mean.iter().map(|mean| mean * mean).sum::<f64>() * self.rows as f64,
        }
    }

    /// `out = (x - mean)' v` of a row x, where v has a row of `width` numbers a column.
    fn row_times(&self, row: usize, v: &[f64], width: usize, out: &mut [f64]) {
        out.fill(0.0);
        let mut add = |column: usize, x: f64| {
            out.iter_mut().zip(&v[column * width..][..width]).for_each(|(out, v)| *out += x * v);
        };
        match (self.features, self.mean.is_empty()) {
            // A dense row is centred before it is multiplied, so that nothing cancels.
            (Features::Dense { columns, values }, false) => {
                let row = &values[row * columns..][..*columns];
                row.iter().zip(&self.mean).enumerate().for_each(|(c, (&x, mean))| add(c, f64::from(x) - mean));
            }
            (features, true) => features.for_each_entry(row, add),
            (features, false) => {
                features.for_each_entry(row, &mut add);
                self.mean.iter().enumerate().for_each(|(column, mean)| add(column, -mean));
            }
        }
    }

    /// From the eigenvectors of the products of columns: squared singular values, descending, and right vectors, an entry of each
    /// one a column.
    fn by_columns(&self, wanted: usize) -> Result<(Vec<f64>, Vec<f64>), AlignmentError> {
        let d = self.columns;
        // Blocks that are summed at a time: what they hold is bounded.
        let side_by_side = 16;
        let _memory = Reservation::new(self.monitor, 8 * d * d * (side_by_side + 4))?;
        let mut gram = vec![0.0; d * d];
        let blocks: Vec<usize> = (0..self.rows).step_by(BLOCK).collect();
        for starts in blocks.chunks(side_by_side) {
            let block = |&start: &usize| {
                let mut sums = vec![0.0; d * d];
                let (mut dense, mut present) = (vec![0.0; d], Vec::new());
                for row in start..self.rows.min(start + BLOCK) {
                    if row % 32 == 0 {
                        self.monitor.check()?;
                    }
                    self.scatter(row, &mut dense, &mut present);
                    for &a in &present {
                        let (x, sums) = (dense[a], &mut sums[a * d..][..d]);
                        present.iter().for_each(|&b| sums[b] += x * dense[b]);
                    }
                    present.iter().for_each(|&column| dense[column] = 0.0);
                }
                Ok(sums)
            };
            let found: Vec<Vec<f64>> = starts.par_iter().map(block).collect::<Result<_, Stopped>>()?;
            found.iter().for_each(|sums| gram.iter_mut().zip(sums).for_each(|(gram, sum)| *gram += sum));
        }
        self.take_off_means(&mut gram);
        let (values, vectors) = symmetric(d, &gram)?;
        let largest = (0..wanted).map(|i| values[d - 1 - i]).collect();
        let rows = vectors.chunks_exact(d).flat_map(|row| row.iter().rev().take(wanted).copied());
        Ok((largest, rows.collect()))
    }

    /// The entries of a row in a dense one of zeros, and where they are; those of a dense matrix less their means.
    fn scatter(&self, row: usize, dense: &mut [f64], present: &mut Vec<usize>) {
        present.clear();
        let centred = matches!(self.features, Features::Dense { .. }) && !self.mean.is_empty();
        self.features.for_each_entry(row, |column, x| {
            dense[column] = if centred { x - self.mean[column] } else { x };
            present.push(column);
        });
    }

    /// The products of centred columns from those of columns of a sparse matrix: `X'X - n mean mean'`.
    fn take_off_means(&self, gram: &mut [f64]) {
        if matches!(self.features, Features::Dense { .. }) || self.mean.is_empty() {
            return;
        }
        let (d, n) = (self.columns, self.rows as f64);
        for (a, row) in gram.chunks_exact_mut(d).enumerate() {
            row.iter_mut().zip(&self.mean).for_each(|(sum, mean)| *sum -= n * self.mean[a] * mean);
        }
    }

    /// The same from the products of rows, of which there are few: `v = X' u / sigma`.
    fn by_rows(&self, wanted: usize) -> Result<(Vec<f64>, Vec<f64>), AlignmentError> {
        let (n, d) = (self.rows, self.columns);
        let _memory = Reservation::new(self.monitor, 32 * n * n + 8 * d * (1 + rayon::current_num_threads()))?;
        let row_of = |i: usize| {
            self.monitor.check()?;
            let (mut dense, mut present) = (vec![0.0; d], Vec::new());
            self.scatter(i, &mut dense, &mut present);
            let product = |j: usize| {
                let mut sum = 0.0;
                let centred = matches!(self.features, Features::Dense { .. }) && !self.mean.is_empty();
                self.features.for_each_entry(j, |c, x| sum += dense[c] * if centred { x - self.mean[c] } else { x });
                sum
            };
            Ok((0..n).map(product).collect::<Vec<f64>>())
        };
        let rows: Vec<Vec<f64>> = (0..n).into_par_iter().map(row_of).collect::<Result<_, Stopped>>()?;
        let mut gram = rows.concat();
        if !self.mean.is_empty() {
            // Of rows less their mean: less the means of rows and columns, plus that of all.
            let means: Vec<f64> = rows.iter().map(|row| row.iter().sum::<f64>() / n as f64).collect();
            let all = means.iter().sum::<f64>() / n as f64;
            for (i, row) in gram.chunks_exact_mut(n).enumerate() {
                row.iter_mut().zip(&means).for_each(|(product, mean)| *product += all - mean - means[i]);
            }
        }
        let (values, u) = symmetric(n, &gram)?;
        let held = wanted.min(n);
        let mut squares: Vec<f64> = (0..held).map(|i| values[n - 1 - i]).collect();
        squares.resize(wanted, 0.0);
        let mut vectors = vec![0.0; d * wanted];
        let mut totals = vec![0.0; held];
        for (i, u) in u.chunks_exact(n).enumerate() {
            let u = || u.iter().rev().take(held);
            totals.iter_mut().zip(u()).for_each(|(total, u)| *total += u);
            self.features.for_each_entry(i, |column, x| {
                vectors[column * wanted..].iter_mut().zip(u()).for_each(|(v, u)| *v += x * u);
            });
        }
        for (column, v) in vectors.chunks_exact_mut(wanted).enumerate() {
            let mean = self.mean.get(column).copied().unwrap_or(0.0);
            for ((v, total), square) in v.iter_mut().zip(&totals).zip(&squares) {
                *v = if *square > 0.0 { (*v - mean * total) / square.sqrt() } else { 0.0 };
            }
        }
        Ok((squares, vectors))
    }

    /// `out = X' X v` of the centred matrix, for vectors of `width` columns; `room` has a row of them for each row of X.
    fn apply(&self, v: &[f64], width: usize, room: &mut [f64], out: &mut [f64]) -> Result<(), Stopped> {
        let shift = self.shift(v, width);
        room.par_chunks_mut(BLOCK * width).enumerate().try_for_each(|(block, out)| {
            self.monitor.check()?;
            for (at, out) in out.chunks_exact_mut(width).enumerate() {
                out.copy_from_slice(&shift);
                self.features.for_each_entry(block * BLOCK + at, |column, x| {
                    out.iter_mut().zip(&v[column * width..][..width]).for_each(|(out, v)| *out += x * v);
                });
            }
            Ok::<_, Stopped>(())
        })?;
        // The sums of a centred matrix are 0 but for rounding, so that its transposed needs no shift.
        const COLUMNS: usize = 32;
        out.par_chunks_mut(COLUMNS * width).enumerate().try_for_each(|(block, out)| {
            self.monitor.check()?;
            out.fill(0.0);
            let first = block * COLUMNS;
            let add = |out: &mut [f64], row: usize, x: f64| {
                out.iter_mut().zip(&room[row * width..][..width]).for_each(|(out, z)| *out += x * z);
            };
            match (&self.transposed, self.features) {
                (Some(transposed), _) => {
                    for (at, out) in out.chunks_exact_mut(width).enumerate() {
                        let (rows, values) = transposed.row(first + at);
                        rows.iter().zip(values).for_each(|(&row, &x)| add(out, row as usize, f64::from(x)));
                    }
                }
                (None, Features::Dense { columns, values }) => {
                    for row in 0..self.rows {
                        let values = &values[row * columns + first..][..out.len() / width];
                        out.chunks_exact_mut(width).zip(values).for_each(|(out, &x)| add(out, row, f64::from(x)));
                    }
                }
                (None, _) => {}
            }
            Ok(())
        })
    }

    /// `-mean' v`.
    fn shift(&self, v: &[f64], width: usize) -> Vec<f64> {
        let mut shift = vec![0.0; width];
        for (mean, v) in self.mean.iter().zip(v.chunks_exact(width)) {
            shift.iter_mut().zip(v).for_each(|(shift, v)| *shift -= mean * v);
        }
        shift
    }

    /// The same by subspace iteration.
    fn iterated(&self, wanted: usize) -> Result<(Vec<f64>, Vec<f64>), AlignmentError> {
        let (n, d, monitor) = (self.rows, self.columns, self.monitor);
        let width = (2 * wanted + 10).min(d).min(n);
        let held = wanted.min(width);
        let _memory = Reservation::new(monitor, 8 * width * (3 * d + n))?;
        let mut stream = Stream::new(key(&[FIRST_BLOCK, d as u64, width as u64]));
        let mut x: Vec<f64> = (0..d * width).map(|_| stream.normal()).collect();
        let (mut y, mut z, mut room) = (vec![0.0; d * width], vec![0.0; d * width], vec![0.0; n * width]);
        orthonormalise(&mut x, &mut y, width, monitor)?;
        for _ in 0..ROUNDS {
            // The best vectors within the block, their values and what is left (Rayleigh and Ritz).
            self.apply(&x, width, &mut room, &mut y)?;
            let (values, vectors) = symmetric(width, &products(&x, &y, width, monitor)?)?;
            let turned: Vec<f64> = vectors.chunks_exact(width).flat_map(|row| row.iter().rev().copied()).collect();
            let values: Vec<f64> = values.into_iter().rev().collect();
            turn(&mut x, &mut z, &turned, width);
            turn(&mut y, &mut z, &turned, width);
            let mut residuals = vec![0.0; width];
            for (x, y) in x.chunks_exact(width).zip(y.chunks_exact(width)) {
                for (((residual, x), y), value) in residuals.iter_mut().zip(x).zip(y).zip(&values) {
                    *residual += (y - value * x).powi(2);
                }
            }
            let residual = residuals[..held].iter().copied().fold(0.0, f64::max).sqrt();
            if residual <= TOLERANCE * values[0] {
                let mut squares = values[..held].to_vec();
                squares.resize(wanted, 0.0);
                let none = std::iter::repeat_n(0.0, wanted - held);
                let rows = x.chunks_exact(width).flat_map(|row| row[..held].iter().copied().chain(none.clone()));
                return Ok((squares, rows.collect()));
            }
            self.filter(&values, [&mut x, &mut y, &mut z], &mut room)?;
            orthonormalise(&mut x, &mut y, width, monitor)?;
        }
        Err(AlignmentError::Unsettled(format!(
            "the {wanted} largest singular values of {n} nodes and {d} columns did not settle within {ROUNDS} rounds: they are too \
             close; lower dim"
        )))
    }

    /// The Chebyshev polynomial of `X'X` that is at most 1 up to the last value of the block, applied to `x`; in: `y = X'X x`.
    fn filter(&self, values: &[f64], [x, y, z]: [&mut Vec<f64>; 3], room: &mut [f64]) -> Result<(), AlignmentError> {
        let width = values.len();
        let (first, last) = (values[0], values[width - 1].max(1e-14 * values[0]));
        let growth = (2.0 * first / last - 1.0).max(1.0).acosh().max(1e-9);
        let degree = ((2.0 * MAGNIFICATION).ln() / growth).floor().clamp(1.0, DEGREE as f64) as usize;
        let scale = 2.0 / last;
        // y: the polynomial of degree 1.
        y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = scale * *y - x);
        for _ in 2..=degree {
            self.apply(y, width, room, z)?;
            for ((z, y), x) in z.iter_mut().zip(y.iter()).zip(x.iter()) {
                *z = 2.0 * (scale * *z - y) - x;
            }
            std::mem::swap(x, y);
            std::mem::swap(y, z);
        }
        std::mem::swap(x, y);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
