-- A grid of hyperparameters, the best configuration by validation, and its test accuracy over the splits: the protocol of
-- Luan et al., Are heterophilic GNNs and homophily metrics really effective?, Sec. 3.2 and App. A.1.
--
--     cargo run --release -- -v data=DIR -v graph=texas -v splits=10 -v every=1 -f examples/heterophily/grid.sql
--
-- DIR/geom-gcn holds the graphs of Geom-GCN with their ten splits (github.com/graphdml-uiuc-jlu/geom-gcn). The whole grid has
-- 3 learning rates x 10 weight decays x 5 dropouts; `every` takes each n-th of these 150 configurations (1: all), `splits` the
-- first of the ten splits. On a terminal a bar shows the epochs done and the time that is left.
--
-- What has been trained is kept in the table grid_runs, and only what is missing there is trained: run the script again with
-- other variables, in the same session or in a database that lasts, and it goes on where it was.

\set folder :data /geom-gcn/ :graph
ATTACH IF NOT EXISTS :'folder' AS :"graph";

-- 1. The jobs ------------------------------------------------------------------------------------------------------------

CREATE OR REPLACE VIEW grid_configurations AS
SELECT lr, weight_decay, dropout, row_number() OVER (ORDER BY lr, weight_decay, dropout) - 1 AS number
FROM (VALUES (0.01), (0.05), (0.1)) AS a(lr)
CROSS JOIN (VALUES (0.0), (5e-7), (5e-6), (1e-5), (5e-5), (1e-4), (5e-4), (1e-3), (5e-3), (1e-2)) AS b(weight_decay)
CROSS JOIN (VALUES (0.0), (0.1), (0.3), (0.5), (0.7)) AS c(dropout);

-- The baselines of the paper, as far as the engine has them: two that see edges and two that do not.
CREATE OR REPLACE VIEW grid_jobs AS
SELECT :'graph' AS graph, m.name AS model, s.value AS split, c.lr, c.weight_decay, c.dropout
FROM bonnet.models m CROSS JOIN grid_configurations c CROSS JOIN generate_series(0, :splits - 1) AS s
WHERE m.name IN ('gcn', 'sgc', 'mlp', 'mlp1') AND c.number % :every = 0;

-- 2. The runs ------------------------------------------------------------------------------------------------------------

CREATE TABLE IF NOT EXISTS grid_runs AS
SELECT graph, model, split, lr, weight_decay, dropout, status, val_accuracy, test_accuracy, best_epoch
FROM train((SELECT * FROM grid_jobs WHERE false));

\echo Jobs of the grid that have been trained before, and those that are trained now.
SELECT count(r.graph) AS before, count(*) - count(r.graph) AS now
FROM grid_jobs j LEFT JOIN grid_runs r USING (graph, model, split, lr, weight_decay, dropout);

INSERT INTO grid_runs
SELECT graph, model, split, lr, weight_decay, dropout, status, val_accuracy, test_accuracy, best_epoch
FROM train(
    (SELECT j.* FROM grid_jobs j LEFT ANTI JOIN grid_runs r
     ON r.graph = j.graph AND r.model = j.model AND r.split = j.split
        AND r.lr = j.lr AND r.weight_decay = j.weight_decay AND r.dropout = j.dropout),
    normalize => 'row', patience => 100, hidden => 64);

-- \plot none
\echo How they ended.
SELECT model, status, count(*) AS runs FROM grid_runs WHERE graph = :'graph' GROUP BY model, status ORDER BY model, status;

-- 3. The best configuration of each model ----------------------------------------------------------------------------------

-- \plot bars model value name unpivot=val,test title='Accuracy of the best configuration, in percent'
\echo Chosen by the mean validation accuracy over the splits, ties by the order of the grid; test accuracy in percent.
WITH configurations AS (
    SELECT model, lr, weight_decay, dropout, count(*) AS splits, avg(val_accuracy) AS val, avg(test_accuracy) AS test,
           stddev(test_accuracy) AS deviation
    FROM grid_runs WHERE graph = :'graph' AND status = 'ok' GROUP BY model, lr, weight_decay, dropout
), placed AS (
    SELECT *, row_number() OVER (PARTITION BY model ORDER BY splits DESC, val DESC, lr, weight_decay, dropout) AS place,
           min(test) OVER (PARTITION BY model) AS worst, count(*) OVER (PARTITION BY model) AS tried
    FROM configurations
)
SELECT model, lr, weight_decay, dropout, splits, round(100 * val, 2) AS val, round(100 * test, 2) AS test,
       round(100 * deviation, 2) AS deviation, tried, round(100 * worst, 2) AS worst_of_grid
FROM placed WHERE place = 1 ORDER BY test DESC, model;
