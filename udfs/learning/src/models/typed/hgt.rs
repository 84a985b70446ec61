//! Heterogeneous graph transformer (Hu, Dong, Wang and Sun 2020, Sec. 3).

use bonnet_graph::Reservation;
use candle_core::Tensor;

use super::projected;
use crate::ground::{Axis, BuildError, Initial};
use crate::kernels::edge::MAX_HEADS;
use crate::kernels::elementwise::Activation;
use crate::models::spec::{Reach, TYPED};
use crate::models::{ModelSpec, Problem};
use crate::network::{Kinds, StackedSources};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::expressions::expression::{Expression, Precision, Rowwise};
use crate::program::{Builder, Program, Slot};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "hgt",
    family: TYPED,
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name(), Task::NodeRegression.name()],
    source: "Hu, Dong, Wang and Sun 2020, Heterogeneous graph transformer",
    defaults: Defaults { lr: 0.005, weight_decay: 1e-3, hidden: 8, layers: 3, dropout: 0.2, ..COMMON },
    own: &[
        OptionSpec::integer("heads", 8, [1, MAX_HEADS as i64], "attention heads, concatenated"),
        OptionSpec::real(
            "attention_dropout",
            0.0,
            [0.0, 1.0],
            "probability that an attention coefficient is dropped in training",
        ),
    ],
    reach: ATTENTION_LAYERS,
    build,
};

/// An edge an attention layer: all layers but the last.
const ATTENTION_LAYERS: Option<Reach> = Some(|options| Ok(options.layers - 1));

/// The features are projected, `h = relu(X W_t + b_t)`. Then `layers - 1` times, with the types s of a source and t of a
/// target and heads of `d` columns: queries `q = h Q_t`, keys and values `k = h K_s`, `v = h V_s`, each with a bias; the score of
/// an edge of relation r is `<k W_r, q> mu_r / sqrt(d)`, its softmax runs over all edges into a node, whatever their relation,
/// the message is `v U_r`; `a = gelu(sum) A_t + c_t`, and `h <- g_t a + (1 - g_t) h` with `g_t = sigmoid` of a number a type, 1
/// at first. The last layer is linear, one for all types.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, relations) = (problem.options, problem.relations());
    let (heads, attention_p) = (options.integer("heads")? as usize, options.real("attention_dropout")?);
    let (kinds, axis) = (relations.kinds(), Axis::padded(heads, options.hidden));
    let stack = StackedSources::new(&relations, reservation)?;
    let mut b = Builder::new(problem, reservation);
    let h = projected(&mut b, &relations, axis, options.dropout);
    let mut h = b.relu(h);
    for layer in 0..options.layers - 1 {
        let [query, key, value] =
            ["query", "key", "value"].map(|part| affine(&mut b, h, kinds, &format!("{layer}.{part}"), axis));
        let factors = Some(format!("{layer}.prior"));
        let key = b.relation_linear(key, &stack, heads, |r| format!("{layer}.attention.{r}.weight"), factors);
        let value = b.relation_linear(value, &stack, heads, |r| format!("{layer}.message.{r}.weight"), None);
        let message = b.dot_attention(&stack.edges, [query, key, value], heads, attention_p)?;
        let space = b.nodes();
        let message = b.push(Expression::with(Gelu, Precision::Single), &[message], &[], space.clone(), axis);
        let message = b.dropout(message, options.dropout);
        let message = affine(&mut b, message, kinds, &format!("{layer}.output"), axis);
        let zero = b.constant(space, Axis::padded(1, 1), |_| {})?;
        let skip = b.kind_bias(zero, kinds, format!("{layer}.skip"), Initial::Constant(1.0));
        let gate = b.activation(skip, Activation::Sigmoid);
        let change = b.sum(&[(message, 1.0), (h, -1.0)]);
        let change = b.mix_rows(&[change], gate);
        h = b.sum(&[(h, 1.0), (change, 1.0)]);
    }
    b.embedding(h);
    let z = b.affine(h, "output", problem.n_outputs);
    Ok(b.finish(z)?)
}

/// `x W_t + b_t` with the weights and the bias of each node's type.
fn affine(b: &mut Builder<'_, '_>, x: Slot, kinds: &Kinds, name: &str, columns: Axis) -> Slot {
    let initial = Initial::glorot(b.axis(x).len(), columns.len());
    let z = b.kind_linear(x, kinds, |kind| format!("{name}.{kind}.weight"), columns, &initial);
    b.kind_bias(z, kinds, format!("{name}.bias"), Initial::Zeros)
}

/// `x Phi(x)` with the standard normal distribution Phi (Hendrycks and Gimpel 2016).
#[derive(Debug)]
struct Gelu;

impl Rowwise for Gelu {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> candle_core::Result<Tensor> {
        x[0].gelu_erf()
    }
}
