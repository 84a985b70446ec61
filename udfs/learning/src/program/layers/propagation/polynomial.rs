//! Polynomials of a sparse matrix: propagation of what a perceptron predicts.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::kernels::RowSet;
use crate::kernels::combine::{scalar_products, weighted_sum};
use crate::kernels::elementwise::Finish;
use crate::kernels::propagate::{Base, Power, Propagate};
use crate::network::Operator;
use crate::program::layers::add_rows;
use crate::program::reach::{needs_itself, needs_sources};
use crate::program::{
    Backward, Builder, Forward, Grow, Layer, Parameter, Prepare, Prepared, Scratch, Shapes, Slot, Tensors,
};

/// `sum over k of c_k P^k x`. Forward by Horner's rule; backward along the powers, since each has its share in the gradient
/// of its coefficient: neither keeps more than two of them.
#[derive(Debug)]
struct Polynomial {
    operator: Arc<Operator>,
    /// The coefficients: constants, or those of the last forward pass.
    coefficients: Vec<f32>,
    learnt: bool,
    /// The last two powers, rows as wide as those of x.
    room: [Vec<f32>; 2],
    /// The runs for which there is room.
    runs: usize,
}

impl Builder<'_, '_> {
    /// `sum over k of c_k P^k x` with constants `c`, at least one. O(degree * entries * width).
    ///
    /// # Errors
    /// If the host refuses the memory for two matrices of the shape of x.
    pub fn polynomial(&mut self, operator: &Arc<Operator>, x: Slot, coefficients: &[f64]) -> Result<Slot, Stopped> {
        let coefficients = coefficients.iter().map(|c| *c as f32).collect();
        self.push_polynomial(operator, x, coefficients, None)
    }

    /// The polynomial with coefficients that are a row of parameters; x has parameters behind it.
    ///
    /// # Errors
    /// If the host refuses the memory for two matrices of the shape of x.
    pub fn learned_polynomial(
        &mut self,
        operator: &Arc<Operator>,
        x: Slot,
        coefficients: Parameter,
        degree: usize,
    ) -> Result<Slot, Stopped> {
        self.push_polynomial(operator, x, vec![0.0; degree + 1], Some(coefficients))
    }

    fn push_polynomial(
        &mut self,
        operator: &Arc<Operator>,
        x: Slot,
        coefficients: Vec<f32>,
        learnt: Option<Parameter>,
    ) -> Result<Slot, Stopped> {
        let len = self.space(x).len() * self.axis(x).stride();
        let layer = Polynomial {
            operator: Arc::clone(operator),
            coefficients,
            learnt: learnt.is_some(),
            room: [self.zeros(len)?, self.zeros(len)?],
            runs: 1,
        };
        Ok(self.like(layer, &[x], learnt.as_slice()))
    }
}

/// The weights of personalised PageRank cut off after `hops` steps: `alpha (1 - alpha)^k`, the last `(1 - alpha)^hops`.
pub(crate) fn pagerank(alpha: f64, hops: usize) -> Vec<f64> {
    let power = |k: usize| (1.0 - alpha).powi(k as i32);
    (0..=hops).map(|k| if k == hops { power(k) } else { alpha * power(k) }).collect()
}

impl Layer for Polynomial {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (x, operator) = (&tensors.inputs[0], tensors.operator(&self.operator)?);
        if self.learnt {
            let c = |k: usize| tensors.parameters[0].narrow(1, k, 1);
            let (mut power, mut sum) = (x.clone(), x.broadcast_mul(&c(0)?)?);
            for k in 1..self.coefficients.len() {
                power = operator.product(&power)?;
                sum = (sum + power.broadcast_mul(&c(k)?)?)?;
            }
            return Ok(sum);
        }
        let mut lower = self.coefficients.iter().rev().map(|c| f64::from(*c));
        let mut sum = (x * lower.next().unwrap_or(0.0))?;
        for c in lower {
            sum = (operator.product(&sum)? + (x * c)?)?;
        }
        Ok(sum)
    }

    fn reach(&self, _input: usize, rows: &RowSet, needed: &mut [bool]) {
        // Apart from what others need.
        let mut marks = vec![false; needed.len()];
        needs_itself(rows, &mut marks);
        let mut set = rows.clone();
        for _ in 1..self.coefficients.len() {
            needs_sources(&self.operator, &set, &mut marks);
            let next = (0..marks.len() as u32).filter(|&row| marks[row as usize]).collect();
            let next = RowSet::new(marks.len(), next);
            if std::mem::replace(&mut set, next).len() == set.len() {
                break;
            }
        }
        needs_itself(&set, needed);
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.hops(&self.operator, self.coefficients.len() - 1)
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks(), transposed: 0 }
    }

    fn finishes(&self) -> bool {
        true
    }

    fn takes_runs(&self) -> bool {
        !self.learnt
    }

    fn set_runs(&mut self, runs: usize, grow: &mut Grow<'_>) -> Result<(), Stopped> {
        let len = runs * self.room[0].len() / std::mem::replace(&mut self.runs, runs);
        self.room.iter_mut().try_for_each(|room| grow(room, len))
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let Prepared::Hops(hops) = pass.prepared() else { return Ok(()) };
        if self.learnt {
            self.coefficients.copy_from_slice(pass.parameter(0));
        }
        let (x, width, monitor, c) = (pass.input(0), pass.width(), pass.monitor, &self.coefficients[..]);
        let degree = c.len() - 1;
        if degree == 0 {
            return weighted_sum(pass.rows(), &[x], c, width, false, pass.finish(), out, monitor);
        }
        let [sum, next] = &mut self.room;
        for k in (0..degree).rev() {
            let (from, scale) = if k + 1 == degree { (x, c[degree]) } else { (&sum[..], 1.0) };
            let (to, finish) = if k == 0 { (&mut *out, pass.finish()) } else { (&mut next[..], Finish::NOTHING) };
            let (matrix, base) = (self.operator.csr(), Base::Rows(x, c[k]));
            Propagate { matrix, x: from, width, scale, base, finish }.run(&hops.rows[k], to, monitor)?;
            std::mem::swap(sum, next);
        }
        Ok(())
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let forward = pass.forward;
        let Prepared::Hops(hops) = forward.prepared() else { return Ok(()) };
        let (x, width, monitor, c) = (forward.input(0), forward.width(), forward.monitor, &self.coefficients[..]);
        add_rows(pass, 0, c[0], d_out)?;
        let mut products = vec![0.0; c.len()];
        if self.learnt {
            let first = &mut products[..1];
            scalar_products(forward.rows(), d_out, &[x], width, pass.scratch().0, first, monitor)?;
        }
        let Some(mut d_x) = pass.gradient_everywhere(0) else { return Ok(()) };
        let [power, next] = &mut self.room;
        for k in 1..c.len() {
            let from = if k == 1 { d_out } else { &power[..] };
            let step = Power { matrix: hops.by_source[k - 1].csr(), power: from, width, coefficient: c[k] };
            let with = self.learnt.then_some(x);
            products[k] = step.run(&hops.rows[k], with, next, &mut d_x.values, monitor)?;
            std::mem::swap(power, next);
        }
        if self.learnt {
            pass.parameter_gradient(0, |out, _, _| {
                out.copy_from_slice(&products);
                Ok(())
            })?;
        }
        Ok(())
    }
}
