//! MATLAB's MAT-files of level 5: numeric and sparse arrays, compressed or not.
//!
//! A header of 128 bytes ends with the version and the two letters of the byte order. Then come elements, each a tag (type
//! and number of bytes) and its bytes, padded to 8: an array holds elements for its flags, its dimensions, its name and its
//! values; values are stored in the smallest type that holds them, whatever the class of the array. A compressed element
//! is a zlib stream of one element. (MAT-File Format, The MathWorks, chapter 1.)

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;

use crate::{Error, Result, files};

const HEADER: usize = 128;

/// The types of elements.
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// The classes of arrays: 6 to 15 are dense numbers.
const SPARSE: u8 = 5;
const NUMBERS: std::ops::RangeInclusive<u8> = 6..=15;

/// The bytes of an array that hold its flags, dimensions and name, unless the name is very long.
const HEAD: u64 = 4096;

/// An array's name and shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// At least two: rows, columns.
    pub(crate) shape: Vec<usize>,
    pub(crate) sparse: bool,
    /// Where its element starts.
    at: usize,
}

/// The values of an array.
#[derive(Debug, PartialEq)]
pub(crate) enum MatArray {
    /// Column by column.
    Dense { rows: usize, columns: usize, values: Vec<f64> },
    /// Compressed sparse columns: column j has the entries `starts[j]..starts[j + 1]`.
    Sparse { rows: usize, starts: Vec<usize>, row_of: Vec<u32>, values: Vec<f64> },
}

/// A MAT-file in memory.
pub(crate) struct MatFile {
    path: PathBuf,
    bytes: Vec<u8>,
    swapped: bool,
    variables: Vec<Variable>,
}

/// Whether a file begins as a MAT-file of level 5 does.
pub(crate) fn is_mat(path: &Path) -> bool {
    files::is_file(path) && files::head(path, HEADER as u64).is_ok_and(|head| byte_order(&head).is_some())
}

/// Whether the byte order of a header is not this machine's little end; `None` where there is no header.
fn byte_order(head: &[u8]) -> Option<bool> {
    match head.get(124..HEADER)? {
        [_, 1, b'I', b'M'] => Some(false),
        [1, _, b'M', b'I'] => Some(true),
        _ => None,
    }
}

/// Whether a file is one of HDF5, which may have a header of 512 bytes of another format before it.
fn is_hdf5(bytes: &[u8]) -> bool {
    const MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";
    let says = |start: &[u8]| bytes.starts_with(start);
    [0, 512].iter().any(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(MAGIC)))
        || says(b"MATLAB 7.3 MAT-file")
        || matches!(bytes.get(124..HEADER), Some([_, 2, b'I', b'M'] | [2, _, b'M', b'I']))
}

impl MatFile {
    /// Reads a file and the heads of its arrays.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let bytes = files::read(path)?;
        let Some(swapped) = byte_order(&bytes) else {
            let what = match is_hdf5(&bytes) {
                true => {
                    "is a MAT-file of level 7.3, which is HDF5 and is not read: save(file, ..., '-v7') writes one of level 5"
                }
                false => "is no MAT-file of level 5, as save(file, ..., '-v7') writes it",
            };
            return Err(Error::file(path, what));
        };
        let mut file = Self { path: path.to_owned(), bytes, swapped, variables: Vec::new() };
        let mut at = HEADER;
        while at < file.bytes.len() {
            let fault = |what: String| Error::byte(path, at, what);
            let mut cursor = Cursor { bytes: &file.bytes, at, swapped };
            let (kind, length) = cursor.tag().map_err(fault)?;
            let end = cursor.at.checked_add(length).filter(|end| *end <= file.bytes.len());
            let end =
                end.ok_or_else(|| fault(format!("an element of {length} bytes reaches beyond the file's end")))?;
            if let Some(variable) = file.head(at).map_err(fault)? {
                file.variables.push(variable);
            }
            // Compressed elements are not padded.
            at = if kind == COMPRESSED { end } else { end.next_multiple_of(8) };
        }
        Ok(file)
    }

    /// The numeric arrays.
    #[cfg(test)]
    pub(crate) fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The array of a name.
    pub(crate) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// Reads an array.
    pub(crate) fn array(&self, name: &str) -> Result<MatArray> {
        let Some(variable) = self.variable(name) else {
            let names: Vec<String> = self.variables.iter().map(|variable| variable.name.clone()).collect();
            return Err(self.fault(name, format!("is missing; the file has: {}", files::few(&names))));
        };
        self.body(variable).map_err(|what| self.fault(name, what))
    }

    /// The error of a fault in an array.
    pub(crate) fn fault(&self, name: &str, what: impl ToString) -> Error {
        Error::member(&self.path, &format!("array {name}"), what)
    }

    /// An array's element, uncompressed, up to `limit` bytes.
    fn element(&self, at: usize, limit: u64) -> Result<Vec<u8>, String> {
        let mut cursor = Cursor { bytes: &self.bytes, at, swapped: self.swapped };
        let (kind, length) = cursor.tag()?;
        let bytes = cursor.take(length)?;
        if kind != COMPRESSED {
            return Ok(self.bytes[at..cursor.at.min(at.saturating_add(limit as usize))].to_vec());
        }
        let mut decoder = ZlibDecoder::new(bytes);
        let mut head = [0u8; 8];
        decoder.read_exact(&mut head).map_err(|error| format!("cannot be uncompressed: {error}"))?;
        let (_, length) = Cursor { bytes: &head, at: 0, swapped: self.swapped }.tag()?;
        let mut element = head.to_vec();
        let wanted = (length as u64).min(limit);
        decoder.take(wanted).read_to_end(&mut element).map_err(|error| format!("cannot be uncompressed: {error}"))?;
        Ok(element)
    }

    /// The name and shape of the array at a byte; `None` for text, cells, structures and the like.
    fn head(&self, at: usize) -> Result<Option<Variable>, String> {
        let element = self.element(at, HEAD)?;
        let mut cursor = Cursor { bytes: &element, at: 0, swapped: self.swapped };
        if cursor.tag()?.0 != MATRIX {
            return Ok(None);
        }
        let Some(head) = cursor.array_head()? else { return Ok(None) };
        Ok(Some(Variable { name: head.name, shape: head.shape, sparse: head.class == SPARSE, at }))
    }

    fn body(&self, variable: &Variable) -> Result<MatArray, String> {
        let element = self.element(variable.at, u64::MAX)?;
        let mut cursor = Cursor { bytes: &element, at: 0, swapped: self.swapped };
        cursor.tag()?;
        let head = cursor.array_head()?.ok_or("is no numeric array")?;
        if head.complex {
            return Err("holds complex numbers, which are not read".to_owned());
        }
        let &[rows, columns] = head.shape.as_slice() else {
            return Err(format!("has the shape {:?}; arrays of two dimensions are read", head.shape));
        };
        if head.class != SPARSE {
            let values = cursor.numbers()?;
            if rows.checked_mul(columns) != Some(values.len()) {
                return Err(format!("holds {} values for {rows} rows and {columns} columns", values.len()));
            }
            return Ok(MatArray::Dense { rows, columns, values });
        }
        let row_of: Vec<u32> = cursor.numbers()?.into_iter().map(|row| row as u32).collect();
        let starts: Vec<usize> = cursor.numbers()?.into_iter().map(|start| start as usize).collect();
        let mut values = cursor.numbers()?;
        // Writers may allocate more entries than they use.
        let entries = starts.last().copied().unwrap_or(0);
        if starts.len() != columns + 1 || starts.windows(2).any(|pair| pair[0] > pair[1]) || starts[0] != 0 {
            return Err(format!("its column starts are not those of {columns} columns"));
        }
        if row_of.len() < entries || values.len() < entries {
            return Err(format!("has {} rows and {} values for {entries} entries", row_of.len(), values.len()));
        }
        let row_of = row_of[..entries].to_vec();
        values.truncate(entries);
        if row_of.iter().any(|row| *row as usize >= rows) {
            return Err(format!("has an entry beyond its {rows} rows"));
        }
        Ok(MatArray::Sparse { rows, starts, row_of, values })
    }
}

impl MatArray {
    /// The entries of a sparse array, or those of a dense one that are not zero: row, column, value, column by column.
    pub(crate) fn entries(&self) -> Vec<(u32, u32, f64)> {
        match self {
            Self::Dense { rows, values, .. } => {
                let nonzero = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
                nonzero.map(|(i, &value)| ((i % rows) as u32, (i / rows) as u32, value)).collect()
            }
            Self::Sparse { starts, row_of, values, .. } => {
                let column = |j: usize| (starts[j]..starts[j + 1]).map(move |i| (row_of[i], j as u32, values[i]));
                (0..starts.len() - 1).flat_map(column).collect()
            }
        }
    }

    /// The values of a dense array, column by column.
    pub(crate) fn dense(self) -> Result<Vec<f64>, String> {
        match self {
            Self::Dense { values, .. } => Ok(values),
            Self::Sparse { .. } => Err("is sparse, a full array is expected".to_owned()),
        }
    }
}

struct ArrayHead {
    class: u8,
    complex: bool,
    shape: Vec<usize>,
    name: String,
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    swapped: bool,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("ends at byte {} where {length} more are expected", self.bytes.len()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        Ok(if self.swapped { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// The type and length of the next element of a file; the cursor is then at its bytes.
    fn tag(&mut self) -> Result<(u32, usize), String> {
        let kind = self.word()?;
        Ok((kind, self.word()? as usize))
    }

    /// The next element within an array: its type and bytes. Up to four bytes may stand in the tag itself.
    fn part(&mut self) -> Result<(u32, &'a [u8]), String> {
        let kind = self.word()?;
        if kind >> 16 != 0 {
            let bytes = self.take(4)?;
            let length = (kind >> 16) as usize;
            return match length {
                1..=4 => Ok((kind & 0xffff, &bytes[..length])),
                _ => Err(format!("a small element of {length} bytes at byte {}", self.at)),
            };
        }
        let length = self.word()? as usize;
        let bytes = self.take(length)?;
        self.at = self.at.next_multiple_of(8);
        Ok((kind, bytes))
    }

    /// The header of an array's values; `None` for arrays that are not numbers.
    fn array_head(&mut self) -> Result<Option<ArrayHead>, String> {
        let (_, flags) = self.part()?;
        let flags: [u8; 4] = flags.get(..4).and_then(|flags| flags.try_into().ok()).ok_or("an array without flags")?;
        let flags = if self.swapped { u32::from_be_bytes(flags) } else { u32::from_le_bytes(flags) };
        let class = flags as u8;
        if class != SPARSE && !NUMBERS.contains(&class) {
            return Ok(None);
        }
        let (kind, dimensions) = self.part()?;
        let shape = numbers(kind, dimensions, self.swapped)?;
        let (_, name) = self.part()?;
        Ok(Some(ArrayHead {
            class,
            complex: flags & 0x800 != 0,
            shape: shape.into_iter().map(|length| length.max(0.0) as usize).collect(),
            name: String::from_utf8_lossy(name).into_owned(),
        }))
    }

    fn numbers(&mut self) -> Result<Vec<f64>, String> {
        let (kind, bytes) = self.part()?;
        numbers(kind, bytes, self.swapped)
    }
}

/// The numbers of an element.
fn numbers(kind: u32, bytes: &[u8], swapped: bool) -> Result<Vec<f64>, String> {
    macro_rules! read {
        ($type:ty) => {{
            let (values, rest) = bytes.as_chunks::<{ size_of::<$type>() }>();
            if !rest.is_empty() {
                return Err(format!("{} bytes do not make whole numbers of {}", bytes.len(), size_of::<$type>()));
            }
            let number = |&bytes: &[u8; size_of::<$type>()]| {
                (if swapped { <$type>::from_be_bytes(bytes) } else { <$type>::from_le_bytes(bytes) }) as f64
            };
            Ok(values.iter().map(number).collect())
        }};
    }
    match kind {
        1 => read!(i8),
        2 => read!(u8),
        3 => read!(i16),
        4 => read!(u16),
        5 => read!(i32),
        6 => read!(u32),
        7 => read!(f32),
        9 => read!(f64),
        12 => read!(i64),
        13 => read!(u64),
        other => Err(format!("numbers of type {other} are not read")),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::Write;

    fn part(kind: u32, bytes: &[u8]) -> Vec<u8> {
        let mut element = [kind.to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
        element.extend_from_slice(bytes);
        element.resize(element.len().next_multiple_of(8), 0);
        element
    }

    /// A small element: up to four bytes in the tag.
    fn small(kind: u32, bytes: &[u8]) -> Vec<u8> {
        let mut element = (kind | (bytes.len() as u32) << 16).to_le_bytes().to_vec();
        element.extend_from_slice(bytes);
        element.resize(8, 0);
        element
    }

    fn words(values: &[i32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn array(class: u32, shape: [i32; 2], name: &str, values: &[Vec<u8>]) -> Vec<u8> {
        let name = if name.len() <= 4 { small(1, name.as_bytes()) } else { part(1, name.as_bytes()) };
        let parts = [part(6, &words(&[class as i32, 0])), part(5, &words(&shape)), name, values.concat()].concat();
        part(MATRIX, &parts)
    }

    fn compressed(element: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(element).unwrap();
        let bytes = encoder.finish().unwrap();
        [15u32.to_le_bytes().to_vec(), (bytes.len() as u32).to_le_bytes().to_vec(), bytes].concat()
    }

    /// A file of elements.
    pub(crate) fn mat(elements: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = b"MATLAB 5.0 MAT-file".to_vec();
        bytes.resize(124, b' ');
        bytes.extend([0, 1, b'I', b'M']);
        elements.iter().for_each(|element| bytes.extend_from_slice(element));
        bytes
    }

    /// A full array of bytes, column by column, of class double.
    pub(crate) fn bytes(name: &str, shape: [i32; 2], values: &[u8]) -> Vec<u8> {
        array(6, shape, name, &[part(2, values)])
    }

    fn opened(elements: &[Vec<u8>]) -> Result<MatFile> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.mat");
        std::fs::write(&path, mat(elements)).unwrap();
        assert!(is_mat(&path));
        MatFile::open(&path)
    }

    fn dense() -> Vec<u8> {
        // [[1, 3, 5], [2, 4, 6]] as bytes, of class double.
        array(6, [2, 3], "x", &[part(2, &[1, 2, 3, 4, 5, 6])])
    }

    fn sparse() -> Vec<u8> {
        let values: Vec<u8> = [1.5f64, -2.0, 9.0].iter().flat_map(|value| value.to_le_bytes()).collect();
        // Entries (0, 0), (2, 2), and room for one more.
        array(5, [3, 4], "Network", &[part(5, &words(&[0, 2, 0])), part(5, &words(&[0, 1, 1, 2, 2])), part(9, &values)])
    }

    #[test]
    fn full_and_sparse_arrays_are_read_compressed_or_not() {
        let text = array(4, [1, 2], "t", &[part(4, b"a\0b\0")]);
        let plain = [text.clone(), dense(), sparse()];
        let packed = [text, compressed(&dense()), compressed(&sparse())];
        for elements in [plain, packed] {
            let file = opened(&elements).unwrap();
            let names: Vec<&str> = file.variables().iter().map(|variable| variable.name.as_str()).collect();
            assert_eq!(names, ["x", "Network"]);
            assert_eq!(file.variable("Network").map(|v| (v.shape.clone(), v.sparse)), Some((vec![3, 4], true)));
            let x = file.array("x").unwrap();
            assert_eq!(x.entries()[..3], [(0, 0, 1.0), (1, 0, 2.0), (0, 1, 3.0)]);
            assert_eq!(x.dense().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
            let network = file.array("Network").unwrap();
            assert_eq!(network.entries(), [(0, 0, 1.5), (2, 2, -2.0)]);
            assert!(network.dense().unwrap_err().contains("is sparse"));
            let error = file.array("y").err().unwrap().to_string();
            assert!(error.contains("array y: is missing; the file has: x, Network"), "{error}");
        }
    }

    #[test]
    fn damage_is_an_error_that_says_where() {
        let mut cut = dense();
        cut.truncate(40);
        let error = opened(&[cut]).err().unwrap().to_string();
        assert!(error.contains("byte 128") && error.contains("beyond the file's end"), "{error}");
        let file = opened(&[array(6, [2, 2], "x", &[part(2, &[1, 2, 3])])]).unwrap();
        assert!(file.array("x").err().unwrap().to_string().contains("3 values for 2 rows and 2 columns"));
        let file = opened(&[array(5, [1, 1], "x", &[part(5, &words(&[4])), part(5, &words(&[0, 1])), part(2, &[1])])]);
        assert!(file.unwrap().array("x").err().unwrap().to_string().contains("beyond its 1 rows"));
        let mut packed = compressed(&dense());
        let end = packed.len() - 6;
        packed[12..end].fill(7);
        assert!(opened(&[packed]).err().unwrap().to_string().contains("cannot be uncompressed"));
    }

    #[test]
    fn any_prefix_of_a_file_is_an_error_or_a_file() {
        let whole = mat(&[dense(), compressed(&sparse())]);
        let folder = tempfile::tempdir().unwrap();
        for length in 0..whole.len() {
            let path = folder.path().join("x.mat");
            std::fs::write(&path, &whole[..length]).unwrap();
            if let Ok(file) = MatFile::open(&path) {
                file.variables().iter().for_each(|variable| drop(file.array(&variable.name)));
            }
        }
    }
}
