//! The prompt, on a terminal that the command `script` (util-linux) makes.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long an answer may take on a loaded machine.
const BOUND: Duration = Duration::from_secs(60);

struct Prompt {
    child: Child,
    keys: ChildStdin,
    screen: Arc<Mutex<String>>,
    /// What of the screen was already waited for.
    seen: usize,
}

impl Prompt {
    /// A prompt with its state in this folder; None (or, where all tests are required, a panic) without `script`.
    fn open(state: &Path) -> Option<Self> {
        let has_script = Command::new("script").arg("--version").stdout(Stdio::null()).status().is_ok();
        if !has_script {
            assert!(
                std::env::var_os("BONNET_REQUIRE_ALL").is_none_or(|all| all != "1"),
                "the command `script` is missing"
            );
            println!("skipped: the command `script` is missing");
            return None;
        }
        let command = format!("stty cols 80 rows 24; exec '{}'", env!("CARGO_BIN_EXE_bonnet"));
        let mut child = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .env("XDG_STATE_HOME", state)
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .env("PAGER", "cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut out, shown) = (child.stdout.take().unwrap(), screen.clone());
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = out.read(&mut bytes) {
                shown.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
        });
        let keys = child.stdin.take().unwrap();
        let mut prompt = Self { child, keys, screen, seen: 0 };
        prompt.see("bonnet> ");
        Some(prompt)
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until this text comes on the screen after what was waited for before, and gives what came until then.
    fn see(&mut self, text: &str) -> String {
        let started = Instant::now();
        loop {
            let screen = self.screen.lock().unwrap().clone();
            if let Some(at) = screen[self.seen..].find(text) {
                let end = self.seen + at + text.len();
                let shown = screen[self.seen..end].to_owned();
                self.seen = end;
                return shown;
            }
            assert!(started.elapsed() < BOUND, "no {text:?} in {:?}", &screen[self.seen..]);
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn leave(mut self) {
        self.press("\\q\r");
        self.ends();
    }

    /// Waits for the end of the command.
    fn ends(mut self) {
        let started = Instant::now();
        while started.elapsed() < BOUND {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("the command goes on");
    }
}

#[test]
fn listings_are_tables_on_a_terminal_whatever_the_format() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("\\format csv\rCREATE TABLE t AS SELECT 7 AS a;\r");
    prompt.see("CREATE TABLE t");
    for (command, cells) in [("\\d", " | t "), ("\\d t", " a "), ("\\l", " memory "), ("\\dt", " | t")] {
        prompt.press(&format!("{command}\r"));
        prompt.see("-+-");
        prompt.see(cells);
    }
    prompt.press("SELECT a, a + 1 AS b FROM t;\r");
    prompt.see("a,b\r\n7,8\r\n");
    prompt.leave();
}

#[test]
fn a_statement_may_take_several_lines_and_an_error_ends_nothing() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("SELECT 40 +\r 2 AS answer;\r");
    prompt.see("answer\r\n");
    prompt.see("42\r\n(1 row)\r\n");
    prompt.press("SELECT nothing_such;\r");
    prompt.see("error: ");
    prompt.press("\\echo still here\r");
    prompt.see("\r\nstill here\r\n");
    prompt.leave();
}

#[test]
fn a_command_within_a_statement_runs_and_the_statement_goes_on() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("SELECT 41 +\r\\echo within\r");
    prompt.see("\r\nwithin\r\n");
    prompt.press("1 AS answer;\r");
    prompt.see("42\r\n(1 row)\r\n");
    prompt.leave();
}

#[test]
fn a_long_result_shows_its_ends() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("SELECT value FROM generate_series(1, 1000) ORDER BY value;\r");
    let shown = prompt.see("(1000 rows, of which 960 in the middle are not shown)\r\n");
    assert!(shown.contains("     1\r\n") && shown.contains("…\r\n") && shown.contains("  1000\r\n"), "{shown:?}");
    assert!(!shown.contains("   500\r\n"), "{shown:?}");
    prompt.leave();
}

#[test]
fn ctrl_c_stops_the_query_and_not_the_session() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("CREATE TABLE kept AS SELECT 7 AS seven;\r");
    prompt.see("bonnet> ");
    prompt.press(
        "SELECT count(*) FROM generate_series(1, 100000000) AS a(x), generate_series(1, 100000000) AS b(y) \
         WHERE x % 7 + y % 11 > 3;\r",
    );
    thread::sleep(Duration::from_secs(2));
    let started = Instant::now();
    prompt.press("\x03");
    prompt.see("Stopped.");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    prompt.press("SELECT seven FROM kept;\r");
    prompt.see("7\r\n(1 row)\r\n");
    prompt.leave();
}

#[test]
fn after_ctrl_c_in_a_join_that_passes_nothing_the_next_statement_runs_at_once() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press(
        "SELECT count(*) FROM generate_series(1,1000000) a, generate_series(1,1000000) b WHERE a.value*b.value=7;\r",
    );
    thread::sleep(Duration::from_secs(2));
    prompt.press("\x03");
    prompt.see("Stopped.");
    let started = Instant::now();
    prompt.press("SELECT 40 + 2 AS answer;\r");
    prompt.see("42\r\n(1 row)\r\n");
    // It took ten seconds; a second is the bound, the rest is for a loaded machine.
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    prompt.leave();
}

#[test]
fn lines_that_come_faster_than_they_are_read_are_all_read() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    let rows = (1..=60).map(|i| format!("INSERT INTO t VALUES ({i});\r")).collect::<String>();
    prompt.press(&format!("CREATE TABLE t (i BIGINT);\r{rows}SELECT count(*), sum(i) FROM t;\r"));
    prompt.see("      60 |   1830\r\n(1 row)\r\n");
    prompt.press("\\o /dev/null\rSELECT 1;\r\\o\r\\echo back here\r\\format nosuch\r\\format csv\r\\format\r");
    prompt.see("\r\nback here\r\n");
    prompt.see("there is no format `nosuch`");
    prompt.see("The format is csv.");
    // While a statement runs, too.
    let lines = (1..=200).map(|i| format!("SELECT {i} + 1000000;\r")).collect::<String>();
    prompt.press(&format!("SELECT count(*) FROM generate_series(1, 30000000);\r{lines}"));
    for i in 1..=200 {
        prompt.see(&format!("\n{}\r\n", 1_000_000 + i));
    }
    prompt.leave();
}

#[test]
fn a_statement_that_goes_on_says_so_and_words_leave_or_help() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("SELECT 5 AS five\r");
    prompt.see("... a semicolon ends the statement");
    prompt.press(";\r");
    prompt.see("5\r\n(1 row)\r\n");
    prompt.press("help\r");
    prompt.see("\\timing");
    prompt.press("exit;\r");
    prompt.ends();
}

#[test]
fn history_and_completion_work() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("\\echo remembered\r");
    prompt.see("\r\nremembered\r\n");
    prompt.leave();
    let history = std::fs::read_to_string(state.path().join("bonnet/history")).unwrap();
    assert!(history.contains("echo remembered"), "{history}");
    let mut prompt = Prompt::open(state.path()).unwrap();
    // The arrow up twice: past `\q`.
    prompt.press("\x1b[A\x1b[A\r");
    prompt.see("\r\nremembered\r\n");
    prompt.see("bonnet> ");
    prompt.press("\\timi\t\r");
    prompt.see("Timing is on.");
    prompt.leave();
}

#[test]
fn the_history_is_one_of_statements_not_of_lines() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("SELECT 40 +\r 2\r AS answer;\r");
    prompt.see("42\r\n(1 row)\r\n");
    prompt.see("bonnet> ");
    // The arrow up once: all of its lines.
    prompt.press("\x1b[A\r");
    prompt.see("42\r\n(1 row)\r\n");
    prompt.leave();
    // And in the next session, past `\q`.
    let mut prompt = Prompt::open(state.path()).unwrap();
    prompt.press("\x1b[A\x1b[A\r");
    prompt.see("42\r\n(1 row)\r\n");
    prompt.leave();
}

#[test]
fn results_fit_the_terminal_and_files_get_all_of_them() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    let columns = (0..20).map(|i| format!("{i} AS column_{i}")).collect::<Vec<_>>().join(", ");
    prompt.press(&format!("CREATE TABLE wide AS SELECT {columns};\r"));
    prompt.see("bonnet> ");
    prompt.press("SELECT * FROM wide;\r");
    let shown = prompt.see("(1 row; 14 columns do not fit: \\x shows a column a line)\r\n");
    assert!(shown.contains(" column_0 | column_1 | column_2 | … | column_17 | column_18 | column_19\r\n"), "{shown:?}");
    prompt.press("\\x\r");
    prompt.see("A line for each column is on.");
    prompt.press("SELECT * FROM wide;\r");
    prompt.see(" column_12 | 12\r\n");
    prompt.see("(1 row)\r\n");
    prompt.press("\\x off\rSELECT 0.1::double + 0.2::double AS x;\r");
    prompt.see(" 0.3\r\n");
    prompt.press("\\digits 0\rSELECT 0.1::double + 0.2::double AS x;\r");
    prompt.see(" 0.30000000000000004\r\n");
    prompt.press(".mode csv\r.tables\r");
    prompt.see("wide | BASE TABLE\r\n");
    prompt.press("SELECT 1 AS a, 2 AS b;\r");
    prompt.see("a,b\r\n1,2\r\n");
    prompt.leave();
}

#[test]
fn a_run_shows_its_figures_and_a_failed_one_its_reason() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("ATTACH 'builtin:karate' AS karate;\r");
    prompt.see("bonnet> ");
    prompt.press("SELECT * FROM train((SELECT 'karate' AS graph, 'gcn' AS model));\r");
    let shown = prompt.see("columns do not fit: \\x shows a column a line)\r\n");
    assert!(shown.contains(" graph  | model | status | test_accuracy | "), "{shown:?}");
    assert!(shown.contains(" karate | gcn   | ok     |      0.857143 | "), "{shown:?}");
    prompt.see("bonnet> ");
    prompt.press("SELECT * FROM train((SELECT 'karate' AS graph, 'gcn' AS model), label => 'club');\r");
    let shown = prompt.see("columns do not fit: \\x shows a column a line)\r\n");
    assert!(shown.contains(" karate | gcn   | error  | the graph's nodes have no co"), "{shown:?}");
    prompt.see(
        "train: 1 of 1 runs failed: the graph's nodes have no column club: name one with label => '...'; there are: ",
    );
    prompt.leave();
}

#[test]
fn a_mark_stands_under_the_place_of_an_error() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("SELECT 1 + * 2;\r");
    prompt.see("error: ");
    prompt.see("\r\n  SELECT 1 + * 2\r\n             ^\r\n");
    prompt.leave();
}

#[test]
fn a_pager_gets_the_whole_result() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut prompt) = Prompt::open(state.path()) else { return };
    prompt.press("\\pager on\r");
    prompt.see("The pager is on.");
    prompt.press("SELECT value + 1000 AS v FROM generate_series(1, 2000) ORDER BY value;\r");
    prompt.see(" 1500\r\n");
    prompt.see("(2000 rows)\r\n");
    prompt.leave();
}
