//! Rewrites DuckDB and PostgreSQL syntax to what DataFusion plans.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/19288>
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(a)`
//! Shows: `SELECT 2 ^ 3, ~5, 7 // 2` gives `8.0 | -6 | 3`
//! Shows: `SELECT 3 = ANY([1, NULL])` gives `NULL`

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    AccessExpr, BinaryOperator, CaseWhen, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, Ident, LimitClause, NullTreatment, ObjectName,
    OrderByExpr, OrderByOptions, Query, Select, SelectItem, SetExpr, Spanned, Subscript, TableFactor, TimezoneInfo,
    UnaryOperator, Value, ValueWithSpan, VisitorMut, WindowSpec, WindowType,
};
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::forms::partial_times::completed;
use crate::forms::{computed_rows, exact_casts, files, function_names, intervals, repeated_draws, rows_in, show};
use crate::names::pivot_values;
use crate::syntax::tree::ast::{self, binary, call, cast, nested, number, take};
use crate::syntax::tree::growth::{self, Growth};
use crate::syntax::tree::visit::visit_statement;
use crate::syntax::tree::walk::{Flow, flow, result, walk_outside_subqueries};
use crate::{Error, ErrorKind, Raised, Result};

/// So many digits a DOUBLE tells apart at most.
const DOUBLE_DIGITS: usize = 17;

/// Rewrites a statement to what DataFusion plans. Whether it has a PIVOT without a list of values.
///
/// # Errors
/// If DataFusion has no equivalent of its syntax, or a file is read with wrong arguments.
pub(crate) fn translate(statement: &mut SqlStatement) -> Result<bool> {
    show::as_query(statement);
    let mut translator = Translator { has_open_pivot: false, growth: Growth::default() };
    result(visit_statement(statement, &mut translator))?;
    Ok(translator.has_open_pivot)
}

fn refuse(at: Span, text: impl Into<String>) -> Flow {
    ControlFlow::Break(Box::new(Error::statement_at(at, text)))
}

struct Translator {
    has_open_pivot: bool,
    growth: Growth,
}

impl VisitorMut for Translator {
    type Break = Box<Error>;

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        flow(repeated_draws::check(query))?;
        if let SetExpr::Table(table) = query.body.as_ref() {
            let mut parts = Vec::new();
            parts.extend(table.schema_name.iter().map(Ident::new));
            parts.extend(table.table_name.iter().map(Ident::new));
            *query.body = *ast::select_all(ast::table(ObjectName::from(parts))).body;
        }
        computed_rows::select(&mut query.body);
        fetch(query)
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        flow(growth::check_laterals(select))?;
        qualify(select);
        joined_texts(select);
        if let Some(condition) = &mut select.selection {
            rows_in::in_condition(condition);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        series(factor);
        self.has_open_pivot |= pivot_values::is_open(factor);
        flow(files::read(factor))
    }

    fn pre_visit_expr(&mut self, _: &mut Expr) -> Flow {
        self.growth.enter();
        ControlFlow::Continue(())
    }

    // Operands are translated before the operator moves: what it becomes is not looked at again.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        flow(self.growth.leave(expr))?;
        match expr {
            Expr::BinaryOp { .. } => operator(expr),
            Expr::UnaryOp { op: UnaryOperator::BitwiseNot, expr: of } => {
                *expr = complement(take(of));
                ControlFlow::Continue(())
            }
            Expr::SimilarTo { .. } => similar_to(expr),
            Expr::AtTimeZone { timestamp, time_zone } => {
                *expr = call("at_time_zone", [take(timestamp), take(time_zone)]);
                ControlFlow::Continue(())
            }
            Expr::AnyOp { .. } => {
                any_item(expr);
                ControlFlow::Continue(())
            }
            Expr::InSubquery { .. } => {
                rows_in::as_value(expr);
                ControlFlow::Continue(())
            }
            Expr::Interval(_) => {
                intervals::write_out_time(expr);
                ControlFlow::Continue(())
            }
            Expr::CompoundFieldAccess { access_chain, .. } => {
                access_chain.iter_mut().for_each(fill_bounds);
                ControlFlow::Continue(())
            }
            // Under one name, so that two of them are told apart.
            Expr::Position { expr: part, r#in: text } => {
                *expr = call("strpos", [take(text), take(part)]);
                ControlFlow::Continue(())
            }
            Expr::Cast { expr: of, data_type, .. } => {
                exact_casts::cast_numbers(of, data_type);
                intervals::write_out_time(expr);
                ControlFlow::Continue(())
            }
            Expr::Value(ValueWithSpan { value: Value::Number(number, _), .. }) => {
                if let Some(decimal) = long_number(number) {
                    *expr = decimal;
                }
                ControlFlow::Continue(())
            }
            Expr::Function(call) => {
                null_treatment(call);
                growth::flatten(call);
                match ast::function_name(&call.name) {
                    Some(mut name) => {
                        function_names::rename(&mut name, call);
                        function(&name, expr)
                    }
                    None => ControlFlow::Continue(()),
                }
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// A series in FROM of which one bound is DATE + INTERVAL, a TIMESTAMP: the function takes bounds of one type.
fn series(factor: &mut TableFactor) {
    let TableFactor::Table { name, args: Some(args), .. } = factor else { return };
    if !ast::function_name(name).is_some_and(|name| matches!(name.as_str(), "range" | "generate_series")) {
        return;
    }
    let bounds = args.args.iter_mut().take(2).filter_map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(bound)) => Some(bound),
        _ => None,
    });
    let mut bounds: Vec<&mut Expr> = bounds.collect();
    if bounds.iter().any(|bound| adds_interval(bound)) {
        for bound in &mut bounds {
            **bound = cast(nested(take(bound)), DataType::Timestamp(None, TimezoneInfo::None));
        }
    }
}

fn adds_interval(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => adds_interval(inner),
        Expr::BinaryOp { op: BinaryOperator::Plus | BinaryOperator::Minus, .. } => {
            ast::find(expr, |part| matches!(part, Expr::Interval(_))).is_some()
        }
        _ => false,
    }
}

/// `[2:]` goes to the end of a list, `[:2]` begins at its start.
fn fill_bounds(access: &mut AccessExpr) {
    if let AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride: None }) = access {
        lower_bound.get_or_insert_with(|| number("1"));
        upper_bound.get_or_insert_with(|| Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(number("1")) });
    }
}

/// Several `string_agg` with an ORDER BY: DataFusion orders the rows once, for all of them, but each list by itself.
fn joined_texts(select: &mut Select) {
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
            function_names::rename_all(expr);
        }
    }
    let outputs = || select.projection.iter().filter_map(output);
    let is_ordered = |expr: &Expr| matches!(expr, Expr::Function(given) if ordered_texts(given).is_some());
    if outputs().filter(|expr| ast::find(expr, is_ordered).is_some()).count() < 2 {
        return;
    }
    struct Lists;
    impl VisitorMut for Lists {
        type Break = ();

        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let Expr::Function(given) = expr
                && let Some((text, separator)) = ordered_texts(given)
            {
                let known = Expr::IsNotNull(Box::new(nested(text.clone())));
                let separator = separator.clone();
                if let FunctionArguments::List(list) = &mut given.args {
                    list.args.truncate(1);
                }
                given.filter = Some(Box::new(match given.filter.take() {
                    Some(filter) => binary(known, BinaryOperator::And, nested(*filter)),
                    None => known,
                }));
                given.name = ObjectName::from(vec![Ident::new("array_agg")]);
                *expr = call("array_to_string", [take(expr), separator]);
            }
            ControlFlow::Continue(())
        }
    }
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
            let _ = walk_outside_subqueries(expr, &mut Lists);
        }
    }
}

fn output(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// The text and the separator of `string_agg(text, separator ORDER BY ...)`, if the separator is a constant.
fn ordered_texts(given: &Function) -> Option<(&Expr, &Expr)> {
    let FunctionArguments::List(list) = &given.args else { return None };
    let ordered = list.clauses.iter().any(|clause| matches!(clause, FunctionArgumentClause::OrderBy(_)));
    if !ordered || given.over.is_some() || ast::function_name(&given.name).as_deref() != Some("string_agg") {
        return None;
    }
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(text)), FunctionArg::Unnamed(FunctionArgExpr::Expr(separator))]
            if is_text(separator) =>
        {
            Some((text, separator))
        }
        _ => None,
    }
}

/// `FETCH FIRST n ROWS ONLY` is `LIMIT n`.
fn fetch(query: &mut Query) -> Flow {
    let Some(fetch) = query.fetch.take() else { return ControlFlow::Continue(()) };
    if fetch.with_ties || fetch.percent {
        let error = Raised::new(ErrorKind::NotSupported, format!("{fetch} is not supported"));
        let advice = "FETCH FIRST n ROWS ONLY, or rank() OVER (ORDER BY ...) for ties";
        return ControlFlow::Break(Box::new(error.advise(advice).at(fetch.span()).into()));
    }
    let at = fetch.span();
    let rows = fetch.quantity.unwrap_or_else(|| number("1"));
    match &mut query.limit_clause {
        None => {
            query.limit_clause = Some(LimitClause::LimitOffset { limit: Some(rows), offset: None, limit_by: vec![] })
        }
        Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => *limit = Some(rows),
        Some(_) => return refuse(at, "LIMIT and FETCH say the same: give one of them"),
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
    *condition = binary(take(condition), BinaryOperator::And, number);
}

/// `x = ANY (list)` as `NOT x <> ALL (list)`: DataFusion's answer is false where a NULL in the list leaves it open.
fn any_item(expr: &mut Expr) {
    let Expr::AnyOp { left, compare_op, right, .. } = expr else { return };
    let negated = match compare_op {
        BinaryOperator::Eq => BinaryOperator::NotEq,
        BinaryOperator::NotEq => BinaryOperator::Eq,
        BinaryOperator::Lt => BinaryOperator::GtEq,
        BinaryOperator::GtEq => BinaryOperator::Lt,
        BinaryOperator::Gt => BinaryOperator::LtEq,
        BinaryOperator::LtEq => BinaryOperator::Gt,
        _ => return,
    };
    if matches!(right.as_ref(), Expr::Subquery(_)) {
        return;
    }
    let (left, right) = (Box::new(take(left)), Box::new(take(right)));
    let all = Expr::Nested(Box::new(Expr::AllOp { left, compare_op: negated, right }));
    *expr = Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(all) };
}

/// `a // b` is the quotient, of integers an integer; `a ^ b` the power, a DOUBLE.
fn operator(expr: &mut Expr) -> Flow {
    let Expr::BinaryOp { left, op, right } = expr else { return ControlFlow::Continue(()) };
    match op {
        BinaryOperator::DuckIntegerDivide | BinaryOperator::MyIntegerDivide => *op = BinaryOperator::Divide,
        BinaryOperator::BitwiseXor => {
            *expr = power(take(left), take(right));
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
    let mut args = vec![take(text), take(pattern)];
    args.extend(escape_char.take().map(Expr::Value));
    let matches = call("similar_to", args);
    *expr = match negated {
        true => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(matches) },
        false => matches,
    };
    ControlFlow::Continue(())
}

/// A number with more digits than a DOUBLE tells apart, and too large for a BIGINT, as a decimal.
fn long_number(text: &str) -> Option<Expr> {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let whole = text.parse::<u64>().is_ok();
    (digits > DOUBLE_DIGITS && !whole).then(|| exact_casts::decimal(text)).flatten()
}

/// `first_value(x IGNORE NULLS)` as `first_value(x) IGNORE NULLS`.
fn null_treatment(call: &mut Function) {
    let FunctionArguments::List(list) = &mut call.args else { return };
    list.clauses.retain(|clause| match clause {
        FunctionArgumentClause::IgnoreOrRespectNulls(treatment) if call.null_treatment.is_none() => {
            call.null_treatment = Some(*treatment);
            false
        }
        _ => true,
    });
}

/// Refuses offsets of window functions that DataFusion takes for others: NULL for 0, and negative ones for those from the end.
fn check_offset(name: &str, call: &Function) -> Flow {
    let FunctionArguments::List(list) = &call.args else { return ControlFlow::Continue(()) };
    let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(offset))) = list.args.get(1) else {
        return ControlFlow::Continue(());
    };
    let is_null = matches!(offset, Expr::Value(ValueWithSpan { value: Value::Null, .. }));
    let is_negative = exact_casts::number(offset).is_some_and(|number| number.starts_with('-'));
    match name {
        "lag" | "lead" if is_null => {
            refuse(call.name.span(), format!("{name}: the offset is NULL: give a number of rows"))
        }
        "nth_value" if is_null || is_negative => {
            refuse(call.name.span(), format!("nth_value: n is {offset}: rows are numbered from 1 on"))
        }
        _ => ControlFlow::Continue(()),
    }
}

/// Functions that DataFusion has under another name, or as an expression.
fn function(name: &str, expr: &mut Expr) -> Flow {
    let Expr::Function(given) = expr else { return ControlFlow::Continue(()) };
    check_offset(name, given)?;
    let FunctionArguments::List(list) = &given.args else { return ControlFlow::Continue(()) };
    if let Some(read) = function_names::expression(name, given, list) {
        *expr = nested(read);
        return ControlFlow::Continue(());
    }
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
    let translation = match (name, <[Expr; 2]>::try_from(args.clone()), args.len()) {
        ("arg_max" | "argmax" | "max_by", Ok([value, by]), _) => return first(given, value, by, false),
        ("arg_min" | "argmin" | "min_by", Ok([value, by]), _) => return first(given, value, by, true),
        ("arg_max" | "argmax" | "max_by" | "arg_min" | "argmin" | "min_by", ..) => {
            let text = format!("{name} takes the value to answer and the value to compare: {name}(name, score)");
            return refuse(given.name.span(), text);
        }
        ("list" | "first", _, 1) => {
            let renamed = if name == "list" { "array_agg" } else { "first_value" };
            given.name = ObjectName::from(vec![Ident::new(renamed)]);
            return ControlFlow::Continue(());
        }
        // The sum of the conditions as 0 and 1: NULL without any, as in DuckDB.
        ("count_if" | "countif", Err(args), 1) => {
            let condition = args.into_iter().next().unwrap_or_else(|| Expr::Value(Value::Null.into()));
            let one = cast(cast(nested(condition), DataType::Boolean), DataType::BigInt(None));
            given.name = ObjectName::from(vec![Ident::new("sum")]);
            if let FunctionArguments::List(list) = &mut given.args {
                list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(one))];
            }
            return ControlFlow::Continue(());
        }
        // The first value that there is, in this order.
        ("any_value", _, 1) if !list.clauses.is_empty() => {
            given.name = ObjectName::from(vec![Ident::new("first_value")]);
            given.null_treatment = Some(NullTreatment::IgnoreNulls);
            return ControlFlow::Continue(());
        }
        _ if !plain => return ControlFlow::Continue(()),
        ("year" | "month" | "day" | "hour" | "minute" | "second" | "quarter" | "week", _, 1) => {
            let part = Expr::Value(Value::SingleQuotedString(name.to_owned()).into());
            cast(call("date_part", std::iter::once(part).chain(args)), DataType::BigInt(None))
        }
        ("string_split" | "str_split", Ok([text, separator]), _) => call("string_to_array", [text, separator]),
        ("datediff", _, 3) => call("date_diff", args),
        ("instr" | "position", Ok([text, part]), _) => call("strpos", [text, part]),
        ("regexp_matches", Ok([text, pattern]), _) => call("regexp_like", [text, pattern]),
        ("variance", _, 1) => call("var_samp", args),
        ("mod", Ok([left, right]), _) => binary(left, BinaryOperator::Modulo, right),
        ("xor", Ok([left, right]), _) => binary(left, BinaryOperator::PGBitwiseXor, right),
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
        ("strptime", Ok([text, format]), _) => {
            let (text, format) = completed(text, format);
            call("to_timestamp_micros", [text, chrono_format(format)])
        }
        _ => return ControlFlow::Continue(()),
    };
    *expr = nested(translation);
    ControlFlow::Continue(())
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(_), .. }))
}

/// DuckDB's codes of fractions of a second: microseconds and milliseconds.
fn chrono_format(format: Expr) -> Expr {
    let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = &format else { return format };
    let mut chars = text.chars();
    let mut translation = String::new();
    while let Some(c) = chars.next() {
        translation.push(c);
        if c != '%' {
            continue;
        }
        match chars.next() {
            Some('f') => translation += "6f",
            Some('g') => translation += "3f",
            Some(code) => translation.push(code),
            None => {}
        }
    }
    ast::text(translation)
}

/// `arg_max(value, by)`: the value of the row whose `by` is the largest; of several, the smallest value.
fn first(given: &mut Function, value: Expr, by: Expr, ascending: bool) -> Flow {
    if given.over.is_some() {
        let error = Raised::new(ErrorKind::NotSupported, format!("{} OVER is not supported", given.name));
        let error = error.advise("first_value(value) OVER (ORDER BY ...)").at(given.name.span());
        return ControlFlow::Break(Box::new(error.into()));
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
    let mut keys = vec![order(&by, ascending)];
    if by != value {
        keys.push(order(&value, true));
    }
    let clauses = vec![FunctionArgumentClause::OrderBy(keys)];
    let args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(value))];
    given.args = FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses });
    ControlFlow::Continue(())
}
