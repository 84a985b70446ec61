//! The mean of landscapes.

use std::cmp::Ordering;

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::landscape::{Landscape, combine};

/// The mean of landscapes, function by function, exactly: its corners are those of all of them. `None` without any.
/// (Bubenik, JMLR 2015, Sec. 2.4.)
///
/// They are put into an order of their own and summed in pairs, pairs of pairs, and so on: the mean does not depend on the
/// order in which they are given, to the last bit. O(c log n) time for c corners in all, twice their memory.
pub fn landscape_mean(landscapes: &[Landscape], monitor: &dyn Monitor) -> Result<Option<Landscape>, Stopped> {
    let n = landscapes.len();
    if n == 0 {
        return Ok(None);
    }
    let corners: usize = landscapes.iter().map(|it| it.corners().len()).sum();
    let _reservation = Reservation::new(monitor, 2 * corners * size_of::<(f64, f64)>())?;
    // Many landscapes begin alike: marks tell nearly all of them apart at once.
    let mut ordered: Vec<(u64, &Landscape)> = landscapes.iter().map(|it| (mark(it), it)).collect();
    ordered.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| compare(a.1, b.1)));
    let ordered: Vec<&Landscape> = ordered.into_iter().map(|(_, it)| it).collect();
    monitor.check()?;
    let sum = sum(&ordered, monitor)?;
    Ok(Some(combine(&sum, 1.0 / n as f64, &Landscape::default(), 0.0)))
}

fn sum(landscapes: &[&Landscape], monitor: &dyn Monitor) -> Result<Landscape, Stopped> {
    const SMALL: usize = 64;
    let (left, right) = match landscapes {
        [] => return Ok(Landscape::default()),
        [one] => return Ok((*one).clone()),
        [one, other] => return Ok(combine(one, 1.0, other, 1.0)),
        many => many.split_at(many.len() / 2),
    };
    let (left, right) = if landscapes.len() <= SMALL {
        (sum(left, monitor)?, sum(right, monitor)?)
    } else {
        monitor.check()?;
        let (left, right) = rayon::join(|| sum(left, monitor), || sum(right, monitor));
        (left?, right?)
    };
    Ok(combine(&left, 1.0, &right, 1.0))
}

/// A number made of all corners.
fn mark(landscape: &Landscape) -> u64 {
    let mix = |mark: u64, bits: u64| (mark.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mark = landscape.ends().iter().fold(0, |mark, &end| mix(mark, end as u64));
    landscape.corners().iter().fold(mark, |mark, &(x, y)| mix(mix(mark, x.to_bits()), y.to_bits()))
}

/// Any total order: by the numbers of corners, then by the corners.
fn compare(a: &Landscape, b: &Landscape) -> Ordering {
    a.ends().cmp(b.ends()).then_with(|| {
        let mut orders =
            a.corners().iter().zip(b.corners()).map(|(a, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}
