-- Metric curves beside performance curves: regular graphs with the features of Cora, over the edge homophily.
--
--     cargo run -- -v data=DIR -f examples/heterophily/metric_curves.sql
--
-- DIR holds planetoid/cora (github.com/kimiyoung/planetoid). The setting is that of Luan et al., Are heterophilic GNNs and
-- homophily metrics really effective?, Sec. 4, at a smaller size: seven levels of homophily, one graph each, 100 nodes a
-- class. Features of a node are those of a random node of its class in Cora, as the paper samples them.

\set cora :data /planetoid/cora
ATTACH :'cora' AS cora;

-- 1. Graphs: one generator, seven levels --------------------------------------------------------------------------------

CREATE TABLE levels AS SELECT column1 AS graph_id, column2 AS h FROM (VALUES
    (1, 0.05), (2, 0.15), (3, 0.3), (4, 0.45), (5, 0.6), (6, 0.8), (7, 0.95));

CREATE TABLE edges AS
SELECT * FROM regular_homophily((SELECT graph_id, h, graph_id AS seed FROM levels), nodes_per_class => 100, intra_edges => 200);

-- Of each class of Cora the nodes 0, 1, ...; a hash of graph and node draws one of them.
CREATE TABLE pool AS
SELECT label, features, CAST(row_number() OVER (PARTITION BY label ORDER BY node) AS BIGINT) - 1 AS k, count(*) OVER (PARTITION BY label) AS n
FROM cora.nodes;

CREATE TABLE nodes AS
SELECT l.graph_id, v.value AS node, p.label, p.features
FROM levels l CROSS JOIN generate_series(0, 499) v
JOIN pool p ON p.label = v.value / 100 AND p.k = (v.value * 40503 + l.graph_id * 7919) * 2654435761 % 4294967296 % p.n;

CREATE SCHEMA g1;
CREATE VIEW g1.nodes AS SELECT node, label, features FROM nodes WHERE graph_id = 1;
CREATE VIEW g1.edges AS SELECT src, dst FROM edges WHERE graph_id = 1;
CREATE SCHEMA g2;
CREATE VIEW g2.nodes AS SELECT node, label, features FROM nodes WHERE graph_id = 2;
CREATE VIEW g2.edges AS SELECT src, dst FROM edges WHERE graph_id = 2;
CREATE SCHEMA g3;
CREATE VIEW g3.nodes AS SELECT node, label, features FROM nodes WHERE graph_id = 3;
CREATE VIEW g3.edges AS SELECT src, dst FROM edges WHERE graph_id = 3;
CREATE SCHEMA g4;
CREATE VIEW g4.nodes AS SELECT node, label, features FROM nodes WHERE graph_id = 4;
CREATE VIEW g4.edges AS SELECT src, dst FROM edges WHERE graph_id = 4;
CREATE SCHEMA g5;
CREATE VIEW g5.nodes AS SELECT node, label, features FROM nodes WHERE graph_id = 5;
CREATE VIEW g5.edges AS SELECT src, dst FROM edges WHERE graph_id = 5;
CREATE SCHEMA g6;
CREATE VIEW g6.nodes AS SELECT node, label, features FROM nodes WHERE graph_id = 6;
CREATE VIEW g6.edges AS SELECT src, dst FROM edges WHERE graph_id = 6;
CREATE SCHEMA g7;
CREATE VIEW g7.nodes AS SELECT node, label, features FROM nodes WHERE graph_id = 7;
CREATE VIEW g7.edges AS SELECT src, dst FROM edges WHERE graph_id = 7;

-- 2. The metric curves --------------------------------------------------------------------------------------------------

CREATE TABLE metrics AS
SELECT * FROM homophily(g1, g2, g3, g4, g5, g6, g7, samples => 300, repeats => 20);

-- \plot lines edge value name unpivot=node,class,adjusted,ge,agg,li,one_minus_neighbor,gnb,kr_l,kr_nl title='Metrics over the edge homophily'
SELECT graph, round(edge, 2) AS edge, round(node, 2) AS node, round(class, 2) AS class, round(adjusted, 2) AS adjusted,
       round(generalized_edge, 2) AS ge, round(aggregation, 2) AS agg, round(label_informativeness, 2) AS li,
       round(1 - neighborhood_identifiability, 2) AS one_minus_neighbor, round(gnb, 2) AS gnb, round(kr_linear, 2) AS kr_l,
       round(kr_nonlinear, 2) AS kr_nl
FROM metrics ORDER BY graph;

-- 3. The performance curves: a model that sees edges beside one that does not -------------------------------------------

CREATE TABLE performance AS
SELECT graph, model, avg(test_accuracy) AS accuracy
FROM train((SELECT m.graph, k.model, s.value AS seed FROM metrics m
            CROSS JOIN (SELECT unnest(['gcn', 'mlp']) AS model) k CROSS JOIN generate_series(0, 2) s),
           split_scheme => 'random:60/20/20', normalize => 'row', epochs => 100)
GROUP BY graph, model;

-- \plot lines edge value name unpivot=gcn,mlp title='Accuracy over the edge homophily'
SELECT m.graph, round(m.edge, 2) AS edge, round(g.accuracy, 3) AS gcn, round(p.accuracy, 3) AS mlp,
       round(g.accuracy - p.accuracy, 3) AS gain
FROM metrics m JOIN performance g ON g.graph = m.graph AND g.model = 'gcn' JOIN performance p ON p.graph = m.graph AND p.model = 'mlp'
ORDER BY m.graph;

-- 4. How well does each metric go with the gain? ---------------------------------------------------------------------

-- Pearson's correlation over the levels, from the best.
-- \plot bars metric correlation title='Correlation with the gain'
WITH gain AS (
    SELECT g.graph, g.accuracy - p.accuracy AS gain FROM performance g JOIN performance p USING (graph)
    WHERE g.model = 'gcn' AND p.model = 'mlp'
), curves AS (
    SELECT graph, 'edge' AS metric, edge AS value FROM metrics
    UNION ALL SELECT graph, 'node', node FROM metrics
    UNION ALL SELECT graph, 'class', class FROM metrics
    UNION ALL SELECT graph, 'adjusted', adjusted FROM metrics
    UNION ALL SELECT graph, 'generalized_edge', generalized_edge FROM metrics
    UNION ALL SELECT graph, 'aggregation', aggregation FROM metrics
    UNION ALL SELECT graph, 'label_informativeness', label_informativeness FROM metrics
    UNION ALL SELECT graph, '1 - neighborhood_identifiability', 1 - neighborhood_identifiability FROM metrics
    UNION ALL SELECT graph, 'gnb', gnb FROM metrics
    UNION ALL SELECT graph, 'kr_linear', kr_linear FROM metrics
    UNION ALL SELECT graph, 'kr_nonlinear', kr_nonlinear FROM metrics
)
SELECT metric, round(corr(value, gain), 3) AS correlation FROM curves JOIN gain USING (graph)
GROUP BY metric ORDER BY correlation DESC NULLS LAST, metric;
