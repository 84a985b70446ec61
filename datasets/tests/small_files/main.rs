//! Small files made here: formats of which no published file is at hand, wrong files, and the errors they give.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

mod curvbench;
mod ogb;
mod sets;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array, LargeListArray,
    ListArray, RecordBatch, StringArray, new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Int64Type};
use bonnet_datasets::{Dataset, Opened, Options, features_width, open};
use parquet::arrow::ArrowWriter;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn graph_with(path: &Path, format: Option<&str>, options: &[(&str, &str)]) -> Result<Arc<dyn Dataset>, String> {
    let options: Options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    match open(path.to_str().unwrap(), format, &options) {
        Ok(Opened::Graph(graph)) => Ok(graph),
        Ok(Opened::Collection(collection)) => Err(format!("{collection:?}")),
        Err(error) => Err(error.to_string()),
    }
}

fn graph(path: &Path) -> Arc<dyn Dataset> {
    graph_with(path, None, &[]).unwrap()
}

fn read(graph: &dyn Dataset, table: &str) -> RecordBatch {
    try_read(graph, table).unwrap()
}

fn try_read(graph: &dyn Dataset, table: &str) -> Result<RecordBatch, String> {
    let schema = graph.schema(table).map_err(|error| error.to_string())?;
    let all: Vec<usize> = (0..schema.fields().len()).collect();
    let batches = graph.read(table, &all, &|| true).map_err(|error| error.to_string())?;
    concat_batches(&schema, &batches).map_err(|error| error.to_string())
}

fn integers(batch: &RecordBatch, column: &str) -> Vec<Option<i64>> {
    batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().iter().collect()
}

fn texts(batch: &RecordBatch, column: &str) -> Vec<Option<String>> {
    batch.column_by_name(column).unwrap().as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
    folder
}

/// `[[...], [...]]` as the only row of a `list<list<...>>` column.
fn nested(rows: Vec<ArrayRef>) -> ArrayRef {
    let lengths: Vec<usize> = rows.iter().map(|row| row.len()).collect();
    let refs: Vec<&dyn Array> = rows.iter().map(AsRef::as_ref).collect();
    let values = arrow::compute::concat(&refs).unwrap();
    let item = Arc::new(Field::new("item", values.data_type().clone(), true));
    list(Arc::new(ListArray::new(item, OffsetBuffer::from_lengths(lengths), values, None)))
}

/// A list as the only row of a column.
fn list(values: ArrayRef) -> ArrayRef {
    let item = Arc::new(Field::new("item", values.data_type().clone(), true));
    Arc::new(ListArray::new(item, OffsetBuffer::from_lengths([values.len()]), values, None))
}

fn integer_list(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn float_list(values: &[f32]) -> ArrayRef {
    Arc::new(Float32Array::from(values.to_vec()))
}

// ---- tables --------------------------------------------------------------------------------------------------------

#[test]
fn tables_keep_every_column() {
    let made = folder(&[
        ("nodes.csv", "node,label,name\na,0,Ann\nb,,\"Bob, B.\"\n"),
        ("edges.jsonl", "{\"src\":\"a\",\"dst\":\"b\",\"weight\":0.5}\n{\"src\":\"b\",\"dst\":\"a\",\"weight\":2}\n"),
        ("splits.tsv", "split\tnode\tpart\n0\ta\ttrain\n"),
    ]);
    let graph = graph(made.path());
    assert_eq!((graph.format(), graph.tables()), ("tables", vec!["nodes".into(), "edges".into(), "splits".into()]));
    let nodes = read(&*graph, "nodes");
    assert_eq!(texts(&nodes, "name"), [Some("Ann".to_owned()), Some("Bob, B.".to_owned())]);
    assert_eq!(integers(&nodes, "label"), [Some(0), None]);
    let edges = read(&*graph, "edges");
    assert_eq!(edges.column_by_name("weight").unwrap().as_primitive::<Float64Type>().values(), &[0.5, 2.0]);
    assert_eq!(integers(&read(&*graph, "splits"), "split"), [Some(0)]);
    // Columns come in the order that was asked for.
    for (table, count) in [("nodes", 3), ("edges", 3), ("splits", 3)] {
        let schema = graph.schema(table).unwrap();
        let batches = graph.read(table, &[2, 0], &|| true).unwrap();
        assert_eq!(schema.fields().len(), count);
        assert_eq!(batches[0].schema().field(0), schema.field(2), "{table}");
        assert_eq!(batches[0].column(0).data_type(), schema.field(2).data_type(), "{table}");
        let counted: usize = graph.read(table, &[], &|| true).unwrap().iter().map(RecordBatch::num_rows).sum();
        assert_eq!(counted, read(&*graph, table).num_rows(), "{table}");
    }
}

#[test]
fn parquet_tables_are_read_by_column() {
    let made = folder(&[("edges.csv", "src,dst\n1,2\n")]);
    let nodes = RecordBatch::try_from_iter(vec![
        ("node", integer_list(&[1, 2])),
        ("features", nested(vec![float_list(&[1.0]), float_list(&[2.0])]).as_list::<i32>().value(0)),
        ("extra", Arc::new(StringArray::from(vec!["x", "y"])) as ArrayRef),
    ])
    .unwrap();
    let file = File::create(made.path().join("nodes.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, nodes.schema(), None).unwrap();
    writer.write(&nodes).unwrap();
    writer.close().unwrap();
    let graph = graph(made.path());
    let batches = graph.read("nodes", &[2, 0], &|| true).unwrap();
    assert_eq!(texts(&batches[0], "extra"), [Some("x".to_owned()), Some("y".to_owned())]);
    assert_eq!(integers(&batches[0], "node"), [Some(1), Some(2)]);
    assert!(graph.expected_bytes("nodes", &[0, 1]) > graph.expected_bytes("nodes", &[0]));
}

#[test]
fn tables_without_their_columns_say_what_they_have() {
    let made = folder(&[("nodes.csv", "Id,Label\n1,a\n"), ("edges.csv", "src,dst\n1,1\n2\n")]);
    let graph = graph(made.path());
    let error = graph.schema("nodes").unwrap_err().to_string();
    assert!(
        error.contains("nodes.csv") && error.contains("needs the column node") && error.contains("Id, Label"),
        "{error}"
    );
    let error = try_read(&*graph, "edges").unwrap_err();
    assert!(error.contains("edges.csv") && error.contains("line 3"), "{error}");
    let error = graph.schema("splits").unwrap_err().to_string();
    assert!(error.contains("has no table 'splits'; it has: nodes, edges"), "{error}");
    let both = folder(&[("nodes.csv", "node\n1\n"), ("nodes.tsv", "node\n1\n"), ("edges.csv", "src,dst\n")]);
    let error = graph_with(both.path(), Some("tables"), &[]).unwrap_err();
    assert!(error.contains("both nodes.csv and nodes.tsv"), "{error}");
}

// ---- edge lists ----------------------------------------------------------------------------------------------------

#[test]
fn edge_lists_are_read_however_they_are_separated() {
    for content in [
        "1 2\n2 3\n",
        "1\t2\n2\t3",
        "1,2\n2,3\n",
        "# c\n1 ; 2\n\n2;3\n",
        "\u{feff}src,dst\r\n1,2\r\n2,3\r\n",
        "1 2 {}\n2 3 {}\n",
    ] {
        let made = folder(&[("g.edges", content)]);
        let graph = graph(made.path());
        let edges = read(&*graph, "edges");
        assert_eq!(integers(&edges, "src"), [Some(1), Some(2)], "{content:?}");
        assert_eq!(integers(&edges, "dst"), [Some(2), Some(3)], "{content:?}");
        assert_eq!(integers(&read(&*graph, "nodes"), "node"), [Some(1), Some(2), Some(3)]);
    }
}

#[test]
fn keys_may_be_text_and_columns_may_have_names() {
    let made = folder(&[("g.edges.csv", "source,target,Since\n\"New York, NY\",Boston,1990\nBoston,Rome,2001.5\n")]);
    let graph = graph(&made.path().join("g.edges.csv"));
    let edges = read(&*graph, "edges");
    assert_eq!(texts(&edges, "src"), [Some("New York, NY".to_owned()), Some("Boston".to_owned())]);
    assert_eq!(edges.column_by_name("since").unwrap().as_primitive::<Float64Type>().values(), &[1990.0, 2001.5]);
    let nodes = texts(&read(&*graph, "nodes"), "node");
    assert_eq!(nodes.into_iter().flatten().collect::<Vec<_>>(), ["Boston", "New York, NY", "Rome"]);
}

#[test]
fn an_unusual_spelling_of_an_integer_makes_keys_text() {
    let made = folder(&[("g.edges", "007 7\n")]);
    assert_eq!(texts(&read(&*graph(made.path()), "edges"), "src"), [Some("007".to_owned())]);
}

#[test]
fn a_third_column_is_the_weight() {
    let made = folder(&[("g.edges", "1 2 0.5\n2 3 -1\n")]);
    let edges = read(&*graph(made.path()), "edges");
    assert_eq!(edges.column_by_name("weight").unwrap().as_primitive::<Float64Type>().values(), &[0.5, -1.0]);
}

#[test]
fn labels_beside_the_edges_are_found_and_keep_their_order() {
    let made = folder(&[("g.edges", "3 1\n1 2\n"), ("g.labels", "node label\n3 x\n1 y\n")]);
    let nodes = read(&*graph(made.path()), "nodes");
    assert_eq!(integers(&nodes, "node"), [Some(3), Some(1), Some(2)]);
    assert_eq!(texts(&nodes, "label"), [Some("x".to_owned()), Some("y".to_owned()), None]);
    let made = folder(&[("g.edges.csv", "0,3\n"), ("g.label.csv", "5\n-1\n7\n")]);
    let nodes = read(&*graph(made.path()), "nodes");
    assert_eq!(integers(&nodes, "node"), [Some(0), Some(1), Some(2), Some(3)]);
    assert_eq!(integers(&nodes, "label"), [Some(5), None, Some(7), None]);
}

#[test]
fn matrix_market_says_its_size_and_direction() {
    let banner = "%%MatrixMarket matrix coordinate";
    let made = folder(&[
        ("general/g.mtx", &format!("{banner} pattern general\n% a comment\n4 4 2\n1 2\n3 1\n")),
        ("symmetric/g.mtx", &format!("{banner} real symmetric\n3 3 1\n2 1 0.25\n")),
        ("cut/g.mtx", &format!("{banner} pattern general\n4 4 3\n1 2\n3 1\n")),
        ("beyond/g.mtx", &format!("{banner} pattern general\n4 4 1\n1 5\n")),
        ("oblong/g.mtx", &format!("{banner} pattern general\n4 3 1\n1 2\n")),
        ("array/g.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n1\n"),
    ]);
    let file = |name: &str| made.path().join(name).join("g.mtx");
    let general = graph(&file("general"));
    assert!(general.directed());
    assert_eq!(integers(&read(&*general, "nodes"), "node"), [Some(1), Some(2), Some(3), Some(4)]);
    assert_eq!(integers(&read(&*general, "edges"), "src"), [Some(1), Some(3)]);
    let symmetric = graph(&file("symmetric"));
    assert!(!symmetric.directed());
    assert_eq!(
        read(&*symmetric, "edges").column_by_name("weight").unwrap().as_primitive::<Float64Type>().values(),
        &[0.25]
    );
    let cut = try_read(&*graph(&file("cut")), "edges").unwrap_err();
    assert!(cut.contains("announces 3 entries and has 2"), "{cut}");
    let beyond = try_read(&*graph(&file("beyond")), "edges").unwrap_err();
    assert!(beyond.contains("line 3") && beyond.contains("entry 5 in a matrix of 4 rows"), "{beyond}");
    for (name, expected) in [("oblong", "4 by 3"), ("array", "is no sparse matrix")] {
        let graph = graph_with(&file(name), Some("edge_list"), &[]).unwrap();
        let error = graph.schema("edges").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn wrong_edge_lists_name_the_line() {
    let lines = |content: &str| {
        let made = folder(&[("g.txt", content)]);
        let graph = graph_with(&made.path().join("g.txt"), Some("edge_list"), &[]).unwrap();
        try_read(&*graph, "edges").unwrap_err()
    };
    let error = lines("1 2\n2 3\n4\n");
    assert!(error.contains("line 3") && error.contains("1 fields, where the lines before have 2"), "{error}");
    let error = lines("1 2 3 4\n");
    assert!(error.contains("line 1") && error.contains("4 columns without a header"), "{error}");
    assert!(lines("one\ntwo\n").contains("are not two nodes"));
    // The type of the keys is found from the first MiB; what comes after it is checked.
    let long = "1 2\n".repeat(300_000) + "x y\n";
    let error = lines(&long);
    assert!(error.contains("line 300001") && error.contains("keys 'text'"), "{error}");
    let made = folder(&[("g.edges", &long)]);
    let graph = graph_with(made.path(), None, &[("keys", "text")]).unwrap();
    assert_eq!(read(&*graph, "edges").num_rows(), 300_001);
}

#[test]
fn an_empty_edge_list_is_an_empty_graph() {
    let made = folder(&[("g.edges", "# nothing yet\n")]);
    let graph = graph(made.path());
    assert_eq!((read(&*graph, "edges").num_rows(), read(&*graph, "nodes").num_rows()), (0, 0));
}

#[test]
fn options_are_checked() {
    let made = folder(&[("g.edges", "1 2\n")]);
    let error = |options: &[(&str, &str)]| graph_with(made.path(), None, options).unwrap_err();
    assert!(
        error(&[("key", "text")]).contains("edge_list has no option 'key'; it has: directed, header, keys, labels")
    );
    assert!(error(&[("keys", "float")]).contains("it may be integer | text"));
    assert!(error(&[("directed", "yes")]).contains("option directed is 'yes'"));
    assert!(error(&[("labels", "nowhere.csv")]).contains("there is no file 'nowhere.csv'"));
    assert!(graph_with(made.path(), None, &[("directed", "true")]).unwrap().directed());
    let headed = graph_with(made.path(), None, &[("header", "true")]).unwrap();
    assert_eq!(read(&*headed, "edges").num_rows(), 0);
}

// ---- geom_gcn, pickles, archives -----------------------------------------------------------------------------------

#[test]
fn geom_gcn_faults_name_the_line() {
    let made = folder(&[
        ("out1_graph_edges.txt", "node_id\tnode_id\n0\t1\n1 0\n"),
        ("out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t0,1,0\t2\n1\t1,0\t0\n"),
    ]);
    let graph = graph(made.path());
    assert!(try_read(&*graph, "edges").unwrap_err().contains("out1_graph_edges.txt', line 3"));
    let error = try_read(&*graph, "nodes").unwrap_err();
    assert!(error.contains("line 3") && error.contains("2 features, where the first row has 3"), "{error}");
    assert_eq!(graph.read("nodes", &[0, 1], &|| true).unwrap()[0].num_rows(), 2);
}

#[test]
fn a_cut_or_empty_pickle_names_the_file_and_the_byte() {
    let parts = ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"];
    let made = tempfile::tempdir().unwrap();
    for part in parts {
        fs::write(made.path().join(format!("ind.g.{part}")), b"\x80\x02c").unwrap();
    }
    let graph = graph(made.path());
    let error = try_read(&*graph, "edges").unwrap_err();
    assert!(error.contains("ind.g.graph', byte 2: the pickle is cut short"), "{error}");
    fs::write(made.path().join("ind.g.graph"), b"").unwrap();
    let error = try_read(&*graph, "edges").unwrap_err();
    assert!(error.contains("ind.g.graph', byte 0"), "{error}");
    fs::write(made.path().join("ind.g.graph"), b"\x80\x02cposix\nsystem\nU\x02id\x85R.").unwrap();
    let error = try_read(&*graph, "edges").unwrap_err();
    assert!(error.contains("posix.system") && error.contains("nothing was run"), "{error}");
}

#[test]
fn a_cut_or_wrong_archive_says_so() {
    let made = folder(&[("g.npz", "PK\u{3}\u{4} and no more"), ("empty.npz", "")]);
    for name in ["g.npz", "empty.npz"] {
        for format in ["npz", "gnn_benchmark"] {
            let error = graph_with(&made.path().join(name), Some(format), &[]).unwrap_err();
            assert!(error.contains(name) && error.contains("no complete .npz"), "{error}");
        }
    }
}

// ---- opening -------------------------------------------------------------------------------------------------------

#[test]
fn a_missing_path_says_what_its_folder_holds() {
    let made = folder(&[("cora.edges", "1 2\n"), ("pubmed.edges", "1 2\n")]);
    let error = graph_with(&made.path().join("citeseer.edges"), None, &[]).unwrap_err();
    assert!(error.contains("there is no file or folder") && error.contains("cora.edges, pubmed.edges"), "{error}");
    let error = graph_with(&made.path().join("a/b/c"), None, &[]).unwrap_err();
    assert!(error.contains("holds: cora.edges, pubmed.edges"), "{error}");
}

#[test]
fn an_unknown_type_lists_those_that_exist() {
    let made = folder(&[("g.edges", "1 2\n")]);
    let error = graph_with(made.path(), Some("edgelist"), &[]).unwrap_err();
    assert!(
        error.contains("unknown TYPE 'edgelist'") && error.contains("edge_list") && error.contains("planetoid"),
        "{error}"
    );
    assert!(graph_with(made.path(), Some("EDGE_LIST"), &[]).is_ok());
    let error = graph_with(made.path(), Some("hgcn"), &[]).unwrap_err();
    assert!(error.contains("is no hgcn set") && error.contains("g.edges"), "{error}");
    let error = graph_with(Path::new("builtin:karates"), None, &[]).unwrap_err();
    assert!(error.contains("builtin:karate"), "{error}");
    let error = graph_with(Path::new("https://example.org/cora"), None, &[]).unwrap_err();
    assert!(error.contains("https:// addresses are not read"), "{error}");
}

#[test]
fn a_folder_of_several_sets_is_a_collection_that_tells_what_it_skipped() {
    let made = folder(&[("b.edges", "1 2\n"), ("A-1.edges", "1 2\n"), ("deep/b.edges", "1 2\n"), ("notes.md", "x")]);
    let Ok(Opened::Collection(collection)) = open(made.path().to_str().unwrap(), None, &Options::new()) else {
        panic!("two graphs")
    };
    let names: Vec<&str> = collection.graphs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a_1", "b", "deep"]);
    assert_eq!(collection.skipped, ["notes.md"]);
}

#[test]
fn a_changed_file_changes_the_version() {
    let made = folder(&[("g.edges", "1 2\n")]);
    let graph = graph(made.path());
    let before = graph.version();
    assert_eq!(before, graph.version());
    fs::write(made.path().join("g.edges"), "1 2\n2 3\n").unwrap();
    assert_ne!(before, graph.version());
}
