//! Persistent homology of a filtered graph and of its clique complex, in dimensions 0 and 1.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::cycles::kill_cycles;
use crate::diagram::Point;
use crate::filtration::{Complex, FilteredEdge};

/// The points of the sublevel filtration of a simple graph in which vertex `v` enters at `births[v]`, never if that is
/// infinite, and no edge before its endpoints. Points on the diagonal are left out, classes that never die have an infinite
/// death.
///
/// Components by the elder rule: sorting and union-find, O(m log m) time and O(n + m) memory. On the graph alone an edge
/// that joins nothing begins a cycle for good; with triangles, see [`kill_cycles`].
pub(crate) fn flag_persistence(
    births: &[f64],
    mut edges: Vec<FilteredEdge>,
    complex: Complex,
    monitor: &dyn Monitor,
) -> Result<Vec<Point>, Stopped> {
    let _reservation = Reservation::new(monitor, 12 * births.len() + edges.len() * size_of::<Point>())?;
    edges.sort_unstable_by(|a, b| a.value.total_cmp(&b.value).then(a.ends.cmp(&b.ends)));
    monitor.check()?;
    let mut points = Vec::with_capacity(births.len());
    let mut components = Components::new(births);
    let mut cycles: Vec<u32> = Vec::with_capacity(edges.len());
    for (rank, edge) in edges.iter().enumerate() {
        match components.join(edge.ends) {
            Some(birth) if birth < edge.value => points.push(Point { dim: 0, birth, death: edge.value }),
            Some(_) => {}
            None => cycles.push(rank as u32),
        }
    }
    points.extend(components.births().map(|birth| Point { dim: 0, birth, death: f64::INFINITY }));
    drop(components);
    let killed = match complex {
        Complex::Graph => vec![None; cycles.len()],
        Complex::Triangles => kill_cycles(births.len(), &edges, &cycles, monitor)?,
    };
    let value = |rank: u32| edges[rank as usize].value;
    for (&cycle, killer) in cycles.iter().zip(killed) {
        let (birth, death) = (value(cycle), killer.map_or(f64::INFINITY, value));
        if birth < death {
            points.push(Point { dim: 1, birth, death });
        }
    }
    Ok(points)
}

/// The components so far, each with the birth of its oldest vertex.
struct Components {
    parent: Vec<u32>,
    birth: Vec<f64>,
}

impl Components {
    fn new(births: &[f64]) -> Self {
        Self { parent: (0..births.len() as u32).collect(), birth: births.to_vec() }
    }

    fn root(&mut self, mut v: u32) -> u32 {
        while self.parent[v as usize] != v {
            let parent = self.parent[v as usize];
            self.parent[v as usize] = self.parent[parent as usize];
            v = parent;
        }
        v
    }

    /// Joins the components of two vertices: the birth of the younger, which ends; `None` if they are one already.
    fn join(&mut self, (u, v): (u32, u32)) -> Option<f64> {
        let (mut elder, mut younger) = (self.root(u), self.root(v));
        if elder == younger {
            return None;
        }
        if self.birth[younger as usize] < self.birth[elder as usize] {
            std::mem::swap(&mut elder, &mut younger);
        }
        self.parent[younger as usize] = elder;
        Some(self.birth[younger as usize])
    }

    /// The births of the components whose vertices enter.
    fn births(&self) -> impl Iterator<Item = f64> + '_ {
        let roots = self.parent.iter().enumerate().filter(|&(v, &parent)| v as u32 == parent);
        roots.map(|(v, _)| self.birth[v]).filter(|birth| birth.is_finite())
    }
}
