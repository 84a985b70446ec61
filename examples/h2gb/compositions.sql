-- What each part of H2G-former is worth: eight compositions of one transformer on three typed graphs, and the gain of each part by
-- stratum of H2 (H2GB, Sec. 5.3).
--
--     cargo run -- -v data=DIR -f examples/h2gb/compositions.sql
--
-- H2G-former is hgt with a mask of two edges, known classes as an input, and a feed-forward block of each type. With and without each of
-- the three there are eight compositions: `unified_gt` with its options, of which the first is hgt and the last H2G-former. DIR holds
-- the publishers' own files: see statistics.sql, whose graphs these are.

\ir graphs.sql

-- 1. The runs --------------------------------------------------------------------------------------------------------

CREATE TABLE runs AS
SELECT graph, mask, label_rate, feed_forward, seed, status, error, val_accuracy, test_accuracy, train_seconds
FROM train((
    -- Freebase is published without features: each node has weights of its own.
    SELECT graph, 'unified_gt' AS model, CASE graph WHEN 'heco.freebase' THEN 'identity' ELSE 'auto' END AS features,
           mask, label_rate, feed_forward, seed
    FROM (VALUES ('heco.acm'), ('heco.freebase'), ('imdb')) g(graph), (VALUES ('direct'), ('hops')) m(mask),
         (VALUES (0.0), (0.3)) l(label_rate), (VALUES ('none'), ('by_type')) f(feed_forward), generate_series(0, 1) s(seed)),
    layers => 2, heads => 4, hidden => 8, epochs => 30, lr => 0.01, split_scheme => 'random:24/6/70');

SELECT graph, mask, label_rate, feed_forward, count(*) FILTER (status = 'ok') AS runs, round(100 * avg(test_accuracy), 1) AS accuracy,
       round(100 * stddev(test_accuracy), 1) AS deviation, round(avg(train_seconds), 1) AS seconds
FROM runs GROUP BY ALL ORDER BY graph, mask, label_rate, feed_forward;

-- 2. The gain of each part, by stratum of H2 -------------------------------------------------------------------------

CREATE TABLE heterophily AS
SELECT 'heco.acm' AS graph, h2_index AS h2 FROM h2_index(heco.acm)
UNION ALL SELECT 'heco.freebase', h2_index FROM h2_index(heco.freebase)
UNION ALL SELECT 'imdb', h2_index FROM h2_index(imdb);

-- A part's gain: the accuracy with it less that without, the other two and the seed alike.
WITH sides AS (
    SELECT graph, seed, 'mask of two edges' AS part, mask = 'hops' AS has, concat(label_rate, ' ', feed_forward) AS others, test_accuracy FROM runs
    UNION ALL SELECT graph, seed, 'known classes', label_rate > 0, concat(mask, ' ', feed_forward), test_accuracy FROM runs
    UNION ALL SELECT graph, seed, 'block by type', feed_forward = 'by_type', concat(mask, ' ', label_rate), test_accuracy FROM runs),
gains AS (
    SELECT graph, part, others, seed,
           avg(test_accuracy) FILTER (has) - avg(test_accuracy) FILTER (NOT has) AS gain
    FROM sides GROUP BY graph, part, others, seed)
SELECT CASE WHEN h2 < 0.5 THEN 'H2 below 0.5' ELSE 'H2 from 0.5' END AS stratum, part, count(DISTINCT graph) AS graphs, count(*) AS pairs,
       round(100 * avg(gain), 1) AS gain, round(100 * stddev(gain) / sqrt(count(*)), 1) AS error
FROM gains JOIN heterophily USING (graph) GROUP BY ALL ORDER BY stratum, gain DESC;

WITH of_graphs AS (SELECT graph, round(h2, 2) AS h2 FROM heterophily)
SELECT graph, h2,
       round(100 * (avg(test_accuracy) FILTER (mask = 'hops') - avg(test_accuracy) FILTER (mask = 'direct')), 1) AS mask_of_two_edges,
       round(100 * (avg(test_accuracy) FILTER (label_rate > 0) - avg(test_accuracy) FILTER (label_rate = 0)), 1) AS known_classes,
       round(100 * (avg(test_accuracy) FILTER (feed_forward = 'by_type') - avg(test_accuracy) FILTER (feed_forward = 'none')), 1) AS block_by_type
FROM runs JOIN of_graphs USING (graph) GROUP BY graph, h2 ORDER BY h2;
