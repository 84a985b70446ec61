//! Rewrites DuckDB and PostgreSQL syntax to what DataFusion plans.

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, Ident, LimitClause, ObjectName, OrderByExpr,
    OrderByOptions, Query, Select, SelectItem, SetExpr, ShowStatementFilter, ShowStatementFilterPosition,
    ShowStatementIn, Statement, TableFactor, UnaryOperator, Value, ValueWithSpan, VisitorMut, WindowSpec, WindowType,
};
use datafusion::sql::sqlparser::parser::Parser;

use super::ast;
use super::dialect::BonnetDialect;
use super::files;
use super::rewrite::visit_statement;

/// So many digits a DOUBLE tells apart at most; DECIMAL has at most [`DECIMAL_DIGITS`].
const DOUBLE_DIGITS: usize = 17;
const DECIMAL_DIGITS: usize = 38;

/// Rewrites a statement to what DataFusion plans.
///
/// # Errors
/// The text of a refusal: of syntax that DataFusion has no equivalent of.
pub(super) fn translate(statement: &mut SqlStatement) -> Result<(), String> {
    show(statement);
    match visit_statement(statement, &mut Translator) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(refusal) => Err(*refusal),
    }
}

/// `SHOW TABLES FROM schema` and `SHOW FUNCTIONS`, with all functions, as queries.
fn show(statement: &mut SqlStatement) {
    let SqlStatement::Statement(inner) = statement else { return };
    let text = match inner.as_ref() {
        Statement::ShowTables { show_options, .. } => {
            let Some(ShowStatementIn { parent_name: Some(name), .. }) = &show_options.show_in else { return };
            let Some(parts) = ast::name_parts(name) else { return };
            let of = match parts.as_slice() {
                [schema] => format!("table_schema = {}", ast::text(schema)),
                [catalog, schema] => {
                    format!("table_catalog = {} AND table_schema = {}", ast::text(catalog), ast::text(schema))
                }
                _ => return,
            };
            let like = match &show_options.filter_position {
                Some(ShowStatementFilterPosition::Infix(filter) | ShowStatementFilterPosition::Suffix(filter)) => {
                    matching("table_name", filter)
                }
                None => String::new(),
            };
            format!("SELECT * FROM information_schema.tables WHERE {of}{like} ORDER BY table_name")
        }
        Statement::ShowFunctions { filter } => {
            let like = |name| filter.as_ref().map(|filter| matching(name, filter)).unwrap_or_default();
            format!(
                "SELECT name AS function_name, kind AS function_type, returns AS return_type, signature AS \
                 syntax_example, description FROM bonnet.functions WHERE true{} UNION ALL SELECT DISTINCT routine_name, \
                 lower(function_type), data_type, syntax_example, description FROM information_schema.routines WHERE \
                 routine_name NOT IN (SELECT name FROM bonnet.functions){} ORDER BY function_name",
                like("name"),
                like("routine_name")
            )
        }
        _ => return,
    };
    let parsed = Parser::new(&BonnetDialect).try_with_sql(&text).and_then(|mut parser| parser.parse_query());
    if let Ok(query) = parsed {
        **inner = Statement::Query(query);
    }
}

fn matching(name: &str, filter: &ShowStatementFilter) -> String {
    match filter {
        ShowStatementFilter::Like(pattern) | ShowStatementFilter::NoKeyword(pattern) => {
            format!(" AND {name} LIKE {}", ast::text(pattern))
        }
        ShowStatementFilter::ILike(pattern) => format!(" AND {name} ILIKE {}", ast::text(pattern)),
        ShowStatementFilter::Where(condition) => format!(" AND ({condition})"),
    }
}

type Flow = ControlFlow<Box<String>>;

fn refuse(text: impl Into<String>) -> Flow {
    ControlFlow::Break(Box::new(text.into()))
}

struct Translator;

impl VisitorMut for Translator {
    type Break = Box<String>;

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        if let SetExpr::Table(table) = query.body.as_ref() {
            let mut parts = Vec::new();
            parts.extend(table.schema_name.iter().map(Ident::new));
            parts.extend(table.table_name.iter().map(Ident::new));
            *query.body = *ast::select_all(ast::table(ObjectName::from(parts))).body;
        }
        fetch(query)
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        qualify(select);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        match files::read(factor) {
            Ok(()) => ControlFlow::Continue(()),
            Err(refusal) => refuse(refusal),
        }
    }

    // Operands are translated before the operator moves: what it becomes is not looked at again.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        match expr {
            Expr::BinaryOp { .. } => operator(expr),
            Expr::UnaryOp { op: UnaryOperator::BitwiseNot, expr: of } => {
                *expr = complement(taken(of));
                ControlFlow::Continue(())
            }
            Expr::SimilarTo { .. } => similar_to(expr),
            Expr::Cast { expr: of, data_type, .. } => {
                cast_number(of, data_type);
                ControlFlow::Continue(())
            }
            Expr::Value(ValueWithSpan { value: Value::Number(number, _), .. }) => {
                if let Some(decimal) = long_number(number) {
                    *expr = decimal;
                }
                ControlFlow::Continue(())
            }
            Expr::Function(call) => match ast::function_name(&call.name) {
                Some(name) => function(&name, expr),
                None => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        }
    }
}

/// `FETCH FIRST n ROWS ONLY` is `LIMIT n`.
fn fetch(query: &mut Query) -> Flow {
    let Some(fetch) = query.fetch.take() else { return ControlFlow::Continue(()) };
    if fetch.with_ties || fetch.percent {
        return refuse(format!(
            "{fetch} is not supported: FETCH FIRST n ROWS ONLY, or rank() OVER (ORDER BY ...) for ties"
        ));
    }
    let rows = fetch.quantity.unwrap_or_else(|| number("1"));
    match &mut query.limit_clause {
        None => {
            query.limit_clause = Some(LimitClause::LimitOffset { limit: Some(rows), offset: None, limit_by: vec![] })
        }
        Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => *limit = Some(rows),
        Some(_) => return refuse("LIMIT and FETCH say the same: give one of them"),
    }
    ControlFlow::Continue(())
}

/// QUALIFY by plain columns, beside window functions in the select list: DataFusion wants one in the condition.
fn qualify(select: &mut Select) {
    let Some(condition) = &mut select.qualify else { return };
    let is_window = |expr: &Expr| matches!(expr, Expr::Function(call) if call.over.is_some());
    let windows: Vec<Option<&Ident>> = select
        .projection
        .iter()
        .filter_map(|item| match item {
            SelectItem::UnnamedExpr(expr) => ast::find(expr, is_window).map(|_| None),
            SelectItem::ExprWithAlias { expr, alias } => ast::find(expr, is_window).map(|_| Some(alias)),
            _ => None,
        })
        .collect();
    let reads_window = |expr: &Expr| match expr {
        Expr::Identifier(name) => {
            windows.iter().flatten().any(|window| ast::normalized(window) == ast::normalized(name))
        }
        expr => is_window(expr),
    };
    if windows.is_empty() || ast::find(condition, reads_window).is_some() {
        return;
    }
    let Expr::Function(mut number) = call("row_number", []) else { return };
    number.over = Some(WindowType::WindowSpec(WindowSpec {
        window_name: None,
        partition_by: vec![],
        order_by: vec![],
        window_frame: None,
    }));
    let number = Expr::IsNotNull(Box::new(Expr::Function(number)));
    *condition = binary(taken(condition), BinaryOperator::And, number);
}

fn number(text: &str) -> Expr {
    Expr::Value(Value::Number(text.to_owned(), false).into())
}

fn nested(expr: Expr) -> Expr {
    match expr {
        Expr::BinaryOp { .. } | Expr::UnaryOp { .. } => Expr::Nested(Box::new(expr)),
        other => other,
    }
}

fn taken(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Value(Value::Null.into()))
}

fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(expr), data_type, array: false, format: None }
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(nested(left)), op, right: Box::new(nested(right)) }
}

fn call(name: &str, args: impl IntoIterator<Item = Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: vec![] }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: vec![],
    })
}

/// `a // b` is the quotient, of integers an integer; `a ^ b` the power, a DOUBLE.
fn operator(expr: &mut Expr) -> Flow {
    let Expr::BinaryOp { left, op, right } = expr else { return ControlFlow::Continue(()) };
    match op {
        BinaryOperator::DuckIntegerDivide | BinaryOperator::MyIntegerDivide => *op = BinaryOperator::Divide,
        BinaryOperator::BitwiseXor => {
            *expr = power(taken(left), taken(right));
        }
        _ => {}
    }
    ControlFlow::Continue(())
}

/// `~a`: all bits of an integer the other way, which is -1 - a. `& -1` leaves integers as they are, and takes nothing else.
fn complement(of: Expr) -> Expr {
    let minus_one = || Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(number("1")) };
    let integer = binary(of, BinaryOperator::BitwiseAnd, minus_one());
    nested(binary(minus_one(), BinaryOperator::Minus, integer))
}

fn power(base: Expr, exponent: Expr) -> Expr {
    let double = || DataType::Double(ExactNumberInfo::None);
    call("power", [cast(nested(base), double()), cast(nested(exponent), double())])
}

/// `a SIMILAR TO pattern`: the whole text against SQL's own patterns.
fn similar_to(expr: &mut Expr) -> Flow {
    let Expr::SimilarTo { negated, expr: text, pattern, escape_char } = expr else { return ControlFlow::Continue(()) };
    let mut args = vec![taken(text), taken(pattern)];
    args.extend(escape_char.take().map(Expr::Value));
    let matches = call("similar_to", args);
    *expr = match negated {
        true => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(matches) },
        false => matches,
    };
    ControlFlow::Continue(())
}

/// A number that is cast to a decimal, or with a fraction to an integer, does not pass through DOUBLE.
fn cast_number(of: &mut Expr, to: &DataType) {
    let Expr::Value(ValueWithSpan { value: Value::Number(text, _), .. }) = of else { return };
    match to {
        DataType::Decimal(_) | DataType::Numeric(_) | DataType::Dec(_) if !text.contains(['e', 'E']) => {
            *of = ast::text(text.clone());
        }
        DataType::TinyInt(_)
        | DataType::SmallInt(_)
        | DataType::Int(_)
        | DataType::Integer(_)
        | DataType::BigInt(_)
        | DataType::Int2(_)
        | DataType::Int4(_)
        | DataType::Int8(_) => {
            if let Some(decimal) = decimal(text).filter(|_| text.contains('.')) {
                *of = decimal;
            }
        }
        _ => {}
    }
}

/// A number with more digits than a DOUBLE tells apart, and too large for a BIGINT, as a decimal.
fn long_number(text: &str) -> Option<Expr> {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let whole = text.parse::<u64>().is_ok();
    (digits > DOUBLE_DIGITS && !whole).then(|| decimal(text)).flatten()
}

fn decimal(text: &str) -> Option<Expr> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = whole.trim_start_matches('0');
    let scale = fraction.len();
    let digits = (whole.len() + scale).max(1);
    if digits > DECIMAL_DIGITS || !(whole.to_owned() + fraction).chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let info = ExactNumberInfo::PrecisionAndScale(digits as u64, scale as i64);
    Some(cast(ast::text(text), DataType::Decimal(info)))
}

/// Functions that DataFusion has under another name, or as an expression.
fn function(name: &str, expr: &mut Expr) -> Flow {
    let Expr::Function(given) = expr else { return ControlFlow::Continue(()) };
    let FunctionArguments::List(list) = &given.args else { return ControlFlow::Continue(()) };
    let args: Option<Vec<Expr>> = list
        .args
        .iter()
        .map(|arg| match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) => Some(arg.clone()),
            _ => None,
        })
        .collect();
    let Some(args) = args else { return ControlFlow::Continue(()) };
    let plain = given.over.is_none() && given.filter.is_none() && list.clauses.is_empty();
    let said = match (name, <[Expr; 2]>::try_from(args.clone()), args.len()) {
        ("arg_max" | "argmax" | "max_by", Ok([value, by]), _) => return first(given, value, by, false),
        ("arg_min" | "argmin" | "min_by", Ok([value, by]), _) => return first(given, value, by, true),
        ("arg_max" | "argmax" | "max_by" | "arg_min" | "argmin" | "min_by", ..) => {
            return refuse(format!("{name} takes the value to answer and the value to compare: {name}(name, score)"));
        }
        _ if !plain => return ControlFlow::Continue(()),
        ("mod", Ok([left, right]), _) => binary(left, BinaryOperator::Modulo, right),
        ("xor", Ok([left, right]), _) => {
            let either = binary(left.clone(), BinaryOperator::BitwiseOr, right.clone());
            binary(either, BinaryOperator::Minus, binary(left, BinaryOperator::BitwiseAnd, right))
        }
        ("sign", _, 1) => {
            let sign = call("nanvl", [call("signum", args), number("0.0")]);
            cast(sign, DataType::TinyInt(None))
        }
        ("if", _, 3) => match <[Expr; 3]>::try_from(args) {
            Ok([condition, result, otherwise]) => Expr::Case {
                case_token: ast::no_token(),
                end_token: ast::no_token(),
                operand: None,
                conditions: vec![CaseWhen { condition, result }],
                else_result: Some(Box::new(otherwise)),
            },
            Err(_) => return ControlFlow::Continue(()),
        },
        ("strftime", Ok([first, second]), _) => {
            let (time, format) = if is_text(&first) && !is_text(&second) { (second, first) } else { (first, second) };
            call("to_char", [time, chrono_format(format)])
        }
        ("age", _, 1) => call("age", std::iter::once(call("current_date", [])).chain(args)),
        ("strptime", Ok([text, format]), _) => call("to_timestamp_micros", [text, chrono_format(format)]),
        _ => return ControlFlow::Continue(()),
    };
    *expr = nested(said);
    ControlFlow::Continue(())
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(_), .. }))
}

/// DuckDB's codes of fractions of a second: microseconds and milliseconds.
fn chrono_format(format: Expr) -> Expr {
    let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = &format else { return format };
    let mut chars = text.chars();
    let mut said = String::new();
    while let Some(c) = chars.next() {
        said.push(c);
        if c != '%' {
            continue;
        }
        match chars.next() {
            Some('f') => said += "6f",
            Some('g') => said += "3f",
            Some(code) => said.push(code),
            None => {}
        }
    }
    ast::text(said)
}

/// `arg_max(value, by)`: the value of the row whose `by` is the largest; of several, the smallest value.
fn first(given: &mut Function, value: Expr, by: Expr, ascending: bool) -> Flow {
    if given.over.is_some() {
        return refuse(format!("{} OVER is not supported: first_value(value) OVER (ORDER BY ...)", given.name));
    }
    let order = |expr: &Expr, ascending: bool| OrderByExpr {
        expr: expr.clone(),
        options: OrderByOptions { asc: Some(ascending), nulls_first: Some(false) },
        with_fill: None,
    };
    let known = binary(
        Expr::IsNotNull(Box::new(nested(value.clone()))),
        BinaryOperator::And,
        Expr::IsNotNull(Box::new(nested(by.clone()))),
    );
    given.filter = Some(Box::new(match given.filter.take() {
        Some(filter) => binary(known, BinaryOperator::And, nested(*filter)),
        None => known,
    }));
    given.name = ObjectName::from(vec![Ident::new("first_value")]);
    let clauses = vec![FunctionArgumentClause::OrderBy(vec![order(&by, ascending), order(&value, true)])];
    let args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(value))];
    given.args = FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses });
    ControlFlow::Continue(())
}
