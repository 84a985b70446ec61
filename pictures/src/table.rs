//! The rows of a picture: named columns of numbers, times or text.

use std::collections::HashMap;

/// The code of a string that is missing.
pub const MISSING: u32 = u32::MAX;

/// Numbers beyond are not drawn: the distance of two might be infinite.
pub(crate) const LARGEST: f64 = 1e300;

/// The values of a column, one a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers; NaN is a missing one.
    Numbers(Vec<f64>),
    /// Timestamps in seconds since 1970-01-01 00:00 UTC; NaN is a missing one.
    Times(Vec<f64>),
    /// Texts, as codes into the distinct ones in the order of their first row; [`MISSING`] is a missing one.
    Texts {
        /// The distinct strings.
        names: Vec<String>,
        /// The position in `names` of each row's text.
        codes: Vec<u32>,
    },
}

impl Values {
    /// The codes of these strings.
    pub fn texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut coder = TextCoder::default();
        texts.into_iter().for_each(|text| coder.push(text));
        coder.finish()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Times(values) => values.len(),
            Self::Texts { codes, .. } => codes.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Builds a column of text row by row.
#[derive(Debug, Default)]
pub struct TextCoder {
    places: HashMap<String, u32>,
    names: Vec<String>,
    codes: Vec<u32>,
}

impl TextCoder {
    /// Adds a row.
    pub fn push(&mut self, text: Option<&str>) {
        let Some(text) = text else { return self.codes.push(MISSING) };
        let code = match self.places.get(text) {
            Some(&code) => code,
            None => {
                let code = self.names.len() as u32;
                self.places.insert(text.to_owned(), code);
                self.names.push(text.to_owned());
                code
            }
        };
        self.codes.push(code);
    }

    /// The column.
    pub fn finish(self) -> Values {
        Values::Texts { names: self.names, codes: self.codes }
    }
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// As the picture shows it.
    pub name: String,
    /// One value a row.
    pub values: Values,
}

impl Column {
    /// A column.
    pub fn new(name: impl Into<String>, values: Values) -> Self {
        Self { name: name.into(), values }
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.values, Values::Texts { .. })
    }

    pub(crate) fn is_time(&self) -> bool {
        matches!(self.values, Values::Times(_))
    }

    /// The numbers or timestamps.
    pub(crate) fn numbers(&self) -> Option<&[f64]> {
        match &self.values {
            Values::Numbers(values) | Values::Times(values) => Some(values),
            Values::Texts { .. } => None,
        }
    }

    /// Whether a number has a part behind the point.
    pub(crate) fn is_fractional(&self) -> bool {
        matches!(&self.values, Values::Numbers(values) if values.iter().any(|v| v.is_finite() && v.fract() != 0.0))
    }

    /// Whether the row's value can be drawn: it is there, and where it is a number, the distance of two is finite.
    pub(crate) fn is_there(&self, row: usize) -> bool {
        match &self.values {
            Values::Numbers(values) | Values::Times(values) => values[row].abs() <= LARGEST,
            Values::Texts { codes, .. } => codes[row] != MISSING,
        }
    }

    /// A row's value as text.
    pub(crate) fn text(&self, row: usize) -> String {
        match &self.values {
            Values::Numbers(values) => values[row].to_string(),
            Values::Times(values) => crate::time::full(values[row]),
            Values::Texts { names, codes } => names.get(codes[row] as usize).cloned().unwrap_or_default(),
        }
    }
}

/// Columns of equal length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
}

impl Table {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }
}
