//! The scope of a program: which rows of each slot some targets depend on.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::Program;
use super::prepare::{Prepare, SharedIndices};
use super::reach::marked;
use crate::kernels::RowSet;
use crate::network::{Prepared, Scope};

/// The scope of some targets: rows of the output.
pub(super) fn scope(
    program: &Program,
    targets: &[u32],
    train: bool,
    pruned: bool,
    reservation: &mut Reservation<'_>,
) -> Result<Scope, Stopped> {
    let mut rows = row_sets(program, targets, train, pruned, reservation)?;
    let mut prepared = vec![Prepared::None; program.nodes.len()];
    let mut shared = SharedIndices::default();
    for (node, prepared) in program.nodes.iter().zip(&mut prepared) {
        reservation.check()?;
        *prepared = node.layer.prepare(&mut Prepare {
            inputs: &node.inputs,
            output: node.output,
            shapes: &program.shapes,
            features: &program.features,
            rows: &rows,
            train,
            shared: &mut shared,
            reservation,
        })?;
    }
    let of_output = &rows[program.output.0];
    let targets = match pruned {
        true => Arc::clone(of_output),
        false => {
            reservation.grow(RowSet::bytes(targets.len()))?;
            Arc::new(RowSet::new(of_output.n_rows(), targets.to_vec()))
        }
    };
    rows.push(targets);
    Ok(Scope { rows, prepared })
}

/// The rows of each slot, from the output back to the inputs. Equal sets are one.
fn row_sets(
    program: &Program,
    targets: &[u32],
    train: bool,
    pruned: bool,
    reservation: &mut Reservation<'_>,
) -> Result<Vec<Arc<RowSet>>, Stopped> {
    let sizes: Vec<usize> = program.shapes.iter().map(|shape| shape.space.rows()).collect();
    let mut sets: Vec<Arc<RowSet>> = Vec::new();
    let mut distinct = |set: RowSet, reservation: &mut Reservation<'_>| -> Result<Arc<RowSet>, Stopped> {
        match sets.iter().find(|known| ***known == set) {
            Some(known) => Ok(Arc::clone(known)),
            None => {
                reservation.grow(RowSet::bytes(set.len()))?;
                sets.push(Arc::new(set));
                Ok(Arc::clone(&sets[sets.len() - 1]))
            }
        }
    };
    if !pruned {
        return sizes.iter().map(|&n| distinct(RowSet::all(n), reservation)).collect();
    }
    // Nothing until a reader is met; a mark for each row.
    reservation.grow(sizes.iter().sum::<usize>())?;
    let mut needed: Vec<Vec<bool>> = vec![Vec::new(); sizes.len()];
    let mut rows: Vec<Option<Arc<RowSet>>> = vec![None; sizes.len()];
    rows[program.output.0] = Some(distinct(RowSet::new(sizes[program.output.0], targets.to_vec()), reservation)?);
    // Points that are no output are read where nothing is learnt.
    if let (Some(points), false, true) = (program.embedding, train, program.points.is_some())
        && points != program.output
    {
        needed[points.0].resize(sizes[points.0], false);
        targets.iter().for_each(|&row| needed[points.0][row as usize] = true);
    }
    let set = |slot: usize, needed: &mut Vec<bool>| {
        let mut marks = std::mem::take(needed);
        marks.resize(sizes[slot], false);
        marked(&marks)
    };
    for node in program.nodes.iter().rev() {
        reservation.check()?;
        let slot = node.output.0;
        let output = match &rows[slot] {
            Some(output) => Arc::clone(output),
            None => distinct(set(slot, &mut needed[slot]), reservation)?,
        };
        for (input, &from) in node.inputs.iter().enumerate() {
            needed[from.0].resize(sizes[from.0], false);
            node.layer.reach(input, &output, &mut needed[from.0]);
        }
        rows[slot] = Some(output);
    }
    // What is left is no layer's output: constants.
    (0..sizes.len())
        .map(|slot| match rows[slot].take() {
            Some(set) => Ok(set),
            None => distinct(set(slot, &mut needed[slot]), reservation),
        })
        .collect()
}
