//! `subgraph_counts(edges [, nodes] [, per => 'graph'] [, longest_cycle => 4])`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, StringArray, UInt32Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Field};
use bonnet_graph::Monitor;
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, InputGraph, OptionValue, Parameter, Run, execution_error, stopped,
    usage_error,
};
use datafusion::common::Result;
use rayon::prelude::*;

use crate::{LONGEST_CYCLE, PatternCounts};

const NAME: &str = "subgraph_counts";

/// Graphs whose answers are emitted together.
const TOGETHER: usize = 1024;

/// The registration.
pub(super) fn subgraph_counts() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            GraphInput::edges(),
            Parameter::relation("nodes", "The nodes: node; adds the isolated ones.").optional(),
            Parameter::text("per", "'graph' for the copies in each graph, 'node' for those that each node is in.")
                .or(OptionValue::Text("graph".into())),
            Parameter::integer("longest_cycle", "The number of nodes of the longest cycle that is counted, 4 to 8.")
                .or(OptionValue::Integer(4)),
        ])
        .returns("pattern, copies, induced_copies; node in front with per => 'node'; graph_id in front where edges have it")
        .description(
            "How many copies of small patterns there are in each graph, or at each node. The patterns: path3, triangle, path4, star (of \
             3 leaves), cycle4, tailed_triangle, chordal_cycle (4 nodes, 5 edges), clique4; then cycle5 to cycle8 as far as \
             longest_cycle says. copies: all subgraphs that are the pattern; induced_copies: those with no other edge between their \
             nodes. At a node, the copies that it is in, whichever part it plays. Exact. Patterns of 4 nodes by equations between \
             counts, O(m^1.5) where few triangles share an edge; cycle5 by pairs of two steps; induced cycles of 5 and more, and \
             others of 6 and more, one by one, so that the time grows with their number.",
        )
        .example("SELECT pattern, copies, induced_copies FROM subgraph_counts(karate.edges, longest_cycle => 5)")
        .source(
            "Hocevar and Demsar, A combinatorial approach to graphlet counting (2014); Alon, Yuster and Zwick, Finding and counting \
             given length cycles (1997); the patterns of Chen et al., Can Graph Neural Networks Count Substructures? (NeurIPS 2020)",
        )
}

fn bind(call: &Call) -> Result<Binding> {
    let per_node = match call.options.text("per")?.unwrap_or("graph") {
        "graph" => false,
        "node" => true,
        other => return usage_error(format!("{NAME}: per => '{other}': expected 'graph' or 'node'")),
    };
    let longest = call.options.integer("longest_cycle")?.unwrap_or(4);
    let longest = match usize::try_from(longest) {
        Ok(longest @ 4..=LONGEST_CYCLE) => longest,
        _ => return usage_error(format!("{NAME}: longest_cycle => {longest}: expected 4 to {LONGEST_CYCLE}")),
    };
    let input = GraphInput::bind(NAME, call)?;
    let fields = [
        Field::new("pattern", DataType::Utf8, true),
        Field::new("copies", DataType::Int64, true),
        Field::new("induced_copies", DataType::Int64, true),
    ];
    let node = per_node.then(|| Field::new("node", input.key.clone(), true));
    let schema = input.schema(node.into_iter().chain(fields));
    let reads = input.reads.clone();
    Ok(Binding::new(schema, reads, move |run| count(&input, (per_node, longest), run)).by_graph())
}

fn count(input: &GraphInput, (per_node, longest): (bool, usize), run: &mut Run) -> Result<()> {
    let graphs = input.collect(run)?;
    let host = run.host();
    let columns = |graph: &InputGraph| -> Result<Vec<ArrayRef>> {
        host.check().map_err(stopped)?;
        let counts = crate::subgraph_counts(graph.graph()?, longest, host).map_err(stopped)?;
        rows(graph, &counts, per_node)
    };
    for graphs in graphs.chunks(TOGETHER) {
        let found: Vec<Result<Vec<ArrayRef>>> = run.install(|| match graphs {
            [graph] => vec![columns(graph)],
            graphs => graphs.par_iter().map(columns).collect(),
        });
        let found = found.into_iter().collect::<Result<Vec<_>>>()?;
        let column = |i: usize| -> Result<ArrayRef> {
            Ok(concat(&found.iter().map(|columns| columns[i].as_ref()).collect::<Vec<&dyn Array>>())?)
        };
        run.emit_all((0..found[0].len()).map(column).collect::<Result<_>>()?)?;
    }
    Ok(())
}

/// The rows of a graph.
fn rows(graph: &InputGraph, counts: &[PatternCounts], per_node: bool) -> Result<Vec<ArrayRef>> {
    let fits = |count: u128| -> Result<i64> {
        i64::try_from(count)
            .map_err(|_| graph.context(execution_error(format!("{NAME}: a count does not fit BIGINT: {count}"))))
    };
    let names: Vec<&str> = counts.iter().map(|counts| counts.pattern.name).collect();
    let (mut columns, rows): (Vec<ArrayRef>, usize) = match per_node {
        true => {
            let (n, patterns) = (graph.n_nodes(), counts.len());
            let nodes: UInt32Array = (0..n as u32).flat_map(|v| std::iter::repeat_n(v, patterns)).collect();
            let each = |of: fn(&PatternCounts) -> &[u128]| -> Result<Int64Array> {
                (0..n).flat_map(|v| counts.iter().map(move |counts| fits(of(counts)[v]))).collect()
            };
            let (copies, induced) = (each(|counts| &counts.copies)?, each(|counts| &counts.induced)?);
            let names = StringArray::from(names.repeat(n));
            let nodes = take(&graph.keys.array(), &nodes, None)?;
            (vec![nodes, Arc::new(names), Arc::new(copies), Arc::new(induced)], n * patterns)
        }
        false => {
            let totals = counts.iter().map(|counts| {
                let (copies, induced) = counts.total();
                Ok((fits(copies)?, fits(induced)?))
            });
            let (copies, induced): (Vec<i64>, Vec<i64>) = totals.collect::<Result<Vec<_>>>()?.into_iter().unzip();
            let names = StringArray::from(names);
            (
                vec![Arc::new(names), Arc::new(Int64Array::from(copies)), Arc::new(Int64Array::from(induced))],
                counts.len(),
            )
        }
    };
    if let Some(id) = &graph.id {
        columns.insert(0, take(id, &UInt32Array::from(vec![0; rows]), None)?);
    }
    Ok(columns)
}
