//! The meaning of names: schemas of graphs, functions and types.

use std::sync::Arc;

use bonnet_catalogs::SessionSchema;
use bonnet_sql::{GraphSchemas, SchemaFacts, TableVersion, TableVersions};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr, RawFieldAccessExpr, TypePlanner};
use datafusion::logical_expr::{ExprSchemable, GetFieldAccess, cast};
use datafusion::sql::sqlparser::ast;
use futures::FutureExt;

/// The facts about the graph of a schema that its tables do not hold, for kernels.
pub(crate) fn graph_schemas() -> GraphSchemas {
    GraphSchemas(Box::new(|schema| {
        let schema = SessionSchema::of(schema)?.engine();
        if let Some(facts) = schema.facts() {
            let format = "tables".to_owned();
            return Some(SchemaFacts { format, directed: Some(facts.directed), ..SchemaFacts::default() });
        }
        let dataset = schema.dataset()?;
        Some(SchemaFacts {
            format: dataset.format().to_owned(),
            location: dataset.location().to_owned(),
            version: dataset.version(),
            directed: Some(dataset.directed()),
            missing: dataset.missing_features(),
        })
    }))
}

/// The versions of tables, for the graphs in the cache that are made of them.
pub(crate) fn table_versions() -> TableVersions {
    TableVersions(Box::new(|table, state| {
        async move {
            let Some(table) = bonnet_catalogs::versioned(table.as_ref()) else { return Ok(None) };
            let version = table.row_version(state).await?;
            Ok(version.map(|version| TableVersion { table: version.table, version: version.version }))
        }
        .boxed()
    }))
}

/// Names of types that DataFusion does not know: `MAP(INT, FLOAT)`, and those of unsigned integers and bytes that
/// [`sql_type`](crate::sql_type) gives.
#[derive(Debug)]
pub(crate) struct TypeNames;

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

/// Operators on bits, of integers alone: DataFusion would round other numbers without a word.
#[derive(Debug)]
pub(crate) struct BitOperands;

impl ExprPlanner for BitOperands {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let bits = matches!(
            expr.op,
            ast::BinaryOperator::BitwiseAnd
                | ast::BinaryOperator::BitwiseOr
                | ast::BinaryOperator::BitwiseXor
                | ast::BinaryOperator::PGBitwiseXor
                | ast::BinaryOperator::PGBitwiseShiftLeft
                | ast::BinaryOperator::PGBitwiseShiftRight
        );
        for side in [&expr.left, &expr.right] {
            if bits
                && let Ok(data_type) = side.get_type(schema)
                && (data_type.is_floating() || data_type.is_decimal())
            {
                return plan_err!(
                    "~, &, |, <<, >> and xor work on the bits of integers: CAST the other operand AS BIGINT, which rounds it"
                );
            }
        }
        Ok(PlannerResult::Original(expr))
    }
}

/// `features[5]` on a map: an integer key is read as the map's own key type, which is usually narrower than BIGINT.
#[derive(Debug)]
pub(crate) struct MapKeys;

impl ExprPlanner for MapKeys {
    fn plan_field_access(
        &self,
        access: RawFieldAccessExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawFieldAccessExpr>> {
        let RawFieldAccessExpr { field_access, expr } = access;
        let field_access = match (field_access, expr.get_type(schema)?) {
            (GetFieldAccess::ListIndex { key }, DataType::Map(entries, _)) => {
                let key_type = match entries.data_type() {
                    DataType::Struct(fields) => fields[0].data_type().clone(),
                    other => other.clone(),
                };
                let given = key.get_type(schema)?;
                let key = match given.is_integer() && key_type.is_integer() && given != key_type {
                    true => Box::new(cast(*key, key_type)),
                    false => key,
                };
                GetFieldAccess::ListIndex { key }
            }
            (
                GetFieldAccess::ListIndex { .. } | GetFieldAccess::ListRange { .. },
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View,
            ) => {
                return plan_err!("a text has no items: substr(text, 2, 3) takes three characters from the second on");
            }
            (other, _) => other,
        };
        Ok(PlannerResult::Original(RawFieldAccessExpr { field_access, expr }))
    }
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
