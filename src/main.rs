//! The `bonnet` command.

fn main() -> std::process::ExitCode {
    bonnetdb::cli::main()
}
