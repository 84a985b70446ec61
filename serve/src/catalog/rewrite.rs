//! Queries of PostgreSQL's catalog in words that DataFusion plans.

use std::collections::HashMap;
use std::ops::ControlFlow;

use bonnet_dialect::syntax::tree::ast::{self, name_parts};
use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    ObjectName, Query, Select, SelectItem, SetExpr, TableAlias, TableFactor, UnaryOperator, Value, VisitMut,
    VisitorMut, visit_expressions, visit_relations,
};

use super::constants::{CONSTANTS, Constant};
use super::functions::{
    ARGUMENTS, DEFINITION, FORMAT_TYPE, IS_VISIBLE, LITERAL, NULLABLE, PARTS, QUOTED, RELATION_NAME, RESULT,
    VIEW_DEFINITION,
};
use super::information::INFORMATION_SCHEMA;
use super::objects::{Objects, PG_CATALOG};
use super::{empty, information};
use crate::client_settings::VERSION;
use crate::types::{self, Oid};

/// The state of a connection, on which the answers of functions depend.
pub(super) struct ConnectionState<'a> {
    pub(super) objects: &'a Objects,
    pub(super) settings: &'a [(String, String)],
    pub(super) process: i32,
    /// The number of the transaction.
    pub(super) transaction: i64,
}

/// What a query asks for beside its rows.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Asked {
    /// Seconds to wait.
    pub(super) sleep: f64,
    /// A function that is named and not there.
    pub(super) missing: Option<String>,
    /// An argument that cannot be.
    pub(super) wrong: Option<String>,
}

/// Functions of the number of an object.
const OF_NUMBER: &[&str] = &[FORMAT_TYPE, IS_VISIBLE, VIEW_DEFINITION, ARGUMENTS, RESULT, DEFINITION];

/// Functions whose answer depends on the session.
const OF_SESSION: &[&str] = &[
    "array_lower",
    "array_upper",
    "current_catalog",
    "current_database",
    "current_role",
    "current_schema",
    "current_schemas",
    "current_setting",
    "current_user",
    "pg_backend_pid",
    "pg_current_xact_id",
    "pg_get_userbyid",
    "pg_sleep",
    "session_user",
    "set_config",
    "to_regclass",
    "to_regtype",
    "txid_current",
    "txid_current_if_assigned",
    "user",
    "version",
];

fn constant(value: Constant) -> Expr {
    match value {
        Constant::True => truth(true),
        Constant::False => truth(false),
        Constant::Zero => number(0),
        Constant::Text(value) => ast::text(value),
        Constant::Null(name) => null(name),
    }
}

/// Whether PostgreSQL has a function of this name that is answered here.
pub(super) fn is_function(name: &str) -> bool {
    OF_SESSION.contains(&name)
        || CONSTANTS.iter().any(|(known, _)| *known == name)
        || OF_NUMBER.contains(&name)
        || [QUOTED, PARTS, LITERAL, NULLABLE, IDENTITY].contains(&name)
}

/// Whether a type is that of references into the catalog, which no other statement has.
pub(super) fn is_reference(data_type: &DataType) -> bool {
    match data_type {
        DataType::Regclass => true,
        DataType::Custom(name, _) => name_parts(name).and_then(|parts| parts.last().cloned()).is_some_and(|name| {
            ["regclass", "regtype", "regnamespace", "regproc", "regrole"].contains(&name.to_lowercase().as_str())
        }),
        _ => false,
    }
}

/// The same as [`ARGUMENTS`].
const IDENTITY: &str = "pg_get_function_identity_arguments";

/// Rewrites a query of the catalog.
pub(super) fn rewrite(query: &mut Query, connection: &ConnectionState<'_>) -> Asked {
    let mut rewriter = Rewriter(connection, Asked::default());
    let _ = query.visit(&mut rewriter);
    rewriter.1
}

struct Rewriter<'a>(&'a ConnectionState<'a>, Asked);

impl VisitorMut for Rewriter<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<()> {
        if let Some(table) = information::key(name).filter(|_| name.0.len() > 1) {
            *name = ObjectName::from(vec![ast::quoted(table)]);
        }
        ControlFlow::Continue(())
    }

    // A table with a schema is called by its own name, whatever stands for it here.
    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias: alias @ None, args: None, .. } = factor
            && let Some(parts) =
                name_parts(name).filter(|parts| parts.len() > 1 && parts[parts.len() - 2] == INFORMATION_SCHEMA)
            && let Some(table) = parts.last()
        {
            let name = ast::quoted(table.clone());
            *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        name_columns(select);
        ControlFlow::Continue(())
    }

    // Subqueries that have no rows are told by their tables, before their parts are rewritten.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Subquery(query) if empty::is_empty(query) => *expr = null("TEXT"),
            // The schemas of the search path, which Grafana takes apart by functions in FROM.
            Expr::InSubquery { expr: tested, subquery, negated } if takes_search_path_apart(subquery) => {
                let objects = self.0.objects;
                let list = vec![ast::text(&objects.user), ast::text(&objects.schema)];
                *expr = Expr::InList { expr: tested.clone(), list, negated: *negated };
            }
            Expr::Cast { expr: inner, data_type, .. } if data_type.to_string().to_lowercase().ends_with("oid") => {
                if let Expr::Cast { expr: named, data_type, .. } = inner.as_ref()
                    && ["regproc", "regprocedure"]
                        .iter()
                        .any(|kind| data_type.to_string().to_lowercase().ends_with(kind))
                    && let Some(name) = text_of(named)
                {
                    let found = self.0.objects.function_number(name.split('(').next().unwrap_or_default().trim());
                    if found.is_none() {
                        self.1.missing = Some(name);
                    }
                    *expr = found.map_or_else(|| null("BIGINT"), number);
                }
            }
            Expr::Exists { subquery, negated } if empty::is_empty(subquery) => *expr = truth(*negated),
            Expr::InSubquery { subquery, negated, .. } if empty::is_empty(subquery) => *expr = truth(*negated),
            Expr::Subquery(query) => one_row(query),
            Expr::Case { operand: None, conditions, else_result, .. } => {
                let never = conditions.iter().position(|when| is_of_no_type(&when.condition));
                let typed = never.map(|at| null_of(&conditions[at].result));
                conditions.retain(|when| !is_of_no_type(&when.condition));
                if let (Some(typed), true) = (typed, conditions.is_empty()) {
                    let otherwise = else_result.take().map(|expr| *expr);
                    *expr = otherwise.filter(|expr| !is_null(expr)).unwrap_or(typed);
                }
            }
            // ARRAY(SELECT ...): of privileges, policies and memberships, which there are none of.
            Expr::Function(call) if matches!(call.args, FunctionArguments::Subquery(_)) => *expr = null("TEXT[]"),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let replaced = match expr {
            Expr::Collate { expr, .. } => Some(expr.as_ref().clone()),
            Expr::CompoundIdentifier(parts) if parts.len() == 3 && ast::normalized(&parts[0]) == PG_CATALOG => {
                Some(Expr::CompoundIdentifier(parts[1..].to_vec()))
            }
            Expr::BinaryOp { left, op, right } => {
                if let BinaryOperator::PGCustomBinaryOperator(name) = op
                    && let Some(known) = name.last().and_then(|name| operator(name))
                {
                    *op = known;
                }
                // A number as a text is a number, as in PostgreSQL.
                numeric_text(left, right);
                numeric_text(right, left);
                match (op, text_of(left), text_of(right)) {
                    (BinaryOperator::StringConcat, Some(left), Some(right)) => Some(ast::text(left + &right)),
                    _ => None,
                }
            }
            Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. } => {
                backslashes(pattern, escape_char);
                None
            }
            Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => {
                Some(ast::call("array_has", vec![right.as_ref().clone(), left.as_ref().clone()]))
            }
            Expr::Cast { expr, data_type, .. } => self.cast(expr, data_type),
            Expr::Function(call) => self.function(call),
            Expr::Value(value) => match &value.value {
                Value::EscapedStringLiteral(text) => Some(ast::text(text.clone())),
                _ => None,
            },
            _ => None,
        };
        if let Some(replaced) = replaced {
            *expr = replaced;
        }
        ControlFlow::Continue(())
    }
}

impl Rewriter<'_> {
    fn cast(&self, expr: &Expr, data_type: &mut DataType) -> Option<Expr> {
        let name = match data_type {
            DataType::Custom(name, _) => name_parts(name)?.last()?.to_lowercase(),
            DataType::Regclass => "regclass".to_owned(),
            DataType::Array(ArrayElemTypeDef::SquareBracket(item, _)) if is_number(item) => {
                return Some(cast(expr.clone(), "BIGINT[]"));
            }
            _ => return None,
        };
        let objects = self.0.objects;
        let to = |name: &str| Some(cast(expr.clone(), name));
        match (name.as_str(), text_of(expr)) {
            ("regclass", Some(name)) => Some(objects.number_of(&name).map_or_else(|| null("BIGINT"), number)),
            ("regclass", None) => Some(ast::call(RELATION_NAME, vec![cast(expr.clone(), "BIGINT")])),
            ("regtype", Some(name)) => Some(type_number(&name)),
            ("regtype", None) => Some(ast::call(FORMAT_TYPE, vec![cast(expr.clone(), "BIGINT")])),
            ("regnamespace", Some(name)) => {
                let found = objects.schemas.iter().find(|(_, schema)| *schema == name);
                Some(found.map_or_else(|| null("BIGINT"), |(oid, _)| number(*oid)))
            }
            ("regproc", Some(name)) => Some(ast::text(name.rsplit('.').next().unwrap_or_default())),
            ("oid" | "xid" | "int8", _) => to("BIGINT"),
            ("int4", _) => to("INTEGER"),
            ("int2", _) => to("SMALLINT"),
            ("bool", _) => to("BOOLEAN"),
            ("float8", _) => to("DOUBLE"),
            (
                "text" | "name" | "char" | "varchar" | "bpchar" | "regproc" | "regprocedure" | "regrole" | "regoper",
                _,
            ) => to("VARCHAR"),
            // Arrays of these, and types of whole rows: as they are.
            _ => Some(expr.clone()),
        }
    }

    fn function(&mut self, call: &mut Function) -> Option<Expr> {
        let parts = name_parts(&call.name)?;
        let name = match parts.as_slice() {
            [name] => name.to_lowercase(),
            [schema, name] if schema == PG_CATALOG => name.to_lowercase(),
            _ => return None,
        };
        call.name = ObjectName::from(vec![Ident::new(name.clone())]);
        let arguments = arguments(call);
        let first = arguments.first().cloned();
        let objects = self.0.objects;
        if let Some((_, constant)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            return Some(self::constant(*constant));
        }
        let setting = |name: &Expr| {
            let name = text_of(name)?.to_lowercase();
            self.0.settings.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
        };
        match name.as_str() {
            "version" => Some(ast::text(format!("PostgreSQL {VERSION}"))),
            "current_database" | "current_catalog" => Some(ast::text(&objects.database)),
            "current_schema" => Some(ast::text(&objects.schema)),
            // With those that are searched though nobody names them, or without.
            "current_schemas" => {
                let implicit = (!matches!(&first, Some(Expr::Value(value)) if value.value == Value::Boolean(false)))
                    .then(|| ast::text(PG_CATALOG));
                Some(ast::call(
                    "make_array",
                    implicit.into_iter().chain([ast::text(&objects.schema)]).collect::<Vec<_>>(),
                ))
            }
            "array_upper" => Some(match first {
                Some(Expr::Function(call))
                    if ast::function_name(&call.name).is_some_and(|name| name == "make_array") =>
                {
                    number(self::arguments(&call).len() as i64)
                }
                Some(list) => ast::call("array_length", vec![list]),
                None => null("INTEGER"),
            }),
            "array_lower" => Some(number(1)),
            "pg_sleep" => {
                let seconds = first.as_ref().and_then(seconds);
                match seconds {
                    Some(seconds) => self.1.sleep += seconds,
                    None => self.1.wrong = Some("pg_sleep takes a number of seconds, such as pg_sleep(0.5)".to_owned()),
                }
                Some(ast::text(""))
            }
            "txid_current" | "txid_current_if_assigned" | "pg_current_xact_id" => Some(number(self.0.transaction)),
            QUOTED | PARTS | LITERAL | NULLABLE => {
                Some(ast::call(&name, vec![cast(first.unwrap_or_else(|| null("TEXT")), "TEXT")]))
            }
            IDENTITY => Some(ast::call(ARGUMENTS, vec![cast(first.unwrap_or_else(|| null("BIGINT")), "BIGINT")])),
            "current_user" | "session_user" | "current_role" | "user" | "pg_get_userbyid" => {
                Some(ast::text(&objects.user))
            }
            "pg_backend_pid" => Some(number(self.0.process.into())),
            "current_setting" => Some(first.and_then(|name| setting(&name)).map_or_else(|| null("TEXT"), ast::text)),
            // What it would set is set by SET; the value is answered, as in PostgreSQL.
            "set_config" => Some(arguments.get(1).cloned().unwrap_or_else(|| null("TEXT"))),
            "to_regclass" => {
                let found = first.and_then(|name| objects.number_of(&text_of(&name)?));
                Some(found.map_or_else(|| null("BIGINT"), number))
            }
            "to_regtype" => {
                Some(first.and_then(|name| text_of(&name)).map_or_else(|| null("BIGINT"), |name| type_number(&name)))
            }
            _ if OF_NUMBER.contains(&name.as_str()) => {
                Some(ast::call(&name, vec![cast(first.unwrap_or_else(|| null("BIGINT")), "BIGINT")]))
            }
            _ => None,
        }
    }
}

/// The number of seconds that a literal is.
fn seconds(expr: &Expr) -> Option<f64> {
    let text = match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.clone(),
            _ => text_of(expr)?,
        },
        Expr::Cast { expr, .. } | Expr::Nested(expr) => return seconds(expr),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => return seconds(expr).map(|_| 0.0),
        _ => return None,
    };
    text.trim().parse().ok().filter(|seconds: &f64| (0.0..=1e9).contains(seconds))
}

/// Whether a subquery reads nothing but the parts of the setting `search_path`.
fn takes_search_path_apart(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    let reads_tables =
        visit_relations(query, |name| match name_parts(name).and_then(|parts| parts.last().cloned()).as_deref() {
            Some("generate_series" | "string_to_array" | "unnest") => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        });
    !select.from.is_empty()
        && reads_tables.is_continue()
        && query.to_string().contains("current_setting('search_path')")
}

/// Whether a condition asks for a kind of types that there is none of: domains, enumerations, ranges, rows.
fn is_of_no_type(condition: &Expr) -> bool {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = condition else { return false };
    column_name(left) == "typtype" && text_of(right).is_some_and(|kind| !["b", "p"].contains(&kind.as_str()))
}

/// NULL of the type of a result that never is: a list where it gathers one, else a number of the catalog.
fn null_of(result: &Expr) -> Expr {
    let gathers = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(Expr::Function(call))
        | SelectItem::ExprWithAlias { expr: Expr::Function(call), .. } => {
            ast::function_name(&call.name).is_some_and(|name| name == "array_agg")
        }
        _ => false,
    };
    let is_list =
        matches!(result, Expr::Subquery(query) if empty::items(query).is_some_and(|items| items.iter().any(gathers)));
    null(if is_list { "TEXT[]" } else { "BIGINT" })
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if value.value == Value::Null)
}

/// Whether a type is one of numbers of the catalog.
fn is_number(data_type: &DataType) -> bool {
    ["oid", "int2", "int4", "int8"].contains(&data_type.to_string().to_lowercase().as_str())
}

/// The types of parameters by their numbers, where the statement casts them to one: `$1::oid[]`.
pub(super) fn parameter_types(query: &Query) -> HashMap<usize, Oid> {
    let mut found = HashMap::new();
    let _ = visit_expressions(query, |expr| {
        if let Expr::Cast { expr, data_type, .. } = expr
            && let Expr::Value(value) = expr.as_ref()
            && let Value::Placeholder(name) = &value.value
            && let Some(number) = name.strip_prefix('$').and_then(|digits| digits.parse().ok())
        {
            let name = data_type.to_string().to_lowercase();
            let item = name.strip_suffix("[]").unwrap_or(&name);
            // Named in full, as asyncpg does: "pg_catalog"."int8".
            let item = item.rsplit('.').next().unwrap_or(item).trim_matches('"');
            let known = types::TYPES.iter().find(|known| known.name == item || known.sql == item);
            found.extend(known.map(|known| (number, if name.ends_with("[]") { known.array } else { known.oid })));
        }
        ControlFlow::<()>::Continue(())
    });
    found
}

/// The number of the type of this name; NULL where there is none.
fn type_number(name: &str) -> Expr {
    let found = types::TYPES.iter().find(|known| known.name == name || known.sql == name);
    found.map_or_else(|| null("BIGINT"), |known| number(known.oid.into()))
}

/// A text that is compared with a column of numbers.
fn numeric_text(text: &mut Box<Expr>, other: &Expr) {
    let is_number = |expr: &Expr| match expr {
        Expr::Identifier(name) => is_number_column(&name.value),
        Expr::CompoundIdentifier(names) => names.last().is_some_and(|name| is_number_column(&name.value)),
        _ => false,
    };
    if is_number(other)
        && let Some(value) = text_of(text).and_then(|value| value.trim().parse().ok())
    {
        **text = number(value);
    }
}

/// A pattern with a backslash in place of its own character before what is meant as it is: DataFusion knows no other.
fn backslashes(pattern: &mut Box<Expr>, escape: &mut Option<datafusion::sql::sqlparser::ast::ValueWithSpan>) {
    let character = match escape.as_ref().map(|value| &value.value) {
        Some(Value::SingleQuotedString(text)) if text.chars().count() == 1 => text.chars().next(),
        _ => None,
    };
    let (Some(character), Some(text)) = (character, text_of(pattern)) else { return };
    **pattern = ast::text(text.replace('\\', "\\\\").replace(character, "\\"));
    *escape = None;
}

fn is_number_column(name: &str) -> bool {
    name.ends_with("oid") || name.ends_with("relid") || ["relnamespace", "attnum", "objsubid"].contains(&name)
}

/// A subquery for one value, as an aggregate: DataFusion has no other that depends on the rows around it.
fn one_row(query: &mut Query) {
    if let SetExpr::Select(select) = query.body.as_mut()
        && let [SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }] =
            select.projection.as_mut_slice()
        && !matches!(expr, Expr::Function(call) if ast::function_name(&call.name).is_some_and(|name| name == "count" || name == "max"))
    {
        *expr = ast::call("max", vec![expr.clone()]);
        query.order_by = None;
        query.limit_clause = None;
    }
}

/// Gives the columns of a SELECT the names that PostgreSQL gives them, each once.
fn name_columns(select: &mut Select) {
    let mut taken: Vec<String> = Vec::new();
    let has_star = select
        .projection
        .iter()
        .any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
    for item in &mut select.projection {
        let (expr, name) = match item {
            // The star has the column too.
            SelectItem::UnnamedExpr(expr @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_))) if has_star => {
                (expr.clone(), format!("{}_1", column_name(expr)))
            }
            SelectItem::UnnamedExpr(expr) => (expr.clone(), column_name(expr)),
            SelectItem::ExprWithAlias { expr, alias } => (expr.clone(), ast::normalized(alias)),
            _ => continue,
        };
        let times = taken.iter().filter(|known| **known == name).count();
        taken.push(name.clone());
        let name = if times == 0 { name } else { format!("{name}_{times}") };
        *item = SelectItem::ExprWithAlias { expr, alias: ast::quoted(name) };
    }
}

fn column_name(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(name) => ast::normalized(name),
        Expr::CompoundIdentifier(names) => names.last().map(ast::normalized).unwrap_or_default(),
        Expr::Function(call) => name_parts(&call.name).and_then(|parts| parts.last().cloned()).unwrap_or_default(),
        Expr::Cast { expr, .. } | Expr::Collate { expr, .. } | Expr::Nested(expr) => column_name(expr),
        Expr::Case { .. } => "case".to_owned(),
        Expr::Subquery(query) => match empty::items(query) {
            Some([SelectItem::UnnamedExpr(expr)]) => column_name(expr),
            Some([SelectItem::ExprWithAlias { alias, .. }]) => ast::normalized(alias),
            _ => "?column?".to_owned(),
        },
        _ => "?column?".to_owned(),
    }
}

fn operator(name: &str) -> Option<BinaryOperator> {
    Some(match name {
        "~" => BinaryOperator::PGRegexMatch,
        "~*" => BinaryOperator::PGRegexIMatch,
        "!~" => BinaryOperator::PGRegexNotMatch,
        "!~*" => BinaryOperator::PGRegexNotIMatch,
        "~~" => BinaryOperator::PGLikeMatch,
        "!~~" => BinaryOperator::PGNotLikeMatch,
        "=" => BinaryOperator::Eq,
        "<>" => BinaryOperator::NotEq,
        "||" => BinaryOperator::StringConcat,
        _ => return None,
    })
}

fn arguments(call: &Function) -> Vec<Expr> {
    let FunctionArguments::List(list) = &call.args else { return Vec::new() };
    let expr = |arg: &FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    list.args.iter().filter_map(expr).collect()
}

/// The text of a literal.
fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text.clone()),
            _ => None,
        },
        Expr::Cast { expr, .. } | Expr::Nested(expr) => text_of(expr),
        _ => None,
    }
}

fn cast(expr: Expr, name: &str) -> Expr {
    let data_type = match name {
        "BIGINT" => DataType::BigInt(None),
        "INTEGER" => DataType::Integer(None),
        "SMALLINT" => DataType::SmallInt(None),
        "BOOLEAN" => DataType::Boolean,
        "DOUBLE" => DataType::DoublePrecision,
        "TEXT[]" => DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(DataType::Varchar(None)), None)),
        "BIGINT[]" => DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(DataType::BigInt(None)), None)),
        _ => DataType::Varchar(None),
    };
    Expr::Cast {
        kind: datafusion::sql::sqlparser::ast::CastKind::Cast,
        expr: Box::new(expr),
        data_type,
        array: false,
        format: None,
    }
}

fn number(value: i64) -> Expr {
    Expr::Value(Value::Number(value.to_string(), false).into())
}

fn truth(value: bool) -> Expr {
    Expr::Value(Value::Boolean(value).into())
}

fn null(name: &str) -> Expr {
    cast(Expr::Value(Value::Null.into()), name)
}
