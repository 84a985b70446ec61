//! `CREATE GRAPH g FROM SCHEMA s`: its input, its options, and the tables that it answers.

mod error;
mod keys;
mod options;
mod source;
mod tables;

use arrow::array::RecordBatch;
use arrow::datatypes::Field;
use bonnet_graph::Monitor;
use bonnet_sql::stopped;
use datafusion::common::Result;

pub use options::{KeyClause, KeyColumns, Options};
pub use source::Source;
pub use tables::KEYS;

use crate::{Database, SchemaGraph, Text, encode};
use error::relational;
use keys::{Keys, keys};
use tables::Tables;

/// The text of the statement in the reference.
pub const REFERENCE: &str = "\
## CREATE GRAPH from a schema

```sql
CREATE [OR REPLACE] GRAPH [IF NOT EXISTS] g FROM SCHEMA s
  [KEYS (orders.customer_id -> customers.id AS bought, stops(race, lap) -> laps(race, lap), customers(id), ...)]
  [WITH (option => value, ...)]
```

Every table of the schema `s` (views, too) is a type of nodes, every row a node, every foreign key a type of edges, from the \
row that refers to the row it names. The graph `g` has the tables

| table | columns |
|---|---|
| `nodes` | `node` (0, 1, ...: table by table, the rows of a table by their key), `label` (with the option), `features` `MAP(INT, FLOAT)`, \
`type` (the table), `id` (the row's key as text, several columns joined by a blank; without a key the row's number, from 1), `time` (with the option) |
| `edges` | `src`, `dst`, `type` (`table.column`, or the name given by AS), `weight` (with the option) |
| `keys` | what the statement prints: `kind` (`primary`, `foreign`), `key`, `type`, `found` (`declared`, `inferred`, `refused`, \
`label`, `row number`), `rows` (nodes or edges), `nulls`, `dangling` (rows whose key names no row), `examples` (of dangling keys) |
| `features` | `type`, `column`, `encoding`, `first`, `width`: the places of a column's features |

**Keys** are those in KEYS, declared PRIMARY KEYs, and those that are found by name and verified by values. In KEYS, `t(a, b)` \
alone is a primary key, `t.a -> u.b` a foreign one, `t.a -> u` refers to the primary key of `u`; one column of strings against \
several columns means their values joined by a blank: `accidents.driver -> drivers(forename, surname)`. A column is inferred \
to be a foreign key if it is called like another table's key (`driverId`), like the table in the singular, with a word for a \
key (`driver_id`) or without (`driver`), or has a role in front (`home_team_id`; `parent_id` is the own table), and if the \
share `coverage` of its values at least names a row; a name that its values refute is printed as `refused`. A primary key is \
inferred to be the first of these columns without NULL and repetition: `id`, one called like its table, the first one.

**Features**: a number is one feature, its distance from the column's mean in standard deviations; a text column of at most \
`categories` different strings, each twice on average, has one feature a string; the other strings of a row together are one \
vector, in the first positions for every type: the mean of the `text_vectors` of its words, or, without them, hashed trigrams in \
`text_width` positions. **The hashed trigrams are a stand-in**: they know spelling, not meaning. Keys are no features; NULL is no \
entry. A text `\\N`, as MySQL and PostgreSQL write NULL into files, is NULL, and a column that only this made text is one of \
numbers. All types share one space of features, so a model that knows no types reads `g` as it is.

| option | default | |
|---|---|---|
| `infer` | `true` | whether foreign keys are also looked for where none is declared |
| `coverage` | `0.5` | the share of values that have to name a row, above 0 and at most 1 |
| `label` | | the column `table.column` that becomes `nodes.label`, and no feature; a foreign key that it is part of would tell \
it, so makes no edges |
| `weight` | | the name of the columns of numbers whose value is the weight of their row's edges; 1 in tables without it |
| `time` | | the name of the columns of dates, timestamps or whole numbers that say when their row came: `nodes.time`, NULL in \
tables without it, which were always there; no feature |
| `text_vectors` | | a relation with `word` TEXT and `vector` FLOAT[] |
| `text_width` | `64` | the places of hashed trigrams |
| `categories` | `50` | the most different strings of a column of categories |
| `isolated` | `true` | whether rows without an edge are nodes |
| `directed` | `false` | whether the edges are arcs, for functions with `directed => true` |
| `homogeneous` | `false` | leaves the columns `type` out, so that all nodes and edges are of one type |
";

/// The tables of the graph, by name, each with one batch at least; the statement prints [`KEYS`].
/// `features_field` is the column of sparse features of so many positions.
///
/// # Errors
/// If an option or a key names what is not there, and if memory runs out.
pub fn graph_tables(
    source: &Source,
    options: &Options,
    features_field: impl Fn(usize) -> Field,
    monitor: &dyn Monitor,
) -> Result<Vec<(&'static str, Vec<RecordBatch>)>> {
    let database = &source.database;
    let declared = options.declared(database)?;
    let keys = keys(source, options, declared, monitor)?;
    let text = match &options.text_vectors {
        Some(vectors) => Text::Vectors(vectors),
        None => Text::Hashed(options.text_width),
    };
    let label = options.label(database)?;
    let weight = options.weight(database)?;
    let times = options.times(source)?;
    let of_times = times.as_ref().map_or(&[][..], |times| &times.columns);
    let used = used(database, &keys, label, [(&weight, "weight"), (of_times, "time")]);
    let features = encode(database, &used, text, options.categories, monitor).map_err(relational)?;
    // The features, and once more as columns; nodes and edges as columns.
    monitor.reserve(2 * features.bytes()).map_err(stopped)?;
    let graph =
        SchemaGraph::new(database, &keys.primary, &keys.foreign, options.isolated, monitor).map_err(relational)?;
    let tables = Tables {
        source,
        keys: &keys,
        graph: &graph,
        features: &features,
        features_field: features_field(features.width as usize),
        typed: !options.homogeneous,
        times,
    };
    tables.all(label, options.weight.is_some().then_some(weight.as_slice()), monitor)
}

/// The use of each column that becomes no feature.
fn used(
    database: &Database,
    keys: &Keys,
    label: Option<(usize, usize)>,
    named: [(&[Option<usize>], &'static str); 2],
) -> Vec<Vec<Option<&'static str>>> {
    let mut used: Vec<Vec<Option<&'static str>>> =
        database.tables.iter().map(|table| vec![None; table.columns.len()]).collect();
    for (table, key) in keys.primary.iter().enumerate() {
        key.columns.iter().for_each(|&column| used[table][column] = Some("primary key"));
    }
    for (key, _) in &keys.foreign {
        key.columns.iter().for_each(|&column| used[key.from][column] = Some("foreign key"));
    }
    for (columns, what) in named {
        for (table, column) in columns.iter().enumerate() {
            column.iter().for_each(|&column| used[table][column] = Some(what));
        }
    }
    if let Some((table, column)) = label {
        used[table][column] = Some("label");
    }
    used
}
