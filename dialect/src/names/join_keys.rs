//! The keys of USING and NATURAL joins, which an answer has once: of the side that keeps all its rows, or the first that is
//! not NULL where both do. DataFusion would answer the left side's in every join, and of `*` that of the table whose name
//! comes first in the alphabet.
//!
//! A planner sees relations, not what stands between them, so the joins of FROM with such keys are put into parentheses; there
//! [`JoinPlanner`] plans them with both sides' columns at hand. What else the statement reads of them stands in [`JoinKeys`].
//!
//! Upstream: <https://github.com/apache/datafusion/issues/22881> <https://github.com/apache/datafusion/pull/22998>
//! Shows: `SELECT k FROM (VALUES (1)) AS a(k) RIGHT JOIN (VALUES (4)) AS b(k) USING (k)` gives `4`
//! Shows: `SELECT k FROM (VALUES (1)) AS a(k) NATURAL FULL JOIN (VALUES (4)) AS b(k) ORDER BY k` gives `1 / 4`

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use bonnet_common::{ErrorKind, Raised};
use datafusion::common::{Column, DFSchema, ExprSchema, NullEquality, Result, TableReference, not_impl_err};
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::{
    EmptyRelation, Expr as PlanExpr, Join as PlanJoin, JoinConstraint as PlanConstraint, JoinType, LogicalPlan,
    LogicalPlanBuilder,
};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Join, JoinConstraint, JoinOperator, ObjectName,
    Select, SelectItem, SelectItemQualifiedWildcardKind, Spanned, TableFactor, TableWithJoins, VisitorMut,
};
use datafusion::sql::sqlparser::tokenizer::Location;

use crate::Error;
use crate::syntax::tree::ast;
use crate::syntax::tree::walk::walk_outside_subqueries;

/// The table to which keys belong that WHERE and ON name: there DataFusion finds a name that several columns have
/// ambiguous, whatever it knows of the join.
const KEYS: &str = " keys";

/// What a statement reads of its joins beside the keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct JoinKeys {
    /// The columns that are read by a table's name, as `table.column`, and `table.*`.
    read: HashSet<String>,
    /// The keys that conditions name, each with the place of its join.
    named: HashSet<(Location, String)>,
}

impl JoinKeys {
    /// Adds what the outputs of a SELECT read as `table.*`.
    pub(crate) fn read_in_select(&mut self, select: &Select) {
        for item in &select.projection {
            if let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(table), _) = item {
                self.all_of(table);
            }
        }
    }

    /// Adds what an expression reads, its parts apart.
    pub(crate) fn read_in_expr(&mut self, expr: &Expr) {
        match expr {
            // Which of the parts is the table and which the column, only the planner knows.
            Expr::CompoundIdentifier(parts) => {
                let parts: Vec<String> = parts.iter().map(ast::normalized).collect();
                self.read.extend(parts.windows(2).map(|pair| pair.join(".")));
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
    }

    fn all_of(&mut self, table: &ObjectName) {
        if let Some(name) = ast::name_parts(table).and_then(|parts| parts.last().cloned()) {
            self.read.insert(format!("{name}.*"));
        }
    }

    /// Whether a column of this name may be in the answer of a join beside the key.
    fn is_read(&self, key: &str) -> bool {
        self.read.iter().any(|read| read.ends_with(".*") || read.strip_suffix(key).is_some_and(|it| it.ends_with('.')))
    }

    /// Names the keys of USING in WHERE and ON as the columns of one table, where FROM is one table or join.
    pub(crate) fn name_in_conditions(&mut self, select: &mut Select) {
        let [table] = select.from.as_mut_slice() else { return };
        let Some(place) = place(&table.joins) else { return };
        let mut keys: Vec<String> = Vec::new();
        for join in &mut table.joins {
            match constraint_mut(&mut join.join_operator) {
                Some(JoinConstraint::Using(names)) => keys.extend(names.iter().filter_map(ast::name_parts).flatten()),
                Some(JoinConstraint::On(condition)) => self.name_in(condition, &keys, place),
                _ => {}
            }
        }
        if let Some(condition) = &mut select.selection {
            self.name_in(condition, &keys, place);
        }
    }

    fn name_in(&mut self, condition: &mut Expr, keys: &[String], place: Location) {
        let mut keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        keys.retain(|key| self.is_read(key));
        if !keys.is_empty() {
            let named = &mut self.named;
            let _ = walk_outside_subqueries(condition, &mut KeyQualifier { keys: &keys, place, named });
        }
    }
}

/// The place of joins in the statement: that of their first key in USING. It stays while the tree around is rewritten.
fn place(joins: &[Join]) -> Option<Location> {
    let mut keys = joins.iter().filter_map(|join| match sides(&join.join_operator) {
        Some((_, JoinConstraint::Using(names))) => names.first(),
        _ => None,
    });
    keys.next().map(|key| key.span().start).filter(|start| start.line > 0)
}

/// Puts [`KEYS`] before the names of keys.
struct KeyQualifier<'a> {
    keys: &'a [&'a str],
    place: Location,
    named: &'a mut HashSet<(Location, String)>,
}

impl VisitorMut for KeyQualifier<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(name) = expr
            && let Some(key) = self.keys.iter().find(|key| **key == ast::normalized(name))
        {
            self.named.insert((self.place, (*key).to_owned()));
            *expr = Expr::CompoundIdentifier(vec![ast::quoted(KEYS), name.clone()]);
        }
        ControlFlow::Continue(())
    }
}

/// Puts the joins of FROM with keys into parentheses, where [`JoinPlanner`] sees them, and reads `SEMI JOIN` as `LEFT SEMI
/// JOIN`.
///
/// # Errors
/// If a join with USING or NATURAL has a side that is LATERAL.
pub(crate) fn enclose(select: &mut Select) -> crate::Result<()> {
    select.from.iter_mut().try_for_each(|table| {
        let Some(last) = check(table)? else { return Ok(()) };
        enclose_up_to(table, last);
        Ok(())
    })
}

/// The same for joins that are in parentheses.
///
/// # Errors
/// As [`enclose`].
pub(crate) fn enclose_within(factor: &mut TableFactor) -> crate::Result<()> {
    let TableFactor::NestedJoin { table_with_joins: table, alias } = factor else { return Ok(()) };
    let Some(last) = check(table)? else { return Ok(()) };
    if last + 1 < table.joins.len() {
        enclose_up_to(table, last);
    }
    // Below an alias each key is one column.
    if alias.is_some() {
        let inner = TableFactor::NestedJoin { table_with_joins: table.clone(), alias: None };
        *factor = ast::derived(ast::select_all(inner), alias.take());
    }
    Ok(())
}

/// The position of the last join with keys.
fn check(table: &mut TableWithJoins) -> crate::Result<Option<usize>> {
    for join in &mut table.joins {
        if let JoinOperator::Semi(constraint) = &join.join_operator {
            join.join_operator = JoinOperator::LeftSemi(constraint.clone());
        } else if let JoinOperator::Anti(constraint) = &join.join_operator {
            join.join_operator = JoinOperator::LeftAnti(constraint.clone());
        }
    }
    let Some(last) = table.joins.iter().rposition(has_keys) else { return Ok(None) };
    let mut sides = std::iter::once(&table.relation).chain(table.joins[..=last].iter().map(|join| &join.relation));
    if let Some(side) = sides.find(|side| is_lateral(side)) {
        let text = "USING and NATURAL cannot join what is LATERAL: write ON, or put LATERAL into a subquery";
        return Err(Error::statement_at(side.span(), text));
    }
    Ok(Some(last))
}

fn enclose_up_to(table: &mut TableWithJoins, last: usize) {
    let rest = table.joins.split_off(last + 1);
    let inner = std::mem::replace(table, TableWithJoins { relation: ast::table(ObjectName(vec![])), joins: rest });
    table.relation = TableFactor::NestedJoin { table_with_joins: Box::new(inner), alias: None };
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

/// Plans joins in parentheses that have keys.
#[derive(Debug)]
pub(crate) struct JoinPlanner {
    keys: JoinKeys,
}

impl JoinPlanner {
    /// The planner of a statement that reads this of its joins.
    pub(crate) fn new(keys: JoinKeys) -> Self {
        Self { keys }
    }
}

impl RelationPlanner for JoinPlanner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let (table, alias) = match relation {
            TableFactor::NestedJoin { table_with_joins, alias } if table_with_joins.joins.iter().any(has_keys) => {
                (*table_with_joins, alias)
            }
            other => return Ok(RelationPlanning::Original(Box::new(other))),
        };
        let TableWithJoins { relation, joins } = table;
        let read = Read { keys: &self.keys, place: place(&joins) };
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
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(left, alias))))
    }
}

/// What a statement reads of some joins.
struct Read<'a> {
    keys: &'a JoinKeys,
    place: Option<Location>,
}

impl Read<'_> {
    /// Whether a column of a table is read by the table's name.
    fn reads(&self, table: &str, column: &str) -> bool {
        let read = &self.keys.read;
        read.contains(&format!("{table}.{column}")) || read.contains(&format!("{table}.*"))
    }

    /// Whether a condition names the key.
    fn names(&self, key: &str) -> bool {
        self.place.is_some_and(|place| self.keys.named.contains(&(place, key.to_owned())))
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
    read: &Read<'_>,
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
        None => {
            let text = format!("USING takes the names of columns that both sides have, not {name}");
            Err(Raised::new(ErrorKind::Statement, text).at(name.span()).into())
        }
    }
}

/// Joins by keys of the same names. Of each key the answer has one column in the place of the left side's, and those of
/// the sides that are read by their tables' names.
fn join_by(
    left: LogicalPlan,
    right: LogicalPlan,
    kind: JoinType,
    keys: &[String],
    read: &Read<'_>,
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
    fn new(left: Column, right: Column, kind: JoinType, schema: &DFSchema, read: &Read<'_>) -> Self {
        let mut others = schema.columns_with_unqualified_name(&left.name);
        others.retain(|column| {
            let table = table_of(column);
            table != KEYS && read.reads(table, &column.name)
        });
        let named = read.names(&left.name);
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
