//! A collection of graphs as training reads it: `graphs(graph_id, label)`, `nodes(graph_id, node, features)` and
//! `edges(graph_id, src, dst)` become one graph with no edge between two of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use bonnet_graph::{Graph, Monitor};
use bonnet_sql::{
    GraphStructure, GraphTables, KeyColumn, KeyIndex, Run, SharedStructure, TableColumns, execution_error, stopped,
};
use datafusion::catalog::TableProvider;
use datafusion::common::Result;

use super::columns::{Classes, OwnFeatures, classes, no_labels, values};
use super::graph::{FEATURES, NO_WEIGHTS, RequiredParts, negative_weight, read_weights, weight_column};
use super::provenance::{Content, ContentHash};
use super::splits::{DRAWN, SplitChoice, StoredSplit, read_splits, split_columns, split_text, stored};
use crate::{EdgeWeights, GraphSet, Split, SplitScheme, Targets, Task, TrainError, TrainOptions};

/// A collection ready for runs. Optional parts are `Result`s: the error says why a job that needs one fails.
#[derive(Debug)]
pub(super) struct LoadedCollection {
    graph: Arc<Graph>,
    starts: Vec<u32>,
    ids: Arc<KeyIndex>,
    /// The labels by the column that they stand in.
    labels: BTreeMap<String, Labels>,
    features: OwnFeatures,
    /// The weights of the edges, where a job reads them.
    weights: std::result::Result<Arc<EdgeWeights>, String>,
    /// Graph and key of each node.
    nodes: Vec<(u32, u32)>,
    keys: KeyIndex,
    splits: BTreeMap<i64, StoredSplit>,
    content: Content,
    /// The number of rows of edges that have both ends.
    n_rows: usize,
}

/// The labels of graphs, as classes and as numbers.
#[derive(Debug)]
struct Labels {
    classes: std::result::Result<Classes, String>,
    values: std::result::Result<Vec<Option<f64>>, String>,
}

/// The nodes by graph and key.
struct Numbered {
    /// The graph of each row of `nodes`, and the number of its node.
    of_row: Vec<(u32, u32)>,
    /// Graph and key of each node, ascending.
    keys: Vec<(u32, u32)>,
}

impl Labels {
    /// The bytes that they hold.
    fn bytes(&self) -> usize {
        self.classes.as_ref().map_or(0, Classes::bytes)
            + self.values.as_ref().map_or(0, |values| size_of_val(values.as_slice()))
    }
}

impl LoadedCollection {
    /// Reads a collection, unless it is cached; its labels, features and weights only if a job trains on them. The memory is
    /// reserved until the run ends, or as long as the collection is cached.
    pub fn read(run: &Run, tables: &GraphTables, required: RequiredParts<'_>) -> Result<Arc<SharedStructure<Self>>> {
        let Some(graphs) = &tables.graphs else {
            return Err(execution_error(format!(
                "{} is no collection of graphs: graph tasks need the table graphs(graph_id, label), and graph_id in nodes \
                 and edges",
                tables.name
            )));
        };
        let there = |table: &Arc<dyn TableProvider>, name: &str| table.schema().field_with_name(name).is_ok();
        let mut columns = vec!["graph_id"];
        columns.extend(required.labels.iter().filter(|&&label| label != "graph_id" && there(graphs, label)));
        let mut read = vec![TableColumns { table: graphs, name: "graphs", columns }];
        let mut columns = vec!["graph_id", "node"];
        columns.extend((required.features && there(&tables.nodes, FEATURES)).then_some(FEATURES));
        read.push(TableColumns { table: &tables.nodes, name: "nodes", columns });
        let mut columns = vec!["graph_id", "src", "dst"];
        columns.extend(weight_column(tables, required.weights));
        read.push(TableColumns { table: &tables.edges, name: "edges", columns });
        let splits = tables.splits.as_ref().filter(|splits| there(splits, "graph_id"));
        read.extend(splits.map(|splits| split_columns(splits, "graph_id")));
        // What a column is read as is not in its name: the labels may stand in any.
        let form = format!("{:?}", (&tables.missing, required.labels));
        run.cached(tables, &read, form, || Self::read_rows(run, tables, &read, required.labels))
    }

    /// `columns` are those of graphs, nodes and edges, and of splits where these are of graphs.
    fn read_rows(run: &Run, tables: &GraphTables, columns: &[TableColumns], labels: &[&str]) -> Result<Self> {
        let graph_columns = run.read_columns(&columns[0])?;
        let node_columns = run.read_columns(&columns[1])?;
        let mut edge_columns = run.read_columns(&columns[2])?;
        let weight = if columns[2].columns.contains(&"weight") { edge_columns.pop() } else { None };
        let nodes_schema = tables.nodes.schema();

        // Graphs are numbered by their rows in `graphs` alone: nodes and edges of others have no target.
        let id = KeyColumn::new(&graph_columns[0], "graphs.graph_id")?;
        let ids = KeyIndex::new(&[("graphs.graph_id", &id)])?;
        let rows = ids.numbers(&id);
        if rows.iter().flatten().count() != ids.len() {
            return Err(execution_error("graphs holds a graph_id twice: it must be unique"));
        }
        let graph_of = |column: &ArrayRef, what: &str| -> Result<Vec<u32>> {
            let column = KeyColumn::new(column, what)?;
            let lacking = || execution_error(format!("{what} names a graph that graphs lacks, or is NULL"));
            ids.numbers(&column).into_iter().map(|graph| graph.ok_or_else(lacking)).collect()
        };
        let (node_graph, edge_graph) =
            (graph_of(&node_columns[0], "nodes.graph_id")?, graph_of(&edge_columns[0], "edges.graph_id")?);
        let node = KeyColumn::new(&node_columns[1], "nodes.node")?;
        let (src, dst) =
            (KeyColumn::new(&edge_columns[1], "edges.src")?, KeyColumn::new(&edge_columns[2], "edges.dst")?);
        let keys = KeyIndex::new(&[("nodes.node", &node), ("edges.src", &src), ("edges.dst", &dst)])?;
        run.host().reserve(Graph::bytes(node.len(), src.len()) + 64 * node.len()).map_err(stopped)?;
        let numbered = number(&node_graph, &keys.numbers(&node), &keys)?;
        let n = numbered.keys.len();
        let mut arcs = Vec::with_capacity(src.len());
        let mut edge_rows = Vec::new();
        for (row, ((graph, src), dst)) in edge_graph.iter().zip(keys.numbers(&src)).zip(keys.numbers(&dst)).enumerate()
        {
            let (Some(src), Some(dst)) = (src, dst) else { continue };
            let end = |key: u32| {
                numbered.keys.binary_search(&(*graph, key)).map(|at| at as u32).map_err(|_| {
                    let (graph, key) = (ids.describe(*graph), keys.describe(key));
                    execution_error(format!("an edge of graph {graph} ends at node {key}, which nodes lacks"))
                })
            };
            arcs.push((end(src)?, end(dst)?));
            edge_rows.push(row);
        }
        let n_rows = arcs.len();
        let graph = run.install(|| Graph::from_edges(n, &arcs));
        let describe = |node: u32| {
            let (graph, key) = numbered.keys[node as usize];
            format!("{} of graph {}", keys.describe(key), ids.describe(graph))
        };
        let weights = match &weight {
            None => Err(NO_WEIGHTS.to_owned()),
            Some(weight) => {
                run.host().reserve(EdgeWeights::bytes(arcs.len()) + 24 * arcs.len()).map_err(stopped)?;
                read_weights(weight, arcs.iter().copied().zip(edge_rows), false, &describe)?
            }
        };
        let starts: Vec<u32> =
            (0..=ids.len() as u32).map(|g| numbered.keys.partition_point(|&(graph, _)| graph < g) as u32).collect();

        let mut row_of = vec![0u32; n];
        for (row, &(_, number)) in numbered.of_row.iter().enumerate() {
            row_of[number as usize] = row as u32;
        }
        let features = match (nodes_schema.field_with_name(FEATURES), node_columns.get(2)) {
            (Ok(field), Some(features)) => {
                run.host().reserve(features.get_array_memory_size()).map_err(stopped)?;
                OwnFeatures::read(features, field, &row_of, tables.missing.as_deref(), &describe)
            }
            _ => OwnFeatures::absent(),
        };

        let mut row_of_graph = vec![0u32; ids.len()];
        for (row, number) in rows.iter().enumerate().filter_map(|(row, number)| Some((row, (*number)?))) {
            row_of_graph[number as usize] = row as u32;
        }
        let column = |label: &str| columns[0].columns.iter().position(|name| *name == label).map(|i| &graph_columns[i]);
        let graphs_schema = columns[0].table.schema();
        let labels_in = |label: &str| {
            let task = Task::GraphClassification.name();
            let found = column(label).ok_or_else(|| no_labels("the table graphs has", label, &graphs_schema));
            Labels {
                classes: found
                    .clone()
                    .and_then(|found| classes(found, &format!("graphs.{label}"), task, &row_of_graph)),
                values: found.and_then(|found| values(found, Task::GraphRegression.name(), &row_of_graph)),
            }
        };
        let mut content = ContentHash::default();
        content.add("nodes", &node_columns[..2])?;
        content.add("edges", &edge_columns)?;
        let splits = match columns.get(3) {
            Some(splits) => read_splits(run, splits.table, "graph_id", &ids, &mut content)?,
            None => BTreeMap::new(),
        };
        let features_of = (!features.is_absent()).then_some(node_columns.as_slice());
        let weights_of = weight.map(|weight| [edge_columns.as_slice(), &[weight]].concat());
        let content = Content::new(content).with_features(features_of)?;
        let mut content = content.with_weights(weights_of.as_deref())?;
        for label in labels {
            let read = [Some(&graph_columns[0]), column(label)].into_iter().flatten().cloned();
            content = content.with_labels(label, "graphs", &read.collect::<Vec<_>>())?;
        }
        Ok(Self {
            labels: labels.iter().map(|&label| (label.to_owned(), labels_in(label))).collect(),
            graph: Arc::new(graph),
            starts,
            ids: Arc::new(ids),
            features,
            weights,
            nodes: numbered.keys,
            keys,
            splits,
            content,
            n_rows,
        })
    }

    /// The text of an error, with the keys of nodes for their numbers.
    pub fn describe(&self, error: &TrainError) -> String {
        let name = |node: u32| {
            let (graph, key) = self.nodes[node as usize];
            format!("{} of graph {}", self.keys.describe(key), self.ids.describe(graph))
        };
        negative_weight(error, &name).unwrap_or_else(|| error.to_string())
    }

    /// The hashes of what a run reads of the collection.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The bytes of a run's own copy of the targets.
    pub fn bytes(&self) -> usize {
        24 * self.ids.len()
    }

    /// The keys of the graphs.
    pub fn graphs(&self) -> Arc<KeyIndex> {
        Arc::clone(&self.ids)
    }

    /// The data of a run with the labels of a column, and the labels of its classes.
    pub fn set(
        &self,
        options: &TrainOptions,
        label: &str,
    ) -> std::result::Result<(GraphSet, Arc<Vec<String>>), String> {
        let unread = || format!("the collection was read without its column {label}");
        let labels = self.labels.get(label).ok_or_else(unread)?;
        let (targets, names) = match options.task {
            Task::GraphRegression => (Targets::Values(labels.values.clone()?), Arc::default()),
            _ => {
                let classes = labels.classes.clone()?;
                (Targets::Classes(classes.of, classes.names.len()), classes.names)
            }
        };
        let features = self.features.of(options.features, options.featureless)?;
        let set = GraphSet::new(Arc::clone(&self.graph), features, self.starts.clone(), targets);
        let mut set = set.map_err(|error| error.to_string())?;
        if options.reads_weights() {
            set = set.with_weights(Arc::clone(self.weights.as_ref().map_err(String::clone)?));
        }
        Ok((set, names))
    }

    /// The split of a run: the stored one that it names, else drawn over the graphs.
    pub fn split(&self, set: &GraphSet, choice: &SplitChoice, seed: u64) -> std::result::Result<Split, String> {
        split_of(set.targets(), "graph", &self.splits, choice, seed, &self.ids)
    }
}

impl GraphStructure for LoadedCollection {
    fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    fn n_arcs(&self) -> usize {
        self.n_rows
    }

    fn resident_bytes(&self) -> usize {
        self.graph.resident_bytes()
            + size_of_val(self.starts.as_slice())
            + self.ids.bytes()
            + self.labels.values().map(Labels::bytes).sum::<usize>()
            + self.features.bytes()
            + self.weights.as_ref().map_or(0, |weights| weights.resident_bytes())
            + size_of_val(self.nodes.as_slice())
            + self.keys.bytes()
            + self.splits.values().map(StoredSplit::bytes).sum::<usize>()
    }
}

/// The split of the items of a collection: the stored one that the job names, else drawn.
pub(super) fn split_of(
    targets: &Targets,
    kind: &'static str,
    splits: &BTreeMap<i64, StoredSplit>,
    choice: &SplitChoice,
    seed: u64,
    ids: &KeyIndex,
) -> std::result::Result<Split, String> {
    let scheme = match &choice.scheme {
        Some(text) => text.parse::<SplitScheme>().map_err(|error| error.to_string())?,
        None if !splits.is_empty() => SplitScheme::Public,
        None => DRAWN.parse::<SplitScheme>().map_err(|error| error.to_string())?,
    };
    let split = if scheme == SplitScheme::Public {
        let stored = stored(splits, choice.split.unwrap_or(0))?;
        targets.given_split(kind, &stored.train, &stored.val, &stored.test)
    } else {
        targets.split(scheme, None, choice.split.map_or(seed, |split| split as u64))
    };
    split.map_err(|error| split_text(&error, ids))
}

/// Numbers the nodes by graph, then by key.
fn number(graph_of: &[u32], key_of: &[Option<u32>], keys: &KeyIndex) -> Result<Numbered> {
    let mut pairs = Vec::with_capacity(graph_of.len());
    for (&graph, key) in graph_of.iter().zip(key_of) {
        pairs.push((graph, key.ok_or_else(|| execution_error("nodes.node is NULL in a row"))?));
    }
    let mut sorted = pairs.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let key = keys.describe(twice[0].1);
        return Err(execution_error(format!("nodes holds the node {key} twice in one graph: it must be unique there")));
    }
    let number = |pair: &(u32, u32)| sorted.binary_search(pair).unwrap_or(0) as u32;
    Ok(Numbered { of_row: pairs.iter().map(|pair| (pair.0, number(pair))).collect(), keys: sorted })
}
