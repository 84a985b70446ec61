//! MANTRA, the manifold triangulations assemblage: a JSON list of triangulations, plain or gzipped.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::not_this;
use crate::complexes::{self, Complex, Label, TRIANGULATIONS, Table};
use crate::reader::Reader;
use crate::scan::Scan;
use crate::{Dataset, Error, Format, Options, Result, files};

/// The keys of the format's description; other keys become columns of text.
const LABELS: [Label; 9] = [
    Label::Id,
    Label::Vertices,
    Label::Facets,
    Label::Dimension,
    Label::Name,
    Label::Betti,
    Label::Torsion,
    Label::Genus,
    Label::Orientable,
];

/// The bytes of a file that are searched for keys beyond those.
const SAMPLE: u64 = 1 << 20;

pub(super) static FORMAT: Format = Format {
    name: "mantra",
    description: "NAME.json or NAME.json.gz, a list of objects with id, triangulation, betti_numbers, ... (MANTRA)",
    options: &[],
    recognises: |path| is_mantra(path),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    if !is_mantra(path) {
        return Err(not_this(
            path,
            "is no list of triangulations: [{\"id\": ..., \"triangulation\": [[...]], ...}, ...]",
        ));
    }
    let mut labels = LABELS.to_vec();
    labels.extend(other_keys(path)?.into_iter().map(Label::Other));
    Ok(FORMAT.dataset(path, options, List { file: path.to_owned(), labels }))
}

fn is_mantra(file: &Path) -> bool {
    let name = files::name(file).to_ascii_lowercase();
    if !name.ends_with(".json") && !name.ends_with(".json.gz") {
        return false;
    }
    let head = complexes::head(file);
    let text = String::from_utf8_lossy(&head);
    let solid: String = text.chars().filter(|c| !c.is_whitespace()).take(2).collect();
    solid == "[{" && text.contains("\"triangulation\"")
}

/// The keys of the first objects that are none of the format's own.
fn other_keys(file: &Path) -> Result<Vec<String>> {
    let mut keys = BTreeSet::new();
    let mut reader = serde_json::Deserializer::from_reader(complexes::open(file)?.take(SAMPLE));
    // The sample may end within an object: what came before it counts, and reading will say what is wrong.
    let _ = DeserializeSeed::deserialize(Each(|keys_of: Keys| keys.extend(keys_of.0)), &mut reader);
    Ok(keys.into_iter().filter(|key| Key::of(key).is_none()).collect())
}

#[derive(Debug)]
struct List {
    file: PathBuf,
    labels: Vec<Label>,
}

impl Reader for List {
    fn tables(&self) -> Vec<&'static str> {
        vec![TRIANGULATIONS]
    }

    fn schema(&self, _table: &str) -> Result<SchemaRef> {
        Ok(complexes::schema(&self.labels))
    }

    fn read(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut table = Table::new(&self.labels, scan.columns, scan.keep_going);
        read(&self.file, complexes::open(&self.file)?, &self.labels, &mut table)?;
        table.finish()
    }

    fn expected_bytes(&self, _table: &str, _columns: &[usize]) -> usize {
        2 * complexes::unpacked_size(&self.file)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}

/// Reads object after object into the columns of the table.
fn read(file: &Path, input: impl BufRead, labels: &[Label], table: &mut Table<'_>) -> Result<()> {
    let mut rows = ListStream { table, labels, complex: Complex::default(), count: 0, failure: None };
    let mut reader = serde_json::Deserializer::from_reader(input);
    let read = (&mut rows).deserialize(&mut reader).and_then(|()| reader.end());
    match (rows.failure, read) {
        (Some(failure), _) => Err(failure),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) if error.is_io() => {
            Err(Error::Io { path: file.to_owned(), source: std::io::Error::from(error) })
        }
        (None, Err(error)) => Err(Error::member(file, &format!("record {}", rows.count + 1), error)),
    }
}

/// The keys that mean something.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Key {
    Id,
    Triangulation,
    Vertices,
    Dimension,
    Name,
    Betti,
    Torsion,
    Genus,
    Orientable,
}

impl Key {
    fn of(key: &str) -> Option<Self> {
        Some(match key {
            "id" => Self::Id,
            "triangulation" => Self::Triangulation,
            "n_vertices" => Self::Vertices,
            "dimension" => Self::Dimension,
            "name" => Self::Name,
            "betti_numbers" => Self::Betti,
            "torsion_coefficients" => Self::Torsion,
            "genus" => Self::Genus,
            "orientable" => Self::Orientable,
            _ => return None,
        })
    }
}

/// The list as a stream of rows.
struct ListStream<'t, 'k> {
    table: &'t mut Table<'k>,
    labels: &'t [Label],
    complex: Complex,
    count: usize,
    failure: Option<Error>,
}

impl<'de> DeserializeSeed<'de> for &mut ListStream<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &mut ListStream<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of triangulations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Row(self))?.is_some() {
            if let Err(error) = self.table.push(&self.complex) {
                self.failure = Some(error);
                return Err(A::Error::custom("stopped"));
            }
            self.count += 1;
        }
        Ok(())
    }
}

/// One object, read into the rows' complex.
struct Row<'r, 't, 'k>(&'r mut ListStream<'t, 'k>);

impl<'de> DeserializeSeed<'de> for Row<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Row<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with id, triangulation, n_vertices")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let ListStream { table, labels, complex, .. } = self.0;
        complex.clear();
        let mut id = None;
        while let Some(key) = object.next_key::<Cow<'de, str>>()? {
            match Key::of(&key) {
                Some(Key::Id) => id = Some(object.next_value::<Text>()?.0),
                Some(Key::Triangulation) => {
                    if complex.has_facets() {
                        return Err(A::Error::duplicate_field("triangulation"));
                    }
                    object.next_value_seed(FacetLists(complex))?;
                }
                Some(Key::Vertices) => complex.n_vertices = Some(object.next_value()?),
                Some(Key::Dimension) => complex.dimension = object.next_value()?,
                Some(Key::Name) if table.wants(&Label::Name) => complex.name = object.next_value()?,
                Some(Key::Betti) if table.wants(&Label::Betti) => complex.betti = object.next_value()?,
                Some(Key::Torsion) if table.wants(&Label::Torsion) => complex.torsion = object.next_value()?,
                Some(Key::Genus) => complex.genus = object.next_value()?,
                Some(Key::Orientable) => complex.orientable = object.next_value()?,
                Some(_) => {
                    object.next_value::<IgnoredAny>()?;
                }
                None => {
                    let others = || labels.iter().filter(|label| matches!(label, Label::Other(_)));
                    let at = others().position(|label| *label == Label::Other(key.clone().into_owned()));
                    let Some(at) = at else {
                        let what = format!("the key {key} is in no object of the file's first MiB, so it is no column");
                        return Err(A::Error::custom(what));
                    };
                    let value: serde_json::Value = object.next_value()?;
                    complex.others.resize(others().count(), None);
                    complex.others[at] = match value {
                        serde_json::Value::Null => None,
                        serde_json::Value::String(text) => Some(text),
                        other => Some(other.to_string()),
                    };
                }
            }
        }
        complex.id = id.ok_or_else(|| A::Error::missing_field("id"))?;
        match complex.has_facets() {
            true => Ok(()),
            false => Err(A::Error::missing_field("triangulation")),
        }
    }
}

/// A string; older files have numbers as ids.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Self(text)),
            serde_json::Value::Number(number) => Ok(Self(number.to_string())),
            other => Err(D::Error::custom(format!("id is {other}, expected a text"))),
        }
    }
}

/// A list of facets, read vertex by vertex.
struct FacetLists<'c>(&'c mut Complex);

impl<'de> DeserializeSeed<'de> for FacetLists<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for FacetLists<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of facets, each a list of vertices")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut facets: A) -> Result<(), A::Error> {
        while facets.next_element_seed(FacetList(self.0))?.is_some() {}
        Ok(())
    }
}

struct FacetList<'c>(&'c mut Complex);

impl<'de> DeserializeSeed<'de> for FacetList<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for FacetList<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a facet: a list of vertices")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut vertices: A) -> Result<(), A::Error> {
        while let Some(vertex) = vertices.next_element::<i64>()? {
            self.0.push_vertex(vertex).map_err(A::Error::custom)?;
        }
        self.0.end_facet().map_err(A::Error::custom)
    }
}

/// The keys of an object.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;

        impl<'de> Visitor<'de> for Names {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = object.next_entry::<String, IgnoredAny>()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }

        deserializer.deserialize_map(Names)
    }
}

/// Hands each element of a list to a function as it comes.
struct Each<F>(F);

impl<'de, F: FnMut(Keys)> DeserializeSeed<'de> for Each<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(Keys)> Visitor<'de> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(keys) = list.next_element()? {
            (self.0)(keys);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, RecordBatch};
    use arrow::datatypes::Int64Type;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    const TWO: &str = r#"[
        {"id": "manifold_2_4_1", "triangulation": [[1,2,3],[4,2,1],[1,3,4],[2,3,4]], "dimension": 2, "n_vertices": 4,
         "betti_numbers": [1,0,1], "torsion_coefficients": ["","",""], "name": "S^2", "genus": 0, "orientable": true,
         "vertex_transitive": true},
        {"id": "x", "triangulation": [[0,1]], "n_vertices": 2}
    ]"#;

    fn rows(text: &str, name: &str) -> Result<Vec<RecordBatch>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        let bytes = match name.ends_with(".gz") {
            true => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(text.as_bytes()).unwrap();
                encoder.finish().unwrap()
            }
            false => text.as_bytes().to_vec(),
        };
        std::fs::write(&file, bytes).unwrap();
        let dataset = open(&file, &Options::new())?;
        let width = dataset.schema(TRIANGULATIONS)?.fields().len();
        dataset.read(TRIANGULATIONS, &(0..width).collect::<Vec<_>>(), &|| true)
    }

    #[test]
    fn plain_and_zipped_lists_give_the_same_rows() {
        let plain = rows(TWO, "a.json").unwrap();
        assert_eq!(plain, rows(TWO, "a.json.gz").unwrap());
        let batch = &plain[0];
        assert_eq!(batch.num_rows(), 2);
        let shown = |column: &str, row: usize| {
            let column = batch.column_by_name(column).unwrap();
            arrow::util::display::array_value_to_string(column, row).unwrap()
        };
        assert_eq!(shown("facets", 0), "[[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]]");
        assert_eq!(shown("torsion_coefficients", 0), "[, , ]");
        assert_eq!((shown("vertex_transitive", 0), shown("vertex_transitive", 1)), ("true".into(), String::new()));
        assert_eq!(batch.column_by_name("n_vertices").unwrap().as_primitive::<Int64Type>().values(), &[4, 2]);
        assert!(batch.column_by_name("betti_numbers").unwrap().is_null(1));
    }

    #[test]
    fn what_is_malformed_is_named_by_record_and_place() {
        let fault = |text: &str| rows(text, "a.json").unwrap_err().to_string();
        let cut = fault(&TWO[..TWO.len() - 20]);
        assert!(cut.contains("record 2") && cut.contains("line 5"), "{cut}");
        let negative = fault(r#"[{"id": "a", "triangulation": [[1,-2]], "n_vertices": 2}]"#);
        assert!(negative.contains("record 1") && negative.contains("the vertex -2 is out of range"), "{negative}");
        let real = fault(r#"[{"id": "a", "triangulation": [[1,2.5]], "n_vertices": 2}]"#);
        assert!(real.contains("record 1") && real.contains("2.5"), "{real}");
        let lacking = fault(r#"[{"triangulation": [[1,2]], "n_vertices": 2}]"#);
        assert!(lacking.contains("missing field `id`"), "{lacking}");
        let empty = fault(r#"[{"id": "a", "triangulation": [[]], "n_vertices": 2}]"#);
        assert!(empty.contains("facet 1 is empty"), "{empty}");
        let after = fault(&format!("{TWO} x"));
        assert!(after.contains("trailing characters"), "{after}");
    }
}
