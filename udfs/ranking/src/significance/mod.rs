//! Tests between runs: do two models differ, do several, and how many such questions were asked.

mod adjusted;
mod bootstrap_difference;
mod differences;
mod friedman_test;
mod gamma;
#[cfg(test)]
mod golden;
mod normal;
mod paired_t_test;
mod student_t;
mod studentized_range;
mod wilcoxon_signed_rank;

pub use adjusted::{NoProbability, benjamini_hochberg, holm};
pub use bootstrap_difference::{Bootstrap, BootstrapMethod, BootstrapOptions, bootstrap_difference};
pub use differences::{PairedError, PairedTest};
pub use friedman_test::{Friedman, critical_difference, friedman_test, nemenyi_p};
pub use paired_t_test::paired_t_test;
pub use student_t::{student_t_two_sided, welch_test};
pub use wilcoxon_signed_rank::{SignedRank, wilcoxon_signed_rank};
