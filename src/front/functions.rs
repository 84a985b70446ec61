//! What the rewriter has to know of the engine's functions.

use datafusion::sql::sqlparser::ast::Expr;

/// The engine's functions by name. Names are given in lower case.
pub trait Functions {
    /// The shape of a function's answer; `None` for a function that is not the engine's own.
    fn kind(&self, function: &str) -> Option<Kind>;

    /// What the function takes in an expression, in positional order: an edge function's columns and options.
    fn parameters(&self, function: &str) -> Vec<Parameter>;

    /// What the function takes in FROM, in positional order: an edge function's relation of edges and its options.
    fn parameters_in_from(&self, function: &str) -> Vec<Parameter>;
}

/// The shape of a function's answer, as far as it decides where a call may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A value per row.
    Scalar,
    /// A value per group.
    Aggregate,
    /// A value per row of an ordered window.
    Window,
    /// A value per edge: a window function, and a relation in FROM.
    Edge,
    /// A relation: in FROM only. Runs and generators are relations here.
    Relation,
}

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name in lower case.
    pub name: String,
    /// What is given for it.
    pub kind: ParameterKind,
    /// Whether it may be left out.
    pub optional: bool,
    /// Whether it takes the rest of the positional arguments.
    pub variadic: bool,
    /// What stands for it where it is left out; NULL where it has no default.
    pub default: Option<Expr>,
}

/// What is given for a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// A table, view, CTE or subquery.
    Relation,
    /// A constant, or in its place a relation of constants; text is a relation only where it looks like a file.
    Constants,
    /// The name of a graph.
    Graph,
    /// The name of a column.
    Name,
    /// A value per row.
    Column,
    /// A constant.
    Option,
}
