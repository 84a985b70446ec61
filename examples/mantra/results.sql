-- The tables of docs/papers/mantra.md, from the files that export.sql has written: at the root of the repository
--
--     cargo run --release -- --quiet --format markdown -f examples/mantra/results.sql
--
-- for the full size, and with `-v surfaces=9 -v every=2 -v batch=16` for the small one.

\default every 1
\default spheres 1

\ir train/size.sql
\ir train/tables.sql
\ir results/load.sql

\ir report.sql
\ir subdivision.sql
