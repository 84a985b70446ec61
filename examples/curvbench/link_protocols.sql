-- Tables 4 and 9 of CurvBench, The Post-GCN Decade Revisited (arXiv 2606.06397), link prediction under the protocols of its authors' own scripts: no search,
-- one run a seed, on the graphs of the paper that are at hand.
--
--     cargo run --release -- DATABASE -v data=DIR -f examples/curvbench/link_protocols.sql
--
-- DIR as for tables.sql. `-v models=REGEX` and `-v datasets=REGEX` train some of them; what has been trained stays in the table protocol_link_runs of
-- the database, and only what is missing is trained. The report at the end reads the printed cells and the authors' logs from bonnet.audit.

\ir protocol_graphs.sql
\set disease_lp :data /hgcn/disease_lp
ATTACH IF NOT EXISTS :'disease_lp' AS disease_lp;

CREATE OR REPLACE VIEW protocol_link_models AS
SELECT column1 AS printed, column2 AS protocol, column3 AS disease FROM (VALUES
    -- Disease is two graphs in one column of the tables: the tree of 1,044 nodes, and that of 2,665. CUSP's and HyboNet's is not said.
    ('MLP', 'curvbench/mlp', 'disease_nc'), ('GCN', 'curvbench/gcn', 'disease_nc'), ('GAT', 'curvbench/gat', 'disease_nc'),
    ('GraphSAGE', 'curvbench/graphsage', 'disease_nc'), ('PCNet', 'curvbench/pcnet', 'disease_nc'), ('HGCN', 'curvbench/hgcn', 'disease_lp'),
    ('HGNN', 'curvbench/hnn', 'disease_lp'), ('HyboNet', 'curvbench/hybonet', 'disease_lp'), ('QGCN', 'curvbench/qgcn', 'disease_lp'),
    ('CUSP', 'curvbench/cusp', 'disease_lp'), ('GraphMoRE', 'curvbench/graphmore', 'disease_lp'));

CREATE TABLE IF NOT EXISTS protocol_link_runs (
    dataset TEXT, graph TEXT, model TEXT, protocol TEXT, seed BIGINT, status TEXT, error TEXT, departures TEXT, auc DOUBLE, ap DOUBLE,
    best_epoch BIGINT, epochs_run BIGINT, train_seconds DOUBLE);

-- The protocol is that of the graph's data set, named where the graph's own name is another.
CREATE OR REPLACE VIEW protocol_link_missing AS
SELECT g.dataset, coalesce(g.graph, m.disease) AS graph, m.printed, m.protocol, 'link_prediction' AS task, s.value AS seed,
       -- The tree's published file has no features, where the authors' has 1,000 columns: a column a node stands in.
       CASE WHEN g.dataset = 'Disease' AND m.disease = 'disease_nc' THEN 'identity' END AS features
FROM (VALUES ('Cornell', 'heterophilous.cornell'), ('Cora', 'planetoid.cora'), ('Citeseer', 'planetoid.citeseer'), ('Disease', NULL),
             ('Actor', 'heterophilous.actor')) AS g(dataset, graph)
CROSS JOIN protocol_link_models AS m CROSS JOIN generate_series(0, :seeds - 1) AS s
WHERE regexp_like(m.printed, :'models') AND regexp_like(g.dataset, :'datasets')
  AND NOT EXISTS (SELECT 1 FROM protocol_link_runs AS r
                  WHERE r.dataset = g.dataset AND r.model = m.printed AND r.seed = s.value AND r.status = 'ok');

INSERT INTO protocol_link_runs
SELECT dataset, graph, printed, protocol, seed, status, error, departures, test_auc, test_ap, best_epoch, epochs_run, train_seconds
FROM train((SELECT * FROM protocol_link_missing));

-- Ours beside the print and the logs; near: within two deviations of both together, of the log where there is one.
CREATE OR REPLACE VIEW protocol_link_cells AS
WITH ours AS (
    SELECT dataset, model, any_value(protocol) AS protocol, any_value(departures) AS departures, count(*) AS runs, 100 * avg(auc) AS auc,
           100 * stddev(auc) AS auc_deviation, 100 * avg(ap) AS ap, 100 * stddev(ap) AS ap_deviation, avg(train_seconds) AS seconds
    FROM protocol_link_runs WHERE status = 'ok' GROUP BY dataset, model
), figures AS (
    SELECT '4' AS "table", dataset, model, protocol, departures, runs, auc AS mean, auc_deviation AS deviation, seconds FROM ours
    UNION ALL
    SELECT '9', dataset, model, protocol, departures, runs, ap, ap_deviation, seconds FROM ours
)
SELECT f.*, a.printed_mean, a.printed_deviation, a.log_mean, a.log_deviation, a.verdict,
       abs(f.mean - coalesce(a.log_mean, a.printed_mean))
           <= 2 * sqrt(pow(coalesce(a.log_deviation, a.printed_deviation), 2) + pow(f.deviation, 2)) AS near
FROM figures AS f JOIN bonnet.audit AS a ON a.paper = 'CurvBench' AND a."table" = f."table" AND a.dataset = f.dataset AND a.model = f.model;

\echo
\echo ## Tables 4 and 9 under the protocols of the authors
\echo
SELECT "table", dataset, model, coalesce(printed_mean::DECIMAL(6, 2)::TEXT || ' ± ' || printed_deviation::DECIMAL(6, 2)::TEXT, '') AS printed,
       coalesce(log_mean::DECIMAL(6, 2)::TEXT || ' ± ' || log_deviation::DECIMAL(6, 2)::TEXT, '') AS log,
       mean::DECIMAL(6, 2)::TEXT || ' ± ' || deviation::DECIMAL(6, 2)::TEXT AS ours, near, departures
FROM protocol_link_cells ORDER BY "table", dataset, model;
\echo
SELECT "table", count(*) AS cells, count(*) FILTER (WHERE near) AS near FROM protocol_link_cells GROUP BY "table" ORDER BY "table";
\echo
SELECT dataset, model, status, count(*) AS runs, min(error) AS an_error FROM protocol_link_runs WHERE status <> 'ok' GROUP BY dataset, model, status;
