"""With PyTorch Geometric and TopoNetX themselves, where they are installed."""

import collections
import os
import tracemalloc

import numpy
import pytest

import bonnetdb

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.loader import DataLoader, LinkNeighborLoader, NeighborLoader  # noqa: E402
from torch_geometric.utils import coalesce, to_undirected  # noqa: E402


def random_data(nodes=60, edges=400, seed=0):
    generator = torch.Generator().manual_seed(seed)
    part = torch.randint(0, 4, (nodes,), generator=generator)
    return Data(
        x=torch.rand((nodes, 5), generator=generator),
        y=torch.randint(0, 3, (nodes,), generator=generator),
        edge_index=coalesce(torch.randint(0, nodes, (2, edges), generator=generator)),
        train_mask=part == 0,
        val_mask=part == 1,
        test_mask=part > 1,
    )


def same(one, other):
    assert set(one.keys()) - {"num_nodes"} == set(other.keys()) - {"num_nodes"} and one.num_nodes == other.num_nodes
    for name in set(other.keys()) - {"num_nodes"}:
        mine, theirs = one[name], other[name]
        assert not isinstance(mine, torch.Tensor) or mine.dtype == theirs.dtype and torch.equal(mine, theirs), name
    return True


@pytest.fixture
def lasting(tmp_path):
    """A lasting database with a graph of data, opened only to be read."""
    original = random_data()
    with bonnetdb.connect(tmp_path / "lab.bonnet") as con:
        con.from_pyg(original, "g")
    with bonnetdb.connect(tmp_path / "lab.bonnet", read_only=True) as con:
        yield con.graph("g"), original


def test_data_come_back_exactly(con):
    original = random_data()
    assert same(con.from_pyg(original, "g").to_pyg(), original)
    # Edges that are no arcs come both ways, each once.
    undirected = random_data()
    undirected.edge_index = to_undirected(undirected.edge_index)
    assert same(con.from_pyg(undirected, "u", directed=False).to_pyg(), undirected)


def test_a_tensor_that_numpy_has_no_array_for_is_named(con):
    original = random_data()
    original.x = original.x.to(torch.bfloat16)
    with pytest.raises(bonnetdb.DataError, match="x is a tensor of torch.bfloat16"):
        con.from_pyg(original, "g")
    original.x = original.x.float().to_sparse()
    with pytest.raises(bonnetdb.DataError, match="x is a tensor of torch.float32, torch.sparse_coo"):
        con.from_pyg(original, "g")


def test_what_is_not_kept_of_data_is_named(con):
    original = random_data()
    original.pos = torch.zeros((60, 2))
    del original.val_mask, original.test_mask
    with pytest.warns(UserWarning, match="from_pyg does not keep pos$"):
        stored = con.from_pyg(original, "g")
    del original.pos
    assert same(stored.to_pyg(), original)


def test_tensors_are_on_the_memory_of_the_arrays(con):
    con.from_pyg(random_data(), "g")
    arrays = con.graph("g").arrays()
    tensor = torch.from_numpy(numpy.require(arrays["edge_index"], requirements="W"))
    assert tensor.data_ptr() == arrays["edge_index"].ctypes.data
    assert not arrays["x"].flags.owndata, "the one copy is that out of the engine's columns"


def test_edges_are_written_once(con):
    generator = numpy.random.default_rng(2)
    pairs = generator.integers(0, 5000, (2, 200_000))
    con.from_pyg(Data(edge_index=torch.from_numpy(pairs), num_nodes=5000), "arcs", directed=True)
    con.from_pyg(Data(edge_index=torch.from_numpy(pairs), num_nodes=5000), "both", directed=False)
    # What sorting needs beside the answer is a quarter of it.
    for name, most in (("arcs", 1.1), ("both", 1.4)):
        graph = con.graph(name)
        tracemalloc.start()
        arrays = graph.arrays()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert arrays["edge_index"].nbytes < peak < most * arrays["edge_index"].nbytes, name


def test_stores_answer_what_the_tensors_hold(lasting):
    graph, original = lasting
    features, edges = graph.to_pyg_stores()
    index = torch.tensor([7, 3, 3, 59, 0])
    for name in ("x", "y", "train_mask", "val_mask", "test_mask"):
        assert torch.equal(features[None, name, None], original[name]), name
        assert torch.equal(features[None, name, index], original[name][index]), name
        assert torch.equal(features[None, name, slice(2, 9)], original[name][2:9]), name
        assert torch.equal(features[None, name, 4], original[name][4]), name
    assert features.get_tensor_size(None, "x") == (60, 5) and features.get_tensor_size(None, "y") == (60,)
    assert [attr.attr_name for attr in features.get_all_tensor_attrs()] == ["x", "y", "train_mask", "val_mask", "test_mask"]
    row, colptr, perm = edges.csc()
    assert (
        torch.equal(original.edge_index[0][perm], row)
        and colptr.diff().tolist() == original.edge_index[1].bincount(minlength=60).tolist()
    )
    with pytest.raises(bonnetdb.ProgrammingError, match="no tensor 'z' of None, but of None: x, y"):
        features[None, "z", None]
    with pytest.raises(bonnetdb.DataError, match="has the nodes 0 to 59"):
        features[None, "x", torch.tensor([60])]
    with pytest.raises(bonnetdb.NotSupportedError, match="a store reads"):
        features[None, "x", None] = torch.zeros(60, 5)
    with pytest.raises(bonnetdb.NotSupportedError, match="a store reads"):
        edges.put_edge_index((row, row), edge_type=None, layout="coo")


def test_whole_neighbourhoods_are_those_of_the_graph(lasting):
    graph, original = lasting
    batches = list(graph.to_pyg_loader([-1, -1], input_nodes="train_mask", batch_size=4))
    seeds = torch.cat([batch.input_id for batch in batches])
    assert seeds.tolist() == original.train_mask.nonzero().view(-1).tolist()
    ends = collections.defaultdict(set)
    for source, target in original.edge_index.t().tolist():
        ends[target].add(source)
    for batch in batches:
        nodes = batch.n_id
        assert len(nodes.unique()) == len(nodes) and nodes[: batch.batch_size].tolist() == batch.input_id.tolist()
        assert torch.equal(batch.x, original.x[nodes]) and torch.equal(batch.y, original.y[nodes])
        # The edges of the batch are edges of the graph, by their numbers too, and all of the nodes within a hop.
        assert torch.equal(nodes[batch.edge_index], original.edge_index[:, batch.e_id])
        inner = set(nodes[: batch.batch_size].tolist())
        inner |= set().union(*(ends[node] for node in inner))
        expected = {(source, target) for target in inner for source in ends[target]}
        assert set(map(tuple, nodes[batch.edge_index].t().tolist())) == expected
        assert batch.edge_index.shape[1] == len(expected) == sum(batch.num_sampled_edges) and len(nodes) == sum(
            batch.num_sampled_nodes
        )


def test_neighbourhoods_are_sampled_uniformly_and_without_repeats(con):
    # A star: of 12 neighbours, 3.
    graph = con.from_edges([(leaf, 0) for leaf in range(1, 13)], "star", directed=True)
    torch.manual_seed(5)
    loader = graph.to_pyg_loader([3], input_nodes=torch.zeros(1, dtype=torch.long))
    counts, pairs = torch.zeros(13), collections.Counter()
    for _ in range(4000):
        (batch,) = list(loader)
        leaves = batch.n_id[batch.edge_index[0]]
        assert len(leaves) == 3 == len(leaves.unique())
        counts[leaves] += 1
        pairs[tuple(sorted(leaves.tolist()))] += 1
    # Chi-squared with 11 degrees of freedom (the counts of samples without repeats vary less): the 0.999 quantile is 31.3.
    expected = 4000 * 3 / 12
    assert counts[0] == 0 and ((counts[1:] - expected) ** 2 / expected).sum() < 31.3
    # All 220 sets: 219 degrees of freedom, the 0.999 quantile is 289.
    assert len(pairs) == 220 and sum((count - 4000 / 220) ** 2 / (4000 / 220) for count in pairs.values()) < 289
    torch.manual_seed(9)
    first = [batch.n_id.tolist() for batch in graph.to_pyg_loader([2], batch_size=5, shuffle=True)]
    torch.manual_seed(9)
    assert first == [batch.n_id.tolist() for batch in graph.to_pyg_loader([2], batch_size=5, shuffle=True)]
    (batch,) = list(graph.to_pyg_loader([40], input_nodes=[0], replace=True))
    assert batch.edge_index.shape[1] == 40


def test_links_are_sampled_by_the_loader_of_pytorch_geometric(lasting):
    from bonnetdb.pyg import NeighborSampler

    graph, original = lasting
    stores = graph.to_pyg_stores()
    loader = LinkNeighborLoader(
        stores, [2, 2], neighbor_sampler=NeighborSampler(stores, [2, 2]), edge_label_index=(None, original.edge_index[:, :30]),
        neg_sampling_ratio=1.0, batch_size=10,
    )  # fmt: skip
    batches = list(loader)
    assert len(batches) == 3
    for at, batch in enumerate(batches):
        positive = batch.n_id[batch.edge_label_index[:, batch.edge_label == 1]]
        assert torch.equal(positive, original.edge_index[:, 10 * at : 10 * at + 10]) and (batch.edge_label == 0).sum() == 10
        assert torch.equal(batch.x, original.x[batch.n_id])


def test_a_model_learns_from_the_loader(lasting):
    from torch_geometric.nn import SAGEConv

    graph, original = lasting
    torch.manual_seed(0)
    layer = SAGEConv(5, 3)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(15):
        total = 0.0
        for batch in graph.to_pyg_loader([5], input_nodes="train_mask", batch_size=8, shuffle=True):
            optimizer.zero_grad()
            out = layer(batch.x, batch.edge_index)[: batch.batch_size]
            loss = torch.nn.functional.cross_entropy(out, batch.y[: batch.batch_size])
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total)
    assert losses[-1] < losses[0]


def test_workers_open_the_database_of_their_own(lasting, con):
    graph, original = lasting
    loader = graph.to_pyg_loader([4, 4], batch_size=20, num_workers=2)
    seen = [batch for batch in loader]
    assert torch.cat([batch.input_id for batch in seen]).tolist() == list(range(60))
    assert all(torch.equal(batch.x, original.x[batch.n_id]) for batch in seen)
    in_memory = con.from_pyg(original, "g")
    with pytest.raises(Exception, match="use num_workers=0, or a lasting database"):
        list(in_memory.to_pyg_loader([4], batch_size=20, num_workers=1))


def test_keys_that_are_texts_labels_that_are_texts_and_sparse_features(con):
    con.sql("""CREATE SCHEMA g; CREATE TABLE g.nodes AS SELECT * FROM (VALUES ('c', 'red', MAP {0: 1.0, 4: 2.0}), ('a', 'blue', MAP {2: 3.0}),
        ('b', NULL, MAP {1: 1.0})) AS t(node, label, features);
        CREATE TABLE g.edges AS SELECT * FROM (VALUES ('a', 'b'), ('c', 'a')) AS t(src, dst)""")
    graph = con.graph("g")
    whole = graph.to_pyg()
    assert whole.y.tolist() == [0, -1, 1] and whole.x.shape == (3, 5) and whole.x[2].tolist() == [1, 0, 0, 0, 2]
    features, _ = graph.to_pyg_stores()
    index = torch.tensor([1, 0])
    assert torch.equal(features[None, "x", index], whole.x[index]) and torch.equal(features[None, "y", index], whole.y[index])
    (batch,) = list(graph.to_pyg_loader([-1], input_nodes=[0]))
    assert set(batch.n_id.tolist()) == {0, 1, 2} and torch.equal(batch.x, whole.x[batch.n_id])


def test_loaders_of_pytorch_geometric_take_the_stores(lasting):
    from torch_geometric import typing

    graph, original = lasting
    if not (typing.WITH_PYG_LIB or typing.WITH_TORCH_SPARSE):
        pytest.skip("neither pyg-lib nor torch-sparse is installed")
    for batch in NeighborLoader(graph.to_pyg_stores(), [3, 3], input_nodes=original.train_mask, batch_size=8):
        assert torch.equal(batch.x, original.x[batch.n_id])


COLLECTION = """
    CREATE SCHEMA many;
    CREATE TABLE many.graphs AS SELECT * FROM (VALUES (10, 'ring'), (7, 'path')) AS t(graph_id, label);
    CREATE TABLE many.nodes AS SELECT * FROM (VALUES (10, 1, [1.0, 0.0]), (10, 2, [0.0, 1.0]), (10, 3, [0.5, 0.5]), (7, 1, [2.0, 0.0]), (7, 9, [3.0, 0.0]))
        AS t(graph_id, node, features);
    CREATE TABLE many.edges AS SELECT * FROM (VALUES (10, 1, 2), (7, 9, 1), (10, 2, 3), (10, 3, 1)) AS t(graph_id, src, dst)"""


def test_a_collection_is_a_list_of_data(con):
    con.sql(COLLECTION)
    graph = con.graph("many")
    assert graph.is_collection
    path, ring = graph.to_pyg()
    assert (path.graph_id, ring.graph_id) == (7, 10) and (path.y.tolist(), ring.y.tolist()) == ([0], [1])
    assert path.edge_index.tolist() == [[0, 1], [1, 0]] and path.x.tolist() == [[2, 0], [3, 0]]
    assert ring.edge_index.tolist() == [[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]] and ring.num_nodes == 3
    (batch,) = list(DataLoader([path, ring], batch_size=2))
    assert batch.num_nodes == 5 and batch.y.tolist() == [0, 1] and batch.batch.tolist() == [0, 0, 1, 1, 1]
    with pytest.raises(bonnetdb.ProgrammingError, match="a collection of graphs"):
        graph.arrays()
    with pytest.raises(bonnetdb.ProgrammingError, match="a collection of graphs"):
        graph.to_pyg_stores()
    con.from_edges([(0, 1)], "one")
    with pytest.raises(bonnetdb.ProgrammingError, match="is one graph"):
        con.graph("one").collection()


def test_complexes_as_data_and_of_toponetx(con):
    complexes = con.complexes(
        "SELECT name AS label, facets, n_vertices FROM classic_triangulations() WHERE dimension = 2 ORDER BY id LIMIT 4"
    )
    assert len(complexes) == 4 and all(one.attributes["n_vertices"] == len(one.faces(0)) for one in complexes)
    data = [one.to_pyg() for one in complexes]
    for one, found in zip(complexes, data):
        assert found.y == one.attributes["label"] and found.validate()
        below = found.boundary_1.to_dense()
        for dim in range(2, one.dimension + 1):
            boundary = found[f"boundary_{dim}"].to_dense()
            assert (below @ boundary).abs().sum() == 0
            below = boundary
        # A column of a boundary matrix has the faces of its simplex.
        faces, edges = found.simplices_2.t().tolist(), found.simplices_1.t().tolist()
        for column, face in list(enumerate(faces))[:5]:
            rows = found.boundary_2.to_dense()[:, column].nonzero().view(-1)
            assert all(set(edges[row]) < set(face) for row in rows.tolist()) and len(rows) == 3
        assert found.edge_index.shape[1] == 2 * found.simplices_1.shape[1] and found.is_undirected()
    batch = Batch.from_data_list(data[:2])
    first = data[0]
    assert batch.num_nodes == sum(one.num_nodes for one in data[:2])
    assert batch.boundary_2.shape == tuple(a + b for a, b in zip(data[0].boundary_2.shape, data[1].boundary_2.shape))
    assert torch.equal(batch.simplices_1[:, first.simplices_1.shape[1] :], data[1].simplices_1 + first.num_nodes)
    with pytest.raises(bonnetdb.ProgrammingError, match="have a column facets; there are x"):
        con.complexes("SELECT 1 AS x")
    with pytest.raises(bonnetdb.DataError, match="row 0 has no facets"):
        con.complexes("SELECT NULL::BIGINT[][] AS facets")


def test_toponetx_has_the_same_matrices(con):
    toponetx = pytest.importorskip("toponetx")
    for one in con.complexes("SELECT name, facets FROM classic_triangulations() WHERE dimension <= 3 ORDER BY id LIMIT 4"):
        theirs = one.to_toponetx()
        assert isinstance(theirs, toponetx.SimplicialComplex) and theirs.dim == one.dimension
        assert theirs.shape == tuple(len(one.faces(dim)) for dim in range(one.dimension + 1))
        for dim in range(1, one.dimension + 1):
            rows, columns, matrix = theirs.incidence_matrix(dim, signed=True, index=True)
            order = lambda index: [tuple(sorted(simplex)) for simplex in index]  # noqa: E731
            row = {simplex: at for at, simplex in enumerate(order(rows))}
            column = {simplex: at for at, simplex in enumerate(order(columns))}
            ours = one.boundary_matrix(dim).toarray()
            theirs_in_order = matrix.toarray()[numpy.ix_(
                [row[tuple(face)] for face in one.faces(dim - 1).tolist()], [column[tuple(face)] for face in one.faces(dim).tolist()]
            )]  # fmt: skip
            assert numpy.array_equal(ours, theirs_in_order), dim


@pytest.mark.skipif("BONNET_DATA" not in os.environ, reason="BONNET_DATA names no published data")
def test_a_published_collection(con):
    path = os.path.join(os.environ["BONNET_DATA"], "tu", "MUTAG")
    if not os.path.exists(path):
        pytest.skip(f"{path} is absent")
    con.sql(f"ATTACH '{path}' AS mutag")
    graphs = con.graph("mutag").to_pyg()
    assert len(graphs) == 188 and sum(one.num_nodes for one in graphs) == 3371
    assert sum(one.edge_index.shape[1] for one in graphs) == 7442 and sorted({int(one.y) for one in graphs}) == [-1, 1]
