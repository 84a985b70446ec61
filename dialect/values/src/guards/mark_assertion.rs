//! An assertion on the marks of an outer join, by which decorrelation checks that each outer row has a match.

use std::sync::{Arc, LazyLock};

use arrow::array::Array;
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

/// `found(mark)`: true, or an error if a mark is NULL, which a row without a match has. Decorrelation computes the outer
/// rows of a subquery twice, and is wrong if they differ.
pub fn mark_assertion() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        let signature = Signature::exact(vec![DataType::Boolean], Volatility::Stable);
        Arc::new(ScalarUDF::new_from_impl(MarkAssertion { signature }))
    });
    Arc::clone(&FUNCTION)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct MarkAssertion {
    signature: Signature,
}

impl ScalarUDFImpl for MarkAssertion {
    fn name(&self) -> &str {
        "found"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let missing = match &args.args[0] {
            ColumnarValue::Array(marks) => marks.logical_null_count() > 0,
            ColumnarValue::Scalar(mark) => mark.is_null(),
        };
        if missing {
            return exec_err!(
                "the rows around a subquery were others when they were computed again for it, by LIMIT, a window or an \
                 aggregate that goes by their order; give its ORDER BY keys that tell all rows apart, or CREATE TABLE of them"
            );
        }
        Ok(ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::BooleanArray;
    use arrow::datatypes::Field;
    use datafusion::common::config::ConfigOptions;

    use super::*;

    fn check(marks: Vec<Option<bool>>) -> Result<ColumnarValue> {
        let rows = marks.len();
        let field = |name| Arc::new(Field::new(name, DataType::Boolean, true));
        mark_assertion().invoke_with_args(ScalarFunctionArgs {
            args: vec![ColumnarValue::Array(Arc::new(BooleanArray::from(marks)))],
            arg_fields: vec![field("mark")],
            number_rows: rows,
            return_field: field("found"),
            config_options: Arc::new(ConfigOptions::default()),
        })
    }

    #[test]
    fn a_row_without_its_mark_is_an_error() {
        assert!(matches!(check(vec![Some(true); 2]), Ok(ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))))));
        assert!(check(vec![]).is_ok());
        assert!(check(vec![Some(true), None]).unwrap_err().to_string().contains("ORDER BY"));
    }
}
