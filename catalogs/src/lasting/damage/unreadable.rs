//! The error of a table that needs a file that is not as it was written.

use std::fmt;
use std::io;
use std::path::Path;

use datafusion::common::DataFusionError;

use super::origin::database_of;
use crate::lasting::fault::Fault;

/// The error of the table in this folder. One of a database without another remedy can be given up.
pub(in crate::lasting) fn unreadable(name: &str, folder: &Path, mut fault: Fault) -> DataFusionError {
    if fault.remedy.is_none() && database_of(folder).is_some() {
        fault.remedy = Some(format!("give the table up: DROP TABLE {name}"));
    }
    let text = format!("{name} cannot be read: {fault}");
    DataFusionError::IoError(io::Error::new(io::ErrorKind::InvalidData, text))
}

/// The names of classes in the errors of the packages that read tables.
const CLASSES: [&str; 14] = [
    "Kernel error: ",
    "Generic delta kernel error: ",
    "Not a Delta table: ",
    "Failed to parse parquet: ",
    "Optimize selected-file scan failed while scanning data: ",
    "Invalid Parquet file. ",
    "Parquet argument error: ",
    "Parquet error: ",
    "Arrow error: ",
    "Arrow: ",
    "External: ",
    "Json error: ",
    "Schema error: ",
    "IO error: ",
];

/// The message of an error without the names of classes, and without a backtrace.
pub(in crate::lasting) fn plain(error: &impl fmt::Display) -> String {
    let text = error.to_string();
    let first = text.split("\n   0: ").next().unwrap_or_default().trim_end();
    CLASSES.iter().fold(first.to_owned(), |text, class| text.replace(class, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_no_database_is_not_given_up() {
        let error = unreadable("t", Path::new("/t"), Fault::new(Path::new("/t/a.json"), "is empty"));
        assert_eq!(error.strip_backtrace(), "IO error: t cannot be read: '/t/a.json' is empty; restore it from a copy");
    }

    #[test]
    fn classes_and_backtraces_are_left_out() {
        for (text, expected) in [
            ("Kernel error: Json error: Truncated record\n   0: a::b\n   1: c", "Truncated record"),
            ("Parquet argument error: External: snappy: corrupt input", "snappy: corrupt input"),
            ("the disk is full", "the disk is full"),
        ] {
            assert_eq!(plain(&text), expected);
        }
    }
}
