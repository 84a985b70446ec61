//! Critical-difference diagram: the mean ranks of models over data sets, and bars over those that the test of Nemenyi does
//! not tell apart at 5 % (Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", 2006).

use bonnet_graph::Unmonitored;
use bonnet_ranking::{critical_difference, friedman_test};

use super::{Drawn, label};
use crate::error::PictureError;
use crate::palette;
use crate::plan::{Groups, Plan};
use crate::scale::short;
use crate::svg::{Anchor, Svg};
use crate::text::{elided, width};

/// The significance of the critical difference.
const ALPHA: f64 = 0.05;
/// The models that a diagram has room for.
const MOST: usize = 20;

/// The mean ranks of models over items.
#[derive(Debug, Clone, PartialEq)]
struct Ranks {
    /// Of each model; 1 is the best.
    means: Vec<f64>,
    /// The items in which every model has a value.
    items: usize,
    /// Friedman's statistic; `None` where every item is one tie.
    friedman: Option<f64>,
}

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let (Some(x), Some(y), Some(color)) = (plan.x, plan.y, plan.color) else { unreachable!("it has all three") };
    let (rows, mut notes) = plan.complete_rows(&[x, y, color]);
    let (items, models) = (Groups::new(Some(x), &rows), Groups::new(Some(color), &rows));
    let values = y.numbers().unwrap_or_default();
    let (k, wrong) = (models.names.len(), |what: String| Err(PictureError::Rows { kind: plan.kind, what }));
    if !(2..=MOST).contains(&k) {
        return wrong(format!("{} has {k} values; give from 2 to {MOST}", color.name));
    }
    let mut table: Vec<Vec<Option<f64>>> = vec![vec![None; k]; items.names.len()];
    for (i, &row) in rows.iter().enumerate() {
        if table[items.of[i]][models.of[i]].replace(values[row]).is_some() {
            let what = format!("{} and {}", x.name, color.name);
            let example = format!("`{}`, `{}`", items.names[items.of[i]], models.names[models.of[i]]);
            return Err(PictureError::Repeated { kind: plan.kind, what, example, advice: "for instance by avg" });
        }
    }
    let whole: Vec<Vec<f64>> = table.into_iter().filter_map(|values| values.into_iter().collect()).collect();
    if whole.len() < items.names.len() {
        let left = items.names.len() - whole.len();
        notes.push(format!("Left out: {left} of {} {} that lack a {}.", items.names.len(), x.name, color.name));
    }
    if whole.len() < 2 {
        return wrong(format!("{} of {} have every {}; 2 are needed", whole.len(), x.name, color.name));
    }
    let ranks = ranks(&whole);
    let critical = critical_difference(k, ranks.items, ALPHA);
    notes.push(format!(
        "Mean ranks by {} over {} values of {}, the most first; Friedman's statistic {} with {} degrees of freedom. Bars join what differs \
         by less than the critical difference at 5 %.",
        y.name,
        ranks.items,
        x.name,
        ranks.friedman.map_or("undefined".to_owned(), short),
        k - 1
    ));
    Ok((svg(plan, &models.names, &ranks, critical, &notes), notes))
}

/// Ranks within each item, the most first, equal values sharing the mean of their ranks; and Friedman's statistic, corrected for ties.
fn ranks(table: &[Vec<f64>]) -> Ranks {
    let models = table.first().map_or(1, Vec::len);
    match friedman_test(&table.concat(), models, &Unmonitored) {
        Ok(found) => Ranks { means: found.mean_ranks, items: found.n, friedman: found.statistic },
        Err(_) => unreachable!("a test that nobody watches is not stopped"),
    }
}

/// The longest runs of sorted mean ranks that span less than the critical difference, as positions in the order.
fn cliques(sorted: &[f64], critical: f64) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for from in 0..sorted.len() {
        let to = (from..sorted.len()).rev().find(|&to| sorted[to] - sorted[from] < critical).unwrap_or(from);
        if to > from && runs.last().is_none_or(|run| to > run.1) {
            runs.push((from, to));
        }
    }
    runs
}

fn svg(plan: &Plan, names: &[String], ranks: &Ranks, critical: f64, notes: &[String]) -> String {
    let k = names.len();
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| ranks.means[a].total_cmp(&ranks.means[b]).then(a.cmp(&b)));
    let sorted: Vec<f64> = order.iter().map(|&model| ranks.means[model]).collect();
    let runs = cliques(&sorted, critical);
    let full = plan.request.width.map_or(720.0, f64::from);
    let side = names.iter().map(|name| width(&elided(name, 12.0, 160.0), 12.0)).fold(0.0, f64::max) + 60.0;
    let left = side;
    // The pixels of a rank: the axis ends before the names, and the critical difference, from its beginning, in the picture.
    let unit = ((full - 2.0 * side) / (k as f64 - 1.0)).min((full - 14.0 - left) / critical);
    let x = |rank: f64| left + (rank - 1.0) * unit;
    let right = x(k as f64);
    let head = if plan.request.title.is_some() { 30.0 } else { 4.0 };
    let axis = head + 62.0;
    let half = k.div_ceil(2);
    let first = axis + 22.0 + 9.0 * runs.len() as f64;
    let lines: Vec<String> = notes.iter().flat_map(|note| crate::text::wrapped(note, 10.5, full - 28.0)).collect();
    let height = first + 22.0 * half as f64 + 14.0 * lines.len() as f64 + 10.0;
    let mut svg = Svg::default();
    if let Some(title) = &plan.request.title {
        let look = "font-size=\"15\" font-weight=\"bold\" fill=\"#222\"";
        svg.text((14.0, 24.0), Anchor::Start, look, &elided(title, 15.0, full - 28.0));
    }
    let dark = "stroke=\"#333\" stroke-width=\"1.5\"";
    // The critical difference to scale.
    let (from, to) = (x(1.0), x(1.0 + critical));
    let y = head + 24.0;
    svg.line((from, y), (to, y), &format!("class=\"critical\" {dark}"));
    [from, to].iter().for_each(|&end| svg.line((end, y - 4.0), (end, y + 4.0), dark));
    let named = format!("critical difference {}", short(critical));
    let anchor = if width(&named, 11.0) > to - from { Anchor::Start } else { Anchor::Middle };
    let place = if anchor == Anchor::Start { from } else { (from + to) / 2.0 };
    svg.text((place, y - 8.0), anchor, "font-size=\"11\"", &named);
    svg.line((left, axis), (right, axis), dark);
    for rank in 1..=k {
        let place = x(rank as f64);
        svg.line((place, axis - 6.0), (place, axis), dark);
        svg.text((place, axis - 10.0), Anchor::Middle, "font-size=\"11\"", &rank.to_string());
    }
    for (i, &(from, to)) in runs.iter().enumerate() {
        let y = axis + 12.0 + 9.0 * i as f64;
        let ends = ((x(sorted[from]) - 3.0, y), (x(sorted[to]) + 3.0, y));
        svg.line(ends.0, ends.1, "class=\"clique\" stroke=\"#333\" stroke-width=\"4\"");
    }
    for (place, &model) in order.iter().enumerate() {
        let rank = ranks.means[model];
        let is_left = place < half;
        // The outermost name is the highest.
        let row = if is_left { place } else { k - 1 - place };
        let y = first + 10.0 + 22.0 * row as f64;
        let (end, anchor) = if is_left { (left - 10.0, Anchor::End) } else { (right + 10.0, Anchor::Start) };
        let color = palette::group(model);
        let stroke = format!("stroke=\"{color}\" stroke-width=\"1.5\"");
        svg.polyline(&[(x(rank), axis), (x(rank), y), (end, y)], &stroke);
        let title = format!("{}\nmean rank: {rank}", names[model]);
        svg.circle((x(rank), axis), 4.0, &format!("class=\"mark\" fill=\"{color}\""), Some(&title));
        let name = elided(&names[model], 12.0, 160.0);
        let text = if is_left { format!("{}  {name}", short(rank)) } else { format!("{name}  {}", short(rank)) };
        let beyond = if is_left { end - 4.0 } else { end + 4.0 };
        svg.text((beyond, y + 4.0), anchor, "font-size=\"12\"", &text);
    }
    for (i, line) in lines.iter().rev().enumerate() {
        svg.text((14.0, height - 8.0 - 14.0 * i as f64), Anchor::Start, "font-size=\"10.5\" fill=\"#777\"", line);
    }
    svg.document(full, height, &label(plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_friedmans_statistic_are_those_of_scipy() {
        let table = [vec![0.9, 0.8, 0.7], vec![0.6, 0.65, 0.5], vec![0.7, 0.6, 0.4], vec![0.8, 0.7, 0.6]];
        let found = ranks(&table);
        assert_eq!(found.means, [1.25, 1.75, 3.0]);
        // scipy.stats.friedmanchisquare of the columns: 6.5.
        assert!((found.friedman.unwrap() - 6.5).abs() < 1e-12, "{:?}", found.friedman);
        assert_eq!(ranks(&[vec![1.0, 1.0, 0.0], vec![1.0, 1.0, 0.0]]).means, [1.5, 1.5, 3.0]);
    }

    #[test]
    fn bars_join_the_longest_runs_alone() {
        assert_eq!(cliques(&[1.0, 1.4, 2.2, 3.5, 3.6], 1.25), [(0, 2), (3, 4)]);
        assert_eq!(cliques(&[1.0, 1.4, 2.2, 3.5, 3.6], 1.35), [(0, 2), (2, 3), (3, 4)]);
        assert_eq!(cliques(&[1.0, 3.0], 1.0), []);
    }
}
