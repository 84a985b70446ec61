-- rel-f1, three tasks of RelBench (Robinson et al. 2024, arXiv 2407.20060), from the Ergast dump of Formula 1: what will a driver do in
-- the next weeks? Tasks, splits and columns are queries; the models are a perceptron on these columns, a network on the rows, and both.
--
--     bonnet -v data=DIR -f examples/relational/rel_f1.sql
--
-- DIR holds the CSV files of the dump. docs/papers/rel_f1.md has the tables beside the published figures, and what the two readings of
-- "what is known" mean. `seeds` is the number of runs, `models` the folder where those of the network are saved.

\default seeds 5
\default models rel_f1_models

\ir tables.sql
\ir tasks.sql
\ir columns.sql

\echo The task tables; RelBench has 11,411 / 566 / 702, 7,453 / 499 / 760 and 1,353 / 588 / 726 rows.
SELECT task, count(*) FILTER (WHERE split = 'train') AS train, count(*) FILTER (WHERE split = 'val') AS val,
       count(*) FILTER (WHERE split = 'test') AS test, round(avg(label) FILTER (WHERE split = 'test'), 3) AS test_mean
FROM f1_items GROUP BY task ORDER BY task;

-- With 1,353 items to train on, driver-top3 has the columns of qualifying alone that say something of late: the year, 90 days and the
-- last place of the driver, 120 days of his constructor.
CREATE OR REPLACE TABLE f1_rows AS
SELECT known, task, split, node, time, CAST(label AS INT) AS label,
       CASE task WHEN 'driver-top3' THEN [features[1], features[2], features[4], features[5], features[7], features[8], features[11],
                                          features[14], features[15], features[17]]
                 ELSE features END AS features
FROM f1_columns WHERE task <> 'driver-position';

-- A table is enough for a perceptron: the items have their features.
CREATE OR REPLACE TABLE f1_runs AS
SELECT 'driver-dnf' AS task, 'to the day' AS known, * FROM train((SELECT model, value AS seed FROM unnest(['mlp', 'mlp1']) m(model) CROSS JOIN generate_series(0, :seeds - 1)),
    items => (SELECT node, time, split, label, features FROM f1_rows WHERE task = 'driver-dnf' AND known = 'to the day'), select_by => 'val_auc')
UNION ALL
SELECT 'driver-dnf', 'to the cut', * FROM train((SELECT model, value AS seed FROM unnest(['mlp', 'mlp1']) m(model) CROSS JOIN generate_series(0, :seeds - 1)),
    items => (SELECT node, time, split, label, features FROM f1_rows WHERE task = 'driver-dnf' AND known = 'to the cut'), select_by => 'val_auc')
UNION ALL
SELECT 'driver-top3', 'to the day', * FROM train((SELECT model, value AS seed FROM unnest(['mlp', 'mlp1']) m(model) CROSS JOIN generate_series(0, :seeds - 1)),
    items => (SELECT node, time, split, label, features FROM f1_rows WHERE task = 'driver-top3' AND known = 'to the day'), select_by => 'val_auc')
UNION ALL
SELECT 'driver-top3', 'to the cut', * FROM train((SELECT model, value AS seed FROM unnest(['mlp', 'mlp1']) m(model) CROSS JOIN generate_series(0, :seeds - 1)),
    items => (SELECT node, time, split, label, features FROM f1_rows WHERE task = 'driver-top3' AND known = 'to the cut'), select_by => 'val_auc');

-- driver-position is a number an item: all 19 columns, to the day and to the cut.
CREATE OR REPLACE TABLE f1_position_columns AS
SELECT 'to the day' AS known, * FROM train((SELECT model, value AS seed, 'node_regression' AS task FROM unnest(['mlp', 'mlp1']) m(model) CROSS JOIN generate_series(0, :seeds - 1)),
    items => (SELECT node, time, split, label, features FROM f1_columns WHERE task = 'driver-position' AND known = 'to the day'), dropout => 0.0)
UNION ALL
SELECT 'to the cut', * FROM train((SELECT model, value AS seed, 'node_regression' AS task FROM unnest(['mlp', 'mlp1']) m(model) CROSS JOIN generate_series(0, :seeds - 1)),
    items => (SELECT node, time, split, label, features FROM f1_columns WHERE task = 'driver-position' AND known = 'to the cut'), dropout => 0.0);

\echo Classification.
SELECT task, known, model, count(*) AS runs, round(100 * avg(test_auc), 1) AS auroc, round(100 * stddev(test_auc), 1) AS deviation,
       round(100 * avg(test_ap), 1) AS ap, round(100 * avg(val_auc), 1) AS val_auroc
FROM f1_runs GROUP BY task, known, model ORDER BY task, known DESC, model;

\echo driver-position, columns by queries: errors of the regression.
SELECT known, model, count(*) AS runs, round(avg(test_mae), 2) AS mae, round(stddev(test_mae), 2) AS deviation, round(avg(test_rmse), 2) AS rmse,
       round(avg(test_r2), 2) AS r2, round(avg(val_mae), 2) AS val_mae
FROM f1_position_columns GROUP BY known, model ORDER BY known DESC, model;

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

-- The network on the rows, alone and beside the columns: minutes, where what stands above takes one.
\ir network.sql
