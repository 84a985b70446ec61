//! `IN` and `EXISTS` with a subquery, where DataFusion 55 answers wrongly or not at all.
//!
//! It makes joins of them in WHERE and HAVING. `x NOT IN (...)` is right there only if the subquery looks at nothing
//! outside and `x` at a column; a constant, or a condition with OR or CASE around it, takes "unknown" for "no". In a select
//! list it knows neither. Here both become conditions that it knows: EXISTS in a filter, a count in a select list.

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

use super::by_node::LogicalRule;

/// Rewrites such conditions.
pub(crate) const SUBQUERIES: LogicalRule = LogicalRule { name: "subqueries", rewrite: rewritten };

fn rewritten(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Filter(filter) if has_subquery(&filter.predicate) => {
            let schema = Arc::clone(filter.input.schema());
            let conditions = split_conjunction_owned(filter.predicate).into_iter();
            let conditions: Result<Vec<Expr>> = conditions.map(|it| condition(it, &schema)).collect();
            let predicate = conjunction(conditions?).unwrap_or_else(|| lit(true));
            Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)))
        }
        LogicalPlan::Projection(projection) if projection.expr.iter().any(has_subquery) => {
            let schema = Arc::clone(projection.input.schema());
            let names = NamePreserver::new_for_projection();
            let item = |expr: Expr| {
                let name = names.save(&expr);
                Ok(name.restore(value(expr, &schema, Form::Count)?))
            };
            let items: Result<Vec<Expr>> = projection.expr.into_iter().map(item).collect();
            Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(items?, projection.input)?)))
        }
        LogicalPlan::Window(window) if window.window_expr.iter().any(is_asked) => windowed(window),
        LogicalPlan::Aggregate(_) if plan.expressions().iter().any(has_subquery) => {
            let schema = Arc::clone(plan.inputs()[0].schema());
            let names = NamePreserver::new_for_projection();
            let inputs = plan.inputs().into_iter().cloned().collect();
            let item = |expr: Expr| {
                let name = names.save(&expr);
                Ok(name.restore(value(expr, &schema, Form::Count)?))
            };
            let exprs: Result<Vec<Expr>> = plan.expressions().into_iter().map(item).collect();
            Ok(Transformed::yes(plan.with_new_exprs(exprs?, inputs)?))
        }
        LogicalPlan::Sort(sort) if sort.expr.iter().any(|key| is_asked(&key.expr)) => sorted(sort),
        LogicalPlan::Join(join) if join.join_type == JoinType::Inner && join.filter.iter().any(is_asked) => {
            filtered(join)
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Whether an expression holds a subquery that only projections and filters can.
fn is_asked(expr: &Expr) -> bool {
    let scalar = |expr: &Expr| matches!(expr, Expr::ScalarSubquery(subquery) if !subquery.outer_ref_columns.is_empty());
    has_subquery(expr) || expr.exists(|expr| Ok(scalar(expr))).unwrap_or(false)
}

/// A sort by columns that a projection below computes.
fn sorted(sort: Sort) -> Result<Transformed<LogicalPlan>> {
    let columns: Vec<Expr> = sort.input.schema().columns().into_iter().map(Expr::Column).collect();
    let mut computed = columns.clone();
    let mut keys = sort.expr;
    for (i, key) in keys.iter_mut().enumerate().filter(|(_, key)| is_asked(&key.expr)) {
        let name = format!("__sort_{i}");
        let expr = std::mem::replace(&mut key.expr, Expr::Column(Column::new_unqualified(&name)));
        computed.push(expr.alias(name));
    }
    let below = rewritten(LogicalPlan::Projection(Projection::try_new(computed, sort.input)?))?.data;
    let sort = LogicalPlan::Sort(Sort { expr: keys, input: Arc::new(below), fetch: sort.fetch });
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(sort))?)))
}

/// Windows over columns that a projection below computes.
fn windowed(window: Window) -> Result<Transformed<LogicalPlan>> {
    let columns = window.input.schema().columns();
    let mut computed: Vec<Expr> = columns.iter().cloned().map(Expr::Column).collect();
    let mut compute = |expr: &mut Expr| {
        if is_asked(expr) {
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
    let below = rewritten(LogicalPlan::Projection(Projection::try_new(computed, window.input)?))?.data;
    let plan = Window::try_new(functions, Arc::new(below))?;
    let old = window.schema.columns().into_iter().skip(columns.len());
    let new = plan.schema.columns().into_iter().rev().take(plan.window_expr.len()).rev();
    let named = new.zip(old).map(|(new, old)| Expr::Column(new).alias_qualified(old.relation, old.name));
    let columns = columns.into_iter().map(Expr::Column).chain(named).collect();
    let plan = Projection::try_new(columns, Arc::new(LogicalPlan::Window(plan)))?;
    Ok(Transformed::yes(LogicalPlan::Projection(plan)))
}

/// An inner join whose conditions with subqueries stand above it.
fn filtered(mut join: Join) -> Result<Transformed<LogicalPlan>> {
    let conditions = join.filter.take().map(split_conjunction_owned).unwrap_or_default();
    let (above, within): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(is_asked);
    join.filter = conjunction(within);
    let join = Arc::new(LogicalPlan::Join(join));
    let above = conjunction(above).unwrap_or_else(|| lit(true));
    Ok(Transformed::yes(rewritten(LogicalPlan::Filter(Filter::try_new(above, join)?))?.data))
}

fn has_subquery(expr: &Expr) -> bool {
    expr.exists(|expr| Ok(matches!(expr, Expr::InSubquery(_) | Expr::SetComparison(_) | Expr::Exists(_))))
        .unwrap_or(false)
}

/// A condition of WHERE: what it says in front of the rows that it keeps, where "unknown" and "no" are the same.
fn condition(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    match expr {
        Expr::Not(inner) => match *inner {
            Expr::InSubquery(within) => {
                condition(Expr::InSubquery(InSubquery { negated: !within.negated, ..within }), schema)
            }
            inner @ Expr::Exists(_) => Ok(Expr::Not(Box::new(inner))),
            inner => value(Expr::Not(Box::new(inner)), schema, Form::Exists),
        },
        Expr::InSubquery(within) if within.negated => {
            let inside = within.subquery.outer_ref_columns.is_empty() && is_column(&within.expr);
            if inside { Ok(Expr::InSubquery(within)) } else { not_in(within, schema) }
        }
        Expr::InSubquery(within) => Ok(Expr::InSubquery(with_own_name(within)?)),
        expr @ Expr::Exists(_) => Ok(expr),
        expr => value(expr, schema, Form::Exists),
    }
}

/// `x IN (SELECT y ...)` where y is converted to the type of x, under a name of its own: DataFusion 55 gives it that of y,
/// which the conditions of the subquery may name as well.
fn with_own_name(within: InSubquery) -> Result<InSubquery> {
    let LogicalPlan::Projection(Projection { expr, input, .. }) = within.subquery.subquery.as_ref() else {
        return Ok(within);
    };
    let [value @ (Expr::Cast(_) | Expr::TryCast(_))] = expr.as_slice() else { return Ok(within) };
    let named = Projection::try_new(vec![value.clone().alias("__value")], Arc::clone(input))?;
    let subquery = Subquery { subquery: Arc::new(LogicalPlan::Projection(named)), ..within.subquery };
    Ok(InSubquery { subquery, ..within })
}

/// Whether an expression stays one of a column: `n * NULL` becomes a constant.
fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Cast(cast) => is_column(&cast.expr),
        Expr::Alias(alias) => is_column(&alias.expr),
        _ => false,
    }
}

/// `x NOT IN (y ...)` as conditions that each are a join: no y equals x, no y is NULL, and x is not NULL or there is no y.
fn not_in(within: InSubquery, schema: &DFSchema) -> Result<Expr> {
    let parts = Parts::new(within, schema)?;
    let mut conditions = vec![Expr::Not(Box::new(Form::Exists.of(parts.equal()?)?))];
    if parts.inner_nullable {
        conditions.push(Expr::Not(Box::new(Form::Exists.of(parts.null()?)?)));
    }
    if parts.outer_nullable {
        let none = Expr::Not(Box::new(Form::Exists.of(parts.all())?));
        conditions.push(parts.outer.clone().is_not_null().or(none));
    }
    Ok(conditions.into_iter().reduce(Expr::and).unwrap_or_else(|| lit(true)))
}

/// `x IN (y ...)` by conditions that there is a row.
pub(super) fn in_as_exists(within: InSubquery, schema: &DFSchema) -> Result<Expr> {
    value(Expr::InSubquery(within), schema, Form::Exists)
}

/// An expression whose conditions with subqueries are true, false or unknown as SQL has it.
fn value(expr: Expr, schema: &DFSchema, form: Form) -> Result<Expr> {
    let expr = expr.transform_up(|expr| {
        Ok(match expr {
            Expr::InSubquery(within) => {
                let negated = within.negated;
                let value = is_in(Parts::new(within, schema)?, form)?;
                Transformed::yes(if negated { Expr::Not(Box::new(value)) } else { value })
            }
            Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
                let parts = Parts::new(InSubquery::new(expr, subquery, false), schema)?;
                Transformed::yes(compared(&parts, op, quantifier, form)?)
            }
            Expr::Exists(exists) if form == Form::Count => {
                let value = form.of(exists.subquery)?;
                Transformed::yes(if exists.negated { Expr::Not(Box::new(value)) } else { value })
            }
            other => Transformed::no(other),
        })
    })?;
    Ok(expr.data)
}

fn is_in(parts: Parts, form: Form) -> Result<Expr> {
    let unknown = lit(ScalarValue::Boolean(None));
    let mut cases = when(form.of(parts.equal()?)?, lit(true));
    if parts.outer_nullable {
        cases = cases.when(parts.outer.clone().is_null().and(form.of(parts.all())?), unknown.clone());
    }
    if parts.inner_nullable {
        cases = cases.when(form.of(parts.null()?)?, unknown);
    }
    cases.otherwise(lit(false))
}

/// `x > ANY (y ...)` or `x > ALL (y ...)`: a comparison decides, or is unknown.
fn compared(parts: &Parts, op: Operator, quantifier: SetQuantifier, form: Form) -> Result<Expr> {
    let comparison = binary_expr(parts.outer_inside.clone(), op, parts.inner.clone());
    let (decides, value) = match quantifier {
        SetQuantifier::Any => (comparison.clone().is_true(), true),
        SetQuantifier::All => (comparison.clone().is_false(), false),
    };
    when(form.of(parts.filtered(decides)?)?, lit(value))
        .when(form.of(parts.filtered(comparison.is_null())?)?, lit(ScalarValue::Boolean(None)))
        .otherwise(lit(!value))
}

/// The two sides of `x IN (y ...)`.
struct Parts {
    outer: Expr,
    /// x as it is named inside the subquery.
    outer_inside: Expr,
    outer_nullable: bool,
    inner: Expr,
    inner_nullable: bool,
    subquery: Subquery,
}

impl Parts {
    fn new(within: InSubquery, schema: &DFSchema) -> Result<Self> {
        let InSubquery { expr: outer, subquery, .. } = with_own_name(within)?;
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
            false => Subquery { subquery: named(subquery.subquery)?, ..subquery },
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

/// The plan under a name of its own: x may come from a table of the name that the subquery reads. A subquery that looks at
/// the query around it is not renamed: DataFusion 55 fails on that.
fn named(plan: Arc<LogicalPlan>) -> Result<Arc<LogicalPlan>> {
    LogicalPlanBuilder::from(Arc::unwrap_or_clone(plan)).alias("__subquery")?.build().map(Arc::new)
}

/// The form of the condition that there is a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Exists,
    Count,
}

impl Form {
    fn of(self, subquery: Subquery) -> Result<Expr> {
        if self == Self::Exists {
            return Ok(Expr::Exists(Exists::new(subquery, false)));
        }
        let plan = LogicalPlanBuilder::from(Arc::unwrap_or_clone(subquery.subquery));
        let plan = plan.aggregate(Vec::<Expr>::new(), vec![count(lit(1_i64))])?.build()?;
        Ok(Expr::ScalarSubquery(Subquery { subquery: Arc::new(plan), ..subquery }).gt(lit(0_i64)))
    }
}
