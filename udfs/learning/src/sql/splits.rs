//! The split of a job: which one it chooses, and those that a graph stores.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use bonnet_graph::Stopped;
use bonnet_sql::{KeyColumn, KeyIndex, Run, TableColumns, execution_error};
use datafusion::catalog::TableProvider;
use datafusion::common::Result;

use super::given::pairs::PairRows;
use super::provenance::ContentHash;
use crate::{Part, Split, SplitError, SplitScheme};

/// The scheme of a job that names none, where the graph stores no splits.
pub(super) const DRAWN: &str = "random:60/20/20";

/// The split that a job chooses.
#[derive(Debug, Clone, Default)]
pub(super) struct SplitChoice {
    pub scheme: Option<String>,
    pub split: Option<i64>,
    /// The pairs of link prediction, where the call gives them.
    pub pairs: Option<Arc<PairRows>>,
}

impl SplitChoice {
    /// Whether a draw of this number is one of the scheme.
    ///
    /// # Errors
    /// If the scheme is stored or given by times, or there is none.
    pub fn drawn(&self, draw: i64) -> std::result::Result<(), String> {
        let scheme = self.scheme.as_deref().map(str::parse::<SplitScheme>);
        match scheme {
            Some(Ok(scheme)) if scheme.is_drawn() && self.pairs.is_none() => Ok(()),
            // A scheme that is none says so by itself.
            Some(Err(_)) => Ok(()),
            _ => Err(format!("draw is {draw}, and the split is not drawn: name a split_scheme such as kshot:5/all")),
        }
    }

    /// The number of items that a class has to have, where smaller ones are left out.
    pub fn least_items(&self) -> Option<usize> {
        self.scheme.as_deref()?.parse::<SplitScheme>().ok()?.least_items()
    }
}

/// The rows of a stored split.
#[derive(Debug, Default)]
pub(super) struct StoredSplit {
    pub train: Vec<u32>,
    pub val: Vec<u32>,
    pub test: Vec<u32>,
}

impl StoredSplit {
    /// The bytes that it holds.
    pub fn bytes(&self) -> usize {
        size_of::<u32>() * (self.train.len() + self.val.len() + self.test.len())
    }
}

/// Why a job has no items.
#[derive(Debug)]
pub(super) enum ItemsError {
    /// An error of the graph or the job.
    Error(String),
    /// The host.
    Stopped(Stopped),
}

impl From<String> for ItemsError {
    fn from(text: String) -> Self {
        Self::Error(text)
    }
}

/// The columns of the stored splits of items, whose column is called `item`.
pub(super) fn split_columns<'a>(table: &'a Arc<dyn TableProvider>, item: &'a str) -> TableColumns<'a> {
    TableColumns { table, name: "splits", columns: vec!["split", item, "part"] }
}

/// The stored splits of the items, whose column is called `item`.
pub(super) fn read_splits(
    run: &Run,
    table: &Arc<dyn TableProvider>,
    item: &str,
    keys: &KeyIndex,
    content: &mut ContentHash,
) -> Result<BTreeMap<i64, StoredSplit>> {
    let columns = run.read_columns(&split_columns(table, item))?;
    content.add("splits", &columns)?;
    let number = split_numbers(&columns[0])?;
    let items = keys.numbers(&KeyColumn::new(&columns[1], &format!("splits.{item}"))?);
    let part = cast(&columns[2], &DataType::Utf8)?;
    let mut splits: BTreeMap<i64, StoredSplit> = BTreeMap::new();
    for ((number, item), part) in number.as_primitive::<Int64Type>().iter().zip(items).zip(part.as_string::<i32>()) {
        let (Some(number), Some(part)) = (number, part) else { continue };
        let Some(item) = item else {
            return Err(execution_error(format!("split {number} names a node or graph that the graph lacks")));
        };
        let split = splits.entry(number).or_default();
        match part {
            part if part == Part::Train.name() => split.train.push(item),
            part if part == Part::Val.name() => split.val.push(item),
            part if part == Part::Test.name() => split.test.push(item),
            other => {
                return Err(execution_error(format!(
                    "split {number}: part is '{other}'; parts are train, val and test"
                )));
            }
        }
    }
    // With a random split in its place nobody would notice.
    if splits.is_empty() && !number.is_empty() {
        return Err(execution_error(
            "no row of the table splits has both a split and a part: fill it, or drop it and choose a split_scheme",
        ));
    }
    Ok(splits)
}

/// The numbers of splits.
fn split_numbers(column: &ArrayRef) -> Result<ArrayRef> {
    let numbers = cast(column, &DataType::Int64)?;
    if column.data_type().is_integer() {
        return Ok(numbers);
    }
    // 0.5 would become 0, and a text that is no number NULL.
    let back = cast(&numbers, column.data_type())?;
    let (given, kept) = (cast(column, &DataType::Utf8)?, cast(&back, &DataType::Utf8)?);
    let whole = given.as_string::<i32>().iter().zip(kept.as_string::<i32>().iter());
    match whole.into_iter().find(|(given, kept)| given.is_some() && given != kept) {
        Some((given, _)) => Err(execution_error(format!(
            "splits.split is {}; splits are numbered 0, 1, ...: CAST the column to BIGINT",
            given.unwrap_or_default()
        ))),
        None => Ok(numbers),
    }
}

/// The stored split of a number.
pub(super) fn stored(splits: &BTreeMap<i64, StoredSplit>, number: i64) -> std::result::Result<&StoredSplit, String> {
    splits.get(&number).ok_or_else(|| {
        let stored: Vec<String> = splits.keys().map(i64::to_string).collect();
        match stored.is_empty() {
            true => "the graph stores no splits: choose a split_scheme such as random:60/20/20".to_owned(),
            false => format!("there is no split {number}; stored are: {}", stored.join(", ")),
        }
    })
}

/// The text of an error of a split, with the keys of items for their numbers.
pub(super) fn split_text(error: &SplitError, keys: &KeyIndex) -> String {
    match error {
        SplitError::Item { kind, item, part, why } if (*item as usize) < keys.len() => {
            format!("{kind} {} of the {part} part {why}", keys.describe(*item))
        }
        other => other.to_string(),
    }
}

/// The part of each of `n` items.
pub(super) fn parts(split: &Split, n: usize) -> Vec<Option<Part>> {
    let mut parts = vec![None; n];
    for part in Part::ALL {
        split.part(part).iter().for_each(|&item| parts[item as usize] = Some(part));
    }
    parts
}
