-- Who fails where: the strata of nodes in which the better of two models is the worse one, with false discovery controlled.
--
-- Variables, each anything that may stand in FROM: predictions (graph, model, node, correct): whether a model is right about a
-- node, or in which share of its runs; and strata (graph, node, property, stratum): what a node is like, as node_strata.sql makes it. Running this
-- prints nothing.
--
-- In each stratum of each property two models are compared by Wilcoxon's signed-rank test over its nodes. All tests of all graphs are one set,
-- adjusted by Benjamini and Hochberg (`q`): of the strata with q up to 0.05 one in twenty is false, as expected. Neighbouring nodes are not
-- independent draws, so q is a sieve, not a proof: what passes on one split has to pass on another one.

CREATE OR REPLACE TABLE node_scores AS
SELECT CAST(graph AS TEXT) AS graph, CAST(model AS TEXT) AS model, CAST(node AS TEXT) AS node, avg(CAST(correct AS DOUBLE)) AS correct
FROM :predictions GROUP BY 1, 2, 3;

CREATE OR REPLACE TABLE node_differences AS
SELECT x.graph, x.node, x.model AS a, y.model AS b, x.correct AS correct_a, y.correct AS correct_b
FROM node_scores AS x JOIN node_scores AS y ON x.graph = y.graph AND x.node = y.node AND x.model < y.model;

-- Every pair of models in every stratum: the lead of a in it and over all nodes of the graph, p with its floor, and q with its floor: the least
-- that this test can have, were it the only small one.
CREATE OR REPLACE TABLE slices AS
WITH everywhere AS (
    SELECT graph, a, b, avg(correct_a - correct_b) AS lead FROM node_differences GROUP BY graph, a, b
), tests AS (
    SELECT d.graph, s.property, s.stratum, d.a, d.b, count(*) AS nodes, avg(correct_a) AS accuracy_a,
           avg(correct_b) AS accuracy_b, wilcoxon_signed_rank(correct_a, correct_b) AS w
    FROM node_differences AS d
    JOIN (SELECT CAST(graph AS TEXT) AS graph, CAST(node AS TEXT) AS node, property, CAST(stratum AS TEXT) AS stratum FROM :strata) AS s
      ON s.graph = d.graph AND s.node = d.node
    WHERE s.stratum IS NOT NULL
    GROUP BY d.graph, s.property, s.stratum, d.a, d.b
), numbered AS (
    SELECT *, row_number() OVER (ORDER BY graph, property, stratum, a, b) AS number FROM tests
), adjusted AS (
    SELECT count(*) AS tests, unnest(array_agg(number ORDER BY number)) AS number,
           unnest(benjamini_hochberg(array_agg(w['p_value'] ORDER BY number))) AS q
    FROM numbered
)
SELECT n.graph, n.property, n.stratum, n.a, n.b, n.nodes, n.w['n'] AS differing, n.accuracy_a, n.accuracy_b,
       n.accuracy_a - n.accuracy_b AS lead, e.lead AS lead_everywhere, n.w['p_value'] AS p, n.w['least_p'] AS p_floor, j.q,
       least(1.0, n.w['least_p'] * j.tests) AS q_floor
FROM numbered AS n JOIN adjusted AS j USING (number) JOIN everywhere AS e ON e.graph = n.graph AND e.a = n.a AND e.b = n.b;

-- Where they swap: the model that leads over all nodes of the graph is behind in the stratum, and not by chance.
CREATE OR REPLACE VIEW swaps_of_nodes AS
SELECT graph, property, stratum, CASE WHEN lead_everywhere > 0 THEN a ELSE b END AS leader,
       CASE WHEN lead_everywhere > 0 THEN b ELSE a END AS better_here, abs(lead_everywhere) AS lead, -abs(lead) AS lead_here,
       nodes, p, p_floor, q, q_floor
FROM slices WHERE q <= 0.05 AND lead * lead_everywhere < 0;
