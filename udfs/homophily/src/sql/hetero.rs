//! A graph's tables with their types: what metapaths are walked in.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{GraphTables, KeyIndex, Run, execution_error, stopped};
use datafusion::common::Result;

use super::graph::{GraphRows, classes};
use crate::{HeteroGraph, Interner, TooManyKeys, TypedRelation};

/// The type of nodes and edges whose table has no column `type`.
const ONE_TYPE: (&str, &str) = ("node", "edge");

/// A heterogeneous graph and the way back to its keys.
pub(super) struct Hetero {
    pub graph: HeteroGraph,
    /// The nodes of each type, in the order of their keys: positions among all keys.
    pub members: Vec<Vec<u32>>,
    rows: GraphRows,
}

/// The names of types in ascending order, and the type of each row.
fn types(column: Option<&ArrayRef>, rows: usize, what: &str, one: &str) -> Result<(Vec<String>, Vec<u32>)> {
    let Some(column) = column else { return Ok((vec![one.to_owned()], vec![0; rows])) };
    let wrong = |error: TooManyKeys| execution_error(format!("{what}: {error}"));
    let (names, numbers) = match column.data_type() {
        DataType::Utf8 => text_types(column.as_string::<i32>().iter()).map_err(wrong)?,
        DataType::LargeUtf8 => text_types(column.as_string::<i64>().iter()).map_err(wrong)?,
        DataType::Utf8View => text_types(column.as_string_view().iter()).map_err(wrong)?,
        DataType::Dictionary(_, values) => return types(Some(&cast(column, values)?), rows, what, one),
        _ => {
            let (index, numbers) = classes(column, what)?;
            (texts(&index)?, numbers.into_iter().collect())
        }
    };
    match numbers {
        Some(numbers) => Ok((names, numbers)),
        None => Err(execution_error(format!(
            "{what} is NULL in {} rows: every row needs a type, or leave the column out",
            column.logical_null_count()
        ))),
    }
}

/// Distinct strings, and the numbers of rows among them.
type TextTypes = (Vec<String>, Option<Vec<u32>>);

/// The distinct strings in ascending order, and the number of each row's; `None` where a row is NULL. Types come in runs, so
/// most rows are compared with the one before.
fn text_types<'a>(rows: impl Iterator<Item = Option<&'a str>>) -> Result<TextTypes, TooManyKeys> {
    let mut interner = Interner::<String>::default();
    let mut last: Option<(&str, u32)> = None;
    let mut numbers = Some(Vec::with_capacity(rows.size_hint().0));
    for text in rows {
        let (Some(text), Some(numbers)) = (text, &mut numbers) else {
            numbers = None;
            break;
        };
        let number = match last {
            Some((known, number)) if known == text => number,
            _ => interner.intern(text)?,
        };
        last = Some((text, number));
        numbers.push(number);
    }
    let mut order: Vec<u32> = (0..interner.keys().len() as u32).collect();
    order.sort_unstable_by_key(|&number| &interner.keys()[number as usize]);
    let mut rank = vec![0u32; order.len()];
    (0u32..).zip(&order).for_each(|(position, &number)| rank[number as usize] = position);
    let numbers = numbers.map(|numbers: Vec<u32>| numbers.into_iter().map(|number| rank[number as usize]).collect());
    Ok((order.into_iter().map(|number| interner.keys()[number as usize].clone()).collect(), numbers))
}

fn texts(index: &KeyIndex) -> Result<Vec<String>> {
    let names = cast(&index.array(), &DataType::Utf8)?;
    Ok(names.as_string::<i32>().iter().map(|name| name.unwrap_or_default().to_owned()).collect())
}

impl Hetero {
    /// Reads a graph. The memory is reserved until the run ends.
    pub fn read(run: &Run, tables: &GraphTables) -> Result<Self> {
        let rows = GraphRows::read(run, tables, &["label", "type"], &["type"])?;
        let (n, host) = (rows.keys.len(), run.host());
        // Types and numbers within them, rows by relation, relations both ways.
        host.reserve(16 * n + 28 * rows.ends.len()).map_err(stopped)?;
        let (node_types, type_of_row) = types(rows.node_columns[1].as_ref(), n, "nodes.type", ONE_TYPE.0)?;
        let (edge_types, edge_type) = types(rows.edge_columns[0].as_ref(), rows.ends.len(), "edges.type", ONE_TYPE.1)?;
        let mut members = vec![Vec::new(); node_types.len()];
        let mut of_node = Vec::with_capacity(n);
        for (node, &row) in (0u32..).zip(&rows.row_of) {
            let kind = type_of_row[row as usize];
            of_node.push((kind, members[kind as usize].len() as u32));
            members[kind as usize].push(node);
        }
        // Rows of a relation come in runs: each run is cut off and given to its relation.
        let mut by_relation: BTreeMap<(u32, u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
        let (mut last, mut run_of_rows) = ((0, 0, 0), Vec::new());
        for (ends, &name) in rows.ends.iter().zip(&edge_type) {
            let Some((src, dst)) = *ends else { continue };
            let ((from, u), (to, v)) = (of_node[src as usize], of_node[dst as usize]);
            if (from, name, to) != last && !run_of_rows.is_empty() {
                by_relation.entry(last).or_default().append(&mut run_of_rows);
            }
            last = (from, name, to);
            run_of_rows.push((u, v));
        }
        if !run_of_rows.is_empty() {
            by_relation.entry(last).or_default().append(&mut run_of_rows);
        }
        let directed = tables.directed == Some(true);
        let relation = |((from, name, to), pairs): ((u32, u32, u32), Vec<(u32, u32)>)| {
            let (from, to) = (from as usize, to as usize);
            let sizes = (members[from].len(), members[to].len());
            let name = edge_types[name as usize].clone();
            run.install(|| TypedRelation::new(name, (from, to), sizes, &pairs, directed, host)).map_err(stopped)
        };
        let relations = by_relation.into_iter().map(relation).collect::<Result<Vec<_>>>()?;
        let node_types = node_types.into_iter().zip(members.iter().map(Vec::len)).collect();
        Ok(Self { graph: HeteroGraph { node_types, relations }, members, rows })
    }

    /// The type of nodes that is named, else the one that has labels; and the class of each of its nodes.
    pub fn target(&self, target: Option<&str>) -> Result<(usize, Vec<Option<u32>>)> {
        let Some(label) = &self.rows.node_columns[0] else {
            return Err(execution_error("its table nodes has no column label"));
        };
        let labels = self.rows.labels(label)?;
        let of_type = |kind: usize| self.members[kind].iter().map(|&node| labels[node as usize]).collect::<Vec<_>>();
        let known = |types: Vec<usize>| {
            let names: Vec<&str> = types.iter().map(|&kind| self.graph.node_types[kind].0.as_str()).collect();
            names.join(", ")
        };
        let all: Vec<usize> = (0..self.members.len()).collect();
        let has_labels = |kind: &usize| self.members[*kind].iter().any(|&node| labels[node as usize].is_some());
        let labelled: Vec<usize> = all.iter().copied().filter(has_labels).collect();
        let target = match (target, labelled.as_slice()) {
            (Some(name), _) => self.graph.node_type(name).ok_or_else(|| {
                execution_error(format!(
                    "target => '{name}': there is no such type of nodes; there are: {}",
                    known(all)
                ))
            })?,
            (None, [one]) => *one,
            (None, []) => return Err(execution_error("no node has a label")),
            (None, several) => {
                let several = known(several.to_vec());
                return Err(execution_error(format!(
                    "nodes of several types have labels ({several}): choose one, target => type"
                )));
            }
        };
        Ok((target, of_type(target)))
    }

    /// The keys of all nodes as text.
    pub fn key_texts(&self) -> Result<ArrayRef> {
        Ok(cast(&self.rows.keys.array(), &DataType::Utf8)?)
    }
}
