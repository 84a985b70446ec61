//! Enumeration and canonical forms of manifolds.

use std::sync::LazyLock;

use bonnet_topology::{
    ChainComplex, Complexes, DEFAULT_MOVES, FacesError, Facets, N_3_MANIFOLDS, N_SURFACES, Signs, SurfaceEnumeration,
    ThreeManifoldEnumeration, Workspace, barycentric_subdivision, bistellar_walk, canonical_form,
    classic_triangulations, hodge_eigenvectors, homeomorphism_type,
};

use super::*;

/// Surfaces and 3-manifolds out of nothing.
pub(crate) fn enumeration(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("enumeration");
    for n in [9, 10] {
        group.bench_function(BenchmarkId::new("surfaces", n), |b| b.iter(|| surfaces(black_box(n))));
    }
    for n in [8, 9] {
        group.bench_function(BenchmarkId::new("3_manifolds", n), |b| b.iter(|| three_manifolds(black_box(n))));
    }
    group.finish();
    Ok(())
}

fn surfaces(max_vertices: usize) -> Complexes {
    let mut search = SurfaceEnumeration::new(max_vertices);
    let mut all = Complexes::new(3);
    while let Ok(Some(found)) = search.step(&Unmonitored) {
        all.append(&found);
    }
    all
}

fn three_manifolds(max_vertices: usize) -> Complexes {
    let mut search = ThreeManifoldEnumeration::new(max_vertices);
    let mut all = Complexes::new(4);
    while let Ok(Some(found)) = search.step(&Unmonitored) {
        all.append(&found);
    }
    all
}

/// The input of models on complexes: faces and boundaries of all complexes at once, then by batches the Hodge Laplacians with
/// their parts and both adjacencies, and eight eigenvectors. A collection is enumerated when one of its benches runs: that of
/// 250,359 3-manifolds takes half a minute.
pub(crate) fn operators(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("operators");
    group.sample_size(10);
    type Collection = (&'static str, u64, fn() -> Complexes);
    let collections: [Collection; 3] = [
        ("surfaces_10", N_SURFACES[..=10].iter().sum(), || surfaces(10)),
        ("3_manifolds_9", N_3_MANIFOLDS[..=9].iter().sum(), || three_manifolds(9)),
        ("3_manifolds_10", N_3_MANIFOLDS[..=10].iter().sum(), || three_manifolds(10)),
    ];
    for (name, count, make) in collections {
        let all = LazyLock::new(make);
        let read = |i: usize, facets: &mut Facets| {
            let width = all.facet_size();
            let offsets: Vec<usize> = (0..=all.facets(i).len() / width).map(|facet| facet * width).collect();
            facets.read(&offsets, all.facets(i)).map_err(|_| FacesError::TooMany { dimension: 0 })
        };
        group.throughput(Throughput::Elements(count));
        group.bench_function(BenchmarkId::new("chain_complex", name), |b| {
            let n = all.len();
            b.iter(|| ChainComplex::direct_sum(n, read, &Unmonitored).map(|sum| sum.bytes()));
        });
        let sum = LazyLock::new(|| ChainComplex::direct_sum(all.len(), read, &Unmonitored));
        group.bench_function(BenchmarkId::new("laplacians_and_adjacencies", name), |b| {
            let Ok(sum) = &*sum else { return };
            let numbers: Vec<usize> = (0..all.len()).collect();
            let batches: Vec<&[usize]> = numbers.chunks(1024).collect();
            b.iter(|| batches.iter().map(|batch| entries(&sum.select(batch), all.facet_size())).sum::<usize>());
        });
        // Of the largest collection they take many minutes.
        if count > 100_000 {
            continue;
        }
        group.bench_function(BenchmarkId::new("hodge_eigenvectors", name), |b| {
            let Ok(sum) = &*sum else { return };
            b.iter(|| hodge_eigenvectors(sum, 1, 8, &Unmonitored).map(|found| found.vectors.len()));
        });
    }
    group.finish();
    Ok(())
}

/// The entries of all operators of a batch.
fn entries(batch: &ChainComplex, dimensions: usize) -> usize {
    let laplacians = |k| {
        let down = batch.laplacian_down(k, Signs::Signed, &Unmonitored);
        let up = batch.laplacian_up(k, Signs::Signed, &Unmonitored);
        let both = batch.hodge_laplacian(k, Signs::Signed, &Unmonitored);
        [down, up, both].into_iter().flatten().map(|matrix| matrix.n_entries()).sum::<usize>()
    };
    let adjacencies = |k| {
        let (lower, upper) = (batch.lower_adjacency(k, &Unmonitored), batch.upper_adjacency(k, &Unmonitored));
        [lower, upper].into_iter().flatten().map(|matrix| matrix.n_entries()).sum::<usize>()
    };
    (0..dimensions).map(|k| laplacians(k) + adjacencies(k)).sum()
}

/// On one thread: rows are what runs in parallel.
pub(crate) fn complexes(c: &mut Criterion) -> Result<()> {
    let facets = |all: &Complexes| -> Result<Vec<Facets>> {
        let rows = |i| all.facets(i).chunks(all.facet_size()).map(|facet| facet.iter().map(|&v| v.into()).collect());
        (0..all.len()).map(|i| Ok(Facets::new(&rows(i).collect::<Vec<Vec<i64>>>())?)).collect()
    };
    let mut group = c.benchmark_group("canonical_form");
    for (name, all) in [("surfaces_9", facets(&surfaces(9))?), ("3_manifolds_9", facets(&three_manifolds(9))?)] {
        group.throughput(Throughput::Elements(all.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                all.iter().map(|facets| canonical_form(facets, &Unmonitored)).filter(|form| form.is_ok()).count()
            });
        });
    }
    group.finish();
    for classic in classic_triangulations().into_iter().filter(|classic| classic.dimension == 3) {
        let facets = Facets::new(&classic.facets)?;
        c.bench_function(&format!("bistellar_walk/1000_steps/{}", classic.id), |b| {
            b.iter(|| bistellar_walk(&facets, 1000, 0, &Unmonitored));
        });
        if classic.name != "Poincare sphere" {
            let finer: Vec<Vec<i64>> =
                barycentric_subdivision(&facets, &Unmonitored)?.iter().map(<[i64]>::to_vec).collect();
            let finer = Facets::new(&finer)?;
            c.bench_function(&format!("homeomorphism_type/subdivided/{}", classic.id), |b| {
                b.iter(|| homeomorphism_type(&finer, DEFAULT_MOVES, &mut Workspace::default(), &Unmonitored));
            });
        }
    }
    Ok(())
}
