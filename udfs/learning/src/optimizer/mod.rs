//! First-order optimisers on one flat vector of parameters.

use std::ops::Range;

pub mod schedule;

use crate::ground::{Block, Layout, PointSpace};
use crate::kernels::simd::{self, Body, Vectors};
use crate::options::OptimizerKind;

const MOMENTUM: f32 = 0.9;
const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f32 = 1e-8;

/// An optimiser with its moments.
#[derive(Debug, Clone)]
pub struct Optimizer {
    kind: OptimizerKind,
    lr: f64,
    factor: f64,
    weight_decay: f64,
    steps: i32,
    first: Vec<f32>,
    second: Vec<f32>,
    points: Vec<PointBlock>,
    statistics: Vec<Range<usize>>,
    /// The blocks of points and of statistics, in order.
    apart: Vec<Range<usize>>,
}

/// A block of parameters whose rows are points.
#[derive(Debug, Clone)]
struct PointBlock {
    space: PointSpace,
    /// Where the numbers of each row stand, one row after the other.
    positions: Vec<usize>,
    columns: usize,
}

impl Optimizer {
    /// An optimiser for `n` parameters. Holds [`Optimizer::bytes`].
    pub fn new(kind: OptimizerKind, lr: f64, weight_decay: f64, n: usize) -> Self {
        let second = if kind == OptimizerKind::Sgd { 0 } else { n };
        Self {
            kind,
            lr,
            factor: 1.0,
            weight_decay,
            steps: 0,
            first: vec![0.0; n],
            second: vec![0.0; second],
            points: Vec::new(),
            statistics: Vec::new(),
            apart: Vec::new(),
        }
    }

    /// The optimiser for a layout that the parameters begin with: rows that are points take Riemannian steps, statistics none.
    pub fn with_layout(mut self, layout: &Layout) -> Self {
        let apart = layout.blocks().iter().filter(|block| block.points.is_some() || block.statistic);
        self.apart = apart.map(Block::range).collect();
        let statistics = layout.blocks().iter().filter(|block| block.statistic);
        self.statistics = statistics.map(Block::range).collect();
        self.points = layout
            .blocks()
            .iter()
            .filter_map(|block| {
                let positions = block.positions().collect();
                Some(PointBlock { space: block.points?, positions, columns: block.columns.len() })
            })
            .collect();
        self
    }

    /// The bytes that the moments of `n` parameters hold, at most.
    pub fn bytes(n: usize) -> usize {
        8 * n
    }

    /// The learning rate of the steps to come, as a multiple of the one given at first.
    pub fn set_factor(&mut self, factor: f64) {
        self.factor = factor;
    }

    /// Counts a step, and gives what a kernel needs of it: the L2 factor, the factor of the weights, the rate, and the factor
    /// of the root of the second moment.
    pub(crate) fn next_step(&mut self) -> [f32; 4] {
        self.steps = self.steps.saturating_add(1);
        let (lr, decay) = (self.lr * self.factor, self.weight_decay);
        let correction1 = 1.0 - BETA1.powi(self.steps);
        let correction2 = 1.0 - BETA2.powi(self.steps);
        match self.kind {
            OptimizerKind::Sgd => [decay as f32, 1.0, lr as f32, 1.0],
            kind => {
                let (l2, shrink) = match kind {
                    OptimizerKind::AdamW => (0.0, 1.0 - lr * decay),
                    _ => (decay, 1.0),
                };
                [l2 as f32, shrink as f32, (lr / correction1) as f32, (1.0 / correction2.sqrt()) as f32]
            }
        }
    }

    /// Subtracts from the statistics the steps that stand in the place of their gradient, and leaves zeros there: neither rate,
    /// decay nor the limit of the gradient's norm applies to them. Before [`Optimizer::step`].
    pub fn move_statistics(&self, parameters: &mut [f32], gradient: &mut [f32]) {
        for range in &self.statistics {
            for (value, step) in parameters[range.clone()].iter_mut().zip(&mut gradient[range.clone()]) {
                *value -= std::mem::take(step);
            }
        }
    }

    /// One step along a gradient. O(n), one pass; a parameter whose value and gradients are 0 stays 0. Points do not decay.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32]) {
        let rates = self.next_step();
        let (points, apart) = (std::mem::take(&mut self.points), std::mem::take(&mut self.apart));
        // What lies before, between and behind the blocks that are apart.
        let starts = std::iter::once(0).chain(apart.iter().map(|range| range.end));
        let ends = apart.iter().map(|range| range.start).chain(std::iter::once(parameters.len()));
        for (from, to) in starts.zip(ends) {
            let second: &mut [f32] = if self.second.is_empty() { &mut [] } else { &mut self.second[from..to] };
            update(self.kind, rates, &mut parameters[from..to], &gradient[from..to], &mut self.first[from..to], second);
        }
        points.iter().for_each(|points| self.step_points(points, parameters, gradient, [rates[2], rates[3]]));
        (self.points, self.apart) = (points, apart);
    }

    /// Riemannian Adam (Becigneul and Ganea 2019, Riemannian adaptive optimization methods, Sec. 4) with a point as the
    /// manifold: the gradient by the metric, its squared length as the second moment, a step along the geodesic, and the
    /// first moment transported along it. The same without a second moment is gradient descent with momentum.
    fn step_points(&mut self, points: &PointBlock, parameters: &mut [f32], gradient: &[f32], [step, root]: [f32; 2]) {
        let (step, root) = (f64::from(step), f64::from(root));
        for row in points.positions.chunks_exact(points.columns.max(1)) {
            let read = |from: &[f32]| -> Vec<f64> { row.iter().map(|&at| f64::from(from[at])).collect() };
            let (mut x, mut g, mut moment) = (read(parameters), read(gradient), read(&self.first));
            let length = points.space.riemannian(&x, &mut g);
            let scale = if self.kind == OptimizerKind::Sgd {
                moment.iter_mut().zip(&g).for_each(|(m, g)| *m = f64::from(MOMENTUM) * *m + g);
                step
            } else {
                moment.iter_mut().zip(&g).for_each(|(m, g)| *m = BETA1 * *m + (1.0 - BETA1) * g);
                let second = &mut self.second[row[0]];
                *second = (BETA2 * f64::from(*second) + (1.0 - BETA2) * length) as f32;
                step / (f64::from(*second).sqrt() * root + f64::from(EPSILON))
            };
            let way: Vec<f64> = moment.iter().map(|m| -scale * m).collect();
            points.space.step(&mut x, &way, &mut moment);
            for ((&at, x), m) in row.iter().zip(&x).zip(&moment) {
                (parameters[at], self.first[at]) = (*x as f32, *m as f32);
            }
        }
    }
}

/// One step on parameters with their moments, by what [`Optimizer::next_step`] gives. O(n).
pub(crate) fn update(
    kind: OptimizerKind,
    [l2, shrink, step, root]: [f32; 4],
    parameters: &mut [f32],
    gradient: &[f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    match kind {
        // The first step takes the gradient itself, as PyTorch does: the moments start at 0.
        OptimizerKind::Sgd => simd::run(SgdStep { parameters, gradient, first, lr: step, decay: l2 }),
        _ => simd::run(AdamStep { parameters, gradient, first, second, l2, shrink, step, root }),
    }
}

struct SgdStep<'a> {
    parameters: &'a mut [f32],
    gradient: &'a [f32],
    first: &'a mut [f32],
    lr: f32,
    decay: f32,
}

impl Body for SgdStep<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vectors>(self) {
        for ((w, g), m) in self.parameters.iter_mut().zip(self.gradient).zip(self.first) {
            *m = V::fma(MOMENTUM, *m, V::fma(self.decay, *w, *g));
            *w = V::fma(-self.lr, *m, *w);
        }
    }
}

struct AdamStep<'a> {
    parameters: &'a mut [f32],
    gradient: &'a [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    l2: f32,
    shrink: f32,
    step: f32,
    root: f32,
}

impl Body for AdamStep<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vectors>(self) {
        // 1 - beta is rounded once: 1 - 0.999 in f32 would be off by 5e-5.
        let (b1, b2, new1, new2) = (BETA1 as f32, BETA2 as f32, (1.0 - BETA1) as f32, (1.0 - BETA2) as f32);
        let moments = self.first.iter_mut().zip(self.second);
        for ((w, g), (m, v)) in self.parameters.iter_mut().zip(self.gradient).zip(moments) {
            let g = V::fma(self.l2, *w, *g);
            *m = V::fma(b1, *m, new1 * g);
            *v = V::fma(b2, *v, new2 * g * g);
            *w = V::fma(-self.step, *m / V::fma(v.sqrt(), self.root, EPSILON), *w * self.shrink);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights after 1 and 3 steps from w = (1, -2, 0.5) with gradients g_t = t * (0.1, -0.2, 0.3), lr 0.1, weight decay
    /// 0.05, computed with torch.optim 2.15 in float64 (SGD with momentum 0.9).
    const GOLDEN: [(OptimizerKind, [f64; 3], [f64; 3]); 3] = [
        (OptimizerKind::Adam, [0.9000000067, -1.9000000033, 0.4000000031], [0.7036500379, -1.7038348211, 0.206694277]),
        (OptimizerKind::AdamW, [0.89500001, -1.890000005, 0.3975000033], [0.6942366614, -1.6793115262, 0.2016992103]),
        (OptimizerKind::Sgd, [0.985, -1.97, 0.4675], [0.877259625, -1.75451925, 0.2016041875]),
    ];

    #[test]
    fn a_factor_is_another_learning_rate() {
        for (kind, ..) in GOLDEN {
            let (mut scaled, mut plain) = (Optimizer::new(kind, 0.4, 0.05, 2), Optimizer::new(kind, 0.1, 0.05, 2));
            scaled.set_factor(0.25);
            let (mut a, mut b) = ([1.0f32, -2.0], [1.0f32, -2.0]);
            for _ in 0..3 {
                scaled.step(&mut a, &[0.3, 0.1]);
                plain.step(&mut b, &[0.3, 0.1]);
            }
            assert_eq!(a, b, "{kind}");
        }
    }

    #[test]
    fn points_are_moved_to_the_nearest_place_along_geodesics() {
        use crate::ground::{Axis, Initial};
        // The squared distance of each row to a point; a plain number beside them.
        let (target, mut layout) = ([2.0f64, -1.0, 0.5], Layout::default());
        layout.push("plain".into(), Axis::exact(1), Axis::exact(1), Initial::Zeros);
        let block = layout.push("points".into(), Axis::exact(2), Axis::padded(1, 3), Initial::Uniform(0.5));
        layout.set_points(block, PointSpace::Hyperboloid { c: 1.0 });
        for kind in [OptimizerKind::Adam, OptimizerKind::AdamW, OptimizerKind::Sgd] {
            let lr = if kind == OptimizerKind::Sgd { 0.02 } else { 0.05 };
            let mut optimizer = Optimizer::new(kind, lr, 0.0, layout.stored()).with_layout(&layout);
            let mut w = layout.initialise(1);
            w[0] = 1.0;
            for _ in 0..600 {
                let mut g = vec![0.0f32; w.len()];
                g[0] = 2.0 * w[0];
                for row in layout.blocks()[1].positions().collect::<Vec<_>>().chunks(3) {
                    // d^2 = arcosh^2(-<x, y>), by the chain rule.
                    let x: Vec<f64> = row.iter().map(|&at| f64::from(w[at])).collect();
                    let time = |x: &[f64]| (1.0 + x.iter().map(|x| x * x).sum::<f64>()).sqrt();
                    let (t, u) = (time(&x), time(&target));
                    let q = t * u - x.iter().zip(&target).map(|(x, y)| x * y).sum::<f64>();
                    let outer = if q > 1.0 + 1e-12 { 2.0 * q.acosh() / (q * q - 1.0).sqrt() } else { 2.0 };
                    for ((&at, x), y) in row.iter().zip(&x).zip(&target) {
                        g[at] = (outer * (x / t * u - y)) as f32;
                    }
                }
                optimizer.step(&mut w, &g);
            }
            assert!(w[0].abs() < 1e-2, "{kind}: {}", w[0]);
            for (at, y) in layout.blocks()[1].positions().zip(target.iter().cycle()) {
                assert!((f64::from(w[at]) - y).abs() < 1e-2, "{kind}: {} for {y}", w[at]);
            }
        }
    }

    #[test]
    fn statistics_move_by_what_stands_as_their_gradient_alone() {
        use crate::ground::{Axis, Initial};
        let mut layout = Layout::default();
        layout.push("before".into(), Axis::exact(1), Axis::exact(1), Initial::Zeros);
        let block = layout.push("mean".into(), Axis::exact(1), Axis::exact(2), Initial::Zeros);
        layout.set_statistic(block);
        assert_eq!(layout.parameters(), 1);
        for (kind, one, _) in GOLDEN {
            // Beside the block are the numbers of the golden steps, the second and the third behind the layout.
            let mut optimizer = Optimizer::new(kind, 0.1, 0.05, 5).with_layout(&layout);
            let (mut w, mut g) = ([1.0f32, 7.0, -3.0, -2.0, 0.5], [0.1f32, 0.25, -0.5, -0.2, 0.3]);
            optimizer.move_statistics(&mut w, &mut g);
            assert_eq!((w, g), ([1.0, 6.75, -2.5, -2.0, 0.5], [0.1, 0.0, 0.0, -0.2, 0.3]));
            optimizer.step(&mut w, &g);
            assert_eq!((w[1], w[2]), (6.75, -2.5));
            for (at, expected) in [0, 3, 4].into_iter().zip(one) {
                assert!((f64::from(w[at]) - expected).abs() < 2e-6, "{kind}: {} for {expected}", w[at]);
            }
        }
    }

    #[test]
    fn steps_equal_those_of_pytorch() {
        for (kind, one, three) in GOLDEN {
            let mut optimizer = Optimizer::new(kind, 0.1, 0.05, 3);
            let mut w = [1.0f32, -2.0, 0.5];
            for t in 1..=3 {
                let g = [0.1f32, -0.2, 0.3].map(|g| g * t as f32);
                optimizer.step(&mut w, &g);
                let expected = match t {
                    1 => one,
                    3 => three,
                    _ => continue,
                };
                for (got, expected) in w.iter().zip(expected) {
                    assert!((f64::from(*got) - expected).abs() < 2e-6, "{kind}, step {t}: {got} for {expected}");
                }
            }
        }
    }
}
