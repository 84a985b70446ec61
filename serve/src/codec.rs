//! The messages of one connection on its bytes.

use bytes::BytesMut;
use pgwire::error::PgWireError;
use pgwire::messages::{DecodeContext, PgWireBackendMessage, PgWireFrontendMessage};
use tokio_util::codec::{Decoder, Encoder};

/// The longest message of a client that has not yet said who it is, in bytes.
const MOST_BEFORE_LOGIN: usize = 16 << 10;

/// The longest message of a client: a statement, or its parameters, in bytes.
pub(super) const MOST: usize = 64 << 20;

/// The header of a message: its kind and its length.
const HEAD: usize = 5;

/// Reads the client's messages and writes the server's.
#[derive(Debug, Default)]
pub(super) struct Codec {
    context: DecodeContext,
    logged_in: bool,
}

impl Codec {
    /// From here on the client sends its startup message.
    pub(super) fn await_startup(&mut self) {
        self.context.awaiting_frontend_ssl = false;
    }

    /// From here on the client sends messages with a kind.
    pub(super) fn started(&mut self) {
        self.context.awaiting_frontend_startup = false;
    }

    /// From here on statements may be long.
    pub(super) fn logged_in(&mut self) {
        self.logged_in = true;
    }
}

impl Decoder for Codec {
    type Item = PgWireFrontendMessage;
    type Error = PgWireError;

    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<PgWireFrontendMessage>, PgWireError> {
        // The lengths of the startup messages, which have no kind, are checked by their reader.
        if !self.context.awaiting_frontend_startup
            && let Some(length) = bytes.get(1..HEAD)
        {
            let length = length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
            let most = if self.logged_in { MOST } else { MOST_BEFORE_LOGIN };
            if length > most {
                return Err(PgWireError::MessageTooLarge(most, length));
            }
        }
        PgWireFrontendMessage::decode(bytes, &self.context)
    }
}

impl Encoder<PgWireBackendMessage> for Codec {
    type Error = PgWireError;

    fn encode(&mut self, message: PgWireBackendMessage, bytes: &mut BytesMut) -> Result<(), PgWireError> {
        message.encode(bytes)
    }
}
