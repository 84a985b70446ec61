//! Every model in two ways: the fused passes, and the program on candle's tensors in `f64` under candle's autograd, where
//! each layer is its definition.

use candle_core::{DType, Device, Tensor, Var};

use crate::ops::Labelled;
use crate::program::{Evaluation, Values};
use crate::tests::*;

/// The parameters as variables, and what the definition gives for them.
fn defined(evaluation: &Evaluation, parameters: &[f32], pass: Pass) -> (Vec<Var>, Values) {
    let leaves = evaluation.parameters(parameters).unwrap();
    let leaves: Vec<Var> = leaves.iter().map(|leaf| Var::from_tensor(leaf).unwrap()).collect();
    let tensors: Vec<Tensor> = leaves.iter().map(|leaf| leaf.as_tensor().clone()).collect();
    let values = evaluation.run(&tensors, pass, &Unmonitored).unwrap();
    (leaves, values)
}

#[test]
fn every_model_computes_what_its_definition_says_with_its_gradient() {
    for sparse in [true, false] {
        let data = planted(60, sparse);
        let train = split(&data).train;
        let deeper = fused_jobs().into_iter().flat_map(|job| [1, 3].map(|layers| job.clone().with("layers", layers)));
        let jobs = jobs().into_iter().chain(factored_jobs()).chain(deeper).chain(directed_jobs());
        for job in jobs {
            let options = job.resolve().unwrap();
            let name = format!("{} of {} layers, sparse {sparse}", job.model, options.layers);
            let (mut bench, model) = (Bench::new(&data, &options, &train), Bench::new(&data, &options, &train).model);
            check_definition(&mut bench, model, data.graph.n_nodes(), &name);
        }
    }
}

/// A model on `rows` items in both ways.
pub(in crate::tests) fn check_definition(bench: &mut Bench, model: Program, rows: usize, name: &str) {
    let n_classes = bench.n_classes;
    let values = parameters(bench);
    let (loss, gradient) = bench.gradient(&values);

    let evaluation = Evaluation::new(model, Device::Cpu, DType::F64);
    let (leaves, Values { output, penalty, .. }) = defined(&evaluation, &values, Pass::Train { epoch: 1 });
    let (outputs, stride) = (output.to_vec2::<f64>().unwrap(), padded(n_classes));
    for &row in bench.scope.targets().rows() {
        for (c, expected) in outputs[row as usize].iter().enumerate() {
            let got = f64::from(bench.model.outputs()[row as usize * stride + c]);
            assert!((got - expected).abs() <= 1e-5 * (1.0 + expected.abs()), "{name}: {got} for {expected}");
        }
    }
    let items: Vec<(u32, u32)> = bench.asked.rows().iter().map(|&v| (v, bench.labels[v as usize])).collect();
    let shape = output.dims2().unwrap();
    let labelled = Labelled::new(shape, &items, &[], &Device::Cpu).unwrap();
    let mut expected = labelled.nll(&output).unwrap();
    if let Some(penalty) = penalty {
        expected = (expected + penalty).unwrap();
    }
    let gradients = expected.backward().unwrap();
    let expected = expected.to_vec2::<f64>().unwrap()[0][0];
    assert!((loss - expected).abs() < 2e-6 * expected, "{name}: loss {loss} for {expected}");
    let blocks = evaluation.program().layout().blocks().iter().zip(&leaves);
    for (block, leaf) in blocks.filter(|(block, _)| !block.statistic) {
        let Some(slopes) = gradients.get(leaf) else {
            // What no output depends on.
            assert!(block.positions().all(|at| gradient[at] == 0.0), "{name}: {}", block.name);
            continue;
        };
        let slopes = slopes.flatten_all().unwrap().to_vec1::<f64>().unwrap();
        let scale = slopes.iter().fold(0f64, |max, g| max.max(g.abs()));
        // What is the same in all scores of a row changes no coefficient: its gradient is rounding, over all pairs of nodes.
        let nothing = block.name.ends_with("key.bias") && scale < 1e-12;
        let tolerance = if nothing { 1e-3 } else { 1e-5 };
        for (at, expected) in block.positions().zip(slopes) {
            let error = (f64::from(gradient[at]) - expected).abs() / scale.max(1e-3);
            assert!(error < tolerance, "{name} {}: error {error:.1e} of {scale:.1e}", block.name);
        }
    }

    // Without dropout, and with every class given.
    let all: Vec<u32> = (0..rows as u32).collect();
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    let scope = bench.model.scope(&all, false, true, &mut reservation).unwrap();
    bench.model.forward(&scope, &values, Pass::Evaluate, &Unmonitored).unwrap();
    let rows = defined(&evaluation, &values, Pass::Evaluate).1.output.to_vec2::<f64>().unwrap();
    for (got, expected) in bench.model.outputs().chunks_exact(stride).zip(rows) {
        for (got, expected) in got.iter().zip(expected) {
            let got = f64::from(*got);
            assert!((got - expected).abs() <= 1e-5 * (1.0 + expected.abs()), "{name}: {got} for {expected}");
        }
    }
}

/// The gradient of every block against finite differences of the definition's loss, in `f64`: steps so small that none crosses a
/// kink, and no slope is lost in the rounding of a loss.
pub(in crate::tests) fn check_slopes(bench: &mut Bench, model: Program, name: &str) {
    const STEP: f64 = 1e-6;
    let values = parameters(bench);
    let (_, gradient) = bench.gradient(&values);
    let evaluation = Evaluation::new(model, Device::Cpu, DType::F64);
    let leaves = evaluation.parameters(&values).unwrap();
    let items: Vec<(u32, u32)> = bench.asked.rows().iter().map(|&v| (v, bench.labels[v as usize])).collect();
    let loss = |leaves: &[Tensor]| -> f64 {
        let Values { output, penalty, .. } = evaluation.run(leaves, Pass::Train { epoch: 1 }, &Unmonitored).unwrap();
        let labelled = Labelled::new(output.dims2().unwrap(), &items, &[], &Device::Cpu).unwrap();
        let loss = labelled.nll(&output).unwrap();
        let loss = penalty.map_or_else(|| loss.clone(), |penalty| (&loss + penalty).unwrap());
        loss.to_vec2::<f64>().unwrap()[0][0]
    };
    let blocks = evaluation.program().layout().blocks();
    let norm =
        |block: &crate::ground::Block| block.positions().map(|at| f64::from(gradient[at]).powi(2)).sum::<f64>().sqrt();
    let largest = blocks.iter().filter(|block| !block.statistic).map(norm).fold(0.0, f64::max);
    for (number, block) in blocks.iter().enumerate().filter(|(_, block)| !block.statistic) {
        let mut stream = Stream::new(number as u64);
        let (norm, count) = (norm(block), (block.rows.len() * block.columns.len()) as f64);
        let mut direction = vec![0f32; gradient.len()];
        for at in block.positions() {
            let own = if norm > 0.0 { f64::from(gradient[at]) / norm } else { 0.0 };
            direction[at] = (own + 0.3 * stream.normal() / count.sqrt()) as f32;
        }
        let slope: f64 = direction.iter().zip(&gradient).map(|(d, g)| f64::from(*d) * f64::from(*g)).sum();
        let along = evaluation.parameters(&direction).unwrap().swap_remove(number);
        let at = |step: f64| {
            let mut moved = leaves.clone();
            moved[number] = (&leaves[number] + (&along * step).unwrap()).unwrap();
            loss(&moved)
        };
        let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        let error = (difference - slope).abs();
        assert!(error < 1e-4 * slope.abs() + 2e-6 * largest, "{name} {}: {slope:.3e} for {difference:.3e}", block.name);
    }
}
