-- How much does curvature change when an edge comes or goes? The two tables of App. D of "Curvature Filtrations for Graph
-- Generative Model Evaluation" (Southern et al., NeurIPS 2023), theirs beside ours.
--
--     cargo run --release -- -f examples/curvature_filtrations/edge_stability.sql
--
-- 50 Erdos-Renyi graphs of 100 nodes for each p; the largest change over all graphs and their edges, in units of the
-- deviation of the graph's curvature. Other graphs than the paper's: compare sizes and where the smallest stands.

-- 1. The graphs, and the same with one edge more or less ----------------------------------------------------------------

-- p from 0.1 to 0.9.
CREATE TABLE graphs AS
SELECT * FROM erdos_renyi((
    SELECT 1000 * tenths.value + copy.value AS graph_id, 100 AS n, tenths.value / 10.0 AS p, copy.value AS seed
    FROM generate_series(1, 9) tenths, generate_series(1, 50) copy));

-- A share that is one edge of a graph of that p: it has 495 p10 edges, more or less.
CREATE TABLE changed AS
SELECT 'addition' AS change, * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 1), add => 0.00202)
UNION ALL SELECT 'addition', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 2), add => 0.00101)
UNION ALL SELECT 'addition', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 3), add => 0.000673)
UNION ALL SELECT 'addition', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 4), add => 0.000505)
UNION ALL SELECT 'addition', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 5), add => 0.000404)
UNION ALL SELECT 'addition', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 6), add => 0.000337)
UNION ALL SELECT 'addition', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 7), add => 0.000289)
UNION ALL SELECT 'addition', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 8), add => 0.000253)
UNION ALL SELECT 'addition', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 9), add => 0.000224)
UNION ALL SELECT 'deletion', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 1), remove => 0.00202)
UNION ALL SELECT 'deletion', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 2), remove => 0.00101)
UNION ALL SELECT 'deletion', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 3), remove => 0.000673)
UNION ALL SELECT 'deletion', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 4), remove => 0.000505)
UNION ALL SELECT 'deletion', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 5), remove => 0.000404)
UNION ALL SELECT 'deletion', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 6), remove => 0.000337)
UNION ALL SELECT 'deletion', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 7), remove => 0.000289)
UNION ALL SELECT 'deletion', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 8), remove => 0.000253)
UNION ALL SELECT 'deletion', * FROM perturb_edges((SELECT * FROM graphs WHERE graph_id / 1000 = 9), remove => 0.000224);

-- Every graph by a name of its own.
CREATE TABLE all_graphs AS
SELECT 'before' AS change, graph_id AS number, 'before ' || graph_id AS graph_id, src, dst FROM graphs
UNION ALL SELECT change, graph_id AS number, change || ' ' || graph_id AS graph_id, src, dst FROM changed;

-- 2. Curvature before and after --------------------------------------------------------------------------------------

-- Of every edge that a graph has before and after; the largest difference counts.
CREATE TABLE curved AS
SELECT 'Forman' AS curvature, change, number, src, dst, CAST(forman_ricci AS DOUBLE) AS value FROM forman_ricci(all_graphs)
UNION ALL SELECT 'Ollivier', change, number, src, dst, ollivier_ricci FROM ollivier_ricci(all_graphs)
UNION ALL SELECT 'resistance', change, number, src, dst, resistance_curvature FROM resistance_curvature(all_graphs);

CREATE TABLE deviations AS
SELECT curvature, number, stddev_pop(value) AS deviation FROM curved WHERE change = 'before' GROUP BY curvature, number;

CREATE TABLE changes AS
SELECT a.curvature, a.change, a.number / 1000 AS tenths, max(abs(a.value - b.value) / d.deviation) AS largest,
       count(DISTINCT a.number) AS graphs
FROM curved a
JOIN curved b ON b.change = 'before' AND a.curvature = b.curvature AND a.number = b.number AND a.src = b.src AND a.dst = b.dst
JOIN deviations d ON d.curvature = a.curvature AND d.number = a.number
WHERE a.change <> 'before'
GROUP BY a.curvature, a.change, a.number / 1000;

-- 3. The paper's tables ----------------------------------------------------------------------------------------------

-- What the paper prints, by ten times p.
CREATE TABLE appendix_d(change TEXT, curvature TEXT, tenths BIGINT, paper DOUBLE) AS VALUES
    ('addition', 'Forman', 1, 0.582), ('addition', 'Forman', 2, 0.419), ('addition', 'Forman', 3, 0.334),
    ('addition', 'Forman', 4, 0.296), ('addition', 'Forman', 5, 0.253), ('addition', 'Forman', 6, 0.246),
    ('addition', 'Forman', 7, 0.232), ('addition', 'Forman', 8, 0.250), ('addition', 'Forman', 9, 0.315),
    ('addition', 'Ollivier', 1, 1.545), ('addition', 'Ollivier', 2, 1.157), ('addition', 'Ollivier', 3, 0.613),
    ('addition', 'Ollivier', 4, 0.465), ('addition', 'Ollivier', 5, 0.396), ('addition', 'Ollivier', 6, 0.366),
    ('addition', 'Ollivier', 7, 0.368), ('addition', 'Ollivier', 8, 0.399), ('addition', 'Ollivier', 9, 0.512),
    ('addition', 'resistance', 1, 0.689), ('addition', 'resistance', 2, 0.417), ('addition', 'resistance', 3, 0.296),
    ('addition', 'resistance', 4, 0.251), ('addition', 'resistance', 5, 0.221), ('addition', 'resistance', 6, 0.232),
    ('addition', 'resistance', 7, 0.227), ('addition', 'resistance', 8, 0.243), ('addition', 'resistance', 9, 0.321),
    ('deletion', 'Forman', 1, 0.609), ('deletion', 'Forman', 2, 0.408), ('deletion', 'Forman', 3, 0.334),
    ('deletion', 'Forman', 4, 0.291), ('deletion', 'Forman', 5, 0.255), ('deletion', 'Forman', 6, 0.239),
    ('deletion', 'Forman', 7, 0.245), ('deletion', 'Forman', 8, 0.243), ('deletion', 'Forman', 9, 0.319),
    ('deletion', 'Ollivier', 1, 1.397), ('deletion', 'Ollivier', 2, 1.270), ('deletion', 'Ollivier', 3, 0.623),
    ('deletion', 'Ollivier', 4, 0.479), ('deletion', 'Ollivier', 5, 0.394), ('deletion', 'Ollivier', 6, 0.365),
    ('deletion', 'Ollivier', 7, 0.347), ('deletion', 'Ollivier', 8, 0.402), ('deletion', 'Ollivier', 9, 0.482),
    ('deletion', 'resistance', 1, 0.750), ('deletion', 'resistance', 2, 0.431), ('deletion', 'resistance', 3, 0.336),
    ('deletion', 'resistance', 4, 0.248), ('deletion', 'resistance', 5, 0.229), ('deletion', 'resistance', 6, 0.218),
    ('deletion', 'resistance', 7, 0.225), ('deletion', 'resistance', 8, 0.242), ('deletion', 'resistance', 9, 0.312);

-- \plot points paper ours curvature title='Ours beside the paper'
\echo
\echo App. D: the largest change of curvature by one edge, in deviations
SELECT change, curvature, tenths / 10.0 AS p, graphs, paper, round(largest, 3) AS ours
FROM changes JOIN appendix_d USING (change, curvature, tenths)
ORDER BY change, curvature, tenths;
