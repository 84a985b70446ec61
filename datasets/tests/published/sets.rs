//! Published sets of graphs.

use super::*;

/// The rows of the three tables of a set, and its distinct undirected edges. Checks that every edge is one of its graph.
fn set_sizes(set: &dyn Dataset) -> (usize, usize, usize, usize) {
    let graphs = read(set, "graphs", &["graph_id"]);
    let nodes = read(set, "nodes", &["graph_id", "node"]);
    let edges = read(set, "edges", &["graph_id", "src", "dst"]);
    let known: BTreeSet<Option<i64>> = integers(&graphs, "graph_id").into_iter().collect();
    assert_eq!(known.len(), graphs.num_rows());
    let node_of: BTreeSet<_> = integers(&nodes, "graph_id").into_iter().zip(integers(&nodes, "node")).collect();
    assert_eq!(node_of.len(), nodes.num_rows());
    assert!(node_of.iter().all(|(graph, _)| known.contains(graph)));
    let ids = integers(&edges, "graph_id");
    let (src, dst) = (integers(&edges, "src"), integers(&edges, "dst"));
    assert!(ids.iter().zip(&src).chain(ids.iter().zip(&dst)).all(|(graph, node)| node_of.contains(&(*graph, *node))));
    let undirected: BTreeSet<_> = (0..ids.len())
        .filter(|&i| src[i] != dst[i])
        .map(|i| (ids[i], src[i].min(dst[i]), src[i].max(dst[i])))
        .collect();
    (graphs.num_rows(), nodes.num_rows(), edges.num_rows(), undirected.len())
}

fn counts_of(set: &dyn Dataset, table: &str, column: &str) -> BTreeMap<Option<i64>, usize> {
    let mut counts = BTreeMap::new();
    integers(&read(set, table, &[column]), column).into_iter().for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}

#[test]
fn tu_sets_have_the_stated_counts() {
    // Graphs, nodes, rows, undirected edges, features (labels of nodes and attributes), labels of edges.
    for (set, sizes, features, edge_labels) in [
        ("MUTAG", (188, 3371, 7442, 3721), 7, 4),
        ("ENZYMES", (600, 19580, 74564, 37282), 3 + 18, 0),
        ("KKI", (83, 2238, 8038, 4019), 190, 0),
        ("Peking_1", (85, 3341, 13150, 6575), 190, 0),
        ("zips/OHSU.zip", (79, 6479, 31546, 15773), 190, 0),
        ("zips/AIDS.zip", (2000, 31385, 64780, 32390), 38 + 4, 3),
        ("zips/BZR.zip", (405, 14479, 31070, 15535), 10 + 3, 0),
        ("zips/COX2.zip", (467, 19252, 40578, 20289), 8 + 3, 0),
        ("zips/IMDB-BINARY.zip", (1000, 19773, 386124, 96531), 0, 0),
        ("zips/IMDB-MULTI.zip", (1500, 19502, 395612, 98903), 0, 0),
        ("zips/Letter-low.zip", (2250, 10522, 14092, 7046), 2, 0),
        ("zips/NCI1.zip", (4110, 122747, 265506, 132753), 37, 0),
        ("zips/PTC_FM.zip", (349, 4925, 10110, 5055), 18, 4),
        ("zips/PTC_MR.zip", (344, 4915, 10108, 5054), 18, 4),
        ("zips/SYNTHETICnew.zip", (300, 30000, 117750, 58875), 1, 0),
        ("iso-cleaned-zips/PTC_MR.zip", (235, 0, 0, 0), 0, 0),
    ] {
        let Some(data) = graph(&format!("tu/{set}")) else { return };
        let data = &*data;
        assert_eq!((data.format(), data.directed()), ("tu", false));
        if sizes.1 == 0 {
            assert_eq!(read(data, "graphs", &["graph_id"]).num_rows(), sizes.0, "{set}");
            continue;
        }
        assert_eq!(set_sizes(data), sizes, "{set}");
        assert_eq!(width(data).unwrap_or(0), features, "{set}");
        let labelled = data.schema("edges").unwrap().column_with_name("label").is_some();
        assert_eq!(if labelled { counts_of(data, "edges", "label").len() } else { 0 }, edge_labels, "{set}");
    }
}

#[test]
fn tu_labels_and_features_are_as_published() {
    let Some(mutag) = graph("tu/MUTAG") else { return };
    assert_eq!(counts_of(&*mutag, "graphs", "label"), [(Some(-1), 63), (Some(1), 125)].into());
    assert_eq!(counts_of(&*mutag, "nodes", "label").len(), 7);
    // A row of features is the one label of its node.
    assert_eq!(sparse_features(&*mutag), (3371, 0));
    let first = read(&*mutag, "edges", &["dst", "graph_id", "src", "label"]).slice(0, 1);
    assert_eq!(["src", "dst", "graph_id", "label"].map(|name| integers(&first, name)[0].unwrap()), [2, 1, 1, 0]);

    let enzymes = graph("tu/ENZYMES").unwrap();
    assert_eq!(counts_of(&*enzymes, "graphs", "label").into_values().collect::<Vec<_>>(), [100; 6]);
    let attributes = read(&*enzymes, "nodes", &["attributes"]);
    let first = attributes.column(0).as_list::<i32>().value(0);
    assert_eq!(&first.as_primitive::<Float32Type>().values()[..4], &[11.0, 15.887014, 37.78, -0.51]);
    let features = read(&*enzymes, "nodes", &["features"]);
    let first = features.column(0).as_map().value(0);
    let keys = first.column(0).as_primitive::<Int32Type>().values().to_vec();
    // 18 attributes, all of them other than zero, and label 1 of 1, 2, 3.
    assert_eq!(keys, (0..19).collect::<Vec<_>>());

    let letters = graph("tu/zips/Letter-low.zip").unwrap();
    assert_eq!(counts_of(&*letters, "graphs", "label").into_values().collect::<Vec<_>>(), [150; 15]);
    assert_eq!(counts_of(&*letters, "nodes", "label"), [(None, 10522)].into());
    assert!(dense_features(&*letters).is_finite());
}

#[test]
fn a_zip_of_a_tu_set_reads_like_its_folder() {
    // The cleaned sets are parts of the whole ones; KKI's is the whole of it.
    let (Some(folder), Some(zip)) = (graph("tu/KKI"), graph("tu/iso-cleaned-zips/KKI.zip")) else { return };
    assert_eq!(set_sizes(&*folder), set_sizes(&*zip));
    assert_eq!(counts_of(&*folder, "graphs", "label"), counts_of(&*zip, "graphs", "label"));
}

#[test]
fn strongly_regular_graphs_have_their_parameters() {
    for (name, graphs, (n, k, lambda, mu)) in [
        ("sr16622", 2, (16, 6, 2, 2)),
        ("sr251256", 15, (25, 12, 5, 6)),
        ("sr261034", 10, (26, 10, 3, 4)),
        ("sr281264", 4, (28, 12, 6, 4)),
        ("sr291467", 41, (29, 14, 6, 7)),
        ("sr351899", 227, (35, 18, 9, 9)),
        ("sr361446", 180, (36, 14, 4, 6)),
        ("sr351668", 3854, (35, 16, 6, 8)),
    ] {
        let Some(set) = graph(&format!("strongly-regular/{name}")) else { return };
        let m = n * k / 2;
        assert_eq!(set_sizes(&*set), (graphs, graphs * n, graphs * m, graphs * m), "{name}");
        let (rows, _) = edges(&*set);
        for of_one in [&rows[..m], &rows[rows.len() - m..]] {
            let adjacent: BTreeSet<(i64, i64)> = of_one.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
            for u in 0..n as i64 {
                for v in (0..n as i64).filter(|v| *v != u) {
                    let both = |w: &i64| adjacent.contains(&(u, *w)) && adjacent.contains(&(v, *w));
                    let common = (0..n as i64).filter(both).count();
                    assert_eq!(common, if adjacent.contains(&(u, v)) { lambda } else { mu }, "{name} {u} {v}");
                }
            }
        }
    }
}

#[test]
fn there_are_as_many_connected_graphs_as_the_encyclopedia_says() {
    // OEIS A001349, and the edges of all of them as networkx counts them in its own reading of the files.
    for (n, count) in [(2, 1), (3, 2), (4, 6), (5, 21), (6, 112), (7, 853)] {
        let Some(set) = graph(&format!("brec/all-simple-graphs/graph{n}c.g6")) else { return };
        let (graphs, nodes, ..) = set_sizes(&*set);
        assert_eq!((graphs, nodes), (count, count * n));
        let lines = texts(&read(&*set, "graphs", &["graph6"]), "graph6");
        assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), count);
    }
}

#[test]
fn brec_has_400_pairs_in_seven_categories() {
    let Some(brec) = graph("brec/raw") else { return };
    let graphs = read(&*brec, "graphs", &["graph_id", "pair", "side", "category"]);
    let mut categories: Vec<(String, usize)> = Vec::new();
    for category in texts(&graphs, "category") {
        match categories.last_mut() {
            Some((last, count)) if *last == category => *count += 1,
            _ => categories.push((category, 1)),
        }
    }
    let expected =
        [("basic", 120), ("regular", 100), ("str", 100), ("extension", 200), ("cfi", 200), ("4vtx", 40), ("dr", 40)];
    assert!(categories.iter().map(|(category, count)| (category.as_str(), *count)).eq(expected));
    let (ids, pairs, sides) = (integers(&graphs, "graph_id"), integers(&graphs, "pair"), integers(&graphs, "side"));
    assert!((0..800).all(|i| [ids[i], pairs[i], sides[i]] == [i, i / 2, i % 2].map(|value| Some(value as i64))));
    // Nodes and edges of each category as networkx reads them.
    let (nodes, edges) = (counts_of(&*brec, "nodes", "graph_id"), counts_of(&*brec, "edges", "graph_id"));
    let mut start = 0;
    for ((_, count), sizes) in expected.into_iter().zip([
        (1200, 2698),
        (976, 2250),
        (2964, 21738),
        (2058, 4490),
        (16348, 37592),
        (2520, 37800),
        (1738, 8184),
    ]) {
        let range = Some(start)..Some(start + count as i64);
        let sum = |counts: &BTreeMap<Option<i64>, usize>| counts.range(range.clone()).map(|(_, n)| n).sum::<usize>();
        assert_eq!((sum(&nodes), sum(&edges)), sizes);
        start += count as i64;
    }
    let Some(cfi) = graph("brec/raw/cfi.npy") else { return };
    assert_eq!(read(&*cfi, "graphs", &["pair"]).num_rows(), 200);
    let Some(copies) = graph("brec/brec_v3_s4.g6") else { return };
    assert_eq!(read(&*copies, "graphs", &["graph_id"]).num_rows(), 33280);
}

#[test]
fn circular_skip_links_have_41_nodes_and_ten_classes() {
    let Some(csl) = graph("csl") else { return };
    // Four neighbours each, both ways, and a loop.
    assert_eq!(set_sizes(&*csl), (150, 150 * 41, 150 * 41 * 5, 150 * 82));
    assert_eq!(counts_of(&*csl, "graphs", "label").into_values().collect::<Vec<_>>(), [15; 10]);
}

#[test]
fn sets_in_one_text_have_the_stated_counts() {
    let Some(cexp) = graph("exp-cexp/cexp") else { return };
    let (graphs, nodes, rows, _) = set_sizes(&*cexp);
    assert_eq!((graphs, nodes, rows), (1200, 66938, 167472));
    assert_eq!(counts_of(&*cexp, "graphs", "label"), [(Some(0), 600), (Some(1), 600)].into());
    assert_eq!(counts_of(&*cexp, "nodes", "label").len(), 2);
    for (text, tu, doubled) in [
        ("MUTAG", "MUTAG", 2),
        ("NCI1", "zips/NCI1.zip", 2),
        ("IMDBBINARY", "zips/IMDB-BINARY.zip", 2),
        ("IMDBMULTI", "zips/IMDB-MULTI.zip", 2),
    ] {
        let (text, tu) = (graph(&format!("tu-dgcnn-text/{text}")).unwrap(), graph(&format!("tu/{tu}")).unwrap());
        let ((graphs, nodes, rows, undirected), of_tu) = (set_sizes(&*text), set_sizes(&*tu));
        assert_eq!((graphs, nodes, undirected, rows), (of_tu.0, of_tu.1, of_tu.3, doubled * of_tu.3));
    }
    let ptc = graph("tu-dgcnn-text/PTC").unwrap();
    assert_eq!((set_sizes(&*ptc).0, set_sizes(&*ptc).1), (344, 8792));
}

#[test]
fn folders_of_sets_are_collections() {
    let Some(data) = data() else { return };
    let names = |folder: &str| match open(data.join(folder).to_str().unwrap(), None, &Options::new()) {
        Ok(Opened::Collection(collection)) => collection.graphs.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
        other => panic!("{folder}: {other:?}"),
    };
    assert_eq!(names("strongly-regular").len(), 8);
    assert_eq!(names("brec/all-simple-graphs"), ["graph2c", "graph3c", "graph4c", "graph5c", "graph6c", "graph7c"]);
    assert_eq!(names("brec").len(), 2 + 6);
    let tu = names("tu");
    assert_eq!(tu.len(), 4 + 11 + 13);
    assert!(["mutag", "peking_1", "letter_low"].iter().all(|name| tu.iter().any(|has| has == name)), "{tu:?}");
    assert_eq!(names("tu/zips").len(), 11);
    assert_eq!(names("tu-dgcnn-text"), ["imdbbinary", "imdbmulti", "mutag", "nci1", "ptc"]);
}
