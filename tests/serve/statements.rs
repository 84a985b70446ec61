//! Statements over the wire: both protocols, parameters, portals, transactions, cancellation, errors.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgwire::messages::extendedquery::{Close, Flush, Sync};
use pgwire::messages::response::TransactionStatus;
use pgwire::messages::simplequery::Query;
use pgwire::messages::startup::SecretKey;
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};

use super::Served;
use super::client::{Cell, bind, cancel, describe, execute, parse};

/// Numbers of types in `pg_type`.
const BOOL: u32 = 16;
const INT8: u32 = 20;
const INT4: u32 = 23;
const TEXT: u32 = 25;
const FLOAT8: u32 = 701;
const DATE: u32 = 1082;
const TIMESTAMP: u32 = 1114;
const NUMERIC: u32 = 1700;

/// A query that would take hours.
const ENDLESS: &str = "SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b WHERE a.value % 7 = b.value % 11";

fn some(text: &str) -> Cell {
    Some(text.as_bytes().to_vec())
}

#[test]
fn the_simple_protocol_answers_statements_one_after_another() {
    let served = Served::with_karate();
    let mut client = served.client();
    let reply = client.query(
        "CREATE TABLE t (a BIGINT, b VARCHAR); INSERT INTO t VALUES (1, 'x'), (2, NULL); SELECT * FROM t ORDER BY a",
    );
    assert_eq!(reply.tags, ["CREATE TABLE", "INSERT 0 2", "SELECT 2"]);
    assert_eq!(reply.columns, [("a".to_owned(), INT8), ("b".to_owned(), TEXT)]);
    assert_eq!(reply.texts(), [["1", "x"], ["2", "NULL"]]);
    assert_eq!(client.rows("SELECT count(*) FROM forman_ricci(karate.edges)"), [["78"]]);
    assert_eq!(client.query("CREATE GRAPH ring AS cycle(5)").tags, ["CREATE GRAPH"]);
    assert_eq!(client.rows("SELECT count(*) FROM ring.edges"), [["5"]]);
    assert!(client.query(" ; -- nothing\n;").empty);
    // What stands before an error is done, what stands behind it is not.
    let reply = client.query("INSERT INTO t VALUES (3, 'y'); SELECT nothing FROM t; INSERT INTO t VALUES (4, 'z')");
    assert_eq!((reply.tags.as_slice(), reply.errors.len()), (&["INSERT 0 1".to_owned()][..], 1));
    assert_eq!(client.rows("SELECT count(*) FROM t"), [["3"]]);
}

#[test]
fn runs_that_fail_are_a_warning() {
    let served = Served::with_karate();
    let mut client = served.client();
    let train =
        "SELECT model, status FROM train((SELECT 'karate' AS graph, unnest(['gcn', 'nothing']) AS model), epochs => 1)";
    let reply = client.query(&format!("{train} ORDER BY model"));
    assert_eq!(reply.texts(), [["gcn", "ok"], ["nothing", "error"]]);
    let said: Vec<_> = reply.warnings.iter().map(|warning| (warning.code.as_str(), warning.message.as_str())).collect();
    assert!(
        matches!(said[..], [("01000", text)] if text.starts_with("train: 1 of 2 runs failed: model is `nothing`")),
        "{said:?}"
    );
    assert_eq!(reply.tags, ["SELECT 2"]);
    // It is said once, and of statements without rows, too.
    assert!(client.query("SELECT 1").warnings.is_empty());
    assert_eq!(client.query(&format!("CREATE TABLE runs AS {train}")).warnings.len(), 1);
}

#[test]
fn an_index_is_none_and_said_to_be_none() {
    let served = Served::new();
    let mut client = served.client();
    client.query("CREATE TABLE t (a BIGINT, \"B c\" VARCHAR)");
    let reply = client.query("CREATE INDEX \"ix_t\" ON t (a, \"B c\" DESC)");
    assert_eq!(
        (reply.tags.join(" ").as_str(), reply.warnings[0].code.as_str()),
        ("CREATE INDEX", "01000"),
        "{reply:?}"
    );
    assert_eq!(client.query("CREATE INDEX i ON t (nothing)").error().code, "42703");
    assert_eq!(client.query("CREATE INDEX i ON nowhere (a)").error().code, "42P01");
    // What would be a promise is refused.
    assert_eq!(client.query("CREATE UNIQUE INDEX i ON t (a)").error().code, "0A000");
}

#[test]
fn errors_have_a_class_what_to_do_and_a_place() {
    let served = Served::new();
    let mut client = served.client();
    let reply = client.query("SELECT 1;\nSELECT 1 +* 2");
    assert_eq!(reply.error().code, "42601");
    // The place counts from the start of the whole text.
    assert_eq!(reply.error().position, "21", "{reply:?}");
    assert_eq!(client.query("SELECT * FROM nowhere").error().code, "42P01");
    assert_eq!(client.query("SELECT x FROM (SELECT 1 AS y)").error().code, "42703");
    assert_eq!(client.query("SELECT 1 / 0").error().code, "22012");
    assert_eq!(client.query("SELECT CAST('x' AS BIGINT)").error().code, "22P02");
    assert_eq!(client.query("SELECT * FROM 'x.csv'").error().code, "42501");
    let reply = client.query(&format!("SET bonnet.statement_timeout = '10ms'; {ENDLESS}"));
    assert_eq!(reply.error().code, "57014");
    assert!(reply.error().hint.starts_with("raise it with SET"), "{reply:?}");
    assert_eq!(client.rows("SHOW statement_timeout"), [["0"]]);
}

#[test]
fn parameters_and_results_travel_in_both_formats() {
    let served = Served::new();
    let mut client = served.client();
    let statement = "SELECT $1 + 1, $2 || '!', $3, $4, $5, $6, NOT $7";
    let types = [INT8, TEXT, FLOAT8, DATE, TIMESTAMP, NUMERIC, BOOL];
    let values = ["41", "it's", "0.5", "2026-01-31", "2026-01-31 12:30:00", "-12.50", "t"];
    let reply = client.execute(statement, &types, &values.map(some), (0, 0));
    assert!(reply.errors.is_empty(), "{reply:?}");
    assert_eq!(reply.texts(), [["42", "it's!", "0.5", "2026-01-31", "2026-01-31 12:30:00", "-12.50", "f"]]);
    assert_eq!(reply.columns.iter().map(|(_, oid)| *oid).collect::<Vec<_>>(), types);
    // The same in binary, there and back.
    let binary: Vec<Cell> = vec![
        Some(41i64.to_be_bytes().to_vec()),
        some("it's"),
        Some(0.5f64.to_be_bytes().to_vec()),
        Some(9527i32.to_be_bytes().to_vec()),
        Some((9527i64 * 86_400_000_000 + 45_000_000_000).to_be_bytes().to_vec()),
        Some([2i16, 0, 0x4000, 2, 12, 5000].iter().flat_map(|part| part.to_be_bytes()).collect()),
        Some(vec![1]),
    ];
    let reply = client.execute(statement, &types, &binary, (1, 1));
    assert!(reply.errors.is_empty(), "{reply:?}");
    let mut expected = binary.clone();
    expected[0] = Some(42i64.to_be_bytes().to_vec());
    expected[1] = some("it's!");
    expected[6] = Some(vec![0]);
    assert_eq!(reply.rows, [expected]);
    // NULL, and arrays.
    let reply =
        client.execute("SELECT $1 IS NULL, array_length($2), $2", &[INT4, 1016], &[None, some("{1,NULL,3}")], (0, 0));
    assert_eq!(reply.texts(), [["t", "3", "{1,NULL,3}"]]);
    // What is no value of the type, or too few values.
    assert_eq!(client.execute("SELECT $1", &[INT8], &[some("x")], (0, 0)).error().code, "22P02");
    assert_eq!(client.execute("SELECT $1", &[INT8], &[], (0, 0)).error().code, "08P01");
    assert_eq!(client.rows("SELECT 1"), [["1"]]);
}

#[test]
fn types_of_parameters_are_found_by_their_places() {
    let served = Served::with_karate();
    let mut client = served.client();
    client.query("CREATE TABLE t (a BIGINT, b VARCHAR)");
    client.send([
        parse("s", "SELECT a, b FROM t WHERE a > $1 AND b = $2", &[]),
        describe(b'S', "s"),
        parse("i", "INSERT INTO t VALUES ($1, $2)", &[]),
        describe(b'S', "i"),
        PgWireFrontendMessage::Sync(Sync::new()),
    ]);
    let reply = client.reply();
    assert!(reply.errors.is_empty(), "{reply:?}");
    assert_eq!(reply.parameters, [INT8, TEXT]);
    assert_eq!(reply.columns, [("a".to_owned(), INT8), ("b".to_owned(), TEXT)]);
    assert!(reply.no_data);
    for (a, b) in [("1", "x"), ("2", "y")] {
        client.send([
            bind("", "i", &[some(a), some(b)], (0, 0)),
            execute("", 0),
            PgWireFrontendMessage::Sync(Sync::new()),
        ]);
        assert_eq!(client.reply().tags, ["INSERT 0 1"]);
    }
    client.send([
        bind("", "s", &[some("1"), some("y")], (0, 0)),
        execute("", 0),
        PgWireFrontendMessage::Sync(Sync::new()),
    ]);
    assert_eq!(client.reply().texts(), [["2", "y"]]);
    // As an option of a function, where a plan needs its value.
    let reply = client.execute("SELECT count(*) FROM cycle($1)", &[], &[some("7")], (0, 0));
    assert_eq!(reply.errors.len() + reply.rows.len(), 1, "{reply:?}");
    let reply = client.execute("SELECT count(*) FROM cycle($1)", &[INT8], &[some("7")], (0, 0));
    assert_eq!(reply.texts(), [["7"]]);
    // Names are taken once, and may be given back.
    client.send([parse("s", "SELECT 1", &[]), PgWireFrontendMessage::Sync(Sync::new())]);
    assert_eq!(client.reply().error().code, "42P05");
    client.send([
        PgWireFrontendMessage::Close(Close::new(b'S', Some("s".to_owned()))),
        parse("s", "SELECT 1", &[]),
        PgWireFrontendMessage::Sync(Sync::new()),
    ]);
    assert!(client.reply().errors.is_empty());
    assert_eq!(client.query("DEALLOCATE s").tags, ["DEALLOCATE"]);
    client.send([bind("", "s", &[], (0, 0)), PgWireFrontendMessage::Sync(Sync::new())]);
    assert_eq!(client.reply().error().code, "26000");
}

#[test]
fn a_portal_gives_so_many_rows_at_a_time() {
    let served = Served::new();
    let mut client = served.client();
    client.query("BEGIN");
    client.send([
        parse("", "SELECT value FROM generate_series(1, 20000) ORDER BY value", &[]),
        bind("p", "", &[], (0, 0)),
        execute("p", 3),
        PgWireFrontendMessage::Sync(Sync::new()),
    ]);
    let reply = client.reply();
    assert_eq!((reply.texts().concat().join(" ").as_str(), reply.suspended), ("1 2 3", true));
    // Another statement between does not disturb it.
    assert_eq!(client.rows("SELECT 1"), [["1"]]);
    client.send([execute("p", 10_000), PgWireFrontendMessage::Sync(Sync::new())]);
    let reply = client.reply();
    assert_eq!((reply.rows.len(), reply.suspended), (10_000, true));
    client.send([execute("p", 0), PgWireFrontendMessage::Sync(Sync::new())]);
    let reply = client.reply();
    assert_eq!((reply.rows.len(), reply.suspended, reply.tags[0].as_str()), (9997, false, "SELECT 9997"));
    assert_eq!(reply.rows.last().unwrap()[0], some("20000"));
    // A portal ends with its transaction.
    client.query("COMMIT");
    client.send([execute("p", 0), PgWireFrontendMessage::Sync(Sync::new())]);
    assert_eq!(client.reply().error().code, "34000");
}

#[test]
fn after_an_error_messages_are_passed_over_up_to_sync() {
    let served = Served::new();
    let mut client = served.client();
    client.query("CREATE TABLE t (a BIGINT)");
    client.send([
        parse("", "SELECT nothing FROM t", &[]),
        bind("", "", &[], (0, 0)),
        execute("", 0),
        parse("", "INSERT INTO t VALUES (1)", &[]),
        bind("", "", &[], (0, 0)),
        execute("", 0),
        PgWireFrontendMessage::Sync(Sync::new()),
    ]);
    assert_eq!(client.reply().error().code, "42703");
    assert_eq!(client.rows("SELECT count(*) FROM t"), [["0"]]);
    let reply = client.execute("", &[], &[], (0, 0));
    assert!(reply.empty && reply.errors.is_empty(), "{reply:?}");
    let reply = client.execute("SELECT 1; SELECT 2", &[], &[], (0, 0));
    assert_eq!(reply.error().code, "42601");
}

#[test]
fn an_error_comes_before_the_sync_of_a_client_that_waits_for_it() {
    let served = Served::new();
    let mut client = served.client();
    // As asyncpg prepares a statement.
    let flush = PgWireFrontendMessage::Flush(Flush::new());
    client.send([parse("", "SELECT nothing", &[]), describe(b'S', ""), flush]);
    let message = client.message();
    assert!(matches!(message, Some(PgWireBackendMessage::ParseComplete(_))), "{message:?}");
    let message = client.message();
    assert!(matches!(message, Some(PgWireBackendMessage::ErrorResponse(_))), "{message:?}");
    client.send([PgWireFrontendMessage::Sync(Sync::new())]);
    assert_eq!(client.reply().status, Some(TransactionStatus::Idle));
    assert_eq!(client.rows("SELECT 1"), [["1"]]);
}

#[test]
fn a_key_cancels_the_statement_of_its_connection_alone() {
    let served = Served::new();
    let (mut client, mut other) = (served.client(), served.client());
    client.send([PgWireFrontendMessage::Query(Query::new(ENDLESS.to_owned()))]);
    let (key, done) = (client.key(), AtomicBool::new(false));
    std::thread::scope(|threads| {
        // Until the statement runs there is nothing to cancel: the key is sent until it has an effect.
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                cancel(served.address, &key);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        assert_eq!(client.reply().error().code, "57014");
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(other.rows("SELECT 1"), [["1"]]);
    assert_eq!(client.rows("SELECT 2"), [["2"]]);
    // Another key, or another secret, cancels nothing.
    let wrong = (key.0, SecretKey::I32(1));
    cancel(served.address, &wrong);
    assert_eq!(client.rows("SELECT 3"), [["3"]]);
}

#[test]
fn clients_settings_are_answered_and_those_of_the_engine_are_its_own() {
    let served = Served::with_karate();
    let mut client = served.client();
    let settings: Vec<&str> = client.settings.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["server_version", "client_encoding", "DateStyle", "TimeZone", "integer_datetimes"] {
        assert!(settings.contains(&name), "{settings:?}");
    }
    assert_eq!(client.rows("SHOW TRANSACTION ISOLATION LEVEL"), [["read committed"]]);
    assert_eq!(client.query("SET extra_float_digits = 3").tags, ["SET"]);
    assert_eq!(client.rows("SHOW extra_float_digits"), [["3"]]);
    assert_eq!(client.query("SET client_encoding = 'LATIN1'").error().code, "22023");
    assert_eq!(client.query("SET statement_timeout = 5000").tags, ["SET"]);
    assert_eq!(client.rows("SHOW bonnet.statement_timeout"), [["bonnet.statement_timeout", "5s"]]);
    assert_eq!(client.query("SET search_path TO karate, public").tags, ["SET"]);
    assert_eq!(client.rows("SELECT count(*) FROM edges"), [["78"]]);
    assert_eq!(client.rows("SELECT current_schema()"), [["karate"]]);
    assert_eq!(client.query("RESET search_path; SELECT current_schema()").texts(), [["main"]]);
    assert!(client.query("SET nothing_of_this = 1").errors.len() == 1);
    assert_eq!(client.rows("SHOW bonnet.external_access"), [["bonnet.external_access", "off"]]);
    assert_eq!(client.query("SET bonnet.external_access = on").errors.len(), 1);
    assert_eq!(client.query("DISCARD ALL").tags, ["DEALLOCATE ALL"]);
    assert_eq!(client.query("ATTACH 'builtin:karate' AS other").error().code, "42501");
    assert_eq!(client.query("COPY (SELECT 1) TO 'x.csv'").error().code, "42501");
}
