//! Functions of a row: a column of values from the columns of the arguments.

use std::fmt;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use datafusion::common::Result;

use crate::body::{Body, ScalarFunction};
use crate::registry::Function;

/// The function `name(...)` of a row, with values of this type; `kernel` is its [`ScalarFunction::evaluate`].
pub fn scalar_function(
    name: &'static str,
    data_type: DataType,
    kernel: impl Fn(&[ArrayRef], &dyn Monitor) -> Result<ArrayRef> + Send + Sync + 'static,
) -> Function {
    Function::new(name, Body::Scalar(Arc::new(OfColumns { name, data_type, kernel })))
}

struct OfColumns<K> {
    name: &'static str,
    data_type: DataType,
    kernel: K,
}

impl<K> fmt::Debug for OfColumns<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<K: Fn(&[ArrayRef], &dyn Monitor) -> Result<ArrayRef> + Send + Sync> ScalarFunction for OfColumns<K> {
    fn data_type(&self) -> DataType {
        self.data_type.clone()
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        (self.kernel)(columns, monitor)
    }
}
