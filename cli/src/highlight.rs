//! Colours of what is typed at the prompt.

use std::borrow::Cow;

use bonnet_dialect::syntax::tokens::split::{LexemeKind, Lexer};
use rustyline::highlight::{CmdKind, Highlighter};

use super::complete::{Assistance, KEYWORDS};

/// Escape sequences that select a colour, and the one that ends it.
const KEYWORD: &str = "\x1b[34m";
const TEXT: &str = "\x1b[32m";
const COMMENT: &str = "\x1b[2m";
const NUMBER: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

impl Highlighter for Assistance {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.colour && !line.trim_start().starts_with(['\\', '.']) {
            Cow::Owned(coloured(line))
        } else {
            Cow::Borrowed(line)
        }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.colour { Cow::Owned(format!("{COMMENT}{hint}{PLAIN}")) } else { Cow::Borrowed(hint) }
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.colour && kind != CmdKind::MoveCursor
    }
}

fn coloured(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + 32);
    for lexeme in Lexer::new(text) {
        let colour = match lexeme.kind {
            LexemeKind::Comment => COMMENT,
            LexemeKind::Text => TEXT,
            LexemeKind::Word if lexeme.text.starts_with(|c: char| c.is_ascii_digit()) => NUMBER,
            LexemeKind::Word if KEYWORDS.binary_search(&lexeme.text.to_uppercase().as_str()).is_ok() => KEYWORD,
            _ => {
                line.push_str(lexeme.text);
                continue;
            }
        };
        line.extend([colour, lexeme.text, PLAIN]);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn words_texts_numbers_and_comments_have_colours() {
        let expected = format!(
            "{KEYWORD}select{PLAIN} fromage, {TEXT}'FROM'{PLAIN}, {NUMBER}10{PLAIN} {KEYWORD}FROM{PLAIN} \"SELECT\" \
             {COMMENT}-- to{PLAIN}"
        );
        assert_eq!(coloured("select fromage, 'FROM', 10 FROM \"SELECT\" -- to"), expected);
    }

    #[test]
    fn nothing_is_coloured_where_colours_are_not_wanted_or_in_commands() {
        let assistance = Assistance::default();
        assert_eq!(assistance.highlight("SELECT 1", 0), "SELECT 1");
        let assistance = Assistance { colour: true, ..Assistance::default() };
        assert_eq!(assistance.highlight("\\echo SELECT", 0), "\\echo SELECT");
        assert!(assistance.highlight("SELECT 1", 0).contains(KEYWORD));
    }
}
