//! Tables in memory, column by column.

use std::collections::HashMap;

/// How files of MySQL and PostgreSQL write NULL. A string of just this is NULL.
pub const NULL_TEXT: &str = "\\N";

/// The tables of a database.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Database {
    /// The tables; their order is that of the node types.
    pub tables: Vec<Table>,
}

/// A table: columns of one length.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The name of the table.
    pub name: String,
    /// The number of rows.
    pub n_rows: usize,
    /// The columns of the table.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name of the column.
    pub name: String,
    /// The values of the column.
    pub values: Values,
}

/// The values of a column, one a row; `None` is NULL.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Whole numbers: keys or quantities.
    Integers(Vec<Option<i64>>),
    /// Other numbers, truth values (0, 1), dates (days) and times (seconds): quantities.
    Numbers(Vec<Option<f64>>),
    /// Texts: keys, categories or prose.
    Texts(Texts),
}

/// A column of strings: each distinct one once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Texts {
    /// The distinct strings in ascending order of their bytes.
    pub words: Vec<Box<str>>,
    /// The position of each row's text among them; `None` is NULL.
    pub codes: Vec<Option<u32>>,
}

impl Database {
    /// The table of this name, else the one that differs only in case.
    pub fn table(&self, name: &str) -> Option<usize> {
        find(self.tables.iter().map(|table| table.name.as_str()), name)
    }

    /// A table's columns as they are written in SQL: `t.a`, or `t(a, b)` for several.
    pub fn describe(&self, table: usize, columns: &[usize]) -> String {
        let Table { name, columns: all, .. } = &self.tables[table];
        match columns {
            [column] => format!("{name}.{}", all[*column].name),
            columns => {
                let names: Vec<&str> = columns.iter().map(|&column| all[column].name.as_str()).collect();
                format!("{name}({})", names.join(", "))
            }
        }
    }
}

impl Table {
    /// The column of this name, else the one that differs only in case.
    pub fn column(&self, name: &str) -> Option<usize> {
        find(self.columns.iter().map(|column| column.name.as_str()), name)
    }
}

/// The name itself, else the only one that differs from it in case alone.
fn find<'a>(names: impl Iterator<Item = &'a str> + Clone, name: &str) -> Option<usize> {
    names.clone().position(|other| other == name).or_else(|| {
        let mut alike = names.enumerate().filter(|(_, other)| other.to_lowercase() == name.to_lowercase());
        let first = alike.next()?;
        alike.next().is_none().then_some(first.0)
    })
}

impl Texts {
    /// A column of strings; [`NULL_TEXT`] is NULL. O(bytes + d log d) time for d distinct strings.
    pub fn new<'a>(rows: impl Iterator<Item = Option<&'a str>>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut codes: Vec<Option<u32>> = rows
            .map(|text| {
                let next = numbers.len() as u32;
                text.filter(|text| *text != NULL_TEXT).map(|text| *numbers.entry(text).or_insert(next))
            })
            .collect();
        let mut words: Vec<(&str, u32)> = numbers.into_iter().collect();
        words.sort_unstable();
        let mut rank = vec![0u32; words.len()];
        (0u32..).zip(&words).for_each(|(position, &(_, number))| rank[number as usize] = position);
        codes.iter_mut().flatten().for_each(|code| *code = rank[*code as usize]);
        Self { words: words.into_iter().map(|(word, _)| word.into()).collect(), codes }
    }

    /// The text of a row.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.codes[row].map(|code| self.words[code as usize].as_ref())
    }

    /// The position of a string among the distinct ones.
    pub fn code(&self, text: &str) -> Option<u32> {
        self.words.binary_search_by(|word| word.as_ref().cmp(text)).ok().map(|code| code as u32)
    }
}

impl Values {
    /// A column of strings. One that holds [`NULL_TEXT`] was made a column of strings by it, so where all other strings are
    /// numbers, it is one of numbers; digits behind a leading zero are no number.
    pub fn of_texts<'a>(rows: impl Iterator<Item = Option<&'a str>>) -> Self {
        let mut marked = false;
        let texts = Texts::new(rows.inspect(|text| marked |= *text == Some(NULL_TEXT)));
        if !marked || texts.words.is_empty() || texts.words.iter().any(|word| has_leading_zero(word)) {
            return Self::Texts(texts);
        }
        if let Ok(values) = texts.words.iter().map(|word| word.parse::<i64>()).collect::<Result<Vec<_>, _>>() {
            return Self::Integers(texts.codes.iter().map(|code| code.map(|code| values[code as usize])).collect());
        }
        let number = |word: &str| word.parse::<f64>().ok().filter(|value| value.is_finite());
        match texts.words.iter().map(|word| number(word)).collect::<Option<Vec<_>>>() {
            Some(values) => {
                Self::Numbers(texts.codes.iter().map(|code| code.map(|code| values[code as usize])).collect())
            }
            None => Self::Texts(texts),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Texts(texts) => texts.codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the row has no value.
    pub fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Integers(values) => values[row].is_none(),
            Self::Numbers(values) => values[row].is_none(),
            Self::Texts(texts) => texts.codes[row].is_none(),
        }
    }

    /// A row's value as text.
    pub fn text(&self, row: usize) -> Option<String> {
        match self {
            Self::Integers(values) => values[row].map(|value| value.to_string()),
            Self::Numbers(values) => values[row].map(|value| value.to_string()),
            Self::Texts(texts) => texts.get(row).map(str::to_owned),
        }
    }

    /// The type of the values, for errors.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Integers(_) => "integers",
            Self::Numbers(_) => "numbers",
            Self::Texts(_) => "texts",
        }
    }

    /// About how many bytes the values take.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Integers(values) => 16 * values.len(),
            Self::Numbers(values) => 16 * values.len(),
            Self::Texts(texts) => 8 * texts.codes.len() + texts.words.iter().map(|word| word.len() + 16).sum::<usize>(),
        }
    }
}

fn has_leading_zero(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word).as_bytes();
    digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(rows: &'a [&'a str]) -> Values {
        Values::of_texts(rows.iter().map(|text| Some(*text)))
    }

    #[test]
    fn distinct_texts_stand_once_and_in_order() {
        let texts = Texts::new([Some("b"), None, Some("a"), Some("b"), Some("\\N")].into_iter());
        assert_eq!(texts.words, ["a".into(), "b".into()]);
        assert_eq!(texts.codes, [Some(1), None, Some(0), Some(1), None]);
        assert_eq!((texts.get(0), texts.get(4), texts.code("a"), texts.code("c")), (Some("b"), None, Some(0), None));
    }

    #[test]
    fn nulls_of_a_file_do_not_make_numbers_text() {
        assert_eq!(of(&["3", "\\N", "-1"]), Values::Integers(vec![Some(3), None, Some(-1)]));
        assert_eq!(of(&["3", "\\N", "0.5"]), Values::Numbers(vec![Some(3.0), None, Some(0.5)]));
        for rows in [&["3", "1"][..], &["03", "\\N"], &["3", "\\N", "x"], &["\\N"], &["inf", "\\N"]] {
            assert!(matches!(of(rows), Values::Texts(_)), "{rows:?}");
        }
    }

    #[test]
    fn names_are_found_in_any_case_where_only_one_fits() {
        let column = |name: &str| Column { name: name.to_owned(), values: Values::Integers(vec![]) };
        let table =
            Table { name: "Races".into(), n_rows: 0, columns: vec![column("raceId"), column("Year"), column("YEAR")] };
        assert_eq!(table.column("raceid"), Some(0));
        assert_eq!((table.column("YEAR"), table.column("year")), (Some(2), None));
        let database = Database { tables: vec![table] };
        assert_eq!((database.table("races"), database.table("race")), (Some(0), None));
        assert_eq!(database.describe(0, &[0]), "Races.raceId");
        assert_eq!(database.describe(0, &[0, 1]), "Races(raceId, Year)");
    }
}
