//! Python pickles, as far as numpy arrays, scipy's CSR, CSC and COO matrices and `defaultdict(list)` need them (protocols 0 to 5).
//!
//! A pickle is a program for a stack machine. This reader runs it without Python: it builds lists, dictionaries and
//! numbers, and *records* calls and classes instead of executing them; a name outside `KNOWN` ends the reading. All
//! values live in one arena, so shared and cyclic values are just numbers, and nothing recurses.

mod machine;
mod texts;

use std::borrow::Cow;

use self::machine::{Id, Machine, Value, kind};
use crate::array::{Array, Dtype, Header};
use crate::files::FEW_NODES;
use crate::matrix::Matrix;

/// A fault and the byte where it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) byte: usize,
    pub(crate) what: String,
}

/// The members of an object by their names.
type Members<'a> = &'a [(Id, Id)];

/// A sparse matrix in coordinates, without its values.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Coo {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Where the entries are.
    pub(crate) row: Vec<i64>,
    pub(crate) column: Vec<i64>,
}

/// A pickle that has been read.
pub(crate) struct Pickle<'a> {
    bytes: &'a [u8],
    values: Vec<Value>,
    root: Id,
}

impl<'a> Pickle<'a> {
    /// Runs the pickle. O(bytes) time and memory.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        if Id::try_from(bytes.len()).is_err() {
            return Err(Fault { byte: 0, what: "pickles of 4 GiB and more are not read".to_owned() });
        }
        let mut machine = Machine::new(bytes);
        loop {
            let start = machine.at;
            match machine.step() {
                Ok(None) => {}
                Ok(Some(root)) => return Ok(Self { bytes, values: machine.values, root }),
                Err(what) => return Err(Fault { byte: start, what }),
            }
        }
    }

    /// The whole pickle as an array.
    pub(crate) fn array(&self) -> Result<Array, String> {
        self.array_at(self.root)
    }

    /// The whole pickle as a sparse matrix: by rows, by columns or in coordinates.
    pub(crate) fn sparse(&self) -> Result<Matrix, String> {
        let (class, state) = self.sparse_state()?;
        let (rows, width) = self.shape_in(state)?;
        let part = |name: &str| self.array_at(self.entry(state, name)?).map_err(|e| format!("{name}: {e}"));
        let data = part("data")?.floats()?;
        if class.starts_with("coo") {
            // A few bytes may claim any shape.
            if rows > self.bytes.len().max(FEW_NODES) {
                return Err(format!("{rows} rows in {} bytes", self.bytes.len()));
            }
            let (row, column) = self.coordinates(state)?;
            return Matrix::from_coo(width, &row, &column, &data, rows);
        }
        let (indptr, indices) = (part("indptr")?.integers()?, part("indices")?.integers()?);
        match class.starts_with("csc") {
            true if rows > self.bytes.len().max(FEW_NODES) => Err(format!("{rows} rows in {} bytes", self.bytes.len())),
            true => Matrix::from_csc(width, &indptr, &indices, &data, rows),
            false => Matrix::from_csr(width, &indptr, &indices, &data, rows),
        }
    }

    /// The shape of the sparse matrix.
    pub(crate) fn sparse_shape(&self) -> Result<(usize, usize), String> {
        self.shape_in(self.sparse_state()?.1)
    }

    /// Where the entries of a matrix in coordinates are: scipy has `row` and `col`, and since 1.13 both as `coords`.
    fn coordinates(&self, state: &[(Id, Id)]) -> Result<(Vec<i64>, Vec<i64>), String> {
        let integers = |name: &str, id: Id| {
            self.array_at(id).and_then(|array| array.integers()).map_err(|what| format!("{name}: {what}"))
        };
        let Ok(both) = self.entry(state, "coords") else {
            return Ok((integers("row", self.entry(state, "row")?)?, integers("col", self.entry(state, "col")?)?));
        };
        match self.tuple(both)? {
            &[row, column] => Ok((integers("coords", row)?, integers("coords", column)?)),
            other => Err(format!("coords: {} arrays, not two", other.len())),
        }
    }

    /// The whole pickle as a list of sparse matrices in coordinates.
    pub(crate) fn coo_list(&self) -> Result<Vec<Coo>, String> {
        let Value::List(items) = self.value(self.root) else {
            return Err(format!("a list of scipy coo_matrix is expected, there is {}", kind(self.value(self.root))));
        };
        // A matrix may be shared, so that a small file could stand for more entries than fit into memory.
        let mut entries = 0usize;
        let matrix = |(position, &item): (usize, &Id)| {
            let wrong = |what: String| format!("matrix {position}: {what}");
            let Value::Object { callee: "coo_matrix" | "coo_array", state: Some(state), .. } = self.value(item) else {
                return Err(wrong(format!("a scipy coo_matrix is expected, there is {}", kind(self.value(item)))));
            };
            let Value::Dict(state) = self.value(*state) else {
                return Err(wrong("its state is no dictionary".to_owned()));
            };
            let (rows, columns) = self.shape_in(state).map_err(wrong)?;
            let (row, column) = self.coordinates(state).map_err(wrong)?;
            if row.len() != column.len() {
                return Err(wrong(format!("{} rows for {} columns of entries", row.len(), column.len())));
            }
            entries += row.len();
            if entries > self.bytes.len() {
                return Err("the matrices have more entries than the file has bytes".to_owned());
            }
            Ok(Coo { rows, columns, row, column })
        };
        items.iter().enumerate().map(matrix).collect()
    }

    /// The whole pickle as a numpy array of dictionaries that have these names, each with a list of integers or an array.
    pub(crate) fn splits<const N: usize>(&self, names: &[&str; N]) -> Result<Vec<[Vec<i64>; N]>, String> {
        let Value::Object { callee: "_reconstruct", state: Some(state), .. } = self.value(self.root) else {
            return Err(format!("a numpy array of dictionaries is expected, there is {}", kind(self.value(self.root))));
        };
        let data = self.tuple(*state)?.get(4).map(|data| self.value(*data));
        let Some(Value::List(splits)) = data else {
            return Err("a numpy array of dictionaries is expected, there is one of numbers".to_owned());
        };
        // A list may be shared, so that a small file could stand for more entries than fit into memory.
        let mut entries = 0usize;
        let mut integers = |id: Id| {
            let found: Vec<i64> = match self.value(id) {
                Value::List(items) | Value::Tuple(items) => {
                    let integer = |item: &Id| match self.value(*item) {
                        Value::Int(value) => Ok(*value),
                        other => Err(format!("a node number is expected, there is {}", kind(other))),
                    };
                    items.iter().map(integer).collect::<Result<_, String>>()?
                }
                _ => self.array_at(id)?.integers()?,
            };
            entries += found.len();
            match entries > self.bytes.len() {
                true => Err("the parts have more nodes than the file has bytes".to_owned()),
                false => Ok(found),
            }
        };
        let mut found = Vec::with_capacity(splits.len());
        for (number, split) in splits.iter().enumerate() {
            let Value::Dict(items) = self.value(*split) else {
                return Err(format!("split {number}: a dictionary is expected, there is {}", kind(self.value(*split))));
            };
            let mut parts = [const { Vec::new() }; N];
            for (part, name) in parts.iter_mut().zip(names) {
                let at = |what| format!("split {number}, {name}: {what}");
                *part = integers(self.entry(items, name).map_err(at)?).map_err(at)?;
            }
            found.push(parts);
        }
        Ok(found)
    }

    /// The whole pickle as a dictionary of integer -> list of integers, in the file's order.
    pub(crate) fn adjacency(&self) -> Result<Vec<(i64, Vec<i64>)>, String> {
        let items = match self.value(self.root) {
            Value::Dict(items) => items,
            Value::Object { callee: "defaultdict" | "OrderedDict", items, .. } => items,
            other => return Err(format!("a dictionary of neighbour lists is expected, there is {}", kind(other))),
        };
        let integer = |id: Id| match self.value(id) {
            Value::Int(value) => Ok(*value),
            other => Err(format!("a node number is expected, there is {}", kind(other))),
        };
        // A list may be shared, so that a small file could stand for more entries than fit into memory.
        let mut entries = 0usize;
        items
            .iter()
            .map(|&(key, list)| {
                let node = integer(key)?;
                match self.value(list) {
                    Value::List(items) | Value::Tuple(items) => {
                        entries += items.len();
                        if entries > self.bytes.len() {
                            return Err("the lists of neighbours have more entries than the file has bytes".to_owned());
                        }
                        Ok((node, items.iter().map(|id| integer(*id)).collect::<Result<_, _>>()?))
                    }
                    other => Err(format!("node {node} has no list of neighbours but {}", kind(other))),
                }
            })
            .collect()
    }

    fn value(&self, id: Id) -> &Value {
        &self.values[id as usize]
    }

    /// The class and the members of the sparse matrix.
    fn sparse_state(&self) -> Result<(&'static str, Members<'_>), String> {
        let (class, state) = match self.value(self.root) {
            Value::Object {
                callee: class @ ("csr_matrix" | "csr_array" | "csc_matrix" | "csc_array" | "coo_matrix" | "coo_array"),
                state: Some(state),
                ..
            } => (*class, *state),
            other => {
                return Err(format!(
                    "a scipy csr_matrix is expected, or a csc_matrix or coo_matrix, there is {}",
                    kind(other)
                ));
            }
        };
        match self.value(state) {
            Value::Dict(items) => Ok((class, items)),
            other => Err(format!("the {class} has no dictionary of members but {}", kind(other))),
        }
    }

    fn shape_in(&self, state: &[(Id, Id)]) -> Result<(usize, usize), String> {
        match self.sizes(self.entry(state, "_shape").or_else(|_| self.entry(state, "shape"))?)?[..] {
            [rows, width] => Ok((rows, width)),
            ref other => Err(format!("the sparse matrix has the shape {other:?}, not two lengths")),
        }
    }

    fn entry(&self, dict: &[(Id, Id)], name: &str) -> Result<Id, String> {
        let is_name = |key: &Id| match self.value(*key) {
            Value::Bytes(range) => &self.bytes[range.clone()] == name.as_bytes(),
            Value::Unescaped(bytes) => bytes == name.as_bytes(),
            _ => false,
        };
        let found = dict.iter().find(|(key, _)| is_name(key));
        found.map(|(_, value)| *value).ok_or_else(|| format!("the member '{name}' is missing"))
    }

    fn bytes_at(&self, id: Id) -> Result<Cow<'_, [u8]>, String> {
        match self.value(id) {
            Value::Bytes(range) => Ok(Cow::Borrowed(&self.bytes[range.clone()])),
            Value::Unescaped(bytes) => Ok(Cow::Borrowed(bytes)),
            // Bytes as Python 3 writes them in protocols 0 to 2: a text whose letters are the bytes.
            Value::Object { callee: "encode", arguments, .. } => {
                let Some(&text) = self.tuple(*arguments)?.first() else {
                    return Err("a text is expected, there is nothing to encode".to_owned());
                };
                let (Value::Bytes(_) | Value::Unescaped(_)) = self.value(text) else {
                    return Err(format!("text is expected, there is {}", kind(self.value(text))));
                };
                let text = self.text(text)?;
                let byte = |letter: char| u8::try_from(u32::from(letter));
                let bytes: Result<Vec<u8>, _> = text.chars().map(byte).collect();
                bytes.map(Cow::Owned).map_err(|_| "bytes have a letter beyond Latin-1".to_owned())
            }
            Value::Object { callee: "bytes" | "str" | "bytearray", arguments, .. } => match self.tuple(*arguments)? {
                [] => Ok(Cow::Borrowed(&[])),
                &[only, ..] => match self.value(only) {
                    Value::Bytes(_) | Value::Unescaped(_) => self.bytes_at(only),
                    Value::Object { callee: "encode", .. } => self.bytes_at(only),
                    other => Err(format!("bytes are expected, there is {}", kind(other))),
                },
            },
            other => Err(format!("text is expected, there is {}", kind(other))),
        }
    }

    fn text(&self, id: Id) -> Result<Cow<'_, str>, String> {
        let wrong = "a name is not text";
        Ok(match self.bytes_at(id)? {
            Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).map_err(|_| wrong)?),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).map_err(|_| wrong)?),
        })
    }

    fn tuple(&self, id: Id) -> Result<&[Id], String> {
        match self.value(id) {
            Value::Tuple(items) => Ok(items),
            other => Err(format!("a tuple is expected, there is {}", kind(other))),
        }
    }

    fn sizes(&self, id: Id) -> Result<Vec<usize>, String> {
        self.tuple(id)?
            .iter()
            .map(|&item| match self.value(item) {
                Value::Int(size) if *size >= 0 => Ok(*size as usize),
                other => Err(format!("a length is expected, there is {}", kind(other))),
            })
            .collect()
    }

    /// `_reconstruct(ndarray, ...)` with the state `(version, shape, dtype, fortran, bytes)`, or in protocol 5
    /// `_frombuffer(bytes, dtype, shape, order)`.
    fn array_at(&self, id: Id) -> Result<Array, String> {
        if let Value::Object { callee: "_frombuffer", arguments, .. } = self.value(id) {
            let &[data, dtype, shape, order] = self.tuple(*arguments)? else {
                return Err("a numpy array has another form than (data, dtype, shape, order)".into());
            };
            let fortran = self.text(order)? == "F";
            let header = Header { dtype: self.dtype(dtype)?, fortran, shape: self.sizes(shape)? };
            return Array::new(header, self.bytes_at(data)?.into_owned());
        }
        let Value::Object { callee: "_reconstruct", state: Some(state), .. } = self.value(id) else {
            return Err(format!("a numpy array is expected, there is {}", kind(self.value(id))));
        };
        let &[_, shape, dtype, fortran, data] = self.tuple(*state)? else {
            return Err("the state of a numpy array has another form than (version, shape, dtype, order, data)".into());
        };
        let dtype = self.dtype(dtype)?;
        let fortran = matches!(self.value(fortran), Value::Bool(true) | Value::Int(1));
        let data = self.bytes_at(data)?.into_owned();
        Array::new(Header { dtype, fortran, shape: self.sizes(shape)? }, data)
    }

    /// `dtype('i4', 0, 1)` with the state `(3, '<', ...)`, whose second item is the byte order.
    fn dtype(&self, id: Id) -> Result<Dtype, String> {
        let Value::Object { callee: "dtype", arguments, state, .. } = self.value(id) else {
            return Err(format!("a numpy dtype is expected, there is {}", kind(self.value(id))));
        };
        let Some(name) = self.tuple(*arguments)?.first() else {
            return Err("a numpy dtype has no name".to_owned());
        };
        let order = match state {
            Some(state) => match self.tuple(*state)?.get(1) {
                Some(order) => self.text(*order)?,
                None => Cow::Borrowed(""),
            },
            None => Cow::Borrowed(""),
        };
        Dtype::parse(&format!("{order}{}", self.text(*name)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `defaultdict(list)` with `{1: [2, 3], -1: []}`, as Python 2 writes it.
    const ADJACENCY: &[u8] = b"\x80\x02ccollections\ndefaultdict\nq\x01c__builtin__\nlist\nq\x02\x85Rq\x03(K\x01]q\x04(K\x02K\x03eJ\xff\xff\xff\xff]q\x05u.";

    /// A `csr_matrix` of shape (1, 3) with the entry 2.0 in column 2.
    pub(super) fn matrix() -> Vec<u8> {
        let array = |bytes: &mut Vec<u8>, length: u8, dtype: &[u8], data: &[u8]| {
            bytes.extend(b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K");
            bytes.extend([length, 0x85]);
            bytes.extend(b"cnumpy\ndtype\nU\x02");
            bytes.extend(dtype);
            bytes.extend(b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U");
            bytes.push(data.len() as u8);
            bytes.extend(data);
            bytes.extend(b"tb");
        };
        let mut bytes = b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shapeK\x01K\x03\x86U\x06indptr".to_vec();
        array(&mut bytes, 2, b"i4", &[0, 0, 0, 0, 1, 0, 0, 0]);
        bytes.extend(b"U\x07indices");
        array(&mut bytes, 1, b"i4", &[2, 0, 0, 0]);
        bytes.extend(b"U\x04data");
        array(&mut bytes, 1, b"f4", &[0, 0, 0, 64]);
        bytes.extend(b"ub.");
        bytes
    }

    #[test]
    fn an_adjacency_keeps_the_order_of_the_file() {
        let pickle = Pickle::read(ADJACENCY).unwrap();
        assert_eq!(pickle.adjacency().unwrap(), [(1, vec![2, 3]), (-1, vec![])]);
    }

    #[test]
    fn a_sparse_matrix_is_read() {
        let bytes = matrix();
        let pickle = Pickle::read(&bytes).unwrap();
        assert_eq!(pickle.sparse_shape().unwrap(), (1, 3));
        assert_eq!(pickle.sparse().unwrap(), Matrix::Sparse { width: 3, offsets: vec![0, 1], entries: vec![(2, 2.0)] });
    }

    /// What Python 3.12 and numpy 2.1 write of `numpy.array([7, -1], '<i2')`, in each protocol.
    #[test]
    fn arrays_of_every_protocol_are_read() {
        let reconstruct = "cnumpy.core.multiarray\n_reconstruct\np0\n(cnumpy\nndarray\np1\n(I0\ntp2\n";
        let dtype = "cnumpy\ndtype\np5\n(Vi2\np6\nI00\nI01\ntp7\nRp8\n(I3\nV<\np9\nNNNI-1\nI-1\nI0\ntp10\nbI00\n";
        let zero = format!(
            "{reconstruct}c_codecs\nencode\np3\n(Vb\nVlatin1\ntp4\nRtp11\nRp12\n(I1\n(I2\ntp13\n{dtype}g3\n(V\\u0007\\u0000\u{0}\u{0}\nVlatin1\n\
             tp14\nRtp15\nb."
        );
        // Bytes of Latin-1 stand for themselves.
        let zero: Vec<u8> = zero.replace("\u{0}\u{0}", "\u{ff}\u{ff}").chars().map(|letter| letter as u8).collect();
        let five = [
            &b"\x80\x05\x95\x60\0\0\0\0\0\0\0\x8c\x13numpy._core.numeric\x94\x8c\x0b_frombuffer\x94\x93\x94(\x96\x04\0\0\0\0\0\0\0"[..],
            &[7, 0, 255, 255],
            b"\x94\x8c\x05numpy\x94\x8c\x05dtype\x94\x93\x94\x8c\x02i2\x94\x89\x88\x87\x94R\x94(K\x03\x8c\x01<\x94NNNJ\xff\xff\xff\xff",
            b"J\xff\xff\xff\xffK\0t\x94bK\x02\x85\x94\x8c\x01C\x94t\x94R\x94.",
        ]
        .concat();
        for bytes in [zero, five] {
            let pickle = Pickle::read(&bytes).map_err(|fault| fault.what).unwrap();
            assert_eq!(pickle.array().and_then(|array| array.integers()), Ok(vec![7, -1]));
        }
    }

    #[test]
    fn objects_of_protocol_0_are_those_of_their_class() {
        let text = "ccopy_reg\n_reconstructor\np0\n(cscipy.sparse.csc\ncsc_matrix\np1\nc__builtin__\nobject\np2\nNtp3\nRp4\n(dp5\n\
                    S'_shape'\n(L2L\nI3\ntp6\nsb.";
        assert_eq!(Pickle::read(text.as_bytes()).unwrap().sparse_shape(), Ok((2, 3)));
        let lists = "(dp0\nI1\n(lp1\nI2\naI03\nasL-1L\n(I4\nlp2\nsS'x'\n0.";
        assert_eq!(Pickle::read(lists.as_bytes()).unwrap().adjacency().unwrap(), [(1, vec![2, 3]), (-1, vec![4])]);
    }

    #[test]
    fn a_dangerous_name_is_refused_and_nothing_runs() {
        let fault = Pickle::read(b"\x80\x02cos\nsystem\nU\x04true\x85R.").err().unwrap();
        assert_eq!(fault.byte, 2);
        assert!(fault.what.contains("os.system") && fault.what.contains("nothing was run"), "{}", fault.what);
        let fault = Pickle::read(b"\x80\x02cevil\nlist\n.").err().unwrap();
        assert!(fault.what.contains("evil.list"), "{}", fault.what);
    }

    #[test]
    fn a_cut_pickle_says_where() {
        let whole = matrix();
        for end in 0..whole.len() {
            let fault = Pickle::read(&whole[..end]).err().unwrap();
            assert!(fault.byte <= end && fault.what.contains("cut short"), "{end}: {}", fault.what);
        }
    }

    #[test]
    fn something_else_than_expected_is_named() {
        let pickle = Pickle::read(b"\x80\x02K\x07.").unwrap();
        assert!(pickle.array().unwrap_err().contains("the integer 7"));
        assert!(pickle.sparse().unwrap_err().contains("the integer 7"));
        assert!(pickle.adjacency().unwrap_err().contains("the integer 7"));
    }

    #[test]
    fn no_change_of_bytes_makes_the_reader_panic() {
        let valid = [ADJACENCY.to_vec(), matrix()];
        let mut state = 11u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize
        };
        for round in 0..100_000 {
            let mut bytes = valid[round % 2].clone();
            for _ in 0..1 + random() % 4 {
                let at = random() % bytes.len();
                bytes[at] = random() as u8;
            }
            if let Ok(pickle) = Pickle::read(&bytes) {
                let _ = (pickle.array(), pickle.sparse(), pickle.sparse_shape(), pickle.adjacency());
            }
        }
    }
}
