-- Observation 4 (Sec. 5.2): what five labels a class bring instead of one (Table 5, accuracy). The figures of the text are
-- means over all cells of a regime; Appendix G, on Macro-F1, takes the mean over models of each model's mean.

\set analysis 'Observation 4'
\echo
\echo Observation 4: extra labels reveal a geometry-scalability frontier (Table 5)

CREATE OR REPLACE TABLE figures AS
WITH gains AS (
    SELECT * FROM elasticity WHERE task = 'NC-GFM' AND metric = 'Accuracy'
), found AS (
    SELECT 'regime' AS part, regime AS what, avg(gain) AS ours FROM gains GROUP BY regime
    UNION ALL SELECT 'dataset', dataset, avg(gain) FROM gains GROUP BY dataset
    UNION ALL SELECT 'model', model, avg(gain) FROM gains GROUP BY model
)
SELECT figure, paper, digits, ours, note
FROM (VALUES
    (1, 'gain on near-zero graphs', 15.95, 2, 'regime', 'near-zero', 'the 18 gains of Table 5 sum to 286.71, which is 15.93 a cell'),
    (2, 'gain on positive graphs', 6.97, 2, 'regime', 'positive', ''),
    (3, 'gain on negative graphs', 4.49, 2, 'regime', 'negative', ''),
    (4, 'gain on Airport', 1.84, 2, 'dataset', 'Airport', ''),
    (5, 'gain on Actor', 0.38, 2, 'dataset', 'Actor', ''),
    (6, 'gain on CS_Phds', 0.95, 2, 'dataset', 'CS_Phds', ''),
    (7, 'gain of GCOPE', 14.43, 2, 'model', 'GCOPE', '')
) AS expected(place, figure, paper, digits, part, what, note)
LEFT JOIN found USING (part, what)
ORDER BY place;

\ir verdict.sql
