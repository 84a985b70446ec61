-- A Markdown leaderboard of one task: mean and deviation, the best three of each data set marked (1), (2), (3) and the
-- best bold, failures and gaps as what they are. Models stand by their mean rank, in which a failure ranks worst.
--
-- Variables: those of stratified.sql; task, metric and setting name the part to show (an empty setting for none). The
-- format is `table` afterwards.

\ir stratified.sql

CREATE OR REPLACE VIEW board AS
SELECT model, dataset,
       CASE place WHEN 1 THEN '**' || score || '** (1)' WHEN 2 THEN score || ' (2)' WHEN 3 THEN score || ' (3)'
                  ELSE score END AS cell,
       avg(rank) OVER (PARTITION BY model) AS mean_rank
FROM (
    SELECT model, dataset, CASE WHEN mean IS NOT NULL THEN rank() OVER (PARTITION BY dataset ORDER BY mean DESC) END AS place,
           average_rank() OVER (PARTITION BY dataset ORDER BY mean DESC) AS rank,
           CASE WHEN mean IS NULL THEN status
                ELSE CAST(CAST(mean AS DECIMAL(20, 2)) AS TEXT)
                     || coalesce(' ± ' || CAST(CAST(std AS DECIMAL(20, 2)) AS TEXT), '') END AS score
    FROM scores
    WHERE task = :'task' AND metric = :'metric' AND setting = :'setting'
);

\format markdown
SELECT * EXCLUDE (mean_rank) FROM (PIVOT board ON dataset USING max(cell) GROUP BY mean_rank, model)
ORDER BY mean_rank, model;
\format table
