//! The columns of all tables as features in one space, so that a model that knows no types can read them, too.

use bonnet_graph::{Monitor, Reservation};
use rayon::prelude::*;

use crate::{Database, Error, Table, Text, Values};

/// Rows of a block of work.
const BLOCK: usize = 1 << 10;

/// The encoding of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Encoding {
    /// One feature: how many standard deviations the number lies above the mean of its column. A NULL has none.
    Number {
        /// The mean of the column.
        mean: f64,
        /// The column's standard deviation (of the population).
        deviation: f64,
    },
    /// One feature for each distinct string, 1 where the row has it.
    Category,
    /// A part of the row's text.
    Text,
    /// No feature: it names rows, or is the label or the weight.
    Used(&'static str),
    /// No feature: all rows with a value have the same one, or none has one.
    Constant,
}

impl Encoding {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Number { .. } => "number",
            Self::Category => "category",
            Self::Text => "text",
            Self::Used(what) => what,
            Self::Constant => "constant",
        }
    }
}

/// Where the features of a column stand.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureBlock {
    /// The table.
    pub table: usize,
    /// The column.
    pub column: usize,
    /// The encoding of the column.
    pub encoding: Encoding,
    /// The first of its features, from 0 on.
    pub first: usize,
    /// The number of features.
    pub width: usize,
}

/// The features of all rows of all tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The number of features.
    pub width: usize,
    /// Every column of every table, in order.
    pub blocks: Vec<FeatureBlock>,
    /// The rows of each table.
    pub rows: Vec<FeatureRows>,
}

impl Features {
    /// The bytes that the rows hold.
    pub fn bytes(&self) -> usize {
        self.rows.iter().map(|rows| 8 * rows.offsets.len() + 8 * rows.positions.len()).sum()
    }
}

/// Sparse rows: the entries of row i are those from `offsets[i]` to `offsets[i + 1]`, by ascending position.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeatureRows {
    /// Where each row starts, and the end of the last.
    pub offsets: Vec<usize>,
    /// The position of each entry.
    pub positions: Vec<u32>,
    /// The value of each entry, never 0.
    pub values: Vec<f32>,
}

impl FeatureRows {
    /// The entries of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = self.offsets[row]..self.offsets[row + 1];
        self.positions[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
}

/// The features of all rows. The strings of a row together are one vector, at the first positions, the same for all tables;
/// behind it each column of numbers has one position and each column of categories one for every category.
///
/// A column of strings is one of categories if it has at most `categories` distinct strings, and every one twice on average.
/// `used` gives, for every column of every table, what it is used for instead, if it is.
///
/// O(values + bytes of text) time; 8 bytes an entry.
///
/// # Errors
/// If the monitor stopped the work.
pub fn encode(
    database: &Database,
    used: &[Vec<Option<&'static str>>],
    text: Text<'_>,
    categories: usize,
    monitor: &dyn Monitor,
) -> Result<Features, Error> {
    let (blocks, width) = plan(database, used, text, categories, monitor)?;
    let mut rows = Vec::with_capacity(database.tables.len());
    monitor.expect(database.tables.iter().map(|table| table.n_rows as u64).sum());
    for (number, table) in database.tables.iter().enumerate() {
        let blocks: Vec<&FeatureBlock> = blocks.iter().filter(|block| block.table == number).collect();
        rows.push(table_rows(table, &blocks, text, monitor)?);
    }
    Ok(Features { width, blocks, rows })
}

/// The encoding of each column, and the number of features.
fn plan(
    database: &Database,
    used: &[Vec<Option<&'static str>>],
    text: Text<'_>,
    categories: usize,
    monitor: &dyn Monitor,
) -> Result<(Vec<FeatureBlock>, usize), Error> {
    let mut blocks = Vec::new();
    for (table, all) in database.tables.iter().enumerate() {
        for (column, values) in all.columns.iter().map(|column| &column.values).enumerate() {
            monitor.check()?;
            let encoding = match used[table][column] {
                Some(what) => Encoding::Used(what),
                None => encoding(values, categories),
            };
            blocks.push(FeatureBlock { table, column, encoding, first: 0, width: 0 });
        }
    }
    let any_text = blocks.iter().any(|block| block.encoding == Encoding::Text);
    let text_width = if any_text { text.width() } else { 0 };
    let mut next = text_width;
    for block in &mut blocks {
        (block.first, block.width) = match &block.encoding {
            Encoding::Text => (0, text_width),
            Encoding::Number { .. } => (next, 1),
            Encoding::Category => match &database.tables[block.table].columns[block.column].values {
                Values::Texts(texts) => (next, texts.words.len()),
                _ => (next, 0),
            },
            Encoding::Used(_) | Encoding::Constant => (0, 0),
        };
        next = next.max(block.first + block.width);
    }
    Ok((blocks, next))
}

fn encoding(values: &Values, categories: usize) -> Encoding {
    match values {
        Values::Integers(values) => number(values.iter().flatten().map(|value| *value as f64)),
        Values::Numbers(values) => number(values.iter().flatten().copied().filter(|value| value.is_finite())),
        Values::Texts(texts) => {
            let there = texts.codes.iter().flatten().count();
            match texts.words.len() {
                0 | 1 => Encoding::Constant,
                distinct if distinct <= categories && 2 * distinct <= there => Encoding::Category,
                _ => Encoding::Text,
            }
        }
    }
}

fn number(values: impl Iterator<Item = f64> + Clone) -> Encoding {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let deviation = (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    if deviation > 0.0 && deviation.is_finite() { Encoding::Number { mean, deviation } } else { Encoding::Constant }
}

/// The features of a table's rows.
fn table_rows(
    table: &Table,
    blocks: &[&FeatureBlock],
    text: Text<'_>,
    monitor: &dyn Monitor,
) -> Result<FeatureRows, Error> {
    let texts: Vec<&FeatureBlock> = blocks.iter().copied().filter(|block| block.encoding == Encoding::Text).collect();
    let others = blocks.iter().filter(|block| matches!(block.encoding, Encoding::Number { .. } | Encoding::Category));
    let others: Vec<&FeatureBlock> = others.copied().collect();
    let text_width = if texts.is_empty() { 0 } else { text.width() };
    // Blocks and their concatenation.
    let _reservation = Reservation::new(monitor, table.n_rows * (16 * (text_width + others.len()) + 8))?;
    let starts: Vec<usize> = (0..table.n_rows).step_by(BLOCK).collect();
    let parts = starts.par_iter().map_init(
        || vec![0.0f32; text_width],
        |vector, &start| {
            monitor.check()?;
            let end = table.n_rows.min(start + BLOCK);
            let mut part = FeatureRows::default();
            for row in start..end {
                if text_width > 0 {
                    vector.fill(0.0);
                    let of_row = texts.iter().filter_map(|block| match &table.columns[block.column].values {
                        Values::Texts(texts) => texts.get(row),
                        _ => None,
                    });
                    text.add(of_row, vector);
                    let entries = (0u32..).zip(&*vector).filter(|(_, value)| **value != 0.0);
                    entries.for_each(|(position, value)| part.push(position, *value));
                }
                for block in &others {
                    if let Some((position, value)) = entry(block, &table.columns[block.column].values, row) {
                        part.push(position, value);
                    }
                }
                part.offsets.push(part.positions.len());
            }
            monitor.advance((end - start) as u64);
            Ok(part)
        },
    );
    let mut rows = FeatureRows { offsets: vec![0], ..FeatureRows::default() };
    for part in parts.collect::<Result<Vec<_>, Error>>()? {
        let before = rows.positions.len();
        rows.offsets.extend(part.offsets.iter().map(|offset| before + offset));
        rows.positions.extend(part.positions);
        rows.values.extend(part.values);
    }
    Ok(rows)
}

impl FeatureRows {
    fn push(&mut self, position: u32, value: f32) {
        if value != 0.0 {
            self.positions.push(position);
            self.values.push(value);
        }
    }
}

/// The one entry of a row in a block of numbers or categories.
fn entry(block: &FeatureBlock, values: &Values, row: usize) -> Option<(u32, f32)> {
    let scaled = |value: f64| match block.encoding {
        Encoding::Number { mean, deviation } if value.is_finite() => Some(((value - mean) / deviation) as f32),
        _ => None,
    };
    match values {
        Values::Integers(values) => Some((block.first as u32, scaled(values[row]? as f64)?)),
        Values::Numbers(values) => Some((block.first as u32, scaled(values[row]?)?)),
        Values::Texts(texts) => Some((block.first as u32 + texts.codes[row]?, 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{integers, table, texts};
    use bonnet_graph::Unmonitored;

    fn database() -> Database {
        let people = table(
            "people",
            vec![
                ("id", integers(&[1, 2, 3, 4])),
                ("age", Values::Integers(vec![Some(1), Some(3), None, Some(5)])),
                ("sex", texts(&["m", "f", "f", "\\N"])),
                ("colour", texts(&["red", "blue", "red", "blue"])),
                ("city", texts(&["Lund", "Lund", "Lund", "\\N"])),
            ],
        );
        let pets = table("pets", vec![("weight", Values::Numbers(vec![Some(2.0), Some(4.0), Some(f64::NAN)]))]);
        Database { tables: vec![people, pets] }
    }

    #[test]
    fn columns_share_one_space() {
        let used = [vec![Some("key"), None, None, None, None], vec![None]];
        let features = encode(&database(), &used, Text::Hashed(8), 50, &Unmonitored).unwrap();
        let blocks = features.blocks.iter().map(|block| (block.encoding.name(), block.first, block.width));
        // `sex` has three strings of two kinds: not two of each, so it is text.
        assert_eq!(
            blocks.collect::<Vec<_>>(),
            [
                ("key", 0, 0),
                ("number", 8, 1),
                ("text", 0, 8),
                ("category", 9, 2),
                ("constant", 0, 0),
                ("number", 11, 1)
            ]
        );
        assert_eq!(features.width, 12);
        // Mean 3, deviation sqrt(8 / 3).
        let z = (8.0f64 / 3.0).sqrt();
        let behind = |table: usize, row: usize| -> Vec<(u32, f32)> {
            features.rows[table].row(row).filter(|entry| entry.0 >= 8).collect()
        };
        assert_eq!(behind(0, 0), [(8, (-2.0 / z) as f32), (10, 1.0)]);
        assert_eq!(behind(0, 1), [(9, 1.0)], "the mean itself is no entry");
        assert_eq!(behind(0, 2), [(10, 1.0)], "NULL is no entry");
        assert_eq!(behind(0, 3), [(8, (2.0 / z) as f32), (9, 1.0)]);
        assert_eq!((behind(1, 0), behind(1, 1), behind(1, 2)), (vec![(11, -1.0)], vec![(11, 1.0)], vec![]));
        let length = |row: usize| features.rows[0].row(row).filter(|e| e.0 < 8).map(|e| e.1 * e.1).sum::<f32>();
        assert!((length(0) - 1.0).abs() < 1e-6 && length(3) == 0.0);
        assert!((0..4).all(|row| features.rows[0].row(row).is_sorted_by(|a, b| a.0 < b.0)));
    }

    #[test]
    fn no_rows_and_no_text_make_no_trouble() {
        let empty = Database { tables: vec![table("a", vec![("x", integers(&[])), ("y", texts(&[]))])] };
        let features = encode(&empty, &[vec![None, None]], Text::Hashed(8), 50, &Unmonitored).unwrap();
        assert_eq!((features.width, features.rows[0].offsets.as_slice()), (0, &[0][..]));
    }
}
