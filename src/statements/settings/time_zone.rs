//! `SET TIME ZONE`: a zone that there is. DataFusion takes any word, and fails at the next time that is shown.

use arrow::array::timezone::Tz;
use datafusion::logical_expr::{LogicalPlan, Statement};

use crate::{Error, Result};

/// Refuses a zone that nobody knows.
pub(in crate::statements) fn check(plan: &LogicalPlan) -> Result<()> {
    match plan {
        LogicalPlan::Statement(Statement::SetVariable(set))
            if set.variable.eq_ignore_ascii_case("datafusion.execution.time_zone")
                && set.value.parse::<Tz>().is_err() =>
        {
            Err(Error::statement(format!(
                "there is no time zone '{}': zones are named as 'UTC', 'Europe/Berlin' (with their capitals) or '+02:00'",
                set.value
            )))
        }
        _ => Ok(()),
    }
}
