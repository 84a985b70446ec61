//! What the connections of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bonnetdb::Engine;
use tokio_rustls::TlsAcceptor;

use super::keys::Keys;
use super::scram::Verifier;

/// The state that all connections of a server share.
pub(super) struct ServerState {
    pub(super) engine: Engine,
    pub(super) keys: Arc<Keys>,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) tls_required: bool,
    pub(super) password: Option<(String, Verifier)>,
    pub(super) external_access: bool,
    pub(super) connections: usize,
    pub(super) connection_memory: Option<usize>,
    pub(super) idle_time: Option<Duration>,
    pub(super) open: AtomicUsize,
}

impl ServerState {
    /// Whether there are more connections than may be.
    pub(super) fn is_full(&self) -> bool {
        self.open.load(Ordering::Relaxed) > self.connections
    }
}

/// A connection that counts as long as it is open.
pub(super) struct Open(pub(super) Arc<ServerState>);

impl Open {
    pub(super) fn new(shared: &Arc<ServerState>) -> Self {
        shared.open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
