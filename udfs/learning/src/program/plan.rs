//! The scope of a program: which rows of each slot some targets depend on.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::layers::composed::Neighborhoods;
use super::layers::{needs_itself, needs_sources};
use super::{Features, Program, Slot};
use crate::features::{self, SparseRows};
use crate::kernels::RowSet;
use crate::network::{Hops, Operator, Prepared, Scope};

/// Makes what layers keep for the backward pass; layers with the same operator and the same rows share it.
#[derive(Debug)]
pub struct Prepare<'a, 'm> {
    program: &'a Program,
    inputs: &'a [Slot],
    rows: &'a [Arc<RowSet>],
    output: Slot,
    train: bool,
    operators: &'a mut Vec<(Arc<Operator>, Arc<RowSet>, Arc<Operator>)>,
    features: &'a mut Vec<(usize, Arc<RowSet>, Arc<SparseRows>)>,
    neighborhoods: &'a mut Vec<(Arc<Operator>, Arc<RowSet>, Arc<Neighborhoods>)>,
    reservation: &'a mut Reservation<'m>,
}

impl Prepare<'_, '_> {
    /// The rows of an operator that the output has, by source; entries keep their numbers if the operator has no values.
    /// Nothing where the input that it applies to needs no gradient.
    pub fn transposed(&mut self, input: usize, operator: &Arc<Operator>) -> Result<Prepared, Stopped> {
        if !self.train || !self.program.shapes[self.inputs[input].0].gradient {
            return Ok(Prepared::None);
        }
        let rows = Arc::clone(&self.rows[self.output.0]);
        self.by_source(operator, &rows).map(Prepared::Transposed)
    }

    fn by_source(&mut self, operator: &Arc<Operator>, rows: &Arc<RowSet>) -> Result<Arc<Operator>, Stopped> {
        if rows.is_all() && operator.is_symmetric() {
            return Ok(Arc::clone(operator));
        }
        let same =
            |(o, r, _): &&(Arc<Operator>, Arc<RowSet>, Arc<Operator>)| Arc::ptr_eq(o, operator) && Arc::ptr_eq(r, rows);
        if let Some((_, _, transposed)) = self.operators.iter().find(same) {
            return Ok(Arc::clone(transposed));
        }
        let transposed = Arc::new(operator.transposed_rows(rows, self.reservation)?);
        self.operators.push((Arc::clone(operator), Arc::clone(rows), Arc::clone(&transposed)));
        Ok(transposed)
    }

    /// The rows that the output's take through so many applications of an operator.
    pub fn hops(&mut self, operator: &Arc<Operator>, degree: usize) -> Result<Prepared, Stopped> {
        let mut rows = vec![Arc::clone(&self.rows[self.output.0])];
        for hop in 0..degree {
            let from = &rows[hop];
            if from.is_all() {
                rows.push(Arc::clone(from));
                continue;
            }
            self.reservation.check()?;
            let mut needed = vec![false; from.n_rows()];
            needs_itself(from, &mut needed);
            needs_sources(operator, from, &mut needed);
            let next = marked(&needed);
            if next == **from {
                rows.push(Arc::clone(from));
            } else {
                self.reservation.grow(RowSet::bytes(next.len()))?;
                rows.push(Arc::new(next));
            }
        }
        let mut by_source = Vec::new();
        let read = if self.train { &rows[..degree] } else { &[] };
        for rows in read {
            by_source.push(self.by_source(operator, rows)?);
        }
        Ok(Prepared::Hops(Arc::new(Hops { rows, by_source })))
    }

    /// The entries of an operator in the rows of the output, by pieces.
    pub fn neighborhoods(&mut self, operator: &Arc<Operator>) -> Result<Prepared, Stopped> {
        let rows = Arc::clone(&self.rows[self.output.0]);
        let same = |(o, r, _): &&(Arc<Operator>, Arc<RowSet>, Arc<Neighborhoods>)| {
            Arc::ptr_eq(o, operator) && Arc::ptr_eq(r, &rows)
        };
        if let Some((_, _, near)) = self.neighborhoods.iter().find(same) {
            return Ok(Prepared::Neighborhoods(Arc::clone(near)));
        }
        let near = Arc::new(Neighborhoods::new(operator, &rows, self.reservation)?);
        self.neighborhoods.push((Arc::clone(operator), rows, Arc::clone(&near)));
        Ok(Prepared::Neighborhoods(near))
    }

    /// The rows of sparse features that the output has, by column.
    pub(crate) fn features(&mut self, features: Features) -> Result<Prepared, Stopped> {
        if !self.train {
            return Ok(Prepared::None);
        }
        let rows = &self.rows[self.output.0];
        let same = |(number, r, _): &&(usize, Arc<RowSet>, Arc<SparseRows>)| {
            *number == features.number && Arc::ptr_eq(r, rows)
        };
        if let Some((_, _, transposed)) = self.features.iter().find(same) {
            return Ok(Prepared::Features(Arc::clone(transposed)));
        }
        let input = &self.program.features[features.number];
        let features::Features::Sparse(sparse) = input.features() else {
            return Ok(Prepared::None);
        };
        let entries: usize = rows.rows().iter().map(|&row| sparse.row(row as usize).0.len()).sum();
        self.reservation.grow(2 * (sparse.n_columns() + 1) * size_of::<usize>() + 8 * entries)?;
        let transposed = Arc::new(sparse.transposed(rows));
        self.features.push((features.number, Arc::clone(rows), Arc::clone(&transposed)));
        Ok(Prepared::Features(transposed))
    }
}

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
    let (mut operators, mut features, mut neighborhoods) = (Vec::new(), Vec::new(), Vec::new());
    for (node, prepared) in program.nodes.iter().zip(&mut prepared) {
        reservation.check()?;
        *prepared = node.layer.prepare(&mut Prepare {
            program,
            inputs: &node.inputs,
            rows: &rows,
            output: node.output,
            train,
            operators: &mut operators,
            features: &mut features,
            neighborhoods: &mut neighborhoods,
            reservation,
        })?;
    }
    rows.push(Arc::clone(&rows[program.output.0]));
    Ok(Scope { rows, prepared })
}

/// The rows that are marked; all of them where few are not: what leaves out next to nothing would cost index structures of
/// its own.
fn marked(marks: &[bool]) -> RowSet {
    let count = marks.iter().filter(|&&mark| mark).count();
    if count * 16 > marks.len() * 15 {
        RowSet::all(marks.len())
    } else {
        RowSet::new(marks.len(), (0..marks.len() as u32).filter(|&row| marks[row as usize]).collect())
    }
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
