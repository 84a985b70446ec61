//! The machine that runs a pickle, and its values.

use std::collections::HashMap;
use std::ops::Range;

use super::texts;

/// The names that a pickle may mention, by their last part; none of them is ever called.
const KNOWN: [&str; 21] = [
    "csr_matrix",
    "csr_array",
    "csc_matrix",
    "csc_array",
    "coo_matrix",
    "coo_array",
    "_reconstruct",
    "_frombuffer",
    "ndarray",
    "dtype",
    "defaultdict",
    "OrderedDict",
    "list",
    "dict",
    "scalar",
    // Objects of classes in protocols 0 and 1, and bytes of Python 3 in protocols 0 to 2.
    "_reconstructor",
    "object",
    "encode",
    "bytes",
    "bytearray",
    "str",
];

/// The modules whose names those are.
const HOMES: [&str; 8] =
    ["scipy.sparse", "numpy", "collections", "__builtin__", "builtins", "_codecs", "copy_reg", "copyreg"];

/// Where a value is in the arena.
pub(super) type Id = u32;

/// A value.
#[derive(Debug)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Bytes of the file: a Python 2 `str`, `bytes` or UTF-8 text.
    Bytes(Range<usize>),
    /// The same, of a text that is written with escapes.
    Unescaped(Vec<u8>),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A class or a function, by its last name.
    Name(&'static str),
    /// An object that a call would have built: the callee, its arguments, the state given to it, the items set in it.
    Object {
        callee: &'static str,
        arguments: Id,
        state: Option<Id>,
        items: Vec<(Id, Id)>,
    },
}

/// The kind of a value, for errors.
pub(super) fn kind(value: &Value) -> String {
    match value {
        Value::None => "None".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Int(value) => format!("the integer {value}"),
        Value::Float(value) => format!("the number {value}"),
        Value::Bytes(_) | Value::Unescaped(_) => "text".to_owned(),
        Value::Tuple(_) => "a tuple".to_owned(),
        Value::List(_) => "a list".to_owned(),
        Value::Dict(_) => "a dictionary".to_owned(),
        Value::Name(name) => format!("the class {name}"),
        Value::Object { callee, .. } => format!("an object of {callee}"),
    }
}

/// The stack machine, between two instructions of a pickle.
pub(super) struct Machine<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) values: Vec<Value>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, values: Vec::new(), stack: Vec::new(), marks: Vec::new(), memo: HashMap::new() }
    }

    /// Runs one instruction; the result when it is the last.
    pub(super) fn step(&mut self) -> Result<Option<Id>, String> {
        let opcode = self.take(1)?[0];
        match opcode {
            // Frames and versions say nothing about the values.
            0x80 => {
                let version = self.take(1)?[0];
                if version > 5 {
                    return Err(format!("is a pickle of protocol {version}; 0 to 5 are read"));
                }
            }
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' if self.marks.last() == Some(&self.stack.len()) => drop(self.marks.pop()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_to_mark()?),
            b'2' => {
                let top = *self.stack.last().ok_or_else(empty)?;
                self.stack.push(top);
            }
            b'.' => {
                let root = self.pop()?;
                return Ok(Some(root));
            }

            b'N' => self.push(Value::None),
            0x88 => self.push(Value::Bool(true)),
            0x89 => self.push(Value::Bool(false)),
            b'I' | b'L' => {
                let text = self.line()?;
                self.push(match (opcode, text) {
                    (b'I', "00") => Value::Bool(false),
                    (b'I', "01") => Value::Bool(true),
                    (_, text) => {
                        let digits = text.strip_suffix('L').unwrap_or(text);
                        Value::Int(digits.parse().map_err(|_| format!("the integer {text} does not fit BIGINT"))?)
                    }
                });
            }
            b'F' => {
                let text = self.line()?;
                self.push(Value::Float(text.parse().map_err(|_| format!("'{text}' is no number"))?));
            }
            b'K' => self.push_integer(1, false)?,
            b'M' => self.push_integer(2, false)?,
            b'J' => self.push_integer(4, true)?,
            0x8a => {
                let length = self.length(1)?;
                self.push_integer(length, true)?;
            }
            0x8b => {
                let length = self.length(4)?;
                self.push_integer(length, true)?;
            }
            b'G' => {
                let bytes = self.take(8)?;
                let bits = bytes.iter().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
                self.push(Value::Float(f64::from_bits(bits)));
            }

            b'U' | b'C' | 0x8c => self.push_bytes(1)?,
            b'T' | b'X' | b'B' => self.push_bytes(4)?,
            0x8d | 0x8e | 0x96 => self.push_bytes(8)?,
            // The contents of a buffer can be read in any case.
            0x98 => {}
            0x97 => return Err("the pickle keeps its arrays in buffers outside the file".to_owned()),
            b'S' => {
                let line = self.line_bytes()?;
                self.push(Value::Unescaped(texts::quoted(line)?));
            }
            b'V' => {
                let line = self.line_bytes()?;
                self.push(Value::Unescaped(texts::unicode(line)?));
            }

            b')' => self.push(Value::Tuple(Vec::new())),
            b't' => {
                let items = self.pop_to_mark()?;
                self.push(Value::Tuple(items));
            }
            0x85..=0x87 => {
                let mut items = Vec::with_capacity(3);
                for _ in 0x84..opcode {
                    items.push(self.pop()?);
                }
                items.reverse();
                self.push(Value::Tuple(items));
            }
            // A set has the items of a list.
            b']' | 0x8f => self.push(Value::List(Vec::new())),
            b'}' => self.push(Value::Dict(Vec::new())),
            b'l' | 0x91 => {
                let items = self.pop_to_mark()?;
                self.push(Value::List(items));
            }
            b'd' => {
                let items = self.pop_to_mark()?;
                self.push(Value::Dict(Vec::new()));
                self.set(&items)?;
            }
            b'a' => {
                let item = self.pop()?;
                self.append(&[item])?;
            }
            b'e' | 0x90 => {
                let items = self.pop_to_mark()?;
                self.append(&items)?;
            }
            b's' => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.set(&[key, value])?;
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.set(&items)?;
            }

            b'c' => {
                let module = self.line()?;
                let name = self.line()?;
                self.push_name(module, name)?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (module, name) = (self.text(module)?, self.text(name)?);
                self.push_name(module, name)?;
            }
            // A call, or the making of an object of a class: recorded, never run.
            b'R' | 0x81 => {
                let (arguments, callee) = (self.pop()?, self.pop()?);
                self.call(callee, arguments)?;
            }
            0x92 => {
                let (_, arguments, callee) = (self.pop()?, self.pop()?, self.pop()?);
                self.call(callee, arguments)?;
            }
            b'i' => {
                let (module, name) = (self.line()?, self.line()?);
                let arguments = self.pop_to_mark()?;
                self.push_name(module, name)?;
                let callee = self.pop()?;
                self.push(Value::Tuple(arguments));
                let arguments = self.pop()?;
                self.call(callee, arguments)?;
            }
            b'o' => {
                let mut arguments = self.pop_to_mark()?;
                if arguments.is_empty() {
                    return Err(empty());
                }
                let callee = arguments.remove(0);
                self.push(Value::Tuple(arguments));
                let arguments = self.pop()?;
                self.call(callee, arguments)?;
            }
            b'b' => {
                let new_state = self.pop()?;
                let object = *self.stack.last().ok_or_else(empty)?;
                match &mut self.values[object as usize] {
                    Value::Object { state, .. } => *state = Some(new_state),
                    other => return Err(format!("state is given to {}", kind(other))),
                }
            }

            b'p' => {
                let key = self.line()?.parse().map_err(|_| "a value is kept under no number".to_owned())?;
                let top = *self.stack.last().ok_or_else(empty)?;
                self.memo.insert(key, top);
            }
            b'g' => {
                let key = self.line()?.parse().map_err(|_| "a value is recalled by no number".to_owned())?;
                self.recall_key(key)?;
            }
            b'q' => self.remember(1)?,
            b'r' => self.remember(4)?,
            0x94 => {
                let top = *self.stack.last().ok_or_else(empty)?;
                self.memo.insert(self.memo.len() as u64, top);
            }
            b'h' => self.recall(1)?,
            b'j' => self.recall(4)?,

            other => return Err(format!("has the pickle instruction {other:#04x}, which graph data does not need")),
        }
        Ok(None)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let rest = &self.bytes[self.at..];
        if rest.len() < length {
            return Err(format!(
                "the pickle is cut short: {length} more bytes are announced, {} are left of {}",
                rest.len(),
                self.bytes.len()
            ));
        }
        self.at += length;
        Ok(&rest[..length])
    }

    /// A little-endian length of 1, 4 or 8 bytes.
    fn length(&mut self, width: usize) -> Result<usize, String> {
        let length = self.take(width)?.iter().rev().fold(0u64, |length, byte| length << 8 | u64::from(*byte));
        usize::try_from(length).map_err(|_| format!("a length of {length} bytes is announced"))
    }

    fn line(&mut self) -> Result<&'a str, String> {
        std::str::from_utf8(self.line_bytes()?).map_err(|_| "a class's name is not text".to_owned())
    }

    fn line_bytes(&mut self) -> Result<&'a [u8], String> {
        let rest = &self.bytes[self.at..];
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            return Err("the pickle is cut short within a line".to_owned());
        };
        self.at += end + 1;
        Ok(&rest[..end])
    }

    /// Records a call. Of an object that is made by its class's name alone, that is the callee.
    fn call(&mut self, callee: Id, arguments: Id) -> Result<(), String> {
        let Value::Name(mut callee) = self.values[callee as usize] else {
            return Err("something that is neither a class nor a function is called".to_owned());
        };
        if callee == "_reconstructor"
            && let Value::Tuple(items) = &self.values[arguments as usize]
            && let Some(Value::Name(class)) = items.first().map(|class| &self.values[*class as usize])
        {
            callee = class;
        }
        self.push(Value::Object { callee, arguments, state: None, items: Vec::new() });
        Ok(())
    }

    fn push(&mut self, value: Value) {
        // Every value takes at least a byte of the file, whose length `read` has checked.
        let id = self.values.len() as Id;
        self.values.push(value);
        self.stack.push(id);
    }

    fn push_integer(&mut self, width: usize, signed: bool) -> Result<(), String> {
        if width > 8 {
            return Err(format!("an integer of {width} bytes is too large for BIGINT"));
        }
        let bytes = self.take(width)?;
        let mut value = bytes.iter().rev().fold(0i64, |value, byte| value << 8 | i64::from(*byte));
        if signed && (1..8).contains(&width) {
            let shift = 64 - 8 * width as u32;
            value = value << shift >> shift;
        }
        self.push(Value::Int(value));
        Ok(())
    }

    fn push_bytes(&mut self, width: usize) -> Result<(), String> {
        let length = self.length(width)?;
        let start = self.at;
        self.take(length)?;
        self.push(Value::Bytes(start..start + length));
        Ok(())
    }

    fn push_name(&mut self, module: &str, name: &str) -> Result<(), String> {
        let inside = |root: &&str| module == *root || module.strip_prefix(*root).is_some_and(|r| r.starts_with('.'));
        match KNOWN.iter().find(|known| **known == name) {
            Some(known) if HOMES.iter().any(inside) => {
                self.push(Value::Name(known));
                Ok(())
            }
            _ => Err(format!("the pickle asks for {module}.{name}, which graph data does not need; nothing was run")),
        }
    }

    fn text(&self, id: Id) -> Result<&'a str, String> {
        match &self.values[id as usize] {
            Value::Bytes(range) => {
                std::str::from_utf8(&self.bytes[range.clone()]).map_err(|_| "a class's name is not text".to_owned())
            }
            other => Err(format!("a class's name is expected, there is {}", kind(other))),
        }
    }

    fn pop(&mut self) -> Result<Id, String> {
        if self.marks.last().is_some_and(|mark| *mark == self.stack.len()) {
            return Err(empty());
        }
        self.stack.pop().ok_or_else(empty)
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>, String> {
        let mark = self.marks.pop().ok_or("the pickle closes a list that it did not open")?;
        Ok(self.stack.split_off(mark))
    }

    fn append(&mut self, new: &[Id]) -> Result<(), String> {
        let list = *self.stack.last().ok_or_else(empty)?;
        match &mut self.values[list as usize] {
            Value::List(items) => items.extend_from_slice(new),
            other => return Err(format!("items are appended to {}", kind(other))),
        }
        Ok(())
    }

    fn set(&mut self, new: &[Id]) -> Result<(), String> {
        if !new.len().is_multiple_of(2) {
            return Err("a key of a dictionary has no value".to_owned());
        }
        let dict = *self.stack.last().ok_or_else(empty)?;
        match &mut self.values[dict as usize] {
            Value::Dict(items) | Value::Object { items, .. } => {
                items.extend(new.chunks_exact(2).map(|pair| (pair[0], pair[1])));
            }
            other => return Err(format!("keys are set in {}", kind(other))),
        }
        Ok(())
    }

    fn remember(&mut self, width: usize) -> Result<(), String> {
        let key = self.length(width)? as u64;
        let top = *self.stack.last().ok_or_else(empty)?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn recall(&mut self, width: usize) -> Result<(), String> {
        let key = self.length(width)? as u64;
        self.recall_key(key)
    }

    fn recall_key(&mut self, key: u64) -> Result<(), String> {
        let id = *self.memo.get(&key).ok_or_else(|| format!("the pickle recalls value {key}, which it never kept"))?;
        self.stack.push(id);
        Ok(())
    }
}

fn empty() -> String {
    "the pickle takes more values than it made".to_owned()
}
