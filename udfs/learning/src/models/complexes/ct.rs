//! Cellular transformer (Ballester, Hernandez-Garcia, Papillon, Battiloro, Miolane, Birdal, Casacuberta, Escalera and Hajij
//! 2024).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::COMPLEX_TASKS;
use crate::complexes::{ComplexBatch, LaplacianPart};
use crate::ground::{Axis, BuildError, OptionError};
use crate::models::spec::COMPLEXES;
use crate::models::{ModelSpec, Problem, complexes};
use crate::network::Operator;
use crate::options::table::{BATCH_OF_COMPLEXES, DIMENSION};
use crate::options::{OF_COMPLEXES, OptionSpec};
use crate::program::layers::pool::Pool;
use crate::program::{Builder, Program, Slot, Space};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "ct",
    family: COMPLEXES,
    geometry: "euclidean",
    tasks: COMPLEX_TASKS,
    source: "Ballester, Hernandez-Garcia, Papillon, Battiloro, Miolane, Birdal, Casacuberta, Escalera and Hajij 2024, \
             Attending to topological spaces: the cellular transformer",
    defaults: OF_COMPLEXES,
    own: &[
        BATCH_OF_COMPLEXES,
        DIMENSION,
        OptionSpec::integer("heads", 8, [1, 64], "attention heads, which share the hidden columns"),
        OptionSpec::integer(
            "codes",
            8,
            [0, 64],
            "eigenvectors of the Hodge Laplacian, of the smallest eigenvalues, as positional codes; with 0 outputs do not \
             depend on the order of the vertices",
        ),
    ],
    reach: None,
    build,
};

/// From simplices to simplices of one dimension or of the next: all pairs within a complex, with what is added to their scores.
struct Arrow {
    from: usize,
    to: usize,
    pairs: Arc<Operator>,
    bias: Arc<[f32]>,
}

/// `h_k <- norm(h_k + sum over j in {k - 1, k, k + 1} of softmax(Q K^T / sqrt(d) + M) V)`, then `h_k <- norm(h_k + W_2 relu(W_1
/// h_k))` of twice the width, with M the adjacency of vertices, that of simplices with a common face, or the absolute boundary
/// matrix; the softmax runs over the simplices of one dimension in the same complex. Tokens are affine in the features, plus a
/// linear map of the positional codes, whose signs are random in training. The mean of the vertices goes through a
/// perceptron of two layers.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, batch) = (problem.options, problem.complexes()?);
    let (heads, codes) = (options.integer("heads")? as usize, options.integer("codes")? as usize);
    if !options.hidden.is_multiple_of(heads) {
        let valid = format!("a divisor of hidden, {}", options.hidden);
        return Err(OptionError::invalid("heads", heads, &valid).into());
    }
    // A layer carries what is known of a dimension to the next one: no more of them reach the vertices, which are read out.
    let top = batch.dimension().min(options.layers);
    let mut b = Builder::new(problem, reservation);
    let mut h = Vec::new();
    for k in 0..=top {
        let x = complexes::input(&mut b, batch, k)?;
        let mut token = b.affine(x, &format!("token.{k}"), options.hidden);
        if codes > 0 {
            let axis = Axis::padded(1, codes);
            let vectors = batch.codes(k, codes, b.reservation())?;
            let code = b.constant(Space::Rows(batch.count(k)), axis, |out| {
                for (to, from) in out.chunks_exact_mut(axis.stride()).zip(vectors.chunks_exact(codes)) {
                    to[..codes].copy_from_slice(from);
                }
            })?;
            let code = b.random_signs(code, &batch.starts(k));
            let code = b.linear(code, format!("code.{k}"), options.hidden);
            token = b.sum(&[(token, 1.0), (code, 1.0)]);
        }
        h.push(token);
    }
    let mut arrows = Vec::new();
    for to in 0..=top {
        for from in to.saturating_sub(1)..=(to + 1).min(top) {
            arrows.push(arrow(batch, from, to, b.reservation())?);
        }
    }
    let columns = Axis::padded(heads, options.hidden / heads);
    for l in 0..options.layers {
        let mut sums: Vec<Vec<(Slot, f64)>> = h.iter().map(|&h| vec![(h, 1.0)]).collect();
        let reach = options.layers - 1 - l;
        for Arrow { from, to, pairs, bias } in arrows.iter().filter(|arrow| arrow.to <= reach) {
            let mut project = |name: &str, x: Slot| {
                let (rows, width) = (b.axis(x), options.hidden);
                let initial = crate::ground::Initial::glorot(width, width);
                let weights = b.parameter(format!("{l}.{from}.{to}.{name}"), rows, columns, initial);
                b.linear_with(x, weights)
            };
            let [query, key, value] =
                [("query", h[*to]), ("key", h[*from]), ("value", h[*from])].map(|(name, x)| project(name, x));
            let z = b.biased_attention(pairs, Arc::clone(bias), [query, key, value], heads, options.dropout)?;
            let z = b.linear(z, format!("{l}.{from}.{to}.out"), options.hidden);
            sums[*to].push((z, 1.0));
        }
        for (k, terms) in sums.iter().enumerate().take(reach + 1) {
            let z = b.sum(terms);
            let z = b.layer_norm(z, &format!("{l}.{k}.norm.0"));
            let wide = b.affine(z, &format!("{l}.{k}.feed.0"), 2 * options.hidden);
            let wide = b.relu(wide);
            let wide = b.dropout(wide, options.dropout);
            let back = b.affine(wide, &format!("{l}.{k}.feed.1"), options.hidden);
            let z = b.sum(&[(z, 1.0), (back, 1.0)]);
            h[k] = b.layer_norm(z, &format!("{l}.{k}.norm.1"));
        }
    }
    let pooled = b.pool(h[0], batch.starts(0), Pool::Mean)?;
    let z = b.affine(pooled, "read_out.0", options.hidden);
    let z = b.relu(z);
    b.embedding(z);
    let out = b.affine(z, "read_out.1", problem.n_outputs);
    Ok(b.finish(out)?)
}

/// All pairs of simplices of two dimensions in a complex, with M as what is added to their scores.
fn arrow(batch: &ComplexBatch, from: usize, to: usize, reservation: &mut Reservation<'_>) -> Result<Arrow, Stopped> {
    let sparse = match () {
        () if from + 1 == to => batch.coboundary(to, false, reservation)?,
        () if to + 1 == from => batch.boundary(from, false, reservation)?,
        () => {
            let part = if to == 0 { LaplacianPart::Upper } else { LaplacianPart::Lower };
            batch.laplacian(to, part, false, reservation)?
        }
    };
    let (rows, columns) = (batch.starts(to), batch.starts(from));
    let complexes = || rows.windows(2).zip(columns.windows(2));
    let count: usize = complexes().map(|(r, c)| (r[1] - r[0]) as usize * (c[1] - c[0]) as usize).sum();
    reservation.grow(Operator::matrix_bytes(batch.count(to), count))?;
    let (mut offsets, mut sources, mut bias) = (vec![0], Vec::with_capacity(count), Vec::with_capacity(count));
    for (r, c) in complexes() {
        for row in r[0]..r[1] {
            let first = bias.len();
            sources.extend(c[0]..c[1]);
            bias.resize(sources.len(), 0.0);
            // The diagonal of a Laplacian is no neighbour.
            for &at in sparse.row(row).iter().filter(|&&at| from != to || at != row) {
                bias[first + (at - c[0]) as usize] = 1.0;
            }
            offsets.push(sources.len());
        }
    }
    let pairs = Arc::new(Operator::rectangular(offsets, sources, Vec::new(), batch.count(from)));
    Ok(Arrow { from, to, pairs, bias: bias.into() })
}
