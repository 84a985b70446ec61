//! PostgreSQL's catalog as its clients ask for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bonnetdb::split;
use pgwire::messages::PgWireFrontendMessage;
use pgwire::messages::simplequery::Query;

use super::Served;
use super::client::{Client, cancel};

/// What psql, SQLAlchemy, DBeaver and JDBC send.
const QUERIES: &str = include_str!("../fixtures/catalog_queries.sql");

fn served() -> Served {
    let served = Served::with_karate();
    served.engine.sql("CREATE TABLE t (a BIGINT NOT NULL, b VARCHAR, c DECIMAL(9, 2), d DOUBLE[])").unwrap();
    served.engine.sql("CREATE VIEW v AS SELECT a FROM t").unwrap();
    served
}

#[test]
fn every_query_of_a_client_is_answered() {
    let served = served();
    let mut client = served.client();
    let mut wrong = Vec::new();
    for query in split(QUERIES) {
        let reply = client.query(query.text);
        if let Some(error) = reply.errors.first() {
            wrong.push(format!("line {}: {}\n{}", query.line, error.message, query.text));
        }
        assert!(reply.columns.len() + reply.errors.len() > 0, "{}", query.text);
    }
    assert!(wrong.is_empty(), "{} queries\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn the_catalog_has_the_tables_and_columns_that_there_are() {
    let served = served();
    let mut client = served.client();
    let visible =
        "SELECT c.relname, c.relkind FROM pg_catalog.pg_class c WHERE pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1";
    assert_eq!(client.rows(visible), [["t", "r"], ["v", "v"]]);
    let columns = "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull FROM pg_attribute a \
                   WHERE a.attrelid = 't'::regclass ORDER BY a.attnum";
    let expected = [["a", "bigint", "t"], ["b", "text", "f"], ["c", "numeric", "f"], ["d", "double precision[]", "f"]];
    assert_eq!(client.rows(columns), expected);
    // Numbers stay from statement to statement, and other schemas are there.
    let number = client.rows("SELECT 'karate.edges'::regclass::oid")[0][0].clone();
    let names = format!(
        "SELECT c.oid::regclass, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = {number}"
    );
    assert_eq!(client.rows(&names), [["karate.edges", "karate"]]);
    assert_eq!(client.rows("SELECT pg_get_viewdef('v'::regclass)")[0][0], "SELECT a FROM t");
    let version = client.rows("SELECT version()")[0][0].clone();
    assert!(version.starts_with("PostgreSQL 14") && version.contains("BonnetDB"), "{version}");
    assert_eq!(client.rows("SELECT current_user, current_database()"), [["me", "memory"]]);
    // A table of the user's own by such a name is a table.
    client.query("CREATE TABLE pg_mine (x BIGINT)");
    assert_eq!(client.rows("SELECT count(*) FROM pg_mine"), [["0"]]);
    // With parameters.
    let reply = client.execute("SELECT relname FROM pg_class WHERE relname = $1", &[], &[Some(b"t".to_vec())], (0, 1));
    assert_eq!(reply.texts(), [["t"]]);
}

#[test]
fn functions_of_the_engine_are_functions_of_the_catalog() {
    let served = Served::with_karate();
    let mut client = served.client();
    let count = client.rows("SELECT count(*) FROM bonnet.functions");
    let listed =
        "SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname <> 'pg_catalog'";
    assert_eq!(client.rows(listed), count);
    let one = client.rows(
        "SELECT p.prokind, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), n.nspname FROM pg_proc p \
         JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.proname = 'gini'",
    );
    let signature = client.rows("SELECT signature, returns FROM bonnet.functions WHERE name = 'gini'").remove(0);
    assert_eq!(
        one,
        [[
            "a".to_owned(),
            signature[0]["gini(".len()..signature[0].len() - 1].to_owned(),
            signature[1].clone(),
            "bonnet".into()
        ]]
    );
    // A function by its name, as psql's \sf asks.
    let number = client.rows("SELECT 'forman_ricci'::pg_catalog.regproc::pg_catalog.oid")[0][0].clone();
    let text = client.rows(&format!("SELECT pg_catalog.pg_get_functiondef({number})"))[0][0].clone();
    assert!(text.contains("forman_ricci(") && text.contains("RETURNS"), "{text}");
    let error = client.query("SELECT 'nothing_such'::regproc::oid").error().clone();
    assert_eq!((error.code.as_str(), error.message.as_str()), ("42883", "there is no function nothing_such"));
}

#[test]
fn names_and_types_are_postgresqls() {
    let served = served();
    served.engine.sql("CREATE SCHEMA s; CREATE TABLE s.\"Two Words\" (x TIMESTAMP)").unwrap();
    let mut client = Client::with(served.address, &[("user", "me"), ("database", "postgres")]).unwrap();
    assert_eq!(client.rows("SELECT datname FROM pg_database WHERE datname = 'postgres'"), [["postgres"]]);
    assert_eq!(client.rows("SELECT quote_ident('t'), quote_ident('a \"b')"), [["t", "\"a \"\"b\""]]);
    assert_eq!(
        client.rows("SELECT quote_literal('it''s'), quote_literal(7), quote_nullable(NULL)"),
        [["'it''s'", "'7'", "NULL"]]
    );
    // As asyncpg writes parameters into a COPY.
    let reply =
        client.execute("SELECT quote_literal($1::\"pg_catalog\".\"int8\")", &[], &[Some(b"7".to_vec())], (0, 0));
    assert_eq!(reply.texts(), [["'7'"]], "{reply:?}");
    assert_eq!(client.rows("SELECT parse_ident('Main.\"My.T\"')"), [["{main,My.T}"]]);
    // Grafana's list of tables, its query cut down to what it reads.
    let search_path = "(SELECT CASE WHEN trim(s[i]) = '\"$user\"' THEN user ELSE trim(s[i]) END FROM generate_series(1, 2) AS i, \
                       string_to_array(current_setting('search_path'), ',') s)";
    let tables = format!(
        "SELECT CASE WHEN quote_ident(table_schema) IN {search_path} THEN quote_ident(table_name) ELSE \
         quote_ident(table_schema) || '.' || quote_ident(table_name) END AS \"table\" FROM information_schema.tables \
         WHERE table_schema IN ('main', 's') ORDER BY 1"
    );
    assert_eq!(client.rows(&tables), [["s.\"Two Words\""], ["t"], ["v"]]);
    let types = "SELECT column_name, data_type, udt_name, is_nullable, numeric_precision, numeric_scale \
                 FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position";
    let expected = [
        ["a", "bigint", "int8", "NO", "64", "0"],
        ["b", "text", "text", "YES", "NULL", "NULL"],
        ["c", "numeric", "numeric", "YES", "9", "2"],
        ["d", "ARRAY", "_float8", "YES", "NULL", "NULL"],
    ];
    assert_eq!(client.rows(types), expected);
    // Prepared, its columns are those of its rows.
    let reply = client.execute(types, &[], &[], (0, 0));
    assert_eq!(
        (reply.columns[4].clone(), reply.texts()[0][1].clone()),
        (("numeric_precision".into(), 23), "bigint".into())
    );
    // Joined with the tables of pg_catalog.
    let joined = "SELECT t.table_name, c.relkind FROM information_schema.tables t JOIN pg_class c ON c.relname = t.table_name \
                  WHERE t.table_schema = 'main' ORDER BY 1";
    assert_eq!(client.rows(joined), [["t", "r"], ["v", "v"]]);
    // What is the engine's alone is answered by it.
    assert_eq!(client.rows("SELECT count(*) > 0 FROM information_schema.df_settings"), [["t"]]);
    // npgsql tells arrays by the function that reads them.
    let arrays = "SELECT t.typname FROM pg_type t JOIN pg_proc p ON p.oid = t.typreceive WHERE p.proname = 'array_recv' \
                  AND t.typelem = 20";
    assert_eq!(client.rows(arrays), [["_int8"]]);
}

#[test]
fn a_transaction_has_one_number_and_a_sleep_ends_with_its_statement() {
    let served = Served::new();
    let mut client = served.client();
    let number = |client: &mut Client| client.rows("SELECT txid_current()")[0][0].parse::<i64>().unwrap();
    let (one, two) = (number(&mut client), number(&mut client));
    assert!(one < two);
    client.query("BEGIN");
    let (three, four) = (number(&mut client), number(&mut client));
    assert!(two < three && three == four);
    client.query("COMMIT");
    assert!(number(&mut client) > four);
    assert_eq!(client.rows("SELECT pg_sleep(0.01)"), [[""]]);
    assert_eq!(client.query("SELECT pg_sleep('soon')").error().code, "42000");
    // It is a statement that time runs out for, and that can be cancelled.
    client.query("SET statement_timeout = 100");
    assert_eq!(client.query("SELECT pg_sleep(3600)").error().code, "57014");
    client.query("SET statement_timeout = 0");
    client.send([PgWireFrontendMessage::Query(Query::new("SELECT pg_sleep(3600)".to_owned()))]);
    let (key, done) = (client.key(), AtomicBool::new(false));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                cancel(served.address, &key);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        assert_eq!(client.reply().error().code, "57014");
        done.store(true, Ordering::Relaxed);
    });
}
