//! PostgreSQL's catalog as its clients ask for it.

use bonnetdb::split;

use super::Served;

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
