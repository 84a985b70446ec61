//! Files that are written to other machines.

use std::fs::File;
use std::io::Read;
use std::path::Path as FilePath;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool};
use object_store::path::Path;
use object_store::{Error, ObjectStore, PutMultipartOptions, PutOptions, PutPayload};

use super::address::Address;
use super::connect::connect;
use super::failure::{raised, words};

/// The bytes of a part: S3 takes 10,000 parts, of at least 5 MiB but for the last.
const PART: u64 = 16 << 20;

/// A file that is to be written to an address: with PUT, in one request to a web server, in parts to S3.
pub struct Upload {
    address: Address,
    store: Arc<dyn ObjectStore>,
    path: Path,
}

impl Upload {
    /// To an address. Asks nothing of the network.
    ///
    /// # Errors
    /// If it is no address of a file.
    pub fn to(target: &str) -> Result<Self> {
        let address = Address::parse(target)?;
        if address.pattern()?.is_some() {
            return plan_err!("'{target}' is a pattern of files: COPY writes one");
        }
        let (store, path) = connect(&address).map_err(|error| failed(&address, &error))?;
        Ok(Self { address, store, path })
    }

    /// The name of the file.
    pub fn name(&self) -> String {
        super::parts::plain_name(&self.address)
    }

    /// The address, without what may be secret.
    pub fn shown(&self) -> String {
        self.address.shown()
    }

    /// Writes the bytes of a file of this machine there. What was there stays until all of them have come. Memory is that of a
    /// part, and for a web server, to which no parts are sent, that of the file. S3 keeps the parts of a statement that is stopped
    /// for as long as the bucket's rule for incomplete uploads says; nobody sees them.
    ///
    /// # Errors
    /// If the server does not take it.
    pub async fn put(&self, file: &FilePath, memory: &Arc<dyn MemoryPool>) -> Result<()> {
        let size = file.metadata()?.len();
        let is_whole = size <= PART || matches!(self.address, Address::Web(_));
        let reservation = MemoryConsumer::new(format!("upload to '{}'", self.shown())).register(memory);
        reservation.try_grow(if is_whole { size } else { PART } as usize)?;
        if is_whole {
            let (_, bytes) = part(File::open(file)?, size).await?;
            let put = self.store.put_opts(&self.path, PutPayload::from_bytes(bytes), PutOptions::default()).await;
            return put.map(drop).map_err(|error| failed(&self.address, &error));
        }
        let upload = self.store.put_multipart_opts(&self.path, PutMultipartOptions::default()).await;
        let mut upload = upload.map_err(|error| failed(&self.address, &error))?;
        let mut file = File::open(file)?;
        loop {
            let (rest, bytes) = part(file, PART).await?;
            file = rest;
            let put = match bytes.is_empty() {
                true => break,
                false => upload.put_part(PutPayload::from_bytes(bytes)).await,
            };
            if let Err(error) = put {
                // The error of the part says more than that of its removal.
                let _ = upload.abort().await;
                return Err(failed(&self.address, &error));
            }
        }
        upload.complete().await.map(drop).map_err(|error| failed(&self.address, &error))
    }
}

fn failed(address: &Address, error: &Error) -> DataFusionError {
    raised(address, &format!("is not written, and {}", words(error, address.is_s3())))
}

/// The next bytes of a file, at most this many.
async fn part(mut file: File, most: u64) -> Result<(File, Bytes)> {
    let read = SpawnedTask::spawn_blocking(move || {
        let mut bytes = Vec::new();
        file.by_ref().take(most).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>((file, Bytes::from(bytes)))
    });
    Ok(read.join().await.map_err(|error| DataFusionError::Execution(format!("reading a file failed: {error}")))??)
}
