//! Homology of complexes of any size, by sparse columns.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bonnet_graph::{Monitor, Reservation, Stopped};
use num_bigint::{BigInt, BigUint};

use super::smith::{Integer, smith};
use super::{Homology, SmithError};
use crate::Facets;
use crate::faces::{Faces, FacesError, faces_from};

/// Column additions between two looks at the monitor.
const PATIENCE: usize = 4096;
/// Entries for which memory is reserved at a time, 12 bytes each.
const BLOCK: usize = 1 << 16;

/// Fills in the homology.
pub(super) fn homology(facets: &Facets, answer: &mut Homology, monitor: &dyn Monitor) -> Result<(), FacesError> {
    let levels = faces_from(facets, 0, monitor)?;
    let bytes = |level: &Faces| level.len() * (4 * (level.dimension() + 1) + 2);
    let _reservation = Reservation::new(monitor, levels.iter().map(bytes).sum())?;
    answer.clear(levels.len() - 1);
    let sizes: Vec<usize> = levels.iter().map(Faces::len).collect();
    monitor.expect(sizes.iter().sum::<usize>() as u64);
    let (components, tree) = match levels.get(1) {
        None => (sizes[0], Vec::new()),
        Some(edges) => spanning_forest(sizes[0], edges),
    };
    let mut rank_above = 0;
    let mut cleared: Option<Vec<bool>> = None;
    for dimension in (2..levels.len()).rev() {
        let (below, faces) = (&levels[dimension - 1], &levels[dimension]);
        let dropped = if dimension == 2 { Some(&tree[..]) } else { None };
        let mut pivots = Pivots::new(below.len(), monitor)?;
        let set_aside = pivots.eliminate(faces, below, cleared.as_deref(), dropped, monitor)?;
        let rest = match pivots.remainder::<i128>(&set_aside, monitor) {
            Err(SmithError::Overflow) => pivots.remainder::<BigInt>(&set_aside, monitor),
            rest => rest,
        };
        let (rest, torsion) = match rest {
            Ok(rest) => rest,
            Err(SmithError::Stopped(stopped)) => return Err(stopped.into()),
            Err(SmithError::Overflow) => unreachable!("big integers do not overflow"),
        };
        let rank = pivots.count + rest;
        answer.torsion[dimension - 1] = torsion;
        answer.betti[dimension] = (sizes[dimension] - rank - rank_above) as u64;
        rank_above = rank;
        cleared = Some(pivots.columns.iter().map(Option::is_some).collect());
        monitor.advance(sizes[dimension] as u64);
    }
    if levels.len() > 1 {
        answer.betti[1] = (sizes[1] - (sizes[0] - components) - rank_above) as u64;
    }
    answer.betti[0] = components as u64;
    Ok(())
}

/// The number of components, and whether each edge is in a spanning forest.
fn spanning_forest(n_vertices: usize, edges: &Faces) -> (usize, Vec<bool>) {
    let mut parents: Vec<u32> = (0..n_vertices as u32).collect();
    let mut find = |mut v: u32, joined: Option<u32>| {
        while parents[v as usize] != v {
            let above = parents[parents[v as usize] as usize];
            parents[v as usize] = above;
            v = above;
        }
        if let Some(root) = joined {
            parents[v as usize] = root;
        }
        v
    };
    let mut components = n_vertices;
    let tree = edges.iter().map(|edge| {
        let (a, b) = (find(edge[0], None), find(edge[1], None));
        if a == b {
            return false;
        }
        find(a, Some(b));
        components -= 1;
        true
    });
    let tree = tree.collect();
    (components, tree)
}

/// A vector under reduction: its values by row, and the rows that may be other than 0, lowest first.
struct Accumulator<T> {
    values: Vec<T>,
    waiting: Vec<bool>,
    rows: BinaryHeap<Reverse<u32>>,
}

impl<T: Integer> Accumulator<T> {
    fn new(rows: usize) -> Self {
        Self { values: vec![T::of(0); rows], waiting: vec![false; rows], rows: BinaryHeap::new() }
    }

    /// Takes off `factor` times an entry; `None` where it does not fit.
    fn sub_mul(&mut self, row: u32, factor: &T, value: &T) -> Option<()> {
        let i = row as usize;
        self.values[i].sub_mul(factor, value)?;
        if !self.waiting[i] {
            self.waiting[i] = true;
            self.rows.push(Reverse(row));
        }
        Some(())
    }

    /// The lowest row with an entry, which is taken out.
    fn pop(&mut self) -> Option<(u32, T)> {
        while let Some(Reverse(row)) = self.rows.pop() {
            self.waiting[row as usize] = false;
            let value = std::mem::replace(&mut self.values[row as usize], T::of(0));
            if !value.is_zero() {
                return Some((row, value));
            }
        }
        None
    }

    fn clear(&mut self) {
        while self.pop().is_some() {}
    }
}

/// A column: rows and values, by ascending row.
type Entries = Vec<(u32, i64)>;

/// The reduced columns with a unit at their lowest row.
struct Pivots<'a> {
    /// By row: where the column with its lowest entry there, scaled to +1, stands in the two lists.
    columns: Vec<Option<(usize, usize)>>,
    rows: Vec<u32>,
    values: Vec<i64>,
    count: usize,
    reservation: Reservation<'a>,
    paid: usize,
}

impl<'a> Pivots<'a> {
    fn new(n_rows: usize, monitor: &'a dyn Monitor) -> Result<Self, Stopped> {
        // Columns, and the accumulator's values and marks.
        let reservation = Reservation::new(monitor, n_rows * 40)?;
        Ok(Self { columns: vec![None; n_rows], rows: Vec::new(), values: Vec::new(), count: 0, reservation, paid: 0 })
    }

    fn push(&mut self, column: &[(u32, i64)]) -> Result<(), Stopped> {
        let start = self.rows.len();
        if start + column.len() > self.paid {
            let more = BLOCK.max(column.len());
            self.reservation.grow(12 * more)?;
            self.paid += more;
        }
        // The unit at the lowest row becomes +1.
        let sign = column[0].1;
        self.rows.extend(column.iter().map(|entry| entry.0));
        self.values.extend(column.iter().map(|entry| sign * entry.1));
        self.columns[column[0].0 as usize] = Some((start, self.rows.len()));
        self.count += 1;
        Ok(())
    }

    /// Takes `factor` times the pivot of a row off, but for its first entry, which is known to vanish.
    fn subtract<T: Integer>(&self, place: (usize, usize), factor: &T, from: &mut Accumulator<T>) -> Option<()> {
        for i in place.0 + 1..place.1 {
            from.sub_mul(self.rows[i], factor, &T::of(self.values[i]))?;
        }
        Some(())
    }

    /// Reduces the boundaries of `faces`; answers the columns that ended at an entry other than 1 and -1, or outgrew a
    /// word.
    fn eliminate(
        &mut self,
        faces: &Faces,
        below: &Faces,
        cleared: Option<&[bool]>,
        dropped: Option<&[bool]>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Entries>, Stopped> {
        let mut set_aside = Vec::new();
        let mut sum = Accumulator::<i64>::new(below.len());
        let mut column: Entries = Vec::new();
        let mut work = 0;
        for i in 0..faces.len() {
            if cleared.is_some_and(|cleared| cleared[i]) {
                continue;
            }
            column.clear();
            column.extend(
                faces
                    .boundary(below, i)
                    .filter(|(row, _)| !dropped.is_some_and(|dropped| dropped[*row]))
                    .map(|(row, sign)| (row as u32, sign)),
            );
            column.sort_unstable();
            work += 1;
            let Some(&(lowest, _)) = column.first() else { continue };
            if self.columns[lowest as usize].is_none() {
                self.push(&column)?;
                continue;
            }
            let mut fits = true;
            for &(row, value) in &column {
                sum.sub_mul(row, &-1, &value);
            }
            let mut reduced: Option<(u32, i64)> = None;
            while let Some((row, value)) = sum.pop() {
                let Some(place) = self.columns[row as usize] else {
                    reduced = Some((row, value));
                    break;
                };
                work += 1;
                if work >= PATIENCE {
                    work = 0;
                    monitor.check()?;
                }
                if self.subtract(place, &value, &mut sum).is_none() {
                    fits = false;
                    break;
                }
            }
            if !fits {
                sum.clear();
                set_aside.push(column.clone());
                continue;
            }
            let Some(first) = reduced else { continue };
            column.clear();
            column.push(first);
            while let Some(entry) = sum.pop() {
                column.push(entry);
            }
            if first.1.is_unit() {
                self.push(&column)?;
            } else {
                set_aside.push(column.clone());
            }
            if work >= PATIENCE {
                work = 0;
                monitor.check()?;
            }
        }
        Ok(set_aside)
    }

    /// Rank and torsion of what was set aside: reduced by all pivots, and then by its Smith normal form.
    fn remainder<T: Integer>(
        &self,
        set_aside: &[Entries],
        monitor: &dyn Monitor,
    ) -> Result<(usize, Vec<BigUint>), SmithError> {
        if set_aside.is_empty() {
            return Ok((0, Vec::new()));
        }
        let mut sum = Accumulator::<T>::new(self.columns.len());
        let mut reduced: Vec<Vec<(u32, T)>> = Vec::new();
        for (i, column) in set_aside.iter().enumerate() {
            if i % 16 == 0 {
                monitor.check()?;
            }
            for &(row, value) in column {
                sum.sub_mul(row, &T::of(-1), &T::of(value)).ok_or(SmithError::Overflow)?;
            }
            let mut rest = Vec::new();
            while let Some((row, value)) = sum.pop() {
                match self.columns[row as usize] {
                    Some(place) => self.subtract(place, &value, &mut sum).ok_or(SmithError::Overflow)?,
                    None => rest.push((row, value)),
                }
            }
            if !rest.is_empty() {
                reduced.push(rest);
            }
        }
        let mut rows: Vec<u32> = reduced.iter().flatten().map(|entry| entry.0).collect();
        rows.sort_unstable();
        rows.dedup();
        let _reservation = Reservation::new(monitor, rows.len() * reduced.len() * size_of::<T>())?;
        let dense = |column: Vec<(u32, T)>| {
            let mut dense = vec![T::of(0); rows.len()];
            for (row, value) in column {
                dense[rows.partition_point(|&other| other < row)] = value;
            }
            dense
        };
        smith(reduced.into_iter().map(dense).collect(), monitor)?.ok_or(SmithError::Overflow)
    }
}
