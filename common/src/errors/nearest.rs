//! The name that was meant: the nearest of those that there are.

use strsim::osa_distance;

/// The candidate nearest to a name, in any case of letters; the first of several. `None` where no candidate has at least half
/// of its letters in common with the name.
pub fn nearest<T>(name: &str, candidates: impl IntoIterator<Item = (String, T)>) -> Option<T> {
    let name = name.to_lowercase();
    let letters = name.chars().count();
    let mut best: Option<(usize, T)> = None;
    for (candidate, value) in candidates {
        let candidate = candidate.to_lowercase();
        // Letters inserted, removed, replaced, or swapped with their neighbour.
        let edits = osa_distance(&name, &candidate);
        if 2 * edits <= letters.max(candidate.chars().count()) && best.as_ref().is_none_or(|(least, _)| edits < *least)
        {
            best = Some((edits, value));
        }
    }
    best.map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_letters_swapped_are_one_edit() {
        for (a, b, expected) in [
            ("src", "src", 0),
            ("scr", "src", 1),
            ("kitten", "sitting", 3),
            ("", "ab", 2),
            ("ab", "", 2),
            ("ca", "abc", 3),
        ] {
            assert_eq!(osa_distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_name_has_half_of_the_letters() {
        let names = ["score", "src", "dst"].map(|name| (name.to_owned(), name));
        assert_eq!(nearest("SCR", names.clone()), Some("src"));
        assert_eq!(nearest("weight", names), None);
    }
}
