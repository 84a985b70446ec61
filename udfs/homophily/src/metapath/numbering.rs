//! Numbers for the labelled nodes, so that a class is a range.

/// The numbers of the labelled nodes: class by class, each class from a multiple of 64 on.
pub(super) struct Numbering {
    /// The number of each node; `None` without a label.
    pub(super) of_node: Vec<Option<u32>>,
    /// The labelled nodes in the order of their numbers: node, number, class.
    pub(super) nodes: Vec<(u32, u32, u32)>,
    /// Where each class starts, and the end of the last.
    pub(super) starts: Vec<u32>,
}

impl Numbering {
    pub(super) fn new(labels: &[Option<u32>]) -> Self {
        let n_classes = labels.iter().flatten().max().map_or(0, |&label| label as usize + 1);
        let mut sizes = vec![0u32; n_classes];
        labels.iter().flatten().for_each(|&label| sizes[label as usize] += 1);
        let mut starts = vec![0u32];
        for size in &sizes {
            starts.push(starts[starts.len() - 1] + size.next_multiple_of(64));
        }
        let mut next = starts.clone();
        // Where each class begins among the nodes: as its numbers, but without the padding.
        let mut places: Vec<u32> = sizes
            .iter()
            .scan(0, |end, size| {
                *end += size;
                Some(*end - size)
            })
            .collect();
        let mut nodes = vec![(0, 0, 0); sizes.iter().sum::<u32>() as usize];
        let mut of_node = vec![None; labels.len()];
        for (node, label) in (0u32..).zip(labels) {
            let Some(class) = *label else { continue };
            let (number, place) = (&mut next[class as usize], &mut places[class as usize]);
            of_node[node as usize] = Some(*number);
            nodes[*place as usize] = (node, *number, class);
            *number += 1;
            *place += 1;
        }
        Self { of_node, nodes, starts }
    }

    /// The numbers of a class.
    pub(super) fn class(&self, class: u32) -> std::ops::Range<u32> {
        self.starts[class as usize]..self.starts[class as usize + 1]
    }

    /// The words of a bit set over the numbers.
    pub(super) fn words(&self) -> usize {
        *self.starts.last().unwrap_or(&0) as usize / 64
    }
}
