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
    let color = GROUPS[place % GROUPS.len()];
    hex(match place / GROUPS.len() {
        0 => color,
        1 => between(color, [255; 3], 0.5),
        _ => between(color, [0; 3], 0.45),
    })
}

/// Colours of the numbers from `min` to `max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ramp {
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Ramp {
    /// A ramp over these numbers. Where they have both signs, zero is in the middle.
    pub(crate) fn new(min: f64, max: f64) -> Self {
        if min < 0.0 && max > 0.0 {
            let most = max.max(-min);
            return Self { min: -most, max: most };
        }
        Self { min, max }
    }

    fn is_diverging(self) -> bool {
        self.min < 0.0 && self.max > 0.0
    }

    fn rgb(self, value: f64) -> [u8; 3] {
        let anchors: &[[u8; 3]] = if self.is_diverging() { &DIVERGING } else { &SEQUENTIAL };
        let t = if self.max > self.min { ((value - self.min) / (self.max - self.min)).clamp(0.0, 1.0) } else { 0.5 };
        let place = t * (anchors.len() - 1) as f64;
        let low = (place as usize).min(anchors.len() - 2);
        between(anchors[low], anchors[low + 1], place - low as f64)
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

    #[test]
    fn zero_is_the_middle_of_both_signs() {
        let ramp = Ramp::new(-1.0, 3.0);
        assert_eq!(ramp.color(0.0), "#e2e2e2");
        assert_eq!(ramp.color(3.0), "#b2182b");
        assert_eq!(Ramp::new(0.0, 1.0).color(0.0), "#440154");
        assert_eq!(Ramp::new(0.0, 1.0).ink(0.0), "#fff");
        assert_eq!(Ramp::new(2.0, 2.0).color(2.0), Ramp::new(0.0, 1.0).color(0.5));
    }
}
