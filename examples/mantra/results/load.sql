-- The runs of the files in `folder` that are of the database's size and that it has not, for train.sql (-v results=load) and
-- results.sql. They come without their parameters, which are not in the files.

\default folder examples/mantra/results
\set runs :folder/runs.csv
\set betti :folder/betti.csv

INSERT INTO mantra_runs
SELECT graph, model, task, target, features, seed, status, error::TEXT, test_auc::DOUBLE, test_accuracy::DOUBLE, test_mse::DOUBLE,
       parameters, steps, seconds, NULL, engine::TEXT
FROM (SELECT * FROM :'runs' WHERE status = 'ok') AS f
JOIN mantra_sizes USING (graph, vertices, every, epochs, batch)
LEFT ANTI JOIN (SELECT * FROM mantra_runs WHERE status = 'ok') AS r USING (graph, model, target, features, seed);

INSERT INTO mantra_betti
SELECT graph, model, features, seed, dimension, truth, predicted, complexes
FROM :'betti' AS f
JOIN mantra_sizes USING (graph, vertices, every, epochs, batch)
LEFT ANTI JOIN mantra_betti b USING (graph, model, features, seed);
