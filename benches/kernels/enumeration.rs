//! Enumeration and canonical forms of manifolds.

use bonnet_topology::{
    Complexes, DEFAULT_MOVES, Facets, SurfaceEnumeration, ThreeManifoldEnumeration, Workspace, barycentric_subdivision,
    bistellar_walk, canonical_form, classic_triangulations, homeomorphism_type,
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
