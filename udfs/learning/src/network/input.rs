//! The product of the features with the first weights: sparse features stay sparse.

use std::sync::Arc;

use bonnet_graph::{Monitor, Stopped};

use crate::data::{Features, SparseRows};
use crate::ground::random::Dropout;
use crate::kernels::RowSet;
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::{Finish, Masks};
use crate::kernels::sparse::{Mask, Own, Product};

/// The features of a run.
#[derive(Debug)]
pub struct Input {
    features: Arc<Features>,
}

impl Input {
    /// The input of a run.
    pub fn new(features: Arc<Features>) -> Self {
        Self { features }
    }

    /// The features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The room that [`Input::gradient`] needs for weights of `width` columns.
    pub fn partials(&self, n_blocks: usize, width: usize) -> usize {
        match &*self.features {
            Features::Dense { columns, .. } => n_blocks * columns * width,
            _ => 0,
        }
    }

    /// `out = finish(dropout(X) W)` on the rows of a set, `width` stored columns. The weights of runs side by side, each with a mask
    /// of its own, are for sparse features.
    #[expect(clippy::too_many_arguments, reason = "the operands of a product with their sizes")]
    pub fn product(
        &self,
        set: &RowSet,
        weights: &[f32],
        width: usize,
        masks: Masks<'_>,
        finish: Finish<'_>,
        out: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        match &*self.features {
            Features::Sparse(rows) => {
                let mask = match masks {
                    Masks::One(mask) => mask.map_or(Mask::None, Mask::Rows),
                    Masks::Each(masks) => Mask::RowsOfEach(masks),
                };
                Product { matrix: rows.csr(), mask, x: weights, stride: width, width, own: Own::Nothing, finish }
                    .run(set, out, monitor)
            }
            Features::Dense { columns, values } => {
                let x = Left { dropout: one(masks), ..Left::new(values, *columns) };
                dense::product(set, x, weights, width, Then::Finish(finish), out, monitor)
            }
            // Without features there is nothing to sum; a run never gets here.
            Features::None => Ok(()),
        }
    }

    /// The gradient of the weights of [`Input::product`], `dropout(X)' G` over the rows of a set. Sparse features are needed
    /// transposed, restricted to these rows.
    #[expect(clippy::too_many_arguments, reason = "the operands of a product with their sizes")]
    pub fn gradient(
        &self,
        set: &RowSet,
        transposed: Option<&SparseRows>,
        gradient: &[f32],
        width: usize,
        masks: Masks<'_>,
        partials: &mut [f32],
        out: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        match (&*self.features, transposed) {
            (Features::Sparse(_), Some(transposed)) => {
                let mask = match masks {
                    Masks::One(mask) => mask.map_or(Mask::None, Mask::Columns),
                    Masks::Each(masks) => Mask::ColumnsOfEach(masks),
                };
                let finish = Finish::NOTHING;
                Product { matrix: transposed.csr(), mask, x: gradient, stride: width, width, own: Own::Nothing, finish }
                    .run(&RowSet::all(transposed.n_rows()), out, monitor)
            }
            (Features::Dense { columns, values }, _) => {
                let x = Left { dropout: one(masks), ..Left::new(values, *columns) };
                dense::transposed_product(set, x, gradient, width, partials, out, monitor)
            }
            _ => Ok(()),
        }
    }
}

/// The mask of a run alone.
fn one(masks: Masks<'_>) -> Option<Dropout> {
    match masks {
        Masks::One(mask) => mask,
        Masks::Each(_) => None,
    }
}
