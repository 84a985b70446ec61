//! Where the readers of files find one of another machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use super::parts::Parts;

/// All places, by the paths that readers know.
static PLACES: LazyLock<Mutex<BTreeMap<PathBuf, Weak<Place>>>> = LazyLock::new(Mutex::default);

fn places() -> MutexGuard<'static, BTreeMap<PathBuf, Weak<Place>>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file of another machine while it is read, by a path of this one.
#[derive(Debug)]
pub(crate) struct Place {
    /// The path: of a copy, or of nothing, where parts are read.
    pub(crate) path: PathBuf,
    /// Its address, for errors.
    address: String,
    content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    /// The folder goes with the place.
    Copy {
        _folder: tempfile::TempDir,
    },
    Parts(Arc<Parts>),
}

impl Place {
    /// The place of this path; the one that is there, if it is.
    pub(super) fn at(path: PathBuf, address: String, content: Content) -> Arc<Self> {
        let mut places = places();
        if let Some(place) = places.get(&path).and_then(Weak::upgrade) {
            // The lock is let go before what is not needed.
            drop(places);
            return place;
        }
        let place = Arc::new(Self { path, address, content });
        places.insert(place.path.clone(), Arc::downgrade(&place));
        place
    }

    pub(super) fn parts(&self) -> Option<&Arc<Parts>> {
        match &self.content {
            Content::Parts(parts) => Some(parts),
            Content::Copy { .. } => None,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = places();
        // Another one may have come to the path since.
        if places.get(&self.path).is_some_and(|place| place.strong_count() == 0) {
            places.remove(&self.path);
        }
    }
}

/// The place of a path.
pub(super) fn find(path: &Path) -> Option<Arc<Place>> {
    places().get(path).and_then(Weak::upgrade)
}

/// The places among these paths, which have to be held as long as their files are read.
pub(crate) fn holding(paths: impl Iterator<Item = PathBuf>) -> Vec<Arc<Place>> {
    // A lock is held for as long as a match on what it guards.
    let none = places().is_empty();
    if none { Vec::new() } else { paths.filter_map(|path| find(&path)).collect() }
}

/// A path as a user knows it: the address of its file, if that is of another machine.
pub(crate) fn shown(path: &Path) -> PathBuf {
    find(path).map_or_else(|| path.to_owned(), |place| PathBuf::from(&place.address))
}

/// Why reading a part of the file at a path failed, as the end of a sentence; `None` if that did not.
pub(crate) fn recorded_failure(path: &Path) -> Option<String> {
    find(path)?.parts()?.failure()
}
