//! The pages of functions.

use std::fmt::Write;

use arrow::datatypes::DataType;
use bonnet_sql::{Column, Function, Kind, OptionType, OptionValue, Parameter, ParameterKind};

use super::{Page, cell, prose};

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
pub(super) fn first_sentence(text: &str) -> &str {
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
