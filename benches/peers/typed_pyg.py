"""Models of typed graphs made of PyTorch Geometric's own layers, in double precision.

    python typed_pyg.py > udfs/learning/tests/typed_pyg.json

writes a small typed graph, parameters and outputs, which the tests of udfs/learning compare with ours: RGCNConv with weights
of its own and with bases, HeteroConv of SAGEConv and of GATConv, HANConv, HGTConv. Each has the linear layers before and behind it that
ours has. Needs torch and torch_geometric.
"""

import json
import sys

import torch
from torch_geometric.nn import GATConv, HANConv, HeteroConv, HGTConv, RGCNConv, SAGEConv

TYPES = ["author", "paper", "subject"]
OF = [1, 0, 1, 2, 1, 0, 1, 2, 0, 1, 1, 2, 0]
EDGES = [(1, 0, 2), (1, 2, 2), (5, 2, 2), (5, 4, 2), (8, 4, 2), (8, 6, 2), (12, 9, 2), (12, 10, 2), (1, 10, 2), (0, 3, 0), (2, 3, 0),
         (4, 7, 0), (6, 7, 0), (9, 11, 0), (10, 11, 0), (0, 7, 0), (2, 0, 1), (4, 2, 1), (6, 2, 1), (6, 4, 1), (9, 6, 1), (10, 0, 1)]
NAMES = ["about", "cites", "writes"]
WIDTHS = [2, 4, 3]
CLASSES = 3

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)

PLACE = [OF[:i].count(kind) for i, kind in enumerate(OF)]
X = {name: torch.randn(OF.count(kind), WIDTHS[kind]) for kind, name in enumerate(TYPES)}
STARTS = [0, 2, 6]


def relations():
    """Edge types of PyG with our names, each followed by its inverse."""
    found = {}
    for source, target, name in EDGES:
        found.setdefault((OF[source], NAMES[name], OF[target]), []).append((source, target))
    listed = []
    for (source, name, target), pairs in sorted(found.items(), key=lambda item: (item[0][0], item[0][1], item[0][2])):
        s, t = TYPES[source], TYPES[target]
        listed.append(((s, name, t), f"{s}>{name}>{t}", pairs))
        listed.append(((t, "rev_" + name, s), f"{t}>^{name}>{s}", [(b, a) for a, b in pairs]))
    return listed


RELATIONS = relations()
EDGE_INDEX = {kind: torch.tensor([[PLACE[a] for a, _ in pairs], [PLACE[b] for _, b in pairs]]) for kind, _, pairs in RELATIONS}
METADATA = (TYPES, [kind for kind, _, _ in RELATIONS])


def into(kind):
    return [(edge, name) for edge, name, _ in RELATIONS if edge[2] == kind]


def randomise(module):
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return module


def rows(matrix):
    return matrix.detach().reshape(-1, matrix.shape[-1]).tolist()


def linears(width):
    return {kind: randomise(torch.nn.Linear(WIDTHS[number], width)) for number, kind in enumerate(TYPES)}


def project(layers, parameters, activate=lambda x: x):
    """The features of each type by weights of its own; ours are one block of rows."""
    parameters["input.weight"] = [row for kind in TYPES for row in rows(layers[kind].weight.T)]
    parameters["input.bias"] = [rows(layers[kind].bias)[0] for kind in TYPES]
    return {kind: activate(layers[kind](X[kind])) for kind in TYPES}


def together(h):
    """The rows of all nodes, in the order of their numbers."""
    return torch.stack([h[TYPES[kind]][place] for kind, place in zip(OF, PLACE)])


def case(model, options, parameters, outputs):
    return {"model": model, "options": options, "parameters": parameters, "outputs": rows(outputs)}


def r_gcn(bases):
    parameters = {}
    h = together(project(linears(5), parameters))
    pairs = [(a, b, number) for number, (_, _, edges) in enumerate(RELATIONS) for a, b in edges]
    edge_index = torch.tensor([[a for a, _, _ in pairs], [b for _, b, _ in pairs]])
    edge_type = torch.tensor([number for _, _, number in pairs])
    for layer, width in enumerate([5, CLASSES]):
        conv = randomise(RGCNConv(5, width, len(RELATIONS), num_bases=bases))
        parameters[f"{layer}.weight"] = rows(conv.root)
        parameters[f"{layer}.bias"] = rows(conv.bias)
        for number, (_, name, _) in enumerate(RELATIONS):
            if bases is None:
                parameters[f"{layer}.{name}.weight"] = rows(conv.weight[number])
            else:
                parameters[f"{layer}.{name}.coefficients"] = rows(conv.comp[number])
        for base in range(bases or 0):
            parameters[f"{layer}.basis.{base}.weight"] = rows(conv.weight[base])
        h = conv(h, edge_index, edge_type)
        h = h.relu() if layer == 0 else h
    return case("r_gcn", {"hidden": 5, **({"bases": bases} if bases else {})}, parameters, h)


def r_graphsage(aggregation):
    parameters = {}
    h = project(linears(5), parameters)
    for layer, width in enumerate([5, CLASSES]):
        convs = {edge: randomise(SAGEConv((5, 5), width)) for edge, _, _ in RELATIONS}
        for edge, name, _ in RELATIONS:
            parameters[f"{layer}.{name}.weight"] = rows(convs[edge].lin_l.weight.T)
        joined = torch.mean if aggregation == "mean" else torch.sum
        bias = []
        for kind in TYPES:
            own = [convs[edge] for edge, _ in into(kind)]
            parameters[f"{layer}.self.{kind}.weight"] = rows(joined(torch.stack([c.lin_r.weight.T for c in own]), 0))
            bias.append(joined(torch.stack([c.lin_l.bias for c in own]), 0).tolist())
        parameters[f"{layer}.bias"] = bias
        h = HeteroConv(convs, aggr=aggregation)(h, EDGE_INDEX)
        h = {kind: x.relu() for kind, x in h.items()} if layer == 0 else h
    return case("r_graphsage", {"hidden": 5, "relations": aggregation}, parameters, together(h))


def r_gat(aggregation):
    parameters = {}
    h, inputs = project(linears(5), parameters), 5
    for layer, (width, heads) in enumerate([(5, 2), (CLASSES, 3)]):
        convs = {
            edge: randomise(GATConv(inputs, width, heads, concat=layer == 0, add_self_loops=edge[0] == edge[2]))
            for edge, _, _ in RELATIONS
        }
        for edge, name, _ in RELATIONS:
            conv = convs[edge]
            weight = [p for n, p in conv.named_parameters() if n.startswith("lin") and n.endswith("weight")]
            assert len(weight) == 1
            parameters[f"{layer}.{name}.weight"] = rows(weight[0].T)
            parameters[f"{layer}.{name}.source"] = [conv.att_src.flatten().tolist()]
            parameters[f"{layer}.{name}.target"] = [conv.att_dst.flatten().tolist()]
        joined = torch.mean if aggregation == "mean" else torch.sum
        parameters[f"{layer}.bias"] = [
            joined(torch.stack([convs[edge].bias for edge, _ in into(kind)]), 0).tolist() for kind in TYPES
        ]
        h = HeteroConv(convs, aggr=aggregation)(h, EDGE_INDEX)
        h = {kind: torch.nn.functional.elu(x) for kind, x in h.items()} if layer == 0 else h
        inputs = 10
    options = {"hidden": 5, "heads": 2, "output_heads": 3, "relations": aggregation}
    return case("r_gat", options, parameters, together(h))


def output(h, width, parameters):
    layer = randomise(torch.nn.Linear(width, CLASSES))
    parameters["output.weight"], parameters["output.bias"] = rows(layer.weight.T), rows(layer.bias)
    return layer(together(h))


def hgt():
    parameters, heads, width = {}, 2, 5
    wide = heads * width
    h = project(linears(wide), parameters, torch.relu)
    for layer in range(2):
        conv = randomise(HGTConv(wide, wide, METADATA, heads))
        for number, part in enumerate(["key", "query", "value"]):
            columns = slice(number * wide, (number + 1) * wide)
            for kind in TYPES:
                parameters[f"{layer}.{part}.{kind}.weight"] = rows(conv.kqv_lin.lins[kind].weight[columns].T)
            parameters[f"{layer}.{part}.bias"] = [conv.kqv_lin.lins[kind].bias[columns].tolist() for kind in TYPES]
        for kind in TYPES:
            parameters[f"{layer}.output.{kind}.weight"] = rows(conv.out_lin.lins[kind].weight.T)
        parameters[f"{layer}.output.bias"] = [conv.out_lin.lins[kind].bias.tolist() for kind in TYPES]
        parameters[f"{layer}.skip"] = [[conv.skip[kind].item()] for kind in TYPES]
        parameters[f"{layer}.prior"] = [conv.p_rel["__".join(edge)].flatten().tolist() for edge, _, _ in RELATIONS]
        for number, (_, name, _) in enumerate(RELATIONS):
            for part, weights in (("attention", conv.k_rel.weight), ("message", conv.v_rel.weight)):
                of_heads = [weights[head * len(RELATIONS) + number] for head in range(heads)]
                parameters[f"{layer}.{part}.{name}.weight"] = rows(torch.cat(of_heads, 1))
        h = conv(h, EDGE_INDEX)
    options = {"hidden": width, "heads": heads, "layers": 3}
    return case("hgt", options, parameters, output(h, wide, parameters))


def han():
    parameters, heads, width = {}, 2, 5
    wide = heads * width
    conv = randomise(HANConv(dict(zip(TYPES, WIDTHS)), wide, METADATA, heads))
    parameters["input.weight"] = [row for kind in TYPES for row in rows(conv.proj[kind].weight.T)]
    parameters["input.bias"] = [conv.proj[kind].bias.tolist() for kind in TYPES]
    for edge, name, _ in RELATIONS:
        parameters[f"0.{name}.source"] = [conv.lin_src["__".join(edge)].flatten().tolist()]
        parameters[f"0.{name}.target"] = [conv.lin_dst["__".join(edge)].flatten().tolist()]
    parameters["0.semantic.weight"] = rows(conv.k_lin.weight.T)
    parameters["0.semantic.bias"] = rows(conv.k_lin.bias)
    parameters["0.semantic.query"] = [conv.q.flatten().tolist()]
    h = conv(X, EDGE_INDEX)
    options = {"hidden": width, "heads": heads, "semantic": wide, "activation": "relu"}
    return case("han", options, parameters, output(h, wide, parameters))


def features():
    table = []
    for kind, place in zip(OF, PLACE):
        row = [0.0] * sum(WIDTHS)
        row[STARTS[kind]:STARTS[kind] + WIDTHS[kind]] = X[TYPES[kind]][place].tolist()
        table.append(row)
    return table


if __name__ == "__main__":
    with torch.no_grad():
        cases = [r_gcn(None), r_gcn(2), r_graphsage("sum"), r_graphsage("mean"), r_gat("sum"), r_gat("mean"), hgt(), han()]
    graph = {"types": TYPES, "of": OF, "edge_names": NAMES, "edges": EDGES, "features": features()}
    def rounded(value):
        if isinstance(value, float):
            return round(value, 9)
        if isinstance(value, list):
            return [rounded(x) for x in value]
        return {k: rounded(x) for k, x in value.items()} if isinstance(value, dict) else value
    json.dump(rounded({**graph, "cases": cases}), sys.stdout, separators=(",", ":"))
