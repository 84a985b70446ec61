//! Runs of one program side by side: in every slot the columns of the first run stand before those of the second, and so on.
//!
//! The runs have the same features, operators and widths; their parameters and masks are their own. A sum of one run never
//! meets a number of another, and its terms keep their order: each run has the bits that it has alone. Parameters and their
//! gradients are those of the runs one after the other, each as the layout says; the blocks that one pass reads for all runs
//! are copied next to each other before it.

use std::sync::OnceLock;

use bonnet_graph::{Reservation, Stopped};

use super::{Mask, Program};
use crate::ground::random::Dropout;
use crate::ground::{Block, Layout};
use crate::kernels::elementwise::{Activation, Masks};
use crate::network::{Pass, dropout};

/// What the masks of a run are drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draws {
    /// The seed of the run.
    pub seed: u64,
    /// The option `dropout` of the run.
    pub dropout: f64,
}

/// The runs of a program, and room for what stands next to each other.
#[derive(Debug)]
pub(super) struct SideBySide {
    draws: Vec<Draws>,
    /// The probability with which the program was built: its masks are of each run's own.
    dropout: f64,
    /// The blocks of parameters that are read next to each other; others are empty.
    pub blocks: Vec<Vec<f32>>,
}

impl SideBySide {
    /// The number of runs.
    pub fn len(&self) -> usize {
        self.draws.len()
    }

    /// Copies the parameters of the runs, one after the other, next to each other.
    pub fn copy(&mut self, layout: &Layout, parameters: &[f32]) {
        let runs = self.draws.len();
        for (block, room) in layout.blocks().iter().zip(&mut self.blocks).filter(|(_, room)| !room.is_empty()) {
            for (run, of_run) in parameters.chunks_exact(layout.stored().max(1)).enumerate() {
                let eights = eights_of(block, run, runs);
                let (from, to) = (of_run[block.range()].as_chunks::<8>().0, room.as_chunks_mut::<8>().0);
                from.iter().zip(eights).for_each(|(from, at)| to[at] = *from);
            }
        }
    }

    /// The masks of a pass, none drawn yet.
    pub fn masks(&self, pass: Pass, count: usize) -> DrawnMasks<'_> {
        let mut masks = Vec::new();
        masks.resize_with(count, OnceLock::new);
        DrawnMasks { runs: self, pass, masks }
    }
}

/// Where the numbers of a run's block stand, eight at a time, among those of the runs next to each other.
pub(super) fn eights_of(block: &Block, run: usize, runs: usize) -> impl Iterator<Item = usize> {
    let eights = block.columns.stride() / 8;
    (0..block.rows.stride()).flat_map(move |row| (0..eights).map(move |at| (row * runs + run) * eights + at))
}

/// The masks of the runs in a pass, each drawn when it is first asked for.
#[derive(Debug)]
pub(super) struct DrawnMasks<'a> {
    runs: &'a SideBySide,
    pass: Pass,
    /// By the number of the mask.
    masks: Vec<OnceLock<Vec<Option<Dropout>>>>,
}

impl DrawnMasks<'_> {
    /// The masks of all runs; none without training.
    pub fn of(&self, mask: Mask) -> Masks<'_> {
        match (self.pass, self.masks.get(mask.number)) {
            (Pass::Train { .. }, Some(masks)) => {
                let draw = |run: &Draws| {
                    let p = if mask.p == self.runs.dropout { run.dropout } else { mask.p };
                    dropout(p, run.seed, self.pass, mask.number, mask.site)
                };
                Masks::Each(masks.get_or_init(|| self.runs.draws.iter().map(draw).collect()))
            }
            _ => Masks::One(None),
        }
    }
}

impl Program {
    /// Whether its passes take several runs side by side: every layer does, nothing is constant, and no class is an input.
    pub(crate) fn takes_runs(&self) -> bool {
        let mut is_output = vec![false; self.shapes.len()];
        self.nodes.iter().for_each(|node| is_output[node.output.0] = true);
        let constant = self.values.iter().zip(&is_output).any(|(values, is_output)| !values.is_empty() && !is_output);
        // Padding that is no longer 0 after a sigmoid is cleared for a run alone.
        let takes =
            self.nodes.iter().all(|node| node.layer.takes_runs() && node.tail.activation != Activation::Sigmoid);
        takes && !constant && self.label_input.is_none() && self.points.is_none()
    }

    /// The bytes that each run more takes, without its parameters: O(slots * rows * columns).
    pub(crate) fn bytes_of_a_run(&self) -> usize {
        let slots = self.shapes.iter().map(|shape| shape.space.len() * shape.axis.stride());
        4 * (2 * slots.sum::<usize>() + 2 * self.layout.stored())
    }

    /// Makes room for runs, at least one, whose passes are side by side from now on; `dropout` is the option of the problem that
    /// the program was built for, and 0 only if it is of all runs. What earlier passes left is gone. O(room).
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub(crate) fn set_runs(
        &mut self,
        draws: Vec<Draws>,
        dropout: f64,
        reservation: &mut Reservation<'_>,
    ) -> Result<(), Stopped> {
        let runs = draws.len();
        for (slot, shape) in self.shapes.iter().enumerate() {
            let len = runs * shape.space.len() * shape.axis.stride();
            let (values, gradient) = &mut self.lengths[slot];
            for (length, room) in [(values, &mut self.values[slot]), (gradient, self.gradients[slot].get_mut())] {
                // What nobody has allocated yet is reserved all the same.
                if *length > 0 {
                    reservation.grow(4 * len.saturating_sub((*length).max(room.capacity())))?;
                    *length = len;
                    let there = if room.is_empty() { 0 } else { len };
                    room.resize(there, 0.0);
                }
            }
        }
        let mut grow = |room: &mut Vec<f32>, len: usize| -> Result<(), Stopped> {
            reservation.grow(4 * len.saturating_sub(room.capacity()))?;
            room.resize(len, 0.0);
            Ok(())
        };
        let n_blocks = self.layout.blocks().len();
        let mut read = vec![false; n_blocks];
        let (mut sums, mut largest) = (0, 0);
        for node in &mut self.nodes {
            node.layer.set_runs(runs, &mut grow)?;
            if let Some(bias) = node.tail.bias {
                let shape = &self.shapes[node.output.0];
                let (rows, width) = (shape.space.rows(), runs * shape.axis.stride());
                sums = sums.max(rows.div_ceil(crate::kernels::rows::block_rows(rows)) * width);
                read[bias.0] = true;
            }
            if node.layer.reads_side_by_side(&self.features) {
                node.parameters.iter().for_each(|parameter| read[parameter.0] = true);
            }
        }
        let mut blocks = match self.side_by_side.take() {
            Some(before) => before.blocks,
            None => vec![Vec::new(); n_blocks],
        };
        for ((block, room), _) in self.layout.blocks().iter().zip(&mut blocks).zip(&read).filter(|(_, read)| **read) {
            let len = runs * block.range().len();
            largest = largest.max(len);
            grow(room, len)?;
        }
        grow(&mut self.of_all, largest)?;
        if self.partials.len() < sums {
            grow(&mut self.partials, sums)?;
        }
        self.touched = vec![false; runs * n_blocks];
        self.side_by_side = Some(SideBySide { draws, dropout, blocks });
        Ok(())
    }
}
