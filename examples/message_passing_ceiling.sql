-- How accurate can any model be that passes messages along edges and sees no features? The best accuracy on the nodes of Cora and on the
-- graphs of four of TU Dortmund's sets: a model that cannot tell two nodes or graphs apart gives them one answer.
--
--     cargo run --release -- -v data=DIR -f examples/message_passing_ceiling.sql
--
-- DIR/planetoid/cora and DIR/tu hold the sets. A model is no stronger than colour refinement (Xu et al., How Powerful are Graph Neural
-- Networks?, ICLR 2019); its best accuracy is the purity of the colours. The ceiling is over the set as a whole: on unseen data a model
-- does worse.

\set cora :data /planetoid/cora
\set mutag :data /tu/MUTAG
\set enzymes :data /tu/ENZYMES
\set kki :data /tu/KKI
\set peking :data /tu/Peking_1
ATTACH :'cora' AS cora (TYPE planetoid);
ATTACH :'mutag' AS mutag (TYPE tu);
ATTACH :'enzymes' AS enzymes (TYPE tu);
ATTACH :'kki' AS kki (TYPE tu);
ATTACH :'peking' AS peking (TYPE tu);

-- 1. Nodes -----------------------------------------------------------------------------------------------------------

-- After each number of rounds, which is the depth of a model; by the edges alone.
CREATE TABLE colors AS
SELECT 0 AS rounds, node, color FROM wl_colors(cora.edges, nodes => cora.nodes, rounds => 0)
UNION ALL SELECT 1, node, color FROM wl_colors(cora.edges, nodes => cora.nodes, rounds => 1)
UNION ALL SELECT 2, node, color FROM wl_colors(cora.edges, nodes => cora.nodes, rounds => 2)
UNION ALL SELECT 3, node, color FROM wl_colors(cora.edges, nodes => cora.nodes, rounds => 3)
UNION ALL SELECT 99, node, color FROM wl_colors(cora.edges, nodes => cora.nodes);

\echo
\echo Cora: colours, and the best accuracy by so many rounds without features (99: until no colour splits)
SELECT rounds, count(DISTINCT color) AS colors, round(purity(color, label), 4) AS ceiling
FROM colors JOIN cora.nodes USING (node) GROUP BY rounds ORDER BY rounds;

-- 2. Graphs ----------------------------------------------------------------------------------------------------------

-- A graph is the list of its nodes' colours; once by the edges alone, once with the labels of the nodes.
CREATE TABLE classes AS
SELECT 'MUTAG' AS set, labelled, graph_id, string_agg(CAST(color AS TEXT), ' ' ORDER BY color) AS class
FROM (SELECT false AS labelled, * FROM wl_colors(mutag.edges, nodes => mutag.nodes)
      UNION ALL SELECT true, * FROM wl_colors(mutag.edges, nodes => mutag.nodes, labels => (SELECT graph_id, node, label FROM mutag.nodes)))
GROUP BY labelled, graph_id
UNION ALL
SELECT 'ENZYMES', labelled, graph_id, string_agg(CAST(color AS TEXT), ' ' ORDER BY color)
FROM (SELECT false AS labelled, * FROM wl_colors(enzymes.edges, nodes => enzymes.nodes)
      UNION ALL SELECT true, * FROM wl_colors(enzymes.edges, nodes => enzymes.nodes, labels => (SELECT graph_id, node, label FROM enzymes.nodes)))
GROUP BY labelled, graph_id
UNION ALL
SELECT 'KKI', labelled, graph_id, string_agg(CAST(color AS TEXT), ' ' ORDER BY color)
FROM (SELECT false AS labelled, * FROM wl_colors(kki.edges, nodes => kki.nodes)
      UNION ALL SELECT true, * FROM wl_colors(kki.edges, nodes => kki.nodes, labels => (SELECT graph_id, node, label FROM kki.nodes)))
GROUP BY labelled, graph_id
UNION ALL
SELECT 'Peking_1', labelled, graph_id, string_agg(CAST(color AS TEXT), ' ' ORDER BY color)
FROM (SELECT false AS labelled, * FROM wl_colors(peking.edges, nodes => peking.nodes)
      UNION ALL SELECT true, * FROM wl_colors(peking.edges, nodes => peking.nodes, labels => (SELECT graph_id, node, label FROM peking.nodes)))
GROUP BY labelled, graph_id;

CREATE TABLE labels AS
SELECT 'MUTAG' AS set, graph_id, label FROM mutag.graphs
UNION ALL SELECT 'ENZYMES', graph_id, label FROM enzymes.graphs
UNION ALL SELECT 'KKI', graph_id, label FROM kki.graphs
UNION ALL SELECT 'Peking_1', graph_id, label FROM peking.graphs;

\echo
\echo Graphs that colour refinement tells apart, and the best accuracy on them; with and without the labels of nodes
SELECT set, labelled, count(*) AS graphs, count(DISTINCT class) AS classes, round(purity(class, label), 4) AS ceiling
FROM classes JOIN labels USING (set, graph_id) GROUP BY set, labelled ORDER BY set, labelled;
