"""Maximum flows and minimum cuts."""

import networkx
import numpy

from bonnetdb.backend.engine import array
from bonnetdb.backend.offer import offered


def flow(G, source, target, capacity):
    """What flows along which arc in a maximum flow: ends and amounts; and the flow's value, whole where all capacities are."""
    for node in (source, target):
        if node not in G:
            raise networkx.NetworkXError(f"node {node} not in graph")
    if source == target:
        raise networkx.NetworkXError("source and sink are the same node")
    capacities, whole = G.weights(capacity)
    options = {"source": G.number[source], "target": G.number[target], "directed": G.directed}
    if len(G.source) == 0:
        return numpy.zeros(0, "int64"), numpy.zeros(0, "int64"), numpy.zeros(0, "int64"), 0
    rows = G.call("maximum_flow", "src, dst, maximum_flow", weight=capacities, **options)
    src, dst, amount = (array(rows, at) for at in range(3))
    amount = numpy.rint(amount).astype("int64") if whole else amount
    at = G.number[source]
    value = amount[src == at].sum() - amount[dst == at].sum()
    # Where nothing flows, networkx has the integer 0.
    return src, dst, amount, value.item() or 0


@offered(default=("flow_func",), kwargs=lambda given: not given)
def maximum_flow_value(flowG, _s, _t, capacity="capacity", flow_func=None, **kwargs):
    return flow(flowG, _s, _t, capacity)[-1]


@offered(default=("flow_func",), kwargs=lambda given: not given)
def minimum_cut_value(flowG, _s, _t, capacity="capacity", flow_func=None, **kwargs):
    return flow(flowG, _s, _t, capacity)[-1]


@offered(default=("flow_func",), kwargs=lambda given: not given)
def maximum_flow(flowG, _s, _t, capacity="capacity", flow_func=None, **kwargs):
    src, dst, amount, value = flow(flowG, _s, _t, capacity)
    nodes = flowG.nodes
    along = {node: {} for node in nodes}
    for u, v in zip(flowG.source.tolist(), flowG.target.tolist()):
        along[nodes[u]][nodes[v]] = 0
        if not flowG.directed:
            along[nodes[v]][nodes[u]] = 0
    for u, v, units in zip(src.tolist(), dst.tolist(), amount.tolist()):
        along[nodes[u]][nodes[v]] = units
    return value, along
