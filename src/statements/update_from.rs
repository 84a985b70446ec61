//! `UPDATE t ... FROM u` and `DELETE FROM t USING u`, which DataFusion does not plan: rows of a table that have a partner in
//! others.
//!
//! The change of a row depends on those of its columns that the statement looks at. A query finds the different values
//! of these that have a partner, with what is to be assigned to each; then the table is changed as by a condition of its
//! own, which looks every row up among them.

use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{cast, concat_batches, take};
use arrow::datatypes::{DataType, Field, FieldRef};
use arrow::row::{OwnedRow, RowConverter, SortField};
use bonnet_catalogs::counted;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DataFusionError, Result as DataFusionResult, internal_datafusion_err};
use datafusion::datasource::TableType;
use datafusion::execution::SessionState;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, LogicalPlanBuilder, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility, cast as cast_to,
};
use datafusion::physical_plan::collect;
use datafusion::prelude::DataFrame;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::planner::object_name_to_table_reference;
use datafusion::sql::sqlparser::ast::{
    self, Assignment, AssignmentTarget, FromTable, Ident, ObjectName, SelectItem, SetExpr, Spanned, Statement,
    TableFactor, TableWithJoins, UpdateTableFromKind,
};

use crate::{Error, Result, Session};
use bonnet_dialect::syntax::statements::statement::WithSpan;
use bonnet_dialect::syntax::tree::ast as syntax;

/// A change of the rows that have a partner in other tables.
pub(super) struct JoinedChange {
    verb: &'static str,
    table: TableWithJoins,
    /// The table's name, and the name by which the statement calls it.
    name: ObjectName,
    called: Vec<Ident>,
    others: Vec<TableWithJoins>,
    /// The columns that change, with their new values. None in a DELETE.
    assignments: Vec<(WithSpan<String>, ast::Expr)>,
    condition: Option<ast::Expr>,
}

impl JoinedChange {
    /// The change that a statement is, if it reads other tables.
    ///
    /// # Errors
    /// If it is one that cannot be run.
    pub fn of(statement: &SqlStatement) -> Result<Option<Self>> {
        let SqlStatement::Statement(statement) = statement else { return Ok(None) };
        let (verb, table, others, assignments, condition) = match statement.as_ref() {
            Statement::Update(update) if update.returning.is_none() && update.limit.is_none() => {
                let Some(UpdateTableFromKind::AfterSet(others) | UpdateTableFromKind::BeforeSet(others)) = &update.from
                else {
                    return Ok(None);
                };
                ("UPDATE", &update.table, others, update.assignments.as_slice(), &update.selection)
            }
            Statement::Delete(delete) if delete.returning.is_none() && delete.limit.is_none() => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
                let (Some(others), [table]) = (&delete.using, from.as_slice()) else { return Ok(None) };
                ("DELETE", table, others, &[][..], &delete.selection)
            }
            _ => return Ok(None),
        };
        let TableFactor::Table { name, alias, args: None, .. } = &table.relation else {
            let text = format!("{verb}: only a table's own rows can be changed");
            return Err(Error::statement_at(table.relation.span(), text));
        };
        if let Some(join) = table.joins.first() {
            let clause = if verb == "UPDATE" { "FROM" } else { "USING" };
            let text = format!("{verb} {name}: the tables that it is joined with stand in {clause}");
            return Err(Error::statement_at(join.relation.span(), text));
        }
        let called = match alias {
            Some(alias) => vec![alias.name.clone()],
            None => name.0.iter().filter_map(|part| part.as_ident().cloned()).collect(),
        };
        let assignments = assignments.iter().map(|it| assignment(name, it)).collect::<Result<Vec<_>>>()?;
        let mut assigned = BTreeSet::new();
        if let Some((twice, _)) = assignments.iter().find(|(column, _)| !assigned.insert(&column.value)) {
            let text = format!("{verb} {name}: {} is assigned twice", twice.value);
            return Err(Error::statement_at(twice.span, text));
        }
        Ok(Some(Self {
            verb,
            table: table.clone(),
            name: name.clone(),
            called,
            others: others.clone(),
            assignments,
            condition: condition.clone(),
        }))
    }

    /// Changes the rows, and answers `UPDATE n` or `DELETE n`.
    ///
    /// # Errors
    /// If the statement cannot be planned or fails; the table is then as it was.
    pub async fn run(self, session: &Session) -> Result<String> {
        let state = session.state();
        let (verb, name) = (self.verb, &self.name);
        let place = object_name_to_table_reference(name.clone(), true)?;
        let table = session.context.table_provider(place).await?;
        if table.table_type() != TableType::Base {
            let text = format!("{verb} {name}: only a table's own rows can be changed");
            return Err(Error::statement_at(name.span(), text));
        }
        let schema = table.schema();
        for (column, _) in &self.assignments {
            if schema.field_with_name(column).is_err() {
                let text = format!("{verb} {name}: there is no column {}", column.value);
                return Err(Error::statement_at(column.span, text));
            }
        }
        // The plan says which columns of the table the statement looks at.
        let values = self.assignments.iter().map(|(_, value)| SelectItem::UnnamedExpr(value.clone()));
        let plan = self.plan(session, values.chain([SelectItem::UnnamedExpr(syntax::text(""))]).collect()).await?;
        let read = self.columns_read(&plan)?;
        let mut keys: Vec<usize> = (0..schema.fields().len()).collect();
        keys.retain(|&i| read.contains(schema.field(i).name()));
        if keys.is_empty() {
            // All rows have the same partners.
            keys.push(0);
        }
        let key = |&i: &usize| {
            let mut parts = self.called.clone();
            parts.push(syntax::quoted(schema.field(i).name()));
            item(ast::Expr::CompoundIdentifier(parts), format!("key {i}"))
        };
        let value =
            |(column, value): &(WithSpan<String>, ast::Expr)| item(value.clone(), format!("value of {}", column.value));
        let items = keys.iter().map(key).chain(self.assignments.iter().map(value)).collect();
        let plan = self.plan(session, items).await?;
        let mut columns = Vec::new();
        for (i, column) in plan.schema().columns().into_iter().enumerate() {
            let target = match i.checked_sub(keys.len()) {
                None => schema.field(keys[i]).data_type(),
                Some(value) => {
                    schema.field_with_name(&self.assignments[value].0).map_err(DataFusionError::from)?.data_type()
                }
            };
            columns.push(cast_to(Expr::Column(column.clone()), target.clone()).alias(column.name));
        }
        let plan = LogicalPlanBuilder::from(plan).project(columns)?.distinct()?.build()?;
        let Some(partners) = self.partners(&state, plan, keys.len()).await? else { return Ok(format!("{verb} 0")) };
        let partners = Arc::new(partners);
        let lookup = |value: Option<usize>| {
            let function = ScalarUDF::from(Lookup {
                partners: Arc::clone(&partners),
                value,
                signature: Signature::variadic_any(Volatility::Immutable),
            });
            let args = keys.iter().map(|&i| Expr::Column(Column::new_unqualified(schema.field(i).name()))).collect();
            Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), args))
        };
        let filters = vec![lookup(None)];
        let change = match verb {
            "DELETE" => table.delete_from(&state, filters).await?,
            _ => {
                let assigned = self.assignments.iter().enumerate();
                let assignments = assigned.map(|(i, (column, _))| (column.value.clone(), lookup(Some(i)))).collect();
                table.update(&state, assignments, filters).await?
            }
        };
        let batches = collect(change, state.task_ctx()).await?;
        Ok(format!("{verb} {}", counted(&batches)))
    }

    /// The plan of a query of the rows with their partners.
    async fn plan(&self, session: &Session, items: Vec<SelectItem>) -> Result<LogicalPlan> {
        let mut query = syntax::select_all(self.table.relation.clone());
        if let SetExpr::Select(select) = query.body.as_mut() {
            select.projection = items;
            select.from.extend(self.others.iter().cloned());
            select.selection = self.condition.clone();
        }
        let statement = SqlStatement::Statement(Box::new(Statement::Query(Box::new(query))));
        bonnet_dialect::plan(&session.state(), session.engine.registry(), statement).await
    }

    /// The names of the table's columns that a plan reads, and perhaps some of others.
    fn columns_read(&self, plan: &LogicalPlan) -> Result<BTreeSet<String>> {
        let called = self.called.last().map(syntax::normalized).unwrap_or_default();
        let mut read = BTreeSet::new();
        plan.apply_with_subqueries(|plan| {
            plan.apply_expressions(|expr| {
                expr.apply(|expr| {
                    if let Expr::Column(column) | Expr::OuterReferenceColumn(_, column) = expr
                        && column.relation.as_ref().is_some_and(|table| table.table() == called)
                    {
                        read.insert(column.name.clone());
                    }
                    Ok(TreeNodeRecursion::Continue)
                })
            })
        })?;
        Ok(read)
    }

    /// The values that have partners; `None` if none have.
    async fn partners(&self, state: &SessionState, plan: LogicalPlan, keys: usize) -> Result<Option<Partners>> {
        let rows = DataFrame::new(state.clone(), plan);
        let schema = Arc::clone(rows.schema().inner());
        let memory =
            MemoryConsumer::new(format!("{} {}", self.verb, self.name)).register(&state.runtime_env().memory_pool);
        let batches = rows.collect().await?;
        // The rows, once more in one piece, and the index.
        memory.try_grow(3 * batches.iter().map(RecordBatch::get_array_memory_size).sum::<usize>())?;
        let rows = concat_batches(&schema, &batches).map_err(DataFusionError::from)?;
        drop(batches);
        if rows.num_rows() == 0 {
            return Ok(None);
        }
        match Partners::new(&rows, keys, memory)? {
            Some(partners) => Ok(Some(partners)),
            None => Err(Error::statement_at(
                self.name.span(),
                format!(
                    "{} {}: a row has several partners in FROM that give it different values; make them one, by GROUP BY \
                     or DISTINCT in a subquery of FROM, or by the condition",
                    self.verb, self.name
                ),
            )),
        }
    }
}

fn assignment(table: &ObjectName, assignment: &Assignment) -> Result<(WithSpan<String>, ast::Expr)> {
    let column = match &assignment.target {
        AssignmentTarget::ColumnName(name) => name.0.last().and_then(|part| part.as_ident()),
        AssignmentTarget::Tuple(_) => None,
    };
    match column {
        Some(column) => Ok((WithSpan::new(syntax::normalized(column), column.span), assignment.value.clone())),
        None => Err(Error::statement_at(
            assignment.target.span(),
            format!("UPDATE {table}: SET {}: give each column apart", assignment.target),
        )),
    }
}

fn item(expr: ast::Expr, name: String) -> SelectItem {
    SelectItem::ExprWithAlias { expr, alias: syntax::quoted(name) }
}

/// Values of a table's columns that have partners, and what these assign.
struct Partners {
    converter: RowConverter,
    types: Vec<DataType>,
    index: HashMap<OwnedRow, u32>,
    values: Vec<ArrayRef>,
    _memory: MemoryReservation,
}

impl Partners {
    /// The first `keys` columns are the table's, the others the values; `None` if rows repeat a key.
    fn new(rows: &RecordBatch, keys: usize, memory: MemoryReservation) -> DataFusionResult<Option<Self>> {
        let columns = &rows.columns()[..keys];
        let types: Vec<DataType> = columns.iter().map(|column| column.data_type().clone()).collect();
        let converter = RowConverter::new(types.iter().cloned().map(SortField::new).collect())?;
        let mut index = HashMap::with_capacity(rows.num_rows());
        for (i, row) in (0..).zip(converter.convert_columns(columns)?.iter()) {
            if index.insert(row.owned(), i).is_some() {
                return Ok(None);
            }
        }
        Ok(Some(Self { converter, types, index, values: rows.columns()[keys..].to_vec(), _memory: memory }))
    }
}

/// Whether a row has a partner, or which value that assigns.
#[derive(Clone)]
struct Lookup {
    partners: Arc<Partners>,
    value: Option<usize>,
    signature: Signature,
}

impl std::fmt::Debug for Lookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Lookup {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.partners, &other.partners) && self.value == other.value
    }
}

impl Eq for Lookup {}

impl Hash for Lookup {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (Arc::as_ptr(&self.partners) as usize, self.value).hash(state);
    }
}

impl ScalarUDFImpl for Lookup {
    fn name(&self) -> &str {
        if self.value.is_some() { "value_of_partner" } else { "has_partner" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DataFusionResult<DataType> {
        Ok(self.value.map_or(DataType::Boolean, |i| self.partners.values[i].data_type().clone()))
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> DataFusionResult<FieldRef> {
        let nullable = self.value.is_some_and(|i| self.partners.values[i].null_count() > 0);
        Ok(Arc::new(Field::new(self.name(), self.return_type(&[])?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DataFusionResult<ColumnarValue> {
        let partners = &self.partners;
        let mut columns = ColumnarValue::values_to_arrays(&args.args)?;
        for (column, of) in columns.iter_mut().zip(&partners.types) {
            if column.data_type() != of {
                *column = cast(column, of)?;
            }
        }
        let rows = partners.converter.convert_columns(&columns)?;
        let found = rows.iter().map(|row| partners.index.get(&row.owned()).copied());
        Ok(ColumnarValue::Array(match self.value {
            None => Arc::new(found.map(|row| Some(row.is_some())).collect::<BooleanArray>()),
            Some(i) => {
                let values = partners.values.get(i).ok_or_else(|| internal_datafusion_err!("no value {i}"))?;
                // Rows without a partner are not changed: any value does.
                take(values, &found.map(|row| row.unwrap_or(0)).collect::<UInt32Array>(), None)?
            }
        }))
    }
}
