//! Enumeration and canonical forms of manifolds.

use bonnet_topology::{
    ChainComplex, Complexes, DEFAULT_MOVES, FacesError, Facets, Signs, SurfaceEnumeration, ThreeManifoldEnumeration,
    Workspace, barycentric_subdivision, bistellar_walk, canonical_form, classic_triangulations, hodge_eigenvectors,
    homeomorphism_type,
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

/// What models on complexes read: faces and boundaries of all complexes at once, then by batches the Hodge Laplacians with
/// their parts and both adjacencies, and eight eigenvectors.
pub(crate) fn operators(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("operators");
    group.sample_size(10);
    for (name, all) in [("surfaces_10", surfaces(10)), ("3_manifolds_9", three_manifolds(9))] {
        let width = all.facet_size();
        let read = |i: usize, facets: &mut Facets| {
            let offsets: Vec<usize> = (0..=all.facets(i).len() / width).map(|facet| facet * width).collect();
            facets.read(&offsets, all.facets(i)).map_err(|_| FacesError::TooMany { dimension: 0 })
        };
        group.throughput(Throughput::Elements(all.len() as u64));
        group.bench_function(BenchmarkId::new("chain_complex", name), |b| {
            b.iter(|| ChainComplex::direct_sum(all.len(), read, &Unmonitored).map(|sum| sum.bytes()));
        });
        let sum = ChainComplex::direct_sum(all.len(), read, &Unmonitored)?;
        let batches: Vec<Vec<usize>> = (0..all.len()).collect::<Vec<_>>().chunks(1024).map(<[usize]>::to_vec).collect();
        group.bench_function(BenchmarkId::new("laplacians_and_adjacencies", name), |b| {
            b.iter(|| batches.iter().map(|batch| entries(&sum.select(batch), width)).sum::<usize>());
        });
        group.bench_function(BenchmarkId::new("hodge_eigenvectors", name), |b| {
            b.iter(|| hodge_eigenvectors(&sum, 1, 8, &Unmonitored).map(|found| found.vectors.len()));
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
