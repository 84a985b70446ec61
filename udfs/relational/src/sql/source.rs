//! The tables of a schema as typed columns.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimeUnit};
use bonnet_graph::Monitor;
use bonnet_sql::{execution_error, stopped, usage_error};
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{Constraint, Result};
use datafusion::execution::{SessionState, SessionStateBuilder, TaskContext};
use datafusion::physical_plan::ExecutionPlanProperties;
use datafusion::prelude::SessionContext;
use futures::StreamExt;

use crate::{Column, Database, Table, Values};

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// A schema's tables, and what is known of them beside their rows.
pub struct Source {
    /// The tables by name.
    pub database: Database,
    /// The PRIMARY KEY of each table; empty where none is declared.
    pub primary_keys: Vec<Vec<usize>>,
    /// Columns that are neither numbers nor text: table, name, type.
    pub left_out: Vec<(usize, String, String)>,
    /// Of each table the columns of dates and timestamps, which are read as days since 1970.
    pub dates: Vec<Vec<bool>>,
}

impl Source {
    /// Reads all tables of a schema in the order of their names, the rows as they are stored. `name` is the schema's.
    ///
    /// # Errors
    /// If the schema has no tables, a table cannot be read, or memory runs out.
    pub async fn read(
        state: &SessionState,
        name: &str,
        schema: &dyn SchemaProvider,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let mut names = schema.table_names();
        names.sort_unstable();
        if names.is_empty() {
            return usage_error(format!("the schema {name} has no tables, so there is no graph to make of it"));
        }
        // One partition, so that rows come in their order.
        let config = state.config().clone().with_target_partitions(1);
        let state = SessionStateBuilder::new_from_existing(state.clone()).with_config(config).build();
        let mut source =
            Self { database: Database::default(), primary_keys: Vec::new(), left_out: Vec::new(), dates: Vec::new() };
        for table in names {
            let Some(found) = schema.table(&table).await? else {
                return usage_error(format!("{name}.{table} is gone"));
            };
            source.table(&state, table, found, monitor).await?;
        }
        Ok(source)
    }

    async fn table(
        &mut self,
        state: &SessionState,
        name: String,
        provider: Arc<dyn TableProvider>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let schema = provider.schema();
        let mut kept = Vec::new();
        for (position, field) in schema.fields().iter().enumerate() {
            match ColumnForm::of(field.data_type()) {
                Some(kind) => kept.push((position, kind)),
                None => {
                    self.left_out.push((
                        self.database.tables.len(),
                        clean(field.name()),
                        field.data_type().to_string(),
                    ));
                }
            }
        }
        let primary = provider.constraints().into_iter().flat_map(|constraints| constraints.iter());
        let primary = primary.filter_map(|constraint| match constraint {
            Constraint::PrimaryKey(columns) => Some(columns),
            Constraint::Unique(_) => None,
        });
        let place = |column: &usize| kept.iter().position(|(position, _)| position == column);
        let primary = primary.filter_map(|columns| columns.iter().map(place).collect::<Option<Vec<usize>>>()).next();
        self.primary_keys.push(primary.unwrap_or_default());

        let columns = kept.iter().map(|(position, _)| *position).collect::<Vec<_>>();
        let (batches, raw) = rows(state, provider, &columns, monitor)
            .await
            .map_err(|error| error.context(format!("CREATE GRAPH: reading the table {name}")))?;
        self.dates.push(kept.iter().map(|(_, kind)| *kind == ColumnForm::Number(DAY)).collect());
        let n_rows = batches.iter().map(|batch| batch.len()).sum();
        let mut table = Table { name, n_rows, columns: Vec::with_capacity(kept.len()) };
        for (at, (position, kind)) in kept.iter().enumerate() {
            monitor.check().map_err(stopped)?;
            let parts: Vec<&ArrayRef> = batches.iter().map(|batch| &batch.columns[at]).collect();
            let field = schema.field(*position);
            let values = kind
                .values(&parts)
                .map_err(|error| execution_error(format!("CREATE GRAPH: {}.{}: {error}", table.name, field.name())))?;
            monitor.reserve(values.bytes()).map_err(stopped)?;
            table.columns.push(Column { name: clean(field.name()), values });
        }
        self.database.tables.push(table);
        drop(batches);
        monitor.release(raw);
        Ok(())
    }
}

/// A name without the byte-order mark that some files begin with.
fn clean(name: &str) -> String {
    name.trim_start_matches('\u{feff}').to_owned()
}

/// The columns of a batch, which may be none.
struct Batch {
    columns: Vec<ArrayRef>,
    rows: usize,
}

impl Batch {
    fn len(&self) -> usize {
        self.rows
    }
}

/// The rows of a table in their order, and the bytes reserved for them.
async fn rows(
    state: &SessionState,
    provider: Arc<dyn TableProvider>,
    columns: &[usize],
    monitor: &dyn Monitor,
) -> Result<(Vec<Batch>, usize)> {
    let context = SessionContext::new_with_state(state.clone());
    let schema = provider.schema();
    let mut frame = context.read_table(provider)?;
    if columns.len() < schema.fields().len() && !columns.is_empty() {
        let names: Vec<&str> = columns.iter().map(|&column| schema.field(column).name().as_str()).collect();
        frame = frame.select_columns(&names)?;
    }
    let plan = frame.create_physical_plan().await?;
    let task = Arc::new(TaskContext::from(state));
    let (mut batches, mut raw) = (Vec::new(), 0);
    let mut counter = RecordBatchMemoryCounter::new();
    // One after the other: what order partitions have is that of the rows.
    for partition in 0..plan.output_partitioning().partition_count() {
        let mut stream = plan.execute(partition, Arc::clone(&task))?;
        while let Some(batch) = stream.next().await.transpose()? {
            monitor.check().map_err(stopped)?;
            let bytes = counter.count_batch(&batch);
            monitor.reserve(bytes).map_err(stopped)?;
            raw += bytes;
            let rows = batch.num_rows();
            let columns = if columns.is_empty() { Vec::new() } else { batch.columns().to_vec() };
            batches.push(Batch { columns, rows });
        }
    }
    Ok((batches, raw))
}

/// The type as which a column is read.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ColumnForm {
    Integer,
    /// Numbers that are this many times larger than their unit.
    Number(f64),
    Time,
    Text,
}

impl ColumnForm {
    fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => Some(Self::Text),
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Some(Self::Number(DAY)),
            DataType::Time32(_) | DataType::Time64(_) => Some(Self::Time),
            other if other.is_integer() => Some(Self::Integer),
            DataType::Boolean => Some(Self::Number(1.0)),
            other if other.is_numeric() => Some(Self::Number(1.0)),
            _ => None,
        }
    }

    /// The values of a column's parts.
    fn values(self, parts: &[&ArrayRef]) -> Result<Values> {
        let strict = CastOptions { safe: false, ..Default::default() };
        let rows = parts.iter().map(|part| part.len()).sum();
        match self {
            Self::Text => {
                let cast = parts.iter().map(|part| cast_with_options(part, &DataType::LargeUtf8, &strict));
                let cast = cast.collect::<Result<Vec<_>, _>>()?;
                Ok(Values::of_texts(cast.iter().flat_map(|part| part.as_string::<i64>().iter())))
            }
            Self::Integer => {
                let mut values = Vec::with_capacity(rows);
                for part in parts {
                    let part = cast_with_options(part, &DataType::Int64, &strict)?;
                    values.extend(part.as_primitive::<Int64Type>().iter());
                }
                Ok(Values::Integers(values))
            }
            Self::Number(unit) => {
                let mut values = Vec::with_capacity(rows);
                for part in parts {
                    let part = if unit == DAY {
                        let time = cast_with_options(part, &DataType::Timestamp(TimeUnit::Millisecond, None), &strict)?;
                        cast_with_options(&time, &DataType::Int64, &strict)?
                    } else {
                        Arc::clone(part)
                    };
                    let part = cast_with_options(&part, &DataType::Float64, &strict)?;
                    values
                        .extend(part.as_primitive::<Float64Type>().iter().map(|value| value.map(|value| value / unit)));
                }
                Ok(Values::Numbers(values))
            }
            Self::Time => {
                let mut values = Vec::with_capacity(rows);
                for part in parts {
                    let time = cast_with_options(part, &DataType::Time64(TimeUnit::Microsecond), &strict)?;
                    let part = cast_with_options(&time, &DataType::Int64, &strict)?;
                    values.extend(
                        part.as_primitive::<Int64Type>().iter().map(|value| value.map(|value| value as f64 / 1e6)),
                    );
                }
                Ok(Values::Numbers(values))
            }
        }
    }
}
