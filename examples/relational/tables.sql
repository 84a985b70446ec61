-- The tables of rel-f1 that its tasks read, from the Ergast dump: `data` is the folder of its CSV files.

\set races_file :data /races.csv
\set results_file :data /results.csv
\set qualifying_file :data /qualifying.csv
\set drivers_file :data /drivers.csv

-- A race has the time of its start, midnight where none is known: a race in the afternoon of a window's first day is in it.
CREATE OR REPLACE TABLE f1_races AS
SELECT "raceId" AS race, CAST("date" || ' ' || coalesce("time", '00:00:00') AS TIMESTAMP) AS start
FROM :'races_file';

-- An entry is a driver in a race, or in its qualifying the day before. hit: he did not finish, or is among the first three.
CREATE OR REPLACE TABLE f1_entries AS
SELECT 'results' AS source, r."resultId" AS id, start AS date, r."driverId" AS driver, r."constructorId" AS constructor,
       CAST(r."positionOrder" AS DOUBLE) AS position, CAST(r.grid AS DOUBLE) AS grid, CAST(r."statusId" <> 1 AS INT) AS hit
FROM :'results_file' r JOIN f1_races ON race = r."raceId"
UNION ALL
SELECT 'qualifying', q."qualifyId", start - INTERVAL '1 day', q."driverId", q."constructorId",
       CAST(q.position AS DOUBLE), NULL, CAST(q.position <= 3 AS INT)
FROM :'qualifying_file' q JOIN f1_races ON race = q."raceId";

CREATE OR REPLACE TABLE f1_drivers AS
SELECT "driverId" AS driver, CAST(dob AS TIMESTAMP) AS born FROM :'drivers_file';
