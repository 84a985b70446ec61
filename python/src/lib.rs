//! BonnetDB for Python, and its ADBC driver, in one library.
//!
//! The module `py` is what the package `bonnetdb` (beside `src`) is made of: sessions and their rows; the rest of the
//! package is Python. [`adbc`] is the driver, which other languages load too.
//!
//! # Floors
//!
//! 1. `plain`: rows of other libraries, without what they write beside them.
//! 2. `adbc`, `py`: the driver; the module of Python.

pub mod adbc;
mod plain;
#[cfg(feature = "python")]
mod py;

/// The functions that a driver manager looks for.
mod entry {
    #![allow(missing_docs)]
    adbc_ffi::export_driver!(BonnetdbDriverInit, crate::adbc::BonnetDriver);
}
