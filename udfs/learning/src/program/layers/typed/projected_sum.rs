//! The first layer of a typed model whose input is projected type by type: one product a type, of the features themselves.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;
use rayon::prelude::*;

use super::super::super::{
    Backward, Builder, Forward, InputFeatures, Layer, Parameter, Prepare, Prepared, Scratch, Shapes, Slot, Tensors,
};
use super::{kind_bias, kind_linear};
use crate::data::Features;
use crate::ground::random::Dropout;
use crate::kernels::RowSet;
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::Finish;
use crate::network::{KindColumns, Kinds, ListedOperator, Relations};
use crate::program::make_room;

/// `x_i U_t + sum over the relations r into the type t of i of (P_r x)_i V_r + b_t` of the projections `x_j = F_j W + c_s` of the
/// features F of rows j of a type s.
///
/// Nothing stands between the two products, and so `F_j W V = F_j (W V)`: a row of a type is a product of the features that
/// reach it, side by side and with a 1 for each bias, with products of the weights, one above the other. Of few columns that is
/// a fraction of the work, and no matrix of projections is there. Columns that are 0 change no bit of a sum: it does not hang
/// on what else is in a sample.
#[derive(Debug)]
struct ProjectedSum {
    features: InputFeatures,
    kinds: Kinds,
    operators: Vec<Arc<ListedOperator>>,
    projections: Vec<Projection>,
    targets: Vec<Target>,
    /// The features that reach the rows, type by type; the rows of a type in the order of its row set.
    room: Vec<f32>,
    /// The place of each row among those of its type.
    places: Vec<u32>,
    /// The gradient of a type's products of weights.
    d_weights: Vec<f32>,
}

/// The projection of a type.
#[derive(Debug)]
struct Projection {
    columns: Vec<u32>,
    /// The row of each column of the features in the matrix below.
    place: Vec<u32>,
    /// The row of c, then those of W for the columns: all rows of a matrix.
    weights: Vec<f32>,
    gradient: Vec<f32>,
    rows: RowSet,
}

/// A type of rows of the output.
#[derive(Debug)]
struct Target {
    terms: Vec<Term>,
    /// Those of all terms, and one for the bias.
    columns: usize,
    /// As many rows.
    weights: Vec<f32>,
}

/// What comes to a row from itself, or along a relation.
#[derive(Debug)]
struct Term {
    /// The position of the relation; none for the row itself.
    relation: Option<usize>,
    /// The type of the rows it comes from.
    source: usize,
    /// The position of U or V among the parameters.
    parameter: usize,
    /// The first of its columns.
    first: usize,
}

/// The parameters of the layer, in their order.
#[derive(Debug, Clone)]
pub struct ProjectedWeights {
    /// W, with the columns of the features as rows.
    pub input: Parameter,
    /// c, a row a type.
    pub input_bias: Parameter,
    /// U of each type.
    pub own: Vec<Parameter>,
    /// V of each relation.
    pub relations: Vec<Parameter>,
    /// b, a row a type.
    pub bias: Parameter,
}

/// The positions of W and c among the parameters; then come U of each type, V of each relation, b.
const INPUT: usize = 0;
const INPUT_BIAS: usize = 1;
const OWN: usize = 2;

/// Rows that a task fills one after the other.
const CHUNK: usize = 256;

/// Marks a column that a type has not.
const NOT_THERE: u32 = u32::MAX;

impl Builder<'_, '_> {
    /// Of each row what its own projected features, and those of its neighbours in each relation, bring it: times weights of its
    /// type and of the relations, plus a row of its type. `means` has the operators of the relations, and `columns` those in
    /// which the features of a type may have entries.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn projected_sum(
        &mut self,
        features: InputFeatures,
        (relations, columns): (&Relations, &KindColumns),
        means: impl Iterator<Item = Arc<ListedOperator>>,
        weights: &ProjectedWeights,
    ) -> Result<Slot, Stopped> {
        let axis_of = |b: &Self, parameter: Parameter| b.layout.blocks()[parameter.0].columns;
        let (hidden, axis) = (axis_of(&*self, weights.input).stride(), axis_of(&*self, weights.bias));
        let (width, n_columns) = (axis.stride(), self.source_axis(features.into()).len());
        let mut projections = Vec::with_capacity(columns.of.len());
        for columns in &columns.of {
            let mut place = vec![NOT_THERE; n_columns];
            (1u32..).zip(columns).for_each(|(at, &column)| place[column as usize] = at);
            let rows = RowSet::all(columns.len() + 1);
            let (weights, gradient) = (self.zeros(rows.len() * hidden)?, self.zeros(rows.len() * hidden)?);
            projections.push(Projection { columns: columns.clone(), place, weights, gradient, rows });
        }
        let (list, kinds) = (relations.list(), relations.kinds().clone());
        let mut targets = Vec::with_capacity(projections.len());
        for (kind, own) in projections.iter().enumerate() {
            let mut terms = vec![Term { relation: None, source: kind, parameter: OWN + kind, first: 0 }];
            let mut end = own.rows.len();
            for (at, relation) in list.iter().enumerate().filter(|(_, relation)| relation.target as usize == kind) {
                let (source, parameter) = (relation.source as usize, OWN + projections.len() + at);
                terms.push(Term { relation: Some(at), source, parameter, first: end });
                end += projections[source].rows.len();
            }
            targets.push(Target { terms, columns: end + 1, weights: self.zeros((end + 1) * width)? });
        }
        let largest = targets.iter().map(|target| target.columns).max().unwrap_or(0);
        self.reservation().grow(4 * kinds.of.len() + 4 * projections.len() * n_columns)?;
        let layer = ProjectedSum {
            features,
            operators: means.collect(),
            projections,
            targets,
            room: Vec::new(),
            places: vec![0; kinds.of.len()],
            d_weights: self.zeros(largest * width)?,
            kinds,
        };
        let mut parameters = vec![weights.input, weights.input_bias];
        parameters.extend(weights.own.iter().chain(&weights.relations));
        parameters.push(weights.bias);
        let space = self.nodes();
        Ok(self.push(layer, &[], &parameters, space, axis))
    }
}

impl ProjectedSum {
    /// The position of b among the parameters.
    fn bias(&self) -> usize {
        OWN + self.targets.len() + self.operators.len()
    }

    /// The products of the weights of a pass. O(columns of all terms * hidden * width).
    fn multiply_weights(&mut self, pass: &Forward<'_>) -> Result<(), Stopped> {
        let (_, hidden) = pass.parameter_axes(INPUT);
        let (hidden, width) = (hidden.stride(), pass.width());
        let (input, bias) = (pass.parameter(INPUT), pass.parameter(INPUT_BIAS));
        for (kind, projection) in self.projections.iter_mut().enumerate() {
            let rows = projection.columns.iter().map(|&column| &input[column as usize * hidden..][..hidden]);
            let rows = std::iter::once(&bias[kind * hidden..][..hidden]).chain(rows);
            projection.weights.chunks_exact_mut(hidden).zip(rows).for_each(|(to, from)| to.copy_from_slice(from));
        }
        let (then, bias) = (Then::Finish(Finish::NOTHING), pass.parameter(self.bias()));
        for (kind, target) in self.targets.iter_mut().enumerate() {
            for term in &target.terms {
                let projection = &self.projections[term.source];
                let (left, by) = (Left::new(&projection.weights, hidden), pass.parameter(term.parameter));
                let out = &mut target.weights[term.first * width..][..projection.rows.len() * width];
                dense::product(&projection.rows, left, by, width, then, out, pass.monitor)?;
            }
            let last = (target.columns - 1) * width;
            target.weights[last..].copy_from_slice(&bias[kind * width..][..width]);
        }
        Ok(())
    }

    /// The features that reach the rows of a scope. O(rows * columns + entries of the features of all neighbours).
    fn gather(&mut self, pass: &Forward<'_>, sets: &[RowSet]) -> Result<(), Stopped> {
        let len = self.targets.iter().zip(sets).map(|(target, set)| set.len() * target.columns).sum();
        make_room(&mut self.room, len);
        for set in sets {
            (0u32..).zip(set.rows()).for_each(|(at, &row)| self.places[row as usize] = at);
        }
        let (features, dropout) = (pass.features(self.features).features(), pass.mask(self.features.dropout));
        let (operators, projections, monitor) = (&self.operators[..], &self.projections[..], pass.monitor);
        let mut rest = &mut self.room[..];
        for (target, set) in self.targets.iter().zip(sets).filter(|(_, set)| !set.is_empty()) {
            let (room, others) = std::mem::take(&mut rest).split_at_mut(set.len() * target.columns);
            rest = others;
            let gather = Gather { features, dropout, operators, projections, target };
            let one = |(rows, out): (&[u32], &mut [f32])| -> Result<(), Stopped> {
                monitor.check()?;
                gather.run(rows, out);
                Ok(())
            };
            if set.len() < CHUNK || rayon::current_num_threads() == 1 {
                set.rows().chunks(CHUNK).zip(room.chunks_mut(CHUNK * target.columns)).try_for_each(one)?;
            } else {
                set.rows().par_chunks(CHUNK).zip(room.par_chunks_mut(CHUNK * target.columns)).try_for_each(one)?;
            }
        }
        Ok(())
    }
}

/// The features that reach rows of a type.
#[derive(Clone, Copy)]
struct Gather<'a> {
    features: &'a Features,
    dropout: Option<Dropout>,
    operators: &'a [Arc<ListedOperator>],
    projections: &'a [Projection],
    target: &'a Target,
}

impl Gather<'_> {
    /// Those of some rows, ascending.
    fn run(&self, rows: &[u32], out: &mut [f32]) {
        let (terms, columns) = (&self.target.terms, self.target.columns);
        // Where the rows with entries go on in each relation.
        let listed = |term: &Term| term.relation.map_or(&[][..], |relation| self.operators[relation].rows());
        let first = |term: &Term| listed(term).partition_point(|row| rows.first().is_some_and(|first| row < first));
        let mut next: Vec<usize> = terms.iter().map(first).collect();
        for (&row, out) in rows.iter().zip(out.chunks_exact_mut(columns)) {
            out.fill(0.0);
            for (term, next) in terms.iter().zip(&mut next) {
                let projection = &self.projections[term.source];
                let out = &mut out[term.first..][..projection.rows.len()];
                let Some(relation) = term.relation else {
                    self.add(row, 1.0, projection, out);
                    continue;
                };
                let operator = &self.operators[relation];
                while operator.rows().get(*next).is_some_and(|&other| other < row) {
                    *next += 1;
                }
                if operator.rows().get(*next) == Some(&row) {
                    let span = operator.span(*next);
                    for (&source, &value) in operator.columns()[span.clone()].iter().zip(&operator.values()[span]) {
                        self.add(source, value, projection, out);
                    }
                }
            }
            out[columns - 1] = 1.0;
        }
    }

    /// Adds the features of a row times a factor, and the factor itself for the bias of its projection.
    #[inline]
    fn add(&self, row: u32, factor: f32, projection: &Projection, out: &mut [f32]) {
        let place = &projection.place[..];
        match self.features {
            Features::Sparse(rows) => {
                let (columns, values) = rows.row(row as usize);
                match self.dropout {
                    None => {
                        for (&column, value) in columns.iter().zip(values) {
                            out[place[column as usize] as usize] += factor * value;
                        }
                    }
                    Some(dropout) => {
                        let key = dropout.row(row);
                        for (&column, value) in columns.iter().zip(values) {
                            out[place[column as usize] as usize] += factor * (value * dropout.factor(key, column));
                        }
                    }
                }
            }
            Features::Dense { columns, values } => {
                let values = &values[row as usize * columns..][..*columns];
                for &column in &projection.columns {
                    let kept = self.dropout.map_or(1.0, |dropout| dropout.factor(dropout.row(row), column));
                    out[place[column as usize] as usize] += factor * (values[column as usize] * kept);
                }
            }
            Features::None => {}
        }
        out[0] += factor;
    }
}

impl Layer for ProjectedSum {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (parameters, kinds) = (tensors.parameters, &self.kinds);
        let projected = tensors.feature_product(self.features, &parameters[INPUT])?;
        let x = (projected + kind_bias::of_rows(kinds, &parameters[INPUT_BIAS], tensors)?)?;
        let own = kind_linear::of_rows(kinds, &x, &parameters[OWN..OWN + kinds.names.len()], tensors)?;
        let mut sum = (own + kind_bias::of_rows(kinds, &parameters[self.bias()], tensors)?)?;
        for (operator, weights) in self.operators.iter().zip(&parameters[OWN + kinds.names.len()..]) {
            sum = (sum + tensors.listed(operator)?.product(&x.matmul(weights)?)?)?;
        }
        Ok(sum)
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        let prepared = prepare.kinds(&self.kinds)?;
        if let Prepared::Kinds(sets) = &prepared {
            let of_types = self.targets.iter().zip(&**sets).map(|(target, set)| set.len() * target.columns);
            prepare.reservation.grow(of_types.sum::<usize>() * size_of::<f32>())?;
        }
        Ok(prepared)
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        let (width, weights) = (shapes.output().axis.stride(), shapes.parameter(OWN));
        let of_rows = self.targets.iter().map(|target| shapes.blocks() * target.columns * width).max();
        let of_weights = self.projections.iter().map(|projection| projection.rows.n_blocks() * weights).max();
        Scratch { partials: of_rows.max(of_weights).unwrap_or(0), transposed: weights }
    }

    fn room(&mut self) -> Option<&mut Vec<f32>> {
        Some(&mut self.room)
    }

    fn finishes(&self) -> bool {
        true
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let Prepared::Kinds(sets) = pass.prepared() else { return Ok(()) };
        self.multiply_weights(pass)?;
        self.gather(pass, sets)?;
        let mut rest = &self.room[..];
        for (target, set) in self.targets.iter().zip(&**sets).filter(|(_, set)| !set.is_empty()) {
            let (rows, others) = rest.split_at(set.len() * target.columns);
            rest = others;
            let rows = Left { places: Some(&self.places), ..Left::new(rows, target.columns) };
            let then = Then::Finish(pass.finish());
            dense::product(set, rows, &target.weights, pass.width(), then, out, pass.monitor)?;
        }
        Ok(())
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let Prepared::Kinds(sets) = f.prepared() else { return Ok(()) };
        let (width, monitor, at_bias) = (f.width(), f.monitor, self.bias());
        let hidden = f.parameter_axes(INPUT).1.stride();
        let Self { projections, targets, room, places, d_weights, .. } = self;
        projections.iter_mut().for_each(|projection| projection.gradient.fill(0.0));
        let mut d_bias = vec![0f32; targets.len() * width];
        let mut rest = &room[..];
        for (kind, (target, set)) in targets.iter().zip(&**sets).enumerate().filter(|(_, (_, set))| !set.is_empty()) {
            let (rows, others) = rest.split_at(set.len() * target.columns);
            rest = others;
            let rows = Left { places: Some(places), ..Left::new(rows, target.columns) };
            let (partials, _) = pass.scratch();
            dense::transposed_product(set, rows, d_out, width, partials, d_weights, monitor)?;
            d_bias[kind * width..][..width].copy_from_slice(&d_weights[(target.columns - 1) * width..][..width]);
            for term in &target.terms {
                let Projection { rows, weights, gradient, .. } = &mut projections[term.source];
                let (left, d) = (Left::new(weights, hidden), &d_weights[term.first * width..][..rows.len() * width]);
                pass.parameter_gradient(term.parameter, |out, partials, _| {
                    dense::transposed_product(rows, left, d, width, partials, out, monitor)
                })?;
                let (d, by, (_, transposed)) = (Left::new(d, width), f.parameter(term.parameter), pass.scratch());
                dense::product_by_transposed(rows, d, by, hidden, transposed, Then::Add, gradient, monitor)?;
            }
        }
        pass.parameter_gradient(INPUT, |out, _, _| {
            out.fill(0.0);
            for projection in &*projections {
                for (&column, d) in projection.columns.iter().zip(projection.gradient.chunks_exact(hidden).skip(1)) {
                    let sums = &mut out[column as usize * hidden..][..hidden];
                    sums.iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
                }
            }
            Ok(())
        })?;
        pass.parameter_gradient(INPUT_BIAS, |out, _, _| {
            let rows = projections.iter().map(|projection| &projection.gradient[..hidden]);
            out.chunks_exact_mut(hidden).zip(rows).for_each(|(out, d)| out.copy_from_slice(d));
            Ok(())
        })?;
        pass.parameter_gradient(at_bias, |out, _, _| {
            out.copy_from_slice(&d_bias);
            Ok(())
        })
    }
}
