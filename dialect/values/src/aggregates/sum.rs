//! `sum` of integers and decimals: exact in any order of the rows, and an error where the total overflows its type.
//! DataFusion's wraps around.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/17539> <https://github.com/apache/datafusion/issues/2455>
//! Shows: `SELECT sum(x) FROM (VALUES (9223372036854775807), (1)) AS t(x)` is refused

use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::ArrowPrimitiveType;
use arrow::datatypes::{DataType, Decimal128Type, FieldRef, Int64Type, UInt64Type};
use bonnet_common::{ErrorKind, Raised};
use datafusion::common::types::{NativeType, logical_boolean, logical_int64};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Coercion, Documentation, GroupsAccumulator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs, TypeSignature, TypeSignatureClass,
};

use crate::aggregates::exact_accumulators::{Distinct, Finish, Groups, One};
use crate::aggregates::sliding_aggregates::SlidingFloats;
use crate::aggregates::total::Summed;
use crate::names::type_names::sql_name;

/// The aggregate, in place of DataFusion's of the same name.
pub(crate) fn sum() -> Arc<AggregateUDF> {
    let inner = sum_udaf();
    let mut signature = inner.signature().clone();
    if let TypeSignature::OneOf(kinds) = &mut signature.type_signature {
        // Truth values count as 0 and 1.
        let integer = TypeSignatureClass::Native(logical_int64());
        let boolean = vec![TypeSignatureClass::Native(logical_boolean())];
        kinds.push(TypeSignature::Coercible(vec![Coercion::new_implicit(integer, boolean, NativeType::Int64)]));
    }
    Arc::new(AggregateUDF::new_from_impl(Sum { inner, signature }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Sum {
    /// DataFusion's sum, which serves floats and intervals.
    inner: Arc<AggregateUDF>,
    /// That of DataFusion's, and truth values.
    signature: Signature,
}

/// An expression of the [`Narrow`] of a type; another expression for a type that DataFusion's sum serves.
macro_rules! of_type {
    ($to:expr, $other:expr, |$finish:ident| $made:expr) => {
        match $to {
            DataType::Int64 => {
                let $finish = Narrow::<Int64Type>::new($to);
                $made
            }
            DataType::UInt64 => {
                let $finish = Narrow::<UInt64Type>::new($to);
                $made
            }
            DataType::Decimal128(..) => {
                let $finish = Narrow::<Decimal128Type>::new($to);
                $made
            }
            _ => $other,
        }
    };
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        match given {
            // Before the NULL is cast.
            [DataType::Null] => Ok(DataType::Int64),
            _ => self.inner.return_type(given),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let to = args.return_type().clone();
        if args.is_distinct {
            let inner = self.inner.accumulator(args)?;
            return Ok(of_type!(&to, inner, |finish| Box::new(Distinct::new(inner, finish))));
        }
        Ok(of_type!(&to, self.inner.accumulator(args)?, |finish| Box::new(One::new(finish))))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let to = args.return_type().clone();
        match args.is_distinct {
            true => self.inner.state_fields(args),
            false => Ok(of_type!(&to, self.inner.state_fields(args)?, |finish| finish.state_fields(args.name))),
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        let to = args.return_type().clone();
        Ok(of_type!(&to, self.inner.create_groups_accumulator(args)?, |finish| Box::new(Groups::new(finish))))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let to = args.return_type().clone();
        match (args.is_distinct, &to) {
            (true, _) => self.inner.create_sliding_accumulator(args),
            (false, DataType::Float64) => Ok(Box::new(SlidingFloats::total())),
            (false, to) => {
                Ok(of_type!(to, self.inner.create_sliding_accumulator(args)?, |finish| Box::new(One::new(finish))))
            }
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }

    fn value_from_stats(&self, args: &StatisticsArgs) -> Option<ScalarValue> {
        // A total among statistics may have wrapped around.
        match args.return_type {
            DataType::Int64 | DataType::UInt64 | DataType::Decimal128(..) => None,
            _ => self.inner.value_from_stats(args),
        }
    }
}

/// The last step of `sum`: the total in the type of the sum.
struct Narrow<T> {
    to: DataType,
    of: PhantomData<T>,
}

impl<T> Narrow<T> {
    fn new(to: &DataType) -> Self {
        Self { to: to.clone(), of: PhantomData }
    }
}

impl<T> Clone for Narrow<T> {
    fn clone(&self) -> Self {
        Self::new(&self.to)
    }
}

impl<T> Debug for Narrow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Narrow({})", self.to)
    }
}

impl<T: Summed> Finish for Narrow<T> {
    type Of = T;
    type To = T;
    const COUNTS: bool = false;

    fn to(&self) -> &DataType {
        &self.to
    }

    fn scale(&self) -> i8 {
        match self.to {
            DataType::Decimal128(_, scale) => scale,
            _ => 0,
        }
    }

    fn finish(&self, total: i128, _: u64) -> Result<<T as ArrowPrimitiveType>::Native> {
        T::narrow(total, &self.to).ok_or_else(|| self.overflow())
    }

    fn overflow(&self) -> DataFusionError {
        let wider = match self.to {
            DataType::Decimal128(..) => "CAST the values AS DOUBLE",
            _ => "CAST the values AS DECIMAL(38, 0)",
        };
        let text = format!("overflow: the total of sum is not within {}; {wider}", sql_name(&self.to));
        Raised::new(ErrorKind::OutOfRange, text).into()
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Int64Array};

    use super::*;

    #[test]
    fn a_total_is_exact_in_any_order_and_an_error_only_in_the_end() {
        let mut total = One::new(Narrow::<Int64Type>::new(&DataType::Int64));
        for values in [vec![Some(i64::MAX), None, Some(7)], vec![Some(i64::MIN), Some(-1)]] {
            let values: ArrayRef = Arc::new(Int64Array::from(values));
            total.update_batch(&[values]).unwrap();
        }
        assert_eq!(total.evaluate().unwrap(), ScalarValue::Int64(Some(5)));
        let most: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX; 2]));
        total.update_batch(&[Arc::clone(&most)]).unwrap();
        assert!(total.evaluate().unwrap_err().to_string().contains("BIGINT"));
        total.retract_batch(&[most]).unwrap();
        assert_eq!(total.evaluate().unwrap(), ScalarValue::Int64(Some(5)));
    }
}
