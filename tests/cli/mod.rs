//! The command line from outside: what it reads, what it writes where, and how it ends.

mod copy;
mod errors;
mod examples;
mod formats;
mod interrupts;
mod pictures;
mod prompt;
mod report;
mod scripts;
mod training;

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// The command with nothing of the user's own around it.
fn bonnet() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bonnet"));
    command.env_remove("NO_COLOR").env("XDG_STATE_HOME", std::env::temp_dir().join("bonnet-test-state"));
    command
}

/// What a run left: standard output, standard error and the exit status.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    out: String,
    err: String,
    status: Option<i32>,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            out: String::from_utf8(output.stdout).expect("text on standard output"),
            err: String::from_utf8(output.stderr).expect("text on standard error"),
            status: output.status.code(),
        }
    }
}

/// Runs the command with these arguments and nothing on standard input.
fn run(arguments: &[&str]) -> Ran {
    bonnet().args(arguments).stdin(Stdio::null()).output().expect("the command runs").into()
}

/// Runs the command with these arguments and this text on standard input.
fn run_with_input(arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = bonnet()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A script that fails early leaves the rest unread.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("the command ends").into()
}

/// The rows that a run wrote, where it went well and said nothing else.
fn rows(arguments: &[&str]) -> String {
    let ran = run(arguments);
    assert_eq!((ran.err.as_str(), ran.status), ("", Some(0)), "{arguments:?}: {ran:?}");
    ran.out
}
