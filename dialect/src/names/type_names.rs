//! Names of types in a statement.
//!
//! Upstream: none known
//! Shows: `SELECT CAST(NULL AS MAP(INT, FLOAT)) IS NULL` gives `true`

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::sql::sqlparser::ast;

/// Names of types that DataFusion does not know: `MAP(INT, FLOAT)`, and those of unsigned integers and bytes that
/// [`sql_type`](bonnet_common::sql_type) gives.
#[derive(Debug)]
pub struct TypeNames;

impl TypePlanner for TypeNames {
    fn plan_type_field(&self, sql_type: &ast::DataType) -> Result<Option<FieldRef>> {
        if let Some(simple) = further_type(sql_type) {
            return Ok(Some(Arc::new(Field::new("", simple, true))));
        }
        let (key, value) = match sql_type {
            ast::DataType::Custom(name, parts) if name.to_string().eq_ignore_ascii_case("map") => {
                match parts.as_slice() {
                    [key, value] => (key.as_str(), value.as_str()),
                    _ => return plan_err!("{sql_type}: a map type has two parts, MAP(INT, FLOAT)"),
                }
            }
            _ => return Ok(None),
        };
        let key = Field::new("key", simple_type(key, sql_type)?, false);
        let value = Field::new("value", simple_type(value, sql_type)?, true);
        let entries = Field::new("entries", DataType::Struct(vec![key, value].into()), false);
        Ok(Some(Arc::new(Field::new("map", DataType::Map(Arc::new(entries), false), true))))
    }
}

fn further_type(sql_type: &ast::DataType) -> Option<DataType> {
    Some(match sql_type {
        ast::DataType::UTinyInt => DataType::UInt8,
        ast::DataType::USmallInt => DataType::UInt16,
        ast::DataType::Custom(name, parts) if parts.is_empty() && name.to_string().eq_ignore_ascii_case("uinteger") => {
            DataType::UInt32
        }
        ast::DataType::UBigInt => DataType::UInt64,
        ast::DataType::Blob(None) => DataType::Binary,
        _ => return None,
    })
}

fn simple_type(name: &str, whole: &ast::DataType) -> Result<DataType> {
    Ok(match name.to_ascii_uppercase().as_str() {
        "INT" | "INTEGER" => DataType::Int32,
        "BIGINT" => DataType::Int64,
        "FLOAT" | "REAL" => DataType::Float32,
        "DOUBLE" => DataType::Float64,
        "TEXT" | "VARCHAR" => DataType::Utf8,
        _ => return plan_err!("{whole}: a map's parts are INT, BIGINT, FLOAT, DOUBLE or TEXT, not {name}"),
    })
}
