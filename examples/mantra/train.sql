-- MANTRA's tasks on triangulations that the engine makes itself (Ballester et al., MANTRA: The Manifold Triangulations
-- Assemblage, ICLR 2025, Sec. 3 and App. D and E): Betti numbers (T1), homeomorphism type (T2) and orientability (T3) of all
-- surfaces, of those whose type has a name, and of 3-manifolds, by five models on graphs and seven on complexes.
--
--     cargo run --release -- -v surfaces=8 -v manifolds=8 -v seeds=1 -f examples/mantra/train.sql              (a few minutes)
--     cargo run --release -- DATABASE -v every=1 -v spheres=1 -f examples/mantra/train.sql       (the full size: docs/papers/mantra.md says how long)
--     cargo run --release -- DATABASE -f examples/mantra/remesh.sql                               (the same models, subdivided)
--     cargo run --release -- DATABASE --quiet --format markdown -f examples/mantra/report.sql     (the tables as Markdown)
--     cargo run --release -- DATABASE -f examples/mantra/export.sql                               (the runs into files)
--
-- DATABASE is the folder of a lasting database: finished runs stay in its table mantra_runs, a few models at a time, and only
-- missing and failed ones are trained, so that the script goes on where it was stopped. A database is of one size, since the
-- complexes stay in it: `surfaces`, `manifolds`, `every`, `spheres`, `epochs` and `batch` are those of the first call. Parameters
-- are saved in the folder `out`. With `results` at `load`, called at the root of the repository, runs of this size in
-- examples/mantra/results count as finished.
--
-- `surfaces` and `manifolds` are the largest numbers of vertices (10 in the paper; 0 manifolds are none), `every` takes each n-th
-- surface of those with at least 9 vertices, `spheres` each n-th 3-sphere of those (1: all), `seeds` is the number of runs (5 in
-- the paper). All 3-manifolds that are no spheres are taken: they are one in two hundred. Their type is learnt with
-- `manifold_types` at 1: the paper leaves it out. Of the models those whose name has the regular expression `models`, such as '^(ct|sccn)$'; `collections`, `targets` and `features` are
-- such expressions, too: what is needed first can be trained first, and the rest added by a later call.

\ir train/size.sql

\default seeds 5
\default manifold_types 0
\default models .
\default collections .
\default targets .
\default features .
\default out mantra_models
\default results skip

-- 1. The collections -----------------------------------------------------------------------------------------------------

CREATE TABLE IF NOT EXISTS mantra_complexes AS
SELECT 'surfaces' AS graph, id, facets, CASE name WHEN '' THEN 'other' ELSE name END AS type, orientable,
       CAST(betti_numbers AS DOUBLE[]) AS betti
FROM (SELECT *, row_number() OVER (PARTITION BY n_vertices ORDER BY id) AS number FROM enumerate_surfaces(:surfaces))
WHERE number % :every = 0 OR n_vertices < 9
UNION ALL
SELECT '3-manifolds', id, facets, name, orientable, CAST(betti_numbers AS DOUBLE[])
FROM (SELECT *, row_number() OVER (PARTITION BY n_vertices ORDER BY id) AS number
      FROM enumerate_3_manifolds(greatest(:manifolds, 5)))
WHERE n_vertices <= :manifolds AND (number % :spheres = 0 OR n_vertices < 9 OR name <> 'S^3');

CREATE OR REPLACE VIEW mantra AS
SELECT * FROM mantra_complexes
UNION ALL SELECT 'named surfaces', id, facets, type, orientable, betti
FROM mantra_complexes WHERE graph = 'surfaces' AND type <> 'other';

\echo The three collections.
SELECT graph, type, count(*) AS complexes, count(*) FILTER (WHERE orientable) AS orientable
FROM mantra GROUP BY graph, type ORDER BY graph, complexes DESC, type;

\echo The size of this database.
SELECT * FROM mantra_size;

-- 2. The jobs ------------------------------------------------------------------------------------------------------------

-- App. D: 4 layers of 64 for models on graphs, which read the 1-skeleton, and one head, as the layers of PyTorch Geometric have;
-- the others as bonnet.models has them. DECT counts vertices alone in the benchmark. Before the last layer graph models but the MLP
-- drop half of their inputs.
CREATE OR REPLACE VIEW mantra_models AS
SELECT * FROM (VALUES
    ('mlp',    'graph',   4, 0.0, 64,   NULL::BIGINT, NULL::DOUBLE, NULL::BIGINT, 0.0),
    ('gcn',    'graph',   4, 0.0, 64,   NULL,         NULL,         NULL,         0.5),
    ('gat',    'graph',   4, 0.0, 64,   1,            0.0,          NULL,         0.5),
    ('tag',    'graph',   4, 0.0, 64,   NULL,         NULL,         NULL,         0.5),
    ('unimp',  'graph',   4, 0.0, 64,   1,            NULL,         NULL,         0.5),
    ('dect',   'graph',   3, 0.0, 64,   NULL,         NULL,         0,            NULL),
    ('scn',    'complex', 2, 0.0, NULL, NULL,         NULL,         NULL,         NULL),
    ('sccn',   'complex', 2, 0.0, 64,   NULL,         NULL,         NULL,         NULL),
    ('sccnn',  'complex', 2, 0.0, 64,   NULL,         NULL,         NULL,         NULL),
    ('san',    'complex', 1, 0.0, 64,   NULL,         NULL,         NULL,         NULL),
    ('ct',     'complex', 2, 0.0, 64,   8,            NULL,         NULL,         NULL),
    ('cellmp', 'complex', 10, 0.5, 64,  NULL,         NULL,         NULL,         NULL)
) AS m(model, reads, layers, dropout, hidden, heads, attention_dropout, dims, head_dropout);

-- Random features have 8 columns for both families, as in the benchmark's code (its text says scalars for graphs).
CREATE OR REPLACE VIEW mantra_jobs AS
SELECT g.graph, m.model, t.task, t.target, f.features, s.value AS seed, 0 AS split, 'stratified:60/20/20' AS split_scheme,
       m.layers, m.dropout, m.hidden, m.heads, m.attention_dropout, m.dims, m.head_dropout
FROM mantra_models m
JOIN (VALUES ('graph', 'degree_number'), ('graph', 'one_hot_degree:9'), ('graph', 'random:8'),
             ('complex', 'connectivity'), ('complex', 'random:8')) AS f(reads, features) USING (reads)
CROSS JOIN (VALUES ('graph_classification', 'type'), ('graph_classification', 'orientable'), ('graph_regression', 'betti'))
    AS t(task, target)
CROSS JOIN (SELECT DISTINCT graph FROM mantra) AS g
CROSS JOIN generate_series(0, :seeds - 1) AS s
WHERE (t.target <> 'type' OR g.graph <> '3-manifolds' OR :manifold_types = 1)
  AND m.model ~ :'models' AND g.graph ~ :'collections' AND t.target ~ :'targets' AND f.features ~ :'features';

-- 3. The runs: first runs of all models before second ones ------------------------------------------------------------------

\ir train/tables.sql
\ir results/:results.sql

\set seed 0
\ir train/run.sql
\set seed 1
\ir train/run.sql
\set seed 2
\ir train/run.sql
\set seed 3
\ir train/run.sql
\set seed 4
\ir train/run.sql

-- 4. The tables ----------------------------------------------------------------------------------------------------------

\ir report.sql
