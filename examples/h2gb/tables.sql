-- Typed graphs out of tables, beside those of graphs.sql: molecules with their atoms and what was found in them, patients with their
-- examinations. Facts of SML-Bench: carcinogenesis, mutagenesis, hepatitis.

\set carcinogenesis :data /relational/sml-bench/carcinogenesis
\set mutagenesis :data /relational/sml-bench/mutagenesis
\set hepatitis :data /relational/sml-bench/hepatitis

-- Is a substance a carcinogen? Atoms with their charges, bonds by kind, tests and alerts that substances share.

ATTACH :'carcinogenesis' AS substances;
CREATE SCHEMA carcinogenesis;

CREATE VIEW carcinogenesis.edges AS
SELECT arg1 AS src, arg2 AS dst, 'has atom' AS type FROM substances.atm
UNION ALL SELECT arg2, 'element ' || arg3, 'is' FROM substances.atm
UNION ALL SELECT arg2, arg3, 'bond ' || arg4 FROM substances.bond
UNION ALL SELECT arg1, 'test ' || arg2, CASE arg3 WHEN 'p' THEN 'positive' ELSE 'negative' END FROM substances.has_property
UNION ALL SELECT arg2, 'alert ' || arg1, 'has alert' FROM substances.ashby_alert;

CREATE VIEW carcinogenesis.nodes AS
SELECT arg1 AS node, 'substance' AS type, holds::text AS label, NULL::double[] AS features
FROM (SELECT arg1 FROM substances.active UNION SELECT src FROM carcinogenesis.edges WHERE type IN ('has atom', 'positive', 'negative', 'has alert'))
     LEFT JOIN substances.active USING (arg1)
UNION ALL SELECT arg2, 'atom', NULL, [arg5] FROM substances.atm
UNION ALL SELECT DISTINCT 'element ' || arg3, 'element', NULL, NULL::double[] FROM substances.atm
UNION ALL SELECT DISTINCT 'test ' || arg2, 'test', NULL, NULL::double[] FROM substances.has_property
UNION ALL SELECT DISTINCT 'alert ' || arg1, 'alert', NULL, NULL::double[] FROM substances.ashby_alert;

-- Is a compound a mutagen (a positive logarithm of its activity)? What is measured of a compound are its features.

ATTACH :'mutagenesis' AS compounds;
CREATE SCHEMA mutagenesis;

CREATE VIEW mutagenesis.edges AS
SELECT arg1 AS src, arg2 AS dst, 'has atom' AS type FROM compounds.atm
UNION ALL SELECT arg2, 'element ' || arg3, 'is' FROM compounds.atm
UNION ALL SELECT arg2, 'kind ' || arg4, 'of kind' FROM compounds.atm
UNION ALL SELECT arg2, arg3, 'bond ' || arg4 FROM compounds.bond
UNION ALL SELECT DISTINCT arg1, 'structure nitro', 'has' FROM compounds.nitro
UNION ALL SELECT DISTINCT arg1, 'structure benzene', 'has' FROM compounds.benzene
UNION ALL SELECT DISTINCT arg1, 'structure ring of 5', 'has' FROM compounds.ring_size_5
UNION ALL SELECT DISTINCT arg1, 'structure hetero-aromatic ring of 5', 'has' FROM compounds.hetero_aromatic_5_ring
UNION ALL SELECT DISTINCT arg1, 'structure phenanthrene', 'has' FROM compounds.phenanthrene;

CREATE VIEW mutagenesis.nodes AS
SELECT arg1 AS node, 'compound' AS type, (a.arg2 > 0)::text AS label, [p.arg2, u.arg2, i.arg2, j.arg2] AS features
FROM compounds.act a JOIN compounds.logp p USING (arg1) JOIN compounds.lumo u USING (arg1) JOIN compounds.ind1 i USING (arg1)
     JOIN compounds.inda j USING (arg1)
UNION ALL SELECT arg2, 'atom', NULL, [arg5] FROM compounds.atm
UNION ALL SELECT DISTINCT 'element ' || arg3, 'element', NULL, NULL::double[] FROM compounds.atm
UNION ALL SELECT DISTINCT 'kind ' || arg4, 'kind', NULL, NULL::double[] FROM compounds.atm
UNION ALL SELECT DISTINCT dst, 'structure', NULL, NULL::double[] FROM mutagenesis.edges WHERE type = 'has';

-- Hepatitis B or C? Screenings with their nine levels, and the levels of biopsies, which patients share.

ATTACH :'hepatitis' AS ward;
CREATE SCHEMA hepatitis;

CREATE VIEW hepatitis.edges AS
SELECT arg1 AS src, arg2 AS dst, 'has screening' AS type FROM ward.has_screening
UNION ALL SELECT b.arg1, 'fibrosis ' || l.arg2, 'fibrosis' FROM ward.has_biopsy b JOIN ward.fibrosis_level l ON l.arg1 = b.arg2
UNION ALL SELECT b.arg1, 'activity ' || l.arg2, 'activity' FROM ward.has_biopsy b JOIN ward.activity_level l ON l.arg1 = b.arg2
UNION ALL SELECT arg1, 'sex ' || arg2, 'sex' FROM ward.has_sex;

CREATE VIEW hepatitis.nodes AS
SELECT arg1 AS node, 'patient' AS type, CASE WHEN holds THEN 'B' ELSE 'C' END AS label, NULL::double[] AS features FROM ward.hepatitisb
UNION ALL
SELECT s.arg1, 'screening', NULL, [l1.arg2, l2.arg2, l3.arg2, l4.arg2, l5.arg2, l6.arg2, l7.arg2, l8.arg2, l9.arg2]::double[]
FROM ward.screening s JOIN ward.albumin_level l1 USING (arg1) JOIN ward.colisterase_activity_level l2 USING (arg1)
     JOIN ward.direct_bilirubin_level l3 USING (arg1) JOIN ward.glutamic_oxaloacetic_transaminase_level l4 USING (arg1)
     JOIN ward.glutamic_pyruvic_transaminase_level l5 USING (arg1) JOIN ward.thymol_turbidity_test_level l6 USING (arg1)
     JOIN ward.total_bilirubin_level l7 USING (arg1) JOIN ward.total_cholesterol_level l8 USING (arg1)
     JOIN ward.total_protein_level l9 USING (arg1)
UNION ALL SELECT DISTINCT dst, 'level', NULL, NULL::double[] FROM hepatitis.edges WHERE type IN ('fibrosis', 'activity', 'sex');
