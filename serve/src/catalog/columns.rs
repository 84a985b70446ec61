//! The names and columns of the tables of `pg_catalog`.

use super::cells::{Column, Kind, Table};
use super::information;

/// Columns as `name Kind, ...`.
macro_rules! columns {
    ($($name:ident $kind:ident),*) => { &[$((stringify!($name), Kind::$kind)),*] };
}

/// Tables that have rows.
const FILLED: &[Table] = &[
    ("pg_am", columns![oid Int8, amname Text, amhandler Text, amtype Text]),
    (
        "pg_attribute",
        columns![
            attrelid Int8, attname Text, atttypid Int8, attstattarget Int4, attlen Int2, attnum Int2, attndims Int4,
            attcacheoff Int4, atttypmod Int4, attbyval Bool, attalign Text, attstorage Text, attcompression Text,
            attnotnull Bool, atthasdef Bool, atthasmissing Bool, attidentity Text, attgenerated Text, attisdropped Bool,
            attislocal Bool, attinhcount Int4, attcollation Int8, attacl Texts, attoptions Texts, attfdwoptions Texts
        ],
    ),
    (
        "pg_authid",
        columns![
            oid Int8, rolname Text, rolsuper Bool, rolinherit Bool, rolcreaterole Bool, rolcreatedb Bool,
            rolcanlogin Bool, rolreplication Bool
        ],
    ),
    (
        "pg_class",
        columns![
            oid Int8, relname Text, relnamespace Int8, reltype Int8, reloftype Int8, relowner Int8, relam Int8,
            relfilenode Int8, reltablespace Int8, relpages Int4, reltuples Float4, relallvisible Int4,
            reltoastrelid Int8, relhasindex Bool, relisshared Bool, relpersistence Text, relkind Text, relnatts Int2,
            relchecks Int2, relhasrules Bool, relhastriggers Bool, relhassubclass Bool, relrowsecurity Bool,
            relforcerowsecurity Bool, relispopulated Bool, relreplident Text, relispartition Bool, relrewrite Int8,
            relfrozenxid Int8, relminmxid Int8, relacl Texts, reloptions Texts, relpartbound Text
        ],
    ),
    (
        "pg_database",
        columns![
            oid Int8, datname Text, datdba Int8, encoding Int4, datcollate Text, datctype Text, datistemplate Bool,
            datallowconn Bool, datconnlimit Int4, daticulocale Text, datlocprovider Text, datlastsysoid Int8,
            datfrozenxid Int8, datminmxid Int8, dattablespace Int8, datacl Texts
        ],
    ),
    ("pg_language", columns![oid Int8, lanname Text, lanowner Int8, lanispl Bool, lanpltrusted Bool]),
    ("pg_namespace", columns![oid Int8, nspname Text, nspowner Int8, nspacl Texts]),
    (
        "pg_proc",
        columns![
            oid Int8, proname Text, pronamespace Int8, proowner Int8, prolang Int8, procost Float4, prorows Float4,
            provariadic Int8, prosupport Text, prokind Text, prosecdef Bool, proleakproof Bool, proisstrict Bool,
            proretset Bool, provolatile Text, proparallel Text, pronargs Int2, pronargdefaults Int2, prorettype Int8,
            proargtypes Int8s, proallargtypes Int8s, proargmodes Texts, proargnames Texts, proargdefaults Text,
            prosrc Text, probin Text, proconfig Texts, proacl Texts
        ],
    ),
    (
        "pg_roles",
        columns![
            oid Int8, rolname Text, rolsuper Bool, rolinherit Bool, rolcreaterole Bool, rolcreatedb Bool,
            rolcanlogin Bool, rolreplication Bool, rolconnlimit Int4, rolpassword Text, rolvaliduntil Text,
            rolbypassrls Bool, rolconfig Texts
        ],
    ),
    (
        "pg_settings",
        columns![
            name Text, setting Text, unit Text, category Text, short_desc Text, extra_desc Text, context Text,
            vartype Text, source Text, min_val Text, max_val Text, enumvals Texts, boot_val Text, reset_val Text,
            sourcefile Text, sourceline Int4, pending_restart Bool
        ],
    ),
    (
        "pg_tables",
        columns![
            schemaname Text, tablename Text, tableowner Text, tablespace Text, hasindexes Bool, hasrules Bool,
            hastriggers Bool, rowsecurity Bool
        ],
    ),
    ("pg_tablespace", columns![oid Int8, spcname Text, spcowner Int8, spcacl Texts, spcoptions Texts]),
    (
        "pg_type",
        columns![
            oid Int8, typname Text, typnamespace Int8, typowner Int8, typlen Int2, typbyval Bool, typtype Text,
            typcategory Text, typispreferred Bool, typisdefined Bool, typdelim Text, typrelid Int8, typelem Int8,
            typarray Int8, typinput Text, typoutput Text, typreceive Int8, typsend Text, typmodin Text, typmodout Text,
            typanalyze Text, typalign Text, typstorage Text, typnotnull Bool, typbasetype Int8, typtypmod Int4,
            typndims Int4, typcollation Int8, typdefaultbin Text, typdefault Text, typacl Texts
        ],
    ),
    (
        "pg_user",
        columns![
            usename Text, usesysid Int8, usecreatedb Bool, usesuper Bool, userepl Bool, usebypassrls Bool, passwd Text,
            valuntil Text, useconfig Texts
        ],
    ),
    ("pg_views", columns![schemaname Text, viewname Text, viewowner Text, definition Text]),
];

/// Tables of what BonnetDB lacks: they are always empty.
const EMPTY: &[Table] = &[
    ("pg_aggregate", columns![aggfnoid Int8]),
    ("pg_attrdef", columns![oid Int8, adrelid Int8, adnum Int2, adbin Text]),
    ("pg_auth_members", columns![roleid Int8, member Int8, grantor Int8, admin_option Bool]),
    ("pg_cast", columns![oid Int8, castsource Int8, casttarget Int8]),
    (
        "pg_collation",
        columns![
            oid Int8, collname Text, collnamespace Int8, collprovider Text, collcollate Text, collctype Text
        ],
    ),
    (
        "pg_constraint",
        columns![
            oid Int8, conname Text, connamespace Int8, contype Text, conrelid Int8, contypid Int8, conindid Int8,
            conparentid Int8, confrelid Int8, conkey Int8s, confkey Int8s, confupdtype Text, confdeltype Text,
            confmatchtype Text, condeferrable Bool, condeferred Bool, convalidated Bool, conbin Text
        ],
    ),
    ("pg_conversion", columns![oid Int8, conname Text]),
    ("pg_default_acl", columns![oid Int8, defaclrole Int8, defaclnamespace Int8, defaclobjtype Text, defaclacl Texts]),
    (
        "pg_depend",
        columns![
            classid Int8, objid Int8, objsubid Int4, refclassid Int8, refobjid Int8, refobjsubid Int4, deptype Text
        ],
    ),
    ("pg_description", columns![objoid Int8, classoid Int8, objsubid Int4, description Text]),
    ("pg_enum", columns![oid Int8, enumtypid Int8, enumsortorder Float4, enumlabel Text]),
    ("pg_event_trigger", columns![oid Int8, evtname Text]),
    ("pg_extension", columns![oid Int8, extname Text, extowner Int8, extnamespace Int8, extversion Text]),
    ("pg_foreign_data_wrapper", columns![oid Int8, fdwname Text]),
    ("pg_foreign_server", columns![oid Int8, srvname Text, srvfdw Int8]),
    ("pg_foreign_table", columns![ftrelid Int8, ftserver Int8, ftoptions Texts]),
    (
        "pg_index",
        columns![
            indexrelid Int8, indrelid Int8, indnatts Int2, indnkeyatts Int2, indisunique Bool, indisprimary Bool,
            indisexclusion Bool, indimmediate Bool, indisclustered Bool, indisvalid Bool, indcheckxmin Bool,
            indisready Bool, indislive Bool, indisreplident Bool, indkey Int8s, indcollation Int8s, indclass Int8s,
            indoption Int8s, indexprs Text, indpred Text
        ],
    ),
    ("pg_indexes", columns![schemaname Text, tablename Text, indexname Text, tablespace Text, indexdef Text]),
    ("pg_inherits", columns![inhrelid Int8, inhparent Int8, inhseqno Int4, inhdetachpending Bool]),
    ("pg_locks", columns![locktype Text, database Int8, relation Int8, pid Int4, mode Text, granted Bool]),
    ("pg_matviews", columns![schemaname Text, matviewname Text, matviewowner Text, definition Text]),
    ("pg_opclass", columns![oid Int8, opcname Text, opcmethod Int8, opcdefault Bool, opcintype Int8]),
    ("pg_operator", columns![oid Int8, oprname Text]),
    ("pg_partitioned_table", columns![partrelid Int8, partstrat Text]),
    ("pg_policy", columns![oid Int8, polname Text, polrelid Int8, polcmd Text, polpermissive Bool, polroles Int8s]),
    ("pg_publication", columns![oid Int8, pubname Text, puballtables Bool]),
    ("pg_publication_namespace", columns![oid Int8, pnpubid Int8, pnnspid Int8]),
    ("pg_publication_rel", columns![oid Int8, prpubid Int8, prrelid Int8]),
    ("pg_range", columns![rngtypid Int8, rngsubtype Int8, rngmultitypid Int8, rngcollation Int8]),
    ("pg_rewrite", columns![oid Int8, rulename Text, ev_class Int8, ev_type Text, ev_enabled Text]),
    ("pg_seclabel", columns![objoid Int8, classoid Int8, label Text]),
    (
        "pg_sequence",
        columns![
            seqrelid Int8, seqtypid Int8, seqstart Int8, seqincrement Int8, seqmax Int8, seqmin Int8, seqcache Int8,
            seqcycle Bool
        ],
    ),
    ("pg_sequences", columns![schemaname Text, sequencename Text]),
    ("pg_shdescription", columns![objoid Int8, classoid Int8, description Text]),
    (
        "pg_stat_activity",
        columns![
            datid Int8, datname Text, pid Int4, usesysid Int8, usename Text, application_name Text, state Text,
            query Text
        ],
    ),
    ("pg_stat_user_tables", columns![relid Int8, schemaname Text, relname Text, n_live_tup Int8]),
    (
        "pg_statistic_ext",
        columns![
            oid Int8, stxrelid Int8, stxname Text, stxnamespace Int8, stxkind Texts, stxstattarget Int4
        ],
    ),
    ("pg_subscription", columns![oid Int8, subname Text]),
    (
        "pg_trigger",
        columns![
            oid Int8, tgrelid Int8, tgname Text, tgfoid Int8, tgtype Int2, tgenabled Text, tgisinternal Bool,
            tgconstraint Int8, tgparentid Int8
        ],
    ),
    ("pg_user_mapping", columns![oid Int8, umuser Int8, umserver Int8]),
];

/// The columns of the table of this name.
pub(super) fn of(name: &str) -> Option<&'static [Column]> {
    let tables = FILLED.iter().chain(EMPTY).chain(information::FILLED).chain(information::EMPTY);
    tables.into_iter().find(|(known, _)| *known == name).map(|(_, columns)| *columns)
}

/// Whether there is a table of this name.
pub(super) fn is_known(name: &str) -> bool {
    of(name).is_some()
}

/// Whether a table of this name has no rows.
pub(super) fn is_always_empty(name: &str) -> bool {
    EMPTY.iter().chain(information::EMPTY).any(|(known, _)| *known == name)
}
