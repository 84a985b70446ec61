//! `order_gap(results, groups [, tolerance] [, unbiased])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, ListArray, StructArray, UInt32Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Fields, Schema};
use bonnet_graph::Reservation;
use bonnet_sql::{
    Binding, Body, Call, Function, InputSchema, KeyColumn, KeyIndex, OptionValue, Options, Parameter, Run,
    execution_error, require_columns, stopped, usage_error,
};
use datafusion::common::Result;

use super::input::{Regimes, Table, require_names, require_number};
use crate::PairGap;

const NAME: &str = "order_gap";
/// Bytes of the answer for a pair of models.
const PAIR_BYTES: usize = 160;

/// The registration.
pub fn order_gap() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::relation("results", "What a model reaches on an item: model, item, value; scores or losses."),
            Parameter::relation("groups", "The group of each item: item, regime; a NULL regime leaves the item out."),
            Parameter::number("tolerance", "Values that differ by less are tied; at least 0.").or(OptionValue::Number(0.0)),
            Parameter::boolean(
                "unbiased",
                false,
                "Whether the two items of a regime are different ones; the gap is then no longer equal to variance.",
            ),
        ])
        .returns(
            "within, across, gap, variance, models, pairs (a list of model_a, model_b, items, regimes, within, across, gap, \
             variance); one row",
        )
        .description(
            "How much more the order of models differs between two regimes than within one. within and across are the \
             probabilities that two items disagree on a pair of models (first better, second better, tied), drawn from one \
             regime or from two; regimes weigh alike. Their difference is the gap, and equals variance: K / (K - 1) times the \
             variance over regimes of the frequencies of the three outcomes. All are means over the pairs of models that have \
             a gap; FROM flatten((SELECT pairs FROM ...), pairs) shows each. A pair is compared on the items on which both \
             models have a value; one regime has no gap.",
        )
        .example(
            "SELECT within, across, gap, variance FROM order_gap(
    (SELECT * FROM (VALUES ('gcn', 'a', 0.9), ('mlp', 'a', 0.7), ('gcn', 'b', 0.8), ('mlp', 'b', 0.6), ('gcn', 'c', 0.5), ('mlp', 'c', 0.6)) t(model, item, value)),
    (SELECT * FROM (VALUES ('a', 'flat'), ('b', 'flat'), ('c', 'curved')) t(item, regime)))",
        )
        .source("CurvBench (arXiv 2606.06397), Theorem 4.2, Eq. 12-15")
}

fn options(options: &Options) -> Result<(f64, bool)> {
    let tolerance = options.number("tolerance")?.unwrap_or(0.0);
    if tolerance.is_nan() || tolerance < 0.0 {
        return usage_error(format!("{NAME}: tolerance => {tolerance}: expected a number of at least 0"));
    }
    Ok((tolerance, options.boolean("unbiased")?.unwrap_or(false)))
}

fn pair_fields(model: DataType) -> Fields {
    let number = |name| Field::new(name, DataType::Float64, true);
    let count = |name| Field::new(name, DataType::Int64, true);
    Fields::from(vec![
        Field::new("model_a", model.clone(), true),
        Field::new("model_b", model, true),
        count("items"),
        count("regimes"),
        number("within"),
        number("across"),
        number("gap"),
        number("variance"),
    ])
}

fn bind(call: &Call) -> Result<Binding> {
    let options = options(&call.options)?;
    let [results, groups] = [&call.inputs[0], &call.inputs[1]];
    require_columns(NAME, results, &["model", "item", "value"])?;
    require_columns(NAME, groups, &["item", "regime"])?;
    require_names(NAME, results, "model")?;
    require_names(NAME, results, "item")?;
    require_number(NAME, results, "value")?;
    require_names(NAME, groups, "item")?;
    require_names(NAME, groups, "regime")?;
    let model = results.schema.field_with_name("model")?.data_type();
    let model = KeyColumn::normal_type(model).unwrap_or(DataType::Utf8);
    let number = |name| Field::new(name, DataType::Float64, true);
    let pair = Field::new_list_field(DataType::Struct(pair_fields(model)), true);
    let fields = vec![
        number("within"),
        number("across"),
        number("gap"),
        number("variance"),
        Field::new("models", DataType::Int64, true),
        Field::new("pairs", DataType::List(Arc::new(pair)), true),
    ];
    let reads = [&["model", "item", "value"][..], &["item", "regime"]];
    let reads = reads.iter().map(|names| names.iter().map(|name| (*name).to_owned()).collect()).collect();
    let inputs = [results.clone(), groups.clone()];
    Ok(Binding::new(Arc::new(Schema::new(fields)), reads, move |run| gap(&inputs, options, run)))
}

fn gap([results, groups]: &[InputSchema; 2], (tolerance, unbiased): (f64, bool), run: &mut Run) -> Result<()> {
    let results = Table { input: results, batches: run.collect(0)? };
    let groups = Table { input: groups, batches: run.collect(1)? };
    let (model, item, value) = (results.keys("model")?, results.keys("item")?, results.numbers("value")?);
    let models = KeyIndex::new(&[("results.model", &model)])?;
    let items = KeyIndex::new(&[("results.item", &item), ("groups.item", &groups.keys("item")?)])?;
    let regimes = Regimes::new(NAME, &groups, &items)?;
    let mut columns: Vec<Option<usize>> = vec![None; items.len()];
    let mut labels = Vec::new();
    for (i, regime) in regimes.of_item.iter().enumerate() {
        if let Some(Some(regime)) = regime {
            columns[i] = Some(labels.len());
            labels.push(*regime);
        }
    }
    let cells = models.len().saturating_mul(labels.len());
    let pairs = models.len().saturating_mul(models.len().saturating_sub(1)) / 2;
    let bytes = cells.saturating_mul(24).saturating_add(pairs.saturating_mul(PAIR_BYTES));
    let _reservation = Reservation::new(run.host(), bytes).map_err(stopped)?;
    let mut values: Vec<Option<f64>> = vec![None; cells];
    let mut given = vec![false; cells];
    for ((m, i), value) in models.numbers(&model).into_iter().zip(items.numbers(&item)).zip(value) {
        let (Some(m), Some(i)) = (m, i) else { continue };
        regimes.of(NAME, &items, i)?;
        let Some(column) = columns[i as usize] else { continue };
        if let Some(value) = value.filter(|value| value.is_infinite()) {
            return Err(execution_error(format!(
                "{NAME}: the value of {} on {} is {value}: values are finite, or NULL where there is none",
                models.describe(m),
                items.describe(i)
            )));
        }
        let cell = m as usize * labels.len() + column;
        if std::mem::replace(&mut given[cell], true) {
            return Err(execution_error(format!(
                "{NAME}: {} has two values on {}: average them first, GROUP BY model, item",
                models.describe(m),
                items.describe(i)
            )));
        }
        values[cell] = value;
    }
    let host = run.host();
    let found = run.install(|| crate::order_gap(&values, &labels, tolerance, unbiased, host)).map_err(stopped)?;
    let number = |value| Arc::new(Float64Array::from(vec![value]));
    let pairs = pair_list(&models, &found.pairs)?;
    run.emit_all(vec![
        number(found.within),
        number(found.across),
        number(found.gap),
        number(found.variance),
        Arc::new(Int64Array::from(vec![models.len() as i64])),
        pairs,
    ])
}

fn pair_list(models: &KeyIndex, pairs: &[PairGap]) -> Result<ArrayRef> {
    let names = models.array();
    let named = |of: fn(&PairGap) -> u32| take(&names, &pairs.iter().map(of).collect::<UInt32Array>(), None);
    let count = |of: fn(&PairGap) -> u32| -> ArrayRef {
        Arc::new(pairs.iter().map(|pair| i64::from(of(pair))).collect::<Int64Array>())
    };
    let number =
        |of: fn(&PairGap) -> Option<f64>| -> ArrayRef { Arc::new(pairs.iter().map(of).collect::<Float64Array>()) };
    let fields = pair_fields(names.data_type().clone());
    let rows = StructArray::try_new(
        fields.clone(),
        vec![
            named(|pair| pair.a)?,
            named(|pair| pair.b)?,
            count(|pair| pair.items),
            count(|pair| pair.groups),
            number(|pair| pair.within),
            number(|pair| pair.across),
            number(|pair| pair.gap),
            number(|pair| pair.variance),
        ],
        None,
    )?;
    let field = Arc::new(Field::new_list_field(DataType::Struct(fields), true));
    Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::from_lengths([pairs.len()]), Arc::new(rows), None)?))
}
