-- Every model of H2GB's Table 3 on typed graphs at hand: its average rank, and how far the models of a group lie apart at each
-- heterophily (its Figure 4).
--
--     bonnet -v data=DIR -f examples/h2gb/models.sql
--
-- One protocol for all: random splits 50/25/25, `epochs` epochs, the epoch of the best validation accuracy, models as they are by default. No
-- patience: some of them answer one class for 40 epochs before they learn. Types are ignored by the homogeneous models. h2g_former
-- trains on samples, as the paper does; `left_out` says what is not run, for its time. DIR holds the publishers' own files: see
-- statistics.sql and tables.sql, whose graphs these are.

\default seeds 3
\default epochs 100

\ir graphs.sql
\ir tables.sql

-- 1. The runs --------------------------------------------------------------------------------------------------------

CREATE TABLE groups AS
SELECT name AS model, kind FROM (VALUES
    ('mlp', 'simple'), ('label_propagation', 'simple'), ('sgc', 'simple'),
    ('gcn', 'homogeneous, homophilic'), ('graphsage', 'homogeneous, homophilic'), ('gat', 'homogeneous, homophilic'),
    ('gin', 'homogeneous, homophilic'), ('appnp', 'homogeneous, homophilic'), ('nagphormer', 'homogeneous, homophilic'),
    ('graphtrans', 'homogeneous, homophilic'), ('gophormer', 'homogeneous, homophilic'),
    ('mixhop', 'homogeneous, heterophilic'), ('linkx', 'homogeneous, heterophilic'), ('fagcn', 'homogeneous, heterophilic'),
    ('acm_gcn', 'homogeneous, heterophilic'), ('lsgnn', 'homogeneous, heterophilic'), ('goat', 'homogeneous, heterophilic'),
    ('polyformer', 'homogeneous, heterophilic'),
    ('r_gcn', 'heterogeneous'), ('r_graphsage', 'heterogeneous'), ('r_gat', 'heterogeneous'), ('han', 'heterogeneous'),
    ('hgt', 'heterogeneous'), ('hinormer', 'heterogeneous'), ('shgn', 'heterogeneous'), ('h2g_former', 'heterogeneous')) m(name, kind);

CREATE TABLE samples AS
SELECT * FROM (VALUES ('h2g_former', 256, 'hgt', '64,64,64,64,64,64', 'samples')) s(model, batch_nodes, sampler, fanout, evaluate_on);

CREATE TABLE left_out AS
SELECT * FROM (VALUES
    ('graphtrans', NULL, 'attention over all pairs of nodes'),
    ('nagphormer', 'heco.acm', 'eight tokens a node of 3,864 columns: 8 s an epoch'),
    ('polyformer', 'heco.acm', 'tokens of 3,864 columns'),
    ('nagphormer', 'imdb', 'tokens of as many columns as there are nodes'),
    ('polyformer', 'imdb', 'tokens of as many columns as there are nodes')) l(model, graph, reason);

CREATE TABLE runs AS
SELECT graph, model, seed, status, error, val_accuracy, test_accuracy, train_seconds
FROM train((
    SELECT g.graph, m.model, s.value AS seed, batch_nodes, sampler, fanout, evaluate_on
    FROM groups m LEFT JOIN samples USING (model), (VALUES ('heco.acm'), ('imdb'), ('hepatitis'), ('mutagenesis'), ('carcinogenesis')) g(graph),
         generate_series(0, :seeds - 1) s
    WHERE NOT EXISTS (SELECT 1 FROM left_out l WHERE l.model = m.model AND coalesce(l.graph, g.graph) = g.graph)),
    epochs => :epochs, split_scheme => 'random:50/25/25');

\echo What failed, if anything did.
SELECT graph, model, error, count(*) AS runs FROM runs WHERE status <> 'ok' GROUP BY ALL ORDER BY graph, model;

-- 2. Table 3 ---------------------------------------------------------------------------------------------------------

CREATE TABLE cells AS
SELECT kind, model, graph, count(*) AS runs, avg(test_accuracy) AS accuracy, stddev_pop(test_accuracy) AS deviation, sum(train_seconds) AS seconds
FROM runs JOIN groups USING (model) WHERE status = 'ok' GROUP BY ALL;

CREATE TABLE ranks AS
SELECT *, rank() OVER (PARTITION BY graph ORDER BY accuracy DESC) AS place FROM cells;

\echo Test accuracy in percent, mean and population deviation, and the average rank over the graphs that a model ran on.
SELECT kind, model, count(*) AS graphs, round(avg(place), 1) AS average_rank,
       max(concat(round(100 * accuracy, 1), ' ± ', round(100 * deviation, 1))) FILTER (graph = 'heco.acm') AS acm,
       max(concat(round(100 * accuracy, 1), ' ± ', round(100 * deviation, 1))) FILTER (graph = 'imdb') AS imdb,
       max(concat(round(100 * accuracy, 1), ' ± ', round(100 * deviation, 1))) FILTER (graph = 'hepatitis') AS hepatitis,
       max(concat(round(100 * accuracy, 1), ' ± ', round(100 * deviation, 1))) FILTER (graph = 'mutagenesis') AS mutagenesis,
       max(concat(round(100 * accuracy, 1), ' ± ', round(100 * deviation, 1))) FILTER (graph = 'carcinogenesis') AS carcinogenesis,
       round(sum(seconds)) AS seconds
FROM ranks GROUP BY kind, model ORDER BY average_rank, model;

-- 3. Figure 4 --------------------------------------------------------------------------------------------------------

CREATE TABLE heterophily AS
SELECT 'heco.acm' AS graph, h2_index AS h2 FROM h2_index(heco.acm)
UNION ALL SELECT 'imdb', h2_index FROM h2_index(imdb)
UNION ALL SELECT 'hepatitis', h2_index FROM h2_index(hepatitis)
UNION ALL SELECT 'mutagenesis', h2_index FROM h2_index(mutagenesis)
UNION ALL SELECT 'carcinogenesis', h2_index FROM h2_index(carcinogenesis);

-- The coefficient of variation: the deviation of the accuracies of a group's models over their mean.
CREATE TABLE variation AS
SELECT graph, round(h2, 3) AS h2, kind, count(*) AS models, avg(accuracy) AS accuracy, stddev_pop(accuracy) / avg(accuracy) AS variation
FROM cells JOIN heterophily USING (graph) WHERE kind <> 'simple' GROUP BY ALL;

\echo How far the models of a group lie apart, by heterophily.
SELECT graph, h2, kind, models, round(100 * accuracy, 1) AS accuracy, round(variation, 3) AS variation FROM variation ORDER BY h2, kind;

\echo The rank correlation of heterophily and variation over the graphs of a group.
WITH of_group AS (
    SELECT kind, rank() OVER (PARTITION BY kind ORDER BY h2) AS x, rank() OVER (PARTITION BY kind ORDER BY variation) AS y FROM variation)
SELECT kind, count(*) AS graphs, round(corr(x, y), 2) AS spearman FROM of_group GROUP BY kind ORDER BY kind;
