//! Graphs of `curvbench`.

use super::*;

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
