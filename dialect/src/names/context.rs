//! A session as the planner of one statement sees it: with the statement's own tables, and planners of relations that know
//! the statement.
//!
//! Shows: see `outer_columns.rs`

use std::sync::{Arc, Mutex, PoisonError};

use bonnet_common::Raised;
use bonnet_sql::Registry;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::TableFunctionArgs;
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::config::ConfigOptions;
use datafusion::common::file_options::file_type::FileType;
use datafusion::common::{
    DFSchema, DFSchemaRef, DataFusionError, ResolvedTableReference, Result, TableReference, plan_datafusion_err,
};
use datafusion::datasource::file_format::format_as_file_type;
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::planner::{ContextProvider, ExprPlanner, RelationPlanner, TypePlanner};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::var_provider::{VarType, is_system_variables};
use datafusion::logical_expr::{AggregateUDF, Expr, HigherOrderUDF, LogicalPlan, ScalarUDF, TableSource, WindowUDF};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::planner::{ParserOptions, PlannerContext, SqlToRel};
use datafusion::sql::sqlparser::ast::{Query, Statement};

use crate::names::join_keys::{JoinKeys, JoinPlanner};
use crate::names::relations::KeyPlanner;
use crate::names::tables::{TablePlanner, Tables, resolved};
use crate::names::type_names::TypeNames;
use crate::names::unknown_names::{not_found, unknown_function_in_from, unknown_table};

/// A session, and what a statement brings.
pub(crate) struct StatementContext<'a> {
    state: &'a SessionState,
    registry: &'a Registry,
    tables: &'a Tables,
    relation_planners: Vec<Arc<dyn RelationPlanner>>,
    /// The names that were looked up in vain. DataFusion looks up those of a WITH, too.
    missing: Mutex<Vec<ResolvedTableReference>>,
}

impl<'a> StatementContext<'a> {
    /// The context of a statement with these tables and keys.
    pub(crate) fn new(
        state: &'a SessionState,
        registry: &'a Registry,
        tables: &'a Arc<Tables>,
        keys: JoinKeys,
    ) -> Self {
        let mut relation_planners = state.relation_planners().to_vec();
        relation_planners.push(Arc::new(JoinPlanner::new(keys)));
        relation_planners.push(Arc::new(TablePlanner(Arc::clone(tables))));
        // Behind all that know a relation.
        relation_planners.push(Arc::new(KeyPlanner::default()));
        Self { state, registry, tables, relation_planners, missing: Mutex::default() }
    }

    /// The plan of a statement.
    ///
    /// # Errors
    /// If DataFusion refuses it.
    pub(crate) fn plan(&self, statement: SqlStatement) -> Result<LogicalPlan> {
        self.planner().statement_to_plan(statement).map_err(|error| self.explained(error))
    }

    /// The error about a table that is not there, with what else its name may mean; any other as it is.
    fn explained(&self, error: DataFusionError) -> DataFusionError {
        match error {
            DataFusionError::Diagnostic(diagnostic, inner) => {
                DataFusionError::Diagnostic(diagnostic, Box::new(self.explained(*inner)))
            }
            DataFusionError::Context(text, inner) => DataFusionError::Context(text, Box::new(self.explained(*inner))),
            DataFusionError::External(error) => match error.downcast::<Raised>() {
                Ok(raised) => {
                    let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
                    match missing.iter().find(|name| not_found(name) == *raised) {
                        Some(name) => unknown_table(self.state, name).into(),
                        None => DataFusionError::External(raised),
                    }
                }
                Err(error) => DataFusionError::External(error),
            },
            other => other,
        }
    }

    /// The columns of a query that stands within others, whose columns are given from the outermost in.
    ///
    /// # Errors
    /// If DataFusion refuses it.
    pub(crate) fn columns(&self, query: Query, around: &[DFSchemaRef]) -> Result<DFSchemaRef> {
        let mut context = PlannerContext::new();
        around.iter().for_each(|columns| context.append_outer_query_schema(Arc::clone(columns)));
        let statement = Statement::Query(Box::new(query));
        let plan = self.planner().sql_statement_to_plan_with_context(statement, &mut context)?;
        Ok(Arc::clone(plan.schema()))
    }

    fn planner(&self) -> SqlToRel<'_, Self> {
        let options = &self.state.config_options().sql_parser;
        let options = ParserOptions {
            parse_float_as_decimal: options.parse_float_as_decimal,
            enable_ident_normalization: options.enable_ident_normalization,
            enable_options_value_normalization: options.enable_options_value_normalization,
            support_varchar_with_length: options.support_varchar_with_length,
            map_string_types_to_utf8view: options.map_string_types_to_utf8view,
            collect_spans: options.collect_spans,
            default_null_ordering: options.default_null_ordering.as_str().into(),
        };
        SqlToRel::new_with_options(self, options)
    }
}

impl ContextProvider for StatementContext<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        let name = resolved(self.state, name);
        if let Some(source) = self.tables.source(&name) {
            return Ok(source);
        }
        let error = not_found(&name);
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        Err(error.into())
    }

    fn get_file_type(&self, ext: &str) -> Result<Arc<dyn FileType>> {
        match self.state.get_file_format_factory(ext) {
            Some(format) => Ok(format_as_file_type(format)),
            None => Err(plan_datafusion_err!("There is no registered file format with ext {ext}")),
        }
    }

    fn get_table_function_source(&self, name: &str, args: Vec<Expr>) -> Result<Arc<dyn TableSource>> {
        let Some(function) = self.state.table_functions().get(name) else {
            return Err(unknown_function_in_from(self.state, self.registry, name).into());
        };
        let context = SimplifyContext::builder()
            .with_config_options(Arc::clone(self.state.config_options()))
            .with_query_execution_start_time(self.state.execution_props().query_execution_start_time)
            .build();
        let (simplifier, schema) = (ExprSimplifier::new(context), DFSchema::empty());
        let simple = |arg| simplifier.coerce(arg, &schema).and_then(|arg| simplifier.simplify(arg));
        let args = args.into_iter().map(simple).collect::<Result<Vec<_>>>()?;
        let table = function.create_table_provider_with_args(TableFunctionArgs::new(&args, self.state))?;
        Ok(provider_as_source(table))
    }

    fn create_cte_work_table(&self, name: &str, schema: SchemaRef) -> Result<Arc<dyn TableSource>> {
        Ok(provider_as_source(Arc::new(CteWorkTable::new(name, schema))))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        self.state.expr_planners()
    }

    fn get_relation_planners(&self) -> &[Arc<dyn RelationPlanner>] {
        &self.relation_planners
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::new(TypeNames))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.state.scalar_functions().get(name).cloned()
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.state.higher_order_functions().get(name).cloned()
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.state.aggregate_functions().get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.state.window_functions().get(name).cloned()
    }

    fn get_variable_type(&self, names: &[String]) -> Option<DataType> {
        names.first()?;
        let kind = if is_system_variables(names) { VarType::System } else { VarType::UserDefined };
        self.state.execution_props().var_providers.as_ref()?.get(&kind)?.get_type(names)
    }

    fn options(&self) -> &ConfigOptions {
        self.state.config_options()
    }

    fn udf_names(&self) -> Vec<String> {
        self.state.scalar_functions().keys().cloned().collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        self.state.higher_order_functions().keys().cloned().collect()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.state.aggregate_functions().keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.state.window_functions().keys().cloned().collect()
    }
}
