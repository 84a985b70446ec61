//! Which row of a table of protocols a job takes.

use std::collections::BTreeSet;

use super::table::Protocol;

/// Why a job has no protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// A name that no row has.
    #[error("there is no protocol {name}; {near}; bonnet.protocols lists them")]
    Unknown {
        /// The name.
        name: String,
        /// The nearest names, in words.
        near: String,
    },
    /// A job of another model.
    #[error(
        "protocol {name} is of {of}, and the job's model is {model}: leave model out, or choose a protocol of {model}{other}"
    )]
    Model {
        /// The protocol.
        name: String,
        /// Its model.
        of: String,
        /// The job's.
        model: String,
        /// One of the job's model in the same paper, in words.
        other: String,
    },
    /// A job of another task.
    #[error("protocol {name} is of {tasks}, and the job's task is {task}")]
    Task {
        /// The protocol.
        name: String,
        /// Its tasks.
        tasks: String,
        /// The job's.
        task: String,
    },
    /// A graph that is none of its data sets.
    #[error(
        "protocol {name} has settings for each data set, and none for `{graph}`; it has: {datasets}. Name one behind it, as in {name}/{first}"
    )]
    Dataset {
        /// The protocol.
        name: String,
        /// The name of the graph.
        graph: String,
        /// The data sets that it has.
        datasets: String,
        /// The first of them.
        first: String,
    },
}

/// The row that a job takes: of the name that it gives, with the name of a data set behind it or not, of its model and its task where it
/// says them (else `node_classification`, where there are several), and of its data set: the one that it names, else the last part of
/// the graph's name, or the longest beginning of that up to a `_` (`disease_nc` is `disease`); else the row of all others.
///
/// # Errors
/// If there is none; says which there are.
pub fn choose<'a>(
    rows: &'a [Protocol],
    wanted: &str,
    graph: Option<&str>,
    model: Option<&str>,
    task: Option<&str>,
) -> Result<&'a Protocol, ProtocolError> {
    let mut named: Vec<&Protocol> = rows.iter().filter(|row| row.name().eq_ignore_ascii_case(wanted)).collect();
    let mut asked = None;
    if let (true, Some((name, dataset))) = (named.is_empty(), wanted.rsplit_once('/')) {
        let of_name: Vec<&Protocol> = rows.iter().filter(|row| row.name().eq_ignore_ascii_case(name)).collect();
        if of_name.iter().any(|row| row.fact("dataset").is_some_and(|has| has.eq_ignore_ascii_case(dataset))) {
            (named, asked) = (of_name, Some(dataset));
        }
    }
    let Some(first) = named.first() else {
        return Err(ProtocolError::Unknown { name: wanted.to_owned(), near: nearest(wanted, rows) });
    };
    let name = first.name().to_owned();
    if let Some(model) = model {
        let of: BTreeSet<&str> = named.iter().filter_map(|row| row.fact("model")).collect();
        named.retain(|row| row.fact("model").is_none_or(|of| of == model));
        if named.is_empty() {
            let of = of.into_iter().collect::<Vec<_>>().join(", ");
            let paper = name.split('/').next().unwrap_or_default();
            let other = rows.iter().find(|row| row.name().starts_with(paper) && row.fact("model") == Some(model));
            let other = other.map(|row| format!(", such as {}", row.name())).unwrap_or_default();
            return Err(ProtocolError::Model { name, of, model: model.to_owned(), other });
        }
    }
    let tasks: BTreeSet<&str> = named.iter().filter_map(|row| row.fact("task")).collect();
    let task = task.or_else(|| match tasks.len() {
        0 => None,
        1 => tasks.first().copied(),
        _ => Some("node_classification"),
    });
    if let Some(task) = task {
        named.retain(|row| row.fact("task").is_none_or(|of| of == task));
        if named.is_empty() {
            let tasks = tasks.into_iter().collect::<Vec<_>>().join(", ");
            return Err(ProtocolError::Task { name, tasks, task: task.to_owned() });
        }
    }
    let key = asked.or_else(|| graph.map(|graph| graph.rsplit('.').next().unwrap_or(graph))).unwrap_or_default();
    let key = key.trim_matches('"').to_lowercase();
    let fits = |row: &&Protocol| {
        let dataset = row.fact("dataset")?.to_lowercase();
        let rest = key.strip_prefix(&dataset)?;
        (rest.is_empty() || rest.starts_with('_')).then_some(dataset.len())
    };
    let of_dataset = named.iter().filter_map(|row| Some((fits(row)?, *row))).max_by_key(|(length, _)| *length);
    let of_all = || named.iter().find(|row| row.fact("dataset").is_none()).copied();
    of_dataset.map(|(_, row)| row).or_else(of_all).ok_or_else(|| {
        let datasets: BTreeSet<&str> = named.iter().filter_map(|row| row.fact("dataset")).collect();
        let first = datasets.first().copied().unwrap_or_default().to_owned();
        let datasets = datasets.into_iter().collect::<Vec<_>>().join(", ");
        ProtocolError::Dataset { name, graph: key, datasets, first }
    })
}

/// The names that share the most pairs of letters with a name (the coefficient of Dice 1945), in words.
fn nearest(name: &str, rows: &[Protocol]) -> String {
    let pairs = |text: &str| -> BTreeSet<(char, char)> {
        let letters: Vec<char> = text.to_lowercase().chars().collect();
        letters.windows(2).map(|two| (two[0], two[1])).collect()
    };
    let given = pairs(name);
    let names: BTreeSet<&str> = rows.iter().map(Protocol::name).collect();
    let mut scored: Vec<(usize, usize, &str)> = Vec::new();
    for other in names {
        let has = pairs(other);
        let (shared, all) = (given.intersection(&has).count(), given.len() + has.len());
        scored.push((2000 * shared / all.max(1), all, other));
    }
    // The largest share first; among equals the order of the names stays.
    scored.sort_by_key(|scored| std::cmp::Reverse(scored.0));
    let near: Vec<&str> = scored.iter().filter(|(share, ..)| *share >= 300).take(3).map(|(.., name)| *name).collect();
    match near.as_slice() {
        [] => "no name is near".to_owned(),
        near => format!("near are {}", near.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::protocols;
    use super::*;

    fn chosen(wanted: &str, graph: &str, task: Option<&str>) -> (String, Option<String>) {
        let row = choose(protocols(), wanted, Some(graph), None, task).unwrap();
        (row.fact("task").unwrap().to_owned(), row.fact("dataset").map(str::to_owned))
    }

    #[test]
    fn the_row_is_that_of_the_graph_and_the_task() {
        let nodes = "node_classification".to_owned();
        assert_eq!(chosen("curvbench/gcn", "planetoid.cora", None), (nodes.clone(), Some("cora".into())));
        assert_eq!(chosen("curvbench/gcn", "karate", None), (nodes.clone(), None));
        assert_eq!(chosen("CurvBench/HGCN", "disease_nc", None), (nodes.clone(), Some("disease".into())));
        assert_eq!(chosen("curvbench/hgcn/disease", "mine", None), (nodes.clone(), Some("disease".into())));
        assert_eq!(
            chosen("curvbench/hgcn", "data.Cora", Some("link_prediction")),
            ("link_prediction".into(), Some("cora".into()))
        );
        // One task alone needs no saying.
        assert_eq!(chosen("heterophily/acm_gcn", "karate", None), (nodes, None));
    }

    #[test]
    fn what_does_not_fit_says_what_there_is() {
        let error = |wanted: &str, graph: &str, model: Option<&str>, task: Option<&str>| {
            choose(protocols(), wanted, Some(graph), model, task).unwrap_err().to_string()
        };
        let text = error("curvbench/gnc", "cora", None, None);
        assert!(text.contains("near are curvbench/") && text.contains("curvbench/gcn"), "{text}");
        assert!(error("xyz", "cora", None, None).contains("no name is near"));
        let text = error("curvbench/gcn", "cora", Some("gat"), None);
        assert!(
            text.contains("is of gcn, and the job's model is gat") && text.ends_with("such as curvbench/gat"),
            "{text}"
        );
        let text = error("curvbench/gcn", "cora", None, Some("graph_regression"));
        assert!(
            text.contains("link_prediction, node_classification, and the job's task is graph_regression"),
            "{text}"
        );
        let text = error("curvbench/hgcn", "planetoid.wiki", None, None);
        assert!(
            text.contains("none for `wiki`") && text.contains("citeseer, cora") && text.contains("curvbench/hgcn/"),
            "{text}"
        );
    }
}
