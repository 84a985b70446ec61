//! Seeded random numbers that are the same on every platform and with every version of every crate.
//!
//! The bits come from ChaCha8, whose output is fixed by its definition: the seed fills the first 8 bytes of the key
//! (little endian, the rest zero) and each use has a stream of its own. What is made of the bits is made here, out of
//! operations that IEEE 754 rounds exactly (+, -, *, /, square root), since a platform's `ln` and `cos` may differ in
//! the last bit.

use bonnet_graph::random::below;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Which numbers of a seed are meant. The values are part of what a seed means: never renumber, only add.
#[derive(Debug, Clone, Copy)]
#[repr(u64)]
pub(crate) enum Stream {
    ErdosRenyi = 1,
    BarabasiAlbert = 2,
    RandomTree = 3,
    BlocksWithin = 4,
    BlocksBetween = 5,
    BlockMeans = 6,
    BlockFeatures = 7,
    DiseaseTree = 8,
    DiseaseNodes = 9,
    DiseaseSources = 10,
    DiseaseFeatures = 11,
    Graphon = 32,
    CommunityWithin = 33,
    CommunityBetween = 34,
    RandomRegular = 35,
    PerturbRemove = 36,
    PerturbAdd = 37,
    RegularFeatures = 38,
    GencatMemberships = 39,
    GencatEdges = 40,
    GencatAttributes = 41,
    KroneckerEdges = 42,
    KroneckerNodes = 43,
    RegularWithin = 12,
    RegularBetween = 13,
    AttachmentClasses = 14,
    AttachmentLinks = 15,
    AttachmentFeatures = 16,
}

/// A stream of random numbers.
pub(crate) struct Random {
    bits: ChaCha8Rng,
    /// The polar method makes normal deviates in pairs: the second of the last pair.
    spare_normal: Option<f64>,
}

impl Random {
    pub fn new(seed: u64, stream: Stream) -> Self {
        Self::numbered(seed, stream, 0)
    }

    /// The numbers of one of many graphs of a seed: its number fills the second 8 bytes of the key.
    pub fn numbered(seed: u64, stream: Stream, number: u64) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&number.to_le_bytes());
        let mut bits = ChaCha8Rng::from_seed(key);
        bits.set_stream(stream as u64);
        Self { bits, spare_normal: None }
    }

    /// 64 bits, each 0 or 1 alike.
    pub fn bits(&mut self) -> u64 {
        self.bits.next_u64()
    }

    /// Uniform on (0, 1], in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        ((self.bits.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on `0..bound`, which is positive, without bias.
    pub fn below(&mut self, bound: u64) -> u64 {
        below(bound, || self.bits.next_u64())
    }

    /// A standard normal deviate (Marsaglia and Bray 1964: the polar method).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * ln(square) / square).sqrt();
                self.spare_normal = Some(y * scale);
                return x * scale;
            }
        }
    }
}

/// The natural logarithm of a positive, normal number, to a few units in the last place.
pub(crate) fn ln(x: f64) -> f64 {
    // x = m 2^e with m in [sqrt(1/2), sqrt(2)), and ln m = 2 artanh((m - 1) / (m + 1)).
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 1023 << 52);
    if m >= std::f64::consts::SQRT_2 {
        m *= 0.5;
        exponent += 1;
    }
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * artanh((m - 1.0) / (m + 1.0))
}

/// e^x for -3 <= x <= 0, to a few units in the last place: the power series at x / 4, whose 16 terms give all 53 bits,
/// squared twice.
pub(crate) fn exp(x: f64) -> f64 {
    debug_assert!((-3.0..=0.0).contains(&x));
    let quarter = x / 4.0;
    let mut sum = 1.0;
    for k in (1..=16).rev() {
        sum = 1.0 + sum * quarter / f64::from(k);
    }
    let square = sum * sum;
    square * square
}

/// x^y for 0 < x and a y with x^y not above 1, to about 1e-13: e^(y ln x) by halves.
pub(crate) fn power(x: f64, y: f64) -> f64 {
    let exponent = y * ln(x);
    if exponent < -700.0 {
        return 0.0;
    }
    let halves = (exponent / std::f64::consts::LN_2).ceil().min(0.0);
    let rest = (exponent - halves * std::f64::consts::LN_2).clamp(-1.0, 0.0);
    exp(rest) * f64::from_bits(((1023.0 + halves) as u64) << 52)
}

/// ln(1 - p) for a probability p, exact for small p as well; minus infinity for 1.
pub(crate) fn ln_of_complement(p: f64) -> f64 {
    if p < 0.25 {
        return -2.0 * artanh(p / (2.0 - p));
    }
    if p < 1.0 { ln(1.0 - p) } else { f64::NEG_INFINITY }
}

/// The power series of the inverse hyperbolic tangent for |s| <= 0.172, where 12 terms give all 53 bits.
fn artanh(s: f64) -> f64 {
    let square = s * s;
    let mut sum = 0.0;
    for k in (0..12).rev() {
        sum = sum * square + 1.0 / f64::from(2 * k + 1);
    }
    s * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_agrees_with_the_platforms() {
        let mut random = Random::new(1, Stream::ErdosRenyi);
        for _ in 0..100_000 {
            let u = random.unit();
            assert!((ln(u) - u.ln()).abs() <= 1e-15 * u.ln().abs().max(f64::EPSILON), "{u}");
            assert!((ln_of_complement(u) - (-u).ln_1p()).abs() <= 1e-15 * (-u).ln_1p().abs(), "{u}");
            let p = u * 1e-12;
            assert!((ln_of_complement(p) - (-p).ln_1p()).abs() <= 1e-15 * p, "{p}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln_of_complement(1.0), f64::NEG_INFINITY);
    }

    #[test]
    fn the_exponential_agrees_with_the_platforms() {
        for i in 0..=30_000 {
            let x = -f64::from(i) * 1e-4;
            assert!((exp(x) - x.exp()).abs() <= 2e-15 * x.exp(), "{x}");
        }
    }

    #[test]
    fn powers_agree_with_the_platforms() {
        for x in [1e-300, 1e-9, 0.1, 0.5, 0.9, 1.0 - 1e-12, 1.0] {
            for y in [0.0, 0.3, 1.0, 2.0, 17.5, 100.0] {
                let (found, expected) = (power(x, y), f64::powf(x, y));
                assert!((found - expected).abs() <= 1e-12 * expected + 1e-300, "{x}^{y}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn the_first_numbers_are_those_of_the_chacha_definition() {
        // Key 0, stream 0, block 0 of ChaCha8: 3e00ef2f895f40d6 7f5bb8e81f09a5a1 (eSTREAM test vectors).
        let mut bits = ChaCha8Rng::from_seed([0; 32]);
        assert_eq!(bits.next_u64().to_le_bytes(), [0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6]);
        assert_eq!(bits.next_u64().to_le_bytes(), [0x7f, 0x5b, 0xb8, 0xe8, 0x1f, 0x09, 0xa5, 0xa1]);
    }

    #[test]
    fn streams_and_seeds_differ() {
        let first = |seed, stream| Random::new(seed, stream).below(u64::MAX);
        assert_ne!(first(0, Stream::ErdosRenyi), first(0, Stream::RandomTree));
        assert_ne!(first(0, Stream::ErdosRenyi), first(1, Stream::ErdosRenyi));
        assert_ne!(first(0, Stream::ErdosRenyi), first(1 << 63, Stream::ErdosRenyi));
    }

    #[test]
    fn integers_below_a_bound_are_uniform() {
        let mut random = Random::new(7, Stream::RandomTree);
        let mut counts = [0u32; 6];
        (0..60_000).for_each(|_| counts[random.below(6) as usize] += 1);
        let chi_square: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi_square < 20.5, "{chi_square}: the 99.9 % point of 5 degrees of freedom is 20.5");
    }

    #[test]
    fn normal_deviates_have_the_moments_of_the_normal_distribution() {
        let mut random = Random::new(3, Stream::BlockFeatures);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let moment = |k: i32| draws.iter().map(|x| x.powi(k)).sum::<f64>() / f64::from(n);
        // Five standard errors: the variance of x^k is E x^2k - (E x^k)^2 = 1, 2, 15, 96.
        for (k, expected, variance) in [(1, 0.0, 1.0f64), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            assert!((moment(k) - expected).abs() < 5.0 * (variance / f64::from(n)).sqrt(), "moment {k}: {}", moment(k));
        }
    }
}
