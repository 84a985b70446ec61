-- Tables 3 and 4 of CurvBench, The Post-GCN Decade Revisited (arXiv 2606.06397), for its five Euclidean models on the graphs of
-- the paper that are at hand: node classification and link prediction.
--
--     cargo run --release -- DATABASE -v data=DIR -f examples/curvbench/tables.sql              (about half an hour of one core)
--     cargo run --release -- DATABASE --quiet -v data=DIR -f examples/curvbench/report.sql      (the tables as Markdown)
--
-- DATABASE is the folder of a lasting database: what has been trained stays in its table curvbench_runs, and only what is
-- missing is trained. DIR holds planetoid/{cora,citeseer} (github.com/kimiyoung/planetoid), heterophilous-graphs/{actor,cornell}
-- (github.com/yandex-research/heterophilous-graphs), hgcn/{disease_nc,disease_lp} (github.com/HazyResearch/hgcn) and
-- hyperbolics/real/ca-CSphd.edges (github.com/HazyResearch/hyperbolics). The report also reads the printed figures,
-- curvbench_paper/table03.csv and table04.csv: columns model, dataset, mean and std.

\set planetoid :data /planetoid
\set heterophilous :data /heterophilous-graphs
\set disease_nc :data /hgcn/disease_nc
\set disease_lp :data /hgcn/disease_lp
\set cs_phds :data /hyperbolics/real/ca-CSphd.edges
ATTACH IF NOT EXISTS :'planetoid' AS planetoid;
ATTACH IF NOT EXISTS :'heterophilous' AS heterophilous (features 'sparse');
ATTACH IF NOT EXISTS :'disease_nc' AS disease_nc;
ATTACH IF NOT EXISTS :'disease_lp' AS disease_lp;
ATTACH IF NOT EXISTS :'cs_phds' AS cs_phds;

-- 1. What is trained. The paper prints no splits for node classification, so each graph has two: the publisher's (where there
-- is one) and 60/20/20 with as many training nodes of each class; Disease has too few of one class for that. The published files of disease_nc and CS_Phds hold no features: they take one column a node.

CREATE OR REPLACE VIEW curvbench_graphs AS
SELECT column1 AS task, column2 AS dataset, column3 AS graph, column4 AS scheme, column5 AS features FROM (VALUES
    ('node_classification', 'Cora',     'planetoid.cora',        'public',            'given'),
    ('node_classification', 'Cora',     'planetoid.cora',        'balanced:60/20/20', 'given'),
    ('node_classification', 'Citeseer', 'planetoid.citeseer',    'public',            'given'),
    ('node_classification', 'Citeseer', 'planetoid.citeseer',    'balanced:60/20/20', 'given'),
    ('node_classification', 'Cornell',  'heterophilous.cornell', 'public',            'given'),
    ('node_classification', 'Cornell',  'heterophilous.cornell', 'balanced:60/20/20', 'given'),
    ('node_classification', 'Actor',    'heterophilous.actor',   'public',            'given'),
    ('node_classification', 'Actor',    'heterophilous.actor',   'balanced:60/20/20', 'given'),
    ('node_classification', 'Disease',  'disease_nc',            'stratified:60/20/20', 'identity'),
    ('link_prediction',     'Cora',     'planetoid.cora',        'random:85/5/10',    'given'),
    ('link_prediction',     'Citeseer', 'planetoid.citeseer',    'random:85/5/10',    'given'),
    ('link_prediction',     'Cornell',  'heterophilous.cornell', 'random:85/5/10',    'given'),
    ('link_prediction',     'Disease',  'disease_lp',            'random:85/5/10',    'given'),
    ('link_prediction',     'CS_Phds',  'cs_phds',               'random:85/5/10',    'identity'),
    ('link_prediction',     'Actor',    'heterophilous.actor',   'random:85/5/10',    'given'));

-- The paper searches "predefined ranges" that it does not print. Ours: two weight decays and two dropouts, with two learning
-- rates (node classification) or two decoders (link prediction), the width 64 (GAT: eight heads of 8).
CREATE OR REPLACE VIEW curvbench_configurations AS
SELECT task, lr, weight_decay, dropout, decoder,
       concat_ws(', ', 'lr ' || lr, 'wd ' || weight_decay, 'dropout ' || dropout, decoder) AS configuration
FROM (VALUES ('node_classification', 0.01, NULL::TEXT), ('node_classification', 0.05, NULL),
             ('link_prediction', 0.01, 'inner_product'), ('link_prediction', 0.01, 'distance')) AS a(task, lr, decoder)
CROSS JOIN (VALUES (0.0), (5e-4)) AS b(weight_decay)
CROSS JOIN (VALUES (0.0), (0.5)) AS c(dropout);

-- 2. The runs: all configurations with the first seed, then the one with the best validation figure with all five.

CREATE TABLE IF NOT EXISTS curvbench_runs (
    task TEXT, dataset TEXT, scheme TEXT, model TEXT, configuration TEXT, seed BIGINT, status TEXT, error TEXT, val DOUBLE,
    test DOUBLE, best_epoch BIGINT, epochs_run BIGINT, seconds DOUBLE);

CREATE OR REPLACE VIEW curvbench_search AS
SELECT g.*, m.name AS model, c.lr, c.weight_decay, c.dropout, c.decoder, c.configuration, s.value AS seed
FROM curvbench_graphs g JOIN curvbench_configurations c USING (task)
CROSS JOIN (SELECT name FROM bonnet.models WHERE name IN ('mlp', 'gcn', 'gat', 'graphsage', 'pcnet')) m
CROSS JOIN generate_series(0, 4) s;

CREATE OR REPLACE VIEW curvbench_chosen AS
SELECT task, dataset, scheme, model, configuration, val FROM (
    SELECT *, row_number() OVER (PARTITION BY task, dataset, scheme, model ORDER BY val DESC, configuration) AS place
    FROM curvbench_runs WHERE seed = 0 AND status = 'ok')
WHERE place = 1;

\set task node_classification
\set dataset Cora
\ir train.sql
\set dataset Citeseer
\ir train.sql
\set dataset Cornell
\ir train.sql
\set dataset Disease
\ir train.sql
\set task link_prediction
\set dataset Cora
\ir train.sql
\set dataset Citeseer
\ir train.sql
\set dataset Cornell
\ir train.sql
\set dataset Disease
\ir train.sql
\set dataset CS_Phds
\ir train.sql
\set task node_classification
\set dataset Actor
\ir train.sql
\set task link_prediction
\ir train.sql
