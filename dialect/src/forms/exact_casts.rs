//! Casts of numbers as they are written to decimals and integers, alone or inside lists, structs and maps. Their digits do not
//! pass through a DOUBLE, so that halves round away from zero.
//!
//! Upstream: none known
//! Shows: `SELECT 12345678901234567890123456789012345678::decimal(38, 0)` gives `12345678901234567890123456789012345678`
//! Shows: `SELECT 2.5::int` gives `3`

use datafusion::sql::sqlparser::ast::{
    Array, ArrayElemTypeDef, CastKind, DataType, ExactNumberInfo, Expr, Ident, Map, StructField, UnaryOperator, Value,
    ValueWithSpan,
};

use crate::syntax::tree::ast;

/// DECIMAL has at most so many digits.
const DECIMAL_DIGITS: usize = 38;

/// Rewrites the numbers of an expression that is cast.
pub(crate) fn cast_numbers(of: &mut Expr, to: &DataType) {
    match (of, to) {
        (Expr::Nested(inner), to) if !is_number(inner) => cast_numbers(inner, to),
        (Expr::Array(Array { elem: items, .. }), DataType::Array(item)) => {
            if let ArrayElemTypeDef::SquareBracket(item, _)
            | ArrayElemTypeDef::AngleBracket(item)
            | ArrayElemTypeDef::Parenthesis(item) = item
            {
                items.iter_mut().for_each(|value| cast_numbers(value, item));
            }
        }
        (Expr::Dictionary(values), DataType::Struct(fields, _)) => {
            for value in values {
                if let Some(field) = fields.iter().find(|field| has_name(field, &value.key)) {
                    cast_numbers(&mut value.value, &field.field_type);
                }
            }
        }
        (Expr::Map(Map { entries }), to) => {
            let Some([key, value]) = map_types(to) else { return };
            for entry in entries {
                cast_numbers(&mut entry.key, &key);
                cast_numbers(&mut entry.value, &value);
            }
        }
        (of, to) => cast_number(of, to),
    }
}

fn has_name(field: &StructField, name: &Ident) -> bool {
    field.field_name.as_ref().is_some_and(|field| ast::normalized(field) == ast::normalized(name))
}

/// The types of the keys and the values of a map.
fn map_types(map: &DataType) -> Option<[DataType; 2]> {
    match map {
        DataType::Map(key, value) => Some([key.as_ref().clone(), value.as_ref().clone()]),
        DataType::Custom(name, parts) if name.to_string().eq_ignore_ascii_case("map") => match parts.as_slice() {
            [key, value] => Some([key, value].map(|part| match part.to_ascii_uppercase().as_str() {
                "INT" | "INTEGER" | "BIGINT" => DataType::BigInt(None),
                _ => DataType::Unspecified,
            })),
            _ => None,
        },
        _ => None,
    }
}

/// A number that is cast to a decimal, or with a fraction to an integer.
fn cast_number(of: &mut Expr, to: &DataType) {
    let Some(text) = number(of) else { return };
    match to {
        DataType::Decimal(_) | DataType::Numeric(_) | DataType::Dec(_) if !text.contains(['e', 'E']) => {
            *of = ast::text(text);
        }
        to if is_integer(to) && text.contains('.') => {
            if let Some(decimal) = decimal(&text) {
                *of = decimal;
            }
        }
        _ => {}
    }
}

fn is_number(expr: &Expr) -> bool {
    number(expr).is_some()
}

/// The text of a number, which may have a sign and stand in parentheses.
pub(crate) fn number(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::Number(text, _), .. }) => Some(text.clone()),
        Expr::Nested(inner) => number(inner),
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => number(expr),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            let text = number(expr)?;
            Some(match text.strip_prefix('-') {
                Some(positive) => positive.to_owned(),
                None => format!("-{text}"),
            })
        }
        _ => None,
    }
}

fn is_integer(to: &DataType) -> bool {
    match to {
        DataType::TinyInt(_)
        | DataType::SmallInt(_)
        | DataType::Int(_)
        | DataType::Integer(_)
        | DataType::BigInt(_)
        | DataType::Int2(_)
        | DataType::Int4(_)
        | DataType::Int8(_)
        | DataType::TinyIntUnsigned(_)
        | DataType::SmallIntUnsigned(_)
        | DataType::IntUnsigned(_)
        | DataType::IntegerUnsigned(_)
        | DataType::BigIntUnsigned(_)
        | DataType::Int2Unsigned(_)
        | DataType::Int4Unsigned(_)
        | DataType::Int8Unsigned(_)
        | DataType::UTinyInt
        | DataType::USmallInt
        | DataType::UBigInt => true,
        DataType::Custom(name, parts) => parts.is_empty() && name.to_string().eq_ignore_ascii_case("uinteger"),
        _ => false,
    }
}

/// A number as a decimal of its own digits; `None` if they are too many, or it has an exponent.
pub(crate) fn decimal(text: &str) -> Option<Expr> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = whole.strip_prefix('-').unwrap_or(whole).trim_start_matches('0');
    let scale = fraction.len();
    let digits = (whole.len() + scale).max(1);
    if digits > DECIMAL_DIGITS || !(whole.to_owned() + fraction).chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let data_type = DataType::Decimal(ExactNumberInfo::PrecisionAndScale(digits as u64, scale as i64));
    let expr = Box::new(ast::text(text));
    Some(Expr::Cast { kind: CastKind::Cast, expr, data_type, array: false, format: None })
}
