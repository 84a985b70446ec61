-- What tables.sql has trained so far, in Markdown: what the paper prints, ours under each split, and how many of the paper's
-- deviations ours is above it. Figures in percent, mean and sample deviation over five seeds.

\format markdown
\set table03 :data /curvbench_paper/table03.csv
\set table04 :data /curvbench_paper/table04.csv
\set table08 :data /curvbench_paper/table08.csv
\set table09 :data /curvbench_paper/table09.csv
\set efficiency :data /curvbench_paper/efficiency.csv

CREATE OR REPLACE VIEW curvbench_printed AS
SELECT 'node_classification' AS task, 'accuracy' AS metric, dataset, model AS label, mean, std FROM :'table03'
UNION ALL SELECT 'node_classification', 'macro-F1', dataset, model, mean, std FROM :'table08'
UNION ALL SELECT 'link_prediction', 'AUC', dataset, model, mean, std FROM :'table04'
UNION ALL SELECT 'link_prediction', 'AP', dataset, model, mean, std FROM :'table09';

CREATE OR REPLACE VIEW curvbench_ours AS
WITH chosen AS (
    SELECT r.*, m.label, m.family
    FROM curvbench_results r JOIN curvbench_models m ON m.model = r.model
    JOIN curvbench_chosen c ON c.task = r.task AND c.dataset = r.dataset AND c.scheme = r.scheme AND c.model = r.model
        AND c.configuration = r.configuration
    WHERE r.status = 'ok'
), figures AS (
    SELECT *, CASE task WHEN 'link_prediction' THEN 'AUC' ELSE 'accuracy' END AS metric, test AS figure FROM chosen
    UNION ALL SELECT *, CASE task WHEN 'link_prediction' THEN 'AP' ELSE 'macro-F1' END, second FROM chosen
)
SELECT task, metric, dataset, scheme, label, family, configuration, count(*) AS seeds, 100 * avg(figure) AS mean,
       100 * stddev(figure) AS deviation
FROM figures GROUP BY task, metric, dataset, scheme, label, family, configuration HAVING count(*) = 5;

CREATE OR REPLACE VIEW curvbench_beside AS
SELECT o.*, coalesce(p.mean || ' ± ' || p.std, '') AS paper, o.mean::DECIMAL(5, 2) || ' ± ' || o.deviation::DECIMAL(5, 2) AS ours,
       ((o.mean - p.mean) / nullif(p.std, 0))::DECIMAL(8, 1) AS deviations
FROM curvbench_ours o
LEFT JOIN curvbench_printed p ON p.task = o.task AND p.metric = o.metric AND p.dataset = o.dataset AND p.label = o.label;

\echo
\echo Tables 3 and 8: node classification
\echo
-- \plot none
SELECT a.dataset, a.label AS model, a.scheme AS split, a.paper AS paper_accuracy, a.ours AS our_accuracy, a.deviations,
       f.paper AS paper_f1, f.ours AS our_f1, f.deviations AS deviations_f1, a.configuration AS chosen
FROM curvbench_beside a JOIN curvbench_beside f ON f.task = a.task AND f.dataset = a.dataset AND f.scheme = a.scheme AND f.label = a.label
WHERE a.metric = 'accuracy' AND f.metric = 'macro-F1' ORDER BY a.dataset, a.label, a.scheme DESC;

\echo
\echo Tables 4 and 9: link prediction
\echo
-- \plot none
SELECT a.dataset, a.label AS model, a.paper AS paper_auc, a.ours AS our_auc, a.deviations, f.paper AS paper_ap, f.ours AS our_ap,
       f.deviations AS deviations_ap, a.configuration AS chosen
FROM curvbench_beside a JOIN curvbench_beside f ON f.task = a.task AND f.dataset = a.dataset AND f.scheme = a.scheme AND f.label = a.label
WHERE a.metric = 'AUC' AND f.metric = 'AP' ORDER BY a.dataset, a.label;

-- Efficiency: the seconds of a run at its chosen configuration, whose epochs differ, on the publisher's split where there is one.
CREATE OR REPLACE VIEW curvbench_seconds AS
SELECT m.label AS model, m.family, r.dataset, avg(r.train_seconds) AS train_seconds, avg(r.test_seconds) AS test_seconds,
       1000 * sum(r.train_seconds) / sum(r.epochs_run) AS epoch_milliseconds
FROM curvbench_results r
JOIN curvbench_chosen c ON c.task = r.task AND c.dataset = r.dataset AND c.scheme = r.scheme AND c.model = r.model
    AND c.configuration = r.configuration
JOIN curvbench_models m ON m.model = r.model
WHERE r.task = 'node_classification' AND r.status = 'ok' AND (r.scheme = 'public' OR r.dataset = 'Disease')
GROUP BY m.label, m.family, r.dataset;

\echo
\echo Figure 2: seconds of training, node classification
\echo
-- \plot heatmap name model value unpivot=Cornell,Disease,Cora,Citeseer,Actor title='Seconds of training'
SELECT * FROM (SELECT model, dataset, train_seconds FROM curvbench_seconds)
PIVOT (round(avg(train_seconds), 2) FOR dataset IN ('Cornell', 'Disease', 'Cora', 'Citeseer', 'Actor')) ORDER BY model;

\echo
\echo Figure 3: seconds of the test, node classification
\echo
-- \plot heatmap name model value unpivot=Cornell,Disease,Cora,Citeseer,Actor title='Seconds of the test'
SELECT * FROM (SELECT model, dataset, test_seconds FROM curvbench_seconds)
PIVOT (round(avg(test_seconds), 4) FOR dataset IN ('Cornell', 'Disease', 'Cora', 'Citeseer', 'Actor')) ORDER BY model;

\echo
\echo Figure 4: medians over the graphs, and what the paper prints of its own
\echo
-- \plot points train_seconds test_seconds family title='Seconds of training and of the test'
SELECT s.model, s.family, count(*) AS graphs, round(median(s.train_seconds), 2) AS train_seconds, round(median(s.test_seconds), 4) AS test_seconds,
       round(median(s.epoch_milliseconds), 1) AS epoch_milliseconds, max(p.train) AS paper_train, max(p.test) AS paper_test
FROM curvbench_seconds s LEFT JOIN (
    SELECT model, max(value) FILTER (WHERE quantity = 'train_median') AS train,
           coalesce((max(value) FILTER (WHERE quantity = 'test_median'))::TEXT, '< ' || max(value) FILTER (WHERE quantity = 'test_median_upper_bound')) AS test
    FROM :'efficiency' GROUP BY model) p ON p.model = s.model
GROUP BY s.model, s.family ORDER BY train_seconds;

\echo
\echo Runs that failed
\echo
-- \plot none
SELECT task, dataset, scheme, model, configuration, seed, status, error FROM curvbench_results
WHERE status <> 'ok' ORDER BY task, dataset, scheme, model, configuration, seed;
