//! `COPY t FROM 'file'`: the columns of the file by their names, where it has names.

use std::sync::Arc;

use arrow::datatypes::Schema;
use bonnet_dialect::syntax::tokens::COPIED_FILE;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{DmlStatement, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, WriteOp};
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::planner::object_name_to_table_reference;
use datafusion::sql::sqlparser::ast::{
    Insert, ObjectName, Query, SetExpr, Spanned, Statement, TableFactor, TableObject,
};

use crate::{Error, Result, Session};
use bonnet_dialect::syntax::tree::ast as syntax;

/// How the columns of a file are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// By the names that a first line may give them, and in an order.
    Csv,
    /// By their names alone.
    Json,
    /// By their names and in an order.
    Other,
}

/// A COPY FROM as it is parsed: an INSERT of all rows of a file.
pub(super) struct CopyFrom {
    table: ObjectName,
    /// The columns that the statement lists.
    columns: Vec<ObjectName>,
    pub(super) query: Query,
    format: Format,
}

impl CopyFrom {
    /// The COPY FROM that a statement is.
    pub(super) fn of(statement: &SqlStatement) -> Option<Self> {
        let SqlStatement::Statement(statement) = statement else { return None };
        let Statement::Insert(Insert { table: TableObject::TableName(table), columns, source: Some(query), .. }) =
            statement.as_ref()
        else {
            return None;
        };
        let SetExpr::Select(select) = query.body.as_ref() else { return None };
        let [from] = select.from.as_slice() else { return None };
        let TableFactor::Table { name, alias: Some(alias), .. } = &from.relation else { return None };
        (alias.name.value == COPIED_FILE).then(|| Self {
            table: table.clone(),
            columns: columns.clone(),
            query: query.as_ref().clone(),
            format: match syntax::function_name(name).as_deref() {
                Some("read_csv") => Format::Csv,
                Some("read_json" | "read_ndjson") => Format::Json,
                _ => Format::Other,
            },
        })
    }

    /// The plan of the INSERT, of the plan of its query.
    ///
    /// # Errors
    /// If a column of the file is none of the table's, or it is not clear which.
    pub(super) async fn plan(&self, session: &Session, file: LogicalPlan) -> Result<LogicalPlan> {
        let refuse = |text: String| Err(Error::statement_at(self.table.span(), text));
        let reference = object_name_to_table_reference(self.table.clone(), true)?;
        let table = session.context.table_provider(reference.clone()).await?;
        let schema = table.schema();
        let mut targets: Vec<usize> = Vec::new();
        for column in &self.columns {
            let name = column.0.iter().filter_map(|part| part.as_ident()).map(syntax::normalized).collect::<String>();
            match schema.index_of(&name) {
                Ok(place) if targets.contains(&place) => {
                    return refuse(format!("{}: {name} is listed twice", self.table));
                }
                Ok(place) => targets.push(place),
                Err(_) => return refuse(format!("{} has no column {name}; {}", self.table, known(&schema))),
            }
        }
        if targets.is_empty() {
            targets = (0..schema.fields().len()).collect();
        }
        let names: Vec<&str> = file.schema().fields().iter().map(|field| field.name().as_str()).collect();
        let sources = match self.sources(&names, &targets, &schema) {
            Ok(sources) => sources,
            Err(text) => return refuse(text),
        };
        let values = schema.fields().iter().enumerate().map(|(place, field)| {
            let given = targets.iter().position(|target| *target == place).and_then(|at| sources[at]);
            let value = match given {
                Some(source) => {
                    let column = Column::from(file.schema().qualified_field(source));
                    Expr::Column(column).cast_to(field.data_type(), file.schema())?
                }
                None => {
                    let default = table.get_column_default(field.name()).cloned();
                    let default = default.unwrap_or(Expr::Literal(ScalarValue::Null, None));
                    default.cast_to(field.data_type(), &DFSchema::empty())?
                }
            };
            Ok::<_, Error>(value.alias(field.name()))
        });
        let values = values.collect::<Result<Vec<Expr>>>()?;
        let rows = LogicalPlanBuilder::from(file).project(values)?.build()?;
        let insert = WriteOp::Insert(InsertOp::Append);
        let table = provider_as_source(Arc::clone(&table));
        Ok(LogicalPlan::Dml(DmlStatement::new(reference, table, insert, Arc::new(rows))))
    }

    /// For each of the table's columns that get values, the file's column that they come from.
    fn sources(&self, names: &[&str], targets: &[usize], schema: &Schema) -> Result<Vec<Option<usize>>, String> {
        let target = |at: &usize| schema.field(*at).name();
        let of_name = |name: &str| {
            let same = targets.iter().position(|at| target(at) == name);
            same.or_else(|| targets.iter().position(|at| target(at).eq_ignore_ascii_case(name)))
        };
        let found: Vec<Option<usize>> = names.iter().map(|name| of_name(name)).collect();
        let in_order =
            names.len() == targets.len() && found.iter().enumerate().all(|(at, it)| it.is_none_or(|it| it == at));
        // A list of columns is the order of those of a CSV file.
        let listed = self.format == Format::Csv && !self.columns.is_empty();
        let unnamed = self.format != Format::Json && (listed || found.iter().all(Option::is_none));
        if unnamed && names.len() != targets.len() {
            return Err(format!(
                "COPY {}: the file has {} columns, where {} are expected",
                self.table,
                names.len(),
                targets.len()
            ));
        }
        if unnamed || (self.format == Format::Csv && in_order) {
            return Ok((0..targets.len()).map(Some).collect());
        }
        if let Some((name, _)) = names.iter().zip(&found).find(|(_, found)| found.is_none()) {
            let listed: Vec<&str> = targets.iter().map(|at| target(at).as_str()).collect();
            return Err(format!(
                "COPY {}: the file's column \"{name}\" is none of those that get values ({}); INSERT INTO {0} (...) SELECT ... \
                 FROM 'file' takes some of them",
                self.table,
                listed.join(", ")
            ));
        }
        let mut sources = vec![None; targets.len()];
        for (source, target) in found.into_iter().enumerate() {
            if let Some(target) = target
                && sources[target].replace(source).is_some()
            {
                return Err(format!("COPY {}: two columns of the file are for {}", self.table, names[source]));
            }
        }
        Ok(sources)
    }
}

/// The columns of a table, for an error.
fn known(schema: &Schema) -> String {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    format!("its columns are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field};
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    fn found(names: &[&str], format: Format) -> Result<Vec<Option<usize>>, String> {
        let schema = Schema::new(["src", "dst", "w"].map(|name| Field::new(name, DataType::Int64, true)).to_vec());
        let query = Parser::new(&GenericDialect).try_with_sql("SELECT 1").unwrap().parse_query().unwrap();
        let query = *query;
        let table = ObjectName::from(vec!["t".into()]);
        CopyFrom { table, columns: vec![], query, format }.sources(names, &[0, 1, 2], &schema)
    }

    #[test]
    fn columns_go_by_name_where_the_file_has_names() {
        for format in [Format::Csv, Format::Json, Format::Other] {
            assert_eq!(found(&["dst", "SRC", "w"], format), Ok(vec![Some(1), Some(0), Some(2)]));
            assert_eq!(found(&["w", "src"], format), Ok(vec![Some(1), None, Some(0)]));
            assert!(found(&["dst", "src", "x"], format).unwrap_err().contains("\"x\""));
        }
        for format in [Format::Csv, Format::Other] {
            assert_eq!(found(&["a", "b", "c"], format), Ok(vec![Some(0), Some(1), Some(2)]));
            assert!(found(&["a", "b"], format).unwrap_err().contains("has 2 columns, where 3 are expected"));
        }
        assert_eq!(found(&["src", "dst", "weight"], Format::Csv), Ok(vec![Some(0), Some(1), Some(2)]));
        assert!(
            found(&["src", "dst", "weight"], Format::Other).is_err() && found(&["a", "b", "c"], Format::Json).is_err()
        );
    }
}
