//! Statistics of Parquet files whose columns may hold NaN, which writers leave out of minimum and maximum.
//!
//! DataFusion 55 skipped a row group whose maximum is below the bound of a condition such as `x > 5`, although NaN is above
//! all bounds. It took a condition that minimum and maximum fulfil to hold for all rows of the row group. And it did not
//! read a column whose minimum is its maximum, and answered that value for all rows.
//!
//! Upstream: <https://github.com/apache/datafusion/pull/24804>
//! Given: `COPY (SELECT * FROM (VALUES (1, 1.0), (2, 6000.0), (3, 2.0), (4, 'NaN'::double)) AS v(i, x) ORDER BY i) TO '{dir}/nan.parquet' STORED AS PARQUET OPTIONS ('format.max_row_group_size' 2)`
//! Given: `CREATE EXTERNAL TABLE nan STORED AS PARQUET LOCATION '{dir}/nan.parquet'`
//! Shows: `SELECT i FROM nan WHERE x > 5000 ORDER BY i` gives `2 / 4`

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, IsNotNullExpr, IsNullExpr, Literal};
use datafusion::physical_expr::utils::{conjunction, split_conjunction};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};

use super::wrapped_expression::{Purpose, WrappedExpression};
use crate::plans::node_rules::PhysicalRule;

/// Makes such scans read the rows that may hold NaN. It comes after the rules that push conditions to scans.
pub(crate) const NAN_STATISTICS: PhysicalRule = PhysicalRule { name: "nan_statistics", rewrite: rewrite_scan };

type Condition = Arc<dyn PhysicalExpr>;

fn rewrite_scan(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let scan = plan.downcast_ref::<DataSourceExec>();
    let Some((config, source)) = scan.and_then(DataSourceExec::downcast_to_file_source::<ParquetSource>) else {
        return Ok(Transformed::no(plan));
    };
    let schema = config.file_source.table_schema().table_schema();
    if !schema.fields().iter().any(|field| may_hold_nan(field.data_type())) {
        return Ok(Transformed::no(plan));
    }
    let of_group =
        |group: &FileGroup| FileGroup::new(group.iter().map(|file| without_extremes(file, schema)).collect());
    let files: Vec<FileGroup> = config.file_groups.iter().map(of_group).collect();
    let mut builder = FileScanConfigBuilder::from(config.clone()).with_file_groups(files);
    if let Some(condition) = config.file_source.filter() {
        let parts = split_conjunction(&condition).into_iter().flat_map(|part| evaluated_on_rows(part, schema));
        builder = builder.with_source(Arc::new(source.with_predicate(conjunction(parts))));
    }
    let scan: Arc<dyn ExecutionPlan> = DataSourceExec::from_data_source(builder.build());
    Ok(Transformed::yes(scan))
}

/// The conjuncts of a condition, of which statistics decide only those for which NaN makes no difference.
fn evaluated_on_rows(condition: &Condition, schema: &Schema) -> Vec<Condition> {
    if !reads_nan(condition, schema) {
        return vec![Arc::clone(condition)];
    }
    let on_rows: Condition = Arc::new(WrappedExpression::new(Arc::clone(condition), Purpose::RowsOnly));
    match excludes_nan(condition, schema) {
        // By the first, statistics may exclude all rows; because of the second, they never accept all of them.
        true => vec![Arc::clone(condition), on_rows],
        false => vec![on_rows],
    }
}

fn may_hold_nan(data_type: &DataType) -> bool {
    data_type.is_floating() || data_type.is_nested()
}

/// The file without the statistics that leave NaN out.
fn without_extremes(file: &PartitionedFile, schema: &Schema) -> PartitionedFile {
    let mut file = file.clone();
    file.statistics = file.statistics.map(|known| Arc::new(drop_extremes(&known, schema)));
    file
}

/// Statistics without minimum and maximum of the columns that may hold NaN.
fn drop_extremes(known: &Statistics, schema: &Schema) -> Statistics {
    let mut known = known.clone();
    for (column, field) in known.column_statistics.iter_mut().zip(schema.fields()) {
        if may_hold_nan(field.data_type()) {
            (column.min_value, column.max_value) = (Precision::Absent, Precision::Absent);
        }
    }
    known
}

/// Whether a condition that statistics rule out for all other values is false for NaN too.
fn excludes_nan(condition: &Condition, schema: &Schema) -> bool {
    if !reads_nan(condition, schema) || condition.is::<IsNullExpr>() || condition.is::<IsNotNullExpr>() {
        return true;
    }
    let Some(binary) = condition.downcast_ref::<BinaryExpr>() else { return false };
    match binary.op() {
        Operator::And | Operator::Or => excludes_nan(binary.left(), schema) && excludes_nan(binary.right(), schema),
        Operator::Eq => {
            compares_with_number(binary.left(), binary.right()) || compares_with_number(binary.right(), binary.left())
        }
        Operator::Lt | Operator::LtEq => compares_with_number(binary.left(), binary.right()),
        Operator::Gt | Operator::GtEq => compares_with_number(binary.right(), binary.left()),
        _ => false,
    }
}

/// Whether a condition reads a column that may hold NaN.
fn reads_nan(condition: &Condition, schema: &Schema) -> bool {
    let reads = condition.exists(|expr| {
        let column = expr.downcast_ref::<Column>();
        let data_type = column.map(|column| schema.field_with_name(column.name()).map(|field| field.data_type()));
        Ok(data_type.is_some_and(|data_type| data_type.map_or(true, may_hold_nan)))
    });
    reads.unwrap_or(true)
}

/// Whether a column is compared with a literal number other than NaN.
fn compares_with_number(column: &Condition, number: &Condition) -> bool {
    let number = number.downcast_ref::<Literal>().map(Literal::value);
    column.is::<Column>()
        && match number {
            Some(ScalarValue::Float64(Some(number))) => !number.is_nan(),
            Some(ScalarValue::Float32(Some(number))) => !number.is_nan(),
            _ => false,
        }
}
