//! The keys and options of `CREATE GRAPH ... FROM SCHEMA`.

use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float32Type};
use bonnet_graph::Monitor;
use bonnet_sql::stopped;
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::sql::sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, UnaryOperator, Value};
use futures::StreamExt;

use super::source::Source;
use crate::{Database, ForeignKey, Values, WordVectors};

/// The columns of a key that are compared, at most.
const PARTS: usize = 8;

/// The most positions of hashed text.
const WIDEST_TEXT: i64 = 1 << 16;

const KNOWN: &str =
    "infer, coverage, label, weight, time, text_vectors, text_width, categories, isolated, directed, homogeneous";

/// A clause of KEYS.
#[derive(Debug, Clone)]
pub struct KeyClause {
    /// The table, and the columns that name its rows or refer.
    pub from: KeyColumns,
    /// The table that is referred to; without columns, by its primary key.
    pub to: Option<KeyColumns>,
    /// The type of the edges.
    pub name: Option<String>,
    /// The clause as it was written.
    pub text: String,
}

/// Columns of a table; none where the table stands alone.
#[derive(Debug, Clone)]
pub struct KeyColumns {
    /// The table.
    pub table: String,
    /// The columns of the key.
    pub columns: Vec<String>,
}

/// The options of the statement, with their defaults.
pub struct Options {
    keys: Vec<KeyClause>,
    schema: String,
    /// Whether foreign keys are also looked for where none is declared.
    pub(super) infer: bool,
    pub(super) coverage: f64,
    label: Option<Vec<String>>,
    pub(super) weight: Option<String>,
    pub(super) time: Option<String>,
    /// The relation that `text_vectors` names, for the statement to read.
    pub text_relation: Option<Expr>,
    pub(super) text_vectors: Option<WordVectors>,
    pub(super) text_width: u32,
    pub(super) categories: usize,
    pub(super) isolated: bool,
    /// Whether the edges are arcs.
    pub directed: bool,
    pub(super) homogeneous: bool,
}

/// Keys of KEYS by the positions of their tables and columns.
#[derive(Default)]
pub(super) struct Declared {
    pub primary: Vec<(usize, Vec<usize>)>,
    pub foreign: Vec<ForeignKey>,
}

impl Options {
    /// Reads the clauses of KEYS and the options of WITH. `schema` is the schema's name.
    ///
    /// # Errors
    /// For an option that there is not, that is given twice, or whose value is out of its range.
    pub fn new(schema: String, keys: Vec<KeyClause>, given: &[FunctionArg]) -> Result<Self> {
        let mut options = Self {
            keys,
            schema,
            infer: true,
            coverage: 0.5,
            label: None,
            weight: None,
            time: None,
            text_relation: None,
            text_vectors: None,
            text_width: 64,
            categories: 50,
            isolated: true,
            directed: false,
            homogeneous: false,
        };
        let mut names_given: Vec<String> = Vec::new();
        for option in given {
            let FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. } = option else {
                return Err(DataFusionError::Plan(format!("CREATE GRAPH: {option} is no option: write name => value")));
            };
            let name = name.value.to_lowercase();
            if names_given.contains(&name) {
                return Err(DataFusionError::Plan(format!("CREATE GRAPH: {name} is given twice")));
            }
            match name.as_str() {
                "infer" => options.infer = boolean(&name, value)?,
                "isolated" => options.isolated = boolean(&name, value)?,
                "directed" => options.directed = boolean(&name, value)?,
                "homogeneous" => options.homogeneous = boolean(&name, value)?,
                "coverage" => {
                    let share = number(value).filter(|share| *share > 0.0 && *share <= 1.0);
                    options.coverage = share.ok_or_else(|| wrong(&name, value, "a number above 0 and at most 1"))?;
                }
                "text_width" => {
                    let width = whole(value).filter(|width| (1..=WIDEST_TEXT).contains(width));
                    let width = width.ok_or_else(|| wrong(&name, value, "a whole number from 1 to 65536"))?;
                    options.text_width = width as u32;
                }
                "categories" => {
                    let most = whole(value).filter(|most| *most >= 0);
                    let most = most.ok_or_else(|| wrong(&name, value, "a whole number of at least 0"))?;
                    options.categories = most as usize;
                }
                "weight" => {
                    let column = names(value).filter(|parts| parts.len() == 1).and_then(|mut parts| parts.pop());
                    options.weight = Some(column.ok_or_else(|| wrong(&name, value, "the name of a column"))?);
                }
                "time" => {
                    let column = names(value).filter(|parts| parts.len() == 1).and_then(|mut parts| parts.pop());
                    options.time = Some(column.ok_or_else(|| wrong(&name, value, "the name of a column"))?);
                }
                "label" => {
                    let column = names(value).filter(|parts| parts.len() == 2);
                    options.label = Some(column.ok_or_else(|| wrong(&name, value, "a column as 'table.column'"))?);
                }
                "text_vectors" => options.text_relation = Some(value.clone()),
                _ => {
                    return Err(DataFusionError::Plan(format!(
                        "CREATE GRAPH: there is no option {name}; there are: {KNOWN}"
                    )));
                }
            }
            names_given.push(name);
        }
        Ok(options)
    }

    /// The error for an option `text_vectors` that names no relation.
    pub fn no_text_relation(value: &Expr) -> DataFusionError {
        wrong("text_vectors", value, "a relation with the columns word TEXT and vector FLOAT[]")
    }

    /// Reads the rows of the relation that `text_vectors` names.
    ///
    /// # Errors
    /// If it lacks a column, has no rows, or a vector holds a NULL.
    pub async fn read_text_vectors(&mut self, rows: SendableRecordBatchStream, monitor: &dyn Monitor) -> Result<()> {
        if let Some(value) = &self.text_relation {
            self.text_vectors = Some(read_vectors(rows, value, monitor).await?);
        }
        Ok(())
    }

    /// The keys of KEYS, looked up in the tables. Columns of foreign keys that name only a table are still empty.
    pub(super) fn declared(&self, database: &Database) -> Result<Declared> {
        let mut declared = Declared::default();
        for clause in &self.keys {
            let (from, columns) = self.columns(database, &clause.from, clause)?;
            let Some(to) = &clause.to else {
                declared.primary.push((from, columns));
                continue;
            };
            let (to, to_columns) = self.columns(database, to, clause)?;
            let name = clause.name.clone();
            let key = ForeignKey { columns, to_columns, name, declared: true, ..ForeignKey::new(from, to) };
            if !key.to_columns.is_empty() {
                check_arity(database, &key)?;
            }
            declared.foreign.push(key);
        }
        Ok(declared)
    }

    fn columns(&self, database: &Database, found: &KeyColumns, clause: &KeyClause) -> Result<(usize, Vec<usize>)> {
        let unknown = |what: &str, name: &str, place: &str, known: Vec<&str>| {
            DataFusionError::Plan(format!(
                "CREATE GRAPH: KEYS ({}): there is no {what} {name} in {place}; there are: {}",
                clause.text,
                known.join(", ")
            ))
        };
        let tables = || database.tables.iter().map(|table| table.name.as_str()).collect();
        let table = database
            .table(&found.table)
            .ok_or_else(|| unknown("table", &found.table, &format!("the schema {}", self.schema), tables()))?;
        let all = &database.tables[table];
        let columns = found.columns.iter().map(|column| {
            let known = || all.columns.iter().map(|column| column.name.as_str()).collect();
            all.column(column).ok_or_else(|| unknown("column", column, &all.name, known()))
        });
        Ok((table, columns.collect::<Result<Vec<_>>>()?))
    }

    /// The table and the column of the label.
    pub(super) fn label(&self, database: &Database) -> Result<Option<(usize, usize)>> {
        let Some(parts) = &self.label else { return Ok(None) };
        let table = database.table(&parts[0]);
        let column = table.and_then(|table| Some((table, database.tables[table].column(&parts[1])?)));
        column.map(Some).ok_or_else(|| {
            let known = match table {
                Some(table) => database.tables[table].columns.iter().map(|column| column.name.as_str()).collect(),
                None => database.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(),
            };
            let known = known.join(", ");
            DataFusionError::Plan(format!(
                "CREATE GRAPH: label => '{}': there is no such column; there are: {known}",
                parts.join(".")
            ))
        })
    }

    /// For each table, its column of weights.
    pub(super) fn weight(&self, database: &Database) -> Result<Vec<Option<usize>>> {
        let Some(name) = &self.weight else { return Ok(vec![None; database.tables.len()]) };
        let found: Vec<Option<usize>> = database.tables.iter().map(|table| table.column(name)).collect();
        if found.iter().all(Option::is_none) {
            return Err(DataFusionError::Plan(format!(
                "CREATE GRAPH: weight => '{name}': no table has a column of this name"
            )));
        }
        for (table, column) in database.tables.iter().zip(&found) {
            if let Some(column) = column
                && matches!(table.columns[*column].values, Values::Texts(_))
            {
                let table = &table.name;
                return Err(DataFusionError::Plan(format!(
                    "CREATE GRAPH: weight => '{name}': {table}.{name} holds texts, no numbers"
                )));
            }
        }
        Ok(found)
    }
}

/// The column of each table that holds the times of its rows, and whether these are dates and timestamps; whole numbers else.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    pub columns: Vec<Option<usize>>,
    pub dates: bool,
}

impl Options {
    /// For each table, its column of times; none without the option.
    pub(super) fn times(&self, source: &Source) -> Result<Option<Times>> {
        let (Some(name), tables) = (&self.time, &source.database.tables) else { return Ok(None) };
        let columns: Vec<Option<usize>> = tables.iter().map(|table| table.column(name)).collect();
        if columns.iter().all(Option::is_none) {
            return Err(DataFusionError::Plan(format!(
                "CREATE GRAPH: time => '{name}': no table has a column of this name"
            )));
        }
        let mut dates = Vec::new();
        for (table, column) in columns.iter().enumerate().filter_map(|(table, column)| Some((table, (*column)?))) {
            let is_date = source.dates[table][column];
            if !is_date && !matches!(tables[table].columns[column].values, Values::Integers(_)) {
                let table = &tables[table].name;
                return Err(DataFusionError::Plan(format!(
                    "CREATE GRAPH: time => '{name}': {table}.{name} holds neither dates, timestamps nor whole numbers: CAST it in \
                     a view"
                )));
            }
            dates.push(is_date);
        }
        if dates.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(DataFusionError::Plan(format!(
                "CREATE GRAPH: time => '{name}': it is a date or a timestamp in some tables, and a whole number in others"
            )));
        }
        Ok(Some(Times { columns, dates: dates.first().copied().unwrap_or_default() }))
    }
}

/// Fails unless as many columns refer as are referred to, or one is compared with several.
pub(super) fn check_arity(database: &Database, key: &ForeignKey) -> Result<()> {
    let (here, there) = (key.columns.len(), key.to_columns.len());
    let text = format!(
        "{} -> {}",
        database.describe(key.from, &key.columns),
        if there == 0 { database.tables[key.to].name.clone() } else { database.describe(key.to, &key.to_columns) }
    );
    if there == 0 {
        return Err(DataFusionError::Plan(format!(
            "CREATE GRAPH: KEYS ({text}): no primary key of {} is known: name the columns that are referred to",
            database.tables[key.to].name
        )));
    }
    if here != there && here != 1 {
        return Err(DataFusionError::Plan(format!("CREATE GRAPH: KEYS ({text}): {here} columns refer to {there}")));
    }
    if here > PARTS {
        return Err(DataFusionError::Plan(format!("CREATE GRAPH: KEYS ({text}): a key has at most {PARTS} columns")));
    }
    Ok(())
}

fn wrong(name: &str, value: &Expr, expected: &str) -> DataFusionError {
    DataFusionError::Plan(format!("CREATE GRAPH: {name} => {value}: expected {expected}"))
}

fn boolean(name: &str, value: &Expr) -> Result<bool> {
    match value {
        Expr::Value(found) => match found.value {
            Value::Boolean(found) => Ok(found),
            _ => Err(wrong(name, value, "true or false")),
        },
        _ => Err(wrong(name, value, "true or false")),
    }
}

fn number(value: &Expr) -> Option<f64> {
    match value {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => number(expr).map(|value| -value),
        _ => None,
    }
}

fn whole(value: &Expr) -> Option<i64> {
    number(value).filter(|value| value.fract() == 0.0 && value.abs() < 1e15).map(|value| value as i64)
}

/// The parts of a name: `a`, `a.b`, `'a.b'`.
fn names(value: &Expr) -> Option<Vec<String>> {
    match value {
        Expr::Identifier(name) => Some(vec![name.value.clone()]),
        Expr::CompoundIdentifier(names) => Some(names.iter().map(|name| name.value.clone()).collect()),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(match text.split_once('.') {
                Some((table, column)) => vec![table.to_owned(), column.to_owned()],
                None => vec![text.clone()],
            }),
            _ => None,
        },
        _ => None,
    }
}

async fn read_vectors(mut rows: SendableRecordBatchStream, value: &Expr, monitor: &dyn Monitor) -> Result<WordVectors> {
    let list = DataType::LargeList(Arc::new(Field::new("item", DataType::Float32, true)));
    let schema = rows.schema();
    let has = schema.fields().iter().map(|field| format!("{} {}", field.name(), field.data_type())).collect::<Vec<_>>();
    let lacks = |what: &str| {
        DataFusionError::Plan(format!(
            "CREATE GRAPH: text_vectors => {value}: {what}; it takes word TEXT and vector FLOAT[], and this has: {}",
            has.join(", ")
        ))
    };
    let mut found: Vec<(String, Vec<f32>)> = Vec::new();
    while let Some(batch) = rows.next().await.transpose()? {
        let (Some(word), Some(vector)) = (batch.column_by_name("word"), batch.column_by_name("vector")) else {
            return Err(lacks("it lacks a column"));
        };
        let word = cast(word, &DataType::Utf8).map_err(|_| lacks("word is no text"))?;
        let vector = cast(vector, &list).map_err(|_| lacks("vector is no list of numbers"))?;
        monitor.reserve(word.get_buffer_memory_size() + 2 * vector.get_buffer_memory_size()).map_err(stopped)?;
        let vector = vector.as_list::<i64>();
        for (row, word) in word.as_string::<i32>().iter().enumerate() {
            let Some(word) = word.filter(|_| vector.is_valid(row)) else { continue };
            let numbers = vector.value(row);
            let numbers = numbers.as_primitive::<Float32Type>();
            if numbers.null_count() > 0 {
                return Err(lacks(&format!("the vector of '{word}' holds a NULL")));
            }
            found.push((word.to_owned(), numbers.values().to_vec()));
        }
    }
    if schema.column_with_name("word").is_none() || schema.column_with_name("vector").is_none() {
        return Err(lacks("it lacks a column"));
    }
    if found.is_empty() {
        return Err(lacks("it has no rows"));
    }
    // Rows come in any order: the same relation has to give the same vectors.
    found.sort_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| a.1.iter().map(|value| value.to_bits()).cmp(b.1.iter().map(|value| value.to_bits())))
    });
    let words = found.iter().map(|(word, vector)| (word.as_str(), vector.clone()));
    WordVectors::new(words).map_err(|what| lacks(&what))
}
