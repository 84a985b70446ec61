-- The database as a graph: a row a node, a foreign key an edge; columns of numbers as they are, and the time of each row.
--
-- Those without a date have that of their race, qualifying the day before; drivers, constructors and circuits were always there.
-- The graph f1 has all rows, f1_cut those up to the first time of the test, as RelBench hands the database out.

\set circuits_file :data /circuits.csv
\set constructors_file :data /constructors.csv
\set standings_file :data /driver_standings.csv
\set constructor_standings_file :data /constructor_standings.csv
\set constructor_results_file :data /constructor_results.csv

CREATE SCHEMA IF NOT EXISTS f1;
CREATE OR REPLACE TABLE f1.nodes AS
SELECT 'driver ' || "driverId" AS node, 'driver' AS type, NULL::TIMESTAMP AS time,
       [date_part('epoch', CAST(dob AS TIMESTAMP)) / 86400 / 365.25] AS features FROM :'drivers_file'
UNION ALL SELECT 'constructor ' || "constructorId", 'constructor', NULL, NULL FROM :'constructors_file'
UNION ALL SELECT 'circuit ' || "circuitId", 'circuit', NULL, [lat, lng, coalesce(alt, 0)] FROM :'circuits_file'
UNION ALL SELECT 'race ' || "raceId", 'race', start, [year, round] FROM :'races_file' JOIN f1_races ON race = "raceId"
UNION ALL SELECT 'result ' || "resultId", 'result', start,
       [grid, "positionOrder", CAST(position IS NULL AS INT), points, laps, CAST("statusId" = 1 AS INT), CAST("statusId" BETWEEN 11 AND 19 AS INT)]
FROM :'results_file' JOIN f1_races ON race = "raceId"
UNION ALL SELECT 'standing ' || "driverStandingsId", 'standing', start, [points, coalesce(position, 0), wins] FROM :'standings_file' JOIN f1_races ON race = "raceId"
UNION ALL SELECT 'constructor standing ' || "constructorStandingsId", 'constructor standing', start, [points, coalesce(position, 0), wins]
FROM :'constructor_standings_file' JOIN f1_races ON race = "raceId"
UNION ALL SELECT 'constructor result ' || "constructorResultsId", 'constructor result', start, [points]
FROM :'constructor_results_file' JOIN f1_races ON race = "raceId"
UNION ALL SELECT 'qualifying ' || "qualifyId", 'qualifying', start - INTERVAL '1 day', [position]
FROM :'qualifying_file' JOIN f1_races ON race = "raceId";

CREATE OR REPLACE TABLE f1.edges AS
WITH keys AS (
    SELECT 'race ' || "raceId" AS src, 'circuit ' || "circuitId" AS dst, 'of circuit' AS type FROM :'races_file'
    UNION ALL SELECT 'result ' || "resultId", unnest(['race ' || "raceId", 'driver ' || "driverId", 'constructor ' || "constructorId"]),
                     unnest(['of race', 'of driver', 'of constructor']) FROM :'results_file'
    UNION ALL SELECT 'qualifying ' || "qualifyId", unnest(['race ' || "raceId", 'driver ' || "driverId", 'constructor ' || "constructorId"]),
                     unnest(['of race', 'of driver', 'of constructor']) FROM :'qualifying_file'
    UNION ALL SELECT 'standing ' || "driverStandingsId", unnest(['race ' || "raceId", 'driver ' || "driverId"]), unnest(['of race', 'of driver'])
    FROM :'standings_file'
    UNION ALL SELECT 'constructor standing ' || "constructorStandingsId", unnest(['race ' || "raceId", 'constructor ' || "constructorId"]),
                     unnest(['of race', 'of constructor']) FROM :'constructor_standings_file'
    UNION ALL SELECT 'constructor result ' || "constructorResultsId", unnest(['race ' || "raceId", 'constructor ' || "constructorId"]),
                     unnest(['of race', 'of constructor']) FROM :'constructor_results_file')
SELECT src, dst, type FROM keys WHERE src IN (SELECT node FROM f1.nodes) AND dst IN (SELECT node FROM f1.nodes);

CREATE SCHEMA IF NOT EXISTS f1_cut;
CREATE OR REPLACE TABLE f1_cut.nodes AS SELECT * FROM f1.nodes WHERE time IS NULL OR time <= TIMESTAMP '2010-01-01';
CREATE OR REPLACE TABLE f1_cut.edges AS SELECT e.* FROM f1.edges e JOIN f1_cut.nodes s ON s.node = e.src JOIN f1_cut.nodes d ON d.node = e.dst;

\echo Rows by type.
SELECT type, count(*) AS rows, min(time) AS first, max(time) AS last FROM f1.nodes GROUP BY type ORDER BY type;

-- Heterogeneous GraphSAGE with the settings of RDL, on the rows alone: a network is trained once, and asked to the day and to the cut.
-- Training and validation items see the same rows in both. The places of driver-position are learnt by the absolute error, as RDL does.
\echo The network on the rows alone.
CREATE OR REPLACE TABLE f1_net_runs AS
SELECT 'driver-dnf' AS task, * FROM train((SELECT 'f1' AS graph, 'r_graphsage' AS model, value AS seed FROM generate_series(0, :seeds - 1)),
    items => (SELECT 'driver ' || node AS node, time, split, CAST(label AS INT) AS label FROM f1_items WHERE task = 'driver-dnf'),
    hidden => 128, fanout => [128, 64], batch_nodes => 512, lr => 0.005, epochs => 10, dropout => 0.0, weight_decay => 0.0, normalize => 'standard',
    select_by => 'val_auc', save => :'models')
UNION ALL
SELECT 'driver-top3', * FROM train((SELECT 'f1' AS graph, 'r_graphsage' AS model, value AS seed FROM generate_series(0, :seeds - 1)),
    items => (SELECT 'driver ' || node AS node, time, split, CAST(label AS INT) AS label FROM f1_items WHERE task = 'driver-top3'),
    hidden => 128, fanout => [128, 64], batch_nodes => 512, lr => 0.005, epochs => 10, dropout => 0.0, weight_decay => 0.0, normalize => 'standard',
    select_by => 'val_auc', save => :'models');
CREATE OR REPLACE TABLE f1_position_runs AS
SELECT * FROM train((SELECT 'f1' AS graph, 'r_graphsage' AS model, value AS seed, 'node_regression' AS task FROM generate_series(0, :seeds - 1)),
    items => (SELECT 'driver ' || node AS node, time, split, label FROM f1_items WHERE task = 'driver-position'),
    hidden => 128, fanout => [128, 64], batch_nodes => 512, lr => 0.005, epochs => 10, dropout => 0.0, weight_decay => 0.0, normalize => 'standard',
    loss => 'absolute_error', save => :'models');

-- To the cut: the saved parameters on the rows up to 2010.
CREATE OR REPLACE TABLE f1_cut_runs AS
SELECT 'driver-dnf' AS task, * FROM train((SELECT 'f1_cut' AS graph, model, seed, saved AS load, 0 AS epochs FROM f1_net_runs WHERE task = 'driver-dnf'),
    items => (SELECT 'driver ' || node AS node, time, split, CAST(label AS INT) AS label FROM f1_items WHERE task = 'driver-dnf'),
    hidden => 128, normalize => 'standard')
UNION ALL
SELECT 'driver-top3', * FROM train((SELECT 'f1_cut' AS graph, model, seed, saved AS load, 0 AS epochs FROM f1_net_runs WHERE task = 'driver-top3'),
    items => (SELECT 'driver ' || node AS node, time, split, CAST(label AS INT) AS label FROM f1_items WHERE task = 'driver-top3'),
    hidden => 128, normalize => 'standard');
CREATE OR REPLACE TABLE f1_position_cut_runs AS
SELECT * FROM train((SELECT 'f1_cut' AS graph, model, seed, task, saved AS load, 0 AS epochs FROM f1_position_runs),
    items => (SELECT 'driver ' || node AS node, time, split, label FROM f1_items WHERE task = 'driver-position'),
    hidden => 128, normalize => 'standard', loss => 'absolute_error');

SELECT task, known, count(*) AS runs, round(100 * avg(test_auc), 1) AS auroc, round(100 * stddev(test_auc), 1) AS deviation, round(100 * avg(val_auc), 1) AS val_auroc,
       round(avg(test_mae), 2) AS mae, round(stddev(test_mae), 2) AS mae_deviation, round(avg(val_mae), 2) AS val_mae, round(avg(train_seconds), 1) AS seconds
FROM (SELECT 'to the day' AS known, task, test_auc, val_auc, test_mae, val_mae, train_seconds FROM f1_net_runs
      UNION ALL SELECT 'to the cut', task, test_auc, val_auc, test_mae, val_mae, train_seconds FROM f1_cut_runs
      UNION ALL SELECT 'to the day', 'driver-position', test_auc, val_auc, test_mae, val_mae, train_seconds FROM f1_position_runs
      UNION ALL SELECT 'to the cut', 'driver-position', test_auc, val_auc, test_mae, val_mae, train_seconds FROM f1_position_cut_runs) runs
GROUP BY task, known ORDER BY task, known DESC;

-- Both: the columns by queries are what an item brings into its own row.
\echo The network and the columns together.
CREATE OR REPLACE TABLE f1_both_runs AS
SELECT 'driver-dnf' AS task, 'to the day' AS known, * FROM train((SELECT 'f1' AS graph, 'r_graphsage' AS model, value AS seed FROM generate_series(0, :seeds - 1)),
    items => (SELECT 'driver ' || node AS node, time, split, label, features FROM f1_rows WHERE task = 'driver-dnf' AND known = 'to the day'),
    hidden => 128, fanout => [128, 64], batch_nodes => 512, lr => 0.005, epochs => 10, dropout => 0.0, weight_decay => 0.0, normalize => 'standard',
    select_by => 'val_auc')
UNION ALL
SELECT 'driver-top3', 'to the day', * FROM train((SELECT 'f1' AS graph, 'r_graphsage' AS model, value AS seed FROM generate_series(0, :seeds - 1)),
    items => (SELECT 'driver ' || node AS node, time, split, label, features FROM f1_rows WHERE task = 'driver-top3' AND known = 'to the day'),
    hidden => 128, fanout => [128, 64], batch_nodes => 512, lr => 0.005, epochs => 10, dropout => 0.0, weight_decay => 0.0, normalize => 'standard',
    select_by => 'val_auc')
UNION ALL
SELECT 'driver-dnf', 'to the cut', * FROM train((SELECT 'f1_cut' AS graph, 'r_graphsage' AS model, value AS seed FROM generate_series(0, :seeds - 1)),
    items => (SELECT 'driver ' || node AS node, time, split, label, features FROM f1_rows WHERE task = 'driver-dnf' AND known = 'to the cut'),
    hidden => 128, fanout => [128, 64], batch_nodes => 512, lr => 0.005, epochs => 10, dropout => 0.0, weight_decay => 0.0, normalize => 'standard',
    select_by => 'val_auc')
UNION ALL
SELECT 'driver-top3', 'to the cut', * FROM train((SELECT 'f1_cut' AS graph, 'r_graphsage' AS model, value AS seed FROM generate_series(0, :seeds - 1)),
    items => (SELECT 'driver ' || node AS node, time, split, label, features FROM f1_rows WHERE task = 'driver-top3' AND known = 'to the cut'),
    hidden => 128, fanout => [128, 64], batch_nodes => 512, lr => 0.005, epochs => 10, dropout => 0.0, weight_decay => 0.0, normalize => 'standard',
    select_by => 'val_auc');

CREATE OR REPLACE TABLE f1_both_position_runs AS
SELECT 'to the day' AS known, * FROM train((SELECT 'f1' AS graph, 'r_graphsage' AS model, value AS seed, 'node_regression' AS task FROM generate_series(0, :seeds - 1)),
    items => (SELECT 'driver ' || node AS node, time, split, label, features FROM f1_columns WHERE task = 'driver-position' AND known = 'to the day'),
    hidden => 128, fanout => [128, 64], batch_nodes => 512, lr => 0.005, epochs => 10, dropout => 0.0, weight_decay => 0.0, normalize => 'standard',
    loss => 'absolute_error')
UNION ALL
SELECT 'to the cut', * FROM train((SELECT 'f1_cut' AS graph, 'r_graphsage' AS model, value AS seed, 'node_regression' AS task FROM generate_series(0, :seeds - 1)),
    items => (SELECT 'driver ' || node AS node, time, split, label, features FROM f1_columns WHERE task = 'driver-position' AND known = 'to the cut'),
    hidden => 128, fanout => [128, 64], batch_nodes => 512, lr => 0.005, epochs => 10, dropout => 0.0, weight_decay => 0.0, normalize => 'standard',
    loss => 'absolute_error');

SELECT task, known, count(*) AS runs, round(100 * avg(test_auc), 1) AS auroc, round(100 * stddev(test_auc), 1) AS deviation, round(100 * avg(val_auc), 1) AS val_auroc,
       round(avg(test_mae), 2) AS mae, round(stddev(test_mae), 2) AS mae_deviation, round(avg(val_mae), 2) AS val_mae, round(avg(train_seconds), 1) AS seconds
FROM (SELECT task, known, test_auc, val_auc, test_mae, val_mae, train_seconds FROM f1_both_runs
      UNION ALL SELECT 'driver-position', known, test_auc, val_auc, test_mae, val_mae, train_seconds FROM f1_both_position_runs) runs
GROUP BY task, known ORDER BY task, known DESC;
