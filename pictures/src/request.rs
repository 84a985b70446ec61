//! The request of a picture: its kind, the columns of its parts, and its looks.

use crate::error::{PictureError, nearest};
use crate::names::{KINDS, Kind, OPTIONS};
use crate::table::LARGEST;

impl Kind {
    /// The kind of this name.
    ///
    /// # Errors
    /// [`PictureError::Value`] if there is none.
    pub fn of(name: &str) -> Result<Self, PictureError> {
        let lower = name.to_lowercase().replace([' ', '-'], "_");
        if let Some((kind, _)) = KINDS.iter().find(|(_, names)| names.contains(&lower.as_str())) {
            return Ok(*kind);
        }
        let near = nearest(&lower, KINDS.iter().flat_map(|(_, names)| names.iter().copied()));
        let need = match near {
            Some(near) => format!("`{near}`, or another of {}", Self::names()),
            None => format!("one of {}", Self::names()),
        };
        Err(PictureError::Value { option: "KIND", value: name.to_owned(), need })
    }
}

/// The sizes that a picture may have, in pixels.
const SIZES: std::ops::RangeInclusive<u32> = 100..=10_000;

/// The intervals that a histogram may have.
const BINS: std::ops::RangeInclusive<u32> = 1..=500;

/// The most reference lines of an axis.
const MOST_LINES: usize = 20;

/// A picture that is wanted; what is `None` follows from the rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// The kind.
    pub kind: Option<Kind>,
    /// The column along the picture.
    pub x: Option<String>,
    /// The column up the picture.
    pub y: Option<String>,
    /// The column of colours.
    pub color: Option<String>,
    /// The column of the colours of a graph's nodes.
    pub node_color: Option<String>,
    /// The column of the lower ends of error bars, or of the lower edge of a ribbon.
    pub ymin: Option<String>,
    /// The column of their upper ends.
    pub ymax: Option<String>,
    /// The column of the half lengths of error bars about `y`, instead of both ends.
    pub yerr: Option<String>,
    /// The column of whose values each has a panel of its own, all with the same axes and colours.
    pub facet: Option<String>,
    /// Columns of numbers, with commas between their names, that are put under one another first: as a column `name` of
    /// their names and a column `value` of their numbers.
    pub unpivot: Option<String>,
    /// The title, above the picture.
    pub title: Option<String>,
    /// The name of the axis of `x` instead of the column's; none where it is empty.
    pub x_label: Option<String>,
    /// The name of the axis of `y`.
    pub y_label: Option<String>,
    /// Whether the axis of `x` is logarithmic.
    pub x_log: bool,
    /// Whether the axis of `y` is logarithmic.
    pub y_log: bool,
    /// Finite numbers on the axis of `x` at which reference lines stand.
    pub x_lines: Vec<f64>,
    /// Finite numbers on the axis of `y` at which they lie.
    pub y_lines: Vec<f64>,
    /// In pixels.
    pub width: Option<u32>,
    /// In pixels.
    pub height: Option<u32>,
    /// The most intervals of a histogram.
    pub bins: Option<u32>,
    /// The seed of a graph's drawing.
    pub seed: u64,
}

impl Request {
    /// Sets the option of this name, in any case.
    ///
    /// # Errors
    /// [`PictureError::NoOption`] and [`PictureError::Value`].
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), PictureError> {
        let text = || Some(value.to_owned());
        match name.to_lowercase().as_str() {
            "kind" => self.kind = Some(Kind::of(value)?),
            "x" => self.x = text(),
            "y" => self.y = text(),
            "color" | "colour" => self.color = text(),
            "node_color" | "node_colour" => self.node_color = text(),
            "ymin" | "y_min" => self.ymin = text(),
            "ymax" | "y_max" => self.ymax = text(),
            "yerr" | "y_err" => self.yerr = text(),
            "facet" => self.facet = text(),
            "unpivot" => self.unpivot = text(),
            "title" => self.title = text(),
            "xlabel" | "x_label" => self.x_label = text(),
            "ylabel" | "y_label" => self.y_label = text(),
            "x_scale" | "xscale" => self.x_log = is_log("X_SCALE", value)?,
            "y_scale" | "yscale" => self.y_log = is_log("Y_SCALE", value)?,
            "xline" | "x_line" => self.x_lines = numbers("XLINE", value)?,
            "yline" | "y_line" => self.y_lines = numbers("YLINE", value)?,
            "width" => self.width = Some(whole("WIDTH", value, SIZES)?),
            "height" => self.height = Some(whole("HEIGHT", value, SIZES)?),
            "bins" => self.bins = Some(whole("BINS", value, BINS)?),
            "seed" => {
                let need = "a whole number that is not negative".to_owned();
                let wrong = |_| PictureError::Value { option: "SEED", value: value.to_owned(), need };
                self.seed = value.parse().map_err(wrong)?;
            }
            other => {
                let nearest = nearest(other, OPTIONS.into_iter());
                return Err(PictureError::NoOption { name: name.to_owned(), nearest });
            }
        }
        Ok(())
    }

    /// Reads `kind x y color name=value ...`: the first words are kind, x, y and color in this order, and any option may be
    /// given by its name. Quotes keep spaces.
    ///
    /// # Errors
    /// As [`set`](Self::set), and for a word too many.
    pub fn parse(text: &str) -> Result<Self, PictureError> {
        Self::of(words(text))
    }

    /// A request as [`parse`](Self::parse) reads it, of words that are cut and without quotes already.
    ///
    /// # Errors
    /// As there.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, PictureError> {
        let cut = |word: &str| match word.split_once('=') {
            Some((name, value)) if !name.is_empty() => (Some(name.to_owned()), value.to_owned()),
            _ => (None, word.to_owned()),
        };
        Self::of(words.into_iter().map(cut))
    }

    fn of(words: impl IntoIterator<Item = (Option<String>, String)>) -> Result<Self, PictureError> {
        let mut request = Self::default();
        let mut places = OPTIONS[..4].iter();
        for word in words {
            match word {
                (Some(name), value) => request.set(&name, &value)?,
                (None, value) => match places.next() {
                    Some(name) => request.set(name, &value)?,
                    None => return Err(PictureError::NoOption { name: value, nearest: None }),
                },
            }
        }
        Ok(request)
    }
}

fn is_log(option: &'static str, value: &str) -> Result<bool, PictureError> {
    match value.to_lowercase().as_str() {
        "log" => Ok(true),
        "linear" => Ok(false),
        _ => Err(PictureError::Value { option, value: value.to_owned(), need: "log or linear".to_owned() }),
    }
}

/// Numbers with commas between them.
fn numbers(option: &'static str, value: &str) -> Result<Vec<f64>, PictureError> {
    let number = |part: &str| part.trim().parse().ok().filter(|number: &f64| number.abs() <= LARGEST);
    let numbers: Option<Vec<f64>> = value.split(',').map(number).collect();
    numbers.filter(|numbers| numbers.len() <= MOST_LINES).ok_or_else(|| {
        let need = format!("a number, or up to {MOST_LINES} in quotes with commas between them");
        PictureError::Value { option, value: value.to_owned(), need }
    })
}

fn whole(option: &'static str, value: &str, range: std::ops::RangeInclusive<u32>) -> Result<u32, PictureError> {
    let need = || format!("a whole number from {} to {}", range.start(), range.end());
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| PictureError::Value { option, value: value.to_owned(), need: need() })
}

/// Words at spaces, with the name before a word's first `=`; single and double quotes keep spaces and go away.
fn words(text: &str) -> Vec<(Option<String>, String)> {
    let mut words = Vec::new();
    let mut open: Option<(Option<String>, String)> = None;
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => open.get_or_insert_default().1.push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                open.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(open.take()),
            None if c == '=' && open.as_ref().is_some_and(|(name, value)| name.is_none() && !value.is_empty()) => {
                let word = open.get_or_insert_default();
                word.0 = Some(std::mem::take(&mut word.1));
            }
            None => open.get_or_insert_default().1.push(c),
        }
    }
    words.extend(open);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kind_columns_and_named_options() {
        let request = Request::parse("bump regime rank model title='who wins' width=900").unwrap();
        let expected = Request {
            kind: Some(Kind::Bump),
            x: Some("regime".into()),
            y: Some("rank".into()),
            color: Some("model".into()),
            title: Some("who wins".into()),
            width: Some(900),
            ..Request::default()
        };
        assert_eq!(request, expected);
        let cut = ["bump", "regime", "rank", "model", "title=who wins", "width=900"];
        assert_eq!(Request::from_words(cut).unwrap(), expected);
        assert_eq!(Request::parse("").unwrap(), Request::default());
        assert_eq!(Request::parse("COLOUR=a").unwrap().color.as_deref(), Some("a"));
    }

    #[test]
    fn wrong_options_say_the_right_ones() {
        let error = |text: &str| Request::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("bumb"),
            "KIND is `bumb`; give `bump`, or another of bars, points, lines, boxes, histogram, heatmap, bump, critical_difference, persistence_diagram, barcode, landscape, curvature, graph, disk, surface"
        );
        assert_eq!(
            error("colr=model"),
            "there is no option `colr` of a picture, did you mean `color`?; the options are kind, x, y, color, node_color, \
             ymin, ymax, yerr, facet, unpivot, title, xlabel, ylabel, x_scale, y_scale, xline, yline, width, height, bins, seed"
        );
        assert_eq!(error("width=5"), "WIDTH is `5`; give a whole number from 100 to 10000");
        assert!(error("bars a b c d").contains("there is no option `d`"));
        assert_eq!(error("x_scale=ln"), "X_SCALE is `ln`; give log or linear");
        assert_eq!(
            error("yline=0.5,half"),
            "YLINE is `0.5,half`; give a number, or up to 20 in quotes with commas between them"
        );
        assert!(error("xline=NaN").contains("XLINE is `NaN`") && error("xline=").contains("XLINE is ``"));
        assert_eq!(Request::parse("yline='-0.5, 1e3'").unwrap().y_lines, [-0.5, 1000.0]);
    }
}
