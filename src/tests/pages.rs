//! Pictures as PDF and PNG, which the default build has not.

use std::fs;

use super::error_kinds::Folder;
use crate::{Engine, EngineOptions};

const ROWS: &str = "SELECT * FROM (VALUES ('gcn', 0.81), ('mlp', 0.57)) AS v(model, accuracy)";

#[test]
fn pictures_are_written_as_pages_and_pixels() {
    let folder = Folder::new("pages");
    let file = |name: &str| folder.file(name).display().to_string();
    let engine = Engine::open(EngineOptions::default()).unwrap();
    let drawn = |name: &str| {
        let (to, options) = (file(name), "KIND bars, X model, Y accuracy, WIDTH 320");
        engine.sql(&format!("COPY ({ROWS}) TO '{to}' ({options})")).unwrap();
        fs::read(to).unwrap()
    };
    let page = String::from_utf8_lossy(&drawn("a.pdf")).into_owned();
    // 320 units at 96 an inch are 240 points.
    assert!(page.starts_with("%PDF-") && page.contains("/MediaBox [0 0 240 "), "{}", &page[..300]);
    // The width stands in the header of a PNG, behind its signature and the first words of the header.
    let pixels = drawn("a.png");
    assert_eq!((&pixels[1..4], &pixels[16..20]), (&b"PNG"[..], &640u32.to_be_bytes()[..]));
    // A letter that no font has, of the private use area, is refused, and nothing is written.
    let to = file("b.pdf");
    let refused = engine.sql(&format!("COPY (SELECT chr(1020985) AS model, 1 AS accuracy) TO '{to}' (KIND bars)"));
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("no font of this machine has the letters of"), "{error}");
    assert!(!std::path::Path::new(&to).exists());
}
