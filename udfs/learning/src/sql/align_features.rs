//! `align_features(graph, ... [, dim => 50] [, method => 'svd'])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, ListArray, StringArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{Binding, Body, Call, Function, OptionValue, Parameter, Run, execution_error, stopped, usage_error};
use datafusion::common::{DataFusionError, Result};

use super::graph::{LoadedGraph, RequiredParts};
use crate::{Alignment, AlignmentError, Features, Reduction, align, structural_features, structural_features_bytes};

const NAME: &str = "align_features";

/// Of the graph alone: its features and its edges.
const REQUIRED: RequiredParts<'static> =
    RequiredParts { labels: &[], features: true, arcs: false, weights: false, types: false, means: false, rows: false };

/// The registration.
pub fn align_features() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::graphs("graph", "The names of graphs; '*' for all there are, 'c.*' for those of the catalog c."),
            Parameter::integer("dim", "The length of the lists, the same for all graphs.").or(OptionValue::Integer(50)),
            Parameter::text(
                "method",
                "'svd', the truncated singular value decomposition, or 'pca', the same of columns less their means.",
            )
            .or(OptionValue::Text(Reduction::Svd.name().to_owned())),
        ])
        .returns("graph, node, features (FLOAT[])")
        .description(
            "The features of the nodes of each graph in dim columns, so that one model reads graphs of different features; keys are \
             text. Each graph by itself: X V, where the columns of V are the right singular vectors of its features X (for \
             pca of X less the means of its columns, which are then taken off X), the largest singular values first; of each \
             vector the largest entry by magnitude is positive. A graph of fewer columns than dim is rotated so, and zeros \
             follow. A graph without features takes the identity, carried along its edges once, D^-1/2 (A + I) D^-1/2: all \
             singular values of the identity alone are 1, so that none of its columns comes before another. An error for a dim \
             above the rank of a graph that has as many columns. Exact up to 512 nodes or columns; beyond by randomised \
             subspace iteration until nothing changes that a FLOAT shows. No randomness is left: no seed, and the same answer in every run.",
        )
        .example("SELECT graph, node, features FROM align_features(karate, dim => 2) ORDER BY node LIMIT 3")
        .source(
            "Halko, Martinsson and Tropp, Finding structure with randomness (2011), Algorithm 4.4; the widths of CurvBench, Appendix B: \
             50, for GCOPE 100",
        )
}

fn item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Float32, true))
}

fn bind(call: &Call) -> Result<Binding> {
    let names = call.options.texts("graph")?;
    let dim = call.options.integer_from("dim", 1)?.unwrap_or(50) as usize;
    let method = call.options.text("method")?.unwrap_or_default();
    let Some(method) = Reduction::of_name(method) else {
        let valid = Reduction::ALL.map(Reduction::name).join(", ");
        return usage_error(format!("{NAME}: method is '{method}'; valid: {valid}"));
    };
    let schema = Schema::new(vec![
        Field::new("graph", DataType::Utf8, true),
        Field::new("node", DataType::Utf8, true),
        Field::new("features", DataType::List(item()), true),
    ]);
    Ok(Binding::new(Arc::new(schema), Vec::new(), move |run| {
        for name in expanded(&names, run)? {
            run.host().check().map_err(stopped)?;
            emit(run, &name, dim, method)?;
        }
        Ok(())
    }))
}

/// The names with those that patterns stand for.
fn expanded(given: &[String], run: &Run) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for name in given {
        let start = match name.as_str() {
            "*" => "",
            pattern if pattern.ends_with(".*") => &pattern[..pattern.len() - 1],
            _ => {
                names.push(name.clone());
                continue;
            }
        };
        let found: Vec<_> = run.graphs().names().into_iter().filter(|name| name.starts_with(start)).collect();
        if found.is_empty() {
            return usage_error(format!("{NAME}: there is no graph {name}; SELECT graph FROM bonnet.graphs lists all"));
        }
        names.extend(found);
    }
    Ok(names)
}

/// Emits the rows of a graph.
fn emit(run: &Run, name: &str, dim: usize, method: Reduction) -> Result<()> {
    let failed = |why: String| execution_error(format!("{NAME}: graph {name}: {why}"));
    let tables = run.wait(run.graphs().tables(name))?;
    let graph = LoadedGraph::read(run, &tables, REQUIRED).map_err(|error| match error {
        DataFusionError::Execution(why) => failed(why),
        error => error,
    })?;
    let features = graph.own_features().map_err(failed)?;
    let host = run.host();
    let bytes = if features.n_rows().is_none() { structural_features_bytes(graph.graph()) } else { 0 };
    let _stand_in = Reservation::new(host, bytes).map_err(stopped)?;
    let aligned = run.install(|| match &*features {
        Features::None => align(&structural_features(graph.graph()), Alignment::of_all(dim, method), host),
        features => align(features, Alignment::of_all(dim, method), host),
    });
    let aligned = aligned.map_err(|error| match error {
        AlignmentError::Stopped(reason) => stopped(reason),
        error => failed(error.to_string()),
    })?;
    let names = graph.names("");
    // Offsets are 32 bits: some nodes at a time.
    let at_once = (i32::MAX as usize / dim).clamp(1, 1 << 16);
    let _rows = Reservation::new(host, at_once.min(names.len()) * (4 * dim + 64)).map_err(stopped)?;
    for start in (0..names.len()).step_by(at_once) {
        let nodes = start..names.len().min(start + at_once);
        let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(dim, nodes.len()));
        let values = Arc::new(Float32Array::from(aligned.values[nodes.start * dim..nodes.end * dim].to_vec()));
        let graph: ArrayRef = Arc::new(StringArray::from(vec![name; nodes.len()]));
        let keys = StringArray::from_iter_values(nodes.map(|node| names.key(node as u32)));
        run.emit_all(vec![graph, Arc::new(keys), Arc::new(ListArray::new(item(), offsets, values, None))])?;
    }
    Ok(())
}
