//! Alignment against NumPy and scikit-learn, and its three ways against each other.

use bonnet_graph::Unmonitored;

use super::*;
use crate::ground::random::hash32;

fn of(features: &Features, dim: usize, method: Reduction) -> Matrix {
    align(features, Alignment::of_all(dim, method), &Unmonitored).unwrap()
}

fn close(found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((f64::from(*found) - expected).abs() < tolerance, "{at}: {found} for {expected}");
    }
}

fn sparse(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f32) -> Features {
    let (mut offsets, mut at, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..rows {
        for column in 0..columns {
            let x = value(row, column);
            if x != 0.0 {
                at.push(column as u32);
                values.push(x);
            }
        }
        offsets.push(at.len());
    }
    Features::Sparse(SparseRows::new(columns, offsets, at, values).unwrap())
}

fn dense(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f32) -> Features {
    let values = (0..rows * columns).map(|at| value(at / columns, at % columns)).collect();
    Features::dense(columns, values).unwrap()
}

const SMALL: [[f32; 4]; 6] = [
    [1.0, 0.0, 2.0, 0.0],
    [0.0, 3.0, 1.0, 1.0],
    [4.0, 1.0, 0.0, 2.0],
    [2.0, 2.0, 2.0, 0.0],
    [0.0, 1.0, 0.0, 5.0],
    [1.0, 1.0, 1.0, 1.0],
];

/// Entries by a fixed rule, one in ten, whose first columns are the largest.
fn scattered(row: usize, column: usize) -> f32 {
    let hash = hash32((row * 1000 + column) as u32);
    if hash.is_multiple_of(10) { ((hash >> 8) % 7 + 1) as f32 * (1 + 600 / (column + 10)) as f32 } else { 0.0 }
}

/// `numpy.linalg.svd` of NumPy 2.4.6, equal up to signs to TruncatedSVD and PCA of scikit-learn 1.9.1.
#[test]
fn small_matrices_are_reduced_as_numpy_does() {
    let svd = [
        [0.986909809, -1.401120415],
        [2.329893243, -0.350533083],
        [3.855530119, -0.992439991],
        [2.428430839, -2.353342277],
        [3.887722106, 3.256493391],
        [1.898093818, -0.484457593],
    ];
    let pca = [
        [-1.589770942, -0.400870844],
        [-0.191130285, -1.740142372],
        [0.189768798, 2.861301811],
        [-1.890516676, -0.008737038],
        [3.843928565, -0.424888772],
        [-0.36227946, -0.286662785],
    ];
    let value = |row: usize, column: usize| SMALL[row][column];
    for features in [sparse(6, 4, value), dense(6, 4, value)] {
        close(&of(&features, 2, Reduction::Svd).values, svd.as_flattened(), 1e-6);
        close(&of(&features, 2, Reduction::Pca).values, pca.as_flattened(), 1e-6);
    }
}

/// `fit` on four rows and `transform` of all, of TruncatedSVD and PCA of scikit-learn 1.9.1, equal up to signs.
#[test]
fn directions_of_some_rows_carry_all() {
    let svd = [
        [1.566822212, -1.483662324],
        [2.810406658, 1.734097475],
        [2.675720685, -0.873976429],
        [3.333399241, -0.724278239],
        [1.617289949, 2.089281503],
        [1.85400887, -0.072586207],
    ];
    let pca = [
        [-1.555015415, -0.419282973],
        [1.902233821, -0.239376451],
        [-0.592322401, 0.579396578],
        [-0.21594845, 1.301148695],
        [1.667455384, -3.186379746],
        [-0.131269956, -0.642489271],
    ];
    let value = |row: usize, column: usize| SMALL[row][column];
    for features in [sparse(6, 4, value), dense(6, 4, value)] {
        let of_some = |dim, method| {
            let alignment = Alignment { dim, method, fitted_on: Some(&[0, 1, 3, 5]) };
            align(&features, alignment, &Unmonitored)
        };
        close(&of_some(2, Reduction::Svd).unwrap().values, svd.as_flattened(), 1e-6);
        close(&of_some(2, Reduction::Pca).unwrap().values, pca.as_flattened(), 1e-6);
        // Four rows less their mean span three columns.
        let rank = of_some(4, Reduction::Pca).unwrap_err();
        assert_eq!(rank, AlignmentError::Rank { dim: 4, rows: 4, columns: 4, rank: 3, centred: true });
        let none = Alignment { dim: 5, method: Reduction::Svd, fitted_on: Some(&[]) };
        assert_eq!(align(&features, none, &Unmonitored).unwrap().values, [0.0; 30]);
    }
    // By iteration, too: of rows of which the others are copies.
    let [half, twice] = [700, 1400].map(|rows| sparse(rows, 600, |row, column| scattered(row % 700, column)));
    let on: Vec<u32> = (0..700).collect();
    let alignment = Alignment { dim: 4, method: Reduction::Svd, fitted_on: Some(&on) };
    assert!(align(&twice, alignment, &Unmonitored).unwrap().values == of(&half, 4, Reduction::Svd).values.repeat(2));
}

/// Of 700 rows and 600 columns, beyond what is solved exactly; rows 0, 1, 350 and 699.
#[test]
fn large_matrices_are_reduced_as_numpy_does() {
    let svd = [
        [67.843504, 25.335837, -6.009902, -11.029746],
        [19.206408, -12.002367, 3.871233, -0.021737],
        [12.913282, -6.394075, 1.606098, -0.339509],
        [8.884513, -3.915255, 1.210671, -0.613107],
    ];
    let pca = [
        [37.491443, -17.430572, -27.844714, 0.312047],
        [-23.251559, -29.459553, -25.542152, 13.533477],
        [-21.100109, -28.342501, -25.992231, 12.483357],
        [-21.114772, -28.985242, -26.411842, 12.077573],
    ];
    for features in [sparse(700, 600, scattered), dense(700, 600, scattered)] {
        for (method, expected) in [(Reduction::Svd, svd), (Reduction::Pca, pca)] {
            let found = of(&features, 4, method);
            let rows = [0, 1, 350, 699].map(|row| found.row(row).to_vec()).concat();
            close(&rows, expected.as_flattened(), 2e-4);
        }
    }
}

#[test]
fn products_of_rows_of_columns_and_the_iteration_agree() {
    let features = sparse(700, 600, scattered);
    for method in Reduction::ALL {
        let data = Data::new(&features, 700, 600, method, &Unmonitored).unwrap();
        let signed = |(squares, mut vectors): (Vec<f64>, Vec<f64>)| {
            for component in 0..7 {
                let sign = sign(vectors.iter().skip(component).step_by(7));
                vectors.iter_mut().skip(component).step_by(7).for_each(|entry| *entry *= sign);
            }
            (squares, vectors)
        };
        let exact = signed(data.by_columns(7).unwrap());
        for other in [data.by_rows(7).unwrap(), data.iterated(7).unwrap()].map(signed) {
            for (x, y) in exact.0.iter().zip(&other.0) {
                assert!((x - y).abs() < 1e-8 * exact.0[0], "{x} and {y}");
            }
            let most = exact.1.iter().zip(&other.1).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(most < 1e-6, "{}: {most}", method.name());
        }
    }
}

#[test]
fn fewer_columns_are_rotated_and_padded_with_zeros() {
    let features = dense(6, 4, |row, column| SMALL[row][column]);
    let (all, wide) = (of(&features, 4, Reduction::Svd), of(&features, 7, Reduction::Svd));
    assert_eq!(wide.columns, 7);
    for (row, given) in SMALL.iter().enumerate() {
        assert_eq!(wide.row(row)[..4], *all.row(row));
        assert_eq!(wide.row(row)[4..], [0.0; 3]);
        // A rotation changes no length.
        let length = |row: &[f32]| row.iter().map(|x| x * x).sum::<f32>();
        assert!((length(all.row(row)) - length(given)).abs() < 1e-4);
    }
    // One column of a constant: nothing is left of it once its mean is taken off.
    let constant = dense(5, 1, |_, _| 3.0);
    assert_eq!(of(&constant, 2, Reduction::Pca).values, [0.0; 10]);
    close(&of(&constant, 2, Reduction::Svd).values, &[3.0, 0.0].repeat(5), 1e-6);
    assert_eq!(of(&Features::dense(3, vec![]).unwrap(), 4, Reduction::Svd).values, [0f32; 0]);
}

#[test]
fn more_columns_than_rank_are_refused() {
    // Three distinct rows, the third the sum of the others: rank 2, centred 2; five columns.
    let rows = [[1.0, 0.0, 2.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 3.0, 1.0, 1.0]];
    let value = |row: usize, column: usize| rows[row % 3][column];
    for (n, features) in [(3, dense(3, 5, value)), (600, sparse(600, 5, value))] {
        let error =
            |dim| align(&features, Alignment::of_all(dim, Reduction::Svd), &Unmonitored).unwrap_err().to_string();
        assert_eq!(error(3), format!("dim is 3, but the features ({n} nodes, 5 columns) have rank 2: lower dim to 2"));
        assert!(align(&features, Alignment::of_all(2, Reduction::Svd), &Unmonitored).is_ok());
        assert!(align(&features, Alignment::of_all(6, Reduction::Svd), &Unmonitored).is_ok());
        let error = align(&features, Alignment::of_all(4, Reduction::Pca), &Unmonitored).unwrap_err().to_string();
        assert!(error.contains("5 columns, less their means) have rank 2"), "{error}");
    }
    // Beyond what is solved exactly: 600 columns, each one of three.
    let columns = sparse(700, 600, |row, column| if row % 3 == column % 3 { 1.0 } else { 0.0 });
    let error = align(&columns, Alignment::of_all(4, Reduction::Svd), &Unmonitored).unwrap_err();
    assert!(matches!(error, AlignmentError::Rank { rank: 3, .. }), "{error}");
    assert!(align(&columns, Alignment::of_all(3, Reduction::Svd), &Unmonitored).is_ok());
    assert_eq!(align(&columns, Alignment::of_all(0, Reduction::Svd), &Unmonitored), Err(AlignmentError::NoDimension));
    assert_eq!(
        align(&Features::None, Alignment::of_all(2, Reduction::Svd), &Unmonitored),
        Err(AlignmentError::NoFeatures)
    );
}

#[test]
fn threads_change_no_bit() {
    for features in [sparse(1500, 600, scattered), dense(700, 600, scattered), sparse(2500, 60, scattered)] {
        let [one, four] = [1, 4].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| of(&features, 6, Reduction::Pca))
        });
        assert!(one == four);
    }
}

#[test]
fn the_identity_is_carried_along_the_edges_once() {
    // A path of three: degrees with loops 2, 3, 2.
    let graph = Graph::from_edges(3, &[(0, 1), (1, 2)]);
    let Features::Sparse(rows) = structural_features(&graph) else { panic!("they are sparse") };
    let (sixth, third) = (6f32.sqrt().recip(), 3f32.recip());
    assert_eq!(rows.row(0).0, [0, 1]);
    close(rows.row(0).1, &[0.5, f64::from(sixth)], 1e-7);
    assert_eq!(rows.row(1).0, [0, 1, 2]);
    close(rows.row(1).1, &[sixth, third, sixth].map(f64::from), 1e-7);
    // The largest eigenvalue is 1, of the roots of the degrees: (2, 3, 2) / 7.
    let reduced = of(&structural_features(&graph), 1, Reduction::Svd);
    close(&reduced.values, &[2.0, 3.0, 2.0].map(|degree: f64| (degree / 7.0).sqrt()), 1e-6);
    // A complete graph has rank 1.
    let complete = structural_features(&Graph::from_edges(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]));
    assert!(matches!(
        align(&complete, Alignment::of_all(2, Reduction::Svd), &Unmonitored),
        Err(AlignmentError::Rank { rank: 1, rows: 4, .. })
    ));
}
