-- The size of a database, for train.sql, export.sql and results.sql. It stays as it was when the database was made.

\default surfaces 10
\default manifolds 10
\default every 20
\default spheres 250
\default epochs 6
\default batch 128

CREATE TABLE IF NOT EXISTS mantra_size AS
SELECT :surfaces AS surfaces, :manifolds AS manifolds, :every AS every, :spheres AS spheres, :epochs AS epochs, :batch AS batch;

-- By collection: the largest number of vertices, and which of the complexes with at least 9 are taken (each n-th).
CREATE OR REPLACE VIEW mantra_sizes AS
SELECT graph, CASE graph WHEN '3-manifolds' THEN manifolds ELSE surfaces END AS vertices,
       CASE graph WHEN '3-manifolds' THEN spheres ELSE every END AS every, epochs, batch
FROM mantra_size
CROSS JOIN (VALUES ('surfaces'), ('named surfaces'), ('subdivided surfaces'), ('3-manifolds')) AS g(graph);
