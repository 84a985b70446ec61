-- Who fails where? On three graphs: the strata of nodes in which the better of two models is the worse one, by more than chance.
--
--     cargo run -- -v data=DIR -f examples/node_slices.sql
--
-- DIR holds planetoid/{cora,citeseer} of github.com/kimiyoung/planetoid; the third graph is made here.

-- 1. The graphs ------------------------------------------------------------------------------------------------------

\set planetoid :data /planetoid
ATTACH :'planetoid' AS planetoid;

-- 600 nodes in four classes with noisy features; half of the edges join equal classes.
CREATE GRAPH mixed AS stochastic_block_model(
    blocks => 4, nodes_per_block => 150, p_within => 0.02, p_between => 0.005, features => 16, separation => 0.8);

-- 2. What the models say of each node --------------------------------------------------------------------------------

-- Six models, five seeds each, one split a graph: the published one, or one that is drawn for all.
CREATE TABLE predictions AS
SELECT graph, model, seed, CAST(node AS BIGINT) AS node, part, CASE WHEN prediction = label THEN 1.0 ELSE 0.0 END AS correct
FROM predict((
    SELECT graph, scheme AS split_scheme, 0 AS split, model, seed
    FROM (VALUES ('mixed', 'stratified:10/20/70'), ('planetoid.cora', 'public'), ('planetoid.citeseer', 'public')) AS graphs(graph, scheme)
    CROSS JOIN (VALUES ('mlp'), ('gcn'), ('gat'), ('appnp'), ('h2gcn'), ('hgcn')) AS models(model)
    CROSS JOIN generate_series(0, 4) AS seeds(seed)
), epochs => 100, normalize => 'row');

-- 3. What each node is like ------------------------------------------------------------------------------------------

CREATE TABLE node_strata(graph TEXT, node TEXT, property TEXT, stratum TEXT);
\set training_nodes training_nodes

\set graph mixed
CREATE OR REPLACE VIEW training_nodes AS SELECT DISTINCT node FROM predictions WHERE graph = 'mixed' AND part = 'train';
\ir ../analyses/node_strata.sql
\set graph planetoid.cora
CREATE OR REPLACE VIEW training_nodes AS SELECT DISTINCT node FROM predictions WHERE graph = 'planetoid.cora' AND part = 'train';
\ir ../analyses/node_strata.sql
\set graph planetoid.citeseer
CREATE OR REPLACE VIEW training_nodes AS SELECT DISTINCT node FROM predictions WHERE graph = 'planetoid.citeseer' AND part = 'train';
\ir ../analyses/node_strata.sql

-- 4. Where they swap -------------------------------------------------------------------------------------------------

CREATE VIEW tested AS SELECT * FROM predictions WHERE part = 'test';
\set predictions tested
\set strata node_strata
\ir ../analyses/slices.sql

\echo Mean accuracy over the test nodes of each graph.
SELECT graph, model, round(avg(correct), 3) AS accuracy FROM node_scores GROUP BY graph, model ORDER BY graph, accuracy DESC;

\echo Strata in which the leader of a graph is behind, with q of Benjamini and Hochberg up to 0.05, and the floor of each p.
SELECT graph, property, stratum, leader, better_here, round(lead, 3) AS lead, round(lead_here, 3) AS lead_here, nodes, p, p_floor, q
FROM swaps_of_nodes ORDER BY graph, q, property, stratum, leader, better_here;

\echo How many tests were made, and how many strata may be false among those found.
SELECT count(*) AS tests, count(*) FILTER (WHERE q <= 0.05) AS found, round(0.05 * count(*) FILTER (WHERE q <= 0.05), 1) AS false_at_most,
       count(*) FILTER (WHERE q_floor > 0.05) AS cannot_be_found
FROM slices;
