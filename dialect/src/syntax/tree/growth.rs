//! The growth of nested conditionals, which DataFusion writes out with a part of them twice or oftener: of twenty in each other's
//! conditions planning does not end. What would grow beyond a bound is refused before it is planned.
//!
//! Upstream: <https://github.com/apache/datafusion/pull/17813>
//! Shows: no statement: time, no answer: `CASE WHEN CASE WHEN ... END > 1 THEN 10 / b ELSE a END` of 20 levels is not planned within a minute.

use datafusion::sql::sqlparser::ast::{
    CaseWhen, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, Select, Spanned,
    TableFactor,
};

use crate::syntax::tree::ast;
use crate::{Error, Result};

/// The largest growth that is planned; a second or so is spent on it.
const MOST: f32 = 4200.0;

/// The copies of a condition that a CASE makes, of an operand that ANY and IN make, and of an argument that `coalesce` makes where
/// others behind it may fail: by the time that each further level took.
const OF_CASE: f32 = 2.0;
const OF_ANY: f32 = 2.5;
const OF_COALESCE: f32 = 5.0;

/// The most LATERAL subqueries of one FROM: each is looked at twice as often as the one before.
const LATERALS: usize = 8;

/// How often the innermost parts of expressions will be written out, expression by expression of one walk.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    around: Vec<Around>,
}

/// The parts of an expression that are left already.
#[derive(Debug, Default)]
struct Around {
    most: f32,
    /// Those that grow, by their addresses.
    parts: Vec<(*const Expr, f32)>,
}

impl Growth {
    /// Enters an expression.
    pub(crate) fn enter(&mut self) {
        self.around.push(Around { most: 1.0, parts: Vec::new() });
    }

    /// Leaves an expression, before it is changed.
    ///
    /// # Errors
    /// If it would grow beyond what can be planned.
    pub(crate) fn leave(&mut self, expr: &Expr) -> Result<()> {
        let Some(Around { most, parts }) = self.around.pop() else { return Ok(()) };
        let of = |part: &Expr| parts.iter().find(|(at, _)| std::ptr::eq(*at, part)).map_or(1.0, |(_, growth)| *growth);
        let growth = match expr {
            Expr::Case { operand, conditions, else_result, .. } => {
                let given = conditions.iter().map(|CaseWhen { condition, .. }| condition);
                let tested = operand.as_deref().into_iter().chain(given).map(of).fold(1.0, f32::max);
                let results = conditions.iter().map(|CaseWhen { result, .. }| result).chain(else_result.as_deref());
                results.map(of).fold(OF_CASE * tested, f32::max)
            }
            Expr::Function(call) if is_coalesce(call) => {
                let args: Vec<&Expr> = args(call).collect();
                let Some((last, first)) = args.split_last() else { return Ok(()) };
                // Those within each other are one.
                let copied = |arg: &&Expr| if is_coalesced(arg) { of(arg) } else { OF_COALESCE * of(arg) };
                first.iter().map(copied).fold(of(last), f32::max)
            }
            Expr::Function(call) if ast::function_name(&call.name).as_deref() == Some("if") => {
                let tested = args(call).next().map_or(1.0, of);
                args(call).skip(1).map(of).fold(OF_CASE * tested, f32::max)
            }
            Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => OF_ANY * of(left).max(of(right)),
            Expr::InList { expr, .. } => (OF_ANY * of(expr)).max(most),
            _ => most,
        };
        if growth > MOST {
            return Err(Error::statement_at(
                expr.span(),
                "conditionals are nested too deeply in each other's conditions and operands (CASE, coalesce, ANY, IN): each level \
                 doubles what is planned. Compute the inner ones in a query in FROM, or in a table",
            ));
        }
        if growth > 1.0
            && let Some(around) = self.around.last_mut()
        {
            around.most = around.most.max(growth);
            around.parts.push((expr, growth));
        }
        Ok(())
    }
}

/// Puts the arguments of a `coalesce` within another in its place: as many levels are as hard to plan as two to their number.
pub(crate) fn flatten(call: &mut Function) {
    if !is_coalesce(call) || !args(call).any(is_coalesced) {
        return;
    }
    let FunctionArguments::List(list) = &mut call.args else { return };
    for arg in std::mem::take(&mut list.args) {
        add(arg, &mut list.args);
    }
    call.name = ObjectName::from(vec![Ident::new("coalesce")]);
}

/// Adds the arguments of the `coalesce` that an argument is, or the argument itself.
fn add(arg: FunctionArg, to: &mut Vec<FunctionArg>) {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Nested(expr))) if is_coalesced(&expr) => {
            add(FunctionArg::Unnamed(FunctionArgExpr::Expr(*expr)), to);
        }
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Function(call))) if is_coalesce(&call) => {
            if let FunctionArguments::List(list) = call.args {
                to.extend(list.args);
            }
        }
        other => to.push(other),
    }
}

/// Refuses more LATERAL subqueries than can be planned.
///
/// # Errors
/// If a SELECT has more.
pub(crate) fn check_laterals(select: &Select) -> Result<()> {
    let is_lateral = |factor: &&TableFactor| matches!(factor, TableFactor::Derived { lateral: true, .. });
    let mut laterals = ast::factors(&select.from).filter(is_lateral);
    match laterals.nth(LATERALS) {
        None => Ok(()),
        Some(lateral) => Err(Error::statement_at(
            lateral.span(),
            format!(
                "FROM has more than {LATERALS} LATERAL subqueries, each of which doubles what is planned: compute the first of them \
                 in a WITH or a table"
            ),
        )),
    }
}

/// Whether it is a call of `coalesce`, or of one of its names for two arguments with as many.
fn is_coalesce(call: &Function) -> bool {
    match ast::function_name(&call.name).as_deref() {
        Some("coalesce") => args(call).next().is_some(),
        Some("ifnull" | "nvl") => args(call).count() == 2,
        _ => false,
    }
}

fn is_coalesced(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(expr) => is_coalesced(expr),
        Expr::Function(call) => is_coalesce(call),
        _ => false,
    }
}

fn args(call: &Function) -> impl Iterator<Item = &Expr> {
    let args = match &call.args {
        FunctionArguments::List(list) => list.args.as_slice(),
        _ => &[],
    };
    args.iter().filter_map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use crate::Result;
    use crate::forms::duckdb_syntax::translate;
    use crate::syntax::statements::statement::Statement;
    use crate::testing::parsed;

    fn translated(text: &str) -> Result<bool> {
        let Statement::Sql(mut statement) = parsed(text) else { panic!("{text} is not DataFusion's") };
        translate(&mut statement)
    }

    fn nested(levels: usize, of: impl Fn(String) -> String) -> String {
        (0..levels).fold("a".to_owned(), |expr, _| of(expr))
    }

    #[test]
    fn what_doubles_is_refused_where_it_would_not_end() {
        let doubling: [&dyn Fn(String) -> String; 5] = [
            &|expr| format!("if({expr} > 1, 10 / a, a)"),
            &|expr| format!("CASE WHEN {expr} > 1 THEN 10 / a ELSE a END"),
            &|expr| format!("ifnull(abs({expr}), 10 / a)"),
            &|expr| format!("(({expr}) = ANY([1, 2]))::int"),
            &|expr| format!("(({expr}) IN (1, a))::int"),
        ];
        for of in doubling {
            let error = translated(&format!("SELECT {} FROM (SELECT 1 AS a)", nested(20, of))).unwrap_err().to_string();
            assert!(error.contains("conditionals are nested too deeply"), "{error}");
        }
    }

    #[test]
    fn what_grows_evenly_is_planned() {
        let even: [&dyn Fn(String) -> String; 4] = [
            &|expr| format!("CASE WHEN a > 1 THEN a ELSE {expr} END"),
            &|expr| format!("CASE WHEN a > 1 THEN {expr} ELSE a END"),
            &|expr| format!("ifnull({expr}, 10 / a)"),
            &|expr| format!("abs({expr})"),
        ];
        for of in even {
            translated(&format!("SELECT {} FROM (SELECT 1 AS a)", nested(40, of))).unwrap();
        }
    }

    #[test]
    fn coalesce_within_coalesce_is_one() {
        let Statement::Sql(mut statement) =
            parsed("SELECT ifnull((coalesce(a, ifnull(b, 1))), nvl(c, abs(nvl(d, 2))))")
        else {
            panic!("not DataFusion's")
        };
        translate(&mut statement).unwrap();
        assert_eq!(statement.to_string(), "SELECT coalesce(a, b, 1, c, abs(nvl(d, 2)))");
    }

    #[test]
    fn laterals_are_counted() {
        let from = |count: usize| {
            let laterals = (0..count).map(|i| format!(", LATERAL (SELECT t{i}.a + 1 AS a) t{}", i + 1));
            format!("SELECT count(*) FROM (SELECT 1 AS a) t0 {}", laterals.collect::<String>())
        };
        translated(&from(6)).unwrap();
        let error = translated(&from(9)).unwrap_err().to_string();
        assert!(error.contains("more than 8 LATERAL"), "{error}");
    }
}
