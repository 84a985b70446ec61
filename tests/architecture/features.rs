//! The features of others' packages, which decide what has to be built again.

use std::collections::BTreeSet;
use std::process::Command;

/// `cargo subject CRATE` takes what `cargo run` has built as long as both choose the same features of the same packages.
#[test]
fn the_tests_of_one_crate_take_what_the_command_is_built_of() {
    let (command, named) = (packages_below("bonnet-cli"), packages_below("bonnet-dependencies"));
    assert!(command.len() > 100, "{command:?}");
    let differ: Vec<_> = command.symmetric_difference(&named).collect();
    assert!(
        differ.is_empty(),
        "common/dependencies/Cargo.toml does not choose what the command is built of: {differ:#?}"
    );
}

/// The packages of others below one of ours in a default build, with their versions and features.
fn packages_below(package: &str) -> BTreeSet<String> {
    let arguments = ["tree", "--offline", "--locked", "-e", "normal,build", "-f", "{p} {f}", "--prefix", "none", "-p"];
    let answer = Command::new(env!("CARGO"))
        .args(arguments)
        .arg(package)
        .current_dir(super::root())
        .output()
        .expect("cargo can be started");
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let text = String::from_utf8(answer.stdout).expect("the names of packages are text");
    // Ours have their folder behind the version. A package that was shown before has a star.
    let lines = text.lines().map(|line| line.trim_end_matches(" (*)").trim_end());
    lines.filter(|line| !line.is_empty() && !line.contains("(/") && !line.contains(":\\")).map(str::to_owned).collect()
}
