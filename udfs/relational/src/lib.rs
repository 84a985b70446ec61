//! A database of tables as one graph: rows are nodes, foreign keys are edges.
//!
//! [`Database`] holds the tables as typed columns. [`primary_keys`] and [`foreign_keys`] find keys by name and verify them
//! by values, [`resolve`] turns a foreign key into pairs of rows, [`encode`] turns what is left of a row into features, and
//! [`SchemaGraph::new`] numbers the nodes.
//!
//! ```
//! use bonnet_graph::Unmonitored;
//! use bonnet_relational::{Column, Database, Table, Values, foreign_keys, primary_keys};
//!
//! let table = |name: &str, columns: &[(&str, [i64; 2])]| {
//!     let column = |&(name, values): &(&str, [i64; 2])| Column {
//!         name: name.to_owned(),
//!         values: Values::Integers(values.map(Some).to_vec()),
//!     };
//!     Table { name: name.to_owned(), n_rows: 2, columns: columns.iter().map(column).collect() }
//! };
//! let customers = table("customers", &[("id", [1, 2])]);
//! let orders = table("orders", &[("order_id", [7, 8]), ("customer_id", [2, 2])]);
//! let shop = Database { tables: vec![customers, orders] };
//!
//! let keys = primary_keys(&shop, &[], &Unmonitored).unwrap();
//! let found = foreign_keys(&shop, &keys, &[], 0.5, &Unmonitored).unwrap();
//! let (bought, _) = &found.keys[0];
//! assert_eq!((bought.from, bought.to, &bought.columns[..]), (1, 0, &[1][..]));
//! ```
//!
//! # Floors
//!
//! 1. `error`, `keys`, `names`, `table`, `text`: tables, keys, names, errors.
//! 2. `encode`, `resolve`: features of rows; pairs of rows.
//! 3. `primary_keys`, `schema_graph`: keys, and the graph.
//! 4. `foreign_keys`: keys between tables.
//! 5. `sql`: `CREATE GRAPH ... FROM SCHEMA`.

mod encode;
mod error;
mod foreign_keys;
mod keys;
mod names;
mod primary_keys;
mod resolve;
mod schema_graph;
#[cfg(feature = "sql")]
mod sql;
mod table;
mod text;

pub use encode::{Encoding, FeatureBlock, FeatureRows, Features, encode};
pub use error::Error;
pub use foreign_keys::{FoundKeys, Refused, foreign_keys};
pub use keys::{ForeignKey, PrimaryKey};
pub use primary_keys::primary_keys;
pub use resolve::{Links, resolve};
pub use schema_graph::SchemaGraph;
#[cfg(feature = "sql")]
pub use sql::{KEYS, KeyClause, KeyColumns, Options, REFERENCE, Source, graph_tables};
pub use table::{Column, Database, NULL_TEXT, Table, Texts, Values};
pub use text::{Text, WordVectors};

#[cfg(test)]
mod testing;
