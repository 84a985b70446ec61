//! Where in a row of CSV a text stands, sign after sign.

use super::marker::Signs;

/// A place in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Row,
    Field,
    Plain,
    /// Inside quotes; whether nothing has come yet.
    Quoted(bool),
    /// Behind an escape inside quotes.
    Escaped,
    /// Behind a quote that ends a field, or is the first half of two; whether the field would be empty.
    Quote(bool),
    Comment,
}

impl Place {
    /// The place behind a sign; `ends` says whether it is one that ends rows.
    #[inline]
    pub(super) fn behind(self, sign: u8, ends: bool, signs: Signs) -> Self {
        match self {
            Self::Row if ends => Self::Row,
            Self::Row if Some(sign) == signs.comment => Self::Comment,
            Self::Comment if !ends => Self::Comment,
            Self::Row | Self::Field if sign == signs.quote => Self::Quoted(true),
            Self::Quoted(empty) if sign == signs.quote => Self::Quote(empty),
            Self::Quoted(_) if Some(sign) == signs.escape => Self::Escaped,
            Self::Quoted(_) | Self::Escaped => Self::Quoted(false),
            Self::Quote(_) if sign == signs.quote => Self::Quoted(false),
            _ if ends => Self::Row,
            _ if sign == signs.delimiter => Self::Field,
            _ => Self::Plain,
        }
    }

    /// Whether a row ended with the sign before this place: neither an empty line nor a comment.
    #[inline]
    pub(super) fn ends_row_at(self, before: Self) -> bool {
        self == Self::Row && !matches!(before, Self::Row | Self::Comment)
    }
}
