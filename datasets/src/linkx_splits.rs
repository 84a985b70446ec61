//! LINKX's splits: `NAME-splits.npy`, a pickled array with a dictionary `train`, `valid`, `test` for each split.

use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;

use crate::columns::Splits;
use crate::pickle::Pickle;
use crate::scan::Scan;
use crate::{Error, Result, files};

/// The parts by the names that the publisher gives them.
const PARTS: [(&str, &str); 3] = [("train", "train"), ("valid", "val"), ("test", "test")];

/// The bytes that a node takes in memory: three columns and what they are read from.
const BYTES: usize = 64;

/// The file of splits of a set in this file or folder: beside it, or in a folder `splits` beside it or up to two levels
/// above it, as the publisher's folders lie.
pub(crate) fn find(set: &Path, name: &str) -> Option<PathBuf> {
    let name = format!("{name}-splits.npy");
    let set = std::path::absolute(set).ok()?;
    let folder = if set.is_dir() { set.as_path() } else { set.parent()? };
    let mut places = vec![folder.join(&name)];
    places.extend(folder.ancestors().take(3).map(|above| above.join("splits").join(&name)));
    places.into_iter().find(|file| files::is_file(file))
}

/// The splits of a file, numbered from 0.
fn read(file: &Path) -> Result<Splits> {
    let bytes = files::read(file)?;
    // Magic and version, then the length of the header.
    let header = match (bytes.get(..8), bytes.get(8..12)) {
        (Some([0x93, b'N', b'U', b'M', b'P', b'Y', 1, _]), Some([a, b, _, _])) => {
            10 + u16::from_le_bytes([*a, *b]) as usize
        }
        (Some([0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _]), Some(&[a, b, c, d])) => {
            12 + u32::from_le_bytes([a, b, c, d]) as usize
        }
        _ => return Err(Error::file(file, "is no .npy file")),
    };
    let pickled = bytes.get(header..).ok_or_else(|| Error::file(file, "ends within its header"))?;
    let pickle = Pickle::read(pickled).map_err(|fault| Error::byte(file, header + fault.byte, fault.what))?;
    let splits = pickle.splits(&PARTS.map(|(published, _)| published)).map_err(|what| Error::file(file, what))?;
    let mut rows = Splits::default();
    for (split, parts) in (0i64..).zip(splits) {
        for ((_, part), nodes) in PARTS.iter().zip(parts) {
            nodes.into_iter().for_each(|node| rows.push(split, node, part));
        }
    }
    Ok(rows)
}

/// The rows of `splits` of a set with this file.
pub(crate) fn scan(file: Option<&Path>, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
    scan.splits(file.map_or_else(|| Ok(Splits::default()), read)?)
}

/// About how many bytes reading takes.
pub(crate) fn expected_bytes(file: Option<&Path>) -> usize {
    // A node takes two bytes or more.
    file.map_or(0, |file| BYTES * files::size(file) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_splits_are_found_above_their_set() {
        let folder = tempfile::tempdir().unwrap();
        let (set, splits) = (folder.path().join("twitch/DE"), folder.path().join("splits"));
        std::fs::create_dir_all(&set).unwrap();
        std::fs::create_dir_all(&splits).unwrap();
        std::fs::write(splits.join("twitch-e-DE-splits.npy"), b"x").unwrap();
        let found = find(&set, "twitch-e-DE").unwrap();
        assert_eq!(found, splits.join("twitch-e-DE-splits.npy"));
        assert!(find(&set, "twitch-e-FR").is_none());
        std::fs::write(set.join("a.mat"), b"x").unwrap();
        std::fs::write(set.join("a-splits.npy"), b"x").unwrap();
        assert_eq!(find(&set.join("a.mat"), "a").unwrap(), set.join("a-splits.npy"));
        let error = read(&found).err().unwrap().to_string();
        assert!(error.contains("is no .npy file"), "{error}");
    }
}
