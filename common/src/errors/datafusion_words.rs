//! The words of DataFusion, Arrow and Delta that we read: what kind of error they mean, and what we say instead. Tests make
//! plain DataFusion say each of them, and fail once it words something in another way.

use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, SchemaError};

use crate::ErrorKind;

/// The type of the error that says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Plan,
    Execution,
    Configuration,
    NotImplemented,
    /// Arrow's errors of kernels and of their arguments.
    Kernel,
    /// The name of a rule of the optimizer that failed.
    Rule,
}

/// What says something else in place of a text.
type Translate = fn(&str) -> Option<String>;

struct Phrase {
    of: Of,
    /// Parts of the text, in their order.
    signs: &'static [&'static str],
    kind: ErrorKind,
    translate: Option<Translate>,
}

const fn phrase(of: Of, signs: &'static [&'static str], kind: ErrorKind) -> Phrase {
    Phrase { of, signs, kind, translate: None }
}

const fn translated_phrase(of: Of, signs: &'static [&'static str], kind: ErrorKind, translate: Translate) -> Phrase {
    Phrase { of, signs, kind, translate: Some(translate) }
}

/// The phrases; the first that a text has counts.
const PHRASES: &[Phrase] = &[
    translated_phrase(Of::Rule, &["Optimizer rule 'scalar_subquery_to_join'"], ErrorKind::NotSupported, correlated),
    translated_phrase(Of::NotImplemented, &[UNPLANNED], ErrorKind::NotSupported, unplanned),
    translated_phrase(Of::NotImplemented, &[UNSLIDING], ErrorKind::NotSupported, unsliding),
    translated_phrase(Of::Plan, &[", got Column("], ErrorKind::Statement, argument_of_from),
    translated_phrase(Of::Plan, &[", got OuterReferenceColumn("], ErrorKind::Statement, argument_of_from),
    translated_phrase(Of::Plan, &[COERCION], ErrorKind::Statement, own_words),
    translated_phrase(Of::Plan, &[SIGNATURES, NO_FUNCTION], ErrorKind::Statement, signatures),
    translated_phrase(Of::Plan, &[" to the signature ", NO_FUNCTION], ErrorKind::Statement, signatures),
    phrase(Of::Plan, &["table function '", "' not found"], ErrorKind::UnknownFunction),
    phrase(Of::Plan, &["table '", "' not found"], ErrorKind::UnknownTable),
    phrase(Of::Plan, &["Invalid function '"], ErrorKind::UnknownFunction),
    phrase(Of::Execution, &["Table '", "' doesn't exist"], ErrorKind::UnknownTable),
    phrase(Of::Execution, &["View '", "' doesn't exist"], ErrorKind::UnknownTable),
    phrase(Of::Execution, &["Schema '", "' doesn't exist"], ErrorKind::UnknownSchema),
    phrase(Of::Configuration, &["Config value \"", "\" not found"], ErrorKind::UnknownSetting),
    phrase(Of::Configuration, &["ould not find config"], ErrorKind::UnknownSetting),
    phrase(Of::Execution, &["Table '", "' already exists"], ErrorKind::AlreadyExists),
    phrase(Of::Execution, &["External table '", "' already exists"], ErrorKind::AlreadyExists),
    phrase(Of::Execution, &["Schema '", "' already exists"], ErrorKind::AlreadyExists),
    phrase(Of::Execution, &["Catalog '", "' already exists"], ErrorKind::AlreadyExists),
    phrase(Of::Execution, &["The table ", " already exists"], ErrorKind::AlreadyExists),
    phrase(Of::Execution, &["Prepared statement '", "' already exists"], ErrorKind::AlreadyExists),
    // Delta keeps the words alone.
    phrase(Of::Execution, &["Resources exhausted: "], ErrorKind::Memory),
    phrase(Of::Execution, &[INVALID_COLUMN], ErrorKind::MissingValue),
    phrase(Of::Kernel, &[NON_NULLABLE], ErrorKind::MissingValue),
    phrase(Of::Execution, &["verflow"], ErrorKind::OutOfRange),
    phrase(Of::Kernel, &["verflow"], ErrorKind::OutOfRange),
    phrase(Of::Kernel, &["is too large to store in a Decimal"], ErrorKind::OutOfRange),
    phrase(Of::Execution, &["out of range"], ErrorKind::OutOfRange),
    phrase(Of::Kernel, &["out of range"], ErrorKind::OutOfRange),
    phrase(Of::Plan, &["out of range"], ErrorKind::OutOfRange),
    phrase(Of::Plan, &["Cannot cast"], ErrorKind::Cast),
    phrase(Of::Execution, &["Cannot cast"], ErrorKind::Cast),
    phrase(Of::Plan, &["not supported"], ErrorKind::NotSupported),
    phrase(Of::Execution, &["not supported"], ErrorKind::NotSupported),
];

/// The kind that the words of an error mean; those of what it wraps are another's.
pub(super) fn kind(error: &DataFusionError) -> Option<ErrorKind> {
    Some(found(error)?.1.kind)
}

/// What we say in place of the words of an error.
pub(super) fn translated(error: &DataFusionError) -> Option<String> {
    let (text, phrase) = found(error)?;
    phrase.translate?(text)
}

fn found(error: &DataFusionError) -> Option<(&str, &'static Phrase)> {
    let (of, text) = words(error)?;
    let phrase = PHRASES.iter().find(|phrase| phrase.of == of && has(text, phrase.signs))?;
    Some((text, phrase))
}

/// The words of an error itself, without those of what it wraps.
fn words(error: &DataFusionError) -> Option<(Of, &str)> {
    Some(match error {
        DataFusionError::Plan(text) => (Of::Plan, text),
        DataFusionError::Execution(text) => (Of::Execution, text),
        DataFusionError::Configuration(text) => (Of::Configuration, text),
        DataFusionError::NotImplemented(text) => (Of::NotImplemented, text),
        DataFusionError::Context(rule, _) => (Of::Rule, rule),
        DataFusionError::ArrowError(error, _) => match error.as_ref() {
            ArrowError::ComputeError(text) | ArrowError::InvalidArgumentError(text) => (Of::Kernel, text),
            _ => return None,
        },
        _ => return None,
    })
}

/// Whether a text has these parts, in their order.
fn has(text: &str, signs: &[&str]) -> bool {
    let mut rest = Some(text);
    for sign in signs {
        rest = rest.and_then(|rest| rest.split_once(sign)).map(|(_, behind)| behind);
    }
    rest.is_some()
}

const CORRELATED: &str = "a subquery reads columns of the query around it in a way that cannot be planned: compare them \
                          with = in its WHERE, or join its tables and GROUP BY";

/// The error of a subquery that DataFusion cannot turn into a join.
fn correlated(_: &str) -> Option<String> {
    Some(CORRELATED.to_owned())
}

/// The error of a subquery in ON that reads columns of the side whose rows the join keeps.
pub(super) const CORRELATED_ON: &str = "EXISTS or IN (SELECT ...) in the ON of an outer join reads a column of the side whose \
                                        rows are kept, which cannot be planned: compute it before, FROM (SELECT *, EXISTS \
                                        (...) AS found FROM a) AS a LEFT JOIN b ON found AND ...";

/// Whether an unknown column is one that DataFusion's rewriting of such a subquery looks for.
pub(super) fn is_of_correlated_join(error: &SchemaError) -> bool {
    let SchemaError::FieldNotFound { valid_fields, .. } = error else { return false };
    valid_fields.iter().any(|field| field.flat_name().starts_with("__correlated_sq"))
}

const UNPLANNED: &str = "Physical plan does not support logical expression ";

/// The error of an expression that DataFusion prints as a structure of its own.
fn unplanned(text: &str) -> Option<String> {
    let (_, expression) = text.split_once(UNPLANNED)?;
    let kind = expression.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    Some(match kind {
        "ScalarSubquery" | "InSubquery" | "Exists" | "OuterReferenceColumn" => CORRELATED.to_owned(),
        "WindowFunction" => {
            "a window function stands where rows are not there yet: compute it in a subquery, FROM (SELECT \
                             *, f(...) OVER (...) AS value FROM ...), and read its column"
                .to_owned()
        }
        kind => format!("an expression of the kind {kind} stands where it cannot be planned: compute it in a subquery"),
    })
}

const UNSLIDING: &str =
    "Aggregate can not be used as a sliding accumulator because `retract_batch` is not implemented: ";

/// The error of an aggregate that cannot take rows back.
fn unsliding(text: &str) -> Option<String> {
    let (_, call) = text.split_once(UNSLIDING)?;
    let function = call.split('(').next().unwrap_or_default();
    Some(format!(
        "{function} OVER a frame that rows leave again is not supported: let the frame begin at UNBOUNDED PRECEDING, or \
         join the rows with those of their frame and GROUP BY"
    ))
}

/// The error of a column as an argument of a function in FROM.
fn argument_of_from(_: &str) -> Option<String> {
    Some(
        "a function in FROM takes constants, not columns of the tables beside it: unnest(range(...)) in a select list has \
         a value for each row"
            .to_owned(),
    )
}

const COERCION: &str = "user-defined coercion failed with: Error during planning: ";
const SIGNATURES: &str = "failed to match any signature, errors: ";
const NO_FUNCTION: &str = "No function matches the given name";

/// A function's own error about its arguments, without DataFusion's words around it.
fn own_words(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(COERCION)?;
    Some(rest.split_once(NO_FUNCTION).map_or(rest, |(own, _)| own.trim_end_matches(' ')).to_owned())
}

/// Where a function has several signatures, those that there are, without what each of them lacks.
fn signatures(text: &str) -> Option<String> {
    Some(text[text.find(NO_FUNCTION)?..].to_owned())
}

const INVALID_COLUMN: &str = "Invalid batch column at '";
const NON_NULLABLE: &str = "' is declared as non-nullable but contains null values";

/// A column that takes no NULL and got one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NullColumn {
    /// By its place among the columns of the table.
    Place(usize),
    /// By its name among the columns of the rows.
    Name(String),
}

/// The column that takes no NULL, where an error of DataFusion is that it got one.
pub fn null_column(error: &DataFusionError) -> Option<NullColumn> {
    let text = error.strip_backtrace();
    if let Some((_, rest)) = text.split_once(INVALID_COLUMN) {
        return Some(NullColumn::Place(rest.split_once('\'')?.0.parse().ok()?));
    }
    let (found, _) = text.split_once(NON_NULLABLE)?;
    Some(NullColumn::Name(found.rsplit_once('\'')?.1.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use arrow::compute::CastOptions;
    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::ScalarValue;
    use datafusion::common::nested_struct::cast_column;
    use datafusion::prelude::{SessionConfig, SessionContext};

    use super::*;
    use crate::Error;
    use crate::errors::causes::causes;

    /// Statements that make plain DataFusion say a phrase.
    const SAID_BY: &[(&[&str], &[&str])] = &[
        (
            &["Optimizer rule 'scalar_subquery_to_join'"],
            &[
                "SELECT (SELECT count(*) FROM (SELECT count(*) FROM u WHERE b = a HAVING count(*) > 0) x HAVING count(*) > 0) FROM t",
            ],
        ),
        (
            &[UNPLANNED],
            &[
                "SELECT (SELECT sum(b) FROM u WHERE b > a) FROM t",
                "SELECT EXISTS (SELECT 1 FROM u WHERE b < a) FROM t",
                "SELECT a FROM t WHERE a IN (SELECT b FROM u WHERE b < a LIMIT 1)",
                "SELECT a FROM t WHERE row_number() OVER () = 1",
            ],
        ),
        (
            &[UNSLIDING],
            &["SELECT string_agg(a::VARCHAR, ',') OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t"],
        ),
        (&[", got Column("], &["SELECT * FROM t, generate_series(1, t.a)", "SELECT * FROM generate_series(1, a)"]),
        (&[", got OuterReferenceColumn("], &["SELECT (SELECT max(value) FROM generate_series(1, t.a)) FROM t"]),
        (&[COERCION], &["SELECT concat()", "SELECT make_array(1, [2])"]),
        (&[SIGNATURES, NO_FUNCTION], &["SELECT sum(true)", "SELECT sum('a', 'b')"]),
        (&[" to the signature ", NO_FUNCTION], &["SELECT ntile('a') OVER ()", "SELECT cardinality(1)"]),
        (&["table function '", "' not found"], &["SELECT * FROM nothing(1)"]),
        (&["table '", "' not found"], &["SELECT * FROM nothing", "SELECT * FROM no.thing"]),
        (&["Invalid function '"], &["SELECT nothing(1)"]),
        (&["Table '", "' doesn't exist"], &["DROP TABLE nothing"]),
        (&["View '", "' doesn't exist"], &["DROP VIEW nothing"]),
        (&["Schema '", "' doesn't exist"], &["DROP SCHEMA nothing"]),
        (&["Config value \"", "\" not found"], &["SET datafusion.nothing = 1"]),
        (&["ould not find config"], &["RESET datafusion.nothing", "RESET nothing.x"]),
        (&["Table '", "' already exists"], &["CREATE TABLE t AS SELECT 1", "CREATE VIEW t AS SELECT 1"]),
        (&["External table '", "' already exists"], &["CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'x.csv'"]),
        (&["Schema '", "' already exists"], &["CREATE SCHEMA public"]),
        (&["Catalog '", "' already exists"], &["CREATE DATABASE datafusion"]),
        (&["Prepared statement '", "' already exists"], &["PREPARE p AS SELECT 1"]),
        (&[INVALID_COLUMN], &["INSERT INTO t SELECT NULL"]),
        (
            &["verflow"],
            &[
                "SELECT factorial(a + 20) FROM t",
                "SELECT repeat('xxxxxxxx', a * 1000000000000) FROM t",
                "SELECT abs(-9223372036854775807 - a) FROM t",
                "SELECT lcm(9223372036854775807, a + 1) FROM t",
                "SELECT DATE '2024-01-01' + INTERVAL '1000000 years'",
            ],
        ),
        (&["is too large to store in a Decimal"], &["SELECT (a + 9)::DECIMAL(3, 2) FROM t"]),
        (
            &["out of range"],
            &[
                "SELECT make_date(2024, (12 + a)::INT, 1) FROM t",
                "SELECT TIMESTAMP '2024-01-01' + INTERVAL '1000 years'",
                "SELECT * FROM generate_series(DATE '9999-01-01', DATE '9999-01-02', INTERVAL '1 day')",
            ],
        ),
        (
            &["not supported"],
            &[
                "INSERT INTO t(a) VALUES (1) RETURNING a",
                "EXPLAIN EXPLAIN SELECT 1",
                "DELETE FROM t USING u",
                "SELECT date_part('nothing', now())",
            ],
        ),
    ];

    async fn plain() -> SessionContext {
        let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        for statement in [
            "CREATE TABLE t AS SELECT column1 AS a FROM (VALUES (1), (2))",
            "CREATE TABLE u AS SELECT a AS b FROM t",
            "PREPARE p AS SELECT 1",
        ] {
            context.sql(statement).await.unwrap().collect().await.unwrap();
        }
        context
    }

    async fn error_of(context: &SessionContext, statement: &str) -> DataFusionError {
        match context.sql(statement).await {
            Ok(rows) => rows.collect().await.expect_err(statement),
            Err(error) => error,
        }
    }

    /// What no statement makes DataFusion say, but programs, files and Delta.
    async fn said_elsewhere(context: &SessionContext) -> Vec<(&'static [&'static str], DataFusionError)> {
        let integers: ArrayRef = Arc::new(Int64Array::from(vec![None, Some(1)]));
        let schema = context.catalog("datafusion").unwrap().schema("public").unwrap();
        let again = schema.register_table("t".to_owned(), schema.table("t").await.unwrap().unwrap());
        let fields = [Field::new("x", DataType::Int64, false)];
        let filled = RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), vec![Arc::clone(&integers)]);
        let to_struct = DataType::Struct(fields.to_vec().into());
        let exhausted = DataFusionError::ResourcesExhausted("much".to_owned());
        let day = ScalarValue::Date32(Some(i32::MAX))
            .cast_to(&DataType::Timestamp(arrow::datatypes::TimeUnit::Nanosecond, None));
        vec![
            (&["The table ", " already exists"], again.unwrap_err()),
            (&[NON_NULLABLE], filled.unwrap_err().into()),
            (&["Cannot cast"], cast_column(&integers, &to_struct, &CastOptions::default()).unwrap_err()),
            (&["Cannot cast"], day.unwrap_err()),
            (&["Resources exhausted: "], DataFusionError::Execution(exhausted.to_string())),
        ]
    }

    /// The phrase that counts for an error or what it wraps.
    fn phrase_of(error: &DataFusionError) -> Option<&'static Phrase> {
        let mut errors = causes(error).filter_map(<dyn std::error::Error>::downcast_ref);
        errors.find_map(|error| found(error).map(|(_, phrase)| phrase))
    }

    #[tokio::test]
    async fn plain_datafusion_says_every_phrase() {
        let context = plain().await;
        let mut said = Vec::new();
        for (signs, statements) in SAID_BY {
            for statement in *statements {
                said.push((*signs, error_of(&context, statement).await, *statement));
            }
        }
        said.extend(said_elsewhere(&context).await.into_iter().map(|(signs, error)| (signs, error, "a program")));
        let mut unsaid: Vec<(Of, &[&str])> = PHRASES.iter().map(|phrase| (phrase.of, phrase.signs)).collect();
        for (signs, error, statement) in said {
            let phrase = phrase_of(&error)
                .unwrap_or_else(|| panic!("{statement}: DataFusion words it in another way: {error:?}"));
            assert_eq!(phrase.signs, signs, "{statement}: {error}");
            assert_eq!(Error::from(error).kind(), phrase.kind, "{statement}");
            unsaid.retain(|(of, signs)| (*of, *signs) != (phrase.of, phrase.signs));
        }
        assert!(unsaid.is_empty(), "no statement makes DataFusion say {unsaid:?}");
    }

    #[tokio::test]
    async fn what_datafusion_says_of_its_structures_is_said_in_words() {
        let context = plain().await;
        for (statement, expected) in [
            ("SELECT (SELECT sum(b) FROM u WHERE b > a) FROM t", "a subquery reads columns of the query around it"),
            ("SELECT a FROM t WHERE row_number() OVER () = 1", "a window function stands where rows are not there yet"),
            (
                "SELECT string_agg(a::VARCHAR, ',') OVER (ORDER BY a ROWS 1 PRECEDING) FROM t",
                "string_agg OVER a frame that rows leave again is not supported: let the frame begin",
            ),
            ("SELECT * FROM t, generate_series(1, t.a)", "a function in FROM takes constants, not columns"),
            ("SELECT concat()", "concat does not support zero arguments."),
            ("SELECT sum(true)", "No function matches the given name and argument types 'sum(BOOLEAN)'."),
            ("SELECT ntile('a') OVER ()", "No function matches the given name and argument types 'ntile(VARCHAR)'."),
        ] {
            let text = Error::from(error_of(&context, statement).await).to_string();
            assert!(text.starts_with(expected), "{statement}: {text}");
        }
    }

    #[tokio::test]
    async fn the_column_that_takes_no_null_is_known() {
        let context = plain().await;
        assert_eq!(null_column(&error_of(&context, "INSERT INTO t SELECT NULL").await), Some(NullColumn::Place(0)));
        for (_, error) in said_elsewhere(&context).await {
            let expected =
                (phrase_of(&error).unwrap().signs == [NON_NULLABLE]).then(|| NullColumn::Name("x".to_owned()));
            assert_eq!(null_column(&error), expected, "{error}");
        }
    }

    /// What makes an error of a type whose words the table reads.
    const MAKERS: &[(&str, Of)] = &[
        ("plan_err!(", Of::Plan),
        ("plan_datafusion_err!(", Of::Plan),
        ("usage_error(", Of::Plan),
        ("DataFusionError::Plan(", Of::Plan),
        ("exec_err!(", Of::Execution),
        ("exec_datafusion_err!(", Of::Execution),
        ("execution_error(", Of::Execution),
        ("DataFusionError::Execution(", Of::Execution),
        ("DataFusionError::Configuration(", Of::Configuration),
        ("ArrowError::ComputeError(", Of::Kernel),
        ("ArrowError::InvalidArgumentError(", Of::Kernel),
    ];

    /// The sources of the repository below a folder, without tests.
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                true if name.starts_with('.')
                    || ["target", "tests", "benches", "examples"].contains(&name.as_str()) => {}
                true => sources(&path, found),
                false if name.ends_with(".rs") => found.push(path),
                false => {}
            }
        }
    }

    /// A call, from its name to the end of its arguments.
    fn call(text: &str) -> &str {
        let mut depth = 0;
        for (at, c) in text.char_indices() {
            depth += i32::from(c == '(') - i32::from(c == ')');
            if c == ')' && depth == 0 {
                return &text[..at];
            }
        }
        text
    }

    #[test]
    fn no_error_of_ours_has_its_kind_from_its_words() {
        let mut files = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
        assert!(files.len() > 500, "{}", files.len());
        let mut calls = 0;
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            // Strings that go on in the next line.
            let text: String = text.split("\\\n").map(|part| part.trim_start_matches(' ')).collect();
            for (maker, of) in MAKERS {
                for (at, _) in text.match_indices(maker) {
                    let call = call(&text[at..]);
                    calls += 1;
                    let of_datafusion = PHRASES.iter().find(|phrase| phrase.of == *of && has(call, phrase.signs));
                    let signs = of_datafusion.map(|phrase| phrase.signs);
                    assert_eq!(signs, None, "{}: name the kind, raise!(...): {call}", file.display());
                }
            }
        }
        assert!(calls > 300, "{calls}");
    }
}
