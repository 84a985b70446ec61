//! Splits of labelled nodes into training, validation and test.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::choices::{CLASSES, ITEMS, NODES};
use crate::data::GraphData;
use crate::forms::{count, forms, list};
use crate::random::{Stream, key};

/// A part of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The loss is taken here.
    Train,
    /// The epoch is selected here.
    Val,
    /// The figures are taken here.
    Test,
}

impl Part {
    /// `train`, `val` or `test`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Val => "val",
            Self::Test => "test",
        }
    }
}

/// Three disjoint sets of labelled nodes, each in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Split {
    /// The nodes whose labels make the loss.
    pub train: Vec<u32>,
    /// The nodes that select the epoch.
    pub val: Vec<u32>,
    /// The nodes whose figures are reported.
    pub test: Vec<u32>,
}

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
        KShot(usize, count::<1, { usize::MAX }>) = "kshot:k",
            "k items of each class train (all, where a class has fewer), half of the class's others, rounded down, validate, \
             the rest test",
            of_tasks(CLASSES);
        Time = "time",
            "of the n labelled nodes in the order of their column time, then of their keys, the first round(0.6 n) train, the \
             next round(0.2 n) validate, the rest test",
            of_tasks(NODES);
    }
}

/// Percentages of training, validation and test nodes; they add up to 100.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    train: f64,
    val: f64,
    test: f64,
}

const SIXTY_TWENTY: Shares = Shares { train: 60.0, val: 20.0, test: 20.0 };

/// An error of splitting nodes or graphs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// A text that names no scheme.
    #[error("`{0}` is not a split scheme; the schemes are {schemes}", schemes = list(SplitScheme::FORMS))]
    Unknown(String),
    /// The public split is data, not a scheme that can be drawn.
    #[error("the split scheme public needs a stored split, and this graph has none")]
    NotStored,
    /// The scheme `time` without times.
    #[error("the split scheme time needs a time for each labelled node; {0}")]
    NoTimes(String),
    /// A scheme by class where the targets are numbers.
    #[error("the split scheme {0} needs classes, and the targets are numbers; choose random:60/20/20")]
    NoClasses(String),
    /// A node or graph that cannot be in its part.
    #[error("{kind} {item} of the {part} part {why}")]
    Item {
        /// `node` or `graph`.
        kind: &'static str,
        /// Its number.
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
            Self::Random(shares) | Self::Stratified(shares) | Self::Balanced(shares) => {
                write!(f, ":{}/{}/{}", shares.train, shares.val, shares.test)
            }
            Self::KShot(k) => write!(f, ":{k}"),
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

    /// The percentages of a text such as `60/20/20`; these where there is none.
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

impl SplitScheme {
    /// Draws a split of the labelled nodes. The same seed gives the same split. O(n log n).
    ///
    /// # Errors
    /// For `public`, which is stored and not drawn, and for `time` where a labelled node has no (finite) time.
    pub fn split(&self, data: &GraphData, seed: u64) -> Result<Split, SplitError> {
        self.draw(&data.labels, data.n_classes, data.times(), seed)
    }

    /// Whether the scheme looks at the classes.
    pub fn needs_classes(self) -> bool {
        matches!(self, Self::Stratified(_) | Self::Balanced(_) | Self::KShot(_))
    }

    /// [`SplitScheme::split`] of any items with these labels.
    pub(crate) fn draw(
        &self,
        labels: &[Option<u32>],
        n_classes: usize,
        times: Option<&[f64]>,
        seed: u64,
    ) -> Result<Split, SplitError> {
        let mut stream = Stream::new(key(&[seed, SPLIT]));
        let labelled = || (0..labels.len() as u32).filter(|&v| labels[v as usize].is_some());
        let by_class = || {
            let mut classes = vec![Vec::new(); n_classes];
            for v in labelled() {
                classes[labels[v as usize].unwrap_or(0) as usize].push(v);
            }
            classes.retain(|class| !class.is_empty());
            classes
        };
        let mut split = Split::default();
        match *self {
            Self::Public => return Err(SplitError::NotStored),
            Self::Random(shares) => {
                let mut nodes: Vec<u32> = labelled().collect();
                stream.shuffle(&mut nodes);
                let (train, val) = shares.of(nodes.len());
                split.extend(&nodes, train, val);
            }
            Self::Stratified(shares) => {
                for mut class in by_class() {
                    stream.shuffle(&mut class);
                    let (train, val) = shares.of(class.len());
                    split.extend(&class, train, val);
                }
            }
            Self::Balanced(shares) => {
                let classes = by_class();
                let n: usize = classes.iter().map(Vec::len).sum();
                let per_class = (shares.train / 100.0 * n as f64 / classes.len().max(1) as f64).round() as usize;
                let mut rest = Vec::new();
                for mut class in classes {
                    stream.shuffle(&mut class);
                    let train = per_class.min(class.len());
                    split.train.extend_from_slice(&class[..train]);
                    rest.extend_from_slice(&class[train..]);
                }
                stream.shuffle(&mut rest);
                let val = ((shares.val / 100.0 * n as f64).round() as usize).min(rest.len());
                split.extend(&rest, 0, val);
            }
            Self::KShot(k) => {
                for mut class in by_class() {
                    stream.shuffle(&mut class);
                    let train = k.min(class.len());
                    split.extend(&class, train, (class.len() - train) / 2);
                }
            }
            Self::Time => {
                let times = times.ok_or_else(|| SplitError::NoTimes("the nodes have no times".into()))?;
                let mut nodes: Vec<u32> = labelled().collect();
                if let Some(v) = nodes.iter().find(|&&v| !times[v as usize].is_finite()) {
                    return Err(SplitError::NoTimes(format!("node {v} has none")));
                }
                nodes.sort_by(|&a, &b| times[a as usize].total_cmp(&times[b as usize]).then(a.cmp(&b)));
                let (train, val) = SIXTY_TWENTY.of(nodes.len());
                split.extend(&nodes, train, val);
            }
        }
        split.sort();
        Ok(split)
    }
}

/// Separates the stream of splits from other uses of the seed.
const SPLIT: u64 = 2;

impl Split {
    /// A stored split. Unlabelled nodes are left out: they can carry neither loss nor score.
    ///
    /// # Errors
    /// If a node does not exist, or stands in a part twice or in two parts.
    pub fn given(data: &GraphData, train: &[u32], val: &[u32], test: &[u32]) -> Result<Self, SplitError> {
        let known = |node: usize| data.labels[node].is_some();
        Self::of_items(data.labels.len(), "node", known, train, val, test)
    }

    /// [`Split::given`] of `n` items, of which those that are not `known` are left out.
    pub(crate) fn of_items(
        n: usize,
        kind: &'static str,
        known: impl Fn(usize) -> bool,
        train: &[u32],
        val: &[u32],
        test: &[u32],
    ) -> Result<Self, SplitError> {
        let mut part_of: Vec<Option<Part>> = vec![None; n];
        let mut take = |items: &[u32], part: Part| {
            let mut kept = Vec::with_capacity(items.len());
            for &item in items {
                let error = |why| SplitError::Item { kind, item, part: part.name(), why };
                let seen = part_of.get_mut(item as usize).ok_or_else(|| error("is not in the graph"))?;
                match seen.replace(part) {
                    None => {}
                    Some(before) if before == part => return Err(error("is in it twice")),
                    Some(Part::Train) => return Err(error("is in the train part too")),
                    Some(_) => return Err(error("is in the val part too")),
                }
                if known(item as usize) {
                    kept.push(item);
                }
            }
            kept.sort_unstable();
            Ok(kept)
        };
        Ok(Self { train: take(train, Part::Train)?, val: take(val, Part::Val)?, test: take(test, Part::Test)? })
    }

    /// The nodes of a part.
    pub fn part(&self, part: Part) -> &[u32] {
        match part {
            Part::Train => &self.train,
            Part::Val => &self.val,
            Part::Test => &self.test,
        }
    }

    /// The items of several parts, ascending.
    pub(crate) fn of_parts(&self, parts: &[Part]) -> Vec<u32> {
        let mut items = parts.iter().map(|&part| self.part(part)).collect::<Vec<_>>().concat();
        items.sort_unstable();
        items
    }

    /// The first `train` nodes train, the next `val` validate, the rest test.
    fn extend(&mut self, nodes: &[u32], train: usize, val: usize) {
        self.train.extend_from_slice(&nodes[..train]);
        self.val.extend_from_slice(&nodes[train..train + val]);
        self.test.extend_from_slice(&nodes[train + val..]);
    }

    fn sort(&mut self) {
        self.train.sort_unstable();
        self.val.sort_unstable();
        self.test.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Graph;

    use super::*;
    use crate::features::Features;

    /// 103 nodes: 60 of class 0, 30 of class 2, 10 of class 3 (class 1 is empty), 3 unlabelled.
    fn data() -> GraphData {
        let mut labels = vec![Some(0); 60];
        labels.extend([Some(2); 30]);
        labels.extend([None; 3]);
        labels.extend([Some(3); 10]);
        GraphData::new(Graph::from_edges(103, &[]), Features::None, labels, 4).unwrap()
    }

    fn sizes(split: &Split) -> [usize; 3] {
        [split.train.len(), split.val.len(), split.test.len()]
    }

    fn class_counts(data: &GraphData, nodes: &[u32]) -> [usize; 4] {
        let mut counts = [0; 4];
        nodes.iter().for_each(|&v| counts[data.labels[v as usize].unwrap() as usize] += 1);
        counts
    }

    fn draw(scheme: &str, seed: u64) -> Split {
        scheme.parse::<SplitScheme>().unwrap().split(&data(), seed).unwrap()
    }

    #[test]
    fn every_scheme_covers_the_labelled_nodes_once() {
        let labelled: Vec<u32> = (0..103).filter(|v| !(90..93).contains(v)).collect();
        for scheme in ["random:60/20/20", "stratified:48/32/20", "balanced:60/20/20", "kshot:5"] {
            let split = draw(scheme, 3);
            let mut all = [split.train.clone(), split.val.clone(), split.test.clone()].concat();
            all.sort_unstable();
            assert_eq!(all, labelled, "{scheme}");
            assert_eq!(draw(scheme, 3), split, "{scheme}: same seed, same split");
            assert_ne!(draw(scheme, 4), split, "{scheme}: another seed, another split");
        }
    }

    #[test]
    fn the_schemes_have_the_sizes_of_their_definitions() {
        let data = data();
        assert_eq!(sizes(&draw("random:60/20/20", 0)), [60, 20, 20]);
        let split = draw("stratified:60/20/20", 0);
        assert_eq!(class_counts(&data, &split.train), [36, 0, 18, 6]);
        assert_eq!(class_counts(&data, &split.val), [12, 0, 6, 2]);
        // 0.6 * 100 / 3 = 20 a class; class 3 has only 10.
        let split = draw("balanced:60/20/20", 0);
        assert_eq!(class_counts(&data, &split.train), [20, 0, 20, 10]);
        assert_eq!(sizes(&split), [50, 20, 30]);
        let split = draw("kshot:5", 0);
        assert_eq!(class_counts(&data, &split.train), [5, 0, 5, 5]);
        assert_eq!(class_counts(&data, &split.val), [27, 0, 12, 2]);
        assert_eq!(class_counts(&data, &split.test), [28, 0, 13, 3]);
    }

    #[test]
    fn a_class_with_fewer_nodes_than_shots_trains_with_all_of_them() {
        let data = data();
        for (k, train, val, test) in [
            // Of the 10 nodes of class 3, one is left: rounded down, none validates.
            (9, [9, 0, 9, 9], [25, 0, 10, 0], [26, 0, 11, 1]),
            (10, [10, 0, 10, 10], [25, 0, 10, 0], [25, 0, 10, 0]),
            (40, [40, 0, 30, 10], [10, 0, 0, 0], [10, 0, 0, 0]),
            (1000, [60, 0, 30, 10], [0; 4], [0; 4]),
        ] {
            let split = draw(&format!("kshot:{k}"), 1);
            let counts = [&split.train, &split.val, &split.test].map(|part| class_counts(&data, part));
            assert_eq!(counts, [train, val, test], "{k} shots");
        }
    }

    #[test]
    fn the_past_trains_and_the_future_tests() {
        let error = SplitScheme::Time.split(&data(), 0).unwrap_err().to_string();
        assert!(error.contains("time"), "{error}");
        let times = (0..103).map(|v| -f64::from(v)).collect();
        let split = SplitScheme::Time.split(&data().with_times(times).unwrap(), 0).unwrap();
        assert_eq!(sizes(&split), [60, 20, 20]);
        assert_eq!((split.train[0], split.test[19]), (40, 19));
    }

    #[test]
    fn an_unknown_scheme_lists_the_schemes() {
        for text in [
            "sixty",
            "random:60/20",
            "random:60/20/30",
            "kshot:0",
            "kshot",
            "random:a/b/c",
            "time:1",
            "random:60/20/20/",
        ] {
            let error = text.parse::<SplitScheme>().unwrap_err().to_string();
            assert!(error.contains("balanced:60/20/20") && error.contains("kshot:k"), "{text}: {error}");
        }
        for text in ["public", "random:2.5/2.5/95", "kshot:5", "time", "balanced:60/20/20"] {
            assert_eq!(text.parse::<SplitScheme>().unwrap().to_string(), text);
        }
        assert!(SplitScheme::Public.split(&data(), 0).is_err());
    }

    #[test]
    fn a_given_split_drops_unlabelled_nodes_and_refuses_repeats() {
        let data = data();
        let split = Split::given(&data, &[5, 1, 91], &[60], &[102]).unwrap();
        assert_eq!((split.part(Part::Train), split.part(Part::Val)), (&[1, 5][..], &[60][..]));
        let error =
            |train: &[u32], val: &[u32], test: &[u32]| Split::given(&data, train, val, test).unwrap_err().to_string();
        assert_eq!(error(&[1], &[1], &[]), "node 1 of the val part is in the train part too");
        assert_eq!(error(&[], &[7], &[6, 7]), "node 7 of the test part is in the val part too");
        assert_eq!(error(&[5, 5], &[], &[]), "node 5 of the train part is in it twice");
        assert!(Split::given(&data, &[103], &[], &[]).unwrap_err().to_string().contains("not in the graph"));
    }
}
