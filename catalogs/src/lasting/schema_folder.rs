//! The tables and views of a schema of a database: a file for each in the folder of the schema.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use bonnet_common::{ErrorKind, Raised};
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result, exec_datafusion_err, exec_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::sql::unparser::expr_to_sql;
use futures::StreamExt;

use super::damage;
use super::database::Database;
use super::entry::{self, Entry};
use super::store::{self, Appender};
use super::table::LastingTable;
use super::{layout, names, new_columns, types};
use crate::ground::column_change::ColumnChange;
use crate::ground::new_table::{MAIN_SCHEMA, NewTable};

/// How often a change of columns is tried where other statements commit meanwhile.
const REWRITES: usize = 20;

/// The most bytes of a table's name as a file's: file systems take 255, an extension and a number included.
const LONGEST_NAME: usize = 200;

/// The tables and views of a schema of a database.
pub(crate) struct SchemaFolder {
    database: Arc<Database>,
    name: String,
    folder: PathBuf,
}

/// What a name of a schema stands for.
pub(crate) enum Found {
    /// A table: a lasting one, or one that a program registered.
    Table(Arc<dyn TableProvider>),
    /// A view.
    View {
        /// The query of the view.
        sql: String,
        /// The schema in which the query's names are looked up.
        schema: String,
    },
}

/// The entry of a table or view as it was at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptEntry(Entry);

impl SchemaFolder {
    /// The schema `name` of a database, with the entries of its tables in this folder.
    pub(crate) fn new(database: Arc<Database>, name: &str, folder: PathBuf) -> Self {
        Self { database, name: name.to_owned(), folder }
    }

    /// The database that the schema belongs to.
    pub(crate) fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The name of the schema.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn path(&self, table: &str) -> PathBuf {
        layout::entry(&self.folder, table)
    }

    /// A table's name with its schema's, unless that is the one of tables without a schema.
    pub(crate) fn full_name(&self, table: &str) -> String {
        if self.name == MAIN_SCHEMA { table.to_owned() } else { format!("{}.{table}", self.name) }
    }

    /// The names of the tables and views, in no order and maybe twice.
    pub(crate) fn table_names(&self) -> Vec<String> {
        let mut all = entry::list(&self.folder).unwrap_or_default();
        all.extend(self.database.registered_names(&self.name));
        all
    }

    /// Whether a table or view has this name.
    pub(crate) fn table_exist(&self, name: &str) -> bool {
        self.database.registered(&self.name, name).is_some() || self.path(name).symlink_metadata().is_ok()
    }

    /// The table or view of this name.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) async fn find(&self, name: &str) -> Result<Option<Found>> {
        if let Some(table) = self.database.registered(&self.name, name) {
            return Ok(Some(Found::Table(table)));
        }
        match self.entry(name)? {
            Some(Entry::Table { .. }) => Ok(self.lasting_table(name).await?.map(|table| Found::Table(Arc::new(table)))),
            Some(Entry::View { sql, schema }) => Ok(Some(Found::View { sql, schema })),
            Some(_) => Err(self.no_table(name)),
            None => Ok(None),
        }
    }

    /// Whether a name is that of a table or a view. Reads no table.
    ///
    /// # Errors
    /// If its entry cannot be read.
    pub(crate) fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        if let Some(table) = self.database.registered(&self.name, name) {
            return Ok(Some(table.table_type()));
        }
        Ok(self.entry(name)?.map(|entry| match entry {
            Entry::View { .. } => TableType::View,
            _ => TableType::Base,
        }))
    }

    /// The lasting table of this name: what has versions, and files that are merged and removed.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) async fn lasting_table(&self, table: &str) -> Result<Option<LastingTable>> {
        match self.entry(table)? {
            Some(Entry::Table { folder, defaults }) => {
                LastingTable::of(&self.database, self.full_name(table), folder, &defaults).await.map(Some)
            }
            Some(Entry::View { .. }) | None => Ok(None),
            Some(_) => Err(self.no_table(table)),
        }
    }

    /// The tables and views whose entries cannot be read, each with the reason.
    pub(crate) fn damaged(&self) -> Vec<(String, String)> {
        let names = entry::list(&self.folder).unwrap_or_default().into_iter();
        let fault = |name: String| {
            let why = match self.entry(&name) {
                Ok(Some(Entry::Table { folder, .. })) => {
                    damage::without_log(&self.full_name(&name), &self.database.table_path(&folder))?
                }
                Ok(Some(Entry::View { .. }) | None) => return None,
                Ok(Some(_)) => self.no_table(&name),
                Err(error) => error,
            };
            Some((name, why))
        };
        names.filter_map(fault).map(|(name, why)| (name, text(&why))).collect()
    }

    /// Creates a table, which appears with all its rows or not at all. With `replace` it takes the place of a table or view.
    ///
    /// # Errors
    /// If the name is taken and not to be replaced, or the rows fail.
    pub(crate) async fn create_table(&self, table: &str, new: NewTable, replace: bool) -> Result<()> {
        let name = self.full_name(table);
        if new.constraints.iter().next().is_some() {
            return plan_err!("{name}: Delta tables keep no PRIMARY KEY and no UNIQUE: leave them out");
        }
        let columns = types::storable(&new.columns)?;
        let defaults = new.defaults.iter().map(|(column, value)| Ok((column.clone(), default_sql(value)?)));
        let defaults = defaults.collect::<Result<Vec<_>>>()?;
        let building = self.database.build(&self.name, table)?;
        let mut files = Appender::new(&building.path(), &name, &columns, &[])?;
        let mut rows = new.rows.execute_stream().await?;
        while let Some(batch) = rows.next().await.transpose()? {
            files.write(&batch).await?;
        }
        let added = store::synced(&building.path(), files.take().await?).await?;
        store::create(&building.path(), &name, &columns, added).await?;
        self.put(table, &Entry::Table { folder: building.folder.clone(), defaults }, replace)?;
        building.keep();
        Ok(())
    }

    /// Creates a view. With `replace` it takes the place of a table or view.
    ///
    /// # Errors
    /// If the name is taken and not to be replaced.
    pub(crate) fn create_view(&self, name: &str, sql: String, schema: String, replace: bool) -> Result<()> {
        self.put(name, &Entry::View { sql, schema }, replace)
    }

    /// The table that a program registered under this name.
    pub(crate) fn registered(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        self.database.registered(&self.name, name)
    }

    /// Registers the table of a program, which lasts as long as that.
    pub(crate) fn register_table(&self, name: &str, table: Arc<dyn TableProvider>) {
        self.database.register(&self.name, name, table);
    }

    /// Forgets the table of a program; whether there was one.
    pub(crate) fn unregister_table(&self, name: &str) -> bool {
        self.database.unregister(&self.name, name).is_some()
    }

    /// Drops a table or view; whether there was one. Its files stay until VACUUM.
    ///
    /// # Errors
    /// If the database cannot be changed.
    pub(crate) fn drop_table(&self, table: &str) -> Result<bool> {
        let _lock = self.database.lock()?;
        let path = self.path(table);
        let before = entry::read(&path);
        let found = entry::remove(&path)?;
        if let Ok(Some(before)) = before {
            self.database.mark_dropped(&before);
        }
        Ok(found)
    }

    /// The entry of this name as it is now.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn kept(&self, table: &str) -> Result<Option<KeptEntry>> {
        Ok(self.entry(table)?.map(KeptEntry))
    }

    /// Puts an entry back that was dropped or replaced.
    ///
    /// # Errors
    /// If the name is taken, or VACUUM has removed its files.
    pub(crate) fn put_back(&self, table: &str, kept: &KeptEntry) -> Result<()> {
        if let Entry::Table { folder, .. } = &kept.0
            && !self.database.table_path(folder).is_dir()
        {
            return exec_err!("the files of {} were removed meanwhile", self.full_name(table));
        }
        self.put(table, &kept.0, false)?;
        self.database.unmark_dropped(&kept.0);
        Ok(())
    }

    /// Gives a table or view another name.
    ///
    /// # Errors
    /// If the name is taken, or the table stays as it is.
    pub(crate) fn rename_table(&self, table: &str, to: &str) -> Result<()> {
        if self.database.registered(&self.name, table).is_some() {
            return plan_err!("{} was registered by a program, which gives it its name", self.full_name(table));
        }
        let _lock = self.database.lock()?;
        if self.table_exist(to) {
            let error =
                Raised::new(ErrorKind::AlreadyExists, format!("the table {} exists already", self.full_name(to)));
            return Err(error.advise("DROP it first").into());
        }
        Ok(entry::rename(&self.path(table), &self.path(to))?)
    }

    /// Changes the columns of a table. Its defaults stand in the catalog: a new one is there before its column, and one that
    /// goes after it.
    ///
    /// # Errors
    /// If they cannot be changed so; the table stays as it is.
    pub(crate) async fn change_columns(&self, table: &str, change: &ColumnChange, state: &SessionState) -> Result<()> {
        let Some(Entry::Table { folder, defaults }) = self.entry(table)? else {
            return plan_err!("{} was registered by a program, which gives it its columns", self.full_name(table));
        };
        let name = self.full_name(table);
        let lasting = LastingTable::of(&self.database, name.clone(), folder.clone(), &defaults).await?;
        lasting.writable()?;
        let columns = lasting.schema();
        // What cannot be is refused before anything is written.
        let changed = change.of(&name, &columns)?;
        let default_of = |column: &str| defaults.iter().find(|(known, _)| known == column).map(|(_, sql)| sql.clone());
        let mut after = changed.defaults(&columns, default_of);
        if let ColumnChange::Add { field, default: Some(default) } = change {
            after.push((field.name().clone(), default_sql(default)?));
        }
        let goes = |(column, _): &&(String, String)| {
            columns.index_of(column).is_ok() && after.iter().all(|(kept, _)| kept != column)
        };
        let before: Vec<_> = after.iter().chain(defaults.iter().filter(goes)).cloned().collect();
        if before != defaults {
            self.set_defaults(table, &folder, before.clone())?;
        }
        let changed = self.rewritten(&lasting, table, change, state).await;
        let last = if changed.is_ok() { after } else { defaults };
        if last != before {
            self.set_defaults(table, &folder, last)?;
        }
        changed
    }

    /// Writes a table anew with other columns, again where another commit comes first.
    async fn rewritten(
        &self,
        lasting: &LastingTable,
        table: &str,
        change: &ColumnChange,
        state: &SessionState,
    ) -> Result<()> {
        let name = self.full_name(table);
        for _ in 0..REWRITES {
            let now = lasting.now().await?;
            let aside = self.database.build(&self.name, table)?;
            if new_columns::run(&now, &aside.path(), &name, state, change).await? {
                return Ok(());
            }
        }
        exec_err!(
            "other statements changed {name} each time while this one ran; nothing of this one was kept: run it again once they \
             have ended"
        )
    }

    fn set_defaults(&self, table: &str, folder: &str, defaults: Vec<(String, String)>) -> Result<()> {
        let _lock = self.database.lock()?;
        match self.entry(table)? {
            Some(Entry::Table { folder: there, .. }) if there == folder => {
                Ok(entry::write(&self.path(table), &Entry::Table { folder: there, defaults })?)
            }
            _ => exec_err!("{} was dropped while the statement ran", self.full_name(table)),
        }
    }

    /// Refuses a new table or view where the database cannot be changed, or a file cannot have its name.
    pub(crate) fn check_new(&self, table: &str) -> Result<()> {
        self.database.writable()?;
        let bytes = names::encode(table).len();
        if bytes > LONGEST_NAME {
            return plan_err!(
                "the name '{table}' is too long: it takes {bytes} bytes in the name of a file, where a letter other than a-z, 0-9 \
                 and _ takes three for each of its bytes, and a lasting table has {LONGEST_NAME}: shorten it"
            );
        }
        Ok(())
    }

    /// The error of an entry that is of no table and no view.
    fn no_table(&self, name: &str) -> DataFusionError {
        let error = io::Error::new(
            io::ErrorKind::InvalidData,
            format!("'{}' is damaged: it is the entry of a schema", self.path(name).display()),
        );
        self.damaged_entry(name, &error).into()
    }

    /// The entry of a table or view.
    fn entry(&self, table: &str) -> Result<Option<Entry>> {
        Ok(entry::read(&self.path(table)).map_err(|error| self.damaged_entry(table, &error))?)
    }

    /// The error of an entry that cannot be read. Its table is no longer used by anything, but its files are there.
    fn damaged_entry(&self, table: &str, error: &io::Error) -> io::Error {
        let name = self.full_name(table);
        let remedy = match error.kind() {
            io::ErrorKind::IsADirectory => "move it away".to_owned(),
            _ => format!(
                "restore it from a copy of the database, or DROP TABLE {name} forgets it, and VACUUM removes its files a week \
                 later"
            ),
        };
        let text = format!("{name} cannot be read: {error}; {remedy}");
        io::Error::new(error.kind(), text)
    }

    fn put(&self, table: &str, entry: &Entry, replace: bool) -> Result<()> {
        let path = self.path(table);
        let _lock = self.database.lock()?;
        if !self.folder.is_dir() {
            self.database.schema_entry(&self.name).map_err(|why| exec_datafusion_err!("{why}"))?;
            return exec_err!("the schema {} was dropped while the statement ran", self.name);
        }
        // One that is damaged can be replaced.
        let before = entry::read(&path).transpose();
        if !replace && before.is_some() {
            let error =
                Raised::new(ErrorKind::AlreadyExists, format!("the table {} exists already", self.full_name(table)));
            return Err(error.advise("CREATE OR REPLACE, or DROP it first").into());
        }
        entry::write(&path, entry)?;
        if let Some(Ok(before)) = before {
            self.database.mark_dropped(&before);
        }
        Ok(())
    }
}

/// The message of an error, without the name of its class.
fn text(error: &DataFusionError) -> String {
    match error {
        DataFusionError::IoError(error) => error.to_string(),
        other => other.strip_backtrace(),
    }
}

/// A default as SQL, which is read again when the database is opened.
fn default_sql(value: &Expr) -> Result<String> {
    let mut constant = true;
    value.apply(|expr| {
        constant &= !matches!(expr, Expr::ScalarFunction(_) | Expr::Column(_));
        Ok(TreeNodeRecursion::Continue)
    })?;
    if !constant {
        return plan_err!("DEFAULT {value}: the default of a lasting table is a constant");
    }
    Ok(expr_to_sql(value)?.to_string())
}
