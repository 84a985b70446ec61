//! Splits of labelled nodes into training, validation and test.

use serde::{Deserialize, Serialize};

use super::GraphData;
use crate::ground::random::{Stream, key};
use crate::options::split_scheme::{SIXTY_TWENTY, Shots};
use crate::options::{SplitError, SplitScheme};

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
    /// All three.
    pub const ALL: [Self; 3] = [Self::Train, Self::Val, Self::Test];

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

impl SplitScheme {
    /// Draws a split of the labelled nodes. The same seed gives the same split. O(n log n).
    ///
    /// # Errors
    /// For `public`, which is stored and not drawn, for `time` where a labelled node has no (finite) time, and for `kshot:k/all`
    /// where fewer than two classes have `k` items.
    pub fn split(&self, data: &GraphData, seed: u64) -> Result<Split, SplitError> {
        self.draw(&data.labels, data.n_classes, data.times(), seed)
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
            Self::Arcs(_) => return Err(SplitError::LinksAlone),
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
            Self::Even(shares) => {
                let classes = by_class();
                let smallest = classes.iter().map(Vec::len).min().unwrap_or(0);
                let (val, test) = shares.held_out_of(smallest);
                for mut class in classes {
                    stream.shuffle(&mut class);
                    split.extend(&class, class.len() - val - test, val);
                }
            }
            Self::KShot(Shots { k, rest_tests }) => {
                let mut classes = by_class();
                if rest_tests {
                    classes.retain(|class| class.len() >= k);
                    if classes.len() < 2 {
                        return Err(SplitError::FewClasses(self.to_string(), classes.len()));
                    }
                }
                for mut class in classes {
                    stream.shuffle(&mut class);
                    let train = k.min(class.len());
                    split.extend(&class, train, if rest_tests { 0 } else { (class.len() - train) / 2 });
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
    use crate::data::Features;

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
        for scheme in ["random:60/20/20", "stratified:48/32/20", "balanced:60/20/20", "even:30/10/60", "kshot:5"] {
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
    fn even_parts_have_as_many_nodes_of_each_class() {
        let data = data();
        // The smallest class has 10 nodes: 1 of each validates, 6 test.
        let split = draw("even:30/10/60", 2);
        assert_eq!(class_counts(&data, &split.val), [1, 0, 1, 1]);
        assert_eq!(class_counts(&data, &split.test), [6, 0, 6, 6]);
        assert_eq!(class_counts(&data, &split.train), [53, 0, 23, 3]);
        // Disease of Chami et al. (2019): 1,044 nodes, 211 of the smaller class, give 42 for validation and 254 for the test.
        let labels = (0..1044).map(|node| Some(u32::from(node < 211))).collect();
        let disease = GraphData::new(Graph::from_edges(1044, &[]), Features::None, labels, 2).unwrap();
        let split = "even:30/10/60".parse::<SplitScheme>().unwrap().split(&disease, 0).unwrap();
        assert_eq!(sizes(&split), [748, 42, 254]);
        assert!("arcs:85/5/10".parse::<SplitScheme>().unwrap().split(&data, 0).is_err());
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
    fn all_but_the_shots_test_and_classes_with_fewer_are_left_out() {
        let data = data();
        let counts = |split: &Split| [&split.train, &split.val, &split.test].map(|part| class_counts(&data, part));
        assert_eq!(counts(&draw("kshot:5/all", 1)), [[5, 0, 5, 5], [0; 4], [55, 0, 25, 5]]);
        // As many as shots is enough: nothing of that class is left to test. One more, and it is out of all parts.
        assert_eq!(counts(&draw("kshot:10/all", 1)), [[10, 0, 10, 10], [0; 4], [50, 0, 20, 0]]);
        assert_eq!(counts(&draw("kshot:11/all", 1)), [[11, 0, 11, 0], [0; 4], [49, 0, 19, 0]]);
        // The same shots as with a validation part.
        assert_eq!(draw("kshot:5/all", 1).train, draw("kshot:5", 1).train);
        assert_ne!(draw("kshot:5/all", 1).train, draw("kshot:5/all", 2).train);
        let error = "kshot:31/all".parse::<SplitScheme>().unwrap().split(&data, 0).unwrap_err().to_string();
        assert_eq!(
            error,
            "the split scheme kshot:31/all needs two classes with as many items, and there is 1: lower it"
        );
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
            "kshot:5/most",
            "kshot:/all",
            "random:a/b/c",
            "time:1",
            "random:60/20/20/",
        ] {
            let error = text.parse::<SplitScheme>().unwrap_err().to_string();
            assert!(error.contains("balanced:60/20/20") && error.contains("kshot:k"), "{text}: {error}");
        }
        for text in [
            "public",
            "random:2.5/2.5/95",
            "kshot:5",
            "kshot:5/all",
            "time",
            "balanced:60/20/20",
            "even:30/10/60",
            "arcs:85/5/10",
        ] {
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
