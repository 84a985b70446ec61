-- Do models see the same topology after a barycentric subdivision? The models that train.sql has saved are asked for the labels
-- of the subdivided test set (MANTRA, Sec. 3.2; Q3 and Table 2). As in the paper: surfaces of named type, features computed anew,
-- no DECT.
--
--     cargo run --release -- -v surfaces=8 -v manifolds=0 -v seeds=1 -f examples/mantra/train.sql -f examples/mantra/remesh.sql
--
-- Or the folder of train.sql's database: runs are added to its tables as those of 'subdivided surfaces', and only missing and failed
-- ones. All trained runs are asked, or those of the models and features that the regular expressions `models` and `features` name.

\default models .
\default features .

-- 1. The subdivided test sets: each task has a split of its own, the same for all its runs ---------------------------------------

CREATE TABLE IF NOT EXISTS mantra_test AS
SELECT target, node AS id FROM predict(
    (SELECT 'named surfaces' AS graph, 'mlp' AS model, target, CASE target WHEN 'betti' THEN 'graph_regression' ELSE 'graph_classification' END AS task,
            0 AS split, 'stratified:60/20/20' AS split_scheme
     FROM (VALUES ('type'), ('orientable'), ('betti')) AS t(target)),
    complexes => (SELECT * FROM mantra WHERE graph = 'named surfaces'), features => 'degree_number', epochs => 1, layers => 1, hidden => 1)
WHERE part = 'test';

-- A saved model has as many outputs as there are classes: one complex of each stays as it is, and is no test item.
CREATE TABLE IF NOT EXISTS mantra_subdivided AS
SELECT t.target AS graph, m.id, barycentric_subdivision(facets) AS facets, type, orientable, betti, 'test' AS part
FROM mantra_test t JOIN mantra m ON m.id = t.id AND m.graph = 'named surfaces'
UNION ALL
SELECT target, 'training ' || m.id, facets, m.type, m.orientable, betti, 'train' FROM mantra m
JOIN (SELECT type, orientable, min(id) AS id FROM mantra WHERE graph = 'named surfaces' GROUP BY type, orientable) AS one USING (id)
CROSS JOIN (VALUES ('type'), ('orientable'), ('betti')) AS t(target)
WHERE m.graph = 'named surfaces';

\echo The subdivided test sets, and the sizes of their complexes.
SELECT graph AS target, count(*) AS complexes, min(array_length(facets)) AS least_triangles, max(array_length(facets)) AS most
FROM mantra_subdivided WHERE part = 'test' GROUP BY graph ORDER BY graph;

-- 2. The saved models, without any epoch -----------------------------------------------------------------------------------------

-- From the runs themselves, not from mantra_jobs, which has what the last call of train.sql asked for.
CREATE OR REPLACE VIEW mantra_subdivision_jobs AS
SELECT r.target AS graph, model, r.task, r.target, r.features, r.seed, m.layers, m.dropout, m.hidden, m.heads, m.attention_dropout, s.batch,
       r.saved AS load
FROM mantra_runs r JOIN mantra_models m USING (model) CROSS JOIN mantra_size s
WHERE r.graph = 'named surfaces' AND r.status = 'ok' AND r.saved IS NOT NULL AND model <> 'dect'
  AND model ~ :'models' AND r.features ~ :'features';

DELETE FROM mantra_runs
WHERE status <> 'ok' AND graph = 'subdivided surfaces'
  AND model || ' ' || features IN (SELECT model || ' ' || features FROM mantra_subdivision_jobs);

INSERT INTO mantra_runs
SELECT 'subdivided surfaces', model, task, target, features, seed, status, error, test_auc, test_accuracy, test_mse, parameters,
       0, train_seconds, load, engine_version
FROM train(
    (SELECT * FROM mantra_subdivision_jobs
     LEFT ANTI JOIN (SELECT * FROM mantra_runs WHERE graph = 'subdivided surfaces') AS done USING (model, target, features, seed)),
    complexes => mantra_subdivided, epochs => 0);

INSERT INTO mantra_betti
SELECT 'subdivided surfaces', model, features, seed, d.value - 1, truth, predicted, count(*)
FROM (
    SELECT *, CAST(betti[d.value] AS BIGINT) AS truth,
           CAST(least(greatest(round(outputs[d.value]), 0), max(betti[d.value]) OVER (PARTITION BY d.value)) AS BIGINT) AS predicted
    FROM predict(
        (SELECT * FROM mantra_subdivision_jobs
         LEFT ANTI JOIN (SELECT * FROM mantra_betti WHERE graph = 'subdivided surfaces') AS done USING (model, features, seed)
         WHERE target = 'betti'),
        complexes => mantra_subdivided) AS p
    JOIN (SELECT id, betti FROM mantra_subdivided WHERE graph = 'betti' AND part = 'test') AS c ON c.id = p.node
    CROSS JOIN generate_series(1, 3) AS d
    WHERE part = 'test'
)
GROUP BY ALL;

-- 3. Before and after --------------------------------------------------------------------------------------------------------------

\ir report.sql
\ir subdivision.sql
