-- MANTRA from nothing: all triangulated surfaces and 3-manifolds with at most 10 vertices, and the distribution of their
-- labels beside what Tables 1 and 3 to 6 of the paper print (Ballester et al., MANTRA: The Manifold Triangulations
-- Assemblage, ICLR 2025).
--
--     cargo run -- -f examples/mantra/labels.sql
--
-- Nothing is downloaded. The surfaces take a second, the 3-manifolds about half a minute on two cores.

-- 1. The labels ------------------------------------------------------------------------------------------------------

-- Complexes stream through the functions that label them; only the labels are kept.
CREATE TABLE surfaces AS
SELECT n_vertices, betti_numbers(facets) AS betti, torsion_coefficients(facets) AS torsion, genus(facets) AS genus,
       homeomorphism_type(facets) AS type
FROM enumerate_surfaces(10);

CREATE TABLE manifolds AS
SELECT n_vertices, betti_numbers(facets) AS betti, torsion_coefficients(facets) AS torsion,
       homeomorphism_type(facets) AS type
FROM enumerate_3_manifolds(10);

-- Every label of every complex: lists count from 1, so the label of dimension k is at k + 1.
CREATE VIEW labels AS
SELECT 1 AS table_number, 2 AS dimension, 'vertices' AS label, CAST(n_vertices AS TEXT) AS value FROM surfaces
UNION ALL SELECT 1, 3, 'vertices', CAST(n_vertices AS TEXT) FROM manifolds
UNION ALL SELECT 3, 2, 'beta_0', CAST(betti[1] AS TEXT) FROM surfaces
UNION ALL SELECT 3, 2, 'beta_1', CAST(betti[2] AS TEXT) FROM surfaces
UNION ALL SELECT 3, 2, 'beta_2', CAST(betti[3] AS TEXT) FROM surfaces
UNION ALL SELECT 3, 3, 'beta_0', CAST(betti[1] AS TEXT) FROM manifolds
UNION ALL SELECT 3, 3, 'beta_1', CAST(betti[2] AS TEXT) FROM manifolds
UNION ALL SELECT 3, 3, 'beta_2', CAST(betti[3] AS TEXT) FROM manifolds
UNION ALL SELECT 3, 3, 'beta_3', CAST(betti[4] AS TEXT) FROM manifolds
UNION ALL SELECT 4, 2, 'torsion_0', torsion[1] FROM surfaces
UNION ALL SELECT 4, 2, 'torsion_1', torsion[2] FROM surfaces
UNION ALL SELECT 4, 2, 'torsion_2', torsion[3] FROM surfaces
UNION ALL SELECT 4, 3, 'torsion_0', torsion[1] FROM manifolds
UNION ALL SELECT 4, 3, 'torsion_1', torsion[2] FROM manifolds
UNION ALL SELECT 4, 3, 'torsion_2', torsion[3] FROM manifolds
UNION ALL SELECT 4, 3, 'torsion_3', torsion[4] FROM manifolds
UNION ALL SELECT 5, 2, 'genus', CAST(genus AS TEXT) FROM surfaces
-- The paper names four surfaces and three 3-manifolds.
UNION ALL SELECT 6, 2, 'name', CASE WHEN type IN ('S^2', 'RP^2', 'T^2', 'Klein bottle') THEN type ELSE 'other' END FROM surfaces
UNION ALL SELECT 6, 3, 'name', coalesce(type, 'other') FROM manifolds;

CREATE TABLE ours AS
SELECT table_number, dimension, label, value, count(*) AS count
FROM labels
GROUP BY table_number, dimension, label, value;

-- 2. The paper -------------------------------------------------------------------------------------------------------

CREATE TABLE paper AS
SELECT * FROM (VALUES
    (1, 2, 'vertices', '4', 1), (1, 2, 'vertices', '5', 1), (1, 2, 'vertices', '6', 3), (1, 2, 'vertices', '7', 9),
    (1, 2, 'vertices', '8', 43), (1, 2, 'vertices', '9', 655), (1, 2, 'vertices', '10', 42426),
    (1, 3, 'vertices', '5', 1), (1, 3, 'vertices', '6', 2), (1, 3, 'vertices', '7', 5), (1, 3, 'vertices', '8', 39),
    (1, 3, 'vertices', '9', 1297), (1, 3, 'vertices', '10', 249015),
    (3, 2, 'beta_0', '1', 43138), (3, 3, 'beta_0', '1', 250359),
    (3, 2, 'beta_1', '0', 1670), (3, 2, 'beta_1', '1', 4655), (3, 2, 'beta_1', '2', 14146), (3, 2, 'beta_1', '3', 13694),
    (3, 2, 'beta_1', '4', 7917), (3, 2, 'beta_1', '5', 1022), (3, 2, 'beta_1', '6', 34),
    (3, 3, 'beta_1', '0', 249225), (3, 3, 'beta_1', '1', 1134), (3, 3, 'beta_1', '2', 0), (3, 3, 'beta_1', '3', 0),
    (3, 3, 'beta_1', '4', 0), (3, 3, 'beta_1', '5', 0), (3, 3, 'beta_1', '6', 0),
    (3, 2, 'beta_2', '0', 39718), (3, 2, 'beta_2', '1', 3420), (3, 3, 'beta_2', '0', 249841), (3, 3, 'beta_2', '1', 518),
    (3, 3, 'beta_3', '0', 616), (3, 3, 'beta_3', '1', 249743),
    (4, 2, 'torsion_0', '', 43138), (4, 2, 'torsion_1', 'Z_2', 39718), (4, 2, 'torsion_1', '', 3420),
    (4, 2, 'torsion_2', 'Z_2', 0), (4, 2, 'torsion_2', '', 43138),
    (4, 3, 'torsion_0', '', 250359), (4, 3, 'torsion_1', 'Z_2', 0), (4, 3, 'torsion_1', '', 250359),
    (4, 3, 'torsion_2', 'Z_2', 616), (4, 3, 'torsion_2', '', 249743), (4, 3, 'torsion_3', '', 250359),
    (5, 2, 'genus', '0', 306), (5, 2, 'genus', '1', 3593), (5, 2, 'genus', '2', 5520), (5, 2, 'genus', '3', 11937),
    (5, 2, 'genus', '4', 13694), (5, 2, 'genus', '5', 7052), (5, 2, 'genus', '6', 1022), (5, 2, 'genus', '7', 14),
    (6, 2, 'name', 'S^2', 306), (6, 2, 'name', 'RP^2', 1364), (6, 2, 'name', 'T^2', 2229),
    (6, 2, 'name', 'Klein bottle', 4655), (6, 2, 'name', 'other', 34584),
    (6, 3, 'name', 'S^3', 249225), (6, 3, 'name', 'S^2 x S^1', 518), (6, 3, 'name', 'S^2 twist S^1', 616),
    (6, 3, 'name', 'other', 0)
) AS printed(table_number, dimension, label, value, count);

-- 3. Both ------------------------------------------------------------------------------------------------------------

-- A cell that only one side has counts 0 on the other.
CREATE VIEW cells AS
SELECT coalesce(o.table_number, p.table_number) AS table_number, coalesce(o.dimension, p.dimension) AS dimension,
       coalesce(o.label, p.label) AS label, coalesce(o.value, p.value) AS value, coalesce(o.count, 0) AS ours,
       p.count AS paper, coalesce(o.count, 0) = coalesce(p.count, -1) AS equal
FROM ours AS o
FULL JOIN paper AS p
    ON o.table_number = p.table_number AND o.dimension = p.dimension AND o.label = p.label AND o.value = p.value;

\echo The label distributions of Tables 1 and 3 to 6, ours beside those of the paper.
SELECT * FROM cells ORDER BY table_number, dimension, label, length(value), value;

\echo How many cells there are in each table, and how many are equal.
SELECT table_number, count(*) AS cells, count(*) FILTER (WHERE equal) AS equal FROM cells GROUP BY table_number ORDER BY table_number;
