-- The models of :task on :dataset, for tables.sql; what takes longest comes last.

\set model mlp
\ir train.sql
\set model gcn
\ir train.sql
\set model gat
\ir train.sql
\set model graphsage
\ir train.sql
\set model pcnet
\ir train.sql
\set model hgcn
\ir train.sql
\set model hybonet
\ir train.sql
\set model qgcn
\ir train.sql
\set model hgnn
\ir train.sql
\set model hat
\ir train.sql
\set model cusp
\ir train.sql
\set model graphmore
\ir train.sql
