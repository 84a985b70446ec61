//! The statements: DataFusion's and those that it lacks.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{FunctionArg, Ident, ObjectName, Query};
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::syntax::tree::ast;

/// A part of a statement with its place in the text. Equal parts are equal wherever they stand, as identifiers are in
/// sqlparser.
#[derive(Debug, Clone)]
pub struct WithSpan<T> {
    /// The part.
    pub value: T,
    /// Its place; empty for a part that is not in the text.
    pub span: Span,
}

impl<T> WithSpan<T> {
    /// A part at its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

impl<T> From<T> for WithSpan<T> {
    fn from(value: T) -> Self {
        Self::new(value, Span::empty())
    }
}

impl<T> Deref for WithSpan<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for WithSpan<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for WithSpan<T> {}

/// One parsed statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// Planned and run by DataFusion, once it is rewritten.
    Sql(Box<SqlStatement>),
    /// `ATTACH [IF NOT EXISTS] 'location' [AS name] (TYPE t, option value, ...)`
    Attach(Attach),
    /// `DETACH [DATABASE] [IF EXISTS] name`
    Detach {
        /// The catalog or schema that is detached.
        name: WithSpan<String>,
        /// Whether a missing name is no error.
        if_exists: bool,
    },
    /// `CREATE [OR REPLACE] GRAPH [IF NOT EXISTS] name AS generator(...)`
    CreateGraph(CreateGraph),
    /// `CREATE [OR REPLACE] GRAPH [IF NOT EXISTS] name FROM SCHEMA schema [KEYS (...)] [WITH (option => value, ...)]`
    CreateSchemaGraph(CreateSchemaGraph),
    /// `DROP GRAPH [IF EXISTS] name`
    DropGraph {
        /// The graph: a schema, or a catalog and its schema.
        name: WithSpan<Vec<String>>,
        /// Whether a missing graph is no error.
        if_exists: bool,
    },
    /// `OPTIMIZE table`
    Optimize {
        /// The table, behind its schema and catalog.
        table: WithSpan<Vec<String>>,
    },
    /// `VACUUM [table] [RETAIN n HOURS]`
    Vacuum {
        /// The table, behind its schema and catalog; `None` for the whole database.
        table: Option<WithSpan<Vec<String>>>,
        /// The time for which files of the past stay; `None` for a week.
        retain: Option<Duration>,
    },
    /// `USE [catalog.]schema`
    Use {
        /// The schema, or a catalog and its schema.
        name: WithSpan<Vec<String>>,
    },
    /// `SUMMARIZE table | SUMMARIZE query`
    Summarize {
        /// The rows to summarize; a table `t` is `SELECT * FROM t`.
        query: Box<Query>,
    },
    /// `SET name = value` of a setting of the engine
    Set {
        /// The setting in lower case, with its prefix: `bonnet.device`.
        name: WithSpan<String>,
        /// Its value as text.
        value: String,
    },
    /// `SHOW name` of a setting of the engine
    Show {
        /// The setting in lower case, with its prefix.
        name: WithSpan<String>,
    },
    /// `RESET name`, `RESET ALL`, `SET name = DEFAULT`
    Reset {
        /// The setting in lower case, with its prefix; `None` for all settings of the engine.
        name: Option<WithSpan<String>>,
    },
}

/// `ATTACH [IF NOT EXISTS] 'location' [AS name] (TYPE t, option value, ...)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attach {
    /// Path or URL.
    pub location: String,
    /// The name it gets; without `AS`, the location's file stem made an identifier.
    pub name: WithSpan<String>,
    /// Whether a name that is taken is no error.
    pub if_not_exists: bool,
    /// `TYPE`, in lower case; without it the reader is recognised from the files.
    pub format: Option<String>,
    /// Whether `READ_ONLY` was said.
    pub read_only: bool,
    /// All other options, their names in lower case. An option without a value is `true`.
    pub options: BTreeMap<String, String>,
}

/// `CREATE [OR REPLACE] GRAPH [IF NOT EXISTS] name AS generator(...)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateGraph {
    /// The graph: a schema, or a catalog and its schema.
    pub name: WithSpan<Vec<String>>,
    /// Whether a graph of this name is replaced.
    pub or_replace: bool,
    /// Whether a graph of this name is no error.
    pub if_not_exists: bool,
    /// The call of its generator.
    pub generator: Call,
}

/// `CREATE [OR REPLACE] GRAPH [IF NOT EXISTS] name FROM SCHEMA schema [KEYS (...)] [WITH (option => value, ...)]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateSchemaGraph {
    /// The graph: a schema, or a catalog and its schema.
    pub name: WithSpan<Vec<String>>,
    /// Whether a graph of this name is replaced.
    pub or_replace: bool,
    /// Whether a graph of this name is no error.
    pub if_not_exists: bool,
    /// The schema whose tables are read.
    pub schema: WithSpan<Vec<String>>,
    /// The keys that are declared.
    pub keys: Vec<KeyClause>,
    /// Its options, all named.
    pub options: Vec<FunctionArg>,
}

/// `t(a, b)`: a primary key; `t(a, b) -> u(c, d) [AS name]`: a foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyClause {
    /// The table, and the columns that name its rows or refer.
    pub from: KeyColumns,
    /// The table that is referred to; without columns, by its primary key.
    pub to: Option<KeyColumns>,
    /// The type of the edges.
    pub name: Option<Ident>,
}

/// Columns of a table: `t.a`, `t(a, b)`, or `t` alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyColumns {
    /// The table.
    pub table: Ident,
    /// Its columns; none where the table stands alone.
    pub columns: Vec<Ident>,
}

impl fmt::Display for KeyColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.columns.as_slice() {
            [] => write!(f, "{}", self.table),
            [column] => write!(f, "{}.{column}", self.table),
            columns => {
                let columns: Vec<String> = columns.iter().map(Ident::to_string).collect();
                write!(f, "{}({})", self.table, columns.join(", "))
            }
        }
    }
}

impl fmt::Display for KeyClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.from)?;
        if let Some(to) = &self.to {
            write!(f, " -> {to}")?;
        }
        if let Some(name) = &self.name {
            write!(f, " AS {name}")?;
        }
        Ok(())
    }
}

/// A call of a function with its arguments as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The function's name.
    pub name: Ident,
    /// Its arguments, named and not.
    pub args: Vec<FunctionArg>,
}

impl Call {
    /// `SELECT * FROM call`
    pub fn to_query(&self) -> Query {
        let mut table = ast::table(ObjectName::from(vec![self.name.clone()]));
        ast::set_args(&mut table, self.args.clone());
        ast::select_all(table)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        for (i, arg) in self.args.iter().enumerate() {
            write!(f, "{}{arg}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

impl Statement {
    /// The statement's first words, as a command tag: `ATTACH`, `CREATE GRAPH`.
    pub fn tag(&self) -> &'static str {
        match self {
            Self::Sql(_) => "SQL",
            Self::Attach(_) => "ATTACH",
            Self::Detach { .. } => "DETACH",
            Self::CreateGraph(_) | Self::CreateSchemaGraph(_) => "CREATE GRAPH",
            Self::DropGraph { .. } => "DROP GRAPH",
            Self::Optimize { .. } => "OPTIMIZE",
            Self::Vacuum { .. } => "VACUUM",
            Self::Use { .. } => "USE",
            Self::Summarize { .. } => "SUMMARIZE",
            Self::Set { .. } => "SET",
            Self::Show { .. } => "SHOW",
            Self::Reset { .. } => "RESET",
        }
    }
}
