//! A program as a [`Model`]: its passes on the CPU.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::layer::{Backward, Common};
use super::{LabelInput, Program, Shelf, layers, plan};
use crate::ground::{Axis, Layout};
use crate::kernels::elementwise::{Activation, Gate, column_sums, gate_rows};
use crate::network::{Model, Moments, Pass, Scope, dropout};

impl Model for Program {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn scope(
        &self,
        targets: &[u32],
        train: bool,
        pruned: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Scope, Stopped> {
        plan::scope(self, targets, train, pruned, reservation)
    }

    fn forward(&mut self, scope: &Scope, parameters: &[f32], pass: Pass, monitor: &dyn Monitor) -> Result<(), Stopped> {
        for slot in &self.in_place {
            let gradient = self.gradients[slot.0].get_mut();
            if !gradient.is_empty() {
                self.values[slot.0] = std::mem::take(gradient);
            }
        }
        self.take_buffers(&mut Shelf::default(), false, false);
        let Self { layout, shapes, features, seed, nodes, values, masks, side_by_side, .. } = self;
        if let Some(runs) = side_by_side {
            runs.copy(layout, parameters);
        }
        let drawn = side_by_side.as_ref().map(|runs| (runs, runs.masks(pass, *masks)));
        let side_by_side = drawn.as_ref().map(|(runs, masks)| (*runs, masks));
        let (rows, targets, seed) = (&scope.rows, scope.targets(), *seed);
        let common = Common { parameters, layout, shapes, rows, targets, features, pass, seed, side_by_side, monitor };
        for (node, prepared) in nodes.iter_mut().zip(&scope.prepared) {
            let (output, tail) = (node.output.0, node.tail);
            let mut out = std::mem::take(&mut values[output]);
            let (layer, forward) = node.view(prepared, values, common);
            let result = layer.forward(&forward, &mut out);
            if tail.activation == Activation::Sigmoid {
                // It is not 0 at 0: padding would no longer be.
                layers::clear_padding(forward.rows(), forward.axis(), &mut out);
            }
            values[output] = out;
            result?;
        }
        Ok(())
    }

    fn outputs(&self) -> &[f32] {
        &self.values[self.output.0]
    }

    fn outputs_and_gradient(&mut self) -> (&[f32], &mut [f32]) {
        (&self.values[self.output.0], self.gradients[self.output.0].get_mut())
    }

    fn backward(
        &mut self,
        scope: &Scope,
        parameters: &[f32],
        pass: Pass,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        self.take_buffers(&mut Shelf::default(), true, false);
        // Layers that take several runs write whole blocks.
        if self.side_by_side.is_none() {
            gradient.fill(0.0);
        }
        self.touched.fill(false);
        self.written.iter().chain(&self.gated).for_each(|flag| flag.set(false));
        self.written[self.output.0].set(true);
        for slot in &self.in_place {
            let values = &mut self.values[slot.0];
            if !values.is_empty() {
                *self.gradients[slot.0].get_mut() = std::mem::take(values);
            }
        }
        let Self { layout, shapes, features, seed, nodes, values, masks, side_by_side, .. } = self;
        let drawn = side_by_side.as_ref().map(|runs| (runs, runs.masks(pass, *masks)));
        let side_by_side = drawn.as_ref().map(|(runs, masks)| (*runs, masks));
        let (rows, targets, seed) = (&scope.rows, scope.targets(), *seed);
        let common = Common { parameters, layout, shapes, rows, targets, features, pass, seed, side_by_side, monitor };
        for (node, prepared) in nodes.iter_mut().zip(&scope.prepared).rev() {
            let (output, tail) = (node.output.0, node.tail);
            // An unread slot has no gradient.
            if !shapes[output].gradient || !self.written[output].get() {
                continue;
            }
            let mut d_out = self.gradients[output].borrow_mut();
            let (layer, forward) = node.view(prepared, values, common);
            let mut backward = Backward {
                forward,
                gradients: &self.gradients,
                written: &self.written,
                sole_tails: &self.sole_tails,
                gated: &self.gated,
                all: gradient,
                touched: &mut self.touched,
                partials: &mut self.partials,
                transposed: &mut self.transposed,
                shared: &mut self.shared,
                of_all: &mut self.of_all,
            };
            let (set, width) = (forward.rows(), forward.width());
            if !tail.is_linear() && !self.gated[output].get() {
                let gate =
                    Gate { output: &values[output], activation: tail.activation, dropout: forward.masks(tail.dropout) };
                gate_rows(set, gate, width, &mut d_out, monitor)?;
            }
            if let Some(bias) = tail.bias {
                let sums = &d_out[..];
                backward
                    .parameter_of_all(bias, |out, partials| column_sums(set, sums, width, partials, out, monitor))?;
            }
            layer.backward(&mut backward, &d_out)?;
        }
        if side_by_side.is_some() {
            let blocks = gradient.chunks_exact_mut(layout.stored().max(1));
            for (gradient, touched) in blocks.zip(self.touched.chunks_exact(layout.blocks().len())) {
                let unmet = layout.blocks().iter().zip(touched).filter(|(_, touched)| !**touched);
                unmet.for_each(|(block, _)| gradient[block.range()].fill(0.0));
            }
        }
        Ok(())
    }

    fn label_inputs(&self, pass: Pass) -> Vec<u32> {
        let Some(LabelInput { known, mask }) = &self.label_input else { return Vec::new() };
        let Some(given) = dropout(mask.p, self.seed, pass, mask.number, mask.site) else { return Vec::new() };
        known.iter().map(|known| known.0).filter(|&node| given.keeps(given.row(node), 0)).collect()
    }

    fn space(&self) -> Option<&crate::spaces::Space> {
        self.points.as_ref()
    }

    fn penalty(&self) -> f64 {
        self.nodes.iter().map(|node| node.layer.penalty()).sum()
    }

    fn add_moments(&self, moments: &mut Moments) {
        for node in &self.nodes {
            let Some(batch) = node.layer.moments() else { continue };
            let blocks = batch.parameters.map(|parameter| node.parameters[parameter].0);
            if blocks.iter().all(|&block| self.layout.blocks()[block].measured) {
                moments.add(blocks, batch);
            }
        }
    }

    fn embedding(&self) -> Option<(&[f32], Axis)> {
        let slot = self.embedding?;
        Some((&self.values[slot.0], self.shapes[slot.0].axis))
    }
}
