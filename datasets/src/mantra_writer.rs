//! Writes triangulations in MANTRA's format: a JSON list of objects, plain or gzipped.

use std::io::Write;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use flate2::Compression;
use flate2::write::GzEncoder;

/// The columns that every object needs; `facets` is written as `triangulation`.
const REQUIRED: [&str; 5] = ["id", "facets", "name", "betti_numbers", "torsion_coefficients"];

/// The writer of one file.
///
/// An object has the keys of Ballester et al., MANTRA: The Manifold Triangulations Assemblage (ICLR 2025), App. B: `id`,
/// `triangulation`, `dimension`, `n_vertices`, `name`, `betti_numbers`, `torsion_coefficients`, and each other column
/// under its own name where it is not NULL. Vertices are written from 1: a complex with a vertex 0 is shifted by one.
/// `dimension` and `n_vertices` are counted where they are no columns.
#[derive(Debug)]
pub struct MantraWriter {
    columns: Vec<(String, DataType)>,
    output: Output,
    rows: u64,
}

#[derive(Debug)]
enum Output {
    Plain(Vec<u8>),
    Zipped(Box<GzEncoder<Vec<u8>>>),
}

impl MantraWriter {
    /// A writer of rows with these columns, gzipped or not.
    ///
    /// # Errors
    /// A sentence if a column lacks, or has a type that JSON has no place for.
    pub fn new(schema: &Schema, zipped: bool) -> Result<Self, String> {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        if let Some(lacking) = REQUIRED.iter().find(|name| !names.contains(name)) {
            let hint = match *lacking {
                "betti_numbers" | "torsion_coefficients" => format!("; {lacking}(facets) AS {lacking} computes it"),
                "name" => "; name is '' where the space has no name".to_owned(),
                _ => String::new(),
            };
            return Err(format!(
                "MANTRA's format needs the columns {}; the query has no {lacking}, it has: {}{hint}",
                REQUIRED.join(", "),
                names.join(", ")
            ));
        }
        let columns = schema.fields().iter().map(|field| column(field)).collect::<Result<_, _>>()?;
        let output = match zipped {
            true => Output::Zipped(Box::new(GzEncoder::new(Vec::new(), Compression::default()))),
            false => Output::Plain(Vec::new()),
        };
        Ok(Self { columns, output, rows: 0 })
    }

    /// Writes the rows of a batch, which has the columns that were announced.
    ///
    /// # Errors
    /// A sentence about a row without an id or a triangulation, or with vertices that are no vertices.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), String> {
        let cast = |column: &ArrayRef, to: &DataType| cast(column, to).map_err(|error| error.to_string());
        let columns: Vec<ArrayRef> = batch
            .columns()
            .iter()
            .zip(&self.columns)
            .map(|(column, (_, to))| cast(column, to))
            .collect::<Result<_, _>>()?;
        let mut text = Vec::new();
        for row in 0..batch.num_rows() {
            text.extend_from_slice(if self.rows == 0 { b"[\n{" } else { b",\n{" });
            self.rows += 1;
            self.object(&columns, row, &mut text).map_err(|what| format!("row {}: {what}", self.rows))?;
            text.push(b'}');
        }
        self.put(&text);
        Ok(())
    }

    /// The bytes that are ready.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(match &mut self.output {
            Output::Plain(bytes) => bytes,
            Output::Zipped(encoder) => encoder.get_mut(),
        })
    }

    /// Ends the list; the last bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.put(if self.rows == 0 { b"[]\n" } else { b"\n]\n" });
        match self.output {
            Output::Plain(bytes) => bytes,
            // Writing to memory does not fail.
            Output::Zipped(encoder) => encoder.finish().unwrap_or_default(),
        }
    }

    fn put(&mut self, text: &[u8]) {
        match &mut self.output {
            Output::Plain(bytes) => bytes.extend_from_slice(text),
            Output::Zipped(encoder) => encoder.write_all(text).unwrap_or_default(),
        }
    }

    fn object(&self, columns: &[ArrayRef], row: usize, text: &mut Vec<u8>) -> Result<(), String> {
        let mut first = true;
        for ((name, _), column) in self.columns.iter().zip(columns) {
            let null = column.is_null(row);
            if null && (name == "id" || name == "facets") {
                return Err(format!("{name} is NULL"));
            }
            if null && !REQUIRED.contains(&name.as_str()) {
                continue;
            }
            if !first {
                text.extend_from_slice(b", ");
            }
            first = false;
            if name == "facets" {
                self.triangulation(column.as_list::<i32>(), row, text)?;
                continue;
            }
            string(name, text);
            text.extend_from_slice(b": ");
            match name.as_str() {
                "name" if null => text.extend_from_slice(b"\"\""),
                _ => value(column, row, text),
            }
        }
        Ok(())
    }

    /// `triangulation`, and what is counted from it.
    fn triangulation(&self, column: &ListArray, row: usize, text: &mut Vec<u8>) -> Result<(), String> {
        let facets = column.value(row);
        let facets = facets.as_list::<i32>();
        let mut vertices = Vec::new();
        let mut longest = 0;
        for i in 0..facets.len() {
            let facet = facets.value(i);
            let facet = facet.as_primitive::<Int64Type>();
            if facets.is_null(i) || facet.is_empty() || facet.null_count() > 0 {
                return Err(format!("facet {} is NULL or empty, or has a NULL vertex", i + 1));
            }
            longest = longest.max(facet.len());
            vertices.extend_from_slice(facet.values());
        }
        vertices.sort_unstable();
        vertices.dedup();
        let Some(&least) = vertices.first() else { return Err("facets is an empty list".to_owned()) };
        if least < 0 {
            return Err(format!("the vertex {least} is negative"));
        }
        let shift = i64::from(least == 0);
        text.extend_from_slice(b"\"triangulation\": [");
        for i in 0..facets.len() {
            text.extend_from_slice(if i == 0 { b"[" } else { b", [" });
            for (j, vertex) in facets.value(i).as_primitive::<Int64Type>().values().iter().enumerate() {
                let comma = if j == 0 { "" } else { ", " };
                text.extend_from_slice(format!("{comma}{}", vertex + shift).as_bytes());
            }
            text.push(b']');
        }
        text.push(b']');
        let has = |wanted: &str| self.columns.iter().any(|(name, _)| name == wanted);
        if !has("dimension") {
            text.extend_from_slice(format!(", \"dimension\": {}", longest - 1).as_bytes());
        }
        if !has("n_vertices") {
            text.extend_from_slice(format!(", \"n_vertices\": {}", vertices.len()).as_bytes());
        }
        Ok(())
    }
}

/// The name of a column and the type as which it is written.
fn column(field: &Field) -> Result<(String, DataType), String> {
    let name = field.name().clone();
    let list = |item: DataType| DataType::List(Field::new_list_field(item, true).into());
    let written = match name.as_str() {
        "facets" => {
            Some(list(list(DataType::Int64))).filter(|to| arrow::compute::can_cast_types(field.data_type(), to))
        }
        "id" => Some(DataType::Utf8),
        _ => plain(field.data_type()),
    };
    match written {
        Some(written) => Ok((name, written)),
        None => Err(format!("the column {name} is {}, for which MANTRA's format has no place", field.data_type())),
    }
}

/// The type as which a value is written: truth values, numbers, strings, and lists of them.
fn plain(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Boolean => DataType::Boolean,
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::UInt64 => DataType::UInt64,
        integer if integer.is_integer() => DataType::Int64,
        real if real.is_floating() => DataType::Float64,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            DataType::List(Field::new_list_field(plain(item.data_type())?, true).into())
        }
        _ => return None,
    })
}

/// A value as JSON; a number that is none, as NULL is.
fn value(column: &dyn Array, row: usize, text: &mut Vec<u8>) {
    if column.is_null(row) {
        text.extend_from_slice(b"null");
        return;
    }
    match column.data_type() {
        DataType::Utf8 => string(column.as_string::<i32>().value(row), text),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            text.push(b'[');
            for i in 0..items.len() {
                if i > 0 {
                    text.extend_from_slice(b", ");
                }
                value(&items, i, text);
            }
            text.push(b']');
        }
        DataType::Float64 => {
            let number = column.as_primitive::<arrow::datatypes::Float64Type>().value(row);
            text.extend_from_slice(serde_json::Value::from(number).to_string().as_bytes());
        }
        _ => {
            let shown = arrow::util::display::array_value_to_string(column, row);
            text.extend_from_slice(shown.unwrap_or_default().as_bytes());
        }
    }
}

fn string(value: &str, text: &mut Vec<u8>) {
    text.extend_from_slice(serde_json::Value::from(value).to_string().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{BooleanArray, Int32Builder, Int64Builder};
    use arrow::array::{Int64Array, ListBuilder, StringArray, StringBuilder};
    use flate2::read::GzDecoder;
    use std::io::Read;
    use std::sync::Arc;

    fn batch(first_vertex: i32) -> RecordBatch {
        let mut facets = ListBuilder::new(ListBuilder::new(Int32Builder::new()));
        for facet in [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]] {
            facets.values().values().append_slice(&facet.map(|v| v + first_vertex));
            facets.values().append(true);
        }
        facets.append(true);
        let mut betti = ListBuilder::new(Int64Builder::new());
        betti.values().append_slice(&[1, 0, 1]);
        betti.append(true);
        let mut torsion = ListBuilder::new(StringBuilder::new());
        (0..3).for_each(|_| torsion.values().append_value(""));
        torsion.append(true);
        RecordBatch::try_from_iter_with_nullable([
            ("id", Arc::new(Int64Array::from(vec![7])) as ArrayRef, true),
            ("facets", Arc::new(facets.finish()), true),
            ("betti_numbers", Arc::new(betti.finish()), true),
            ("torsion_coefficients", Arc::new(torsion.finish()), true),
            ("name", Arc::new(StringArray::from(vec!["S^2 \"round\""])), true),
            ("orientable", Arc::new(BooleanArray::from(vec![true])), true),
            ("genus", Arc::new(Int64Array::from(vec![None])), true),
        ])
        .unwrap()
    }

    const OBJECT: &str = "{\"id\": \"7\", \"triangulation\": [[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]], \"dimension\": 2, \
                          \"n_vertices\": 4, \"betti_numbers\": [1, 0, 1], \"torsion_coefficients\": [\"\", \"\", \"\"], \
                          \"name\": \"S^2 \\\"round\\\"\", \"orientable\": true}";

    #[test]
    fn objects_have_the_keys_of_the_format_and_vertices_from_one() {
        for first_vertex in [0, 1] {
            let batch = batch(first_vertex);
            let mut writer = MantraWriter::new(&batch.schema(), false).unwrap();
            writer.write(&batch).unwrap();
            let mut text = writer.take();
            writer.write(&batch).unwrap();
            text.extend(writer.finish());
            assert_eq!(String::from_utf8(text).unwrap(), format!("[\n{OBJECT},\n{OBJECT}\n]\n"));
        }
    }

    #[test]
    fn a_zipped_list_unpacks_to_the_plain_one_and_no_rows_are_an_empty_list() {
        let batch = batch(1);
        let mut writer = MantraWriter::new(&batch.schema(), true).unwrap();
        writer.write(&batch).unwrap();
        let mut text = String::new();
        GzDecoder::new(&writer.finish()[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, format!("[\n{OBJECT}\n]\n"));
        assert_eq!(MantraWriter::new(&batch.schema(), false).unwrap().finish(), b"[]\n");
    }

    #[test]
    fn columns_that_lack_are_named() {
        let schema = Schema::new(vec![Field::new("id", DataType::Utf8, true)]);
        let error = MantraWriter::new(&schema, false).unwrap_err();
        assert!(error.contains("the query has no facets, it has: id"), "{error}");
    }
}
