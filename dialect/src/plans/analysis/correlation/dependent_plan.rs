//! Dependent plans: a correlated subquery computed for all values of its domain at once.
//!
//! Shows: see `mod.rs`

use std::sync::Arc;

use bonnet_values::mark_assertion;
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

use super::decorrelator::{Decorrelator, null_equality, select_columns, unsupported};
use super::outer_references::{lateral, outer_columns, subquery_of, with_subquery};

/// The distinct values of the outer columns that a subquery refers to.
pub(super) struct Domain {
    plan: LogicalPlan,
    pub(super) columns: Vec<Column>,
    nullable: bool,
    /// Whether the outer rows may differ when they are computed a second time, since they depend on the order of their
    /// input.
    depends_on_order: bool,
}

impl Domain {
    /// # Errors
    ///
    /// The outer rows are volatile, and would differ when they are computed a second time.
    pub(super) fn new(outer: &LogicalPlan, columns: &[Column]) -> Result<Self> {
        let (mut depends_on_order, mut volatile) = (false, false);
        outer.apply_with_subqueries(|node| {
            depends_on_order |= match node {
                LogicalPlan::Limit(_) | LogicalPlan::Window(_) | LogicalPlan::Distinct(Distinct::On(_)) => true,
                LogicalPlan::Aggregate(aggregate) => aggregate.aggr_expr.iter().any(is_order_sensitive),
                _ => false,
            };
            node.apply_expressions(|expr| {
                volatile |= expr.is_volatile();
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        if volatile {
            return unsupported("the rows around it are drawn by chance");
        }
        let mut nullable = false;
        for column in columns {
            nullable |= outer.schema().field_from_column(column)?.is_nullable();
        }
        Ok(Self { plan: outer.clone(), columns: columns.to_vec(), nullable, depends_on_order })
    }

    /// The equality by which values of the outer columns are compared.
    pub(super) fn null_equality(&self) -> NullEquality {
        null_equality(self.nullable)
    }

    /// Conditions that each value is the same in two relations.
    fn equalities(&self, left: &[Column], right: &[Column]) -> Vec<Expr> {
        let op = if self.nullable { Operator::IsNotDistinctFrom } else { Operator::Eq };
        let pairs = left.iter().cloned().zip(right.iter().cloned());
        pairs.map(|(left, right)| binary_expr(Expr::Column(left), op, Expr::Column(right))).collect()
    }

    /// Whether a plan refers to the outer columns.
    fn is_referenced_by(&self, plan: &LogicalPlan) -> Result<bool> {
        Ok(outer_columns(plan)?.iter().any(|column| self.columns.contains(column)))
    }

    /// An expression that reads the keys, which hold the values of the outer columns, instead of the outer references.
    fn bind(&self, expr: Expr, keys: &[Column]) -> Result<Expr> {
        let keys: Vec<(&Column, &Column)> = self.columns.iter().zip(keys).collect();
        let expr = expr.transform_down(|expr| match &expr {
            Expr::OuterReferenceColumn(_, column) => Ok(match key_of(column, &keys) {
                Some(key) => Transformed::yes(Expr::Column(key.clone())),
                None => Transformed::no(expr),
            }),
            _ => rename_in_subquery(expr, &keys),
        })?;
        Ok(expr.data)
    }
}

/// The key that holds the values of an outer column.
fn key_of<'a>(column: &Column, keys: &[(&Column, &'a Column)]) -> Option<&'a Column> {
    keys.iter().find(|(outer, _)| *outer == column).map(|(_, key)| *key)
}

/// Makes an expression that is a subquery refer to the keys, which become its outer columns.
fn rename_in_subquery(expr: Expr, keys: &[(&Column, &Column)]) -> Result<Transformed<Expr>> {
    let Some(mut subquery) = subquery_of(&expr).cloned() else { return Ok(Transformed::no(expr)) };
    subquery.subquery = Arc::new(rename_references(subquery.subquery.as_ref().clone(), keys)?);
    let outer = subquery.outer_ref_columns.into_iter().map(|expr| Ok(rename_in_expression(expr, keys)?.data));
    subquery.outer_ref_columns = outer.collect::<Result<_>>()?;
    Ok(Transformed::new(with_subquery(expr, subquery), true, TreeNodeRecursion::Jump))
}

/// Makes the outer references of an expression, but for those in subqueries, refer to the keys.
fn rename_in_expression(expr: Expr, keys: &[(&Column, &Column)]) -> Result<Transformed<Expr>> {
    expr.transform_down(|expr| match &expr {
        Expr::OuterReferenceColumn(field, column) => Ok(match key_of(column, keys) {
            Some(key) => Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(field), key.clone())),
            None => Transformed::no(expr),
        }),
        _ => Ok(Transformed::no(expr)),
    })
}

/// Makes a plan refer to the keys instead of outer columns, except where its own columns shadow them.
fn rename_references(plan: LogicalPlan, keys: &[(&Column, &Column)]) -> Result<LogicalPlan> {
    let not_shadowed_by = |inputs: &[&LogicalPlan]| -> Vec<(&Column, &Column)> {
        let own = |column: &Column| inputs.iter().any(|input| input.schema().has_column(column));
        keys.iter().copied().filter(|(outer, _)| !own(outer)).collect()
    };
    let inner = not_shadowed_by(&plan.inputs());
    let right_keys = match &plan {
        LogicalPlan::Join(join) if lateral(&join.right).is_some() => not_shadowed_by(&[&join.left]),
        _ => keys.to_vec(),
    };
    let plan = plan.map_expressions(|expr| {
        rename_in_expression(expr, keys)?
            .transform_data(|expr| expr.transform_down(|expr| rename_in_subquery(expr, &inner)))
    })?;
    let mut is_first = true;
    let plan = plan.data.map_children(|child| {
        let keys = if std::mem::take(&mut is_first) { keys } else { &right_keys };
        Ok(Transformed::yes(rename_references(child, keys)?))
    })?;
    Ok(plan.data)
}

/// Whether the result of an aggregate may depend on the order of its rows, be it by rounding.
fn is_order_sensitive(expr: &Expr) -> bool {
    let is_sensitive = |expr: &Expr| match expr {
        Expr::AggregateFunction(function) => !matches!(function.func.name(), "count" | "min" | "max"),
        _ => false,
    };
    expr.exists(|expr| Ok(is_sensitive(expr))).unwrap_or(true)
}

/// A plan computed for all values of the domain, which are columns of it: the keys.
pub(super) struct DependentPlan {
    pub(super) plan: LogicalPlan,
    pub(super) keys: Vec<Column>,
}

impl DependentPlan {
    fn map(self, plan: impl FnOnce(Arc<LogicalPlan>) -> Result<LogicalPlan>) -> Result<Self> {
        Ok(Self { plan: plan(Arc::new(self.plan))?, keys: self.keys })
    }

    fn key_exprs(&self) -> impl Iterator<Item = Expr> + use<> {
        self.keys.clone().into_iter().map(Expr::Column)
    }

    /// A projection to the keys and these columns.
    fn project(self, columns: Vec<Column>) -> Result<Self> {
        let columns = self.keys.iter().cloned().chain(columns).collect();
        self.map(|plan| select_columns(Arc::unwrap_or_clone(plan), columns))
    }
}

impl Decorrelator {
    /// The plan computed for all values of the domain.
    pub(super) fn dependent_plan(&mut self, plan: &LogicalPlan, domain: &Domain) -> Result<DependentPlan> {
        if !domain.is_referenced_by(plan)? {
            let values = self.values(domain)?;
            let cross_join = |values: Arc<LogicalPlan>| {
                LogicalPlanBuilder::from(Arc::unwrap_or_clone(values)).cross_join(plan.clone())?.build()
            };
            return values.map(cross_join);
        }
        match plan {
            LogicalPlan::Filter(filter) => {
                let input = self.dependent_plan(&filter.input, domain)?;
                let predicate = domain.bind(filter.predicate.clone(), &input.keys)?;
                input.map(|input| Ok(LogicalPlan::Filter(Filter::try_new(predicate, input)?)))
            }
            LogicalPlan::Projection(projection) => {
                let input = self.dependent_plan(&projection.input, domain)?;
                let exprs = input.key_exprs().map(Ok).chain(bind_all(&projection.expr, domain, &input.keys));
                let exprs = exprs.collect::<Result<_>>()?;
                input.map(|input| Ok(LogicalPlan::Projection(Projection::try_new(exprs, input)?)))
            }
            LogicalPlan::SubqueryAlias(SubqueryAlias { input, alias, .. }) => {
                let input = self.dependent_plan(input, domain)?.project(input.schema().columns())?;
                let keys = input.keys.iter().map(|key| Column::new(Some(alias.clone()), &key.name)).collect();
                let plan = SubqueryAlias::try_new(Arc::new(input.plan), alias.clone())?;
                Ok(DependentPlan { plan: LogicalPlan::SubqueryAlias(plan), keys })
            }
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => {
                let input = self.dependent_plan(&sort.input, domain)?;
                let expr = sort_keys(sort, domain, &input.keys)?;
                input.map(|input| Ok(LogicalPlan::Sort(Sort { expr, input, fetch: None })))
            }
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let input = self.dependent_plan(input, domain)?.project(input.schema().columns())?;
                input.map(|input| Ok(LogicalPlan::Distinct(Distinct::All(input))))
            }
            LogicalPlan::Limit(limit) => self.dependent_limit(limit, domain),
            LogicalPlan::Aggregate(aggregate) => self.dependent_aggregate(aggregate, domain),
            LogicalPlan::Window(window) => self.dependent_window(window, domain),
            LogicalPlan::Join(join) => self.dependent_join(join, domain),
            LogicalPlan::Union(union) => self.dependent_union(union, domain),
            LogicalPlan::Unnest(unnest) => {
                let (columns, options) = (unnest.exec_columns.clone(), unnest.options.clone());
                let input = self.dependent_plan(&unnest.input, domain)?;
                input.map(|input| Ok(LogicalPlan::Unnest(Unnest::try_new(input, columns, options)?)))
            }
            other => unsupported(&format!("from within {}", describe_node(other))),
        }
    }

    /// The values of the domain, in a relation whose columns have unique names.
    fn values(&mut self, domain: &Domain) -> Result<DependentPlan> {
        let number = self.next_number();
        let names = (0..domain.columns.len()).map(|i| format!("__outer_{number}_{i}"));
        let (names, columns): (Vec<String>, Vec<Expr>) = names
            .zip(&domain.columns)
            .map(|(name, column)| (name.clone(), Expr::Column(column.clone()).alias(name)))
            .unzip();
        let plan = LogicalPlanBuilder::from(domain.plan.clone()).project(columns)?.distinct()?.build()?;
        Ok(DependentPlan { plan, keys: names.into_iter().map(Column::new_unqualified).collect() })
    }

    /// The outer rows, with a check that the domain contains their values: an error, instead of a wrong answer, where they
    /// differ when they are computed a second time.
    pub(super) fn check_domain(&mut self, rows: LogicalPlan, domain: &Domain) -> Result<LogicalPlan> {
        if !domain.depends_on_order {
            return Ok(rows);
        }
        let DependentPlan { plan, keys } = self.values(domain)?;
        let mark = format!("__found_{}", self.next_number());
        let values = keys.iter().cloned().map(Expr::Column).chain([lit(true).alias(&mark)]);
        let values = LogicalPlanBuilder::from(plan).project(values)?.build()?;
        let rows = LogicalPlanBuilder::from(rows);
        let keys = (domain.columns.clone(), keys);
        let rows = rows.join_detailed(values, JoinType::Left, keys, None, domain.null_equality())?.build()?;
        let is_found = mark_assertion().call(vec![Expr::Column(Column::new_unqualified(mark))]);
        Ok(LogicalPlan::Filter(Filter::try_new(is_found, Arc::new(rows))?))
    }

    /// LIMIT counts the rows of each value of the domain: they are numbered, and filtered by their number.
    fn dependent_limit(&mut self, limit: &Limit, domain: &Domain) -> Result<DependentPlan> {
        let limit_below = |input: &Arc<LogicalPlan>| {
            Arc::new(LogicalPlan::Limit(Limit { input: Arc::clone(input), ..limit.clone() }))
        };
        let (below, sort) = match limit.input.as_ref() {
            LogicalPlan::Projection(projection) => {
                let projection = Projection::try_new(projection.expr.clone(), limit_below(&projection.input))?;
                return self.dependent_plan(&LogicalPlan::Projection(projection), domain);
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let alias = SubqueryAlias::try_new(limit_below(&alias.input), alias.alias.clone())?;
                return self.dependent_plan(&LogicalPlan::SubqueryAlias(alias), domain);
            }
            LogicalPlan::Sort(sort) => (sort.input.as_ref(), Some(sort)),
            other => (other, None),
        };
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) = (limit.get_skip_type()?, limit.get_fetch_type()?)
        else {
            return unsupported("from below a LIMIT that is no number");
        };
        let input = self.dependent_plan(below, domain)?;
        let order = sort.map(|sort| sort_keys(sort, domain, &input.keys)).transpose()?.unwrap_or_default();
        let name = format!("__row_{}", self.next_number());
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

    /// The keys become grouping keys. Without GROUP BY a value without rows has a group as well: an outer join adds it.
    fn dependent_aggregate(&mut self, aggregate: &Aggregate, domain: &Domain) -> Result<DependentPlan> {
        if aggregate.group_expr.iter().any(|expr| matches!(expr, Expr::GroupingSet(_))) {
            return unsupported("from within GROUPING SETS, ROLLUP or CUBE");
        }
        let mut input = self.dependent_plan(&aggregate.input, domain)?;
        let groups: Vec<Expr> = bind_all(&aggregate.group_expr, domain, &input.keys).collect::<Result<_>>()?;
        let mut aggregates: Vec<Expr> = bind_all(&aggregate.aggr_expr, domain, &input.keys).collect::<Result<_>>()?;
        if groups.is_empty() {
            let name = format!("__row_{}", self.next_number());
            let columns = input.plan.schema().columns().into_iter().map(Expr::Column);
            let rows =
                LogicalPlanBuilder::from(input.plan).project(columns.chain([lit(true).alias(&name)]))?.build()?;
            let values = self.values(domain)?;
            let equal = domain.equalities(&values.keys, &input.keys);
            let plan = LogicalPlanBuilder::from(values.plan).join_on(rows, JoinType::Left, equal)?.build()?;
            input = DependentPlan { plan, keys: values.keys };
            let is_row = Expr::Column(Column::new_unqualified(name));
            let filter = |expr| filter_rows(expr, &is_row);
            aggregates = aggregates.into_iter().map(filter).collect::<Result<_>>()?;
        }
        let groups = input.key_exprs().chain(groups).collect();
        input.map(|input| Ok(LogicalPlan::Aggregate(Aggregate::try_new(input, groups, aggregates)?)))
    }

    /// The keys become partition keys.
    fn dependent_window(&mut self, window: &Window, domain: &Domain) -> Result<DependentPlan> {
        let input = self.dependent_plan(&window.input, domain)?;
        let partition = |expr: &Expr| {
            let expr = domain.bind(expr.clone(), &input.keys)?.transform_up(|expr| match expr {
                Expr::WindowFunction(mut function) => {
                    function.params.partition_by.extend(input.key_exprs());
                    Ok(Transformed::yes(Expr::WindowFunction(function)))
                }
                other => Ok(Transformed::no(other)),
            })?;
            Ok(expr.data)
        };
        let exprs: Vec<Expr> = window.window_expr.iter().map(partition).collect::<Result<_>>()?;
        let (before, after) = (window.input.schema().columns(), window.schema.columns());
        let old = after.into_iter().skip(before.len());
        let DependentPlan { plan, keys } = input;
        let plan = Window::try_new(exprs, Arc::new(plan))?;
        let new = plan.schema.columns();
        let new = new[new.len() - plan.window_expr.len()..].iter().cloned();
        let computed = new.zip(old).map(|(new, old)| Expr::Column(new).alias_qualified(old.relation, old.name));
        let columns = keys.iter().cloned().chain(before).map(Expr::Column).chain(computed).collect();
        let plan = Projection::try_new(columns, Arc::new(LogicalPlan::Window(plan)))?;
        Ok(DependentPlan { plan: LogicalPlan::Projection(plan), keys })
    }

    /// A join of which one side alone is computed for the domain, if the other has no outer references, and each row of the
    /// join has a row of the first.
    fn dependent_join(&mut self, join: &Join, domain: &Domain) -> Result<DependentPlan> {
        if lateral(&join.right).is_some() {
            let decorrelated = self.rewrite_lateral(join.clone(), true)?;
            if !decorrelated.transformed {
                return unsupported("from within LATERAL of an outer join, or of a query further out");
            }
            return self.dependent_plan(&decorrelated.data, domain);
        }
        let (in_left, in_right) = (domain.is_referenced_by(&join.left)?, domain.is_referenced_by(&join.right)?);
        let by_left = matches!(
            join.join_type,
            JoinType::Inner | JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark
        );
        let by_right =
            matches!(join.join_type, JoinType::Inner | JoinType::Right | JoinType::RightSemi | JoinType::RightAnti);
        let mut conditions: Vec<Expr> = join.filter.iter().cloned().collect();
        let (left, right, keys) = if !in_right && by_left {
            let left = self.dependent_plan(&join.left, domain)?;
            (left.plan, join.right.as_ref().clone(), left.keys)
        } else if !in_left && by_right {
            let right = self.dependent_plan(&join.right, domain)?;
            (join.left.as_ref().clone(), right.plan, right.keys)
        } else {
            let (left, right) = (self.dependent_plan(&join.left, domain)?, self.dependent_plan(&join.right, domain)?);
            conditions.extend(domain.equalities(&left.keys, &right.keys));
            let keys = match (by_left, by_right) {
                (true, _) => left.keys,
                (_, true) => right.keys,
                _ => return self.dependent_full_join(join, domain, left, right),
            };
            (left.plan, right.plan, keys)
        };
        let conditions = conditions.into_iter().map(|expr| domain.bind(expr, &keys)).collect::<Result<Vec<_>>>()?;
        let on = join
            .on
            .iter()
            .map(|(left, right)| Ok((domain.bind(left.clone(), &keys)?, domain.bind(right.clone(), &keys)?)));
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
        Ok(DependentPlan { plan, keys })
    }

    /// A FULL JOIN, whose keys are those of either side.
    fn dependent_full_join(
        &mut self,
        join: &Join,
        domain: &Domain,
        left: DependentPlan,
        right: DependentPlan,
    ) -> Result<DependentPlan> {
        let is_correlated = |expr: &Expr| expr.contains_outer();
        if join.join_type != JoinType::Full || join.filter.iter().any(is_correlated) || !join.on.is_empty() {
            return unsupported("from within such a join");
        }
        let number = self.next_number();
        let mut columns = Vec::new();
        let mut keys = Vec::new();
        for (i, (left, right)) in left.keys.iter().zip(&right.keys).enumerate() {
            let (left, right) = (Expr::Column(left.clone()), Expr::Column(right.clone()));
            let name = format!("__outer_{number}_{i}");
            keys.push(Column::new_unqualified(&name));
            columns.push(when(left.clone().is_not_null(), left).otherwise(right)?.alias(name));
        }
        let conditions = domain.equalities(&left.keys, &right.keys).into_iter().chain(join.filter.clone());
        let joined = LogicalPlanBuilder::from(left.plan).join_on(right.plan, JoinType::Full, conditions)?;
        let columns = columns.into_iter().chain(join.schema.columns().into_iter().map(Expr::Column));
        Ok(DependentPlan { plan: joined.project(columns)?.build()?, keys })
    }

    /// A UNION ALL, whose inputs are computed for the domain under the same key names.
    fn dependent_union(&mut self, union: &Union, domain: &Domain) -> Result<DependentPlan> {
        let number = self.next_number();
        let mut inputs = Vec::with_capacity(union.inputs.len());
        let mut width = 0;
        for input in &union.inputs {
            let DependentPlan { plan, keys } = self.dependent_plan(input, domain)?;
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
        Ok(DependentPlan { plan: LogicalPlan::Projection(plan), keys: columns })
    }
}

/// Expressions that read the keys instead of the outer references, under their names.
fn bind_all(exprs: &[Expr], domain: &Domain, keys: &[Column]) -> impl Iterator<Item = Result<Expr>> {
    let names = NamePreserver::new_for_projection();
    exprs.iter().map(move |expr| Ok(names.save(expr).restore(domain.bind(expr.clone(), keys)?)))
}

/// Sort keys that read the keys of the domain instead of the outer references.
fn sort_keys(sort: &Sort, domain: &Domain, keys: &[Column]) -> Result<Vec<SortExpr>> {
    let bind = |key: &SortExpr| Ok(key.with_expr(domain.bind(key.expr.clone(), keys)?));
    sort.expr.iter().map(bind).collect()
}

/// The aggregate with a FILTER that leaves out the row which stands for a value without rows.
fn filter_rows(expr: Expr, is_row: &Expr) -> Result<Expr> {
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

/// The name of a node in an error message.
fn describe_node(node: &LogicalPlan) -> String {
    match node {
        LogicalPlan::Values(_) => "VALUES".to_owned(),
        LogicalPlan::Distinct(_) => "DISTINCT ON".to_owned(),
        LogicalPlan::RecursiveQuery(_) => "a recursive query".to_owned(),
        LogicalPlan::TableScan(scan) => format!("the arguments of {}", scan.table_name),
        LogicalPlan::Extension(extension) => extension.node.name().to_owned(),
        _ => "such a query".to_owned(),
    }
}
