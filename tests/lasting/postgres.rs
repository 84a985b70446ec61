//! Tables of PostgreSQL, read from a server of its own.

use std::io;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::Lab;

/// A server with an empty database, which ends with its test.
struct Server {
    child: Child,
    port: u16,
    programs: PathBuf,
    _folder: TempDir,
}

impl Server {
    /// `None` where PostgreSQL is not installed.
    fn start() -> Option<Self> {
        let found = Command::new("pg_config").arg("--bindir").output().ok().filter(|output| output.status.success());
        let programs = found.map(|output| PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()));
        let Some(programs) = programs.filter(|programs| programs.join("initdb").exists()) else {
            assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "PostgreSQL's server is absent");
            println!("skipped: PostgreSQL's server is absent");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        // The server does not run as root.
        let nobody =
            (id("-u", &[]) == Some(0)).then(|| (id("-u", &["nobody"]).unwrap(), id("-g", &["nobody"]).unwrap()));
        if let Some((user, group)) = nobody {
            std::os::unix::fs::chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let program = |name: &str| {
            let mut command = Command::new(programs.join(name));
            command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
            if let Some((user, group)) = nobody {
                command.uid(user).gid(group);
            }
            command
        };
        let made =
            program("initdb").args(["-D", "data", "-A", "trust", "-U", "me", "--no-sync", "-E", "UTF8"]).status();
        assert!(made.unwrap().success());
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
        let child = program("postgres")
            .args(["-D", "data", "-p", &port.to_string()])
            .args(settings.iter().flat_map(|setting| ["-c", setting]))
            .spawn()
            .unwrap();
        let server = Self { child, port, programs, _folder: folder };
        for _ in 0..300 {
            if server.psql("SELECT 1").is_ok_and(|success| success) {
                return Some(server);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the server does not answer");
    }

    fn psql(&self, sql: &str) -> io::Result<bool> {
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "me", "-d", "postgres"]);
        command.args(["-q", "-v", "ON_ERROR_STOP=1", "-c", sql]).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command.status()?.success())
    }

    fn address(&self, user: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }

    fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A number of a user, or of ours.
fn id(which: &str, user: &[&str]) -> Option<u32> {
    let output = Command::new("id").arg(which).args(user).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

#[test]
fn tables_of_postgresql_are_joined_with_ours() {
    let Some(mut server) = Server::start() else { return };
    let tables = "CREATE TABLE papers (id INTEGER, title TEXT, score DOUBLE PRECISION, \"Odd Name\" BOOLEAN, \
        cited BIGINT, price NUMERIC(10, 2), day DATE, seen TIMESTAMP, weights REAL[]);
        INSERT INTO papers VALUES \
        (1, NULL, 0.5, true, 9000000000, 1.25, '2026-01-02', '2026-01-02 03:04:05', '{0.5,1}'), \
        (2, 'it''s', NULL, false, NULL, NULL, NULL, NULL, NULL), (3, 'ü', 2, NULL, 0, 0, NULL, NULL, '{}'); \
        CREATE VIEW good AS SELECT id FROM papers WHERE score > 1; \
        CREATE TABLE many AS SELECT g AS n FROM generate_series(1, 20000) g; \
        CREATE TABLE none (a INTEGER)";
    assert!(server.psql(tables).unwrap());
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE mine AS SELECT 2 AS id, 'here' AS place UNION ALL SELECT 3, 'there'");
    db.run(&format!("ATTACH '{}' AS secret_notes", server.address("me:secret")));
    assert_eq!(db.value("SELECT count(*) FROM secret_notes.papers"), "3");
    db.run(&format!("ATTACH '{}' AS notes", server.address("me")));
    // It is remembered, but no password is.
    let db = lab.open();
    db.refuses("SELECT * FROM secret_notes.papers", &["secret_notes"]);
    let sql = "SELECT id, title, score, \"Odd Name\", cited, price, day, seen, weights FROM notes.papers ORDER BY id";
    assert_eq!(
        db.rows(sql),
        [
            ["1", "NULL", "0.5", "true", "9000000000", "1.25", "2026-01-02", "2026-01-02T03:04:05", "[0.5, 1.0]"],
            ["2", "it's", "NULL", "false", "NULL", "NULL", "NULL", "NULL", "NULL"],
            ["3", "ü", "2.0", "NULL", "0", "0.00", "NULL", "NULL", "[]"],
        ]
    );
    let sql = "SELECT place, title FROM mine JOIN notes.papers p USING (id) WHERE score > 1";
    assert_eq!(db.rows(sql), [["there", "ü"]]);
    assert_eq!(db.rows("SELECT * FROM notes.good"), [["3"]]);
    assert_eq!(db.rows("SELECT count(*), sum(n) FROM notes.many"), [["20000", "200010000"]]);
    assert_eq!(db.value("SELECT count(*) FROM notes.none"), "0");
    assert_eq!(db.value("SELECT count(*) FROM notes.papers WHERE title = 'it''s' OR title LIKE 'ü%'"), "2");
    db.run("CREATE TABLE kept AS SELECT id, title FROM notes.papers WHERE id < 3");
    assert_eq!(db.value("SELECT count(*) FROM kept"), "2");
    db.refuses("INSERT INTO notes.main.mine VALUES (4)", &["mine"]);
    db.refuses("DROP TABLE notes.main.papers", &["for reading"]);
    db.refuses("SELECT * FROM notes.nothing", &["nothing"]);

    // Without the server an error, and what is ours is there.
    server.stop();
    lab.open().refuses("SELECT * FROM notes.papers", &["127.0.0.1"]);
    assert_eq!(lab.open().value("SELECT count(*) FROM kept"), "2");
    let error = db.error(&format!("ATTACH '{}' AS other", server.address("me:secret")));
    assert!(error.contains("PostgreSQL at 127.0.0.1") && !error.contains("secret"), "{error}");
}
