//! Laplacians and adjacencies of complexes with few faces, as sets of bits.

use crate::ChainComplex;

/// The most faces of a dimension that a complex may have: a set of them is a number of 128 bits.
pub(crate) const MAX_FACES: usize = 128;

/// For each face of one dimension k of a complex the others that it shares a face or a coface with, by the sign of the entry in
/// the Hodge Laplacian. Two faces share at most one of either kind.
#[derive(Default)]
pub(crate) struct Neighbors {
    /// The faces of dimension k, by their numbers in the direct sum.
    pub(crate) first: usize,
    pub(crate) rows: Vec<Row>,
    /// For each face of dimension k - 1 its cofaces in which it has the sign +, and -.
    cofaces: Vec<[u128; 2]>,
    /// For each pair of faces with a coface in common which that is; what stands for other pairs has no meaning.
    shared_above: Vec<u32>,
}

/// The neighbours of one face, `[plus, minus]`.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) below: [u128; 2],
    pub(crate) above: [u128; 2],
    /// The number of faces of dimension k + 1 that it is in.
    pub(crate) degree: u32,
}

impl Neighbors {
    /// Reads the faces of dimension `k` of a complex, with the neighbours that are wanted. O(faces).
    pub(crate) fn read(&mut self, chain: &ChainComplex, complex: usize, k: usize, [below, above]: [bool; 2]) {
        let faces = chain.faces_of(complex, k);
        self.first = faces.start;
        self.rows.clear();
        self.rows.resize(faces.len(), Row::default());
        if below && k > 0 {
            self.read_below(chain, complex, k);
        }
        if above {
            self.read_above(chain, complex, k);
        }
    }

    /// Writes the row of a face in the Laplacian whose parts have been read: columns, and values that are not 0.
    pub(crate) fn laplacian(
        &self,
        face: usize,
        diagonal: f32,
        signed: bool,
        columns: &mut Vec<u32>,
        values: &mut Vec<f32>,
    ) {
        let Row { below, above, .. } = self.rows[face];
        let (mut minus, mut entries, twice) = if signed {
            let (plus, minus) = (below[0] | above[0], below[1] | above[1]);
            (minus, (plus | minus) & !(plus & minus), (below[0] & above[0]) | (below[1] & above[1]))
        } else {
            let (below, above) = (below[0] | below[1], above[0] | above[1]);
            (0, below | above, below & above)
        };
        if diagonal != 0.0 {
            entries |= 1 << face;
            minus &= !(1 << face);
        }
        let first = self.first as u32;
        each_bit(entries, |other| {
            columns.push(first + other as u32);
            let value = if other == face { diagonal } else { 1.0 + (twice >> other & 1) as f32 };
            values.push(if minus >> other & 1 == 1 { -value } else { value });
        });
    }

    /// Writes the faces that share a face of dimension k - 1 with a face, and which; `boundary` is that of the face, and
    /// `first_below` the number of the complex's first face of dimension k - 1.
    pub(crate) fn lower(
        &self,
        face: usize,
        boundary: &[u32],
        first_below: usize,
        columns: &mut Vec<u32>,
        values: &mut Vec<u32>,
    ) {
        let first = self.first as u32;
        let [plus, minus] = self.rows[face].below;
        each_bit(plus | minus, |other| {
            let is_in = |&&shared: &&u32| {
                let [plus, minus] = self.cofaces[shared as usize - first_below];
                (plus | minus) >> other & 1 == 1
            };
            columns.push(first + other as u32);
            values.extend(boundary.iter().find(is_in));
        });
    }

    /// Writes the faces that share a face of dimension k + 1 with a face, and which.
    pub(crate) fn upper(&self, face: usize, columns: &mut Vec<u32>, values: &mut Vec<u32>) {
        let (first, n) = (self.first as u32, self.rows.len());
        let [plus, minus] = self.rows[face].above;
        each_bit(plus | minus, |other| {
            columns.push(first + other as u32);
            values.push(self.shared_above[face * n + other]);
        });
    }

    /// Of each pair of faces with a coface in common which that is; after [`Neighbors::read`].
    pub(crate) fn read_shared_above(&mut self, chain: &ChainComplex, complex: usize, k: usize) {
        let (cofaces, width, n) = (chain.faces_of(complex, k + 1), k + 2, self.rows.len());
        self.shared_above.resize(n * n, 0);
        for (coface, boundary) in
            cofaces.clone().zip(chain.boundaries(k + 1)[cofaces.start * width..].chunks_exact(width))
        {
            for &a in boundary {
                for &b in boundary {
                    self.shared_above[(a as usize - self.first) * n + b as usize - self.first] = coface as u32;
                }
            }
        }
    }

    fn read_below(&mut self, chain: &ChainComplex, complex: usize, k: usize) {
        let (faces, lower) = (chain.faces_of(complex, k), chain.faces_of(complex, k - 1));
        self.cofaces.clear();
        self.cofaces.resize(lower.len(), [0; 2]);
        let boundaries = &chain.boundaries(k)[faces.start * (k + 1)..faces.end * (k + 1)];
        for (face, boundary) in boundaries.chunks_exact(k + 1).enumerate() {
            for (omitted, &shared) in boundary.iter().enumerate() {
                self.cofaces[shared as usize - lower.start][omitted % 2] |= 1 << face;
            }
        }
        for (face, (row, boundary)) in self.rows.iter_mut().zip(boundaries.chunks_exact(k + 1)).enumerate() {
            for (omitted, &shared) in boundary.iter().enumerate() {
                let cofaces = self.cofaces[shared as usize - lower.start];
                row.below[0] |= cofaces[omitted % 2];
                row.below[1] |= cofaces[1 - omitted % 2];
            }
            row.below[0] &= !(1 << face);
        }
    }

    fn read_above(&mut self, chain: &ChainComplex, complex: usize, k: usize) {
        let cofaces = chain.faces_of(complex, k + 1);
        let width = k + 2;
        for boundary in chain.boundaries(k + 1)[cofaces.start * width..cofaces.end * width].chunks_exact(width) {
            let mut signs = [0u128; 2];
            for (omitted, &face) in boundary.iter().enumerate() {
                signs[omitted % 2] |= 1 << (face as usize - self.first);
            }
            for (omitted, &face) in boundary.iter().enumerate() {
                let face = face as usize - self.first;
                let row = &mut self.rows[face];
                row.above[0] |= signs[omitted % 2] & !(1 << face);
                row.above[1] |= signs[1 - omitted % 2];
                row.degree += 1;
            }
        }
    }
}

/// The positions of the bits, ascending.
fn each_bit(set: u128, mut each: impl FnMut(usize)) {
    for (mut half, at) in [(set as u64, 0), ((set >> 64) as u64, 64)] {
        while half != 0 {
            each(at + half.trailing_zeros() as usize);
            half &= half - 1;
        }
    }
}
