//! Questions of a statement about its tables before it is planned: the columns behind a star that repeats those of
//! another, those of FROM that a name in an expression of ORDER BY may mean, and the values of a PIVOT that lists none.
//!
//! Shows: see `order_names.rs`

use std::ops::ControlFlow;

use arrow::array::RecordBatch;
use datafusion::common::DFSchema;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Expr, Query, Select, Statement, TableFactor, VisitorMut};
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::names::ctes::Ctes;
use crate::names::scopes::Scopes;
use crate::names::wildcards;
use crate::names::{order_names, output_aliases, pivot_values};
use crate::syntax::tree::visit::visit_statement;

/// A query that stands alone, and the part of its answer that the statement needs.
pub(crate) enum Question {
    /// Its columns.
    Columns(SqlStatement),
    /// Its columns, if it can be planned by itself: it may look at the rows of a query around.
    NamesInOrder(SqlStatement),
    /// Its rows. The PIVOT that asks stands there.
    Values(SqlStatement, Span),
}

/// The first question of a statement, or once all are answered, whether the planner's error about an unknown name may be one
/// to mend: a name may be that of an output, or of a column of a query around. Nothing is changed: the visitor that may
/// change trees is the one that shows them in the order needed. So many queries whose ORDER BY is ambiguous are `settled` as
/// they stand.
pub(crate) fn first(statement: &mut SqlStatement, settled: usize) -> ControlFlow<Question, bool> {
    let alone = |query| SqlStatement::Statement(Box::new(Statement::Query(Box::new(query))));
    let act = |part: Unresolved<'_>, ctes: &Ctes| match part {
        Unresolved::Order(query) => Question::NamesInOrder(alone(ctes.around(order_names::columns_of_from(query)))),
        Unresolved::Star(select, at) => Question::Columns(alone(ctes.around(wildcards::query(select, at)))),
        Unresolved::Pivot(factor) => {
            Question::Values(alone(ctes.around(pivot_values::query(factor))), pivot_values::place(factor))
        }
    };
    let mut finder = Finder::new(settled, act);
    match visit_statement(statement, &mut finder) {
        ControlFlow::Break(question) => ControlFlow::Break(question),
        ControlFlow::Continue(()) => ControlFlow::Continue(finder.mendable),
    }
}

/// Spells out the star of the first question.
pub(crate) fn answer_columns(statement: &mut SqlStatement, settled: usize, columns: &DFSchema) {
    at_first(statement, settled, |part, _| {
        if let Unresolved::Star(select, at) = part {
            wildcards::spell_out(select, at, columns);
        }
    });
}

/// Orders the query of the first question by the columns that its ORDER BY names. Whether it names any.
pub(crate) fn answer_names(statement: &mut SqlStatement, settled: usize, columns: &DFSchema) -> bool {
    let ordered = at_first(statement, settled, |part, _| match part {
        Unresolved::Order(query) => order_names::order_by_columns(query, columns),
        _ => false,
    });
    ordered == Some(true)
}

/// Gives the PIVOT of the first question, which stands `at` a place, its values.
///
/// # Errors
/// As [`pivot_values::list`].
pub(crate) fn answer_values(
    statement: &mut SqlStatement,
    settled: usize,
    at: Span,
    rows: &[RecordBatch],
) -> crate::Result<()> {
    let mut values = Some(pivot_values::list(statement, at, rows)?);
    at_first(statement, settled, |part, _| {
        if let Unresolved::Pivot(TableFactor::Pivot { value_source, .. }) = part {
            *value_source = values.take().unwrap_or_else(|| value_source.clone());
        }
    });
    Ok(())
}

/// The part of a statement that a question is about.
enum Unresolved<'a> {
    /// A star of a SELECT, by its position.
    Star(&'a mut Select, usize),
    /// A PIVOT.
    Pivot(&'a mut TableFactor),
    /// A query whose ORDER BY is ambiguous.
    Order(&'a mut Query),
}

/// Applies a function to the part of the first open question, with the CTEs that it may name.
fn at_first<T>(statement: &mut SqlStatement, settled: usize, act: impl FnMut(Unresolved<'_>, &Ctes) -> T) -> Option<T> {
    visit_statement(statement, &mut Finder::new(settled, act)).break_value()
}

struct Finder<F> {
    ctes: Ctes,
    scopes: Scopes,
    settled: usize,
    mendable: bool,
    act: F,
}

impl<F> Finder<F> {
    fn new(settled: usize, act: F) -> Self {
        Self { ctes: Ctes::default(), scopes: Scopes::default(), settled, mendable: false, act }
    }
}

impl<T, F: FnMut(Unresolved<'_>, &Ctes) -> T> VisitorMut for Finder<F> {
    type Break = T;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<T> {
        self.ctes.enter(query);
        self.scopes.enter_query(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<T> {
        if order_names::is_ambiguous(query) {
            match self.settled.checked_sub(1) {
                Some(settled) => self.settled = settled,
                None => return ControlFlow::Break((self.act)(Unresolved::Order(query), &self.ctes)),
            }
        }
        self.ctes.leave(query);
        self.scopes.leave_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<T> {
        self.mendable = self.mendable || output_aliases::are_read(select);
        self.scopes.enter_select(select);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<T> {
        self.mendable = self.mendable || self.scopes.outer(expr).is_some();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<T> {
        self.scopes.enter_factor(factor);
        ControlFlow::Continue(())
    }

    // After what is inside: its questions come first.
    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<T> {
        self.scopes.leave_select();
        match wildcards::repeated(select) {
            Some(at) => ControlFlow::Break((self.act)(Unresolved::Star(select, at), &self.ctes)),
            None => ControlFlow::Continue(()),
        }
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<T> {
        self.scopes.leave_factor(factor);
        match pivot_values::is_open(factor) {
            true => ControlFlow::Break((self.act)(Unresolved::Pivot(factor), &self.ctes)),
            false => ControlFlow::Continue(()),
        }
    }
}
