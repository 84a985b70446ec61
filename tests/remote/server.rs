//! A server of files in this process: HTTP with parts of files and tags, and as much of S3 as files take.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What it has, and what it was asked.
#[derive(Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    /// What takes the place of a file once it has been asked for so often.
    changes: BTreeMap<String, (usize, Vec<u8>)>,
    asked: Vec<String>,
    /// Whether each request was signed.
    signed: Vec<bool>,
    /// Parts of uploads.
    parts: BTreeMap<String, BTreeMap<usize, Vec<u8>>>,
}

/// The server. It lives as long as the process.
#[derive(Clone)]
pub(crate) struct Server {
    /// `127.0.0.1:port`.
    pub(crate) host: String,
    state: Arc<Mutex<State>>,
}

/// A request as far as it matters.
struct Request {
    method: String,
    path: String,
    query: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

struct Answer {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn of(status: &'static str) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    fn xml(text: String) -> Self {
        Self {
            status: "200 OK",
            headers: vec![("Content-Type", "application/xml".to_owned())],
            body: text.into_bytes(),
        }
    }
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { host: listener.local_addr().unwrap().to_string(), state: Arc::default() };
        let own = server.clone();
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let server = own.clone();
                thread::spawn(move || server.serve(stream));
            }
        });
        server
    }

    /// Has a file, by the path in its address.
    pub(crate) fn has(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.state.lock().unwrap().files.insert(path.to_owned(), bytes.into());
    }

    /// Has other bytes at a path once it has been asked for so often.
    pub(crate) fn changes(&self, path: &str, after: usize, bytes: impl Into<Vec<u8>>) {
        self.state.lock().unwrap().changes.insert(path.to_owned(), (after, bytes.into()));
    }

    pub(crate) fn file(&self, path: &str) -> Option<Vec<u8>> {
        self.state.lock().unwrap().files.get(path).cloned()
    }

    /// What it was asked since the last time, `GET /x.csv 0-9`, and whether all of it was signed.
    pub(crate) fn asked(&self) -> (Vec<String>, bool) {
        let mut state = self.state.lock().unwrap();
        let signed = std::mem::take(&mut state.signed);
        (std::mem::take(&mut state.asked), signed.iter().all(|signed| *signed))
    }

    fn serve(&self, stream: TcpStream) {
        let mut out = stream.try_clone().unwrap();
        let mut reader = BufReader::new(stream);
        while let Some(request) = read(&mut reader) {
            let answer = self.answer(&request);
            let mut head = format!("HTTP/1.1 {}\r\n", answer.status);
            for (name, value) in &answer.headers {
                let _ = write!(head, "{name}: {value}\r\n");
            }
            let _ = write!(head, "Content-Length: {}\r\n\r\n", answer.body.len());
            let body = if request.method == "HEAD" { &[][..] } else { &answer.body };
            if out.write_all(head.as_bytes()).and_then(|()| out.write_all(body)).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        let mut state = self.state.lock().unwrap();
        let range = request.headers.get("range").map(|range| range.trim_start_matches("bytes=").to_owned());
        let entry = format!("{} {} {}", request.method, request.path, range.as_deref().unwrap_or_default());
        state.asked.push(entry.trim_end().to_owned());
        let signed = request.headers.get("authorization").is_some_and(|it| it.starts_with("AWS4-HMAC-SHA256"));
        state.signed.push(signed);
        match request.method.as_str() {
            "GET" | "HEAD" if request.query.contains("list-type=2") => list(&state, request),
            "GET" | "HEAD" => get(&mut state, request, range.as_deref()),
            "POST" if request.query.starts_with("uploads") => {
                state.parts.insert(request.path.clone(), BTreeMap::new());
                Answer::xml(
                    "<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>".to_owned(),
                )
            }
            "POST" => {
                let parts = state.parts.remove(&request.path).unwrap_or_default();
                state.files.insert(request.path.clone(), parts.into_values().flatten().collect());
                Answer::xml(
                    "<CompleteMultipartUploadResult><ETag>\"e\"</ETag></CompleteMultipartUploadResult>".to_owned(),
                )
            }
            "PUT" if request.path.starts_with("/readonly/") => Answer::of("405 Method Not Allowed"),
            "PUT" => {
                let number = request.query.split('&').find_map(|pair| pair.strip_prefix("partNumber="));
                match number.map(|number| number.parse().unwrap()) {
                    Some(number) => {
                        let parts = state.parts.entry(request.path.clone()).or_default();
                        parts.insert(number, request.body.clone());
                    }
                    None => {
                        state.files.insert(request.path.clone(), request.body.clone());
                    }
                }
                Answer { headers: vec![("ETag", "\"new\"".to_owned())], ..Answer::of("200 OK") }
            }
            _ => Answer::of("405 Method Not Allowed"),
        }
    }
}

/// A file, or what its folder stands for: `/circle` redirects to itself, `/moved` to `/files`, `/plain` gives no parts.
fn get(state: &mut State, request: &Request, range: Option<&str>) -> Answer {
    let path = request.path.as_str();
    let to = |place: String| Answer { headers: vec![("Location", place)], ..Answer::of("302 Found") };
    match path.split('/').nth(1).unwrap_or_default() {
        "circle" => return to(path.to_owned()),
        "moved" => return to(path.replacen("/moved", "/files", 1)),
        "forbidden" => return Answer::of("403 Forbidden"),
        "busy" => return Answer::of("503 Service Unavailable"),
        _ => {}
    }
    if let Some((left, _)) = state.changes.get_mut(path) {
        match left.checked_sub(1) {
            Some(less) => *left = less,
            None => {
                let (_, bytes) = state.changes.remove(path).unwrap();
                state.files.insert(path.to_owned(), bytes);
            }
        }
    }
    let Some(bytes) = state.files.get(path) else { return Answer::of("404 Not Found") };
    let sum = bytes.iter().fold(bytes.len() as u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    let tag = format!("\"{sum:x}\"");
    // `/careless` has tags, and does not look at those of others.
    let differs = request.headers.get("if-match").is_some_and(|asked| *asked != tag);
    if differs && !path.starts_with("/careless/") {
        return Answer::of("412 Precondition Failed");
    }
    let mut headers = vec![("ETag", tag), ("Last-Modified", "Thu, 26 Nov 2026 12:00:00 GMT".to_owned())];
    let Some(range) = range.filter(|_| !path.starts_with("/plain/")) else {
        return Answer { status: "200 OK", headers, body: bytes.clone() };
    };
    let (first, last) = range.split_once('-').unwrap();
    let last_byte = bytes.len().saturating_sub(1);
    let (first, last) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, last.min(last_byte)),
        (Ok(first), Err(_)) => (first, last_byte),
        (_, Ok(count)) => (bytes.len().saturating_sub(count), last_byte),
        _ => return Answer::of("400 Bad Request"),
    };
    if bytes.is_empty() || first > last {
        return Answer::of("416 Range Not Satisfiable");
    }
    headers.push(("Content-Range", format!("bytes {first}-{last}/{}", bytes.len())));
    Answer { status: "206 Partial Content", headers, body: bytes[first..=last].to_vec() }
}

/// The objects of a bucket below a prefix.
fn list(state: &State, request: &Request) -> Answer {
    let prefix = request.query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default();
    let bucket = format!("{}/", request.path.trim_end_matches('/'));
    let start = format!("{bucket}{}", prefix.replace("%2F", "/"));
    let mut text = "<ListBucketResult><IsTruncated>false</IsTruncated>".to_owned();
    for (path, bytes) in state.files.iter().filter(|(path, _)| path.starts_with(&start)) {
        let _ = write!(
            text,
            "<Contents><Key>{}</Key><LastModified>2026-11-26T12:00:00.000Z</LastModified><ETag>\"e\"</ETag><Size>{}</Size></Contents>",
            &path[bucket.len()..],
            bytes.len()
        );
    }
    Answer::xml(text + "</ListBucketResult>")
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.trim().to_owned()),
            None => break,
        };
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path: path.to_owned(), query: query.to_owned(), headers, body })
}
