import importlib.metadata
import inspect
import logging
import math
import os
import random
import subprocess
import sys

import networkx
import pytest

import _bonnetdb_networkx
from bonnetdb.backend import FUNCTIONS, Backend

pytestmark = pytest.mark.skipif(
    "bonnetdb" not in {point.name for point in importlib.metadata.entry_points(group="networkx.backends")},
    reason="the package is not installed, so networkx does not know it",
)


def graphs():
    """Undirected graphs, then directed ones."""
    karate = networkx.karate_club_graph()
    apart = networkx.disjoint_union(networkx.gnm_random_graph(40, 70, seed=1), networkx.path_graph(5))
    texts = networkx.relabel_nodes(networkx.les_miserables_graph(), str.upper)
    cells = networkx.grid_2d_graph(4, 5)
    lone = networkx.empty_graph(1)
    bare = networkx.empty_graph(3)
    yield from (karate, apart, texts, cells, lone, bare)
    for seed in range(2):
        arcs = networkx.gnm_random_graph(30, 60 + 60 * seed, seed=seed, directed=True)
        draw = random.Random(seed)
        for _, _, data in arcs.edges(data=True):
            data["weight"] = draw.randrange(1, 9) / 4
            data["capacity"] = draw.randrange(1, 9)
        yield arcs
    yield networkx.DiGraph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])


UNDIRECTED = [
    ("core_number", {}), ("triangles", {}), ("clustering", {}), ("average_clustering", {}), ("average_clustering", {"count_zeros": False}),
    ("transitivity", {}), ("is_connected", {}), ("number_connected_components", {}), ("connected_components", {}), ("bridges", {}),
    ("has_bridges", {}), ("articulation_points", {}), ("biconnected_components", {}), ("global_efficiency", {}), ("find_cliques", {}),
    ("degree_pearson_correlation_coefficient", {}),
]  # fmt: skip
DIRECTED = [
    ("strongly_connected_components", {}), ("number_strongly_connected_components", {}), ("is_strongly_connected", {}),
    ("weakly_connected_components", {}), ("number_weakly_connected_components", {}), ("is_weakly_connected", {}),
    ("in_degree_centrality", {}), ("out_degree_centrality", {}),
]  # fmt: skip
BOTH = [
    ("pagerank", {"tol": 1e-14, "max_iter": 1000}), ("pagerank", {"tol": 1e-14, "max_iter": 1000, "alpha": 0.5, "weight": None}),
    ("betweenness_centrality", {}), ("betweenness_centrality", {"normalized": False}), ("betweenness_centrality", {"weight": "weight"}),
    ("edge_betweenness_centrality", {}), ("edge_betweenness_centrality", {"normalized": False}),
    ("edge_betweenness_centrality", {"weight": "weight"}), ("closeness_centrality", {}), ("closeness_centrality", {"distance": "weight"}),
    ("harmonic_centrality", {}), ("harmonic_centrality", {"distance": "weight"}), ("katz_centrality_numpy", {"alpha": 0.01}),
    ("katz_centrality", {"alpha": 0.01, "beta": 2.0, "tol": 1e-14}), ("degree_centrality", {}), ("is_planar", {}),
    ("is_bipartite", {}), ("wiener_index", {}),
]  # fmt: skip


def plain(found):
    """What a function answers, such that two of them can be compared: of groups the order does not count."""
    if inspect.isgenerator(found) or isinstance(found, (list, type(iter([])))):
        return sorted((tuple(sorted(map(repr, item))) if isinstance(item, (set, list, tuple)) else repr(item)) for item in found)
    return found


def same(ours, theirs, what):
    """Equal keys, types and values: of floats up to 1e-9."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs) or set(ours) == set(theirs), what
        for key, value in theirs.items():
            same(ours[key], value, (what, key))
    elif isinstance(theirs, float):
        assert isinstance(ours, float) and (ours == theirs or math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)), (what, ours, theirs)
    else:
        assert type(ours) is type(theirs) and ours == theirs, (what, ours, theirs)


def answer(name, graph, backend, arguments, *more):
    """What a function answers, or how it fails."""
    try:
        function = getattr(networkx, name, None) or getattr(networkx.community, name)
        return plain(function(graph, *more, backend=backend, **arguments))
    except NotImplementedError:
        raise
    except (networkx.NetworkXException, ZeroDivisionError) as error:
        return type(error).__name__


def compare(name, graph, arguments, *more):
    """Compares a call; whether the backend answered it."""
    try:
        ours = answer(name, graph, "bonnetdb", arguments, *more)
    except NotImplementedError:
        return False
    same(ours, answer(name, graph, "networkx", arguments, *more), (name, arguments, graph))
    return True


def test_the_entry_points_name_what_is_there():
    assert _bonnetdb_networkx.FUNCTIONS.keys() == FUNCTIONS.keys()
    known = networkx.utils.backends._registered_algorithms
    for name, function in FUNCTIONS.items():
        assert "bonnetdb" in known[name].backends, name
        original = list(inspect.signature(known[name].orig_func).parameters.values())
        ours = list(inspect.signature(function).parameters.values())
        assert [(one.name, one.default, one.kind) for one in ours] == [(one.name, one.default, one.kind) for one in original], name
    # networkx is imported without the engine.
    script = "import sys, networkx; assert 'bonnetdb' in networkx.config.backends and not {'bonnetdb', 'numpy'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name, arguments", UNDIRECTED + DIRECTED + BOTH, ids=lambda value: str(value))
def test_values_are_those_of_networkx(name, arguments):
    answered = 0
    for graph in graphs():
        if ((name, arguments) in UNDIRECTED and graph.is_directed()) or ((name, arguments) in DIRECTED and not graph.is_directed()):
            continue
        if name == "katz_centrality_numpy" and len(graph) == 1:
            # networkx fails there: iteration over a 0-d array.
            continue
        answered += compare(name, graph, arguments)
    assert answered >= 2, "the backend refused nearly all of them"


def test_eigenvectors_are_those_of_networkx():
    for graph in (networkx.karate_club_graph(), networkx.DiGraph([(0, 1), (1, 2), (2, 0), (1, 0)])):
        for weight in (None, "weight"):
            assert compare("eigenvector_centrality", graph, {"weight": weight, "tol": 1e-13, "max_iter": 10_000})


def test_distances_are_those_of_networkx():
    karate, arcs = networkx.karate_club_graph(), networkx.gnm_random_graph(40, 160, seed=3, directed=True)
    for u, v, data in arcs.edges(data=True):
        data["weight"] = (u * 7 + v) % 5 + 1
    for graph in (karate, arcs, networkx.path_graph(4), networkx.cycle_graph(5, create_using=networkx.DiGraph)):
        for name in ("eccentricity", "diameter", "radius", "center", "periphery", "average_shortest_path_length"):
            assert compare(name, graph, {}), name
        assert compare("single_source_shortest_path_length", graph, {}, 0)
        assert compare("single_source_shortest_path_length", graph, {"cutoff": 2}, 0)
        for weight in (None, "weight"):
            assert compare("shortest_path_length", graph, {"weight": weight}, 0)
        assert compare("single_source_dijkstra_path_length", graph, {}, 0)
        for name in ("single_source_shortest_path_length", "single_source_dijkstra_path_length", "shortest_path_length"):
            assert compare(name, graph, {}, 99), "no such node"
    for graph in (networkx.Graph([(0, 1), (2, 3)]), networkx.DiGraph([(0, 1)])):
        for name in ("eccentricity", "diameter", "average_shortest_path_length", "wiener_index"):
            assert compare(name, graph, {}), "not connected"
    assert compare("node_connected_component", karate, {}, 3)


def test_flows_are_those_of_networkx():
    for seed in range(3):
        for directed in (False, True):
            graph = networkx.gnm_random_graph(15, 45, seed=seed, directed=directed)
            draw = random.Random(seed)
            networkx.set_edge_attributes(graph, {edge: draw.randrange(1, 20) for edge in graph.edges}, "capacity")
            networkx.set_edge_attributes(graph, {edge: draw.random() + 0.1 for edge in graph.edges}, "wide")
            for capacity in ("capacity", "wide"):
                for name in ("maximum_flow_value", "minimum_cut_value"):
                    assert compare(name, graph, {"capacity": capacity}, 0, 9)
            value, along = networkx.maximum_flow(graph, 0, 9, backend="bonnetdb")
            assert value == networkx.maximum_flow_value(graph, 0, 9, backend="networkx") and along.keys() == set(graph)
            excess = dict.fromkeys(graph, 0)
            for u, flows in along.items():
                assert flows.keys() == set(graph[u])
                for v, units in flows.items():
                    assert 0 <= units <= graph[u][v]["capacity"]
                    excess[u], excess[v] = excess[u] - units, excess[v] + units
            assert excess[9] == value == -excess[0] and not any(excess[node] for node in excess if node not in (0, 9))
            for ends in ((0, 99), (0, 0)):
                assert compare("maximum_flow_value", graph, {}, *ends)
    # An edge without a capacity has an infinite one.
    with pytest.raises(NotImplementedError) as error:
        networkx.maximum_flow_value(networkx.path_graph(3), 0, 2, backend="bonnetdb")
    assert "not finite" in str(error.value.__cause__)


def test_communities_are_good_ones():
    karate = networkx.karate_club_graph()
    parts = [{node for node in karate if node % 3 == number} for number in range(3)]
    for arguments in ({}, {"resolution": 1.5}, {"weight": None}):
        assert compare("modularity", karate, arguments, parts)
    assert compare("modularity", karate, {}, parts[:2]) is False
    for name in ("louvain_communities", "leiden_communities"):
        found = getattr(networkx.community, name)(karate, seed=3, backend="bonnetdb")
        assert found == getattr(networkx.community, name)(karate, seed=3, backend="bonnetdb")
        assert sorted(node for part in found for node in part) == sorted(karate) and all(isinstance(part, set) for part in found)
        assert networkx.community.modularity(karate, found) > 0.43


def test_pairs_dominators_and_isomorphism():
    karate = networkx.karate_club_graph()
    pairs = [(0, 9), (33, 2), (9, 0), (5, 6)]
    for name in ("jaccard_coefficient", "adamic_adar_index", "resource_allocation_index", "preferential_attachment"):
        ours = list(getattr(networkx, name)(karate, pairs, backend="bonnetdb"))
        theirs = list(getattr(networkx, name)(karate, pairs, backend="networkx"))
        assert [row[:2] for row in ours] == pairs
        same({row[:2]: row[2] for row in ours}, {row[:2]: row[2] for row in theirs}, name)
        with pytest.raises(networkx.NodeNotFound, match="Node 99 not in G."):
            list(getattr(networkx, name)(karate, [(0, 99)], backend="bonnetdb"))
    arcs = networkx.DiGraph([(1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (9, 5)])
    assert compare("immediate_dominators", arcs, {}, 1) and compare("immediate_dominators", arcs, {}, 7)
    shuffled = networkx.relabel_nodes(karate, {node: 33 - node for node in karate})
    rewired = karate.copy()
    rewired.remove_edge(0, 1)
    rewired.add_edge(0, 33)
    for other in (shuffled, rewired, networkx.path_graph(34)):
        assert compare("is_isomorphic", karate, {}, other)


def test_what_is_not_done_is_left_to_networkx(monkeypatch, caplog):
    multi = networkx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    loops = networkx.Graph([(0, 0), (0, 1), (1, 2)])
    negative = networkx.DiGraph()
    negative.add_weighted_edges_from([(0, 1, -1.0), (1, 2, 2.0)])
    refused = [
        ("betweenness_centrality", multi, {}), ("pagerank", loops, {}), ("pagerank", negative, {}), ("core_number", loops, {}),
        ("betweenness_centrality", loops, {"k": 2, "seed": 1}), ("betweenness_centrality", loops, {"endpoints": True}),
        ("closeness_centrality", loops, {"u": 1}), ("closeness_centrality", negative, {"distance": "weight"}),
        ("clustering", loops, {"nodes": [0, 1]}), ("clustering", negative, {}), ("pagerank", networkx.Graph(), {}),
        ("pagerank", negative, {"max_iter": 1}), ("katz_centrality_numpy", negative, {"normalized": False}),
        ("betweenness_centrality", loops, {"weight": lambda u, v, data: 1}),
    ]  # fmt: skip
    for name, graph, arguments in refused:
        with pytest.raises(NotImplementedError):
            getattr(networkx, name)(graph, backend="bonnetdb", **arguments)
    monkeypatch.setattr(networkx.config.backend_priority, "algos", ["bonnetdb"])
    for name, graph, arguments in refused:
        results = []
        for backend in (None, "networkx"):
            try:
                results.append(getattr(networkx, name)(graph, **({"backend": backend} if backend else {}), **arguments))
            except networkx.NetworkXException as error:
                results.append(type(error))
        assert results[0] == results[1], (name, arguments)
    # A call that names no backend goes to this one, where the work is worth it.
    with caplog.at_level(logging.DEBUG, "networkx"):
        networkx.betweenness_centrality(networkx.karate_club_graph())
    assert "Using backend 'bonnetdb'" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "networkx"):
        networkx.is_connected(networkx.karate_club_graph())
    assert "as long as the work itself" in caplog.text and "Using backend 'bonnetdb'" not in caplog.text


def test_a_graph_is_converted_once(monkeypatch):
    graph, calls = networkx.karate_club_graph(), []
    convert = Backend.convert_from_nx
    monkeypatch.setattr(Backend, "convert_from_nx", staticmethod(lambda *args, **kwargs: calls.append(1) or convert(*args, **kwargs)))
    networkx.config.warnings_to_ignore.add("cache")
    for _ in range(2):
        networkx.pagerank(graph, backend="bonnetdb")
        networkx.closeness_centrality(graph, backend="bonnetdb")
    assert len(calls) == 1 and graph.__networkx_cache__["backends"]["bonnetdb"]
    graph.add_edge(0, 33)
    assert networkx.triangles(graph, backend="bonnetdb") == networkx.triangles(graph, backend="networkx") and len(calls) == 2


def test_a_converted_graph_is_a_graph_of_networkx_again():
    for graph in graphs():
        converted = Backend.convert_from_nx(graph, edge_attrs=None, preserve_edge_attrs=True)
        back = Backend.convert_to_nx(converted)
        assert type(back) is type(graph) or graph.is_directed() == back.is_directed()
        assert list(back) == list(graph) and dict(back.adj) == dict(graph.adj)
        assert len(converted) == len(graph) and list(converted) == list(graph) and [] not in converted


SELECTED = [
    "centrality/tests/test_betweenness_centrality.py", "centrality/tests/test_closeness_centrality.py",
    "centrality/tests/test_harmonic_centrality.py", "centrality/tests/test_katz_centrality.py", "components", "flow/tests/test_maxflow.py",
    "link_analysis/tests/test_pagerank.py", "tests/test_bridges.py", "tests/test_cluster.py", "tests/test_core.py",
    "tests/test_distance_measures.py", "tests/test_dominance.py", "tests/test_link_prediction.py", "tests/test_planarity.py",
    "tests/test_wiener.py", "shortest_paths/tests/test_unweighted.py",
]  # fmt: skip


def test_networkx_own_tests_pass():
    folder = os.path.join(os.path.dirname(networkx.__file__), "algorithms")
    environment = {**os.environ, "NETWORKX_TEST_BACKEND": "bonnetdb", "NETWORKX_FALLBACK_TO_NX": "1"}
    # A thousand random graphs for one function are left out.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not use_bounds", *(os.path.join(folder, name) for name in SELECTED)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_that_is_forked_has_an_engine_of_its_own():
    script = """
import os, networkx
graph = networkx.karate_club_graph()
before = networkx.triangles(graph, backend="bonnetdb")
child = os.fork()
if child == 0:
    same = networkx.triangles(networkx.karate_club_graph(), backend="bonnetdb") == before
    raise SystemExit(0 if same else 1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
assert networkx.triangles(graph, backend="bonnetdb") == before
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
