//! How items are divided into training, validation and test: the option `split_scheme`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::choices::{CLASSES, ITEMS, LINKS, NODES};
use super::forms::{count, forms, list};

forms! {
    /// The way a split is made: the option `split_scheme`.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub enum SplitScheme {
        Public = "public",
            "the split that the table splits of the graph stores under the number split",
            of_tasks(ITEMS);
        Random(Shares, Shares::read) = "random:60/20/20",
            "of the n labelled items (for links: edges) in random order, round(0.6 n) train, round(0.2 n) validate, the rest \
             test";
        Stratified(Shares, Shares::read) = "stratified:60/20/20",
            "the same within each class",
            of_tasks(CLASSES);
        Balanced(Shares, Shares::read) = "balanced:60/20/20",
            "round(0.6 n / C) of each of the C classes train (all, where a class has fewer), round(0.2 n) of the others \
             validate, the rest test",
            note("any three percentages that add up to 100"),
            of_tasks(CLASSES);
        KShot(Shots, Shots::read) = "kshot:k",
            "k items of each class train (all, where a class has fewer), half of the class's others, rounded down, validate, \
             the rest test; as kshot:k/all all the others test and none validates, so that the last epoch is the answer, and a class with \
             fewer than k items is left out of all parts, which the column left_out of train says",
            note("or kshot:k/all"),
            of_tasks(CLASSES);
        Even(Shares, Shares::read) = "even:30/10/60",
            "of each class round(0.1 s) validate and round(0.6 s) test, s the items of the smallest class, and all others train: both \
             parts have as many items of each class",
            of_tasks(CLASSES);
        Arcs(Shares, Shares::read) = "arcs:85/5/10",
            "the two directions of every edge are two items of random: an edge may train one way round and be tested the other, which \
             shows what such a split of a published program leaks",
            of_tasks(LINKS);
        Time = "time",
            "of the n labelled nodes in the order of their column time, then of their keys, the first round(0.6 n) train, the \
             next round(0.2 n) validate, the rest test",
            of_tasks(NODES);
    }
}

/// Percentages of training, validation and test nodes; they add up to 100.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    pub(crate) train: f64,
    pub(crate) val: f64,
    pub(crate) test: f64,
}

/// The items of each class that train, and what becomes of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shots {
    pub(crate) k: usize,
    /// Whether all others test, and classes with fewer items are left out; else half of them validates.
    pub(crate) rest_tests: bool,
}

impl Shots {
    /// The shots of a string such as `5` or `5/all`.
    fn read(text: Option<&str>) -> Option<Self> {
        let (k, rest_tests) = match text?.split_once('/') {
            None => (text, false),
            Some((k, "all")) => (Some(k), true),
            Some(_) => return None,
        };
        count::<1, { usize::MAX }>(k).map(|k| Self { k, rest_tests })
    }
}

impl fmt::Display for Shots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.k, if self.rest_tests { "/all" } else { "" })
    }
}

/// The shares where none are given.
pub(crate) const SIXTY_TWENTY: Shares = Shares { train: 60.0, val: 20.0, test: 20.0 };

/// An error of splitting nodes or graphs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// A string that names no scheme.
    #[error("`{0}` is not a split scheme; the schemes are {schemes}", schemes = list(SplitScheme::FORMS))]
    Unknown(String),
    /// The public split is data, not a scheme that can be drawn.
    #[error("the split scheme public needs a stored split, and this graph has none")]
    NotStored,
    /// A scheme of edges where the items are none.
    #[error("the split scheme arcs divides the edges of link_prediction; choose random:60/20/20")]
    LinksAlone,
    /// The scheme `time` without times.
    #[error("the split scheme time needs a time for each labelled node; {0}")]
    NoTimes(String),
    /// A scheme by class where the targets are numbers.
    #[error("the split scheme {0} needs classes, and the targets are numbers; choose random:60/20/20")]
    NoClasses(String),
    /// A scheme of few shots where too few classes have them.
    #[error(
        "the split scheme {0} needs two classes with as many items, and there {are} {1}: lower it",
        are = if *.1 == 1 { "is" } else { "are" }
    )]
    FewClasses(String, usize),
    /// A node or graph that cannot be in its part.
    #[error("{kind} {item} of the {part} part {why}")]
    Item {
        /// `node` or `graph`.
        kind: &'static str,
        /// The number of the node or graph.
        item: u32,
        /// The part's name.
        part: &'static str,
        /// The reason.
        why: &'static str,
    },
}

impl FromStr for SplitScheme {
    type Err = SplitError;

    fn from_str(text: &str) -> Result<Self, SplitError> {
        Self::read(text).ok_or_else(|| SplitError::Unknown(text.to_owned()))
    }
}

impl fmt::Display for SplitScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Random(shares)
            | Self::Stratified(shares)
            | Self::Balanced(shares)
            | Self::Even(shares)
            | Self::Arcs(shares) => {
                write!(f, ":{}/{}/{}", shares.train, shares.val, shares.test)
            }
            Self::KShot(shots) => write!(f, ":{shots}"),
            Self::Public | Self::Time => Ok(()),
        }
    }
}

impl TryFrom<String> for SplitScheme {
    type Error = SplitError;
    fn try_from(text: String) -> Result<Self, SplitError> {
        text.parse()
    }
}

impl From<SplitScheme> for String {
    fn from(scheme: SplitScheme) -> String {
        scheme.to_string()
    }
}

impl Shares {
    /// Percentages; `None` unless they are at least 0, add up to 100 and leave something to train on.
    pub fn new(train: f64, val: f64, test: f64) -> Option<Self> {
        let valid = [train, val, test].iter().all(|share| share.is_finite() && *share >= 0.0)
            && train > 0.0
            && (train + val + test - 100.0).abs() < 1e-9;
        valid.then_some(Self { train, val, test })
    }

    /// The percentages of a string such as `60/20/20`; these where there is none.
    fn read(text: Option<&str>) -> Option<Self> {
        let Some(text) = text else { return Some(SIXTY_TWENTY) };
        let shares: Vec<f64> = text.split('/').map(|share| share.parse().ok()).collect::<Option<_>>()?;
        let [train, val, test] = shares[..] else { return None };
        Self::new(train, val, test)
    }

    /// round(share of `n`) for training and validation, never more than `n` together.
    pub(crate) fn of(self, n: usize) -> (usize, usize) {
        let round = |share: f64| (share / 100.0 * n as f64).round() as usize;
        let train = round(self.train).min(n);
        (train, round(self.val).min(n - train))
    }
}

impl Shares {
    /// round(share of `n`) for validation and test, never more than `n` together.
    pub(crate) fn held_out_of(self, n: usize) -> (usize, usize) {
        let round = |share: f64| (share / 100.0 * n as f64).round() as usize;
        let val = round(self.val).min(n);
        (val, round(self.test).min(n - val))
    }
}

impl SplitScheme {
    /// The number of items that a class has to have, where smaller ones are left out of all parts.
    pub fn least_items(self) -> Option<usize> {
        match self {
            Self::KShot(Shots { k, rest_tests: true }) => Some(k),
            _ => None,
        }
    }

    /// Whether the scheme is drawn, and not stored or given by times.
    pub fn is_drawn(self) -> bool {
        !matches!(self, Self::Public | Self::Time)
    }

    /// Whether the scheme looks at the classes.
    pub fn needs_classes(self) -> bool {
        matches!(self, Self::Stratified(_) | Self::Balanced(_) | Self::Even(_) | Self::KShot(_))
    }
}
