//! `node_homophily(src, dst, src_label, dst_label [, nodes])`.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{AggregateFunction, AggregateState, Body, Function, Options, Parameter, execution_error};
use datafusion::common::{Result, ScalarValue};

use super::SOURCE;
use super::label_keys::{Keys, KeysState, complete_rows, from_json, to_json};
use crate::NeighborMatches;

/// The registration.
pub fn node_homophily() -> Function {
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
        .source(SOURCE)
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
        let (keys, counts): (KeysState, Vec<(u32, u64, u64)>) = from_json(bytes)?;
        let numbers = self.keys.read(&keys)?;
        for (node, equal, all) in counts {
            self.matches.add(numbers[node as usize], equal, all);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        to_json(&(self.keys.write(), self.matches.counts().collect::<Vec<_>>()))
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        let mean =
            crate::node_homophily(&self.matches, self.nodes).map_err(|error| execution_error(error.to_string()))?;
        Ok(ScalarValue::Float64(mean))
    }

    fn size(&self) -> usize {
        self.keys.bytes() + self.labels.bytes() + self.matches.bytes()
    }
}
