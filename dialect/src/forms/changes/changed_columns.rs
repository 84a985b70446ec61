//! Names without quotes in INSERT, UPDATE and DELETE, of columns whose names have capitals: as in queries, see
//! `names/letter_case.rs`. Where UPDATE or DELETE reads other tables, its expressions stay as they are.
//!
//! Upstream: <https://github.com/apache/datafusion-python/issues/399>
//! Given: `CREATE TABLE e("Source" INT)`
//! Given: `INSERT INTO e(source) VALUES (7)`
//! Shows: `SELECT "Source" FROM e` gives `7`

use datafusion::common::{DFSchema, TableReference};
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, Expr, FromTable, Ident, ObjectName, ObjectNamePart, Statement, TableFactor, TableObject,
};

use crate::Result;
use crate::forms::changes::changed_values::{changing, table};
use crate::names::letter_case::{Capitals, Found, find, in_expr};
use crate::syntax::tree::ast;

/// What a change names of its table.
struct Changed<'a> {
    table: ObjectName,
    /// The name by which expressions know it.
    known_as: String,
    columns: Vec<&'a mut ObjectName>,
    exprs: Vec<&'a mut Expr>,
}

impl<'a> Changed<'a> {
    fn of(statement: &'a mut SqlStatement) -> Option<Self> {
        let by_name = |name: &ObjectName| ast::name_parts(name).and_then(|mut parts| parts.pop());
        let of_factor = |factor: &TableFactor| {
            let TableFactor::Table { name, alias, .. } = factor else { return None };
            let alias = alias.as_ref().map(|alias| ast::normalized(&alias.name));
            Some((name.clone(), alias.or_else(|| by_name(name))?))
        };
        match changing(statement)? {
            Statement::Insert(insert) => {
                let TableObject::TableName(name) = &insert.table else { return None };
                let (table, known_as) = (name.clone(), by_name(name)?);
                Some(Self { table, known_as, columns: insert.columns.iter_mut().collect(), exprs: Vec::new() })
            }
            Statement::Update(update) => {
                let (table, known_as) = of_factor(&update.table.relation)?;
                let alone = update.from.is_none() && update.table.joins.is_empty();
                let (mut columns, mut exprs) = (Vec::new(), Vec::new());
                for assignment in &mut update.assignments {
                    match &mut assignment.target {
                        AssignmentTarget::ColumnName(name) => columns.push(name),
                        AssignmentTarget::Tuple(names) => columns.extend(names),
                    }
                    exprs.extend(alone.then_some(&mut assignment.value));
                }
                exprs.extend(update.selection.as_mut().filter(|_| alone));
                Some(Self { table, known_as, columns, exprs })
            }
            Statement::Delete(delete) if delete.using.is_none() => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
                let [from] = from.as_slice() else { return None };
                let (table, known_as) = of_factor(&from.relation).filter(|_| from.joins.is_empty())?;
                Some(Self { table, known_as, columns: Vec::new(), exprs: delete.selection.iter_mut().collect() })
            }
            _ => None,
        }
    }
}

/// Gives the names of columns the case that they have in the table that is changed.
///
/// # Errors
/// If the table cannot be read.
pub(crate) async fn name(state: &SessionState, statement: &mut SqlStatement) -> Result<()> {
    let Some(mut changed) = Changed::of(statement) else { return Ok(()) };
    changed.columns.retain_mut(|column| last(column).is_some_and(|name| name.quote_style.is_none()));
    if changed.columns.is_empty() && changed.exprs.is_empty() {
        return Ok(());
    }
    let Some(table) = table(state, &changed.table).await? else { return Ok(()) };
    let capitals = Capitals::of_schemas(std::iter::once(table.schema()));
    if capitals.is_empty() {
        return Ok(());
    }
    let schema = DFSchema::try_from_qualified_schema(TableReference::bare(changed.known_as), &table.schema())?;
    for column in changed.columns {
        let Some(name) = last(column) else { continue };
        if let Found::Column(found) = find(std::slice::from_ref(name), &schema) {
            *name = Ident { span: name.span, ..found };
        }
    }
    for expr in changed.exprs {
        in_expr(expr, &capitals, &schema);
    }
    Ok(())
}

fn last(name: &mut ObjectName) -> Option<&mut Ident> {
    match name.0.last_mut() {
        Some(ObjectNamePart::Identifier(name)) => Some(name),
        _ => None,
    }
}
