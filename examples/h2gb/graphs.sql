-- The typed graphs of statistics.sql and compositions.sql, out of the publishers' own files: heco.acm, heco.aminer, heco.freebase, imdb.

\set heco :data /heco
\set movies :data /magnn/IMDB/movie_metadata.csv

ATTACH :'heco' AS heco;

-- Movies whose genres name one of three classes first, as MAGNN has it, with their directors and their three actors. A row of the
-- file is a movie: some are there twice.

CREATE TABLE movies AS
SELECT row_number() OVER (ORDER BY movie_title, director_name, title_year) AS id, director_name, actor_1_name, actor_2_name, actor_3_name,
       list_filter(string_split(genres, '|'), genre -> genre IN ('Action', 'Comedy', 'Drama'))[1] AS class
FROM read_csv(:'movies');

CREATE SCHEMA imdb;

CREATE VIEW imdb.edges AS
SELECT 'movie ' || id AS src, 'director ' || director_name AS dst, 'directed by' AS type FROM movies
WHERE class IS NOT NULL AND director_name IS NOT NULL
UNION ALL
SELECT 'movie ' || id, 'actor ' || actor, 'with'
FROM (SELECT id, class, unnest([actor_1_name, actor_2_name, actor_3_name]) AS actor FROM movies)
WHERE class IS NOT NULL AND actor IS NOT NULL;

CREATE VIEW imdb.nodes AS
SELECT 'movie ' || id AS node, 'movie' AS type, class AS label FROM movies WHERE class IS NOT NULL
UNION ALL
SELECT DISTINCT dst, CASE type WHEN 'with' THEN 'actor' ELSE 'director' END, NULL FROM imdb.edges;
