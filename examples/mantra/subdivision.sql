-- The scores of subdivided surfaces beside those before, for remesh.sql and results.sql: after report.sql.

\echo
\echo ## AUROC on the test set and on its subdivision: mean and deviation over the runs, in percent
\echo
SELECT a.label, a.model, a.features, a.mean::DECIMAL(4, 1) AS before, a.deviation::DECIMAL(4, 1) AS deviation_before,
       b.mean::DECIMAL(4, 1) AS after, b.deviation::DECIMAL(4, 1) AS deviation_after,
       (b.mean - a.mean)::DECIMAL(4, 1) AS difference, b.accuracy::DECIMAL(4, 1) AS accuracy_after, b.runs
FROM mantra_cells a JOIN mantra_cells b USING (model, features, label)
WHERE a.graph = 'named surfaces' AND b.graph = 'subdivided surfaces' AND a.label <> 'beta_0'
ORDER BY a.label, difference, a.model, a.features;
