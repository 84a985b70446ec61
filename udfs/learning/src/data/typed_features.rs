//! The features of a typed graph: a block of columns for each type of nodes, so that a layer on them is a projection of its
//! own for each type.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use super::{Features, SparseRows};
use crate::ground::DataError;

/// The features of all nodes as one matrix whose columns are the blocks of the types, side by side: the features of a type's
/// nodes, ascending, each in its own width, or for a type without ([`Features::None`]) a column a node, so that a layer
/// learns a vector for each. `of` holds the type of each node. Zeros are not stored. O(entries).
///
/// # Errors
/// If a block has another number of rows than its type has nodes, or there are more columns than can be numbered.
pub fn joined_features(of: &[u32], blocks: &[Features]) -> Result<Features, DataError> {
    let starts = starts(of, blocks)?;
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut next = vec![0usize; blocks.len()];
    for &kind in of {
        let (kind, first) = (kind as usize, starts[kind as usize] as u32);
        let row = next[kind];
        next[kind] += 1;
        match &blocks[kind] {
            Features::Sparse(rows) => {
                let (own, numbers) = rows.row(row);
                columns.extend(own.iter().map(|column| first + column));
                values.extend_from_slice(numbers);
            }
            Features::Dense { columns: width, values: all } => {
                let entries = (first..).zip(&all[row * width..][..*width]).filter(|(_, value)| **value != 0.0);
                entries.for_each(|(column, value)| {
                    columns.push(column);
                    values.push(*value);
                });
            }
            Features::None => {
                columns.push(first + row as u32);
                values.push(1.0);
            }
        }
        offsets.push(columns.len());
    }
    Ok(Features::Sparse(SparseRows::from_sorted(starts[blocks.len()], offsets, columns, values)))
}

/// The bytes that [`joined_features`] allocates, at most.
pub fn joined_features_bytes(of: &[u32], blocks: &[Features]) -> usize {
    let entries = |block: &Features| match block {
        Features::Sparse(rows) => rows.n_entries(),
        Features::Dense { values, .. } => values.len(),
        Features::None => 0,
    };
    // A node without features has one entry; lists that grow hold twice as much for a while.
    16 * (blocks.iter().map(entries).sum::<usize>() + of.len()) + 8 * (of.len() + 1)
}

/// The first column of each block, and the number of all columns.
fn starts(of: &[u32], blocks: &[Features]) -> Result<Vec<usize>, DataError> {
    let mut counts = vec![0usize; blocks.len()];
    of.iter().for_each(|&kind| counts[kind as usize] += 1);
    let mut starts = vec![0usize];
    for (block, count) in blocks.iter().zip(counts) {
        if let Some(found) = block.n_rows().filter(|&found| found != count) {
            return Err(DataError::Length { what: "features", nodes: count, found });
        }
        let width = if block.n_rows().is_some() { block.n_columns() } else { count };
        starts.push(starts[starts.len() - 1] + width);
    }
    match u32::try_from(starts[blocks.len()]) {
        Ok(_) => Ok(starts),
        Err(_) => Err(DataError::Features(format!("the types have {} features together", starts[blocks.len()]))),
    }
}

/// The blocks with the mean of the features of a node's neighbours in place of those that its type lacks, as ogbn-mag has it
/// (Hu et al. 2020). Such a block has a part of columns for each type with features that some of its nodes are joined to; a
/// node without neighbours of that type has zeros there. Types that are joined to none with features are filled in the next
/// round, from those that then have some. O(edges * entries of a row).
///
/// # Errors
/// If a type is joined to no features, however far; or the host refuses the memory, or wants no answer any more.
pub fn with_neighbor_means(
    graph: &Graph,
    names: &[String],
    of: &[u32],
    mut blocks: Vec<Features>,
    monitor: &dyn Monitor,
) -> Result<Result<Vec<Features>, DataError>, Stopped> {
    let mut reservation = Reservation::new(monitor, 4 * of.len())?;
    // The row of each node in the block of its type.
    let mut counts = vec![0u32; blocks.len()];
    let place: Vec<u32> = of
        .iter()
        .map(|&kind| {
            counts[kind as usize] += 1;
            counts[kind as usize] - 1
        })
        .collect();
    let has = |block: &Features| block.n_rows().is_some();
    loop {
        let lacking: Vec<usize> = (0..blocks.len()).filter(|&kind| !has(&blocks[kind]) && counts[kind] > 0).collect();
        let Some(&first) = lacking.first() else { return Ok(Ok(blocks)) };
        // The types with features that nodes of each other type are joined to.
        let mut joined = vec![vec![false; blocks.len()]; blocks.len()];
        for (u, v) in graph.edges() {
            let (a, b) = (of[u as usize] as usize, of[v as usize] as usize);
            joined[a][b] = true;
            joined[b][a] = true;
        }
        let sources = |&kind: &usize| {
            let near = (0..blocks.len()).filter(|&other| joined[kind][other] && has(&blocks[other]));
            (kind, near.collect::<Vec<usize>>())
        };
        let filled: Vec<_> = lacking.iter().map(sources).filter(|(_, sources)| !sources.is_empty()).collect();
        if filled.is_empty() {
            return Ok(Err(DataError::Features(format!(
                "nodes of type {} have no features, and no neighbours with features, however far: leave out \
                 featureless => 'neighbor_mean'",
                names[first]
            ))));
        }
        let mut fresh = Vec::new();
        for (kind, sources) in filled {
            fresh.push((kind, means(graph, (of, &place), kind as u32, &sources, &blocks, &mut reservation)?));
        }
        for (kind, block) in fresh {
            blocks[kind] = block;
        }
    }
}

/// The means over the neighbours of the nodes of one type, the parts of the types `sources` side by side.
fn means(
    graph: &Graph,
    (of, place): (&[u32], &[u32]),
    kind: u32,
    sources: &[usize],
    blocks: &[Features],
    reservation: &mut Reservation<'_>,
) -> Result<Features, Stopped> {
    let mut starts = vec![usize::MAX; blocks.len()];
    let mut width = 0;
    for &source in sources {
        starts[source] = width;
        width += blocks[source].n_columns();
    }
    let (mut sums, mut touched) = (vec![0f64; width], Vec::<u32>::new());
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::<f32>::new());
    let members = (0u32..).zip(of).filter(|(_, of)| **of == kind).map(|(node, _)| node);
    for (done, node) in members.enumerate() {
        if done % 1024 == 0 {
            reservation.check()?;
        }
        for &source in sources {
            let near = || graph.neighbors(node).iter().filter(|&&u| of[u as usize] as usize == source);
            let share = 1.0 / near().count().max(1) as f64;
            for &u in near() {
                let mut add = |column: usize, value: f32| {
                    let at = starts[source] + column;
                    if sums[at] == 0.0 {
                        touched.push(at as u32);
                    }
                    sums[at] += share * f64::from(value);
                };
                let row = place[u as usize] as usize;
                match &blocks[source] {
                    Features::Sparse(rows) => {
                        let (own, numbers) = rows.row(row);
                        own.iter().zip(numbers).for_each(|(column, value)| add(*column as usize, *value));
                    }
                    Features::Dense { columns, values } => {
                        values[row * columns..][..*columns].iter().enumerate().for_each(|(at, value)| add(at, *value));
                    }
                    Features::None => {}
                }
            }
        }
        touched.sort_unstable();
        // What has cancelled to 0 may have been touched again.
        touched.dedup();
        reservation.grow(16 * touched.len() + 8)?;
        for &at in &touched {
            let sum = std::mem::take(&mut sums[at as usize]) as f32;
            if sum != 0.0 {
                columns.push(at);
                values.push(sum);
            }
        }
        touched.clear();
        offsets.push(columns.len());
    }
    Ok(Features::Sparse(SparseRows::from_sorted(width, offsets, columns, values)))
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    fn row(features: &Features, row: usize) -> Vec<(u32, f32)> {
        let Features::Sparse(rows) = features else { panic!("sparse rows are expected") };
        let (columns, values) = rows.row(row);
        columns.iter().copied().zip(values.iter().copied()).collect()
    }

    /// Papers 0 and 2 with two dense columns, authors 1 and 3 without, a subject 4 with three sparse columns.
    fn blocks() -> (Vec<u32>, Vec<Features>) {
        let papers = Features::dense(2, vec![1.0, 0.0, 3.0, 4.0]).unwrap();
        let subject = SparseRows::new(3, vec![0, 1], vec![2], vec![5.0]).unwrap();
        (vec![0, 1, 0, 1, 2], vec![papers, Features::None, Features::Sparse(subject)])
    }

    #[test]
    fn each_type_has_columns_of_its_own_and_a_node_without_features_has_one() {
        let (of, blocks) = blocks();
        let joined = joined_features(&of, &blocks).unwrap();
        assert_eq!(joined.n_columns(), 2 + 2 + 3);
        let rows: Vec<_> = (0..5).map(|node| row(&joined, node)).collect();
        assert_eq!(rows[0], [(0, 1.0)]);
        assert_eq!(rows[1], [(2, 1.0)]);
        assert_eq!(rows[2], [(0, 3.0), (1, 4.0)]);
        assert_eq!(rows[3], [(3, 1.0)]);
        assert_eq!(rows[4], [(6, 5.0)]);
        assert!(joined_features(&[0, 0, 0], &blocks[..1]).is_err());
    }

    #[test]
    fn what_a_type_lacks_is_the_mean_of_its_neighbours_features() {
        let (of, blocks) = blocks();
        let names: Vec<String> = ["paper", "author", "subject"].map(str::to_owned).to_vec();
        // Author 1 wrote both papers and knows the subject; author 3 wrote nothing and has no neighbour.
        let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (1, 4)]);
        let filled = with_neighbor_means(&graph, &names, &of, blocks, &Unmonitored).unwrap().unwrap();
        assert_eq!(filled[1].n_columns(), 5);
        assert_eq!(row(&filled[1], 0), [(0, 2.0), (1, 2.0), (4, 5.0)]);
        assert_eq!(row(&filled[1], 1), []);
    }

    #[test]
    fn features_go_as_far_as_edges_lead_and_a_type_that_they_do_not_reach_is_an_error() {
        // Papers 0 and 1 with features, author 2 of both, institute 3 of the author.
        let of = [0, 0, 1, 2];
        let blocks = vec![Features::dense(1, vec![2.0, 4.0]).unwrap(), Features::None, Features::None];
        let names: Vec<String> = ["paper", "author", "institute"].map(str::to_owned).to_vec();
        let graph = Graph::from_edges(4, &[(0, 2), (1, 2), (2, 3)]);
        let filled = with_neighbor_means(&graph, &names, &of, blocks.clone(), &Unmonitored).unwrap().unwrap();
        assert_eq!((row(&filled[1], 0), row(&filled[2], 0)), (vec![(0, 3.0)], vec![(0, 3.0)]));
        let apart = Graph::from_edges(4, &[(0, 2), (1, 2)]);
        let error = with_neighbor_means(&apart, &names, &of, blocks, &Unmonitored).unwrap().unwrap_err();
        assert!(
            error.to_string().starts_with("nodes of type institute have no features, and no neighbours"),
            "{error}"
        );
    }
}
