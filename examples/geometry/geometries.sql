-- All geometries, each with both homophilies and its degrees.

\set geometry tree
\set degree 2
\ir homophilies.sql
\set geometry hyperbolic
\ir degrees.sql
\set geometry flat
\ir degrees.sql
\set geometry spherical
\ir degrees.sql
