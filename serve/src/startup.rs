//! The start of a connection: TLS, the login, and the server's settings.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use pgwire::messages::startup::{
    Authentication, BackendKeyData, NegotiateProtocolVersion, ParameterStatus, PasswordMessageFamily, SecretKey,
    Startup,
};
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage, SslNegotiationMetaMessage};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_util::codec::{Framed, FramedParts};

use super::client_settings;
use super::codec::Codec;
use super::failure::Failure;
use super::keys::Key;
use super::scram::MECHANISM;
use super::state::ServerState;
use super::wire::{Gone, Trouble, Wire};

/// The time that a client has for its login.
const LOGIN_TIME: Duration = Duration::from_secs(10);

/// The one version of the protocol that is spoken.
const MAJOR: u16 = 3;

/// The login of a client.
pub(super) struct Login {
    pub(super) user: String,
    pub(super) database: Option<String>,
    /// Settings that it begins with.
    pub(super) settings: BTreeMap<String, String>,
}

/// Leads a connection to the point where it may send statements; `None` where there is no more to do.
pub(super) async fn start(stream: TcpStream, shared: &Arc<ServerState>) -> Option<(Wire, Login)> {
    let begun = tokio::time::timeout(LOGIN_TIME, begin(stream, shared)).await.ok()?.ok()?;
    let (mut wire, startup, encrypted) = begun?;
    let login = tokio::time::timeout(LOGIN_TIME, login(&mut wire, startup, encrypted, shared)).await.ok()?;
    match login {
        Ok(login) => Some((wire, login)),
        Err(Trouble::Gone) => None,
        Err(Trouble::Failure(failure)) => {
            wire.refuse(failure).await;
            None
        }
    }
}

/// Reads messages up to the startup message, which may come after a change to TLS.
async fn begin(stream: TcpStream, shared: &Arc<ServerState>) -> Result<Option<(Wire, Startup, bool)>, Gone> {
    let mut plain = Framed::new(stream, Codec::default());
    loop {
        match plain.next().await {
            Some(Ok(PgWireFrontendMessage::SslNegotiation(SslNegotiationMetaMessage::PostgresSsl(_)))) => {
                let Some(acceptor) = &shared.tls else {
                    plain.get_mut().write_all(b"N").await.map_err(|_| Gone)?;
                    continue;
                };
                let FramedParts { mut io, read_buf, .. } = plain.into_parts();
                // What came before TLS must not be read as if it had come by it.
                if !read_buf.is_empty() {
                    return Err(Gone);
                }
                io.write_all(b"S").await.map_err(|_| Gone)?;
                let stream = acceptor.accept(io).await.map_err(|_| Gone)?;
                let mut wire = Wire::new(Box::new(stream), bytes::BytesMut::new(), Codec::default(), shared.idle_time);
                wire.codec().await_startup();
                return first(wire, true, shared).await;
            }
            Some(Ok(PgWireFrontendMessage::SslNegotiation(SslNegotiationMetaMessage::PostgresGss(_)))) => {
                plain.get_mut().write_all(b"N").await.map_err(|_| Gone)?;
            }
            Some(Ok(PgWireFrontendMessage::SslNegotiation(SslNegotiationMetaMessage::None))) => {
                let FramedParts { io, read_buf, mut codec, .. } = plain.into_parts();
                codec.await_startup();
                return first(Wire::new(Box::new(io), read_buf, codec, shared.idle_time), false, shared).await;
            }
            _ => return Err(Gone),
        }
    }
}

/// The first message that is no negotiation: a startup, or the request to cancel another connection's statement.
async fn first(
    mut wire: Wire,
    encrypted: bool,
    shared: &Arc<ServerState>,
) -> Result<Option<(Wire, Startup, bool)>, Gone> {
    match wire.message().await? {
        PgWireFrontendMessage::Startup(startup) => {
            wire.codec().started();
            Ok(Some((wire, startup, encrypted)))
        }
        PgWireFrontendMessage::CancelRequest(request) => {
            shared.keys.cancel(request.pid, &request.secret_key);
            Ok(None)
        }
        _ => Err(Gone),
    }
}

async fn login(
    wire: &mut Wire,
    startup: Startup,
    encrypted: bool,
    shared: &Arc<ServerState>,
) -> Result<Login, Trouble> {
    let (major, minor) = (startup.protocol_number_major, startup.protocol_number_minor);
    if major != MAJOR {
        return Err(
            Failure::fatal("08P01", format!("protocol {major}.{minor} is not spoken here, only {MAJOR}.0")).into()
        );
    }
    let mut settings = startup.parameters;
    let unknown: Vec<String> = settings.keys().filter(|name| name.starts_with("_pq_.")).cloned().collect();
    if minor > 0 || !unknown.is_empty() {
        let newest = i32::from(MAJOR) << 16;
        wire.put(PgWireBackendMessage::NegotiateProtocolVersion(NegotiateProtocolVersion::new(
            newest,
            unknown.clone(),
        )))?;
        unknown.iter().for_each(|name| drop(settings.remove(name)));
    }
    if !encrypted && shared.tls_required {
        return Err(Failure::fatal("28000", "connections to this address must use TLS: sslmode=require").into());
    }
    if shared.is_full() {
        let most = shared.connections;
        return Err(Failure::fatal("53300", format!("{most} clients are connected already, which is the limit")).into());
    }
    let user = settings.remove("user").ok_or_else(|| Failure::fatal("28000", "the client names no user"))?;
    let database = settings.remove("database");
    if settings.remove("replication").is_some_and(|value| !matches!(value.as_str(), "false" | "off" | "no" | "0")) {
        return Err(Failure::fatal("0A000", "replication is not supported").into());
    }
    if let Some(options) = settings.remove("options") {
        settings.extend(client_settings::of_options(&options)?);
    }
    password(wire, &user, shared).await?;
    wire.put(PgWireBackendMessage::Authentication(Authentication::Ok))?;
    wire.codec().logged_in();
    Ok(Login { user, database, settings })
}

/// Asks for the password, where the server has one.
async fn password(wire: &mut Wire, user: &str, shared: &Arc<ServerState>) -> Result<(), Trouble> {
    let Some((known, verifier)) = &shared.password else { return Ok(()) };
    let protocol = |text: String| Trouble::from(Failure::fatal("08P01", text));
    wire.put(PgWireBackendMessage::Authentication(Authentication::SASL(vec![MECHANISM.to_owned()])))?;
    wire.flush().await?;
    let first = sasl(wire).await?.into_sasl_initial_response().map_err(|error| protocol(error.to_string()))?;
    let first = match first.data {
        Some(data) if first.auth_method == MECHANISM => data,
        _ => return Err(protocol(format!("the only way of passwords here is {MECHANISM}"))),
    };
    let text =
        |bytes: bytes::Bytes| String::from_utf8(bytes.to_vec()).map_err(|_| protocol("a message is no text".into()));
    let challenge = verifier.challenge(&text(first)?).map_err(protocol)?;
    let server_first = challenge.server_first.clone().into_bytes().into();
    wire.put(PgWireBackendMessage::Authentication(Authentication::SASLContinue(server_first)))?;
    wire.flush().await?;
    let last = sasl(wire).await?.into_sasl_response().map_err(|error| protocol(error.to_string()))?;
    match verifier.verify(&challenge, &text(last.data)?).map_err(protocol)? {
        // The name is looked at last, so that a client cannot find out which there are.
        Some(proof) if user == known => {
            wire.put(PgWireBackendMessage::Authentication(Authentication::SASLFinal(proof.into_bytes().into())))?;
            Ok(())
        }
        _ => Err(Failure::fatal("28P01", format!("password authentication failed for user \"{user}\"")).into()),
    }
}

async fn sasl(wire: &mut Wire) -> Result<PasswordMessageFamily, Trouble> {
    match wire.message().await? {
        PgWireFrontendMessage::PasswordMessageFamily(message) => Ok(message),
        _ => Err(Trouble::Gone),
    }
}

/// Tells the client its key and what it has to know of the server.
pub(super) fn welcome(wire: &mut Wire, login: &Login, key: &Key) -> Result<(), Trouble> {
    for (name, value) in client_settings::reported(&login.user) {
        wire.put(PgWireBackendMessage::ParameterStatus(ParameterStatus::new(name, value)))?;
    }
    wire.put(PgWireBackendMessage::BackendKeyData(BackendKeyData::new(key.number, SecretKey::I32(key.secret))))?;
    Ok(())
}
