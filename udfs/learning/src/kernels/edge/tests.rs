//! The kernels against their definitions, their gradients against composed autograd in `f64`.

use bonnet_graph::Unmonitored;
use candle_core::{Device, Result, Tensor, Var};

use super::*;
use crate::ground::random::{Stream, key};
use crate::kernels::Csr;

/// Operands whose host stops nothing.
fn on<E>(set: &RowSet, edges: E) -> EdgeArgs<'_, E> {
    EdgeArgs { set, edges, monitor: &Unmonitored }
}

/// Edges `(source, target)` in both orders.
struct Edges {
    n: usize,
    pairs: Vec<(u32, u32)>,
    offsets: Vec<usize>,
    sources: Vec<u32>,
    out_offsets: Vec<usize>,
    targets: Vec<u32>,
    numbers: Vec<u32>,
}

impl Edges {
    /// From pairs that ascend by target, then source.
    fn new(n: usize, pairs: Vec<(u32, u32)>) -> Self {
        let offsets = (0..=n).map(|v| pairs.partition_point(|&(_, i)| (i as usize) < v)).collect();
        let mut by_source: Vec<(u32, u32, u32)> =
            pairs.iter().enumerate().map(|(e, &(j, i))| (j, i, e as u32)).collect();
        by_source.sort_unstable();
        Self {
            n,
            offsets,
            sources: pairs.iter().map(|pair| pair.0).collect(),
            out_offsets: (0..=n).map(|v| by_source.partition_point(|&(j, _, _)| (j as usize) < v)).collect(),
            targets: by_source.iter().map(|edge| edge.1).collect(),
            numbers: by_source.iter().map(|edge| edge.2).collect(),
            pairs,
        }
    }

    /// Not symmetric; every fifth node has no edge in, node 7 many in and node 3 many out.
    fn random(n: usize) -> Self {
        let mut stream = Stream::new(key(&[17, n as u64]));
        let mut pairs = Vec::new();
        for i in (0..n as u32).filter(|i| i % 5 != 4) {
            for j in 0..n as u32 {
                let share = if i == 7 { 0.8 } else { 4.0 / n as f64 };
                if stream.uniform() < if j == 3 { 0.6 } else { share } {
                    pairs.push((j, i));
                }
            }
        }
        Self::new(n, pairs)
    }

    /// The edges into some rows alone.
    fn restricted(&self, rows: &RowSet) -> (Self, Vec<usize>) {
        let kept: Vec<usize> =
            (0..self.len()).filter(|&e| rows.rows().binary_search(&self.pairs[e].1).is_ok()).collect();
        (Self::new(self.n, kept.iter().map(|&e| self.pairs[e]).collect()), kept)
    }

    fn len(&self) -> usize {
        self.pairs.len()
    }

    fn incoming(&self) -> Incoming<'_> {
        Incoming { offsets: &self.offsets, sources: &self.sources }
    }

    fn outgoing(&self) -> Outgoing<'_> {
        Outgoing { offsets: &self.out_offsets, targets: &self.targets, edges: &self.numbers }
    }

    fn degree(&self, i: u32) -> usize {
        self.offsets[i as usize + 1] - self.offsets[i as usize]
    }
}

fn random(seed: u64, len: usize) -> Vec<f32> {
    let mut stream = Stream::new(key(&[seed, 23]));
    (0..len).map(|_| stream.normal() as f32).collect()
}

fn close(got: &[f32], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (at, (&got, expected)) in got.iter().zip(expected).enumerate() {
        let error = (f64::from(got) - expected).abs() / expected.abs().max(1.0);
        assert!(error < tolerance, "{what} {at}: {got} for {expected}");
    }
}

const SHAPES: [HeadShape; 5] = [
    HeadShape { heads: 1, dim: 8 },
    HeadShape { heads: 8, dim: 8 },
    HeadShape { heads: 1, dim: 72 },
    HeadShape { heads: 3, dim: 16 },
    HeadShape { heads: 2, dim: 8 },
];

/// Calls the body in pools of 1 and 4 threads and asks for the same bits.
fn for_any_threads<T: PartialEq + Send>(body: impl Fn() -> T + Sync) -> T {
    let [one, four] =
        [1, 4].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&body));
    assert!(one == four, "the number of threads changes bits");
    one
}

#[test]
fn products_and_sums_equal_their_definitions() {
    let edges = Edges::random(300);
    let set = RowSet::all(300);
    for shape in SHAPES {
        let (heads, dim, stride) = (shape.heads, shape.dim, shape.stride());
        let (x, y, w) = (random(1, 300 * stride), random(2, 300 * stride), random(3, edges.len() * heads));
        let (products, into, out_of) = for_any_threads(|| {
            let (mut products, mut into, mut out_of) = (vec![0.0; w.len()], x.clone(), x.clone());
            dots(on(&set, edges.incoming()), shape, &x, &y, 0.5, &mut products).unwrap();
            sum_sources(on(&set, edges.incoming()), shape, &w, &y, Store::Replace, &mut into).unwrap();
            sum_targets(on(&set, edges.outgoing()), shape, &w, &y, Store::Add, &mut out_of).unwrap();
            (products, into, out_of)
        });
        let mut expected =
            (vec![0f64; w.len()], vec![0f64; x.len()], x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
        for (e, &(j, i)) in edges.pairs.iter().enumerate() {
            for c in 0..stride {
                let (head, i, j) = (e * heads + c / dim, i as usize * stride + c, j as usize * stride + c);
                let weight = f64::from(w[head]);
                expected.0[head] += 0.5 * f64::from(x[i]) * f64::from(y[j]);
                expected.1[i] += weight * f64::from(y[j]);
                expected.2[j] += weight * f64::from(y[i]);
            }
        }
        let what = format!("{shape:?}");
        close(&products, &expected.0, 1e-5, &what);
        close(&into, &expected.1, 2e-5, &what);
        close(&out_of, &expected.2, 2e-5, &what);
    }
}

#[test]
fn coefficients_are_a_softmax_whatever_the_scale_of_the_scores() {
    let edges = Edges::random(200);
    let set = RowSet::all(200);
    for (heads, scale) in [(1, 1.0f32), (1, 1e4), (3, 1.0), (8, 300.0)] {
        let mut alpha: Vec<f32> = random(4, edges.len() * heads).iter().map(|s| s * scale).collect();
        let scores: Vec<f64> = alpha.iter().map(|&s| f64::from(s)).collect();
        softmax(&set, edges.incoming(), heads, &mut alpha, &Unmonitored).unwrap();
        let mut expected = vec![0f64; scores.len()];
        for i in 0..200 {
            let range = edges.offsets[i]..edges.offsets[i + 1];
            for h in 0..heads {
                let max = range.clone().map(|e| scores[e * heads + h]).fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = range.clone().map(|e| (scores[e * heads + h] - max).exp()).sum();
                range.clone().for_each(|e| expected[e * heads + h] = (scores[e * heads + h] - max).exp() / sum);
            }
        }
        close(&alpha, &expected, 1e-6, &format!("{heads} heads, scale {scale}"));
    }
}

#[test]
fn gates_and_totals_equal_their_definitions() {
    let edges = Edges::random(150);
    let set = RowSet::all(150);
    let (stride, heads) = (8, 3);
    let (target, source) = (random(5, 150 * stride), random(6, 150 * stride));
    for (gate, f) in [
        (Gate::Identity, (|x| x) as fn(f64) -> f64),
        (Gate::Tanh, f64::tanh),
        (Gate::Sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        (Gate::Leaky(0.25), |x| if x > 0.0 { x } else { 0.25 * x }),
    ] {
        let scores = PairScores { heads, target: &target, source: &source, stride, gate };
        let mut values = vec![0.0; edges.len() * heads];
        pair_scores(&set, edges.incoming(), scores, &mut values, &Unmonitored).unwrap();
        let sum = |e: usize, h: usize| {
            let (j, i) = edges.pairs[e];
            f64::from(target[i as usize * stride + h] + source[j as usize * stride + h])
        };
        let expected: Vec<f64> = (0..values.len()).map(|at| f(sum(at / heads, at % heads))).collect();
        close(&values, &expected, 1e-6, &format!("{gate:?}"));

        // The slope, by central differences of the definition.
        let mut slopes = vec![1.0; values.len()];
        through_gate(&set, edges.incoming(), heads, gate, &values, &mut slopes, &Unmonitored).unwrap();
        let slope = |x: f64| (f(x + 1e-6) - f(x - 1e-6)) / 2e-6;
        let expected: Vec<f64> = (0..values.len()).map(|at| slope(sum(at / heads, at % heads))).collect();
        close(&slopes, &expected, 2e-6, &format!("slope of {gate:?}"));

        for total in [Total::Sum, Total::Mean] {
            let mut at_targets = vec![7.0; 150 * stride];
            sum_at_targets(on(&set, edges.incoming()), heads, &values, total, Store::Replace, &mut at_targets, stride)
                .unwrap();
            let mut at_sources = vec![7.0; 150 * stride];
            sum_at_sources(on(&set, edges.outgoing()), heads, &values, Store::Add, &mut at_sources, stride).unwrap();
            let mut shares = vec![0.0; values.len()];
            spread(on(&set, edges.incoming()), heads, &target, stride, total, &mut shares).unwrap();
            let mut expected = (vec![7f64; 150 * stride], vec![7f64; 150 * stride], vec![0f64; values.len()]);
            (0..150 * heads).for_each(|at| expected.0[at / heads * stride + at % heads] = 0.0);
            for (e, &(j, i)) in edges.pairs.iter().enumerate() {
                let scale = if total == Total::Mean { 1.0 / edges.degree(i) as f64 } else { 1.0 };
                for h in 0..heads {
                    let value = f64::from(values[e * heads + h]);
                    expected.0[i as usize * stride + h] += scale * value;
                    expected.1[j as usize * stride + h] += value;
                    expected.2[e * heads + h] = scale * f64::from(target[i as usize * stride + h]);
                }
            }
            close(&at_targets, &expected.0, 1e-5, "at targets");
            close(&at_sources, &expected.1, 1e-5, "at sources");
            close(&shares, &expected.2, 1e-6, "shares");
        }
    }
}

#[test]
fn large_scores_saturate_a_gate() {
    let edges = Edges::new(3, vec![(1, 0), (2, 0)]);
    let (target, mut source) = (vec![0.0; 24], vec![0.0; 24]);
    (source[8], source[16]) = (1e4, -1e4);
    for (gate, expected) in [(Gate::Tanh, [1.0, -1.0]), (Gate::Sigmoid, [1.0, 0.0])] {
        let scores = PairScores { heads: 1, target: &target, source: &source, stride: 8, gate };
        let mut values = vec![0.5; 2];
        pair_scores(&RowSet::all(3), edges.incoming(), scores, &mut values, &Unmonitored).unwrap();
        assert_eq!(values, expected, "{gate:?}");
    }
}

#[test]
fn some_rows_have_the_bits_of_all_rows() {
    let edges = Edges::random(600);
    let all = RowSet::all(600);
    let some = RowSet::new(600, (0..600).filter(|v| v % 7 < 3).collect());
    let (part, kept) = edges.restricted(&some);
    for shape in SHAPES {
        let (heads, stride) = (shape.heads, shape.stride());
        let (x, y) = (random(9, 600 * stride), random(10, 600 * stride));
        let run = |edges: &Edges, set: &RowSet| {
            let mut alpha = vec![0.0; edges.len() * heads];
            dots(on(set, edges.incoming()), shape, &x, &y, 0.3, &mut alpha).unwrap();
            softmax(set, edges.incoming(), heads, &mut alpha, &Unmonitored).unwrap();
            drop_edges(set, edges.incoming(), heads, Dropout::new(0.4, 5).unwrap(), &mut alpha, &Unmonitored).unwrap();
            if heads == 1 {
                let factors = edges.pairs.iter().map(|&(j, i)| (j * 3 + i) as f32).collect::<Vec<f32>>();
                scale_edges(set, edges.incoming(), &factors, &mut alpha, &Unmonitored).unwrap();
            }
            let mut out = vec![0.0; 600 * stride];
            sum_sources(on(set, edges.incoming()), shape, &alpha, &y, Store::Replace, &mut out).unwrap();
            // A gradient that is zero outside the rows, as a pass leaves it.
            let g: Vec<f32> = x
                .iter()
                .enumerate()
                .map(|(at, x)| if some.rows().binary_search(&((at / stride) as u32)).is_ok() { *x } else { 0.0 })
                .collect();
            let mut d_y = vec![0.0; 600 * stride];
            sum_targets(on(&all, edges.outgoing()), shape, &alpha, &g, Store::Replace, &mut d_y).unwrap();
            (alpha, out, d_y)
        };
        let (full, pruned) = (run(&edges, &all), run(&part, &some));
        for (at, &e) in kept.iter().enumerate() {
            assert_eq!(pruned.0[at * heads..(at + 1) * heads], full.0[e * heads..(e + 1) * heads]);
        }
        for &v in some.rows() {
            let range = v as usize * stride..(v as usize + 1) * stride;
            assert_eq!(pruned.1[range.clone()], full.1[range], "{shape:?}, row {v}");
        }
        assert!(pruned.2 == full.2, "{shape:?}");
    }
}

#[test]
fn the_mask_of_an_edge_is_that_of_attention() {
    let edges = Edges::random(100);
    let (heads, dropout) = (3, Dropout::new(0.5, 99).unwrap());
    let mut values = vec![1.0; edges.len() * heads];
    drop_edges(&RowSet::all(100), edges.incoming(), heads, dropout, &mut values, &Unmonitored).unwrap();
    for (e, &(j, i)) in edges.pairs.iter().enumerate() {
        for h in 0..heads {
            let expected = dropout.factor(dropout.row(i), j * heads as u32 + h as u32);
            assert_eq!(values[e * heads + h], expected);
        }
    }
    assert!(values.contains(&0.0) && values.contains(&2.0));
}

fn tensor(values: &[f32], shape: (usize, usize)) -> Result<Var> {
    let values: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    Var::from_tensor(&Tensor::from_vec(values, shape, &Device::Cpu)?)
}

/// 1 on the edges, target by source.
fn mask(edges: &Edges) -> Result<Tensor> {
    let mut values = vec![0f64; edges.n * edges.n];
    edges.pairs.iter().for_each(|&(j, i)| values[i as usize * edges.n + j as usize] = 1.0);
    Tensor::from_vec(values, (edges.n, edges.n), &Device::Cpu)
}

#[test]
fn scalar_product_attention_has_the_gradient_of_its_composition() -> Result<()> {
    let (n, shape) = (40, HeadShape { heads: 2, dim: 8 });
    let (heads, dim, stride) = (shape.heads, shape.dim, shape.stride());
    let (edges, set) = (Edges::random(n), RowSet::all(n));
    let [q, k, v, g] = [11, 12, 13, 14].map(|seed| random(seed, n * stride));
    let scale = 0.35;

    let (incoming, outgoing) = (edges.incoming(), edges.outgoing());
    let mut alpha = vec![0.0; edges.len() * heads];
    dots(on(&set, incoming), shape, &q, &k, scale, &mut alpha).unwrap();
    softmax(&set, incoming, heads, &mut alpha, &Unmonitored).unwrap();
    let (mut out, mut d_v) = (vec![0.0; q.len()], vec![0.0; q.len()]);
    sum_sources(on(&set, incoming), shape, &alpha, &v, Store::Replace, &mut out).unwrap();
    sum_targets(on(&set, outgoing), shape, &alpha, &g, Store::Replace, &mut d_v).unwrap();
    let mut d = vec![0.0; alpha.len()];
    dots(on(&set, incoming), shape, &g, &v, scale, &mut d).unwrap();
    softmax_gradient(&set, incoming, heads, &alpha, &mut d, &Unmonitored).unwrap();
    let (mut d_q, mut d_k) = (vec![0.0; q.len()], vec![0.0; q.len()]);
    sum_sources(on(&set, incoming), shape, &d, &k, Store::Replace, &mut d_q).unwrap();
    sum_targets(on(&set, outgoing), shape, &d, &q, Store::Replace, &mut d_k).unwrap();

    let vars = [tensor(&q, (n, stride))?, tensor(&k, (n, stride))?, tensor(&v, (n, stride))?];
    let mask = mask(&edges)?;
    let mut outputs = Vec::new();
    for head in 0..heads {
        let part = |x: &Var| x.narrow(1, head * dim, dim);
        let scores = (part(&vars[0])?.matmul(&part(&vars[1])?.t()?)? * f64::from(scale))?;
        let weights = (scores.exp()? * &mask)?;
        // A node without edges has weight 0: no division by 0.
        let sums = (weights.sum_keepdim(1)? + 1e-30)?;
        outputs.push(weights.broadcast_div(&sums)?.matmul(&part(&vars[2])?)?);
    }
    let composed = Tensor::cat(&outputs, 1)?;
    let loss = (&composed * tensor(&g, (n, stride))?.as_tensor())?.sum_all()?;
    let gradients = loss.backward()?;
    close(&out, &composed.flatten_all()?.to_vec1::<f64>()?, 1e-5, "output");
    for ((got, var), what) in [d_q, d_k, d_v].iter().zip(&vars).zip(["d_q", "d_k", "d_v"]) {
        close(got, &gradients.get(var).unwrap().flatten_all()?.to_vec1::<f64>()?, 1e-5, what);
    }
    Ok(())
}

#[test]
fn gated_weights_have_the_gradient_of_their_composition() -> Result<()> {
    let n = 40;
    let shape = HeadShape { heads: 1, dim: 16 };
    let (edges, set) = (Edges::random(n), RowSet::all(n));
    let [target, source] = [15, 16].map(|seed| random(seed, n));
    let [x, g] = [17, 18].map(|seed| random(seed, n * 16));
    // In the first of 8 columns.
    let wide =
        |values: &[f32]| values.iter().flat_map(|&x| [x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]).collect::<Vec<f32>>();
    let (wide_target, wide_source) = (wide(&target), wide(&source));
    let (incoming, outgoing) = (edges.incoming(), edges.outgoing());
    for gate in [Gate::Tanh, Gate::Sigmoid, Gate::Leaky(0.2), Gate::Identity] {
        let scores = PairScores { heads: 1, target: &wide_target, source: &wide_source, stride: 8, gate };
        let (mut w, mut out, mut d) = (vec![0.0; edges.len()], vec![0.0; x.len()], vec![0.0; edges.len()]);
        pair_scores(&set, incoming, scores, &mut w, &Unmonitored).unwrap();
        sum_sources(on(&set, incoming), shape, &w, &x, Store::Replace, &mut out).unwrap();
        dots(on(&set, incoming), shape, &g, &x, 1.0, &mut d).unwrap();
        through_gate(&set, incoming, 1, gate, &w, &mut d, &Unmonitored).unwrap();
        let (mut d_target, mut d_source) = (vec![0.0; n], vec![0.0; n]);
        sum_at_targets(on(&set, incoming), 1, &d, Total::Sum, Store::Replace, &mut d_target, 1).unwrap();
        sum_at_sources(on(&set, outgoing), 1, &d, Store::Replace, &mut d_source, 1).unwrap();

        let vars = [tensor(&target, (n, 1))?, tensor(&source, (1, n))?];
        let sums = vars[0].broadcast_add(&vars[1])?;
        let weights = match gate {
            Gate::Tanh => sums.tanh()?,
            Gate::Sigmoid => candle_nn::ops::sigmoid(&sums)?,
            Gate::Leaky(slope) => (sums.relu()? - (sums.neg()?.relu()? * f64::from(slope))?)?,
            Gate::Identity => sums,
        };
        let composed = (weights * mask(&edges)?)?.matmul(tensor(&x, (n, 16))?.as_tensor())?;
        let gradients = (&composed * tensor(&g, (n, 16))?.as_tensor())?.sum_all()?.backward()?;
        close(&out, &composed.flatten_all()?.to_vec1::<f64>()?, 1e-5, "output");
        for (got, var) in [d_target, d_source].iter().zip(&vars) {
            close(got, &gradients.get(var).unwrap().flatten_all()?.to_vec1::<f64>()?, 2e-5, &format!("{gate:?}"));
        }
    }
    Ok(())
}

#[test]
fn similarities_have_their_closed_forms() {
    // (3, 4), (4, 3), (-3, -4), (0, 0), (6, 8): the cosine of the first two is 24 / 25.
    let dense = [3.0, 4.0, 4.0, 3.0, -3.0, -4.0, 0.0, 0.0, 6.0, 8.0];
    let (offsets, columns) = ([0, 2, 4, 6, 6, 8], [0, 1, 0, 1, 0, 1, 0, 1]);
    let values = [3.0, 4.0, 4.0, 3.0, -3.0, -4.0, 6.0, 8.0];
    let edges = Edges::new(5, vec![(1, 0), (2, 0), (3, 0), (4, 0), (0, 1), (4, 3)]);
    let expected = [
        (Similarity::Cosine, [0.96, -1.0, 0.0, 1.0, 0.96, 0.0]),
        (Similarity::Distance, [2f64.sqrt(), 10.0, 5.0, 5.0, 2f64.sqrt(), 10.0]),
        (Similarity::UnitDistance, [0.08f64.sqrt(), 2.0, 1.0, 0.0, 0.08f64.sqrt(), 1.0]),
    ];
    for (similarity, expected) in expected {
        for rows in [
            FeatureRows::Dense(&dense, 2),
            FeatureRows::Sparse(Csr { offsets: &offsets, columns: &columns, values: &values }),
        ] {
            let (mut norms, mut out) = (vec![0.0; 5], vec![0.0; 6]);
            similarities(&RowSet::all(5), edges.incoming(), rows, similarity, &mut norms, &mut out, &Unmonitored)
                .unwrap();
            close(&out, &expected, 1e-7, &format!("{similarity:?}"));
        }
    }
}

#[test]
fn sparse_rows_meet_in_their_common_columns() {
    let csr = Csr { offsets: &[0, 3, 5], columns: &[0, 2, 5, 2, 6], values: &[1.0, 2.0, 3.0, 5.0, 7.0] };
    let edges = Edges::new(2, vec![(1, 0), (0, 1)]);
    let (mut norms, mut out) = (vec![0.0; 2], vec![0.0; 2]);
    let set = RowSet::all(2);
    similarities(
        &set,
        edges.incoming(),
        FeatureRows::Sparse(csr),
        Similarity::Cosine,
        &mut norms,
        &mut out,
        &Unmonitored,
    )
    .unwrap();
    close(&out, &[10.0 / (14f64 * 74.0).sqrt(); 2], 1e-7, "cosine");
    assert_eq!(norms, [14.0, 74.0]);
}

#[test]
fn the_network_of_an_edge_has_the_gradient_of_its_composition() -> Result<()> {
    let (edges, set, width) = (Edges::random(300), RowSet::all(300), 16);
    let (x, d) = (random(19, edges.len()), random(20, edges.len()));
    let [weights, bias, out] = [(21, 2 * width), (22, width), (23, width)].map(|(seed, len)| random(seed, len));
    let mlp = ScalarMlp { weights: &weights, bias: &bias, out: &out, shift: 0.25 };
    let len = ScalarMlp::gradient_len(width);
    let (values, gradient) = for_any_threads(|| {
        let (mut values, mut gradient) = (vec![0.0; x.len()], vec![0.0; len]);
        mlp.values(on(&set, edges.incoming()), &x, &mut values).unwrap();
        let mut partials = vec![0.0; set.n_blocks() * len];
        mlp.gradient(on(&set, edges.incoming()), &x, &d, &mut partials, &mut gradient).unwrap();
        (values, gradient)
    });
    let vars = [
        tensor(&weights, (2, width))?,
        tensor(&bias, (1, width))?,
        tensor(&out, (width, 1))?,
        tensor(&[0.25], (1, 1))?,
    ];
    let column = tensor(&x, (x.len(), 1))?;
    let input = Tensor::cat(&[column.as_tensor().clone(), column.sqr()?], 1)?;
    let z = input.matmul(&vars[0])?.broadcast_add(&vars[1])?;
    let composed = (&z * candle_nn::ops::sigmoid(&z)?)?.matmul(&vars[2])?.broadcast_add(&vars[3])?;
    let gradients = (&composed * tensor(&d, (x.len(), 1))?.as_tensor())?.sum_all()?.backward()?;
    close(&values, &composed.flatten_all()?.to_vec1::<f64>()?, 1e-5, "values");
    let mut at = 0;
    for var in &vars {
        let expected = gradients.get(var).unwrap().flatten_all()?.to_vec1::<f64>()?;
        close(&gradient[at..at + expected.len()], &expected, 1e-4, "gradient");
        at += expected.len();
    }
    Ok(())
}

#[test]
fn the_loss_of_labels_is_the_cross_entropy_of_the_edges_that_have_two() {
    let (edges, set) = (Edges::random(300), RowSet::all(300));
    let labels: Vec<u32> = (0..300).map(|v| if v % 3 == 0 { u32::MAX } else { v % 2 }).collect();
    let (target, source) = (random(24, 300 * 8), random(25, 300 * 8));
    let scores = PairScores { heads: 1, target: &target, source: &source, stride: 8, gate: Gate::Sigmoid };
    let logits: Vec<f64> =
        edges.pairs.iter().map(|&(j, i)| f64::from(target[i as usize * 8] + source[j as usize * 8])).collect();
    let known = |e: &usize| {
        let (j, i) = edges.pairs[*e];
        labels[i as usize] != u32::MAX && labels[j as usize] != u32::MAX
    };
    let labelled = LabelledEdges { edges: edges.incoming(), labels: &labels };
    let count = labelled.count(&set);
    assert_eq!(count, (0..edges.len()).filter(known).count());
    let loss = |logits: &[f64]| {
        let term = |e: usize| {
            let ((j, i), p) = (edges.pairs[e], 1.0 / (1.0 + (-logits[e]).exp()));
            if labels[i as usize] == labels[j as usize] { -p.ln() } else { -(1.0 - p).ln() }
        };
        (0..edges.len()).filter(known).map(term).sum::<f64>() / count as f64
    };
    let (got, gradient) = for_any_threads(|| {
        let mut gradient = vec![1.0; edges.len()];
        labelled.add_gradient(&set, count, scores, 2.0, &mut gradient, &Unmonitored).unwrap();
        (labelled.loss(&set, count, scores, &Unmonitored).unwrap(), gradient)
    });
    assert!((got - loss(&logits)).abs() < 1e-12, "{got} for {}", loss(&logits));
    for e in (0..edges.len()).step_by(7) {
        let moved = |by: f64| {
            loss(&logits.iter().enumerate().map(|(i, z)| z + if i == e { by } else { 0.0 }).collect::<Vec<_>>())
        };
        let expected = 1.0 + 2.0 * (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((f64::from(gradient[e]) - expected).abs() < 1e-6, "{e}: {} for {expected}", gradient[e]);
    }
}

#[test]
fn the_loss_of_labels_stays_finite_and_is_zero_without_labels() {
    let edges = Edges::new(2, vec![(1, 0), (0, 1)]);
    let (set, target, source) = (RowSet::all(2), [1e4, -1e4], [0.0, 0.0]);
    let scores = PairScores { heads: 1, target: &target, source: &source, stride: 1, gate: Gate::Sigmoid };
    let run = |labels: &[u32]| {
        let labelled = LabelledEdges { edges: edges.incoming(), labels };
        let (count, mut gradient) = (labelled.count(&set), vec![0.0; 2]);
        labelled.add_gradient(&set, count, scores, 1.0, &mut gradient, &Unmonitored).unwrap();
        (count, labelled.loss(&set, count, scores, &Unmonitored).unwrap(), gradient)
    };
    assert_eq!(run(&[0, 1]), (2, 5000.0, vec![0.5, 0.0]));
    assert_eq!(run(&[u32::MAX; 2]), (0, 0.0, vec![0.0; 2]));
}
