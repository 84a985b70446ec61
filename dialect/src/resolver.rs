//! Which table, column or output each name of a statement means: one walk, which keeps the SELECTs around each place.
//!
//! FROM is visited first, then the outputs in their order, WHERE, and the rest. What a name means may depend on the columns of
//! FROM, for which the planner is asked where it does: of a name that an output has too, of stars that repeat columns, of names
//! in expressions of ORDER BY, of names of relations around that a column has, and where columns have names with capitals.

use std::ops::ControlFlow;
use std::sync::Arc;

use bonnet_sql::Registry;
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, LambdaFunctionParameter, Query, Select, SelectItem, SetExpr, TableFactor, TableWithJoins, VisitorMut,
};

use crate::Result;
use crate::forms::casts;
use crate::names::context::StatementContext;
use crate::names::ctes::Ctes;
use crate::names::join_keys::{self, JoinKeys};
use crate::names::letter_case::{self, Capitals, Found};
use crate::names::scopes::{self, Clause, Scope, SelectScope};
use crate::names::tables::Tables;
use crate::names::{columns, order_names, ordinals, outer_columns, output_aliases, wildcards};
use crate::syntax::tree::ast;
use crate::syntax::tree::visit::visit_statement;
use crate::syntax::tree::walk::{Flow, flow, result, walk, walk_outside_subqueries};

/// Gives all names of a statement the form in which DataFusion finds what they mean. `keys` is what the statement reads of its
/// joins; what is answered has the keys that conditions name, too.
///
/// # Errors
/// If a join cannot be planned.
pub(crate) fn resolve(
    statement: &mut SqlStatement,
    state: &SessionState,
    registry: &Registry,
    tables: &Arc<Tables>,
    keys: JoinKeys,
) -> Result<JoinKeys> {
    let mut resolver = Resolver {
        state,
        registry,
        capitals: Capitals::of(tables),
        tables,
        keys,
        ctes: Ctes::default(),
        around: Vec::new(),
        ordered: Vec::new(),
        parameters: Vec::new(),
    };
    result(visit_statement(statement, &mut resolver))?;
    Ok(resolver.keys)
}

struct Resolver<'a> {
    state: &'a SessionState,
    registry: &'a Registry,
    tables: &'a Arc<Tables>,
    capitals: Capitals,
    keys: JoinKeys,
    ctes: Ctes,
    around: Vec<Scope>,
    /// Of the queries around, whether their ORDER BY sees the relations of their only SELECT.
    ordered: Vec<bool>,
    /// The parameters of lambdas around.
    parameters: Vec<String>,
}

impl VisitorMut for Resolver<'_> {
    type Break = Box<crate::Error>;

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        self.ordered.push(query.order_by.is_some() && matches!(query.body.as_ref(), SetExpr::Select(_)));
        self.ctes.enter(query.with.as_ref());
        // Out of the tree, so that they are not visited again.
        for mut cte in query.with.iter_mut().flat_map(|with| std::mem::take(&mut with.cte_tables)) {
            walk(cte.query.as_mut(), self)?;
            self.ctes.show(cte);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> Flow {
        if self.ordered.pop() == Some(true)
            && let SetExpr::Select(select) = query.body.as_mut()
        {
            self.leave_select(select);
        }
        self.order(query);
        let ctes = self.ctes.leave();
        if let Some(with) = &mut query.with {
            with.cte_tables = ctes;
        }
        ordinals::name(query);
        casts::tell_apart(query);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        self.keys.name_in_conditions(select);
        flow(join_keys::enclose(select))?;
        self.around.push(Scope::Select(Box::new(SelectScope::of(select))));
        let mut from = std::mem::take(&mut select.from);
        for table in &mut from {
            walk(table, self)?;
        }
        self.enter_clauses(select, from);
        for mut item in std::mem::take(&mut select.projection) {
            walk(&mut item, self)?;
            self.in_select(|select| select.outputs.push(item));
        }
        self.in_select(|select| select.clause = Clause::Where);
        if let Some(mut condition) = select.selection.take() {
            walk(&mut condition, self)?;
            self.in_select(|select| select.selection = Some(condition));
        }
        self.in_select(|select| select.clause = Clause::Other);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> Flow {
        if self.ordered.last() != Some(&true) {
            self.leave_select(select);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        flow(join_keys::enclose_within(factor))?;
        if scopes::is_closed(factor) {
            self.around.push(Scope::Closed);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        if scopes::is_closed(factor) {
            self.around.pop();
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        match expr {
            Expr::Identifier(name) => self.take_case(std::slice::from_mut(name)),
            Expr::CompoundIdentifier(names) => {
                self.take_case(names);
                self.qualify(names);
            }
            Expr::Lambda(lambda) => self.parameters.extend(lambda.params.iter().map(parameter)),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    // Afterwards, so that what is put in is not looked at again.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        match expr {
            Expr::Identifier(name) => {
                if let Some(output) = self.output(name) {
                    *expr = Expr::Nested(Box::new(output));
                }
            }
            Expr::Lambda(lambda) => {
                let count = lambda.params.iter().count();
                self.parameters.truncate(self.parameters.len().saturating_sub(count));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn parameter(parameter: &LambdaFunctionParameter) -> String {
    ast::normalized(&parameter.name)
}

impl Resolver<'_> {
    fn in_select(&mut self, act: impl FnOnce(&mut SelectScope)) {
        if let Some(Scope::Select(select)) = self.around.last_mut() {
            act(select);
        }
    }

    /// Between FROM and the outputs of a SELECT: the names of its columns, which depend on it as a whole.
    #[inline(never)]
    fn enter_clauses(&mut self, select: &mut Select, mut from: Vec<TableWithJoins>) {
        if !self.capitals.is_empty() && from.iter().any(|table| !table.joins.is_empty()) {
            let query = ast::select_all_from(letter_case::without_conditions(&from));
            if let Some(columns) = self.ask(query, self.around.len() - 1) {
                letter_case::in_conditions(&mut from, &self.capitals, &columns);
            }
        }
        while let Some(at) = wildcards::repeated(select) {
            let query = wildcards::query(&select.projection[at], &from);
            let Some(columns) = self.ask(query, self.around.len() - 1) else { break };
            wildcards::spell_out(select, at, &columns);
        }
        wildcards::qualify(&mut select.projection, &from);
        columns::tell_apart(select, self.ordered.last() == Some(&true));
        let mut is_open = false;
        self.in_select(|select| {
            select.from = from;
            select.clause = Clause::Outputs;
            is_open = std::mem::take(&mut select.is_open);
        });
        if is_open {
            let mut from = Vec::new();
            self.in_select(|select| from = select.from.clone());
            for table in &mut from {
                let _ = walk_outside_subqueries(table, &mut OuterNames(self));
            }
            self.in_select(|select| select.from = from);
        }
    }

    fn leave_select(&mut self, select: &mut Select) {
        if let Some(Scope::Select(scope)) = self.around.pop() {
            scope.restore(select);
        }
    }

    /// Orders a query by the columns that expressions of its ORDER BY name.
    #[inline(never)]
    fn order(&mut self, query: &mut Query) {
        if ordinals::orders_by_all(query)
            && let Some(outputs) = ordinals::outputs(query).or_else(|| self.outputs(query))
        {
            ordinals::order_by_all(query, outputs);
        }
        if !order_names::is_ambiguous(query) {
            return;
        }
        let SetExpr::Select(select) = query.body.as_ref() else { return };
        let columns = self.ask(ast::select_all_from(select.from.clone()), self.around.len());
        if let Some(columns) = columns {
            order_names::order_by_columns(query, &columns);
        }
    }

    /// The number of a query's outputs.
    fn outputs(&mut self, query: &Query) -> Option<usize> {
        let alone = ast::query(query.body.as_ref().clone());
        Some(self.ask(alone, self.around.len())?.fields().len())
    }

    /// The columns of a query that stands within the first `depth` scopes; `None` if it cannot be planned.
    #[inline(never)]
    fn ask(&mut self, query: Query, depth: usize) -> Option<DFSchemaRef> {
        let query = self.ctes.around(query);
        let context = StatementContext::new(self.state, self.registry, self.tables, self.keys.clone());
        if let Ok(columns) = context.columns(query.clone(), &[]) {
            return Some(columns);
        }
        // It may read columns of the queries around.
        let around: Vec<usize> = scopes::visible(&self.around[..depth]).collect();
        let around: Vec<DFSchemaRef> = around.into_iter().rev().filter_map(|at| self.columns(at)).collect();
        if around.is_empty() { None } else { context.columns(query, &around).ok() }
    }

    /// The columns of FROM of the SELECT at a position, once they are known.
    fn columns(&mut self, at: usize) -> Option<DFSchemaRef> {
        let Scope::Select(select) = &self.around[at] else { return None };
        if let Some(columns) = &select.columns {
            return columns.clone();
        }
        if select.clause == Clause::From {
            return None;
        }
        let columns = match select.from.as_slice() {
            [] => Some(Arc::new(DFSchema::empty())),
            from => {
                let query = ast::select_all_from(from.to_vec());
                self.ask(query, at)
            }
        };
        if let Scope::Select(select) = &mut self.around[at] {
            select.columns = Some(columns.clone());
        }
        columns
    }

    /// The output that a name means.
    fn output(&mut self, name: &Ident) -> Option<Expr> {
        let at = self.around.len().checked_sub(1)?;
        let Scope::Select(select) = &self.around[at] else { return None };
        if select.outputs.is_empty() || !matches!(select.clause, Clause::Outputs | Clause::Where) {
            return None;
        }
        let name = ast::normalized(name);
        let output = output_aliases::meant(select, &name, self.state)?.clone();
        if self.parameters.contains(&name) {
            return None;
        }
        let has = |columns: &DFSchema| columns.fields().iter().any(|field| *field.name() == name);
        if self.columns(at).is_none_or(|columns| has(&columns)) {
            return None;
        }
        // Those of the queries around, too.
        let around: Vec<usize> = scopes::visible(&self.around).skip(1).collect();
        let is_outer = around.into_iter().any(|at| self.columns(at).is_some_and(|columns| has(&columns)));
        (!is_outer).then_some(output)
    }

    /// Gives the name of a column without quotes the case of the column that it means, where FROM is known.
    fn take_case(&mut self, names: &mut [Ident]) {
        let Some(name) = names.last().filter(|name| self.capitals.may_be(name)) else { return };
        let exact = ast::normalized(name);
        if names.len() == 1 && self.parameters.contains(&exact) {
            return;
        }
        let visible: Vec<usize> = scopes::visible(&self.around).collect();
        for at in visible {
            let Scope::Select(select) = &self.around[at] else { continue };
            let is_output = |item: &SelectItem| matches!(item, SelectItem::ExprWithAlias { alias, .. } if ast::normalized(alias) == exact);
            if names.len() == 1 && select.outputs.iter().any(is_output) {
                return;
            }
            let Some(columns) = self.columns(at) else { return };
            match letter_case::find(names, &columns) {
                Found::Known => return,
                Found::Nothing => {}
                Found::Column(column) => {
                    if let Some(last) = names.last_mut() {
                        *last = column;
                    }
                    return;
                }
            }
        }
    }

    /// Puts a schema before the names of a column of a query around, which a column between would be taken for.
    fn qualify(&mut self, names: &mut Vec<Ident>) {
        let Some(outer) = scopes::outer(&self.around, names) else { return };
        let mut between = Vec::new();
        for at in outer.between {
            match self.columns(at) {
                Some(columns) => between.push(columns),
                None => {
                    if let Scope::Select(select) = &mut self.around[at] {
                        select.is_open |= select.clause == Clause::From;
                    }
                }
            }
        }
        if let Some(qualified) = outer_columns::qualified(names, outer.schema.as_ref(), &between) {
            *names = qualified;
        }
    }
}

/// Looks again at the names in the conditions of FROM.
struct OuterNames<'a, 's>(&'a mut Resolver<'s>);

impl VisitorMut for OuterNames<'_, '_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(names) = expr {
            self.0.qualify(names);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use crate::syntax::statements::statement::Statement;
    use crate::testing::{parsed, resolve};

    fn resolved(text: &str) -> String {
        let Statement::Sql(mut statement) = parsed(text) else { panic!("{text}") };
        resolve(&mut statement);
        statement.to_string()
    }

    #[test]
    fn stars_and_ordinals_become_names() {
        for (text, expected) in [
            ("SELECT edges.* FROM k.edges", "SELECT k.edges.* FROM k.edges"),
            ("SELECT E.* FROM m.k.e, t", "SELECT m.k.e.* FROM m.k.e, t"),
            ("SELECT e.* FROM a.e, b.e", "SELECT e.* FROM a.e, b.e"),
            ("SELECT e.* FROM a.e AS x JOIN t AS e ON true", "SELECT e.* FROM a.e AS x JOIN t AS e ON true"),
            ("SELECT e.* FROM t JOIN a.e ON true", "SELECT a.e.* FROM t JOIN a.e ON true"),
            (
                "SELECT f(s), count(*) AS n FROM t GROUP BY s ORDER BY 2 DESC, 1",
                "SELECT f(s) AS \"f(s)\", count(*) AS n FROM t GROUP BY s ORDER BY n DESC, \"f(s)\"",
            ),
            ("SELECT f(s) FROM t ORDER BY 1", "SELECT f(s) FROM t ORDER BY 1"),
            ("SELECT s FROM t GROUP BY s ORDER BY 1, 3", "SELECT s FROM t GROUP BY s ORDER BY 1, 3"),
        ] {
            assert_eq!(resolved(text), expected);
        }
    }

    #[test]
    fn a_walk_gives_back_all_parts_of_a_statement() {
        for text in [
            "WITH c AS (SELECT a FROM t WHERE a > 1), d AS (SELECT * FROM c) SELECT a, b FROM d JOIN e ON d.a = e.a WHERE a IN \
             (SELECT a FROM c) GROUP BY a, b HAVING count(*) > 1 ORDER BY a",
            "SELECT a FROM t WHERE EXISTS (SELECT b FROM u WHERE u.a = t.a) UNION ALL (SELECT a FROM v ORDER BY a LIMIT 3)",
            "INSERT INTO t SELECT a FROM u WHERE a > 1",
            "SELECT 1 AS a",
        ] {
            assert_eq!(resolved(text), text);
        }
    }

    #[test]
    fn an_output_is_meant_where_no_column_has_its_name() {
        for (text, expected) in [
            ("SELECT 1 AS a, a + 1 AS b", "SELECT 1 AS a, (1) + 1 AS b"),
            ("SELECT 1 AS a, a + 1 AS b, a + b AS c", "SELECT 1 AS a, (1) + 1 AS b, (1) + ((1) + 1) AS c"),
            (
                "SELECT 2 AS a, a + 1 FROM (SELECT 1 AS a) AS t WHERE a > 0",
                "SELECT 2 AS a, a + 1 FROM (SELECT 1 AS a) AS t WHERE a > 0",
            ),
            (
                "SELECT x + 1 AS b FROM (SELECT 1 AS x) AS t WHERE b > 0",
                "SELECT x + 1 AS b FROM (SELECT 1 AS x) AS t WHERE (x + 1) > 0",
            ),
            // A column of the query around goes first, too.
            (
                "SELECT (SELECT b FROM (SELECT 3 AS y) AS u WHERE b > 0) FROM (SELECT 1 AS b) AS t",
                "SELECT (SELECT b FROM (SELECT 3 AS y) AS u WHERE b > 0) FROM (SELECT 1 AS b) AS t",
            ),
            (
                "SELECT (SELECT y AS b FROM (SELECT 3 AS y) AS u WHERE b > 0) FROM (SELECT 1 AS b) AS t",
                "SELECT (SELECT y AS b FROM (SELECT 3 AS y) AS u WHERE b > 0) FROM (SELECT 1 AS b) AS t",
            ),
            (
                "WITH c AS (SELECT 1 AS x) SELECT x AS b FROM c WHERE b > 0",
                "WITH c AS (SELECT 1 AS x) SELECT x AS b FROM c WHERE (x) > 0",
            ),
            ("SELECT random() AS a, a + 1", "SELECT random() AS a, a + 1"),
            ("SELECT 1 AS a, list_filter([1], a -> a > 0)", "SELECT 1 AS a, list_filter([1], a -> a > 0)"),
        ] {
            assert_eq!(resolved(text), expected);
        }
    }
}
