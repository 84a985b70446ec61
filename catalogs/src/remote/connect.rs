//! Clients of stores.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, Result, RetryConfig};

use super::address::Address;

/// The variables that name credentials, or where they are to be had; without one of them requests to S3 are not signed.
const CREDENTIALS: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
];

/// The store of an address, and the path of the file in it. Asks nothing of the network.
pub(super) fn connect(address: &Address) -> Result<(Arc<dyn ObjectStore>, Path)> {
    match address {
        // The whole address is the base of the store, so that it is asked for as it is written.
        Address::Web(url) => {
            let options = options().with_allow_http(url.scheme() == "http");
            let builder = HttpBuilder::new().with_url(url.as_str()).with_client_options(options).with_retry(retry());
            Ok((Arc::new(builder.build()?), Path::default()))
        }
        Address::S3 { bucket, key } => Ok((bucket_of(bucket)?, Path::parse(key)?)),
    }
}

/// A bucket, as the usual variables of AWS say.
pub(super) fn bucket_of(bucket: &str) -> Result<Arc<dyn ObjectStore>> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"].into_iter().find_map(set);
    let plain = endpoint.is_some_and(|endpoint| endpoint.to_ascii_lowercase().starts_with("http://"));
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry());
    builder = builder.with_client_options(options().with_allow_http(plain));
    if !CREDENTIALS.iter().any(|name| set(name).is_some()) {
        builder = builder.with_skip_signature(true);
    }
    Ok(Arc::new(builder.build()?))
}

/// A request lasts as long as bytes come: silence is counted where they are read.
fn options() -> ClientOptions {
    ClientOptions::new().with_timeout_disabled().with_connect_timeout(Duration::from_secs(10))
}

/// A server that is busy is asked twice more.
fn retry() -> RetryConfig {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(200), max_backoff: Duration::from_secs(2), base: 3.0 };
    RetryConfig { backoff, max_retries: 2, retry_timeout: Duration::from_secs(30) }
}
