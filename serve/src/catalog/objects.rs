//! The schemas and tables of the session's current catalog, with their object identifiers of PostgreSQL.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use bonnet_catalogs::SYSTEM_SCHEMA;
use bonnet_dialect::syntax::tree::ast::identifier;
use bonnetdb::Session;
use datafusion::logical_expr::TableType;

/// The schema of PostgreSQL's catalog.
pub(super) const PG_CATALOG: &str = "pg_catalog";

/// The first number of what users make, as in PostgreSQL.
const FIRST: i64 = 16_384;

/// The numbers of the schemas `pg_catalog` and `information_schema`.
pub(super) const CATALOG_SCHEMA: i64 = 11;
const INFORMATION_SCHEMA: i64 = 13_000;

/// The number of the one user, and of the way in which tables are stored.
pub(super) const OWNER: i64 = 10;
pub(super) const HEAP: i64 = 2;

/// The numbers of tables of `pg_catalog` that clients name in casts to `regclass`.
const SYSTEM: &[(&str, i64)] = &[
    ("pg_attrdef", 2604),
    ("pg_attribute", 1249),
    ("pg_class", 1259),
    ("pg_constraint", 2606),
    ("pg_database", 1262),
    ("pg_description", 2609),
    ("pg_namespace", 2615),
    ("pg_proc", 1255),
    ("pg_tablespace", 1213),
    ("pg_type", 1247),
];

/// A table or a view.
pub(super) struct Relation {
    pub(super) oid: i64,
    pub(super) schema: String,
    pub(super) schema_oid: i64,
    pub(super) name: String,
    pub(super) is_view: bool,
    /// The query of a view.
    pub(super) definition: Option<String>,
    pub(super) columns: SchemaRef,
}

/// A function of the engine.
pub(super) struct Function {
    pub(super) oid: i64,
    pub(super) schema_oid: i64,
    pub(super) name: String,
    /// As `pg_proc` has it: `f` for a function, `a` for an aggregate, `w` for one of windows.
    pub(super) kind: &'static str,
    /// Whether it stands in FROM.
    pub(super) is_relation: bool,
    /// Its arguments, as the reference writes them.
    pub(super) arguments: String,
    /// The type, or the columns, that it answers.
    pub(super) result: String,
    /// Its value and its use.
    pub(super) description: String,
}

/// The name of the client's user, and that by which it asked for the database.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) user: String,
    pub(super) database: Option<String>,
}

/// The functions of the engine, in the schema that lists them.
fn functions(session: &Session, schemas: &[(i64, String)], number: &mut impl FnMut(String) -> i64) -> Vec<Function> {
    let schema_oid = schemas.iter().find(|(_, name)| name == SYSTEM_SCHEMA).map_or(CATALOG_SCHEMA, |(oid, _)| *oid);
    let functions = session.engine().registry().iter().map(|function| {
        let (signature, kind) = (function.signature(), function.kind().name());
        let arguments = signature.strip_prefix(function.name).unwrap_or(&signature);
        let arguments = arguments.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(arguments);
        let is_relation = !matches!(kind, "scalar" | "aggregate" | "window" | "edge");
        Function {
            oid: number(format!("function {}", function.name)),
            schema_oid,
            name: function.name.to_owned(),
            kind: match kind {
                "aggregate" => "a",
                "window" => "w",
                _ => "f",
            },
            is_relation,
            arguments: arguments.to_owned(),
            result: if is_relation { format!("TABLE({})", function.returns) } else { function.returns.to_owned() },
            description: function.description.to_owned(),
        }
    });
    functions.collect()
}

/// All schemas and tables of the session's current catalog.
pub(super) struct Objects {
    pub(super) user: String,
    /// The catalogs of the engine, which are databases to PostgreSQL's clients, and the current one.
    pub(super) databases: Vec<(i64, String)>,
    pub(super) database: String,
    /// The current schema.
    pub(super) schema: String,
    pub(super) schemas: Vec<(i64, String)>,
    pub(super) relations: Vec<Relation>,
    pub(super) functions: Vec<Function>,
}

impl Objects {
    /// The objects that the session sees now. Those that cannot be read are left out: a listing must not fail for one
    /// damaged table.
    pub(super) async fn of(session: &Session, numbers: &mut HashMap<String, i64>, client: &Named) -> Self {
        let mut number = |name: String| {
            let next = FIRST + numbers.len() as i64;
            *numbers.entry(name).or_insert(next)
        };
        let state = session.context().state();
        let options = &state.config_options().catalog;
        let (database, schema) = (options.default_catalog.clone(), options.default_schema.clone());
        let mut names = state.catalog_list().catalog_names();
        names.sort();
        // That of PostgreSQL, or of the user, stands for the one that is served.
        let asked = client.database.clone().filter(|name| !names.contains(name));
        names.extend(asked);
        let databases = names.into_iter().map(|name| (number(format!("database {name}")), name)).collect();
        let mut schemas =
            vec![(CATALOG_SCHEMA, PG_CATALOG.to_owned()), (INFORMATION_SCHEMA, "information_schema".to_owned())];
        let mut relations = Vec::new();
        let catalog = state.catalog_list().catalog(&database);
        let mut of_catalog = catalog.as_ref().map(|catalog| catalog.schema_names()).unwrap_or_default();
        // It is a schema of each catalog, which lists it in none.
        of_catalog.extend(
            catalog.as_ref().and_then(|catalog| catalog.schema(SYSTEM_SCHEMA)).map(|_| SYSTEM_SCHEMA.to_owned()),
        );
        of_catalog.sort();
        of_catalog.dedup();
        for name in of_catalog.into_iter().filter(|name| name != "information_schema") {
            let schema_oid = number(format!("schema {database}.{name}"));
            schemas.push((schema_oid, name.clone()));
            let Some(schema) = catalog.as_ref().and_then(|catalog| catalog.schema(&name)) else { continue };
            let mut tables = schema.table_names();
            tables.sort();
            for table in tables {
                let Ok(Some(provider)) = schema.table(&table).await else { continue };
                relations.push(Relation {
                    oid: number(format!("table {database}.{name}.{table}")),
                    schema: name.clone(),
                    schema_oid,
                    name: table,
                    is_view: provider.table_type() == TableType::View,
                    definition: provider.get_table_definition().map(str::to_owned),
                    columns: Arc::clone(&provider.schema()),
                });
            }
        }
        let functions = functions(session, &schemas, &mut number);
        let user = client.user.clone();
        Self { user, databases, database, schema, schemas, relations, functions }
    }

    /// The number of the function that a text such as `'forman_ricci'` names.
    pub(super) fn function_number(&self, name: &str) -> Option<i64> {
        let name = name.rsplit('.').next().unwrap_or_default().trim_matches('"').to_lowercase();
        self.functions.iter().find(|function| function.name == name).map(|function| function.oid)
    }

    /// The number of the table that a text such as `'cora.edges'` names.
    pub(super) fn number_of(&self, name: &str) -> Option<i64> {
        let parts: Vec<String> = name
            .split('.')
            .map(|part| match part.strip_prefix('"').and_then(|part| part.strip_suffix('"')) {
                Some(quoted) => quoted.to_owned(),
                None => part.to_lowercase(),
            })
            .collect();
        let (schema, table) = match parts.as_slice() {
            [table] => (None, table),
            [.., schema, table] => (Some(schema), table),
            [] => return None,
        };
        let system = || SYSTEM.iter().find(|(known, _)| known == table).map(|(_, number)| *number);
        match schema {
            Some(schema) if schema == PG_CATALOG => system(),
            schema => {
                let schema = schema.unwrap_or(&self.schema);
                let found =
                    self.relations.iter().find(|relation| relation.schema == *schema && relation.name == *table);
                found.map(|relation| relation.oid).or_else(system)
            }
        }
    }

    /// A table's name as a statement would write it here.
    pub(super) fn name_of(&self, relation: &Relation) -> String {
        match relation.schema == self.schema {
            true => identifier(&relation.name),
            false => format!("{}.{}", identifier(&relation.schema), identifier(&relation.name)),
        }
    }
}
