-- Part of running_times.sql: compares two samples of :graphs Erdos-Renyi graphs of :nodes nodes each, p = 0.3, by their
-- curvature, and stamps the clock in between.

CREATE OR REPLACE TABLE samples AS
SELECT graph_id, graph_id > :graphs AS generated, src, dst, forman_ricci
FROM forman_ricci((SELECT * FROM erdos_renyi((
    SELECT value AS graph_id, :nodes AS n, 0.3 AS p, value AS seed FROM generate_series(1, 2 * :graphs)))));

INSERT INTO clock
SELECT 1 + count(*) AS place, 'curvature + MMD' AS what, :nodes AS nodes, :graphs AS graphs, CAST(now() AS BIGINT) AS at FROM clock;
CREATE OR REPLACE TABLE distance AS
SELECT mmd(descriptor, generated) AS distance FROM (
    SELECT generated, curvature_histogram(forman_ricci, 100, -:nodes, :nodes) AS descriptor
    FROM samples GROUP BY graph_id, generated);

INSERT INTO clock
SELECT 1 + count(*) AS place, 'curvature + landscapes' AS what, :nodes AS nodes, :graphs AS graphs, CAST(now() AS BIGINT) AS at FROM clock;
CREATE OR REPLACE TABLE distance AS
WITH diagrams AS (
    SELECT generated, persistence_diagram(src, dst, forman_ricci) AS diagram
    FROM samples GROUP BY graph_id, generated),
means AS (
    SELECT generated, landscape_mean(persistence_landscape(diagram, 0)) AS components,
           landscape_mean(persistence_landscape(diagram, 1)) AS cycles
    FROM diagrams GROUP BY generated)
SELECT landscape_distance(a.components, b.components) + landscape_distance(a.cycles, b.cycles) AS distance
FROM means a JOIN means b ON NOT a.generated AND b.generated;

INSERT INTO clock
SELECT 1 + count(*) AS place, 'between' AS what, 0 AS nodes, 0 AS graphs, CAST(now() AS BIGINT) AS at FROM clock;
