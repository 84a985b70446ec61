//! The plan of the searches of an undirected graph.

use bonnet_graph::{Components, Graph, Monitor, Reservation, Stopped, watched_components};
use rayon::prelude::*;

use super::Host;
use super::adjacency::Adjacency;
use super::centre::{Centre, centres};
use super::core::{self, Core, SMALL};
use super::members::{Members, members};
use super::pendant::{Pruned, prune};
use super::tally::Sums;

/// Small components that a thread takes at a time.
const TOGETHER: usize = 64;

/// The components, triangles and stripped trees of an undirected graph, and the order in which it is searched: what calls on
/// one graph share. Half of the time for a graph of a few thousand nodes, next to nothing for one of a million.
#[derive(Debug)]
pub struct MidpointPlan {
    pub(super) components: Components,
    pub(super) centres: Vec<Centre>,
    /// From this component on all anchors are searched from; those before it are larger than the sample.
    pub(super) sampled: usize,
    /// The components that are searched from all anchors, if there are any.
    pub(super) exact: Option<Exact>,
}

impl MidpointPlan {
    /// The plan for all anchors, without loops. O(m^1.5) for the triangles, else O(n + m log d).
    ///
    /// # Errors
    /// If the host ends the computation or grants no memory for it.
    pub fn new(graph: &Graph, monitor: &dyn Monitor) -> Result<Self, Stopped> {
        let _reservation = Reservation::new(monitor, Self::bytes(graph))?;
        Self::of(graph, &vec![false; graph.n_nodes()], None, monitor)
    }

    /// The bytes of a plan for all anchors of a graph, at most.
    pub fn bytes(graph: &Graph) -> usize {
        graph.n_nodes() * (size_of::<Centre>() + 160) + 8 * graph.targets().len()
    }

    /// The plan for a sample of so many anchors, if not for all; nodes with a `looped` mark are their own neighbours.
    pub(super) fn of(
        graph: &Graph,
        looped: &[bool],
        anchors: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<Self, Stopped> {
        let components = watched_components(graph, monitor)?;
        // Components with no more nodes than the sample takes are exact: the last ones, as sizes fall.
        let is_sampled = |size: &&usize| anchors.is_some_and(|anchors| anchors < **size);
        let sampled = components.sizes.iter().take_while(is_sampled).count();
        let (centres, exact) = rayon::join(
            || centres(graph, looped, monitor),
            || match sampled < components.sizes.len() {
                true => Exact::new(graph, looped, &components, sampled, monitor).map(Some),
                false => Ok(None),
            },
        );
        Ok(Self { centres: centres?, exact: exact?, components, sampled })
    }
}

/// The components that are searched from all anchors, without their pendant trees.
#[derive(Debug)]
pub(super) struct Exact {
    pub(super) pruned: Pruned,
    /// The nodes that are left, by component, and their positions there.
    members: Members,
    place: Vec<u32>,
    cores: Vec<(usize, Core)>,
    /// The components with few nodes left.
    small: Vec<usize>,
}

impl Exact {
    fn new(
        graph: &Graph,
        looped: &[bool],
        components: &Components,
        first: usize,
        monitor: &dyn Monitor,
    ) -> Result<Self, Stopped> {
        let pruned = prune(graph, looped, monitor)?;
        let is_searched = |v: u32| pruned.kept[v as usize] && components.of_node[v as usize] as usize >= first;
        let members = members(&components.of_node, components.sizes.len(), is_searched);
        let place = members.places(graph.n_nodes());
        let left = (first..components.sizes.len()).filter(|&component| !members.of(component).is_empty());
        let (large, small): (Vec<usize>, Vec<usize>) =
            left.partition(|&component| members.of(component).len() >= SMALL);
        let mut exact = Self { pruned, members, place, cores: Vec::new(), small };
        for component in large {
            let core =
                Core::new(&exact.adjacency(graph, component), exact.members.of(component), &exact.pruned, monitor)?;
            exact.cores.push((component, core));
        }
        Ok(exact)
    }

    /// A component without its pendant trees.
    fn adjacency(&self, graph: &Graph, component: usize) -> Adjacency<'static> {
        Adjacency::part(graph, self.members.of(component), &self.place, |y| self.pruned.kept[y as usize])
    }

    /// The sums of all nodes that are left, 0 for the others.
    pub(super) fn sums(&self, graph: &Graph, host: &Host) -> Result<Vec<Sums>, Stopped> {
        host.monitor.expect(self.members.count() as u64);
        let mut sums = vec![Sums::default(); graph.n_nodes()];
        let mut place_sums = |component: usize, part: Vec<Sums>| {
            self.members.of(component).iter().zip(part).for_each(|(&v, sum)| sums[v as usize] = sum);
        };
        for (component, core) in &self.cores {
            place_sums(*component, core.sums(self.members.of(*component), &self.pruned, host)?);
        }
        let one = |&component: &usize| {
            let nodes = self.members.of(component);
            core::one_by_one(&self.adjacency(graph, component), nodes, &self.pruned, host)
        };
        let parts: Result<Vec<Vec<Vec<Sums>>>, Stopped> =
            self.small.par_chunks(TOGETHER).map(|chunk| chunk.iter().map(one).collect()).collect();
        for (&component, part) in self.small.iter().zip(parts?.into_iter().flatten()) {
            place_sums(component, part);
        }
        Ok(sums)
    }
}
