//! `SHOW TABLES` and `SHOW FUNCTIONS` as queries.
//!
//! DataFusion shows the tables of the system among the user's, and of the functions those of its own alone.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT 1 AS a`
//! Shows: `SHOW TABLES` gives `datafusion | public | t | BASE TABLE`

use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{ShowStatementFilter, ShowStatementFilterPosition, ShowStatementIn, Statement};
use datafusion::sql::sqlparser::parser::Parser;

use crate::syntax::statements::dialect::BonnetDialect;
use crate::syntax::tree::ast;

/// `SHOW TABLES`, of all schemas but those of the system, `SHOW TABLES FROM schema`, and `SHOW FUNCTIONS`, of all functions, as queries.
pub(crate) fn as_query(statement: &mut SqlStatement) {
    let SqlStatement::Statement(inner) = statement else { return };
    let text = match inner.as_ref() {
        Statement::ShowTables { show_options, .. } => {
            let parts = match &show_options.show_in {
                Some(ShowStatementIn { parent_name: Some(name), .. }) => ast::name_parts(name),
                Some(_) => return,
                None => Some(Vec::new()),
            };
            let of = match parts.as_deref() {
                // Those of the system are found by their schema.
                Some([]) => "table_schema NOT IN ('information_schema', 'bonnet')".to_owned(),
                Some([schema]) => format!("table_schema = {}", ast::text(schema)),
                Some([catalog, schema]) => {
                    format!("table_catalog = {} AND table_schema = {}", ast::text(catalog), ast::text(schema))
                }
                _ => return,
            };
            let like = match &show_options.filter_position {
                Some(ShowStatementFilterPosition::Infix(filter) | ShowStatementFilterPosition::Suffix(filter)) => {
                    matching("table_name", filter)
                }
                None => String::new(),
            };
            format!(
                "SELECT * FROM information_schema.tables WHERE {of}{like} \
                 ORDER BY table_catalog, table_schema, table_name"
            )
        }
        Statement::ShowFunctions { filter } => {
            let like = |name| filter.as_ref().map(|filter| matching(name, filter)).unwrap_or_default();
            format!(
                "SELECT name AS function_name, kind AS function_type, returns AS return_type, signature AS \
                 syntax_example, description FROM bonnet.functions WHERE true{} UNION ALL SELECT DISTINCT routine_name, \
                 lower(function_type), data_type, syntax_example, description FROM information_schema.routines WHERE \
                 routine_name NOT IN (SELECT name FROM bonnet.functions){} ORDER BY function_name",
                like("name"),
                like("routine_name")
            )
        }
        _ => return,
    };
    let parsed = Parser::new(&BonnetDialect).try_with_sql(&text).and_then(|mut parser| parser.parse_query());
    if let Ok(query) = parsed {
        **inner = Statement::Query(query);
    }
}

fn matching(name: &str, filter: &ShowStatementFilter) -> String {
    match filter {
        ShowStatementFilter::Like(pattern) | ShowStatementFilter::NoKeyword(pattern) => {
            format!(" AND {name} LIKE {}", ast::text(pattern))
        }
        ShowStatementFilter::ILike(pattern) => format!(" AND {name} ILIKE {}", ast::text(pattern)),
        ShowStatementFilter::Where(condition) => format!(" AND ({condition})"),
    }
}
