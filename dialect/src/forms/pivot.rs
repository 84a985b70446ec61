//! PIVOT and UNPIVOT after a table in FROM, planned as the queries that they stand for.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/12907> <https://github.com/apache/datafusion/pull/17946>
//! Given: `CREATE TABLE runs AS SELECT * FROM (VALUES ('a', 'gcn', 1), ('a', 'mlp', 2), ('b', 'gcn', 3)) AS v(graph, model, accuracy)`
//! Shows: `SELECT * FROM (SELECT graph, model, accuracy FROM runs) PIVOT (max(accuracy) FOR model IN ('gcn', 'mlp')) ORDER BY graph` gives `a | 1 | 2 / b | 3 | NULL`

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use bonnet_common::{ErrorKind, Raised};
use bonnet_sql::arguments::is_constant;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result, plan_err};
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::{Aggregate, Expr as PlanExpr, LogicalPlan, Projection};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, ExprWithAlias, Function, Ident, NullInclusion, PivotValueSource, Query, Select, SelectItem,
    SetExpr, SetOperator, SetQuantifier, Spanned, TableAlias, TableFactor, UnaryOperator, Value, VisitorMut,
};
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::syntax::tree::ast;
use crate::syntax::tree::walk::walk;

/// Plans `FROM t PIVOT (aggregate [AS a], ... FOR column IN (value [AS name], ...))` and
/// `FROM t UNPIVOT (value FOR name IN (column, ...))`.
///
/// PIVOT groups by every column that neither the aggregates nor FOR read, and makes a column for each value and
/// aggregate, named after the value or its alias; after that and the aggregate, `value_aggregate`, where there are
/// several aggregates or the aggregate has an alias. One pass over the rows, whatever the number of values.
#[derive(Debug, Clone, Copy, Default)]
pub struct PivotPlanner;

impl RelationPlanner for PivotPlanner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let (plan, alias) = match relation {
            TableFactor::Pivot { .. } => pivot(relation, context)?,
            TableFactor::Unpivot { .. } => {
                let (query, alias) = unpivot(relation, context)?;
                (context.plan(ast::derived(query, None))?, alias)
            }
            other => return Ok(RelationPlanning::Original(Box::new(other))),
        };
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
    }
}

/// `SELECT rest, aggregate FILTER (WHERE column = value) AS "value", ... FROM t GROUP BY rest`, as a plan: the planner of SELECT asks of
/// each column whether it is one of the aggregates, in time that is quadratic in their number.
fn pivot(relation: TableFactor, context: &mut dyn RelationPlannerContext) -> Result<(LogicalPlan, Option<TableAlias>)> {
    let TableFactor::Pivot { table, aggregate_functions, value_column, value_source, default_on_null, alias } =
        relation
    else {
        return plan_err!("PIVOT expected");
    };
    let [column] = value_column.as_slice() else {
        let second = value_column.get(1).map_or_else(Span::empty, Spanned::span);
        let text = "PIVOT takes one expression after FOR or ON; join several columns into one, a || '_' || b";
        return refuse(second, text);
    };
    let PivotValueSource::List(values) = value_source else {
        return refuse(column.span(), "the values of this PIVOT are not known here: give them, IN (value, ...)");
    };
    let read: Vec<_> = ast::columns(column).into_iter().chain(ast::columns(&aggregate_functions)).collect();
    let input = context.plan(*table)?;
    let schema = Arc::clone(input.schema());
    let rest = other_columns(&schema, &read, context)?;

    let mut aggregates = Aggregates::default();
    let mut projection: Vec<PlanExpr> = rest.iter().cloned().map(PlanExpr::Column).collect();
    let groups = projection.clone();
    let mut names: HashSet<String> = rest.iter().map(|column| column.name.clone()).collect();
    for value in &values {
        let label = match &value.alias {
            Some(alias) => context.normalize_ident(alias.clone()),
            None => label(&value.expr)?,
        };
        for aggregate in &aggregate_functions {
            let name = match &aggregate.alias {
                Some(alias) => format!("{label}_{}", context.normalize_ident(alias.clone())),
                None if aggregate_functions.len() > 1 => format!("{label}_{}", aggregate.expr),
                None => label.clone(),
            };
            let mut expr = filtered(&aggregate.expr, &equals(column, &value.expr), context)?;
            if let Some(default) = &default_on_null {
                expr = ast::call("coalesce", vec![expr, default.clone()]);
            }
            if !names.insert(name.clone()) {
                let text =
                    format!("PIVOT makes two columns named {name}: give a value a name, IN (value AS name, ...)");
                return refuse(value.expr.span(), text);
            }
            let expr = context.sql_to_expr(expr, &schema)?;
            projection.push(aggregates.placed(expr, &aggregate.expr)?.alias(name));
        }
    }
    if projection.is_empty() {
        return refuse(column.span(), "PIVOT makes no columns: it has no values, and no column is left to group by");
    }
    // Without values the groups alone remain.
    let aggregated = Aggregate::try_new(Arc::new(input), groups, aggregates.in_order)?;
    let plan = Projection::try_new(projection, Arc::new(LogicalPlan::Aggregate(aggregated)))?;
    Ok((LogicalPlan::Projection(plan), alias))
}

/// The aggregates of a PIVOT, each once.
#[derive(Default)]
struct Aggregates {
    in_order: Vec<PlanExpr>,
    known: HashSet<PlanExpr>,
}

impl Aggregates {
    /// The expression with a column in the place of each of its aggregates.
    fn placed(&mut self, expr: PlanExpr, written: &Expr) -> Result<PlanExpr> {
        let placed = expr.transform_down(|node| match node {
            PlanExpr::AggregateFunction(_) => {
                let column = Column::new_unqualified(node.schema_name().to_string());
                if self.known.insert(node.clone()) {
                    self.in_order.push(node);
                }
                Ok(Transformed::new(PlanExpr::Column(column), true, TreeNodeRecursion::Jump))
            }
            PlanExpr::Column(column) => {
                let text = format!("PIVOT: {} stands outside of the aggregates of {written}", column.name);
                refuse(written.span(), text)
            }
            other => Ok(Transformed::no(other)),
        })?;
        Ok(placed.data)
    }
}

/// The columns of a table that are not among these, in their order.
fn other_columns(schema: &DFSchema, read: &[Vec<Ident>], context: &dyn RelationPlannerContext) -> Result<Vec<Column>> {
    let named = read.iter().filter_map(|column| column.last());
    let names: Vec<(String, Span)> = named.map(|name| (context.normalize_ident(name.clone()), name.span)).collect();
    for (name, span) in &names {
        if !schema.fields().iter().any(|field| field.name() == name) {
            let columns: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            let text = format!("there is no column {name} to pivot; the table has: {}", columns.join(", "));
            return Err(Raised::new(ErrorKind::UnknownColumn, text).at(*span).into());
        }
    }
    Ok(schema.columns().into_iter().filter(|column| names.iter().all(|(name, _)| *name != column.name)).collect())
}

fn equals(column: &Expr, value: &Expr) -> Expr {
    let column = Box::new(Expr::Nested(Box::new(column.clone())));
    match value {
        Expr::Value(literal) if literal.value == Value::Null => Expr::IsNull(column),
        value => {
            let value = Box::new(Expr::Nested(Box::new(value.clone())));
            Expr::BinaryOp { left: column, op: BinaryOperator::Eq, right: value }
        }
    }
}

/// The name that a value gives to its column: its text, without quotes.
fn label(value: &Expr) -> Result<String> {
    match value {
        Expr::Value(value) => Ok(match &value.value {
            Value::Null => "NULL".to_owned(),
            other => other.clone().into_string().unwrap_or_else(|| other.to_string()),
        }),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Ok(format!("-{}", label(expr)?)),
        Expr::Cast { expr, .. } => label(expr),
        Expr::TypedString(text) => label(&Expr::Value(text.value.clone())),
        Expr::Nested(expr) => label(expr),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
            let text =
                format!("PIVOT: {value} is a column, and IN takes constants; text stands in single quotes, '{value}'");
            refuse(value.span(), text)
        }
        other if is_constant(other) => Ok(other.to_string()),
        other => refuse(other.span(), format!("PIVOT: IN takes constants, not {other}")),
    }
}

/// The expression with a condition on the rows of its aggregates.
fn filtered(expr: &Expr, condition: &Expr, context: &dyn RelationPlannerContext) -> Result<Expr> {
    let mut filter = Filter { condition, context, inside: 0, aggregates: 0 };
    let mut filtered = expr.clone();
    if walk(&mut filtered, &mut filter).is_break() {
        return refuse(expr.span(), format!("PIVOT: {expr} is a window function; PIVOT takes aggregates"));
    }
    if filter.aggregates == 0 {
        let text = format!("PIVOT: {expr} is no aggregate; PIVOT takes aggregates, such as sum(x) or first_value(x)");
        return refuse(expr.span(), text);
    }
    Ok(filtered)
}

struct Filter<'a> {
    condition: &'a Expr,
    context: &'a dyn RelationPlannerContext,
    /// The number of aggregates around the place that is visited.
    inside: usize,
    aggregates: usize,
}

impl Filter<'_> {
    fn is_aggregate(&self, function: &Function) -> bool {
        let provider = self.context.context_provider();
        ast::function_name(&function.name).is_some_and(|name| provider.get_aggregate_meta(&name).is_some())
    }
}

impl VisitorMut for Filter<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        if function.over.is_some() {
            return ControlFlow::Break(());
        }
        if self.is_aggregate(function) {
            if self.inside == 0 {
                self.aggregates += 1;
                let condition = self.condition.clone();
                function.filter = Some(Box::new(match function.filter.take() {
                    None => condition,
                    Some(filter) => Expr::BinaryOp {
                        left: Box::new(Expr::Nested(filter)),
                        op: BinaryOperator::And,
                        right: Box::new(Expr::Nested(Box::new(condition))),
                    },
                }));
            }
            self.inside += 1;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr
            && self.is_aggregate(function)
        {
            self.inside -= 1;
        }
        ControlFlow::Continue(())
    }
}

fn refuse<T>(at: Span, text: impl Into<String>) -> Result<T> {
    Err(Raised::new(ErrorKind::Statement, text).at(at).into())
}

/// `SELECT rest, 'a' AS name, a AS value FROM t WHERE a IS NOT NULL UNION ALL ...`: a pass over the rows per column.
fn unpivot(relation: TableFactor, context: &mut dyn RelationPlannerContext) -> Result<(Query, Option<TableAlias>)> {
    let TableFactor::Unpivot { table, value, name, columns, null_inclusion, alias } = relation else {
        return plan_err!("UNPIVOT expected");
    };
    let Expr::Identifier(value) = value else {
        return refuse(value.span(), format!("UNPIVOT takes one name for the values, not {value}"));
    };
    let read: Vec<_> = columns.iter().map(|column| ast::columns(&column.expr)).collect();
    if let Some(at) = read.iter().position(|read| read.len() != 1) {
        return refuse(columns[at].expr.span(), "UNPIVOT: IN takes columns, optionally with AS 'label'");
    }
    let schema = Arc::clone(context.plan(table.as_ref().clone())?.schema());
    let rest = other_columns(&schema, &read.concat(), context)?;
    let rest: Vec<Expr> = rest.iter().map(|column| Expr::Identifier(ast::quoted(&column.name))).collect();
    let mut union: Option<SetExpr> = None;
    for ExprWithAlias { expr, alias } in columns {
        let label = match (&alias, &expr) {
            (Some(label), _) | (None, Expr::Identifier(label)) => context.normalize_ident(label.clone()),
            (None, Expr::CompoundIdentifier(names)) => {
                names.last().map(|label| context.normalize_ident(label.clone())).unwrap_or_default()
            }
            (None, other) => {
                return refuse(other.span(), format!("UNPIVOT: IN takes columns, not {other}"));
            }
        };
        let mut projection: Vec<SelectItem> = rest.iter().cloned().map(SelectItem::UnnamedExpr).collect();
        projection.push(SelectItem::ExprWithAlias { expr: ast::text(label), alias: name.clone() });
        projection.push(SelectItem::ExprWithAlias { expr: expr.clone(), alias: value.clone() });
        let mut body = *ast::select(projection, table.as_ref().clone(), vec![]).body;
        if let SetExpr::Select(select) = &mut body
            && null_inclusion != Some(NullInclusion::IncludeNulls)
        {
            let select: &mut Select = select;
            select.selection = Some(Expr::IsNotNull(Box::new(expr)));
        }
        union = Some(match union {
            None => body,
            Some(left) => SetExpr::SetOperation {
                op: SetOperator::Union,
                set_quantifier: SetQuantifier::All,
                left: Box::new(left),
                right: Box::new(body),
            },
        });
    }
    match union {
        Some(union) => Ok((ast::query(union), alias)),
        None => refuse(name.span, "UNPIVOT: IN takes at least one column"),
    }
}

#[cfg(test)]
mod tests {
    use crate::syntax::statements::parse::parse;
    use crate::testing::{error, prepared, rows, session};

    async fn check(text: &str, expected: &[&str]) {
        let context = session().await;
        match rows(&context, text).await {
            Ok(found) => assert_eq!(found, expected, "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }

    // A literal reading of the definition: one conditional aggregate a value.
    #[tokio::test]
    async fn pivot_in_from_agrees_with_case_expressions() {
        let context = session().await;
        let pivot = "SELECT * FROM (SELECT city, year, amount FROM sales) \
                     PIVOT (sum(amount) FOR year IN (2020, 2021 AS later)) ORDER BY city";
        let by_hand = "SELECT city, sum(CASE WHEN year = 2020 THEN amount END) AS \"2020\", \
                       sum(CASE WHEN year = 2021 THEN amount END) AS later FROM sales GROUP BY city ORDER BY city";
        let found = rows(&context, pivot).await.unwrap();
        assert_eq!(found, rows(&context, by_hand).await.unwrap());
        assert_eq!(found, ["city | 2020 | later", "Bonn | 8 |", "Ulm | 3 | 4"]);
    }

    #[tokio::test]
    async fn columns_are_named_after_values_aliases_and_aggregates() {
        check(
            "SELECT * FROM (SELECT year, amount FROM sales) AS s \
             PIVOT (sum(amount) AS total, count(*) AS n FOR year IN (2020 AS first, 2021)) AS p",
            &["first_total | first_n | 2021_total | 2021_n", "11 | 3 | 4 | 1"],
        )
        .await;
        check(
            "SELECT \"Ulm\", p.\"B\" FROM (SELECT city, amount FROM sales) PIVOT (max(amount) FOR city IN ('Ulm', 'Bonn' AS \"B\")) AS p",
            &["Ulm | B", "4 | 16"],
        )
        .await;
        check(
            "SELECT * FROM (SELECT kind, amount FROM sales) PIVOT (sum(amount) FOR kind IN (NULL, 'a')) ",
            &["NULL | a", "16 | 13"],
        )
        .await;
        check(
            "SELECT * FROM (SELECT amount - 2 AS x, amount FROM sales) PIVOT (sum(amount) FOR x IN (-1, 0))",
            &["-1 | 0", "1 | 2"],
        )
        .await;
    }

    #[tokio::test]
    async fn all_columns_that_are_left_are_grouped_by() {
        check(
            "SELECT * FROM sales PIVOT (sum(amount) FOR kind IN ('a', 'b')) ORDER BY city, year",
            &["city | year | a | b", "Bonn | 2020 | 8 |", "Bonn | 2022 |  |", "Ulm | 2020 | 1 | 2", "Ulm | 2021 | 4 |"],
        )
        .await;
        check(
            "SELECT * FROM sales PIVOT (count(*) FOR kind IN ('a') DEFAULT ON NULL (0)) WHERE city = 'Bonn' ORDER BY amount",
            &["city | year | amount | a", "Bonn | 2020 | 8 | 1", "Bonn | 2022 | 16 | 0"],
        )
        .await;
    }

    #[tokio::test]
    async fn the_statement_finds_its_values_in_order() {
        check(
            "PIVOT sales ON year USING sum(amount) GROUP BY city ORDER BY city LIMIT 5",
            &["city | 2020 | 2021 | 2022", "Bonn | 8 |  | 16", "Ulm | 3 | 4 |"],
        )
        .await;
        check(
            "PIVOT sales ON kind USING sum(amount) GROUP BY city ORDER BY city",
            &["city | a | b", "Bonn | 8 |", "Ulm | 5 | 2"],
        )
        .await;
        check(
            "PIVOT sales ON year IN (2021, 2020) USING sum(amount) AS s, max(amount) m GROUP BY city ORDER BY city",
            &["city | 2021_s | 2021_m | 2020_s | 2020_m", "Bonn |  |  | 8 | 8", "Ulm | 4 | 4 | 3 | 2"],
        )
        .await;
        // Without USING the rows are counted; ON takes expressions.
        check(
            "PIVOT sales ON city || '-' || kind GROUP BY year ORDER BY year",
            &["year | Bonn-a | Ulm-a | Ulm-b", "2020 | 1 | 1 | 1", "2021 | 0 | 1 | 0", "2022 | 0 | 0 | 0"],
        )
        .await;
        check(
            "PIVOT (SELECT city, year, amount FROM sales) s ON s.year USING avg(s.amount) ORDER BY s.city",
            &["city | 2020 | 2021 | 2022", "Bonn | 8.0 |  | 16.0", "Ulm | 1.5 | 4.0 |"],
        )
        .await;
        check(
            "SELECT * FROM (SELECT city, amount FROM sales) PIVOT (sum(amount) FOR city IN (SELECT 'Ulm'))",
            &["Ulm", "7"],
        )
        .await;
        check(
            "SELECT * FROM (SELECT city, amount FROM sales) PIVOT (sum(amount) FOR city IN (ANY))",
            &["Bonn | Ulm", "24 | 7"],
        )
        .await;
        check(
            "PIVOT (SELECT arrow_cast(city, 'Dictionary(Int32, Utf8)') AS city, amount FROM sales) ON city USING sum(amount)",
            &["Bonn | Ulm", "24 | 7"],
        )
        .await;
        check(
            "PIVOT (SELECT DATE '2020-01-01' + year - 2020 AS day, amount FROM sales) ON day USING sum(amount)",
            &["2020-01-01 | 2020-01-02 | 2020-01-03", "11 | 4 | 16"],
        )
        .await;
    }

    #[tokio::test]
    async fn the_statement_stands_where_a_query_may() {
        let answer = &["city | a | b", "Bonn | 8 |", "Ulm | 5 | 2"];
        for text in [
            "SELECT * FROM (PIVOT sales ON kind USING sum(amount) GROUP BY city) ORDER BY city",
            "WITH p AS (PIVOT sales ON kind USING sum(amount) GROUP BY city) SELECT * FROM p ORDER BY city",
            "WITH s AS (SELECT * FROM sales) PIVOT s ON kind USING sum(amount) GROUP BY city ORDER BY city",
            "WITH s AS (SELECT * FROM sales), p AS (PIVOT s ON kind USING sum(amount) GROUP BY city), \
             s2 AS (SELECT 1) FROM p ORDER BY city",
            "WITH r AS (FROM sales) SELECT * FROM (WITH s AS (FROM r) PIVOT s ON kind USING sum(amount) GROUP BY city) \
             ORDER BY city",
            "PIVOT (FROM sales) ON kind USING sum(amount) GROUP BY city ORDER BY city",
            "SELECT * FROM (PIVOT (SELECT * FROM (PIVOT sales ON year IN (2020) USING max(amount))) ON kind USING min(\"2020\") \
             GROUP BY city) AS q JOIN (SELECT 1) ON true WHERE false UNION ALL \
             SELECT city, a, b, 1 FROM (PIVOT sales ON kind USING sum(amount) GROUP BY city) ORDER BY city",
        ] {
            let context = session().await;
            let found = rows(&context, text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
            let found: Vec<_> = found.iter().map(|line| line.strip_suffix(" | 1").unwrap_or(line).trim_end()).collect();
            assert_eq!(found[1..], answer[1..], "{text}");
        }
        let context = session().await;
        rows(&context, "CREATE TABLE p AS PIVOT sales ON kind USING sum(amount) GROUP BY city").await.unwrap();
        assert_eq!(rows(&context, "FROM p ORDER BY city").await.unwrap(), answer);
        rows(&context, "CREATE VIEW v AS PIVOT sales ON kind IN ('a', 'b') USING sum(amount) GROUP BY city")
            .await
            .unwrap();
        assert_eq!(rows(&context, "FROM v ORDER BY city").await.unwrap(), answer);
        let file = std::env::temp_dir().join(format!("bonnetdb-pivot-{}.csv", std::process::id()));
        let copy =
            format!("COPY (PIVOT sales ON kind USING sum(amount) GROUP BY city ORDER BY city) TO '{}'", file.display());
        rows(&context, &copy).await.unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(text, "city,a,b\nBonn,8,\nUlm,5,2\n");
    }

    #[tokio::test]
    async fn what_pivot_cannot_do_it_refuses() {
        let context = session().await;
        for (text, expected) in [
            ("PIVOT sales", "PIVOT lacks its table or ON at Line: 1, Column: 1; the form is PIVOT table ON column"),
            ("PIVOT sales ON city, year USING sum(amount)", "ON a || '_' || b"),
            (
                "PIVOT sales ON year USING sum(amount) GROUP BY city, year",
                "as well at Line: 1, Column: 54: give the column a second name in a subquery",
            ),
            ("PIVOT sales ON year IN (2020 USING sum(amount)", "')' after the values of IN"),
            (
                "PIVOT sales ON nothing IN (1) USING sum(amount)",
                "there is no column nothing to pivot; the table has: city, year, kind, amount (Line: 1, Column: 16)",
            ),
            (
                "PIVOT sales ON year IN (other) USING sum(amount)",
                "other is a column, and IN takes constants; text stands in single quotes, 'other' (Line: 1, Column: 25)",
            ),
            (
                "PIVOT sales ON year IN (1) USING abs(amount)",
                "abs(amount) is no aggregate; PIVOT takes aggregates, such as sum(x) or first_value(x) (Line: 1, Column: 38)",
            ),
            (
                "CREATE VIEW v AS PIVOT sales ON kind USING sum(amount)",
                "must not depend on rows: give the PIVOT its values, IN (value, ...) (Line: 1, Column: 33)",
            ),
        ] {
            let found = error(rows(&context, text).await);
            assert!(found.contains(expected), "{text}: {found}");
        }
        // Columns and tables called pivot are no statements.
        for text in
            ["SELECT sum(pivot) FROM t", "SELECT 1 AS pivot FROM t", "SELECT * FROM a AS \"pivot\" JOIN b ON a.x = b.x"]
        {
            assert!(parse(text).is_ok(), "{text}");
        }
    }

    #[tokio::test]
    async fn literals_stay_as_they_are() {
        let context = session().await;
        let prepared = prepared(&context, "SELECT '(PIVOT sales ON kind)' AS x, 'FROM t' AS y").await.unwrap();
        assert_eq!(prepared.statement.to_string(), "SELECT '(PIVOT sales ON kind)' AS x, 'FROM t' AS y");
    }

    #[tokio::test]
    async fn unpivot_makes_a_row_of_each_column() {
        let source = "(SELECT city, max(amount) AS high, nullif(min(amount), 8) AS low FROM sales GROUP BY city)";
        check(
            &format!("SELECT * FROM {source} UNPIVOT (amount FOR name IN (high, low)) ORDER BY city, name"),
            &["city | name | amount", "Bonn | high | 16", "Ulm | high | 4", "Ulm | low | 1"],
        )
        .await;
        check(
            &format!("SELECT * FROM {source} UNPIVOT INCLUDE NULLS (amount FOR name IN (high AS top, low)) AS u ORDER BY city, u.name"),
            &["city | name | amount", "Bonn | low |", "Bonn | top | 16", "Ulm | low | 1", "Ulm | top | 4"],
        )
        .await;
    }
}
