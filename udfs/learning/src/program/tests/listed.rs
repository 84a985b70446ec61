//! Whether the programs of these tests hold every layer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::Node;
use super::{host, program, programs};

/// The types of `source` that are layers.
fn layers_of(source: &str) -> impl Iterator<Item = &str> {
    let names =
        source.lines().filter(|line| line.starts_with("impl")).filter_map(|line| line.split_once(" Layer for "));
    names.filter_map(|(_, name)| name.split(|c: char| !c.is_alphanumeric()).next())
}

/// The files of a folder and of those in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn every_layer_is_in_one_of_the_programs() {
    let host = host(true);
    let mut used = BTreeSet::new();
    for (_, write) in programs() {
        let name = |node: &Node| format!("{:?}", node.layer).split([' ', '(', '{']).next().unwrap().to_owned();
        used.extend(program(&host, write).nodes.iter().map(name));
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/program/layers");
    let mut found = 0;
    for path in files(Path::new(folder)) {
        for layer in layers_of(&std::fs::read_to_string(&path).unwrap()) {
            assert!(used.contains(layer), "{}: {layer} is in no program of tests.rs", path.display());
            found += 1;
        }
    }
    // None is there that this has not looked for.
    assert_eq!(found, used.len(), "{used:?}");
}
