//! Files that are fetched to stay. What has come of one lies beside its place, in a file whose name ends in `.part`, and a later
//! attempt goes on from there.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use datafusion::common::Result;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::{GetOptions, GetRange};

use super::SILENCE;
use super::address::Address;
use super::copied::{asked, written};
use super::failure::raised;

/// Fetches a file of so many bytes to a place, whose folders are made.
///
/// # Errors
/// If it does not come whole, or has another size; a part of the right file stays.
pub fn download<'a>(address: &'a str, to: &'a Path, size: u64) -> BoxFuture<'a, Result<()>> {
    fetched(address, to, size).boxed()
}

async fn fetched(address: &str, to: &Path, size: u64) -> Result<()> {
    let address = Address::parse(address)?;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let part = part(to);
    let there = fs::metadata(&part).map_or(0, |data| data.len());
    let mut length = if there > size { 0 } else { there };
    if length < size {
        let whole = length == 0;
        match rest(&address, &part, length, size).await {
            Ok(come) => length += come,
            // A server that gives no parts of files gives the whole one.
            Err(_) if !whole => length = rest(&address, &part, 0, size).await?,
            Err(error) => return Err(error),
        }
    }
    if length != size {
        return Err(raised(&address, &format!("has come in part: {length} of {size} bytes, which are kept")));
    }
    Ok(fs::rename(&part, to)?)
}

/// Appends the bytes from `start` on to the part.
async fn rest(address: &Address, part: &Path, start: u64, size: u64) -> Result<u64> {
    let range = (start > 0).then_some(GetRange::Offset(start));
    let found = asked(address, GetOptions { range, ..GetOptions::default() }, SILENCE).await?;
    if found.meta.size != size {
        return Err(raised(address, &format!("has {} bytes, and {size} were published", found.meta.size)));
    }
    let file = match start {
        0 => File::create(part)?,
        _ => File::options().append(true).open(part)?,
    };
    written(found.into_stream(), file, address, SILENCE).await
}

/// Where what has come of a file lies.
fn part(to: &Path) -> PathBuf {
    let mut name = OsString::from(to.file_name().unwrap_or_default());
    name.push(".part");
    to.with_file_name(name)
}
