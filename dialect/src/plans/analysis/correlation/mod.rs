//! Decorrelation: correlated subqueries and LATERAL relations become joins with the outer query.
//!
//! DataFusion 55 pulls conditions on outer references up to the top of a subquery and joins by them. That is right for few
//! shapes of plans ([`PullUpShape`]); these are left to it, with unique names for the columns in their conditions. All
//! other shapes are unnested here (Neumann and Kemper, Unnesting Arbitrary Queries, BTW 2015): the subquery is computed
//! once for the domain, the distinct values of the outer columns that it refers to ([`DependentPlan`]), and then joined
//! with the outer rows.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/5492>
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(a)`
//! Given: `CREATE TABLE u AS SELECT * FROM (VALUES (1, 10), (1, 11), (3, 12)) AS v(a, b)`
//! Shows: `SELECT a, (SELECT count(*) FROM u WHERE u.a > t.a) FROM t ORDER BY a` gives `1 | 1 / 2 | 1`
//! Shows: `SELECT a, (SELECT 7 FROM u WHERE u.a = t.a HAVING count(*) = 0) FROM t ORDER BY a` gives `1 | NULL / 2 | 7`
//! Shows: `SELECT a FROM t WHERE EXISTS (SELECT count(*) FROM u WHERE u.a = t.a) ORDER BY a` gives `1 / 2`

mod decorrelator;
mod dependent_plan;
mod outer_references;
mod pull_up;

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result, TableReference};
use datafusion::logical_expr::expr::Exists;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder, SubqueryAlias, lit};
use datafusion::optimizer::AnalyzerRule;

use super::subqueries::in_as_exists;
use crate::plans::node_rules::LogicalRule;
use decorrelator::{Decorrelator, select_columns};
use dependent_plan::{DependentPlan, Domain};
use outer_references::{lateral, outer_columns, with_subquery};
use pull_up::{PullUpShape, SubqueryKind};

/// Decorrelates subqueries and LATERAL relations. It comes after the rule `subqueries`, which replaces most IN by EXISTS.
#[derive(Debug)]
pub(crate) struct Correlation;

impl AnalyzerRule for Correlation {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let mut decorrelator = Decorrelator::default();
        // What a subquery gives may be NULL, and with it columns of all nodes above.
        let mut changed = false;
        let plan = plan.transform_up_with_subqueries(|node| {
            let node = if changed { node.recompute_schema()? } else { node };
            let node = decorrelator.rewrite_node(node)?;
            changed |= node.transformed;
            Ok(node)
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &'static str {
        "correlation"
    }
}

/// Makes a LATERAL relation without outer references, which simplification may have removed, a plain one. DataFusion's rule
/// for LATERAL, before which this one runs, leaves such a relation as it is, and then it cannot be planned.
pub(crate) const PLAIN_LATERAL: LogicalRule = LogicalRule { name: "plain_lateral", rewrite: remove_lateral };

fn remove_lateral(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Join(join) = plan else { return Ok(Transformed::no(plan)) };
    let right = match lateral(&join.right) {
        Some((subquery, alias)) if outer_columns(&subquery.subquery)?.is_empty() => {
            let right = LogicalPlanBuilder::new_from_arc(Arc::clone(&subquery.subquery));
            match alias {
                Some(alias) => right.alias(alias.clone())?.build()?,
                None => right.build()?,
            }
        }
        _ => return Ok(Transformed::no(LogicalPlan::Join(join))),
    };
    Ok(Transformed::yes(LogicalPlan::Join(Join { right: Arc::new(right), ..join })))
}

impl Decorrelator {
    /// Decorrelates a node, below which, and in whose subqueries, all is decorrelated.
    fn rewrite_node(&mut self, node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        match node {
            LogicalPlan::Join(join) => self.rewrite_lateral(join, false),
            LogicalPlan::Filter(_)
            | LogicalPlan::Projection(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Window(_) => self.rewrite_expressions(node),
            other => Ok(Transformed::no(other)),
        }
    }

    /// Replaces the correlated subqueries in a node's expressions by columns of its input.
    fn rewrite_expressions(&mut self, node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        if !has_subquery(&node)? {
            return Ok(Transformed::no(node));
        }
        let [original] = node.inputs()[..] else { return Ok(Transformed::no(node)) };
        let (mut input, names) = (original.clone(), NamePreserver::new(&node));
        // DataFusion decorrelates subqueries in these nodes alone.
        let pulls_up = matches!(node, LogicalPlan::Filter(_) | LogicalPlan::Projection(_));
        let exprs = node.expressions().into_iter().map(|expr| {
            let name = names.save(&expr);
            let expr = expr.transform_down(|expr| self.rewrite_subquery(expr, original, &mut input, pulls_up))?;
            Ok(expr.update_data(|expr| name.restore(expr)))
        });
        let exprs: Vec<Transformed<Expr>> = exprs.collect::<Result<_>>()?;
        if !exprs.iter().any(|expr| expr.transformed) {
            return Ok(Transformed::no(node));
        }
        let keeps_columns = matches!(node, LogicalPlan::Filter(_) | LogicalPlan::Window(_));
        let columns = (keeps_columns && &input != original).then(|| node.schema().columns());
        let exprs = exprs.into_iter().map(|expr| expr.data).collect();
        let node = node.with_new_exprs(exprs, vec![input])?;
        Ok(Transformed::yes(match columns {
            Some(columns) => select_columns(node, columns)?,
            None => node,
        }))
    }

    /// Replaces a subquery over `input`, which is `original` joined with the subqueries before. Where DataFusion
    /// `pulls_up`, those of a shape that it decorrelates rightly stay subqueries.
    fn rewrite_subquery(
        &mut self,
        expr: Expr,
        original: &LogicalPlan,
        input: &mut LogicalPlan,
        pulls_up: bool,
    ) -> Result<Transformed<Expr>> {
        let (subquery, kind) = match &expr {
            Expr::Exists(exists) => (&exists.subquery, SubqueryKind::Exists),
            Expr::InSubquery(within) => (&within.subquery, SubqueryKind::In),
            Expr::ScalarSubquery(subquery) => (subquery, SubqueryKind::Scalar),
            _ => return Ok(Transformed::no(expr)),
        };
        let outer = referenced_columns(&subquery.subquery, original)?;
        if outer.is_empty() {
            return Ok(Transformed::no(expr));
        }
        if pulls_up && PullUpShape::of(&subquery.subquery, kind, &outer_columns(&subquery.subquery)?)?.is_some() {
            let named = pull_up::name_inner_values(subquery, self)?;
            return Ok(Transformed::new(with_subquery(expr, named), true, TreeNodeRecursion::Jump));
        }
        match expr {
            Expr::InSubquery(within) => Ok(Transformed::yes(in_as_exists(within, original.schema())?)),
            Expr::Exists(Exists { subquery, negated }) => {
                let value = self.join_subquery(input, &subquery.subquery, Domain::new(original, &outer)?, kind)?;
                Ok(Transformed::yes(if negated { value.is_null() } else { value.is_not_null() }))
            }
            Expr::ScalarSubquery(subquery) if pull_up::has_at_most_one_row(&subquery.subquery) => Ok(Transformed::yes(
                self.join_subquery(input, &subquery.subquery, Domain::new(original, &outer)?, kind)?,
            )),
            other => Ok(Transformed::new(other, false, TreeNodeRecursion::Jump)),
        }
    }

    /// Joins `input` with the subquery computed for its domain, and answers the column with the subquery's value; for
    /// EXISTS, a column that is not NULL where the subquery has a row.
    fn join_subquery(
        &mut self,
        input: &mut LogicalPlan,
        subquery: &LogicalPlan,
        domain: Domain,
        kind: SubqueryKind,
    ) -> Result<Expr> {
        let DependentPlan { plan, keys } = self.dependent_plan(subquery, &domain)?;
        let number = self.next_number();
        let (relation, value) = (TableReference::bare(format!("__subquery_{number}")), format!("__value_{number}"));
        let names: Vec<String> = (0..keys.len()).map(|i| format!("__key_{number}_{i}")).collect();
        let keys = keys.into_iter().zip(&names).map(|(key, name)| Expr::Column(key).alias(name));
        let plan = LogicalPlanBuilder::from(plan);
        let plan = match kind {
            SubqueryKind::Scalar => {
                let column = Expr::Column(Column::from(subquery.schema().qualified_field(0)));
                plan.project(keys.chain([column.alias(&value)]))?
            }
            _ => {
                let plan = plan.project(keys)?.distinct()?;
                let keys = names.iter().map(|name| Expr::Column(Column::new_unqualified(name)));
                plan.project(keys.chain([lit(true).alias(&value)]))?
            }
        };
        let right = plan.alias(relation.clone())?.build()?;
        let keys: Vec<Column> = names.into_iter().map(|name| Column::new(Some(relation.clone()), name)).collect();
        let left = LogicalPlanBuilder::from(self.check_domain(std::mem::take(input), &domain)?);
        let nulls = domain.null_equality();
        *input = left.join_detailed(right, JoinType::Left, (domain.columns, keys), None, nulls)?.build()?;
        Ok(Expr::Column(Column::new(Some(relation), value)))
    }

    /// Decorrelates a join with a LATERAL relation, if DataFusion would answer it wrongly or `always`.
    fn rewrite_lateral(&mut self, join: Join, always: bool) -> Result<Transformed<LogicalPlan>> {
        let Some((subquery, alias)) = lateral(&join.right) else {
            return Ok(Transformed::no(LogicalPlan::Join(join)));
        };
        let outer = referenced_columns(&subquery.subquery, &join.left)?;
        if outer.is_empty() || !matches!(join.join_type, JoinType::Inner | JoinType::Left) {
            return Ok(Transformed::no(LogicalPlan::Join(join)));
        }
        if !always && join.on.is_empty() && pull_up::fits_lateral(&join, subquery)? {
            let right = LogicalPlan::Subquery(pull_up::name_inner_values(subquery, self)?);
            let right = match alias {
                Some(alias) => LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(Arc::new(right), alias.clone())?),
                None => right,
            };
            // DataFusion adds columns to the join, which the schemas of the nodes above do not have.
            let columns = join.schema.columns();
            let joined = LogicalPlan::Join(Join { right: Arc::new(right), ..join });
            return Ok(Transformed::yes(select_columns(joined, columns)?));
        }
        let domain = Domain::new(&join.left, &outer)?;
        let DependentPlan { plan, keys } = self.dependent_plan(&subquery.subquery, &domain)?;
        let number = self.next_number();
        let names: Vec<String> = (0..keys.len()).map(|i| format!("__key_{number}_{i}")).collect();
        let keys = keys.into_iter().zip(&names).map(|(key, name)| Expr::Column(key).alias(name));
        let columns = subquery.subquery.schema().columns().into_iter().map(Expr::Column);
        let right = LogicalPlanBuilder::from(plan).project(keys.chain(columns))?;
        let right = match alias {
            Some(alias) => right.alias(alias.clone())?,
            None => right,
        };
        let keys: Vec<Column> = names.into_iter().map(|name| Column::new(alias.cloned(), name)).collect();
        let conditions = join.on.into_iter().map(|(left, right)| left.eq(right)).chain(join.filter);
        let left = LogicalPlanBuilder::from(self.check_domain(Arc::unwrap_or_clone(join.left), &domain)?);
        let right = right.build()?;
        let (condition, nulls) = (conditions.reduce(Expr::and), domain.null_equality());
        let joined = left.join_detailed(right, join.join_type, (outer, keys), condition, nulls)?.build()?;
        Ok(Transformed::yes(select_columns(joined, join.schema.columns())?))
    }
}

/// Whether an expression of a node contains a subquery.
fn has_subquery(node: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    node.apply_expressions(|expr| {
        let subquery = |expr: &Expr| matches!(expr, Expr::Exists(_) | Expr::InSubquery(_) | Expr::ScalarSubquery(_));
        found = found || expr.exists(|expr| Ok(subquery(expr)))?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// The columns of the outer plan that a subquery refers to; not those of queries further out.
fn referenced_columns(subquery: &LogicalPlan, outer: &LogicalPlan) -> Result<Vec<Column>> {
    let columns = outer_columns(subquery)?;
    Ok(columns.into_iter().filter(|column| outer.schema().has_column(column)).collect())
}
