-- Typed graphs as H2GB describes its own: sizes and types (its Table 1), and how labels agree along metapaths (its Table 2).
--
--     cargo run -- -v data=DIR -f examples/h2gb/statistics.sql
--
-- H2GB: Lin et al. 2024, When Heterophily Meets Heterogeneity. Its nine graphs are not here; these are typed graphs of the same
-- kind. DIR holds the publishers' own files, nothing converted:
--     heco/{acm,aminer,freebase}      github.com/liun-online/HeCo
--     magnn/IMDB/movie_metadata.csv   github.com/cynricfu/MAGNN

\ir graphs.sql

-- 1. Sizes and types -------------------------------------------------------------------------------------------------

CREATE TABLE types AS
SELECT 'acm' AS graph, * FROM graph_schema(heco.acm)
UNION ALL SELECT 'aminer', * FROM graph_schema(heco.aminer)
UNION ALL SELECT 'freebase', * FROM graph_schema(heco.freebase)
UNION ALL SELECT 'imdb', * FROM graph_schema(imdb);

SELECT graph, sum(count) FILTER (kind = 'node') AS nodes, count(*) FILTER (kind = 'node') AS node_types,
       sum(count) FILTER (kind = 'edge') AS edges, count(*) FILTER (kind = 'edge') AS edge_types
FROM types GROUP BY graph ORDER BY graph;

SELECT * FROM types ORDER BY graph, kind DESC, type;

-- 2. Heterophily along metapaths -------------------------------------------------------------------------------------

SELECT 'acm' AS graph, round(h2_index, 3) AS h2_index, round(metapath_label_heterophily, 3) AS label_heterophily
FROM h2_index(heco.acm), metapath_label_heterophily(heco.acm)
UNION ALL SELECT 'aminer', round(h2_index, 3), round(metapath_label_heterophily, 3)
FROM h2_index(heco.aminer), metapath_label_heterophily(heco.aminer)
UNION ALL SELECT 'freebase', round(h2_index, 3), round(metapath_label_heterophily, 3)
FROM h2_index(heco.freebase), metapath_label_heterophily(heco.freebase)
UNION ALL SELECT 'imdb', round(h2_index, 3), round(metapath_label_heterophily, 3)
FROM h2_index(imdb), metapath_label_heterophily(imdb)
ORDER BY graph;
