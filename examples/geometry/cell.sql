-- The graphs of one cell, and all models on them.

DELETE FROM geometry_edges;
DELETE FROM geometry_nodes;

-- Uniform numbers of a node by a hash of replicate, node and purpose.
CREATE OR REPLACE VIEW geometry_points AS
SELECT r.value AS replicate, v.value AS node,
       abs(sin((v.value + 1) * 12.9898 + (r.value + 1) * 78.233 + 37.719) * 43758.5453) % 1.0 AS a,
       abs(sin((v.value + 1) * 39.3468 + (r.value + 1) * 11.135 + 83.155) * 24634.6345) % 1.0 AS b
FROM generate_series(0, :replicates - 1) AS r CROSS JOIN generate_series(0, :nodes - 1) AS v;

-- Where the points are: radius and angle in the disc, a vector of length 1 on the sphere, a and b on the torus.
CREATE OR REPLACE VIEW geometry_places AS
SELECT *, acosh(1 + a * (cosh(2 * ln(:nodes)) - 1)) AS r, 2 * pi() * b AS angle,
       sqrt(1 - pow(2 * a - 1, 2)) * cos(2 * pi() * b) AS x, sqrt(1 - pow(2 * a - 1, 2)) * sin(2 * pi() * b) AS y, 2 * a - 1 AS z
FROM geometry_points;

INSERT INTO geometry_edges
SELECT replicate, src, dst FROM (
    SELECT replicate, src, dst, row_number() OVER (PARTITION BY replicate ORDER BY distance, src, dst) AS place FROM (
        SELECT u.replicate, u.node AS src, v.node AS dst,
               CASE :'geometry'
                   WHEN 'hyperbolic' THEN cosh(u.r) * cosh(v.r) - sinh(u.r) * sinh(v.r) * cos(u.angle - v.angle)
                   WHEN 'spherical' THEN -(u.x * v.x + u.y * v.y + u.z * v.z)
                   ELSE pow(least(abs(u.a - v.a), 1 - abs(u.a - v.a)), 2) + pow(least(abs(u.b - v.b), 1 - abs(u.b - v.b)), 2)
               END AS distance
        FROM geometry_places AS u JOIN geometry_places AS v ON u.replicate = v.replicate AND u.node < v.node
        WHERE :'geometry' <> 'tree'))
WHERE place <= :nodes * :degree / 2
UNION ALL
SELECT graph_id, src, dst
FROM random_tree((SELECT value AS graph_id, :nodes AS n, value AS seed FROM generate_series(0, :replicates - 1) WHERE :'geometry' = 'tree'));

-- Classes: communities mod 4, drawn anew for a share of the nodes; features: normal numbers (Box and Muller) about the class.
CREATE OR REPLACE TABLE geometry_labels AS
SELECT c.graph_id AS replicate, c.node, CASE WHEN abs(sin((c.node + 1) * 91.7331 + (c.graph_id + 1) * 45.164 + 9.27) * 53758.345) % 1.0 < :noise
            THEN CAST(floor(4 * (abs(sin((c.node + 1) * 27.1631 + (c.graph_id + 1) * 61.341 + 5.79) * 37561.913) % 1.0)) AS BIGINT) ELSE c.louvain % 4 END AS label
FROM louvain((SELECT replicate AS graph_id, src, dst FROM geometry_edges), nodes => (SELECT replicate AS graph_id, node FROM geometry_points)) AS c;

INSERT INTO geometry_nodes
SELECT replicate, node, label, CAST(array_agg(x ORDER BY k) AS FLOAT[]) FROM (
    SELECT l.replicate, l.node, l.label, k.value AS k,
           CASE WHEN k.value // 4 = l.label THEN 0.5 ELSE 0.0 END
           + sqrt(-2 * ln(1 - abs(sin((l.node + 1) * 12.9898 + (k.value + 1) * 4.1414 + (l.replicate + 1) * 33.117) * 43758.5453) % 1.0))
           * cos(2 * pi() * (abs(sin((l.node + 1) * 63.7264 + (k.value + 1) * 10.873 + (l.replicate + 1) * 21.917) * 56445.2345) % 1.0)) AS x
    FROM geometry_labels AS l CROSS JOIN generate_series(0, 15) AS k)
GROUP BY replicate, node, label;

INSERT INTO geometry_graphs
SELECT :'geometry', :'homophily', :degree, :nodes, CAST(substr(p.graph, 2) AS BIGINT), p.mean_curvature, p.edge_homophily, p.avg_degree, p.components
FROM graph_profile(r0, r1, r2, r3, r4, r5, r6, r7, r8, r9) AS p
WHERE p.nodes > 0 AND NOT EXISTS (
    SELECT 1 FROM geometry_graphs AS g WHERE g.geometry = :'geometry' AND g.homophily = :'homophily' AND g.degree = :degree AND g.nodes = :nodes
       AND g.replicate = CAST(substr(p.graph, 2) AS BIGINT));

INSERT INTO geometry_runs
SELECT :'geometry', :'homophily', :degree, :nodes, replicate, model, status, error, test_accuracy, test_macro_f1, train_seconds
FROM train((SELECT 'r' || r.value AS graph, r.value AS replicate, m.model, r.value AS seed
            FROM generate_series(0, :replicates - 1) AS r CROSS JOIN (SELECT unnest(string_to_array(:'models', ',')) AS model) AS m
            WHERE NOT EXISTS (SELECT 1 FROM geometry_runs AS g
                              WHERE g.geometry = :'geometry' AND g.homophily = :'homophily' AND g.degree = :degree AND g.nodes = :nodes
                                AND g.replicate = r.value AND g.model = m.model AND g.status = 'ok')),
           split_scheme => 'stratified:10/20/70', epochs => :epochs, lr => 0.01, patience => 50);
