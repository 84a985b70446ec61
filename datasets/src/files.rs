//! Files and folders: listing, reading, versions, lines of text.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::{Error, Result, Stamp};

/// The bytes of a text file that are read to find the types of its columns.
pub(crate) const SAMPLE_BYTES: u64 = 1 << 20;

/// Lines between two calls of `keep_going`.
const LINES_BETWEEN_CHECKS: usize = 4096;

/// The file at a path, or the one file of a folder, that passes a test.
pub(crate) fn only(path: &Path, is_ours: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    if !path.is_dir() {
        return is_ours(path).then(|| path.to_owned());
    }
    let mut found = names(path).into_iter().map(|name| path.join(name)).filter(|file| is_ours(file));
    let file = found.next()?;
    found.next().is_none().then_some(file)
}

/// The names in a folder, sorted; hidden files left out, and pipes and devices, which may never end. Empty where it is no
/// folder or cannot be read.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let ends = |entry: &fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => entry.path().is_file() || entry.path().is_dir(),
        kind => kind.is_ok_and(|kind| kind.is_file() || kind.is_dir()),
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok().filter(ends)?.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort_unstable();
    names
}

/// A file's or folder's own name; empty where it has none.
pub(crate) fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// A list for an error: at most ten names.
pub(crate) fn few(names: &[String]) -> String {
    match names.len() {
        0 => "nothing".to_owned(),
        1..=10 => names.join(", "),
        more => format!("{} and {} more", names[..10].join(", "), more - 10),
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Error::io(path))
}

/// The first bytes of a file, at most `limit`.
pub(crate) fn head(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(Error::io(path))?;
    // To read a file of /proc, which has no bytes until it is read, may take for ever.
    if file.metadata().map_err(Error::io(path))?.len() == 0 {
        return Ok(bytes);
    }
    file.take(limit).read_to_end(&mut bytes).map_err(Error::io(path))?;
    Ok(bytes)
}

/// The size of a file; 0 where there is none.
pub(crate) fn size(path: &Path) -> usize {
    fs::metadata(path).map_or(0, |data| data.len() as usize)
}

/// A number of nodes up to here is accepted whatever the size of the files.
pub(crate) const FEW_NODES: usize = 1 << 20;

/// Refuses a number of nodes that one damaged number of a file claims, before memory is taken for them: beyond a million,
/// there cannot be more nodes than the files have bytes.
pub(crate) fn check_nodes(path: &Path, nodes: usize, bytes: usize) -> Result<()> {
    match bytes.max(FEW_NODES) {
        most if nodes <= most => Ok(()),
        most => {
            let what =
                format!("speaks of {nodes} nodes, but {bytes} bytes cannot be about more than {most}: it is damaged");
            Err(Error::file(path, what))
        }
    }
}

/// Whether there is a file (not a folder).
pub(crate) fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// The state of files, from one look at each.
pub(crate) fn stamp(files: &[PathBuf]) -> Stamp {
    let mut hasher = DefaultHasher::new();
    let mut latest = None;
    for file in files {
        file.hash(&mut hasher);
        if let Ok(data) = fs::metadata(file) {
            let modified = data.modified().ok();
            latest = latest.max(modified);
            data.len().hash(&mut hasher);
            let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            since.map(|time| time.as_nanos()).hash(&mut hasher);
        }
    }
    Stamp { version: format!("{:016x}", hasher.finish()), modified: latest }
}

/// The lines of a string with their numbers from 1; line ends and a byte-order mark are taken off.
pub(crate) struct Lines<'a> {
    path: &'a Path,
    rest: &'a [u8],
    number: usize,
    keep_going: &'a dyn Fn() -> bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(path: &'a Path, bytes: &'a [u8], keep_going: &'a dyn Fn() -> bool) -> Self {
        Self { path, rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), number: 0, keep_going }
    }

    /// The next line, or `None` at the end.
    pub(crate) fn next_line(&mut self) -> Result<Option<(usize, &'a str)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (line, rest) = match self.rest.iter().position(|byte| *byte == b'\n') {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &self.rest[self.rest.len()..]),
        };
        self.rest = rest;
        self.number += 1;
        if self.number.is_multiple_of(LINES_BETWEEN_CHECKS) && !(self.keep_going)() {
            return Err(Error::Cancelled);
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line) {
            Ok(text) => Ok(Some((self.number, text))),
            Err(_) => Err(Error::line(self.path, self.number, "is not UTF-8 text")),
        }
    }
}

/// The rows of a file of edges: two node numbers a line with a separator between them. Blank lines are skipped, and the
/// first line where it is a header.
pub(crate) fn node_pairs(
    path: &Path,
    separator: char,
    header: bool,
    keep_going: &dyn Fn() -> bool,
) -> Result<(Vec<i64>, Vec<i64>)> {
    let bytes = read(path)?;
    let mut lines = Lines::new(path, &bytes, keep_going);
    if header {
        lines.next_line()?;
    }
    let mut pairs = (Vec::new(), Vec::new());
    while let Some((number, line)) = lines.next_line()? {
        if line.trim().is_empty() {
            continue;
        }
        let mut ends = line.split(separator).map(|end| end.trim().parse());
        let (Some(Ok(src)), Some(Ok(dst)), None) = (ends.next(), ends.next(), ends.next()) else {
            let separator = if separator == '\t' { "tab" } else { "comma" };
            return Err(Error::line(path, number, format!("'{line}' are not two node numbers and a {separator}")));
        };
        pairs.0.push(src);
        pairs.1.push(dst);
    }
    Ok(pairs)
}

/// The whole lines of a sample: a last line that the limit cut is dropped.
pub(crate) fn whole_lines(sample: &[u8], limit: u64) -> &[u8] {
    if (sample.len() as u64) < limit {
        return sample;
    }
    match sample.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => &sample[..=end],
        None => sample,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_no_ends() {
        let always = || true;
        let mut lines = Lines::new(Path::new("x"), b"\xef\xbb\xbfa\r\n\nlast", &always);
        assert_eq!(lines.next_line().unwrap(), Some((1, "a")));
        assert_eq!(lines.next_line().unwrap(), Some((2, "")));
        assert_eq!(lines.next_line().unwrap(), Some((3, "last")));
        assert_eq!(lines.next_line().unwrap(), None);
    }

    #[test]
    fn a_line_of_other_bytes_is_named() {
        let always = || true;
        let mut lines = Lines::new(Path::new("x"), b"ok\n\xff\xfe\n", &always);
        lines.next_line().unwrap();
        assert_eq!(lines.next_line().unwrap_err().to_string(), "'x', line 2: is not UTF-8 text");
    }

    #[test]
    fn a_changed_file_has_another_version() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let version = |file: &PathBuf| stamp(std::slice::from_ref(file)).version;
        let before = version(&file);
        fs::write(&file, "1").unwrap();
        let written = version(&file);
        fs::write(&file, "12").unwrap();
        let longer = version(&file);
        assert!(before != written && written != longer);
        assert_eq!(longer, version(&file));
    }
}
