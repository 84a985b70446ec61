//! TLS of the server: its certificate and key.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The acceptor of TLS connections with this chain of certificates and its key, both in PEM.
///
/// # Errors
/// The file that cannot be read or used, and why.
pub(super) fn acceptor(certificates: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let wrong = |file: &Path, why: &dyn std::fmt::Display| format!("'{}': {why}", file.display());
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect)
            .map_err(|error| wrong(certificates, &format!("no certificates in PEM: {error}")))?;
    if chain.is_empty() {
        return Err(wrong(certificates, &"the file holds no certificate in PEM"));
    }
    let key =
        PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &format!("no private key in PEM: {error}")))?;
    // The provider is named, as several are compiled in.
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_no_client_auth())
        .and_then(|builder| builder.with_single_cert(chain, key))
        .map_err(|error| wrong(certificates, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
