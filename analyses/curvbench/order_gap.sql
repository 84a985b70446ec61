-- Theorem 4.2 (Sec. 4.2) on the result tables. The paper proves it and prints no value: across - within is the variance of
-- preferences between regimes exactly; the unbiased gap, which compares different data sets only, says how much of it is
-- more than the chance variation of three data sets a regime.

\set analysis 'Theorem 4.2'
\echo
\echo Theorem 4.2: the within-cross order gap

CREATE OR REPLACE TABLE gaps AS
SELECT 1 AS place, 'NC Accuracy' AS results, * FROM order_gap(
    (SELECT model, dataset AS item, mean AS value FROM scores WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''),
    (SELECT item, regime FROM strata WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''))
UNION ALL
SELECT 2, 'NC Macro-F1', * FROM order_gap(
    (SELECT model, dataset AS item, mean AS value FROM scores WHERE task = 'NC' AND metric = 'Macro-F1' AND setting = ''),
    (SELECT item, regime FROM strata WHERE task = 'NC' AND metric = 'Macro-F1' AND setting = ''))
UNION ALL
SELECT 3, 'LP AUC', * FROM order_gap(
    (SELECT model, dataset AS item, mean AS value FROM scores WHERE task = 'LP' AND metric = 'AUC' AND setting = ''),
    (SELECT item, regime FROM strata WHERE task = 'LP' AND metric = 'AUC' AND setting = ''))
UNION ALL
SELECT 4, 'LP AP', * FROM order_gap(
    (SELECT model, dataset AS item, mean AS value FROM scores WHERE task = 'LP' AND metric = 'AP' AND setting = ''),
    (SELECT item, regime FROM strata WHERE task = 'LP' AND metric = 'AP' AND setting = ''));

CREATE OR REPLACE TABLE figures AS
SELECT results || ': gap less variance (0 by the theorem)' AS figure, 0.0 AS paper, 12 AS digits, abs(gap - variance) AS ours,
       'the identity is broken' AS note
FROM gaps ORDER BY place;

\ir verdict.sql

CREATE OR REPLACE TABLE unbiased AS
SELECT 'NC Accuracy' AS results, within, across, gap FROM order_gap(
    (SELECT model, dataset AS item, mean AS value FROM scores WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''),
    (SELECT item, regime FROM strata WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''), unbiased => true)
UNION ALL
SELECT 'NC Macro-F1', within, across, gap FROM order_gap(
    (SELECT model, dataset AS item, mean AS value FROM scores WHERE task = 'NC' AND metric = 'Macro-F1' AND setting = ''),
    (SELECT item, regime FROM strata WHERE task = 'NC' AND metric = 'Macro-F1' AND setting = ''), unbiased => true)
UNION ALL
SELECT 'LP AUC', within, across, gap FROM order_gap(
    (SELECT model, dataset AS item, mean AS value FROM scores WHERE task = 'LP' AND metric = 'AUC' AND setting = ''),
    (SELECT item, regime FROM strata WHERE task = 'LP' AND metric = 'AUC' AND setting = ''), unbiased => true)
UNION ALL
SELECT 'LP AP', within, across, gap FROM order_gap(
    (SELECT model, dataset AS item, mean AS value FROM scores WHERE task = 'LP' AND metric = 'AP' AND setting = ''),
    (SELECT item, regime FROM strata WHERE task = 'LP' AND metric = 'AP' AND setting = ''), unbiased => true);

\echo Distances of partial orders within and across regimes, all models.
SELECT gaps.results, round(gaps.within, 4) AS within, round(gaps.across, 4) AS across, round(gaps.gap, 4) AS gap,
       round(variance, 4) AS variance, round(unbiased.within, 4) AS unbiased_within, round(unbiased.gap, 4) AS unbiased_gap
FROM gaps JOIN unbiased USING (results) ORDER BY place;

\echo The pairs of models whose order depends most on the regime (NC Accuracy).
SELECT model_a, model_b, round(within, 3) AS within, round(across, 3) AS across, round(variance, 3) AS variance
FROM flatten((SELECT pairs FROM gaps WHERE place = 1), pairs)
ORDER BY variance DESC, model_a, model_b LIMIT 5;
