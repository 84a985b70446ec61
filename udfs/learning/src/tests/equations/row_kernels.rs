//! Kernels of rows against their definitions, value and gradient.

use candle_core::{Device, Tensor, Var};

use crate::ground::random::Stream;
use crate::program::layers::expressions::expression::Rowwise;

/// A kernel beside its definition: values, and gradients of inputs and parameters. Inputs have `n` rows.
pub(crate) fn check(rows: &impl Rowwise, n: usize, inputs: &[Vec<f64>], parameters: &[(usize, Vec<f64>)]) {
    let var = |rows: usize, values: &Vec<f64>| {
        let shape = (rows, values.len() / rows);
        Var::from_tensor(&Tensor::from_vec(values.clone(), shape, &Device::Cpu).unwrap()).unwrap()
    };
    let x: Vec<Var> = inputs.iter().map(|values| var(n, values)).collect();
    let w: Vec<Var> = parameters.iter().map(|(rows, values)| var(*rows, values)).collect();
    let tensors = |of: &[Var]| of.iter().map(|var| var.as_tensor().clone()).collect::<Vec<_>>();
    let y = rows.compute(&tensors(&x), &tensors(&w)).unwrap();
    let d_y = y.affine(0.3, 0.7).unwrap().cos().unwrap().detach();
    let store = (&y * &d_y).unwrap().backward().unwrap();
    let numbers = |of: &Tensor| of.contiguous().unwrap().flatten_all().unwrap().to_vec1::<f64>().unwrap();

    let kernel = rows.kernel().unwrap();
    let beside: Vec<f64> = (0..n)
        .flat_map(|row| inputs.iter().flat_map(move |x| x[row * x.len() / n..(row + 1) * x.len() / n].to_vec()))
        .collect();
    let w: Vec<Vec<f64>> = parameters.iter().map(|(_, values)| values.clone()).collect();
    let read = kernel.read(&w);
    let mut found = vec![0.0; y.elem_count()];
    kernel.values(n, &beside, &read, &mut found);
    let close = |found: f64, expected: f64, size: f64| {
        assert!((found - expected).abs() <= 1e-6 * size.max(1e-3), "{rows:?}: {found} for {expected}");
    };
    let size = |of: &[f64]| of.iter().fold(0f64, |most, x| most.max(x.abs()));
    let expected = numbers(&y);
    found.iter().zip(&expected).for_each(|(found, x)| close(*found, *x, size(&expected)));
    let (mut d_x, mut d_read) = (vec![0.0; beside.len()], read.iter().map(|r| vec![0.0; r.len()]).collect::<Vec<_>>());
    kernel.gradients(n, &beside, &read, &numbers(&d_y), &mut d_x, &mut d_read);
    let width = beside.len() / n;
    let mut from = 0;
    for x in &x {
        let columns = x.dims2().unwrap().1;
        let expected = numbers(store.get(x).unwrap());
        for row in 0..n {
            let found = &d_x[row * width + from..][..columns];
            let expected = &expected[row * columns..][..columns];
            found.iter().zip(expected).for_each(|(found, x)| close(*found, *x, size(expected)));
        }
        from += columns;
    }
    let leaves: Vec<Var> = parameters.iter().map(|(rows, values)| var(*rows, values)).collect();
    let y = rows.compute(&tensors(&x), &tensors(&leaves)).unwrap();
    let store = (y * d_y).unwrap().backward().unwrap();
    for (leaf, found) in leaves.iter().zip(kernel.pull(&w, &read, d_read)) {
        let expected = numbers(store.get(leaf).unwrap());
        assert_eq!(found.len(), expected.len());
        found.iter().zip(&expected).for_each(|(found, x)| close(*found, *x, size(&expected)));
    }
}

/// Normal numbers times a length.
pub(crate) fn normal(count: usize, length: f64, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed);
    (0..count).map(|_| length * stream.normal()).collect()
}
