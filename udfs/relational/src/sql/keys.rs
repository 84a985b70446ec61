//! The keys of a database, declared and found.

use bonnet_graph::Monitor;
use datafusion::common::Result;

use super::error::relational;
use super::options::{Declared, Options, check_arity};
use super::source::Source;
use crate::{ForeignKey, Links, PrimaryKey, foreign_keys, primary_keys, resolve};

/// The keys of a database with what they join.
pub(super) struct Keys {
    pub(super) primary: Vec<PrimaryKey>,
    pub(super) foreign: Vec<(ForeignKey, Links)>,
    pub(super) refused: Vec<(ForeignKey, Links)>,
    /// The keys that would tell the label: they make no edges.
    pub(super) hidden: Vec<(ForeignKey, Links)>,
}

/// The keys that are declared and, with `infer`, those that are found.
pub(super) fn keys(source: &Source, options: &Options, declared: Declared, monitor: &dyn Monitor) -> Result<Keys> {
    let database = &source.database;
    let mut of_tables = source.primary_keys.clone();
    for (table, columns) in declared.primary {
        of_tables[table] = columns;
    }
    let primary = primary_keys(database, &of_tables, monitor).map_err(relational)?;
    let mut foreign = Vec::new();
    for mut key in declared.foreign {
        if key.to_columns.is_empty() {
            key.to_columns.clone_from(&primary[key.to].columns);
            check_arity(database, &key)?;
        }
        let links = resolve(database, &key, monitor).map_err(relational)?;
        foreign.push((key, links));
    }
    let mut refused = Vec::new();
    if options.infer {
        let known: Vec<ForeignKey> = foreign.iter().map(|(key, _)| key.clone()).collect();
        let found = foreign_keys(database, &primary, &known, options.coverage, monitor).map_err(relational)?;
        foreign.extend(found.keys);
        refused.extend(found.refused.into_iter().map(|refused| (refused.key, refused.links)));
    }
    foreign.sort_by(|(a, _), (b, _)| (a.from, &a.columns, a.to).cmp(&(b.from, &b.columns, b.to)));
    let label = options.label(database)?;
    let tells_label = |(key, _): &(ForeignKey, Links)| {
        label.is_some_and(|(table, column)| key.from == table && key.columns.contains(&column))
    };
    let (hidden, foreign) = foreign.into_iter().partition(tells_label);
    Ok(Keys { primary, foreign, refused, hidden })
}
