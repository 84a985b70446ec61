//! Rows with NaN in Parquet files, whose writers leave NaN out of the least and greatest values.
//!
//! DataFusion 55 passed over the parts of a file whose greatest value is below what a condition asks for, though NaN is above
//! all; took a part whose greatest value fulfils a condition to fulfil it in all rows; and did not even read a column whose
//! least value is its greatest.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue, Statistics, internal_err};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr::expressions::{BinaryExpr, Column, IsNotNullExpr, IsNullExpr, Literal};
use datafusion::physical_expr::utils::{conjunction, split_conjunction};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};

use super::by_node::PhysicalRule;

/// Has such scans read what may hold NaN. It comes after the rules that push conditions to scans.
pub(crate) const NAN_STATISTICS: PhysicalRule = PhysicalRule { name: "nan_statistics", rewrite: with_nan };

type Condition = Arc<dyn PhysicalExpr>;

fn with_nan(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let scan = plan.downcast_ref::<DataSourceExec>();
    let Some((config, source)) = scan.and_then(DataSourceExec::downcast_to_file_source::<ParquetSource>) else {
        return Ok(Transformed::no(plan));
    };
    let schema = config.file_source.table_schema().table_schema();
    if !schema.fields().iter().any(|field| may_hold_nan(field.data_type())) {
        return Ok(Transformed::no(plan));
    }
    let of_group = |group: &FileGroup| FileGroup::new(group.iter().map(|file| modest(file, schema)).collect());
    let files: Vec<FileGroup> = config.file_groups.iter().map(of_group).collect();
    let mut builder = FileScanConfigBuilder::from(config.clone()).with_file_groups(files);
    if let Some(condition) = config.file_source.filter() {
        let parts = split_conjunction(&condition).into_iter().flat_map(|part| of_rows_too(part, schema));
        builder = builder.with_source(Arc::new(source.with_predicate(conjunction(parts))));
    }
    let scan: Arc<dyn ExecutionPlan> = DataSourceExec::from_data_source(builder.build());
    Ok(Transformed::yes(scan))
}

/// The condition in a form that statistics answer only where NaN makes no difference.
fn of_rows_too(condition: &Condition, schema: &Schema) -> Vec<Condition> {
    if !reads_nan(condition, schema) {
        return vec![Arc::clone(condition)];
    }
    let of_rows: Condition = Arc::new(OfRows(Arc::clone(condition)));
    match leaves_nan_out(condition, schema) {
        // Of both, statistics tell where no row fulfils them, but never that all rows do.
        true => vec![Arc::clone(condition), of_rows],
        false => vec![of_rows],
    }
}

fn may_hold_nan(data_type: &DataType) -> bool {
    data_type.is_floating() || data_type.is_nested()
}

/// The file, of which nothing is said that leaves NaN out.
fn modest(file: &PartitionedFile, schema: &Schema) -> PartitionedFile {
    let mut file = file.clone();
    file.statistics = file.statistics.map(|known| Arc::new(without_extremes(&known, schema)));
    file
}

fn without_extremes(known: &Statistics, schema: &Schema) -> Statistics {
    let mut known = known.clone();
    for (column, field) in known.column_statistics.iter_mut().zip(schema.fields()) {
        if may_hold_nan(field.data_type()) {
            (column.min_value, column.max_value) = (Precision::Absent, Precision::Absent);
        }
    }
    known
}

/// Whether a condition that statistics without NaN deny of all rows is not fulfilled by one with NaN either.
fn leaves_nan_out(condition: &Condition, schema: &Schema) -> bool {
    if !reads_nan(condition, schema) || condition.is::<IsNullExpr>() || condition.is::<IsNotNullExpr>() {
        return true;
    }
    let Some(binary) = condition.downcast_ref::<BinaryExpr>() else { return false };
    match binary.op() {
        Operator::And | Operator::Or => leaves_nan_out(binary.left(), schema) && leaves_nan_out(binary.right(), schema),
        Operator::Eq => {
            is_beside_number(binary.left(), binary.right()) || is_beside_number(binary.right(), binary.left())
        }
        Operator::Lt | Operator::LtEq => is_beside_number(binary.left(), binary.right()),
        Operator::Gt | Operator::GtEq => is_beside_number(binary.right(), binary.left()),
        _ => false,
    }
}

fn reads_nan(condition: &Condition, schema: &Schema) -> bool {
    let reads = condition.exists(|expr| {
        let column = expr.downcast_ref::<Column>();
        let data_type = column.map(|column| schema.field_with_name(column.name()).map(|field| field.data_type()));
        Ok(data_type.is_some_and(|data_type| data_type.map_or(true, may_hold_nan)))
    });
    reads.unwrap_or(true)
}

fn is_beside_number(column: &Condition, number: &Condition) -> bool {
    let number = number.downcast_ref::<Literal>().map(Literal::value);
    column.is::<Column>()
        && match number {
            Some(ScalarValue::Float64(Some(number))) => !number.is_nan(),
            Some(ScalarValue::Float32(Some(number))) => !number.is_nan(),
            _ => false,
        }
}

/// A condition that is asked of rows, not of statistics, which know nothing of it.
#[derive(Debug, Eq)]
struct OfRows(Condition);

// Derived, it would move the condition.
impl PartialEq for OfRows {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq(&other.0)
    }
}

impl Hash for OfRows {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Display for OfRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "of_rows({})", self.0)
    }
}

impl PhysicalExpr for OfRows {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.0.data_type(schema)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.0.nullable(schema)
    }

    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        self.0.return_field(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.0.evaluate(batch)
    }

    fn children(&self) -> Vec<&Condition> {
        vec![&self.0]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Condition>) -> Result<Condition> {
        match (children.pop(), children.pop()) {
            (Some(condition), None) => Ok(Arc::new(Self(condition))),
            _ => internal_err!("OfRows has one child"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_sql(f)
    }
}
