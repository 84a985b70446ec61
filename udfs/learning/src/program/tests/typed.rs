//! The layers whose parameters are those of a row's kind.

use std::sync::Arc;

use super::{NODES, WIDTH, Write, host};
use crate::ground::{Axis, BuildError, Initial};
use crate::kernels::Activation;
use crate::network::{KindColumns, Kinds, ListedOperator, Operator, Relations, StackedSources};
use crate::program::layers::edges::terms::EntryTerms;
use crate::program::layers::typed::projected_sum::ProjectedWeights;
use crate::program::{Builder, Slot};
use crate::{Features, GraphTypes, SparseRows};

/// Each with inputs that other layers read too.
pub(super) fn programs() -> Vec<(&'static str, Write)> {
    vec![
        ("kinds", |b, x, y, _| {
            let kinds = kinds(3, NODES);
            let (axis, initial) = (b.axis(x), Initial::glorot(WIDTH, WIDTH));
            let z = b.kind_linear(x, &kinds, |kind| format!("{kind}.weight"), axis, &initial);
            let z = b.kind_bias(z, &kinds, "kinds.bias", Initial::Constant(0.1));
            let z = b.activation(z, Activation::Leaky(0.1));
            let z = b.dropout(z, 0.3);
            let u = b.kind_linear(z, &kinds, |kind| format!("again.{kind}.weight"), axis, &initial);
            let v = b.kind_bias(y, &kinds, "again.bias", Initial::Constant(0.1));
            Ok(b.sum(&[(z, 1.0), (u, 0.5), (v, 0.3), (x, 0.2)]))
        }),
        ("relations", |b, x, y, _| {
            let stack = StackedSources::new(&relations(), b.reservation())?;
            let both = b.concat(&[x, y]);
            let k = b.relation_linear(both, &stack, 2, |name| format!("{name}.key"), Some("factors".to_owned()));
            let v = b.relation_linear(both, &stack, 2, |name| format!("{name}.value"), None);
            let z = b.dot_attention(&stack.edges, [both, k, v], 2, 0.3)?;
            let z = b.mean_heads(z, 2, WIDTH);
            Ok(b.sum(&[(z, 1.0), (x, 0.2), (y, 0.3)]))
        }),
        ("scored sums", |b, x, y, _| {
            let edges = super::edges(b)?;
            let (both, other) = (b.concat(&[x, y]), b.concat(&[y, y]));
            let terms = of_kinds(&edges);
            let table = b.table("table", 3, Axis::padded(1, 2), Initial::glorot(3, 2))?;
            let mask = b.attention_mask(0, 0.3);
            let score = b.pair_score(&edges, both, "two", (2, 0.2), (terms.clone(), table), mask);
            // The same scores twice, once over messages of their own.
            let z = b.scored_sum(&score, both)?;
            let u = b.scored_sum(&score, other)?;
            let z = b.sum(&[(z, 1.0), (u, 0.6)]);
            let z = b.mean_heads(z, 2, WIDTH);
            let one = b.table("one", 3, Axis::padded(1, 1), Initial::glorot(3, 1))?;
            let score = b.pair_score(&edges, z, "one", (1, 0.1), (terms, one), None);
            let v = b.scored_sum(&score, y)?;
            Ok(b.sum(&[(z, 1.0), (v, 0.7), (x, 0.2)]))
        }),
        ("given rows", |b, x, y, _| {
            b.inputs.label_rate = 0.6;
            let features = b.input(0.1);
            let z = b.linear(features, "own.weight", WIDTH);
            let z = b.relu(z);
            let rows = b.source_axis(features.into());
            let weights = b.parameter("shared.weight", rows, b.axis(x), Initial::glorot(rows.len(), WIDTH));
            let (u, v) = (b.linear_with(features, weights), b.linear_with(features, weights));
            let u = b.activation(u, Activation::Tanh);
            Ok(b.sum(&[(z, 1.0), (u, 0.5), (v, 0.3), (x, 0.2), (y, 0.1)]))
        }),
        ("termed attention", |b, x, y, _| {
            let edges = super::edges(b)?;
            let (q, k, v) = (b.concat(&[x, y]), b.concat(&[y, x]), b.concat(&[x, x]));
            let table = b.table("kinds", 3, Axis::padded(1, 2), Initial::glorot(3, 2))?;
            let z = b.termed_attention(&edges, (Arc::new([]), of_kinds(&edges), table), [q, k, v], 2, 0.3)?;
            let z = b.mean_heads(z, 2, WIDTH);
            let weights = (0..2 * edges.n_entries()).map(|at| (at % 5) as f32 * 0.3 - 0.4).collect();
            let table = b.table("weights", 2, Axis::padded(1, 1), Initial::glorot(2, 1))?;
            let terms = EntryTerms::of_weights(weights, 2);
            let bias = (0..edges.n_entries()).map(|at| (at % 4) as f32 * 0.2 - 0.3).collect();
            let u = b.termed_attention(&edges, (bias, terms, table), [x, z, y], 1, 0.0)?;
            Ok(b.sum(&[(z, 1.0), (u, 0.7), (y, 0.2)]))
        }),
        ("relation sum", |b, x, y, p| {
            // From many rows to one, and back: products over the one row, and over the many.
            let one = |rows: Vec<Vec<u32>>| {
                let ends = rows.iter().scan(0, |end, row| {
                    *end += row.len();
                    Some(*end)
                });
                let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
                let columns: Vec<u32> = rows.concat();
                let values = columns.iter().map(|column| 0.1 + 0.2 * (column % 4) as f32).collect();
                Arc::new(Operator::from_rows(offsets, columns, values, false))
            };
            let row = |v: u32| if v == 3 { (4..30).collect() } else { Vec::new() };
            let to_one = one((0..NODES as u32).map(row).collect());
            let row = |v: u32| if (4..30).contains(&v) { vec![3] } else { Vec::new() };
            let from_one = one((0..NODES as u32).map(row).collect());
            let operators = [Arc::clone(p), to_one, from_one];
            let listed = |operator: Arc<Operator>| Arc::new(ListedOperator::from(&*operator));
            let relations: Vec<(String, Arc<ListedOperator>)> =
                operators.into_iter().enumerate().map(|(at, operator)| (format!("r{at}"), listed(operator))).collect();
            let z = b.relation_sum(x, y, &relations, |name| format!("{name}.first"))?;
            let z = b.activation(z, Activation::Tanh);
            let z = b.relation_sum(z, z, &relations, |name| format!("{name}.second"))?;
            Ok(b.sum(&[(z, 1.0), (x, 0.2), (y, 0.3)]))
        }),
        ("projected sum", |b, x, y, _| {
            let z = projected_sum(b)?;
            let z = b.activation(z, Activation::Tanh);
            let z = b.dropout(z, 0.3);
            let axis = b.axis(z);
            let z = b.kind_linear(z, &kinds(3, NODES), |kind| format!("{kind}.weight"), axis, &Initial::glorot(5, 5));
            Ok(b.sum(&[(z, 1.0), (x, 0.2), (y, 0.3)]))
        }),
    ]
}

/// The first layer of a graph of two types with features of their own, and one column that both have.
fn projected_sum(b: &mut Builder<'_, '_>) -> Result<Slot, BuildError> {
    let relations = relations();
    let columns = KindColumns { of: vec![vec![0, 2, 3], vec![1, 2]], most: 3 };
    let (mut offsets, mut entries) = (vec![0], Vec::new());
    for v in 0..NODES {
        // A row need not have all that its type may have.
        entries.extend(columns.of[v % 2].iter().skip(v / 2 % 2));
        offsets.push(entries.len());
    }
    let values = (0..entries.len()).map(|at| (at as f32 * 0.7).sin()).collect();
    let rows = SparseRows::new(4, offsets, entries, values).unwrap();
    let features = b.features(Arc::new(Features::Sparse(rows)), 0.2);
    let (hidden, width) = (Axis::padded(1, 3), Axis::padded(1, WIDTH));
    let input = b.parameter("p.weight", Axis::exact(4), hidden, Initial::glorot(4, 3));
    let input_bias = b.parameter("p.bias", Axis::exact(2), hidden, Initial::Constant(0.2));
    let mut weights = |name: String| b.parameter(name, hidden, width, Initial::glorot(3, WIDTH));
    let own = ["even", "odd"].map(|kind| weights(format!("p.{kind}"))).to_vec();
    let of_relations = relations.list().iter().map(|relation| weights(format!("p.{}", relations.name(relation))));
    let of_relations = of_relations.collect();
    let bias = b.parameter("p.last", Axis::exact(2), width, Initial::Constant(-0.1));
    let weights = ProjectedWeights { input, input_bias, own, relations: of_relations, bias };
    let mut means = Vec::new();
    for relation in relations.list() {
        means.push(Arc::new(ListedOperator::mean(&relation.messages, None, b.reservation())?));
    }
    Ok(b.projected_sum(features, (&relations, &columns), means.into_iter(), &weights)?)
}

/// The entries of an operator as of three kinds in turns.
fn of_kinds(edges: &Operator) -> EntryTerms {
    EntryTerms::of_kinds((0..edges.n_entries() as u32).map(|entry| entry % 3).collect(), 3)
}

/// Rows of so many kinds in turns.
fn kinds(n: usize, rows: usize) -> Kinds {
    let names = (0..n).map(|kind| format!("kind{kind}")).collect();
    Kinds { names, of: (0..rows).map(|row| (row / 2 % n) as u32).collect() }
}

/// The edges of the graph, from the node of the smaller number, as relations between two types.
fn relations() -> Relations {
    let graph = host(false).graph;
    let of = (0..NODES as u32).map(|v| v % 2).collect();
    let names = ["even", "odd"].map(str::to_owned).to_vec();
    let edges = graph.edges().map(|(u, v)| (u, v, 0));
    let types = GraphTypes::new(names, of, &["edge".to_owned()], edges, true).unwrap();
    Relations::new(&types, &graph)
}
