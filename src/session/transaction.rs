//! BEGIN, COMMIT and ROLLBACK: every statement is committed when it ends, and ROLLBACK takes back what can be taken back.
//!
//! Tables and views that a transaction makes, replaces or drops are put back as they were, and so are the rows of tables that it
//! changes, whatever their number, unless another session has changed the same ones meanwhile. Any other change is the only one of
//! its transaction, and cannot be undone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bonnet_catalogs::{EngineSchema, KeptRows, KeptTable, TableVersion};
use bonnet_common::raise;
use datafusion::common::TableReference;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::planner::object_name_to_table_reference;
use datafusion::sql::sqlparser::ast::{self, FromTable, ObjectName, ObjectType, TableFactor, TableObject};

use crate::{Answer, Result};
use bonnet_dialect::syntax::statements::statement::Statement;

/// A session's open transaction, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Transaction(Arc<Mutex<Option<Open>>>);

/// What an open transaction has changed.
#[derive(Default)]
struct Open {
    /// What can be undone, in the order of the statements.
    undoable: Vec<Undoable>,
    /// The change that cannot be undone.
    lasting: Option<String>,
    /// How many statements have changed something.
    changes: usize,
}

/// A change that can be undone.
enum Undoable {
    Name(Defined),
    Rows(Changed),
}

/// A table whose rows have changed.
struct Changed {
    schema: Arc<dyn EngineSchema>,
    table: String,
    before: KeptRows,
    /// Those that it had afterwards; `None` where that is not one change later.
    after: Option<TableVersion>,
}

/// A table whose rows are about to change.
pub(crate) struct Changing {
    pub(crate) schema: Arc<dyn EngineSchema>,
    pub(crate) table: String,
    /// Its rows as they are.
    pub(crate) before: KeptRows,
}

/// The table whose rows a statement changes, as a transaction sees it.
pub(crate) enum RowsOf {
    /// The transaction has made it.
    MadeHere,
    /// Its rows can be put back.
    Kept(Box<Changing>),
    /// They cannot, or there is no such table.
    Other,
}

/// A name of a schema that has got, or lost, its table or view.
struct Defined {
    schema: Arc<dyn EngineSchema>,
    table: String,
    before: Option<KeptTable>,
    after: Option<KeptTable>,
}

/// A statement as a transaction sees it.
pub(crate) enum Step {
    Begin,
    Commit,
    Rollback,
    /// Nothing is changed.
    Reads,
    /// A table or view is made, replaced or dropped.
    Defines(String),
    /// Rows of one table are changed.
    Rows(String, TableReference),
    /// Any other change.
    Changes(String),
}

/// A change whose statement may run.
pub(crate) enum Admitted {
    /// It is answered.
    Done(Answer),
    /// It may run, and is done by [`Transaction::noting`].
    Runs(Option<Noted>),
}

/// What is noted of a change once it has run.
pub(crate) enum Noted {
    /// It is a definition, which is noted where a name has got another meaning: IF EXISTS may change nothing.
    Defined,
    /// It goes with its table.
    Undone,
    /// It changes rows that can be put back.
    Rows(Box<Changing>),
    /// Nothing undoes it.
    Lasting(String),
}

impl Transaction {
    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a transaction has begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().is_some()
    }

    /// How many statements of the open transaction have changed something.
    pub(crate) fn changes(&self) -> usize {
        self.lock().as_ref().map_or(0, |open| open.changes)
    }

    /// Answers a statement that begins or ends a transaction, and refuses a change that could not be undone with those before.
    /// `rows` is the table whose rows a [`Step::Rows`] changes.
    ///
    /// # Errors
    /// If the statement asks for what the transaction cannot do.
    pub(crate) async fn admit(&self, step: Step, rows: RowsOf) -> Result<Admitted> {
        let done = |tag: &str| Ok(Admitted::Done(Answer::Done(tag.to_owned())));
        if let Step::Rollback = step {
            let Some(open) = self.lock().take() else {
                return raise!(NoTransaction, "no transaction is open: BEGIN begins one");
            };
            open.roll_back().await?;
            return done("ROLLBACK");
        }
        let mut open = self.lock();
        let (tag, noted) = match (step, &mut *open) {
            (Step::Begin, None) => {
                *open = Some(Open::default());
                return done("BEGIN");
            }
            (Step::Begin, Some(_)) => {
                return raise!(TransactionOpen, "a transaction is open already: COMMIT first");
            }
            (Step::Commit, Some(_)) => {
                *open = None;
                return done("COMMIT");
            }
            (Step::Commit | Step::Rollback, _) => {
                return raise!(NoTransaction, "no transaction is open: BEGIN begins one");
            }
            (Step::Reads, _) | (_, None) => return Ok(Admitted::Runs(None)),
            (Step::Defines(tag), Some(_)) => (tag, Noted::Defined),
            (Step::Rows(tag, _), Some(_)) => match rows {
                RowsOf::MadeHere => (tag, Noted::Undone),
                RowsOf::Kept(changing) => (tag, Noted::Rows(changing)),
                RowsOf::Other => (tag.clone(), Noted::Lasting(tag)),
            },
            (Step::Changes(tag), Some(_)) => (tag.clone(), Noted::Lasting(tag)),
        };
        match (open.as_ref(), &noted) {
            (Some(Open { lasting: Some(before), .. }), _) => raise!(
                NotSupported,
                "a transaction of several changes is not supported: every statement is a transaction of its own, and {before} \
                 is committed already; COMMIT, then go on"
            ),
            (Some(Open { changes: 1.., .. }), Noted::Lasting(_)) => raise!(
                NotSupported,
                "a transaction of several changes is not supported, but for rows, and tables that it makes or drops: {tag} \
                 changes something else; COMMIT, then go on"
            ),
            _ => Ok(Admitted::Runs(Some(noted))),
        }
    }

    /// Does the work of a change, and takes note of it.
    ///
    /// # Errors
    /// Those of the work, and of a table that cannot be read afterwards.
    pub(crate) async fn noting<T>(&self, noted: Option<Noted>, work: impl Future<Output = Result<T>>) -> Result<T> {
        let lasting = match noted {
            Some(Noted::Rows(changing)) => return self.changing(*changing, work).await,
            None | Some(Noted::Defined) => return work.await,
            Some(Noted::Undone) => None,
            Some(Noted::Lasting(tag)) => Some(tag),
        };
        let done = work.await?;
        if let Some(open) = &mut *self.lock() {
            open.changes += 1;
            // There is none before it: it would have been refused.
            open.lasting = lasting;
        }
        Ok(done)
    }

    /// Does work that changes the rows of a table, and keeps those that it had.
    async fn changing<T>(&self, changing: Changing, work: impl Future<Output = Result<T>>) -> Result<T> {
        let Changing { schema, table, before } = changing;
        // What fails may have changed rows all the same: `train` keeps each run.
        let done = work.await;
        let after = KeptRows::of(schema.as_ref(), &table, true).await?.map(|after| after.version().clone());
        if after.as_ref() == Some(before.version()) {
            return done;
        }
        let after = after.filter(|after| before.just_before(after));
        let Some(open) = &mut *self.lock() else { return done };
        open.changes += 1;
        // A load of many small statements is undone in one step.
        if let Some(Undoable::Rows(last)) = open.undoable.last_mut()
            && last.after.as_ref() == Some(before.version())
            && last.before.serves_for(&before)
        {
            last.after = after;
        } else {
            open.undoable.push(Undoable::Rows(Changed { schema, table, before, after }));
        }
        done
    }

    /// Whether the open transaction has made what stands under this name.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) async fn has_made(&self, schema: &Arc<dyn EngineSchema>, table: &str) -> Result<bool> {
        let made = |undoable: &Undoable| match undoable {
            Undoable::Name(defined) => defined.after.clone(),
            Undoable::Rows(_) => None,
        };
        let made: Vec<KeptTable> = self.lock().iter().flat_map(|open| &open.undoable).filter_map(made).collect();
        if made.is_empty() {
            return Ok(false);
        }
        let now = schema.kept(table).await?;
        Ok(now.is_some_and(|now| made.iter().any(|made| made.is(&now))))
    }

    /// Does work that makes, replaces or drops a table or view, and keeps what stood there before.
    ///
    /// # Errors
    /// Those of the work. What it has changed all the same can be undone.
    pub(crate) async fn defining<T>(
        &self,
        schema: &Arc<dyn EngineSchema>,
        table: &str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        if !self.is_open() {
            return work.await;
        }
        let before = schema.kept(table).await?;
        let done = work.await;
        let after = schema.kept(table).await?;
        if !same(before.as_ref(), after.as_ref())
            && let Some(open) = &mut *self.lock()
        {
            open.changes += 1;
            let (schema, table) = (Arc::clone(schema), table.to_owned());
            open.undoable.push(Undoable::Name(Defined { schema, table, before, after }));
        }
        done
    }
}

fn same(one: Option<&KeptTable>, other: Option<&KeptTable>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is(other),
        (None, None) => true,
        _ => false,
    }
}

impl Open {
    /// Undoes every change, the last first.
    async fn roll_back(self) -> Result<()> {
        let (mut left, mut put_back) = (Vec::new(), Vec::new());
        for undoable in self.undoable.into_iter().rev() {
            let (table, undone) = match undoable {
                Undoable::Name(defined) => (defined.table.clone(), defined.undo().await),
                Undoable::Rows(changed) => (changed.table.clone(), changed.undo(&mut put_back).await),
            };
            if let Err(error) = undone {
                left.push(format!("{table}: {error}"));
            }
        }
        match self.lasting {
            Some(tag) => raise!(
                NotSupported,
                "ROLLBACK cannot undo {tag}: every statement is a transaction of its own, and is committed when it ends"
            ),
            None if left.is_empty() => Ok(()),
            None => raise!(Statement, "ROLLBACK could not put everything back: {}", left.join("; ")),
        }
    }
}

impl Changed {
    /// Puts the rows back. `put_back` has the versions that came back so far, with the ones that they are now, and gets this one.
    async fn undo(&self, put_back: &mut Vec<(TableVersion, TableVersion)>) -> Result<()> {
        let after = self.after.as_ref();
        let now = put_back.iter().rev().find(|(was, _)| Some(was) == after).map(|(_, now)| now);
        let version = self.before.put_back(self.schema.as_ref(), &self.table, now.or(after)).await?;
        put_back.push((self.before.version().clone(), version));
        Ok(())
    }
}

impl Defined {
    async fn undo(&self) -> Result<()> {
        let now = self.schema.kept(&self.table).await?;
        if !same(now.as_ref(), self.after.as_ref()) {
            return raise!(Statement, "another session has dropped it, or made it anew, meanwhile");
        }
        if now.is_some() {
            self.schema.drop_table(&self.table)?;
        }
        if let Some(before) = &self.before {
            self.schema.put_back(&self.table, before)?;
        }
        Ok(())
    }
}

impl Step {
    /// What a statement means to a transaction.
    pub(crate) fn of(statement: &Statement) -> Self {
        match statement {
            Statement::Use { .. }
            | Statement::Summarize { .. }
            | Statement::Set { .. }
            | Statement::Show { .. }
            | Statement::Reset { .. } => Self::Reads,
            Statement::Sql(sql) => Self::of_sql(sql),
            other => Self::Changes(other.tag().to_owned()),
        }
    }

    /// What a statement of SQL means to a transaction.
    pub(crate) fn of_sql(sql: &SqlStatement) -> Self {
        let first_word = || sql.to_string().split_whitespace().next().unwrap_or_default().to_owned();
        let rows = |table: Option<&ObjectName>| {
            let table = table.and_then(|table| object_name_to_table_reference(table.clone(), true).ok());
            table.map_or_else(|| Self::Changes(first_word()), |table| Self::Rows(first_word(), table))
        };
        let statement = match sql {
            SqlStatement::Statement(statement) => statement.as_ref(),
            SqlStatement::CopyTo(_) | SqlStatement::CreateExternalTable(_) => return Self::Changes(first_word()),
            _ => return Self::Reads,
        };
        match statement {
            ast::Statement::StartTransaction { .. } => Self::Begin,
            ast::Statement::Commit { .. } => Self::Commit,
            ast::Statement::Rollback { .. } => Self::Rollback,
            ast::Statement::Insert(ast::Insert { table: TableObject::TableName(table), .. }) => rows(Some(table)),
            ast::Statement::Update(update) => rows(name_of(&update.table.relation)),
            ast::Statement::Delete(delete) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
                rows(match from.as_slice() {
                    [table] => name_of(&table.relation),
                    _ => None,
                })
            }
            ast::Statement::Truncate(ast::Truncate { table_names, .. }) => rows(match table_names.as_slice() {
                [table] => Some(&table.name),
                _ => None,
            }),
            ast::Statement::CreateTable(_)
            | ast::Statement::CreateView(_)
            | ast::Statement::Drop { object_type: ObjectType::Table | ObjectType::View, .. } => {
                Self::Defines(first_word())
            }
            ast::Statement::Insert(_)
            | ast::Statement::CreateSchema { .. }
            | ast::Statement::Drop { .. }
            | ast::Statement::AlterTable { .. } => Self::Changes(first_word()),
            _ => Self::Reads,
        }
    }
}

fn name_of(table: &TableFactor) -> Option<&ObjectName> {
    match table {
        TableFactor::Table { name, .. } => Some(name),
        _ => None,
    }
}
