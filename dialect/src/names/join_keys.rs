//! The keys of USING and NATURAL joins, which an answer has once: of the side that keeps all its rows, or the first that is
//! not NULL where both do. DataFusion would answer the left side's in every join, and of `*` that of the table whose name
//! comes first in the alphabet.
//!
//! A pass over the statement puts such joins into parentheses, with the qualified columns that the statement reads as the
//! columns of a reserved alias; there [`JoinPlanner`] finds them, and plans them with both sides' columns at hand.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/22881> <https://github.com/apache/datafusion/pull/22998>
//! Shows: `SELECT k FROM (VALUES (1)) AS a(k) RIGHT JOIN (VALUES (4)) AS b(k) USING (k)` gives `4`
//! Shows: `SELECT k FROM (VALUES (1)) AS a(k) NATURAL FULL JOIN (VALUES (4)) AS b(k) ORDER BY k` gives `1 / 4`

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use bonnet_common::position;
use datafusion::common::{Column, DFSchema, ExprSchema, NullEquality, Result, TableReference, not_impl_err, plan_err};
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::{
    EmptyRelation, Expr as PlanExpr, Join as PlanJoin, JoinConstraint as PlanConstraint, JoinType, LogicalPlan,
    LogicalPlanBuilder,
};
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Join, JoinConstraint, JoinOperator, ObjectName,
    Select, SelectItem, SelectItemQualifiedWildcardKind, Spanned, TableAlias, TableAliasColumnDef, TableFactor,
    TableWithJoins, VisitorMut,
};

use crate::Error;
use crate::syntax::tree::ast;
use crate::syntax::tree::visit::visit_statement;
use crate::syntax::tree::walk::{Flow, result, walk_outside_subqueries};

/// The alias of a join that [`JoinPlanner`] plans.
pub(crate) const MARK: &str = "join keys";

/// The table to which keys belong that WHERE and ON name: there DataFusion finds a name that several columns have
/// ambiguous, whatever it knows of the join.
const KEYS: &str = " keys";

/// Marks the joins whose keys are answered once, in the whole statement, and reads `SEMI JOIN` as `LEFT SEMI JOIN`.
///
/// # Errors
/// If a join with USING or NATURAL has a side that is LATERAL.
pub(crate) fn mark(statement: &mut SqlStatement) -> crate::Result<()> {
    let mut qualified = Qualified::default();
    let _ = visit_statement(statement, &mut qualified);
    let mut conditions = Conditions { read: &qualified.0, named: HashSet::new() };
    let _ = visit_statement(statement, &mut conditions);
    let named = conditions.named;
    qualified.0.extend(named);
    let mut read: Vec<String> = qualified.0.into_iter().collect();
    read.sort_unstable();
    result(visit_statement(statement, &mut Marker { read }))
}

/// The columns that a statement reads by a table's name, as `table.column`, and `table.*`.
#[derive(Default)]
struct Qualified(HashSet<String>);

impl Qualified {
    fn all_of(&mut self, table: &ObjectName) {
        if let Some(name) = ast::name_parts(table).and_then(|parts| parts.last().cloned()) {
            self.0.insert(format!("{name}.*"));
        }
    }
}

impl VisitorMut for Qualified {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &select.projection {
            if let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(table), _) = item {
                self.all_of(table);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            // Which of the parts is the table and which the column, only the planner knows.
            Expr::CompoundIdentifier(parts) => {
                let parts: Vec<String> = parts.iter().map(ast::normalized).collect();
                self.0.extend(parts.windows(2).map(|pair| pair.join(".")));
            }
            Expr::QualifiedWildcard(table, _) => self.all_of(table),
            Expr::Function(call) => {
                if let FunctionArguments::List(list) = &call.args {
                    for arg in &list.args {
                        if let FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(table)) = arg {
                            self.all_of(table);
                        }
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Names the keys of USING in WHERE and ON as the columns of one table.
struct Conditions<'a> {
    read: &'a HashSet<String>,
    /// The keys that were named, as `table.column`.
    named: HashSet<String>,
}

impl Conditions<'_> {
    /// Whether a column of this name may be in the answer of a join beside the key.
    fn is_read(&self, key: &str) -> bool {
        self.read.iter().any(|read| read.ends_with(".*") || read.strip_suffix(key).is_some_and(|it| it.ends_with('.')))
    }

    fn condition(&mut self, condition: &mut Expr, keys: &[String]) {
        let mut keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        keys.retain(|key| self.is_read(key));
        if !keys.is_empty() {
            let _ = walk_outside_subqueries(condition, &mut KeyQualifier { keys: &keys, named: &mut self.named });
        }
    }
}

impl VisitorMut for Conditions<'_> {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let [table] = select.from.as_mut_slice() else { return ControlFlow::Continue(()) };
        let mut keys: Vec<String> = Vec::new();
        for join in &mut table.joins {
            match constraint_mut(&mut join.join_operator) {
                Some(JoinConstraint::Using(names)) => {
                    keys.extend(names.iter().filter_map(ast::name_parts).flatten());
                }
                Some(JoinConstraint::On(condition)) => self.condition(condition, &keys),
                _ => {}
            }
        }
        if let Some(condition) = &mut select.selection {
            self.condition(condition, &keys);
        }
        ControlFlow::Continue(())
    }
}

/// Puts [`KEYS`] before the names of keys.
struct KeyQualifier<'a> {
    keys: &'a [&'a str],
    named: &'a mut HashSet<String>,
}

impl VisitorMut for KeyQualifier<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(name) = expr
            && let Some(key) = self.keys.iter().find(|key| **key == ast::normalized(name))
        {
            self.named.insert(format!("{KEYS}.{key}"));
            *expr = Expr::CompoundIdentifier(vec![ast::quoted(KEYS), name.clone()]);
        }
        ControlFlow::Continue(())
    }
}

struct Marker {
    read: Vec<String>,
}

impl VisitorMut for Marker {
    type Break = Box<Error>;

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        let whole = select.from.len() == 1;
        select.from.iter_mut().try_for_each(|table| self.table(table, whole))
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        let TableFactor::NestedJoin { table_with_joins, alias } = factor else { return ControlFlow::Continue(()) };
        if let Some(marked) = alias.as_mut().filter(|alias| alias.name.value == MARK) {
            // A view's text has been marked before.
            let whole = marked.columns.iter().any(|column| column.name.value.starts_with(KEYS));
            *marked = self.alias(whole);
            return ControlFlow::Continue(());
        }
        self.table(table_with_joins, false)?;
        // Below an alias each key is one column.
        if alias.is_some() && is_marked(&table_with_joins.relation) {
            let inner = TableFactor::NestedJoin { table_with_joins: table_with_joins.clone(), alias: None };
            *factor = ast::derived(ast::select_all(inner), alias.take());
        }
        ControlFlow::Continue(())
    }
}

impl Marker {
    /// The mark. `whole` joins, which are all that FROM has, give the keys that conditions name.
    fn alias(&self, whole: bool) -> TableAlias {
        let read = self.read.iter().filter(|name| whole || !name.starts_with(KEYS));
        let columns = read.map(|name| TableAliasColumnDef { name: ast::quoted(name), data_type: None });
        TableAlias { columns: columns.collect(), ..ast::alias(MARK) }
    }

    /// Puts the joins up to the last one with keys into marked parentheses.
    fn table(&self, table: &mut TableWithJoins, whole: bool) -> Flow {
        for join in &mut table.joins {
            if let JoinOperator::Semi(constraint) = &join.join_operator {
                join.join_operator = JoinOperator::LeftSemi(constraint.clone());
            } else if let JoinOperator::Anti(constraint) = &join.join_operator {
                join.join_operator = JoinOperator::LeftAnti(constraint.clone());
            }
        }
        let Some(last) = table.joins.iter().rposition(has_keys) else { return ControlFlow::Continue(()) };
        let sides = || std::iter::once(&table.relation).chain(table.joins[..=last].iter().map(|join| &join.relation));
        if let Some(side) = sides().find(|side| is_lateral(side)) {
            let text = "USING and NATURAL cannot join what is LATERAL: write ON, or put LATERAL into a subquery";
            return ControlFlow::Break(Box::new(Error::statement_at(side.span(), text)));
        }
        let rest = table.joins.split_off(last + 1);
        let inner = std::mem::replace(table, TableWithJoins { relation: ast::table(ObjectName(vec![])), joins: rest });
        table.relation = TableFactor::NestedJoin { table_with_joins: Box::new(inner), alias: Some(self.alias(whole)) };
        ControlFlow::Continue(())
    }
}

fn is_marked(factor: &TableFactor) -> bool {
    matches!(factor, TableFactor::NestedJoin { alias: Some(alias), .. } if alias.name.value == MARK)
}

fn has_keys(join: &Join) -> bool {
    matches!(sides(&join.join_operator), Some((_, JoinConstraint::Using(_) | JoinConstraint::Natural)))
}

fn is_lateral(factor: &TableFactor) -> bool {
    matches!(factor, TableFactor::Derived { lateral: true, .. } | TableFactor::Function { lateral: true, .. })
}

/// The constraint of a join's operator.
fn constraint_mut(operator: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    match operator {
        JoinOperator::Join(by)
        | JoinOperator::Inner(by)
        | JoinOperator::Left(by)
        | JoinOperator::LeftOuter(by)
        | JoinOperator::Right(by)
        | JoinOperator::RightOuter(by)
        | JoinOperator::FullOuter(by) => Some(by),
        _ => None,
    }
}

/// The kind of join of an operator, and its constraint.
fn sides(operator: &JoinOperator) -> Option<(JoinType, &JoinConstraint)> {
    Some(match operator {
        JoinOperator::Join(by) | JoinOperator::Inner(by) => (JoinType::Inner, by),
        JoinOperator::CrossJoin(by @ JoinConstraint::None) => (JoinType::Inner, by),
        JoinOperator::Left(by) | JoinOperator::LeftOuter(by) => (JoinType::Left, by),
        JoinOperator::Right(by) | JoinOperator::RightOuter(by) => (JoinType::Right, by),
        JoinOperator::FullOuter(by) => (JoinType::Full, by),
        JoinOperator::LeftSemi(by) | JoinOperator::Semi(by) => (JoinType::LeftSemi, by),
        JoinOperator::LeftAnti(by) | JoinOperator::Anti(by) => (JoinType::LeftAnti, by),
        JoinOperator::RightSemi(by) => (JoinType::RightSemi, by),
        JoinOperator::RightAnti(by) => (JoinType::RightAnti, by),
        _ => return None,
    })
}

/// Plans the joins that [`mark`] has marked.
#[derive(Debug, Clone, Copy, Default)]
pub struct JoinPlanner;

impl RelationPlanner for JoinPlanner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        if !is_marked(&relation) {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        let TableFactor::NestedJoin { table_with_joins, alias } = relation else {
            return plan_err!("a join was expected");
        };
        let read = alias.into_iter().flat_map(|alias| alias.columns).map(|column| column.name.value).collect();
        let TableWithJoins { relation, joins } = *table_with_joins;
        let mut unnamed = is_unnamed(&relation);
        let mut left = context.plan(relation)?;
        for (i, Join { relation, join_operator, .. }) in joins.into_iter().enumerate() {
            let right_unnamed = is_unnamed(&relation);
            let mut right = context.plan(relation)?;
            // Subqueries without an alias may have columns of the same names.
            if left.schema().join(right.schema()).is_err() {
                if unnamed {
                    left = named(left, 0)?;
                }
                if right_unnamed {
                    right = named(right, i + 1)?;
                }
            }
            unnamed = false;
            left = plan_join(left, right, &join_operator, &read, context)?;
        }
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(left, None))))
    }
}

fn is_unnamed(factor: &TableFactor) -> bool {
    matches!(factor, TableFactor::Derived { alias: None, .. })
}

fn named(plan: LogicalPlan, number: usize) -> Result<LogicalPlan> {
    LogicalPlanBuilder::from(plan).alias(TableReference::bare(format!("({number})")))?.build()
}

fn plan_join(
    left: LogicalPlan,
    right: LogicalPlan,
    operator: &JoinOperator,
    read: &HashSet<String>,
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    let Some((kind, by)) = sides(operator) else {
        return not_impl_err!("a join of this kind together with USING or NATURAL");
    };
    let keys: Vec<String> = match by {
        JoinConstraint::On(condition) => {
            let schema = left.schema().join(right.schema())?;
            let condition = context.sql_to_expr(condition.clone(), &schema)?;
            return LogicalPlanBuilder::from(left).join_on(right, kind, Some(condition))?.build();
        }
        JoinConstraint::None if kind == JoinType::Inner => {
            return LogicalPlanBuilder::from(left).cross_join(right)?.build();
        }
        JoinConstraint::None => return LogicalPlanBuilder::from(left).join_on(right, kind, [])?.build(),
        JoinConstraint::Using(names) => names.iter().map(|name| key(name, context)).collect::<Result<_>>()?,
        JoinConstraint::Natural => {
            let theirs: HashSet<&str> = right.schema().fields().iter().map(|field| field.name().as_str()).collect();
            let mut seen = HashSet::new();
            let ours = left.schema().fields().iter().map(|field| field.name().as_str());
            let keys = ours.filter(|name| theirs.contains(name) && seen.insert(*name));
            keys.map(str::to_owned).collect()
        }
    };
    join_by(left, right, kind, &keys, read)
}

fn key(name: &ObjectName, context: &dyn RelationPlannerContext) -> Result<String> {
    let ident: Option<Ident> = match name.0.as_slice() {
        [part] => part.as_ident().cloned(),
        _ => None,
    };
    match ident {
        Some(ident) => Ok(context.normalize_ident(ident)),
        None => plan_err!("USING takes the names of columns that both sides have, not {name}{}", position(name.span())),
    }
}

/// Joins by keys of the same names. Of each key the answer has one column in the place of the left side's, and those of
/// the sides that are read by their tables' names.
fn join_by(
    left: LogicalPlan,
    right: LogicalPlan,
    kind: JoinType,
    keys: &[String],
    read: &HashSet<String>,
) -> Result<LogicalPlan> {
    let mut pairs = Vec::new();
    for key in keys {
        pairs.push((column(&left, key)?, column(&right, key)?));
    }
    let conditions: Vec<PlanExpr> =
        pairs.iter().map(|(left, right)| PlanExpr::Column(left.clone()).eq(PlanExpr::Column(right.clone()))).collect();
    let join = match conditions.is_empty() && kind == JoinType::Inner {
        true => LogicalPlanBuilder::from(left).cross_join(right)?.build()?,
        false => LogicalPlanBuilder::from(left).join_on(right, kind, conditions)?.build()?,
    };
    if !matches!(kind, JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full) {
        return Ok(join);
    }
    let schema = Arc::clone(join.schema());
    let keys: Vec<Key> = pairs.into_iter().map(|(left, right)| Key::new(left, right, kind, &schema, read)).collect();
    let mut projection = Vec::new();
    for column in schema.columns() {
        match keys.iter().find(|key| key.left.name == column.name) {
            None => projection.push(PlanExpr::Column(column)),
            Some(key) => {
                if column == key.left {
                    projection.push(key.value.clone());
                }
                if key.others.contains(&column) {
                    projection.push(PlanExpr::Column(column));
                }
            }
        }
    }
    let plan = LogicalPlanBuilder::from(join).project(projection)?.build()?;
    one_key(plan, &keys)
}

/// The column of this name, where it is the only one or the key of an earlier join.
fn column(plan: &LogicalPlan, name: &str) -> Result<Column> {
    Column::from_name(name).normalize_with_schemas_and_ambiguity_check(&[&[plan.schema()]], &plan.using_columns()?)
}

/// A key of a join.
struct Key {
    left: Column,
    /// The column that stands for both.
    value: PlanExpr,
    /// Columns of the sides that are read by their tables' names, beside it.
    others: Vec<Column>,
}

impl Key {
    fn new(left: Column, right: Column, kind: JoinType, schema: &DFSchema, read: &HashSet<String>) -> Self {
        let mut others = schema.columns_with_unqualified_name(&left.name);
        others.retain(|column| {
            let table = table_of(column);
            table != KEYS
                && (read.contains(&format!("{table}.{}", column.name)) || read.contains(&format!("{table}.*")))
        });
        let named = read.contains(&format!("{KEYS}.{}", left.name));
        let whole = match kind {
            JoinType::Full => None,
            JoinType::Right => Some(&right),
            JoinType::Inner if others == [right.clone()] => Some(&right),
            _ => Some(&left),
        };
        let value = match whole {
            // The side's own column does, unless the other side's is read too.
            Some(whole) if !named && others.iter().all(|other| other == whole) => {
                others.clear();
                PlanExpr::Column(whole.clone())
            }
            whole => {
                // Before all names that a statement gives, so that `*` means this column.
                let table = match named {
                    true => TableReference::bare(KEYS),
                    false => TableReference::bare(format!(" {}={}", table_of(&left), table_of(&right))),
                };
                let value = match whole {
                    Some(whole) => PlanExpr::Column(whole.clone()),
                    None => coalesce(vec![PlanExpr::Column(left.clone()), PlanExpr::Column(right)]),
                };
                value.alias_qualified(Some(table), left.name.clone())
            }
        };
        Self { left, value, others }
    }
}

/// The name of a column's table; empty for a column without one.
fn table_of(column: &Column) -> &str {
    column.relation.as_ref().map(|table| table.table()).unwrap_or_default()
}

/// Tells the planner which columns are one key, so that their common name is not ambiguous and `*` has it once: it asks the
/// plan for joins with USING. This one takes no row away, and the optimizer removes it.
fn one_key(plan: LogicalPlan, keys: &[Key]) -> Result<LogicalPlan> {
    let mut on = Vec::new();
    let mut fields = Vec::new();
    for key in keys {
        let PlanExpr::Alias(alias) = &key.value else { continue };
        let value = Column::new(alias.relation.clone(), alias.name.clone());
        let field = plan.schema().field_from_column(&value)?;
        for other in &key.others {
            fields.push((other.relation.clone(), Arc::clone(field)));
            on.push((PlanExpr::Column(value.clone()), PlanExpr::Column(other.clone())));
        }
    }
    if on.is_empty() {
        return Ok(plan);
    }
    let schema = Arc::new(DFSchema::new_with_metadata(fields, Default::default())?);
    let none = LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema });
    Ok(LogicalPlan::Join(PlanJoin::try_new(
        Arc::new(plan),
        Arc::new(none),
        on,
        None,
        JoinType::LeftAnti,
        PlanConstraint::Using,
        NullEquality::NullEqualsNothing,
        false,
    )?))
}
