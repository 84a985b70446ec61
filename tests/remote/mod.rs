//! Files of other machines: what FROM, COPY and ATTACH read and write by HTTP and S3, and what they say of servers that do not
//! give what is asked. The servers are in this process.

pub(crate) mod server;

use std::path::Path;
use std::process::{Command, Stdio};

use bonnetdb::EngineOptions;
use tempfile::TempDir;

use self::server::Server;
use crate::Db;

/// An engine, a server, and a folder for files of this machine.
struct Remote {
    db: Db,
    server: Server,
    folder: TempDir,
}

impl Remote {
    fn new() -> Self {
        Self { db: Db::new(), server: Server::start(), folder: TempDir::new().unwrap() }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.host)
    }

    /// The bytes of a Parquet file of some rows.
    fn parquet(&self, query: &str) -> Vec<u8> {
        let path = self.folder.path().join("made.parquet");
        self.db.run(&format!("COPY ({query}) TO '{}' (FORMAT parquet, ROW_GROUP_SIZE 10000)", path.display()));
        std::fs::read(path).unwrap()
    }
}

const ROWS: &str = "SELECT value AS x, value * 2 AS y, 'row ' || value AS t FROM generate_series(1, 50000)";

#[test]
fn parquet_is_read_in_parts() {
    let it = Remote::new();
    // The end that is fetched with the footer is half a megabyte.
    let rows = "SELECT value AS x, value * 2 AS y, md5(value::TEXT) AS t FROM generate_series(1, 100000)";
    let bytes = it.parquet(rows);
    it.server.has("/files/a.parquet", bytes.clone());
    let url = it.url("/files/a.parquet");
    assert_eq!(it.db.value(&format!("SELECT sum(y) FROM '{url}' WHERE x <= 10")), "110");
    let (asked, _) = it.server.asked();
    // Parts alone, and not all of the file: neither its texts nor row groups without such rows.
    let part = |entry: &String| {
        let (first, last) = entry.rsplit_once(' ')?.1.split_once('-')?;
        Some(last.parse::<usize>().ok()? - first.parse::<usize>().ok()? + 1)
    };
    assert!(asked.iter().all(|entry| entry.starts_with("GET /files/a.parquet ")), "{asked:?}");
    assert!(asked.iter().filter_map(part).sum::<usize>() < bytes.len() * 3 / 4, "{asked:?} of {}", bytes.len());
    // As the same file of this machine, in all spellings of a file.
    let local = it.folder.path().join("made.parquet");
    let count = |from: &str| it.db.rows(&format!("SELECT count(*), min(x), max(t), sum(y) FROM {from}"));
    let expected = count(&format!("'{}'", local.display()));
    for from in [
        format!("'{url}'"),
        format!("\"{url}\""),
        format!("read_parquet('{url}')"),
        format!("read_parquet(['{url}'])"),
        format!("(SELECT * FROM '{url}' WHERE x > 0)"),
    ] {
        assert_eq!(count(&from), expected, "{from}");
    }
    let twice = format!("read_parquet(['{url}', '{}'])", local.display());
    assert_eq!(it.db.value(&format!("SELECT count(*) FROM {twice}")), "200000");
    assert_eq!(it.db.value(&format!("SELECT count(*) FROM '{url}' AS a JOIN '{url}' AS b ON a.x = b.x")), "100000");
}

#[test]
fn texts_are_fetched_and_read_as_those_of_this_machine() {
    let it = Remote::new();
    it.server.has("/files/e.csv", "src,dst,w\n1,2,0.5\n2,3,1.5\n");
    it.server.has("/files/e.tsv", "src\tdst\n1\t2\n");
    it.server.has("/files/r.ndjson", "{\"a\": 1}\n{\"a\": 2, \"b\": \"x\"}\n");
    it.server.has("/files/r.json", "[{\"a\": 3}, {\"a\": 4}]");
    it.server.has("/files/download", "k;v\n1;2\n");
    it.db.run(&format!("COPY (SELECT 7 AS z) TO '{}' (FORMAT csv)", it.folder.path().join("z.csv.gz").display()));
    it.server.has("/files/z.csv.gz", std::fs::read(it.folder.path().join("z.csv.gz")).unwrap());
    it.db.run(&format!("COPY (SELECT 8 AS z) TO '{}'", it.folder.path().join("z.arrow").display()));
    it.server.has("/files/z.arrow", std::fs::read(it.folder.path().join("z.arrow")).unwrap());
    let value = |query: &str| it.db.value(&query.replace("URL", &it.url("/files")));
    assert_eq!(value("SELECT sum(w) FROM 'URL/e.csv'"), "2.0");
    assert_eq!(value("SELECT sum(w) FROM 'URL/e.csv?key=secret'"), "2.0");
    assert_eq!(value("SELECT dst FROM 'URL/e.tsv'"), "2");
    assert_eq!(value("SELECT sum(a) FROM 'URL/r.ndjson' WHERE b = 'x'"), "2");
    assert_eq!(value("SELECT sum(a) FROM 'URL/r.json'"), "7");
    assert_eq!(value("SELECT v FROM read_csv('URL/download', delim => ';')"), "2");
    assert_eq!(value("SELECT z FROM 'URL/z.csv.gz'"), "7");
    assert_eq!(value("SELECT z FROM 'URL/z.arrow'"), "8");
    assert_eq!(value("SELECT count(*) FROM read_csv(['URL/e.csv', 'URL/e.csv'])"), "4");
    assert_eq!(value("SELECT count(*) FROM pagerank('URL/e.csv')"), "3");
    // COPY FROM, views, tables.
    it.db.run("CREATE TABLE edges (src BIGINT, dst BIGINT, w DOUBLE)");
    it.db.run(&format!("COPY edges FROM '{}'", it.url("/files/e.csv")));
    it.db.run(&format!("CREATE VIEW fresh AS SELECT * FROM '{}'", it.url("/files/e.csv")));
    assert_eq!(it.db.value("SELECT count(*) FROM edges JOIN fresh USING (src, dst, w)"), "2");
    it.server.has("/files/e.csv", "src,dst,w\n1,2,0.5\n");
    assert_eq!(it.db.value("SELECT count(*) FROM fresh"), "1");
}

#[test]
fn copies_go_with_the_statement() {
    let it = Remote::new();
    let temporary = TempDir::new().unwrap();
    it.db.run(&format!("SET datafusion.runtime.temp_directory = '{}'", temporary.path().display()));
    it.server.has("/files/e.csv", "a\n1\n");
    let files = |place: &Path| -> usize {
        let mut count = 0;
        let mut folders = vec![place.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { count += 1 }
            }
        }
        count
    };
    for _ in 0..3 {
        assert_eq!(it.db.value(&format!("SELECT a FROM '{}'", it.url("/files/e.csv"))), "1");
    }
    assert_eq!(files(temporary.path()), 0);
}

#[test]
fn what_a_server_answers_instead_is_said() {
    let it = Remote::new();
    let bytes = it.parquet(ROWS);
    for path in ["/files/a.parquet", "/plain/a.parquet"] {
        it.server.has(path, bytes.clone());
    }
    it.server.has("/files/a.csv", "a\n1\n");
    it.server.has("/files/text.parquet", "a,b\n1,2\n");
    it.server.has("/files/cut.parquet", &bytes[..bytes.len() / 2]);
    it.server.has("/files/empty.parquet", "");
    it.server.has("/files/broken.csv", "a,b\n1,2\n3,4,5\n");
    it.server.has("/files/broken.json", "{\"a\": 1}\n{\"a\": \n");
    let refuses = |path: &str, parts: &[&str]| {
        let url = it.url(path);
        it.db.refuses(&format!("SELECT * FROM '{url}'"), &[&[url.as_str()], parts].concat());
    };
    for ending in ["csv", "parquet"] {
        refuses(&format!("/nothing/a.{ending}"), &["is not there (404)"]);
        refuses(&format!("/forbidden/a.{ending}"), &["is refused by the server (403)"]);
        refuses(&format!("/busy/a.{ending}"), &["the server answers 503 Service Unavailable"]);
        refuses(&format!("/circle/a.{ending}"), &["redirects more than ten times, or in a circle"]);
    }
    refuses("/files/text.parquet", &["is no Parquet file"]);
    refuses("/files/cut.parquet", &["does not end with PAR1"]);
    refuses("/files/empty.parquet", &["is empty"]);
    refuses("/files/broken.csv", &["line 3: 3 fields, where 2 are expected"]);
    refuses("/files/broken.json", &["line 2"]);
    refuses("/files/none", &["does not end like a file of a table", "read_csv"]);
    // A redirect is followed, and a file that comes whole alone is read from a copy.
    assert_eq!(it.db.value(&format!("SELECT a FROM '{}'", it.url("/moved/a.csv"))), "1");
    assert_eq!(it.db.value(&format!("SELECT max(x) FROM '{}'", it.url("/moved/a.parquet"))), "50000");
    assert_eq!(it.db.value(&format!("SELECT max(x) FROM '{}'", it.url("/plain/a.parquet"))), "50000");
    // Nobody there.
    it.db.refuses("FROM 'http://127.0.0.1:1/a.csv'", &["http://127.0.0.1:1/a.csv", "cannot be reached", "refused"]);
    for (address, what) in [
        ("gs://b/k.csv", "gs:// addresses are not read"),
        ("hf://datasets/k.csv", "hf:// addresses are not read"),
        ("https://me:secret@host/k.csv", "an address with a login is not read"),
        ("s3://bucket", "names no file"),
        ("s3://bucket/folder/", "names no file"),
    ] {
        it.db.refuses(&format!("FROM '{address}'"), &[what]);
        assert!(!it.db.error(&format!("FROM '{address}'")).contains("secret"));
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_said() {
    let it = Remote::new();
    let (before, after) = (it.parquet(ROWS), it.parquet(&ROWS.replace("value * 2", "value * 3")));
    for path in ["/files/a.parquet", "/careless/a.parquet"] {
        it.server.has(path, before.clone());
        let url = it.url(path);
        assert_eq!(it.db.value(&format!("SELECT max(y) FROM '{url}'")), "100000");
        // The end, the footer, and then rows.
        it.server.changes(path, 1, after.clone());
        it.db.refuses(&format!("SELECT sum(length(t)) FROM '{url}'"), &[&url, "was changed while it was read"]);
        assert_eq!(it.db.value(&format!("SELECT max(y) FROM '{url}'")), "150000");
    }
}

#[test]
fn files_are_written_and_attached() {
    let it = Remote::new();
    let url = it.url("/files/out.csv");
    it.db.run(&format!("COPY (SELECT 1 AS a, 'x' AS b) TO '{url}'"));
    assert_eq!(it.server.file("/files/out.csv").unwrap(), b"a,b\n1,x\n");
    assert_eq!(it.db.rows(&format!("FROM '{url}'")), [["1", "x"]]);
    let readonly = it.url("/readonly/out.csv");
    it.db.refuses(&format!("COPY (SELECT 1 AS a) TO '{readonly}'"), &[&readonly, "is not written", "405"]);
    it.db.refuses(&format!("COPY (SELECT 1 AS a, 2 AS b) TO '{url}' (FORMAT csv, PARTITION_BY a)"), &["one file"]);
    it.db.refuses("COPY (SELECT 1 AS a) TO 'gs://b/k.csv'", &["gs:// addresses"]);
    // A query that fails writes nothing.
    let failing = it.url("/files/failing.csv");
    it.db.error(&format!("COPY (SELECT b::BIGINT AS q FROM '{url}') TO '{failing}'"));
    assert_eq!(it.server.file("/files/failing.csv"), None);
    it.server.asked();
    // Attached, it is asked for when it is read.
    it.db.run(&format!("ATTACH '{url}' AS outside"));
    assert!(it.server.asked().0.is_empty());
    assert_eq!(it.db.rows("FROM outside.main.out"), [["1", "x"]]);
    it.db.run(&format!("ATTACH '{}?key=1' AS typed (TYPE csv)", it.url("/files/out.csv")));
    assert_eq!(it.db.rows("SELECT a FROM typed.main.out"), [["1"]]);
    it.db.refuses(&format!("ATTACH '{url}' AS lite (TYPE sqlite)"), &["data files are attached"]);
    it.db.refuses(&format!("ATTACH '{}' AS g", it.url("/files/graph")), &["addresses are not read"]);
    let external = format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{url}'");
    it.db.refuses(&external, &["CREATE VIEW t"]);
}

#[test]
fn nothing_is_fetched_where_files_are_refused() {
    let server = Server::start();
    server.has("/files/e.csv", "a\n1\n");
    let url = format!("http://{}/files/e.csv", server.host);
    let db = Db::with(EngineOptions { threads: Some(2), ..EngineOptions::default() });
    db.run("CREATE TABLE t (a BIGINT)");
    db.run(&format!("CREATE VIEW v AS SELECT * FROM '{url}'"));
    db.run(&format!("ATTACH '{url}' AS attached"));
    server.asked();
    db.run("SET bonnet.external_access = off");
    for sql in [
        format!("SELECT * FROM '{url}'"),
        format!("SELECT * FROM read_csv('{url}')"),
        format!("SELECT * FROM read_csv(['{url}'])"),
        format!("COPY t FROM '{url}'"),
        format!("COPY t TO '{url}'"),
        "COPY t TO 's3://bucket/x.csv'".to_owned(),
        format!("ATTACH '{url}' AS more"),
        format!("SELECT count(*) FROM pagerank('{url}')"),
        format!("EXPLAIN SELECT * FROM '{url}'"),
        format!("CREATE TABLE u AS SELECT * FROM '{url}'"),
        "SELECT * FROM v".to_owned(),
        "SELECT * FROM attached.main.e".to_owned(),
    ] {
        db.refuses(&sql, &["is refused: bonnet.external_access is off"]);
    }
    assert!(server.asked().0.is_empty());
}

#[cfg(feature = "pg")]
#[test]
fn a_served_session_fetches_nothing() {
    let server = Server::start();
    server.has("/files/e.csv", "a\n1\n");
    for address in [format!("http://{}/files/e.csv", server.host), "s3://bucket/e.parquet".to_owned()] {
        let error = crate::serve::refused(&format!("SELECT * FROM '{address}'"));
        assert!(error.contains("bonnet.external_access is off"), "{error}");
    }
    assert!(server.asked().0.is_empty());
}

/// Runs the command with these variables of AWS: its output, or its errors.
fn bonnet(variables: &[(&str, &str)], sql: &str) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bonnet"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).args(["--format", "csv", "-c", sql]).stdin(Stdio::null());
    let ran = command.output().unwrap();
    match ran.status.success() {
        true => Ok(String::from_utf8(ran.stdout).unwrap()),
        false => Err(String::from_utf8(ran.stderr).unwrap()),
    }
}

#[test]
fn s3_is_read_and_written_with_the_usual_variables() {
    let it = Remote::new();
    it.server.has("/lab/runs/a-1.csv", "a\n1\n");
    it.server.has("/lab/runs/a-2.csv", "a\n2\n");
    it.server.has("/lab/runs/b.csv", "a\n3\n");
    it.server.has("/lab/runs/deep/a-3.csv", "a\n4\n");
    it.server.has("/lab/big.parquet", it.parquet(ROWS));
    let endpoint = format!("http://{}", it.server.host);
    let keys =
        [("AWS_ENDPOINT_URL", endpoint.as_str()), ("AWS_ACCESS_KEY_ID", "me"), ("AWS_SECRET_ACCESS_KEY", "secret")];
    let ask = |sql: &str| bonnet(&keys, sql);
    assert_eq!(ask("SELECT sum(a) AS s FROM 's3://lab/runs/a-1.csv'").unwrap(), "s\n1\n");
    assert_eq!(ask("SELECT sum(a) AS s FROM 's3://lab/runs/a-*.csv'").unwrap(), "s\n3\n");
    assert_eq!(ask("SELECT sum(a) AS s FROM 's3://lab/runs/**/*.csv'").unwrap(), "s\n10\n");
    assert_eq!(ask("SELECT max(y) AS s FROM 's3://lab/big.parquet'").unwrap(), "s\n100000\n");
    let (_, signed) = it.server.asked();
    assert!(signed);
    assert!(ask("FROM 's3://lab/runs/c*.csv'").unwrap_err().contains("no file matches"));
    let missing = ask("FROM 's3://lab/none.parquet'").unwrap_err();
    assert!(missing.contains("'s3://lab/none.parquet' is not there (404)"), "{missing}");
    // Written in one request, and in parts.
    ask("COPY (SELECT 5 AS a) TO 's3://lab/new/x.csv'").unwrap();
    assert_eq!(it.server.file("/lab/new/x.csv").unwrap(), b"a\n5\n");
    let large = "COPY (SELECT value AS v, random() AS r FROM generate_series(1, 2500000)) TO 's3://lab/large.parquet' (FORMAT parquet, COMPRESSION uncompressed)";
    ask(large).unwrap();
    assert!(it.server.file("/lab/large.parquet").unwrap().len() > 17 << 20);
    assert_eq!(ask("SELECT sum(v) AS s FROM 's3://lab/large.parquet'").unwrap(), "s\n3125001250000\n");
    // Without keys requests are not signed.
    it.server.asked();
    let open = bonnet(&keys[..1], "SELECT a FROM 's3://lab/runs/b.csv'").unwrap();
    assert_eq!(open, "a\n3\n");
    assert!(!it.server.asked().1);
}
