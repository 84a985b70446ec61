-- The tables that tables.sql trained, in Markdown: what the paper prints, ours under each split, and how many of the paper's
-- deviations ours is above it. Figures in percent, mean and sample deviation over five seeds.

\format markdown
\set table03 :data /curvbench_paper/table03.csv
\set table04 :data /curvbench_paper/table04.csv

CREATE OR REPLACE VIEW curvbench_printed AS
SELECT 'node_classification' AS task, dataset, model_label AS label, mean, std FROM :'table03'
UNION ALL
SELECT 'link_prediction', dataset, model_label, mean, std FROM :'table04';

CREATE OR REPLACE VIEW curvbench_ours AS
SELECT r.task, r.dataset, r.scheme, m.label, r.configuration, count(*) AS seeds, 100 * avg(test) AS mean,
       100 * stddev(test) AS deviation
FROM curvbench_runs r
JOIN curvbench_chosen c ON c.task = r.task AND c.dataset = r.dataset AND c.scheme = r.scheme AND c.model = r.model
    AND c.configuration = r.configuration
JOIN (VALUES ('mlp', 'MLP'), ('gcn', 'GCN'), ('gat', 'GAT'), ('graphsage', 'GraphSAGE'), ('pcnet', 'PCNet')) AS m(model, label)
    ON m.model = r.model
WHERE r.status = 'ok' GROUP BY r.task, r.dataset, r.scheme, m.label, r.configuration;

\echo
\echo Table 3: node classification, accuracy
\echo
SELECT o.dataset, o.label AS model, o.scheme AS split, p.mean || ' ± ' || p.std AS paper,
       o.mean::DECIMAL(5, 2) || ' ± ' || o.deviation::DECIMAL(5, 2) AS ours,
       ((o.mean - p.mean) / nullif(p.std, 0))::DECIMAL(6, 1) AS deviations, o.configuration AS chosen
FROM curvbench_ours o JOIN curvbench_printed p ON p.task = o.task AND p.dataset = o.dataset AND p.label = o.label
WHERE o.task = 'node_classification' AND o.seeds = 5 ORDER BY o.dataset, o.label, o.scheme DESC;

\echo
\echo Table 4: link prediction, AUC
\echo
SELECT o.dataset, o.label AS model, o.scheme AS split, p.mean || ' ± ' || p.std AS paper,
       o.mean::DECIMAL(5, 2) || ' ± ' || o.deviation::DECIMAL(5, 2) AS ours,
       ((o.mean - p.mean) / nullif(p.std, 0))::DECIMAL(6, 1) AS deviations, o.configuration AS chosen
FROM curvbench_ours o JOIN curvbench_printed p ON p.task = o.task AND p.dataset = o.dataset AND p.label = o.label
WHERE o.task = 'link_prediction' AND o.seeds = 5 ORDER BY o.dataset, o.label;

\echo
\echo Runs that failed.
\echo
SELECT task, dataset, scheme, model, configuration, seed, status, error FROM curvbench_runs
WHERE status <> 'ok' ORDER BY task, dataset, scheme, model, configuration, seed;
