//! The words of names, and what a column's name says of the table that it refers to.

/// Words for a key that add nothing to the name of its table.
const KEY_WORDS: [&str; 5] = ["id", "key", "code", "fk", "ref"];

/// Words that columns of many tables are called, though they name the rows of none of the others.
const COMMON: [&str; 6] = ["name", "title", "number", "date", "time", "status"];

/// The words of a name in lower case: `driverId`, `driver_id`, `Driver ID` are driver, id.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in name.chars() {
        if !c.is_alphanumeric() {
            last = ' ';
            continue;
        }
        let starts = !last.is_alphanumeric() || (c.is_uppercase() && !last.is_uppercase());
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        last = c;
    }
    words
}

/// Whether `word` is `plural`, or a singular of it.
fn is_singular(word: &str, plural: &str) -> bool {
    word == plural
        || plural.strip_suffix('s') == Some(word)
        || plural.strip_suffix("es") == Some(word)
        || plural.strip_suffix("ies").is_some_and(|stem| word.strip_suffix('y') == Some(stem))
}

/// The words of a column in front of a table's name in the singular, and behind it.
fn around<'a>(column: &'a [String], table: &[String], at: usize) -> Option<(&'a [String], &'a [String])> {
    let (last, first) = table.split_last()?;
    let end = at + table.len();
    let fits = column.len() >= end && column[at..end - 1] == *first && is_singular(&column[end - 1], last);
    fits.then(|| (&column[..at], &column[end..]))
}

/// The closeness of a column's name to that of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reference {
    /// A role in front of the name: `home_team_id`.
    Role,
    /// The table's name alone: `driver`.
    Bare,
    /// The name of the table's key, or the table's name and a word for a key: `driverId`.
    Key,
}

/// Whether a column's name refers to the table with this name and key; a longer name of a table fits better.
pub(crate) fn reference(column: &[String], table: &[String], key: Option<&[String]>) -> Option<(Reference, usize)> {
    let is_common = |key: &[String]| matches!(key, [word] if COMMON.contains(&word.as_str()));
    if key.is_some_and(|key| key == column && !is_word_for_key(key) && !is_common(key)) {
        return Some((Reference::Key, table.len()));
    }
    (0..column.len()).find_map(|at| {
        let (role, rest) = around(column, table, at)?;
        let names_key = is_word_for_key(rest) || key.is_some_and(|key| key == rest);
        match (role.is_empty(), rest.is_empty(), names_key) {
            (true, true, _) => Some((Reference::Bare, table.len())),
            (true, false, true) => Some((Reference::Key, table.len())),
            (false, false, true) => Some((Reference::Role, table.len())),
            _ => None,
        }
    })
}

/// `id`, `key`, ...: a name that a key has in any table.
pub(crate) fn is_word_for_key(words: &[String]) -> bool {
    matches!(words, [word] if KEY_WORDS.contains(&word.as_str()))
}

/// Whether a column's name says that it is the key of its own table: `id`, or the table's name, or its last word, and a word
/// for a key.
pub(crate) fn names_own_key(column: &[String], table: &[String]) -> bool {
    let fits = |table: &[String]| around(column, table, 0).is_some_and(|(_, rest)| is_word_for_key(rest));
    is_word_for_key(column) || fits(table) || table.last().is_some_and(|last| fits(std::slice::from_ref(last)))
}

/// `parent_id`: a row of the same table.
pub(crate) fn names_parent(column: &[String]) -> bool {
    matches!(column, [first, rest @ ..] if first == "parent" && (rest.is_empty() || is_word_for_key(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_styles_have_the_same_words() {
        for name in ["driverStandingsId", "driver_standings_id", "Driver Standings ID", "\u{feff}DriverStandingsId"] {
            assert_eq!(words(name), ["driver", "standings", "id"], "{name}");
        }
        assert_eq!(words("UserID"), ["user", "id"]);
        assert_eq!(words("fp1_date"), ["fp1", "date"]);
        assert!(words("").is_empty());
    }

    fn refers(column: &str, table: &str, key: &str) -> Option<Reference> {
        reference(&words(column), &words(table), Some(&words(key))).map(|found| found.0)
    }

    #[test]
    fn columns_refer_to_tables_in_the_singular() {
        assert_eq!(refers("driverId", "drivers", "driverId"), Some(Reference::Key));
        assert_eq!(refers("customer_id", "customers", "id"), Some(Reference::Key));
        assert_eq!(refers("category_id", "categories", "id"), Some(Reference::Key));
        assert_eq!(refers("statusId", "status", "statusId"), Some(Reference::Key));
        assert_eq!(refers("address", "addresses", "id"), Some(Reference::Bare));
        assert_eq!(refers("home_team_id", "teams", "id"), Some(Reference::Role));
        assert_eq!(refers("year", "seasons", "year"), Some(Reference::Key));
        for (column, table, key) in [
            ("id", "customers", "id"),
            ("position", "positions_held", "id"),
            ("team_name", "teams", "id"),
            ("home_team", "teams", "id"),
            ("name", "teams", "name"),
        ] {
            assert_eq!(refers(column, table, key), None, "{column}");
        }
    }

    #[test]
    fn a_key_may_be_the_tables_own() {
        let own = |column: &str, table: &str| names_own_key(&words(column), &words(table));
        assert!(
            own("id", "x")
                && own("resultId", "sprint_results")
                && own("constructor_standings_id", "constructorStandings")
        );
        assert!(!own("person_id", "students") && !own("driver", "fatal_accidents_drivers") && !own("year", "seasons"));
        assert!(
            names_parent(&words("parent_id")) && names_parent(&words("parent")) && !names_parent(&words("parent_name"))
        );
    }
}
