-- Rank volatility from Table 14 (App. G, Macro-F1 on table-derived graphs): mean rank and sample deviation of ranks, winner
-- counts, and the same on the four medical data sets alone.

\set analysis 'Table 14'
\echo
\echo Table 14: specialists and robust models on table-derived graphs

CREATE OR REPLACE TABLE figures AS
WITH ranks AS (
    SELECT * FROM dataset_ranks WHERE task = 'NC-Table' AND metric = 'Macro-F1'
), spread AS (
    SELECT *, rank() OVER (ORDER BY mean_rank) AS best, rank() OVER (ORDER BY volatility DESC) AS wildest
    FROM volatility WHERE task = 'NC-Table' AND metric = 'Macro-F1'
), medical AS (
    SELECT model, avg(mean) AS mean, avg(rank) AS mean_rank FROM ranks WHERE dataset <> 'F1' GROUP BY model
), found AS (
    SELECT unnest(['mean rank', 'volatility', 'wins', 'top 3', 'best', 'wildest']) AS part, model AS what,
           unnest([mean_rank, volatility, wins, top3, best, wildest]) AS ours FROM spread
    UNION ALL SELECT unnest(['medical mean', 'medical rank']), model, unnest([mean, mean_rank]) FROM medical
    UNION ALL SELECT 'rank ' || dataset, model, rank FROM ranks
)
SELECT figure, paper, digits, ours, note
FROM (VALUES
    (1, 'mean rank of GraphSAGE', 3.4, 1, 'mean rank', 'GraphSAGE', ''),
    (2, 'its place by mean rank', 1, 0, 'best', 'GraphSAGE', ''),
    (3, 'data sets that GraphSAGE wins', 2, 0, 'wins', 'GraphSAGE', ''),
    (4, 'data sets with GraphSAGE in the top 3', 4, 0, 'top 3', 'GraphSAGE', ''),
    (5, 'volatility of HAT', 5.61, 2, 'volatility', 'HAT', ''),
    (6, 'its place by volatility', 1, 0, 'wildest', 'HAT', ''),
    (7, 'data sets that HAT wins', 2, 0, 'wins', 'HAT', ''),
    (8, 'rank of HAT on Carcinogenesis (last of 12)', 12, 0, 'rank Carcinogenesis', 'HAT', ''),
    (9, 'rank of HAT on Hepatitis (last of 12)', 12, 0, 'rank Hepatitis', 'HAT', ''),
    (10, 'rank of PCNet on Hepatitis', 1, 0, 'rank Hepatitis', 'PCNet', ''),
    (11, 'rank of PCNet on F1 (last of 12)', 12, 0, 'rank F1', 'PCNet', ''),
    (12, 'mean rank of GraphMoRE', 5.4, 1, 'mean rank', 'GraphMoRE', ''),
    (13, 'volatility of GraphMoRE', 1.82, 2, 'volatility', 'GraphMoRE', ''),
    (14, 'medical mean of GraphSAGE', 68.99, 2, 'medical mean', 'GraphSAGE', ''),
    (15, 'medical rank of GraphSAGE', 1.75, 2, 'medical rank', 'GraphSAGE', ''),
    (16, 'medical rank of HAT', 7.25, 2, 'medical rank', 'HAT', '')
) AS expected(place, figure, paper, digits, part, what, note)
LEFT JOIN found USING (part, what)
ORDER BY place;

\ir verdict.sql

\echo Winner counts, mean ranks and volatility of every model, both metrics.
SELECT metric, model, mean_rank, round(volatility, 2) AS volatility, wins, top3
FROM volatility WHERE task = 'NC-Table' ORDER BY metric, mean_rank, model;
