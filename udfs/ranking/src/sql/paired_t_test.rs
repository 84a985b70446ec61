//! `paired_t_test(a, b)`.

use arrow::datatypes::DataType;
use bonnet_sql::{Function, rows_function};

use super::answers::{Answer, fields, of_pairs, pair_parameters, structs};
use crate::PairedTest;

const NAME: &str = "paired_t_test";

const ANSWER: [Answer<PairedTest>; 4] = [
    Answer::Number("statistic", |test| test.statistic),
    Answer::Number("p_value", |test| test.p_value),
    Answer::Count("n", |test| test.n),
    Answer::Number("least_p", |test| test.least_p),
];

/// The registration.
pub fn paired_t_test() -> Function {
    rows_function(NAME, DataType::Struct(fields(&ANSWER)), |_| {
        Ok(Box::new(|groups, monitor| structs(&ANSWER, &of_pairs(NAME, groups, monitor, crate::paired_t_test)?)))
    })
    .parameters(pair_parameters())
    .returns("{statistic, p_value, n, least_p}")
    .description(
        "Student's t-test of paired values: whether the mean of a - b is 0. statistic: that mean over its standard error; p_value: \
         two-sided, with n - 1 degrees of freedom; n: the pairs that count; least_p: the least p that n pairs can give, 0 here, since \
         normal differences set no other. A row with a NULL or NaN does not count. statistic and p_value are NULL for fewer than two \
         pairs and where all pairs are equal; where all differences are one other number they are infinite and 0. No rows give NULL; \
         infinite values are refused. O(n log n).",
    )
    .example(
        "SELECT paired_t_test(a, b)['p_value'] AS p_value FROM (VALUES (1.9, 0.7), (0.8, -1.6), (1.1, -0.2), (0.1, -1.2)) t(a, b)",
    )
    .source("Student, The Probable Error of a Mean (1908)")
}
