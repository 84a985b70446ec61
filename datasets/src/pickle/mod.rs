//! Python pickles, as far as numpy arrays, scipy CSR and COO matrices and `defaultdict(list)` need them (protocols 2 to 4).
//!
//! A pickle is a program for a stack machine. This reader runs it without Python: it builds lists, dictionaries and
//! numbers, and *records* calls and classes instead of executing them; a name outside `KNOWN` ends the reading. All
//! values live in one arena, so shared and cyclic values are just numbers, and nothing recurses.

mod machine;

use self::machine::{Id, Machine, Value, kind};
use crate::array::{Array, Dtype, Header};
use crate::matrix::Matrix;

/// A fault and the byte where it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) byte: usize,
    pub(crate) what: String,
}

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

    /// The whole pickle as a sparse matrix.
    pub(crate) fn csr(&self) -> Result<Matrix, String> {
        let state = self.csr_state()?;
        let (rows, width) = self.shape_in(state)?;
        let part = |name: &str| self.array_at(self.entry(state, name)?).map_err(|e| format!("{name}: {e}"));
        let indptr = part("indptr")?.integers()?;
        Matrix::from_csr(width, &indptr, &part("indices")?.integers()?, &part("data")?.floats()?, rows)
    }

    /// The shape of the sparse matrix.
    pub(crate) fn csr_shape(&self) -> Result<(usize, usize), String> {
        self.shape_in(self.csr_state()?)
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
            let part = |name: &str| {
                let array = self.array_at(self.entry(state, name)?).map_err(|what| format!("{name}: {what}"))?;
                array.integers().map_err(|what| format!("{name}: {what}"))
            };
            let (row, column) = (part("row").map_err(wrong)?, part("col").map_err(wrong)?);
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

    fn csr_state(&self) -> Result<&[(Id, Id)], String> {
        let Value::Object { callee: "csr_matrix" | "csr_array", state: Some(state), .. } = self.value(self.root) else {
            return Err(format!("a scipy csr_matrix is expected, there is {}", kind(self.value(self.root))));
        };
        match self.value(*state) {
            Value::Dict(items) => Ok(items),
            other => Err(format!("the csr_matrix has no dictionary of members but {}", kind(other))),
        }
    }

    fn shape_in(&self, state: &[(Id, Id)]) -> Result<(usize, usize), String> {
        match self.sizes(self.entry(state, "_shape").or_else(|_| self.entry(state, "shape"))?)?[..] {
            [rows, width] => Ok((rows, width)),
            ref other => Err(format!("the sparse matrix has the shape {other:?}, not two lengths")),
        }
    }

    fn entry(&self, dict: &[(Id, Id)], name: &str) -> Result<Id, String> {
        let found = dict.iter().find(|(key, _)| self.bytes_at(*key).is_ok_and(|bytes| bytes == name.as_bytes()));
        found.map(|(_, value)| *value).ok_or_else(|| format!("the member '{name}' is missing"))
    }

    fn bytes_at(&self, id: Id) -> Result<&[u8], String> {
        match self.value(id) {
            Value::Bytes(range) => Ok(&self.bytes[range.clone()]),
            other => Err(format!("text is expected, there is {}", kind(other))),
        }
    }

    fn text(&self, id: Id) -> Result<&str, String> {
        std::str::from_utf8(self.bytes_at(id)?).map_err(|_| "a name is not text".to_owned())
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

    /// `_reconstruct(ndarray, ...)` with the state `(version, shape, dtype, fortran, bytes)`.
    fn array_at(&self, id: Id) -> Result<Array, String> {
        let Value::Object { callee: "_reconstruct", state: Some(state), .. } = self.value(id) else {
            return Err(format!("a numpy array is expected, there is {}", kind(self.value(id))));
        };
        let &[_, shape, dtype, fortran, data] = self.tuple(*state)? else {
            return Err("the state of a numpy array has another form than (version, shape, dtype, order, data)".into());
        };
        let dtype = self.dtype(dtype)?;
        let fortran = matches!(self.value(fortran), Value::Bool(true) | Value::Int(1));
        let data = self.bytes_at(data)?.to_vec();
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
                None => "",
            },
            None => "",
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
        assert_eq!(pickle.csr_shape().unwrap(), (1, 3));
        assert_eq!(pickle.csr().unwrap(), Matrix::Sparse { width: 3, offsets: vec![0, 1], entries: vec![(2, 2.0)] });
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
        assert!(pickle.csr().unwrap_err().contains("the integer 7"));
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
                let _ = (pickle.array(), pickle.csr(), pickle.csr_shape(), pickle.adjacency());
            }
        }
    }
}
