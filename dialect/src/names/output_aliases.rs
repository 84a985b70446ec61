//! Names of output columns in WHERE and in the outputs behind them: `SELECT a + 1 AS b, b * 2 AS c FROM t WHERE c > 4`.
//!
//! A column of FROM goes before an output of its name.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(a)`
//! Shows: `SELECT a + 1 AS b, b * 2 AS c FROM t WHERE c > 4` gives `3 | 6`

use datafusion::execution::context::SessionState;
use datafusion::logical_expr::Volatility;
use datafusion::sql::sqlparser::ast::{Expr, SelectItem};

use crate::names::scopes::{Clause, SelectScope};
use crate::syntax::tree::ast;
use crate::syntax::tree::walk::find;

/// The expression of the output that a name may mean at this place of a SELECT, unless a column has it.
pub(crate) fn meant<'a>(select: &'a SelectScope, name: &str, state: &SessionState) -> Option<&'a Expr> {
    let named = select.outputs.iter().filter_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } if ast::normalized(alias) == name => Some(expr),
        _ => None,
    });
    let mut fixed = named.filter(|expr| !is_volatile(expr, state));
    match select.clause {
        Clause::Outputs => fixed.next(),
        // Windows are computed of the rows that WHERE keeps.
        Clause::Where => fixed.next().filter(|expr| find(*expr, &is_window).is_none()),
        Clause::From | Clause::Other => None,
    }
}

fn is_window(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(call) if call.over.is_some())
}

/// Whether the expression has another value wherever it stands.
fn is_volatile(expr: &Expr, state: &SessionState) -> bool {
    let calls_one = |part: &Expr| {
        let Expr::Function(call) = part else { return false };
        let name = call.name.to_string().to_lowercase();
        state
            .scalar_functions()
            .get(&name)
            .is_some_and(|function| function.signature().volatility == Volatility::Volatile)
    };
    find(expr, &calls_one).is_some()
}
