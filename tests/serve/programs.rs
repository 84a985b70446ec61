//! Programs that others have written, against the command `bonnet serve`: psql and Python's psycopg.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

const PASSWORD: &str = "páss wörd";

/// `bonnet serve` on any free port, with a password and TLS.
struct Program {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Program {
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_bonnet"))
            .current_dir(folder.path())
            .args(["serve", "lab.bonnet", "--pg", "127.0.0.1:0", "--user", "me", "--threads", "2"])
            .args(arguments)
            .env("BONNET_PASSWORD", PASSWORD)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        Self { port: port.unwrap_or_else(|| panic!("{line}")), child, folder }
    }

    fn address(&self, more: &str) -> String {
        format!("host=127.0.0.1 port={} user=me dbname=postgres {more}", self.port)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a program is there. None is required, not even where all tests are: `.ci/package` installs psycopg, and psql is
/// whatever the machine has.
fn has(program: &mut Command) -> bool {
    let found = program.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !found {
        println!("skipped: {program:?} is absent");
    }
    found
}

fn psql(address: &str, password: &str, commands: &[&str]) -> (String, String) {
    let mut psql = Command::new("psql");
    psql.env("PGPASSWORD", password).args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=0", address]);
    for command in commands {
        psql.args(["-c", command]);
    }
    let output = psql.output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// A certificate of the machine's own address, made by openssl.
fn certificate(folder: &std::path::Path) -> bool {
    let mut openssl = Command::new("openssl");
    openssl.current_dir(folder).args([
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]);
    has(openssl.args(["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]))
}

#[test]
fn psql_logs_in_lists_and_asks() {
    if !has(Command::new("psql").arg("--version")) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let secure = certificate(folder.path());
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    let tls = ["--tls-cert", &cert, "--tls-key", &key];
    let program = Program::start(if secure { &tls } else { &[] });
    let commands = [
        "CREATE TABLE t AS SELECT value AS a, value / 2.0 AS b FROM generate_series(1, 3)",
        "SELECT a, b FROM t ORDER BY a",
        "\\d",
        "\\d t",
        "\\dt",
        "\\l",
        "\\dn",
        "\\du",
        "SELECT nothing",
        "SELECT * FROM '/etc/passwd.csv'",
        "SELECT [1, 2] AS list, NULL, true, {'a': 1}",
    ];
    let (rows, errors) = psql(&program.address(""), PASSWORD, &commands);
    assert!(rows.starts_with("CREATE TABLE\n1|0.5\n2|1\n3|1.5\nmain|t|table|me\n"), "{rows}\n{errors}");
    assert!(rows.contains("a|bigint||") && rows.contains("b|double precision||"), "{rows}\n{errors}");
    assert!(rows.contains("lab|me|UTF8|C|C") && rows.ends_with("{1,2}||t|{\"a\":1}\n"), "{rows}\n{errors}");
    let errors: Vec<&str> = errors.lines().filter(|line| line.starts_with("ERROR")).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[1].contains("bonnet.external_access is off"), "{errors:?}");
    let (rows, errors) = psql(&program.address(""), "wrong", &["SELECT 1"]);
    assert!(rows.is_empty() && errors.contains("password authentication failed"), "{errors}");
    if secure {
        let verified = program.address(&format!("sslmode=verify-full sslrootcert={cert}"));
        assert_eq!(psql(&verified, PASSWORD, &["SELECT 1"]).0, "1\n");
    }
    // What was made lasts.
    assert!(program.folder.path().join("lab.bonnet/bonnet.json").exists());
}

#[test]
fn psycopg_uses_parameters_cursors_and_cancels() {
    let python = std::env::var("BONNET_PSYCOPG").unwrap_or_else(|_| "python3".to_owned());
    if !has(Command::new(&python).args(["-c", "import psycopg"])) {
        return;
    }
    let program = Program::start(&[]);
    let output = Command::new(&python)
        .arg(crate::repository().join("tests/serve/psycopg_client.py"))
        .arg(program.address(&format!("password='{PASSWORD}'")))
        .output()
        .unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.ends_with("all is well\n"), "{text}");
}

#[test]
fn the_command_says_what_is_wrong() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bonnet"));
        let output = command.env_remove("BONNET_PASSWORD").arg("serve").args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (status, text) = run(&["--pg", &taken.local_addr().unwrap().to_string()]);
    assert!(status == Some(1) && text.contains("is in use by another program"), "{text}");
    let (status, text) = run(&["--pg", "0.0.0.0:0"]);
    assert!(status == Some(1) && text.contains("needs a certificate"), "{text}");
    let (status, text) = run(&["--password-file", "/nowhere"]);
    assert!(status == Some(1) && text.contains("'/nowhere' cannot be read"), "{text}");
    assert_eq!(run(&["--tls-cert", "x"]).0, Some(2));
    assert_eq!(run(&["--connections", "0"]).0, Some(2));
}
