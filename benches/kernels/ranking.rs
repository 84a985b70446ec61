//! Agreement of rankings, and what is built on it.

use bonnet_ranking::{
    BootstrapOptions, Metric, Points, RegroupingOptions, Scale, auc, average_precision, bootstrap_difference,
    critical_difference, embedding_distortion, frechet_distance, friedman_test, kendall_tau, order_gap, paired_t_test,
    regrouping_test, spearman, wilcoxon_signed_rank,
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
    // Values that are no whole numbers are sorted.
    let (p, q): (Vec<f64>, Vec<f64>) = x.iter().zip(&y).map(|(x, y)| (x.sqrt(), y.sqrt())).unzip();
    group.bench_function("spearman_1000000_reals", |b| b.iter(|| spearman(black_box(&p), &q, &Unmonitored)));
    group.bench_function("kendall_tau_1000000_reals", |b| b.iter(|| kendall_tau(black_box(&p), &q, &Unmonitored)));
    let positive: Vec<bool> = y.iter().map(|y| *y > 90_000.0).collect();
    group.bench_function("auc_1000000_reals", |b| b.iter(|| auc(black_box(&p), &positive, &Unmonitored)));
    group.bench_function("average_precision_1000000_reals", |b| {
        b.iter(|| average_precision(black_box(&p), &positive, &Unmonitored));
    });
    let (first, second) = (&p[..100_000], &q[..100_000]);
    group.bench_function("paired_t_test_100000", |b| b.iter(|| paired_t_test(black_box(first), second, &Unmonitored)));
    group.bench_function("wilcoxon_signed_rank_100000", |b| {
        b.iter(|| wilcoxon_signed_rank(black_box(first), second, &Unmonitored));
    });
    let options = BootstrapOptions::default();
    group.bench_function("bootstrap_difference_100_pairs_9999_samples", |b| {
        b.iter(|| bootstrap_difference(black_box(&first[..100]), &second[..100], &options, &Unmonitored));
    });
    group.bench_function("friedman_test_10000_blocks_10_treatments", |b| {
        b.iter(|| friedman_test(black_box(first), 10, &Unmonitored));
    });
    group.bench_function("critical_difference_20", |b| b.iter(|| critical_difference(black_box(20), 100, 0.05)));
    let curve = |values: &[f64]| -> Vec<(f64, f64)> { (0..5_000).map(|i| (i as f64, values[i])).collect() };
    let (a, b) = (curve(&x), curve(&y));
    group.bench_function("frechet_distance_5000", |c| c.iter(|| frechet_distance(black_box(&a), &b, &Unmonitored)));
    let values: Vec<Option<f64>> = x[..500 * 200].iter().copied().map(Some).collect();
    let regimes: Vec<u32> = (0..200).map(|i| i % 5).collect();
    group.bench_function("order_gap_500_models_200_items", |c| {
        c.iter(|| order_gap(black_box(&values), &regimes, 0.0, false, &Unmonitored));
    });
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
