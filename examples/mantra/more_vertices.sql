-- Beyond the paper: do models that have seen surfaces with at most 9 vertices know those with 10? MANTRA splits at random, so its
-- test surfaces are of the sizes that were trained on (Ballester et al., MANTRA, ICLR 2025, Sec. 2, dataset limitations).
--
--     cargo run --release -- -f examples/mantra/more_vertices.sql                        (a minute or two)
--
-- `every` takes each n-th surface with 10 vertices, `seeds` is the number of runs, `models` a regular expression of models.

\default every 20
\default seeds 3
\default epochs 20
\default models '^(mlp|gcn|sccn|ct)$'
\default out more_vertices_models

-- 1. Surfaces with at most 9 vertices in three parts; those with 10 are a test set of their own ---------------------------------

CREATE OR REPLACE TABLE few_vertices AS
SELECT id, facets, CASE name WHEN '' THEN 'other' ELSE name END AS type, orientable,
       CASE row_number() OVER (PARTITION BY name, orientable ORDER BY n_vertices DESC, id) % 5 WHEN 0 THEN 'test' WHEN 1 THEN 'val' ELSE 'train' END AS part
FROM enumerate_surfaces(9);

-- One surface of each kind stays for training, so that the classes are those of the saved models.
CREATE OR REPLACE TABLE ten_vertices AS
SELECT id, facets, CASE name WHEN '' THEN 'other' ELSE name END AS type, orientable, 'test' AS part
FROM (SELECT *, row_number() OVER (ORDER BY id) AS number FROM enumerate_surfaces(10) WHERE n_vertices = 10)
WHERE number % :every = 0
UNION ALL SELECT id, facets, type, orientable, 'train' FROM few_vertices
WHERE id IN (SELECT min(id) FROM few_vertices GROUP BY type, orientable);

CREATE OR REPLACE VIEW vertex_jobs AS
SELECT m.model, m.features, m.layers, m.hidden, t.target, s.value AS seed
FROM (VALUES ('mlp', 'degree_number', 4, 64), ('gcn', 'degree_number', 4, 64), ('tag', 'degree_number', 4, 64),
             ('scn', 'connectivity', 2, NULL), ('sccn', 'connectivity', 2, 64), ('sccnn', 'connectivity', 2, 64),
             ('ct', 'connectivity', 2, 64), ('cellmp', 'connectivity', 10, 64)) AS m(model, features, layers, hidden)
CROSS JOIN (VALUES ('type'), ('orientable')) AS t(target)
CROSS JOIN generate_series(0, :seeds - 1) AS s
WHERE m.model ~ :'models';

-- 2. Training on few vertices, and the same parameters on ten -------------------------------------------------------------------

CREATE OR REPLACE TABLE few_vertex_runs AS
SELECT model, features, layers, hidden, target, seed, status, error, test_auc, test_accuracy, saved
FROM train(vertex_jobs, complexes => few_vertices, task => 'graph_classification', dropout => 0, lr => 0.003, weight_decay => 0,
           batch => 16, epochs => :epochs, save => :'out');

CREATE OR REPLACE TABLE ten_vertex_runs AS
SELECT model, target, seed, status, error, test_auc, test_accuracy
FROM train((SELECT model, features, layers, hidden, target, seed, saved AS load FROM few_vertex_runs WHERE status = 'ok'),
           complexes => ten_vertices, task => 'graph_classification', dropout => 0, batch => 128, epochs => 0);

\echo Macro AUROC and accuracy in percent, means and deviations over the runs: held-out surfaces with at most 9 vertices, and
\echo surfaces with 10. The share of the largest class stands for a guess.
SELECT a.target, a.model, (100 * avg(a.test_auc))::DECIMAL(4, 1) AS auroc_9, (100 * stddev_samp(a.test_auc))::DECIMAL(4, 1) AS deviation_9,
       (100 * avg(b.test_auc))::DECIMAL(4, 1) AS auroc_10, (100 * stddev_samp(b.test_auc))::DECIMAL(4, 1) AS deviation_10,
       (100 * avg(a.test_accuracy))::DECIMAL(4, 1) AS accuracy_9, (100 * avg(b.test_accuracy))::DECIMAL(4, 1) AS accuracy_10,
       max(g.share) AS guess_10, count(*) AS runs
FROM few_vertex_runs a JOIN ten_vertex_runs b USING (model, target, seed)
JOIN (SELECT 'type' AS target, (100.0 * max(n) / sum(n))::DECIMAL(4, 1) AS share
      FROM (SELECT type, count(*) AS n FROM ten_vertices WHERE part = 'test' GROUP BY type)
      UNION ALL SELECT 'orientable', (100.0 * max(n) / sum(n))::DECIMAL(4, 1)
      FROM (SELECT orientable, count(*) AS n FROM ten_vertices WHERE part = 'test' GROUP BY orientable)) AS g USING (target)
GROUP BY a.target, a.model ORDER BY a.target, auroc_10 DESC NULLS LAST, a.model;
