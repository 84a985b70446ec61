//! `permutation_test(diagram, sample)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, StringArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Function, GroupedRows, OptionValue, Options, Parameter, RowsKernel, execution_error, rows_function, stopped,
    usage_error,
};
use datafusion::common::Result;

use super::betti_curve::diagram_parameter;
use super::columns::{Diagrams, named_exponent};
use crate::{Exponent, PermutationTest};

const NAME: &str = "permutation_test";

/// The registration.
pub(super) fn permutation_test() -> Function {
    rows_function(NAME, DataType::Struct(fields()), bind).heavy()
        .parameters([
            diagram_parameter("diagram"),
            Parameter::column("sample", "The sample that the diagram is of: two different values in all."),
            Parameter::number_or_text("p", "The exponent of the distance, at least 1, or 'inf' for the supremum.")
                .or(OptionValue::Number(2.0)),
            Parameter::integer("permutations", "The number of random regroupings.").or(OptionValue::Integer(1000)),
            Parameter::seed(),
        ])
        .returns("{distance, p_value, share_above}")
        .description(
            "Whether two samples of diagrams differ. distance: the L^p distance of their mean landscapes, infinite deaths \
             cut as persistence_landscape does, summed over the dimensions. p_value: (1 + the number of regroupings of the \
             same sizes with at least that distance) / (1 + permutations); share_above: the share of regroupings with a \
             larger distance. Rows with a NULL do not count; no rows give NULL.",
        )
        .example(
            "WITH graphs AS (SELECT src % 8 AS id, persistence_diagram(src, dst, dst - src) AS diagram FROM karate.edges \
             GROUP BY src % 8) SELECT permutation_test(diagram, id % 2, permutations => 100)['p_value'] AS p_value FROM graphs",
        )
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 4.6")
}

fn fields() -> Fields {
    ["distance", "p_value", "share_above"].into_iter().map(|name| Field::new(name, DataType::Float64, true)).collect()
}

fn bind(options: &Options) -> Result<RowsKernel> {
    let p = match options.get("p") {
        Some(OptionValue::Number(value)) => match Exponent::new(*value) {
            Some(p) => p,
            None => return usage_error(format!("{NAME}: p => {value}: expected at least 1, or 'inf'")),
        },
        Some(OptionValue::Text(text)) => named_exponent(NAME, text)?,
        _ => return usage_error(format!("{NAME}: p is NULL: expected a number of at least 1, or 'inf'")),
    };
    let permutations = options.integer_from("permutations", 1)?.unwrap_or(1000) as usize;
    let seed = options.integer("seed")?.unwrap_or(0) as u64;
    Ok(Box::new(move |rows, monitor| tests(rows, p, permutations, seed, monitor)))
}

/// A test a group; NULL without rows.
fn tests(groups: &GroupedRows, p: Exponent, permutations: usize, seed: u64, monitor: &dyn Monitor) -> Result<ArrayRef> {
    let columns = groups.columns();
    let diagrams = Diagrams::new(&columns[0], NAME, "diagram")?;
    if columns[1].data_type().is_nested() {
        return usage_error(format!("{NAME}: sample is {}, expected integers or text", columns[1].data_type()));
    }
    let samples = cast(&columns[1], &DataType::Utf8)?;
    let samples = samples.as_string::<i32>();
    let tests = groups.map(|group| {
        if group.is_empty() {
            return Ok(None);
        }
        let _reservation = Reservation::new(monitor, diagrams.bytes(group.clone())).map_err(stopped)?;
        let in_first = in_first_sample(&samples.slice(group.start, group.len()))?;
        let read = group.map(|row| Ok(diagrams.row(row)?.unwrap_or_default())).collect::<Result<_>>()?;
        crate::permutation_test(read, &in_first, p, permutations, seed, monitor).map(Some).map_err(stopped)
    })?;
    let column = |number: fn(&PermutationTest) -> f64| -> ArrayRef {
        Arc::new(tests.iter().map(|test| test.as_ref().map(number)).collect::<Float64Array>())
    };
    let columns = vec![column(|test| test.distance), column(|test| test.p_value), column(|test| test.share_above)];
    let there = NullBuffer::from_iter(tests.iter().map(Option::is_some));
    Ok(Arc::new(StructArray::try_new(fields(), columns, Some(there))?))
}

/// Which rows are of the sample whose name comes first.
fn in_first_sample(names: &StringArray) -> Result<Vec<bool>> {
    let names: Vec<&str> = names.iter().map(Option::unwrap_or_default).collect();
    let a = names[0];
    let Some(&b) = names.iter().find(|&&name| name != a) else {
        return Err(execution_error(format!(
            "{NAME}: all {} diagrams are of the sample {a}: a test needs two samples",
            names.len()
        )));
    };
    if let Some(c) = names.iter().find(|&&name| name != a && name != b) {
        return Err(execution_error(format!(
            "{NAME}: sample has more than two values: {a}, {b}, {c}. Choose two with WHERE, or make them two by CASE"
        )));
    }
    let first = a.min(b);
    Ok(names.iter().map(|&name| name == first).collect())
}
