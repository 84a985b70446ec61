//! Which graphs there are, and how large they are: the rows of `bonnet.graphs`.

use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::catalog::{CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result, plan_datafusion_err};
use datafusion::datasource::provider_as_source;
use datafusion::execution::TaskContext;
use datafusion::execution::context::SessionState;
use datafusion::functions::core::expr_fn::{greatest, least};
use datafusion::functions_aggregate::expr_fn::{count, count_distinct};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, TableType, col, lit};
use datafusion::physical_plan::execute_stream;
use futures::TryStreamExt;

use crate::catalogs::session_catalog::SessionSchema;

/// A schema that has the tables `nodes` and `edges`.
#[derive(Debug, Clone)]
pub struct GraphEntry {
    /// The name as a statement writes it: the schema's, with the catalog's before it unless that is the default one.
    pub name: String,
    /// The catalog's name.
    pub catalog: String,
    /// The schema's name.
    pub schema: String,
    /// The format of an attached data set; else `views` if both tables are views, and `tables`.
    pub format: String,
    /// The location of an attached data set.
    pub location: Option<String>,
    /// Whether the publisher's rows of `edges` are arcs.
    pub directed: bool,
    provider: Arc<dyn SchemaProvider>,
}

/// A selection of a graph's measures; each takes a scan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measures {
    /// The rows of `nodes`.
    pub nodes: bool,
    /// The edges of the undirected simple graph.
    pub edges: bool,
    /// The number of features of a node.
    pub features: bool,
    /// The number of different labels.
    pub classes: bool,
}

/// A graph's measures; `None` for those that were not selected, do not exist, or whose table cannot be opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    /// The rows of `nodes`.
    pub nodes: Option<i64>,
    /// The edges of the undirected simple graph (in each graph of a collection): direction ignored, repeats counted
    /// once, loops and rows with a NULL endpoint left out.
    pub edges: Option<i64>,
    /// The number of features; `None` without features.
    pub features: Option<i64>,
    /// The number of different labels; `None` for real targets.
    pub classes: Option<i64>,
}

/// Every schema, in every catalog, that has the tables `nodes` and `edges`, by name of catalog and schema. Reads nothing.
pub async fn list_graphs(catalogs: &dyn CatalogProviderList, default_catalog: &str) -> Result<Vec<GraphEntry>> {
    let mut graphs = Vec::new();
    for (catalog, schema, provider) in schemas(catalogs) {
        if provider.table_exist("nodes") && provider.table_exist("edges") {
            let name = if catalog == default_catalog { schema.clone() } else { format!("{catalog}.{schema}") };
            graphs.push(entry(name, catalog, schema, provider).await?);
        }
    }
    Ok(graphs)
}

/// Every schema with its name and its catalog's, in the order of these.
pub(crate) fn schemas(
    catalogs: &dyn CatalogProviderList,
) -> impl Iterator<Item = (String, String, Arc<dyn SchemaProvider>)> {
    let mut names = catalogs.catalog_names();
    names.sort_unstable();
    let catalogs = names.into_iter().filter_map(|name| Some((catalogs.catalog(&name)?, name)));
    catalogs.flat_map(|(provider, catalog)| {
        let mut names = provider.schema_names();
        names.sort_unstable();
        names.into_iter().filter_map(move |name| {
            let schema = provider.schema(&name)?;
            Some((catalog.clone(), name, schema))
        })
    })
}

async fn entry(name: String, catalog: String, schema: String, provider: Arc<dyn SchemaProvider>) -> Result<GraphEntry> {
    let engine = SessionSchema::of(provider.as_ref()).map(SessionSchema::engine);
    let attached = engine.and_then(|schema| schema.dataset());
    // A publisher's set of splits alone may have got its nodes and edges by CREATE VIEW.
    let whole =
        attached.filter(|dataset| ["nodes", "edges"].iter().all(|t| dataset.tables().iter().any(|has| has == t)));
    let (format, location, directed) = match whole {
        Some(dataset) => (dataset.format().to_owned(), Some(dataset.location().to_owned()), dataset.directed()),
        None => {
            let mut views = true;
            for table in ["nodes", "edges"] {
                views &= matches!(provider.table_type(table).await, Ok(Some(TableType::View)));
            }
            let directed = engine.and_then(|schema| schema.facts()).is_some_and(|facts| facts.directed);
            (if views { "views" } else { "tables" }.to_owned(), None, directed)
        }
    };
    Ok(GraphEntry { name, catalog, schema, format, location, directed, provider })
}

/// Measures a graph. Reads only what the selected measures need; an error names the graph.
pub async fn measure_graph(
    graph: &GraphEntry,
    measures: Measures,
    state: &SessionState,
    context: &Arc<TaskContext>,
) -> Result<Measured> {
    measure(graph, measures, state, context).await.map_err(|error| match error {
        // Callers look at the kind of this one.
        error @ DataFusionError::ResourcesExhausted(_) => error,
        error => error.context(format!("graph {}", graph.name)),
    })
}

async fn measure(
    graph: &GraphEntry,
    measures: Measures,
    state: &SessionState,
    context: &Arc<TaskContext>,
) -> Result<Measured> {
    let mut measured = Measured::default();
    // A table that cannot be opened, such as a view of one that is gone, does not hide the other graphs.
    if measures.edges
        && let Ok(edges) = table(graph, "edges").await
    {
        measured.edges = single(count_edges(&edges)?, state, context).await?;
    }
    if !(measures.nodes || measures.features || measures.classes) {
        return Ok(measured);
    }
    let Ok(nodes) = table(graph, "nodes").await else { return Ok(measured) };
    let schema = nodes.schema();
    let scan = || LogicalPlanBuilder::scan("nodes", provider_as_source(Arc::clone(&nodes)), None);
    if measures.nodes {
        let plan = scan()?.aggregate(Vec::<datafusion::prelude::Expr>::new(), vec![count(lit(1i64))])?.build()?;
        measured.nodes = single(plan, state, context).await?;
    }
    if measures.classes
        && let Ok(label) = schema.field_with_name("label")
        && (label.data_type().is_integer()
            || matches!(label.data_type(), DataType::Decimal128(_, 0))
            || is_text(label.data_type()))
    {
        let label = vec![count_distinct(col("label"))];
        let plan = scan()?.aggregate(Vec::<datafusion::prelude::Expr>::new(), label)?.build()?;
        measured.classes = single(plan, state, context).await?;
    }
    if measures.features
        && let Ok(features) = schema.field_with_name("features")
    {
        measured.features = match bonnet_datasets::features_width(features) {
            Some(width) => Some(width as i64),
            None => {
                let plan = scan()?.project(vec![col("features")])?.build()?;
                let plan = state.create_physical_plan(&plan).await?;
                let widths = execute_stream(plan, Arc::clone(context))?;
                widths.try_fold(None, |widest, batch| async move { Ok(widest.max(widest_features(&batch))) }).await?
            }
        };
    }
    Ok(measured)
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..))
}

async fn table(graph: &GraphEntry, name: &str) -> Result<Arc<dyn TableProvider>> {
    graph.provider.table(name).await?.ok_or_else(|| plan_datafusion_err!("its table {name} is gone"))
}

/// `count(*)` over the distinct pairs of the smaller and the larger endpoint.
fn count_edges(edges: &Arc<dyn TableProvider>) -> Result<LogicalPlan> {
    let mut pair =
        vec![least(vec![col("src"), col("dst")]).alias("u"), greatest(vec![col("src"), col("dst")]).alias("v")];
    if edges.schema().column_with_name("graph_id").is_some() {
        pair.push(col("graph_id"));
    }
    LogicalPlanBuilder::scan("edges", provider_as_source(Arc::clone(edges)), None)?
        // A NULL endpoint makes the comparison NULL, so the row goes too.
        .filter(col("src").not_eq(col("dst")))?
        .project(pair)?
        .distinct()?
        .aggregate(Vec::<datafusion::prelude::Expr>::new(), vec![count(lit(1i64))])?
        .build()
}

/// The one integer that a plan gives.
async fn single(plan: LogicalPlan, state: &SessionState, context: &Arc<TaskContext>) -> Result<Option<i64>> {
    let plan = state.create_physical_plan(&plan).await?;
    let batches: Vec<RecordBatch> = execute_stream(plan, Arc::clone(context))?.try_collect().await?;
    Ok(batches.iter().find_map(|batch| batch.column(0).as_primitive_opt::<Int64Type>()?.iter().next()?))
}

/// The largest number of features in the first column of a batch, where a type has it.
fn widest_features(batch: &RecordBatch) -> Option<i64> {
    let column = batch.column(0);
    let valid = (0..column.len()).filter(|row| column.is_valid(*row));
    match column.data_type() {
        DataType::List(_) => valid.map(|row| i64::from(column.as_list::<i32>().value_length(row))).max(),
        DataType::LargeList(_) => valid.map(|row| column.as_list::<i64>().value_length(row)).max(),
        DataType::FixedSizeList(_, width) => valid.map(|_| i64::from(*width)).next(),
        DataType::Map(..) => {
            let maps = column.as_map();
            let widest = |row: usize| {
                let keys = arrow::compute::cast(maps.value(row).column(0), &DataType::Int64).ok()?;
                Some(keys.as_primitive::<Int64Type>().iter().flatten().max().map_or(0, |largest| largest + 1))
            };
            valid.filter_map(widest).max()
        }
        _ => None,
    }
}
