//! `kernel_two_sample_test(kernels, samples [, unbiased => false] [, permutations => 1000] [, seed => 0])`.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_sql::{
    Binding, Body, Call, Function, KeyColumn, KeyIndex, OptionValue, Parameter, Run, execution_error, kernel_error,
    require_columns, usage_error, whole_column,
};
use datafusion::common::Result;

use super::pair_matrix::{PairKind, PairMatrix, pair_schema};

const NAME: &str = "kernel_two_sample_test";

/// The registration.
pub(super) fn kernel_two_sample_test() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::relation("kernels", "The kernel of all pairs of items: a, b, kernel; each pair once or both ways, an item with itself too."),
            Parameter::relation("samples", "The sample of each item: item, sample; two different values in all."),
            Parameter::boolean("unbiased", false, "Whether to leave out the pairs of an item with itself."),
            Parameter::integer("permutations", "The number of random regroupings.").or(OptionValue::Integer(1000)),
            Parameter::seed(),
        ])
        .returns("mmd, p_value, share_above")
        .description(
            "Whether two samples differ, by a kernel of all pairs of items, such as graphs. mmd: the squared maximum mean discrepancy; \
             p_value: (1 + the number of regroupings of the same sizes with at least that) / (1 + permutations); share_above: the share of \
             regroupings with a larger one. One row; none without kernels. O(n^2) a regrouping.",
        )
        .example(
            "WITH graphs AS (SELECT src % 8 AS graph_id, src, dst FROM karate.edges) SELECT p_value FROM \
             kernel_two_sample_test((SELECT * FROM wl_subtree_kernel(graphs, rounds => 1)), (SELECT DISTINCT graph_id AS item, graph_id \
             % 2 AS sample FROM graphs), permutations => 99)",
        )
        .source("Gretton et al., A Kernel Two-Sample Test (JMLR 2012), Eq. 3 and 5; Phipson and Smyth (2010)")
}

const KIND: PairKind = PairKind::Kernel { positive: false, diagonal: true };

fn bind(call: &Call) -> Result<Binding> {
    pair_schema(NAME, &call.inputs[0], KIND)?;
    require_columns(NAME, &call.inputs[1], &["item", "sample"])?;
    let sample = call.inputs[1].schema.field_with_name("sample")?.data_type();
    if sample.is_nested() {
        return usage_error(format!("{NAME}: sample is {sample}, expected integers or text"));
    }
    let unbiased = call.options.boolean("unbiased")?.unwrap_or(false);
    let permutations = call.options.integer_from("permutations", 1)?.unwrap_or(1000) as usize;
    let seed = call.options.integer("seed")?.unwrap_or(0) as u64;
    let fields = ["mmd", "p_value", "share_above"].map(|name| Field::new(name, DataType::Float64, true));
    let reads = [["a", "b", "kernel"].as_slice(), &["item", "sample"]]
        .map(|columns| columns.iter().map(|&column| column.to_owned()).collect())
        .to_vec();
    Ok(Binding::new(Arc::new(Schema::new(fields.to_vec())), reads, move |run| {
        test((unbiased, permutations, seed), run)
    }))
}

fn test((unbiased, permutations, seed): (bool, usize, u64), run: &mut Run) -> Result<()> {
    let Some(PairMatrix { items, values }) = PairMatrix::collect(NAME, KIND, run)? else { return Ok(()) };
    let in_first = in_first_sample(&items, run)?;
    let least = if unbiased { 2 } else { 1 };
    let first = in_first.iter().filter(|&&first| first).count();
    let small = first.min(in_first.len() - first);
    if small < least {
        return Err(execution_error(format!(
            "{NAME}: a sample has {small} items; {least} are needed{}",
            if unbiased { " where unbiased => true" } else { "" }
        )));
    }
    let host = run.host();
    let found = run
        .install(|| crate::kernel_two_sample_test(&values, &in_first, unbiased, permutations, seed, host))
        .map_err(|error| kernel_error(NAME, error))?;
    let column = |value: f64| -> ArrayRef { Arc::new(Float64Array::from(vec![value])) };
    run.emit_all(vec![column(found.mmd), column(found.p_value), column(found.share_above)])
}

/// Which items are of the sample whose name comes first.
fn in_first_sample(items: &KeyIndex, run: &mut Run) -> Result<Vec<bool>> {
    let batches = run.collect(1)?;
    let column = |name: &str| -> Result<ArrayRef> {
        Ok(whole_column(&batches, name)?.unwrap_or_else(|| new_null_array(&DataType::Null, 0)))
    };
    let keys = KeyColumn::new(&column("item")?, "samples.item")?;
    let samples = cast(&column("sample")?, &DataType::Utf8)?;
    let samples = samples.as_string::<i32>();
    let mut of_item: Vec<Option<&str>> = vec![None; items.len()];
    let numbers = items.numbers(&keys);
    if let Some(item) = items.repeated(&numbers) {
        return Err(execution_error(format!("{NAME}: samples has the item {item} twice")));
    }
    for (row, number) in numbers.into_iter().enumerate() {
        let Some(number) = number else {
            return Err(execution_error(match keys.is_valid(row) {
                true => format!("{NAME}: samples has the item {}, which kernels lacks", keys.describe(row)),
                false => format!("{NAME}: samples has a row whose item is NULL"),
            }));
        };
        if samples.is_null(row) {
            return Err(execution_error(format!("{NAME}: the sample of {} is NULL", keys.describe(row))));
        }
        of_item[number as usize] = Some(samples.value(row));
    }
    if let Some(missing) = of_item.iter().position(Option::is_none) {
        let item = items.describe(missing as u32);
        return Err(execution_error(format!("{NAME}: samples lacks the item {item}, which kernels has")));
    }
    let names: BTreeSet<&str> = of_item.iter().flatten().copied().collect();
    if names.len() != 2 {
        let shown = names.iter().take(3).copied().collect::<Vec<_>>().join("', '");
        return Err(execution_error(format!(
            "{NAME}: two samples are compared, and there {} '{shown}'; choose two with WHERE, or make them two by CASE",
            if names.len() == 1 { "is only" } else { "are" }
        )));
    }
    let first = names.first().copied();
    Ok(of_item.into_iter().map(|sample| sample == first).collect())
}
