//! Agreement of rankings, and what is built on it.

use bonnet_ranking::{
    Metric, Points, RegroupingOptions, Scale, embedding_distortion, kendall_tau, regrouping_test, spearman,
};

use super::*;

pub(crate) fn ranking(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("ranking");
    // Any values cost the same: these mix the bits of a row's number, and tie.
    let mixed = |i: u32, factor: u32| f64::from((i.wrapping_mul(factor) >> 8) % 100_000);
    let (x, y): (Vec<f64>, Vec<f64>) =
        (0..1_000_000).map(|i| (mixed(i, 2_654_435_761), mixed(i, 2_246_822_519))).unzip();
    group.bench_function("spearman_1000000", |b| b.iter(|| spearman(black_box(&x), &y, &Unmonitored)));
    group.bench_function("kendall_tau_1000000", |b| b.iter(|| kendall_tau(black_box(&x), &y, &Unmonitored)));
    // 2,858,856 partitions.
    let groups: Vec<u32> = (0..18).map(|i| i / 6).collect();
    let pairs: Vec<(u32, u32, f64)> =
        (0..18).flat_map(|b| (0..b).map(move |a| (a, b, mixed(18 * a + b, 2_654_435_761)))).collect();
    let options = RegroupingOptions::default();
    group.bench_function("regrouping_test_18", |b| {
        b.iter(|| regrouping_test(black_box(&groups), &pairs, &options, &Unmonitored));
    });
    let generated = barabasi_albert(2_000, 3, 0, &Unmonitored)?;
    let coordinates = (0..16 * generated.n_nodes as u32).map(|i| mixed(i, 2_654_435_761) / 1e6).collect();
    let points = Points::new(Metric::Poincare, 1.0, 16, coordinates)?;
    let graph = graph(&generated);
    group.bench_function("embedding_distortion_2000", |b| {
        b.iter(|| embedding_distortion(black_box(&graph), &points, Scale::Best, &Unmonitored));
    });
    group.finish();
    Ok(())
}
