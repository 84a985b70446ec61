-- Which of BREC's pairs of graphs can curvature tell apart, which its filtration, and which the tests of Weisfeiler and Leman? Table 2
-- of "Curvature Filtrations for Graph Generative Model Evaluation" (Southern et al., NeurIPS 2023), theirs beside ours.
--
--     cargo run --release -- -v data=DIR -f examples/curvature_filtrations/brec.sql
--
-- DIR/brec/raw holds the benchmark's pairs (github.com/GraphPKU/BREC, Data/raw). The paper has rates over 56, 50, 50, 97 and 97
-- pairs; the files hold 60, 50, 50, 100 and 100, and 20 pairs each of graphs with the 4-vertex condition and of
-- distance-regular ones: compare rates.

\set folder :data /brec/raw
ATTACH :'folder' AS brec (TYPE brec);

-- 1. Curvature -------------------------------------------------------------------------------------------------------

-- Of every edge of every graph, and the persistence diagram of its filtration by these values.
CREATE TABLE curved AS
SELECT 'Forman' AS curvature, graph_id, src, dst, CAST(forman_ricci AS DOUBLE) AS value FROM forman_ricci(brec.edges)
UNION ALL SELECT 'Ollivier, uniform', graph_id, src, dst, ollivier_ricci FROM ollivier_ricci(brec.edges)
UNION ALL SELECT 'Ollivier, random walk', graph_id, src, dst, ollivier_ricci
          FROM ollivier_ricci(brec.edges, measure => 'random_walk')
UNION ALL SELECT 'resistance', graph_id, src, dst, resistance_curvature FROM resistance_curvature(brec.edges);

CREATE TABLE diagrams AS
SELECT curvature, graph_id, persistence_diagram(src, dst, value, expand => 2, vertices => 'lowest') AS diagram
FROM curved GROUP BY curvature, graph_id;

-- 2. Pairs told apart ------------------------------------------------------------------------------------------------

-- By the values: two distributions of values are at distance 0 in the paper where they are the same; the values of two graphs are
-- the same here with their numbers, to 8 digits. Adding 0 makes -0 and 0 one number.
CREATE TABLE by_values AS
SELECT curvature, category, pair, count(DISTINCT print) > 1 AS apart
FROM (SELECT curvature, graph_id, string_agg(CAST(value AS TEXT), ' ' ORDER BY value) AS print
      FROM (SELECT curvature, graph_id, round(value, 8) + 0.0 AS value FROM curved)
      GROUP BY curvature, graph_id)
JOIN brec.graphs USING (graph_id)
GROUP BY curvature, category, pair;

CREATE TABLE by_filtration AS
SELECT a.curvature, g.category, g.pair, bottleneck_distance(a.diagram, b.diagram) > 1e-8 AS apart
FROM brec.graphs g
JOIN brec.graphs h ON g.category = h.category AND g.pair = h.pair AND g.side < h.side
JOIN diagrams a ON a.graph_id = g.graph_id
JOIN diagrams b ON b.graph_id = h.graph_id AND b.curvature = a.curvature;

CREATE TABLE rates AS
SELECT filtration, curvature, category, count(*) AS pairs, avg(CASE WHEN apart THEN 1.0 ELSE 0.0 END) AS rate
FROM (SELECT false AS filtration, * FROM by_values UNION ALL SELECT true, * FROM by_filtration)
GROUP BY filtration, curvature, category;

-- By the tests: 1-WL; 3-WL, which is the folklore 2-WL; 1-WL from counts of substructures of up to 3 and 4 nodes, S3 and S4.
CREATE TABLE by_test AS
SELECT test, category, pair, count(DISTINCT hash) > 1 AS apart
FROM (SELECT '1-WL' AS test, graph_id, wl_hash(src, dst) AS hash FROM brec.edges GROUP BY graph_id
      UNION ALL SELECT '3-WL', graph_id, wl_hash(src, dst, k => 3) FROM brec.edges GROUP BY graph_id
      UNION ALL SELECT 'S3', graph_id, wl_hash(src, dst, substructures => 3) FROM brec.edges GROUP BY graph_id
      UNION ALL SELECT 'S4', graph_id, wl_hash(src, dst, substructures => 4) FROM brec.edges GROUP BY graph_id)
JOIN brec.graphs USING (graph_id)
GROUP BY test, category, pair;

-- 3. The paper's table -----------------------------------------------------------------------------------------------

-- Table 2. The text does not say which measure its Ollivier curvature has: both stand beside it (its figures are the uniform one's).
CREATE TABLE table_2(filtration BOOLEAN, curvature TEXT, category TEXT, paper DOUBLE) AS VALUES
    (false, 'Ollivier', 'basic', 1.00), (false, 'Ollivier', 'regular', 0.96), (false, 'Ollivier', 'str', 0.06),
    (false, 'Ollivier', 'extension', 0.93), (false, 'Ollivier', 'cfi', 0.00),
    (false, 'Forman', 'basic', 0.96), (false, 'Forman', 'regular', 0.92), (false, 'Forman', 'str', 0.00),
    (false, 'Forman', 'extension', 0.52), (false, 'Forman', 'cfi', 0.00),
    (false, 'resistance', 'basic', 1.00), (false, 'resistance', 'regular', 1.00), (false, 'resistance', 'str', 0.00),
    (false, 'resistance', 'extension', 1.00), (false, 'resistance', 'cfi', 0.04),
    (true, 'Ollivier', 'basic', 1.00), (true, 'Ollivier', 'regular', 1.00), (true, 'Ollivier', 'str', 0.08),
    (true, 'Ollivier', 'extension', 0.95), (true, 'Ollivier', 'cfi', 0.00),
    (true, 'Forman', 'basic', 0.98), (true, 'Forman', 'regular', 0.96), (true, 'Forman', 'str', 0.04),
    (true, 'Forman', 'extension', 0.61), (true, 'Forman', 'cfi', 0.00),
    (true, 'resistance', 'basic', 1.00), (true, 'resistance', 'regular', 1.00), (true, 'resistance', 'str', 0.04),
    (true, 'resistance', 'extension', 1.00), (true, 'resistance', 'cfi', 0.04);

-- \plot points paper ours curvature title='Ours beside the paper'
\echo
\echo Table 2: share of pairs told apart, by the values and by their filtration
SELECT r.category, r.filtration, r.curvature, r.pairs, t.paper, round(r.rate, 2) AS ours
FROM rates r
LEFT JOIN table_2 t ON t.filtration = r.filtration AND t.category = r.category
                   AND t.curvature = split_part(r.curvature, ',', 1)
ORDER BY r.category, r.filtration, r.curvature;

-- 4. The tests -------------------------------------------------------------------------------------------------------

-- Table 2's upper rows; that of S4, and 3-WL on strongly regular graphs, are not at hand. The authors of BREC count all 400 pairs, those of strongly regular graphs, of
-- graphs with the 4-vertex condition and of distance-regular ones among the regular: 3-WL 60, 50, 100 and 60, in all 270; S3 52, 48, 5
-- and 0; S4 60, 99, 84 and 0 (Wang and Zhang, ICML 2024, Table 2).
CREATE TABLE tests_2(test TEXT, category TEXT, paper DOUBLE) AS VALUES
    ('1-WL', 'basic', 0.00), ('1-WL', 'regular', 0.00), ('1-WL', 'str', 0.00), ('1-WL', 'extension', 0.00), ('1-WL', 'cfi', 0.00),
    ('3-WL', 'basic', 1.00), ('3-WL', 'regular', 1.00), ('3-WL', 'extension', 1.00), ('3-WL', 'cfi', 0.59),
    ('S3', 'basic', 0.86), ('S3', 'regular', 0.96), ('S3', 'str', 0.00), ('S3', 'extension', 0.05), ('S3', 'cfi', 0.00);

CREATE TABLE brec_table(test TEXT, family TEXT, printed BIGINT) AS VALUES
    ('1-WL', 'basic', 0), ('1-WL', 'regular', 0), ('1-WL', 'extension', 0), ('1-WL', 'cfi', 0),
    ('3-WL', 'basic', 60), ('3-WL', 'regular', 50), ('3-WL', 'extension', 100), ('3-WL', 'cfi', 60),
    ('S3', 'basic', 52), ('S3', 'regular', 48), ('S3', 'extension', 5), ('S3', 'cfi', 0),
    ('S4', 'basic', 60), ('S4', 'regular', 99), ('S4', 'extension', 84), ('S4', 'cfi', 0);

\echo
\echo Table 2: share of pairs told apart by the tests of Weisfeiler and Leman
SELECT category, test, count(*) AS pairs, paper, round(avg(CASE WHEN apart THEN 1.0 ELSE 0.0 END), 2) AS ours
FROM by_test LEFT JOIN tests_2 USING (test, category) GROUP BY category, test, paper ORDER BY category, test;

\echo
\echo The counts that the authors of BREC print, over all of its 400 pairs
SELECT family, test, pairs, printed, ours
FROM (SELECT CASE WHEN category IN ('str', '4vtx', 'dr') THEN 'regular' ELSE category END AS family, test, count(*) AS pairs,
             count(*) FILTER (WHERE apart) AS ours
      FROM by_test GROUP BY 1, 2)
JOIN brec_table USING (test, family) ORDER BY test, family;
