//! The adapter for functions that make graphs: from constants, or one graph a row of a relation of parameters.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bonnet_graph::{Monitor, Reservation};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::TaskContext;
use futures::TryStreamExt;

use crate::binding::arguments::checked;
use crate::error::{stopped, usage_error};
use crate::graphs::GraphResolver;
use crate::registry::body::Generator;
use crate::registry::generated_graph::{GeneratedGraph, edge_columns};
use crate::registry::generator_inputs::GeneratorInputs;
use crate::registry::operator::{Binding, Call, Operator};
use crate::registry::options::{OptionValue, Options};
use crate::registry::{Function, ParameterKind};
use crate::runs::run::Run;

impl GeneratorInputs {
    /// Adds the tables of the graph that an option of the generator names, if one does: the columns that the generator
    /// reads of `nodes` and `edges`.
    ///
    /// # Errors
    /// If there is no such graph, or a column that has to be there is missing.
    pub async fn read_graph(
        &mut self,
        function: &Function,
        generator: &dyn Generator,
        options: &Options,
        graphs: &dyn GraphResolver,
        context: &Arc<TaskContext>,
    ) -> Result<()> {
        let Some(parameter) = function.parameters.iter().find(|parameter| parameter.kind == ParameterKind::Graph)
        else {
            return Ok(());
        };
        let Some(name) = options.texts(parameter.name)?.pop() else { return Ok(()) };
        let tables = graphs.tables(&name).await?;
        for (table, provider) in [("nodes", &tables.nodes), ("edges", &tables.edges)] {
            let schema = provider.schema();
            let columns = columns_of(
                generator.reads(table),
                &schema,
                &format!("{}: graph {name}: its table {table}", function.name),
            )?;
            let rows = graphs.read(provider, &columns.iter().map(String::as_str).collect::<Vec<_>>(), context).await?;
            self.insert(table, rows.try_collect().await?);
        }
        Ok(())
    }
}

/// Those of the columns that a relation has.
///
/// # Errors
/// If one that has to be there is missing; `what` names the relation.
fn columns_of(reads: &[&str], schema: &Schema, what: &str) -> Result<Vec<String>> {
    let mut columns = Vec::new();
    for read in reads {
        let name = read.trim_end_matches('?');
        match schema.field_with_name(name) {
            Ok(_) => columns.push(name.to_owned()),
            Err(_) if name.len() < read.len() => {}
            Err(_) => {
                let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                return usage_error(format!("{what} has no column {name}; it has: {}", found.join(", ")));
            }
        }
    }
    Ok(columns)
}

/// The input that holds one graph's constants a row.
pub(crate) const PARAMETERS: &str = "parameters";

/// Edges of small graphs that are made without a change of thread.
const TOGETHER: usize = 1 << 16;

/// The operator of a generator's FROM spelling.
#[derive(Clone)]
pub(crate) struct GeneratorOperator {
    function: Function,
    generator: Arc<dyn Generator>,
}

impl GeneratorOperator {
    pub(crate) fn new(function: &Function, generator: &Arc<dyn Generator>) -> Self {
        Self { function: function.clone(), generator: Arc::clone(generator) }
    }

    fn schema(&self, call: &Call) -> Result<SchemaRef> {
        let edges = [Field::new("src", DataType::Int64, true), Field::new("dst", DataType::Int64, true)];
        let Some(input) = call.input(PARAMETERS) else { return Ok(Arc::new(Schema::new(edges.to_vec()))) };
        let input = &call.inputs[input];
        let Ok(id) = input.schema.field_with_name("graph_id") else {
            return usage_error(format!(
                "{}: a relation of parameters needs a column graph_id, which names each row's graph",
                self.function.name
            ));
        };
        let id = id.clone().with_nullable(true);
        Ok(Arc::new(Schema::new([id].into_iter().chain(edges).collect::<Vec<_>>())))
    }

    /// The rows of the call's relations but that of parameters.
    fn relations(&self, call: &Call, run: &mut Run) -> Result<GeneratorInputs> {
        let mut inputs = GeneratorInputs::default();
        for (position, input) in call.inputs.iter().enumerate().filter(|(_, input)| input.name != PARAMETERS) {
            inputs.insert(&input.name, run.collect(position)?);
        }
        Ok(inputs)
    }

    /// The graph of these constants.
    fn make(&self, options: &Options, relations: &GeneratorInputs, run: &Run) -> Result<GeneratedGraph> {
        let mut inputs = relations.clone();
        let graphs = Arc::clone(run.graphs());
        run.wait(inputs.read_graph(&self.function, self.generator.as_ref(), options, graphs.as_ref(), run.context()))?;
        let bytes = ["nodes", "edges"].iter().filter_map(|table| inputs.get(table)).flatten();
        let _room =
            Reservation::new(run.host(), bytes.map(RecordBatch::get_array_memory_size).sum()).map_err(stopped)?;
        let host = run.host();
        run.install(|| self.generator.generate(options, &inputs, host))
    }

    /// The graphs of the first of some rows: one, or as many as have about [`TOGETHER`] edges.
    fn graphs(
        &self,
        call: &Call,
        batch: &RecordBatch,
        rows: Range<usize>,
        relations: &GeneratorInputs,
        run: &Run,
    ) -> Result<Vec<GeneratedGraph>> {
        let reads_graph = self.function.parameters.iter().any(|parameter| parameter.kind == ParameterKind::Graph);
        let host = run.host();
        host.check().map_err(stopped)?;
        if reads_graph {
            return Ok(vec![self.make(&self.row_options(call, batch, rows.start)?, relations, run)?]);
        }
        run.install(|| {
            let (mut graphs, mut edges) = (Vec::new(), 0);
            for row in rows {
                host.check().map_err(stopped)?;
                let options = self.row_options(call, batch, row)?;
                let graph = self.generator.generate(&options, relations, host)?;
                edges += graph.edges.len() + 1;
                graphs.push(graph);
                if edges >= TOGETHER {
                    break;
                }
            }
            Ok(graphs)
        })
    }

    /// The constants of one row; options given beside the relation hold for every row that has no such column.
    fn row_options(&self, call: &Call, batch: &RecordBatch, row: usize) -> Result<Options> {
        let mut options = call.options.clone();
        for parameter in &self.function.parameters {
            if let Some(column) = batch.column_by_name(parameter.name) {
                let value = ScalarValue::try_from_array(column, row)?;
                if parameter.kind == ParameterKind::Relation {
                    return usage_error(format!(
                        "{}: {} is a relation, the same for all graphs: give it beside the parameters, {0}(..., {1} => ...)",
                        self.function.name, parameter.name
                    ));
                }
                let Some(value) = OptionValue::from_scalar(&value) else {
                    return usage_error(format!(
                        "{}: the column {} is {}",
                        self.function.name,
                        parameter.name,
                        column.data_type()
                    ));
                };
                let value = match &parameter.kind {
                    ParameterKind::Option(kind) => checked(&self.function, parameter.name, *kind, value)?,
                    _ => value,
                };
                options.insert(parameter.name, value);
            }
        }
        Ok(options)
    }
}

impl Operator for GeneratorOperator {
    fn bind(&self, call: &Call) -> Result<Binding> {
        let schema = self.schema(call)?;
        let mut reads = Vec::with_capacity(call.inputs.len());
        for input in &call.inputs {
            let given = &input.schema;
            if input.name != PARAMETERS {
                let what = format!("{}: {}", self.function.name, input.name);
                reads.push(columns_of(self.generator.reads(&input.name), given, &what)?);
                continue;
            }
            for parameter in &self.function.parameters {
                let named = given.field_with_name(parameter.name).is_ok() || call.options.get(parameter.name).is_some();
                if !parameter.optional && !named {
                    return usage_error(format!(
                        "{}: the relation has no column {}",
                        self.function.name, parameter.name
                    ));
                }
            }
            let names = self.function.parameters.iter().map(|parameter| parameter.name).chain(["graph_id"]);
            reads.push(names.filter(|name| given.field_with_name(name).is_ok()).map(str::to_owned).collect());
        }
        let (operator, call) = (self.clone(), call.clone());
        Ok(Binding::new(schema, reads, move |run| operator.run(&call, run)))
    }
}

impl GeneratorOperator {
    /// Emits the edges. A generator's options are those of a row, so they are parsed as rows come.
    fn run(&self, call: &Call, run: &mut Run) -> Result<()> {
        let relations = self.relations(call, run)?;
        let size = run.batch_size();
        let Some(parameters) = call.input(PARAMETERS) else {
            let graph = self.make(&call.options, &relations, run)?;
            let _room = Reservation::new(run.host(), graph.bytes()).map_err(stopped)?;
            for edges in graph.edges.chunks(size) {
                let (src, dst) = edge_columns(edges);
                run.emit(RecordBatch::try_new(Arc::clone(run.schema()), vec![src, dst])?)?;
            }
            return Ok(());
        };
        let mut small = run.coalescer(Arc::clone(run.schema()));
        while let Some(batch) = run.next(parameters)? {
            let (Some(ids), rows) = (batch.column_by_name("graph_id"), batch.num_rows()) else { continue };
            run.host().expect(rows as u64);
            let mut first = 0;
            while first < rows {
                let graphs = self.graphs(call, &batch, first..rows, &relations, run)?;
                let _room =
                    Reservation::new(run.host(), graphs.iter().map(GeneratedGraph::bytes).sum()).map_err(stopped)?;
                let edges = graphs
                    .iter()
                    .zip(first as u32..)
                    .flat_map(|(graph, row)| graph.edges.iter().map(move |&edge| (row, edge)));
                let (of_graph, edges): (Vec<u32>, Vec<(u32, u32)>) = edges.unzip();
                for (of_graph, edges) in of_graph.chunks(size).zip(edges.chunks(size)) {
                    let (src, dst) = edge_columns(edges);
                    let id = take(ids, &UInt32Array::from(of_graph.to_vec()), None)?;
                    small.push_batch(RecordBatch::try_new(Arc::clone(run.schema()), vec![id, src, dst])?)?;
                    while let Some(graphs) = small.next_completed_batch() {
                        run.emit(graphs)?;
                    }
                }
                first += graphs.len();
                run.host().advance(graphs.len() as u64);
            }
        }
        small.finish_buffered_batch()?;
        small.next_completed_batch().map_or(Ok(()), |graphs| run.emit(graphs))
    }
}
