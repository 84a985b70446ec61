//! Columns of queries around, of a relation whose name is that of a column, too: `FROM t a WHERE EXISTS (SELECT 1 FROM u WHERE
//! u.b = a.b)`, where u has a column a.
//!
//! DataFusion takes `a.b` for a field of the column a before it looks around. [`FieldNames`] finds no such field, and the
//! statement is planned again with a schema before the name: no column can be meant by that, and a relation without a schema
//! by any. As in DuckDB, a field that the column does have goes first.
//!
//! Upstream: none known
//! Given: `CREATE TABLE ta AS SELECT * FROM (VALUES (1, 2), (2, 3)) AS v(c, b)`
//! Given: `CREATE TABLE ua AS SELECT * FROM (VALUES (7, 2)) AS v(a, b)`
//! Shows: `SELECT * FROM ta a WHERE EXISTS (SELECT 1 FROM ua WHERE ua.b = a.b) ORDER BY 1` gives `1 | 2`

use std::collections::{HashMap, HashSet};

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{Column, DFSchemaRef, DataFusionError, Result, SchemaError, TableReference};
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr as PlanExpr;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult};
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Ident, Query, Select, Statement};

use crate::names::ctes::Ctes;
use crate::names::scopes::{AtOuterColumns, Outer, visit_outer_columns};
use crate::syntax::tree::ast;

/// The schema that is put before the name of a relation around. It shows in the error about a column that is not there.
const AROUND: &str = "outer query";

/// Fields of columns, `x.y`: those that the column has. DataFusion would take any name behind any column for one.
#[derive(Debug)]
pub struct FieldNames;

impl ExprPlanner for FieldNames {
    fn plan_compound_identifier(
        &self,
        column: &Field,
        _: Option<&TableReference>,
        names: &[String],
    ) -> Result<PlannerResult<Vec<PlanExpr>>> {
        match names.first() {
            Some(name) if !has_field(column, name) => {
                let unknown = Column::new(Some(TableReference::bare(column.name().as_str())), name);
                Ok(PlannerResult::Planned(PlanExpr::Column(unknown)))
            }
            _ => Ok(PlannerResult::Original(vec![])),
        }
    }
}

fn has_field(column: &Field, name: &str) -> bool {
    match column.data_type() {
        DataType::Struct(fields) => fields.find(name).is_some(),
        DataType::Map(..) => true,
        _ => false,
    }
}

/// Puts a schema before the columns of queries around that a column between is taken for. Whether there were any.
pub(crate) async fn qualify(statement: &mut SqlStatement, error: &DataFusionError, state: &SessionState) -> bool {
    if !may_be_a_field(error) {
        return false;
    }
    let mut columns = HashMap::new();
    for (number, query) in between(statement) {
        let query = SqlStatement::Statement(Box::new(Statement::Query(Box::new(query))));
        // One that cannot stand alone stays as it is, and so does the error.
        if let Ok(plan) = Box::pin(state.statement_to_plan(query)).await {
            columns.insert(number, plan.schema().clone());
        }
    }
    let mut qualifier = Qualifier { columns, changed: false };
    visit_outer_columns(statement, &mut qualifier);
    qualifier.changed
}

/// The SELECTs between a column and the query around that has its relation: their numbers, and queries of the columns of FROM.
fn between(statement: &mut SqlStatement) -> Vec<(usize, Query)> {
    let mut finder = Finder::default();
    visit_outer_columns(statement, &mut finder);
    finder.queries.into_iter().enumerate().filter(|(number, _)| finder.between.contains(number)).collect()
}

/// Whether it is the error about a field that a column lacks: of the innermost query, or of one further out.
fn may_be_a_field(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::SchemaError(found, _) => {
            matches!(found.as_ref(), SchemaError::FieldNotFound { field, .. } if field.relation.is_some())
        }
        DataFusionError::NotImplemented(text) => text.starts_with("Nested identifiers are not yet supported"),
        _ => false,
    }
}

/// Finds the queries between a column and the query around that has its relation.
#[derive(Default)]
struct Finder {
    ctes: Ctes,
    /// Of each SELECT, by its number, the query whose columns are those of its FROM.
    queries: Vec<Query>,
    between: HashSet<usize>,
}

impl AtOuterColumns for Finder {
    fn enter_query(&mut self, query: &Query) {
        self.ctes.enter(query);
    }

    fn leave_query(&mut self, query: &Query) {
        self.ctes.leave(query);
    }

    fn enter_select(&mut self, select: &Select) {
        self.queries.push(self.ctes.around(ast::select_all_from(select.from.clone())));
    }

    fn outer(&mut self, _: &mut Vec<Ident>, column: Outer) {
        self.between.extend(column.between);
    }
}

/// Puts the schema before the names.
struct Qualifier {
    /// The columns of FROM, by the number of their SELECT.
    columns: HashMap<usize, DFSchemaRef>,
    changed: bool,
}

impl Qualifier {
    /// Whether a column of this SELECT is taken for the relation of `names`.
    fn hides(&self, select: usize, names: &[Ident]) -> bool {
        let [relation, column, ..] = names else { return false };
        let (relation, column) = (ast::normalized(relation), ast::normalized(column));
        let mut fields = self.columns.get(&select).into_iter().flat_map(|columns| columns.fields());
        fields.any(|field| *field.name() == relation && !has_field(field, &column))
    }
}

impl AtOuterColumns for Qualifier {
    fn outer(&mut self, names: &mut Vec<Ident>, column: Outer) {
        if column.between.iter().any(|select| self.hides(*select, names)) {
            names.insert(0, column.schema.unwrap_or_else(|| ast::quoted(AROUND)));
            self.changed = true;
        }
    }
}
