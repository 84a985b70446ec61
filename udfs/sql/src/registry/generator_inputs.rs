//! The rows that a generator reads beside its constants.

use arrow::array::{ArrayRef, RecordBatch};
use bonnet_columns::whole_column;
use datafusion::common::Result;

/// The rows that a generator reads: those of its relations, by parameter, and the tables of its graph.
#[derive(Debug, Clone, Default)]
pub struct GeneratorInputs {
    relations: Vec<(String, Vec<RecordBatch>)>,
}

impl GeneratorInputs {
    /// The rows of the relation given for a parameter, or of a table of the graph; `None` where none is given.
    pub fn get(&self, parameter: &str) -> Option<&[RecordBatch]> {
        self.relations.iter().find(|(name, _)| name == parameter).map(|(_, batches)| batches.as_slice())
    }

    /// Adds the rows of a relation.
    pub fn insert(&mut self, parameter: &str, batches: Vec<RecordBatch>) {
        self.relations.push((parameter.to_owned(), batches));
    }

    /// A column of a relation in one piece; `None` where there is no such relation, column or row.
    ///
    /// # Errors
    /// If the pieces do not fit together.
    pub fn column(&self, parameter: &str, name: &str) -> Result<Option<ArrayRef>> {
        self.get(parameter).map_or(Ok(None), |batches| whole_column(batches, name))
    }
}
