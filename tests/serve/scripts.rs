//! Statements of the scripts in `tests/slt` give the same rows over the wire as in a session.

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::DataType;
use bonnetdb::{Engine, EngineOptions, Session};
use sqllogictest::{Record, parse_file};

use super::Served;
use crate::cells::Letter;
use crate::slt::scripts;

/// Scripts of many subjects that run quickly.
const SCRIPTS: [&str; 8] =
    ["curvature", "dialect", "flatten", "generators", "homophily", "ranking", "statements", "strata"];

/// The least number of queries whose rows are compared.
const LEAST: usize = 50;

/// Whether rows of these types are written by both sides in one way.
fn is_plain(kind: &DataType) -> bool {
    kind.is_integer()
        || kind.is_floating()
        || kind.is_string()
        || *kind == DataType::Boolean
        || *kind == DataType::Date32
}

/// The rows of a session as PostgreSQL writes them; `None` where a type is written in another way.
fn written(batches: &[RecordBatch]) -> Option<Vec<Vec<String>>> {
    let plain = |batch: &RecordBatch| batch.columns().iter().all(|column| is_plain(column.data_type()));
    batches.iter().all(plain).then(|| {
        let mut rows = crate::texts(batches);
        let types: Vec<&DataType> =
            batches.first().into_iter().flat_map(|batch| batch.columns()).map(|c| c.data_type()).collect();
        for row in &mut rows {
            for (cell, kind) in row.iter_mut().zip(&types) {
                *cell = normal(cell, kind);
            }
        }
        rows.sort();
        rows
    })
}

/// One spelling of numbers and truth values, whoever has written them.
fn normal(cell: &str, kind: &DataType) -> String {
    match (kind, cell) {
        (DataType::Boolean, "true") => "t".to_owned(),
        (DataType::Boolean, "false") => "f".to_owned(),
        (DataType::Float32, cell) if cell != "NULL" => {
            cell.replace("inf", "Infinity").parse::<f32>().unwrap().to_string()
        }
        (DataType::Float64, cell) if cell != "NULL" => {
            cell.replace("inf", "Infinity").parse::<f64>().unwrap().to_string()
        }
        (_, cell) => cell.to_owned(),
    }
}

#[test]
fn fifty_statements_give_the_same_rows_over_the_wire() {
    let mut compared = 0;
    for path in scripts() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if !SCRIPTS.contains(&name.as_str()) {
            continue;
        }
        let here = Engine::open(EngineOptions { threads: Some(2), ..EngineOptions::default() }).unwrap();
        let session: Session = here.session();
        let served = Served::with(bonnet_serve::ServeOptions { external_access: true, ..Default::default() });
        let mut client = served.client();
        for record in parse_file::<Letter>(&path).unwrap() {
            let sql = match record {
                Record::Statement { sql, .. } | Record::Query { sql, .. } => sql,
                _ => continue,
            };
            // Scripts name folders of their own by variables, which are not set here.
            if sql.contains("$__") {
                continue;
            }
            let expected = here.block_on(session.sql(&sql));
            let reply = client.query(&sql);
            assert_eq!(expected.is_err(), !reply.errors.is_empty(), "{name}: {sql}\n{expected:?}\n{reply:?}");
            let Ok(batches) = expected else { continue };
            let Some(rows) = written(&batches).filter(|rows| !rows.is_empty()) else { continue };
            let types: Vec<DataType> = batches[0].columns().iter().map(|column| column.data_type().clone()).collect();
            let mut found = reply.texts();
            found
                .iter_mut()
                .for_each(|row| row.iter_mut().zip(&types).for_each(|(cell, kind)| *cell = normal(cell, kind)));
            found.sort();
            assert_eq!(found, rows, "{name}: {sql}");
            compared += 1;
        }
    }
    assert!(compared >= LEAST, "only {compared} queries are compared");
}
