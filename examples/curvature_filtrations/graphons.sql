-- Can graphs be sorted by the graphon that they were drawn from? Fig. 2a of "Curvature Filtrations for Graph Generative Model
-- Evaluation" (Southern et al., NeurIPS 2023): distances of curvature filtrations, spectral clustering, adjusted Rand index.
--
--     cargo run --release -- -f examples/curvature_filtrations/graphons.sql
--
-- The paper shows bars and no figures, and does not say how many graphs there are: 20 of each graphon here, of 9 to 37 nodes
-- as in Sec. 4.5.

-- 1. The graphs ------------------------------------------------------------------------------------------------------

-- Four graphons, w1 to w4; the seed of a graph is its number.
CREATE TABLE parameters AS
SELECT 100 * w.value + copy.value AS graph_id, 'w' || w.value AS w, 9 + (7 * copy.value + 5 * w.value) % 29 AS n,
       1000 * w.value + copy.value AS seed
FROM generate_series(1, 4) w, generate_series(1, 20) copy;

CREATE TABLE graphs AS SELECT * FROM graphon(parameters);

-- 2. Landscapes ------------------------------------------------------------------------------------------------------

-- Of the filtrations by curvature, of components and of cycles; the distance of two graphs is the sum of both.
CREATE TABLE curved AS
SELECT 'Forman' AS curvature, graph_id, src, dst, CAST(forman_ricci AS DOUBLE) AS value FROM forman_ricci(graphs)
UNION ALL SELECT 'Ollivier', graph_id, src, dst, ollivier_ricci FROM ollivier_ricci(graphs)
UNION ALL SELECT 'resistance', graph_id, src, dst, resistance_curvature FROM resistance_curvature(graphs);

CREATE TABLE landscapes AS
SELECT curvature, graph_id, persistence_landscape(diagram, 0) AS components, persistence_landscape(diagram, 1) AS cycles
FROM (SELECT curvature, graph_id, persistence_diagram(src, dst, value, expand => 2, vertices => 'lowest') AS diagram
      FROM curved GROUP BY curvature, graph_id);

CREATE TABLE distances AS
SELECT x.curvature, x.graph_id AS a, y.graph_id AS b,
       landscape_distance(x.components, y.components) + landscape_distance(x.cycles, y.cycles) AS distance
FROM landscapes x JOIN landscapes y ON x.curvature = y.curvature AND x.graph_id < y.graph_id;

-- 3. Clusters of three and of four graphons ---------------------------------------------------------------------------

-- As many clusters as graphons are mixed.
CREATE VIEW clusters AS
SELECT 'W1 W2 W3' AS graphons, 'Forman' AS curvature, * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'Forman' AND a / 100 <> 4 AND b / 100 <> 4), clusters => 3)
UNION ALL SELECT 'W1 W2 W3', 'Ollivier', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'Ollivier' AND a / 100 <> 4 AND b / 100 <> 4), clusters => 3)
UNION ALL SELECT 'W1 W2 W3', 'resistance', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'resistance' AND a / 100 <> 4 AND b / 100 <> 4), clusters => 3)
UNION ALL SELECT 'W1 W2 W4', 'Forman', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'Forman' AND a / 100 <> 3 AND b / 100 <> 3), clusters => 3)
UNION ALL SELECT 'W1 W2 W4', 'Ollivier', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'Ollivier' AND a / 100 <> 3 AND b / 100 <> 3), clusters => 3)
UNION ALL SELECT 'W1 W2 W4', 'resistance', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'resistance' AND a / 100 <> 3 AND b / 100 <> 3), clusters => 3)
UNION ALL SELECT 'W1 W3 W4', 'Forman', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'Forman' AND a / 100 <> 2 AND b / 100 <> 2), clusters => 3)
UNION ALL SELECT 'W1 W3 W4', 'Ollivier', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'Ollivier' AND a / 100 <> 2 AND b / 100 <> 2), clusters => 3)
UNION ALL SELECT 'W1 W3 W4', 'resistance', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'resistance' AND a / 100 <> 2 AND b / 100 <> 2), clusters => 3)
UNION ALL SELECT 'W2 W3 W4', 'Forman', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'Forman' AND a / 100 <> 1 AND b / 100 <> 1), clusters => 3)
UNION ALL SELECT 'W2 W3 W4', 'Ollivier', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'Ollivier' AND a / 100 <> 1 AND b / 100 <> 1), clusters => 3)
UNION ALL SELECT 'W2 W3 W4', 'resistance', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'resistance' AND a / 100 <> 1 AND b / 100 <> 1), clusters => 3)
UNION ALL SELECT 'W1 W2 W3 W4', 'Forman', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'Forman'), clusters => 4)
UNION ALL SELECT 'W1 W2 W3 W4', 'Ollivier', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'Ollivier'), clusters => 4)
UNION ALL SELECT 'W1 W2 W3 W4', 'resistance', * FROM spectral_clustering((SELECT a, b, distance FROM distances
    WHERE curvature = 'resistance'), clusters => 4);

\echo
\echo Fig. 2a: adjusted Rand index of clusters and graphons (in the paper Ollivier is best, then resistance, then Forman)
SELECT graphons, curvature, count(*) AS graphs, round(adjusted_rand_index(cluster_id, item / 100), 3) AS adjusted_rand_index
FROM clusters GROUP BY graphons, curvature ORDER BY graphons, adjusted_rand_index DESC;
