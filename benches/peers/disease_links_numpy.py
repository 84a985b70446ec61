"""Links of Disease by flat models as the program of HGCN's authors has them, in NumPy: beside examples/curvbench/links.sql, what
its bound on the length of a vector does. That program shortens the vectors of flat models to length 1 before it takes
distances, and rectifies the last layer too; vectors of curved models are as long as they come.

    python disease_links_numpy.py FOLDER [SEEDS]

FOLDER is hgcn/disease_lp of github.com/HazyResearch/hgcn. Prints the AUC of the test edges, mean and deviation over the seeds (5):
two layers of 16, features as they are, no dropout, no weight decay, Adam with 0.01, 85/5/10, stops after 100 epochs without a
better AUC of the validation edges. About two minutes. Needs numpy and scipy.
"""

import sys

import numpy as np
import scipy.sparse as sp

WIDTH, RATE, EPOCHS, PATIENCE = 16, 0.01, 3000, 100


def read(folder):
    features = sp.load_npz(f"{folder}/disease_lp.feats.npz").toarray().astype(float)
    edges = np.loadtxt(f"{folder}/disease_lp.edges.csv", delimiter=",", dtype=int)
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], 1), axis=0)
    return features, edges


def strangers(count, n, joined, draws):
    """So many pairs without an edge."""
    pairs = []
    while len(pairs) < count:
        drawn = np.sort(draws.integers(0, n, (2 * count, 2)), 1)
        pairs += [(u, v) for u, v in drawn.tolist() if u != v and (u, v) not in joined]
    return np.array(pairs[:count])


def squares(z, pairs):
    return ((z[pairs[:, 0]] - z[pairs[:, 1]]) ** 2).sum(1)


def auc(z, edges, others):
    scores = -np.concatenate([squares(z, edges), squares(z, others)])
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place][: len(edges)]
    return (ranks.sum() - len(edges) * (len(edges) + 1) / 2) / (len(edges) * len(others))


class Layers:
    """`P (relu(P (X W0 + b0)) W1 + b1)`, rectified and no longer than 1 where asked for, and the gradient of its parameters."""

    def __init__(self, x, p, rectified, bounded, draws):
        self.x, self.p, self.rectified, self.bounded = x, p, rectified, bounded
        sizes = [x.shape[1], WIDTH, WIDTH]

        def uniform(rows, *shape):
            return draws.uniform(-1, 1, shape) / np.sqrt(rows)

        weights = [uniform(rows, rows, columns) for rows, columns in zip(sizes, sizes[1:])]
        self.parameters = weights + [uniform(rows, columns) for rows, columns in zip(sizes, sizes[1:])]

    def forward(self):
        w0, w1, b0, b1 = self.parameters
        self.h = np.maximum(self.p @ (self.x @ w0 + b0), 0)
        self.y = self.p @ (self.h @ w1 + b1)
        if self.rectified:
            self.y = np.maximum(self.y, 0)
        if not self.bounded:
            return self.y
        self.length = np.maximum(np.linalg.norm(self.y, axis=1, keepdims=True), 1)
        return self.y / self.length

    def gradients(self, d_z):
        d = d_z
        if self.bounded:
            z = self.y / self.length
            along = np.where(self.length > 1, (d_z * z).sum(1, keepdims=True), 0)
            d = (d_z - along * z) / self.length
        if self.rectified:
            d = d * (self.y > 0)
        d1 = self.p.T @ d
        d0 = self.p.T @ ((d1 @ self.parameters[1].T) * (self.h > 0))
        return [self.x.T @ d0, self.h.T @ d1, d0.sum(0), d1.sum(0)]


def run(features, edges, seed, convolved, rectified, bounded):
    """The AUC of the test edges in the epoch with the best one of the validation edges."""
    draws, n = np.random.default_rng(seed), len(features)
    edges, joined = draws.permutation(edges), set(map(tuple, edges.tolist()))
    n_val, n_test = len(edges) // 20, len(edges) // 10
    val, test, train = edges[:n_val], edges[n_val : n_val + n_test], edges[n_val + n_test :]
    no_val, no_test = strangers(n_val, n, joined, draws), strangers(n_test, n, joined, draws)
    p = sp.eye(n, format="csr")
    if convolved:
        a = sp.coo_matrix((np.ones(len(train)), train.T), (n, n))
        a = (a + a.T + p).tocsr()
        p = (sp.diags(1 / np.asarray(a.sum(1)).ravel()) @ a).tocsr()
    layers = Layers(features, p, rectified, bounded, draws)
    first, second = ([np.zeros_like(w) for w in layers.parameters] for _ in range(2))
    best, found, since = -1, 0, 0
    for step in range(1, EPOCHS + 1):
        z = layers.forward()
        d_z = np.zeros_like(z)
        for pairs, label in ((train, 1), (strangers(len(train), n, joined, draws), 0)):
            probability = 1 / (np.exp(np.minimum(squares(z, pairs) - 2, 50)) + 1)
            d = (label - probability)[:, None] * 2 * (z[pairs[:, 0]] - z[pairs[:, 1]]) / len(pairs)
            np.add.at(d_z, pairs[:, 0], d)
            np.add.at(d_z, pairs[:, 1], -d)
        for w, m, v, d in zip(layers.parameters, first, second, layers.gradients(d_z)):
            m += 0.1 * (d - m)
            v += 0.001 * (d * d - v)
            w -= RATE * m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        z, since = layers.forward(), since + 1
        if (figure := auc(z, val, no_val)) > best:
            best, found, since = figure, auc(z, test, no_test), 0
        if since == PATIENCE:
            break
    return found


def main(folder, seeds=5):
    features, edges = read(folder)
    for model, convolved in (("gcn", True), ("mlp", False)):
        for rectified, bounded in ((True, True), (True, False), (False, True), (False, False)):
            figures = [100 * run(features, edges, seed, convolved, rectified, bounded) for seed in range(int(seeds))]
            what = f"{model}, last layer {'rectified' if rectified else 'affine'}, vectors {'at most 1 long' if bounded else 'of any length'}"
            print(f"{what}: {np.mean(figures):.1f} +- {np.std(figures, ddof=1):.1f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
