//! The texts of views that databases hold from before: there names carried what stands beside them now.
//!
//! Options of files stood behind a path, each after U+0001, versions in the names of tables, and joins with keys under an alias
//! of their own.

use std::ops::ControlFlow;

use bonnet_common::Version;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArgOperator, Ident, ObjectName, ObjectNamePart, Spanned, TableFactor,
    TableVersion, VisitorMut,
};

use crate::syntax::tree::ast;
use crate::syntax::tree::visit::visit_statement;

/// The separator in a table's name between a path, its format, and each option `name=value` of that.
const FILE_OPTION: char = '\u{1}';

/// The alias of a join with keys.
const JOIN: &str = "join keys";

/// The table of keys that conditions name.
const KEYS: &str = " keys";

/// What stood before the name of a table whose history is asked for.
const HISTORY: &str = "HISTORY OF ";

/// Writes the query of a view as it would be written now.
pub fn renew(text: &str, statement: &mut SqlStatement) {
    let marks = ["\u{1}", JOIN, HISTORY, " VERSION AS OF ", " TIMESTAMP AS OF "];
    if marks.iter().any(|mark| text.contains(mark)) {
        let _ = visit_statement(statement, &mut Renewer);
    }
}

struct Renewer;

impl VisitorMut for Renewer {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::NestedJoin { alias, .. } if alias.as_ref().is_some_and(|alias| alias.name.value == JOIN) => {
                *alias = None;
            }
            TableFactor::Table { args: None, .. } => renew_table(factor),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(names) = expr
            && let [table, key] = names.as_slice()
            && table.value == KEYS
        {
            *expr = Expr::Identifier(key.clone());
        }
        ControlFlow::Continue(())
    }
}

fn renew_table(factor: &mut TableFactor) {
    let TableFactor::Table { name, version, .. } = factor else { return };
    let span = name.span();
    let Some(ObjectNamePart::Identifier(last)) = name.0.last_mut() else { return };
    if last.value.contains(FILE_OPTION) {
        let mut parts = last.value.split(FILE_OPTION).map(str::to_owned);
        let path = parts.next().unwrap_or_default();
        let function = format!("read_{}", parts.next().unwrap_or_default());
        let options: Vec<(String, String)> = parts
            .filter_map(|part| part.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())))
            .collect();
        *name = ObjectName::from(vec![Ident { span, ..Ident::new(function) }]);
        let value = |value: String| FunctionArgExpr::Expr(ast::text(value));
        let options = options.into_iter().map(|(name, given)| FunctionArg::Named {
            name: Ident::new(name),
            arg: value(given),
            operator: FunctionArgOperator::RightArrow,
        });
        ast::set_args(factor, std::iter::once(FunctionArg::Unnamed(value(path))).chain(options).collect());
        return;
    }
    if let Some(table) = last.value.strip_prefix(HISTORY) {
        last.value = table.to_owned();
        let table = FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::text(name.to_string())));
        *name = ObjectName::from(vec![Ident::new(bonnet_common::SYSTEM_SCHEMA), Ident::new("history")]);
        ast::set_args(factor, vec![table]);
        return;
    }
    if let Some((table, given)) = dated(&last.value) {
        last.value = table;
        *version = Some(given);
    }
}

/// The table and the version in a name.
fn dated(name: &str) -> Option<(String, TableVersion)> {
    // The last of the words is the statement's; any before are part of the table's own name.
    let (version, time) = (name.rsplit_once(" VERSION AS OF "), name.rsplit_once(" TIMESTAMP AS OF "));
    let length = |found: Option<(&str, &str)>| found.map(|(table, _)| table.len());
    if let Some((table, time)) = time.filter(|_| length(time) > length(version)) {
        let time = time.trim_matches('\'');
        Version::parse_time(time).ok()?;
        return Some((table.to_owned(), TableVersion::TimestampAsOf(ast::text(time))));
    }
    let (table, number) = version?;
    number.parse::<u64>().ok()?;
    Some((table.to_owned(), TableVersion::VersionAsOf(ast::number(number))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::statements::statement::Statement;
    use crate::testing::parsed;

    #[test]
    fn the_text_of_an_older_view_is_read_as_it_would_be_written_now() {
        for (text, expected) in [
            (
                "SELECT * FROM 'a.txt\u{1}csv\u{1}delim=;\u{1}nullstr=a=b' AS read_csv",
                "SELECT * FROM read_csv('a.txt', delim => ';', nullstr => 'a=b') AS read_csv",
            ),
            // The parser writes the version behind the alias.
            ("SELECT * FROM main.\"t VERSION AS OF 3\" AS t", "SELECT * FROM main.\"t\" AS t VERSION AS OF 3"),
            (
                "SELECT * FROM \"x VERSION AS OF 2 TIMESTAMP AS OF '2026-01-31 12:00:00'\"",
                "SELECT * FROM \"x VERSION AS OF 2\" TIMESTAMP AS OF '2026-01-31 12:00:00'",
            ),
            ("SELECT * FROM \"HISTORY OF t\" AS history", "SELECT * FROM bonnet.history('\"t\"') AS history"),
            (
                "SELECT k FROM (a JOIN b USING(k)) AS \"join keys\"(\" keys.k\", \"a.k\") WHERE \" keys\".k = 1",
                "SELECT k FROM (a JOIN b USING(k)) WHERE k = 1",
            ),
            ("SELECT * FROM t", "SELECT * FROM t"),
        ] {
            let Statement::Sql(mut statement) = parsed(text) else { panic!("{text}") };
            renew(text, &mut statement);
            assert_eq!(statement.to_string(), expected);
        }
    }
}
