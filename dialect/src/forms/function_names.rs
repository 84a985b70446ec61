//! Functions of DuckDB and PostgreSQL that DataFusion or the engine has under another name, or as an expression of a few
//! words.
//!
//! Upstream: none known
//! Shows: `SELECT year(DATE '2021-07-15'), string_split('a,b', ',')` gives `2021 | [a, b]`

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Array, BinaryOperator, CaseWhen, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, Value, VisitorMut,
};

use crate::syntax::tree::ast::{self, call};
use crate::syntax::tree::ast::{binary, cast, nested, number};
use crate::syntax::tree::walk::walk_outside_subqueries;

/// What is written, and what is read: with the same arguments.
const SYNONYMS: [(&str, &str); 31] = [
    ("prefix", "starts_with"),
    ("suffix", "ends_with"),
    ("lcase", "lower"),
    ("ucase", "upper"),
    ("ord", "unicode"),
    ("from_hex", "unhex"),
    ("split", "string_to_array"),
    ("string_split_regex", "regexp_split_to_array"),
    ("str_split_regex", "regexp_split_to_array"),
    ("list_value", "make_array"),
    ("list_pack", "make_array"),
    ("array_unique", "list_unique"),
    ("list_aggr", "list_aggregate"),
    ("array_aggr", "list_aggregate"),
    ("array_aggregate", "list_aggregate"),
    ("array_reverse_sort", "list_reverse_sort"),
    ("datesub", "date_sub"),
    ("gen_random_uuid", "uuid"),
    ("greatest_common_divisor", "gcd"),
    ("least_common_multiple", "lcm"),
    ("current_catalog", "current_database"),
    ("group_concat", "string_agg"),
    ("listagg", "string_agg"),
    ("last", "last_value"),
    ("quantile", "quantile_disc"),
    // DataFusion knows these, but `mean(x)` and `mean(x) FILTER (...)` are of one name there.
    ("mean", "avg"),
    ("covar", "covar_samp"),
    ("quantile_cont", "percentile_cont"),
    ("var_sample", "var"),
    ("var_samp", "var"),
    ("var_population", "var_pop"),
];

/// The parts of a moment: the function of a part's name, and the part.
const PARTS: [(&str, &str); 9] = [
    ("dayofweek", "dow"),
    ("weekday", "dow"),
    ("dayofmonth", "day"),
    ("dayofyear", "doy"),
    ("isodow", "isodow"),
    ("isoyear", "isoyear"),
    ("weekofyear", "week"),
    ("millisecond", "millisecond"),
    ("microsecond", "microsecond"),
];

/// Whether an expression is the empty string.
fn is_empty(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(&value.value, Value::SingleQuotedString(text) if text.is_empty()))
}

/// Gives a call the name that it is read as.
pub(crate) fn rename(name: &mut String, given: &mut Function) {
    if let Some((_, read)) = SYNONYMS.iter().find(|(written, _)| written == name) {
        *name = (*read).to_owned();
        given.name = ObjectName::from(vec![Ident::new(*read)]);
    }
    // The separator that DuckDB takes where none is given.
    if let ("string_agg", FunctionArguments::List(list)) = (name.as_str(), &mut given.args)
        && list.args.len() == 1
    {
        list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::text(","))));
    }
}

/// Gives the calls of an expression their names, outside subqueries.
pub(crate) fn rename_all(expr: &mut Expr) {
    struct Names;
    impl VisitorMut for Names {
        type Break = ();

        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let Expr::Function(given) = expr
                && let Some(mut name) = ast::function_name(&given.name)
            {
                rename(&mut name, given);
            }
            ControlFlow::Continue(())
        }
    }
    let _ = walk_outside_subqueries(expr, &mut Names);
}

/// The expression that a call of this name is read as, if it is another.
pub(crate) fn expression(name: &str, given: &Function, list: &FunctionArgumentList) -> Option<Expr> {
    if matches!(name, "percentile_cont" | "quantile_disc") {
        return quantiles(given, list);
    }
    if given.over.is_some() || given.filter.is_some() || !list.clauses.is_empty() {
        return None;
    }
    if name == "struct_pack" {
        return fields(list);
    }
    let args: Vec<Expr> = list.args.iter().map(unnamed).collect::<Option<_>>()?;
    let bigint = |expr| cast(expr, DataType::BigInt(None));
    let part = |part: &str, of: &Expr| bigint(call("date_part", vec![ast::text(part), of.clone()]));
    let read = match (name, args.as_slice()) {
        ("strlen", [text]) => bigint(call("octet_length", vec![text.clone()])),
        ("pg_typeof", [value]) => call("lower", vec![call("typeof", vec![value.clone()])]),
        ("struct_extract", [value, field]) => call("get_field", vec![value.clone(), field.clone()]),
        ("date_add", [moment, interval]) => {
            binary(nested(moment.clone()), BinaryOperator::Plus, nested(interval.clone()))
        }
        ("list_reverse_sort", [values]) => {
            call("array_sort", vec![values.clone(), ast::text("DESC"), ast::text("NULLS LAST")])
        }
        ("list_sort" | "array_sort", [values]) => {
            call("array_sort", vec![values.clone(), ast::text("ASC"), ast::text("NULLS LAST")])
        }
        ("list_sort" | "array_sort", [values, order]) => {
            call("array_sort", vec![values.clone(), order.clone(), ast::text("NULLS LAST")])
        }
        ("decade", [of]) => binary(part("year", of), BinaryOperator::Divide, number("10")),
        ("yearweek", [of]) => {
            let years = binary(part("isoyear", of), BinaryOperator::Multiply, number("100"));
            binary(years, BinaryOperator::Plus, part("week", of))
        }
        // DataFusion takes flags for a part of the pattern, and none of them for a fault in it.
        ("regexp_replace", [text, pattern, replacement, flags]) if is_empty(flags) => {
            call("regexp_replace", vec![text.clone(), pattern.clone(), replacement.clone()])
        }
        ("epoch", [of]) => call("date_part", vec![ast::text("epoch"), of.clone()]),
        (_, [of]) => part(PARTS.iter().find(|(function, _)| *function == name)?.1, of),
        _ => return None,
    };
    Some(read)
}

fn unnamed(arg: &FunctionArg) -> Option<Expr> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) => Some(arg.clone()),
        _ => None,
    }
}

/// `struct_pack(a := 1)` as `named_struct('a', 1)`.
fn fields(list: &FunctionArgumentList) -> Option<Expr> {
    let mut args = Vec::with_capacity(2 * list.args.len());
    for arg in &list.args {
        let (name, value) = match arg {
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. } => (name, value),
            FunctionArg::ExprNamed { name: Expr::Identifier(name), arg: FunctionArgExpr::Expr(value), .. } => {
                (name, value)
            }
            _ => return None,
        };
        args.extend([ast::text(ast::normalized(name)), value.clone()]);
    }
    (!args.is_empty()).then(|| call("named_struct", args))
}

/// `quantile_cont(x, [p, q])` as a list of both quantiles; NULL without values.
fn quantiles(given: &Function, list: &FunctionArgumentList) -> Option<Expr> {
    let [of, FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Array(Array { elem: shares, .. })))] =
        list.args.as_slice()
    else {
        return None;
    };
    let aggregate = |name: Option<&str>, args: Vec<FunctionArg>| {
        let mut aggregate = given.clone();
        if let Some(name) = name {
            aggregate.name = ObjectName::from(vec![Ident::new(name)]);
        }
        aggregate.args = FunctionArguments::List(FunctionArgumentList { args, ..list.clone() });
        Expr::Function(aggregate)
    };
    let arg = |expr: &Expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr.clone()));
    let quantiles = shares.iter().map(|share| aggregate(None, vec![of.clone(), arg(share)])).collect::<Vec<_>>();
    let any = binary(aggregate(Some("count"), vec![of.clone()]), BinaryOperator::Gt, number("0"));
    Some(Expr::Case {
        case_token: ast::no_token(),
        end_token: ast::no_token(),
        operand: None,
        conditions: vec![CaseWhen { condition: any, result: call("make_array", quantiles) }],
        else_result: None,
    })
}
