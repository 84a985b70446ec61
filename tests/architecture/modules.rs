//! The modules of a crate, and the arrows between them.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Import, imports};
use super::tokens::{Token, tokens, without_tests};

/// The source of a file, by its path from the crate's `src`.
pub(super) type Sources = BTreeMap<String, String>;

/// A crate's modules without its tests.
pub(super) struct Modules {
    /// Each file's module and imports, by the file's path.
    files: BTreeMap<String, (Vec<String>, Vec<Import>)>,
    /// All modules, those within files too.
    modules: BTreeSet<Vec<String>>,
    /// What each module knows by a name of its own: the path that stands behind it.
    names: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
    /// What the crate's page has by name from other crates.
    foreign: BTreeSet<String>,
    /// The modules whose names a module has all.
    globs: BTreeMap<Vec<String>, Vec<Vec<String>>>,
    /// The modules that define a macro, by its name.
    macros: BTreeMap<String, Vec<String>>,
}

/// An arrow between two modules or files: which import it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) path: String,
}

pub(super) type Arrows = BTreeMap<(String, String), Arrow>;

/// The name of the crate's page among its modules.
pub(super) const PAGE: &str = "lib.rs";

impl Modules {
    pub(super) fn new(sources: &Sources) -> Self {
        let mut read: BTreeMap<String, Vec<Token>> = BTreeMap::new();
        let mut of_tests: BTreeSet<Vec<String>> = BTreeSet::new();
        for (file, source) in sources {
            let (tokens, modules) = without_tests(&tokens(source));
            let module = module_of(file);
            of_tests.extend(modules.into_iter().map(|name| joined(&module, &name)));
            read.insert(file.clone(), tokens);
        }
        let mut it = Self {
            files: BTreeMap::new(),
            modules: BTreeSet::new(),
            names: BTreeMap::new(),
            foreign: BTreeSet::new(),
            globs: BTreeMap::new(),
            macros: BTreeMap::new(),
        };
        for (file, tokens) in read {
            let module = module_of(&file);
            let tests = (1..=module.len()).any(|length| of_tests.contains(&module[..length]));
            if tests || module.iter().any(|name| matches!(name.as_str(), "tests" | "testing")) {
                continue;
            }
            for words in tokens.windows(3) {
                if words[0].text == "macro_rules" {
                    it.macros.insert(words[2].text.clone(), module.clone());
                }
            }
            it.modules.extend((0..=module.len()).map(|length| module[..length].to_vec()));
            let imports = imports(&module, &tokens);
            it.modules.extend(imports.iter().map(|import| import.module.clone()));
            it.files.insert(file, (module, imports));
        }
        it.find_names();
        it
    }

    fn find_names(&mut self) {
        for import in self.files.values().flat_map(|(_, imports)| imports) {
            let Some(alias) = &import.alias else { continue };
            let Some(path) = self.absolute(import) else {
                if import.module.is_empty() {
                    self.foreign.insert(alias.clone());
                }
                continue;
            };
            if alias == "*" {
                self.globs.entry(import.module.clone()).or_default().push(path);
            } else if path != joined(&import.module, alias) {
                self.names.entry(import.module.clone()).or_default().insert(alias.clone(), path);
            }
        }
    }

    /// The path of an import from the crate on; `None` where it begins at another crate.
    fn absolute(&self, import: &Import) -> Option<Vec<String>> {
        let mut at = import.module.clone();
        let mut rest = &import.path[..];
        match rest.first()?.as_str() {
            "crate" => (at, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {}
            first if self.modules.contains(&joined(&at, first)) => {}
            _ => return None,
        }
        while rest.first().is_some_and(|first| first == "super") {
            at.pop();
            rest = &rest[1..];
        }
        at.extend_from_slice(rest);
        Some(at)
    }

    /// The modules right under the crate that have files: one that is written down in the page itself is part of it.
    pub(super) fn roots(&self) -> BTreeSet<String> {
        self.files.values().filter_map(|(module, _)| module.first().cloned()).collect()
    }

    /// The root module that a path leads to, by the names that the crate's page has; [`PAGE`] for what stands there itself.
    fn root_of(&self, path: &[String]) -> String {
        let (mut path, roots) = (path.to_vec(), self.roots());
        for _ in 0..8 {
            let Some(first) = path.first() else { break };
            if roots.contains(first) {
                return first.clone();
            }
            let names = self.names.get(&[][..]);
            if let Some(behind) = names.and_then(|names| names.get(first)) {
                path = [behind, &path[1..]].concat();
            } else if let Some(module) = self.macros.get(first) {
                path.clone_from(module);
            } else if let Some([glob]) = self.globs.get(&[][..]).map(Vec::as_slice) {
                path.clone_from(glob);
            } else {
                break;
            }
        }
        PAGE.to_owned()
    }

    /// The arrows between the modules right under the crate; the page's own are left out, for it stands above all.
    pub(super) fn root_arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (file, import, path) in self.absolute_imports() {
            let Some(from) = import.module.first().filter(|_| file != PAGE) else { continue };
            let to = self.root_of(&path);
            let foreign = to == PAGE && path.first().is_some_and(|name| self.foreign.contains(name));
            if *from != to && !foreign {
                arrows.entry((from.clone(), to)).or_insert_with(|| arrow(file, import));
            }
        }
        arrows
    }

    fn absolute_imports(&self) -> impl Iterator<Item = (&String, &Import, Vec<String>)> {
        self.files.iter().flat_map(move |(file, (_, imports))| {
            imports.iter().filter_map(move |import| Some((file, import, self.absolute(import)?)))
        })
    }

    /// The arrows between files that are no folder's page (`mod.rs`): from the file that imports a name to the one that
    /// defines it, whatever pages the name goes through.
    pub(super) fn file_arrows(&self) -> Arrows {
        let file_of: BTreeMap<&[String], &String> =
            self.files.iter().map(|(file, (module, _))| (&module[..], file)).collect();
        let page = |file: &str| file == PAGE || file.ends_with("mod.rs");
        let mut arrows = Arrows::new();
        for (from, import, path) in self.absolute_imports() {
            let module = self.module_of_path(&path);
            let to = (0..=module.len()).rev().find_map(|length| file_of.get(&module[..length]));
            if let Some(to) = to.filter(|to| **to != from && !page(to) && !page(from)) {
                arrows.entry((from.clone(), (*to).clone())).or_insert_with(|| arrow(from, import));
            }
        }
        arrows
    }

    /// The module in which the name at the end of a path is defined.
    fn module_of_path(&self, path: &[String]) -> Vec<String> {
        let (mut at, mut rest) = (Vec::new(), path.to_vec());
        for _ in 0..32 {
            let Some(first) = rest.first() else { break };
            let child = joined(&at, first);
            if self.modules.contains(&child) {
                at = child;
                rest.remove(0);
            } else if let Some(behind) = self.names.get(&at).and_then(|names| names.get(first)) {
                rest = [behind, &rest[1..]].concat();
                at = Vec::new();
            } else {
                break;
            }
        }
        at
    }
}

fn arrow(file: &str, import: &Import) -> Arrow {
    Arrow { file: file.to_owned(), line: import.line, path: import.path.join("::") }
}

fn joined(module: &[String], name: &str) -> Vec<String> {
    let mut path = module.to_vec();
    path.push(name.to_owned());
    path
}

/// The module of a file: `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn module_of(file: &str) -> Vec<String> {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
    let page = match module.last().map(String::as_str) {
        Some("mod") => true,
        Some("lib" | "main") => module.len() == 1,
        _ => false,
    };
    if page {
        module.pop();
    }
    module
}

/// The circles of arrows: each a set of names that all reach each other.
pub(super) fn circles(arrows: &Arrows) -> Vec<Vec<String>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        next.entry(from).or_default().insert(to);
    }
    let reached = |start: &str| -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&str> = next.get(start).into_iter().flatten().copied().collect();
        while let Some(name) = open.pop() {
            if seen.insert(name.to_owned()) {
                open.extend(next.get(name).into_iter().flatten());
            }
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<String>> = next.keys().map(|name| (*name, reached(name))).collect();
    let mut circles: Vec<Vec<String>> = Vec::new();
    for (name, seen) in all.iter().filter(|(name, seen)| seen.contains(**name)) {
        if !circles.iter().any(|circle| circle.iter().any(|other| other == name)) {
            let back = |other: &&String| all.get(other.as_str()).is_some_and(|seen| seen.contains(*name));
            circles.push(seen.iter().filter(back).cloned().collect());
        }
    }
    circles
}
