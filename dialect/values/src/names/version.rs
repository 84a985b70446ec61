//! `version()`: that of the engine.
//!
//! Upstream: none known
//! Shows: `SELECT split_part(version(), ' ', 1)` gives `BonnetDB`

use std::sync::Arc;

use arrow::datatypes::DataType;
use bonnet_sql::{Body, Function};
use datafusion::DATAFUSION_VERSION;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

/// The registration of `version`.
pub(crate) fn version() -> Function {
    let body = ScalarUDF::new_from_impl(Version { signature: Signature::nullary(Volatility::Immutable) });
    Function::new("version", Body::NativeScalar(Arc::new(body)))
        .returns("TEXT")
        .description("The version of the engine, and of DataFusion below it.")
        .example("SELECT version()")
        .source("PostgreSQL 17, Table 9.71")
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Version {
    signature: Signature,
}

impl ScalarUDFImpl for Version {
    fn name(&self) -> &str {
        "version"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let text = format!("BonnetDB {} (DataFusion {DATAFUSION_VERSION})", env!("CARGO_PKG_VERSION"));
        Ok(ColumnarValue::Scalar(ScalarValue::Utf8(Some(text))))
    }
}
