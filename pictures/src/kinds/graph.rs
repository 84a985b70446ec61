//! A drawing of a graph: rows with both ends are edges, rows with one end alone are nodes, so that nodes have colours and
//! isolated ones are there.

use std::collections::HashMap;

use super::points::Colors;
use super::{Drawn, chart, finish, range, title};
use crate::chart::Chart;
use crate::error::PictureError;
use crate::layout::{apart, forces};
use crate::legend::Legend;
use crate::palette;
use crate::plan::{Groups, Plan};
use crate::scale::Scale;
use crate::svg::Anchor;
use crate::text::{elided, width};

/// More nodes take too long to place, and lie over one another.
const MOST_NODES: usize = 3000;

/// More edges are a blot.
const MOST_EDGES: usize = 30_000;

/// Up to so many nodes are named.
const MOST_NAMES: usize = 60;

/// A chart without axes.
pub(super) fn plain(plan: &Plan) -> Chart {
    let nothing = Scale::Even { min: 0.0, max: 1.0, ticks: Vec::new() };
    let mut layout = chart(plan, nothing.clone(), nothing);
    layout.axes = false;
    layout.width = plan.request.width.map_or(640.0, f64::from);
    layout.height = plan.request.height.map_or(520.0, f64::from);
    layout
}

/// Nodes by what they are called, whichever end they are at.
#[derive(Default)]
struct Nodes {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Nodes {
    fn number(&mut self, name: String) -> usize {
        if let Some(&number) = self.numbers.get(&name) {
            return number;
        }
        self.numbers.insert(name.clone(), self.names.len());
        self.names.push(name);
        self.names.len() - 1
    }
}

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let (Some(x), Some(y)) = (plan.x, plan.y) else { unreachable!("a graph has src and dst") };
    let mut ends = Nodes::default();
    let (mut edges, mut edge_rows, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
    let mut left = 0;
    for row in 0..plan.rows {
        match (x.is_there(row), y.is_there(row)) {
            (true, true) => {
                edges.push((ends.number(x.text(row)), ends.number(y.text(row))));
                edge_rows.push(row);
            }
            (true, false) => nodes.push((ends.number(x.text(row)), row)),
            (false, true) => nodes.push((ends.number(y.text(row)), row)),
            (false, false) => left += 1,
        }
        let (found, most, what) = if ends.names.len() > MOST_NODES {
            (ends.names.len(), MOST_NODES, "nodes")
        } else {
            (edges.len(), MOST_EDGES, "edges")
        };
        if found > most {
            let advice = "draw a part of the graph, say a neighbourhood or a component";
            return Err(PictureError::TooMany { kind: plan.kind, found, what, most, advice });
        }
    }
    let names = ends.names;
    let mut notes = Vec::new();
    if left > 0 {
        notes.push(format!("Left out: {left} rows without {} and {}.", x.name, y.name));
    }
    let places = forces::<2>(names.len(), &edges, plan.request.seed);

    let edge_colors = Colors::new(plan.color.filter(|_| !edge_rows.is_empty()), &edge_rows, &mut notes).of_lines();
    let node_rows: Vec<usize> = nodes.iter().map(|(_, row)| *row).collect();
    let node_colors = Colors::new(plan.node_color, &node_rows, &mut notes);
    let mut color_of = vec![None; names.len()];
    nodes.iter().enumerate().for_each(|(i, &(node, row))| color_of[node] = Some((node_colors.of(i), row)));
    let mut layout = plain(plan);
    (layout.legend, layout.second) = match (node_colors.legend(), edge_colors.legend()) {
        (Legend::None, edges) => (edges, Legend::None),
        (nodes, edges) => (nodes, edges),
    };
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    // The same scale along both axes, the middle in the middle.
    let area = canvas.area;
    let (min_x, max_x) = range(places.iter().map(|place| place[0]));
    let (min_y, max_y) = range(places.iter().map(|place| place[1]));
    let (wide, high) = (area.right - area.left - 30.0, area.bottom - area.top - 30.0);
    let scale = (wide / (max_x - min_x).max(1e-9)).min(high / (max_y - min_y).max(1e-9)).min(90.0);
    let place = |[x, y]: [f64; 2]| {
        let (wide, high) = ((area.right - area.left) / 2.0, (area.bottom - area.top) / 2.0);
        (wide + (x - (min_x + max_x) / 2.0) * scale, high - (y - (min_y + max_y) / 2.0) * scale)
    };
    let mut degrees = vec![0_u32; names.len()];
    edges.iter().for_each(|&(a, b)| [a, b].into_iter().for_each(|node| degrees[node] += 1));
    let most = degrees.iter().copied().max().unwrap_or(1).max(1);
    let base = (160.0 / (names.len().max(1) as f64).sqrt()).clamp(1.8, 7.0);
    let radius = |degree: &u32| base * (0.7 + 0.8 * (f64::from(*degree) / f64::from(most)).sqrt());
    let radii: Vec<f64> = degrees.iter().map(radius).collect();
    let mut places: Vec<(f64, f64)> = places.into_iter().map(place).collect();
    let is_named = names.len() <= MOST_NAMES;
    let room = (area.right - area.left, area.bottom - area.top);
    apart(&mut places, &radii, if is_named { 4.0 } else { 1.5 }, room);
    let at = |node: usize| (area.left + places[node].0, area.top + places[node].1);
    let wide = if edges.len() > 2000 { 0.6 } else { 1.4 };
    for (i, (&(a, b), &row)) in edges.iter().zip(&edge_rows).enumerate() {
        let color = if plan.color.is_some() { edge_colors.of(i) } else { "#8a8a8a".to_owned() };
        let (from, to) = (at(a), at(b));
        let place = [from.0, from.1, to.0, to.1].map(crate::svg::px);
        let opacity = if plan.color.is_some() { 1.0 } else { 0.7 };
        let look = format!(
            "class=\"mark\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{color}\" stroke-width=\"{wide}\" \
             stroke-opacity=\"{opacity}\"",
            place[0], place[1], place[2], place[3]
        );
        canvas.svg.element("line", &look, Some(&title(row, &[Some(x), Some(y), plan.color])));
    }
    for (node, name) in names.iter().enumerate() {
        let (color, mut text) = match &color_of[node] {
            Some((color, row)) => (color.clone(), title(*row, &[plan.node_color])),
            None if plan.node_color.is_some() => (palette::NO_GROUP.to_owned(), String::new()),
            None => (palette::group(0), String::new()),
        };
        text = format!("{name}\ndegree: {}\n{text}", degrees[node]);
        let look = format!("class=\"node\" fill=\"{color}\" stroke=\"#fff\" stroke-width=\"1\"");
        canvas.svg.circle(at(node), radii[node], &look, Some(text.trim_end()));
    }
    if is_named {
        let discs: Vec<((f64, f64), f64)> = (0..names.len()).map(|node| (at(node), radii[node])).collect();
        let names: Vec<String> = names.iter().map(|name| elided(name, 10.0, 90.0)).collect();
        for (name, (place, anchor)) in names.iter().zip(beside(&discs, &names, area.right)) {
            // A rim of the page's colour, so that edges do not cross it out.
            let look = "class=\"name\" font-size=\"10\" fill=\"#444\" stroke=\"#fff\" stroke-width=\"2\" \
                        paint-order=\"stroke\" pointer-events=\"none\"";
            canvas.svg.text(place, anchor, look, name);
        }
    }
    Ok(finish(plan, canvas, notes))
}

/// Where the names of discs stand: to the right, the left, below or above, whichever covers the fewest discs and names before.
fn beside(discs: &[((f64, f64), f64)], names: &[String], right: f64) -> Vec<((f64, f64), Anchor)> {
    const HEIGHT: f64 = 10.0;
    let mut taken: Vec<[f64; 4]> = Vec::new();
    let mut places = Vec::new();
    for (((x, y), radius), name) in discs.iter().copied().zip(names) {
        let (wide, off) = (width(name, 10.0), radius + 2.0);
        let sides = [
            (x + off, x + off, y + 3.5, Anchor::Start),
            (x - off, x - off - wide, y + 3.5, Anchor::End),
            (x, x - wide / 2.0, y + off + 7.5, Anchor::Middle),
            (x, x - wide / 2.0, y - off, Anchor::Middle),
        ];
        let boxes = sides.map(|(_, left, base, _)| [left, base - HEIGHT + 2.0, left + wide, base + 1.0]);
        let covered = |text: &[f64; 4]| {
            let over_disc = |&((x, y), radius): &((f64, f64), f64)| {
                let near = (x.clamp(text[0], text[2]) - x, y.clamp(text[1], text[3]) - y);
                near.0.hypot(near.1) < radius
            };
            let over_name = |other: &&[f64; 4]| {
                text[0] < other[2] && other[0] < text[2] && text[1] < other[3] && other[1] < text[3]
            };
            let beyond = usize::from(text[2] > right + 12.0 || text[0] < 0.0);
            discs.iter().filter(|disc| over_disc(disc)).count() + taken.iter().filter(over_name).count() + beyond
        };
        let best = (0..sides.len()).min_by_key(|&side| covered(&boxes[side])).unwrap_or(0);
        taken.push(boxes[best]);
        let (place, _, base, anchor) = sides[best];
        places.push(((place, base), anchor));
    }
    places
}

/// The groups of a column of numbers or strings, in the order of its values.
impl<'a> Colors<'a> {
    /// Colours by the distinct values of a column, whether they are strings or numbers.
    pub(super) fn grouped(column: Option<&'a crate::table::Column>, rows: &[usize], notes: &mut Vec<String>) -> Self {
        let Some(column) = column else { return Self::One };
        let (groups, note) = Groups::new(Some(column), rows).folded(palette::MOST_GROUPS);
        notes.extend(note);
        Self::Groups(groups, &column.name)
    }

    /// The same for thin lines.
    fn of_lines(self) -> Self {
        match self {
            Self::Ramp { values, ramp, name } => Self::Ramp { values, ramp: ramp.of_lines(), name },
            others => others,
        }
    }
}
