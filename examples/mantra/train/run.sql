-- The runs of one :seed on the three collections, for train.sql.

\set collection surfaces
\ir collection.sql
\set collection 'named surfaces'
\ir collection.sql
\set collection 3-manifolds
\ir collection.sql
