//! DECLARE, FETCH, MOVE and CLOSE.

use pgwire::messages::PgWireFrontendMessage;
use pgwire::messages::extendedquery::Sync;

use super::Served;
use super::client::describe;

#[test]
fn a_cursor_gives_its_rows_by_and_by() {
    let served = Served::new();
    let mut client = served.client();
    client.query("BEGIN");
    let declared =
        client.query("DECLARE \"My c\" NO SCROLL CURSOR FOR SELECT value, 'x' AS t FROM generate_series(1, 10)");
    assert_eq!(declared.tags, ["DECLARE CURSOR"], "{declared:?}");
    let reply = client.query("FETCH FORWARD 2 FROM \"My c\"");
    assert_eq!(
        (reply.texts(), reply.tags.join(" ").as_str()),
        (vec![vec!["1".into(), "x".into()], vec!["2".into(), "x".into()]], "FETCH 2")
    );
    assert_eq!(reply.columns[0].0, "value");
    assert_eq!(client.rows("FETCH \"My c\"")[0][0], "3");
    let reply = client.query("MOVE 4 IN \"My c\"");
    assert_eq!((reply.tags.join(" ").as_str(), reply.rows.len(), reply.columns.len()), ("MOVE 4", 0, 0));
    // psycopg asks for the columns by the cursor's name, and for rows in binary.
    client.send([describe(b'P', "My c"), PgWireFrontendMessage::Sync(Sync::new())]);
    assert_eq!(client.reply().columns[0], ("value".to_owned(), 20));
    let reply = client.execute("FETCH 1 FROM \"My c\"", &[], &[], (0, 1));
    assert_eq!((reply.rows[0][0].clone(), reply.columns.len()), (Some(8_i64.to_be_bytes().to_vec()), 2), "{reply:?}");
    // Other statements in between.
    assert_eq!(client.rows("SELECT 1"), [["1"]]);
    let reply = client.query("FETCH ALL FROM \"My c\"");
    assert_eq!((reply.rows.len(), reply.tags.join(" ").as_str(), reply.columns.len()), (2, "FETCH 2", 2));
    let reply = client.query("FETCH 5 FROM \"My c\"");
    assert_eq!((reply.rows.len(), reply.tags.join(" ").as_str(), reply.columns.len()), (0, "FETCH 0", 2));
    assert_eq!(client.query("CLOSE \"My c\"").tags, ["CLOSE CURSOR"]);
    assert_eq!(client.query("FETCH 1 FROM \"My c\"").error().code, "34000");
    client.query("ROLLBACK");
}

#[test]
fn a_cursor_lasts_as_long_as_its_transaction_unless_it_is_held() {
    let served = Served::new();
    let mut client = served.client();
    let error = client.query("DECLARE c CURSOR FOR SELECT 1").error().clone();
    assert_eq!((error.code.as_str(), error.hint.is_empty()), ("25P01", true), "{error:?}");
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT 1 AS a");
    assert_eq!(client.query("DECLARE c CURSOR FOR SELECT 2").error().code, "42P03");
    client.query("ROLLBACK");
    assert_eq!(client.query("FETCH c").error().code, "34000");
    assert_eq!(
        client.query("DECLARE h CURSOR WITH HOLD FOR SELECT value FROM generate_series(1, 3)").tags,
        ["DECLARE CURSOR"]
    );
    assert_eq!(client.rows("FETCH 2 FROM h"), [["1"], ["2"]]);
    assert_eq!(client.query("CLOSE ALL").tags, ["CLOSE CURSOR ALL"]);
    assert_eq!(client.query("FETCH h").error().code, "34000");
    // Errors of the query stand where they are in the statement.
    let text = "BEGIN; DECLARE c CURSOR FOR SELECT nothing";
    let error = client.query(text).error().clone();
    assert_eq!(error.code, "42703");
    assert_eq!(error.position.parse::<usize>().unwrap(), text.find("nothing").unwrap() + 1);
    client.query("ROLLBACK; BEGIN");
    assert_eq!(client.query("DECLARE c CURSOR FOR CREATE TABLE x (a BIGINT)").error().code, "42601");
    client.query("ROLLBACK; BEGIN; DECLARE c CURSOR FOR SELECT 1");
    assert_eq!(client.query("FETCH PRIOR FROM c").error().code, "0A000");
}
