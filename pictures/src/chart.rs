//! A picture with two axes: margins, axes, legend and notes around the area of the marks, or around several such areas, the
//! panels, which share their axes.

use std::collections::HashSet;

use crate::legend::Legend;
use crate::scale::Scale;
use crate::svg::{Anchor, Svg, px};
use crate::text::{elided, elided_within, width as text_width, wrapped};
use crate::tick::Tick;

const GRID: &str = "stroke=\"#e8e8e8\" stroke-width=\"1\"";
const TICK_SIZE: f64 = 11.0;
const NAME_SIZE: f64 = 12.0;
const TITLE_SIZE: f64 = 15.0;
const NOTE_SIZE: f64 = 10.5;
/// Longer names of categories are cut, in narrow pictures those of more than this share of the width, too.
const LONGEST_NAME: f64 = 190.0;
const LONGEST_SHARE: f64 = 0.27;
/// The share for names beside the area, which have a line each.
const LONGEST_SHARE_Y: f64 = 0.36;
/// The steepness of names that do not fit side by side, in degrees.
const SLANT: f64 = 35.0;
/// A panel is no narrower, in pixels, unless the picture is.
const LEAST_PANEL: f64 = 120.0;
/// The height of a panel's name.
const PANEL_NAME: f64 = 26.0;

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
    /// Room behind the area for what is written there, in pixels.
    pub(crate) behind: f64,
    /// Sentences under the picture.
    pub(crate) notes: Vec<String>,
    /// Lines through the area at the ticks of x and of y.
    pub(crate) grid: (bool, bool),
    /// Reference lines over the marks, at these values of x and of y.
    pub(crate) lines: (Vec<f64>, Vec<f64>),
    /// The names of the panels; one area without a name where there are none.
    pub(crate) panels: Vec<String>,
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
    /// Of the panel in which marks are drawn.
    pub(crate) area: Area,
    panels: Vec<Area>,
    /// All panels.
    whole: Area,
    chart: Chart,
}

impl Chart {
    /// Draws everything but the marks.
    pub(crate) fn canvas(self) -> Canvas {
        let mut svg = Svg::default();
        let lines = self.note_lines();
        let right = self.width - 16.0 - self.legend_width() - self.behind;
        let mut area = Area { left: 0.0, right, top: 14.0, bottom: self.height - 10.0 };
        if self.title.is_some() {
            area.top += 26.0;
        }
        area.bottom -= lines.len() as f64 * 14.0 + if lines.is_empty() { 0.0 } else { 4.0 };
        let names_y = self.names(&self.y, LONGEST_SHARE_Y);
        let widest = names_y.iter().map(|(_, name)| text_width(name, TICK_SIZE)).fold(0.0, f64::max);
        area.left = 14.0 + widest + 8.0 + if self.y_name.is_empty() { 0.0 } else { 20.0 };
        let names_x = self.names(&self.x, LONGEST_SHARE);
        let widest = names_x.iter().map(|(_, name)| text_width(name, TICK_SIZE)).fold(0.0, f64::max);
        let (columns, gap) = (self.columns(), self.gap(&names_x));
        let wide = |area: Area| (area.right - area.left - gap * (columns as f64 - 1.0)) / columns as f64;
        let slanted = is_slanted(&self.x, widest, wide(area));
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
            let step = wide(area) / names_x.len() as f64;
            area.left += (first - step / 2.0 - area.left + 6.0).max(0.0);
        } else if self.x.is_continuous() {
            // The last name reaches over the end of the axis.
            area.right -= names_x.last().map_or(0.0, |(_, name)| text_width(name, TICK_SIZE) / 2.0 - 8.0).max(0.0);
        }
        if !self.x_name.is_empty() {
            area.bottom -= 20.0;
        }
        let panels = self.areas(area, gap);
        let mut canvas = Canvas { svg: Svg::default(), area: panels[0], panels, whole: area, chart: self };
        canvas.title(&mut svg);
        if canvas.chart.axes {
            svg.open("class=\"axes\"");
            for panel in 0..canvas.panels.len() {
                canvas.enter(panel);
                canvas.frame(&mut svg, panel, &names_x, &names_y, slanted);
            }
            canvas.axis_names(&mut svg);
            svg.close();
        }
        canvas.enter(0);
        let end = canvas.legend(&mut svg, &canvas.chart.legend, canvas.whole.top + 4.0);
        canvas.legend(&mut svg, &canvas.chart.second, end);
        canvas.notes(&mut svg, &lines);
        canvas.svg = svg;
        canvas
    }

    /// The panels side by side: near a square of them, as far as the width goes.
    fn columns(&self) -> usize {
        let room = self.width - self.legend_width() - 70.0;
        columns(self.panels.len(), (room / LEAST_PANEL).max(1.0) as usize)
    }

    /// The panels below one another.
    pub(crate) fn rows(&self) -> usize {
        self.panels.len().max(1).div_ceil(self.columns())
    }

    /// The pixels between two panels: names at the ends of their axes stand there.
    fn gap(&self, names_x: &[Tick]) -> f64 {
        match (names_x.first(), names_x.last()) {
            (Some(first), Some(last)) if self.x.is_continuous() => {
                let ends = text_width(&first.1, TICK_SIZE) + text_width(&last.1, TICK_SIZE);
                (ends / 2.0 + 8.0).max(14.0)
            }
            _ => 14.0,
        }
    }

    /// The areas of the panels, row by row.
    fn areas(&self, whole: Area, gap: f64) -> Vec<Area> {
        if self.panels.is_empty() {
            return vec![whole];
        }
        let (columns, rows) = (self.columns(), self.rows());
        let wide = (whole.right - whole.left + gap) / columns as f64;
        let high = (whole.bottom - whole.top) / rows as f64;
        (0..self.panels.len())
            .map(|panel| {
                let (column, row) = ((panel % columns) as f64, (panel / columns) as f64);
                let left = whole.left + wide * column;
                let top = whole.top + high * row;
                Area { left, right: left + wide - gap, top: top + PANEL_NAME, bottom: top + high }
            })
            .collect()
    }

    /// The ticks of an axis, their names cut where they are long: at their ends, or in their middles where they are one
    /// name without their ends.
    fn names(&self, scale: &Scale, share: f64) -> Vec<Tick> {
        let ticks = scale.ticks();
        let Scale::Bands(names) = scale else { return ticks };
        let longest = LONGEST_NAME.min(self.width * share);
        let mut cut: Vec<String> = names.iter().map(|name| elided(name, TICK_SIZE, longest)).collect();
        let count = |names: &[String]| names.iter().collect::<HashSet<_>>().len();
        if count(&cut) < count(names) {
            cut = names.iter().map(|name| elided_within(name, TICK_SIZE, longest)).collect();
        }
        ticks.into_iter().zip(cut).map(|((value, _), name)| (value, name)).collect()
    }

    fn longest_name(&self) -> f64 {
        LONGEST_NAME.min(self.width * LONGEST_SHARE)
    }

    fn note_lines(&self) -> Vec<String> {
        self.notes.iter().flat_map(|note| wrapped(note, NOTE_SIZE, self.width - 28.0)).collect()
    }

    fn legend_width(&self) -> f64 {
        let longest = self.longest_name();
        self.legend.width(longest).max(self.second.width(longest))
    }
}

/// The columns of so many panels: near a square of them, and no more than have room.
pub(crate) fn columns(panels: usize, room: usize) -> usize {
    let even = if panels <= 3 { panels } else { (panels as f64).sqrt().ceil() as usize };
    even.clamp(1, room.max(1))
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
    /// Marks are drawn in this panel from now on.
    pub(crate) fn enter(&mut self, panel: usize) {
        self.area = self.panels[panel];
    }

    /// The position of a value or category along x, in pixels.
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.across(self.chart.x.place(value))
    }

    /// The position of a value or category along y, in pixels.
    pub(crate) fn y(&self, value: f64) -> f64 {
        self.up(self.chart.y.place(value))
    }

    pub(crate) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x(x), self.y(y))
    }

    /// The shares of the axes at which a value of x and one of y are, 0 to 1.
    pub(crate) fn places(&self, x: f64, y: f64) -> (f64, f64) {
        (self.chart.x.place(x), self.chart.y.place(y))
    }

    /// The position at a share of x, 0 to 1, in pixels.
    pub(crate) fn across(&self, place: f64) -> f64 {
        self.area.left + place * (self.area.right - self.area.left)
    }

    /// The position at a share of y, 0 to 1, in pixels.
    pub(crate) fn up(&self, place: f64) -> f64 {
        let up = if self.chart.y_from_top { 1.0 - place } else { place };
        self.area.bottom - up * (self.area.bottom - self.area.top)
    }

    /// The document.
    pub(crate) fn finish(mut self, label: &str) -> String {
        for panel in 0..self.panels.len() {
            self.enter(panel);
            self.reference_lines();
        }
        self.svg.document(self.chart.width, self.chart.height, label)
    }

    fn reference_lines(&mut self) {
        let Area { left, right, top, bottom } = self.area;
        let at_x = self.chart.lines.0.iter().map(|&value| (value, (self.x(value), top), (self.x(value), bottom)));
        let at_y = self.chart.lines.1.iter().map(|&value| (value, (left, self.y(value)), (right, self.y(value))));
        for (value, from, to) in at_x.chain(at_y).collect::<Vec<_>>() {
            let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(px);
            let look = format!(
                "class=\"reference\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#222\" \
                 stroke-width=\"1.2\" stroke-dasharray=\"6 4\""
            );
            self.svg.element("line", &look, Some(&value.to_string()));
        }
    }

    fn title(&self, svg: &mut Svg) {
        if let Some(title) = &self.chart.title {
            let title = elided(title, TITLE_SIZE, self.chart.width - 28.0);
            svg.text((14.0, 24.0), Anchor::Start, "font-size=\"15\" font-weight=\"bold\" fill=\"#222\"", &title);
        }
    }

    /// The axes of a panel. Those of y have their names in the first column alone, those of x where no panel is below.
    fn frame(&self, svg: &mut Svg, panel: usize, names_x: &[Tick], names_y: &[Tick], slanted: bool) {
        let Area { left, right, top, bottom } = self.area;
        if let Some(name) = self.chart.panels.get(panel) {
            let name = elided(name, NAME_SIZE, right - left);
            let look = "class=\"panel\" fill=\"#222\"";
            svg.text(((left + right) / 2.0, top - 7.0), Anchor::Middle, look, &name);
        }
        for (value, _) in names_y.iter().filter(|_| self.chart.grid.1) {
            svg.line((left, self.y(*value)), (right, self.y(*value)), GRID);
        }
        for (value, _) in names_x.iter().filter(|_| self.chart.grid.0) {
            svg.line((self.x(*value), top), (self.x(*value), bottom), GRID);
        }
        svg.line((left, bottom), (right, bottom), "stroke=\"#888\" stroke-width=\"1\"");
        svg.open("font-size=\"11\" fill=\"#444\"");
        let columns = self.chart.columns();
        if panel.is_multiple_of(columns) {
            for (value, name) in apart(names_y, &self.chart.y, |value| self.y(value), |_| 12.0) {
                svg.text((left - 8.0, self.y(*value) + 4.0), Anchor::End, "", name);
            }
        }
        if panel + columns >= self.panels.len() {
            let room = |name: &str| if slanted { 13.0 } else { text_width(name, TICK_SIZE) + 8.0 };
            for (value, name) in apart(names_x, &self.chart.x, |value| self.x(value), room) {
                let (x, y) = (self.x(*value), bottom + 16.0);
                if slanted {
                    let turn = format!("transform=\"rotate({} {} {})\"", -SLANT, px(x + 4.0), px(y - 4.0));
                    svg.text((x + 4.0, y - 2.0), Anchor::End, &turn, name);
                } else {
                    svg.text((x, y), Anchor::Middle, "", name);
                }
            }
        }
        svg.close();
    }

    fn axis_names(&self, svg: &mut Svg) {
        let Area { left, right, top, bottom } = self.whole;
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
        legend.draw(svg, (left, top), self.chart.height, self.whole.bottom, self.chart.longest_name())
    }
}

/// The ticks whose names do not touch: all, else of a logarithmic axis the powers of ten, else every second, third, ... with
/// zero among them. `at` is a tick's place and `room` what its name takes along the axis, in pixels.
fn apart<'a>(ticks: &'a [Tick], scale: &Scale, at: impl Fn(f64) -> f64, room: impl Fn(&str) -> f64) -> Vec<&'a Tick> {
    let fit = |kept: &[&Tick]| {
        kept.windows(2).all(|pair| (at(pair[0].0) - at(pair[1].0)).abs() >= (room(&pair[0].1) + room(&pair[1].1)) / 2.0)
    };
    let mut kept: Vec<&Tick> = ticks.iter().collect();
    if fit(&kept) {
        return kept;
    }
    if matches!(scale, Scale::Log { .. }) {
        let is_power = |tick: &&Tick| (tick.0.log10() - tick.0.log10().round()).abs() < 1e-9;
        let powers: Vec<&Tick> = ticks.iter().filter(is_power).collect();
        if powers.len() > 1 {
            kept = powers;
        }
    }
    let zero = kept.iter().position(|tick| tick.0 == 0.0).unwrap_or(0);
    let every = |step: usize| kept.iter().copied().skip(zero % step).step_by(step).collect::<Vec<_>>();
    (1..=kept.len()).map(every).find(|some| fit(some)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ticks_never_touch() {
        let names = |scale: &Scale, wide: f64, room: f64| -> Vec<String> {
            let ticks = scale.ticks();
            let kept = apart(&ticks, scale, |value| scale.place(value) * wide, |_| room);
            kept.into_iter().map(|tick| tick.1.clone()).collect()
        };
        let even = Scale::numbers(-0.4, 0.8);
        assert_eq!(names(&even, 600.0, 40.0).len(), even.ticks().len());
        assert_eq!(names(&even, 200.0, 40.0), ["−0.4", "0", "0.4", "0.8"]);
        assert_eq!(names(&even, 30.0, 40.0), ["0"]);
        let log = Scale::log(1.0, 1000.0);
        assert_eq!(names(&log, 200.0, 40.0), ["1", "10", "100", "1000"]);
        assert_eq!(names(&log, 150.0, 60.0), ["1", "100"]);
        let bands = Scale::Bands((0..10).map(|i| i.to_string()).collect());
        assert_eq!(names(&bands, 100.0, 25.0), ["0", "3", "6", "9"]);
        assert_eq!(names(&Scale::Bands(Vec::new()), 100.0, 25.0), [""; 0]);
    }

    #[test]
    fn panels_are_near_a_square() {
        let found: Vec<usize> = [0, 1, 2, 3, 4, 5, 9, 10].into_iter().map(|panels| columns(panels, 5)).collect();
        assert_eq!(found, [1, 1, 2, 3, 2, 3, 3, 4]);
        assert_eq!(columns(6, 2), 2);
    }
}
