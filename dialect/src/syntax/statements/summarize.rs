//! `SUMMARIZE`: one row a column of a table or query.

use std::ops::ControlFlow;

use arrow::datatypes::{DataType, Schema};
use datafusion::sql::parser::{DFParserBuilder, Statement as SqlStatement};
use datafusion::sql::sqlparser::ast::{
    Query, SelectItem, SetExpr, Spanned, Statement, TableAlias, TableFactor, TableWithJoins, VisitorMut,
};

use crate::syntax::statements::dialect::BonnetDialect;
use crate::syntax::tree::ast;
use crate::syntax::tree::walk::walk;
use crate::{Error, Result};
use bonnet_common::sql_type;

/// The statement whose schema [`summary`] asks for: the query itself.
pub fn statement_of(query: &Query) -> SqlStatement {
    SqlStatement::Statement(Box::new(Statement::Query(Box::new(query.clone()))))
}

/// The statement that summarizes a query of this schema, in one pass over its rows, or over those of each 32 columns of a
/// table. Its columns:
///
/// | column | meaning |
/// |---|---|
/// | `column_name`, `column_type` | name and SQL type |
/// | `min`, `max` | as text; NULL for lists, structs, maps and bytes |
/// | `approx_unique` | distinct values, NULL left out; estimated, error about 2 % |
/// | `avg`, `std` | mean and sample deviation of numbers |
/// | `q25`, `q50`, `q75` | quartiles of numbers, estimated (t-digest) |
/// | `count` | rows, those with NULL included |
/// | `null_percentage` | per cent of the rows where the column is NULL; NULL for no rows |
///
/// # Errors
/// If the query has no columns, or two of the same name.
pub fn summary(query: &Query, schema: &Schema) -> Result<SqlStatement> {
    let fields = schema.fields();
    if fields.is_empty() {
        return Err(Error::statement_at(query.span(), "SUMMARIZE: the query has no columns"));
    }
    for (i, field) in fields.iter().enumerate() {
        if fields.iter().take(i).any(|other| other.name() == field.name()) {
            return Err(Error::statement_at(
                query.span(),
                format!("SUMMARIZE: two columns are called {}; give one another name with AS", field.name()),
            ));
        }
    }
    let columns: Vec<Summary> = fields.iter().map(|field| Summary::of(field.name(), field.data_type())).collect();
    let at_once = if is_table(query) { AT_ONCE } else { columns.len() };
    let parts: Vec<String> = columns.chunks(at_once).enumerate().map(|(at, part)| lists(at * at_once, part)).collect();
    let names = STATISTICS.map(|(name, _)| ast::identifier(name)).join(", ");
    let text = format!("SELECT {names} FROM ({}) ORDER BY {PLACE}", parts.join(" UNION ALL "));
    let mut statement = DFParserBuilder::new(text.as_str()).with_dialect(&BonnetDialect).build()?.parse_statement()?;
    let mut rows = Rows { query, found: 0 };
    if let SqlStatement::Statement(statement) = &mut statement {
        let _ = walk(statement.as_mut(), &mut rows);
    }
    if rows.found != parts.len() {
        return Err(Error::statement("SUMMARIZE: the summary has lost its query"));
    }
    Ok(statement)
}

/// The columns of a table whose statistics are one plan: DataFusion 55 looks at all expressions of a plan for each of them, and
/// took 17 seconds to plan those of 300 columns. A query is computed once, whatever its columns.
const AT_ONCE: usize = 32;

/// The place of a column among those of the query.
const PLACE: &str = "\"place of the column\"";

/// The table that stands for the query.
const ROWS: &str = "rows_to_summarize";

/// The statistics of some columns, the first of which is the query's column of this place: lists of equal length, one a
/// statistic, unnested side by side: one scan, and one row a column.
fn lists(first: usize, columns: &[Summary]) -> String {
    let list = |values: Vec<String>, name: &str| format!("[{}] AS {name}", values.join(", "));
    let mut lists = vec![list((first..first + columns.len()).map(|place| place.to_string()).collect(), PLACE)];
    let mut unnested = vec![format!("unnest({PLACE}) AS {PLACE}")];
    for (name, statistic) in STATISTICS {
        let name = ast::identifier(name);
        lists.push(list(columns.iter().map(statistic).collect(), &name));
        unnested.push(format!("unnest({name}) AS {name}"));
    }
    format!("SELECT {} FROM (SELECT {} FROM {ROWS})", unnested.join(", "), lists.join(", "))
}

/// Whether a query is all of one table, so that it may be read in parts, each with columns of its own.
fn is_table(query: &Query) -> bool {
    let Query { with: None, body, order_by: None, limit_clause: None, fetch: None, .. } = query else { return false };
    let SetExpr::Select(select) = body.as_ref() else { return false };
    let [TableWithJoins { relation: TableFactor::Table { args: None, sample: None, .. }, joins }] =
        select.from.as_slice()
    else {
        return false;
    };
    joins.is_empty()
        && matches!(select.projection.as_slice(), [SelectItem::Wildcard(_)])
        && select.selection.is_none()
        && select.distinct.is_none()
        && select.qualify.is_none()
}

/// Puts the query in the place of the table that stands for it. Its tree is used as it is, so that nothing is lost in print.
struct Rows<'a> {
    query: &'a Query,
    found: usize,
}

impl VisitorMut for Rows<'_> {
    type Break = ();

    // After what is in it, so that a table of that name in the query stays.
    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if matches!(factor, TableFactor::Table { name, .. } if ast::name_parts(name).as_deref() == Some(&[ROWS.to_owned()]))
        {
            let name = datafusion::sql::sqlparser::ast::Ident::new(ROWS);
            let alias = TableAlias { explicit: true, name, columns: vec![], at: None };
            *factor = ast::derived(self.query.clone(), Some(alias));
            self.found += 1;
        }
        ControlFlow::Continue(())
    }
}

type Statistic = fn(&Summary) -> String;

const STATISTICS: [(&str, Statistic); 12] = [
    ("column_name", |column| column.name.clone()),
    ("column_type", |column| column.data_type.clone()),
    ("min", |column| column.ordered("min")),
    ("max", |column| column.ordered("max")),
    ("approx_unique", |column| format!("CAST(approx_distinct({}) AS BIGINT)", column.hashable)),
    ("avg", |column| column.number(|number| format!("avg({number})"))),
    ("std", |column| column.number(|number| format!("stddev({number})"))),
    ("q25", |column| column.number(|number| format!("approx_percentile_cont({number}, 0.25)"))),
    ("q50", |column| column.number(|number| format!("approx_percentile_cont({number}, 0.5)"))),
    ("q75", |column| column.number(|number| format!("approx_percentile_cont({number}, 0.75)"))),
    ("count", |_| "count(*)".to_owned()),
    ("null_percentage", |column| {
        format!(
            "CASE WHEN count(*) = 0 THEN NULL \
             ELSE 100.0 * CAST(count(*) - count({0}) AS DOUBLE) / CAST(count(*) AS DOUBLE) END",
            column.column
        )
    }),
];

/// The summary of one column, as pieces of SQL.
struct Summary {
    name: String,
    data_type: String,
    column: String,
    /// The column in a type whose distinct values can be counted.
    hashable: String,
    is_ordered: bool,
    is_number: bool,
}

impl Summary {
    fn of(name: &str, data_type: &DataType) -> Self {
        let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let column = format!("\"{}\"", name.replace('"', "\"\""));
        let value = match data_type {
            DataType::Dictionary(_, value) => value.as_ref(),
            other => other,
        };
        // Floats and dictionaries are counted by their texts: the estimator does not take them.
        let as_text = value.is_floating() || !std::ptr::eq(value, data_type);
        Self {
            name: literal(name),
            data_type: literal(&sql_type(data_type)),
            hashable: if as_text { format!("CAST({column} AS VARCHAR)") } else { column.clone() },
            is_ordered: value.is_numeric()
                || value.is_temporal()
                || matches!(value, DataType::Boolean | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
            is_number: value.is_numeric(),
            column,
        }
    }

    fn ordered(&self, aggregate: &str) -> String {
        match self.is_ordered {
            true => format!("CAST({aggregate}({}) AS VARCHAR)", self.column),
            false => "CAST(NULL AS VARCHAR)".to_owned(),
        }
    }

    fn number(&self, aggregate: impl Fn(&str) -> String) -> String {
        match self.is_number {
            true => aggregate(&format!("CAST({} AS DOUBLE)", self.column)),
            false => "CAST(NULL AS DOUBLE)".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::SessionContext;

    use super::*;
    use crate::syntax::statements::parse::parse;
    use crate::syntax::statements::statement::Statement as Parsed;
    use crate::testing::{error, lines, session};

    async fn summarized(context: &SessionContext, text: &str) -> Result<Vec<String>> {
        let Parsed::Summarize { query } = parse(text)? else { panic!("{text}") };
        let plan = context.state().statement_to_plan(statement_of(&query)).await?;
        let statement = summary(&query, plan.schema().as_arrow())?;
        let plan = context.state().statement_to_plan(statement).await?;
        let batches = context.execute_logical_plan(plan).await?.collect().await?;
        Ok(lines(&batches))
    }

    // Checked by hand: 1, 2, 3, 4, NULL has mean 2.5 and sample deviation sqrt(5/3).
    #[tokio::test]
    async fn every_column_has_one_row_of_statistics() {
        let context = session().await;
        let text = "SUMMARIZE SELECT * FROM (VALUES (1, 'b', 1.5, [1], true), (2, 'a', NULL, [1], false), \
                    (3, 'a', 1.5, [2], true), (4, NULL, 2.5, NULL, true), (NULL, 'c', 0.5, [3], NULL)) \
                    AS t(number, word, \"Real's\", list, flag)";
        let rows = summarized(&context, text).await.unwrap();
        assert_eq!(
            rows[0],
            "column_name | column_type | min | max | approx_unique | avg | std | q25 | q50 | q75 | count | null_percentage"
        );
        let deviation = (5.0f64 / 3.0).sqrt();
        assert_eq!(rows[1], format!("number | BIGINT | 1 | 4 | 4 | 2.5 | {deviation} | 1.5 | 2.5 | 3.5 | 5 | 20.0"));
        assert_eq!(rows[2], "word | VARCHAR | a | c | 3 |  |  |  |  |  | 5 | 20.0");
        assert!(rows[3].starts_with("Real's | DOUBLE | 0.5 | 2.5 | 3 | 1.5 | "), "{}", rows[3]);
        assert_eq!(rows[4], "list | BIGINT[] |  |  | 3 |  |  |  |  |  | 5 | 20.0");
        assert_eq!(rows[5], "flag | BOOLEAN | false | true | 2 |  |  |  |  |  | 5 | 20.0");
        assert_eq!(rows.len(), 6);
    }

    #[tokio::test]
    async fn a_table_without_rows_has_no_statistics() {
        let context = session().await;
        let rows = summarized(&context, "SUMMARIZE SELECT * FROM sales WHERE false").await.unwrap();
        assert_eq!(rows.len(), 5);
        assert_eq!(rows[4], "amount | BIGINT |  |  | 0 |  |  |  |  |  | 0 |");
    }

    #[tokio::test]
    async fn structs_maps_dates_and_dictionaries_are_summarized() {
        let context = session().await;
        let rows = summarized(
            &context,
            "SUMMARIZE SELECT {'a': 1} AS s, MAP {3: 0.5} AS m, DATE '2020-02-01' AS d, \
             arrow_cast('x', 'Dictionary(Int32, Utf8)') AS t, NULL AS n, arrow_cast('b', 'Binary') AS b",
        )
        .await
        .unwrap();
        assert!(rows[1].starts_with("s | STRUCT(a BIGINT) |  |  | 1 |"), "{}", rows[1]);
        assert!(rows[2].starts_with("m | MAP(BIGINT, DOUBLE) |  |  | 1 |"), "{}", rows[2]);
        assert!(rows[3].starts_with("d | DATE | 2020-02-01 | 2020-02-01 | 1 |"), "{}", rows[3]);
        assert!(rows[4].starts_with("t | VARCHAR | x | x | 1 |"), "{}", rows[4]);
        assert!(rows[5].ends_with("| 1 | 100.0"), "{}", rows[5]);
        assert!(rows[6].starts_with("b | BLOB |"), "{}", rows[6]);
    }

    #[tokio::test]
    async fn a_wide_table_is_summarized_in_parts() {
        let context = session().await;
        let columns: Vec<String> = (0..100).map(|at| format!("{at} + value AS c{at}")).collect();
        let make = format!("CREATE TABLE rows_to_summarize AS SELECT {} FROM range(4)", columns.join(", "));
        context.sql(&make).await.unwrap().collect().await.unwrap();
        let rows = summarized(&context, "SUMMARIZE rows_to_summarize").await.unwrap();
        assert_eq!(rows.len(), 101);
        for (at, row) in rows[1..].iter().enumerate() {
            assert!(row.starts_with(&format!("c{at} | BIGINT | {at} | {} | 4 | {}.5 | ", at + 3, at + 1)), "{row}");
        }
        let query = summarized(&context, "SUMMARIZE SELECT * FROM rows_to_summarize WHERE c0 >= 0").await.unwrap();
        assert_eq!(query, rows);
    }

    #[tokio::test]
    async fn columns_of_the_same_name_are_refused() {
        let context = session().await;
        let found = error(summarized(&context, "SUMMARIZE SELECT a.city, b.city FROM sales a, sales b").await);
        assert!(found.contains("two columns are called city"), "{found}");
    }
}
