//! Every reader of files: published graphs, tables, and databases.

use std::path::{Path, PathBuf};

use bonnet_datasets::{Opened, Options};
use bonnetdb::EngineOptions;

use super::{Cases, Step, containers, published, wanted};
use crate::Db;

/// What the engine of a case may hold.
const MEMORY: usize = 256 << 20;

/// What a process may hold beyond it, or beyond what a reader said it needs.
const SLACK: u64 = 64 << 20;

/// Published sets that are small as they are, one or more of each format: the format, and a file or folder.
const PUBLISHED: [(&str, &str); 31] = [
    ("planetoid", "planetoid/citeseer"),
    ("geom_gcn", "geom-gcn/texas"),
    ("npz", "heterophilous-graphs/texas/texas.npz"),
    ("npz", "heterophilous-graphs/chameleon_filtered/chameleon_filtered.npz"),
    ("gnn_benchmark", "gnn-benchmark/citeseer/citeseer.npz"),
    ("hgcn", "hgcn/disease_nc"),
    ("hgcn", "hgcn/disease_lp"),
    ("heco", "heco/acm"),
    ("linkx", "linkx/facebook100/Reed98.mat"),
    ("linkx", "linkx/texas/texas.mat"),
    ("attributed", "attributed/Flickr/Flickr.mat"),
    ("attributed", "attributed/BlogCatalog-multilabel/blogcatalog.mat"),
    ("musae", "musae/chameleon"),
    ("simpcomp", "triangulations/simpcomp/2manifolds/SurfOG02.scb"),
    ("lutz_library", "triangulations/lutz-library/rudin"),
    ("lutz", "triangulations/pseudomanifolds-3d-9v/0225.txt"),
    ("prolog", "relational/sml-bench/mutagenesis/188"),
    ("prolog", "relational/sml-bench/mutagenesis/42/all.pl"),
    ("tu", "tu/KKI"),
    ("tu", "tu/MUTAG"),
    ("tu", "tu/iso-cleaned-zips/KKI.zip"),
    ("brec", "brec/raw"),
    ("csl", "csl"),
    ("graph6", "strongly-regular/sr251256/sr251256.g6"),
    ("graph6", "brec/all-simple-graphs/graph5c.g6"),
    ("dgcnn", "tu-dgcnn-text/MUTAG/MUTAG.txt"),
    ("edge_list", "hyperbolics/network-datasets/karate.gml.edges"),
    ("edge_list", "hyperbolics/cs-phd-original/ca-CSphd.mtx"),
    ("edge_list", "hyperbolics/cs-phd-original/ca-CSphd.zip"),
    ("edge_list", "qgcn/ba_shape"),
    ("edge_list", "struc2vec-airports/brazil"),
];

/// Files that are read beside one of them.
const BESIDE: [(&str, &str); 1] = [("linkx/texas/texas.mat", "linkx/splits/texas-splits.npy")];

/// The first lines of published texts that are too long: a folder and its files.
const CUT: [(&str, &str, &[&str]); 1] =
    [("magnn_lastfm", "magnn/LastFM", &["user_artist.dat", "artist_tag.dat", "user_user(original).dat"])];

/// Small sets of formats of which no small one is published.
const MADE: [(&str, &[(&str, &str)]); 4] = [
    (
        "twitch",
        &[
            ("musae_DE_edges.csv", "from,to\n0,1\n1,2\n2,0\n"),
            (
                "musae_DE_target.csv",
                "id,days,mature,views,partner,new_id\n7,10,True,30,False,0\n8,1,False,3,True,1\n9,2,True,1,False,2\n",
            ),
            ("musae_DE_features.json", "{\"0\": [3, 1], \"1\": [], \"2\": [0, 1, 2]}"),
        ],
    ),
    (
        "mantra",
        &[(
            "two.json",
            "[{\"id\": \"manifold_2_4_1\", \"triangulation\": [[1,2,3],[4,2,1],[1,3,4],[2,3,4]], \"dimension\": 2, \
             \"n_vertices\": 4, \"betti_numbers\": [1,0,1], \"torsion_coefficients\": [\"\",\"\",\"\"], \"name\": \"S^2\", \
             \"genus\": 0, \"orientable\": true, \"vertex_transitive\": true},\n\
             {\"id\": \"x\", \"triangulation\": [[0,1]], \"n_vertices\": 2}]",
        )],
    ),
    (
        "tu",
        &[
            ("S_A.txt", "1, 2\n2, 1\n4,3\n\n"),
            ("S_graph_indicator.txt", "1\n1\n2\n2\n"),
            ("S_graph_labels.txt", "-1\n5\n7\n"),
            ("S_node_labels.txt", "3\n9\n3\n4\n"),
            ("S_node_attributes.txt", "0.5, 0\n1, 2\n-1.5, 1e-3\n 0,  0\n"),
            ("S_edge_attributes.txt", "0.1\n0.2\n0.3\n"),
        ],
    ),
    (
        "tables",
        &[("nodes.csv", "node,label,x\n1,a,0.5\n2,b,\n3,a,1e3\n"), ("edges.csv", "src,dst,weight\n1,2,1\n2,3,0.5\n")],
    ),
];

/// Files that belong together.
struct Set {
    name: String,
    /// The path to be opened, below the set's folder.
    path: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
    how: How,
}

/// What reads a set.
enum How {
    /// A format of `bonnet_datasets`.
    Graph(&'static str),
    /// Statements; `{}` stands for the set's folder.
    Sql(Vec<String>),
    /// A database in which these statements are run.
    Database(Vec<String>),
}

impl Set {
    /// The files of a folder, and of those in it.
    fn of(name: &str, folder: &Path, how: How) -> Self {
        let mut files = Vec::new();
        let mut waiting = vec![folder.to_owned()];
        while let Some(next) = waiting.pop() {
            for entry in std::fs::read_dir(&next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    waiting.push(path);
                } else {
                    files.push((path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap()));
                }
            }
        }
        files.sort();
        Self { name: name.to_owned(), path: PathBuf::new(), files, how }
    }

    fn write(&self, folder: &Path) {
        for (path, content) in &self.files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
    }
}

fn sets() -> Vec<Set> {
    let mut sets = Vec::new();
    if let Some(data) = published() {
        for (format, published) in PUBLISHED {
            let path = data.join(published);
            let set = match path.is_dir() {
                true => Set::of(format, &path, How::Graph(format)),
                false => {
                    let beside = BESIDE.iter().filter(|(of, _)| *of == published).map(|(_, file)| data.join(file));
                    let name = |path: &Path| PathBuf::from(path.file_name().unwrap());
                    let read = |path: PathBuf| (name(&path), std::fs::read(&path).unwrap());
                    let files = std::iter::once(path.clone()).chain(beside).map(read).collect();
                    Set { name: format.to_owned(), path: name(&path), files, how: How::Graph(format) }
                }
            };
            sets.push(set);
        }
        for (format, folder, names) in CUT {
            let cut = |name: &&str| {
                let text = std::fs::read(data.join(folder).join(name)).unwrap();
                let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').take(200).collect();
                (PathBuf::from(name), lines.concat())
            };
            let files = names.iter().map(cut).collect();
            sets.push(Set { name: format.to_owned(), path: PathBuf::new(), files, how: How::Graph(format) });
        }
    }
    for (format, files) in MADE {
        let files = files.iter().map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())).collect();
        sets.push(Set { name: format.to_owned(), path: PathBuf::new(), files, how: How::Graph(format) });
    }
    sets.extend(written());
    sets.retain(|set| wanted(&set.name));
    assert!(!sets.is_empty(), "no set is wanted");
    sets
}

/// The sets that the engine itself writes.
fn written() -> Vec<Set> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let shown = |name: &str| path(name).display().to_string();
    let mut sets = Vec::new();
    let db = Db::new();
    let rows = "SELECT value AS a, 'text ' || value AS b, CASE WHEN value % 3 = 0 THEN value / 4.0 END AS c,
                    value % 2 = 0 AS d, TIMESTAMP '2026-01-31 12:00:00' AS e";
    let nested = "[value, NULL] AS l, {'x': value, 'y': ['z']} AS s";
    for (ending, columns) in [
        ("parquet", format!("{rows}, {nested}, MAP {{1: value * 0.5}} AS m")),
        ("arrow", format!("{rows}, {nested}")),
        ("json", format!("{rows}, {nested}")),
        ("csv", rows.to_owned()),
    ] {
        db.run(&format!("COPY ({columns} FROM generate_series(1, 50)) TO '{}/rows.{ending}'", shown(ending)));
        let queries = vec![
            format!("SELECT * FROM '{{}}/rows.{ending}'"),
            format!("SELECT count(*), max(a), count(DISTINCT b) FROM '{{}}/rows.{ending}' WHERE a > 3"),
            format!("ATTACH '{{}}' AS f (TYPE {ending})"),
            "SELECT * FROM f.rows ORDER BY 1 LIMIT 3".to_owned(),
        ];
        sets.push(Set::of(ending, &path(ending), How::Sql(queries)));
    }
    db.run(&format!(
        "COPY (SELECT [[0.5, 1.0], [0.0, 2.0], [3.0, 0.0]] AS x, [[0, 1, 2, 0], [1, 2, 0, 1]] AS edge_index,
             [1, -1, 0] AS y, [true, false, false] AS train_mask, [false, true, false] AS val_mask,
             [false, false, true] AS test_mask) TO '{}/graph.parquet'",
        shown("curvbench")
    ));
    sets.push(Set::of("curvbench", &path("curvbench"), How::Graph("curvbench")));
    for (table, columns) in [
        ("nodes", "value AS node, value % 3 AS label, MAP {value: 1.0} AS features"),
        ("edges", "value AS src, value + 1 AS dst, value * 0.5 AS weight"),
    ] {
        db.run(&format!("COPY (SELECT {columns} FROM generate_series(0, 9)) TO '{}/{table}.parquet'", shown("tables")));
    }
    sets.push(Set::of("tables", &path("tables"), How::Graph("tables")));
    sets.push(database(&path("database")));
    #[cfg(feature = "sqlite")]
    sets.extend(sqlite(&path("sqlite")));
    sets
}

/// A database with a table of several versions, a view, a graph and an attached file.
fn database(folder: &Path) -> Set {
    let root = folder.join("lab.bonnet");
    let db = Db::with(EngineOptions { threads: Some(1), database: Some(root.clone()), ..EngineOptions::default() });
    db.run("CREATE TABLE t AS SELECT value AS a, 'x' || value AS b, [value] AS l FROM generate_series(1, 20)");
    for _ in 0..11 {
        db.run("INSERT INTO t SELECT * FROM t WHERE a = 2 LIMIT 1");
    }
    db.run("DELETE FROM t WHERE a > 15");
    db.run("UPDATE t SET b = 'new' WHERE a = 3");
    db.run("CREATE VIEW v AS SELECT sum(a) AS a FROM t");
    db.run("CREATE GRAPH g AS cycle(9)");
    db.run("ATTACH 'builtin:karate' AS k");
    drop(db);
    let statements = [
        "SELECT * FROM t",
        "SELECT * FROM v",
        "SELECT count(*) FROM t VERSION AS OF 5",
        "SELECT * FROM bonnet.history('t')",
        "SELECT * FROM information_schema.columns",
        "SELECT * FROM bonnet.graphs",
        "SELECT count(*) FROM g.edges JOIN k.nodes ON src = node",
        "INSERT INTO t SELECT * FROM t LIMIT 1",
        "DELETE FROM t WHERE a = 1",
        "OPTIMIZE t",
        "VACUUM",
        "SELECT * FROM t",
    ];
    let how = How::Database(statements.map(str::to_owned).to_vec());
    let set = Set::of("database", &root, how);
    std::fs::remove_dir_all(&root).unwrap();
    set
}

/// A file of SQLite's, where Python is there to make one.
#[cfg(feature = "sqlite")]
fn sqlite(folder: &Path) -> Option<Set> {
    let script = "import sqlite3, sys\n\
        c = sqlite3.connect(sys.argv[1])\n\
        c.execute('CREATE TABLE papers (id INTEGER, title TEXT, score REAL)')\n\
        c.executemany('INSERT INTO papers VALUES (?, ?, ?)', [(i, None if i == 3 else 'x' * i, i / 2) for i in range(300)])\n\
        c.commit()\n";
    let made = std::process::Command::new("python3").args(["-c", script]).arg(folder.join("notes.db")).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: python3 is absent, so there is no file of SQLite's");
        return None;
    }
    let statements =
        ["ATTACH '{}/notes.db' AS notes", "SELECT * FROM notes.papers", "SELECT max(id) FROM notes.papers"];
    Some(Set::of("sqlite", folder, How::Sql(statements.map(str::to_owned).to_vec())))
}

/// The cases: each damages files of a set, and reads all that it then holds.
pub(super) fn cases() -> Cases {
    let sets = sets();
    let formats: Vec<&str> = bonnet_datasets::formats().iter().map(|format| format.name()).collect();
    // Whole, they are all read.
    let whole = Step { case: super::BEFORE };
    for (number, set) in sets.iter().enumerate() {
        let folder = std::env::current_dir().unwrap().join(format!("set{number}"));
        set.write(&folder);
        let read = match &set.how {
            How::Graph(format) => graph(&whole, &set.name, &folder.join(&set.path), Some(format)),
            How::Sql(statements) => sql(&whole, &set.name, &folder, statements),
            How::Database(statements) => database_of(&whole, &set.name, &folder, statements),
        };
        if let Err(error) = read {
            whole.found(&format!("{} cannot be read undamaged: {error}", set.path.display()));
        }
        if matches!(set.how, How::Database(_)) {
            std::fs::remove_dir_all(&folder).unwrap();
            set.write(&folder);
        }
    }
    Box::new(move |random, step| {
        let number = random.below(sets.len());
        let set = &sets[number];
        let folder = std::env::current_dir().unwrap().join(format!("set{number}"));
        let mut damaged = Vec::new();
        for _ in 0..if random.one_in(4) { 2 } else { 1 } {
            let (path, content) = &set.files[random.below(set.files.len())];
            let mut content = content.clone();
            let other = &sets[random.below(sets.len())].files;
            let other = &other[random.below(other.len())].1;
            containers::damage(&mut content, random, other);
            let path = folder.join(path);
            match random.one_in(40) {
                true => drop(std::fs::remove_file(&path)),
                false => std::fs::write(&path, content).unwrap(),
            }
            damaged.push(path);
        }
        let read = match &set.how {
            How::Graph(format) => {
                let format = match random.below(8) {
                    0 => None,
                    1 => Some(*random.pick(&formats.iter().collect::<Vec<_>>())),
                    _ => Some(*format),
                };
                graph(step, &set.name, &folder.join(&set.path), format)
            }
            How::Sql(statements) => sql(step, &set.name, &folder, statements),
            How::Database(statements) => database_of(step, &set.name, &folder, statements),
        };
        // Errors are what is expected; what `run` finds ends the process.
        step.count(read.is_ok());
        if matches!(set.how, How::Database(_)) {
            std::fs::remove_dir_all(&folder).unwrap();
            set.write(&folder);
        } else {
            for path in damaged {
                let (_, content) = set.files.iter().find(|(file, _)| folder.join(file) == path).unwrap();
                std::fs::write(&path, content).unwrap();
            }
        }
    })
}

/// Opens a path and reads every table.
fn graph(step: &Step, name: &str, path: &Path, format: Option<&str>) -> Result<(), String> {
    let shown = format!("{name}: {} as {format:?}", path.display());
    let open = || bonnet_datasets::open(path.to_str().unwrap(), format, &Options::new());
    let opened = step.run(&format!("{shown}, opened"), SLACK, open).unwrap();
    let graphs = match opened.map_err(|error| error.to_string())? {
        Opened::Graph(graph) => vec![graph],
        Opened::Collection(collection) => collection.graphs.into_iter().map(|(_, graph)| graph).collect(),
    };
    let mut failed = None;
    for graph in graphs {
        for table in graph.tables() {
            let columns = step.run(&format!("{shown}, columns of {table}"), SLACK, || graph.schema(&table)).unwrap();
            let columns: Vec<usize> = match columns {
                Ok(schema) => (0..schema.fields().len()).collect(),
                Err(error) => {
                    failed = Some(error.to_string());
                    continue;
                }
            };
            let expected = step.run(&shown, SLACK, || graph.expected_bytes(&table, &columns)).unwrap();
            // More is not reserved, so it is not read.
            if expected > MEMORY {
                continue;
            }
            let start = std::time::Instant::now();
            let keep_going = || start.elapsed() < super::HANG / 4;
            let limit = 2 * expected as u64 + SLACK;
            let read = || graph.read(&table, &columns, &keep_going).map(drop);
            if let Err(error) = step.run(&format!("{shown}, {table}"), limit, read).unwrap() {
                failed = Some(error.to_string());
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

fn engine(database: Option<PathBuf>) -> Result<Db, String> {
    let options = EngineOptions { threads: Some(2), memory_limit: Some(MEMORY), database, ..EngineOptions::default() };
    let engine = bonnetdb::Engine::open(options).map_err(|error| error.to_string())?;
    let session = engine.session();
    Ok(Db { engine, session })
}

fn sql(step: &Step, name: &str, folder: &Path, statements: &[String]) -> Result<(), String> {
    let db = engine(None)?;
    all(step, name, &db, folder, statements)
}

fn database_of(step: &Step, name: &str, folder: &Path, statements: &[String]) -> Result<(), String> {
    let opened = step.run(&format!("{name}: opened"), SLACK, || engine(Some(folder.to_owned())));
    all(step, name, &opened.unwrap()?, folder, statements)
}

fn all(step: &Step, name: &str, db: &Db, folder: &Path, statements: &[String]) -> Result<(), String> {
    let mut failed = None;
    for statement in statements {
        let statement = statement.replace("{}", &folder.display().to_string());
        let limit = MEMORY as u64 * 5 / 4 + SLACK;
        let done = step.run(&format!("{name}: {statement}"), limit, || db.try_run(&statement).map(drop));
        if let Some(Err(error)) = done {
            failed = Some(error.to_string());
        }
    }
    failed.map_or(Ok(()), Err)
}
