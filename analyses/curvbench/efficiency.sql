-- Efficiency (App. H). The paper prints medians and two corrected entries, not the times behind them: the medians cannot be
-- computed anew, but what it concludes from them can. Variable of paper.sql: efficiency.csv.

\set analysis 'Appendix H'
\echo
\echo Appendix H: efficiency

CREATE OR REPLACE TABLE figures AS
WITH medians AS (
    SELECT model, quantity, value, rank() OVER (PARTITION BY quantity ORDER BY value) AS place,
           rank() OVER (PARTITION BY quantity ORDER BY value DESC) AS place_from_above
    FROM paper_efficiency WHERE quantity IN ('train_median', 'test_median')
), found AS (
    SELECT quantity || ' place' AS part, model AS what, CAST(place AS DOUBLE) AS ours FROM medians
    UNION ALL SELECT quantity || ' place from above', model, CAST(place_from_above AS DOUBLE) FROM medians
    -- A logged time over a power of ten.
    UNION ALL SELECT 'corrected by 10', model, value / 10 FROM paper_efficiency WHERE quantity LIKE '%_logged'
    UNION ALL SELECT 'corrected by 100', model, value / 100 FROM paper_efficiency WHERE quantity LIKE '%_logged'
    UNION ALL SELECT 'slower', 'test', count(*) FROM medians WHERE quantity = 'test_median' AND value > 0.1
)
SELECT figure, paper, digits, ours, note
FROM (VALUES
    (1, 'place of MLP by training time', 1, 0, 'train_median place', 'MLP', ''),
    (2, 'place of HGNN by training time', 2, 0, 'train_median place', 'HGNN', ''),
    (3, 'place of GCN by training time', 3, 0, 'train_median place', 'GCN', ''),
    (4, 'place of GraphMoRE from the slowest, training', 1, 0, 'train_median place from above', 'GraphMoRE', ''),
    (5, 'place of QGCN from the slowest, training', 2, 0, 'train_median place from above', 'QGCN', ''),
    (6, 'place of GraphMoRE from the slowest, test', 1, 0, 'test_median place from above', 'GraphMoRE', ''),
    (7, 'models with a test time above 0.1', 5, 0, 'slower', 'test', ''),
    (8, 'HyboNet on PubMed: 2278.29 corrected, as if by 10', 227.83, 2, 'corrected by 10', 'HyboNet', ''),
    (9, 'QGCN on Cornell: 10472.98 corrected, as if by 10', 104.73, 2, 'corrected by 10', 'QGCN', 'it was divided by 100: the two corrections are not the same one'),
    (10, 'QGCN on Cornell: 10472.98 corrected, as if by 100', 104.73, 2, 'corrected by 100', 'QGCN', '')
) AS expected(place, figure, paper, digits, part, what, note)
LEFT JOIN found USING (part, what)
ORDER BY place;

\ir verdict.sql
