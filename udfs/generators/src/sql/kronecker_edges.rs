//! `kronecker_edges(scale [, edge_factor => 16] [, seed => 0] [, a => 0.57] [, b => 0.19] [, c => 0.19])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{Binding, Body, Call, Function, OptionValue, Parameter, Run, stopped, usage_error};
use datafusion::common::Result;
use rayon::prelude::*;

use crate::{GRAPH500, KroneckerEdges};

const NAME: &str = "kronecker_edges";

/// The registration.
pub fn kronecker_edges() -> Function {
    let share = |name, description, default| Parameter::number(name, description).or(OptionValue::Number(default));
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::integer("scale", "The number of nodes is 2 to this power, from 1 to 48."),
            Parameter::integer("edge_factor", "Edges a node, from 1 to 65536.").or(OptionValue::Integer(16)),
            Parameter::seed(),
            share("a", "The share of edges from the first half of the nodes to the first half, at every halving.", GRAPH500[0]),
            share("b", "The share from the first half to the second.", GRAPH500[1]),
            share("c", "The share from the second half to the first; the rest goes from the second to the second.", GRAPH500[2]),
        ])
        .returns("src, dst")
        .description(
            "The edges of a stochastic Kronecker graph (R-MAT) as Graph500's generator draws them: edge_factor times 2^scale directed edges \
             among the nodes 0 to 2^scale - 1, which are numbered at random. Loops and repeated edges stay, as in Graph500. Rows are made \
             as they are read, in memory that does not grow, so that a graph of 10^9 edges goes through a query or into a file; the same \
             seed gives the same rows in the same order, whatever the thread count.",
        )
        .example("SELECT count(*) AS edges, count(DISTINCT src) AS sources FROM kronecker_edges(10, seed => 1)")
        .source("Graph500 benchmark specification, Kronecker generator; Chakrabarti, Zhan and Faloutsos, R-MAT (SDM 2004)")
}

fn bind(call: &Call) -> Result<Binding> {
    let options = &call.options;
    let count = |name: &str| -> Result<i64> {
        match options.integer(name)? {
            Some(value) => Ok(value),
            None => usage_error(format!("{NAME}: {name} is NULL: give a number")),
        }
    };
    let share = |name: &str| Ok::<_, datafusion::common::DataFusionError>(options.number(name)?.unwrap_or(f64::NAN));
    let initiator = [share("a")?, share("b")?, share("c")?];
    let seed = options.integer("seed")?.unwrap_or(0) as u64;
    let edges = match KroneckerEdges::new(count("scale")?, count("edge_factor")?, initiator, seed) {
        Ok(edges) => edges,
        Err(error) => return usage_error(error.to_string()),
    };
    let fields = ["src", "dst"].map(|end| Field::new(end, DataType::Int64, true));
    Ok(Binding::new(Arc::new(Schema::new(fields.to_vec())), Vec::new(), move |run| emit(&edges, run)))
}

/// Emits all edges, as many blocks at a time as there are threads.
fn emit(edges: &KroneckerEdges, run: &mut Run) -> Result<()> {
    run.host().expect(edges.blocks());
    let at_once = run.kernels().pool.current_num_threads().max(1) as u64;
    let bytes = 2 * size_of::<i64>() * KroneckerEdges::BLOCK as usize * at_once as usize;
    let _room = Reservation::new(run.host(), bytes).map_err(stopped)?;
    let mut first = 0;
    while first < edges.blocks() {
        run.host().check().map_err(stopped)?;
        let last = edges.blocks().min(first + at_once);
        let made: Vec<_> = run.install(|| (first..last).into_par_iter().map(|block| edges.block(block)).collect());
        for (src, dst) in made {
            let columns: [ArrayRef; 2] = [Arc::new(Int64Array::from(src)), Arc::new(Int64Array::from(dst))];
            run.emit_all(columns.to_vec())?;
        }
        run.host().advance(last - first);
        first = last;
    }
    Ok(())
}
