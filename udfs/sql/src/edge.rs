//! The adapter for functions that answer one value per edge: a window function and a relation function, one operator.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array, new_null_array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::Monitor;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, LogicalPlanBuilder, Window, WindowFunctionDefinition};
use rayon::prelude::*;

use crate::cached_input::CacheRequest;
use crate::columns::whole_column;
use crate::graph_input::{InputGraphs, edge_schema, require_weight};
use crate::host::Host;
use crate::input_graph::InputGraph;
use crate::keys::KeyColumn;
use crate::node::RelationNode;
use crate::operator::{Binding, Call, Operator, stopped, usage_error};
use crate::options::{OptionValue, Options};
use crate::planner::checked;
use crate::registry::{Body, Function, Parameter, ParameterKind, Registry};
use crate::run::Run;

/// A function of the edges of one graph.
pub trait EdgeFunction: Debug + Send + Sync {
    /// The type of a value.
    fn data_type(&self) -> DataType;

    /// What computes the values, with these options. Called at planning.
    ///
    /// # Errors
    /// For an option out of its range.
    fn bind(&self, options: &Options) -> Result<EdgeKernel>;
}

/// Computes one value for each of [`InputGraph::arcs`], NULL for a loop. Called in the kernel threads, for many graphs at
/// once.
pub type EdgeKernel = Box<dyn Fn(&InputGraph, &Host) -> Result<ArrayRef> + Send + Sync>;

/// The column that holds the row's weight, or the like, in the FROM spelling is named as the parameter.
const SRC: &str = "src";
const DST: &str = "dst";

/// The FROM spelling takes the edges instead of their columns; an optional column such as `weight` becomes the name of
/// a column.
pub(crate) fn relation_parameters(function: &Function) -> Vec<Parameter> {
    let edges = Parameter::relation("edges", "The edges: src, dst, and any other columns, which are carried through.");
    let rest = function.parameters.iter().filter(|parameter| !matches!(parameter.name, SRC | DST)).map(|parameter| {
        match parameter.kind {
            ParameterKind::Column(_) => Parameter { kind: ParameterKind::Name, ..parameter.clone() },
            _ => parameter.clone(),
        }
    });
    std::iter::once(edges).chain(rest).collect()
}

/// The operator behind both spellings of an edge function.
///
/// The window spelling names its columns by options that begin with `@`: `@src`, `@dst`, `@partition` (how many columns
/// `__partition_i` there are) and `@value` (the name of the answer's column).
#[derive(Debug)]
pub(crate) struct EdgeOperator {
    name: &'static str,
    function: Arc<dyn EdgeFunction>,
}

impl EdgeOperator {
    pub(crate) fn new(name: &'static str, function: Arc<dyn EdgeFunction>) -> Self {
        Self { name, function }
    }

    /// The columns read: src, dst, the partition, the weight.
    fn columns(&self, options: &Options) -> Result<Columns> {
        let named = |option: &str, default: &str| {
            Ok::<_, datafusion::common::DataFusionError>(options.text(option)?.unwrap_or(default).to_owned())
        };
        let partition = match options.integer("@partition")? {
            Some(count) => (0..count).map(|i| format!("__partition_{i}")).collect(),
            None => vec!["graph_id".to_owned()],
        };
        Ok(Columns {
            src: named("@src", SRC)?,
            dst: named("@dst", DST)?,
            partition,
            weight: options.text("weight")?.map(str::to_owned),
            value: named("@value", self.name)?,
        })
    }
}

struct Columns {
    src: String,
    dst: String,
    partition: Vec<String>,
    weight: Option<String>,
    value: String,
}

impl Operator for EdgeOperator {
    fn bind(&self, call: &Call) -> Result<Binding> {
        let (name, input) = (self.name, &call.inputs[0]);
        let columns = self.columns(&call.options)?;
        if call.options.get("@src").is_none() {
            edge_schema(name, input)?;
        }
        let kernel = self.function.bind(&call.options)?;
        let mut reads = vec![columns.src.clone(), columns.dst.clone()];
        if let Some(weight) = &columns.weight {
            if input.schema.field_with_name(weight).is_err() {
                return usage_error(format!("{name}: the edges have no column {weight}"));
            }
            require_weight(name, input, weight)?;
            reads.push(weight.clone());
        }
        reads.extend(columns.partition.iter().filter(|name| input.schema.field_with_name(name).is_ok()).cloned());
        let value = Field::new(&columns.value, self.function.data_type(), true);
        let fields: Vec<_> = input.schema.fields().iter().cloned().chain([Arc::new(value)]).collect();
        let run = move |run: &mut Run| run_edges(name, &columns, &kernel, run);
        Ok(Binding::new(Arc::new(Schema::new(fields)), vec![reads], run).carrying(0))
    }
}

/// Emits the rows of the edges, each with its value behind.
fn run_edges(name: &str, columns: &Columns, kernel: &EdgeKernel, run: &mut Run) -> Result<()> {
    let batches = run.collect(0)?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    if rows == 0 {
        return Ok(());
    }
    // The graphs' rows, under the names that `InputGraphs` knows.
    let view = view(columns, &batches)?;
    run.host().reserve(view.get_array_memory_size()).map_err(stopped)?;
    let graphs = InputGraphs::new(run, name, &[view], None, columns.weight.as_deref())?;
    let request = CacheRequest::new(run, (&columns.src, &columns.dst), None, None).filter(|_| !graphs.have_ids());
    let cached = request.map(|request| graphs.cached(&request, run)).transpose()?;

    run.host().expect(graphs.len() as u64);
    let host = run.host();
    let compute = |i: usize| -> Result<ArrayRef> {
        host.check().map_err(stopped)?;
        let own = if cached.is_some() { None } else { Some(graphs.graph(i)?) };
        let Some(graph) = cached.as_ref().or(own.as_ref()) else { return internal_err!("{name}: a graph is lost") };
        let values = graph.by_row(kernel(graph, host)?)?;
        host.advance(1);
        Ok(values)
    };
    // Collected before the first error is looked for: of several, that of the first graph is reported.
    let found: Vec<Result<_>> = run.install(|| (0..graphs.len()).into_par_iter().map(compute).collect());
    let values = found.into_iter().collect::<Result<Vec<ArrayRef>>>()?;
    let own = run.schema().fields().len() - 1;
    let value = match values.len() {
        0 => new_null_array(run.schema().field(own).data_type(), 0),
        _ => concat(&values.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>())?,
    };
    let value = match graphs.order() {
        Some(order) => in_order(value, order, rows)?,
        None => value,
    };
    let mut offset = 0;
    for batch in batches {
        let values = value.slice(offset, batch.num_rows());
        offset += batch.num_rows();
        let columns = batch.columns()[..own].iter().cloned().chain([values]).collect();
        run.emit(RecordBatch::try_new(Arc::clone(&run.schema), columns)?)?;
    }
    Ok(())
}

/// Back to the order of the rows, of which `order` names each value's; those of no graph (graph_id is NULL) answer NULL.
fn in_order(values: ArrayRef, order: &[u32], rows: usize) -> Result<ArrayRef> {
    if order.len() == rows && order.iter().zip(0..).all(|(&position, row)| position == row) {
        return Ok(values);
    }
    let mut place: Vec<Option<u32>> = vec![None; rows];
    for (from, &to) in order.iter().enumerate() {
        place[to as usize] = Some(from as u32);
    }
    Ok(take(&values, &UInt32Array::from(place), None)?)
}

/// `src`, `dst`, `graph_id` and the weight of the rows. Several partition columns become one text.
fn view(columns: &Columns, batches: &[RecordBatch]) -> Result<RecordBatch> {
    let whole = |name: &str| whole_column(batches, name);
    let (Some(src), Some(dst)) = (whole(&columns.src)?, whole(&columns.dst)?) else {
        return usage_error("the edges have no rows to read");
    };
    let mut fields = vec![("src", src, true), ("dst", dst, true)];
    let partition: Vec<ArrayRef> =
        columns.partition.iter().map(|name| whole(name)).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    if !partition.is_empty() {
        let rows = partition[0].len();
        let id = match partition.as_slice() {
            // NULL groups with NULL in OVER, as everywhere in SQL; a NULL graph_id in FROM is no graph.
            [id] if columns.partition[0] == "graph_id"
                || (id.null_count() == 0 && KeyColumn::normal_type(id.data_type()).is_some()) =>
            {
                Arc::clone(id)
            }
            partition => {
                let ids = (0..rows)
                    .map(|row| {
                        let parts = partition.iter().map(|column| ScalarValue::try_from_array(column, row));
                        let parts = parts.collect::<Result<Vec<_>>>()?;
                        Ok(Some(format!("{parts:?}")))
                    })
                    .collect::<Result<Vec<_>>>()?;
                Arc::new(arrow::array::StringArray::from(ids)) as ArrayRef
            }
        };
        fields.push(("graph_id", id, true));
    }
    if let Some(weight) = &columns.weight {
        fields.extend(whole(weight)?.map(|column| (weight.as_str(), column, true)));
    }
    Ok(RecordBatch::try_from_iter_with_nullable(fields)?)
}

/// Replaces the edge functions of a window node by operators under what is left of it.
pub(crate) fn replace_window(window: Window, registry: &Registry) -> Result<Transformed<LogicalPlan>> {
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
                    SRC => "@src",
                    DST => "@dst",
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
