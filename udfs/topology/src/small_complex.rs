//! The faces of a complex on few vertices, as sets of bits.

use crate::Facets;

/// The most vertices: a set of faces is then a list of at most 64 words.
pub(crate) const MAX_VERTICES: usize = 12;

/// Numbers the faces of complexes on n vertices, at most [`MAX_VERTICES`], without a sort. A face is a number whose bit
/// n - 1 - v stands for vertex v, so that among faces of one size lexicographic order is descending.
pub(crate) struct SmallFaces {
    n_vertices: usize,
    present: [u64; WORDS],
    place: Box<[u16; 1 << MAX_VERTICES]>,
    /// The faces of the dimension above, in order.
    above: Vec<u16>,
    faces: Vec<u16>,
}

const WORDS: usize = (1 << MAX_VERTICES) / 64;

impl Default for SmallFaces {
    fn default() -> Self {
        Self {
            n_vertices: 0,
            present: [0; WORDS],
            place: Box::new([0; 1 << MAX_VERTICES]),
            above: Vec::new(),
            faces: Vec::new(),
        }
    }
}

impl SmallFaces {
    /// Starts with a complex: no face is above its top dimension.
    pub(crate) fn begin(&mut self, n_vertices: usize) {
        self.n_vertices = n_vertices;
        self.faces.clear();
    }

    /// The faces of the next lower dimension: the listed simplices of `width` vertices and the boundaries of the faces before.
    /// `vertex` gets the vertices of each face in order; `boundary` the positions among them of the boundary of each face before.
    /// O(faces + words).
    pub(crate) fn descend(
        &mut self,
        facets: &Facets,
        width: usize,
        mut vertex: impl FnMut(u32),
        mut boundary: impl FnMut(u32),
    ) -> usize {
        std::mem::swap(&mut self.above, &mut self.faces);
        self.faces.clear();
        let (n, words) = (self.n_vertices, (1usize << self.n_vertices).div_ceil(64));
        self.present[..words].fill(0);
        for simplex in facets.iter().filter(|simplex| simplex.len() == width) {
            let face = simplex.iter().fold(0u16, |face, &v| face | 1 << (n - 1 - v as usize));
            self.present[usize::from(face) / 64] |= 1 << (face % 64);
        }
        for &face in &self.above {
            without_each(face, |rest| self.present[usize::from(rest) / 64] |= 1 << (rest % 64));
        }
        for word in (0..words).rev() {
            let mut rest = self.present[word];
            while rest != 0 {
                let top = 63 - rest.leading_zeros();
                rest ^= 1 << top;
                let face = (word * 64) as u16 + top as u16;
                self.place[usize::from(face)] = self.faces.len() as u16;
                self.faces.push(face);
                let mut vertices = face;
                while vertices != 0 {
                    let high = 15 - vertices.leading_zeros();
                    vertices ^= 1 << high;
                    vertex(n as u32 - 1 - high);
                }
            }
        }
        for &face in &self.above {
            without_each(face, |rest| boundary(u32::from(self.place[usize::from(rest)])));
        }
        self.faces.len()
    }
}

/// The face without its first vertex, without its second, and so on.
fn without_each(face: u16, mut each: impl FnMut(u16)) {
    let mut vertices = face;
    while vertices != 0 {
        let high = 1 << (15 - vertices.leading_zeros());
        vertices ^= high;
        each(face ^ high);
    }
}
