//! BonnetDB inside a program: `cargo run --example embed`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::util::pretty::print_batches;
use bonnetdb::Engine;

fn main() -> bonnetdb::Result<()> {
    // A folder of Delta tables, made if it is missing; Engine::open(EngineOptions::default()) stays in memory.
    let folder = std::env::temp_dir().join("embed.bonnet");
    let engine = Engine::open(folder.as_path())?;

    // Rows of the program are a table.
    let column = |values: [i64; 4]| -> ArrayRef { Arc::new(Int64Array::from_iter_values(values)) };
    let edges = RecordBatch::try_from_iter([("src", column([0, 1, 2, 2])), ("dst", column([1, 2, 0, 3]))]);
    engine.register_batches("arcs", vec![edges?])?;

    // What a statement makes stays; what it answers are Arrow batches.
    engine.sql("CREATE OR REPLACE TABLE curvatures AS SELECT * FROM forman_ricci(arcs)")?;
    print_batches(&engine.sql("SELECT src, dst, forman_ricci FROM curvatures ORDER BY src, dst")?)?;
    Ok(())
}
