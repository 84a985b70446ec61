-- Does geometry matter? A designed experiment: graphs of four geometries over homophily, degree and size, models of flat and of curved spaces on each
-- of them, and the effect of the geometry on what curved spaces are worth, with its interval.
--
--     cargo run -- DATABASE -f examples/geometry.sql                     (minutes)
--     cargo run -- DATABASE -v size=large -f examples/geometry.sql       (hours)
--
-- The nine graphs of CurvBench cannot tell: regimes of three graphs each differ in size, homophily and degree, too, and a test among them has a
-- floor (docs/papers/curvbench.md). Here all of these are crossed. Runs stay in the table geometry_runs, and a script that was stopped goes on.
--
-- Graphs. Nodes are points, drawn uniformly by area, and the n * degree / 2 nearest pairs are edges, so that the mean degree is the same in each
-- geometry: `hyperbolic`, a disc of curvature -1 and radius 2 ln n (Krioukov et al. 2010, without temperature); `flat`, a square torus; `spherical`, a
-- sphere. `tree`, uniformly random, has the one degree that trees have. Labels are the communities that Louvain finds, mod 4, in each geometry
-- alike; of a share of the nodes (5 % where homophily is high, 60 % where it is low) they are drawn anew. Features are 16 normal columns, four of them
-- about 0.5 for each class. Nothing of the points is in the features: a model sees the geometry in the edges alone.

\default size small
\set files geometry/ :size .sql

CREATE TABLE IF NOT EXISTS geometry_graphs (
    geometry TEXT, homophily TEXT, degree BIGINT, nodes BIGINT, replicate BIGINT, mean_curvature DOUBLE, edge_homophily DOUBLE, avg_degree DOUBLE,
    components BIGINT);

CREATE TABLE IF NOT EXISTS geometry_runs (
    geometry TEXT, homophily TEXT, degree BIGINT, nodes BIGINT, replicate BIGINT, model TEXT, status TEXT, error TEXT, accuracy DOUBLE, macro_f1 DOUBLE,
    train_seconds DOUBLE);

-- What failed is tried again.
DELETE FROM geometry_runs WHERE status <> 'ok';

CREATE OR REPLACE VIEW geometry_families AS
SELECT column1 AS model, column2 AS family FROM (VALUES
    ('mlp', 'no edges'), ('gcn', 'flat'), ('graphsage', 'flat'), ('gat', 'flat'), ('gprgnn', 'flat'), ('pcnet', 'flat'),
    ('hgcn', 'curved'), ('hgnn', 'curved'), ('hybonet', 'curved'), ('qgcn', 'curved'), ('hat', 'curved'), ('cusp', 'curved'));

-- The graphs of a cell, and where training finds them: one table of all, a schema each.
\ir geometry/schemas.sql

-- Sets what the size is, and goes through the cells.
\ir :files

-- What the graphs are.
-- \plot none
SELECT geometry, homophily, degree, nodes, count(*) AS graphs, round(avg(mean_curvature), 3) AS mean_curvature, round(avg(edge_homophily), 2) AS edge_homophily,
       round(avg(avg_degree), 2) AS avg_degree, round(avg(components), 1) AS components
FROM geometry_graphs GROUP BY geometry, homophily, degree, nodes ORDER BY geometry, homophily, degree, nodes;

CREATE OR REPLACE VIEW geometry_scores AS
SELECT r.geometry, r.homophily, r.degree, r.nodes, r.replicate, f.family, r.model, r.accuracy
FROM geometry_runs AS r JOIN geometry_families AS f USING (model) WHERE r.status = 'ok';

-- A graph is one observation: the mean accuracy of the curved models, of the flat ones, and of the perceptron.
CREATE OR REPLACE VIEW geometry_leads AS
SELECT geometry, homophily, degree, nodes, replicate, avg(accuracy) FILTER (WHERE family = 'curved') AS curved,
       avg(accuracy) FILTER (WHERE family = 'flat') AS flat, avg(accuracy) FILTER (WHERE family = 'no edges') AS no_edges
FROM geometry_scores GROUP BY geometry, homophily, degree, nodes, replicate;

-- Mean accuracy of each model in each geometry, percent.
-- \plot points geometry accuracy model facet=homophily title='Accuracy by geometry'
SELECT homophily, geometry, family, model, count(*) AS runs, round(100 * avg(accuracy), 1) AS accuracy, round(100 * stddev(accuracy), 1) AS deviation
FROM geometry_scores GROUP BY homophily, geometry, family, model ORDER BY homophily, geometry, family DESC, accuracy DESC;

-- The lead of curved over flat models, in points of accuracy, with the bootstrap interval of its mean over graphs.
CREATE OR REPLACE TABLE geometry_effects AS
SELECT geometry, homophily, count(*) AS graphs, bootstrap_difference(100 * curved, 100 * flat) AS d FROM geometry_leads GROUP BY geometry, homophily;

-- \plot points geometry lead facet=homophily ymin=low ymax=high yline=0 title='Lead of curved over flat models, points of accuracy'
SELECT homophily, geometry, graphs, round(d['statistic'], 2) AS lead, round(d['low'], 2) AS low, round(d['high'], 2) AS high, round(d['p_value'], 4) AS p,
       round(d['least_p'], 4) AS p_floor
FROM geometry_effects ORDER BY homophily, geometry;

-- Does the lead depend on the geometry? Graphs of two geometries are paired that share homophily, degree, size and replicate; the tree, which has no
-- degree but its own, with those of the least degree.
CREATE OR REPLACE VIEW geometry_pairs AS
SELECT a.geometry AS geometry, b.geometry AS beside, a.homophily, 100 * (a.curved - a.flat) AS lead, 100 * (b.curved - b.flat) AS lead_beside
FROM geometry_leads AS a JOIN geometry_leads AS b
  ON a.homophily = b.homophily AND a.nodes = b.nodes AND a.replicate = b.replicate AND a.geometry < b.geometry
 AND (a.degree = b.degree OR (b.geometry = 'tree' AND a.degree = (SELECT min(degree) FROM geometry_leads WHERE geometry <> 'tree')));

-- \plot points pair difference ymin=low ymax=high yline=0 title='The lead of curved models in one geometry less that in another'
WITH tests AS (
    SELECT geometry || ' - ' || beside AS pair, count(*) AS pairs, bootstrap_difference(lead, lead_beside) AS d FROM geometry_pairs GROUP BY geometry, beside
), numbered AS (
    SELECT *, row_number() OVER (ORDER BY pair) AS number FROM tests
), adjusted AS (
    SELECT unnest(array_agg(number ORDER BY number)) AS number, unnest(holm(array_agg(d['p_value'] ORDER BY number))) AS p_holm FROM numbered
)
SELECT pair, pairs, round(d['statistic'], 2) AS difference, round(d['low'], 2) AS low, round(d['high'], 2) AS high, round(p_holm, 4) AS p_holm
FROM numbered JOIN adjusted USING (number) ORDER BY pair;

-- How much of the variance of scores, each graph's centred, family and geometry explain, and family and homophily.
-- \plot none
SELECT 'geometry' AS factor, round(r2_first, 4) AS family, round(r2_additive, 4) AS additive, round(r2_interaction, 4) AS with_interaction
FROM variance_decomposition((SELECT *, concat_ws(' ', geometry, homophily, degree, nodes, replicate) AS graph FROM geometry_scores WHERE family <> 'no edges'),
                            accuracy, family, geometry, block => graph, normalize => 'center')
UNION ALL
SELECT 'homophily', round(r2_first, 4), round(r2_additive, 4), round(r2_interaction, 4)
FROM variance_decomposition((SELECT *, concat_ws(' ', geometry, homophily, degree, nodes, replicate) AS graph FROM geometry_scores WHERE family <> 'no edges'),
                            accuracy, family, homophily, block => graph, normalize => 'center')
UNION ALL
SELECT 'degree', round(r2_first, 4), round(r2_additive, 4), round(r2_interaction, 4)
FROM variance_decomposition((SELECT *, concat_ws(' ', geometry, homophily, degree, nodes, replicate) AS graph FROM geometry_scores WHERE family <> 'no edges'),
                            accuracy, family, degree, block => graph, normalize => 'center');

-- Does the lead go with the curvature that is measured, as the paper's regimes are?
-- \plot points mean_curvature lead geometry title='Lead of curved models over mean midpoint curvature'
SELECT geometry, homophily, degree, replicate, round(mean_curvature, 4) AS mean_curvature, round(100 * (curved - flat), 2) AS lead
FROM geometry_leads JOIN geometry_graphs USING (geometry, homophily, degree, nodes, replicate)
ORDER BY geometry, homophily, degree, replicate;

-- \plot none
SELECT homophily, count(*) AS graphs, round(spearman(mean_curvature, curved - flat), 3) AS spearman
FROM geometry_leads JOIN geometry_graphs USING (geometry, homophily, degree, nodes, replicate) GROUP BY homophily ORDER BY homophily;

-- \plot none
SELECT model, status, count(*) AS runs, min(error) AS an_error FROM geometry_runs WHERE status <> 'ok' GROUP BY model, status;
