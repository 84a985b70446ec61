//! A graph's tables as training reads them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Int64Type};
use bonnet_graph::{Digraph, Graph, Monitor};
use bonnet_sql::{GraphTables, KeyColumn, KeyIndex, Run, execution_error, stopped};
use datafusion::catalog::TableProvider;
use datafusion::common::Result;

use super::items::{Names, Unready};
use super::provenance::{Content, ContentHash};
use crate::{
    FeatureSource, Features, GraphData, LinkError, LinkSplit, Part, Shares, SparseRows, Split, SplitError, SplitScheme,
    Task, TrainOptions,
};

/// How a split is drawn where the publisher gives none and the job says nothing.
pub(super) const DRAWN: &str = "random:60/20/20";
/// How edges are split.
const DRAWN_EDGES: [f64; 3] = [85.0, 5.0, 10.0];

/// Dense rows with a smaller share of non-zero entries than this are trained on as sparse ones: bags of words that were
/// published as dense arrays.
const SPARSE: f64 = 0.25;

/// A graph ready for runs. What one job needs and another does not is kept with the reason where it is not to be had.
#[derive(Debug)]
pub(super) struct LoadedGraph {
    graph: Arc<Graph>,
    /// The rows of the edges as arcs, where a job reads them.
    arcs: std::result::Result<Arc<Digraph>, String>,
    keys: Arc<KeyIndex>,
    labels: std::result::Result<Classes, String>,
    features: std::result::Result<Arc<Features>, String>,
    times: Option<Vec<f64>>,
    /// The stored splits, by their number.
    splits: BTreeMap<i64, StoredSplit>,
    content: Content,
}

/// The rows of a stored split.
#[derive(Debug, Default)]
pub(super) struct StoredSplit {
    pub train: Vec<u32>,
    pub val: Vec<u32>,
    pub test: Vec<u32>,
}

/// The class of each item, and what the classes are called.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    pub of: Vec<Option<u32>>,
    pub names: Arc<Vec<String>>,
}

/// How a job chooses its split.
#[derive(Debug, Clone, Default)]
pub(super) struct SplitChoice {
    pub scheme: Option<String>,
    pub split: Option<i64>,
}

impl LoadedGraph {
    /// Reads a graph; its features and its arcs only if a job trains on them. The memory is reserved until the run ends.
    pub fn read(run: &Run, tables: &GraphTables, with_features: bool, with_arcs: bool) -> Result<Self> {
        let nodes = tables.nodes.schema();
        let mut names = vec!["node"];
        names.extend(["label", "time"].into_iter().filter(|name| nodes.field_with_name(name).is_ok()));
        let features = nodes.field_with_name("features").ok().cloned();
        if with_features && features.is_some() {
            names.push("features");
        }
        let columns = run.read_table(&tables.nodes, "nodes", &names)?;
        let column = |name: &str| names.iter().position(|other| *other == name).map(|i| &columns[i]);
        let node = KeyColumn::new(&columns[0], "nodes.node")?;
        let ends = run.read_table(&tables.edges, "edges", &["src", "dst"])?;
        let (src, dst) = (KeyColumn::new(&ends[0], "edges.src")?, KeyColumn::new(&ends[1], "edges.dst")?);

        let keys = KeyIndex::new(&[("nodes.node", &node)])?;
        let all = KeyIndex::new(&[("nodes.node", &node), ("edges.src", &src), ("edges.dst", &dst)])?;
        if all.len() != keys.len() {
            return Err(execution_error(format!(
                "edges ends at {} nodes that nodes lacks: add them to nodes, or leave such edges out",
                all.len() - keys.len()
            )));
        }
        let number_of_row = keys.numbers(&node);
        if number_of_row.iter().flatten().count() != keys.len() {
            return Err(execution_error("nodes holds a key twice: node must be unique"));
        }
        let n = keys.len();
        run.host().reserve(Graph::bytes(n, src.len()) + 64 * n).map_err(stopped)?;
        let arcs: Vec<(u32, u32)> = keys.arcs(&src, &dst).0;
        let graph = run.install(|| Graph::from_edges(n, &arcs));
        let arcs = match (with_arcs, tables.directed) {
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
        let labels = match column("label") {
            None => Err("the graph's nodes have no column label".to_owned()),
            Some(label) => classes(label, "nodes.label", Task::NodeClassification.name(), &row_of),
        };
        let features = match (column("features"), &features) {
            (Some(features), Some(field)) => {
                let missing = tables.missing.as_deref();
                run.host().reserve(features.get_array_memory_size()).map_err(stopped)?;
                read_features(features, field, &row_of, missing, &|node| keys.describe(node)).map(Arc::new)
            }
            _ => Err(NO_FEATURES.to_owned()),
        };
        let times = match column("time") {
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
        let structure = names.iter().filter(|name| **name != "features").count();
        content.add("nodes", &columns[..structure])?;
        content.add("edges", &ends)?;
        let splits = match &tables.splits {
            None => BTreeMap::new(),
            Some(splits) => read_splits(run, splits, "node", &keys, &mut content)?,
        };
        let features_of = column("features").map(|features| [Arc::clone(&columns[0]), Arc::clone(features)]);
        let content = Content::new(content, features_of.as_ref().map(|columns| columns.as_slice()))?;
        Ok(Self { graph: Arc::new(graph), arcs, keys: Arc::new(keys), labels, features, times, splits, content })
    }

    /// What a run reads of the graph.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// What the numbers of nodes and classes stand for.
    pub fn names(&self) -> Names {
        let classes = self.labels.as_ref().map(|labels| Arc::clone(&labels.names)).unwrap_or_default();
        Names { items: Arc::clone(&self.keys), classes }
    }

    /// The data of a run. Labels do not matter to links.
    pub fn data(&self, options: &TrainOptions) -> std::result::Result<GraphData, String> {
        let (labels, n_classes) = match options.task {
            Task::LinkPrediction => (vec![None; self.graph.n_nodes()], 0),
            _ => self.labels.clone().map(|labels| (labels.of, labels.names.len()))?,
        };
        let features = match options.features {
            FeatureSource::Given => Arc::clone(self.features.as_ref().map_err(String::clone)?),
            _ => Arc::new(Features::None),
        };
        let data = GraphData::new(Arc::clone(&self.graph), features, labels, n_classes);
        let mut data = data.map_err(|error| error.to_string())?;
        if options.reads_arcs() && options.task == Task::NodeClassification {
            let arcs = self.arcs.as_ref().map_err(String::clone)?;
            data = data.with_arcs(Arc::clone(arcs)).map_err(|error| error.to_string())?;
        }
        match &self.times {
            Some(times) => data.with_times(times.clone()).map_err(|error| error.to_string()),
            None => Ok(data),
        }
    }

    /// The split of a run: the stored one that it names, else drawn; by default split 0 where the publisher gives one,
    /// and `random:60/20/20` where not.
    pub fn split(&self, data: &GraphData, choice: &SplitChoice, seed: u64) -> std::result::Result<Split, String> {
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
            return scheme.split(data, seed).map_err(|error| split_text(&error, &self.keys));
        }
        let stored = stored(&self.splits, choice.split.unwrap_or(0))?;
        Split::given(data, &stored.train, &stored.val, &stored.test).map_err(|error| split_text(&error, &self.keys))
    }

    /// The split of a run's edges, drawn from its seed or from the number of the split.
    pub fn links(
        &self,
        choice: &SplitChoice,
        seed: u64,
        monitor: &dyn Monitor,
    ) -> std::result::Result<LinkSplit, Unready> {
        let [train, val, test] = DRAWN_EDGES;
        let scheme = match &choice.scheme {
            None => Shares::new(train, val, test).map(SplitScheme::Random),
            Some(text) => Some(text.parse::<SplitScheme>().map_err(|error| error.to_string())?),
        };
        let Some(SplitScheme::Random(shares)) = scheme else {
            return Err("link_prediction draws its edges: choose a split_scheme such as random:85/5/10".to_owned())?;
        };
        let seed = choice.split.map_or(seed, |split| split as u64);
        LinkSplit::draw(&self.graph, shares, seed, monitor).map_err(|error| match error {
            LinkError::Stopped(stopped) => Unready::Stopped(stopped),
            error => Unready::Error(error.to_string()),
        })
    }

    /// The bytes of a run's own copy of the labels.
    pub fn bytes(&self) -> usize {
        8 * self.graph.n_nodes() + if self.times.is_some() { 8 * self.graph.n_nodes() } else { 0 }
    }
}

/// Whoever reads a graph says whether its jobs read arcs.
const NO_ARCS: &str = "the graph was read without its arcs";

pub(super) const NO_FEATURES: &str =
    "the graph has no features; choose a stand-in: features => 'identity', 'degree' or 'random:k'";

/// The stored split of a number.
pub(super) fn stored(splits: &BTreeMap<i64, StoredSplit>, number: i64) -> std::result::Result<&StoredSplit, String> {
    splits.get(&number).ok_or_else(|| {
        let stored: Vec<String> = splits.keys().map(i64::to_string).collect();
        match stored.is_empty() {
            true => "the graph stores no splits: choose a split_scheme such as random:60/20/20".to_owned(),
            false => format!("there is no split {number}; stored are: {}", stored.join(", ")),
        }
    })
}

/// What is wrong with a split, with the keys that the user knows.
pub(super) fn split_text(error: &SplitError, keys: &KeyIndex) -> String {
    match error {
        SplitError::Item { kind, item, part, why } if (*item as usize) < keys.len() => {
            format!("{kind} {} of the {part} part {why}", keys.describe(*item))
        }
        other => other.to_string(),
    }
}

/// The class of each item: labels in ascending order are classes 0, 1, ...
pub(super) fn classes(
    label: &ArrayRef,
    what: &str,
    task: &str,
    row_of: &[u32],
) -> std::result::Result<Classes, String> {
    let label = match label.data_type() {
        DataType::Boolean => cast(label, &DataType::Utf8).map_err(|error| error.to_string())?,
        data_type if data_type.is_floating() || data_type.is_nested() => {
            return Err(format!("labels are {data_type}, but {task} needs classes: integers or text"));
        }
        _ => Arc::clone(label),
    };
    let keys = KeyColumn::new(&label, what).map_err(|error| error.to_string())?;
    let index = KeyIndex::new(&[(what, &keys)]).map_err(|error| error.to_string())?;
    if index.is_empty() {
        return Err("all labels are NULL: there is nothing to learn".to_owned());
    }
    let numbers = index.numbers(&keys);
    let names = cast(&index.array(), &DataType::Utf8).map_err(|error| error.to_string())?;
    let names = names.as_string::<i32>().iter().map(|name| name.unwrap_or_default().to_owned()).collect();
    Ok(Classes { of: row_of.iter().map(|&row| numbers[row as usize]).collect(), names: Arc::new(names) })
}

/// Features in any of the forms of a graph's table; `name` says which node a number stands for.
pub(super) fn read_features(
    column: &ArrayRef,
    field: &Field,
    row_of: &[u32],
    missing: Option<&str>,
    name: &dyn Fn(u32) -> String,
) -> std::result::Result<Features, String> {
    let n = row_of.len();
    let absent = column.logical_nulls().map_or(0, |nulls| nulls.null_count());
    if absent > 0 {
        let why = missing.map_or_else(|| "their features are NULL".to_owned(), |file| format!("missing file: {file}"));
        return Err(format!(
            "{absent} of {n} nodes have no features ({why}); choose a stand-in: features => 'identity', 'degree' or \
             'random:k'"
        ));
    }
    let width = field.metadata().get("bonnet.width").and_then(|width| width.parse::<usize>().ok());
    let arrow = |error: arrow::error::ArrowError| error.to_string();
    let entries = match column.data_type() {
        DataType::Map(_, _) => {
            let map = column.as_map();
            Some((map.value_offsets().to_vec(), Arc::clone(map.keys()), Arc::clone(map.values())))
        }
        DataType::List(item) | DataType::LargeList(item) if matches!(item.data_type(), DataType::Struct(_)) => {
            let list = cast(column, &DataType::List(Arc::clone(item))).map_err(arrow)?;
            let list = list.as_list::<i32>();
            let structs = list.values().as_struct();
            let (Some(index), Some(value)) = (structs.column_by_name("index"), structs.column_by_name("value")) else {
                return Err(format!("features are {}: sparse entries are {{index, value}}", column.data_type()));
            };
            Some((list.value_offsets().to_vec(), Arc::clone(index), Arc::clone(value)))
        }
        _ => None,
    };
    let wrong = |error: crate::DataError| error.to_string();
    if let Some((starts, index, value)) = entries {
        let (index, value) =
            (cast(&index, &DataType::Int64).map_err(arrow)?, cast(&value, &DataType::Float32).map_err(arrow)?);
        let (index, value) = (index.as_primitive::<Int64Type>(), value.as_primitive::<Float32Type>());
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (node, &row) in row_of.iter().enumerate() {
            for entry in starts[row as usize] as usize..starts[row as usize + 1] as usize {
                let position = match u32::try_from(index.value(entry)) {
                    Ok(position) if index.is_valid(entry) && value.is_valid(entry) => position,
                    _ => {
                        return Err(format!(
                            "the features of node {} hold a negative or NULL index, or a NULL value",
                            name(node as u32)
                        ));
                    }
                };
                finite(value.value(entry), position as usize, node, name)?;
                columns.push(position);
                values.push(value.value(entry));
            }
            offsets.push(columns.len());
        }
        let seen = columns.iter().max().map_or(0, |&index| index as usize + 1);
        return SparseRows::new(width.unwrap_or(seen).max(seen), offsets, columns, values)
            .map(Features::Sparse)
            .map_err(wrong);
    }
    match column.data_type() {
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _) => {}
        other => return Err(format!("features are {other}: expected FLOAT[] or MAP(INT, FLOAT)")),
    }
    let list = DataType::List(Arc::new(Field::new("item", DataType::Float32, true)));
    let list = cast(column, &list).map_err(arrow)?;
    let list = list.as_list::<i32>();
    let width = list.value_length(0).max(0) as usize;
    let numbers = list.values().as_primitive::<Float32Type>();
    let mut values = Vec::with_capacity(n * width);
    for (node, &row) in row_of.iter().enumerate() {
        let (start, length) = (list.value_offsets()[row as usize] as usize, list.value_length(row as usize) as usize);
        if length != width {
            let node = name(node as u32);
            return Err(format!(
                "node {node} has {length} features, where the first row has {width}: all need as many"
            ));
        }
        if numbers.slice(start, length).null_count() > 0 {
            return Err(format!("a feature of node {} is NULL", name(node as u32)));
        }
        let row = &numbers.values()[start..start + length];
        row.iter().enumerate().try_for_each(|(column, value)| finite(*value, column, node, name))?;
        values.extend_from_slice(row);
    }
    let entries = values.iter().filter(|value| **value != 0.0).count();
    if (entries as f64) < SPARSE * values.len() as f64 {
        return sparse(width, &values).map(Features::Sparse).map_err(wrong);
    }
    Features::dense(width, values).map_err(wrong)
}

/// Fails for a feature that is no number, and names the node.
fn finite(value: f32, column: usize, node: usize, name: &dyn Fn(u32) -> String) -> std::result::Result<(), String> {
    match value.is_finite() {
        true => Ok(()),
        false => {
            let node = name(node as u32);
            Err(format!("feature {column} of node {node} is {value}; features must be finite"))
        }
    }
}

/// The non-zero entries of dense rows.
fn sparse(width: usize, values: &[f32]) -> std::result::Result<SparseRows, crate::DataError> {
    let (mut offsets, mut columns, mut entries) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks_exact(width) {
        for (column, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            columns.push(column as u32);
            entries.push(*value);
        }
        offsets.push(columns.len());
    }
    SparseRows::new(width, offsets, columns, entries)
}

/// The stored splits of the items, whose column is called `item`.
pub(super) fn read_splits(
    run: &Run,
    table: &Arc<dyn TableProvider>,
    item: &str,
    keys: &KeyIndex,
    content: &mut ContentHash,
) -> Result<BTreeMap<i64, StoredSplit>> {
    let columns = run.read_table(table, "splits", &["split", item, "part"])?;
    content.add("splits", &columns)?;
    let number = cast(&columns[0], &DataType::Int64)?;
    let items = keys.numbers(&KeyColumn::new(&columns[1], &format!("splits.{item}"))?);
    let part = cast(&columns[2], &DataType::Utf8)?;
    let mut splits: BTreeMap<i64, StoredSplit> = BTreeMap::new();
    for ((number, item), part) in number.as_primitive::<Int64Type>().iter().zip(items).zip(part.as_string::<i32>()) {
        let (Some(number), Some(part)) = (number, part) else { continue };
        let Some(item) = item else {
            return Err(execution_error(format!("split {number} names a node or graph that the graph lacks")));
        };
        let split = splits.entry(number).or_default();
        match part {
            part if part == Part::Train.name() => split.train.push(item),
            part if part == Part::Val.name() => split.val.push(item),
            part if part == Part::Test.name() => split.test.push(item),
            other => {
                return Err(execution_error(format!(
                    "split {number}: part is '{other}'; parts are train, val and test"
                )));
            }
        }
    }
    Ok(splits)
}
