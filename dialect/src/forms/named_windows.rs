//! The WINDOW clause: `OVER w` and `OVER (w ORDER BY x)` with what the window of that name says.
//!
//! DataFusion 55 leaves the name out of `OVER (w ...)`, and knows no names in QUALIFY and ORDER BY.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1, 1), (2, 1), (3, 2)) AS v(id, g)`
//! Shows: `SELECT id, sum(id) OVER (w ORDER BY id) FROM t WINDOW w AS (PARTITION BY g) ORDER BY id` gives `1 | 1 / 2 | 3 / 3 | 3`

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, NamedWindowDefinition, NamedWindowExpr, OrderBy, Select, VisitMut, VisitorMut, WindowSpec, WindowType,
};

use crate::syntax::tree::ast;
use crate::syntax::tree::walk::{Flow, flow, result, walk_outside_subqueries};
use crate::{Error, Result};

/// Spells out the windows of a SELECT that are named, and removes its WINDOW clause.
///
/// # Errors
/// If there is no window of a name, or what is added to it stands in it already.
pub(crate) fn spell_out(select: &mut Select) -> Result<()> {
    let windows = windows(select)?;
    replace(select, windows)?;
    select.named_window.clear();
    Ok(())
}

/// Spells out the windows in the ORDER BY around a SELECT.
///
/// # Errors
/// As [`spell_out`].
pub(crate) fn spell_out_in_order(order: &mut OrderBy, select: &Select) -> Result<()> {
    replace(order, windows(select)?)
}

/// The windows of a WINDOW clause, each without the names of others.
fn windows(select: &Select) -> Result<Vec<(String, WindowSpec)>> {
    let mut known: Vec<(String, WindowSpec)> = Vec::new();
    for NamedWindowDefinition(name, window) in &select.named_window {
        let window = match window {
            NamedWindowExpr::NamedWindow(other) => find(&known, other)?.clone(),
            NamedWindowExpr::WindowSpec(spec) => completed(spec.clone(), &known)?,
        };
        let normalized = ast::normalized(name);
        if known.iter().any(|(other, _)| *other == normalized) {
            return Err(Error::statement_at(name.span, format!("two windows have the name {name}: give one another")));
        }
        known.push((normalized, window));
    }
    Ok(known)
}

fn find<'a>(windows: &'a [(String, WindowSpec)], name: &Ident) -> Result<&'a WindowSpec> {
    let normalized = ast::normalized(name);
    if let Some((_, window)) = windows.iter().find(|(other, _)| *other == normalized) {
        return Ok(window);
    }
    let known: Vec<&str> = windows.iter().map(|(name, _)| name.as_str()).collect();
    let text = match known.is_empty() {
        true => format!(
            "there is no window {name}: define it behind HAVING, WINDOW {name} AS (PARTITION BY ... ORDER BY ...)"
        ),
        false => format!("there is no window {name} before this place; there is {}", known.join(", ")),
    };
    Err(Error::statement_at(name.span, text))
}

/// A window with what the one that it names says.
fn completed(mut window: WindowSpec, known: &[(String, WindowSpec)]) -> Result<WindowSpec> {
    let Some(name) = window.window_name.take() else { return Ok(window) };
    let base = find(known, &name)?;
    let refuse = |text: String| Err(Error::statement_at(name.span, text));
    if base.window_frame.is_some() {
        return refuse(format!(
            "window {name} has a frame, which belongs to it alone: OVER {name}, without parentheses"
        ));
    }
    match (base.partition_by.as_slice(), window.partition_by.is_empty()) {
        ([], _) => {}
        (keys, true) => window.partition_by = keys.to_vec(),
        (_, false) => return refuse(format!("window {name} has a PARTITION BY already: leave this one out")),
    }
    match (base.order_by.as_slice(), window.order_by.is_empty()) {
        ([], _) => {}
        (keys, true) => window.order_by = keys.to_vec(),
        (_, false) => return refuse(format!("window {name} has an ORDER BY already: leave this one out")),
    }
    Ok(window)
}

fn replace(tree: &mut impl VisitMut, windows: Vec<(String, WindowSpec)>) -> Result<()> {
    result(walk_outside_subqueries(tree, &mut Windows(windows)))
}

struct Windows(Vec<(String, WindowSpec)>);

impl VisitorMut for Windows {
    type Break = Box<Error>;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        let Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
        let window = match call.over.as_ref() {
            Some(WindowType::NamedWindow(name)) => find(&self.0, name).cloned(),
            Some(WindowType::WindowSpec(spec)) if spec.window_name.is_some() => completed(spec.clone(), &self.0),
            _ => return ControlFlow::Continue(()),
        };
        flow(window.map(|window| call.over = Some(WindowType::WindowSpec(window))))
    }
}
