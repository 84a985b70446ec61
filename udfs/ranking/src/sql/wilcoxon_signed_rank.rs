//! `wilcoxon_signed_rank(a, b)`.

use arrow::datatypes::DataType;
use bonnet_sql::{Function, rows_function};

use super::answers::{Answer, fields, of_pairs, pair_parameters, structs};
use crate::SignedRank;

const NAME: &str = "wilcoxon_signed_rank";

const ANSWER: [Answer<SignedRank>; 5] = [
    Answer::Number("statistic", |test| test.statistic),
    Answer::Number("p_value", |test| test.p_value),
    Answer::Count("n", |test| test.n),
    Answer::Number("least_p", |test| test.least_p),
    Answer::Flag("exact", |test| test.exact),
];

/// The registration.
pub fn wilcoxon_signed_rank() -> Function {
    rows_function(NAME, DataType::Struct(fields(&ANSWER)), |_| {
        Ok(Box::new(|groups, monitor| structs(&ANSWER, &of_pairs(NAME, groups, monitor, crate::wilcoxon_signed_rank)?)))
    })
    .parameters(pair_parameters())
    .returns("{statistic, p_value, n, least_p, exact}")
    .description(
        "Wilcoxon's signed-rank test of paired values: whether the differences a - b are symmetric about 0. Sizes of differences are \
         ranked, equal ones sharing their average; equal pairs are left out. statistic: the smaller of the sums of ranks of both signs; \
         p_value: two-sided; n: the pairs that differ; least_p: the least p that n pairs can give, 0.0625 for five. exact: over all \
         signs, for up to 50 pairs without equal sizes and equal pairs, and up to 13 of any kind; else p_value is that of the normal \
         distribution, corrected for ties, not for continuity, as SciPy's default is. Where all pairs are equal p_value is 1. A row with \
         a NULL or NaN does not count; no rows give NULL; infinite values are refused. O(n log n).",
    )
    .example(
        "SELECT wilcoxon_signed_rank(a, b)['p_value'] AS p_value FROM (VALUES (8, 2), (7, 3), (9, 4), (6, 7), (9, 1)) t(a, b)",
    )
    .source("Wilcoxon, Individual Comparisons by Ranking Methods (1945)")
}
