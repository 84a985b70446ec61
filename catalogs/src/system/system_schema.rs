//! The schema `bonnet`: what the engine knows of itself, as tables.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Int64Array, ListBuilder, RecordBatch, RecordBatchOptions, StringArray, StringBuilder,
    StructArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use async_trait::async_trait;
use bonnet_common::SYSTEM_SCHEMA;
use datafusion::catalog::{SchemaProvider, Session, TableProvider};
use datafusion::common::{Result, internal_datafusion_err, plan_err};
use datafusion::execution::TaskContext;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::graphs::{GraphEntry, Measured, Measures, list_graphs, measure_graph};
use crate::ground::lazy::{LazyExec, LazyRows, TableRows};
use crate::schemas::engine_schema::EngineSchema;

/// The rows that the engine provides. The graphs are found in the catalogs.
pub trait SystemRows: Debug + Send + Sync + 'static {
    /// The SQL functions, one row each.
    fn functions(&self) -> Vec<Function>;

    /// The models that `train` knows.
    fn models(&self) -> Vec<Model>;

    /// The settings of published tables, one row each, in columns of the engine's.
    fn protocols(&self) -> Result<RecordBatch>;

    /// The printed cells of tables beside other figures of them, in columns of the engine's.
    fn audit(&self) -> Result<RecordBatch>;

    /// The graphs that are cached.
    fn cached_graphs(&self) -> Vec<CachedGraph>;

    /// The settings, with their values in this session.
    fn settings(&self, session: &SessionState) -> Vec<Setting>;
}

/// A row of `bonnet.functions`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Function {
    /// The name.
    pub name: String,
    /// `scalar`, `aggregate`, `edge`, `relation`, `generator`, ...
    pub kind: String,
    /// The name with its arguments and their defaults.
    pub signature: String,
    /// The type or the columns that it returns.
    pub returns: String,
    /// Its value and its use.
    pub description: String,
    /// A statement that runs.
    pub example: String,
    /// The paper and equation.
    pub source: String,
}

/// A row of `bonnet.models`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    /// The name, as `train` takes it.
    pub name: String,
    /// The family, e.g. `message passing`.
    pub family: String,
    /// The geometry of its embeddings, e.g. `Euclidean`, `hyperbolic`.
    pub geometry: String,
    /// The tasks that it can be trained for.
    pub tasks: Vec<String>,
    /// The paper.
    pub source: String,
    /// Its hyperparameters.
    pub hyperparameters: Vec<Hyperparameter>,
}

/// A hyperparameter of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hyperparameter {
    /// The name of the jobs' column.
    pub name: String,
    /// The SQL type.
    pub data_type: String,
    /// The default.
    pub default: String,
    /// The values that it may have.
    pub range: String,
    /// Its meaning.
    pub description: String,
}

/// A row of `bonnet.graph_cache`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CachedGraph {
    /// The tables that it was read from.
    pub name: String,
    /// Their versions.
    pub version: String,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of rows of edges that have both endpoints.
    pub edges: usize,
    /// The bytes of memory that it takes.
    pub bytes: usize,
    /// The number of calls that have used it beside the one that built it.
    pub hits: u64,
}

/// A row of `bonnet.settings`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// The name, as SET takes it.
    pub name: String,
    /// The value in this session; `None` is NULL.
    pub value: Option<String>,
    /// The default.
    pub default: Option<String>,
    /// Its meaning and its values.
    pub description: String,
}

/// The schema `bonnet`.
#[derive(Debug)]
pub struct SystemSchema {
    rows: Arc<dyn SystemRows>,
}

impl SystemSchema {
    /// The schema over the rows that the engine provides.
    pub fn new(rows: Arc<dyn SystemRows>) -> Self {
        Self { rows }
    }
}

#[async_trait]
impl SchemaProvider for SystemSchema {
    fn table_names(&self) -> Vec<String> {
        Which::ALL.iter().map(|which| which.name().to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(which) = Which::ALL.into_iter().find(|which| which.name() == name) else { return Ok(None) };
        let schema = match which {
            Which::Protocols => self.rows.protocols()?.schema(),
            Which::Audit => self.rows.audit()?.schema(),
            which => which.schema(),
        };
        Ok(Some(Arc::new(SystemTable { which, schema, rows: Arc::clone(&self.rows) })))
    }

    fn register_table(&self, name: String, _table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        plan_err!("{name} cannot be created in the system schema {SYSTEM_SCHEMA}; name another schema")
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        plan_err!("{SYSTEM_SCHEMA}.{name} belongs to the system and cannot be dropped")
    }

    fn table_exist(&self, name: &str) -> bool {
        Which::ALL.iter().any(|which| which.name() == name)
    }
}

impl EngineSchema for SystemSchema {
    fn why_not_drop(&self, table: &str) -> Option<String> {
        let why = || format!("{SYSTEM_SCHEMA}.{table} belongs to the system and cannot be dropped");
        self.table_exist(table).then(why)
    }
}

/// The tables of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Functions,
    Models,
    Graphs,
    GraphCache,
    Runs,
    Settings,
    Datasets,
    Protocols,
    Audit,
}

impl Which {
    const ALL: [Self; 9] = [
        Self::Functions,
        Self::Models,
        Self::Graphs,
        Self::GraphCache,
        Self::Runs,
        Self::Settings,
        Self::Datasets,
        Self::Protocols,
        Self::Audit,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Functions => "functions",
            Self::Models => "models",
            Self::Graphs => "graphs",
            Self::GraphCache => "graph_cache",
            Self::Runs => "runs",
            Self::Settings => "settings",
            Self::Datasets => "datasets",
            Self::Protocols => "protocols",
            Self::Audit => "audit",
        }
    }

    fn schema(self) -> SchemaRef {
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let number = |name: &str| Field::new(name, DataType::Int64, true);
        let list = |name: &str, item: DataType| {
            Field::new(name, DataType::List(Arc::new(Field::new("item", item, true))), true)
        };
        Arc::new(Schema::new(match self {
            Self::Functions => {
                ["name", "kind", "signature", "returns", "description", "example", "source"].map(text).to_vec()
            }
            Self::Models => vec![
                text("name"),
                text("family"),
                text("geometry"),
                list("tasks", DataType::Utf8),
                text("source"),
                list("hyperparameters", DataType::Struct(hyperparameter_fields())),
            ],
            Self::Graphs => vec![
                text("graph"),
                text("format"),
                text("location"),
                Field::new("directed", DataType::Boolean, true),
                number("nodes"),
                number("edges"),
                number("features"),
                number("classes"),
            ],
            Self::GraphCache => {
                vec![text("graph"), text("version"), number("nodes"), number("edges"), number("bytes"), number("hits")]
            }
            Self::Runs => return super::runs::schema(),
            Self::Datasets => return super::datasets::schema(),
            Self::Settings => ["name", "value", "default", "description"].map(text).to_vec(),
            // Those of the engine's rows.
            Self::Protocols | Self::Audit => Vec::new(),
        }))
    }
}

fn hyperparameter_fields() -> Fields {
    ["name", "type", "default", "range", "description"]
        .map(|name| Field::new(name, DataType::Utf8, true))
        .to_vec()
        .into()
}

#[derive(Debug)]
struct SystemTable {
    which: Which,
    schema: SchemaRef,
    rows: Arc<dyn SystemRows>,
}

#[async_trait]
impl TableProvider for SystemTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let state = state.as_any().downcast_ref::<SessionState>();
        let state =
            state.cloned().ok_or_else(|| internal_datafusion_err!("{SYSTEM_SCHEMA} needs a session's state"))?;
        let scan = SystemScan { which: self.which, schema: self.schema(), rows: Arc::clone(&self.rows), state };
        Ok(Arc::new(LazyExec::try_new(Arc::new(scan), &self.schema, projection, limit)?))
    }
}

/// The scan of a [`SystemTable`] in one session.
struct SystemScan {
    which: Which,
    schema: SchemaRef,
    rows: Arc<dyn SystemRows>,
    state: SessionState,
}

impl Debug for SystemScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SystemScan").field("which", &self.which).finish_non_exhaustive()
    }
}

impl LazyRows for SystemScan {
    fn describe(&self) -> String {
        format!("{SYSTEM_SCHEMA}.{}", self.which.name())
    }

    fn expected_bytes(&self, _columns: &[usize]) -> usize {
        match self.which {
            Which::Protocols | Which::Audit => 1024 * 1024,
            _ => 64 * 1024,
        }
    }

    fn rows<'a>(&'a self, columns: &'a [usize], context: &'a Arc<TaskContext>) -> BoxFuture<'a, Result<TableRows>> {
        async move {
            let has_column = |name: &str| columns.iter().any(|column| self.schema.field(*column).name() == name);
            let (all, count) = match self.which {
                Which::Functions => functions(&self.rows.functions()),
                Which::Models => models(&self.rows.models()),
                Which::Runs => return Ok(TableRows::Ready(super::runs::runs(columns, &self.state, context).await?)),
                Which::GraphCache => cached_graphs(&self.rows.cached_graphs()),
                Which::Settings => settings(&self.rows.settings(&self.state)),
                Which::Datasets => super::datasets::rows(),
                Which::Protocols => columns_of(&self.rows.protocols()?),
                Which::Audit => columns_of(&self.rows.audit()?),
                Which::Graphs => {
                    let selected = Measures {
                        nodes: has_column("nodes"),
                        edges: has_column("edges"),
                        features: has_column("features"),
                        classes: has_column("classes"),
                    };
                    let default_catalog = &self.state.config_options().catalog.default_catalog;
                    let entries = list_graphs(self.state.catalog_list().as_ref(), default_catalog).await?;
                    let mut measures = Vec::with_capacity(entries.len());
                    for entry in &entries {
                        measures.push(match selected == Measures::default() {
                            true => Measured::default(),
                            false => measure_graph(entry, selected, &self.state, context).await?,
                        });
                    }
                    graphs(&entries, &measures)
                }
            };
            let arrays = columns.iter().map(|column| Arc::clone(&all[*column])).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(count));
            let schema = Arc::new(self.schema.project(columns)?);
            Ok(TableRows::Ready(vec![RecordBatch::try_new_with_options(schema, arrays, &options)?]))
        }
        .boxed()
    }
}

fn columns_of(rows: &RecordBatch) -> (Vec<ArrayRef>, usize) {
    (rows.columns().to_vec(), rows.num_rows())
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<StringArray>())
}

fn functions(rows: &[Function]) -> (Vec<ArrayRef>, usize) {
    let column = |of: fn(&Function) -> &String| texts(rows.iter().map(|row| of(row).as_str()));
    let columns = vec![
        column(|row| &row.name),
        column(|row| &row.kind),
        column(|row| &row.signature),
        column(|row| &row.returns),
        column(|row| &row.description),
        column(|row| &row.example),
        column(|row| &row.source),
    ];
    (columns, rows.len())
}

fn models(rows: &[Model]) -> (Vec<ArrayRef>, usize) {
    let column = |of: fn(&Model) -> &String| texts(rows.iter().map(|row| of(row).as_str()));
    let mut tasks = ListBuilder::new(StringBuilder::new());
    for row in rows {
        row.tasks.iter().for_each(|task| tasks.values().append_value(task));
        tasks.append(true);
    }
    let parameters: Vec<&Hyperparameter> = rows.iter().flat_map(|row| &row.hyperparameters).collect();
    let field = |of: fn(&Hyperparameter) -> &String| texts(parameters.iter().map(|row| of(row).as_str()));
    let fields = vec![
        field(|row| &row.name),
        field(|row| &row.data_type),
        field(|row| &row.default),
        field(|row| &row.range),
        field(|row| &row.description),
    ];
    let parameters = StructArray::new(hyperparameter_fields(), fields, None);
    let item = Arc::new(Field::new("item", DataType::Struct(hyperparameter_fields()), true));
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|row| row.hyperparameters.len()));
    let parameters = arrow::array::ListArray::new(item, offsets, Arc::new(parameters), None);
    let columns = vec![
        column(|row| &row.name),
        column(|row| &row.family),
        column(|row| &row.geometry),
        Arc::new(tasks.finish()),
        column(|row| &row.source),
        Arc::new(parameters),
    ];
    (columns, rows.len())
}

fn cached_graphs(rows: &[CachedGraph]) -> (Vec<ArrayRef>, usize) {
    let number = |of: fn(&CachedGraph) -> usize| -> ArrayRef {
        Arc::new(rows.iter().map(|row| i64::try_from(of(row)).ok()).collect::<Int64Array>())
    };
    let columns = vec![
        texts(rows.iter().map(|row| row.name.as_str())),
        texts(rows.iter().map(|row| row.version.as_str())),
        number(|row| row.nodes),
        number(|row| row.edges),
        number(|row| row.bytes),
        number(|row| row.hits as usize),
    ];
    (columns, rows.len())
}

fn settings(rows: &[Setting]) -> (Vec<ArrayRef>, usize) {
    let optional = |of: fn(&Setting) -> &Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(|row| of(row).as_deref()).collect::<StringArray>())
    };
    let columns = vec![
        texts(rows.iter().map(|row| row.name.as_str())),
        optional(|row| &row.value),
        optional(|row| &row.default),
        texts(rows.iter().map(|row| row.description.as_str())),
    ];
    (columns, rows.len())
}

fn graphs(entries: &[GraphEntry], measures: &[Measured]) -> (Vec<ArrayRef>, usize) {
    let number =
        |of: fn(&Measured) -> Option<i64>| -> ArrayRef { Arc::new(measures.iter().map(of).collect::<Int64Array>()) };
    let columns = vec![
        texts(entries.iter().map(|entry| entry.name.as_str())),
        texts(entries.iter().map(|entry| entry.format.as_str())),
        Arc::new(entries.iter().map(|entry| entry.location.as_deref()).collect::<StringArray>()),
        Arc::new(entries.iter().map(|entry| Some(entry.directed)).collect::<BooleanArray>()),
        number(|measured| measured.nodes),
        number(|measured| measured.edges),
        number(|measured| measured.features),
        number(|measured| measured.classes),
    ];
    (columns, entries.len())
}
