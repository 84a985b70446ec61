//! Message passing on cells (Bodnar, Frasca, Otter, Wang, Lio, Montufar and Bronstein 2021, CW networks).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use crate::complexes::ComplexBatch;
use crate::error::BuildError;
use crate::network::{Operator, Problem};
use crate::option_spec::{Defaults, OF_COMPLEXES, OptionSpec};
use crate::program::complexes::{self, COMPLEX_TASKS};
use crate::program::{Builder, Program, Slot};
use crate::spec::{COMPLEXES, ModelSpec};
use crate::table::{BATCH_OF_COMPLEXES, DIMENSION};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "cellmp",
    family: COMPLEXES,
    geometry: "euclidean",
    tasks: COMPLEX_TASKS,
    source: "Bodnar, Frasca, Otter, Wang, Lio, Montufar and Bronstein 2021, Weisfeiler and Lehman go cellular: CW networks",
    defaults: Defaults { layers: 10, dropout: 0.5, ..OF_COMPLEXES },
    own: &[
        BATCH_OF_COMPLEXES,
        DIMENSION,
        OptionSpec::choice(
            "norm",
            "layer",
            &["none", "layer"],
            "normalisation inside each perceptron; the paper's is by batch, which would make an output depend on which \
             others are computed",
        ),
    ],
    reach: None,
    build,
};

/// Simplices that share a coface: a row for each ordered pair of faces of a coface.
struct Pairs {
    /// From pairs to their first simplex, as sums.
    sum: Arc<Operator>,
    /// The second simplex of a pair.
    other: Arc<Operator>,
    /// Its coface.
    coface: Arc<Operator>,
}

/// `h <- MLP(MLP_B(h + sum of the faces' rows) | MLP_up(h + sum over simplices t that share a coface d of
/// relu(W [h_t | h_d])))`; lower adjacency is left out, as in the paper's sparse form. The features of each dimension go
/// through an affine layer first. Sums of each dimension go through a layer of twice the width, are added and read by a linear
/// layer.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, batch) = (problem.options, problem.complexes()?);
    let normalised = options.text("norm")? == "layer";
    let top = batch.dimension();
    let mut b = Builder::new(problem, reservation);
    let mut faces = Vec::new();
    let mut pairs = Vec::new();
    for k in 0..top {
        faces.push(Arc::new(batch.coboundary(k + 1, false, b.reservation())?));
        pairs.push(pairs_of(batch, k, b.reservation())?);
    }
    let block = |b: &mut Builder<'_, '_, '_>, x: Slot, name: String| {
        let z = b.affine(x, &name, options.hidden);
        let z = if normalised { b.layer_norm(z, &format!("{name}.norm")) } else { z };
        b.relu(z)
    };
    let mut h = Vec::new();
    for k in 0..=top {
        let x = complexes::input(&mut b, batch, k)?;
        h.push(b.affine(x, &format!("embed.{k}"), options.hidden));
    }
    for l in 0..options.layers {
        let mut next = Vec::with_capacity(top + 1);
        for k in 0..=top {
            let mut below = h[k];
            if k > 0 {
                below = b.carry_plus(&faces[k - 1], h[k - 1], below);
            }
            let mut above = h[k];
            if k < top {
                let of = &pairs[k];
                let neighbor = b.linear(h[k], format!("{l}.{k}.message.neighbor"), options.hidden);
                let coface = b.linear(h[k + 1], format!("{l}.{k}.message.coface"), options.hidden);
                let message = b.carry(&of.other, neighbor);
                let message = b.carry_plus(&of.coface, coface, message);
                let message = b.bias(message, format!("{l}.{k}.message.bias"));
                let message = b.relu(message);
                above = b.carry_plus(&of.sum, message, above);
            }
            let mut both = [below, above].into_iter().zip(["below", "above"]).map(|(x, name)| {
                let z = block(&mut b, x, format!("{l}.{k}.{name}.0"));
                block(&mut b, z, format!("{l}.{k}.{name}.1"))
            });
            let both: Vec<Slot> = both.by_ref().collect();
            let both = b.concat(&both);
            let z = block(&mut b, both, format!("{l}.{k}.update"));
            next.push(b.dropout(z, options.dropout));
        }
        h = next;
    }
    let mut terms = Vec::new();
    for (k, &h) in h.iter().enumerate() {
        let pooled = complexes::sum(&mut b, batch, k, h)?;
        let z = b.affine(pooled, &format!("read_out.{k}"), 2 * options.hidden);
        terms.push((b.relu(z), 1.0));
    }
    let z = b.sum(&terms);
    b.embedding(z);
    let z = b.dropout(z, options.dropout);
    let out = b.affine(z, "read_out", problem.n_outputs);
    Ok(b.finish(out)?)
}

/// The pairs of k-simplices that share a coface.
fn pairs_of(batch: &ComplexBatch, k: usize, reservation: &mut Reservation<'_>) -> Result<Pairs, Stopped> {
    let (n, above) = (batch.count(k), batch.count(k + 1));
    let count = above * (k + 2) * (k + 1);
    reservation.grow(3 * Operator::matrix_bytes(count, count))?;
    let (mut firsts, mut others, mut cofaces) = (vec![Vec::new(); n], Vec::with_capacity(count), Vec::new());
    for (coface, faces) in batch.faces(k + 1).chunks_exact(k + 2).enumerate() {
        for &first in faces {
            for &other in faces.iter().filter(|&&other| other != first) {
                firsts[first as usize].push(others.len() as u32);
                others.push(other);
                cofaces.push(coface as u32);
            }
        }
    }
    let mut offsets = vec![0];
    for pairs in &firsts {
        offsets.push(offsets[offsets.len() - 1] + pairs.len());
    }
    let one = |columns: Vec<u32>, n: usize| {
        Arc::new(Operator::rectangular((0..=columns.len()).collect(), columns, vec![1.0; count], n))
    };
    Ok(Pairs {
        sum: Arc::new(Operator::rectangular(offsets, firsts.concat(), vec![1.0; count], count)),
        other: one(others, n),
        coface: one(cofaces, above),
    })
}
