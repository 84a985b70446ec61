//! Matches the arguments of a call to the parameters of a function: by position, by name, skipped, variadic.
//!
//! One place and one wording of each error, wherever the call stands: in an expression, over a window or in FROM.

use std::ops::ControlFlow;

use datafusion::common::Result;
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArgOperator, Ident, Query, Spanned, Value, Visit, Visitor,
};
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::error::{usage_error, usage_error_at};
use crate::registry::body::Kind;
use crate::registry::options::OptionValue;
use crate::registry::{Function, OptionType, Parameter, ParameterKind, Place};

/// The arguments of a call by parameter, as positions in the list of arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    /// The function's parameters in this place, in positional order.
    pub parameters: Vec<Parameter>,
    /// The arguments of each parameter: none where it is left out, several where it is variadic.
    pub given: Vec<Vec<usize>>,
    /// Whether the first argument is a relation of a generator's parameters, a row for each graph.
    pub of_relation: bool,
    /// Options by name beyond the parameters, where the function takes any.
    pub open: Vec<(String, usize)>,
}

/// Matches arguments to the parameters of a function. `call` is the span of the function's name.
///
/// # Errors
/// If an argument has no parameter, is given twice, is missing, or has to be a constant and is none. The text says
/// which, what the function takes, and where in the statement.
pub fn bind(function: &Function, place: Place, call: Span, args: &[FunctionArg]) -> Result<Arguments> {
    let parameters = function.parameters_in(place);
    let mut bound = Arguments { given: vec![vec![]; parameters.len()], parameters, of_relation: false, open: vec![] };
    let refuse = |span: Span, text: String| usage_error_at(span, format!("{}: {text}", function.name));
    let usage = || function.usage(place);
    // The parameter that the next argument without a name is for.
    let mut next = 0;
    let mut named = false;
    for (i, arg) in args.iter().enumerate() {
        let (name, value) = match arg {
            FunctionArg::Unnamed(_) if named => {
                return refuse(arg.span(), format!("{arg} has no name but follows an argument that has one"));
            }
            FunctionArg::Unnamed(value) => (None, value),
            FunctionArg::Named { name, arg: value, operator }
            | FunctionArg::ExprNamed { name: Expr::Identifier(name), arg: value, operator } => {
                if !matches!(operator, FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment) {
                    return refuse(name.span, format!("name arguments with =>, not {operator}"));
                }
                named = true;
                (Some(name), value)
            }
            FunctionArg::ExprNamed { name, .. } => {
                return refuse(name.span(), format!("{name} cannot be the name of an argument"));
            }
        };
        let at = match name {
            None if i == 0 && place == Place::From && is_relation_of_parameters(function, value) => {
                bound.of_relation = true;
                continue;
            }
            None if next == bound.parameters.len() => {
                return refuse(arg.span(), format!("too many arguments; it is {}", usage()));
            }
            None => {
                let at = next;
                next += usize::from(!bound.parameters[at].variadic);
                at
            }
            Some(name) => {
                match bound.parameters.iter().position(|other| other.name.eq_ignore_ascii_case(&name.value)) {
                    Some(at) => at,
                    None if function.open_options => {
                        let option = name.value.to_ascii_lowercase();
                        if bound.open.iter().any(|(other, _)| *other == option) {
                            return refuse(name.span, format!("{option} is given twice"));
                        }
                        constant(function, &option, value)?;
                        bound.open.push((option, i));
                        continue;
                    }
                    None => {
                        let names: Vec<_> = bound.parameters.iter().map(|parameter| parameter.name).collect();
                        return refuse(
                            name.span,
                            format!("there is no argument {name}; it takes: {}", names.join(", ")),
                        );
                    }
                }
            }
        };
        let parameter = &bound.parameters[at];
        if !bound.given[at].is_empty() && !parameter.variadic {
            return refuse(arg.span(), format!("{} is given twice", parameter.name));
        }
        match parameter.kind {
            ParameterKind::Option(_) => constant(function, parameter.name, value)?,
            // A generator's parameters are constants in FROM.
            ParameterKind::Column(_) if place == Place::From => constant(function, parameter.name, value)?,
            ParameterKind::Column(_) if !matches!(value, FunctionArgExpr::Expr(_)) => {
                return refuse(arg.span(), format!("{} takes one value, not {value}", parameter.name));
            }
            _ => {}
        }
        bound.given[at].push(i);
    }
    let missing = bound.iter().find(|(parameter, given)| !parameter.optional && given.is_empty());
    match missing {
        Some((missing, _)) if !bound.of_relation => {
            refuse(call, format!("{} is missing; it is {}", missing.name, usage()))
        }
        _ => Ok(bound),
    }
}

impl Arguments {
    /// Each parameter with the positions of its arguments.
    pub fn iter(&self) -> impl Iterator<Item = (&Parameter, &[usize])> {
        self.parameters.iter().zip(self.given.iter().map(Vec::as_slice))
    }

    /// The arguments by position alone. One that was skipped has its default, NULL where it has none; those after the
    /// last one given are omitted.
    pub fn positional(&self, args: &[FunctionArg]) -> Vec<FunctionArg> {
        let count = self.given.iter().rposition(|given| !given.is_empty()).map_or(0, |last| last + 1);
        let mut values = Vec::with_capacity(args.len().max(count));
        for (parameter, given) in self.iter().take(count) {
            match given {
                [] => values.push(FunctionArgExpr::Expr(literal(&parameter.default))),
                given => values.extend(given.iter().map(|&at| value(&args[at]).clone())),
            }
        }
        values.into_iter().map(FunctionArg::Unnamed).collect()
    }
}

/// The value of an argument.
pub fn value(arg: &FunctionArg) -> &FunctionArgExpr {
    match arg {
        FunctionArg::Unnamed(value)
        | FunctionArg::Named { arg: value, .. }
        | FunctionArg::ExprNamed { arg: value, .. } => value,
    }
}

/// Fails unless a value is a constant.
///
/// # Errors
/// If the value is a wildcard, or reads columns or tables.
pub(crate) fn constant(function: &Function, parameter: &str, value: &FunctionArgExpr) -> Result<()> {
    match value {
        FunctionArgExpr::Expr(expr) if is_constant(expr) => Ok(()),
        value => not_constant(function, parameter, value),
    }
}

/// The error for a value that is no constant.
///
/// # Errors
/// Always.
pub fn not_constant<T>(function: &Function, parameter: &str, value: &FunctionArgExpr) -> Result<T> {
    let hint = match value {
        FunctionArgExpr::Expr(Expr::Identifier(Ident { quote_style: Some('"'), value, .. })) => {
            format!("; text stands in single quotes, '{value}'")
        }
        _ => String::new(),
    };
    usage_error_at(value.span(), format!("{}: {parameter} must be a constant, not {value}{hint}", function.name))
}

/// The option in its parameter's type. Of a generator, NULL stands only for one that may be left out.
pub(crate) fn checked(function: &Function, name: &str, kind: OptionType, value: OptionValue) -> Result<OptionValue> {
    let may_be_null =
        || function.kind() != Kind::Generator || function.parameter(name).is_none_or(|parameter| parameter.optional);
    let expected = match (kind, &value) {
        (_, OptionValue::Null) if may_be_null() => return Ok(value),
        (OptionType::Boolean, OptionValue::Boolean(_))
        | (OptionType::Integer, OptionValue::Integer(_))
        | (OptionType::Number, OptionValue::Number(_))
        | (OptionType::NumberOrText, OptionValue::Number(_) | OptionValue::Text(_))
        | (OptionType::Text, OptionValue::Text(_)) => return Ok(value),
        (OptionType::Number | OptionType::NumberOrText, OptionValue::Integer(value)) => {
            return Ok(OptionValue::Number(*value as f64));
        }
        (OptionType::Boolean, _) => "true or false",
        (OptionType::Integer, _) => "a whole number",
        (OptionType::Number, _) => "a number",
        (OptionType::Text, _) => "a text",
        (OptionType::NumberOrText, _) => "a number or a text",
    };
    usage_error(format!("{}: {name} => {value}: expected {expected}", function.name))
}

/// Whether an expression is free of columns and subqueries.
pub fn is_constant<T: Visit>(expr: &T) -> bool {
    struct Constant;
    impl Visitor for Constant {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        }

        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    expr.visit(&mut Constant).is_continue()
}

/// Whether the first argument of a call in FROM is a relation with a row of parameters a graph. The statement's
/// rewriting has turned names into subqueries.
fn is_relation_of_parameters(function: &Function, first: &FunctionArgExpr) -> bool {
    function.kind() == Kind::Generator && matches!(first, FunctionArgExpr::Expr(Expr::Subquery(_)))
}

/// A default as SQL.
fn literal(value: &OptionValue) -> Expr {
    let value = match value {
        OptionValue::Boolean(value) => Value::Boolean(*value),
        OptionValue::Integer(value) => Value::Number(value.to_string(), false),
        OptionValue::Number(value) => Value::Number(format!("{value:?}"), false),
        OptionValue::Text(value) => Value::SingleQuotedString(value.clone()),
        OptionValue::Null | OptionValue::List(_) => Value::Null,
    };
    Expr::Value(value.into())
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::ast::TableFactor;
    use datafusion::sql::sqlparser::dialect::DuckDbDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;
    use crate::adapters::flatten::flatten;

    /// `f(edges, alpha [, beta => 2] [, gamma])`, of any body.
    fn function() -> Function {
        Function { name: "f", ..flatten() }.parameters([
            Parameter::relation("edges", ""),
            Parameter::number("alpha", ""),
            Parameter::integer("beta", "").or(OptionValue::Integer(2)),
            Parameter::text("gamma", "").optional(),
        ])
    }

    fn args(text: &str) -> Vec<FunctionArg> {
        let mut parser = Parser::new(&DuckDbDialect {}).try_with_sql(&format!("f({text})")).unwrap();
        match parser.parse_table_factor().unwrap() {
            TableFactor::Table { args: Some(args), .. } => args.args,
            other => panic!("{other}"),
        }
    }

    /// The arguments by position, or the error.
    fn bound(function: &Function, text: &str) -> String {
        let args = args(text);
        match bind(function, Place::From, Span::empty(), &args) {
            Ok(bound) => bound.positional(&args).iter().map(FunctionArg::to_string).collect::<Vec<_>>().join(", "),
            Err(error) => error.strip_backtrace(),
        }
    }

    #[test]
    fn names_skips_and_positions_find_their_parameters() {
        for (text, expected) in [
            ("t, 1", "t, 1"),
            ("t, 1, 3", "t, 1, 3"),
            ("alpha => 1, edges := t", "t, 1"),
            ("t, gamma => 'x', ALPHA => 1", "t, 1, 2, 'x'"),
            ("t, 1, gamma => NULL", "t, 1, 2, NULL"),
        ] {
            assert_eq!(bound(&function(), text), expected, "{text}");
        }
        let graphs = Function { name: "f", ..flatten() }.parameters([Parameter::graphs("graph", "")]);
        assert_eq!(bound(&graphs, "a, b.c, *"), "a, b.c, *");
        assert!(bound(&graphs, "").contains("f: graph is missing; it is FROM f(graph, ...)"));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        for (text, expected) in [
            ("t", "f: alpha is missing; it is FROM f(edges, alpha [, beta => 2] [, gamma => NULL])"),
            ("t, 1, 2, 'x', 5", "f: too many arguments; it is FROM f(edges, alpha"),
            ("t, 1, alpha => 2", "f: alpha is given twice (Line: 1, Column: 9)"),
            (
                "t, 1, delta => 2",
                "f: there is no argument delta; it takes: edges, alpha, beta, gamma (Line: 1, Column: 9)",
            ),
            ("alpha => 1, t", "f: t has no name but follows an argument that has one (Line: 1, Column: 15)"),
            ("t, x", "f: alpha must be a constant, not x (Line: 1, Column: 6)"),
            ("t, (SELECT 1)", "f: alpha must be a constant, not (SELECT 1)"),
            ("t, *", "f: alpha must be a constant, not *"),
            ("t, 1, gamma => \"x\"", "not \"x\"; text stands in single quotes, 'x' (Line: 1, Column: 18)"),
        ] {
            let found = bound(&function(), text);
            assert!(found.contains(expected), "{text}: {found}");
        }
    }

    #[test]
    fn open_options_are_named_constants() {
        let open = function().open_options();
        let args = args("t, 1, Hidden => 64");
        let found = bind(&open, Place::From, Span::empty(), &args).unwrap();
        assert_eq!(found.open, [("hidden".to_owned(), 2)]);
        assert!(bound(&open, "t, 1, h => 1, H => 2").contains("f: h is given twice"));
        assert!(bound(&open, "t, 1, h => x").contains("f: h must be a constant, not x"));
    }
}
