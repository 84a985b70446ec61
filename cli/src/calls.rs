//! The calls within which a place of a statement stands, for completion.

use bonnet_dialect::syntax::tokens::split::{Lexeme, LexemeKind, Lexer};

/// The parentheses that are open at the end of a text.
pub(super) struct OpenCalls<'a> {
    /// The names before them, the outermost first; empty where there is none.
    names: Vec<&'a str>,
    /// The last pieces of the text, without blanks and comments.
    last: [&'a str; 3],
}

impl<'a> OpenCalls<'a> {
    /// Those at the end of `text`. O(text).
    pub(super) fn at_end(text: &'a str) -> Self {
        let (mut names, mut last) = (Vec::new(), [""; 3]);
        let mut word = "";
        let says = |piece: &Lexeme<'_>| !matches!(piece.kind, LexemeKind::Space | LexemeKind::Comment);
        for piece in Lexer::new(text).filter(says) {
            match piece.text {
                "(" => names.push(word),
                ")" => {
                    names.pop();
                }
                _ => {}
            }
            word = if piece.kind == LexemeKind::Word { piece.text } else { "" };
            last = [last[1], last[2], piece.text];
        }
        Self { names, last }
    }

    /// The function of which an argument begins here.
    pub(super) fn of_argument(&self) -> Option<&'a str> {
        let begins = matches!(self.last[2], "(" | ",");
        self.names.last().copied().filter(|name| begins && !name.is_empty())
    }

    /// Whether one of the calls is of this function.
    pub(super) fn within(&self, function: &str) -> bool {
        self.names.iter().any(|name| name.eq_ignore_ascii_case(function))
    }

    /// Whether the value of this option follows here.
    pub(super) fn gives(&self, option: &str) -> bool {
        self.last[0].eq_ignore_ascii_case(option) && self.last[1..] == ["=", ">"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_call_takes_the_argument() {
        let of = |text| OpenCalls::at_end(text).of_argument();
        assert_eq!(of("SELECT f(a, "), Some("f"));
        assert_eq!(of("SELECT f(a, g("), Some("g"));
        assert_eq!(of("SELECT f(a, g(b), "), Some("f"));
        for elsewhere in ["SELECT a, ", "SELECT f(a ", "SELECT f(a) , ", "FROM train((SELECT 1, ", "SELECT '(' , "] {
            assert_eq!(of(elsewhere), None, "{elsewhere}");
        }
        assert!(OpenCalls::at_end("FROM TRAIN((SELECT ").within("train"));
        assert!(!OpenCalls::at_end("FROM train(a) JOIN (").within("train"));
        assert!(OpenCalls::at_end("FROM train(g, Model => ").gives("model"));
        assert!(!OpenCalls::at_end("FROM train(g, save => ").gives("model"));
    }
}
