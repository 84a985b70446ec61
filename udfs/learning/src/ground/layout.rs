//! Where the parameters of a model stand in one flat vector.

use std::ops::Range;
use std::sync::Arc;

use super::random::{Stream, key};
use super::{PointSpace, padded};

/// The columns of a matrix: groups (heads) of a width, each stored in a multiple of 8 columns unless exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    groups: usize,
    width: usize,
    stored: usize,
}

impl Axis {
    /// A number of columns, stored without padding.
    pub fn exact(width: usize) -> Self {
        Self { groups: 1, width, stored: width }
    }

    /// Groups of a width, each padded.
    pub fn padded(groups: usize, width: usize) -> Self {
        Self { groups, width, stored: padded(width) }
    }

    /// The groups of several axes one after the other.
    ///
    /// # Panics
    /// If the groups are not all stored alike, or if there are none.
    pub fn concat(axes: &[Self]) -> Self {
        let first = axes[0];
        assert!(
            axes.iter().all(|axis| (axis.width, axis.stored) == (first.width, first.stored)),
            "side by side stand groups of one width: {axes:?}"
        );
        Self { groups: axes.iter().map(|axis| axis.groups).sum(), ..first }
    }

    /// The real columns.
    pub fn len(self) -> usize {
        self.groups * self.width
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The stored columns.
    pub fn stride(self) -> usize {
        self.groups * self.stored
    }

    /// The stored and the real columns of a group.
    pub(crate) fn group(self) -> (usize, usize) {
        (self.stored, self.width)
    }

    /// Where the real columns stand among the stored ones.
    pub fn positions(self) -> impl Iterator<Item = usize> {
        (0..self.groups).flat_map(move |group| (0..self.width).map(move |c| group * self.stored + c))
    }
}

/// The initial values of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Initial {
    /// Zeros.
    Zeros,
    /// The same value everywhere.
    Constant(f64),
    /// Given values, row by row.
    Values(Arc<[f64]>),
    /// Uniform in `[-limit, limit)`.
    Uniform(f64),
}

impl Initial {
    /// Uniform with the limit of Glorot and Bengio (2010): sqrt(6 / (inputs + outputs)).
    pub fn glorot(inputs: usize, outputs: usize) -> Self {
        Self::Uniform((6.0 / (inputs + outputs).max(1) as f64).sqrt())
    }

    /// Uniform with the limit 1 / sqrt(inputs): how PyTorch starts a linear layer.
    pub fn linear(inputs: usize) -> Self {
        Self::Uniform(1.0 / (inputs.max(1) as f64).sqrt())
    }
}

/// A matrix of parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The block's name, such as `0.weight`.
    pub name: String,
    /// The block's rows.
    pub rows: Axis,
    /// The block's columns.
    pub columns: Axis,
    /// The block's initial values.
    pub initial: Initial,
    /// Where its rows are points, which an optimiser moves along geodesics; none for plain numbers.
    pub points: Option<PointSpace>,
    /// Whether it holds statistics of the training's rows, which are no parameters: what stands as their gradient is what a
    /// step takes from them as it is. On the CPU alone.
    pub statistic: bool,
    /// Whether these statistics are measured under the current parameters before outputs are scored or saved.
    pub measured: bool,
    offset: usize,
}

impl Block {
    /// Where it stands in the flat vector.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.rows.stride() * self.columns.stride()
    }

    /// The positions of its parameters in the flat vector, row by row, without the padding.
    pub fn positions(&self) -> impl Iterator<Item = usize> {
        let stride = self.columns.stride();
        self.rows
            .positions()
            .flat_map(move |row| self.columns.positions().map(move |column| self.offset + row * stride + column))
    }
}

/// The blocks of a model, one after the other. Padding holds zeros, receives no gradient and so stays zero.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layout {
    blocks: Vec<Block>,
    stored: usize,
}

impl Layout {
    /// Appends a block; returns its number.
    pub fn push(&mut self, name: String, rows: Axis, columns: Axis, initial: Initial) -> usize {
        self.blocks.push(Block {
            name,
            rows,
            columns,
            initial,
            points: None,
            statistic: false,
            measured: false,
            offset: self.stored,
        });
        self.stored += rows.stride() * columns.stride();
        self.blocks.len() - 1
    }

    /// Says that the rows of a block are points of a space.
    pub fn set_points(&mut self, block: usize, space: PointSpace) {
        self.blocks[block].points = Some(space);
    }

    /// Says that a block holds statistics.
    pub fn set_statistic(&mut self, block: usize) {
        self.blocks[block].statistic = true;
    }

    /// Marks the statistics of a block as measured.
    pub fn set_measured(&mut self, block: usize) {
        self.blocks[block].measured = true;
    }

    /// The blocks in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The length of the flat vector, padding included.
    pub fn stored(&self) -> usize {
        self.stored
    }

    /// The number of parameters, without statistics.
    pub fn parameters(&self) -> usize {
        self.blocks.iter().filter(|block| !block.statistic).map(|block| block.rows.len() * block.columns.len()).sum()
    }

    /// The initial parameters of a seed. They do not depend on the padding.
    pub fn initialise(&self, seed: u64) -> Vec<f32> {
        const INITIAL: u64 = 4;
        let mut values = vec![0.0; self.stored];
        for (number, block) in self.blocks.iter().enumerate() {
            match &block.initial {
                Initial::Zeros => {}
                Initial::Constant(value) => block.positions().for_each(|at| values[at] = *value as f32),
                Initial::Values(given) => {
                    block.positions().zip(given.iter()).for_each(|(at, value)| values[at] = *value as f32);
                }
                Initial::Uniform(limit) => {
                    let mut stream = Stream::new(key(&[seed, INITIAL, number as u64]));
                    for at in block.positions() {
                        values[at] = ((2.0 * stream.uniform() - 1.0) * limit) as f32;
                    }
                }
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_zero_and_not_counted() {
        let mut layout = Layout::default();
        layout.push("weight".into(), Axis::exact(3), Axis::padded(2, 5), Initial::glorot(3, 10));
        layout.push("bias".into(), Axis::exact(1), Axis::padded(2, 5), Initial::Zeros);
        assert_eq!((layout.parameters(), layout.stored()), (40, 64));
        let values = layout.initialise(1);
        let limit = (6.0f32 / 13.0).sqrt();
        let weight = &layout.blocks()[0];
        let real: Vec<usize> = weight.positions().collect();
        assert_eq!(real.len(), 30);
        for (at, value) in values.iter().enumerate() {
            assert_eq!(*value != 0.0, real.contains(&at), "position {at}");
            assert!(value.abs() <= limit);
        }
        assert_ne!(values, layout.initialise(2));
    }
}
