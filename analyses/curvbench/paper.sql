-- Every ranking analysis of "The Post-GCN Decade Revisited" (CurvBench, arXiv 2606.06397v2) on the paper's own tables.
--
--     bonnet -v data=../shared/data/curvbench_paper -f analyses/curvbench/paper.sql

\set results_csv :data /results.csv
\set regimes_csv :data /regimes.csv
\set families_csv :data /model_families.csv
\set efficiency_csv :data /efficiency.csv

CREATE OR REPLACE VIEW paper_results AS SELECT * FROM :'results_csv';
CREATE OR REPLACE VIEW paper_regimes AS SELECT * FROM :'regimes_csv';
CREATE OR REPLACE VIEW paper_families AS SELECT * FROM :'families_csv';
CREATE OR REPLACE VIEW paper_efficiency AS SELECT * FROM :'efficiency_csv';

\set results paper_results
\set regimes paper_regimes
\set families paper_families

\ir all.sql
-- Only the paper's text has these.
\ir efficiency.sql
\ir summary.sql
