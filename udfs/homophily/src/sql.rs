//! The homophily metrics in SQL: aggregates over edges joined with labels, and functions of graphs.

mod features;
mod generalized;
mod graph;
mod hetero;
mod homophily;
mod metapaths;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{cast, is_not_null};
use arrow::datatypes::{DataType, Int64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{
    AggregateFunction, AggregateState, Body, Function, KeyColumn, Options, Parameter, execution_error, usage_error,
};
use datafusion::common::{Result, ScalarValue};

use crate::{
    Interner, LabelPairs, NeighborMatches, adjusted_homophily, edge_homophily, label_informativeness, node_homophily,
};

const SOURCE: &str = "Luan et al., Are Heterophilic GNNs and Homophily Metrics Really Effective?, Sec. 2 and App. B";

/// The registrations.
pub fn functions() -> Vec<Function> {
    let pairs = |name, metric| {
        Function::new(name, Body::Aggregate(Arc::new(PairMetric(metric))))
            .parameters([
                Parameter::column("src_label", "The label of the edge's source: integers or text."),
                Parameter::column("dst_label", "The label of its target."),
            ])
            .returns("DOUBLE")
            .source(SOURCE)
    };
    let mut functions = vec![
        pairs("edge_homophily", edge_homophily)
            .description(
                "The share of rows whose two labels are equal. A row with a NULL label does not count; no rows give NULL.",
            )
            .example("SELECT edge_homophily(a, b) FROM (VALUES (1, 1), (1, 2)) t(a, b)"),
        pairs("adjusted_homophily", adjusted_homophily)
            .description(
                "Edge homophily corrected for chance: (h - sum p_k^2) / (1 - sum p_k^2), where p_k is the share of edge \
                 ends with label k. At most 1. NULL for one class only, and for no rows.",
            )
            .example("SELECT adjusted_homophily(a, b) FROM (VALUES (1, 1), (1, 2), (2, 2)) t(a, b)"),
        pairs("label_informativeness", label_informativeness)
            .description(
                "How much a neighbour's label tells of a node's: I / H, in [0, 1]. NULL for one class only, and for no rows.",
            )
            .example("SELECT label_informativeness(a, b) FROM (VALUES (1, 1), (1, 2), (2, 2)) t(a, b)"),
        Function::new("node_homophily", Body::Aggregate(Arc::new(NodeMetric)))
            .parameters([
                Parameter::column("src", "The node at the source: integers or text."),
                Parameter::column("dst", "The node at the target."),
                Parameter::column("src_label", "The source's label: integers or text."),
                Parameter::column("dst_label", "The target's label."),
                Parameter::integer("nodes", "The number of nodes to average over; NULL for those that are a source.")
                    .optional(),
            ])
            .returns("DOUBLE")
            .description(
                "The mean over nodes of the share of out-neighbours with the node's label. Nodes are those seen as src; \
                 with nodes => n the mean is over n nodes, and those without out-neighbours count 0. A row with a NULL \
                 does not count; no rows give NULL.",
            )
            .example("SELECT node_homophily(s, d, a, b) FROM (VALUES (1, 2, 'x', 'x'), (1, 3, 'x', 'y')) t(s, d, a, b)")
            .source(SOURCE),
        generalized::generalized_edge_homophily(),
    ];
    functions.extend(homophily::functions());
    functions.extend(metapaths::functions());
    functions
}

/// A key in either form, as it travels between partitions.
type Written = (Vec<i64>, Vec<String>);

/// Keys numbered as they come: all integers, or all text.
#[derive(Debug, Default, Clone)]
struct Keys {
    integers: Interner<i64>,
    texts: Interner<String>,
    what: &'static str,
}

impl Keys {
    fn new(what: &'static str) -> Self {
        Self { what, ..Self::default() }
    }

    /// The numbers of the rows marked by `valid`, in order.
    fn numbers(&mut self, column: &ArrayRef, valid: &[bool]) -> Result<Vec<u32>> {
        // Labels may be published as floats: as text they are told apart just as well.
        let column = match column.data_type() {
            DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Boolean => {
                cast(column, &DataType::Utf8)?
            }
            _ => Arc::clone(column),
        };
        let numbers = match KeyColumn::new(&column, self.what)? {
            KeyColumn::Integer(keys) => {
                let keys = keys.iter().zip(valid).filter(|(_, valid)| **valid);
                keys.map(|(key, _)| self.integers.intern(&key.unwrap_or_default())).collect::<Vec<_>>()
            }
            KeyColumn::Text(keys) => {
                let keys = keys.iter().zip(valid).filter(|(_, valid)| **valid);
                keys.map(|(key, _)| self.texts.intern(key.unwrap_or_default())).collect()
            }
        };
        self.agree()?;
        Ok(numbers)
    }

    fn agree(&self) -> Result<()> {
        if !self.integers.keys().is_empty() && !self.texts.keys().is_empty() {
            return usage_error(format!("{} mixes integers and text: cast them to one type", self.what));
        }
        Ok(())
    }

    fn write(&self) -> Written {
        (self.integers.keys().to_vec(), self.texts.keys().to_vec())
    }

    /// For each key of another state, its number here.
    fn read(&mut self, (integers, texts): &Written) -> Result<Vec<u32>> {
        let integers: Vec<u32> = integers.iter().map(|key| self.integers.intern(key)).collect();
        let texts = texts.iter().map(|key| self.texts.intern(key.as_str())).collect();
        self.agree()?;
        // They agree: one of the two is empty.
        Ok(if integers.is_empty() { texts } else { integers })
    }

    fn bytes(&self) -> usize {
        self.integers.bytes() + self.texts.bytes()
    }
}

/// Which rows have no NULL in any column.
fn complete_rows(columns: &[ArrayRef]) -> Result<Vec<bool>> {
    let mut complete = vec![true; columns[0].len()];
    for column in columns {
        let column = match column.data_type() {
            // A column of type NULL has no bitmap.
            DataType::Null => return Ok(vec![false; complete.len()]),
            DataType::Dictionary(_, values) => cast(column, values)?,
            _ => Arc::clone(column),
        };
        let valid = is_not_null(&column)?;
        complete.iter_mut().zip(valid.iter()).for_each(|(complete, valid)| *complete &= valid == Some(true));
    }
    Ok(complete)
}

fn to_json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("numbers and texts become JSON")
}

fn from_json<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| execution_error(format!("a partition's state is damaged: {error}")))
}

/// A metric of the counts of label pairs.
#[derive(Debug)]
struct PairMetric(fn(&LabelPairs) -> Option<f64>);

impl AggregateFunction for PairMetric {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn state(&self, _: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Pairs {
            metric: self.0,
            labels: Keys::new("a label"),
            pairs: LabelPairs::default(),
            small: LabelPairs::default(),
        }))
    }
}

#[derive(Debug)]
struct Pairs {
    metric: fn(&LabelPairs) -> Option<f64>,
    labels: Keys,
    /// Counts by the numbers of `labels`.
    pairs: LabelPairs,
    /// Counts of small integers by themselves: most labels are, and need no numbers while they are counted.
    small: LabelPairs,
}

/// Integers below this are counted as they are.
const SMALL: u64 = 2048;

/// A column of integers without NULL that are all small.
fn small_integers(column: &ArrayRef) -> Result<Option<Vec<u32>>> {
    if !column.data_type().is_integer() || column.null_count() > 0 {
        return Ok(None);
    }
    let column = cast(column, &DataType::Int64)?;
    let values = column.as_primitive::<Int64Type>();
    // A UBIGINT beyond BIGINT has become NULL.
    let widest = values.values().iter().fold(0, |bits, &value| bits | value as u64);
    if widest >= SMALL || values.null_count() > 0 {
        return Ok(None);
    }
    Ok(Some(values.values().iter().map(|&value| value as u32).collect()))
}

impl Pairs {
    /// All counts by the numbers of `labels`.
    fn all(&self) -> (Keys, LabelPairs) {
        let (mut labels, mut pairs) = (self.labels.clone(), self.pairs.clone());
        for (source, target, count) in self.small.counts() {
            let [source, target] = [source, target].map(|label| labels.integers.intern(&i64::from(label)));
            pairs.add(source, target, count);
        }
        (labels, pairs)
    }
}

impl AggregateState for Pairs {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        if let Some(source) = small_integers(&columns[0])?
            && let Some(target) = small_integers(&columns[1])?
        {
            self.small.add_batch(&source, &target);
            return Ok(());
        }
        let valid = complete_rows(columns)?;
        let source = self.labels.numbers(&columns[0], &valid)?;
        let target = self.labels.numbers(&columns[1], &valid)?;
        self.pairs.add_batch(&source, &target);
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let (labels, counts): (Written, Vec<(u32, u32, u64)>) = from_json(bytes)?;
        let numbers = self.labels.read(&labels)?;
        for (source, target, count) in counts {
            self.pairs.add(numbers[source as usize], numbers[target as usize], count);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        // What travels are both kinds of labels at most: whoever merges finds that they do not agree.
        let (labels, pairs) = self.all();
        to_json(&(labels.write(), pairs.counts()))
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        let (labels, pairs) = self.all();
        labels.agree()?;
        Ok(ScalarValue::Float64((self.metric)(&pairs)))
    }

    fn size(&self) -> usize {
        self.labels.bytes() + self.pairs.bytes() + self.small.bytes()
    }
}

#[derive(Debug)]
struct NodeMetric;

impl AggregateFunction for NodeMetric {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn state(&self, options: &Options) -> Result<Box<dyn AggregateState>> {
        let nodes = options.integer_from("nodes", 0)?.map(|nodes| nodes as u64);
        Ok(Box::new(Nodes {
            nodes,
            keys: Keys::new("src"),
            labels: Keys::new("a label"),
            matches: NeighborMatches::default(),
        }))
    }
}

#[derive(Debug)]
struct Nodes {
    nodes: Option<u64>,
    keys: Keys,
    labels: Keys,
    matches: NeighborMatches,
}

impl AggregateState for Nodes {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let valid = complete_rows(columns)?;
        let source = self.keys.numbers(&columns[0], &valid)?;
        let source_label = self.labels.numbers(&columns[2], &valid)?;
        let target_label = self.labels.numbers(&columns[3], &valid)?;
        self.matches.add_batch(&source, &source_label, &target_label);
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let (keys, counts): (Written, Vec<(u32, u64, u64)>) = from_json(bytes)?;
        let numbers = self.keys.read(&keys)?;
        for (node, equal, all) in counts {
            self.matches.add(numbers[node as usize], equal, all);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        to_json(&(self.keys.write(), self.matches.counts().collect::<Vec<_>>()))
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        let mean = node_homophily(&self.matches, self.nodes).map_err(|error| execution_error(error.to_string()))?;
        Ok(ScalarValue::Float64(mean))
    }

    fn size(&self) -> usize {
        self.keys.bytes() + self.labels.bytes() + self.matches.bytes()
    }
}
