-- Triangulations with the same 1-skeleton and different topology, found among all surfaces with at most 10 vertices and all
-- 3-manifolds with at most 9: what a model that reads the graph alone cannot tell apart.
--
--     cargo run -- -f examples/mantra/same_graph.sql
--
-- The graph of a triangulated closed surface has 3 (V - chi) edges, so it determines the Euler characteristic, and the
-- surface up to orientability (Ballester et al., MANTRA, ICLR 2025, App. A.4). It does not determine the surface: Lawrencenko
-- and Negami (Constructing the Graphs That Triangulate Both the Torus and the Klein Bottle, Journal of Combinatorial Theory,
-- Series B 77, 1999) say which graphs triangulate both. Takes some seconds; nothing is downloaded.

-- 1. Surfaces --------------------------------------------------------------------------------------------------------

-- The edges are a complex of their own, and its canonical form is the same list exactly for isomorphic graphs.
CREATE TABLE surfaces AS
SELECT id, n_vertices, orientable, euler_characteristic(facets) AS chi, homeomorphism_type(facets) AS type, facets,
       canonical_form(faces(facets, 1)) AS graph
FROM enumerate_surfaces(10);

CREATE TABLE graphs AS
SELECT n_vertices, graph, count(*) AS triangulations, count(DISTINCT type) AS types, count(DISTINCT chi) AS chis,
       greatest(count(*) FILTER (WHERE orientable), count(*) FILTER (WHERE NOT orientable)) AS majority
FROM surfaces
GROUP BY n_vertices, graph;

\echo Triangulations, their graphs, and the graphs that triangulate two spaces; never two of different Euler characteristic.
SELECT n_vertices, sum(triangulations) AS triangulations, count(*) AS graphs,
       count(*) FILTER (WHERE types > 1) AS graphs_of_two_spaces, count(*) FILTER (WHERE chis > 1) AS of_two_characteristics
FROM graphs
GROUP BY n_vertices
ORDER BY n_vertices;

\echo Which spaces share graphs.
SELECT a.n_vertices, a.type, b.type AS other_type, count(DISTINCT a.graph) AS graphs, count(DISTINCT a.id) AS triangulations,
       count(DISTINCT b.id) AS other_triangulations
FROM surfaces AS a
JOIN surfaces AS b ON a.graph = b.graph AND a.orientable AND NOT b.orientable
GROUP BY a.n_vertices, a.type, b.type
ORDER BY a.n_vertices, a.type;

\echo The smallest witness: a torus and a Klein bottle with 8 vertices and the same 24 edges up to names.
SELECT id, type, betti_numbers(facets) AS betti, betti_numbers(facets, field => 'Z/2') AS betti_modulo_2,
       homology_groups(facets) AS homology, facets
FROM surfaces
WHERE n_vertices = 8 AND graph IN (SELECT graph FROM graphs WHERE n_vertices = 8 AND types > 1)
ORDER BY id;

\echo The largest share of triangulations whose orientability any function of the graph can name: the bound of graph models.
SELECT n_vertices, sum(triangulations) AS triangulations, sum(majority) AS named, round(sum(majority) / sum(triangulations)::DOUBLE, 4) AS share
FROM graphs
GROUP BY n_vertices
ORDER BY n_vertices;

-- 2. 3-manifolds -----------------------------------------------------------------------------------------------------

\echo 3-manifolds whose graph is complete. With 9 vertices: 50 spheres and the twisted bundle, as Altshuler and Steinberg
\echo (Neighborly combinatorial 3-manifolds with 9 vertices, Discrete Mathematics 8, 1974) found.
SELECT n_vertices, name, count(*) AS triangulations
FROM enumerate_3_manifolds(9)
WHERE f_vector(facets)[2] = n_vertices * (n_vertices - 1) / 2
GROUP BY n_vertices, name
ORDER BY n_vertices, name;
