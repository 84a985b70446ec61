-- Do models see the same topology after a barycentric subdivision? The models that train.sql has saved are asked for the labels
-- of the subdivided test set (MANTRA, Sec. 3.2; Q3 and Table 2). As in the paper: surfaces of named type, features computed anew,
-- no DECT.
--
--     cargo run --release -- -v surfaces=8 -v manifolds=0 -v seeds=1 -f examples/mantra/train.sql -f examples/mantra/remesh.sql
--
-- Or the folder of train.sql's database: runs are added to its tables as those of 'subdivided surfaces', and only what is missing.

\default out mantra_models
\default batch 128

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

INSERT INTO mantra_runs
SELECT 'subdivided surfaces', model, task, target, features, seed, status, error, test_auc, test_accuracy, test_mse, parameters,
       0, train_seconds, load
FROM train(
    (SELECT target AS graph, model, task, target, features, seed, layers, dropout, hidden, heads, attention_dropout, saved AS load
     FROM mantra_jobs JOIN mantra_runs r USING (graph, model, task, target, features, seed)
     LEFT ANTI JOIN (SELECT * FROM mantra_runs WHERE graph = 'subdivided surfaces') AS done USING (model, target, features, seed)
     WHERE graph = 'named surfaces' AND status = 'ok' AND model <> 'dect'),
    complexes => mantra_subdivided, epochs => 0, batch => :batch);

INSERT INTO mantra_betti
SELECT 'subdivided surfaces', model, features, seed, d.value - 1, truth, predicted, count(*)
FROM (
    SELECT *, CAST(betti[d.value] AS BIGINT) AS truth,
           CAST(least(greatest(round(outputs[d.value]), 0), max(betti[d.value]) OVER (PARTITION BY d.value)) AS BIGINT) AS predicted
    FROM predict(
        (SELECT target AS graph, model, task, target, features, seed, layers, dropout, hidden, heads, attention_dropout, saved AS load
         FROM mantra_jobs JOIN mantra_runs USING (graph, model, task, target, features, seed)
         LEFT ANTI JOIN (SELECT * FROM mantra_betti WHERE graph = 'subdivided surfaces') AS done USING (model, features, seed)
         WHERE graph = 'named surfaces' AND target = 'betti' AND status = 'ok' AND model <> 'dect'),
        complexes => mantra_subdivided, batch => :batch) AS p
    JOIN (SELECT id, betti FROM mantra_subdivided WHERE graph = 'betti' AND part = 'test') AS c ON c.id = p.node
    CROSS JOIN generate_series(1, 3) AS d
    WHERE part = 'test'
)
GROUP BY ALL;

-- 3. Before and after --------------------------------------------------------------------------------------------------------------

\ir report.sql

\echo
\echo AUROC on the test set and on its subdivision: mean and deviation over the runs, in percent.
\echo
SELECT a.label, a.model, a.features, a.mean::DECIMAL(4, 1) AS before, a.deviation::DECIMAL(4, 1) AS deviation_before,
       b.mean::DECIMAL(4, 1) AS after, b.deviation::DECIMAL(4, 1) AS deviation_after,
       (b.mean - a.mean)::DECIMAL(4, 1) AS difference, b.accuracy::DECIMAL(4, 1) AS accuracy_after, b.runs
FROM mantra_cells a JOIN mantra_cells b USING (model, features, label)
WHERE a.graph = 'named surfaces' AND b.graph = 'subdivided surfaces' AND a.label <> 'beta_0'
ORDER BY a.label, difference, a.model, a.features;
