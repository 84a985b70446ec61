use super::*;
use crate::filtration::{Essential, FiltrationOptions};
use crate::persistence_diagram::persistence_diagram;
use bonnet_graph::Unmonitored;
use proptest::prelude::*;

type Rows = Vec<(u32, u32, f64)>;

fn bounds(f: &Rows, g: &Rows) -> [FiltrationBound; 3] {
    let side = |rows: &Rows| {
        let edges: Vec<(u32, u32)> = rows.iter().map(|row| (row.0, row.1)).collect();
        let mut values: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let options = FiltrationOptions { essential: Essential::Max, ..FiltrationOptions::default() };
        let diagram = persistence_diagram(9, &edges, &values, &options, &Unmonitored).unwrap();
        values.sort_by(f64::total_cmp);
        (values, diagram)
    };
    let ((f, of_f), (g, of_g)) = (side(f), side(g));
    filtration_bounds([&f, &g], [&of_f, &of_g], &Unmonitored).unwrap()
}

#[test]
fn the_counterexample_to_theorem_5_is_found() {
    let [spread, nearest, turned] = bounds(&vec![(0, 1, 0.0), (1, 2, 5.0)], &vec![(0, 1, 0.0)]);
    // One component from 0 to the last value, 5 or 0: 2.5 from the diagonal, which the second is on.
    assert_eq!((spread.upper, spread.distance, spread.holds()), (5.0, 2.5, Some(true)));
    assert_eq!((nearest.lower, nearest.holds()), (5.0, Some(false)));
    assert_eq!((turned.lower, turned.turned, turned.holds()), (0.0, true, Some(true)));
    let [spread, nearest, turned] = bounds(&Vec::new(), &vec![(0, 1, 2.0)]);
    assert!([spread, nearest, turned].iter().all(|bound| bound.holds().is_none()));
}

/// A graph of which every pair of nodes has one value.
fn rows() -> impl Strategy<Value = Rows> {
    proptest::collection::btree_map((0u32..9, 0u32..9), -20i32..20, 1..20).prop_map(|rows| {
        rows.into_iter().filter(|((u, v), _)| u < v).map(|((u, v), value)| (u, v, f64::from(value) / 4.0)).collect()
    })
}

proptest! {
    #[test]
    fn theorem_1_holds_and_sides_are_those_of_all_pairs(f in rows(), g in rows()) {
        let [spread, nearest, turned] = bounds(&f, &g);
        if f.is_empty() || g.is_empty() {
            prop_assert_eq!(spread.holds(), None);
            return Ok(());
        }
        prop_assert_eq!(spread.holds(), Some(true), "{:?}", spread);
        let over = |f: &Rows, g: &Rows, pick: fn(f64, f64) -> f64, start: f64| {
            let of = |x: f64| g.iter().map(|row| (x - row.2).abs()).fold(start, pick);
            f.iter().map(|row| of(row.2)).fold(0.0, f64::max)
        };
        prop_assert_eq!(nearest.lower, over(&f, &g, f64::min, f64::INFINITY));
        prop_assert_eq!(turned.lower, over(&g, &f, f64::min, f64::INFINITY));
        let most = |rows: &Rows| rows.iter().map(|row| row.2).fold(f64::NEG_INFINITY, f64::max);
        let least = |rows: &Rows| rows.iter().map(|row| row.2).fold(f64::INFINITY, f64::min);
        prop_assert_eq!(spread.upper, (most(&f) - least(&g)).abs().max((most(&g) - least(&f)).abs()));
    }
}
