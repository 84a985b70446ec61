//! Graph coordinators for pre-training (Zhao et al. 2024, GCOPE).

use std::collections::BTreeMap;

use candle_core::{Device, Result, Tensor};

use super::objectives::info_nce;
use super::{
    ADAPT_WITHOUT_PROMPTS, ALIGNMENT, DIM, Domain, FOUNDATION, Foundation, Place, Propagation, REDUCED_ON, Shape, View,
    Weights, build, encoder, temperature,
};
use crate::ground::random::{Stream, key};
use crate::ground::{Axis, Initial, Layout, OptionError};
use crate::models::ModelSpec;
use crate::options::{Defaults, OptionSpec, Task};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "gcope",
    family: FOUNDATION,
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name()],
    source: "Zhao et al. 2024, All in one and one for all: a simple yet effective method towards cross-domain graph \
             pretraining; settings: its program and that of arXiv 2606.06397",
    defaults: Defaults { epochs: 100, lr: 5e-3, ..PRETRAINING },
    own: &[
        OptionSpec::integer(DIM.name, 100, [1, 4096], DIM.description).integer_column(),
        ALIGNMENT,
        ADAPT_WITHOUT_PROMPTS,
        REDUCED_ON,
        temperature(0.5),
        OptionSpec::integer("batch", 10, [2, 4096], "subgraphs of a step of pre-training"),
        OptionSpec::integer("walk", 30, [1, 1000], "steps of the random walk whose nodes are a subgraph"),
        OptionSpec::real(
            "walks",
            0.1,
            [1e-6, 1.0_f64.next_up()],
            "walks of an epoch, as a share of the nodes of all sources and their coordinators",
        ),
        OptionSpec::real(
            "reconstruction",
            0.2,
            [0.0, f64::INFINITY],
            "the weight of the squared error with which a decoder gives back the features of a subgraph's nodes from their rows",
        ),
    ],
    reach: None,
    build,
};

/// The setting of CurvBench's program.
const PRETRAINING: Defaults =
    Defaults { epochs: 1, lr: 1e-4, weight_decay: 1e-5, optimizer: "adam", hidden: 128, layers: 2, dropout: 0.2 };

/// Separate the draws from other uses of the seed.
const COORDINATORS: u64 = 42;
const WALKS: u64 = 43;
const VIEWS: u64 = 44;

/// A coordinator for each source: a node with learned features, joined to every node of the source and to the other coordinators, so
/// that all sources are one graph. Each epoch takes subgraphs of it, the nodes of random walks from a share of its nodes with the edges
/// among them, in steps of `batch`. Two views of each subgraph, made by two of three changes that are drawn for the step (a share of
/// 0.1, 0.2 or 0.3 of the nodes dropped, of the edges dropped, or of the rows put to their mean), are encoded, averaged over the nodes
/// and projected by a perceptron of two layers: they agree by InfoNCE (GraphCL), and a decoder gives back the features of the nodes.
///
/// A target has no coordinator: its nodes are rows of the encoder on its own graph. (The authors' program pools over subgraphs
/// around a node, and fills small ones with nodes of the same class, which is not done here: it tells the class of test nodes.)
#[derive(Debug)]
pub(crate) struct Gcope;

impl Foundation for Gcope {
    fn pretraining(&self) -> Defaults {
        PRETRAINING
    }

    fn encoder(&self, shape: &Shape<'_>) -> std::result::Result<Layout, OptionError> {
        let (mut layout, hidden) = (Layout::default(), shape.options.hidden);
        encoder::push(&mut layout, shape);
        for name in ["projection.0", "projection.1", "decoder.0"] {
            encoder::push_affine(&mut layout, name, hidden, hidden);
        }
        encoder::push_affine(&mut layout, "decoder.1", hidden, shape.dim);
        for source in 0..shape.sources {
            let mut stream = Stream::new(key(&[shape.options.seed, COORDINATORS, source as u64]));
            let values: Vec<f64> = (0..shape.dim).map(|_| stream.normal()).collect();
            let (rows, columns) = (Axis::exact(1), Axis::exact(shape.dim));
            layout.push(format!("coordinator.{source}"), rows, columns, Initial::Values(values.into()));
        }
        Ok(layout)
    }

    fn prompt(&self, _shape: &Shape<'_>) -> Option<Layout> {
        None
    }

    fn steps(&self, shape: &Shape<'_>, sources: &[Domain]) -> Result<(usize, usize)> {
        let joint = Joint::new(sources);
        Ok((joint.steps(shape)?, 1))
    }

    fn loss(&self, shape: &Shape<'_>, weights: &Weights, sources: &[Domain], place: Place) -> Result<Option<Tensor>> {
        let joint = Joint::new(sources);
        let subgraphs = joint.subgraphs(shape, place)?;
        let mut stream = Stream::new(place.key(shape.options.seed, VIEWS));
        let changes = [(); 2].map(|()| CHANGES[stream.below(CHANGES.len())]);
        let share = (1 + stream.below(3)) as f64 / 10.0;
        let views = changes
            .map(|change| joint.view(&subgraphs, change, share, &mut stream, weights))
            .into_iter()
            .collect::<Result<Vec<_>>>()?;
        loss_of(shape, weights, &views, place.key(0, 0)).map(Some)
    }

    fn bytes(&self, shape: &Shape<'_>, _sources: &[Domain]) -> usize {
        let batch = shape.options.integer("batch").unwrap_or(1).max(1) as usize;
        let walk = shape.options.integer("walk").unwrap_or(1).max(1) as usize;
        4 * encoder::bytes(shape, 2 * batch * (walk + 1))
    }

    fn embed(
        &self,
        shape: &Shape<'_>,
        weights: &Weights,
        target: &View,
        _prompted: bool,
        pass: Option<u64>,
    ) -> Result<Tensor> {
        encoder::encode(shape, weights, &target.features, |h| target.propagation.product(h), None, pass)
    }

    fn reach(&self, shape: &Shape<'_>) -> Option<usize> {
        Some(shape.options.layers)
    }
}

/// The contrast of two views, and the errors of their reconstructions.
pub(crate) fn loss_of(shape: &Shape<'_>, weights: &Weights, views: &[Views], pass: u64) -> Result<Tensor> {
    let weight = shape.real("reconstruction")?;
    let (mut projected, mut errors) = (Vec::with_capacity(2), Vec::new());
    for (side, view) in views.iter().enumerate() {
        let pass = key(&[pass, side as u64]);
        let h = encoder::encode(shape, weights, &view.features, |h| view.propagation.product(h), None, Some(pass))?;
        projected.push(perceptron(weights, "projection", &view.pooling.product(&h)?)?);
        if weight > 0.0 {
            errors.push((perceptron(weights, "decoder", &h)? - &view.features)?.sqr()?.mean_all()?);
        }
    }
    let mut loss = info_nce(&projected[0], &projected[1], shape.real("temperature")?)?;
    for error in errors {
        loss = (loss + (error * weight)?)?;
    }
    Ok(loss)
}

/// `relu(x W_0 + b_0) W_1 + b_1`.
fn perceptron(weights: &Weights, name: &str, x: &Tensor) -> Result<Tensor> {
    let hidden = encoder::affine(weights, &format!("{name}.0"), x)?.relu()?;
    encoder::affine(weights, &format!("{name}.1"), &hidden)
}

/// How a view differs from its subgraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Nodes,
    Edges,
    Rows,
}

const CHANGES: [Change; 3] = [Change::Nodes, Change::Edges, Change::Rows];

/// Views of the subgraphs of a step, as one graph.
pub(crate) struct Views {
    /// Nodes x dim, of coordinators their parameters.
    pub features: Tensor,
    pub propagation: Propagation,
    /// Subgraphs x nodes: the mean over the nodes of each.
    pub pooling: Propagation,
}

/// The graph of all sources and their coordinators. The nodes of source `s` are numbered from `starts[s]` on; its coordinator is
/// `starts[sources] + s`.
pub(crate) struct Joint<'a> {
    sources: &'a [Domain],
    starts: Vec<u32>,
}

impl<'a> Joint<'a> {
    pub fn new(sources: &'a [Domain]) -> Self {
        let mut starts = vec![0];
        for source in sources {
            starts.push(starts[starts.len() - 1] + source.graph.n_nodes() as u32);
        }
        Self { sources, starts }
    }

    /// The number of nodes of the sources.
    fn n_nodes(&self) -> u32 {
        self.starts[self.sources.len()]
    }

    /// The source of a node, and its number there; none there for the coordinator.
    fn place(&self, node: u32) -> (usize, Option<u32>) {
        match node.checked_sub(self.n_nodes()) {
            Some(coordinator) => (coordinator as usize, None),
            None => {
                let source = self.starts.partition_point(|&start| start <= node) - 1;
                (source, Some(node - self.starts[source]))
            }
        }
    }

    /// A neighbour of a node, uniformly; every node has one, but for the coordinator of an only source without nodes.
    fn step(&self, node: u32, stream: &mut Stream) -> u32 {
        let (source, inner) = self.place(node);
        let (start, coordinator) = (self.starts[source], self.n_nodes() + source as u32);
        match inner {
            Some(inner) => {
                let neighbors = self.sources[source].graph.neighbors(inner);
                neighbors.get(stream.below(neighbors.len() + 1)).map_or(coordinator, |&neighbor| start + neighbor)
            }
            None => {
                let (own, others) = ((self.starts[source + 1] - start) as usize, self.sources.len() - 1);
                match stream.below((own + others).max(1)) {
                    at if at < own => start + at as u32,
                    at if others > 0 => {
                        let other = at - own;
                        self.n_nodes() + if other < source { other } else { other + 1 } as u32
                    }
                    _ => node,
                }
            }
        }
    }

    /// Whether two nodes are joined.
    pub fn has_edge(&self, a: u32, b: u32) -> bool {
        match (self.place(a), self.place(b)) {
            ((_, None), (_, None)) => a != b,
            ((s, Some(_)), (t, None)) | ((s, None), (t, Some(_))) => s == t,
            ((s, Some(u)), (t, Some(v))) => s == t && self.sources[s].graph.has_edge(u, v),
        }
    }

    /// The walks of an epoch.
    fn walks(&self, shape: &Shape<'_>) -> Result<usize> {
        let all = self.n_nodes() as usize + self.sources.len();
        Ok(((all as f64 * shape.real("walks")?) as usize).clamp(2.min(all), all))
    }

    /// The steps of an epoch: walks that do not fill another one are the last one's, too.
    fn steps(&self, shape: &Shape<'_>) -> Result<usize> {
        Ok((self.walks(shape)? / shape.integer("batch")?).max(1))
    }

    /// The subgraphs of a step: the nodes of each, ascending.
    pub fn subgraphs(&self, shape: &Shape<'_>, place: Place) -> Result<Vec<Vec<u32>>> {
        let (seed, epoch) = (shape.options.seed, u64::from(place.epoch));
        let (walks, steps, batch) = (self.walks(shape)?, self.steps(shape)?, shape.integer("batch")?);
        let mut starts: Vec<u32> = (0..self.n_nodes() + self.sources.len() as u32).collect();
        Stream::new(key(&[seed, WALKS, epoch])).shuffle(&mut starts);
        let end = if place.step + 1 == steps { walks } else { (place.step + 1) * batch };
        let walk = shape.integer("walk")?;
        let visited = |&start: &u32| {
            let mut stream = Stream::new(key(&[seed, WALKS, epoch, u64::from(start)]));
            let (mut node, mut nodes) = (start, vec![start]);
            for _ in 0..walk {
                node = self.step(node, &mut stream);
                nodes.push(node);
            }
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        };
        Ok(starts[place.step * batch..end].iter().map(visited).collect())
    }

    /// Views of subgraphs, each changed in a share of its nodes, edges or rows.
    pub fn view(
        &self,
        subgraphs: &[Vec<u32>],
        change: Change,
        share: f64,
        stream: &mut Stream,
        weights: &Weights,
    ) -> Result<Views> {
        let dim = self.sources.first().map_or(0, |source| source.rows.columns);
        let dtype = self.sources.first().map_or(candle_core::DType::F32, |source| source.view.features.dtype());
        let mut rows: Vec<Vec<u32>> = Vec::new();
        let (mut nodes, mut pooling) = (Vec::new(), Vec::new());
        let mut masked = Vec::new();
        for subgraph in subgraphs {
            let chosen = |n: usize, stream: &mut Stream| {
                let mut order: Vec<usize> = (0..n).collect();
                stream.shuffle(&mut order);
                let mut chosen = vec![false; n];
                order[..(n as f64 * share) as usize].iter().for_each(|&at| chosen[at] = true);
                chosen
            };
            let mut kept = subgraph.clone();
            if change == Change::Nodes {
                let drops = chosen(kept.len(), stream);
                let mut drops = drops.iter();
                kept.retain(|_| drops.next() == Some(&false));
            }
            let first = nodes.len() as u32;
            let mut edges = Vec::new();
            for (i, &a) in kept.iter().enumerate() {
                edges.extend((i + 1..kept.len()).filter(|&j| self.has_edge(a, kept[j])).map(|j| (i as u32, j as u32)));
            }
            if change == Change::Edges {
                let drops = chosen(edges.len(), stream);
                let mut drops = drops.iter();
                edges.retain(|_| drops.next() == Some(&false));
            }
            let mut neighbors: Vec<Vec<u32>> = (0..kept.len() as u32).map(|v| vec![first + v]).collect();
            for (u, v) in edges {
                neighbors[u as usize].push(first + v);
                neighbors[v as usize].push(first + u);
            }
            neighbors.iter_mut().for_each(|row| row.sort_unstable());
            rows.extend(neighbors);
            let range = first..first + kept.len() as u32;
            pooling.push(range.clone().map(|v| (v, 1.0 / kept.len().max(1) as f64)).collect::<Vec<_>>());
            if change == Change::Rows {
                let masks = chosen(kept.len(), stream);
                masked.extend(masks.iter().map(|&mask| mask.then(|| range.clone())));
            }
            nodes.extend(kept);
        }
        let n = nodes.len();
        let root = |v: u32| (rows[v as usize].len() as f64).sqrt().recip();
        let normalized = rows.iter().zip(0..).map(|(row, v)| row.iter().map(|&u| (u, root(u) * root(v))).collect());
        let propagation = Propagation::of_rows(normalized, n, dtype)?;
        let pooling = Propagation::of_rows(pooling.into_iter(), n, dtype)?;
        let mut features = self.features(&nodes, dim, weights)?;
        if change == Change::Rows {
            // A masked row is the mean of the rows of its subgraph, itself among them.
            let row = |(mask, v): (&Option<std::ops::Range<u32>>, u32)| match mask {
                None => vec![(v, 1.0)],
                Some(range) => range.clone().map(|u| (u, 1.0 / range.len() as f64)).collect(),
            };
            features = Propagation::of_rows(masked.iter().zip(0..).map(row), n, dtype)?.product(&features)?;
        }
        Ok(Views { features, propagation, pooling })
    }

    /// The features of some nodes: those of the sources, and the parameters of the coordinators.
    fn features(&self, nodes: &[u32], dim: usize, weights: &Weights) -> Result<Tensor> {
        let dtype = self.sources.first().map_or(candle_core::DType::F32, |source| source.view.features.dtype());
        let mut values = vec![0.0f32; nodes.len() * dim];
        let mut coordinators: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, &node) in nodes.iter().enumerate() {
            match self.place(node) {
                (source, None) => coordinators.entry(source).or_default().push(at),
                (source, Some(inner)) => {
                    values[at * dim..][..dim].copy_from_slice(self.sources[source].rows.row(inner as usize));
                }
            }
        }
        let mut features = Tensor::from_vec(values, (nodes.len(), dim), &Device::Cpu)?.to_dtype(dtype)?;
        for (source, places) in coordinators {
            let mut rows = vec![Vec::new(); nodes.len()];
            places.iter().for_each(|&at| rows[at] = vec![(0, 1.0)]);
            let spread = Propagation::of_rows(rows.into_iter(), 1, dtype)?;
            features = (features + spread.product(weights.numbered("coordinator", source)?)?)?;
        }
        Ok(features)
    }
}
