//! All functions of the engine: one entry a subject.

use bonnet_sql::{Function, Registry};

use crate::Result;

/// The functions of a subject, which share a page of the reference.
pub(crate) struct Subject {
    /// The page's name: `docs/functions/<name>.md`.
    pub(crate) name: &'static str,
    /// The page's title.
    pub(crate) title: &'static str,
    /// The subject of the functions, in a sentence.
    pub(crate) summary: &'static str,
    /// Their registrations.
    pub(crate) functions: Vec<Function>,
}

/// The subjects, in the order of the reference.
pub(crate) fn subjects() -> Vec<Subject> {
    let subject = |name, title, summary, functions| Subject { name, title, summary, functions };
    vec![
        subject(
            "curvature",
            "Curvature",
            "Midpoint, Forman-Ricci, Ollivier-Ricci and resistance curvature of nodes and edges, and the regime of a graph.",
            bonnet_curvature::functions(),
        ),
        subject(
            "algorithms",
            "Graph algorithms",
            "Centralities, cores, paths, communities and scores of links, of graphs, directed or not.",
            bonnet_algorithms::functions(),
        ),
        subject(
            "homophily",
            "Homophily",
            "How alike the labels and features of neighbours are, in graphs with and without types.",
            bonnet_homophily::functions(),
        ),
        subject(
            "learning",
            "Learning",
            "Training of graph models, their predictions, embeddings and curves of training.",
            bonnet_learning::functions(),
        ),
        subject(
            "generators",
            "Generators",
            "Synthetic graphs: random models, regular families, models with labels and features.",
            bonnet_generators::functions(),
        ),
        subject(
            "persistence",
            "Persistence",
            "Persistence diagrams, landscapes and their distances, descriptors of graphs, and tests between sets of graphs.",
            bonnet_persistence::functions(),
        ),
        subject(
            "topology",
            "Topology",
            "Simplicial complexes: homology, manifolds, named types, enumeration.",
            bonnet_topology::functions(),
        ),
        subject(
            "ranking",
            "Ranking",
            "Agreement of rankings, stratified evaluation, and how well embeddings keep distances.",
            bonnet_ranking::functions(),
        ),
        subject("profile", "Profile", "Components, and a graph's profile in a row.", bonnet_profile::functions()),
        subject(
            "standard",
            "Standard SQL",
            "What everyday SQL has and DataFusion lacks; what has another name there stands in docs/sql/names.md.",
            bonnet_values::functions(),
        ),
        subject("tables", "Tables", "Reshaping rows, and databases as graphs.", vec![bonnet_sql::flatten()]),
    ]
}

/// The registry that every engine starts with.
pub(crate) fn registry() -> Result<Registry> {
    let mut registry = Registry::default();
    for subject in subjects() {
        registry.register(subject.functions)?;
    }
    Ok(registry)
}
