//! The most of a file that is read.

/// The most bytes of a row of a text file, which has to be in memory whole.
pub(crate) const MOST_ROW: usize = 32 << 20;

/// The beginning of the error about a longer one, before the byte at which it begins.
pub(crate) const TOO_LONG: &str = "a row is too long, from byte ";

/// The most columns of a file. DataFusion compares each column with the others when it plans: 30,000 take seconds, in which
/// nothing stops a statement.
pub(crate) const MOST_COLUMNS: usize = 16_384;

/// The values of a batch, where a file has many columns: a batch of 8,192 rows would have gigabytes.
pub(crate) const BATCH_VALUES: usize = 1 << 20;

/// The bytes at the start of a text file by which the length of its rows is estimated, and what divides them is found.
pub(crate) const LOOKED_AT: u64 = 256 << 10;

/// The beginning of the error about a number with zeros before it in a column of numbers, before the byte at which its row
/// begins, and the place of its column.
pub(crate) const PADDED: &str = "a number has zeros before it, in the row from byte ";

/// [`MOST_COLUMNS`] in a sentence.
pub(crate) fn columns_text() -> String {
    format!("{},{:03}", MOST_COLUMNS / 1000, MOST_COLUMNS % 1000)
}
