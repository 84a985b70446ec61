//! Metapaths by name, and the neighbours that they join (Sun et al. 2011, Def. 2 and 3).

use bonnet_graph::{Reservation, Stopped};

use crate::ground::OptionError;
use crate::network::{Operator, Relation, Relations};

/// A path of types: each step goes along one relation, or along all between its two types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Metapath {
    /// The path as it was written.
    pub name: String,
    /// The type that it leads to.
    pub end: u32,
    /// Of each step the relations, positions in [`Relations::list`].
    steps: Vec<Vec<usize>>,
}

/// How metapaths are written.
pub(super) const FORMS: &str = "metapaths between commas: types between >, as in paper>author>paper, or with a step's \
                                relation, ^ for its inverse: paper>cites>paper>^cites>paper";

impl Metapath {
    /// The metapaths of a text, as `metapath_edges` reads each. A step whose relation has no name takes all relations between
    /// its types, inverses too.
    ///
    /// # Errors
    /// If a type or relation is unknown, with the nearest one, or no relation leads on.
    pub fn parse(text: &str, relations: &Relations) -> Result<Vec<Self>, OptionError> {
        text.split(',').map(|path| Self::one(path.trim(), relations)).collect()
    }

    fn one(path: &str, relations: &Relations) -> Result<Self, OptionError> {
        let (types, list) = (&relations.kinds().names, relations.list());
        let invalid = |why: &str| OptionError::invalid("metapaths", path, &format!("{FORMS}; {why}"));
        let names: Vec<&str> = path.split('>').map(str::trim).collect();
        let kind = |name: &str| types.iter().position(|known| known == name).map(|kind| kind as u32);
        let unknown = |name: &str| {
            let known = types.iter().map(String::as_str).chain(list.iter().map(|relation| relation.name.as_str()));
            let meant = nearest(name, known).map(|meant| format!(", but {meant}")).unwrap_or_default();
            let all: Vec<String> = list.iter().map(|relation| relations.name(relation)).collect();
            invalid(&format!("there is no type or relation {name}{meant}; the relations are: {}", all.join(", ")))
        };
        let Some(mut at) = kind(names[0]) else { return Err(unknown(names[0])) };
        let (mut steps, mut named) = (Vec::new(), None::<&str>);
        for name in &names[1..] {
            let Some(to) = kind(name) else {
                let plain = name.strip_prefix('^').unwrap_or(name);
                if list.iter().all(|relation| relation.name != plain) {
                    return Err(unknown(plain));
                }
                if named.replace(name).is_some() {
                    return Err(invalid("two relations follow each other without a type between them"));
                }
                continue;
            };
            let fits = |relation: &Relation| match named {
                None => true,
                Some(name) => match name.strip_prefix('^') {
                    None => relation.name == name && !relation.inverse,
                    Some(name) => relation.name == name && (relation.inverse || is_own_inverse(list, relation)),
                },
            };
            let ends = |relation: &Relation| relation.source == at && relation.target == to;
            let found = list.iter().enumerate().filter(|(_, relation)| ends(relation) && fits(relation));
            let found: Vec<usize> = found.map(|(number, _)| number).collect();
            if found.is_empty() {
                let (from, to) = (&types[at as usize], &types[to as usize]);
                let by = named.map(|name| format!(" by {name}")).unwrap_or_default();
                let all: Vec<String> = list.iter().map(|relation| relations.name(relation)).collect();
                let what = format!("no relation leads from {from} to {to}{by}; the relations are: {}", all.join(", "));
                return Err(invalid(&what));
            }
            steps.push(found);
            (at, named) = (to, None);
        }
        if named.is_some() || steps.is_empty() {
            return Err(invalid("a metapath ends with a type, after one step or more"));
        }
        Ok(Self { name: path.to_owned(), end: at, steps })
    }

    /// The nodes that paths lead from, in the row of each node that they lead to, itself among them where a path comes back.
    /// O(paths of two steps and more).
    ///
    /// # Errors
    /// If the host refuses the memory, or wants no answer any more.
    pub fn edges(&self, relations: &Relations, reservation: &mut Reservation<'_>) -> Result<Operator, Stopped> {
        let kinds = &relations.kinds().of;
        let n = kinds.len();
        reservation.grow(16 * n)?;
        // The node in whose row another was met last.
        let (mut met, mut offsets, mut columns) = (vec![u32::MAX; n], vec![0], Vec::new());
        let (mut here, mut next) = (Vec::new(), Vec::new());
        for (row, &kind) in (0u32..).zip(&**kinds) {
            if row % 256 == 0 {
                reservation.check()?;
            }
            here.clear();
            here.extend((kind == self.end).then_some(row));
            for (step, along) in self.steps.iter().enumerate().rev() {
                next.clear();
                // Each step has marks of its own, taken back below.
                for &node in &here {
                    for &relation in along {
                        for &source in relations.list()[relation].messages.neighbors(node) {
                            if std::mem::replace(&mut met[source as usize], step as u32) != step as u32 {
                                next.push(source);
                            }
                        }
                    }
                }
                next.iter().for_each(|&node| met[node as usize] = u32::MAX);
                std::mem::swap(&mut here, &mut next);
            }
            here.sort_unstable();
            reservation.grow(8 * here.len())?;
            columns.extend_from_slice(&here);
            offsets.push(columns.len());
        }
        Ok(Operator::from_rows(offsets, columns, Vec::new(), false))
    }
}

/// Whether no relation is the inverse of another: its edges have no direction.
fn is_own_inverse(list: &[Relation], relation: &Relation) -> bool {
    let turned = |other: &Relation| {
        other.name == relation.name
            && other.inverse
            && (other.source, other.target) == (relation.target, relation.source)
    };
    !list.iter().any(turned)
}

/// The known name with the fewest letters inserted, removed or replaced (Levenshtein 1966), if that are no more than half of
/// the longer one's.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = name.to_lowercase().chars().collect();
    let distance = |other: &str| {
        let other: Vec<char> = other.to_lowercase().chars().collect();
        let mut row: Vec<usize> = (0..=other.len()).collect();
        for (i, letter) in letters.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], i + 1);
            for (j, also) in other.iter().enumerate() {
                let replaced = diagonal + usize::from(letter != also);
                diagonal = row[j + 1];
                row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
            }
        }
        (row[other.len()], other.len().max(letters.len()))
    };
    let measured = known.map(|known| (distance(known), known)).filter(|((edits, length), _)| 2 * edits <= *length);
    measured.min_by_key(|((edits, _), _)| *edits).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bonnet_graph::{Graph, Unmonitored};

    use super::*;
    use crate::GraphTypes;

    /// Authors 0 and 1, papers 2, 3 and 4: "writes" from authors to papers, "cites" from papers to papers.
    fn relations() -> Relations {
        let text = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let edges = [(0, 2, 1), (0, 3, 1), (1, 3, 1), (2, 3, 0), (3, 4, 0)];
        let types = GraphTypes::new(
            text(["author", "paper"]),
            vec![0, 0, 1, 1, 1],
            &text(["cites", "writes"]),
            edges.iter().copied(),
            true,
        );
        let ends: Vec<(u32, u32)> = edges.iter().map(|edge| (edge.0, edge.1)).collect();
        Relations::new(&types.unwrap(), &Arc::new(Graph::from_edges(5, &ends)))
    }

    fn rows(path: &str) -> Vec<Vec<u32>> {
        let relations = relations();
        let path = &Metapath::parse(path, &relations).unwrap()[0];
        let operator = path.edges(&relations, &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap();
        (0..5).map(|row| operator.row(row).to_vec()).collect()
    }

    #[test]
    fn paths_join_the_nodes_that_they_lead_from_to_those_that_they_lead_to() {
        assert_eq!(rows("paper>author>paper"), [vec![], vec![], vec![2, 3], vec![2, 3], vec![]]);
        assert_eq!(rows("author>paper"), [vec![], vec![], vec![0], vec![0, 1], vec![]]);
        // Citations both ways, since the step has no name; then forward, then back to what cites the same.
        assert_eq!(rows("paper>paper"), [vec![], vec![], vec![3], vec![2, 4], vec![3]]);
        assert_eq!(rows("paper>cites>paper"), [vec![], vec![], vec![], vec![2], vec![3]]);
        assert_eq!(rows("paper>^cites>paper"), [vec![], vec![], vec![3], vec![4], vec![]]);
        assert_eq!(rows("author > writes > paper > cites > paper"), [vec![], vec![], vec![], vec![0], vec![0, 1]]);
    }

    #[test]
    fn what_is_no_metapath_is_refused_with_what_was_meant() {
        let error = |path: &str| Metapath::parse(path, &relations()).unwrap_err().to_string();
        assert!(
            error("paper>athor>paper").contains("no type or relation athor, but author;"),
            "{}",
            error("paper>athor>paper")
        );
        assert!(error("paper>^writs>author").contains("no type or relation writs, but writes;"));
        assert!(error("author>author").contains("no relation leads from author to author"));
        assert!(error("paper>cites>^cites>paper").contains("two relations follow each other"));
        for path in ["paper", "paper>cites", ""] {
            assert!(Metapath::parse(path, &relations()).is_err(), "{path}");
        }
        assert_eq!(Metapath::parse("paper>author>paper, author>paper", &relations()).unwrap().len(), 2);
    }
}
