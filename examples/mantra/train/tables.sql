-- The tables of results, for train.sql and results.sql.

CREATE TABLE IF NOT EXISTS mantra_runs (
    graph TEXT, model TEXT, task TEXT, target TEXT, features TEXT, seed BIGINT, status TEXT, error TEXT, test_auc DOUBLE,
    test_accuracy DOUBLE, test_mse DOUBLE, parameters BIGINT, steps BIGINT, seconds DOUBLE, saved TEXT, engine TEXT);

-- A database of an older script has no column `engine`.
CREATE OR REPLACE TABLE mantra_runs AS
SELECT * FROM mantra_runs UNION ALL BY NAME SELECT NULL::TEXT AS engine WHERE false;

-- The number of test complexes by a Betti number and its prediction, rounded and clamped to the values of the collection.
CREATE TABLE IF NOT EXISTS mantra_betti (
    graph TEXT, model TEXT, features TEXT, seed BIGINT, dimension BIGINT, truth BIGINT, predicted BIGINT,
    complexes BIGINT);
