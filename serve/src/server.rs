//! The server: its options, and the loop that accepts clients.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bonnetdb::{Engine, Error, Result};
use tokio::net::{TcpListener, TcpStream};

use super::scram::Verifier;
use super::state::{Open, ServerState};
use super::{connection, failure, startup, tls};

/// The number of clients above the limit that are heard, so that they get an error.
const HEARD_BEYOND: usize = 16;

/// The pause after a connection that could not be accepted, as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// The options of a server.
#[derive(Clone)]
pub struct ServeOptions {
    /// The address to listen at, as `127.0.0.1:5432`; with port 0 the system chooses one.
    pub address: String,
    /// The user and the password; without them anyone on this machine may log in.
    pub login: Option<(String, String)>,
    /// The files of the certificate and its key, in PEM. Any address but that of the machine itself needs them.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether statements may read and write files and attach what lies outside the database.
    pub external_access: bool,
    /// The most clients that are connected at once.
    pub connections: usize,
    /// Bytes that the statements of one connection may hold, at most those of the engine; `None` for those.
    pub connection_memory: Option<usize>,
    /// The time for which a client may send nothing, or take nothing of an answer, before its connection ends; `None` is
    /// for ever.
    pub idle_time: Option<Duration>,
}

impl Default for ServeOptions {
    /// The machine's own address, PostgreSQL's port, no password, no external access, 100 clients, an hour.
    fn default() -> Self {
        Self {
            address: "127.0.0.1:5432".to_owned(),
            login: None,
            tls: None,
            external_access: false,
            connections: 100,
            connection_memory: None,
            idle_time: Some(Duration::from_secs(3600)),
        }
    }
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<ServerState>,
}

impl Server {
    /// Listens for clients of the engine.
    ///
    /// # Errors
    /// If the address is none or in use, a certificate cannot be read, or an address that others reach lacks TLS or a
    /// password.
    pub async fn bind(engine: Engine, options: ServeOptions) -> Result<Self> {
        let wanted = &options.address;
        let wrong =
            |why: &dyn std::fmt::Display| Error::statement(format!("{wanted} is no address to serve at: {why}"));
        let address = wanted.to_socket_addrs().map_err(|error| wrong(&error))?.next();
        let address = address.ok_or_else(|| wrong(&"it names no machine"))?;
        let public = !address.ip().is_loopback();
        if public && (options.tls.is_none() || options.login.is_none()) {
            return Err(Error::statement(format!(
                "{wanted} can be reached from other machines: it needs a certificate (--tls-cert, --tls-key) and a password \
                 (BONNET_PASSWORD or --password-file); 127.0.0.1 needs neither"
            )));
        }
        let tls = options.tls.as_ref().map(|(certificates, key)| tls::acceptor(certificates, key)).transpose();
        let password = options.login.map(|(user, password)| match password.is_empty() {
            true => Err("the password is empty".to_owned()),
            false => Verifier::new(&password).map(|verifier| (user, verifier)),
        });
        let shared = ServerState {
            engine,
            keys: Arc::default(),
            tls: tls.map_err(Error::statement)?,
            tls_required: public,
            password: password.transpose().map_err(Error::statement)?,
            external_access: options.external_access,
            connections: options.connections,
            connection_memory: options.connection_memory,
            idle_time: options.idle_time,
            open: AtomicUsize::new(0),
        };
        let listener = TcpListener::bind(address).await.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => Error::statement(format!(
                "port {} of {} is in use by another program: end it, or give another port, --pg {}:{}",
                address.port(),
                address.ip(),
                address.ip(),
                address.port().saturating_add(1)
            )),
            io::ErrorKind::PermissionDenied => Error::statement(format!(
                "port {} needs more rights than this program has: give one above 1023",
                address.port()
            )),
            _ => wrong(&error),
        })?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, shared: Arc::new(shared) })
    }

    /// The address at which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves clients as long as it is awaited. Dropping it ends their connections and statements.
    pub async fn run(self) {
        let mut connections = tokio::task::JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                // Ended connections are forgotten.
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                // So many more that there is not even time to tell them.
                Ok(_) if self.shared.open.load(Ordering::Relaxed) >= self.shared.connections + HEARD_BEYOND => {}
                Ok((stream, _)) => {
                    let open = Open::new(&self.shared);
                    connections.spawn(connection(stream, open));
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

/// One connection from its first byte to its last.
async fn connection(stream: TcpStream, open: Open) {
    let shared = &open.0;
    // Answers are gathered before they are sent, so that waiting for more would only cost time.
    let _ = stream.set_nodelay(true);
    let Some((mut wire, login)) = startup::start(stream, shared).await else { return };
    let key = match shared.keys.add() {
        Ok(key) => key,
        Err(text) => return wire.refuse(failure::Failure::fatal("XX000", text)).await,
    };
    let session = shared.engine.session_within(shared.connection_memory);
    connection::serve(wire, login, session, key, shared).await;
}
