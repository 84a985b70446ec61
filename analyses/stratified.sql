-- Views over a table of results: how models rank, and how far that depends on the stratum of the data.
--
-- Variables: results (task, metric, setting, model, dataset, mean, std, status), regimes (dataset, regime) and
-- families (model, family); each is anything that may stand in FROM. Running this prints nothing.

-- Every model on every data set of its task: what is not in the results is missing. A regime or a family may be NULL.
CREATE OR REPLACE TABLE scores AS
WITH given AS (
    SELECT task, metric, coalesce(setting, '') AS setting, model, dataset, mean, std, status FROM :results
), cells AS (
    SELECT *
    FROM (SELECT DISTINCT task, metric, setting, model FROM given) AS m
    JOIN (SELECT DISTINCT task, metric, setting, dataset FROM given) AS d USING (task, metric, setting)
)
SELECT c.task, c.metric, c.setting, c.model, f.family, c.dataset, r.regime, CAST(g.mean AS DOUBLE) AS mean,
       CAST(g.std AS DOUBLE) AS std,
       CASE WHEN g.model IS NULL THEN 'missing' WHEN g.mean IS NOT NULL THEN 'ok'
            WHEN g.status = 'out_of_memory' THEN 'OOM' ELSE coalesce(g.status, 'missing') END AS status
FROM cells AS c
LEFT JOIN given AS g
  ON g.task = c.task AND g.metric = c.metric AND g.setting = c.setting AND g.model = c.model AND g.dataset = c.dataset
LEFT JOIN (SELECT dataset, regime FROM :regimes) AS r ON r.dataset = c.dataset
LEFT JOIN (SELECT model, family FROM :families) AS f ON f.model = c.model;

-- Ranks on each data set, ties averaged; a model that failed there shares the worst rank, one that is missing has none.
-- `top3` is the truncated rank: the first three keep theirs, all others share one.
CREATE OR REPLACE VIEW dataset_ranks AS
SELECT *, truncated_rank(rank, 3) AS top3
FROM (
    SELECT *, average_rank() OVER (PARTITION BY task, metric, setting, dataset ORDER BY mean DESC) AS rank
    FROM scores WHERE status <> 'missing'
);

-- How far two data sets of a task agree on the first three, over the models that were run on both.
CREATE OR REPLACE VIEW dataset_pairs AS
SELECT x.task, x.metric, x.setting, x.dataset AS a, y.dataset AS b, x.regime AS regime_a, y.regime AS regime_b,
       spearman(x.top3, y.top3) AS spearman, kendall_tau(x.top3, y.top3) AS kendall,
       top_k_jaccard(x.rank, y.rank, 3) AS jaccard
FROM dataset_ranks AS x JOIN dataset_ranks AS y
  ON x.task = y.task AND x.metric = y.metric AND x.setting = y.setting AND x.model = y.model AND x.dataset < y.dataset
GROUP BY x.task, x.metric, x.setting, x.dataset, y.dataset, x.regime, y.regime;

-- The data sets of each task with their regimes, as regrouping_test and order_gap take them.
CREATE OR REPLACE VIEW strata AS
SELECT DISTINCT task, metric, setting, dataset AS item, regime FROM scores;

-- What regrouping.sql finds.
CREATE OR REPLACE TABLE regrouped (task TEXT, metric TEXT, setting TEXT, agreement TEXT, within DOUBLE, across DOUBLE,
                                   statistic DOUBLE, p_value DOUBLE, partitions BIGINT, exact BOOLEAN);

-- Mean scores by regime: over the data sets where the model has a score (`available`), and only where it has all of them
-- (`complete`). The last digits of an average depend on the order of its rows: rounded, equal means tie.
CREATE OR REPLACE VIEW regime_scores AS
SELECT task, metric, setting, regime, model, family, round(avg(mean), 9) AS available,
       CASE WHEN count(mean) = count(*) THEN round(avg(mean), 9) END AS complete, count(mean) AS feasible,
       count(*) AS datasets
FROM scores WHERE regime IS NOT NULL
GROUP BY task, metric, setting, regime, model, family;

-- The same without regimes: the flat leaderboard. `covered` divides by all data sets: a failure counts 0 (Eq. 20).
CREATE OR REPLACE VIEW flat_scores AS
SELECT task, metric, setting, model, family, round(avg(mean), 9) AS available,
       CASE WHEN count(mean) = count(*) THEN round(avg(mean), 9) END AS complete,
       round(sum(coalesce(mean, 0)) / count(*), 9) AS covered, count(mean) AS feasible, count(*) AS datasets
FROM scores WHERE regime IS NOT NULL
GROUP BY task, metric, setting, model, family;

-- Ranks of those means, in a regime and flat.
CREATE OR REPLACE VIEW regime_ranks AS
SELECT task, metric, setting, regime, model, family, rank, flat_rank
FROM (
    SELECT *, average_rank() OVER (PARTITION BY task, metric, setting, regime ORDER BY complete DESC) AS rank
    FROM regime_scores
)
JOIN (
    SELECT task, metric, setting, model,
           average_rank() OVER (PARTITION BY task, metric, setting ORDER BY complete DESC) AS flat_rank
    FROM flat_scores
) USING (task, metric, setting, model);

-- The rank-shift index: how far a regime's ranking is from the flat one, a model on average.
CREATE OR REPLACE VIEW rank_shift AS
SELECT task, metric, setting, regime, avg(abs(rank - flat_rank)) AS rsi
FROM regime_ranks GROUP BY task, metric, setting, regime;

-- How far two metrics of a task agree on the ranking in a regime.
CREATE OR REPLACE VIEW metric_agreement AS
SELECT x.task, x.setting, x.regime, x.metric AS metric_a, y.metric AS metric_b, spearman(x.rank, y.rank) AS spearman,
       kendall_tau(x.rank, y.rank) AS kendall, top_k_jaccard(x.rank, y.rank, 3) AS jaccard
FROM regime_ranks AS x JOIN regime_ranks AS y
  ON x.task = y.task AND x.setting = y.setting AND x.regime = y.regime AND x.model = y.model AND x.metric < y.metric
GROUP BY x.task, x.setting, x.regime, x.metric, y.metric;

-- How far two tasks agree: the models that both have are ranked anew, then each pair of metrics weighs alike.
CREATE OR REPLACE VIEW task_agreement AS
WITH common AS (
    SELECT x.task AS task_a, y.task AS task_b, x.metric AS metric_a, y.metric AS metric_b, x.regime, x.model,
           x.complete AS score_a, y.complete AS score_b
    FROM regime_scores AS x JOIN regime_scores AS y
      ON x.setting = y.setting AND x.regime = y.regime AND x.model = y.model AND x.task < y.task
), ranked AS (
    SELECT *,
           average_rank() OVER (PARTITION BY task_a, task_b, metric_a, metric_b, regime ORDER BY score_a DESC) AS rank_a,
           average_rank() OVER (PARTITION BY task_a, task_b, metric_a, metric_b, regime ORDER BY score_b DESC) AS rank_b
    FROM common
), agreement AS (
    SELECT task_a, task_b, metric_a, metric_b, regime, spearman(rank_a, rank_b) AS spearman,
           kendall_tau(rank_a, rank_b) AS kendall, top_k_jaccard(rank_a, rank_b, 3) AS jaccard
    FROM ranked GROUP BY task_a, task_b, metric_a, metric_b, regime
)
SELECT task_a, task_b, regime, avg(spearman) AS spearman, avg(kendall) AS kendall, avg(jaccard) AS jaccard,
       count(*) AS metric_pairs
FROM agreement GROUP BY task_a, task_b, regime;

-- Which families win and hold the first three places of each data set: shares of 3 places a data set. Where models tie
-- across the third place, none of them holds it.
CREATE OR REPLACE VIEW family_shares AS
SELECT task, metric, setting, regime, family, count(*) FILTER (WHERE rank = 1) AS wins,
       count(*) FILTER (WHERE rank <= 3) AS places, count(*) FILTER (WHERE rank <= 3) / (3.0 * max(datasets)) AS share
FROM dataset_ranks
JOIN (SELECT task, metric, setting, regime, count(DISTINCT dataset) AS datasets FROM scores
      GROUP BY task, metric, setting, regime) USING (task, metric, setting, regime)
GROUP BY task, metric, setting, regime, family;

-- Generalists and specialists: mean rank over data sets, its volatility, wins, places among the first three.
CREATE OR REPLACE VIEW volatility AS
SELECT task, metric, setting, model, avg(rank) AS mean_rank, rank_volatility(rank) AS volatility,
       count(*) FILTER (WHERE rank = 1) AS wins, count(*) FILTER (WHERE rank <= 3) AS top3, max(rank) AS worst
FROM dataset_ranks GROUP BY task, metric, setting, model;

-- What more labels bring on each data set: the score in the setting `5-shot` less that in `1-shot` (Eq. 19 averages it).
CREATE OR REPLACE VIEW elasticity AS
SELECT task, metric, model, dataset, x.regime, y.mean - x.mean AS gain
FROM (SELECT * FROM scores WHERE setting = '1-shot') AS x
JOIN (SELECT task, metric, model, dataset, mean FROM scores WHERE setting = '5-shot') AS y
USING (task, metric, model, dataset);

-- Mixtures of two regimes (Sec. 4): the weight of regime s, the rest being on r, at which model a, better in r, meets
-- model b, better in s. R_pi(M) is the sum of pi_r R_r(M).
CREATE OR REPLACE VIEW swaps AS
SELECT *, lead_r / (lead_r + lead_s) AS weight_s
FROM (
    SELECT a.task, a.metric, a.setting, a.regime AS r, c.regime AS s, a.model AS a, b.model AS b,
           a.complete - b.complete AS lead_r, d.complete - c.complete AS lead_s
    FROM regime_scores AS a
    JOIN regime_scores AS b
      ON a.task = b.task AND a.metric = b.metric AND a.setting = b.setting AND a.regime = b.regime
     AND a.complete > b.complete
    JOIN regime_scores AS c
      ON a.task = c.task AND a.metric = c.metric AND a.setting = c.setting AND a.model = c.model AND a.regime < c.regime
    JOIN regime_scores AS d
      ON a.task = d.task AND a.metric = d.metric AND a.setting = d.setting AND b.model = d.model AND c.regime = d.regime
     AND d.complete > c.complete
);
