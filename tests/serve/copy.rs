//! COPY over the connection: rows in and out, as text, CSV and in binary.

use pgwire::messages::PgWireFrontendMessage;
use pgwire::messages::copy::{CopyDone, CopyFail};
use pgwire::messages::extendedquery::Sync;
use pgwire::messages::response::TransactionStatus;
use pgwire::messages::simplequery::Query;

use super::Served;
use super::client::{Client, bind, copy_data, describe, execute, parse};

fn with_table() -> (Served, Client) {
    let served = Served::new();
    let mut client = served.client();
    client.query("CREATE TABLE t (a BIGINT NOT NULL, b VARCHAR, c DOUBLE DEFAULT 0.5, d DATE)");
    (served, client)
}

#[test]
fn lines_of_text_become_rows() {
    let (_served, mut client) = with_table();
    let data: [&[u8]; 3] = [b"1\tone\\ttab\t1.5\t2026-01-31\n2\t", b"\\N\t\\N\t\\N\n3\t\tNaN\t2026", b"-02-01\n"];
    let reply = client.copy_in("COPY t FROM STDIN", &data);
    assert_eq!((reply.tags.join(" ").as_str(), reply.copy), ("COPY 3", Some((0, vec![0; 4]))), "{:?}", reply.errors);
    assert_eq!(reply.status, Some(TransactionStatus::Idle));
    let rows = client.rows("SELECT * FROM t ORDER BY a");
    assert_eq!(rows[0], ["1", "one\ttab", "1.5", "2026-01-31"]);
    assert_eq!(rows[1], ["2", "NULL", "NULL", "NULL"]);
    assert_eq!(rows[2], ["3", "", "NaN", "2026-02-01"]);
    // As it was read it is written.
    let text = client.copy_out("COPY (SELECT * FROM t ORDER BY a) TO STDOUT");
    assert_eq!(text, "1\tone\\ttab\t1.5\t2026-01-31\n2\t\\N\t\\N\t\\N\n3\t\tNaN\t2026-02-01\n");
    assert_eq!(client.copy_in("COPY t FROM STDIN", &[]).tags, ["COPY 0"]);
}

#[test]
fn csv_with_a_header_and_listed_columns_becomes_rows() {
    let (_served, mut client) = with_table();
    let data = b"b;a\n\"x; \"\"y\"\"\nz\";1\n;2\n\"\";3\n";
    let reply = client.copy_in("COPY t (b, a) FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';')", &[data]);
    assert_eq!(reply.tags, ["COPY 3"], "{:?}", reply.errors);
    // A column that is not listed has its default.
    let rows = client.rows("SELECT a, b, c, d FROM t ORDER BY a");
    assert_eq!(rows[0], ["1", "x; \"y\"\nz", "0.5", "NULL"]);
    assert_eq!((rows[1][1].as_str(), rows[2][1].as_str()), ("NULL", ""));
    let text = client.copy_out("COPY t (a, b) TO STDOUT (FORMAT csv, HEADER, NULL 'NA')");
    assert_eq!(text, "a,b\n1,\"x; \"\"y\"\"\nz\"\n2,NA\n3,\n");
    // One row a message.
    let reply = client.query("COPY (SELECT value FROM generate_series(1, 3)) TO STDOUT CSV");
    assert_eq!(
        (reply.copied, reply.tags),
        (vec![b"1\n".to_vec(), b"2\n".to_vec(), b"3\n".to_vec()], vec!["COPY 3".into()])
    );
    // Of the catalog, too.
    assert_eq!(client.copy_out("COPY (SELECT relname FROM pg_class WHERE relname = 't') TO STDOUT"), "t\n");
}

#[test]
fn a_bad_line_is_named_and_nothing_is_kept() {
    let (_served, mut client) = with_table();
    let mut wrong = |text: &str, data: &[u8]| {
        let reply = client.copy_in(text, &[data]);
        let error = reply.error().clone();
        assert_eq!((reply.status, reply.tags.len()), (Some(TransactionStatus::Idle), 0), "{reply:?}");
        assert_eq!(client.rows("SELECT count(*) FROM t"), [["0"]], "{error:?}");
        (error.code, error.message)
    };
    let (code, message) = wrong("COPY t (a, d) FROM STDIN", b"1\t2026-01-31\n2\t2026-02-30\n");
    assert_eq!((code.as_str(), message.as_str()), ("22P02", "line 2, column d: '2026-02-30' is no date"));
    let (code, message) = wrong("COPY t (a, b) FROM STDIN CSV HEADER", b"a,b\n1,x\n\n");
    assert_eq!((code.as_str(), message.as_str()), ("22P04", "line 3: 1 values, where 2 are expected"));
    assert_eq!(
        wrong("COPY t (a) FROM STDIN", b"1\n\\N\n"),
        ("23502".into(), "line 2: the column a takes no NULL".into())
    );
    assert_eq!(wrong("COPY t (b) FROM STDIN", b"x\n").0, "23502");
    assert_eq!(wrong("COPY t (a, b) FROM STDIN", b"1\t\xff\n").1, "line 1, column b: the text is not UTF-8");
    assert_eq!(wrong("COPY t FROM STDIN (FORMAT binary)", b"1,2\n").0, "22P04");
    assert_eq!(wrong("COPY t (a, a) FROM STDIN", b"").0, "42701");
    assert_eq!(wrong("COPY t (nothing) FROM STDIN", b"").0, "42703");
    assert_eq!(wrong("COPY nowhere FROM STDIN", b"1\n").0, "42P01");
    assert_eq!(wrong("COPY t FROM STDIN (FORMAT parquet)", b"").0, "22023");
    assert_eq!(wrong("COPY t TO STDOUT (FORMAT csv, FORCE_QUOTE *)", b"").0, "0A000");
    // Rows of many batches before the bad one.
    let mut lines: String = (0..30_000).map(|line| format!("{line}\n")).collect();
    lines.push_str("last\n");
    let (_, message) = wrong("COPY t (a) FROM STDIN", lines.as_bytes());
    assert_eq!(message, "line 30001, column a: 'last' is no bigint");
}

#[test]
fn a_copy_that_is_cut_off_keeps_nothing() {
    let (served, mut client) = with_table();
    let begin = |client: &mut Client| {
        client.send([PgWireFrontendMessage::Query(Query::new("COPY t (a) FROM STDIN".to_owned()))]);
        let lines: String = (0..30_000).map(|line| format!("{line}\n")).collect();
        client.send([copy_data(lines.as_bytes())]);
    };
    begin(&mut client);
    client.send([PgWireFrontendMessage::CopyFail(CopyFail::new("enough".to_owned()))]);
    let reply = client.reply();
    assert_eq!(reply.error().code, "57014");
    assert!(reply.error().message.ends_with("nothing of it is kept: enough"), "{reply:?}");
    assert_eq!(client.rows("SELECT count(*) FROM t"), [["0"]]);
    // A client that goes away.
    let mut other = served.client();
    begin(&mut other);
    drop(other);
    for _ in 0..20 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        assert_eq!(client.rows("SELECT count(*) FROM t"), [["0"]]);
    }
}

#[test]
fn binary_rows_go_out_and_come_back() {
    let (_served, mut client) = with_table();
    client.query(
        "CREATE TABLE many AS SELECT 7::BIGINT AS a, 2::SMALLINT AS b, 3::INTEGER AS c, 0.25::DOUBLE AS d, 1.5::FLOAT AS e, \
         'é' AS f, true AS g, DATE '2026-01-31' AS h, TIMESTAMP '2026-01-31 12:30:00.0005' AS i, 12.50::DECIMAL(9, 2) AS j, \
         [1, NULL, 3] AS k, TIME '01:02:03' AS l",
    );
    client.query("INSERT INTO many (a) VALUES (8)");
    let reply = client.query("COPY (SELECT * FROM many ORDER BY a) TO STDOUT (FORMAT binary)");
    assert_eq!((reply.tags.join(" ").as_str(), reply.copy), ("COPY 2", Some((1, vec![1; 12]))), "{:?}", reply.errors);
    let data = reply.copied.concat();
    assert!(data.starts_with(b"PGCOPY\n\xff\r\n\0") && data.ends_with(&[0xff; 2]));
    client.query("CREATE TABLE again AS SELECT * FROM many LIMIT 0");
    let parts: Vec<&[u8]> = data.chunks(11).collect();
    let reply = client.copy_in("COPY again FROM STDIN WITH BINARY", &parts);
    assert_eq!(reply.tags, ["COPY 2"], "{:?}", reply.errors);
    assert_eq!(client.rows("SELECT * FROM again ORDER BY a"), client.rows("SELECT * FROM many ORDER BY a"));
}

#[test]
fn copies_stand_in_transactions_and_in_the_extended_protocol() {
    let (_served, mut client) = with_table();
    client.query("BEGIN; CREATE TABLE n (a BIGINT)");
    assert_eq!(client.copy_in("COPY n FROM STDIN", &[b"1\n2\n"]).tags, ["COPY 2"]);
    assert_eq!(client.query("ROLLBACK").tags, ["ROLLBACK"]);
    assert_eq!(client.query("SELECT * FROM n").error().code, "42P01");
    client.query("BEGIN");
    assert_eq!(client.copy_in("COPY t (a) FROM STDIN", &[b"1\n"]).tags, ["COPY 1"]);
    assert_eq!(client.copy_in("COPY t (a) FROM STDIN", &[b"2\n"]).tags, ["COPY 1"]);
    assert_eq!(client.rows("SELECT count(*) FROM t"), [["2"]]);
    assert_eq!(client.query("ROLLBACK").tags, ["ROLLBACK"]);
    assert_eq!(client.rows("SELECT count(*) FROM t"), [["0"]]);
    // libpq sends its Sync before it hears of the COPY, and another one at the end.
    client.send([
        parse("", "COPY t (a) FROM STDIN", &[]),
        bind("", "", &[], (0, 0)),
        describe(b'P', ""),
        execute("", 0),
        PgWireFrontendMessage::Sync(Sync::new()),
        copy_data(b"5\n"),
        PgWireFrontendMessage::CopyDone(CopyDone::new()),
        PgWireFrontendMessage::Sync(Sync::new()),
    ]);
    let reply = client.reply();
    assert_eq!((reply.tags.join(" ").as_str(), reply.no_data), ("COPY 1", true), "{reply:?}");
    let reply = client.execute("COPY (SELECT a FROM t ORDER BY a) TO STDOUT", &[], &[], (0, 0));
    assert_eq!((reply.copied.concat().as_slice(), reply.tags.join(" ").as_str()), (&b"5\n"[..], "COPY 1"));
    // Of files nothing is read or written all the same.
    assert_eq!(client.query("COPY t FROM 'x.csv'").error().code, "42501");
    assert_eq!(client.query("COPY t TO 'x.csv'").error().code, "42501");
}
