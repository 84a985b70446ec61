//! The arrows between crates, as the manifests state them.

use std::collections::BTreeMap;

/// What a crate's manifest says of the crates of this project.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) name: String,
    /// The crates of the project that it needs, tests apart, and whether it takes their SQL.
    pub(super) needs: BTreeMap<String, bool>,
    pub(super) members: Vec<String>,
}

impl Manifest {
    pub(super) fn new(text: &str) -> Self {
        let mut it = Self::default();
        let mut section = String::new();
        let mut in_members = false;
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name.to_owned();
                continue;
            }
            let Some((key, value)) = line.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
                if in_members {
                    it.members.extend(quoted(line));
                    in_members = !line.contains(']');
                }
                continue;
            };
            match section.as_str() {
                "package" if key == "name" => it.name = quoted(value).into_iter().next().unwrap_or_default(),
                "workspace" if key == "members" => {
                    it.members.extend(quoted(value));
                    in_members = !value.contains(']');
                }
                "features" => {
                    // A feature of another crate, such as "bonnet-topology/sql".
                    for feature in quoted(value).iter().filter_map(|feature| feature.strip_suffix("/sql")) {
                        it.needs.insert(feature.trim_end_matches('?').to_owned(), true);
                    }
                }
                _ if section == "dependencies"
                    || section.ends_with(".dependencies") && section != "workspace.dependencies" =>
                {
                    let name = key.split('.').next().unwrap_or(key);
                    if name.starts_with("bonnet") {
                        let sql = !value.replace(' ', "").contains("default-features=false");
                        *it.needs.entry(name.to_owned()).or_insert(sql) |= sql;
                    }
                }
                _ => {}
            }
        }
        it
    }
}

fn quoted(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Who may need whom. A crate that is not named here is a subject: it may need what all subjects do.
pub(super) struct Arrows {
    pub(super) subject: &'static [&'static str],
    pub(super) of: &'static [(&'static str, &'static [&'static str])],
    /// The subjects that may use others, by their kernels alone.
    pub(super) of_kernels: &'static [(&'static str, &'static [&'static str])],
}

/// What is wrong with the arrows of a crate.
pub(super) fn faults(manifest: &Manifest, arrows: &Arrows) -> Vec<String> {
    let of = |list: &[(&str, &'static [&'static str])]| {
        list.iter().find(|(name, _)| *name == manifest.name).map(|(_, allowed)| *allowed)
    };
    let allowed = of(arrows.of).unwrap_or(arrows.subject);
    let kernels = of(arrows.of_kernels).unwrap_or_default();
    let mut faults = Vec::new();
    for (name, sql) in &manifest.needs {
        let has = |list: &[&str]| list.contains(&name.as_str());
        if has(kernels) && *sql {
            faults.push(format!("{} takes the SQL of {name}, of which it may have the kernels alone", manifest.name));
        } else if !has(allowed) && !has(kernels) {
            faults.push(format!("{} may not need {name}", manifest.name));
        }
    }
    faults
}
