//! A subquery computed for all distinct values of the outer columns at once.

use std::sync::Arc;

use bonnet_standard::found;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, ExprSchema, NullEquality, Result};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, ExprFunctionExt, FetchType, Filter, Join, JoinType, Limit, LogicalPlan,
    LogicalPlanBuilder, Operator, Projection, SkipType, Sort, SortExpr, SubqueryAlias, Union, Unnest, Window,
    binary_expr, lit, when,
};

use super::outer::{lateral, outer_columns, subquery_of};
use super::{Names, columns_of, null_equality, refused, with_subquery};

/// The distinct values of columns of the rows around a subquery.
pub(super) struct Domain {
    plan: LogicalPlan,
    pub(super) columns: Vec<Column>,
    nullable: bool,
    /// Whether the rows may be others the second time that they are computed: by LIMIT, or by the order in which they come.
    varies: bool,
}

impl Domain {
    /// # Errors
    ///
    /// The rows are drawn by chance, and others the second time that they are computed.
    pub(super) fn new(around: &LogicalPlan, columns: &[Column]) -> Result<Self> {
        let (mut varies, mut volatile) = (false, false);
        around.apply_with_subqueries(|node| {
            varies |= match node {
                LogicalPlan::Limit(_) | LogicalPlan::Window(_) | LogicalPlan::Distinct(Distinct::On(_)) => true,
                LogicalPlan::Aggregate(aggregate) => aggregate.aggr_expr.iter().any(depends_on_order),
                _ => false,
            };
            node.apply_expressions(|expr| {
                volatile |= expr.is_volatile();
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        if volatile {
            return refused("the rows around it are drawn by chance");
        }
        let mut nullable = false;
        for column in columns {
            nullable |= around.schema().field_from_column(column)?.is_nullable();
        }
        Ok(Self { plan: around.clone(), columns: columns.to_vec(), nullable, varies })
    }

    /// How values of the outer columns are compared.
    pub(super) fn null_equality(&self) -> NullEquality {
        null_equality(self.nullable)
    }

    /// That each value is the same in two relations.
    fn equal(&self, left: &[Column], right: &[Column]) -> Vec<Expr> {
        let op = if self.nullable { Operator::IsNotDistinctFrom } else { Operator::Eq };
        let pairs = left.iter().cloned().zip(right.iter().cloned());
        pairs.map(|(left, right)| binary_expr(Expr::Column(left), op, Expr::Column(right))).collect()
    }

    fn is_named_by(&self, plan: &LogicalPlan) -> Result<bool> {
        Ok(outer_columns(plan)?.iter().any(|column| self.columns.contains(column)))
    }

    /// An expression over rows that hold the values of the outer columns.
    fn bound(&self, expr: Expr, keys: &[Column]) -> Result<Expr> {
        let keys: Vec<(&Column, &Column)> = self.columns.iter().zip(keys).collect();
        let expr = expr.transform_down(|expr| match &expr {
            Expr::OuterReferenceColumn(_, column) => Ok(match key_of(column, &keys) {
                Some(key) => Transformed::yes(Expr::Column(key.clone())),
                None => Transformed::no(expr),
            }),
            _ => renamed_within(expr, &keys),
        })?;
        Ok(expr.data)
    }
}

fn key_of<'a>(column: &Column, keys: &[(&Column, &'a Column)]) -> Option<&'a Column> {
    keys.iter().find(|(outer, _)| *outer == column).map(|(_, key)| *key)
}

/// The subquery that an expression is, over rows with the keys, which it names instead of the columns further out.
fn renamed_within(expr: Expr, keys: &[(&Column, &Column)]) -> Result<Transformed<Expr>> {
    let Some(mut subquery) = subquery_of(&expr).cloned() else { return Ok(Transformed::no(expr)) };
    subquery.subquery = Arc::new(renamed(subquery.subquery.as_ref().clone(), keys)?);
    let outer = subquery.outer_ref_columns.into_iter().map(|expr| Ok(renamed_expr(expr, keys)?.data));
    subquery.outer_ref_columns = outer.collect::<Result<_>>()?;
    Ok(Transformed::new(with_subquery(expr, subquery), true, TreeNodeRecursion::Jump))
}

fn renamed_expr(expr: Expr, keys: &[(&Column, &Column)]) -> Result<Transformed<Expr>> {
    expr.transform_down(|expr| match &expr {
        Expr::OuterReferenceColumn(field, column) => Ok(match key_of(column, keys) {
            Some(key) => Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(field), key.clone())),
            None => Transformed::no(expr),
        }),
        _ => Ok(Transformed::no(expr)),
    })
}

/// A plan that names keys instead of outer columns, but where the plan has columns of these names itself.
fn renamed(plan: LogicalPlan, keys: &[(&Column, &Column)]) -> Result<LogicalPlan> {
    let without = |inputs: &[&LogicalPlan]| -> Vec<(&Column, &Column)> {
        let own = |column: &Column| inputs.iter().any(|input| input.schema().has_column(column));
        keys.iter().copied().filter(|(outer, _)| !own(outer)).collect()
    };
    let inner = without(&plan.inputs());
    let beside = match &plan {
        LogicalPlan::Join(join) if lateral(&join.right).is_some() => without(&[&join.left]),
        _ => keys.to_vec(),
    };
    let plan = plan.map_expressions(|expr| {
        renamed_expr(expr, keys)?.transform_data(|expr| expr.transform_down(|expr| renamed_within(expr, &inner)))
    })?;
    let mut is_first = true;
    let plan = plan.data.map_children(|child| {
        let keys = if std::mem::take(&mut is_first) { keys } else { &beside };
        Ok(Transformed::yes(renamed(child, keys)?))
    })?;
    Ok(plan.data)
}

/// Whether an aggregate may answer otherwise, or round otherwise, where rows come in another order.
fn depends_on_order(expr: &Expr) -> bool {
    let depends = |expr: &Expr| match expr {
        Expr::AggregateFunction(function) => !matches!(function.func.name(), "count" | "min" | "max"),
        _ => false,
    };
    expr.exists(|expr| Ok(depends(expr))).unwrap_or(true)
}

/// A plan computed for all values of the outer columns, which are columns of it.
pub(super) struct Dependent {
    pub(super) plan: LogicalPlan,
    pub(super) keys: Vec<Column>,
}

impl Dependent {
    fn map(self, plan: impl FnOnce(Arc<LogicalPlan>) -> Result<LogicalPlan>) -> Result<Self> {
        Ok(Self { plan: plan(Arc::new(self.plan))?, keys: self.keys })
    }

    fn key_exprs(&self) -> impl Iterator<Item = Expr> + use<> {
        self.keys.clone().into_iter().map(Expr::Column)
    }

    /// The keys and these columns alone.
    fn with_columns(self, columns: Vec<Column>) -> Result<Self> {
        let columns = self.keys.iter().cloned().chain(columns).collect();
        self.map(|plan| columns_of(Arc::unwrap_or_clone(plan), columns))
    }
}

impl Names {
    /// The plan for all values of the domain.
    pub(super) fn dependent(&mut self, plan: &LogicalPlan, domain: &Domain) -> Result<Dependent> {
        if !domain.is_named_by(plan)? {
            let values = self.values(domain)?;
            let crossed = |values: Arc<LogicalPlan>| {
                LogicalPlanBuilder::from(Arc::unwrap_or_clone(values)).cross_join(plan.clone())?.build()
            };
            return values.map(crossed);
        }
        match plan {
            LogicalPlan::Filter(filter) => {
                let input = self.dependent(&filter.input, domain)?;
                let predicate = domain.bound(filter.predicate.clone(), &input.keys)?;
                input.map(|input| Ok(LogicalPlan::Filter(Filter::try_new(predicate, input)?)))
            }
            LogicalPlan::Projection(projection) => {
                let input = self.dependent(&projection.input, domain)?;
                let exprs = input.key_exprs().map(Ok).chain(named(&projection.expr, domain, &input.keys));
                let exprs = exprs.collect::<Result<_>>()?;
                input.map(|input| Ok(LogicalPlan::Projection(Projection::try_new(exprs, input)?)))
            }
            LogicalPlan::SubqueryAlias(SubqueryAlias { input, alias, .. }) => {
                let input = self.dependent(input, domain)?.with_columns(input.schema().columns())?;
                let keys = input.keys.iter().map(|key| Column::new(Some(alias.clone()), &key.name)).collect();
                let plan = SubqueryAlias::try_new(Arc::new(input.plan), alias.clone())?;
                Ok(Dependent { plan: LogicalPlan::SubqueryAlias(plan), keys })
            }
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => {
                let input = self.dependent(&sort.input, domain)?;
                let expr = sort_keys(sort, domain, &input.keys)?;
                input.map(|input| Ok(LogicalPlan::Sort(Sort { expr, input, fetch: None })))
            }
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let input = self.dependent(input, domain)?.with_columns(input.schema().columns())?;
                input.map(|input| Ok(LogicalPlan::Distinct(Distinct::All(input))))
            }
            LogicalPlan::Limit(limit) => self.limited(limit, domain),
            LogicalPlan::Aggregate(aggregate) => self.aggregated(aggregate, domain),
            LogicalPlan::Window(window) => self.windowed(window, domain),
            LogicalPlan::Join(join) => self.dependent_join(join, domain),
            LogicalPlan::Union(union) => self.united(union, domain),
            LogicalPlan::Unnest(unnest) => {
                let (columns, options) = (unnest.exec_columns.clone(), unnest.options.clone());
                let input = self.dependent(&unnest.input, domain)?;
                input.map(|input| Ok(LogicalPlan::Unnest(Unnest::try_new(input, columns, options)?)))
            }
            other => refused(&format!("from within {}", kind(other))),
        }
    }

    /// The values, in a relation of names of their own.
    fn values(&mut self, domain: &Domain) -> Result<Dependent> {
        let number = self.next();
        let names = (0..domain.columns.len()).map(|i| format!("__outer_{number}_{i}"));
        let (names, columns): (Vec<String>, Vec<Expr>) = names
            .zip(&domain.columns)
            .map(|(name, column)| (name.clone(), Expr::Column(column.clone()).alias(name)))
            .unzip();
        let plan = LogicalPlanBuilder::from(domain.plan.clone()).project(columns)?.distinct()?.build()?;
        Ok(Dependent { plan, keys: names.into_iter().map(Column::new_unqualified).collect() })
    }

    /// The rows around a subquery, which fail where a value of theirs is not in the domain.
    pub(super) fn checked(&mut self, rows: LogicalPlan, domain: &Domain) -> Result<LogicalPlan> {
        if !domain.varies {
            return Ok(rows);
        }
        let Dependent { plan, keys } = self.values(domain)?;
        let mark = format!("__found_{}", self.next());
        let values = keys.iter().cloned().map(Expr::Column).chain([lit(true).alias(&mark)]);
        let values = LogicalPlanBuilder::from(plan).project(values)?.build()?;
        let rows = LogicalPlanBuilder::from(rows);
        let keys = (domain.columns.clone(), keys);
        let rows = rows.join_detailed(values, JoinType::Left, keys, None, domain.null_equality())?.build()?;
        let is_found = found().call(vec![Expr::Column(Column::new_unqualified(mark))]);
        Ok(LogicalPlan::Filter(Filter::try_new(is_found, Arc::new(rows))?))
    }

    /// The rows of each value are numbered, since LIMIT counts them.
    fn limited(&mut self, limit: &Limit, domain: &Domain) -> Result<Dependent> {
        let below = |input: &Arc<LogicalPlan>| {
            Arc::new(LogicalPlan::Limit(Limit { input: Arc::clone(input), ..limit.clone() }))
        };
        let (below, sort) = match limit.input.as_ref() {
            LogicalPlan::Projection(projection) => {
                let projection = Projection::try_new(projection.expr.clone(), below(&projection.input))?;
                return self.dependent(&LogicalPlan::Projection(projection), domain);
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let alias = SubqueryAlias::try_new(below(&alias.input), alias.alias.clone())?;
                return self.dependent(&LogicalPlan::SubqueryAlias(alias), domain);
            }
            LogicalPlan::Sort(sort) => (sort.input.as_ref(), Some(sort)),
            other => (other, None),
        };
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) = (limit.get_skip_type()?, limit.get_fetch_type()?)
        else {
            return refused("from below a LIMIT that is no number");
        };
        let input = self.dependent(below, domain)?;
        let order = sort.map(|sort| sort_keys(sort, domain, &input.keys)).transpose()?.unwrap_or_default();
        let name = format!("__row_{}", self.next());
        let numbers = row_number().partition_by(input.key_exprs().collect()).order_by(order).build()?.alias(&name);
        let number = || Expr::Column(Column::new_unqualified(&name));
        let after = (skip > 0).then(|| number().gt(lit(skip as u64)));
        let until = fetch.map(|fetch| number().lt_eq(lit((skip as u64).saturating_add(fetch as u64))));
        let Some(predicate) = conjunction(after.into_iter().chain(until)) else { return Ok(input) };
        input.map(|input| {
            let window = LogicalPlan::Window(Window::try_new(vec![numbers], input)?);
            Ok(LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(window))?))
        })
    }

    /// The keys are keys of the groups, too. Without GROUP BY, the values of which there are no rows have a group as well.
    fn aggregated(&mut self, aggregate: &Aggregate, domain: &Domain) -> Result<Dependent> {
        if aggregate.group_expr.iter().any(|expr| matches!(expr, Expr::GroupingSet(_))) {
            return refused("from within GROUPING SETS, ROLLUP or CUBE");
        }
        let mut input = self.dependent(&aggregate.input, domain)?;
        let groups: Vec<Expr> = named(&aggregate.group_expr, domain, &input.keys).collect::<Result<_>>()?;
        let mut aggregates: Vec<Expr> = named(&aggregate.aggr_expr, domain, &input.keys).collect::<Result<_>>()?;
        if groups.is_empty() {
            let name = format!("__row_{}", self.next());
            let columns = input.plan.schema().columns().into_iter().map(Expr::Column);
            let rows =
                LogicalPlanBuilder::from(input.plan).project(columns.chain([lit(true).alias(&name)]))?.build()?;
            let values = self.values(domain)?;
            let equal = domain.equal(&values.keys, &input.keys);
            let plan = LogicalPlanBuilder::from(values.plan).join_on(rows, JoinType::Left, equal)?.build()?;
            input = Dependent { plan, keys: values.keys };
            let is_row = Expr::Column(Column::new_unqualified(name));
            let filtered = |expr| of_rows(expr, &is_row);
            aggregates = aggregates.into_iter().map(filtered).collect::<Result<_>>()?;
        }
        let groups = input.key_exprs().chain(groups).collect();
        input.map(|input| Ok(LogicalPlan::Aggregate(Aggregate::try_new(input, groups, aggregates)?)))
    }

    /// Windows lie within the rows of a value.
    fn windowed(&mut self, window: &Window, domain: &Domain) -> Result<Dependent> {
        let input = self.dependent(&window.input, domain)?;
        let within = |expr: &Expr| {
            let expr = domain.bound(expr.clone(), &input.keys)?.transform_up(|expr| match expr {
                Expr::WindowFunction(mut function) => {
                    function.params.partition_by.extend(input.key_exprs());
                    Ok(Transformed::yes(Expr::WindowFunction(function)))
                }
                other => Ok(Transformed::no(other)),
            })?;
            Ok(expr.data)
        };
        let exprs: Vec<Expr> = window.window_expr.iter().map(within).collect::<Result<_>>()?;
        let (before, after) = (window.input.schema().columns(), window.schema.columns());
        let old = after.into_iter().skip(before.len());
        let Dependent { plan, keys } = input;
        let plan = Window::try_new(exprs, Arc::new(plan))?;
        let new = plan.schema.columns();
        let new = new[new.len() - plan.window_expr.len()..].iter().cloned();
        let computed = new.zip(old).map(|(new, old)| Expr::Column(new).alias_qualified(old.relation, old.name));
        let columns = keys.iter().cloned().chain(before).map(Expr::Column).chain(computed).collect();
        let plan = Projection::try_new(columns, Arc::new(LogicalPlan::Window(plan)))?;
        Ok(Dependent { plan: LogicalPlan::Projection(plan), keys })
    }

    /// One side alone is computed for the values, if each row of the join has its row.
    fn dependent_join(&mut self, join: &Join, domain: &Domain) -> Result<Dependent> {
        if lateral(&join.right).is_some() {
            let unnested = self.joined(join.clone(), true)?;
            if !unnested.transformed {
                return refused("from within LATERAL of an outer join, or of a query further out");
            }
            return self.dependent(&unnested.data, domain);
        }
        let (on_left, on_right) = (domain.is_named_by(&join.left)?, domain.is_named_by(&join.right)?);
        let by_left = matches!(
            join.join_type,
            JoinType::Inner | JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark
        );
        let by_right =
            matches!(join.join_type, JoinType::Inner | JoinType::Right | JoinType::RightSemi | JoinType::RightAnti);
        let mut conditions: Vec<Expr> = join.filter.iter().cloned().collect();
        let (left, right, keys) = if !on_right && by_left {
            let left = self.dependent(&join.left, domain)?;
            (left.plan, join.right.as_ref().clone(), left.keys)
        } else if !on_left && by_right {
            let right = self.dependent(&join.right, domain)?;
            (join.left.as_ref().clone(), right.plan, right.keys)
        } else {
            let (left, right) = (self.dependent(&join.left, domain)?, self.dependent(&join.right, domain)?);
            conditions.extend(domain.equal(&left.keys, &right.keys));
            let keys = match (by_left, by_right) {
                (true, _) => left.keys,
                (_, true) => right.keys,
                _ => return self.full_join(join, domain, left, right),
            };
            (left.plan, right.plan, keys)
        };
        let conditions = conditions.into_iter().map(|expr| domain.bound(expr, &keys)).collect::<Result<Vec<_>>>()?;
        let on = join
            .on
            .iter()
            .map(|(left, right)| Ok((domain.bound(left.clone(), &keys)?, domain.bound(right.clone(), &keys)?)));
        let plan = LogicalPlan::Join(Join::try_new(
            Arc::new(left),
            Arc::new(right),
            on.collect::<Result<_>>()?,
            conjunction(conditions),
            join.join_type,
            join.join_constraint,
            join.null_equality,
            join.null_aware,
        )?);
        Ok(Dependent { plan, keys })
    }

    fn full_join(&mut self, join: &Join, domain: &Domain, left: Dependent, right: Dependent) -> Result<Dependent> {
        let outside = |expr: &Expr| expr.contains_outer();
        if join.join_type != JoinType::Full || join.filter.iter().any(outside) || !join.on.is_empty() {
            return refused("from within such a join");
        }
        let number = self.next();
        let mut columns = Vec::new();
        let mut keys = Vec::new();
        for (i, (left, right)) in left.keys.iter().zip(&right.keys).enumerate() {
            let (left, right) = (Expr::Column(left.clone()), Expr::Column(right.clone()));
            let name = format!("__outer_{number}_{i}");
            keys.push(Column::new_unqualified(&name));
            columns.push(when(left.clone().is_not_null(), left).otherwise(right)?.alias(name));
        }
        let conditions = domain.equal(&left.keys, &right.keys).into_iter().chain(join.filter.clone());
        let joined = LogicalPlanBuilder::from(left.plan).join_on(right.plan, JoinType::Full, conditions)?;
        let columns = columns.into_iter().chain(join.schema.columns().into_iter().map(Expr::Column));
        Ok(Dependent { plan: joined.project(columns)?.build()?, keys })
    }

    fn united(&mut self, union: &Union, domain: &Domain) -> Result<Dependent> {
        let number = self.next();
        let mut inputs = Vec::with_capacity(union.inputs.len());
        let mut width = 0;
        for input in &union.inputs {
            let Dependent { plan, keys } = self.dependent(input, domain)?;
            width = keys.len();
            let named = |(i, key)| Expr::Column(key).alias(format!("__outer_{number}_{i}"));
            let keys = keys.into_iter().enumerate().map(named);
            let columns = keys.chain(input.schema().columns().into_iter().map(Expr::Column)).collect();
            inputs.push(Arc::new(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?)));
        }
        let plan = Union::try_new(inputs)?;
        let mut columns = plan.schema.columns();
        let values = columns.split_off(width);
        let named = values.into_iter().zip(union.schema.columns());
        let named = named.map(|(new, old)| Expr::Column(new).alias_qualified(old.relation, old.name));
        let exprs = columns.iter().cloned().map(Expr::Column).chain(named).collect();
        let plan = Projection::try_new(exprs, Arc::new(LogicalPlan::Union(plan)))?;
        Ok(Dependent { plan: LogicalPlan::Projection(plan), keys: columns })
    }
}

/// Expressions over rows with the keys, under their names.
fn named(exprs: &[Expr], domain: &Domain, keys: &[Column]) -> impl Iterator<Item = Result<Expr>> {
    let names = NamePreserver::new_for_projection();
    exprs.iter().map(move |expr| Ok(names.save(expr).restore(domain.bound(expr.clone(), keys)?)))
}

fn sort_keys(sort: &Sort, domain: &Domain, keys: &[Column]) -> Result<Vec<SortExpr>> {
    let bound = |key: &SortExpr| Ok(key.with_expr(domain.bound(key.expr.clone(), keys)?));
    sort.expr.iter().map(bound).collect()
}

/// The aggregate of the rows that there are.
fn of_rows(expr: Expr, is_row: &Expr) -> Result<Expr> {
    let name = NamePreserver::new_for_projection().save(&expr);
    let expr = expr.transform_up(|expr| match expr {
        Expr::AggregateFunction(mut function) => {
            let filter = function.params.filter.take();
            let filter = filter.map_or_else(|| is_row.clone(), |filter| filter.and(is_row.clone()));
            function.params.filter = Some(Box::new(filter));
            Ok(Transformed::yes(Expr::AggregateFunction(function)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(name.restore(expr.data))
}

/// A node as users know it.
fn kind(node: &LogicalPlan) -> String {
    match node {
        LogicalPlan::Values(_) => "VALUES".to_owned(),
        LogicalPlan::Distinct(_) => "DISTINCT ON".to_owned(),
        LogicalPlan::RecursiveQuery(_) => "a recursive query".to_owned(),
        LogicalPlan::TableScan(scan) => format!("the arguments of {}", scan.table_name),
        LogicalPlan::Extension(extension) => extension.node.name().to_owned(),
        _ => "such a query".to_owned(),
    }
}
