//! The server of PostgreSQL's protocol: what its clients send, and what they get.

mod catalog;
mod client;
mod copy;
mod cursors;
mod limits;
mod programs;
mod scripts;
mod statements;
mod transactions;

use std::net::SocketAddr;

use bonnet_serve::{ServeOptions, Server};
use bonnetdb::{Engine, EngineOptions};

use self::client::Client;

/// A server in this process, on any free port.
struct Served {
    address: SocketAddr,
    engine: Engine,
    /// Ends the server when it is dropped.
    _connections: tokio::runtime::Runtime,
}

impl Served {
    fn new() -> Self {
        Self::with(ServeOptions::default())
    }

    fn with(options: ServeOptions) -> Self {
        let engine = Engine::open(EngineOptions { threads: Some(2), ..EngineOptions::default() }).unwrap();
        Self::of(engine, options)
    }

    fn of(engine: Engine, options: ServeOptions) -> Self {
        let connections = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let options = ServeOptions { address: "127.0.0.1:0".to_owned(), ..options };
        let server = connections.block_on(Server::bind(engine.clone(), options)).unwrap();
        let address = server.address();
        connections.spawn(server.run());
        Self { address, engine, _connections: connections }
    }

    fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// With the data that the project ships attached.
    fn with_karate() -> Self {
        let served = Self::new();
        served.engine.sql("ATTACH 'builtin:karate' AS karate").unwrap();
        served
    }
}

/// What a statement is refused with in a session of a server as it is by itself.
#[cfg(feature = "remote")]
pub(crate) fn refused(sql: &str) -> String {
    Served::new().client().query(sql).error().message.clone()
}
