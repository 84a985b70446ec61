//! The reference pages in `docs/`: functions, models and formats, generated from what the engine itself registers.
//!
//! A page is never edited by hand. A test compares each with what is generated here; with `BONNET_BLESS=1` it writes
//! them anew.

mod formats;
mod functions;
mod models;

pub use formats::formats;
pub use functions::functions;
pub use models::models;

/// A page: its path in `docs/`, and its text.
pub type Page = (String, String);

/// A string in which Markdown sees no markup.
fn prose(text: &str) -> String {
    text.replace('*', "\\*").replace('<', "&lt;")
}

/// A string as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bonnet_learning::{DATA_OPTIONS, Domain, Form, RUN_OPTIONS};

    use super::functions::first_sentence;
    use super::*;

    fn check(name: &str, generated: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
        if std::env::var_os("BONNET_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, generated).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == generated,
            "docs/{name} is not what the engine says of itself; write it anew with: \
             BONNET_BLESS=1 cargo test --lib reference"
        );
    }

    #[test]
    fn the_pages_say_what_the_engine_says() {
        functions().iter().for_each(|(name, text)| check(name, text));
        check("models.md", &models());
        check("formats.md", &formats());
    }

    #[test]
    fn no_page_is_left_of_a_subject_that_is_gone() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/functions");
        let pages: Vec<String> = functions().into_iter().map(|(path, _)| path).collect();
        for file in std::fs::read_dir(folder).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            assert!(pages.contains(&format!("functions/{name}")), "docs/functions/{name} is of no subject");
        }
    }

    #[test]
    fn every_function_has_one_heading_and_a_line_of_the_index() {
        let registry = crate::functions::registry().unwrap();
        let pages = functions();
        let lines = pages.iter().flat_map(|(_, text)| text.lines());
        let headings: Vec<&str> = lines.clone().filter_map(|line| line.strip_prefix("### ")).collect();
        assert_eq!(headings.len(), registry.iter().count());
        for function in registry.iter() {
            assert!(headings.contains(&function.name), "{}", function.name);
            let entry = format!("| [`{}`](functions/", function.name);
            assert_eq!(lines.clone().filter(|line| line.starts_with(&entry)).count(), 1, "{}", function.name);
        }
    }

    #[test]
    fn an_edge_function_is_shown_in_both_spellings() {
        let (_, page) = functions().into_iter().find(|(path, _)| path == "functions/curvature.md").unwrap();
        let entry = page.split("### forman_ricci\n").nth(1).unwrap();
        assert!(entry.starts_with(
            "\n```sql\nforman_ricci(src, dst) OVER ([PARTITION BY graph_id])\nFROM forman_ricci(edges)\n```\n"
        ));
    }

    #[test]
    fn the_documented_values_of_a_job_are_values() {
        let values = |name: &str| {
            let mut options = DATA_OPTIONS.into_iter().chain(RUN_OPTIONS);
            let Domain::Forms(forms) = options.find(|option| option.name == name).unwrap().domain else {
                panic!("{name} has no forms")
            };
            let value = |form: &Form| form.text.replace(":k", ":8").replace(":m", ":9");
            forms.iter().map(value).collect::<Vec<_>>()
        };
        let drawn = ["random:60/20/20", "stratified:60/20/20", "balanced:60/20/20", "kshot:8", "even:30/10/60"];
        let schemes = [&["public"], &drawn[..], &["arcs:85/5/10", "time"]].concat();
        assert_eq!(values("split_scheme"), schemes);
        for text in values("split_scheme") {
            assert_eq!(text.parse::<bonnet_learning::SplitScheme>().unwrap().to_string(), text);
        }
        let features =
            ["auto", "given", "identity", "degree", "random:8", "degree_number", "one_hot_degree:9", "connectivity"];
        assert_eq!(values("features"), features);
        for text in values("features") {
            assert_eq!(text.parse::<bonnet_learning::FeatureSource>().unwrap().to_string(), text);
        }
        assert!(values("select_by").len() > 6);
        assert!(values("select_by").iter().all(|it| it.parse::<bonnet_learning::SelectBy>().is_ok()));
    }

    #[test]
    fn the_first_sentence_ends_with_its_stop() {
        assert_eq!(first_sentence("One. Two."), "One.");
        assert_eq!(first_sentence("0.5 of all."), "0.5 of all.");
    }

    #[test]
    fn a_cell_keeps_to_its_column() {
        assert_eq!(cell(&prose("a | b\n'*' < c")), "a \\| b '\\*' &lt; c");
    }
}
