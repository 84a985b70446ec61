-- Trains the missing and the failed runs of the models of :group on :collection with :seed, for collection.sql; then predicts their
-- Betti numbers.

DELETE FROM mantra_runs
WHERE status <> 'ok' AND graph = :'collection' AND model ~ :'group' AND seed = :seed
  AND model || ' ' || target || ' ' || features IN (SELECT model || ' ' || target || ' ' || features FROM mantra_jobs);

INSERT INTO mantra_runs
SELECT graph, model, task, target, features, seed, status, error, test_auc, test_accuracy, test_mse, parameters,
       epochs_run * ceil(0.6 * complexes / batch), train_seconds, saved, engine_version
FROM train(
    (SELECT j.*, c.complexes, s.epochs, s.batch FROM mantra_jobs j
     JOIN (SELECT graph, count(*) AS complexes FROM mantra GROUP BY graph) AS c USING (graph)
     CROSS JOIN mantra_size s
     LEFT ANTI JOIN mantra_runs r ON r.graph = j.graph AND r.model = j.model AND r.target = j.target
        AND r.features = j.features AND r.seed = j.seed
     WHERE j.graph = :'collection' AND j.model ~ :'group' AND j.seed = :seed),
    complexes => (SELECT * FROM mantra WHERE graph = :'collection'), save => :'out', lr => 0.01, weight_decay => 0);

INSERT INTO mantra_betti
SELECT p.graph, model, features, seed, d.value - 1, truth, predicted, count(*)
FROM (
    SELECT *, CAST(betti[d.value] AS BIGINT) AS truth,
           CAST(least(greatest(round(outputs[d.value]), 0), max(betti[d.value]) OVER (PARTITION BY d.value)) AS BIGINT) AS predicted
    FROM predict(
        (SELECT j.*, s.batch, r.saved AS load FROM mantra_jobs j
         JOIN mantra_runs r USING (graph, model, target, features, seed)
         CROSS JOIN mantra_size s
         LEFT ANTI JOIN mantra_betti b ON b.graph = j.graph AND b.model = j.model AND b.features = j.features AND b.seed = j.seed
         WHERE j.graph = :'collection' AND j.model ~ :'group' AND j.seed = :seed AND j.target = 'betti' AND r.status = 'ok'
           AND r.saved IS NOT NULL),
        complexes => (SELECT * FROM mantra WHERE graph = :'collection')) AS p
    JOIN (SELECT graph, id, betti FROM mantra) AS c ON c.graph = p.graph AND c.id = p.node
    CROSS JOIN generate_series(1, 4) AS d
    WHERE part = 'test' AND d.value <= array_length(betti)
)
GROUP BY ALL;
