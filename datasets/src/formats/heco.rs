//! HeCo's folders: `XY.txt` with the edges between types X and Y, `labels.npy` of the target type, `X_feat.npz`, and
//! `train_K.npy`, `val_K.npy`, `test_K.npy`.
//!
//! Nodes are numbered from 0 on, the target type first, so that its numbers are the publisher's; the others follow in the
//! order of their letters. The column `id` holds the publisher's number within the type.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};

use super::{DIRECTED, Labels, not_this};
use crate::array::{Npz, npy_file, npy_file_header};
use crate::columns::{self, Splits, Values};
use crate::files::{self, Lines};
use crate::matrix::{Matrix, Row, sort_row};
use crate::reader::GraphFile;
use crate::scan::{Scan, check};
use crate::sparse_npz;
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result};

/// The labelled nodes of a class in each of the publisher's splits; the first is split 0.
const LABELLED: [&str; 3] = ["20", "40", "60"];

const PARTS: [&str; 3] = ["train", "val", "test"];

pub(super) static FORMAT: Format = Format {
    name: "heco",
    description: "XY.txt, labels.npy, X_feat.npz, train_K.npy, val_K.npy, test_K.npy: a heterogeneous graph (liun-online/HeCo)",
    options: &[DIRECTED],
    recognises: |path| path.is_dir() && Folder::find(path).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let Some(folder) = Folder::find(path) else {
        return Err(not_this(path, "is no heco set: labels.npy and files XY.txt with one X are expected"));
    };
    Ok(FORMAT.dataset(path, options, folder))
}

#[derive(Debug)]
struct Folder {
    folder: PathBuf,
    target: char,
    /// The other types, in the order of their letters.
    others: Vec<char>,
}

/// The type that a letter stands for, which depends on the target: papers have authors, movies have actors.
fn type_name(target: char, letter: char) -> String {
    let name = match (target, letter) {
        (_, 'p') => "paper",
        (_, 'm') => "movie",
        ('m', 'a') => "actor",
        (_, 'a') => "author",
        (_, 's') => "subject",
        (_, 'r') => "reference",
        (_, 'd') => "director",
        (_, 'w') => "writer",
        _ => return letter.to_string(),
    };
    name.to_owned()
}

/// The nodes of each type: their letter, the first number, and how many there are.
type Blocks = Vec<(char, usize, usize)>;

impl Folder {
    fn find(folder: &Path) -> Option<Self> {
        if !files::is_file(&folder.join("labels.npy")) {
            return None;
        }
        let pairs: Vec<(char, char)> = files::names(folder)
            .iter()
            .filter_map(|name| {
                let mut letters = name.strip_suffix(".txt")?.chars();
                let pair = (letters.next()?, letters.next()?);
                (letters.next().is_none() && pair.0.is_ascii_lowercase() && pair.1.is_ascii_lowercase()).then_some(pair)
            })
            .collect();
        let target = pairs.first()?.0;
        let others: Vec<char> = pairs.iter().map(|pair| pair.1).collect();
        let one_target = pairs.iter().all(|pair| pair.0 == target) && !others.contains(&target);
        one_target.then(|| Self { folder: folder.to_owned(), target, others })
    }

    /// The types, the target first.
    fn letters(&self) -> impl Iterator<Item = char> {
        std::iter::once(self.target).chain(self.others.iter().copied())
    }

    fn edges_file(&self, other: char) -> PathBuf {
        self.folder.join(format!("{}{other}.txt", self.target))
    }

    fn features_file(&self, letter: char) -> Option<PathBuf> {
        Some(self.folder.join(format!("{letter}_feat.npz"))).filter(|file| files::is_file(file))
    }

    /// The rows of an edge file as published.
    fn arcs(&self, other: char, keep_going: &dyn Fn() -> bool) -> Result<Vec<(i64, i64)>> {
        let file = self.edges_file(other);
        let bytes = files::read(&file)?;
        let mut lines = Lines::new(&file, &bytes, keep_going);
        let mut edges = Vec::new();
        while let Some((number, line)) = lines.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let mut ends = line.split_whitespace().map(str::parse::<u32>);
            match (ends.next(), ends.next(), ends.next()) {
                (Some(Ok(x)), Some(Ok(y)), None) => edges.push((i64::from(x), i64::from(y))),
                _ => return Err(Error::line(&file, number, format!("'{line}' are not two node numbers"))),
            }
        }
        Ok(edges)
    }

    /// The types and their numbers of nodes: the target's from its labels, the others' from their features, else one past
    /// the largest number in their edges.
    fn blocks(&self, keep_going: &dyn Fn() -> bool) -> Result<Blocks> {
        let labels = npy_file_header(&self.folder.join("labels.npy"))?;
        let mut blocks = vec![(self.target, 0, labels.shape.first().copied().unwrap_or(0))];
        for &other in &self.others {
            let count = match self.features_file(other) {
                Some(file) => Npz::open(&file)?.matrix_shape("shape")?.0,
                None => self.arcs(other, keep_going)?.iter().map(|edge| edge.1 as usize + 1).max().unwrap_or(0),
            };
            let (_, first, before): (char, usize, usize) = blocks[blocks.len() - 1];
            let Some(first) = first.checked_add(before).filter(|first| first.checked_add(count).is_some()) else {
                return Err(Error::file(&self.folder, "the nodes of all types are more than can be counted"));
            };
            blocks.push((other, first, count));
        }
        let bytes = GraphFile::files(self).iter().map(|file| files::size(file)).sum();
        files::check_nodes(&self.folder, blocks.iter().map(|block| block.2).sum(), bytes)?;
        Ok(blocks)
    }

    /// The width of the features, where all files agree.
    fn width(&self) -> Result<Option<usize>> {
        let mut width = None;
        for letter in self.letters() {
            let Some(file) = self.features_file(letter) else { continue };
            let mut npz = Npz::open(&file)?;
            let (_, found) = npz.matrix_shape("shape")?;
            if width.is_some_and(|width| width != found) {
                let what = format!("{found} features where another type has {}", width.unwrap_or(0));
                return Err(npz.fault("shape", what));
            }
            width = Some(found);
        }
        Ok(width)
    }

    /// The features of all types, type by type; types without a file have rows that are not there.
    fn features(&self, blocks: &Blocks, keep_going: &dyn Fn() -> bool) -> Result<Values> {
        let width = self.width()?.unwrap_or(0);
        let (mut offsets, mut entries, mut at) = (vec![0], Vec::new(), Vec::new());
        for &(letter, _, count) in blocks {
            let Some(file) = self.features_file(letter) else {
                at.extend(std::iter::repeat_n(Row::Absent, count));
                continue;
            };
            check(keep_going)?;
            for mut row in sparse(&mut Npz::open(&file)?, count)? {
                at.push(Row::At(offsets.len() - 1));
                sort_row(&mut row, 0);
                entries.extend(row);
                offsets.push(entries.len());
            }
        }
        Ok(Values::Features(Matrix::Sparse { width, offsets, entries }, Box::new(move |row| at[row])))
    }
}

/// The `n` rows of a scipy matrix.
fn sparse(npz: &mut Npz, n: usize) -> Result<Vec<Vec<(i32, f32)>>> {
    let (rows, width) = npz.matrix_shape("shape")?;
    if rows != n {
        return Err(npz.fault("shape", format!("{rows} rows for {n} nodes")));
    }
    Ok(match sparse_npz::read(npz, n, width)?.into_sparse() {
        Matrix::Sparse { offsets, entries, .. } => {
            offsets.windows(2).map(|ends| entries[ends[0]..ends[1]].to_vec()).collect()
        }
        Matrix::Dense { .. } => vec![Vec::new(); n],
    })
}

impl GraphFile for Folder {
    fn has_splits(&self) -> bool {
        files::is_file(&self.folder.join(format!("train_{}.npy", LABELLED[0])))
    }

    fn nodes_schema(&self) -> Result<SchemaRef> {
        let features = Features { sparse: true, width: self.width()? };
        let nodes = columns::nodes_schema(DataType::Int64, DataType::Int64, features);
        let others = [Field::new("type", DataType::Utf8, true), Field::new("id", DataType::Int64, true)];
        Ok(columns::extended(&nodes, others))
    }

    fn edges_schema(&self) -> Result<SchemaRef> {
        let edges = columns::edges_schema(DataType::Int64);
        Ok(columns::extended(&edges, [Field::new("type", DataType::Utf8, true)]))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let blocks = self.blocks(scan.keep_going)?;
        let n: usize = blocks.iter().map(|block| block.2).sum();
        scan.batches(n, |name| {
            Ok(match name {
                "node" => Values::Numbers,
                "id" => Values::Integers(blocks.iter().flat_map(|block| 0..block.2 as i64).collect()),
                "type" => {
                    let names = blocks.iter().map(|block| (type_name(self.target, block.0), block.2));
                    Values::Texts(names.flat_map(|(name, count)| std::iter::repeat_n(name, count)).collect())
                }
                "label" => {
                    let file = self.folder.join("labels.npy");
                    match Labels::of(&npy_file(&file)?).map_err(|what| Error::file(&file, what))? {
                        Labels::Classes(mut labels) => {
                            labels.resize(n, None);
                            Values::Labels(labels)
                        }
                        Labels::Targets(_) => return Err(Error::file(&file, "labels are no whole numbers")),
                    }
                }
                _ => self.features(&blocks, scan.keep_going)?,
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let blocks = self.blocks(scan.keep_going)?;
        let (mut src, mut dst, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for &(other, first, count) in &blocks[1..] {
            let target = blocks[0].2 as i64;
            let edges = self.arcs(other, scan.keep_going)?;
            if let Some((x, y)) = edges.iter().find(|(x, y)| *x >= target || *y >= count as i64) {
                let what = format!("the edge {x}, {y} is beyond {target} and {count} nodes");
                return Err(Error::file(&self.edges_file(other), what));
            }
            let name = format!("{}-{}", type_name(self.target, self.target), type_name(self.target, other));
            types.extend(std::iter::repeat_n(name, edges.len()));
            src.extend(edges.iter().map(|edge| edge.0));
            dst.extend(edges.iter().map(|edge| edge.1 + first as i64));
        }
        scan.typed_edges((src, dst), types)
    }

    fn splits(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut splits = Splits::default();
        for (number, labelled) in (0..).zip(LABELLED) {
            for part in PARTS {
                let file = self.folder.join(format!("{part}_{labelled}.npy"));
                let nodes = npy_file(&file)?.integers().map_err(|what| Error::file(&file, what))?;
                nodes.into_iter().for_each(|node| splits.push(number, node, part));
            }
        }
        scan.splits(splits)
    }

    fn expected_bytes(&self, table: &str, features: bool) -> usize {
        let edges: usize = self.others.iter().map(|&other| files::size(&self.edges_file(other))).sum();
        let matrix = |letter| self.features_file(letter).filter(|_| features).map_or(0, |file| files::size(&file));
        match table {
            "edges" => 12 * edges,
            "splits" => 1 << 20,
            _ => 12 * edges + 20 * self.letters().map(matrix).sum::<usize>(),
        }
    }

    fn missing_features(&self) -> Option<String> {
        let missing = self.letters().find(|&letter| self.features_file(letter).is_none());
        missing.map(|letter| format!("{letter}_feat.npz"))
    }

    fn directed(&self) -> bool {
        true
    }

    fn files(&self) -> Vec<PathBuf> {
        let edges = self.others.iter().map(|&other| self.edges_file(other));
        let features = self.letters().map(|letter| self.folder.join(format!("{letter}_feat.npz")));
        let splits = LABELLED.iter().flat_map(|k| PARTS.map(|part| self.folder.join(format!("{part}_{k}.npy"))));
        edges.chain(features).chain(splits).chain([self.folder.join("labels.npy")]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::tests::npy;

    #[test]
    fn more_nodes_than_can_be_counted_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("labels.npy", &npy("<i8", false, "(18446744073709551615,)", &[]));
        write("pa.txt", b"0 5\n");
        let blocks = Folder::find(folder.path()).unwrap().blocks(&|| true);
        assert!(blocks.unwrap_err().to_string().contains("more than can be counted"));
        write("labels.npy", &npy("<i8", false, "(1,)", &[0; 8]));
        write("pa.txt", b"0 2147483647\n");
        let blocks = Folder::find(folder.path()).unwrap().blocks(&|| true);
        assert!(blocks.unwrap_err().to_string().contains("speaks of 2147483649 nodes"));
    }
}
