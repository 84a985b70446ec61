//! What relations bring to their targets: sums along each, times weights of its own.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::super::{
    Backward, Builder, Forward, Layer, Parameter, Prepare, Prepared, Scratch, Shapes, Slot, Tensors,
};
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::Finish;
use crate::kernels::parallel::for_each_block;
use crate::kernels::propagate::PropagateListed;
use crate::network::{ListedEntries, ListedOperator, Pass, RelationRows};
use crate::program::layers::add_rows;
use crate::program::make_room;
use crate::program::reach::{needs_itself, needs_listed};

/// `y + sum over r of P_r x W_r`; a parameter a relation. The rows of a relation with entries, and the rows that these lead to,
/// are few in a sample: products run over the fewer of the two, and no relation has a matrix of its own.
#[derive(Debug)]
struct RelationSum {
    operators: Vec<Arc<ListedOperator>>,
    /// Of each relation, whether `x W_r` comes first in training: where it has fewer sources than targets. Without training sums
    /// come first always, so that outputs do not depend on what else is in a sample.
    sources_first: Vec<bool>,
    /// A matrix of one relation at a time, of this length in a pass.
    room: Vec<f32>,
    len: usize,
}

impl Builder<'_, '_> {
    /// `y + sum over r of P_r x W_r` with new weights of each relation, `name(relation)`; `relations` are their names and operators.
    ///
    /// # Errors
    /// If the host refuses the memory for one more matrix of rows.
    pub fn relation_sum(
        &mut self,
        x: Slot,
        y: Slot,
        relations: &[(String, Arc<ListedOperator>)],
        name: impl Fn(&str) -> String,
    ) -> Result<Slot, Stopped> {
        if relations.is_empty() {
            return Ok(y);
        }
        let (rows, columns) = (self.axis(x), self.axis(y));
        let mut weights: Vec<Parameter> = Vec::with_capacity(relations.len());
        for (relation, _) in relations {
            let initial = self.initial_of(rows.len(), columns.len());
            weights.push(self.parameter(name(relation), rows, columns, initial));
        }
        let n = self.space(x).rows();
        let mut sources_first = Vec::with_capacity(relations.len());
        let mut marks = vec![false; n];
        for (_, operator) in relations {
            let mut sources = 0;
            for &source in operator.columns() {
                sources += usize::from(!std::mem::replace(&mut marks[source as usize], true));
            }
            operator.columns().iter().for_each(|&source| marks[source as usize] = false);
            sources_first.push(sources < operator.rows().len());
        }
        // On the host a pass makes room for one more matrix.
        let len = if self.inputs().device { 0 } else { n * rows.stride().max(columns.stride()) };
        self.reservation().grow(len * size_of::<f32>())?;
        let operators = relations.iter().map(|(_, operator)| Arc::clone(operator)).collect();
        let space = self.space(y);
        Ok(self.push(
            RelationSum { operators, sources_first, len, room: Vec::new() },
            &[x, y],
            &weights,
            space,
            columns,
        ))
    }
}

impl Layer for RelationSum {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let mut sum = tensors.inputs[1].clone();
        for (operator, weights) in self.operators.iter().zip(tensors.parameters) {
            let messages = tensors.inputs[0].matmul(weights)?;
            sum = (sum + tensors.listed(operator)?.product(&messages)?)?;
        }
        Ok(sum)
    }

    fn reach(&self, input: usize, rows: &crate::kernels::RowSet, needed: &mut [bool]) {
        match input {
            0 => needs_listed(&self.operators, rows, needed),
            _ => needs_itself(rows, needed),
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.relations(&self.operators)
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        let weights = shapes.parameter(0);
        Scratch { partials: shapes.blocks() * weights, transposed: weights }
    }

    fn room(&mut self) -> Option<&mut Vec<f32>> {
        Some(&mut self.room)
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let Prepared::Relations(relations) = pass.prepared() else { return Ok(()) };
        make_room(&mut self.room, self.len);
        let (x, y, monitor) = (pass.input(0), pass.input(1), pass.monitor);
        let (k, width, trains) = (pass.input_axis(0).stride(), pass.width(), matches!(pass.pass(), Pass::Train { .. }));
        for_each_block(pass.rows(), out, width, monitor, |rows, first, out| {
            for &row in rows {
                let y = &y[row as usize * width..][..width];
                out[(row as usize - first) * width..][..width].copy_from_slice(y);
            }
        })?;
        for (relation, RelationRows { targets, spans, sources, .. }) in relations.iter().enumerate() {
            if targets.is_empty() {
                continue;
            }
            let (operator, weights) = (&self.operators[relation], pass.parameter(relation));
            let (columns, values) = (operator.columns(), operator.values());
            if trains && self.sources_first[relation] {
                let then = Then::Finish(Finish::NOTHING);
                dense::product(sources, Left::new(x, k), weights, width, then, &mut self.room, monitor)?;
                let x = &self.room[..];
                PropagateListed { spans, columns, values, x, width, add: true }.run(targets, out, monitor)?;
            } else {
                let sums = PropagateListed { spans, columns, values, x, width: k, add: false };
                sums.run(targets, &mut self.room, monitor)?;
                dense::product(targets, Left::new(&self.room, k), weights, width, Then::Add, out, monitor)?;
            }
        }
        Ok(())
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        add_rows(pass, 1, 1.0, d_out)?;
        let Prepared::Relations(relations) = f.prepared() else { return Ok(()) };
        let (x, monitor, k, width) = (f.input(0), f.monitor, f.input_axis(0).stride(), f.width());
        let mut d_x = pass.gradient_everywhere(0);
        if let Some(d_x) = d_x.as_mut().filter(|d_x| !d_x.add) {
            f.input_rows(0).rows().iter().for_each(|&row| d_x.values[row as usize * k..][..k].fill(0.0));
        }
        let (nothing, room) = (Finish::NOTHING, &mut self.room);
        for (relation, RelationRows { targets, spans, sources, by_source }) in relations.iter().enumerate() {
            let (false, Some(back)) = (targets.is_empty(), by_source) else { continue };
            let (operator, weights) = (&self.operators[relation], f.parameter(relation));
            let back = |x, width, add| {
                let ListedEntries { spans, columns, values } = back;
                PropagateListed { spans, columns, values, x, width, add }
            };
            if self.sources_first[relation] {
                back(d_out, width, false).run(sources, room, monitor)?;
                pass.parameter_gradient(relation, |out, partials, _| {
                    dense::transposed_product(sources, Left::new(x, k), room, width, partials, out, monitor)
                })?;
                if let Some(d_x) = &mut d_x {
                    let (left, (_, transposed)) = (Left::new(room, width), pass.scratch());
                    let out = &mut d_x.values;
                    dense::product_by_transposed(sources, left, weights, k, transposed, Then::Add, out, monitor)?;
                }
            } else {
                let (columns, values) = (operator.columns(), operator.values());
                let sums = PropagateListed { spans, columns, values, x, width: k, add: false };
                sums.run(targets, room, monitor)?;
                pass.parameter_gradient(relation, |out, partials, _| {
                    dense::transposed_product(targets, Left::new(room, k), d_out, width, partials, out, monitor)
                })?;
                if let Some(d_x) = &mut d_x {
                    let (left, (_, transposed)) = (Left::new(d_out, width), pass.scratch());
                    let then = Then::Finish(nothing);
                    dense::product_by_transposed(targets, left, weights, k, transposed, then, room, monitor)?;
                    back(&room[..], k, true).run(sources, &mut d_x.values, monitor)?;
                }
            }
        }
        Ok(())
    }
}
