//! The plans whose outer columns DataFusion pulls up rightly.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Distinct, Expr, FetchType, Filter, Join, JoinType, Limit, LogicalPlan, Operator, Projection,
    SkipType, Subquery, lit,
};

use super::Names;
use super::outer::{lateral, outer_columns, subquery_of};

/// What a subquery is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whether it has a row.
    Exists,
    /// Whether it has a value.
    In,
    /// Its value.
    Scalar,
    /// Its rows.
    Lateral,
}

/// A plan whose outer columns DataFusion pulls up rightly: they stand in conditions of filters, over which there are
/// projections, aliases, inner joins, the sides that an outer join keeps, and one aggregate at most, of conditions that are
/// equalities of the plan's values with outer ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    /// Whether a condition on outer columns is no equality.
    unequal: bool,
    /// Whether rows with such conditions were aggregated.
    aggregated: bool,
    /// Whether a projection or an aggregate stands over such conditions: DataFusion adds columns to it, of which the schemas of
    /// aliases and joins above know nothing.
    projected: bool,
    /// Whether rows were limited, which DataFusion leaves out where only their being counts.
    limited: bool,
}

impl Shape {
    /// The shape of a plan by the outer columns that are to be pulled up, if it is one.
    pub(super) fn of(plan: &LogicalPlan, kind: Kind, outer: &[Column]) -> Result<Option<Self>> {
        if !names_any(plan, outer)? {
            return Ok(Some(Self::default()));
        }
        if !matches!(plan, LogicalPlan::Filter(_)) && node_names_any(plan, outer)? {
            return Ok(None);
        }
        let below = |input: &LogicalPlan| Self::of(input, kind, outer);
        match plan {
            LogicalPlan::Filter(filter) => Ok(below(&filter.input)?.and_then(|shape| shape.filtered(filter))),
            LogicalPlan::Projection(projection) => {
                let constant = |expr: &Expr| !expr.any_column_refs();
                let fits = |shape: &Self| !(shape.aggregated && projection.expr.iter().any(constant));
                Ok(below(&projection.input)?.filter(fits).map(|shape| Self { projected: true, ..shape }))
            }
            LogicalPlan::SubqueryAlias(alias) => Ok(below(&alias.input)?.filter(|shape| !shape.projected)),
            LogicalPlan::Distinct(Distinct::All(input)) if matches!(kind, Kind::Exists | Kind::In) => {
                Ok(below(input)?.filter(|shape| !shape.limited))
            }
            LogicalPlan::Limit(limit) if kind == Kind::Exists && keeps_a_row(limit)? => {
                Ok(below(&limit.input)?.map(|shape| Self { limited: true, ..shape }))
            }
            LogicalPlan::Aggregate(aggregate) => {
                let groups = &aggregate.group_expr;
                let counts = match kind {
                    Kind::Exists | Kind::In => !groups.is_empty(),
                    Kind::Scalar => groups.is_empty(),
                    Kind::Lateral => true,
                };
                let sets = groups.iter().any(|expr| matches!(expr, Expr::GroupingSet(_)));
                let fits = |shape: &Self| counts && !sets && !shape.unequal && !shape.aggregated && !shape.limited;
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

    fn filtered(mut self, filter: &Filter) -> Option<Self> {
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

    fn of_join(join: &Join, kind: Kind, outer: &[Column]) -> Result<Option<Self>> {
        let (left, right) = (names_any(&join.left, outer)?, names_any(&join.right, outer)?);
        let kept = match join.join_type {
            JoinType::Inner => true,
            JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti => !right,
            JoinType::Right | JoinType::RightSemi | JoinType::RightAnti => !left,
            _ => false,
        };
        if !kept || lateral(&join.right).is_some() || (left && shrinks(&join.right)?) {
            return Ok(None);
        }
        let shapes = (Self::of(&join.left, kind, outer)?, Self::of(&join.right, kind, outer)?);
        let (Some(left), Some(right)) = shapes else { return Ok(None) };
        let fits = [left, right].iter().all(|shape| !shape.aggregated && !shape.limited && !shape.projected);
        Ok(fits.then_some(Self { unequal: left.unequal || right.unequal, ..Self::default() }))
    }
}

/// Whether a plan has limits or aggregates, of which DataFusion takes one beside a condition for one above it.
fn shrinks(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| Ok(matches!(node, LogicalPlan::Limit(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Distinct(_))))
}

fn names_any(plan: &LogicalPlan, outer: &[Column]) -> Result<bool> {
    Ok(outer_columns(plan)?.iter().any(|column| outer.contains(column)))
}

/// Whether an expression of the node itself names an outer column, in a subquery or not.
fn node_names_any(node: &LogicalPlan, outer: &[Column]) -> Result<bool> {
    let mut found = false;
    node.apply_expressions(|expr| {
        found |= expr.exists(|expr| {
            Ok(match (expr, subquery_of(expr)) {
                (Expr::OuterReferenceColumn(_, column), _) => outer.contains(column),
                (_, Some(subquery)) => names_any(&subquery.subquery, outer)?,
                _ => false,
            })
        })?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

fn keeps_a_row(limit: &Limit) -> Result<bool> {
    let skips_none = matches!(limit.get_skip_type()?, SkipType::Literal(0));
    Ok(skips_none && matches!(limit.get_fetch_type()?, FetchType::Literal(fetch) if fetch != Some(0)))
}

/// The plan's value that a condition holds equal to an outer one, which is on its left or right.
fn equality(condition: &Expr) -> Option<&Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition else { return None };
    let is_outer = |expr: &Expr| expr.contains_outer() && !expr.any_column_refs();
    let is_inner = |expr: &Expr| !expr.contains_outer() && expr.any_column_refs();
    [(left, right), (right, left)]
        .into_iter()
        .find(|(inner, outer)| is_inner(inner) && is_outer(outer))
        .map(|it| &**it.0)
}

/// Whether a plan has one row at most, whatever the outer columns are.
pub(super) fn at_most_a_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty() || groups_are_fixed(aggregate),
        LogicalPlan::Limit(limit) => {
            matches!(limit.get_fetch_type(), Ok(FetchType::Literal(Some(0 | 1)))) || at_most_a_row(&limit.input)
        }
        LogicalPlan::EmptyRelation(_) => true,
        LogicalPlan::Projection(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Distinct(Distinct::All(_))
        | LogicalPlan::Window(_) => plan.inputs().into_iter().all(at_most_a_row),
        LogicalPlan::Join(join) => {
            join.join_type == JoinType::Inner && at_most_a_row(&join.left) && at_most_a_row(&join.right)
        }
        _ => false,
    }
}

/// Whether all keys of the groups equal outer values.
fn groups_are_fixed(aggregate: &Aggregate) -> bool {
    let fixed: Vec<&Expr> = match aggregate.input.as_ref() {
        LogicalPlan::Filter(filter) => split_conjunction(&filter.predicate).into_iter().filter_map(equality).collect(),
        _ => Vec::new(),
    };
    aggregate.group_expr.iter().all(|group| !group.any_column_refs() || fixed.contains(&group))
}

/// Whether DataFusion joins with such a relation rightly: one without a condition in ON, which names no table of the name of
/// one outside.
pub(super) fn is_plain_lateral(join: &Join, subquery: &Subquery) -> Result<bool> {
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
    Ok(join.filter.is_none() && !shadowed && on_top && Shape::of(&subquery.subquery, Kind::Lateral, &outer)?.is_some())
}

/// The subquery with a name of its own for each value of the plan that a condition compares with outer ones: DataFusion tells
/// columns of two tables apart by their names alone, and pulls up the column of `CAST(column AS ...)`.
pub(super) fn with_names(subquery: &Subquery, names: &mut Names) -> Result<Subquery> {
    let plan = subquery.subquery.as_ref().clone();
    let plan = plan.transform_up(|node| match node {
        LogicalPlan::Filter(filter) if filter.predicate.contains_outer() => {
            Ok(Transformed::yes(LogicalPlan::Filter(with_named_values(filter, names)?)))
        }
        LogicalPlan::Filter(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Join(_) | LogicalPlan::Limit(_) => {
            Ok(Transformed::yes(node.recompute_schema()?))
        }
        node => Ok(Transformed::no(node)),
    })?;
    Ok(Subquery { subquery: Arc::new(plan.data), ..subquery.clone() })
}

fn with_named_values(filter: Filter, names: &mut Names) -> Result<Filter> {
    let mut columns: Vec<Expr> = filter.input.schema().columns().into_iter().map(Expr::Column).collect();
    let mut named = |expr: Expr| {
        let name = format!("__inner_{}", names.next());
        columns.push(expr.alias(&name));
        Expr::Column(Column::new_unqualified(name))
    };
    let conditions = split_conjunction_owned(filter.predicate).into_iter().map(|condition| {
        if !condition.contains_outer() {
            return Ok(condition);
        }
        let whole = equality(&condition).cloned();
        let condition = condition.transform_down(|expr| match &expr {
            _ if Some(&expr) == whole.as_ref() => Ok(Transformed::new(named(expr), true, TreeNodeRecursion::Jump)),
            Expr::Column(_) => Ok(Transformed::yes(named(expr))),
            _ => Ok(Transformed::no(expr)),
        });
        Ok(condition?.data)
    });
    let conditions: Vec<Expr> = conditions.collect::<Result<_>>()?;
    let input = Projection::try_new(columns, filter.input)?;
    let predicate = conjunction(conditions).unwrap_or_else(|| lit(true));
    Filter::try_new(predicate, Arc::new(LogicalPlan::Projection(input)))
}
