//! The sizes of folders and files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// All files of the project under a folder, by their paths from it: not what tools leave behind.
pub(super) fn files(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !name.starts_with('.') && !matches!(name.as_str(), "target" | "dist" | "__pycache__") {
                folders.push(path);
            } else if kind.is_file() && !name.ends_with(".so") && !name.ends_with(".pyc") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The folders with more files beside their folders than `most`, but for those that hold one thing a file.
pub(super) fn crowded(files: &[String], most: usize, one_thing_a_file: &[&str]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        *counts.entry(file.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
    }
    let crowded = counts.into_iter().filter(|(folder, count)| *count > most && !one_thing_a_file.contains(folder));
    crowded.map(|(folder, count)| format!("{folder} has {count} files: sort them into folders")).collect()
}
