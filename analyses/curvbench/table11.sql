-- Table 11 (App. G): agreement of the two metrics of a task on the ranking in a regime.

\set analysis 'Table 11'
\echo
\echo Table 11: within-task consistency between two metrics

CREATE OR REPLACE TABLE figures AS
WITH found AS (
    SELECT task, regime, unnest(['Spearman', 'Kendall', 'Jaccard']) AS what, unnest([spearman, kendall, jaccard]) AS ours
    FROM metric_agreement WHERE task IN ('NC', 'LP') AND setting = ''
)
SELECT expected.task || ' ' || expected.regime || ', ' || expected.what AS figure, paper, digits, ours, '' AS note
FROM (VALUES
    (1, 'NC', 'near-zero', 'Spearman', 0.937, 3), (2, 'NC', 'near-zero', 'Kendall', 0.848, 3), (3, 'NC', 'near-zero', 'Jaccard', 1.000, 3),
    (4, 'NC', 'positive', 'Spearman', 0.769, 3), (5, 'NC', 'positive', 'Kendall', 0.606, 3), (6, 'NC', 'positive', 'Jaccard', 0.500, 3),
    (7, 'NC', 'negative', 'Spearman', 0.860, 3), (8, 'NC', 'negative', 'Kendall', 0.758, 3), (9, 'NC', 'negative', 'Jaccard', 0.500, 3),
    (10, 'LP', 'near-zero', 'Spearman', 0.991, 3), (11, 'LP', 'near-zero', 'Kendall', 0.964, 3), (12, 'LP', 'near-zero', 'Jaccard', 1.000, 3),
    (13, 'LP', 'positive', 'Spearman', 0.836, 3), (14, 'LP', 'positive', 'Kendall', 0.673, 3), (15, 'LP', 'positive', 'Jaccard', 0.500, 3),
    (16, 'LP', 'negative', 'Spearman', 0.864, 3), (17, 'LP', 'negative', 'Kendall', 0.709, 3), (18, 'LP', 'negative', 'Jaccard', 0.500, 3)
) AS expected(place, task, regime, what, paper, digits)
LEFT JOIN found USING (task, regime, what)
ORDER BY place;

\ir verdict.sql
