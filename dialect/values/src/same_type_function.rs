//! Functions of one argument that answer values of its type, and that plans call in place of an expression.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, ExprSchema, Result, ScalarValue};
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

/// The kernel of such a function.
pub(crate) trait Kernel: Debug + Eq + Hash + Send + Sync + Sized + 'static {
    fn name(&self) -> &str;

    /// The name of the column that a call computes. By default that of the argument as it is written: in a schema, the name
    /// of a cast is that of its operand, which may be a column beside it.
    fn column_name(arg: &Expr) -> String {
        written(arg)
    }

    /// The field of the answer to an argument of this field.
    fn field(&self, arg: &FieldRef) -> FieldRef {
        Arc::clone(arg)
    }

    /// Whether the answer to NULL is NULL, and no other.
    fn is_strict(&self) -> bool {
        false
    }

    /// The ordering of the answers.
    fn ordering(_arg: &ExprProperties) -> SortProperties {
        SortProperties::Unordered
    }

    fn evaluate(&self, arg: &ColumnarValue, rows: usize) -> Result<ColumnarValue>;

    /// The function of the kernel.
    fn function(self) -> ScalarUDF {
        ScalarUDF::new_from_impl(SameType { kernel: self, signature: Signature::any(1, Volatility::Immutable) })
    }
}

/// A function of columns, of an argument of either kind.
pub(crate) fn by_column(arg: &ColumnarValue, of: impl FnOnce(&ArrayRef) -> Result<ArrayRef>) -> Result<ColumnarValue> {
    match arg {
        ColumnarValue::Array(values) => of(values).map(ColumnarValue::Array),
        ColumnarValue::Scalar(value) => {
            ScalarValue::try_from_array(&of(&value.to_array()?)?, 0).map(ColumnarValue::Scalar)
        }
    }
}

/// An expression as it is written, with the names of what has one: where a part of it is computed beside others, it stands
/// there as a column under the name of the part.
pub(crate) fn written(expr: &Expr) -> String {
    let is_alias = |expr: &Expr| Ok(matches!(expr, Expr::Alias(_)));
    if !expr.exists(is_alias).unwrap_or(false) {
        return expr.to_string();
    }
    let named = expr.clone().transform_down(|expr| match expr {
        Expr::Alias(alias) => {
            Ok(Transformed::new(Expr::Column(Column::new_unqualified(alias.name)), true, TreeNodeRecursion::Jump))
        }
        other => Ok(Transformed::no(other)),
    });
    named.map_or_else(|_| expr.to_string(), |named| named.data.to_string())
}

/// The names of functions that change no type.
const NAMES: [&str; 4] = ["opaque", "nullable", "unsigned_nan", "canonical"];

/// The type of a value, found without calls of such functions around it: DataFusion writes down each on the way.
pub fn value_type(mut value: &Expr, schema: &dyn ExprSchema) -> Result<DataType> {
    while let Expr::ScalarFunction(call) = value
        && let ([arg], true) = (call.args.as_slice(), NAMES.contains(&call.name()))
    {
        value = arg;
    }
    value.get_type(schema)
}

/// A function of one argument.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SameType<K> {
    kernel: K,
    signature: Signature,
}

impl<K: Kernel> ScalarUDFImpl for SameType<K> {
    fn name(&self) -> &str {
        self.kernel.name()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.iter().map(K::column_name).collect())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(given[0].clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(self.kernel.field(&args.arg_fields[0]))
    }

    fn is_strict(&self) -> bool {
        self.kernel.is_strict()
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.kernel.evaluate(&args.args[0], args.number_rows)
    }

    fn evaluate_bounds(&self, inputs: &[&Interval]) -> Result<Interval> {
        Interval::make_unbounded(&inputs[0].data_type())
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        Ok(K::ordering(&inputs[0]))
    }
}
