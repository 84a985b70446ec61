//! That the walls hold: made-up sources with the faults that they are there for.

use super::crates::{self, Manifest};
use super::floors::{faults, floors};
use super::modules::Sources;
use super::{ARROWS, folders};

const FLOORS: &str = "//! A crate.\n//!\n//! # Floors\n//!\n//! 1. `ground`: numbers.\n//! 2. `middle`,\n//!    \
                      `beside`: what is made of them.\n//! 3. `top`: the whole.\n\n";

fn sources(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(file, source)| ((*file).to_owned(), (*source).to_owned())).collect()
}

/// The faults of a crate of four modules, with these sources.
fn faults_of(page: &str, files: &[(&str, &str)]) -> Vec<String> {
    let mut all = sources(&[("ground.rs", ""), ("middle.rs", ""), ("beside.rs", ""), ("top/mod.rs", "")]);
    all.extend(sources(files));
    all.insert("lib.rs".to_owned(), format!("{FLOORS}{page}"));
    faults(&all)
}

#[track_caller]
fn assert_fault(faults: &[String], parts: &[&str]) {
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(parts.iter().all(|part| faults[0].contains(part)), "{faults:?} without one of {parts:?}");
}

#[test]
fn floors_are_read_from_the_page() {
    assert_eq!(
        floors(FLOORS),
        Some(vec![vec!["ground".to_owned()], vec!["middle".into(), "beside".into()], vec!["top".into()]])
    );
    assert_eq!(floors("//! # Floors\n//!\n//! One module."), Some(Vec::new()));
    assert_eq!(floors("//! A crate."), None);
}

#[test]
fn imports_downward_and_beside_are_no_faults() {
    let files = [
        ("middle.rs", "use crate::ground::{self, One};\nfn f() -> crate::Two { crate::beside::g() }"),
        ("top/mod.rs", "mod part;\npub use part::P;"),
        ("top/part.rs", "use super::super::middle::f;\npub struct P;"),
    ];
    assert!(faults_of("pub use ground::Two;", &files).is_empty());
    assert!(faults_of("pub use elsewhere::Error;", &[("ground.rs", "use crate::Error;")]).is_empty());
}

#[test]
fn an_import_upward_is_a_fault_however_it_is_spelled() {
    for source in [
        "\nuse crate::top::P;",
        "\nuse crate::{middle::f as g, top};",
        "\nfn f() -> crate::top::P { P }",
        "\nuse super::top::P;",
        "\nmod inner { use super::super::top::P; }",
        "\nuse crate::P;",
        "\n#[cfg(feature = \"sql\")]\npub(crate) use crate::top::P;",
        "\n/* a comment */ const QUOTE: char = '\"'; use crate::top::P;",
    ] {
        let found = faults_of("pub use top::P;", &[("beside.rs", source)]);
        assert_fault(&found, &["beside.rs:", "upward, from floor 2 to floor 3"]);
    }
}

#[test]
fn a_name_that_stands_in_the_page_itself_is_a_fault() {
    assert_fault(&faults_of("pub struct P;", &[("ground.rs", "use crate::P;")]), &["`crate::P`", "the crate's page"]);
}

#[test]
fn tests_comments_and_strings_import_nothing() {
    for source in [
        "#[cfg(test)]\nmod tests { use crate::top::P; }",
        "#[cfg(test)]\nuse crate::{top::P, top::Q};",
        "#[cfg(test)]\n#[allow(dead_code)]\nfn helper() { crate::top::f(); }",
        "#[cfg(test)]\nmod checks;",
        "// use crate::top::P;\n/* crate::top */ const S: &str = r#\"use crate::top::P; \"#;",
        "pub(in crate::top) fn f<'a>(x: &'a str) {}",
        "macro_rules! f { () => { super::top::f() } }",
    ] {
        let checks = ("ground/checks.rs", "use crate::top::P;");
        assert_eq!(faults_of("", &[("ground.rs", source), ("ground/tests.rs", checks.1)]), [""; 0], "{source}");
        if source.ends_with("mod checks;") {
            assert_eq!(faults_of("", &[("ground.rs", source), checks]), [""; 0]);
        }
    }
}

#[test]
fn a_circle_of_modules_is_a_fault() {
    let files = [("middle.rs", "use crate::beside::f;"), ("beside.rs", "use crate::G;")];
    let found = faults_of("pub use middle::G;", &files);
    assert!(found.iter().any(|fault| fault.contains("modules form a circle: beside, middle")), "{found:?}");
}

#[test]
fn a_circle_of_files_within_a_module_is_a_fault() {
    let files = [
        ("top/mod.rs", "mod a;\nmod b;\npub use a::A;"),
        ("top/a.rs", "use super::b::B;\npub struct A;"),
        ("top/b.rs", "use super::A;\npub struct B;"),
    ];
    assert_fault(&faults_of("", &files), &["files form a circle: top/a.rs, top/b.rs", "top/b.rs:1: super::A"]);
}

#[test]
fn a_module_on_no_floor_and_a_floor_without_its_module_are_faults() {
    assert_fault(&faults_of("", &[("cellar.rs", "")]), &["`cellar` is on none of its floors"]);
    let page = format!("{FLOORS}//! 4. `attic`: nothing.\n");
    assert_fault(&faults(&sources(&[("lib.rs", "//! Many."), ("a.rs", "")])), &["no list of floors"]);
    let all =
        sources(&[("lib.rs", &page.replace("\n\n", "\n")), ("ground.rs", ""), ("middle.rs", ""), ("beside.rs", "")]);
    assert!(faults(&all).iter().any(|fault| fault == "`top` of its floors is no module"));
}

#[test]
fn a_crate_that_needs_another_above_or_beside_it_is_a_fault() {
    let needs = |name: &str, line: &str| {
        let manifest = Manifest::new(&format!("[package]\nname = \"{name}\"\n\n[dependencies]\n{line}\n"));
        crates::faults(&manifest, &ARROWS)
    };
    assert_eq!(needs("bonnet-ranking", "bonnet-graph.workspace = true"), [""; 0]);
    assert_eq!(needs("bonnetdb", "bonnet-catalogs = { workspace = true }"), [""; 0]);
    assert_fault(
        &needs("bonnet-ranking", "bonnet-topology.workspace = true"),
        &["bonnet-ranking may not need bonnet-topology"],
    );
    assert_fault(&needs("bonnet-catalogs", "bonnetdb = { path = \"..\" }"), &["bonnet-catalogs may not need bonnetdb"]);
    let kernels = "bonnet-topology = { path = \"../topology\", default-features = false }";
    assert_eq!(needs("bonnet-learning", kernels), [""; 0]);
    let sql = format!("{kernels}\n[features]\nsql = [\"dep:arrow\", \"bonnet-topology/sql\"]");
    assert_fault(&needs("bonnet-learning", &sql), &["the SQL of bonnet-topology"]);
    assert_fault(&needs("bonnet-learning", "bonnet-topology.workspace = true"), &["the SQL of bonnet-topology"]);
    assert_eq!(needs("bonnet-learning", "\n[dev-dependencies]\nbonnet-ranking.workspace = true"), [""; 0]);
}

#[test]
fn a_crowded_folder_is_a_fault() {
    let files: Vec<String> = (0..3).map(|i| format!("a/{i}.rs")).chain(["a/b/c.rs".to_owned()]).collect();
    assert_fault(&folders::crowded(&files, 2, &[]), &["a has 3 files"]);
    assert_eq!(folders::crowded(&files, 3, &[]), [""; 0]);
    assert_eq!(folders::crowded(&files, 2, &["a"]), [""; 0]);
}
