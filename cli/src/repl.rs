//! The prompt.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};

use super::complete::{Assistance, Candidates, TRAINING};
use super::failure::ScriptFailure;
use super::output::has_colour;
use super::script::{Item, Pending, Task, command_within, shell_command};
use super::shell::{Shell, complain};

/// The time for which the prompt waits for the names that it completes.
const PATIENCE: Duration = Duration::from_millis(500);

/// Reads and runs until the user leaves. An error is why there is no prompt (any more).
pub(super) fn run(shell: &mut Shell) -> Result<(), String> {
    let no_prompt = |error: ReadlineError| format!("there is no prompt on this terminal: {error}");
    let config = Config::builder().completion_type(CompletionType::List).max_history_size(10_000);
    let config = config.and_then(|config| config.history_ignore_dups(true)).map_err(no_prompt)?.build();
    let mut editor: Editor<Assistance, FileHistory> = Editor::with_config(config).map_err(no_prompt)?;
    editor.set_helper(Some(Assistance { names: names(shell), colour: has_colour() }));
    let history = history_file();
    if let Some(path) = &history {
        // There is none before the first time.
        let _ = editor.load_history(path);
    }
    shell.message(&format!("BonnetDB {}. \\? lists the commands, \\q leaves.", env!("CARGO_PKG_VERSION")));
    let mut complained = false;
    // The lines of a statement below which a command was given.
    let mut begun = String::new();
    loop {
        let input = match editor.readline_with_initial("bonnet> ", (&begun, "")) {
            Ok(input) => input,
            Err(ReadlineError::Interrupted) => {
                begun.clear();
                continue;
            }
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(format!("the terminal cannot be read: {error}")),
        };
        begun.clear();
        if input.trim().is_empty() {
            continue;
        }
        if let Some((statement, command)) = command_within(&input) {
            let task = Task::Command(command.to_owned());
            if run_items(shell, vec![Item { task, line: 1, column: 1 }]).is_break() {
                return Ok(());
            }
            begun = format!("{statement}\n");
            continue;
        }
        let added = editor.add_history_entry(input.trim_end()).unwrap_or(false);
        if let (true, Some(path), false) = (added, &history, complained) {
            // At once, so that several prompts and a crash lose nothing.
            if let Err(error) = editor.append_history(path) {
                complain(&format!("the history is not kept in '{}': {error}", path.display()));
                complained = true;
            }
        }
        if run_items(shell, items(&input)).is_break() {
            return Ok(());
        }
        if let (true, Some(helper)) = (changes_names(&input), editor.helper_mut()) {
            let (columns, functions) = (columns(shell), functions(shell));
            helper.names = Candidates { columns, functions, ..std::mem::take(&mut helper.names) };
        }
    }
}

/// Runs what an input holds, up to the first failure, which is told and forgotten.
fn run_items(shell: &mut Shell, items: Vec<Item>) -> ControlFlow<()> {
    shell.interrupts.forget();
    shell.output.start_over();
    for item in items {
        match shell.run_item(&item) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) | Err(ScriptFailure::Closed) => return ControlFlow::Break(()),
            Err(failure) => {
                complain(&failure.shown());
                break;
            }
        }
    }
    shell.interrupts.forget();
    ControlFlow::Continue(())
}

fn items(input: &str) -> Vec<Item> {
    if let Some(command) = shell_command(input) {
        return vec![Item { task: Task::Command(command), line: 1, column: 1 }];
    }
    let mut pending = Pending::new();
    let mut items: Vec<Item> = input.split_inclusive('\n').flat_map(|line| pending.push(line.to_owned())).collect();
    items.extend(pending.finish());
    items
}

/// Whether an input can change what the catalog holds.
fn changes_names(input: &str) -> bool {
    items(input).iter().any(|item| match &item.task {
        Task::Statement(text) => {
            let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_uppercase();
            ["CREATE", "DROP", "ALTER", "ATTACH", "DETACH", "COPY", "USE"].contains(&word.as_str())
        }
        Task::Command(text) => text.starts_with('i'),
    })
}

/// Asks the engine for what can be completed. What it cannot say in time is left out.
fn names(shell: &mut Shell) -> Candidates {
    let models = shell.ask("SELECT name FROM bonnet.models", PATIENCE);
    Candidates {
        columns: columns(shell),
        functions: functions(shell),
        options: options(shell),
        models: models.unwrap_or_default().into_iter().flatten().collect(),
    }
}

fn columns(shell: &mut Shell) -> Vec<[String; 4]> {
    let columns = shell
        .ask("SELECT table_catalog, table_schema, table_name, column_name FROM information_schema.columns", PATIENCE);
    columns.unwrap_or_default().into_iter().filter_map(|row| row.try_into().ok()).collect()
}

fn functions(shell: &mut Shell) -> Vec<String> {
    let functions = shell
        .ask("SELECT DISTINCT name FROM bonnet.functions", PATIENCE)
        .or_else(|_| shell.ask("SELECT DISTINCT routine_name FROM information_schema.routines", PATIENCE));
    functions.unwrap_or_default().into_iter().flatten().collect()
}

/// The options of functions: those that stand in a signature, and of training those of all models.
fn options(shell: &mut Shell) -> BTreeMap<String, Vec<String>> {
    let signatures = shell.ask(
        "SELECT name, unnest(regexp_extract_all(signature, '(\\w+) =>', 1)) FROM bonnet.functions WHERE kind <> 'scalar'",
        PATIENCE,
    );
    let of_models = shell.ask("SELECT DISTINCT unnest(hyperparameters).name FROM bonnet.models", PATIENCE);
    let of_models: Vec<String> = of_models.unwrap_or_default().into_iter().flatten().collect();
    let mut options: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in signatures.unwrap_or_default() {
        let Ok([function, option]) = <[String; 2]>::try_from(row) else { continue };
        options.entry(function).or_default().push(option);
    }
    for function in TRAINING {
        let own = options.entry(function.to_owned()).or_default();
        // What a signature says of all options.
        own.retain(|name| name != "option");
        own.extend(of_models.iter().cloned());
        own.sort_unstable();
        own.dedup();
    }
    options
}

/// The file of the history, in the user's folder of state (XDG Base Directory Specification), which is made if need be.
fn history_file() -> Option<PathBuf> {
    let state = match env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()) {
        Some(state) => state,
        None => env::home_dir().filter(|home| home.is_absolute())?.join(".local/state"),
    };
    let folder = state.join("bonnet");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_make_or_drop_something_change_the_names() {
        assert!(changes_names("create table t as select 1;"));
        assert!(changes_names("SELECT 1; ATTACH 'x' AS x;"));
        assert!(changes_names("\\i make.sql"));
        assert!(!changes_names("SELECT 'CREATE'; \n\\d"));
    }
}
