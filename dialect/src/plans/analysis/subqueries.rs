//! Subquery predicates (`IN`, `EXISTS`, `ANY`, `ALL`), where DataFusion 55 answers wrongly or not at all.
//!
//! It plans them as joins in WHERE and HAVING. There `x NOT IN (...)` is right only if the subquery is uncorrelated and x
//! is a column; for a constant x, or inside OR and CASE, unknown is taken for false. In a select list, and in other nodes,
//! it cannot plan them. Here they become predicates that it can: EXISTS in a filter, a comparison of a count elsewhere.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/25340> <https://github.com/apache/datafusion/pull/25348> <https://github.com/apache/datafusion/issues/25347>
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2), (NULL)) AS v(k)`
//! Shows: `SELECT k FROM t WHERE 7 NOT IN (SELECT k FROM t)` gives ``
//! Shows: `SELECT k, k IN (SELECT k FROM t WHERE k = 1) AS found FROM t ORDER BY k NULLS LAST` gives `1 | true / 2 | false / NULL | NULL`

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ExprSchema, Result, ScalarValue, plan_err};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Expr, ExprSchemable, Filter, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Operator, Projection, Sort, Subquery,
    Window, binary_expr, lit, when,
};

use crate::plans::node_rules::LogicalRule;

/// Rewrites subquery predicates.
pub(crate) const SUBQUERIES: LogicalRule = LogicalRule { name: "subqueries", rewrite: rewrite_node };

fn rewrite_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Filter(filter) if has_subquery(&filter.predicate) => {
            let schema = Arc::clone(filter.input.schema());
            let conditions = split_conjunction_owned(filter.predicate).into_iter();
            let conditions: Result<Vec<Expr>> = conditions.map(|it| rewrite_condition(it, &schema)).collect();
            let predicate = conjunction(conditions?).unwrap_or_else(|| lit(true));
            Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)))
        }
        LogicalPlan::Projection(projection) if projection.expr.iter().any(has_subquery) => {
            let schema = Arc::clone(projection.input.schema());
            let names = NamePreserver::new_for_projection();
            let item = |expr: Expr| {
                let name = names.save(&expr);
                Ok(name.restore(rewrite_value(expr, &schema, RowTest::Count)?))
            };
            let items: Result<Vec<Expr>> = projection.expr.into_iter().map(item).collect();
            Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(items?, projection.input)?)))
        }
        LogicalPlan::Window(window) if window.window_expr.iter().any(needs_projection) => rewrite_window(window),
        LogicalPlan::Aggregate(_) if plan.expressions().iter().any(has_subquery) => {
            let schema = Arc::clone(plan.inputs()[0].schema());
            let names = NamePreserver::new_for_projection();
            let inputs = plan.inputs().into_iter().cloned().collect();
            let item = |expr: Expr| {
                let name = names.save(&expr);
                Ok(name.restore(rewrite_value(expr, &schema, RowTest::Count)?))
            };
            let exprs: Result<Vec<Expr>> = plan.expressions().into_iter().map(item).collect();
            Ok(Transformed::yes(plan.with_new_exprs(exprs?, inputs)?))
        }
        LogicalPlan::Sort(sort) if sort.expr.iter().any(|key| needs_projection(&key.expr)) => rewrite_sort(sort),
        LogicalPlan::Join(join) if join.join_type == JoinType::Inner && join.filter.iter().any(needs_projection) => {
            rewrite_inner_join(join)
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Whether an expression contains a subquery that DataFusion plans in projections and filters alone.
fn needs_projection(expr: &Expr) -> bool {
    let scalar = |expr: &Expr| matches!(expr, Expr::ScalarSubquery(subquery) if !subquery.outer_ref_columns.is_empty());
    has_subquery(expr) || expr.exists(|expr| Ok(scalar(expr))).unwrap_or(false)
}

/// A sort by columns that a projection below computes.
fn rewrite_sort(sort: Sort) -> Result<Transformed<LogicalPlan>> {
    let columns: Vec<Expr> = sort.input.schema().columns().into_iter().map(Expr::Column).collect();
    let mut computed = columns.clone();
    let mut keys = sort.expr;
    for (i, key) in keys.iter_mut().enumerate().filter(|(_, key)| needs_projection(&key.expr)) {
        let name = format!("__sort_{i}");
        let expr = std::mem::replace(&mut key.expr, Expr::Column(Column::new_unqualified(&name)));
        computed.push(expr.alias(name));
    }
    let below = rewrite_node(LogicalPlan::Projection(Projection::try_new(computed, sort.input)?))?.data;
    let sort = LogicalPlan::Sort(Sort { expr: keys, input: Arc::new(below), fetch: sort.fetch });
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(sort))?)))
}

/// Windows over columns that a projection below computes.
fn rewrite_window(window: Window) -> Result<Transformed<LogicalPlan>> {
    let columns = window.input.schema().columns();
    let mut computed: Vec<Expr> = columns.iter().cloned().map(Expr::Column).collect();
    let mut compute = |expr: &mut Expr| {
        if needs_projection(expr) {
            let name = format!("__window_{}", computed.len());
            let column = Expr::Column(Column::new_unqualified(&name));
            computed.push(std::mem::replace(expr, column).alias(name));
        }
    };
    let functions = window.window_expr.into_iter().map(|expr| {
        let expr = expr.transform_up(|expr| match expr {
            Expr::WindowFunction(mut function) => {
                let params = &mut function.params;
                params.args.iter_mut().chain(&mut params.partition_by).for_each(&mut compute);
                params.order_by.iter_mut().map(|key| &mut key.expr).for_each(&mut compute);
                params.filter.iter_mut().map(AsMut::as_mut).for_each(&mut compute);
                Ok(Transformed::yes(Expr::WindowFunction(function)))
            }
            other => Ok(Transformed::no(other)),
        })?;
        Ok(expr.data)
    });
    let functions = functions.collect::<Result<_>>()?;
    let below = rewrite_node(LogicalPlan::Projection(Projection::try_new(computed, window.input)?))?.data;
    let plan = Window::try_new(functions, Arc::new(below))?;
    let old = window.schema.columns().into_iter().skip(columns.len());
    let new = plan.schema.columns().into_iter().rev().take(plan.window_expr.len()).rev();
    let named = new.zip(old).map(|(new, old)| Expr::Column(new).alias_qualified(old.relation, old.name));
    let columns = columns.into_iter().map(Expr::Column).chain(named).collect();
    let plan = Projection::try_new(columns, Arc::new(LogicalPlan::Window(plan)))?;
    Ok(Transformed::yes(LogicalPlan::Projection(plan)))
}

/// An inner join with a filter above it for its conditions with subqueries.
fn rewrite_inner_join(mut join: Join) -> Result<Transformed<LogicalPlan>> {
    let conditions = join.filter.take().map(split_conjunction_owned).unwrap_or_default();
    let (above, within): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(needs_projection);
    join.filter = conjunction(within);
    let join = Arc::new(LogicalPlan::Join(join));
    let above = conjunction(above).unwrap_or_else(|| lit(true));
    Ok(Transformed::yes(rewrite_node(LogicalPlan::Filter(Filter::try_new(above, join)?))?.data))
}

/// Whether an expression contains a subquery predicate.
fn has_subquery(expr: &Expr) -> bool {
    expr.exists(|expr| Ok(matches!(expr, Expr::InSubquery(_) | Expr::SetComparison(_) | Expr::Exists(_))))
        .unwrap_or(false)
}

/// A conjunct of WHERE, where unknown may be replaced by false.
fn rewrite_condition(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    match expr {
        Expr::Not(inner) => match *inner {
            Expr::InSubquery(within) => {
                rewrite_condition(Expr::InSubquery(InSubquery { negated: !within.negated, ..within }), schema)
            }
            inner @ Expr::Exists(_) => Ok(Expr::Not(Box::new(inner))),
            inner => rewrite_value(Expr::Not(Box::new(inner)), schema, RowTest::Exists),
        },
        Expr::InSubquery(within) if within.negated => {
            let is_planned = within.subquery.outer_ref_columns.is_empty() && is_column(&within.expr);
            if is_planned { Ok(Expr::InSubquery(within)) } else { not_in(within, schema) }
        }
        Expr::InSubquery(within) => Ok(Expr::InSubquery(alias_value(within)?)),
        expr @ Expr::Exists(_) => Ok(expr),
        expr => rewrite_value(expr, schema, RowTest::Exists),
    }
}

/// `x IN (SELECT CAST(y ...) ...)`, as coercion leaves it, with a unique alias for the cast: DataFusion 55 names it like y,
/// to which conditions of the subquery may refer.
fn alias_value(within: InSubquery) -> Result<InSubquery> {
    let LogicalPlan::Projection(Projection { expr, input, .. }) = within.subquery.subquery.as_ref() else {
        return Ok(within);
    };
    let [value @ (Expr::Cast(_) | Expr::TryCast(_))] = expr.as_slice() else { return Ok(within) };
    let named = Projection::try_new(vec![value.clone().alias("__value")], Arc::clone(input))?;
    let subquery = Subquery { subquery: Arc::new(LogicalPlan::Projection(named)), ..within.subquery };
    Ok(InSubquery { subquery, ..within })
}

/// Whether an expression is a column, or a cast of one. Others may be simplified to a constant, as `n * NULL` is.
fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Cast(cast) => is_column(&cast.expr),
        Expr::Alias(alias) => is_column(&alias.expr),
        _ => false,
    }
}

/// `x NOT IN (y ...)` as conditions that are planned as one join each: no y equals x, no y is NULL, and x is not NULL or
/// there is no y.
fn not_in(within: InSubquery, schema: &DFSchema) -> Result<Expr> {
    let membership = Membership::new(within, schema)?;
    let mut conditions = vec![Expr::Not(Box::new(RowTest::Exists.of(membership.equal()?)?))];
    if membership.inner_nullable {
        conditions.push(Expr::Not(Box::new(RowTest::Exists.of(membership.null()?)?)));
    }
    if membership.outer_nullable {
        let none = Expr::Not(Box::new(RowTest::Exists.of(membership.all())?));
        conditions.push(membership.outer.clone().is_not_null().or(none));
    }
    Ok(conditions.into_iter().reduce(Expr::and).unwrap_or_else(|| lit(true)))
}

/// `x IN (y ...)` by EXISTS.
pub(super) fn in_as_exists(within: InSubquery, schema: &DFSchema) -> Result<Expr> {
    rewrite_value(Expr::InSubquery(within), schema, RowTest::Exists)
}

/// An expression whose subquery predicates follow three-valued logic.
fn rewrite_value(expr: Expr, schema: &DFSchema, test: RowTest) -> Result<Expr> {
    let expr = expr.transform_up(|expr| {
        Ok(match expr {
            Expr::InSubquery(within) => {
                let negated = within.negated;
                let value = in_value(Membership::new(within, schema)?, test)?;
                Transformed::yes(if negated { Expr::Not(Box::new(value)) } else { value })
            }
            Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
                let membership = Membership::new(InSubquery::new(expr, subquery, false), schema)?;
                Transformed::yes(quantified_value(&membership, op, quantifier, test)?)
            }
            Expr::Exists(exists) if test == RowTest::Count => {
                let value = test.of(exists.subquery)?;
                Transformed::yes(if exists.negated { Expr::Not(Box::new(value)) } else { value })
            }
            other => Transformed::no(other),
        })
    })?;
    Ok(expr.data)
}

/// `x IN (y ...)`: true, false or unknown.
fn in_value(membership: Membership, test: RowTest) -> Result<Expr> {
    let unknown = lit(ScalarValue::Boolean(None));
    let mut cases = when(test.of(membership.equal()?)?, lit(true));
    if membership.outer_nullable {
        cases = cases.when(membership.outer.clone().is_null().and(test.of(membership.all())?), unknown.clone());
    }
    if membership.inner_nullable {
        cases = cases.when(test.of(membership.null()?)?, unknown);
    }
    cases.otherwise(lit(false))
}

/// `x > ANY (y ...)` or `x > ALL (y ...)`: one comparison that is true, or for ALL false, decides; otherwise one that is
/// unknown makes the result unknown.
fn quantified_value(membership: &Membership, op: Operator, quantifier: SetQuantifier, test: RowTest) -> Result<Expr> {
    let comparison = binary_expr(membership.outer_inside.clone(), op, membership.inner.clone());
    let (decides, value) = match quantifier {
        SetQuantifier::Any => (comparison.clone().is_true(), true),
        SetQuantifier::All => (comparison.clone().is_false(), false),
    };
    when(test.of(membership.filtered(decides)?)?, lit(value))
        .when(test.of(membership.filtered(comparison.is_null())?)?, lit(ScalarValue::Boolean(None)))
        .otherwise(lit(!value))
}

/// The two sides of `x IN (y ...)`.
struct Membership {
    outer: Expr,
    /// x as an outer reference of the subquery.
    outer_inside: Expr,
    outer_nullable: bool,
    inner: Expr,
    inner_nullable: bool,
    subquery: Subquery,
}

impl Membership {
    fn new(within: InSubquery, schema: &DFSchema) -> Result<Self> {
        let InSubquery { expr: outer, subquery, .. } = alias_value(within)?;
        let outer = *outer;
        let outer_nullable = outer.nullable(schema)?;
        let outer_inside = outer.clone().transform_up(|expr| match expr {
            Expr::Column(column) => {
                let field = Arc::clone(schema.field_from_column(&column)?);
                Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
            }
            other => Ok(Transformed::no(other)),
        })?;
        let correlated = !subquery.outer_ref_columns.is_empty();
        let subquery = match correlated {
            true => subquery,
            false => Subquery { subquery: alias_plan(subquery.subquery)?, ..subquery },
        };
        let (table, field) = subquery.subquery.schema().qualified_field(0);
        let (inner, inner_nullable) = (Expr::Column((table, field).into()), field.is_nullable());
        if correlated && table.is_some() && outer.column_refs().iter().any(|column| column.relation.as_ref() == table) {
            return plan_err!(
                "{outer} IN (SELECT ...): the subquery reads a table of the same name; give that one a name of its own: \
                 FROM ... AS other"
            );
        }
        Ok(Self { outer, outer_inside: outer_inside.data, outer_nullable, inner, inner_nullable, subquery })
    }

    /// The rows whose y equals x.
    fn equal(&self) -> Result<Subquery> {
        self.filtered(self.inner.clone().eq(self.outer_inside.clone()))
    }

    /// The rows whose y is NULL.
    fn null(&self) -> Result<Subquery> {
        self.filtered(self.inner.clone().is_null())
    }

    fn all(&self) -> Subquery {
        self.subquery.clone()
    }

    fn filtered(&self, predicate: Expr) -> Result<Subquery> {
        let mut outer_ref_columns = self.subquery.outer_ref_columns.clone();
        predicate.apply(|expr| {
            if matches!(expr, Expr::OuterReferenceColumn(..)) && !outer_ref_columns.contains(expr) {
                outer_ref_columns.push(expr.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        let filter = Filter::try_new(predicate, Arc::clone(&self.subquery.subquery))?;
        let subquery = Arc::new(LogicalPlan::Filter(filter));
        Ok(Subquery { subquery, outer_ref_columns, spans: self.subquery.spans.clone() })
    }
}

/// The plan of an uncorrelated subquery under an alias, since x may come from a table whose name the subquery uses as well.
/// On a correlated subquery under an alias DataFusion 55 fails.
fn alias_plan(plan: Arc<LogicalPlan>) -> Result<Arc<LogicalPlan>> {
    LogicalPlanBuilder::from(Arc::unwrap_or_clone(plan)).alias("__subquery")?.build().map(Arc::new)
}

/// The form of a test that a subquery has a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowTest {
    Exists,
    Count,
}

impl RowTest {
    fn of(self, subquery: Subquery) -> Result<Expr> {
        if self == Self::Exists {
            return Ok(Expr::Exists(Exists::new(subquery, false)));
        }
        let plan = LogicalPlanBuilder::from(Arc::unwrap_or_clone(subquery.subquery));
        let plan = plan.aggregate(Vec::<Expr>::new(), vec![count(lit(1_i64))])?.build()?;
        Ok(Expr::ScalarSubquery(Subquery { subquery: Arc::new(plan), ..subquery }).gt(lit(0_i64)))
    }
}
