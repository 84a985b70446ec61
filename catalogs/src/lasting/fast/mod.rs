//! Reading and writing beside the Delta library, where this is faster, or right where the library is not.
//!
//! Measured by `cargo test -p bonnetdb -p bonnet-catalogs --lib -- --ignored --nocapture lasting::fast` on two cores, in the
//! profile `dev`, each way in turns, on a machine that did other work at the same time:
//!
//! | file | what | ours | library | gain |
//! |---|---|--:|--:|--:|
//! | `log` | 1,000 INSERTs of a row: the commit, which needs no list of files | 14.8, 21.4 s | 90.5 s | 4.2 to 6.1 |
//! | `plain` | `max` of a column, 1,000 files of a row | 2.9 ms | 214 ms | 74 |
//! | `plain` | `count(*)`, 1,000 files of a row | 2.1 ms | 8.6 ms | 4.1 |
//! | `plain` | one row by its key, 1,000 files of a row | 1.7 ms | 4.2 ms | 2.5 |
//! | `plain` | `sum`, 1,000 files of a row | 86 ms | 199 ms | 2.3 |
//! | `plain` | `max` of a column, 8 files of 500,000 rows | 1.2 ms | 19 ms | 16 |
//! | `plain` | `sum`, 8 files of 500,000 rows | 19 ms | 44 ms | 2.4 |
//! | `plain` | groups by a text, 8 files of 500,000 rows | 54 ms | 76 ms | 1.4 |
//! | `plain` | one row by its key, 8 files in the order of their keys | 5.5 ms | 8.7 ms | 1.6 |
//! | `plain` | one row by its key, 8 files in no order | 61 ms | 62 ms | 1.0 |
//! | `plain` | an eighth of the rows by their keys, 8 files in no order | 81 ms | 149 ms | 1.8 |
//! | `data_file` | 1,000 files of a row | 1.2, 1.9 s | 2.2, 2.4 s | 1.3 to 1.9 |
//! | `data_file` | a file of 4,000,000 rows | 1.1 s | 1.0 s | 1.0 |
//!
//! * `log` stays for INSERT, `plain` for the answers that statistics give without a scan, and for scans.
//! * `data_file` stays for its statistics: the library's leave NaN out of the bounds, so that readers pass over files that
//!   hold it.
//! * A checkpoint extended from the one before, instead of written anew by the library, saved 21 ms in 100 INSERTs here, and
//!   about 115 of 500 ms in the command, with its allocator: 1.3 at most, so it is gone.

pub(super) mod data_file;
pub(super) mod log;
#[cfg(test)]
mod measure;
pub(super) mod plain;
