//! Running a client's statement: what is PostgreSQL's own is answered here, the rest goes to the session.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use bonnet_dialect::syntax::statements::parse;
use bonnetdb::{Answer, Error, Session, stream_of};
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::catalog::{self, Catalog};
use super::client_settings::{self, ClientSettings, Request};
use super::copy::{self, CopyStatement};
use super::cursor::{self, CursorStatement};
use super::failure::Failure;

/// The answer of a client's statement.
pub(super) enum Outcome {
    /// Rows, as they are made.
    Rows(SendableRecordBatchStream),
    /// The tag of a statement without rows.
    Done(String),
    /// Done, with a warning for the client.
    Warned(&'static str, Failure),
    /// Prepared statements are to be forgotten: this one, or all.
    Deallocate(Option<String>),
    /// Rows are to be copied over the connection.
    Copy(CopyStatement),
    /// The statement is one of a cursor.
    Cursor(CursorStatement),
}

/// Whose statements these are, and what he has set.
pub(super) struct Client {
    pub(super) session: Session,
    pub(super) settings: ClientSettings,
    pub(super) catalog: Catalog,
    /// Whether a statement has failed in the open transaction.
    pub(super) failed: bool,
    /// The savepoints of the open transaction, and how many changes it had made before each.
    pub(super) savepoints: Vec<(String, usize)>,
}

/// A statement that begins or ends a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Control {
    Begin,
    Commit,
    Rollback,
    Savepoint(String),
    Release(String),
    RollbackTo(String),
}

fn control(statement: &str) -> Option<Control> {
    let upper = statement.trim().trim_end_matches(';').to_ascii_uppercase();
    let words: Vec<&str> = upper.split_whitespace().collect();
    match words.as_slice() {
        ["BEGIN", ..] | ["START", "TRANSACTION", ..] => Some(Control::Begin),
        ["COMMIT" | "END"] | ["COMMIT" | "END", "WORK" | "TRANSACTION"] => Some(Control::Commit),
        ["SAVEPOINT", name] => Some(Control::Savepoint((*name).to_owned())),
        ["RELEASE", name] | ["RELEASE", "SAVEPOINT", name] => Some(Control::Release((*name).to_owned())),
        ["ROLLBACK", "TO", name] | ["ROLLBACK", "TO", "SAVEPOINT", name] => {
            Some(Control::RollbackTo((*name).to_owned()))
        }
        ["ROLLBACK" | "ABORT"] | ["ROLLBACK" | "ABORT", "WORK" | "TRANSACTION"] => Some(Control::Rollback),
        _ => None,
    }
}

impl Client {
    /// Runs one statement.
    pub(super) async fn run(&mut self, statement: &str) -> Result<Outcome, Failure> {
        if let Some(control) = control(statement) {
            return self.control(control).await;
        }
        if self.failed {
            let text = "the transaction has failed: ROLLBACK ends it, nothing else is done before";
            return Err(Failure::new("25P02", text));
        }
        if copy::asks(statement) {
            return copy::parse(statement).map(Outcome::Copy);
        }
        if let Some(of_cursor) = cursor::parse(statement) {
            return of_cursor.map(Outcome::Cursor);
        }
        if let Some(indexed) = indexed(statement) {
            return self.index(&indexed).await;
        }
        if let Some(request) = client_settings::request(statement) {
            return self.settings(request).await;
        }
        if catalog::asks(statement) {
            let rows = self.catalog.answer(&self.session, &self.settings, statement).await;
            let error = match rows {
                Ok(rows) => return Ok(Outcome::Rows(rows)),
                Err(error) => Failure::of(&error, statement),
            };
            // What the engine's own `information_schema` has beyond that of PostgreSQL.
            if statement.to_ascii_lowercase().contains("information_schema")
                && let Ok(Answer::Rows(rows)) = self.session.execute(statement).await
            {
                return Ok(Outcome::Rows(rows));
            }
            return Err(error);
        }
        match self.session.execute(statement).await {
            Ok(Answer::Rows(rows)) => Ok(Outcome::Rows(rows)),
            Ok(Answer::Done(tag)) => Ok(Outcome::Done(tag_of(tag))),
            Err(error) => Err(Failure::of(&error, statement)),
        }
    }

    /// Checks that a text is one statement, as far as that can be said without a plan.
    pub(super) fn check(statement: &str) -> Result<(), Failure> {
        if copy::asks(statement) {
            return copy::parse(statement).map(|_| ());
        }
        if let Some(of_cursor) = cursor::parse(statement) {
            return of_cursor.map(|_| ());
        }
        let answered = control(statement).is_some() || client_settings::request(statement).is_some();
        if answered || indexed(statement).is_some() || catalog::asks(statement) {
            return Ok(());
        }
        parse::parse(statement).map(|_| ()).map_err(|error| Failure::of(&error, statement))
    }

    /// `CREATE INDEX`, which pandas sends behind its tables: nothing depends on an index but time. That there is none is told.
    async fn index(&self, indexed: &str) -> Result<Outcome, Failure> {
        let found = self.session.describe(indexed).await;
        found.map_err(|error| Failure { position: None, ..Failure::of(&error, "") })?;
        let text = "there are no indexes: the statement has changed nothing, queries scan the columns that they need";
        Ok(Outcome::Warned("CREATE INDEX", Failure::new("01000", text)))
    }

    /// Whether the session has an open transaction.
    pub(super) fn in_transaction(&self) -> bool {
        self.session.in_transaction()
    }

    /// Savepoints are names of places: what was changed after one cannot be undone.
    fn savepoint(&mut self, control: &Control) -> Result<Option<Outcome>, Failure> {
        let (Control::Savepoint(name) | Control::Release(name) | Control::RollbackTo(name)) = control else {
            return Ok(None);
        };
        let done = |tag: &str| Ok(Some(Outcome::Done(tag.to_owned())));
        if !self.in_transaction() {
            return Err(Failure::new("25P01", "savepoints stand in transactions: BEGIN first"));
        }
        let changes = self.session.transaction_changes();
        if matches!(control, Control::Savepoint(_)) && !self.failed {
            self.savepoints.push((name.clone(), changes));
            return done("SAVEPOINT");
        }
        let place = self.savepoints.iter().rposition(|(known, _)| known == name);
        let Some(place) = place.filter(|_| !matches!(control, Control::Savepoint(_))) else {
            return Err(match self.failed {
                true => Failure::new("25P02", "the transaction has failed: ROLLBACK ends it"),
                false => Failure::new("3B001", format!("there is no savepoint {name}")),
            });
        };
        match control {
            Control::RollbackTo(_) if changes != self.savepoints[place].1 => Err(Failure::new(
                "0A000",
                "ROLLBACK TO cannot undo a change that came after the savepoint; ROLLBACK ends the transaction",
            )),
            Control::RollbackTo(_) => {
                self.failed = false;
                self.savepoints.truncate(place + 1);
                done("ROLLBACK")
            }
            _ => {
                self.savepoints.truncate(place);
                done("RELEASE")
            }
        }
    }

    async fn control(&mut self, control: Control) -> Result<Outcome, Failure> {
        if let Some(done) = self.savepoint(&control)? {
            return Ok(done);
        }
        self.savepoints.clear();
        let failed = std::mem::take(&mut self.failed);
        let (statement, tag) = match control {
            Control::Begin if failed => {
                self.failed = true;
                return Err(Failure::new("25P02", "the transaction has failed: ROLLBACK ends it"));
            }
            Control::Begin => ("BEGIN", "BEGIN"),
            Control::Commit if !failed => ("COMMIT", "COMMIT"),
            _ => ("ROLLBACK", "ROLLBACK"),
        };
        match (control, self.in_transaction()) {
            (Control::Begin, true) => {
                Ok(Outcome::Warned(tag, Failure::new("25001", "there is already a transaction in progress")))
            }
            (Control::Commit | Control::Rollback, false) => {
                Ok(Outcome::Warned(tag, Failure::new("25P01", "there is no transaction in progress")))
            }
            _ => match self.session.execute(statement).await {
                Ok(_) => Ok(Outcome::Done(tag.to_owned())),
                Err(error) => Err(Failure::of(&error, statement)),
            },
        }
    }

    async fn settings(&mut self, request: Request) -> Result<Outcome, Failure> {
        let done = |tag: &str| Ok(Outcome::Done(tag.to_owned()));
        match request {
            Request::Set(name, value) => {
                self.set(&name, &value).await?;
                done("SET")
            }
            Request::Reset(name) => {
                self.settings.reset(&name);
                let value = self.settings.get(&name).unwrap_or_default().to_owned();
                self.set(&name, &value).await?;
                done("RESET")
            }
            Request::Show(name) => {
                let value = self.settings.get(&name).unwrap_or_default().to_owned();
                let column: ArrayRef = Arc::new(StringArray::from(vec![value]));
                let rows = RecordBatch::try_from_iter([(name.as_str(), column)]).map_err(DataFusionError::from);
                let rows = rows.and_then(stream_of).map_err(|error| Failure::of(&Error::from(error), ""))?;
                Ok(Outcome::Rows(rows))
            }
            Request::Nothing(tag) => done(tag),
            Request::Deallocate(name) => Ok(Outcome::Deallocate(name)),
        }
    }

    /// Gives a client's setting a value; those that the engine has too, there.
    pub(super) async fn set(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        let statement = match name {
            "search_path" => client_settings::first_schema(value).map(|schema| format!("USE {schema}")),
            "statement_timeout" => Some(format!("SET bonnet.statement_timeout = '{}'", value.replace('\'', "''"))),
            _ => None,
        };
        if let Some(statement) = statement {
            self.session.execute(&statement).await.map_err(|error| Failure::of(&error, ""))?;
        }
        self.settings.set(name, value)
    }
}

/// The query of what a CREATE INDEX would index; `None` for any other statement, and for UNIQUE, which promises something.
fn indexed(statement: &str) -> Option<String> {
    let mut words = statement.split_whitespace();
    if !["CREATE", "INDEX"].iter().all(|word| words.next().is_some_and(|next| next.eq_ignore_ascii_case(word))) {
        return None;
    }
    match Parser::parse_sql(&PostgreSqlDialect {}, statement).ok()?.as_slice() {
        [Statement::CreateIndex(index)] if !index.unique => {
            let columns: Vec<String> = index.columns.iter().map(|column| column.column.expr.to_string()).collect();
            Some(format!("SELECT {} FROM {}", columns.join(", "), index.table_name))
        }
        _ => None,
    }
}

/// The tag of a statement as PostgreSQL writes it: an INSERT names an object identifier before its count.
fn tag_of(tag: String) -> String {
    match tag.strip_prefix("INSERT ") {
        Some(count) => format!("INSERT 0 {count}"),
        None => tag,
    }
}

/// Whether a statement may answer rows: it is planned when its columns are asked for.
pub(super) fn may_answer_rows(statement: &str) -> bool {
    let word = statement.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
    let upper = statement.to_ascii_uppercase();
    match word[..end].to_ascii_uppercase().as_str() {
        "EXPLAIN" => !upper.contains("ANALYZE"),
        "SELECT" | "WITH" | "VALUES" | "FROM" | "TABLE" | "SHOW" | "DESCRIBE" | "DESC" | "SUMMARIZE" | "PIVOT"
        | "UNPIVOT" | "EXECUTE" | "FETCH" => true,
        _ => false,
    }
}
