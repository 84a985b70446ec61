//! Elements of SVG as text.

use std::fmt::Write;

/// A string that is written into an attribute or between tags.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            // XML has no other control characters.
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A length in pixels with up to two digits behind the point.
pub(crate) fn px(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// The anchor of a string at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// The elements of a picture, in the order in which they are painted.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    pub(crate) body: String,
}

impl Svg {
    /// A line of the document.
    fn put(&mut self, line: std::fmt::Arguments<'_>) {
        // A String takes any text.
        let _ = writeln!(self.body, "{line}");
    }

    /// An element with attributes that are safe as they stand, and the title that a browser shows over it.
    pub(crate) fn element(&mut self, name: &str, attributes: &str, title: Option<&str>) {
        match title {
            Some(title) => {
                self.put(format_args!("<{name} {attributes}><title>{}</title></{name}>", escaped(title)));
            }
            None => self.put(format_args!("<{name} {attributes}/>")),
        }
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), attributes: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let place = format!("x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", px(x1), px(y1), px(x2), px(y2));
        self.element("line", &format!("{place} {attributes}"), None);
    }

    /// A rectangle between two corners.
    pub(crate) fn rect(&mut self, a: (f64, f64), b: (f64, f64), attributes: &str, title: Option<&str>) {
        let (x, y) = (a.0.min(b.0), a.1.min(b.1));
        let (width, height) = ((a.0 - b.0).abs(), (a.1 - b.1).abs());
        let place = format!("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", px(x), px(y), px(width), px(height));
        self.element("rect", &format!("{place} {attributes}"), title);
    }

    pub(crate) fn circle(&mut self, (x, y): (f64, f64), radius: f64, attributes: &str, title: Option<&str>) {
        let place = format!("cx=\"{}\" cy=\"{}\" r=\"{}\"", px(x), px(y), px(radius));
        self.element("circle", &format!("{place} {attributes}"), title);
    }

    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], attributes: &str) {
        let points: Vec<String> = points.iter().map(|&(x, y)| format!("{},{}", px(x), px(y))).collect();
        self.element("polyline", &format!("points=\"{}\" fill=\"none\" {attributes}", points.join(" ")), None);
    }

    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, attributes: &str, text: &str) {
        let (anchor, space) = (anchor.name(), if attributes.is_empty() { "" } else { " " });
        let (x, y, text) = (px(x), px(y), escaped(text));
        self.put(format_args!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\"{space}{attributes}>{text}</text>"));
    }

    /// Opens a group; `close` ends it.
    pub(crate) fn open(&mut self, attributes: &str) {
        self.put(format_args!("<g {attributes}>"));
    }

    pub(crate) fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// The document.
    pub(crate) fn document(self, width: f64, height: f64, label: &str) -> String {
        let (width, height) = (px(width), px(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" \
             font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#333\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{}</svg>\n",
            escaped(label),
            self.body
        )
    }
}
