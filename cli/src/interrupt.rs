//! Ctrl-C: a thread of its own hears it, whatever the other threads are doing.

use std::io;
use std::process;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::sync::watch;

use bonnetdb::abandon;

/// The time that an interrupted script has to end in good order before it is ended.
const GRACE: Duration = Duration::from_millis(700);

/// The exit status of an interrupted script: 128 and the number of the signal, as shells have it.
pub(super) const INTERRUPTED: u8 = 130;

/// Hears Ctrl-C and hands it to whoever waits.
pub(super) struct Interrupts {
    count: watch::Receiver<u64>,
}

impl Interrupts {
    /// Starts to listen; from here on Ctrl-C no longer ends the process by itself. With `ends_process` it still does,
    /// with status 130, where the process has not ended by itself soon after: a script must not outlive its Ctrl-C
    /// because something in it cannot stop.
    pub(super) fn listen(ends_process: bool) -> io::Result<Self> {
        let (sender, count) = watch::channel(0);
        let (ready, is_ready) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("signals".into()).spawn(move || {
            runtime.block_on(async move {
                let mut signals = match Signals::new() {
                    Ok(signals) => {
                        let _ = ready.send(Ok(()));
                        signals
                    }
                    Err(error) => {
                        let _ = ready.send(Err(error));
                        return;
                    }
                };
                while signals.next().await {
                    sender.send_modify(|count| *count += 1);
                    if ends_process {
                        tokio::time::sleep(GRACE).await;
                        abandon();
                        process::exit(i32::from(INTERRUPTED));
                    }
                }
            });
        })?;
        is_ready.recv().map_err(io::Error::other)??;
        Ok(Self { count })
    }

    /// Waits for a Ctrl-C that was not yet seen.
    pub(super) async fn next(&mut self) {
        if self.count.changed().await.is_err() {
            // Nobody listens any more: there will be none.
            std::future::pending::<()>().await;
        }
    }

    /// Whether a Ctrl-C came that was not yet seen.
    pub(super) fn arrived(&self) -> bool {
        self.count.has_changed().unwrap_or(false)
    }

    /// Forgets those that came so far.
    pub(super) fn forget(&mut self) {
        self.count.mark_unchanged();
    }
}

#[cfg(unix)]
struct Signals(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).map(Self)
    }

    async fn next(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}
