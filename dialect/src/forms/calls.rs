//! Calls of the engine's functions: where each may stand, and its arguments as DataFusion takes them.

use bonnet_common::looks_like_a_file;
use bonnet_sql::{Function, Kind, ParameterKind, Place, Registry, arguments};
use datafusion::sql::sqlparser::ast::{
    DuplicateTreatment, Expr, Function as FunctionCall, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, Query, Spanned, Value, WindowSpec, WindowType,
};
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::syntax::tree::ast;
use crate::{Error, ErrorKind, Raised, Result};

/// Turns what is given for relations into queries, where DataFusion finds their tables.
pub(crate) fn relations(registry: &Registry, function: &Function, call: Span, args: &mut [FunctionArg]) -> Result<()> {
    // A generator's constants may come from a relation instead, which stands in the place of the first.
    if function.kind() == Kind::Generator
        && function.parameters.first().is_some_and(|first| first.kind != ParameterKind::Graph)
        && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) = args.first_mut()
        && !matches!(first, Expr::Value(value) if !matches!(&value.value, Value::SingleQuotedString(text) if looks_like_a_file(text)))
    {
        into_query(registry, first);
    }
    let bound = arguments::bind(function, Place::From, call, args)?;
    for (_, given) in bound.iter().filter(|(parameter, _)| parameter.kind == ParameterKind::Relation) {
        for &at in given {
            if let FunctionArg::Unnamed(FunctionArgExpr::Expr(relation))
            | FunctionArg::Named { arg: FunctionArgExpr::Expr(relation), .. }
            | FunctionArg::ExprNamed { arg: FunctionArgExpr::Expr(relation), .. } = &mut args[at]
            {
                into_query(registry, relation);
            }
        }
    }
    Ok(())
}

/// `(SELECT * FROM ...)` in the place of a name, a file or a call of a relation function; anything else stays.
fn into_query(registry: &Registry, expr: &mut Expr) {
    if let Some(query) = query_of(registry, expr) {
        *expr = Expr::Subquery(Box::new(query));
    }
}

fn query_of(registry: &Registry, expr: &Expr) -> Option<Query> {
    let factor = match expr {
        Expr::Identifier(name) => ast::table(ObjectName::from(vec![name.clone()])),
        Expr::CompoundIdentifier(names) => ast::table(ObjectName::from(names.clone())),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(file) => {
                ast::table(ObjectName::from(vec![Ident::with_quote('\'', file.clone())]))
            }
            _ => return None,
        },
        Expr::Function(call) => {
            let function = registry.get(&ast::function_name(&call.name)?)?;
            let FunctionArguments::List(list) = &call.args else { return None };
            if !function.kind().in_from() || call.over.is_some() || !list.clauses.is_empty() {
                return None;
            }
            let mut factor = ast::table(call.name.clone());
            ast::set_args(&mut factor, list.args.clone());
            factor
        }
        Expr::Nested(inner) => return query_of(registry, inner),
        _ => return None,
    };
    Some(ast::select_all(factor))
}

/// Checks a call in an expression, and gives DataFusion its arguments by position.
pub(crate) fn check(function: &Function, call: &mut FunctionCall) -> Result<()> {
    let name = function.name;
    let span = call.name.span();
    let refuse = |text: String| Err(Error::statement_at(span, text));
    match function.kind() {
        Kind::Relation | Kind::Run | Kind::Generator => {
            return refuse(format!("{name} answers a relation: call it in FROM, SELECT ... FROM {name}(...)"));
        }
        Kind::Scalar if call.over.is_some() || call.filter.is_some() => {
            return refuse(format!("{name} answers a value per row: OVER and FILTER have no meaning for it"));
        }
        Kind::Edge => edge_call(function, call)?,
        Kind::Window => window_call(name, call)?,
        Kind::Aggregate | Kind::Scalar => {}
    }
    if call.null_treatment.is_some() || !call.within_group.is_empty() {
        return refuse(format!("{name} takes neither IGNORE NULLS, RESPECT NULLS nor WITHIN GROUP: leave it out"));
    }
    let FunctionArguments::List(list) = &mut call.args else {
        return refuse(format!("{name}: give the arguments as {}", function.signature()));
    };
    check_clauses(name, span, list)?;
    list.args = arguments::bind(function, Place::Expression, span, &list.args)?.positional(&list.args);
    Ok(())
}

fn edge_call(function: &Function, call: &FunctionCall) -> Result<()> {
    let (name, span) = (function.name, call.name.span());
    let Some(over) = &call.over else {
        let columns: Vec<_> = function.parameters.iter().take_while(|p| !p.optional).map(|p| p.name).collect();
        return Err(Error::statement_at(
            span,
            format!(
                "{name} answers a value per edge: call it as a window function, {name}({}) OVER (), or in FROM, \
                 FROM {name}(edges)",
                columns.join(", ")
            ),
        ));
    };
    if call.filter.is_some() {
        let text = format!("{name}: FILTER has no meaning for a value per edge; filter the rows with WHERE");
        return Err(Error::statement_at(span, text));
    }
    if window_has(over, &|spec| !spec.order_by.is_empty() || spec.window_frame.is_some()) {
        return Err(Error::statement_at(
            span,
            format!(
                "{name} looks at all edges of the partition: its OVER takes PARTITION BY, but no ORDER BY and no frame"
            ),
        ));
    }
    Ok(())
}

/// A window function ranks the rows of its partition by the window's order; a frame would be ignored.
fn window_call(name: &str, call: &FunctionCall) -> Result<()> {
    let has = |holds: &dyn Fn(&WindowSpec) -> bool| call.over.as_ref().is_some_and(|over| window_has(over, holds));
    let text = if !has(&|spec| !spec.order_by.is_empty()) {
        format!("{name} answers a value per row of an ordered window: {name}() OVER (PARTITION BY ... ORDER BY ...)")
    } else if has(&|spec| spec.window_frame.is_some()) {
        format!("{name} looks at all rows of the partition: its OVER takes no frame")
    } else if call.filter.is_some() {
        format!("{name}: FILTER has no meaning for a value per row; filter the rows with WHERE")
    } else {
        return Ok(());
    };
    Err(Error::statement_at(call.name.span(), text))
}

/// Whether something holds for the window of a call; names of windows are spelled out before.
fn window_has(window: &WindowType, holds: &dyn Fn(&WindowSpec) -> bool) -> bool {
    matches!(window, WindowType::WindowSpec(spec) if holds(spec))
}

fn check_clauses(name: &str, span: Span, list: &FunctionArgumentList) -> Result<()> {
    if list.duplicate_treatment == Some(DuplicateTreatment::Distinct) {
        let error = Raised::new(ErrorKind::NotSupported, format!("{name}(DISTINCT ...) is not supported"));
        return Err(error.advise("call it on rows made distinct, SELECT DISTINCT").at(span).into());
    }
    match list.clauses.first() {
        None => Ok(()),
        Some(FunctionArgumentClause::OrderBy(_)) => {
            let error = Raised::new(ErrorKind::NotSupported, format!("{name}(... ORDER BY ...) is not supported"));
            Err(error.advise("the answer does not depend on the rows' order").at(span).into())
        }
        Some(other) => {
            let text = format!("{name}: {other} is not supported among its arguments");
            Err(Raised::new(ErrorKind::NotSupported, text).at(span).into())
        }
    }
}
