-- Observation 2 (Sec. 5.1): which families lead where (Table 3), and what families, regimes and their interaction explain.

\set analysis 'Observation 2'
\echo
\echo Observation 2: curvature regimes reorganize effective inductive biases (Table 3)

CREATE OR REPLACE TABLE figures AS
WITH shares AS (
    SELECT regime, CASE WHEN family IN ('Mixed/pseudo-Riemannian', 'Adaptive Riemannian') THEN 'curved' ELSE family END AS kind,
           sum(wins) AS wins, 100 * sum(share) AS share
    FROM family_shares WHERE task = 'NC' AND metric = 'Accuracy' AND setting = '' AND regime IS NOT NULL
    GROUP BY 1, 2
), variance AS (
    SELECT * FROM variance_decomposition(
        (SELECT * FROM scores WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''),
        mean, family, regime, block => dataset)
), found AS (
    SELECT regime AS part, kind || ' ' || unnest(['wins', 'share']) AS what, unnest([wins, share]) AS ours FROM shares
    UNION ALL
    SELECT 'variance', unnest(['additive', 'interaction', 'share']),
           unnest([r2_additive, r2_interaction, 100 * interaction_share]) FROM variance
)
SELECT figure, paper, digits, ours, note
FROM (VALUES
    (1, 'near-zero: wins of Euclidean models', 3, 0, 'near-zero', 'Euclidean wins', ''),
    (2, 'near-zero: Euclidean share of the top 3, %', 66.7, 1, 'near-zero', 'Euclidean share', ''),
    (3, 'positive: wins of Euclidean models', 2, 0, 'positive', 'Euclidean wins', ''),
    (4, 'positive: Euclidean share of the top 3, %', 55.6, 1, 'positive', 'Euclidean share', 'three models tie for the third place on Cornell'),
    (5, 'negative: wins of mixed and adaptive models', 3, 0, 'negative', 'curved wins', ''),
    (6, 'negative: mixed and adaptive share of the top 3, %', 55.6, 1, 'negative', 'curved share', ''),
    (7, 'negative: Euclidean share of the top 3, %', 0.0, 1, 'negative', 'Euclidean share', 'GraphSAGE (95.60) and GAT (90.62) are second and third on Disease'),
    (8, 'R2 of family + regime', 0.0596, 4, 'variance', 'additive', 'does not follow from Table 3 by any usual normalisation (below)'),
    (9, 'R2 with their interaction', 0.1063, 4, 'variance', 'interaction', 'does not follow from Table 3 by any usual normalisation (below)'),
    (10, 'share of the interaction, %', 43.95, 2, 'variance', 'share', 'does not follow: even (0.1063 - 0.0596) / 0.1063 is 43.93')
) AS expected(place, figure, paper, digits, part, what, note)
LEFT JOIN found USING (part, what)
ORDER BY place;

\ir verdict.sql

\echo The decomposition under each normalisation within data sets.
SELECT normalisation, round(r2_additive, 4) AS additive, round(r2_interaction, 4) AS with_interaction,
       round(100 * interaction_share, 2) AS interaction_share
FROM (
    SELECT 1 AS place, 'none' AS normalisation, * FROM variance_decomposition(
        (SELECT * FROM scores WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''), mean, family, regime)
    UNION ALL
    SELECT 2, 'zscore', * FROM variance_decomposition(
        (SELECT * FROM scores WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''), mean, family, regime, block => dataset)
    UNION ALL
    SELECT 3, 'min_max', * FROM variance_decomposition(
        (SELECT * FROM scores WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''), mean, family, regime,
        block => dataset, normalize => 'min_max')
    UNION ALL
    SELECT 4, 'rank', * FROM variance_decomposition(
        (SELECT * FROM scores WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''), mean, family, regime,
        block => dataset, normalize => 'rank')
    UNION ALL
    SELECT 5, 'center', * FROM variance_decomposition(
        (SELECT * FROM scores WHERE task = 'NC' AND metric = 'Accuracy' AND setting = ''), mean, family, regime,
        block => dataset, normalize => 'center')
)
ORDER BY place;
