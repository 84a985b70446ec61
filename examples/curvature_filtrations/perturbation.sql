-- Does a distance between sets of graphs grow with their difference? Table 3 of "Curvature Filtrations for Graph Generative Model
-- Evaluation" (Southern et al., NeurIPS 2023), theirs beside ours: the correlation of the share of edges added or removed with
-- the distance from the graphs as they were, for filtrations, for curvature with MMD, and for the usual descriptors with MMD.
--
--     cargo run --release -- -f examples/curvature_filtrations/perturbation.sql
--
-- The paper perturbs the Community Graph data set and does not say how many graphs, or how often: five sets of 20 graphs here,
-- each of two communities and 60 nodes. Other graphs, other bins: compare which measures come near 1.

-- 1. The graphs ------------------------------------------------------------------------------------------------------

-- Set number s has the graphs 100 s + 1 to 100 s + 20.
CREATE TABLE originals AS
SELECT * FROM community_graph((
    SELECT 100 * sets.value + copy.value AS graph_id, 60 AS n, 100 * sets.value + copy.value AS seed
    FROM generate_series(1, 5) sets, generate_series(1, 20) copy));

CREATE TABLE perturbed AS
SELECT 'adding' AS change, 0.05 AS share, * FROM perturb_edges(originals, add => 0.05, seed => 1)
UNION ALL SELECT 'adding', 0.10, * FROM perturb_edges(originals, add => 0.10, seed => 1)
UNION ALL SELECT 'adding', 0.15, * FROM perturb_edges(originals, add => 0.15, seed => 1)
UNION ALL SELECT 'adding', 0.20, * FROM perturb_edges(originals, add => 0.20, seed => 1)
UNION ALL SELECT 'adding', 0.25, * FROM perturb_edges(originals, add => 0.25, seed => 1)
UNION ALL SELECT 'adding', 0.30, * FROM perturb_edges(originals, add => 0.30, seed => 1)
UNION ALL SELECT 'adding', 0.35, * FROM perturb_edges(originals, add => 0.35, seed => 1)
UNION ALL SELECT 'adding', 0.40, * FROM perturb_edges(originals, add => 0.40, seed => 1)
UNION ALL SELECT 'adding', 0.45, * FROM perturb_edges(originals, add => 0.45, seed => 1)
UNION ALL SELECT 'adding', 0.50, * FROM perturb_edges(originals, add => 0.50, seed => 1)
UNION ALL SELECT 'adding', 0.55, * FROM perturb_edges(originals, add => 0.55, seed => 1)
UNION ALL SELECT 'adding', 0.60, * FROM perturb_edges(originals, add => 0.60, seed => 1)
UNION ALL SELECT 'adding', 0.65, * FROM perturb_edges(originals, add => 0.65, seed => 1)
UNION ALL SELECT 'adding', 0.70, * FROM perturb_edges(originals, add => 0.70, seed => 1)
UNION ALL SELECT 'adding', 0.75, * FROM perturb_edges(originals, add => 0.75, seed => 1)
UNION ALL SELECT 'adding', 0.80, * FROM perturb_edges(originals, add => 0.80, seed => 1)
UNION ALL SELECT 'adding', 0.85, * FROM perturb_edges(originals, add => 0.85, seed => 1)
UNION ALL SELECT 'adding', 0.90, * FROM perturb_edges(originals, add => 0.90, seed => 1)
UNION ALL SELECT 'adding', 0.95, * FROM perturb_edges(originals, add => 0.95, seed => 1)
UNION ALL SELECT 'removing', 0.05, * FROM perturb_edges(originals, remove => 0.05, seed => 1)
UNION ALL SELECT 'removing', 0.10, * FROM perturb_edges(originals, remove => 0.10, seed => 1)
UNION ALL SELECT 'removing', 0.15, * FROM perturb_edges(originals, remove => 0.15, seed => 1)
UNION ALL SELECT 'removing', 0.20, * FROM perturb_edges(originals, remove => 0.20, seed => 1)
UNION ALL SELECT 'removing', 0.25, * FROM perturb_edges(originals, remove => 0.25, seed => 1)
UNION ALL SELECT 'removing', 0.30, * FROM perturb_edges(originals, remove => 0.30, seed => 1)
UNION ALL SELECT 'removing', 0.35, * FROM perturb_edges(originals, remove => 0.35, seed => 1)
UNION ALL SELECT 'removing', 0.40, * FROM perturb_edges(originals, remove => 0.40, seed => 1)
UNION ALL SELECT 'removing', 0.45, * FROM perturb_edges(originals, remove => 0.45, seed => 1)
UNION ALL SELECT 'removing', 0.50, * FROM perturb_edges(originals, remove => 0.50, seed => 1)
UNION ALL SELECT 'removing', 0.55, * FROM perturb_edges(originals, remove => 0.55, seed => 1)
UNION ALL SELECT 'removing', 0.60, * FROM perturb_edges(originals, remove => 0.60, seed => 1)
UNION ALL SELECT 'removing', 0.65, * FROM perturb_edges(originals, remove => 0.65, seed => 1)
UNION ALL SELECT 'removing', 0.70, * FROM perturb_edges(originals, remove => 0.70, seed => 1)
UNION ALL SELECT 'removing', 0.75, * FROM perturb_edges(originals, remove => 0.75, seed => 1)
UNION ALL SELECT 'removing', 0.80, * FROM perturb_edges(originals, remove => 0.80, seed => 1)
UNION ALL SELECT 'removing', 0.85, * FROM perturb_edges(originals, remove => 0.85, seed => 1)
UNION ALL SELECT 'removing', 0.90, * FROM perturb_edges(originals, remove => 0.90, seed => 1)
UNION ALL SELECT 'removing', 0.95, * FROM perturb_edges(originals, remove => 0.95, seed => 1);

-- Every graph by a name of its own; a share of 0 is the graph as it was.
CREATE TABLE graphs AS
SELECT 'none' AS change, 0.0 AS share, graph_id AS number, 'none ' || graph_id AS graph_id, src, dst FROM originals
UNION ALL SELECT change, share, graph_id AS number, concat(change, ' ', share, ' ', graph_id) AS graph_id, src, dst FROM perturbed;

-- 2. Curvature -------------------------------------------------------------------------------------------------------

-- Of every edge of every graph.
CREATE TABLE curved AS
SELECT 'Forman' AS curvature, change, share, number, src, dst, CAST(forman_ricci AS DOUBLE) AS value FROM forman_ricci(graphs)
UNION ALL SELECT 'Ollivier', change, share, number, src, dst, ollivier_ricci FROM ollivier_ricci(graphs)
UNION ALL SELECT 'resistance', change, share, number, src, dst, resistance_curvature FROM resistance_curvature(graphs);

-- 3. Descriptors and landscapes --------------------------------------------------------------------------------------

-- Histograms and spectra of each graph, and the mean landscapes of each set by dimension.
CREATE TABLE descriptors AS
SELECT 'Degrees' AS measure, change, share, number, degree_histogram(src, dst) AS descriptor
FROM graphs GROUP BY change, share, number
UNION ALL SELECT 'Clust. Coeff.', change, share, number, clustering_histogram(src, dst) FROM graphs GROUP BY change, share, number
UNION ALL SELECT 'Laplacian', change, share, number, laplacian_spectrum(src, dst) FROM graphs GROUP BY change, share, number
UNION ALL SELECT 'Forman', change, share, number, curvature_histogram(value, 100, -60.0, 60.0)
          FROM curved WHERE curvature = 'Forman' GROUP BY change, share, number
UNION ALL SELECT 'Ollivier', change, share, number, curvature_histogram(value, 100, -2.0, 1.0)
          FROM curved WHERE curvature = 'Ollivier' GROUP BY change, share, number
UNION ALL SELECT 'resistance', change, share, number, curvature_histogram(value, 100, -20.0, 2.0)
          FROM curved WHERE curvature = 'resistance' GROUP BY change, share, number;

CREATE TABLE means AS
SELECT curvature, change, share, number / 100 AS sample, dim, landscape_mean(persistence_landscape(diagram, dim)) AS landscape
FROM (SELECT curvature, change, share, number,
             persistence_diagram(src, dst, value, expand => 2, vertices => 'lowest') AS diagram
      FROM curved GROUP BY curvature, change, share, number), (VALUES (0), (1)) dims(dim)
GROUP BY curvature, change, share, number / 100, dim;

-- 4. Distances from the graphs as they were --------------------------------------------------------------------------

-- Of filtrations by Algorithm 2 of the paper, the difference of the largest heights of the mean landscapes, and by the L^2
-- distance of the mean landscapes themselves.
CREATE TABLE distances AS
SELECT 'Filtration (' || a.curvature || ')' AS measure, a.change, a.share, a.sample,
       sqrt(sum(power(landscape_norm(a.landscape, 'inf') - landscape_norm(b.landscape, 'inf'), 2))) AS distance
FROM means a
JOIN means b ON b.change = 'none' AND a.curvature = b.curvature AND a.sample = b.sample AND a.dim = b.dim
WHERE a.change <> 'none'
GROUP BY a.curvature, a.change, a.share, a.sample
UNION ALL
SELECT 'Filtration (' || a.curvature || '), L^2', a.change, a.share, a.sample, sum(landscape_distance(a.landscape, b.landscape))
FROM means a
JOIN means b ON b.change = 'none' AND a.curvature = b.curvature AND a.sample = b.sample AND a.dim = b.dim
WHERE a.change <> 'none'
GROUP BY a.curvature, a.change, a.share, a.sample
UNION ALL
SELECT measure, change, share, sample, mmd(descriptor, side)
FROM (SELECT measure, change, share, number / 100 AS sample, 1 AS side, descriptor FROM descriptors WHERE change <> 'none'
      UNION ALL
      SELECT o.measure, s.change, s.share, o.number / 100, 0, o.descriptor
      FROM descriptors o, (SELECT DISTINCT change, share FROM perturbed) s WHERE o.change = 'none')
GROUP BY measure, change, share, sample;

-- At a share of 0 the distance is 0.
CREATE TABLE correlations AS
SELECT measure, change, sample, corr(share, distance) AS correlation
FROM (SELECT * FROM distances UNION ALL SELECT DISTINCT measure, change, 0.0, sample, 0.0 FROM distances)
GROUP BY measure, change, sample;

-- 5. The paper's table -----------------------------------------------------------------------------------------------

CREATE TABLE table_3(place INT, measure TEXT, change TEXT, paper TEXT) AS VALUES
    (1, 'Laplacian', 'adding', '0.457 +- 0.013'), (1, 'Laplacian', 'removing', '0.420 +- 0.000'),
    (2, 'Clust. Coeff.', 'adding', '0.480 +- 0.012'), (2, 'Clust. Coeff.', 'removing', '0.504 +- 0.020'),
    (3, 'Degrees', 'adding', '0.761 +- 0.003'), (3, 'Degrees', 'removing', '0.995 +- 0.000'),
    (4, 'Forman', 'adding', '0.420 +- 0.000'), (4, 'Forman', 'removing', '0.432 +- 0.003'),
    (5, 'Ollivier', 'adding', '0.903 +- 0.005'), (5, 'Ollivier', 'removing', '0.910 +- 0.002'),
    (6, 'resistance', 'adding', '0.420 +- 0.004'), (6, 'resistance', 'removing', '0.441 +- 0.005'),
    (7, 'Filtration (Forman)', 'adding', '0.571 +- 0.006'), (7, 'Filtration (Forman)', 'removing', '0.996 +- 0.006'),
    (8, 'Filtration (Ollivier)', 'adding', '0.997 +- 0.000'), (8, 'Filtration (Ollivier)', 'removing', '0.970 +- 0.005'),
    (9, 'Filtration (resistance)', 'adding', '0.730 +- 0.005'), (9, 'Filtration (resistance)', 'removing', '0.954 +- 0.008'),
    (10, 'Filtration (Forman), L^2', 'adding', NULL), (10, 'Filtration (Forman), L^2', 'removing', NULL),
    (11, 'Filtration (Ollivier), L^2', 'adding', NULL), (11, 'Filtration (Ollivier), L^2', 'removing', NULL),
    (12, 'Filtration (resistance), L^2', 'adding', NULL), (12, 'Filtration (resistance), L^2', 'removing', NULL);

-- \plot bars measure ours change title='Correlation with the share of edges changed'
\echo
\echo Table 3: Pearson correlation with the share of edges added or removed, mean and deviation over the sets
SELECT change, measure, paper, round(avg(correlation), 3) AS ours, round(stddev(correlation), 3) AS deviation
FROM correlations JOIN table_3 USING (measure, change)
GROUP BY change, place, measure, paper ORDER BY change, place;
