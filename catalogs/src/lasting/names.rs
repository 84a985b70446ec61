//! Names of SQL as names of files, and unique names.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// A name as a file's name: small letters, digits and `_` as they are, every other byte as `%XX`. Names that differ in
/// case alone are thus different files wherever file systems ignore case.
pub(super) fn encode(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' => encoded.push(char::from(byte)),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// The name that a file's name stands for; `None` for files that are not ours.
pub(super) fn decode(file: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(file.len());
    let mut rest = file.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' => {
                bytes.push(byte);
                tail
            }
            b'%' => {
                let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                &tail[2..]
            }
            _ => return None,
        };
    }
    let name = String::from_utf8(bytes).ok()?;
    (encode(&name) == file && !name.is_empty()).then_some(name)
}

/// The part of a folder's name that says to a reader what is in it: small letters, digits and `_`. Programs that read
/// Delta tables differ in what they make of other characters in a path.
pub(super) fn plain(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().take(40).map(letter).collect()
}

/// Sixteen hexadecimal digits that no other process and no other call has drawn.
pub(super) fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos();
    // The operating system seeds the hasher.
    format!("{:016x}", RandomState::new().hash_one((now, std::process::id(), count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_file_name_of_its_own() {
        for (name, file) in [
            ("results_2", "results_2"),
            ("Results", "%52esults"),
            ("a/b", "a%2Fb"),
            ("..", "%2E%2E"),
            ("ü", "%C3%BC"),
            ("a b.json", "a%20b%2Ejson"),
        ] {
            assert_eq!(encode(name), file);
            assert_eq!(decode(file).as_deref(), Some(name));
        }
    }

    #[test]
    fn other_files_are_no_names() {
        for file in ["", "A", "a%2", "a%zz", "%61", ".x", "a-b", "%FF"] {
            assert_eq!(decode(file), None, "{file}");
        }
    }

    #[test]
    fn unique_names_differ() {
        let drawn: std::collections::HashSet<_> = (0..1000).map(|_| unique()).collect();
        assert_eq!(drawn.len(), 1000);
        assert!(drawn.iter().all(|name| name.len() == 16));
    }
}
