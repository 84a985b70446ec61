-- What the nodes of a graph are like: appends their strata to the table node_strata (graph, node, property, stratum), which has to
-- be there.
--
-- Variables: graph, its name, and training_nodes, a relation (node). Strata: quartiles of the core number, of the midpoint curvature and of the degree,
-- where equal values are not parted; fifths of the homophily, the share of a node's neighbours that have its label; and the distance in hops to the
-- nearest training node. A node without edges has the degree 0 and no other property.

INSERT INTO node_strata
WITH both AS (
    SELECT src AS node, dst AS neighbor FROM :graph.edges WHERE src <> dst
    UNION SELECT dst, src FROM :graph.edges WHERE src <> dst
), homophily AS (
    SELECT e.node, avg(CASE WHEN own.label = other.label THEN 1.0 ELSE 0.0 END) AS value
    FROM both AS e JOIN :graph.nodes AS own ON own.node = e.node JOIN :graph.nodes AS other ON other.node = e.neighbor
    GROUP BY e.node
), measured AS (
    SELECT node, 'core' AS property, CAST(core_number AS DOUBLE) AS value FROM core_number(:graph.edges)
    UNION ALL SELECT node, 'curvature', curvature FROM midpoint_curvature(:graph.edges)
    UNION ALL SELECT n.node, 'degree', count(e.neighbor) FROM :graph.nodes AS n LEFT JOIN both AS e ON e.node = n.node GROUP BY n.node
), distances AS (
    SELECT node, min(distance) AS hops FROM k_hop((SELECT node AS src, neighbor AS dst FROM both), :training_nodes, hops => 3) GROUP BY node
)
SELECT :'graph', CAST(node AS TEXT), property,
       'quartile ' || CAST(1 + floor(least(0.999999, percent_rank() OVER (PARTITION BY property ORDER BY value)) * 4) AS BIGINT)
FROM measured
UNION ALL
SELECT :'graph', CAST(node AS TEXT), 'homophily', ['below 0.2', '0.2 to 0.4', '0.4 to 0.6', '0.6 to 0.8', '0.8 to 1'][1 + CAST(floor(least(0.999999, value) * 5) AS BIGINT)]
FROM homophily
UNION ALL
SELECT :'graph', CAST(n.node AS TEXT), 'distance', CASE WHEN d.hops IS NULL THEN 'beyond 3 hops' ELSE d.hops || ' hops' END
FROM :graph.nodes AS n LEFT JOIN distances AS d ON d.node = n.node;
