//! Complexes out of nothing: `enumerate_surfaces`, `enumerate_3_manifolds`, `classic_triangulations`.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, ListArray, RecordBatch, RecordBatchOptions, StringArray,
    new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bonnet_graph::{Monitor, Reservation, Stopped};
use bonnet_sql::{Binding, Body, Call, Function, Operator, Parameter, Run, kernel_error, stopped, usage_error};
use datafusion::common::Result;
use rayon::prelude::*;

use super::column::{facets_array, facets_type, list_of};
use crate::{
    Complexes, DEFAULT_MOVES, Facets, FlatFacets, MAX_3_MANIFOLD_VERTICES, MAX_SURFACE_VERTICES, N_3_MANIFOLDS,
    N_SURFACES, SurfaceEnumeration, ThreeManifoldEnumeration, Workspace, homeomorphism_type, surface_name,
};

const PAPER: &str = "Sulanke and Lutz, Isomorphism-free lexicographic enumeration of triangulated surfaces and 3-manifolds \
                     (European Journal of Combinatorics 30, 2009); labels: Ballester et al., MANTRA: The Manifold \
                     Triangulations Assemblage (ICLR 2025), App. B.1";

/// The registration of `enumerate_surfaces`.
pub fn enumerate_surfaces() -> Function {
    Function::new("enumerate_surfaces", Body::Relation(Arc::new(Enumeration::Surfaces)))
        .parameters([Parameter::integer("max_vertices", "The largest number of vertices, from 4 to 12.")])
        .returns(
            "id, n_vertices, facets, dimension, name, betti_numbers, torsion_coefficients, genus, orientable: the columns \
             of MANTRA's triangulations",
        )
        .description(
            "All triangulations of closed connected surfaces with at most so many vertices, each once up to isomorphism: \
             1, 1, 3, 9, 43, 655, 42,426 and 11,590,894 with 4, ..., 11. The name is MANTRA's: S^2, T^2, RP^2, Klein \
             bottle, else empty; genus counts tori or projective planes; vertices count from 1. Rows come in a fixed order, \
             in memory that does not grow; id is surface_n_k for the k-th with n vertices, whatever max_vertices, and not \
             the number of Lutz's lists. About 0.2 s on one core up to 10 vertices, a minute up to 11, a day up to 12; only \
             the columns that are read are made.",
        )
        .example("SELECT n_vertices, count(*) AS surfaces FROM enumerate_surfaces(8) GROUP BY n_vertices ORDER BY n_vertices")
        .source(PAPER)
}

/// The registration of `enumerate_3_manifolds`.
pub fn enumerate_3_manifolds() -> Function {
    Function::new("enumerate_3_manifolds", Body::Relation(Arc::new(Enumeration::ThreeManifolds)))
        .parameters([Parameter::integer("max_vertices", "The largest number of vertices, from 5 to 11.")])
        .returns(
            "id, n_vertices, facets, dimension, name, betti_numbers, torsion_coefficients, orientable: the columns of \
             MANTRA's triangulations",
        )
        .description(
            "All triangulations of closed connected 3-manifolds with at most so many vertices, each once up to isomorphism: \
             1, 2, 5, 39, 1,297, 249,015 and 166,564,303 with 5, ..., 11. The name is S^3, S^2 x S^1 or S^2 twist S^1, \
             proven by the completeness of the enumeration up to 10 vertices and by homeomorphism_type above, else empty; \
             vertices count from 1. Rows come in a fixed order, in memory that does not grow; id is 3_manifold_n_k for the \
             k-th with n vertices, whatever max_vertices, and not the number of Lutz's lists. About 20 s on one core up to \
             10 vertices, hours up to 11; only the columns that are read are made.",
        )
        .example("SELECT name, count(*) AS manifolds FROM enumerate_3_manifolds(8) GROUP BY name ORDER BY name")
        .source(PAPER)
}

/// The registration of `classic_triangulations`.
pub fn classic_triangulations() -> Function {
    Function::new("classic_triangulations", Body::Relation(Arc::new(bind_classics)))
        .returns("id, n_vertices, facets, dimension, name, betti_numbers, torsion_coefficients, orientable, source")
        .description(
            "Well-known triangulations with the homology that is known of their spaces: spheres of dimension 1 to 4, the \
             7-vertex torus, the 6-vertex projective plane, an 8-vertex Klein bottle, projective 3-space, the bundles of \
             2-spheres over the circle, and the 16-vertex Poincare sphere.",
        )
        .example("SELECT id, name, n_vertices FROM classic_triangulations() ORDER BY id")
        .source("Lutz, Triangulated manifolds with few vertices: combinatorial manifolds (arXiv math/0506372); each row's source")
}

fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

/// The columns that all triangulations have.
fn triangulation_fields() -> Vec<Field> {
    vec![
        field("id", DataType::Utf8),
        field("n_vertices", DataType::Int64),
        field("facets", facets_type()),
        field("dimension", DataType::Int64),
        field("name", DataType::Utf8),
        field("betti_numbers", list_of(DataType::Int64)),
        field("torsion_coefficients", list_of(DataType::Utf8)),
    ]
}

#[derive(Debug, Clone, Copy)]
enum Enumeration {
    Surfaces,
    ThreeManifolds,
}

/// An enumeration on its way.
enum Search {
    Surfaces(SurfaceEnumeration),
    ThreeManifolds(ThreeManifoldEnumeration),
}

impl Search {
    fn step(&mut self, monitor: &dyn Monitor) -> Result<Option<Complexes>, Stopped> {
        match self {
            Self::Surfaces(search) => search.step(monitor),
            Self::ThreeManifolds(search) => search.step(monitor),
        }
    }
}

impl Enumeration {
    fn name(self) -> &'static str {
        match self {
            Self::Surfaces => "enumerate_surfaces",
            Self::ThreeManifolds => "enumerate_3_manifolds",
        }
    }

    fn dimension(self) -> usize {
        match self {
            Self::Surfaces => 2,
            Self::ThreeManifolds => 3,
        }
    }

    fn max_vertices(self, call: &Call) -> Result<usize> {
        let (least, most) = match self {
            Self::Surfaces => (4, MAX_SURFACE_VERTICES),
            Self::ThreeManifolds => (5, MAX_3_MANIFOLD_VERTICES),
        };
        match call.options.integer("max_vertices")? {
            Some(n) if (least as i64..=most as i64).contains(&n) => Ok(n as usize),
            Some(n) => usage_error(format!("{}: max_vertices => {n}: expected {least} to {most}", self.name())),
            None => usage_error(format!("{}: max_vertices is NULL; expected {least} to {most}", self.name())),
        }
    }

    fn schema(self) -> SchemaRef {
        let genus = matches!(self, Self::Surfaces).then(|| field("genus", DataType::Int64));
        let orientable = field("orientable", DataType::Boolean);
        Arc::new(Schema::new(triangulation_fields().into_iter().chain(genus).chain([orientable]).collect::<Vec<_>>()))
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Surfaces => "surface",
            Self::ThreeManifolds => "3_manifold",
        }
    }
}

impl Operator for Enumeration {
    fn bind(&self, call: &Call) -> Result<Binding> {
        let (enumeration, n) = (*self, self.max_vertices(call)?);
        Ok(Binding::new(self.schema(), Vec::new(), move |run| enumeration.run(n, run)))
    }
}

impl Enumeration {
    /// Emits the complexes on up to `n` vertices.
    fn run(self, n: usize, run: &mut Run) -> Result<()> {
        let (mut search, numbers) = match self {
            Self::Surfaces => (Search::Surfaces(SurfaceEnumeration::new(n)), &N_SURFACES[..]),
            Self::ThreeManifolds => (Search::ThreeManifolds(ThreeManifoldEnumeration::new(n)), &N_3_MANIFOLDS[..]),
        };
        run.host().expect(numbers[..=n].iter().sum());
        let rows = run.context().session_config().batch_size().max(1);
        let mut numbered = [0u64; MAX_SURFACE_VERTICES + 1];
        loop {
            let host = run.host();
            let Some(found) = run.install(|| search.step(host)).map_err(stopped)? else { return Ok(()) };
            let _reservation = Reservation::new(run.host(), found.bytes()).map_err(stopped)?;
            for start in (0..found.len()).step_by(rows) {
                let range = start..found.len().min(start + rows);
                run.emit(self.batch(run, &found, range, &mut numbered)?)?;
            }
            run.host().advance(found.len() as u64);
        }
    }
}

/// The figures of a complex that come from its homology.
struct Labels {
    name: String,
    betti_numbers: Vec<i64>,
    torsion_coefficients: Vec<String>,
    genus: i64,
    orientable: bool,
}

impl Enumeration {
    /// The rows of some of the complexes; columns that nobody reads are NULL.
    fn batch(self, run: &Run, found: &Complexes, range: Range<usize>, numbered: &mut [u64]) -> Result<RecordBatch> {
        let length = range.len();
        let labelled = ["name", "betti_numbers", "torsion_coefficients", "genus", "orientable"];
        let (named, host) = (run.wants("name"), run.host());
        let labels: Vec<Labels> = match labelled.iter().any(|column| run.wants(column)) {
            true => run.install(|| self.labels(found, range.clone(), named, host))?,
            false => Vec::new(),
        };
        let mut column = |field: &Arc<Field>| -> Result<ArrayRef> {
            let name = field.name().as_str();
            if name != "id" && !run.wants(name) {
                return Ok(new_null_array(field.data_type(), length));
            }
            Ok(match name {
                "id" => {
                    // Numbers go on whether or not they are read.
                    let ids = range.clone().map(|i| {
                        let n = found.n_vertices(i);
                        numbered[n] += 1;
                        (n, numbered[n])
                    });
                    match run.wants("id") {
                        true => {
                            let texts = ids.map(|(n, k)| format!("{}_{n}_{k}", self.prefix()));
                            Arc::new(StringArray::from_iter_values(texts))
                        }
                        false => {
                            ids.for_each(drop);
                            new_null_array(&DataType::Utf8, length)
                        }
                    }
                }
                "n_vertices" => {
                    Arc::new(Int64Array::from_iter_values(range.clone().map(|i| found.n_vertices(i) as i64)))
                }
                "facets" => facets_of(found, range.clone())?,
                "dimension" => Arc::new(Int64Array::from(vec![self.dimension() as i64; length])),
                "name" => Arc::new(StringArray::from_iter_values(labels.iter().map(|labels| &labels.name))),
                "betti_numbers" => lists(
                    labels.iter().map(|labels| labels.betti_numbers.len()),
                    Arc::new(
                        labels.iter().flat_map(|labels| labels.betti_numbers.iter().copied()).collect::<Int64Array>(),
                    ),
                )?,
                "torsion_coefficients" => lists(
                    labels.iter().map(|labels| labels.torsion_coefficients.len()),
                    Arc::new(
                        labels
                            .iter()
                            .flat_map(|labels| labels.torsion_coefficients.iter().map(Some))
                            .collect::<StringArray>(),
                    ),
                )?,
                "genus" => Arc::new(Int64Array::from_iter_values(labels.iter().map(|labels| labels.genus))),
                _ => Arc::new(labels.iter().map(|labels| Some(labels.orientable)).collect::<BooleanArray>()),
            })
        };
        let schema = Arc::clone(run.schema());
        let columns = schema.fields().iter().map(&mut column).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(length));
        Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
    }

    /// The labels of some of the complexes, in parallel.
    fn labels(self, found: &Complexes, range: Range<usize>, named: bool, monitor: &dyn Monitor) -> Result<Vec<Labels>> {
        const BLOCK: usize = 256;
        let offsets: Vec<usize> = (0..64).map(|facet| facet * found.facet_size()).collect();
        let label = |i: usize, facets: &mut Facets, workspace: &mut Workspace| -> Result<Labels> {
            let vertices = found.facets(i);
            let read = facets.read(&offsets[..=vertices.len() / found.facet_size()], vertices);
            read.map_err(|error| bonnet_sql::execution_error(format!("{}: {error}", self.name())))?;
            let homology = workspace.homology(facets, monitor).map_err(|error| kernel_error(self.name(), error))?;
            let betti_numbers: Vec<i64> = homology.betti_numbers().iter().map(|&rank| rank as i64).collect();
            let torsion = |dimension| {
                let mut text = String::new();
                homology.write_torsion(dimension, &mut text);
                text
            };
            let torsion_coefficients = (0..betti_numbers.len()).map(torsion).collect();
            let orientable = betti_numbers[self.dimension()] == 1;
            let genus = if orientable { betti_numbers[1] / 2 } else { betti_numbers[1] + 1 };
            let name = match self {
                _ if !named => String::new(),
                Self::Surfaces => Some(surface_name(orientable, genus as u64))
                    .filter(|name| !name.starts_with('#'))
                    .unwrap_or_default(),
                Self::ThreeManifolds => homeomorphism_type(facets, DEFAULT_MOVES, workspace, monitor)
                    .map_err(|error| kernel_error(self.name(), error))?
                    .unwrap_or_default(),
            };
            Ok(Labels { name, betti_numbers, torsion_coefficients, genus, orientable })
        };
        let block = |start: usize| -> Result<Vec<Labels>> {
            monitor.check().map_err(stopped)?;
            let (mut facets, mut workspace) = (Facets::default(), Workspace::default());
            (start..range.end.min(start + BLOCK)).map(|i| label(i, &mut facets, &mut workspace)).collect()
        };
        let starts: Vec<usize> = range.clone().step_by(BLOCK).collect();
        let blocks: Vec<Vec<Labels>> = starts.into_par_iter().map(block).collect::<Result<_>>()?;
        Ok(blocks.into_iter().flatten().collect())
    }
}

fn lists(lengths: impl Iterator<Item = usize>, values: ArrayRef) -> Result<ArrayRef> {
    let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(item, OffsetBuffer::from_lengths(lengths), values, None)?))
}

/// Facets as `INT[][]`, vertices from 1.
fn facets_of(found: &Complexes, range: Range<usize>) -> Result<ArrayRef> {
    let width = found.facet_size();
    let vertices: Vec<i32> =
        range.clone().flat_map(|i| found.facets(i).iter().map(|&vertex| i32::from(vertex) + 1)).collect();
    let n_facets = vertices.len() / width;
    let facets = lists(std::iter::repeat_n(width, n_facets), Arc::new(Int32Array::from(vertices)))?;
    lists(range.map(|i| found.facets(i).len() / width), facets)
}

fn bind_classics(_: &Call) -> Result<Binding> {
    let more = [field("orientable", DataType::Boolean), field("source", DataType::Utf8)];
    let schema = Schema::new(triangulation_fields().into_iter().chain(more).collect::<Vec<_>>());
    Ok(Binding::new(Arc::new(schema), Vec::new(), classics))
}

fn classics(run: &mut Run) -> Result<()> {
    let classics = crate::classic_triangulations();
    let facets: Vec<Option<FlatFacets>> = classics
        .iter()
        .map(|classic| {
            let mut flat = FlatFacets::default();
            classic.facets.iter().for_each(|facet| flat.push(facet.iter().copied()));
            Some(flat)
        })
        .collect();
    let text = |pick: fn(&crate::Classic) -> &'static str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(classics.iter().map(pick)))
    };
    let number = |pick: fn(&crate::Classic) -> usize| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(classics.iter().map(|classic| pick(classic) as i64)))
    };
    let betti = classics.iter().flat_map(|classic| classic.betti_numbers).map(|&rank| rank as i64);
    let torsion = classics.iter().flat_map(|classic| classic.torsion_coefficients);
    run.emit_all(vec![
        text(|classic| classic.id),
        number(crate::Classic::n_vertices),
        facets_array(&facets, "classic_triangulations", run.host())?,
        number(|classic| classic.dimension),
        text(|classic| classic.name),
        lists(classics.iter().map(|c| c.betti_numbers.len()), Arc::new(betti.collect::<Int64Array>()))?,
        lists(
            classics.iter().map(|c| c.torsion_coefficients.len()),
            Arc::new(torsion.map(Some).collect::<StringArray>()),
        )?,
        Arc::new(classics.iter().map(|classic| Some(classic.orientable)).collect::<BooleanArray>()),
        text(|classic| classic.source),
    ])
}
