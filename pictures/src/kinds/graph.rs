//! A drawing of a graph: rows with both ends are edges, rows with one end alone are nodes, so that nodes have colours and
//! isolated ones are there.

use std::collections::HashMap;

use super::points::Colors;
use super::{Drawn, chart, finish, range, title};
use crate::chart::{Chart, Legend};
use crate::error::PictureError;
use crate::layout::forces;
use crate::palette;
use crate::plan::{Groups, Plan};
use crate::scale::Scale;
use crate::svg::Anchor;

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

    let edge_colors = Colors::new(plan.color.filter(|_| !edge_rows.is_empty()), &edge_rows, &mut notes);
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
    let at = |node: usize| {
        let [x, y] = places[node];
        let middle = ((area.left + area.right) / 2.0, (area.top + area.bottom) / 2.0);
        (middle.0 + (x - (min_x + max_x) / 2.0) * scale, middle.1 - (y - (min_y + max_y) / 2.0) * scale)
    };
    let mut degrees = vec![0_u32; names.len()];
    edges.iter().for_each(|&(a, b)| [a, b].into_iter().for_each(|node| degrees[node] += 1));
    let most = degrees.iter().copied().max().unwrap_or(1).max(1);
    let base = (160.0 / (names.len().max(1) as f64).sqrt()).clamp(1.8, 7.0);
    let wide = if edges.len() > 2000 { 0.6 } else { 1.4 };
    for (i, (&(a, b), &row)) in edges.iter().zip(&edge_rows).enumerate() {
        let color = if plan.color.is_some() { edge_colors.of(i) } else { "#aaaaaa".to_owned() };
        let (from, to) = (at(a), at(b));
        let place = [from.0, from.1, to.0, to.1].map(crate::svg::px);
        let opacity = if plan.color.is_some() { 0.9 } else { 0.7 };
        let look = format!(
            "class=\"mark\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{color}\" stroke-width=\"{wide}\" \
             stroke-opacity=\"{opacity}\"",
            place[0], place[1], place[2], place[3]
        );
        canvas.svg.element("line", &look, Some(&title(row, &[Some(x), Some(y), plan.color])));
    }
    for (node, name) in names.iter().enumerate() {
        let radius = base * (0.7 + 0.8 * (f64::from(degrees[node]) / f64::from(most)).sqrt());
        let (color, mut text) = match &color_of[node] {
            Some((color, row)) => (color.clone(), title(*row, &[plan.node_color])),
            None if plan.node_color.is_some() => (palette::NO_GROUP.to_owned(), String::new()),
            None => (palette::group(0), String::new()),
        };
        text = format!("{name}\ndegree: {}\n{text}", degrees[node]);
        let look = format!("class=\"node\" fill=\"{color}\" stroke=\"#fff\" stroke-width=\"1\"");
        canvas.svg.circle(at(node), radius, &look, Some(text.trim_end()));
        if names.len() <= MOST_NAMES {
            let (x, y) = at(node);
            let name = crate::text::elided(name, 10.0, 90.0);
            canvas.svg.text((x + radius + 2.0, y + 3.5), Anchor::Start, "font-size=\"10\" fill=\"#444\"", &name);
        }
    }
    Ok(finish(plan, canvas, notes))
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
}
