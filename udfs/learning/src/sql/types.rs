//! The columns `type` of a graph's nodes and edges: types of nodes, relations of edges, features by type.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field};
use bonnet_graph::{Graph, Monitor};
use bonnet_sql::{KeyColumn, KeyIndex, stopped};
use datafusion::common::Result;

use super::columns::{OwnFeatures, read_features};
use crate::{Features, joined_features, joined_features_bytes, with_neighbor_means};

/// The column of the types.
pub(super) const TYPE: &str = "type";

/// The type of nodes and edges whose table has no such column.
pub(super) const ONE_TYPE: (&str, &str) = ("node", "edge");

/// The types of some items: their names in ascending order, and the number of each item's.
#[derive(Debug)]
pub(super) struct Kinds {
    pub names: Vec<String>,
    pub of: Vec<u32>,
}

impl Kinds {
    /// The types of the items whose rows are `rows`; without a column all are of the type `one`.
    ///
    /// # Errors
    /// If an item has none, or the column holds no names or numbers; says which column.
    pub fn read(column: Option<&ArrayRef>, what: &str, one: &str, rows: &[u32]) -> std::result::Result<Self, String> {
        let Some(column) = column else { return Ok(Self { names: vec![one.to_owned()], of: vec![0; rows.len()] }) };
        let column = match column.data_type() {
            DataType::Boolean => cast(column, &DataType::Utf8).map_err(|error| error.to_string())?,
            _ => Arc::clone(column),
        };
        let keys = KeyColumn::new(&column, what).map_err(|error| error.to_string())?;
        let index = KeyIndex::new(&[(what, &keys)]).map_err(|error| error.to_string())?;
        let numbers = index.numbers(&keys);
        let of: Vec<u32> = rows.iter().filter_map(|&row| numbers[row as usize]).collect();
        match rows.len() - of.len() {
            0 => {}
            lacking => {
                return Err(format!(
                    "{what} is NULL in {lacking} rows: every row needs a type, or leave the column out"
                ));
            }
        }
        let names = cast(&index.array(), &DataType::Utf8).map_err(|error| error.to_string())?;
        let names = names.as_string::<i32>().iter().map(|name| name.unwrap_or_default().to_owned()).collect();
        Ok(Self { names, of })
    }
}

/// What features by type are read from.
#[derive(Clone, Copy)]
pub(super) struct TypedColumn<'a> {
    pub column: &'a ArrayRef,
    pub field: &'a Field,
    /// The row of each node.
    pub row_of: &'a [u32],
    pub kinds: &'a Kinds,
    /// The key of a node.
    pub name: &'a dyn Fn(u32) -> String,
}

impl TypedColumn<'_> {
    /// The features of each type's nodes; [`Features::None`] for a type whose nodes have NULL, or empty lists.
    ///
    /// # Errors
    /// If some nodes of a type have features and others have none, or some have more than others.
    pub fn blocks(self) -> std::result::Result<Vec<Features>, String> {
        let Self { column, field, row_of, kinds, name } = self;
        let mut members = vec![Vec::new(); kinds.names.len()];
        for (node, (&row, &kind)) in (0u32..).zip(row_of.iter().zip(&kinds.of)) {
            members[kind as usize].push((node, row));
        }
        let nulls = column.logical_nulls();
        let is_null = |row: u32| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row as usize));
        let mut blocks = Vec::with_capacity(members.len());
        for (members, kind) in members.iter().zip(&kinds.names) {
            let absent = members.iter().filter(|(_, row)| is_null(*row)).count();
            if absent == members.len() {
                blocks.push(Features::None);
                continue;
            }
            if let Some((node, _)) = members.iter().find(|(_, row)| is_null(*row)) {
                let (n, node) = (members.len(), name(*node));
                return Err(format!(
                    "{absent} of the {n} nodes of type {kind} have no features (their features are NULL), such as {node}: \
                     give features to all nodes of a type, or to none"
                ));
            }
            let rows = UInt32Array::from_iter_values(members.iter().map(|(_, row)| *row));
            let own = take(column, &rows, None).map_err(|error| error.to_string())?;
            let all: Vec<u32> = (0..members.len() as u32).collect();
            let name = |member: u32| format!("{} of type {kind}", name(members[member as usize].0));
            blocks.push(match own.data_type() {
                DataType::List(_) if own.as_list::<i32>().values().is_empty() => Features::None,
                _ => match read_features(&own, field, &all, None, &name)? {
                    block if block.n_columns() == 0 => Features::None,
                    block => block,
                },
            });
        }
        Ok(blocks)
    }

    /// The features of all nodes, a block of columns for each type; with `means` also those with the means of neighbours in
    /// place of what types lack. The memory is reserved for good.
    pub fn read(self, graph: &Graph, means: bool, host: &dyn Monitor) -> Result<OwnFeatures> {
        let blocks = match self.blocks() {
            Ok(blocks) => blocks,
            Err(why) => return Ok(OwnFeatures::Malformed(why)),
        };
        let Kinds { names, of } = self.kinds;
        let join = |blocks: &[Features]| -> Result<std::result::Result<Arc<Features>, String>> {
            host.reserve(joined_features_bytes(of, blocks)).map_err(stopped)?;
            Ok(joined_features(of, blocks).map(Arc::new).map_err(|error| error.to_string()))
        };
        let embedded = match join(&blocks)? {
            Ok(embedded) => embedded,
            Err(why) => return Ok(OwnFeatures::Malformed(why)),
        };
        let lacks = blocks.iter().any(|block| block.n_rows().is_none());
        let means = match (lacks, means) {
            (false, _) => Ok(Arc::clone(&embedded)),
            (true, false) => Err("the graph was read without the means of neighbours".to_owned()),
            (true, true) => match with_neighbor_means(graph, names, of, blocks, host).map_err(stopped)? {
                Ok(filled) => join(&filled)?,
                Err(error) => Err(error.to_string()),
            },
        };
        Ok(OwnFeatures::Typed { embedded, means })
    }
}
