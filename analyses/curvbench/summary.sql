\echo
\echo All analyses
SELECT analysis, count(*) AS figures, count(*) FILTER (WHERE verdict = 'equal') AS equal,
       count(*) FILTER (WHERE verdict = 'differs') AS differ
FROM verdicts GROUP BY analysis ORDER BY analysis;
