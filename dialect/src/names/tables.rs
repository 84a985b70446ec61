//! The tables of a statement, each asked of its catalog once, and all at the same time.
//!
//! Shows: see `outer_columns.rs`

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bonnet_common::{LookupExtension, TableLookup, TimeTravel, time_travel_name};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{ResolvedTableReference, Result as PlanResult, TableReference};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::execution::SessionState;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::{LogicalPlanBuilder, TableSource};
use datafusion::sql::sqlparser::ast::{TableAlias, TableFactor};
use futures::future::try_join_all;

use crate::names::references::{Beside, References, text};
use crate::names::unknown_names::unknown_table;
use crate::syntax::tree::ast;
use crate::{Error, Result};

/// The tables of a statement.
#[derive(Default)]
pub struct Tables {
    by_name: HashMap<ResolvedTableReference, Arc<dyn TableSource>>,
    /// Tables that take more than a name, by their text, with the name that a plan has for them.
    beside: HashMap<String, (TableReference, Arc<dyn TableSource>)>,
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys().map(ToString::to_string)).entries(self.beside.keys()).finish()
    }
}

impl Tables {
    /// Asks for the tables that a statement refers to. Those that are not there are left out: the planner says so.
    ///
    /// # Errors
    /// If a table cannot be opened, or has no such version.
    pub(crate) async fn ask(state: &SessionState, references: References) -> Result<Self> {
        let mut tables = Self::default();
        let names: Vec<ResolvedTableReference> =
            references.names.into_iter().map(|name| resolved(state, name)).collect();
        let found = try_join_all(names.iter().map(|name| table(state, name))).await?;
        for (name, found) in names.into_iter().zip(found) {
            if let Some(found) = found {
                tables.by_name.insert(name, provider_as_source(found));
            }
        }
        if references.beside.is_empty() {
            return Ok(tables);
        }
        let lookup = state.config().get_extension::<LookupExtension>();
        let Some(lookup) = lookup else {
            return Err(Error::statement("the session reads no files with options, and no versions of tables"));
        };
        let asked = references.beside.iter().map(|(_, asked)| tables.find(state, lookup.0.as_ref(), asked));
        let found = try_join_all(asked).await?;
        for ((text, asked), found) in references.beside.into_iter().zip(found) {
            let name = match asked {
                Beside::Version(reference, asked, _) => named(&reference, asked),
                Beside::Files(_) => TableReference::bare(text.as_str()),
            };
            tables.beside.insert(text, (name, provider_as_source(found)));
        }
        Ok(tables)
    }

    async fn find(
        &self,
        state: &SessionState,
        lookup: &dyn TableLookup,
        asked: &Beside,
    ) -> Result<Arc<dyn TableProvider>> {
        match asked {
            Beside::Files(call) => Ok(lookup.files(call, state).await?),
            Beside::Version(reference, asked, at) => {
                let name = resolved(state, reference.clone());
                let Some(source) = self.by_name.get(&name) else {
                    return Err(unknown_table(state, &name).at(*at).into());
                };
                Ok(lookup.at(&name.table, source_as_provider(source)?, *asked).await?)
            }
        }
    }

    /// The columns of all tables.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = SchemaRef> {
        self.by_name.values().chain(self.beside.values().map(|(_, source)| source)).map(|source| source.schema())
    }

    /// The table of a name; `None` if there is none.
    pub(crate) fn source(&self, name: &ResolvedTableReference) -> Option<Arc<dyn TableSource>> {
        self.by_name.get(name).cloned()
    }
}

/// A name with the catalog and the schema in which the session looks for it.
pub(crate) fn resolved(state: &SessionState, name: TableReference) -> ResolvedTableReference {
    let catalog = &state.config_options().catalog;
    name.resolve(&catalog.default_catalog, &catalog.default_schema)
}

/// The table of a name; `None` if there is none.
async fn table(state: &SessionState, name: &ResolvedTableReference) -> PlanResult<Option<Arc<dyn TableProvider>>> {
    match state.schema_for_ref(name.clone()) {
        Ok(schema) => schema.table(&name.table).await,
        Err(_) => Ok(None),
    }
}

/// The name that a plan has for a table at another time.
fn named(reference: &TableReference, asked: TimeTravel) -> TableReference {
    let name = time_travel_name(reference.table(), asked);
    match (reference.catalog(), reference.schema()) {
        (Some(catalog), Some(schema)) => TableReference::full(catalog, schema, name),
        (_, Some(schema)) => TableReference::partial(schema, name),
        _ => TableReference::bare(name),
    }
}

/// Plans tables that take more than a name.
#[derive(Debug)]
pub(crate) struct TablePlanner(pub(crate) Arc<Tables>);

impl RelationPlanner for TablePlanner {
    fn plan_relation(&self, relation: TableFactor, _: &mut dyn RelationPlannerContext) -> PlanResult<RelationPlanning> {
        if self.0.beside.is_empty() {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        let Some((name, source)) = text(&relation).and_then(|text| self.0.beside.get(&text)) else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        let plan = LogicalPlanBuilder::scan(name.clone(), Arc::clone(source), None)?.build()?;
        let alias = known_as(relation);
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
    }
}

/// The alias of such a table, or the name by which it is known without one.
fn known_as(relation: TableFactor) -> Option<TableAlias> {
    let TableFactor::Table { name, alias, .. } = relation else { return None };
    alias.or_else(|| Some(ast::alias(ast::name_parts(&name)?.pop()?)))
}
