//! Packages that panic where a file is damaged.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::{Error, Result};

/// Reads a file by a package whose panics become errors of the file.
pub(crate) fn caught<T>(file: &Path, read: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Error::file(file, format!("is damaged: {}", text.unwrap_or("its reader gave up")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_the_file() {
        let error = caught(Path::new("x.parquet"), || -> u8 { panic!("no width {}", 7) }).unwrap_err();
        assert_eq!(error.to_string(), "'x.parquet': is damaged: no width 7");
        assert_eq!(caught(Path::new("x"), || 3).unwrap(), 3);
    }
}
