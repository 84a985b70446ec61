//! The terminal on which a result is shown.

use std::io::{self, IsTerminal};

/// The room of a terminal; results that go elsewhere are never cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Screen {
    /// Characters in a line.
    pub(super) columns: usize,
    /// Rows of a result that are shown; of a longer one the middle is left out.
    pub(super) rows: usize,
    /// Digits behind the point that a number shows; `None` is all.
    pub(super) digits: Option<usize>,
    /// Whether escape sequences may set NULL apart.
    pub(super) colour: bool,
}

impl Screen {
    /// The terminal on standard output, if there is one, and how much of a result it is to show.
    pub(super) fn of_stdout(rows: usize, digits: Option<usize>) -> Option<Self> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let columns = rustyline::DefaultEditor::new().ok().and_then(|mut editor| editor.dimensions());
        let columns = columns.map_or(80, |(columns, _)| usize::from(columns).max(20));
        Some(Self { columns, rows, digits, colour: has_colour() })
    }
}

/// Whether escape sequences may colour what a terminal shows (no-color.org).
pub(crate) fn has_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
