"""Epochs of SAMGPT's pre-training by its authors' program, on the CPU.

    python samgpt_pretrain.py PROGRAM EPOCHS EDGES [EDGES ...]

PROGRAM is the folder gfm_baselines/SAMGPT/src of github.com/Ga1axy0051/CurvBench, EDGES are CSV files of a graph each: a line of
names, then two nodes a line. Features are 50 columns of normal numbers, on which no time depends. The program's own script wants a
GPU; its model, its loss by links (splitLP, 50 negatives a node, drawn once before) and its optimiser are driven here as there: 256 columns,
three layers, Adam with rate 0.001. One line of JSON: nodes, seconds of drawing, then seconds and processor seconds of an epoch, the
first one left out where there are more.
"""

import json
import sys
import time
import types

import numpy
import scipy.sparse
import torch


def graph(path):
    pairs = numpy.loadtxt(path, delimiter=",", skiprows=1, dtype=str)
    nodes, places = numpy.unique(pairs, return_inverse=True)
    ends = places.reshape(-1, 2).T
    n = len(nodes)
    given = scipy.sparse.coo_matrix((numpy.ones(ends.shape[1]), ends), (n, n)).tocsr()
    given = ((given + given.T) > 0).astype(float)
    loops = given + scipy.sparse.eye(n)
    root = scipy.sparse.diags(numpy.asarray(loops.sum(1)).ravel() ** -0.5)
    normal = (root @ loops @ root).tocoo()
    index = torch.from_numpy(numpy.stack([normal.row, normal.col]).astype(numpy.int64))
    return given, torch.sparse_coo_tensor(index, torch.from_numpy(normal.data.astype(numpy.float32)), (n, n)).coalesce()


def main(program, epochs, *edges):
    sys.path.insert(0, program)
    # Its layers of attention, which are not used here, ask for a package that has to be compiled.
    sys.modules.setdefault("torch_sparse", types.SimpleNamespace(spmm=None))
    import preprompt

    torch.manual_seed(0)
    numpy.random.seed(0)
    graphs = [graph(path) for path in edges]
    begun = time.time()
    samples = [preprompt.prompt_pretrain_sample(given.tocsr(), 50) for given, _ in graphs]
    drawing = time.time() - begun
    features = [torch.randn(given.shape[0], 50) for given, _ in graphs]
    model = preprompt.PrePrompt(50, 256, "prelu", len(graphs), 3, 0.1, "mul")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    spent = []
    for _ in range(int(epochs)):
        begun = time.time(), time.process_time()
        model.train()
        optimizer.zero_grad()
        model(features, [normal for _, normal in graphs], True, None, None, None, None, samples=samples).backward()
        optimizer.step()
        spent.append((time.time() - begun[0], time.process_time() - begun[1]))
    counted = spent[1:] or spent
    seconds, processor = (sum(times) / len(counted) for times in zip(*counted))
    nodes = [given.shape[0] for given, _ in graphs]
    print(json.dumps({"nodes": nodes, "drawing_s": drawing, "seconds_an_epoch": seconds, "processor_s_an_epoch": processor}))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
