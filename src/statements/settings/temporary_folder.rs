//! `SET datafusion.runtime.temp_directory`: a folder outside databases. DataFusion makes it at once, inside one that may not be
//! changed as well.

use std::path::Path;

use bonnet_sql::outside_databases;
use datafusion::logical_expr::{LogicalPlan, Statement};

use crate::{Error, Result};

/// Refuses a folder inside a database.
pub(in crate::statements) fn check(plan: &LogicalPlan) -> Result<()> {
    match plan {
        LogicalPlan::Statement(Statement::SetVariable(set))
            if set.variable.eq_ignore_ascii_case("datafusion.runtime.temp_directory") =>
        {
            outside_databases(Path::new(&set.value)).map_err(Error::statement)
        }
        _ => Ok(()),
    }
}
