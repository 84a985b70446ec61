//! Options of functions that may differ from row to row.
//!
//! DataFusion 55 reads the direction of `array_sort` in the first row of each batch and sorts all rows by it. The unit of
//! `date_trunc`, the encodings of `encode` and `decode` and the method of `digest` it takes as constants alone. Here the rows
//! of one option go through the function together.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1, 'desc', 'month'), (2, 'asc', 'day')) AS v(i, o, u)`
//! Shows: `SELECT array_sort([2, 1, 3], o, 'NULLS LAST')[1] FROM t ORDER BY i` gives `3 / 1`
//! Shows: `SELECT date_trunc(u, TIMESTAMP '2024-03-05 10:00:00')::date FROM t ORDER BY i` gives `2024-03-01 / 2024-03-05`

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt64Array, new_empty_array};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl};

/// The functions, with the places of their options.
const FUNCTIONS: [(&str, &[usize]); 5] =
    [("array_sort", &[1, 2]), ("date_trunc", &[0]), ("encode", &[1]), ("decode", &[1]), ("digest", &[1])];

/// The functions, in place of DataFusion's of the same names among `functions`.
pub fn row_options(functions: &[Arc<ScalarUDF>]) -> Vec<Arc<ScalarUDF>> {
    let found = FUNCTIONS.into_iter().filter_map(|(name, options)| {
        let inner = functions.iter().rev().find(|function| function.name() == name)?;
        Some(Arc::new(ScalarUDF::new_from_impl(RowOptions { inner: Arc::clone(inner), options })))
    });
    found.collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RowOptions {
    inner: Arc<ScalarUDF>,
    options: &'static [usize],
}

impl ScalarUDFImpl for RowOptions {
    bonnet_sql::as_inner_function!();

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let differ = |at: &usize| matches!(args.args.get(*at), Some(ColumnarValue::Array(_)));
        if !self.options.iter().any(differ) {
            return self.inner.invoke_with_args(args);
        }
        if args.number_rows == 0 {
            return Ok(ColumnarValue::Array(new_empty_array(args.return_field.data_type())));
        }
        self.by_options(&args)
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.inner.inner().simplify(args, info)
    }

    fn preimage(&self, args: &[Expr], value: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
        self.inner.inner().preimage(args, value, info)
    }
}

impl RowOptions {
    /// The answers of the rows of each combination of options, put back in the order of the rows.
    fn by_options(&self, args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let arrays = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<_>>>()?;
        let given: Vec<usize> = self.options.iter().copied().filter(|&at| at < arrays.len()).collect();
        let texts = given.iter().map(|&at| Ok(cast(&arrays[at], &DataType::Utf8)?)).collect::<Result<Vec<_>>>()?;
        let texts: Vec<_> = texts.iter().map(|texts| texts.as_string::<i32>()).collect();
        let option = |row: usize| -> Vec<Option<&str>> {
            texts.iter().map(|texts| texts.is_valid(row).then(|| texts.value(row))).collect()
        };
        let mut place: HashMap<Vec<Option<&str>>, usize> = HashMap::new();
        let mut groups: Vec<Vec<u64>> = Vec::new();
        for row in 0..rows {
            let group = *place.entry(option(row)).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(row as u64);
        }
        let mut answers = Vec::with_capacity(groups.len());
        let mut order = vec![0u64; rows];
        let mut answered = 0;
        for group in groups {
            for &row in &group {
                order[row as usize] = answered;
                answered += 1;
            }
            answers.push(self.answer(args, &arrays, &given, &UInt64Array::from(group))?);
        }
        let answers: Vec<&dyn Array> = answers.iter().map(AsRef::as_ref).collect();
        Ok(ColumnarValue::Array(take(&concat(&answers)?, &UInt64Array::from(order), None)?))
    }

    /// The answers of rows whose options are those of the first of them.
    fn answer(
        &self,
        args: &ScalarFunctionArgs,
        arrays: &[ArrayRef],
        options: &[usize],
        rows: &UInt64Array,
    ) -> Result<ArrayRef> {
        let of_rows = arrays.iter().enumerate().map(|(at, array)| {
            Ok(match options.contains(&at) {
                true => ColumnarValue::Scalar(ScalarValue::try_from_array(array, rows.value(0) as usize)?),
                false => ColumnarValue::Array(take(array, rows, None)?),
            })
        });
        let args = ScalarFunctionArgs {
            args: of_rows.collect::<Result<_>>()?,
            arg_fields: args.arg_fields.clone(),
            number_rows: rows.len(),
            return_field: Arc::clone(&args.return_field),
            config_options: Arc::clone(&args.config_options),
        };
        self.inner.invoke_with_args(args)?.into_array(rows.len())
    }
}
