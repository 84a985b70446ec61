//! The memory that queries share under a limit.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};

/// Of the memory that is not reserved by consumers that cannot spill, one part in so many is for those that can: a sort
/// that spills merges what it holds, and the merge, which cannot spill, needs about as much again.
const SPILLING_PART: usize = 2;

/// A consumer that can spill may have one part in so many of the limit whatever the others hold, if that is free: less
/// than a few batches sorts nothing.
const LEAST_PART: usize = 32;

/// A pool that lets consumers that can spill do so before those that cannot find nothing left.
///
/// Those that can spill share a part of the limit evenly, as in DataFusion's `FairSpillPool`, which gives them the
/// whole; the others take what they need as long as there is any. Before it refuses memory, it asks for what is only
/// cached.
pub(crate) struct SpillingPool {
    limit: usize,
    state: Mutex<State>,
    reclaim: Box<Reclaim>,
}

/// Frees so many bytes of what is cached, if there are; whether it freed any.
type Reclaim = dyn Fn(usize) -> bool + Send + Sync;

impl fmt::Debug for SpillingPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpillingPool").field("limit", &self.limit).field("state", &self.state).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct State {
    /// Consumers that can spill, and what they have reserved.
    spillers: usize,
    spillable: usize,
    /// The bytes that the others have reserved.
    fixed: usize,
}

impl SpillingPool {
    /// A pool of so many bytes, some of which `reclaim` may take back from caches.
    pub(crate) fn new(limit: usize, reclaim: impl Fn(usize) -> bool + Send + Sync + 'static) -> Self {
        Self { limit, state: Mutex::default(), reclaim: Box::new(reclaim) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpillingPool {
    fn grow_within_limit(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let mut state = self.lock();
        let mut free = self.limit.saturating_sub(state.fixed + state.spillable);
        if reservation.consumer().can_spill() {
            let even = self.limit.saturating_sub(state.fixed) / SPILLING_PART / state.spillers.max(1);
            let share = even.max(self.limit / LEAST_PART);
            free = free.min(share.saturating_sub(reservation.size()));
        }
        if additional > free {
            return Err(DataFusionError::ResourcesExhausted(format!(
                "{} holds {} bytes of the memory limit of {} and asks for {additional} more, where {free} are free for it",
                reservation.consumer().name(),
                reservation.size(),
                self.limit,
            )));
        }
        *state.of(reservation) += additional;
        Ok(())
    }
}

impl State {
    fn of(&mut self, reservation: &MemoryReservation) -> &mut usize {
        if reservation.consumer().can_spill() { &mut self.spillable } else { &mut self.fixed }
    }
}

impl MemoryPool for SpillingPool {
    fn name(&self) -> &str {
        "spilling"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.lock().spillers += usize::from(consumer.can_spill());
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.lock().spillers -= usize::from(consumer.can_spill());
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        *self.lock().of(reservation) += additional;
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        *self.lock().of(reservation) -= shrink;
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        match self.grow_within_limit(reservation, additional) {
            // What spills has a part of what is free, so more has to become free for it.
            Err(_) if (self.reclaim)(additional.saturating_mul(SPILLING_PART)) => {
                self.grow_within_limit(reservation, additional)
            }
            granted => granted,
        }
    }

    fn reserved(&self) -> usize {
        let state = self.lock();
        state.spillable + state.fixed
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.limit)
    }
}

/// The share of a pool that one of many users may have.
#[derive(Debug)]
pub(crate) struct Share {
    pool: Arc<dyn MemoryPool>,
    limit: usize,
    reserved: AtomicUsize,
}

impl Share {
    /// At most so many bytes of the pool.
    pub(crate) fn new(pool: Arc<dyn MemoryPool>, limit: usize) -> Self {
        Self { pool, limit, reserved: AtomicUsize::new(0) }
    }
}

impl MemoryPool for Share {
    fn name(&self) -> &str {
        "share"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.pool.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.pool.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.reserved.fetch_add(additional, Ordering::Relaxed);
        self.pool.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.pool.shrink(reservation, shrink);
        self.reserved.fetch_sub(shrink, Ordering::Relaxed);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let within = |held: usize| held.checked_add(additional).filter(|&held| held <= self.limit);
        self.reserved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within).map_err(|held| {
            DataFusionError::ResourcesExhausted(format!(
                "{} asks for {additional} bytes more, where the statements of this connection hold {held} of the memory limit \
                 of {} for each connection",
                reservation.consumer().name(),
                self.limit
            ))
        })?;
        let granted = self.pool.try_grow(reservation, additional);
        if granted.is_err() {
            self.reserved.fetch_sub(additional, Ordering::Relaxed);
        }
        granted
    }

    fn reserved(&self) -> usize {
        self.reserved.load(Ordering::Relaxed)
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(match self.pool.memory_limit() {
            MemoryLimit::Finite(limit) => limit.min(self.limit),
            _ => self.limit,
        })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes of {}", self.name(), self.limit, self.pool)
    }
}

impl fmt::Display for SpillingPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes", self.name(), self.limit)
    }
}
