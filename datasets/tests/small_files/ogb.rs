//! Folders of the Open Graph Benchmark: those that are published are not at hand.

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

/// Two papers with features, a year and a label, of three authors.
const TYPED: &[(&str, &str)] = &[
    ("raw/num-node-dict.csv", "author,paper\n3,2\n"),
    ("raw/triplet-list.csv", "author,writes,paper\npaper,cites,paper\n"),
    ("raw/nodetype-has-feat.csv", "author,paper\nFalse,True\n"),
    ("raw/relations/author___writes___paper/edge.csv", "0,0\n1,0\n2,1\n"),
    ("raw/relations/author___writes___paper/num-edge-list.csv", "3\n"),
    ("raw/relations/paper___cites___paper/edge.csv", "1,0\n"),
    ("raw/node-feat/paper/node-feat.csv", "0.5,-1\n2e-1,0\n"),
    ("raw/node-feat/paper/node_year.csv", "2015\n2018\n"),
    ("raw/node-label/paper/node-label.csv", "7\nnan\n"),
    ("split/time/nodetype-has-split.csv", "author,paper\nFalse,True\n"),
    ("split/time/paper/train.csv", "0\n"),
    ("split/time/paper/valid.csv", ""),
    ("split/time/paper/test.csv", "1\n"),
];

/// The same folder with every file packed, as it is published.
fn packed(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let file = folder.path().join(format!("{name}.gz"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let mut packed = GzEncoder::new(File::create(file).unwrap(), Compression::fast());
        packed.write_all(content.as_bytes()).unwrap();
        packed.finish().unwrap();
    }
    folder
}

/// The typed folder with one file written anew, or left out.
fn with(name: &str, content: Option<&str>) -> TempDir {
    let files = TYPED.iter().filter(|file| file.0 != name).copied();
    folder(&files.chain(content.map(|content| (name, content))).collect::<Vec<_>>())
}

#[test]
fn types_follow_one_another_the_labelled_one_first() {
    for made in [folder(TYPED), packed(TYPED)] {
        let graph = graph(made.path());
        assert_eq!((graph.format(), graph.directed()), ("ogb", true));
        assert_eq!(graph.tables(), ["nodes", "edges", "splits"]);
        let nodes = read(&*graph, "nodes");
        let types = texts(&nodes, "type");
        let types: Vec<&str> = types.iter().flatten().map(String::as_str).collect();
        assert_eq!(types, ["paper", "paper", "author", "author", "author"]);
        assert_eq!(integers(&nodes, "id"), [0, 1, 0, 1, 2].map(Some));
        assert_eq!(integers(&nodes, "label"), [Some(7), None, None, None, None]);
        assert_eq!(integers(&nodes, "time"), [Some(2015), Some(2018), None, None, None]);
        assert_eq!(features_width(graph.schema("nodes").unwrap().field(2)), Some(2));
        let features = nodes.column(2).as_list::<i32>();
        assert_eq!(features.value(1).as_primitive::<Float32Type>().values(), &[0.2, 0.0]);
        assert!(features.is_null(2));
        let edges = read(&*graph, "edges");
        assert_eq!(integers(&edges, "src"), [2, 3, 4, 1].map(Some));
        assert_eq!(integers(&edges, "dst"), [0, 0, 1, 0].map(Some));
        assert_eq!(texts(&edges, "type").iter().flatten().collect::<Vec<_>>(), ["writes", "writes", "writes", "cites"]);
        let splits = read(&*graph, "splits");
        assert_eq!(integers(&splits, "node"), [Some(0), Some(1)]);
        assert_eq!(texts(&splits, "part").iter().flatten().collect::<Vec<_>>(), ["train", "test"]);
    }
}

#[test]
fn a_graph_of_one_type_has_no_types() {
    let made = packed(&[
        ("raw/num-node-list.csv", "3\n"),
        ("raw/num-edge-list.csv", "2\n"),
        ("raw/edge.csv", "0,1\n2,1\n"),
        ("raw/node-feat.csv", "1\n2\n3\n"),
        ("raw/node-label.csv", "0.0\n1.0\n-1\n"),
        ("raw/node_year.csv", "2001\n2002\n2003\n"),
        ("split/random/train.csv", "1\n"),
        ("split/time/train.csv", "0\n"),
        ("split/time/valid.csv", "2\n"),
    ]);
    let graph = graph(made.path());
    let nodes = read(&*graph, "nodes");
    let names: Vec<_> = nodes.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["node", "label", "features", "time"]);
    assert_eq!(integers(&nodes, "label"), [Some(0), Some(1), None]);
    assert_eq!(read(&*graph, "edges").num_columns(), 2);
    let splits = read(&*graph, "splits");
    assert_eq!(integers(&splits, "split"), [0, 1, 1].map(Some));
    assert_eq!(integers(&splits, "node"), [1, 0, 2].map(Some));
}

#[test]
fn what_does_not_fit_is_named_with_its_file_and_line() {
    let error = |name: &str, content: Option<&str>, table: &str| {
        let made = with(name, content);
        match graph_with(made.path(), Some("ogb"), &[]) {
            Ok(graph) => try_read(&*graph, table).unwrap_err(),
            Err(error) => error,
        }
    };
    let features = "raw/node-feat/paper/node-feat.csv";
    let labels = "raw/node-label/paper/node-label.csv";
    let edges = "raw/relations/author___writes___paper/edge.csv";
    for (name, content, table, expected) in [
        (features, Some("1,2\n3\n"), "nodes", "node-feat.csv', line 2: 1 features where the first row has 2"),
        (features, Some("1,2\n3,x\n"), "nodes", "line 2: 'x' is no number"),
        (features, Some("1,2\n"), "nodes", "1 rows for 2 nodes"),
        (labels, Some("1\n"), "nodes", "1 rows for 2 nodes"),
        (labels, Some("1\n0.5\n"), "nodes", "line 2: '0.5' is no whole number"),
        (edges, Some("0,0\n0\n"), "edges", "line 2: '0' are not two node numbers and a comma"),
        (edges, Some("3,0\n"), "edges", "the edge 3, 0 is beyond 3 and 2 nodes"),
        (edges, None, "edges", "edge.csv.gz"),
        ("raw/triplet-list.csv", Some("author,writes,book\n"), "edges", "types that num-node-dict lacks"),
        ("raw/triplet-list.csv", Some("author,paper\n"), "edges", "are not two types and a relation between"),
        ("raw/num-node-dict.csv", Some("author,paper\n3\n"), "nodes", "the types, and a line with their numbers"),
        ("raw/num-node-dict.csv", Some("author,paper\n3,4000000000\n"), "nodes", "it is damaged"),
        ("split/time/paper/test.csv", Some("2\n"), "splits", "2 is none of 2 nodes"),
        ("raw/num-node-dict.csv", None, "nodes", "is expected; the folder holds"),
    ] {
        let found = error(name, content, table);
        assert!(found.contains(expected), "{name}: {found}");
    }
}
