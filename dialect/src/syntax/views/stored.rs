//! The query of a view as its database keeps it: in text that is read back as it was.

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Query, Statement, TableAliasColumnDef, TableFactor, VisitorMut};

use crate::syntax::tree::ast;
use crate::syntax::tree::walk::walk;

/// The query of a CREATE VIEW, under the names that the statement gives its columns; `None` for any other statement.
pub(crate) fn query(statement: &SqlStatement) -> Option<Query> {
    let SqlStatement::Statement(statement) = statement else { return None };
    let Statement::CreateView(view) = statement.as_ref() else { return None };
    let mut query = view.query.as_ref().clone();
    let _ = walk(&mut query, &mut Versions);
    if view.columns.is_empty() {
        return Some(query);
    }
    let mut alias = ast::alias("view");
    alias.columns =
        view.columns.iter().map(|column| TableAliasColumnDef { name: column.name.clone(), data_type: None }).collect();
    Some(ast::select_all(ast::derived(query, Some(alias))))
}

/// Puts versions of tables that have an alias into a subquery: sqlparser writes the version behind the alias, and reads it
/// before.
struct Versions;

impl VisitorMut for Versions {
    type Break = ();

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { alias, version: Some(_), .. } = factor
            && let Some(alias) = alias.take()
        {
            *factor = ast::derived(ast::select_all(factor.clone()), Some(alias));
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::statements::parse::parse;
    use crate::syntax::statements::statement::Statement as Parsed;

    #[test]
    fn the_text_of_a_view_is_read_back_as_it_was() {
        for (text, expected) in [
            ("CREATE VIEW v AS SELECT * FROM t VERSION AS OF 3", "SELECT * FROM t VERSION AS OF 3"),
            (
                "CREATE VIEW v AS SELECT * FROM t TIMESTAMP AS OF '2026-01-31' AS x JOIN t ON true",
                "SELECT * FROM (SELECT * FROM t TIMESTAMP AS OF '2026-01-31') AS x JOIN t ON true",
            ),
            ("CREATE VIEW v(a, b) AS SELECT 1, 2", "SELECT * FROM (SELECT 1, 2) AS view (a, b)"),
        ] {
            let Parsed::Sql(statement) = parse(text).unwrap() else { panic!("{text}") };
            let query = query(&statement).unwrap().to_string();
            assert_eq!(query, expected);
            let Parsed::Sql(again) = parse(&query).unwrap() else { panic!("{query}") };
            assert_eq!(again.to_string(), expected);
        }
    }
}
