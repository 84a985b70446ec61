-- Who wins where? Graphs become tables, curvature puts each graph in a regime, six models are trained on every graph
-- with five seeds, and the leaderboard by regime is a GROUP BY.
--
--     cargo run -- -f examples/stratified_leaderboard.sql
--
-- As a page with pictures, which the lines that begin with a backslash ask for:
--
--     cargo run -- report examples/stratified_leaderboard.sql -o leaderboard.html
--
-- Nothing is downloaded: the graphs are shipped or made here.

-- 1. The graphs ------------------------------------------------------------------------------------------------------

-- Two with a task of their own: who followed whom when a karate club split (Zachary 1977), and who is infected when a
-- disease spreads along a tree.
ATTACH 'builtin:karate' AS karate;
CREATE GRAPH disease AS disease_tree(seed => 1);

-- The others share their nodes: 400 nodes in four classes (0..99, 100..199, ...), each with 16 noisy measurements of
-- its class. `communities` joins them as a block model does: mostly within a class.
CREATE GRAPH communities AS stochastic_block_model(
    blocks => 4, nodes_per_block => 100, p_within => 0.05, p_between => 0.005, features => 16, separation => 0.8);

-- A graph is a schema that has the tables or views `nodes` and `edges`. So the same nodes get other edges, and what the
-- models gain or lose on them is due to the edges alone.

-- On a ring, and row by row on a torus and on a grid of 20 x 20, a class is a stretch of consecutive nodes.
CREATE SCHEMA ring;
CREATE VIEW ring.nodes AS SELECT * FROM communities.nodes;
CREATE VIEW ring.edges AS SELECT * FROM cycle(400);

CREATE SCHEMA torus;
CREATE VIEW torus.nodes AS SELECT * FROM communities.nodes;
CREATE VIEW torus.edges AS SELECT * FROM grid_2d(20, 20, periodic => true);

CREATE SCHEMA grid;
CREATE VIEW grid.nodes AS SELECT * FROM communities.nodes;
CREATE VIEW grid.edges AS SELECT * FROM grid_2d(20, 20);

-- A caterpillar: every 20th node is a hub with 19 leaves, and the hubs form a path. A class is five hubs in a row.
CREATE SCHEMA caterpillar;
CREATE VIEW caterpillar.nodes AS SELECT * FROM communities.nodes;
CREATE VIEW caterpillar.edges AS
SELECT node AS src, CASE WHEN node % 20 = 0 THEN node - 20 ELSE node - node % 20 END AS dst
FROM communities.nodes WHERE node > 0;

-- Edges that know nothing of the classes: a random tree, a random graph.
CREATE SCHEMA random_tree;
CREATE VIEW random_tree.nodes AS SELECT * FROM communities.nodes;
CREATE VIEW random_tree.edges AS SELECT * FROM random_tree(400, seed => 1);

CREATE SCHEMA random_graph;
CREATE VIEW random_graph.nodes AS SELECT * FROM communities.nodes;
CREATE VIEW random_graph.edges AS SELECT * FROM erdos_renyi(400, 0.02, seed => 1);

-- Preferential attachment: nodes come one by one, so a class is an age, and newcomers like to join the oldest.
CREATE SCHEMA attachment;
CREATE VIEW attachment.nodes AS SELECT * FROM communities.nodes;
CREATE VIEW attachment.edges AS SELECT * FROM barabasi_albert(400, 3, seed => 1);

-- 2. The regimes -----------------------------------------------------------------------------------------------------

-- A profile is a row of properties for each graph.
CREATE TABLE profiles AS SELECT * FROM graph_profile('*');

-- \plot bars graph mean_curvature regime title='Mean midpoint curvature'
-- \plot points mean_curvature skewness regime title='What decides the regime'
\echo The shape of each graph: mean and skewness of its midpoint curvature give its regime.
SELECT graph, nodes, edges, diameter, round(edge_homophily, 2) AS homophily, round(mean_curvature, 5) AS mean_curvature,
       round(skewness, 2) AS skewness, regime
FROM profiles
ORDER BY regime, mean_curvature;

-- 3. The runs --------------------------------------------------------------------------------------------------------

-- A job is a row, so all jobs are a cross join. The karate club has no measurements: there, a node knows only itself.
-- Rows come as runs finish; sorted, they are the same table every time.
CREATE TABLE runs AS
SELECT *
FROM train((
    SELECT graph, model, seed, CASE WHEN features IS NULL THEN 'identity' ELSE 'given' END AS features
    FROM profiles
    CROSS JOIN (VALUES ('mlp'), ('gcn'), ('graphsage'), ('gat'), ('hgcn'), ('qgcn')) AS models(model)
    CROSS JOIN generate_series(0, 4) AS seeds(seed)
), split_scheme => 'stratified:60/20/20')
ORDER BY graph, model, seed;

\echo Runs: a run that fails is a row with its status, and stops no other.
SELECT status, count(*) AS runs, min(epochs_run) AS epochs FROM runs GROUP BY status;

-- \plot heatmap name graph value unpivot=mlp,gcn,graphsage,gat,hgcn,qgcn title='Test accuracy'
\echo Test accuracy on each graph, the mean over five seeds.
SELECT * FROM (
    SELECT regime, graph, round(edge_homophily, 2) AS homophily, model, test_accuracy
    FROM runs JOIN profiles USING (graph)
) PIVOT (round(avg(test_accuracy), 3) FOR model IN ('mlp', 'gcn', 'graphsage', 'gat', 'hgcn', 'qgcn'))
ORDER BY regime, graph;

-- 4. Who wins where --------------------------------------------------------------------------------------------------

-- \plot bump regime rank model title='Ranks by regime'
-- \plot bars regime accuracy model yerr=deviation title='Mean test accuracy by regime'
\echo The leaderboard by regime: the mean over its graphs, the deviation of that mean over the seeds, the rank.
WITH by_seed AS (
    SELECT regime, model, seed, avg(test_accuracy) AS accuracy
    FROM runs JOIN profiles USING (graph)
    GROUP BY regime, model, seed
)
SELECT regime, rank() OVER (PARTITION BY regime ORDER BY round(avg(accuracy), 3) DESC) AS rank, model,
       round(avg(accuracy), 3) AS accuracy, round(stddev(accuracy), 3) AS deviation
FROM by_seed
GROUP BY regime, model
ORDER BY regime, rank, model;

-- Reading: mlp sees no edges, so it scores the same on all graphs that share their nodes; message passing gains much
-- where edges join equal labels (homophily near 1), whatever the regime, and little or nothing where they do not: read a
-- regime beside its homophily.

-- 5. Does the regime decide? -----------------------------------------------------------------------------------------

-- The runs in the shape of any table of results (analyses/README.md): what follows reads every such table.
CREATE VIEW results AS
SELECT 'node classification' AS task, 'accuracy' AS metric, '' AS setting, model, graph AS dataset,
       100 * avg(test_accuracy) AS mean, 100 * stddev(test_accuracy) AS std, max(status) AS status
FROM runs GROUP BY model, graph;
CREATE VIEW regimes AS SELECT graph AS dataset, regime FROM profiles;
CREATE VIEW families AS SELECT name AS model, family FROM bonnet.models;

\set results results
\set regimes regimes
\set families families
\set task 'node classification'
\set metric accuracy
\set setting ''
\ir ../analyses/stratified.sql
\ir ../analyses/regrouping.sql

\echo Rank shift: how many places a model moves, on average, between the flat leaderboard and that of the regime.
SELECT regime, rsi FROM rank_shift ORDER BY regime;

-- \plot bars agreement value name unpivot=within,across
\echo Do graphs of one regime agree on the leading models more than any other grouping of the same sizes would have it?
SELECT agreement, round(within, 3) AS within, round(across, 3) AS across, round(p_value, 3) AS p_value, partitions
FROM regrouped ORDER BY agreement;

\echo The order of two models differs so often within and across regimes; the gap is the variance of preferences (Theorem 4.2).
SELECT round(within, 3) AS within, round(across, 3) AS across, round(gap, 3) AS gap, round(variance, 3) AS variance
FROM order_gap((SELECT model, dataset AS item, mean AS value FROM scores), (SELECT item, regime FROM strata));

\echo Families and regimes explain so much of the accuracies, normalised within graphs.
SELECT round(r2_additive, 3) AS additive, round(r2_interaction, 3) AS with_interaction
FROM variance_decomposition(scores, mean, family, regime, block => dataset);

-- \plot none
\echo The leaderboard in Markdown.
\ir ../analyses/leaderboard.sql
