//! How far rows of normal distributions are from the standard one (Kingma and Welling 2014, App. B; Alemi et al. 2017).

use candle_core::{Result, Tensor};

/// `- mean over rows and columns of (1 + ln sigma^2 - mu^2 - sigma^2) / 2`: the divergence of normal distributions from the standard one, a
/// column's mean, from their means and the logarithms of their variances. A number, 0 at least.
pub(in crate::models::foundation) fn bottleneck(mean: &Tensor, log_variance: &Tensor) -> Result<Tensor> {
    let excess = (((log_variance + 1.0)? - mean.sqr()?)? - log_variance.exp()?)?;
    excess.mean_all()? * -0.5
}
