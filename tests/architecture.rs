//! The walls of the house: which crate may need which, on which floor each module of a crate stands, and how large folders
//! and files grow. Read from the sources, so that nothing has to be built.
//!
//! The floors of a crate stand in its page (`lib.rs`), lowest first, as a numbered list of its modules under the heading
//! `# Floors`; a module may import those of its floor and of those below it, in no circle.

mod crates;
mod features;
mod floors;
mod folders;
mod imports;
mod modules;
mod self_tests;
mod tokens;

use std::fs;
use std::path::{Path, PathBuf};

use crates::{Arrows, Manifest};
use modules::Sources;

/// `cli`, `serve`, `python` -> `src` -> `dialect`, `catalogs` -> `datasets`; `src` -> `udfs/<subject>` -> `udfs/sql`,
/// `udfs/encodings`, `udfs/graph`; `udfs/sql` -> `udfs/columns`. No subject needs another, but for what `profile`, `learning` and `homophily` use of their kernels, and
/// `pictures` of those of `ranking`.
const ARROWS: Arrows = Arrows {
    subject: &["bonnet-encodings", "bonnet-graph", "bonnet-sql"],
    of: &[
        ("bonnet-columns", &[]),
        ("bonnet-common", &[]),
        ("bonnet-dependencies", &[]),
        ("bonnet-graph", &[]),
        ("bonnet-sql", &["bonnet-columns", "bonnet-common", "bonnet-graph"]),
        ("bonnet-datasets", &[]),
        ("bonnet-encodings", &["bonnet-graph"]),
        ("bonnet-pictures", &["bonnet-graph"]),
        ("bonnet-catalogs", &["bonnet-common", "bonnet-datasets"]),
        ("bonnet-values", &["bonnet-common", "bonnet-graph", "bonnet-sql"]),
        ("bonnet-dialect", &["bonnet-common", "bonnet-graph", "bonnet-sql", "bonnet-values"]),
        (
            "bonnet-profile",
            &["bonnet-algorithms", "bonnet-curvature", "bonnet-graph", "bonnet-homophily", "bonnet-sql"],
        ),
        ("bonnetdb", UNDER_THE_ENGINE),
        ("bonnet-serve", FACES),
        (
            "bonnet-cli",
            &["bonnetdb", "bonnet-catalogs", "bonnet-dialect", "bonnet-pictures", "bonnet-serve", "bonnet-sql"],
        ),
        ("bonnetdb-python", &["bonnetdb", "bonnet-sql"]),
    ],
    of_kernels: &[
        ("bonnet-homophily", &["bonnet-ranking"]),
        ("bonnet-learning", &["bonnet-curvature", "bonnet-topology"]),
        ("bonnet-pictures", &["bonnet-ranking"]),
    ],
};

const UNDER_THE_ENGINE: &[&str] = &[
    "bonnet-algorithms",
    "bonnet-catalogs",
    "bonnet-common",
    "bonnet-curvature",
    "bonnet-datasets",
    "bonnet-dialect",
    "bonnet-generators",
    "bonnet-graph",
    "bonnet-homophily",
    "bonnet-learning",
    "bonnet-persistence",
    "bonnet-pictures",
    "bonnet-profile",
    "bonnet-ranking",
    "bonnet-relational",
    "bonnet-sql",
    "bonnet-topology",
    "bonnet-values",
];

const FACES: &[&str] = &["bonnetdb", "bonnet-catalogs", "bonnet-dialect", "bonnet-sql"];

/// The files that a folder holds beside its folders.
const FILES_A_FOLDER: usize = 20;

/// The folders that hold one function, rule, model, layer, format or script a file.
const ONE_THING_A_FILE: [&str; 10] = [
    "benches/peers",
    "datasets/src/formats",
    "dialect/src/plans",
    "tests/slt",
    "udfs/algorithms/src",
    "udfs/algorithms/src/sql",
    "udfs/generators/src",
    "udfs/learning/src/models",
    "udfs/learning/src/program/layers",
    "udfs/topology/src",
];

/// The lines of a Rust file.
const LINES_A_FILE: usize = 600;

/// The folder of the workspace.
fn root() -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let is_root = |folder: &&Path| {
        fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|manifest| manifest.contains("[workspace]"))
    };
    folders.into_iter().find(is_root).unwrap().to_owned()
}

fn manifest(folder: &str) -> Manifest {
    Manifest::new(&fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap())
}

/// The folders of all crates; the engine's is the empty path.
fn crates() -> Vec<String> {
    let mut folders = vec![String::new(), "python".to_owned()];
    for member in manifest("").members {
        match member.strip_suffix("/*") {
            Some(parent) => {
                for entry in fs::read_dir(root().join(parent)).unwrap() {
                    let name = entry.unwrap().file_name().into_string().unwrap();
                    folders.push(format!("{parent}/{name}"));
                }
            }
            None => folders.push(member),
        }
    }
    folders.retain(|folder| root().join(folder).join("Cargo.toml").exists());
    folders.sort();
    folders
}

/// The Rust files of a crate.
fn sources(folder: &Path) -> Sources {
    let files = folders::files(folder).into_iter().filter(|file| file.ends_with(".rs"));
    files.map(|file| (file.clone(), fs::read_to_string(folder.join(&file)).unwrap())).collect()
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn modules_import_downward_and_in_no_circle() {
    let mut faults = Vec::new();
    for folder in crates() {
        let source = root().join(&folder).join("src");
        faults.extend(floors::faults(&sources(&source)).into_iter().map(|fault| format!("{folder}/src: {fault}")));
    }
    assert_none(&faults);
}

#[test]
fn crates_need_those_below_them_alone() {
    let faults: Vec<String> = crates().iter().flat_map(|folder| crates::faults(&manifest(folder), &ARROWS)).collect();
    assert_none(&faults);
}

#[test]
fn folders_and_files_are_small() {
    let files = folders::files(&root());
    let mut faults = folders::crowded(&files, FILES_A_FOLDER, &ONE_THING_A_FILE);
    for file in files.iter().filter(|file| file.ends_with(".rs")) {
        let lines = fs::read_to_string(root().join(file)).unwrap().lines().count();
        if lines > LINES_A_FILE {
            faults.push(format!("{file} has {lines} lines"));
        }
    }
    assert_none(&faults);
}
