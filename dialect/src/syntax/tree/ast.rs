//! Small makers and readers of sqlparser's trees.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::common;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, FromTable, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, GroupByExpr, Ident, ObjectName, ObjectNamePart, Query, SchemaName, Select, SelectFlavor,
    SelectItem, SetExpr, Spanned, Statement, TableAlias, TableFactor, TableFunctionArgs, TableWithJoins, Value, Values,
    Visit, Visitor, WildcardAdditionalOptions,
};
use datafusion::sql::sqlparser::tokenizer::{Location, Span};

use crate::syntax::tree::walk;

/// The table of this name.
pub fn table(name: ObjectName) -> TableFactor {
    TableFactor::Table {
        name,
        alias: None,
        args: None,
        with_hints: vec![],
        version: None,
        with_ordinality: false,
        partitions: vec![],
        json_path: None,
        sample: None,
        index_hints: vec![],
    }
}

/// Makes the table a call with these arguments.
pub fn set_args(table: &mut TableFactor, values: Vec<FunctionArg>) {
    if let TableFactor::Table { args, .. } = table {
        *args = Some(TableFunctionArgs { args: values, settings: None });
    }
}

/// `AS name`
pub fn alias(name: impl Into<String>) -> TableAlias {
    let name = name.into();
    let name = if identifier(&name) == name { Ident::new(name) } else { quoted(name) };
    TableAlias { explicit: true, name, columns: vec![], at: None }
}

/// `(query) AS alias`
pub fn derived(query: Query, alias: Option<TableAlias>) -> TableFactor {
    TableFactor::Derived { lateral: false, subquery: Box::new(query), alias, sample: None }
}

/// `SELECT * FROM factor`
pub fn select_all(factor: TableFactor) -> Query {
    select(vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())], factor, vec![])
}

/// `SELECT * FROM from`
pub fn select_all_from(from: Vec<TableWithJoins>) -> Query {
    let mut query = select_all(table(ObjectName(vec![])));
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.from = from;
    }
    query
}

/// Puts VALUES into a FROM, `SELECT * FROM (VALUES ...)`; any other body stays.
pub(crate) fn set_values_apart(body: &mut SetExpr) {
    if matches!(body, SetExpr::Values(_)) {
        let nothing = SetExpr::Values(Values { explicit_row: false, value_keyword: false, rows: Vec::new() });
        let values = query(std::mem::replace(body, nothing));
        *body = *select_all(derived(values, None)).body;
    }
}

/// The tables of FROM, those that are joined among them.
pub(crate) fn factors(from: &[TableWithJoins]) -> impl Iterator<Item = &TableFactor> {
    from.iter().flat_map(|table| std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)))
}

/// `SELECT projection FROM factor GROUP BY group_by`
pub fn select(projection: Vec<SelectItem>, factor: TableFactor, group_by: Vec<Expr>) -> Query {
    query(SetExpr::Select(Box::new(Select {
        select_token: AttachedToken::empty(),
        optimizer_hints: vec![],
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection,
        exclude: None,
        into: None,
        from: vec![TableWithJoins { relation: factor, joins: vec![] }],
        lateral_views: vec![],
        prewhere: None,
        selection: None,
        connect_by: vec![],
        group_by: GroupByExpr::Expressions(group_by, vec![]),
        cluster_by: vec![],
        distribute_by: vec![],
        sort_by: vec![],
        having: None,
        named_window: vec![],
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    })))
}

/// The query of this body alone.
pub fn query(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: vec![],
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: vec![],
    }
}

/// The token of a synthesised keyword, without a span.
pub fn no_token() -> AttachedToken {
    AttachedToken::empty()
}

/// `name(args)`
pub fn call(name: &str, args: impl IntoIterator<Item = Expr>) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect(),
            clauses: vec![],
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: vec![],
    })
}

/// A text literal.
pub fn text(value: impl Into<String>) -> Expr {
    Expr::Value(Value::SingleQuotedString(value.into()).into())
}

/// The first of `name_1`, `name_2`, ... that is not taken; then it is.
pub(crate) fn numbered(name: &str, taken: &mut HashSet<String>) -> String {
    let mut number = 1;
    loop {
        let numbered = format!("{name}_{number}");
        if taken.insert(numbered.clone()) {
            return numbered;
        }
        number += 1;
    }
}

/// A name that SQL reads back as it is, whatever it contains.
pub fn quoted(name: impl Into<String>) -> Ident {
    Ident::with_quote('"', name)
}

/// The parts of a name: a part in quotes as it is, others in lower case.
pub fn name_parts(name: &ObjectName) -> Option<Vec<String>> {
    name.0.iter().map(|part| part.as_ident().map(normalized)).collect()
}

/// The single part of a function's name in lower case; `None` for qualified names.
pub fn function_name(name: &ObjectName) -> Option<String> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => Some(ident.value.to_ascii_lowercase()),
        _ => None,
    }
}

/// The name that an identifier stands for: as written in quotes, else in lower case.
pub fn normalized(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_ascii_lowercase(),
    }
}

/// The name written as SQL, in quotes where it needs them.
pub fn identifier(name: &str) -> String {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|first| first.is_ascii_lowercase() || first == '_')
        && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The place of the name that a statement makes, changes or drops; empty for a statement without one.
pub fn object_span(statement: &SqlStatement) -> Span {
    let statement = match statement {
        SqlStatement::Statement(statement) => statement,
        SqlStatement::CreateExternalTable(create) => return create.name.span(),
        _ => return Span::empty(),
    };
    match statement.as_ref() {
        Statement::CreateTable(create) => create.name.span(),
        Statement::CreateView(view) => view.name.span(),
        Statement::CreateSchema { schema_name, .. } => match schema_name {
            SchemaName::Simple(name) | SchemaName::NamedAuthorization(name, _) => name.span(),
            SchemaName::UnnamedAuthorization(name) => name.span,
        },
        Statement::Drop { names, .. } => names.first().map_or_else(Span::empty, Spanned::span),
        Statement::AlterTable(alter) => alter.name.span(),
        Statement::Insert(insert) => insert.table.span(),
        Statement::Update(update) => update.table.relation.span(),
        Statement::Delete(delete) => {
            let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
            tables.first().map_or_else(Span::empty, |table| table.relation.span())
        }
        _ => Span::empty(),
    }
}

/// A place that DataFusion names, as the parser has it.
pub fn parser_span(span: common::Span) -> Span {
    let location = |at: common::Location| Location::new(at.line, at.column);
    Span::new(location(span.start), location(span.end))
}

/// The columns that an expression reads, by their own names, and the qualifier that was written.
pub fn columns<T: Visit>(expr: &T) -> Vec<Vec<Ident>> {
    struct Columns(Vec<Vec<Ident>>);
    impl Visitor for Columns {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Identifier(name) => self.0.push(vec![name.clone()]),
                Expr::CompoundIdentifier(names) => self.0.push(names.clone()),
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    let mut columns = Columns(Vec::new());
    let _ = expr.visit(&mut columns);
    columns.0
}

/// The first expression within an expression for which something holds, not counting those of subqueries.
pub fn find(expr: &Expr, holds: impl Fn(&Expr) -> bool) -> Option<Expr> {
    walk::find(expr, &holds)
}

/// A number as it is written.
pub fn number(text: &str) -> Expr {
    Expr::Value(Value::Number(text.to_owned(), false).into())
}

/// The expression in parentheses, where it has operators.
pub fn nested(expr: Expr) -> Expr {
    match expr {
        Expr::BinaryOp { .. } | Expr::UnaryOp { .. } => Expr::Nested(Box::new(expr)),
        other => other,
    }
}

/// The expression, with NULL left in its place.
pub fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Value(Value::Null.into()))
}

/// `CAST(expr AS data_type)`.
pub fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(expr), data_type, array: false, format: None }
}

/// An operator between two expressions, each in parentheses where it has operators itself.
pub fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(nested(left)), op, right: Box::new(nested(right)) }
}
