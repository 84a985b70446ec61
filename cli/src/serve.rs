//! `bonnet serve`: an engine for clients of PostgreSQL.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bonnet_serve::{ServeOptions, Server};
use bonnetdb::{Engine, Error, Result, abandon};
use clap::Args;

use super::resources::Resources;
use super::shell::failed;

/// The variable of the environment that holds the password.
const PASSWORD: &str = "BONNET_PASSWORD";

/// Threads that read and write the connections; statements run on those of the engine.
const CONNECTION_THREADS: usize = 2;

/// Serve a database to clients of PostgreSQL: psql, psycopg, DBeaver, Superset
///
/// Statements of clients reach no files outside the database (bonnet.external_access is off) unless --external-access is
/// given. With BONNET_PASSWORD or --password-file clients log in as --user with that password, by SCRAM-SHA-256; without,
/// anyone on this machine may connect. An address that other machines reach needs a password and TLS.
#[derive(Debug, Clone, Args)]
pub(super) struct ServeArguments {
    /// The folder of a lasting database, made if it is missing; without it everything is in memory
    #[arg(value_name = "DATABASE")]
    database: Option<PathBuf>,

    /// Open the database for reading alone
    #[arg(long, requires = "database")]
    read_only: bool,

    /// Where PostgreSQL's protocol is spoken; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5432")]
    pg: String,

    /// The name of the user who may log in, where there is a password
    #[arg(long, value_name = "NAME", default_value = "bonnet")]
    user: String,

    /// The file whose first line is the password; else the variable BONNET_PASSWORD holds it, if it is set
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,

    /// The server's certificate, and those that vouch for it, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Let clients read and write files, ATTACH and COPY with the rights of this program
    #[arg(long)]
    external_access: bool,

    /// The most clients that may be connected at once
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,

    /// Memory that the statements of one connection may hold, such as 512MB
    #[arg(long, value_name = "SIZE", value_parser = bonnetdb::parse_size)]
    connection_memory: Option<usize>,

    /// Seconds after which a connection ends whose client sends nothing, or takes nothing of an answer; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    idle_timeout: u64,

    #[command(flatten)]
    resources: Resources,

    /// Write no messages, only errors
    #[arg(long)]
    quiet: bool,
}

/// Serves until the process is asked to end.
pub(super) fn run(arguments: ServeArguments) -> ExitCode {
    match serve(arguments) {
        Ok(()) => {
            // What statements have begun to write is removed; nobody waits for the rest.
            abandon();
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error.to_string()),
    }
}

fn serve(arguments: ServeArguments) -> Result<()> {
    let password = password(arguments.password_file.as_deref())?;
    let has_password = password.is_some();
    let options = ServeOptions {
        address: arguments.pg,
        login: password.map(|password| (arguments.user, password)),
        tls: arguments.tls_cert.zip(arguments.tls_key),
        external_access: arguments.external_access,
        connections: arguments.connections as usize,
        connection_memory: arguments.connection_memory,
        idle_time: (arguments.idle_timeout > 0).then(|| Duration::from_secs(arguments.idle_timeout)),
    };
    let engine = Engine::open(arguments.resources.engine(arguments.database, arguments.read_only))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(CONNECTION_THREADS)
        .thread_name("connections")
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let server = Server::bind(engine, options).await?;
        if !arguments.quiet {
            eprintln!("serving PostgreSQL's protocol at {}", server.address());
            if !has_password {
                eprintln!("no password: anyone on this machine may connect; set {PASSWORD} or give --password-file");
            }
        }
        tokio::select! {
            () = server.run() => {}
            ended = ended() => ended?,
        }
        Ok::<_, Error>(())
    })?;
    runtime.shutdown_background();
    Ok(())
}

/// The password in the file, or in the environment.
fn password(file: Option<&Path>) -> Result<Option<String>> {
    let Some(file) = file else {
        return match std::env::var(PASSWORD) {
            Ok(password) => Ok(Some(password)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(error) => Err(Error::statement(format!("{PASSWORD}: {error}"))),
        };
    };
    let text = std::fs::read_to_string(file)
        .map_err(|error| Error::statement(format!("the password in '{}' cannot be read: {error}", file.display())))?;
    match text.lines().next().filter(|line| !line.is_empty()) {
        Some(line) => Ok(Some(line.to_owned())),
        None => Err(Error::statement(format!("'{}' holds no password in its first line", file.display()))),
    }
}

/// Waits until the process is asked to end.
async fn ended() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mut terminated = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminated.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
