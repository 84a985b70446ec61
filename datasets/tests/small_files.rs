//! Small files made here: formats of which no published file is at hand, wrong files, and the errors they give.

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

// ---- curvbench -----------------------------------------------------------------------------------------------------

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

fn flags(values: &[bool]) -> ArrayRef {
    Arc::new(BooleanArray::from(values.to_vec()))
}

fn parquet(folder: &TempDir, columns: Vec<(&str, ArrayRef)>) -> std::path::PathBuf {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = folder.path().join("graph.parquet");
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

fn triangle() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("x", nested(vec![float_list(&[0.5, 1.0]), float_list(&[0.0, 2.0]), float_list(&[3.0, 0.0])])),
        ("edge_index", nested(vec![integer_list(&[0, 1, 2, 0]), integer_list(&[1, 2, 0, 1])])),
        ("y", list(integer_list(&[1, -1, 0]))),
        ("train_mask", list(flags(&[true, false, false]))),
        ("val_mask", list(flags(&[false, true, false]))),
        ("test_mask", list(flags(&[false, false, true]))),
    ]
}

#[test]
fn curvbench_is_one_row_of_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let path = parquet(&folder, triangle());
    for path in [path.as_path(), folder.path()] {
        let graph = graph(path);
        assert_eq!((graph.format(), graph.directed()), ("curvbench", false));
        assert_eq!(graph.tables(), ["nodes", "edges", "splits"]);
        let nodes = read(&*graph, "nodes");
        assert_eq!(integers(&nodes, "node"), [Some(0), Some(1), Some(2)]);
        assert_eq!(integers(&nodes, "label"), [Some(1), None, Some(0)]);
        assert_eq!(features_width(graph.schema("nodes").unwrap().field(2)), Some(2));
        let features = nodes.column(2).as_list::<i32>();
        assert_eq!(features.value(2).as_primitive::<Float32Type>().values(), &[3.0, 0.0]);
        let edges = read(&*graph, "edges");
        assert_eq!(integers(&edges, "src"), [Some(0), Some(1), Some(2), Some(0)]);
        assert_eq!(integers(&edges, "dst"), [Some(1), Some(2), Some(0), Some(1)]);
        let splits = read(&*graph, "splits");
        assert_eq!(integers(&splits, "split"), [Some(0); 3]);
        assert_eq!(integers(&splits, "node"), [Some(0), Some(1), Some(2)]);
        assert_eq!(texts(&splits, "part").into_iter().flatten().collect::<Vec<_>>(), ["train", "val", "test"]);
    }
}

#[test]
fn curvbench_takes_other_nestings() {
    let folder = tempfile::tempdir().unwrap();
    // Edges as pairs in large lists of small integers, labels in lists of their own, masks of two splits as integers,
    // doubles, and no features of one node.
    let pairs: Vec<ArrayRef> =
        [[0, 1], [1, 2], [2, 0]].map(|pair| Arc::new(Int32Array::from(pair.to_vec())) as _).to_vec();
    let refs: Vec<&dyn Array> = pairs.iter().map(AsRef::as_ref).collect();
    let values = arrow::compute::concat(&refs).unwrap();
    let item = Arc::new(Field::new("item", DataType::Int32, true));
    let pairs: ArrayRef = Arc::new(LargeListArray::new(item, OffsetBuffer::from_lengths([2, 2, 2]), values, None));
    let x = ListArray::from_iter_primitive::<Float64Type, _, _>([Some(vec![Some(1.5)]), None, Some(vec![Some(2.5)])]);
    let two_masks = |a: &[i64], b: &[i64]| nested(vec![integer_list(a), integer_list(b)]);
    let path = parquet(
        &folder,
        vec![
            ("x", list(Arc::new(x))),
            ("edge_index", list(pairs)),
            ("y", nested(vec![float_list(&[2.0]), float_list(&[0.0]), float_list(&[2.0])])),
            ("train_mask", two_masks(&[1, 0, 0], &[0, 0, 1])),
            ("test_mask", two_masks(&[0, 1, 1], &[1, 1, 0])),
        ],
    );
    let graph = graph(&path);
    let nodes = read(&*graph, "nodes");
    assert_eq!(integers(&nodes, "label"), [Some(2), Some(0), Some(2)]);
    assert!(nodes.column(2).is_null(1) && nodes.column(2).is_valid(2));
    let edges = read(&*graph, "edges");
    assert_eq!(integers(&edges, "dst"), [Some(1), Some(2), Some(0)]);
    let splits = read(&*graph, "splits");
    assert_eq!(integers(&splits, "split"), [0, 0, 0, 1, 1, 1].map(Some));
    assert_eq!(integers(&splits, "node"), [0, 1, 2, 2, 0, 1].map(Some));
}

#[test]
fn curvbench_labels_may_be_real_several_or_missing() {
    let edges = || ("edge_index", nested(vec![integer_list(&[0]), integer_list(&[1])]));
    let folder = tempfile::tempdir().unwrap();
    let graph_of = |columns| graph(&parquet(&folder, columns));
    let real = graph_of(vec![("y", list(Arc::new(Float64Array::from(vec![0.5, 1.0])))), edges()]);
    assert_eq!(read(&*real, "nodes").column(1).as_primitive::<Float64Type>().values(), &[0.5, 1.0]);
    assert_eq!(real.missing_features().as_deref(), Some("graph.parquet (column x)"));
    assert_eq!(read(&*real, "nodes").column(2).null_count(), 2);
    let several = graph_of(vec![("y", nested(vec![float_list(&[0.5, 1.0]), float_list(&[2.0, 3.0])])), edges()]);
    assert_eq!(several.schema("nodes").unwrap().field(1).data_type(), &bonnet_datasets::dense_features_type());
    let named = graph_of(vec![("y", list(Arc::new(StringArray::from(vec!["a", "b"])))), edges()]);
    assert_eq!(texts(&read(&*named, "nodes"), "label"), [Some("a".to_owned()), Some("b".to_owned())]);
    let none = graph_of(vec![("x", nested(vec![float_list(&[1.0]), float_list(&[2.0])])), edges()]);
    assert_eq!(integers(&read(&*none, "nodes"), "label"), [None, None]);
    assert_eq!(none.tables(), ["nodes", "edges"]);
}

#[test]
fn wrong_curvbench_files_say_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let with = |replace: &str, by: ArrayRef| {
        let columns =
            triangle().into_iter().map(|(name, column)| (name, if name == replace { by.clone() } else { column }));
        graph(&parquet(&folder, columns.collect()))
    };
    let error = |graph: Arc<dyn Dataset>, table: &str| try_read(&*graph, table).unwrap_err();
    let uneven = with("edge_index", nested(vec![integer_list(&[0, 1]), integer_list(&[1])]));
    assert!(error(uneven, "edges").contains("column edge_index: 2 sources and 1 targets"));
    let ragged = with("x", nested(vec![float_list(&[1.0]), float_list(&[1.0, 2.0]), float_list(&[1.0])]));
    assert!(error(ragged, "nodes").contains("row 1 has 2 values"));
    let short = with("val_mask", list(flags(&[true])));
    assert!(error(short, "splits").contains("column val_mask: 1 marks for 3 nodes"));
    let whole = fs::read(folder.path().join("graph.parquet")).unwrap();
    fs::write(folder.path().join("graph.parquet"), &whole[..whole.len() / 2]).unwrap();
    let text = graph_with(&folder.path().join("graph.parquet"), Some("curvbench"), &[]).unwrap_err();
    assert!(text.contains("graph.parquet"), "{text}");
    let rows = RecordBatch::try_from_iter(triangle()).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(folder.path().join("graph.parquet")).unwrap(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    assert!(error(graph(folder.path()), "edges").contains("has 2 rows; a graph is one row"));
}

/// One damaged number must not make the reader take memory for so many nodes.
#[test]
fn a_number_of_nodes_that_no_file_can_hold_is_refused() {
    let huge = i64::MAX;
    let claims = |columns: Vec<(&'static str, ArrayRef)>| {
        let folder = tempfile::tempdir().unwrap();
        try_read(graph(&parquet(&folder, columns)).as_ref(), "nodes").unwrap_err()
    };
    let edges = || ("edge_index", nested(vec![integer_list(&[0]), integer_list(&[huge])]));
    let counted = vec![triangle().remove(1), ("num_nodes", integer_list(&[huge])), triangle().remove(2)];
    let masked = vec![edges(), ("train_mask", new_null_array(flags(&[true]).data_type(), 1))];
    for error in [claims(counted), claims(masked)] {
        assert!(error.contains("it is damaged"), "{error}");
    }
    let market = "%%MatrixMarket matrix coordinate pattern general\n4294967295 4294967295 1\n1 2\n";
    let made =
        folder(&[("g.mtx", market), ("geom/out1_graph_edges.txt", "node_id\tnode_id\n0\t9223372036854775807\n")]);
    let error = try_read(graph(&made.path().join("g.mtx")).as_ref(), "nodes").unwrap_err();
    assert!(error.contains("speaks of 4294967295 nodes") && error.contains("it is damaged"), "{error}");
    let error = try_read(graph(&made.path().join("geom")).as_ref(), "nodes").unwrap_err();
    assert!(error.contains("gives no count"), "{error}");
}

#[test]
fn a_cut_parquet_file_is_never_a_graph() {
    let folder = tempfile::tempdir().unwrap();
    let path = parquet(&folder, triangle());
    let whole = fs::read(&path).unwrap();
    for end in (0..whole.len()).step_by(97) {
        fs::write(&path, &whole[..end]).unwrap();
        assert!(graph_with(&path, None, &[]).is_err(), "{end} of {} bytes", whole.len());
    }
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

// ---- sets of graphs ------------------------------------------------------------------------------------------------

const MADE_TU: [(&str, &str); 6] = [
    ("S_A.txt", "1, 2\n2, 1\n4,3\n\n"),
    ("S_graph_indicator.txt", "1\n1\n2\n2\n"),
    ("S_graph_labels.txt", "-1\n5\n7\n"),
    ("S_node_labels.txt", "3\n9\n3\n4\n"),
    ("S_node_attributes.txt", "0.5, 0\n1, 2\n-1.5, 1e-3\n 0,  0\n"),
    ("S_edge_attributes.txt", "0.1\n0.2\n0.3\n"),
];

/// The set with one file changed; without it where the content is empty.
fn tu_with(name: &str, content: &str) -> TempDir {
    let mut files: Vec<(&str, &str)> = MADE_TU.into_iter().filter(|(file, _)| *file != name).collect();
    if !content.is_empty() {
        files.push((name, content));
    }
    folder(&files)
}

#[test]
fn a_tu_set_may_have_attributes_of_everything_and_graphs_without_nodes() {
    let made = tu_with("", "");
    let set = graph(made.path());
    assert_eq!(set.tables(), ["graphs", "nodes", "edges"]);
    let graphs = read(&*set, "graphs");
    assert_eq!(integers(&graphs, "graph_id"), [Some(1), Some(2), Some(3)]);
    assert_eq!(integers(&graphs, "label"), [Some(-1), Some(5), Some(7)]);
    let nodes = read(&*set, "nodes");
    assert_eq!(integers(&nodes, "graph_id"), [Some(1), Some(1), Some(2), Some(2)]);
    assert_eq!(integers(&nodes, "node"), [Some(1), Some(2), Some(3), Some(4)]);
    // Two attributes, then the labels 3, 4, 9.
    assert_eq!(features_width(set.schema("nodes").unwrap().field_with_name("features").unwrap()), Some(5));
    let features = nodes.column_by_name("features").unwrap().as_map().value(1);
    assert_eq!(features.column(0).as_primitive::<arrow::datatypes::Int32Type>().values(), &[0, 1, 4]);
    assert_eq!(features.column(1).as_primitive::<Float32Type>().values(), &[1.0, 2.0, 1.0]);
    let attributes = nodes.column_by_name("attributes").unwrap().as_list::<i32>().value(2);
    assert_eq!(attributes.as_primitive::<Float32Type>().values(), &[-1.5, 1e-3]);
    let edges = read(&*set, "edges");
    assert_eq!(integers(&edges, "graph_id"), [Some(1), Some(1), Some(2)]);
    assert_eq!(integers(&edges, "src"), [Some(1), Some(2), Some(4)]);
    let attributes = edges.column_by_name("attributes").unwrap().as_list::<i32>();
    assert_eq!(attributes.values().as_primitive::<Float32Type>().values(), &[0.1, 0.2, 0.3]);
}

#[test]
fn several_labels_a_node_are_text() {
    let made = tu_with("S_node_labels.txt", "3, 1\n9, 0\n3, 1\n4, 1\n");
    let nodes = read(&*graph(made.path()), "nodes");
    assert_eq!(texts(&nodes, "label")[1].as_deref(), Some("9, 0"));
}

#[test]
fn damaged_tu_files_say_where() {
    let error = |name: &str, content: &str, table: &str| {
        let made = tu_with(name, content);
        try_read(&*graph(made.path()), table).unwrap_err()
    };
    let indicator = "S_graph_indicator.txt";
    let cases = [
        (error(indicator, "1\n1\n2\n", "nodes"), "S_node_labels.txt': has 4 lines; S_graph_indicator.txt has 3 nodes"),
        (
            error(indicator, "1\n1\n2\n", "edges"),
            "S_A.txt', line 3: node 4, but S_graph_indicator.txt has the nodes 1 to 3",
        ),
        (error(indicator, "1\n1\n2\n4\n", "nodes"), "line 4: graph 4, but S_graph_labels.txt has 3 graphs"),
        (error(indicator, "1\n1\n0\n2\n", "nodes"), "line 3: graph 0; graphs are numbered from 1"),
        (error(indicator, "1\nx\n2\n2\n", "nodes"), "line 2: 'x' is no whole number"),
        (error(indicator, "1\n\n2\n2\n", "nodes"), "line 2: is blank, with more lines after it"),
        (error("S_A.txt", "1, 2\n1\n", "edges"), "line 2: '1' are not two node numbers"),
        (error("S_A.txt", "1, 3\n", "edges"), "line 1: an edge from node 1 of graph 1 to node 3 of graph 2"),
        (error("S_A.txt", "0, 1\n", "edges"), "line 1: node 0, but S_graph_indicator.txt has the nodes 1 to 4"),
        (error("S_A.txt", "1, 2\n", "edges"), "S_edge_attributes.txt': has 3 lines; S_A.txt has 1 edges"),
        (
            error("S_node_attributes.txt", "1, 2\n1\n1, 2\n1, 2\n", "nodes"),
            "line 2: 1 attributes, where the first line has 2",
        ),
        (error("S_node_attributes.txt", "1, x\n", "nodes"), "line 1: 'x' is no number"),
    ];
    for (error, expected) in cases {
        assert!(error.contains(expected), "{error}\n{expected}");
    }
    let made = tu_with("S_graph_labels.txt", "");
    assert_eq!(integers(&read(&*graph(made.path()), "graphs"), "label"), [None, None]);
    let made = tu_with(indicator, "");
    let error = graph_with(made.path(), Some("tu"), &[]).unwrap_err();
    assert!(error.contains("is no tu set: NAME_A.txt and NAME_graph_indicator.txt are expected"), "{error}");
}

#[test]
fn a_cut_zip_is_an_error_wherever_it_is_cut() {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in MADE_TU {
        zip.start_file(format!("S/{name}"), SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    let whole = zip.finish().unwrap().into_inner();
    let made = tempfile::tempdir().unwrap();
    let path = made.path().join("S.zip");
    fs::write(&path, &whole).unwrap();
    assert_eq!(read(&*graph(&path), "edges"), read(&*graph(tu_with("", "").path()), "edges"));
    for end in 0..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let error = graph_with(&path, Some("tu"), &[]).unwrap_err();
        assert!(error.contains("S.zip") && error.contains("is no complete zip"), "{end}: {error}");
    }
    // Damage within a member: its bytes come after its name.
    let member = whole.windows(7).position(|bytes| bytes == b"S_A.txt").unwrap() + 7;
    let mut damaged = whole;
    damaged[member + 2..member + 6].fill(0xff);
    fs::write(&path, &damaged).unwrap();
    let error = try_read(&*graph(&path), "edges").unwrap_err();
    assert!(error.contains("S.zip/S/S_A.txt"), "{error}");
}

#[test]
fn graph6_files_may_have_a_header_and_blank_lines_and_damage_has_a_line() {
    let made = folder(&[("a.g6", ">>graph6<<DQc\n\nA_\r\n")]);
    let set = graph(&made.path().join("a.g6"));
    assert_eq!(set.format(), "graph6");
    let edges = read(&*set, "edges");
    assert_eq!(integers(&edges, "graph_id"), [Some(0), Some(0), Some(0), Some(0), Some(1)]);
    assert_eq!(integers(&edges, "src"), [Some(0), Some(1), Some(0), Some(3), Some(0)]);
    let graphs = read(&*set, "graphs");
    assert_eq!(texts(&graphs, "graph6"), [Some("DQc".to_owned()), Some("A_".to_owned())]);
    assert_eq!(integers(&graphs, "label"), [None, None]);
    assert_eq!(read(&*set, "nodes").num_rows(), 7);
    for (content, expected) in [
        ("DQc\nDQ\n", "a.g6', line 2: is a graph of 5 nodes, which needs 2 characters"),
        ("DQc\n\nD c\n", "line 3: has ' ' as character 2"),
        ("DQc\n:DaY\n", "line 2: is sparse6"),
        ("DQc\n~~~~~~~~~~~~\n", "line 2: is a graph of 68719476735 nodes"),
    ] {
        let made = folder(&[("a.g6", content)]);
        let error = try_read(&*graph(made.path()), "edges").unwrap_err();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}

#[test]
fn brec_files_are_pairs_of_texts() {
    fn npy(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        bytes
    }
    let made = tempfile::tempdir().unwrap();
    fs::write(made.path().join("dr.npy"), npy("|S3", "(4,)", b"DQcA_\0A_\0DQc")).unwrap();
    fs::write(made.path().join("basic.npy"), npy("|S3", "(1, 2)", b"DQcDQc")).unwrap();
    let set = graph(made.path());
    let graphs = read(&*set, "graphs");
    assert_eq!(integers(&graphs, "pair"), [0, 0, 1, 1, 2, 2].map(Some));
    let categories: Vec<_> = texts(&graphs, "category").into_iter().flatten().collect();
    assert_eq!(categories, ["basic", "basic", "dr", "dr", "dr", "dr"]);
    assert_eq!(read(&*set, "edges").num_rows(), 4 + 4 + 4 + 1 + 1 + 4);
    for (bytes, expected) in [
        (npy("|S3", "(3,)", b"DQcDQcDQc"), "[2 * pairs] is expected"),
        (npy("|S3", "(2,)", b"DQcDQ\0"), "dr.npy', text 1: is a graph of 5 nodes"),
        (npy("|S3", "(2,)", b"DQcDQ"), "cut short"),
    ] {
        fs::write(made.path().join("dr.npy"), bytes).unwrap();
        let error = try_read(&*graph(made.path()), "graphs").unwrap_err();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}

#[test]
fn sets_in_one_text_say_where_they_are_damaged() {
    let made = folder(&[("s.txt", "2\n2 7\n0 1 1 0.5\n3 1 0 1.5\n1 8\n5 0 2.5\n")]);
    let set = graph(made.path());
    assert_eq!(set.format(), "dgcnn");
    assert_eq!(integers(&read(&*set, "graphs"), "label"), [Some(7), Some(8)]);
    let nodes = read(&*set, "nodes");
    assert_eq!(integers(&nodes, "label"), [Some(0), Some(3), Some(5)]);
    assert_eq!(integers(&nodes, "node"), [Some(0), Some(1), Some(0)]);
    let features = nodes.column_by_name("features").unwrap().as_list::<i32>();
    assert_eq!(features.values().as_primitive::<Float32Type>().values(), &[0.5, 1.5, 2.5]);
    for (content, expected) in [
        ("2\n1 0\n0 0\n", "line 1: says 2 graphs; the file has 1"),
        ("2\n1 0\n0 0\n2 1\n0 0\n", "the file ends at node 1 of 2 of graph 1"),
        ("1\n1 0\n0 0\nx\n", "line 4: 'x' are not the number of nodes"),
        ("2\n1 0\n0 0\n1 1\n0 1 1\n", "line 5: '1' is no node of a graph of 1 nodes"),
        ("2\n1 0\n0 0\n2 1\n0 1 1\n0 2 0\n", "line 6: degree 2, but 1 neighbours"),
        ("2\n1 0\n0 0\n1 1\nx 1\n", "line 5: 'x 1' does not start with a node's tag and degree"),
        ("2\n1 0\n0 0\n1 1\n0 0 0.5\n", "line 5: 1 attributes after the neighbours, where the first node has 0"),
    ] {
        let made = folder(&[("s.txt", content)]);
        let error =
            try_read(&*graph_with(&made.path().join("s.txt"), Some("dgcnn"), &[]).unwrap(), "edges").unwrap_err();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}
