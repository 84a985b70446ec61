//! Forms of expressions and clauses that DataFusion does not plan, or leaves out without a word: written in another form where
//! one says the same, else refused.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/17716>
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(a)`
//! Shows: `SELECT * FROM t OFFSET 1 ROWS FETCH FIRST 1 ROWS ONLY` gives `2`

use datafusion::sql::sqlparser::ast::{
    AccessExpr, Assignment, AssignmentTarget, ColumnOption, CreateTable, DataType, Expr, Ident, LimitClause, Query,
    Spanned, Statement, Subscript, Value,
};

use crate::syntax::tree::ast;
use crate::syntax::tree::ast::{cast, take};
use crate::syntax::tree::walk::find;
use crate::{Error, ErrorKind, Raised, Result};

/// Names with these endings are files in FROM.
const FILE_ENDINGS: [&str; 8] = ["parquet", "csv", "tsv", "json", "ndjson", "jsonl", "arrow", "feather"];

/// Rewrites an expression of such a form, or refuses it.
///
/// # Errors
/// If no other form says the same.
pub(crate) fn expression(expr: &mut Expr) -> Result<()> {
    // Spans are looked for where they are needed: each is a walk over the expression.
    match expr {
        Expr::Interval(interval) => {
            if interval.last_field.is_some() {
                return Err(Error::statement_at(
                    interval.value.span(),
                    "an interval has one unit: INTERVAL '1 year 2 months', or INTERVAL '26' HOUR",
                ));
            }
            let number = match interval.value.as_ref() {
                Expr::Value(value) => match &value.value {
                    Value::Number(number, _) => Some(number.clone()),
                    _ => return Ok(()),
                },
                // What `Interval` of a sign, a column or a call means is known with its value.
                _ => None,
            };
            match (number, interval.leading_field.clone()) {
                (Some(number), _) => {
                    *interval.value = Expr::Value(Value::SingleQuotedString(number).into());
                }
                (None, Some(unit)) => {
                    let value = Expr::Nested(Box::new(take(interval.value.as_mut())));
                    let unit = Expr::Value(Value::SingleQuotedString(format!(" {unit}")).into());
                    let text = ast::call("concat", vec![cast(value, DataType::Text), unit]);
                    *expr = cast(text, DataType::Interval { fields: None, precision: None });
                }
                (None, None) => {}
            }
        }
        Expr::Collate { expr, collation } => {
            let error = Raised::new(ErrorKind::NotSupported, format!("COLLATE {collation} is not supported"));
            let advice = "texts are in the order of their bytes; lower(x) leaves out the case";
            return Err(error.advise(advice).at(expr.span()).into());
        }
        Expr::Function(call) if ast::function_name(&call.name).as_deref() == Some("columns") => {
            let advice = "write the columns, or SELECT * EXCLUDE (...); SUMMARIZE has the figures of every column";
            let error = Raised::new(ErrorKind::NotSupported, "COLUMNS(...) is not supported");
            return Err(error.advise(advice).at(call.name.span()).into());
        }
        // `{'a': 1}.a`; `t.a[1]` begins with a name.
        Expr::CompoundFieldAccess { root, access_chain } if !matches!(root.as_ref(), Expr::Identifier(_)) => {
            for access in access_chain {
                match access {
                    AccessExpr::Dot(Expr::Identifier(name)) => {
                        let index = Expr::Value(Value::SingleQuotedString(ast::normalized(name)).into());
                        *access = AccessExpr::Subscript(Subscript::Index { index });
                    }
                    AccessExpr::Dot(Expr::Function(call)) => {
                        let name = &call.name;
                        return Err(Error::statement_at(
                            root.span(),
                            format!("a function takes its value in parentheses: {name}(x, ...), not x.{name}(...)"),
                        ));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Refuses what a query would leave out, or cannot know before it runs.
///
/// # Errors
/// If there is such a clause.
pub(crate) fn check_query(query: &Query) -> Result<()> {
    if let Some(lock) = query.locks.first() {
        let error = Raised::new(ErrorKind::NotSupported, format!("{lock} is not supported"));
        return Err(error.advise("a statement locks no rows, and each is a transaction of its own").into());
    }
    let limits: Vec<&Expr> = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit, offset, .. }) => {
            limit.iter().chain(offset.as_ref().map(|offset| &offset.value)).collect()
        }
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => vec![offset, limit],
        None => vec![],
    };
    for limit in limits {
        if find(limit, &|expr| matches!(expr, Expr::Subquery(_))).is_some() {
            return Err(Error::statement_at(
                limit.span(),
                "LIMIT and OFFSET take a number: QUALIFY row_number() OVER (ORDER BY ...) <= (SELECT ...) takes a query's",
            ));
        }
    }
    Ok(())
}

/// Refuses a column of UPDATE that is assigned twice, of which DataFusion takes the last.
fn check_assignments(assignments: &[Assignment]) -> Result<()> {
    let mut assigned = Vec::new();
    for Assignment { target, .. } in assignments {
        let names = match target {
            AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
            AssignmentTarget::Tuple(names) => names.as_slice(),
        };
        for name in names {
            let Some(column) = ast::name_parts(name).and_then(|mut parts| parts.pop()) else { continue };
            if assigned.contains(&column) {
                return Err(Error::statement_at(name.span(), format!("UPDATE: {column} is assigned twice")));
            }
            assigned.push(column);
        }
    }
    Ok(())
}

/// Refuses clauses of CREATE TABLE that would be left out, also where it is prepared, those of UPDATE and INSERT, and statements that DataFusion
/// only names in its tree.
///
/// # Errors
/// If there is such a clause.
pub(crate) fn check_statement(statement: &Statement) -> Result<()> {
    if let Statement::Prepare { statement, .. } = statement {
        return check_statement(statement);
    }
    let refuse = |text: &str| Err(Raised::new(ErrorKind::NotSupported, text).into());
    match statement {
        Statement::Update(update) => return check_assignments(&update.assignments),
        Statement::Insert(insert) if insert.or.is_some() || insert.replace_into => {
            return refuse("INSERT takes no OR and no REPLACE: DELETE or UPDATE the rows of the same key first");
        }
        Statement::Insert(insert) if insert.source.is_none() && insert.assignments.is_empty() => {
            return refuse("INSERT ... DEFAULT VALUES is not supported: VALUES (DEFAULT, ...), one for each column");
        }
        Statement::Merge(_) => {
            return refuse(
                "MERGE is not supported: UPDATE ... FROM changes the rows that have a partner, INSERT ... SELECT ... WHERE key \
                 NOT IN (...) adds the others",
            );
        }
        Statement::CreateIndex(_) => {
            return refuse(
                "there are no indexes: a table is scanned, but for columns and parts that a query does not need",
            );
        }
        Statement::CreateSequence { .. } => return refuse("there are no sequences: row_number() OVER () numbers rows"),
        Statement::CreateMacro { .. } | Statement::CreateFunction(_) => {
            return refuse("there are no functions of users: CREATE VIEW names a query");
        }
        Statement::CreateType { .. } => {
            return refuse("there are no types of users: write the type itself, or VARCHAR");
        }
        _ => {}
    }
    let Statement::CreateTable(CreateTable { name, columns, temporary, .. }) = statement else { return Ok(()) };
    if let Some(last) = ast::name_parts(name).and_then(|mut parts| parts.pop())
        && let Some((_, ending)) = last.rsplit_once('.')
        && FILE_ENDINGS.contains(&ending)
    {
        return Err(Error::statement_at(
            name.span(),
            format!(
                "'{last}' is the name of a file, which FROM would read instead of the table: another name, or COPY (SELECT ...) \
                 TO '{last}' for a file"
            ),
        ));
    }
    if *temporary {
        let advice = format!("CREATE TABLE memory.main.{name}, which lives as long as the engine");
        let error = Raised::new(ErrorKind::NotSupported, "there are no temporary tables");
        return Err(error.advise(advice).at(name.span()).into());
    }
    for column in columns {
        for option in &column.options {
            let reason = match &option.option {
                ColumnOption::Generated { .. } | ColumnOption::Identity(_) | ColumnOption::Alias(_) => {
                    "columns are not computed by the table: compute it in the INSERT, or in a view"
                }
                ColumnOption::Collation(_) => "texts are in the order of their bytes",
                ColumnOption::Comment(_) => "tables keep no comments",
                ColumnOption::Check(_) | ColumnOption::ForeignKey(_) => "tables check NOT NULL alone",
                ColumnOption::DialectSpecific(_)
                | ColumnOption::Materialized(_)
                | ColumnOption::Ephemeral(_)
                | ColumnOption::OnUpdate(_)
                | ColumnOption::CharacterSet(_) => "a column has a type, NOT NULL and DEFAULT",
                _ => continue,
            };
            return Err(refused(&column.name, &option.option, reason));
        }
    }
    Ok(())
}

fn refused(column: &Ident, option: &ColumnOption, reason: &str) -> Error {
    let error = Raised::new(ErrorKind::NotSupported, format!("{column}: {option} is not supported"));
    error.advise(reason).at(column.span).into()
}
