-- Where in a graph does a model fail? Each node gets a core number, the homophily of its neighbourhood and a curvature; eight
-- models predict its label; accuracy by quartile of each property is one query.
--
--     cargo run -- -f examples/node_strata.sql
--
-- Nothing is downloaded: the graph is made here.

-- 400 nodes in four classes, each with 16 noisy measurements of its class; most edges join equal classes.
CREATE GRAPH communities AS stochastic_block_model(
    blocks => 4, nodes_per_block => 100, p_within => 0.05, p_between => 0.01, features => 16, separation => 0.8);

-- 1. What each node is like ------------------------------------------------------------------------------------------

-- The share of its neighbours that have its label.
CREATE VIEW homophily_of_nodes AS
SELECT e.node, avg(CASE WHEN own.label = other.label THEN 1.0 ELSE 0.0 END) AS homophily
FROM (SELECT src AS node, dst AS neighbor FROM communities.edges
      UNION ALL SELECT dst, src FROM communities.edges) e
JOIN communities.nodes own ON own.node = e.node
JOIN communities.nodes other ON other.node = e.neighbor
GROUP BY e.node;

CREATE TABLE properties AS
SELECT node,
       ntile(4) OVER (ORDER BY core_number, node) AS core,
       ntile(4) OVER (ORDER BY homophily, node) AS homophily,
       ntile(4) OVER (ORDER BY curvature, node) AS curvature
FROM core_number(communities.edges)
JOIN homophily_of_nodes USING (node)
JOIN midpoint_curvature(communities.edges) USING (node);

-- 2. What the models say of it ---------------------------------------------------------------------------------------

-- Eight models, three seeds each; the nodes of the test set count.
CREATE TABLE predictions AS
SELECT CAST(node AS BIGINT) AS node, model, seed, CASE WHEN prediction = label THEN 1.0 ELSE 0.0 END AS correct
FROM predict((
    SELECT 'communities' AS graph, model, seed
    FROM (VALUES ('mlp'), ('gcn'), ('graphsage'), ('gat'), ('gin'), ('sgc'), ('appnp'), ('h2gcn')) AS models(model)
    CROSS JOIN generate_series(0, 2) AS seeds(seed)
), split_scheme => 'stratified:60/20/20', epochs => 100)
WHERE part = 'test';

-- 3. Accuracy by quartile --------------------------------------------------------------------------------------------

\echo Test accuracy by quartile of core number, homophily and curvature, the lowest quartile first.
CREATE TABLE strata AS
SELECT CASE WHEN core IS NOT NULL THEN 'core number' WHEN homophily IS NOT NULL THEN 'homophily' ELSE 'curvature' END
           AS property,
       model, coalesce(core, homophily, curvature) AS quartile, avg(correct) AS accuracy, count(*) AS predictions
FROM predictions JOIN properties USING (node)
GROUP BY GROUPING SETS ((model, core), (model, homophily), (model, curvature));

-- \plot boxes property value name unpivot=lowest,second,third,highest title='Accuracy of eight models by quartile'
SELECT property, model, round(avg(accuracy) FILTER (WHERE quartile = 1), 2) AS lowest,
       round(avg(accuracy) FILTER (WHERE quartile = 2), 2) AS second, round(avg(accuracy) FILTER (WHERE quartile = 3), 2) AS third,
       round(avg(accuracy) FILTER (WHERE quartile = 4), 2) AS highest, sum(predictions) AS predictions
FROM strata
GROUP BY property, model
ORDER BY property, model;

-- Reading: mlp sees no edges, so its rows differ by chance alone; what message passing gains over it comes from nodes whose
-- neighbours have their label.
