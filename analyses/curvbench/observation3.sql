-- Observation 3 (Sec. 5.2): 1-shot rankings of graph foundation models (Table 5). A model without room on a data set ranks
-- worst there; means of a regime are over the data sets on which a model ran.

\set analysis 'Observation 3'
\echo
\echo Observation 3: 1-shot GFM rankings remain curvature-conditioned (Table 5)

\set task NC-GFM
\set metric Accuracy
\set setting 1-shot
\ir ../regrouping.sql

CREATE OR REPLACE TABLE figures AS
WITH found AS (
    SELECT agreement AS part, unnest(['within', 'across', 'p', 'at least']) AS what,
           unnest([within, across, 100 * p_value, p_value * partitions]) AS ours
    FROM regrouped WHERE task = 'NC-GFM' AND setting = '1-shot'
    UNION ALL
    SELECT regime, model, available FROM regime_scores
    WHERE task = 'NC-GFM' AND metric = 'Accuracy' AND setting = '1-shot'
    UNION ALL
    SELECT regime, 'first', CAST(rank AS DOUBLE) FROM (
        SELECT regime, model, rank() OVER (PARTITION BY regime ORDER BY available DESC) AS rank FROM regime_scores
        WHERE task = 'NC-GFM' AND metric = 'Accuracy' AND setting = '1-shot')
    WHERE model = 'GraphGluing'
    UNION ALL
    SELECT 'complete', 'GCOPE', CAST(rank AS DOUBLE) FROM (
        SELECT model, rank() OVER (ORDER BY complete DESC) AS rank FROM regime_scores
        WHERE task = 'NC-GFM' AND metric = 'Accuracy' AND setting = '1-shot' AND regime = 'negative')
    WHERE model = 'GCOPE'
    UNION ALL
    SELECT 'flat', model, CAST(rank AS DOUBLE) FROM (
        SELECT model, rank() OVER (ORDER BY available DESC) AS rank FROM flat_scores
        WHERE task = 'NC-GFM' AND metric = 'Accuracy' AND setting = '1-shot')
    UNION ALL
    SELECT 'covered', model, CAST(rank AS DOUBLE) FROM (
        SELECT model, rank() OVER (ORDER BY covered DESC) AS rank FROM flat_scores
        WHERE task = 'NC-GFM' AND metric = 'Accuracy' AND setting = '1-shot')
)
SELECT figure, paper, digits, ours, note
FROM (VALUES
    (1, 'Spearman within regimes', 0.269, 3, 'spearman', 'within', ''),
    (2, 'Spearman across regimes', -0.102, 3, 'spearman', 'across', ''),
    (3, 'Kendall within regimes', 0.222, 3, 'kendall', 'within', ''),
    (4, 'Kendall across regimes', -0.086, 3, 'kendall', 'across', ''),
    (5, 'partitions at least as good, Spearman (of 280)', 14, 0, 'spearman', 'at least', ''),
    (6, 'that is in the top, Spearman, %', 5.0, 0, 'spearman', 'p', ''),
    (7, 'partitions at least as good, Kendall (of 280)', 17, 0, 'kendall', 'at least', ''),
    (8, 'that is in the top, Kendall, %', 6.1, 1, 'kendall', 'p', ''),
    (9, 'near-zero mean of MDGPT', 45.66, 2, 'near-zero', 'MDGPT', ''),
    (10, 'near-zero mean of MDGFM', 45.33, 2, 'near-zero', 'MDGFM', ''),
    (11, 'positive mean of GraphGluing', 32.66, 2, 'positive', 'GraphGluing', ''),
    (12, 'place of GraphGluing, positive', 1, 0, 'positive', 'first', ''),
    (13, 'place of GraphGluing, negative, where it ran', 1, 0, 'negative', 'first', ''),
    (14, 'place of GCOPE, negative, among those that ran everywhere', 1, 0, 'complete', 'GCOPE', ''),
    (15, 'place of GraphGluing, flat, where it ran', 1, 0, 'flat', 'GraphGluing', ''),
    (16, 'place of GCOPE, flat, failures counting 0', 1, 0, 'covered', 'GCOPE', '')
) AS expected(place, figure, paper, digits, part, what, note)
LEFT JOIN found USING (part, what)
ORDER BY place;

\ir verdict.sql
