-- Which models differ? Tests over a table of runs: pairs of models on each data set and over all of them, and all models together.
--
-- Variables: runs (dataset, model, run, value), anything that may stand in FROM: a value of each model in each run, larger is
-- better, NULL where it failed. Runs are paired by their number: the same split and seed for all models. Running this prints nothing.
--
-- Every p stands beside its floor (`floor`), the least that so many pairs can give, times the tests where it is adjusted: where
-- that is above 0.05, nothing can be significant, and more runs or data sets are needed.

CREATE OR REPLACE TABLE run_values AS
SELECT CAST(dataset AS TEXT) AS dataset, CAST(model AS TEXT) AS model, run, CAST(value AS DOUBLE) AS value FROM :runs;

-- The mean of each model on each data set. Rounded: equal means tie, in whatever order they were summed.
CREATE OR REPLACE TABLE dataset_means AS
SELECT dataset, model, round(avg(value), 9) AS value FROM run_values WHERE value IS NOT NULL GROUP BY dataset, model;

-- Pairs of models on a data set, over its runs: Student's and Wilcoxon's tests and the bootstrap interval of the mean of a - b, each p
-- adjusted by Holm over the pairs of the data set. Runs of one split say how a model varies with its seed, not with the data.
CREATE OR REPLACE TABLE run_tests AS
WITH tests AS (
    SELECT x.dataset, x.model AS a, y.model AS b, paired_t_test(x.value, y.value) AS t,
           wilcoxon_signed_rank(x.value, y.value) AS w, bootstrap_difference(x.value, y.value) AS i
    FROM run_values AS x JOIN run_values AS y ON x.dataset = y.dataset AND x.run = y.run AND x.model < y.model
    GROUP BY x.dataset, x.model, y.model
), adjusted AS (
    SELECT dataset, count(*) AS tests, unnest(array_agg(a ORDER BY a, b)) AS a, unnest(array_agg(b ORDER BY a, b)) AS b,
           unnest(holm(array_agg(t['p_value'] ORDER BY a, b))) AS t_holm,
           unnest(holm(array_agg(w['p_value'] ORDER BY a, b))) AS wilcoxon_holm
    FROM tests GROUP BY dataset
)
SELECT dataset, a, b, i['n'] AS runs, i['statistic'] AS difference, i['low'] AS low, i['high'] AS high,
       t['p_value'] AS t_p, t_holm, w['p_value'] AS wilcoxon_p, wilcoxon_holm,
       least(1.0, w['least_p'] * tests) AS wilcoxon_floor
FROM tests JOIN adjusted USING (dataset, a, b);

-- Pairs of models over data sets: Wilcoxon's test of their means, adjusted by Holm over all pairs (Demsar 2006, Sec. 3.1.3).
CREATE OR REPLACE TABLE dataset_tests AS
WITH tests AS (
    SELECT x.model AS a, y.model AS b, count(*) AS datasets, count(*) FILTER (WHERE x.value > y.value) AS wins,
           count(*) FILTER (WHERE x.value < y.value) AS losses, wilcoxon_signed_rank(x.value, y.value) AS w
    FROM dataset_means AS x JOIN dataset_means AS y ON x.dataset = y.dataset AND x.model < y.model
    GROUP BY x.model, y.model
), adjusted AS (
    SELECT count(*) AS tests, unnest(array_agg(a ORDER BY a, b)) AS a, unnest(array_agg(b ORDER BY a, b)) AS b,
           unnest(holm(array_agg(w['p_value'] ORDER BY a, b))) AS holm
    FROM tests
)
SELECT a, b, datasets, wins, losses, w['p_value'] AS p, w['least_p'] AS p_floor, holm,
       least(1.0, w['least_p'] * tests) AS holm_floor
FROM tests JOIN adjusted USING (a, b);

-- All models together, over the data sets on which each of them has a value.
CREATE OR REPLACE VIEW friedman AS
SELECT t['treatments'] AS models, t['n'] AS datasets, t['statistic'] AS statistic, t['p_value'] AS p,
       t['least_p'] AS p_floor, t['critical_difference'] AS critical_difference
FROM (SELECT friedman_test(dataset, model, value) AS t FROM dataset_means);

-- Mean ranks over those data sets, 1 the best.
CREATE OR REPLACE TABLE mean_ranks AS
SELECT model, avg(rank) AS mean_rank
FROM (
    SELECT model, average_rank() OVER (PARTITION BY dataset ORDER BY value DESC) AS rank
    FROM dataset_means
    WHERE dataset IN (
        SELECT dataset FROM dataset_means GROUP BY dataset
        HAVING count(*) = (SELECT count(DISTINCT model) FROM dataset_means))
)
GROUP BY model;

-- Nemenyi's groups: models whose mean ranks lie closer than the critical difference share a letter. The groups are the longest runs of
-- the order, as the picture critical_difference draws them: those that begin further left than all that end where they do.
CREATE OR REPLACE TABLE nemenyi_groups AS
WITH placed AS (
    SELECT model, mean_rank, row_number() OVER (ORDER BY mean_rank, model) AS place FROM mean_ranks
), reach AS (
    SELECT x.place AS first, max(y.place) AS last
    FROM placed AS x CROSS JOIN placed AS y CROSS JOIN friedman AS f
    WHERE y.place = x.place OR (y.place > x.place AND y.mean_rank - x.mean_rank < f.critical_difference)
    GROUP BY x.place
), kept AS (
    SELECT min(first) AS first, last, row_number() OVER (ORDER BY last) AS number FROM reach GROUP BY last
)
SELECT model, mean_rank, string_agg(chr(CAST(96 + number AS BIGINT)), '' ORDER BY number) AS groups
FROM placed JOIN kept ON place BETWEEN first AND last
GROUP BY model, mean_rank;
