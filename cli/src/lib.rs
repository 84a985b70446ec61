//! The command line `bonnet`: scripts, the prompt, and the formats of rows.
//!
//! Rows go to standard output; messages, timings and errors go to standard error. The exit status is 0 after success
//! (and when the reader of the rows has closed the pipe), 1 after an error, 2 after a wrong use and 130 after Ctrl-C; 3 where
//! nothing but runs of `train` failed and `--fail-on-failed-runs` asks for it.
//!
//! # Floors
//!
//! 1. `calls`, `failed_runs`, `interrupt`, `progress`, `resources`, `script`, `width`: open calls, what comes of runs that failed, Ctrl-C, the bar,
//!    options of engines, statements from lines.
//! 2. `failure`, `output`, `variables`: errors with their positions, formats of rows, `:name`.
//! 3. `page`: the page of a report.
//! 4. `shell`: the state in which scripts and the prompt run.
//! 5. `meta`, `report`, `serve`: backslash commands, `bonnet report`, `bonnet serve`.
//! 6. `complete`: names that the prompt knows.
//! 7. `highlight`, `repl`: the prompt.

mod calls;
mod complete;
mod failed_runs;
mod failure;
mod highlight;
mod interrupt;
mod meta;
mod output;
mod page;
mod progress;
mod repl;
mod report;
mod resources;
mod script;
#[cfg(feature = "pg")]
mod serve;
mod shell;
mod variables;
mod width;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use bonnet_pictures::Request;
use bonnetdb::{Engine, abandon};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};

use self::failed_runs::FailedRuns;
use self::failure::ScriptFailure;
use self::interrupt::{INTERRUPTED, Interrupts};
use self::output::{Format, Output};
use self::resources::Resources;
use self::shell::{Shell, failed};
use self::variables::assignment;

/// An embedded analytics engine for the shape of relational data: graphs, curvature, topology and graph learning in SQL.
///
/// Without -c and -f, standard input is a script where it is not a terminal; on a terminal there is a prompt.
#[derive(Debug, Default, Parser)]
#[command(name = "bonnet", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,

    /// The folder of a lasting database, made if it is missing; without it everything is in memory
    #[arg(value_name = "DATABASE")]
    database: Option<PathBuf>,

    /// Open the database for reading alone
    #[arg(long, requires = "database")]
    read_only: bool,

    /// Run these statements; -c and -f run in the order in which they are given
    #[arg(short = 'c', long, value_name = "SQL", allow_hyphen_values = true)]
    command: Vec<String>,

    /// Run this script; `-` is standard input
    #[arg(short = 'f', long, value_name = "FILE")]
    file: Vec<String>,

    /// Set a variable of scripts, used as :name, :'name' (a string) or :"name" (an identifier)
    #[arg(short = 'v', long = "variable", value_name = "NAME=VALUE", value_parser = assignment)]
    variable: Vec<(String, String)>,

    /// The format of rows
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// The picture that the formats svg, html and vega-lite draw: 'kind x y color', and options such as title='...'
    #[arg(long, value_name = "PICTURE", value_parser = plot)]
    plot: Option<Request>,

    #[command(flatten)]
    resources: Resources,

    #[command(flatten)]
    failed_runs: FailedRuns,

    /// Write no messages, only rows and errors
    #[arg(long)]
    quiet: bool,
}

/// The tasks of the command beside running statements.
#[derive(Debug, clap::Subcommand)]
enum Task {
    Report(report::ReportArguments),
    #[cfg(feature = "pg")]
    Serve(serve::ServeArguments),
}

impl Arguments {
    /// The arguments of the shell in which the script of a report runs.
    fn of_report(report: &report::ReportArguments) -> Self {
        Self {
            database: report.database.clone(),
            variable: report.variable.clone(),
            resources: report.resources.clone(),
            quiet: true,
            ..Self::default()
        }
    }
}

/// Something to run from the command line.
#[derive(Debug, PartialEq, Eq)]
enum Input {
    Command(String),
    File(String),
}

/// Runs the command line with the arguments of the process.
pub fn main() -> ExitCode {
    let matches = Arguments::command().get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    match &arguments.task {
        Some(Task::Report(report)) => {
            return match open(&Arguments::of_report(report), false) {
                Ok(mut shell) => ended(report::run(report, &mut shell), shell, report.failed_runs),
                Err(text) => failed(&text),
            };
        }
        #[cfg(feature = "pg")]
        Some(Task::Serve(arguments)) => return serve::run(arguments.clone()),
        None => {}
    }
    #[cfg(not(feature = "pg"))]
    if arguments.database.as_deref().is_some_and(|name| name == "serve" && !name.exists()) {
        return failed("this build of bonnet has no server: build it with --features pg (./serve names a database)");
    }
    let mut sources = sources(&matches);
    let prompt = sources.is_empty() && io::stdin().is_terminal();
    if sources.is_empty() && !prompt {
        sources.push(Input::File("-".into()));
    }
    let mut shell = match open(&arguments, prompt) {
        Ok(shell) => shell,
        Err(text) => return failed(&text),
    };
    if prompt {
        return match repl::run(&mut shell) {
            Ok(()) => ExitCode::SUCCESS,
            Err(text) => failed(&text),
        };
    }
    let result = sources.iter().try_for_each(|source| match source {
        Input::Command(text) => shell.run_script("-c", text.as_bytes()),
        Input::File(path) => shell.run_file(path),
    });
    ended(result, shell, arguments.failed_runs)
}

/// The status of the process after its scripts.
fn ended(result: Result<(), ScriptFailure>, shell: Shell, failed_runs: FailedRuns) -> ExitCode {
    let status = match result {
        Ok(()) => return failed_runs.status(shell.runs_failed),
        Err(ScriptFailure::Closed) => ExitCode::SUCCESS,
        Err(ScriptFailure::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(ScriptFailure::Error(text, _) | ScriptFailure::Located(text)) => return failed(&text),
    };
    // The engine would wait for work that nobody wants any more: the process ends without it.
    abandon();
    shell.session.remove_temporary_files();
    std::mem::forget(shell);
    status
}

fn open(arguments: &Arguments, prompt: bool) -> Result<Shell, String> {
    let interrupts = Interrupts::listen(!prompt).map_err(|error| format!("Ctrl-C cannot be heard: {error}"))?;
    let options = arguments.resources.engine(arguments.database.clone(), arguments.read_only);
    let engine = Engine::open(options).map_err(|error| error.to_string())?;
    let mut output = Output::new(arguments.format);
    output.plot = arguments.plot.clone().unwrap_or_default();
    let mut shell =
        Shell::new(engine.session(), interrupts, output, arguments.quiet).map_err(|error| error.to_string())?;
    for (name, value) in &arguments.variable {
        shell.variables.set(name, value)?;
    }
    Ok(shell)
}

/// The statements and scripts in the order in which they stand on the command line.
fn sources(matches: &ArgMatches) -> Vec<Input> {
    let of = |id: &str, source: fn(String) -> Input| -> Vec<(usize, Input)> {
        let places = matches.indices_of(id).into_iter().flatten();
        places.zip(matches.get_many::<String>(id).into_iter().flatten().cloned().map(source)).collect()
    };
    let mut sources = of("command", Input::Command);
    sources.extend(of("file", Input::File));
    sources.sort_by_key(|&(place, _)| place);
    sources.into_iter().map(|(_, source)| source).collect()
}

/// Reads what is to be drawn.
fn plot(text: &str) -> Result<Request, String> {
    Request::parse(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_well_defined() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn statements_and_scripts_keep_the_order_of_the_command_line() {
        let matches =
            Arguments::command().get_matches_from(["bonnet", "-f", "a", "-c", "b", "--quiet", "-cc", "-fd", "-c", "e"]);
        let file = |name: &str| Input::File(name.into());
        let command = |name: &str| Input::Command(name.into());
        assert_eq!(sources(&matches), [file("a"), command("b"), command("c"), file("d"), command("e")]);
    }
}
