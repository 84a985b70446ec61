//! What a server refuses and bounds: addresses, passwords, connections, memory, and clients that do not read.

use std::time::Duration;

use bonnet_serve::{ServeOptions, Server};
use bonnetdb::{Engine, EngineOptions};
use pgwire::messages::PgWireFrontendMessage;
use pgwire::messages::simplequery::Query;

use super::Served;
use super::client::Client;

fn refused(options: ServeOptions) -> String {
    let engine = Engine::open(EngineOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match runtime.block_on(Server::bind(engine, options)) {
        Ok(server) => panic!("it serves at {}", server.address()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_server_says_why_it_cannot_listen() {
    let at = |address: &str| ServeOptions { address: address.to_owned(), ..ServeOptions::default() };
    let served = Served::new();
    let text = refused(at(&served.address.to_string()));
    assert!(text.contains(&format!("port {} of 127.0.0.1 is in use", served.address.port())), "{text}");
    assert!(refused(at("0.0.0.0:0")).contains("can be reached from other machines: it needs a certificate"));
    let with_password = ServeOptions { login: Some(("me".into(), "secret".into())), ..at("0.0.0.0:0") };
    assert!(refused(with_password).contains("it needs a certificate"));
    assert!(refused(at("here")).contains("here is no address to serve at"));
    let empty = ServeOptions { login: Some(("me".into(), String::new())), ..at("127.0.0.1:0") };
    assert!(refused(empty).contains("the password is empty"));
    let missing = ServeOptions { tls: Some(("no.pem".into(), "no.key".into())), ..at("127.0.0.1:0") };
    assert!(refused(missing).contains("'no.pem'"));
}

#[test]
fn a_database_that_is_not_there_and_a_client_too_many_are_told() {
    let served = Served::with(ServeOptions { connections: 2, ..ServeOptions::default() });
    let error = Client::with(served.address, &[("user", "me"), ("database", "nowhere")]).err().unwrap();
    assert_eq!((error.code.as_str(), error.hint.as_str()), ("3D000", "there are: memory"));
    assert_eq!(Client::with(served.address, &[("database", "memory")]).err().unwrap().code, "28000");
    // The server takes note of an end when it next reads.
    let within = |parameters: &[(&str, &str)]| {
        (0..200).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            Client::with(served.address, parameters).ok()
        })
    };
    let first = within(&[("user", "me"), ("database", "memory")]).unwrap();
    let _second = within(&[("user", "me"), ("options", "-c statement_timeout=1000")]).unwrap();
    assert_eq!(Client::with(served.address, &[("user", "me")]).err().unwrap().code, "53300");
    drop(first);
    assert!(within(&[("user", "me")]).is_some());
}

#[test]
fn an_unknown_password_is_no_way_in() {
    let login = Some(("me".to_owned(), "secret".to_owned()));
    let served = Served::with(ServeOptions { login, ..ServeOptions::default() });
    let mut client = Client::connected(served.address);
    client.send([PgWireFrontendMessage::Startup({
        let mut startup = pgwire::messages::startup::Startup::new();
        startup.parameters.insert("user".into(), "me".into());
        startup
    })]);
    // A statement in place of the password.
    client.send([PgWireFrontendMessage::Query(Query::new("SELECT 1".to_owned()))]);
    let reply = client.reply();
    assert!(reply.rows.is_empty() && reply.status.is_none(), "{reply:?}");
}

#[test]
fn what_is_no_message_ends_its_connection_alone() {
    let served = Served::new();
    let mut steady = served.client();
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0, 0, 0, 8, 0, 0, 0, 0], &[0xff; 64], &[0, 0, 0, 9, 0, 3, 0, 0, 0]]
    {
        let mut client = Client::connected(served.address);
        client.send_bytes(bytes);
        let reply = client.reply();
        assert!(reply.status.is_none(), "{bytes:?}: {reply:?}");
    }
    // A message that says it is a gigabyte long.
    let mut client = served.client();
    client.send_bytes(&[b'Q', 0x3f, 0xff, 0xff, 0xff, b'S']);
    assert!(client.message().is_none());
    assert_eq!(steady.rows("SELECT 1"), [["1"]]);
}

#[test]
fn a_connection_has_its_part_of_the_memory() {
    let served = Served::with(ServeOptions { connection_memory: Some(4_000_000), ..ServeOptions::default() });
    let mut client = served.client();
    // An aggregate that holds a list of all values cannot spill.
    let reply = client.query("SELECT array_length(array_agg(value)) FROM generate_series(1, 3000000)");
    assert_eq!(reply.error().code, "53200", "{reply:?}");
    assert!(reply.error().message.contains("for each connection"), "{reply:?}");
    assert_eq!(client.rows("SELECT count(*) FROM generate_series(1, 3000000)"), [["3000000"]]);
}

/// The bytes of memory that the process holds.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_stops_reading_holds_no_memory() {
    let served = Served::new();
    let mut client = served.client();
    assert_eq!(client.rows("SELECT count(*) FROM generate_series(1, 100000)"), [["100000"]]);
    let before = resident();
    client.send([PgWireFrontendMessage::Query(Query::new(
        "SELECT value, repeat('x', 1000) FROM generate_series(1, 1000000000)".to_owned(),
    ))]);
    assert!(client.message().is_some());
    // Time enough for gigabytes.
    std::thread::sleep(Duration::from_millis(700));
    let grown = resident().saturating_sub(before);
    assert!(grown < 300 << 20, "{} MiB", grown >> 20);
    // Others are served meanwhile, and the server outlives the client.
    assert_eq!(served.client().rows("SELECT 1"), [["1"]]);
    drop(client);
    assert_eq!(served.client().rows("SELECT 1"), [["1"]]);
}

#[test]
fn the_statement_of_a_client_that_has_gone_ends() {
    let served = Served::with(ServeOptions { connections: 1, ..ServeOptions::default() });
    let mut client = served.client();
    let endless = "SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b WHERE a.value % 7 = b.value % 11";
    client.send([PgWireFrontendMessage::Query(Query::new(endless.to_owned()))]);
    drop(client);
    // Its place is free once its statement has ended.
    let next = (0..500).find_map(|_| {
        std::thread::sleep(Duration::from_millis(20));
        Client::with(served.address, &[("user", "me")]).ok()
    });
    assert!(next.is_some());
}

#[test]
fn a_client_that_says_nothing_is_left() {
    let idle_time = Some(Duration::from_millis(50));
    let served = Served::with(ServeOptions { idle_time, ..ServeOptions::default() });
    let mut client = served.client();
    assert!(client.message().is_none());
}
