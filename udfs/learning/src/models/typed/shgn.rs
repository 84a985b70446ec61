//! Simple heterogeneous graph network (Lv et al. 2021, Sec. 5).

use bonnet_graph::Reservation;
use candle_core::Tensor;

use super::{entries, projected};
use crate::ground::{Axis, BuildError, Initial};
use crate::kernels::attention::MAX_HEADS;
use crate::kernels::elementwise::Activation;
use crate::models::spec::{TYPED, reach};
use crate::models::{ModelSpec, Problem};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::edges::scored_sum::PairScore;
use crate::program::layers::edges::terms::EntryTerms;
use crate::program::layers::expressions::expression::Rowwise;
use crate::program::{Builder, Program};

/// The registration: the defaults of the authors' program, whose three layers are hidden ones. It stops after 30 epochs without
/// improvement (`patience`), and takes no gradient of the coefficients of the layer before, which is taken here.
pub const SPEC: ModelSpec = ModelSpec {
    name: "shgn",
    family: TYPED,
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name()],
    source: "Lv, Ding, Liu, Chen, Feng, He, Zhou, Jiang, Dong and Tang 2021, Are we really making much progress? Revisiting, \
             benchmarking, and refining heterogeneous graph neural networks",
    defaults: Defaults { epochs: 300, lr: 5e-4, weight_decay: 1e-4, layers: 4, ..COMMON },
    own: &[
        OptionSpec::integer("heads", 8, [1, MAX_HEADS as i64], "attention heads of the hidden layers, concatenated"),
        OptionSpec::integer("output_heads", 1, [1, MAX_HEADS as i64], "attention heads of the last layer, averaged"),
        OptionSpec::real(
            "attention_dropout",
            0.5,
            [0.0, 1.0],
            "probability that an attention coefficient is dropped in training",
        ),
        OptionSpec::real("negative_slope", 0.05, [0.0, 1.0], "slope of the leaky rectifier of the scores below 0"),
        OptionSpec::real(
            "beta",
            0.05,
            [0.0, 1.0],
            "share of the coefficients of the layer before in those of a hidden layer",
        ),
        OptionSpec::integer(
            "edge_width",
            64,
            [1, 4096],
            "width of the vector of a relation, and of a head's view of it",
        ),
    ],
    reach: reach::A_LAYER,
    build,
};

/// The features are projected, `H_0 = X W_t + b_t`. A layer has `z = dropout(H) W` and scores `leaky(<a, z_j> + <c, z_i> + <e, r_k
/// V>)` head by head, with a learnt vector `r_k` for each relation and each inverse, and for the loops; their softmax runs over
/// all edges into a node and its loop. Hidden layers: `alpha_l = (1 - beta) softmax + beta alpha_{l-1}`, the first without
/// the second term; `H <- elu(heads side by side of sum_j alpha_ij z_j + H)`, the first without `+ H`, which has another
/// width. The last layer averages its heads, has no attention of the layer before, `dropout(H) U` for `H` and no elu; each of its
/// rows is divided by its norm, and these are the outputs. Weights start as Glorot and Bengio's.
///
/// Coefficients of the layers before are those of their own rows: a layer adds up its messages once for each.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, relations) = (problem.options, problem.relations());
    let (heads, output_heads) = (options.integer("heads")? as usize, options.integer("output_heads")? as usize);
    let (slope, attention_p) = (options.real("negative_slope")? as f32, options.real("attention_dropout")?);
    let (beta, edge_width) = (options.real("beta")?, options.integer("edge_width")? as usize);
    let n_kinds = relations.list().len() + 1;
    let (edges, kinds) = entries::of_relations(&relations, true, reservation)?;
    let terms = EntryTerms::of_kinds(kinds, n_kinds);
    let mut b = Builder::new(problem, reservation);
    let mut h = projected(&mut b, &relations, Axis::padded(1, options.hidden), 0.0);
    let mut before: Vec<PairScore> = Vec::new();
    for l in 0..options.layers {
        let last = l + 1 == options.layers;
        let (heads, width) = if last { (output_heads, problem.n_outputs) } else { (heads, options.hidden) };
        let columns = Axis::padded(heads, width);
        let x = b.dropout(h, options.dropout);
        let weights = Initial::glorot(b.axis(x).len(), columns.len());
        let weights = b.parameter(format!("{l}.weight"), b.axis(x), columns, weights);
        let z = b.linear_with(x, weights);
        // Of each relation a number a head.
        let views = Axis::padded(heads, edge_width);
        let vectors = Initial::glorot(n_kinds, edge_width);
        let vectors = b.table(format!("{l}.edge.embedding"), n_kinds, Axis::padded(1, edge_width), vectors)?;
        let weights = Initial::glorot(edge_width, views.len());
        let weights = b.parameter(format!("{l}.edge.weight"), b.axis(vectors), views, weights);
        let seen = b.linear_with(vectors, weights);
        let attention = Initial::glorot(heads, edge_width);
        let attention = b.parameter(format!("{l}.edge.attention"), Axis::exact(1), views, attention);
        let table = b.rows(HeadProducts { heads }, &[seen], &[attention], heads);
        let mask = b.attention_mask(l, attention_p);
        let score = b.pair_score(&edges, z, &l.to_string(), (heads, slope), (terms.clone(), table), mask);
        if last {
            let m = b.scored_sum(&score, z)?;
            let weights = Initial::glorot(b.axis(x).len(), columns.len());
            let weights = b.parameter(format!("{l}.residual.weight"), b.axis(x), columns, weights);
            let r = b.linear_with(x, weights);
            let mut z = b.sum(&[(m, 1.0), (r, 1.0)]);
            if output_heads > 1 {
                z = b.mean_heads(z, output_heads, problem.n_outputs);
            }
            let z = b.unit_rows(z);
            return Ok(b.finish(z)?);
        }
        before.push(score);
        let mut sums = Vec::new();
        for (k, score) in before.iter().enumerate() {
            let own = if k == 0 { 1.0 } else { 1.0 - beta };
            let share = own * beta.powi((l - k) as i32);
            if share > 0.0 {
                sums.push((b.scored_sum(score, z)?, share));
            }
        }
        if l > 0 {
            sums.push((h, 1.0));
        }
        let m = b.sum(&sums);
        h = b.activation(m, Activation::Elu);
        b.embedding(h);
    }
    Ok(b.finish(h)?)
}

/// The scalar product of each head's columns with those of the parameter.
#[derive(Debug)]
struct HeadProducts {
    heads: usize,
}

impl Rowwise for HeadProducts {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> candle_core::Result<Tensor> {
        let (rows, columns) = x[0].dims2()?;
        x[0].broadcast_mul(&w[0])?.reshape((rows, self.heads, columns / self.heads))?.sum(2)
    }
}
