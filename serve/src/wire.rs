//! The bytes of a connection: messages in, messages out, and what waits between.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::BytesMut;
use futures::{SinkExt, StreamExt};
use pgwire::messages::response::{NoticeResponse, ReadyForQuery, TransactionStatus};
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::codec::{Framed, FramedParts};

use super::codec::{Codec, MOST};
use super::failure::Failure;
use super::keys::Key;

/// The transport of a connection: TCP, or TLS over it.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// Bytes that are gathered before they are sent.
pub(super) const GATHERED: usize = 64 << 10;

/// Messages of the client that are read ahead while its statement runs.
const MOST_AHEAD: usize = 64;

/// The client has gone away, or says nothing that can be understood.
pub(super) struct Gone;

/// The reason why a message has no answer.
pub(super) enum Trouble {
    /// The client is told.
    Failure(Failure),
    /// There is nobody to tell.
    Gone,
}

impl Trouble {
    /// The same in a longer text: its place moves by so many characters.
    pub(super) fn shifted(self, by: usize) -> Self {
        match self {
            Self::Failure(failure) => {
                let position = failure.position.map(|position| position + by);
                Self::Failure(Failure { position, ..failure })
            }
            Self::Gone => Self::Gone,
        }
    }

    /// The same without a place: the client has not sent the text that it means.
    pub(super) fn unplaced(self) -> Self {
        match self {
            Self::Failure(failure) => Self::Failure(Failure { position: None, ..failure }),
            Self::Gone => Self::Gone,
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Gone> for Trouble {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

/// A connection's messages.
pub(super) struct Wire {
    framed: Framed<Box<dyn Duplex>, Codec>,
    /// Messages that came while a statement ran, and their size.
    ahead: VecDeque<PgWireFrontendMessage>,
    idle_time: Option<Duration>,
}

impl Wire {
    /// Messages over this stream, of which some bytes are read already. A client that sends nothing, or takes nothing, for
    /// the idle time is left.
    pub(super) fn new(stream: Box<dyn Duplex>, read: BytesMut, codec: Codec, idle_time: Option<Duration>) -> Self {
        let mut parts = FramedParts::new::<PgWireBackendMessage>(stream, codec);
        parts.read_buf = read;
        Self { framed: Framed::from_parts(parts), ahead: VecDeque::new(), idle_time }
    }

    /// Tells the client what is no error, under this SQLSTATE.
    pub(super) fn warn(&mut self, code: &str, text: &str) -> Result<(), Gone> {
        let fields = [(b'S', "WARNING"), (b'V', "WARNING"), (b'C', code), (b'M', text)];
        let fields = fields.into_iter().map(|(kind, text)| (kind, text.to_owned())).collect();
        self.put(PgWireBackendMessage::NoticeResponse(NoticeResponse::new(fields)))
    }

    pub(super) fn codec(&mut self) -> &mut Codec {
        self.framed.codec_mut()
    }

    /// The next message of the client.
    pub(super) async fn message(&mut self) -> Result<PgWireFrontendMessage, Gone> {
        if let Some(message) = self.ahead.pop_front() {
            return Ok(message);
        }
        match in_time(self.idle_time, self.framed.next()).await? {
            Some(Ok(message)) => Ok(message),
            _ => Err(Gone),
        }
    }

    /// Puts a message behind those that wait to be sent.
    pub(super) fn put(&mut self, message: PgWireBackendMessage) -> Result<(), Gone> {
        message.encode(self.framed.write_buffer_mut()).map_err(|_| Gone)
    }

    /// The bytes that wait to be sent.
    pub(super) fn waiting(&mut self) -> &mut BytesMut {
        self.framed.write_buffer_mut()
    }

    /// Sends what waits.
    pub(super) async fn flush(&mut self) -> Result<(), Gone> {
        let sent = SinkExt::<PgWireBackendMessage>::flush(&mut self.framed);
        in_time(self.idle_time, sent).await?.map_err(|_| Gone)
    }

    /// Sends what waits, unless the statement is cancelled before the client has taken it.
    pub(super) async fn flush_unless_cancelled(&mut self, key: &Key) -> Result<(), Trouble> {
        tokio::select! {
            biased;
            () = key.cancelled.notified() => Err(Failure::cancelled().into()),
            sent = self.flush() => Ok(sent?),
        }
    }

    /// Tells the client that the next statement may come, and sends what waits.
    pub(super) async fn ready(&mut self, status: TransactionStatus) -> Result<(), Gone> {
        self.put(PgWireBackendMessage::ReadyForQuery(ReadyForQuery::new(status)))?;
        self.flush().await
    }

    /// Sends an error that ends the connection.
    pub(super) async fn refuse(&mut self, failure: Failure) {
        if self.put(PgWireBackendMessage::ErrorResponse(failure.response())).is_ok() {
            // The client may be gone by now.
            let _ = self.flush().await;
        }
    }

    /// Does work of a statement, unless the client cancels it or goes away.
    pub(super) async fn unless_cancelled<T>(&mut self, key: &Key, work: impl Future<Output = T>) -> Result<T, Trouble> {
        let mut work = std::pin::pin!(work);
        loop {
            let reads_on = self.ahead.len() < MOST_AHEAD && self.ahead.iter().map(size).sum::<usize>() < MOST;
            tokio::select! {
                biased;
                () = key.cancelled.notified() => return Err(Failure::cancelled().into()),
                done = &mut work => return Ok(done),
                message = self.framed.next(), if reads_on => match message {
                    Some(Ok(PgWireFrontendMessage::Terminate(_)) | Err(_)) | None => return Err(Trouble::Gone),
                    Some(Ok(message)) => self.ahead.push_back(message),
                },
            }
        }
    }
}

async fn in_time<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Result<T, Gone> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.map_err(|_| Gone),
        None => Ok(work.await),
    }
}

/// About the bytes that a message holds.
fn size(message: &PgWireFrontendMessage) -> usize {
    match message {
        PgWireFrontendMessage::Query(query) => query.query.len(),
        PgWireFrontendMessage::Parse(parse) => parse.query.len(),
        PgWireFrontendMessage::Bind(bind) => bind.parameters.iter().flatten().map(|value| value.len()).sum(),
        _ => 0,
    }
}
