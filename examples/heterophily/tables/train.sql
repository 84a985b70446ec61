-- Trains what is missing of :models on the graph :name, for tables.sql: the search, then the ten splits of what it chose.

\set jobs table_search
\ir missing.sql
\set jobs table_final
\ir missing.sql
