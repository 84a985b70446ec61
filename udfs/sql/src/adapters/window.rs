//! The adapter for functions of a row's place among the ordered rows of its window.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{PartitionEvaluator, WindowUDFImpl};

use crate::adapters::adapter::{Adapter, common_methods};
use crate::registry::body::WindowFunction;

impl WindowUDFImpl for Adapter<dyn WindowFunction> {
    common_methods!(coerce);

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs) -> Result<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Partition(Arc::clone(&self.body))))
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(args.name(), self.body.data_type(), true)))
    }
}

#[derive(Debug)]
struct Partition(Arc<dyn WindowFunction>);

impl PartitionEvaluator for Partition {
    fn include_rank(&self) -> bool {
        true
    }

    fn evaluate_all_with_rank(&self, num_rows: usize, ranks_in_partition: &[Range<usize>]) -> Result<ArrayRef> {
        self.0.evaluate(num_rows, ranks_in_partition)
    }
}
