//! What servers do that are no good ones: those that keep silent, and none at all. What they answer in words is tested with the
//! command, in `tests/remote`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use datafusion::execution::runtime_env::RuntimeEnv;

use super::address::Address;
use super::copied::copied_within;
use super::opened::opened_within;

const SHORT: Duration = Duration::from_millis(300);

/// A server that reads a request, answers these bytes, and then keeps silent. Its address.
fn silent_after(answer: &'static str) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/x.csv", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut kept = Vec::new();
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
            kept.push(stream);
        }
    });
    Address::parse(&address).unwrap()
}

#[tokio::test]
async fn a_server_that_keeps_silent_is_given_up() {
    let runtime = RuntimeEnv::default();
    let start = Instant::now();
    for answer in ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na,b\n1,2\n"] {
        let address = silent_after(answer);
        let error = copied_within(&address, &runtime, SHORT).await.unwrap_err().strip_backtrace();
        assert!(error.contains("has been silent for 0.3 s") && error.contains("127.0.0.1"), "{error}");
    }
    let error = opened_within(&silent_after(""), SHORT).await.unwrap_err().strip_backtrace();
    assert!(error.contains("has been silent"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn nobody_at_the_address_is_said() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = Address::parse(&format!("http://{closed}/x.csv?key=secret")).unwrap();
    let error = copied_within(&address, &RuntimeEnv::default(), SHORT * 20).await.unwrap_err().strip_backtrace();
    assert!(error.contains("cannot be reached: ") && error.contains("refused"), "{error}");
    assert!(!error.contains("secret"), "{error}");
}
