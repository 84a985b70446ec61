-- Are two sets of graphs alike? Permutation tests between the mean landscapes of four sets: Fig. 2b of "Curvature Filtrations
-- for Graph Generative Model Evaluation" (Southern et al., NeurIPS 2023).
--
--     cargo run --release -- -v data=DIR -v first=KKI -v second=Peking_1 -v third=ENZYMES -v fourth=MUTAG \
--         -f examples/curvature_filtrations/permutation_tests.sql
--
-- DIR/tu holds the sets of the TU Dortmund collection (chrsmrrs.github.io/datasets), a folder or zip each; any four will do. The
-- paper has KKI, PROTEINS, Peking and ENZYMES, and colours in the place of figures.

\set folder_1 :data /tu/ :first
\set folder_2 :data /tu/ :second
\set folder_3 :data /tu/ :third
\set folder_4 :data /tu/ :fourth
ATTACH :'folder_1' AS set_1 (TYPE tu);
ATTACH :'folder_2' AS set_2 (TYPE tu);
ATTACH :'folder_3' AS set_3 (TYPE tu);
ATTACH :'folder_4' AS set_4 (TYPE tu);

-- 1. The graphs ------------------------------------------------------------------------------------------------------

-- Of the four sets, each graph by its set and number.
CREATE TABLE graphs AS
SELECT :'first' AS dataset, :'first' || ' ' || graph_id AS graph_id, src, dst FROM set_1.edges
UNION ALL SELECT :'second', :'second' || ' ' || graph_id, src, dst FROM set_2.edges
UNION ALL SELECT :'third', :'third' || ' ' || graph_id, src, dst FROM set_3.edges
UNION ALL SELECT :'fourth', :'fourth' || ' ' || graph_id, src, dst FROM set_4.edges;

-- 2. Diagrams --------------------------------------------------------------------------------------------------------

-- Of the filtrations by three curvatures.
CREATE TABLE curved AS
SELECT 'Forman' AS curvature, dataset, graph_id, src, dst, CAST(forman_ricci AS DOUBLE) AS value FROM forman_ricci(graphs)
UNION ALL SELECT 'Ollivier', dataset, graph_id, src, dst, ollivier_ricci FROM ollivier_ricci(graphs)
UNION ALL SELECT 'resistance', dataset, graph_id, src, dst, resistance_curvature FROM resistance_curvature(graphs);

CREATE TABLE diagrams AS
SELECT curvature, dataset, graph_id, persistence_diagram(src, dst, value, expand => 2, vertices => 'lowest') AS diagram,
       -- The paper takes ten graphs of each set; these are chosen by a hash, so that every run has the same.
       row_number() OVER (PARTITION BY curvature, dataset ORDER BY md5(graph_id)) AS place
FROM curved GROUP BY curvature, dataset, graph_id;

-- 3. Tests -----------------------------------------------------------------------------------------------------------

-- Every pair of sets, by each curvature: is the distance of their mean landscapes larger than that of sets drawn at random from both?
CREATE TABLE pairs AS
SELECT a.dataset AS a, b.dataset AS b
FROM (SELECT DISTINCT dataset FROM diagrams) a, (SELECT DISTINCT dataset FROM diagrams) b WHERE a.dataset < b.dataset;

CREATE TABLE tests AS
SELECT size, curvature, a, b, count(*) AS graphs, permutation_test(diagram, dataset) AS test
FROM (SELECT 'ten' AS size, * FROM diagrams WHERE place <= 10 UNION ALL SELECT 'all', * FROM diagrams)
JOIN pairs ON dataset = a OR dataset = b
GROUP BY size, curvature, a, b;

-- \plot points distance p_value curvature title='Ten graphs of each set'
\echo
\echo Fig. 2b: ten graphs of each set; share_above is what the paper shows. Below 0.05 two sets are told apart
SELECT a, b, curvature, round(test['distance'], 4) AS distance, test['share_above'] AS share_above,
       round(test['p_value'], 4) AS p_value
FROM tests WHERE size = 'ten' ORDER BY a, b, curvature;

-- \plot points distance p_value curvature title='All graphs'
\echo All graphs of each set
SELECT a, b, curvature, graphs, round(test['distance'], 4) AS distance, test['share_above'] AS share_above,
       round(test['p_value'], 4) AS p_value
FROM tests WHERE size = 'all' ORDER BY a, b, curvature;
