//! GOAT (Kong et al. 2023): attention to neighbours, and to all nodes by way of a codebook of centroids.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::balls::Balls;
use super::unified_gt::ATTENTION_DROPOUT;
use super::{ON_NODES_AND_LINKS, projected};
use crate::data::{Features, features};
use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::kernels::edge::MAX_HEADS;
use crate::models::spec::Reach;
use crate::models::tokens::affine;
use crate::models::{ModelSpec, Problem};
use crate::options::{COMMON, Defaults, ModelOptions, OptionSpec};
use crate::program::layers::edges::terms::EntryTerms;
use crate::program::layers::expressions::first_columns::FirstColumns;
use crate::program::{Builder, Program, Slot};

/// The registration: the settings of the authors' program, but for the width (256 there), the centroids (4,096 there, which a graph of
/// a few thousand nodes would leave alone), and the hops (3 there, over 20, 10 and 5 sampled neighbours: `batch_nodes => 1024,
/// fanout => [20, 10, 5]`). Types are not read.
pub const SPEC: ModelSpec = ModelSpec {
    name: "goat",
    family: "attention",
    geometry: "euclidean",
    tasks: ON_NODES_AND_LINKS,
    source: "Kong, Chen, Kirchenbauer, Ni, Bruss and Goldstein 2023, GOAT: a global transformer on large-scale graphs",
    defaults: Defaults { lr: 0.001, weight_decay: 0.0, ..COMMON },
    own: &[
        OptionSpec::integer(
            "hops",
            1,
            [1, 16],
            "the edges within which a node attends to others by themselves, itself among them",
        ),
        OptionSpec::integer(
            "centroids",
            64,
            [1, 65_536],
            "the centroids of a layer's codebook, to which every node attends: they stand for all nodes",
        ),
        OptionSpec::integer(
            "codebook_width",
            64,
            [1, 65_536],
            "the width of what centroids are means of, beside the positional encodings, which may be no wider",
        ),
        OptionSpec::real(
            "codebook_decay",
            0.99,
            [0.0, 1.0],
            "what is left of the centroids' sums after a step: a moving average",
        ),
        OptionSpec::integer("heads", 1, [1, MAX_HEADS as i64], "attention heads, concatenated"),
        ATTENTION_DROPOUT,
    ],
    reach: HOPS_A_LAYER,
    build,
};

/// So many edges an attention layer: all layers but the last.
const HOPS_A_LAYER: Option<Reach> =
    Some(|options: &ModelOptions<'_>| Ok((options.layers - 1) * options.integer("hops")? as usize));

/// `h = dropout(relu(norm(X W_t + b_t))) W + b`. A layer, of which there are `layers - 1`, is attention of two kinds, in heads of
/// `hidden` columns. To the nodes within `hops` edges: queries, keys and values affine in h, the score `<q_i, k_j> / sqrt(d) + b_t -
/// ln n_t`, with a learnt number for the distance t between both, 0 at first, and the number of nodes at that distance. To the
/// codebook: with `x = [h P + c | e]`, e the positional encodings of the run (`encodings`), the queries are affine in x, the keys in
/// the centroids of x, the values in their first `codebook_width` columns, the score is `<q_i, k_c> / sqrt(d) + ln m_c` with
/// the size m of the centroid. Both side by side are z, and `h <- dropout(relu(norm(dropout(relu(norm(z U + u))) V + v)))`. The
/// outputs are affine in h.
///
/// A step moves the centroids to the rows of its training nodes, see [`Builder::centroids`]. What is divided by in the scores of
/// the authors' program is the size at the last step of each node, here the moving average of the steps: a factor that all have
/// in common changes no coefficient. There distances between x and the centroids are of columns of unit variance, and the
/// first centroids are random.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, relations) = (problem.options, problem.relations());
    let count = |name: &str| options.integer(name).map(|count| count as usize);
    let (heads, hops, centroids) = (count("heads")?, count("hops")?, count("centroids")?);
    let (width, hidden, p) = (count("codebook_width")?, options.hidden, options.dropout);
    let (attention_p, decay) = (options.real("attention_dropout")?, options.real("codebook_decay")?);
    let encodings = options.encodings;
    if encodings > width {
        let valid = format!("at least {encodings}, the columns of the encodings");
        return Err(OptionError::invalid("codebook_width", width, &valid).into());
    }
    let balls = Balls::new(&problem.graph, hops, reservation)?;
    let terms = EntryTerms::of_kinds(Arc::clone(&balls.distances), hops + 1);
    let own = problem.features.n_columns() - encodings;
    // Encodings alone are features, too.
    let without = match encodings > 0 && own > 0 {
        true => {
            reservation.grow(problem.features.bytes())?;
            Problem { features: Arc::new(features::first_columns(&problem.features, own)), ..problem.clone() }
        }
        false => problem.clone(),
    };
    let mut b = Builder::new(&without, reservation);
    b.initial(|inputs, _| Initial::linear(inputs));
    let codes = match encodings {
        0 => None,
        _ => Some(codes(&mut b, &problem.features, own, width)?),
    };
    let (stream, in_heads, code) = (Axis::padded(1, hidden), Axis::padded(heads, hidden), Axis::padded(1, width));
    let linear = |b: &mut Builder<'_, '_>, x: Slot, name: &str, columns: Axis| {
        let initial = Initial::linear(b.axis(x).len());
        affine(b, x, name, columns, initial)
    };
    let rectified = |b: &mut Builder<'_, '_>, x: Slot, name: &str| {
        let z = b.layer_norm(x, name);
        let z = b.relu(z);
        b.dropout(z, p)
    };
    let h = projected(&mut b, &relations, stream, 0.0);
    let h = rectified(&mut b, h, "input.norm");
    let mut h = linear(&mut b, h, "stream", stream);
    for layer in 0..options.layers - 1 {
        let name = |part: &str| format!("{layer}.{part}");
        let near = ["query", "key", "value"].map(|part| linear(&mut b, h, &name(&format!("local.{part}")), in_heads));
        let table = b.table(name("local.distance"), hops + 1, Axis::padded(1, heads), Initial::Zeros)?;
        let of_entries = (Arc::clone(&balls.shares), terms.clone(), table);
        let local = b.termed_attention(&balls.operator, of_entries, near, heads, attention_p)?;
        let own = linear(&mut b, h, &name("code"), code);
        let x = match codes {
            Some(codes) => b.concat(&[own, codes]),
            None => own,
        };
        let (book, sizes) = b.centroids(x, &name("codebook"), centroids, decay)?;
        let query = linear(&mut b, x, &name("global.query"), in_heads);
        let key = linear(&mut b, book, &name("global.key"), in_heads);
        let first = match codes {
            Some(_) => b.rows(FirstColumns(width), &[book], &[], width),
            None => book,
        };
        let value = linear(&mut b, first, &name("global.value"), in_heads);
        let global = b.codebook_attention([query, key, value], sizes, heads, attention_p);
        let z = b.concat(&[local, global]);
        let z = linear(&mut b, z, &name("feed.0"), in_heads);
        let z = rectified(&mut b, z, &name("norm.0"));
        let z = linear(&mut b, z, &name("feed.1"), stream);
        h = rectified(&mut b, z, &name("norm.1"));
    }
    b.embedding(h);
    let z = b.affine(h, "output", problem.n_outputs);
    Ok(b.finish(z)?)
}

/// The positional encodings of the nodes, the columns of the features from `first` on, in a matrix of `width` columns.
fn codes(b: &mut Builder<'_, '_>, features: &Features, first: usize, width: usize) -> Result<Slot, Stopped> {
    let (space, axis) = (b.nodes(), Axis::padded(1, width));
    b.constant(space, axis, |values| {
        for (row, values) in values.chunks_exact_mut(axis.stride()).enumerate() {
            features::add_columns_from(features, row, first, values);
        }
    })
}
