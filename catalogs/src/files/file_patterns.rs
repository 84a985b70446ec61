//! Patterns of files, `p/*/part-?.parquet`, as addresses that DataFusion lists.
//!
//! DataFusion 55 walks through all folders below the first wildcard, fails where it may not look or goes in circles, matches a
//! pattern with the first folder alone, and sees no folders `key=value`: a pattern for folders found nothing. Patterns are
//! matched here, and DataFusion gets the files.

use std::path::Path;

use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::datasource::listing::ListingTableUrl;

/// Whether a path is a pattern.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The addresses of a path: one of a file, a folder or of folders `key=value`, or one for each file that a pattern matches.
///
/// # Errors
/// If no file matches, or the pattern chooses among folders `key=value`.
pub(crate) fn addresses(path: &str) -> Result<Vec<ListingTableUrl>> {
    let one = || Ok(vec![address(path)?]);
    if !is_pattern(path) || Path::new(path).exists() {
        return one();
    }
    let files = matching(path)?;
    let (folder, names) = split(path);
    let last = names.rsplit_once('/').map_or(names, |(_, last)| last);
    if files.is_empty() {
        // In folders of keys, which DataFusion does not count, there may be some.
        let keyed = last == names && !matching(&format!("{folder}**/*=*/**/{last}"))?.is_empty();
        return if keyed { one() } else { plan_err!("'{path}': no file matches") };
    }
    let below = |file: &String| file.strip_prefix(folder)?.rsplit_once('/').map(|(folders, _)| folders.contains('='));
    if !files.iter().filter_map(below).any(|has_keys| has_keys) {
        return files.iter().map(|file| address(file)).collect();
    }
    // Keys are columns only where DataFusion finds the folders itself.
    let all = format!("{folder}**/{last}");
    match matching(&all)? == files {
        true => Ok(vec![address(&all)?]),
        false => plan_err!(
            "'{path}' chooses among folders key=value: read '{all}', and choose with WHERE: the keys are columns"
        ),
    }
}

/// The address of a path. One that begins with letters and a colon, `c:d.csv`, would be taken for that of another store.
fn address(path: &str) -> Result<ListingTableUrl> {
    match path.contains(':') {
        true => ListingTableUrl::parse(std::path::absolute(path)?.to_string_lossy()),
        false => ListingTableUrl::parse(path),
    }
}

/// The part of a pattern before its first folder with a wildcard, and the rest.
fn split(pattern: &str) -> (&str, &str) {
    let sign = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    pattern.split_at(pattern[..sign].rfind('/').map_or(0, |slash| slash + 1))
}

/// The files that a pattern matches, sorted; hidden ones left out.
fn matching(pattern: &str) -> Result<Vec<String>> {
    let options =
        glob::MatchOptions { require_literal_separator: true, require_literal_leading_dot: true, ..Default::default() };
    let wrong = |error: &dyn std::fmt::Display| DataFusionError::Plan(format!("'{pattern}': {error}"));
    let mut files = Vec::new();
    for file in glob::glob_with(pattern, options).map_err(|error| wrong(&error))? {
        let file = file.map_err(|error| wrong(&error))?;
        if file.is_file() {
            files.push(file.to_string_lossy().into_owned());
        }
    }
    files.sort_unstable();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_folders_are_their_files() {
        let folder = tempfile::tempdir().unwrap();
        for file in
            ["a/x.csv", "b/y.csv", "b/c/z.csv", "keys/k=1/x.csv", "keys/k=2/x.csv", "keys/k=2/y.csv", ".h/x.csv"]
        {
            std::fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(file), "1").unwrap();
        }
        let root = folder.path().to_str().unwrap();
        let found = |pattern: &str| -> Result<Vec<String>, String> {
            let found = addresses(&format!("{root}/{pattern}")).map_err(|error| error.to_string())?;
            Ok(found.iter().map(|url| url.to_string().replace(&format!("file://{root}/"), "")).collect())
        };
        assert_eq!(found("*/*.csv").unwrap(), ["a/x.csv", "b/y.csv"]);
        assert_eq!(found("b/**/*.csv").unwrap(), ["b/c/z.csv", "b/y.csv"]);
        assert_eq!(found("?/c/z.csv").unwrap(), ["b/c/z.csv"]);
        assert_eq!(found("a/*.csv").unwrap(), ["a/x.csv"]);
        assert_eq!(found("keys/*.csv").unwrap().len(), 1);
        // Folders of keys are DataFusion's own.
        assert_eq!(found("keys/*/x.csv").unwrap(), ["keys/"]);
        assert_eq!(found("keys/k=*/*.csv").unwrap(), ["keys/"]);
        let chosen = found("keys/k=1/../k=[2]/x.csv").unwrap_err();
        assert!(chosen.contains("WHERE"), "{chosen}");
        assert!(found("*/*.nosuch").unwrap_err().contains("no file matches"));
        assert_eq!(split("/p/q?/*.csv"), ("/p/", "q?/*.csv"));
        assert_eq!(split("*.csv"), ("", "*.csv"));
        assert_eq!(address("c:d.csv").unwrap().scheme(), "file");
    }
}
