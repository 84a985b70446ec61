//! Sets of graphs.

use super::*;

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
