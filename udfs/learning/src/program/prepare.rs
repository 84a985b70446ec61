//! The index structures that layers ask for in a scope.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::reach::{marked, needs_itself, needs_sources};
use super::slot::{InputFeatures, Slot, SlotShape};
use crate::data::{Features, SparseRows};
use crate::kernels::RowSet;
use crate::network::{
    Hops, Input, Kinds, ListedEntries, ListedOperator, Neighborhoods, Operator, Prepared, RelationRows,
};

/// Makes what layers keep for the backward pass; layers with the same operator and the same rows share it.
#[derive(Debug)]
pub struct Prepare<'a, 'm> {
    pub(super) inputs: &'a [Slot],
    pub(super) output: Slot,
    pub(super) shapes: &'a [SlotShape],
    pub(super) features: &'a [Input],
    pub(super) rows: &'a [Arc<RowSet>],
    pub(super) train: bool,
    pub(super) shared: &'a mut SharedIndices,
    pub(super) reservation: &'a mut Reservation<'m>,
}

/// The index structures of a scope so far, each with what it was made from.
#[derive(Debug, Default)]
pub(super) struct SharedIndices {
    operators: Vec<(Arc<Operator>, Arc<RowSet>, Arc<Operator>)>,
    features: Vec<(usize, Arc<RowSet>, Arc<SparseRows>)>,
    neighborhoods: Vec<(Arc<Operator>, Arc<RowSet>, Arc<Neighborhoods>)>,
    kinds: Vec<Divided>,
    relations: Vec<OfRelations>,
}

/// Operators, some rows, and these rows in each operator.
#[derive(Debug)]
struct OfRelations {
    operators: Vec<Arc<ListedOperator>>,
    rows: Arc<RowSet>,
    found: Arc<Vec<RelationRows>>,
}

/// The kinds of rows, some rows, and these by their kind.
type Divided = (Arc<[u32]>, Arc<RowSet>, Arc<Vec<RowSet>>);

impl Prepare<'_, '_> {
    /// The rows of an operator that the output has, by source; entries keep their numbers if the operator has no values.
    /// Nothing where the input that it applies to needs no gradient.
    pub fn transposed(&mut self, input: usize, operator: &Arc<Operator>) -> Result<Prepared, Stopped> {
        if !self.train || !self.shapes[self.inputs[input].0].gradient {
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
        if let Some((_, _, transposed)) = self.shared.operators.iter().find(same) {
            return Ok(Arc::clone(transposed));
        }
        let transposed = Arc::new(operator.transposed_rows(rows, self.reservation)?);
        self.shared.operators.push((Arc::clone(operator), Arc::clone(rows), Arc::clone(&transposed)));
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
        if let Some((_, _, near)) = self.shared.neighborhoods.iter().find(same) {
            return Ok(Prepared::Neighborhoods(Arc::clone(near)));
        }
        let near = Arc::new(Neighborhoods::new(operator, &rows, self.reservation)?);
        self.shared.neighborhoods.push((Arc::clone(operator), rows, Arc::clone(&near)));
        Ok(Prepared::Neighborhoods(near))
    }

    /// The rows of the output by their kind.
    pub fn kinds(&mut self, kinds: &Kinds) -> Result<Prepared, Stopped> {
        let rows = &self.rows[self.output.0];
        let same = |(of, r, _): &&Divided| Arc::ptr_eq(of, &kinds.of) && Arc::ptr_eq(r, rows);
        if let Some((_, _, divided)) = self.shared.kinds.iter().find(same) {
            return Ok(Prepared::Kinds(Arc::clone(divided)));
        }
        self.reservation.grow(RowSet::bytes(rows.len()) + RowSet::bytes(0) * kinds.names.len())?;
        let divided = Arc::new(kinds.divide(rows));
        self.shared.kinds.push((Arc::clone(&kinds.of), Arc::clone(rows), Arc::clone(&divided)));
        Ok(Prepared::Kinds(divided))
    }

    /// The rows of the output with entries in each of some operators, and those that these lead to; in training also the
    /// operators by source. O(rows, and the rows with entries and entries of each operator).
    pub fn relations(&mut self, operators: &[Arc<ListedOperator>]) -> Result<Prepared, Stopped> {
        let rows = Arc::clone(&self.rows[self.output.0]);
        let same = |known: &&OfRelations| {
            Arc::ptr_eq(&known.rows, &rows)
                && known.operators.len() == operators.len()
                && known.operators.iter().zip(operators).all(|(known, operator)| Arc::ptr_eq(known, operator))
        };
        if let Some(known) = self.shared.relations.iter().find(same) {
            return Ok(Prepared::Relations(Arc::clone(&known.found)));
        }
        let n = rows.n_rows();
        let mut is_there = vec![rows.is_all(); n];
        rows.rows().iter().for_each(|&row| is_there[row as usize] = true);
        let (mut marks, mut place) = (vec![false; n], vec![0; if self.train { n } else { 0 }]);
        let mut relations = Vec::with_capacity(operators.len());
        for operator in operators {
            self.reservation.check()?;
            let (mut targets, mut spans, mut sources) = (Vec::new(), Vec::new(), Vec::new());
            for (at, &row) in operator.rows().iter().enumerate().filter(|(_, row)| is_there[**row as usize]) {
                let span = operator.span(at);
                targets.push(row);
                spans.push((span.start as u32, span.end as u32));
                for &source in &operator.columns()[span] {
                    if !std::mem::replace(&mut marks[source as usize], true) {
                        sources.push(source);
                    }
                }
            }
            sources.sort_unstable();
            sources.iter().for_each(|&source| marks[source as usize] = false);
            self.reservation.grow(RowSet::bytes(targets.len()) + RowSet::bytes(sources.len()) + 8 * spans.len())?;
            let by_source = match self.train && !targets.is_empty() {
                true => {
                    let of_targets = (&targets[..], &spans[..]);
                    Some(ListedEntries::transposed(operator, of_targets, &sources, &mut place, self.reservation)?)
                }
                false => None,
            };
            let (targets, sources) = (RowSet::new(n, targets), RowSet::new(n, sources));
            relations.push(RelationRows { targets, spans, sources, by_source });
        }
        let found = Arc::new(relations);
        let operators = operators.iter().map(Arc::clone).collect();
        self.shared.relations.push(OfRelations { operators, rows, found: Arc::clone(&found) });
        Ok(Prepared::Relations(found))
    }

    /// The rows of sparse features that the output has, by column.
    pub(crate) fn features(&mut self, features: InputFeatures) -> Result<Prepared, Stopped> {
        if !self.train {
            return Ok(Prepared::None);
        }
        let rows = &self.rows[self.output.0];
        let same = |(number, r, _): &&(usize, Arc<RowSet>, Arc<SparseRows>)| {
            *number == features.number && Arc::ptr_eq(r, rows)
        };
        if let Some((_, _, transposed)) = self.shared.features.iter().find(same) {
            return Ok(Prepared::Features(Arc::clone(transposed)));
        }
        let input = &self.features[features.number];
        let Features::Sparse(sparse) = input.features() else {
            return Ok(Prepared::None);
        };
        let entries: usize = rows.rows().iter().map(|&row| sparse.row(row as usize).0.len()).sum();
        self.reservation.grow(2 * (sparse.n_columns() + 1) * size_of::<usize>() + 8 * entries)?;
        let transposed = Arc::new(sparse.transposed(rows));
        self.shared.features.push((features.number, Arc::clone(rows), Arc::clone(&transposed)));
        Ok(Prepared::Features(transposed))
    }
}
