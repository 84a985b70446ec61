//! The adapter for functions that make graphs: from constants, or one graph a row of a relation of parameters.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float32Array, Int64Array, ListArray, RecordBatch, UInt32Array};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bonnet_graph::Monitor;
use datafusion::common::{Result, ScalarValue};

use crate::planner::checked;
use crate::{
    Binding, Call, Function, Operator, OptionValue, Options, Parameter, ParameterKind, Run, stopped, usage_error,
};

/// A graph that a generator made. Nodes are `0..n_nodes`.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedGraph {
    /// The number of nodes.
    pub n_nodes: usize,
    /// The edges, each once.
    pub edges: Vec<(u32, u32)>,
    /// The class of each node.
    pub labels: Option<Vec<i64>>,
    /// The number of features of a node, and all features row by row.
    pub features: Option<(usize, Vec<f32>)>,
}

/// A function that makes a graph of constants.
pub trait Generator: Debug + Send + Sync {
    /// Makes the graph. The options are checked against the parameters' types.
    fn generate(&self, options: &Options, monitor: &dyn Monitor) -> Result<GeneratedGraph>;
}

impl GeneratedGraph {
    /// The edges as columns `src`, `dst`.
    pub fn edge_columns(&self) -> (ArrayRef, ArrayRef) {
        let end = |pick: fn(&(u32, u32)) -> u32| -> ArrayRef {
            Arc::new(self.edges.iter().map(|edge| i64::from(pick(edge))).collect::<Int64Array>())
        };
        (end(|edge| edge.0), end(|edge| edge.1))
    }

    /// The table `edges`: `src, dst`.
    pub fn edges(&self) -> Result<RecordBatch> {
        let (src, dst) = self.edge_columns();
        Ok(RecordBatch::try_from_iter_with_nullable([("src", src, true), ("dst", dst, true)])?)
    }

    /// The table `nodes`: `node`, and `label` and `features` where the generator makes them.
    pub fn nodes(&self) -> Result<RecordBatch> {
        let node: ArrayRef = Arc::new(Int64Array::from_iter_values(0..self.n_nodes as i64));
        let mut columns = vec![("node", node, true)];
        if let Some(labels) = &self.labels {
            columns.push(("label", Arc::new(Int64Array::from(labels.clone())), true));
        }
        if let Some((width, values)) = &self.features {
            let offsets: Vec<i32> = (0..=self.n_nodes as i32).map(|node| node * *width as i32).collect();
            let item = Arc::new(Field::new("item", DataType::Float32, true));
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let list = ListArray::try_new(item, offsets, Arc::new(Float32Array::from(values.clone())), None)?;
            columns.push(("features", Arc::new(list), true));
        }
        Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
    }
}

/// The input that holds one graph's constants a row.
const PARAMETERS: &str = "parameters";

/// The operator of a generator's FROM spelling.
#[derive(Debug)]
pub(crate) struct GeneratorOperator {
    name: &'static str,
    parameters: Vec<Parameter>,
    function: Function,
    generator: Arc<dyn Generator>,
}

impl GeneratorOperator {
    pub(crate) fn new(function: &Function, generator: &Arc<dyn Generator>) -> Self {
        Self {
            name: function.name,
            parameters: function.parameters.clone(),
            function: function.clone(),
            generator: Arc::clone(generator),
        }
    }

    fn schema(&self, call: &Call) -> Result<SchemaRef> {
        let edges = [Field::new("src", DataType::Int64, true), Field::new("dst", DataType::Int64, true)];
        let Some(input) = call.input(PARAMETERS) else { return Ok(Arc::new(Schema::new(edges.to_vec()))) };
        let input = &call.inputs[input];
        let Ok(id) = input.schema.field_with_name("graph_id") else {
            return usage_error(format!(
                "{}: a relation of parameters needs a column graph_id, which names each row's graph",
                self.name
            ));
        };
        let id = id.clone().with_nullable(true);
        Ok(Arc::new(Schema::new([id].into_iter().chain(edges).collect::<Vec<_>>())))
    }

    /// The constants of one row; options given beside the relation hold for every row that has no such column.
    fn row_options(&self, call: &Call, batch: &RecordBatch, row: usize) -> Result<Options> {
        let mut options = call.options.clone();
        for parameter in &self.parameters {
            if let Some(column) = batch.column_by_name(parameter.name) {
                let value = ScalarValue::try_from_array(column, row)?;
                let Some(value) = OptionValue::from_scalar(&value) else {
                    return usage_error(format!(
                        "{}: the column {} is {}",
                        self.name,
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
        let reads = match call.input(PARAMETERS) {
            None => Vec::new(),
            Some(input) => {
                let given = &call.inputs[input].schema;
                for parameter in &self.parameters {
                    let named =
                        given.field_with_name(parameter.name).is_ok() || call.options.get(parameter.name).is_some();
                    if !parameter.optional && !named {
                        return usage_error(format!("{}: the relation has no column {}", self.name, parameter.name));
                    }
                }
                let names = self.parameters.iter().map(|parameter| parameter.name).chain(["graph_id"]);
                vec![names.filter(|name| given.field_with_name(name).is_ok()).map(str::to_owned).collect()]
            }
        };
        Ok(Binding { schema, reads, carries: None })
    }

    fn run(&self, call: &Call, run: &mut Run) -> Result<()> {
        if call.inputs.is_empty() {
            let host = run.host();
            let graph = run.install(|| self.generator.generate(&call.options, host))?;
            let (src, dst) = graph.edge_columns();
            return run.emit_all(vec![src, dst]);
        }
        while let Some(batch) = run.next(0)? {
            let (Some(ids), rows) = (batch.column_by_name("graph_id"), batch.num_rows()) else { continue };
            run.host().expect(rows as u64);
            for row in 0..rows {
                run.host().check().map_err(stopped)?;
                let options = self.row_options(call, &batch, row)?;
                let host = run.host();
                let graph = run.install(|| self.generator.generate(&options, host))?;
                let (src, dst) = graph.edge_columns();
                let id = take(ids, &UInt32Array::from(vec![row as u32; src.len()]), None)?;
                run.emit_all(vec![id, src, dst])?;
                run.host().advance(1);
            }
        }
        Ok(())
    }
}
