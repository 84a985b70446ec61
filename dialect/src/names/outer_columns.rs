//! Columns of queries around, of a relation whose name is that of a column, too: `FROM t a WHERE EXISTS (SELECT 1 FROM u WHERE
//! u.b = a.b)`, where u has a column a.
//!
//! DataFusion takes `a.b` for a field of the column a before it looks around. [`qualified`] puts a schema before the name: no
//! column can be meant by that, and a relation without a schema by any. As in DuckDB, a field that the column does have goes
//! first; [`FieldNames`] finds no other.
//!
//! Upstream: none known
//! Given: `CREATE TABLE ta AS SELECT * FROM (VALUES (1, 2), (2, 3)) AS v(c, b)`
//! Given: `CREATE TABLE ua AS SELECT * FROM (VALUES (7, 2)) AS v(a, b)`
//! Shows: `SELECT * FROM ta a WHERE EXISTS (SELECT 1 FROM ua WHERE ua.b = a.b) ORDER BY 1` gives `1 | 2`

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result, TableReference};
use datafusion::logical_expr::Expr as PlanExpr;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult};
use datafusion::sql::sqlparser::ast::Ident;

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

/// The names of a column around with a schema before them, which a column of these between would be taken for.
pub(crate) fn qualified(names: &[Ident], schema: Option<&Ident>, between: &[DFSchemaRef]) -> Option<Vec<Ident>> {
    between.iter().any(|columns| hides(columns, names)).then(|| {
        let schema = schema.cloned().unwrap_or_else(|| ast::quoted(AROUND));
        std::iter::once(schema).chain(names.iter().cloned()).collect()
    })
}

/// Whether one of the columns is taken for the relation of `names`.
fn hides(columns: &DFSchema, names: &[Ident]) -> bool {
    let [relation, column, ..] = names else { return false };
    let (relation, column) = (ast::normalized(relation), ast::normalized(column));
    columns.fields().iter().any(|field| *field.name() == relation && !has_field(field, &column))
}
