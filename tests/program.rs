//! What programs around the engine need beyond SQL: their own tables in FROM, the columns of a query before it runs, graphs
//! out of their rows, parameters.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use bonnetdb::{Engine, EngineOptions, Error, ErrorKind, Frames, Parameters, bind};
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, plan_err};
use datafusion::datasource::MemTable;

use super::{Db, collect, texts};

fn whole(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values.iter().copied()))
}

fn edges() -> RecordBatch {
    RecordBatch::try_from_iter([("src", whole(&[0, 1, 2])), ("dst", whole(&[1, 2, 0]))]).unwrap()
}

/// A program with one table, `ring`, and one that cannot be read, `broken`.
#[derive(Default)]
struct Program(AtomicUsize);

impl Frames for Program {
    fn frame(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        match name {
            "ring" => Ok(Some(Arc::new(MemTable::try_new(edges().schema(), vec![vec![edges()]])?))),
            "broken" => plan_err!("the variable broken holds no table"),
            _ => Ok(None),
        }
    }
}

#[test]
fn statements_find_the_tables_of_the_program_behind_those_of_the_catalogs() {
    let db = Db::new();
    let lent = db.session.with_frames(Arc::new(Program::default()));
    let run = |sql: &str| db.engine.block_on(collect(&lent, sql)).map(|rows| texts(&rows));
    assert_eq!(run("SELECT count(*) FROM ring").unwrap(), [["3"]]);
    assert_eq!(run("SELECT count(*) FROM forman_ricci(ring)").unwrap(), [["3"]]);
    assert_eq!(run("WITH ring AS (SELECT 1 AS x) SELECT count(*) FROM ring").unwrap(), [["1"]]);
    // What is read can be stored.
    run("CREATE TABLE kept AS SELECT src FROM ring").unwrap();
    assert_eq!(db.value("SELECT sum(src) FROM kept"), "3");
    let error = |sql: &str| run(sql).unwrap_err().to_string();
    assert!(error("SELECT * FROM broken").contains("the variable broken holds no table"));
    assert!(error("SELECT * FROM strange").contains("strange"));
    // Only by its name alone, and only in a session that has it.
    assert!(error("SELECT * FROM bonnet.ring").contains("ring"));
    db.refuses("SELECT * FROM ring", &["ring"]);
    // A table of the catalog wins, and the program is not asked.
    let asked = Arc::new(Program::default());
    let asking = db.session.with_frames(Arc::<Program>::clone(&asked));
    db.run("CREATE TABLE ring AS SELECT 7 AS src");
    let rows = db.engine.block_on(collect(&asking, "SELECT src FROM ring")).unwrap();
    assert_eq!((texts(&rows), asked.0.load(Ordering::Relaxed)), (vec![vec!["7".to_owned()]], 0));
}

/// 0/0 gives NaN with its sign set on x86, and frames are made there.
#[test]
fn nan_of_the_program_is_one_value_whatever_its_sign() {
    let db = Db::new();
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![-f64::NAN, f64::NAN, 1.5, -f64::INFINITY]));
    let rows = RecordBatch::try_from_iter([("k", whole(&[1, 2, 3, 4])), ("f", numbers)]).unwrap();
    let table = MemTable::try_new(rows.schema(), vec![vec![rows]]).unwrap();
    db.session.context().register_table("numbers", Arc::new(table)).unwrap();
    assert_eq!(db.value("SELECT count(*) FROM numbers WHERE f > 2"), "2");
    assert_eq!(db.value("SELECT count(DISTINCT f) FROM numbers"), "3");
    assert_eq!(db.value("SELECT count(*) FROM numbers AS a JOIN numbers AS b ON a.f = b.f"), "6");
    assert_eq!(db.value("SELECT string_agg(k::text, ',' ORDER BY f, k) FROM numbers"), "4,3,1,2");
    assert_eq!(db.value("SELECT max(f) FROM numbers"), "NaN");
}

#[test]
fn a_query_is_described_without_running() {
    let db = Db::new();
    let names = |sql: &str| -> std::result::Result<Option<Vec<String>>, Error> {
        let schema = db.engine.block_on(db.session.describe(sql))?;
        Ok(schema.map(|schema| schema.fields().iter().map(|field| format!("{field}")).collect()))
    };
    let columns = names("SELECT 1 AS x, sum(2) FROM (VALUES (0)) AS t(z) WHERE 1 / z > 0").unwrap().unwrap();
    assert!(
        columns[0].contains("\"x\": ") && columns[0].contains("Int64") && columns[1].contains("sum(2)"),
        "{columns:?}"
    );
    assert_eq!(names("FROM generate_series(1, 3)").unwrap().map(|columns| columns.len()), Some(1));
    assert!(names("SUMMARIZE SELECT 1 AS x").unwrap().is_some_and(|columns| columns.len() > 5));
    for statement in ["CREATE TABLE t AS SELECT 1 AS x", "SET bonnet.threads = 1", "DROP TABLE t", "USE main"] {
        assert_eq!(names(statement).unwrap(), None, "{statement}");
    }
    assert!(names("SELECT y FROM (SELECT 1 AS x)").unwrap_err().to_string().contains('y'));
    db.refuses("SELECT * FROM t", &["t"]);
}

#[test]
fn an_engine_that_cannot_be_opened_says_why_and_makes_nothing() {
    let failure = |options: EngineOptions| Engine::open(options).err().unwrap();
    for threads in [0, EngineOptions::MOST_THREADS + 1] {
        let error = failure(EngineOptions { threads: Some(threads), ..EngineOptions::default() });
        assert_eq!(error.kind(), ErrorKind::Statement);
        assert!(error.to_string().contains(&format!("threads = {threads}: expected a whole number from 1 to 1024")));
    }
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = failure(missing.join("b").join("lab.bonnet").as_path().into());
    assert_eq!(error.kind(), ErrorKind::Files);
    assert!(error.to_string().contains(&format!("there is no folder '{}'", missing.display())), "{error}");
    assert!(!missing.exists());
    assert!(Engine::open(folder.path().join("lab.bonnet").as_path()).is_ok());
}

#[test]
fn a_graph_of_a_programs_rows_is_there_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    for options in [EngineOptions::default(), folder.path().join("lab.bonnet").as_path().into()] {
        let db = Db::with(options);
        let labels: ArrayRef = Arc::new(StringArray::from(vec!["a", "a", "b", "b"]));
        let nodes = RecordBatch::try_from_iter([("node", whole(&[0, 1, 2, 3])), ("label", labels)]).unwrap();
        let create = |name: &str, tables, directed, replace| {
            db.engine.block_on(db.session.create_graph(name, tables, directed, replace))
        };
        let tables = || vec![("nodes", vec![nodes.clone()]), ("edges", vec![edges()])];
        create("g", tables(), true, false).unwrap();
        assert_eq!(db.rows("SELECT directed, nodes, classes FROM bonnet.graphs"), [["true", "4", "2"]]);
        assert_eq!(db.value("SELECT count(*) FROM pagerank(g.edges, nodes => g.nodes)"), "4");
        let error = |result: bonnetdb::Result<()>| result.unwrap_err().to_string();
        assert!(error(create("g", tables(), false, false)).contains("exists already"));
        create("g", tables(), false, true).unwrap();
        assert_eq!(db.value("SELECT directed FROM bonnet.graphs"), "false");
        assert!(error(create("h", vec![("edges", vec![edges()])], false, false)).contains("needs a table nodes"));
        let wrong = vec![("nodes", vec![edges()]), ("edges", vec![edges()])];
        assert!(error(create("h", wrong, false, false)).contains("table nodes of the graph h needs a column node"));
        assert!(error(create("nowhere.h", tables(), false, false)).contains("there is no catalog nowhere"));
        assert_eq!(db.value("SELECT count(*) FROM bonnet.graphs"), "1");
    }
}

#[test]
fn parameters_are_values_wherever_a_literal_can_stand() {
    let db = Db::new();
    let values = Parameters::Positional(vec!["5".into(), "'it''s'".into()]);
    let sql = bind("SELECT count(*), ? FROM complete($1)".replace('?', "$2").as_str(), &values).unwrap();
    assert_eq!(db.rows(&format!("{sql} GROUP BY 2")), [["10", "it's"]]);
}
