//! The adjacency lists of a graph: in memory, or in a file that is mapped.

use std::any::Any;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

use memmap2::Mmap;

/// Node numbers, one list after the other, which never change.
#[derive(Clone)]
pub(crate) enum Targets {
    Memory(Vec<u32>),
    File(Arc<MappedFile>),
}

/// A file of node numbers, which the system reads as they are asked for.
pub(crate) struct MappedFile {
    /// None of an empty file, which cannot be mapped.
    map: Option<Mmap>,
    /// What removes the file when nobody reads it any more.
    _keep: Box<dyn Any + Send + Sync>,
}

impl MappedFile {
    /// The content of a file of native `u32`.
    ///
    /// # Errors
    /// If the system cannot map it.
    pub fn new(file: &File, keep: Box<dyn Any + Send + Sync>) -> io::Result<Self> {
        let map = match file.metadata()?.len() {
            0 => None,
            // SAFETY: the file is a temporary one of this process, which nobody writes to from here on.
            _ => Some(unsafe { Mmap::map(file) }?),
        };
        Ok(Self { map, _keep: keep })
    }
}

impl Deref for Targets {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        match self {
            Self::Memory(targets) => targets,
            Self::File(file) => {
                let bytes: &[u8] = file.map.as_deref().unwrap_or_default();
                // SAFETY: any bits are a `u32`, and a mapping starts at a page.
                unsafe { bytes.align_to().1 }
            }
        }
    }
}

impl PartialEq for Targets {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Targets {}

impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
