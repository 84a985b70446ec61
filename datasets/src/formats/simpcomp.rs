//! Complexes of simpcomp, the GAP package: `.scb` files, which hold a complex and its invariants as GAP's pickle.

use std::path::Path;
use std::sync::Arc;

use super::complex_files::ComplexFiles;
use super::not_this;
use crate::complexes::{self, Complex, Label, Table};
use crate::{Dataset, Error, Format, Options, Result, files};

const LABELS: [Label; 11] = [
    Label::Id,
    Label::Vertices,
    Label::Facets,
    Label::Name,
    Label::Dimension,
    Label::FVector,
    Label::Euler,
    Label::Betti,
    Label::Torsion,
    Label::Manifold,
    Label::Boundary,
];

/// The largest depth of values: a complex holds lists of lists, and its boundary, a complex.
const DEPTH: usize = 32;

pub(super) static FORMAT: Format = Format {
    name: "simpcomp",
    description: "NAME.scb, a complex with its invariants (simpcomp, GAP); a file or a folder of them",
    options: &[],
    recognises: |path| complexes::find(path, is_pickle).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let files = complexes::find(path, is_pickle)
        .ok_or_else(|| not_this(path, "holds no .scb files of simpcomp, which begin with SCSC"))?;
    Ok(FORMAT.dataset(path, options, ComplexFiles { files, labels: &LABELS, read, bytes }))
}

fn is_pickle(file: &Path) -> bool {
    files::is_file(file) && files::head(file, 4).is_ok_and(|head| head == b"SCSC")
}

fn read(file: &Path, table: &mut Table<'_>) -> Result<()> {
    let mut complex = Complex::default();
    let bytes = files::read(file)?;
    let mut pickle = Pickle { path: file, bytes: &bytes, at: 0 };
    let value = pickle.value(0)?;
    complex.id = complexes::stem(file);
    fill(&value, &mut complex).map_err(|what| Error::file(file, what))?;
    table.push(&complex)
}

/// One file is in memory at a time; its row is far smaller.
fn bytes(file: &Path) -> usize {
    files::size(file)
}

/// A value of a pickle.
#[derive(Debug, PartialEq)]
enum Value {
    Complex(Vec<(String, Value)>),
    Text(String),
    Integer(i64),
    List(Vec<Value>),
    Boolean(bool),
    /// `fail`, a range, a reference to an earlier value, or a hole in a list: nothing that is read here.
    Nothing,
}

struct Pickle<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Pickle<'a> {
    fn fault(&self, what: impl ToString) -> Error {
        Error::byte(self.path, self.at, what)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(length).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else { return Err(self.fault("the file ends within a value")) };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn hexadecimal(&mut self, digits: usize) -> Result<i64> {
        let digits = String::from_utf8_lossy(self.take(digits)?);
        i64::from_str_radix(&digits, 16).map_err(|_| self.fault(format!("'{digits}' is no hexadecimal number")))
    }

    /// A length: a byte with the number of digits, and the digits.
    fn length(&mut self) -> Result<usize> {
        let digits = usize::from(self.take(1)?[0]);
        let length = self.hexadecimal(digits)?;
        usize::try_from(length).map_err(|_| self.fault(format!("{length} is no length")))
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > DEPTH {
            return Err(self.fault("values are nested too deeply"));
        }
        let tag = self.take(4)?;
        Ok(match tag {
            b"SCSC" => {
                let pairs = self.length()?;
                let mut properties = Vec::new();
                for _ in 0..pairs {
                    let Value::Text(key) = self.value(depth + 1)? else {
                        return Err(self.fault("a property's name is expected"));
                    };
                    properties.push((key, self.value(depth + 1)?));
                }
                Value::Complex(properties)
            }
            b"MSTR" | b"ISTR" => {
                let length = self.length()?;
                Value::Text(self.take(length)?.iter().map(|&byte| char::from(byte)).collect())
            }
            b"INTG" => {
                let digits = self.length()?;
                Value::Integer(self.hexadecimal(digits)?)
            }
            b"ILIS" | b"MLIS" => {
                let length = self.length()?;
                let mut values = Vec::new();
                while values.len() < length {
                    if self.bytes[self.at..].starts_with(b"GAPL") {
                        self.at += 4;
                        let holes = self.length()?.min(length - values.len());
                        values.extend((0..holes).map(|_| Value::Nothing));
                        continue;
                    }
                    values.push(self.value(depth + 1)?);
                }
                Value::List(values)
            }
            b"IRNG" | b"MRNG" => {
                for _ in 0..3 {
                    self.length()?;
                }
                Value::Nothing
            }
            b"TRUE" => Value::Boolean(true),
            b"FALS" => Value::Boolean(false),
            b"FAIL" => Value::Nothing,
            b"SREF" => {
                self.length()?;
                Value::Nothing
            }
            _ => {
                self.at -= 4;
                let tag = String::from_utf8_lossy(tag).into_owned();
                return Err(self.fault(format!("'{tag}' is no value that is known")));
            }
        })
    }
}

fn integers(value: &Value) -> Option<Vec<i64>> {
    let Value::List(values) = value else { return None };
    values.iter().map(|value| if let Value::Integer(value) = value { Some(*value) } else { None }).collect()
}

/// Takes the complex and what is stated of it out of a pickle.
fn fill(value: &Value, complex: &mut Complex) -> Result<(), String> {
    let Value::Complex(properties) = value else { return Err("the file holds no complex".to_owned()) };
    for (key, value) in properties {
        let unexpected = || format!("{key} is not what it should be");
        match (key.as_str(), value) {
            (_, Value::Nothing) => {}
            ("SCFacetsEx", Value::List(facets)) => {
                for facet in facets {
                    for vertex in integers(facet).ok_or_else(unexpected)? {
                        complex.push_vertex(vertex)?;
                    }
                    complex.end_facet()?;
                }
            }
            ("SCName", Value::Text(name)) => complex.name = Some(name.clone()),
            ("SCDim", Value::Integer(dimension)) => complex.dimension = Some(*dimension),
            ("SCEulerCharacteristic", Value::Integer(euler)) => complex.euler = Some(*euler),
            ("SCFVector", list @ Value::List(_)) => complex.f_vector = Some(integers(list).ok_or_else(unexpected)?),
            ("SCIsManifold", Value::Boolean(manifold)) => complex.manifold = Some(*manifold),
            ("SCHasBoundary", Value::Boolean(boundary)) => complex.boundary = Some(*boundary),
            ("SCHomology", Value::List(groups)) => {
                let (mut betti, mut torsion) = (Vec::new(), Vec::new());
                for (dimension, group) in groups.iter().enumerate() {
                    let Value::List(parts) = group else { return Err(unexpected()) };
                    let [Value::Integer(rank), factors] = &parts[..] else { return Err(unexpected()) };
                    let factors = integers(factors).ok_or_else(unexpected)?;
                    // The groups are reduced: in dimension 0 one component less.
                    betti.push(rank + i64::from(dimension == 0));
                    let factors: Vec<String> = factors.iter().map(|factor| format!("Z_{factor}")).collect();
                    torsion.push(factors.join(" + "));
                }
                (complex.betti, complex.torsion) = (Some(betti), Some(torsion));
            }
            ("SCFacetsEx" | "SCFVector" | "SCHomology" | "SCDim" | "SCEulerCharacteristic", _) => {
                return Err(unexpected());
            }
            _ => {}
        }
    }
    match complex.has_facets() {
        true => Ok(()),
        false => Err("the complex has no facets".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(bytes: &[u8]) -> Result<Value> {
        Pickle { path: Path::new("x.scb"), bytes, at: 0 }.value(0)
    }

    #[test]
    fn values_of_every_kind() {
        assert_eq!(value(b"INTG\x012-1").unwrap(), Value::Integer(-1));
        // Seventeen digits are more than a word holds.
        let large = value(b"INTG\x0211FFFFFFFFFFFFFFFFF").unwrap_err().to_string();
        assert!(large.contains("is no hexadecimal number"), "{large}");
        assert_eq!(value(b"MSTR\x0211Bd(Moebius Strip)").unwrap(), Value::Text("Bd(Moebius Strip)".to_owned()));
        assert_eq!(value(b"IRNG\x011\x012\x015").unwrap(), Value::Nothing);
        let list = value(b"MLIS\x013INTG\x01211GAPL\x011TRUE").unwrap();
        assert_eq!(list, Value::List(vec![Value::Integer(17), Value::Nothing, Value::Boolean(true)]));
    }

    #[test]
    fn damage_is_an_error_with_its_place() {
        let error = value(b"ILIS\x012INTG\x0111SCXX").unwrap_err().to_string();
        assert_eq!(error, "'x.scb', byte 13: 'SCXX' is no value that is known");
        assert!(value(b"ILIS\x012INTG\x0111").unwrap_err().to_string().contains("the file ends within a value"));
        assert!(value(b"ILIS\xff").unwrap_err().to_string().contains("the file ends within a value"));
        let deep = b"ILIS\x011".repeat(100);
        assert!(value(&deep).unwrap_err().to_string().contains("nested too deeply"));
    }
}
