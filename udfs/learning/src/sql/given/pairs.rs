//! Pairs of nodes as a split of link prediction: a relation with `src`, `dst` and `part`.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{cast, concat_batches, filter_record_batch};
use arrow::datatypes::{DataType, Int64Type, SchemaRef};
use bonnet_sql::{KeyColumn, KeyIndex, Parameter, execution_error, sql_type, usage_error};
use datafusion::common::Result;

use crate::sql::provenance::ContentHash;
use crate::{GivenPair, LinkError, LinkSplit, Part};

/// The name of the relation among the parameters.
pub(in crate::sql) const PAIRS: &str = "pairs";

/// The columns of which of several splits a row is, of whether it is an edge, and of the graph that it is of.
const SPLIT: &str = "split";
const EDGE: &str = "edge";
const GRAPH: &str = "graph";

/// The parameter of every function over jobs.
pub(in crate::sql) fn parameter() -> Parameter {
    Parameter::relation(
        PAIRS,
        "Pairs of nodes for link_prediction, in place of a split that is drawn: src, dst, part (train, val, test; rows with NULL are left \
         out), and optional edge (BOOLEAN, NULL is true: whether the pair is an edge of the graph), split (of which number, see the \
         option split; 0 without) and graph (of which graph). Training pairs that are no edges are those of every epoch; without any \
         they are drawn, see the option negatives.",
    )
    .optional()
}

/// Checks the columns of the relation.
pub(in crate::sql) fn check(function: &str, schema: &SchemaRef) -> Result<Vec<String>> {
    for name in ["src", "dst", "part"] {
        if schema.field_with_name(name).is_err() {
            return usage_error(format!(
                "{function}: pairs has no column {name}; it needs src, dst and part, as in {function}(jobs, pairs => (SELECT src, dst, \
                 'train' AS part, true AS edge FROM ...), task => 'link_prediction')"
            ));
        }
    }
    if let Ok(edge) = schema.field_with_name(EDGE)
        && !matches!(edge.data_type(), DataType::Boolean | DataType::Null)
    {
        return usage_error(format!(
            "{function}: pairs.edge is {}, expected BOOLEAN: CAST it",
            sql_type(edge.data_type())
        ));
    }
    if let Ok(split) = schema.field_with_name(SPLIT)
        && !split.data_type().is_integer()
    {
        return usage_error(format!(
            "{function}: pairs.split is {}, expected a whole number: CAST it",
            sql_type(split.data_type())
        ));
    }
    let read = ["src", "dst", "part", EDGE, SPLIT, GRAPH];
    Ok(read.into_iter().filter(|name| schema.field_with_name(name).is_ok()).map(str::to_owned).collect())
}

/// The rows of the relation.
pub(in crate::sql) struct PairTable {
    rows: RecordBatch,
    /// Those of each graph that was asked for.
    of: BTreeMap<String, Arc<PairRows>>,
}

impl PairTable {
    /// Joins the batches of the relation.
    pub fn new(batches: &[RecordBatch]) -> Result<Self> {
        let Some(first) = batches.first() else {
            return Err(execution_error("pairs gave no batch: report this as a defect"));
        };
        Ok(Self { rows: concat_batches(&first.schema(), batches)?, of: BTreeMap::new() })
    }

    /// The rows of a graph: those with its name in the column `graph`, or all where there is none such.
    pub fn of_graph(&mut self, name: &str) -> Result<Arc<PairRows>> {
        if let Some(rows) = self.of.get(name) {
            return Ok(Arc::clone(rows));
        }
        let rows = match self.rows.column_by_name(GRAPH) {
            None => self.rows.clone(),
            Some(graph) => {
                let graph = cast(graph, &DataType::Utf8)?;
                let chosen: BooleanArray =
                    graph.as_string::<i32>().iter().map(|graph| Some(graph == Some(name))).collect();
                filter_record_batch(&self.rows, &chosen)?
            }
        };
        let mut hash = ContentHash::default();
        hash.add(PAIRS, rows.columns())?;
        let rows = Arc::new(PairRows { rows, hash });
        self.of.insert(name.to_owned(), Arc::clone(&rows));
        Ok(rows)
    }
}

/// The pairs of a graph.
#[derive(Debug)]
pub(in crate::sql) struct PairRows {
    rows: RecordBatch,
    hash: ContentHash,
}

impl PairRows {
    /// A hash of the rows.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// The bytes that a split of them takes while it is made.
    pub fn bytes(&self) -> usize {
        48 * self.rows.num_rows()
    }

    /// The split of a number, of nodes with these keys.
    ///
    /// # Errors
    /// If a pair is NULL, names a node that the graph lacks, or is no item of a split; names it by its keys.
    pub fn split(&self, keys: &KeyIndex, number: Option<i64>) -> std::result::Result<LinkSplit, String> {
        let read = self.read(keys, number).map_err(|error| match error {
            datafusion::common::DataFusionError::Execution(text) | datafusion::common::DataFusionError::Plan(text) => {
                text
            }
            other => other.strip_backtrace(),
        })?;
        let pairs = read?;
        if pairs.is_empty() {
            return Err(match number {
                Some(number) => {
                    format!("pairs has no row of split {number} for this graph: check the columns split and graph")
                }
                None => "pairs has no row for this graph: check its columns split and graph, or the query".to_owned(),
            });
        }
        LinkSplit::given(pairs).map_err(|error| match error {
            LinkError::Pair { u, v, why } => {
                format!("pairs: the pair of nodes {} and {} {why}", keys.describe(u), keys.describe(v))
            }
            error => error.to_string(),
        })
    }

    fn read(&self, keys: &KeyIndex, number: Option<i64>) -> Result<std::result::Result<Vec<GivenPair>, String>> {
        let column = |name: &str| self.rows.column_by_name(name);
        let (Some(src), Some(dst), Some(part)) = (column("src"), column("dst"), column("part")) else {
            return Err(execution_error("pairs lacks src, dst or part"));
        };
        let ends = [(src, "pairs.src"), (dst, "pairs.dst")];
        let ends = ends.map(|(column, name): (&ArrayRef, &str)| KeyColumn::new(column, name));
        let [src, dst] = ends;
        let (src, dst) = (src?, dst?);
        let (from, to) = (keys.numbers(&src), keys.numbers(&dst));
        let part = cast(part, &DataType::Utf8)?;
        let edge = column(EDGE).map(|edge| cast(edge, &DataType::Boolean)).transpose()?;
        let split = column(SPLIT).map(|split| cast(split, &DataType::Int64)).transpose()?;
        let mut pairs = Vec::with_capacity(self.rows.num_rows());
        for (row, name) in part.as_string::<i32>().iter().enumerate() {
            let of = split.as_ref().map(|split| split.as_primitive::<Int64Type>());
            let of = of.map_or(Some(0), |split| split.is_valid(row).then(|| split.value(row)));
            let (Some(name), Some(of)) = (name, of) else { continue };
            if of != number.unwrap_or(0) {
                continue;
            }
            let Some(part) = Part::ALL.into_iter().find(|part| part.name() == name) else {
                return Ok(Err(format!("pairs: part is '{name}'; parts are train, val and test")));
            };
            let (Some(u), Some(v)) = (from[row], to[row]) else {
                let missing = if from[row].is_none() { &src } else { &dst };
                return Ok(Err(match missing.is_valid(row) {
                    true => format!("pairs names the node {}, which the graph lacks", missing.describe(row)),
                    false => "pairs.src or pairs.dst is NULL: every pair has two nodes".to_owned(),
                }));
            };
            let is_edge = edge.as_ref().map(|edge| edge.as_boolean());
            let is_edge = is_edge.is_none_or(|edge| edge.is_null(row) || edge.value(row));
            pairs.push(GivenPair { nodes: (u, v), part, is_edge });
        }
        Ok(Ok(pairs))
    }
}
