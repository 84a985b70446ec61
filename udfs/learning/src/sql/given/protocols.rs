//! Protocols of jobs: the table that ships with the engine as rows of SQL, the relation `protocols`, and what a job takes of them.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bonnet_sql::{Call, OptionValue, Parameter, usage_error};
use datafusion::common::{Result, ScalarValue};

use crate::protocols::{AUDIT_COLUMNS, FACTS, Protocol, SettingType, audit, choose, protocols, setting_type, settings};
use crate::sql::splits::SplitChoice;
use crate::{Job, Value};

/// The name of the relation among the parameters.
pub(in crate::sql) const PROTOCOLS: &str = "protocols";

/// The column of the jobs, or the option of the call, that names a protocol.
pub(in crate::sql) const PROTOCOL: &str = "protocol";

/// The column of `train` that says where a job has left its protocol.
pub(in crate::sql) const DEPARTURES: &str = "departures";

/// The parameter of every function over jobs.
pub(in crate::sql) fn parameter() -> Parameter {
    Parameter::relation(
        PROTOCOLS,
        "Protocols of your own, which the column protocol of the jobs may name, beside those of bonnet.protocols and before them: protocol \
         (the name), model, dataset and task (NULL is any), and a column for each option that they state, as bonnet.protocols has them; \
         its other columns may stand there, too.",
    )
    .optional()
}

/// Checks the columns of the relation.
pub(in crate::sql) fn check(function: &str, schema: &SchemaRef) -> Result<Vec<String>> {
    for name in [PROTOCOL, "model"] {
        if schema.field_with_name(name).is_err() {
            return usage_error(format!(
                "{function}: protocols has no column {name}; it needs protocol and model, and options that are stated, as in \
                 {function}(jobs, protocols => (SELECT 'mine' AS protocol, 'gcn' AS model, 0.05 AS lr))"
            ));
        }
    }
    for field in schema.fields() {
        let name = field.name().as_str();
        if !FACTS.contains(&name) && setting_type(name).is_none() {
            return usage_error(format!(
                "{function}: protocols has a column {name}, which is no option of a run and none of {}: rename or drop it",
                FACTS.join(", ")
            ));
        }
    }
    Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
}

/// The protocol that a call names for all of its jobs; none where they name theirs.
pub(in crate::sql) fn of_all(call: &Call) -> Option<&str> {
    match call.options.get(PROTOCOL) {
        Some(OptionValue::Text(name)) => Some(name),
        _ => None,
    }
}

/// Whether a call names protocols, for all of its jobs or in a column of theirs.
pub(in crate::sql) fn is_named(call: &Call) -> bool {
    of_all(call).is_some() || call.inputs[0].schema.field_with_name(PROTOCOL).is_ok()
}

/// Whether protocols may name the models of jobs that have no column for them.
pub(in crate::sql) fn names_models(call: &Call) -> bool {
    is_named(call) && call.inputs[0].schema.field_with_name("model").is_err()
}

/// The rows of the relation.
pub(in crate::sql) fn read(batches: &[RecordBatch]) -> Result<Vec<Protocol>> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let mut protocol = Protocol::default();
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                let value = OptionValue::from_scalar(&ScalarValue::try_from_array(column, row)?);
                protocol.set(field.name(), value.and_then(|value| value_of(&value)).unwrap_or_default());
            }
            rows.push(protocol);
        }
    }
    Ok(rows)
}

/// A value of SQL as that of an option; none for NULL, and for what no option takes.
pub(in crate::sql) fn value_of(value: &OptionValue) -> Option<Value> {
    Some(match value {
        OptionValue::Integer(value) => Value::Integer(*value),
        OptionValue::Number(value) => Value::Real(*value),
        OptionValue::Text(value) => Value::Text(value.clone()),
        OptionValue::Boolean(value) => Value::Text(value.to_string()),
        OptionValue::List(values) => {
            let word = |value: &OptionValue| match value {
                OptionValue::Text(text) => text.clone(),
                other => other.to_string(),
            };
            Value::Text(values.iter().map(word).collect::<Vec<_>>().join(","))
        }
        _ => return None,
    })
}

/// Fills what a job does not say from the protocol of a name, those of `own` first; gives in words what the job says otherwise.
///
/// # Errors
/// If there is no such protocol, or none of the job's model, task or graph.
pub(in crate::sql) fn follow(
    name: &str,
    own: &[Protocol],
    graph: Option<&str>,
    job: &mut Job,
    choice: &mut SplitChoice,
) -> std::result::Result<Option<String>, String> {
    let of = |rows: &'_ [Protocol], job: &Job| {
        let task = match job.get("task") {
            Value::Text(task) => Some(task.clone()),
            _ => None,
        };
        let model = Some(job.model.as_str()).filter(|model| !model.is_empty());
        choose(rows, name, graph, model, task.as_deref()).cloned()
    };
    let is_own = |row: &Protocol| {
        let is = |named: &str| named.eq_ignore_ascii_case(row.name());
        is(name) || name.rsplit_once('/').is_some_and(|(named, _)| is(named))
    };
    let protocol = match own.iter().any(is_own) {
        true => of(own, job),
        false => of(protocols(), job),
    };
    let protocol = protocol.map_err(|error| error.to_string())?;
    if job.model.is_empty() {
        protocol.fact("model").unwrap_or_default().clone_into(&mut job.model);
    }
    if let (true, Some(task)) = (job.get("task").is_null(), protocol.fact("task")) {
        job.set("task", task);
    }
    let mut departures = Vec::new();
    for (name, stated) in &protocol.settings {
        let given = match name.as_str() {
            "split_scheme" => choice.scheme.clone().map_or(Value::Null, Value::Text),
            "split" => choice.split.map_or(Value::Null, Value::Integer),
            name => job.get(name).clone(),
        };
        if !given.is_null() {
            departures.extend((!same(&given, stated)).then(|| format!("{name} {given} (protocol: {stated})")));
            continue;
        }
        match (name.as_str(), stated) {
            ("split_scheme", stated) if choice.pairs.is_some() => {
                departures.push(format!("pairs (protocol: {stated})"));
            }
            ("split", _) if choice.pairs.is_some() => {}
            ("split_scheme", stated) => choice.scheme = Some(stated.to_string()),
            // The number of a split belongs to its scheme.
            ("split", Value::Integer(number)) if follows_scheme(&protocol, choice) => choice.split = Some(*number),
            ("split", _) => {}
            (name, stated) => job.set(name, stated.clone()),
        }
    }
    Ok(Some(departures.join(", ")).filter(|text| !text.is_empty()))
}

/// Whether the scheme of a split is the one that the protocol states.
fn follows_scheme(protocol: &Protocol, choice: &SplitChoice) -> bool {
    match (&choice.scheme, protocol.settings.get("split_scheme")) {
        (None, _) => true,
        (Some(given), Some(stated)) => *given == stated.to_string(),
        (Some(_), None) => false,
    }
}

/// Whether two values are one: 1 and 1.0 are.
fn same(one: &Value, other: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Integer(value) => Some(*value as f64),
        Value::Real(value) => Some(*value),
        Value::Null | Value::Text(_) => None,
    };
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one.to_string() == other.to_string(),
    }
}

fn field((name, kind): (&str, SettingType)) -> Field {
    let data_type = match kind {
        SettingType::Integer => DataType::Int64,
        SettingType::Real => DataType::Float64,
        SettingType::Text => DataType::Utf8,
    };
    Field::new(name, data_type, true)
}

fn column<'a>(kind: SettingType, values: impl Iterator<Item = &'a Value>) -> ArrayRef {
    match kind {
        SettingType::Integer => Arc::new(Int64Array::from_iter(values.map(|value| match value {
            Value::Integer(value) => Some(*value),
            _ => None,
        }))),
        SettingType::Real => Arc::new(Float64Array::from_iter(values.map(|value| match value {
            Value::Integer(value) => Some(*value as f64),
            Value::Real(value) => Some(*value),
            _ => None,
        }))),
        SettingType::Text => Arc::new(StringArray::from_iter(values.map(|value| match value {
            Value::Null => None,
            value => Some(value.to_string()),
        }))),
    }
}

/// The rows of `bonnet.protocols`: facts, then a column for each option that one of them states.
///
/// # Errors
/// None that a column of these types could have.
pub fn protocol_rows() -> Result<RecordBatch> {
    let facts = FACTS.map(|name| field((name, SettingType::Text)));
    let fields: Vec<Field> = facts.into_iter().chain(settings().iter().copied().map(field)).collect();
    let rows = protocols();
    let mut columns: Vec<ArrayRef> = Vec::new();
    for name in FACTS {
        columns.push(Arc::new(rows.iter().map(|row| row.fact(name)).collect::<StringArray>()));
    }
    for (name, kind) in settings() {
        columns.push(column(*kind, rows.iter().map(|row| row.settings.get(*name).unwrap_or(&Value::Null))));
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// The rows of `bonnet.audit`: printed cells beside the authors' logs and our runs.
///
/// # Errors
/// None that a column of these types could have.
pub fn audit_rows() -> Result<RecordBatch> {
    let truth = |name: &str| name == "agrees";
    let fields: Vec<Field> = AUDIT_COLUMNS
        .iter()
        .map(|&(name, kind)| if truth(name) { Field::new(name, DataType::Boolean, true) } else { field((name, kind)) })
        .collect();
    let of = |&(name, kind): &(&str, SettingType)| -> Result<ArrayRef> {
        let values = column(kind, audit().iter().map(|row| row.get(name)));
        Ok(if truth(name) { arrow::compute::cast(&values, &DataType::Boolean)? } else { values })
    };
    let columns = AUDIT_COLUMNS.iter().map(of).collect::<Result<Vec<_>>>()?;
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}
