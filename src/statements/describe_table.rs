//! `DESCRIBE`: the columns of a table or a query, their types by the names of SQL.

use std::sync::Arc;

use arrow::array::{RecordBatch, StringArray};
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::DescribeTable;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream;

use bonnet_common::sql_type;

/// A row a column: its name, its type, and whether it may be NULL.
pub(super) fn rows(describe: &DescribeTable) -> SendableRecordBatchStream {
    let fields = describe.schema.fields();
    let names = fields.iter().map(|field| field.name());
    let types = fields.iter().map(|field| sql_type(field.data_type()));
    let nullable = fields.iter().map(|field| if field.is_nullable() { "YES" } else { "NO" });
    let schema = Arc::clone(describe.output_schema.inner());
    let columns: [StringArray; 3] = [
        StringArray::from_iter_values(names),
        StringArray::from_iter_values(types),
        StringArray::from_iter_values(nullable),
    ];
    let columns = columns.map(|column| Arc::new(column) as _).to_vec();
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(DataFusionError::from);
    Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter([batch])))
}
