//! Bars: a name a bar, side by side for each colour; lying where the names need the room. Without a column of numbers, a
//! bar is the number of rows of its name.

use std::collections::BTreeMap;

use super::spans::{Spans, error_bar};
use super::{Drawn, HEIGHT, WIDTH, chart, divide, finish, name_axes, panels, range, title};
use crate::chart::{is_slanted, widest_name};
use crate::error::PictureError;
use crate::legend::Legend;
use crate::palette::{self, MOST_GROUPS};
use crate::plan::{Groups, Plan};
use crate::scale::{self, Scale};
use crate::svg::Anchor;
use crate::text;

/// More bars are thinner than a pixel or higher than a page.
const MOST: usize = 500;

/// A bar is no wider, however few there are.
const WIDEST: f64 = 90.0;

/// The ink of error bars, on bars and on the page.
const DARK: &str = "#222";

struct Bar {
    panel: usize,
    category: usize,
    group: usize,
    value: f64,
    /// The ends of its error bar.
    span: Option<(f64, f64)>,
    title: String,
}

impl Bar {
    /// What no two bars have in common.
    fn place(&self) -> (usize, usize, usize) {
        (self.panel, self.category, self.group)
    }

    /// The value and the ends of the error bar.
    fn ends(&self) -> impl Iterator<Item = f64> {
        [Some(self.value), self.span.map(|span| span.0), self.span.map(|span| span.1)].into_iter().flatten()
    }
}

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let Some(x) = plan.x else { unreachable!("bars have an x") };
    let columns: Vec<_> = [Some(x), plan.y].into_iter().flatten().collect();
    let (rows, mut notes) = plan.complete_rows(&columns);
    let spans = Spans::new(plan, &rows, &mut notes)?;
    let panels = panels(plan, &rows)?;
    let names = Groups::new(Some(x), &rows);
    let color = plan.color.filter(|color| !std::ptr::eq(*color, x));
    let (groups, note) = Groups::new(color, &rows).folded(MOST_GROUPS);
    notes.extend(note);
    let mut bars: Vec<Bar> = match plan.y.and_then(|y| y.numbers()) {
        Some(values) => rows
            .iter()
            .enumerate()
            .map(|(i, &row)| Bar {
                panel: panels.of[i],
                category: names.of[i],
                group: groups.of[i],
                value: values[row],
                span: spans.as_ref().and_then(|spans| spans.of(row)),
                title: title(row, &[Some(x), color, plan.facet, plan.y, plan.ymin, plan.ymax]),
            })
            .collect(),
        None => counts(plan, &panels, &names, &groups),
    };
    if bars.len() > MOST {
        let advice = "take the first by ORDER BY and LIMIT, or draw KIND histogram";
        return Err(PictureError::TooMany { kind: plan.kind, found: bars.len(), what: "bars", most: MOST, advice });
    }
    bars.sort_by_key(Bar::place);
    if let Some(pair) = bars.windows(2).find(|pair| pair[0].place() == pair[1].place()) {
        let parts: Vec<&str> = [Some(x), color, plan.facet].into_iter().flatten().map(|c| c.name.as_str()).collect();
        let advice = "tell them apart by COLOR, or draw KIND boxes";
        let example = format!("`{}`", names.names[pair[0].category]);
        return Err(PictureError::Repeated { kind: plan.kind, what: parts.join(" and "), example, advice });
    }

    // Where no name has two bars, a colour needs no place of its own.
    let alone = bars.windows(2).all(|pair| (pair[0].panel, pair[0].category) != (pair[1].panel, pair[1].category));
    let slots = if alone { 1 } else { groups.names.len() };

    let (min, max) = range(bars.iter().flat_map(Bar::ends).chain(plan.request.y_lines.iter().copied()));
    let values = Scale::numbers(min.min(0.0), if max > 0.0 || min < 0.0 { max.max(0.0) } else { 1.0 });
    let categories = Scale::Bands(names.names.clone());
    let value_name = plan.y.map_or("count", |y| &y.name);
    let room = plan.request.width.map_or(WIDTH, f64::from) - 160.0;
    let lying = is_slanted(&categories, widest_name(&names.names), room);
    let mut layout = if lying {
        let thick = if slots > 1 { 12.0 * slots as f64 + 8.0 } else { 22.0 };
        let mut layout = chart(plan, values, categories);
        layout.height =
            plan.request.height.map_or((names.names.len() as f64 * thick + 90.0).max(HEIGHT / 2.0), f64::from);
        layout.y_from_top = true;
        layout.grid = (true, false);
        // The options name axes by their parts: x has the names, wherever they stand.
        name_axes(&mut layout, plan, plan.request.x_label.as_deref().unwrap_or_default(), value_name);
        std::mem::swap(&mut layout.x_name, &mut layout.y_name);
        layout.lines = (plan.request.y_lines.clone(), Vec::new());
        layout
    } else {
        let mut layout = chart(plan, categories, values);
        name_axes(&mut layout, plan, &x.name, value_name);
        layout
    };
    layout.legend = color.map_or(Legend::None, |color| Legend::of_groups(&color.name, &groups.names));
    layout.notes.clone_from(&notes);
    if lying && max > 0.0 {
        // Behind the longest bar stands its number.
        layout.behind = bars.iter().map(|bar| label(bar).1).fold(0.0, f64::max);
    }
    divide(&mut layout, plan, &panels)?;
    let mut canvas = layout.canvas();

    let share = 0.8 / slots as f64;
    let single = slots == 1;
    for bar in &bars {
        canvas.enter(bar.panel);
        let value = bar.value;
        let from = bar.category as f64 - 0.4 + if single { 0.0 } else { share * bar.group as f64 };
        let (from, to) = (from + share * 0.04, from + share * 0.96);
        let fill = format!("class=\"mark\" fill=\"{}\"", palette::group(bar.group));
        let (label, size) = label(bar);
        // Numbers stand beyond the error bar.
        let outermost = bar.ends().fold(value, if value < 0.0 { f64::min } else { f64::max });
        if lying {
            let (a, b) = (canvas.at(0.0, from), canvas.at(value, to));
            canvas.svg.rect(a, b, &fill, Some(&bar.title));
            let (middle, end) = ((a.1 + b.1) / 2.0, canvas.x(outermost));
            let thick = (a.1 - b.1).abs();
            if let Some((low, high)) = bar.span {
                let ends = ((canvas.x(low), middle), (canvas.x(high), middle));
                error_bar(&mut canvas, ends.0, ends.1, (thick / 4.0).min(4.0), DARK);
            }
            if thick >= 10.0 {
                // Left of the axis are the names.
                let beyond = value < 0.0 && end - 4.0 - size < canvas.area.left;
                let (x, anchor, ink) = match value < 0.0 {
                    true if beyond && a.0 - b.0 > size + 8.0 && bar.span.is_none() => {
                        (b.0 + 4.0, Anchor::Start, "font-size=\"10.5\" fill=\"#fff\"")
                    }
                    true if beyond => {
                        (canvas.x(bar.ends().fold(0.0, f64::max)) + 4.0, Anchor::Start, "font-size=\"10.5\"")
                    }
                    true => (end - 4.0, Anchor::End, "font-size=\"10.5\""),
                    false => (end + 4.0, Anchor::Start, "font-size=\"10.5\""),
                };
                canvas.svg.text((x, middle + 3.5), anchor, ink, &label);
            }
        } else {
            let (mut a, mut b) = (canvas.at(from, 0.0), canvas.at(to, value));
            if single && b.0 - a.0 > WIDEST {
                let middle = (a.0 + b.0) / 2.0;
                (a.0, b.0) = (middle - WIDEST / 2.0, middle + WIDEST / 2.0);
            }
            canvas.svg.rect(a, b, &fill, Some(&bar.title));
            let (middle, wide) = ((a.0 + b.0) / 2.0, (a.0 - b.0).abs());
            if let Some((low, high)) = bar.span {
                let ends = ((middle, canvas.y(low)), (middle, canvas.y(high)));
                error_bar(&mut canvas, ends.0, ends.1, (wide / 4.0).min(5.0), DARK);
            }
            if single && wide >= size {
                let y = canvas.y(outermost) + if value < 0.0 { 12.0 } else { -4.0 };
                canvas.svg.text((middle, y), Anchor::Middle, "font-size=\"10.5\"", &label);
            }
        }
    }
    if min < 0.0 {
        for panel in 0..panels.names.len() {
            canvas.enter(panel);
            let (a, b) = if lying {
                ((canvas.x(0.0), canvas.area.top), (canvas.x(0.0), canvas.area.bottom))
            } else {
                ((canvas.area.left, canvas.y(0.0)), (canvas.area.right, canvas.y(0.0)))
            };
            canvas.svg.line(a, b, "stroke=\"#888\"");
        }
    }
    Ok(finish(plan, canvas, notes))
}

/// The number that stands at a bar, and its width in pixels.
fn label(bar: &Bar) -> (String, f64) {
    let label = scale::short(bar.value);
    let size = text::width(&label, 10.5);
    (label, size)
}

/// A bar for each panel, name and colour that have rows, as long as they are many.
fn counts(plan: &Plan, panels: &Groups, names: &Groups, groups: &Groups) -> Vec<Bar> {
    let mut counts: BTreeMap<(usize, usize, usize), u64> = BTreeMap::new();
    for ((&panel, &category), &group) in panels.of.iter().zip(&names.of).zip(&groups.of) {
        *counts.entry((panel, category, group)).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|((panel, category, group), count)| {
            let x = plan.x.map(|x| format!("{}: {}", x.name, names.names[category]));
            let color = plan.color.filter(|color| plan.x.is_none_or(|x| !std::ptr::eq(*color, x)));
            let color = color.map(|color| format!("{}: {}", color.name, groups.names[group]));
            let facet = plan.facet.map(|facet| format!("{}: {}", facet.name, panels.names[panel]));
            let lines = [x, color, facet, Some(format!("count: {count}"))];
            let title = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
            Bar { panel, category, group, value: count as f64, span: None, title }
        })
        .collect()
}
