//! Dense `f64` matrices, slow and literal: what the models' equations are compared with.

use bonnet_graph::{Graph, Unmonitored};

use crate::network::{Model, Pass};
use crate::tests::{Bench, parameters, planted, split};
use crate::{Features, GraphData, Job};

/// A matrix, row by row.
pub(crate) type Matrix = Vec<Vec<f64>>;

/// A matrix of a function of row and column.
pub(crate) fn matrix(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Matrix {
    (0..rows).map(|r| (0..columns).map(|c| value(r, c)).collect()).collect()
}

/// `A B`.
pub(crate) fn times(a: &Matrix, b: &Matrix) -> Matrix {
    matrix(a.len(), b[0].len(), |r, c| a[r].iter().zip(b).map(|(x, row)| x * row[c]).sum())
}

/// `a A + b B`.
pub(crate) fn plus(a: f64, x: &Matrix, b: f64, y: &Matrix) -> Matrix {
    matrix(x.len(), x[0].len(), |r, c| a * x[r][c] + b * y[r][c])
}

/// A function of each element.
pub(crate) fn map(x: &Matrix, f: impl Fn(f64) -> f64) -> Matrix {
    x.iter().map(|row| row.iter().map(|x| f(*x)).collect()).collect()
}

/// `max(x, 0)`.
pub(crate) fn relu(x: &Matrix) -> Matrix {
    map(x, |x| x.max(0.0))
}

/// A row added to every row.
pub(crate) fn shift(x: &Matrix, bias: &Matrix) -> Matrix {
    matrix(x.len(), x[0].len(), |r, c| x[r][c] + bias[0][c])
}

/// Columns side by side.
pub(crate) fn beside(parts: &[&Matrix]) -> Matrix {
    (0..parts[0].len()).map(|r| parts.iter().flat_map(|part| part[r].iter().copied()).collect()).collect()
}

/// `A`, with ones on the diagonal if `loops`.
pub(crate) fn adjacency(graph: &Graph, loops: bool) -> Matrix {
    let n = graph.n_nodes();
    let one = |r: usize, c: usize| (loops && r == c) || graph.has_edge(r as u32, c as u32);
    matrix(n, n, |r, c| f64::from(u8::from(one(r, c))))
}

/// `D^-1/2 M D^-1/2` with the row sums D of M; 0 where a sum is 0.
pub(crate) fn symmetric(m: &Matrix) -> Matrix {
    let root: Vec<f64> =
        m.iter().map(|row| row.iter().sum::<f64>()).map(|d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }).collect();
    matrix(m.len(), m.len(), |r, c| root[r] * m[r][c] * root[c])
}

/// `D^-1 M` with the row sums D of M.
pub(crate) fn random_walk(m: &Matrix) -> Matrix {
    m.iter().map(|row| row.iter().map(|x| x / row.iter().sum::<f64>()).collect()).collect()
}

/// The features of a data set.
pub(crate) fn features(data: &GraphData) -> Matrix {
    let n = data.graph().n_nodes();
    match data.features() {
        Features::Sparse(sparse) => (0..n)
            .map(|v| {
                let mut row = vec![0.0; sparse.n_columns()];
                let (columns, values) = sparse.row(v);
                columns.iter().zip(values).for_each(|(c, value)| row[*c as usize] = f64::from(*value));
                row
            })
            .collect(),
        Features::Dense { columns, values } => matrix(n, *columns, |r, c| f64::from(values[r * columns + c])),
        Features::None => Vec::new(),
    }
}

/// The inputs of a literal implementation.
pub(crate) struct Case {
    pub data: GraphData,
    pub x: Matrix,
    blocks: Vec<(String, Matrix)>,
}

impl Case {
    /// The parameters of a model, and its data.
    pub(in crate::tests) fn of(bench: &Bench, data: GraphData, values: &[f32]) -> Self {
        let blocks = bench.model.layout().blocks().iter().map(|block| {
            let positions: Vec<usize> = block.positions().collect();
            let columns = block.columns.len();
            let value = |r: usize, c: usize| f64::from(values[positions[r * columns + c]]);
            (block.name.clone(), matrix(block.rows.len(), columns, value))
        });
        Self { x: features(&data), blocks: blocks.collect(), data }
    }

    /// A parameter by its name.
    pub(crate) fn parameter(&self, name: &str) -> &Matrix {
        let found = self.blocks.iter().find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("no {name} among {:?}", self.blocks.iter().map(|b| &b.0).collect::<Vec<_>>())).1
    }

    /// `x W + b` with the parameters `{name}.weight` and `{name}.bias`.
    pub(crate) fn affine(&self, x: &Matrix, name: &str) -> Matrix {
        shift(&times(x, self.parameter(&format!("{name}.weight"))), self.parameter(&format!("{name}.bias")))
    }

    /// A perceptron of so many layers, numbered from 0, relu between them.
    pub(crate) fn perceptron(&self, layers: usize) -> Matrix {
        (0..layers).fold(self.x.clone(), |h, l| {
            let z = self.affine(&h, &l.to_string());
            if l + 1 < layers { relu(&z) } else { z }
        })
    }
}

/// Compares the outputs of a job without dropout on a planted graph, for all nodes, with a literal implementation.
pub(crate) fn check(job: &Job, literal: impl Fn(&Case) -> Matrix) {
    for sparse in [true, false] {
        let data = planted(50, sparse);
        let all: Vec<u32> = (0..50).collect();
        check_on(job, data, &all, &literal);
    }
}

/// [`check`] on given data and targets.
pub(crate) fn check_on(job: &Job, data: GraphData, targets: &[u32], literal: impl Fn(&Case) -> Matrix) {
    check_scaled(job, data, targets, 1.0, literal);
}

/// [`check_on`] with every block of weights times a factor, for models whose scores are small at first.
pub(crate) fn check_scaled(
    job: &Job,
    data: GraphData,
    targets: &[u32],
    factor: f32,
    literal: impl Fn(&Case) -> Matrix,
) {
    let options = job.resolve().unwrap();
    let mut bench = Bench::new(&data, &options, &split(&data).train);
    let mut values = parameters(&bench);
    for block in bench.model.layout().blocks().iter().filter(|block| block.name.ends_with("weight")) {
        block.positions().for_each(|at| values[at] *= factor);
    }
    let mut reservation = bonnet_graph::Reservation::new(&Unmonitored, 0).unwrap();
    let scope = bench.model.scope(targets, false, true, &mut reservation).unwrap();
    bench.model.forward(&scope, &values, Pass::Evaluate, &Unmonitored).unwrap();
    let case = Case::of(&bench, data.clone(), &values);
    let expected = literal(&case);
    let stride = crate::ground::padded(data.n_classes());
    let scale = expected.iter().flatten().fold(1f64, |max, z| max.max(z.abs()));
    for &v in targets {
        for (c, expected) in expected[v as usize].iter().enumerate() {
            let got = f64::from(bench.model.outputs()[v as usize * stride + c]);
            assert!((got - expected).abs() < 3e-6 * scale, "{}, node {v}: {got} for {expected}", job.model);
        }
    }
}
