//! Every function that is registered is documented, shown, and tested.

use std::collections::BTreeSet;

use super::{Db, slt};

/// Whether a text calls a function: its name as a whole word before a parenthesis.
fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].trim_start().chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && after == Some('(')
    })
}

#[test]
fn every_function_says_what_it_is() {
    let db = Db::new();
    let mut lacking = Vec::new();
    for function in db.engine.registry().iter() {
        let name = function.name;
        for (what, text) in [
            ("returns", function.returns),
            ("description", function.description),
            ("example", function.example),
            ("source", function.source),
        ] {
            // `flatten` is a reshaping of rows: it comes from nowhere.
            if text.trim().is_empty() && (name, what) != ("flatten", "source") {
                lacking.push(format!("{name} has no {what}"));
            }
        }
        if !function.description.ends_with('.') {
            lacking.push(format!("{name}: the description is no sentence"));
        }
        if name != name.to_ascii_lowercase() {
            lacking.push(format!("{name} is not in lower case"));
        }
        for parameter in &function.parameters {
            if !parameter.description.ends_with('.') {
                lacking.push(format!("{name}: the parameter {} has no sentence", parameter.name));
            }
        }
        if !calls(function.example, name) {
            lacking.push(format!("{name}: the example does not call it"));
        }
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

#[test]
fn every_example_runs_and_answers() {
    let db = Db::with_karate();
    let mut wrong = Vec::new();
    for function in db.engine.registry().iter() {
        match db.try_run(function.example) {
            Err(error) => wrong.push(format!("{}: {error}", function.name)),
            Ok(batches) if batches.iter().all(|batch| batch.num_rows() == 0) => {
                wrong.push(format!("{}: the example gives no rows", function.name));
            }
            Ok(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_function_is_called_in_a_script() {
    let scripts: String = slt::scripts().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let db = Db::new();
    let names = db.engine.registry().iter().map(|function| function.name);
    let missing: Vec<&str> = names.filter(|name| !calls(&scripts, name)).collect();
    assert!(missing.is_empty(), "no script of tests/slt calls: {}", missing.join(", "));
}

#[test]
fn every_function_stands_in_the_reference() {
    let pages = std::fs::read_dir(crate::repository().join("docs/functions")).unwrap();
    let reference: String = pages.map(|page| std::fs::read_to_string(page.unwrap().path()).unwrap()).collect();
    let headings: BTreeSet<&str> = reference
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .map(|heading| heading.trim().trim_matches('`'))
        .collect();
    let db = Db::new();
    let mut wrong = Vec::new();
    for function in db.engine.registry().iter() {
        if !headings.contains(function.name) {
            wrong.push(format!("{} has no heading", function.name));
        }
        if !reference.contains(&function.signature()) {
            wrong.push(format!("{} stands there with another signature than {}", function.name, function.signature()));
        }
    }
    // Nothing stands there that is not: a heading that is a bare name is a function's.
    let names: BTreeSet<&str> = db.engine.registry().iter().map(|function| function.name).collect();
    wrong.extend(headings.difference(&names).filter(|it| !it.contains(' ')).map(|it| format!("{it} is no function")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_system_tables_list_what_is_registered() {
    let db = Db::new();
    let listed = db.rows(
        "SELECT name, kind, signature, returns, description, example, source FROM bonnet.functions ORDER BY name",
    );
    let registered: Vec<_> = db
        .engine
        .registry()
        .iter()
        .map(|function| {
            let signature = function.signature();
            [
                function.name,
                function.kind().name(),
                &signature,
                function.returns,
                function.description,
                function.example,
                function.source,
            ]
            .map(str::to_owned)
            .to_vec()
        })
        .collect();
    assert_eq!(listed, registered);
    let models = db.rows("SELECT name FROM bonnet.models WHERE source <> '' AND family <> '' ORDER BY name");
    let mut known: Vec<[&str; 1]> = bonnet_learning::models().iter().map(|spec| [spec.name]).collect();
    known.sort_unstable();
    assert_eq!(models, known);
}

#[test]
fn every_hyperparameter_that_is_listed_is_taken() {
    let db = Db::with_karate();
    let models = db.rows(
        "SELECT model, \"name\", \"default\" FROM flatten(
             (SELECT name AS model, hyperparameters FROM bonnet.models), hyperparameters) ORDER BY 1, 2",
    );
    assert!(models.len() >= 4 * 7, "{models:?}");
    // A model that is pre-trained has an encoder to load: tests/slt/foundation_models.slt.
    for spec in bonnet_learning::models().iter().filter(|spec| !spec.is_pretrained()) {
        let model = spec.name;
        let defaults = models.iter().filter(|row| row[0] == model && row[1] != "epochs");
        let columns: String = defaults
            .map(|row| match row[2].parse::<f64>() {
                Ok(_) => format!(", {} AS {}", row[2], row[1]),
                // No limit, or another option's value.
                Err(_) if row[2] == "NULL" => format!(", NULL AS {}", row[1]),
                Err(_) => format!(", '{}' AS {}", row[2], row[1]),
            })
            .collect();
        // Written out, the defaults give what leaving them out gives.
        let data = if spec.reads_complexes() {
            "complexes => (SELECT id, facets, orientable AS label FROM enumerate_surfaces(7)), \
             task => 'graph_classification', epochs => 1, features => 'connectivity'"
        } else {
            "graph => 'karate', epochs => 5, features => 'identity'"
        };
        let jobs = |columns: &str| {
            db.rows(&format!(
                "SELECT status, error, test_accuracy, val_accuracy, best_epoch, parameters FROM train(
                     (SELECT '{model}' AS model {columns}), {data})"
            ))
        };
        let written = jobs(&columns);
        assert_eq!((written[0][0].as_str(), written[0][1].as_str()), ("ok", "NULL"), "{model}: {columns}");
        assert_eq!(written, jobs(""), "{model}: {columns}");
    }
}
