//! The codec of the plan's calls: a distributed engine ships them as bytes.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, TableReference, internal_datafusion_err, internal_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use serde::{Deserialize, Serialize};

use crate::{Function, GraphRef, GraphResolver, Options, Registry, RelationExec, RelationNode};

/// Reads and writes calls of the functions of a registry. A call is written as its function's name, its constants, the
/// names of its inputs, its columns, and the graphs that names in its rows may stand for.
#[derive(Debug)]
pub struct FunctionCodec {
    registry: Arc<Registry>,
    graphs: Arc<dyn GraphResolver>,
}

#[derive(Debug, Serialize, Deserialize)]
struct EncodedNode {
    function: String,
    options: Options,
    inputs: Vec<String>,
    columns: Option<Vec<usize>>,
    computed: Option<Vec<usize>>,
    run: Option<usize>,
    graphs: Vec<GraphRef>,
}

impl FunctionCodec {
    /// A codec for these functions; names in rows stand for these graphs where a plan is read back.
    pub fn new(registry: Arc<Registry>, graphs: Arc<dyn GraphResolver>) -> Self {
        Self { registry, graphs }
    }

    fn function(&self, name: &str) -> Result<Arc<Function>> {
        match self.registry.get(name) {
            Some(function) => Ok(Arc::clone(function)),
            None => internal_err!("the plan calls {name}, which this engine does not have"),
        }
    }

    fn read(&self, bytes: &[u8]) -> Result<EncodedNode> {
        let encoded: EncodedNode =
            serde_json::from_slice(bytes).map_err(|error| internal_datafusion_err!("not one of our calls: {error}"))?;
        let here = self.graphs.references();
        match encoded.graphs.iter().find(|graph| !here.contains(graph)) {
            Some(graph) => internal_err!(
                "the plan was made with the graph {} ({} {}, version {}), which differs or is missing here",
                graph.name,
                graph.format,
                graph.location,
                graph.version
            ),
            None => Ok(encoded),
        }
    }
}

fn write(encoded: &EncodedNode, bytes: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(bytes, encoded).map_err(|error| internal_datafusion_err!("cannot write the call: {error}"))
}

impl LogicalExtensionCodec for FunctionCodec {
    fn try_decode(&self, bytes: &[u8], inputs: &[LogicalPlan], _: &TaskContext) -> Result<Extension> {
        let encoded = self.read(bytes)?;
        let inputs = encoded.inputs.into_iter().zip(inputs.iter().cloned()).collect();
        let function = self.function(&encoded.function)?;
        let node = RelationNode::try_new(function, encoded.options, inputs, encoded.columns, encoded.run)?;
        Ok(Extension { node: Arc::new(node) })
    }

    fn try_encode(&self, extension: &Extension, bytes: &mut Vec<u8>) -> Result<()> {
        let Some(node) = extension.node.as_any().downcast_ref::<RelationNode>() else {
            return internal_err!("{} is not a call of ours", extension.node.name());
        };
        let encoded = EncodedNode {
            function: node.function.name.to_owned(),
            options: node.options(),
            inputs: node.input_names.to_vec(),
            columns: node.columns.clone(),
            computed: None,
            run: node.shared,
            graphs: self.graphs.references(),
        };
        write(&encoded, bytes)
    }

    fn try_decode_table_provider(
        &self,
        _: &[u8],
        table: &TableReference,
        _: SchemaRef,
        _: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        internal_err!("the table {table} is not shipped with a plan")
    }

    fn try_encode_table_provider(
        &self,
        table: &TableReference,
        _: Arc<dyn TableProvider>,
        _: &mut Vec<u8>,
    ) -> Result<()> {
        internal_err!("the table {table} is not shipped with a plan")
    }
}

impl PhysicalExtensionCodec for FunctionCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let encoded = self.read(bytes)?;
        // A run is shared within one process: read back, each reader runs by itself and computes what it reads.
        Ok(Arc::new(RelationExec::try_new(
            self.function(&encoded.function)?,
            encoded.options,
            encoded.inputs,
            inputs.to_vec(),
            encoded.columns.clone(),
            encoded.columns,
            None,
            Arc::clone(&self.graphs),
        )?))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(node) = node.downcast_ref::<RelationExec>() else {
            return internal_err!("{} is not a call of ours", node.name());
        };
        let encoded = EncodedNode {
            function: node.function.name.to_owned(),
            options: node.options.clone(),
            inputs: node.input_names.clone(),
            columns: node.columns.clone(),
            computed: node.computed.clone(),
            run: node.shared.as_ref().map(|(run, _)| *run),
            graphs: node.graphs.references(),
        };
        write(&encoded, bytes)
    }
}
