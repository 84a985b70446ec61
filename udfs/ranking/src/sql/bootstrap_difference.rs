//! `bootstrap_difference(a, b [, confidence] [, samples] [, method] [, seed])`.

use arrow::datatypes::DataType;
use bonnet_sql::{Function, OptionValue, Options, Parameter, RowsKernel, rows_function, usage_error};
use datafusion::common::Result;

use super::answers::{Answer, fields, of_pairs, pair_parameters, structs};
use crate::{Bootstrap, BootstrapMethod, BootstrapOptions};

const NAME: &str = "bootstrap_difference";

const ANSWER: [Answer<Bootstrap>; 6] = [
    Answer::Number("statistic", |found| found.statistic),
    Answer::Number("low", |found| found.low),
    Answer::Number("high", |found| found.high),
    Answer::Number("p_value", |found| found.p_value),
    Answer::Count("n", |found| found.n),
    Answer::Number("least_p", |found| found.least_p),
];

/// The registration.
pub fn bootstrap_difference() -> Function {
    let default = BootstrapOptions::default();
    let [a, b] = pair_parameters();
    rows_function(NAME, DataType::Struct(fields(&ANSWER)), bind)
        .heavy()
        .parameters([
            a,
            b,
            Parameter::number("confidence", "The confidence of the interval, between 0 and 1.")
                .or(OptionValue::Number(default.confidence)),
            Parameter::integer("samples", "The number of resamples, at least 1.")
                .or(OptionValue::Integer(default.samples as i64)),
            Parameter::text(
                "method",
                "How the interval is made: 'bca', bias-corrected and accelerated, or 'percentile'.",
            )
            .or(OptionValue::Text("bca".to_owned())),
            Parameter::seed(),
        ])
        .returns("{statistic, low, high, p_value, n, least_p}")
        .description(
            "The mean of a - b (statistic) with its bootstrap interval from low to high: pairs are drawn with replacement, as many as \
             there are. p_value: of the hypothesis that the mean is 0, two-sided, (1 + the resamples whose mean is as far from the mean \
             as that is from 0) / (1 + samples); n: the pairs; least_p: 1 / (1 + samples), the least p. With few pairs intervals are too \
             narrow: the resamples know no others. A row with a NULL or NaN does not count; all but n are NULL for fewer than two pairs; \
             where all differences are equal, both ends are that difference; no rows give NULL; infinite values are refused. \
             O(samples * n).",
        )
        .example(
            "SELECT bootstrap_difference(a, b, samples => 999)['low'] AS low FROM (VALUES (8, 2), (7, 3), (9, 4), (6, 7)) t(a, b)",
        )
        .source("Efron, Better Bootstrap Confidence Intervals (1987); Efron and Tibshirani, An Introduction to the Bootstrap (1993)")
}

fn bind(options: &Options) -> Result<RowsKernel> {
    let default = BootstrapOptions::default();
    let confidence = options.number("confidence")?.unwrap_or(default.confidence);
    if !(confidence > 0.0 && confidence < 1.0) {
        return usage_error(format!("{NAME}: confidence => {confidence}: expected a number between 0 and 1"));
    }
    let how = options.text("method")?.unwrap_or("bca");
    let Some((_, method)) = BootstrapMethod::ALL.into_iter().find(|(name, _)| *name == how) else {
        let known = BootstrapMethod::ALL.map(|(name, _)| format!("'{name}'")).join(", ");
        return usage_error(format!("{NAME}: method => '{how}': expected one of {known}"));
    };
    let samples = options.integer_from("samples", 1)?.map_or(default.samples, |samples| samples as usize);
    let seed = options.integer("seed")?.unwrap_or(0) as u64;
    let options = BootstrapOptions { confidence, samples, method, seed };
    Ok(Box::new(move |groups, monitor| {
        let found =
            of_pairs(NAME, groups, monitor, |a, b, monitor| crate::bootstrap_difference(a, b, &options, monitor));
        structs(&ANSWER, &found?)
    }))
}
