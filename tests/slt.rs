//! The scripts of `tests/slt`, each in an engine of its own.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bonnetdb::{Answer, Engine, EngineOptions, Error, Session};
use futures::TryStreamExt;
use sqllogictest::{AsyncDB, DBOutput, Record, Runner, parse_file, strict_column_validator};

use crate::cells::{self, Letter};

struct Database {
    session: Session,
}

#[async_trait]
impl AsyncDB for Database {
    type Error = Error;
    type ColumnType = Letter;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<Letter>, Error> {
        let rows = match self.session.execute(sql).await? {
            Answer::Done(_) => return Ok(DBOutput::StatementComplete(0)),
            Answer::Rows(rows) => rows,
        };
        let schema = rows.schema();
        let batches: Vec<_> = rows.try_collect().await?;
        Ok(DBOutput::Rows { types: cells::letters(&schema), rows: batches.iter().flat_map(cells::rows).collect() })
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "BonnetDB"
    }

    async fn sleep(duration: std::time::Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// All scripts in order of their paths.
pub(crate) fn scripts() -> Vec<PathBuf> {
    let mut waiting = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/slt"))];
    let mut scripts = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => waiting.push(path),
                Some(ending) if ending == "slt" => scripts.push(path),
                _ => {}
            }
        }
    }
    scripts.sort();
    scripts
}

/// Every mistake of a script, not only the first.
async fn mistakes(script: &Path, engine: &Engine) -> Vec<String> {
    let mut runner = Runner::new(|| async { Ok(Database { session: engine.session() }) });
    runner.with_normalizer(|line| line.trim_end().to_owned());
    runner.with_column_validator(strict_column_validator);
    let mut mistakes = Vec::new();
    for record in parse_file::<Letter>(script).unwrap_or_else(|error| panic!("{error}")) {
        if let Record::Halt { .. } = record {
            break;
        }
        if let Err(error) = runner.run_async(record).await {
            mistakes.push(error.display(false).to_string());
        }
    }
    runner.shutdown_async().await;
    mistakes
}

#[test]
fn every_script_gives_what_it_says() {
    // One script while at work on it: BONNET_SLT=train cargo test every_script
    let wanted = std::env::var("BONNET_SLT").unwrap_or_default();
    let scripts: Vec<_> = scripts().into_iter().filter(|path| path.to_string_lossy().contains(&wanted)).collect();
    assert!(!scripts.is_empty(), "there are no scripts");
    let mut all = Vec::new();
    for script in &scripts {
        let engine =
            Engine::open(EngineOptions { threads: Some(2), memory_limit: None, ..EngineOptions::default() }).unwrap();
        all.extend(engine.block_on(mistakes(script, &engine)));
    }
    assert!(all.is_empty(), "{} mistakes\n\n{}", all.len(), all.join("\n\n"));
}
