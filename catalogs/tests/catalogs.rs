//! Attached graphs, files and the system schema, through SQL.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::util::pretty::pretty_format_batches;
use bonnet_catalogs::{
    CachedGraph, EngineCatalog, EngineCatalogs, Function, GraphSchema, Hyperparameter, MemoryCatalog, Model, PlanQuery,
    SessionCatalogs, SessionSchema, Setting, SystemRows, SystemSchema,
};
use bonnet_datasets::{Dataset, Error, Opened, Options, Stamp, open};
use datafusion::catalog::SchemaProvider;
use datafusion::execution::context::SessionState;
use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};

/// A data set that counts its reads and can be made slow.
#[derive(Debug, Default)]
struct Counted {
    reads: AtomicUsize,
    columns: AtomicUsize,
    slow: AtomicBool,
    stopped: AtomicBool,
    options: Options,
}

impl Dataset for Counted {
    fn format(&self) -> &'static str {
        "counted"
    }

    fn location(&self) -> &str {
        "memory"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn directed(&self) -> bool {
        true
    }

    fn tables(&self) -> Vec<String> {
        vec!["nodes".to_owned(), "edges".to_owned()]
    }

    fn schema(&self, table: &str) -> Result<SchemaRef, Error> {
        let names = if table == "nodes" { ["node", "label"] } else { ["src", "dst"] };
        Ok(Arc::new(Schema::new(names.map(|name| Field::new(name, DataType::Int64, true)).to_vec())))
    }

    fn read(&self, table: &str, columns: &[usize], keep_going: &dyn Fn() -> bool) -> Result<Vec<RecordBatch>, Error> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.columns.store(columns.len(), Ordering::SeqCst);
        while self.slow.load(Ordering::SeqCst) {
            if !keep_going() {
                self.stopped.store(true, Ordering::SeqCst);
                return Err(Error::Cancelled);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let schema = Arc::new(self.schema(table)?.project(columns).unwrap());
        let column = Arc::new(Int64Array::from_iter_values(0..1000));
        let arrays: Vec<ArrayRef> = columns.iter().map(|_| Arc::clone(&column) as _).collect();
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(1000));
        Ok((0..3)
            .map(|_| RecordBatch::try_new_with_options(Arc::clone(&schema), arrays.clone(), &options).unwrap())
            .collect())
    }

    fn expected_bytes(&self, _table: &str, columns: &[usize]) -> usize {
        columns.len() * 24_000
    }

    fn stamp(&self) -> Stamp {
        Stamp { version: "1".to_owned(), modified: None }
    }
}

#[derive(Debug)]
struct Rows;

impl SystemRows for Rows {
    fn functions(&self) -> Vec<Function> {
        vec![Function { name: "skewness".into(), kind: "aggregate".into(), ..Function::default() }]
    }

    fn models(&self) -> Vec<Model> {
        let lr =
            Hyperparameter { name: "heads".into(), data_type: "INT".into(), default: "8".into(), ..Default::default() };
        let gat = Model {
            name: "gat".into(),
            tasks: vec!["node_classification".into()],
            hyperparameters: vec![lr],
            ..Default::default()
        };
        vec![Model { name: "mlp".into(), ..Default::default() }, gat]
    }

    fn protocols(&self) -> datafusion::common::Result<RecordBatch> {
        let names: ArrayRef = Arc::new(StringArray::from(vec!["paper/gat"]));
        Ok(RecordBatch::try_from_iter([("protocol", names)])?)
    }

    fn audit(&self) -> datafusion::common::Result<RecordBatch> {
        let means: ArrayRef = Arc::new(Float64Array::from(vec![Some(81.2), None]));
        Ok(RecordBatch::try_from_iter([("printed_mean", means)])?)
    }

    fn cached_graphs(&self) -> Vec<CachedGraph> {
        Vec::new()
    }

    fn settings(&self, session: &SessionState) -> Vec<Setting> {
        let value = Some(session.config_options().execution.batch_size.to_string());
        vec![Setting { name: "batch_size".into(), value, default: None, description: "rows".into() }]
    }
}

/// Plans views as DataFusion reads their text.
struct Plain;

impl PlanQuery for Plain {
    fn plan<'a>(
        &'a self,
        state: &'a SessionState,
        query: &'a str,
    ) -> BoxFuture<'a, datafusion::common::Result<LogicalPlan>> {
        state.create_logical_plan(query).boxed()
    }
}

/// A session and the catalogs that it sees.
struct Db {
    context: SessionContext,
    catalogs: Arc<EngineCatalogs>,
}

impl std::ops::Deref for Db {
    type Target = SessionContext;

    fn deref(&self) -> &SessionContext {
        &self.context
    }
}

fn context() -> Db {
    context_with(RuntimeEnvBuilder::new().build_arc().unwrap())
}

fn context_with(runtime: Arc<RuntimeEnv>) -> Db {
    let config = SessionConfig::new().with_default_catalog_and_schema("memory", "main");
    let context = SessionContext::new_with_config_rt(config.with_create_default_catalog_and_schema(false), runtime);
    let catalogs = Arc::new(EngineCatalogs::new("memory", Arc::new(SystemSchema::new(Arc::new(Rows)))));
    catalogs.insert("memory", Arc::new(MemoryCatalog::default()));
    SessionCatalogs::install(&context, Arc::clone(&catalogs), Arc::new(Plain));
    Db { context, catalogs }
}

fn attach(db: &Db, name: &str, dataset: Arc<dyn Dataset>) {
    let schema = Arc::new(GraphSchema::new(dataset, false));
    db.catalogs.get("memory").unwrap().register_schema(name, schema).unwrap();
}

/// Why a table of a schema cannot be dropped.
fn why_not_drop(db: &Db, schema: &str, table: &str) -> Option<String> {
    let schema = db.catalog("memory").unwrap().schema(schema).unwrap();
    SessionSchema::of(schema.as_ref()).unwrap().engine().why_not_drop(table)
}

fn karate() -> Arc<dyn Dataset> {
    match open("builtin:karate", None, &Options::new()) {
        Ok(Opened::Graph(graph)) => graph,
        other => panic!("{other:?}"),
    }
}

/// The rows as text, one line each, columns separated by `|`.
async fn rows(context: &Db, sql: &str) -> Result<Vec<String>, String> {
    let batches = match context.sql(sql).await {
        Ok(frame) => frame.collect().await.map_err(|error| error.to_string())?,
        Err(error) => return Err(error.to_string()),
    };
    let text = pretty_format_batches(&batches).map_err(|error| error.to_string())?.to_string();
    Ok(text
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(1)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>().join("|"))
        .collect())
}

#[tokio::test]
async fn an_attached_graph_is_a_schema() {
    let context = context();
    attach(&context, "karate", karate());
    let sql = "SELECT label, count(*) AS n FROM karate.nodes GROUP BY label ORDER BY label";
    assert_eq!(rows(&context, sql).await.unwrap(), ["Mr. Hi|17", "Officer|17"]);
    assert_eq!(rows(&context, "SELECT count(*) FROM karate.edges").await.unwrap(), ["78"]);
    assert_eq!(rows(&context, "SELECT count(features) FROM karate.nodes").await.unwrap(), ["0"]);
    assert_eq!(rows(&context, "SELECT dst FROM karate.edges LIMIT 2").await.unwrap(), ["1", "2"]);
    let sql = "SELECT count(*) FROM karate.edges e JOIN karate.nodes a ON e.src = a.node \
               JOIN karate.nodes b ON e.dst = b.node WHERE a.label <> b.label";
    assert_eq!(rows(&context, sql).await.unwrap(), ["11"]);
    let error = rows(&context, "SELECT * FROM karate.splits").await.unwrap_err();
    assert!(error.contains("karate.splits"), "{error}");
}

#[tokio::test]
async fn planning_reads_nothing_and_scans_read_only_their_columns() {
    let context = context();
    let counted = Arc::new(Counted::default());
    attach(&context, "g", Arc::clone(&counted) as _);
    let frame = context.sql("SELECT label FROM g.nodes LIMIT 1500").await.unwrap();
    let plan = frame.create_physical_plan().await.unwrap();
    let stream = plan.execute(0, context.task_ctx()).unwrap();
    assert_eq!(counted.reads.load(Ordering::SeqCst), 0);
    let batches: Vec<RecordBatch> = stream.map(Result::unwrap).collect().await;
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1500);
    assert_eq!((counted.reads.load(Ordering::SeqCst), counted.columns.load(Ordering::SeqCst)), (1, 1));
    let explained = rows(&context, "EXPLAIN SELECT label FROM g.nodes LIMIT 5").await.unwrap().join("\n");
    assert!(explained.contains("LazyExec: nodes of memory, projection=[label], fetch=5"), "{explained}");
    assert_eq!(rows(&context, "SELECT count(*) FROM g.edges").await.unwrap(), ["3000"]);
    assert_eq!(rows(&context, "SELECT * FROM g.edges LIMIT 0").await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_query_stops_its_read() {
    let context = context();
    let counted = Arc::new(Counted::default());
    counted.slow.store(true, Ordering::SeqCst);
    attach(&context, "g", Arc::clone(&counted) as _);
    let frame = context.sql("SELECT * FROM g.nodes").await.unwrap();
    let waited = tokio::time::timeout(Duration::from_millis(100), frame.collect()).await;
    assert!(waited.is_err());
    let since = Instant::now();
    while !counted.stopped.load(Ordering::SeqCst) {
        assert!(since.elapsed() < Duration::from_secs(1), "the read goes on");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_scan_reserves_its_memory_and_gives_it_back() {
    let pool = Arc::new(GreedyMemoryPool::new(60_000));
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(&pool) as _).build_arc().unwrap();
    let context = context_with(runtime);
    let counted = Arc::new(Counted::default());
    attach(&context, "g", Arc::clone(&counted) as _);
    let plan = context.sql("SELECT src FROM g.edges").await.unwrap().create_physical_plan().await.unwrap();
    let mut stream = plan.execute(0, context.task_ctx()).unwrap();
    assert_eq!(pool.reserved(), 0);
    stream.next().await.unwrap().unwrap();
    let held = pool.reserved();
    assert!(held >= 24_000, "{held}");
    stream.next().await.unwrap().unwrap();
    assert!(pool.reserved() < held);
    drop(stream);
    assert_eq!(pool.reserved(), 0);
    // Three columns' worth is more than the pool has; it is refused before anything is read.
    let reads = counted.reads.load(Ordering::SeqCst);
    let small = Arc::new(GreedyMemoryPool::new(10_000));
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(&small) as _).build_arc().unwrap();
    let context = context_with(runtime);
    attach(&context, "g", Arc::clone(&counted) as _);
    let error = rows(&context, "SELECT src, dst FROM g.edges").await.unwrap_err();
    assert!(error.contains("Resources exhausted") && error.contains("edges of memory"), "{error}");
    assert_eq!(counted.reads.load(Ordering::SeqCst), reads);
}

#[tokio::test]
async fn users_may_create_and_drop_beside_a_graphs_own_tables() {
    let context = context();
    attach(&context, "karate", karate());
    rows(&context, "CREATE VIEW karate.hi AS SELECT * FROM karate.nodes WHERE label = 'Mr. Hi'").await.unwrap();
    rows(&context, "CREATE TABLE karate.ages AS SELECT 1 AS node, 40 AS age").await.unwrap();
    assert_eq!(rows(&context, "SELECT count(*) FROM karate.hi").await.unwrap(), ["17"]);
    assert_eq!(rows(&context, "SELECT age FROM karate.ages").await.unwrap(), ["40"]);
    rows(&context, "DROP VIEW karate.hi").await.unwrap();
    assert!(rows(&context, "SELECT * FROM karate.hi").await.is_err());
    assert!(rows(&context, "DROP TABLE karate.nodes").await.is_err());
    assert!(why_not_drop(&context, "karate", "nodes").unwrap().contains("DETACH"));
    assert_eq!(why_not_drop(&context, "karate", "ages"), None);
    let error = rows(&context, "CREATE OR REPLACE TABLE karate.nodes AS SELECT 1 AS node").await.unwrap_err();
    assert!(error.contains("DETACH") || error.contains("attached"), "{error}");
    assert_eq!(rows(&context, "SELECT count(*) FROM karate.nodes").await.unwrap(), ["34"]);
}

#[tokio::test]
async fn drop_schema_cascade_reaches_the_schema_below() {
    let context = context();
    rows(&context, "CREATE SCHEMA s").await.unwrap();
    rows(&context, "CREATE TABLE s.t AS SELECT 1 AS x").await.unwrap();
    assert!(rows(&context, "DROP SCHEMA s").await.is_err());
    rows(&context, "DROP SCHEMA s CASCADE").await.unwrap();
    assert!(rows(&context, "SELECT * FROM s.t").await.is_err());
}

#[tokio::test]
async fn a_folder_of_graphs_is_a_catalog() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("A-1.edges"), "1 2\n2 3\n").unwrap();
    fs::write(folder.path().join("b.edges"), "1 2\n").unwrap();
    let Ok(Opened::Collection(collection)) = open(folder.path().to_str().unwrap(), None, &Options::new()) else {
        panic!("two graphs")
    };
    let context = context();
    let catalog = Arc::new(MemoryCatalog::of_graphs(collection, false));
    context.catalogs.insert("many", Arc::clone(&catalog) as _);
    assert_eq!(rows(&context, "SELECT count(*) FROM many.a_1.edges").await.unwrap(), ["2"]);
    let sql = "SELECT graph, format, directed, nodes, edges FROM bonnet.graphs ORDER BY graph";
    assert_eq!(rows(&context, sql).await.unwrap(), ["many.a_1|edge_list|false|3|2", "many.b|edge_list|false|2|1"]);
    assert!(catalog.drop_schema("b", false).is_err());
    assert!(catalog.drop_schema("b", true).unwrap());
    assert_eq!(catalog.schema_names(), ["a_1"]);
}

#[tokio::test]
async fn a_changed_file_is_read_with_its_new_columns() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("g.edges");
    fs::write(&file, "1 2\n").unwrap();
    let Ok(Opened::Graph(graph)) = open(file.to_str().unwrap(), None, &Options::new()) else { panic!("a graph") };
    let context = context();
    attach(&context, "g", graph);
    assert_eq!(rows(&context, "SELECT * FROM g.edges").await.unwrap(), ["1|2"]);
    let planned = context.sql("SELECT * FROM g.edges").await.unwrap();
    fs::write(&file, "a b 0.5\n").unwrap();
    assert_eq!(rows(&context, "SELECT * FROM g.edges").await.unwrap(), ["a|b|0.5"]);
    let error = planned.collect().await.unwrap_err().to_string();
    assert!(error.contains("the files changed while the statement was planned"), "{error}");
}

// ---- files ---------------------------------------------------------------------------------------------------------

fn write(folder: &Path, name: &str, content: &str) -> String {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, content).unwrap();
    file.to_string_lossy().into_owned()
}

#[tokio::test]
async fn files_globs_and_folders_are_tables() {
    let context = context();
    let folder = tempfile::tempdir().unwrap();
    let csv = write(folder.path(), "Data/a.csv", "x,y\n1,p\n2,q\n");
    write(folder.path(), "Data/b.csv", "x,y\n3,r\n");
    let tsv = write(folder.path(), "c.tsv", "x\ty\n4\ts\n");
    let json = write(folder.path(), "d.json", "{\"x\":5}\n{\"x\":6}\n");
    let ndjson = write(folder.path(), "d.ndjson", "{\"x\":5}\n");
    let array = write(folder.path(), "e.json", " [{\"x\":7},\n {\"x\":8}]\n");
    let folder = folder.path().to_string_lossy().into_owned();
    let sum = async |path: &str| rows(&context, &format!("SELECT sum(x) FROM '{path}'")).await.unwrap();
    assert_eq!(sum(&csv).await, ["3"]);
    assert_eq!(sum(&tsv).await, ["4"]);
    assert_eq!(sum(&json).await, ["11"]);
    assert_eq!(sum(&ndjson).await, ["5"]);
    assert_eq!(sum(&array).await, ["15"]);
    assert_eq!(sum(&format!("{folder}/Data/*.csv")).await, ["6"]);
    assert_eq!(sum(&format!("{folder}/Data")).await, ["6"]);
    assert_eq!(sum(&format!("file://{csv}")).await, ["3"]);
    for (format, name) in [("PARQUET", "f.parquet"), ("ARROW", "f.arrow")] {
        let path = format!("{folder}/{name}");
        rows(&context, &format!("COPY (SELECT 9 AS x, 'z' AS y) TO '{path}' STORED AS {format}")).await.unwrap();
        assert_eq!(sum(&path).await, ["9"]);
    }
    // A CTE and a join see it like any table.
    let sql = format!("WITH a AS (SELECT * FROM '{csv}') SELECT a.y FROM a JOIN '{csv}' AS b ON a.x = b.x + 1");
    assert_eq!(rows(&context, &sql).await.unwrap(), ["q"]);
}

#[tokio::test]
async fn a_missing_file_says_so_and_what_there_is() {
    let context = context();
    let folder = tempfile::tempdir().unwrap();
    let csv = write(folder.path(), "a.csv", "x\n1\n");
    let folder = folder.path().to_string_lossy().into_owned();
    let error = async |path: &str| rows(&context, &format!("SELECT * FROM '{path}'")).await.unwrap_err();
    let missing = error(&format!("{folder}/b.csv")).await;
    assert!(missing.contains("there is no file or folder") && missing.contains("holds: a.csv"), "{missing}");
    let none = error(&format!("{folder}/*.parquet")).await;
    assert!(none.contains("No files found") || none.contains("no file"), "{none}");
    let url = error("hf://example.org/a.csv").await;
    assert!(url.contains("hf:// addresses are not read"), "{url}");
    write(Path::new(&folder), "b.parquet", "no parquet");
    let several = error(&folder).await;
    assert!(several.contains("files of several formats: csv, parquet"), "{several}");
    let wrong = error(&format!("{folder}/b.parquet")).await;
    assert!(wrong.contains("b.parquet"), "{wrong}");
    fs::write(&csv, "").unwrap();
    assert!(error(&csv).await.contains("is empty"));
    // A plain name is still a plain name.
    let plain = rows(&context, "SELECT * FROM nowhere").await.unwrap_err();
    assert!(plain.contains("nowhere") && !plain.contains("folder"), "{plain}");
}

// ---- the system schema ---------------------------------------------------------------------------------------------

#[tokio::test]
async fn the_system_schema_shows_what_the_engine_tells() {
    let context = context();
    assert_eq!(rows(&context, "SELECT name, kind FROM bonnet.functions").await.unwrap(), ["skewness|aggregate"]);
    let sql = "SELECT name, tasks, hyperparameters[1]['default'] FROM bonnet.models ORDER BY name";
    assert_eq!(rows(&context, sql).await.unwrap(), ["gat|[node_classification]|8", "mlp|[]|"]);
    rows(&context, "SET datafusion.execution.batch_size = 77").await.unwrap();
    assert_eq!(rows(&context, "SELECT value FROM bonnet.settings").await.unwrap(), ["77"]);
    assert_eq!(rows(&context, "SELECT protocol FROM bonnet.protocols").await.unwrap(), ["paper/gat"]);
    assert_eq!(rows(&context, "SELECT count(*) FROM bonnet.audit WHERE printed_mean > 80").await.unwrap(), ["1"]);
    assert_eq!(rows(&context, "SELECT count(*) FROM bonnet.models").await.unwrap(), ["2"]);
    assert!(rows(&context, "DROP TABLE bonnet.models").await.is_err());
    assert!(why_not_drop(&context, "bonnet", "models").unwrap().contains("belongs to the system"));
    let bonnet = context.catalog("memory").unwrap().schema("bonnet").unwrap();
    assert!(bonnet.deregister_table("models").unwrap_err().to_string().contains("belongs to the system"));
    assert!(rows(&context, "CREATE TABLE bonnet.t AS SELECT 1 AS x").await.unwrap_err().contains("system schema"));
}

#[tokio::test]
async fn every_schema_with_nodes_and_edges_is_a_graph() {
    let context = context();
    attach(&context, "karate", karate());
    rows(&context, "CREATE SCHEMA v").await.unwrap();
    rows(&context, "CREATE VIEW v.nodes AS SELECT node, label FROM karate.nodes").await.unwrap();
    assert_eq!(rows(&context, "SELECT graph FROM bonnet.graphs").await.unwrap(), ["karate"]);
    // Loops, repeats, both directions and NULL are no further edges.
    let edges = "(VALUES (1, 2), (2, 1), (1, 1), (1, 2), (2, 3), (3, NULL)) AS e(src, dst)";
    rows(&context, &format!("CREATE VIEW v.edges AS SELECT * FROM {edges}")).await.unwrap();
    rows(&context, "CREATE SCHEMA t").await.unwrap();
    rows(&context, &format!("CREATE TABLE t.edges AS SELECT src, dst, src AS graph_id FROM {edges}")).await.unwrap();
    let nodes = "SELECT * FROM (VALUES (1, 0.5, [1.0, 2.0]), (2, 0.1, NULL)) AS n(node, label, features)";
    rows(&context, &format!("CREATE TABLE t.nodes AS {nodes}")).await.unwrap();
    let sql =
        "SELECT graph, format, location, directed, nodes, edges, features, classes FROM bonnet.graphs ORDER BY graph";
    assert_eq!(
        rows(&context, sql).await.unwrap(),
        ["karate|builtin|builtin:karate|false|34|78||2", "t|tables||false|2|3|2|", "v|views||false|34|2||2"]
    );
}

#[tokio::test]
async fn graphs_are_measured_only_when_a_measure_is_selected() {
    let context = context();
    let counted = Arc::new(Counted::default());
    attach(&context, "g", Arc::clone(&counted) as _);
    assert_eq!(rows(&context, "SELECT graph, directed FROM bonnet.graphs").await.unwrap(), ["g|true"]);
    assert_eq!(counted.reads.load(Ordering::SeqCst), 0);
    assert_eq!(rows(&context, "SELECT nodes FROM bonnet.graphs").await.unwrap(), ["3000"]);
    assert_eq!(counted.reads.load(Ordering::SeqCst), 1);
    assert_eq!(rows(&context, "SELECT classes FROM bonnet.graphs").await.unwrap(), ["1000"]);
}

#[tokio::test]
async fn published_features_and_classes_are_measured() {
    let data = std::env::var("BONNET_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data").to_owned());
    let folder = format!("{data}/planetoid");
    if !Path::new(&folder).is_dir() {
        assert!(std::env::var("BONNET_REQUIRE_ALL").is_err(), "no data at {data}");
        println!("skipped: no published data at {data}");
        return;
    }
    let Ok(Opened::Collection(collection)) = open(&folder, None, &Options::new()) else { panic!("three graphs") };
    let context = context();
    context.catalogs.insert("planetoid", Arc::new(MemoryCatalog::of_graphs(collection, false)));
    let sql = "SELECT graph, nodes, edges, features, classes FROM bonnet.graphs";
    assert_eq!(
        rows(&context, sql).await.unwrap(),
        [
            "planetoid.citeseer|3327|4552|3703|6",
            "planetoid.cora|2708|5278|1433|7",
            "planetoid.pubmed|19717|44324|500|3"
        ]
    );
    rows(&context, "CREATE VIEW planetoid.cora.wide AS SELECT features FROM planetoid.cora.nodes").await.unwrap();
    let sql = "SELECT sum(cardinality(features)) FROM planetoid.cora.wide";
    assert_eq!(rows(&context, sql).await.unwrap(), ["49216"]);
}

#[test]
fn the_engines_schema_can_be_reached() {
    let context = context();
    attach(&context, "karate", karate());
    let schema = context.catalog("memory").unwrap().schema("karate").unwrap();
    let below = SessionSchema::of(schema.as_ref()).unwrap().engine();
    assert_eq!(below.dataset().unwrap().location(), "builtin:karate");
    let below: &dyn SchemaProvider = below.as_ref();
    assert!(below.downcast_ref::<GraphSchema>().is_some());
}
