//! The product of the features with the first weights: sparse features stay sparse.

use std::sync::Arc;

use bonnet_graph::{Monitor, Stopped};

use crate::data::{Features, SparseRows};
use crate::kernels::RowSet;
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

    /// The room that the gradient of weights of `width` columns needs: of dense features partial sums of each block of rows.
    pub fn partials(&self, n_blocks: usize, width: usize) -> usize {
        match &*self.features {
            Features::Dense { columns, .. } => n_blocks * columns * width,
            _ => 0,
        }
    }

    /// `out = finish(dropout(X) W)` of sparse features on the rows of a set, `width` stored columns: those of all runs side by side,
    /// each with a mask of its own. Of other features nothing is stored: dense ones are multiplied run by run.
    #[expect(clippy::too_many_arguments, reason = "the operands of a product with their sizes")]
    pub fn sparse_product(
        &self,
        set: &RowSet,
        weights: &[f32],
        width: usize,
        masks: Masks<'_>,
        finish: Finish<'_>,
        out: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let Features::Sparse(rows) = &*self.features else { return Ok(()) };
        let mask = match masks {
            Masks::One(mask) => mask.map_or(Mask::None, Mask::Rows),
            Masks::Each(masks) => Mask::RowsOfEach(masks),
        };
        Product { matrix: rows.csr(), mask, x: weights, stride: width, width, own: Own::Nothing, finish }
            .run(set, out, monitor)
    }
}

/// The gradient of the weights of [`Input::sparse_product`], `dropout(X)' G`, from the features transposed and restricted to the
/// rows of the product.
pub fn sparse_gradient(
    transposed: &SparseRows,
    gradient: &[f32],
    width: usize,
    masks: Masks<'_>,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    let mask = match masks {
        Masks::One(mask) => mask.map_or(Mask::None, Mask::Columns),
        Masks::Each(masks) => Mask::ColumnsOfEach(masks),
    };
    let finish = Finish::NOTHING;
    Product { matrix: transposed.csr(), mask, x: gradient, stride: width, width, own: Own::Nothing, finish }.run(
        &RowSet::all(transposed.n_rows()),
        out,
        monitor,
    )
}
