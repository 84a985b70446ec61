//! `regrouping_test(pairs, groups [, max_partitions] [, samples] [, seed])`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{BooleanArray, Float64Array, Int64Array};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::Reservation;
use bonnet_sql::{
    Binding, Body, Call, Function, InputSchema, KeyIndex, OptionValue, Options, Parameter, Run, execution_error,
    kernel_error, require_columns, stopped,
};
use datafusion::common::Result;

use super::input::{Regimes, Table, require_names, require_number};
use crate::RegroupingOptions;

const NAME: &str = "regrouping_test";

/// The registration.
pub fn regrouping_test() -> Function {
    let default = RegroupingOptions::default();
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::relation(
                "pairs",
                "How alike two items are: a, b, value; each pair once, or both ways round with one value.",
            ),
            Parameter::relation("groups", "The group of each item: item, regime; a NULL regime leaves the item out."),
            Parameter::integer("max_partitions", "Up to this many partitions are enumerated; more are sampled.")
                .or(OptionValue::Integer(default.limit as i64)),
            Parameter::integer("samples", "The number of random partitions, where they are sampled.")
                .or(OptionValue::Integer(default.samples as i64)),
            Parameter::seed(),
        ])
        .returns("within, across, statistic, p_value, partitions, exact; one row")
        .description(
            "Are pairs within a group more alike than pairs across groups? Their means, the difference (statistic), and the \
             share of all partitions of the items into groups of the same sizes whose difference is at least as large; the \
             observed partition is one of them. Where there are more than max_partitions, as many random ones as samples says are drawn, \
             exact is false, and p_value is (1 + count) / (1 + samples). A row with a NULL, and one of an item with itself, \
             does not count. One group, or groups of one, have no statistic.",
        )
        .example(
            "SELECT * FROM regrouping_test(
    (SELECT * FROM (VALUES ('a', 'b', 0.9), ('a', 'c', 0.1), ('a', 'd', 0.2), ('b', 'c', 0.0), ('b', 'd', 0.3), ('c', 'd', 0.8)) t(a, b, value)),
    (SELECT * FROM (VALUES ('a', 'flat'), ('b', 'flat'), ('c', 'curved'), ('d', 'curved')) t(item, regime)))",
        )
        .source("CurvBench (arXiv 2606.06397), Sec. 5.1, Observation 1")
}

fn options(options: &Options) -> Result<RegroupingOptions> {
    let default = RegroupingOptions::default();
    let positive = |name, default: u64| {
        Ok::<_, datafusion::common::DataFusionError>(
            options.integer_from(name, 1)?.map_or(default, |value| value as u64),
        )
    };
    Ok(RegroupingOptions {
        limit: positive("max_partitions", default.limit)?,
        samples: positive("samples", default.samples)?,
        seed: options.integer("seed")?.unwrap_or(0) as u64,
    })
}

fn bind(call: &Call) -> Result<Binding> {
    let options = options(&call.options)?;
    let [pairs, groups] = [&call.inputs[0], &call.inputs[1]];
    require_columns(NAME, pairs, &["a", "b", "value"])?;
    require_columns(NAME, groups, &["item", "regime"])?;
    require_names(NAME, pairs, "a")?;
    require_names(NAME, pairs, "b")?;
    require_number(NAME, pairs, "value")?;
    require_names(NAME, groups, "item")?;
    require_names(NAME, groups, "regime")?;
    let number = |name| Field::new(name, DataType::Float64, true);
    let fields = vec![
        number("within"),
        number("across"),
        number("statistic"),
        number("p_value"),
        Field::new("partitions", DataType::Int64, true),
        Field::new("exact", DataType::Boolean, true),
    ];
    let reads = [&["a", "b", "value"][..], &["item", "regime"]];
    let reads = reads.iter().map(|names| names.iter().map(|name| (*name).to_owned()).collect()).collect();
    let inputs = [pairs.clone(), groups.clone()];
    Ok(Binding::new(Arc::new(Schema::new(fields)), reads, move |run| test(&inputs, &options, run)))
}

fn test([pairs, groups]: &[InputSchema; 2], options: &RegroupingOptions, run: &mut Run) -> Result<()> {
    let pairs = Table { input: pairs, batches: run.collect(0)? };
    let groups = Table { input: groups, batches: run.collect(1)? };
    let (a, b, values) = (pairs.keys("a")?, pairs.keys("b")?, pairs.numbers("value")?);
    let _reservation = Reservation::new(run.host(), 64 * values.len()).map_err(stopped)?;
    let items = KeyIndex::new(&[("pairs.a", &a), ("pairs.b", &b), ("groups.item", &groups.keys("item")?)])?;
    let regimes = Regimes::new(NAME, &groups, &items)?;

    // Items that have a regime, numbered anew; each has to be in a pair.
    let mut numbers: Vec<Option<u32>> = vec![None; items.len()];
    let mut labels = Vec::new();
    for (item, regime) in regimes.of_item.iter().enumerate() {
        if let Some(Some(regime)) = regime {
            numbers[item] = Some(labels.len() as u32);
            labels.push(*regime);
        }
    }
    let mut paired = vec![false; labels.len()];
    let mut seen: HashMap<(u32, u32), Option<f64>> = HashMap::new();
    for ((a, b), value) in items.numbers(&a).into_iter().zip(items.numbers(&b)).zip(values) {
        let (Some(a), Some(b)) = (a, b) else { continue };
        regimes.of(NAME, &items, a)?;
        regimes.of(NAME, &items, b)?;
        let (Some(i), Some(j)) = (numbers[a as usize], numbers[b as usize]) else { continue };
        if i == j {
            continue;
        }
        (paired[i as usize], paired[j as usize]) = (true, true);
        if let Some(other) = seen.insert((i.min(j), i.max(j)), value).filter(|other| *other != value) {
            let text = |value: Option<f64>| value.map_or("NULL".to_owned(), |value| value.to_string());
            return Err(execution_error(format!(
                "{NAME}: the pair {}, {} has two values, {} and {}: give one value a pair",
                items.describe(a),
                items.describe(b),
                text(other),
                text(value)
            )));
        }
    }
    if let Some(item) = (0..items.len()).find(|&item| numbers[item].is_some_and(|i| !paired[i as usize])) {
        return Err(execution_error(format!(
            "{NAME}: the item {} is in no pair: leave it out of groups, or give its pairs (a NULL value will do)",
            items.describe(item as u32)
        )));
    }
    let pairs: Vec<(u32, u32, f64)> = seen.into_iter().filter_map(|((a, b), value)| Some((a, b, value?))).collect();
    let host = run.host();
    let found = run
        .install(|| crate::regrouping_test(&labels, &pairs, options, host))
        .map_err(|error| kernel_error(NAME, error))?;
    let number = |value| Arc::new(Float64Array::from(vec![value]));
    run.emit_all(vec![
        number(found.within),
        number(found.across),
        number(found.statistic),
        number(found.p_value),
        Arc::new(Int64Array::from(vec![found.partitions as i64])),
        Arc::new(BooleanArray::from(vec![found.exact])),
    ])
}
