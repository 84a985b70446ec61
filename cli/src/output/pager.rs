//! The program that scrolls through a result: `$PAGER`, or `less`.

use std::env;
use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// `less` so that it cuts lines instead of wrapping them, shows colours, and leaves what fits the screen there.
const DEFAULT: &str = "less -SRFX";

/// A running pager. Dropping it waits until the user leaves it.
pub(super) struct Pager {
    child: Child,
    /// `None` once the user has left it.
    input: Option<ChildStdin>,
}

impl Pager {
    pub(super) fn open() -> io::Result<Self> {
        let command = env::var("PAGER").ok().filter(|command| !command.trim().is_empty());
        let command = command.unwrap_or_else(|| DEFAULT.to_owned());
        let refused = |error| io::Error::other(format!("the pager `{command}` cannot be run: {error}"));
        let mut child = Command::new("sh").arg("-c").arg(&command).stdin(Stdio::piped()).spawn().map_err(refused)?;
        let input = child.stdin.take();
        Ok(Self { child, input })
    }

    /// Sends it a part of the result; what comes after the user has left it is dropped.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(input) = &mut self.input else { return Ok(()) };
        match input.write_all(bytes).and_then(|()| input.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.input = None;
                Ok(())
            }
            written => written,
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.input.is_none()
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        self.input = None;
        // How it ended says nothing about the rows.
        let _ = self.child.wait();
    }
}
