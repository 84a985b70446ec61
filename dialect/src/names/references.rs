//! The tables that a statement names, as its text has them.
//!
//! Shows: see `outer_columns.rs`

use std::collections::HashSet;

use bonnet_common::{FileCall, TimeTravel};
use datafusion::common::TableReference;
use datafusion::sql::planner::object_name_to_table_reference;
use datafusion::sql::sqlparser::ast::{ObjectName, TableFactor, TableFunctionArgs, TableVersion};
use datafusion::sql::sqlparser::tokenizer::Span;

/// What one walk over a statement finds of tables.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// Tables by their names.
    pub(crate) names: HashSet<TableReference>,
    /// Tables that take more than a name, each with the text by which [`text`] knows it.
    pub(crate) beside: Vec<(String, Beside)>,
}

/// A table that takes more than a name.
#[derive(Debug)]
pub(crate) enum Beside {
    /// A table at another time, or its history, and where it stands.
    Version(TableReference, TimeTravel, Span),
    /// A file with options.
    Files(FileCall),
}

impl References {
    /// Adds the table of a name.
    pub(crate) fn add(&mut self, name: &ObjectName) {
        // What is no name of a table is refused when it is planned.
        if let Ok(reference) = object_name_to_table_reference(name.clone(), true) {
            self.names.insert(reference);
        }
    }

    /// Adds a table at another time.
    pub(crate) fn add_version(&mut self, text: String, name: &ObjectName, asked: TimeTravel, at: Span) {
        if let Ok(reference) = object_name_to_table_reference(name.clone(), true) {
            self.names.insert(reference.clone());
            self.beside.push((text, Beside::Version(reference, asked, at)));
        }
    }

    /// Adds files.
    pub(crate) fn add_files(&mut self, text: String, call: FileCall) {
        self.beside.push((text, Beside::Files(call)));
    }
}

/// The text of a table that takes more than a name, as which it is known; `None` for any other.
pub(crate) fn text(factor: &TableFactor) -> Option<String> {
    match factor {
        TableFactor::Table { name, args: Some(TableFunctionArgs { args, .. }), .. } => {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            Some(format!("{name}({})", args.join(", ")))
        }
        TableFactor::Table { name, version: Some(version), .. } => Some(of_version(name, version)),
        _ => None,
    }
}

fn of_version(name: &ObjectName, version: &TableVersion) -> String {
    format!("{name} {version}")
}
