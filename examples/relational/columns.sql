-- The columns of the items: what a query makes of the entries up to the day that is known, `seen`.
--
-- 'to the day': everything up to the item's time, as in use. 'to the cut': RelBench hands out the database up to the first time of the
-- test, so that the last test items are asked three to seven years behind the last row; the validation is taken likewise up to its
-- first time, and a training item up to 0 to 39 windows before its own: a model that is asked late is trained on late answers.

CREATE OR REPLACE TABLE f1_seen AS
WITH numbered AS (
    SELECT i.*, days, dense_rank() OVER (PARTITION BY i.task ORDER BY i.time) AS window_number
    FROM f1_items i JOIN f1_tasks t USING (task))
SELECT 'to the day' AS known, task, source, split, node, time, label, time AS seen FROM numbered
UNION ALL
SELECT 'to the cut', task, source, split, node, time, label,
       CASE split WHEN 'train' THEN time - ((7 * window_number + node) % 40) * days * INTERVAL '1 day'
                  WHEN 'val' THEN least(time, TIMESTAMP '2005-01-01')
                  ELSE least(time, TIMESTAMP '2010-01-01') END
FROM numbered;

CREATE OR REPLACE TABLE f1_columns AS
WITH past AS (
    SELECT known, task, node, time, seen, e.*
    FROM f1_seen s JOIN f1_entries e ON e.source = s.source AND e.driver = s.node
    WHERE e.date <= s.seen),
-- The driver: his year, his last 90 days, his last entry, his career.
driver AS (
    SELECT known AS of_known, task AS of_task, node AS of_node, time AS of_time, count(*) AS career, avg(hit) AS career_hit, avg(position) AS career_position,
           max(date) AS last_date, last_value(position ORDER BY date, id) AS last_position,
           last_value(constructor ORDER BY date, id) AS constructor,
           count(*) FILTER (WHERE date > seen - INTERVAL '365 days') AS entries,
           avg(hit) FILTER (WHERE date > seen - INTERVAL '365 days') AS hit,
           avg(position) FILTER (WHERE date > seen - INTERVAL '365 days') AS position,
           avg(grid) FILTER (WHERE date > seen - INTERVAL '365 days') AS grid,
           avg(hit) FILTER (WHERE date > seen - INTERVAL '90 days') AS late_hit,
           avg(position) FILTER (WHERE date > seen - INTERVAL '90 days') AS late_position
    FROM past GROUP BY known, task, node, time),
days AS (SELECT DISTINCT source, seen FROM f1_seen),
year AS (
    SELECT days.source, seen, e.constructor, e.date, e.hit, e.position
    FROM days JOIN f1_entries e USING (source) WHERE e.date <= seen AND e.date > seen - INTERVAL '365 days'),
-- His last constructor: its year, and its last 120 days.
team AS (
    SELECT source, seen, constructor, avg(hit) AS hit, avg(position) AS position,
           avg(hit) FILTER (WHERE date > seen - INTERVAL '120 days') AS late_hit,
           avg(position) FILTER (WHERE date > seen - INTERVAL '120 days') AS late_position
    FROM year GROUP BY source, seen, constructor),
-- All drivers, where there was a race in that year.
field AS (SELECT source, seen, avg(hit) AS hit, avg(position) AS position FROM year GROUP BY source, seen),
joined AS (
    SELECT s.known, s.task, s.split, s.node, s.time, s.label, s.seen, d.*, b.born,
           coalesce(f.hit, 0.5) AS all_hit, coalesce(f.position, 12) AS all_position,
           t.hit AS team_hit, t.position AS team_position, t.late_hit AS late_team_hit, t.late_position AS late_team_position
    FROM f1_seen s
    LEFT JOIN driver d ON d.of_known = s.known AND d.of_task = s.task AND d.of_node = s.node AND d.of_time = s.time
    LEFT JOIN team t ON t.source = s.source AND t.seen = s.seen AND t.constructor = d.constructor
    LEFT JOIN field f ON f.source = s.source AND f.seen = s.seen
    LEFT JOIN f1_drivers b ON b.driver = s.node)
-- Who has no entry yet has the averages of all. Each column is brought to about 1.
SELECT known, task, split, node, time, label,
       [coalesce(entries, 0) / 20.0, CAST(career IS NULL AS INT), ln(1 + coalesce(career, 0)) / 5,
        coalesce(hit, career_hit, all_hit), coalesce(position, career_position, all_position) / 20,
        coalesce(grid, all_position) / 20, coalesce(late_hit, hit, all_hit), coalesce(late_position, position, all_position) / 20,
        coalesce(career_hit, all_hit), coalesce(career_position, all_position) / 20, coalesce(last_position, all_position) / 20,
        coalesce(team_hit, all_hit), coalesce(team_position, all_position) / 20,
        coalesce(late_team_hit, team_hit, all_hit), coalesce(late_team_position, team_position, all_position) / 20, all_hit,
        least(coalesce(date_part('epoch', time - last_date) / 86400, 3650), 3650) / 1000,
        date_part('epoch', time - seen) / 86400 / 1000,
        coalesce(date_part('epoch', time - born) / 86400 / 365.25, 30) / 30] AS features
FROM joined;
