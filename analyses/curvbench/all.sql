-- All comparisons with the CurvBench paper, on the relations that the variables results, regimes and families name
-- (analyses/README.md). Each prints the paper's figure, ours, and whether they are equal to the digits that the paper
-- prints; where they differ, why.

\ir ../stratified.sql

CREATE OR REPLACE TABLE verdicts (analysis TEXT, figure TEXT, paper DOUBLE, ours DOUBLE, verdict TEXT);

\ir observation1.sql
\ir observation2.sql
\ir observation3.sql
\ir observation4.sql
\ir observation5.sql
\ir table10.sql
\ir table11.sql
\ir table12.sql
\ir table13.sql
\ir table14.sql
\ir order_gap.sql
\ir mixture.sql
