-- Part of running_times.sql: compares the samples of running_times_distances.sql by two other descriptors.

INSERT INTO clock
SELECT 1 + count(*) AS place, 'degree + MMD' AS what, :nodes AS nodes, :graphs AS graphs, CAST(now() AS BIGINT) AS at FROM clock;
CREATE OR REPLACE TABLE distance AS
SELECT mmd(descriptor, generated) AS distance
FROM (SELECT generated, degree_histogram(src, dst) AS descriptor FROM samples GROUP BY graph_id, generated);

INSERT INTO clock
SELECT 1 + count(*) AS place, 'orbit + MMD' AS what, :nodes AS nodes, :graphs AS graphs, CAST(now() AS BIGINT) AS at FROM clock;
CREATE OR REPLACE TABLE distance AS
SELECT mmd(descriptor, generated, sigma => 30) AS distance
FROM (SELECT generated, orbit_counts(src, dst) AS descriptor FROM samples GROUP BY graph_id, generated);

INSERT INTO clock
SELECT 1 + count(*) AS place, 'between' AS what, 0 AS nodes, 0 AS graphs, CAST(now() AS BIGINT) AS at FROM clock;
