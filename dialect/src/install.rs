//! All repairs, put into a session.

use std::sync::Arc;

use bonnet_sql::{
    BonnetQueryPlanner, EdgeWindows, FunctionPlanner, GroupOnce, PruneOutputs, Registry, ShareRuns, SharedStates,
};
use bonnet_values::{
    BitOperands, CheckedConstants, CheckedPlanner, DateArithmetic, MapKeys, NullTexts, RoundedCasts, bounded_functions,
};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::planner::ExprPlanner;
use datafusion::prelude::SessionConfig;

use crate::forms::changes::insert_values::ValuesPlanner;
use crate::forms::pivot::PivotPlanner;
use crate::names::outer_columns::FieldNames;
use crate::names::type_names::TypeNames;
use crate::plans::{
    AGGREGATE_ORDER, Correlation, DISTINCT_SUBQUERIES, GROUPING_SETS, IN_LISTS, INSERTED_TYPES, NAN_STATISTICS,
    NESTED_COMPARISONS, SCALAR_SUBQUERIES, SCANNED_NAN, SET_OPERATIONS, SIMPLIFICATION, SUBQUERIES, UNREAD_PARTITIONS,
    VALUES, WINDOW_STRINGS, WINDOW_VALUES, WINDOWS, YIELDING_JOINS, analyzer_rules, logical_rules, make_stoppable,
    physical_rules,
};

/// Sets the options of DataFusion by which it answers as `docs/sql.md` says.
pub fn configure(config: &mut SessionConfig) {
    let options = config.options_mut();
    // As in DuckDB and PostgreSQL: a failed run never ranks first.
    options.sql_parser.default_null_ordering = "nulls_last".to_owned();
    // Of a subquery whose column is never NULL DataFusion makes a join whose column might be, and finds that out itself.
    options.execution.skip_physical_aggregate_schema_check = true;
    // DataFusion 55 pushes limits too far: below windows that look further ahead than the last of them, and of groups
    // below windows over all groups and computed columns that have the name of a key.
    options.optimizer.enable_window_limits = false;
    options.optimizer.enable_topk_aggregation = false;
    // Errors name the place in the statement.
    options.sql_parser.collect_spans = true;
}

/// Puts every repair into a session that has the default features of DataFusion: planners, rules, and functions, those of
/// the registry among them. Planners of relations that know one statement stand in `names/context.rs`. Rules that the caller appends afterwards come behind all others.
pub fn install(builder: SessionStateBuilder, registry: &Arc<Registry>) -> SessionStateBuilder {
    let mut builder = builder
        .with_query_planner(Arc::new(CheckedPlanner(BonnetQueryPlanner)))
        .with_relation_planners(vec![
            Arc::new(ValuesPlanner),
            Arc::new(PivotPlanner),
            Arc::new(FunctionPlanner::new(Arc::clone(registry))),
        ])
        .with_type_planner(Arc::new(TypeNames))
        .with_analyzer_rules(analyzer_rules())
        .with_analyzer_rule(Arc::new(INSERTED_TYPES))
        .with_analyzer_rule(Arc::new(GROUPING_SETS))
        .with_analyzer_rule(Arc::new(SET_OPERATIONS))
        .with_analyzer_rule(Arc::new(DISTINCT_SUBQUERIES))
        .with_analyzer_rule(Arc::new(SCALAR_SUBQUERIES))
        .with_analyzer_rule(Arc::new(SUBQUERIES))
        .with_analyzer_rule(Arc::new(Correlation))
        .with_analyzer_rule(Arc::new(EdgeWindows::new(Arc::clone(registry))))
        .with_analyzer_rule(Arc::new(ShareRuns))
        .with_analyzer_rule(Arc::new(VALUES))
        .with_analyzer_rule(Arc::new(NESTED_COMPARISONS))
        .with_analyzer_rule(Arc::new(IN_LISTS))
        .with_analyzer_rule(Arc::new(RoundedCasts))
        .with_analyzer_rule(Arc::new(CheckedConstants))
        .with_analyzer_rule(Arc::new(SIMPLIFICATION))
        .with_optimizer_rules(logical_rules())
        .with_optimizer_rule(Arc::new(SharedStates))
        .with_optimizer_rule(Arc::new(PruneOutputs))
        .with_optimizer_rule(Arc::new(AGGREGATE_ORDER))
        .with_optimizer_rule(Arc::new(WINDOW_STRINGS))
        .with_optimizer_rule(Arc::new(WINDOW_VALUES))
        .with_physical_optimizer_rules(physical_rules())
        .with_physical_optimizer_rule(Arc::new(GroupOnce))
        .with_physical_optimizer_rule(Arc::new(WINDOWS))
        .with_physical_optimizer_rule(Arc::new(UNREAD_PARTITIONS))
        .with_physical_optimizer_rule(Arc::new(YIELDING_JOINS))
        .with_physical_optimizer_rule(Arc::new(NAN_STATISTICS))
        .with_physical_optimizer_rule(Arc::new(SCANNED_NAN));
    make_stoppable(&mut builder);
    let scalar = builder.scalar_functions().get_or_insert_default();
    scalar.extend(bounded_functions(scalar));
    scalar.extend(bonnet_values::list_functions(scalar));
    scalar.extend(bonnet_values::rounding_functions(scalar));
    scalar.extend(bonnet_values::octet_length(scalar));
    scalar.extend(bonnet_values::whole_decimals(scalar));
    scalar.extend(bonnet_values::row_options(scalar));
    scalar.extend(registry.scalar_udfs());
    scalar.extend(bonnet_values::internal());
    let aggregates = builder.aggregate_functions().get_or_insert_default();
    aggregates.extend(registry.aggregate_udfs());
    aggregates.extend(bonnet_values::aggregates());
    aggregates.extend(bonnet_values::sliding_aggregates(aggregates));
    builder.window_functions().get_or_insert_default().extend(bonnet_values::ranks());
    builder.window_functions().get_or_insert_default().extend(registry.window_udfs());
    let planners: [Arc<dyn ExprPlanner>; 5] =
        [Arc::new(MapKeys), Arc::new(BitOperands), Arc::new(NullTexts), Arc::new(DateArithmetic), Arc::new(FieldNames)];
    builder.expr_planners().get_or_insert_default().splice(0..0, planners);
    builder
}
