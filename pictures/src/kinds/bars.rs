//! Bars: a name a bar, side by side for each colour; lying where the names need the room. Without a column of numbers, a
//! bar is the number of rows of its name.

use super::{Drawn, HEIGHT, chart, finish, range, title};
use crate::chart::{self, Legend, is_slanted, widest_name};
use crate::error::PictureError;
use crate::palette::{self, MOST_GROUPS};
use crate::plan::{Groups, Plan};
use crate::scale::{self, Scale};
use crate::svg::Anchor;
use crate::text;

/// More bars are thinner than a pixel or higher than a page.
const MOST: usize = 500;

/// A bar is no wider, however few there are.
const WIDEST: f64 = 90.0;

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let Some(x) = plan.x else { unreachable!("bars have an x") };
    let columns: Vec<_> = [Some(x), plan.y].into_iter().flatten().collect();
    let (rows, mut notes) = plan.complete_rows(&columns);
    let names = Groups::new(Some(x), &rows);
    let color = plan.color.filter(|color| !std::ptr::eq(*color, x));
    let (groups, note) = Groups::new(color, &rows).folded(MOST_GROUPS);
    notes.extend(note);
    // Category, group, value, title.
    let mut bars: Vec<(usize, usize, f64, String)> = match plan.y.and_then(|y| y.numbers()) {
        Some(values) => rows
            .iter()
            .enumerate()
            .map(|(i, &row)| (names.of[i], groups.of[i], values[row], title(row, &[Some(x), color, plan.y])))
            .collect(),
        None => counts(&names, &groups, &x.name, color.map(|color| color.name.as_str())),
    };
    if bars.len() > MOST {
        let advice = "take the first by ORDER BY and LIMIT, or draw KIND histogram";
        return Err(PictureError::TooMany { kind: plan.kind, found: bars.len(), what: "bars", most: MOST, advice });
    }
    bars.sort_by_key(|bar| (bar.0, bar.1));
    if let Some(pair) = bars.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
        let what = color.map_or(x.name.clone(), |color| format!("{} and {}", x.name, color.name));
        let advice = "tell them apart by COLOR, or draw KIND boxes";
        let example = format!("`{}`", names.names[pair[0].0]);
        return Err(PictureError::Repeated { kind: plan.kind, what, example, advice });
    }

    // Where no name has two bars, a colour needs no place of its own.
    let alone = bars.windows(2).all(|pair| pair[0].0 != pair[1].0);
    let slots = if alone { 1 } else { groups.names.len() };

    let (min, max) = range(bars.iter().map(|bar| bar.2));
    let values = Scale::numbers(min.min(0.0), if max > 0.0 || min < 0.0 { max.max(0.0) } else { 1.0 });
    let categories = Scale::Bands(names.names.clone());
    let value_name = plan.y.map_or("rows".to_owned(), |y| y.name.clone());
    let lying = is_slanted(&categories, widest_name(&names.names), 560.0);
    let mut layout = if lying {
        let thick = if slots > 1 { 12.0 * slots as f64 + 8.0 } else { 22.0 };
        let mut layout = chart(plan, values, categories);
        layout.height =
            plan.request.height.map_or((names.names.len() as f64 * thick + 90.0).max(HEIGHT / 2.0), f64::from);
        layout.y_from_top = true;
        layout.grid = (true, false);
        layout.x_name = value_name;
        layout
    } else {
        let mut layout = chart(plan, categories, values);
        (layout.x_name, layout.y_name) = (x.name.clone(), value_name);
        layout
    };
    layout.legend = color.map_or(Legend::None, |color| chart::keys(&color.name, &groups.names));
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();

    let share = 0.8 / slots as f64;
    let single = slots == 1;
    for (category, group, value, title) in &bars {
        let from = *category as f64 - 0.4 + if single { 0.0 } else { share * *group as f64 };
        let (from, to) = (from + share * 0.04, from + share * 0.96);
        let fill = format!("class=\"mark\" fill=\"{}\"", palette::group(*group));
        let label = scale::short(*value);
        let size = text::width(&label, 10.5);
        if lying {
            let (a, b) = (canvas.at(0.0, from), canvas.at(*value, to));
            canvas.svg.rect(a, b, &fill, Some(title));
            if (a.1 - b.1).abs() >= 10.0 {
                let (x, anchor, ink) = match *value < 0.0 {
                    // Left of the axis are the names.
                    true if b.0 - 4.0 - size < canvas.area.left && a.0 - b.0 > size + 8.0 => {
                        (b.0 + 4.0, Anchor::Start, "font-size=\"10.5\" fill=\"#fff\"")
                    }
                    true => (b.0 - 4.0, Anchor::End, "font-size=\"10.5\""),
                    false => (b.0 + 4.0, Anchor::Start, "font-size=\"10.5\""),
                };
                canvas.svg.text((x, (a.1 + b.1) / 2.0 + 3.5), anchor, ink, &label);
            }
        } else {
            let (mut a, mut b) = (canvas.at(from, 0.0), canvas.at(to, *value));
            if single && b.0 - a.0 > WIDEST {
                let middle = (a.0 + b.0) / 2.0;
                (a.0, b.0) = (middle - WIDEST / 2.0, middle + WIDEST / 2.0);
            }
            canvas.svg.rect(a, b, &fill, Some(title));
            if single && (a.0 - b.0).abs() >= size {
                let y = if *value < 0.0 { b.1 + 12.0 } else { b.1 - 4.0 };
                canvas.svg.text(((a.0 + b.0) / 2.0, y), Anchor::Middle, "font-size=\"10.5\"", &label);
            }
        }
    }
    if min < 0.0 {
        let (a, b) = if lying {
            ((canvas.x(0.0), canvas.area.top), (canvas.x(0.0), canvas.area.bottom))
        } else {
            ((canvas.area.left, canvas.y(0.0)), (canvas.area.right, canvas.y(0.0)))
        };
        canvas.svg.line(a, b, "stroke=\"#888\"");
    }
    Ok(finish(plan, canvas, notes))
}

fn counts(names: &Groups, groups: &Groups, name: &str, color: Option<&str>) -> Vec<(usize, usize, f64, String)> {
    let mut counts = vec![0_u64; names.names.len() * groups.names.len()];
    for (&category, &group) in names.of.iter().zip(&groups.of) {
        counts[category * groups.names.len() + group] += 1;
    }
    let counted = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
    counted
        .map(|(place, count)| {
            let (category, group) = (place / groups.names.len(), place % groups.names.len());
            let color = color.map_or(String::new(), |color| format!("\n{color}: {}", groups.names[group]));
            (category, group, count as f64, format!("{name}: {}{color}\nrows: {count}", names.names[category]))
        })
        .collect()
}
