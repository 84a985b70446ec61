//! Kernel regression as a classifier, with the linear and the NNGP kernel.

use faer::{Mat, MatRef};

use crate::dense::{product, pseudo_inverse_times};

/// The kernel between two feature vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// <x, y> / 2.
    Linear,
    /// (<x, y> (pi - theta) + sqrt(|x|^2 |y|^2 - <x, y>^2)) / 2 pi for the angle theta: the Gaussian process of one
    /// infinitely wide layer of rectified units (Lee et al., Deep neural networks as Gaussian processes, ICLR 2018; Cho
    /// and Saul, Kernel methods for deep learning, NeurIPS 2009).
    Nngp,
}

impl Kernel {
    /// The kernel of two vectors, by their product and their squared lengths.
    fn of(self, dot: f64, square_x: f64, square_y: f64) -> f64 {
        match self {
            Self::Linear => 0.5 * dot,
            Self::Nngp => {
                let lengths = (square_x * square_y).sqrt();
                if lengths == 0.0 {
                    return 0.0;
                }
                let cosine = (dot / lengths).clamp(-1.0, 1.0);
                // sqrt((1 - c)(1 + c)) keeps its digits where the vectors are nearly parallel.
                let sine = ((1.0 - cosine) * (1.0 + cosine)).sqrt();
                lengths * (cosine * (std::f64::consts::PI - cosine.acos()) + sine) / (2.0 * std::f64::consts::PI)
            }
        }
    }
}

/// The products of all rows with the training rows, which come first: what every kernel is made of.
pub(crate) fn products(rows: MatRef<'_, f64>, n_train: usize) -> Mat<f64> {
    product(rows, rows.subrows(0, n_train).transpose())
}

/// The share of test rows whose class kernel regression predicts: the arg max over classes of
/// K(test, train) K(train, train)^+ Y(train) with one-hot Y; ties go to the smaller class. `products` is n x n_train as
/// [`products`] gives it, `squares` the squared lengths of all rows. `None` where a value is not finite.
/// (Eq. 10 and App. B of Luan et al., Are heterophilic GNNs and homophily metrics really effective?) O(n_train^3) time.
pub(crate) fn accuracy(
    kernel: Kernel,
    products: MatRef<'_, f64>,
    squares: &[f64],
    classes: &[u32],
    n_classes: usize,
) -> Option<f64> {
    let (n, n_train) = products.shape();
    let values = Mat::from_fn(n, n_train, |i, j| kernel.of(products[(i, j)], squares[i], squares[j]));
    let one_hot = Mat::from_fn(n_train, n_classes, |i, class| f64::from(u8::from(classes[i] as usize == class)));
    let weights = pseudo_inverse_times(values.as_ref().subrows(0, n_train), one_hot.as_ref())?;
    let scores = product(values.as_ref().subrows(n_train, n - n_train), weights.as_ref());
    let correct = (0..n - n_train).filter(|&test| {
        let best = (1..n_classes)
            .fold(0, |best, class| if scores[(test, class)] > scores[(test, best)] { class } else { best });
        best == classes[n_train + test] as usize
    });
    Some(correct.count() as f64 / (n - n_train) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nngp_kernel_has_its_closed_forms() {
        // Parallel: |x||y| / 2; orthogonal: |x||y| / 2 pi; opposite: 0.
        let pi = std::f64::consts::PI;
        assert!((Kernel::Nngp.of(6.0, 4.0, 9.0) - 3.0).abs() < 1e-15);
        assert!((Kernel::Nngp.of(0.0, 4.0, 9.0) - 6.0 / (2.0 * pi)).abs() < 1e-15);
        assert!(Kernel::Nngp.of(-6.0, 4.0, 9.0).abs() < 1e-15);
        assert_eq!(Kernel::Nngp.of(0.0, 0.0, 9.0), 0.0);
        // The formula of App. B: <x, y>(pi - theta) + sqrt(|x|^2 |y|^2 - <x, y>^2), over 2 pi.
        let literal = (2.0 * (pi - (2.0f64 / 6.0).acos()) + (36.0f64 - 4.0).sqrt()) / (2.0 * pi);
        assert!((Kernel::Nngp.of(2.0, 4.0, 9.0) - literal).abs() < 1e-15);
        assert_eq!(Kernel::Linear.of(2.0, 4.0, 9.0), 1.0);
    }

    #[test]
    fn directions_are_told_apart() {
        // Unit vectors at 0, 20, 70 and 90 degrees; tests at 10 and 80.
        let degrees = [0.0f64, 20.0, 70.0, 90.0, 10.0, 80.0];
        let rows =
            Mat::from_fn(
                6,
                2,
                |i, j| if j == 0 { degrees[i].to_radians().cos() } else { degrees[i].to_radians().sin() },
            );
        let products = products(rows.as_ref(), 4);
        for kernel in [Kernel::Linear, Kernel::Nngp] {
            let right = accuracy(kernel, products.as_ref(), &[1.0; 6], &[0, 0, 1, 1, 0, 1], 2);
            assert_eq!(right, Some(1.0), "{kernel:?}");
            let wrong = accuracy(kernel, products.as_ref(), &[1.0; 6], &[0, 0, 1, 1, 1, 0], 2);
            assert_eq!(wrong, Some(0.0), "{kernel:?}");
        }
    }

    #[test]
    fn the_sign_of_a_feature_is_not_linear_in_one_class_alone() {
        // |x| > 1 against |x| < 1 on a line through the origin is beyond a linear kernel, and within NNGP with a constant.
        let xs = [-3.0, -2.0, 2.0, 3.0, -0.5, 0.0, 0.5, 0.2, 2.5, -2.5, 0.1];
        let rows = Mat::from_fn(11, 2, |i, j| [xs[i], 1.0][j]);
        let squares: Vec<f64> = xs.iter().map(|x| x * x + 1.0).collect();
        let classes = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1];
        let products = products(rows.as_ref(), 8);
        assert_eq!(accuracy(Kernel::Nngp, products.as_ref(), &squares, &classes, 2), Some(1.0));
        assert!(accuracy(Kernel::Linear, products.as_ref(), &squares, &classes, 2).unwrap() < 1.0);
    }
}
