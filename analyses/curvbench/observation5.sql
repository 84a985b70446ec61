-- Observation 5 (Sec. 5.3): HAT on table-derived graphs (Table 6, accuracy).

\set analysis 'Observation 5'
\echo
\echo Observation 5: table-derived graphs expose tail-driven geometry (Table 6)

CREATE OR REPLACE TABLE figures AS
WITH ranks AS (
    SELECT * FROM dataset_ranks WHERE task = 'NC-Table' AND metric = 'Accuracy'
), found AS (
    SELECT 'wins' AS part, model AS what, CAST(wins AS DOUBLE) AS ours FROM volatility
    WHERE task = 'NC-Table' AND metric = 'Accuracy'
    UNION ALL SELECT 'rank ' || dataset, model, rank FROM ranks
    UNION ALL SELECT 'score ' || dataset, CAST(rank AS BIGINT)::TEXT, mean FROM ranks
)
SELECT figure, paper, digits, ours, note
FROM (VALUES
    (1, 'data sets of five that HAT wins', 3, 0, 'wins', 'HAT', ''),
    (2, 'best score on F1', 40.84, 2, 'score F1', '1', ''),
    (3, 'second score on F1', 5.04, 2, 'score F1', '2', ''),
    (4, 'rank of HAT on Hepatitis (last of 12)', 12, 0, 'rank Hepatitis', 'HAT', ''),
    (5, 'rank of HAT on Toxicology (last of 12)', 12, 0, 'rank Toxicology', 'HAT', '')
) AS expected(place, figure, paper, digits, part, what, note)
LEFT JOIN found USING (part, what)
ORDER BY place;

\ir verdict.sql
