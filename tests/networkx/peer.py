"""What networkx, or a definition written out, says about answers to calls on graphs.

Reads a JSON document: `graphs` with their nodes, rows of edges and what calls name of them, and `answers`, the rows of each
call. Prints how many answers were compared, by call, and each difference. The first word of a call's name is its function;
the others say how it reads the edges.
"""

import itertools
import json
import sys

import networkx as nx
import numpy as np

TOLERANCE = 1e-7


class Differs(Exception):
    pass


def expect(true, text):
    if not true:
        raise Differs(text)


def equal(found, expected, what=""):
    """Numbers up to rounding, all else exactly."""
    if isinstance(found, bool) or isinstance(expected, (bool, str)) or found is None or expected is None:
        same = found == expected
    elif isinstance(found, (list, tuple)):
        same = list(found) == list(expected)
    else:
        same = abs(found - expected) <= TOLERANCE * max(1.0, abs(expected))
    expect(same, f"{what}: {found}, expected {expected}")


def equal_maps(found, expected):
    lacking = [key for key in expected if key not in found]
    surplus = [key for key in found if key not in expected]
    expect(not lacking and not surplus, f"lacks {lacking[:5]}, has {surplus[:5]} beyond")
    for key, value in expected.items():
        equal(found[key], value, key)


class Case:
    """One graph, as a call reads it."""

    def __init__(self, graph, words):
        self.graph, self.words = graph, words
        self.directed, self.weights = "directed" in words, "weights" in words
        weight = 3 if "signed" in words else 2
        rows = [(row[0], row[1], row[weight]) for row in graph["edges"] if row[0] != row[1]]
        if "ascending" in words:
            rows = [row for row in rows if row[0] < row[1]]
        self.simple, self.arcs = nx.Graph(), nx.DiGraph()
        for network in (self.simple, self.arcs):
            if "edges" in words:
                network.add_nodes_from(sorted({end for row in graph["edges"] for end in row[:2]}))
            else:
                network.add_nodes_from(graph["nodes"])
            network.add_weighted_edges_from(rows)
        self.network = self.arcs if self.directed else self.simple
        self.weight = "weight" if self.weights else None

    def length(self, u, v):
        return self.network[u][v]["weight"] if self.weights else 1


def nodes(rows):
    """A value for each node."""
    found = {node: value for node, value in rows}
    expect(len(found) == len(rows), "a node is there twice")
    return found


def on_edges(case, rows):
    """A value for each edge, from one for each row; None for loops alone."""
    found = {}
    expect(len(rows) == len(case.graph["edges"]), "not as many rows as edges")
    for u, v, value in rows:
        if u == v:
            expect(value is None, f"the loop at {u} has {value}")
            continue
        edge = (u, v) if case.directed else (min(u, v), max(u, v))
        expect(edge not in found or found[edge] == value, f"the rows of {edge} differ")
        found[edge] = value
    return found


def edge_set(case, rows):
    """The edges that are true."""
    return {edge for edge, value in on_edges(case, rows).items() if value}


def undirected(values):
    return {(min(u, v), max(u, v)): value for (u, v), value in values.items()}


def one(rows):
    expect(len(rows) == 1, f"{len(rows)} rows")
    return rows[0][0]


def numbered(found, groups):
    """Groups of nodes are numbered from 0 by falling size, ties by the smallest node."""
    order = sorted(groups, key=lambda group: (-len(group), min(group)))
    equal_maps(found, {node: number for number, group in enumerate(order) for node in group})


# Centralities


def rank_after(case, steps):
    """PageRank by so many steps from equal ranks, as Graphalytics defines it."""
    arcs = case.arcs if case.directed else case.simple.to_directed()
    count, damping = len(arcs), 0.85
    rank = dict.fromkeys(arcs, 1 / count)
    for _ in range(steps):
        resting = sum(rank[node] for node in arcs if arcs.out_degree(node) == 0)
        follow = {node: sum(rank[other] / arcs.out_degree(other) for other in arcs.predecessors(node)) for node in arcs}
        rank = {node: (1 - damping) / count + damping * (follow[node] + resting / count) for node in arcs}
    return rank


def pagerank(case, rows):
    if "ten" in case.words:
        # In units of the mean: ranks are small numbers.
        expected = {node: len(case.simple) * value for node, value in rank_after(case, 10).items()}
        equal_maps({node: len(case.simple) * value for node, value in nodes(rows).items()}, expected)
        return
    chosen = {node: weight for node, weight in case.graph["jumps"]} if "personalised" in case.words else None
    expected = nx.pagerank(case.network, tol=1e-13, max_iter=2000, weight=case.weight, personalization=chosen)
    equal_maps(nodes(rows), expected)


def degree_centrality(case, rows):
    direction = {"in": nx.in_degree_centrality, "out": nx.out_degree_centrality}
    measure = next((direction[word] for word in case.words if word in direction), nx.degree_centrality)
    equal_maps(nodes(rows), measure(case.network))


def eigenvector_centrality(case, rows):
    found = nodes(rows)
    order = sorted(found)
    matrix = nx.to_numpy_array(case.network, nodelist=order, weight=case.weight).T
    values = np.array([found[node] for node in order])
    largest = max(abs(np.linalg.eigvals(matrix)))
    expect((values >= -TOLERANCE).all() and abs(np.linalg.norm(values) - 1) < TOLERANCE, "not of length 1")
    expect(np.abs(matrix @ values - largest * values).max() < 1e-6 * (1 + largest), f"no eigenvector of {largest}")
    if nx.is_connected(case.simple) and not case.directed and len(order) > 2:
        expected = np.abs(np.linalg.eigh(matrix)[1][:, -1])
        equal_maps(found, dict(zip(order, expected)))


def katz_centrality(case, rows):
    equal_maps(nodes(rows), nx.katz_centrality_numpy(case.network, alpha=0.005, beta=2.0, weight=case.weight))


def betweenness_centrality(case, rows):
    normalized = "raw" not in case.words
    equal_maps(nodes(rows), nx.betweenness_centrality(case.network, normalized=normalized, weight=case.weight))


def edge_betweenness(case, rows):
    expected = nx.edge_betweenness_centrality(case.network, weight=case.weight)
    equal_maps(on_edges(case, rows), expected if case.directed else undirected(expected))


def closeness_centrality(case, rows):
    equal_maps(nodes(rows), nx.closeness_centrality(case.network, distance=case.weight))


def harmonic_centrality(case, rows):
    equal_maps(nodes(rows), nx.harmonic_centrality(case.network, distance=case.weight))


# Cores, triangles, scores of links


def core_number(case, rows):
    equal_maps(nodes(rows), nx.core_number(case.simple))


def truss_number(case, rows):
    expected, k = {}, 2
    truss = case.simple.copy()
    while truss.number_of_edges():
        expected.update({(min(edge), max(edge)): k for edge in truss.edges})
        k += 1
        truss = nx.k_truss(truss, k)
    equal_maps(on_edges(case, rows), expected)


def triangle_count(case, rows):
    equal_maps(nodes(rows), nx.triangles(case.simple))


def local_clustering(case, rows):
    expected = nx.clustering(case.simple)
    if case.directed:
        for node in case.simple:
            around = list(case.simple[node])
            there = sum(case.arcs.has_edge(u, v) for u, v in itertools.permutations(around, 2))
            expected[node] = there / max(1, len(around) * (len(around) - 1))
    equal_maps(nodes(rows), expected)


def transitivity(case, rows):
    equal(one(rows), nx.transitivity(case.simple))


def degree_assortativity(case, rows):
    degrees = [(case.simple.degree(u), case.simple.degree(v)) for u, v in case.simple.to_directed().edges]
    x, y = np.array(degrees, dtype=float).reshape(-1, 2).T
    same = len(set(x)) < 2
    equal(one(rows), None if same else nx.degree_pearson_correlation_coefficient(case.simple))


SCORES = {
    "common_neighbors": lambda graph, u, v: len(set(nx.common_neighbors(graph, u, v))),
    "jaccard_similarity": lambda graph, u, v: next(nx.jaccard_coefficient(graph, [(u, v)]))[2],
    "adamic_adar": lambda graph, u, v: next(nx.adamic_adar_index(graph, [(u, v)]))[2],
    "resource_allocation": lambda graph, u, v: next(nx.resource_allocation_index(graph, [(u, v)]))[2],
    "preferential_attachment_score": lambda graph, u, v: graph.degree(u) * graph.degree(v),
}


def link_score(case, rows):
    score = SCORES[case.words[0]]
    if "pairs" in case.words:
        expected = [(u, v, None if u == v else score(case.simple, u, v)) for u, v in case.graph["pairs"]]
        equal(sorted(row[:2] for row in rows), sorted(list(row[:2]) for row in expected))
    else:
        graph = case.simple
        apart = {tuple(sorted((u, w))) for v in graph for u, w in itertools.combinations(graph[v], 2)}
        expected = [(u, v, score(graph, u, v)) for u, v in apart if not graph.has_edge(u, v)]
    equal_maps({(u, v): value for u, v, value in rows}, {(u, v): value for u, v, value in expected})


# Components


def connected_components(case, rows):
    numbered(nodes(rows), list(nx.connected_components(case.simple)))


def strong_components(case, rows):
    numbered(nodes(rows), list(nx.strongly_connected_components(case.arcs)))


def condensation(case, rows):
    groups = sorted(nx.strongly_connected_components(case.arcs), key=lambda group: (-len(group), min(group)))
    number = {node: i for i, group in enumerate(groups) for node in group}
    expected = {}
    for u, v in case.arcs.edges:
        if number[u] != number[v]:
            expected[number[u], number[v]] = expected.get((number[u], number[v]), 0) + 1
    equal_maps({(u, v): count for u, v, count in rows}, expected)


def biconnected_components(case, rows):
    groups = [{(min(edge), max(edge)) for edge in group} for group in nx.biconnected_component_edges(case.simple)]
    order = sorted(groups, key=lambda group: (-len(group), min(group)))
    equal_maps(on_edges(case, rows), {edge: number for number, group in enumerate(order) for edge in group})


def articulation_points(case, rows):
    points = set(nx.articulation_points(case.simple))
    equal_maps(nodes(rows), {node: node in points for node in case.simple})


def bridges(case, rows):
    expect(edge_set(case, rows) == {(min(edge), max(edge)) for edge in nx.bridges(case.simple)}, "other bridges")


def topological_sort(case, rows):
    order = nx.lexicographical_topological_sort(case.arcs)
    equal_maps(nodes(rows), {node: place for place, node in enumerate(order)})


def is_bipartite(case, rows):
    equal(one(rows), nx.is_bipartite(case.simple))


def dominators(case, rows):
    source = case.graph["source"]
    expected = dict(nx.immediate_dominators(case.arcs, source))
    expected[source] = None
    equal_maps(nodes(rows), expected)


# Paths


def distances(case):
    """Of all pairs that a path joins, in hops."""
    return dict(nx.all_pairs_shortest_path_length(case.network))


def shortest_paths(case, rows):
    network, weight = case.network, case.weight
    length = nx.bellman_ford_path_length if "signed" in case.words else nx.shortest_path_length

    def distance(source, target):
        try:
            return length(network, source, target, weight=weight)
        except nx.NetworkXNoPath:
            return None

    k = 4 if "four" in case.words else 1
    found = {}
    for row in rows:
        (source, target), path = row[:2], row[-1]
        expect(path[0] == source and path[-1] == target, f"the path {path} of {source}, {target}")
        expect(len(set(path)) == len(path), f"the path {path} has a node twice")
        along = sum(case.length(u, v) for u, v in itertools.pairwise(path))
        equal(row[-2], along, f"along {path}")
        found.setdefault((source, target), []).append(row)
    expected = {}
    if "pairs" in case.words:
        for source, target in case.graph["ends"]:
            if k == 1:
                lengths = [distance(source, target)]
            elif source == target:
                lengths = [0]
            elif distance(source, target) is None:
                lengths = []
            else:
                paths = itertools.islice(nx.shortest_simple_paths(network, source, target, weight=weight), k)
                lengths = [sum(case.length(u, v) for u, v in itertools.pairwise(path)) for path in paths]
            if lengths and lengths[0] is not None:
                expected[source, target] = lengths
    else:
        for source in case.graph["sources"]:
            single = nx.single_source_bellman_ford_path_length if weight else nx.single_source_shortest_path_length
            lengths = single(network, source, weight=weight) if weight else single(network, source)
            expected.update({(source, target): [value] for target, value in dict(lengths).items()})
    expect(found.keys() == expected.keys(), f"pairs {sorted(found.keys() ^ expected.keys())[:5]}")
    for pair, lengths in expected.items():
        of_pair = found[pair]
        if k > 1:
            of_pair = sorted(of_pair, key=lambda row: row[2])
            equal([row[2] for row in of_pair], range(1, len(of_pair) + 1), f"ranks of {pair}")
            expect(len({tuple(row[-1]) for row in of_pair}) == len(of_pair), f"a path of {pair} is there twice")
        equal(len(of_pair), len(lengths), f"paths of {pair}")
        for row, length_ in zip(of_pair, lengths):
            equal(row[-2], length_, f"distance of {pair}")


def eccentricity(case, rows):
    equal_maps(nodes(rows), {source: max(found.values()) for source, found in distances(case).items()})


def diameter(case, rows):
    equal(one(rows), max(max(found.values()) for found in distances(case).values()))


def effective_diameter(case, rows):
    of_pairs = sorted(hops for found in distances(case).values() for hops in found.values() if hops > 0)
    if not of_pairs:
        return equal(one(rows), None)
    wanted = 0.9 * len(of_pairs)
    for hops in range(1, of_pairs[-1] + 1):
        below, within = (sum(value <= limit for value in of_pairs) for limit in (hops - 1, hops))
        if within >= wanted:
            return equal(one(rows), hops - 1 + (wanted - below) / (within - below))


def k_hop(case, rows):
    expected = {}
    for source in case.graph["sources"]:
        cutoff = None if "all" in case.words else 2
        found = nx.single_source_shortest_path_length(case.network, source, cutoff=cutoff)
        expected.update({(source, node): hops for node, hops in dict(found).items()})
    equal_maps({(source, node): hops for source, node, hops in rows}, expected)


# Trees, matchings, flows, colours


def minimum_spanning_tree(case, rows):
    found = edge_set(case, rows)
    tree = case.simple.edge_subgraph(found)
    expect(nx.is_forest(tree) if found else True, "a cycle")
    components = nx.number_connected_components(case.simple)
    equal(len(found), len(case.simple) - components, "edges")
    expected = nx.minimum_spanning_tree(case.simple, weight=case.weight)
    equal(tree.size(weight=case.weight), expected.size(weight=case.weight), "weight")


def maximum_matching(case, rows):
    found = edge_set(case, rows)
    expect(nx.is_matching(case.simple, found), "no matching")
    equal(len(found), len(nx.max_weight_matching(case.simple, maxcardinality=True)), "edges")


def capacities(case):
    network = case.network.copy()
    nx.set_edge_attributes(network, {edge: case.length(*edge) for edge in network.edges}, "capacity")
    return network


def maximum_flow(case, rows):
    source, target = case.graph["source"], case.graph["target"]
    excess = dict.fromkeys(case.simple, 0.0)
    seen = set()
    for u, v, flow in rows:
        expect(case.network.has_edge(u, v), f"no arc ({u}, {v})")
        edge = (u, v) if case.directed else (min(u, v), max(u, v))
        expect(edge not in seen, f"{edge} is there twice")
        seen.add(edge)
        expect(-TOLERANCE <= flow <= case.length(u, v) + TOLERANCE, f"{flow} along ({u}, {v})")
        excess[u] -= flow
        excess[v] += flow
    equal(len(seen), case.network.number_of_edges(), "arcs")
    for node in excess.keys() - {source, target}:
        equal(excess[node], 0.0, f"excess of {node}")
    equal(excess[target], nx.maximum_flow_value(capacities(case), source, target), "value")


def minimum_cut(case, rows):
    side = {node for node, inside in rows if inside}
    equal(len(rows), len(case.simple), "rows")
    source, target = case.graph["source"], case.graph["target"]
    expect(source in side and target not in side, "source and target are on one side")
    leaving = sum(case.length(u, v) for u in side for v in case.network[u] if v not in side)
    equal(leaving, nx.maximum_flow_value(capacities(case), source, target), "value")


def graph_coloring(case, rows):
    found = nodes(rows)
    expect(found.keys() == set(case.simple), "other nodes")
    expect(all(found[u] != found[v] for u, v in case.simple.edges), "an edge of one colour")
    used = len(set(found.values()))
    expect(set(found.values()) == set(range(used)), "colours are not numbered from 0")
    # DSATUR is exact on bipartite graphs.
    expect(used <= 1 + max(dict(case.simple.degree).values()), "more colours than any greedy order needs")
    expect(used <= 2 or not nx.is_bipartite(case.simple), "more than two colours of a bipartite graph")


def feedback_arc_set(case, rows):
    found = {(u, v) for u, v, inside in rows if inside}
    expect(all(value is None for u, v, value in rows if u == v), "a loop has a value")
    rest = case.arcs.copy()
    rest.remove_edges_from(found)
    expect(nx.is_directed_acyclic_graph(rest), "a cycle is left")
    # What the heuristic guarantees.
    expect(2 * len(found) <= case.arcs.number_of_edges(), "more than half of the arcs")


# Communities


def grouped(rows):
    groups = {}
    for node, community in rows:
        groups.setdefault(community, set()).add(node)
    return list(groups.values())


def communities(case, rows):
    found, groups = nodes(rows), grouped(rows)
    expect(found.keys() == set(case.simple), "other nodes")
    numbered(found, groups)
    graph, weight = case.simple, case.weight
    if graph.number_of_edges() == 0:
        return
    value = nx.community.modularity(graph, groups, weight=weight)
    expected = nx.community.louvain_communities(graph, weight=weight, seed=0)
    reference = nx.community.modularity(graph, expected, weight=weight)
    expect(value >= reference - 0.04, f"modularity {value}, networkx finds {reference}")
    if "leiden" in case.words:
        expect(all(nx.is_connected(graph.subgraph(group)) for group in groups), "a community in two parts")


def votes_around(case, node, label):
    """How often each label is there around a node: twice for a neighbour that arcs join with it both ways."""
    votes = {}
    for other in case.simple[node]:
        count = sum(case.network.has_edge(*arc) for arc in ((node, other), (other, node))) if case.directed else 1
        votes[label[other]] = votes.get(label[other], 0) + count
    return votes


def labels_after(case, steps):
    """Graphalytics' CDLP: all nodes at once take the label most frequent around them, the smallest of several."""
    label = {node: node for node in case.simple}
    for _ in range(steps):
        votes = {node: votes_around(case, node, label) for node in case.simple}
        label = {
            node: min((other for other in around if around[other] == max(around.values())), default=label[node])
            for node, around in votes.items()
        }
    return label


def label_propagation_communities(case, rows):
    found = nodes(rows)
    expect(found.keys() == set(case.simple), "other nodes")
    if "ten" in case.words:
        numbered(found, grouped(labels_after(case, 10).items()))
        return
    numbered(found, grouped(rows))
    for node in case.simple:
        votes = votes_around(case, node, found)
        if votes:
            expect(votes.get(found[node], 0) == max(votes.values()), f"{node} has not its neighbours' label")


def modularity(case, rows):
    groups = grouped([(node, number % 3) for number, node in enumerate(case.graph["nodes"])])
    if case.simple.number_of_edges() == 0:
        return equal(one(rows), None)
    equal(one(rows), nx.community.modularity(case.simple, groups, weight=case.weight, resolution=1.5))


# Patterns


def other(case):
    graph = nx.DiGraph() if case.directed else nx.Graph()
    rows = case.graph["other"]
    graph.add_nodes_from(end for row in rows for end in row)
    graph.add_edges_from(row for row in rows if row[0] != row[1])
    return graph


def is_isomorphic(case, rows):
    equal(one(rows), nx.is_isomorphic(case.network, other(case)))


PATTERN = {1: [2, 3], 2: [3], 3: [4]}


def subgraph_isomorphisms(case, rows):
    pattern = (nx.DiGraph if case.directed else nx.Graph)(PATTERN)
    matcher = nx.isomorphism.DiGraphMatcher if case.directed else nx.isomorphism.GraphMatcher
    expected = {frozenset(found.items()) for found in matcher(case.network, pattern).subgraph_isomorphisms_iter()}
    found = {}
    for node, pattern_node, place in rows:
        found.setdefault(place, []).append((node, pattern_node))
    expect(set(found) == set(range(len(found))), "places are not numbered from 0")
    expect(len(found) == len(expected) and {frozenset(place) for place in found.values()} == expected, "other places")


def maximal_cliques(case, rows):
    found = {}
    for node, clique in rows:
        found.setdefault(clique, []).append(node)
    expected = sorted(tuple(sorted(clique)) for clique in nx.find_cliques(case.simple))
    equal([tuple(sorted(found[number])) for number in range(len(found))], expected, "cliques")


def is_planar(case, rows):
    equal(one(rows), nx.check_planarity(case.simple)[0])


def width_of_order(graph, order):
    graph, width = graph.copy(), 0
    for node in order:
        around = list(graph[node])
        width = max(width, len(around))
        graph.add_edges_from(itertools.combinations(around, 2))
        graph.remove_node(node)
    return width


def treewidth_upper_bound(case, rows):
    graph, found = case.simple, one(rows)
    expect(found >= max(nx.core_number(graph).values()), "below the largest core")
    if len(graph) <= 7:
        exact = min(width_of_order(graph, order) for order in itertools.permutations(graph))
        expect(found >= exact, f"{found} is below the treewidth {exact}")
    heuristic = "min_fill" if "fill" in case.words else "min_degree"
    peer = getattr(nx.approximation, f"treewidth_{heuristic}_in" if heuristic == "min_fill" else "treewidth_min_degree")
    expect(found <= peer(graph)[0] + 2, f"{found} is far above networkx")


def random_walks(case, rows):
    walks = {}
    for source, node, walk, step in rows:
        walks.setdefault((source, walk), []).append((step, node))
    expect(walks.keys() == {(node, walk) for node in case.simple for walk in range(2)}, "other walks")
    for (source, _), steps in walks.items():
        steps.sort()
        equal([step for step, _ in steps], range(len(steps)), "steps")
        expect(steps[0][1] == source, "a walk begins elsewhere")
        expect(all(case.network.has_edge(u, v) for (_, u), (_, v) in itertools.pairwise(steps)), "a step along no arc")
        ended = len(steps) < 6
        expect(len(steps) <= 6 and ended == (ended and case.network.degree(steps[-1][1]) == 0 if not case.directed
               else ended and case.network.out_degree(steps[-1][1]) == 0), "a walk ends early")


CHECKS = {name: link_score for name in SCORES} | {"louvain": communities, "leiden": communities}


def value(text):
    if text is None:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return float(text)


def main():
    document = json.load(sys.stdin)
    compared, differences = {}, []
    for name, rows in document["answers"].items():
        words = name.split(" ")
        check = CHECKS.get(words[0]) or globals()[words[0]]
        by_graph = {}
        for row in rows:
            by_graph.setdefault(value(row[0]), []).append([value(text) for text in row[1:]])
        strangers = by_graph.keys() - {graph["id"] for graph in document["graphs"]}
        if strangers:
            differences.append(f"{name}: rows of graphs {strangers}")
        for graph in document["graphs"]:
            case = Case(graph, words)
            try:
                check(case, by_graph.get(graph["id"], []))
            except Differs as error:
                differences.append(f"{name}, graph {graph['id']}: {error}")
            except Exception as error:  # Of networkx, or of rows that no check expects.
                differences.append(f"{name}, graph {graph['id']}: {type(error).__name__}: {error}")
            compared[name] = compared.get(name, 0) + 1
    print(json.dumps({"compared": compared, "differences": differences}))


main()
