//! Lasting databases: what is made in one is there when it is opened again, whatever happens in between.

mod attached;
mod columns;
mod compatibility;
mod crash;
mod damage;
mod findings;
mod peers;
#[cfg(feature = "postgres")]
mod postgres;
mod power_loss;
mod reading;
mod statements;
mod travel;
mod writers;

use std::path::{Path, PathBuf};

use bonnetdb::{Engine, EngineOptions};
use tempfile::TempDir;

use super::Db;

/// A folder with a database that is opened again and again.
struct Lab {
    folder: TempDir,
}

impl Lab {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("lab.bonnet")
    }

    /// Another path in the same folder.
    fn beside(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn open(&self) -> Db {
        open(&self.root(), false)
    }

    fn open_read_only(&self) -> Db {
        open(&self.root(), true)
    }
}

fn open(path: &Path, read_only: bool) -> Db {
    Db::with(options(path, read_only))
}

fn options(path: &Path, read_only: bool) -> EngineOptions {
    EngineOptions { threads: Some(2), database: Some(path.to_owned()), read_only, ..EngineOptions::default() }
}

/// What opening a database is refused with.
fn refused(path: &Path, read_only: bool) -> String {
    match Engine::open(options(path, read_only)) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("'{}' is opened", path.display()),
    }
}
