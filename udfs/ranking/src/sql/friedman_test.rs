//! `friedman_test(block, treatment, value [, alpha])`.

use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{
    Function, GroupedRows, OptionValue, Options, Parameter, RowsKernel, rows_function, stopped, usage_error,
};
use datafusion::common::Result;

use super::answers::{Answer, fields, structs};
use super::blocks::{Rows, block_parameters};
use crate::{Friedman, critical_difference};

const NAME: &str = "friedman_test";

/// The test, the number of treatments, and the critical difference of their mean ranks.
type Found = (Friedman, usize, Option<f64>);

const ANSWER: [Answer<Found>; 6] = [
    Answer::Number("statistic", |(test, ..)| test.statistic),
    Answer::Number("p_value", |(test, ..)| test.p_value),
    Answer::Count("n", |(test, ..)| test.n),
    Answer::Number("least_p", |(test, ..)| test.least_p),
    Answer::Count("treatments", |(_, treatments, _)| *treatments),
    Answer::Number("critical_difference", |(.., difference)| *difference),
];

/// The registration.
pub fn friedman_test() -> Function {
    let [block, treatment, value] = block_parameters();
    rows_function(NAME, DataType::Struct(fields(&ANSWER)), bind)
        .heavy()
        .parameters([
            block,
            treatment,
            value,
            Parameter::number("alpha", "The significance of the critical difference, between 0 and 1.")
                .or(OptionValue::Number(0.05)),
        ])
        .returns("{statistic, p_value, n, least_p, treatments, critical_difference}")
        .description(
            "Friedman's test over blocks: whether some treatments rank before others. statistic: Friedman's chi-squared, corrected for \
             ties; p_value: of the chi-squared distribution with treatments - 1 degrees of freedom; n: the blocks that count; least_p: \
             that of blocks that all agree; critical_difference: Nemenyi's, at the significance alpha: mean ranks so far apart differ, all \
             pairs of treatments taken together; nemenyi_test has the pairs. Blocks that lack a treatment are left out, and so is a row \
             with a NULL or NaN. Statistic and p are NULL where every block is one tie; all three and the difference for fewer than two \
             blocks or treatments; no rows give NULL. A block with two values for a treatment is an error. The chi-squared distribution \
             is rough for few blocks: below ten, with fewer than six treatments.",
        )
        .example(
            "SELECT friedman_test(dataset, model, score)['p_value'] AS p_value FROM (VALUES ('cora', 'gcn', 81.5), ('cora', 'mlp', 57.7), \
             ('cora', 'gat', 82.6), ('actor', 'gcn', 28.3), ('actor', 'mlp', 35.4), ('actor', 'gat', 29.2)) t(dataset, model, score)",
        )
        .source("Friedman (1937); Nemenyi (1963); Demsar, Statistical Comparisons of Classifiers over Multiple Data Sets (2006)")
}

fn bind(options: &Options) -> Result<RowsKernel> {
    let alpha = options.number("alpha")?.unwrap_or(0.05);
    if !(alpha > 0.0 && alpha < 1.0) {
        return usage_error(format!("{NAME}: alpha => {alpha}: expected a number between 0 and 1"));
    }
    Ok(Box::new(move |groups, monitor| structs(&ANSWER, &tests(groups, alpha, monitor)?)))
}

fn tests(groups: &GroupedRows, alpha: f64, monitor: &dyn Monitor) -> Result<Vec<Option<Found>>> {
    let rows = Rows::new(NAME, groups.columns())?;
    groups.map(|group| {
        if group.is_empty() {
            return Ok(None);
        }
        let blocks = rows.blocks(group, monitor)?;
        let k = blocks.treatments.len();
        let found = crate::friedman_test(&blocks.table, k.max(1), monitor).map_err(stopped)?;
        let difference = found.least_p.map(|_| critical_difference(k, found.n, alpha));
        Ok(Some((found, k, difference)))
    })
}
