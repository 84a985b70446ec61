//! Each operation against dense matrices of candle's own operations, values and gradients.

use std::slice;
use std::sync::Arc;

use candle_core::{DType, Device, Result, Tensor, Var};

use super::*;
use crate::ground::Axis;
use crate::ground::random::{Dropout, Stream};
use crate::kernels::Activation;

const ROWS: usize = 7;
const COLUMNS: usize = 5;

/// A matrix with an empty row, an empty column, a full row and values of no pattern.
fn matrix() -> (Vec<usize>, Vec<u32>) {
    let rows: [&[u32]; ROWS] = [&[0, 2], &[], &[0, 1, 2, 4], &[2], &[4], &[1, 2], &[0, 4]];
    let offsets = rows.iter().scan(0, |at, row| Some(std::mem::replace(at, *at + row.len())));
    let mut offsets: Vec<usize> = offsets.collect();
    offsets.push(rows.iter().map(|row| row.len()).sum());
    (offsets, rows.concat())
}

fn pattern() -> Arc<Pattern> {
    let (offsets, columns) = matrix();
    Pattern::new(&offsets, &columns, COLUMNS, &Device::Cpu).unwrap()
}

/// The edges in their order: target, source.
fn edges() -> Vec<(usize, usize)> {
    let (offsets, columns) = matrix();
    let row = |i: usize| columns[offsets[i]..offsets[i + 1]].iter().map(move |&j| (i, j as usize));
    (0..ROWS).flat_map(row).collect()
}

fn random(key: u64, rows: usize, columns: usize) -> Var {
    let mut stream = Stream::new(key);
    let values: Vec<f64> = (0..rows * columns).map(|_| stream.normal()).collect();
    Var::from_tensor(&Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap()).unwrap()
}

/// The value of a function of some variables, then its gradients for a gradient of the value without a pattern.
fn results(vars: &[Var], dtype: DType, f: &dyn Fn(&[Tensor]) -> Result<Tensor>) -> Vec<Vec<f64>> {
    let vars: Vec<Var> =
        vars.iter().map(|var| Var::from_tensor(&var.as_detached_tensor().to_dtype(dtype).unwrap()).unwrap()).collect();
    let out = f(&vars.iter().map(|var| var.as_tensor().clone()).collect::<Vec<_>>()).unwrap();
    let (rows, columns) = out.dims2().unwrap();
    let g = random(99, rows, columns).as_detached_tensor().to_dtype(dtype).unwrap();
    let gradients = (&out * g).unwrap().backward().unwrap();
    let flat = |x: &Tensor| x.flatten_all().unwrap().to_dtype(DType::F64).unwrap().to_vec1::<f64>().unwrap();
    let slopes = vars.iter().map(|var| flat(gradients.get(var).unwrap()));
    std::iter::once(flat(&out)).chain(slopes).collect()
}

/// Holds an operation to another way to compute it, in both types.
fn equal(
    what: &str,
    vars: &[Var],
    operation: &dyn Fn(&[Tensor]) -> Result<Tensor>,
    reference: &dyn Fn(&[Tensor]) -> Result<Tensor>,
) {
    let expected = results(vars, DType::F64, reference);
    for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 2e-6)] {
        for (got, expected) in results(vars, dtype, operation).iter().zip(&expected) {
            assert_eq!(got.len(), expected.len(), "{what}");
            for (got, expected) in got.iter().zip(expected) {
                assert!((got - expected).abs() <= tolerance * (1.0 + expected.abs()), "{what}: {got} for {expected}");
            }
        }
    }
}

/// 1 where edge e has target i (or source j): edges x nodes.
fn incidence(sources: bool, dtype: DType) -> Tensor {
    let nodes = if sources { COLUMNS } else { ROWS };
    let mut values = vec![0f64; edges().len() * nodes];
    for (e, (i, j)) in edges().into_iter().enumerate() {
        values[e * nodes + if sources { j } else { i }] = 1.0;
    }
    Tensor::from_vec(values, (edges().len(), nodes), &Device::Cpu).unwrap().to_dtype(dtype).unwrap()
}

#[test]
fn sums_along_edges_are_products_with_the_dense_matrix_of_each_head() {
    let (p, e) = (pattern(), edges().len());
    for (heads, dim) in [(1, 3), (2, 4), (3, 1)] {
        let vars = [random(1, e, heads), random(2, COLUMNS, heads * dim), random(3, ROWS, heads * dim)];
        let dense = |x: &[Tensor], turned: bool| {
            let (target, source) = (incidence(false, DType::F64), incidence(true, DType::F64));
            let of_head = |head: usize| {
                let weighted = source.broadcast_mul(&x[0].narrow(1, head, 1)?)?;
                let matrix = target.t()?.matmul(&weighted)?;
                let part = x[1].narrow(1, head * dim, dim)?;
                if turned { matrix.t()?.matmul(&part.contiguous()?) } else { matrix.matmul(&part.contiguous()?) }
            };
            Tensor::cat(&(0..heads).map(of_head).collect::<Result<Vec<_>>>()?, 1)
        };
        let forward = [vars[0].clone(), vars[1].clone()];
        equal("sum", &forward, &|x| p.sum(&x[0], &x[1]), &|x| dense(x, false));
        let back = [vars[0].clone(), vars[2].clone()];
        equal("transposed sum", &back, &|x| p.transposed_sum(&x[0], &x[1]), &|x| dense(x, true));
        let ends = [vars[2].clone(), vars[1].clone()];
        equal("dots", &ends, &|x| p.dots(&x[0], &x[1], heads), &|x| {
            let (target, source) = (incidence(false, DType::F64), incidence(true, DType::F64));
            (target.matmul(&x[0])? * source.matmul(&x[1])?)?.reshape((e, heads, dim))?.sum(2)
        });
    }
}

#[test]
fn ends_totals_and_largest_rows_are_those_of_the_incidence_matrix() {
    let p = pattern();
    let take = |sources: bool| move |x: &[Tensor]| incidence(sources, DType::F64).matmul(&x[0]);
    equal("targets", &[random(1, ROWS, 3)], &|x| p.at_targets(&x[0]), &take(false));
    equal("sources", &[random(2, COLUMNS, 3)], &|x| p.at_sources(&x[0]), &take(true));
    let vars = [random(3, edges().len(), 3)];
    equal("total", &vars, &|x| p.total(&x[0]), &|x| incidence(false, DType::F64).t()?.matmul(&x[0]));
    equal("max", &vars, &|x| p.max(&x[0]), &|x| {
        let (offsets, _) = matrix();
        let row = |i: usize| match offsets[i + 1] - offsets[i] {
            0 => Tensor::zeros((1, 3), DType::F64, &Device::Cpu),
            len => x[0].narrow(0, offsets[i], len)?.max_keepdim(0),
        };
        Tensor::cat(&(0..ROWS).map(row).collect::<Result<Vec<_>>>()?, 0)
    });
    // Among equals the first one moves the result.
    let equals = Var::from_tensor(&Tensor::ones((edges().len(), 1), DType::F64, &Device::Cpu).unwrap()).unwrap();
    let slopes = &results(&[equals], DType::F64, &|x| p.max(&x[0]))[1];
    let (offsets, _) = matrix();
    let first = |e: usize| offsets[..ROWS].contains(&e);
    assert!(slopes.iter().enumerate().all(|(e, slope)| (*slope != 0.0) == first(e)), "{slopes:?}");
}

#[test]
fn coefficients_of_a_target_add_up_to_one_and_have_the_slopes_of_a_softmax() {
    let (p, (offsets, _)) = (pattern(), matrix());
    let vars = [random(4, edges().len(), 2)];
    equal("softmax", &vars, &|x| p.softmax(&x[0]), &|x| {
        let rows = (0..ROWS).filter(|&i| offsets[i + 1] > offsets[i]);
        let rows = rows.map(|i| {
            let part = x[0].narrow(0, offsets[i], offsets[i + 1] - offsets[i])?;
            candle_nn::ops::softmax(&part, 0)
        });
        Tensor::cat(&rows.collect::<Result<Vec<_>>>()?, 0)
    });
    let far = (vars[0].as_detached_tensor() * 1e4).unwrap();
    let alpha = p.softmax(&far).unwrap();
    let sums = p.total(&alpha).unwrap().to_vec2::<f64>().unwrap();
    for (i, sums) in sums.iter().enumerate() {
        let expected = f64::from(u8::from(offsets[i + 1] > offsets[i]));
        assert!(sums.iter().all(|sum| (sum - expected).abs() < 1e-12), "row {i}: {sums:?}");
    }
}

#[test]
fn dropout_has_the_masks_of_the_fused_passes() {
    let (p, mask) = (pattern(), Dropout::new(0.4, 0x1234_5678_9abc).unwrap());
    let heads = 2;
    let factors = |element: &dyn Fn(usize, usize) -> (u32, u32), rows: usize, columns: usize| {
        let at = |r: usize, c: usize| {
            let (row, column) = element(r, c);
            f64::from(mask.factor(mask.row(row), column))
        };
        let values: Vec<f64> =
            (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))).map(|(r, c)| at(r, c)).collect();
        Tensor::from_vec(values, (rows, columns), &Device::Cpu)
    };
    let (e, ends) = (edges().len(), edges());
    equal("edges", &[random(5, e, heads)], &|x| p.dropout(&x[0], Some(mask)), &|x| {
        &x[0] * factors(&|e, h| (ends[e].0 as u32, (ends[e].1 * heads + h) as u32), e, heads)?
    });
    // Two groups of three columns, stored in eight each.
    let axis = Axis::padded(2, 3);
    equal("rows", &[random(6, ROWS, 6)], &|x| dropout(&x[0], Some(mask), axis), &|x| {
        &x[0] * factors(&|r, c| (r as u32, (c / 3 * 8 + c % 3) as u32), ROWS, 6)?
    });
    let x = random(7, ROWS, 6);
    assert_eq!(dropout(&x, None, axis).unwrap().id(), x.as_tensor().id());
}

#[test]
fn activations_have_their_values_and_slopes_also_at_their_kinks() {
    let x = random(8, 9, 4);
    let positive = |x: &Tensor| x.gt(0.0)?.to_dtype(x.dtype());
    type Reference<'a> = &'a dyn Fn(&Tensor) -> Result<Tensor>;
    let all: [(Curve, Reference<'_>); 7] = [
        (Activation::Relu.into(), &|x| x.relu()),
        (Activation::Elu.into(), &|x| x.elu(1.0)),
        (Activation::Leaky(0.25).into(), &|x| x.relu()? - (x.neg()?.relu()? * 0.25)?),
        (Activation::Tanh.into(), &|x| x.tanh()),
        (Activation::Sigmoid.into(), &|x| ((x.neg()?.exp()? + 1.0)?).recip()),
        (Curve::Silu, &|x| x * ((x.neg()?.exp()? + 1.0)?).recip()?),
        (Curve::Softplus, &|x| (x.exp()? + 1.0)?.log()),
    ];
    for (curve, reference) in all {
        equal(&format!("{curve:?}"), slice::from_ref(&x), &|x| activate(&x[0], curve), &|x| reference(&x[0]));
    }
    let zero = Var::zeros((1, 1), DType::F64, &Device::Cpu).unwrap();
    for activation in [Activation::Relu, Activation::Leaky(0.25)] {
        let slope = results(slice::from_ref(&zero), DType::F64, &|x| activate(&x[0], activation))[1][0];
        let unit = random(99, 1, 1).to_vec2::<f64>().unwrap()[0][0];
        let below = if activation == Activation::Relu { 0.0 } else { 0.25 };
        assert!((slope - below * unit).abs() < 1e-12, "{activation:?}: {slope}");
    }
    assert_eq!(positive(&x).unwrap().dtype(), DType::F64);
}

#[test]
fn a_bias_is_added_to_every_row_and_its_gradient_is_their_sum() {
    let vars = [random(9, 300, 3), random(10, 1, 3)];
    equal("bias", &vars, &|x| add_row(&x[0], &x[1]), &|x| x[0].broadcast_add(&x[1]));
    assert!(add_row(&vars[1], &vars[0]).unwrap_err().to_string().contains("1 x 3"));
}

#[test]
fn the_inverse_times_the_matrix_is_one_and_has_its_gradient() {
    let root = random(11, 4, 4);
    let positive = |x: &Tensor| x.matmul(&x.t()?)? + Tensor::eye(4, x.dtype(), x.device())?;
    let product = inverse(&positive(&root).unwrap()).unwrap().matmul(&positive(&root).unwrap()).unwrap();
    let error = (product - Tensor::eye(4, DType::F64, &Device::Cpu).unwrap()).unwrap().abs().unwrap();
    assert!(error.max_all().unwrap().to_scalar::<f64>().unwrap() < 1e-12);
    // The gradient by central differences.
    let at = |x: &Tensor| inverse(&positive(x)?);
    let got = results(slice::from_ref(&root), DType::F64, &|x| at(&x[0]));
    let g = random(99, 4, 4).flatten_all().unwrap().to_vec1::<f64>().unwrap();
    for entry in 0..16 {
        let moved = |h: f64| {
            let mut values = root.flatten_all().unwrap().to_vec1::<f64>().unwrap();
            values[entry] += h;
            let moved = Tensor::from_vec(values, (4, 4), &Device::Cpu).unwrap();
            let out = at(&moved).unwrap().flatten_all().unwrap().to_vec1::<f64>().unwrap();
            out.iter().zip(&g).map(|(out, g)| out * g).sum::<f64>()
        };
        let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((got[1][entry] - slope).abs() < 1e-8, "{} for {slope}", got[1][entry]);
    }
    assert!(inverse(&root.zeros_like().unwrap()).unwrap().sum_all().unwrap().to_scalar::<f64>().unwrap().is_nan());
}

#[test]
fn the_loss_is_the_weighted_mean_of_the_logarithms_of_the_probabilities() {
    let (items, weights) = ([(0, 2), (3, 0), (4, 1)], [0.5f32, 2.0, 1.5]);
    for weights in [&[][..], &weights] {
        let weight = |class: u32| weights.get(class as usize).map_or(1.0, |weight| f64::from(*weight));
        let total: f64 = items.iter().map(|item| weight(item.1)).sum();
        let labelled = Labelled::new((6, 3), &items, weights, &Device::Cpu).unwrap();
        equal("nll", &[random(12, 6, 3)], &|x| labelled.nll(&x[0]), &|x| {
            let logs = candle_nn::ops::log_softmax(&x[0], 1)?;
            let term = |&(row, class): &(u32, u32)| {
                logs.narrow(0, row as usize, 1)?.narrow(1, class as usize, 1)? * (-weight(class) / total)
            };
            let terms = items.iter().map(term).collect::<Result<Vec<_>>>()?;
            Tensor::cat(&terms, 0)?.sum_keepdim(0)
        });
    }
    let none = Labelled::new((6, 3), &[], &[], &Device::Cpu).unwrap();
    assert_eq!(none.nll(&random(12, 6, 3)).unwrap().to_vec2::<f64>().unwrap(), [[0.0]]);
    let outside = Labelled::new((6, 3), &[(6, 0)], &[], &Device::Cpu).unwrap_err().to_string();
    assert!(outside.contains("row 6"), "{outside}");
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_computed_for_no_edges() {
    let p = pattern();
    let e = edges().len();
    let sum = p.sum(&random(1, e, 1), &random(2, ROWS, 3)).unwrap_err().to_string();
    assert!(sum.contains("5 rows, not 7"), "{sum}");
    assert!(p.sum(&random(1, e, 2), &random(2, COLUMNS, 3)).unwrap_err().to_string().contains("2 heads"));
    assert!(p.softmax(&random(1, 3, 1)).unwrap_err().to_string().contains("12 rows"));
    let words = Tensor::zeros((e, 1), DType::U32, &Device::Cpu).unwrap();
    assert!(p.softmax(&words).unwrap_err().to_string().contains("f32 or f64"));

    let none = Pattern::new(&[0, 0, 0], &[], 4, &Device::Cpu).unwrap();
    let (w, x) = (random(1, 0, 1), random(2, 4, 3));
    assert_eq!(none.sum(&w, &x).unwrap().to_vec2::<f64>().unwrap(), [[0.0; 3]; 2]);
    assert_eq!(none.softmax(&w).unwrap().dims(), [0, 1]);
    assert_eq!(none.max(&w).unwrap().to_vec2::<f64>().unwrap(), [[0.0]; 2]);
}

/// The kernels that the text defines, in its order.
fn defined(text: &str) -> Vec<&str> {
    let starts = text.split("extern \"C\" __global__ void ").skip(1);
    starts.map(|rest| rest.split('(').next().unwrap()).collect()
}

#[test]
fn the_kernels_of_the_text_are_those_that_are_known() {
    let (mut known, mut defined) = (kernel::KERNELS.to_vec(), defined(include_str!("kernels.cu")));
    known.sort_unstable();
    defined.sort_unstable();
    assert_eq!(known, defined);
}

/// A matrix in `f32`.
fn single(key: u64, rows: usize, columns: usize) -> Tensor {
    random(key, rows, columns).as_detached_tensor().to_dtype(DType::F32).unwrap()
}

/// Holds the kernels of an operation, run on the host, to what the operation computes on the CPU.
fn kernels_agree(what: &str, kernel: &dyn kernel::Kernel, inputs: &[&Tensor], expected: Tensor) {
    let flat = |x: &Tensor| x.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    let values: Vec<(Vec<f32>, &[usize])> = inputs.iter().map(|x| (flat(x), x.dims())).collect();
    let inputs: Vec<(&[f32], &[usize])> = values.iter().map(|(values, dims)| (&values[..], *dims)).collect();
    let Some((got, shape)) = host::run(kernel, &inputs) else { return };
    assert_eq!(shape, expected.dims(), "{what}");
    for (got, expected) in got.iter().zip(flat(&expected)) {
        assert!((got - expected).abs() <= 5e-5 * (1.0 + expected.abs()), "{what}: {got} for {expected}");
    }
}

/// A matrix whose first row takes a whole block of threads, and some other shapes of rows.
fn with_a_heavy_row() -> Arc<Pattern> {
    let (mut offsets, mut columns, n) = (vec![0], Vec::new(), 2 * pattern::HEAVY as u32);
    for row in 0..20u32 {
        match row {
            0 => columns.extend(0..n - 3),
            3 => {}
            row => columns.extend((0..n).filter(|c| (c * 7 + row) % (40 * row) == 0)),
        }
        offsets.push(columns.len());
    }
    Pattern::new(&offsets, &columns, n as usize, &Device::Cpu).unwrap()
}

#[test]
fn the_kernels_along_edges_compute_what_the_operations_compute() {
    for p in [pattern(), with_a_heavy_row()] {
        let (e, rows, columns) = (p.n_entries(), p.n_rows(), p.n_columns());
        for (heads, dim) in [(1, 1), (1, 7), (3, 5), (2, 40)] {
            let what = format!("{rows} x {columns}, {heads} heads of {dim}");
            let (w, x, y) = (single(1, e, heads), single(2, columns, heads * dim), single(3, rows, heads * dim));
            for turned in [false, true] {
                let x = if turned { &y } else { &x };
                let sum = edge_sum::EdgeSum { pattern: Arc::clone(&p), turned };
                let expected = w.apply_op2_no_bwd(x, &sum).unwrap();
                kernels_agree(&format!("sum, {what}, {turned}"), &sum, &[&w, x], expected);
            }
            let dots = edge_dots::EdgeDots { pattern: Arc::clone(&p), heads };
            let expected = y.apply_op2_no_bwd(&x, &dots).unwrap();
            kernels_agree(&format!("dots, {what}"), &dots, &[&y, &x], expected);
        }
        for width in [1, 3, 33] {
            let what = format!("{rows} x {columns}, {width} columns");
            for sources in [false, true] {
                let x = single(4, if sources { columns } else { rows }, width);
                let take = edge_ends::Take { pattern: Arc::clone(&p), sources };
                kernels_agree(&format!("ends, {what}"), &take, &[&x], x.apply_op1_no_bwd(&take).unwrap());
                let (x, total) = (single(5, e, width), edge_ends::Total { pattern: Arc::clone(&p), sources });
                kernels_agree(&format!("total, {what}"), &total, &[&x], x.apply_op1_no_bwd(&total).unwrap());
            }
            let x = single(6, e, width);
            let softmax = edge_softmax::EdgeSoftmax { pattern: Arc::clone(&p) };
            kernels_agree(&format!("softmax, {what}"), &softmax, &[&x], x.apply_op1_no_bwd(&softmax).unwrap());
            let mask = Dropout::new(0.3, 0xabc_def0_1234).unwrap();
            let drop = edge_dropout::EdgeDropout { pattern: Arc::clone(&p), mask };
            kernels_agree(&format!("dropout, {what}"), &drop, &[&x], x.apply_op1_no_bwd(&drop).unwrap());
            // Few values, so that several entries are the largest.
            let few = (x * 2.0).unwrap().round().unwrap();
            let largest = segment_max::SegmentMax { pattern: Arc::clone(&p) };
            let max = few.apply_op1_no_bwd(&largest).unwrap();
            kernels_agree(&format!("max, {what}"), &largest, &[&few], max.clone());
            let (g, gradient) = (single(7, rows, width), segment_max::SegmentMaxGradient { pattern: Arc::clone(&p) });
            let expected = few.apply_op3_no_bwd(&max, &g, &gradient).unwrap();
            kernels_agree(&format!("gradient of max, {what}"), &gradient, &[&few, &max, &g], expected);
        }
    }
}

#[test]
fn the_kernels_of_elements_and_losses_compute_what_the_operations_compute() {
    let (x, g, row) = (single(1, 40, 13), single(2, 40, 13), single(3, 1, 13));
    let add = add_row::AddRow;
    kernels_agree("row", &add, &[&x, &row], x.apply_op2_no_bwd(&row, &add).unwrap());
    let groups = (Axis::padded(2, 13), single(4, 40, 26));
    for (axis, x) in [(Axis::exact(13), x.clone()), groups] {
        let drop = dropout::Drop { mask: Dropout::new(0.6, 0x1_2345_6789).unwrap(), axis };
        kernels_agree("dropout", &drop, &[&x], x.apply_op1_no_bwd(&drop).unwrap());
    }
    let curves = [Activation::Identity, Activation::Relu, Activation::Elu, Activation::Leaky(0.1)];
    let curves = curves.into_iter().chain([Activation::Tanh, Activation::Sigmoid]).map(Curve::from);
    for curve in curves.chain([Curve::Silu, Curve::Softplus]) {
        let (value, slope) = (activate::Activate(curve), activate::Slope(curve));
        kernels_agree(&format!("{curve:?}"), &value, &[&x], x.apply_op1_no_bwd(&value).unwrap());
        let expected = x.apply_op2_no_bwd(&g, &slope).unwrap();
        kernels_agree(&format!("slope of {curve:?}"), &slope, &[&x, &g], expected);
    }
    for classes in [2, 13, 70] {
        let (logits, items) = ((single(5, 30, classes) * 5.0).unwrap(), [(0, 1), (7, 0), (8, 1), (29, 0)]);
        let labelled = Labelled::new((30, classes), &items, &[0.5, 2.0], &Device::Cpu).unwrap();
        let loss = nll::Nll(Arc::clone(&labelled));
        kernels_agree("loss", &loss, &[&logits], logits.apply_op1_no_bwd(&loss).unwrap());
        let (g, gradient) = (single(6, items.len(), 1), nll::NllGradient(labelled));
        let expected = logits.apply_op2_no_bwd(&g, &gradient).unwrap();
        kernels_agree("gradient of the loss", &gradient, &[&logits, &g], expected);
    }
}

#[test]
fn a_step_by_the_kernels_is_that_of_the_optimiser() {
    use crate::optimizer::Optimizer;
    use crate::options::OptimizerKind;
    for kind in [OptimizerKind::Adam, OptimizerKind::AdamW, OptimizerKind::Sgd] {
        let state = single(1, 3, 300).abs().unwrap();
        let g = single(2, 1, 300);
        let mut optimizer = Optimizer::new(kind, 0.01, 0.05, 0);
        optimizer.next_step();
        let update = Update { kind, clip: 0.7, step: optimizer.next_step() };
        let flat = |x: &Tensor| x.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let before = flat(&state);
        let got = host::update(&update, &flat(&g), &before);
        state.inplace_op2(&g, &update).unwrap();
        let here = flat(&state);
        let moved = here[..300].iter().zip(&before).filter(|(a, b)| a != b).count();
        assert!(moved > 290, "{kind:?}: {moved}");
        for (got, expected) in got.iter().flatten().zip(&here) {
            assert!((got - expected).abs() < 1e-6, "{kind:?}: {got} for {expected}");
        }
        // As the optimiser of a flat vector, from moments of zero.
        let (mut flat_weights, gradient) = (before[..300].to_vec(), flat(&g));
        let mut whole = Optimizer::new(kind, 0.01, 0.05, 300);
        whole.step(&mut flat_weights, &gradient);
        let fresh = Tensor::cat(
            &[
                &Tensor::from_slice(&before[..300], (1, 300), &Device::Cpu).unwrap(),
                &Tensor::zeros((2, 300), DType::F32, &Device::Cpu).unwrap(),
            ],
            0,
        )
        .unwrap();
        let first = Optimizer::new(kind, 0.01, 0.05, 0).next_step();
        fresh.inplace_op2(&g, &Update { kind, clip: 1.0, step: first }).unwrap();
        assert_eq!(flat(&fresh)[..300], flat_weights[..], "{kind:?}");
    }
}
