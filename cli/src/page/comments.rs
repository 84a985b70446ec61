//! The comments of a script as text: headings, paragraphs, and lines that stand as they are.

use bonnet_pictures::escaped;

/// A part of the comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    /// A line that a row of dashes follows.
    Heading(String),
    Paragraph(String),
    /// Lines that are indented.
    Code(String),
    /// The picture of the next rows.
    Plot(String),
}

impl Block {
    /// As HTML; a plot is none.
    pub(super) fn html(&self) -> String {
        match self {
            Self::Heading(text) => format!("<h2>{}</h2>\n", prose(text)),
            Self::Paragraph(text) => format!("<p>{}</p>\n", prose(text)),
            Self::Code(text) => format!("<pre>{}</pre>\n", escaped(text)),
            Self::Plot(_) => String::new(),
        }
    }
}

/// The blocks of these lines of a script; lines that are no comments separate them.
pub(super) fn blocks(lines: &[String]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open = false;
    for line in lines {
        let Some(text) = line.trim_start().strip_prefix("--") else {
            open = false;
            continue;
        };
        let text = text.trim_end();
        let short = text.trim();
        if let Some(plot) = short.strip_prefix("\\plot") {
            blocks.push(Block::Plot(plot.trim().to_owned()));
            open = false;
        } else if let Some(heading) = heading(short) {
            blocks.push(Block::Heading(heading.to_owned()));
            open = false;
        } else if short.trim_matches('-').is_empty() {
            open = false;
        } else if let Some(code) = text.strip_prefix("     ") {
            match blocks.last_mut() {
                Some(Block::Code(before)) if open => *before = format!("{before}\n{code}"),
                _ => blocks.push(Block::Code(code.to_owned())),
            }
            open = true;
        } else {
            match blocks.last_mut() {
                Some(Block::Paragraph(before)) if open => *before = format!("{before} {short}"),
                _ => blocks.push(Block::Paragraph(short.to_owned())),
            }
            open = true;
        }
    }
    blocks
}

/// The text before a row of four dashes or more.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_end_matches('-');
    (line.len() - text.len() >= 4 && !text.trim().is_empty()).then(|| text.trim())
}

/// Text as HTML, what stands between backticks as code.
pub(super) fn prose(text: &str) -> String {
    let mut html = String::new();
    let parts: Vec<&str> = text.split('`').collect();
    for (i, part) in parts.iter().enumerate() {
        match i % 2 == 1 && i + 1 < parts.len() {
            true => html += &format!("<code>{}</code>", escaped(part)),
            false if i % 2 == 1 => html += &format!("`{}", escaped(part)),
            false => html += &escaped(part),
        }
    }
    html
}

/// The text with a capital first letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_headings_paragraphs_and_code() {
        let text = "-- Who wins,\n-- and `where`?\n--\n--     bonnet -f a.sql\n\n-- 1. The graphs -----\n\nSELECT 1; -- no\n-- \\plot bump a b\n";
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(
            blocks(&lines),
            [
                Block::Paragraph("Who wins, and `where`?".into()),
                Block::Code("bonnet -f a.sql".into()),
                Block::Heading("1. The graphs".into()),
                Block::Plot("bump a b".into()),
            ]
        );
        assert_eq!(prose("a < `b` and `c"), "a &lt; <code>b</code> and `c");
        assert_eq!(capitalised("who"), "Who");
    }
}
