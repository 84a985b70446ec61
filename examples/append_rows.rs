//! A million rows in a thousand commits: `cargo run --release --example append_rows -- lab.bonnet`. Prints the seconds that
//! the commits took, and those of reading all rows again.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use bonnetdb::{Engine, Error};

const BATCHES: i64 = 1000;
const ROWS: i64 = 1000;

/// What a training run says of itself, invented.
fn rows(batch: i64) -> Result<RecordBatch, Error> {
    let seeds = || batch * ROWS..(batch + 1) * ROWS;
    let whole = |of: &dyn Fn(i64) -> i64| -> ArrayRef { Arc::new(Int64Array::from_iter_values(seeds().map(of))) };
    let real = |of: &dyn Fn(i64) -> f64| -> ArrayRef { Arc::new(Float64Array::from_iter_values(seeds().map(of))) };
    let text = |text: &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(seeds().map(|_| text))) };
    RecordBatch::try_from_iter([
        ("graph", text("karate")),
        ("model", text("gcn")),
        ("seed", whole(&|seed| seed)),
        ("split", whole(&|seed| seed % 10)),
        ("hidden", whole(&|_| 64)),
        ("lr", real(&|_| 0.01)),
        ("status", text("ok")),
        ("val_accuracy", real(&|seed| (seed % 997) as f64 / 997.0)),
        ("test_accuracy", real(&|seed| (seed % 991) as f64 / 991.0)),
        ("best_epoch", whole(&|seed| seed % 200)),
        ("train_seconds", real(&|_| 1.5)),
        ("peak_memory", whole(&|seed| seed * 10)),
    ])
    .map_err(|error| Error::statement(error.to_string()))
}

fn main() -> bonnetdb::Result<()> {
    let folder =
        std::env::args().nth(1).ok_or_else(|| Error::statement("say which database: append_rows lab.bonnet"))?;
    let engine = Engine::open(folder.as_str())?;
    engine.register_batches("given", vec![rows(0)?])?;
    engine.sql("CREATE TABLE results AS SELECT * FROM given LIMIT 0")?;
    let batches = (0..BATCHES).map(rows).collect::<Result<Vec<_>, _>>()?;

    let session = engine.session();
    let start = Instant::now();
    engine.block_on(async {
        for batch in batches {
            session.append("results", batch).await?;
        }
        Ok::<_, Error>(())
    })?;
    let written = start.elapsed();
    let query = "SELECT count(*) AS rows, sum(test_accuracy) AS sum, max(seed) AS seed FROM results";
    engine.sql(query)?;
    let start = Instant::now();
    engine.sql(query)?;
    println!("{:.3} s for {BATCHES} commits, {:.4} s for a scan", written.as_secs_f64(), start.elapsed().as_secs_f64());
    Ok(())
}
