//! A picture with two axes: margins, axes, legend and notes around the area of the marks.

use crate::palette::{self, Ramp};
use crate::scale::{self, Scale};
use crate::svg::{Anchor, Svg, px};
use crate::text::{elided, width as text_width, wrapped};
use crate::tick::Tick;

const GRID: &str = "stroke=\"#e8e8e8\" stroke-width=\"1\"";
const TICK_SIZE: f64 = 11.0;
const NAME_SIZE: f64 = 12.0;
const TITLE_SIZE: f64 = 15.0;
const NOTE_SIZE: f64 = 10.5;
/// Longer names of categories are cut.
const LONGEST_NAME: f64 = 190.0;
/// The steepness of names that do not fit side by side, in degrees.
const SLANT: f64 = 35.0;

/// The meaning of the colours.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Legend {
    None,
    /// Names with their colours.
    Keys {
        name: String,
        keys: Vec<(String, String)>,
    },
    Ramp {
        name: String,
        ramp: Ramp,
    },
}

/// All of a picture but its marks.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    /// In pixels.
    pub(crate) width: f64,
    /// In pixels.
    pub(crate) height: f64,
    pub(crate) title: Option<String>,
    pub(crate) x_name: String,
    pub(crate) y_name: String,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    /// The first category of `y` is at the top.
    pub(crate) y_from_top: bool,
    pub(crate) legend: Legend,
    /// Under the first.
    pub(crate) second: Legend,
    /// Sentences under the picture.
    pub(crate) notes: Vec<String>,
    /// Lines through the area at the ticks of x and of y.
    pub(crate) grid: (bool, bool),
    /// Whether there are axes at all.
    pub(crate) axes: bool,
}

/// The area of the marks in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// A chart whose axes are drawn; marks go into `svg`.
pub(crate) struct Canvas {
    pub(crate) svg: Svg,
    pub(crate) area: Area,
    chart: Chart,
}

impl Chart {
    /// Draws everything but the marks.
    pub(crate) fn canvas(self) -> Canvas {
        let mut svg = Svg::default();
        let lines = self.note_lines();
        let legend = self.legend_width();
        let mut area = Area { left: 0.0, right: self.width - 16.0 - legend, top: 14.0, bottom: self.height - 10.0 };
        if self.title.is_some() {
            area.top += 26.0;
        }
        area.bottom -= lines.len() as f64 * 14.0 + if lines.is_empty() { 0.0 } else { 4.0 };
        let names_y: Vec<(f64, String)> =
            self.y.ticks().into_iter().map(|(v, name)| (v, cut(&self.y, &name))).collect();
        let widest = names_y.iter().map(|(_, name)| text_width(name, TICK_SIZE)).fold(0.0, f64::max);
        area.left = 14.0 + widest + 8.0 + if self.y_name.is_empty() { 0.0 } else { 20.0 };
        let names_x: Vec<(f64, String)> =
            self.x.ticks().into_iter().map(|(v, name)| (v, cut(&self.x, &name))).collect();
        let widest = names_x.iter().map(|(_, name)| text_width(name, TICK_SIZE)).fold(0.0, f64::max);
        let slanted = is_slanted(&self.x, widest, area.right - area.left);
        let (sin, cos) = SLANT.to_radians().sin_cos();
        area.bottom -= if slanted {
            widest * sin + 18.0
        } else if names_x.is_empty() {
            4.0
        } else {
            22.0
        };
        if slanted {
            // The first name reaches to the left of its tick.
            let first = names_x.first().map_or(0.0, |(_, name)| text_width(name, TICK_SIZE) * cos);
            let step = (area.right - area.left) / names_x.len() as f64;
            area.left += (first - step / 2.0 - area.left + 6.0).max(0.0);
        } else if matches!(self.x, Scale::Even { .. }) {
            // The last name reaches over the end of the axis.
            area.right -= names_x.last().map_or(0.0, |(_, name)| text_width(name, TICK_SIZE) / 2.0 - 8.0).max(0.0);
        }
        if !self.x_name.is_empty() {
            area.bottom -= 20.0;
        }
        let mut canvas = Canvas { svg: Svg::default(), area, chart: self };
        canvas.frame(&mut svg, &names_x, &names_y, slanted);
        let end = canvas.legend(&mut svg, &canvas.chart.legend, canvas.area.top + 4.0);
        canvas.legend(&mut svg, &canvas.chart.second, end);
        canvas.notes(&mut svg, &lines);
        canvas.svg = svg;
        canvas
    }

    fn note_lines(&self) -> Vec<String> {
        self.notes.iter().flat_map(|note| wrapped(note, NOTE_SIZE, self.width - 28.0)).collect()
    }

    fn legend_width(&self) -> f64 {
        self.legend.width().max(self.second.width())
    }
}

impl Legend {
    fn width(&self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Keys { name, keys } => {
                let widest = keys.iter().map(|(key, _)| text_width(key, TICK_SIZE) + 18.0).fold(0.0, f64::max);
                widest.max(text_width(name, NAME_SIZE)).min(LONGEST_NAME + 18.0) + 18.0
            }
            Self::Ramp { name, ramp } => {
                let labels = Scale::numbers(ramp.min, ramp.max).ticks();
                let widest = labels.iter().map(|(_, label)| text_width(label, TICK_SIZE) + 22.0).fold(0.0, f64::max);
                widest.max(text_width(name, NAME_SIZE)).min(LONGEST_NAME) + 18.0
            }
        }
    }
}

fn cut(scale: &Scale, name: &str) -> String {
    if matches!(scale, Scale::Bands(_)) { elided(name, TICK_SIZE, LONGEST_NAME) } else { name.to_owned() }
}

/// Whether names of categories this wide do not fit side by side.
pub(crate) fn is_slanted(scale: &Scale, widest: f64, room: f64) -> bool {
    matches!(scale, Scale::Bands(names) if widest + 8.0 > room / names.len().max(1) as f64)
}

/// The width of the widest of these names, as an axis shows it.
pub(crate) fn widest_name(names: &[String]) -> f64 {
    names.iter().map(|name| text_width(&elided(name, TICK_SIZE, LONGEST_NAME), TICK_SIZE)).fold(0.0, f64::max)
}

impl Canvas {
    /// The position of a value or category along x, in pixels.
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.area.left + self.chart.x.place(value) * (self.area.right - self.area.left)
    }

    /// The position of a value or category along y, in pixels.
    pub(crate) fn y(&self, value: f64) -> f64 {
        let place = self.chart.y.place(value);
        let up = if self.chart.y_from_top { 1.0 - place } else { place };
        self.area.bottom - up * (self.area.bottom - self.area.top)
    }

    pub(crate) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x(x), self.y(y))
    }

    /// The document.
    pub(crate) fn finish(self, label: &str) -> String {
        self.svg.document(self.chart.width, self.chart.height, label)
    }

    fn frame(&self, svg: &mut Svg, names_x: &[(f64, String)], names_y: &[(f64, String)], slanted: bool) {
        let Area { left, right, top, bottom } = self.area;
        if let Some(title) = &self.chart.title {
            let title = elided(title, TITLE_SIZE, self.chart.width - 28.0);
            svg.text((14.0, 24.0), Anchor::Start, "font-size=\"15\" font-weight=\"bold\" fill=\"#222\"", &title);
        }
        if !self.chart.axes {
            return;
        }
        svg.open("class=\"axes\"");
        for (value, _) in names_y.iter().filter(|_| self.chart.grid.1) {
            svg.line((left, self.y(*value)), (right, self.y(*value)), GRID);
        }
        for (value, _) in names_x.iter().filter(|_| self.chart.grid.0) {
            svg.line((self.x(*value), top), (self.x(*value), bottom), GRID);
        }
        svg.line((left, bottom), (right, bottom), "stroke=\"#888\" stroke-width=\"1\"");
        svg.open("font-size=\"11\" fill=\"#444\"");
        let room = (bottom - top) / names_y.len().max(1) as f64;
        for (_, (value, name)) in thinned(names_y, &self.chart.y, room, 12.0) {
            svg.text((left - 8.0, self.y(*value) + 4.0), Anchor::End, "", name);
        }
        let room = (right - left) / names_x.len().max(1) as f64;
        for (_, (value, name)) in thinned(names_x, &self.chart.x, room, if slanted { 13.0 } else { 0.0 }) {
            let (x, y) = (self.x(*value), bottom + 16.0);
            if slanted {
                let turn = format!("transform=\"rotate({} {} {})\"", -SLANT, px(x + 4.0), px(y - 4.0));
                svg.text((x + 4.0, y - 2.0), Anchor::End, &turn, name);
            } else {
                svg.text((x, y), Anchor::Middle, "", name);
            }
        }
        svg.close();
        if !self.chart.x_name.is_empty() {
            let name = elided(&self.chart.x_name, NAME_SIZE, right - left);
            let y = self.chart.height - 14.0 - self.notes_height();
            svg.text(((left + right) / 2.0, y), Anchor::Middle, "", &name);
        }
        if !self.chart.y_name.is_empty() {
            let name = elided(&self.chart.y_name, NAME_SIZE, bottom - top);
            let middle = (top + bottom) / 2.0;
            let turn = format!("transform=\"rotate(-90 20 {})\"", px(middle));
            svg.text((20.0, middle), Anchor::Middle, &turn, &name);
        }
        svg.close();
    }

    fn notes_height(&self) -> f64 {
        let lines = self.chart.note_lines().len() as f64;
        lines * 14.0 + if lines > 0.0 { 4.0 } else { 0.0 }
    }

    fn notes(&self, svg: &mut Svg, lines: &[String]) {
        for (i, line) in lines.iter().rev().enumerate() {
            let y = self.chart.height - 10.0 - 14.0 * i as f64;
            svg.text((14.0, y), Anchor::Start, "font-size=\"10.5\" fill=\"#777\"", line);
        }
    }

    /// Draws a legend from `top` on; where it ends.
    fn legend(&self, svg: &mut Svg, legend: &Legend, top: f64) -> f64 {
        // Names of an axis may need room between the area and the legend.
        let left = self.chart.width - self.chart.legend_width() + 2.0;
        let heading = |svg: &mut Svg, name: &str| {
            svg.open("class=\"legend\" font-size=\"11\"");
            svg.text((left, top + 8.0), Anchor::Start, "font-size=\"12\"", &elided(name, NAME_SIZE, LONGEST_NAME));
        };
        match legend {
            Legend::None => top,
            Legend::Keys { name, keys } => {
                heading(svg, name);
                let room = ((self.chart.height - top - 30.0) / keys.len() as f64).min(18.0);
                for (i, (key, color)) in keys.iter().enumerate() {
                    let y = top + 26.0 + room * i as f64;
                    let fill = format!("rx=\"2\" fill=\"{color}\"");
                    svg.rect((left, y - 9.0), (left + 11.0, y + 1.0), &fill, None);
                    svg.text((left + 17.0, y), Anchor::Start, "", &elided(key, TICK_SIZE, LONGEST_NAME));
                }
                svg.close();
                top + 40.0 + room * keys.len() as f64
            }
            Legend::Ramp { name, ramp } => {
                heading(svg, name);
                let height = (self.area.bottom - top - 20.0).clamp(40.0, 180.0);
                ramp_bar(svg, *ramp, left, top + 20.0, height);
                svg.close();
                top + 50.0 + height
            }
        }
    }
}

/// A bar of a ramp's colours with its numbers.
fn ramp_bar(svg: &mut Svg, ramp: Ramp, left: f64, top: f64, height: f64) {
    const PARTS: usize = 36;
    let value_at = |place: f64| ramp.min + (ramp.max - ramp.min) * place;
    for i in 0..PARTS {
        let (low, high) = (i as f64 / PARTS as f64, (i + 1) as f64 / PARTS as f64);
        let fill = format!("fill=\"{}\"", ramp.color(value_at((low + high) / 2.0)));
        // A little over the next part: no gaps between them.
        let end = if i + 1 < PARTS { 0.5 } else { 0.0 };
        svg.rect((left, top + height * (1.0 - low)), (left + 12.0, top + height * (1.0 - high) - end), &fill, None);
    }
    let mut values: Vec<Tick> = Scale::numbers(ramp.min, ramp.max).ticks();
    values.retain(|(value, _)| *value >= ramp.min && *value <= ramp.max);
    if ramp.max <= ramp.min {
        values = vec![(ramp.min, scale::short(ramp.min))];
    }
    for (value, label) in values {
        let place = if ramp.max > ramp.min { (value - ramp.min) / (ramp.max - ramp.min) } else { 0.5 };
        svg.text((left + 18.0, top + height * (1.0 - place) + 4.0), Anchor::Start, "", &label);
    }
}

/// The names of an axis that have room for `least` pixels each: of many categories, every second, third, ...
fn thinned<'a>(
    names: &'a [(f64, String)],
    scale: &Scale,
    room: f64,
    least: f64,
) -> impl Iterator<Item = (usize, &'a (f64, String))> {
    let step = if matches!(scale, Scale::Bands(_)) { (least / room).ceil().max(1.0) as usize } else { 1 };
    names.iter().enumerate().filter(move |(i, _)| i % step == 0)
}

/// The colours of a legend for so many groups.
pub(crate) fn keys(name: &str, groups: &[String]) -> Legend {
    let color = |(i, group): (usize, &String)| (group.clone(), palette::group(i));
    Legend::Keys { name: name.to_owned(), keys: groups.iter().enumerate().map(color).collect() }
}
