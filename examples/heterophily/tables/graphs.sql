-- Trains what is missing of :models on every graph, for tables.sql.

\set name Texas
\ir train.sql
\set name Cornell
\ir train.sql
\set name Cora
\ir train.sql
\set name Chameleon
\ir train.sql
\set name CiteSeer
\ir train.sql
\set name Chameleon-filtered
\ir train.sql
\set name Film
\ir train.sql
