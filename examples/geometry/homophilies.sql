\set homophily high
\set noise 0.05
\ir cell.sql
\set homophily low
\set noise 0.6
\ir cell.sql
