//! `variance_decomposition(results, value, first, second [, block] [, normalize])`.

use std::sync::Arc;

use arrow::array::{Float64Array, Int64Array};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::Reservation;
use bonnet_sql::{
    Binding, Body, Call, Function, InputSchema, KeyIndex, OptionValue, Options, Parameter, Run, execution_error,
    require_columns, stopped, usage_error,
};
use datafusion::common::Result;

use super::input::{Table, require_names, require_number};
use crate::{Normalization, Observation};

const NAME: &str = "variance_decomposition";

/// The registration.
pub fn variance_decomposition() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::relation("results", "A score a row, with the columns that the next arguments name."),
            Parameter::name("value", "The column of scores."),
            Parameter::name("first", "The column of the first factor, such as a model's family."),
            Parameter::name("second", "The column of the second factor, such as the regime."),
            Parameter::name("block", "The column within whose values scores are normalised, such as the data set.")
                .optional(),
            Parameter::text(
                "normalize",
                "How scores of a block are normalised: 'zscore' (population deviation), 'min_max', 'rank' or 'center'.",
            )
            .or(OptionValue::Text("zscore".to_owned())),
        ])
        .returns("observations, r2_first, r2_second, r2_additive, r2_interaction, interaction_share; one row")
        .description(
            "How much of the variance of scores two factors explain: each alone, the sum of their effects, and an effect of \
             each combination (least squares, unbalanced tables too; r2 is the explained share). interaction_share is the part \
             of what r2_interaction explains that r2_additive does not. With block, scores are normalised within each block \
             first; without, they are taken as they are. A row with a NULL does not count; NULLs where all scores are equal.",
        )
        .example(
            "SELECT * FROM variance_decomposition(
    (SELECT * FROM (VALUES ('flat', 'tree', 1.0), ('flat', 'grid', 3.0), ('curved', 'tree', 4.0), ('curved', 'grid', 2.0)) t(family, regime, score)),
    score, family, regime)",
        )
        .source("CurvBench (arXiv 2606.06397), Sec. 5.1, Observation 2; two-way analysis of variance")
}

/// The columns that a call names.
struct Names {
    value: String,
    factors: [String; 2],
    block: Option<String>,
    normalization: Option<Normalization>,
}

fn names(options: &Options) -> Result<Names> {
    let name = |parameter: &str| match options.text(parameter)? {
        Some(name) => Ok(name.to_owned()),
        None => usage_error(format!("{NAME}: {parameter} is missing: name a column of results")),
    };
    let block = options.text("block")?.map(str::to_owned);
    let how = options.text("normalize")?.unwrap_or("zscore");
    let Some((_, normalization)) = Normalization::ALL.into_iter().find(|(name, _)| *name == how) else {
        let known = Normalization::ALL.map(|(name, _)| format!("'{name}'")).join(", ");
        return usage_error(format!("{NAME}: normalize => '{how}': expected one of {known}"));
    };
    Ok(Names {
        value: name("value")?,
        factors: [name("first")?, name("second")?],
        normalization: block.is_some().then_some(normalization),
        block,
    })
}

fn bind(call: &Call) -> Result<Binding> {
    let names = names(&call.options)?;
    let results = &call.inputs[0];
    let named: Vec<&str> = names.factors.iter().chain(&names.block).map(String::as_str).collect();
    let mut reads = vec![names.value.as_str()];
    reads.extend(named.iter().filter(|name| **name != names.value));
    require_columns(NAME, results, &reads)?;
    require_number(NAME, results, &names.value)?;
    named.iter().try_for_each(|name| require_names(NAME, results, name))?;
    let number = |name| Field::new(name, DataType::Float64, true);
    let fields = vec![
        Field::new("observations", DataType::Int64, true),
        number("r2_first"),
        number("r2_second"),
        number("r2_additive"),
        number("r2_interaction"),
        number("interaction_share"),
    ];
    let mut reads: Vec<String> = reads.into_iter().map(str::to_owned).collect();
    reads.sort();
    reads.dedup();
    let (schema, results) = (Arc::new(Schema::new(fields)), results.clone());
    Ok(Binding::new(schema, vec![reads], move |run| decompose(&results, &names, run)))
}

fn decompose(results: &InputSchema, names: &Names, run: &mut Run) -> Result<()> {
    let results = Table { input: results, batches: run.collect(0)? };
    let values = results.numbers(&names.value)?;
    let _reservation = Reservation::new(run.host(), 64 * values.len()).map_err(stopped)?;
    let numbers = |name: &str| -> Result<Vec<Option<u32>>> {
        let keys = results.keys(name)?;
        Ok(KeyIndex::new(&[(name, &keys)])?.numbers(&keys))
    };
    let [first, second] = [numbers(&names.factors[0])?, numbers(&names.factors[1])?];
    let block = match &names.block {
        Some(block) => numbers(block)?,
        None => vec![Some(0); values.len()],
    };
    let mut observations = Vec::with_capacity(values.len());
    for (row, value) in values.into_iter().enumerate() {
        if let (Some(value), Some(first), Some(second), Some(block)) = (value, first[row], second[row], block[row]) {
            if value.is_infinite() {
                return Err(execution_error(format!(
                    "{NAME}: {} is {value} in a row: scores are finite, or NULL where there is none",
                    names.value
                )));
            }
            observations.push(Observation { value, first, second, block });
        }
    }
    let host = run.host();
    let found =
        run.install(|| crate::variance_decomposition(observations, names.normalization, host)).map_err(stopped)?;
    let number = |value| Arc::new(Float64Array::from(vec![value]));
    run.emit_all(vec![
        Arc::new(Int64Array::from(vec![found.observations as i64])),
        number(found.first),
        number(found.second),
        number(found.additive),
        number(found.interaction),
        number(found.interaction_share()),
    ])
}
