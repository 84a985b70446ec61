//! The graphs of a job of several: its column `graphs`.

use arrow::datatypes::DataType;
use bonnet_sql::{Call, OptionValue, usage_error};
use datafusion::common::Result;

/// The column, or the option, that names the graphs.
pub(in crate::sql) const GRAPHS: &str = "graphs";

/// What jobs of one graph say, and what pre-training does not read: neither labels nor splits nor parameters.
const OF_ONE_GRAPH: [&str; 14] = [
    "graph",
    "task",
    "label",
    "target",
    "split",
    "split_scheme",
    "draw",
    "protocol",
    "load",
    "adapt",
    "reduced_on",
    "select_by",
    "class_weights",
    "loss",
];

/// Checks what a call of a function over sets of graphs says of them.
pub(in crate::sql) fn check(function: &str, call: &Call) -> Result<()> {
    let schema = &call.inputs[0].schema;
    let is_given = |name: &str| schema.field_with_name(name).is_ok() || call.options.get(name).is_some();
    if let Some(name) = OF_ONE_GRAPH.into_iter().find(|name| is_given(name)) {
        return usage_error(format!(
            "{function}: {name} means something to jobs of train, not here, where no label and no split is read: leave it out"
        ));
    }
    let text = |data_type: &DataType| data_type.is_string() || *data_type == DataType::Null;
    let fits = match (schema.field_with_name(GRAPHS), call.options.get(GRAPHS)) {
        (Ok(field), None) => match field.data_type() {
            DataType::List(item) | DataType::LargeList(item) => text(item.data_type()),
            of_one => text(of_one),
        },
        (Ok(_), Some(_)) => {
            return usage_error(format!(
                "{function}: {GRAPHS} is an option and a column of the jobs: keep one of them"
            ));
        }
        (Err(_), Some(OptionValue::Text(_) | OptionValue::List(_))) => true,
        (Err(_), _) => false,
    };
    if !fits {
        return usage_error(format!(
            "{function}: the jobs need {GRAPHS}, a list of names of graphs, as in {function}((SELECT ['cora', 'citeseer'] AS \
             {GRAPHS}, 'mdgpt' AS model), save => 'encoders')"
        ));
    }
    if !is_given("save") {
        return usage_error(format!("{function}: the jobs need save, the folder for their encoders"));
    }
    Ok(())
}

/// The names in a value of the column; one that is NULL in a list is a name that no graph has.
pub(in crate::sql) fn names(value: &OptionValue) -> Vec<String> {
    let name = |value: &OptionValue| match value {
        OptionValue::Text(name) => name.clone(),
        other => other.to_string(),
    };
    match value {
        OptionValue::Null => Vec::new(),
        OptionValue::List(values) => values.iter().map(name).collect(),
        one => vec![name(one)],
    }
}
