//! The rule for the window spelling of edge functions.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, LogicalPlanBuilder, Window, WindowFunctionDefinition};
use datafusion::optimizer::AnalyzerRule;

use crate::binding::arguments::checked;
use crate::error::usage_error;
use crate::plans::node::RelationNode;
use crate::registry::body::Body;
use crate::registry::options::{OptionValue, Options};
use crate::registry::{Function, ParameterKind, Registry};

/// Replaces edge functions in OVER by the operator that their FROM spelling runs.
#[derive(Debug)]
pub struct EdgeWindows {
    registry: Arc<Registry>,
}

impl EdgeWindows {
    /// The rule for the edge functions of a registry.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self { registry }
    }
}

impl AnalyzerRule for EdgeWindows {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Window(window) => replace_window(window, &self.registry),
            plan => Ok(Transformed::no(plan)),
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &str {
        "edge_windows"
    }
}

/// Replaces the edge functions of a window node by operators under what is left of it.
fn replace_window(window: Window, registry: &Registry) -> Result<Transformed<LogicalPlan>> {
    let is_edge = |expr: &Expr| edge_function(expr, registry).is_some();
    if !window.window_expr.iter().any(is_edge) {
        return Ok(Transformed::no(LogicalPlan::Window(window)));
    }
    let names: Vec<String> = window.window_expr.iter().map(|expr| expr.schema_name().to_string()).collect();
    let mut plan = window.input.as_ref().clone();
    let mut others = Vec::new();
    for (expr, name) in window.window_expr.iter().zip(&names) {
        match edge_function(expr, registry) {
            Some((function, call)) => plan = replace_call(plan, function, call, name)?,
            None => others.push(expr.clone()),
        }
    }
    if !others.is_empty() {
        plan = LogicalPlanBuilder::from(plan).window(others)?.build()?;
    }
    // The node's schema: the input's columns, then one for each window expression in its order.
    let input = window.input.schema().iter().map(|(qualifier, field)| Expr::Column(Column::from((qualifier, field))));
    let output = input.chain(names.iter().map(|name| Expr::Column(Column::new_unqualified(name.clone()))));
    Ok(Transformed::yes(LogicalPlanBuilder::from(plan).project(output.collect::<Vec<_>>())?.build()?))
}

fn edge_function<'a>(expr: &'a Expr, registry: &Registry) -> Option<(Arc<Function>, &'a WindowFunction)> {
    let expr = match expr {
        Expr::Alias(alias) => alias.expr.as_ref(),
        expr => expr,
    };
    let Expr::WindowFunction(call) = expr else { return None };
    let WindowFunctionDefinition::WindowUDF(udf) = &call.fun else { return None };
    let function = registry.get(udf.name()).filter(|function| matches!(function.body, Body::Edge(_)))?;
    Some((Arc::clone(function), call))
}

/// The operator for one call: its arguments become columns of a projection, which the operator drops again.
fn replace_call(plan: LogicalPlan, function: Arc<Function>, call: &WindowFunction, name: &str) -> Result<LogicalPlan> {
    let params = &call.params;
    if !params.order_by.is_empty() {
        return usage_error(format!("{name}: ORDER BY means nothing to an edge function; leave it out of OVER"));
    }
    if params.distinct || params.filter.is_some() {
        return usage_error(format!("{name}: an edge function takes no DISTINCT and no FILTER"));
    }
    let mut options = Options::default();
    let mut columns: BTreeMap<String, Expr> = BTreeMap::new();
    for parameter in function.parameters.iter().skip(params.args.len()) {
        if let ParameterKind::Option(_) = parameter.kind {
            options.insert(parameter.name, parameter.default.clone());
        }
    }
    for (parameter, arg) in function.parameters.iter().zip(&params.args) {
        let column = format!("__{}", parameter.name);
        match (&parameter.kind, arg) {
            (ParameterKind::Column(_), arg) if parameter.optional && is_null(arg) => {}
            (ParameterKind::Column(_), arg) => {
                let option = match parameter.name {
                    "src" => "@src",
                    "dst" => "@dst",
                    other => other,
                };
                options.insert(option, OptionValue::Text(column.clone()));
                columns.insert(column, arg.clone());
            }
            // Left out before an argument that is given.
            (ParameterKind::Option(_), arg)
                if parameter.optional && parameter.default == OptionValue::Null && is_null(arg) =>
            {
                options.insert(parameter.name, OptionValue::Null);
            }
            (ParameterKind::Option(kind), Expr::Literal(value, _)) => {
                let value = OptionValue::from_scalar(value);
                let Some(value) = value else {
                    return usage_error(format!("{name}: {} must be a constant", parameter.name));
                };
                options.insert(parameter.name, checked(&function, parameter.name, *kind, value)?);
            }
            _ => return usage_error(format!("{name}: {} must be a constant", parameter.name)),
        }
    }
    for (i, partition) in params.partition_by.iter().enumerate() {
        columns.insert(format!("__partition_{i}"), partition.clone());
    }
    options.insert("@partition", OptionValue::Integer(params.partition_by.len() as i64));
    options.insert("@value", OptionValue::Text(name.to_owned()));

    let own: Vec<Expr> =
        plan.schema().iter().map(|(qualifier, field)| Expr::Column(Column::from((qualifier, field)))).collect();
    let arguments = columns.into_iter().map(|(name, expr)| expr.alias(name));
    let input = LogicalPlanBuilder::from(plan).project(own.iter().cloned().chain(arguments))?.build()?;
    let node = RelationNode::try_new(function, options, vec![("edges".to_owned(), input)], None, None)?;
    let plan = LogicalPlan::Extension(Extension { node: Arc::new(node) });
    let value = Expr::Column(Column::new_unqualified(name));
    LogicalPlanBuilder::from(plan).project(own.into_iter().chain([value]))?.build()
}

/// Whether an argument is NULL, also within the casts that type coercion puts around it.
fn is_null(arg: &Expr) -> bool {
    match arg {
        Expr::Literal(value, _) => value.is_null(),
        Expr::Cast(cast) => is_null(&cast.expr),
        _ => false,
    }
}
