//! Graph gluing for graph foundation models (Sun et al. 2026, GraphGlue).

use candle_core::{D, DType, Device, Result, Tensor};

use super::neighbors::most_similar;
use super::objectives::{tangent_contrast, tangent_squares, volume_smoothness};
use super::sampled::{Draw, Sampled, across};
use super::{
    ADAPT, ALIGNMENT, DIM, Domain, FOUNDATION, Foundation, Place, REDUCED_ON, Shape, View, Weights, build, encoder,
    temperature,
};
use crate::ground::random::{Stream, key};
use crate::ground::{Axis, Initial, Layout, OptionError};
use crate::kernels::Activation;
use crate::models::ModelSpec;
use crate::ops::{Pattern, activate};
use crate::options::{Defaults, OptionSpec, Task};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "graphglue",
    family: FOUNDATION,
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name()],
    source: "Sun et al. 2026, Multi-domain transferable graph gluing for building graph foundation models; settings: \
             its program and that of arXiv 2606.06397",
    defaults: Defaults { epochs: 200, lr: 1e-3, ..PRETRAINING },
    own: &[
        OptionSpec::integer(DIM.name, 128, [1, 4096], DIM.description).integer_column(),
        ALIGNMENT,
        ADAPT,
        REDUCED_ON,
        temperature(1.0),
        GENERATORS,
        NEAREST,
        OptionSpec::integer(
            "batch",
            512,
            [2, 65_536],
            "nodes of a step of pre-training, as many of each source where it has them",
        ),
        OptionSpec::integer(
            "sample",
            10,
            [1, 10_000],
            "neighbours of a node that are drawn in a step of pre-training, over two edges from the nodes of the step",
        ),
        OptionSpec::real(
            "gluing",
            0.1,
            [0.0, f64::INFINITY],
            "the weight in pre-training of the smoothness of volumes along paths, within sources and across them",
        ),
        OptionSpec::real(
            "transfer",
            1.0,
            [0.0, f64::INFINITY],
            "the weight of the same smoothness in an adaptation with prompts, along paths from one source's prototype \
             to another's through a training node",
        ),
    ],
    reach: None,
    build,
};

/// How many generators a graph is read with.
pub(super) const GENERATORS: OptionSpec = OptionSpec::integer(
    "generators",
    32,
    [1, 128],
    "learned nodes whose distances from a node are its local metric. A job that loads an encoder has that of its pre-training",
)
.integer_column();

/// How many nodes a generator is joined to.
pub(super) const NEAREST: OptionSpec = OptionSpec::integer(
    "nearest",
    5,
    [1, 1000],
    "the nodes of a graph that a generator is joined to, and those of other sources that a node is joined to for paths across them. A \
     job that loads an encoder has that of its pre-training",
)
.integer_column();

/// The setting of CurvBench's program.
const PRETRAINING: Defaults =
    Defaults { epochs: 5, lr: 3e-4, weight_decay: 0.0, optimizer: "adam", hidden: 512, layers: 2, dropout: 0.1 };

/// Over how many edges rows are pooled, and neighbours drawn.
const HOPS: usize = 2;

/// Epochs without the contrast of prototypes.
const WARMUP: u32 = 1;

/// What a prototype keeps of itself in a step.
const KEPT: f64 = 0.99;

/// Separate the draws from other uses of the seed.
const NODES: u64 = 61;
const PATHS: u64 = 62;
const START: u64 = 63;

/// Every node has a local metric, and the metrics of all sources are glued to one manifold. M generators, nodes with
/// learned features `g_m`, are each joined to the nodes of a graph that are most similar to it, by edges of weight
/// `sigmoid(<W g_m + b, W x_v + b>)`. The encoder runs on both: `h_m` is a generator's row, and `z_v` the mean of the
/// rows of the nodes around v, over closed neighbourhoods, twice. The tangents of v are `u_vm = h_m - z_v`, made
/// orthogonal with their lengths kept, so that its metric is `G_v = diag(|u_vm|^2)`.
///
/// A step reads as many nodes of each source and neighbours that are drawn for them, with one set of generators on the
/// sample. Its loss is the sum of
/// - a contrast of `z_v` with itself moved along each of its tangents, against the other nodes of the step;
/// - `gluing` times the smoothness of volumes, `(l_u - 2 l_v + l_w)^2` with `l = ln det G / M`, along paths u - v - w:
///   of edges, each of whose middles is a node of the step, and across sources, over the `nearest` nodes of other
///   sources by scalar product;
/// - from the second epoch on, the cross-entropy of `<z_v, p_s> / temperature` with the source of v, `p_s` the source's
///   prototype.
///
/// With `b` nodes in a step, a sample of s nodes and e edges it takes O((e + s hidden) hidden + b^2 hidden + b M^3).
///
/// A source's prototype, the means of `z` and of `ln G` over its nodes, is a moving average over steps (0.99, the first
/// step's mean at first): a statistic, whose "gradient" is what a step takes from it.
///
/// Parallel transport between diagonal metrics is `P_uv = (G_u / G_v)^{1/2}`, diagonal, too, so that `P_vw P_uv = P_uw`
/// for whatever metrics: the authors' holonomy loss `|P_vw P_uv - P_uw|^2` is 0 everywhere, and not computed. In the
/// same way the metric needs lengths of tangents alone; their frame is read by the contrast.
///
/// A target is one graph with its generators, all edges and no draws. Its prompt is a matrix Q, the identity at first,
/// which turns `z` and the tangents; a node's row is `[z_v Q | ln |u_vm Q|^2]`, hidden + M columns, and without prompts
/// the same of `Q = I`. A gate `w_v = softmax(z_v Q W + b)` over the sources' prototypes aligns volumes: `transfer`
/// times the expected smoothness along paths from a prototype to another through a training node, both drawn by the
/// gate. The generators see all nodes, so that a step of the adaptation is one on the whole graph, O((edges + n M)
/// hidden).
///
/// What the authors' program does otherwise. Its parts of the loss take steps of their own, one after the other, and
/// paths are drawn with replacement, their middles by degree. Each node has a copy of its subgraph and of the
/// generators; copies of a generator are joined to the nearest nodes of the whole batch, the same for all, less the
/// nearest one. Its layers have a normalisation and a perceptron each, and only the last one is read; here the encoder
/// is that of this family. Smoothness is of each direction by itself, not of the volume. At the target Q turns the
/// orthogonal frame, which is the same for an orthogonal Q, nodes are joined to the three nearest prototypes, and a
/// mixture of prototypes stands in the row, which is not the frozen encoder's.
#[derive(Debug)]
pub(crate) struct Graphglue;

/// A prototype's blocks: the mean row, and the mean logarithm of the metric.
const PROTOTYPE: [&str; 2] = ["prototype.row", "prototype.metric"];

impl Foundation for Graphglue {
    fn pretraining(&self) -> Defaults {
        PRETRAINING
    }

    fn encoder(&self, shape: &Shape<'_>) -> std::result::Result<Layout, OptionError> {
        let (mut layout, dim, hidden) = (Layout::default(), shape.dim, shape.options.hidden);
        let generators = shape.options.integer(GENERATORS.name)? as usize;
        encoder::push(&mut layout, shape);
        let start = orthogonal(generators, dim, key(&[shape.options.seed, START]));
        let values = Initial::Values(start.into());
        layout.push("encoder.generators".into(), Axis::exact(generators), Axis::exact(dim), values);
        encoder::push_affine(&mut layout, "encoder.similarity", dim, hidden);
        for source in 0..shape.sources {
            for (name, width) in PROTOTYPE.into_iter().zip([hidden, generators]) {
                let name = format!("{name}.{source}");
                let block = layout.push(name, Axis::exact(1), Axis::exact(width), Initial::Zeros);
                layout.set_statistic(block);
            }
        }
        Ok(layout)
    }

    fn prompt(&self, shape: &Shape<'_>) -> Option<Layout> {
        let (mut layout, hidden) = (Layout::default(), shape.options.hidden);
        let identity = (0..hidden * hidden).map(|at| f64::from(u8::from(at / hidden == at % hidden)));
        let (rows, values) = (Axis::exact(hidden), Initial::Values(identity.collect()));
        layout.push("prompt.q".into(), rows, Axis::exact(hidden), values);
        let columns = Axis::exact(shape.sources);
        layout.push("prompt.gate.weight".into(), rows, columns, Initial::Zeros);
        layout.push("prompt.gate.bias".into(), Axis::exact(1), columns, Initial::Zeros);
        Some(layout)
    }

    /// As many as take about all nodes, were none drawn twice.
    fn steps(&self, shape: &Shape<'_>, sources: &[Domain]) -> Result<(usize, usize)> {
        let nodes: usize = sources.iter().map(|source| source.graph.n_nodes()).sum();
        Ok((nodes.div_ceil(shape.integer("batch")?).max(1), 1))
    }

    fn loss(&self, shape: &Shape<'_>, weights: &Weights, sources: &[Domain], place: Place) -> Result<Option<Tensor>> {
        let sampled = Sampled::new(sources, draw(shape, sources.len(), place)?)?;
        if sampled.centers.len() < 2 {
            return Ok(None);
        }
        let (rows, ends) = rows(shape, weights, &sampled.view, Some(place.key(0, 0)))?;
        let z = rows.index_select(&index(&sampled.centers)?, 0)?;
        let mut loss = tangent_contrast(&z, &ends, shape.real("temperature")?)?;
        let gluing = shape.real("gluing")?;
        if gluing > 0.0 {
            let volumes = log_metric(&rows, &ends)?.mean(1)?;
            let nearest = shape.integer(NEAREST.name)?;
            let mut paths = across(&z, &sampled.sources, nearest, place.key(shape.options.seed, PATHS))?;
            paths.iter_mut().flatten().for_each(|at| *at = sampled.centers[*at as usize]);
            for paths in [&sampled.paths, &paths] {
                if let Some(bend) = volume_smoothness(&volumes, paths)? {
                    loss = (loss + (bend * gluing)?)?;
                }
            }
        }
        if place.epoch > WARMUP {
            loss = (loss + of_prototypes(shape, weights, &z, &sampled.sources)?)?;
        }
        let is_first = (place.epoch, place.step) == (1, 0);
        moved_prototypes(loss, weights, (&z.detach(), &ends.detach()), &sampled.sources, is_first).map(Some)
    }

    /// As if all nodes were drawn.
    fn bytes(&self, shape: &Shape<'_>, sources: &[Domain]) -> usize {
        let n: usize = sources.iter().map(|source| source.graph.n_nodes()).sum();
        let entries: usize = sources.iter().map(|source| 2 * source.graph.n_edges() + source.graph.n_nodes()).sum();
        let option = |name: &str| shape.options.integer(name).unwrap_or(1).max(1) as usize;
        let (generators, batch) = (option(GENERATORS.name), option("batch").min(n));
        let of_rows = encoder::bytes(shape, n + generators) + 4 * n * (6 * shape.options.hidden + 12 * generators);
        of_rows + 32 * entries + 4 * batch * (6 * batch + generators.pow(3) + 12 * shape.options.hidden)
    }

    fn embed(
        &self,
        shape: &Shape<'_>,
        weights: &Weights,
        target: &View,
        prompted: bool,
        pass: Option<u64>,
    ) -> Result<Tensor> {
        let (mut z, mut ends) = rows(shape, weights, target, pass)?;
        if prompted {
            let q = weights.get("prompt.q")?;
            (z, ends) = (z.matmul(q)?, ends.matmul(q)?);
        }
        Tensor::cat(&[&z, &log_metric(&z, &ends)?], 1)
    }

    fn width(&self, shape: &Shape<'_>) -> usize {
        shape.options.hidden + shape.options.integer(GENERATORS.name).unwrap_or(0) as usize
    }

    /// `transfer` times the mean over the rows of `E (l_s - 2 l_v + l_t)^2` with the prototypes s and t drawn by the
    /// gate of v, each by itself: with `d_s = l_s - l_v` that is `2 E d^2 + 2 (E d)^2`. An encoder that was not trained
    /// has no prototypes, and no such loss.
    fn penalty(&self, shape: &Shape<'_>, weights: &Weights, _target: &View, rows: &Tensor) -> Result<Option<Tensor>> {
        let (hidden, weight) = (shape.options.hidden, shape.real("transfer")?);
        let metrics = prototypes(weights, PROTOTYPE[1], shape.sources)?;
        let is_trained = metrics.abs()?.sum_all()?.to_dtype(DType::F64)?.to_scalar::<f64>()? > 0.0;
        if weight == 0.0 || !is_trained {
            return Ok(None);
        }
        let z = rows.narrow(1, 0, hidden)?.contiguous()?;
        let volumes = rows.narrow(1, hidden, rows.dim(1)? - hidden)?.mean_keepdim(1)?;
        let gate = encoder::affine(weights, "prompt.gate", &z)?;
        let shares = gate.broadcast_sub(&gate.log_sum_exp(D::Minus1)?.unsqueeze(1)?)?.exp()?;
        let gaps = metrics.mean(1)?.unsqueeze(0)?.broadcast_sub(&volumes)?;
        let (mean, square) = ((&shares * &gaps)?.sum(1)?, (&shares * gaps.sqr()?)?.sum(1)?);
        Ok(Some(((square + mean.sqr()?)?.mean_all()? * (2.0 * weight))?))
    }

    fn reach(&self, _shape: &Shape<'_>) -> Option<usize> {
        None
    }
}

/// What a step draws.
pub(crate) fn draw(shape: &Shape<'_>, sources: usize, place: Place) -> Result<Draw> {
    Ok(Draw {
        nodes: (shape.integer("batch")? / sources.max(1)).max(1),
        neighbors: shape.integer("sample")?,
        hops: HOPS,
        key: place.key(shape.options.seed, NODES),
    })
}

/// The pooled rows of the nodes of a graph, and the rows of the generators on it.
fn rows(shape: &Shape<'_>, weights: &Weights, view: &View, pass: Option<u64>) -> Result<(Tensor, Tensor)> {
    let (x, pattern) = (&view.features, &view.propagation.pattern);
    let generators = weights.get("encoder.generators")?;
    let (n, count) = (x.dim(0)?, generators.dim(0)?);
    let ones = |rows: usize| Tensor::ones((rows, 1), x.dtype(), x.device());
    let entries = ones(pattern.n_entries())?;
    let (joined, strength) = join(weights, x, shape.integer(NEAREST.name)?)?;
    // D^-1/2 (A + I) D^-1/2 of the graph with its generators.
    let sizes = pattern.total(&entries)?;
    let root = |degrees: Tensor| degrees.sqrt()?.recip();
    let of_nodes = root((&sizes + joined.transposed_sum(&strength, &ones(count)?)?)?)?;
    let of_generators = root((joined.total(&strength)? + 1.0)?)?;
    let carry = |h: &Tensor| {
        let nodes = h.narrow(0, 0, n)?.broadcast_mul(&of_nodes)?;
        let ends = h.narrow(0, n, count)?.broadcast_mul(&of_generators)?;
        let to_nodes = (pattern.sum(&entries, &nodes)? + joined.transposed_sum(&strength, &ends)?)?;
        let to_ends = (joined.sum(&strength, &nodes)? + ends)?;
        Tensor::cat(&[to_nodes.broadcast_mul(&of_nodes)?, to_ends.broadcast_mul(&of_generators)?], 0)
    };
    let h = encoder::encode(shape, weights, &Tensor::cat(&[x, generators], 0)?, carry, None, pass)?;
    let (mut z, ends) = (h.narrow(0, 0, n)?, h.narrow(0, n, count)?);
    let share = sizes.recip()?;
    for _ in 0..HOPS {
        z = pattern.sum(&entries, &z)?.broadcast_mul(&share)?;
    }
    Ok((z, ends))
}

/// The edges from generators to the nodes that each is most similar to, generators x nodes, and their weights.
fn join(weights: &Weights, x: &Tensor, nearest: usize) -> Result<(std::sync::Arc<Pattern>, Tensor)> {
    let generators = weights.get("encoder.generators")?;
    let (weight, bias) = (weights.get("encoder.similarity.weight")?, weights.get("encoder.similarity.bias")?);
    let keys = encoder::affine(weights, "encoder.similarity", generators)?.t()?;
    // (x W + b) keys, without the wide x W.
    let scores = x.matmul(&weight.matmul(&keys)?)?.broadcast_add(&bias.matmul(&keys)?)?;
    let (n, count) = scores.dims2()?;
    let of_generators = scores.detach().to_dtype(DType::F64)?.t()?.flatten_all()?.to_vec1::<f64>()?;
    let (mut offsets, mut columns, mut places) = (vec![0], Vec::new(), Vec::new());
    for (m, scores) in of_generators.chunks_exact(n.max(1)).enumerate() {
        let mut found = most_similar(scores, |_| true, nearest);
        found.sort_unstable();
        places.extend(found.iter().map(|&node| node * count as u32 + m as u32));
        columns.extend(found);
        offsets.push(columns.len());
    }
    let pattern = Pattern::new(&offsets, &columns, n, &Device::Cpu)?;
    let chosen = scores.flatten_all()?.index_select(&index(&places)?, 0)?.unsqueeze(1)?;
    Ok((pattern, activate(&chosen, Activation::Sigmoid)?))
}

/// `ln G`, the diagonal: rows x generators.
fn log_metric(z: &Tensor, ends: &Tensor) -> Result<Tensor> {
    tangent_squares(z, ends)?.log()
}

/// The prototypes of the sources: a row each, no leaf of the gradient.
fn prototypes(weights: &Weights, name: &str, sources: usize) -> Result<Tensor> {
    let rows = (0..sources).map(|source| Ok(weights.numbered(name, source)?.detach())).collect::<Result<Vec<_>>>()?;
    Tensor::cat(&rows, 0)
}

/// The cross-entropy of the rows' scalar products with the prototypes.
fn of_prototypes(shape: &Shape<'_>, weights: &Weights, z: &Tensor, sources: &[usize]) -> Result<Tensor> {
    let prototypes = prototypes(weights, PROTOTYPE[0], shape.sources)?;
    let logits = (z.matmul(&prototypes.t()?)? / shape.real("temperature")?)?;
    let own: Vec<u32> = sources.iter().zip(0..).map(|(&s, row)| row * shape.sources as u32 + s as u32).collect();
    let own = logits.flatten_all()?.index_select(&index(&own)?, 0)?;
    (logits.log_sum_exp(D::Minus1)? - own)?.mean_all()
}

/// A loss with terms of value 0 whose gradient is what a step takes from the prototypes of the sources: a share of
/// their distance from the means of a step's rows, of which each has a source; all of it in the first step.
fn moved_prototypes(
    mut loss: Tensor,
    weights: &Weights,
    (z, ends): (&Tensor, &Tensor),
    sources: &[usize],
    is_first: bool,
) -> Result<Tensor> {
    let rate = if is_first { 1.0 } else { 1.0 - KEPT };
    for run in sources.chunk_by(|a, b| a == b) {
        let first = sources.partition_point(|source| source < &run[0]);
        let rows = z.narrow(0, first, run.len())?;
        let means = [rows.mean_keepdim(0)?, log_metric(&rows, ends)?.mean_keepdim(0)?];
        for (name, mean) in PROTOTYPE.into_iter().zip(means) {
            let half = ((weights.numbered(name, run[0])? - mean)?.sqr()?.sum_all()? * (rate / 2.0))?;
            loss = (loss + (&half - half.detach())?)?;
        }
    }
    Ok(loss)
}

/// Numbers of rows.
fn index(numbers: &[u32]) -> Result<Tensor> {
    Tensor::from_slice(numbers, numbers.len(), &Device::Cpu)
}

/// A matrix whose rows are orthonormal, its columns where it has more rows than columns: of normal numbers by Gram and
/// Schmidt.
fn orthogonal(rows: usize, columns: usize, draw: u64) -> Vec<f64> {
    let (count, width) = (rows.min(columns), rows.max(columns));
    let mut stream = Stream::new(draw);
    let mut frame: Vec<Vec<f64>> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut row: Vec<f64> = (0..width).map(|_| stream.normal()).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // Once more, for what rounding leaves.
        for other in frame.iter().chain(&frame) {
            let along = dot(&row, other);
            row.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
        }
        let length = dot(&row, &row).sqrt();
        row.iter_mut().for_each(|x| *x /= length);
        frame.push(row);
    }
    let entry = |at: usize| match (at / columns, at % columns) {
        (row, column) if rows <= columns => frame[row][column],
        (row, column) => frame[column][row],
    };
    (0..rows * columns).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_side_is_orthonormal() {
        for (rows, columns) in [(3, 5), (5, 3), (4, 4), (1, 1)] {
            let values = orthogonal(rows, columns, 7);
            let at = |side: usize, i: usize| if rows <= columns { side * columns + i } else { i * columns + side };
            for a in 0..rows.min(columns) {
                for b in 0..rows.min(columns) {
                    let dot: f64 = (0..rows.max(columns)).map(|i| values[at(a, i)] * values[at(b, i)]).sum();
                    assert!((dot - f64::from(u8::from(a == b))).abs() < 1e-12, "{rows} x {columns}: {a}, {b}");
                }
            }
        }
    }
}
