//! Subqueries and LATERAL relations that look at the rows around them.
//!
//! DataFusion 55 pulls the conditions that name outer columns up to the top of a subquery and joins by them. That answers
//! rightly for few shapes of plans ([`Shape`]), and there it stays, with columns of names of their own. All other shapes are
//! unnested here (Neumann and Kemper, Unnesting Arbitrary Queries, BTW 2015): the subquery is computed once, for all distinct
//! values of the outer columns ([`Dependent`]), and joined with the rows around it.

mod dependent;
mod outer;
mod shape;

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, NullEquality, Result, TableReference, plan_err};
use datafusion::logical_expr::expr::Exists;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Projection, Subquery, SubqueryAlias, lit,
};
use datafusion::optimizer::AnalyzerRule;

use super::by_node::LogicalRule;
use super::subqueries::in_as_exists;
use dependent::{Dependent, Domain};
use outer::{lateral, outer_columns};
use shape::{Kind, Shape};

/// Unnests such subqueries and relations. It comes after the rule that makes EXISTS of IN.
#[derive(Debug)]
pub(crate) struct Correlation;

impl AnalyzerRule for Correlation {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let mut names = Names::default();
        Ok(plan.transform_up_with_subqueries(|node| names.unnested(node))?.data)
    }

    fn name(&self) -> &'static str {
        "correlation"
    }
}

/// LATERAL without outer columns, of which nothing is left once conditions are simplified, is a plain relation: DataFusion's
/// rule for LATERAL, which this one comes before, leaves it as it is, and then it cannot be planned.
pub(crate) const PLAIN_LATERAL: LogicalRule = LogicalRule { name: "plain_lateral", rewrite: without_lateral };

fn without_lateral(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
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

/// Numbers for the names of a statement's new relations and columns.
#[derive(Debug, Default)]
struct Names(usize);

impl Names {
    fn next(&mut self) -> usize {
        self.0 += 1;
        self.0
    }

    /// The node without what is to be unnested; what stands below it, and in its subqueries, is.
    fn unnested(&mut self, node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        match node {
            LogicalPlan::Join(join) => self.joined(join, false),
            LogicalPlan::Filter(_)
            | LogicalPlan::Projection(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Window(_) => self.computed(node),
            other => Ok(Transformed::no(other)),
        }
    }

    /// A node of expressions whose subqueries become columns of its input.
    fn computed(&mut self, node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        if !has_subquery(&node)? {
            return Ok(Transformed::no(node));
        }
        let [original] = node.inputs()[..] else { return Ok(Transformed::no(node)) };
        let (mut input, names) = (original.clone(), NamePreserver::new(&node));
        // In other nodes DataFusion pulls up none.
        let planned = matches!(node, LogicalPlan::Filter(_) | LogicalPlan::Projection(_));
        let exprs = node.expressions().into_iter().map(|expr| {
            let name = names.save(&expr);
            let expr = expr.transform_down(|expr| self.value(expr, original, &mut input, planned))?;
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
            Some(columns) => columns_of(node, columns)?,
            None => node,
        }))
    }

    /// What stands for a subquery over the rows of `input`, which are those of `original` with more columns, in a node where
    /// correlated ones are `planned` by DataFusion or not.
    fn value(
        &mut self,
        expr: Expr,
        original: &LogicalPlan,
        input: &mut LogicalPlan,
        planned: bool,
    ) -> Result<Transformed<Expr>> {
        let (subquery, kind) = match &expr {
            Expr::Exists(exists) => (&exists.subquery, Kind::Exists),
            Expr::InSubquery(within) => (&within.subquery, Kind::In),
            Expr::ScalarSubquery(subquery) => (subquery, Kind::Scalar),
            _ => return Ok(Transformed::no(expr)),
        };
        let outer = here(&subquery.subquery, original)?;
        if outer.is_empty() {
            return Ok(Transformed::no(expr));
        }
        if planned && Shape::of(&subquery.subquery, kind, &outer_columns(&subquery.subquery)?)?.is_some() {
            let named = shape::with_names(subquery, self)?;
            return Ok(Transformed::new(with_subquery(expr, named), true, TreeNodeRecursion::Jump));
        }
        match expr {
            Expr::InSubquery(within) => Ok(Transformed::yes(in_as_exists(within, original.schema())?)),
            Expr::Exists(Exists { subquery, negated }) => {
                let found = self.joined_with(input, &subquery.subquery, Domain::new(original, &outer)?, kind)?;
                Ok(Transformed::yes(if negated { found.is_null() } else { found.is_not_null() }))
            }
            Expr::ScalarSubquery(subquery) if shape::at_most_a_row(&subquery.subquery) => Ok(Transformed::yes(
                self.joined_with(input, &subquery.subquery, Domain::new(original, &outer)?, kind)?,
            )),
            other => Ok(Transformed::new(other, false, TreeNodeRecursion::Jump)),
        }
    }

    /// Joins the rows with what the subquery has for them, and gives the column that holds it: the value, or not NULL where
    /// there is a row.
    fn joined_with(
        &mut self,
        input: &mut LogicalPlan,
        subquery: &LogicalPlan,
        domain: Domain,
        kind: Kind,
    ) -> Result<Expr> {
        let Dependent { plan, keys } = self.dependent(subquery, &domain)?;
        let number = self.next();
        let (relation, value) = (TableReference::bare(format!("__subquery_{number}")), format!("__value_{number}"));
        let names: Vec<String> = (0..keys.len()).map(|i| format!("__key_{number}_{i}")).collect();
        let keys = keys.into_iter().zip(&names).map(|(key, name)| Expr::Column(key).alias(name));
        let plan = LogicalPlanBuilder::from(plan);
        let plan = match kind {
            Kind::Scalar => {
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
        let left = LogicalPlanBuilder::from(self.checked(std::mem::take(input), &domain)?);
        let nulls = domain.null_equality();
        *input = left.join_detailed(right, JoinType::Left, (domain.columns, keys), None, nulls)?.build()?;
        Ok(Expr::Column(Column::new(Some(relation), value)))
    }

    /// A join without LATERAL, if DataFusion would answer it wrongly, or if it has to be `unnested`.
    fn joined(&mut self, join: Join, unnested: bool) -> Result<Transformed<LogicalPlan>> {
        let Some((subquery, alias)) = lateral(&join.right) else {
            return Ok(Transformed::no(LogicalPlan::Join(join)));
        };
        let outer = here(&subquery.subquery, &join.left)?;
        if outer.is_empty() || !matches!(join.join_type, JoinType::Inner | JoinType::Left) {
            return Ok(Transformed::no(LogicalPlan::Join(join)));
        }
        if !unnested && join.on.is_empty() && shape::is_plain_lateral(&join, subquery)? {
            let right = LogicalPlan::Subquery(shape::with_names(subquery, self)?);
            let right = match alias {
                Some(alias) => LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(Arc::new(right), alias.clone())?),
                None => right,
            };
            // DataFusion adds columns to the join, which those above it would not know of.
            let columns = join.schema.columns();
            let joined = LogicalPlan::Join(Join { right: Arc::new(right), ..join });
            return Ok(Transformed::yes(columns_of(joined, columns)?));
        }
        let domain = Domain::new(&join.left, &outer)?;
        let Dependent { plan, keys } = self.dependent(&subquery.subquery, &domain)?;
        let number = self.next();
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
        let left = LogicalPlanBuilder::from(self.checked(Arc::unwrap_or_clone(join.left), &domain)?);
        let right = right.build()?;
        let (condition, nulls) = (conditions.reduce(Expr::and), domain.null_equality());
        let joined = left.join_detailed(right, join.join_type, (outer, keys), condition, nulls)?.build()?;
        Ok(Transformed::yes(columns_of(joined, join.schema.columns())?))
    }
}

fn has_subquery(node: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    node.apply_expressions(|expr| {
        let subquery = |expr: &Expr| matches!(expr, Expr::Exists(_) | Expr::InSubquery(_) | Expr::ScalarSubquery(_));
        found = found || expr.exists(|expr| Ok(subquery(expr)))?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// The columns of a plan that a subquery names, not those of queries further out.
fn here(subquery: &LogicalPlan, around: &LogicalPlan) -> Result<Vec<Column>> {
    let columns = outer_columns(subquery)?;
    Ok(columns.into_iter().filter(|column| around.schema().has_column(column)).collect())
}

fn with_subquery(expr: Expr, subquery: Subquery) -> Expr {
    match expr {
        Expr::Exists(exists) => Expr::Exists(Exists { subquery, ..exists }),
        Expr::InSubquery(mut within) => {
            within.subquery = subquery;
            Expr::InSubquery(within)
        }
        _ => Expr::ScalarSubquery(subquery),
    }
}

/// These columns of a plan alone.
fn columns_of(plan: LogicalPlan, columns: Vec<Column>) -> Result<LogicalPlan> {
    let columns = columns.into_iter().map(Expr::Column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?))
}

fn refused<T>(what: &str) -> Result<T> {
    plan_err!(
        "a subquery cannot look at the query around it here: {what}; join the relations and group the rows instead, or \
         CREATE TABLE what is between"
    )
}

fn null_equality(nullable: bool) -> NullEquality {
    if nullable { NullEquality::NullEqualsNull } else { NullEquality::NullEqualsNothing }
}
