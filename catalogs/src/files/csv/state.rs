//! A reader within a row of CSV, byte after byte.

use super::syntax::Syntax;

/// The state of a reader within a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum State {
    Row,
    Field,
    Plain,
    /// Inside quotes; whether nothing has come yet.
    Quoted(bool),
    /// After an escape inside quotes.
    Escaped,
    /// After a quote that ends a field, or is the first half of two; whether the field would be empty.
    Quote(bool),
    Comment,
}

impl State {
    /// The state after another byte; `ends` says whether it is one that ends rows.
    #[inline]
    pub(super) fn behind(self, byte: u8, ends: bool, syntax: Syntax) -> Self {
        match self {
            Self::Row if ends => Self::Row,
            Self::Row if Some(byte) == syntax.comment => Self::Comment,
            Self::Comment if !ends => Self::Comment,
            Self::Row | Self::Field if byte == syntax.quote => Self::Quoted(true),
            Self::Quoted(empty) if byte == syntax.quote => Self::Quote(empty),
            Self::Quoted(_) if Some(byte) == syntax.escape => Self::Escaped,
            Self::Quoted(_) | Self::Escaped => Self::Quoted(false),
            Self::Quote(_) if byte == syntax.quote => Self::Quoted(false),
            _ if ends => Self::Row,
            _ if byte == syntax.delimiter => Self::Field,
            _ => Self::Plain,
        }
    }

    /// Whether a row ended with the last byte: neither an empty line nor a comment.
    #[inline]
    pub(super) fn ends_row_at(self, before: Self) -> bool {
        self == Self::Row && !matches!(before, Self::Row | Self::Comment)
    }
}
