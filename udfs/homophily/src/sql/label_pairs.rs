//! `edge_homophily(src_label, dst_label)`, `adjusted_homophily` and `label_informativeness`, metrics of how often each label
//! meets each other, and `label_homophily`: all three of one count.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, Float64Array, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Field, Fields, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
};
use bonnet_graph::Monitor;
use bonnet_sql::{AggregateFunction, AggregateState, Body, Function, Options, Parameter};
use datafusion::common::{Result, ScalarValue};

use super::SOURCE;
use super::label_keys::{Keys, KeysState, complete_rows, from_json, to_json};
use crate::LabelPairs;

type Metric = fn(&LabelPairs) -> Option<f64>;

/// The metrics, by the names of their functions.
const METRICS: [(&str, Metric); 3] = [
    ("edge_homophily", crate::edge_homophily),
    ("adjusted_homophily", crate::adjusted_homophily),
    ("label_informativeness", crate::label_informativeness),
];

fn of_labels(name: &'static str, answer: Answer) -> Function {
    Function::new(name, Body::Aggregate(Arc::new(answer)))
        .parameters([
            Parameter::column("src_label", "The label of the edge's source: integers or text."),
            Parameter::column("dst_label", "The label of its target."),
        ])
        .source(SOURCE)
}

fn function(name: &'static str, metric: Metric) -> Function {
    of_labels(name, Answer::One(metric)).returns("DOUBLE").field_of("label_homophily")
}

/// The registration of `label_homophily`.
pub fn label_homophily() -> Function {
    of_labels("label_homophily", Answer::All)
        .returns("STRUCT(edge_homophily DOUBLE, adjusted_homophily DOUBLE, label_informativeness DOUBLE)")
        .description(
            "The three metrics of how labels meet, from one count of the rows: each field as the function of its name \
             says. Where a query asks for several of those functions with the same arguments, this one runs for them.",
        )
        .example("SELECT label_homophily(a, b) FROM (VALUES (1, 1), (1, 2), (2, 2)) t(a, b)")
}

/// The registration of `edge_homophily`.
pub fn edge_homophily() -> Function {
    function("edge_homophily", crate::edge_homophily)
        .description(
            "The share of rows whose two labels are equal. A row with a NULL label does not count; no rows give NULL.",
        )
        .example("SELECT edge_homophily(a, b) FROM (VALUES (1, 1), (1, 2)) t(a, b)")
}

/// The registration of `adjusted_homophily`.
pub fn adjusted_homophily() -> Function {
    function("adjusted_homophily", crate::adjusted_homophily)
        .description(
            "Edge homophily corrected for chance: (h - sum p_k^2) / (1 - sum p_k^2), where p_k is the share of edge \
             endpoints with label k. At most 1. NULL for one class only, and for no rows.",
        )
        .example("SELECT adjusted_homophily(a, b) FROM (VALUES (1, 1), (1, 2), (2, 2)) t(a, b)")
}

/// The registration of `label_informativeness`.
pub fn label_informativeness() -> Function {
    function("label_informativeness", crate::label_informativeness)
        .description(
            "How much a neighbour's label tells of a node's: I / H, in [0, 1]. NULL for one class only, and for no rows.",
        )
        .example("SELECT label_informativeness(a, b) FROM (VALUES (1, 1), (1, 2), (2, 2)) t(a, b)")
}

/// A figure of the counts of label pairs.
#[derive(Debug, Clone, Copy)]
enum Answer {
    One(Metric),
    All,
}

impl AggregateFunction for Answer {
    fn data_type(&self) -> DataType {
        match self {
            Self::One(_) => DataType::Float64,
            Self::All => DataType::Struct(fields()),
        }
    }

    fn state(&self, _: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Pairs {
            answer: *self,
            labels: Keys::new("a label"),
            pairs: LabelPairs::default(),
            small: LabelPairs::default(),
        }))
    }
}

fn fields() -> Fields {
    METRICS.iter().map(|(name, _)| Field::new(*name, DataType::Float64, true)).collect()
}

#[derive(Debug)]
struct Pairs {
    answer: Answer,
    labels: Keys,
    /// Counts by the numbers of `labels`.
    pairs: LabelPairs,
    /// Counts of small integers by themselves: most labels are, and need no numbers while they are counted.
    small: LabelPairs,
}

/// Integers below this are counted as they are.
const SMALL: u64 = 2048;

impl LabelPairs {
    /// Counts the rows of two columns of one integer type if all labels are small and none is NULL; else none of them.
    fn add_small(&mut self, source: &ArrayRef, target: &ArrayRef) -> bool {
        fn values<T: ArrowPrimitiveType>(column: &ArrayRef) -> Option<&[T::Native]> {
            column.as_primitive_opt::<T>().filter(|column| column.null_count() == 0).map(|column| &column.values()[..])
        }
        fn add<T: ArrowPrimitiveType<Native: Into<i64>>>(pairs: &mut LabelPairs, columns: [&ArrayRef; 2]) -> bool {
            let [Some(source), Some(target)] = columns.map(values::<T>) else { return false };
            pairs.add_below(SMALL, source, target)
        }
        let columns = [source, target];
        if source.data_type() != target.data_type() || *source.data_type() == DataType::UInt64 {
            if !columns.iter().all(|column| column.data_type().is_integer() && column.null_count() == 0) {
                return false;
            }
            // A UBIGINT beyond BIGINT becomes NULL.
            let [Ok(source), Ok(target)] = columns.map(|column| cast(column, &DataType::Int64)) else { return false };
            return add::<Int64Type>(self, [&source, &target]);
        }
        match source.data_type() {
            DataType::Int8 => add::<Int8Type>(self, columns),
            DataType::Int16 => add::<Int16Type>(self, columns),
            DataType::Int32 => add::<Int32Type>(self, columns),
            DataType::Int64 => add::<Int64Type>(self, columns),
            DataType::UInt8 => add::<UInt8Type>(self, columns),
            DataType::UInt16 => add::<UInt16Type>(self, columns),
            DataType::UInt32 => add::<UInt32Type>(self, columns),
            _ => false,
        }
    }
}

impl Pairs {
    /// All counts by the numbers of `labels`.
    fn all(&self) -> Result<(Keys, LabelPairs)> {
        let (mut labels, mut pairs) = (self.labels.clone(), self.pairs.clone());
        for (source, target, count) in self.small.counts() {
            let (source, target) = (labels.number(i64::from(source))?, labels.number(i64::from(target))?);
            pairs.add(source, target, count);
        }
        Ok((labels, pairs))
    }
}

impl AggregateState for Pairs {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        if self.small.add_small(&columns[0], &columns[1]) {
            return Ok(());
        }
        let valid = complete_rows(columns)?;
        let source = self.labels.numbers(&columns[0], &valid)?;
        let target = self.labels.numbers(&columns[1], &valid)?;
        self.pairs.add_batch(&source, &target);
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let (labels, counts): (KeysState, Vec<(u32, u32, u64)>) = from_json(bytes)?;
        let numbers = self.labels.read(&labels)?;
        for (source, target, count) in counts {
            self.pairs.add(numbers[source as usize], numbers[target as usize], count);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        // What travels are both kinds of labels at most: whoever merges finds that they do not agree.
        let (labels, pairs) = self.all()?;
        to_json(&(labels.write(), pairs.counts()))
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        let (labels, pairs) = self.all()?;
        labels.agree()?;
        Ok(match self.answer {
            Answer::One(metric) => ScalarValue::Float64(metric(&pairs)),
            Answer::All => {
                let values = METRICS.map(|(_, metric)| Arc::new(Float64Array::from(vec![metric(&pairs)])) as ArrayRef);
                ScalarValue::Struct(Arc::new(StructArray::try_new(fields(), values.to_vec(), None)?))
            }
        })
    }

    fn size(&self) -> usize {
        self.labels.bytes() + self.pairs.bytes() + self.small.bytes()
    }
}
