-- Tables 5 and 13 of CurvBench, The Post-GCN Decade Revisited (arXiv 2606.06397): models that are pre-trained on the graphs of two folds of Table 7 and
-- adapted to those of the third with 1 and 5 labelled nodes of each class.
--
--     cargo run --release -- DATABASE -v data=DIR -f examples/curvbench/foundation.sql
--
-- DIR as for tables.sql, with struc2vec-airports (github.com/leoribeiro/struc2vec). Encoders go into the folder `encoders`, runs into the tables
-- foundation_encoders and foundation_runs of the database, and only what is missing is trained. `-v models=REGEX`, `-v folds=REGEX`, `-v datasets=REGEX`, `draws`,
-- `seeds`, `epochs` (of pre-training) and `steps` (of adaptation) say how much; the defaults are small. An epoch is one step on all sources, but
-- hundreds of steps on batches of gcope, and tens of graphglue: these take a fiftieth and a tenth of `epochs`, and sa2gfm ten times as many,
-- as their authors' 1, 5 and 1,000 to 3,000 are beside 60 to 200.
--
-- The graphs at hand. Airport: the American airports of struc2vec, 1,190 nodes with four classes of activity and no features, stand in for the 3,188 of the
-- paper. Telecom: no data, so that no fold has it as a source and its cells are empty. CS_Phds: no labels, a source and no target. PubMed: the public
-- folder lacks ind.pubmed.allx, so that it is a graph without features here. Disease: disease_nc, without features. A graph without features has
-- those of its identity, carried along the edges once (align_features). All are in 50 columns by their own singular vectors, those of the target with its
-- test nodes, as in the authors' programs; a variant of its own, in foundation_reductions, has them from the nodes outside the test part.
--
-- Two protocols. `all` is one for every model: m shots of each class drawn by `draw`, all other labelled nodes tested, classes of fewer than m
-- nodes left out and named, the last step of the adaptation. `authors` is that of each program where it can be stated from the same runs: MDGPT tests the 100 nodes
-- from number 20 on, SAMGPT the last 50, in both whatever part they are in (protocols of their own folds, chosen by hand in the source, are not those of Table 7).
-- GCOPE and MDGFM test what is left of shots of which GCOPE takes the first in the order of the nodes, GraphGlue 90 % of what is left: not stated here. A
-- row of one protocol is compared with no row of the other.

\format markdown
\default models mdgpt|samgpt|mdgfm|gcope|graphglue|sa2gfm
\default folds .*
\default datasets .*
\default draws 5
\default seeds 1
\default epochs 50
\default steps 50
\default encoders foundation_encoders.folder
\set planetoid :data /planetoid
\set heterophilous :data /heterophilous-graphs
\set disease_nc :data /hgcn/disease_nc
\set cs_phds :data /hyperbolics/real/ca-CSphd.edges
\set airport :data /struc2vec-airports/usa
ATTACH IF NOT EXISTS :'planetoid' AS planetoid;
ATTACH IF NOT EXISTS :'heterophilous' AS heterophilous (features 'sparse');
ATTACH IF NOT EXISTS :'disease_nc' AS disease_nc;
ATTACH IF NOT EXISTS :'cs_phds' AS cs_phds;
ATTACH IF NOT EXISTS :'airport' AS airport;

CREATE SCHEMA IF NOT EXISTS pubmed;
CREATE OR REPLACE VIEW pubmed.nodes AS SELECT node, label FROM planetoid.pubmed.nodes;
CREATE OR REPLACE VIEW pubmed.edges AS SELECT src, dst FROM planetoid.pubmed.edges;
CREATE SCHEMA IF NOT EXISTS disease;
CREATE OR REPLACE VIEW disease.nodes AS SELECT node, label FROM disease_nc.nodes;
CREATE OR REPLACE VIEW disease.edges AS SELECT src, dst FROM disease_nc.edges;

-- Table 7: the fold in which a graph is evaluated; it is a source of both others.
CREATE OR REPLACE VIEW foundation_graphs AS
SELECT column1 AS dataset, column2 AS graph, column3 AS fold, column4 AS regime, column5 AS is_target FROM (VALUES
    ('Cora',     'planetoid.cora',        'A', 'near-zero', true),
    ('Citeseer', 'planetoid.citeseer',    'B', 'near-zero', true),
    ('PubMed',   'pubmed',                'C', 'near-zero', true),
    ('Airport',  'airport',               'A', 'positive',  true),
    ('Cornell',  'heterophilous.cornell', 'B', 'positive',  true),
    ('Actor',    'heterophilous.actor',   'C', 'positive',  true),
    ('Disease',  'disease',               'B', 'negative',  true),
    ('CS_Phds',  'cs_phds',               'C', 'negative',  false));

CREATE TABLE IF NOT EXISTS foundation_encoders (
    fold TEXT, model TEXT, seed BIGINT, epochs BIGINT, status TEXT, error TEXT, loss DOUBLE, epochs_run BIGINT, train_seconds DOUBLE, saved TEXT, sources TEXT);

CREATE TABLE IF NOT EXISTS foundation_runs (
    fold TEXT, dataset TEXT, model TEXT, kind TEXT, shots BIGINT, draw BIGINT, seed BIGINT, status TEXT, error TEXT, left_out TEXT, accuracy DOUBLE, macro_f1 DOUBLE,
    train_seconds DOUBLE);

CREATE TABLE IF NOT EXISTS foundation_authors (
    fold TEXT, dataset TEXT, model TEXT, shots BIGINT, draw BIGINT, seed BIGINT, nodes BIGINT, accuracy DOUBLE);

DELETE FROM foundation_encoders WHERE status <> 'ok';
DELETE FROM foundation_runs WHERE status <> 'ok';

CREATE OR REPLACE VIEW foundation_epochs AS
SELECT name AS model, CAST(greatest(1, :epochs * CASE name WHEN 'gcope' THEN 0.02 WHEN 'graphglue' THEN 0.1 WHEN 'sa2gfm' THEN 10 ELSE 1 END) AS BIGINT) AS epochs
FROM bonnet.models WHERE family = 'graph foundation models';

-- 1. Encoders: of each fold, model and seed one that is pre-trained on the other folds' graphs, and one as it is drawn ---------------------

INSERT INTO foundation_encoders
SELECT fold, model, seed, epochs, status, error, loss, epochs_run, train_seconds, saved, array_to_string(sources, ', ')
FROM pretrain((
    SELECT f.fold, m.model, s.value AS seed, k.pretrained * m.epochs AS epochs, g.graphs
    FROM (SELECT DISTINCT fold FROM foundation_graphs) AS f
    JOIN (SELECT f.fold, array_agg(g.graph ORDER BY g.graph) AS graphs FROM (SELECT DISTINCT fold FROM foundation_graphs) AS f
          JOIN foundation_graphs AS g ON g.fold <> f.fold GROUP BY f.fold) AS g ON g.fold = f.fold
    CROSS JOIN foundation_epochs AS m
    CROSS JOIN (SELECT unnest([0, 1]) AS pretrained) AS k
    CROSS JOIN generate_series(0, :seeds - 1) AS s
    WHERE regexp_like(m.model, '^(' || :'models' || ')$') AND regexp_like(f.fold, :'folds')
      AND NOT EXISTS (SELECT 1 FROM foundation_encoders AS r
                      WHERE r.fold = f.fold AND r.model = m.model AND r.seed = s.value AND r.epochs = k.pretrained * m.epochs)),
    save => :'encoders');

-- 2. Adaptation: pre-trained, untrained, and a GCN that knows the shots alone --------------------------------------------------------

CREATE OR REPLACE VIEW foundation_targets AS
SELECT g.fold, g.dataset, g.graph, k.shots, d.value AS draw, s.value AS seed, 'kshot:' || k.shots || '/all' AS split_scheme
FROM foundation_graphs AS g CROSS JOIN (SELECT unnest([1, 5]) AS shots) AS k CROSS JOIN generate_series(0, :draws - 1) AS d CROSS JOIN generate_series(0, :seeds - 1) AS s
WHERE g.is_target AND regexp_like(g.fold, :'folds') AND regexp_like(g.dataset, :'datasets');

CREATE OR REPLACE VIEW foundation_missing AS
SELECT t.*, e.model, e.saved AS load, CASE e.epochs WHEN 0 THEN 'untrained' ELSE 'pre-trained' END AS kind
FROM foundation_targets AS t JOIN foundation_encoders AS e ON e.fold = t.fold AND e.seed = t.seed AND e.status = 'ok'
JOIN foundation_epochs AS p ON p.model = e.model AND e.epochs IN (0, p.epochs)
WHERE regexp_like(e.model, '^(' || :'models' || ')$')
  AND NOT EXISTS (SELECT 1 FROM foundation_runs AS r
                  WHERE r.dataset = t.dataset AND r.model = e.model AND r.kind = CASE e.epochs WHEN 0 THEN 'untrained' ELSE 'pre-trained' END
                    AND r.shots = t.shots AND r.draw = t.draw AND r.seed = t.seed);

INSERT INTO foundation_authors
SELECT fold, dataset, model, shots, draw, seed, count(*), avg(CAST(prediction = label AS INT)) FROM (
    SELECT *, row_number() OVER (PARTITION BY dataset, model, shots, draw, seed ORDER BY CAST(node AS BIGINT)) - 1 AS number,
           count(*) OVER (PARTITION BY dataset, model, shots, draw, seed) AS n
    FROM predict((SELECT m.* FROM foundation_missing AS m WHERE m.kind = 'pre-trained' AND m.model IN ('mdgpt', 'samgpt')
                  AND NOT EXISTS (SELECT 1 FROM foundation_authors AS r
                                  WHERE r.dataset = m.dataset AND r.model = m.model AND r.shots = m.shots AND r.draw = m.draw AND r.seed = m.seed)),
                 epochs => :steps, select_by => 'last'))
WHERE label IS NOT NULL AND (model = 'mdgpt' AND number BETWEEN 20 AND 119 OR model = 'samgpt' AND number >= n - 50)
GROUP BY fold, dataset, model, shots, draw, seed;

INSERT INTO foundation_runs
SELECT fold, dataset, model, kind, shots, draw, seed, status, error, left_out, test_accuracy, test_macro_f1, train_seconds
FROM train((SELECT * FROM foundation_missing), epochs => :steps, select_by => 'last');

INSERT INTO foundation_runs
SELECT fold, dataset, model, 'shots alone', shots, draw, seed, status, error, left_out, test_accuracy, test_macro_f1, train_seconds
FROM train((SELECT t.*, 'gcn' AS model FROM foundation_targets AS t
            WHERE NOT EXISTS (SELECT 1 FROM foundation_runs AS r WHERE r.dataset = t.dataset AND r.model = 'gcn' AND r.shots = t.shots AND r.draw = t.draw AND r.seed = t.seed)),
           epochs => 200, select_by => 'last');

-- The variant: of the nodes beside the shots half validate and half are tested, and the directions of the features come from all nodes or from those
-- outside the test part (`reduced_on`). Where `all` tests every other node, none would be left for them.
CREATE TABLE IF NOT EXISTS foundation_reductions (
    fold TEXT, dataset TEXT, model TEXT, reduced_on TEXT, shots BIGINT, draw BIGINT, seed BIGINT, status TEXT, error TEXT, accuracy DOUBLE, macro_f1 DOUBLE);
DELETE FROM foundation_reductions WHERE status <> 'ok';

INSERT INTO foundation_reductions
SELECT fold, dataset, model, reduced_on, shots, draw, seed, status, error, test_accuracy, test_macro_f1
FROM train((SELECT t.fold, t.dataset, t.graph, t.shots, t.draw, t.seed, 'kshot:' || t.shots AS split_scheme, e.model, e.saved AS load, o.reduced_on
            FROM foundation_targets AS t JOIN foundation_encoders AS e ON e.fold = t.fold AND e.seed = t.seed AND e.status = 'ok'
            JOIN foundation_epochs AS p ON p.model = e.model AND e.epochs = p.epochs
            CROSS JOIN (SELECT unnest(['all', 'not_test']) AS reduced_on) AS o
            WHERE regexp_like(e.model, '^(' || :'models' || ')$')
              AND NOT EXISTS (SELECT 1 FROM foundation_reductions AS r
                              WHERE r.dataset = t.dataset AND r.model = e.model AND r.reduced_on = o.reduced_on
                                AND r.shots = t.shots AND r.draw = t.draw AND r.seed = t.seed)),
           epochs => :steps, select_by => 'last');

-- 3. Tables 5 and 13 -------------------------------------------------------------------------------------------------------------

CREATE OR REPLACE VIEW foundation_cells AS
SELECT dataset, model, kind, shots, count(*) AS runs, 100 * avg(accuracy) AS accuracy, 100 * stddev(accuracy) AS accuracy_deviation, 100 * avg(macro_f1) AS macro_f1,
       100 * stddev(macro_f1) AS macro_f1_deviation, max(left_out) AS left_out
FROM foundation_runs WHERE status = 'ok' GROUP BY dataset, model, kind, shots;

\echo
\echo ## Accuracy (Table 5) and macro-F1 (Table 13), percent, under one protocol for all; the print is of another one
\echo
SELECT g.regime, c.dataset, c.shots, c.model, c.kind, c.runs, c.accuracy::DECIMAL(6, 2)::TEXT || coalesce(' ± ' || c.accuracy_deviation::DECIMAL(6, 2)::TEXT, '') AS accuracy,
       coalesce(a.printed_mean::DECIMAL(6, 2)::TEXT || ' ± ' || a.printed_deviation::DECIMAL(6, 2)::TEXT, '') AS printed,
       c.macro_f1::DECIMAL(6, 2)::TEXT || coalesce(' ± ' || c.macro_f1_deviation::DECIMAL(6, 2)::TEXT, '') AS macro_f1,
       coalesce(f.printed_mean::DECIMAL(6, 2)::TEXT || ' ± ' || f.printed_deviation::DECIMAL(6, 2)::TEXT, '') AS printed_f1, c.left_out
FROM foundation_cells AS c JOIN foundation_graphs AS g USING (dataset)
LEFT JOIN bonnet.audit AS a ON a.paper = 'CurvBench' AND a."table" = '5' AND a.setting = c.shots || '-shot' AND a.dataset = c.dataset AND replace(lower(a.model), 'gluing', 'glue') = c.model AND c.kind = 'pre-trained'
LEFT JOIN bonnet.audit AS f ON f.paper = 'CurvBench' AND f."table" = '13' AND f.setting = c.shots || '-shot' AND f.dataset = c.dataset AND replace(lower(f.model), 'gluing', 'glue') = c.model AND c.kind = 'pre-trained'
ORDER BY g.regime, c.dataset, c.shots, c.kind, c.model;

\echo
\echo ## Pre-trained above untrained, points of accuracy over the same draws
\echo
SELECT p.dataset, p.shots, p.model, count(*) AS draws, round(bootstrap_difference(100 * p.accuracy, 100 * u.accuracy)['statistic'], 2) AS lead,
       round(bootstrap_difference(100 * p.accuracy, 100 * u.accuracy)['low'], 2) AS low, round(bootstrap_difference(100 * p.accuracy, 100 * u.accuracy)['high'], 2) AS high
FROM foundation_runs AS p JOIN foundation_runs AS u USING (dataset, model, shots, draw, seed)
WHERE p.kind = 'pre-trained' AND u.kind = 'untrained' AND p.status = 'ok' AND u.status = 'ok'
GROUP BY p.dataset, p.shots, p.model ORDER BY p.shots, p.dataset, p.model;

\echo
\echo ## The test nodes that the programs of the authors take, pre-trained
\echo
SELECT dataset, shots, model, count(*) AS draws, max(nodes) AS nodes, round(100 * avg(accuracy), 2) AS accuracy, round(100 * stddev(accuracy), 2) AS deviation
FROM foundation_authors GROUP BY dataset, shots, model ORDER BY model, shots, dataset;

\echo
\echo ## Features of the target reduced without its test nodes, points of accuracy above a reduction with them, over the same draws
\echo
SELECT r.dataset, r.shots, r.model, count(*) AS draws, round(100 * avg(a.accuracy), 2) AS with_test_nodes, round(100 * avg(r.accuracy), 2) AS without,
       round(bootstrap_difference(100 * r.accuracy, 100 * a.accuracy)['statistic'], 2) AS lead,
       round(bootstrap_difference(100 * r.accuracy, 100 * a.accuracy)['low'], 2) AS low, round(bootstrap_difference(100 * r.accuracy, 100 * a.accuracy)['high'], 2) AS high
FROM foundation_reductions AS r JOIN foundation_reductions AS a USING (dataset, model, shots, draw, seed)
WHERE r.reduced_on = 'not_test' AND a.reduced_on = 'all' AND r.status = 'ok' AND a.status = 'ok'
GROUP BY r.dataset, r.shots, r.model ORDER BY r.shots, r.dataset, r.model;

-- 4. Observations 3 and 4 of the paper, of these runs: analyses/stratified.sql over their means ---------------------------------------------

CREATE OR REPLACE VIEW foundation_results AS
SELECT 'NC-GFM' AS task, 'Accuracy' AS metric, shots || '-shot' AS setting, CASE kind WHEN 'pre-trained' THEN model ELSE model || ' (' || kind || ')' END AS model, dataset,
       accuracy AS mean, accuracy_deviation AS std, 'ok' AS status
FROM foundation_cells;
CREATE OR REPLACE VIEW foundation_regimes AS SELECT dataset, regime FROM foundation_graphs;
CREATE OR REPLACE VIEW foundation_families AS SELECT DISTINCT model, 'graph foundation models' AS family FROM foundation_results;
\set results foundation_results
\set regimes foundation_regimes
\set families foundation_families
\ir ../../analyses/stratified.sql

\echo
\echo ## Elasticity: points of accuracy that five shots are above one, by regime
\echo
SELECT regime, model, count(*) AS graphs, round(avg(gain), 2) AS elasticity FROM elasticity GROUP BY regime, model ORDER BY regime, elasticity DESC;

\echo
\echo ## Volatility: mean and deviation of the ranks of a model over the graphs
\echo
SELECT setting, model, count(*) AS graphs, round(avg(rank), 2) AS mean_rank, round(rank_volatility(rank), 2) AS volatility
FROM dataset_ranks GROUP BY setting, model ORDER BY setting, mean_rank;

\echo
\echo No target edge was seen: the sources of each encoder
\echo
SELECT fold, model, epochs, sources, round(loss, 4) AS loss, round(train_seconds, 1) AS seconds FROM foundation_encoders ORDER BY fold, model, epochs;
