//! A graph's tables as training reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::{Digraph, Graph, Monitor, Reservation};
use bonnet_sql::{
    GraphStructure, GraphTables, KeyColumn, KeyIndex, Run, SharedStructure, TableColumns, execution_error, stopped,
};
use datafusion::common::Result;

use super::columns::{Classes, Names, OwnFeatures, classes, no_labels, values};
use super::provenance::{Content, ContentHash};
use super::splits::{DRAWN, ItemsError, SplitChoice, StoredSplit, read_splits, split_columns, split_text, stored};
use super::timed::rows::{Columns, Edges, TimedRows};
use super::types::{Kinds, ONE_TYPE, TYPE, TypedColumn};
use crate::{
    EdgeWeights, FeatureSource, Featureless, Features, GraphData, GraphTypes, LinkError, LinkSplit, Shares, Source,
    Split, SplitScheme, Targets, Task, TrainError, TrainOptions, WeightError, reads_types,
};

/// The percentages of training, validation and test edges by default.
const DRAWN_EDGES: [f64; 3] = [85.0, 5.0, 10.0];

/// A graph ready for runs. Optional parts are `Result`s: the error says why a job that needs one fails.
#[derive(Debug)]
pub(super) struct LoadedGraph {
    graph: Arc<Graph>,
    /// The rows of the edges as arcs, where a job reads them.
    arcs: std::result::Result<Arc<Digraph>, String>,
    /// The weights of the edges and of the arcs, where a job reads them.
    weights: Weights,
    /// The types of the nodes and the relations of the edges, where a job reads them.
    types: std::result::Result<Arc<GraphTypes>, String>,
    keys: Arc<KeyIndex>,
    /// The classes by the column that they stand in.
    labels: BTreeMap<String, std::result::Result<Classes, String>>,
    /// The numbers by the column that they stand in.
    values: BTreeMap<String, std::result::Result<Vec<Option<f64>>, String>>,
    features: OwnFeatures,
    times: Option<Vec<f64>>,
    /// The stored splits, by their number.
    splits: BTreeMap<i64, StoredSplit>,
    content: Content,
    /// The number of rows of edges that have both ends.
    n_rows: usize,
    /// The rows of nodes as items see them, where jobs have some.
    timed: std::result::Result<TimedRows, String>,
}

/// The nodes that edges name and nodes lacks, of which there are `count`, in words.
fn unknown_ends(keys: &KeyIndex, ends: [&KeyColumn; 2], count: usize) -> String {
    let first = ends.into_iter().find_map(|column| {
        let numbers = keys.numbers(column);
        (0..numbers.len()).find(|&row| numbers[row].is_none() && column.is_valid(row)).map(|row| column.describe(row))
    });
    let first = first.unwrap_or_default();
    match count {
        1 => format!("the node {first}"),
        _ => format!("{count} nodes, such as {first},"),
    }
}

impl LoadedGraph {
    /// Reads a graph, unless it is cached; its labels, features, arcs and weights only if a job trains on them. The memory is
    /// reserved until the run ends, or as long as the graph is cached.
    pub fn read(run: &Run, tables: &GraphTables, required: RequiredParts<'_>) -> Result<Arc<SharedStructure<Self>>> {
        let (nodes, edges) = (node_columns(tables, required), edge_columns(tables, required));
        let mut read = vec![nodes.clone(), edges.clone()];
        read.extend(tables.splits.as_ref().map(|splits| split_columns(splits, "node")));
        // What a column is read as is not in its name: the labels may stand in any.
        let required_parts = (required.arcs, required.labels, required.types, required.means, required.rows);
        let form = (required_parts, tables.directed, &tables.missing, &tables.name);
        run.cached(tables, &read, format!("{form:?}"), || Self::read_rows(run, tables, (&nodes, &edges), required))
    }

    fn read_rows(
        run: &Run,
        tables: &GraphTables,
        (nodes, edges): (&TableColumns, &TableColumns),
        required: RequiredParts<'_>,
    ) -> Result<Self> {
        let names = &nodes.columns;
        let columns = run.read_columns(nodes)?;
        let column = |name: &str| names.iter().position(|other| *other == name).map(|i| &columns[i]);
        let node = KeyColumn::new(&columns[0], "nodes.node")?;
        let mut ends = run.read_columns(edges)?;
        let edge_time = if edges.columns.contains(&TIME) { ends.pop() } else { None };
        let weight = if edges.columns.contains(&"weight") { ends.pop() } else { None };
        let edge_type = if edges.columns.contains(&TYPE) { ends.pop() } else { None };
        let (src, dst) = (KeyColumn::new(&ends[0], "edges.src")?, KeyColumn::new(&ends[1], "edges.dst")?);

        let keys = KeyIndex::new(&[("nodes.node", &node)])?;
        let all = KeyIndex::new(&[("nodes.node", &node), ("edges.src", &src), ("edges.dst", &dst)])?;
        if all.len() != keys.len() {
            return Err(execution_error(format!(
                "edges ends at {} that nodes lacks: add them to nodes, or leave such edges out",
                unknown_ends(&keys, [&src, &dst], all.len() - keys.len())
            )));
        }
        let number_of_row = keys.numbers(&node);
        if number_of_row.iter().flatten().count() != keys.len() {
            let key = keys.repeated(&number_of_row).unwrap_or_default();
            return Err(execution_error(format!("nodes holds a key twice: node must be unique, and {key} is not")));
        }
        let n = keys.len();
        run.host().reserve(Graph::bytes(n, src.len()) + 64 * n).map_err(stopped)?;
        let arcs: Vec<(u32, u32)> = keys.arcs(&src, &dst).0;
        let n_rows = arcs.len();
        let rows_of_arcs = if required.types { arcs.clone() } else { Vec::new() };
        let graph = run.install(|| Graph::from_edges(n, &arcs));
        let weights = match &weight {
            None => Weights::lacking(),
            Some(weight) => {
                run.host().reserve(2 * EdgeWeights::bytes(arcs.len()) + 16 * arcs.len()).map_err(stopped)?;
                Weights::read(weight, &keys, &src, &dst)?
            }
        };
        let arcs = match (required.arcs, tables.directed) {
            (false, _) => Err(NO_ARCS.to_owned()),
            (true, Some(false)) => {
                let name = &tables.name;
                Err(format!("the rows of {name}.edges are edges without a direction: leave out adjacency => 'arcs'"))
            }
            (true, _) => {
                run.host().reserve(Graph::bytes(n, src.len())).map_err(stopped)?;
                Ok(Arc::new(run.install(|| Digraph::from_arcs(n, &arcs))))
            }
        };

        // Rows in the order of the nodes' numbers.
        let mut row_of = vec![0u32; n];
        for (row, number) in number_of_row.iter().enumerate() {
            if let Some(number) = number {
                row_of[*number as usize] = row as u32;
            }
        }
        let schema = tables.nodes.schema();
        let classes_in = |label: &str| match column(label) {
            None => Err(no_labels("the graph's nodes have", label, &schema)),
            Some(labels) => classes(labels, &format!("nodes.{label}"), Task::NodeClassification.name(), &row_of),
        };
        let labels = required.labels.iter().map(|&label| (label.to_owned(), classes_in(label))).collect();
        let node_kinds = Kinds::read(column(TYPE), "nodes.type", ONE_TYPE.0, &row_of);
        let values_in = |label: &str| {
            let found = column(label).ok_or_else(|| no_labels("the graph's nodes have", label, &schema));
            found.and_then(|found| values(found, Task::NodeRegression.name(), &row_of))
        };
        let values = required.labels.iter().map(|&label| (label.to_owned(), values_in(label))).collect();
        let own_features = column(FEATURES).filter(|_| required.features);
        let missing = tables.missing.as_deref();
        // Types matter to features where there are several; all that is wrong with them is said by models that read them.
        let several = node_kinds.as_ref().ok().filter(|kinds| kinds.names.len() > 1 && !required.rows);
        let several =
            several.filter(|_| own_features.is_some_and(|features| features.logical_null_count() < features.len()));
        let rows = match (required.rows, &node_kinds) {
            (true, Ok(kinds)) => {
                let bytes = own_features.map_or(0, |features| 4 * features.get_array_memory_size());
                run.host().reserve(bytes + 40 * n + 16 * n_rows).map_err(stopped)?;
                let columns = Columns {
                    features: own_features.zip(schema.field_with_name(FEATURES).ok()),
                    times: [column(TIME), edge_time.as_ref()],
                    row_of: &row_of,
                };
                columns.read(kinds, &|node| keys.describe(node))
            }
            (true, Err(why)) => Err(why.clone()),
            (false, _) => Err(NO_ROWS.to_owned()),
        };
        let features = match (own_features.filter(|_| !required.rows), schema.field_with_name(FEATURES)) {
            (Some(features), Ok(field)) => {
                run.host().reserve(features.get_array_memory_size()).map_err(stopped)?;
                let name: &dyn Fn(u32) -> String = &|node| keys.describe(node);
                match several {
                    None => OwnFeatures::read(features, field, &row_of, missing, name),
                    Some(kinds) => {
                        let column = TypedColumn { column: features, field, row_of: &row_of, kinds, name };
                        column.read(&graph, required.means, run.host())?
                    }
                }
            }
            _ => OwnFeatures::absent(),
        };
        let times = match column(TIME) {
            None => None,
            Some(time) => {
                let time =
                    cast(&cast(time, &DataType::Int64).unwrap_or_else(|_| Arc::clone(time)), &DataType::Float64)?;
                let time = time.as_primitive::<Float64Type>();
                let at = |&row: &u32| if time.is_null(row as usize) { f64::NAN } else { time.value(row as usize) };
                Some(row_of.iter().map(at).collect())
            }
        };
        let mut content = ContentHash::default();
        content.add("edges", &ends)?;
        let of_edges = content;
        if required.rows {
            let of_nodes = column(TIME).map(|time| vec![Arc::clone(&columns[0]), Arc::clone(time)]);
            let of_edges = edge_time.as_ref().map(|time| [&ends[..2], &[Arc::clone(time)][..]].concat());
            for (table, columns) in [("times of nodes", of_nodes), ("times of edges", of_edges)] {
                columns.map_or(Ok(()), |columns| content.add(table, &columns))?;
            }
        }
        let splits = match &tables.splits {
            None => BTreeMap::new(),
            Some(splits) => read_splits(run, splits, "node", &keys, &mut content)?,
        };
        let features_of = own_features.filter(|_| !features.is_absent() || required.rows);
        let type_of_features = column(TYPE).filter(|_| several.is_some() || required.rows);
        let features_of = features_of.map(|features| {
            [Some(&columns[0]), Some(features), type_of_features].into_iter().flatten().cloned().collect::<Vec<_>>()
        });
        let weights_of = weight.map(|weight| [Arc::clone(&ends[0]), Arc::clone(&ends[1]), weight]);
        let content = Content::new(content).with_edges(of_edges).with_features(features_of.as_deref())?;
        let mut content = content.with_weights(weights_of.as_ref().map(|columns| columns.as_slice()))?;
        if required.types {
            let of_nodes = column(TYPE).map(|kind| [Arc::clone(&columns[0]), Arc::clone(kind)]);
            let of_edges =
                edge_type.as_ref().map(|kind| [Arc::clone(&ends[0]), Arc::clone(&ends[1]), Arc::clone(kind)]);
            let columns = [of_nodes.as_ref().map(|c| c.as_slice()), of_edges.as_ref().map(|c| c.as_slice())];
            content = content.with_types(columns)?;
        }
        let graph = Arc::new(graph);
        let mut timed = rows.as_ref().map_or_else(|why| Err(why.clone()), |_| Err(NO_TYPES.to_owned()));
        let types = match (required.types, node_kinds) {
            (false, _) => Err(NO_TYPES.to_owned()),
            (true, Err(why)) => Err(why),
            (true, Ok(kinds)) => {
                let rows_of_edges = rows_with_ends(&keys, &src, &dst);
                match Kinds::read(edge_type.as_ref(), "edges.type", ONE_TYPE.1, &rows_of_edges) {
                    Err(why) => Err(why),
                    Ok(names) => {
                        let types = read_types(run, tables, kinds, &names, &rows_of_arcs)?;
                        if let (Ok(types), Ok(rows)) = (&types, rows) {
                            let edges = Edges { names: &names, arcs: &rows_of_arcs, rows: &rows_of_edges };
                            timed = rows.joined(&graph, types, edges);
                        }
                        types
                    }
                }
            }
        };
        for label in required.labels {
            let read = [Some(&columns[0]), column(label), column(TIME)].into_iter().flatten().cloned();
            content = content.with_labels(label, "nodes", &read.collect::<Vec<_>>())?;
        }
        Ok(Self {
            graph,
            arcs,
            weights,
            types,
            keys: Arc::new(keys),
            labels,
            values,
            features,
            times,
            splits,
            content,
            n_rows,
            timed,
        })
    }

    /// The rows of the nodes as items see them.
    pub fn timed(&self) -> std::result::Result<&TimedRows, String> {
        self.timed.as_ref().map_err(String::clone)
    }

    /// The number of each key of a column, where it is a node's.
    pub fn numbers(&self, keys: &KeyColumn) -> Vec<Option<u32>> {
        self.keys.numbers(keys)
    }

    /// The graph without its columns.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The features that the graph has, or none where it has none.
    pub fn own_features(&self) -> std::result::Result<Arc<Features>, String> {
        self.features.of(FeatureSource::Auto, Featureless::Embedding)
    }

    /// The hashes of what a run reads of the graph.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The classes in a column.
    fn labels(&self, label: &str) -> std::result::Result<&Classes, String> {
        let unread = || format!("the graph was read without its column {label}");
        self.labels.get(label).ok_or_else(unread)?.as_ref().map_err(String::clone)
    }

    /// The keys of the nodes and the labels of the classes in a column.
    pub fn names(&self, label: &str) -> Names {
        let classes = self.labels(label).map(|labels| Arc::clone(&labels.names)).unwrap_or_default();
        Names::new(Arc::clone(&self.keys), classes)
    }

    /// The data of a run, with the labels of a column. They do not matter to links.
    pub fn data(&self, options: &TrainOptions, label: &str) -> std::result::Result<GraphData, String> {
        let (labels, n_classes) = match options.task {
            Task::LinkPrediction | Task::NodeRegression => (vec![None; self.graph.n_nodes()], 0),
            _ => self.labels(label).map(|labels| (labels.of.clone(), labels.names.len()))?,
        };
        let features = self.features.of(options.features, options.featureless)?;
        let data = GraphData::new(Arc::clone(&self.graph), features, labels, n_classes);
        let mut data = data.map_err(|error| error.to_string())?;
        if options.reads_arcs() && options.task.is_of_nodes() {
            let arcs = self.arcs.as_ref().map_err(String::clone)?;
            data = data.with_arcs(Arc::clone(arcs)).map_err(|error| error.to_string())?;
        }
        if options.reads_weights() {
            let weights = if options.reads_arcs() { &self.weights.arcs } else { &self.weights.edges };
            data = data.with_weights(Arc::clone(weights.as_ref().map_err(String::clone)?));
        }
        if reads_types(options) {
            let types = self.types.as_ref().map_err(String::clone)?;
            data = data.with_types(Arc::clone(types)).map_err(|error| error.to_string())?;
        }
        match &self.times {
            Some(times) => data.with_times(times.clone()).map_err(|error| error.to_string()),
            None => Ok(data),
        }
    }

    /// The graph for pre-training, which reads no label.
    pub fn source(&self, name: &str, options: &TrainOptions) -> std::result::Result<Source, String> {
        let features = self.features.of(options.features, options.featureless)?;
        Ok(Source { name: name.to_owned(), graph: Arc::clone(&self.graph), features })
    }

    /// The split of a run: the stored one that it names, else drawn; by default split 0 where the publisher gives one,
    /// and `random:60/20/20` where not.
    pub fn split(&self, data: &GraphData, choice: &SplitChoice, seed: u64) -> std::result::Result<Split, String> {
        let targets = Targets::Classes(data.labels().to_vec(), data.n_classes());
        self.split_of(&targets, choice, seed)
    }

    /// The number of each node in a column.
    pub fn values(&self, label: &str) -> std::result::Result<Targets, String> {
        let unread = || format!("the graph was read without its column {label}");
        self.values.get(label).ok_or_else(unread)?.clone().map(Targets::Values)
    }

    /// [`LoadedGraph::split`] of the nodes whose targets are known.
    pub fn split_of(&self, targets: &Targets, choice: &SplitChoice, seed: u64) -> std::result::Result<Split, String> {
        let scheme = match &choice.scheme {
            Some(text) => text.parse::<SplitScheme>().map_err(|error| error.to_string())?,
            None if !self.splits.is_empty() => SplitScheme::Public,
            None if choice.split.is_some() => {
                return Err("the graph stores no splits: leave split out, or name a split_scheme".to_owned());
            }
            None => DRAWN.parse::<SplitScheme>().map_err(|error| error.to_string())?,
        };
        if scheme != SplitScheme::Public {
            let seed = choice.split.map_or(seed, |split| split as u64);
            let split = targets.split(scheme, self.times.as_deref(), seed);
            return split.map_err(|error| split_text(&error, &self.keys));
        }
        let stored = stored(&self.splits, choice.split.unwrap_or(0))?;
        let split = targets.given_split("node", &stored.train, &stored.val, &stored.test);
        split.map_err(|error| split_text(&error, &self.keys))
    }

    /// The split of a run's edges, drawn from its seed or from the number of the split.
    pub fn links(
        &self,
        choice: &SplitChoice,
        seed: u64,
        monitor: &dyn Monitor,
    ) -> std::result::Result<LinkSplit, ItemsError> {
        if let Some(pairs) = &choice.pairs {
            let _memory = Reservation::new(monitor, pairs.bytes()).map_err(ItemsError::Stopped)?;
            return Ok(pairs.split(&self.keys, choice.split)?);
        }
        let [train, val, test] = DRAWN_EDGES;
        let scheme = match &choice.scheme {
            None => Shares::new(train, val, test).map(SplitScheme::Random),
            Some(text) => Some(text.parse::<SplitScheme>().map_err(|error| error.to_string())?),
        };
        let seed = choice.split.map_or(seed, |split| split as u64);
        let drawn = match scheme {
            Some(SplitScheme::Random(shares)) => LinkSplit::draw(&self.graph, shares, seed, monitor),
            Some(SplitScheme::Arcs(shares)) => LinkSplit::draw_arcs(&self.graph, shares, seed, monitor),
            _ => {
                return Err(
                    "link_prediction draws its edges: choose a split_scheme such as random:85/5/10, or give pairs"
                        .to_owned(),
                )?;
            }
        };
        drawn.map_err(|error| match error {
            LinkError::Stopped(stopped) => ItemsError::Stopped(stopped),
            error => ItemsError::Error(error.to_string()),
        })
    }

    /// The text of an error, with the keys of nodes for their numbers.
    pub fn describe(&self, error: &TrainError) -> String {
        if let TrainError::Pair(u, v, why) = error
            && (*u.max(v) as usize) < self.keys.len()
        {
            return format!("the pair {}, {} of the split {why}", self.keys.describe(*u), self.keys.describe(*v));
        }
        negative_weight(error, &|node| self.keys.describe(node)).unwrap_or_else(|| error.to_string())
    }

    /// The bytes of a run's own copy of the labels.
    pub fn bytes(&self) -> usize {
        8 * self.graph.n_nodes() + if self.times.is_some() { 8 * self.graph.n_nodes() } else { 0 }
    }
}

impl GraphStructure for LoadedGraph {
    fn n_nodes(&self) -> usize {
        self.graph.n_nodes()
    }

    fn n_arcs(&self) -> usize {
        self.n_rows
    }

    fn resident_bytes(&self) -> usize {
        self.graph.resident_bytes()
            + self.keys.bytes()
            + self.arcs.as_ref().map_or(0, |arcs| arcs.resident_bytes())
            + self.weights.bytes()
            + self.types.as_ref().map_or(0, |types| types.resident_bytes())
            + self.labels.values().flatten().map(Classes::bytes).sum::<usize>()
            + self.values.values().flatten().map(|values| size_of_val(values.as_slice())).sum::<usize>()
            + self.features.bytes()
            + self.times.as_ref().map_or(0, |times| size_of_val(times.as_slice()))
            + self.splits.values().map(StoredSplit::bytes).sum::<usize>()
            + self.timed.as_ref().map_or(0, |timed| timed.graph.bytes())
    }
}

/// The columns of the times and the features of nodes.
pub(super) const TIME: &str = "time";
pub(super) const FEATURES: &str = "features";

/// The columns of nodes that jobs read, each once: first the keys.
fn node_columns<'a>(tables: &'a GraphTables, required: RequiredParts<'a>) -> TableColumns<'a> {
    let schema = tables.nodes.schema();
    let typed = (required.features || required.types).then_some(TYPE);
    let optional = required.labels.iter().copied().chain([TIME]).chain(required.features.then_some(FEATURES));
    let optional = optional.chain(typed);
    let mut columns = vec!["node"];
    for name in optional.filter(|name| schema.field_with_name(name).is_ok()) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    TableColumns { table: &tables.nodes, name: "nodes", columns }
}

/// The columns of edges that jobs read.
fn edge_columns<'a>(tables: &'a GraphTables, required: RequiredParts<'_>) -> TableColumns<'a> {
    let mut columns = vec!["src", "dst"];
    columns.extend((required.types && tables.edges.schema().field_with_name(TYPE).is_ok()).then_some(TYPE));
    columns.extend(weight_column(tables, required.weights));
    columns.extend((required.rows && tables.edges.schema().field_with_name(TIME).is_ok()).then_some(TIME));
    TableColumns { table: &tables.edges, name: "edges", columns }
}

/// The rows of edges that have both ends, in the order of their arcs.
fn rows_with_ends(keys: &KeyIndex, src: &KeyColumn, dst: &KeyColumn) -> Vec<u32> {
    let (src, dst) = (keys.numbers(src), keys.numbers(dst));
    let both = (0u32..).zip(src.iter().zip(&dst)).filter(|(_, (src, dst))| src.is_some() && dst.is_some());
    both.map(|(row, _)| row).collect()
}

/// The relations of the rows of edges, whose types are `names`. The memory is reserved for good.
fn read_types(
    run: &Run,
    tables: &GraphTables,
    kinds: Kinds,
    names: &Kinds,
    arcs: &[(u32, u32)],
) -> Result<std::result::Result<Arc<GraphTypes>, String>> {
    let kind = |node: u32| kinds.of[node as usize];
    let edges = || arcs.iter().zip(&names.of).map(|(&(src, dst), &name)| (src, dst, name));
    let relations: BTreeSet<_> = edges().map(|(src, dst, name)| (kind(src), name, kind(dst))).collect();
    let (n, m) = (kinds.of.len(), arcs.len());
    // Both directions of each relation, and the rows of the one that is laid out.
    run.host().reserve(relations.len() * Digraph::bytes(n, 0) * 2 + 40 * m + 4 * n).map_err(stopped)?;
    let directed = tables.directed == Some(true);
    let types = run.install(|| GraphTypes::new(kinds.names.clone(), kinds.of.clone(), &names.names, edges(), directed));
    Ok(types.map(Arc::new).map_err(|error| error.to_string()))
}

/// The column of weights, where jobs read it and there is one.
pub(super) fn weight_column(tables: &GraphTables, wanted: bool) -> Option<&'static str> {
    (wanted && tables.edges.schema().field_with_name("weight").is_ok()).then_some("weight")
}

/// The optional parts of a graph that its jobs read.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequiredParts<'a> {
    /// The columns of labels, each once, in ascending order.
    pub labels: &'a [&'a str],
    pub features: bool,
    pub arcs: bool,
    pub weights: bool,
    /// The types of nodes and edges.
    pub types: bool,
    /// The means of neighbours where types have no features.
    pub means: bool,
    /// The rows of nodes as items see them: features by type, times of nodes and edges.
    pub rows: bool,
}

/// The weights of a graph, of its rows as edges and as arcs; the reason where they are not to be had.
#[derive(Debug)]
struct Weights {
    edges: std::result::Result<Arc<EdgeWeights>, String>,
    arcs: std::result::Result<Arc<EdgeWeights>, String>,
}

impl Weights {
    fn lacking() -> Self {
        let why = || Err(NO_WEIGHTS.to_owned());
        Self { edges: why(), arcs: why() }
    }

    fn bytes(&self) -> usize {
        let bytes = |weights: &std::result::Result<Arc<EdgeWeights>, String>| {
            weights.as_ref().map_or(0, |weights| weights.resident_bytes())
        };
        bytes(&self.edges) + bytes(&self.arcs)
    }

    fn read(weight: &dyn Array, keys: &KeyIndex, src: &KeyColumn, dst: &KeyColumn) -> Result<Self> {
        let (src, dst) = (keys.numbers(src), keys.numbers(dst));
        let row = |(row, (src, dst)): (usize, (&Option<u32>, &Option<u32>))| Some((((*src)?, (*dst)?), row));
        let rows = || src.iter().zip(&dst).enumerate().filter_map(row);
        let of = |directed| read_weights(weight, rows(), directed, &|node| keys.describe(node));
        Ok(Self { edges: of(false)?, arcs: of(true)? })
    }
}

/// Why there are no weights.
pub(super) const NO_WEIGHTS: &str = "the graph's edges have no column weight: leave out weights => true";

/// The weights of edges, or arcs, which stand in rows of a column.
pub(super) fn read_weights(
    weight: &dyn Array,
    ends: impl Iterator<Item = ((u32, u32), usize)>,
    directed: bool,
    describe: &dyn Fn(u32) -> String,
) -> Result<std::result::Result<Arc<EdgeWeights>, String>> {
    let column = cast(weight, &DataType::Float64)?;
    let column = column.as_primitive::<Float64Type>();
    let rows = ends.map(|((src, dst), row)| (src, dst, if column.is_null(row) { f64::NAN } else { column.value(row) }));
    Ok(EdgeWeights::new(rows, directed).map(Arc::new).map_err(|error| match error {
        WeightError::NotFinite { from, to, weight } => {
            let (from, to) = (describe(from), describe(to));
            let found = if weight.is_nan() { "NULL or NaN".to_owned() } else { weight.to_string() };
            format!("the edge of {from} and {to} has the weight {found}: a finite number is expected")
        }
        WeightError::Two { from, to, weights: (first, second) } => format!(
            "the edge of {} and {} has the weights {first} and {second}: rows of one edge agree",
            describe(from),
            describe(to)
        ),
    }))
}

/// The text of the error of a weight below 0 that a model cannot read; none of another error.
pub(super) fn negative_weight(error: &TrainError, describe: &dyn Fn(u32) -> String) -> Option<String> {
    let TrainError::NegativeWeight { from, to, weight } = error else { return None };
    let (from, to) = (describe(*from), describe(*to));
    Some(format!("the edge from {from} to {to} has the weight {weight}: weights of normalised sums are 0 or more"))
}

/// Whoever reads a graph says whether its jobs have items.
const NO_ROWS: &str = "the graph was read without the rows that items see";

/// Whoever reads a graph says whether its jobs read types.
const NO_TYPES: &str = "the graph was read without its types";

/// Whoever reads a graph says whether its jobs read arcs.
const NO_ARCS: &str = "the graph was read without its arcs";
