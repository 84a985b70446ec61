//! Each operation against dense matrices of candle's own operations, values and gradients.

use std::slice;
use std::sync::Arc;

use candle_core::{DType, Device, Result, Tensor, Var};

use super::*;
use crate::kernels::Activation;
use crate::network::Axis;
use crate::random::{Dropout, Stream};

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
    let all: [(Curve, Reference<'_>); 8] = [
        (Activation::Relu.into(), &|x| x.relu()),
        (Activation::Elu.into(), &|x| x.elu(1.0)),
        (Activation::Leaky(0.25).into(), &|x| x.relu()? - (x.neg()?.relu()? * 0.25)?),
        (Activation::Tanh.into(), &|x| x.tanh()),
        (Activation::Sigmoid.into(), &|x| ((x.neg()?.exp()? + 1.0)?).recip()),
        (Curve::Silu, &|x| x * ((x.neg()?.exp()? + 1.0)?).recip()?),
        (Curve::Softplus, &|x| (x.exp()? + 1.0)?.log()),
        (Curve::Gelu, &|x| ((x * std::f64::consts::FRAC_1_SQRT_2)?.erf()? + 1.0)? * (x * 0.5)?),
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
        equal("nll", &[random(12, 6, 3)], &|x| nll(&x[0], &items, weights), &|x| {
            let logs = candle_nn::ops::log_softmax(&x[0], 1)?;
            let term = |&(row, class): &(u32, u32)| {
                logs.narrow(0, row as usize, 1)?.narrow(1, class as usize, 1)? * (-weight(class) / total)
            };
            let terms = items.iter().map(term).collect::<Result<Vec<_>>>()?;
            Tensor::cat(&terms, 0)?.sum_keepdim(0)
        });
    }
    assert_eq!(nll(&random(12, 6, 3), &[], &[]).unwrap().to_vec2::<f64>().unwrap(), [[0.0]]);
    assert!(nll(&random(12, 6, 3), &[(6, 0)], &[]).unwrap_err().to_string().contains("row 6"));
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
