//! `floor` and `ceil` of decimals, as in DuckDB and PostgreSQL: decimals without digits behind the point.
//!
//! DataFusion 55 keeps the type of the argument, which may not hold the answer: `floor('-999.9'::decimal(4, 1))` failed.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/20640>
//! Shows: `SELECT floor('-999.9'::decimal(4, 1)), ceil('99.99'::decimal(4, 2))` gives `-1000 | 100`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

/// The functions, in place of DataFusion's of the same names among `functions`.
pub fn whole_decimals(functions: &[Arc<ScalarUDF>]) -> Vec<Arc<ScalarUDF>> {
    let named = [("floor", false), ("ceil", true)].into_iter();
    let found = named.filter_map(|(name, up)| {
        let inner = functions.iter().rev().find(|function| function.name() == name)?;
        Some(Arc::new(ScalarUDF::new_from_impl(Whole { inner: Arc::clone(inner), up })))
    });
    found.collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Whole {
    inner: Arc<ScalarUDF>,
    up: bool,
}

/// The type of the whole numbers around decimals of a type, and the digits that these have behind the point; `None` of other
/// types, and of decimals of 256 bits.
fn whole(of: &DataType) -> Option<(DataType, u32)> {
    let (DataType::Decimal32(digits, scale) | DataType::Decimal64(digits, scale) | DataType::Decimal128(digits, scale)) =
        of
    else {
        return None;
    };
    let behind = u8::try_from(*scale).ok().filter(|&behind| behind > 0)?;
    // One more: 9.9 is rounded up to 10.
    let before = (digits.saturating_sub(behind) + 1).min(DECIMAL128_MAX_PRECISION);
    Some((DataType::Decimal128(before, 0), behind.into()))
}

impl ScalarUDFImpl for Whole {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn is_strict(&self) -> bool {
        self.inner.inner().is_strict()
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        match given.first().and_then(whole) {
            Some((to, _)) => Ok(to),
            None => self.inner.inner().return_type(given),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [of] = &args.args[..] else { return self.inner.invoke_with_args(args) };
        let Some((to, behind)) = whole(&of.data_type()) else { return self.inner.invoke_with_args(args) };
        let round = |values: &ArrayRef| -> Result<ArrayRef> {
            let wide = DataType::Decimal128(DECIMAL128_MAX_PRECISION, behind as i8);
            let values = cast(values, &wide)?;
            let unit = 10_i128.pow(behind);
            let rounded = values.as_primitive::<Decimal128Type>().unary::<_, Decimal128Type>(|value| match self.up {
                false => value.div_euclid(unit),
                true => -((-value).div_euclid(unit)),
            });
            Ok(Arc::new(rounded.with_data_type(to.clone())))
        };
        match of {
            ColumnarValue::Array(values) => round(values).map(ColumnarValue::Array),
            ColumnarValue::Scalar(value) => {
                ScalarValue::try_from_array(&round(&value.to_array()?)?, 0).map(ColumnarValue::Scalar)
            }
        }
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.inner.inner().simplify(args, info)
    }

    fn preimage(&self, args: &[Expr], value: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
        match args.first().map(|arg| info.get_data_type(arg)).transpose()?.as_ref().and_then(whole) {
            Some(_) => Ok(PreimageResult::None),
            None => self.inner.inner().preimage(args, value, info),
        }
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.inner().output_ordering(inputs)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.inner().documentation()
    }
}
