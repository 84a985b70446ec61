-- The tables of what train.sql and remesh.sql have trained and predicted: Tables 2 and 7 to 11 of the paper. Where its text states
-- a mean it stands beside ours; of the tables themselves the text copy has the deviations alone, which stand beside ours, too.

\ir paper.sql

-- 1. Figures of each run ---------------------------------------------------------------------------------------------------

-- The predicted Betti number is a class: its area under the curve is that of the one-hot vector, of each class against the rest
-- (1 + true positive rate - false positive rate) / 2, and then the mean over the classes that occur.
CREATE OR REPLACE VIEW mantra_betti_figures AS
WITH classes AS (SELECT DISTINCT graph, model, features, seed, dimension, truth AS class FROM mantra_betti),
rates AS (
    SELECT graph, model, features, seed, dimension, class,
           sum(complexes) FILTER (WHERE truth = class AND predicted = class)::DOUBLE AS hits,
           sum(complexes) FILTER (WHERE truth <> class AND predicted = class)::DOUBLE AS alarms,
           sum(complexes) FILTER (WHERE truth = class)::DOUBLE AS positives,
           sum(complexes) FILTER (WHERE truth <> class)::DOUBLE AS negatives
    FROM mantra_betti JOIN classes USING (graph, model, features, seed, dimension)
    GROUP BY ALL)
SELECT graph, model, features, seed, 'beta_' || dimension AS label,
       avg(CASE WHEN negatives > 0 THEN (1 + coalesce(hits, 0) / positives - coalesce(alarms, 0) / negatives) / 2 END) AS auroc,
       sum(coalesce(hits, 0)) / sum(positives) AS accuracy
FROM rates GROUP BY ALL;

CREATE OR REPLACE VIEW mantra_figures AS
SELECT * FROM mantra_betti_figures
UNION ALL
SELECT graph, model, features, seed, target, test_auc, test_accuracy FROM mantra_runs WHERE target <> 'betti' AND status = 'ok';

-- Best, mean and deviation over the runs of a model with some features, in percent.
CREATE OR REPLACE VIEW mantra_cells AS
SELECT graph, model, features, label, count(*) AS runs, 100 * max(auroc) AS best, 100 * avg(auroc) AS mean,
       100 * stddev_samp(auroc) AS deviation, 100 * max(accuracy) AS best_accuracy, 100 * avg(accuracy) AS accuracy,
       100 * stddev_samp(accuracy) AS accuracy_deviation
FROM mantra_figures GROUP BY ALL;

-- 2. Tables ----------------------------------------------------------------------------------------------------------------

\echo
\echo ## Runs, and those that failed
\echo
SELECT graph, status, count(*) AS runs, min(error) AS an_error FROM mantra_runs GROUP BY graph, status ORDER BY graph, status;

\echo
\echo ## Table 2: the best run of each model and features, its mean and deviation over a family. Accuracy of beta_0, else AUROC. In brackets the deviation of the paper: its means are not in the text
\echo
SELECT graph, family, count(DISTINCT model || features) AS configurations,
       avg(best_accuracy) FILTER (WHERE label = 'beta_0')::DECIMAL(4, 1) || ' ± ' || stddev_samp(best_accuracy) FILTER (WHERE label = 'beta_0')::DECIMAL(4, 1) || coalesce(' (' || max(p.beta_0) || ')', '') AS beta_0,
       avg(best) FILTER (WHERE label = 'beta_1')::DECIMAL(4, 1) || ' ± ' || stddev_samp(best) FILTER (WHERE label = 'beta_1')::DECIMAL(4, 1) || coalesce(' (' || max(p.beta_1) || ')', '') AS beta_1,
       avg(best) FILTER (WHERE label = 'beta_2')::DECIMAL(4, 1) || ' ± ' || stddev_samp(best) FILTER (WHERE label = 'beta_2')::DECIMAL(4, 1) || coalesce(' (' || max(p.beta_2) || ')', '') AS beta_2,
       avg(best) FILTER (WHERE label = 'beta_3')::DECIMAL(4, 1) || ' ± ' || stddev_samp(best) FILTER (WHERE label = 'beta_3')::DECIMAL(4, 1) || coalesce(' (' || max(p.beta_3) || ')', '') AS beta_3,
       avg(best) FILTER (WHERE label = 'type')::DECIMAL(4, 1) || ' ± ' || stddev_samp(best) FILTER (WHERE label = 'type')::DECIMAL(4, 1) || coalesce(' (' || max(p.type) || ')', '') AS type,
       avg(best) FILTER (WHERE label = 'orientable')::DECIMAL(4, 1) || ' ± ' || stddev_samp(best) FILTER (WHERE label = 'orientable')::DECIMAL(4, 1) || coalesce(' (' || max(p.orientable) || ')', '') AS orientable
FROM (SELECT c.*, CASE WHEN model IN ('mlp', 'gcn', 'gat', 'tag', 'unimp') THEN 'graphs' ELSE 'complexes' END AS family
      FROM mantra_cells c)
LEFT JOIN mantra_paper_families p USING (graph, family)
GROUP BY graph, family ORDER BY graph, family DESC;

\echo
\echo ## Table 7: steps of training a second, with the validation of each epoch; runs of a model stand side by side on the threads. `paper` is the deviation of the paper: its means are not in the text
\echo
SELECT model, avg(steps / seconds) FILTER (WHERE graph = 'surfaces')::DECIMAL(8, 2) AS surfaces,
       stddev_samp(steps / seconds) FILTER (WHERE graph = 'surfaces')::DECIMAL(8, 2) AS deviation, max(paper) AS paper,
       avg(steps / seconds) FILTER (WHERE graph = 'named surfaces')::DECIMAL(8, 2) AS named_surfaces,
       stddev_samp(steps / seconds) FILTER (WHERE graph = 'named surfaces')::DECIMAL(8, 2) AS named_deviation, max(named_paper) AS named_paper,
       avg(steps / seconds) FILTER (WHERE graph = '3-manifolds')::DECIMAL(8, 2) AS manifolds,
       stddev_samp(steps / seconds) FILTER (WHERE graph = '3-manifolds')::DECIMAL(8, 2) AS manifold_deviation, max(manifold_paper) AS manifold_paper
FROM mantra_runs LEFT JOIN mantra_paper_speed USING (model)
WHERE status = 'ok' AND seconds > 0 AND steps > 0 GROUP BY model ORDER BY surfaces DESC NULLS LAST;

\echo
\echo ## Table 8: Betti numbers, AUROC of the rounded prediction: best, and mean with deviation over the runs. Of the paper the deviation is in the text, and the means that Sec. 3.3 states
\echo
SELECT graph, label, model, features, best::DECIMAL(4, 1) AS best, mean::DECIMAL(4, 1) AS mean, c.deviation::DECIMAL(4, 1) AS deviation,
       runs, coalesce(paper::DECIMAL(4, 1)::TEXT, 'not in the text') AS paper_mean, p.deviation AS paper_deviation
FROM mantra_cells c LEFT JOIN mantra_printed USING (graph, model, label)
LEFT JOIN (SELECT * FROM mantra_paper WHERE figure = 'auroc') AS p USING (graph, label, model, features)
WHERE label LIKE 'beta%' AND label <> 'beta_0' ORDER BY graph, label, mean DESC NULLS LAST, model, features;

\echo
\echo ## Table 9: Betti numbers, accuracy of the rounded prediction: mean and deviation over the runs. In brackets the deviation of the paper: its means are not in the text
\echo
SELECT graph, model, features,
       avg(accuracy) FILTER (WHERE label = 'beta_0')::DECIMAL(4, 1) || coalesce(' ± ' || max(accuracy_deviation) FILTER (WHERE label = 'beta_0')::DECIMAL(4, 1), '')
           || coalesce(' (' || max(p.deviation) FILTER (WHERE label = 'beta_0') || ')', '') AS beta_0,
       avg(accuracy) FILTER (WHERE label = 'beta_1')::DECIMAL(4, 1) || coalesce(' ± ' || max(accuracy_deviation) FILTER (WHERE label = 'beta_1')::DECIMAL(4, 1), '')
           || coalesce(' (' || max(p.deviation) FILTER (WHERE label = 'beta_1') || ')', '') AS beta_1,
       avg(accuracy) FILTER (WHERE label = 'beta_2')::DECIMAL(4, 1) || coalesce(' ± ' || max(accuracy_deviation) FILTER (WHERE label = 'beta_2')::DECIMAL(4, 1), '')
           || coalesce(' (' || max(p.deviation) FILTER (WHERE label = 'beta_2') || ')', '') AS beta_2,
       avg(accuracy) FILTER (WHERE label = 'beta_3')::DECIMAL(4, 1) || coalesce(' ± ' || max(accuracy_deviation) FILTER (WHERE label = 'beta_3')::DECIMAL(4, 1), '')
           || coalesce(' (' || max(p.deviation) FILTER (WHERE label = 'beta_3') || ')', '') AS beta_3,
       max(runs) AS runs
FROM mantra_cells LEFT JOIN (SELECT * FROM mantra_paper WHERE figure = 'accuracy') AS p USING (graph, label, model, features)
WHERE label LIKE 'beta%' GROUP BY graph, model, features
ORDER BY graph, avg(accuracy) FILTER (WHERE label = 'beta_1') DESC NULLS LAST, model, features;

\echo
\echo ## Table 10: orientability. `paper_` are the deviations of the paper: its means are not in the text
\echo
SELECT graph, model, features, best::DECIMAL(4, 1) AS best, mean::DECIMAL(4, 1) AS mean, c.deviation::DECIMAL(4, 1) AS deviation,
       a.deviation AS paper_deviation, accuracy::DECIMAL(4, 1) AS accuracy, accuracy_deviation::DECIMAL(4, 1) AS accuracy_deviation,
       b.deviation AS paper_accuracy_deviation, runs
FROM mantra_cells c
LEFT JOIN (SELECT * FROM mantra_paper WHERE figure = 'auroc') AS a USING (graph, label, model, features)
LEFT JOIN (SELECT * FROM mantra_paper WHERE figure = 'accuracy') AS b USING (graph, label, model, features)
WHERE label = 'orientable' ORDER BY graph, mean DESC NULLS LAST, model, features;

\echo
\echo ## Table 11: homeomorphism type. Of the paper the deviations are in the text, and the means that Sec. 3.3 states; it has no 3-manifolds here
\echo
SELECT graph, model, features, best::DECIMAL(4, 1) AS best, mean::DECIMAL(4, 1) AS mean, c.deviation::DECIMAL(4, 1) AS deviation,
       coalesce(paper::DECIMAL(4, 1)::TEXT, 'not in the text') AS paper_mean, a.deviation AS paper_deviation,
       accuracy::DECIMAL(4, 1) AS accuracy, accuracy_deviation::DECIMAL(4, 1) AS accuracy_deviation,
       b.deviation AS paper_accuracy_deviation, runs
FROM mantra_cells c LEFT JOIN mantra_printed USING (graph, model, label)
LEFT JOIN (SELECT * FROM mantra_paper WHERE figure = 'auroc') AS a USING (graph, label, model, features)
LEFT JOIN (SELECT * FROM mantra_paper WHERE figure = 'accuracy') AS b USING (graph, label, model, features)
WHERE label = 'type' ORDER BY graph, mean DESC NULLS LAST, model, features;

-- 3. The statements of Sec. 3.3 ----------------------------------------------------------------------------------------------

\echo
\echo ## Statements of the paper, and whether ours agree
\echo
WITH family AS (
    SELECT c.*, model IN ('mlp', 'gcn', 'gat', 'tag', 'unimp') AS on_graphs FROM mantra_cells c
    WHERE graph IN ('surfaces', 'named surfaces', 'subdivided surfaces')
), pairs AS (
    SELECT a.label, a.mean AS before, b.mean AS after FROM family a JOIN family b USING (model, features, label)
    WHERE a.graph = 'named surfaces' AND b.graph = 'subdivided surfaces' AND label <> 'beta_0' AND a.mean > 55
)
SELECT 1 AS number, 'graph models find beta_0 (accuracy)' AS statement, graph, min(accuracy)::DECIMAL(4, 1) AS ours,
       first_value(accuracy_deviation ORDER BY accuracy)::DECIMAL(4, 1) AS deviation, 100.0::DECIMAL(4, 1) AS beside,
       NULL::DECIMAL(4, 1) AS deviation_beside, 'their worst, and all' AS figures, min(accuracy) >= 99.95 AS agrees
FROM family WHERE on_graphs AND label = 'beta_0' AND graph <> 'subdivided surfaces' GROUP BY graph
UNION ALL
SELECT 2, 'graph models miss orientability (AUROC)', graph, max(mean)::DECIMAL(4, 1), first_value(deviation ORDER BY mean DESC)::DECIMAL(4, 1),
       50.0::DECIMAL(4, 1), NULL, 'their best, and a guess', max(mean) < 60
FROM family WHERE on_graphs AND label = 'orientable' AND graph <> 'subdivided surfaces' GROUP BY graph
UNION ALL
SELECT number, statement, graph, max(mean) FILTER (WHERE model = wins)::DECIMAL(4, 1),
       first_value(deviation ORDER BY mean DESC) FILTER (WHERE model = wins)::DECIMAL(4, 1), max(mean) FILTER (WHERE on_graphs)::DECIMAL(4, 1),
       first_value(deviation ORDER BY mean DESC) FILTER (WHERE on_graphs)::DECIMAL(4, 1), 'its best features, and the best graph model',
       max(mean) FILTER (WHERE model = wins) > max(mean) FILTER (WHERE on_graphs)
FROM family CROSS JOIN (VALUES (3, 'ct', 'CT beats graph models on the type (AUROC)'),
    (4, 'sccn', 'SCCN beats graph models on the type (AUROC)')) AS s(number, wins, statement)
WHERE label = 'type' AND graph <> 'subdivided surfaces' GROUP BY number, statement, graph
UNION ALL
SELECT 5, 'scores above a guess fall under subdivision (AUROC)', 'named surfaces', avg(after)::DECIMAL(4, 1), stddev_samp(after)::DECIMAL(4, 1),
       avg(before)::DECIMAL(4, 1), stddev_samp(before)::DECIMAL(4, 1), 'mean after, and before, of ' || count(*) || ' above 55',
       avg(after) < avg(before) FROM pairs HAVING count(*) > 0
UNION ALL
SELECT 6, 'of these, how many fall (percent)', 'named surfaces', (100.0 * avg(CASE WHEN after < before THEN 1 ELSE 0 END))::DECIMAL(4, 1), NULL,
       100.0::DECIMAL(4, 1), NULL, 'ours, and all', bool_and(after < before) FROM pairs HAVING count(*) > 0
ORDER BY number, graph DESC;
