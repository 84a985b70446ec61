//! Graphs without chance: `cycle`, `path`, `star`, `complete`, `grid_2d`, `rook_graph`, `shrikhande_graph`, `petersen_graph`.

use bonnet_sql::{Function, OptionValue, Parameter};
use datafusion::common::DataFusionError;

use super::lift::{count, lift, nodes, to_sql};

/// The registration of `cycle`.
pub fn cycle() -> Function {
    lift("cycle", |options, monitor| to_sql(crate::cycle(count(options, "n")?, monitor)))
        .parameters([nodes()])
        .description("The cycle of n nodes.")
        .example("SELECT count(*) AS edges FROM cycle(5)")
        .source("definition")
}

/// The registration of `path`.
pub fn path() -> Function {
    lift("path", |options, monitor| to_sql(crate::path(count(options, "n")?, monitor)))
        .parameters([nodes()])
        .description("The path of n nodes.")
        .example("SELECT count(*) AS edges FROM path(5)")
        .source("definition")
}

/// The registration of `star`.
pub fn star() -> Function {
    lift("star", |options, monitor| to_sql(crate::star(count(options, "n")?, monitor)))
        .parameters([nodes()])
        .description("The star: node 0 is joined to all n - 1 others.")
        .example("SELECT count(*) AS edges FROM star(5)")
        .source("definition")
}

/// The registration of `complete`.
pub fn complete() -> Function {
    lift("complete", |options, monitor| to_sql(crate::complete(count(options, "n")?, monitor)))
        .parameters([nodes()])
        .description("The complete graph on n nodes.")
        .example("SELECT count(*) AS edges FROM complete(5)")
        .source("definition")
}

/// The registration of `grid_2d`.
pub fn grid_2d() -> Function {
    lift("grid_2d", |options, monitor| {
        let flag = |name: &str| Ok::<_, DataFusionError>(options.boolean(name)?.unwrap_or(false));
        let (diagonals, periodic) = (flag("diagonals")?, flag("periodic")?);
        to_sql(crate::grid_2d(count(options, "rows")?, count(options, "columns")?, diagonals, periodic, monitor))
    })
    .parameters([
        Parameter::integer("rows", "The number of rows."),
        Parameter::integer("columns", "The number of columns."),
        Parameter::boolean("diagonals", false, "Whether both diagonals of each cell are edges."),
        Parameter::boolean("periodic", false, "Whether the last row and column are joined to the first: a torus."),
    ])
    .description("The rectangular grid; node r * columns + c stands in row r and column c.")
    .example("SELECT count(*) AS edges FROM grid_2d(4, 5)")
    .source("definition")
}

/// The registration of `rook_graph`.
pub fn rook_graph() -> Function {
    lift("rook_graph", |options, monitor| {
        to_sql(crate::rook_graph(count(options, "rows")?, count(options, "columns")?, monitor))
    })
    .parameters([
        Parameter::integer("rows", "The rows of the board.").or(OptionValue::Integer(4)),
        Parameter::integer("columns", "The columns of the board.").or(OptionValue::Integer(4)),
    ])
    .description(
        "The squares of a board, joined where they share a row or a column. The 4 x 4 board is strongly regular with the \
         parameters of the Shrikhande graph, (16, 6, 2, 2).",
    )
    .example("SELECT count(*) AS edges FROM rook_graph()")
    .source("definition")
}

/// The registration of `shrikhande_graph`.
pub fn shrikhande_graph() -> Function {
    lift("shrikhande_graph", |_, monitor| to_sql(crate::shrikhande_graph(monitor)))
        .description("The Shrikhande graph: 16 nodes, strongly regular (16, 6, 2, 2), and not the rook's graph.")
        .example("SELECT count(*) AS edges FROM shrikhande_graph()")
        .source("Shrikhande, The uniqueness of the L2 association scheme (1959)")
}

/// The registration of `petersen_graph`.
pub fn petersen_graph() -> Function {
    lift("petersen_graph", |_, monitor| to_sql(crate::petersen_graph(monitor)))
        .description("The Petersen graph: 10 nodes, strongly regular (10, 3, 0, 1).")
        .example("SELECT count(*) AS edges FROM petersen_graph()")
        .source("Petersen 1898")
}
