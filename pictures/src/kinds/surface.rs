//! A triangulated surface in perspective. A triangulation says which vertices are joined and not where they lie: forces place
//! them in space, so that a surface which is not embedded there crosses itself.

use super::graph::plain;
use super::{Drawn, finish, range};
use crate::error::PictureError;
use crate::layout::forces;
use crate::palette::Ramp;
use crate::plan::Plan;
use crate::svg::{Anchor, px};

/// More triangles cannot be seen.
const MOST: usize = 5000;

/// Up to so many vertices are named.
const MOST_NAMES: usize = 40;

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let Some(x) = plan.x else { unreachable!("a surface has facets") };
    let wrong = |what: String| PictureError::Rows { kind: plan.kind, what };
    let (rows, mut notes) = plan.complete_rows(&[x]);
    if rows.len() > 1 {
        notes.push(format!("Of {} complexes the first is drawn.", rows.len()));
    }
    let text = rows.first().map_or_else(|| "[]".to_owned(), |&row| x.text(row));
    let facets = facets(&text)
        .ok_or_else(|| wrong(format!("`{}` is no list of facets such as [[0, 1, 2], [0, 1, 3]]", x.name)))?;
    if let Some(facet) = facets.iter().find(|facet| facet.len() != 3) {
        return Err(wrong(format!("{facet:?} is no triangle; give the facets of a triangulated surface")));
    }
    if facets.len() > MOST {
        let advice = "draw KIND graph of its edges, or a part of it";
        let found = facets.len();
        return Err(PictureError::TooMany { kind: plan.kind, found, what: "triangles", most: MOST, advice });
    }
    let mut vertices: Vec<u64> = facets.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    let place = |vertex: u64| vertices.partition_point(|&other| other < vertex);
    let triangles: Vec<[usize; 3]> = facets.iter().map(|facet| std::array::from_fn(|i| place(facet[i]))).collect();
    let mut edges: Vec<(usize, usize)> =
        triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (a, c)]).map(|(a, b)| (a.min(b), a.max(b))).collect();
    edges.sort_unstable();
    edges.dedup();
    let points = turned(&forces::<3>(vertices.len(), &edges, plan.request.seed));

    let mut layout = plain(plan);
    layout.width = plan.request.width.map_or(520.0, f64::from);
    let count = (vertices.len(), edges.len(), triangles.len());
    let euler = count.0 as i64 - count.1 as i64 + count.2 as i64;
    notes.push(format!(
        "{} vertices, {} edges, {} triangles, Euler characteristic {euler}. Forces place the vertices: what crosses in the \
         picture need not in the complex.",
        count.0, count.1, count.2
    ));
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    let area = canvas.area;
    let size = points.iter().map(|p| p.iter().map(|c| c * c).sum::<f64>().sqrt()).fold(1e-9, f64::max);
    let half = (area.right - area.left).min(area.bottom - area.top) / 2.0 - 14.0;
    let at = |point: [f64; 3]| {
        // From four times its size away.
        let zoom = half / size * 4.0 / (4.0 - point[2] / size) * 0.92;
        ((area.left + area.right) / 2.0 + point[0] * zoom, (area.top + area.bottom) / 2.0 - point[1] * zoom)
    };
    let depth = |triangle: &[usize; 3]| triangle.iter().map(|&vertex| points[vertex][2]).sum::<f64>() / 3.0;
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&a, &b| depth(&triangles[a]).total_cmp(&depth(&triangles[b])).then(a.cmp(&b)));
    let (far, near) = range(triangles.iter().map(&depth));
    let ramp = Ramp::new(0.0, 1.0);
    for &i in &order {
        let corners = triangles[i].map(|vertex| points[vertex]);
        let light = facing(corners);
        let closeness = if near > far { (depth(&triangles[i]) - far) / (near - far) } else { 0.5 };
        let shade = 0.22 + 0.38 * light + 0.3 * closeness;
        let path: Vec<String> = corners.iter().map(|&c| at(c)).map(|(x, y)| format!("{},{}", px(x), px(y))).collect();
        let look = format!(
            "class=\"mark\" points=\"{}\" fill=\"{}\" fill-opacity=\"0.72\" stroke=\"#fff\" stroke-width=\"1\" \
             stroke-linejoin=\"round\"",
            path.join(" "),
            ramp.color(shade)
        );
        canvas.svg.element("polygon", &look, Some(&format!("{:?}", facets[i])));
    }
    if vertices.len() <= MOST_NAMES {
        for (vertex, point) in vertices.iter().zip(&points) {
            let (x, y) = at(*point);
            canvas.svg.circle((x, y), 2.6, "fill=\"#222\" stroke=\"#fff\" stroke-width=\"0.8\"", None);
            let look = "font-size=\"11\" font-weight=\"bold\" fill=\"#111\"";
            canvas.svg.text((x + 4.0, y - 4.0), Anchor::Start, look, &vertex.to_string());
        }
    }
    Ok(finish(plan, canvas, notes))
}

/// Reads `[[0, 1, 2], ...]`.
fn facets(text: &str) -> Option<Vec<Vec<u64>>> {
    serde_json::from_str(text).ok()
}

/// The points about their middle, turned so that the picture looks at them from the side and a little from above.
fn turned(points: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let count = points.len().max(1) as f64;
    let middle: [f64; 3] = std::array::from_fn(|i| points.iter().map(|point| point[i]).sum::<f64>() / count);
    let (sin_y, cos_y) = 0.6_f64.sin_cos();
    let (sin_x, cos_x) = 0.45_f64.sin_cos();
    let turn = |point: &[f64; 3]| {
        let [x, y, z] = std::array::from_fn(|i| point[i] - middle[i]);
        let (x, z) = (cos_y * x + sin_y * z, cos_y * z - sin_y * x);
        [x, cos_x * y - sin_x * z, cos_x * z + sin_x * y]
    };
    points.iter().map(turn).collect()
}

/// The degree to which a triangle faces the light, 0 to 1, from either side.
fn facing([a, b, c]: [[f64; 3]; 3]) -> f64 {
    let u: [f64; 3] = std::array::from_fn(|i| b[i] - a[i]);
    let v: [f64; 3] = std::array::from_fn(|i| c[i] - a[i]);
    let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt().max(1e-12);
    let light = [0.35, 0.55, 0.76];
    (normal.iter().zip(light).map(|(n, l)| n * l).sum::<f64>() / length).abs().min(1.0)
}
