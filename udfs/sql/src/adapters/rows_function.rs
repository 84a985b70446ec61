//! Functions of a group of rows that see all of them at once.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::Result;

use crate::registry::Function;
use crate::registry::body::{Body, RowsFunction, RowsKernel};
use crate::registry::options::Options;

/// The aggregate `name(...)` of rows without a NULL, with values of this type; `bind` is its [`RowsFunction::bind`].
pub fn rows_function(
    name: &'static str,
    data_type: DataType,
    bind: impl Fn(&Options) -> Result<RowsKernel> + Send + Sync + 'static,
) -> Function {
    Function::new(name, Body::Rows(Arc::new(OfRows { name, data_type, bind })))
}

struct OfRows<B> {
    name: &'static str,
    data_type: DataType,
    bind: B,
}

impl<B> fmt::Debug for OfRows<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<B: Fn(&Options) -> Result<RowsKernel> + Send + Sync> RowsFunction for OfRows<B> {
    fn data_type(&self) -> DataType {
        self.data_type.clone()
    }

    fn bind(&self, options: &Options) -> Result<RowsKernel> {
        (self.bind)(options)
    }
}
