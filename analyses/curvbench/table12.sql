-- Table 12 (App. G): agreement of node classification and link prediction, over the models that both have, the mean over
-- the four pairs of metrics.

\set analysis 'Table 12'
\echo
\echo Table 12: cross-task consistency between NC and LP rankings

CREATE OR REPLACE TABLE figures AS
WITH found AS (
    SELECT regime, unnest(['Spearman', 'Kendall', 'Jaccard']) AS what, unnest([spearman, kendall, jaccard]) AS ours
    FROM task_agreement WHERE task_a = 'LP' AND task_b = 'NC'
)
SELECT expected.regime || ', ' || expected.what AS figure, paper, digits, ours, '' AS note
FROM (VALUES
    (1, 'near-zero', 'Spearman', 0.011, 3), (2, 'near-zero', 'Kendall', 0.127, 3), (3, 'near-zero', 'Jaccard', 0.200, 3),
    (4, 'positive', 'Spearman', 0.066, 3), (5, 'positive', 'Kendall', 0.036, 3), (6, 'positive', 'Jaccard', 0.275, 3),
    (7, 'negative', 'Spearman', 0.352, 3), (8, 'negative', 'Kendall', 0.255, 3), (9, 'negative', 'Jaccard', 0.425, 3)
) AS expected(place, regime, what, paper, digits)
LEFT JOIN found USING (regime, what)
ORDER BY place;

\ir verdict.sql
