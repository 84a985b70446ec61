//! `length`, `concat` and `reverse` of lists, as in DuckDB: the items are counted and joined, and `list_reverse` is what turns
//! them around. DataFusion 55 makes a text of a list, and answers for its characters. And series from a DATE to a TIMESTAMP.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/18020>
//! Shows: `SELECT length([1, 2, 3])` gives `3`
//! Shows: `SELECT concat([1], [2])[2]` gives `2`
//! Shows: `SELECT reverse([1, 2])` is refused

use std::sync::Arc;

use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, plan_err};
use datafusion::functions_nested::concat::array_concat_udf;
use datafusion::functions_nested::length::array_length_udf;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::ExprProperties;
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ExpressionPlacement, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};

/// The work of a function on lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum OnLists {
    Length,
    Concat,
    Refused,
    /// The function makes a list, of times between a DATE and a TIMESTAMP among others.
    Series,
}

/// The functions that take texts and lists, in place of those of DataFusion among `functions`.
pub fn list_functions(functions: &[Arc<ScalarUDF>]) -> Vec<Arc<ScalarUDF>> {
    let named = [
        ("character_length", OnLists::Length),
        ("concat", OnLists::Concat),
        ("reverse", OnLists::Refused),
        ("range", OnLists::Series),
        ("generate_series", OnLists::Series),
    ];
    let replaced = named.into_iter().filter_map(|(name, lists)| {
        // The last of a name is the one that counts.
        let texts = functions.iter().rev().find(|function| function.name() == name)?;
        let mut aliases = texts.aliases().to_vec();
        if lists == OnLists::Length {
            aliases.push("len".to_owned());
        }
        let signature = Signature::user_defined(Volatility::Immutable);
        let function = TextOrList { texts: Arc::clone(texts), lists, aliases, signature };
        Some(Arc::new(ScalarUDF::new_from_impl(function)))
    });
    replaced.collect()
}

/// A function of texts, and of lists.
#[derive(Debug, PartialEq, Eq, Hash)]
struct TextOrList {
    texts: Arc<ScalarUDF>,
    lists: OnLists,
    aliases: Vec<String>,
    signature: Signature,
}

fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

impl TextOrList {
    /// The function that serves arguments of these types.
    fn serving<'a>(&self, mut kinds: impl Iterator<Item = &'a DataType>) -> Result<Arc<ScalarUDF>> {
        match (kinds.any(is_list), self.lists) {
            (false, _) | (true, OnLists::Series) => Ok(Arc::clone(&self.texts)),
            (true, OnLists::Length) => Ok(array_length_udf()),
            (true, OnLists::Concat) => Ok(array_concat_udf()),
            (true, OnLists::Refused) => plan_err!("reverse takes a text; of a list: list_reverse(list)"),
        }
    }
}

impl ScalarUDFImpl for TextOrList {
    fn name(&self) -> &str {
        self.texts.name()
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.texts.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        // The bounds of a series are of one type: DATE + INTERVAL is a TIMESTAMP.
        let moment = given.iter().find(|kind| self.lists == OnLists::Series && matches!(kind, DataType::Timestamp(..)));
        let kinds = given.iter().map(|kind| match (kind, moment) {
            (DataType::Date32, Some(moment)) => moment.clone(),
            _ => kind.clone(),
        });
        let fields: Vec<FieldRef> = kinds.map(|kind| Arc::new(Field::new("argument", kind, true))).collect();
        let coerced = fields_with_udf(&fields, self.serving(given.iter())?.as_ref())?;
        Ok(coerced.iter().map(|field| field.data_type().clone()).collect())
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        match self.serving(given.iter())? {
            lists if self.lists == OnLists::Length && given.iter().any(is_list) => {
                lists.return_type(given).map(|_| DataType::Int64)
            }
            function => function.return_type(given),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let kinds: Vec<&DataType> = args.arg_fields.iter().map(|field| field.data_type()).collect();
        let lists = kinds.iter().any(|kind| is_list(kind));
        let function = self.serving(kinds.into_iter())?;
        let field = function.return_field_from_args(args)?;
        Ok(match lists && self.lists == OnLists::Length {
            true => Arc::new(field.as_ref().clone().with_data_type(DataType::Int64)),
            false => field,
        })
    }

    fn is_strict(&self) -> bool {
        self.texts.inner().is_strict()
    }

    fn preserves_lex_ordering(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.texts.inner().preserves_lex_ordering(inputs)
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        for arg in &args {
            if info.get_data_type(arg).map_or(true, |kind| is_list(&kind)) {
                return Ok(ExprSimplifyResult::Original(args));
            }
        }
        self.texts.inner().simplify(args, info)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let kinds: Vec<DataType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let function = self.serving(kinds.iter())?;
        if !(self.lists == OnLists::Length && kinds.iter().any(is_list)) {
            return function.invoke_with_args(args);
        }
        let args = ScalarFunctionArgs {
            return_field: Arc::new(args.return_field.as_ref().clone().with_data_type(DataType::UInt64)),
            ..args
        };
        match function.invoke_with_args(args)? {
            ColumnarValue::Array(lengths) => Ok(ColumnarValue::Array(cast(&lengths, &DataType::Int64)?)),
            ColumnarValue::Scalar(length) => Ok(ColumnarValue::Scalar(length.cast_to(&DataType::Int64)?)),
        }
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        self.texts.inner().placement(args)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.texts.inner().documentation()
    }
}
