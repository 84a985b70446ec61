//! `wl_hash(src, dst [, k => 1] [, rounds] [, substructures => 0])`.

use std::sync::Arc;

use arrow::array::Int64Array;
use arrow::datatypes::DataType;
use bonnet_sql::{Function, Options, Parameter, RowsKernel, kernel_error, of_graphs, rows_function};
use datafusion::common::Result;

use super::wl_colors::{wl_options, wl_parameters};

const NAME: &str = "wl_hash";

/// The registration.
pub(super) fn wl_hash() -> Function {
    rows_function(NAME, DataType::Int64, bind)
        .heavy()
        .parameters(Parameter::ends().into_iter().chain(wl_parameters()))
        .returns("BIGINT")
        .description(
            "A hash of what a Weisfeiler-Leman test sees of a graph: the same for graphs that the test does not tell apart, isomorphic \
             ones among them, and different for others but with a chance of 2^-64 a pair. All 64 bits are used, so it may be \
             negative; it stays the same between versions. Nodes are the endpoints of the rows; a row src = dst adds a node without \
             edges. Rows with a NULL endpoint do not count; no rows give NULL. Cost as for wl_colors.",
        )
        .example(
            "SELECT count(DISTINCT hash) AS different FROM (SELECT wl_hash(src, dst, k => 3) AS hash FROM rook_graph() UNION ALL \
             SELECT wl_hash(src, dst, k => 3) FROM shrikhande_graph())",
        )
        .source("Shervashidze et al., Weisfeiler-Lehman Graph Kernels (JMLR 2011), Algorithm 1; the tests as for wl_colors")
}

fn bind(options: &Options) -> Result<RowsKernel> {
    let options = wl_options(NAME, options)?;
    Ok(Box::new(move |groups, monitor| {
        let hashes = of_graphs(NAME, groups, monitor, |_, graph| {
            crate::wl_hash(graph, options, monitor).map_err(|error| kernel_error(NAME, error))
        })?;
        // The same bits as a BIGINT.
        Ok(Arc::new(hashes.into_iter().map(|hash| hash.map(u64::cast_signed)).collect::<Int64Array>()))
    }))
}
