-- The argument of Sec. 4: a leaderboard is R_pi(M) = sum over regimes of pi_r R_r(M), so who leads depends on the mixture
-- pi of the benchmark. The paper gives the argument and no figures.

\echo
\echo Section 4: the mixture leaderboard (Table 3)

-- The simplex of three regimes in steps of 0.05.
CREATE OR REPLACE TABLE mixtures AS
WITH weights AS (
    SELECT a.value AS near_zero, b.value AS positive, 20 - a.value - b.value AS negative
    FROM generate_series(0, 20) AS a(value) CROSS JOIN generate_series(0, 20) AS b(value)
    WHERE a.value + b.value <= 20
)
SELECT near_zero / 20.0 AS near_zero, positive / 20.0 AS positive, negative / 20.0 AS negative, model,
       sum(complete * CASE regime WHEN 'near-zero' THEN near_zero WHEN 'positive' THEN positive ELSE negative END) / 20.0 AS score
FROM weights CROSS JOIN regime_scores
WHERE task = 'NC' AND metric = 'Accuracy' AND setting = '' AND regime IN ('near-zero', 'positive', 'negative')
GROUP BY near_zero, positive, negative, model;

\echo Leaders at the corners, at equal weights, and the share of all mixtures that each model leads.
WITH ranked AS (
    SELECT *, rank() OVER (PARTITION BY near_zero, positive, negative ORDER BY score DESC) AS place FROM mixtures
)
SELECT model, round(100.0 * count(*) / (SELECT count(*) FROM ranked WHERE place = 1), 1) AS share_of_mixtures,
       bool_or(near_zero = 1) AS leads_near_zero, bool_or(positive = 1) AS leads_positive,
       bool_or(negative = 1) AS leads_negative,
       round(max(score) FILTER (WHERE near_zero = 1), 2) AS near_zero,
       round(max(score) FILTER (WHERE positive = 1), 2) AS positive,
       round(max(score) FILTER (WHERE negative = 1), 2) AS negative
FROM ranked WHERE place = 1
GROUP BY model ORDER BY share_of_mixtures DESC, model;

\echo How many of the pairs of models swap somewhere between two regimes.
SELECT w.task, w.metric, count(DISTINCT CASE WHEN a < b THEN a || ' ' || b ELSE b || ' ' || a END) AS pairs_that_swap,
       max(pairs) AS pairs
FROM swaps AS w
JOIN (SELECT task, metric, count(*) * (count(*) - 1) / 2 AS pairs FROM flat_scores WHERE setting = ''
      GROUP BY task, metric) AS p ON p.task = w.task AND p.metric = w.metric
WHERE w.setting = ''
GROUP BY w.task, w.metric ORDER BY w.task DESC, w.metric;

\echo Where the leaders of the corners swap (NC Accuracy): model a leads in r, model b in s, and they meet at weight_s.
WITH leaders AS (
    SELECT regime, model FROM regime_ranks WHERE task = 'NC' AND metric = 'Accuracy' AND setting = '' AND rank < 2
)
SELECT r, s, a, b, round(lead_r, 2) AS lead_in_r, round(lead_s, 2) AS lead_in_s, round(weight_s, 4) AS weight_s
FROM swaps JOIN leaders AS x ON x.regime = r AND x.model = a JOIN leaders AS y ON y.regime = s AND y.model = b
WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''
ORDER BY r, s;
