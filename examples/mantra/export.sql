-- Writes the runs of a database of train.sql into the files runs.csv and betti.csv of `folder`, which have the columns of
-- mantra_runs and mantra_betti with the engine's version, the size of the collection, the epochs and the batch. A run that the
-- database has takes the place of the same one in the files; all others stay there.
--
--     cargo run --release -- DATABASE -f examples/mantra/export.sql
--
-- A database of an older script does not know its size: give it, as `-v every=1 -v spheres=1`, and `engine`, the version.

\default folder examples/mantra/results
\default engine 0.1.0
\set runs :folder/runs.csv
\set betti :folder/betti.csv

\ir train/size.sql
\ir train/tables.sql

CREATE OR REPLACE TABLE mantra_export AS
SELECT coalesce(engine, :'engine') AS engine, graph, vertices, every, epochs, batch, model, task, target, features, seed, status, error,
       test_auc, test_accuracy, test_mse, parameters, steps, seconds
FROM mantra_runs JOIN mantra_sizes USING (graph);

INSERT INTO mantra_export
SELECT f.* FROM :'runs' AS f
LEFT ANTI JOIN mantra_export e USING (graph, vertices, every, epochs, batch, model, target, features, seed);

COPY (SELECT * FROM mantra_export ORDER BY graph, vertices, every, epochs, batch, model, features, target, seed) TO :'runs';

CREATE OR REPLACE TABLE mantra_export AS
SELECT graph, vertices, every, epochs, batch, model, features, seed, dimension, truth, predicted, complexes
FROM mantra_betti JOIN mantra_sizes USING (graph);

INSERT INTO mantra_export
SELECT f.* FROM :'betti' AS f
LEFT ANTI JOIN mantra_export e USING (graph, vertices, every, epochs, batch, model, features, seed);

COPY (SELECT * FROM mantra_export ORDER BY graph, vertices, every, epochs, batch, model, features, seed, dimension, truth, predicted) TO :'betti';

DROP TABLE mantra_export;

\echo The runs in the files.
SELECT graph, vertices, every, epochs, batch, count(DISTINCT model) AS models, count(*) AS runs, count(*) FILTER (WHERE status <> 'ok') AS failed
FROM :'runs' GROUP BY ALL ORDER BY graph, vertices, every, epochs, batch;
