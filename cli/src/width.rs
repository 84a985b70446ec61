//! The width of a text on a terminal.

use rustyline::GraphemeClusterMode;

/// The columns that a text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    // The prompt's library measures in 16 bits: short stretches keep within them.
    let mut rest = text;
    let mut sum = 0;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(4096).map_or(rest.len(), |(at, _)| at);
        sum += usize::from(GraphemeClusterMode::Unicode.width(&rest[..end]));
        rest = &rest[end..];
    }
    sum
}
