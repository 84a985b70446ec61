//! Functions of a row: a column of values from the columns of the arguments.

use std::fmt;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use datafusion::common::Result;

use crate::registry::Function;
use crate::registry::body::{Body, ScalarFunction};

/// The function `name(...)` of a row, with values of this type; `kernel` is its [`ScalarFunction::evaluate`].
pub fn scalar_function(
    name: &'static str,
    data_type: DataType,
    kernel: impl Fn(&[ArrayRef], &dyn Monitor) -> Result<ArrayRef> + Send + Sync + 'static,
) -> Function {
    typed_scalar_function(name, move |_| Ok(data_type.clone()), kernel)
}

/// The function `name(...)` of a row, with values of a type that follows from those of the arguments: see
/// [`ScalarFunction::data_type`]. `kernel` is its [`ScalarFunction::evaluate`].
pub fn typed_scalar_function(
    name: &'static str,
    data_type: impl Fn(&[DataType]) -> Result<DataType> + Send + Sync + 'static,
    kernel: impl Fn(&[ArrayRef], &dyn Monitor) -> Result<ArrayRef> + Send + Sync + 'static,
) -> Function {
    Function::new(name, Body::Scalar(Arc::new(OfColumns { name, data_type, kernel })))
}

struct OfColumns<T, K> {
    name: &'static str,
    data_type: T,
    kernel: K,
}

impl<T, K> fmt::Debug for OfColumns<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<T, K> ScalarFunction for OfColumns<T, K>
where
    T: Fn(&[DataType]) -> Result<DataType> + Send + Sync,
    K: Fn(&[ArrayRef], &dyn Monitor) -> Result<ArrayRef> + Send + Sync,
{
    fn data_type(&self, given: &[DataType]) -> Result<DataType> {
        (self.data_type)(given)
    }

    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
        (self.kernel)(columns, monitor)
    }
}
