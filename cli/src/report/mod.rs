//! `bonnet report script.sql -o report.html`: a script as a page, with what its comments say, the tables that it answers
//! with, and a picture of each.

mod versions;

use std::path::{Path, PathBuf};

use bonnet_sql::outside_databases;
use clap::Args;

use super::failed_runs::FailedRuns;
use super::failure::ScriptFailure;
use super::page::Report;
use super::resources::Resources;
use super::shell::Shell;
use super::variables::assignment;

/// Run a script and write a page of what it says and answers: comments as text, tables, pictures
///
/// The page is one file that asks for nothing from elsewhere. A comment `-- \plot kind x y color` above a statement says what
/// picture its rows have; `-- \plot none` says that they have none. The same script on the same data gives the same page.
#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// The script
    #[arg(value_name = "SCRIPT")]
    script: String,

    /// The page to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The folder of a lasting database; without it everything is in memory
    #[arg(long, value_name = "DATABASE")]
    pub(super) database: Option<PathBuf>,

    /// Set a variable of the script
    #[arg(short = 'v', long = "variable", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(super) variable: Vec<(String, String)>,

    #[command(flatten)]
    pub(super) resources: Resources,

    #[command(flatten)]
    pub(super) failed_runs: FailedRuns,
}

/// Runs the script in this shell and writes the page; a script that fails leaves the page that was there.
pub(super) fn run(arguments: &ReportArguments, shell: &mut Shell) -> Result<(), ScriptFailure> {
    shell.report = Some(Report::default());
    shell.run_file(&arguments.script)?;
    let versions = shell.runtime.block_on(versions::versions(&shell.session))?;
    let Some(report) = shell.report.take() else { return Err(ScriptFailure::error("there is no report")) };
    write(&arguments.output, &report.page(&arguments.script, &versions))
}

fn write(path: &Path, page: &str) -> Result<(), ScriptFailure> {
    let refused = |what| ScriptFailure::error(format!("'{}' cannot be written: {what}", path.display()));
    outside_databases(path).map_err(refused)?;
    // Written aside: who has the old page open sees the old or the new one.
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.part", std::process::id()));
    let written = std::fs::write(&aside, page).and_then(|()| std::fs::rename(&aside, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&aside);
        ScriptFailure::error(format!("'{}' cannot be written: {error}", path.display()))
    })
}
