//! From a path to data sets: recognising the format, folders of graphs, errors that say what is there.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Dataset, Error, Format, Options, Result, files, formats};

/// The largest depth of a folder of folders of graphs.
const DEPTH: usize = 3;

/// Endings that are no part of a graph's name.
const EXTENSIONS: [&str; 20] = [
    ".gz",
    ".scb",
    ".edges",
    ".edgelist",
    ".mtx",
    ".gml",
    ".npz",
    ".csv",
    ".tsv",
    ".txt",
    ".parquet",
    ".zip",
    ".graph",
    ".json",
    ".g6",
    ".graph6",
    ".npy",
    ".pkl",
    ".mat",
    ".pl",
];

/// The kind of a path.
#[derive(Debug)]
pub enum Opened {
    /// One graph: a schema.
    Graph(Arc<dyn Dataset>),
    /// A folder of graphs: a catalog.
    Collection(Collection),
}

/// The graphs of a folder.
#[derive(Debug)]
pub struct Collection {
    /// The graphs by name, in order of the names, which are valid SQL identifiers without quotes and unique.
    pub graphs: Vec<(String, Arc<dyn Dataset>)>,
    /// The files and folders, relative to the folder, that no format recognises.
    pub skipped: Vec<String>,
}

/// Opens a file or folder: as `format` says, else as its files look. Options other than the format's own are errors; a
/// folder of graphs takes those that the formats of its graphs know.
pub fn open(path: &str, format: Option<&str>, options: &Options) -> Result<Opened> {
    let format = match format {
        Some(name) => Some(by_name(name)?),
        None => None,
    };
    let location = path.strip_prefix("file://").unwrap_or(path);
    let builtin = location.starts_with("builtin:");
    if !builtin && let Some((scheme, _)) = location.split_once("://") {
        let what = format!("'{path}': {scheme}:// addresses are not read; download the files and attach their folder");
        return Err(Error::Option(what));
    }
    let path = Path::new(location);
    if !builtin && !path.exists() && !formats().iter().any(|format| format.recognises(path)) {
        return Err(missing(path));
    }
    let recognised = match format {
        Some(format) => Some(format).filter(|format| format.recognises(path)),
        None => formats().iter().copied().find(|format| format.recognises(path)),
    };
    if let Some(format) = recognised {
        check_options(&[format], options)?;
        return Ok(Opened::Graph(format.open(path, options)?));
    }
    if path.is_dir() {
        let collection = collection(path, format, options)?;
        if !collection.graphs.is_empty() {
            return Ok(Opened::Collection(collection));
        }
    }
    if builtin && format.is_none() {
        return Ok(Opened::Graph(by_name("builtin")?.open(path, options)?));
    }
    match format {
        // The format itself says what it expects.
        Some(format) => {
            check_options(&[format], options)?;
            Ok(Opened::Graph(format.open(path, options)?))
        }
        None => Err(not_recognised(path)),
    }
}

fn by_name(name: &str) -> Result<&'static Format> {
    let found = formats().iter().copied().find(|format| format.name().eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        let known: Vec<&str> = formats().iter().map(|format| format.name()).collect();
        Error::UnknownFormat { name: name.to_owned(), known: known.join(", ") }
    })
}

fn check_options(formats: &[&Format], options: &Options) -> Result<()> {
    let known: Vec<&(&str, &str)> = formats.iter().flat_map(|format| format.options()).collect();
    for (name, value) in options {
        let Some((_, meaning)) = known.iter().find(|(known, _)| known == name) else {
            let mut names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            names.sort_unstable();
            names.dedup();
            let formats: Vec<&str> = formats.iter().map(|format| format.name()).collect();
            let known =
                if names.is_empty() { "it has none".to_owned() } else { format!("it has: {}", names.join(", ")) };
            return Err(Error::Option(format!("{} has no option '{name}'; {known}", formats.join(", "))));
        };
        if name == "directed" && !["true", "false"].contains(&value.as_str()) {
            return Err(Error::Option(format!("option directed is '{value}'; it is {meaning}")));
        }
    }
    Ok(())
}

/// The error of a path at which there is nothing: says what the nearest folder above it holds.
pub fn missing(path: &Path) -> Error {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut parent = absolute.parent();
    while let Some(folder) = parent {
        if folder.is_dir() {
            let hint = format!("; the folder '{}' holds: {}", folder.display(), files::few(&files::names(folder)));
            return Error::Missing { path: path.to_owned(), hint };
        }
        parent = folder.parent();
    }
    Error::Missing { path: path.to_owned(), hint: String::new() }
}

/// The extensions that tell the format, or a few.
const FORMATS_OF: [(&str, &[&str]); 17] = [
    (".mat", &["linkx", "attributed"]),
    (".npz", &["npz", "gnn_benchmark"]),
    (".edges", &["edge_list"]),
    (".edgelist", &["edge_list"]),
    (".mtx", &["edge_list"]),
    (".edges.csv", &["edge_list"]),
    (".edges.tsv", &["edge_list"]),
    (".edges.txt", &["edge_list"]),
    (".g6", &["graph6"]),
    (".graph6", &["graph6"]),
    (".pkl", &["csl"]),
    (".pl", &["prolog"]),
    (".scb", &["simpcomp"]),
    (".parquet", &["curvbench"]),
    (".json", &["mantra"]),
    (".json.gz", &["mantra"]),
    (".npy", &["brec"]),
];

/// The error of a file whose extension tells what it should be: what is wrong with it as that.
fn by_extension(path: &Path) -> Option<Error> {
    let name = files::name(path).to_lowercase();
    let (extension, of) = FORMATS_OF.iter().filter(|(end, _)| name.ends_with(end)).max_by_key(|(end, _)| end.len())?;
    let candidates: Vec<&Format> = of.iter().filter_map(|name| by_name(name).ok()).collect();
    let wrong = |format: &&Format| {
        let graph = format.open(path, &Options::new())?;
        graph.tables().iter().try_for_each(|table| graph.schema(table).map(drop))
    };
    let mut errors: Vec<Error> = candidates.iter().filter_map(|format| wrong(format).err()).collect();
    let first = errors.first()?.to_string();
    if errors.iter().all(|error| error.to_string() == first) {
        return errors.pop();
    }
    let known: Vec<String> =
        candidates.iter().map(|format| format!("{} ({})", format.name(), format.description())).collect();
    let found = format!(" as a graph, though it ends in {extension}");
    Some(Error::NotRecognised { path: path.to_owned(), found, known: known.join("; ") })
}

fn not_recognised(path: &Path) -> Error {
    if path.is_file()
        && let Some(error) = by_extension(path)
    {
        return error;
    }
    let found = match path.is_dir() {
        true => format!(" as a graph; the folder holds: {}", files::few(&files::names(path))),
        false => " as a graph".to_owned(),
    };
    let known: Vec<String> =
        formats().iter().map(|format| format!("{} ({})", format.name(), format.description())).collect();
    Error::NotRecognised { path: path.to_owned(), found, known: known.join("; ") }
}

/// All graphs below a folder.
fn collection(folder: &Path, format: Option<&'static Format>, options: &Options) -> Result<Collection> {
    let candidates: Vec<&Format> = match format {
        Some(format) => vec![format],
        None => formats().to_vec(),
    };
    let mut found: Vec<(Vec<String>, &Format, PathBuf)> = Vec::new();
    let mut skipped = Vec::new();
    search(folder, &mut Vec::new(), &candidates, &mut found, &mut skipped);

    let mut used: Vec<&Format> = Vec::new();
    for (_, format, _) in &found {
        if !used.iter().any(|known| known.name() == format.name()) {
            used.push(*format);
        }
    }
    if !found.is_empty() {
        check_options(&used, options)?;
    }
    // Several files of one set (ind.cora.x, ind.cora.y) are recognised each; the set's location is the same.
    let mut locations = HashSet::new();
    let mut graphs: Vec<(Vec<String>, Arc<dyn Dataset>)> = Vec::new();
    for (trail, format, path) in found {
        let own: Options = options
            .iter()
            .filter(|(name, _)| format.options().iter().any(|(known, _)| known == name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let graph = format.open(&path, &own)?;
        if locations.insert(graph.location().to_owned()) {
            graphs.push((trail, graph));
        }
    }
    Ok(Collection { graphs: named(graphs), skipped })
}

fn search<'a>(
    folder: &Path,
    trail: &mut Vec<String>,
    formats: &[&'a Format],
    found: &mut Vec<(Vec<String>, &'a Format, PathBuf)>,
    skipped: &mut Vec<String>,
) {
    for name in files::names(folder) {
        let path = folder.join(&name);
        trail.push(name);
        if let Some(format) = formats.iter().find(|format| format.recognises(&path)) {
            found.push((trail.clone(), *format, path));
        } else {
            let before = found.len();
            if path.is_dir() && trail.len() < DEPTH {
                let mut inside = Vec::new();
                search(&path, trail, formats, found, &mut inside);
                if found.len() > before {
                    skipped.append(&mut inside);
                }
            }
            if found.len() == before {
                skipped.push(trail.join("/"));
            }
        }
        trail.pop();
    }
}

/// Names by the last part of the way to each graph; by the whole way where two would have one name.
fn named(graphs: Vec<(Vec<String>, Arc<dyn Dataset>)>) -> Vec<(String, Arc<dyn Dataset>)> {
    let short = |trail: &[String]| valid_name(trail.last().map_or("", String::as_str));
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    graphs.iter().for_each(|(trail, _)| *count.entry(short(trail)).or_default() += 1);
    let mut taken = HashSet::new();
    let mut named: Vec<(String, Arc<dyn Dataset>)> = Vec::new();
    for (trail, graph) in graphs {
        let name = match count[&short(&trail)] {
            1 => short(&trail),
            _ => valid_name(&trail.join("_")),
        };
        let mut unique = name.clone();
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        named.push((unique, graph));
    }
    named.sort_by(|a, b| a.0.cmp(&b.0));
    named
}

/// A name that SQL takes without quotes: known extensions off, lower case, `_` for every other character.
pub fn valid_name(file_name: &str) -> String {
    let mut name = file_name;
    // Planetoid's files of one set share its name between `ind.` and the part.
    if let Some(rest) = name.strip_prefix("ind.") {
        name = rest.split('.').next().unwrap_or(rest);
    }
    while let Some(shorter) =
        EXTENSIONS.iter().find_map(|extension| name.strip_suffix(extension)).filter(|rest| !rest.is_empty())
    {
        name = shorter;
    }
    let mut valid: String =
        name.chars().map(|c| if c.is_alphanumeric() { c.to_lowercase().next().unwrap_or('_') } else { '_' }).collect();
    if !valid.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        valid.insert(0, '_');
    }
    valid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        assert_eq!(valid_name("ca-CSphd.edges"), "ca_csphd");
        assert_eq!(valid_name("karate.gml.edges"), "karate");
        assert_eq!(valid_name("s838_st.txt.edges"), "s838_st");
        assert_eq!(valid_name("ind.cora.test.index"), "cora");
        assert_eq!(valid_name("3d-mesh.npz"), "_3d_mesh");
        assert_eq!(valid_name(".csv"), "_csv");
        assert_eq!(valid_name(""), "_");
    }
}
