//! Folders `key=value` as columns of a table: of the types that their values have, NULL where Hive writes its mark.
//!
//! DataFusion 55 takes all of them for strings, and the mark for one. Where no key is NULL it is given their types; else its strings
//! are cast above it.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/18083>
//! Given: `COPY (SELECT 'a' AS k, 1 AS v UNION ALL SELECT NULL, 2) TO '{dir}/rows' STORED AS CSV PARTITIONED BY (k)`
//! Shows: `SELECT k, v FROM '{dir}/rows/*/*.csv' ORDER BY v` gives `a | 1 / NULL | 2`

use std::sync::Arc;

use arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Column, Result, ScalarValue, plan_err};
use datafusion::datasource::listing::{ListingTable, ListingTableUrl};
use datafusion::datasource::{TableType, ViewTable, provider_as_source};
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, TableProviderFilterPushDown, case, cast, lit};
use datafusion::object_store::path::Path;
use percent_encoding::percent_decode_str;

use super::csv::kinds::Kinds;
use crate::ground::file_path::path_of;
use crate::ground::table_methods::{Planned, table_methods};

/// The value of a key that is NULL, as Hive, Spark, DuckDB and Arrow write it.
pub const NULL_KEY: &str = "__HIVE_DEFAULT_PARTITION__";

/// The keys of the folders of files.
#[derive(Debug, Default)]
pub(super) struct FolderKeys {
    names: Vec<String>,
    /// The values of each key.
    values: Vec<Vec<String>>,
    /// The first file.
    first: Option<Path>,
}

impl FolderKeys {
    /// Adds a file that an address means.
    ///
    /// # Errors
    /// If it has other keys than those before, or a folder stands before them: its rows would be left out.
    pub(super) fn add(&mut self, url: &ListingTableUrl, file: &Path) -> Result<()> {
        let mut folders: Vec<&str> = url.strip_prefix(file).into_iter().flatten().collect();
        folders.pop();
        let keys: Vec<(&str, &str)> = folders.iter().filter_map(|folder| folder.split_once('=')).collect();
        let shown = || path_of(file).display().to_string();
        if folders.iter().take(keys.len()).any(|folder| !folder.contains('=')) {
            return plan_err!(
                "'{}': a folder without a key stands before those with keys, which have to come first below what is read",
                shown()
            );
        }
        let names: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
        match &self.first {
            None => {
                self.names = names.iter().map(|name| (*name).to_owned()).collect();
                self.values = vec![Vec::new(); names.len()];
                self.first = Some(file.clone());
            }
            Some(first) if self.names != names => {
                let text = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let own: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
                return plan_err!(
                    "'{}' has other keys in its folders ({}) than '{}' ({}): files of one table have the same",
                    shown(),
                    text(&own),
                    path_of(first).display(),
                    text(&self.names)
                );
            }
            Some(_) => {}
        }
        for ((_, value), values) in keys.iter().zip(&mut self.values) {
            let value =
                percent_decode_str(value).decode_utf8().map_or_else(|_| (*value).to_owned(), |it| it.into_owned());
            if values.last() != Some(&value) {
                values.push(value);
            }
        }
        Ok(())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    fn has_null(&self) -> bool {
        self.values.iter().flatten().any(|value| value == NULL_KEY)
    }

    /// The type of a key by its values.
    fn data_type(values: &[String]) -> DataType {
        let mut kinds = Kinds::default();
        values.iter().filter(|value| *value != NULL_KEY).for_each(|value| kinds.add(value));
        match kinds.data_type() {
            DataType::Null => DataType::Utf8,
            data_type => data_type,
        }
    }

    /// Whether values of a type are spelled as they are in folders: DataFusion looks for a folder by its name.
    fn is_spelled(values: &[String], data_type: &DataType) -> bool {
        values.iter().all(|value| {
            let parsed = ScalarValue::try_from_string(value.clone(), data_type);
            parsed.is_ok_and(|parsed| !parsed.is_null() && parsed.to_string() == *value)
        })
    }

    /// Whether DataFusion can read the keys in their types.
    fn is_plain(&self) -> bool {
        let spelled = |values: &Vec<String>| match Self::data_type(values) {
            DataType::Utf8 => true,
            data_type => Self::is_spelled(values, &data_type),
        };
        !self.has_null() && self.values.iter().all(spelled)
    }

    /// The columns of the keys as DataFusion reads them.
    pub(super) fn columns(&self) -> Vec<(String, DataType)> {
        let strings = || DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
        let plain = self.is_plain();
        let data_type = |values: &[String]| match Self::data_type(values) {
            DataType::Utf8 => strings(),
            data_type if plain => data_type,
            _ => strings(),
        };
        self.names.iter().zip(&self.values).map(|(name, values)| (name.clone(), data_type(values))).collect()
    }

    /// The table, in which keys have their types and may be NULL.
    pub(super) fn typed(&self, table: ListingTable) -> Result<Arc<dyn TableProvider>> {
        if self.is_plain() {
            return Ok(Arc::new(table));
        }
        let schema = table.schema();
        let files = LogicalPlanBuilder::scan("files", provider_as_source(Arc::new(Keyed(table))), None)?;
        let column = |name: &str| Expr::Column(Column::new(Some("files"), name));
        let columns = schema.fields().iter().map(|field| {
            let Some(place) = self.names.iter().position(|name| name == field.name()) else {
                return Ok(column(field.name()));
            };
            let text = cast(column(field.name()), DataType::Utf8);
            let value = case(text.clone()).when(lit(NULL_KEY), lit(ScalarValue::Utf8(None))).otherwise(text)?;
            Ok(cast(value, Self::data_type(&self.values[place])).alias(field.name()))
        });
        let columns = columns.collect::<Result<Vec<Expr>>>()?;
        Ok(Arc::new(ViewTable::new(files.project(columns)?.build()?, None)))
    }
}

/// Files whose keys may be NULL. DataFusion leaves out files by what conditions say of their keys, where NULL may be taken for
/// true: so their rows meet the conditions again.
#[derive(Debug)]
struct Keyed(ListingTable);

impl Keyed {
    fn planned<'a>(
        &'a self,
        state: &'a dyn Session,
        projection: Option<&'a Vec<usize>>,
        filters: &'a [Expr],
        limit: Option<usize>,
    ) -> Planned<'a> {
        self.0.scan(state, projection, filters, limit)
    }
}

impl TableProvider for Keyed {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let each = self.0.supports_filters_pushdown(filters)?.into_iter().map(|pushed| match pushed {
            TableProviderFilterPushDown::Exact => TableProviderFilterPushDown::Inexact,
            pushed => pushed,
        });
        Ok(each.collect())
    }

    table_methods! { scan by planned; }
}
