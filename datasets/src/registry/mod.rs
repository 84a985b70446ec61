//! Published data sets by their names: what a folder must hold, each file with its size, its SHA-256 and where it is published.
//!
//! The table is written by `.ci/registry`: a line `set` for each data set, with a line `file` for each of its files.

use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ring::digest::{Context, SHA256};

use crate::scan::check;
use crate::{Error, Result};

const TABLE: &str = include_str!("registry.tsv");

/// The prefix of locations in the registry.
pub const REGISTRY: &str = "registry:";

/// Bytes that are read between two looks at whether to go on.
const CHUNK: usize = 1 << 20;

/// A published data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredSet {
    /// The name in `registry:name`.
    pub name: &'static str,
    /// Where it lies in a folder of data sets: a folder, or a file.
    pub folder: &'static str,
    /// The name of its format.
    pub format: &'static str,
    /// What is learnt on it: a task of `train`; none where it has no such task.
    pub task: Option<&'static str>,
    /// Nodes, distinct undirected edges without loops, classes and graphs, where they are known.
    pub nodes: Option<u64>,
    /// See `nodes`.
    pub edges: Option<u64>,
    /// See `nodes`.
    pub classes: Option<u64>,
    /// See `nodes`; none for a set that is one graph.
    pub graphs: Option<u64>,
    /// The licence that the publisher states, by its SPDX name; `not stated` where there is none.
    pub license: &'static str,
    /// The page of the publisher.
    pub source: &'static str,
    /// Its files.
    pub files: Vec<RegisteredFile>,
}

/// A file of a published data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredFile {
    /// The path below the set's folder; empty where the set is one file.
    pub path: &'static str,
    /// The number of bytes.
    pub bytes: u64,
    /// The SHA-256 in hexadecimal digits.
    pub sha256: &'static str,
    /// Where the publisher has the same bytes; none where that is not known.
    pub url: Option<&'static str>,
}

/// What is wrong with a file of a set that lies in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// There is no such file.
    Missing,
    /// Its bytes are not those that were published: the SHA-256 that was found.
    Differs(String),
}

/// All data sets of the registry, in the order of the table.
pub fn registry() -> &'static [RegisteredSet] {
    static SETS: LazyLock<Vec<RegisteredSet>> = LazyLock::new(|| parse(TABLE));
    &SETS
}

/// The data set of a name.
///
/// # Errors
/// If there is none; the text has those that are most alike.
pub fn registered(name: &str) -> Result<&'static RegisteredSet> {
    let sets = registry();
    let name = name.trim().to_lowercase();
    sets.iter().find(|set| set.name == name).ok_or_else(|| {
        let alike = |set: &&RegisteredSet| set.name.contains(&name) || name.contains(set.name);
        let alike: Vec<&str> = sets.iter().filter(alike).map(|set| set.name).collect();
        let near = if alike.is_empty() { String::new() } else { format!("; there are {}", alike.join(", ")) };
        Error::Option(format!(
            "the registry has no data set '{name}'{near}; SELECT name FROM bonnet.datasets lists all {}",
            sets.len()
        ))
    })
}

fn parse(table: &'static str) -> Vec<RegisteredSet> {
    let text = |field: &'static str| (!field.is_empty()).then_some(field);
    let mut sets: Vec<RegisteredSet> = Vec::new();
    for line in table.lines() {
        let fields: Vec<&'static str> = line.split('\t').collect();
        match fields[..] {
            ["set", name, folder, format, task, nodes, edges, classes, graphs, license, source] => {
                let number = |field: &str| field.parse().ok();
                sets.push(RegisteredSet {
                    name,
                    folder,
                    format,
                    task: text(task),
                    nodes: number(nodes),
                    edges: number(edges),
                    classes: number(classes),
                    graphs: number(graphs),
                    license,
                    source,
                    files: Vec::new(),
                });
            }
            ["file", path, bytes, sha256, url] => {
                let file = RegisteredFile { path, bytes: bytes.parse().unwrap_or(0), sha256, url: text(url) };
                sets.last_mut().into_iter().for_each(|set| set.files.push(file.clone()));
            }
            // A test reads the whole table.
            _ => {}
        }
    }
    sets
}

impl RegisteredSet {
    /// Where the set lies in a folder of data sets.
    pub fn place(&self, data: &Path) -> PathBuf {
        data.join(self.folder)
    }

    /// Where one of its files lies.
    pub fn file(&self, data: &Path, file: &RegisteredFile) -> PathBuf {
        let place = self.place(data);
        if file.path.is_empty() { place } else { place.join(file.path) }
    }

    /// The bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Which of these files are not there as they were published. Reads all of their bytes.
    ///
    /// # Errors
    /// If a file cannot be read, or the query is cancelled.
    pub fn faults_of<'a>(
        &self,
        files: impl IntoIterator<Item = &'a RegisteredFile>,
        data: &Path,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<(&'a RegisteredFile, Fault)>> {
        let mut faults = Vec::new();
        for file in files {
            let path = self.file(data, file);
            if !path.is_file() {
                faults.push((file, Fault::Missing));
                continue;
            }
            let found = sha256(&path, keep_going)?;
            if found != file.sha256 {
                faults.push((file, Fault::Differs(found)));
            }
        }
        Ok(faults)
    }

    /// The files that are not there as they were published. Reads all bytes.
    ///
    /// # Errors
    /// As [`RegisteredSet::faults_of`].
    pub fn faults(&self, data: &Path, keep_going: &dyn Fn() -> bool) -> Result<Vec<(&RegisteredFile, Fault)>> {
        self.faults_of(&self.files, data, keep_going)
    }
}

/// The SHA-256 of a file in hexadecimal digits.
///
/// # Errors
/// If it cannot be read, or the query is cancelled.
pub fn sha256(path: &Path, keep_going: &dyn Fn() -> bool) -> Result<String> {
    let mut file = File::open(path).map_err(Error::io(path))?;
    let (mut digest, mut chunk) = (Context::new(&SHA256), vec![0; CHUNK]);
    loop {
        check(keep_going)?;
        match file.read(&mut chunk).map_err(Error::io(path))? {
            0 => break,
            read => digest.update(&chunk[..read]),
        }
    }
    let mut text = String::new();
    for byte in digest.finish().as_ref() {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_table_is_whole() {
        let sets = registry();
        let names: HashSet<&str> = sets.iter().map(|set| set.name).collect();
        assert_eq!(names.len(), sets.len(), "a name twice");
        assert!(sets.len() > 60);
        let lines = sets.len() + sets.iter().map(|set| set.files.len()).sum::<usize>();
        assert_eq!(lines, TABLE.lines().count(), "a line that is neither a set nor a file");
        for set in sets {
            assert!(!set.files.is_empty() && !set.license.is_empty(), "{}", set.name);
            assert!(set.source.starts_with("https://"), "{}", set.name);
            assert!(crate::formats().iter().any(|format| format.name() == set.format), "{}", set.format);
            for file in &set.files {
                assert!(file.sha256.len() == 64 && file.sha256.bytes().all(|b| b.is_ascii_hexdigit()), "{}", file.path);
                assert!(file.url.is_none_or(|url| url.starts_with("https://") && !url.contains(' ')), "{}", file.path);
                assert!(!file.path.contains("..") && !file.path.starts_with('/'), "{}", file.path);
            }
        }
        let cora = registered("Cora").unwrap();
        assert_eq!((cora.nodes, cora.edges, cora.classes, cora.files.len()), (Some(2708), Some(5278), Some(7), 8));
        assert_eq!((cora.task, cora.license, cora.graphs), (Some("node_classification"), "MIT", None));
    }

    #[test]
    fn a_name_that_is_none_gets_those_alike() {
        let error = registered("corra").unwrap_err().to_string();
        assert!(error.contains("no data set 'corra'; SELECT name FROM bonnet.datasets lists all"), "{error}");
        let error = registered("chameleon_undirected").unwrap_err().to_string();
        assert!(error.contains("there are chameleon"), "{error}");
    }

    #[test]
    fn files_are_compared_by_their_sums() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        // The example of FIPS 180-2, appendix B.1.
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&path, &|| true).unwrap(), sum);
        assert!(matches!(sha256(&path, &|| false), Err(Error::Cancelled)));
        let set = registered("texas").unwrap();
        let file = set.file(folder.path(), &set.files[0]);
        assert_eq!(set.faults(folder.path(), &|| true).unwrap(), [(&set.files[0], Fault::Missing)]);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(set.faults(folder.path(), &|| true).unwrap(), [(&set.files[0], Fault::Differs(sum.to_owned()))]);
    }
}
