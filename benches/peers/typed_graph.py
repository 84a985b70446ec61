"""A made-up typed graph, in files that we and typed_train_pyg.py read.

    python typed_graph.py FOLDER [NODES EDGES SEED]

writes nodes.csv (node, type, label, part, x0, x1, ...), edges.csv (src, dst, type) and graph.npz with the same numbers. Half of the
nodes are papers, 3 in 10 authors, the others venues; six relations of as many edges each join them: cites, extends (paper to
paper), writes, reviews (author to paper), knows (author to author), hosts (venue to paper). Ends are drawn with a bias to low
numbers, so that degrees are uneven, and no pair occurs twice in a relation. A paper has one of five labels, which its features
show faintly; a tenth of the papers trains, a tenth validates, the others test. Defaults: 200,000 nodes, 2,000,000 edges, seed 0.
Needs numpy.
"""

import pathlib
import sys

import numpy

TYPES = ["paper", "author", "venue"]
SHARES = [0.5, 0.3, 0.2]
RELATIONS = [("cites", 0, 0), ("extends", 0, 0), ("writes", 1, 0), ("reviews", 1, 0), ("knows", 1, 1), ("hosts", 2, 0)]
CLASSES, WIDTH = 5, 16


def main(folder, nodes=200_000, edges=2_000_000, seed=0):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(seed)
    counts = [round(share * nodes) for share in SHARES]
    starts = numpy.cumsum([0] + counts)
    kinds = numpy.repeat(numpy.arange(len(TYPES)), counts)
    labels = numpy.where(kinds == 0, random.integers(CLASSES, size=len(kinds)), -1)
    centres = random.normal(size=(CLASSES + 1, WIDTH))
    features = numpy.round(0.3 * centres[labels] + random.normal(size=(len(kinds), WIDTH)), 3).astype(numpy.float32)
    parts = numpy.where(labels < 0, 3, numpy.searchsorted([0.1, 0.2], random.random(len(kinds)), side="right"))

    def ends(kind, size):
        return starts[kind] + (counts[kind] * random.random(size) ** 1.5).astype(numpy.int64)

    table = []
    for number, (_, source, target) in enumerate(RELATIONS):
        wanted = edges // len(RELATIONS)
        pairs = numpy.empty((0, 2), numpy.int64)
        while len(pairs) < wanted:
            drawn = numpy.stack([ends(source, wanted), ends(target, wanted)], 1)
            drawn = drawn[drawn[:, 0] != drawn[:, 1]]
            # An edge counts in both directions: neither pair may come back turned round.
            drawn = numpy.sort(drawn, 1) if source == target else drawn
            pairs = numpy.unique(numpy.concatenate([pairs, drawn]), axis=0)
        kept = pairs[random.permutation(len(pairs))[:wanted]]
        table.append(numpy.column_stack([kept, numpy.full(wanted, number)]))
    table = numpy.concatenate(table)
    numpy.savez(folder / "graph.npz", kinds=kinds, labels=labels, parts=parts, features=features, edges=table)

    with open(folder / "nodes.csv", "w") as file:
        file.write("node,type,label,part," + ",".join(f"x{column}" for column in range(WIDTH)) + "\n")
        names = ["train", "val", "test", ""]
        for node, (kind, label, part, x) in enumerate(zip(kinds, labels, parts, features.tolist())):
            entries = ",".join(f"{value:.3f}" for value in x)
            file.write(f"{node},{TYPES[kind]},{label if label >= 0 else ''},{names[part]},{entries}\n")
    with open(folder / "edges.csv", "w") as file:
        file.write("src,dst,type\n")
        file.writelines(f"{source},{target},{RELATIONS[number][0]}\n" for source, target, number in table.tolist())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 5):
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
