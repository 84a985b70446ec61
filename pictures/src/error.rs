//! Errors of pictures.

use crate::names::{Kind, OPTIONS};

/// The reason why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// A column that the table lacks.
    #[error("there is no column `{name}`{}; the columns are {}", near(.nearest), .known.join(", "))]
    NoColumn {
        /// What was given.
        name: String,
        /// The column with the most similar name, if one is similar.
        nearest: Option<String>,
        /// The table's columns.
        known: Vec<String>,
    },
    /// A column of the wrong type.
    #[error("{kind} needs {need} for {role}, and the column `{column}` has {found}")]
    Type {
        /// The kind of picture.
        kind: Kind,
        /// The column's part in it.
        role: &'static str,
        /// The type that it needs.
        need: &'static str,
        /// The column's name.
        column: String,
        /// The type that it has.
        found: &'static str,
    },
    /// No column is left for a part of the picture.
    #[error("{kind} needs {need} for {role}, and the result has no such column; name one by {}", .role.to_uppercase())]
    Missing {
        /// The kind of picture.
        kind: Kind,
        /// The part.
        role: &'static str,
        /// The type that its column needs.
        need: &'static str,
    },
    /// A string that cannot be drawn: the system has no font, or none with its letters.
    #[error("no font of this machine has the letters of {}; install one, such as DejaVu Sans, or write an SVG",
        .text.as_ref().map_or("the picture".to_owned(), |text| format!("`{text}`")))]
    Font {
        /// The string; none where there is no font at all.
        text: Option<String>,
    },
    /// A PDF or a PNG that cannot be made of a picture.
    #[error("the picture cannot be written so: {0}; write an SVG")]
    Document(String),
    /// No kind fits the columns.
    #[error("no picture fits these columns: give a column of numbers or of text, or name a kind: {}", Kind::names())]
    NoKind,
    /// An option that no picture has.
    #[error("there is no option `{name}` of a picture{}; the options are {}", near(.nearest), OPTIONS.join(", "))]
    NoOption {
        /// What was given.
        name: String,
        /// The option with the most similar name, if one is similar.
        nearest: Option<String>,
    },
    /// A value that an option does not take.
    #[error("{option} is `{value}`; give {need}")]
    Value {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// The values that it takes.
        need: String,
    },
    /// An option that other kinds have.
    #[error("{kind} has no {option}; {} have it", .kinds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    NotOfKind {
        /// The kind of picture.
        kind: Kind,
        /// The option.
        option: &'static str,
        /// The kinds that have it.
        kinds: &'static [Kind],
    },
    /// More marks than anybody can see.
    #[error("{kind} would draw {found} {what}, and at most {most} can be told apart: {advice}")]
    TooMany {
        /// The kind of picture.
        kind: Kind,
        /// The number of marks.
        found: usize,
        /// Of what.
        what: &'static str,
        /// The bound.
        most: usize,
        /// The advice.
        advice: &'static str,
    },
    /// Several rows where the picture has room for one.
    #[error("{kind} draws one row for each {what}, and {example} has several: aggregate them (GROUP BY), {advice}")]
    Repeated {
        /// The kind of picture.
        kind: Kind,
        /// The parts that have to be distinct together.
        what: String,
        /// One that is not.
        example: String,
        /// Another way.
        advice: &'static str,
    },
    /// Rows that this kind cannot draw.
    #[error("{kind}: {what}")]
    Rows {
        /// The kind of picture.
        kind: Kind,
        /// The problem, and the advice.
        what: String,
    },
}

fn near(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}

/// The most similar of these names: the fewest characters changed, where those are at most a third of the name.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let lower = name.to_lowercase();
    let most = (lower.chars().count() / 3).max(1);
    let distances = known.map(|other| (edit_distance(&lower, &other.to_lowercase()), other));
    distances.filter(|&(distance, _)| distance <= most).min_by_key(|&(distance, _)| distance).map(|(_, n)| n.to_owned())
}

/// The fewest insertions, deletions, replacements and swaps of neighbouring characters that turn one text into another, each
/// character edited once (Damerau, 1964).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let swapped = match i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                true => before[j - 2] + 1,
                false => replaced,
            };
            row.push(replaced.min(swapped).min(last[j] + 1).min(row[j - 1] + 1));
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_slip_finds_its_own() {
        let known = ["accuracy", "model", "regime"];
        assert_eq!(nearest("acuracy", known.into_iter()).as_deref(), Some("accuracy"));
        assert_eq!(nearest("Modle", known.into_iter()).as_deref(), Some("model"));
        assert_eq!(nearest("MODEL", known.into_iter()).as_deref(), Some("model"));
        assert_eq!(nearest("stratum", known.into_iter()), None);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
