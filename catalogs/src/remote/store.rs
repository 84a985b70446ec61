//! The store of all files that are read in parts, as readers see it: each at its place.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::common::Result as DataFusionResult;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::execution::runtime_env::RuntimeEnv;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::place::{Place, find};

/// Where an engine has it.
const URL: &str = "bonnet-remote://files";

/// The addresses of places in the store, which the engine has from then on.
pub(crate) fn register(places: &[Arc<Place>], runtime: &RuntimeEnv) -> DataFusionResult<Vec<ListingTableUrl>> {
    let urls = places.iter().map(|place| ListingTableUrl::parse(format!("{URL}{}", place.path.display())));
    let urls = urls.collect::<DataFusionResult<Vec<ListingTableUrl>>>()?;
    if let Some(url) = urls.first() {
        runtime.register_object_store(url.object_store().as_ref(), Arc::new(PartsStore));
    }
    Ok(urls)
}

/// The store. It has no state: what it knows are the places.
#[derive(Debug)]
pub(crate) struct PartsStore;

impl fmt::Display for PartsStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("files of other machines")
    }
}

fn refused(operation: &str) -> Error {
    Error::NotImplemented { operation: operation.to_owned(), implementer: PartsStore.to_string() }
}

#[async_trait]
impl ObjectStore for PartsStore {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let place = find(&std::path::Path::new("/").join(location.as_ref()));
        match place.as_ref().and_then(|place| place.parts()) {
            Some(parts) => Arc::clone(parts).get(location, options).await,
            None => Err(Error::NotFound { path: location.to_string(), source: "it is closed".into() }),
        }
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(refused("put"))
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Err(refused("put"))
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        stream::once(async { Err(refused("delete")) }).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        stream::once(async { Err(refused("list")) }).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        Err(refused("list"))
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(refused("copy"))
    }
}
