//! The parameters of a model as tensors by their names.

use std::collections::BTreeMap;

use candle_core::backprop::GradStore;
use candle_core::{DType, Device, Result, Tensor, Var, bail};

use crate::ground::Layout;

/// Parameters by their names: `rows x columns` each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Weights(BTreeMap<String, Tensor>);

impl Weights {
    /// The blocks of a layout, whose columns are exact, from its flat vector, as numbers of a type; gradients are kept of those that
    /// are `learned`.
    pub fn new(layout: &Layout, values: &[f32], dtype: DType, learned: impl Fn(&str) -> bool) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for block in layout.blocks() {
            let shape = (block.rows.len(), block.columns.len());
            let tensor = Tensor::from_slice(&values[block.range()], shape, &Device::Cpu)?.to_dtype(dtype)?;
            let tensor = match learned(&block.name) {
                true => Var::from_tensor(&tensor)?.as_tensor().clone(),
                false => tensor,
            };
            tensors.insert(block.name.clone(), tensor);
        }
        Ok(Self(tensors))
    }

    /// The parameter of a name.
    pub fn get(&self, name: &str) -> Result<&Tensor> {
        match self.0.get(name) {
            Some(tensor) => Ok(tensor),
            None => bail!("the model has no parameter {name}"),
        }
    }

    /// The parameter of a name with a number, such as `tokens.3`.
    pub fn numbered(&self, name: &str, number: usize) -> Result<&Tensor> {
        self.get(&format!("{name}.{number}"))
    }

    /// Adds the gradients of a loss to a flat vector.
    pub fn add_gradient(&self, layout: &Layout, gradients: &GradStore, to: &mut [f32]) -> Result<()> {
        for block in layout.blocks() {
            let Some(gradient) = self.0.get(&block.name).and_then(|tensor| gradients.get(tensor)) else { continue };
            let values = gradient.flatten_all()?.to_dtype(DType::F32)?.to_vec1::<f32>()?;
            to[block.range()].iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        Ok(())
    }

    /// The same with another value for a parameter.
    #[cfg(test)]
    pub fn with(mut self, name: &str, tensor: Tensor) -> Self {
        self.0.insert(name.to_owned(), tensor);
        self
    }
}
