-- The leaderboard by regime of the runs of tables.sql alone, with its tests: run it after report.sql, in the same database, once
-- two graphs of a task are complete.
--
--     cargo run --release -- DATABASE --quiet -v data=DIR -f examples/curvbench/leaderboard.sql

\format markdown
\set printed_regimes :data /curvbench_paper/regimes.csv

-- The leaderboard by regime: the graphs that all models of a task have been trained on, each under one split (the public one,
-- where there is one).
CREATE OR REPLACE VIEW curvbench_board AS
WITH one AS (
    SELECT * FROM curvbench_ours WHERE task = 'link_prediction' OR scheme = 'public' OR dataset = 'Disease'
), complete AS (
    SELECT task, dataset FROM one GROUP BY task, dataset
    HAVING count(DISTINCT label) = (SELECT count(*) FROM curvbench_models)
)
SELECT task, metric, '' AS setting, label AS model, dataset, mean, deviation AS std, 'ok' AS status
FROM one JOIN complete USING (task, dataset);
CREATE OR REPLACE VIEW curvbench_regimes AS SELECT dataset, regime FROM :'printed_regimes';
CREATE OR REPLACE VIEW curvbench_families AS SELECT label AS model, family FROM curvbench_models;

\set results curvbench_board
\set regimes curvbench_regimes
\set families curvbench_families
\set setting ''
\ir ../../analyses/stratified.sql
\set task node_classification
\set metric accuracy
\ir ../../analyses/regrouping.sql
\set task link_prediction
\set metric AUC
\ir ../../analyses/regrouping.sql

\echo
\echo Ranks by regime of our runs, over the graphs that all models were trained on
\echo
SELECT task, regime, (SELECT string_agg(DISTINCT dataset, ', ' ORDER BY dataset) FROM scores s WHERE s.task = r.task AND s.regime = r.regime) AS graphs,
       string_agg(model || ' ' || complete::DECIMAL(5, 1), ', ' ORDER BY rank, model) AS models
FROM (SELECT r.*, s.complete FROM regime_ranks r JOIN regime_scores s ON s.task = r.task AND s.metric = r.metric AND s.regime = r.regime AND s.model = r.model) r
WHERE metric IN ('accuracy', 'AUC') GROUP BY task, regime ORDER BY task DESC, regime;

\echo
\echo Do graphs of one regime agree on the leading models more than other groups of the same sizes?
\echo
SELECT task, agreement, round(within, 3) AS within, round(across, 3) AS across, round(p_value, 3) AS p_value, partitions
FROM regrouped ORDER BY task DESC, agreement;

\echo
\echo The order of two models differs so often within and across regimes
\echo
SELECT 'node_classification' AS task, round(within, 3) AS within, round(across, 3) AS across, round(gap, 3) AS gap
FROM order_gap((SELECT model, dataset AS item, mean AS value FROM scores WHERE task = 'node_classification' AND metric = 'accuracy'),
               (SELECT item, regime FROM strata WHERE task = 'node_classification' AND metric = 'accuracy'))
UNION ALL
SELECT 'link_prediction', round(within, 3), round(across, 3), round(gap, 3)
FROM order_gap((SELECT model, dataset AS item, mean AS value FROM scores WHERE task = 'link_prediction' AND metric = 'AUC'),
               (SELECT item, regime FROM strata WHERE task = 'link_prediction' AND metric = 'AUC'));
