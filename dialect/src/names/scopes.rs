//! The SELECTs around a place of a statement: the relations of each by their names, its columns, and its outputs so far.
//!
//! Shows: see `outer_columns.rs`

use datafusion::common::DFSchemaRef;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Select, SelectItem, TableFactor, TableWithJoins};

use crate::syntax::tree::ast;

/// What stands around a place.
#[derive(Debug)]
pub(crate) enum Scope {
    /// A SELECT.
    Select(Box<SelectScope>),
    /// A subquery in FROM, which does not see the relations beside it.
    Closed,
}

/// A SELECT, with its parts that were visited, which it gets back afterwards.
#[derive(Debug)]
pub(crate) struct SelectScope {
    relations: Vec<Relation>,
    /// FROM; empty until it was visited.
    pub(crate) from: Vec<TableWithJoins>,
    /// The outputs before the place.
    pub(crate) outputs: Vec<SelectItem>,
    /// WHERE.
    pub(crate) selection: Option<Expr>,
    /// The clause of the place.
    pub(crate) clause: Clause,
    /// The columns of FROM, once asked for; `None` within, where nobody can say.
    pub(crate) columns: Option<Option<DFSchemaRef>>,
    /// Whether FROM names columns of a query around that may be hidden by its own, which are not known before its end.
    pub(crate) is_open: bool,
}

/// A clause of a SELECT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    /// FROM.
    From,
    /// The outputs.
    Outputs,
    /// WHERE.
    Where,
    /// Those behind.
    Other,
}

/// A relation in FROM: its name, and the schema that stands before it.
#[derive(Debug)]
struct Relation {
    name: String,
    schema: Option<Ident>,
}

/// A column of a query around.
pub(crate) struct Outer {
    /// The schema of its relation, where it was written in FROM.
    pub(crate) schema: Option<Ident>,
    /// The positions of the SELECTs within that query that the column stands in.
    pub(crate) between: Vec<usize>,
}

impl SelectScope {
    /// The scope of a SELECT before anything of it is visited.
    pub(crate) fn of(select: &Select) -> Self {
        let mut relations = Vec::new();
        select.from.iter().for_each(|table| add_relations(table, &mut relations));
        Self {
            relations,
            from: Vec::new(),
            outputs: Vec::new(),
            selection: None,
            clause: Clause::From,
            columns: None,
            is_open: false,
        }
    }

    /// Gives a SELECT its parts back.
    pub(crate) fn restore(self, select: &mut Select) {
        select.from = self.from;
        select.projection = self.outputs;
        select.selection = self.selection;
    }
}

/// Whether a factor is a subquery that does not see the relations beside it.
pub(crate) fn is_closed(factor: &TableFactor) -> bool {
    matches!(factor, TableFactor::Derived { lateral: false, .. })
}

/// The positions of the SELECTs that a place sees, the innermost first.
pub(crate) fn visible(around: &[Scope]) -> impl Iterator<Item = usize> {
    let mut hidden = false;
    around.iter().enumerate().rev().filter_map(move |(at, scope)| match scope {
        Scope::Closed => {
            hidden = true;
            None
        }
        Scope::Select(_) if hidden => {
            hidden = false;
            None
        }
        Scope::Select(_) => Some(at),
    })
}

/// The column of a query around that names mean by its relation; `None` for any other names.
pub(crate) fn outer(around: &[Scope], names: &[Ident]) -> Option<Outer> {
    let (true, [relation, _, ..]) = (around.len() > 1, names) else { return None };
    let name = ast::normalized(relation);
    let mut between = Vec::new();
    for at in visible(around) {
        let Scope::Select(select) = &around[at] else { continue };
        match select.relations.iter().find(|relation| relation.name == name) {
            Some(_) if between.is_empty() => return None,
            Some(relation) => return Some(Outer { schema: relation.schema.clone(), between }),
            None => between.push(at),
        }
    }
    None
}

fn add_relations(table: &TableWithJoins, relations: &mut Vec<Relation>) {
    for factor in ast::factors(std::slice::from_ref(table)) {
        match factor {
            TableFactor::NestedJoin { table_with_joins, alias: None } => add_relations(table_with_joins, relations),
            TableFactor::Table { name, alias: None, .. } => {
                let mut parts = name.0.iter().rev().filter_map(|part| part.as_ident());
                if let Some(last) = parts.next() {
                    relations.push(Relation { name: ast::normalized(last), schema: parts.next().cloned() });
                }
            }
            TableFactor::Table { alias: Some(alias), .. }
            | TableFactor::Derived { alias: Some(alias), .. }
            | TableFactor::Function { alias: Some(alias), .. }
            | TableFactor::TableFunction { alias: Some(alias), .. }
            | TableFactor::UNNEST { alias: Some(alias), .. }
            | TableFactor::NestedJoin { alias: Some(alias), .. }
            | TableFactor::Pivot { alias: Some(alias), .. }
            | TableFactor::Unpivot { alias: Some(alias), .. } => {
                relations.push(Relation { name: ast::normalized(&alias.name), schema: None });
            }
            _ => {}
        }
    }
}
