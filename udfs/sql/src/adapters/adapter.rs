//! The common part of all functions inside expressions: names, types of arguments, identity.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::DataType;
use bonnet_common::raise;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Signature, Volatility};
use datafusion::physical_expr::expressions::Literal;

use crate::binding::arguments::checked;
use crate::error::usage_error;
use crate::registry::options::{OptionValue, Options};
use crate::registry::{Column, Function, OptionType, Parameter, ParameterKind};

/// Name, signature and parameters of a function inside expressions. The statement's rewriting has put all arguments in
/// their places and filled in the defaults.
pub(crate) struct Common {
    pub(crate) function: Arc<Function>,
    pub(crate) signature: Signature,
}

impl Common {
    pub(crate) fn new(function: &Arc<Function>) -> Self {
        Self { function: Arc::clone(function), signature: Signature::user_defined(Volatility::Immutable) }
    }

    pub(crate) fn coerce(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let parameters = &self.function.parameters;
        let required = parameters.iter().filter(|parameter| !parameter.optional).count();
        if given.len() > parameters.len() || given.len() < required {
            return usage_error(format!(
                "{}: {} arguments given; it is {}",
                self.function.name,
                given.len(),
                self.function.signature()
            ));
        }
        let coerced = parameters.iter().zip(given).map(|(parameter, given)| {
            let wanted = match &parameter.kind {
                ParameterKind::Column(Column::Any) => return Ok(given.clone()),
                ParameterKind::Column(Column::Of(wanted)) => wanted.clone(),
                ParameterKind::Option(OptionType::Boolean) => DataType::Boolean,
                ParameterKind::Option(OptionType::Integer) => DataType::Int64,
                ParameterKind::Option(OptionType::Number) => DataType::Float64,
                ParameterKind::Option(OptionType::NumberOrText) if given.is_numeric() => DataType::Float64,
                ParameterKind::Option(OptionType::Text | OptionType::NumberOrText) => DataType::Utf8,
                _ => return Ok(given.clone()),
            };
            let fits = *given == DataType::Null
                || *given == wanted
                || (wanted.is_numeric() && given.is_numeric())
                || (is_text(&wanted) && is_text(given))
                || (wanted.is_nested() && arrow::compute::can_cast_types(given, &wanted));
            match fits {
                true => Ok(wanted),
                false => usage_error(format!(
                    "{}: {} is {given}, expected {wanted}; it is {}",
                    self.function.name,
                    parameter.name,
                    self.function.signature()
                )),
            }
        });
        coerced.collect()
    }

    /// As [`Common::coerce`], for an aggregate: DataFusion repeats its constants for every row, and a dictionary's key is
    /// shorter than a text.
    pub(crate) fn coerce_aggregate(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let repeated = |(parameter, coerced): (&Parameter, DataType)| match (&parameter.kind, coerced) {
            (ParameterKind::Option(_), DataType::Utf8) => {
                DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
            }
            (_, coerced) => coerced,
        };
        Ok(self.function.parameters.iter().zip(self.coerce(given)?).map(repeated).collect())
    }

    /// The places of the parameters that are columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let parameters = self.function.parameters.iter().enumerate();
        parameters.filter(|(_, parameter)| matches!(parameter.kind, ParameterKind::Column(_))).map(|(i, _)| i)
    }

    /// The options, and the places of the arguments that are columns.
    pub(crate) fn arguments(&self, args: &AccumulatorArgs) -> Result<(Options, Vec<usize>)> {
        let function = &self.function;
        if args.is_distinct {
            return raise!(NotSupported, "{}: DISTINCT is not supported; use a subquery", function.name);
        }
        let mut options = Options::default();
        let mut columns = Vec::new();
        for (i, parameter) in function.parameters.iter().enumerate() {
            let ParameterKind::Option(kind) = parameter.kind else {
                columns.push(i);
                continue;
            };
            let value = match args.exprs.get(i) {
                None => parameter.default.clone(),
                Some(expr) => match literal(expr).map(OptionValue::from_scalar) {
                    Some(Some(value)) => value,
                    _ => return usage_error(format!("{}: {} must be a constant", function.name, parameter.name)),
                },
            };
            options.insert(parameter.name, checked(function, parameter.name, kind, value)?);
        }
        Ok((options, columns))
    }
}

/// A function's body behind one of DataFusion's interfaces for functions inside expressions.
pub(crate) struct Adapter<B: ?Sized> {
    pub(crate) common: Common,
    pub(crate) body: Arc<B>,
}

impl<B: ?Sized> Adapter<B> {
    pub(crate) fn new(function: &Arc<Function>, body: &Arc<B>) -> Self {
        Self { common: Common::new(function), body: Arc::clone(body) }
    }
}

impl<B: ?Sized> fmt::Debug for Adapter<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.common.function.name)
    }
}

// DataFusion compares and hashes functions. Two are the same when they have the same name: a registry holds each once.
impl<B: ?Sized> PartialEq for Adapter<B> {
    fn eq(&self, other: &Self) -> bool {
        self.common.function.name == other.common.function.name
    }
}

impl<B: ?Sized> Eq for Adapter<B> {}

impl<B: ?Sized> Hash for Adapter<B> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.common.function.name.hash(state);
    }
}

/// The methods that all interfaces for functions inside expressions ask for; `$coerce` brings the arguments to their types.
macro_rules! common_methods {
    ($coerce:ident) => {
        fn name(&self) -> &str {
            self.common.function.name
        }

        fn signature(&self) -> &datafusion::logical_expr::Signature {
            &self.common.signature
        }

        fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
            self.common.$coerce(given)
        }
    };
}

pub(crate) use common_methods;

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        _ => false,
    }
}

/// The value of a constant, through the casts that type coercion put around it.
fn literal(expr: &Arc<dyn datafusion::physical_expr::PhysicalExpr>) -> Option<&ScalarValue> {
    let any: &dyn Any = expr.as_ref();
    match any.downcast_ref::<Literal>() {
        Some(literal) => Some(literal.value()),
        None if expr.children().len() == 1 => literal(expr.children()[0]),
        None => None,
    }
}
