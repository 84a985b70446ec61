//! Pull-up of outer references: the shapes of subqueries that DataFusion 55 decorrelates rightly itself.
//!
//! Shows: see `mod.rs`

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Distinct, Expr, FetchType, Filter, Join, JoinType, Limit, LogicalPlan, Operator, Projection,
    SkipType, Subquery, lit,
};

use super::decorrelator::Decorrelator;
use super::outer_references::{lateral, outer_columns, subquery_of};

/// The use of a subquery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubqueryKind {
    /// EXISTS, whether the subquery has a row.
    Exists,
    /// IN, whether it has a value.
    In,
    /// A scalar subquery, its only value.
    Scalar,
    /// A LATERAL relation, its rows.
    Lateral,
}

/// A plan whose outer references DataFusion pulls up rightly: they stand in filters, above which there are projections,
/// aliases, inner joins, row-preserving sides of outer joins, and at most one aggregate. Conditions below the aggregate
/// equate inner values with outer ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PullUpShape {
    /// Whether a condition on outer references is no equality.
    unequal: bool,
    /// Whether an aggregate stands above such conditions.
    aggregated: bool,
    /// Whether a projection or an aggregate stands above such conditions: DataFusion adds columns to it, which the schemas
    /// of aliases and joins further above do not have.
    projected: bool,
    /// Whether a LIMIT stands above such conditions, which DataFusion drops below EXISTS.
    limited: bool,
}

impl PullUpShape {
    /// The shape of a plan whose references to these outer columns are to be pulled up; `None` if DataFusion would be
    /// wrong.
    pub(super) fn of(plan: &LogicalPlan, kind: SubqueryKind, outer: &[Column]) -> Result<Option<Self>> {
        if !refers_to_any(plan, outer)? {
            return Ok(Some(Self::default()));
        }
        if !matches!(plan, LogicalPlan::Filter(_)) && node_refers_to_any(plan, outer)? {
            return Ok(None);
        }
        let below = |input: &LogicalPlan| Self::of(input, kind, outer);
        match plan {
            LogicalPlan::Filter(filter) => Ok(below(&filter.input)?.and_then(|shape| shape.with_filter(filter))),
            LogicalPlan::Projection(projection) => {
                let constant = |expr: &Expr| !expr.any_column_refs();
                let fits = |shape: &Self| !(shape.aggregated && projection.expr.iter().any(constant));
                Ok(below(&projection.input)?.filter(fits).map(|shape| Self { projected: true, ..shape }))
            }
            LogicalPlan::SubqueryAlias(alias) => Ok(below(&alias.input)?.filter(|shape| !shape.projected)),
            LogicalPlan::Distinct(Distinct::All(input)) if matches!(kind, SubqueryKind::Exists | SubqueryKind::In) => {
                Ok(below(input)?.filter(|shape| !shape.limited))
            }
            LogicalPlan::Limit(limit) if kind == SubqueryKind::Exists && keeps_some_row(limit)? => {
                Ok(below(&limit.input)?.map(|shape| Self { limited: true, ..shape }))
            }
            LogicalPlan::Aggregate(aggregate) => {
                let groups = &aggregate.group_expr;
                let fits_kind = match kind {
                    SubqueryKind::Exists | SubqueryKind::In => !groups.is_empty(),
                    SubqueryKind::Scalar => groups.is_empty(),
                    SubqueryKind::Lateral => true,
                };
                let sets = groups.iter().any(|expr| matches!(expr, Expr::GroupingSet(_)));
                let fits = |shape: &Self| fits_kind && !sets && !shape.unequal && !shape.aggregated && !shape.limited;
                Ok(below(&aggregate.input)?.filter(fits).map(|shape| Self {
                    aggregated: true,
                    projected: true,
                    ..shape
                }))
            }
            LogicalPlan::Join(join) => Self::of_join(join, kind, outer),
            _ => Ok(None),
        }
    }

    /// The shape with a filter above it; `None` if it is no longer one that DataFusion pulls up rightly.
    fn with_filter(mut self, filter: &Filter) -> Option<Self> {
        for condition in split_conjunction(&filter.predicate) {
            if condition.contains_outer() {
                self.unequal |= equality(condition).is_none();
            }
        }
        let nested = filter.predicate.exists(|expr| {
            let outer = subquery_of(expr).map(|subquery| outer_columns(&subquery.subquery)).transpose()?;
            Ok(outer.is_some_and(|outer| outer.iter().any(|column| !filter.input.schema().has_column(column))))
        });
        let fits = !self.aggregated && !self.limited && !nested.unwrap_or(true);
        fits.then_some(self)
    }

    /// The shape of a join, if it is one.
    fn of_join(join: &Join, kind: SubqueryKind, outer: &[Column]) -> Result<Option<Self>> {
        let (left, right) = (refers_to_any(&join.left, outer)?, refers_to_any(&join.right, outer)?);
        let preserved = match join.join_type {
            JoinType::Inner => true,
            JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti => !right,
            JoinType::Right | JoinType::RightSemi | JoinType::RightAnti => !left,
            _ => false,
        };
        if !preserved || lateral(&join.right).is_some() || (left && limits_rows(&join.right)?) {
            return Ok(None);
        }
        let shapes = (Self::of(&join.left, kind, outer)?, Self::of(&join.right, kind, outer)?);
        let (Some(left), Some(right)) = shapes else { return Ok(None) };
        let fits = [left, right].iter().all(|shape| !shape.aggregated && !shape.limited && !shape.projected);
        Ok(fits.then_some(Self { unequal: left.unequal || right.unequal, ..Self::default() }))
    }
}

/// Whether a plan has a LIMIT, an aggregate or DISTINCT, which DataFusion mistakes for one above the condition on the other
/// side.
fn limits_rows(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| Ok(matches!(node, LogicalPlan::Limit(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Distinct(_))))
}

/// Whether a plan refers to one of these outer columns.
fn refers_to_any(plan: &LogicalPlan, outer: &[Column]) -> Result<bool> {
    Ok(outer_columns(plan)?.iter().any(|column| outer.contains(column)))
}

/// Whether an expression of the node itself, or a subquery in it, refers to one of these outer columns.
fn node_refers_to_any(node: &LogicalPlan, outer: &[Column]) -> Result<bool> {
    let mut found = false;
    node.apply_expressions(|expr| {
        found |= expr.exists(|expr| {
            Ok(match (expr, subquery_of(expr)) {
                (Expr::OuterReferenceColumn(_, column), _) => outer.contains(column),
                (_, Some(subquery)) => refers_to_any(&subquery.subquery, outer)?,
                _ => false,
            })
        })?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// Whether a LIMIT keeps a row where there is one.
fn keeps_some_row(limit: &Limit) -> Result<bool> {
    let skips_none = matches!(limit.get_skip_type()?, SkipType::Literal(0));
    Ok(skips_none && matches!(limit.get_fetch_type()?, FetchType::Literal(fetch) if fetch != Some(0)))
}

/// The inner value that a condition equates with an outer one, on whichever side it stands.
fn equality(condition: &Expr) -> Option<&Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition else { return None };
    let is_outer = |expr: &Expr| expr.contains_outer() && !expr.any_column_refs();
    let is_inner = |expr: &Expr| !expr.contains_outer() && expr.any_column_refs();
    [(left, right), (right, left)]
        .into_iter()
        .find(|(inner, outer)| is_inner(inner) && is_outer(outer))
        .map(|it| &**it.0)
}

/// Whether a plan has at most one row, whatever the values of the outer columns.
pub(super) fn has_at_most_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty() || groups_are_fixed(aggregate),
        LogicalPlan::Limit(limit) => {
            matches!(limit.get_fetch_type(), Ok(FetchType::Literal(Some(0 | 1)))) || has_at_most_one_row(&limit.input)
        }
        LogicalPlan::EmptyRelation(_) => true,
        LogicalPlan::Projection(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Distinct(Distinct::All(_))
        | LogicalPlan::Window(_) => plan.inputs().into_iter().all(has_at_most_one_row),
        LogicalPlan::Join(join) => {
            join.join_type == JoinType::Inner && has_at_most_one_row(&join.left) && has_at_most_one_row(&join.right)
        }
        _ => false,
    }
}

/// Whether a condition equates each grouping key with an outer value, so that there is one group.
fn groups_are_fixed(aggregate: &Aggregate) -> bool {
    let fixed: Vec<&Expr> = match aggregate.input.as_ref() {
        LogicalPlan::Filter(filter) => split_conjunction(&filter.predicate).into_iter().filter_map(equality).collect(),
        _ => Vec::new(),
    };
    aggregate.group_expr.iter().all(|group| !group.any_column_refs() || fixed.contains(&group))
}

/// Whether DataFusion decorrelates a LATERAL relation rightly: there is no condition in ON, and no table inside has the
/// name of an outer one that is referred to.
pub(super) fn fits_lateral(join: &Join, subquery: &Subquery) -> Result<bool> {
    let outer = outer_columns(&subquery.subquery)?;
    let inside = |column: &Column| {
        subquery.subquery.exists(|node| {
            Ok(node.schema().iter().any(|(table, _)| table.is_some() && table == column.relation.as_ref()))
        })
    };
    let mut shadowed = false;
    for column in &outer {
        shadowed |= inside(column)?;
    }
    let on_top = matches!(subquery.subquery.as_ref(), LogicalPlan::Projection(_));
    Ok(join.filter.is_none()
        && !shadowed
        && on_top
        && PullUpShape::of(&subquery.subquery, SubqueryKind::Lateral, &outer)?.is_some())
}

/// The subquery with a unique name for each inner value that a condition compares with outer ones. DataFusion distinguishes
/// columns of different tables by name alone, and pulls up x where the condition compares `CAST(x AS ...)`.
pub(super) fn name_inner_values(subquery: &Subquery, decorrelator: &mut Decorrelator) -> Result<Subquery> {
    let plan = subquery.subquery.as_ref().clone();
    let plan = plan.transform_up(|node| match node {
        LogicalPlan::Filter(filter) if filter.predicate.contains_outer() => {
            Ok(Transformed::yes(LogicalPlan::Filter(name_values_of_filter(filter, decorrelator)?)))
        }
        LogicalPlan::Filter(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Join(_) | LogicalPlan::Limit(_) => {
            Ok(Transformed::yes(node.recompute_schema()?))
        }
        node => Ok(Transformed::no(node)),
    })?;
    Ok(Subquery { subquery: Arc::new(plan.data), ..subquery.clone() })
}

/// A filter over a projection that gives the values which its conditions compare with outer ones unique names.
fn name_values_of_filter(filter: Filter, decorrelator: &mut Decorrelator) -> Result<Filter> {
    let mut columns: Vec<Expr> = filter.input.schema().columns().into_iter().map(Expr::Column).collect();
    let mut name_value = |expr: Expr| {
        let name = format!("__inner_{}", decorrelator.next_number());
        columns.push(expr.alias(&name));
        Expr::Column(Column::new_unqualified(name))
    };
    let conditions = split_conjunction_owned(filter.predicate).into_iter().map(|condition| {
        if !condition.contains_outer() {
            return Ok(condition);
        }
        let inner_value = equality(&condition).cloned();
        let condition = condition.transform_down(|expr| match &expr {
            _ if Some(&expr) == inner_value.as_ref() => {
                Ok(Transformed::new(name_value(expr), true, TreeNodeRecursion::Jump))
            }
            Expr::Column(_) => Ok(Transformed::yes(name_value(expr))),
            _ => Ok(Transformed::no(expr)),
        });
        Ok(condition?.data)
    });
    let conditions: Vec<Expr> = conditions.collect::<Result<_>>()?;
    let input = Projection::try_new(columns, filter.input)?;
    let predicate = conjunction(conditions).unwrap_or_else(|| lit(true));
    Filter::try_new(predicate, Arc::new(LogicalPlan::Projection(input)))
}
