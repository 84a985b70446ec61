//! numpy arrays: the `.npy` file, the `.npz` archive of them, and the values inside.
//!
//! A `.npy` is the magic `\x93NUMPY`, a version, a little-endian header length, a header that is a Python dictionary of
//! literals (`descr`, `fortran_order`, `shape`), and the raw values.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use crate::{Error, Result, files};

/// The longest header that is read; real ones have about 120 bytes.
const HEADER_LIMIT: usize = 1 << 20;

/// The type of an array's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueType {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Bytes padded with NUL.
    Bytes,
    /// UTF-32 padded with NUL.
    Text,
}

/// The type, size and byte order of an array's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dtype {
    pub(crate) kind: ValueType,
    /// Bytes of one value.
    pub(crate) size: usize,
    pub(crate) big_endian: bool,
}

impl Dtype {
    /// Reads numpy's spelling, e.g. `<f4`, `|b1`, `<U7`; without a byte order it is little-endian.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let unknown = || format!("values of numpy type '{text}' are not read; numbers, booleans and text are");
        let (big_endian, rest) = match text.as_bytes().first() {
            Some(b'>') => (true, &text[1..]),
            Some(b'<' | b'|' | b'=') => (false, &text[1..]),
            _ => (false, text),
        };
        let kind = match rest.as_bytes().first() {
            Some(b'b') => ValueType::Bool,
            Some(b'i') => ValueType::Signed,
            Some(b'u') => ValueType::Unsigned,
            Some(b'f') => ValueType::Float,
            Some(b'S') => ValueType::Bytes,
            Some(b'U') => ValueType::Text,
            _ => return Err(unknown()),
        };
        let count: usize = rest[1..].parse().map_err(|_| unknown())?;
        let size = if kind == ValueType::Text { count.checked_mul(4).ok_or_else(unknown)? } else { count };
        match (kind, size) {
            (ValueType::Bool, 1)
            | (ValueType::Signed | ValueType::Unsigned, 1 | 2 | 4 | 8)
            | (ValueType::Float, 4 | 8)
            | (ValueType::Bytes | ValueType::Text, _) => Ok(Self { kind, size, big_endian }),
            _ => Err(unknown()),
        }
    }
}

/// The contents of a `.npy` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dtype: Dtype,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
}

impl Header {
    /// The number of values.
    pub(crate) fn len(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |product, length| product.checked_mul(*length))
    }

    fn bytes(&self) -> Result<usize, String> {
        self.len()
            .and_then(|values| values.checked_mul(self.dtype.size))
            .ok_or_else(|| format!("the shape {:?} is too large", self.shape))
    }
}

/// An array: a header and the values' bytes, whose number fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Array {
    pub(crate) header: Header,
    bytes: Vec<u8>,
}

impl Array {
    /// Checks that there are as many bytes as the header says.
    pub(crate) fn new(header: Header, bytes: Vec<u8>) -> Result<Self, String> {
        let expected = header.bytes()?;
        // Values without bytes could be any number of values.
        if header.dtype.size == 0 && header.len() != Some(0) {
            return Err(format!("an array of shape {:?} has values of 0 bytes", header.shape));
        }
        if bytes.len() != expected {
            let shape = &header.shape;
            return Err(format!(
                "an array of shape {shape:?} needs {expected} bytes, there are {}; the file may be cut short",
                bytes.len()
            ));
        }
        if header.fortran && header.shape.len() > 2 {
            return Err("arrays of more than two dimensions in Fortran order are not read".to_owned());
        }
        Ok(Self { header, bytes })
    }

    /// Reads a whole `.npy` file.
    pub(crate) fn from_npy(bytes: &[u8]) -> Result<Self, String> {
        let mut rest = bytes;
        let header = read_header(&mut rest)?;
        Self::new(header, rest.to_vec())
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// The length of the first dimension; a scalar has one value.
    pub(crate) fn rows(&self) -> usize {
        self.shape().first().copied().unwrap_or(1)
    }

    /// The values as integers, row by row. Reals are taken where they are whole.
    pub(crate) fn integers(&self) -> Result<Vec<i64>, String> {
        let (size, big) = (self.header.dtype.size, self.header.dtype.big_endian);
        match self.header.dtype.kind {
            ValueType::Bool => Ok(self.map(|b| i64::from(b[0] != 0))),
            ValueType::Signed => Ok(self.map(|b| {
                let shift = 64 - 8 * size as u32;
                ((word(b, big) << shift) as i64) >> shift
            })),
            ValueType::Unsigned => self
                .map(|b| i64::try_from(word(b, big)).map_err(|_| "an unsigned integer is too large".to_owned()))
                .into_iter()
                .collect(),
            ValueType::Float => self
                .map(|b| {
                    let value = real(b, big);
                    if value.fract() == 0.0 && value.abs() < 9e15 {
                        Ok(value as i64)
                    } else {
                        Err(format!("{value} is not an integer"))
                    }
                })
                .into_iter()
                .collect(),
            ValueType::Bytes | ValueType::Text => Err("numbers are expected here, there is text".to_owned()),
        }
    }

    /// The values as reals, row by row.
    pub(crate) fn reals(&self) -> Result<Vec<f64>, String> {
        let big = self.header.dtype.big_endian;
        match self.header.dtype.kind {
            ValueType::Float => Ok(self.map(|b| real(b, big))),
            _ => Ok(self.integers()?.into_iter().map(|value| value as f64).collect()),
        }
    }

    /// The values as 32-bit reals, row by row.
    pub(crate) fn floats(&self) -> Result<Vec<f32>, String> {
        let big = self.header.dtype.big_endian;
        match self.header.dtype.kind {
            ValueType::Float => Ok(self.map(|b| real(b, big) as f32)),
            _ => Ok(self.integers()?.into_iter().map(|value| value as f32).collect()),
        }
    }

    /// The values as booleans, row by row: integers 0 and 1 too.
    pub(crate) fn flags(&self) -> Result<Vec<bool>, String> {
        self.integers()?
            .into_iter()
            .map(|value| match value {
                0 => Ok(false),
                1 => Ok(true),
                other => Err(format!("a mask has the value {other}; it may have 0 and 1")),
            })
            .collect()
    }

    /// The values as text.
    pub(crate) fn texts(&self) -> Result<Vec<String>, String> {
        let (size, big) = (self.header.dtype.size, self.header.dtype.big_endian);
        match self.header.dtype.kind {
            ValueType::Bytes => self
                .map(|b| {
                    let end = b.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                    String::from_utf8(b[..end].to_vec()).map_err(|_| "a text is not UTF-8".to_owned())
                })
                .into_iter()
                .collect(),
            ValueType::Text => self
                .map(|b| {
                    let mut text: String = b
                        .chunks_exact(4)
                        .map(|c| char::from_u32(word(c, big) as u32).ok_or("a text is not UTF-32"))
                        .collect::<Result<_, _>>()?;
                    text.truncate(text.trim_end_matches('\0').len());
                    Ok(text)
                })
                .into_iter()
                .collect(),
            _ => Err(format!("text is expected here, there are values of {size} bytes")),
        }
    }

    /// Every value's bytes through `value`, in row order whatever the order in the file.
    fn map<T>(&self, value: impl Fn(&[u8]) -> T) -> Vec<T> {
        let size = self.header.dtype.size;
        if self.bytes.is_empty() {
            return Vec::new();
        }
        match *self.shape() {
            [rows, columns] if self.header.fortran => {
                let at = |row: usize, column: usize| {
                    let start = (column * rows + row) * size;
                    value(&self.bytes[start..start + size])
                };
                (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).map(|(r, c)| at(r, c)).collect()
            }
            _ => self.bytes.chunks_exact(size).map(value).collect(),
        }
    }
}

fn word(bytes: &[u8], big_endian: bool) -> u64 {
    let fold = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
    if big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) }
}

fn real(bytes: &[u8], big_endian: bool) -> f64 {
    match bytes.len() {
        4 => f64::from(f32::from_bits(word(bytes, big_endian) as u32)),
        _ => f64::from_bits(word(bytes, big_endian)),
    }
}

/// Reads the header of a `.npy` and leaves `source` at the values.
pub(crate) fn read_header(source: &mut dyn Read) -> Result<Header, String> {
    let short = |_| "the .npy header is cut short".to_owned();
    let mut start = [0u8; 8];
    source.read_exact(&mut start).map_err(short)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err("is no .npy array (it does not start with \\x93NUMPY)".to_owned());
    }
    let length = match start[6] {
        1 => {
            let mut length = [0u8; 2];
            source.read_exact(&mut length).map_err(short)?;
            usize::from(u16::from_le_bytes(length))
        }
        2 | 3 => {
            let mut length = [0u8; 4];
            source.read_exact(&mut length).map_err(short)?;
            u32::from_le_bytes(length) as usize
        }
        version => return Err(format!("is a .npy of version {version}; 1 to 3 are read")),
    };
    if length > HEADER_LIMIT {
        return Err(format!("says that its .npy header has {length} bytes"));
    }
    let mut header = vec![0u8; length];
    source.read_exact(&mut header).map_err(short)?;
    let header = String::from_utf8(header).map_err(|_| "has a .npy header that is not text".to_owned())?;
    parse_header(&header).ok_or_else(|| format!("has a .npy header that is not understood: {}", header.trim()))?
}

/// The outer `None`: not the three entries; the inner error: a type that is not read.
fn parse_header(text: &str) -> Option<Result<Header, String>> {
    let after = |key: &str| {
        let at = text.find(&format!("'{key}'"))? + key.len() + 2;
        text[at..].trim_start().strip_prefix(':').map(str::trim_start)
    };
    let descr = after("descr")?;
    let Some(descr) = descr.strip_prefix('\'') else {
        return Some(Err("holds records, which are not read; plain numbers, booleans and text are".to_owned()));
    };
    let dtype = match Dtype::parse(&descr[..descr.find('\'')?]) {
        Ok(dtype) => dtype,
        Err(error) => return Some(Err(error)),
    };
    let fortran = match after("fortran_order")? {
        rest if rest.starts_with("True") => true,
        rest if rest.starts_with("False") => false,
        _ => return None,
    };
    let shape = after("shape")?.strip_prefix('(')?;
    let shape = shape[..shape.find(')')?]
        .split(',')
        .map(str::trim)
        .filter(|length| !length.is_empty())
        .map(|length| length.trim_end_matches('L').parse().ok())
        .collect::<Option<Vec<usize>>>()?;
    Some(Ok(Header { dtype, fortran, shape }))
}

/// Reads a `.npy` file.
pub(crate) fn npy_file(path: &Path) -> Result<Array> {
    Array::from_npy(&files::read(path)?).map_err(|what| Error::file(path, what))
}

/// Reads the header of a `.npy` file.
pub(crate) fn npy_file_header(path: &Path) -> Result<Header> {
    let mut file = BufReader::new(File::open(path).map_err(Error::io(path))?);
    read_header(&mut file).map_err(|what| Error::file(path, what))
}

/// An `.npz`: a zip of `.npy` members.
pub(crate) struct Npz {
    path: PathBuf,
    zip: ZipArchive<BufReader<File>>,
}

impl Npz {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        let zip = ZipArchive::new(BufReader::new(file))
            .map_err(|error| Error::file(path, format!("is no complete .npz (zip) archive: {error}")))?;
        Ok(Self { path: path.to_owned(), zip })
    }

    /// Whether the archive has an array of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(&format!("{name}.npy")).is_some()
    }

    /// The names of the arrays, for errors.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.zip.file_names().flatten().map(|name| name.strip_suffix(".npy").unwrap_or(&name).to_owned()).collect();
        names.sort_unstable();
        names
    }

    /// The header of an array.
    pub(crate) fn header(&mut self, name: &str) -> Result<Header> {
        self.with(name, |_, member| read_header(member))
    }

    /// The rows and columns that a member of two numbers announces.
    pub(crate) fn matrix_shape(&mut self, name: &str) -> Result<(usize, usize)> {
        let shape = self.array(name)?.integers().map_err(|what| self.fault(name, what))?;
        match shape[..] {
            [rows, width] if rows >= 0 && (0..=i64::from(i32::MAX)).contains(&width) => {
                Ok((rows as usize, width as usize))
            }
            ref other => Err(self.fault(name, format!("{other:?} is no shape of a matrix"))),
        }
    }

    /// An array.
    pub(crate) fn array(&mut self, name: &str) -> Result<Array> {
        self.with(name, |size, member| {
            let header = read_header(member)?;
            let expected = header.bytes()?;
            // The announced size is not trusted: no more is allocated than the member unpacks to.
            if expected as u64 > size {
                return Err(format!("shape {:?} needs {expected} bytes, the member has {size}", header.shape));
            }
            let mut bytes = Vec::new();
            member.take(expected as u64 + 1).read_to_end(&mut bytes).map_err(|e| format!("cannot be unpacked: {e}"))?;
            Array::new(header, bytes)
        })
    }

    fn with<T>(&mut self, name: &str, read: impl FnOnce(u64, &mut dyn Read) -> Result<T, String>) -> Result<T> {
        let place = format!("member {name}.npy");
        if !self.has(name) {
            let what = format!("is missing; the archive has: {}", files::few(&self.names()));
            return Err(Error::member(&self.path, &place, what));
        }
        let mut member = self
            .zip
            .by_name(&format!("{name}.npy"))
            .map_err(|error| Error::member(&self.path, &place, format!("cannot be unpacked: {error}")))?;
        read(member.size(), &mut member).map_err(|what| Error::member(&self.path, &place, what))
    }

    /// The bytes of some arrays once unpacked.
    pub(crate) fn bytes(&mut self, names: &[&str]) -> usize {
        let mut total = 0usize;
        for name in names {
            if let Ok(member) = self.zip.by_name(&format!("{name}.npy")) {
                total = total.saturating_add(member.size() as usize);
            }
        }
        total
    }

    /// The archive.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// An error about an array of this archive.
    pub(crate) fn fault(&self, name: &str, what: impl ToString) -> Error {
        Error::member(&self.path, &format!("member {name}.npy"), what)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A `.npy` file as numpy writes it.
    pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, values: &[u8]) -> Vec<u8> {
        let fortran = if fortran { "True" } else { "False" };
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        bytes
    }

    #[test]
    fn integers_of_any_width_and_order_are_read() {
        let read = |descr: &str, bytes: &[u8]| Array::from_npy(&npy(descr, false, "(2,)", bytes)).unwrap().integers();
        assert_eq!(read("|i1", &[0xff, 3]).unwrap(), [-1, 3]);
        assert_eq!(read("|u1", &[0xff, 3]).unwrap(), [255, 3]);
        assert_eq!(read("<i2", &[0xfe, 0xff, 1, 0]).unwrap(), [-2, 1]);
        assert_eq!(read(">i4", &[0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff]).unwrap(), [256, -1]);
        assert_eq!(read("<f4", &[0, 0, 128, 63, 0, 0, 0, 192]).unwrap(), [1, -2]);
        assert!(read("<f4", &[0, 0, 0, 63, 0, 0, 0, 0]).unwrap_err().contains("0.5 is not an integer"));
        assert!(read("<u8", &[0xff; 16]).unwrap_err().contains("too large"));
    }

    #[test]
    fn fortran_order_is_turned_into_rows() {
        let array = Array::from_npy(&npy("|u1", true, "(2, 3)", &[1, 4, 2, 5, 3, 6])).unwrap();
        assert_eq!(array.integers().unwrap(), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn text_loses_its_padding() {
        let mut bytes = Vec::new();
        for c in ['a', 'é', '\0', 'b', '\0', '\0'] {
            bytes.extend((c as u32).to_le_bytes());
        }
        assert_eq!(Array::from_npy(&npy("<U3", false, "(2,)", &bytes)).unwrap().texts().unwrap(), ["aé", "b"]);
        assert_eq!(Array::from_npy(&npy("|S2", false, "(2,)", b"csr\0")).unwrap().texts().unwrap(), ["cs", "r"]);
    }

    #[test]
    fn a_scalar_has_one_value() {
        assert_eq!(Array::from_npy(&npy("<i2", false, "()", &[7, 0])).unwrap().integers().unwrap(), [7]);
    }

    #[test]
    fn wrong_files_are_refused_with_a_reason() {
        let reason = |bytes: &[u8]| Array::from_npy(bytes).unwrap_err();
        assert!(reason(b"").contains("cut short"));
        assert!(reason(b"PK\x03\x04abcdefgh").contains("no .npy"));
        assert!(reason(&npy("<i8", false, "(2,)", &[0; 15])).contains("needs 16 bytes, there are 15"));
        assert!(reason(&npy("|O", false, "(2,)", &[0; 16])).contains("'|O'"));
        assert!(reason(&npy("<c8", false, "(2,)", &[0; 16])).contains("'<c8'"));
        assert!(reason(&npy("<i8", false, "(99999999999, 99999999999)", &[])).contains("too large"));
        assert!(reason(&npy("<i8", false, "(x,)", &[])).contains("not understood"));
        assert!(reason(&npy("|S0", false, "(4000000000,)", &[])).contains("values of 0 bytes"));
        assert_eq!(Array::from_npy(&npy("|S0", false, "(0,)", &[])).unwrap().texts().unwrap(), [""; 0]);
    }

    #[test]
    fn no_change_of_bytes_makes_the_reader_panic() {
        let valid = [
            npy("<i8", false, "(2, 2)", &[1; 32]),
            npy("<U3", true, "(2,)", &[0; 24]),
            npy("|b1", true, "(3, 4)", &[1; 12]),
            npy(">f8", false, "(1,)", &[64; 8]),
            npy("|S0", false, "(4000000000,)", &[]),
        ];
        let mut state = 7u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize
        };
        for round in 0..60_000 {
            let mut bytes = valid[round % valid.len()].clone();
            for _ in 0..1 + random() % 3 {
                let at = random() % bytes.len();
                bytes[at] = random() as u8;
            }
            if random() % 4 == 0 {
                bytes.truncate(random() % bytes.len());
            }
            if let Ok(array) = Array::from_npy(&bytes) {
                let _ = (array.integers(), array.reals(), array.floats(), array.flags(), array.texts());
            }
        }
    }
}
