//! The name that was meant: the nearest of those that there are.

/// The candidate nearest to a name, in any case of letters; the first of several. `None` where no candidate has at least half
/// of its letters in common with the name.
pub fn nearest<T>(name: &str, candidates: impl IntoIterator<Item = (String, T)>) -> Option<T> {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    let mut best: Option<(usize, T)> = None;
    for (candidate, value) in candidates {
        let candidate: Vec<char> = candidate.to_lowercase().chars().collect();
        let edits = edits(&name, &candidate);
        if 2 * edits <= name.len().max(candidate.len()) && best.as_ref().is_none_or(|(least, _)| edits < *least) {
            best = Some((edits, value));
        }
    }
    best.map(|(_, value)| value)
}

/// Letters inserted, removed, replaced, or swapped with their neighbour, to make one word of another (Damerau 1964; each
/// letter is edited once). O(length of one · length of the other).
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_letters_swapped_are_one_edit() {
        let edits = |a: &str, b: &str| edits(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        for (a, b, expected) in [
            ("src", "src", 0),
            ("scr", "src", 1),
            ("kitten", "sitting", 3),
            ("", "ab", 2),
            ("ab", "", 2),
            ("ca", "abc", 3),
        ] {
            assert_eq!(edits(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_name_has_half_of_the_letters() {
        let names = ["score", "src", "dst"].map(|name| (name.to_owned(), name));
        assert_eq!(nearest("SCR", names.clone()), Some("src"));
        assert_eq!(nearest("weight", names), None);
    }
}
