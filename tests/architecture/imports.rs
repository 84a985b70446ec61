//! What a file imports: every path that begins at the crate or at a module around it.

use super::tokens::{Token, closing};

/// A path as a file names it: `crate::a::B`, `super::c`, or what a `use` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    /// The module that it stands in.
    pub(super) module: Vec<String>,
    pub(super) path: Vec<String>,
    /// The name by which a `use` makes it known in the module; `*` for all names.
    pub(super) alias: Option<String>,
    pub(super) line: usize,
}

/// The imports of the file of a module, those of modules within it with their own place.
pub(super) fn imports(module: &[String], tokens: &[Token]) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut here = module.to_vec();
    // The depths of braces at which modules within the file end.
    let mut ends = Vec::new();
    let (mut at, mut depth) = (0, 0);
    // What a macro names from `super` on is read where it is expanded.
    let mut macro_end = 0;
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    while at < tokens.len() {
        match text(at) {
            "mod" if text(at + 2) == "{" => {
                here.push(text(at + 1).to_owned());
                ends.push(depth);
                depth += 1;
                at += 3;
            }
            "macro_rules" if text(at + 1) == "!" => {
                macro_end = closing(tokens, at + 3);
                at += 3;
            }
            "super" | "self" if at < macro_end => at += 1,
            "{" => (depth, at) = (depth + 1, at + 1),
            "}" => {
                depth -= 1;
                if ends.last() == Some(&depth) {
                    ends.pop();
                    here.pop();
                }
                at += 1;
            }
            // Not `impl Trait + use<'a>`.
            "use" if text(at + 1) != "<" => {
                let mut tree = Tree { module: &here, tokens, at: at + 1, imports: &mut imports };
                tree.read(&mut Vec::new());
                at = tree.at;
            }
            "crate" | "super" | "self"
                if text(at + 1) == "::" && !(at >= 2 && text(at - 2) == "(" && text(at - 1) == "in") =>
            {
                let line = tokens[at].line;
                let mut path = vec![text(at).to_owned()];
                at += 1;
                while text(at) == "::" && is_word(text(at + 1)) {
                    path.push(text(at + 1).to_owned());
                    at += 2;
                }
                imports.push(Import { module: here.clone(), path, alias: None, line });
            }
            _ => at += 1,
        }
    }
    imports
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The tree of a `use`, from its first word on.
struct Tree<'a> {
    module: &'a [String],
    tokens: &'a [Token],
    at: usize,
    imports: &'a mut Vec<Import>,
}

impl Tree<'_> {
    fn text(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| token.text.as_str())
    }

    /// Reads what follows a path, and leaves the path as it was.
    fn read(&mut self, path: &mut Vec<String>) {
        let length = path.len();
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        loop {
            match self.text() {
                "{" => {
                    self.at += 1;
                    while !matches!(self.text(), "}" | "") {
                        self.read(path);
                        if self.text() == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    break;
                }
                "::" => self.at += 1,
                "*" => {
                    self.at += 1;
                    self.push(path.clone(), "*".to_owned(), line);
                    break;
                }
                word if is_word(word) => {
                    let word = word.to_owned();
                    self.at += 1;
                    let whole = word == "self" && !path.is_empty();
                    if !whole {
                        path.push(word);
                    }
                    if self.text() == "::" {
                        continue;
                    }
                    let mut alias = path.last().cloned().unwrap_or_default();
                    if self.text() == "as" {
                        self.at += 1;
                        alias = self.text().to_owned();
                        self.at += 1;
                    }
                    self.push(path.clone(), alias, line);
                    break;
                }
                _ => {
                    self.at += 1;
                    break;
                }
            }
        }
        path.truncate(length);
    }

    fn push(&mut self, path: Vec<String>, alias: String, line: usize) {
        self.imports.push(Import { module: self.module.to_vec(), path, alias: Some(alias), line });
    }
}
