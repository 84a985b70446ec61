import re
import types
import warnings

import networkx
import numpy
import pandas
import polars
import pytest
import scipy.sparse

import bonnetdb


def same(one, other):
    """Whether two graphs of networkx have the same kind, nodes, edges and attributes."""
    keys = {"keys": True} if one.is_multigraph() else {}
    assert type(one) is type(other)
    assert dict(one.nodes(data=True)) == dict(other.nodes(data=True))
    if one.is_directed():
        assert sorted(one.edges(data=True, **keys), key=repr) == sorted(other.edges(data=True, **keys), key=repr)
    else:
        ordered = lambda graph: sorted(((*sorted(e[:2]), *e[2:]) for e in graph.edges(data=True, **keys)), key=repr)  # noqa: E731
        assert ordered(one) == ordered(other)
    return True


def graphs():
    karate = networkx.karate_club_graph()
    yield karate
    yield networkx.DiGraph([(1, 2), (2, 1), (2, 3), (3, 3)])
    texts = networkx.Graph()
    texts.add_node("alone", label="x", size=2.5, tags=["a", "b"])
    texts.add_edge("b", "a", weight=0.1, since=1999)
    texts.add_edge("a", "c", weight=2)
    yield texts
    multi = networkx.MultiGraph()
    multi.add_edges_from([(0, 1, {"kind": "road"}), (0, 1, {"kind": "rail"}), (1, 2, {})])
    yield multi
    yield networkx.MultiDiGraph([(0, 1), (0, 1), (1, 0)])
    yield networkx.empty_graph(3)


@pytest.mark.parametrize("at", range(6))
def test_graphs_of_networkx_come_back_as_they_were(con, at):
    graph = list(graphs())[at]
    stored = con.from_networkx(graph, "g")
    assert same(stored.to_networkx(), graph)
    assert stored.directed == graph.is_directed()
    (count,) = con.sql("SELECT nodes FROM bonnet.graphs WHERE graph = 'g'").fetchone()
    assert count == graph.number_of_nodes()


def test_what_networkx_computes_the_engine_computes(con):
    graph = networkx.karate_club_graph()
    con.from_networkx(graph, "g")
    ours = dict(con.sql("SELECT node, betweenness_centrality FROM betweenness_centrality(g.edges)").fetchall())
    theirs = networkx.betweenness_centrality(graph)
    assert ours.keys() == theirs.keys()
    assert all(abs(ours[node] - theirs[node]) < 1e-12 or abs(ours[node] / theirs[node] - 528) < 1e-6 for node in ours if theirs[node])


def test_a_graph_that_is_refused_says_why(con):
    with pytest.raises(bonnetdb.DataError, match="convert_node_labels_to_integers"):
        con.from_networkx(networkx.grid_2d_graph(2, 2), "g")
    with pytest.raises(bonnetdb.DataError, match="one type"):
        con.from_networkx(networkx.Graph([(1, "a")]), "g")
    con.from_edges([(0, 1)], "g")
    with pytest.raises(bonnetdb.ProgrammingError, match="exists already"):
        con.from_edges([(0, 1)], "g")
    assert con.from_edges([(0, 1), (1, 2)], "g", replace=True).keys().tolist() == [0, 1, 2]
    with pytest.raises(bonnetdb.ProgrammingError, match="there is no graph h"):
        con.graph("h")
    with pytest.raises(bonnetdb.ProgrammingError, match="needs a column dst"):
        con.from_edges(polars.DataFrame({"src": [1], "to": [2]}), "h", nodes=[1, 2])
    with pytest.raises(bonnetdb.ProgrammingError, match="pairs"):
        con.from_edges([(1, 2, 3, 4)], "h")
    # In the words of the call: the caller knows no table of ours.
    for edges, text in (
        (polars.DataFrame({"src": [1], "to": [2]}), "dst"),
        (polars.DataFrame({"src": [1], "dst": [2], "wide": polars.Series([1], dtype=polars.Int128)}), "argument edges.*column wide"),
    ):
        with pytest.raises(bonnetdb.Error, match=text) as error:
            con.from_edges(edges, "h")
        assert "bonnetdb_ends" not in str(error.value)
    con.from_edges([(0, 9)], "h", nodes=[0, 1])
    with pytest.raises(bonnetdb.DataError, match="not in nodes"):
        con.graph("h").to_scipy()


def test_edges_come_as_frames_arrays_pairs_and_triples(con):
    expected = [(0, 1), (1, 2)]
    for name, edges in {
        "a": polars.DataFrame({"src": [0, 1], "dst": [1, 2]}),
        "b": numpy.array(expected),
        "c": expected,
        "d": [(0, 1, 0.5), (1, 2, 1.5)],
    }.items():
        graph = con.from_edges(edges, name)
        assert con.sql(f"SELECT src, dst FROM {name}.edges ORDER BY src").fetchall() == expected
        assert graph.to_scipy().shape == (3, 3)
    assert con.graph("d").to_scipy().toarray().tolist() == [[0, 0.5, 0], [0.5, 0, 1.5], [0, 1.5, 0]]


def test_matrices_of_scipy(con):
    graph = networkx.karate_club_graph()
    expected = networkx.to_scipy_sparse_array(graph, weight="weight", dtype=float, format="csr")
    assert (con.from_networkx(graph, "k").to_scipy() != expected).nnz == 0
    assert (con.from_scipy(expected, "s").to_scipy() != expected).nnz == 0
    arcs = scipy.sparse.csr_array(numpy.array([[0.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(bonnetdb.DataError, match="not symmetric"):
        con.from_scipy(arcs, "arcs")
    assert con.from_scipy(arcs, "arcs", directed=True).to_scipy().toarray().tolist() == arcs.toarray().tolist()
    con.from_edges([(0, 1, 1.0), (1, 0, 2.0)], "differ")
    with pytest.raises(bonnetdb.DataError, match="differ in edge_weight"):
        con.graph("differ").to_scipy()


def data(nodes, edges, features, seed):
    """An object with the attributes of PyTorch Geometric's `Data`."""
    random = numpy.random.default_rng(seed)
    part = random.integers(0, 4, nodes)
    return types.SimpleNamespace(
        num_nodes=nodes,
        edge_index=random.integers(0, nodes, (2, edges)),
        x=random.random((nodes, features), dtype="float32"),
        y=random.integers(0, 3, nodes),
        edge_weight=random.random(edges),
        edge_attr=random.random((edges, 2), dtype="float32"),
        train_mask=part == 0,
        val_mask=part == 1,
        test_mask=part == 2,
    )


def test_the_arrays_of_a_data_come_back_exactly(con):
    original = data(50, 400, 5, 1)
    stored = con.from_pyg(original, "p")
    arrays = stored.arrays()
    for name in ("edge_index", "x", "y", "edge_weight", "edge_attr", "train_mask", "val_mask", "test_mask"):
        expected = getattr(original, name)
        assert arrays[name].dtype == expected.dtype and numpy.array_equal(arrays[name], expected), name
    assert arrays["num_nodes"] == 50
    # Ten splits at once.
    original.train_mask = numpy.random.default_rng(2).random((50, 10)) < 0.5
    original.val_mask, original.test_mask = ~original.train_mask, numpy.zeros((50, 10), bool)
    with pytest.warns(UserWarning, match="does not keep test_mask, which marks no node"):
        arrays = con.from_pyg(original, "p", replace=True).arrays()
    assert numpy.array_equal(arrays["train_mask"], original.train_mask)
    assert numpy.array_equal(arrays["val_mask"], original.val_mask) and "test_mask" not in arrays


def test_what_is_not_kept_is_named(con):
    original = data(9, 20, 2, 4)
    original.train_mask[0] = original.val_mask[1] = original.test_mask[2] = True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        con.from_pyg(original, "whole")
    original.pos, original.title, original.nothing = numpy.zeros((9, 3)), "nine", None
    with pytest.warns(UserWarning, match="from_pyg does not keep pos, title$") as found:
        con.from_pyg(original, "part")
    assert found[0].filename == __file__
    # Masks that were not given are none.
    del original.val_mask, original.test_mask, original.pos, original.title
    assert {name for name in con.from_pyg(original, "one").arrays() if name.endswith("_mask")} == {"train_mask"}


def bundled():
    """The names of the data that come with the program, as the error of a wrong name lists them."""
    with bonnetdb.connect() as con, pytest.raises(bonnetdb.Error) as error:
        con.sql("ATTACH 'builtin:none' AS none")
    names = re.findall(r"builtin:(\w+)", str(error.value).rpartition("there is")[2])
    assert "karate" in names
    return names


@pytest.mark.parametrize("name", bundled())
def test_bundled_graphs_come_back_as_they_were(con, name):
    con.sql(f"ATTACH 'builtin:{name}' AS bundled")
    graph = con.graph("bundled")
    arrays = graph.arrays()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = con.from_pyg(types.SimpleNamespace(**arrays), "copy", directed=graph.directed).arrays()
    assert back.keys() == arrays.keys() and back["num_nodes"] == arrays["num_nodes"]
    for key in back.keys() - {"num_nodes"}:
        assert back[key].dtype == arrays[key].dtype and numpy.array_equal(back[key], arrays[key]), key
    of_networkx = graph.to_networkx()
    assert same(con.from_networkx(of_networkx, "again").to_networkx(), of_networkx)


def test_edges_come_both_ways_sorted_and_once():
    both_ways = bonnetdb._bonnetdb.both_ways
    generator = numpy.random.default_rng(5)
    for size, count in ((1, 3), (7, 40), (3, 50_000), (3000, 50_000), (2**31, 1000), (2**31, 50_000)):
        pairs = generator.integers(0, size, (2, count))
        pairs[0, : count // 2] = 0
        expected = numpy.unique(numpy.concatenate([pairs, pairs[::-1]], axis=1), axis=1)
        assert numpy.array_equal(both_ways(pairs), expected), size
    for wrong in (numpy.array([[-1], [0]]), numpy.array([[0], [2**31]]), numpy.zeros((3, 2), "int64")):
        with pytest.raises(ValueError, match="numbers from 0 to"):
            both_ways(wrong)


@pytest.mark.parametrize("size, count", [(5, 40), (70_000, 90_000), (3_000_000, 90_000)])
def test_edges_between_numbers_are_the_columns_or_both_ways(con, size, count):
    generator = numpy.random.default_rng(size)
    pairs = generator.integers(0, size, (2, count), dtype="int64")
    pairs[:, count // 2 :] = pairs[::-1, : count - count // 2]
    pairs[1, :7] = pairs[0, :7]
    edges, nodes = polars.DataFrame({"src": pairs[0], "dst": pairs[1]}), polars.DataFrame({"node": numpy.arange(size)})
    arcs = con.from_edges(edges, "arcs", nodes=nodes, directed=True).arrays()["edge_index"]
    assert numpy.array_equal(arcs, pairs) and arcs.flags.writeable
    both = con.from_edges(edges, "both", nodes=nodes).arrays()["edge_index"]
    assert numpy.array_equal(both, numpy.unique(numpy.concatenate([pairs, pairs[::-1]], axis=1), axis=1))
    assert both.dtype == "int64" and both.flags.writeable and both.flags.c_contiguous
    # Integers of 32 bits are the same numbers.
    narrow = con.from_edges(edges.cast(polars.Int32), "narrow", nodes=nodes)
    assert numpy.array_equal(narrow.arrays()["edge_index"], both)
    con.sql("CREATE SCHEMA cut")
    con.sql(f"CREATE VIEW cut.nodes AS SELECT node FROM arcs.nodes WHERE node < {int(pairs.max())}")
    con.sql("CREATE VIEW cut.edges AS SELECT src, dst FROM arcs.edges")
    with pytest.raises(bonnetdb.DataError, match="names a node that is not in nodes"):
        con.graph("cut").arrays()


def test_the_arrays_of_a_lasting_graph(tmp_path):
    original = data(50, 400, 5, 3)
    with bonnetdb.connect(tmp_path / "lab.bonnet") as con:
        con.from_pyg(original, "p")
    with bonnetdb.connect(tmp_path / "lab.bonnet", read_only=True) as con:
        graph = con.graph("p")
        assert graph.directed
        arrays = graph.arrays()
        assert numpy.array_equal(arrays["x"], original.x) and numpy.array_equal(arrays["y"], original.y)
        rows = lambda pairs, weights: sorted(zip(*pairs.tolist(), weights.tolist()))  # noqa: E731
        assert rows(arrays["edge_index"], arrays["edge_weight"]) == rows(original.edge_index, original.edge_weight)


def test_the_arrays_of_a_bundled_graph(karate):
    graph = karate.graph("karate")
    arrays = graph.arrays()
    assert arrays["num_nodes"] == 34 and arrays["edge_index"].shape == (2, 156) and arrays["y"].shape == (34,)
    theirs = networkx.karate_club_graph()
    pairs = set(zip(*arrays["edge_index"].tolist()))
    assert len(pairs) == 156 and all((v, u) in pairs for u, v in pairs)
    labels = arrays["y"]
    club = numpy.array([theirs.nodes[node]["club"] == "Officer" for node in range(34)])
    assert len(set(labels.tolist())) >= 2
    assert pairs == {pair for u, v in theirs.edges for pair in ((u, v), (v, u))} and len(club) == 34
    assert graph.profile().fetchone()[:3] is not None and "karate" in repr(graph)


def test_torch_is_asked_for_where_it_is_missing(karate):
    try:
        import torch_geometric  # noqa: F401
    except ImportError:
        with pytest.raises(bonnetdb.InterfaceError, match="pip install torch"):
            karate.graph("karate").to_pyg()
    else:
        assert karate.graph("karate").to_pyg().num_nodes == 34


def test_models_are_trained_by_a_method(karate):
    rows = karate.train("karate", ["mlp", "gcn"], seed=[0, 1], features="identity", epochs=20)
    assert len(rows) == 4
    found = rows.df().sort_values(["model", "seed"])
    assert found["model"].tolist() == ["gcn", "gcn", "mlp", "mlp"] and found["seed"].tolist() == [0, 1, 0, 1]
    assert (found["status"] == "ok").all()
    predicted = karate.predict(karate.graph("karate"), "gcn", features="identity", epochs=20)
    assert {"node", "prediction"} <= set(predicted.columns) and len(predicted) == 34
    with pytest.raises(bonnetdb.ProgrammingError, match="no job"):
        karate.train("karate", [])


def test_runs_that_fail_are_warned_of_once(karate):
    with pytest.warns(bonnetdb.FailedRunsWarning, match="train: 1 of 2 runs failed: ") as caught:
        rows = karate.train("karate", "gcn", features=["identity", "given"], epochs=2).df()
        assert sorted(rows["status"]) == ["error", "ok"]
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert karate.train("karate", ["mlp"], features="identity", epochs=2).df()["status"].tolist() == ["ok"]
        with pytest.raises(bonnetdb.FailedRunsWarning):
            karate.train("karate", ["mlp"], features="given", epochs=2).df()


def test_boundary_matrices_give_the_homology_of_the_torus(con):
    # Moebius' torus of seven vertices.
    facets = [sorted({i, (i + 1) % 7, (i + 3) % 7}) for i in range(7)] + [sorted({i, (i + 2) % 7, (i + 3) % 7}) for i in range(7)]
    first, second = con.boundary_matrix(facets, 1), con.boundary_matrix(facets, 2)
    assert first.shape == (7, 21) and second.shape == (21, 14)
    assert abs(first @ second).sum() == 0
    ranks = [numpy.linalg.matrix_rank(matrix.toarray()) for matrix in (first, second)]
    assert (7 - ranks[0], 21 - ranks[0] - ranks[1], 14 - ranks[1]) == (1, 2, 1)
    assert con.boundary_matrix(facets, 0).shape == (0, 7) and con.boundary_matrix(facets, 3).shape == (14, 0)
    # The facets of a table are taken as they come.
    (row,) = con.sql("SELECT [[0, 1], [1, 2]] AS facets").fetchall()
    assert con.boundary_matrix(row[0], 1).toarray().tolist() in ([[-1, 0], [1, -1], [0, 1]], [[1, 0], [-1, 1], [0, -1]])
    with pytest.raises(bonnetdb.DataError, match="one facet at least"):
        con.boundary_matrix([], 1)


def test_columns_of_any_name_and_case_make_a_graph(con):
    edges = pandas.DataFrame({"Source": ["a", "b"], "Target": ["b", "c"], "Weight": [0.5, 2.0], "year": [1, 2]})
    people = polars.DataFrame({"Id": ["a", "b", "c"], "Club": ["x", "y", "x"]})
    con.from_edges(edges, "g", nodes=people, source="Source", target="target", weight="WEIGHT", node="id", label="club")
    assert con.sql("SELECT src, dst, weight, year FROM g.edges ORDER BY src").fetchall() == [("a", "b", 0.5, 1), ("b", "c", 2.0, 2)]
    assert con.sql("SELECT node, label FROM g.nodes ORDER BY node").fetchall() == [("a", "x"), ("b", "y"), ("c", "x")]
    assert con.graph("g").arrays()["y"].tolist() == [0, 1, 0]
    # The defaults, in any case.
    assert con.from_edges({"SRC": [0, 1], "Dst": [1, 2]}, "h").keys().tolist() == [0, 1, 2]
    with pytest.raises(bonnetdb.ProgrammingError, match=r"needs a column src; there are: Source, Target, .*source='...'"):
        con.from_edges(edges, "i")
    with pytest.raises(bonnetdb.ProgrammingError, match="needs a column nobody; there are: Id, Club"):
        con.from_edges([("a", "b")], "i", nodes=people, node="Id", label="nobody")
    with pytest.raises(bonnetdb.ProgrammingError, match="edges have a column src beside Source"):
        con.from_edges(edges.assign(src=1), "i", source="Source", target="Target")
    with pytest.raises(bonnetdb.ProgrammingError, match="named SRC but for case: Src, src"):
        con.from_edges({"Src": [0], "src": [0], "dst": [1]}, "i", source="SRC")
    with pytest.raises(bonnetdb.ProgrammingError, match="label is a column of the nodes"):
        con.from_edges([("a", "b")], "i", label="club")


def test_an_attribute_of_networkx_is_the_label(con):
    club = networkx.karate_club_graph()
    con.from_networkx(club, "k", label="club")
    found = dict(con.sql("SELECT node, label FROM k.nodes").fetchall())
    assert found == dict(club.nodes(data="club"))
    rows = con.train("k", ["gcn"], features="identity", epochs=5)
    assert rows.df()["status"].tolist() == ["ok"]
    with pytest.raises(bonnetdb.DataError, match="no node has the attribute team; there are: club"):
        con.from_networkx(club, "l", label="team")
    networkx.set_node_attributes(club, 1, "label")
    with pytest.raises(bonnetdb.DataError, match="label beside club"):
        con.from_networkx(club, "l", label="club")
