//! Tables, views and files have no two columns of one name: what is made of a join with equal names could not be read again.

use std::collections::HashSet;

use datafusion::common::DFSchema;

use crate::{Error, Result};

/// Refuses two columns of one name in what a statement makes.
///
/// # Errors
/// Names the column.
pub(super) fn check(statement: &str, schema: &DFSchema) -> Result<()> {
    let mut known = HashSet::new();
    match schema.fields().iter().map(|field| field.name()).find(|name| !known.insert(*name)) {
        Some(name) => Err(Error::statement(format!(
            "{statement}: two columns are called \"{name}\": give one of them another name, SELECT a.{name}, b.{name} AS \
             other, or leave it out, SELECT * EXCLUDE ({name})"
        ))),
        None => Ok(()),
    }
}
