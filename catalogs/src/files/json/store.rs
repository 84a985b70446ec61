//! JSON files without their byte order mark, which the reader takes for no JSON.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use datafusion::object_store::path::Path;
use datafusion::object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use futures::StreamExt;
use futures::stream::BoxStream;

use crate::files::lines::BYTE_ORDER_MARK;

/// The files of a store; where they are read from their beginning, a mark there is left out, or spaces stand for it.
#[derive(Debug)]
pub(in crate::files) struct WithoutMark(pub(in crate::files) Arc<dyn ObjectStore>);

impl fmt::Display for WithoutMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether a file begins with the mark; it is read from behind that then, else from where it was.
fn pass_mark(file: &mut File) -> io::Result<bool> {
    let mut start = [0; 3];
    let marked = file.read_exact(&mut start).is_ok() && start == BYTE_ORDER_MARK;
    if !marked {
        file.seek(SeekFrom::Start(0))?;
    }
    Ok(marked)
}

fn spaced(part: Bytes) -> Bytes {
    if !part.starts_with(BYTE_ORDER_MARK) {
        return part;
    }
    let mut part = BytesMut::from(part);
    part[..BYTE_ORDER_MARK.len()].fill(b' ');
    part.freeze()
}

#[async_trait]
impl ObjectStore for WithoutMark {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let ranged = options.range.is_some();
        let mut found = self.0.get_opts(location, options).await?;
        let GetResultPayload::File(file, _) = &mut found.payload else { return Ok(found) };
        if found.range.start > 0 || !pass_mark(file).unwrap_or(false) || !ranged {
            return Ok(found);
        }
        let (meta, range, attributes) = (found.meta.clone(), found.range.clone(), found.attributes.clone());
        let parts = found.into_stream().enumerate();
        let parts = parts.map(|(at, part)| if at == 0 { part.map(spaced) } else { part });
        Ok(GetResult { payload: GetResultPayload::Stream(parts.boxed()), meta, range, attributes })
    }

    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.0.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, options).await
    }
}
