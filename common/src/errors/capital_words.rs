//! Words with a capital letter, such as the names of structures and types, in the texts of errors.

/// A word with a capital letter, and what is around it.
pub struct Word<'a> {
    /// The text before it, with what stands for the words there.
    pub before: &'a str,
    /// The text from it on.
    pub from: &'a str,
    pub length: usize,
}

/// The text with what stands for its words that begin with a capital letter: `replace` gives it, and how much of the text
/// from the word on it replaces; `None` leaves the word as it is.
pub fn replace_words(text: &str, replace: impl Fn(&Word) -> Option<(String, usize)>) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_uppercase()) {
        let (before, from) = rest.split_at(start);
        plain += before;
        let length = from.len() - from.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len();
        let end = match replace(&Word { before: &plain, from, length }) {
            Some((replacement, end)) => {
                plain += &replacement;
                end
            }
            None => {
                plain += &from[..length];
                length
            }
        };
        rest = &from[end..];
    }
    plain + rest
}
