//! Metapaths by name, and all those that a schema has.

use super::{HeteroGraph, Relation};

/// The most metapaths of one call.
const LIMIT: usize = 10_000;

/// A relation as it is walked: forward, or from its targets to its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// A position in [`HeteroGraph::relations`].
    pub relation: usize,
    /// Whether it is walked from its targets to its sources.
    pub inverse: bool,
}

impl Step {
    /// The types that it leads from and to.
    pub fn ends(self, graph: &HeteroGraph) -> (usize, usize) {
        let relation = &graph.relations[self.relation];
        if self.inverse { (relation.to, relation.from) } else { (relation.from, relation.to) }
    }

    /// The step's pairs.
    pub fn pairs(self, graph: &HeteroGraph) -> &Relation {
        let relation = &graph.relations[self.relation];
        relation.inverse.as_ref().filter(|_| self.inverse).unwrap_or(&relation.pairs)
    }

    /// The same step turned round.
    pub fn turned(self, graph: &HeteroGraph) -> Self {
        let own_inverse = graph.relations[self.relation].inverse.is_none();
        Self { inverse: !self.inverse && !own_inverse, ..self }
    }
}

/// A path of types; each step is walked along any of its relations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metapath {
    /// The type that it starts from.
    pub start: usize,
    /// For each step the relations that it takes: one, or all between two types where the name does not say which.
    pub steps: Vec<Vec<Step>>,
}

/// Why there is no metapath.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetapathError {
    /// A name that is neither a type of nodes nor one of edges.
    #[error(
        "the metapath '{path}': there is no type '{name}'; the types of nodes are: {nodes}; those of edges: {edges}"
    )]
    UnknownType {
        /// The path.
        path: String,
        /// The name.
        name: String,
        /// The types of nodes.
        nodes: String,
        /// The types of edges.
        edges: String,
    },
    /// No relation leads from one type to the next.
    #[error("the metapath '{path}': no relation {how}; the relations are: {relations}")]
    NoRelation {
        /// The path.
        path: String,
        /// Which is missing.
        how: String,
        /// The relations there are.
        relations: String,
    },
    /// Something else is wrong with how it is written.
    #[error(
        "the metapath '{path}': {what}; write types between >, as in 'paper>author>paper', or name a step's relation \
             too, ^ for its inverse: 'paper>cites>paper>^cites>paper'"
    )]
    Malformed {
        /// The path.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// More metapaths than anybody reads.
    #[error("there are more than {LIMIT} metapaths of length {0}: take a smaller length, or inverse => false")]
    TooMany(usize),
}

impl HeteroGraph {
    /// The position of a type of nodes.
    pub fn node_type(&self, name: &str) -> Option<usize> {
        self.node_types.iter().position(|(other, _)| other == name)
    }

    /// All steps: relations, and with `inverse` their inverses where those are others.
    fn steps(&self, inverse: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        for (relation, typed) in self.relations.iter().enumerate() {
            steps.push(Step { relation, inverse: false });
            if inverse && typed.inverse.is_some() {
                steps.push(Step { relation, inverse: true });
            }
        }
        steps
    }

    /// All metapaths of `length` steps from a type back to it, over relations and, with `inverse`, their inverses: one
    /// for each sequence of steps.
    ///
    /// # Errors
    /// If there are more than 10,000.
    pub fn metapaths(&self, target: usize, length: usize, inverse: bool) -> Result<Vec<Metapath>, MetapathError> {
        let steps = self.steps(inverse);
        // Paths that cannot come back are not followed: `reaches[k]` are the types from which k steps lead to the target.
        let mut reaches = vec![vec![false; self.node_types.len()]; length + 1];
        reaches[0][target] = true;
        for k in 1..=length {
            for step in &steps {
                let (from, to) = step.ends(self);
                reaches[k][from] |= reaches[k - 1][to];
            }
        }
        let mut paths: Vec<(usize, Vec<Step>)> = vec![(target, Vec::new())];
        for left in (0..length).rev() {
            let mut longer = Vec::new();
            for (at, path) in &paths {
                for step in steps.iter().filter(|step| step.ends(self).0 == *at && reaches[left][step.ends(self).1]) {
                    if longer.len() == LIMIT {
                        return Err(MetapathError::TooMany(length));
                    }
                    longer.push((step.ends(self).1, path.iter().copied().chain([*step]).collect()));
                }
            }
            paths = longer;
        }
        let single = |path: Vec<Step>| path.into_iter().map(|step| vec![step]).collect();
        Ok(paths.into_iter().map(|(_, path)| Metapath { start: target, steps: single(path) }).collect())
    }

    /// The name of a metapath: its types, and between two of them the relation where there are several.
    pub fn name(&self, path: &Metapath) -> String {
        let mut name = self.node_types[path.start].0.clone();
        for steps in &path.steps {
            let ends = steps[0].ends(self);
            let choices = self.steps(true).into_iter().filter(|step| step.ends(self) == ends).count();
            if steps.len() < choices {
                let mark = if steps[0].inverse { "^" } else { "" };
                name.push_str(&format!(">{mark}{}", self.relations[steps[0].relation].name));
            }
            name.push_str(&format!(">{}", self.node_types[ends.1].0));
        }
        name
    }

    /// The metapath of a name. A step between two types without a relation's name takes all relations between them, also
    /// inverses.
    ///
    /// # Errors
    /// If a type or relation is unknown or none leads on.
    pub fn parse_metapath(&self, text: &str) -> Result<Metapath, MetapathError> {
        let path = || text.to_owned();
        let malformed = |what: &str| MetapathError::Malformed { path: path(), what: what.to_owned() };
        let names: Vec<&str> = text.split('>').map(str::trim).collect();
        if names.iter().any(|name| name.is_empty()) {
            return Err(malformed("a name between two > is empty"));
        }
        let list = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let unknown = |name: &str| {
            let mut edges: Vec<&str> = self.relations.iter().map(|relation| relation.name.as_str()).collect();
            edges.sort_unstable();
            edges.dedup();
            MetapathError::UnknownType {
                path: path(),
                name: name.to_owned(),
                nodes: list(self.node_types.iter().map(|(name, _)| name.as_str()).collect()),
                edges: list(edges),
            }
        };
        let start = self.node_type(names[0]).ok_or_else(|| unknown(names[0]))?;
        let (mut at, mut steps, mut named) = (start, Vec::new(), None::<&str>);
        for name in &names[1..] {
            let to = match self.node_type(name) {
                Some(to) => to,
                None => {
                    let plain = name.strip_prefix('^').unwrap_or(name);
                    if self.relations.iter().all(|relation| relation.name != plain) {
                        return Err(unknown(plain));
                    }
                    if named.replace(name).is_some() {
                        return Err(malformed("two relations follow each other without a type of nodes between them"));
                    }
                    continue;
                }
            };
            let wanted = |step: &Step| {
                step.ends(self) == (at, to)
                    && named.is_none_or(|named| match named.strip_prefix('^') {
                        Some(plain) => {
                            let relation = &self.relations[step.relation];
                            relation.name == plain && (step.inverse || relation.inverse.is_none())
                        }
                        None => !step.inverse && self.relations[step.relation].name == named,
                    })
            };
            let found: Vec<Step> = self.steps(true).into_iter().filter(wanted).collect();
            if found.is_empty() {
                let of = |relation: &super::TypedRelation| {
                    let (from, to) = (&self.node_types[relation.from].0, &self.node_types[relation.to].0);
                    format!("{from}>{}>{to}", relation.name)
                };
                let relations: Vec<String> = self.relations.iter().map(of).collect();
                let (from, to) = (&self.node_types[at].0, &self.node_types[to].0);
                return Err(MetapathError::NoRelation {
                    path: path(),
                    how: match named {
                        None => format!("is between {from} and {to}"),
                        Some(named) => format!("'{named}' leads from {from} to {to}"),
                    },
                    relations: list(relations.iter().map(String::as_str).collect()),
                });
            }
            steps.push(found);
            (at, named) = (to, None);
        }
        if named.is_some() {
            return Err(malformed("it ends with a relation, not with a type of nodes"));
        }
        if steps.is_empty() {
            return Err(malformed("it has no step"));
        }
        Ok(Metapath { start, steps })
    }
}

impl Metapath {
    /// The type that it leads to.
    pub fn end(&self, graph: &HeteroGraph) -> usize {
        self.steps.last().map_or(self.start, |steps| steps[0].ends(graph).1)
    }

    /// The same path from its end.
    pub fn turned(&self, graph: &HeteroGraph) -> Self {
        let turn = |steps: &Vec<Step>| {
            let mut turned: Vec<Step> = steps.iter().map(|step| step.turned(graph)).collect();
            turned.sort_unstable();
            turned
        };
        Self { start: self.end(graph), steps: self.steps.iter().rev().map(turn).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TypedRelation;
    use super::*;
    use bonnet_graph::Unmonitored;

    /// Papers (3) that cite papers and are written and reviewed by authors (2); nothing is at a venue (1).
    fn graph(directed: bool) -> HeteroGraph {
        let sizes = [2, 3, 1];
        let typed = |name: &str, from: usize, to: usize, rows: &[(u32, u32)]| {
            let ends = ((from, to), (sizes[from], sizes[to]));
            TypedRelation::new(name.to_owned(), ends.0, ends.1, rows, directed, &Unmonitored).unwrap()
        };
        HeteroGraph {
            node_types: vec![("author".to_owned(), 2), ("paper".to_owned(), 3), ("venue".to_owned(), 1)],
            relations: vec![
                typed("reviews", 0, 1, &[(0, 2)]),
                typed("cites", 1, 1, &[(0, 1), (2, 1)]),
                typed("by", 1, 0, &[(0, 0), (1, 1), (2, 1)]),
            ],
        }
    }

    fn names(graph: &HeteroGraph, length: usize, inverse: bool) -> Vec<String> {
        graph.metapaths(1, length, inverse).unwrap().iter().map(|path| graph.name(path)).collect()
    }

    #[test]
    fn all_sequences_of_steps_that_come_back_are_metapaths() {
        let directed = graph(true);
        assert_eq!(names(&directed, 1, false), ["paper>cites>paper"]);
        assert_eq!(names(&directed, 1, true), ["paper>cites>paper", "paper>^cites>paper"]);
        assert_eq!(names(&directed, 2, false), ["paper>cites>paper>cites>paper", "paper>by>author>reviews>paper"]);
        // Two ways to the author times two back, and four within papers.
        assert_eq!(names(&directed, 2, true).len(), 8);
        // Without direction, cites is its own inverse.
        assert_eq!(names(&graph(false), 1, true), ["paper>paper"]);
        assert_eq!(names(&graph(false), 2, true).len(), 5);
        assert_eq!(directed.metapaths(2, 2, true).unwrap(), []);
    }

    #[test]
    fn every_name_is_read_as_the_metapath_that_has_it() {
        for graph in [graph(true), graph(false)] {
            for path in (1..5).flat_map(|length| graph.metapaths(1, length, true).unwrap()) {
                assert_eq!(graph.parse_metapath(&graph.name(&path)), Ok(path));
            }
        }
    }

    #[test]
    fn types_alone_take_every_relation_between_them() {
        let graph = graph(true);
        let path = graph.parse_metapath(" paper > author > paper ").unwrap();
        assert_eq!(path.steps.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(path.turned(&graph), path);
        let written = graph.parse_metapath("paper>by>author>reviews>paper").unwrap();
        assert_eq!(graph.name(&written.turned(&graph)), "paper>^reviews>author>^by>paper");
        assert_eq!(written.turned(&graph).turned(&graph), written);
    }

    #[test]
    fn what_cannot_be_walked_says_what_there_is() {
        let graph = graph(true);
        let error = |text: &str| graph.parse_metapath(text).unwrap_err().to_string();
        let unknown = error("paper>editor>paper");
        assert!(
            unknown.contains("there is no type 'editor'; the types of nodes are: author, paper, venue"),
            "{unknown}"
        );
        assert!(unknown.contains("those of edges: by, cites, reviews"), "{unknown}");
        let none = error("paper>venue>paper");
        assert!(
            none.contains("no relation is between paper and venue; the relations are: author>reviews>paper"),
            "{none}"
        );
        assert!(error("paper>reviews>author").contains("no relation 'reviews' leads from paper to author"));
        assert!(error("paper").contains("it has no step"));
        assert!(error("paper>>paper").contains("is empty"));
        assert!(error("paper>by").contains("ends with a relation"));
        assert!(error("paper>by>cites>paper").contains("two relations follow"));
    }
}
