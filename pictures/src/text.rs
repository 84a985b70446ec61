//! The width of a string, and cuts and breaks to a width.

/// The width of a string in pixels at this size, in Helvetica or DejaVu Sans, whichever is wider: no font is asked for, and what
/// is cut or begins outside of the picture is worse than some room.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' => 0.28,
        ' ' | '.' | ',' | ':' | ';' | '|' | 'I' | '/' | '\\' => 0.33,
        '-' | '(' | ')' | 'r' | 'f' | 't' | '!' | '"' | '`' | '[' | ']' => 0.4,
        'm' | 'M' | 'W' | '%' | '@' => 0.97,
        'w' | 'O' | 'Q' | 'G' => 0.8,
        '+' | '<' | '=' | '>' | '~' | '−' => 0.84,
        c if c.is_ascii_uppercase() => 0.72,
        c if c.is_ascii() => 0.62,
        // Scripts whose characters fill a square.
        c if (0x1100..0xfb00).contains(&u32::from(c)) && !(0x2000..0x2e80).contains(&u32::from(c)) => 1.0,
        _ => 0.65,
    }
}

/// The text, its end replaced by an ellipsis where it is wider than this.
pub(crate) fn elided(text: &str, size: f64, most: f64) -> String {
    let line = text.lines().next().unwrap_or_default();
    let text = if line.len() < text.len() { format!("{line}…") } else { text.to_owned() };
    if width(&text, size) <= most {
        return text;
    }
    let mut short = String::new();
    let mut room = most - em('…') * size;
    for c in text.chars() {
        room -= em(c) * size;
        if room < 0.0 {
            break;
        }
        short.push(c);
    }
    format!("{}…", short.trim_end())
}

/// The text, an ellipsis in its middle where it is wider than this: names that begin alike are told apart by their ends.
pub(crate) fn elided_within(text: &str, size: f64, most: f64) -> String {
    if !text.contains('\n') && width(text, size) <= most {
        return text.to_owned();
    }
    let half = (most - em('…') * size) / 2.0;
    let fitting = |characters: &mut dyn Iterator<Item = char>| -> Vec<char> {
        let mut room = half;
        let fits = |c: &char| {
            room -= em(*c) * size;
            room >= 0.0
        };
        characters.take_while(fits).collect()
    };
    let start: String = fitting(&mut text.lines().next().unwrap_or_default().chars()).into_iter().collect();
    let end: String = fitting(&mut text.lines().last().unwrap_or_default().chars().rev()).into_iter().rev().collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// The text in lines of at most this width, cut at spaces.
pub(crate) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + em(' ') * size <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(elided(word, size, most)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_to_its_room() {
        assert_eq!(elided("short", 12.0, 100.0), "short");
        let cut = elided("a rather long name of a model", 12.0, 60.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 60.0, "{cut}");
        assert_eq!(elided("two\nlines", 12.0, 100.0), "two…");
        assert_eq!(elided_within("short", 12.0, 100.0), "short");
        let cut = elided_within("a rather long name of model 7", 12.0, 90.0);
        assert!(
            cut.starts_with("a r") && cut.ends_with("l 7") && cut.contains('…') && width(&cut, 12.0) <= 90.0,
            "{cut}"
        );
        assert_eq!(wrapped("one two three", 10.0, 50.0), ["one two", "three"]);
    }
}
