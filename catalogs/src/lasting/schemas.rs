//! CREATE and DROP of the schemas of a database.

use std::sync::Arc;

use bonnet_common::raise;
use datafusion::common::{Result, internal_err, plan_err};

use super::database::Database;
use super::entry::{self, Entry};
use super::store::{self, Appender};
use super::{layout, types};
use crate::ground::new_table::{MAIN_SCHEMA, NewGraph};

impl Database {
    /// The names of the schemas, in order.
    pub(crate) fn schema_names(&self) -> Vec<String> {
        entry::list(&self.catalog()).unwrap_or_default()
    }

    /// Creates an empty schema.
    ///
    /// # Errors
    /// If the name is taken, or the database cannot be changed.
    pub(crate) fn create_schema(&self, name: &str) -> Result<()> {
        let _lock = self.lock()?;
        let path = self.schema_path(name);
        if entry::read(&path)?.is_some() {
            return raise!(AlreadyExists, "the schema {name} exists already");
        }
        let folder = self.schema_folder(name)?;
        Ok(entry::write(&path, &Entry::Schema { folder, graph: None, attached: None })?)
    }

    /// Drops a schema, with `cascade` even if it has tables; whether there was one.
    ///
    /// # Errors
    /// If it stays.
    pub(crate) fn drop_schema(&self, name: &str, cascade: bool) -> Result<bool> {
        if name == MAIN_SCHEMA {
            return plan_err!("the schema {MAIN_SCHEMA} belongs to the database and cannot be dropped");
        }
        let _lock = self.lock()?;
        let path = self.schema_path(name);
        // One that is damaged names no folder; VACUUM removes what it named.
        let entry = entry::read(&path);
        if let Ok(Some(Entry::Schema { folder, .. })) = &entry
            && !cascade
        {
            let tables = entry::list(&self.catalog().join(folder))?;
            if !tables.is_empty() {
                let tables = tables.join(", ");
                return plan_err!("schema {name} has the tables {tables}; DROP SCHEMA {name} CASCADE drops them too");
            }
        }
        let found = entry::remove(&path)?;
        if let Ok(Some(Entry::Schema { folder, .. })) = entry {
            // Out of reach without its schema; VACUUM removes what is left.
            self.remove_entries(&folder);
        }
        Ok(found)
    }

    /// Creates a schema with the tables of a graph, in one step. With `replace` it takes the place of a schema that was
    /// made here.
    ///
    /// # Errors
    /// If the name is taken and not to be replaced, or the tables cannot be written.
    pub(crate) async fn create_graph(self: &Arc<Self>, schema: &str, graph: NewGraph, replace: bool) -> Result<()> {
        let NewGraph { facts, tables, .. } = graph;
        let mut built = Vec::new();
        for (table, rows) in tables {
            let Some(first) = rows.first() else { return internal_err!("the table {table} has no batch") };
            let name = format!("{schema}.{table}");
            let building = self.build(schema, table)?;
            let columns = types::storable(&first.schema())?;
            let mut files = Appender::new(&building.path(), &name, &columns, &[])?;
            for rows in &rows {
                files.write(rows).await?;
            }
            let added = store::synced(&building.path(), files.take().await?).await?;
            store::create(&building.path(), &name, &columns, added).await?;
            built.push((table, building));
        }
        let _lock = self.lock()?;
        let path = self.schema_path(schema);
        let before = entry::read(&path)?;
        match &before {
            Some(_) if !replace => return raise!(AlreadyExists, "the schema {schema} exists already"),
            Some(Entry::Schema { attached: Some(_), .. }) => {
                return plan_err!("{schema} is attached, not made here: DETACH {schema} first");
            }
            _ => {}
        }
        let folder = self.schema_folder(schema)?;
        let entries = self.catalog().join(&folder);
        for (table, building) in &built {
            let table_entry = Entry::Table { folder: building.folder.clone(), defaults: Vec::new() };
            entry::write(&layout::entry(&entries, table), &table_entry)?;
        }
        entry::write(&path, &Entry::Schema { folder, graph: Some(facts), attached: None })?;
        built.into_iter().for_each(|(_, building)| building.keep());
        if let Some(Entry::Schema { folder, .. }) = before {
            self.remove_entries(&folder);
        }
        Ok(())
    }
}
