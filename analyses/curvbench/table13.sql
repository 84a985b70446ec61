-- Elasticity (Eq. 19) and coverage (Eq. 20) from Table 13 (App. G, Macro-F1). A regime's elasticity is each model's mean
-- gain over the data sets on which it ran, then the mean over models.

\set analysis 'Table 13'
\echo
\echo Table 13: label elasticity and coverage of graph foundation models

CREATE OR REPLACE TABLE figures AS
WITH gains AS (
    SELECT * FROM elasticity WHERE task = 'NC-GFM' AND metric = 'Macro-F1'
), by_model AS (
    SELECT regime, model, avg(gain) AS gain FROM gains GROUP BY regime, model
), flat AS (
    SELECT *, rank() OVER (PARTITION BY setting ORDER BY available DESC) AS available_rank,
           rank() OVER (PARTITION BY setting ORDER BY covered DESC) AS covered_rank
    FROM flat_scores WHERE task = 'NC-GFM' AND metric = 'Macro-F1'
), found AS (
    SELECT 'elasticity' AS part, regime AS what, avg(gain) AS ours FROM by_model GROUP BY regime
    UNION ALL SELECT 'gain', model, avg(gain) FROM gains GROUP BY model
    UNION ALL SELECT regime, model, gain FROM by_model
    UNION ALL SELECT setting || ' available', model, available FROM flat
    UNION ALL SELECT setting || ' covered', model, covered FROM flat
    UNION ALL SELECT setting || ' available rank', model, CAST(available_rank AS DOUBLE) FROM flat
    UNION ALL SELECT setting || ' covered rank', model, CAST(covered_rank AS DOUBLE) FROM flat
)
SELECT figure, paper, digits, ours, note
FROM (VALUES
    (1, 'elasticity, near-zero', 18.41, 2, 'elasticity', 'near-zero', ''),
    (2, 'elasticity, positive', 6.47, 2, 'elasticity', 'positive', ''),
    (3, 'elasticity, negative', 6.97, 2, 'elasticity', 'negative', ''),
    (4, 'gain of GCOPE', 16.59, 2, 'gain', 'GCOPE', ''),
    (5, 'gain of MDGFM', 13.55, 2, 'gain', 'MDGFM', ''),
    (6, 'gain of GraphGluing, near-zero', 29.18, 2, 'near-zero', 'GraphGluing', ''),
    (7, 'gain of GraphGluing, positive', 0.79, 2, 'positive', 'GraphGluing', ''),
    (8, '1-shot mean of MDGFM where it ran', 31.68, 2, '1-shot available', 'MDGFM', ''),
    (9, 'place of MDGFM, 1-shot, where it ran', 1, 0, '1-shot available rank', 'MDGFM', ''),
    (10, '1-shot mean of MDGPT, failures counting 0', 31.14, 2, '1-shot covered', 'MDGPT', ''),
    (11, 'place of MDGPT, 1-shot, failures counting 0', 1, 0, '1-shot covered rank', 'MDGPT', ''),
    (12, '5-shot mean of GCOPE, failures counting 0', 45.20, 2, '5-shot covered', 'GCOPE', ''),
    (13, 'place of GCOPE, 5-shot, failures counting 0', 1, 0, '5-shot covered rank', 'GCOPE', ''),
    (14, '5-shot mean of MDGFM, failures counting 0', 40.20, 2, '5-shot covered', 'MDGFM', '')
) AS expected(place, figure, paper, digits, part, what, note)
LEFT JOIN found USING (part, what)
ORDER BY place;

\ir verdict.sql
