//! `current_schema()` and `current_database()`: where names without a prefix are looked up.
//!
//! Upstream: none known
//! Shows: `SELECT current_schema()` gives `public`

use std::sync::Arc;

use arrow::datatypes::DataType;
use bonnet_sql::{Body, Function};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

/// The registrations.
pub(crate) fn functions() -> [Function; 2] {
    let of = |name, part| {
        let signature = Signature::nullary(Volatility::Stable);
        let body = ScalarUDF::new_from_impl(CurrentName { name, part, signature });
        Function::new(name, Body::NativeScalar(Arc::new(body))).returns("TEXT").source("PostgreSQL 17, Table 9.71")
    };
    [
        of("current_schema", Part::Schema)
            .description("The schema in which names without a prefix are looked up, and tables are made.")
            .example("SELECT current_schema()"),
        of("current_database", Part::Catalog)
            .description("The catalog of that schema, as information_schema names it; also current_catalog.")
            .example("SELECT current_database()"),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Catalog,
    Schema,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct CurrentName {
    name: &'static str,
    part: Part,
    signature: Signature,
}

impl CurrentName {
    fn of<'a>(&self, options: &'a ConfigOptions) -> &'a str {
        match self.part {
            Part::Catalog => &options.catalog.default_catalog,
            Part::Schema => &options.catalog.default_schema,
        }
    }
}

impl ScalarUDFImpl for CurrentName {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(ScalarValue::from(self.of(&args.config_options))))
    }
}
