//! The bytes of a CSV file that are no part of its fields.

use datafusion::config::CsvOptions;

/// The delimiter of a CSV file, its quote and the other bytes of its syntax.
#[derive(Debug, Clone, Copy)]
pub(super) struct Syntax {
    pub(super) delimiter: u8,
    pub(super) quote: u8,
    pub(super) escape: Option<u8>,
    pub(super) comment: Option<u8>,
    /// The end of a row, if it is neither CR nor LF.
    pub(super) terminator: Option<u8>,
}

impl Syntax {
    pub(super) fn of(options: &CsvOptions) -> Self {
        let CsvOptions { delimiter, quote, escape, comment, terminator, .. } = *options;
        Self { delimiter, quote, escape, comment, terminator }
    }

    pub(super) fn ends_row(&self, byte: u8) -> bool {
        self.terminator.map_or(byte == b'\n' || byte == b'\r', |end| byte == end)
    }

    /// All bytes of the syntax.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let optional = [self.escape, self.comment, self.terminator];
        [self.delimiter, self.quote].into_iter().chain(optional.into_iter().flatten()).collect()
    }
}
