-- Which homophily metric tells how well a graph network does? Three generators over their parameters, eleven metrics and four
-- models on every graph, and the Frechet distance of each metric's curve from the models' curves.
--
--     cargo run -- -v data=DIR -f examples/heterophily/metric_benchmark.sql                  (a few minutes)
--     cargo run -- -v data=DIR -v size=full -f examples/heterophily/metric_benchmark.sql     (the paper's sizes: days)
--
-- DIR holds planetoid/cora (github.com/kimiyoung/planetoid). The setting is that of Luan et al., Are heterophilic GNNs and
-- homophily metrics really effective?, Sec. 4; its Table 4 is printed beside ours. The small size has fewer levels, one graph a
-- level, smaller graphs and no search for hyperparameters, so its ranks are rough; the full size is in
-- metric_benchmark/full.sql.

\default size small
\set cora :data /planetoid/cora
ATTACH :'cora' AS cora;

-- 1. What is measured on every graph -------------------------------------------------------------------------------------

CREATE TABLE metrics (generator TEXT, position DOUBLE, seed BIGINT, metric TEXT, value DOUBLE);
CREATE TABLE performance (generator TEXT, position DOUBLE, seed BIGINT, model TEXT, accuracy DOUBLE, runs BIGINT);

-- Each file of a graph makes it as `g`, runs metric_benchmark/measure.sql, and drops it: no two are in memory at a time.
\set graphs metric_benchmark/ :size .sql
\ir :graphs

-- 2. The curves: means over the graphs of a level -------------------------------------------------------------------------

CREATE TABLE curves AS
SELECT generator, position, metric, avg(value) AS value FROM metrics GROUP BY generator, position, metric;

CREATE TABLE models AS
SELECT generator, position, model, avg(accuracy) AS accuracy, sum(runs) AS runs FROM performance
GROUP BY generator, position, model;

-- The models: accuracy over the generator's parameter.
-- \plot lines position gcn generator title='Accuracy of GCN'
-- \plot lines position mlp generator title='Accuracy of MLP-2'
SELECT generator, round(position, 3) AS position,
       round(max(accuracy) FILTER (WHERE model = 'gcn'), 3) AS gcn, round(max(accuracy) FILTER (WHERE model = 'sgc'), 3) AS sgc,
       round(max(accuracy) FILTER (WHERE model = 'mlp'), 3) AS mlp, round(max(accuracy) FILTER (WHERE model = 'mlp1'), 3) AS mlp1,
       max(runs) AS runs
FROM models GROUP BY generator, position ORDER BY generator, position;

-- The metrics over the same.
-- \plot lines position edge generator title='Edge homophily'
-- \plot lines position adjusted generator title='Adjusted homophily'
-- \plot lines position kr_nl generator title='Kernel regression, nonlinear'
FROM (SELECT generator, position, metric, round(value, 3) AS value FROM curves)
PIVOT (max(value) FOR metric IN ('edge', 'node', 'class', 'adjusted', 'generalized_edge' AS ge, 'aggregation' AS agg,
                                 'label_informativeness' AS li, 'neighbor', 'gnb', 'kr_linear' AS kr_l, 'kr_nonlinear' AS kr_nl))
ORDER BY generator, position;

-- 3. The distance of each metric's curve from a model's, and its rank among the eleven ------------------------------------

CREATE TABLE distances AS
SELECT m.model, c.generator, c.metric, frechet_distance(c.value, m.accuracy, c.position) AS distance
FROM curves c JOIN models m ON m.generator = c.generator AND m.position = c.position
WHERE m.model IN ('gcn', 'sgc') AND m.accuracy IS NOT NULL
GROUP BY m.model, c.generator, c.metric;

CREATE TABLE ranks AS
SELECT model, generator, metric, distance, average_rank() OVER (PARTITION BY model, generator ORDER BY distance) AS rank
FROM distances;

-- Table 4 of the paper, as printed.
CREATE TABLE printed AS
SELECT column1 AS metric, column2 AS gcn_rg, column3 AS gcn_pa, column4 AS gcn_gencat, column5 AS gcn_rank,
       column6 AS sgc_rg, column7 AS sgc_pa, column8 AS sgc_gencat, column9 AS sgc_rank
FROM (VALUES
    ('edge',                  0.55, 0.27, 0.19, 5.00, 0.62, 0.21, 0.17, 3.67),
    ('node',                  0.55, 0.27, 0.19, 4.67, 0.62, 0.21, 0.17, 4.00),
    ('class',                 0.53, 0.15, 0.07, 2.33, 0.61, 0.21, 0.15, 2.67),
    ('adjusted',              0.55, 0.27, 0.19, 4.33, 0.62, 0.21, 0.17, 3.33),
    ('generalized_edge',      0.68, 0.26, 0.94, 8.33, 0.67, 0.21, 0.92, 8.33),
    ('aggregation',           0.50, 0.42, 0.51, 6.33, 0.48, 0.40, 0.46, 5.33),
    ('label_informativeness', 0.52, 0.14, 0.28, 3.00, 0.59, 0.12, 0.34, 3.00),
    ('neighbor',              0.51, 0.26, 0.50, 4.33, 0.58, 0.18, 0.50, 4.00),
    ('gnb',                   0.55, 0.38, 0.48, 6.67, 0.62, 0.48, 0.50, 7.33),
    ('kr_linear',             0.55, 0.88, 0.80, 8.67, 0.62, 0.79, 0.77, 8.67),
    ('kr_nonlinear',          0.55, 0.36, 0.67, 7.33, 0.62, 0.27, 0.60, 7.33));

-- Beside the GCN curve.
-- \plot bars metric value name unpivot=mean_rank,printed_rank title='Mean rank of a metric beside GCN, here and as printed'
SELECT r.metric,
       round(max(r.distance) FILTER (WHERE generator = 'RG'), 2) AS rg, max(p.gcn_rg) AS printed_rg,
       round(max(r.distance) FILTER (WHERE generator = 'PA'), 2) AS pa, max(p.gcn_pa) AS printed_pa,
       round(max(r.distance) FILTER (WHERE generator = 'GenCat'), 2) AS gencat, max(p.gcn_gencat) AS printed_gencat,
       round(avg(r.rank), 2) AS mean_rank, max(p.gcn_rank) AS printed_rank
FROM ranks r JOIN printed p USING (metric) WHERE r.model = 'gcn' GROUP BY r.metric ORDER BY mean_rank, r.metric;

-- Beside the SGC-1 curve.
-- \plot bars metric value name unpivot=mean_rank,printed_rank title='Mean rank of a metric beside SGC-1, here and as printed'
SELECT r.metric,
       round(max(r.distance) FILTER (WHERE generator = 'RG'), 2) AS rg, max(p.sgc_rg) AS printed_rg,
       round(max(r.distance) FILTER (WHERE generator = 'PA'), 2) AS pa, max(p.sgc_pa) AS printed_pa,
       round(max(r.distance) FILTER (WHERE generator = 'GenCat'), 2) AS gencat, max(p.sgc_gencat) AS printed_gencat,
       round(avg(r.rank), 2) AS mean_rank, max(p.sgc_rank) AS printed_rank
FROM ranks r JOIN printed p USING (metric) WHERE r.model = 'sgc' GROUP BY r.metric ORDER BY mean_rank, r.metric;

-- How alike are the two rankings of the metrics, ours and the printed one?
-- \plot bars model value name unpivot=spearman,kendall_tau
SELECT model, round(spearman(ours, theirs), 3) AS spearman, round(kendall_tau(ours, theirs), 3) AS kendall_tau
FROM (SELECT r.model, r.metric, avg(r.rank) AS ours, max(CASE r.model WHEN 'gcn' THEN p.gcn_rank ELSE p.sgc_rank END) AS theirs
      FROM ranks r JOIN printed p USING (metric) GROUP BY r.model, r.metric)
GROUP BY model ORDER BY model;
