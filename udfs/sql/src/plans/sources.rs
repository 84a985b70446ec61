//! The tables that a call reads as they stand: its graph is cached by their versions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::graphs::GraphResolver;
use crate::graphs::table_version::{TableVersion, WholeTable};
use crate::plans::node::RelationNode;

/// A table that a plan reads as it stands, its name, and the columns.
type Scan = (Arc<dyn TableProvider>, String, BTreeMap<String, String>);

/// The table whose rows a plan answers, all of them and unchanged.
fn plain_scan(plan: &LogicalPlan) -> Option<Scan> {
    match plan {
        LogicalPlan::TableScan(scan) if scan.filters.is_empty() && scan.fetch.is_none() => {
            let table = source_as_provider(&scan.source).ok()?;
            let fields = scan.projected_schema.fields();
            let columns = fields.iter().map(|field| (field.name().clone(), field.name().clone())).collect();
            Some((table, scan.table_name.to_string(), columns))
        }
        LogicalPlan::SubqueryAlias(alias) => plain_scan(&alias.input),
        LogicalPlan::Projection(projection) => {
            let (table, name, below) = plain_scan(&projection.input)?;
            let column = |expr: &Expr| match expr {
                Expr::Column(column) => Some((column.name.clone(), below.get(&column.name)?.clone())),
                Expr::Alias(alias) => match alias.expr.as_ref() {
                    Expr::Column(column) => Some((alias.name.clone(), below.get(&column.name)?.clone())),
                    _ => None,
                },
                _ => None,
            };
            Some((table, name, projection.expr.iter().map(column).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// The versions of the tables that the calls of a plan read as they stand, looked up before their scans are planned: rows
/// that a scan reads are of that version if it is still the table's when they are read.
#[derive(Debug, Default)]
pub(crate) struct Sources(HashMap<usize, TableVersion>);

impl Sources {
    /// Looks up the versions. A table whose version cannot be found has none.
    pub(crate) async fn of(plan: &LogicalPlan, graphs: &dyn GraphResolver) -> Result<Self> {
        let mut tables: HashMap<usize, Arc<dyn TableProvider>> = HashMap::new();
        plan.apply_with_subqueries(|plan| {
            if let LogicalPlan::Extension(extension) = plan
                && let Some(node) = extension.node.as_any().downcast_ref::<RelationNode>()
            {
                let scans = node.inputs.iter().filter_map(plain_scan);
                tables.extend(scans.map(|(table, ..)| (address(&table), table)));
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        let mut versions = HashMap::new();
        for (address, table) in tables {
            if let Ok(Some(version)) = graphs.version(&table).await {
                versions.insert(address, version);
            }
        }
        Ok(Self(versions))
    }

    /// The table that is the input of a call, if it has a version.
    pub(crate) fn source(&self, input: &LogicalPlan) -> Option<WholeTable> {
        if self.0.is_empty() {
            return None;
        }
        let (table, name, columns) = plain_scan(input)?;
        let version = self.0.get(&address(&table))?.clone();
        Some(WholeTable { table, name, version, columns })
    }
}

/// The place of a table in memory, where the plan keeps it.
fn address(table: &Arc<dyn TableProvider>) -> usize {
    Arc::as_ptr(table).cast::<()>() as usize
}
