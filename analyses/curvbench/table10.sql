-- Table 10 (App. G): the rank-shift index, the mean over models of |rank of the mean score over a regime's data sets - rank
-- of the mean score over all|.

\set analysis 'Table 10'
\echo
\echo Table 10: rank-shift index between flat and regime-conditioned rankings

CREATE OR REPLACE TABLE figures AS
WITH shift AS (
    SELECT task, metric, regime, rsi FROM rank_shift WHERE task IN ('NC', 'LP') AND setting = ''
), found AS (
    SELECT task || ' ' || metric AS part, regime AS what, rsi AS ours FROM shift
    UNION ALL SELECT task || ' average', regime, avg(rsi) FROM shift GROUP BY task, regime
)
SELECT expected.part || ', ' || expected.what AS figure, paper, digits, ours, '' AS note
FROM (VALUES
    (1, 3.00, 2, 'NC Accuracy', 'near-zero'), (2, 2.50, 2, 'NC Accuracy', 'positive'), (3, 1.17, 2, 'NC Accuracy', 'negative'),
    (4, 2.83, 2, 'NC Macro-F1', 'near-zero'), (5, 2.50, 2, 'NC Macro-F1', 'positive'), (6, 1.33, 2, 'NC Macro-F1', 'negative'),
    (7, 0.91, 2, 'LP AUC', 'near-zero'), (8, 1.45, 2, 'LP AUC', 'positive'), (9, 2.18, 2, 'LP AUC', 'negative'),
    (10, 0.73, 2, 'LP AP', 'near-zero'), (11, 1.82, 2, 'LP AP', 'positive'), (12, 2.55, 2, 'LP AP', 'negative'),
    (13, 2.92, 2, 'NC average', 'near-zero'), (14, 2.50, 2, 'NC average', 'positive'), (15, 1.25, 2, 'NC average', 'negative'),
    (16, 0.82, 2, 'LP average', 'near-zero'), (17, 1.64, 2, 'LP average', 'positive'), (18, 2.36, 2, 'LP average', 'negative')
) AS expected(place, paper, digits, part, what)
LEFT JOIN found USING (part, what)
ORDER BY place;

\ir verdict.sql
