//! The column, or the columns, by which the rows of a table are named.

use std::collections::HashSet;

use bonnet_graph::Monitor;

use crate::keys::PrimaryKey;
use crate::names::{is_word_for_key, names_own_key, words};
use crate::resolve::KeyRows;
use crate::{Database, Error, Table, Values};

/// The primary key of every table. A declared one must hold; else it is the first of these columns whose values are there
/// and all different: one called `id`, one called like its table (`driverId` of `drivers`), the first column.
///
/// `declared` has one entry a table, empty where nothing was declared. O(rows) time and memory for each column looked at.
///
/// # Errors
/// If a declared key has a NULL or a value twice, or the monitor stopped the work.
pub fn primary_keys(
    database: &Database,
    declared: &[Vec<usize>],
    monitor: &dyn Monitor,
) -> Result<Vec<PrimaryKey>, Error> {
    let mut keys = Vec::with_capacity(database.tables.len());
    for (number, table) in database.tables.iter().enumerate() {
        monitor.check()?;
        if let Some(columns) = declared.get(number).filter(|columns| !columns.is_empty()) {
            KeyRows::new(database, number, columns, monitor)?.require_complete(database, number, columns)?;
            keys.push(PrimaryKey { columns: columns.clone(), declared: true });
            continue;
        }
        let found = candidates(table).into_iter().find(|&column| is_unique(&table.columns[column].values));
        keys.push(PrimaryKey { columns: found.into_iter().collect(), declared: false });
    }
    Ok(keys)
}

/// Columns that may be the key, the likeliest first.
fn candidates(table: &Table) -> Vec<usize> {
    let own = words(&table.name);
    let named: Vec<Vec<String>> = table.columns.iter().map(|column| words(&column.name)).collect();
    let exact = (0..named.len()).filter(|&column| is_word_for_key(&named[column]));
    let own_name = (0..named.len()).filter(|&column| names_own_key(&named[column], &own));
    exact.chain(own_name).chain((!named.is_empty()).then_some(0)).collect()
}

/// Whether every row has a value and no two have the same. Numbers with fractions are quantities, never keys.
pub(crate) fn is_unique(values: &Values) -> bool {
    match values {
        Values::Integers(values) => {
            let mut seen = HashSet::with_capacity(values.len());
            !values.is_empty() && values.iter().all(|value| value.is_some_and(|value| seen.insert(value)))
        }
        Values::Numbers(_) => false,
        Values::Texts(texts) => {
            let there = texts.codes.iter().flatten().count();
            there > 0 && there == texts.codes.len() && there == texts.words.len()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{integers, table, texts};
    use bonnet_graph::Unmonitored;

    fn found(table: Table) -> Vec<usize> {
        let database = Database { tables: vec![table] };
        primary_keys(&database, &[], &Unmonitored).unwrap().swap_remove(0).columns
    }

    #[test]
    fn keys_are_found_by_name_and_verified_by_values() {
        let (unique, repeated) = (|| integers(&[3, 1, 2]), || integers(&[1, 1, 2]));
        assert_eq!(found(table("drivers", vec![("name", texts(&["a", "b", "c"])), ("driverId", unique())])), [1]);
        assert_eq!(found(table("drivers", vec![("driverId", unique()), ("id", unique())])), [1]);
        assert_eq!(found(table("seasons", vec![("year", unique()), ("url", texts(&["a", "a", "b"]))])), [0]);
        assert_eq!(found(table("drivers", vec![("name", texts(&["a", "b", "c"])), ("driverId", repeated())])), [0]);
        assert!(found(table("stops", vec![("raceId", repeated()), ("lap", unique())])).is_empty());
        assert!(found(table("stops", vec![("at", Values::Numbers(vec![Some(1.0), Some(2.0)]))])).is_empty());
        assert!(found(table("empty", vec![("id", integers(&[]))])).is_empty());
        assert!(found(table("nothing", vec![])).is_empty());
    }

    #[test]
    fn a_declared_key_must_hold() {
        let rows = table(
            "visits",
            vec![("a", integers(&[1, 1, 2])), ("b", integers(&[1, 2, 1])), ("c", texts(&["x", "\\N", "z"]))],
        );
        let database = Database { tables: vec![rows] };
        let declared = |columns: Vec<usize>| primary_keys(&database, &[columns], &Unmonitored);
        assert_eq!(declared(vec![0, 1]).unwrap()[0], PrimaryKey { columns: vec![0, 1], declared: true });
        assert_eq!(
            declared(vec![0]).unwrap_err().to_string(),
            "visits.a is no key: the value 1 stands in more than one row"
        );
        assert_eq!(declared(vec![2]).unwrap_err().to_string(), "visits.c is no key: it is NULL in 1 of 3 rows");
    }
}
