//! `bonnet.datasets`: the published data sets that `ATTACH 'registry:name'` knows.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListArray, StringArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use bonnet_datasets::{RegisteredFile, RegisteredSet, registry};

fn file_fields() -> Fields {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    vec![text("path"), Field::new("bytes", DataType::Int64, true), text("sha256"), text("url")].into()
}

fn file_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(file_fields()), true))
}

pub(super) fn schema() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let number = |name: &str| Field::new(name, DataType::Int64, true);
    Arc::new(Schema::new(vec![
        text("name"),
        text("task"),
        number("nodes"),
        number("edges"),
        number("classes"),
        number("graphs"),
        number("bytes"),
        text("format"),
        text("license"),
        text("source"),
        text("folder"),
        Field::new("files", DataType::List(file_item()), true),
    ]))
}

pub(super) fn rows() -> (Vec<ArrayRef>, usize) {
    let sets = registry();
    let text = |of: fn(&RegisteredSet) -> &'static str| -> ArrayRef {
        Arc::new(sets.iter().map(|set| Some(of(set))).collect::<StringArray>())
    };
    let number = |of: fn(&RegisteredSet) -> Option<u64>| -> ArrayRef {
        let signed = |value: u64| i64::try_from(value).ok();
        Arc::new(sets.iter().map(|set| of(set).and_then(signed)).collect::<Int64Array>())
    };
    let files: Vec<&RegisteredFile> = sets.iter().flat_map(|set| &set.files).collect();
    let of_files = |of: fn(&RegisteredFile) -> Option<&'static str>| -> ArrayRef {
        Arc::new(files.iter().map(|file| of(file)).collect::<StringArray>())
    };
    let bytes: Int64Array = files.iter().map(|file| i64::try_from(file.bytes).ok()).collect();
    let columns = vec![
        of_files(|file| Some(file.path)),
        Arc::new(bytes) as ArrayRef,
        of_files(|file| Some(file.sha256)),
        of_files(|file| file.url),
    ];
    let files = StructArray::new(file_fields(), columns, None);
    let offsets = OffsetBuffer::from_lengths(sets.iter().map(|set| set.files.len()));
    let columns = vec![
        text(|set| set.name),
        Arc::new(sets.iter().map(|set| set.task).collect::<StringArray>()),
        number(|set| set.nodes),
        number(|set| set.edges),
        number(|set| set.classes),
        number(|set| set.graphs),
        number(|set| Some(set.bytes())),
        text(|set| set.format),
        text(|set| set.license),
        text(|set| set.source),
        text(|set| set.folder),
        Arc::new(ListArray::new(file_item(), offsets, Arc::new(files), None)),
    ];
    (columns, sets.len())
}
