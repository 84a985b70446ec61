//! Values of maps by their keys.
//!
//! Upstream: none known
//! Shows: `SELECT MAP([1::smallint], ['a'])[1]` gives `a`

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawFieldAccessExpr};
use datafusion::logical_expr::{ExprSchemable, GetFieldAccess, cast};

/// `features[5]` on a map: an integer key is read as the map's own key type, which is usually narrower than BIGINT.
#[derive(Debug)]
pub struct MapKeys;

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
