//! Items as a relation with `node` and columns of labels: with their `features` and no edges, or as nodes of a graph at a `time`.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute::{cast, concat_batches, take_record_batch};
use arrow::datatypes::{DataType, SchemaRef};
use bonnet_graph::{Graph, Monitor};
use bonnet_sql::{KeyColumn, KeyIndex, Parameter, Run, execution_error, sql_type, stopped, usage_error};
use datafusion::common::Result;

use super::columns::{Classes, Names, OwnFeatures, classes, no_labels, values};
use super::graph::{FEATURES, TIME};
use super::items::{Data, OwnedItems};
use super::provenance::{Content, ContentHash};
use super::splits::{DRAWN, SplitChoice, StoredSplit};
use super::timed::rows::{is_time, whole_times};
use crate::{FeatureSource, GraphData, Part, Split, SplitScheme, Targets, Task, TrainOptions, model, models};

/// The name of the relation among the parameters.
pub(super) const ITEMS: &str = "items";

/// The columns of the items and of their parts.
pub(super) const NODE: &str = "node";
const SPLIT: &str = "split";
const WEIGHT: &str = "weight";

/// The parameter of every function over jobs.
pub(super) fn parameter() -> Parameter {
    Parameter::relation(
        ITEMS,
        "What is learnt and predicted, in place of all nodes of a graph: node (a key), columns of labels (see the option label), and \
         optional split ('train', 'val', 'test', or NULL for an item that is only predicted) and time (a date, a timestamp or a whole \
         number: a node may then be an item at several times). Where jobs name a graph, items are its nodes, and each sees the rows \
         and edges whose column time is not later than its own (NULL, or no column: always there); optional type is checked, and \
         optional features are columns of the item's own row. Without a graph items have features (FLOAT[] or MAP(INT, FLOAT)), for \
         the models that read no edges.",
    )
    .optional()
}

/// Checks the columns of the relation, of nodes of graphs where jobs name some; it is read whole, since jobs name their labels.
pub(super) fn check(function: &str, schema: &SchemaRef, of_graphs: bool) -> Result<Vec<String>> {
    let needed = if of_graphs { &[NODE][..] } else { &[NODE, FEATURES] };
    for name in needed {
        if schema.field_with_name(name).is_err() && of_graphs {
            return usage_error(format!(
                "{function}: items has no column {name}; it needs node and the labels, as in {function}((SELECT 'shop' AS graph, \
                 'r_graphsage' AS model), items => (SELECT customer AS node, day AS time, left AS label, part AS split FROM months))"
            ));
        }
        if schema.field_with_name(name).is_err() {
            return usage_error(format!(
                "{function}: items has no column {name}; it needs node, features (FLOAT[]) and the labels, as in {function}((SELECT \
                 'mlp' AS model), items => (SELECT id AS node, [age, income] AS features, left AS label FROM customers))"
            ));
        }
    }
    if of_graphs && schema.field_with_name(WEIGHT).is_ok() {
        return usage_error(format!(
            "{function}: items has a column weight, and items are not weighed: leave it out, or choose class_weights"
        ));
    }
    if schema.field_with_name("part").is_ok() {
        return usage_error(format!("{function}: items has a column part: call it split (train, val, test or NULL)"));
    }
    if let Ok(time) = schema.field_with_name(TIME)
        && !is_time(time.data_type())
    {
        return usage_error(format!(
            "{function}: items.time is {}, expected a date, a timestamp or a whole number: CAST it",
            sql_type(time.data_type())
        ));
    }
    Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
}

/// The rows of the relation.
pub(super) struct ItemTable {
    rows: RecordBatch,
}

impl ItemTable {
    /// Joins the batches of the relation.
    pub fn new(batches: &[RecordBatch]) -> Result<Self> {
        let Some(first) = batches.first() else {
            return Err(execution_error("items gave no batch: report this as a defect"));
        };
        Ok(Self { rows: concat_batches(&first.schema(), batches)? })
    }

    /// The items for runs that read labels of these columns.
    pub fn items(&self, run: &Run, labels: &BTreeSet<&str>) -> Result<LoadedItems> {
        LoadedItems::read(run, &self.rows, labels)
    }
}

/// Items ready for runs, in ascending order of their keys, then of their times.
#[derive(Debug)]
pub(super) struct LoadedItems {
    rows: RecordBatch,
    keys: Arc<KeyIndex>,
    /// The number of each item's key.
    key_of: Arc<[u32]>,
    times: Option<Vec<f64>>,
    features: OwnFeatures,
    parts: Option<StoredSplit>,
    content: Content,
}

impl LoadedItems {
    fn read(run: &Run, rows: &RecordBatch, labels: &BTreeSet<&str>) -> Result<Self> {
        let Some(node) = rows.column_by_name(NODE) else { return Err(execution_error("items lacks node")) };
        let features = rows.column_by_name(FEATURES);
        let n = rows.num_rows();
        if n == 0 {
            return Err(execution_error("items has no row: check the query"));
        }
        let node = KeyColumn::new(node, "items.node")?;
        let keys = KeyIndex::new(&[("items.node", &node)])?;
        let numbers = keys.numbers(&node);
        let nulls = numbers.iter().filter(|number| number.is_none()).count();
        if nulls > 0 {
            return Err(execution_error(format!("items.node is NULL in {nulls} of {n} rows: every item has a key")));
        }
        let key_of: Vec<u32> = numbers.into_iter().flatten().collect();
        let times = rows.column_by_name(TIME).map(|time| times(time, &|row| node.describe(row))).transpose()?;

        run.host().reserve(2 * rows.get_array_memory_size() + 32 * n).map_err(stopped)?;
        let mut order: Vec<u32> = (0..n as u32).collect();
        let place = |row: u32| (key_of[row as usize], times.as_ref().map(|times| times.value(row as usize)));
        order.sort_unstable_by_key(|&row| (place(row), row));
        if let Some(twice) = order.windows(2).find(|pair| place(pair[0]) == place(pair[1])) {
            return Err(execution_error(twice_in(rows, &node, [twice[0], twice[1]])?));
        }
        let key_of: Arc<[u32]> = order.iter().map(|&row| key_of[row as usize]).collect();
        let times = times.map(|times| order.iter().map(|&row| times.value(row as usize) as f64).collect());
        let nulls = features.and_then(|features| features.logical_nulls()).filter(|nulls| nulls.null_count() > 0);
        if let Some(first) = nulls.as_ref().and_then(|nulls| (0..n).find(|&row| nulls.is_null(row))) {
            let count = nulls.map_or(0, |nulls| nulls.null_count());
            return Err(execution_error(format!(
                "the features of {count} of {n} items are NULL, the first is {}: leave such items out, or fill them in the query",
                node.describe(first)
            )));
        }
        let rows = take_record_batch(rows, &UInt32Array::from(order))?;
        let describe = |item: u32| keys.describe(key_of[item as usize]);
        let all: Vec<u32> = (0..n as u32).collect();
        let column = |name: &str| rows.column_by_name(name);
        let own = match (column(FEATURES), rows.schema_ref().field_with_name(FEATURES)) {
            (Some(column), Ok(field)) => OwnFeatures::read(column, field, &all, None, &describe),
            _ => OwnFeatures::absent(),
        };
        let parts = column(SPLIT).map(|split| parts(split, &describe)).transpose()?;

        let mut content = ContentHash::default();
        let structure: Vec<ArrayRef> = [NODE, TIME, SPLIT].into_iter().filter_map(column).cloned().collect();
        content.add(ITEMS, &structure)?;
        let of_features: Vec<ArrayRef> = [NODE, TIME, FEATURES].into_iter().filter_map(column).cloned().collect();
        let mut content = Content::new(content).with_features(Some(&of_features))?;
        for label in labels {
            let read: Vec<ArrayRef> = [NODE, TIME, *label].into_iter().filter_map(column).cloned().collect();
            content = content.with_labels(label, "labels", &read)?;
        }
        Ok(Self { keys: Arc::new(keys), key_of, times, features: own, parts, content, rows })
    }

    /// The hashes of what a run reads of the items.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The rows of the relation, in the order of the items.
    pub fn rows(&self) -> &RecordBatch {
        &self.rows
    }

    /// The bytes of a run's own copy of the targets.
    pub fn bytes(&self) -> usize {
        48 * self.key_of.len()
    }

    /// The items of a run: nodes of a graph without edges. `known` are the names of the classes that a run which is loaded was
    /// trained on.
    pub fn items(
        &self,
        options: &TrainOptions,
        label: &str,
        choice: &SplitChoice,
        known: Option<&[String]>,
    ) -> std::result::Result<OwnedItems, String> {
        let spec = model(&options.model).map_err(|error| error.to_string())?;
        if spec.reads_edges() {
            let others: Vec<&str> =
                models().iter().filter(|other| !other.reads_edges()).map(|other| other.name).collect();
            return Err(format!(
                "{} reads the edges of a graph, and items has none: name a graph, or one of the models that read features \
                 alone: {}",
                spec.name,
                others.join(", ")
            ));
        }
        if !matches!(options.features, FeatureSource::Auto | FeatureSource::Given | FeatureSource::Random(_)) {
            return Err(format!(
                "features is `{}`; valid: auto, given, random:k, as items has no edges",
                options.features
            ));
        }
        if self.features.is_absent() {
            return Err(
                "items has no column features, and the job no graph: give items features, or name a graph".to_owned()
            );
        }
        self.prepared(options, options.features, label, choice, known)
    }

    /// The items of a run on a graph whose nodes they are: features are what they bring beside those of their rows.
    pub fn of_graph(
        &self,
        options: &TrainOptions,
        label: &str,
        choice: &SplitChoice,
        known: Option<&[String]>,
    ) -> std::result::Result<OwnedItems, String> {
        self.prepared(options, FeatureSource::Auto, label, choice, known)
    }

    fn prepared(
        &self,
        options: &TrainOptions,
        features: FeatureSource,
        label: &str,
        choice: &SplitChoice,
        known: Option<&[String]>,
    ) -> std::result::Result<OwnedItems, String> {
        // Parameters that are used as they are need neither labels nor parts.
        let trains = options.epochs > 0;
        let column = self.rows.column_by_name(label);
        if column.is_none() && trains {
            return Err(no_labels("items has", label, self.rows.schema_ref()));
        }
        let all: Vec<u32> = (0..self.key_of.len() as u32).collect();
        let unknown = || !trains && column.is_none_or(|column| column.logical_null_count() == column.len());
        let (targets, classes) = match (options.task, column) {
            (Task::NodeClassification, column) => {
                let found = match column {
                    Some(column) if !unknown() => classes(column, label, options.task.name(), &all)?,
                    _ => Classes { of: vec![None; all.len()], names: Arc::default() },
                };
                let found = match known {
                    Some(known) => self.as_known(found, known)?,
                    None if found.names.is_empty() => {
                        return Err("the file does not name the classes of its run: give the items labels".to_owned());
                    }
                    None => found,
                };
                (Targets::Classes(found.of, found.names.len()), found.names)
            }
            (Task::NodeRegression, Some(column)) if !unknown() => {
                (Targets::Values(values(column, options.task.name(), &all)?), Arc::default())
            }
            (Task::NodeRegression, _) => (Targets::Values(vec![None; all.len()]), Arc::default()),
            (other, _) => {
                let tasks = [Task::NodeClassification, Task::NodeRegression].map(Task::name).join(", ");
                return Err(format!("task is `{}`; valid: {tasks}, as items are rows", other.name()));
            }
        };
        targets.check("item").map_err(|error| error.to_string())?;
        let split = self.split(&targets, choice, options.seed, trains)?;
        let graph = Graph::from_edges(all.len(), &[]);
        let features = self.features.of(features, options.featureless)?;
        let labels = match &targets {
            Targets::Classes(labels, _) => labels.clone(),
            _ => vec![None; all.len()],
        };
        let data = GraphData::new(graph, features, labels, classes.len()).map_err(|error| error.to_string())?;
        let names = Names::new(Arc::clone(&self.keys), classes);
        let names = names.of_items(Arc::clone(&self.key_of), self.rows.column_by_name(TIME).cloned());
        let data = match targets {
            Targets::Classes(..) => Data::Nodes(data, split),
            targets => Data::NodeValues(data, targets, split),
        };
        Ok(OwnedItems { names, data })
    }

    /// The classes in the numbers that a loaded run has for them.
    fn as_known(&self, found: Classes, known: &[String]) -> std::result::Result<Classes, String> {
        let number = |name: &String| known.iter().position(|other| other == name).map(|number| number as u32);
        let numbers: Vec<Option<u32>> = found.names.iter().map(number).collect();
        let lacking = |item: &usize| found.of[*item].is_some_and(|class| numbers[class as usize].is_none());
        if let Some(item) = (0..found.of.len()).find(lacking) {
            let name = found.of[item].map_or("", |class| &found.names[class as usize]);
            return Err(format!(
                "the label of node {} is {name}, and the saved run knows: {}",
                self.keys.describe(self.key_of[item]),
                known.join(", ")
            ));
        }
        let of = found.of.into_iter().map(|class| class.and_then(|class| numbers[class as usize])).collect();
        Ok(Classes { of, names: Arc::new(known.to_vec()) })
    }

    fn split(
        &self,
        targets: &Targets,
        choice: &SplitChoice,
        seed: u64,
        trains: bool,
    ) -> std::result::Result<Split, String> {
        let scheme = choice.scheme.as_deref().map(str::parse::<SplitScheme>).transpose();
        let scheme = scheme.map_err(|error| error.to_string())?.filter(|scheme| *scheme != SplitScheme::Public);
        match (&self.parts, scheme) {
            (Some(_), Some(scheme)) => Err(format!(
                "split_scheme is `{scheme}`, and items has its parts in the column split: keep one of them"
            )),
            (Some(StoredSplit { train, val, test }), None) => {
                for (part, items) in [(Part::Train, train), (Part::Val, val), (Part::Test, test)] {
                    let mut lacking = items.iter().filter(|&&item| !targets.is_known(item as usize)).peekable();
                    let Some(first) = lacking.peek().map(|&&item| self.keys.describe(self.key_of[item as usize]))
                    else {
                        continue;
                    };
                    return Err(format!(
                        "the label of {} of {} items of the part {} is NULL, the first is node {first}: an item that is only \
                         predicted has a NULL split, too",
                        lacking.count(),
                        items.len(),
                        part.name()
                    ));
                }
                targets.given_split("item", train, val, test).map_err(|error| error.to_string())
            }
            (None, None) if !trains => Ok(Split::default()),
            (None, scheme) => {
                let scheme = match scheme {
                    Some(scheme) => scheme,
                    None => DRAWN.parse::<SplitScheme>().map_err(|error| error.to_string())?,
                };
                let seed = choice.split.map_or(seed, |split| split as u64);
                targets.split(scheme, self.times.as_deref(), seed).map_err(|error| error.to_string())
            }
        }
    }
}

/// The times as whole numbers; `name` gives the key of a row.
fn times(column: &ArrayRef, name: &dyn Fn(usize) -> String) -> Result<Int64Array> {
    if let Some(first) = column.logical_nulls().and_then(|nulls| (0..nulls.len()).find(|&row| nulls.is_null(row))) {
        return Err(execution_error(format!(
            "the time of {} of {} items is NULL, the first is node {}: every item has its time, or none has",
            column.logical_null_count(),
            column.len(),
            name(first)
        )));
    }
    whole_times(column)
}

/// What is said of an item that stands in two rows.
fn twice_in(rows: &RecordBatch, node: &KeyColumn, [first, second]: [u32; 2]) -> Result<String> {
    let text = |name: &str, row: u32| -> Result<Option<String>> {
        let Some(column) = rows.column_by_name(name) else { return Ok(None) };
        let column = cast(column, &DataType::Utf8)?;
        let column = column.as_string::<i32>();
        Ok(column.is_valid(row as usize).then(|| column.value(row as usize).to_owned()))
    };
    let mut found = format!("items holds node {} twice", node.describe(first as usize));
    if let Some(time) = text(TIME, first)? {
        found.push_str(&format!(" at {time}"));
    }
    let (one, other) = (text(SPLIT, first)?, text(SPLIT, second)?);
    if one != other {
        let part = |part: Option<String>| part.map_or_else(|| "no part".to_owned(), |part| format!("the part {part}"));
        found.push_str(&format!(", in {} and in {}", part(one), part(other)));
    }
    let advice = match rows.column_by_name(TIME) {
        None => ": an item is a node, or with a column time a node at a time",
        Some(_) => ": an item is a node at a time",
    };
    Ok(found + advice)
}

/// The split that the column holds; `name` gives the key of an item.
fn parts(column: &ArrayRef, name: &dyn Fn(u32) -> String) -> Result<StoredSplit> {
    if column.data_type().is_numeric() {
        let found = sql_type(column.data_type());
        return usage_error(format!("items.split is {found}: it holds train, val, test or NULL"));
    }
    let parts = cast(column, &DataType::Utf8)?;
    let mut split = StoredSplit::default();
    for (item, part) in (0u32..).zip(parts.as_string::<i32>()) {
        match part {
            None => {}
            Some("train") => split.train.push(item),
            Some("val" | "validation") => split.val.push(item),
            Some("test") => split.test.push(item),
            Some(other) => {
                let node = name(item);
                return Err(execution_error(format!(
                    "the split of node {node} is '{other}'; parts are train, val and test, or NULL for an item that is only predicted"
                )));
            }
        }
    }
    Ok(split)
}
