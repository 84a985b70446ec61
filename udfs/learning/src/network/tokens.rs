//! Tokens of nodes: polynomials of the normalised adjacency times the features, computed once before training.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};
use rayon::prelude::*;

use super::messages::Messages;
use super::operator::Operator;
use crate::data::{Features, SparseRows};
use crate::ground::BuildError;

/// A basis of polynomials `g_0`, ..., `g_K`, with `S = D^-1/2 A D^-1/2` and `L = I - S`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Powers of `D^-1/2 (A + I) D^-1/2`, D with loops.
    Monomial,
    /// The Chebyshev polynomials of the first kind of `L - I`.
    Chebyshev,
    /// `binomial(K, k) / 2^K (2I - L)^(K - k) L^k`.
    Bernstein,
}

/// Rows that a task computes one after the other.
const BLOCK: usize = 256;

/// Blocks whose rows are there before their memory is asked for.
const WAVE: usize = 32;

/// The tokens of every node: row `(order + 1) v + k` is row v of `g_k X`. Sparse features stay sparse while each `g_k X` takes
/// less room so than dense.
///
/// O(order * (n + m) * columns) time, the square of the order for [`Basis::Bernstein`]; `4 n (order + 1) columns` bytes, and
/// those of three matrices of features on the way.
///
/// # Errors
/// [`BuildError::Weight`] for a negative weight, or the host's.
pub fn tokens(
    graph: &Messages,
    features: &Arc<Features>,
    basis: Basis,
    order: usize,
    reservation: &mut Reservation<'_>,
) -> Result<Features, BuildError> {
    // What is needed on the way is given back.
    let mut way = Reservation::new(reservation.monitor(), 0)?;
    let operator = match basis {
        Basis::Monomial => Operator::symmetric(graph, &mut way)?,
        Basis::Chebyshev | Basis::Bernstein => Operator::symmetric_without_loops(graph, &mut way)?,
    };
    let monitor = reservation.monitor();
    let first = Held { rows: Arc::clone(features), _bytes: Reservation::new(monitor, 0)? };
    let step = |factor: f32, x: &Held<'_>, own: f32, y: Option<&Held<'_>>| {
        let mut bytes = Reservation::new(monitor, 0)?;
        let rows = Step { operator: &operator, factor, x: &x.rows, own, y: y.map(|y| &*y.rows) }.run(&mut bytes)?;
        Ok::<_, Stopped>(Held { rows: Arc::new(rows), _bytes: bytes })
    };
    let mut all = Tokens { n: graph.n_nodes(), columns: features.n_columns(), per_node: order + 1, form: Form::new() };
    match basis {
        Basis::Monomial => {
            let mut power = first;
            for k in 0..=order {
                if k > 0 {
                    power = step(1.0, &power, 0.0, None)?;
                }
                all.push(k, &power.rows, 1.0, reservation)?;
            }
        }
        Basis::Chebyshev => {
            let (mut before, mut last) = (None, first);
            for k in 0..=order {
                if k > 0 {
                    let next = match &before {
                        None => step(-1.0, &last, 0.0, None)?,
                        Some(before) => step(-2.0, &last, -1.0, Some(before))?,
                    };
                    before = Some(std::mem::replace(&mut last, next));
                }
                all.push(k, &last.rows, 1.0, reservation)?;
            }
        }
        Basis::Bernstein => {
            let mut binomial = 0.5f64.powi(order as i32);
            for k in 0..=order {
                let mut x = Held { rows: Arc::clone(features), _bytes: Reservation::new(monitor, 0)? };
                // (I + S) and (I - S) commute.
                for at in 0..order {
                    x = step(if at < order - k { 1.0 } else { -1.0 }, &x, 1.0, Some(&x))?;
                }
                all.push(k, &x.rows, binomial as f32, reservation)?;
                binomial *= (order - k) as f64 / (k + 1) as f64;
            }
        }
    }
    Ok(all.finish(reservation)?)
}

/// Rows with the memory that they hold.
struct Held<'m> {
    rows: Arc<Features>,
    _bytes: Reservation<'m>,
}

/// Adds a row of features, times a factor.
fn add(features: &Features, row: usize, factor: f32, sums: &mut [f32], mut touch: impl FnMut(u32)) {
    match features {
        Features::Sparse(rows) => {
            let (columns, values) = rows.row(row);
            for (&column, value) in columns.iter().zip(values) {
                sums[column as usize] += factor * value;
                touch(column);
            }
        }
        Features::Dense { columns, values } => {
            sums.iter_mut().zip(&values[row * columns..][..*columns]).for_each(|(sum, value)| *sum += factor * value);
        }
        Features::None => {}
    }
}

/// `factor S x + own y`.
struct Step<'a> {
    operator: &'a Operator,
    factor: f32,
    x: &'a Features,
    own: f32,
    y: Option<&'a Features>,
}

impl Step<'_> {
    fn run(self, reservation: &mut Reservation<'_>) -> Result<Features, Stopped> {
        let sparse = |features: &Features| matches!(features, Features::Sparse(_));
        if sparse(self.x)
            && self.y.is_none_or(sparse)
            && let Some(rows) = self.sparse(reservation)?
        {
            return Ok(Features::Sparse(rows));
        }
        self.dense(reservation)
    }

    /// Row v of the result, into zeros.
    fn row(&self, v: usize, sums: &mut [f32], mut touch: impl FnMut(u32)) {
        let (csr, row) = (self.operator.csr(), v as u32);
        let first = csr.offsets[v];
        for (at, &u) in self.operator.row(row).iter().enumerate() {
            add(self.x, u as usize, self.factor * csr.values[first + at], sums, &mut touch);
        }
        if let Some(y) = self.y {
            add(y, v, self.own, sums, touch);
        }
    }

    fn dense(self, reservation: &mut Reservation<'_>) -> Result<Features, Stopped> {
        let (n, columns, monitor) = (self.operator.n_rows(), self.x.n_columns(), reservation.monitor());
        reservation.grow(4 * n * columns)?;
        let mut values = vec![0f32; n * columns];
        values.par_chunks_mut((BLOCK * columns).max(1)).enumerate().try_for_each(|(block, out)| {
            monitor.check()?;
            for (at, out) in out.chunks_exact_mut(columns).enumerate() {
                self.row(block * BLOCK + at, out, |_| ());
            }
            Ok::<_, Stopped>(())
        })?;
        Ok(Features::Dense { columns, values })
    }

    /// Sparse rows; none where dense ones take less room.
    fn sparse(&self, reservation: &mut Reservation<'_>) -> Result<Option<SparseRows>, Stopped> {
        let (n, columns, monitor) = (self.operator.n_rows(), self.x.n_columns(), reservation.monitor());
        let most = n * columns / 2;
        let block = |first: usize| {
            monitor.check()?;
            let _held = Reservation::new(monitor, 9 * columns)?;
            let (mut sums, mut seen, mut met) = (vec![0f32; columns], vec![false; columns], Vec::new());
            let (mut found, mut values, mut ends) = (Vec::new(), Vec::new(), Vec::new());
            for v in first..(first + BLOCK).min(n) {
                self.row(v, &mut sums, |column| {
                    if !std::mem::replace(&mut seen[column as usize], true) {
                        met.push(column);
                    }
                });
                met.sort_unstable();
                for &column in &met {
                    seen[column as usize] = false;
                    values.push(std::mem::take(&mut sums[column as usize]));
                }
                found.append(&mut met);
                ends.push(found.len());
            }
            Ok::<_, Stopped>((found, values, ends))
        };
        let (mut offsets, mut all, mut values) = (vec![0], Vec::new(), Vec::new());
        reservation.grow((n + 1) * size_of::<usize>())?;
        let firsts: Vec<usize> = (0..n).step_by(BLOCK).collect();
        for wave in firsts.chunks(WAVE) {
            let blocks: Vec<_> = wave.par_iter().map(|&first| block(first)).collect::<Result<_, _>>()?;
            let entries: usize = blocks.iter().map(|block| block.0.len()).sum();
            if all.len() + entries > most {
                return Ok(None);
            }
            reservation.grow(8 * entries)?;
            for (mut found, mut of_block, ends) in blocks {
                offsets.extend(ends.into_iter().map(|end| end + all.len()));
                all.append(&mut found);
                values.append(&mut of_block);
            }
        }
        Ok(Some(SparseRows::from_sorted(columns, offsets, all, values)))
    }
}

/// The tokens so far.
struct Tokens {
    n: usize,
    columns: usize,
    per_node: usize,
    form: Form,
}

/// In which form they are kept.
enum Form {
    /// As the sparse matrices of each polynomial, with a factor each.
    Sparse(Vec<(Arc<Features>, f32)>),
    /// As the rows of the answer.
    Dense(Vec<f32>),
}

impl Form {
    fn new() -> Self {
        Self::Sparse(Vec::new())
    }
}

impl Tokens {
    /// Adds those of order k, which follows the last one.
    fn push(&mut self, k: usize, rows: &Arc<Features>, factor: f32, held: &mut Reservation<'_>) -> Result<(), Stopped> {
        let Self { n, columns, per_node, form } = self;
        let width = *per_node * *columns;
        let write = |k: usize, rows: &Features, factor: f32, out: &mut [f32]| {
            out.par_chunks_mut(width.max(1)).enumerate().for_each(|(v, out)| {
                add(rows, v, factor, &mut out[k * *columns..][..*columns], |_| ());
            });
        };
        if let Form::Sparse(before) = form {
            if let Features::Sparse(sparse) = &**rows {
                // The caller gives its own memory back; this one stays until the end.
                held.grow(8 * sparse.n_entries() + (*n + 1) * size_of::<usize>())?;
                before.push((Arc::clone(rows), factor));
                return Ok(());
            }
            held.grow(4 * *n * width)?;
            let mut dense = vec![0f32; *n * width];
            before.iter().enumerate().for_each(|(k, (rows, factor))| write(k, rows, *factor, &mut dense));
            *form = Form::Dense(dense);
        }
        if let Form::Dense(dense) = form {
            write(k, rows, factor, dense);
        }
        Ok(())
    }

    fn finish(self, held: &mut Reservation<'_>) -> Result<Features, Stopped> {
        let by_order = match self.form {
            Form::Dense(values) => return Ok(Features::Dense { columns: self.columns, values }),
            Form::Sparse(by_order) => by_order,
        };
        let entries = |rows: &Features| if let Features::Sparse(rows) = rows { rows.n_entries() } else { 0 };
        let count = by_order.iter().map(|(rows, _)| entries(rows)).sum();
        held.grow(8 * count + (self.n * self.per_node + 1) * size_of::<usize>())?;
        let (mut offsets, mut columns, mut values) =
            (Vec::with_capacity(self.n * self.per_node + 1), Vec::with_capacity(count), Vec::with_capacity(count));
        offsets.push(0);
        for v in 0..self.n {
            for (rows, factor) in &by_order {
                if let Features::Sparse(rows) = &**rows {
                    let row = rows.row(v);
                    columns.extend_from_slice(row.0);
                    values.extend(row.1.iter().map(|value| factor * value));
                }
                offsets.push(columns.len());
            }
        }
        Ok(Features::Sparse(SparseRows::from_sorted(self.columns, offsets, columns, values)))
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::{Graph, Unmonitored};

    use super::*;

    const N: usize = 7;

    fn graph() -> Messages {
        // Node 6 is alone.
        Messages::from(&Arc::new(Graph::from_edges(N, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 4)])))
    }

    /// Row by row, in `f64`.
    type Matrix = Vec<Vec<f64>>;

    fn times(a: &Matrix, b: &Matrix) -> Matrix {
        let row = |row: &Vec<f64>| (0..b[0].len()).map(|c| row.iter().zip(b).map(|(x, b)| x * b[c]).sum()).collect();
        a.iter().map(row).collect()
    }

    fn adjacency(loops: bool) -> Matrix {
        let graph = graph();
        let value = |r: u32, c: u32| {
            let own = f64::from(u8::from(loops));
            let root = |v: u32| (graph.degree(v) as f64 + own).sqrt();
            match r == c {
                true => own / (root(r) * root(r)).max(1e-300),
                false if graph.neighbors(r).contains(&c) => 1.0 / (root(r) * root(c)),
                false => 0.0,
            }
        };
        (0..N as u32).map(|r| (0..N as u32).map(|c| value(r, c)).collect()).collect()
    }

    fn combine(a: f64, x: &Matrix, b: f64, y: &Matrix) -> Matrix {
        x.iter().zip(y).map(|(x, y)| x.iter().zip(y).map(|(x, y)| a * x + b * y).collect()).collect()
    }

    fn identity() -> Matrix {
        (0..N).map(|r| (0..N).map(|c| f64::from(u8::from(r == c))).collect()).collect()
    }

    fn power(a: &Matrix, k: usize) -> Matrix {
        (0..k).fold(identity(), |p, _| times(a, &p))
    }

    /// The polynomial by its closed form, as a matrix.
    fn polynomial(basis: Basis, k: usize, order: usize) -> Matrix {
        let (s, binomial) =
            (adjacency(false), |n: usize, k: usize| (0..k).fold(1.0, |b, i| b * (n - i) as f64 / (i + 1) as f64));
        match basis {
            Basis::Monomial => power(&adjacency(true), k),
            Basis::Chebyshev => {
                // T_k(x) = sum over j of binomial(k, 2j) (x^2 - 1)^j x^(k - 2j).
                let x = combine(-1.0, &s, 0.0, &s);
                let minor = combine(1.0, &times(&x, &x), -1.0, &identity());
                (0..=k / 2).fold(combine(0.0, &x, 0.0, &x), |sum, j| {
                    let term = times(&power(&minor, j), &power(&x, k - 2 * j));
                    combine(1.0, &sum, binomial(k, 2 * j), &term)
                })
            }
            Basis::Bernstein => {
                let (low, high) = (combine(1.0, &identity(), 1.0, &s), combine(1.0, &identity(), -1.0, &s));
                let product = times(&power(&low, order - k), &power(&high, k));
                combine(binomial(order, k) / 2f64.powi(order as i32), &product, 0.0, &product)
            }
        }
    }

    fn dense(features: &Features) -> Vec<f32> {
        match features {
            Features::Dense { values, .. } => values.clone(),
            sparse => {
                let (n, columns) = (sparse.n_rows().unwrap(), sparse.n_columns());
                let mut values = vec![0.0; n * columns];
                values.chunks_mut(columns).enumerate().for_each(|(v, out)| add(sparse, v, 1.0, out, |_| ()));
                values
            }
        }
    }

    #[test]
    fn tokens_are_the_polynomials_of_their_basis_whatever_the_form_of_the_features() {
        let order = 4;
        let x: Vec<f32> = (0..N * 3).map(|i| ((i * 7 % 11) as f32 - 4.0) / 3.0).collect();
        let all: Vec<u32> = (0..N).flat_map(|_| 0..3).collect();
        let sparse = SparseRows::new(3, (0..=N).map(|v| 3 * v).collect(), all, x.clone()).unwrap();
        let full = Arc::new(Features::Sparse(sparse));
        let plain = Arc::new(Features::dense(3, x.clone()).unwrap());
        // One-hot rows of many columns stay sparse.
        let one_hot = SparseRows::new(40, (0..=N).collect(), (0..N as u32).collect(), vec![1.0; N]).unwrap();
        let one_hot = Arc::new(Features::Sparse(one_hot));
        for basis in [Basis::Monomial, Basis::Chebyshev, Basis::Bernstein] {
            let of = |features: &Arc<Features>| {
                tokens(&graph(), features, basis, order, &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap()
            };
            let (from_sparse, from_dense, rows) = (of(&full), of(&plain), of(&one_hot));
            assert!(matches!(rows, Features::Sparse(_)) && matches!(from_sparse, Features::Dense { .. }));
            assert_eq!(dense(&from_sparse), dense(&from_dense), "{basis:?}");
            let (got, polynomials) = (dense(&from_dense), dense(&rows));
            for k in 0..=order {
                let g = polynomial(basis, k, order);
                let expected = times(&g, &x.chunks(3).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect());
                for v in 0..N {
                    let at = v * (order + 1) + k;
                    for c in 0..3 {
                        let error = (f64::from(got[at * 3 + c]) - expected[v][c]).abs();
                        assert!(error < 1e-5, "{basis:?} {k} of node {v}: {} for {}", got[at * 3 + c], expected[v][c]);
                    }
                    for u in 0..N {
                        let error = (f64::from(polynomials[at * 40 + u]) - g[v][u]).abs();
                        assert!(error < 1e-5, "{basis:?} {k} of nodes {v}, {u}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_order_leaves_the_features() {
        let x = Arc::new(Features::dense(2, (0..2 * N).map(|i| i as f32).collect()).unwrap());
        for basis in [Basis::Monomial, Basis::Chebyshev, Basis::Bernstein] {
            let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
            assert_eq!(tokens(&graph(), &x, basis, 0, &mut reservation).unwrap(), *x);
        }
    }
}
