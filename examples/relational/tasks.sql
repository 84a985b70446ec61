-- The items of the three tasks, as RelBench defines them (Robinson et al. 2024, arXiv 2407.20060, App. A, and its program): a driver
-- at a time, with what happens in the window behind it.

CREATE OR REPLACE TABLE f1_tasks(task TEXT, source TEXT, days INT) AS
VALUES ('driver-dnf', 'results', 30), ('driver-top3', 'qualifying', 30), ('driver-position', 'results', 60);

-- Times of training go back from one window before the validation's first to the first race; validation and test have 40 windows,
-- as far as they end before the test's first time, or before the last race.
CREATE OR REPLACE TABLE f1_times AS
WITH steps AS (SELECT task, source, days, CAST(value AS INT) AS step FROM f1_tasks CROSS JOIN generate_series(0, 1000)),
times AS (
    SELECT task, source, days, 'train' AS split, TIMESTAMP '2005-01-01' - (step + 1) * days * INTERVAL '1 day' AS time FROM steps
    UNION ALL
    SELECT task, source, days, 'val', TIMESTAMP '2005-01-01' + step * days * INTERVAL '1 day' FROM steps WHERE step < 40
    UNION ALL
    SELECT task, source, days, 'test', TIMESTAMP '2010-01-01' + step * days * INTERVAL '1 day' FROM steps WHERE step < 40)
SELECT task, source, days, split, time FROM times
WHERE time >= (SELECT min(start) FROM f1_races)
  AND (split <> 'val' OR time + days * INTERVAL '1 day' <= TIMESTAMP '2010-01-01')
  AND time + days * INTERVAL '1 day' <= (SELECT max(start) FROM f1_races);

-- A driver is an item where he has an entry in the window and one after a year before its time. The second condition reads later
-- entries, too, the published one does; with the first it always holds. A row of items says nothing of what was known at its time.
CREATE OR REPLACE TABLE f1_items AS
SELECT task, source, split, time, driver AS node,
       CASE task WHEN 'driver-position' THEN avg(position) ELSE CAST(max(hit) AS DOUBLE) END AS label
FROM f1_times JOIN f1_entries USING (source)
WHERE date > time AND date <= time + days * INTERVAL '1 day'
GROUP BY task, source, split, time, driver;
