-- rel-f1, three tasks of RelBench (Robinson et al. 2024, arXiv 2407.20060), from the Ergast dump of Formula 1: what will a driver do in
-- the next weeks? Tasks, splits and columns are queries, the model is a perceptron on these columns.
--
--     bonnet -v data=DIR -f examples/relational/rel_f1.sql
--
-- DIR holds the CSV files of the dump (races, results, qualifying, drivers). docs/papers/rel_f1.md has the tables beside the published
-- figures, and what the two readings of "what is known" mean. `seeds` is the number of runs.

\default seeds 5

\ir tables.sql
\ir tasks.sql
\ir columns.sql

\echo The task tables; RelBench has 11,411 / 566 / 702, 7,453 / 499 / 760 and 1,353 / 588 / 726 rows.
SELECT task, count(*) FILTER (WHERE split = 'train') AS train, count(*) FILTER (WHERE split = 'val') AS val,
       count(*) FILTER (WHERE split = 'test') AS test, round(avg(label) FILTER (WHERE split = 'test'), 3) AS test_mean
FROM f1_items GROUP BY task ORDER BY task;

-- A perceptron reads no edges: items are the nodes of graphs without any. With 1,353 items to train on, driver-top3 has the columns of
-- qualifying alone that say something of late: the year, 90 days and the last place of the driver, 120 days of his constructor.
CREATE OR REPLACE TABLE f1_rows AS
SELECT row_number() OVER (ORDER BY known, task, time, node) AS item, known, task, split, CAST(label AS INT) AS label,
       CASE task WHEN 'driver-top3' THEN [features[1], features[2], features[4], features[5], features[7], features[8], features[11],
                                          features[14], features[15], features[17]]
                 ELSE features END AS features
FROM f1_columns WHERE task <> 'driver-position';
CREATE OR REPLACE TABLE f1_no_edges(src BIGINT, dst BIGINT);

CREATE SCHEMA IF NOT EXISTS dnf_day;
CREATE OR REPLACE TABLE dnf_day.nodes AS SELECT item AS node, label, features FROM f1_rows WHERE task = 'driver-dnf' AND known = 'to the day';
CREATE OR REPLACE TABLE dnf_day.splits AS SELECT 0 AS split, item AS node, split AS part FROM f1_rows WHERE task = 'driver-dnf' AND known = 'to the day';
CREATE OR REPLACE VIEW dnf_day.edges AS SELECT * FROM f1_no_edges;

CREATE SCHEMA IF NOT EXISTS dnf_cut;
CREATE OR REPLACE TABLE dnf_cut.nodes AS SELECT item AS node, label, features FROM f1_rows WHERE task = 'driver-dnf' AND known = 'to the cut';
CREATE OR REPLACE TABLE dnf_cut.splits AS SELECT 0 AS split, item AS node, split AS part FROM f1_rows WHERE task = 'driver-dnf' AND known = 'to the cut';
CREATE OR REPLACE VIEW dnf_cut.edges AS SELECT * FROM f1_no_edges;

CREATE SCHEMA IF NOT EXISTS top3_day;
CREATE OR REPLACE TABLE top3_day.nodes AS SELECT item AS node, label, features FROM f1_rows WHERE task = 'driver-top3' AND known = 'to the day';
CREATE OR REPLACE TABLE top3_day.splits AS SELECT 0 AS split, item AS node, split AS part FROM f1_rows WHERE task = 'driver-top3' AND known = 'to the day';
CREATE OR REPLACE VIEW top3_day.edges AS SELECT * FROM f1_no_edges;

CREATE SCHEMA IF NOT EXISTS top3_cut;
CREATE OR REPLACE TABLE top3_cut.nodes AS SELECT item AS node, label, features FROM f1_rows WHERE task = 'driver-top3' AND known = 'to the cut';
CREATE OR REPLACE TABLE top3_cut.splits AS SELECT 0 AS split, item AS node, split AS part FROM f1_rows WHERE task = 'driver-top3' AND known = 'to the cut';
CREATE OR REPLACE VIEW top3_cut.edges AS SELECT * FROM f1_no_edges;

CREATE OR REPLACE TABLE f1_runs AS
SELECT task, known, r.* FROM train((
    SELECT graph, model, value AS seed
    FROM unnest(['dnf_day', 'dnf_cut', 'top3_day', 'top3_cut']) a(graph) CROSS JOIN unnest(['mlp', 'mlp1']) b(model)
    CROSS JOIN generate_series(0, :seeds - 1)), select_by => 'val_auc') r
JOIN (VALUES ('dnf_day', 'driver-dnf', 'to the day'), ('dnf_cut', 'driver-dnf', 'to the cut'),
             ('top3_day', 'driver-top3', 'to the day'), ('top3_cut', 'driver-top3', 'to the cut')) n(graph, task, known) USING (graph);

\echo Classification.
SELECT task, known, model, count(*) AS runs, round(100 * avg(test_auc), 1) AS auroc, round(100 * stddev(test_auc), 1) AS deviation,
       round(100 * avg(test_ap), 1) AS ap, round(100 * avg(val_auc), 1) AS val_auroc
FROM f1_runs GROUP BY task, known, model ORDER BY task, known DESC, model;

-- The share of retirements, or of places among the first three, and the mean position, of the year before.
\echo One number alone, without a model: AUROC; for driver-position the mean absolute error, the root of the mean squared one, and R2.
WITH scored AS (SELECT known, task, label, features[4] AS hit, features[5] * 20 AS position FROM f1_columns WHERE split = 'test')
SELECT task, known, round(100 * avg(CASE WHEN a.hit > b.hit THEN 1.0 WHEN a.hit = b.hit THEN 0.5 ELSE 0 END), 1) AS auroc,
       NULL AS mae, NULL AS rmse, NULL AS r2
FROM (SELECT * FROM scored WHERE label = 1) a JOIN (SELECT * FROM scored WHERE label = 0) b USING (task, known)
WHERE task <> 'driver-position' GROUP BY task, known
UNION ALL
SELECT task, known, NULL, round(avg(abs(label - position)), 2), round(sqrt(avg((label - position) * (label - position))), 2),
       round(1 - avg((label - position) * (label - position)) / var_pop(label), 2)
FROM scored WHERE task = 'driver-position' GROUP BY task, known
ORDER BY task, known DESC;
