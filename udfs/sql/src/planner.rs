//! From a call in FROM to a node of the plan, and from that node to its execution.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchema, Result, TableReference, internal_datafusion_err};
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, LogicalPlanBuilder, UserDefinedLogicalNode};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};
use datafusion::sql::sqlparser::ast::{
    self, FunctionArg, FunctionArgExpr, ObjectNamePart, Spanned, TableFactor, Value,
};
use datafusion::sql::sqlparser::tokenizer::Span;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::adapters::generator::PARAMETERS;
use crate::binding::arguments::{self, checked, not_constant, value};
use crate::error::{usage_error, usage_error_at};
use crate::execution::relation_exec::RelationExec;
use crate::execution::shared_run::SharedRun;
use crate::graphs::graph_cache::GraphCacheAccess;
use crate::graphs::{GraphResolver, SessionGraphs, graph_name, split_graph_name};
use crate::plans::explain::{final_plans, shows_final_plans};
use crate::plans::node::RelationNode;
use crate::plans::sources::Sources;
use crate::registry::body::Kind;
use crate::registry::options::{OptionValue, Options};
use crate::registry::{Function, Parameter, ParameterKind, Place, Registry};

/// Plans the calls of registered functions in FROM.
#[derive(Debug, Clone)]
pub struct FunctionPlanner {
    registry: Arc<Registry>,
}

impl FunctionPlanner {
    /// A planner of these functions.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self { registry }
    }
}

impl RelationPlanner for FunctionPlanner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let TableFactor::Table { name, args: Some(args), alias, .. } = &relation else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        let function = match name.0.as_slice() {
            [ObjectNamePart::Identifier(name)] => self.registry.get(&name.value).cloned(),
            _ => None,
        };
        let Some(function) = function else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        if !function.kind().in_from() {
            return usage_error(format!(
                "{} is {} function: use it in an expression, SELECT {}",
                function.name,
                match function.kind() {
                    Kind::Aggregate => "an aggregate",
                    Kind::Window => "a window",
                    _ => "a scalar",
                },
                function.signature()
            ));
        }
        let node = plan_call(&function, name.span(), &args.args, context)?;
        let plan = LogicalPlan::Extension(Extension { node: Arc::new(node) });
        let plan = match alias {
            Some(_) => plan,
            None => LogicalPlanBuilder::from(plan).alias(TableReference::bare(function.name))?.build()?,
        };
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias.clone()))))
    }
}

/// Plans a call: its relations become inputs, its constants options.
fn plan_call(
    function: &Arc<Function>,
    call: Span,
    args: &[FunctionArg],
    context: &mut dyn RelationPlannerContext,
) -> Result<RelationNode> {
    let arguments = arguments::bind(function, Place::From, call, args)?;
    let mut inputs = Vec::new();
    let mut options = Options::default();
    if arguments.of_relation {
        let parameters = Parameter::relation(PARAMETERS, "");
        inputs.extend(
            relation(function, &parameters, value(&args[0]), context)?.map(|plan| (PARAMETERS.to_owned(), plan)),
        );
    }
    for (parameter, given) in arguments.iter() {
        let name = parameter.name;
        let Some(&first) = given.first() else {
            if parameter.optional && parameter.kind != ParameterKind::Relation {
                options.insert(name, parameter.default.clone());
            }
            continue;
        };
        let first = value(&args[first]);
        match &parameter.kind {
            ParameterKind::Relation => {
                inputs.extend(relation(function, parameter, first, context)?.map(|plan| (name.to_owned(), plan)));
            }
            ParameterKind::Graph if parameter.variadic => {
                let names =
                    given.iter().map(|&at| Ok(OptionValue::Text(name_of(function, parameter, value(&args[at]))?)));
                options.insert(name, OptionValue::List(names.collect::<Result<_>>()?));
            }
            ParameterKind::Graph | ParameterKind::Name => {
                options.insert(name, OptionValue::Text(name_of(function, parameter, first)?));
            }
            ParameterKind::Column(_) => options.insert(name, constant(function, name, first, context)?),
            ParameterKind::Option(kind) => {
                let value = constant(function, name, first, context)?;
                options.insert(name, checked(function, name, *kind, value)?);
            }
        }
    }
    for (name, at) in &arguments.open {
        options.insert(name, constant(function, name, value(&args[*at]), context)?);
    }
    RelationNode::try_new(Arc::clone(function), options, inputs, None, None)
}

/// The plan of a relation argument: the statement's rewriting has turned names into subqueries. `None` for NULL: as good
/// as left out.
fn relation(
    function: &Function,
    parameter: &Parameter,
    value: &FunctionArgExpr,
    context: &mut dyn RelationPlannerContext,
) -> Result<Option<LogicalPlan>> {
    let subquery = match value {
        FunctionArgExpr::Expr(ast::Expr::Subquery(subquery)) => subquery.clone(),
        FunctionArgExpr::Expr(ast::Expr::Value(value)) if value.value == Value::Null && parameter.optional => {
            return Ok(None);
        }
        other => {
            let text = format!(
                "{}: {} takes a relation (a table, a view, a CTE or (SELECT ...)), not {other}; it is {}",
                function.name,
                parameter.name,
                function.usage(Place::From)
            );
            return usage_error_at(other.span(), text);
        }
    };
    let plan = context.plan(TableFactor::Derived { lateral: false, subquery, alias: None, sample: None })?;
    match plan.all_out_ref_exprs().first() {
        None => Ok(Some(plan)),
        Some(column) => {
            let text = format!(
                "{}: {} reads {} of a query around it: the function reads whole relations and cannot be called once per \
                 row of another table; call it FROM {0}(...) and join the answer",
                function.name,
                parameter.name,
                outer_name(column)
            );
            usage_error_at(value.span(), text)
        }
    }
}

fn outer_name(column: &Expr) -> String {
    match column {
        Expr::OuterReferenceColumn(_, column) => column.flat_name(),
        other => other.to_string(),
    }
}

/// A graph's or column's name: bare, qualified, or as text. Of a graph's, the parts with dots stand in quotes.
fn name_of(function: &Function, parameter: &Parameter, value: &FunctionArgExpr) -> Result<String> {
    let part = |ident: &ast::Ident| match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_ascii_lowercase(),
    };
    let parts = match value {
        FunctionArgExpr::Expr(ast::Expr::Identifier(name)) => Some(vec![part(name)]),
        FunctionArgExpr::Expr(ast::Expr::CompoundIdentifier(names)) => Some(names.iter().map(part).collect()),
        FunctionArgExpr::Wildcard => Some(vec!["*".to_owned()]),
        FunctionArgExpr::Expr(ast::Expr::Value(value)) => match (value.clone().value.into_string(), &parameter.kind) {
            (Some(text), ParameterKind::Graph) => Some(split_graph_name(&text)),
            (text, _) => text.map(|text| vec![text]),
        },
        _ => None,
    };
    match (parts, &parameter.kind) {
        (Some(parts), ParameterKind::Graph) => Ok(graph_name(&parts)),
        (Some(parts), _) => Ok(parts.join(".")),
        (None, _) => {
            let usage = function.usage(Place::From);
            let text = format!("{}: {} takes a name, not {value}; it is {usage}", function.name, parameter.name);
            usage_error_at(value.span(), text)
        }
    }
}

/// The value of a constant expression.
fn constant(
    function: &Function,
    name: &str,
    value: &FunctionArgExpr,
    context: &mut dyn RelationPlannerContext,
) -> Result<OptionValue> {
    let refuse = || not_constant(function, name, value);
    let FunctionArgExpr::Expr(expr) = value else { return refuse() };
    let schema = DFSchema::empty();
    let Ok(expr) = context.sql_to_expr(expr.clone(), &schema) else { return refuse() };
    let schema = Arc::new(schema);
    let simplifier = ExprSimplifier::new(SimplifyContext::builder().with_schema(Arc::clone(&schema)).build());
    // A function gets its arguments in its parameters' types.
    let Expr::Literal(value, _) = simplifier.simplify(simplifier.coerce(expr, &schema)?)? else { return refuse() };
    OptionValue::from_scalar(&value).map_or_else(refuse, Ok)
}

/// Plans statements: DataFusion's planner, with our nodes and with runs that are shared within one statement.
#[derive(Debug, Default)]
pub struct BonnetQueryPlanner;

impl QueryPlanner for BonnetQueryPlanner {
    // The signature that `async_trait` writes, around a future of one lifetime: see `GraphResolver`.
    fn create_physical_plan<'s, 'p, 'c, 'f>(
        &'s self,
        plan: &'p LogicalPlan,
        session: &'c dyn Session,
    ) -> BoxFuture<'f, Result<Arc<dyn ExecutionPlan>>>
    where
        's: 'f,
        'p: 'f,
        'c: 'f,
        Self: 'f,
    {
        physical_plan(plan, session)
    }
}

fn physical_plan<'a>(plan: &'a LogicalPlan, session: &'a dyn Session) -> BoxFuture<'a, Result<Arc<dyn ExecutionPlan>>> {
    async move {
        let computed = computed_columns(plan)?;
        let mut nodes = NodePlanner { computed, ..NodePlanner::default() };
        let caches = session.config().get_extension::<GraphCacheAccess>().is_some_and(|access| access.limit > 0);
        if caches && calls_functions(plan)? {
            nodes.sources = Sources::of(plan, nodes.graphs(session)?.as_ref()).await?;
        }
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(nodes)]);
        if let LogicalPlan::Explain(explain) = plan
            && shows_final_plans(explain)
            && let Ok(explained) = planner.create_physical_plan(&explain.plan, session).await
        {
            return Ok(final_plans(explain, explained.as_ref(), session.config_options()));
        }
        planner.create_physical_plan(plan, session).await
    }
    .boxed()
}

/// The columns that each shared run has to compute: those of all its readers.
fn computed_columns(plan: &LogicalPlan) -> Result<HashMap<usize, Option<BTreeSet<usize>>>> {
    let mut computed: HashMap<usize, Option<BTreeSet<usize>>> = HashMap::new();
    plan.apply_with_subqueries(|plan| {
        if let LogicalPlan::Extension(extension) = plan
            && let Some(node) = extension.node.as_any().downcast_ref::<RelationNode>()
            && let Some(run) = node.shared
        {
            let all = computed.entry(run).or_insert_with(|| Some(BTreeSet::new()));
            match &node.columns {
                Some(columns) => {
                    if let Some(all) = all {
                        all.extend(columns);
                    }
                }
                None => *all = None,
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(computed)
}

/// Whether a plan calls a function in FROM.
fn calls_functions(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|plan| {
        found |= matches!(plan, LogicalPlan::Extension(extension) if extension.node.as_any().is::<RelationNode>());
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

#[derive(Debug, Default)]
struct NodePlanner {
    computed: HashMap<usize, Option<BTreeSet<usize>>>,
    runs: Mutex<HashMap<usize, Arc<SharedRun>>>,
    /// One copy of the session's state for all nodes.
    graphs: OnceLock<Arc<dyn GraphResolver>>,
    sources: Sources,
}

impl NodePlanner {
    fn graphs(&self, session: &dyn Session) -> Result<&Arc<dyn GraphResolver>> {
        let state = session
            .as_any()
            .downcast_ref::<SessionState>()
            .ok_or_else(|| internal_datafusion_err!("the engine plans in its own sessions"))?;
        Ok(self.graphs.get_or_init(|| Arc::new(SessionGraphs::new(state))))
    }
}

#[async_trait]
impl ExtensionPlanner for NodePlanner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(node) = node.as_any().downcast_ref::<RelationNode>() else { return Ok(None) };
        let (computed, shared) = match node.shared {
            None => (node.columns.clone(), None),
            Some(run) => {
                let computed = self.computed.get(&run).cloned().flatten();
                let mut runs = self.runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let shared = Arc::clone(runs.entry(run).or_default());
                (computed.map(|columns| columns.into_iter().collect()), Some((run, shared)))
            }
        };
        let exec = RelationExec::try_new(
            Arc::clone(&node.function),
            node.options(),
            node.input_names.to_vec(),
            inputs.to_vec(),
            node.columns.clone(),
            computed,
            shared,
            Arc::clone(self.graphs(session)?),
        )?;
        let sources = node.inputs.iter().map(|input| self.sources.source(input)).collect();
        Ok(Some(Arc::new(exec.with_sources(sources))))
    }
}
