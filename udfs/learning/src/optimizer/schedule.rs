//! The learning rate of an epoch and the length of its step: arithmetic between gradient and optimiser.

use std::f64::consts::PI;

use crate::options::Decay;

/// The factor of the learning rate, epoch by epoch: linear growth over the warm-up, then the decay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The number of epochs that warm up; 0 for none.
    pub warmup: u32,
    /// The number of epochs of a whole run: where the cosine would reach 0 one epoch later.
    pub epochs: u32,
    /// The decay after the warm-up.
    pub decay: Decay,
}

impl Schedule {
    /// The factor of an epoch, counted from 1; in `[0, 1]`.
    ///
    /// The warm-up takes `epoch / (warmup + 1)`, so that its first epoch already moves and the first epoch after it has
    /// the whole rate. The cosine is `(1 + cos(pi t)) / 2` with `t` from 0 in that epoch to `1 - 1 / rest` in the last of
    /// the `rest` epochs that remain: the last epoch still moves. Beyond the last epoch the factor stays that of `t = 1`.
    pub fn factor(&self, epoch: u32) -> f64 {
        if epoch <= self.warmup {
            return f64::from(epoch) / (f64::from(self.warmup) + 1.0);
        }
        match self.decay {
            Decay::Constant => 1.0,
            Decay::Cosine => {
                let (done, rest) = (epoch - self.warmup - 1, self.epochs.saturating_sub(self.warmup).max(1));
                let t = (f64::from(done) / f64::from(rest)).min(1.0);
                0.5 * (1.0 + (PI * t).cos())
            }
        }
    }
}

/// The Euclidean norm of a gradient: squares in `f64`, added in blocks of fixed size, so that it depends on the values
/// alone. O(n).
pub fn global_norm(gradient: &[f32]) -> f64 {
    const BLOCK: usize = 4096;
    let square = |block: &[f32]| block.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>();
    gradient.chunks(BLOCK).map(square).sum::<f64>().sqrt()
}

/// Scales a gradient down to the norm `limit` if it is longer (Pascanu, Mikolov and Bengio 2013, Algorithm 1); returns the
/// norm it had. A gradient that is not finite is left alone, for the caller to notice. O(n).
pub fn clip_global_norm(gradient: &mut [f32], limit: f64) -> f64 {
    let norm = global_norm(gradient);
    if norm.is_finite() && norm > limit {
        let factor = (limit / norm) as f32;
        gradient.iter_mut().for_each(|g| *g *= factor);
    }
    norm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_grows_evenly_to_the_whole_rate() {
        let schedule = Schedule { warmup: 4, epochs: 100, decay: Decay::Constant };
        let factors: Vec<f64> = (1..=6).map(|epoch| schedule.factor(epoch)).collect();
        assert_eq!(factors, [0.2, 0.4, 0.6, 0.8, 1.0, 1.0]);
        assert_eq!(Schedule { warmup: 0, ..schedule }.factor(1), 1.0);
    }

    #[test]
    fn a_cosine_falls_from_one_to_nearly_zero() {
        let schedule = Schedule { warmup: 10, epochs: 18, decay: Decay::Cosine };
        // (1 + cos(k pi / 8)) / 2 for k = 0, 2, 4, 6, 7.
        let half_root = 0.5f64.sqrt();
        let expected = [(11, 1.0), (13, 0.5 + 0.5 * half_root), (15, 0.5), (17, 0.5 - 0.5 * half_root)];
        for (epoch, expected) in expected {
            assert!((schedule.factor(epoch) - expected).abs() < 1e-15, "epoch {epoch}");
        }
        // cos(7 pi / 8) = -sqrt(2 + sqrt(2)) / 2.
        let last = 0.5 - 0.25 * (2.0 + 2f64.sqrt()).sqrt();
        assert!((schedule.factor(18) - last).abs() < 1e-15 && last > 0.0);
        assert!(schedule.factor(19).abs() < 1e-15 && schedule.factor(1000).abs() < 1e-15);
        // The factors of one period add up to (rest + 1) / 2.
        let sum: f64 = (11..=18).map(|epoch| schedule.factor(epoch)).sum();
        assert!((sum - 4.5).abs() < 1e-12, "{sum}");
    }

    #[test]
    fn a_warm_up_as_long_as_the_run_never_decays() {
        let schedule = Schedule { warmup: 30, epochs: 20, decay: Decay::Cosine };
        assert!((1..=20).all(|epoch| schedule.factor(epoch) == f64::from(epoch) / 31.0));
        assert_eq!(schedule.factor(31), 1.0);
    }

    #[test]
    fn a_long_gradient_is_scaled_to_the_limit_and_a_short_one_kept() {
        let mut gradient = vec![3.0f32, 0.0, -4.0];
        assert_eq!(clip_global_norm(&mut gradient, 5.0), 5.0);
        assert_eq!(gradient, [3.0, 0.0, -4.0]);
        assert_eq!(clip_global_norm(&mut gradient, 2.5), 5.0);
        assert_eq!(gradient, [1.5, 0.0, -2.0]);
        // 1 + 4 + ... + n^2 = n (n + 1) (2n + 1) / 6, over several blocks.
        let long: Vec<f32> = (1..=10_000).map(|k| k as f32).collect();
        let expected = (10_000f64 * 10_001.0 * 20_001.0 / 6.0).sqrt();
        assert!((global_norm(&long) / expected - 1.0).abs() < 1e-14);
    }

    #[test]
    fn a_gradient_that_is_not_finite_or_zero_is_left_alone() {
        let mut gradient = vec![f32::INFINITY, 1.0];
        assert!(clip_global_norm(&mut gradient, 1.0).is_infinite());
        assert_eq!(gradient[1], 1.0);
        let mut nothing = vec![0.0f32; 3];
        assert_eq!((clip_global_norm(&mut nothing, 1.0), nothing), (0.0, vec![0.0; 3]));
    }
}
