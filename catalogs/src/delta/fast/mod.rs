//! Reading and writing beside the Delta library, where this is faster, or right where the library is not.
//!
//! Measured by `cargo test -p bonnetdb -p bonnet-catalogs --lib -- --ignored --nocapture delta::fast` on two cores, in the
//! profile `dev`, each way in turns, on a machine that did other work at the same time:
//!
//! | file | what | ours | library | gain |
//! |---|---|--:|--:|--:|
//! | `log` | 1,000 INSERTs of a row: the commit, which needs no list of files | 14.8, 21.4 s | 90.5 s | 4.2 to 6.1 |
//! | `plain` | `max` of a column, 1,000 files of a row | 2.1 ms | 328 ms | 156 |
//! | `plain` | `count(*)`, 1,000 files of a row | 1.5 ms | 6.5 ms | 4.3 |
//! | `plain` | one row by its key, 1,000 files of a row | 2.0 ms | 3.7 ms | 1.9 |
//! | `plain` | `sum`, 1,000 files of a row | 155 ms | 225 ms | 1.4 |
//! | `plain` | `max` of a column, 8 files of 500,000 rows | 1.0 ms | 123 ms | 122 |
//! | `plain` | `sum`, 8 files of 500,000 rows | 57 ms | 70 ms | 1.2 |
//! | `plain` | one row by its key, 8 files of 500,000 rows | 21 ms | 11 ms | 0.5 |
//! | `data_file` | 1,000 files of a row | 1.2, 1.9 s | 2.2, 2.4 s | 1.3 to 1.9 |
//! | `data_file` | a file of 4,000,000 rows | 1.1 s | 1.0 s | 1.0 |
//!
//! * `log` stays for INSERT, `plain` for the answers that statistics give without a scan.
//! * `data_file` stays for its statistics: the library's leave NaN out of the bounds, so that readers pass over files that
//!   hold it.
//! * A checkpoint extended from the one before, instead of written anew by the library, saved 21 ms in 100 INSERTs here, and
//!   about 115 of 500 ms in the command, with its allocator: 1.3 at most, so it is gone.

pub(super) mod data_file;
pub(super) mod log;
#[cfg(test)]
mod measure;
pub(super) mod plain;
