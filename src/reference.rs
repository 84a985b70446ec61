//! The reference pages in `docs/`: functions, models and formats, generated from what the engine itself registers.
//!
//! A page is never edited by hand. A test compares each with what is generated here; with `BONNET_BLESS=1` it writes
//! them anew.

use std::fmt::Write;

use arrow::datatypes::DataType;
use bonnet_learning::{DATA_OPTIONS, Domain, Form, OptionSpec, RUN_OPTIONS, SHARED_OPTIONS};
use bonnet_sql::{Column, Function, Kind, OptionType, OptionValue, Parameter, ParameterKind};

/// The kinds in the order of the page, with what a reader has to know of each.
const KINDS: [(Kind, &str, &str); 7] = [
    (Kind::Scalar, "Scalar functions", "One value per row; used wherever an expression stands."),
    (Kind::Aggregate, "Aggregates", "One value per group: `GROUP BY graph_id` gives one per graph."),
    (
        Kind::Window,
        "Window functions",
        "One value per row, from its place among the ordered rows of its window: `f() OVER (PARTITION BY ... ORDER BY \
         ...)`.",
    ),
    (
        Kind::Edge,
        "Edge functions",
        "One value per edge, in two spellings of one operator: a window function (`PARTITION BY graph_id` where a table \
         holds many graphs), and a relation in FROM, which gives the edges' columns and the value.",
    ),
    (
        Kind::Relation,
        "Relation functions",
        "They stand in FROM and take tables, views, CTEs or subqueries, and named arguments. Where the edges have a \
         column `graph_id`, each graph is computed apart and the answer carries `graph_id`.",
    ),
    (Kind::Run, "Runs", "They stand in FROM and answer a row for every row of a relation of jobs."),
    (
        Kind::Generator,
        "Generators",
        "`FROM f(...)` gives the edges `src, dst`. Over a relation whose columns are named like the arguments, one graph \
         a row, with `graph_id` in front: `FROM cycle((SELECT i AS graph_id, i AS n FROM generate_series(3, 9) AS t(i)))`. \
         `CREATE GRAPH g AS f(...)` makes a schema with `nodes` and `edges`, and labels and features where the model \
         has them.",
    ),
];

/// A page: its path in `docs/`, and its text.
pub type Page = (String, String);

/// The pages of all functions: the index `functions.md`, and `functions/<subject>.md` for each subject.
///
/// One heading `### name` a function, grouped by kind, in the order of the names.
pub fn functions() -> Vec<Page> {
    let mut index = String::from(
        "# Functions\n\n\
         Optional arguments stand in brackets with their default; they may be left out and given by name in any order \
         (`f(x, seed => 1)`). Unless a function says otherwise, edges are read as an undirected simple graph: direction \
         ignored, repeats counted once, self-loops dropped. `SELECT * FROM bonnet.functions` and `\\df` list the same.\n",
    );
    let mut pages = Vec::new();
    for mut subject in crate::functions::subjects() {
        subject.functions.sort_by_key(|function| function.name);
        let path = format!("functions/{}.md", subject.name);
        let _ = write!(index, "\n## [{}]({path})\n\n{}\n\n", subject.title, subject.summary);
        index.push_str("| function | kind | |\n|---|---|---|\n");
        let mut page = format!(
            "# {}\n\n{} [All functions](../functions.md), and how arguments are given.\n",
            subject.title, subject.summary
        );
        for function in &subject.functions {
            let (name, kind, what) = (function.name, function.kind().name(), first_sentence(function.description));
            let _ = writeln!(index, "| [`{name}`]({path}#{name}) | {kind} | {} |", cell(&prose(what)));
        }
        for (kind, title, text) in KINDS {
            let mut functions = subject.functions.iter().filter(|function| function.kind() == kind).peekable();
            if functions.peek().is_some() {
                let _ = write!(page, "\n## {title}\n\n{text}\n");
            }
            functions.for_each(|function| entry(&mut page, function));
        }
        if subject.name == "tables" {
            index.push_str("\n[`CREATE GRAPH ... FROM SCHEMA`](functions/tables.md#create-graph-from-a-schema): the ");
            index.push_str("tables of a schema as nodes, its foreign keys as edges.\n");
            page.push('\n');
            page.push_str(bonnet_relational::REFERENCE);
        }
        pages.push((path, page));
    }
    pages.push(("functions.md".to_owned(), index));
    pages
}

/// The first sentence of a description.
fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

fn entry(page: &mut String, function: &Function) {
    let _ = write!(page, "\n### {}\n\n```sql\n", function.name);
    if function.kind() == Kind::Edge {
        let window = function.signature();
        let relation = Function { parameters: function.parameters_in_from(), ..function.clone() }.signature();
        let _ = write!(page, "{window} OVER ([PARTITION BY graph_id])\nFROM {relation}\n");
    } else {
        let from = if function.kind().in_from() { "FROM " } else { "" };
        let _ = writeln!(page, "{from}{}", function.signature());
    }
    let _ = write!(page, "```\n\n{}\n", prose(function.description));
    if !function.parameters.is_empty() {
        page.push_str("\n| argument | what | default | meaning |\n|---|---|---|---|\n");
        for parameter in &function.parameters {
            let more = if parameter.variadic { ", one or more" } else { "" };
            let cells = [
                format!("`{}`", parameter.name),
                what(parameter) + more,
                default(parameter),
                prose(parameter.description),
            ];
            let _ = writeln!(page, "| {} |", cells.map(|text| cell(&text)).join(" | "));
        }
    }
    if function.open_options {
        page.push_str("\nFurther options may be given by name, as the description says.\n");
    }
    let _ = write!(page, "\n**Returns** {}.\n", prose(function.returns.trim_end_matches('.')));
    let _ = write!(page, "\n**Example**\n\n```sql\n{};\n```\n", function.example.trim_end_matches(';'));
    if !function.source.is_empty() {
        let _ = write!(page, "\n**Source** {}.\n", prose(function.source.trim_end_matches('.')));
    }
}

fn what(parameter: &Parameter) -> String {
    match &parameter.kind {
        ParameterKind::Relation => "relation".to_owned(),
        ParameterKind::Graph => "graph".to_owned(),
        ParameterKind::Name => "name of a column".to_owned(),
        ParameterKind::Column(Column::Any) => "value per row".to_owned(),
        ParameterKind::Column(Column::Of(DataType::Float64)) => "value per row (DOUBLE)".to_owned(),
        ParameterKind::Column(Column::Of(data_type)) => format!("value per row ({data_type})"),
        ParameterKind::Option(OptionType::Boolean) => "true or false".to_owned(),
        ParameterKind::Option(OptionType::Integer) => "whole number".to_owned(),
        ParameterKind::Option(OptionType::Number) => "number".to_owned(),
        ParameterKind::Option(OptionType::Text) => "text".to_owned(),
        ParameterKind::Option(OptionType::NumberOrText) => "number or text".to_owned(),
    }
}

fn default(parameter: &Parameter) -> String {
    match (&parameter.default, parameter.optional) {
        (_, false) => "required".to_owned(),
        (OptionValue::Null, true) => "none".to_owned(),
        (value, true) => format!("`{value}`"),
    }
}

/// The page of all models: `docs/models.md`.
pub fn models() -> String {
    let mut page = String::from(
        "# Models\n\n\
         What `train` can train. Each option is a column of the jobs, or an option of the call; NULL is the default. \
         `SELECT * FROM bonnet.models` lists the same.\n\n\
         ## Jobs\n\n\
         Every job has these options.\n\n",
    );
    let of_jobs = || DATA_OPTIONS.into_iter().chain(RUN_OPTIONS);
    learning_options(&mut page, of_jobs());
    for option in of_jobs() {
        if let Domain::Forms(forms) = option.domain {
            forms_of(&mut page, option.name, forms);
        }
    }
    page.push_str("\n## Training\n\nEvery model has these hyperparameters, too, where its tasks read them.\n\n");
    learning_options(&mut page, SHARED_OPTIONS);
    let reading = |name: &str| {
        let read = |model: &&bonnet_learning::ModelSpec| model.hyperparameters().any(|option| option.name == name);
        let models = bonnet_learning::models().iter().filter(read);
        models.map(|model| format!("`{}`", model.name)).collect::<Vec<_>>().join(", ")
    };
    let _ = write!(
        page,
        "\n## Weights and arcs\n\n\
         `weights => true` counts a message as the column `weight` of its edge says, in graphs and in collections of graphs. \
         It is read by {}. The others' equations have no place for it: `mlp`, `mlp1` and the models on complexes read no edges \
         of a graph; `gat`, `unimp` and `hat` weigh neighbours by attention, `gbk_gnn` by gates, `cusp` by curvature. In \
         `h2gcn` nodes at distance 2, in `lsgnn` the similarities of neighbours and in `graphmore` distances in the graph \
         count alike, whatever the weights.\n\n\
         `adjacency => 'arcs'` sends messages from `src` to `dst` alone. It is read by {}. The others are defined by \
         distances, curvatures or the spectrum of an undirected graph, or read no edges.\n",
        reading("weights"),
        reading("adjacency"),
    );
    for model in bonnet_learning::models() {
        let _ = write!(
            page,
            "\n## {}\n\n{}, {}; tasks: {}. Source: {}.\n\n",
            model.name,
            prose(model.family),
            prose(model.geometry),
            model.tasks.join(", "),
            prose(model.source.trim_end_matches('.')),
        );
        learning_options(&mut page, model.hyperparameters().filter(|option| !SHARED_OPTIONS.contains(option)));
    }
    page
}

/// A table of options of learning.
fn learning_options(page: &mut String, options: impl IntoIterator<Item = OptionSpec>) {
    page.push_str("| option | default | range | meaning |\n|---|---|---|---|\n");
    for option in options {
        let default = match option.name {
            "graph" | "model" => "required".to_owned(),
            _ => format!("`{}`", option.default_value()),
        };
        let range = match option.domain {
            Domain::Forms(_) => "a form below, or NULL".to_owned(),
            _ => option.range(),
        };
        let cells = [format!("`{}`", option.name), default, range, prose(option.description)];
        let _ = writeln!(page, "| {} |", cells.map(|text| cell(&text)).join(" | "));
    }
}

/// A table of the forms that an option's text takes; those that some tasks lack, with their tasks.
fn forms_of(page: &mut String, option: &str, forms: &[Form]) {
    let by_task = forms.iter().any(|form| !form.tasks.is_empty());
    let (head, rule) = if by_task { (" tasks |", "---|") } else { ("", "") };
    let _ = write!(page, "\n| `{option}` |{head} meaning |\n|---|{rule}---|\n");
    for form in forms {
        let mut cells = vec![format!("`{}`", form.text)];
        if by_task && form.tasks.is_empty() {
            cells.push("all".to_owned());
        } else if by_task {
            cells.push(form.tasks.iter().map(|task| task.name()).collect::<Vec<_>>().join(", "));
        }
        let note = if form.note.is_empty() { String::new() } else { format!(" ({})", form.note) };
        let only = if form.graphs_only { "; of graphs only" } else { "" };
        cells.push(prose(&format!("{}{note}{only}", form.meaning)));
        let _ = writeln!(page, "| {} |", cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(" | "));
    }
}

/// The page of all formats that `ATTACH` reads: `docs/formats.md`.
pub fn formats() -> String {
    let mut page = String::from(
        "# Formats of data sets\n\n\
         `ATTACH 'path' AS name` recognises the format from the names and headers of the files; \
         `ATTACH 'path' AS name (TYPE format, option value, ...)` names it. One graph becomes a schema; a folder of graphs \
         becomes a catalog with one schema a graph. Attaching reads nothing: a query reads the tables and columns that \
         it needs, features only where they are selected.\n\n\
         ## Tables\n\n\
         | table | columns |\n|---|---|\n\
         | `nodes` | `node` (BIGINT or TEXT), `label` (BIGINT, TEXT, DOUBLE, or `FLOAT[]` for several targets; NULL: \
         unlabelled), `features` (`MAP(INT, FLOAT)` for bags of words, else `FLOAT[]`; NULL where the publisher's files \
         lack them), and what else the publisher gives of a node |\n\
         | `edges` | `src`, `dst`, and what else the publisher gives; rows as published: nothing dropped, turned round or \
         added |\n\
         | `splits` | `split`, `node`, `part` (`train`, `val`, `test`), where the publisher fixed splits |\n\n\
         Any other data becomes a graph by views: a schema that has the views `nodes` and `edges` is a graph.\n\n\
         ## Writing\n\n\
         `COPY (query) TO 'file' STORED AS format` writes `CSV`, `PARQUET`, `JSON`, `ARROW`, and `MANTRA`: triangulations \
         as MANTRA publishes them, in a file whose name ends in `.json`, or `.json.gz` to have it compressed. \
         The query gives the columns `id`, `facets`, `name`, `betti_numbers` and `torsion_coefficients`; \
         `dimension` and `n_vertices` are counted where they are no columns, vertices are written from 1, and every other \
         column becomes a key of its name. The format takes no options. Options of the others are in [sql.md](sql.md), pictures \
         (`SVG`, `HTML`, `VEGA_LITE`) in [pictures.md](pictures.md).\n\n\
         ```sql\n\
         COPY (SELECT id, facets, homeomorphism_type(facets) AS name, betti_numbers(facets) AS betti_numbers,\n        \
         torsion_coefficients(facets) AS torsion_coefficients\n      \
         FROM classic_triangulations())\nTO 'classics.json.gz' STORED AS MANTRA;\n\
         ```\n",
    );
    for format in bonnet_datasets::formats() {
        let _ = write!(page, "\n## {}\n\n{}.\n", format.name(), prose(format.description().trim_end_matches('.')));
        if !format.options().is_empty() {
            page.push_str("\n| option | meaning |\n|---|---|\n");
            for (name, meaning) in format.options() {
                let _ = writeln!(page, "| `{name}` | {} |", cell(&prose(meaning)));
            }
        }
    }
    page
}

/// A text in which Markdown sees no markup.
fn prose(text: &str) -> String {
    text.replace('*', "\\*").replace('<', "&lt;")
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

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
             BONNET_BLESS=1 cargo test -p bonnetdb --lib reference"
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
        let schemes = ["public", "random:60/20/20", "stratified:60/20/20", "balanced:60/20/20", "kshot:8", "time"];
        assert_eq!(values("split_scheme"), schemes);
        for text in values("split_scheme") {
            assert_eq!(text.parse::<bonnet_learning::SplitScheme>().unwrap().to_string(), text);
        }
        let features = ["given", "identity", "degree", "random:8", "degree_number", "one_hot_degree:9", "connectivity"];
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
