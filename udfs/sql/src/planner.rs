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
    self, FunctionArg, FunctionArgExpr, FunctionArgOperator, ObjectName, ObjectNamePart, TableFactor, Value,
};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::shared::SharedRun;
use crate::{
    Function, GraphResolver, OptionType, OptionValue, Options, Parameter, ParameterKind, Registry, RelationExec,
    RelationNode, SessionGraphs, usage_error,
};

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
                    crate::Kind::Aggregate => "an aggregate",
                    crate::Kind::Window => "a window",
                    _ => "a scalar",
                },
                function.signature()
            ));
        }
        let node = plan_call(&function, &args.args, context)?;
        let plan = LogicalPlan::Extension(Extension { node: Arc::new(node) });
        let plan = match alias {
            Some(_) => plan,
            None => LogicalPlanBuilder::from(plan).alias(TableReference::bare(function.name))?.build()?,
        };
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias.clone()))))
    }
}

/// Binds the arguments of a call to the function's parameters.
fn plan_call(
    function: &Arc<Function>,
    args: &[FunctionArg],
    context: &mut dyn RelationPlannerContext,
) -> Result<RelationNode> {
    let mut given: Vec<(String, Vec<&FunctionArgExpr>)> = Vec::new();
    // An edge function's columns are those of the relation: in FROM it takes the edges, then its options.
    let parameters = function.parameters_in_from();
    let mut positional = parameters.iter();
    let mut last: Option<&Parameter> = None;
    let mut inputs = Vec::new();
    // A generator takes constants, or first a relation of them.
    let args = match (function.kind(), args) {
        (crate::Kind::Generator, [FunctionArg::Unnamed(first), rest @ ..]) if is_relation(function, first) => {
            let parameter = Parameter::relation("parameters", "");
            inputs.extend(relation(function, &parameter, first, context)?.map(|plan| ("parameters".to_owned(), plan)));
            rest
        }
        _ => args,
    };
    let of_relation = !inputs.is_empty();
    for arg in args {
        let (name, value) = match arg {
            FunctionArg::Unnamed(value) => {
                let parameter = match last {
                    Some(parameter) if parameter.variadic => parameter,
                    _ => match positional.next() {
                        Some(parameter) => parameter,
                        None => {
                            return usage_error(format!(
                                "{}: too many arguments; it is {}",
                                function.name,
                                usage(function)
                            ));
                        }
                    },
                };
                last = Some(parameter);
                (parameter.name.to_owned(), value)
            }
            FunctionArg::Named { name, arg, operator } => (named(function, name, operator)?, arg),
            FunctionArg::ExprNamed { name: ast::Expr::Identifier(name), arg, operator } => {
                (named(function, name, operator)?, arg)
            }
            other => return usage_error(format!("{}: cannot read the argument {other}", function.name)),
        };
        let variadic = parameters.iter().any(|parameter| parameter.name == name && parameter.variadic);
        match given.iter_mut().find(|(other, _)| *other == name) {
            Some((_, values)) if variadic => values.push(value),
            Some(_) => return usage_error(format!("{}: {name} is given twice", function.name)),
            None => given.push((name, vec![value])),
        }
    }

    let mut options = Options::default();
    for parameter in &parameters {
        let position = given.iter().position(|(name, _)| name == parameter.name);
        let Some((_, values)) = position.map(|position| given.remove(position)) else {
            if !parameter.optional && of_relation {
                continue;
            }
            if !parameter.optional {
                return usage_error(format!(
                    "{}: {} is missing; it is {}",
                    function.name,
                    parameter.name,
                    usage(function)
                ));
            }
            if parameter.kind != ParameterKind::Relation {
                options.insert(parameter.name, parameter.default.clone());
            }
            continue;
        };
        match &parameter.kind {
            ParameterKind::Relation => {
                if let Some(plan) = relation(function, parameter, values[0], context)? {
                    inputs.push((parameter.name.to_owned(), plan));
                }
            }
            ParameterKind::Graph if parameter.variadic => {
                let names =
                    values.iter().map(|value| name_of(function, parameter, value)).collect::<Result<Vec<_>>>()?;
                options.insert(parameter.name, OptionValue::List(names.into_iter().map(OptionValue::Text).collect()));
            }
            ParameterKind::Graph | ParameterKind::Name => {
                options.insert(parameter.name, OptionValue::Text(name_of(function, parameter, values[0])?));
            }
            // A generator's parameters are constants in FROM.
            ParameterKind::Column(_) => {
                options.insert(parameter.name, constant(function, parameter.name, values[0], context)?);
            }
            ParameterKind::Option(kind) => {
                let value = constant(function, parameter.name, values[0], context)?;
                options.insert(parameter.name, checked(function, parameter.name, *kind, value)?);
            }
        }
    }
    for (name, values) in given {
        if !function.open_options {
            let names: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
            return usage_error(format!(
                "{}: there is no argument {name}; it takes: {}",
                function.name,
                names.join(", ")
            ));
        }
        let value = constant(function, &name, values[0], context)?;
        options.insert(name, value);
    }
    RelationNode::try_new(Arc::clone(function), options, inputs, None, None)
}

fn usage(function: &Function) -> String {
    let shown = Function { parameters: function.parameters_in_from(), ..function.clone() };
    format!("FROM {}", shown.signature())
}

fn named(function: &Function, name: &ast::Ident, operator: &FunctionArgOperator) -> Result<String> {
    match operator {
        FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment => Ok(name.value.to_ascii_lowercase()),
        other => usage_error(format!("{}: name arguments with =>, not {other}", function.name)),
    }
}

/// The plan of a relation argument: `(SELECT ...)`, or a bare name, which the statement's rewriting has turned into
/// a subquery already. `None` for NULL: as good as left out.
fn relation(
    function: &Function,
    parameter: &Parameter,
    value: &FunctionArgExpr,
    context: &mut dyn RelationPlannerContext,
) -> Result<Option<LogicalPlan>> {
    let table = |name: ObjectName| TableFactor::Table {
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
    };
    let factor = match value {
        FunctionArgExpr::Expr(ast::Expr::Subquery(subquery)) => {
            TableFactor::Derived { lateral: false, subquery: subquery.clone(), alias: None, sample: None }
        }
        FunctionArgExpr::Expr(ast::Expr::Identifier(name)) => table(ObjectName::from(vec![name.clone()])),
        FunctionArgExpr::Expr(ast::Expr::CompoundIdentifier(names)) => table(ObjectName::from(names.clone())),
        FunctionArgExpr::Expr(ast::Expr::Value(value)) if value.value == Value::Null && parameter.optional => {
            return Ok(None);
        }
        other => {
            return usage_error(format!(
                "{}: {} takes a relation (a table, a view, a CTE or (SELECT ...)), not {}; it is {}",
                function.name,
                parameter.name,
                arg_text(other),
                usage(function)
            ));
        }
    };
    context.plan(factor).map(Some)
}

/// Whether a generator's first argument can only be a relation: a subquery, or a name where no graph is meant.
fn is_relation(function: &Function, value: &FunctionArgExpr) -> bool {
    let takes_graph = function.parameters.first().is_some_and(|parameter| parameter.kind == ParameterKind::Graph);
    match value {
        FunctionArgExpr::Expr(ast::Expr::Subquery(_)) => true,
        FunctionArgExpr::Expr(ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_)) => !takes_graph,
        _ => false,
    }
}

fn arg_text(value: &FunctionArgExpr) -> String {
    value.to_string()
}

/// A graph's or column's name: bare, qualified, or as text.
fn name_of(function: &Function, parameter: &Parameter, value: &FunctionArgExpr) -> Result<String> {
    let part = |ident: &ast::Ident| match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_ascii_lowercase(),
    };
    match value {
        FunctionArgExpr::Expr(ast::Expr::Identifier(name)) => Ok(part(name)),
        FunctionArgExpr::Expr(ast::Expr::CompoundIdentifier(names)) => {
            Ok(names.iter().map(part).collect::<Vec<_>>().join("."))
        }
        FunctionArgExpr::Wildcard => Ok("*".to_owned()),
        FunctionArgExpr::Expr(ast::Expr::Value(value)) => match value.clone().value.into_string() {
            Some(text) => Ok(text),
            None => usage_error(format!("{}: {} takes a name, not {value}", function.name, parameter.name)),
        },
        other => usage_error(format!(
            "{}: {} takes a name, not {}; it is {}",
            function.name,
            parameter.name,
            arg_text(other),
            usage(function)
        )),
    }
}

/// The value of a constant expression.
fn constant(
    function: &Function,
    name: &str,
    value: &FunctionArgExpr,
    context: &mut dyn RelationPlannerContext,
) -> Result<OptionValue> {
    let refuse = || usage_error(format!("{}: {name} must be a constant, not {}", function.name, arg_text(value)));
    let FunctionArgExpr::Expr(expr) = value else { return refuse() };
    let schema = DFSchema::empty();
    let Ok(expr) = context.sql_to_expr(expr.clone(), &schema) else { return refuse() };
    let simplifier = ExprSimplifier::new(SimplifyContext::builder().with_schema(Arc::new(schema)).build());
    let Ok(Expr::Literal(value, _)) = simplifier.simplify(expr) else { return refuse() };
    match OptionValue::from_scalar(&value) {
        Some(value) => Ok(value),
        None => refuse(),
    }
}

/// The option in its parameter's type.
pub(crate) fn checked(function: &Function, name: &str, kind: OptionType, value: OptionValue) -> Result<OptionValue> {
    let expected = match (kind, &value) {
        (_, OptionValue::Null)
        | (OptionType::Boolean, OptionValue::Boolean(_))
        | (OptionType::Integer, OptionValue::Integer(_))
        | (OptionType::Number, OptionValue::Number(_))
        | (OptionType::NumberOrText, OptionValue::Number(_) | OptionValue::Text(_))
        | (OptionType::Text, OptionValue::Text(_)) => return Ok(value),
        (OptionType::Number | OptionType::NumberOrText, OptionValue::Integer(value)) => {
            return Ok(OptionValue::Number(*value as f64));
        }
        (OptionType::Boolean, _) => "true or false",
        (OptionType::Integer, _) => "a whole number",
        (OptionType::Number, _) => "a number",
        (OptionType::Text, _) => "a text",
        (OptionType::NumberOrText, _) => "a number or a text",
    };
    usage_error(format!("{}: {name} => {value}: expected {expected}", function.name))
}

/// Plans statements: DataFusion's planner, with our nodes and with runs that are shared within one statement.
#[derive(Debug, Default)]
pub struct BonnetQueryPlanner;

impl QueryPlanner for BonnetQueryPlanner {
    // What `async_trait` writes, around a future of one lifetime: see `GraphResolver`.
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
        let nodes = NodePlanner { computed, runs: Mutex::default(), graphs: OnceLock::new() };
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(nodes)]);
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

#[derive(Debug)]
struct NodePlanner {
    computed: HashMap<usize, Option<BTreeSet<usize>>>,
    runs: Mutex<HashMap<usize, Arc<SharedRun>>>,
    /// One copy of the session's state for all nodes.
    graphs: OnceLock<Arc<dyn GraphResolver>>,
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
        let state = session
            .as_any()
            .downcast_ref::<SessionState>()
            .ok_or_else(|| internal_datafusion_err!("the engine plans in its own sessions"))?;
        let (computed, shared) = match node.shared {
            None => (node.columns.clone(), None),
            Some(run) => {
                let computed = self.computed.get(&run).cloned().flatten();
                let mut runs = self.runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let shared = Arc::clone(runs.entry(run).or_default());
                (computed.map(|columns| columns.into_iter().collect()), Some((run, shared)))
            }
        };
        Ok(Some(Arc::new(RelationExec::try_new(
            Arc::clone(&node.function),
            node.options.clone(),
            node.input_names.clone(),
            inputs.to_vec(),
            node.columns.clone(),
            computed,
            shared,
            Arc::clone(self.graphs.get_or_init(|| Arc::new(SessionGraphs::new(state)))),
        )?)))
    }
}
