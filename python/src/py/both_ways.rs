//! Pairs of numbers both ways, sorted and each once, as many threads as there are processors.
//!
//! Keys are put into buckets by the high bits of the source, so that a bucket fits into a cache, and each is sorted by itself.

use std::mem;
use std::thread::{available_parallelism, scope};

/// Pairs in pieces, as columns come in batches.
pub(super) type Pieces<'a> = [(&'a [i64], &'a [i64])];

/// The high bits of a source that choose its bucket.
const BUCKET: u32 = 11;

/// The bits of a digit by which a bucket is sorted.
const DIGIT: u32 = 10;

/// How a pair is written as one number: the low bits of its source above its target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// The bits of a target.
    target: u32,
    /// The low bits of a source, which its bucket does not say.
    low: u32,
}

impl Layout {
    /// Of numbers below `nodes`.
    pub(super) fn new(nodes: u64) -> Self {
        let target = u64::BITS - nodes.saturating_sub(1).leading_zeros();
        Self { target, low: target.saturating_sub(BUCKET) }
    }

    /// Whether keys fit into 32 bits.
    pub(super) fn is_narrow(self) -> bool {
        self.low + self.target <= u32::BITS
    }

    fn bucket(self, source: u64) -> usize {
        (source >> self.low) as usize & ((1 << BUCKET) - 1)
    }

    fn key(self, source: u64, target: u64) -> u64 {
        (source & ((1 << self.low) - 1)) << self.target | target
    }

    fn pair(self, bucket: usize, key: u64) -> (u64, u64) {
        ((bucket as u64) << self.low | key >> self.target, key & ((1 << self.target) - 1))
    }
}

/// A number that holds a key.
pub(super) trait Key: Copy + Ord + Send + Sync {
    fn of(key: u64) -> Self;
    fn value(self) -> u64;
}

impl Key for u32 {
    fn of(key: u64) -> Self {
        key as u32
    }

    fn value(self) -> u64 {
        u64::from(self)
    }
}

impl Key for u64 {
    fn of(key: u64) -> Self {
        key
    }

    fn value(self) -> u64 {
        self
    }
}

/// How many keys of each bucket each thread has; `None` if a number is not below `nodes`.
pub(super) fn count(pieces: &Pieces<'_>, nodes: u64, layout: Layout) -> Option<Vec<Vec<usize>>> {
    let count = |pieces: &Pieces<'_>| {
        let (mut counts, mut wrong) = (vec![0; 1 << BUCKET], false);
        for ends in pieces.iter().flat_map(|(sources, targets)| [*sources, *targets]) {
            for end in ends {
                wrong |= *end as u64 >= nodes;
                counts[layout.bucket(*end as u64)] += 1;
            }
        }
        (!wrong).then_some(counts)
    };
    scope(|scope| {
        let threads: Vec<_> = shares(pieces).into_iter().map(|share| scope.spawn(move || count(&share))).collect();
        threads.into_iter().map(|thread| thread.join().ok()?).collect()
    })
}

/// Puts the keys of all pairs, both ways, into their buckets in `keys`, sorted and each once at the bucket's beginning. Where
/// each bucket ends, and how many of its keys are left.
pub(super) fn sort<K: Key>(
    pieces: &Pieces<'_>,
    layout: Layout,
    counts: &[Vec<usize>],
    keys: &mut [K],
) -> Vec<(usize, usize)> {
    let mut ends = Vec::with_capacity(1 << BUCKET);
    let mut rooms: Vec<Vec<&mut [K]>> = counts.iter().map(|_| Vec::with_capacity(1 << BUCKET)).collect();
    let (mut rest, mut end) = (&mut *keys, 0);
    for bucket in 0..1 << BUCKET {
        for (rooms, counts) in rooms.iter_mut().zip(counts) {
            let (room, behind) = rest.split_at_mut(counts[bucket]);
            rooms.push(room);
            (rest, end) = (behind, end + counts[bucket]);
        }
        ends.push((end, 0));
    }
    scope(|scope| {
        for (share, mut rooms) in shares(pieces).into_iter().zip(rooms) {
            scope.spawn(move || {
                let mut put = |source: u64, target: u64| {
                    let room = &mut rooms[layout.bucket(source)];
                    if let Some((first, behind)) = mem::take(room).split_first_mut() {
                        *first = K::of(layout.key(source, target));
                        *room = behind;
                    }
                };
                for (sources, targets) in share {
                    for (source, target) in sources.iter().zip(targets) {
                        put(*source as u64, *target as u64);
                        put(*target as u64, *source as u64);
                    }
                }
            });
        }
    });
    by_parts(keys, &mut ends, |mut part, mut before, buckets| {
        let mut spare = Vec::new();
        for (end, left) in buckets {
            let (bucket, behind) = mem::take(&mut part).split_at_mut(*end - before);
            sort_digits(bucket, &mut spare, layout.low + layout.target);
            *left = once(bucket);
            (part, before) = (behind, *end);
        }
    });
    ends
}

/// Writes the pairs of sorted buckets, all sources and then all targets.
pub(super) fn write<K: Key>(layout: Layout, keys: &[K], ends: &[(usize, usize)], pairs: &mut [i64]) {
    let (mut sources, mut targets) = pairs.split_at_mut(pairs.len() / 2);
    let share = keys.len().div_ceil(threads()).max(1);
    scope(|scope| {
        let (mut first, mut begin, mut size) = (0, 0, 0);
        for (bucket, &(end, left)) in ends.iter().enumerate() {
            size += left;
            if end - begin < share && bucket + 1 < ends.len() {
                continue;
            }
            let (own_sources, behind) = mem::take(&mut sources).split_at_mut(size);
            sources = behind;
            let (own_targets, behind) = mem::take(&mut targets).split_at_mut(size);
            targets = behind;
            let (range, start) = (first..=bucket, begin);
            scope.spawn(move || {
                let (mut before, mut at) = (start, 0);
                for bucket in range {
                    let (end, left) = ends[bucket];
                    let places = own_sources[at..at + left].iter_mut().zip(&mut own_targets[at..at + left]);
                    for ((source, target), key) in places.zip(&keys[before..before + left]) {
                        let pair = layout.pair(bucket, key.value());
                        (*source, *target) = (pair.0 as i64, pair.1 as i64);
                    }
                    (before, at) = (end, at + left);
                }
            });
            (first, begin, size) = (bucket + 1, end, 0);
        }
    });
}

/// The pairs of few both ways, sorted and each once, in one thread; `None` if a number is not below `nodes`.
pub(super) fn few(pieces: &Pieces<'_>, nodes: u64) -> Option<Vec<(i64, i64)>> {
    let mut pairs = Vec::new();
    for (sources, targets) in pieces {
        for (source, target) in sources.iter().zip(*targets) {
            if *source as u64 >= nodes || *target as u64 >= nodes {
                return None;
            }
            pairs.extend([(*source, *target), (*target, *source)]);
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    Some(pairs)
}

/// Copies the pairs as they are, all sources and then all targets; whether each number is below `nodes`.
pub(super) fn copy(pieces: &Pieces<'_>, nodes: u64, pairs: &mut [i64]) -> bool {
    let (mut sources, mut targets) = pairs.split_at_mut(pairs.len() / 2);
    scope(|scope| {
        let mut threads = Vec::new();
        for share in shares(pieces) {
            let rows = share.iter().map(|(sources, _)| sources.len()).sum();
            let (own_sources, behind) = mem::take(&mut sources).split_at_mut(rows);
            sources = behind;
            let (own_targets, behind) = mem::take(&mut targets).split_at_mut(rows);
            targets = behind;
            threads.push(scope.spawn(move || {
                fill(own_sources, share.iter().map(|(sources, _)| *sources), nodes)
                    & fill(own_targets, share.iter().map(|(_, targets)| *targets), nodes)
            }));
        }
        threads.into_iter().all(|thread| thread.join().unwrap_or(false))
    })
}

fn fill<'a>(mut places: &mut [i64], pieces: impl Iterator<Item = &'a [i64]>, nodes: u64) -> bool {
    let mut wrong = false;
    for piece in pieces {
        let (own, behind) = mem::take(&mut places).split_at_mut(piece.len());
        for (place, end) in own.iter_mut().zip(piece) {
            wrong |= *end as u64 >= nodes;
            *place = *end;
        }
        places = behind;
    }
    !wrong
}

fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The pieces in so many shares of about as many pairs each as there are processors.
fn shares<'a>(pieces: &Pieces<'a>) -> Vec<Vec<(&'a [i64], &'a [i64])>> {
    let rows: usize = pieces.iter().map(|(sources, _)| sources.len()).sum();
    let share = rows.div_ceil(threads()).max(1);
    let (mut shares, mut room) = (vec![Vec::new()], share);
    for &(mut sources, mut targets) in pieces {
        while !sources.is_empty() {
            if room == 0 {
                shares.push(Vec::new());
                room = share;
            }
            let count = room.min(sources.len());
            let piece = (&sources[..count], &targets[..count]);
            if let Some(last) = shares.last_mut() {
                last.push(piece);
            }
            (sources, targets, room) = (&sources[count..], &targets[count..], room - count);
        }
    }
    shares
}

/// Does the work of so many runs of buckets as there are processors: with the keys of a run, where it begins, and its buckets.
fn by_parts<K: Key>(
    keys: &mut [K],
    mut buckets: &mut [(usize, usize)],
    work: impl Fn(&mut [K], usize, &mut [(usize, usize)]) + Sync,
) {
    let share = keys.len().div_ceil(threads()).max(1);
    let (mut rest, mut begin) = (keys, 0);
    let work = &work;
    scope(|scope| {
        while !buckets.is_empty() {
            let last = buckets.iter().position(|(end, _)| end - begin >= share).unwrap_or(buckets.len() - 1);
            let (own, others) = mem::take(&mut buckets).split_at_mut(last + 1);
            let (end, start) = (own[last].0, begin);
            let (part, behind) = mem::take(&mut rest).split_at_mut(end - begin);
            scope.spawn(move || work(part, start, own));
            (buckets, rest, begin) = (others, behind, end);
        }
    });
}

/// Sorts keys of so many bits by their digits, the lowest first, which takes less than comparisons do. `spare` is room.
fn sort_digits<K: Key>(keys: &mut [K], spare: &mut Vec<K>, bits: u32) {
    let passes = bits.div_ceil(DIGIT);
    if passes == 0 || keys.len() < 1 << DIGIT {
        return keys.sort_unstable();
    }
    let digit = bits.div_ceil(passes);
    spare.clear();
    spare.extend_from_slice(keys);
    let (mut from, mut to) = (&mut *keys, spare.as_mut_slice());
    for pass in 0..passes {
        let of = |key: K| (key.value() >> (pass * digit)) as usize & ((1 << digit) - 1);
        let mut places = [0; 1 << DIGIT];
        for key in from.iter() {
            places[of(*key)] += 1;
        }
        let mut before = 0;
        for place in &mut places {
            before += mem::replace(place, before);
        }
        for key in from.iter() {
            let place = &mut places[of(*key)];
            to[*place] = *key;
            *place += 1;
        }
        mem::swap(&mut from, &mut to);
    }
    if passes % 2 == 1 {
        keys.copy_from_slice(spare);
    }
}

/// Moves each of the sorted keys to the front once; how many there are.
fn once<K: Key>(keys: &mut [K]) -> usize {
    let mut left = 0;
    for at in 0..keys.len() {
        if left == 0 || keys[left - 1] != keys[at] {
            keys[left] = keys[at];
            left += 1;
        }
    }
    left
}
