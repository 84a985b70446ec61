-- The runs of one :seed on one :collection, for run.sql: each group of models is kept as soon as it is trained, quick ones first.

\set group '^(mlp|gcn|gat|tag|unimp|dect)$'
\ir group.sql
\set group '^(scn|sccn|sccnn)$'
\ir group.sql
\set group '^ct$'
\ir group.sql
\set group '^san$'
\ir group.sql
\set group '^cellmp$'
\ir group.sql
