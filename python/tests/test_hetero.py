"""Heterogeneous graphs: `HeteroData`, and PyTorch Geometric's loaders over a lasting database of nodes and edges with types."""

import os
import warnings

import numpy
import pytest

import bonnetdb

LIBRARY = """
    CREATE SCHEMA library;
    CREATE TABLE library.nodes AS SELECT * FROM (VALUES ('p1', 'paper', 'x', [1.0, 0.0]), ('p2', 'paper', 'y', [0.0, 1.0]),
        ('p3', 'paper', NULL, [0.5, 0.5]), ('ann', 'author', NULL, [7.0]), ('bob', 'author', NULL, [8.0]), ('maths', 'subject', NULL, NULL))
        AS t(node, type, label, features);
    CREATE TABLE library.edges AS SELECT * FROM (VALUES ('p1', 'ann', 'by'), ('p3', 'ann', 'by'), ('p2', 'bob', 'by'), ('p2', 'bob', 'by'),
        ('p1', 'maths', 'on'), ('p3', 'p1', 'cites'), ('p1', 'p2', 'cites')) AS t(src, dst, type);
    CREATE TABLE library.splits AS SELECT * FROM (VALUES (0, 'p1', 'train'), (0, 'p2', 'test')) AS t(split, node, part)"""


def test_arrays_by_type(con):
    con.sql(LIBRARY)
    graph = con.graph("library")
    assert graph.is_heterogeneous and not graph.directed
    found = graph.arrays_by_type()
    # By the first keys: ann, maths, p1.
    assert [key for key in found if isinstance(key, str)] == ["author", "subject", "paper"]
    paper = found["paper"]
    assert paper["num_nodes"] == 3 and paper["x"].tolist() == [[1, 0], [0, 1], [0.5, 0.5]] and paper["y"].tolist() == [0, 1, -1]
    assert paper["train_mask"].tolist() == [True, False, False] and paper["test_mask"].tolist() == [False, True, False]
    assert found["author"]["x"].tolist() == [[7], [8]] and found["subject"] == {"num_nodes": 1}
    edges = {key: value["edge_index"].tolist() for key, value in found.items() if isinstance(key, tuple)}
    assert edges == {
        ("paper", "by", "author"): [[0, 1, 2], [0, 1, 0]],
        ("author", "rev_by", "paper"): [[0, 0, 1], [0, 2, 1]],
        ("paper", "on", "subject"): [[0], [0]],
        ("subject", "rev_on", "paper"): [[0], [0]],
        ("paper", "cites", "paper"): [[0, 0, 1, 2], [1, 2, 0, 0]],
    }
    con.from_edges([(0, 1)], "plain")
    with pytest.raises(bonnetdb.ProgrammingError, match="plain have no column type"):
        con.graph("plain").arrays_by_type()
    con.sql("CREATE SCHEMA odd; CREATE TABLE odd.edges AS SELECT 1 AS src, 2 AS dst, 0.5 AS weight UNION ALL SELECT 2, 1, NULL")
    con.sql("CREATE TABLE odd.nodes AS SELECT 1 AS node, 'a' AS type UNION ALL SELECT 2, NULL")
    with pytest.raises(bonnetdb.DataError, match="some nodes of odd have no type"):
        con.graph("odd").arrays_by_type()
    con.sql("CREATE OR REPLACE TABLE odd.nodes AS SELECT 1 AS node, 'a' AS type UNION ALL SELECT 2, 'a'")
    with pytest.raises(bonnetdb.DataError, match=r"relation \('a', 'edge', 'a'\) have weight|edge_weight"):
        con.graph("odd").arrays_by_type()


torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric import transforms  # noqa: E402
from torch_geometric.data import HeteroData  # noqa: E402
from torch_geometric.loader import LinkNeighborLoader  # noqa: E402


def random_data(seed=0):
    """Papers with features and labels, authors with features of another width, subjects without."""
    generator = torch.Generator().manual_seed(seed)
    data = HeteroData()
    data["paper"].x = torch.rand((40, 5), generator=generator)
    data["paper"].y = torch.randint(0, 3, (40,), generator=generator)
    part = torch.randint(0, 3, (40,), generator=generator)
    data["paper"].train_mask, data["paper"].val_mask, data["paper"].test_mask = part == 0, part == 1, part == 2
    data["author"].x = torch.rand((25, 3), generator=generator)
    data["subject"].num_nodes = 7
    for source, name, target, count in (
        ("author", "writes", "paper", 90),
        ("paper", "cites", "paper", 120),
        ("paper", "on", "subject", 50),
        ("subject", "of", "paper", 30),
    ):
        ends = [torch.randint(0, data[kind].num_nodes, (count,), generator=generator) for kind in (source, target)]
        data[source, name, target].edge_index = torch.stack(ends)
    data["author", "writes", "paper"].edge_attr = torch.rand((90, 2), generator=generator)
    data["paper", "cites", "paper"].edge_weight = torch.rand(120, generator=generator)
    return data


def same(one, other):
    assert set(one.node_types) == set(other.node_types) and set(one.edge_types) == set(other.edge_types)
    for store in other.stores[1:]:
        mine = one[store._key]
        assert set(mine.keys()) - {"num_nodes"} == set(store.keys()) - {"num_nodes"}, store._key
        for name in set(store.keys()) - {"num_nodes"}:
            assert mine[name].dtype == store[name].dtype and torch.equal(mine[name], store[name]), (store._key, name)
    return all(one[kind].num_nodes == other[kind].num_nodes for kind in other.node_types)


@pytest.fixture
def lasting(tmp_path):
    original = random_data()
    with bonnetdb.connect(tmp_path / "lab.bonnet") as con:
        con.from_pyg(original, "g")
    with bonnetdb.connect(tmp_path / "lab.bonnet", read_only=True) as con:
        yield con.graph("g"), original


def test_hetero_data_comes_back_exactly(con, lasting):
    graph, original = lasting
    assert same(graph.to_pyg(), original)
    assert same(con.from_pyg(original, "here").to_pyg(), original)
    more = original.clone()
    more["author"].age, more["paper", "on", "subject"].since = torch.zeros(25), torch.zeros(50)
    more.license = "none"
    with pytest.warns(UserWarning, match=r"keep age of 'author', since of \('paper', 'on', 'subject'\), license$"):
        con.from_pyg(more, "more")
    schema = con.sql("SELECT type, count FROM graph_schema(here) WHERE kind = 'node' ORDER BY type").fetchall()
    assert schema == [("author", 25), ("paper", 40), ("subject", 7)]
    with pytest.raises(bonnetdb.DataError, match="x of 'paper' has 40 rows for 39 nodes"):
        original["paper"].num_nodes = 39
        con.from_pyg(original, "wrong")


def test_edges_that_are_no_arcs_are_those_of_to_undirected(con):
    data = HeteroData()
    data["a"].num_nodes, data["b"].num_nodes = 6, 4
    generator = torch.Generator().manual_seed(3)
    codes = torch.randperm(24, generator=generator)[:15].sort().values
    data["a", "to", "b"].edge_index = torch.stack([codes // 4, codes % 4])
    data["a", "to", "b"].edge_weight = torch.rand(15, generator=generator)
    data["a", "near", "a"].edge_index = torch.tensor([[0, 1, 2], [3, 3, 5]])
    expected = transforms.ToUndirected()(data.clone())
    found = con.from_pyg(data, "g", directed=False).to_pyg()
    assert set(found.edge_types) == set(expected.edge_types)
    for relation in expected.edge_types:
        weights = [one[relation].get("edge_weight", torch.ones(one[relation].num_edges)).tolist() for one in (found, expected)]
        edges = [list(map(tuple, one[relation].edge_index.t().tolist())) for one in (found, expected)]
        assert dict(zip(edges[0], weights[0])) == dict(zip(edges[1], weights[1])) and len(edges[0]) == len(edges[1])


def test_stores_answer_what_the_tensors_hold(lasting):
    graph, original = lasting
    features, edges = graph.to_pyg_stores()
    index = torch.tensor([7, 3, 3, 24, 0])
    for kind, name in (("paper", "x"), ("paper", "y"), ("paper", "train_mask"), ("author", "x")):
        for place in (None, index, slice(2, 9), 4):
            wanted = original[kind][name] if place is None else original[kind][name][place]
            assert torch.equal(features[kind, name, place], wanted), (kind, name, place)
    assert features.get_tensor_size("author", "x") == (25, 3)
    assert features.num_nodes_by_type == {"paper": 40, "author": 25, "subject": 7} and features.num_nodes == 72
    rows, colptr, perm = edges.csc()
    for relation in original.edge_types:
        pair = original[relation].edge_index
        assert torch.equal(pair[0][perm[relation]], rows[relation])
        assert colptr[relation].diff().tolist() == pair[1].bincount(minlength=original[relation[2]].num_nodes).tolist()
    with pytest.raises(bonnetdb.ProgrammingError, match="no tensor 'x' of 'subject', but of 'paper': x, y"):
        features["subject", "x", None]
    with pytest.raises(bonnetdb.DataError, match="has the nodes 0 to 24 of type author"):
        features["author", "x", torch.tensor([25])]
    with pytest.raises(bonnetdb.ProgrammingError, match="has the types: paper, author, subject"):
        graph.to_pyg_loader([2], input_nodes="venue")


def test_whole_neighbourhoods_are_those_of_the_graph(lasting):
    graph, original = lasting
    batches = list(graph.to_pyg_loader([-1, -1], input_nodes=("paper", "train_mask"), batch_size=4))
    seeds = torch.cat([batch["paper"].input_id for batch in batches])
    assert seeds.tolist() == original["paper"].train_mask.nonzero().view(-1).tolist()
    for batch in batches:
        within = {kind: set() for kind in original.node_types}
        within["paper"] = set(batch["paper"].n_id[: batch["paper"].batch_size].tolist())
        # Edges that end in a node of the sample after none and after one hop; their sources belong to it.
        expected = {relation: set() for relation in original.edge_types}
        for _ in range(2):
            before = {kind: set(nodes) for kind, nodes in within.items()}
            for relation in original.edge_types:
                for number, (source, target) in enumerate(original[relation].edge_index.t().tolist()):
                    if target in before[relation[2]]:
                        expected[relation].add(number)
                        within[relation[0]].add(source)
        for kind in original.node_types:
            nodes = batch[kind].n_id
            assert len(nodes.unique()) == len(nodes) == batch[kind].num_nodes == sum(batch[kind].num_sampled_nodes)
            assert set(nodes.tolist()) == within[kind]
            for name in ("x", "y"):
                if name in original[kind]:
                    assert torch.equal(batch[kind][name], original[kind][name][nodes])
        for relation in original.edge_types:
            source, target = (batch[relation[end]].n_id[batch[relation].edge_index[row]] for row, end in ((0, 0), (1, 2)))
            numbers = batch[relation].e_id
            assert torch.equal(torch.stack([source, target]), original[relation].edge_index[:, numbers])
            assert set(numbers.tolist()) == expected[relation] and sum(batch[relation].num_sampled_edges) == len(numbers)


def test_samples_are_bounded_and_repeat_with_their_seed(lasting):
    graph, original = lasting
    counts = {relation: [3, 2] if relation[1] == "cites" else [1, 0] for relation in original.edge_types}

    def sample():
        torch.manual_seed(4)
        return list(graph.to_pyg_loader(counts, input_nodes="paper", batch_size=8, shuffle=True))

    for one, other in zip(sample(), sample()):
        assert all(torch.equal(one[kind].n_id, other[kind].n_id) for kind in original.node_types)
        for relation in original.edge_types:
            numbers, targets = one[relation].e_id, one[relation].edge_index[1]
            assert torch.equal(numbers, other[relation].e_id) and len(numbers.unique()) == len(numbers)
            # Of the edges that end in a node of a hop, as many as there are to be, or all.
            last = {kind: one[kind].num_sampled_nodes for kind in original.node_types}[relation[2]]
            edges = original[relation].edge_index[1]
            begin = 0
            for hop, most in enumerate(counts[relation]):
                for local in range(sum(last[:hop]), sum(last[: hop + 1])):
                    there = int((edges == one[relation[2]].n_id[local]).sum())
                    taken = targets[begin : begin + one[relation].num_sampled_edges[hop]]
                    assert int((taken == local).sum()) == min(most, there)
                begin += one[relation].num_sampled_edges[hop]
    stores = graph.to_pyg_stores()
    from bonnetdb.pyg import NeighborSampler

    relation = ("author", "writes", "paper")
    loader = LinkNeighborLoader(
        stores, [2], neighbor_sampler=NeighborSampler(stores, [2]), batch_size=10,
        edge_label_index=(relation, original[relation].edge_index[:, :30]), edge_label=torch.arange(30),
    )  # fmt: skip
    for at, batch in enumerate(loader):
        ends = batch[relation].edge_label_index
        found = torch.stack([batch["author"].n_id[ends[0]], batch["paper"].n_id[ends[1]]])
        assert torch.equal(found, original[relation].edge_index[:, 10 * at : 10 * at + 10])


def test_a_model_learns_from_the_loader(lasting):
    from torch_geometric.nn import HeteroConv, SAGEConv

    graph, original = lasting
    torch.manual_seed(0)
    relations = [("author", "writes", "paper"), ("paper", "cites", "paper")]
    layer = HeteroConv({relation: SAGEConv((5 if relation[0] == "paper" else 3, 5), 3) for relation in relations})
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(15):
        total = 0.0
        for batch in graph.to_pyg_loader([5], input_nodes=("paper", "train_mask"), batch_size=8, shuffle=True):
            optimizer.zero_grad()
            count = batch["paper"].batch_size
            out = layer(batch.x_dict, {relation: batch[relation].edge_index for relation in relations})["paper"][:count]
            loss = torch.nn.functional.cross_entropy(out, batch["paper"].y[:count])
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total)
    assert losses[-1] < losses[0]


def test_workers_open_the_database_of_their_own(lasting):
    graph, original = lasting
    loader = graph.to_pyg_loader([4, 4], input_nodes="paper", batch_size=20, num_workers=2)
    seen = list(loader)
    assert torch.cat([batch["paper"].input_id for batch in seen]).tolist() == list(range(40))
    assert all(torch.equal(batch["author"].x, original["author"].x[batch["author"].n_id]) for batch in seen)


@pytest.mark.skipif("BONNET_DATA" not in os.environ, reason="BONNET_DATA names no published data")
def test_a_published_graph(con):
    path = os.path.join(os.environ["BONNET_DATA"], "heco", "acm")
    if not os.path.exists(path):
        pytest.skip(f"{path} is absent")
    con.sql(f"ATTACH '{path}' AS acm")
    graph = con.graph("acm")
    data = graph.to_pyg()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert data.validate()
    assert {kind: data[kind].num_nodes for kind in data.node_types} == {"paper": 4019, "author": 7167, "subject": 60}
    pairs = numpy.loadtxt(os.path.join(path, "pa.txt"), dtype="int64")
    by = data["paper", "paper-author", "author"].edge_index
    assert by.t().tolist() == pairs.tolist() and len(data.edge_types) == 2
    labels = numpy.load(os.path.join(path, "labels.npy"))
    assert data["paper"].y.tolist() == labels.tolist() and data["paper"].x.shape[0] == 4019 and "x" not in data["subject"]
    (batch,) = list(graph.to_pyg_loader([-1], input_nodes=("author", [0, 5]), batch_size=2))
    assert set(batch["paper"].n_id.tolist()) == {paper for paper, author in pairs.tolist() if author in (0, 5)}
    assert torch.equal(batch["paper"].x, data["paper"].x[batch["paper"].n_id])
