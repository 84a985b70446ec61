//! Centroids of rows, kept by k-means whose sums are moving averages (van den Oord et al. 2017, App. A.1; Kong et al. 2023).

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::ground::random::{Stream, key};
use crate::ground::{Axis, Initial};
use crate::kernels::combine::dot;
use crate::kernels::parallel::for_each_block;
use crate::kernels::simd::{self, Body, Vectors};
use crate::network::Pass;
use crate::program::{Backward, Builder, Forward, Layer, Parameter, Slot, Space, Tensors};

/// Separates the choice of the first centroids from other uses of the seed.
const FIRST: u64 = 26;

/// The centroids as rows. They are statistics: no gradient goes through them, and a backward pass of training moves them to the
/// rows of the pass's targets.
#[derive(Debug)]
struct Centroids {
    decay: f64,
    seed: u64,
    /// The centroid of each row.
    nearest: Vec<u32>,
    /// The sums of the rows of each centroid, and their numbers.
    sums: Vec<f64>,
    counts: Vec<f64>,
}

/// The parameters: the centroids, and their sizes.
const CENTROIDS: usize = 0;
const SIZES: usize = 1;

impl Builder<'_, '_> {
    /// The rows of `count` centroids of `x`, statistics of a block `{name}.centroids`, and their sizes, a row of `{name}.sizes`,
    /// which is given back, too. In a step of training each target's row of `x` counts for the centroid that is nearest, among
    /// equals the first; then the size m of each and the centroid c become `m' = d m + (1 - d) n` and `(d m c + (1 - d) s) / m'`,
    /// d the `decay`, n and s the number and the sum of its rows: one without rows stays where it is while its size falls. The
    /// first step takes rows of its own, drawn without replacement, for the centroids from which it starts.
    ///
    /// O(rows * count * columns) a step.
    ///
    /// # Errors
    /// If the host refuses the memory for a number a row, and the sums.
    pub fn centroids(&mut self, x: Slot, name: &str, count: usize, decay: f64) -> Result<(Slot, Parameter), Stopped> {
        let (axis, one) = (self.axis(x), Axis::exact(1));
        let (rows, stride) = (self.space(x).rows(), axis.stride());
        // Coordinates of deviation 1.
        let initial = Initial::Uniform(3f64.sqrt());
        let centroids = self.parameter(format!("{name}.centroids"), Axis::exact(count), axis, initial);
        let sizes = self.parameter(format!("{name}.sizes"), one, Axis::exact(count), Initial::Zeros);
        self.layout.set_statistic(centroids.0);
        self.layout.set_statistic(sizes.0);
        let on_host = if self.inputs().device { 0 } else { 1 };
        self.reservation().grow(on_host * (4 * rows + 8 * count * (stride + 1)))?;
        let layer = Centroids {
            decay,
            seed: self.inputs().seed,
            nearest: vec![0; on_host * rows],
            sums: vec![0.0; on_host * count * stride],
            counts: vec![0.0; on_host * count],
        };
        Ok((self.push(layer, &[x], &[centroids, sizes], Space::Rows(count), axis), sizes))
    }
}

/// The nearest centroid of some rows.
struct Nearest<'a> {
    rows: &'a [u32],
    first: usize,
    x: &'a [f32],
    centroids: &'a [f32],
    /// Half the square of each centroid's length.
    halves: &'a [f32],
    stride: usize,
    out: &'a mut [u32],
}

impl Body for Nearest<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, first, x, centroids, halves, stride, out } = self;
        for &row in rows {
            let x = &x[row as usize * stride..][..stride];
            let (mut best, mut nearest) = (f32::INFINITY, 0);
            for (number, (centroid, half)) in (0u32..).zip(centroids.chunks_exact(stride).zip(halves)) {
                let distance = half - dot::<V>(x, centroid);
                if distance < best {
                    (best, nearest) = (distance, number);
                }
            }
            out[row as usize - first] = nearest;
        }
    }
}

impl Centroids {
    /// The centroids from which a step starts: those that are there, or in the first step some of its rows.
    fn start(&self, pass: &Forward<'_>) -> Vec<f32> {
        let (mut centroids, sizes, x) = (pass.parameter(CENTROIDS).to_vec(), pass.parameter(SIZES), pass.input(0));
        if sizes.iter().all(|&size| size == 0.0) {
            let (mut rows, stride) = (pass.targets().rows().to_vec(), pass.width());
            Stream::new(key(&[self.seed, FIRST])).shuffle(&mut rows);
            for (centroid, &row) in centroids.chunks_exact_mut(stride).zip(&rows) {
                centroid.copy_from_slice(&x[row as usize * stride..][..stride]);
            }
        }
        centroids
    }
}

impl Layer for Centroids {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        Ok(tensors.parameters[CENTROIDS].detach())
    }

    /// Nothing: a step reads the rows of its targets, which what attends to the centroids reads, too.
    fn reach(&self, _input: usize, _rows: &crate::kernels::RowSet, _needed: &mut [bool]) {}

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (centroids, width) = (pass.parameter(CENTROIDS), pass.width());
        for &row in pass.rows().rows() {
            let at = row as usize * width..(row as usize + 1) * width;
            out[at.clone()].copy_from_slice(&centroids[at]);
        }
        Ok(())
    }

    fn backward(&mut self, pass: &mut Backward<'_>, _d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let targets = f.targets();
        if !matches!(f.pass(), Pass::Train { .. }) || targets.is_empty() {
            return Ok(());
        }
        let (x, stride) = (f.input(0), f.width());
        let start = self.start(&f);
        let halves: Vec<f32> =
            start.chunks_exact(stride).map(|row| 0.5 * row.iter().map(|x| x * x).sum::<f32>()).collect();
        let (centroids, halves) = (&start, &halves);
        for_each_block(targets, &mut self.nearest, 1, f.monitor, |rows, first, out| {
            simd::run(Nearest { rows, first, x, centroids, halves, stride, out });
        })?;
        self.sums.fill(0.0);
        self.counts.fill(0.0);
        // In the order of the rows: a sum hangs on no block.
        for &row in targets.rows() {
            let nearest = self.nearest[row as usize] as usize;
            self.counts[nearest] += 1.0;
            let sums = &mut self.sums[nearest * stride..][..stride];
            sums.iter_mut().zip(&x[row as usize * stride..]).for_each(|(sum, x)| *sum += f64::from(*x));
        }
        let (decay, sums, counts) = (self.decay, &self.sums, &self.counts);
        let (known, sizes) = (f.parameter(CENTROIDS), f.parameter(SIZES));
        let size = |at: usize| decay * f64::from(sizes[at]) + (1.0 - decay) * counts[at];
        pass.parameter_gradient(SIZES, |out, _, _| {
            out.iter_mut().enumerate().for_each(|(at, out)| *out = (f64::from(sizes[at]) - size(at)) as f32);
            Ok(())
        })?;
        pass.parameter_gradient(CENTROIDS, |out, _, _| {
            for (at, out) in out.chunks_exact_mut(stride).enumerate() {
                let (from, old) = (at * stride, decay * f64::from(sizes[at]));
                for (c, out) in out.iter_mut().enumerate() {
                    let start = f64::from(start[from + c]);
                    let moved = match counts[at] {
                        0.0 => start,
                        _ => (old * start + (1.0 - decay) * sums[from + c]) / size(at),
                    };
                    *out = (f64::from(known[from + c]) - moved) as f32;
                }
            }
            Ok(())
        })
    }
}
