//! A codebook of centroids that stands for all rows, and attention to it (Kong et al. 2023, Sec. 3.2).

pub mod centroids;
pub mod codebook_attention;
