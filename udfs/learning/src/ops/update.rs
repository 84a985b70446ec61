//! A step of an optimiser on a block of parameters, in place.

use candle_core::{CpuStorage, InplaceOp2, Layout, Result, bail};

#[cfg(feature = "cuda")]
use super::cuda;
#[cfg(any(feature = "cuda", test))]
use super::kernel::{Arg, Launch};
use super::values;
use crate::optimizer;
use crate::options::OptimizerKind;

/// One step on a matrix of three rows: the weights, the first moments, the second ones. Its argument is the gradient.
pub(crate) struct Update {
    /// Which optimiser.
    pub kind: OptimizerKind,
    /// The factor of the gradient, applied first.
    pub clip: f32,
    /// As [`crate::optimizer::Optimizer::next_step`] gives it.
    pub step: [f32; 4],
}

#[cfg(any(feature = "cuda", test))]
impl Update {
    /// The kernel on a state of so many weights.
    pub(super) fn launch(&self, len: usize, gradient: u64, state: u64) -> Option<Launch> {
        let kernel = if self.kind == OptimizerKind::Sgd { "sgd" } else { "adam" };
        let mut args = vec![Arg::Real(self.clip)];
        args.extend(self.step.map(Arg::Real));
        args.extend([Arg::Address(gradient), Arg::Address(state)]);
        Launch::by_element(kernel, len, args)
    }
}

impl InplaceOp2 for Update {
    fn name(&self) -> &'static str {
        "update"
    }

    fn cpu_fwd(&self, state: &mut CpuStorage, at: &Layout, g: &CpuStorage, g_at: &Layout) -> Result<()> {
        let (CpuStorage::F32(state), Some((from, to))) = (state, at.contiguous_offsets()) else {
            bail!("an update takes contiguous f32")
        };
        let state = &mut state[from..to];
        let g: Vec<f32> = values::<f32>(g, g_at)?.iter().map(|g| self.clip * g).collect();
        if state.len() != 3 * g.len() {
            bail!("a gradient of {} numbers is not that of {}", g.len(), state.len() / 3);
        }
        let (weights, moments) = state.split_at_mut(g.len());
        let (first, second) = moments.split_at_mut(g.len());
        optimizer::update(self.kind, self.step, weights, &g, first, second);
        Ok(())
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(
        &self,
        state: &mut candle_core::CudaStorage,
        at: &Layout,
        g: &candle_core::CudaStorage,
        g_at: &Layout,
    ) -> Result<()> {
        use candle_core::backend::BackendStorage as _;

        let len = g_at.shape().elem_count();
        if at.shape().elem_count() != 3 * len {
            bail!("a gradient of {len} numbers is not that of {}", at.shape().elem_count() / 3);
        }
        let (gradient, state) = (cuda::place(g, g_at)?, cuda::place(state, at)?);
        match self.launch(len, gradient, state) {
            Some(launch) => cuda::start(g.device(), &launch),
            None => Ok(()),
        }
    }
}
