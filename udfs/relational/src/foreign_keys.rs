//! Foreign keys by the names of columns, verified by their values.

use std::cmp::Reverse;
use std::collections::HashSet;

use bonnet_graph::Monitor;

use crate::keys::{ForeignKey, PrimaryKey};
use crate::names::{self, Reference, reference, words};
use crate::primary_keys::is_unique;
use crate::{Database, Error, Links, Table, Values, resolve};

/// The strings of which is asked whether two columns together could name them.
const SAMPLE: usize = 64;

/// The foreign keys of a database that were found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundKeys {
    /// The keys and what they join, table by table.
    pub keys: Vec<(ForeignKey, Links)>,
    /// Columns whose names suggest a key that their values refute.
    pub refused: Vec<Refused>,
}

/// A column whose name refers to a table, and why it was taken for no foreign key.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// The key that the name suggests.
    pub key: ForeignKey,
    /// The rows that the values join; empty where they cannot be compared.
    pub links: Links,
}

/// Finds foreign keys, beside those in `declared`, whose columns are left alone.
///
/// A column refers to a table if it is called like the table's key (`driverId`), like the table in the singular and a word
/// for a key (`driver_id`), like the table in the singular (`driver`), or has a role in front of these (`home_team_id`);
/// `parent_id` refers to its own table. What is called like the table alone may also name its rows by another column
/// without repetitions, or be a string of two columns joined by a blank. A declared primary key of several columns is
/// referred to by columns of the same names. A table's own key refers to no other table, unless it is called like it.
///
/// A name counts if at least the share `coverage` of the rows that have a value find a row, and one at least does. Of
/// several that count, the closest name wins, then the larger share. O(rows) time for each column whose name refers.
///
/// # Errors
/// If the monitor stopped the work.
pub fn foreign_keys(
    database: &Database,
    keys: &[PrimaryKey],
    declared: &[ForeignKey],
    coverage: f64,
    monitor: &dyn Monitor,
) -> Result<FoundKeys, Error> {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for from in 0..database.tables.len() {
        let table = &database.tables[from];
        let mut taken: HashSet<usize> =
            declared.iter().filter(|key| key.from == from).flat_map(|key| key.columns.clone()).collect();
        for candidate in composite(database, keys, from) {
            let free = candidate.columns.iter().all(|column| !taken.contains(column));
            if free && let Some(links) = look(database, &candidate, monitor)?.filter(|links| enough(links, coverage)) {
                taken.extend(&candidate.columns);
                found.push((candidate, links));
            }
        }
        for column in (0..table.columns.len()).filter(|column| !taken.contains(column)) {
            monitor.check()?;
            let mut best: Option<(Candidate, Links)> = None;
            let mut failed: Option<Refused> = None;
            for candidate in candidates(database, keys, from, column, monitor)? {
                if best.as_ref().is_some_and(|(best, _)| best.rank > candidate.rank) {
                    break;
                }
                let Some(links) = look(database, &candidate.key, monitor)? else { continue };
                if !enough(&links, coverage) {
                    // Where no row has a value there is nothing to say.
                    let said = links.coverage().is_some() && failed.is_none();
                    failed = if said { Some(Refused { key: candidate.key, links }) } else { failed };
                } else if best.as_ref().is_none_or(|(_, known)| links.coverage() > known.coverage()) {
                    best = Some((candidate, links));
                }
            }
            match best {
                Some((candidate, links)) => found.push((candidate.key, links)),
                None => refused.extend(failed),
            }
        }
    }
    Ok(FoundKeys { keys: found, refused })
}

/// The rows that a key joins; `None` where its columns cannot be compared, or name several rows.
fn look(database: &Database, key: &ForeignKey, monitor: &dyn Monitor) -> Result<Option<Links>, Error> {
    match resolve(database, key, monitor) {
        Ok(links) => Ok(Some(links)),
        Err(Error::Key(_)) => Ok(None),
        Err(stopped) => Err(stopped),
    }
}

/// Whether one row at least, and the share `coverage` of those with a value, find a row.
fn enough(links: &Links, coverage: f64) -> bool {
    !links.pairs.is_empty() && links.coverage().is_some_and(|share| share >= coverage)
}

/// The key that a column's name suggests.
struct Candidate {
    /// The closeness of the name; the larger, the closer.
    rank: (Reference, bool, usize),
    key: ForeignKey,
}

/// The tables that a column's name refers to, the closest first.
fn candidates(
    database: &Database,
    keys: &[PrimaryKey],
    from: usize,
    column: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<Candidate>, Error> {
    let table = &database.tables[from];
    let name = words(&table.columns[column].name);
    let is_key = keys[from].columns == [column];
    if is_key && names::names_own_key(&name, &words(&table.name)) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (to, target) in database.tables.iter().enumerate() {
        let single = match keys[to].columns.as_slice() {
            [key] => Some(*key),
            _ => None,
        };
        let key_words = single.map(|key| words(&target.columns[key].name));
        let own = words(&target.name);
        let parent = to == from && names::names_parent(&name);
        let reference = match reference(&name, &own, key_words.as_deref()) {
            _ if parent => Some((Reference::Key, own.len())),
            found if to != from => found,
            _ => None,
        };
        let Some((kind, length)) = reference else { continue };
        // Of two tables whose keys have the same name, the one that is called so owns it.
        let owner = parent || names::reference(&name, &own, None).is_some();
        let new = |to_columns: Vec<usize>, fits: bool| Candidate {
            rank: (kind, fits, length),
            key: ForeignKey { columns: vec![column], to_columns, ..ForeignKey::new(from, to) },
        };
        found.extend(single.map(|key| new(vec![key], owner)));
        if kind == Reference::Bare {
            let others = (0..target.columns.len()).filter(|other| Some(*other) != single);
            let alike = others.filter(|&other| same_kind(&table.columns[column].values, &target.columns[other].values));
            found.extend(
                alike.filter(|&other| is_unique(&target.columns[other].values)).map(|other| new(vec![other], false)),
            );
            let texts = two_columns(&table.columns[column].values, target, monitor)?;
            found.extend(texts.map(|pair| new(pair.to_vec(), false)));
        }
    }
    found.sort_by_key(|candidate| Reverse(candidate.rank));
    Ok(found)
}

fn same_kind(a: &Values, b: &Values) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// Whether a column has a value of this string.
type Holds<'a> = Box<dyn Fn(&str) -> bool + 'a>;

/// Two columns of a table whose values, joined by a blank, are most of these strings; the first such pair.
fn two_columns(texts: &Values, table: &Table, monitor: &dyn Monitor) -> Result<Option<[usize; 2]>, Error> {
    let Values::Texts(texts) = texts else { return Ok(None) };
    let step = texts.words.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<&str> = texts.words.iter().step_by(step).map(AsRef::as_ref).collect();
    let mut holds: Vec<Holds<'_>> = Vec::new();
    for column in &table.columns {
        monitor.check()?;
        holds.push(match &column.values {
            Values::Texts(texts) => Box::new(|text| texts.code(text).is_some()),
            Values::Integers(values) => {
                let known: HashSet<i64> = values.iter().flatten().copied().collect();
                Box::new(move |text| text.parse().is_ok_and(|value| known.contains(&value)))
            }
            Values::Numbers(_) => Box::new(|_| false),
        });
    }
    let named = |a: usize, b: usize| {
        let splits =
            |text: &str| text.match_indices(' ').any(|(at, _)| holds[a](&text[..at]) && holds[b](&text[at + 1..]));
        sample.iter().filter(|text| splits(text)).count()
    };
    for a in 0..holds.len() {
        monitor.check()?;
        for b in (0..holds.len()).filter(|&b| b != a) {
            if !sample.is_empty() && 2 * named(a, b) >= sample.len() {
                return Ok(Some([a, b]));
            }
        }
    }
    Ok(None)
}

/// Declared keys of several columns that a table has under the same names.
fn composite(database: &Database, keys: &[PrimaryKey], from: usize) -> Vec<ForeignKey> {
    let table = &database.tables[from];
    let mut found = Vec::new();
    for (to, key) in keys.iter().enumerate().filter(|(to, key)| *to != from && key.declared && key.columns.len() > 1) {
        let names = key.columns.iter().map(|&column| database.tables[to].columns[column].name.as_str());
        if let Some(columns) = names.map(|name| table.column(name)).collect::<Option<Vec<usize>>>() {
            found.push(ForeignKey { columns, to_columns: key.columns.clone(), ..ForeignKey::new(from, to) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primary_keys;
    use crate::testing::{integers, table, texts};
    use bonnet_graph::Unmonitored;

    /// What is found, as `t.a -> u.b pairs/dangling`, and what is refused.
    fn found_in(tables: Vec<Table>, declared_keys: &[Vec<usize>]) -> (Vec<String>, Vec<String>) {
        let database = Database { tables };
        let keys = primary_keys(&database, declared_keys, &Unmonitored).unwrap();
        let FoundKeys { keys: found, refused } = foreign_keys(&database, &keys, &[], 0.5, &Unmonitored).unwrap();
        let arrow = |key: &ForeignKey| {
            format!("{} -> {}", database.describe(key.from, &key.columns), database.describe(key.to, &key.to_columns))
        };
        let found = found.iter().map(|(key, links)| format!("{} {}/{}", arrow(key), links.pairs.len(), links.dangling));
        (found.collect(), refused.iter().map(|refused| arrow(&refused.key)).collect())
    }

    #[test]
    fn names_suggest_and_values_decide() {
        let teams = table("teams", vec![("id", integers(&[1, 2, 3])), ("city", texts(&["a", "b", "b"]))]);
        let games = table(
            "games",
            vec![
                ("id", integers(&[1, 2])),
                ("home_team_id", integers(&[1, 3])),
                ("away_team_id", integers(&[2, 9])),
                ("city_id", integers(&[1, 1])),
                ("teamId", integers(&[7, 8])),
            ],
        );
        let (found, refused) = found_in(vec![teams, games], &[]);
        assert_eq!(found, ["games.home_team_id -> teams.id 2/0", "games.away_team_id -> teams.id 1/1"]);
        assert_eq!(refused, ["games.teamId -> teams.id"]);
    }

    #[test]
    fn cycles_and_trees_within_a_table_are_foreign_keys_too() {
        let departments = table("departments", vec![("id", integers(&[1, 2])), ("employee_id", integers(&[20, 10]))]);
        let employees = table(
            "employees",
            vec![
                ("id", integers(&[10, 20, 30])),
                ("department_id", integers(&[1, 1, 2])),
                ("parent_id", Values::Integers(vec![None, Some(10), Some(10)])),
            ],
        );
        let (found, _) = found_in(vec![departments, employees], &[]);
        assert_eq!(
            found,
            [
                "departments.employee_id -> employees.id 2/0",
                "employees.department_id -> departments.id 3/0",
                "employees.parent_id -> employees.id 2/0",
            ]
        );
    }

    #[test]
    fn a_tables_own_key_refers_to_no_other() {
        let results = table("results", vec![("resultId", integers(&[1, 2, 3]))]);
        let sprints = table("sprint_results", vec![("resultId", integers(&[1, 2]))]);
        let penalties = table("penalties", vec![("resultId", integers(&[2, 2]))]);
        let (found, refused) = found_in(vec![sprints, penalties, results], &[]);
        assert_eq!((found, refused), (vec!["penalties.resultId -> results.resultId 2/0".to_owned()], vec![]));
        // A student is a person: the key of one is called like the other.
        let persons = table("persons", vec![("id", integers(&[1, 2, 3]))]);
        let students = table("students", vec![("person_id", integers(&[3, 1]))]);
        assert_eq!(found_in(vec![persons, students], &[]).0, ["students.person_id -> persons.id 2/0"]);
    }

    #[test]
    fn a_name_alone_may_mean_another_column_or_two() {
        let races = table(
            "races",
            vec![
                ("raceId", integers(&[1, 2, 3])),
                ("year", integers(&[1950, 1950, 1951])),
                ("name", texts(&["Indianapolis 500", "Dutch GP", "Dutch GP"])),
            ],
        );
        let flags = table("red_flags", vec![("Race", texts(&["1951 Dutch GP", "1950 Indianapolis 500", "1951 Pau"]))]);
        let laps = table("laps", vec![("no", integers(&[1, 1])), ("race", integers(&[3, 1]))]);
        let (found, _) = found_in(vec![races, flags, laps], &[]);
        assert_eq!(found, ["red_flags.Race -> races(year, name) 2/1", "laps.race -> races.raceId 2/0"]);
        let countries = table("countries", vec![("id", integers(&[1, 2])), ("iso", texts(&["SE", "NL"]))]);
        let cities = table("cities", vec![("n", integers(&[1, 1])), ("country", texts(&["NL", "SE"]))]);
        assert_eq!(found_in(vec![countries, cities], &[]).0, ["cities.country -> countries.iso 2/0"]);
    }

    #[test]
    fn keys_of_several_columns_are_found_by_their_names() {
        let stops = table("stops", vec![("race", integers(&[1, 1, 2])), ("lap", integers(&[1, 2, 1]))]);
        let crews =
            table("crews", vec![("size", integers(&[9, 9])), ("lap", integers(&[2, 1])), ("race", integers(&[1, 2]))]);
        let (found, _) = found_in(vec![stops, crews], &[vec![0, 1], vec![]]);
        assert_eq!(found, ["crews(race, lap) -> stops(race, lap) 2/0"]);
    }

    #[test]
    fn declared_columns_are_left_alone() {
        let database = Database {
            tables: vec![
                table("teams", vec![("id", integers(&[1, 2]))]),
                table("games", vec![("n", integers(&[5, 5])), ("team_id", integers(&[1, 2]))]),
            ],
        };
        let keys = primary_keys(&database, &[], &Unmonitored).unwrap();
        let declared = ForeignKey { columns: vec![1], to_columns: vec![0], declared: true, ..ForeignKey::new(1, 0) };
        assert!(foreign_keys(&database, &keys, &[declared], 0.5, &Unmonitored).unwrap().keys.is_empty());
    }
}
