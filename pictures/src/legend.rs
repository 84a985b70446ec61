//! The meaning of the colours, beside the area of the marks.

use crate::palette::{self, Ramp};
use crate::scale::{self, Scale};
use crate::svg::{Anchor, Svg};
use crate::text::{elided, width as text_width};
use crate::tick::Tick;

const NAME_SIZE: f64 = 12.0;
const KEY_SIZE: f64 = 11.0;
/// The length of a line that is the sign of a key; of a patch it is 11.
const LINE: f64 = 26.0;

/// The meaning of the colours.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Legend {
    None,
    /// Names with their colours.
    Keys {
        name: String,
        keys: Vec<(String, String)>,
    },
    /// Names of lines, which have dashes too; in the order of the groups.
    Lines {
        name: String,
        keys: Vec<String>,
    },
    Ramp {
        name: String,
        ramp: Ramp,
    },
}

impl Legend {
    /// The colours of a legend for so many groups.
    pub(crate) fn of_groups(name: &str, groups: &[String]) -> Self {
        let color = |(i, group): (usize, &String)| (group.clone(), palette::group(i));
        Self::Keys { name: name.to_owned(), keys: groups.iter().enumerate().map(color).collect() }
    }

    /// The room that it takes to the right, in pixels. `longest` is that of a name, beyond which it is cut.
    pub(crate) fn width(&self, longest: f64) -> f64 {
        let widest = |sign: f64, names: &mut dyn Iterator<Item = &String>| {
            names.map(|key| text_width(key, KEY_SIZE).min(longest) + sign).fold(0.0, f64::max)
        };
        let (name, keys) = match self {
            Self::None => return 0.0,
            Self::Keys { name, keys } => (name, widest(18.0, &mut keys.iter().map(|key| &key.0))),
            Self::Lines { name, keys } => (name, widest(LINE + 7.0, &mut keys.iter())),
            Self::Ramp { name, ramp } => {
                let labels = ramp_ticks(*ramp);
                (name, widest(22.0, &mut labels.iter().map(|(_, label)| label)))
            }
        };
        keys.max(text_width(name, NAME_SIZE).min(longest)) + 18.0
    }

    /// Draws it from a corner on; where it ends. `bottom` is that of the picture, `end` that of the area of the marks.
    pub(crate) fn draw(&self, svg: &mut Svg, (left, top): (f64, f64), bottom: f64, end: f64, longest: f64) -> f64 {
        let heading = |svg: &mut Svg, name: &str| {
            svg.open("class=\"legend\" font-size=\"11\"");
            svg.text((left, top + 8.0), Anchor::Start, "font-size=\"12\"", &elided(name, NAME_SIZE, longest));
        };
        let room = |count: usize| ((bottom - top - 30.0) / count as f64).min(18.0);
        match self {
            Self::None => top,
            Self::Keys { name, keys } => {
                heading(svg, name);
                let room = room(keys.len());
                for (i, (key, color)) in keys.iter().enumerate() {
                    let y = top + 26.0 + room * i as f64;
                    let fill = format!("rx=\"2\" fill=\"{color}\"");
                    svg.rect((left, y - 9.0), (left + 11.0, y + 1.0), &fill, None);
                    svg.text((left + 17.0, y), Anchor::Start, "", &elided(key, KEY_SIZE, longest));
                }
                svg.close();
                top + 40.0 + room * keys.len() as f64
            }
            Self::Lines { name, keys } => {
                heading(svg, name);
                let room = room(keys.len());
                for (i, key) in keys.iter().enumerate() {
                    let y = top + 26.0 + room * i as f64;
                    let look = format!("stroke=\"{}\" stroke-width=\"2\"{}", palette::group(i), palette::dash(i));
                    svg.line((left, y - 4.0), (left + LINE, y - 4.0), &look);
                    svg.text((left + LINE + 6.0, y), Anchor::Start, "", &elided(key, KEY_SIZE, longest));
                }
                svg.close();
                top + 40.0 + room * keys.len() as f64
            }
            Self::Ramp { name, ramp } => {
                heading(svg, name);
                let height = (end - top - 20.0).clamp(40.0, 180.0);
                ramp_bar(svg, *ramp, left, top + 20.0, height);
                svg.close();
                top + 50.0 + height
            }
        }
    }
}

/// The numbers beside a ramp: those within what it shows.
fn ramp_ticks(ramp: Ramp) -> Vec<Tick> {
    let (low, high) = ramp.shown;
    if high <= low {
        return vec![(low, scale::short(low))];
    }
    let mut ticks = Scale::numbers(low, high).ticks();
    ticks.retain(|(value, _)| (low..=high).contains(value));
    ticks
}

/// A bar of a ramp's colours with its numbers.
fn ramp_bar(svg: &mut Svg, ramp: Ramp, left: f64, top: f64, height: f64) {
    const PARTS: usize = 36;
    let (least, most) = ramp.shown;
    let value_at = |place: f64| least + (most - least) * place;
    for i in 0..PARTS {
        let (low, high) = (i as f64 / PARTS as f64, (i + 1) as f64 / PARTS as f64);
        let fill = format!("fill=\"{}\"", ramp.color(value_at((low + high) / 2.0)));
        // A little over the next part: no gaps between them.
        let end = if i + 1 < PARTS { 0.5 } else { 0.0 };
        svg.rect((left, top + height * (1.0 - low)), (left + 12.0, top + height * (1.0 - high) - end), &fill, None);
    }
    let ticks = ramp_ticks(ramp);
    // Names have 12 pixels each.
    let apart = ticks.windows(2).map(|pair| (pair[1].0 - pair[0].0) / (most - least) * height).fold(height, f64::min);
    let step = (12.0 / apart.max(1e-9)).ceil().max(1.0) as usize;
    let zero = ticks.iter().position(|tick| tick.0 == 0.0).unwrap_or(0);
    for (_, (value, label)) in ticks.iter().enumerate().filter(|(i, _)| i % step == zero % step) {
        let place = if most > least { (value - least) / (most - least) } else { 0.5 };
        svg.text((left + 18.0, top + height * (1.0 - place) + 4.0), Anchor::Start, "", label);
    }
}
