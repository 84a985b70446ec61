//! What every wrapper of an aggregate of DataFusion has from the aggregate within.

use arrow::datatypes::TimeUnit;
use datafusion::common::types::{NativeType, logical_date};
use datafusion::logical_expr::{Coercion, TypeSignature, TypeSignatureClass};

/// What an aggregate of timestamps takes beside what the aggregate within does: those of any unit, and dates as timestamps of
/// microseconds.
pub(crate) fn moments() -> TypeSignature {
    let dates = vec![TypeSignatureClass::Native(logical_date())];
    let moment = NativeType::Timestamp(TimeUnit::Microsecond, None);
    TypeSignature::Coercible(vec![Coercion::new_implicit(TypeSignatureClass::Timestamp, dates, moment)])
}

/// The methods of `AggregateUDFImpl` that a wrapper answers as its field `inner` does: all that say what the aggregate takes and
/// gives. How it is computed is the wrapper's own.
macro_rules! as_inner_aggregate {
    () => {
        fn name(&self) -> &str {
            self.inner.name()
        }

        fn aliases(&self) -> &[String] {
            self.inner.aliases()
        }

        fn signature(&self) -> &::datafusion::logical_expr::Signature {
            self.inner.signature()
        }

        fn return_type(
            &self,
            given: &[::arrow::datatypes::DataType],
        ) -> ::datafusion::common::Result<::arrow::datatypes::DataType> {
            self.inner.return_type(given)
        }

        fn coerce_types(
            &self,
            given: &[::arrow::datatypes::DataType],
        ) -> ::datafusion::common::Result<Vec<::arrow::datatypes::DataType>> {
            self.inner.coerce_types(given)
        }

        fn documentation(&self) -> Option<&::datafusion::logical_expr::Documentation> {
            self.inner.documentation()
        }
    };
}

/// The methods about states and groups, which most wrappers answer as the aggregate within, too.
macro_rules! with_inner_states {
    () => {
        fn state_fields(
            &self,
            args: ::datafusion::logical_expr::function::StateFieldsArgs,
        ) -> ::datafusion::common::Result<Vec<::arrow::datatypes::FieldRef>> {
            self.inner.state_fields(args)
        }

        fn groups_accumulator_supported(&self, args: ::datafusion::logical_expr::function::AccumulatorArgs) -> bool {
            self.inner.groups_accumulator_supported(args)
        }
    };
}

pub(crate) use {as_inner_aggregate, with_inner_states};
