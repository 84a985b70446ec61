//! Positional encodings beside the features of nodes.

use std::sync::Arc;

use bonnet_encodings::{Encoding, positional_encoding};
use bonnet_graph::{AlgorithmError, Graph, Reservation};
use rayon::prelude::*;

use super::features::{Features, SparseRows};
use crate::ground::{DataError, TrainError};
use crate::options::Encodings;

/// The features with the encodings of their nodes as further columns. Each graph of a union has encodings of its own: graph g has the
/// nodes `starts[g]..starts[g + 1]`; without `starts` it is one graph. The bytes are reserved.
///
/// # Errors
/// The errors of [`positional_encoding`], with the number of the graph in a union.
pub(crate) fn with_encodings(
    features: &Arc<Features>,
    graph: &Graph,
    starts: Option<&[u32]>,
    encodings: &Encodings,
    reservation: &mut Reservation<'_>,
) -> Result<Arc<Features>, TrainError> {
    if encodings.is_empty() {
        return Ok(Arc::clone(features));
    }
    let (n, width, monitor) = (graph.n_nodes(), encodings.columns(), reservation.monitor());
    let _of_columns = Reservation::new(monitor, 4 * n * width)?;
    let mut columns = vec![0f32; n * width];
    let mut from = 0;
    for (encoding, dimension) in encodings.iter() {
        let mut write = |first: usize, values: &[f64]| {
            for (row, values) in columns[first * width..].chunks_exact_mut(width).zip(values.chunks_exact(dimension)) {
                row[from..from + dimension].iter_mut().zip(values).for_each(|(to, x)| *to = *x as f32);
            }
        };
        let failed = |error: AlgorithmError, of: Option<usize>| match error {
            AlgorithmError::Stopped(stopped) => TrainError::from(stopped),
            error => DataError::Encoding { encoding: encoding.name(), graph: of, why: error.to_string() }.into(),
        };
        // Walks and degrees see their own component alone.
        match starts.filter(|_| encoding == Encoding::Laplacian) {
            None => {
                let values = positional_encoding(graph, encoding, dimension, monitor);
                write(0, &values.map_err(|error| failed(error, None))?);
            }
            Some(starts) => {
                let parts: Vec<(usize, &[u32])> = starts.windows(2).enumerate().collect();
                let one = |&(g, range): &(usize, &[u32])| {
                    let part = part(graph, range[0], range[1]);
                    positional_encoding(&part, encoding, dimension, monitor).map_err(|error| failed(error, Some(g)))
                };
                let all: Vec<_> = parts.par_iter().map(one).collect();
                for ((_, range), values) in parts.iter().zip(all) {
                    write(range[0] as usize, &values?);
                }
            }
        }
        from += dimension;
    }
    let bytes = features.bytes();
    match &**features {
        Features::None => {
            reservation.grow(4 * columns.len())?;
            Ok(Arc::new(Features::Dense { columns: width, values: columns }))
        }
        Features::Dense { columns: own, values } => {
            reservation.grow(bytes + 4 * columns.len())?;
            let mut all = Vec::with_capacity(values.len() + columns.len());
            for v in 0..n {
                all.extend_from_slice(&values[v * own..(v + 1) * own]);
                all.extend_from_slice(&columns[v * width..(v + 1) * width]);
            }
            Ok(Arc::new(Features::Dense { columns: own + width, values: all }))
        }
        Features::Sparse(rows) => {
            reservation.grow(bytes + 8 * columns.len())?;
            let count = rows.n_entries() + columns.len();
            let (mut offsets, mut at, mut values) =
                (Vec::with_capacity(n + 1), Vec::with_capacity(count), Vec::with_capacity(count));
            offsets.push(0);
            let first = rows.n_columns() as u32;
            for v in 0..n {
                let row = rows.row(v);
                at.extend_from_slice(row.0);
                at.extend(first..first + width as u32);
                values.extend_from_slice(row.1);
                values.extend_from_slice(&columns[v * width..(v + 1) * width]);
                offsets.push(at.len());
            }
            Ok(Arc::new(Features::Sparse(SparseRows::from_sorted(rows.n_columns() + width, offsets, at, values))))
        }
    }
}

/// The graph of some nodes of a union, numbered from 0.
fn part(graph: &Graph, first: u32, end: u32) -> Graph {
    let edges: Vec<(u32, u32)> = (first..end)
        .flat_map(|u| graph.neighbors(u).iter().filter(move |v| u < **v).map(move |v| (u - first, v - first)))
        .collect();
    Graph::from_edges((end - first) as usize, &edges)
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    fn with(features: Features, graph: &Graph, starts: Option<&[u32]>, text: &str) -> Result<Features, String> {
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        with_encodings(&Arc::new(features), graph, starts, &text.parse().unwrap(), &mut reservation)
            .map(|features| (*features).clone())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn encodings_follow_the_features_in_the_order_of_the_option() {
        // A path of three nodes: its second eigenvector is (1, 0, -1) / sqrt(2), walks are back after two steps by 1/2, 1, 1/2.
        let path = Graph::from_edges(3, &[(0, 1), (1, 2)]);
        let root = 0.5f32.sqrt();
        let expected = [7.0, 1.0, root, 8.0, 2.0, 0.0, 9.0, 1.0, -root];
        let close = |values: &[f32]| {
            assert_eq!(values.len(), expected.len());
            values.iter().zip(expected).for_each(|(x, expected)| assert!((x - expected).abs() < 1e-6, "{values:?}"));
        };
        let dense = Features::dense(1, vec![7.0, 8.0, 9.0]).unwrap();
        let Ok(Features::Dense { columns: 3, values }) = with(dense.clone(), &path, None, "degree,laplacian:1") else {
            panic!("dense features stay dense")
        };
        close(&values);
        let sparse = SparseRows::new(1, vec![0, 1, 2, 3], vec![0, 0, 0], vec![7.0, 8.0, 9.0]).unwrap();
        let Ok(Features::Sparse(rows)) = with(Features::Sparse(sparse), &path, None, "degree,laplacian:1") else {
            panic!("sparse features stay sparse")
        };
        close(&(0..3).flat_map(|v| rows.row(v).1.to_vec()).collect::<Vec<f32>>());
        let walks = with(Features::None, &path, None, "random_walk:2").unwrap();
        assert_eq!(walks, Features::Dense { columns: 2, values: vec![0.0, 0.5, 0.0, 1.0, 0.0, 0.5] });
        assert_eq!(with(dense.clone(), &path, None, "").unwrap(), dense);
        let error = with(dense, &path, None, "laplacian:3").unwrap_err();
        assert!(error.contains("a graph of 3 nodes has 2 eigenvectors beside the first"), "{error}");
    }

    #[test]
    fn each_graph_of_a_union_has_its_own() {
        let union = Graph::from_edges(5, &[(0, 1), (1, 2), (3, 4)]);
        let found = with(Features::None, &union, Some(&[0, 3, 5]), "laplacian:1").unwrap();
        let Features::Dense { columns: 1, values } = found else { panic!("one column") };
        let root = 0.5f32.sqrt();
        for (x, expected) in values.iter().zip([root, 0.0, -root, root, -root]) {
            assert!((x - expected).abs() < 1e-6, "{values:?}");
        }
        let error = with(Features::None, &union, Some(&[0, 3, 5]), "laplacian:2").unwrap_err();
        assert!(error.contains("graph 1") && error.contains("a graph of 2 nodes"), "{error}");
    }
}
