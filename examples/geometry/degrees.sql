\set degree 4
\ir homophilies.sql
\set degree 10
\ir homophilies.sql
