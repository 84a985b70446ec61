//! `octet_length` of a BLOB: DataFusion 55 counts the bytes of texts alone.
//!
//! Upstream: none known
//! Shows: `SELECT octet_length(X'00FF10'), octet_length('ü')` gives `3 | 2`

use std::sync::Arc;

use arrow::compute::cast;
use arrow::compute::kernels::length::length;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The function, in place of DataFusion's of the same name among `functions`.
pub fn octet_length(functions: &[Arc<ScalarUDF>]) -> Option<Arc<ScalarUDF>> {
    let texts = Arc::clone(functions.iter().rev().find(|function| function.name() == "octet_length")?);
    let signature = Signature::user_defined(Volatility::Immutable);
    Some(Arc::new(ScalarUDF::new_from_impl(OctetLength { texts, signature })))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OctetLength {
    /// The function of texts.
    texts: Arc<ScalarUDF>,
    signature: Signature,
}

impl ScalarUDFImpl for OctetLength {
    fn name(&self) -> &str {
        self.texts.name()
    }

    fn aliases(&self) -> &[String] {
        self.texts.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [of] if of.is_binary() => Ok(vec![DataType::Binary]),
            _ => {
                let field = |of: &DataType| -> FieldRef { Arc::new(Field::new("argument", of.clone(), true)) };
                let fields: Vec<FieldRef> = given.iter().map(field).collect();
                let coerced = fields_with_udf(&fields, self.texts.as_ref())?;
                Ok(coerced.iter().map(|field| field.data_type().clone()).collect())
            }
        }
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        match given {
            [of] if of.is_binary() => Ok(DataType::Int32),
            _ => self.texts.return_type(given),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match &args.args[..] {
            [ColumnarValue::Array(bytes)] if bytes.data_type().is_binary() => {
                Ok(ColumnarValue::Array(length(&cast(bytes, &DataType::Binary)?)?))
            }
            [ColumnarValue::Scalar(bytes)] if bytes.data_type().is_binary() => {
                let count = length(&cast(&bytes.to_array()?, &DataType::Binary)?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&count, 0)?))
            }
            _ => self.texts.invoke_with_args(args),
        }
    }

    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        Ok(ExprSimplifyResult::Original(args))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.texts.inner().documentation()
    }
}
