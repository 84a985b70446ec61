//! A collection of complexes as training reads it: a relation with `id`, `facets` and columns of labels.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, RecordBatch};
use arrow::compute::{cast, concat_batches, filter_record_batch};
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Int64Type, SchemaRef};
use bonnet_graph::{Graph, Monitor};
use bonnet_sql::{KeyColumn, KeyIndex, Parameter, Run, execution_error, sql_type, stopped, usage_error};
use bonnet_topology::{ChainComplex, FacesError, Facets};
use datafusion::common::Result;

use super::collection::split_of;
use super::columns::{Classes, Names, classes, no_labels, values};
use super::items::{Data, OwnedItems};
use super::provenance::{Content, ContentHash};
use super::splits::{SplitChoice, StoredSplit};
use crate::data::{ComplexSet, Complexes};
use crate::{FeatureSource, Features, GraphSet, Part, Targets, Task, TrainOptions, model};

/// The name of the relation among the parameters.
pub(super) const COMPLEXES: &str = "complexes";

/// The parameter of every function over jobs.
pub(super) fn parameter() -> Parameter {
    Parameter::relation(
        COMPLEXES,
        "A collection of simplicial complexes that the jobs are about: id, facets (INT[][]), columns of labels (see the option label), \
         and optional graph (which collection), part (train, val, test), features (FLOAT[][], a row for each vertex in \
         ascending order, or FLOAT[][][], such rows for each dimension).",
    )
    .optional()
}

/// Checks the columns of the relation; it is read whole, since jobs name their labels.
pub(super) fn check(function: &str, schema: &SchemaRef) -> Result<Vec<String>> {
    for name in ["id", "facets"] {
        if schema.field_with_name(name).is_err() {
            return usage_error(format!(
                "{function}: complexes has no column {name}; it needs id, facets (INT[][]) and the labels, as in \
                 {function}(jobs, complexes => (SELECT id, facets, orientable AS label FROM enumerate_surfaces(7)))"
            ));
        }
    }
    Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
}

/// The rows of the relation.
pub(super) struct ComplexTable {
    rows: RecordBatch,
}

impl ComplexTable {
    /// Joins the batches of the relation.
    pub fn new(batches: &[RecordBatch]) -> Result<Self> {
        let Some(first) = batches.first() else {
            return Err(execution_error("complexes gave no batch: report this as a defect"));
        };
        Ok(Self { rows: concat_batches(&first.schema(), batches)? })
    }

    /// The collection of a name: the rows with that text in the column `graph`, or all where there is none such.
    pub fn collection(&self, run: &Run, name: Option<&str>) -> Result<LoadedComplexes> {
        let Some(graph) = self.rows.column_by_name("graph") else { return LoadedComplexes::read(run, &self.rows) };
        let Some(name) = name else {
            return Err(execution_error("complexes has a column graph: the job has to name one"));
        };
        let graph = cast(graph, &DataType::Utf8)?;
        let chosen: BooleanArray = graph.as_string::<i32>().iter().map(|graph| Some(graph == Some(name))).collect();
        LoadedComplexes::read(run, &filter_record_batch(&self.rows, &chosen)?)
    }
}

/// A collection ready for runs. Optional parts are `Result`s: the error says why a job that needs one fails.
#[derive(Debug)]
pub(super) struct LoadedComplexes {
    rows: RecordBatch,
    row_of: Vec<u32>,
    ids: Arc<KeyIndex>,
    complexes: Arc<Complexes>,
    skeleton: OnceLock<(Arc<Graph>, Vec<u32>)>,
    splits: BTreeMap<i64, StoredSplit>,
    content: Content,
}

impl LoadedComplexes {
    fn read(run: &Run, rows: &RecordBatch) -> Result<Self> {
        let column = |name: &str| rows.column_by_name(name);
        let (Some(id), Some(facets)) = (column("id"), column("facets")) else {
            return Err(execution_error("complexes lacks id or facets"));
        };
        let id = KeyColumn::new(id, "complexes.id")?;
        let ids = KeyIndex::new(&[("complexes.id", &id)])?;
        let numbers = ids.numbers(&id);
        if ids.is_empty() {
            return Err(execution_error("complexes has no row for this job: check the column graph, or the query"));
        }
        if numbers.iter().flatten().count() != ids.len() || numbers.len() != ids.len() {
            return Err(execution_error("complexes holds an id twice, or NULL: it must be unique"));
        }
        let mut row_of = vec![0u32; ids.len()];
        for (row, number) in numbers.iter().enumerate().filter_map(|(row, number)| Some((row, (*number)?))) {
            row_of[number as usize] = row as u32;
        }
        let facets = Nested::new(facets, "facets", &DataType::Int64)?;
        let read = |number: usize, into: &mut Facets| {
            facets
                .facets(row_of[number] as usize, into)
                .map_err(|why| ReadError::Complex(format!("complex {}: {why}", ids.describe(number as u32))))
        };
        let host = run.host();
        let chain = run.install(|| ChainComplex::direct_sum(row_of.len(), read, host));
        let chain = chain.map_err(|error| match error {
            ReadError::Complex(text) => execution_error(text),
            ReadError::Faces(FacesError::Stopped(reason)) => stopped(reason),
            ReadError::Faces(error) => execution_error(format!("complexes: {error}")),
        })?;
        host.reserve(chain.bytes()).map_err(stopped)?;
        let splits = match column("part") {
            None => BTreeMap::new(),
            Some(part) => BTreeMap::from([(0, parts(part, &row_of)?)]),
        };
        let mut content = ContentHash::default();
        let structure: Vec<usize> =
            (0..rows.num_columns()).filter(|&i| rows.schema().field(i).name() != "features").collect();
        content.add("complexes", rows.project(&structure)?.columns())?;
        let features = column("features").map(|features| [Arc::clone(features)]);
        let content = Content::new(content).with_features(features.as_ref().map(|columns| columns.as_slice()))?;
        Ok(Self {
            rows: rows.clone(),
            row_of,
            ids: Arc::new(ids),
            complexes: Arc::new(chain.into()),
            skeleton: OnceLock::new(),
            splits,
            content,
        })
    }

    /// The hashes of what a run reads of the collection.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The bytes of a run's own copy of the targets.
    pub fn bytes(&self) -> usize {
        48 * self.ids.len()
    }

    /// The items of a run: the complexes, or for a model on graphs their 1-skeleta.
    pub fn items(
        &self,
        options: &TrainOptions,
        label: &str,
        choice: &SplitChoice,
    ) -> std::result::Result<OwnedItems, String> {
        let Some(column) = self.rows.column_by_name(label) else {
            return Err(no_labels("complexes has", label, self.rows.schema_ref()));
        };
        let (targets, classes) = match options.task {
            Task::GraphClassification => {
                let Classes { of, names } = classes(column, label, options.task.name(), &self.row_of)?;
                (Targets::Classes(of, names.len()), names)
            }
            Task::GraphRegression => (self.numbers(column)?, Arc::default()),
            other => {
                return Err(format!(
                    "task is `{other}`, but a collection of complexes has graph_classification and graph_regression"
                ));
            }
        };
        let names = Names::new(Arc::clone(&self.ids), classes);
        let spec = model(&options.model).map_err(|error| error.to_string())?;
        let data = if spec.reads_complexes() {
            let set = ComplexSet::new(Arc::clone(&self.complexes), targets).map_err(|error| error.to_string())?;
            let set = match options.features {
                FeatureSource::Auto if !self.has_features() => set,
                FeatureSource::Auto | FeatureSource::Given => self.with_features(set)?,
                _ => set,
            };
            let split = split_of(set.targets(), "complex", &self.splits, choice, options.seed, &self.ids)?;
            Data::Complexes(set, split)
        } else {
            let (graph, starts) = self.skeleton.get_or_init(|| self.skeleton());
            let features = match options.features {
                FeatureSource::Auto if !self.has_features() => Arc::new(Features::None),
                FeatureSource::Auto | FeatureSource::Given => Arc::new(self.vertex_features()?),
                _ => Arc::new(Features::None),
            };
            let set = GraphSet::new(Arc::clone(graph), features, starts.clone(), targets);
            let set = set.map_err(|error| error.to_string())?;
            let split = split_of(set.targets(), "graph", &self.splits, choice, options.seed, &self.ids)?;
            Data::Graphs(set, split)
        };
        Ok(OwnedItems { names, data })
    }

    /// One number each, or lists of as many.
    fn numbers(&self, column: &ArrayRef) -> std::result::Result<Targets, String> {
        if !column.data_type().is_list() {
            return values(column, Task::GraphRegression.name(), &self.row_of).map(Targets::Values);
        }
        let list = DataType::List(Arc::new(Field::new("item", DataType::Float64, true)));
        let lists = cast(column, &list).map_err(|error| error.to_string())?;
        let lists = lists.as_list::<i32>();
        let mut width = None;
        let mut vectors = Vec::with_capacity(self.row_of.len());
        for (number, &row) in self.row_of.iter().enumerate() {
            if lists.is_null(row as usize) {
                vectors.push(None);
                continue;
            }
            let items = lists.value(row as usize);
            let (found, id) = (items.len(), self.ids.describe(number as u32));
            let width = *width.get_or_insert(found);
            if found != width {
                return Err(format!("the label of complex {id} has {found} numbers, where the first has {width}"));
            }
            if items.null_count() > 0 {
                return Err(format!("the label of complex {id} has a number that is NULL"));
            }
            vectors.push(Some(items.as_primitive::<Float64Type>().values().to_vec().into_boxed_slice()));
        }
        match width {
            Some(width) if width > 0 => Ok(Targets::Vectors(vectors, width)),
            _ => Err("all labels are NULL or empty: there is nothing to learn".to_owned()),
        }
    }

    fn has_features(&self) -> bool {
        self.rows.column_by_name("features").is_some()
    }

    fn with_features(&self, set: ComplexSet) -> std::result::Result<ComplexSet, String> {
        let Some(column) = self.rows.column_by_name("features") else {
            return Err(format!("complexes has no column features; {}", crate::complexes::stand_ins()));
        };
        let chain = &self.complexes.chain;
        let item = |data_type| DataType::List(Arc::new(Field::new("item", data_type, true)));
        let outer = match depth(column.data_type()) {
            // The rows of the vertices as those of one dimension.
            2 => None,
            3 => {
                let all = cast(column, &item(item(item(DataType::Float32)))).map_err(|error| error.to_string())?;
                Some(all.as_list::<i32>().clone())
            }
            _ => {
                return Err(format!(
                    "features is {}, expected FLOAT[][], a row for each vertex in ascending order, or FLOAT[][][], such \
                     rows for each dimension",
                    sql_type(column.data_type())
                ));
            }
        };
        let lists = match &outer {
            None => Nested::new(column, "features", &DataType::Float32).map_err(|error| error.to_string())?,
            Some(outer) => Nested { outer: outer.values().as_list::<i32>().clone() },
        };
        let one = |(number, &row): (usize, &u32)| {
            let id = || self.ids.describe(number as u32);
            let row = row as usize;
            let dimensions = match &outer {
                None => row..row + 1,
                Some(outer) if outer.is_null(row) => return Err(format!("the features of complex {} are NULL", id())),
                Some(outer) => outer.value_offsets()[row] as usize..outer.value_offsets()[row + 1] as usize,
            };
            let read = |(k, at): (usize, usize)| {
                let count = chain.faces_of(number, k).len();
                lists.rows(at, count).map_err(|why| format!("the features of complex {} in dimension {k}: {why}", id()))
            };
            dimensions.enumerate().map(read).collect::<std::result::Result<Vec<Vec<f32>>, String>>()
        };
        let read = self.row_of.iter().enumerate().map(one).collect::<std::result::Result<Vec<_>, String>>()?;
        set.with_features(read).map_err(|error| error.to_string())
    }

    /// The 1-skeleta, one after the other, and where each starts.
    fn skeleton(&self) -> (Arc<Graph>, Vec<u32>) {
        let (mut starts, mut edges) = (vec![0u32], Vec::new());
        let chain = &self.complexes.chain;
        edges.extend(chain.vertices(1).chunks_exact(2).map(|edge| (edge[0], edge[1])));
        starts.extend((0..chain.n_complexes()).map(|complex| chain.faces_of(complex, 0).end as u32));
        (Arc::new(Graph::from_edges(starts[starts.len() - 1] as usize, &edges)), starts)
    }

    /// The features of the vertices, for a model on graphs.
    fn vertex_features(&self) -> std::result::Result<Features, String> {
        let none = Targets::Values(vec![None; self.ids.len()]);
        let set = ComplexSet::new(Arc::clone(&self.complexes), none).map_err(|error| error.to_string())?;
        let set = self.with_features(set)?;
        let Some(given) = &set.given else { return Ok(Features::None) };
        let values = given.rows.iter().flat_map(|rows| rows[0].iter().copied()).collect();
        Features::dense(given.widths[0], values).map_err(|error| error.to_string())
    }
}

/// Why facets were not read.
enum ReadError {
    /// The facets are no complex; says which and why.
    Complex(String),
    Faces(FacesError),
}

impl From<FacesError> for ReadError {
    fn from(error: FacesError) -> Self {
        Self::Faces(error)
    }
}

/// The split that the column `part` holds.
fn parts(column: &ArrayRef, row_of: &[u32]) -> Result<StoredSplit> {
    let parts = cast(column, &DataType::Utf8)?;
    let parts = parts.as_string::<i32>();
    let mut split = StoredSplit::default();
    for (item, &row) in (0u32..).zip(row_of) {
        match parts.is_valid(row as usize).then(|| parts.value(row as usize)) {
            None => {}
            Some(part) if part == Part::Train.name() => split.train.push(item),
            Some(part) if part == Part::Val.name() => split.val.push(item),
            Some(part) if part == Part::Test.name() => split.test.push(item),
            Some(other) => {
                return Err(execution_error(format!(
                    "complexes.part is '{other}'; parts are train, val and test, or NULL"
                )));
            }
        }
    }
    Ok(split)
}

/// The depth of nesting of a type's lists.
fn depth(data_type: &DataType) -> usize {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            1 + depth(item.data_type())
        }
        _ => 0,
    }
}

/// Lists of lists of numbers.
struct Nested {
    outer: ListArray,
}

impl Nested {
    fn new(column: &ArrayRef, name: &str, item: &DataType) -> Result<Self> {
        if depth(column.data_type()) != 2 {
            let found = sql_type(column.data_type());
            return Err(execution_error(format!("complexes.{name} is {found}, expected a list of lists of numbers")));
        }
        let inner = DataType::List(Arc::new(Field::new("item", item.clone(), true)));
        let column = cast(column, &DataType::List(Arc::new(Field::new("item", inner, true))))?;
        Ok(Self { outer: column.as_list::<i32>().clone() })
    }

    /// The inner lists of a row; none where it or one of them is NULL.
    fn lists(&self, row: usize) -> Option<std::ops::Range<usize>> {
        let range = self.outer.value_offsets()[row] as usize..self.outer.value_offsets()[row + 1] as usize;
        let inner = self.outer.values();
        (self.outer.is_valid(row) && range.clone().all(|at| inner.is_valid(at))).then_some(range)
    }

    /// The facets of a row.
    fn facets(&self, row: usize, into: &mut Facets) -> std::result::Result<(), String> {
        let inner = self.outer.values().as_list::<i32>();
        let numbers = inner.values().as_primitive::<Int64Type>();
        let Some(lists) = self.lists(row) else { return Err("its facets are NULL, or one of them is".to_owned()) };
        let offsets = &inner.value_offsets()[lists.start..=lists.end];
        let (start, end) = (offsets[0] as usize, offsets[offsets.len() - 1] as usize);
        if numbers.slice(start, end - start).null_count() > 0 {
            return Err("a vertex is NULL".to_owned());
        }
        into.read(offsets, &numbers.values()[..]).map_err(|error| error.to_string())
    }

    /// The inner lists of a row, one after the other: `count` of one length.
    fn rows(&self, row: usize, count: usize) -> std::result::Result<Vec<f32>, String> {
        let inner = self.outer.values().as_list::<i32>();
        let numbers = inner.values().as_primitive::<Float32Type>();
        let lists = self.lists(row).ok_or("the list, or one of its rows, is NULL")?;
        if lists.len() != count {
            return Err(format!("{} rows for {count} simplices", lists.len()));
        }
        let offsets = &inner.value_offsets()[lists.start..=lists.end];
        if let Some(pair) = offsets.windows(2).find(|pair| pair[1] - pair[0] != offsets[1] - offsets[0]) {
            return Err(format!(
                "a row has {} numbers, where the first has {}",
                pair[1] - pair[0],
                offsets[1] - offsets[0]
            ));
        }
        let (start, end) = (offsets[0] as usize, offsets[count] as usize);
        let slice = numbers.slice(start, end - start);
        if slice.null_count() > 0 {
            return Err("a number is NULL".to_owned());
        }
        Ok(slice.values().to_vec())
    }
}
