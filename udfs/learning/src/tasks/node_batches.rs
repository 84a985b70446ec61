//! The training nodes of each step, in the tasks of nodes.

use crate::data::Split;
use crate::ground::random::{Stream, key};
use crate::kernels::RowSet;
use crate::options::TrainOptions;

/// Separates the draw of the batches from other uses of the seed.
const BATCHES: u64 = 12;

/// The training nodes of each step: all in one, or [`TrainOptions::batch_nodes`] in an order that is drawn anew each epoch,
/// of which [`TrainOptions::epoch_steps`] are taken.
pub(super) struct NodeBatches<'a> {
    n_nodes: usize,
    train: &'a [u32],
    size: usize,
    /// The most steps of an epoch.
    most: usize,
    seed: u64,
    steps: Vec<RowSet>,
}

impl<'a> NodeBatches<'a> {
    /// The batches of a split of `n_nodes` nodes; none before the first epoch.
    pub fn new(n_nodes: usize, split: &'a Split, options: &TrainOptions) -> Self {
        let size = options.batch_nodes.map_or(split.train.len(), |nodes| nodes as usize).max(1);
        let most = options.epoch_steps.map_or(usize::MAX, |steps| steps as usize);
        Self { n_nodes, train: &split.train, size, most, seed: options.seed, steps: Vec::new() }
    }

    /// The bytes that they will hold: the batches, and the nodes in the order in which they are cut.
    pub fn bytes(&self) -> usize {
        8 * self.train.len() + self.train.len().div_ceil(self.size) * RowSet::bytes(0)
    }

    /// Draws those of an epoch, from 1; says whether they are others than before.
    pub fn begin(&mut self, epoch: u32) -> bool {
        let mut order = self.train.to_vec();
        let several = self.size < order.len();
        if several {
            Stream::new(key(&[self.seed, BATCHES, u64::from(epoch)])).shuffle(&mut order);
        }
        if several || epoch == 1 {
            let step = |nodes: &mut [u32]| {
                nodes.sort_unstable();
                RowSet::new(self.n_nodes, nodes.to_vec())
            };
            self.steps = order.chunks_mut(self.size).take(self.most).map(step).collect();
        }
        several || epoch == 1
    }

    /// The nodes of a step.
    pub fn step(&self, step: usize) -> &RowSet {
        &self.steps[step]
    }

    /// The nodes of every step.
    pub fn nodes(&self) -> Vec<Vec<u32>> {
        self.steps.iter().map(|step| step.rows().to_vec()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::options::Job;

    #[test]
    fn an_epoch_of_few_steps_draws_other_nodes_each_time() {
        let split = Split { train: (0..540).map(|v| 2 * v).collect(), ..Split::default() };
        let options = Job::new("gcn").with("batch_nodes", 100).with("epoch_steps", 2).resolve().unwrap();
        let (mut batches, mut seen) = (NodeBatches::new(1080, &split, &options), BTreeSet::new());
        for epoch in 1..=12 {
            assert!(batches.begin(epoch));
            let nodes = batches.nodes();
            assert_eq!(nodes.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100]);
            let drawn: BTreeSet<u32> = nodes.into_iter().flatten().collect();
            assert_eq!(drawn.len(), 200, "no node twice in an epoch");
            seen.extend(drawn);
        }
        // Twelve draws of 200 of 540 leave out a node with probability (340 / 540)^12 = 0.4 %.
        assert!(seen.len() > 530 && seen.iter().all(|v| v % 2 == 0), "{}", seen.len());
    }
}
