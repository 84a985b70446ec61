//! Boxes: the quartiles of each group, whiskers to the outermost values within 1.5 times their distance, and the values
//! beyond as points (Tukey 1977).

use super::{Drawn, chart, divide, finish, name_axes, panels, scale_y};
use crate::chart::Canvas;
use crate::error::PictureError;
use crate::legend::Legend;
use crate::palette::{self, MOST_GROUPS};
use crate::plan::{Groups, Plan};
use crate::scale::Scale;

/// More boxes in a panel are too narrow to see.
const MOST: usize = 200;

/// More outliers of one box are drawn as the outermost alone.
const MOST_OUTLIERS: usize = 500;

/// The summary of its values that a box shows.
struct Summary {
    least: f64,
    low_whisker: f64,
    quartiles: [f64; 3],
    high_whisker: f64,
    most: f64,
    outliers: Vec<f64>,
    /// Whether there are more outliers than these.
    cut: bool,
}

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let Some(y) = plan.y else { unreachable!("boxes have a y") };
    let columns: Vec<_> = [plan.x, Some(y)].into_iter().flatten().collect();
    let (rows, mut notes) = plan.complete_rows(&columns);
    let ys = y.numbers().unwrap_or_default();
    let names = Groups::new(plan.x, &rows);
    let color = plan.color.filter(|color| plan.x.is_none_or(|x| !std::ptr::eq(*color, x)));
    let (groups, note) = Groups::new(color, &rows).folded(MOST_GROUPS);
    notes.extend(note);
    let panels = panels(plan, &rows)?;
    let (categories, colors) = (names.names.len(), groups.names.len());
    let found = categories * colors;
    if found > MOST {
        let advice = "name another column by X, or select fewer groups";
        return Err(PictureError::TooMany { kind: plan.kind, found, what: "boxes", most: MOST, advice });
    }
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); panels.names.len() * found];
    for (i, &row) in rows.iter().enumerate() {
        values[(panels.of[i] * categories + names.of[i]) * colors + groups.of[i]].push(ys[row]);
    }
    let mut boxes = Vec::new();
    for (place, values) in values.iter_mut().enumerate().filter(|(_, values)| !values.is_empty()) {
        boxes.push((place, values.len(), summary(values)));
    }
    let cut = boxes.iter().filter(|(_, _, summary)| summary.cut).count();
    if cut > 0 {
        let boxes = if cut == 1 { "1 box".to_owned() } else { format!("{cut} boxes") };
        notes.push(format!("Of {boxes} with more than {MOST_OUTLIERS} outliers the least and the most are drawn."));
    }

    let mut layout = chart(plan, Scale::Bands(names.names.clone()), scale_y(plan, y, &rows));
    name_axes(&mut layout, plan, plan.x.map_or("", |x| &x.name), &y.name);
    layout.legend = color.map_or(Legend::None, |color| Legend::of_groups(&color.name, &groups.names));
    layout.notes.clone_from(&notes);
    divide(&mut layout, plan, &panels)?;
    let mut canvas = layout.canvas();
    let share = 0.8 / colors as f64;
    for (place, count, summary) in &boxes {
        let (panel, category, group) = (place / colors / categories, place / colors % categories, place % colors);
        canvas.enter(panel);
        let middle = category as f64 - 0.4 + share * (group as f64 + 0.5);
        let mut title = Vec::new();
        title.extend(plan.x.map(|x| format!("{}: {}", x.name, names.names[category])));
        title.extend(color.map(|color| format!("{}: {}", color.name, groups.names[group])));
        title.extend(plan.facet.map(|facet| format!("{}: {}", facet.name, panels.names[panel])));
        let Summary { least, quartiles: [q1, median, q3], most, .. } = summary;
        title.push(format!("{} of {count} rows", y.name));
        title.push(format!(
            "least: {least}\nfirst quartile: {q1}\nmedian: {median}\nthird quartile: {q3}\nmost: {most}"
        ));
        draw_box(&mut canvas, middle, share * 0.78, &palette::group(group), summary, &title.join("\n"));
    }
    Ok(finish(plan, canvas, notes))
}

fn draw_box(canvas: &mut Canvas, middle: f64, share: f64, color: &str, summary: &Summary, title: &str) {
    let x = canvas.x(middle);
    // A box is no wider than this, however few there are.
    let half = ((canvas.x(middle + share / 2.0) - x).abs()).min(36.0);
    let [q1, median, q3] = summary.quartiles.map(|value| canvas.y(value));
    let (low, high) = (canvas.y(summary.low_whisker), canvas.y(summary.high_whisker));
    let stroke = format!("stroke=\"{color}\" stroke-width=\"1.5\"");
    for (from, to) in [(q1, low), (q3, high)] {
        canvas.svg.line((x, from), (x, to), &stroke);
        canvas.svg.line((x - half / 2.0, to), (x + half / 2.0, to), &stroke);
    }
    let look = format!("class=\"mark\" fill=\"{color}\" fill-opacity=\"0.25\" {stroke}");
    canvas.svg.rect((x - half, q1), (x + half, q3), &look, Some(title));
    canvas.svg.line((x - half, median), (x + half, median), &format!("stroke=\"{color}\" stroke-width=\"2.5\""));
    for value in &summary.outliers {
        let look = format!("class=\"outlier\" fill=\"{color}\" fill-opacity=\"0.6\"");
        canvas.svg.circle((x, canvas.y(*value)), 2.2, &look, Some(&value.to_string()));
    }
}

fn summary(values: &mut [f64]) -> Summary {
    values.sort_by(f64::total_cmp);
    let quartiles = [0.25, 0.5, 0.75].map(|share| quantile(values, share));
    let reach = 1.5 * (quartiles[2] - quartiles[0]);
    let inside = |value: &f64| (quartiles[0] - reach..=quartiles[2] + reach).contains(value);
    let (least, most) = (values[0], values[values.len() - 1]);
    let whisker = |found: Option<&f64>, other: f64| found.copied().unwrap_or(other);
    let mut outliers: Vec<f64> = values.iter().copied().filter(|value| !inside(value)).collect();
    let cut = outliers.len() > MOST_OUTLIERS;
    if cut {
        outliers = vec![least, most];
        outliers.retain(|value| !inside(value));
    }
    Summary {
        least,
        low_whisker: whisker(values.iter().find(|value| inside(value)), least),
        quartiles,
        high_whisker: whisker(values.iter().rev().find(|value| inside(value)), most),
        most,
        outliers,
        cut,
    }
}

/// The value below which this share of sorted values lies, between two values in proportion (as SQL's
/// `percentile_cont`).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let low = place.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_and_whiskers_are_tukeys() {
        // numpy.percentile of the same values: 2.25, 4.5, 6.75; 1.5 times the distance reaches to 13.5.
        let summary = summary(&mut [9.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 20.0]);
        assert_eq!(summary.quartiles, [2.25, 4.5, 6.75]);
        assert_eq!((summary.least, summary.low_whisker), (0.0, 0.0));
        assert_eq!((summary.high_whisker, summary.most, summary.outliers), (9.0, 20.0, vec![20.0]));
        assert_eq!(super::summary(&mut [7.0]).quartiles, [7.0; 3]);
    }
}
