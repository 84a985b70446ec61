//! What the parameters that a job loads stand on: columns of `train`, and the test that its graph is not among them.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListBuilder, StringArray, StringBuilder};
use arrow::datatypes::{DataType, Field};
use bonnet_sql::Call;

use crate::sql::provenance::Content;
use crate::{Saved, SourceRecord, TrainOptions, is_pretrained};

/// The columns of jobs that load something: the graphs of the pre-training behind it, the hashes of their edges and features, and
/// the same hash of the job's own graph.
pub(in crate::sql) const LOADED: [&str; 3] = ["sources", "source_hashes", "target_hash"];

/// What a run's parameters stand on.
#[derive(Debug, Clone, Default)]
pub(in crate::sql) struct Standing {
    pub sources: Vec<SourceRecord>,
    pub target: Option<String>,
}

/// The type of a column of texts.
fn texts() -> DataType {
    DataType::List(Arc::new(Field::new("item", DataType::Utf8, true)))
}

/// A list of texts as a column of one row; NULL for none.
pub(super) fn list<'a>(values: impl ExactSizeIterator<Item = &'a str>) -> ArrayRef {
    let mut column = ListBuilder::new(StringBuilder::new());
    let is_valid = values.len() > 0;
    values.for_each(|value| column.values().append_value(value));
    column.append(is_valid);
    Arc::new(column.finish())
}

/// The fields of the sources, and of their hashes.
pub(super) fn source_fields() -> [Field; 2] {
    [LOADED[0], LOADED[1]].map(|name| Field::new(name, texts(), true))
}

/// The values of [`source_fields`].
pub(super) fn source_columns(sources: &[SourceRecord]) -> [ArrayRef; 2] {
    [list(sources.iter().map(|it| it.graph.as_str())), list(sources.iter().map(|it| it.hash.as_str()))]
}

impl Standing {
    /// Whether the jobs of a call may load something.
    pub fn is_asked(call: &Call) -> bool {
        call.inputs[0].schema.field_with_name("load").is_ok() || call.options.get("load").is_some()
    }

    /// The fields of [`LOADED`].
    pub fn fields() -> impl Iterator<Item = Field> {
        source_fields().into_iter().chain([Field::new(LOADED[2], DataType::Utf8, true)])
    }

    /// Their values, for one row.
    pub fn columns(&self) -> impl Iterator<Item = ArrayRef> + use<> {
        let target: ArrayRef = Arc::new(StringArray::from(vec![self.target.as_deref()]));
        source_columns(&self.sources).into_iter().chain([target])
    }
}

/// What the run on a graph stands on that loads a file, where its model is pre-trained.
///
/// # Errors
/// If the edges of the graph are those of a source, or nothing is loaded.
pub(in crate::sql) fn of_target(
    saved: Option<&Saved>,
    content: &Content,
    options: &TrainOptions,
) -> std::result::Result<Option<Standing>, String> {
    let Some(saved) = saved.filter(|_| is_pretrained(options)) else { return Ok(None) };
    let (sources, edges) = (saved.sources(), content.edges().to_string());
    if let Some(source) = sources.iter().find(|source| source.edges == edges) {
        return Err(format!(
            "the encoder was pre-trained on the edges of this graph, as {}: what it gives there says nothing of a graph that it has \
             not seen; load one that was pre-trained on others",
            source.graph
        ));
    }
    Ok(Some(Standing { sources, target: Some(content.unlabelled(options).to_string()) }))
}
