"""Tests of the models of curved_torch.py: python -m unittest discover -s benches/peers. Needs torch."""

import unittest

import torch
import torch.nn.functional as F

import curved_torch as models
from curved_torch import Hyperboloid, PseudoHyperboloid, Stereographic

N, COLUMNS, CLASSES = 60, 12, 3
MODELS = sorted(models.FIXTURES)


def normal(rows, columns, size, seed):
    return size * torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def communities():
    """Three of them, features that say a little of which: edges, features, labels."""
    generator = torch.Generator().manual_seed(1)
    labels = torch.arange(N) % CLASSES
    same = labels[:, None] == labels
    chosen = torch.rand(N, N, generator=generator) < torch.where(same, 0.2, 0.02)
    edges = chosen.triu(1).nonzero().T
    x = normal(N, COLUMNS, 0.3, 2)
    x[torch.arange(N), labels] += 0.5
    return edges, x, labels


def trained(model, epochs, dtype=torch.float32):
    """The losses of training, and the parameters."""
    edges, x, labels = communities()
    options, generator = models.FIXTURES[model], torch.Generator().manual_seed(3)
    forward = models.on_graph(model, options, edges, N, dtype)
    w = models.parameters(model, COLUMNS, CLASSES, options, generator, dtype)
    w = {name: value.requires_grad_() for name, value in w.items()}
    steps, losses = models.optimizers(w, 0.02), []
    for _ in range(epochs):
        for optimizer in steps:
            optimizer.zero_grad()
        z, beside = forward(x.to(dtype), w, lambda x: x, True)
        loss = F.cross_entropy(z, labels) + beside
        loss.backward()
        losses.append(float(loss.detach()))
        for optimizer in steps:
            optimizer.step()
    return losses, w


class Models(unittest.TestCase):
    def test_outputs_have_a_column_a_class_and_every_parameter_a_gradient(self):
        edges, x, _ = communities()
        for model in MODELS:
            with self.subTest(model):
                z, beside = models.on_graph(model, models.FIXTURES[model], edges, N, torch.float64)(
                    x, trained(model, 1, torch.float64)[1], lambda x: F.dropout(x, 0.5), True
                )
                self.assertEqual(tuple(z.shape), (N, CLASSES))
                self.assertTrue((z.isfinite().all() and torch.as_tensor(beside).isfinite()).item())
                for name, value in trained(model, 1, torch.float64)[1].items():
                    self.assertTrue(value.grad.isfinite().all() and value.grad.abs().sum() > 0, name)

    def test_the_loss_falls(self):
        for model in MODELS:
            with self.subTest(model):
                losses, _ = trained(model, 60)
                self.assertLess(losses[-1], 0.75 * losses[0])

    def test_outputs_do_not_depend_on_the_order_of_nodes(self):
        edges, x, _ = communities()
        order = torch.randperm(N, generator=torch.Generator().manual_seed(4))
        place = order.argsort()
        for model in MODELS:
            with self.subTest(model):
                options, w = models.FIXTURES[model], trained(model, 5, torch.float64)[1]
                run = [models.on_graph(model, options, e, N, torch.float64) for e in (edges, place[edges])]
                z, beside = run[0](x, w, lambda x: x, True)
                other, of_other = run[1](x[order], w, lambda x: x, True)
                self.assertLess((z[order] - other).abs().max(), 1e-9)
                self.assertAlmostEqual(float(beside), float(of_other), 9)

    def test_points_that_are_learned_stay_on_the_hyperboloid(self):
        for model, name in (("hgnn", "centroids"), ("hybonet", "classes")):
            first, last = (trained(model, epochs, torch.float64)[1][name].detach() for epochs in (1, 60))
            self.assertGreater((first - last).abs().max(), 0.1)
            inner = Hyperboloid(torch.ones(1, 1)).inner(last, last)
            self.assertLess((inner + 1).abs().max(), 1e-12)


class Spaces(unittest.TestCase):
    def close(self, x, y, error=1e-10):
        torch.testing.assert_close(x, torch.as_tensor(y, dtype=torch.float64).expand_as(x), atol=error, rtol=0)

    def test_the_hyperboloid_and_the_ball_have_the_same_distances(self):
        one = torch.ones(1, 1, dtype=torch.float64)
        u, v = normal(8, 4, 0.7, 1), normal(5, 4, 0.7, 2)
        space, ball = Hyperboloid(one), Stereographic(-1, torch.expm1(one).log())
        found = space.distances(space.exp0(u), space.exp0(v))
        expected = ball.distance(ball.exp0(u / 2)[:, None], ball.exp0(v / 2)[None])[:, :, 0]
        self.close(found, expected, 1e-8)

    def test_the_rectifier_acts_on_coordinates_of_the_ball(self):
        space = Hyperboloid(torch.ones(1, 1, dtype=torch.float64))
        points = models.relu_on_ball(space.exp0(normal(8, 4, 0.7, 1)))
        self.close(space.inner(points, points), -1.0)
        # tanh(r / 2) of a tangent vector of length r is the length in the ball.
        v = torch.tensor([[0.6, -0.8]], dtype=torch.float64)
        expected = 2 * torch.atanh(0.6 * torch.tanh(torch.tensor(0.5, dtype=torch.float64)))
        self.close(space.log0(models.relu_on_ball(space.exp0(v))), [[float(expected), 0.0]])

    def test_pseudo_hyperboloids(self):
        for time in (0, 2, 5):
            space = PseudoHyperboloid(torch.tensor([[0.7]], dtype=torch.float64), time)
            v, bias = normal(8, 5, 0.3, 1), normal(1, 5, 0.2, 2)
            points, moved = space.exp0(v), space.move(space.exp0(v), bias)
            for x in (points, moved):
                inner = (x[:, time + 1 :] ** 2).sum(1) - (x[:, : time + 1] ** 2).sum(1)
                self.close(inner, -0.7)
            self.close(space.log0(points), v)
            # On the sphere and in flat space: as far as the bias is long.
            (u, s), (a, r) = space.to_product(points), space.to_product(moved)
            self.close(r - s, bias[:, time:])
            if time > 0:
                arcs = space.root * ((u * a).sum(1, keepdim=True) / space.b).acos()
                self.close(arcs, bias[:, :time].norm())

    def test_without_time_qgcn_is_flat(self):
        edges, x, _ = communities()
        options = {"hidden": 5, "signature": "5,0"}
        w = models.parameters("qgcn", COLUMNS, CLASSES, options, torch.Generator().manual_seed(1), torch.float64)
        z, _ = models.on_graph("qgcn", options, edges, N, torch.float64)(x, w, lambda x: x, False)
        p = models.normalised(edges, N, torch.float64)
        for layer in range(2):
            x = F.relu(p @ (x @ w[f"{layer}.weight"] + w[f"{layer}.bias"]))
        self.close(z, x @ w["decode.weight"] + w["decode.bias"])

    def test_a_lorentz_layer_and_a_centroid_lie_on_the_hyperboloid(self):
        w = models.parameters("hybonet", 4, 2, {"hidden": 3}, torch.Generator().manual_seed(1), torch.float64)
        space = Hyperboloid(torch.ones(1, 1, dtype=torch.float64))
        points = models.lorentz_linear(space.exp0(normal(8, 4, 0.7, 1)), w, "0")
        self.close(space.inner(points, points), -1.0)
        self.assertTrue((points[:, 0] > 1.1).all() and (points[:, 0] < 11.1).all())

    def test_hat_node_by_node(self):
        edges, x, _ = communities()
        options, heads = models.FIXTURES["hat"], 2
        w = models.parameters("hat", COLUMNS, CLASSES, options, torch.Generator().manual_seed(1), torch.float64)
        z, _ = models.on_graph("hat", options, edges, N, torch.float64)(x, w, lambda x: x, False)
        near = [[v] for v in range(N)]
        for u, v in edges.T.tolist():
            near[u].append(v)
            near[v].append(u)
        for layer in range(2):
            c, v = F.softplus(w[f"{layer}.curvature"]), (x @ w[f"{layer}.weight"]).view(N, heads, -1)
            length = v.norm(dim=2, keepdim=True)
            ball = torch.tanh(c.sqrt() * length) / c.sqrt() * v / length
            rows = []
            for i in range(N):
                y, own = ball[near[i]], ball[i]
                below = (1 - c * (y * y).sum(2)) * (1 - c * (own * own).sum(1))
                d = (1 + 2 * c * ((y - own) ** 2).sum(2) / below).acosh() / c.sqrt()
                shares = F.softmax(-(d**2).sum(1).sqrt(), dim=0)
                rows.append((shares[:, None, None] * v[near[i]]).sum(0).flatten())
            x = F.relu(torch.stack(rows) + w[f"{layer}.bias"])
        self.close(z, x @ w["decode.weight"] + w["decode.bias"], 1e-6)

    def test_ego_graphs(self):
        # A path of four nodes and one alone.
        edges = torch.tensor([[0, 1, 2], [1, 2, 3]])
        nodes, centres, inside = models.ego_graphs(edges, 5, 1, torch.float64)
        self.assertEqual(nodes.tolist(), [0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4])
        self.assertEqual(centres.tolist(), [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4])
        dense = inside.to_dense()
        self.close(dense[:2, :2], 0.5)
        a = torch.tensor([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=torch.float64)
        root = a.sum(0).rsqrt()
        self.close(dense[2:5, 2:5], root[:, None] * a * root)
        self.assertEqual(float(dense[10, 10]), 1.0)
        self.assertEqual(float(dense[:2, 2:].abs().sum()), 0.0)

    def test_distances_of_experts(self):
        x, y = normal(8, 4, 0.2, 1), normal(8, 4, 0.2, 2)
        one = torch.zeros(1, 1, dtype=torch.float64) + torch.expm1(torch.ones(1, 1, dtype=torch.float64)).log()
        chord = ((x - y) ** 2).sum(1, keepdim=True)
        for sign in (-1, 0, 1):
            xx, yy = ((v * v).sum(1, keepdim=True) for v in (x, y))
            q = chord / ((1 + sign * xx) * (1 + sign * yy))
            expected = {-1: 2 * q.sqrt().asinh(), 0: 2 * chord.sqrt(), 1: 2 * q.sqrt().asin()}[sign]
            self.close(Stereographic(sign, one).distance(x, y), expected)


if __name__ == "__main__":
    unittest.main()
