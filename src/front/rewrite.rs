//! What has to be done to a parsed statement before DataFusion plans it: one visitor for all of it.
//!
//! DataFusion looks for tables before it plans and does not look into the arguments of functions, cannot skip an
//! optional argument, and silently ignores TABLESAMPLE, a table's version, and DISTINCT, ORDER BY or FILTER in a window
//! function. What can be said otherwise is said otherwise; what cannot be obeyed is refused.

use std::ops::ControlFlow;

use bonnet_catalogs::{SYSTEM_SCHEMA, TimeTravel, Version, looks_like_a_file, time_travel_name};
use datafusion::sql::parser::{CopyToSource, Statement as SqlStatement};
use datafusion::sql::sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArgumentList,
    FunctionArguments, Ident, NamedWindowDefinition, NamedWindowExpr, ObjectName, ObjectNamePart, Query, Select,
    TableAlias, TableFactor, TableVersion, Value, VisitMut, VisitorMut, WindowSpec, WindowType,
};
use datafusion::sql::sqlparser::parser::Parser;

use super::ast;
use super::dialect::BonnetDialect;
use super::duplicates::name_duplicates;
use super::everyday;
use super::functions::{Functions, Kind, Parameter, ParameterKind};
use super::join_keys;
pub use super::pivot_values::{fill_pivot, pivot_values};
use crate::{Error, Result};

/// Rewrites a statement in place, with everything in it: CTEs, subqueries, views, INSERT, COPY, EXPLAIN.
///
/// # Errors
/// If the statement asks for what would be ignored, or calls one of the functions wrongly.
pub fn rewrite(statement: &mut SqlStatement, functions: &dyn Functions) -> Result<()> {
    everyday::translate(statement).map_err(Error::statement)?;
    let mut rewriter = Rewriter { functions, windows: Vec::new() };
    let flow = visit_statement(statement, &mut rewriter);
    match flow {
        ControlFlow::Continue(()) => join_keys::mark(statement).map_err(Error::statement),
        ControlFlow::Break(text) => Err(Error::statement(*text)),
    }
}

/// Visits every tree inside a statement of DataFusion.
pub(super) fn visit_statement<V: VisitorMut>(statement: &mut SqlStatement, visitor: &mut V) -> ControlFlow<V::Break> {
    match statement {
        SqlStatement::Statement(statement) => VisitMut::visit(statement, visitor),
        SqlStatement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => VisitMut::visit(query, visitor),
            CopyToSource::Relation(_) => ControlFlow::Continue(()),
        },
        SqlStatement::Explain(explain) => visit_statement(&mut explain.statement, visitor),
        SqlStatement::CreateExternalTable(_) | SqlStatement::Reset(_) => ControlFlow::Continue(()),
    }
}

struct Rewriter<'a> {
    functions: &'a dyn Functions,
    /// The WINDOW clauses of the queries around.
    windows: Vec<Vec<NamedWindowDefinition>>,
}

/// A refusal. Boxed, since it travels up through every level of the tree.
type Flow = ControlFlow<Box<String>>;

fn refuse(text: impl Into<String>) -> Flow {
    ControlFlow::Break(Box::new(text.into()))
}

impl VisitorMut for Rewriter<'_> {
    type Break = Box<String>;

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        self.windows.push(select.named_window.clone());
        name_duplicates(&mut select.projection);
        for (i, table) in select.from.iter().enumerate() {
            let lateral = table.joins.iter().map(|join| &join.relation).chain((i > 0).then_some(&table.relation));
            for factor in lateral {
                lateral_unnest(factor)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> Flow {
        self.windows.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        refuse_ignored(factor)?;
        another_time(factor)?;
        history(factor)?;
        match factor {
            TableFactor::Table { name, args: Some(args), alias, with_ordinality, .. } => {
                let Some(function) = ast::function_name(name) else { return ControlFlow::Continue(()) };
                if function == "unnest" {
                    let mut array_exprs = Vec::new();
                    for arg in &args.args {
                        match arg {
                            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => array_exprs.push(expr.clone()),
                            other => return refuse(format!("unnest takes lists, not {other}")),
                        }
                    }
                    *factor = TableFactor::UNNEST {
                        alias: alias.clone(),
                        array_exprs,
                        with_offset: false,
                        with_offset_alias: None,
                        with_ordinality: *with_ordinality,
                    };
                } else if self.functions.kind(&function).is_some() {
                    self.relations(&function, &mut args.args)?;
                }
            }
            TableFactor::Function { lateral, name, .. } => {
                if let Some(function) = ast::function_name(name)
                    && self.functions.kind(&function).is_some()
                {
                    let lateral = if *lateral { "LATERAL " } else { "" };
                    return refuse(format!(
                        "{lateral}{function}: the function reads whole relations and cannot be called once per row of \
                         another table; call it FROM {function}(...) and join the answer"
                    ));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        if let Expr::Function(call) = expr
            && let Some(name) = ast::function_name(&call.name)
            && let Some(kind) = self.functions.kind(&name)
        {
            self.call(&name, kind, call)?;
        }
        ControlFlow::Continue(())
    }
}

/// Refuses what a table may carry and DataFusion would not obey.
#[inline(never)]
fn refuse_ignored(factor: &TableFactor) -> Flow {
    match factor {
        TableFactor::Table { name, sample: Some(_), .. } => refuse(format!(
            "TABLESAMPLE of {name} is not supported: SELECT * FROM {name} ORDER BY random() LIMIT n takes n rows at random"
        )),
        TableFactor::Derived { sample: Some(_), .. } => {
            refuse("TABLESAMPLE is not supported: ORDER BY random() LIMIT n takes n rows at random")
        }
        TableFactor::Table { name, args: None, with_ordinality: true, .. } => {
            refuse(format!("{name} WITH ORDINALITY is not supported: row_number() OVER () numbers rows"))
        }
        TableFactor::Table { name, with_hints, index_hints, .. }
            if !with_hints.is_empty() || !index_hints.is_empty() =>
        {
            refuse(format!("the hints after {name} are not supported: leave them out"))
        }
        _ => ControlFlow::Continue(()),
    }
}

/// Puts the version that is asked of a table into its name, where the catalog finds it. Never inlined, like its
/// neighbours: its locals would be on the stack at every level of a deep statement.
#[inline(never)]
fn another_time(factor: &mut TableFactor) -> Flow {
    let TableFactor::Table { name, alias, args, version, .. } = factor else { return ControlFlow::Continue(()) };
    let Some(given) = version.take() else { return ControlFlow::Continue(()) };
    if args.is_some() {
        return refuse(format!(
            "{name} {given}: a function has no versions; ask for those of the tables that it reads"
        ));
    }
    let asked = match &given {
        TableVersion::VersionAsOf(Expr::Value(value)) => match &value.value {
            Value::Number(number, _) => number.to_string().parse().ok().map(Version::Number),
            _ => None,
        },
        TableVersion::TimestampAsOf(at) | TableVersion::ForSystemTimeAsOf(at) => match text_of(at) {
            Some(text) => match Version::parse_time(text) {
                Ok(version) => Some(version),
                Err(error) => return refuse(error.strip_backtrace()),
            },
            None => None,
        },
        _ => None,
    };
    let Some(asked) = asked else {
        return refuse(format!(
            "{name} {given}: write {name} VERSION AS OF 3, or {name} TIMESTAMP AS OF '2026-01-31 12:00:00'; \
             a version is a constant"
        ));
    };
    ask(name, alias, TimeTravel::Version(asked))
}

/// The text of a constant: `'...'` or `TIMESTAMP '...'`.
fn text_of(expr: &Expr) -> Option<&str> {
    let value = match expr {
        Expr::Value(value) => &value.value,
        Expr::TypedString(typed) => &typed.value.value,
        _ => return None,
    };
    match value {
        Value::SingleQuotedString(text) => Some(text),
        _ => None,
    }
}

/// `bonnet.history(table)` is a table too.
#[inline(never)]
fn history(factor: &mut TableFactor) -> Flow {
    let TableFactor::Table { name, alias, args, .. } = factor else { return ControlFlow::Continue(()) };
    let is_history = ast::name_parts(name).is_some_and(
        |parts| matches!(parts.as_slice(), [schema, table] if schema == SYSTEM_SCHEMA && table == "history"),
    );
    if !is_history {
        return ControlFlow::Continue(());
    }
    let Some(given) = args.take() else { return ControlFlow::Continue(()) };
    let table = match given.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] => match expr {
            Expr::Identifier(table) => Some(ObjectName::from(vec![table.clone()])),
            Expr::CompoundIdentifier(parts) => Some(ObjectName::from(parts.clone())),
            Expr::Value(_) => text_of(expr).and_then(|text| {
                let parser = Parser::new(&BonnetDialect).try_with_sql(text).ok();
                parser.and_then(|mut parser| parser.parse_object_name(false).ok())
            }),
            _ => None,
        },
        _ => None,
    };
    let Some(table) = table else {
        return refuse("bonnet.history takes the name of a table, bonnet.history('results')");
    };
    *name = table;
    let mut named = alias.take().or_else(|| Some(ast::alias("history")));
    let flow = ask(name, &mut named, TimeTravel::History);
    *alias = named;
    flow
}

/// Gives a table the name that carries what is asked of it; it is known by its own name, or its alias.
fn ask(name: &mut ObjectName, alias: &mut Option<TableAlias>, asked: TimeTravel) -> Flow {
    let Some(ObjectNamePart::Identifier(last)) = name.0.last_mut() else {
        return refuse(format!("{name}: the name of a table is expected"));
    };
    let table = ast::normalized(last);
    alias.get_or_insert_with(|| ast::alias(table.clone()));
    *last = ast::quoted(time_travel_name(&table, asked));
    ControlFlow::Continue(())
}

/// Refuses `FROM t, unnest(t.column)`, which is planned but cannot be executed.
fn lateral_unnest(factor: &TableFactor) -> Flow {
    let columns = match factor {
        TableFactor::Table { name, args: Some(args), .. } if ast::function_name(name).as_deref() == Some("unnest") => {
            ast::columns(&args.args)
        }
        TableFactor::UNNEST { array_exprs, .. } => ast::columns(array_exprs),
        TableFactor::Function { name, args, .. } if ast::function_name(name).as_deref() == Some("unnest") => {
            ast::columns(args)
        }
        _ => Vec::new(),
    };
    match columns.first() {
        None => ControlFlow::Continue(()),
        Some(column) => {
            let column = ObjectName::from(column.clone());
            refuse(format!(
                "FROM unnest({column}) cannot read the columns of another table; unnest in a select list, \
                 FROM (SELECT *, unnest({column}) AS element FROM ...)"
            ))
        }
    }
}

impl Rewriter<'_> {
    /// Turns the names given for relations into queries, where DataFusion finds their tables.
    fn relations(&self, function: &str, args: &mut [FunctionArg]) -> Flow {
        let parameters = self.functions.parameters_in_from(function);
        let mut positional = parameters.iter();
        let mut last: Option<&Parameter> = None;
        for arg in args {
            let (parameter, value) = match arg {
                FunctionArg::Unnamed(value) => {
                    let parameter = last.filter(|last| last.variadic).or_else(|| positional.next());
                    last = parameter;
                    (parameter, value)
                }
                FunctionArg::Named { name, arg, .. } => {
                    (parameters.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(&name.value)), arg)
                }
                FunctionArg::ExprNamed { .. } => continue,
            };
            let text = |value: &FunctionArgExpr| {
                let FunctionArgExpr::Expr(Expr::Value(value)) = value else { return false };
                matches!(&value.value, Value::SingleQuotedString(text) if !looks_like_a_file(text))
            };
            let takes_relation = parameter.is_some_and(|parameter| match parameter.kind {
                ParameterKind::Relation => true,
                ParameterKind::Constants => !text(value),
                _ => false,
            });
            if takes_relation
                && let FunctionArgExpr::Expr(expr) = value
                && let Some(query) = self.relation(expr)
            {
                *expr = Expr::Subquery(Box::new(query));
            }
        }
        ControlFlow::Continue(())
    }

    /// `SELECT * FROM ...` over a name, a file or a call of a relation function.
    fn relation(&self, expr: &Expr) -> Option<Query> {
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
                let function = ast::function_name(&call.name)?;
                let kind = self.functions.kind(&function)?;
                let FunctionArguments::List(list) = &call.args else { return None };
                if !matches!(kind, Kind::Edge | Kind::Relation) || call.over.is_some() || !list.clauses.is_empty() {
                    return None;
                }
                let mut factor = ast::table(call.name.clone());
                ast::set_args(&mut factor, list.args.clone());
                factor
            }
            Expr::Nested(inner) => return self.relation(inner),
            _ => return None,
        };
        Some(ast::select_all(factor))
    }

    /// Checks a call in an expression, and gives DataFusion its arguments by position.
    fn call(&self, name: &str, kind: Kind, call: &mut Function) -> Flow {
        let parameters = self.functions.parameters(name);
        match kind {
            Kind::Relation => {
                return refuse(format!("{name} answers a relation: call it in FROM, SELECT ... FROM {name}(...)"));
            }
            Kind::Edge => self.edge_call(name, &parameters, call)?,
            Kind::Aggregate => {}
            Kind::Window => self.window_call(name, call)?,
            Kind::Scalar => {
                if call.over.is_some() || call.filter.is_some() {
                    return refuse(format!("{name} answers a value per row: OVER and FILTER have no meaning for it"));
                }
            }
        }
        if call.null_treatment.is_some() || !call.within_group.is_empty() {
            return refuse(format!("{name} takes neither IGNORE NULLS, RESPECT NULLS nor WITHIN GROUP: leave it out"));
        }
        let FunctionArguments::List(list) = &mut call.args else {
            return refuse(format!("{name}: give the arguments as {}", signature(name, &parameters)));
        };
        refuse_clauses(name, list)?;
        positional(name, &parameters, list)
    }

    fn edge_call(&self, name: &str, parameters: &[Parameter], call: &Function) -> Flow {
        let Some(over) = &call.over else {
            let columns: Vec<_> = parameters.iter().take_while(|p| !p.optional).map(|p| p.name.as_str()).collect();
            return refuse(format!(
                "{name} answers a value per edge: call it as a window function, {name}({}) OVER (), or in FROM, \
                 FROM {name}(edges)",
                columns.join(", ")
            ));
        };
        if call.filter.is_some() {
            return refuse(format!("{name}: FILTER has no meaning for a value per edge; filter the rows with WHERE"));
        }
        if self.is_ordered(over) {
            return refuse(format!(
                "{name} looks at all edges of the partition: its OVER takes PARTITION BY, but no ORDER BY and no frame"
            ));
        }
        ControlFlow::Continue(())
    }

    /// A window function ranks the rows of its partition by the window's order; a frame would be ignored.
    fn window_call(&self, name: &str, call: &Function) -> Flow {
        let ordered = call.over.as_ref().is_some_and(|over| self.window_has(over, &|spec| !spec.order_by.is_empty()));
        if !ordered {
            return refuse(format!(
                "{name} answers a value per row of an ordered window: {name}() OVER (PARTITION BY ... ORDER BY ...)"
            ));
        }
        if call.over.as_ref().is_some_and(|over| self.window_has(over, &|spec| spec.window_frame.is_some())) {
            return refuse(format!("{name} looks at all rows of the partition: its OVER takes no frame"));
        }
        if call.filter.is_some() {
            return refuse(format!("{name}: FILTER has no meaning for a value per row; filter the rows with WHERE"));
        }
        ControlFlow::Continue(())
    }

    /// Whether a window orders its rows or frames them, by itself or by the window that it names.
    fn is_ordered(&self, window: &WindowType) -> bool {
        self.window_has(window, &|spec| !spec.order_by.is_empty() || spec.window_frame.is_some())
    }

    /// Whether something holds for a window, or for a window that it names.
    fn window_has(&self, window: &WindowType, holds: &dyn Fn(&WindowSpec) -> bool) -> bool {
        match window {
            WindowType::WindowSpec(spec) => self.spec_has(spec, holds, 0),
            WindowType::NamedWindow(name) => self.name_has(name, holds, 0),
        }
    }

    fn spec_has(&self, spec: &WindowSpec, holds: &dyn Fn(&WindowSpec) -> bool, depth: usize) -> bool {
        holds(spec) || spec.window_name.as_ref().is_some_and(|name| self.name_has(name, holds, depth))
    }

    // A window may name another; one that names itself is DataFusion's to refuse.
    fn name_has(&self, name: &Ident, holds: &dyn Fn(&WindowSpec) -> bool, depth: usize) -> bool {
        let windows = self.windows.last().into_iter().flatten();
        let mut found = windows.filter(|window| ast::normalized(&window.0) == ast::normalized(name));
        depth < 16
            && found.any(|NamedWindowDefinition(_, window)| match window {
                NamedWindowExpr::NamedWindow(other) => self.name_has(other, holds, depth + 1),
                NamedWindowExpr::WindowSpec(spec) => self.spec_has(spec, holds, depth + 1),
            })
    }
}

fn refuse_clauses(name: &str, list: &FunctionArgumentList) -> Flow {
    if list.duplicate_treatment == Some(DuplicateTreatment::Distinct) {
        return refuse(format!(
            "{name}(DISTINCT ...) is not supported: call it on rows made distinct, SELECT DISTINCT"
        ));
    }
    match list.clauses.first() {
        None => ControlFlow::Continue(()),
        Some(FunctionArgumentClause::OrderBy(_)) => {
            refuse(format!("{name}(... ORDER BY ...) is not supported: the answer does not depend on the rows' order"))
        }
        Some(other) => refuse(format!("{name}: {other} is not supported among its arguments")),
    }
}

/// Resolves named arguments into positional ones. Where an optional argument was skipped, its default is filled in;
/// those behind the last one given stay away.
fn positional(name: &str, parameters: &[Parameter], list: &mut FunctionArgumentList) -> Flow {
    let mut given: Vec<Option<Expr>> = vec![None; parameters.len()];
    let variadic = parameters.last().is_some_and(|parameter| parameter.variadic);
    let mut rest = Vec::new();
    let mut named = false;
    for (i, arg) in list.args.iter().enumerate() {
        let (at, value) = match arg {
            FunctionArg::Unnamed(_) if named => {
                return refuse(format!("{name}: {arg} has no name but follows an argument that has one"));
            }
            FunctionArg::Unnamed(value) if i >= parameters.len() && variadic => {
                rest.push(value.clone());
                continue;
            }
            FunctionArg::Unnamed(_) if i >= parameters.len() => {
                return refuse(format!("{name}: too many arguments; it is {}", signature(name, parameters)));
            }
            FunctionArg::Unnamed(value) => (i, value),
            FunctionArg::Named { name: parameter, arg: value, .. } => {
                named = true;
                match parameters.iter().position(|other| other.name.eq_ignore_ascii_case(&parameter.value)) {
                    Some(at) => (at, value),
                    None => {
                        let names: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
                        return refuse(format!(
                            "{name}: there is no argument {parameter}; it takes: {}",
                            names.join(", ")
                        ));
                    }
                }
            }
            FunctionArg::ExprNamed { name: other, .. } => {
                return refuse(format!("{name}: {other} cannot be the name of an argument"));
            }
        };
        let parameter = &parameters[at];
        let FunctionArgExpr::Expr(value) = value else {
            return refuse(format!("{name}: {} takes one value, not {value}", parameter.name));
        };
        if given[at].is_some() {
            return refuse(format!("{name}: {} is given twice", parameter.name));
        }
        if parameter.kind == ParameterKind::Option && !ast::is_constant(value) {
            let hint = match value {
                Expr::Identifier(Ident { quote_style: Some('"'), value, .. }) => {
                    format!("; text stands in single quotes, '{value}'")
                }
                _ => String::new(),
            };
            return refuse(format!("{name}: {} must be a constant, not {value}{hint}", parameter.name));
        }
        given[at] = Some(value.clone());
    }
    let count = given.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    if let Some(missing) =
        parameters.iter().zip(&given).find(|(parameter, value)| !parameter.optional && value.is_none())
        && !missing.0.variadic
    {
        return refuse(format!("{name}: {} is missing; it is {}", missing.0.name, signature(name, parameters)));
    }
    let values = given.into_iter().zip(parameters).take(count).map(|(value, parameter)| {
        let value = value.or_else(|| parameter.default.clone()).unwrap_or(Expr::Value(Value::Null.into()));
        FunctionArg::Unnamed(FunctionArgExpr::Expr(value))
    });
    list.args = values.chain(rest.into_iter().map(FunctionArg::Unnamed)).collect();
    ControlFlow::Continue(())
}

fn signature(name: &str, parameters: &[Parameter]) -> String {
    let mut text = format!("{name}(");
    for (i, parameter) in parameters.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        match (&parameter.default, parameter.optional) {
            (_, false) => {
                text += &format!("{comma}{}{}", parameter.name, if parameter.variadic { ", ..." } else { "" })
            }
            (Some(default), true) => text += &format!(" [{comma}{} => {default}]", parameter.name),
            (None, true) => text += &format!(" [{comma}{}]", parameter.name),
        }
    }
    text + ")"
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::super::statement::Statement;
    use super::super::testing::{Signatures, error, rows, session};
    use super::*;

    fn rewritten(text: &str) -> Result<String> {
        let Statement::Sql(mut statement) = parse(text)? else { panic!("{text}") };
        rewrite(&mut statement, &Signatures)?;
        Ok(statement.to_string())
    }

    fn refused(text: &str) -> String {
        error(rewritten(text))
    }

    #[test]
    fn names_given_for_relations_become_queries() {
        for (text, expected) in [
            (
                "SELECT * FROM Midpoint_Curvature(cora.edges, nodes => cora.nodes, relative => false)",
                "SELECT * FROM Midpoint_Curvature((SELECT * FROM cora.edges), nodes => (SELECT * FROM cora.nodes), \
                 relative => false)",
            ),
            ("SELECT * FROM train(jobs := t)", "SELECT * FROM train(jobs := (SELECT * FROM t))"),
            ("SELECT * FROM train((SELECT 1 AS x))", "SELECT * FROM train((SELECT 1 AS x))"),
            ("SELECT * FROM train('jobs.csv')", "SELECT * FROM train((SELECT * FROM 'jobs.csv'))"),
            (
                "SELECT * FROM ollivier_ricci(edges, alpha => 0.5)",
                "SELECT * FROM ollivier_ricci((SELECT * FROM edges), alpha => 0.5)",
            ),
            ("SELECT * FROM ollivier_ricci(edges => t)", "SELECT * FROM ollivier_ricci(edges => (SELECT * FROM t))"),
            // The answer of one function is the relation of another.
            (
                "SELECT * FROM train(midpoint_curvature(a.edges))",
                "SELECT * FROM train((SELECT * FROM midpoint_curvature((SELECT * FROM a.edges))))",
            ),
            // Graphs are named, not read; options that are left out as NULL stay.
            ("SELECT * FROM graph_profile(cora, 'x')", "SELECT * FROM graph_profile(cora, 'x')"),
            ("SELECT * FROM midpoint_curvature(e, NULL)", "SELECT * FROM midpoint_curvature((SELECT * FROM e), NULL)"),
            // Functions of others are left alone.
            ("SELECT * FROM read_csv(a)", "SELECT * FROM read_csv(a)"),
        ] {
            assert_eq!(rewritten(text).unwrap(), expected);
        }
    }

    #[test]
    fn the_rewriter_reaches_every_place() {
        let (call, query) = ("train(t)", "train((SELECT * FROM t))");
        for text in [
            "WITH c AS (SELECT * FROM @) SELECT * FROM c",
            "SELECT * FROM a JOIN @ AS b ON a.x = b.x",
            "SELECT * FROM a, @",
            "SELECT (SELECT max(x) FROM @) FROM a",
            "SELECT * FROM a WHERE EXISTS (SELECT * FROM @)",
            "SELECT * FROM a WHERE x IN (SELECT x FROM @)",
            "SELECT * FROM a ORDER BY (SELECT 1 FROM @)",
            "SELECT * FROM a UNION ALL SELECT * FROM @",
            "CREATE VIEW v AS SELECT * FROM @",
            "CREATE TABLE v AS SELECT * FROM @",
            "INSERT INTO a SELECT * FROM @",
            "EXPLAIN SELECT * FROM @",
            "EXPLAIN ANALYZE SELECT * FROM @",
            "COPY (SELECT * FROM @) TO f",
            "SELECT * FROM @ AS s PIVOT(sum(x) FOR c IN (1))",
            "DELETE FROM a WHERE x IN (SELECT x FROM @)",
            "PREPARE p AS SELECT * FROM @",
            "SELECT CASE WHEN EXISTS (SELECT * FROM @) THEN 1 END FROM a",
        ] {
            let text = text.replace("TO f", "TO 'f'");
            let expected = text.replace('@', query).replace("'f'", "f");
            assert_eq!(rewritten(&text.replace('@', call)).unwrap(), expected);
        }
    }

    #[test]
    fn named_arguments_take_their_places_and_skipped_ones_their_defaults() {
        for (text, expected) in [
            ("SELECT regime(m, s)", "SELECT regime(m, s)"),
            ("SELECT regime(m, skewness => s, mean_tolerance => 0.5)", "SELECT regime(m, s, 0.5)"),
            ("SELECT regime(skewness => s, mean => m)", "SELECT regime(m, s)"),
            ("SELECT regime(m, s, skewness_tolerance := -1)", "SELECT regime(m, s, 0.01, -1)"),
            (
                "SELECT Ollivier_Ricci(src, dst, STEPS => 3) OVER (PARTITION BY g)",
                "SELECT Ollivier_Ricci(src, dst, 0.0, 'uniform', 3) OVER (PARTITION BY g)",
            ),
            (
                "SELECT persistence_diagram(s, d, v, essential => 'max') FILTER (WHERE v > 0) FROM t",
                "SELECT persistence_diagram(s, d, v, 1, 'max') FILTER (WHERE v > 0) FROM t",
            ),
            ("SELECT sum(x => 1)", "SELECT sum(x => 1)"),
        ] {
            assert_eq!(rewritten(text).unwrap(), expected);
        }
    }

    #[test]
    fn calls_that_do_not_fit_are_refused_with_what_fits() {
        for (text, expected) in [
            (
                "SELECT regime(m, s, foo => 1)",
                "regime: there is no argument foo; it takes: mean, skewness, mean_tolerance, skewness_tolerance",
            ),
            ("SELECT regime(m, mean => 1, skewness => 2)", "regime: mean is given twice"),
            (
                "SELECT regime(m)",
                "regime: skewness is missing; it is regime(mean, skewness [, mean_tolerance => 0.01] [, skewness_tolerance])",
            ),
            ("SELECT regime(1, 2, 3, 4, 5)", "regime: too many arguments; it is"),
            ("SELECT regime(mean => m, s)", "regime: s has no name but follows an argument that has one"),
            ("SELECT regime(m, s, x)", "regime: mean_tolerance must be a constant, not x"),
            ("SELECT regime(m, s, (SELECT 1))", "regime: mean_tolerance must be a constant"),
            ("SELECT regime(*)", "regime: mean takes one value, not *"),
            ("SELECT regime(m, s) OVER ()", "OVER and FILTER have no meaning"),
            ("SELECT regime(DISTINCT m, s)", "regime(DISTINCT ...) is not supported"),
            ("SELECT persistence_diagram(s, d, v ORDER BY v)", "does not depend on the rows' order"),
            ("SELECT persistence_diagram(DISTINCT s, d, v)", "SELECT DISTINCT"),
            (
                "SELECT ollivier_ricci(src, dst) FROM t",
                "ollivier_ricci(src, dst) OVER (), or in FROM, FROM ollivier_ricci(edges)",
            ),
            (
                "SELECT ollivier_ricci(src, dst, measure => \"uniform\") OVER ()",
                "text stands in single quotes, 'uniform'",
            ),
            ("SELECT ollivier_ricci(DISTINCT src, dst) OVER ()", "DISTINCT"),
            ("SELECT ollivier_ricci(src, dst) FILTER (WHERE src > 1) OVER ()", "FILTER has no meaning"),
            ("SELECT ollivier_ricci(src, dst) OVER (ORDER BY src)", "no ORDER BY and no frame"),
            ("SELECT ollivier_ricci(src, dst) OVER (ROWS UNBOUNDED PRECEDING)", "no ORDER BY and no frame"),
            ("SELECT ollivier_ricci(src, dst) OVER w FROM t WINDOW w AS (ORDER BY src)", "no ORDER BY and no frame"),
            (
                "SELECT ollivier_ricci(src, dst) OVER (v) FROM t WINDOW w AS (ORDER BY src), v AS (w)",
                "no ORDER BY and no frame",
            ),
            ("SELECT average_rank() FROM t", "average_rank() OVER (PARTITION BY ... ORDER BY ...)"),
            (
                "SELECT average_rank() OVER (PARTITION BY g) FROM t",
                "average_rank() OVER (PARTITION BY ... ORDER BY ...)",
            ),
            ("SELECT average_rank(x) OVER (ORDER BY x)", "average_rank: too many arguments"),
            ("SELECT average_rank() OVER (ORDER BY x ROWS 2 PRECEDING)", "no frame"),
            ("SELECT average_rank() FILTER (WHERE x > 1) OVER (ORDER BY x)", "FILTER has no meaning"),
            ("SELECT midpoint_curvature(edges)", "call it in FROM, SELECT ... FROM midpoint_curvature(...)"),
            ("SELECT * FROM t, LATERAL train(t.x)", "LATERAL train: the function reads whole relations"),
        ] {
            let found = refused(text);
            assert!(found.contains(expected), "{text}: {found}");
        }
        assert!(rewritten("SELECT ollivier_ricci(src, dst) OVER w FROM t WINDOW w AS (PARTITION BY g)").is_ok());
        assert!(rewritten("SELECT average_rank() OVER (w ORDER BY x) FROM t WINDOW w AS (PARTITION BY g)").is_ok());
        assert!(rewritten("SELECT average_rank() OVER w FROM t WINDOW w AS (ORDER BY x)").is_ok());
        // The window of another query does not count.
        assert!(
            rewritten(
                "SELECT ollivier_ricci(a, b) OVER w, (SELECT 1 FROM u WINDOW w AS (ORDER BY a)) FROM t WINDOW w AS ()"
            )
            .is_ok()
        );
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        for (text, expected) in [
            ("SELECT * FROM t TABLESAMPLE (10 PERCENT)", "TABLESAMPLE of t is not supported"),
            ("SELECT * FROM t VERSION AS OF -1", "Expected: a value"),
            ("SELECT * FROM t TIMESTAMP AS OF 'yesterday'", "expected a time"),
            ("SELECT * FROM a.t FOR SYSTEM_TIME AS OF now()", "a version is a constant"),
            ("SELECT * FROM bonnet.history()", "takes the name of a table"),
            ("SELECT * FROM bonnet.history(1)", "takes the name of a table"),
            ("SELECT * FROM (SELECT 1) TABLESAMPLE (10 ROWS)", "TABLESAMPLE"),
        ] {
            let found = refused(text);
            assert!(found.contains(expected), "{text}: {found}");
        }
        // Words that are names, not clauses.
        assert_eq!(rewritten("SELECT version FROM t AS version").unwrap(), "SELECT version FROM t AS version");
    }

    #[test]
    fn a_version_travels_in_the_name_of_its_table() {
        for (text, expected) in [
            ("SELECT * FROM t VERSION AS OF 3", "SELECT * FROM \"t VERSION AS OF 3\" AS t"),
            (
                "SELECT * FROM a.\"T\" TIMESTAMP AS OF '2026-01-31 14:00:00+02:00' AS x",
                "SELECT * FROM a.\"T TIMESTAMP AS OF '2026-01-31 12:00:00'\" AS x",
            ),
            (
                "SELECT * FROM t TIMESTAMP AS OF TIMESTAMP '2026-01-31'",
                "SELECT * FROM \"t TIMESTAMP AS OF '2026-01-31 00:00:00'\" AS t",
            ),
            ("SELECT * FROM bonnet.history('s.t')", "SELECT * FROM s.\"HISTORY OF t\" AS history"),
            ("SELECT * FROM bonnet.history(t) AS h", "SELECT * FROM \"HISTORY OF t\" AS h"),
        ] {
            assert_eq!(rewritten(text).unwrap(), expected);
            // A view is rewritten when it is made and when it is read.
            assert_eq!(rewritten(&rewritten(text).unwrap()).unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn unnest_in_from_runs_over_constants_and_is_refused_over_columns() {
        let context = session().await;
        assert_eq!(rows(&context, "SELECT * FROM unnest([1, 2]) AS u(x)").await.unwrap(), ["x", "1", "2"]);
        for text in [
            "SELECT * FROM nested, unnest(nested.xs) AS u(x)",
            "SELECT * FROM nested, unnest(xs)",
            "SELECT * FROM nested CROSS JOIN unnest(xs)",
            "SELECT * FROM nested, LATERAL unnest(xs)",
        ] {
            let found = error(rows(&context, text).await);
            assert!(found.contains("unnest in a select list"), "{text}: {found}");
        }
        assert_eq!(
            rows(&context, "SELECT id, x FROM (SELECT id, unnest(xs) AS x FROM nested) ORDER BY x").await.unwrap(),
            ["id | x", "1 | 10", "1 | 20", "2 | 30"]
        );
    }
}
