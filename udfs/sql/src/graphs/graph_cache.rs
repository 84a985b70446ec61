//! Graphs that stay between statements: the numbered nodes, arcs and compressed rows of tables of edges, and what training
//! reads of a named graph, each as of one version of its tables.
//!
//! The sessions of an engine share one cache. A graph's memory is reserved from the engine's pool as long as it is cached
//! or in use; the pool drops unused graphs before it refuses memory to a query.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use arrow::array::Float64Array;
use bonnet_columns::KeyIndex;
use bonnet_graph::{Graph, Monitor, Stopped};
use datafusion::common::Result;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};

use crate::error::{execution_error, out_of_memory, stopped};
use crate::graphs::table_version::TableVersion;
use crate::host::Host;

/// The interval at which a call that waits for another call's graph checks whether its query is cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// The key of a cached graph: its type, and the columns that it is built from, of tables at a version.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct GraphKey {
    kind: TypeId,
    tables: Vec<(TableVersion, Vec<String>)>,
    /// All else that it depends on.
    form: String,
}

impl GraphKey {
    pub(crate) fn new<C: CacheEntry>(tables: Vec<(TableVersion, Vec<String>)>, form: String) -> Self {
        Self { kind: TypeId::of::<C>(), tables, form }
    }

    /// Whether `other` is the same graph at another version.
    fn is_version_of(&self, other: &Self) -> bool {
        self != other && self.kind == other.kind && self.form == other.form && self.columns().eq(other.columns())
    }

    fn columns(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.tables.iter().map(|(version, columns)| (version.table.as_str(), columns.as_slice()))
    }

    fn version(&self) -> String {
        self.tables.iter().map(|(version, _)| version.version.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// The contents of the cache, and the memory that it has reserved.
pub(crate) trait CacheEntry: Any + Debug + Send + Sync {
    fn n_nodes(&self) -> usize;

    /// The number of rows of edges that have both ends.
    fn n_arcs(&self) -> usize;

    fn bytes(&self) -> usize;

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// A graph as relation functions and edge functions read it.
#[derive(Debug)]
pub(crate) struct CachedGraph {
    pub(crate) keys: Arc<KeyIndex>,
    pub(crate) arcs: Arc<Vec<(u32, u32)>>,
    pub(crate) weights: Option<Float64Array>,
    /// The undirected simple graph, once a function has asked for it.
    pub(crate) graph: Arc<OnceLock<Graph>>,
    /// Structures that functions have derived from it, by type.
    parts: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    memory: MemoryReservation,
}

impl CachedGraph {
    /// A graph of these parts, if the pool has room for them.
    pub(crate) fn new(
        keys: Arc<KeyIndex>,
        arcs: Arc<Vec<(u32, u32)>>,
        weights: Option<Float64Array>,
        pool: &Arc<dyn MemoryPool>,
    ) -> Option<Self> {
        let memory = MemoryConsumer::new("graph cache").register(pool);
        let weighted = weights.as_ref().map_or(0, |weights| 8 * weights.len());
        memory.try_grow(keys.bytes() + 8 * arcs.len() + weighted).ok()?;
        Some(Self { keys, arcs, weights, graph: Arc::default(), parts: Mutex::default(), memory })
    }

    /// Makes room for the undirected graph.
    ///
    /// # Errors
    /// If the pool has none.
    pub(crate) fn reserve(&self, function: &str, bytes: usize) -> Result<(), Stopped> {
        self.memory.try_grow(bytes).map_err(|error| out_of_memory(function, bytes, &error))
    }

    pub(crate) fn release(&self, bytes: usize) {
        self.memory.shrink(bytes);
    }

    /// The derived structure of this type, if one is kept.
    pub(crate) fn part<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(parts.get(&TypeId::of::<T>())?).downcast().ok()
    }

    /// Keeps a derived structure, if the pool has room and no other call was faster.
    pub(crate) fn keep<T: Any + Send + Sync>(&self, part: &Arc<T>, bytes: usize) {
        if self.memory.try_grow(bytes).is_err() {
            return;
        }
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = parts.contains_key(&TypeId::of::<T>());
        if !earlier {
            parts.insert(TypeId::of::<T>(), Arc::clone(part) as _);
        }
        drop(parts);
        if earlier {
            self.memory.shrink(bytes);
        }
    }
}

impl CacheEntry for CachedGraph {
    fn n_nodes(&self) -> usize {
        self.keys.len()
    }

    fn n_arcs(&self) -> usize {
        self.arcs.len()
    }

    fn bytes(&self) -> usize {
        self.memory.size()
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// A structure that a function makes of a named graph's tables.
pub trait GraphStructure: Any + Debug + Send + Sync {
    /// The number of nodes.
    fn n_nodes(&self) -> usize;

    /// The number of rows of edges that have both ends.
    fn n_arcs(&self) -> usize;

    /// The bytes that it holds.
    fn resident_bytes(&self) -> usize;
}

/// A structure that calls share where it is cached, and the memory that is reserved for it then.
#[derive(Debug)]
pub struct SharedStructure<T> {
    structure: T,
    memory: Option<MemoryReservation>,
}

impl<T: GraphStructure> SharedStructure<T> {
    pub(crate) fn new(structure: T) -> Self {
        Self { structure, memory: None }
    }

    /// Reserves its memory, if that is within `limit` and the pool has room; whether it has.
    pub(crate) fn reserve(&mut self, limit: usize, pool: &Arc<dyn MemoryPool>) -> bool {
        let bytes = self.structure.resident_bytes();
        let memory = MemoryConsumer::new("graph cache").register(pool);
        let fits = bytes <= limit && memory.try_grow(bytes).is_ok();
        self.memory = fits.then_some(memory);
        fits
    }
}

impl<T> Deref for SharedStructure<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.structure
    }
}

impl<T: GraphStructure> CacheEntry for SharedStructure<T> {
    fn n_nodes(&self) -> usize {
        self.structure.n_nodes()
    }

    fn n_arcs(&self) -> usize {
        self.structure.n_arcs()
    }

    fn bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, MemoryReservation::size)
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// The cache of an engine.
#[derive(Debug, Default)]
pub struct GraphCache {
    state: Mutex<State>,
    /// Notified when a graph is built, or building it fails.
    built: Condvar,
}

#[derive(Debug, Default)]
struct State {
    graphs: HashMap<GraphKey, Slot>,
    /// Counts uses.
    clock: u64,
}

#[derive(Debug)]
enum Slot {
    /// A call is building the graph.
    Building,
    Built {
        graph: Arc<dyn CacheEntry>,
        name: String,
        hits: u64,
        used: u64,
    },
}

/// A session's access to the cache. An extension of the session's configuration.
#[derive(Debug, Clone)]
pub struct GraphCacheAccess {
    /// The engine's cache.
    pub cache: Arc<GraphCache>,
    /// The bytes that all cached graphs may take together; 0 where the session caches none.
    pub limit: usize,
}

/// A graph that is cached, as `bonnet.graph_cache` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedGraphRow {
    /// The tables that it was read from, as the query that built it named them.
    pub name: String,
    /// Their versions.
    pub version: String,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of rows of edges that have both ends.
    pub edges: usize,
    /// The bytes that it takes of the engine's memory.
    pub bytes: usize,
    /// The number of calls that have used it beside the one that built it.
    pub hits: u64,
}

/// The result of looking a graph up.
pub(crate) enum Lookup<C, T> {
    /// A graph of the cache, perhaps one that the call has built.
    Cached(Arc<C>),
    /// The graph that the call has built for itself.
    Own(T),
}

impl GraphCache {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The graph of this key, or what `build` makes: a graph to cache, or one that cannot be, as its tables have changed or
    /// there is no memory. Of calls that come at the same time one builds, and the others wait for it.
    ///
    /// # Errors
    /// Those of `build`, or if the query ends.
    pub(crate) fn get<C: CacheEntry, T>(
        &self,
        key: &GraphKey,
        (name, limit): (&str, usize),
        host: &Host,
        build: impl FnOnce() -> Result<Lookup<C, T>>,
    ) -> Result<Lookup<C, T>> {
        let mut state = self.lock();
        loop {
            state.clock += 1;
            let now = state.clock;
            match state.graphs.get_mut(key) {
                Some(Slot::Built { graph, hits, used, .. }) => {
                    (*hits, *used) = (*hits + 1, now);
                    // Keys of a type have graphs of that type.
                    let graph = Arc::clone(graph).into_any().downcast::<C>();
                    return graph
                        .map(Lookup::Cached)
                        .map_err(|_| execution_error("the graph cache holds a graph of another type"));
                }
                Some(Slot::Building) => {
                    state = self.built.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
                    host.check().map_err(stopped)?;
                }
                None => break,
            }
        }
        state.graphs.insert(key.clone(), Slot::Building);
        drop(state);
        let building = Building { cache: self, key };
        let found = build()?;
        if let Lookup::Cached(graph) = &found {
            self.put(key, name, Arc::clone(graph) as _);
        }
        drop(building);
        self.trim(limit);
        Ok(found)
    }

    /// Puts a graph in its place and drops other versions of it.
    fn put(&self, key: &GraphKey, name: &str, graph: Arc<dyn CacheEntry>) {
        let mut state = self.lock();
        state.clock += 1;
        let slot = Slot::Built { graph, name: name.to_owned(), hits: 0, used: state.clock };
        let stale: Vec<GraphKey> = state
            .graphs
            .iter()
            .filter(|(other, slot)| matches!(slot, Slot::Built { .. }) && key.is_version_of(other))
            .map(|(other, _)| other.clone())
            .collect();
        let mut dropped: Vec<Option<Slot>> = stale.iter().map(|stale| state.graphs.remove(stale)).collect();
        dropped.push(state.graphs.insert(key.clone(), slot));
        // Memory goes back to the pool outside the lock.
        drop(state);
    }

    /// Drops the least recently used graphs until all take no more than `limit` bytes.
    pub fn trim(&self, limit: usize) {
        self.drop_oldest(|bytes, _| bytes > limit || limit == 0, |_| true);
    }

    /// Drops unused graphs, the least recently used first, until so many bytes are free; whether any became free.
    pub fn reclaim(&self, bytes: usize) -> bool {
        self.drop_oldest(|_, freed| freed < bytes, |graph| Arc::strong_count(graph) == 1) > 0
    }

    /// Drops eligible graphs, the least recently used first, while `more` (of the bytes cached, and of those dropped);
    /// answers the bytes dropped.
    fn drop_oldest(
        &self,
        more: impl Fn(usize, usize) -> bool,
        eligible: impl Fn(&Arc<dyn CacheEntry>) -> bool,
    ) -> usize {
        let (mut freed, mut dropped) = (0, Vec::new());
        let mut state = self.lock();
        let mut found: Vec<(u64, usize, GraphKey)> = Vec::new();
        let mut cached = 0;
        for (key, slot) in &state.graphs {
            if let Slot::Built { graph, used, .. } = slot {
                cached += graph.bytes();
                if eligible(graph) {
                    found.push((*used, graph.bytes(), key.clone()));
                }
            }
        }
        found.sort_by_key(|(used, ..)| *used);
        for (_, bytes, key) in found {
            if !more(cached, freed) {
                break;
            }
            cached -= bytes;
            freed += bytes;
            dropped.push(state.graphs.remove(&key));
        }
        // Memory goes back to the pool outside the lock.
        drop(state);
        freed
    }

    /// The graphs that are cached, in the order of their names.
    pub fn rows(&self) -> Vec<CachedGraphRow> {
        let state = self.lock();
        let row = |(key, slot): (&GraphKey, &Slot)| match slot {
            Slot::Building => None,
            Slot::Built { graph, name, hits, .. } => Some(CachedGraphRow {
                name: name.clone(),
                version: key.version(),
                nodes: graph.n_nodes(),
                edges: graph.n_arcs(),
                bytes: graph.bytes(),
                hits: *hits,
            }),
        };
        let mut rows: Vec<CachedGraphRow> = state.graphs.iter().filter_map(row).collect();
        rows.sort_by(|a, b| (&a.name, &a.version, a.nodes).cmp(&(&b.name, &b.version, b.nodes)));
        rows
    }
}

/// A graph that is being built. Where that fails, the next call tries.
struct Building<'a> {
    cache: &'a GraphCache,
    key: &'a GraphKey,
}

impl Drop for Building<'_> {
    fn drop(&mut self) {
        let mut state = self.cache.lock();
        if matches!(state.graphs.get(self.key), Some(Slot::Building)) {
            state.graphs.remove(self.key);
        }
        drop(state);
        self.cache.built.notify_all();
    }
}
