//! The volume of local metrics changes evenly along paths (Sun et al. 2026, GraphGlue).

use candle_core::{Device, Result, Tensor};

/// `mean over the paths i - j - k of (ln (det G_i / det G_j) - ln (det G_j / det G_k))^2 = (l_i - 2 l_j + l_k)^2`, `l`
/// the logarithm of each row's volume: a vector, of which paths hold numbers. None where there is no path. O(paths).
pub(in crate::models::foundation) fn volume_smoothness(volumes: &Tensor, paths: &[[u32; 3]]) -> Result<Option<Tensor>> {
    if paths.is_empty() {
        return Ok(None);
    }
    let end = |side: usize| {
        let nodes: Vec<u32> = paths.iter().map(|path| path[side]).collect();
        volumes.index_select(&Tensor::from_vec(nodes, paths.len(), &Device::Cpu)?, 0)
    };
    let bend = ((end(0)? + end(2)?)? - (end(1)? * 2.0)?)?;
    bend.sqr()?.mean_all().map(Some)
}
