//! One client's connection: its messages in their order, each with its answer.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use bonnet_dialect::syntax::tokens::split::split;
use bonnetdb::{Error, Parameters, Session, bind};
use datafusion::execution::SendableRecordBatchStream;
use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{
    Bind, BindComplete, CloseComplete, Describe, Execute, Parse, ParseComplete, PortalSuspended,
    TARGET_TYPE_BYTE_PORTAL, TARGET_TYPE_BYTE_STATEMENT,
};
use pgwire::messages::response::{CommandComplete, EmptyQueryResponse, TransactionStatus};
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};

use super::catalog::{self, Catalog};
use super::client_settings::ClientSettings;
use super::copy::{self, CopyStatement, Direction};
use super::cursor::{self, CursorStatement};
use super::failure::Failure;
use super::keys::Key;
use super::portal::{self, Answering, Portal, State};
use super::startup::{Login, welcome};
use super::state::ServerState;
use super::statement::{Client, Outcome, may_answer_rows};
use super::types::{self, Oid};
use super::values::columns;
use super::wire::{Trouble, Wire};
use super::{parameters, wire::Gone};

/// What SQLSTATE calls a warning of no other kind.
const WARNING: &str = "01000";

/// Prepared statements, and portals, of one connection.
const MOST_NAMES: usize = 1000;

/// Bytes of the texts of a connection's prepared statements and portals together.
const MOST_TEXT: usize = 64 << 20;

/// A prepared statement with the types of its parameters.
struct PreparedStatement {
    text: String,
    parameters: Vec<Oid>,
}

/// A client's connection, from its login to its end.
pub(super) struct Connection {
    wire: Wire,
    key: Key,
    client: Client,
    statements: HashMap<String, PreparedStatement>,
    portals: HashMap<String, Portal>,
}

/// Serves a client until it leaves.
pub(super) async fn serve(mut wire: Wire, login: Login, session: Session, key: Key, shared: &Arc<ServerState>) {
    match begin(&mut wire, &login, session, &key, shared).await {
        Ok(client) => {
            let mut connection = Connection { wire, key, client, statements: HashMap::new(), portals: HashMap::new() };
            // That the client is gone is no error of ours.
            let Gone = connection.run().await;
            connection.end().await;
        }
        Err(Trouble::Failure(failure)) => wire.refuse(Failure { fatal: true, ..failure }).await,
        Err(Trouble::Gone) => {}
    }
}

/// The session's settings at the start.
async fn begin(
    wire: &mut Wire,
    login: &Login,
    session: Session,
    key: &Key,
    shared: &Arc<ServerState>,
) -> Result<Client, Trouble> {
    let refused = |error: Error| Trouble::from(Failure::of(&error, ""));
    let catalogs = session.engine().databases();
    let known = login.database.as_ref().filter(|name| **name != login.user && **name != "postgres");
    match known {
        Some(name) if catalogs.contains(name) => {
            let quoted = name.replace('"', "\"\"");
            session.execute(&format!("USE \"{quoted}\"")).await.map_err(refused)?;
        }
        Some(name) => {
            let text = format!("there is no database {name}; there are: {}", catalogs.join(", "));
            return Err(Failure::fatal("3D000", text).into());
        }
        None => {}
    }
    let settings = ClientSettings::new(&login.user);
    let catalog = Catalog::new(&login.user, login.database.as_deref(), key.number);
    let mut client = Client { session, settings, catalog, failed: false, savepoints: Vec::new() };
    for (name, value) in &login.settings {
        client.set(&name.to_lowercase(), value).await?;
    }
    // Last, so that nothing above can have opened it again.
    if !shared.external_access {
        client.session.execute("SET bonnet.external_access = off").await.map_err(refused)?;
    }
    welcome(wire, login, key)?;
    wire.ready(TransactionStatus::Idle).await?;
    Ok(client)
}

impl Connection {
    async fn run(&mut self) -> Gone {
        // After an error of the extended protocol the client's messages are passed over up to its Sync.
        let mut passes_over = false;
        loop {
            let message = match self.wire.message().await {
                Ok(message) => message,
                Err(gone) => return gone,
            };
            let is_query = matches!(message, PgWireFrontendMessage::Query(_));
            let answered = match message {
                PgWireFrontendMessage::Terminate(_) => return Gone,
                PgWireFrontendMessage::Sync(_) => {
                    passes_over = false;
                    self.ready().await.map_err(Trouble::from)
                }
                _ if passes_over => Ok(()),
                PgWireFrontendMessage::Query(query) => self.query(&query.query).await,
                PgWireFrontendMessage::Parse(parse) => self.parse(parse).await,
                PgWireFrontendMessage::Bind(bind) => self.bind(bind),
                PgWireFrontendMessage::Describe(describe) => self.describe(&describe).await,
                PgWireFrontendMessage::Execute(execute) => self.execute(&execute).await,
                PgWireFrontendMessage::Close(close) => {
                    let name = close.name.unwrap_or_default();
                    match close.target_type {
                        TARGET_TYPE_BYTE_STATEMENT => drop(self.statements.remove(&name)),
                        _ => drop(self.portals.remove(&name)),
                    }
                    self.wire.put(PgWireBackendMessage::CloseComplete(CloseComplete::new())).map_err(Trouble::from)
                }
                PgWireFrontendMessage::Flush(_) => self.wire.flush().await.map_err(Trouble::from),
                // Data of a COPY that was refused.
                PgWireFrontendMessage::CopyData(_)
                | PgWireFrontendMessage::CopyDone(_)
                | PgWireFrontendMessage::CopyFail(_) => Ok(()),
                _ => Err(Failure::fatal("08P01", "the message is none that a client may send here").into()),
            };
            let answer = match answered {
                Ok(()) => Ok(()),
                Err(Trouble::Gone) => return Gone,
                Err(Trouble::Failure(failure)) if failure.fatal => {
                    self.wire.refuse(failure).await;
                    return Gone;
                }
                Err(Trouble::Failure(failure)) => {
                    self.client.failed = self.client.in_transaction();
                    passes_over = !is_query;
                    match self.wire.put(PgWireBackendMessage::ErrorResponse(failure.response())) {
                        // A client may wait for it before it sends its Sync, and its Flush is passed over.
                        Ok(()) if passes_over => self.wire.flush().await,
                        put => put,
                    }
                }
            };
            let answer = match (answer, is_query) {
                (Ok(()), true) => self.ready().await,
                (answer, _) => answer,
            };
            if let Err(gone) = answer {
                return gone;
            }
        }
    }

    /// Undoes what a client that has gone has not committed.
    async fn end(self) {
        if self.client.in_transaction() {
            // There is nobody to tell what cannot be undone.
            let _ = self.client.session.execute("ROLLBACK").await;
        }
    }

    fn status(&self) -> TransactionStatus {
        match (self.client.in_transaction(), self.client.failed) {
            (false, _) => TransactionStatus::Idle,
            (true, false) => TransactionStatus::Transaction,
            (true, true) => TransactionStatus::Error,
        }
    }

    /// Portals last as long as their transaction.
    async fn ready(&mut self) -> Result<(), Gone> {
        if !self.client.in_transaction() {
            self.portals.retain(|_, portal| portal.held);
        }
        let status = self.status();
        self.wire.ready(status).await
    }

    /// Runs a statement, unless the client cancels it.
    async fn outcome(&mut self, statement: &str) -> Result<Outcome, Trouble> {
        // A cancellation that came after the last statement's end is not meant for this one.
        while futures::FutureExt::now_or_never(self.key.cancelled.notified()).is_some() {}
        Ok(self.wire.unless_cancelled(&self.key, self.client.run(statement)).await??)
    }

    /// The simple protocol: a text of statements, their answers as text.
    async fn query(&mut self, text: &str) -> Result<(), Trouble> {
        self.portals.remove("");
        let pieces = split(text);
        if pieces.is_empty() {
            return Ok(self.wire.put(PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new()))?);
        }
        for piece in pieces {
            let before = piece.text.as_ptr() as usize - text.as_ptr() as usize;
            let shifted = |trouble: Trouble| trouble.shifted(text[..before].chars().count());
            match self.outcome(piece.text).await.map_err(shifted)? {
                Outcome::Rows(stream) => {
                    let mut answering = Answering::new(stream, &[])?;
                    answering.describe(&mut self.wire)?;
                    let all = (usize::MAX, false);
                    answering.send(&mut self.wire, &self.key, all, piece.text).await.map_err(shifted)?;
                    self.complete(format!("SELECT {}", answering.count))?;
                }
                Outcome::Copy(copy) => {
                    let tag = self.copy(copy).await?;
                    self.complete(tag)?;
                }
                Outcome::Cursor(CursorStatement::Fetch { name, count, moves }) => {
                    let most = count.unwrap_or(usize::MAX);
                    let tag = self.fetch(&name, most, moves, Some(&[])).await?;
                    self.complete(tag)?;
                }
                done => {
                    let tag = self.tag(done).await.map_err(shifted)?;
                    self.complete(tag)?;
                }
            }
        }
        Ok(())
    }

    fn complete(&mut self, tag: String) -> Result<(), Gone> {
        for runs in self.client.session.take_failed_runs() {
            self.wire.warn(WARNING, &runs.to_string())?;
        }
        self.wire.put(PgWireBackendMessage::CommandComplete(CommandComplete::new(tag)))
    }

    /// Does what is left of a statement without rows; its tag.
    async fn tag(&mut self, outcome: Outcome) -> Result<String, Trouble> {
        match outcome {
            Outcome::Done(tag) => Ok(tag),
            Outcome::Warned(tag, warning) => {
                self.wire.warn(warning.code, &warning.message)?;
                Ok(tag.to_owned())
            }
            Outcome::Deallocate(name) => {
                match &name {
                    Some(name) => drop(self.statements.remove(name)),
                    None => self.statements.clear(),
                }
                Ok(if name.is_none() { "DEALLOCATE ALL" } else { "DEALLOCATE" }.to_owned())
            }
            Outcome::Cursor(CursorStatement::Declare { name, query, before, binary, hold }) => {
                self.declare(name, query, binary, hold).await.map_err(|trouble| trouble.shifted(before))?;
                Ok("DECLARE CURSOR".to_owned())
            }
            Outcome::Cursor(CursorStatement::Close(name)) => {
                match &name {
                    Some(name) => drop(self.cursor(name)?),
                    None => self.portals.clear(),
                }
                Ok(if name.is_none() { "CLOSE CURSOR ALL" } else { "CLOSE CURSOR" }.to_owned())
            }
            // Rows have no tag of their own.
            Outcome::Rows(_) | Outcome::Copy(_) | Outcome::Cursor(_) => Ok(String::new()),
        }
    }

    /// The rows of a query; any other statement is refused before it runs.
    async fn rows_of(&mut self, query: &str, refusal: &str) -> Result<SendableRecordBatchStream, Trouble> {
        let refused = || Failure::new("42601", refusal).into();
        match may_answer_rows(query) {
            true => match self.outcome(query).await? {
                Outcome::Rows(rows) => Ok(rows),
                _ => Err(refused()),
            },
            false => Err(refused()),
        }
    }

    /// Opens a cursor.
    async fn declare(&mut self, name: String, query: String, binary: bool, held: bool) -> Result<(), Trouble> {
        if !held && !self.client.in_transaction() {
            let text = "a cursor lasts as long as its transaction: BEGIN first, or DECLARE it WITH HOLD";
            return Err(Failure::new("25P01", text).into());
        }
        if self.portals.contains_key(&name) {
            return Err(Failure::new("42P03", format!("there is a cursor {name} already; CLOSE it first")).into());
        }
        self.room_for(&query)?;
        let stream = self.rows_of(&query, "a cursor is declared for a query, whose rows it has").await?;
        let formats = if binary { vec![1] } else { Vec::new() };
        let state = State::Open(Answering::new(stream, &formats)?);
        self.portals.insert(name, Portal { text: query, formats, state, held });
        Ok(())
    }

    /// Takes a cursor, which is put back unless it is closed.
    fn cursor(&mut self, name: &str) -> Result<Portal, Failure> {
        let found = self.portals.remove(name).filter(|portal| matches!(portal.state, State::Open(_)));
        found.ok_or_else(|| Failure::new("34000", format!("there is no cursor {name}")))
    }

    /// Sends rows of a cursor, described first where they are asked for in formats; the tag.
    async fn fetch(
        &mut self,
        name: &str,
        most: usize,
        moves: bool,
        described: Option<&[i16]>,
    ) -> Result<String, Trouble> {
        let mut portal = self.cursor(name)?;
        let State::Open(answering) = &mut portal.state else { return Ok(String::new()) };
        answering.count = 0;
        if let (Some(formats), false) = (described, moves) {
            let formats = if portal.formats.is_empty() { formats } else { &portal.formats };
            answering.format_as(formats)?;
            answering.describe(&mut self.wire)?;
        }
        if most > 0 {
            answering.send(&mut self.wire, &self.key, (most, moves), "").await?;
        }
        let count = answering.count;
        self.portals.insert(name.to_owned(), portal);
        Ok(format!("{} {count}", if moves { "MOVE" } else { "FETCH" }))
    }

    /// Copies rows over the connection; the tag.
    async fn copy(&mut self, statement: CopyStatement) -> Result<String, Trouble> {
        let count = match statement.direction {
            Direction::In { table, columns } => {
                let session = self.client.session.clone();
                let into = (table.as_str(), columns.as_slice());
                copy::receive(&mut self.wire, &self.key, &session, into, &statement.format).await?
            }
            Direction::Out { query } => {
                let rows = self.rows_of(&query, "COPY sends the rows of a query; this statement has none").await;
                let rows = rows.map_err(Trouble::unplaced)?;
                copy::send(&mut self.wire, &self.key, rows, &statement.format).await? as u64
            }
        };
        Ok(format!("COPY {count}"))
    }

    /// Refuses a name or a text too many.
    fn room_for(&self, text: &str) -> Result<(), Failure> {
        let texts = self.statements.values().map(|statement| &statement.text);
        let held: usize = texts.chain(self.portals.values().map(|portal| &portal.text)).map(String::len).sum();
        if self.statements.len() >= MOST_NAMES || self.portals.len() >= MOST_NAMES || held + text.len() > MOST_TEXT {
            let most = MOST_TEXT >> 20;
            return Err(Failure::new(
                "53400",
                format!("a connection holds at most {MOST_NAMES} statements, and {most} MiB of them; close some"),
            ));
        }
        Ok(())
    }

    async fn parse(&mut self, parse: Parse) -> Result<(), Trouble> {
        let name = parse.name.unwrap_or_default();
        if !name.is_empty() && self.statements.contains_key(&name) {
            return Err(Failure::new("42P05", format!("prepared statement \"{name}\" already exists")).into());
        }
        let text = match split(&parse.query).as_slice() {
            [] => String::new(),
            [piece] => piece.text.to_owned(),
            _ => return Err(Failure::new("42601", "cannot insert multiple commands into a prepared statement").into()),
        };
        self.room_for(&text)?;
        let mut oids = parse.type_oids;
        if !text.is_empty() {
            Client::check(&text)?;
            let count = highest_parameter(&text);
            if oids.len() > count {
                oids.truncate(count);
            }
            oids.resize(count, 0);
            if oids.contains(&0) || oids.contains(&types::UNKNOWN) {
                let inferred = self.parameter_types(&text).await?;
                for (i, oid) in oids.iter_mut().enumerate().filter(|(_, oid)| matches!(**oid, 0 | types::UNKNOWN)) {
                    *oid = inferred.get(&(i + 1)).copied().unwrap_or(types::TEXT);
                }
            }
        }
        self.statements.insert(name, PreparedStatement { text, parameters: oids });
        Ok(self.wire.put(PgWireBackendMessage::ParseComplete(ParseComplete::new()))?)
    }

    /// The types of the parameters that a statement gives a type, by their numbers.
    async fn parameter_types(&mut self, text: &str) -> Result<HashMap<usize, Oid>, Trouble> {
        if catalog::asks(text) {
            return Ok(catalog::parameter_types(text));
        }
        let session = self.client.session.clone();
        let inferred = self.wire.unless_cancelled(&self.key, session.parameter_types(text)).await?;
        // What cannot be planned without values is found wrong, or right, once they are there.
        Ok(inferred.unwrap_or_default().iter().map(|(number, kind)| (*number, types::of_column(kind))).collect())
    }

    fn prepared(&self, name: &str) -> Result<&PreparedStatement, Failure> {
        self.statements.get(name).ok_or_else(|| match name {
            "" => Failure::new("26000", "unnamed prepared statement does not exist"),
            name => Failure::new("26000", format!("prepared statement \"{name}\" does not exist")),
        })
    }

    fn bind(&mut self, given: Bind) -> Result<(), Trouble> {
        let prepared = self.prepared(given.statement_name.as_deref().unwrap_or_default())?;
        let (values, formats) = (&given.parameters, &given.parameter_format_codes);
        let wrong = |text: String| Trouble::from(Failure::new("08P01", text));
        if values.len() != prepared.parameters.len() {
            let (found, expected) = (values.len(), prepared.parameters.len());
            return Err(wrong(format!("{found} parameters are given for a statement of {expected}")));
        }
        if formats.len() > 1 && formats.len() != values.len() {
            return Err(wrong(format!("{} formats are given for {} parameters", formats.len(), values.len())));
        }
        let literal = |(i, value): (usize, &Option<bytes::Bytes>)| {
            let binary = formats.get(if formats.len() == 1 { 0 } else { i }) == Some(&1);
            let literal = parameters::literal(value.as_deref(), prepared.parameters[i], binary);
            literal.map_err(|text| Failure::new("22P02", format!("${}: {text}", i + 1)))
        };
        let literals = values.iter().enumerate().map(literal).collect::<Result<Vec<_>, Failure>>()?;
        let text = match literals.is_empty() {
            true => prepared.text.clone(),
            false => bind(&prepared.text, &Parameters::Positional(literals))
                .map_err(|error| Failure::of(&error, &prepared.text))?,
        };
        self.room_for(&text)?;
        let portal = Portal { text, formats: given.result_column_format_codes, state: State::Waiting, held: false };
        self.portals.insert(given.portal_name.unwrap_or_default(), portal);
        Ok(self.wire.put(PgWireBackendMessage::BindComplete(BindComplete::new()))?)
    }

    async fn describe(&mut self, describe: &Describe) -> Result<(), Trouble> {
        let name = describe.name.as_deref().unwrap_or_default();
        if describe.target_type == TARGET_TYPE_BYTE_PORTAL {
            return self.describe_portal(name).await;
        }
        let prepared = self.prepared(name)?;
        let (text, oids) = (prepared.text.clone(), prepared.parameters.clone());
        let schema = self.columns_of(&text, &oids).await?;
        self.wire.put(PgWireBackendMessage::ParameterDescription(ParameterDescription::new(oids)))?;
        match schema {
            Some(schema) => {
                let columns = columns(&schema, &[]).map_err(|text| Failure::new("08P01", text))?;
                Ok(portal::describe(&columns, &mut self.wire)?)
            }
            None => Ok(self.wire.put(PgWireBackendMessage::NoData(NoData::new()))?),
        }
    }

    /// The columns of a statement whose parameters have no values yet.
    async fn columns_of(&mut self, text: &str, oids: &[Oid]) -> Result<Option<SchemaRef>, Trouble> {
        if let Some(Ok(CursorStatement::Fetch { name, moves: false, .. })) = cursor::parse(text) {
            let portal = self.portals.get(&name);
            return Ok(portal.and_then(|portal| match &portal.state {
                State::Open(answering) => Some(answering.schema()),
                _ => None,
            }));
        }
        if !may_answer_rows(text) {
            return Ok(None);
        }
        let nulls = oids.iter().map(|oid| parameters::literal(None, *oid, false)).collect::<Result<Vec<_>, String>>();
        let nulls = nulls.map_err(|text| Failure::new("22P02", text))?;
        let planned = bind(text, &Parameters::Positional(nulls)).map_err(|error| Failure::of(&error, text))?;
        let session = self.client.session.clone();
        if !catalog::asks(&planned)
            && let Ok(Some(schema)) = self.wire.unless_cancelled(&self.key, session.describe(&planned)).await?
        {
            return Ok(Some(schema));
        }
        // What is no query of the session: the rows are there at once, and it changes nothing.
        match self.outcome(&planned).await? {
            Outcome::Rows(stream) => Ok(Some(stream.schema())),
            _ => Ok(None),
        }
    }

    async fn describe_portal(&mut self, name: &str) -> Result<(), Trouble> {
        let mut portal = self.take(name)?;
        if matches!(portal.state, State::Waiting) && may_answer_rows(&portal.text) {
            self.start(&mut portal).await?;
        }
        let description = match &portal.state {
            State::Open(answering) => answering.describe(&mut self.wire),
            State::Fetching { cursor, moves: false, .. } => {
                let mut of = self.cursor(cursor)?;
                if let State::Open(answering) = &mut of.state {
                    let formats = if of.formats.is_empty() { &portal.formats } else { &of.formats };
                    answering.format_as(formats)?;
                    answering.describe(&mut self.wire)?;
                }
                self.portals.insert(cursor.clone(), of);
                Ok(())
            }
            _ => self.wire.put(PgWireBackendMessage::NoData(NoData::new())),
        };
        self.portals.insert(name.to_owned(), portal);
        Ok(description?)
    }

    fn take(&mut self, name: &str) -> Result<Portal, Failure> {
        self.portals.remove(name).ok_or_else(|| Failure::new("34000", format!("portal \"{name}\" does not exist")))
    }

    async fn start(&mut self, portal: &mut Portal) -> Result<(), Trouble> {
        portal.state = match self.outcome(&portal.text).await? {
            Outcome::Rows(stream) => State::Open(Answering::new(stream, &portal.formats)?),
            Outcome::Copy(copy) => State::Copying(copy),
            Outcome::Cursor(CursorStatement::Fetch { name, count, moves }) => {
                State::Fetching { cursor: name, count: count.unwrap_or(usize::MAX), moves }
            }
            done => State::Done(self.tag(done).await?),
        };
        Ok(())
    }

    async fn execute(&mut self, execute: &Execute) -> Result<(), Trouble> {
        let name = execute.name.clone().unwrap_or_default();
        let mut portal = self.take(&name)?;
        if portal.text.is_empty() {
            self.portals.insert(name, portal);
            return Ok(self.wire.put(PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new()))?);
        }
        if matches!(portal.state, State::Waiting) {
            self.start(&mut portal).await?;
        }
        let most = usize::try_from(execute.max_rows).ok().filter(|most| *most > 0).unwrap_or(usize::MAX);
        match &mut portal.state {
            State::Open(answering) => {
                answering.count = 0;
                if answering.send(&mut self.wire, &self.key, (most, false), &portal.text).await? {
                    let tag = format!("SELECT {}", answering.count);
                    self.complete(tag)?;
                    // All rows are taken: another Execute finds none.
                    portal.state = State::Done("SELECT 0".to_owned());
                } else {
                    self.wire.put(PgWireBackendMessage::PortalSuspended(PortalSuspended::new()))?;
                }
            }
            State::Fetching { cursor, count, moves } => {
                let (cursor, count, moves) = (std::mem::take(cursor), *count, *moves);
                let tag = self.fetch(&cursor, count, moves, None).await?;
                self.complete(tag)?;
                portal.state = State::Done("FETCH 0".to_owned());
            }
            State::Copying(copy) => {
                let copy = copy.clone();
                let tag = self.copy(copy).await?;
                self.complete(tag)?;
                portal.state = State::Done("COPY 0".to_owned());
            }
            State::Done(tag) => {
                let tag = tag.clone();
                self.complete(tag)?;
            }
            State::Waiting => {}
        }
        self.portals.insert(name, portal);
        Ok(())
    }
}

/// The largest n of the parameters $n in a statement.
fn highest_parameter(text: &str) -> usize {
    use bonnet_dialect::syntax::tokens::split::{LexemeKind, Lexer};
    let mut after_dollar = false;
    let mut highest = 0;
    for lexeme in Lexer::new(text) {
        if after_dollar && lexeme.kind == LexemeKind::Word {
            highest = highest.max(lexeme.text.parse().unwrap_or(0));
        }
        after_dollar = lexeme.kind == LexemeKind::Symbol && lexeme.text == "$";
    }
    highest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_counted_outside_of_texts() {
        assert_eq!(highest_parameter("SELECT $2, '$9', $1 -- $7"), 2);
        assert_eq!(highest_parameter("SELECT $$ $3 $$"), 0);
        assert_eq!(highest_parameter("SELECT 1"), 0);
    }
}
