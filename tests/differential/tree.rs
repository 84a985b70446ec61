//! Queries as trees whose nodes know what could stand in their place, so that a failing query can be made smaller.

/// A piece of a query.
#[derive(Debug, Clone)]
pub(super) struct Node {
    parts: Vec<Part>,
    /// What this piece may be replaced by and still be a query: the smallest first.
    simpler: Vec<Simpler>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Node(Node),
}

#[derive(Debug, Clone)]
enum Simpler {
    Text(String),
    /// One of the node's own nodes, by its place among them.
    Inner(usize),
}

impl Node {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())], simpler: Vec::new() }
    }

    /// A pattern in which each `$` stands for the next of the nodes.
    pub(super) fn new(pattern: &str, nodes: Vec<Node>) -> Self {
        let mut parts = Vec::new();
        let mut nodes = nodes.into_iter();
        for (i, text) in pattern.split('$').enumerate() {
            if i > 0 {
                parts.push(Part::Node(nodes.next().expect("a node for each $")));
            }
            if !text.is_empty() {
                parts.push(Part::Text(text.to_owned()));
            }
        }
        assert!(nodes.next().is_none(), "a $ for each node: {pattern}");
        Self { parts, simpler: Vec::new() }
    }

    /// Nodes with this text between them.
    pub(super) fn list(separator: &str, nodes: Vec<Node>) -> Self {
        let pattern = vec!["$"; nodes.len()].join(separator);
        Self::new(&pattern, nodes)
    }

    /// The same, and this text could stand in its place.
    pub(super) fn or(mut self, text: impl Into<String>) -> Self {
        self.simpler.push(Simpler::Text(text.into()));
        self
    }

    /// The same, and the inner node at this place could stand in its place.
    pub(super) fn or_inner(mut self, place: usize) -> Self {
        self.simpler.push(Simpler::Inner(place));
        self
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.parts.iter().filter_map(|part| match part {
            Part::Node(node) => Some(node),
            Part::Text(_) => None,
        })
    }

    fn write(&self, to: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => to.push_str(text),
                Part::Node(node) => node.write(to),
            }
        }
    }

    /// The trees in which one piece is simpler, from the largest pieces to the smallest.
    fn smaller(&self) -> Vec<Node> {
        let mut trees = Vec::new();
        for simpler in &self.simpler {
            match simpler {
                Simpler::Text(text) => trees.push(Node::text(text)),
                Simpler::Inner(place) => trees.extend(self.nodes().nth(*place).cloned()),
            }
        }
        for (i, part) in self.parts.iter().enumerate() {
            let Part::Node(node) = part else { continue };
            trees.extend(node.smaller().into_iter().map(|smaller| {
                let mut tree = self.clone();
                tree.parts[i] = Part::Node(smaller);
                tree
            }));
        }
        trees
    }

    /// The smallest tree found for which `fails` still holds, in at most so many trials.
    pub(super) fn shrink(&self, mut trials: usize, fails: &mut dyn FnMut(&Node) -> bool) -> Node {
        let mut smallest = self.clone();
        'again: loop {
            let length = smallest.to_string().len();
            for tree in smallest.smaller() {
                if tree.to_string().len() >= length {
                    continue;
                }
                if trials == 0 {
                    return smallest;
                }
                trials -= 1;
                if fails(&tree) {
                    smallest = tree;
                    continue 'again;
                }
            }
            return smallest;
        }
    }
}

impl std::fmt::Display for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}

#[test]
fn a_tree_shrinks_to_what_fails() {
    let sum = |a, b| Node::new("($ + $)", vec![a, b]).or("0").or_inner(0).or_inner(1);
    let tree = sum(sum(Node::text("1"), Node::text("2")), sum(Node::text("bad"), Node::text("4")));
    let small = tree.shrink(100, &mut |tree| tree.to_string().contains("bad"));
    assert_eq!(small.to_string(), "bad");
    let small = tree.shrink(100, &mut |tree| tree.to_string().contains("1 +") && tree.to_string().contains("bad"));
    assert_eq!(small.to_string(), "(1 + bad)");
}
