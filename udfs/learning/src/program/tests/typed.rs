//! The layers whose parameters are those of a row's kind.

use std::sync::Arc;

use super::{NODES, WIDTH, Write, host};
use crate::GraphTypes;
use crate::ground::Initial;
use crate::kernels::Activation;
use crate::network::{Kinds, Operator, Relations, StackedSources};

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
            let relations: Vec<(String, Arc<Operator>)> =
                operators.into_iter().enumerate().map(|(at, operator)| (format!("r{at}"), operator)).collect();
            let z = b.relation_sum(x, y, &relations, |name| format!("{name}.first"))?;
            let z = b.activation(z, Activation::Tanh);
            let z = b.relation_sum(z, z, &relations, |name| format!("{name}.second"))?;
            Ok(b.sum(&[(z, 1.0), (x, 0.2), (y, 0.3)]))
        }),
    ]
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
