-- How long do the curvatures of a graph take? Tables 5 to 7 of "Curvature Filtrations for Graph Generative Model
-- Evaluation" (Southern et al., NeurIPS 2023), theirs beside ours.
--
--     cargo run --release -- -f examples/curvature_filtrations/running_times.sql
--
-- Nothing is downloaded: the graphs are Erdos-Renyi graphs with p = 0.3, as in the paper. Its times are of another machine;
-- the ratios of one machine are in benches/compare.py.

-- 1. The graphs and the clock ----------------------------------------------------------------------------------------

CREATE TABLE graphs AS
SELECT * FROM erdos_renyi((
    SELECT n AS graph_id, n, 0.3 AS p, 1 AS seed FROM (VALUES (10), (50), (100), (250), (500), (1000)) sizes(n)));

-- Every statement has a now() of its own: two stamps in a row are one statement apart.
CREATE TABLE clock(place BIGINT, what TEXT, nodes BIGINT, graphs BIGINT, at BIGINT);

-- 2. One graph, three curvatures -------------------------------------------------------------------------------------

-- A stamp before every statement.
INSERT INTO clock VALUES (1, 'Forman', 10, 1, CAST(now() AS BIGINT));
CREATE TABLE forman_ricci_10 AS SELECT * FROM forman_ricci((SELECT src, dst FROM graphs WHERE graph_id = 10));
INSERT INTO clock VALUES (2, 'Forman', 50, 1, CAST(now() AS BIGINT));
CREATE TABLE forman_ricci_50 AS SELECT * FROM forman_ricci((SELECT src, dst FROM graphs WHERE graph_id = 50));
INSERT INTO clock VALUES (3, 'Forman', 100, 1, CAST(now() AS BIGINT));
CREATE TABLE forman_ricci_100 AS SELECT * FROM forman_ricci((SELECT src, dst FROM graphs WHERE graph_id = 100));
INSERT INTO clock VALUES (4, 'Forman', 250, 1, CAST(now() AS BIGINT));
CREATE TABLE forman_ricci_250 AS SELECT * FROM forman_ricci((SELECT src, dst FROM graphs WHERE graph_id = 250));
INSERT INTO clock VALUES (5, 'Forman', 500, 1, CAST(now() AS BIGINT));
CREATE TABLE forman_ricci_500 AS SELECT * FROM forman_ricci((SELECT src, dst FROM graphs WHERE graph_id = 500));
INSERT INTO clock VALUES (6, 'Forman', 1000, 1, CAST(now() AS BIGINT));
CREATE TABLE forman_ricci_1000 AS SELECT * FROM forman_ricci((SELECT src, dst FROM graphs WHERE graph_id = 1000));
INSERT INTO clock VALUES (7, 'Ollivier', 10, 1, CAST(now() AS BIGINT));
CREATE TABLE ollivier_ricci_10 AS SELECT * FROM ollivier_ricci((SELECT src, dst FROM graphs WHERE graph_id = 10));
INSERT INTO clock VALUES (8, 'Ollivier', 50, 1, CAST(now() AS BIGINT));
CREATE TABLE ollivier_ricci_50 AS SELECT * FROM ollivier_ricci((SELECT src, dst FROM graphs WHERE graph_id = 50));
INSERT INTO clock VALUES (9, 'Ollivier', 100, 1, CAST(now() AS BIGINT));
CREATE TABLE ollivier_ricci_100 AS SELECT * FROM ollivier_ricci((SELECT src, dst FROM graphs WHERE graph_id = 100));
INSERT INTO clock VALUES (10, 'Ollivier', 250, 1, CAST(now() AS BIGINT));
CREATE TABLE ollivier_ricci_250 AS SELECT * FROM ollivier_ricci((SELECT src, dst FROM graphs WHERE graph_id = 250));
INSERT INTO clock VALUES (11, 'Ollivier', 500, 1, CAST(now() AS BIGINT));
CREATE TABLE ollivier_ricci_500 AS SELECT * FROM ollivier_ricci((SELECT src, dst FROM graphs WHERE graph_id = 500));
INSERT INTO clock VALUES (12, 'Ollivier', 1000, 1, CAST(now() AS BIGINT));
CREATE TABLE ollivier_ricci_1000 AS SELECT * FROM ollivier_ricci((SELECT src, dst FROM graphs WHERE graph_id = 1000));
INSERT INTO clock VALUES (13, 'resistance', 10, 1, CAST(now() AS BIGINT));
CREATE TABLE resistance_curvature_10 AS SELECT * FROM resistance_curvature((SELECT src, dst FROM graphs WHERE graph_id = 10));
INSERT INTO clock VALUES (14, 'resistance', 50, 1, CAST(now() AS BIGINT));
CREATE TABLE resistance_curvature_50 AS SELECT * FROM resistance_curvature((SELECT src, dst FROM graphs WHERE graph_id = 50));
INSERT INTO clock VALUES (15, 'resistance', 100, 1, CAST(now() AS BIGINT));
CREATE TABLE resistance_curvature_100 AS SELECT * FROM resistance_curvature((SELECT src, dst FROM graphs WHERE graph_id = 100));
INSERT INTO clock VALUES (16, 'resistance', 250, 1, CAST(now() AS BIGINT));
CREATE TABLE resistance_curvature_250 AS SELECT * FROM resistance_curvature((SELECT src, dst FROM graphs WHERE graph_id = 250));
INSERT INTO clock VALUES (17, 'resistance', 500, 1, CAST(now() AS BIGINT));
CREATE TABLE resistance_curvature_500 AS SELECT * FROM resistance_curvature((SELECT src, dst FROM graphs WHERE graph_id = 500));
INSERT INTO clock VALUES (18, 'resistance', 1000, 1, CAST(now() AS BIGINT));
CREATE TABLE resistance_curvature_1000 AS SELECT * FROM resistance_curvature((SELECT src, dst FROM graphs WHERE graph_id = 1000));
INSERT INTO clock VALUES (19, 'the end', 0, 1, CAST(now() AS BIGINT));

-- Seconds of the whole statement, its planning included: a few thousandths of a small graph's time are not the curvature's.
-- The printed 0.000 is below 0.0005.
CREATE TABLE table_5(curvature TEXT, nodes BIGINT, paper_seconds DOUBLE) AS VALUES
    ('Forman', 10, 0), ('Forman', 50, 0.001), ('Forman', 100, 0.005), ('Forman', 250, 0.054), ('Forman', 500, 0.38), ('Forman', 1000, 2.92),
    ('Ollivier', 10, 0.002), ('Ollivier', 50, 0.038), ('Ollivier', 100, 0.247), ('Ollivier', 250, 4.72), ('Ollivier', 500, 59.27), ('Ollivier', 1000, 1040.7),
    ('resistance', 10, 0.02), ('resistance', 50, 0.7), ('resistance', 100, 6.61), ('resistance', 250, 252.85), ('resistance', 500, 6414.97), ('resistance', 1000, 74366.07);

-- \plot lines nodes our_seconds curvature title='Seconds for a graph'
SELECT nodes, curvature, paper_seconds, round(seconds, 4) AS our_seconds, round(paper_seconds / seconds) AS ratio
FROM (SELECT what AS curvature, nodes, (lead(at) OVER (ORDER BY place) - at) / 1e9 AS seconds FROM clock) AS times
JOIN table_5 USING (curvature, nodes)
ORDER BY nodes, curvature;

-- The values on the largest graph. Dense and random: negative by Forman's many degrees and few triangles, positive by
-- Ollivier's overlapping neighbourhoods, and about 0 on the whole by resistance.
-- \plot none
SELECT 'Forman' AS curvature, min(forman_ricci) AS least, avg(forman_ricci) AS mean, max(forman_ricci) AS largest FROM forman_ricci_1000
UNION ALL SELECT 'Ollivier', min(ollivier_ricci), avg(ollivier_ricci), max(ollivier_ricci) FROM ollivier_ricci_1000
UNION ALL SELECT 'resistance', min(resistance_curvature), avg(resistance_curvature), max(resistance_curvature) FROM resistance_curvature_1000;

-- 3. Two samples of graphs, four distances ---------------------------------------------------------------------------

-- Forman curvature throughout, computed before the clock starts: the 364 ms printed for 1,000 nodes are less than what
-- Table 5 has for the curvature of one such graph. The paper says "graphs in a reference set"; here both samples have as
-- many. Table 7 does not say how many graphs its sets hold: 10.

\set nodes 10
\set graphs 20
\ir running_times_distances.sql
\ir running_times_descriptors.sql
\set graphs 50
\ir running_times_distances.sql
\ir running_times_descriptors.sql
\set graphs 100
\ir running_times_distances.sql
\ir running_times_descriptors.sql
\set graphs 200
\ir running_times_distances.sql
\ir running_times_descriptors.sql
\set graphs 500
\ir running_times_distances.sql
\ir running_times_descriptors.sql
\set graphs 1000
\ir running_times_distances.sql
\ir running_times_descriptors.sql

CREATE TABLE table_6(graphs BIGINT, what TEXT, paper_ms DOUBLE) AS VALUES
    (20, 'degree + MMD', 3.6), (20, 'orbit + MMD', 217.0), (20, 'curvature + MMD', 4.2), (20, 'curvature + landscapes', 12.5),
    (50, 'degree + MMD', 10.9), (50, 'orbit + MMD', 459.0), (50, 'curvature + MMD', 12.4), (50, 'curvature + landscapes', 20.9),
    (100, 'degree + MMD', 34.1), (100, 'orbit + MMD', 887.0), (100, 'curvature + MMD', 37.9), (100, 'curvature + landscapes', 34.4),
    (200, 'degree + MMD', 120.0), (200, 'orbit + MMD', 1960.0), (200, 'curvature + MMD', 133.0), (200, 'curvature + landscapes', 80.4),
    (500, 'degree + MMD', 678.0), (500, 'orbit + MMD', 6740.0), (500, 'curvature + MMD', 727.0), (500, 'curvature + landscapes', 144.0),
    (1000, 'degree + MMD', 2620.0), (1000, 'orbit + MMD', 19900.0), (1000, 'curvature + MMD', 2680.0), (1000, 'curvature + landscapes', 359.0);

-- Table 6: graphs of 10 nodes, by the size of a sample.
-- \plot lines graphs our_ms what title='Milliseconds for two samples of graphs'
SELECT graphs, what, paper_ms, round(ms, 1) AS our_ms
FROM (SELECT what, nodes, graphs, (lead(at) OVER (ORDER BY place) - at) / 1e6 AS ms FROM clock) AS times
JOIN table_6 USING (graphs, what)
WHERE nodes = 10
ORDER BY graphs, what;

\set graphs 10
\set nodes 10
\ir running_times_distances.sql
\set nodes 20
\ir running_times_distances.sql
\set nodes 50
\ir running_times_distances.sql
\set nodes 100
\ir running_times_distances.sql
\set nodes 200
\ir running_times_distances.sql
\set nodes 500
\ir running_times_distances.sql
\set nodes 1000
\ir running_times_distances.sql

CREATE TABLE table_7(nodes BIGINT, what TEXT, paper_ms DOUBLE) AS VALUES
    (10, 'curvature + MMD', 2.3), (10, 'curvature + landscapes', 9.0),
    (20, 'curvature + MMD', 4.5), (20, 'curvature + landscapes', 12.5),
    (50, 'curvature + MMD', 15.8), (50, 'curvature + landscapes', 20.9),
    (100, 'curvature + MMD', 93.6), (100, 'curvature + landscapes', 34.4),
    (200, 'curvature + MMD', 556.0), (200, 'curvature + landscapes', 80.4),
    (500, 'curvature + MMD', 727.0), (500, 'curvature + landscapes', 144.0),
    (1000, 'curvature + MMD', 2800.0), (1000, 'curvature + landscapes', 364.0);

-- Table 7: samples of 10 graphs, by their nodes.
-- \plot lines nodes our_ms what title='Milliseconds for two samples of 10 graphs'
SELECT nodes, what, paper_ms, round(ms, 1) AS our_ms
FROM (SELECT what, nodes, graphs, (lead(at) OVER (ORDER BY place) - at) / 1e6 AS ms FROM clock) AS times
JOIN table_7 USING (nodes, what)
WHERE graphs = 10
ORDER BY nodes, what;
