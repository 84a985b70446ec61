//! Colours that people with any kind of colour vision tell apart.

/// The colours of groups: Okabe and Ito's palette, the yellow last since it is faint on white.
const GROUPS: [[u8; 3]; 8] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0xe6, 0x9f, 0x00],
    [0x56, 0xb4, 0xe9],
    [0x6b, 0x6b, 0x6b],
    [0xd9, 0xc8, 0x1e],
];

/// Viridis at even steps: darker is less, in grey too.
const SEQUENTIAL: [[u8; 3]; 10] = [
    [0x44, 0x01, 0x54],
    [0x48, 0x28, 0x78],
    [0x3e, 0x49, 0x89],
    [0x31, 0x68, 0x8e],
    [0x26, 0x82, 0x8e],
    [0x1f, 0x9e, 0x89],
    [0x35, 0xb7, 0x79],
    [0x6e, 0xce, 0x58],
    [0xb5, 0xde, 0x2b],
    [0xfd, 0xe7, 0x25],
];

/// From blue through a light grey at zero to red (ColorBrewer's RdBu).
const DIVERGING: [[u8; 3]; 9] = [
    [0x21, 0x66, 0xac],
    [0x43, 0x93, 0xc3],
    [0x92, 0xc5, 0xde],
    [0xbd, 0xd7, 0xe7],
    [0xe2, 0xe2, 0xe2],
    [0xf9, 0xcb, 0xae],
    [0xf4, 0xa5, 0x82],
    [0xd6, 0x60, 0x4d],
    [0xb2, 0x18, 0x2b],
];

/// The most groups that have a colour of their own.
pub(crate) const MOST_GROUPS: usize = 24;

/// The colour of what is in no group.
pub(crate) const NO_GROUP: &str = "#b8b8b8";

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// The colour between two, `t` in 0..=1.
fn between(a: [u8; 3], b: [u8; 3], t: f64) -> [u8; 3] {
    std::array::from_fn(|i| (f64::from(a[i]) + (f64::from(b[i]) - f64::from(a[i])) * t).round() as u8)
}

/// The colour of a group; beyond the first eight, lighter and darker ones of the same hues.
pub(crate) fn group(place: usize) -> String {
    hex(group_rgb(place))
}

fn group_rgb(place: usize) -> [u8; 3] {
    let color = GROUPS[place % GROUPS.len()];
    match place / GROUPS.len() {
        0 => color,
        1 => between(color, [255; 3], 0.5),
        _ => between(color, [0; 3], 0.45),
    }
}

/// The dashes of lines, so that they are told apart without colours: five, and so none is with two lines of one colour.
const DASHES: [&str; 5] = ["", "7 4", "2 3", "10 3 2 3", "15 4"];

/// The attribute that dashes the line of a group, with a space before it; empty for a whole one.
pub(crate) fn dash(place: usize) -> String {
    match DASHES[place % DASHES.len()] {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    }
}

/// The colour of a group, dark enough for a text.
pub(crate) fn ink(place: usize) -> String {
    hex(darkened(group_rgb(place), TEXT))
}

/// The largest relative luminance of a thin line and of a text on white: those of the contrasts 3 and 4.5 (WCAG 2.2, 1.4.11
/// and 1.4.3).
const LINE: f64 = 1.05 / 3.0 - 0.05;
const TEXT: f64 = 1.05 / 4.5 - 0.05;

/// The colour, or one of its hue whose relative luminance (sRGB) is no larger than this.
fn darkened(rgb: [u8; 3], most: f64) -> [u8; 3] {
    let linear = rgb.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    let luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    if luminance <= most {
        return rgb;
    }
    linear.map(|part| {
        let part = part * most / luminance;
        let part = if part <= 0.003_130_8 { part * 12.92 } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 };
        (part * 255.0).floor() as u8
    })
}

/// Colours of the numbers from `min` to `max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ramp {
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The least and the most of the numbers themselves, which a legend shows.
    pub(crate) shown: (f64, f64),
    /// Whether colours are of thin lines, which need to be darker than the page.
    pub(crate) of_lines: bool,
}

impl Ramp {
    /// A ramp over these numbers. Where they have both signs, zero is in the middle.
    pub(crate) fn new(min: f64, max: f64) -> Self {
        let most = max.max(-min);
        let (low, high) = if min < 0.0 && max > 0.0 { (-most, most) } else { (min, max) };
        Self { min: low, max: high, shown: (min, max), of_lines: false }
    }

    /// The same for thin lines.
    pub(crate) fn of_lines(self) -> Self {
        Self { of_lines: true, ..self }
    }

    fn is_diverging(self) -> bool {
        self.min < 0.0 && self.max > 0.0
    }

    fn rgb(self, value: f64) -> [u8; 3] {
        let anchors: &[[u8; 3]] = if self.is_diverging() { &DIVERGING } else { &SEQUENTIAL };
        let t = if self.max > self.min { ((value - self.min) / (self.max - self.min)).clamp(0.0, 1.0) } else { 0.5 };
        let place = t * (anchors.len() - 1) as f64;
        let low = (place as usize).min(anchors.len() - 2);
        let color = between(anchors[low], anchors[low + 1], place - low as f64);
        if self.of_lines { darkened(color, LINE) } else { color }
    }

    pub(crate) fn color(self, value: f64) -> String {
        hex(self.rgb(value))
    }

    /// The colour in which a string is read on this one.
    pub(crate) fn ink(self, value: f64) -> &'static str {
        let [r, g, b] = self.rgb(value).map(f64::from);
        if 0.299 * r + 0.587 * g + 0.114 * b > 140.0 { "#222" } else { "#fff" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_colours_of_their_own() {
        let mut colors: Vec<String> = (0..MOST_GROUPS).map(group).collect();
        colors.sort();
        colors.dedup();
        assert_eq!(colors.len(), MOST_GROUPS);
    }

    /// The contrast with white of WCAG 2.2.
    fn contrast(color: [u8; 3]) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let [r, g, b] = color.map(linear);
        1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05)
    }

    #[test]
    fn lines_of_one_dash_have_other_colours() {
        let mut looks: Vec<(String, String)> = (0..MOST_GROUPS).map(|i| (group(i % 8), dash(i))).collect();
        looks.sort();
        looks.dedup();
        assert_eq!(looks.len(), MOST_GROUPS);
        assert_eq!((dash(0), dash(1)), (String::new(), " stroke-dasharray=\"7 4\"".to_owned()));
        // Blue is dark enough.
        assert_eq!(ink(0), group(0));
        assert!((0..MOST_GROUPS).all(|place| contrast(darkened(group_rgb(place), TEXT)) >= 4.5));
    }

    #[test]
    fn no_line_is_as_light_as_the_page() {
        assert!(contrast(Ramp::new(-1.0, 1.0).rgb(0.0)) < 1.5);
        for ramp in [Ramp::new(-2.0, 0.5), Ramp::new(0.0, 1.0)] {
            let lines = ramp.of_lines();
            for i in 0..=50 {
                let value = lines.min + (lines.max - lines.min) * f64::from(i) / 50.0;
                assert!(contrast(lines.rgb(value)) >= 3.0, "{value}: {}", lines.color(value));
            }
        }
        assert_eq!(Ramp::new(-1.0, 1.0).of_lines().color(0.0), "#949494");
    }

    #[test]
    fn zero_is_the_middle_of_both_signs() {
        let ramp = Ramp::new(-1.0, 3.0);
        assert_eq!(ramp.color(0.0), "#e2e2e2");
        assert_eq!(ramp.color(3.0), "#b2182b");
        assert_eq!((ramp.min, ramp.max, ramp.shown), (-3.0, 3.0, (-1.0, 3.0)));
        assert_eq!(Ramp::new(0.0, 1.0).color(0.0), "#440154");
        assert_eq!(Ramp::new(0.0, 1.0).ink(0.0), "#fff");
        assert_eq!(Ramp::new(2.0, 2.0).color(2.0), Ramp::new(0.0, 1.0).color(0.5));
    }
}
