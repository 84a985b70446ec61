//! What every wrapper of a function of DataFusion has from the function within.

/// The methods of `ScalarUDFImpl` that a wrapper answers as its field `inner` does: all that say what the function is. How it is
/// called, simplified and compared are the wrapper's own.
#[macro_export]
macro_rules! as_inner_function {
    () => {
        fn name(&self) -> &str {
            self.inner.name()
        }

        fn aliases(&self) -> &[String] {
            self.inner.aliases()
        }

        fn schema_name(&self, args: &[::datafusion::logical_expr::Expr]) -> ::datafusion::common::Result<String> {
            self.inner.schema_name(args)
        }

        fn signature(&self) -> &::datafusion::logical_expr::Signature {
            self.inner.signature()
        }

        fn return_type(
            &self,
            given: &[::arrow::datatypes::DataType],
        ) -> ::datafusion::common::Result<::arrow::datatypes::DataType> {
            self.inner.inner().return_type(given)
        }

        fn return_field_from_args(
            &self,
            args: ::datafusion::logical_expr::ReturnFieldArgs,
        ) -> ::datafusion::common::Result<::arrow::datatypes::FieldRef> {
            self.inner.inner().return_field_from_args(args)
        }

        fn is_strict(&self) -> bool {
            self.inner.inner().is_strict()
        }

        fn coerce_types(
            &self,
            given: &[::arrow::datatypes::DataType],
        ) -> ::datafusion::common::Result<Vec<::arrow::datatypes::DataType>> {
            self.inner.inner().coerce_types(given)
        }

        fn evaluate_bounds(
            &self,
            inputs: &[&::datafusion::logical_expr::interval_arithmetic::Interval],
        ) -> ::datafusion::common::Result<::datafusion::logical_expr::interval_arithmetic::Interval> {
            self.inner.inner().evaluate_bounds(inputs)
        }

        fn output_ordering(
            &self,
            inputs: &[::datafusion::logical_expr::sort_properties::ExprProperties],
        ) -> ::datafusion::common::Result<::datafusion::logical_expr::sort_properties::SortProperties> {
            self.inner.inner().output_ordering(inputs)
        }

        fn documentation(&self) -> Option<&::datafusion::logical_expr::Documentation> {
            self.inner.inner().documentation()
        }

        fn placement(
            &self,
            args: &[::datafusion::logical_expr::ExpressionPlacement],
        ) -> ::datafusion::logical_expr::ExpressionPlacement {
            self.inner.inner().placement(args)
        }
    };
}
