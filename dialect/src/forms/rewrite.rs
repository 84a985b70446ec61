//! The rewriting of a statement's tree before DataFusion plans it: one walk for all of it.
//!
//! DataFusion looks for tables before it plans and does not look into the arguments of functions, cannot skip an
//! optional argument, and silently ignores TABLESAMPLE, and DISTINCT, ORDER BY or FILTER in a window function. Each is
//! rewritten to what DataFusion plans, or refused. On the way the walk notes which tables the statement reads.

use std::ops::ControlFlow;

use bonnet_sql::Registry;
use datafusion::sql::parser::{CopyToSource, CopyToStatement, CreateExternalTable, Statement as SqlStatement};
use datafusion::sql::sqlparser::ast::{Expr, ObjectName, Query, Select, SetExpr, Spanned, TableFactor, VisitorMut};

use crate::forms::{calls, files, grouping, named_windows, refusals, unplanned, versions};
use crate::names::join_keys::JoinKeys;
use crate::names::nested_ctes::CteNames;
use crate::names::references::{self, References};
use crate::syntax::tree::ast;
use crate::syntax::tree::visit::visit_statement;
use crate::syntax::tree::walk::{Flow, flow, result};
use crate::{Error, Result};

/// What a walk over a statement finds of the tables that it reads.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The tables.
    pub(crate) references: References,
    /// What is read of joins.
    pub(crate) keys: JoinKeys,
}

/// Rewrites a statement in place, with everything in it: CTEs, subqueries, views, INSERT, COPY, EXPLAIN.
///
/// # Errors
/// If the statement asks for what would be ignored, or calls one of the functions wrongly.
pub(crate) fn rewrite(statement: &mut SqlStatement, registry: &Registry) -> Result<Found> {
    if let SqlStatement::Statement(statement) = statement {
        unplanned::check_statement(statement)?;
    }
    let mut rewriter = Rewriter { registry, ctes: CteNames::default(), found: Found::default(), is_no_table: false };
    result(visit_statement(statement, &mut rewriter))?;
    match statement {
        SqlStatement::CopyTo(CopyToStatement { source: CopyToSource::Relation(name), .. })
        | SqlStatement::CreateExternalTable(CreateExternalTable { name, .. }) => rewriter.found.references.add(name),
        _ => {}
    }
    Ok(rewriter.found)
}

struct Rewriter<'a> {
    registry: &'a Registry,
    ctes: CteNames,
    found: Found,
    /// Whether the next name of a relation is that of a CTE or a function.
    is_no_table: bool,
}

impl VisitorMut for Rewriter<'_> {
    type Break = Box<Error>;

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        self.ctes.enter(query);
        flow(unplanned::check_query(query))?;
        if let (SetExpr::Select(select), Some(order)) = (query.body.as_ref(), &mut query.order_by) {
            flow(named_windows::spell_out_in_order(order, select))?;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> Flow {
        self.ctes.leave(query);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        flow(named_windows::spell_out(select))?;
        flow(refusals::check_unnest(select))?;
        flow(refusals::check_windows(select))?;
        grouping::spell_out(select);
        self.found.keys.read_in_select(select);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        flow(self.table(factor))
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> Flow {
        if !std::mem::take(&mut self.is_no_table) {
            self.found.references.add(name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        flow(unplanned::expression(expr))?;
        if let Expr::Function(call) = expr
            && let Some(function) = ast::function_name(&call.name).and_then(|name| self.registry.get(&name))
        {
            flow(calls::check(function, call))?;
        }
        self.found.keys.read_in_expr(expr);
        ControlFlow::Continue(())
    }
}

impl Rewriter<'_> {
    // Never inlined: its locals would be on the stack at every level of a deep statement.
    #[inline(never)]
    fn table(&mut self, factor: &mut TableFactor) -> Result<()> {
        let is_cte = self.ctes.rename(factor);
        refusals::check(factor, self.registry)?;
        if let Some((name, asked, at)) = versions::asked(factor)? {
            let text = references::text(factor).unwrap_or_default();
            self.found.references.add_version(text, &name, asked, at);
        } else if let Some(call) = files::call(factor)? {
            let text = references::text(factor).unwrap_or_default();
            self.found.references.add_files(text, call);
        }
        refusals::into_unnest(factor)?;
        let TableFactor::Table { name, args, .. } = factor else { return Ok(()) };
        self.is_no_table = is_cte || args.is_some();
        if let Some(args) = args
            && let Some(function) = ast::function_name(name).and_then(|name| self.registry.get(&name))
            && function.kind().in_from()
        {
            calls::relations(self.registry, function, name.span(), &mut args.args)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::references::Beside;
    use crate::syntax::statements::parse::parse;
    use crate::syntax::statements::statement::Statement;
    use crate::testing::registry;
    use crate::testing::{error, rows, session};

    fn rewritten(text: &str) -> Result<String> {
        let Statement::Sql(mut statement) = parse(text)? else { panic!("{text}") };
        rewrite(&mut statement, &registry()?)?;
        Ok(statement.to_string())
    }

    fn refused(text: &str) -> String {
        error(rewritten(text))
    }

    #[test]
    fn names_given_for_relations_become_queries() {
        for (text, expected) in [
            (
                "SELECT * FROM Midpoint_Curvature(cora.edges, nodes => cora.nodes, relative => false)",
                "SELECT * FROM Midpoint_Curvature((SELECT * FROM cora.edges), nodes => (SELECT * FROM cora.nodes), \
                 relative => false)",
            ),
            ("SELECT * FROM train(jobs := t)", "SELECT * FROM train(jobs := (SELECT * FROM t))"),
            ("SELECT * FROM train((SELECT 1 AS x))", "SELECT * FROM train((SELECT 1 AS x))"),
            ("SELECT * FROM train('jobs.csv')", "SELECT * FROM train((SELECT * FROM 'jobs.csv'))"),
            (
                "SELECT * FROM ollivier_ricci(edges, alpha => 0.5)",
                "SELECT * FROM ollivier_ricci((SELECT * FROM edges), alpha => 0.5)",
            ),
            ("SELECT * FROM ollivier_ricci(edges => t)", "SELECT * FROM ollivier_ricci(edges => (SELECT * FROM t))"),
            // The answer of one function is the relation of another.
            (
                "SELECT * FROM train(midpoint_curvature(a.edges))",
                "SELECT * FROM train((SELECT * FROM midpoint_curvature((SELECT * FROM a.edges))))",
            ),
            // Graphs are named, not read; options that are left out as NULL stay.
            ("SELECT * FROM graph_profile(cora, 'x')", "SELECT * FROM graph_profile(cora, 'x')"),
            ("SELECT * FROM midpoint_curvature(e, NULL)", "SELECT * FROM midpoint_curvature((SELECT * FROM e), NULL)"),
            // Functions of others are left alone.
            ("SELECT * FROM read_others(a)", "SELECT * FROM read_others(a)"),
        ] {
            assert_eq!(rewritten(text).unwrap(), expected);
        }
    }

    #[test]
    fn the_rewriter_reaches_every_place() {
        let (call, query) = ("train(t)", "train((SELECT * FROM t))");
        for text in [
            "WITH c AS (SELECT * FROM @) SELECT * FROM c",
            "SELECT * FROM a JOIN @ AS b ON a.x = b.x",
            "SELECT * FROM a, @",
            "SELECT (SELECT max(x) FROM @) FROM a",
            "SELECT * FROM a WHERE EXISTS (SELECT * FROM @)",
            "SELECT * FROM a WHERE x IN (SELECT x FROM @)",
            "SELECT * FROM a ORDER BY (SELECT 1 FROM @)",
            "SELECT * FROM a UNION ALL SELECT * FROM @",
            "CREATE VIEW v AS SELECT * FROM @",
            "CREATE TABLE v AS SELECT * FROM @",
            "INSERT INTO a SELECT * FROM @",
            "EXPLAIN SELECT * FROM @",
            "EXPLAIN ANALYZE SELECT * FROM @",
            "COPY (SELECT * FROM @) TO f",
            "SELECT * FROM @ AS s PIVOT(sum(x) FOR c IN (1))",
            "DELETE FROM a WHERE x IN (SELECT x FROM @)",
            "PREPARE p AS SELECT * FROM @",
            "SELECT CASE WHEN EXISTS (SELECT * FROM @) THEN 1 END FROM a",
        ] {
            let text = text.replace("TO f", "TO 'f.csv'");
            let expected = text.replace('@', query).replace("'f.csv'", "f.csv");
            assert_eq!(rewritten(&text.replace('@', call)).unwrap(), expected);
        }
    }

    #[test]
    fn named_arguments_take_their_places_and_skipped_ones_their_defaults() {
        for (text, expected) in [
            ("SELECT regime(m, s)", "SELECT regime(m, s)"),
            ("SELECT regime(m, skewness => s, mean_tolerance => 0.5)", "SELECT regime(m, s, 0.5)"),
            ("SELECT regime(skewness => s, mean => m)", "SELECT regime(m, s)"),
            ("SELECT regime(m, s, skewness_tolerance := -1)", "SELECT regime(m, s, 0.01, -1)"),
            (
                "SELECT Ollivier_Ricci(src, dst, STEPS => 3) OVER (PARTITION BY g)",
                "SELECT Ollivier_Ricci(src, dst, 0.0, 'uniform', 3) OVER (PARTITION BY g)",
            ),
            (
                "SELECT persistence_diagram(s, d, v, essential => 'max') FILTER (WHERE v > 0) FROM t",
                "SELECT persistence_diagram(s, d, v, 1, 'first_edge', 'max') FILTER (WHERE v > 0) FROM t",
            ),
            ("SELECT sum(x => 1)", "SELECT sum(x => 1)"),
        ] {
            assert_eq!(rewritten(text).unwrap(), expected);
        }
    }

    #[test]
    fn calls_that_do_not_fit_are_refused_with_what_fits() {
        for (text, expected) in [
            (
                "SELECT regime(m, s, foo => 1)",
                "regime: there is no argument foo; it takes: mean, skewness, mean_tolerance, skewness_tolerance",
            ),
            ("SELECT regime(m, mean => 1, skewness => 2)", "regime: mean is given twice (Line: 1, Column: 18)"),
            (
                "SELECT regime(m)",
                "regime: skewness is missing; it is regime(mean, skewness [, mean_tolerance => 0.01] \
                 [, skewness_tolerance => 0.5]) (Line: 1, Column: 8)",
            ),
            ("SELECT regime(1, 2, 3, 4, 5)", "regime: too many arguments; it is"),
            ("SELECT regime(mean => m, s)", "regime: s has no name but follows an argument that has one"),
            (
                "SELECT persistence_diagram(s, d, v, x)",
                "persistence_diagram: expand must be a constant, not x (Line: 1",
            ),
            ("SELECT persistence_diagram(s, d, v, (SELECT 1))", "persistence_diagram: expand must be a constant"),
            ("SELECT regime(*)", "regime: mean takes one value, not *"),
            ("SELECT regime(m, s) OVER ()", "OVER and FILTER have no meaning"),
            ("SELECT regime(DISTINCT m, s)", "regime(DISTINCT ...) is not supported"),
            ("SELECT persistence_diagram(s, d, v ORDER BY v)", "does not depend on the rows' order"),
            ("SELECT persistence_diagram(DISTINCT s, d, v)", "SELECT DISTINCT"),
            (
                "SELECT ollivier_ricci(src, dst) FROM t",
                "ollivier_ricci(src, dst) OVER (), or in FROM, FROM ollivier_ricci(edges)",
            ),
            (
                "SELECT ollivier_ricci(src, dst, measure => \"uniform\") OVER ()",
                "text stands in single quotes, 'uniform'",
            ),
            ("SELECT ollivier_ricci(DISTINCT src, dst) OVER ()", "DISTINCT"),
            ("SELECT ollivier_ricci(src, dst) FILTER (WHERE src > 1) OVER ()", "FILTER has no meaning"),
            ("SELECT ollivier_ricci(src, dst) OVER (ORDER BY src)", "no ORDER BY and no frame"),
            ("SELECT ollivier_ricci(src, dst) OVER (ROWS UNBOUNDED PRECEDING)", "no ORDER BY and no frame"),
            ("SELECT ollivier_ricci(src, dst) OVER w FROM t WINDOW w AS (ORDER BY src)", "no ORDER BY and no frame"),
            (
                "SELECT ollivier_ricci(src, dst) OVER (v) FROM t WINDOW w AS (ORDER BY src), v AS (w)",
                "no ORDER BY and no frame",
            ),
            ("SELECT average_rank() FROM t", "average_rank() OVER (PARTITION BY ... ORDER BY ...)"),
            (
                "SELECT average_rank() OVER (PARTITION BY g) FROM t",
                "average_rank() OVER (PARTITION BY ... ORDER BY ...)",
            ),
            ("SELECT average_rank(x) OVER (ORDER BY x)", "average_rank: too many arguments"),
            ("SELECT average_rank() OVER (ORDER BY x ROWS 2 PRECEDING)", "no frame"),
            ("SELECT average_rank() FILTER (WHERE x > 1) OVER (ORDER BY x)", "FILTER has no meaning"),
            ("SELECT midpoint_curvature(edges)", "call it in FROM, SELECT ... FROM midpoint_curvature(...)"),
            ("SELECT * FROM t, LATERAL train(t.x)", "LATERAL train: the function reads whole relations"),
            ("SELECT * FROM train(t, jobs => u)", "train: jobs is given twice (Line: 1, Column: 24)"),
            (
                "SELECT * FROM train()",
                "train: jobs is missing; it is FROM train(jobs [, complexes => relation] [, items => relation] [, pairs => relation] [, protocols => relation] [, share => NULL] [, option => value ...]) (Line: 1",
            ),
            ("SELECT * FROM erdos_renyi(n => 5, 0.5)", "erdos_renyi: 0.5 has no name but follows"),
            ("SELECT * FROM erdos_renyi(5, 0.5, seed => x)", "erdos_renyi: seed must be a constant, not x"),
            ("SELECT * FROM t WHERE sum(x) OVER () > 1", "WHERE takes no window function such as sum(x) OVER ()"),
            ("SELECT sum(x) OVER () AS s FROM t GROUP BY s", "GROUP BY takes no window function"),
            ("SELECT sum(x) OVER () FROM t GROUP BY 1", "GROUP BY takes no window function"),
        ] {
            let found = refused(text);
            assert!(found.contains(expected), "{text}: {found}");
        }
        assert!(rewritten("SELECT ollivier_ricci(src, dst) OVER w FROM t WINDOW w AS (PARTITION BY g)").is_ok());
        assert!(rewritten("SELECT average_rank() OVER (w ORDER BY x) FROM t WINDOW w AS (PARTITION BY g)").is_ok());
        assert!(rewritten("SELECT average_rank() OVER w FROM t WINDOW w AS (ORDER BY x)").is_ok());
        // The window of another query does not count.
        assert!(
            rewritten(
                "SELECT ollivier_ricci(a, b) OVER w, (SELECT 1 FROM u WINDOW w AS (ORDER BY a)) FROM t WINDOW w AS ()"
            )
            .is_ok()
        );
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        for (text, expected) in [
            ("SELECT * FROM t TABLESAMPLE (10 PERCENT)", "TABLESAMPLE of t is not supported"),
            ("SELECT * FROM t VERSION AS OF -1", "Expected: a value"),
            ("SELECT * FROM t TIMESTAMP AS OF 'yesterday'", "expected a time"),
            ("SELECT * FROM a.t FOR SYSTEM_TIME AS OF now()", "a version is a constant"),
            ("SELECT * FROM bonnet.history()", "takes the name of a table"),
            ("SELECT * FROM bonnet.history(1)", "takes the name of a table"),
            ("SELECT * FROM (SELECT 1) TABLESAMPLE (10 ROWS)", "TABLESAMPLE"),
        ] {
            let found = refused(text);
            assert!(found.contains(expected), "{text}: {found}");
        }
        // Words that are names, not clauses.
        assert_eq!(rewritten("SELECT version FROM t AS version").unwrap(), "SELECT version FROM t AS version");
    }

    #[test]
    fn the_walk_notes_each_table_once() {
        let Statement::Sql(mut statement) = parse(
            "WITH c AS (SELECT * FROM c) SELECT * FROM c, train(jobs), a.t VERSION AS OF 3 AS x, bonnet.history(\"T\"), \
             read_csv(['a.txt', 'b.txt'], delim = ';') WHERE x IN (SELECT y FROM a.t)",
        )
        .unwrap() else {
            panic!()
        };
        crate::forms::duckdb_syntax::translate(&mut statement).unwrap();
        let found = rewrite(&mut statement, &registry().unwrap()).unwrap().references;
        let mut names: Vec<String> = found.names.iter().map(ToString::to_string).collect();
        names.sort();
        assert_eq!(names, ["T", "a.t", "c", "jobs"]);
        let beside: Vec<&str> = found.beside.iter().map(|(text, _)| text.as_str()).collect();
        let files = "read_csv(['a.txt', 'b.txt'], delim => ';')";
        assert_eq!(beside, ["a.t VERSION AS OF 3", "bonnet.history(\"T\")", files]);
        let Beside::Files(call) = &found.beside[2].1 else { panic!() };
        assert_eq!((call.paths.len(), call.format, call.options.len()), (2, "csv", 1));
    }

    #[tokio::test]
    async fn unnest_in_from_runs_over_constants_and_is_refused_over_columns() {
        let context = session().await;
        assert_eq!(rows(&context, "SELECT * FROM unnest([1, 2]) AS u(x)").await.unwrap(), ["x", "1", "2"]);
        for text in [
            "SELECT * FROM nested, unnest(nested.xs) AS u(x)",
            "SELECT * FROM nested, unnest(xs)",
            "SELECT * FROM nested CROSS JOIN unnest(xs)",
            "SELECT * FROM nested, LATERAL unnest(xs)",
        ] {
            let found = error(rows(&context, text).await);
            assert!(found.contains("unnest in a select list"), "{text}: {found}");
        }
        assert_eq!(
            rows(&context, "SELECT id, x FROM (SELECT id, unnest(xs) AS x FROM nested) ORDER BY x").await.unwrap(),
            ["id | x", "1 | 10", "1 | 20", "2 | 30"]
        );
    }
}
