//! A bank of filters in a product of kappa-stereographic spaces (Grover et al. 2025, Eq. 5, 6 and 8).

use candle_core::{D, Result, Tensor};

use crate::program::layers::expressions::expression::Rowwise;
use crate::program::layers::expressions::row_kernel::RowKernel;
use crate::spaces::product::{Product, Sign};
use crate::spaces::space::softmax;
use crate::spaces::{Radial, inner, sigmoid, softplus_of, stereographic};

/// The filter bank and its pooling, between tangent vectors at the origin. Inputs: `P^k x` for every k. Parameters: the
/// coefficients of each filter one after the other, the curvatures, then for each factor its map and its score where there
/// are several, then the weights of the filters where there are several.
#[derive(Debug)]
pub struct Bank {
    /// The factors.
    pub product: Product,
    /// The degrees of the filters.
    pub degrees: std::ops::RangeInclusive<usize>,
}

impl Bank {
    /// `log_0` of the Moebius sum over k of `exp_0(gamma_k v_k)`.
    fn filter(powers: &[Tensor], gamma: &Tensor, kappa: Option<&Tensor>) -> Result<Tensor> {
        let term = |k: usize| powers[k].broadcast_mul(&gamma.narrow(1, k, 1)?);
        let mut sum = term(0)?;
        let Some(kappa) = kappa else {
            for k in 1..powers.len() {
                sum = (sum + term(k)?)?;
            }
            return Ok(sum);
        };
        sum = stereographic::exp0(&sum, kappa)?;
        for k in 1..powers.len() {
            sum = stereographic::add(&sum, &stereographic::exp0(&term(k)?, kappa)?, kappa)?;
        }
        stereographic::log0(&sum, kappa)
    }

    /// Each factor's vectors times its share of a softmax: the more its map of them differs from the mean over the factors
    /// along a direction, the more.
    fn pool(factors: &[Tensor], maps: &[Tensor]) -> Result<Tensor> {
        if factors.len() == 1 {
            return Ok(factors[0].clone());
        }
        let mapped: Vec<Tensor> = factors.iter().zip(maps).map(|(v, map)| v.matmul(map)).collect::<Result<_>>()?;
        let mut mean = mapped[0].clone();
        for other in &mapped[1..] {
            mean = (mean + other)?;
        }
        let mean = (mean * (1.0 / factors.len() as f64))?;
        let score = |(mapped, direction): (&Tensor, &Tensor)| {
            let along = (mapped - &mean)?.matmul(&direction.t()?.contiguous()?)?;
            // The logistic function, without overflow.
            ((along * 0.5)?.tanh()? + 1.0)? * 0.5
        };
        let scores = mapped.iter().zip(&maps[factors.len()..]).map(score).collect::<Result<Vec<_>>>()?;
        let shares = softmax(&Tensor::cat(&scores, D::Minus1)?)?;
        let shared = |(q, v): (usize, &Tensor)| v.broadcast_mul(&shares.narrow(1, q, 1)?);
        Tensor::cat(&factors.iter().enumerate().map(shared).collect::<Result<Vec<_>>>()?, D::Minus1)
    }
}

impl Rowwise for Bank {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let count = self.product.0.len();
        let (gamma, raw) = (&w[0], &w[1..1 + self.product.curved()]);
        let maps = &w[1 + raw.len()..];
        let mut raw = raw.iter();
        let mut factors = Vec::with_capacity(count);
        for (sign, from, dimension) in self.product.factors() {
            let kappa = match sign {
                Sign::Zero => None,
                sign => Some(sign.curvature(&mut raw, gamma)?),
            };
            let powers: Vec<Tensor> =
                x.iter().map(|x| x.narrow(1, from, dimension)?.contiguous()).collect::<Result<_>>()?;
            factors.push((kappa, powers));
        }
        let shares = match self.degrees.clone().count() {
            1 => None,
            _ => Some(softmax(&w[w.len() - 1])?),
        };
        let (mut sum, mut at): (Option<Tensor>, usize) = (None, 0);
        for (number, degree) in self.degrees.clone().enumerate() {
            let gamma = gamma.narrow(1, at, degree + 1)?;
            at += degree + 1;
            let filtered: Vec<Tensor> = factors
                .iter()
                .map(|(kappa, powers)| Self::filter(&powers[..=degree], &gamma, kappa.as_ref()))
                .collect::<Result<_>>()?;
            let mut pooled = Self::pool(&filtered, maps)?;
            if let Some(shares) = &shares {
                pooled = pooled.broadcast_mul(&shares.narrow(1, number, 1)?)?;
            }
            sum = Some(match sum {
                None => pooled,
                Some(sum) => (sum + pooled)?,
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => candle_core::bail!("a bank without filters"),
        }
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

/// The values that rows read: the coefficients, the curvatures of all factors, the shares of the filters, and for each pair
/// of factors p, q the map of p applied to the direction of q, by which a vector of p enters the score of q.
const GAMMA: usize = 0;
const KAPPA: usize = 1;
const SHARES: usize = 2;
const MAPPED: usize = 3;

/// A filter's Moebius sum in a factor. The sum stays in the span of the vectors `v_k = P^k x`: it is followed by its
/// coefficients, with inner products that all filters share.
struct Sum<'a> {
    kappa: f64,
    gamma: &'a [f64],
    /// `<v_i, v_j>`, rows of `n`.
    gram: &'a [f64],
    n: usize,
}

/// A step of the sum, kept for the gradient: `s <- a s + b beta v_k`.
#[derive(Debug, Clone, Copy, Default)]
struct SumStep {
    beta: f64,
    /// `<s, v_k>` and `|s|^2` before it.
    sv: f64,
    ss: f64,
    a: f64,
    b: f64,
    below: f64,
}

impl Sum<'_> {
    fn gram(&self, i: usize, j: usize) -> f64 {
        self.gram[i * self.n + j]
    }

    /// The length of `exp_0(gamma_k v_k)` by that of `v_k`.
    fn beta(&self, k: usize) -> f64 {
        let gamma = self.gamma[k];
        gamma * Radial::Tan.value(-self.kappa * gamma * gamma * self.gram(k, k))
    }

    /// The coefficients of `log_0` of the sum; keeps the steps, and the coefficients before each step k as k numbers.
    fn value(&self, steps: &mut Vec<SumStep>, before: &mut Vec<f64>, c: &mut [f64]) {
        steps.clear();
        before.clear();
        let beta = self.beta(0);
        c[0] = beta;
        steps.push(SumStep { beta, ..SumStep::default() });
        let mut ss = beta * beta * self.gram(0, 0);
        for k in 1..self.gamma.len() {
            before.extend_from_slice(&c[..k]);
            let beta = self.beta(k);
            let sv = inner(&c[..k], &self.gram[k * self.n..][..k]);
            let (xy, yy, kappa) = (beta * sv, beta * beta * self.gram(k, k), self.kappa);
            let twice = 1.0 - 2.0 * kappa * xy;
            let below = (twice + kappa * kappa * ss * yy).max(stereographic::LEAST);
            let (a, b) = ((twice - kappa * yy) / below, (1.0 + kappa * ss) / below);
            c[..k].iter_mut().for_each(|c| *c *= a);
            c[k] = b * beta;
            steps.push(SumStep { beta, sv, ss, a, b, below });
            ss = a * a * ss + 2.0 * a * b * xy + b * b * yy;
        }
        // The last step's sum, for the gradient of the logarithm.
        steps.push(SumStep { ss, ..SumStep::default() });
        before.extend_from_slice(&c[..self.gamma.len()]);
        let f = Radial::ArcTan.value(-self.kappa * ss);
        c[..self.gamma.len()].iter_mut().for_each(|c| *c *= f);
    }

    /// From the gradient of the coefficients, which it overwrites, to that of the curvature, of gamma and of the inner
    /// products.
    fn gradient(
        &self,
        steps: &[SumStep],
        before: &[f64],
        d: &mut [f64],
        d_gamma: &mut [f64],
        d_gram: &mut [f64],
    ) -> f64 {
        let (count, kappa) = (self.gamma.len(), self.kappa);
        let mut at = before.len() - count;
        let ss = steps[count].ss;
        let (f, slope) = Radial::ArcTan.value_and_slope(-kappa * ss);
        let d_f = inner(&before[at..], d) * slope;
        let (mut d_kappa, mut d_ss) = (-ss * d_f, -kappa * d_f);
        d.iter_mut().for_each(|d| *d *= f);
        let of_beta = |k: usize, d_beta: f64, d_gamma: &mut [f64], d_gram: &mut [f64]| {
            let (gamma, square) = (self.gamma[k], self.gram(k, k));
            let s = -kappa * gamma * gamma * square;
            let (value, slope) = Radial::Tan.value_and_slope(s);
            let d_s = d_beta * gamma * slope;
            d_gamma[k] += d_beta * value - d_s * 2.0 * kappa * gamma * square;
            d_gram[k * self.n + k] -= d_s * kappa * gamma * gamma;
            -d_s * gamma * gamma * square
        };
        for k in (1..count).rev() {
            at -= k;
            let (c, SumStep { beta, sv, ss, a, b, below }) = (&before[at..at + k], steps[k]);
            let square = self.gram(k, k);
            let (xy, yy) = (beta * sv, beta * beta * square);
            let d_b = d[k] * beta + d_ss * 2.0 * (a * xy + b * yy);
            let d_a = inner(&d[..k], c) + d_ss * 2.0 * (a * ss + b * xy);
            let (mut d_xx, mut d_xy, mut d_yy) = (d_ss * a * a, d_ss * 2.0 * a * b, d_ss * b * b);
            let mut d_beta = d[k] * b;
            // a and b are quotients by `below`, which is constant at its bound.
            let (of_a, of_b) = (d_a / below, d_b / below);
            let mut d_twice = of_a;
            if below > stereographic::LEAST {
                let d_below = -(of_a * a + of_b * b);
                d_twice += d_below;
                d_kappa += d_below * 2.0 * kappa * ss * yy;
                d_xx += d_below * kappa * kappa * yy;
                d_yy += d_below * kappa * kappa * ss;
            }
            d_kappa += of_b * ss - of_a * yy - 2.0 * d_twice * xy;
            d_yy -= kappa * of_a;
            d_xx += kappa * of_b;
            d_xy -= 2.0 * kappa * d_twice;
            d_beta += d_xy * sv + 2.0 * d_yy * beta * square;
            d_gram[k * self.n + k] += d_yy * beta * beta;
            let d_sv = d_xy * beta;
            for (j, c) in c.iter().enumerate() {
                d[j] = a * d[j] + d_sv * self.gram(k, j);
                d_gram[k * self.n + j] += d_sv * c;
            }
            d_kappa += of_beta(k, d_beta, d_gamma, d_gram);
            d_ss = d_xx;
        }
        let (beta, square) = (steps[0].beta, self.gram(0, 0));
        d_gram[0] += d_ss * beta * beta;
        d_kappa + of_beta(0, d[0] + 2.0 * d_ss * beta * square, d_gamma, d_gram)
    }
}

/// The numbers of a row that both passes need, by factor q and power k, or by filter l.
struct Row {
    /// Inner products of the powers in each factor.
    gram: Vec<f64>,
    /// `<v_pk, m_pq>` by p, q, k: what the score of q has of a power in p.
    along: Vec<f64>,
    /// The coefficients of each filter in each factor, by l, q, k.
    coefficients: Vec<f64>,
    /// The logistic function of the scores and their softmax, by l, q.
    sigmoids: Vec<f64>,
    shares: Vec<f64>,
    /// The coefficients of the output, by q, k.
    total: Vec<f64>,
    steps: Vec<Vec<SumStep>>,
    before: Vec<Vec<f64>>,
}

/// The columns of a row's inputs: powers of `width` columns, of which a factor has some.
#[derive(Clone, Copy)]
struct Powers<'a> {
    x: &'a [f64],
    width: usize,
}

impl<'a> Powers<'a> {
    fn of(self, k: usize, (_, from, dimension): (Sign, usize, usize)) -> &'a [f64] {
        &self.x[k * self.width + from..][..dimension]
    }
}

impl Bank {
    fn powers(&self) -> usize {
        self.degrees.end() + 1
    }

    fn filters(&self) -> usize {
        self.degrees.clone().count()
    }

    fn width(&self) -> usize {
        self.product.0.iter().map(|factor| factor.1).sum()
    }

    /// The filters' coefficients, one after the other, begin here.
    fn starts(&self) -> Vec<usize> {
        self.degrees.clone().scan(0, |at, degree| Some(std::mem::replace(at, *at + degree + 1))).collect()
    }

    fn room(&self) -> Row {
        let (count, n, filters) = (self.product.0.len(), self.powers(), self.filters());
        Row {
            gram: vec![0.0; count * n * n],
            along: vec![0.0; count * count * n],
            coefficients: vec![0.0; filters * count * n],
            sigmoids: vec![0.0; filters * count],
            shares: vec![1.0; filters * count],
            total: vec![0.0; count * n],
            steps: vec![Vec::new(); filters * count],
            before: vec![Vec::new(); filters * count],
        }
    }

    fn row(&self, x: Powers<'_>, read: &[Vec<f64>], starts: &[usize], row: &mut Row) {
        let (count, n) = (self.product.0.len(), self.powers());
        for (p, factor) in self.product.factors().enumerate() {
            let gram = &mut row.gram[p * n * n..][..n * n];
            if factor.0 != Sign::Zero {
                for k in 0..n {
                    for j in 0..=k {
                        let product = inner(x.of(k, factor), x.of(j, factor));
                        (gram[k * n + j], gram[j * n + k]) = (product, product);
                    }
                }
            }
            if count > 1 {
                for q in 0..count {
                    let map = &read[MAPPED + p * count + q];
                    (0..n).for_each(|k| row.along[(p * count + q) * n + k] = inner(x.of(k, factor), map));
                }
            }
        }
        row.total.fill(0.0);
        for (l, degree) in self.degrees.clone().enumerate() {
            let gamma = &read[GAMMA][starts[l]..][..=degree];
            for (q, &(sign, _)) in self.product.0.iter().enumerate() {
                let c = &mut row.coefficients[(l * count + q) * n..][..n];
                if sign == Sign::Zero {
                    c[..=degree].copy_from_slice(gamma);
                    continue;
                }
                let sum = Sum { kappa: read[KAPPA][q], gamma, gram: &row.gram[q * n * n..][..n * n], n };
                sum.value(&mut row.steps[l * count + q], &mut row.before[l * count + q], c);
            }
            let coefficients = &row.coefficients[l * count * n..][..count * n];
            let (sigmoids, shares) = (&mut row.sigmoids[l * count..][..count], &mut row.shares[l * count..][..count]);
            if count > 1 {
                for (q, value) in sigmoids.iter_mut().enumerate() {
                    let part = |p: usize| {
                        let along = &row.along[(p * count + q) * n..][..=degree];
                        own(p, q, count) * inner(&coefficients[p * n..][..=degree], along)
                    };
                    *value = sigmoid((0..count).map(part).sum());
                }
                softmax_into(sigmoids, shares);
            }
            for q in 0..count {
                let share = shares[q] * read[SHARES][l];
                let total = row.total[q * n..][..=degree].iter_mut();
                total.zip(&coefficients[q * n..]).for_each(|(total, c)| *total += share * c);
            }
        }
    }
}

/// A vector's part in the score of q: itself less the mean over the factors.
fn own(p: usize, q: usize, count: usize) -> f64 {
    f64::from(u8::from(p == q)) - 1.0 / count as f64
}

fn softmax_into(x: &[f64], shares: &mut [f64]) {
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = x.iter().map(|x| (x - most).exp()).sum();
    shares.iter_mut().zip(x).for_each(|(share, x)| *share = (x - most).exp() / sum);
}

/// From the gradient of a softmax to that of its scores.
fn softmax_gradient(shares: &[f64], d_shares: &[f64]) -> Vec<f64> {
    let mean = inner(shares, d_shares);
    shares.iter().zip(d_shares).map(|(share, d)| share * (d - mean)).collect()
}

impl RowKernel for Bank {
    fn read(&self, w: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let (count, mut raw) = (self.product.0.len(), w[1..].iter());
        let kappa = self.product.0.iter().map(|(sign, _)| match (sign, sign.factor()) {
            (Sign::Zero, _) => 0.0,
            (_, factor) => raw.next().map_or(0.0, |raw| factor * softplus_of(raw[0])),
        });
        let kappa: Vec<f64> = kappa.collect();
        let mut shares = vec![1.0; self.filters()];
        if self.filters() > 1 {
            softmax_into(&w[w.len() - 1], &mut shares);
        }
        let mut read = vec![w[GAMMA].clone(), kappa, shares];
        let maps = &w[1 + self.product.curved()..];
        for p in (0..count).filter(|_| count > 1) {
            for q in 0..count {
                let direction = &maps[count + q];
                read.push(maps[p].chunks_exact(direction.len()).map(|row| inner(row, direction)).collect());
            }
        }
        read
    }

    fn pull(&self, w: &[Vec<f64>], read: &[Vec<f64>], mut d_read: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let (count, curved) = (self.product.0.len(), self.product.curved());
        let mut gradient: Vec<Vec<f64>> = w.iter().map(|block| vec![0.0; block.len()]).collect();
        gradient[GAMMA] = std::mem::take(&mut d_read[GAMMA]);
        let signs = self.product.0.iter().zip(&d_read[KAPPA]).filter(|((sign, _), _)| *sign != Sign::Zero);
        for (((sign, _), d_kappa), number) in signs.zip(1..) {
            gradient[number][0] = d_kappa * sign.factor() * sigmoid(w[number][0]);
        }
        for p in (0..count).filter(|_| count > 1) {
            for q in 0..count {
                let (of_map, of_direction) = (1 + curved + p, 1 + curved + count + q);
                let common = w[of_direction].len();
                for (row, d) in d_read[MAPPED + p * count + q].iter().enumerate() {
                    for c in 0..common {
                        gradient[of_map][row * common + c] += d * w[of_direction][c];
                        gradient[of_direction][c] += d * w[of_map][row * common + c];
                    }
                }
            }
        }
        if self.filters() > 1 {
            let last = w.len() - 1;
            gradient[last] = softmax_gradient(&read[SHARES], &d_read[SHARES]);
        }
        gradient
    }

    fn values(&self, _: usize, x: &[f64], read: &[Vec<f64>], y: &mut [f64]) {
        let (n, width, starts, mut row) = (self.powers(), self.width(), self.starts(), self.room());
        for (x, y) in x.chunks_exact(n * width).zip(y.chunks_exact_mut(width)) {
            let x = Powers { x, width };
            self.row(x, read, &starts, &mut row);
            for (q, factor) in self.product.factors().enumerate() {
                let y = &mut y[factor.1..][..factor.2];
                for (k, total) in row.total[q * n..][..n].iter().enumerate() {
                    y.iter_mut().zip(x.of(k, factor)).for_each(|(y, v)| *y += total * v);
                }
            }
        }
    }

    fn gradients(&self, _: usize, x: &[f64], read: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], d_read: &mut [Vec<f64>]) {
        let (count, n, width) = (self.product.0.len(), self.powers(), self.width());
        let (starts, mut row) = (self.starts(), self.room());
        let mut d_total = vec![0.0; count * n];
        let (mut d_gram, mut d_along) = (row.gram.clone(), row.along.clone());
        let mut d_c = vec![0.0; count * n];
        let rows = x.chunks_exact(n * width).zip(d_y.chunks_exact(width)).zip(d_x.chunks_exact_mut(n * width));
        for ((x, d_y), d_x) in rows {
            let x = Powers { x, width };
            self.row(x, read, &starts, &mut row);
            d_gram.fill(0.0);
            d_along.fill(0.0);
            for (q, factor) in self.product.factors().enumerate() {
                let d_y = &d_y[factor.1..][..factor.2];
                (0..n).for_each(|k| d_total[q * n + k] = inner(d_y, x.of(k, factor)));
            }
            for (l, degree) in self.degrees.clone().enumerate() {
                let of_filter = read[SHARES][l];
                let coefficients = &row.coefficients[l * count * n..][..count * n];
                let (sigmoids, shares) = (&row.sigmoids[l * count..][..count], &row.shares[l * count..][..count]);
                let products: Vec<f64> = (0..count)
                    .map(|q| inner(&coefficients[q * n..][..=degree], &d_total[q * n..][..=degree]))
                    .collect();
                d_read[SHARES][l] += inner(shares, &products);
                for q in 0..count {
                    for k in 0..=degree {
                        d_c[q * n + k] = of_filter * shares[q] * d_total[q * n + k];
                    }
                }
                if count > 1 {
                    let d_shares: Vec<f64> = products.iter().map(|product| of_filter * product).collect();
                    let d_scores = softmax_gradient(shares, &d_shares);
                    for (q, (d, value)) in d_scores.iter().zip(sigmoids).enumerate() {
                        let d = d * value * (1.0 - value);
                        for p in 0..count {
                            let (d, at) = (own(p, q, count) * d, (p * count + q) * n);
                            for k in 0..=degree {
                                d_c[p * n + k] += d * row.along[at + k];
                                d_along[at + k] += d * coefficients[p * n + k];
                            }
                        }
                    }
                }
                let gamma = &read[GAMMA][starts[l]..][..=degree];
                for (q, &(sign, _)) in self.product.0.iter().enumerate() {
                    let d_gamma = &mut d_read[GAMMA][starts[l]..][..=degree];
                    let d = &mut d_c[q * n..][..=degree];
                    if sign == Sign::Zero {
                        d_gamma.iter_mut().zip(d).for_each(|(sum, d)| *sum += *d);
                        continue;
                    }
                    let sum = Sum { kappa: read[KAPPA][q], gamma, gram: &row.gram[q * n * n..][..n * n], n };
                    let (steps, before) = (&row.steps[l * count + q], &row.before[l * count + q]);
                    let d_gram = &mut d_gram[q * n * n..][..n * n];
                    d_read[KAPPA][q] += sum.gradient(steps, before, d, d_gamma, d_gram);
                }
            }
            for (q, factor) in self.product.factors().enumerate() {
                let d_y = &d_y[factor.1..][..factor.2];
                for k in 0..n {
                    let to = &mut d_x[k * width + factor.1..][..factor.2];
                    add(to, row.total[q * n + k], d_y);
                    if factor.0 != Sign::Zero {
                        for j in 0..n {
                            let d = d_gram[(q * n + k) * n + j] + d_gram[(q * n + j) * n + k];
                            add(to, d, x.of(j, factor));
                        }
                    }
                    for other in (0..count).filter(|_| count > 1) {
                        let (d, number) = (d_along[(q * count + other) * n + k], MAPPED + q * count + other);
                        add(to, d, &read[number]);
                        add(&mut d_read[number], d, x.of(k, factor));
                    }
                }
            }
        }
    }
}

fn add(to: &mut [f64], factor: f64, of: &[f64]) {
    to.iter_mut().zip(of).for_each(|(to, of)| *to += factor * of);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::equations::row_kernels::{check, normal};

    #[test]
    fn banks_near_and_far_from_the_origin_are_their_definition() {
        let signs = [(Sign::Negative, 3), (Sign::Zero, 2), (Sign::Positive, 3)];
        for (factors, degrees) in [(&signs[..], 0..=3), (&signs[..], 3..=3), (&signs[..1], 0..=2), (&signs[2..], 2..=2)]
        {
            for length in [0.0, 1e-9, 0.2, 1.5] {
                let bank = Bank { product: Product(factors.to_vec()), degrees: degrees.clone() };
                let (width, count) = (bank.width(), factors.len());
                let powers: Vec<Vec<f64>> = (0..bank.powers() as u64).map(|k| normal(6 * width, length, k)).collect();
                let gammas = bank.starts()[bank.filters() - 1] + degrees.end() + 1;
                let mut parameters = vec![(1, normal(gammas, 0.4, 10))];
                (0..bank.product.curved()).for_each(|q| parameters.push((1, vec![0.4 - 0.3 * q as f64])));
                if count > 1 {
                    factors.iter().for_each(|(_, rows)| parameters.push((*rows, normal(rows * 3, 0.5, 20))));
                    (0..count).for_each(|q| parameters.push((1, normal(3, 0.5, 30 + q as u64))));
                }
                if bank.filters() > 1 {
                    parameters.push((1, normal(bank.filters(), 0.5, 40)));
                }
                check(&bank, 6, &powers, &parameters);
            }
        }
    }
}
