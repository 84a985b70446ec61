//! Models on simplicial complexes.

use super::definition::check_definition;
use super::literal::{Matrix, map, matrix, plus, times};
use crate::Saved;
use crate::complexes::{ComplexBatch, LaplacianPart, widths};
use crate::data::{ComplexSet, Complexes, Targets};
use crate::tests::gradients::check_directions;
use crate::tests::*;
use bonnet_topology::{ChainComplex, Facets};
use serde_json::json;

/// The projective plane on 6 vertices, the torus on 7, the boundary of a tetrahedron, and what is no manifold.
pub(crate) fn facets() -> Vec<Vec<Vec<i64>>> {
    let plane = ["012", "023", "034", "045", "015", "124", "235", "341", "452", "513"];
    let torus = (0..7).flat_map(|i| [vec![i, (i + 1) % 7, (i + 3) % 7], vec![i, (i + 2) % 7, (i + 3) % 7]]).collect();
    let digits = |text: &&str| text.bytes().map(|digit| i64::from(digit - b'0')).collect();
    vec![
        plane.iter().map(digits).collect(),
        torus,
        ["012", "013", "023", "123"].iter().map(digits).collect(),
        ["012", "13", "34", "345", "346", "7"].iter().map(digits).collect(),
    ]
}

pub(crate) fn set(facets: &[Vec<Vec<i64>>]) -> ComplexSet {
    let complexes = Complexes::of(facets).unwrap();
    let labels = (0..facets.len()).map(|i| Some(i as u32 % 3)).collect();
    ComplexSet::new(complexes, Targets::Classes(labels, 3)).unwrap()
}

/// Every model on complexes, with widths that exercise padding.
fn jobs() -> Vec<Job> {
    let models = crate::models().iter().filter(|spec| spec.reads_complexes());
    let wide = |job: Job| match job.model.as_str() {
        "scn" => job,
        "ct" => job.with("hidden", 10).with("heads", 2),
        // Few units might all be dead behind many rectifiers.
        "cellmp" => job.with("hidden", 13).with("layers", 2),
        _ => job.with("hidden", 5),
    };
    let mut jobs: Vec<Job> = models
        .map(|spec| wide(Job::new(spec.name).with("task", "graph_classification").with("features", "random:3")))
        .map(|job| job.with("seed", 3))
        .collect();
    jobs.extend(["scn", "sccn"].map(|model| {
        let job = Job::new(model).with("task", "graph_classification").with("features", "connectivity");
        wide(job.with("signed", "false").with("dropout", 0.3))
    }));
    jobs.extend(["layer", "batch"].map(|norm| {
        let job = Job::new("cellmp").with("task", "graph_classification").with("features", "random:3").with("seed", 4);
        wide(job.with("norm", norm).with("lower", "true"))
    }));
    jobs
}

pub(crate) fn batch(set: &ComplexSet, numbers: &[u32], options: &TrainOptions) -> ComplexBatch {
    let widths = widths(set, options.features, set.dimension()).unwrap();
    ComplexBatch::new(
        set,
        numbers,
        &widths,
        (options.features, options.seed),
        &mut Reservation::new(&Unmonitored, 0).unwrap(),
    )
    .unwrap()
}

fn program(batch: &ComplexBatch, options: &TrainOptions) -> Program {
    let problem = Problem {
        graph: Messages::Whole(Arc::new(Graph::from_edges(0, &[]))),
        arcs: None,
        features: Arc::new(Features::dense(1, Vec::new()).unwrap()),
        n_outputs: 3,
        known_labels: Arc::new([]),
        options: options.of_model(),
        types: None,
        complexes: Some(batch),
        device: false,
    };
    (model(&options.model).unwrap().build)(&problem, &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap()
}

pub(in crate::tests) fn bench(set: &ComplexSet, options: &TrainOptions) -> Bench {
    let numbers: Vec<u32> = (0..set.len() as u32).collect();
    let model = program(&batch(set, &numbers, options), options);
    let scope = model.scope(&numbers, true, true, &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap();
    let labels = numbers.iter().map(|number| number % 3).collect();
    Bench { model, scope, asked: RowSet::all(set.len()), labels, n_classes: 3 }
}

/// The outputs of every complex without dropout, for given parameters.
pub(crate) fn outputs(set: &ComplexSet, options: &TrainOptions, parameters: &[f32]) -> Vec<Vec<f64>> {
    let mut bench = bench(set, options);
    bench.model.forward(&bench.scope, parameters, Pass::Evaluate, &Unmonitored).unwrap();
    let rows = bench.model.outputs().chunks_exact(padded(3));
    rows.map(|row| row[..3].iter().map(|x| f64::from(*x)).collect()).collect()
}

pub(crate) fn close(got: &[Vec<f64>], expected: &[Vec<f64>], what: &str) {
    for (got, expected) in got.iter().flatten().zip(expected.iter().flatten()) {
        assert!((got - expected).abs() <= 2e-4 * (1.0 + expected.abs()), "{what}: {got} for {expected}");
    }
}

#[test]
fn every_model_on_complexes_computes_what_its_definition_says_with_its_gradient() {
    let set = set(&facets());
    for job in jobs() {
        let options = job.resolve().unwrap();
        let other = bench(&set, &options).model;
        check_definition(&mut bench(&set, &options), other, set.len(), &job.model);
    }
}

#[test]
fn every_parameter_of_a_model_on_complexes_receives_a_gradient_that_finite_differences_confirm() {
    let set = set(&facets());
    for job in jobs() {
        let mut bench = bench(&set, &job.resolve().unwrap());
        let parameters = parameters(&bench);
        let (_, gradient) = bench.gradient(&parameters);
        for block in bench.model.layout().blocks().iter().filter(|block| !block.statistic) {
            let zeros = block.positions().filter(|&at| gradient[at] == 0.0).count();
            let count = block.positions().count();
            // Sums of four complexes through a rectifier: most of its units may be on for none of them.
            let rectified = job.model == "dect" || block.name.starts_with("read_out") && job.model == "cellmp";
            let dead = if rectified { count - 1 } else { count / 2 };
            assert!(zeros <= dead, "{} {}: {zeros} of {count} gradients are 0", job.model, block.name);
        }
        check_directions(&mut bench, &job.model);
    }
}

#[test]
fn a_complex_has_the_same_outputs_whatever_complexes_share_its_batch() {
    let set = set(&facets());
    for job in jobs() {
        let options = job.resolve().unwrap();
        let parameters = parameters(&bench(&set, &options));
        let together = outputs(&set, &options, &parameters);
        for number in 0..set.len() as u32 {
            let mut alone = program(&batch(&set, &[number], &options), &options);
            let scope = alone.scope(&[0], false, true, &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap();
            alone.forward(&scope, &parameters, Pass::Evaluate, &Unmonitored).unwrap();
            let row: Vec<f64> = alone.outputs()[..3].iter().map(|x| f64::from(*x)).collect();
            close(&[row], &together[number as usize..][..1], &job.model);
        }
    }
}

fn chain(facets: &[Vec<i64>]) -> ChainComplex {
    ChainComplex::new(&Facets::new(facets).unwrap(), &Unmonitored).unwrap()
}

/// The boundary matrix from k-simplices to (k-1)-simplices of one complex, by its definition.
pub(crate) fn boundary(complex: &ChainComplex, k: usize, signed: bool) -> Matrix {
    let simplex = |k: usize, at: usize| &complex.vertices(k)[at * (k + 1)..][..k + 1];
    matrix(complex.n_faces(k - 1), complex.n_faces(k), |face, at| {
        let (face, simplex) = (simplex(k - 1, face), simplex(k, at));
        let lacking: Vec<usize> = (0..=k).filter(|&i| !face.contains(&simplex[i])).collect();
        match lacking[..] {
            [i] if signed && i % 2 == 1 => -1.0,
            [_] => 1.0,
            _ => 0.0,
        }
    })
}

pub(crate) fn transpose(m: &Matrix) -> Matrix {
    matrix(m.first().map_or(0, Vec::len), m.len(), |r, c| m[c][r])
}

/// The Hodge Laplacian of one complex, or its parts below and above.
pub(crate) fn hodge(complex: &ChainComplex, k: usize, part: LaplacianPart, signed: bool) -> Matrix {
    let n = complex.n_faces(k);
    let mut sum = matrix(n, n, |_, _| 0.0);
    if part != LaplacianPart::Upper && k > 0 {
        let b = boundary(complex, k, signed);
        sum = plus(1.0, &sum, 1.0, &times(&transpose(&b), &b));
    }
    if part != LaplacianPart::Lower && complex.n_faces(k + 1) > 0 {
        let b = boundary(complex, k + 1, signed);
        sum = plus(1.0, &sum, 1.0, &times(&b, &transpose(&b)));
    }
    sum
}

fn dense(operator: &crate::network::Operator) -> Matrix {
    let mut rows = matrix(operator.n_rows(), operator.n_columns(), |_, _| 0.0);
    let csr = operator.csr();
    for (row, range) in rows.iter_mut().zip(csr.offsets.windows(2)) {
        for entry in range[0]..range[1] {
            row[csr.columns[entry] as usize] += f64::from(csr.values[entry]);
        }
    }
    rows
}

#[test]
fn operators_are_products_of_boundary_matrices_and_boundaries_have_no_boundary() {
    let options = Job::new("sccn").with("task", "graph_classification").with("features", "random:2").resolve().unwrap();
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    for facets in facets() {
        let set = set(&[facets]);
        let (complex, batch) = (&set.complexes.chain, batch(&set, &[0], &options));
        for signed in [true, false] {
            for k in 0..=2 {
                for part in [LaplacianPart::Lower, LaplacianPart::Upper, LaplacianPart::Both] {
                    let operator = batch.laplacian(k, part, signed, &mut reservation).unwrap();
                    assert_eq!(dense(&operator), hodge(complex, k, part, signed), "{k} {part:?} {signed}");
                }
            }
            for k in 1..=2 {
                let expected = boundary(complex, k, signed);
                assert_eq!(dense(&batch.boundary(k, signed, &mut reservation).unwrap()), expected);
                assert_eq!(dense(&batch.coboundary(k, signed, &mut reservation).unwrap()), transpose(&expected));
            }
        }
        let twice = times(&boundary(complex, 1, true), &boundary(complex, 2, true));
        assert!(twice.iter().flatten().all(|x| *x == 0.0));
    }
}

/// The features of a complex in one dimension.
pub(crate) fn features(set: &ComplexSet, options: &TrainOptions, k: usize) -> Matrix {
    let batch = batch(set, &[0], options);
    let rows = batch.features(k);
    matrix(batch.count(k), rows.width, |r, c| f64::from(rows.values[r * rows.width + c]))
}

/// A block of parameters by its name.
pub(in crate::tests) fn named(bench: &Bench, parameters: &[f32], name: &str) -> Matrix {
    let block = bench.model.layout().blocks().iter().find(|block| block.name == name).unwrap_or_else(|| {
        let names: Vec<&str> = bench.model.layout().blocks().iter().map(|block| &*block.name).collect();
        panic!("no {name} among {names:?}")
    });
    let mut at = block.positions();
    (0..block.rows.len())
        .map(|_| (0..block.columns.len()).map(|_| f64::from(parameters[at.next().unwrap()])).collect())
        .collect()
}

fn sigmoid(x: &Matrix) -> Matrix {
    map(x, |x| 1.0 / (1.0 + (-x).exp()))
}

/// The read-out: sums of each dimension through an affine layer, added.
fn read_out(bench: &Bench, parameters: &[f32], x: &[Matrix]) -> Vec<f64> {
    let mut out = vec![0.0; 3];
    for (k, x) in x.iter().enumerate() {
        let (weight, bias) = (
            named(bench, parameters, &format!("read_out.{k}.weight")),
            named(bench, parameters, &format!("read_out.{k}.bias")),
        );
        for (c, out) in out.iter_mut().enumerate() {
            *out += bias[0][c]
                + x.iter().map(|row| row.iter().zip(&weight).map(|(x, w)| x * w[c]).sum::<f64>()).sum::<f64>();
        }
    }
    out
}

/// A model on one complex after another against its equations: `layers(complex, weights by name, features)`.
fn check_equations(name: &str, equations: impl Fn(&ChainComplex, &dyn Fn(&str) -> Matrix, Vec<Matrix>) -> Vec<Matrix>) {
    let job = Job::new(name).with("task", "graph_classification").with("features", "random:3").with("seed", 7);
    let options = if name == "scn" { job } else { job.with("hidden", 5) }.resolve().unwrap();
    for facets in facets() {
        let set = set(&[facets]);
        let bench = bench(&set, &options);
        let parameters = parameters(&bench);
        let x = (0..=2).map(|k| features(&set, &options, k)).collect();
        let x = equations(&set.complexes.chain, &|name| named(&bench, &parameters, name), x);
        let expected = read_out(&bench, &parameters, &x);
        close(&outputs(&set, &options, &parameters), &[expected], name);
    }
}

#[test]
fn scn_is_normalised_laplacians_apart() {
    check_equations("scn", |complex, weight, mut x| {
        for l in 0..2 {
            for (k, x) in x.iter_mut().enumerate() {
                let laplacian = hodge(complex, k, LaplacianPart::Both, true);
                let d: Vec<f64> = laplacian.iter().map(|row| row.iter().map(|v| v.abs()).sum::<f64>()).collect();
                let n = laplacian.len();
                let scaled =
                    matrix(n, n, |r, c| if d[r] * d[c] > 0.0 { laplacian[r][c] / (d[r] * d[c]).sqrt() } else { 0.0 });
                *x = sigmoid(&times(&scaled, &times(x, &weight(&format!("{l}.weight.{k}")))));
            }
        }
        x
    });
}

#[test]
fn sccn_adds_what_comes_from_below_and_above() {
    check_equations("sccn", |complex, weight, mut x| {
        for l in 0..2 {
            let from = |a: usize, b: usize| times(&x[a], &weight(&format!("{l}.weight.{a}.{b}")));
            let next = (0..=2).map(|k| {
                let mut z = times(&hodge(complex, k, LaplacianPart::Both, true), &from(k, k));
                if k > 0 {
                    z = plus(1.0, &z, 1.0, &times(&transpose(&boundary(complex, k, true)), &from(k - 1, k)));
                }
                if k < 2 {
                    z = plus(1.0, &z, 1.0, &times(&boundary(complex, k + 1, true), &from(k + 1, k)));
                }
                sigmoid(&z)
            });
            x = next.collect();
        }
        x
    });
}

#[test]
fn sccnn_filters_what_comes_from_every_dimension() {
    check_equations("sccnn", |complex, weight, mut x| {
        for l in 0..2 {
            let from =
                |name: &str, a: usize, b: usize, p: usize| times(&x[a], &weight(&format!("{l}.{name}.{a}.{b}.{p}")));
            let next = (0..=2).map(|k| {
                let lower = hodge(complex, k, LaplacianPart::Lower, true);
                let upper = hodge(complex, k, LaplacianPart::Upper, true);
                let mut z = from("own", k, k, 0);
                if k > 0 {
                    let b = transpose(&boundary(complex, k, true));
                    z = plus(1.0, &z, 1.0, &times(&lower, &from("lower", k, k, 1)));
                    z = plus(1.0, &z, 1.0, &times(&b, &from("below", k - 1, k, 0)));
                    z = plus(1.0, &z, 1.0, &times(&lower, &times(&b, &from("below", k - 1, k, 1))));
                }
                if k < 2 {
                    let b = boundary(complex, k + 1, true);
                    z = plus(1.0, &z, 1.0, &times(&upper, &from("upper", k, k, 1)));
                    z = plus(1.0, &z, 1.0, &times(&b, &from("above", k + 1, k, 0)));
                    z = plus(1.0, &z, 1.0, &times(&upper, &times(&b, &from("above", k + 1, k, 1))));
                }
                sigmoid(&z)
            });
            x = next.collect();
        }
        x
    });
}

#[test]
fn san_attends_edges_with_a_common_vertex_or_triangle_and_filters_harmonics() {
    check_equations("san", |complex, weight, x| {
        let (x, n) = (&x[1], complex.n_faces(1));
        let laplacian = hodge(complex, 1, LaplacianPart::Both, true);
        let mut harmonic = times(x, &weight("0.harmonic"));
        for _ in 0..5 {
            harmonic = plus(1.0, &harmonic, -0.1, &times(&laplacian, &harmonic));
        }
        let mut z = harmonic;
        for (name, part) in [("lower", LaplacianPart::Lower), ("upper", LaplacianPart::Upper)] {
            let pattern = hodge(complex, 1, part, false);
            let powers = [1, 2].map(|p| times(x, &weight(&format!("0.{name}.{p}"))));
            let scores = times(
                &crate::tests::equations::literal::beside(&[&powers[0], &powers[1]]),
                &weight(&format!("0.{name}.attention")),
            );
            let score = |i: usize, j: usize| {
                let sum = scores[i][0] + scores[j][1];
                if pattern[i][j] == 0.0 { 0.0 } else { if sum > 0.0 { sum } else { 0.2 * sum }.exp() }
            };
            let sums: Vec<f64> = (0..n).map(|i| (0..n).map(|j| score(i, j)).sum()).collect();
            let alpha = matrix(n, n, |i, j| if sums[i] > 0.0 { score(i, j) / sums[i] } else { 0.0 });
            z = plus(1.0, &z, 1.0, &times(&alpha, &powers[0]));
            z = plus(1.0, &z, 1.0, &times(&alpha, &times(&alpha, &powers[1])));
        }
        vec![sigmoid(&z)]
    });
}

/// Other numbers of the vertices: some edges and triangles turn.
fn mixed(v: i64) -> i64 {
    7 * v % 11
}

/// All edges and triangles turn.
fn reversed(v: i64) -> i64 {
    10 - v
}

/// The same complexes with other numbers of the vertices.
fn relabelled(facets: &[Vec<Vec<i64>>], to: fn(i64) -> i64) -> Vec<Vec<Vec<i64>>> {
    let to = |v: &i64| to(*v);
    facets.iter().map(|facets| facets.iter().map(|facet| facet.iter().map(to).collect()).collect()).collect()
}

#[test]
fn without_signs_outputs_do_not_depend_on_the_order_of_vertices_and_with_signs_they_do() {
    let (first, second) = (set(&facets()), set(&relabelled(&facets(), mixed)));
    for name in ["scn", "sccn", "sccnn", "san"] {
        for signed in ["true", "false"] {
            let job = Job::new(name).with("task", "graph_classification").with("features", "connectivity");
            let options = job.with("signed", signed).resolve().unwrap();
            let parameters = parameters(&bench(&first, &options));
            let (a, b) = (outputs(&first, &options, &parameters), outputs(&second, &options, &parameters));
            if signed == "false" {
                close(&a, &b, name);
            } else {
                assert!(a.iter().flatten().zip(b.iter().flatten()).any(|(a, b)| (a - b).abs() > 1e-3), "{name}");
            }
        }
    }
}

#[test]
fn cellmp_dect_and_ct_without_codes_do_not_depend_on_the_order_of_vertices() {
    let (first, second) = (set(&facets()), set(&relabelled(&facets(), mixed)));
    let job = |name: &str| Job::new(name).with("task", "graph_classification").with("features", "connectivity");
    let cellmp = |norm: &str, lower: &str| job("cellmp").with("norm", norm).with("lower", lower).with("layers", 4);
    let cellmps = [cellmp("batch", "false"), cellmp("batch", "true"), cellmp("layer", "true")];
    let others = [job("dect").with("radius", 7.0).with("scale", 3.0), job("ct").with("codes", 0)];
    for job in cellmps.into_iter().chain(others) {
        let options = job.resolve().unwrap();
        let parameters = parameters(&bench(&first, &options));
        let (a, b) = (outputs(&first, &options, &parameters), outputs(&second, &options, &parameters));
        close(&a, &b, &job.model);
        let distinct = |rows: &[Vec<f64>]| rows.iter().any(|row| (row[0] - rows[0][0]).abs() > 1e-4);
        assert!(distinct(&a), "{}: {a:?}", job.model);
    }
}

#[test]
fn the_euler_characteristic_is_the_transform_at_great_heights() {
    let set = set(&facets());
    let options = Job::new("dect").with("task", "graph_classification").with("features", "random:3").resolve().unwrap();
    let batch = batch(&set, &[0, 1, 2, 3], &options);
    let direction = vec![vec![0.6, 0.0, 0.8]];
    let at = |number: usize, dims: usize, height: f64| {
        crate::models::complexes::dect::transform(&batch, number, dims, &direction, &[height], 500.0)[0]
    };
    // The projective plane, the torus, the sphere, and 8 - 9 + 3.
    for (number, euler) in [1.0, 0.0, 2.0, 2.0].into_iter().enumerate() {
        assert!((at(number, 2, 1e3) - euler).abs() < 1e-9, "complex {number}");
        assert_eq!(at(number, 2, -1e3), 0.0);
    }
    assert_eq!((at(0, 0, 1e3), at(1, 0, 1e3)), (6.0, 7.0));
}

/// Where each simplex of a dimension is after a relabelling, and the sign of its new orientation.
fn moved(complex: &ChainComplex, other: &ChainComplex, to: fn(i64) -> i64, k: usize) -> Vec<(usize, f64)> {
    // Vertices are numbered by the order of their keys.
    let new: Vec<i64> = (0..complex.n_faces(0) as i64).map(to).collect();
    let rank = |v: u32| new.iter().filter(|&&key| key < new[v as usize]).count() as u32;
    let rows: Vec<&[u32]> = other.vertices(k).chunks(k + 1).collect();
    complex
        .vertices(k)
        .chunks(k + 1)
        .map(|simplex| {
            let images: Vec<u32> = simplex.iter().map(|&v| rank(v)).collect();
            let inversions =
                (0..=k).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| images[j] > images[i]).count();
            let mut sorted = images.clone();
            sorted.sort_unstable();
            (rows.binary_search(&&sorted[..]).unwrap(), if inversions % 2 == 1 { -1.0 } else { 1.0 })
        })
        .collect()
}

#[test]
fn laplacians_are_conjugated_by_the_flips_of_a_relabelling() {
    for (facets, others) in facets().into_iter().zip(relabelled(&facets(), mixed)) {
        let (complex, other) = (chain(&facets), chain(&others));
        for k in 0..=2 {
            let (a, b) = (hodge(&complex, k, LaplacianPart::Both, true), hodge(&other, k, LaplacianPart::Both, true));
            let to = moved(&complex, &other, mixed, k);
            for (r, &(row, flip)) in to.iter().enumerate() {
                for (c, &(column, other_flip)) in to.iter().enumerate() {
                    assert_eq!(a[r][c], flip * other_flip * b[row][column]);
                }
            }
        }
    }
}

/// Random features of one column of a complex, and those of the same complex after a relabelling.
fn turned(complex: &ChainComplex, other: &ChainComplex, to: fn(i64) -> i64) -> [Vec<Vec<f32>>; 2] {
    let mut stream = Stream::new(4);
    let (mut rows, mut turned) = (Vec::new(), Vec::new());
    for k in 0..=2 {
        let values: Vec<f32> = (0..complex.n_faces(k)).map(|_| stream.normal() as f32).collect();
        let mut image = vec![0.0; values.len()];
        for (value, (at, flip)) in values.iter().zip(moved(complex, other, to, k)) {
            image[at] = *value * flip as f32;
        }
        rows.push(values);
        turned.push(image);
    }
    [rows, turned]
}

fn with_features(facets: &[Vec<i64>], rows: Vec<Vec<f32>>) -> ComplexSet {
    set(&[facets.to_vec()]).with_features(vec![rows]).unwrap()
}

#[test]
fn signed_messages_with_odd_activations_turn_with_the_orientation() {
    let options = |model: &str, activation: &str| {
        let job = Job::new(model).with("task", "graph_classification").with("features", "given");
        let job = if model == "scn" { job } else { job.with("hidden", 4) };
        job.with("activation", activation).resolve().unwrap()
    };
    // With the read-out of the other dimensions at 0, outputs are sums of the rows of one. Vertices have one orientation,
    // whatever comes from edges that turn; of edges that all turn the sum changes its sign. The vertices of SCN hear nothing
    // of edges.
    let cases = [("sccn", 0), ("sccn", 1), ("sccnn", 0), ("sccnn", 1), ("scn", 1)];
    for (model, read) in cases {
        let to: fn(i64) -> i64 = if read == 0 { mixed } else { reversed };
        let sign = if read == 0 { 1.0 } else { -1.0 };
        for (facets, others) in facets().into_iter().zip(relabelled(&facets(), to)) {
            let [rows, turned] = turned(&chain(&facets), &chain(&others), to);
            let (first, second) = (with_features(&facets, rows), with_features(&others, turned));
            for (activation, odd) in [("tanh", true), ("identity", true), ("sigmoid", false)] {
                let options = options(model, activation);
                let bench = bench(&first, &options);
                let mut parameters = parameters(&bench);
                let kept = format!("read_out.{read}.weight");
                for block in bench.model.layout().blocks() {
                    if block.name.starts_with("read_out") && block.name != kept {
                        block.positions().for_each(|at| parameters[at] = 0.0);
                    }
                }
                let (a, b) = (outputs(&first, &options, &parameters), outputs(&second, &options, &parameters));
                let within = if odd { 1e-3 } else { 1e-4 };
                let same = a[0].iter().zip(&b[0]).all(|(a, b)| (a - sign * b).abs() <= within * (1.0 + a.abs()));
                assert!(same == odd, "{model}, dimension {read}, {activation}: {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn attention_of_san_does_not_turn_with_the_orientation() {
    // A softmax over the unsigned pattern: its scores are those of other rows once edges turn, its weights are positive all
    // the same. Where all scores are 0 what is left is linear, and the outputs of turned edges are opposite.
    let job = Job::new("san").with("task", "graph_classification").with("features", "given").with("hidden", 4);
    let options = job.with("activation", "identity").resolve().unwrap();
    for (facets, others) in facets().into_iter().zip(relabelled(&facets(), reversed)) {
        let [rows, turned] = turned(&chain(&facets), &chain(&others), reversed);
        let (first, second) = (with_features(&facets, rows), with_features(&others, turned));
        let bench = bench(&first, &options);
        for scored in [true, false] {
            let mut parameters = parameters(&bench);
            for block in bench.model.layout().blocks() {
                if block.name == "read_out.0.bias" || !scored && block.name.ends_with("attention") {
                    block.positions().for_each(|at| parameters[at] = 0.0);
                }
            }
            let (a, b) = (outputs(&first, &options, &parameters), outputs(&second, &options, &parameters));
            let opposite = a[0].iter().zip(&b[0]).all(|(a, b)| (a + b).abs() <= 1e-3 * (1.0 + a.abs()));
            assert!(opposite != scored, "scored: {scored}: {a:?} {b:?}");
        }
    }
}

#[test]
fn parameters_of_another_dimension_are_refused_with_the_option_that_takes_them() {
    let sphere: Vec<Vec<i64>> = (0..5).map(|without| (0..5).filter(|v| *v != without).collect()).collect();
    let (surfaces, manifolds) = (set(&facets()), set(&[sphere.clone(), sphere]));
    let run = |set: &ComplexSet, job: &Job, start: Option<&Saved>| {
        let last = set.len() as u32 - 1;
        let split = Split { train: (0..last).collect(), val: vec![], test: vec![last] };
        let options = job.resolve().unwrap();
        crate::train(Place::Cpu, Items::Complexes(set, &split), start, &options, &Unmonitored, &mut |_| {})
    };
    for name in ["sccn", "cellmp"] {
        let job = Job::new(name).with("task", "graph_classification").with("features", "connectivity");
        let job = job.with("hidden", 5).with("layers", 1).with("epochs", 1);
        let weights = run(&surfaces, &job, None).unwrap().weights;
        let saved = Saved::new(&weights, json!({"options": {"model": name}}));
        let error = run(&manifolds, &job, Some(&saved)).unwrap_err().to_string();
        let remedy = "more; the collection has dimension 3; dimension => 2 reads its 2-skeleta";
        assert!(error.ends_with(remedy) && error.len() < 400, "{error}");
        assert!(run(&manifolds, &job.clone().with("dimension", 2), Some(&saved)).is_ok(), "{name}");
        // No dimension mends another width.
        let error = run(&manifolds, &job.with("hidden", 6), Some(&saved)).unwrap_err().to_string();
        assert!(error.ends_with("more"), "{error}");
    }
}
