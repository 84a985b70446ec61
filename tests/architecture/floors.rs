//! The floors of a crate, as its page lists them, and what its modules do beside them.

use super::modules::{Arrows, Modules, PAGE, Sources, circles};

/// A crate with more modules than these lists them on their floors.
const FEW: usize = 4;

/// The names of modules on each floor, lowest first, from the list under `# Floors` in the crate's page; `None` without
/// that heading. A crate of a few modules may have a sentence there and no list.
pub(super) fn floors(page: &str) -> Option<Vec<Vec<String>>> {
    let mut lines = page.lines().filter_map(|line| line.strip_prefix("//!")).map(str::trim);
    lines.find(|line| *line == "# Floors")?;
    let mut items: Vec<String> = Vec::new();
    for line in lines.take_while(|line| !line.starts_with('#')) {
        match line.split_once(". ") {
            Some((number, item)) if number.parse::<usize>().is_ok() => items.push(item.to_owned()),
            _ if line.is_empty() => {}
            _ => {
                if let Some(item) = items.last_mut() {
                    item.push(' ');
                    item.push_str(line);
                }
            }
        }
    }
    Some(items.iter().map(|item| names(item)).collect())
}

/// The names in backticks that an item begins with, up to its colon.
fn names(item: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = item;
    while let Some((name, after)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        names.push(name.to_owned());
        match after.strip_prefix(", ") {
            Some(after) => rest = after,
            None => break,
        }
    }
    names
}

/// What is wrong with the modules of a crate: imports upward, circles, modules on no floor.
pub(super) fn faults(sources: &Sources) -> Vec<String> {
    let modules = Modules::new(sources);
    let arrows = modules.root_arrows();
    let page = sources.get(PAGE).or_else(|| sources.get("main.rs")).map_or("", String::as_str);
    let mut faults = match floors(page) {
        None => vec!["its page has no list of floors".to_owned()],
        Some(floors) => on_floors(&modules, &floors, &arrows),
    };
    faults
        .extend(circles(&arrows).iter().map(|circle| format!("its modules form a circle: {}", told(circle, &arrows))));
    let arrows = modules.file_arrows();
    faults.extend(circles(&arrows).iter().map(|circle| format!("its files form a circle: {}", told(circle, &arrows))));
    faults
}

/// A circle with the import behind each of its arrows.
fn told(circle: &[String], arrows: &Arrows) -> String {
    let within = arrows.iter().filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
    let lines: Vec<String> = within
        .map(|((from, to), arrow)| format!("\n    {from} -> {to} ({}:{}: {})", arrow.file, arrow.line, arrow.path))
        .collect();
    format!("{}{}", circle.join(", "), lines.concat())
}

fn on_floors(modules: &Modules, floors: &[Vec<String>], arrows: &Arrows) -> Vec<String> {
    let roots = modules.roots();
    if floors.is_empty() && roots.len() <= FEW {
        return Vec::new();
    }
    let floor = |name: &str| floors.iter().position(|floor| floor.iter().any(|other| other == name));
    let mut faults = Vec::new();
    faults.extend(
        roots.iter().filter(|name| floor(name).is_none()).map(|name| format!("`{name}` is on none of its floors")),
    );
    let listed = floors.iter().flatten();
    faults.extend(
        listed.filter(|name| !roots.contains(*name)).map(|name| format!("`{name}` of its floors is no module")),
    );
    for ((from, to), arrow) in arrows {
        let place = format!("{}:{}: `{from}` imports `{}`", arrow.file, arrow.line, arrow.path);
        if to == PAGE {
            faults.push(format!("{place}, which stands in the crate's page: give it a module"));
        } else if let (Some(low), Some(high)) = (floor(from), floor(to))
            && high > low
        {
            faults.push(format!("{place} upward, from floor {} to floor {}", low + 1, high + 1));
        }
    }
    faults
}
