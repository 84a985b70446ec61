-- Which strongly regular graphs can curvature tell apart, and which its filtration? Table 1 of "Curvature Filtrations for
-- Graph Generative Model Evaluation" (Southern et al., NeurIPS 2023), theirs beside ours, and on more families.
--
--     cargo run --release -- -v data=DIR -f examples/curvature_filtrations/strongly_regular.sql
--
-- DIR/strongly-regular holds a folder a family with its graphs in graph6 (math.ihes.fr/~spence, McKay's lists). The paper's
-- fourth family, sr401224, is not among them.

\set folder :data /strongly-regular
ATTACH :'folder' AS sr;

-- 1. The graphs ------------------------------------------------------------------------------------------------------

-- Eight families; all graphs of one have the same parameters.
CREATE TABLE graphs AS
SELECT 'sr16622' AS family, 'sr16622/' || graph_id AS graph_id, src, dst FROM sr.sr16622.edges
UNION ALL SELECT 'sr251256', 'sr251256/' || graph_id, src, dst FROM sr.sr251256.edges
UNION ALL SELECT 'sr261034', 'sr261034/' || graph_id, src, dst FROM sr.sr261034.edges
UNION ALL SELECT 'sr281264', 'sr281264/' || graph_id, src, dst FROM sr.sr281264.edges
UNION ALL SELECT 'sr291467', 'sr291467/' || graph_id, src, dst FROM sr.sr291467.edges
UNION ALL SELECT 'sr351668', 'sr351668/' || graph_id, src, dst FROM sr.sr351668.edges
UNION ALL SELECT 'sr351899', 'sr351899/' || graph_id, src, dst FROM sr.sr351899.edges
UNION ALL SELECT 'sr361446', 'sr361446/' || graph_id, src, dst FROM sr.sr361446.edges;

-- 2. Curvature, and a constant in its place --------------------------------------------------------------------------

-- A filtration by a constant knows the graph alone.
CREATE TABLE curved AS
SELECT 'constant' AS curvature, family, graph_id, src, dst, 0.0 AS value FROM graphs
UNION ALL SELECT 'Forman', family, graph_id, src, dst, CAST(forman_ricci AS DOUBLE) FROM forman_ricci(graphs)
UNION ALL SELECT 'Ollivier, uniform', family, graph_id, src, dst, ollivier_ricci FROM ollivier_ricci(graphs)
UNION ALL SELECT 'Ollivier, random walk', family, graph_id, src, dst, ollivier_ricci
          FROM ollivier_ricci(graphs, measure => 'random_walk')
UNION ALL SELECT 'resistance', family, graph_id, src, dst, resistance_curvature FROM resistance_curvature(graphs);

CREATE TABLE diagrams AS
SELECT curvature, family, graph_id,
       persistence_diagram(src, dst, value, expand => 2, vertices => 'lowest', essential => 'infinite') AS diagram
FROM curved GROUP BY curvature, family, graph_id;

-- 3. Two graphs are told apart if their values are not the same, or their diagrams -------------------------------------

-- Values to 8 digits, as the paper compares them; adding 0 makes -0 and 0 one number.
CREATE TABLE prints AS
SELECT curvature, false AS filtration, family, graph_id, string_agg(CAST(value AS TEXT), ' ' ORDER BY value) AS print
FROM (SELECT curvature, family, graph_id, round(value, 8) + 0.0 AS value FROM curved)
GROUP BY curvature, family, graph_id
UNION ALL
SELECT curvature, true, family, graph_id, string_agg(concat(dim, ':', birth, ':', death), ' ' ORDER BY dim, birth, death)
FROM (SELECT curvature, family, graph_id, dim, round(birth, 8) + 0.0 AS birth, round(death, 8) + 0.0 AS death
      FROM flatten(diagrams, diagram) WHERE death - birth > 1e-8)
GROUP BY curvature, family, graph_id;

-- Of n graphs in groups of sizes c, the pairs within a group are not told apart.
CREATE TABLE rates AS
SELECT curvature, filtration, family, CAST(sum(size) AS BIGINT) AS graphs,
       1.0 - sum(size * (size - 1)) / CAST(sum(size) * (sum(size) - 1) AS DOUBLE) AS rate
FROM (SELECT curvature, filtration, family, print, count(*) AS size FROM prints GROUP BY curvature, filtration, family, print)
GROUP BY curvature, filtration, family;

-- 4. The paper's table -----------------------------------------------------------------------------------------------

-- Table 1. Its Ollivier curvature is that of random walks of up to two steps (App. F); for the uniform measure the text
-- gives 0.0 and 0.2 on sr261034. Its last row filters by a constant.
CREATE TABLE table_1(curvature TEXT, filtration BOOLEAN, family TEXT, paper DOUBLE) AS VALUES
    ('Forman', false, 'sr16622', 0.00), ('Forman', false, 'sr261034', 0.00), ('Forman', false, 'sr281264', 0.00),
    ('Ollivier, random walk', false, 'sr16622', 1.00), ('Ollivier, random walk', false, 'sr261034', 0.78),
    ('Ollivier, random walk', false, 'sr281264', 1.00),
    ('resistance', false, 'sr16622', 0.00), ('resistance', false, 'sr261034', 0.00), ('resistance', false, 'sr281264', 0.00),
    ('Forman', true, 'sr16622', 1.00), ('Forman', true, 'sr261034', 0.20), ('Forman', true, 'sr281264', 0.00),
    ('Ollivier, random walk', true, 'sr16622', 1.00), ('Ollivier, random walk', true, 'sr261034', 0.89),
    ('Ollivier, random walk', true, 'sr281264', 1.00),
    ('resistance', true, 'sr16622', 1.00), ('resistance', true, 'sr261034', 0.20), ('resistance', true, 'sr281264', 0.00),
    ('Ollivier, uniform', false, 'sr261034', 0.00), ('Ollivier, uniform', true, 'sr261034', 0.20);

-- \plot points paper ours curvature title='Ours beside the paper'
\echo
\echo Table 1: share of pairs told apart, by the values and by their filtration
SELECT filtration, curvature, family, graphs, paper, round(rate, 2) AS ours
FROM rates LEFT JOIN table_1 USING (curvature, filtration, family)
ORDER BY family, filtration, curvature;

-- 5. The same by the bottleneck distance, as the paper does it -------------------------------------------------------

-- All pairs of the families of at most 50 graphs.
CREATE TABLE distances AS
SELECT a.curvature, a.family, avg(CASE WHEN bottleneck_distance(a.diagram, b.diagram) > 1e-8 THEN 1.0 ELSE 0.0 END) AS rate
FROM diagrams a JOIN diagrams b ON a.curvature = b.curvature AND a.family = b.family AND a.graph_id < b.graph_id
WHERE a.family IN (SELECT family FROM rates WHERE graphs <= 50)
GROUP BY a.curvature, a.family;

\echo Where the bottleneck distance says otherwise: nowhere
SELECT curvature, family, rates.rate AS by_digits, distances.rate AS by_distance
FROM rates JOIN distances USING (curvature, family)
WHERE filtration AND abs(rates.rate - distances.rate) > 1e-9;

-- 6. The tests of Weisfeiler and Leman -------------------------------------------------------------------------------

-- 1-WL and 3-WL (the folklore 2-WL) tell no two graphs of a family apart; counts of substructures of 4 nodes do.
CREATE TABLE hashes AS
SELECT '1-WL' AS test, family, graph_id, wl_hash(src, dst) AS hash FROM graphs GROUP BY family, graph_id
UNION ALL SELECT '3-WL', family, graph_id, wl_hash(src, dst, k => 3) FROM graphs GROUP BY family, graph_id
UNION ALL SELECT 'S3', family, graph_id, wl_hash(src, dst, substructures => 3) FROM graphs GROUP BY family, graph_id
UNION ALL SELECT 'S4', family, graph_id, wl_hash(src, dst, substructures => 4) FROM graphs GROUP BY family, graph_id;

\echo
\echo Share of pairs told apart by the tests
SELECT family, test, CAST(sum(size) AS BIGINT) AS graphs,
       round(1.0 - sum(size * (size - 1)) / CAST(sum(size) * (sum(size) - 1) AS DOUBLE), 2) AS ours
FROM (SELECT test, family, hash, count(*) AS size FROM hashes GROUP BY test, family, hash)
GROUP BY family, test ORDER BY family, test;
