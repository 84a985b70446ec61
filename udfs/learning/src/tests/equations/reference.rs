//! The fused layers against the same formulas composed of dense `f64` operations under candle's autograd.

use candle_core::{Device, Tensor, Var};

use crate::ground::random::Dropout;
use crate::network::{Site, dropout};
use crate::tests::*;

const PASS: Pass = Pass::Train { epoch: 1 };

type Result<T> = candle_core::Result<T>;

fn dense(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Result<Tensor> {
    let values: Vec<f64> = (0..rows * columns).map(|at| value(at / columns, at % columns)).collect();
    Tensor::from_vec(values, (rows, columns), &Device::Cpu)
}

/// The factors of a mask at the given stored columns.
fn mask(n: usize, columns: &[usize], dropout: Option<Dropout>) -> Result<Tensor> {
    let factor = |d: Dropout, r: usize, c: usize| f64::from(d.factor(d.row(r as u32), columns[c] as u32));
    dense(n, columns.len(), |r, c| dropout.map_or(1.0, |d| factor(d, r, c)))
}

/// A model composed of dense operations: its parameters and its loss.
struct Composed<'a> {
    data: &'a GraphData,
    options: &'a TrainOptions,
    parameters: Vec<Var>,
}

impl Composed<'_> {
    fn loss(&self, bench: &Bench) -> Result<Tensor> {
        let (n, classes) = (self.data.graph.n_nodes(), self.data.n_classes);
        let logits = self.logits(bench)?;
        let log_probability = candle_nn::ops::log_softmax(&logits, 1)?;
        let train = bench.asked.rows();
        let picked = dense(n, classes, |v, c| {
            f64::from(u8::from(train.contains(&(v as u32)) && self.data.labels[v] == Some(c as u32)))
        })?;
        (log_probability * picked)?.sum_all()? * (-1.0 / train.len() as f64)
    }

    fn logits(&self, bench: &Bench) -> Result<Tensor> {
        let (n, options, graph) = (self.data.graph.n_nodes(), self.options, self.data.graph());
        let Features::Sparse(features) = self.data.features() else { panic!("the reference takes sparse features") };
        let mut h = dense(n, features.n_columns(), |v, c| {
            let (columns, values) = features.row(v);
            columns.iter().position(|&column| column as usize == c).map_or(0.0, |at| f64::from(values[at]))
        })?;
        let blocks = bench.model.layout().blocks();
        let per_layer = blocks.len() / options.layers;
        for l in 0..options.layers {
            let columns: Vec<usize> = blocks[per_layer * l].rows.positions().collect();
            let p = &self.parameters[per_layer * l..per_layer * (l + 1)];
            h = (h * mask(n, &columns, dropout(options.dropout, options.seed, PASS, l, Site::Input))?)?;
            let bias = &p[per_layer - 1];
            let degree = |v: usize| graph.degree(v as u32) as f64;
            let edge = |i: usize, j: usize| graph.has_edge(i as u32, j as u32);
            h = match options.model.as_str() {
                "mlp" => h.matmul(&p[0])?.broadcast_add(bias)?,
                "gcn" => {
                    let value = |i, j| 1.0 / ((degree(i) + 1.0) * (degree(j) + 1.0)).sqrt();
                    let a = dense(n, n, |i, j| if i == j || edge(i, j) { value(i, j) } else { 0.0 })?;
                    a.matmul(&h.matmul(&p[0])?)?.broadcast_add(bias)?
                }
                "graphsage" => {
                    let mean = dense(n, n, |i, j| if edge(i, j) { 1.0 / degree(i) } else { 0.0 })?;
                    let width = bias.dims2()?.1;
                    let (v, u) = (p[0].narrow(1, 0, width)?, p[0].narrow(1, width, width)?);
                    (mean.matmul(&h)?.matmul(&v)? + h.matmul(&u)?)?.broadcast_add(bias)?
                }
                _ => self.attention(&h, p, l)?,
            };
            if l + 1 < options.layers {
                h = if options.model == "gat" { h.elu(1.0)? } else { h.relu()? };
            }
        }
        Ok(h)
    }

    fn attention(&self, h: &Tensor, p: &[Var], l: usize) -> Result<Tensor> {
        let (n, options, graph) = (self.data.graph.n_nodes(), self.options, self.data.graph());
        let last = l + 1 == options.layers;
        let heads = options.of_model().integer(if last { "output_heads" } else { "heads" }).unwrap() as usize;
        let slope = options.of_model().real("negative_slope").unwrap();
        let drop =
            dropout(options.of_model().real("attention_dropout").unwrap(), options.seed, PASS, l, Site::Attention);
        let forbidden = dense(n, n, |i, j| if i == j || graph.has_edge(i as u32, j as u32) { 0.0 } else { -1e30 })?;
        let wh = h.matmul(&p[0])?;
        let width = wh.dims2()?.1 / heads;
        let mut outputs = Vec::new();
        for head in 0..heads {
            let part = |t: &Tensor| t.narrow(1, head * width, width);
            let x = part(&wh)?;
            let (s, t) = (x.matmul(&part(&p[1])?.t()?)?, x.matmul(&part(&p[2])?.t()?)?);
            let score = t.broadcast_add(&s.t()?)?;
            let score = (score.relu()? - (score.neg()?.relu()? * slope)?)?;
            let alpha = candle_nn::ops::softmax(&(score + &forbidden)?, 1)?;
            let columns: Vec<usize> = (0..n).map(|j| j * heads + head).collect();
            outputs.push((alpha * mask(n, &columns, drop)?)?.matmul(&x)?);
        }
        if last {
            let mut sum = outputs[0].clone();
            for output in &outputs[1..] {
                sum = (sum + output)?;
            }
            (sum / heads as f64)?.broadcast_add(&p[3])
        } else {
            Tensor::cat(&outputs, 1)?.broadcast_add(&p[3])
        }
    }
}

#[test]
fn losses_and_gradients_equal_composed_f64_autograd() -> Result<()> {
    let data = planted(60, true);
    let train = split(&data).train;
    for layers in 1..=3 {
        for mut job in fused_jobs() {
            job.set("layers", layers);
            let options = job.resolve().unwrap();
            let mut bench = Bench::new(&data, &options, &train);
            let values = parameters(&bench);
            let (loss, gradient) = bench.gradient(&values);
            let variables = bench.model.layout().blocks().iter().map(|block| {
                let real: Vec<f64> = block.positions().map(|at| f64::from(values[at])).collect();
                Var::from_tensor(&Tensor::from_vec(real, (block.rows.len(), block.columns.len()), &Device::Cpu)?)
            });
            let composed = Composed { data: &data, options: &options, parameters: variables.collect::<Result<_>>()? };
            let expected = composed.loss(&bench)?;
            let gradients = expected.backward()?;
            let expected = expected.to_scalar::<f64>()?;
            assert!((loss - expected).abs() < 2e-6 * expected, "{} {layers}: loss {loss} for {expected}", job.model);
            for (block, parameter) in bench.model.layout().blocks().iter().zip(&composed.parameters) {
                let expected = gradients.get(parameter).unwrap().flatten_all()?.to_vec1::<f64>()?;
                let scale = expected.iter().fold(0f64, |max, g| max.max(g.abs()));
                for (at, expected) in block.positions().zip(expected) {
                    let error = (f64::from(gradient[at]) - expected).abs() / scale;
                    assert!(error < 5e-6, "{} {layers} {}: error {error:.1e} of {scale:.1e}", job.model, block.name);
                }
            }
        }
    }
    Ok(())
}
