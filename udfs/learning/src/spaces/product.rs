//! Products of kappa-stereographic spaces as a model's option names them: `H16,S8,E8`.

use candle_core::{Result, Tensor};

use super::{Factor, Geometry, Space, softplus};
use crate::ground::OptionError;

/// The sign of a factor's curvature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// Hyperbolic: `-softplus` of a parameter.
    Negative,
    /// Flat: 0.
    Zero,
    /// Spherical: `softplus` of a parameter.
    Positive,
}

impl Sign {
    /// -1, 0 or 1.
    pub fn factor(self) -> f64 {
        match self {
            Self::Negative => -1.0,
            Self::Zero => 0.0,
            Self::Positive => 1.0,
        }
    }

    /// The curvature, 1 x 1, of the raw parameters that are left; it takes one unless it is 0.
    pub fn curvature<'t>(self, raw: &mut impl Iterator<Item = &'t Tensor>, like: &Tensor) -> Result<Tensor> {
        match (self, raw) {
            (Self::Zero, _) => Tensor::zeros((1, 1), like.dtype(), like.device()),
            (sign, raw) => {
                let Some(raw) = raw.next() else { candle_core::bail!("a curvature is missing") };
                let size = softplus(raw)?;
                if sign == Self::Negative { size.neg() } else { Ok(size) }
            }
        }
    }
}

/// The dimensions and signs of the factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product(pub Vec<(Sign, usize)>);

impl Product {
    /// From a text such as `H16,S8,E8` whose dimensions add up to a width.
    ///
    /// # Errors
    /// If it is none; the text says what is valid.
    pub fn parse(option: &'static str, text: &str, width: usize) -> std::result::Result<Self, OptionError> {
        let one = |part: &str| {
            let part = part.trim();
            let sign = match part.chars().next()? {
                'H' | 'h' => Sign::Negative,
                'E' | 'e' => Sign::Zero,
                'S' | 's' => Sign::Positive,
                _ => return None,
            };
            let dimension = part[1..].parse::<usize>().ok().filter(|dimension| *dimension > 0)?;
            Some((sign, dimension))
        };
        let factors: Option<Vec<(Sign, usize)>> = text.split(',').map(one).collect();
        match factors {
            Some(factors) if factors.iter().map(|factor| factor.1).sum::<usize>() == width => Ok(Self(factors)),
            _ => Err(OptionError::invalid(
                option,
                text,
                &format!(
                    "factors such as H8,E4,S4 (hyperbolic, flat, spherical, each with its dimension) whose dimensions add up \
                     to the width, {width}"
                ),
            )),
        }
    }

    /// The dimensions of a width in proportion to how many of some curvatures are below `-bound`, above `bound` or between,
    /// by largest remainders; a share that rounds to no dimension is left out.
    pub fn of_histogram(curvatures: &[f64], bound: f64, width: usize) -> Self {
        let mut counts = [0usize; 3];
        for &curvature in curvatures {
            counts[usize::from(curvature >= -bound) + usize::from(curvature > bound)] += 1;
        }
        // Without nodes all is flat.
        let n = curvatures.len().max(1);
        counts[1] += n - curvatures.len();
        let mut dimensions = counts.map(|count| count * width / n);
        let left = width - dimensions.iter().sum::<usize>();
        let mut order = [0, 1, 2];
        order.sort_by_key(|&at| std::cmp::Reverse(counts[at] * width % n));
        order[..left].iter().for_each(|&at| dimensions[at] += 1);
        let signs = [Sign::Negative, Sign::Zero, Sign::Positive];
        Self(signs.into_iter().zip(dimensions).filter(|(_, dimension)| *dimension > 0).collect())
    }

    /// The factors with their first columns.
    pub fn factors(&self) -> impl Iterator<Item = (Sign, usize, usize)> + '_ {
        self.0.iter().scan(0, |from, &(sign, dimension)| {
            let here = *from;
            *from += dimension;
            Some((sign, here, dimension))
        })
    }

    /// The number of factors with a curvature to learn.
    pub fn curved(&self) -> usize {
        self.0.iter().filter(|(sign, _)| *sign != Sign::Zero).count()
    }

    /// The space, whose points are stored by their tangent vectors at the origin, with flat columns behind.
    pub fn space(&self, flat: usize) -> Space {
        let factor = |dimension| Factor { geometry: Geometry::Stereographic, dimension };
        let mut factors: Vec<Factor> = self.0.iter().map(|&(_, dimension)| factor(dimension)).collect();
        factors.extend((flat > 0).then(|| factor(flat)));
        Space { factors, gates: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_factors_that_add_up_to_the_width() {
        let product = Product::parse("factors", "H8, e4,S4", 16).unwrap();
        assert_eq!(product.0, [(Sign::Negative, 8), (Sign::Zero, 4), (Sign::Positive, 4)]);
        assert_eq!(product.factors().map(|factor| factor.1).collect::<Vec<_>>(), [0, 8, 12]);
        assert_eq!((product.curved(), product.space(3).columns()), (2, 16 + 3 + 4));
        for wrong in ["", "H8", "H8,E4", "X16", "H16,", "H-16", "H0,E16", "Ä16", "H8 E8"] {
            let error = Product::parse("factors", wrong, 16).unwrap_err().to_string();
            assert!(error.contains("factors is `") && error.contains("add up to the width, 16"), "{error}");
        }
    }

    #[test]
    fn histograms_share_the_width() {
        let of = |curvatures: &[f64], width| Product::of_histogram(curvatures, 0.1, width).0;
        let (h, e, s) = (Sign::Negative, Sign::Zero, Sign::Positive);
        assert_eq!(of(&[-0.5, -0.5, 0.0, 0.7], 16), [(h, 8), (e, 4), (s, 4)]);
        // 2/3 and 1/3 of 16: 10.67 and 5.33.
        assert_eq!(of(&[-0.5, -0.2, 0.1], 16), [(h, 11), (e, 5)]);
        assert_eq!(of(&[0.2; 5], 16), [(s, 16)]);
        assert_eq!(of(&[], 16), [(e, 16)]);
        // One of a thousand has no share of 16.
        let mut many = vec![-0.5; 999];
        many.push(0.5);
        assert_eq!(of(&many, 16), [(h, 16)]);
    }
}
