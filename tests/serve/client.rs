//! A client of PostgreSQL's protocol that sends what a test says, message by message.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use pgwire::messages::cancel::CancelRequest;
use pgwire::messages::copy::{CopyData, CopyDone};
use pgwire::messages::data::DataRow;
use pgwire::messages::extendedquery::{Bind, Describe, Execute, Parse, Sync};
use pgwire::messages::response::TransactionStatus;
use pgwire::messages::simplequery::Query;
use pgwire::messages::startup::{BackendKeyData, SecretKey, Startup};
use pgwire::messages::{DecodeContext, PgWireBackendMessage, PgWireFrontendMessage};

/// Long enough for any answer of a test; a test that waits longer has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// A value of a row; `None` for NULL.
pub(super) type Cell = Option<Vec<u8>>;

/// What a client is told of an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) hint: String,
    pub(super) position: String,
}

/// What came back up to the next ReadyForQuery.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// Names and types of the columns.
    pub(super) columns: Vec<(String, u32)>,
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) tags: Vec<String>,
    pub(super) errors: Vec<Report>,
    pub(super) warnings: Vec<Report>,
    pub(super) parameters: Vec<u32>,
    /// The format of a COPY, 1 for binary, and of each of its columns.
    pub(super) copy: Option<(i8, Vec<i16>)>,
    /// The messages of data of a COPY.
    pub(super) copied: Vec<Vec<u8>>,
    pub(super) suspended: bool,
    pub(super) no_data: bool,
    pub(super) empty: bool,
    /// `I`, `T` or `E`: outside, within, or in a failed transaction.
    pub(super) status: Option<TransactionStatus>,
}

impl Reply {
    /// The rows as texts.
    pub(super) fn texts(&self) -> Vec<Vec<String>> {
        let text = |cell: &Cell| match cell {
            Some(bytes) => String::from_utf8(bytes.clone()).unwrap(),
            None => "NULL".to_owned(),
        };
        self.rows.iter().map(|row| row.iter().map(text).collect()).collect()
    }

    /// The one error.
    pub(super) fn error(&self) -> &Report {
        assert_eq!(self.errors.len(), 1, "{self:?}");
        &self.errors[0]
    }
}

pub(super) struct Client {
    stream: TcpStream,
    bytes: BytesMut,
    key: Option<BackendKeyData>,
    pub(super) settings: Vec<(String, String)>,
}

impl Client {
    /// Logs in without a password.
    pub(super) fn new(address: SocketAddr) -> Self {
        Self::with(address, &[("user", "me")]).unwrap()
    }

    /// Logs in with these parameters, or tells why not.
    pub(super) fn with(address: SocketAddr, parameters: &[(&str, &str)]) -> Result<Self, Report> {
        let mut client = Self::connected(address);
        let mut startup = Startup::new();
        startup.parameters.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        client.send([PgWireFrontendMessage::Startup(startup)]);
        let reply = client.reply();
        match reply.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(client),
        }
    }

    /// A connection that has sent nothing.
    pub(super) fn connected(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream, bytes: BytesMut::new(), key: None, settings: Vec::new() }
    }

    pub(super) fn send(&mut self, messages: impl IntoIterator<Item = PgWireFrontendMessage>) {
        let mut bytes = BytesMut::new();
        messages.into_iter().for_each(|message| message.encode(&mut bytes).unwrap());
        self.send_bytes(&bytes);
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next message; `None` where the server has closed the connection.
    pub(super) fn message(&mut self) -> Option<PgWireBackendMessage> {
        let mut context = DecodeContext::default();
        context.protocol_version = pgwire::messages::ProtocolVersion::PROTOCOL3_0;
        loop {
            if let Some(message) = PgWireBackendMessage::decode(&mut self.bytes, &context).unwrap() {
                return Some(message);
            }
            let mut part = [0; 8192];
            match self.stream.read(&mut part) {
                Ok(0) => return None,
                Ok(count) => self.bytes.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// What comes up to the next ReadyForQuery, or to the end of the connection.
    pub(super) fn reply(&mut self) -> Reply {
        let mut reply = Reply::default();
        while let Some(message) = self.message() {
            match message {
                PgWireBackendMessage::ReadyForQuery(ready) => {
                    reply.status = Some(ready.status);
                    return reply;
                }
                PgWireBackendMessage::RowDescription(rows) => {
                    reply.columns = rows.fields.into_iter().map(|field| (field.name, field.type_id)).collect();
                }
                PgWireBackendMessage::DataRow(row) => reply.rows.push(cells(row)),
                PgWireBackendMessage::CommandComplete(complete) => reply.tags.push(complete.tag),
                PgWireBackendMessage::ErrorResponse(error) => reply.errors.push(report(error.fields)),
                PgWireBackendMessage::NoticeResponse(notice) => reply.warnings.push(report(notice.fields)),
                PgWireBackendMessage::ParameterDescription(parameters) => reply.parameters = parameters.types,
                PgWireBackendMessage::CopyInResponse(copy) => reply.copy = Some((copy.format, copy.column_formats)),
                PgWireBackendMessage::CopyOutResponse(copy) => reply.copy = Some((copy.format, copy.column_formats)),
                PgWireBackendMessage::CopyData(data) => reply.copied.push(data.data.to_vec()),
                PgWireBackendMessage::PortalSuspended(_) => reply.suspended = true,
                PgWireBackendMessage::NoData(_) => reply.no_data = true,
                PgWireBackendMessage::EmptyQueryResponse(_) => reply.empty = true,
                PgWireBackendMessage::BackendKeyData(key) => self.key = Some(key),
                PgWireBackendMessage::ParameterStatus(status) => self.settings.push((status.name, status.value)),
                _ => {}
            }
        }
        reply
    }

    /// The simple protocol.
    pub(super) fn query(&mut self, text: &str) -> Reply {
        self.send([PgWireFrontendMessage::Query(Query::new(text.to_owned()))]);
        self.reply()
    }

    /// `COPY ... FROM STDIN` with data in these parts.
    pub(super) fn copy_in(&mut self, text: &str, parts: &[&[u8]]) -> Reply {
        self.send([PgWireFrontendMessage::Query(Query::new(text.to_owned()))]);
        self.send(parts.iter().map(|part| copy_data(part)));
        self.send([PgWireFrontendMessage::CopyDone(CopyDone::new())]);
        self.reply()
    }

    /// The data of `COPY ... TO STDOUT`, which must not fail.
    pub(super) fn copy_out(&mut self, text: &str) -> String {
        let reply = self.query(text);
        assert!(reply.errors.is_empty() && reply.copy.is_some(), "{text}: {reply:?}");
        String::from_utf8(reply.copied.concat()).unwrap()
    }

    /// The rows of a query that must not fail.
    pub(super) fn rows(&mut self, text: &str) -> Vec<Vec<String>> {
        let reply = self.query(text);
        assert!(reply.errors.is_empty(), "{text}: {reply:?}");
        reply.texts()
    }

    /// The extended protocol in one go: parse, bind, describe, execute, sync.
    pub(super) fn execute(&mut self, text: &str, types: &[u32], values: &[Cell], formats: (i16, i16)) -> Reply {
        self.send([
            parse("", text, types),
            bind("", "", values, formats),
            describe(b'P', ""),
            execute("", 0),
            PgWireFrontendMessage::Sync(Sync::new()),
        ]);
        self.reply()
    }

    /// The key that cancels this client's statement.
    pub(super) fn key(&self) -> (i32, SecretKey) {
        self.key.as_ref().map(|key| (key.pid, key.secret_key.clone())).unwrap()
    }
}

/// Cancels the statement of the connection that has this key.
pub(super) fn cancel(address: SocketAddr, key: &(i32, SecretKey)) {
    let mut other = Client::connected(address);
    other.send([PgWireFrontendMessage::CancelRequest(CancelRequest::new(key.0, key.1.clone()))]);
    assert!(other.message().is_none());
}

fn cells(row: DataRow) -> Vec<Cell> {
    let mut data = row.data;
    let cell = |_| match data.get_i32() {
        -1 => None,
        length => Some(data.split_to(length as usize).to_vec()),
    };
    (0..row.field_count).map(cell).collect()
}

fn report(fields: Vec<(u8, String)>) -> Report {
    let field = |kind: u8| fields.iter().find(|(of, _)| *of == kind).map(|(_, text)| text.clone()).unwrap_or_default();
    Report { code: field(b'C'), message: field(b'M'), hint: field(b'H'), position: field(b'P') }
}

pub(super) fn copy_data(bytes: &[u8]) -> PgWireFrontendMessage {
    PgWireFrontendMessage::CopyData(CopyData::new(Bytes::copy_from_slice(bytes)))
}

pub(super) fn parse(name: &str, text: &str, types: &[u32]) -> PgWireFrontendMessage {
    PgWireFrontendMessage::Parse(Parse::new(Some(name.to_owned()), text.to_owned(), types.to_vec()))
}

pub(super) fn bind(portal: &str, statement: &str, values: &[Cell], formats: (i16, i16)) -> PgWireFrontendMessage {
    let values = values.iter().map(|value| value.clone().map(Bytes::from)).collect();
    let (portal, statement) = (Some(portal.to_owned()), Some(statement.to_owned()));
    PgWireFrontendMessage::Bind(Bind::new(portal, statement, vec![formats.0], values, vec![formats.1]))
}

pub(super) fn describe(kind: u8, name: &str) -> PgWireFrontendMessage {
    PgWireFrontendMessage::Describe(Describe::new(kind, Some(name.to_owned())))
}

pub(super) fn execute(portal: &str, most: i32) -> PgWireFrontendMessage {
    PgWireFrontendMessage::Execute(Execute::new(Some(portal.to_owned()), most))
}
