-- Writes the reruns of bonnet.audit anew: its table with the cells of which there are runs, as the engine's file holds it.
--
--     bonnet lab.bonnet -v data=DIR -v 'models=^GCN$' -v 'datasets=^Cora$' -f examples/curvbench/protocols.sql
--     bonnet lab.bonnet -v runs=protocol_audit_runs -v file=audit.tsv -f analyses/audit.sql
--
-- The first trains what a cell says, under the protocol of its row; the second prints what changes and writes the file, which takes the place of
-- udfs/learning/src/protocols/audit.tsv in a build. Variables: `runs`, anything that may stand in FROM, a row a run: paper, "table", metric, setting (NULL
-- for none), dataset and model, spelled as in bonnet.audit, run, and value in percent; and `file`. The tests of the crate bonnet-learning hold what is
-- written to the rules: a figure agrees within two deviations of the log, of the print where there is no log, both deviations taken together; a cell
-- that has no fault is reproduced where it agrees, else open. Other verdicts, evidence and all printed figures stay.

CREATE OR REPLACE TABLE audit_rows AS SELECT row_number() OVER () AS place, * FROM bonnet.audit;

CREATE OR REPLACE TABLE audit_means AS
SELECT paper, CAST("table" AS TEXT) AS "table", metric, CAST(setting AS TEXT) AS setting, dataset, model, count(value) AS runs,
       round(avg(value), 3) AS mean, round(stddev(value), 3) AS deviation
FROM :runs GROUP BY ALL HAVING count(value) > 0;

-- Runs of a cell that the audit does not have are an error, not silence: a name is misspelt, or the cell is missing.
\echo
\echo Runs of no cell
SELECT m.* FROM audit_means AS m ANTI JOIN audit_rows AS a
    ON a.paper = m.paper AND a."table" = m."table" AND a.metric = m.metric AND a.setting IS NOT DISTINCT FROM m.setting AND a.dataset = m.dataset AND a.model = m.model;

CREATE OR REPLACE TABLE audit_rerun AS
WITH renewed AS (
    SELECT a.* EXCLUDE (rerun_mean, rerun_deviation, runs, agrees), coalesce(m.mean, a.rerun_mean) AS rerun_mean,
           CASE WHEN m.mean IS NULL THEN a.rerun_deviation ELSE coalesce(m.deviation, 0.0) END AS rerun_deviation, coalesce(m.runs, a.runs) AS runs
    FROM audit_rows AS a LEFT JOIN audit_means AS m
        ON a.paper = m.paper AND a."table" = m."table" AND a.metric = m.metric AND a.setting IS NOT DISTINCT FROM m.setting AND a.dataset = m.dataset AND a.model = m.model
), compared AS (
    SELECT *, abs(rerun_mean - coalesce(log_mean, printed_mean))
              <= 2 * sqrt(pow(CASE WHEN log_mean IS NULL THEN coalesce(printed_deviation, 0) ELSE coalesce(log_deviation, 0) END, 2)
                          + pow(coalesce(rerun_deviation, 0), 2)) + 1e-9 AS agrees
    FROM renewed
)
SELECT place, paper, "table", task, metric, setting, dataset, model, printed_mean, printed_deviation, log_mean, log_deviation, rerun_mean, rerun_deviation,
       runs, agrees, protocol,
       CASE WHEN verdict NOT IN ('reproduced', 'open') THEN verdict WHEN agrees THEN 'reproduced' ELSE 'open' END AS verdict, evidence
FROM compared;

\echo
\echo What changes
SELECT n.paper, n."table", n.metric, n.setting, n.dataset, n.model, coalesce(n.log_mean, n.printed_mean) AS beside, o.rerun_mean AS was, n.rerun_mean AS is, n.runs,
       o.verdict AS verdict_was, n.verdict
FROM audit_rerun AS n JOIN audit_rows AS o USING (place)
WHERE (n.rerun_mean, n.rerun_deviation, n.runs, n.verdict) IS DISTINCT FROM (o.rerun_mean, o.rerun_deviation, o.runs, o.verdict) ORDER BY place;

COPY (SELECT * EXCLUDE (place) FROM audit_rerun ORDER BY place) TO :'file' (FORMAT csv, DELIMITER E'\t', HEADER true);
